"""Scatter against a loop over the formula of StableHLO's specification."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.test_util import check_grads
from ops import drawn, interpreter

import xlaops as xo


def numbers(**fields):
    empty = ("update_window_dims", "inserted_window_dims")
    return dict.fromkeys(empty, ()) | fields


ELEMENTS = numbers(
    inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1
)

# (operand, indices, updates, dimension numbers): few, so that few programs are
# compiled.
FORMS = {
    "elements": ((5,), (4, 1), (4,), ELEMENTS),
    "implicit vector": (
        (5,),
        (2, 3),
        (2, 3),
        ELEMENTS | {"index_vector_dim": 2},
    ),
    "rows": (
        (4, 3),
        (3, 1),
        (3, 2),
        numbers(
            update_window_dims=(1,),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            index_vector_dim=1,
        ),
    ),
    "windows, vector first": (
        (4, 5),
        (2, 3),
        (2, 3, 2),
        numbers(
            update_window_dims=(0, 2),
            scatter_dims_to_operand_dims=(1, 0),
            index_vector_dim=0,
        ),
    ),
    "one window": (
        (4, 5),
        (2,),
        (2, 2),
        numbers(
            update_window_dims=(0, 1),
            scatter_dims_to_operand_dims=(0, 1),
            index_vector_dim=0,
        ),
    ),
    "scalar index": (
        (5,),
        (),
        (2,),
        numbers(
            update_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            index_vector_dim=0,
        ),
    ),
    "batching": (
        (3, 4, 2),
        (2, 3, 1),
        (2, 3, 2),
        numbers(
            update_window_dims=(2,),
            inserted_window_dims=(1,),
            scatter_dims_to_operand_dims=(1,),
            index_vector_dim=2,
            input_batching_dims=(0,),
            scatter_indices_batching_dims=(1,),
        ),
    ),
    "batching behind the vector": (
        (3, 4, 2),
        (1, 2, 3),
        (2, 3),
        numbers(
            inserted_window_dims=(1,),
            scatter_dims_to_operand_dims=(1,),
            index_vector_dim=0,
            input_batching_dims=(0, 2),
            scatter_indices_batching_dims=(2, 1),
        ),
    ),
}


# By hand


def test_subtraction(mode):
    x, new = jnp.array([10.0, 20.0, 30.0]), jnp.array([1.0, 2.0, 3.0, 4.0])
    at = jnp.array([2, -1, 5, 0])
    implicit = ELEMENTS | {"index_vector_dim": 1}
    for computation in (xo.sub, lambda a, b: a - b * 1.0):
        f = mode(lambda x, i, u: xo.scatter([x], i, [u], computation, implicit))  # noqa: B023
        np.testing.assert_array_equal(f(x, at, new), [6, 20, 29])


def test_a_window_partly_outside_is_dropped(mode):
    x = jnp.array([10.0, 20.0, 30.0])
    window = numbers(
        update_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=0
    )
    for computation in (xo.add, lambda a, b: a + b * 1.0):
        f = mode(lambda x, u: xo.scatter([x], jnp.int32(2), [u], computation, window))  # noqa: B023
        np.testing.assert_array_equal(f(x, jnp.array([1.0, 2.0])), x)


def test_variadic(mode):
    x, y = jnp.array([10.0, 20.0, 30.0]), jnp.array([1, 2, 3])
    at = jnp.array([[2], [0], [5]])
    new = [jnp.array([1.0, 2.0, 3.0]), jnp.array([7, 8, 9])]

    def computation(a, b, c, d):
        return a + c, b * d

    f = mode(lambda *xs: xo.scatter(xs, at, new, computation, ELEMENTS))
    first, second = f(x, y)
    np.testing.assert_array_equal(first, [12, 20, 31])
    np.testing.assert_array_equal(second, [8, 2, 21])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int32"])
def test_types_of_indices(dtype):
    """Of an array with more elements than an index of 8 bits counts."""
    x = jnp.zeros(300)
    top = jnp.iinfo(dtype).max
    at = jnp.array([[3], [top]], dtype)
    got = xo.scatter([x], at, [jnp.array([1.0, 2.0])], xo.add, ELEMENTS)
    expected = np.zeros(300)
    expected[3] = 1
    if top < 300:
        expected[top] = 2
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("at", [2**40, -(2**40), 2**32])
def test_python_indices_of_more_bits(at):
    indices = np.array([at], np.int64)
    got = xo.scatter([jnp.zeros(3)], indices, [jnp.ones(1)], xo.add, ELEMENTS)
    np.testing.assert_array_equal(got, np.zeros(3))


COMPUTATIONS = {
    "replace": (lambda a, b: b, None),
    "add": (xo.add, np.add),
    "sub": (xo.sub, np.subtract),
    "mul": (xo.mul, np.multiply),
    "max": (xo.max, np.maximum),
    "min": (xo.min, np.minimum),
    "xor": (xo.xor, np.bitwise_xor),
}


@pytest.mark.parametrize("name", COMPUTATIONS)
@pytest.mark.parametrize("form", FORMS)
def test_computations_of_one_operation(form, name, rng):
    computation, oracle = COMPUTATIONS[name]
    shape, of_indices, of_updates, dimension_numbers = FORMS[form]
    x = rng.integers(-9, 10, shape).astype(np.int32)
    at = rng.integers(-1, 5, of_indices).astype(np.int32)
    new = rng.integers(-9, 10, of_updates).astype(np.int32)
    got = xo.scatter([x], at, [new], computation, dimension_numbers)
    (expected,) = interpreter.scatter(
        [x], at, [new], oracle or computation, dimension_numbers
    )
    np.testing.assert_array_equal(got, expected)


# Random computations


@st.composite
def problems(draw):
    return draw(st.sampled_from(sorted(FORMS))), draw(drawn.updates())


def check(problem, seed):
    form, computation = problem
    shape, of_indices, of_updates, dimension_numbers = FORMS[form]
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 10, shape).astype(np.int32)
    at = rng.integers(-1, 5, of_indices).astype(np.int32)
    new = rng.integers(-9, 10, of_updates).astype(np.int32)
    (expected,) = interpreter.scatter([x], at, [new], computation, dimension_numbers)

    def f(x, at, new):
        return xo.scatter([x], at, [new], computation, dimension_numbers)

    np.testing.assert_array_equal(f(x, at, new), expected)
    mapped = jax.vmap(f, (None, None, 0))(x, at, np.stack([new + 1, new]))
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


# Derivatives


def _lambda(a, b):
    return a * b + a


SMOOTH = {"mul": xo.mul, "max": xo.max, "replace": lambda a, b: b, "lambda": _lambda}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize(
    "form", ["elements", "windows, vector first", "batching behind the vector"]
)
def test_derivatives(form, name, x64):
    shape, of_indices, of_updates, dimension_numbers = FORMS[form]
    rng = np.random.default_rng(2)
    count, more = np.prod(shape), np.prod(of_updates)
    values = rng.permutation(count + more) / 40 + 0.5
    x, new = values[:count].reshape(shape), values[count:].reshape(of_updates)
    at = rng.integers(-1, 5, of_indices).astype(np.int32)

    def f(x, new):
        return xo.scatter([x], at, [new], SMOOTH[name], dimension_numbers)

    check_grads(f, (x, new), order=2)


def _complex_product(a, b, c, d):
    """(a + bi) (c + di), which is associative and mixes the operands."""
    return a * c - b * d, a * d + b * c


@pytest.mark.parametrize("unique", [False, True])
def test_second_derivatives_of_many_operands(unique, x64):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0.5, 1.5, (2, 5))
    new_x, new_y = rng.uniform(0.5, 1.5, (2, 4))
    at = np.array([[3], [0], [-1], [4 if unique else 3]], np.int32)

    def f(x, y, new_x, new_y):
        return xo.scatter(
            [x, y],
            at,
            [new_x, new_y],
            _complex_product,
            ELEMENTS,
            unique_indices=unique,
        )

    expected = x + 1j * y
    for i, update in zip(at[:, 0], new_x + 1j * new_y, strict=True):
        if i >= 0:
            expected[i] *= update
    real, imaginary = f(x, y, new_x, new_y)
    np.testing.assert_allclose(np.asarray(real) + 1j * np.asarray(imaginary), expected)
    check_grads(f, (x, y, new_x, new_y), order=2)


@pytest.mark.parametrize("form", ["elements", "rows", "batching"])
def test_derivatives_of_unique_indices(form, x64):
    shape, of_indices, of_updates, dimension_numbers = FORMS[form]
    rng = np.random.default_rng(2)
    x, new = rng.uniform(0.5, 1.5, shape), rng.uniform(0.5, 1.5, of_updates)
    at = np.array([3, -1, 0, 7], np.int32)
    at = np.resize(at, of_indices) if form != "rows" else at[:3].reshape(of_indices)
    if form == "batching":
        at = np.array([[3, -1, 0], [1, 2, 9]], np.int32).reshape(of_indices)

    def f(x, new, unique):
        return xo.scatter(
            [x], at, [new], _lambda, dimension_numbers, unique_indices=unique
        )

    check_grads(lambda x, new: f(x, new, True), (x, new), order=2)
    total = lambda x, new, unique: (f(x, new, unique) ** 2).sum()  # noqa: E731
    got = jax.grad(total, (0, 1))(x, new, True)
    expected = jax.grad(total, (0, 1))(x, new, False)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("f", [xo.add, lambda a, b: b, lambda a, b: a * 2 + b])
def test_derivative_of_updates_of_an_empty_array_is_zero(f, unique):
    def total(x, updates):
        result = xo.scatter(
            [x], jnp.array([0, -1]), [updates], f, ELEMENTS, unique_indices=unique
        )
        assert result.shape == (0,)
        return result.sum()

    of_x, of_updates = jax.grad(total, (0, 1))(jnp.ones(0), jnp.ones(2))
    assert of_x.shape == (0,)
    assert of_updates.tolist() == [0, 0]


def test_derivative_of_what_is_dropped_is_zero():
    x, new = jnp.ones(3), jnp.array([2.0, 3.0, 4.0])
    at = jnp.array([[1], [9], [-1]])
    f = lambda x, u: xo.scatter([x], at, [u], _lambda, ELEMENTS).sum()  # noqa: E731
    dx, du = jax.grad(f, (0, 1))(x, new)
    np.testing.assert_array_equal(dx, [1, 3, 1])
    np.testing.assert_array_equal(du, [1, 0, 0])


# Batches

AXES = [(0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0), (1, 0, 1)]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("form", ["elements", "rows", "batching"])
def test_mapped_operands(form, axes, rng):
    shape, of_indices, of_updates, dimension_numbers = FORMS[form]
    rows = [
        (
            rng.integers(-9, 10, shape).astype(np.int32),
            rng.integers(-1, 5, of_indices).astype(np.int32),
            rng.integers(-9, 10, of_updates).astype(np.int32),
        )
        for _ in range(2)
    ]

    def f(x, at, new):
        return xo.scatter([x], at, [new], lambda a, b: 2 * a - b, dimension_numbers)

    given = [
        rows[0][i] if axis is None else np.stack([row[i] for row in rows], axis)
        for i, axis in enumerate(axes)
    ]
    got = jax.vmap(f, axes)(*given)
    for k in range(2):
        row = [rows[0 if axis is None else k][i] for i, axis in enumerate(axes)]
        np.testing.assert_array_equal(got[k], f(*row))


# Errors

X, AT, NEW = jnp.ones(3), np.array([[0], [1]], np.int32), jnp.ones(2)
ERRORS = [
    (([X], AT, {1: NEW}, xo.add, ELEMENTS), TypeError, "updates"),
    (({1: X}, AT, [NEW], xo.add, ELEMENTS), TypeError, "operands"),
    (([X], AT, [NEW, NEW], xo.add, ELEMENTS), ValueError, "updates.*got 2"),
    (([X], AT * 1.0, [NEW], xo.add, ELEMENTS), TypeError, "scatter_indices"),
    (([X], AT, [NEW.astype(int)], xo.add, ELEMENTS), TypeError, "updates"),
    (([X], AT, [jnp.ones(3)], xo.add, ELEMENTS), TypeError, r"updates.*\(3,\)"),
    (([X, X[:2]], AT, [NEW, NEW], xo.add, ELEMENTS), TypeError, "operands"),
    (([X], AT, [NEW], xo.add, 3), TypeError, "dimension_numbers"),
    (
        ([X], AT, [NEW], xo.add, ELEMENTS | {"index_vector_dim": 3}),
        ValueError,
        "index_vector_dim.*got 3",
    ),
    (
        ([X], AT, [NEW], xo.add, ELEMENTS | {"scatter_dims_to_operand_dims": (1,)}),
        ValueError,
        "scatter_dims_to_operand_dims",
    ),
    (
        ([X], AT, [NEW], xo.add, ELEMENTS | {"inserted_window_dims": ()}),
        ValueError,
        "update_window_dims",
    ),
    (
        (
            [jnp.ones((3, 2))],
            AT,
            [jnp.ones((2, 3))],
            xo.add,
            ELEMENTS | {"update_window_dims": (1,)},
        ),
        TypeError,
        r"updates.*got 3 in dimension 1",
    ),
    (([X], AT, [NEW], xo.lt, ELEMENTS), TypeError, "update_computation must return"),
    (([X], AT, [NEW], None, ELEMENTS), TypeError, "update_computation"),
    (([X], AT, [NEW], xo.add, ELEMENTS, 1), TypeError, "indices_are_sorted"),
    (([X], AT, [NEW], xo.add, ELEMENTS, True, "no"), TypeError, "unique_indices"),
]


@pytest.mark.parametrize(("arguments", "exception", "match"), ERRORS)
def test_errors(arguments, exception, match):
    with pytest.raises(exception, match=f"^scatter: .*{match}"):
        xo.scatter(*arguments)
