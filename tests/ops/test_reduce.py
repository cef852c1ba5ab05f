"""Reductions against a loop in numpy: values, initial values and derivatives."""

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
from xlaops.core import computation, folding


def combine(a, b):
    return a * b + a + b


def last_largest(largest, place, v, i):
    later = v >= largest
    return jnp.where(later, v, largest), jnp.where(later, i, place)


# By hand


def test_product_with_an_initial_value_that_is_no_identity(mode):
    """Its value and its derivatives: each element's is the product of all others."""
    x = jnp.array([1.0, 5.0, 5.0, 2.0])

    def f(x, init):
        return xo.reduce([x], [init], lambda a, b: a * b, [0])

    assert mode(f)(x, 2.0) == 100
    value, (dx, dinit) = mode(jax.value_and_grad(f, (0, 1)))(x, 2.0)
    assert value == 100
    np.testing.assert_array_equal(dx, [100, 20, 20, 50])
    assert dinit == 50


def test_initial_value_enters_once(mode):
    x = jnp.ones((64, 128))
    f = mode(lambda x: xo.reduce([x], [10.0], lambda a, b: a + b, [0, 1]))
    assert f(x) == 8202
    assert mode(lambda x: xo.reduce([x], [10.0], xo.add, [0, 1]))(x) == 8202


def test_last_of_the_largest(mode):
    x = jnp.array([1.0, 5.0, 5.0, 2.0])
    places = jnp.arange(4, dtype=jnp.int32)
    f = mode(lambda x, i: xo.reduce([x, i], [-jnp.inf, -1], last_largest, [0]))
    value, place = f(x, places)
    assert (value, place) == (5, 2)
    assert value.dtype == "float32"
    assert place.dtype == "int32"


def test_gradient_of_a_variadic_reduction_goes_to_the_chosen_element():
    x = jnp.array([[1.0, 5.0, 5.0, 2.0], [4.0, 0.0, 3.0, 1.0]])
    places = lax.broadcasted_iota(jnp.int32, x.shape, 1)

    def f(x):
        largest, _ = xo.reduce([x, places], [-jnp.inf, -1], last_largest, [1])
        return (largest * jnp.array([10.0, 20.0])).sum()

    expected = [[0, 0, 10, 0], [20, 0, 0, 0]]
    np.testing.assert_array_equal(jax.grad(f)(x), expected)


def test_without_dimensions_the_initial_value_is_combined(mode):
    x = jnp.array([1.0, 2.0])
    f = mode(lambda x: xo.reduce([x], [10.0], xo.sub, []))
    np.testing.assert_array_equal(f(x), [9, 8])
    assert mode(lambda v: xo.reduce([v], [10.0], xo.sub, []))(jnp.float32(4)) == 6


@pytest.mark.parametrize("combined", [xo.add, combine], ids=["add", "lambda"])
def test_nothing_reduced_is_the_initial_value(combined, mode):
    def f(x, init):
        return xo.reduce([x], [init], combined, [0])

    x = jnp.zeros((0, 3))
    np.testing.assert_array_equal(mode(f)(x, 7.0), [7, 7, 7])
    assert mode(jax.grad(lambda x, i: f(x, i).sum(), 1))(x, 7.0) == 3
    assert mode(f)(jnp.zeros((2, 0)), 7.0).shape == (0,)


def test_order_is_kept():
    """The composition of lines is associative, and not commutative."""
    rng = np.random.default_rng(0)
    slopes = rng.uniform(0.5, 1.5, (2, 7)).astype(np.float32)
    heights = rng.uniform(-1, 1, (2, 7)).astype(np.float32)

    def compose(a, b, c, d):
        return a * c, b * c + d

    def f(slopes, heights, a, b):
        return xo.reduce([slopes, heights], [a, b], compose, [1])

    def by_hand(slopes, heights, a, b):
        slope, height = jnp.full(2, a), jnp.full(2, b)
        for k in range(7):
            slope = slope * slopes[:, k]
            height = height * slopes[:, k] + heights[:, k]
        return slope, height

    arguments = (slopes, heights, 2.0, 3.0)
    for got, expected in zip(f(*arguments), by_hand(*arguments), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    total = lambda f: lambda *args: sum(y.sum() for y in f(*args))  # noqa: E731
    got = jax.jit(jax.grad(total(f), (0, 1, 2, 3)))(*arguments)
    expected = jax.grad(total(by_hand), (0, 1, 2, 3))(*arguments)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)


@pytest.mark.parametrize("position", range(3))
def test_a_nan_is_never_lost(position, mode):
    x = np.array([1.0, 2.0, 3.0], np.float32)
    x[position] = np.nan
    assert np.isnan(mode(lambda x: xo.reduce([x], [-jnp.inf], xo.max, [0]))(x))
    assert np.isnan(mode(lambda x: xo.reduce([x], [9.0], xo.max, [0]))(x))


IDENTITIES = [
    (xo.add, np.add, 0),
    (xo.mul, np.multiply, 1),
    (xo.max, np.maximum, np.iinfo(np.int32).min),
    (xo.min, np.minimum, np.iinfo(np.int32).max),
    (xo.and_, np.bitwise_and, -1),
    (xo.or_, np.bitwise_or, 0),
    (xo.xor, np.bitwise_xor, 0),
]


@pytest.mark.parametrize("init", [None, 5])
@pytest.mark.parametrize(("combined", "oracle", "identity"), IDENTITIES)
def test_computations_that_jax_lax_has(combined, oracle, identity, init, rng):
    x = rng.integers(-9, 9, (3, 4)).astype(np.int32)
    init = np.int32(identity if init is None else init)
    expected = oracle(init, oracle.reduce(x, 1))
    np.testing.assert_array_equal(xo.reduce([x], [init], combined, [1]), expected)
    flags = x > 0
    if oracle in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        flag = np.bool_(init & 1)
        got = xo.reduce([flags], [flag], combined, [1])
        np.testing.assert_array_equal(got, oracle(flag, oracle.reduce(flags, 1)))


NARROW = ["int4", "uint4", "int8", "bfloat16", "float16", "float8_e4m3fn"]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("init", ["identity", "other"])
def test_narrow_types(dtype, init):
    dtype = jnp.dtype(dtype)
    x = jnp.array([[1, 3, 2], [0, 2, 5]], dtype)
    limits = jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo
    start = jnp.array(limits(dtype).min if init == "identity" else 4, dtype)
    got = xo.reduce([x], [start], xo.max, [1])
    assert got.dtype == dtype
    expected = [3, 5] if init == "identity" else [4, 5]
    np.testing.assert_array_equal(got.astype(np.float32), expected)


@pytest.mark.parametrize(("combined", "expected"), [(xo.add, 16), (xo.max, 8)])
def test_a_type_that_has_no_zero(combined, expected):
    """Nor infinity: no initial value adds nothing, and the largest is a number."""
    dtype = jnp.dtype("float8_e8m0fnu")
    x = jnp.asarray(np.array([[2, 4, 8]] * 2, np.float32), dtype)
    start = jnp.asarray(2, dtype)
    got = xo.reduce([x], [start], combined, [1])
    window = xo.reduce_window([x], [start], combined, [1, 3], [1, 1], "VALID")
    assert got.dtype == window.dtype == dtype
    assert got.astype(np.float32).tolist() == [expected] * 2
    assert window.astype(np.float32).tolist() == [[expected]] * 2


@pytest.mark.parametrize("dtype", ["int4", "uint4", "uint8", "int16", "uint32"])
@pytest.mark.parametrize("init", [0, 6])
def test_bits_of_narrow_integers(dtype, init):
    x = jnp.array([[3, 1], [6, 4]], dtype)
    for combined, oracle in ((xo.and_, np.bitwise_and), (xo.xor, np.bitwise_xor)):
        got = xo.reduce([x], [jnp.array(init, dtype)], combined, [1])
        expected = oracle(init, oracle.reduce(np.asarray(x).astype(int), 1))
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.astype(int), expected)


def test_reduce_all():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert xo.reduce_all(x, 100, xo.add) == 166
    assert xo.reduce_all(np.int32(3), 100, xo.add) == 103


# What XLA rewrites as if every initial value were an identity

PRODUCERS = {
    "concatenated": lambda x: jnp.concatenate([x, 2 * x], 1),
    "one of a slice": lambda x: lax.dynamic_slice(x, (0, 1), (2, 1)),
    "one of a reshape": lambda x: x[:, :1],
    "broadcast": lambda x: jnp.broadcast_to(x[:, :1], (2, 4)),
    "padded": lambda x: jnp.pad(x, ((0, 0), (1, 1)), constant_values=10),
    "reversed": lambda x: x[:, ::-1],
    "zeros": lambda x: jnp.zeros_like(x),
}


@pytest.mark.parametrize("combined", [xo.add, combine, lambda a, b: a * 2 + b])
@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("init", ["constant", "operand"])
def test_initial_value_enters_once_whatever_is_reduced(producer, combined, init):
    x = jnp.arange(6, dtype=jnp.int32).reshape(2, 3) + 1
    made = PRODUCERS[producer]

    def f(x, i):
        return xo.reduce([made(x)], [i], combined, [1])

    got = jax.jit(f)(x, 10) if init == "operand" else jax.jit(lambda x: f(x, 10))(x)
    expected = interpreter.reduce(
        [np.asarray(made(x))], [10], lambda a, b: np.asarray(combined(a, b)), [1]
    )
    np.testing.assert_array_equal(got, expected[0])


def test_reduction_of_a_reduction():
    x = jnp.arange(6.0).reshape(2, 3)

    @jax.jit
    def f(x, i):
        inner = xo.reduce([x], [i], lambda a, b: a + b * 1, [0])
        return xo.reduce([inner], [i], lambda a, b: a + b * 1, [0])

    assert f(x, 10.0) == 10 + 3 * 10 + 15


@pytest.mark.parametrize("size", [0, 1, 3])
def test_form_of_other_backends(size):
    """Where reductions are split, initial values are no part of them."""
    x = np.arange(2 * size, dtype=np.int32).reshape(2, size)
    y = x + 3
    parts = [np.dtype(np.int32)] * 2

    def compose(a, b, c, d):
        return a * c, b * c + d

    role = computation.Role("reduce", "computation", "")
    got = folding._beginning_with_nothing(
        *map(jnp.asarray, (x, y, np.int32(2), np.int32(5))),
        computation=computation.traced(role, compose, parts * 2, parts),
        dimensions=(1,),
        is_neutral=False,
    )
    expected = interpreter.reduce([x, y], [2, 5], compose, [1])
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("platform", ["tpu", "cuda", "rocm"])
@pytest.mark.parametrize("check_vma", [True, False])
def test_lowers_for_other_backends_in_a_manual_program(platform, check_vma, mesh8):
    def body(x, init):
        return xo.reduce([x], [init], combine, [0])[None]

    program = jax.jit(
        jax.shard_map(
            body,
            mesh=mesh8,
            in_specs=(P("i"), P()),
            out_specs=P("i"),
            check_vma=check_vma,
        )
    )
    traced = program.trace(jnp.ones((16, 3)), 1.0)
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert text.count("stablehlo.reduce") == 1
    assert "tensor<2x3xi1>" in text  # which elements are there


# Random computations


@st.composite
def problems(draw):
    count = draw(st.integers(1, 3))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    dimensions = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    return count, shape, sorted(dimensions), draw(drawn.associative(count))


def check(problem, seed):
    count, shape, dimensions, combined = problem
    rng = np.random.default_rng(seed)
    operands = [rng.integers(-5, 6, shape).astype(np.int32) for _ in range(count)]
    inits = [np.int32(rng.integers(-5, 6)) for _ in range(count)]
    got = jax.tree.leaves(xo.reduce(operands, inits, combined, dimensions))
    expected = interpreter.reduce(operands, inits, combined, dimensions)
    for y, z in zip(got, expected, strict=True):
        np.testing.assert_array_equal(y, z)
    # The same from what derivatives and batches are made of.
    batch = jax.vmap(lambda *inits: xo.reduce(operands, inits, combined, dimensions))(
        *(np.stack([i, i]) for i in inits)
    )
    for y, z in zip(jax.tree.leaves(batch), expected, strict=True):
        np.testing.assert_array_equal(y[1], z)


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32))
def test_random_computations(problem, seed):
    check(problem, seed)


@pytest.mark.slow
@settings(max_examples=200)
@given(problems(), st.integers(0, 2**32))
def test_many_random_computations(problem, seed):
    check(problem, seed)


# Derivatives


@pytest.mark.parametrize("size", [1, 5])
def test_derivatives_of_any_number_of_elements(size, rng, x64):
    x = rng.uniform(0.2, 1, (2, size, 3))

    def f(x, init):
        return xo.reduce([x], [init], combine, [1, 2])

    check_grads(f, (x, 0.3), order=2)


COMPUTATIONS = {
    "add": xo.add,
    "mul": xo.mul,
    "max": xo.max,
    "sqrt": lambda a, b: jnp.sqrt(a * a + b * b),
    "select": lambda a, b: jnp.where(a > b, a, b),
    "logaddexp": jnp.logaddexp,
    "custom derivative": lambda a, b: jax.nn.relu(a - b) + b,
}


@pytest.mark.parametrize("name", COMPUTATIONS)
@pytest.mark.parametrize("init", ["constant", "operand"])
def test_second_derivatives(name, init, x64):
    x = np.array([[0.3, 0.9, 0.5, 0.7], [0.8, 0.2, 1.1, 0.4]])

    def f(x, init):
        return xo.reduce([x], [init], COMPUTATIONS[name], [1])

    if init == "operand":
        check_grads(f, (x, 0.6), order=2)
    else:
        check_grads(lambda x: f(x, 0.0), (x,), order=2)


def test_a_zero_factor_has_a_finite_gradient():
    x = jnp.array([2.0, 0.0, 3.0])
    got = jax.grad(lambda x: xo.reduce([x], [1.0], lambda a, b: a * b, [0]))(x)
    np.testing.assert_array_equal(got, [0, 6, 0])


def test_value_is_the_same_with_its_gradient():
    """The sum in another order would round otherwise."""
    x = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    f = lambda x: xo.reduce([x], [0.25], lambda a, b: a + b * 1.0, [0])  # noqa: E731
    assert jax.value_and_grad(f)(x)[0] == f(x)


# Errors


ERRORS = [
    (lambda x: xo.reduce({1: x}, [0.0], xo.add, [0]), TypeError, "operands"),
    (lambda x: xo.reduce([], [], xo.add, [0]), ValueError, "operands"),
    (lambda x: xo.reduce([x], {1: 0.0}, xo.add, [0]), TypeError, "init_values"),
    (lambda x: xo.reduce([x], [], xo.add, [0]), ValueError, "init_values.*got 0"),
    (lambda x: xo.reduce([x], [0, 1], xo.add, [0]), ValueError, "init_values.*got 2"),
    (lambda x: xo.reduce([x], [x], xo.add, [0]), TypeError, r"init_values.*32\[3\]"),
    (
        lambda x: xo.reduce([x], [np.int32(0)], xo.add, [0]),
        TypeError,
        r"init_values\[0\] int32\[\]",
    ),
    (
        lambda x: xo.reduce([x, x[:2]], [0.0, 0.0], last_largest, [0]),
        TypeError,
        r"operands must have one shape.*\(2,\)",
    ),
    (lambda x: xo.reduce([x], [0.0], xo.add, [-1]), ValueError, "dimensions_to_reduce"),
    (lambda x: xo.reduce([x], [0.0], xo.add, [0, 0]), ValueError, r"\(0, 0\)"),
    (lambda x: xo.reduce([x], [0.0], xo.add, 0), TypeError, "dimensions_to_reduce"),
    (
        lambda x: xo.reduce([jax.random.key(0)], [0], xo.add, []),
        TypeError,
        r"operands\[0\].*key",
    ),
]


@pytest.mark.parametrize(("call", "exception", "match"), ERRORS)
def test_errors(call, exception, match):
    with pytest.raises(exception, match=f"^reduce: .*{match}"):
        call(jnp.ones(3))
