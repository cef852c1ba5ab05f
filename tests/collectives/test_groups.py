"""Replica groups: how they are written, and what their ids stand for."""

import jax
import numpy as np
import pytest
from collectives.contexts import mesh
from hypothesis import given
from hypothesis import strategies as st
from jax.sharding import PartitionSpec as P

import xlaops as xo
from xlaops.collectives import groups


def parsed(value):
    return groups.parsed("op", "replica_groups", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((), ()),
        ([], ()),
        ([[0, 1], (2, 3)], ((0, 1), (2, 3))),
        (np.array([[0, 1], [2, 3]]), ((0, 1), (2, 3))),
        ([xo.ReplicaGroup([1, 0])], ((1, 0),)),
        ([{"replica_ids": [1, 0]}], ((1, 0),)),
        ([np.array([1, 0]), range(2, 4)], ((1, 0), (2, 3))),
        ((g for g in ([0], [1])), ((0,), (1,))),
        ("{{0,1},{2,3}}", ((0, 1), (2, 3))),
        (" {{0, 1}, {2}} ", ((0, 1), (2,))),
        ("{}", ()),
        ("{{}}", ()),
        # Worked by hand: rows of the iota, or of its transpose.
        ("[2,4]<=[8]", ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("[2,4]<=[4,2]T(1,0)", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("[4, 2] <= [2, 2, 2] T(0,2,1)", ((0, 2), (1, 3), (4, 6), (5, 7))),
        ("[1,1]<=[1]", ((0,),)),
        # Worked by hand: positions in a mesh, in the order of the axes that are named.
        ("mesh['a'=2,'b'=4] {'b'}", ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("mesh['a'=2,'b'=4] {'a'}", ((0, 4), (1, 5), (2, 6), (3, 7))),
        ("mesh['a'=2,'b'=2,'c'=2] {'c','a'}", ((0, 4, 1, 5), (2, 6, 3, 7))),
        ("mesh['a b'=2] {}", ((0,), (1,))),
    ],
)
def test_ways_to_write_groups(value, expected):
    assert parsed(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([(0, 1)], ((0, 1),)),
        ([xo.SourceTarget(0, 1)], ((0, 1),)),
        ([{"source": 0, "target": 1}], ((0, 1),)),
        ("{{0,1},{1,2}}", ((0, 1), (1, 2))),
        (np.array([[2, 0]]), ((2, 0),)),
    ],
)
def test_ways_to_write_pairs(value, expected):
    assert groups.pairs("op", value, 3, ("i",)) == expected


@given(st.permutations(range(6)), st.sampled_from([1, 2, 3, 6]))
def test_text_of_groups_is_read_back(ids, size):
    written = [ids[k : k + size] for k in range(0, 6, size)]
    text = f"{{{','.join(map(str, map(xo.ReplicaGroup, written)))}}}"
    assert parsed(text) == tuple(map(tuple, written)) == parsed(written)


@given(st.permutations(range(7)), st.lists(st.integers(0, 7), max_size=4))
def test_tables(ids, cuts):
    bounds = sorted({0, *cuts})
    written = tuple(
        tuple(ids[a:b]) for a, b in zip(bounds, [*bounds[1:], 7], strict=True) if a < b
    )
    g = groups.Groups(written[: len(written) // 2 + 1], 7)
    for replica in range(7):
        mine = next((i for i in g.ids if replica in i), ())
        assert g.lengths[replica] == len(mine)
        row = list(g.members[replica])
        if not mine:
            assert row == [replica] * g.size
            continue
        assert row == [*mine, *[mine[0]] * (g.size - len(mine))]
        assert row[g.positions[replica]] == replica
    assert g.cover == (sum(g.lengths > 0) == 7)
    assert g.are_equal == (len({len(i) for i in g.ids}) == 1)


# What ids stand for: the modes of StableHLO, on 2 replicas of 2 or 3 partitions. The
# expected groups are worked by hand from the definitions of its specification.


def participants(sizes, axis_name="r", partition_axes="p", ids=(), **options):
    """Who takes part, told inside of two nested maps over replicas and partitions."""
    seen = []

    def of_replica(_):
        who = groups.participants(
            "op", ids, axis_name=axis_name, partition_axes=partition_axes, **options
        )
        seen.append((who.axes, who.groups.ids))
        return 0

    inner = jax.vmap(of_replica, axis_name="p")
    jax.eval_shape(jax.vmap(inner, axis_name="r"), np.zeros(sizes))
    return seen[0]


@pytest.mark.parametrize("by_partition", [False, True])
def test_cross_replica(by_partition):
    """Without a channel ids are replicas, each in its own partition."""
    for channel in (None, 0):
        who = participants((2, 3), channel_id=channel, by_partition=by_partition)
        assert who == (("r",), ((0, 1),))
    who = participants((2, 3), ids=[[1, 0]], by_partition=by_partition)
    assert who == (("r",), ((1, 0),))


def test_cross_partition():
    """With a channel, where the operation has this mode, ids are partitions."""
    who = participants((2, 3), channel_id=1, by_partition=True)
    assert who == (("p",), ((0, 1, 2),))
    ids = [[2, 0, 1]]
    who = participants((2, 3), ids=ids, channel_id=1, by_partition=True)
    assert who == (("p",), ((2, 0, 1),))


def test_cross_replica_and_partition():
    """With a channel elsewhere ids are replicas in all partitions, which come first."""
    who = participants((2, 2), ids=[[0, 1]], channel_id=1)
    assert who == (("r", "p"), ((0, 2, 1, 3),))
    who = participants((2, 3), ids=[[1], [0]], channel_id=1)
    assert who == (("r", "p"), ((3, 4, 5), (0, 1, 2)))
    who = participants((4, 2), ids=[[0, 2], [3, 1]], channel_id=1)
    assert who == (("r", "p"), ((0, 4, 1, 5), (6, 2, 7, 3)))


def test_flattened_ids():
    """With global ids an id is a replica and a partition."""
    options = {"channel_id": 1, "use_global_device_ids": True}
    who = participants((2, 2), ids=[[0, 3], [2, 1]], **options)
    assert who == (("r", "p"), ((0, 3), (2, 1)))
    who = participants((2, 2), **options)
    assert who == (("r", "p"), ((0, 1, 2, 3),))


def test_without_partitions_all_modes_are_one():
    expected = (("r", "p"), ((0, 1, 2, 3),))
    for channel in (None, 1):
        for flat in (None, False, True):
            assert expected == participants(
                (2, 2),
                axis_name=("r", "p"),
                partition_axes=(),
                channel_id=channel,
                use_global_device_ids=flat,
            )


def test_all_axes_as_partitions_leave_one_replica():
    """As JAX itself tells XLA: one replica of as many partitions as devices."""
    who = participants((2, 2), axis_name=(), partition_axes=("r", "p"))
    assert who == ((), ((0,),))
    options = {"axis_name": (), "partition_axes": ("r", "p"), "channel_id": 1}
    assert participants((2, 2), **options) == (("r", "p"), ((0, 1, 2, 3),))


def test_default_axes_are_those_that_are_left():
    who = participants((2, 3), axis_name=None, partition_axes="r")
    assert who == (("p",), ((0, 1, 2),))


def test_rules_are_those_of_ids_as_written():
    with pytest.raises(ValueError, match=r"hold ids in \[0, 2\).*'r'.*got 2"):
        participants((2, 3), ids=[[0, 2]], channel_id=1)
    with pytest.raises(ValueError, match=r"hold ids in \[0, 3\).*'p'.*got 3"):
        participants((2, 3), ids=[[3]], channel_id=1, by_partition=True)
    with pytest.raises(ValueError, match=r"hold ids in \[0, 6\).*got 6"):
        participants((2, 3), ids=[[6]], use_global_device_ids=True)


# The modes where they run


def on_grid(function, x):
    """On 4 replicas of 2 partitions: ``[4, 2, ...]``."""

    def of_shard(v):
        return function(v[0, 0])[None, None]

    mapped = jax.shard_map(
        of_shard,
        mesh=mesh(("r", 4), ("p", 2)),
        in_specs=P("r", "p"),
        out_specs=P("r", "p"),
    )
    return np.asarray(jax.jit(mapped)(x))


def test_gather_in_every_mode():
    x = np.arange(8).reshape(4, 2, 1)  # the flattened id of each
    modes = {"axis_name": "r", "partition_axes": "p"}
    ids = [[0, 2], [3, 1]]

    def gather(**options):
        return on_grid(lambda v: xo.all_gather(v, 0, **modes, **options), x).tolist()

    # Replicas in their own partition.
    assert gather(replica_groups=ids) == [
        [[0, 4], [1, 5]],
        [[6, 2], [7, 3]],
        [[0, 4], [1, 5]],
        [[6, 2], [7, 3]],
    ]
    both = gather(replica_groups=ids, channel_id=1)
    assert both[0] == both[2] == [[0, 4, 1, 5]] * 2
    assert both[1] == both[3] == [[6, 2, 7, 3]] * 2
    pairs = [[0, 7], [1, 6], [2, 5], [3, 4]]
    flat = gather(replica_groups=pairs, channel_id=1, use_global_device_ids=True)
    assert flat == [
        [[0, 7], [1, 6]],
        [[2, 5], [3, 4]],
        [[3, 4], [2, 5]],
        [[1, 6], [0, 7]],
    ]


def test_permutation_and_exchange_between_partitions():
    x = np.arange(16).reshape(4, 2, 2)
    modes = {"axis_name": "r", "partition_axes": "p"}
    moved = on_grid(
        lambda v: xo.collective_permute(v, [(0, 1)], channel_id=1, **modes), x
    )
    np.testing.assert_array_equal(moved[:, 1], x[:, 0])
    np.testing.assert_array_equal(moved[:, 0], 0 * x[:, 0])
    moved = on_grid(lambda v: xo.collective_permute(v, [(3, 1)], **modes), x)
    np.testing.assert_array_equal(moved[1], x[3])
    np.testing.assert_array_equal(moved[[0, 2, 3]], 0 * x[:3])
    swapped = on_grid(lambda v: xo.all_to_all(v, 0, 0, channel_id=1, **modes), x)
    np.testing.assert_array_equal(swapped, x.swapaxes(1, 2))
    sent = on_grid(
        lambda v: xo.collective_broadcast(v, [[1, 0]], channel_id=1, **modes), x
    )
    np.testing.assert_array_equal(sent, x[:, [1, 1]])


def test_ids_of_replicas_and_partitions():
    x = np.zeros((4, 2, 1), np.uint32)

    def ids(v):
        return (
            v + xo.replica_id(axis_name="r") * 10 + xo.partition_id(partition_axes="p")
        )

    expected = np.arange(4)[:, None] * 10 + np.arange(2)
    np.testing.assert_array_equal(on_grid(ids, x)[..., 0], expected)
    both = on_grid(lambda v: v + xo.replica_id(), x)
    np.testing.assert_array_equal(both[..., 0], np.arange(8).reshape(4, 2))
    swapped = on_grid(lambda v: v + xo.replica_id(axis_name=("p", "r")), x)
    np.testing.assert_array_equal(swapped[..., 0], np.arange(8).reshape(2, 4).T)
    assert xo.partition_id() == 0
    assert xo.partition_id().dtype == np.uint32
