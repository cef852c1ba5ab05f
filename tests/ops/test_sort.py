"""Sort against an insertion sort in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.test_util import check_grads
from ops import drawn, interpreter

import xlaops as xo


def ascending(a, b):
    return a < b


def descending(a, b):
    return a > b


def by_first(a, b, *rest):
    return a < b


# By hand


def test_example_of_the_document(mode):
    """Three operands sorted by the first one."""
    operands = [jnp.array([3, 1]), jnp.array([42, 50]), jnp.array([-3.0, 1.1])]
    got = mode(lambda *xs: xo.sort(xs, by_first))(*operands)
    np.testing.assert_array_equal(got[0], [1, 3])
    np.testing.assert_array_equal(got[1], [50, 42])
    np.testing.assert_array_equal(got[2], np.float32([1.1, -3.0]))
    assert [x.dtype for x in got] == ["int32", "int32", "float32"]


def test_stable_sort_keeps_ties_in_order(mode):
    x = jnp.array([3, 1, 2, 1])
    far_from_two = lambda a, b: jnp.abs(a - 2) > jnp.abs(b - 2)  # noqa: E731
    got = mode(lambda x: xo.sort([x], far_from_two, is_stable=True))(x)
    np.testing.assert_array_equal(got, [3, 1, 1, 2])


@pytest.mark.parametrize("dimension", [0, 1, 2, -1, -3])
def test_every_dimension(dimension, rng):
    x = rng.permutation(24).reshape(2, 3, 4).astype(np.int32)
    got = xo.sort([x], descending, dimension)
    np.testing.assert_array_equal(got, -np.sort(-x, dimension))


def test_two_keys(rng):
    x, y = rng.integers(0, 3, (2, 20)).astype(np.int32)

    def later(a, b, c, d):
        return (a < b) | (a == b) & (c > d)

    got = xo.sort([x, y], later)
    order = np.lexsort((-y, x))
    np.testing.assert_array_equal(got[0], x[order])
    np.testing.assert_array_equal(got[1], y[order])


def test_total_order():
    x = np.array([np.nan, 1, -0.0, 0.0, -np.inf, -1], np.float32)
    x = np.append(x, -np.float32(np.nan))
    got = np.asarray(xo.sort([x], xo.lt_total_order))
    np.testing.assert_array_equal(got, [np.nan, -np.inf, -1, 0, 0, 1, np.nan])
    np.testing.assert_array_equal(
        np.signbit(got), [True, True, True, True, False, False, False]
    )


@pytest.mark.parametrize(
    "dtype",
    ["int4", "uint4", "uint8", "bool", "bfloat16", "float8_e5m2", "complex64"],
)
def test_element_types(dtype):
    x = jnp.array([1, 0, 1, 0, 1], dtype)
    less = lambda a, b: xo.real(a) < xo.real(b)  # noqa: E731
    got = xo.sort([x], less if dtype == "complex64" else ascending)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.astype(np.complex64), [0, 0, 1, 1, 1])


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0), (0, 3), (2, 1)])
def test_little_to_sort(shape):
    x = jnp.zeros(shape)
    assert xo.sort([x], ascending).shape == shape
    assert jax.grad(lambda x: xo.sort([x], ascending).sum())(x).shape == shape


# Random comparators


@st.composite
def problems(draw):
    count = draw(st.integers(1, 3))
    shape = draw(st.sampled_from([(6,), (3, 4), (2, 3, 3)]))
    dimension = draw(st.integers(0, len(shape) - 1))
    return count, shape, dimension, draw(drawn.orders(count))


def check(problem, seed):
    count, shape, dimension, comparator = problem
    rng = np.random.default_rng(seed)
    operands = [rng.integers(-4, 5, shape).astype(np.int32) for _ in range(count)]
    got = jax.tree.leaves(xo.sort(operands, comparator, dimension, True))
    with np.errstate(over="ignore"):
        expected = interpreter.sort(operands, comparator, dimension)
    for y, z in zip(got, expected, strict=True):
        np.testing.assert_array_equal(y, z)


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32))
def test_random_comparators(problem, seed):
    check(problem, seed)


@pytest.mark.slow
@settings(max_examples=200)
@given(problems(), st.integers(0, 2**32))
def test_many_random_comparators(problem, seed):
    check(problem, seed)


# Derivatives and batches


def test_gradients_go_back_to_their_places():
    x = jnp.array([3.0, 1.0, 2.0, 5.0])
    weights = jnp.array([1.0, 10.0, 100.0, 1000.0])
    f = lambda x: (xo.sort([x], descending) * weights).sum()  # noqa: E731
    expected = [10, 1000, 100, 1]
    np.testing.assert_array_equal(jax.grad(f)(x), expected)
    np.testing.assert_array_equal(jax.jit(jax.grad(jax.checkpoint(f)))(x), expected)
    np.testing.assert_array_equal(
        jax.jacfwd(lambda x: xo.sort([x], descending))(x), np.eye(4)[[3, 0, 2, 1]]
    )


def test_derivative_of_what_is_carried_along():
    keys = jnp.array([2, 0, 1])
    x = jnp.array([1.0, 2.0, 3.0])
    f = lambda x: xo.sort([keys, x], by_first)[1]  # noqa: E731
    np.testing.assert_array_equal(jax.jacrev(f)(x), np.eye(3)[[1, 2, 0]])


def test_value_and_derivative_agree_where_there_are_ties():
    keys = jnp.zeros(64, jnp.int32)
    x = jnp.arange(64.0)
    f = lambda x: xo.sort([keys, x], by_first)[1]  # noqa: E731
    value, tangent = jax.jvp(f, (x,), (x,))
    np.testing.assert_array_equal(value, tangent)


@pytest.mark.parametrize("dimension", [0, 1])
def test_second_derivatives(dimension, rng, x64):
    x, y = rng.normal(size=(2, 3, 4))

    def f(x, y):
        a, b = xo.sort([x, y], by_first, dimension)
        return a * b, b * b

    check_grads(f, (x, y), order=2)


def test_one_mapped_operand(rng):
    x = rng.normal(size=(5, 3, 4)).astype(np.float32)
    y = np.arange(12).reshape(3, 4)

    def f(x, y):
        return xo.sort([x, y], by_first, 0)

    got = jax.vmap(f, (0, None))(x, y)
    expected = [f(row, y) for row in x]
    for i in range(2):
        np.testing.assert_array_equal(got[i], np.stack([e[i] for e in expected]))


ERRORS = [
    (lambda x: xo.sort(x, ascending), TypeError, "operands"),
    (lambda x: xo.sort([], ascending), ValueError, "operands"),
    (lambda x: xo.sort([x, x[:1]], by_first), TypeError, r"operands.*\(1,\)"),
    (lambda x: xo.sort([x], ascending, 1), ValueError, "dimension.*got 1"),
    (lambda x: xo.sort([x], ascending, -2), ValueError, "dimension.*got -2"),
    (lambda x: xo.sort([x[0]], ascending), ValueError, "dimension.*rank 0"),
    (lambda x: xo.sort([x], ascending, 0.0), TypeError, "dimension"),
    (lambda x: xo.sort([x], ascending, 0, 1), TypeError, "is_stable"),
    (lambda x: xo.sort([x], None), TypeError, "comparator.*None"),
    (lambda x: xo.sort([x, x], ascending), TypeError, "comparator must take 4"),
    (lambda x: xo.sort([x], lambda a, b: 1), TypeError, "comparator.*int 1"),
    (lambda x: xo.sort([x], lambda a, b: (a < b,) * 2), TypeError, "2 values"),
    (lambda x: xo.sort([x], lambda a, b: None), TypeError, "comparator.*None"),
]


@pytest.mark.parametrize(("call", "exception", "match"), ERRORS)
def test_errors(call, exception, match):
    with pytest.raises(exception, match=f"^sort: .*{match}"):
        call(jnp.ones(3))
