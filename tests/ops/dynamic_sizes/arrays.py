"""Arrays of dynamic size made for tests, and compared with NumPy's.

What does not count is NaN, or a number so large that its influence would show.
"""

import jax.numpy as jnp
import numpy as np

import xlaops as xo

SIZES = (0, 1, 2, 3, 5, 6)
GARBAGE = {"f": np.nan, "i": 2**30, "b": True}


def bounded(valid, bounds, garbage=None):
    """A BoundedArray of numpy elements, dynamic wherever a bound is given."""
    shape = [n if b is None else b for n, b in zip(valid.shape, bounds, strict=True)]
    if garbage is None:
        garbage = GARBAGE[valid.dtype.kind]
    data = np.full(shape, garbage, valid.dtype)
    data[tuple(slice(n) for n in valid.shape)] = valid
    result = jnp.asarray(data)
    for d, bound in enumerate(bounds):
        if bound is not None:
            result = xo.set_dimension_size(result, valid.shape[d], d)
    return result


def floats(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape).astype(np.float32)


def ints(*shape, seed=0):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(np.int32)


def check(result, expected, rtol=1e-5):
    valid = result.valid() if isinstance(result, xo.BoundedArray) else result
    assert np.shape(valid) == np.shape(expected)
    assert valid.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(valid, expected, rtol=rtol, atol=1e-6)
