"""Products of scaled arrays."""

import numpy as np


def spread(scale, shape):
    """A scale for each element, from one for each block."""
    for d, n in enumerate(shape):
        scale = np.repeat(scale, n // scale.shape[d], d)
    return scale


def scaled_einsum(lhs, lhs_scale, rhs, rhs_scale, equation):
    """As float64."""
    x, s, y, t = (np.asarray(v, np.float64) for v in (lhs, lhs_scale, rhs, rhs_scale))
    return np.einsum(equation, x * spread(s, x.shape), y * spread(t, y.shape))
