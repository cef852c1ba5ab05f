"""Arrays of all members of a group, put together."""

from collections.abc import Sequence
from typing import Any

from jax import Array
from jax.typing import ArrayLike

from ..core import checks
from ..core.typing import (
    AxisNames,
    ChannelHandleLike,
    LayoutLike,
    ReplicaGroupsLike,
)
from . import exchange, futures, groups
from .futures import Future


def all_gather(
    operand: Any,
    all_gather_dimension: int,
    shard_count: int | None = None,
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    layout: LayoutLike | None = None,
    use_global_device_ids: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Any:
    """The operands of all replicas of a group, one behind the other.

    With a tuple every element of it is gathered. Integers of two bits travel as those
    of eight, here and in the other collectives: XLA's own handling of them is not safe.

    Args:
      operand: an array, or a pytree of arrays, of any rank but 0.
      all_gather_dimension: the dimension along which the operands are put together.
      shard_count: the number of replicas of a group; None leaves it to the groups.
      replica_groups: groups of replica ids, all of one size, in the order in which the
        operands are put together; empty is one group of all replicas.
      channel_id: a channel between devices; with ``partition_axes`` it says that the
        members of a group are its replicas in all their partitions.
      layout: checked, and without effect.
      use_global_device_ids: whether ids are ``replica * number of partitions +
        partition``.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.
      partition_axes: mapped axes that count partitions.

    Returns:
      The operand's type with the dimension as many times as large as a group.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays.
      ValueError: if the dimension is out of range, or the groups are not equal ones of
        all replicas, each with ``shard_count`` members.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> gather = lambda x: xo.all_gather(x, 0, replica_groups=[[0, 3], [2, 1]])
      >>> print(jax.vmap(gather, axis_name="i")(jnp.arange(4).reshape(4, 1)))
      [[0 3]
       [2 1]
       [2 1]
       [0 3]]

    Source: *AllGather* in XLA's Operation semantics; ``stablehlo.all_gather``.
    """
    return _all_gather(
        "all_gather",
        operand,
        all_gather_dimension,
        shard_count,
        replica_groups,
        channel_id,
        layout,
        use_global_device_ids,
        axis_name,
        partition_axes,
    )


def all_gather_tuple(
    operands: Sequence[ArrayLike],
    all_gather_dimension: int,
    shard_count: int | None = None,
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    layout: LayoutLike | None = None,
    use_global_device_ids: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> tuple[Array, ...]:
    """The operands of all replicas of a group, one behind the other, each by itself.

    See `all_gather`.

    Args:
      operands: arrays of any rank but 0.
      all_gather_dimension: the dimension along which the operands are put together.
      shard_count: the number of replicas of a group, or None.
      replica_groups: groups of replica ids, all of one size.
      channel_id: a channel between devices, or None.
      layout: checked, and without effect.
      use_global_device_ids: whether ids are those of devices.
      axis_name: the mapped axes that replicas are counted along, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      A tuple of arrays.

    Raises:
      NameError, ValueError: as `all_gather` does.
      TypeError: if ``operands`` is no sequence of arrays.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> gather = lambda x: xo.all_gather_tuple([x, -x], 0)
      >>> x, y = jax.vmap(gather, axis_name="i")(jnp.arange(2).reshape(2, 1))
      >>> print((x + y).sum())
      0

    Source: ``AllGatherTuple`` of ``xla_builder.h``, a form of *AllGather* in XLA's
    Operation semantics; ``stablehlo.all_gather``.
    """
    operation = "all_gather_tuple"
    arrays = checks.arrays(operation, "operands", operands)
    checks.numbers(operation, "operands", arrays)
    return _all_gather(
        operation,
        arrays,
        all_gather_dimension,
        shard_count,
        replica_groups,
        channel_id,
        layout,
        use_global_device_ids,
        axis_name,
        partition_axes,
    )


def all_gather_start(
    operand: Any,
    all_gather_dimension: int,
    shard_count: int | None = None,
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    layout: LayoutLike | None = None,
    use_global_device_ids: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Future:
    """A future of the operands of all replicas of a group, one behind the other.

    See `all_gather`. The compiler splits and overlaps collectives as it sees fit, also
    those that are not written in two halves.

    Args:
      operand: an array, or a pytree of arrays, of any rank but 0.
      all_gather_dimension: the dimension along which the operands are put together.
      shard_count: the number of replicas of a group, or None.
      replica_groups: groups of replica ids, all of one size.
      channel_id: a channel between devices, or None.
      layout: checked, and without effect.
      use_global_device_ids: whether ids are those of devices.
      axis_name: the mapped axes that replicas are counted along, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      What `all_gather_done` takes.

    Raises:
      NameError, TypeError, ValueError: as `all_gather` does.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> def gather(x):
      ...     future = xo.all_gather_start(x, 0)
      ...     return xo.all_gather_done(future)
      >>> print(jax.vmap(gather, axis_name="i")(jnp.arange(2).reshape(2, 1)))
      [[0 1]
       [0 1]]

    Source: *AllGather* in XLA's Operation semantics; ``stablehlo.all_gather``.
    """
    value = _all_gather(
        "all_gather_start",
        operand,
        all_gather_dimension,
        shard_count,
        replica_groups,
        channel_id,
        layout,
        use_global_device_ids,
        axis_name,
        partition_axes,
    )
    return Future("all_gather_start", value)


def all_gather_done(context: Future) -> Any:
    """The result of a gather that was started.

    Args:
      context: what `all_gather_start` returned.

    Returns:
      What `all_gather` returns.

    Raises:
      TypeError: if ``context`` is something else.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> gather = lambda x: xo.all_gather_done(xo.all_gather_start(x, 0))
      >>> print(jax.vmap(gather, axis_name="i")(jnp.arange(2).reshape(2, 1)))
      [[0 1]
       [0 1]]

    Source: *AllGather* in XLA's Operation semantics; ``stablehlo.all_gather``.
    """
    return futures.taken("all_gather_done", "context", "all_gather_start", context)


def _all_gather(
    operation: str,
    operand: Any,
    all_gather_dimension: Any,
    shard_count: Any,
    replica_groups: Any,
    channel_id: Any,
    layout: Any,
    use_global_device_ids: Any,
    axis_name: Any,
    partition_axes: Any,
) -> Any:
    who = groups.participants(
        operation,
        replica_groups,
        axis_name=axis_name,
        partition_axes=partition_axes,
        channel_id=channel_id,
        use_global_device_ids=use_global_device_ids,
        equal=True,
    )
    groups.group_size(operation, "shard_count", shard_count, who.groups)
    groups.layout(operation, "layout", layout)
    name = "all_gather_dimension"
    dimension = checks.integer(operation, name, all_gather_dimension)

    def gather(x: Array) -> Array:
        checks.dimension(operation, name, dimension, x.ndim)
        return exchange.gather(x, who, dimension)

    return exchange.of_each(operation, operand, gather, who.axes)
