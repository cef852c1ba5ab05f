"""The lowered programs of operations between replicas: those of jax.lax, one native
operation where XLA has it, for every backend."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collectives.contexts import KINDS, collectives, mesh
from jax import lax
from jax.sharding import PartitionSpec as P

import xlaops as xo
from xlaops import catalog

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
X = np.arange(64, dtype=np.float32).reshape(8, 8)
ODD = KINDS["odd"](8)
RING = [(k, (k + 1) % 8) for k in range(8)]


def on_mesh(function, check_vma=True):
    """Of an array that is divided along its second dimension."""
    return jax.shard_map(
        function,
        mesh=mesh(("i", 8)),
        in_specs=P(None, "i"),
        out_specs=P(None, "i"),
        check_vma=check_vma,
    )


def text(function, check_vma=True):
    def program(x):
        return on_mesh(function, check_vma)(x)

    return jax.jit(program).lower(X).as_text()


# For every row of the catalog: a call, that of jax.lax, and what it lowers to. None
# where jax.lax has no function that does it.
GATHER = lambda x: lax.all_gather(x, "i", axis=1, tiled=True)  # noqa: E731
SWAP = lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True)  # noqa: E731
PERMUTE = lambda x: lax.ppermute(x, "i", RING)  # noqa: E731
ROWS = {
    "AllGather": (lambda x: xo.all_gather(x, 1), GATHER),
    "AllGatherStart": (
        lambda x: xo.all_gather_done(xo.all_gather_start(x, 1)),
        GATHER,
    ),
    "AllGatherTuple": (lambda x: xo.all_gather_tuple([x], 1)[0], GATHER),
    "AllGatherWithDeviceList": (
        lambda x: xo.all_gather(x, 1, replica_groups="[1,8]<=[8]"),
        GATHER,
    ),
    "AllToAll": (lambda x: xo.all_to_all(x, 0, 1), SWAP),
    "AllToAllTuple (split)": (lambda x: xo.all_to_all_tuple(x, 0, 1), SWAP),
    "AllToAllTuple (operands)": (
        lambda x: jnp.stack(xo.all_to_all_tuple([x] * 8)),
        None,
    ),
    "AllToAllWithDeviceList": (
        lambda x: xo.all_to_all(x, 0, 1, replica_groups="{{0,1,2,3,4,5,6,7}}"),
        SWAP,
    ),
    "CollectivePermute": (lambda x: xo.collective_permute(x, RING), PERMUTE),
    "CollectivePermuteStart": (
        lambda x: xo.collective_permute_done(xo.collective_permute_start(x, RING)),
        PERMUTE,
    ),
    "MultiCollectivePermute": (
        lambda x: xo.multi_collective_permute([x], RING)[0],
        PERMUTE,
    ),
    "ReplicaId": (
        lambda x: x + xo.replica_id().astype(np.float32),
        lambda x: x + lax.axis_index("i").astype(np.uint32).astype(np.float32),
    ),
    "PartitionID": (
        lambda x: x + xo.partition_id(partition_axes="i").astype(np.float32),
        lambda x: x + lax.axis_index("i").astype(np.uint32).astype(np.float32),
    ),
    "AllReduce": (lambda x: xo.all_reduce(x, xo.add), lambda x: lax.psum(x, "i")),
    "AllReduceStart": (
        lambda x: xo.all_reduce_done(xo.all_reduce_start(x, xo.max)),
        lambda x: lax.pmax(x, "i"),
    ),
    "AllReduceTuple": (
        lambda x: xo.all_reduce_tuple([x], xo.min)[0],
        lambda x: lax.pmin(x, "i"),
    ),
    "AllReduceWithDeviceList": (
        lambda x: xo.all_reduce(x, xo.add, "[1,8]<=[8]"),
        lambda x: lax.psum(x, "i"),
    ),
    "CrossReplicaSum": (
        lambda x: xo.cross_replica_sum(x),
        lambda x: lax.psum(x, "i"),
    ),
    "ReduceScatter": (
        lambda x: xo.reduce_scatter(x, xo.add, 0),
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=0, tiled=True),
    ),
    "ReduceScatterWithDeviceList": (
        lambda x: xo.reduce_scatter(x, xo.add, 0, replica_groups="[1,8]<=[8]"),
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=0, tiled=True),
    ),
    "RaggedAllToAll": (lambda x: ragged(x), None),
    "RaggedAllToAllWithDeviceList": (lambda x: ragged(x, "[2,4]<=[8]"), None),
    "CollectiveBroadcast": (lambda x: xo.collective_broadcast(x), None),
    "CollectiveBroadcast (multi)": (
        lambda x: xo.collective_broadcast(operands=[x])[0],
        None,
    ),
    "CollectiveBroadcastWithDeviceList": (
        lambda x: xo.collective_broadcast(x, "[2,4]<=[4,2]T(1,0)"),
        None,
    ),
}


def ragged(x, groups=()):
    """The first row to each member, which puts it at the place of the sender."""
    n = 4 if groups else 8
    ones = jnp.ones(n, np.int32)
    at = ones * (xo.replica_id().astype(np.int32) % n)
    return xo.ragged_all_to_all(x, 0 * ones, ones, x, at, ones, groups)


# Results that do not vary, which out_specs makes vary.
REDUCTIONS = {title for title in ROWS if "AllReduce" in title} | {"CrossReplicaSum"}


def varying(function):
    return lambda x: lax.pcast(function(x), "i", to="varying")


def prepared(title, function):
    return varying(function) if title in REDUCTIONS else function


def test_every_implemented_record_has_a_row():
    titles = {
        record.title
        for record in catalog.RECORDS
        if record.family == "collectives" and record.status == "implemented"
    }
    # The second half is in the row of the first.
    halves = {title for title in titles if title.endswith("Done")}
    assert set(ROWS) == titles - halves


@pytest.mark.parametrize("title", [t for t, (_, of_lax) in ROWS.items() if of_lax])
def test_program_is_that_of_lax(title):
    ours, of_lax = (prepared(title, f) for f in ROWS[title])
    assert text(ours) == text(of_lax)


GROUPED = {
    "all_gather": (
        lambda x: xo.all_gather(x, 1, replica_groups=ODD),
        lambda x: lax.all_gather(x, "i", axis=1, tiled=True, axis_index_groups=ODD),
    ),
    "all_to_all": (
        lambda x: xo.all_to_all(x, 0, 1, replica_groups=ODD),
        lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True, axis_index_groups=ODD),
    ),
}


@pytest.mark.parametrize("name", GROUPED)
def test_program_with_groups_is_that_of_lax(name):
    ours, of_lax = GROUPED[name]
    assert text(ours) == text(of_lax)


# One native operation, whatever the groups are


def counted(function, platform, check_vma=True):
    return collectives(on_mesh(function, check_vma), X, platform=platform)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("kind", ["none", "odd", "strided", "reversed"])
def test_one_native_operation(kind, check_vma, platform):
    groups = KINDS[kind](8)

    def program(x):
        return [
            xo.all_gather(x, 1, replica_groups=groups),
            xo.all_to_all(x, 0, 1, replica_groups=groups),
            xo.collective_permute(x, RING[:3]),
            xo.collective_broadcast(x, groups) if platform in ("cuda", "rocm") else x,
        ]

    expected = {"all_gather": 1, "all_to_all": 1, "collective_permute": 1}
    if platform in ("cuda", "rocm"):
        expected["collective_broadcast"] = 1
    assert counted(program, platform, check_vma) == expected


@pytest.mark.parametrize("platform", PLATFORMS)
def test_broadcast_elsewhere_is_a_tree(platform):
    """Of eight in three rounds; also on GPUs where XLA's own has no such groups."""
    unequal = KINDS["unequal"](8)
    rounds = 3  # of the larger group, which has five members
    function = functools.partial(xo.collective_broadcast, replica_groups=unequal)
    assert counted(function, platform) == {"collective_permute": rounds}
    if platform in ("cpu", "tpu"):
        whole = counted(xo.collective_broadcast, platform)
        assert whole == {"collective_permute": 3}


@pytest.mark.parametrize("title", [t for t, (_, of_lax) in ROWS.items() if not of_lax])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_jax_has_no_function_for_lowers_too(title, platform):
    kinds = {
        "RaggedAllToAll": ["all_gather", "all_to_all", "ragged_all_to_all"],
        "AllToAll": ["all_to_all"],
        "Collective": ["collective_permute", "collective_broadcast"],
    }
    expected = next(v for k, v in kinds.items() if title.startswith(k))
    counts = counted(ROWS[title][0], platform)
    assert counts
    assert set(counts) <= set(expected)


def test_groups_of_one_need_no_operation():
    singles = KINDS["single"](8)

    def program(x):
        return [
            xo.all_gather(x, 1, replica_groups=singles),
            xo.all_to_all(x, 0, 1, replica_groups=singles),
            xo.collective_broadcast(x, singles),
        ]

    assert counted(program, "cpu") == {}


def test_groups_that_leave_replicas_out_are_gathered_from_all():
    """Not sent between them alone: XLA refuses such groups of the operation."""
    assert counted(
        lambda x: xo.collective_broadcast(
            operands=[x, jnp.int32(1)], replica_groups=[[0, 1]], has_dynamic_root=True
        )[0],
        "cpu",
    ) == {"all_gather": 1}


def test_native_broadcast_has_the_positions_in_the_mesh():
    """Groups count along one axis, and the operation along the whole mesh."""

    def program(x):
        return jax.shard_map(
            lambda v: xo.collective_broadcast(v, [[3, 1], [0, 2]], axis_name="b"),
            mesh=mesh(("b", 4), ("a", 2)),
            in_specs=P("a", "b"),
            out_specs=P("a", "b"),
        )(x)

    lowered = jax.jit(program).trace(X).lower(lowering_platforms=("cuda",)).as_text()
    assert "dense<[[6, 2], [0, 4], [7, 3], [1, 5]]>" in lowered


@pytest.mark.parametrize("platform", PLATFORMS)
def test_derivatives_lower(platform):
    def loss(x):
        total = sum(
            jnp.sum(jnp.sin(y))
            for y in (
                xo.all_gather(x, 1, replica_groups=ODD),
                xo.all_to_all(x, 0, 1, replica_groups=ODD),
                xo.collective_permute(x, RING[:3]),
                xo.collective_broadcast(x, ODD),
            )
        )
        return jax.lax.psum(total, "i")

    def program(x):
        return jax.grad(
            jax.shard_map(
                loss, mesh=mesh(("i", 8)), in_specs=P(None, "i"), out_specs=P()
            )
        )(x)

    counts = collectives(program, X, platform=platform)
    assert counts["reduce_scatter"] == 1  # of the gather
    assert counts["all_to_all"] == 2
