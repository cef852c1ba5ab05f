"""Dropping the variables on which nothing depends."""

from __future__ import annotations

from math import gcd
from typing import TypeVar

from . import expression as ex
from .composition import with_variables
from .enumeration import has_point
from .expression import DIM, MOD, RANGE, RUNTIME, Atom, Expression
from .interval import Interval, WideError, fitting
from .map_data import DEFINED, Constraint, MapData
from .simplification import simplify
from .variables import Owner, Variable

M = TypeVar("M", bound=MapData)


def drop_unused(data: M, *, dims: bool = False) -> M:
    """The map without the variables on which nothing depends.

    Constraints that hold only variables without use are dropped if they can be
    satisfied, and a variable without use is taken out of a constraint where that is
    exact. Runtime variables with one owner become one.

    Args:
      data: the map.
      dims: whether dimensions are dropped as well as range and runtime variables.
    """
    if data.status != DEFINED:
        return data
    data = _with_common_owners(data)
    data = _without_projected(data)
    used = _used(data, dims)
    groups: dict[Atom, Atom] = {}
    for expression, _ in data.constraints:
        found = list(ex.variables(expression))
        for a in found[1:]:
            _join(groups, found[0], a)
    for runtime, read_at in _read_at(data).items():
        for a in read_at:
            _join(groups, runtime, a)
    needed = {_find(groups, a) for a in used}
    kept_constraints: list[Constraint] = []
    idle: dict[Atom, list[Constraint]] = {}
    for expression, interval in data.constraints:
        found = list(ex.variables(expression))
        root = _find(groups, found[0]) if found else None
        if root is None or root in needed:
            kept_constraints.append((expression, interval))
        else:
            idle.setdefault(root, []).append((expression, interval))
    for root, constraints in idle.items():
        atoms = [a for e, _ in constraints for a in ex.variables(e)]
        if any(_is_determined(data, a) for a in atoms) or not has_point(
            data, constraints
        ):
            kept_constraints += constraints
            needed.add(root)
    for expression, _ in kept_constraints:
        ex.variables(expression, used)
    # A component that stays keeps all of its variables through its constraints.
    return _restricted(data.remade(constraints=tuple(kept_constraints)), used, dims)


def _used(data: MapData, dims: bool) -> dict[Atom, None]:
    """The variables on which results depend, and the owners of those."""
    used: dict[Atom, None] = {}
    for expression in data.results:
        ex.variables(expression, used)
    if not dims:
        for i in range(len(data.dims)):
            used[ex.dim(i).terms[0][0]] = None
    for i, variable in enumerate(data.runtimes):
        if variable.owner is not None and _restricts(data, variable, variable.owner):
            used[ex.runtime_variable(i).terms[0][0]] = None
    done: set[Atom] = set()
    while True:
        fresh = [a for a in used if a.kind == RUNTIME and a not in done]
        if not fresh:
            return used
        for atom in fresh:
            done.add(atom)
            owner = data.runtimes[atom.first].owner
            for expression in owner.index if owner is not None else ():
                ex.variables(expression, used)


def _read_at(data: MapData) -> dict[Atom, dict[Atom, None]]:
    """For the runtime variables that are mentioned: what their owners' indices hold."""
    if not data.runtimes:
        return {}
    mentioned = _used(data, dims=False)
    for expression, _ in data.constraints:
        ex.variables(expression, mentioned)
    found: dict[Atom, dict[Atom, None]] = {}
    waiting = list(mentioned)
    while waiting:
        atom = waiting.pop()
        if atom.kind != RUNTIME or atom in found:
            continue
        held = found[atom] = {}
        owner = data.runtimes[atom.first].owner
        for expression in owner.index if owner is not None else ():
            ex.variables(expression, held)
        waiting += held
    return found


def _restricts(data: MapData, variable: Variable, owner: Owner) -> bool:
    """Whether a variable says where the map exists, even if nothing else needs it.

    That is so where some of its table's values are out of its bounds, or some indices
    are out of the table.
    """
    table = owner.table
    if table is None:
        return False
    if table.bounds not in variable.bounds:
        return True
    scope = data.scope(constrained=True)
    for e, n in zip(owner.index, table.values.shape, strict=True):
        lower, upper = scope.range(e)
        if lower < 0 or upper >= n:
            return True
    return False


def _find(groups: dict[Atom, Atom], a: Atom) -> Atom:
    while groups.get(a, a) is not a:
        a = groups[a]
    return a


def _join(groups: dict[Atom, Atom], a: Atom, b: Atom) -> None:
    a, b = _find(groups, a), _find(groups, b)
    if a is not b:
        groups[b] = a


def _restricted(data: M, used: dict[Atom, None], dims: bool) -> M:
    """The map with only these variables, which are all that it mentions."""
    # What an owner mentions is needed where the runtime variable is.
    for i, variable in enumerate(data.runtimes):
        atom = ex.runtime_variable(i).terms[0][0]
        if atom in used and variable.owner is not None:
            for expression in variable.owner.index:
                ex.variables(expression, used)
    table: dict[Atom, Expression] = {}
    groups: list[tuple[Variable, ...]] = []
    for kind, variables in zip(
        (DIM, RANGE, RUNTIME), (data.dims, data.ranges, data.runtimes), strict=True
    ):
        left = []
        for i, variable in enumerate(variables):
            atom = ex.variable(kind, i).terms[0][0]
            if atom in used or (kind == DIM and not dims):
                table[atom] = ex.variable(kind, len(left))
                left.append(variable)
        groups.append(tuple(left))
    if [len(g) for g in groups] == [
        len(data.dims),
        len(data.ranges),
        len(data.runtimes),
    ]:
        return data.remade(is_simplified=data.is_simplified)
    restricted = with_variables(data, table, *groups)
    return restricted.remade(is_simplified=data.is_simplified)


def _with_common_owners(data: M) -> M:
    """The map in which runtime variables with equal owners are one variable."""
    seen: dict[object, int] = {}
    same: dict[int, int] = {}
    for i, variable in enumerate(data.runtimes):
        owner = variable.owner
        if owner is None or owner.source is None:
            continue
        first = seen.setdefault(owner, i)
        if first != i:
            same[i] = first
    if not same:
        return data
    runtimes = list(data.runtimes)
    table: dict[Atom, Expression] = {}
    for kind, group in zip(
        (DIM, RANGE, RUNTIME), (data.dims, data.ranges, data.runtimes), strict=True
    ):
        for i in range(len(group)):
            table[ex.variable(kind, i).terms[0][0]] = ex.variable(kind, i)
    for i, first in same.items():
        bounds = runtimes[first].bounds.intersect(runtimes[i].bounds)
        if bounds.is_empty:
            return data.emptied()
        runtimes[first] = runtimes[first].within(bounds)
        table[ex.runtime_variable(i).terms[0][0]] = ex.runtime_variable(first)
    merged = with_variables(data, table, data.dims, data.ranges, tuple(runtimes))
    return simplify(merged)


# Taking a variable out of a constraint


def _without_projected(data: M) -> M:
    """The map with idle variables taken out of constraints where that is exact."""
    while True:
        used = _used(data, dims=False)
        counts: dict[Atom, int] = {}
        for expression, _ in data.constraints:
            for atom in ex.variables(expression):
                counts[atom] = counts.get(atom, 0) + 1
        for held in _read_at(data).values():
            # It says where an array is read: its value matters.
            counts.update(dict.fromkeys(held, 2))
        for position, (expression, interval) in enumerate(data.constraints):
            if len(ex.variables(expression)) < 2:
                continue
            projected = None
            for atom in ex.variables(expression):
                if atom in used or counts[atom] > 1 or _is_determined(data, atom):
                    continue
                projected = _projected(data, expression, interval, atom)
                if projected is not None:
                    break
            if projected is None:
                continue
            others = list(data.constraints)
            others[position : position + 1] = projected
            data = simplify(data.remade(constraints=tuple(others)))
            break
        else:
            return data


def _is_determined(data: MapData, atom: Atom) -> bool:
    """Whether a variable has one value for given others: it is read from an array."""
    return atom.kind == RUNTIME and data.runtimes[atom.first].owner is not None


def _projected(
    data: MapData, expression: Expression, interval: Interval, atom: Atom
) -> list[Constraint] | None:
    """Constraints that say that some value of the variable satisfies this one."""
    terms = dict(expression.terms)
    bounds = data.variable_of(atom).bounds
    k = terms.pop(atom, 0)
    if k:
        rest = ex.linear(terms, expression.constant)
        if atom in ex.variables(rest) or interval.count < abs(k):
            return None
        low, high = sorted((k * bounds.lower, k * bounds.upper))
        try:
            return [(rest, fitting(interval.lower - high, interval.upper - low))]
        except WideError:
            return None
    if len(expression.terms) != 1 or expression.constant:
        return None
    operation, factor = expression.terms[0]
    if operation.kind != MOD or factor != 1:
        return None
    inner = dict(operation.first.terms)
    k = inner.pop(atom, 0)
    if not k or atom in ex.variables(ex.linear(inner, 0)):
        return None
    m = operation.second
    step = gcd(k, m)
    # The multiples of k modulo m are step apart, and all of them occur.
    residues = interval.intersect(Interval(0, m - 1))
    if bounds.count >= m // step and residues.count >= step:
        return []
    return None
