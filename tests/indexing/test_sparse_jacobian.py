"""Jacobians by colours, against dense ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.flatten_util import ravel_pytree

from xlaops.indexing import sparse_jacobian, sparsity

KERNEL = np.random.default_rng(0).standard_normal((3, 3, 2, 2)).astype(np.float32)


def heat(u):
    p = jnp.pad(u, 1)
    around = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]
    return u**3 + around * u


FUNCTIONS = {
    "heat": (heat, (5, 4)),
    "softmax": (lambda x: jax.nn.softmax(x, -1), (5, 4)),
    "scan": (lambda x: lax.scan(lambda c, a: (c * a, c + a), 1.0, x)[1], (6,)),
    "arrow": (
        lambda x: jnp.concatenate([x[1:] * x[0], jnp.sum(x**2)[None]]),
        (9,),
    ),
    "relu": (lambda x: jax.nn.relu(x[1:] - x[:-1]) ** 2, (9,)),
    "nothing": (lambda x: jnp.zeros(3), (4,)),
    "scalar": (lambda x: x**3, ()),
}


@pytest.mark.parametrize("how", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_jacobian_is_the_dense_one(name, how, rng):
    f, shape = FUNCTIONS[name]
    x = jnp.asarray(rng.standard_normal(shape), jnp.float32)
    found = jax.jit(sparse_jacobian(f, mode=how))(x)
    dense = jax.jacobian(f)(x).reshape(-1, x.size)
    assert found.indices_sorted
    assert found.unique_indices
    assert found.dtype == dense.dtype
    np.testing.assert_allclose(found.todense(), dense, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_derivatives_in_batches(batch_size, rng):
    x = jnp.asarray(rng.standard_normal((5, 4)), jnp.float32)
    for mode in ("forward", "reverse"):
        jacobian = sparse_jacobian(heat, mode=mode, batch_size=batch_size)
        dense = jax.jacobian(heat)(x).reshape(20, 20)
        np.testing.assert_allclose(jacobian(x).todense(), dense, rtol=1e-5)


def test_the_cheaper_mode_is_taken():
    many_results = sparsity(lambda x: x * x[0], jax.ShapeDtypeStruct((50,), np.float32))
    assert many_results.coloring().axis == "columns"
    assert many_results.coloring().count == 2
    one_result = sparsity(lambda x: x.sum(), jax.ShapeDtypeStruct((50,), np.float32))
    assert one_result.coloring().axis == "rows"
    assert one_result.coloring().count == 1


def test_few_derivatives_are_computed():
    """A callback counts how often the function's derivative is looked at."""
    x = jnp.arange(1.0, 1001.0)
    pattern = sparsity(lambda x: x[1:] * x[:-1], x)
    assert pattern.coloring().count == 2
    program = jax.jit(sparse_jacobian(lambda x: x[1:] * x[:-1])).lower(x).as_text()
    assert "tensor<2x999xf32>" in program
    assert "1000x999" not in program
    assert "999x1000" not in program


def test_trees_are_one_matrix(rng):
    def f(p, k):
        return {"y": p["a"] * p["b"][:, None] * k, "z": p["b"] ** 2}

    p = {
        "a": jnp.asarray(rng.standard_normal((2, 3)), jnp.float32),
        "b": jnp.arange(2.0),
    }
    found = sparse_jacobian(f, argnums=(0, 1))(p, 2.0)
    assert found.shape == (8, 9)
    flat, back = ravel_pytree((p, 2.0))
    dense = jax.jacobian(lambda x: ravel_pytree(f(*back(x)))[0])(flat)
    np.testing.assert_allclose(found.todense(), dense, rtol=1e-6)
    assert found.nse < dense.size


def test_functions_with_one_kind_of_derivative():
    @jax.custom_vjp
    def backward_only(x):
        return x**2

    backward_only.defvjp(lambda x: (x**2, x), lambda x, g: (2 * g * x,))
    x = jnp.arange(1.0, 4.0)
    expected = np.diag(2 * np.arange(1.0, 4.0))
    np.testing.assert_allclose(sparse_jacobian(backward_only)(x).todense(), expected)

    def loop(x):
        return lax.while_loop(lambda c: c[0] < 3, lambda c: c * 2, x)

    np.testing.assert_allclose(sparse_jacobian(loop)(x).todense(), np.diag([4.0] * 3))


def test_under_other_transformations(rng):
    x = jnp.asarray(rng.standard_normal((3, 8)), jnp.float32)
    jacobian = sparse_jacobian(lambda x: x[1:] * jnp.sin(x[:-1]))
    many = jax.vmap(lambda x: jacobian(x).todense())(x)
    dense = jax.vmap(jax.jacobian(lambda x: x[1:] * jnp.sin(x[:-1])))(x)
    np.testing.assert_allclose(many, dense, rtol=1e-5, atol=1e-6)
    found = jax.grad(lambda x: jnp.sum(jacobian(x).data ** 2))(x[0])
    wanted = jax.grad(
        lambda x: jnp.sum(jax.jacobian(lambda x: x[1:] * jnp.sin(x[:-1]))(x) ** 2)
    )(x[0])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_a_function_that_closes_over_a_traced_value(rng):
    x = jnp.asarray(rng.standard_normal(6), jnp.float32)

    @jax.jit
    def program(x, k):
        return sparse_jacobian(lambda x: k * x[1:] * x[:-1])(x).todense()

    dense = 2.0 * jax.jacobian(lambda x: x[1:] * x[:-1])(x)
    np.testing.assert_allclose(program(x, 2.0), dense, rtol=1e-5)


def test_a_pattern_is_reused():
    traced = []

    def f(x):
        traced.append(x.shape)
        return x[1:] - x[:-1]

    jacobian = sparse_jacobian(f)
    jacobian(jnp.ones(5))
    first = len(traced)
    jacobian(jnp.ones(5))
    again = len(traced) - first
    assert again < first
    pattern = sparsity(f, jnp.ones(5))
    given = sparse_jacobian(f, pattern=pattern)(jnp.ones(5))
    np.testing.assert_array_equal(given.todense(), jacobian(jnp.ones(5)).todense())
    with pytest.raises(ValueError, match="pattern must belong to arguments of shapes"):
        sparse_jacobian(f, pattern=pattern)(jnp.ones(6))
    with pytest.raises(ValueError, match="pattern must belong to results of shapes"):
        sparse_jacobian(lambda x: x, pattern=pattern)(jnp.ones(5))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sparse_jacobian(3), TypeError, "f must be callable, got 3"),
        (
            lambda: sparse_jacobian(jnp.sin, mode="both"),
            ValueError,
            "mode must be 'auto', 'forward' or 'reverse', got 'both'",
        ),
        (
            lambda: sparse_jacobian(jnp.sin, batch_size=0),
            ValueError,
            "batch_size must be at least 1, got 0",
        ),
        (
            lambda: sparse_jacobian(jnp.sin, batch_size=2.5),
            TypeError,
            "batch_size must be an integer or None, got 2.5",
        ),
        (
            lambda: sparse_jacobian(lambda x, k: x * k, argnums=1)(jnp.ones(3), k=2.0),
            ValueError,
            "argnums must be among the 1 arguments, got 1",
        ),
        (
            lambda: sparse_jacobian(lambda x, k: x * k, argnums=-2)(jnp.ones(3), k=2.0),
            ValueError,
            "argnums must be among the 1 arguments, got -2",
        ),
        (
            lambda: sparse_jacobian(jnp.sin, pattern=np.eye(3)),
            TypeError,
            "pattern must be a Sparsity",
        ),
        (
            lambda: sparse_jacobian(jnp.sin)(jnp.ones(3, jnp.complex64)),
            TypeError,
            r"args\[0\] must be real, got complex64",
        ),
        (
            lambda: sparse_jacobian(lambda x: x * 1j)(jnp.ones(3)),
            TypeError,
            "result must be real, got complex64",
        ),
        (
            lambda: sparse_jacobian(jnp.sin)(jnp.ones(3, jnp.int32)),
            TypeError,
            r"args\[0\] must have a floating type",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_second_result_is_returned_beside_the_jacobian(mode):
    x = jnp.arange(4.0)
    found, aux = jax.jit(
        sparse_jacobian(
            lambda x: (x[1:] ** 2, {"sum": x.sum()}), mode=mode, has_aux=True
        )
    )(x)
    np.testing.assert_array_equal(found.todense()[:, 1:], np.diag(2 * x[1:]))
    assert aux["sum"] == 6


def test_arguments_by_keyword_and_of_no_type():
    x = jnp.arange(1.0, 4)
    jacobian = sparse_jacobian(
        lambda x, y, how, *, scale=1.0: (
            scale * y * (x[::-1] if how == "reversed" else x)
        ),
        argnums=-2,
    )
    # The keyword counts as no argument.
    found = jacobian(x, x, "reversed", scale=jnp.array([1.0, 2.0, 5.0]))
    np.testing.assert_array_equal(found.data, [3, 4, 5])
    np.testing.assert_array_equal(jacobian(x, x, "kept").data, [1, 2, 3])
    other = sparse_jacobian(lambda x, how: x[::-1] if how == "reversed" else x)
    assert other(x, "reversed").indices.tolist() == [[0, 2], [1, 1], [2, 0]]
    assert other(x, "kept").indices.tolist() == [[0, 0], [1, 1], [2, 2]]
    with pytest.raises(
        TypeError, match="arguments that are no arrays must be hashable"
    ):
        other(x, {1, 2})
