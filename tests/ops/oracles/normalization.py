"""Batch normalisation by the document's formulas, computed as float64."""

import numpy as np


def _axes(x, index):
    return tuple(d for d in range(x.ndim) if d != index)


def _spread(v, x, index):
    shape = [1] * x.ndim
    shape[index] = -1
    return v.reshape(shape)


def batch_norm_training(operand, scale, offset, epsilon, feature_index):
    """Output, mean and biased variance."""
    x = operand.astype(np.float64)
    axes = _axes(x, feature_index)
    mean, variance = x.mean(axes), x.var(axes)
    output = batch_norm_inference(
        x, scale, offset, mean, variance, epsilon, feature_index
    )
    return tuple(y.astype(operand.dtype) for y in (output, mean, variance))


def batch_norm_inference(
    operand, scale, offset, mean, variance, epsilon, feature_index
):
    """The operand with given moments."""
    x = operand.astype(np.float64)
    s, o, m, v = (
        _spread(a.astype(np.float64), x, feature_index)
        for a in (scale, offset, mean, variance)
    )
    return ((x - m) / np.sqrt(v + np.float32(epsilon)) * s + o).astype(operand.dtype)


def batch_norm_grad(
    operand, scale, batch_mean, batch_var, grad_output, epsilon, feature_index
):
    """By the chain of intermediate gradients, one feature after another."""
    x, s, mean, variance, g = (
        a.astype(np.float64)
        for a in (operand, scale, batch_mean, batch_var, grad_output)
    )
    of_x = np.zeros_like(x)
    of_scale, of_offset = np.zeros_like(s), np.zeros_like(s)
    for c in range(x.shape[feature_index]):
        xc, gc = np.take(x, c, feature_index), np.take(g, c, feature_index)
        deviation = np.sqrt(variance[c] + np.float32(epsilon))
        normalised = (xc - mean[c]) / deviation
        of_scale[c] = (gc * normalised).sum()
        of_offset[c] = gc.sum()
        rest = gc.size * gc - of_offset[c] - normalised * of_scale[c]
        where = [slice(None)] * x.ndim
        where[feature_index] = c
        of_x[tuple(where)] = s[c] / deviation / gc.size * rest
    return tuple(y.astype(operand.dtype) for y in (of_x, of_scale, of_offset))
