"""Arrays of dynamic size whose data a mesh with Explicit axes splits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import xlaops as xo

X = np.arange(1, 33, dtype=np.float32).reshape(8, 4)
VALID = X[:, :3]
W = np.arange(12, dtype=np.float32).reshape(4, 3)

# By name: what is done with an array of which three columns count, and what numpy says.
CASES = {
    "exp": (lambda b: xo.exp(xo.mul(b, 0.1)), np.exp(VALID * np.float32(0.1))),
    "add": (lambda b: xo.add(b, b), 2 * VALID),
    "rows": (lambda b: xo.reduce(b, 0.0, xo.add, [1]), VALID.sum(1)),
    "columns": (lambda b: xo.reduce(b, 0.0, xo.add, [0]), VALID.sum(0)),
    "all": (lambda b: xo.reduce_all(b, 0.0, xo.add), VALID.sum()),
    "computation": (
        lambda b: xo.reduce(b, -jnp.inf, jnp.logaddexp, [1]),
        np.log(np.exp(VALID.astype(np.float64)).sum(1)),
    ),
    "sort": (lambda b: xo.sort([b], xo.gt, 1), -np.sort(-VALID, 1)),
    "sort a split dimension": (lambda b: xo.sort([b], xo.gt, 0), -np.sort(-VALID, 0)),
    "dot": (lambda b: xo.dot(b, W), VALID @ W[:3]),
    "concatenate": (
        lambda b: xo.concat_in_dim([b, b], 1),
        np.concatenate([VALID, VALID], 1),
    ),
    "size": (lambda b: xo.get_dimension_size(b, 1), np.int32(3)),
}
SPECS = {"whole": P(), "rows": P("i"), "columns": P(None, "i")}


@pytest.fixture(scope="module")
def mesh():
    return jax.make_mesh((2,), ("i",), axis_types=(AxisType.Explicit,))


def _valid(result):
    return result.valid() if isinstance(result, xo.BoundedArray) else np.asarray(result)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", CASES)
def test_values(name, spec, mesh):
    function, expected = CASES[name]
    with jax.set_mesh(mesh):
        x = jax.device_put(X, NamedSharding(mesh, SPECS[spec]))
        n = jax.device_put(np.int32(3), NamedSharding(mesh, P()))
        result = jax.jit(lambda x, n: function(xo.set_dimension_size(x, n, 1)))(x, n)
        np.testing.assert_allclose(_valid(result), expected, rtol=1e-5)


@pytest.mark.parametrize("spec", SPECS)
def test_gradient(spec, mesh):
    def loss(x, n):
        b = xo.set_dimension_size(x, n, 1)
        return xo.reduce_all(xo.mul(b, b), 0.0, xo.add)

    with jax.set_mesh(mesh):
        x = jax.device_put(X, NamedSharding(mesh, SPECS[spec]))
        n = jax.device_put(np.int32(3), NamedSharding(mesh, P()))
        got = jax.jit(jax.grad(loss))(x, n)
        np.testing.assert_allclose(got, 2 * X * (np.arange(4) < 3))
