"""SelectAndScatter against a loop in numpy."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.test_util import check_grads
from ops import drawn, interpreter

import xlaops as xo


def first_largest(a, b):
    return a >= b


# By hand


@pytest.mark.parametrize(
    ("select", "expected"), [(xo.ge, [5, 7, 0]), (xo.gt, [0, 5, 7])]
)
def test_ties(select, expected, mode):
    f = mode(
        lambda x, y: xo.select_and_scatter(x, select, [2], [1], "VALID", y, 0.0, xo.add)
    )
    np.testing.assert_array_equal(f(jnp.ones(3), jnp.array([5.0, 7.0])), expected)


def test_padding_is_never_selected(mode):
    x, y = jnp.array([-3.0, -1.0, -2.0]), jnp.array([5.0, 7.0])
    f = mode(
        lambda x, y: xo.select_and_scatter(x, xo.ge, [2], [2], [(1, 0)], y, 0.0, xo.add)
    )
    np.testing.assert_array_equal(f(x, y), [5, 7, 0])


def test_what_is_there_comes_first(mode):
    x, y = jnp.array([3.0, 1.0, 2.0, 1.0]), jnp.array([5.0, 7.0])
    f = mode(
        lambda x, y: xo.select_and_scatter(
            x, xo.ge, [2], [2], "VALID", y, 2.0, lambda a, b: a - b
        )
    )
    np.testing.assert_array_equal(f(x, y), [-3, 2, -5, 2])
    # Folded by the compiler, which swaps the two.
    g = jax.jit(lambda: f(jnp.asarray(np.array(x)), jnp.asarray(np.array(y))))
    np.testing.assert_array_equal(g(), [-3, 2, -5, 2])


def test_example_of_the_specification(mode):
    x = jnp.array([[1, 5], [2, 5], [3, 6], [4, 4]])
    y = jnp.array([[5, 6], [7, 8]])
    f = mode(
        lambda x, y: xo.select_and_scatter(
            x, xo.ge, (3, 1), (2, 1), ((0, 1), (0, 0)), y, 0, xo.add
        )
    )
    np.testing.assert_array_equal(f(x, y), [[0, 0], [0, 0], [5, 14], [7, 0]])


@pytest.mark.parametrize("padding", [[(3, 0)], [(0, 4)]])
def test_windows_of_padding_alone_put_nothing(padding, mode):
    x = jnp.array([1.0, 2.0, 3.0])
    count = 2 + sum(padding[0])
    y = jnp.arange(1.0, count + 1)
    f = mode(
        lambda x, y: xo.select_and_scatter(x, xo.ge, [2], [1], padding, y, 0.5, xo.add)
    )
    expected = interpreter.select_and_scatter(
        np.asarray(x), first_largest, [2], [1], padding, np.asarray(y), 0.5, np.add
    )
    np.testing.assert_array_equal(f(x, y), expected)


def test_cropped(mode):
    """What is removed stays as it began."""
    x, y = jnp.array([9.0, 1.0, 2.0, 9.0]), jnp.array([5.0])
    f = mode(
        lambda x, y: xo.select_and_scatter(
            x, xo.ge, [2], [1], [(-1, -1)], y, 0.5, xo.add
        )
    )
    np.testing.assert_array_equal(f(x, y), [0.5, 0.5, 5.5, 0.5])


def test_scalars():
    got = xo.select_and_scatter(
        jnp.float32(1), xo.ge, [], [], "VALID", jnp.float32(2), 3.0, xo.add
    )
    assert got == 5


def test_is_the_gradient_of_a_maximum(rng):
    x = rng.normal(size=(6, 7)).astype(np.float32)
    window = ((2, 3), (2, 2))
    y, pull = jax.vjp(
        lambda x: xo.reduce_window([x], [-jnp.inf], xo.max, *window, "SAME"), x
    )
    cotangent = rng.normal(size=y.shape).astype(np.float32)
    got = xo.select_and_scatter(x, xo.ge, *window, "SAME", cotangent, 0.0, xo.add)
    np.testing.assert_allclose(got, pull(cotangent)[0], rtol=1e-6)


# Random computations


@st.composite
def problems(draw):
    rank = draw(st.integers(1, 2))

    def numbers(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    padding = tuple(zip(numbers(0, 2), numbers(0, 2), strict=True))
    key = draw(drawn.functions(1))

    def precedes(a, b):
        # Between equals the compiler may choose, so that there must be none.
        x, y = key(a), key(b)
        return (x > y) | (x == y) & (a >= b)

    select = drawn.Drawn(precedes, key)
    return (
        numbers(3, 5),
        numbers(1, 3),
        numbers(1, 3),
        padding,
        select,
        draw(drawn.updates()),
    )


def check(problem, seed):
    shape, sizes, strides, padding, select, scatter = problem
    rng = np.random.default_rng(seed)
    x = rng.permutation(math.prod(shape)).reshape(shape).astype(np.int32) - 9
    wide = [n + low + high for n, (low, high) in zip(shape, padding, strict=True)]
    positions = interpreter.positions(wide, sizes, strides, [1] * len(shape))
    source = rng.integers(-9, 10, positions).astype(np.int32)
    init = np.int32(rng.integers(-3, 4))

    def f(x, source, init):
        return xo.select_and_scatter(
            x, select, sizes, strides, padding, source, init, scatter
        )

    with np.errstate(over="ignore"):
        expected = interpreter.select_and_scatter(
            x, select, sizes, strides, padding, source, init, scatter
        )
    np.testing.assert_array_equal(f(x, source, init), expected)
    # And what derivatives and batches of initial values are made of.
    mapped = jax.vmap(f, (None, None, 0))(x, source, np.stack([init, init]))
    np.testing.assert_array_equal(mapped[1], expected)


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32))
def test_random_computations(problem, seed):
    check(problem, seed)


@pytest.mark.slow
@settings(max_examples=200)
@given(problems(), st.integers(0, 2**32))
def test_many_random_computations(problem, seed):
    check(problem, seed)


# Derivatives and batches

SCATTERS = {
    "add": xo.add,
    "sub": xo.sub,
    "mul": xo.mul,
    "lambda": lambda a, b: a * b + a,
}


@pytest.mark.parametrize("name", SCATTERS)
def test_second_derivatives(name, rng, x64):
    x = rng.permutation(20).reshape(4, 5) / 20
    source = rng.uniform(0.5, 1.5, (3, 5))

    def f(source, init):
        return xo.select_and_scatter(
            x, xo.ge, (2, 3), (1, 1), [(0, 0), (1, 1)], source, init, SCATTERS[name]
        )

    check_grads(f, (source, 0.7), order=2)


def test_operand_has_no_derivative(rng):
    x = rng.normal(size=4).astype(np.float32)
    f = lambda x: xo.select_and_scatter(  # noqa: E731
        x, xo.ge, [2], [2], "VALID", jnp.ones(2), 0.0, xo.add
    ).sum()
    np.testing.assert_array_equal(jax.grad(f)(x), np.zeros(4))


AXES = [(0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0), (1, 1, None)]


@pytest.mark.parametrize("axes", AXES)
def test_mapped_operands(axes, rng):
    rows = [
        (
            rng.normal(size=(4, 5)).astype(np.float32),
            rng.normal(size=(2, 5)).astype(np.float32),
            np.float32(rng.normal()),
        )
        for _ in range(3)
    ]

    def f(x, source, init):
        return xo.select_and_scatter(
            x, xo.ge, (2, 3), (2, 1), "SAME", source, init, lambda a, b: a * b + b
        )

    given = [
        rows[0][i] if axis is None else np.stack([row[i] for row in rows], axis)
        for i, axis in enumerate(axes)
    ]
    got = jax.vmap(f, axes)(*given)
    for k in range(3):
        row = [rows[0 if axis is None else k][i] for i, axis in enumerate(axes)]
        np.testing.assert_allclose(got[k], f(*row), rtol=1e-5, atol=1e-6)


def test_windows_that_overlap_between_devices(mesh8, rng):
    x, source = rng.normal(size=(2, 16)).astype(np.float32)

    def f(x, source):
        return xo.select_and_scatter(x, xo.ge, [4], [1], "SAME", source, 0.5, xo.add)

    placed = jax.NamedSharding(mesh8, jax.sharding.PartitionSpec("i"))
    got = jax.jit(f)(jax.device_put(x, placed), jax.device_put(source, placed))
    np.testing.assert_allclose(got, f(x, source), rtol=1e-5)


X, Y = jnp.ones(4), jnp.ones(2)
ERRORS = [
    ((X, xo.ge, [2], [2], "VALID", jnp.ones(3), 0.0, xo.add), TypeError, "source"),
    ((X, xo.ge, [2], [2], "VALID", Y, Y, xo.add), TypeError, "init_value"),
    ((X, xo.ge, [2], [2], "VALID", np.arange(2), 0.0, xo.add), TypeError, "source"),
    ((X, xo.add, [2], [2], "VALID", Y, 0.0, xo.add), TypeError, "select must return"),
    ((X, xo.ge, [2], [2], "VALID", Y, 0.0, xo.ge), TypeError, "scatter must return"),
    ((X, 1, [2], [2], "VALID", Y, 0.0, xo.add), TypeError, "select .*int 1"),
    ((X, xo.ge, [2, 1], [2], "VALID", Y, 0.0, xo.add), ValueError, "window_dimensions"),
    ((X, xo.ge, [2], [-1], "VALID", Y, 0.0, xo.add), ValueError, "window_strides"),
    ((X, xo.ge, [2], [2], "FULL", Y, 0.0, xo.add), ValueError, "padding"),
    ((X, xo.ge, [1], [1], [(-5, 3)], Y, 0.0, xo.add), ValueError, r"padding.*-5"),
    (([1.0], xo.ge, [2], [2], "VALID", Y, 0.0, xo.add), TypeError, "operand"),
]


@pytest.mark.parametrize(("arguments", "exception", "match"), ERRORS)
def test_errors(arguments, exception, match):
    with pytest.raises(exception, match=f"^select_and_scatter: .*{match}"):
        xo.select_and_scatter(*arguments)


def test_general_padding_is_pairs():
    name = "select_and_scatter_with_general_padding"
    with pytest.raises(TypeError, match=f"^{name}: padding must be a .*'VALID'"):
        xo.select_and_scatter_with_general_padding(
            X, xo.ge, [2], [2], "VALID", Y, 0.0, xo.add
        )
