"""Map against a loop in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads
from ops import drawn, interpreter

import xlaops as xo


def test_two_operands_of_different_types(mode):
    k, v = jnp.arange(4), jnp.array([0.5, 3.0, 1.0, 2.5])
    f = mode(lambda k, v: xo.map([k, v], lambda a, b: a.astype(b.dtype) > b, [0]))
    got = f(k, v)
    assert got.dtype == bool
    np.testing.assert_array_equal(got, [False, False, True, True])


def test_loops_of_different_lengths(mode):
    """Each element goes through its own number of steps."""
    n = jnp.array([6, 1, 27, 7])

    def steps(n):
        def body(state):
            n, count = state
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

        return lax.while_loop(lambda s: s[0] != 1, body, (n, 0))[1]

    f = mode(lambda n: xo.map([n], steps, [0]))
    np.testing.assert_array_equal(f(n), [8, 0, 111, 16])


def test_branches_and_scans(mode):
    x = jnp.array([-1.0, 2.0, 3.0])

    def f(a):
        total, _ = lax.scan(lambda c, _: (c + a, None), a, None, length=2)
        return lax.cond(a > 0, lambda v: v * 10, lambda v: -v, total)

    got = mode(lambda x: xo.map([x], f, [0]))(x)
    np.testing.assert_array_equal(got, [3, 60, 90])


@pytest.mark.parametrize("shape", [(), (0,), (2, 3, 2)])
def test_every_rank(shape, rng):
    x = rng.normal(size=shape).astype(np.float32)
    got = xo.map([x], lambda a: a * a + 1, range(len(shape)))
    np.testing.assert_allclose(got, x * x + 1, rtol=1e-6)


def test_a_python_number_is_a_result():
    got = xo.map([jnp.ones((2, 2))], lambda a: 3, [0, 1])
    assert got.dtype == "int32"
    np.testing.assert_array_equal(got, np.full((2, 2), 3))


@st.composite
def problems(draw):
    count = draw(st.integers(1, 3))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    return count, shape, draw(drawn.functions(count))


def check(problem, seed):
    count, shape, computation = problem
    rng = np.random.default_rng(seed)
    operands = [rng.integers(-9, 10, shape).astype(np.int32) for _ in range(count)]
    got = xo.map(operands, computation, range(len(shape)))
    expected = interpreter.map_(operands, computation, np.int32)
    np.testing.assert_array_equal(got, expected)


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32))
def test_random_computations(problem, seed):
    check(problem, seed)


@pytest.mark.slow
@settings(max_examples=200)
@given(problems(), st.integers(0, 2**32))
def test_many_random_computations(problem, seed):
    check(problem, seed)


def test_derivatives(rng, x64):
    x, y = rng.uniform(0.5, 1.5, (2, 2, 3))

    def computation(a, b):
        return lax.cond(a > 1, lambda a, b: jnp.sin(a) * b, lambda a, b: a / b, a, b)

    check_grads(lambda x, y: xo.map([x, y], computation, [0, 1]), (x, y), order=2)


def test_one_mapped_operand():
    x, y = jnp.arange(6.0).reshape(2, 3), jnp.arange(3.0)
    f = lambda x, y: xo.map([x, y], lambda a, b: a * b + a, [0])  # noqa: E731
    np.testing.assert_array_equal(jax.vmap(f, (0, None))(x, y), x * y[None] + x)


ERRORS = [
    (lambda x: xo.map(x, jnp.sin, [0]), TypeError, "operands"),
    (lambda x: xo.map([], jnp.sin, []), ValueError, "operands"),
    (lambda x: xo.map([x, x[:2]], jnp.add, [0]), TypeError, r"operands.*\(2,\)"),
    (lambda x: xo.map([x], jnp.sin, []), ValueError, r"dimensions.*got \(\)"),
    (lambda x: xo.map([x], jnp.sin, [1]), ValueError, r"dimensions.*got \(1,\)"),
    (lambda x: xo.map([x], jnp.sin, [0], [x]), ValueError, "static_operands.*got 1"),
    (lambda x: xo.map([x], jnp.sin, [0], 1), TypeError, "static_operands.*got int 1"),
    (lambda x: xo.map([x], 3, [0]), TypeError, "computation.*int 3"),
    (lambda x: xo.map([x], lambda a: (a, a), [0]), TypeError, "computation.*2 values"),
    (lambda x: xo.map([x], lambda a: a[None], [0]), TypeError, r"float32\[1\]"),
    (lambda x: xo.map([x], lambda: 1, [0]), TypeError, "computation must take 1"),
]


@pytest.mark.parametrize(("call", "exception", "match"), ERRORS)
def test_errors(call, exception, match):
    with pytest.raises(exception, match=f"^map: .*{match}"):
        call(jnp.ones(3))


def test_a_traced_value_in_a_closure():
    with pytest.raises(TypeError, match=r"^map: computation must use no value that"):
        jax.jit(lambda x, k: xo.map([x], lambda a: a * k, [0]))(jnp.ones(3), 2.0)


# Where types say over which mesh axes a value varies


def _looped(a, b):
    return lax.fori_loop(0, 3, lambda i, total: total * b + 1, a)


def _rotated(a, b):
    return a * jnp.conj(b) * (2 + 1j) + jnp.abs(a)


@pytest.mark.parametrize(
    ("f", "dtype"),
    [
        (lambda a, b: 2 * jnp.where(a > b, a, 0.5) + b, "float32"),
        (lambda a, b: jnp.hypot(jax.nn.relu(a), b), "float32"),
        (_looped, "float32"),
        (_rotated, "complex64"),
    ],
    ids=["constants", "custom", "loop", "complex"],
)
def test_on_every_device_with_checked_types(f, dtype, mesh8, rng):
    """Constants and loops vary over no axis, and what they are combined with does.

    The values and both derivatives are those of a plain map, also those of a product.
    """
    x, y = (
        (rng.normal(size=(8, 3)) + 1j * rng.normal(size=(8, 3))).astype(dtype)
        if dtype == "complex64"
        else rng.uniform(0.5, 2.0, (8, 3)).astype(dtype)
        for _ in range(2)
    )
    mapped = jax.shard_map(
        lambda x, y: xo.map([x, y], f, [0, 1]),
        mesh=mesh8,
        in_specs=P("i"),
        out_specs=P("i"),
        check_vma=True,
    )

    def by_hand(x, y):
        return jax.vmap(jax.vmap(f))(x, y).astype(dtype)

    def derivatives(function):
        def of(x, y):
            value, pull = jax.linearize(function, x, y)
            ones = jnp.full_like(value, 1 + 2j if dtype == "complex64" else 1.5)
            return value, pull(y, x), jax.linear_transpose(pull, x, y)(ones)

        return jax.jit(of)(x, y)

    got, expected = map(derivatives, (mapped, by_hand))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 1e-4), got, expected)
