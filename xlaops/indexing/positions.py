"""The pairs of elements that sets of maps relate, as positions in two arrays.

What `enumeration` does for one map point by point is done here for whole sets, and
without the points that equations exclude: where a constraint says what a variable is,
the variable is computed and does not count. A scatter to known places has as many
points as updates, and not as many as updates and places together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from . import expression as ex
from .enumeration import MAX_POINTS, blocks
from .evaluation import values_at
from .expression import RANGE, RUNTIME, Atom, Expression
from .interval import Interval
from .map import IndexingMap
from .map_data import MapData
from .parts import Part, split
from .variables import Variable

MAX_CODE: Final = 2**62
"""How many pairs of elements two arrays may have."""

_MANY: Final = 2**16
"""How many points a map has at least to be looked at part by part."""


def pairs(
    maps: Iterable[IndexingMap],
    from_shape: Sequence[int],
    to_shape: Sequence[int],
    limit: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that any of several maps relates, as row-major positions.

    Pairs outside of the arrays are left out. An undefined map relates all.

    Args:
      maps: from the first array to the second.
      from_shape: shape of the array to which the dimensions belong.
      to_shape: shape of the array to which the results belong.
      limit: how many points may be looked at.

    Returns:
      Two int64 arrays of one length: positions in the first array, in order, and in
      the second, in order among equal ones.

    Raises:
      ValueError: if there are more points.
      OverflowError: if values or positions do not fit 64 bits.
    """
    rows, columns = prod(from_shape), prod(to_shape)
    if rows * columns >= MAX_CODE:
        raise OverflowError(
            f"positions: arrays must have fewer than 2**62 pairs of elements, got "
            f"{rows} times {columns}"
        )
    if not rows or not columns:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    limit = MAX_POINTS if limit is None else limit
    parts: list[np.ndarray] = []
    for one in maps:
        if one.is_undefined:
            if rows * columns > limit:
                raise _too_many(limit, rows * columns)
            parts = [np.arange(rows * columns, dtype=np.int64)]
            break
        parts += codes(one, from_shape, to_shape, limit)
    return np.divmod(merged(parts), columns)


def codes(
    one: IndexingMap, from_shape: Sequence[int], to_shape: Sequence[int], limit: int
) -> list[np.ndarray]:
    """The pairs that a map relates, each as one number, in one or more arrays.

    Args:
      one: a map that is not undefined.
      from_shape: shape of the array to which the dimensions belong.
      to_shape: shape of the array to which the results belong.
      limit: how many points may be looked at.
    """
    if one.is_known_empty:
        return []
    data = solved(one)
    count = _points(data)
    if count > _MANY:
        parts = split(one)
        if len(parts) > 1:
            return _product(parts, from_shape, to_shape, limit)
    if count > limit:
        raise _too_many(limit, count)
    sizes = (*from_shape, *to_shape)
    found: list[np.ndarray] = []
    for values, mask, _ in blocks(data, limit):
        shape = np.broadcast_shapes(
            *[np.shape(v) for v in values.values()], () if mask is None else mask.shape
        )
        code: Any = 0
        inside = mask
        for part, n in zip(values_at(data.results, values), sizes, strict=True):
            part = np.asarray(part, np.int64)
            code = code * n + part
            if part.size and (part.min() < 0 or part.max() >= n):
                within = (part >= 0) & (part < n)
                inside = within if inside is None else inside & within
        # Axes on which nothing depends would only repeat the codes.
        if inside is not None:
            both = np.broadcast_shapes(np.shape(code), np.shape(inside))
            code = np.broadcast_to(code, both)[np.broadcast_to(inside, both)]
        elif not prod(shape):
            continue
        found.append(np.ravel(code))
    return found


def _points(data: MapData) -> int:
    """How many values the variables have together, but for those of tables."""
    free = [*data.ranges, *[v for v in data.runtimes if not _has_table(v)]]
    return prod([v.bounds.count for v in free])


def _product(
    parts: Sequence[Part],
    from_shape: Sequence[int],
    to_shape: Sequence[int],
    limit: int,
) -> list[np.ndarray]:
    """The pairs of a map, as numbers, from those of its parts.

    A part may have many points for each of its pairs.
    """
    rows = [prod(from_shape[i + 1 :]) for i in range(len(from_shape))]
    columns = [prod(to_shape[i + 1 :]) for i in range(len(to_shape))]
    width = prod(to_shape)
    found: np.ndarray = np.zeros(1, np.int64)
    for dims, results, part in parts:
        own = [from_shape[i] for i in dims], [to_shape[i] for i in results]
        steps = [rows[i] * width for i in dims], [columns[i] for i in results]
        code: Any = 0
        for position, sizes, strides in zip(
            pairs([part], *own, limit), own, steps, strict=True
        ):
            index = np.unravel_index(position, sizes) if sizes else ()
            code = sum((i * k for i, k in zip(index, strides, strict=True)), code)
            code = code + np.zeros(len(position), np.int64)
        if len(found) * len(code) > limit:
            raise _too_many(limit, len(found) * len(code))
        found = np.add.outer(found, code).ravel()
    return [found]


def merged(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The numbers of all arrays in order, each once."""
    if not parts:
        return np.zeros(0, np.int64)
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if len(values) and not bool(np.all(values[1:] > values[:-1])):
        # They are made of a few ascending runs, which this sort merges.
        values = np.sort(values, kind="stable")
        keep = np.ones(len(values), bool)
        np.not_equal(values[1:], values[:-1], out=keep[1:])
        values = values[keep]
    return values


def _too_many(limit: int, count: int) -> ValueError:
    return ValueError(
        f"positions: the maps must have at most {limit} points, got {count}; "
        "`limit` allows more"
    )


def _has_table(variable: Variable) -> bool:
    return variable.owner is not None and variable.owner.table is not None


# Equations


def solved(one: IndexingMap) -> MapData:
    """A map of the same pairs: both elements as results, of range variables alone.

    Variables that constraints give within fewer values than they have are replaced.

    Args:
      one: a map that is not undefined and not known to be empty.
    """
    return _Solver(one).data()


class _Solver:
    """The parts of a map while variables are replaced."""

    def __init__(self, one: IndexingMap) -> None:
        count = len(one.dims)
        # Dimensions become the first range variables.
        self.ranges: list[Variable | None] = [
            Variable(v.bounds) for v in (*one.dims, *one.ranges)
        ]
        self.runtimes = list(one.runtimes)
        self.results: list[Expression] = []
        self.constraints: list[tuple[Expression, Interval]] = []

        def as_range(atom: Atom) -> Expression:
            if atom.kind == RUNTIME:
                return ex.of_atom(atom)
            shift = count if atom.kind == RANGE else 0
            return ex.range_variable(atom.first + shift)

        dims = [ex.dim(i) for i in range(count)]
        self.results = [*dims, *one.results]
        self.constraints = list(one.constraints)
        self._replace(as_range)
        while self._solve():
            pass

    def _replace(self, replace: Callable[[Atom], Expression]) -> None:
        memo: dict[Expression, Expression] = {}

        def new(e: Expression) -> Expression:
            return ex.substitute(e, replace, memo)

        self.results = [new(e) for e in self.results]
        self.constraints = [(new(e), i) for e, i in self.constraints]
        self.runtimes = [
            v
            if v.owner is None
            else Variable(v.bounds, v.name, v.owner.replace_variables(new))
            for v in self.runtimes
        ]

    def _solve(self) -> bool:
        """Replaces the variable of which a constraint leaves the smallest part."""
        best: tuple[float, int, Atom, int] | None = None
        for i, (expression, (low, high)) in enumerate(self.constraints):
            width = high - low + 1
            for atom, k in expression.terms:
                if atom.kind != RANGE or k not in (1, -1):
                    continue
                variable = self.ranges[atom.first]
                assert variable is not None
                ratio = width / variable.bounds.count
                if ratio >= 0.5 or (best is not None and ratio >= best[0]):
                    continue
                if not self._occurs(atom, expression):
                    best = (ratio, i, atom, k)
        if best is None:
            return False
        _, i, atom, k = best
        expression, (low, high) = self.constraints.pop(i)
        bounds = self._bounds_of(atom)
        # k v + rest = t, so that v = k (t - rest).
        rest = ex.add(expression, ex.scale(ex.of_atom(atom), -k))
        if low == high:
            value = ex.constant(low)
        else:
            value = ex.range_variable(len(self.ranges))
            self.ranges.append(Variable(Interval(low, high)))
        solution = ex.scale(ex.add(value, ex.scale(rest, -1)), k)
        self.ranges[atom.first] = None
        self._replace(lambda a: solution if a is atom else ex.of_atom(a))
        self.constraints.append((solution, bounds))
        return True

    def _bounds_of(self, atom: Atom) -> Interval:
        variable = self.ranges[atom.first]
        assert variable is not None
        return variable.bounds

    def _occurs(self, atom: Atom, expression: Expression) -> bool:
        """Whether a variable is also read in other ways than as a term."""
        waiting = [a for a, _ in expression.terms if a is not atom]
        seen: set[Atom] = set()
        while waiting:
            one = waiting.pop()
            if one is atom:
                return True
            if one in seen:
                continue
            seen.add(one)
            if one.kind == RUNTIME:
                owner = self.runtimes[one.first].owner
                for e in owner.index if owner is not None and owner.table else ():
                    waiting += ex.variables(e)
            elif one.kind != RANGE:
                waiting += ex.variables(ex.of_atom(one))
        return False

    def data(self) -> MapData:
        """The map of what is left."""
        numbers: dict[int, int] = {}
        ranges: list[Variable] = []
        for i, variable in enumerate(self.ranges):
            if variable is not None:
                numbers[i] = len(ranges)
                ranges.append(variable)

        def renumbered(atom: Atom) -> Expression:
            if atom.kind == RANGE:
                return ex.range_variable(numbers[atom.first])
            return ex.of_atom(atom)

        self._replace(renumbered)
        # Owners that are no tables say nothing of values.
        runtimes = [
            v if _has_table(v) else Variable(v.bounds, v.name) for v in self.runtimes
        ]
        return MapData.build(
            (),
            tuple(self.results),
            tuple(ranges),
            tuple(runtimes),
            tuple(self.constraints),
        )
