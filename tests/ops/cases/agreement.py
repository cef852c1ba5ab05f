"""How near a result must be to the oracle's."""

import contextlib

import jax
import numpy as np
from ops import oracles

# Of a result that is rounded once or a few times, relative and absolute.
TOLERANCE = {
    "float8_e4m3fn": 0.13,
    "float8_e5m2": 0.26,
    "bfloat16": 1e-2,
    "float16": 1e-3,
    "float32": 1e-6,
    "float64": 4e-15,
    "complex64": 2e-6,
    "complex128": 8e-15,
}


def is_wide(case, dtype):
    """Whether a type of 64-bit numbers takes part, as an operand or by name."""
    named = {v for v in case.statics.values() if isinstance(v, str)}
    return dtype in ("int64", "uint64", "float64", "complex128") or bool(
        named & {"s64", "f64"}
    )


def precision(case, dtype):
    return jax.enable_x64(True) if is_wide(case, dtype) else contextlib.nullcontext()


def assert_is(case, got, expected, *, looser=1.0):
    """The same element type, shape and values."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    dtype = got.dtype
    if case.exact or oracles.kind(dtype) in "biu":
        if oracles.kind(dtype) == "f":
            got, expected = got.astype(np.float64), expected.astype(np.float64)
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(
                np.signbit(got[numbers]), np.signbit(expected[numbers])
            )
        np.testing.assert_array_equal(got, expected)
        return
    tolerance = looser * case.looser * TOLERANCE[dtype.name]
    if oracles.kind(dtype) == "f":
        got, expected = got.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
