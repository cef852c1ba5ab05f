"""Arrays that go from one replica to one other."""

from collections.abc import Sequence
from typing import Any

from jax import Array
from jax.typing import ArrayLike

from ..core import checks
from ..core.typing import AxisNames, ChannelHandleLike, SourceTargetPairsLike
from . import axes as mapped
from . import exchange, futures, groups
from .futures import Future


def collective_permute(
    operand: Any,
    source_target_pairs: SourceTargetPairsLike,
    channel_id: ChannelHandleLike | None = None,
    inplace: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Any:
    """The operand of the replica that sends to this one; zeros where none does.

    With a tuple every element of it is sent.

    Args:
      operand: an array, or a pytree of arrays.
      source_target_pairs: pairs of the ids of a replica that sends and of one that
        receives; no replica sends, or receives, twice.
      channel_id: a channel between devices; with ``partition_axes`` it says that ids
        are those of partitions of one replica.
      inplace: checked, and without effect.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.
      partition_axes: mapped axes that count partitions.

    Returns:
      An array of the operand's type, or a pytree of such.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays.
      ValueError: if an id is out of range, or is a source or a target twice.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> permute = lambda x: xo.collective_permute(x, [(0, 1), (1, 2)])
      >>> print(jax.vmap(permute, axis_name="i")(jnp.array([7, 8, 9])))
      [0 7 8]

    Source: *CollectivePermute* in XLA's Operation semantics;
    ``stablehlo.collective_permute``.
    """
    return permute(
        "collective_permute",
        operand,
        source_target_pairs,
        channel_id,
        inplace,
        axis_name,
        partition_axes,
    )


def multi_collective_permute(
    operands: Sequence[ArrayLike],
    source_target_pairs: SourceTargetPairsLike,
    channel_id: ChannelHandleLike | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> tuple[Array, ...]:
    """The operands of the replica that sends to this one; zeros where none does.

    See `collective_permute`.

    Args:
      operands: arrays.
      source_target_pairs: pairs of the ids of a replica that sends and of one that
        receives.
      channel_id: a channel between devices, or None.
      axis_name: the mapped axes that replicas are counted along, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      A tuple of arrays.

    Raises:
      NameError, ValueError: as `collective_permute` does.
      TypeError: if ``operands`` is no sequence of arrays.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> permute = lambda x: xo.multi_collective_permute([x, -x], [(0, 1), (1, 0)])
      >>> x, y = jax.vmap(permute, axis_name="i")(jnp.array([7, 8]))
      >>> print(x, y)
      [8 7] [-8 -7]

    Source: ``MultiCollectivePermute`` of ``xla_builder.h``, a form of
    *CollectivePermute* in XLA's Operation semantics; ``stablehlo.collective_permute``.
    """
    operation = "multi_collective_permute"
    arrays = checks.arrays(operation, "operands", operands)
    checks.numbers(operation, "operands", arrays)
    return permute(
        operation,
        arrays,
        source_target_pairs,
        channel_id,
        None,
        axis_name,
        partition_axes,
    )


def collective_permute_start(
    operand: Any,
    source_target_pairs: SourceTargetPairsLike,
    channel_id: ChannelHandleLike | None = None,
    inplace: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Future:
    """A future of the operand of the replica that sends to this one.

    See `collective_permute`. The compiler splits and overlaps collectives as it sees
    fit, also those that are not written in two halves.

    Args:
      operand: an array, or a pytree of arrays.
      source_target_pairs: pairs of the ids of a replica that sends and of one that
        receives.
      channel_id: a channel between devices, or None.
      inplace: checked, and without effect.
      axis_name: the mapped axes that replicas are counted along, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      What `collective_permute_done` takes.

    Raises:
      NameError, TypeError, ValueError: as `collective_permute` does.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> def permute(x):
      ...     future = xo.collective_permute_start(x, [(0, 1)])
      ...     return xo.collective_permute_done(future)
      >>> print(jax.vmap(permute, axis_name="i")(jnp.array([7, 8])))
      [0 7]

    Source: *CollectivePermute* in XLA's Operation semantics;
    ``stablehlo.collective_permute``.
    """
    value = permute(
        "collective_permute_start",
        operand,
        source_target_pairs,
        channel_id,
        inplace,
        axis_name,
        partition_axes,
    )
    return Future("collective_permute_start", value)


def collective_permute_done(context: Future) -> Any:
    """The result of a permutation that was started.

    Args:
      context: what `collective_permute_start` returned.

    Returns:
      What `collective_permute` returns.

    Raises:
      TypeError: if ``context`` is something else.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> swap = [(0, 1), (1, 0)]
      >>> permute = lambda x: xo.collective_permute_done(
      ...     xo.collective_permute_start(x, swap)
      ... )
      >>> print(jax.vmap(permute, axis_name="i")(jnp.array([7, 8])))
      [8 7]

    Source: *CollectivePermute* in XLA's Operation semantics;
    ``stablehlo.collective_permute``.
    """
    return futures.taken(
        "collective_permute_done", "context", "collective_permute_start", context
    )


def permute(
    operation: str,
    operand: Any,
    source_target_pairs: Any,
    channel_id: Any,
    inplace: Any,
    axis_name: Any,
    partition_axes: Any,
) -> Any:
    """`collective_permute` under the name of an operation."""
    checks.optional(checks.boolean)(operation, "inplace", inplace)
    axes = groups.participants(
        operation,
        (),
        axis_name=axis_name,
        partition_axes=partition_axes,
        channel_id=channel_id,
        by_partition=True,
    ).axes
    pairs = groups.pairs(operation, source_target_pairs, mapped.size(axes), axes)
    return exchange.of_each(
        operation, operand, lambda x: exchange.permuted(x, axes, pairs), axes
    )
