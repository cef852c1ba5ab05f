"""The variables of a map: their bounds, their names, and where values come from."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Hashable
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from .expression import Expression, as_expression
from .interval import INT64_MAX, Interval

VariableKind: TypeAlias = Literal["dimension", "range", "runtime"]

_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
KEYWORDS: Final = frozenset(
    {"floordiv", "ceildiv", "mod", "min", "max", "in", "domain", "is_simplified"}
)


def as_int64(what: str, array: np.ndarray) -> np.ndarray:
    """A copy of an array of integers.

    Raises:
      ValueError: if one does not fit; the message begins with ``what``.
    """
    if array.dtype == np.uint64 and array.size and array.max() > INT64_MAX:
        raise ValueError(f"{what} must fit 64 bits with a sign, got {array.max()}")
    return array.astype(np.int64)


class Table:
    """Integers that are known when a map is made, held with their runtime variable.

    Two tables are equal if their integers are.

    Args:
        values: the integers, of any shape; they are copied.

    Example:
        >>> from xlaops.indexing.variables import Table
        >>> Table([3, 1, 2]).values
        array([3, 1, 2])

    Raises:
        TypeError: if the values are no integers.
        ValueError: if one does not fit 64 bits with a sign.
    """

    __slots__ = ("_hash", "bounds", "values")

    bounds: Interval
    values: np.ndarray

    def __init__(self, values: Any) -> None:
        array = np.asarray(values)
        if array.dtype.kind not in "iu":
            raise TypeError(f"Table: values must be integers, got {array.dtype}")
        self.values = as_int64("Table: values", array)
        self.values.setflags(write=False)
        self.bounds = Interval.EMPTY
        if array.size:
            self.bounds = Interval(int(self.values.min()), int(self.values.max()))
        self._hash = hash((self.values.shape, self.values.tobytes()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self is other or (
            self._hash == other._hash and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        # Made anew: another process hashes bytes in another way.
        return Table, (self.values,)

    def __repr__(self) -> str:
        return f"Table(shape={self.values.shape})"


@dataclasses.dataclass(frozen=True, slots=True)
class Owner:
    """Where the value of a runtime variable comes from.

    Attributes:
      source: what stands for the array that holds the value: anything hashable, such
        as a variable of a jaxpr. Owners with equal sources and indices have one value.
      index: which element of the array, as expressions of the map's own variables.
      table: the array's integers, where they are known.
    """

    source: Hashable
    index: tuple[Expression, ...] = ()
    table: Table | None = None

    def __post_init__(self) -> None:
        if not all(isinstance(e, Expression) for e in self.index):
            index = tuple([as_expression(e) for e in self.index])
            object.__setattr__(self, "index", index)
        table = self.table
        if table is not None and len(self.index) != table.values.ndim:
            raise ValueError(
                f"Owner: index must have one entry for each of the table's "
                f"{table.values.ndim} dimensions, got {len(self.index)}"
            )

    def replace_variables(self, replace: Callable[[Expression], Expression]) -> Owner:
        """The owner with its index rewritten for another map."""
        if not self.index:
            return self
        index = tuple([replace(e) for e in self.index])
        return Owner(self.source, index, self.table)


@dataclasses.dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a map: the values that it takes, and its name.

    Args:
        bounds: an `Interval`, or a pair of its bounds.
        name: an identifier; nothing is the number after ``d``, ``s`` or ``rt``. Names
            are for people: variables that differ only in name are equal.
        owner: of a runtime variable, where its value comes from.

    Example:
        >>> from xlaops.indexing import Interval, Variable
        >>> Variable(Interval(0, 127), "th_x").bounds.count
        128

    Raises:
        ValueError: if the name is no identifier.
    """

    bounds: Interval
    name: str = dataclasses.field(default="", compare=False)
    owner: Owner | None = None

    def __post_init__(self) -> None:
        if type(self.bounds) is not Interval:
            object.__setattr__(self, "bounds", Interval.of(self.bounds))
        name = self.name
        if name and (name.lower() in KEYWORDS or not _IDENTIFIER.fullmatch(name)):
            raise ValueError(f"Variable: name must be an identifier, got {name!r}")

    def within(self, bounds: Interval) -> Variable:
        """The variable with other bounds."""
        if bounds == self.bounds:
            return self
        return Variable(bounds, self.name, self.owner)


def of_size(size: int, name: str = "") -> Variable:
    """A variable for the indices of a dimension of that size."""
    return Variable(Interval(0, size - 1), name)
