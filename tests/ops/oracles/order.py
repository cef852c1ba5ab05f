"""The greatest and the least elements."""

import numpy as np


def top_k(operand, k, largest=True):
    """Stable sort of each row, NaN above everything, zeros equal."""
    x = operand
    rows = x.reshape(-1, x.shape[-1]).tolist()
    indices = np.zeros((len(rows), k), np.int32)
    for number, row in enumerate(rows):
        keys = [(1, 0) if v != v else (0, v) for v in row]
        # Python's sort is stable, also in reverse.
        order = sorted(range(len(row)), key=keys.__getitem__, reverse=largest)
        indices[number] = order[:k]
    indices = indices.reshape(*x.shape[:-1], k)
    return np.take_along_axis(x, indices, -1), indices
