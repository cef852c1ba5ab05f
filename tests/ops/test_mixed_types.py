"""Operands of element types that XLA does not take beside one another."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import xlaops as xo

TYPES = {
    "int4": ml_dtypes.int4,
    "uint2": ml_dtypes.uint2,
    "bfloat16": ml_dtypes.bfloat16,
    "float16": np.float16,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
KEYS = np.array([0.5, 3.0, -1.0, 2.5, 3.5], np.float32)
ELEMENTS = {
    "update_window_dims": (),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "index_vector_dim": 1,
}


def _with_largest_key(value, key, v, k):
    return jnp.where(k > key, v, value), jnp.where(k > key, k, key)


@pytest.mark.parametrize("name", TYPES)
def test_values_with_keys_of_another_type(name, mode):
    """The value that has the largest key, and the values in the order of the keys."""
    values = np.array([1, 0, 2, 3, 1]).astype(TYPES[name])
    none = values[1]

    @mode
    def all_of_them(values, keys):
        at = jnp.array([[1], [0], [1], [0], [0]])
        empty = jnp.full(2, none), jnp.full(2, -jnp.inf)
        return (
            xo.reduce([values, keys], [none, -jnp.inf], _with_largest_key, [0]),
            xo.reduce_window(
                [values, keys], [none, -jnp.inf], _with_largest_key, [2], [1], "VALID"
            ),
            xo.scatter(empty, at, [values, keys], _with_largest_key, ELEMENTS),
            xo.sort([keys, values], lambda a, b, *_: a < b)[::-1],
        )

    places = [4, [1, 1, 3, 4], [4, 0], [2, 0, 3, 1, 4]]
    results = all_of_them(jnp.asarray(values), jnp.asarray(KEYS))
    for (got, keys), place in zip(results, places, strict=True):
        assert got.dtype == values.dtype
        np.testing.assert_array_equal(
            got.astype(np.float32), values[place].astype("f4")
        )
        np.testing.assert_array_equal(keys, KEYS[place])


def test_derivatives_have_the_operands_types():
    values = jnp.array([1.0, 2.0, 3.0], jnp.bfloat16)
    keys = jnp.array([5.0, 7.0, 6.0])

    def f(values, keys):
        value, key = xo.reduce([values, keys], [0.0, 0.0], _with_largest_key, [0])
        return value.astype(np.float32) * key

    of_values, of_keys = jax.grad(f, (0, 1))(values, keys)
    assert (of_values.dtype, of_keys.dtype) == (jnp.bfloat16, np.float32)
    np.testing.assert_array_equal(of_values.astype(np.float32), [0, 7, 0])
    np.testing.assert_array_equal(of_keys, [0, 2, 0])


def test_a_rule_that_calls_itself():
    """The derivative of `jnp.frexp` calls it again."""
    x = jnp.array([1.0, 3.0, 6.0])
    for _ in range(2):
        got = xo.reduce([x], [0.5], lambda a, b: a + jnp.frexp(b)[0], [0])
        np.testing.assert_array_equal(got, 0.5 + 0.5 + 0.75 + 0.75)
