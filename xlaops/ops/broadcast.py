"""Arrays repeated along new or degenerate dimensions."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..core.typing import Dims


@operation(broadcast_sizes=checks.sizes)
def broadcast(operand: ArrayLike, broadcast_sizes: Dims) -> Array:
    """Copies of an array along new leading dimensions.

    Args:
      operand: array of any element type.
      broadcast_sizes: sizes of the new dimensions, non-negative.

    Returns:
      An array of shape ``(*broadcast_sizes, *operand.shape)``.

    Raises:
      TypeError: if ``operand`` is no array or ``broadcast_sizes`` no integers.
      ValueError: if a size is negative, or all of them are 2**63 bytes.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.broadcast(jnp.array([1, 2]), (3,))
      Array([[1, 2],
             [1, 2],
             [1, 2]], dtype=int32)

    Source: *Broadcast* in XLA's Operation semantics; ``stablehlo.broadcast_in_dim``.
    """
    x = checks.array("broadcast", "operand", operand)
    sizes = (*broadcast_sizes, *x.shape)
    checks.addressable("broadcast", "broadcast_sizes", sizes, x.dtype)
    return lax.broadcast(x, broadcast_sizes)


@operation(out_dim_size=checks.sizes, broadcast_dimensions=checks.integers)
def broadcast_in_dim(
    operand: ArrayLike, out_dim_size: Dims, broadcast_dimensions: Dims
) -> Array:
    """An array placed into some dimensions of a shape and repeated in the others.

    Args:
      operand: array of any element type.
      out_dim_size: the shape of the result.
      broadcast_dimensions: entry ``i`` is the dimension of the result that dimension
        ``i`` of ``operand`` becomes. The size there is equal, or that of ``operand`` is
        1 and it is repeated. The entries differ; they need not be sorted.

    Returns:
      An array of shape ``out_dim_size``.

    Raises:
      TypeError: if ``operand`` is no array or a size does not fit.
      ValueError: if ``broadcast_dimensions`` has not one entry for each dimension of
        ``operand``, or repeats one or leaves the range; if a size is negative.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.broadcast_in_dim(jnp.array([1, 2]), (2, 3), (0,))
      Array([[1, 1, 1],
             [2, 2, 2]], dtype=int32)

    Source: *BroadcastInDim* in XLA's Operation semantics;
    ``stablehlo.broadcast_in_dim``.
    """
    x = checks.array("broadcast_in_dim", "operand", operand)
    checks.addressable("broadcast_in_dim", "out_dim_size", out_dim_size, x.dtype)
    rank = len(out_dim_size)
    if len(broadcast_dimensions) != x.ndim:
        raise ValueError(
            f"broadcast_in_dim: broadcast_dimensions must have one entry for each "
            f"dimension of operand {x.shape}, got {broadcast_dimensions}"
        )
    checks.distinct_dimensions(
        "broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions, rank
    )
    for size, dim in zip(x.shape, broadcast_dimensions, strict=True):
        if size not in (1, out_dim_size[dim]):
            raise TypeError(
                f"broadcast_in_dim: out_dim_size must be {size} in dimension {dim} for "
                f"operand {x.shape} with broadcast_dimensions={broadcast_dimensions}, "
                f"got {out_dim_size}"
            )
    order = sorted(range(x.ndim), key=lambda i: broadcast_dimensions[i])
    if order != list(range(x.ndim)):
        # jax.lax transposes the cotangent wrongly for dimensions out of order.
        x = lax.transpose(x, order)
    return lax.broadcast_in_dim(x, out_dim_size, sorted(broadcast_dimensions))
