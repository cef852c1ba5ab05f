"""Which replica and which partition this is."""

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from ..core import checks
from ..core.typing import AxisNames, ShapeLike
from . import axes as mapped


def replica_id(*, axis_name: AxisNames | None = None) -> Array:
    """The id of this replica.

    It is the position along the mapped axes, row-major. What XLA itself calls the
    replica id is 0 on every device of a program that JAX makes.

    Args:
      axis_name: the mapped axes that replicas are counted along; all that are manual
        unless given.

    Returns:
      A U32 scalar; 0 outside of any mapped axis, where there is one replica.

    Raises:
      NameError: if there is no mapped axis of that name.
      ValueError: if ``axis_name`` is an empty sequence.

    Example:
      >>> import jax
      >>> import xlaops as xo
      >>> print(jax.vmap(lambda _: xo.replica_id(), axis_name="i", axis_size=3)(None))
      [0 1 2]

    Source: *ReplicaId* in XLA's Operation semantics; ``stablehlo.replica_id``.
    """
    if axis_name is None and not mapped.in_scope():
        return jnp.uint32(0)
    axes = mapped.resolved("replica_id", axis_name)
    if not axes:
        raise ValueError("replica_id: axis_name must name at least one axis, got ()")
    return lax.convert_element_type(mapped.index(axes), jnp.uint32)


def partition_id(
    shape: ShapeLike | None = None, *, partition_axes: AxisNames = ()
) -> Array:
    """The id of this partition.

    All mapped axes count replicas, unless some are named as those of partitions: then
    it is the position along these, row-major.

    Args:
      shape: the shape of the result, ``u32[]``, or None.
      partition_axes: mapped axes that count partitions.

    Returns:
      A U32 scalar; 0 without partition axes.

    Raises:
      NameError: if there is no mapped axis of that name.
      ValueError: if ``shape`` is another one.

    Example:
      >>> import jax
      >>> import xlaops as xo
      >>> print(xo.partition_id())
      0
      >>> partition = lambda _: xo.partition_id(partition_axes="i")
      >>> print(jax.vmap(partition, axis_name="i", axis_size=3)(None))
      [0 1 2]

    Source: *PartitionID* in XLA's Operation semantics; ``stablehlo.partition_id``.
    """
    axes: Any = partition_axes
    if not isinstance(axes, (tuple, list)) or axes:
        axes = mapped.names("partition_id", "partition_axes", axes)
    if shape is not None:
        given = checks.array_shape("partition_id", "shape", shape)
        if (given.dimensions, given.dtype) != ((), jnp.uint32):
            raise ValueError(f"partition_id: shape must be u32[], got {given}")
    return lax.convert_element_type(mapped.index(tuple(axes)), jnp.uint32)
