"""Element-wise operations on arrays of dynamic size, against NumPy."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.dynamic_sizes.arrays import SIZES, bounded, check, floats, ints

import xlaops as xo

UNARY = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "floor": np.floor,
    "is_finite": np.isfinite,
    "log": np.log,
    "log1p": np.log1p,
    "neg": np.negative,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "round_nearest_even": np.rint,
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}
BINARY = {
    "add": np.add,
    "atan2": np.arctan2,
    "div": np.divide,
    "eq": np.equal,
    "ge": np.greater_equal,
    "lt": np.less,
    "max": np.maximum,
    "mul": np.multiply,
    "pow": np.power,
    "rem": np.fmod,
    "sub": np.subtract,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    valid = floats(3, 4)
    check(getattr(xo, name)(bounded(valid, (5, None))), UNARY[name](valid))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    x, y = floats(3, 4), floats(3, 4, seed=1)
    f, oracle = getattr(xo, name), BINARY[name]
    both = bounded(x, (5, 4)), bounded(y, (5, None))
    check(f(*both), oracle(x, y))
    check(jax.jit(f)(*both), oracle(x, y))
    check(f(both[0], 2.0), oracle(x, np.float32(2)))
    check(f(2.0, both[0]), oracle(np.float32(2), x))
    plain = floats(5, 4, seed=2)
    check(f(both[0], plain), oracle(x, plain[:3]))


def test_integers_and_predicates():
    x, y = ints(4), ints(4, seed=1)
    a, b = bounded(x, (6,)), bounded(y, (6,))
    check(xo.and_(a, b), x & y)
    check(xo.shift_left(a, 2), x << 2)
    check(xo.population_count(a), np.bitwise_count(x.view(np.uint32)).astype(np.int32))
    check(xo.not_(bounded(x > 0, (6,))), ~(x > 0))
    check(xo.convert_element_type(a, "f32"), x.astype(np.float32))


def test_complex_numbers():
    x, y = floats(3), floats(3, seed=1)
    z = xo.complex(bounded(x, (5,)), bounded(y, (5,)))
    check(xo.imag(xo.mul(z, z)), 2 * x * y)
    check(xo.conj(z), x - 1j * y)


def test_select_and_clamp():
    x, y, p = floats(3), floats(3, seed=1), np.array([True, False, True])
    a, b, c = (bounded(v, (4,)) for v in (x, y, p))
    check(xo.select(c, a, b), np.where(p, x, y))
    check(xo.select(True, a, b), x)
    check(xo.clamp(0.75, a, b), np.minimum(np.maximum(x, np.float32(0.75)), y))


def test_compare_takes_a_direction():
    x, y = floats(3), floats(3, seed=1)
    check(xo.compare(bounded(x, (4,)), bounded(y, (4,)), direction="LT"), x < y)


@pytest.mark.parametrize(("m", "n"), list(itertools.product(SIZES, SIZES)))
def test_different_sizes(m, n):
    """As in XLA: the smaller one, but one element is stretched."""
    x, y = floats(m), floats(n, seed=1)
    k = min(m, n)
    expected = x + y if 1 in (m, n) else x[:k] + y[:k]
    for f in (xo.add, jax.jit(xo.add)):
        check(f(bounded(x, (6,)), bounded(y, (6,))), expected)


def test_broadcasting():
    x, row, column = floats(2, 3), floats(3, seed=1), floats(2, 1, seed=2)
    a = bounded(x, (4, 5))
    check(xo.mul(a, bounded(row, (5,)), (1,)), x * row)
    check(xo.mul(bounded(row, (5,)), a, (1,)), row * x)
    check(xo.mul(a, bounded(column, (4, None))), x * column)
    check(
        xo.mul(bounded(column, (4, None)), np.ones((1, 5), np.float32)),
        column * np.ones((1, 5), np.float32),
    )
    check(
        xo.mul(bounded(column[:1], (1, None)), np.ones((4, 1), np.float32)),
        column[:1] * np.ones((4, 1), np.float32),
    )
    empty = xo.set_dimension_size(jnp.ones((1, 1)), 0, 0)
    assert xo.mul(empty, np.ones((4, 1), np.float32)).valid().shape == (0, 1)


def test_bounds_that_do_not_fit_are_refused_as_shapes_are():
    with pytest.raises(TypeError, match="add: lhs and rhs must have sizes that are"):
        xo.add(bounded(floats(2), (4,)), bounded(floats(2), (5,)))
    with pytest.raises(TypeError, match="add: broadcast_dimensions must be given"):
        xo.add(bounded(floats(2), (4,)), np.ones((4, 4), np.float32))
    with pytest.raises(TypeError, match="add: operands must have the same element"):
        xo.add(bounded(floats(2), (4,)), bounded(ints(2), (4,)))
