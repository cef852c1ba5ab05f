"""The ragged exchange, against a loop in numpy over members and slices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collectives.contexts import (
    CONTEXTS,
    EQUAL,
    KINDS,
    assert_same,
    collectives,
    mesh,
    named,
    one,
    written,
)
from jax.sharding import PartitionSpec as P

from xlaops.collectives.ragged import ragged_all_to_all

ROWS, OUT = 7, 20


def exchanged(groups, x, starts, sizes, outs, places):
    """What the definition gives, of ``[member, ...]`` and ``[member, peer, slice]``."""
    result = outs.copy()
    for group in groups:
        for sender in group:
            for k, receiver in enumerate(group):
                for u in range(starts.shape[2]):
                    start, size = starts[sender, k, u], sizes[sender, k, u]
                    place = places[sender, k, u]
                    result[receiver, place : place + size] = x[
                        sender, start : start + size
                    ]
    return result


def drawn(rng, groups, count, slices):
    """Rows, offsets and sizes of slices that do not overlap; some are empty."""
    n = len(groups[0])
    shape = (count, n, slices)
    starts, sizes, places = (np.zeros(shape, np.int32) for _ in range(3))
    for group in groups:
        for k, receiver in enumerate(group):
            del receiver
            free = 0
            for sender in rng.permutation(group):
                for u in range(slices):
                    size = int(rng.integers(0, 4)) if free < OUT - 5 else 0
                    free += int(rng.integers(0, 2))
                    starts[sender, k, u] = rng.integers(0, ROWS - size + 1)
                    sizes[sender, k, u] = size
                    places[sender, k, u] = free
                    free += size
    x = rng.integers(-9, 9, (count, ROWS, 2)).astype(np.float32)
    out = rng.integers(-9, 9, (count, OUT, 2)).astype(np.float32)
    return x, starts, sizes, out, places


def received(groups, sizes):
    """What each member is told of the sizes that come."""
    result = np.zeros_like(sizes)
    for group in groups:
        for i, receiver in enumerate(group):
            for k, sender in enumerate(group):
                result[receiver, k] = sizes[sender, i]
    return result


def arguments(kind, count, slices):
    groups = written(KINDS[kind](count), count)
    rng = np.random.default_rng(count + slices)
    x, starts, sizes, out, places = drawn(rng, groups, count, slices)
    expected = exchanged(groups, x, starts, sizes, out, places)
    return (x, starts, sizes, out, places, received(groups, sizes)), expected


def call(context, kind, slices):
    """The operation for one replica; its offsets have one dimension or two."""

    def of_replica(x, starts, sizes, out, places, comes):
        described = (starts, sizes, places, comes)
        if slices == 1:
            described = tuple(v[:, 0] for v in described)
        starts, sizes, places, comes = described
        groups = KINDS[kind](context.count)
        name = context.axis_name
        return ragged_all_to_all(
            x, starts, sizes, out, places, comes, groups, axis_name=name
        )

    return of_replica


PLACES = [(context, "none", 2) for context in CONTEXTS]
PLACES += [(context, "odd", 2) for context in CONTEXTS]
PLACES += [(named("shard_map"), kind, 1) for kind in sorted(EQUAL)]
PLACES += [(named("vmap"), "odd", 1)]


@pytest.mark.parametrize(("context", "kind", "slices"), PLACES)
def test_values(context, kind, slices):
    given, expected = arguments(kind, context.count, slices)
    got = jax.jit(context(call(context, kind, slices)))(*given)
    assert_same(got, expected)


# Derivatives


def pulled(groups, cotangent, x, starts, sizes, places):
    """The transpose of `exchanged`: what every row was used for, added up."""
    of_x, of_out = np.zeros_like(x), cotangent.copy()
    for group in groups:
        for sender in group:
            for k, receiver in enumerate(group):
                for u in range(starts.shape[2]):
                    start, size = starts[sender, k, u], sizes[sender, k, u]
                    place = places[sender, k, u]
                    rows = cotangent[receiver, place : place + size]
                    of_x[sender, start : start + size] += rows
                    of_out[receiver, place : place + size] = 0
    return of_x, of_out


@pytest.mark.parametrize("kind", ["none", "odd"])
@pytest.mark.parametrize(
    "name", ["shard_map", "two_axes_unchecked", "batched", "vmap_in_shard_map"]
)
def test_derivatives(name, kind):
    """Rows are sent to several members, and empty slices lie where others do."""
    context = named(name)
    (x, starts, sizes, out, places, comes), _ = arguments(kind, 8, 2)
    groups = written(KINDS[kind](8), 8)
    rng = np.random.default_rng(0)
    tx, tout, cotangent = (
        rng.integers(-9, 9, v.shape).astype(np.float32) for v in (x, out, out)
    )
    mapped = context(call(context, kind, 2))

    def both(x, out, tx, tout, cotangent):
        def f(x, out):
            return mapped(x, starts, sizes, out, places, comes)

        _, forward = jax.jvp(f, (x, out), (tx, tout))
        _, pull = jax.vjp(f, x, out)
        _, pull_of_x = jax.vjp(lambda x: f(x, out), x)
        return forward, pull(cotangent), pull_of_x(cotangent)

    forward, reverse, of_x = jax.jit(both)(x, out, tx, tout, cotangent)
    assert_same(forward, exchanged(groups, tx, starts, sizes, tout, places))
    expected = pulled(groups, cotangent, x, starts, sizes, places)
    assert_same(reverse, expected)
    assert_same(of_x, expected[:1])


def on_two(*arguments):
    """The gradients of a weighted sum of the results of two replicas."""
    mesh = jax.make_mesh(
        (2,),
        ("i",),
        axis_types=(jax.sharding.AxisType.Auto,),
        devices=jax.devices()[:2],
    )
    f = jax.shard_map(
        one(ragged_all_to_all), mesh=mesh, in_specs=P("i"), out_specs=P("i")
    )
    x, starts, sizes, out, places, comes, weights = map(jnp.array, arguments)

    def loss(x, out):
        return (f(x, starts, sizes, out, places, comes) * weights).sum()

    return jax.jit(jax.grad(loss, (0, 1)))(x, out)


def test_a_row_sent_twice_adds_up():
    """Rows 0 and 1 go to both replicas."""
    of_x, _ = on_two(
        np.ones((2, 4)),
        [[0, 0], [0, 0]],
        [[2, 2], [1, 1]],
        np.zeros((2, 3)),
        [[0, 0], [2, 2]],
        [[2, 1], [2, 1]],
        [[1.0, 3.0, 5.0], [7.0, 7.0, 7.0]],
    )
    np.testing.assert_array_equal(of_x, [[8, 10, 0, 0], [12, 0, 0, 0]])


def test_an_empty_slice_hides_nothing():
    """Replica 1 sends nothing to 0, to the place where 0 writes three rows."""
    _, of_out = on_two(
        np.ones((2, 4)),
        [[0, 0], [0, 0]],
        [[3, 0], [0, 0]],
        np.zeros((2, 6)),
        [[0, 0], [0, 0]],
        [[3, 0], [0, 0]],
        [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 2,
    )
    np.testing.assert_array_equal(of_out, [[0, 0, 0, 4, 5, 6], [1, 2, 3, 4, 5, 6]])


# Along one axis of a mesh, with operands of which some vary along the other


def transposed(x, shift, out):
    """Row k goes to member k + shift along "b", where it is the sender's."""
    ones = jnp.ones(4, np.int32)
    starts = (jnp.arange(4, dtype=np.int32) + shift) % 4
    place = ones * jax.lax.axis_index("b")
    return ragged_all_to_all(x, starts, ones, out, place, ones, axis_name="b")


@pytest.mark.parametrize("which", ["input", "offsets"])
def test_what_varies_along_another_axis_is_no_result_of_all(which):
    along = {name: P("a") if name == which else P() for name in ("input", "offsets")}

    def f(x, shift):
        return transposed(x[0], shift[0], jnp.zeros(4, np.float32))

    program = jax.shard_map(
        f,
        mesh=mesh(("a", 2), ("b", 4)),
        in_specs=(along["input"], along["offsets"]),
        out_specs=P("b"),
    )
    with pytest.raises(ValueError, match="out_specs"):
        jax.eval_shape(program, np.zeros((2, 4), np.float32), np.zeros(2, np.int32))


def test_derivatives_where_only_the_input_varies_along_another_axis(rng):
    grid, both = mesh(("a", 2), ("b", 4)), P(("a", "b"))
    f = jax.shard_map(
        lambda x, out: transposed(x[0], 0, out)[None],
        mesh=grid,
        in_specs=(both, P()),
        out_specs=both,
    )
    x, out = rng.normal(size=(8, 4)), rng.normal(size=5)
    x, out = x.astype(np.float32), out.astype(np.float32)
    weights = rng.normal(size=(8, 5)).astype(np.float32)

    def swapped(x):
        return x.reshape(2, 4, 4).swapaxes(1, 2).reshape(8, 4)

    expected = np.concatenate([swapped(x), np.full((8, 1), out[4])], 1)
    result, tangent = jax.jit(lambda *v: jax.jvp(f, v, v))(x, out)
    assert_same(result, expected)
    assert_same(tangent, expected)
    loss = jax.grad(lambda *v: (f(*v) * weights).sum(), (0, 1))
    of_x, of_out = jax.jit(loss)(x, out)
    assert_same(of_x, swapped(weights[:, :4]))
    total = np.array([0, 0, 0, 0, weights[:, 4].sum()], np.float32)
    assert_same(of_out, total, rtol=1e-5)


# Element types, programs, errors


@pytest.mark.parametrize(
    "dtype", ["bool", "int2", "uint4", "int8", "bfloat16", "float8_e4m3fn", "complex64"]
)
def test_element_types(dtype):
    (x, *described), _ = arguments("odd", 8, 1)
    starts, sizes, out, places, comes = described
    x, out = ((v > 0).astype(dtype) for v in (x, out))
    groups = written(KINDS["odd"](8), 8)
    expected = exchanged(groups, x, starts, sizes, out, places)
    context = named("shard_map")
    got = jax.jit(context(call(context, "odd", 1)))(
        x, starts, sizes, out, places, comes
    )
    assert_same(np.asarray(got).astype("complex64"), expected.astype("complex64"))
    assert got.dtype == dtype


@pytest.mark.parametrize("name", ["shard_map", "shard_map_unchecked"])
@pytest.mark.parametrize("kind", ["none", "odd"])
def test_native_where_there_is_one(name, kind):
    context = named(name)
    given, _ = arguments(kind, 8, 2)
    f = context(call(context, kind, 2))
    for platform in ("cuda", "rocm", "tpu"):
        assert collectives(f, *given, platform=platform) == {"ragged_all_to_all": 1}
    assert collectives(f, *given) == {"all_gather": 1, "all_to_all": 1}


def test_gradient_on_accelerators():
    context = named("shard_map")
    (x, *others), _ = arguments("odd", 8, 2)
    f = context(call(context, "odd", 2))
    gradient = jax.grad(lambda x: f(x, *others).sum())
    for platform in ("cuda", "tpu"):
        used = collectives(gradient, x, platform=platform)
        assert used == {"all_to_all": 1, "reduce_scatter": 1}


def test_nothing_to_send():
    def f(x, out):
        none = jnp.zeros((8, 0), jnp.int32)
        return ragged_all_to_all(x, none, none, out, none, none)

    context = named("shard_map")
    out = np.ones((8, 3), np.float32)
    got = jax.jit(context(f))(np.ones((8, 2), np.float32), out)
    np.testing.assert_array_equal(got, out)
    empty = jax.jit(context(lambda x, out: _sent(x, out, np.zeros(8, np.int32))))(
        np.ones((8, 0), np.float32), out
    )
    np.testing.assert_array_equal(empty, out)


def _sent(x, out, described):
    return ragged_all_to_all(x, described, described, out, described, described)


I8 = np.zeros(8, np.int32)
F = np.zeros(3, np.float32)


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (TypeError, "input must have rank 1 or more", (F[0], I8, I8, F, I8, I8)),
        (TypeError, "same element type", (F, I8, I8, F.astype(np.float16), I8, I8)),
        (TypeError, "output must have the shape", (F, I8, I8, F[None], I8, I8)),
        (ValueError, r"input_offsets must be of shape", (F, I8[:7], I8, F, I8, I8)),
        (TypeError, "send_sizes must be of the type", (F, I8, I8[:7], F, I8, I8)),
        (TypeError, "recv_sizes must be", (F, I8, I8, F, I8, I8.astype(np.float32))),
    ],
)
def test_errors(error, message, arguments):
    def f(x):
        return ragged_all_to_all(*arguments)

    with pytest.raises(error, match=rf"ragged_all_to_all: .*{message}"):
        jax.eval_shape(named("shard_map")(f), np.zeros((8, 3), np.float32))
