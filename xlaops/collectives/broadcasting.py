"""One replica's array for all of its group."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, compat
from ..core.compat import ad, batching, mlir, new_primitive
from ..core.typing import AxisNames, ChannelHandleLike, ReplicaGroupsLike
from . import axes as mapped
from . import exchange, groups
from .axes import Axes
from .groups import Groups, Participants


@overload
def collective_broadcast(
    operand: Any,
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Any: ...


@overload
def collective_broadcast(
    operands: Sequence[ArrayLike],
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    has_dynamic_root: bool = False,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> tuple[Array, ...]: ...


def collective_broadcast(*args, **kwargs):  # noqa: D417
    """The operand of the first replica of a group, for all of the group.

    There are two forms: ``collective_broadcast(operand, replica_groups, channel_id)``
    and ``collective_broadcast(operands, replica_groups, channel_id,
    has_dynamic_root)``. XLA has the operation on GPUs, where all groups have one size
    and hold all replicas; elsewhere the operand is passed on from replica to replica,
    in as many rounds as doubling takes. No bit of it changes.

    Args:
      operand: an array, or a pytree of arrays.
      replica_groups: groups of replica ids, which may be of several sizes; replicas in
        no group get zeros; empty is one group of all replicas.
      channel_id: a channel between devices; with ``partition_axes`` it says that ids
        are those of partitions of one replica.
      operands: arrays.
      has_dynamic_root: whether the last one of two or more operands is the position of
        the sender in its group, and no operand to send: an integer of rank 0 or of one
        element, or a vector of one for each operand that is sent. It must be in range
        and the same for the whole group.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.
      partition_axes: mapped axes that count partitions.

    Returns:
      The operand's type; in the other form a tuple of the types of the operands.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays, or the position is no
        integer, or a vector of another length.
      ValueError: if the groups are not disjoint ones of replicas.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> send = lambda x: xo.collective_broadcast(x, [[2, 0]])
      >>> print(jax.vmap(send, axis_name="i")(jnp.array([7, 8, 9])))
      [9 0 9]

    Source: *CollectiveBroadcast* in XLA's Operation semantics;
    ``stablehlo.collective_broadcast``.
    """
    several = {"operands", "has_dynamic_root"} & set(kwargs) or len(args) > 3
    form = _of_several if several else _of_one
    try:
        bound = inspect.signature(form).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"collective_broadcast: {error}") from None
    return form(*bound.args, **bound.kwargs)


def _of_one(
    operand: Any,
    replica_groups: Any = (),
    channel_id: Any = None,
    *,
    axis_name: Any = None,
    partition_axes: Any = (),
) -> Any:
    who = _participants(replica_groups, channel_id, axis_name, partition_axes)
    return exchange.of_each(
        "collective_broadcast", operand, lambda x: broadcast(x, who), who.axes
    )


def _of_several(
    operands: Any,
    replica_groups: Any = (),
    channel_id: Any = None,
    has_dynamic_root: Any = False,
    *,
    axis_name: Any = None,
    partition_axes: Any = (),
) -> tuple[Array, ...]:
    operation = "collective_broadcast"
    is_dynamic = checks.boolean(operation, "has_dynamic_root", has_dynamic_root)
    who = _participants(replica_groups, channel_id, axis_name, partition_axes)
    arrays = checks.arrays(operation, "operands", operands)
    checks.numbers(operation, "operands", arrays)
    if not is_dynamic:
        return exchange.of_each(
            operation, tuple(arrays), lambda x: broadcast(x, who), who.axes
        )
    if len(arrays) < 2:
        raise ValueError(
            f"{operation}: operands must be two or more with has_dynamic_root, got "
            f"{len(arrays)}"
        )
    *arrays, roots = arrays
    count = len(arrays)
    checks.element_kind(operation, f"operands[{count}]", roots, "iu")
    if roots.size != 1 and roots.shape != (count,):
        raise TypeError(
            f"{operation}: operands[{count}] must have one element or shape "
            f"({count},) with has_dynamic_root, got {checks.describe(roots)}"
        )
    positions = lax.convert_element_type(roots.reshape(-1), "int32")
    return tuple(
        exchange.of_each(
            operation,
            x,
            lambda x, i=i % roots.size: _from_position(x, who, positions[i]),
            who.axes,
        )
        for i, x in enumerate(arrays)
    )


def _participants(
    replica_groups: Any, channel_id: Any, axis_name: Any, partition_axes: Any
) -> Participants:
    return groups.participants(
        "collective_broadcast",
        replica_groups,
        axis_name=axis_name,
        partition_axes=partition_axes,
        channel_id=channel_id,
        by_partition=True,
        cover=False,
    )


def broadcast(x: Array, who: Participants) -> Array:
    """The array of the first member of one's group; zeros for who is in none."""
    axes, members = who.axes, who.groups
    if members.size == 1 or not x.size:
        return _inside(x, members, axes)
    if mapped.are_manual(axes):
        y = mapped.vary(exchange.sendable(x), axes)
        y = _broadcast.bind(y, axes=axes, groups=members)
        return exchange.received(y, x.dtype)
    return exchange.taken(x, axes, members.members[:, 0], members.lengths > 0)


def _from_position(x: Array, who: Participants, position: Array) -> Array:
    """The array of the member at a position of one's group; zeros in none."""
    everyone = exchange.members(x, who)
    at = mapped.vary(position, who.axes)
    y = lax.dynamic_index_in_dim(everyone, at, keepdims=False)
    return _inside(y, who.groups, who.axes)


def _inside(x: Array, members: Groups, axes: Axes) -> Array:
    """The array for those in a group, and zeros for the others."""
    if members.cover:
        return x
    is_inside = mapped.lookup(members.lengths > 0, axes)
    return exchange.choose(is_inside, x, exchange.zeros(x))


def _rounds(members: Groups) -> Iterator[list[tuple[int, int]]]:
    """Who sends to whom in each round: those that have the array, to as many others."""
    done = 1
    while done < members.size:
        yield [
            pair
            for ids in members.ids
            for pair in zip(ids[:done], ids[done:], strict=False)
        ]
        done *= 2


def _passed_on(x: Array, *, axes: Axes, groups: Groups) -> Array:
    for pairs in _rounds(groups):
        got = exchange.permuted(x, axes, tuple(pairs))
        x = exchange.choose(_are_targets(pairs, axes), got, x)
    return _inside(x, groups, axes)


def _passed_back(cotangent: Array, *, axes: Axes, groups: Groups) -> Array:
    """The transpose: what each got goes back, and is added up where it came from."""
    cotangent = _inside(cotangent, groups, axes)
    for pairs in reversed(list(_rounds(groups))):
        back = exchange.permuted(cotangent, axes, tuple((t, s) for s, t in pairs))
        cotangent = exchange.choose(
            _are_targets(pairs, axes),
            exchange.zeros(cotangent),
            lax.add(cotangent, back),
        )
    return cotangent


def _are_targets(pairs: Sequence[tuple[int, int]], axes: Axes) -> Array:
    ids = np.arange(mapped.size(axes))
    return mapped.lookup(np.isin(ids, [target for _, target in pairs]), axes)


# A primitive, because XLA has the operation on GPUs alone. It also keeps the tables
# from being saved for the reverse derivative, which JAX cannot do where one shard_map
# is inside of another.

_broadcast = new_primitive("collective_broadcast")


@_broadcast.def_abstract_eval
def _broadcast_type(x: Any, *, axes: Axes, groups: Groups) -> Any:
    return x.update(weak_type=False)


_pass_on = mlir.lower_fun(_passed_on, multiple_results=False)


def _broadcast_on_gpu(ctx: Any, x: Any, *, axes: Axes, groups: Groups) -> Any:
    if not groups.are_equal or not groups.cover:
        return _pass_on(ctx, x, axes=axes, groups=groups)
    # The same groups for every place along the other axes of the mesh.
    positions = compat.mesh_positions(ctx, axes)
    ids = [list(place[list(g)]) for place in positions.T for g in groups.ids]
    return [compat.collective_broadcast(x, np.array(ids))]


def _broadcast_transpose(
    cotangent: Any, x: Any, *, axes: Axes, groups: Groups
) -> list[Any]:
    return [_passed_back(cotangent, axes=axes, groups=groups)]


def _broadcast_batch(args: Any, dims: Any, **params: Any) -> tuple[Array, int]:
    return _broadcast.bind(*args, **params), dims[0]


mlir.register_lowering(_broadcast, _pass_on)
for _platform in ("cuda", "rocm"):
    mlir.register_lowering(_broadcast, _broadcast_on_gpu, platform=_platform)
ad.deflinear2(_broadcast, _broadcast_transpose)
batching.primitive_batchers[_broadcast] = _broadcast_batch
