"""Arrays of all members of a group, combined by a computation."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import Array, lax
from jax.typing import ArrayLike

from .. import types
from ..core import checks
from ..core.computation import Computation, Role, refuse_effects, traced
from ..core.typing import (
    AxisNames,
    ChannelHandleLike,
    LayoutLike,
    ReplicaGroupsLike,
    ShapeLike,
)
from . import combining, exchange, futures, groups
from .futures import Future


def all_reduce(
    operand: Any,
    computation: Callable[..., Any],
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    shape_with_layout: ShapeLike | None = None,
    use_global_device_ids: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
    joint: bool = False,
) -> Any:
    """The operands of all replicas of a group, combined elementwise.

    Sums, and the largest and the smallest elements, are XLA's own reductions between
    replicas. With any other computation each member of a group combines a block of all
    operands, and the blocks are gathered: it has to be associative, and need not be
    commutative, as the order of the group is kept.

    Derivatives are those of the computation. Replicas that share the largest or the
    smallest element share its derivative equally.

    Args:
      operand: an array, or a pytree of arrays, each of which is combined by itself.
      computation: called with two scalars of the operand's type, the value of some
        replicas and that of later ones; returns their combination. It may use no
        traced value that is not among its arguments.
      replica_groups: groups of replica ids, of any sizes, that hold every replica once;
        empty is one group of all replicas.
      channel_id: a channel between devices; with ``partition_axes`` it says that the
        members of a group are its replicas in all their partitions.
      shape_with_layout: has to be the operand's shape; its layout is without effect.
      use_global_device_ids: whether ids are ``replica * number of partitions +
        partition``.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.
      partition_axes: mapped axes that count partitions.
      joint: whether ``computation`` combines all N arrays of the operand at once: it is
        called with 2N scalars, those of some replicas and those of later ones, and
        returns N. The arrays have one shape.

    Returns:
      The operand's type. Inside `jax.shard_map` with ``check_vma=True`` it does not
      vary over the axes if all replicas are one group.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays, if arrays that are
        combined jointly differ in shape, or if ``computation`` is not callable, returns
        other types, uses a traced value or has side effects.
      ValueError: if the groups do not hold every replica once.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> checksum = lambda x: xo.all_reduce(x, xo.xor, [[0, 1], [2, 3]])
      >>> print(jax.vmap(checksum, axis_name="i")(jnp.array([1, 3, 4, 4])))
      [2 2 0 0]

      Who has the largest element, the first of those that share it:

      >>> def larger(x, i, y, j):
      ...     return jnp.maximum(x, y), jnp.where(y > x, j, i)
      >>> def first_largest(x):
      ...     who = xo.replica_id()
      ...     return xo.all_reduce((x, who), larger, joint=True)
      >>> x, who = jax.vmap(first_largest, axis_name="i")(jnp.array([1, 7, 7]))
      >>> print(x, who)
      [7 7 7] [1 1 1]

    Source: *AllReduce* in XLA's Operation semantics; ``stablehlo.all_reduce``.
    """
    return _all_reduce(
        "all_reduce",
        operand,
        computation,
        replica_groups,
        channel_id,
        shape_with_layout,
        use_global_device_ids,
        axis_name,
        partition_axes,
        joint,
    )


def all_reduce_tuple(
    operand: Sequence[ArrayLike],
    computation: Callable[..., Any],
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    shape_with_layout: ShapeLike | None = None,
    use_global_device_ids: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> tuple[Array, ...]:
    """The operands of all replicas of a group, combined elementwise, each by itself.

    See `all_reduce`.

    Args:
      operand: a sequence of arrays.
      computation: called with two scalars of an operand's type.
      replica_groups: groups of replica ids that hold every replica once.
      channel_id: a channel between devices, or None.
      shape_with_layout: the tuple of the operands' shapes, or None.
      use_global_device_ids: whether ids are those of devices.
      axis_name: the mapped axes that replicas are counted along, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      A tuple of arrays.

    Raises:
      NameError, ValueError: as `all_reduce` does.
      TypeError: if ``operand`` is no sequence of arrays, or as `all_reduce` does.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> total = lambda x: xo.all_reduce_tuple([x, 10 * x], xo.add)
      >>> x, y = jax.vmap(total, axis_name="i")(jnp.arange(3))
      >>> print(x, y)
      [3 3 3] [30 30 30]

    Source: ``AllReduceTuple`` of ``xla_builder.h``, a form of *AllReduce* in XLA's
    Operation semantics; ``stablehlo.all_reduce``.
    """
    return _all_reduce(
        "all_reduce_tuple",
        checks.arrays("all_reduce_tuple", "operand", operand),
        computation,
        replica_groups,
        channel_id,
        shape_with_layout,
        use_global_device_ids,
        axis_name,
        partition_axes,
    )


def all_reduce_start(
    operand: Any,
    computation: Callable[..., Any],
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    shape_with_layout: ShapeLike | None = None,
    use_global_device_ids: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Future:
    """A future of the operands of all replicas of a group, combined elementwise.

    See `all_reduce`. The compiler splits and overlaps collectives as it sees fit, also
    those that are not written in two halves.

    Args:
      operand: an array, or a pytree of arrays, each of which is combined by itself.
      computation: called with two scalars of the operand's type.
      replica_groups: groups of replica ids that hold every replica once.
      channel_id: a channel between devices, or None.
      shape_with_layout: the operand's shape, or None.
      use_global_device_ids: whether ids are those of devices.
      axis_name: the mapped axes that replicas are counted along, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      What `all_reduce_done` takes.

    Raises:
      NameError, TypeError, ValueError: as `all_reduce` does.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> def total(x):
      ...     future = xo.all_reduce_start(x, xo.add)
      ...     return xo.all_reduce_done(future)
      >>> print(jax.vmap(total, axis_name="i")(jnp.arange(3)))
      [3 3 3]

    Source: *AllReduce* in XLA's Operation semantics; ``stablehlo.all_reduce``.
    """
    value = _all_reduce(
        "all_reduce_start",
        operand,
        computation,
        replica_groups,
        channel_id,
        shape_with_layout,
        use_global_device_ids,
        axis_name,
        partition_axes,
    )
    return Future("all_reduce_start", value)


def all_reduce_done(context: Future) -> Any:
    """The result of a reduction that was started.

    Args:
      context: what `all_reduce_start` returned.

    Returns:
      What `all_reduce` returns.

    Raises:
      TypeError: if ``context`` is something else.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> total = lambda x: xo.all_reduce_done(xo.all_reduce_start(x, xo.add))
      >>> print(jax.vmap(total, axis_name="i")(jnp.arange(3)))
      [3 3 3]

    Source: *AllReduce* in XLA's Operation semantics; ``stablehlo.all_reduce``.
    """
    return futures.taken("all_reduce_done", "context", "all_reduce_start", context)


def cross_replica_sum(
    operand: Any,
    replica_groups: ReplicaGroupsLike = (),
    *,
    axis_name: AxisNames | None = None,
) -> Any:
    """The operands of all replicas of a group, added up.

    PRED has no addition: of it the result is whether any of the operands is true, as in
    XLA's builder.

    Args:
      operand: an array, or a pytree of arrays, each of which is added up by itself.
      replica_groups: groups of replica ids, of any sizes, that hold every replica once;
        empty is one group of all replicas.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.

    Returns:
      The operand's type.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays.
      ValueError: if the groups do not hold every replica once.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> total = lambda x: xo.cross_replica_sum(x, [[0, 2], [1]])
      >>> print(jax.vmap(total, axis_name="i")(jnp.array([1, 2, 3])))
      [4 2 4]

    Source: *CrossReplicaSum* in XLA's Operation semantics; ``stablehlo.all_reduce``.
    """
    operation = "cross_replica_sum"
    who = groups.participants(operation, replica_groups, axis_name=axis_name)

    def total(x: Array) -> Array:
        add = lax.bitwise_or if checks.kind(x.dtype) == "b" else lax.add
        return combining.reduced(x, _of_scalars(operation, add, [x]), who)

    return exchange.of_each(operation, operand, total, who.axes)


def reduce_scatter(
    operand: Any,
    computation: Callable[..., Any],
    scatter_dimension: int,
    shard_count: int | None = None,
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    layout: LayoutLike | None = None,
    use_global_device_ids: bool | None = None,
    *,
    axis_name: AxisNames | None = None,
    partition_axes: AxisNames = (),
) -> Any:
    """A block of the operands of all replicas of a group, combined elementwise.

    The member at position ``i`` of a group gets block ``i``: what `all_reduce` gives to
    all of them, in pieces. A sum is XLA's own operation; with any other computation
    blocks are exchanged, and combined where they are needed. See `all_reduce`.

    Args:
      operand: an array, or a pytree of arrays, of any rank but 0.
      computation: called with two scalars of the operand's type, the value of some
        replicas and that of later ones; returns their combination. It may use no
        traced value that is not among its arguments.
      scatter_dimension: the dimension of which each member gets a block; a multiple of
        the group's size.
      shard_count: the number of replicas of a group; None leaves it to the groups.
      replica_groups: groups of replica ids, all of one size, that hold every replica
        once; empty is one group of all replicas.
      channel_id: a channel between devices; with ``partition_axes`` it says that the
        members of a group are its replicas in all their partitions.
      layout: checked, and without effect.
      use_global_device_ids: whether ids are ``replica * number of partitions +
        partition``.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.
      partition_axes: mapped axes that count partitions.

    Returns:
      The operand's type with a dimension divided by the size of a group.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays, or if ``computation``
        is not callable, returns another type, uses a traced value or has side effects.
      ValueError: if the dimension is out of range or no multiple of the group's size,
        or the groups are not equal ones of all replicas, each with ``shard_count``
        members.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([[1.0, 2.0], [3.0, 5.0]])
      >>> product = lambda x: xo.reduce_scatter(x, xo.mul, 0)
      >>> print(jax.vmap(product, axis_name="i")(x))
      [[ 3.]
       [10.]]

    Source: *ReduceScatter* in XLA's Operation semantics; ``stablehlo.reduce_scatter``.
    """
    operation = "reduce_scatter"
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
    name = "scatter_dimension"
    dimension = checks.integer(operation, name, scatter_dimension)

    def scatter(x: Array) -> Array:
        checks.dimension(operation, name, dimension, x.ndim)
        if x.shape[dimension] % who.groups.size:
            raise ValueError(
                f"{operation}: {name} must be a dimension that is a multiple of the "
                f"number of members of a replica group, {who.groups.size}, got "
                f"dimension {dimension} of {checks.describe(x)}"
            )
        combined = _of_scalars(operation, computation, [x])
        return combining.scattered(x, combined, who, dimension)

    return exchange.of_each(operation, operand, scatter, who.axes)


def _all_reduce(
    operation: str,
    operand: Any,
    computation: Any,
    replica_groups: Any,
    channel_id: Any,
    shape_with_layout: Any,
    use_global_device_ids: Any,
    axis_name: Any,
    partition_axes: Any,
    joint: Any = False,
) -> Any:
    who = groups.participants(
        operation,
        replica_groups,
        axis_name=axis_name,
        partition_axes=partition_axes,
        channel_id=channel_id,
        use_global_device_ids=use_global_device_ids,
    )
    is_joint = checks.boolean(operation, "joint", joint)
    arrays: list[Array] = []

    def reduced(x: Array) -> Array:
        arrays.append(x)
        if is_joint:
            return x
        return combining.reduced(x, _of_scalars(operation, computation, [x]), who)

    result = exchange.of_each(operation, operand, reduced, who.axes)
    _check_shape(operation, shape_with_layout, arrays, operand)
    if not is_joint:
        return result
    checks.same_shape(operation, "operand", arrays)
    results = combining.jointly_reduced(
        arrays, _of_scalars(operation, computation, arrays), who
    )
    return jax.tree.unflatten(jax.tree.structure(result), results)


def _of_scalars(
    operation: str, computation: Any, arrays: Sequence[Array]
) -> Computation:
    """What combines the values of some replicas with those of later ones."""
    role = Role(operation, "computation", "of some replicas, then of later ones")
    dtypes = [x.dtype for x in arrays]
    result = traced(role, computation, dtypes * 2, dtypes, in_region=False)
    refuse_effects(role, result)
    return result


def _check_shape(
    operation: str, value: Any, arrays: Sequence[Array], operand: Any
) -> None:
    """Checks a shape that can be no other than that of the operand."""
    if value is None:
        return
    shape = checks.coerced(types.Shape.coerce)(operation, "shape_with_layout", value)
    each = [types.Shape.coerce(jax.ShapeDtypeStruct(x.shape, x.dtype)) for x in arrays]
    is_alone = jax.tree.structure(operand) == jax.tree.structure(0)
    own = each[0] if is_alone else types.Shape.tuple(each)
    if shape.without_layout() != own.without_layout():
        raise ValueError(
            f"{operation}: shape_with_layout must be the operand's shape {own}, got "
            f"{shape}"
        )
