"""Stochastic rounding, with exact fractions and the list of all target numbers."""

import bisect
import fractions
import functools
import math

import jax.numpy as jnp
import numpy as np

from .element_types import kind


def goes_up(value, low, high, random, width):
    """Whether the random bits choose the number away from zero."""
    return random < math.floor((value - low) / (high - low) * 2**width)


@functools.cache
def numbers_of(dtype):
    """The finite numbers of a type that are not negative, in ascending order."""
    dtype = np.dtype(jnp.dtype(dtype))
    bits = 8 * dtype.itemsize
    patterns = np.arange(1 << (bits - 1), dtype=f"uint{bits}")
    with np.errstate(invalid="ignore"):
        values = patterns.view(dtype).astype(np.float64)
    return [fractions.Fraction(v) for v in values[np.isfinite(values)]]


def _beyond(dtype):
    """What comes behind the largest number, in numpy's own conversion."""
    with np.errstate(over="ignore"):
        return float(np.float64(1e300).astype(jnp.dtype(dtype)).astype(np.float64))


def to_float(x, random, width, dtype):
    """One number, as a float64."""
    if math.isnan(x):
        return math.nan
    if math.isinf(x):
        return math.copysign(_beyond(dtype), x)
    numbers = numbers_of(dtype)
    value = fractions.Fraction(abs(x))
    place = bisect.bisect_right(numbers, value) - 1
    low = numbers[place]
    if place + 1 < len(numbers):
        high, name = numbers[place + 1], None
    else:
        # The next step of the same size as the one before.
        high, name = 2 * low - numbers[place - 1], _beyond(dtype)
    up = value >= high or goes_up(value, low, high, random, width)
    size = (float(high) if name is None else name) if up else float(low)
    return math.copysign(size, x)


def to_integer(x, random, width, dtype):
    """One number, as an int."""
    limits = jnp.iinfo(dtype)
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return int(limits.max if x > 0 else limits.min)
    value = fractions.Fraction(abs(x))
    low = math.floor(value)
    size = low + goes_up(value, low, low + 1, random, width)
    return min(max(int(size if x > 0 else -size), int(limits.min)), int(limits.max))


def stochastic_convert(operand, random, new_element_type):
    """An array, element by element."""
    dtype = np.dtype(jnp.dtype(new_element_type))
    one = to_float if kind(dtype) == "f" else to_integer
    width = 8 * operand.dtype.itemsize
    pairs = zip(operand.ravel(), random.ravel(), strict=True)
    values = [one(float(x), int(r), width, dtype.name) for x, r in pairs]
    return np.array(values).astype(dtype).reshape(operand.shape)
