"""Gathers and scatters of known values, and where their windows lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np


def clamps(mode: Any) -> bool:
    """Whether windows are moved into the array, and not left out if they stick out.

    Args:
      mode: of a gather or a scatter.
    """
    name = getattr(mode, "name", str(mode)).upper()
    return "FILL" not in name and "DROP" not in name


def positions(
    shape: Sequence[int],
    vectors: np.ndarray,
    to_operand: Sequence[int],
    sizes: Sequence[int],
    is_clamped: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Where windows lie that begin at known indices.

    Args:
      shape: of the array.
      vectors: index vectors, in the last dimension.
      to_operand: to which dimension of the array each of their components belongs.
      sizes: of a window along each dimension of the array.
      is_clamped: whether windows are moved into the array.

    Returns:
      The row-major positions in the array, with the elements of a window in the last
      dimension, and for each window whether it lies in the array.
    """
    batch = vectors.shape[:-1]
    found = np.zeros((*batch, 1), np.int64)
    lies_within = np.ones(batch, bool)
    for i, (n, size) in enumerate(zip(shape, sizes, strict=True)):
        at: np.ndarray = np.zeros(batch, np.int64)
        if i in to_operand:
            at = vectors[..., list(to_operand).index(i)].astype(np.int64)
            if is_clamped:
                at = np.clip(at, 0, max(n - size, 0))
        lies_within &= (at >= 0) & (at + size <= n)
        along = (at[..., None] + np.arange(size))[..., None, :]
        found = found[..., None] * n + along
        found = found.reshape(*batch, -1)
    return found, lies_within


def gathered(
    params: Mapping[str, Any], aval: Any, operand: np.ndarray, vectors: np.ndarray
) -> np.ndarray | None:
    """The result of a gather, or None if it has dimensions in common.

    Args:
      params: of the operation.
      aval: the type of the result.
      operand: what is gathered from.
      vectors: the indices.
    """
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    if numbers.operand_batching_dims:
        return None
    where, lies_within = positions(
        operand.shape,
        vectors,
        numbers.start_index_map,
        sizes,
        clamps(params["mode"]),
    )
    if not operand.size:
        return None
    made = operand.ravel()[np.where(lies_within[..., None], where, 0)]
    if not lies_within.all():
        made = np.where(lies_within[..., None], made, _filling(params, operand.dtype))
    window = [n for i, n in enumerate(sizes) if i not in numbers.collapsed_slice_dims]
    made = made.reshape(*lies_within.shape, *window)
    batch = lies_within.ndim
    return np.moveaxis(
        made, range(batch, batch + len(window)), tuple(numbers.offset_dims)
    )


def _filling(params: Mapping[str, Any], dtype: np.dtype) -> Any:
    value = params.get("fill_value")
    if value is not None:
        return value
    if dtype.kind == "b":
        return True
    if dtype.kind == "f":
        return np.nan
    limits = np.iinfo(dtype)
    return limits.min if dtype.kind == "i" else limits.max


def scattered(
    params: Mapping[str, Any],
    aval: Any,
    operand: np.ndarray,
    vectors: np.ndarray,
    updates: np.ndarray,
) -> np.ndarray | None:
    """The result of a scatter that overwrites, or None if that is not certain.

    Args:
      params: of the operation.
      aval: the type of the result.
      operand: what is there before.
      vectors: the indices.
      updates: what is written.
    """
    if params.get("update_jaxpr") is not None:
        return None  # it computes what is written of what is there
    found = _written(params, operand, vectors, updates)
    if found is None:
        return None
    where, values = found
    if len(np.unique(where)) != len(where):
        return None  # which one is left is not defined
    made = operand.copy().ravel()
    made[where] = values
    return made.reshape(operand.shape)


def scatter_added(
    params: Mapping[str, Any],
    aval: Any,
    operand: np.ndarray,
    vectors: np.ndarray,
    updates: np.ndarray,
) -> np.ndarray | None:
    """The result of a scatter that adds, or None if it has dimensions in common.

    Args:
      params: of the operation.
      aval: the type of the result.
      operand: what is there before.
      vectors: the indices.
      updates: what is added.
    """
    found = _written(params, operand, vectors, updates)
    if found is None:
        return None
    made = operand.copy().ravel()
    np.add.at(made, *found)
    return made.reshape(operand.shape)


def _written(
    params: Mapping[str, Any],
    operand: np.ndarray,
    vectors: np.ndarray,
    updates: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    """The positions that a scatter writes to, and what is written there."""
    numbers = params["dimension_numbers"]
    if numbers.operand_batching_dims:
        return None
    window = tuple(numbers.update_window_dims)
    inner = [updates.shape[i] for i in window]
    sizes = [
        1 if i in numbers.inserted_window_dims else inner.pop(0)
        for i in range(operand.ndim)
    ]
    where, lies_within = positions(
        operand.shape,
        vectors,
        numbers.scatter_dims_to_operand_dims,
        sizes,
        clamps(params["mode"]),
    )
    last = range(updates.ndim - len(window), updates.ndim)
    values = np.moveaxis(updates, window, last)
    values = values.reshape(*lies_within.shape, prod(sizes))
    return where[lies_within].ravel(), values[lies_within].ravel()
