"""Arguments that do not fit: errors name the operation, the parameter and the value."""

import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collectives.contexts import mesh
from jax.sharding import PartitionSpec as P

import xlaops as xo
from xlaops import collectives

X = np.zeros((8, 8, 2), np.float32)  # eight replicas of f32[8,2]
WITH_GROUPS = {
    "all_gather": lambda x, **k: xo.all_gather(x, 0, **k),
    "all_gather_tuple": lambda x, **k: xo.all_gather_tuple([x], 0, **k),
    "all_gather_start": lambda x, **k: xo.all_gather_start(x, 0, **k),
    "all_to_all": lambda x, **k: xo.all_to_all(x, 0, 0, **k),
    "all_to_all_tuple": lambda x, **k: xo.all_to_all_tuple(x, 0, 0, **k),
    "collective_broadcast": xo.collective_broadcast,
}
EQUAL_ONLY = [name for name in WITH_GROUPS if name != "collective_broadcast"]


def traced(function, x=X, **options):
    """Traces a function of one replica's array; nothing is compiled or run."""
    return jax.eval_shape(jax.vmap(function, axis_name="i", **options), x)


def raises(kind, message):
    return pytest.raises(kind, match=re.escape(message))


# Groups


@pytest.mark.parametrize("name", WITH_GROUPS)
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            [[0, 8]],
            "hold ids in [0, 8), of the replicas along ('i',), got 8 in {{0,8}}",
        ),
        ([[0, -1]], "hold ids in [0, 8), of the replicas along ('i',), got -1 in"),
        ([[0, 1], [1, 2]], "at most once, got 1 more than once in {{0,1},{1,2}}"),
        ([[3, 3]], "at most once, got 3 more than once in {{3,3}}"),
        ([list(range(8)), []], "hold no empty group, got {{0,1,2,3,4,5,6,7},{}}"),
        ("{{0,1,2,3,4,5,6,7},{}}", "hold no empty group, got {{0,1,2,3,4,5,6,7},{}}"),
    ],
)
def test_ids_are_those_of_replicas_and_distinct(name, groups, message):
    with raises(ValueError, f"{name}: replica_groups must ") as caught:
        traced(lambda x: WITH_GROUPS[name](x, replica_groups=groups))
    assert message in str(caught.value)


@pytest.mark.parametrize("name", EQUAL_ONLY)
def test_every_replica_is_in_a_group_of_one_size(name):
    call = WITH_GROUPS[name]
    rule = f"{name}: replica_groups must "
    with raises(ValueError, f"{rule}be empty or hold each of the ids 0 to 7") as caught:
        traced(lambda x: call(x, replica_groups=[[0, 1], [4, 5]]))
    assert "got {{0,1},{4,5}} without {2,3,6,7}" in str(caught.value)
    with raises(ValueError, f"{rule}have one size, got {{{{0,1,2}},{{3,4,5,6,7}}}}"):
        traced(lambda x: call(x, replica_groups=[[0, 1, 2], [3, 4, 5, 6, 7]]))


@pytest.mark.parametrize("name", WITH_GROUPS)
def test_groups_are_sequences_of_integers(name):
    call = WITH_GROUPS[name]
    rule = f"{name}: replica_groups"
    for groups in (3, None, {0: 1}, {(0, 1)}, np.int32(3)):
        with raises(TypeError, f"{rule} must be a sequence of groups of replica ids"):
            traced(lambda x, groups=groups: call(x, replica_groups=groups))
    for groups in ([0, 1], ["01"], [[0.0, 1.0]], [[True, False]], np.eye(2)):
        with raises(TypeError, f"{rule}[0"):
            traced(lambda x, groups=groups: call(x, replica_groups=groups))
    for text in ("0,1", "[2,4]", "[2,4]<=[9]", "[2,2,2]<=[8]", "{{0},{1}", "{{a}}"):
        with raises(ValueError, f"{rule} must be a device list such as"):
            traced(lambda x, text=text: call(x, replica_groups=text))
    for text in (
        "[0,4]<=[0]",
        "{{\u0660,\u0661}}",
        "mesh['a'=2] {'b'}",
        "mesh['a'=0] {'a'}",
        "mesh['a'=2] {'a','a'}",
        "mesh['a'=4] {'a':(1)2}",
    ):
        with raises(ValueError, f"{rule} must be a device list such as"):
            traced(lambda x, text=text: call(x, replica_groups=text))
    huge = "[1,1000000000000]<=[1000000000000]"
    with raises(ValueError, f"{rule} must be a device list such as"):
        traced(lambda x: call(x, replica_groups=huge))


def test_long_groups_are_cut_in_messages():
    groups = [[k] for k in range(1000)]
    with raises(ValueError, "all_gather: replica_groups must hold ids in [0, 8)") as e:
        traced(lambda x: xo.all_gather(x, 0, replica_groups=groups))
    assert len(str(e.value)) < 250


# Axes


CALLS = {
    **WITH_GROUPS,
    "collective_permute": lambda x, **k: xo.collective_permute(x, [(0, 1)], **k),
    "collective_permute_start": (
        lambda x, **k: xo.collective_permute_start(x, [(0, 1)], **k)
    ),
    "multi_collective_permute": (
        lambda x, **k: xo.multi_collective_permute([x], [(0, 1)], **k)
    ),
    "send": lambda x, **k: collectives.send(x, 1, [(0, 1)], **k),
    "replica_id": lambda x, **k: xo.replica_id(**k),
}


@pytest.mark.parametrize("name", CALLS)
def test_outside_of_any_mapped_axis(name):
    rule = f"{name}: axis_name must name a mapped axis"
    with raises(NameError, f"{rule} in scope (none), got 'i'"):
        CALLS[name](X[0], axis_name="i")
    if name == "replica_id":
        return
    with raises(NameError, f"{rule}, got None outside of any"):
        CALLS[name](X[0])
    with raises(NameError, f"{rule}, got None outside of any"):
        jax.eval_shape(jax.vmap(CALLS[name]), X)  # an axis without a name
    with raises(NameError, f"{rule}, got None outside of any"):
        jax.eval_shape(CALLS[name], X[0])
    # An axis of a mesh that the compiler divides is none that the program maps over.
    with jax.set_mesh(mesh(("i", 8))), raises(NameError, f"{rule}, got None outside"):
        jax.eval_shape(CALLS[name], X[0])


@pytest.mark.parametrize("name", CALLS)
def test_names_of_axes(name):
    rule = f"{name}: axis_name must "
    with raises(NameError, f"{rule}name a mapped axis in scope ('i'), got 'j'"):
        traced(lambda x: CALLS[name](x, axis_name="j"))
    with raises(NameError, f"{rule}name a mapped axis in scope ('i'), got 'j'"):
        traced(lambda x: CALLS[name](x, axis_name=("i", "j")))
    with raises(ValueError, f"{rule}hold distinct names, got ('i', 'i')"):
        traced(lambda x: CALLS[name](x, axis_name=["i", "i"]))
    with raises(TypeError, f"{rule}be the name of a mapped axis or a sequence"):
        traced(lambda x: CALLS[name](x, axis_name={"i": 1}))
    with raises((ValueError, NameError), f"{name}: axis_name must name"):
        traced(lambda x: CALLS[name](x, axis_name=()))


def test_an_axis_that_is_not_manual_is_not_in_scope():
    def of_shard(x):
        return xo.all_gather(x, 0, axis_name="b")

    program = jax.shard_map(
        of_shard,
        mesh=mesh(("a", 2), ("b", 4)),
        in_specs=P("a"),
        out_specs=P("a"),
        axis_names={"a"},
    )
    with raises(NameError, "axis_name must name a mapped axis in scope ('a'), got 'b'"):
        jax.eval_shape(program, X[0])


def test_partition_axes():
    with raises(
        NameError, "all_gather: partition_axes must name a mapped axis in scope"
    ):
        traced(lambda x: xo.all_gather(x, 0, partition_axes="j"))
    with raises(NameError, "partition_id: partition_axes must name a mapped axis"):
        xo.partition_id(partition_axes=("i",))
    with raises(ValueError, "all_gather: partition_axes must not be in axis_name"):
        traced(lambda x: xo.all_gather(x, 0, axis_name="i", partition_axes="i"))
    with raises(TypeError, "all_gather: partition_axes must be the name of a mapped"):
        traced(lambda x: xo.all_gather(x, 0, partition_axes=None))


def test_outside_of_any_axis_there_is_one_replica():
    for program in (xo.replica_id, jax.jit(xo.replica_id)):
        assert (program(), program().dtype) == (0, np.uint32)
    assert not jax.vmap(lambda _: xo.replica_id())(np.zeros(3)).any()


# Sizes and dimensions


@pytest.mark.parametrize("name", ["all_gather", "all_gather_start", "all_gather_tuple"])
def test_shard_count(name):
    call = WITH_GROUPS[name]
    rule = f"{name}: shard_count must be "
    with raises(
        ValueError, f"{rule}the number of members of a replica group, 8, got 4"
    ):
        traced(lambda x: call(x, shard_count=4))
    pairs = [[0, 1], [2, 3], [4, 5], [6, 7]]
    with raises(
        ValueError, f"{rule}the number of members of a replica group, 2, got 8"
    ):
        traced(lambda x: call(x, shard_count=8, replica_groups=pairs))
    with raises(TypeError, f"{rule}an integer, got float 8.0"):
        traced(lambda x: call(x, shard_count=8.0))
    traced(lambda x: call(x, shard_count=np.int64(2), replica_groups=pairs))


def test_split_count_and_divisibility():
    rule = "all_to_all: split_count must be the number of members of a replica group"
    with raises(ValueError, f"{rule}, 8, got 2"):
        traced(lambda x: xo.all_to_all(x, 0, 1, 2))
    message = (
        "all_to_all: split_dimension must have a size that the 8 replicas of a group "
        "divide, got 2 of float32[8, 2]"
    )
    with raises(ValueError, message):
        traced(lambda x: xo.all_to_all(x, 1, 0))
    with raises(ValueError, "got 2 of float32[8, 2]"):
        traced(lambda x: xo.all_to_all({"a": x.T, "b": x}, 1, 0))


@pytest.mark.parametrize("dimension", [-1, 2, 10**20])
def test_dimensions_are_those_of_the_operand(dimension):
    rule = "must be in [0, 2) for an operand of rank 2"
    with raises(ValueError, f"all_gather: all_gather_dimension {rule}"):
        traced(lambda x: xo.all_gather(x, dimension))
    with raises(ValueError, f"all_to_all: split_dimension {rule}"):
        traced(lambda x: xo.all_to_all(x, dimension, 0))
    with raises(ValueError, f"all_to_all: concat_dimension {rule}"):
        traced(lambda x: xo.all_to_all(x, 0, dimension))


def test_scalars_have_no_dimension():
    scalars = np.zeros(8, np.float32)
    with raises(ValueError, "all_gather: all_gather_dimension must be in [0, 0)"):
        traced(lambda x: xo.all_gather(x, 0), scalars)
    with raises(ValueError, "all_to_all: split_dimension must be in [0, 0)"):
        traced(lambda x: xo.all_to_all(x, 0, 0), scalars)


def test_operands_of_a_tuple_of_blocks():
    with raises(
        ValueError, "operands must be as many as a replica group has members, 8"
    ):
        traced(lambda x: xo.all_to_all_tuple([x, x]))
    with raises(TypeError, "all_to_all_tuple: operands must have one shape"):
        traced(lambda x: xo.all_to_all_tuple([x] * 7 + [x[0]]))
    with raises(
        TypeError, "operands must have the same element type, got float32, int32"
    ):
        traced(lambda x: xo.all_to_all_tuple([x] * 7 + [x.astype("int32")]))
    with raises(TypeError, "all_to_all_tuple: missing a required argument"):
        traced(lambda x: xo.all_to_all_tuple(x))
    with raises(TypeError, "all_to_all_tuple: got an unexpected keyword argument"):
        traced(lambda x: xo.all_to_all_tuple([x] * 8, split_count=8))


# Pairs


PERMUTES = {
    "collective_permute": xo.collective_permute,
    "collective_permute_start": xo.collective_permute_start,
    "multi_collective_permute": lambda x, pairs: xo.multi_collective_permute(
        [x], pairs
    ),
    "send": lambda x, pairs: collectives.send(x, 1, pairs),
}


@pytest.mark.parametrize("name", PERMUTES)
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (0, 2)], "hold every source at most once, got 0 more than once in"),
        ([(0, 1), (2, 1)], "hold every target at most once, got 1 more than once in"),
        (
            [(0, 8)],
            "hold ids in [0, 8), of the replicas along ('i',), got 8 in {{0,8}}",
        ),
        ([(-1, 0)], "hold ids in [0, 8), of the replicas along ('i',), got -1 in"),
        ([(0, 1, 2)], "hold pairs, got (0, 1, 2) in {{0,1,2}}"),
        ([(0,)], "hold pairs, got (0,) in {{0}}"),
    ],
)
def test_pairs(name, pairs, message):
    with raises(ValueError, f"{name}: source_target_pairs must {message}"):
        traced(lambda x: PERMUTES[name](x, pairs))


def test_pairs_are_pairs_of_integers():
    rule = "collective_permute: source_target_pairs"
    with raises(TypeError, f"{rule} must be a sequence of pairs of replica ids"):
        traced(lambda x: xo.collective_permute(x, 1))
    with raises(ValueError, f"{rule} must be pairs such as '{{{{0,1}},{{1,2}}}}'"):
        traced(lambda x: xo.collective_permute(x, "0,1"))
    with raises(TypeError, f"{rule}[0] must be a sequence of integers, got int 0"):
        traced(lambda x: xo.collective_permute(x, [0, 1]))
    with raises(TypeError, f"{rule}[0][1] must be an integer, got float 1.0"):
        traced(lambda x: xo.collective_permute(x, [(0, 1.0)]))
    with raises(TypeError, "collective_permute: inplace must be a bool, got int 1"):
        traced(lambda x: xo.collective_permute(x, [(0, 1)], inplace=1))


# Operands, channels and what has no effect


@pytest.mark.parametrize("name", ["all_gather", "all_to_all", "collective_broadcast"])
def test_operands_are_arrays(name):
    call = CALLS[name]
    with raises(TypeError, f"{name}: operand must be a jax.Array, a numpy array or a"):
        traced(lambda x: call("text"))
    with raises(TypeError, f"{name}: operand must be a jax.Array, a numpy array or a"):
        traced(lambda x: call(None))
    with raises(TypeError, f"{name}: operand[1] must be a jax.Array"):
        traced(lambda x: call((x, "text")))
    with raises(TypeError, f"{name}: operand must be an array of"):
        traced(lambda x: call(jax.random.key(0)))


BOUNDED = {
    **{
        name: CALLS[name] for name in ("all_gather", "all_to_all", "collective_permute")
    },
    "collective_broadcast": xo.collective_broadcast,
    "all_reduce": lambda x: xo.all_reduce(x, xo.add),
    "cross_replica_sum": xo.cross_replica_sum,
    "reduce_scatter": lambda x: xo.reduce_scatter(x, xo.add, 0),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_operands_have_static_sizes(name):
    """The size of a BoundedArray is data of a pytree, and would be added up."""
    with raises(TypeError, f"{name}: operand must be an array of static size"):
        traced(lambda x: BOUNDED[name](xo.set_dimension_size(x, 3, 0)))
    with raises(TypeError, f"{name}: operand[1] must be an array of static size"):
        traced(lambda x: BOUNDED[name]((x, xo.set_dimension_size(x, 3, 0))))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("all_gather_tuple", lambda xs: xo.all_gather_tuple(xs, 0)),
        (
            "multi_collective_permute",
            lambda xs: xo.multi_collective_permute(xs, [(0, 1)]),
        ),
        ("collective_broadcast", lambda xs: xo.collective_broadcast(operands=xs)),
        (
            "collective_broadcast",
            lambda xs: xo.collective_broadcast([*xs, 0], has_dynamic_root=True),
        ),
    ],
)
def test_operands_are_numbers(name, call):
    with raises(TypeError, f"{name}: operands[1] must be an array of pred or"):
        traced(lambda x: call([x, jax.random.key(0)]))


def test_operands_are_a_sequence():
    for name in ("all_gather_tuple", "multi_collective_permute"):
        argument = 0 if name == "all_gather_tuple" else [(0, 1)]
        with raises(TypeError, f"{name}: operands must be a sequence of arrays, got"):
            traced(lambda x, n=name, a=argument: getattr(xo, n)(x, a))
        with raises(ValueError, f"{name}: operands must hold at least one array"):
            traced(lambda x, n=name, a=argument: getattr(xo, n)([], a))


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("send", "replica_id")])
def test_channels(name):
    call = CALLS[name]
    with raises(
        ValueError, f"{name}: channel_id must be a channel of type DEVICE_TO_D"
    ):
        traced(lambda x: call(x, channel_id=xo.ChannelHandle(1, "HOST_TO_DEVICE")))
    with raises(ValueError, f"{name}: channel_id"):
        traced(lambda x: call(x, channel_id=-1))
    with raises(TypeError, f"{name}: channel_id"):
        traced(lambda x: call(x, channel_id=1.5))
    for channel in (0, 7, xo.ChannelHandle(1, "DEVICE_TO_DEVICE")):
        traced(lambda x, channel=channel: call(x, channel_id=channel))


def test_layouts_are_checked_and_ignored():
    for name in EQUAL_ONLY:
        call = WITH_GROUPS[name]
        with raises(ValueError, f"{name}: layout"):
            traced(lambda x, call=call: call(x, layout=(0, 0)))
        with raises(TypeError, f"{name}: layout"):
            traced(lambda x, call=call: call(x, layout=3.5))
        for layout in ((0, 1), "{1,0}", xo.Layout((0, 1))):
            traced(lambda x, call=call, layout=layout: call(x, layout=layout))
    with raises(
        TypeError, "all_gather: use_global_device_ids must be a bool, got int 1"
    ):
        traced(lambda x: xo.all_gather(x, 0, use_global_device_ids=1))


def test_dynamic_root():
    def call(*operands, **options):
        return traced(
            lambda x: xo.collective_broadcast(
                operands=[x, *operands], has_dynamic_root=True, **options
            )
        )

    with raises(
        ValueError, "operands must be two or more with has_dynamic_root, got 1"
    ):
        call()
    with raises(
        TypeError, "collective_broadcast: operands[1] must be an array of sign"
    ):
        call(1.0)
    with raises(TypeError, "operands[1] must have one element or shape (1,) with"):
        call(jnp.arange(2))
    for roots in (jnp.arange(3), jnp.zeros((2, 1), jnp.int32)):
        with raises(TypeError, "operands[2] must have one element or shape (2,) with"):
            call(1.0, roots)
    with raises(TypeError, "collective_broadcast: has_dynamic_root must be a bool"):
        traced(lambda x: xo.collective_broadcast(operands=[x], has_dynamic_root=1))
    with raises(TypeError, "collective_broadcast: got an unexpected keyword argument"):
        traced(lambda x: xo.collective_broadcast(x, no_such=1))


# Halves


def test_halves_belong_together():
    gather = "all_gather_done: context must be a result of all_gather_start, got "
    with raises(TypeError, gather + "one of collective_permute_start"):
        traced(lambda x: xo.all_gather_done(xo.collective_permute_start(x, [])))
    with raises(TypeError, gather + "float32[8, 2]"):
        traced(xo.all_gather_done)
    permute = "collective_permute_done: context must be a result of collective_permute_"
    with raises(TypeError, permute):
        traced(lambda x: xo.collective_permute_done(xo.all_gather_start(x, 0)))
    with raises(
        TypeError, "recv: handle must be a result of send, got one of all_gath"
    ):
        traced(lambda x: collectives.recv("f32[8,2]", xo.all_gather_start(x, 0)))


def test_what_is_received_is_what_was_sent():
    def transfer(shape):
        return traced(
            lambda x: collectives.recv(shape, collectives.send(x, 1, [(0, 1)]))
        )

    transfer("f32[8,2]")
    transfer("f32[8,2]{0,1}")  # the layout has no effect
    transfer(jax.ShapeDtypeStruct((8, 2), np.float32))
    rule = "recv: shape must be that of what was sent, f32[8,2], got "
    with raises(TypeError, rule + "f32[2,8]"):
        transfer("f32[2,8]")
    with raises(TypeError, rule + "s32[8,2]"):
        transfer("s32[8,2]")
    with raises(TypeError, rule + "(f32[8,2])"):
        transfer("(f32[8,2])")
    with raises(ValueError, "recv: shape"):
        transfer("no shape")
    with raises(TypeError, "send: channel_id"):
        traced(lambda x: collectives.send(x, None, [(0, 1)]))


def test_partition_id_has_one_shape():
    with raises(ValueError, "partition_id: shape must be u32[], got s32[]"):
        xo.partition_id("s32[]")
    with raises(ValueError, "partition_id: shape must be u32[], got u32[1]"):
        xo.partition_id("u32[1]")
    assert xo.partition_id("u32[]") == 0
    assert xo.partition_id(jax.ShapeDtypeStruct((), np.uint32)).dtype == np.uint32


# What ends the process with the operations of JAX and XLA


def test_two_bit_integers_and_wrong_groups_do_not_end_the_process():
    """XLA's gather of two-bit integers writes beyond its result."""
    code = """
import jax, jax.numpy as jnp, ml_dtypes, numpy as np
from jax.sharding import PartitionSpec as P
import xlaops as xo

mesh = jax.make_mesh((8,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
groups = [[0, 2, 4, 6], [1, 3, 5, 7]]

def run(function, x):
    return np.asarray(jax.jit(jax.shard_map(
        function, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(x))

for dtype in (ml_dtypes.int2, ml_dtypes.uint2):
    x = jnp.asarray(np.arange(512) % 2, dtype)
    for _ in range(5):
        y = run(lambda v: xo.all_gather(v, 0, replica_groups=groups), x)
        rows = np.asarray(x).reshape(8, 64)
        expected = np.concatenate([rows[groups[k % 2]].reshape(-1) for k in range(8)])
        assert y.dtype == dtype
        np.testing.assert_array_equal(y.astype(int), expected.astype(int))
        for f in (
            lambda v: xo.all_to_all(v, 0, 0, replica_groups=groups),
            lambda v: xo.collective_permute(v, [(0, 1)]),
            lambda v: xo.collective_broadcast(v, groups),
            lambda v: xo.collective_broadcast(
                operands=[v, 1], replica_groups=groups, has_dynamic_root=True)[0],
        ):
            run(f, x)
for wrong in ([[0, 1]], [[0, 0]], [[0, 9]], [[0, 1, 2], [3, 4, 5, 6, 7]], [[]]):
    for f in (
        lambda v: xo.all_gather(v, 0, replica_groups=wrong),
        lambda v: xo.all_to_all(v, 0, 0, replica_groups=wrong),
    ):
        try:
            run(f, jnp.zeros(64))
        except ValueError as error:
            assert "replica_groups must" in str(error)
        else:
            raise AssertionError(wrong)
print("done")
"""
    child = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=150,
        env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"},
    )
    assert (child.returncode, child.stdout) == (0, "done\n"), child.stderr
