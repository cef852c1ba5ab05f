"""The largest or smallest elements of each row."""

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation

_INT32_MAX = np.iinfo(np.int32).max


@operation(k=checks.integer, largest=checks.boolean)
def top_k(operand: ArrayLike, k: int, largest: bool = True) -> tuple[Array, Array]:
    """The ``k`` largest or smallest elements along the last dimension, in order.

    Equal elements stand in the order of their indices; zeros are equal whatever their
    signs are. A NaN of either sign is above all numbers.

    Args:
      operand: array of rank 1 or more of an integer, floating-point or pred type.
      k: how many elements, from 0 to the size of the last dimension.
      largest: True for the largest in descending order, False for the smallest in
        ascending order.

    Returns:
      The pair ``(values, indices)``: the elements, and where each of them is in the
      last dimension, as s32. Both have the shape of ``operand`` with ``k`` for its last
      size.

    Raises:
      TypeError: if ``operand`` is no array, a scalar or complex.
      ValueError: if ``k`` is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> values, indices = xo.top_k(jnp.array([2, 1, 1, 3, 1]), 3, largest=False)
      >>> print(values, indices)
      [1 1 1] [1 2 4]

    Source: *TopK* in XLA's Operation semantics; ``chlo.top_k``, which on some backends
    orders zeros and NaN by their signs.
    """
    x = checks.operand("top_k", "operand", operand, "biuf")
    if x.ndim == 0:
        raise TypeError("top_k: operand must have rank 1 or more, got a scalar")
    size = x.shape[-1]
    if not 0 <= k <= size:
        raise ValueError(
            f"top_k: k must be in [0, {size}] for operand {x.shape}, got {k}"
        )
    if isinstance(size, int) and size - 1 > _INT32_MAX:  # no symbol of jax.export
        raise ValueError(
            f"top_k: operand must have a last size that s32 indices can count, "
            f"got {x.shape}"
        )
    keys = _wide(x)
    if largest:
        if checks.kind(x.dtype) == "f":
            keys = _ordered_by_value(keys)
        values, indices = lax.top_k(keys, k)
    else:
        # Not the largest of -x: that has no meaning for unsigned elements, is wrong for
        # the least integer, and turns the order of NaN around.
        iota = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 1)
        values, indices = (
            lax.slice_in_dim(part, 0, k, axis=x.ndim - 1)
            for part in lax.sort((keys, iota), num_keys=1, is_stable=True)
        )
    if keys is not x:
        values = _take(x, indices)
    return values, indices


def _wide(x: Array) -> Array:
    """The same values in a type that every backend compares."""
    if checks.kind(x.dtype) == "f":
        narrow = jnp.finfo(x.dtype).bits < 16
        return lax.convert_element_type(x, np.float32) if narrow else x
    narrow = x.dtype != np.bool_ and jnp.iinfo(x.dtype).bits < 8
    return lax.convert_element_type(x, np.int8) if narrow else x


def _ordered_by_value(x: Array) -> Array:
    """Keys that also a comparison by bits takes for equal where the values are.

    XLA may compare sign bits: +0 above -0, and below everything a NaN with the sign
    set, which is what 0 / 0 gives on x86.
    """
    x = lax.stop_gradient(x)
    zero, nan = lax.full_like(x, 0), lax.full_like(x, np.nan)
    return lax.select(lax.ne(x, x), nan, lax.select(lax.eq(x, zero), zero, x))


def _take(x: Array, indices: Array) -> Array:
    """The elements of each row at its own indices, which are in range."""
    rows = tuple(range(x.ndim - 1))
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(x.ndim - 1,),
        start_index_map=(x.ndim - 1,),
        operand_batching_dims=rows,
        start_indices_batching_dims=rows,
    )
    starts = lax.expand_dims(indices, (x.ndim,))
    return lax.gather(x, starts, numbers, (1,) * x.ndim, mode="promise_in_bounds")
