"""One operation of a program as rules see it, and the table of rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..expression import Expression
from ..map import IndexingMap

Maps: TypeAlias = tuple[IndexingMap, ...]


def _unknown() -> None:
    return None


@dataclasses.dataclass(frozen=True, slots=True)
class Operand:
    """An array that an operation reads.

    Attributes:
      shape: its shape.
      dtype: its element type.
      source: what stands for the array as the owner of runtime variables.
      constant: gives its value, where it is known before the program runs.
      origin: for the index of an element: the source that stands for the array that the
        element was taken from, its index there, and its bounds or None.
    """

    shape: tuple[int, ...]
    dtype: Any = None
    source: Hashable = None
    constant: Callable[[], np.ndarray | None] = _unknown
    origin: Callable[[tuple[Expression, ...]], tuple[Hashable, Any, Any]] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Equation:
    """An operation with its operands and results.

    Attributes:
      name: of the primitive.
      params: its parameters.
      operands: the arrays that it reads.
      shapes: those of its results.
      dtypes: their element types.
    """

    name: str
    params: Mapping[str, Any]
    operands: tuple[Operand, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[Any, ...]


Rule: TypeAlias = Callable[[Equation, int], Sequence[Maps]]
"""For a result of an equation: the maps to each operand, from the result's elements."""

_rules: Final[dict[str, Rule]] = {}
_forward: Final[dict[str, Rule]] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers the rule of primitives of these names."""

    def register(function: Rule) -> Rule:
        for name in names:
            if name in _rules:
                raise ValueError(f"rule: there must be one rule for {name}, got two")
            _rules[name] = function
        return function

    return register


def forward_rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers what gives the maps from each operand to a result of primitives.

    Others have those of their rule, inverted: one is for operations of which the other
    direction has a simpler form than the inversion finds.
    """

    def register(function: Rule) -> Rule:
        _forward.update(dict.fromkeys(names, function))
        return function

    return register


def find_forward(name: str) -> Rule | None:
    """What gives the maps from a primitive's operands to its results, or None."""
    return _forward.get(name)


def find(name: str) -> Rule | None:
    """The rule of a primitive, or None."""
    return _rules.get(name)


def names() -> frozenset[str]:
    """The names of all primitives that have a rule."""
    return frozenset(_rules)
