"""Linear systems and Fourier transforms."""

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import COMPLEX, by_name, dtype_of, uniform

_FACTORED = ("float32", "float64", "complex64", "complex128")


def _positive_definite(lower):
    def arguments(rng, dtype="float64"):
        m = uniform(rng, dtype, (2, 3, 3), -1, 1)
        full = m @ m.conj().swapaxes(-1, -2) + 2 * np.eye(3)
        # The other triangle is not read.
        kept = np.tril(full) if lower else np.triu(full)
        junk = np.triu(uniform(rng, dtype, (3, 3)), 1)
        return ((kept + (junk if lower else junk.T)).astype(dtype),)

    return arguments


def _cholesky(label, lower):
    return Case(
        title="Cholesky",
        label=label,
        arguments=_positive_definite(lower),
        arrange=by_name("a"),
        statics={"lower": lower},
        oracle=oracles.cholesky,
        dtypes=_FACTORED,
        gradient="yes",
        looser=8.0,  # a column takes the rounding errors of those before it
        error=Error(
            lambda: xo.cholesky(jnp.ones((2, 3)), True), TypeError, "a", "(2, 3)"
        ),
    )


def _triangular(label, b_shape, left_side, lower, unit_diagonal, transpose_a):
    def arguments(rng, dtype="float64"):
        a = uniform(rng, dtype, (*b_shape[:-2], 3, 3), -1, 1)
        a = a + 2 * np.eye(3, dtype=dtype_of(dtype))
        return a, uniform(rng, dtype, b_shape)

    return Case(
        title="TriangularSolve",
        label=label,
        arguments=arguments,
        arrange=by_name("a", "b"),
        statics={
            "left_side": left_side,
            "lower": lower,
            "unit_diagonal": unit_diagonal,
            "transpose_a": transpose_a,
        },
        oracle=oracles.triangular_solve,
        dtypes=_FACTORED,
        gradient="yes",
        looser=16.0,  # each unknown takes the rounding errors of those before it
        error=Error(
            lambda: xo.triangular_solve(
                jnp.ones((3, 3)), jnp.ones((2, 3)), True, True, False, "ADJOINT"
            ),
            TypeError,
            "b",
            "(2, 3)",
        ),
    )


def _fft(label, kind, shape, lengths, dtypes):
    def smooth(rng, dtype="float64"):
        pairs = {"float64": "complex128", "float32": "complex64"}
        return (
            uniform(rng, dtype if kind == "RFFT" else pairs.get(dtype, dtype), shape),
        )

    return Case(
        title="Fft",
        label=label,
        arguments=lambda rng, dtype: (uniform(rng, dtype, shape),),
        arrange=by_name("operand"),
        statics={"fft_type": kind, "fft_length": lengths},
        oracle=oracles.fft,
        dtypes=dtypes,
        gradient="yes",
        smooth=smooth,
        looser=8.0,  # sums of up to 24 numbers of up to 4
        error=Error(
            lambda: xo.fft(jnp.ones((2, 4), jnp.complex64), "FFT", (3,)),
            ValueError,
            "fft_length",
            "(3,)",
        ),
    )


SYSTEMS = (
    _cholesky("", True),
    _cholesky("upper", False),
    _triangular("", (2, 3, 2), True, True, False, "NO_TRANSPOSE"),
    _triangular("upper", (3, 2), True, False, False, "TRANSPOSE"),
    _triangular("right", (2, 3), False, True, False, "ADJOINT"),
    _triangular("unit", (3, 2), True, False, True, "ADJOINT"),
    _triangular("right unit", (2, 2, 3), False, False, True, "NO_TRANSPOSE"),
    _fft("", "FFT", (2, 6), (6,), COMPLEX),
    _fft("three", "FFT", (2, 3, 4), (2, 3, 4), COMPLEX),
    _fft("inverse", "IFFT", (2, 3, 4), (3, 4), COMPLEX),
    _fft("of real", "RFFT", (2, 3, 5), (3, 5), ("float32", "float64")),
    _fft("of real even", "RFFT", (2, 6), (6,), ("float32", "float64")),
    _fft("to real", "IRFFT", (2, 3, 4), (3, 6), COMPLEX),
    _fft("to real odd", "IRFFT", (2, 3), (5,), COMPLEX),
)
