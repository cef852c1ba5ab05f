"""Closed intervals of 64-bit integers, with arithmetic that saturates."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator
from typing import Any, ClassVar, Final

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1


class WideError(Exception):
    """Bounds that follow from others do not fit 64 bits."""


def fitting(lower: int, upper: int) -> Interval:
    """The interval of computed bounds.

    Raises:
      WideError: if they do not fit 64 bits.
    """
    if not _fits(lower, upper):
        raise WideError
    return Interval(lower, upper)


def _fits(lower: int, upper: int) -> bool:
    return INT64_MIN <= lower <= INT64_MAX and INT64_MIN <= upper <= INT64_MAX


def _saturated(value: int) -> int:
    return min(max(value, INT64_MIN), INT64_MAX)


def _is_infinite(value: int) -> bool:
    return value <= INT64_MIN or value >= INT64_MAX


def _plus(a: int, b: int, open_end: int) -> int:
    # A bound at an end of the range stands for infinity, and absorbs. If the two are
    # at different ends, the sum can be anything.
    if open_end in (a, b):
        return open_end
    for x in (a, b):
        if _is_infinite(x):
            return _saturated(x)
    return _saturated(a + b)


def _times(a: int, b: int) -> int:
    if a == 0 or b == 0:
        return 0
    if _is_infinite(a) or _is_infinite(b):
        return INT64_MAX if (a > 0) == (b > 0) else INT64_MIN
    return _saturated(a * b)


def _divided(a: int, b: int) -> int:
    return _saturated(a) if _is_infinite(a) else a // b


def _index(what: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"Interval: the {what} must be an integer, got {value!r}"
        ) from None


@dataclasses.dataclass(frozen=True, slots=True)
class Interval:
    """The integers from ``lower`` to ``upper``, both included; none if it is less.

    Sums, differences, products and quotients are the least intervals that hold the
    results. They saturate at 64 bits, where a bound stands for infinity. Comparisons
    have three values: None where the elements disagree.

    Args:
        lower: the least element.
        upper: the largest element.

    Example:
        >>> from xlaops.indexing import Interval
        >>> print(Interval(0, 4) * -2 + 1)
        [-7, 1]
        >>> Interval(0, 4).less(5), Interval(0, 4).less(3)
        (True, None)

    Source:
        *Indexing Analysis*, section Indexing map.
    """

    ANY: ClassVar[Interval]
    EMPTY: ClassVar[Interval]

    lower: int
    upper: int

    def __post_init__(self) -> None:
        lower, upper = self.lower, self.upper
        # Intervals are made by the thousand, and of plain integers.
        if type(lower) is int and type(upper) is int and _fits(lower, upper):
            return
        for name in ("lower", "upper"):
            value = getattr(self, name)
            if type(value) is not int:
                try:
                    value = operator.index(value)
                except TypeError:
                    raise TypeError(
                        f"Interval: {name} must be an integer, got {value!r}"
                    ) from None
            if not INT64_MIN <= value <= INT64_MAX:
                raise ValueError(f"Interval: {name} must fit 64 bits, got {value}")
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, value: int | Interval | tuple[int, int]) -> Interval:
        """An interval of what stands for one: itself, a pair, or a point."""
        if isinstance(value, Interval):
            return value
        if isinstance(value, tuple):
            if len(value) != 2:
                raise TypeError(f"Interval: a pair must have two bounds, got {value}")
            return cls(*value)
        return cls(value, value)

    @classmethod
    def size(cls, size: int) -> Interval:
        """The indices of a dimension of that size: from 0 to ``size - 1``."""
        return cls(0, size - 1)

    # What it holds

    def __iter__(self) -> Iterator[int]:
        yield self.lower
        yield self.upper

    def __str__(self) -> str:
        return f"[{self.lower}, {self.upper}]"

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing."""
        return self.lower > self.upper

    @property
    def is_point(self) -> bool:
        """Whether it holds one integer."""
        return self.lower == self.upper

    @property
    def count(self) -> int:
        """How many integers it holds."""
        return max(self.upper - self.lower + 1, 0)

    def __contains__(self, value: object) -> bool:
        if isinstance(value, Interval):
            return value.is_empty or (
                self.lower <= value.lower and value.upper <= self.upper
            )
        try:
            return self.lower <= operator.index(value) <= self.upper  # pyright: ignore[reportArgumentType]
        except TypeError:
            return False

    def intersect(self, other: Interval) -> Interval:
        """The integers of both."""
        return Interval(max(self.lower, other.lower), min(self.upper, other.upper))

    def hull(self, other: Interval) -> Interval:
        """The least interval that holds both."""
        if self.is_empty:
            return other
        if other.is_empty:
            return self
        return Interval(min(self.lower, other.lower), max(self.upper, other.upper))

    # Arithmetic

    def __add__(self, other: int | Interval) -> Interval:
        b = Interval.of(other)
        if self.is_empty or b.is_empty:
            return Interval.EMPTY
        return Interval(
            _plus(self.lower, b.lower, INT64_MIN), _plus(self.upper, b.upper, INT64_MAX)
        )

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return self * -1

    def __sub__(self, other: int | Interval) -> Interval:
        return self + -Interval.of(other)

    def __rsub__(self, other: int) -> Interval:
        return -self + other

    def __mul__(self, other: int | Interval) -> Interval:
        b = Interval.of(other)
        if self.is_empty or b.is_empty:
            return Interval.EMPTY
        corners = [_times(x, y) for x in self for y in b]
        return Interval(min(corners), max(corners))

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Interval:
        divisor = _index("divisor", divisor)
        if divisor == 0:
            raise ZeroDivisionError("Interval: the divisor must not be 0")
        if self.is_empty:
            return Interval.EMPTY
        if divisor < 0:
            return -self // -divisor
        return Interval(_divided(self.lower, divisor), _divided(self.upper, divisor))

    def __mod__(self, modulus: int) -> Interval:
        modulus = _index("modulus", modulus)
        if modulus <= 0:
            raise ValueError(f"Interval: the modulus must be positive, got {modulus}")
        if self.is_empty:
            return Interval.EMPTY
        block = self.lower // modulus
        is_open = _is_infinite(self.lower) or _is_infinite(self.upper)
        if self.upper // modulus == block and not is_open:
            return Interval(self.lower - block * modulus, self.upper - block * modulus)
        return Interval(0, _saturated(modulus - 1))

    def minimum(self, other: int | Interval) -> Interval:
        """What the lesser of an element of each can be."""
        b = Interval.of(other)
        if self.is_empty or b.is_empty:
            return Interval.EMPTY
        return Interval(min(self.lower, b.lower), min(self.upper, b.upper))

    def maximum(self, other: int | Interval) -> Interval:
        """What the greater of an element of each can be."""
        b = Interval.of(other)
        if self.is_empty or b.is_empty:
            return Interval.EMPTY
        return Interval(max(self.lower, b.lower), max(self.upper, b.upper))

    # Comparisons of three values

    def less(self, other: int | Interval) -> bool | None:
        """Whether every element is less than every one of ``other``; None: some are."""
        b = Interval.of(other)
        if self.upper < b.lower:
            return True
        return False if self.lower >= b.upper else None

    def greater(self, other: int | Interval) -> bool | None:
        """Whether every element is greater; None where the elements disagree."""
        return Interval.of(other).less(self)

    def less_equal(self, other: int | Interval) -> bool | None:
        """Whether no element is greater; None where the elements disagree."""
        result = self.greater(other)
        return None if result is None else not result

    def greater_equal(self, other: int | Interval) -> bool | None:
        """Whether no element is less; None where the elements disagree."""
        result = self.less(other)
        return None if result is None else not result

    def equal(self, other: int | Interval) -> bool | None:
        """Whether all elements are the same number; None where they may be."""
        b = Interval.of(other)
        if self.is_point and b.is_point:
            return self.lower == b.lower
        return False if self.intersect(b).is_empty else None

    def not_equal(self, other: int | Interval) -> bool | None:
        """Whether no element is one of ``other``; None where some may be."""
        result = self.equal(other)
        return None if result is None else not result


Interval.ANY = Interval(INT64_MIN, INT64_MAX)
Interval.EMPTY = Interval(0, -1)
