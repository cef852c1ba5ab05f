"""Element types, and the types of results where they say over which axes one varies."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from collectives.contexts import KINDS, mesh, named, sizes
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import xlaops as xo
from xlaops import collectives

DTYPES = (
    *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
    *("float16", "bfloat16", "float32", "complex64", "int4", "uint4", "int2", "uint2"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e8m0fnu"),
    "float4_e2m1fn",
)
WIDE = ("int64", "uint64", "float64", "complex128")
ODD = KINDS["odd"](8)
PAIRS = [(3, 0), (0, 5), (5, 3)]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def bits(x):
    """What does not depend on how values compare: NaN and the signs of zeros."""
    return np.asarray(x).view(np.uint8)


def stacked(dtype):
    """Arrays of eight replicas, of values that every type has."""
    values = np.arange(8 * 2 * 6) * 7 % 4 / 2
    if dtype in (dtype_of("int2"), dtype_of("uint2"), np.bool_):
        values = np.arange(8 * 2 * 6) * 7 % 5 % 2
    return values.reshape(8, 2, 6).astype(dtype)


def everything(x):
    return (
        xo.all_gather(x, 0, replica_groups=ODD),
        xo.all_to_all(x, 0, 1, replica_groups=ODD),
        xo.collective_permute(x, PAIRS),
        xo.collective_broadcast(x, [[6, 1, 2], [0, 5]]),
    )


def expected(x):
    """The same of stacked arrays, in numpy."""
    other = {a: (g, k) for g in ODD for k, a in enumerate(g)}
    gathered = [np.concatenate([x[i] for i in other[r][0]]) for r in range(8)]
    exchanged = [
        np.concatenate([x[i][[k]] for i in g], 1) for g, k in map(other.get, range(8))
    ]
    zero = np.float32(0).astype(x.dtype)  # which is NaN where there is no zero
    permuted, sent = np.full_like(x, zero), np.full_like(x, zero)
    for source, target in PAIRS:
        permuted[target] = x[source]
    sent[[6, 1, 2]], sent[[0, 5]] = x[6], x[0]
    return np.stack(gathered), np.stack(exchanged), permuted, sent


@pytest.mark.parametrize("context", ["shard_map", "vmap"])
def test_element_types(context):
    inputs = [stacked(dtype_of(name)) for name in DTYPES]
    run = jax.jit(named(context)(lambda *xs: [everything(x) for x in xs]))
    for name, x, results in zip(DTYPES, inputs, run(*inputs), strict=True):
        for y, wanted in zip(results, expected(x), strict=True):
            assert y.dtype == dtype_of(name), name
            np.testing.assert_array_equal(bits(y), bits(wanted), name)


def test_wide_element_types(x64):
    inputs = [stacked(dtype_of(name)) for name in WIDE]
    run = jax.jit(named("shard_map")(lambda *xs: [everything(x) for x in xs]))
    for name, x, results in zip(WIDE, inputs, run(*inputs), strict=True):
        for y, wanted in zip(results, expected(x), strict=True):
            assert y.dtype == dtype_of(name), name
            np.testing.assert_array_equal(y, wanted, name)


@pytest.mark.parametrize("context", ["shard_map", "two_vmaps"])
def test_no_bit_changes(context):
    """NaN with a payload, infinities, the sign of zero, numbers below normal ones."""
    words = np.array(
        [0x7FC00001, 0xFFC12345, 0x7F800000, 0x80000000, 1, 0x80000001], np.uint32
    )
    x = np.tile(words.view(np.float32), (8, 2, 1))
    for y, wanted in zip(named(context)(everything)(x), expected(x), strict=True):
        np.testing.assert_array_equal(bits(y), bits(wanted))


def test_empty_arrays_and_python_scalars():
    def of_replica(_):
        empty = jnp.zeros((0, 8))
        return (
            xo.all_gather(empty, 0),
            xo.all_to_all(empty, 0, 1),
            xo.collective_permute(empty, PAIRS),
            xo.collective_broadcast(2.5, [[3, 0]]),
            xo.collective_permute(7, [(0, 1)]),
            xo.collective_broadcast(()),
        )

    run = jax.jit(named("shard_map")(of_replica))
    *empty, sent, moved, nothing = run(np.zeros(8, np.float32))
    assert [y.shape for y in empty] == [(8, 0, 8), (8, 0, 64), (8, 0, 8)]
    np.testing.assert_array_equal(sent, [2.5, 0, 0, 2.5, 0, 0, 0, 0])
    np.testing.assert_array_equal(moved, [0, 7, 0, 0, 0, 0, 0, 0])
    assert nothing == ()


# Over which axes a result varies


def varying(function, *axes, **options):
    """The axes over which results vary, of an operand that does not."""
    seen = []

    def of_shard(x):
        results = jax.tree.leaves(function(x))
        seen.extend(jax.typeof(y).manual_axis_type.varying for y in results)
        return x

    jax.eval_shape(
        jax.shard_map(
            of_shard, mesh=mesh(*axes), in_specs=P(), out_specs=P(), **options
        ),
        np.zeros((8, 8), np.float32),
    )
    return set(seen)


def test_results_vary_over_the_axes_of_the_operation():
    groups = [[0, 1], [2, 3]]

    def along_b(x):
        return (
            xo.all_gather(x, 0, replica_groups=groups, axis_name="b"),
            xo.all_to_all(x, 0, 1, replica_groups=groups, axis_name="b"),
            xo.collective_permute(x, [(0, 1)], axis_name="b"),
            xo.collective_permute(x, [], axis_name="b"),
            xo.collective_broadcast(x, groups, axis_name="b"),
            xo.collective_broadcast(x, [[0]], axis_name="b"),
            xo.collective_broadcast(
                operands=[x, 1],
                replica_groups=[[0, 1]],
                has_dynamic_root=True,
                axis_name="b",
            ),
            collectives.recv(
                "f32[8,8]", collectives.send(x, 1, [(0, 1)], axis_name="b")
            ),
            xo.replica_id(axis_name="b"),
        )

    grid = ("a", 2), ("b", 4)
    assert varying(along_b, *grid) == {frozenset("b")}
    assert varying(lambda x: xo.all_gather(x, 0), *grid) == {frozenset("ab")}
    assert varying(lambda x: xo.partition_id(), *grid) == {frozenset()}
    # Where types do not say it nothing is done about them.
    assert varying(along_b, *grid, check_vma=False) == {frozenset()}


@pytest.mark.parametrize("name", ["all_gather", "collective_broadcast"])
def test_results_of_groups_are_no_results_of_all(name):
    """jax.lax types some as if they were, and hands out what differs by device."""

    def of_shard(x):
        groups = [[0, 1, 2, 3], [4, 5, 6, 7]]
        if name == "all_gather":
            return xo.all_gather(x, 0, replica_groups=groups)
        return xo.collective_broadcast(x, groups)

    program = jax.shard_map(
        of_shard, mesh=mesh(("i", 8)), in_specs=P("i"), out_specs=P()
    )
    with pytest.raises(ValueError, match="out_specs"):
        jax.eval_shape(program, np.zeros(8))


# Where else programs are manual


def test_partly_manual_in_an_explicit_mesh():
    """The axis that is left is one that types of arrays name."""
    grid = jax.make_mesh((2, 4), ("x", "i"), axis_types=(AxisType.Explicit,) * 2)

    def of_shard(v):
        v = v[0]
        return (
            xo.all_gather(v, 0, replica_groups=[[0, 3], [2, 1]])[None],
            xo.all_to_all(v, 0, 0, replica_groups=[[0, 3], [2, 1]])[None],
            xo.collective_permute(v, [(0, 1)])[None],
            xo.collective_broadcast(v, [[3, 1]])[None],
        )

    x = np.arange(16, dtype=np.float32).reshape(4, 2, 2)

    def loss(v):
        mapped = jax.shard_map(
            of_shard, in_specs=P("i"), out_specs=P("i"), axis_names={"i"}
        )
        results = mapped(v)
        return sum(jnp.sum(jnp.sin(y)) for y in results), results

    with jax.set_mesh(grid):
        operand = jax.device_put(x, P("i", None, "x"))
        gradient, results = jax.jit(jax.grad(loss, has_aux=True))(operand)
    gathered, exchanged, permuted, sent = map(np.asarray, results)
    np.testing.assert_array_equal(gathered[0], np.concatenate([x[0], x[3]]))
    np.testing.assert_array_equal(gathered[1], np.concatenate([x[2], x[1]]))
    np.testing.assert_array_equal(exchanged[0], [x[0][0], x[3][0]])
    np.testing.assert_array_equal(exchanged[3], [x[0][1], x[3][1]])
    np.testing.assert_array_equal(permuted, [0 * x[0], x[0], 0 * x[0], 0 * x[0]])
    np.testing.assert_array_equal(sent, [0 * x[0], x[3], 0 * x[0], x[3]])
    # Each is gathered twice and exchanged once; 0 is permuted, 3 sent to two.
    times = np.array([4, 3, 3, 5])[:, None, None]
    np.testing.assert_allclose(gradient, times * np.cos(x), rtol=1e-5)


EXPLICIT = {
    "all_reduce": (
        lambda x: xo.all_reduce(x, xo.mul),
        lambda x: np.stack([x[0] * x[1]] * 2),
    ),
    "all_reduce in groups": (
        lambda x: xo.all_reduce(x, lambda a, b: a + 0 * b, [[1, 0]]),
        lambda x: np.stack([x[1]] * 2),
    ),
    "all_reduce (joint)": (
        lambda x: xo.all_reduce((x, 2 * x), lambda a, b, c, d: (a * d, b), joint=True)[
            0
        ],
        lambda x: np.stack([2 * x[0] * x[1]] * 2),
    ),
    "reduce_scatter (add)": (
        lambda x: xo.reduce_scatter(x, xo.add, 0),
        lambda x: x.sum(0).reshape(2, 2, 8),
    ),
    "reduce_scatter (mul)": (
        lambda x: xo.reduce_scatter(x, xo.mul, 1),
        lambda x: np.stack(np.split(x[0] * x[1], 2, 1)),
    ),
    "all_gather": (
        lambda x: xo.all_gather(x, 1, replica_groups=[[1, 0]]),
        lambda x: np.stack([np.concatenate(x[::-1], 1)] * 2),
    ),
    "all_to_all": (
        lambda x: xo.all_to_all(x, 0, 1),
        lambda x: np.stack(
            [np.concatenate(b, 1) for b in (x[:, :2], x[:, 2:])],
        ),
    ),
    "all_to_all in groups": (
        lambda x: xo.all_to_all(x, 1, 0, replica_groups=[[1, 0]]),
        lambda x: np.stack(
            [np.concatenate(b[::-1]) for b in (x[:, :, 4:], x[:, :, :4])]
        ),
    ),
    "ragged_all_to_all": (
        lambda x: xo.ragged_all_to_all(
            x,
            np.array([0, 1]),
            np.array([1, 1]),
            0 * x,
            xo.replica_id().astype(int) + np.array([0, 1]),
            np.array([1, 1]),
        ),
        lambda x: np.stack(
            [
                np.stack([x[0, 0], x[1, 0], 0 * x[0, 0], 0 * x[0, 0]]),
                np.stack([0 * x[0, 0], x[0, 1], x[1, 1], 0 * x[0, 0]]),
            ]
        ),
    ),
}


@pytest.mark.parametrize(
    ("name", "check_vma"),
    [*((name, True) for name in EXPLICIT), ("all_reduce", False)],
)
def test_split_along_explicit_axes(name, check_vma, rng):
    """Operands whose types say how they are split along the axis that is left."""
    call, oracle = EXPLICIT[name]
    grid = jax.make_mesh((2, 4), ("i", "x"), axis_types=(AxisType.Explicit,) * 2)
    x = rng.integers(1, 9, (2, 4, 8)).astype(np.float32)

    def of_shard(v):
        y = call(v[0])[None]
        return lax.pcast(y, missing, to="varying") if (missing := invariant(y)) else y

    def invariant(y):
        there = jax.typeof(y).manual_axis_type.varying
        return tuple({"i"} - there) if check_vma else ()

    mapped = jax.shard_map(
        of_shard,
        in_specs=P("i"),
        out_specs=P("i"),
        axis_names={"i"},
        check_vma=check_vma,
    )

    def loss(v):
        y = mapped(v)
        return jnp.sum(y * y), y

    with jax.set_mesh(grid):
        both = jax.jit(jax.value_and_grad(loss, has_aux=True))
        results = []
        for spec in (P("i", None, "x"), P("i", "x")):
            (_, y), gradient = both(jax.device_put(x, spec))
            assert jax.typeof(gradient).sharding.spec[: len(spec)] == tuple(spec)
            np.testing.assert_array_equal(y, oracle(x))
            results.append(gradient)
    # Where it is split changes nothing.
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


@pytest.mark.parametrize(
    ("groups", "spec"),
    [
        ([[0, 3], [2, 1]], P("i")),  # in blocks
        ([[0], [3, 1, 2]], P("i")),
        ([[0], [3, 1, 2]], P("i", "x")),
    ],
)
def test_derivatives_beside_explicit_axes(groups, spec, rng):
    """Where XLA gathers blocks, and where all gather and take what is their own."""
    grid = jax.make_mesh((4, 2), ("i", "x"), axis_types=(AxisType.Explicit,) * 2)
    x = rng.integers(1, 5, (4, 6)).astype(np.float32)
    mapped = jax.shard_map(
        lambda v: xo.all_reduce(v[0], lambda a, b: a * b, groups)[None],
        in_specs=P("i"),
        out_specs=P("i"),
        axis_names={"i"},
    )
    with jax.set_mesh(grid), sizes(_SMALL=0):
        program = jax.jit(jax.value_and_grad(lambda v: mapped(v).sum()))
        total, gradient = program(jax.device_put(x, spec))
    product = np.stack([x[g].prod(0) for r in range(4) for g in groups if r in g])
    times = np.array([[len(g)] for r in range(4) for g in groups if r in g])
    assert total == product.sum()
    np.testing.assert_allclose(gradient, times * product / x, rtol=1e-5)


SYMBOLIC = {
    "all_reduce": lambda x: xo.all_reduce(x, jnp.logaddexp),
    "all_reduce in groups": lambda x: xo.all_reduce(
        x, jnp.logaddexp, [[0, 3], [1, 2], [4, 7], [6, 5]]
    ),
    "all_reduce in unequal groups": lambda x: xo.all_reduce(
        x, xo.max, [[0, 1, 2], [3, 4, 5, 6, 7]]
    ),
    "reduce_scatter": lambda x: xo.reduce_scatter(x, xo.mul, 0),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_dimensions_that_are_symbols(name):
    devices = mesh(("i", 8))
    columns = P(None, "i")
    program = jax.jit(
        jax.shard_map(
            SYMBOLIC[name],
            mesh=devices,
            in_specs=columns,
            out_specs=columns,
            check_vma=False,
        )
    )
    operand = jax.ShapeDtypeStruct(
        jax.export.symbolic_shape("8*n, 8"),
        np.float32,
        sharding=NamedSharding(devices, columns),
    )
    (result,) = jax.export.export(program)(operand).out_avals
    assert str(result.shape) == ("(n, 8)" if name == "reduce_scatter" else "(8*n, 8)")


def test_in_loops_and_branches():
    """A ring of steps adds up what passes by; all of a group take one branch."""

    def of_replica(x):
        def step(carry, _):
            total, passing = carry
            passing = xo.collective_permute(
                passing, [(k, (k + 1) % 8) for k in range(8)]
            )
            return (total + passing, passing), None

        total, _ = jax.lax.scan(step, (x, x), None, length=7)[0]
        halves = [[3, 2, 1, 0], [4, 5, 6, 7]]
        in_first = xo.replica_id() < 4
        return total, jax.lax.cond(
            in_first,
            lambda v: xo.all_gather(v[None], 0, replica_groups=halves)[0],
            lambda v: -v,
            x,
        )

    x = np.arange(8, dtype=np.float32)
    total, chosen = jax.jit(named("shard_map")(of_replica))(x)
    np.testing.assert_array_equal(total, np.full(8, 28))
    np.testing.assert_array_equal(chosen, [3, 3, 3, 3, -4, -5, -6, -7])


def test_eager_calls():
    """A map that is not jitted runs operation by operation."""
    x = stacked(np.float32)
    mapped = jax.shard_map(
        lambda v: [y[None] for y in everything(v[0])],
        mesh=mesh(("i", 8)),
        in_specs=P("i"),
        out_specs=P("i"),
    )
    for y, wanted in zip(mapped(x), expected(x), strict=True):
        np.testing.assert_array_equal(y, wanted)


def test_derivatives_of_second_order():
    """Of a cubic form of what neighbours send: worked by hand."""

    def loss(x):
        def of_replica(v):
            moved = xo.collective_permute(v, [(k, (k + 1) % 8) for k in range(8)])
            sent = xo.collective_broadcast(v, [[0, 1], [2, 3]])
            return v * moved**2 + sent**3

        return named("shard_map")(of_replica)(x).sum()

    x = np.arange(1, 9, dtype=np.float32)
    before = np.roll(x, 1)
    received = np.zeros((8, 8))
    for k in range(8):
        received[k, (k - 1) % 8] += 2 * before[k]
        received[(k - 1) % 8, k] += 2 * before[k]
        received[(k - 1) % 8, (k - 1) % 8] += 2 * x[k]
    received[0, 0] += 2 * 6 * x[0]
    received[2, 2] += 2 * 6 * x[2]
    np.testing.assert_allclose(jax.jit(jax.hessian(loss))(x), received, rtol=1e-5)
