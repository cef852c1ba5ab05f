"""Computations on values that differ between devices, or that types split.

What a computation holds (constants, rules of derivatives, loops) is the same on all
devices; inside `jax.shard_map` with ``check_vma=True``, and on a mesh of Explicit axes,
JAX mixes the two only if it is told how. What is expected is written as plain JAX on
whole arrays, or is what one device computes.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import xlaops as xo

COLUMNS = {
    "update_window_dims": (0,),
    "inserted_window_dims": (1,),
    "scatter_dims_to_operand_dims": (1,),
    "index_vector_dim": 1,
}


@jax.custom_vjp
def _reversed(v):
    return v * 2


_reversed.defvjp(lambda v: (v * 2, v), lambda v, t: (t * v * 10,))


@jax.custom_jvp
def _counted(v, n):
    return v * n, n + 1


@_counted.defjvp
def _counted_jvp(primals, tangents):
    v, _ = primals
    no_tangent = np.zeros((), jax.dtypes.float0)
    return _counted(*primals), (tangents[0] * 5 * jnp.cos(v), no_tangent)


@jax.custom_vjp
def _numbered(v, n):
    return v * n, n + 1


_numbered.defvjp(
    lambda v, n: ((v * n, n + 1), (v, n)),
    lambda kept, t: (t[0] * kept[0] * kept[1], None),
)

# Of a running value (or a left element) and an element. Functions of arrays too, so
# that they say themselves what `map` gives.
CONTENTS = {
    "a constant": lambda a, b: a + jnp.where(b > 0.2, b, 1.5) * 2,
    "a constant array": lambda a, b: a + b * jnp.asarray(np.float32(3)),
    "no operand": lambda a, b: a + lax.full_like(b, 1.5) * b * b,
    "a rule of JAX": jnp.logaddexp,
    "a rule of its own": lambda a, b: a + jax.nn.softplus(b) ** 2,
    "a branch": lambda a, b: lax.cond(b.sum() > 0.2, lambda: a * b, lambda: a * 1.5),
    "a composite": lambda a, b: (
        a + xo.composite_call(lambda v: v * jax.nn.sigmoid(v) + 1, [b], "my.swish")
    ),
}
BACKWARDS = {  # rules that are no derivatives, to see that they are used
    "a reverse rule": lambda a, b: a + _reversed(b),
    "integers in a rule": lambda a, b: a + _counted(b, 3)[0] * _counted(b, 3)[1],
    "integers in a reverse rule": lambda a, b: a + _numbered(b, 3)[0],
}
OF_ONE = {  # of `map`
    "for": lambda v: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * 2 + v, v),
    "scan": lambda v: lax.scan(lambda c, _: (c * v + 1, c), v, length=3)[1].sum(),
    "an array": lambda v: (jnp.arange(3.0) * v).sum() + v * v,
    "xo.scan": lambda v: xo.scan(
        [jnp.arange(3.0)], [v], lambda e, c: (c * e, c * 2 + 1.0), 0
    )[0].sum(),
    "xo.reduce": lambda v: xo.reduce([v * jnp.arange(3.0)], [0.5], jnp.logaddexp, [0]),
    "xo.conditional": lambda v: xo.conditional(
        v > 0.2, v, lambda v: v * v, v, lambda v: v - 1.0
    ),
}


def _column_sums(x):
    return jnp.stack([x[:, 0] + x[:, 1], x[:, 2] * 2, x[:, 3] - x[:, 0]], 1)


OPERATIONS = {
    "map": lambda x, f: xo.map([x, x * 0.5], f, [0, 1]),
    "reduce": lambda x, f: xo.reduce([x], [0.3], f, [1]),
    "reduce of two": lambda x, f: xo.reduce(
        [x, x * 2], [0.3, 0.1], lambda a, b, v, w: (f(a, v), f(b, w)), [1]
    )[1],
    "reduce_window": lambda x, f: xo.reduce_window(
        [x], [0.3], f, (1, 2), (1, 1), "SAME"
    ),
    "scatter": lambda x, f: xo.scatter(
        [x], jnp.array([1, 3, 1]), [_column_sums(x)], f, COLUMNS
    ),
    "select_and_scatter": lambda x, f: xo.select_and_scatter(
        x,
        lambda a, b: a * 1.5 > b * 1.5,
        (1, 2),
        (1, 1),
        "VALID",
        _column_sums(x),
        0.4,
        f,
    ),
    "sort": lambda x, f: xo.sort([x, x * x], lambda a, b, *_: f(a, a) < f(b, b), 1)[1],
}


def _second(f):
    """A gradient of the second order."""

    def gradient(x):
        return jax.grad(lambda x: (f(x) ** 2).sum())(x)

    return lambda x: (jax.grad(lambda x: (gradient(x) ** 2).sum())(x),)


def _gradient(f):
    """The value and a gradient."""
    return lambda x: (f(x), jax.grad(lambda x: (f(x) ** 2).sum())(x))


def _same_on_devices(f, mesh, rng, check_vma):
    x = rng.uniform(-1, 1, (8, 4)).astype(np.float32)
    mapped = jax.shard_map(
        f, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=check_vma
    )
    # Each row lies on a device of its own.
    expected = jax.jit(jax.vmap(lambda row: f(row[None])))(x)
    for got, want in zip(jax.jit(mapped)(x), expected, strict=True):
        np.testing.assert_allclose(got, want[:, 0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", OPERATIONS)
def test_contents_in_manual_programs(name, mesh8, rng):
    def f(x):
        return sum(OPERATIONS[name](x, content) for content in CONTENTS.values())

    of_order = _second if name == "map" else _gradient
    _same_on_devices(of_order(f), mesh8, rng, True)


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", ["map", "reduce", "scatter"])
def test_rules_in_manual_programs(name, check_vma, mesh8, rng):
    def f(x):
        return sum(OPERATIONS[name](x, content) for content in BACKWARDS.values())

    _same_on_devices(_gradient(f), mesh8, rng, check_vma)


@pytest.mark.parametrize("check_vma", [True, False])
def test_loops_in_manual_programs(check_vma, mesh8, rng):
    def f(x):
        return sum(xo.map([x], content, [0, 1]) for content in OF_ONE.values())

    _same_on_devices(_gradient(f), mesh8, rng, check_vma)


@pytest.mark.parametrize("content", CONTENTS)
def test_map_is_the_function_of_arrays(content, mesh8, rng):
    """As the function itself says, without the operation."""
    function, x = CONTENTS[content], rng.uniform(-1, 1, (8, 1)).astype(np.float32)

    def f(x):
        return xo.map([x, x * 0.5], function, [0, 1])

    got = jax.jit(jax.shard_map(f, mesh=mesh8, in_specs=P("i"), out_specs=P("i")))(x)
    want = [function(v, v * 0.5) for v in jnp.asarray(x)]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_loop_of_unknown_length_in_a_manual_program(mesh8, rng):
    x = rng.uniform(0.1, 1, (8, 2)).astype(np.float32)

    def f(x):
        double = lambda v: lax.while_loop(lambda c: c < 1, lambda c: c * 2, v)  # noqa: E731
        return xo.map([x], double, [0, 1])

    got = jax.jit(jax.shard_map(f, mesh=mesh8, in_specs=P("i"), out_specs=P("i")))(x)
    np.testing.assert_array_equal(got, x * 2.0 ** np.ceil(-np.log2(x)))


# On a mesh of Explicit axes, where a computation may have been traced elsewhere before

SPLIT = {
    **{name: OPERATIONS[name] for name in ("map", "reduce", "sort")},
    "reduce_window": OPERATIONS["reduce_window"],
    "reduce along dimension 0": lambda x, f: xo.reduce([x], [0.3], f, [0]),
    "select_and_scatter": lambda x, f: xo.select_and_scatter(
        x, xo.ge, (1, 2), (1, 2), "VALID", jnp.ones((8, 2)), 0.4, f
    ),
    "a loop": lambda x, f: xo.map(
        [x], lambda v: lax.fori_loop(0, 2, lambda i, c: f(c, v), v), [0, 1]
    ),
    "batch_norm_training": lambda x, f: xo.batch_norm_training(
        x, jnp.ones(4), jnp.zeros(4), 1e-3, 1
    )[0],
}


@pytest.mark.parametrize("name", SPLIT)
def test_on_explicit_axes(name, rng):
    x = rng.uniform(-1, 1, (8, 4)).astype(np.float32)

    def value(x):
        return SPLIT[name](x, jnp.logaddexp)

    def f(x):
        gradient = jax.grad(lambda x: (value(x) ** 2).sum())(x)
        return value(x), gradient, jax.vmap(value)(jnp.stack([x, x * 2]))

    expected = jax.jit(f)(x)
    mesh = jax.make_mesh((4,), ("i",), axis_types=(AxisType.Explicit,))
    for spec in (P("i"), P(None, "i")):
        with jax.set_mesh(mesh):
            results = jax.jit(f)(jax.device_put(x, NamedSharding(mesh, spec)))
        for got, want in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    # And back, where there is no mesh.
    np.testing.assert_allclose(value(jnp.asarray(x)), expected[0], rtol=1e-4, atol=1e-5)
