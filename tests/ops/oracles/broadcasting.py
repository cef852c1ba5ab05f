"""The document's broadcasting."""

import numpy as np


def placed(x, shape, dimensions):
    """``x`` with dimension i at ``dimensions[i]``, repeated in the rest."""
    result = np.empty(shape, x.dtype)
    for index in np.ndindex(*shape):
        source = tuple(
            0 if size == 1 else index[d]
            for size, d in zip(x.shape, dimensions, strict=True)
        )
        result[index] = x[source]
    return result


def broadcast(operand, broadcast_sizes):
    rank = len(broadcast_sizes)
    return placed(
        operand,
        (*broadcast_sizes, *operand.shape),
        tuple(range(rank, rank + operand.ndim)),
    )


def broadcast_in_dim(operand, out_dim_size, broadcast_dimensions):
    return placed(operand, tuple(out_dim_size), broadcast_dimensions)


def binary(oracle):
    """The oracle of equal shapes, with the document's broadcasting before it."""

    def broadcasting(lhs, rhs, broadcast_dimensions=()):
        dims = tuple(broadcast_dimensions)
        rank = max(lhs.ndim, rhs.ndim)

        def expanded(x):
            if x.ndim == rank:
                return x
            if not x.ndim:
                return x.reshape((1,) * rank)
            shape = [1] * rank
            for size, d in zip(x.shape, dims, strict=True):
                shape[d] = size
            return x.reshape(shape)

        lhs, rhs = expanded(lhs), expanded(rhs)
        shape = tuple(
            m if n == 1 else n for m, n in zip(lhs.shape, rhs.shape, strict=True)
        )
        same = tuple(range(rank))
        return oracle(placed(lhs, shape, same), placed(rhs, shape, same))

    return broadcasting
