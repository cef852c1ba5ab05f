"""Batch normalisation against the document's formulas in numpy's float64."""

import functools
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads
from ops import oracles

import xlaops as xo

SHAPE = (2, 3, 4, 5)
EPSILON = 1e-3
# Relative to a result of size 1, of one rounding at the end.
TOLERANCE = {
    "float64": 1e-12,
    "float32": 2e-5,
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float8_e5m2": 0.26,
    "float8_e4m3fn": 0.13,
}
BY_NAME = {
    "batch_norm_training": ("operand", "scale", "offset"),
    "batch_norm_inference": ("operand", "scale", "offset", "mean", "variance"),
    "batch_norm_grad": ("operand", "scale", "batch_mean", "batch_var", "grad_output"),
}
NAMES = tuple(BY_NAME)


training_oracle = oracles.batch_norm_training
grad_oracle = oracles.batch_norm_grad
ORACLES = {name: getattr(oracles, name) for name in NAMES}


def operands(rng, name, index, dtype="float32", shape=SHAPE):
    """Values that the element type has, as float64, and as arrays of the type."""
    count = shape[index]
    made = {
        "operand": rng.normal(1, 2, shape),
        "scale": rng.uniform(0.5, 1.5, count),
        "offset": rng.normal(0, 1, count),
        "mean": rng.normal(0, 1, count),
        "variance": rng.uniform(0.5, 2, count),
        "grad_output": rng.normal(0, 1, shape),
    }
    made["batch_mean"], made["batch_var"] = made["mean"], made["variance"]
    arrays = [made[n].astype(jnp.dtype(dtype)) for n in BY_NAME[name]]
    return [a.astype(np.float64) for a in arrays], arrays


def results(y):
    return y if isinstance(y, tuple) else (y,)


def assert_near(got, expected, dtype, looser=1.0):
    for y, want in zip(results(got), results(expected), strict=True):
        assert y.dtype == jnp.dtype(dtype)
        assert y.shape == want.shape
        # A sum of many elements is as exact as its largest term.
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        tolerance = looser * TOLERANCE[dtype]
        np.testing.assert_allclose(
            np.asarray(y, np.float64), want, rtol=tolerance, atol=tolerance * scale
        )


# Values


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", range(4))
def test_every_feature_index(name, index, mode, rng):
    values, arrays = operands(rng, name, index)
    f = mode(lambda *a: getattr(xo, name)(*a, EPSILON, index))
    assert_near(f(*arrays), ORACLES[name](*values, EPSILON, index), "float32")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", sorted(TOLERANCE))
def test_every_element_type(name, dtype, rng):
    values, arrays = operands(rng, name, 1, dtype)
    with jax.enable_x64(dtype == "float64"):
        got = getattr(xo, name)(*map(jnp.asarray, arrays), EPSILON, 1)
    assert_near(got, ORACLES[name](*values, EPSILON, 1), dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(7,), (4, 1), (1, 3), (2, 3, 4, 1, 2, 2)])
def test_other_ranks_and_sizes(name, shape, rng):
    index = len(shape) // 2
    values, arrays = operands(rng, name, index, shape=shape)
    got = getattr(xo, name)(*arrays, EPSILON, index)
    assert_near(got, ORACLES[name](*values, EPSILON, index), "float32")


def test_by_keyword_in_the_documents_spelling(rng):
    for name, parameters in BY_NAME.items():
        values, arrays = operands(rng, name, 3)
        named = dict(zip(parameters, arrays, strict=True))
        got = getattr(xo, name)(**named, epsilon=EPSILON, feature_index=3)
        assert_near(got, ORACLES[name](*values, EPSILON, 3), "float32")


def test_by_hand():
    """Two features: means 2 and 4, variances 1 and 4, divided by N and not by N - 1."""
    x = jnp.array([[1.0, 2.0], [3.0, 6.0]])
    y, mean, var = xo.batch_norm_training(x, jnp.full(2, 2.0), jnp.zeros(2), 0, 1)
    np.testing.assert_array_equal(y, [[-2, -2], [2, 2]])
    np.testing.assert_array_equal(mean, [2, 4])
    np.testing.assert_array_equal(var, [1, 4])
    g = jnp.array([[1.0, 0.0], [0.0, 0.0]])
    got = xo.batch_norm_grad(x, jnp.full(2, 2.0), mean, var, g, 0, 1)
    # With N = 2 a normalised batch is always (-1, 1): nothing reaches the operand.
    for y, want in zip(got, ([[0, 0], [0, 0]], [-1, 0], [1, 0]), strict=True):
        np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("epsilon", [0, 0.0, 1, 0.5, np.float32(1e-5), jnp.float32(2)])
def test_epsilon(epsilon, rng):
    values, arrays = operands(rng, "batch_norm_training", 1)
    got = xo.batch_norm_training(*arrays, epsilon, 1)
    assert_near(got, training_oracle(*values, float(epsilon), 1), "float32")


def test_epsilon_is_a_number_of_32_bits(x64):
    x, one, zero = jnp.array([[5.0], [5.0]]), jnp.ones(1), jnp.zeros(1)
    g = jnp.array([[2.0], [0.0]])
    got = xo.batch_norm_grad(x, one, zero + 5, zero, g, 0.1, 1)[0]
    np.testing.assert_allclose(
        got, np.array([[1], [-1]]) / np.sqrt(np.float64(np.float32(0.1))), rtol=1e-14
    )


def test_large_mean():
    """The variance is no difference of large numbers."""
    x = 4096.0 + np.arange(4, dtype=np.float32).reshape(4, 1)
    y, mean, var = xo.batch_norm_training(x, np.ones(1, "f4"), np.zeros(1, "f4"), 0, 1)
    np.testing.assert_allclose(mean, [4097.5], rtol=1e-7)
    np.testing.assert_allclose(var, [1.25], rtol=1e-5)
    np.testing.assert_allclose(y[:, 0], (np.arange(4) - 1.5) / 1.25**0.5, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2"])
def test_many_narrow_elements(dtype, rng):
    """Their sum of squares is beyond the range, or the digits, of their type."""
    x = rng.normal(3, 2, (20000, 2)).astype(jnp.dtype(dtype))
    ones, zeros = jnp.ones(2, dtype), jnp.zeros(2, dtype)
    got = xo.batch_norm_training(x, ones, zeros, EPSILON, 1)
    wide = x.astype(np.float64)
    expected = training_oracle(wide, np.ones(2), np.zeros(2), EPSILON, 1)
    assert_near(got, expected, dtype)


def test_infinite_and_nan_elements():
    x = jnp.array([[jnp.inf, 1.0, jnp.nan], [2.0, 3.0, 4.0]])
    y, mean, var = xo.batch_norm_training(x, jnp.ones(3), jnp.zeros(3), 0.0, 1)
    np.testing.assert_array_equal(mean, [np.inf, 2, np.nan])
    np.testing.assert_array_equal(var, [np.nan, 1, np.nan])
    np.testing.assert_array_equal(y[:, 1], [-1, 1])
    assert np.isnan(y[:, [0, 2]]).all()


def test_variance_is_not_negative(mesh8):
    """Of equal elements, whose mean is rounded; partitioned or not."""
    x = np.full((24, 3), 3.1, np.float32)
    placed = jax.device_put(x, NamedSharding(mesh8, P("i")))
    for operand in (x, placed):
        y, _, var = xo.batch_norm_training(
            operand, np.ones(3, "f4"), np.zeros(3, "f4"), EPSILON, 1
        )
        np.testing.assert_allclose(var, np.zeros(3), atol=1e-12)
        np.testing.assert_allclose(y, np.zeros((24, 3)), atol=1e-4)


def test_empty_batch():
    y, mean, var = xo.batch_norm_training(
        jnp.zeros((0, 3)), jnp.ones(3), jnp.zeros(3), EPSILON, 1
    )
    assert y.shape == (0, 3)
    assert np.isnan(mean).all()
    assert np.isnan(var).all()


@pytest.mark.parametrize("name", NAMES)
def test_no_features(name, rng):
    _, arrays = operands(rng, name, 1, shape=(4, 0))
    for y in results(getattr(xo, name)(*arrays, EPSILON, 1)):
        assert y.size == 0


def test_scalars_are_converted_and_numpy_is_taken(rng):
    _, arrays = operands(rng, "batch_norm_training", 1)
    got = xo.batch_norm_training(*arrays, EPSILON, np.int64(1))
    expected = xo.batch_norm_training(*map(jnp.asarray, arrays), EPSILON, 1)
    for y, want in zip(got, expected, strict=True):
        assert isinstance(y, jax.Array)
        np.testing.assert_array_equal(y, want)


# Derivatives


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", [0, 1, 2])
def test_derivatives_of_both_orders(name, index, x64, rng):
    """Of all results with respect to all operands, against finite differences."""
    _, arrays = operands(rng, name, index, "float64", (3, 2, 4))
    f = functools.partial(getattr(xo, name), epsilon=EPSILON, feature_index=index)
    check_grads(f, arrays, order=2, modes=["fwd", "rev"], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_third_derivative(name, x64, rng):
    _, arrays = operands(rng, name, 1, "float64", (3, 2))

    def third(*arrays):
        def f(*arrays):
            out = getattr(xo, name)(*arrays, EPSILON, 1)
            return sum((y**2).sum() for y in results(out))

        along = functools.partial(jax.jvp, tangents=tuple(map(jnp.ones_like, arrays)))
        return along(lambda *a: along(jax.grad(f, 0), a)[1], arrays)[1]

    h, ones = 1e-4, [np.ones_like(a) for a in arrays]

    def second(step):
        moved = [a + step * o for a, o in zip(arrays, ones, strict=True)]

        def f(*arrays):
            out = getattr(xo, name)(*arrays, EPSILON, 1)
            return sum((y**2).sum() for y in results(out))

        return jax.jvp(jax.grad(f, 0), tuple(moved), tuple(ones))[1]

    np.testing.assert_allclose(
        third(*map(jnp.asarray, arrays)),
        (second(h) - second(-h)) / (2 * h),
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.parametrize("name", NAMES)
def test_derivative_with_respect_to_one_operand(name, x64, rng):
    """The rules leave out what does not move, and each must do so rightly."""
    _, arrays = operands(rng, name, 1, "float64", (3, 2, 2))
    for i in range(len(arrays)):

        def f(x, i=i):
            moved = [*arrays[:i], x, *arrays[i + 1 :]]
            return getattr(xo, name)(*moved, EPSILON, 1)

        check_grads(f, arrays[i : i + 1], order=2, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_derivative_of_one_result(which, x64, rng):
    """Cotangents of the others are no arrays at all."""
    for name in ("batch_norm_training", "batch_norm_grad"):
        _, arrays = operands(rng, name, 0, "float64", (2, 5))

        def f(*arrays, name=name):
            return getattr(xo, name)(*arrays, EPSILON, 0)[which]

        check_grads(f, arrays, order=2, modes=["rev"], rtol=2e-5, atol=2e-5)


def test_gradient_of_training_is_batch_norm_grad(rng):
    values, arrays = operands(rng, "batch_norm_training", 3)
    g = rng.normal(0, 1, SHAPE)

    def loss(*arrays):
        return (xo.batch_norm_training(*arrays, EPSILON, 3)[0] * g).sum()

    gradients = jax.jit(jax.grad(loss, (0, 1, 2)))
    x, scale, _ = values
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    expected = grad_oracle(x, scale, mean, variance, g, EPSILON, 3)
    assert_near(gradients(*arrays), expected, "float32")
    text = gradients.lower(*arrays).as_text()
    assert text.count('"stablehlo.batch_norm_training"') == 1
    assert text.count('"stablehlo.batch_norm_grad"') == 1
    # And nothing else is summed but the loss, and the operand for its mean.
    assert text.count("stablehlo.reduce(") <= 2


def test_gradient_of_moments_without_variance(x64):
    """Finite where the normalised operand is not."""
    x, one, zero = jnp.full((4, 1), 3.0), jnp.ones(1), jnp.zeros(1)

    def moments(x):
        _, mean, var = xo.batch_norm_training(x, one, zero, 0.0, 1)
        return (mean + var).sum()

    np.testing.assert_allclose(jax.grad(moments)(x), np.full((4, 1), 0.25))


def test_narrow_gradients_use_exact_moments(rng):
    """Not the mean and variance that were rounded to bfloat16."""
    x = jnp.asarray(rng.normal(100, 0.5, (512, 2)), "bfloat16")
    g = rng.normal(0, 1, (512, 2)).astype(np.float32)
    ones, zeros = jnp.ones(2, "bfloat16"), jnp.zeros(2, "bfloat16")

    def loss(x):
        y = xo.batch_norm_training(x, ones, zeros, EPSILON, 1)[0]
        return (y.astype(np.float32) * g).sum()

    wide = np.asarray(x, np.float64)
    mean, variance = wide.mean(0), wide.var(0)
    # The cotangent reaches the operation in bfloat16.
    rounded = np.asarray(jnp.asarray(g, "bfloat16"), np.float64)
    expected = grad_oracle(wide, np.ones(2), mean, variance, rounded, EPSILON, 1)[0]
    got = np.asarray(jax.grad(loss)(x), np.float64)
    np.testing.assert_allclose(got, expected, rtol=1e-2, atol=1e-2)


# Batching


def _batched(rng, name, index, which, out_of=3):
    """Operands of which those in ``which`` have a dimension more, at several places."""
    rows = [operands(rng, name, index, "float64", (3, 2, 4))[1] for _ in range(out_of)]
    arrays, axes = [], []
    for i, first in enumerate(rows[0]):
        if i in which:
            axis = min(i, first.ndim)
            arrays.append(np.stack([row[i] for row in rows], axis))
            axes.append(axis)
        else:
            arrays.append(first)
            axes.append(None)
    single = [
        [row[i] if i in which else rows[0][i] for i in range(len(axes))] for row in rows
    ]
    return arrays, tuple(axes), single


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "which", [(0,), (1,), (2,), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4)]
)
@pytest.mark.parametrize("index", [0, 1, 2])
def test_vmap_is_a_loop(name, which, index, x64, rng):
    which = tuple(i for i in which if i < len(BY_NAME[name]))
    arrays, axes, rows = _batched(rng, name, index, which)

    def f(*arrays):
        return results(getattr(xo, name)(*arrays, EPSILON, index))

    got = jax.vmap(f, axes)(*arrays)
    for i, y in enumerate(got):
        expected = np.stack(
            [ORACLES_AS_TUPLE[name](*r, EPSILON, index)[i] for r in rows]
        )
        np.testing.assert_allclose(y, expected, rtol=1e-11, atol=1e-11)


ORACLES_AS_TUPLE = {name: lambda *a, f=f: results(f(*a)) for name, f in ORACLES.items()}


def test_vmap_of_vmap_of_a_vector(x64, rng):
    """Rank 1, where the operand looks like a vector of features."""
    x = rng.normal(size=(2, 3, 4))
    scale = rng.normal(size=(3, 4))
    zeros = np.zeros(4)

    def f(x, scale):
        return xo.batch_norm_training(x, scale, zeros, EPSILON, 0)

    got = jax.vmap(jax.vmap(f), (0, None))(x, scale)
    np.testing.assert_allclose(got[0], np.zeros((2, 3, 4)))
    np.testing.assert_allclose(got[1], x)
    np.testing.assert_allclose(got[2], np.zeros((2, 3, 4)))


@pytest.mark.parametrize("name", NAMES)
def test_vmap_of_the_gradient(name, x64, rng):
    which = tuple(range(len(BY_NAME[name])))
    arrays, axes, rows = _batched(rng, name, 1, which)

    def gradients(*arrays):
        def f(*arrays):
            out = results(getattr(xo, name)(*arrays, EPSILON, 1))
            return sum((y**3).sum() for y in out)

        return jax.grad(f, which)(*arrays)

    got = jax.vmap(gradients, axes)(*arrays)
    for i, row in enumerate(rows):
        for g, want in zip(got, gradients(*row), strict=True):
            np.testing.assert_allclose(g[i], want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_jacobians_agree(name, x64, rng):
    """Forward ones batch the tangent, reverse ones the gradient operation."""
    _, arrays = operands(rng, name, 1, "float64", (3, 2))
    f = functools.partial(getattr(xo, name), epsilon=EPSILON, feature_index=1)
    which = tuple(range(len(arrays)))
    forward = jax.jacfwd(f, which)(*arrays)
    reverse = jax.jacrev(f, which)(*arrays)
    for a, b in zip(jax.tree.leaves(forward), jax.tree.leaves(reverse), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


# Inside other transformations


@pytest.mark.parametrize("wrap", ["scan", "while", "cond", "checkpoint"])
def test_inside_control_flow(wrap, rng):
    values, arrays = operands(rng, "batch_norm_training", 3)
    x, scale, offset = map(jnp.asarray, arrays)

    def body(x):
        return xo.batch_norm_training(x, scale, offset, EPSILON, 3)[0]

    f = {
        "scan": lambda x: jax.lax.scan(lambda c, _: (body(c), None), x, length=2)[0],
        "while": lambda x: jax.lax.fori_loop(0, 2, lambda i, c: body(c), x),
        "cond": lambda x: jax.lax.cond(
            x.sum() > -1e9, lambda x: body(body(x)), body, x
        ),
        "checkpoint": lambda x: jax.checkpoint(lambda x: body(body(x)))(x),
    }[wrap]
    once = training_oracle(*values, EPSILON, 3)[0]
    expected = training_oracle(once, *values[1:], EPSILON, 3)[0]
    assert_near(f(x), expected, "float32", looser=10)

    def gradient(f):
        return jax.grad(lambda x: (f(x) ** 3).sum())(x)

    np.testing.assert_allclose(
        gradient(f), gradient(lambda x: body(body(x))), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("only", [False, True])
def test_shard_map(name, only, check_vma, mesh8, rng):
    """Each device normalises its own batch; ``only`` its operand differs."""
    rows = [operands(rng, name, 1, shape=(3, 2))[1] for _ in range(8)]
    differs = [i == 0 or not only for i in range(len(rows[0]))]
    arrays = [
        np.stack([row[i] for row in rows]) if d else rows[0][i]
        for i, d in enumerate(differs)
    ]
    specs = tuple(P("i") if d else P() for d in differs)

    def loss(*arrays):
        return sum(
            (y**2).sum() for y in results(getattr(xo, name)(*arrays, EPSILON, 1))
        )

    which = tuple(range(len(arrays)))

    def on_device(*arrays):
        local = [x[0] if d else x for x, d in zip(arrays, differs, strict=True)]
        y = results(getattr(xo, name)(*local, EPSILON, 1))
        if not check_vma and not all(differs):
            # Without the check JAX does not know which gradients to sum up.
            return [a[None] for a in y], []
        gradients = jax.grad(loss, which)(*local)
        return [a[None] for a in y], [
            g[None] if d else g for g, d in zip(gradients, differs, strict=True)
        ]

    with_gradients = check_vma or all(differs)
    f = jax.jit(
        jax.shard_map(
            on_device,
            mesh=mesh8,
            in_specs=specs,
            out_specs=(P("i"), [*specs] if with_gradients else []),
            check_vma=check_vma,
        )
    )
    got, gradients = f(*arrays)
    own = [[row[i] if d else rows[0][i] for i, d in enumerate(differs)] for row in rows]
    for i, row in enumerate(own):
        wide = [a.astype(np.float64) for a in row]
        assert_near(
            tuple(y[i] for y in got),
            results(ORACLES[name](*wide, EPSILON, 1)),
            "float32",
        )
    if not with_gradients:
        return
    each = [jax.grad(loss, which)(*map(jnp.asarray, row)) for row in own]
    for i, d in enumerate(differs):
        stacked = np.stack([g[i] for g in each])
        expected = stacked if d else stacked.sum(0)
        np.testing.assert_allclose(gradients[i], expected, rtol=2e-3, atol=2e-3)


def _sharded(rng, name, mesh, spec):
    values, arrays = operands(rng, name, 1, shape=(16, 8))
    placed = [
        jax.device_put(a, NamedSharding(mesh, spec if a.ndim == 2 else P()))
        for a in arrays
    ]
    return values, placed


@pytest.mark.parametrize("name", NAMES)
def test_partitioned_without_gathering(name, mesh8, rng):
    """The batch stays on its devices; sums go between them."""
    values, placed = _sharded(rng, name, mesh8, P("i"))
    f = jax.jit(lambda *a: getattr(xo, name)(*a, EPSILON, 1))
    assert_near(f(*placed), ORACLES[name](*values, EPSILON, 1), "float32")
    text = f.lower(*placed).compile().as_text()
    assert "all-gather" not in text
    assert ("all-reduce" in text) == (name != "batch_norm_inference")
    assert results(f(*placed))[0].sharding.spec[0] == "i"


def test_gradient_is_partitioned_without_gathering(mesh8, rng):
    _, placed = _sharded(rng, "batch_norm_training", mesh8, P("i"))

    def loss(*arrays):
        return (xo.batch_norm_training(*arrays, EPSILON, 1)[0] ** 3).sum()

    f = jax.jit(jax.grad(loss, (0, 1, 2)))
    alone = jax.grad(loss, (0, 1, 2))(*map(np.asarray, placed))
    for got, want in zip(f(*placed), alone, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)
    assert "all-gather" not in f.lower(*placed).compile().as_text()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spec", [P("i"), P(None, "i"), P()], ids=str)
def test_on_a_mesh_of_explicit_axes(name, spec, rng):
    mesh = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        values, placed = _sharded(rng, name, mesh, spec)
        f = jax.jit(lambda *a: getattr(xo, name)(*a, EPSILON, 1))
        assert_near(f(*placed), ORACLES[name](*values, EPSILON, 1), "float32")

        def loss(*arrays):
            out = results(getattr(xo, name)(*arrays, EPSILON, 1))
            return sum((y**3).sum() for y in out)

        which = tuple(range(len(placed)))
        got = jax.jit(jax.grad(loss, which))(*placed)
    expected = jax.grad(loss, which)(*map(np.asarray, placed))
    for g, want in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, want, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("axes", ["Explicit", "Auto"])
def test_vmap_on_a_mesh_with_another_axis(axes, rng):
    types = (AxisType.Explicit, getattr(AxisType, axes))
    mesh = jax.make_mesh((4, 2), ("i", "j"), axis_types=types)
    x = rng.normal(size=(3, 5, 4)).astype(np.float32)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    f = jax.vmap(lambda v: xo.batch_norm_training(v, ones, zeros, EPSILON, 1))
    with jax.set_mesh(mesh):
        y, mean, variance = f(
            jax.device_put(x, NamedSharding(mesh, P(None, None, "i")))
        )
    assert jax.typeof(y).sharding.spec == P(None, None, "i")
    for i, row in enumerate(x):
        want = training_oracle(row.astype(np.float64), ones, zeros, EPSILON, 1)
        got = (y[i], mean[i], variance[i])
        assert_near(tuple(map(np.asarray, got)), want, "float32")


def test_pmap(rng):
    if len(jax.devices()) < 8:
        pytest.skip("needs 8 devices")
    x = rng.normal(size=(8, 3, 2)).astype(np.float32)
    ones, zeros = np.ones(2, np.float32), np.zeros(2, np.float32)
    got = jax.pmap(lambda x: xo.batch_norm_training(x, ones, zeros, EPSILON, 1)[0])(x)
    for y, row in zip(got, x, strict=True):
        want = training_oracle(row.astype(np.float64), ones, zeros, EPSILON, 1)[0]
        np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-4)


# The lowered program


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm", "tpu"])
@pytest.mark.parametrize("name", NAMES)
def test_lowers_to_one_operation(name, platform, rng):
    _, arrays = operands(rng, name, 3)
    traced = jax.jit(lambda *a: getattr(xo, name)(*a, EPSILON, 3)).trace(*arrays)
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    operations = set(re.findall(r"stablehlo\.\w+", text))
    # The mean is subtracted before.
    before = (
        {"reduce", "divide", "subtract"} if name == "batch_norm_training" else set()
    )
    assert text.count(f'"stablehlo.{name}"') == 1
    heavy = {"reduce", "divide", "subtract", "multiply", "rsqrt", "sqrt"}
    assert operations & {f"stablehlo.{o}" for o in heavy} == {
        f"stablehlo.{o}" for o in before
    }
    assert "feature_index = 3 : i64" in text
    assert "epsilon = 1.000000e-03 : f32" in text


def test_derivatives_lower_for_every_backend(rng):
    for name in NAMES:
        _, arrays = operands(rng, name, 1)

        def loss(*arrays, name=name):
            out = results(getattr(xo, name)(*arrays, EPSILON, 1))
            return sum((y**2).sum() for y in out)

        def second(*arrays, loss=loss):
            return jax.grad(lambda *a: (jax.grad(loss)(*a) ** 2).sum())(*arrays)

        traced = jax.jit(second).trace(*arrays)
        for platform in ("cpu", "cuda", "rocm", "tpu"):
            assert (
                "stablehlo.batch_norm_"
                in traced.lower(lowering_platforms=(platform,)).as_text()
            )


def test_programs_for_several_backends(rng):
    """Also for one that nobody knows, where arithmetic stands for the operation."""
    _, arrays = operands(rng, "batch_norm_training", 1)
    f = jax.jit(lambda *a: xo.batch_norm_training(*a, EPSILON, 1))
    text = f.trace(*arrays).lower(lowering_platforms=("cpu", "tpu")).as_text()
    assert "stablehlo.batch_norm_training" in text


# Errors

_X = np.zeros((2, 3), np.float32)
_V = np.ones(3, np.float32)


@pytest.mark.parametrize(
    ("call", "exception", "message"),
    [
        (
            lambda: xo.batch_norm_training(_X, _V, _V, 0.1, -1),
            ValueError,
            r"batch_norm_training: feature_index must be in \[0, 2\).*, got -1",
        ),
        (
            lambda: xo.batch_norm_inference(_X, _V, _V, _V, _V, 0.1, 2),
            ValueError,
            r"batch_norm_inference: feature_index must be in \[0, 2\).*, got 2",
        ),
        (
            lambda: xo.batch_norm_grad(_X, _V, _V, _V, _X, 0.1, -2),
            ValueError,
            r"batch_norm_grad: feature_index must be in \[0, 2\).*, got -2",
        ),
        (
            lambda: xo.batch_norm_training(_X, _V, _V, 0.1, 1.0),
            TypeError,
            r"batch_norm_training: feature_index must be an integer, got float 1\.0",
        ),
        (
            lambda: xo.batch_norm_training(_X, _V[:2], _V, 0.1, 1),
            TypeError,
            r"batch_norm_training: scale must have shape \(3,\).*got float32\[2\]",
        ),
        (
            lambda: xo.batch_norm_training(_X, _V, 1.0, 0.1, 1),
            TypeError,
            r"batch_norm_training: offset must have shape \(3,\).*got float32\[\]",
        ),
        (
            lambda: xo.batch_norm_inference(_X, _V, _V, _X, _V, 0.1, 1),
            TypeError,
            r"batch_norm_inference: mean must have shape \(3,\).*got float32\[2, 3\]",
        ),
        (
            lambda: xo.batch_norm_inference(_X, _V, _V, _V, _V[:1], 0.1, 1),
            TypeError,
            r"batch_norm_inference: variance must have shape.*got float32\[1\]",
        ),
        (
            lambda: xo.batch_norm_grad(_X, _V, _V[:2], _V, _X, 0.1, 1),
            TypeError,
            r"batch_norm_grad: batch_mean must have shape \(3,\).*got float32\[2\]",
        ),
        (
            lambda: xo.batch_norm_grad(_X, _V, _V, _V, _X.T, 0.1, 1),
            TypeError,
            r"batch_norm_grad: grad_output must have the shape \(2, 3\).*\[3, 2\]",
        ),
        (
            lambda: xo.batch_norm_training(_X, _V.astype("float16"), _V, 0.1, 1),
            TypeError,
            r"batch_norm_training: operands must have the same element type.*float16",
        ),
        (
            lambda: xo.batch_norm_training(
                *(a.astype(int) for a in (_X, _V, _V)), 0, 1
            ),
            TypeError,
            r"batch_norm_training: operand must be an array of floating-point.*int32",
        ),
        (
            lambda: xo.batch_norm_training(np.float32(1), _V, _V, 0.1, 0),
            TypeError,
            r"batch_norm_training: operand must have rank 1 or more, got float32\[\]",
        ),
        (
            lambda: xo.batch_norm_training(_X, _V, _V, -0.5, 1),
            ValueError,
            r"batch_norm_training: epsilon must be finite.*not negative, got -0\.5",
        ),
        (
            lambda: xo.batch_norm_training(_X, _V, _V, 1e300, 1),
            ValueError,
            r"batch_norm_training: epsilon must be finite.*got 1e\+300",
        ),
        (
            lambda: xo.batch_norm_training(_X, _V, _V, "0.1", 1),
            TypeError,
            r"batch_norm_training: epsilon must be a real number, got str '0\.1'",
        ),
    ],
)
def test_errors(call, exception, message):
    with pytest.raises(exception, match=message):
        call()


def test_traced_epsilon_is_explained():
    with pytest.raises(TypeError) as caught:
        jax.jit(lambda e: xo.batch_norm_training(_X, _V, _V, e, 1))(0.1)
    assert any("epsilon must be known" in note for note in caught.value.__notes__)


def test_negative_feature_index_does_not_end_the_process():
    code = """
import jax, numpy as np, xlaops as xo
x, v = np.zeros((2, 3), np.float32), np.ones(3, np.float32)
for call in (
    lambda: xo.batch_norm_training(x, v, v, 0.1, -1),
    jax.jit(lambda: xo.batch_norm_inference(x, v, v, v, v, 0.1, -1)),
    lambda: xo.batch_norm_grad(x, v, v, v, x, 0.1, -1),
):
    try:
        call()
    except ValueError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("feature_index must be in [0, 2)") == 3
