"""Operations between replicas."""

from .record import Record, in_family, row, snake_case


def _start_and_done(name: str, parameters: str) -> tuple[Record, Record]:
    """The two halves into which the compiler splits a collective."""
    return (
        row(
            "implemented",
            f"{name}Start",
            parameters,
            section=name,
            note=f"Found in HLO only; starts {name} and gives a future.",
        ),
        row(
            "implemented",
            f"{name}Done",
            "context",
            section=name,
            note=f"Found in HLO only; waits for the future of {name}Start and gives "
            "its value.",
        ),
    )


def _with_device_list(
    name: str,
    parameters: str,
    stablehlo: str,
    lax: str,
) -> Record:
    """The form of a collective whose groups come as a device list."""
    return row(
        "implemented",
        f"{name}WithDeviceList",
        parameters,
        section=name,
        stablehlo=stablehlo,
        lax=lax,
        function=snake_case(name),
        source="header",
        note=f"{name} of a device list, which replica_groups takes as HLO writes it, "
        "such as '[2,4]<=[4,2]T(1,0)'.",
    )


_GATHER = (
    "all_gather_dimension shard_count replica_groups channel_id layout "
    "use_global_device_ids"
)
_REDUCE = (
    "computation replica_groups channel_id shape_with_layout use_global_device_ids"
)
_SCATTER = (
    "operand computation scatter_dimension shard_count replica_groups channel_id "
    "layout use_global_device_ids"
)
_TO_ALL = (
    "operand split_dimension concat_dimension split_count replica_groups layout "
    "channel_id"
)
_RAGGED = (
    "input input_offsets send_sizes output output_offsets recv_sizes replica_groups "
    "channel_id"
)

COLLECTIVES = in_family(
    "collectives",
    row(
        "implemented",
        "AllGather",
        f"operand {_GATHER}",
        stablehlo="stablehlo.all_gather",
        lax="all_gather",
        note="Replica groups may be any partition of the replicas, where lax names "
        "mesh axes; the result is always tiled.",
    ),
    *_start_and_done("AllGather", f"operand {_GATHER}"),
    row(
        "implemented",
        "AllReduce",
        f"operand {_REDUCE}",
        stablehlo="stablehlo.all_reduce",
        lax="psum pmax pmin",
        note="Any computation, differentiable, where lax has the sum, the maximum and "
        "the minimum.",
    ),
    *_start_and_done("AllReduce", f"operand {_REDUCE}"),
    row(
        "implemented",
        "CrossReplicaSum",
        "operand replica_groups",
        stablehlo="stablehlo.cross-replica-sum stablehlo.all_reduce",
        lax="psum",
        note="AllReduce with an addition; StableHLO's own operation is deprecated and "
        "does not run between partitions.",
    ),
    row(
        "implemented",
        "AllToAll",
        _TO_ALL,
        stablehlo="stablehlo.all_to_all",
        lax="all_to_all",
        note="Always tiled, which lax is not unless told; layout comes before "
        "channel_id here, other than in AllGather.",
    ),
    row(
        "implemented",
        "RaggedAllToAll",
        _RAGGED,
        stablehlo="stablehlo.custom_call",
        lax="ragged_all_to_all",
        note="output is the fourth operand, which is the second in lax; also runs on "
        "CPUs, where XLA's own does not.",
    ),
    row(
        "implemented",
        "CollectiveBroadcast",
        "operand replica_groups channel_id",
        stablehlo="stablehlo.collective_broadcast",
        lax="pbroadcast",
        note="Replicas in no group get zeros; also runs on CPUs, where lax has no "
        "lowering.",
    ),
    row(
        "implemented",
        "CollectivePermute",
        "operand source_target_pairs channel_id inplace",
        stablehlo="stablehlo.collective_permute",
        lax="ppermute",
        note="Replicas that are no target get zeros, also under vmap, where lax asks "
        "for a full permutation; inplace, absent from the header, changes nothing.",
    ),
    *_start_and_done(
        "CollectivePermute", "operand source_target_pairs channel_id inplace"
    ),
    row(
        "implemented",
        "PartitionID",
        "shape",
        stablehlo="stablehlo.partition_id",
        lax="axis_index",
        note="Zero unless partition axes are named, as all manual axes count as "
        "replicas; XlaBuilder's name is BuildPartitionId.",
    ),
    row(
        "implemented",
        "ReduceScatter",
        _SCATTER,
        stablehlo="stablehlo.reduce_scatter",
        lax="psum_scatter",
        note="Any computation, where lax has the sum; always tiled.",
    ),
    row(
        "implemented",
        "ReplicaId",
        "",
        stablehlo="stablehlo.replica_id",
        lax="axis_index",
        note="The row-major index over all manual mesh axes as U32; StableHLO's own is "
        "zero on every device under JAX.",
    ),
    # Only in the header: several operands in one call.
    row(
        "implemented",
        "AllGatherTuple",
        f"operands {_GATHER}",
        section="AllGather",
        stablehlo="stablehlo.all_gather",
        lax="all_gather",
        source="header",
        note="AllGather of every operand.",
    ),
    row(
        "implemented",
        "AllReduceTuple",
        f"operand {_REDUCE}",
        section="AllReduce",
        stablehlo="stablehlo.all_reduce",
        lax="psum",
        source="header",
        note="AllReduce of every operand.",
    ),
    row(
        "implemented",
        "AllToAllTuple",
        "operands replica_groups layout channel_id",
        variant="operands",
        section="AllToAll",
        stablehlo="stablehlo.all_to_all",
        lax="all_to_all",
        source="header",
        note="Operand i goes to the replica at position i of the group; gives a tuple.",
    ),
    row(
        "implemented",
        "AllToAllTuple",
        _TO_ALL,
        variant="split",
        section="AllToAll",
        stablehlo="stablehlo.all_to_all",
        lax="all_to_all",
        source="header",
        note="Gives what AllToAll gives: XLA's builder puts the pieces together too.",
    ),
    row(
        "implemented",
        "CollectiveBroadcast",
        "operands replica_groups channel_id has_dynamic_root",
        variant="multi",
        section="CollectiveBroadcast",
        stablehlo="stablehlo.collective_broadcast",
        lax="pbroadcast",
        source="header",
        note="CollectiveBroadcast of every operand; with has_dynamic_root the last one "
        "is the sender's position in its group, or one for each operand.",
    ),
    row(
        "implemented",
        "MultiCollectivePermute",
        "operands source_target_pairs channel_id",
        section="CollectivePermute",
        stablehlo="stablehlo.collective_permute",
        lax="ppermute",
        source="header",
        note="CollectivePermute of every operand.",
    ),
    # Only in the header: groups as a list of devices in iota or mesh form.
    _with_device_list(
        "AllGather", f"operand {_GATHER}", "stablehlo.all_gather", "all_gather"
    ),
    _with_device_list(
        "AllReduce", f"operand {_REDUCE}", "stablehlo.all_reduce", "psum pmax pmin"
    ),
    _with_device_list(
        "ReduceScatter", _SCATTER, "stablehlo.reduce_scatter", "psum_scatter"
    ),
    _with_device_list("AllToAll", _TO_ALL, "stablehlo.all_to_all", "all_to_all"),
    _with_device_list(
        "RaggedAllToAll",
        _RAGGED,
        "stablehlo.custom_call",
        "ragged_all_to_all",
    ),
    _with_device_list(
        "CollectiveBroadcast",
        "operand replica_groups channel_id",
        "stablehlo.collective_broadcast",
        "pbroadcast",
    ),
)

RECORDS = COLLECTIVES
