"""What an indexing map is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self, TypeAlias

from . import expression as ex
from .expression import DIM, Atom, Bounds, Expression
from .interval import Interval
from .scope import Scope
from .variables import Variable

Constraint: TypeAlias = tuple[Expression, Interval]
VariableLike: TypeAlias = Variable | Interval | tuple[int, int] | int
IntervalLike: TypeAlias = Interval | tuple[int, int] | int
ConstraintsLike: TypeAlias = (
    Mapping[Expression, IntervalLike] | Iterable[tuple[Expression, IntervalLike]]
)

DEFINED: Final = 0
EMPTY: Final = 1
UNKNOWN: Final = 2

_NOTHING: Final = Variable(Interval(0, -1))


class MapData:
    """Variables, results and constraints of a map. Immutable, compared by value.

    Two maps are equal if they have equal bounds, results, constraints and owners, in
    whatever order the constraints are; names and reasons do not count. Neither do
    ``result_bounds``: intervals that hold the results in all of the domain, where one
    who made the map knows them to be less than what the bounds show.
    """

    __slots__ = (
        "_hash",
        "constraints",
        "dims",
        "is_simplified",
        "ranges",
        "reasons",
        "result_bounds",
        "results",
        "runtimes",
        "status",
    )

    dims: tuple[Variable, ...]
    ranges: tuple[Variable, ...]
    runtimes: tuple[Variable, ...]
    results: tuple[Expression, ...]
    constraints: tuple[Constraint, ...]
    reasons: tuple[str, ...]
    status: int
    is_simplified: bool
    result_bounds: tuple[Interval, ...] | None

    @classmethod
    def build(
        cls,
        dims: tuple[Variable, ...],
        results: tuple[Expression, ...],
        ranges: tuple[Variable, ...] = (),
        runtimes: tuple[Variable, ...] = (),
        constraints: tuple[Constraint, ...] = (),
        reasons: tuple[str, ...] = (),
        status: int = DEFINED,
        is_simplified: bool = False,
        result_bounds: tuple[Interval, ...] | None = None,
    ) -> Self:
        """A map of parts that fit, which nothing checks."""
        self = object.__new__(cls)
        # A map is written once, here; nothing assigns to it later.
        put = object.__setattr__
        put(self, "dims", dims)
        put(self, "results", results)
        put(self, "ranges", ranges)
        put(self, "runtimes", runtimes)
        if len(constraints) > 1:
            constraints = tuple(sorted(constraints, key=lambda c: c[0].key))
        put(self, "constraints", constraints)
        put(self, "reasons", reasons)
        put(self, "status", status)
        put(self, "is_simplified", is_simplified)
        put(self, "result_bounds", result_bounds)
        put(self, "_hash", None)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: {name}")

    def remade(self, **parts: Any) -> Self:
        """The map with some of its parts replaced, and not simplified.

        The results' bounds stay where the results do, and are forgotten where not.
        """
        if "results" not in parts:
            parts.setdefault("result_bounds", self.result_bounds)
        for name in ("dims", "results", "ranges", "runtimes", "constraints"):
            parts.setdefault(name, getattr(self, name))
        parts.setdefault("reasons", self.reasons)
        parts.setdefault("status", self.status)
        return type(self).build(**parts)

    # Maps that are no functions

    def emptied(
        self,
        dims: int | None = None,
        ranges: int | None = None,
        results: int | None = None,
    ) -> Self:
        """The map without a domain, of this arity or another."""
        return type(self).build(
            (_NOTHING,) * (len(self.dims) if dims is None else dims),
            (ex.ZERO,) * (len(self.results) if results is None else results),
            (_NOTHING,) * (len(self.ranges) if ranges is None else ranges),
            status=EMPTY,
            is_simplified=True,
        )

    def undefined_like(self, results: int | None = None, reason: str = "") -> Self:
        """The map of which nothing is known, from these dimensions."""
        return type(self).build(
            self.dims,
            (ex.ZERO,) * (len(self.results) if results is None else results),
            reasons=merged_reasons(self.reasons, (reason,) if reason else ()),
            status=UNKNOWN,
            is_simplified=True,
        )

    # Comparison

    def _identity(self) -> tuple[Any, ...]:
        return (
            self.status,
            self.dims,
            self.ranges,
            self.runtimes,
            self.results,
            self.constraints,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MapData):
            return NotImplemented
        if self is other:
            return True
        return hash(self) == hash(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        value = self._hash
        if value is None:
            value = hash(self._identity())
            object.__setattr__(self, "_hash", value)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (
            type(self),
            self.dims,
            self.results,
            self.ranges,
            self.runtimes,
            self.constraints,
            self.reasons,
            self.status,
            self.is_simplified,
            self.result_bounds,
        )

    # Views

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Dimension, range and runtime variables, in this order."""
        return self.dims + self.ranges + self.runtimes

    def variable_of(self, atom: Atom) -> Variable:
        """The variable that an atom stands for."""
        return (self.dims, self.ranges, self.runtimes)[atom.kind - DIM][atom.first]

    def bound_lists(self) -> tuple[list[Bounds], list[Bounds], list[Bounds]]:
        """The bounds of all variables, as pairs."""
        return (
            [(v.bounds.lower, v.bounds.upper) for v in self.dims],
            [(v.bounds.lower, v.bounds.upper) for v in self.ranges],
            [(v.bounds.lower, v.bounds.upper) for v in self.runtimes],
        )

    def scope(self, constrained: bool = False) -> Scope:
        """The bounds of all variables, to ask for ranges of expressions.

        Args:
          constrained: whether constraints count as well.
        """
        known: dict[Expression, Bounds] = {}
        for e, (lower, upper) in self.constraints if constrained else ():
            known[ex.shift(e, -e.constant)] = (lower - e.constant, upper - e.constant)
        return Scope(self.bound_lists(), known)

    def expressions(self) -> list[Expression]:
        """Results, constraints and the indices of owners."""
        found = list(self.results)
        found += [e for e, _ in self.constraints]
        for variable in self.runtimes:
            if variable.owner is not None:
                found += variable.owner.index
        return found


def _rebuilt(cls: type[MapData], *parts: Any) -> MapData:
    return cls.build(*parts)


def merged_reasons(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    """The reasons of two maps, each once."""
    if not b or a == b:
        return a
    return tuple(dict.fromkeys(a + b))


def atoms(kind: int, count: int) -> Sequence[Expression]:
    """The first variables of a kind, as expressions."""
    return [ex.variable(kind, i) for i in range(count)]
