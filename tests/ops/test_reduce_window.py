"""Windows against a loop in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax.test_util import check_grads
from ops import drawn, interpreter

import xlaops as xo

LARGEST = np.finfo(np.float32).max


def combine(a, b):
    return a * b + a + b


def last_largest(largest, place, v, i):
    later = v >= largest
    return jnp.where(later, v, largest), jnp.where(later, i, place)


# By hand


@pytest.mark.parametrize(
    ("padding", "expected"), [("SAME", [1000, 10, 1]), ("VALID", [100, 1])]
)
def test_first_example_of_the_document(padding, expected, mode):
    x = jnp.array([10000.0, 1000.0, 100.0, 10.0, 1.0])
    f = mode(lambda x: xo.reduce_window([x], [LARGEST], xo.min, [3], [2], padding))
    np.testing.assert_array_equal(f(x), expected)


@pytest.mark.parametrize("computation", [xo.add, lambda a, b: a + b + 0])
def test_second_example_of_the_document(computation, mode):
    x = jnp.array([[1, 2], [3, 4], [5, 6]])
    window = {"window_dimensions": (2, 1), "window_strides": (4, 1)}
    dilations = {"base_dilations": (2, 1), "window_dilations": (3, 1)}
    padding = ((2, 1), (0, 0))
    expected = [[0, 0], [3, 4]]
    given = {"computation": computation, **window, **dilations, "padding": padding}
    f = mode(lambda x: xo.reduce_window([x], [0], **given))
    np.testing.assert_array_equal(f(x), expected)
    f = mode(lambda x: xo.reduce_window_with_general_padding([x], [0], **given))
    np.testing.assert_array_equal(f(x), expected)
    positional = (computation, (2, 1), (4, 1), (2, 1), (3, 1), padding)
    f = mode(lambda x: xo.reduce_window([x], [0], *positional))
    np.testing.assert_array_equal(f(x), expected)


@pytest.mark.parametrize("computation", [xo.add, lambda a, b: a + b * 1.0])
def test_padding_of_the_reference_interpreter(computation):
    """Elements of padding are initial values, and count."""
    x = jnp.array([1.0, 2.0, 3.0])

    def f(x, i):
        return xo.reduce_window([x], [i], computation, [2], [1], [(0, 1)])

    np.testing.assert_array_equal(f(x, 10.0), [13, 15, 23])
    np.testing.assert_array_equal(jax.jit(f)(x, 10.0), [13, 15, 23])
    np.testing.assert_array_equal(jax.jit(lambda x: f(x, 10.0))(x), [13, 15, 23])
    dx, dinit = jax.grad(lambda x, i: f(x, i).sum(), (0, 1))(x, 10.0)
    np.testing.assert_array_equal(dx, [1, 2, 2])
    assert dinit == 4


@pytest.mark.parametrize("computation", [xo.add, combine])
def test_initial_value_of_a_window_of_one(computation, mode):
    x = jnp.array([1.0, 2.0, 3.0])
    f = lambda x, i: xo.reduce_window([x], [i], computation, [1], [2], "VALID")  # noqa: E731
    np.testing.assert_allclose(mode(f)(x, 10.0), computation(10.0, x[::2]))


@pytest.mark.parametrize("computation", [xo.max, combine])
def test_cropped(computation, mode):
    """Which some programs of XLA's CPU backend do not survive."""
    x = jnp.arange(32.0).reshape(8, 4)
    init = -np.inf if computation is xo.max else 0.0
    f = mode(
        lambda x: xo.reduce_window(
            [x], [init], computation, (1, 1), (1, 1), [(-1, 0), (0, -2)]
        )
    )
    np.testing.assert_array_equal(f(x), x[1:, :-2])


def test_variadic(mode):
    x, places = jnp.array([1.0, 5.0, 5.0, 2.0]), jnp.arange(4)
    f = mode(
        lambda x, i: xo.reduce_window(
            [x, i], [-jnp.inf, -1], last_largest, [2], [1], "VALID"
        )
    )
    value, place = f(x, places)
    np.testing.assert_array_equal(value, [5, 5, 5])
    np.testing.assert_array_equal(place, [1, 2, 2])


@pytest.mark.parametrize("computation", [xo.add, xo.max, xo.mul, combine])
def test_scalars(computation):
    got = xo.reduce_window([jnp.float32(3)], [2.0], computation, [], [], "SAME")
    assert got == computation(2.0, 3.0)


@pytest.mark.parametrize("shape", [(0,), (1,), (2,)])
def test_no_position(shape):
    got = xo.reduce_window([jnp.ones(shape)], [0.0], combine, [3], [1], "VALID")
    assert got.shape == (0,)


def test_nothing_but_padding():
    x = jnp.zeros((0,))
    got = xo.reduce_window([x], [2.0], xo.add, [2], [1], [(1, 2)])
    np.testing.assert_array_equal(got, [6, 6])


def test_a_long_window(rng, x64):
    """Its elements are gathered, not sliced."""
    x = rng.uniform(0.1, 0.2, (50, 2))

    def f(x):
        return xo.reduce_window([x], [0.0], combine, [40, 1], [3, 1], [(39, 0), (0, 0)])

    expected = interpreter.reduce_window(
        [x], [0.0], combine, [40, 1], [3, 1], [(39, 0), (0, 0)]
    )
    np.testing.assert_allclose(f(x), expected[0], rtol=1e-12)
    check_grads(f, (x,), order=1)


PRODUCERS = {
    "concatenated": lambda x: jnp.concatenate([x, 2 * x]),
    "windows": lambda x: xo.reduce_window(
        [x], [10], lambda a, b: a + b * 1, [2], [1], "VALID"
    ),
    "broadcast": lambda x: jnp.broadcast_to(x[0], (6,)),
    "padded": lambda x: jnp.pad(x, (1, 1), constant_values=10),
}


@pytest.mark.parametrize("size", [1, 3, 5])
@pytest.mark.parametrize("producer", PRODUCERS)
def test_initial_value_enters_once_whatever_is_reduced(producer, size):
    x = jnp.arange(6, dtype=jnp.int32) + 1

    def f(x, i, computation):
        made = PRODUCERS[producer](x)
        return made, xo.reduce_window([made], [i], computation, [size], [1], "SAME")

    for computation in (xo.add, combine):
        made, got = jax.jit(f, static_argnums=2)(x, 10, computation)
        padding = interpreter.same_padding(made.shape, [size], [1])
        (expected,) = interpreter.reduce_window(
            [np.asarray(made)],
            [10],
            lambda a, b: np.asarray(computation(a, b)),  # noqa: B023
            [size],
            [1],
            padding,
        )
        np.testing.assert_array_equal(got, expected)


# Random computations


@st.composite
def windows(draw, rank):
    def numbers(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    pads = tuple(zip(numbers(-1, 2), numbers(0, 2), strict=True))
    return {
        "window_dimensions": numbers(1, 3),
        "window_strides": numbers(1, 3),
        "base_dilations": numbers(1, 2),
        "window_dilations": numbers(1, 2),
        "padding": pads,
    }


@st.composite
def problems(draw):
    count = draw(st.integers(1, 2))
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=2)))
    computation = draw(drawn.associative(count))
    return count, shape, computation, draw(windows(len(shape)))


def check(problem, seed):
    count, shape, computation, window = problem
    rng = np.random.default_rng(seed)
    operands = [rng.integers(-5, 6, shape).astype(np.int32) for _ in range(count)]
    inits = [np.int32(rng.integers(-5, 6)) for _ in range(count)]
    f = lambda *inits: jax.tree.leaves(  # noqa: E731
        xo.reduce_window(operands, inits, computation, **window)
    )
    sizes, strides, base, dilations, padding = window.values()
    expected = interpreter.reduce_window(
        operands, inits, computation, sizes, strides, padding, base, dilations
    )
    # And what derivatives and batches of initial values are made of.
    mapped = jax.vmap(f)(*(np.stack([i, i]) for i in inits))
    for got, other, want in zip(f(*inits), mapped, expected, strict=True):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(other[1], want)


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

FORMS = {
    "valid": {"padding": "VALID"},
    "same": {"padding": "SAME"},
    "dilated": {
        "padding": [(1, 2), (-1, 1)],
        "base_dilations": (2, 1),
        "window_dilations": (1, 2),
    },
}
COMPUTATIONS = {"add": xo.add, "mul": xo.mul, "max": xo.max, "lambda": combine}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", COMPUTATIONS)
def test_second_derivatives(name, form, x64):
    rng = np.random.default_rng(1)
    x = rng.permutation(20).reshape(4, 5) / 20 + 0.3

    def f(x, init):
        return xo.reduce_window(
            [x], [init], COMPUTATIONS[name], (2, 3), (2, 1), **FORMS[form]
        )

    check_grads(f, (x, 0.4), order=2)


def _complex_product(a, b, c, d):
    """(a + bi) (c + di), which is associative and mixes the operands."""
    return a * c - b * d, a * d + b * c


@pytest.mark.parametrize("padding", ["VALID", [(1, 0), (0, 2)]])
def test_second_derivatives_of_many_operands(padding, x64):
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0.5, 1.5, (2, 3, 4))

    def f(x, y, real, imaginary):
        return xo.reduce_window(
            [x, y], [real, imaginary], _complex_product, (2, 2), (1, 2), padding
        )

    check_grads(f, (x, y, 0.8, 0.3), order=2)


@pytest.mark.parametrize("dilation", [1, 2])
def test_gradient_of_the_largest(dilation):
    """Also with dilations, where jax.lax has none."""
    x = jnp.array([1.0, 4.0, 2.0, 3.0, 0.0])

    def f(x):
        y = xo.reduce_window(
            [x], [-jnp.inf], xo.max, [2], [2], "VALID", window_dilations=[dilation]
        )
        return (y * jnp.array([10.0, 20.0])).sum()

    expected = {1: [0, 10, 0, 20, 0], 2: [0, 0, 30, 0, 0]}[dilation]
    np.testing.assert_array_equal(jax.grad(f)(x), expected)


def test_product_whose_gradient_jax_lax_does_not_have():
    x = jnp.array([2.0, 3.0, 5.0])
    f = lambda x: xo.reduce_window([x], [1.0], xo.mul, [2], [1], "VALID").sum()  # noqa: E731
    np.testing.assert_array_equal(jax.grad(f)(x), [3, 7, 3])


def test_same_padding_is_that_of_jax_lax():
    for n in range(1, 9):
        for size in range(1, 5):
            for stride in range(1, 4):
                expected = lax.padtype_to_pads((n,), (size,), (stride,), "SAME")
                assert interpreter.same_padding([n], [size], [stride]) == expected


ERRORS = [
    (lambda f, x: f([x], [0], xo.add, [0], [1], "SAME"), ValueError, "window_dim"),
    (lambda f, x: f([x], [0], xo.add, [1], [0], "SAME"), ValueError, "window_strides"),
    (lambda f, x: f([x], [0], xo.add, [1, 1], [1], "SAME"), ValueError, r"\(1, 1\)"),
    (lambda f, x: f([x], [0], xo.add, [1], [1], "same?"), ValueError, "padding"),
    (lambda f, x: f([x], [0], xo.add, [1], [1], [(0, 0)] * 2), ValueError, "padding"),
    (lambda f, x: f([x], [0], xo.add, [1], [1], [0]), TypeError, r"padding: padding\["),
    (lambda f, x: f([x], [0], xo.add, [1], [1]), TypeError, "padding"),
    (
        lambda f, x: f([x], [0], xo.add, [1], [1], [(-2, -2)]),
        ValueError,
        r"padding must not remove more.*\(-2, -2\)",
    ),
    (
        lambda f, x: f([x], [0], xo.add, [1], [1], "SAME", base_dilations=[0]),
        ValueError,
        "base_dilations",
    ),
    (
        lambda f, x: f([x], [0], xo.add, [1], [1], [1], [0], "SAME"),
        ValueError,
        "window_dilations",
    ),
    (lambda f, x: f([x], [x], xo.add, [1], [1], "SAME"), TypeError, "init_values"),
    (lambda f, x: f([x], [0], xo.lt, [1], [1], "SAME"), TypeError, "computation"),
]


@pytest.mark.parametrize(("call", "exception", "match"), ERRORS)
def test_errors(call, exception, match):
    with pytest.raises(exception, match=f"^reduce_window: .*{match}"):
        call(xo.reduce_window, jnp.ones(3))


def test_arguments_by_keyword():
    x, f = jnp.arange(4.0), xo.reduce_window
    expected = [2.0, 4.0]  # 0 + 2, 1 + 3
    for y in (
        f([x], [0], xo.add, [2], [1], [1], [2], "VALID"),
        f([x], [0], xo.add, [2], [1], [1], [2], padding="VALID"),
        f([x], [0], xo.add, [2], [1], [1], window_dilations=[2], padding="VALID"),
        f([x], [0], xo.add, [2], [1], "VALID", window_dilations=[2]),
        f([x], [0], xo.add, [2], [1], padding="VALID", window_dilations=[2]),
    ):
        np.testing.assert_array_equal(y, expected)


def test_general_padding_is_pairs():
    name = "reduce_window_with_general_padding"
    with pytest.raises(TypeError, match=f"^{name}: padding must be a .*'SAME'"):
        xo.reduce_window_with_general_padding(
            [jnp.ones(3)], [0.0], xo.add, [1], [1], None, None, "SAME"
        )
