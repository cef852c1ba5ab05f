"""Slices collected from many positions of an array."""

import functools
from collections.abc import Sequence
from typing import Any

from jax import Array, custom_jvp, lax
from jax.typing import ArrayLike

from ..core import checks, indices
from ..core.operation import operation
from ..core.typing import Dims, GatherDimensionNumbersLike
from ..types import GatherDimensionNumbers


def gather(
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: GatherDimensionNumbersLike,
    slice_sizes: Dims,
    indices_are_sorted: bool = False,
) -> Array:
    """Slices of one size, taken at the positions that an array of indices holds.

    Each slice is a dynamic slice: one that would reach over an edge is moved back
    inside. The derivative goes to the elements that were read.

    Args:
      operand: array of any element type and rank N.
      start_indices: integer array. Along ``index_vector_dim`` lie the index vectors; if
        that is its rank, each element is an index vector of length one.
      dimension_numbers: what the dimensions of operand, indices and result are, as
        `xlaops.GatherDimensionNumbers` or a mapping of its fields.
      slice_sizes: N sizes of a slice, not above those of ``operand``, and 1 in
        ``collapsed_slice_dims``, at most 1 in ``operand_batching_dims``.
      indices_are_sorted: a promise that the index vectors are in ascending order, once
        ordered by ``start_index_map``; broken, the result is undefined.

    Returns:
      An array with the slices' remaining dimensions at ``offset_dims`` and, at the
      others, the dimensions of ``start_indices`` without ``index_vector_dim``.

    Raises:
      TypeError: if ``operand`` is no array, ``start_indices`` are no integers, or sizes
        that belong together differ.
      ValueError: if ``dimension_numbers`` or ``slice_sizes`` do not fit the operands.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> rows = xo.GatherDimensionNumbers(
      ...     offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,),
      ...     index_vector_dim=1,
      ... )
      >>> x = jnp.arange(6).reshape(3, 2)
      >>> xo.gather(x, jnp.array([2, 0, 7]), rows, (1, 2))
      Array([[4, 5],
             [0, 1],
             [4, 5]], dtype=int32)

    Source: *Gather* in XLA's Operation semantics, which leaves out the batching
    dimensions of ``stablehlo.gather``.
    """
    return _gather(
        operand,
        indices.exact(start_indices),
        dimension_numbers,
        slice_sizes,
        indices_are_sorted,
    )


@operation(
    "gather",
    dimension_numbers=checks.coerced(GatherDimensionNumbers.coerce),
    slice_sizes=checks.sizes,
    indices_are_sorted=checks.boolean,
)
def _gather(
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: GatherDimensionNumbersLike,
    slice_sizes: Dims,
    indices_are_sorted: bool = False,
) -> Array:
    x = checks.array("gather", "operand", operand)
    starts = indices.safe("gather", "start_indices", start_indices, x.shape)
    numbers = GatherDimensionNumbers.coerce(dimension_numbers)
    vector = numbers.index_vector_dim
    if vector > starts.ndim:
        raise ValueError(
            f"gather: index_vector_dim must be in [0, {starts.ndim}] for start_indices "
            f"{starts.shape}, got {vector}"
        )
    _check_numbers(x, starts, numbers)
    _check_slice_sizes(x, numbers, slice_sizes)
    batching = numbers.start_indices_batching_dims
    if vector == starts.ndim:
        starts = lax.expand_dims(starts, (vector,))
    elif vector != starts.ndim - 1:
        # jax.lax has the index vectors in the last dimension.
        others = [d for d in range(starts.ndim) if d != vector]
        starts = lax.transpose(starts, (*others, vector))
        batching = tuple(d - (d > vector) for d in batching)
    lax_numbers = numbers.to_lax()._replace(start_indices_batching_dims=batching)
    sizes = tuple(slice_sizes)
    if (
        indices_are_sorted
        and len(numbers.start_index_map) > 1
        and checks.kind(x.dtype) in "fc"
    ):
        return _gather_sorted(lax_numbers, sizes, x, starts)
    return lax.gather(
        x,
        starts,
        lax_numbers,
        sizes,
        indices_are_sorted=indices_are_sorted,
        mode="clip",
    )


@functools.partial(custom_jvp, nondiff_argnums=(0, 1))
def _gather_sorted(
    numbers: lax.GatherDimensionNumbers,
    slice_sizes: tuple[int, ...],
    operand: Array,
    starts: Array,
) -> Array:
    return lax.gather(
        operand, starts, numbers, slice_sizes, indices_are_sorted=True, mode="clip"
    )


@_gather_sorted.defjvp
def _gather_sorted_jvp(
    numbers: lax.GatherDimensionNumbers,
    slice_sizes: tuple[int, ...],
    primals: tuple[Array, Array],
    tangents: tuple[Array, Any],
) -> tuple[Array, Array]:
    # The gradient scatters to clamped indices. Vectors that were in order need not be
    # so after each of their entries is clamped, and then the promise would be broken.
    operand, starts = primals
    tangent = lax.gather(tangents[0], starts, numbers, slice_sizes, mode="clip")
    return _gather_sorted(numbers, slice_sizes, operand, starts), tangent


def _check_numbers(x: Array, starts: Array, numbers: GatherDimensionNumbers) -> None:
    """The constraints of StableHLO between dimension numbers and operands."""
    vector = numbers.index_vector_dim
    implicit = vector == starts.ndim
    result_rank = len(numbers.offset_dims) + starts.ndim - (not implicit)
    for name, values, rank in (
        ("offset_dims", numbers.offset_dims, result_rank),
        ("collapsed_slice_dims", numbers.collapsed_slice_dims, x.ndim),
        ("start_index_map", numbers.start_index_map, x.ndim),
        ("operand_batching_dims", numbers.operand_batching_dims, x.ndim),
        (
            "start_indices_batching_dims",
            numbers.start_indices_batching_dims,
            starts.ndim,
        ),
    ):
        checks.distinct_dimensions("gather", name, values, rank)
    length = 1 if implicit else starts.shape[vector]
    if len(numbers.start_index_map) != length:
        raise ValueError(
            f"gather: start_index_map must have one entry for each of the {length} "
            f"parts of an index vector of start_indices {starts.shape} with "
            f"index_vector_dim={vector}, got {numbers.start_index_map}"
        )
    left_out = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    if len(numbers.offset_dims) + len(left_out) != x.ndim:
        raise ValueError(
            f"gather: offset_dims must have one entry for each dimension of operand "
            f"{x.shape} but collapsed_slice_dims={numbers.collapsed_slice_dims} and "
            f"operand_batching_dims={numbers.operand_batching_dims}, got "
            f"{numbers.offset_dims}"
        )
    for i, j in zip(
        numbers.operand_batching_dims,
        numbers.start_indices_batching_dims,
        strict=True,
    ):
        if x.shape[i] != starts.shape[j]:
            raise TypeError(
                f"gather: operand_batching_dims and start_indices_batching_dims must "
                f"have equal sizes, got {x.shape[i]} in dimension {i} of operand "
                f"{x.shape} and {starts.shape[j]} in dimension {j} of start_indices "
                f"{starts.shape}"
            )


def _check_slice_sizes(
    x: Array, numbers: GatherDimensionNumbers, slice_sizes: Sequence[int]
) -> None:
    if len(slice_sizes) != x.ndim:
        raise ValueError(
            f"gather: slice_sizes must have one entry for each dimension of operand "
            f"{x.shape}, got {tuple(slice_sizes)}"
        )
    for i, (size, n) in enumerate(zip(slice_sizes, x.shape, strict=True)):
        if size > n:
            raise ValueError(
                f"gather: slice_sizes must not be above the sizes of operand "
                f"{x.shape}, got {size} in dimension {i}"
            )
        if i in numbers.collapsed_slice_dims and size != 1:
            raise ValueError(
                f"gather: slice_sizes must be 1 in collapsed_slice_dims, got {size} in "
                f"dimension {i}"
            )
        if i in numbers.operand_batching_dims and size > 1:
            raise ValueError(
                f"gather: slice_sizes must be at most 1 in operand_batching_dims, got "
                f"{size} in dimension {i}"
            )
