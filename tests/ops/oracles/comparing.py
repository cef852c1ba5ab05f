"""Comparisons, and the choice between operands."""

import math

import numpy as np

from .broadcasting import binary
from .element_types import elementwise, kind, wide, wrapped

_PYTHON = {
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
    "GE": lambda x, y: x >= y,
    "GT": lambda x, y: x > y,
    "LE": lambda x, y: x <= y,
    "LT": lambda x, y: x < y,
}


def comparison(direction):
    def compared(lhs, rhs):
        return np.asarray(_PYTHON[direction](wide(lhs), wide(rhs)), bool)

    return binary(compared)


def order_key(x):
    """Integers that are ordered as XLA's total order orders the numbers ``x``."""
    if kind(x.dtype) != "f":
        return wide(x)
    width = 8 * x.dtype.itemsize
    pattern = x.view(f"u{x.dtype.itemsize}").astype(object)
    magnitude = pattern % (1 << (width - 1))
    return np.where(pattern >= (1 << (width - 1)), -magnitude - 1, magnitude)


def total_order(direction):
    def compared(lhs, rhs):
        return np.asarray(_PYTHON[direction](order_key(lhs), order_key(rhs)), bool)

    return binary(compared)


def compare(lhs, rhs, broadcast_dimensions, direction, type):
    make = total_order if type == "TOTALORDER" else comparison
    return make(direction)(lhs, rhs, broadcast_dimensions)


def is_finite(operand):
    return np.isfinite(wide(operand))


def select(pred, on_true, on_false):
    return np.where(pred, on_true, on_false)


def clamp(min, operand, max):
    def one(low, x, high):
        if low != low or x != x or high != high:
            return math.nan
        x = low if x < low else x
        return high if x > high else x

    arrays = np.broadcast_arrays(*(wide(a) for a in (min, operand, max)))
    result = elementwise(one, *arrays)
    if kind(operand.dtype) in "iu":
        return wrapped(result, operand.dtype)
    return result.astype(np.float64).astype(operand.dtype)
