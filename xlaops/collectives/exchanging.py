"""Blocks that all members of a group exchange with one another."""

import inspect
from collections.abc import Sequence
from typing import Any, overload

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from ..core import checks
from ..core.typing import (
    AxisNames,
    ChannelHandleLike,
    LayoutLike,
    ReplicaGroupsLike,
)
from . import axes as mapped
from . import exchange, groups
from .groups import Participants


def all_to_all(
    operand: Any,
    split_dimension: int,
    concat_dimension: int,
    split_count: int | None = None,
    replica_groups: ReplicaGroupsLike = (),
    layout: LayoutLike | None = None,
    channel_id: ChannelHandleLike | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Any:
    """Blocks of the operands of a group: the one for this replica from each member.

    Every replica splits its operand into as many blocks as its group has members and
    sends block i to the member at position i. What it receives it puts together in the
    order of the group. With a tuple that happens to every element of it.

    Args:
      operand: an array, or a pytree of arrays.
      split_dimension: the dimension that is split.
      concat_dimension: the dimension along which blocks are put together.
      split_count: the number of blocks, which is that of the replicas of a group; None
        leaves it to the groups.
      replica_groups: groups of replica ids, all of one size, in the order of the
        blocks; empty is one group of all replicas.
      layout: checked, and without effect.
      channel_id: a channel between devices; with ``partition_axes`` it says that ids
        are those of partitions of one replica.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.
      partition_axes: mapped axes that count partitions.

    Returns:
      The operand's type, with ``split_dimension`` so many times smaller, and
      ``concat_dimension`` larger, as there are blocks.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays.
      ValueError: if a dimension is out of range or cannot be split, or the groups are
        not equal ones of all replicas, each with ``split_count`` members.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> exchange = lambda x: xo.all_to_all(x, 0, 0)
      >>> print(jax.vmap(exchange, axis_name="i")(jnp.arange(9).reshape(3, 3)))
      [[0 3 6]
       [1 4 7]
       [2 5 8]]

    Source: *AllToAll* in XLA's Operation semantics; ``stablehlo.all_to_all``.
    """
    return _all_to_all(
        "all_to_all",
        operand,
        split_dimension,
        concat_dimension,
        split_count,
        replica_groups,
        layout,
        channel_id,
        axis_name,
        partition_axes,
    )


@overload
def all_to_all_tuple(
    operands: Sequence[ArrayLike],
    replica_groups: ReplicaGroupsLike = (),
    layout: LayoutLike | None = None,
    channel_id: ChannelHandleLike | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> tuple[Array, ...]: ...


@overload
def all_to_all_tuple(
    operand: ArrayLike,
    split_dimension: int,
    concat_dimension: int,
    split_count: int | None = None,
    replica_groups: ReplicaGroupsLike = (),
    layout: LayoutLike | None = None,
    channel_id: ChannelHandleLike | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Array: ...


def all_to_all_tuple(*args, **kwargs):  # noqa: D417
    """Arrays from all members of a group, of which each sent one to every member.

    There are two forms. In ``all_to_all_tuple(operands, replica_groups, layout,
    channel_id)`` operand i goes to the member at position i. The other one,
    ``all_to_all_tuple(operand, split_dimension, concat_dimension, ...)``, does what
    `all_to_all` does.

    Args:
      operands: arrays of one type, as many as a group has members.
      replica_groups: groups of replica ids, all of one size.
      layout: checked, and without effect.
      channel_id: a channel between devices, or None.
      operand: an array.
      split_dimension: the dimension that is split.
      concat_dimension: the dimension along which blocks are put together.
      split_count: the number of blocks, or None.
      axis_name: the mapped axes that replicas are counted along, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      A tuple of what came from each member of the group, in its order; in the other
      form one array.

    Raises:
      NameError: as `all_to_all` does.
      TypeError: if ``operands`` is no sequence of arrays of one type.
      ValueError: if there are not as many operands as members, or as `all_to_all` does.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> exchange = lambda x: xo.all_to_all_tuple([x, 10 * x])
      >>> x, y = jax.vmap(exchange, axis_name="i")(jnp.arange(1, 3))
      >>> print(x, y)
      [ 1 10] [ 2 20]

    Source: ``AllToAllTuple`` of ``xla_builder.h``, a form of *AllToAll* in XLA's
    Operation semantics; ``stablehlo.all_to_all``.
    """
    first = args[0] if args else None
    several = "operands" in kwargs or isinstance(first, (tuple, list))
    form = _all_to_all_of_several if several else _all_to_all_of_one
    try:
        bound = inspect.signature(form).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"all_to_all_tuple: {error}") from None
    return form(*bound.args, **bound.kwargs)


def _all_to_all_of_several(
    operands: Any,
    replica_groups: Any = (),
    layout: Any = None,
    channel_id: Any = None,
    *,
    axis_name: Any = None,
    partition_axes: Any = (),
) -> tuple[Array, ...]:
    operation = "all_to_all_tuple"
    who = _participants(
        operation, replica_groups, channel_id, axis_name, partition_axes
    )
    groups.layout(operation, "layout", layout)
    arrays = checks.arrays(operation, "operands", operands)
    checks.numbers(operation, "operands", arrays)
    checks.same_shape(operation, "operands", arrays)
    types = {x.dtype for x in arrays}
    if len(types) > 1:
        raise TypeError(
            f"{operation}: operands must have the same element type, got "
            f"{', '.join(sorted(map(str, types)))}"
        )
    if len(arrays) != who.groups.size:
        raise ValueError(
            f"{operation}: operands must be as many as a replica group has members, "
            f"{who.groups.size}, got {len(arrays)}"
        )
    x = jnp.stack([mapped.vary(x, who.axes) for x in arrays])
    return tuple(exchange.blocks(x, who, 0, 0))


def _all_to_all_of_one(
    operand: Any,
    split_dimension: Any,
    concat_dimension: Any,
    split_count: Any = None,
    replica_groups: Any = (),
    layout: Any = None,
    channel_id: Any = None,
    *,
    axis_name: Any = None,
    partition_axes: Any = (),
) -> Array:
    operation = "all_to_all_tuple"
    return _all_to_all(
        operation,
        checks.array(operation, "operand", operand),
        split_dimension,
        concat_dimension,
        split_count,
        replica_groups,
        layout,
        channel_id,
        axis_name,
        partition_axes,
    )


def _all_to_all(
    operation: str,
    operand: Any,
    split_dimension: Any,
    concat_dimension: Any,
    split_count: Any,
    replica_groups: Any,
    layout: Any,
    channel_id: Any,
    axis_name: Any,
    partition_axes: Any,
) -> Any:
    who = _participants(
        operation, replica_groups, channel_id, axis_name, partition_axes
    )
    groups.group_size(operation, "split_count", split_count, who.groups)
    groups.layout(operation, "layout", layout)
    split = checks.integer(operation, "split_dimension", split_dimension)
    concat = checks.integer(operation, "concat_dimension", concat_dimension)

    def swap(x: Array) -> Array:
        checks.dimension(operation, "split_dimension", split, x.ndim)
        checks.dimension(operation, "concat_dimension", concat, x.ndim)
        if x.shape[split] % who.groups.size:
            raise ValueError(
                f"{operation}: split_dimension must have a size that the "
                f"{who.groups.size} replicas of a group divide, got {x.shape[split]} "
                f"of {checks.describe(x)}"
            )
        return exchange.blocks(x, who, split, concat)

    return exchange.of_each(operation, operand, swap, who.axes)


def _participants(
    operation: str,
    replica_groups: Any,
    channel_id: Any,
    axis_name: Any,
    partition_axes: Any,
) -> Participants:
    return groups.participants(
        operation,
        replica_groups,
        axis_name=axis_name,
        partition_axes=partition_axes,
        channel_id=channel_id,
        by_partition=True,
        equal=True,
    )
