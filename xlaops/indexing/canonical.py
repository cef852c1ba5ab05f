"""The form to compare maps by."""

from __future__ import annotations

from typing import TypeVar

from . import expression as ex
from .composition import identity_table, with_range, with_variables
from .determined import eliminate
from .expression import DIM, RANGE, RUNTIME, Atom, Expression
from .interval import Interval
from .map_data import DEFINED, MapData
from .range_variables import merge_ranges, rescale
from .simplification import simplify
from .unused import drop_unused
from .variables import Variable

M = TypeVar("M", bound=MapData)


def canonical(data: M) -> M:
    """The form that maps have in common if rules find them equal.

    Variables without use are gone, range variables are merged, begin at 0 and stand in
    the order in which they occur.
    """
    if data.status != DEFINED:
        return data
    current = data
    for _ in range(4):
        following = simplify(
            _ordered(_based(rescale(merge_ranges(drop_unused(eliminate(current))))))
        )
        if following == current:
            break
        current = following
    return simplify(current, reduced=True)


def _based(data: M) -> M:
    """The map in which range variables begin at 0 and first occur with a plus."""
    for i, variable in enumerate(data.ranges):
        lower, upper = variable.bounds
        s = ex.range_variable(i)
        value = s + lower if _first_sign(data, s.terms[0][0]) > 0 else upper - s
        if value is not s:
            data = with_range(data, i, value, Interval(0, upper - lower))
    return data


def _first_sign(data: MapData, atom: Atom) -> int:
    for expression in data.expressions():
        sign = _sign_in(expression, atom)
        if sign:
            return sign
    return 1


def _sign_in(expression: Expression, atom: Atom) -> int:
    for a, k in expression.terms:
        if a is atom:
            return 1 if k > 0 else -1
        if a.kind < DIM:
            sign = _sign_in(a.first, atom)
            if not sign and isinstance(a.second, Expression):
                sign = _sign_in(a.second, atom)
            if sign:
                return sign if k > 0 else -sign
    return 0


def _ordered(data: M) -> M:
    """The map with range and runtime variables in the order in which they occur."""
    found: dict[Atom, None] = {}
    for expression in data.expressions():
        ex.variables(expression, found)
    table = identity_table(data)
    groups: list[tuple[Variable, ...]] = []
    for kind, variables in ((RANGE, data.ranges), (RUNTIME, data.runtimes)):
        order = [a.first for a in found if a.kind == kind]
        order += [i for i in range(len(variables)) if i not in order]
        for new, old in enumerate(order):
            table[ex.variable(kind, old).terms[0][0]] = ex.variable(kind, new)
        groups.append(tuple([variables[i] for i in order]))
    return with_variables(data, table, data.dims, groups[0], groups[1])
