"""Slices at computed positions."""

import numpy as np

from .shapes import slice_


def _clamped(starts, sizes, slice_sizes):
    return [
        sorted((0, int(start), n - size))[1]
        for start, n, size in zip(starts, sizes, slice_sizes, strict=True)
    ]


def dynamic_slice(operand, start_indices, slice_sizes):
    at = _clamped(start_indices, operand.shape, slice_sizes)
    return slice_(
        operand, at, [i + n for i, n in zip(at, slice_sizes, strict=True)]
    ).copy()


def dynamic_update_slice(operand, update, start_indices):
    at = _clamped(start_indices, operand.shape, update.shape)
    result = operand.copy()
    for index in np.ndindex(*update.shape):
        result[tuple(a + i for a, i in zip(at, index, strict=True))] = update[index]
    return result


def gather(
    operand,
    start_indices,
    dimension_numbers,
    slice_sizes,
    indices_are_sorted=False,
    seen=lambda out, source: None,
):
    """Loops over every element of the result; ``seen`` is told where it came from."""
    indices, numbers, sizes = start_indices, dimension_numbers, slice_sizes
    vector = numbers["index_vector_dim"]
    operand_batch = numbers.get("operand_batching_dims", ())
    indices_batch = numbers.get("start_indices_batching_dims", ())
    if vector == indices.ndim:
        indices = indices[..., None]
    batch_sizes = [n for d, n in enumerate(indices.shape) if d != vector]
    dropped = (*numbers["collapsed_slice_dims"], *operand_batch)
    kept = [d for d in range(operand.ndim) if d not in dropped]
    rank = len(batch_sizes) + len(numbers["offset_dims"])
    batch_dims = [d for d in range(rank) if d not in numbers["offset_dims"]]
    shape = [0] * rank
    for d, n in zip(batch_dims, batch_sizes, strict=True):
        shape[d] = n
    for d, source in zip(numbers["offset_dims"], kept, strict=True):
        shape[d] = sizes[source]
    result = np.empty(shape, operand.dtype)
    for out in np.ndindex(*shape):
        group = [out[d] for d in batch_dims]
        position = [0] * operand.ndim
        for k, d in enumerate(numbers["start_index_map"]):
            start = int(indices[(*group[:vector], k, *group[vector:])])
            position[d] = min(max(start, 0), operand.shape[d] - sizes[d])
        for d, where in zip(operand_batch, indices_batch, strict=True):
            position[d] = group[where - (where > vector)]
        for d, source in zip(numbers["offset_dims"], kept, strict=True):
            position[source] += out[d]
        result[out] = operand[tuple(position)]
        seen(out, tuple(position))
    return result
