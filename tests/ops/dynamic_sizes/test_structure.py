"""Products, concatenations, paddings, slices and sorts of dynamic size."""

import itertools

import jax
import numpy as np
import pytest
from ops.dynamic_sizes.arrays import SIZES, bounded, check, floats, ints

import xlaops as xo

# Contractions


@pytest.mark.parametrize(("m", "k", "n"), [(2, 3, 4), (0, 3, 2), (2, 0, 3), (5, 6, 7)])
def test_dot(m, k, n):
    x, y = floats(m, k), floats(k, n, seed=1)
    check(xo.dot(bounded(x, (5, 6)), bounded(y, (6, 7))), x @ y)
    check(xo.dot(bounded(x, (5, None)), y), x @ y)
    plain = np.full((6, n), 7, np.float32)
    plain[:k] = y
    check(xo.dot(bounded(x, (5, 6)), plain), x @ y)
    check(xo.dot(bounded(x, (5, 6)), bounded(y[:, 0], (6,))), x @ y[:, 0])


def test_dot_general_of_batches():
    x, y = floats(2, 3, 4), floats(4, 2, 5, seed=1)
    numbers = (((2,), (0,)), ((0,), (1,)))
    z = xo.dot_general(bounded(x, (3, 4, 6)), bounded(y, (6, 3, None)), numbers)
    check(z, np.einsum("bmk,kbn->bmn", x, y))
    assert str(z.bounded_shape) == "f32[<=3,<=4,5]"


def test_dot_refuses_what_it_refuses_of_arrays():
    with pytest.raises(ValueError, match="dot_general: lhs_contracting_dimensions"):
        xo.dot_general(bounded(floats(2), (3,)), np.ones(3), (((1,), (0,)), ((), ())))


# Concatenation, padding, slices


@pytest.mark.parametrize("sizes", list(itertools.product((0, 1, 3), repeat=3)))
def test_concat_in_dim(sizes):
    parts = [floats(2, n, seed=n) for n in sizes]

    def joined(*parts):
        return xo.concat_in_dim(parts, 1)

    a, b, c = parts
    args = bounded(a, (None, 4)), bounded(b, (None, 3)), c
    for f in (joined, jax.jit(joined)):
        y = f(*args)
        check(y, np.concatenate(parts, 1))
        assert y.shape == (2, 7 + sizes[2])


def test_concat_along_a_static_dimension():
    x, y = floats(2, 3), floats(1, 3, seed=1)
    z = xo.concat_in_dim([bounded(x, (None, 5)), bounded(y, (None, 5))], 0)
    check(z, np.concatenate([x, y]))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("config", [(0, 0, 0), (2, 1, 0), (1, 3, 2), (0, -2, 0)])
def test_pad(n, config):
    x = floats(n)
    low, high, interior = config
    spread = np.full(max(n - 1, 0) * (interior + 1) + min(n, 1), 9, np.float32)
    spread[:: interior + 1] = x
    expected = np.concatenate([np.full(low, 9), spread, np.full(max(high, 0), 9)])
    expected = expected[: max(len(expected) + min(high, 0), 0)].astype(np.float32)
    check(xo.pad(bounded(x, (6,)), 9.0, [config]), expected)
    if not interior:
        check(xo.pad_in_dim(bounded(x, (6,)), 9.0, 0, low, high), expected)


def test_pad_removes_the_first():
    x = floats(4)
    check(xo.pad(bounded(x, (6,)), 9.0, [(-1, 1, 0)]), np.append(x[1:], np.float32(9)))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    "part", [(0, 6, 1), (1, 5, 1), (1, 6, 2), (3, 3, 1), (0, 4, 3)]
)
def test_slice(n, part):
    x = floats(2, n)
    start, limit, stride = part
    a = bounded(x, (None, 6))
    expected = x[:, start:limit:stride]
    check(xo.slice(a, (0, start), (2, limit), (1, stride)), expected)
    check(xo.slice_in_dim(a, start, limit, stride, 1), expected)


@pytest.mark.parametrize("stride", [5, 6, 7, 2**31 - 1, 2**31])
def test_slice_with_a_stride_beyond_the_end(stride):
    x = floats(4)
    for start in (0, 1, 5):
        a = xo.slice(bounded(x, (6,)), (start,), (6,), (stride,))
        check(a, x[start : start + 1])


def test_operands_of_the_wrong_structure_are_named():
    a = bounded(floats(4), (6,))
    message = r"^concat_in_dim: operands must be a sequence of arrays, got f32\[<=6\]"
    with pytest.raises(TypeError, match=message):
        xo.concat_in_dim(a, 0)
    for call, parameter in (
        (lambda: xo.add([a], 1.0), "add: lhs"),
        (lambda: xo.neg((a,)), "neg: operand"),
        (lambda: xo.slice([a], (0,), (1,), (1,)), "slice: operand"),
        (lambda: xo.dot(a, [a]), "dot: rhs"),
    ):
        match = rf"^{parameter} must be .* got a (list|tuple) of length 1"
        with pytest.raises(TypeError, match=match):
            call()


# Sorting


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("order", ["lt", "gt"])
def test_sort(n, order):
    keys, values = ints(n), floats(n, seed=1)

    def ordered(k, v):
        return xo.sort(
            [k, v], lambda a, b, _, __: getattr(xo, order)(a, b), is_stable=True
        )

    expected = np.argsort(keys if order == "lt" else -keys, kind="stable")
    for f in (ordered, jax.jit(ordered)):
        # Values of which more would count than of keys.
        k, v = f(
            bounded(keys, (6,), garbage=-100),
            np.resize(values, 6) if n else np.zeros(6, np.float32),
        )
        check(k, keys[expected])
        check(v, values[expected])


def test_sort_of_rows_and_of_columns():
    x = floats(3, 4)
    a = bounded(x, (5, 6))
    check(xo.sort([a], xo.lt, 0), np.sort(x, 0))
    check(xo.sort([a], xo.lt), np.sort(x, 1))
