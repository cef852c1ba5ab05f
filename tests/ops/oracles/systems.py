"""Linear systems and Fourier transforms."""

import numpy as np

from .element_types import PARTS, wide


def _triangle(a, lower, strict=False):
    """One triangle by its indices: what the other one holds, NaN too, is left out."""
    rows, columns = np.indices(a.shape[-2:])
    inside = rows > columns if lower else rows < columns
    return np.where(inside if strict else inside | (rows == columns), a, 0)


def cholesky(a, lower):
    half = _triangle(wide(a), lower, strict=True)
    diagonal = np.einsum("...ii->...i", wide(a)).real
    full = half + half.conj().swapaxes(-1, -2)
    full = full + diagonal[..., None] * np.eye(a.shape[-1])
    factor = np.linalg.cholesky(full)
    return (factor if lower else factor.conj().swapaxes(-1, -2)).astype(a.dtype)


def triangular_solve(a, b, left_side, lower, unit_diagonal, transpose_a):
    system = _triangle(wide(a), lower, strict=unit_diagonal)
    if unit_diagonal:
        system = system + np.eye(a.shape[-1])
    if transpose_a != "NO_TRANSPOSE":
        system = system.swapaxes(-1, -2)
    if transpose_a == "ADJOINT":
        system = system.conj()
    if left_side:
        return np.linalg.solve(system, wide(b)).astype(b.dtype)
    # x s = b is s^T x^T = b^T.
    flipped = np.linalg.solve(system.swapaxes(-1, -2), wide(b).swapaxes(-1, -2))
    return flipped.swapaxes(-1, -2).astype(b.dtype)


def fft(operand, fft_type, fft_length):
    """Sums of roots of unity, one dimension after the other."""
    sign = -1 if fft_type in ("FFT", "RFFT") else 1
    first = operand.ndim - len(fft_length)
    x = wide(operand).astype(np.complex128)
    if fft_type == "IRFFT":
        # The other half of the last dimension is the conjugate at minus the index, of
        # the other dimensions too; and the result is real.
        n = fft_length[-1]
        full = np.empty((*x.shape[:-1], n), x.dtype)
        for index in np.ndindex(*full.shape):
            mirrored = tuple(
                -i % m if d >= first else i
                for d, (i, m) in enumerate(zip(index, full.shape, strict=True))
            )
            inside = index[-1] <= n // 2
            full[index] = x[index] if inside else x[mirrored].conj()
        x = full
    for d, n in enumerate(fft_length, first):
        k = np.arange(n)
        roots = np.exp(sign * 2j * np.pi * np.outer(k, k) / n)
        x = np.moveaxis(np.moveaxis(x, d, -1) @ roots, -1, d)
        x = x if sign < 0 else x / n
    if fft_type == "IRFFT":
        return x.real.astype(PARTS[operand.dtype.name])
    if fft_type == "RFFT":
        dtype = {"float32": np.complex64, "float64": np.complex128}
        return x[..., : fft_length[-1] // 2 + 1].astype(dtype[operand.dtype.name])
    return x.astype(operand.dtype)
