"""The form to compare maps by."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, TypeVar

from . import expression as ex
from .composition import identity_table, with_range, with_variables
from .determined import eliminate
from .expression import DIM, DIV, RANGE, RUNTIME, Atom, Expression
from .interval import INT64_MAX, Interval
from .map_data import DEFINED, EMPTY, MapData
from .range_variables import merge_ranges, rescale
from .simplification import simplify
from .unused import drop_unused
from .variables import Variable

M = TypeVar("M", bound=MapData)


MAX_TURNED: Final = 3
"""Of how many range variables both directions are tried, with those of the others."""


def canonical(data: M) -> M:
    """The form that maps have in common if rules find them equal.

    Variables without use are gone, range variables are merged, begin at 0, stand in the
    order of how they are used, and count in the direction that gives the least form.
    """
    if data.status != DEFINED:
        return _without_ranges(data)
    current = data
    for _ in range(4):
        following = simplify(
            _ordered(_based(rescale(merge_ranges(drop_unused(eliminate(current))))))
        )
        if following == current:
            break
        current = following
    current = simplify(current, reduced=True)
    for _ in range(4):
        following = simplify(_ordered(_turned(drop_unused(current))), reduced=True)
        if following == current:
            break
        current = following
    return _without_ranges(current)


def _without_ranges(data: M) -> M:
    """The map itself; one that relates nothing, without range variables."""
    if data.status == EMPTY and data.ranges:
        return data.emptied(ranges=0)
    return data


def _turned(data: M) -> M:
    """The map with its range variables in the directions that give the least form.

    Inside of remainders the sign of a coefficient says nothing.
    """
    best = simplify(data, reduced=True)
    count = min(len(data.ranges), MAX_TURNED)
    for which in range(1, 2**count):
        other = data
        for i in range(count):
            if which >> i & 1:
                bounds = data.ranges[i].bounds
                value = bounds.upper + bounds.lower - ex.range_variable(i)
                other = with_range(other, i, value, bounds)
        other = simplify(other, reduced=True)
        if _form(other) < _form(best):
            best = other
    return best


def _form(data: MapData) -> tuple[Any, ...]:
    """What the forms of one map are compared by: their size, and then their terms."""
    expressions = data.expressions()
    return (
        sum([e.size for e in expressions]),
        [e.key for e in expressions],
        [(i.lower, i.upper) for _, i in data.constraints],
    )


def _based(data: M) -> M:
    """The map in which range variables begin at 0 and first occur with a plus."""
    for i, variable in enumerate(data.ranges):
        lower, upper = variable.bounds
        if upper - lower > INT64_MAX:
            continue
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
    """The map with range and runtime variables in the order of how they are used."""
    if max(len(group) for group in (data.ranges, data.runtimes)) < 2:
        return data
    uses = _uses(data)
    table = identity_table(data)
    groups: list[tuple[Variable, ...]] = []
    for kind, variables in ((RANGE, data.ranges), (RUNTIME, data.runtimes)):
        atoms = [ex.variable(kind, i).terms[0][0] for i in range(len(variables))]
        order = sorted(atoms, key=lambda a: sorted(uses.get(a, [])))
        for new, old in enumerate(order):
            table[old] = ex.variable(kind, new)
        groups.append(tuple([variables[a.first] for a in order]))
    return with_variables(data, table, data.dims, groups[0], groups[1])


_Use: TypeAlias = tuple[int, ...]


def _uses(data: MapData) -> dict[Atom, list[_Use]]:
    """Where each variable occurs, said without the numbers of others.

    That is in which result or kind of entry, inside of which operations, and with which
    coefficients but for their signs.
    """
    found: dict[Atom, list[_Use]] = {}
    for i, e in enumerate(data.results):
        _add_uses(e, (0, i), 0, found)
    for e, interval in data.constraints:
        _add_uses(e, (1, interval.upper - interval.lower), 0, found)
    for variable in data.runtimes:
        owner = variable.owner
        for i, e in enumerate(owner.index if owner is not None else ()):
            _add_uses(e, (2, i), 0, found)
    return found


def _add_uses(
    e: Expression, path: _Use, modulus: int, found: dict[Atom, list[_Use]]
) -> None:
    for atom, k in e.terms:
        factor = min(k % modulus, -k % modulus) if modulus else abs(k)
        if atom.kind >= DIM:
            found.setdefault(atom, []).append((*path, factor))
            continue
        if atom.kind <= DIV:
            inside = (*path, factor, atom.kind, atom.second)
            _add_uses(atom.first, inside, atom.second, found)
        else:
            for part in (atom.first, atom.second):
                _add_uses(part, (*path, factor, atom.kind, 0), 0, found)
