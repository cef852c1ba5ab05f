"""The parts that maps are made of, checked and brought into one form."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TypeVar

from .expression import DIM, Expression, as_expression, variables
from .interval import Interval
from .map_data import IntervalLike, MapData, VariableLike
from .variables import Variable

M = TypeVar("M", bound=MapData)


def result_bounds_of(
    group: Iterable[VariableLike] | None, count: int
) -> tuple[Interval, ...] | None:
    """An interval for each of so many results, or None.

    Raises:
      TypeError, ValueError: if they are none, or others than that many.
    """
    if group is None:
        return None
    bounds = tuple([v.bounds for v in variables_of("result_bounds", group)])
    if len(bounds) != count:
        raise ValueError(
            f"IndexingMap: result_bounds must have one entry for each of {count} "
            f"results, got {len(bounds)}"
        )
    return bounds


def variables_of(name: str, group: Iterable[VariableLike]) -> tuple[Variable, ...]:
    """The variables of what stands for them: themselves, intervals, pairs or sizes.

    Raises:
      TypeError, ValueError: if one is none of these; the message says ``name``.
    """
    made: list[Variable] = []
    for value in group:
        if isinstance(value, Variable):
            made.append(value)
        elif isinstance(value, (Interval, tuple)):
            made.append(Variable(Interval.of(value)))
        else:
            try:
                size = operator.index(value)
            except TypeError:
                raise TypeError(
                    f"IndexingMap: {name} must be variables, intervals, pairs or "
                    f"sizes, got {value!r}"
                ) from None
            if size < 0:
                raise ValueError(f"IndexingMap: {name} must be >= 0, got {size}")
            made.append(Variable(Interval(0, size - 1)))
    return tuple(made)


def merged_constraints(
    entries: Iterable[tuple[Expression | int, IntervalLike]],
) -> dict[Expression, Interval]:
    """One interval for each expression, which holds what all of its intervals do."""
    merged: dict[Expression, Interval] = {}
    for expression, interval in entries:
        e, i = as_expression(expression), Interval.of(interval)
        old = merged.get(e)
        merged[e] = i if old is None else old.intersect(i)
    return merged


def check_variables(data: MapData) -> None:
    """Checks that expressions mention only variables that there are.

    Raises:
      ValueError: if one mentions another.
    """
    counts = (len(data.dims), len(data.ranges), len(data.runtimes))
    names = ("dimension", "range", "runtime")
    for expression in data.expressions():
        for atom in variables(expression):
            kind = atom.kind - DIM
            if atom.first >= counts[kind]:
                raise ValueError(
                    f"IndexingMap: {names[kind]} variables must be among the "
                    f"{counts[kind]} that there are, got number {atom.first} in "
                    f"{expression}"
                )


def constrained(data: M, constraints: dict[Expression, Interval]) -> M:
    """The map with constraints on bare variables as bounds, and constants checked.

    Raises:
      ValueError: if it mentions variables that it has not.
    """
    groups = [list(data.dims), list(data.ranges), list(data.runtimes)]
    kept: list[tuple[Expression, Interval]] = []
    for expression, interval in constraints.items():
        atom = expression.variable
        if not expression.terms:
            if expression.constant not in interval:
                check_variables(data)
                return data.emptied()
        elif atom is None:
            if interval.is_empty:
                check_variables(data)
                return data.emptied()
            kept.append((expression, interval))
        else:
            group = groups[atom.kind - DIM]
            if atom.first < len(group):
                old = group[atom.first]
                group[atom.first] = old.within(old.bounds.intersect(interval))
            else:
                kept.append((expression, interval))
    if any(v.bounds.is_empty for group in groups for v in group):
        check_variables(data)
        return data.emptied()
    d, s, rt = (tuple(g) for g in groups)
    made = data.remade(dims=d, ranges=s, runtimes=rt, constraints=tuple(kept))
    check_variables(made)
    return made
