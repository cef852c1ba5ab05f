"""Operations on many operands take one operand by itself, as XlaBuilder's do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import xlaops as xo
from xlaops import builder as xb

X = np.array([[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]], np.float32)
ROWS = xo.ScatterDimensionNumbers(
    update_window_dims=(1,),
    inserted_window_dims=(0,),
    scatter_dims_to_operand_dims=(0,),
    index_vector_dim=1,
)


@pytest.mark.parametrize("operand", [X, jnp.asarray(X), [X], (jnp.asarray(X),)])
@pytest.mark.parametrize("init", [10.0, np.float32(10), jnp.float32(10), [10.0]])
def test_reduce(operand, init):
    result = xo.reduce(operand, init, xo.add, [1])
    np.testing.assert_array_equal(result, X.sum(1) + 10)
    compiled = jax.jit(lambda x: xo.reduce(x, init, xo.add, [1]))
    np.testing.assert_array_equal(compiled(jnp.asarray(X)), X.sum(1) + 10)


def test_reduce_of_a_scalar():
    assert xo.reduce(3.0, 2.0, xo.mul, []) == 6


def test_reduce_window():
    result = xo.reduce_window(X, -np.inf, xo.max, (1, 2), (1, 1), "VALID")
    np.testing.assert_array_equal(result, [[5, 5], [4, 3]])
    result = xo.reduce_window_with_general_padding(
        X, 0.0, xo.add, (2, 1), (1, 1), None, None, [(1, 0), (0, 0)]
    )
    np.testing.assert_array_equal(result, np.cumsum(X, 0))


def test_scatter():
    result = xo.scatter(X, np.array([[1]]), np.ones((1, 3), np.float32), xo.add, ROWS)
    np.testing.assert_array_equal(result, X + np.array([[0], [1]]))


def test_an_array_of_dynamic_size():
    x = xo.set_dimension_size(X, 2, 1)
    np.testing.assert_array_equal(xo.reduce(x, 0.0, xo.add, [1]), X[:, :2].sum(1))
    result = xo.reduce_window(x, 0.0, xo.add, (2, 1), (1, 1), "VALID")
    np.testing.assert_array_equal(result.valid(), X[:, :2].sum(0, keepdims=True))


def test_in_a_builder():
    b = xb.XlaBuilder("lines of C++")
    x = xb.Parameter(b, 0, "f32[2,3]", "x")
    zero = xb.ConstantR0(b, np.float32(0))
    add = xo.add
    sums = xb.Reduce(x, zero, add, [1])
    windows = xb.ReduceWindow(x, zero, add, (1, 3), (1, 1), "VALID")
    rows = xb.Scatter(x, np.array([[0]]), np.ones((1, 3), np.float32), add, ROWS)
    assert [str(op.shape) for op in (sums, windows, rows)] == [
        "f32[2]",
        "f32[2,1]",
        "f32[2,3]",
    ]
    xb.Tuple(b, [sums, windows, rows])
    results = b.build()(X)
    expected = (X.sum(1), X.sum(1, keepdims=True), X + np.array([[1], [0]]))
    for result, value in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, value)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda: xo.reduce([X, X], 0.0, lambda a, b, c, d: (a, b), [0]),
            ValueError,
            "init_values must have one entry for each of the 2 operands, got 1",
        ),
        (
            lambda: xo.reduce(X, [0.0, 0.0], xo.add, [0]),
            ValueError,
            "init_values must have one entry for each of the 1 operands, got 2",
        ),
        (
            lambda: xo.reduce(X, np.zeros(2, np.float32), xo.add, [0]),
            TypeError,
            r"init_values\[0\] must be a scalar, got float32\[2\]",
        ),
        (
            lambda: xo.reduce(X, "0", xo.add, [0]),
            TypeError,
            "init_values must be a sequence of scalars, got str '0'",
        ),
        (
            lambda: xo.reduce(None, 0.0, xo.add, [0]),
            TypeError,
            "operands must be a sequence of arrays, got NoneType None",
        ),
    ],
)
def test_errors(call, error, match):
    with pytest.raises(error, match=f"^reduce: {match}"):
        call()
