"""Parts of arrays at indices that the running program computes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, indices
from ..core.operation import operation
from ..core.typing import Dims


def dynamic_slice(
    operand: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    slice_sizes: Dims,
) -> Array:
    """The sub-array of a given size at a computed position.

    A slice that would reach over an edge is moved back inside: starts are clamped to
    ``[0, size - slice_size]``. A negative start is no index from the end.

    Args:
      operand: array of any element type and rank N.
      start_indices: N integer scalars, of any integer types, or one array of N
        integers: the first index in each dimension.
      slice_sizes: N sizes, not above those of ``operand``.

    Returns:
      An array of shape ``slice_sizes``.

    Raises:
      TypeError: if ``operand`` is no array or ``start_indices`` are no integers.
      ValueError: if a list has not N entries or a size is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.arange(12).reshape(4, 3)
      >>> xo.dynamic_slice(x, [2, 1], (2, 2))
      Array([[ 7,  8],
             [10, 11]], dtype=int32)
      >>> xo.dynamic_slice(x, [-1, 9], (1, 1))
      Array([[2]], dtype=int32)

    Source: *DynamicSlice* in XLA's Operation semantics, whose table says
    ``size_indices`` for ``slice_sizes``; ``stablehlo.dynamic_slice``.
    """
    return _dynamic_slice(operand, _exact(start_indices), slice_sizes)


@operation("dynamic_slice", slice_sizes=checks.sizes)
def _dynamic_slice(
    operand: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    slice_sizes: Dims,
) -> Array:
    x = checks.array("dynamic_slice", "operand", operand)
    if len(slice_sizes) != x.ndim:
        raise ValueError(
            f"dynamic_slice: slice_sizes must have one entry for each dimension of "
            f"operand {x.shape}, got {slice_sizes}"
        )
    for i, (size, n) in enumerate(zip(slice_sizes, x.shape, strict=True)):
        if size > n:
            raise ValueError(
                f"dynamic_slice: slice_sizes must not be above the sizes of operand "
                f"{x.shape}, got {size} in dimension {i}"
            )
    starts = indices.scalars(
        "dynamic_slice", "start_indices", start_indices, x.shape, slice_sizes
    )
    return lax.dynamic_slice(x, starts, slice_sizes, allow_negative_indices=False)


def dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
) -> Array:
    """An array with a sub-array replaced at a computed position.

    An update that would reach over an edge is moved back inside: starts are clamped to
    ``[0, size - update_size]``. A negative start is no index from the end.

    Args:
      operand: array of any element type and rank N.
      update: array of the element type and rank of ``operand``, not larger in any
        dimension.
      start_indices: N integer scalars, of any integer types, or one array of N
        integers: the first index in each dimension.

    Returns:
      An array of the shape of ``operand``.

    Raises:
      TypeError: if an operand is no array, ranks or element types differ, ``update`` is
        too large, or ``start_indices`` are no integers.
      ValueError: if ``start_indices`` has not N entries.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x, update = jnp.arange(5), jnp.array([8, 9])
      >>> xo.dynamic_update_slice(x, update, [2])
      Array([0, 1, 8, 9, 4], dtype=int32)
      >>> xo.dynamic_update_slice(x, update, [-1])
      Array([8, 9, 2, 3, 4], dtype=int32)

    Source: *DynamicUpdateSlice* in XLA's Operation semantics;
    ``stablehlo.dynamic_update_slice``.
    """
    return _dynamic_update_slice(operand, update, _exact(start_indices))


@operation("dynamic_update_slice")
def _dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
) -> Array:
    x, new = checks.same_element_type(
        "dynamic_update_slice", operand=operand, update=update
    )
    if new.ndim != x.ndim or any(
        size > n for size, n in zip(new.shape, x.shape, strict=True)
    ):
        raise TypeError(
            f"dynamic_update_slice: update must have the rank of operand {x.shape} "
            f"and not be larger in any dimension, got {new.shape}"
        )
    starts = indices.scalars(
        "dynamic_update_slice", "start_indices", start_indices, x.shape, new.shape
    )
    return lax.dynamic_update_slice(x, new, starts, allow_negative_indices=False)


def _exact(start_indices: Any) -> Any:
    # Before the arguments reach jax.jit, which keeps the low bits of large integers.
    if isinstance(start_indices, Sequence) and not isinstance(start_indices, str):
        return tuple(indices.exact(item) for item in start_indices)
    if isinstance(start_indices, np.ndarray):
        return indices.exact(start_indices)
    return start_indices
