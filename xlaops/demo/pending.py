"""Operations that xlaops does not have yet, as far as the demo needs them.

They have the names and the order of parameters of XLA's operations, so that a function
here is deleted, and an import changed, as soon as xlaops has it. This is the only
module of the demo that uses `jax.lax`.
"""

from collections.abc import Callable

from jax import Array, lax

import xlaops as xo


def all_reduce(
    operand: Array,
    computation: Callable[..., Array],
    *,
    axis_name: str,
) -> Array:
    """Elements combined over the devices along a mesh axis.

    Args:
      operand: this device's array.
      computation: `xlaops.add`.
      axis_name: an axis of the mesh of the enclosing `jax.shard_map`.

    Returns:
      An array of the shape of ``operand``, equal on all the devices.

    Raises:
      ValueError: if it is another computation.

    Source: *AllReduce* in XLA's Operation semantics.
    """
    if computation is not xo.add:
        raise ValueError(
            f"all_reduce: computation must be xlaops.add, got {computation}"
        )
    return lax.psum(operand, axis_name)
