"""Arithmetic, maxima and signs."""

import numpy as np

from .broadcasting import binary
from .element_types import PARTS, by_kind, kind, wide


def _truncated(x, y):
    if y == 0:
        return -1
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _remainder(x, y):
    return x if y == 0 else x - _truncated(x, y) * y


def _integer_power(x, y):
    if y >= 0:
        return pow(x, y, 1 << 64)
    return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)


def _lexicographic(larger):
    def choose(x, y):
        first = (x.real > y.real) | ((x.real == y.real) & (x.imag > y.imag))
        return np.where(first == larger, x, y)

    return choose


def _signed_zero(larger):
    """Maximum or minimum in which NaN wins, and -0 is below +0."""

    def choose(x, y):
        result = (np.maximum if larger else np.minimum)(x, y)
        both = (x == 0) & (y == 0)
        negative = (
            (np.signbit(x) & np.signbit(y))
            if larger
            else (np.signbit(x) | np.signbit(y))
        )
        return np.where(both, np.where(negative, -0.0, 0.0), result)

    return choose


def _complex_direction(z):
    size = np.abs(z)
    return np.where(size == 0, 0, z / np.where(size == 0, 1, size))


add = binary(
    by_kind(real=np.add, integer=lambda x, y: x + y, boolean=lambda x, y: x | y)
)
sub = binary(by_kind(real=np.subtract, integer=lambda x, y: x - y))
mul = binary(
    by_kind(real=np.multiply, integer=lambda x, y: x * y, boolean=lambda x, y: x & y)
)
div = binary(by_kind(real=np.divide, integer=_truncated))
rem = binary(by_kind(real=np.fmod, integer=_remainder))
maximum = binary(
    by_kind(
        real=_signed_zero(True),
        complex=_lexicographic(True),
        integer=lambda x, y: x if x > y else y,
        boolean=np.logical_or,
    )
)
minimum = binary(
    by_kind(
        real=_signed_zero(False),
        complex=_lexicographic(False),
        integer=lambda x, y: x if x < y else y,
        boolean=np.logical_and,
    )
)
power = binary(by_kind(real=np.power, integer=_integer_power))
atan2 = binary(by_kind(real=np.arctan2))

neg = by_kind(real=np.negative, integer=lambda x: -x)
sign = by_kind(
    real=lambda x: np.where(x == 0, x, np.sign(x)),
    complex=_complex_direction,
    integer=lambda x: (x > 0) - (x < 0),
)


def abs_(operand):
    if kind(operand.dtype) == "c":
        return np.abs(wide(operand)).astype(PARTS[operand.dtype.name])
    return by_kind(real=np.abs, integer=lambda x: x if x >= 0 else -x)(operand)
