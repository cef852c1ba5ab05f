"""Discrete Fourier transforms."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..core.typing import Dims
from ..types import FftType


@operation(fft_type=checks.coerced(FftType.coerce), fft_length=checks.sizes)
def fft(operand: ArrayLike, fft_type: FftType | str, fft_length: Dims) -> Array:
    """Discrete Fourier transform over the last one, two or three dimensions.

    Inverse transforms are divided by the number of points. ``RFFT`` gives the first
    ``n // 2 + 1`` of the n coefficients of real data, and ``IRFFT`` takes them.

    Args:
      operand: c64 or c128 array; of ``RFFT`` an f32 or f64 array.
      fft_type: ``"FFT"``, ``"IFFT"``, ``"RFFT"`` or ``"IRFFT"``, or a
        `xlaops.FftType`.
      fft_length: the sizes that are transformed, one to three: those of the last
        dimensions of ``operand``, or, of ``IRFFT``, those of the result.

    Returns:
      A complex array of the shape of ``operand``; its last size is ``n // 2 + 1`` for
      ``RFFT`` (0 if n is). For ``IRFFT`` a real array whose last size is n.

    Raises:
      TypeError: if ``operand`` has the wrong element type or rank.
      ValueError: if ``fft_type`` is unknown or ``fft_length`` does not fit.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.fft(jnp.array([1.0, 0.0, 0.0, 0.0]), "RFFT", (4,))
      Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)

    Source: *Fft* in XLA's Operation semantics (whose signature says ``ftt_type``);
    ``stablehlo.fft``.
    """
    kind = FftType.coerce(fft_type)
    real = kind is FftType.RFFT
    x = checks.operand("fft", "operand", operand, "f" if real else "c")
    if x.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise TypeError(
            f"fft: operand must have elements of 32 or 64 bits, "
            f"got {checks.describe(x)}"
        )
    lengths = tuple(fft_length)
    if not 1 <= len(lengths) <= 3:
        raise ValueError(f"fft: fft_length must have one to three sizes, got {lengths}")
    if x.ndim < len(lengths):
        raise TypeError(
            f"fft: operand must have a dimension for each of the {len(lengths)} sizes "
            f"of fft_length, got {checks.describe(x)}"
        )
    expected = lengths
    if kind is FftType.IRFFT:
        expected = (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
    if x.shape[x.ndim - len(lengths) :] != expected:
        raise ValueError(
            f"fft: fft_length must fit the last dimensions of operand {x.shape}, which "
            f"would have to be {expected} for {kind.value}, got {lengths}"
        )
    if real and lengths[-1] == 0:
        # Of nothing: jax.lax would have one coefficient, and StableHLO none.
        return lax.complex(x, x)
    return lax.fft(x, kind.to_lax(), lengths)
