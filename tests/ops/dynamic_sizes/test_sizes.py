"""The class, and the operations that set, read and reshape dynamic sizes."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.dynamic_sizes.arrays import bounded, check, floats

import xlaops as xo

# The class


def test_text_has_the_bound():
    x = xo.set_dimension_size(jnp.zeros((3, 8)), 5, 1)
    assert str(x.bounded_shape) == "f32[3,<=8]"
    assert repr(xo.set_dimension_size(jnp.arange(3), 2, 0)) == (
        "BoundedArray(s32[<=3], sizes=(2,), [0 1])"
    )
    assert (x.shape, x.ndim, x.dtype) == ((3, 8), 2, np.float32)
    assert xo.Shape.parse("f32[3,<=8]") == x.bounded_shape


def test_traced_text_does_not_fail():
    texts = []

    @jax.jit
    def f(x):
        texts.append(repr(x))
        return x

    f(xo.set_dimension_size(jnp.zeros(8), 5, 0))
    assert texts[0].startswith("BoundedArray(f32[<=8], sizes=")


def test_text_of_what_stands_for_arrays():
    x = xo.set_dimension_size(jnp.zeros((3, 8)), 5, 1)
    for text, leaf in (("'a'", "a"), ("0", 0), ("None", None), ("(2,)", (2,))):
        shown = repr(jax.tree.map(lambda _, leaf=leaf: leaf, x))
        assert shown == f"BoundedArray({text}, sizes=(None, {text}))"


def test_is_a_pytree_with_static_dimensions_in_its_structure():
    x = xo.set_dimension_size(jnp.zeros((3, 8)), 5, 1)
    leaves, structure = jax.tree.flatten(x)
    assert [leaf.shape for leaf in leaves] == [(3, 8), ()]
    again = jax.tree.unflatten(structure, leaves)
    assert isinstance(again, xo.BoundedArray)
    assert again.sizes[0] is None
    assert structure != jax.tree.structure(xo.set_dimension_size(x, 2, 0))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((jnp.zeros(3), ()), "one entry of sizes for each dimension"),
        ((3.0, (None,)), "hold an array and a tuple"),
        ((jnp.zeros(3), (jnp.float32(2),)), "sizes that are s32 scalars"),
        ((jnp.zeros(3), (jnp.arange(2),)), "sizes that are s32 scalars"),
    ],
)
def test_parts_that_do_not_fit(parts, message):
    with pytest.raises(
        TypeError, match=rf"neg: operand must (have|hold).*{message[4:]}"
    ):
        xo.neg(xo.BoundedArray(*parts))


# Sizes set, read and removed


def test_document_example():
    x = jnp.arange(1.0, 11.0)
    five = xo.set_dimension_size(x, 5, 0)
    assert xo.reduce([five], [0.0], xo.add, [0]) == 15
    assert xo.reduce([five], [1.0], xo.mul, [0]) == 120
    assert xo.get_dimension_size(five, 0) == 5


def test_sizes_are_data_of_one_program():
    traces = []

    @jax.jit
    def total(x, n):
        traces.append(None)
        x = xo.set_dimension_size(x, n, 0)
        return xo.reduce([x], [0.0], xo.add, [0]), xo.get_dimension_size(x, 0)

    for n in range(11):
        result, size = total(jnp.arange(10.0), n)
        assert (result, size) == (sum(range(n)), n)
    assert len(traces) == 1


@pytest.mark.parametrize(("val", "size"), [(-3, 0), (11, 10), (2**31 - 1, 10)])
def test_traced_size_out_of_range_is_clamped(val, size):
    x = jax.jit(lambda n: xo.set_dimension_size(jnp.arange(10), n, 0))(val)
    assert xo.get_dimension_size(x, 0) == size
    np.testing.assert_array_equal(x.valid(), np.arange(size))


def test_static_size_is_a_constant():
    size = xo.get_dimension_size(np.zeros((3, 0, 5)), 2)
    assert (size, size.dtype, size.shape) == (5, np.int32, ())


def test_new_size_replaces_the_old_one():
    x = xo.set_dimension_size(xo.set_dimension_size(jnp.arange(9), 3, 0), 7, 0)
    assert xo.get_dimension_size(x, 0) == 7


def test_removed_dimension_has_all_elements():
    x = xo.set_dimension_size(jnp.arange(6).reshape(2, 3), 2, 1)
    x = xo.set_dimension_size(x, 1, 0)
    y = xo.remove_dynamic_dimension(x, 1)
    np.testing.assert_array_equal(y.valid(), [[0, 1, 2]])
    z = xo.remove_dynamic_dimension(y, 0)
    np.testing.assert_array_equal(z, np.arange(6).reshape(2, 3))
    assert isinstance(z, jax.Array)
    assert xo.remove_dynamic_dimension(z, 0) is z


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: xo.set_dimension_size(x, 11, 0),
            ValueError,
            "set_dimension_size: val must be from 0 to the bound 10, got 11",
        ),
        (lambda x: xo.set_dimension_size(x, -1, 0), ValueError, "val must be from 0"),
        (lambda x: xo.set_dimension_size(x, 1.0, 0), TypeError, "val must be an s32"),
        (
            lambda x: xo.set_dimension_size(x, jnp.arange(1), 0),
            TypeError,
            r"val must be an s32 scalar, got int32\[1\]",
        ),
        (
            lambda x: xo.set_dimension_size(x, jnp.uint32(1), 0),
            TypeError,
            "val must be an s32 scalar, got uint32",
        ),
        (
            lambda x: xo.set_dimension_size(x, 1, 1),
            ValueError,
            r"set_dimension_size: dimension must be in \[0, 1\)",
        ),
        (lambda x: xo.get_dimension_size(x, -1), ValueError, "get_dimension_size: dim"),
        (
            lambda x: xo.remove_dynamic_dimension(x, 2),
            ValueError,
            "remove_dynamic_dimension: dimension",
        ),
        (lambda x: xo.get_dimension_size([1], 0), TypeError, "operand must be a jax"),
        (
            lambda x: xo.dynamic_reshape(x, [5, 3], (5, 3), (True, False)),
            ValueError,
            r"new_size_bounds must have the 10 elements of operand \(10,\)",
        ),
        (
            lambda x: xo.dynamic_reshape(x, [5], (5, 2), (True, False)),
            ValueError,
            "one entry for each new dimension, got 1, 2 and 2",
        ),
        (
            lambda x: xo.dynamic_reshape(x, [6, 2], (5, 2), (True, False)),
            ValueError,
            r"dim_sizes\[0\] must be from 0 to the bound 5, got 6",
        ),
        (
            lambda x: xo.dynamic_reshape(x, 10, (10,), (True,)),
            TypeError,
            "dim_sizes must be a sequence",
        ),
        (
            lambda x: xo.dynamic_reshape(x, [10], (10,), ("no",)),
            TypeError,
            r"dims_are_dynamic\[0\] must be",
        ),
        (
            lambda x: xo.dynamic_reshape(x, [10], (10,), True),
            TypeError,
            "dims_are_dynamic must be a sequence of bools, got bool True",
        ),
    ],
)
def test_arguments_that_do_not_fit(call, error, message):
    with pytest.raises(error, match=message):
        call(jnp.zeros(10))


# Reshape


def test_dynamic_reshape_without_dynamic_dimension_is_reshape():
    y = xo.dynamic_reshape(jnp.arange(6.0), [2, 3], (2, 3), (False, False))
    assert isinstance(y, jax.Array)
    np.testing.assert_array_equal(y, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("old", "old_bounds", "new", "new_bounds"),
    [
        ((6,), (12,), (2, 3), (3, 4)),
        ((2, 3), (3, 4), (6,), (12,)),
        ((2, 3), (3, 4), (3, 2), (4, 3)),
        ((2, 3), (None, 6), (3, 2), (6, None)),
        ((2, 3), (4, None), (6,), (12,)),
        ((2, 1, 3), (2, 3, 4), (1, 6), (2, 12)),
        ((0, 3), (2, 4), (2, 0), (4, 2)),
        ((2, 0), (2, 4), (0,), (8,)),
        ((4,), (4,), (2, 2), (None, 2)),
    ],
)
def test_dynamic_reshape_keeps_the_order(old, old_bounds, new, new_bounds):
    valid = 1 + np.arange(math.prod(old), dtype=np.float32).reshape(old)
    x = bounded(valid, old_bounds)
    bounds = [n if b is None else b for n, b in zip(new, new_bounds, strict=True)]
    flags = [b is not None for b in new_bounds]

    def reshaped(x, sizes):
        return xo.dynamic_reshape(x, sizes, bounds, flags)

    for f in (reshaped, jax.jit(reshaped)):
        check(f(x, [np.int32(n) for n in new]), valid.reshape(new))


def test_dynamic_reshape_to_static_packs_the_elements():
    x = bounded(floats(2, 3), (4, 5))
    y = xo.dynamic_reshape(x, [20], (20,), (False,))
    np.testing.assert_array_equal(y[:6], floats(2, 3).reshape(6))
