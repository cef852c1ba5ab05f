"""Range variables that a constraint determines, replaced by what they are."""

from __future__ import annotations

from typing import TypeVar

from . import expression as ex
from .composition import identity_table, with_variables
from .dependence import depends, table_index
from .expression import MOD, RANGE, Atom, Expression
from .interval import INT64_MAX, Interval
from .map_data import DEFINED, Constraint, MapData
from .simplification import simplify

M = TypeVar("M", bound=MapData)


def eliminate(data: M) -> M:
    """The map without range variables of which other variables leave one value.

    Those are the s of ``e + n s in [a, b]`` where b - a is less than n, and of
    ``(e + s) mod m in [c, c]`` where s has at most m values.
    """
    data = simplify(data)
    for _ in range(len(data.ranges)):
        found = _found(data) if data.status == DEFINED else None
        if found is None:
            break
        position, atom, value, extra = found
        table = identity_table(data)
        table[atom] = value
        constraints = list(data.constraints)
        # What held the variable is now said by its bounds, on its value.
        bounds = data.ranges[atom.first].bounds
        constraints[position : position + 1] = [(ex.of_atom(atom), bounds), *extra]
        ranges = data.ranges[: atom.first] + data.ranges[atom.first + 1 :]
        for i in range(atom.first + 1, len(data.ranges)):
            table[ex.range_variable(i).terms[0][0]] = ex.range_variable(i - 1)
        table[atom] = ex.ZERO
        table[atom] = ex.substitute(value, table.__getitem__, {})
        data = simplify(
            with_variables(
                data.remade(constraints=tuple(constraints)),
                table,
                data.dims,
                ranges,
                data.runtimes,
            )
        )
    return data


def _found(
    data: MapData,
) -> tuple[int, Atom, Expression, list[Constraint]] | None:
    """A constraint's number, the variable that it determines, its value, and the rest.

    The rest are constraints that say when there is such a value.
    """
    for position, constraint in enumerate(data.constraints):
        found = _by_remainder(data, constraint) or _by_interval(data, constraint)
        if found is not None:
            return position, *found
    return None


def _by_remainder(
    data: MapData, constraint: Constraint
) -> tuple[Atom, Expression, list[Constraint]] | None:
    expression, interval = constraint
    if not interval.is_point or len(expression.terms) != 1 or expression.constant:
        return None
    operation, factor = expression.terms[0]
    if operation.kind != MOD or factor != 1:
        return None
    inside, m = operation.first, operation.second
    for atom, k in inside.terms:
        if atom.kind != RANGE or abs(k) != 1:
            continue
        rest = ex.add(inside, ex.of_atom(atom, -k))
        bounds = data.ranges[atom.first].bounds
        if bounds.count > m or depends(rest, atom, table_index(data)):
            continue
        value = (rest - interval.lower) * -k
        return atom, ex.mod(value - bounds.lower, m) + bounds.lower, []
    return None


def _by_interval(
    data: MapData, constraint: Constraint
) -> tuple[Atom, Expression, list[Constraint]] | None:
    expression, interval = constraint
    slack = interval.upper - interval.lower
    for atom, k in expression.terms:
        n = abs(k)
        if atom.kind != RANGE or slack >= min(n, INT64_MAX):
            continue
        rest = ex.add(expression, ex.of_atom(atom, -k))
        if depends(rest, atom, table_index(data)):
            continue
        # n s is at most this much, and at most slack less.
        most = rest - interval.lower if k < 0 else interval.upper - rest
        extra: list[Constraint] = []
        if slack < n - 1:
            extra = [(ex.mod(most, n), Interval(0, slack))]
        return atom, ex.floordiv(most, n), extra
    return None
