"""Runtime variables for integers that a program reads."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..expression import Expression
from ..interval import Interval
from ..variables import Owner, Variable
from .equation import Operand


class Clamped(NamedTuple):
    """The source of runtime variables that are moved into their bounds.

    Attributes:
      source: what stands for the array of the values.
      most: the largest value that they keep.
    """

    source: Any
    most: int


def runtime(
    operand: Operand, index: tuple[Expression, ...], most: int, clamps: bool = True
) -> Variable:
    """A variable from 0 to ``most`` for an element of an array of integers.

    Args:
      operand: the array.
      index: of the element.
      most: the largest value.
      clamps: whether other values are moved into the bounds; if not, they are left out.
    """
    source, bounds = operand.source, None
    if operand.origin is not None:
        source, index, bounds = operand.origin(index)
    low, high = 0, most
    if bounds is not None:
        low, high = max(bounds[0], 0), min(bounds[1], most)
        if clamps:
            low, high = min(low, most), max(high, 0)
    if clamps and (bounds is None or bounds[0] < 0 or bounds[1] > most):
        source = Clamped(source, most)
    return Variable(Interval(low, high), owner=Owner(source, index))
