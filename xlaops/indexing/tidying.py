"""Maps with as few range variables as they need, in an order: equal ones look alike."""

from __future__ import annotations

from typing import Final

from . import expression as ex
from .composition import identity_table, with_range, with_variables
from .dependence import depends, table_index
from .expression import DIM, DIV, RANGE, RUNTIME, Atom, Expression
from .interval import INT64_MAX, Interval
from .map import IndexingMap
from .variables import Variable

# Of one variable, for each of which with each other a constraint is written.
_MOST_BOUNDS: Final = 6


def tidied(a: IndexingMap) -> IndexingMap:
    """The map without the variables that it does not need, and the others in order."""
    a = solved(a.drop_unused())
    if a.ranges:
        a = _from_zero(_narrowed(a))
        if len(a.ranges) > 1:
            a = _ordered(_summed(a.merge_ranges()))
    return a


def solved(a: IndexingMap) -> IndexingMap:
    """The map without variables that an equation of its constraints gives.

    Those are range variables, and runtime variables of which no owner is known.
    """
    for e, interval in a.constraints:
        if not interval.is_point or e.depth:
            continue
        for atom, k in e.terms:
            if abs(k) != 1 or atom.kind == DIM:
                continue
            if atom.kind == RUNTIME and a.runtimes[atom.first].owner is not None:
                continue
            rest = ex.of_atom(atom, k) - e + interval.lower
            if depends(rest, atom, table_index(a)):
                continue
            return solved(replaced(a, atom, rest * k))
    return a


def replaced(a: IndexingMap, atom: Atom, value: Expression) -> IndexingMap:
    """The map in which an expression of others takes the place of a variable."""
    table: dict[Atom, Expression] = {}
    groups: list[tuple[Variable, ...]] = []
    bounds = a.variable_of(atom).bounds
    for kind, group in ((DIM, a.dims), (RANGE, a.ranges), (RUNTIME, a.runtimes)):
        kept = []
        for i, v in enumerate(group):
            old = ex.variable(kind, i)
            if old.terms[0][0] is atom:
                continue
            table[old.terms[0][0]] = ex.variable(kind, len(kept))
            kept.append(v)
        groups.append(tuple(kept))
    memo: dict[Expression, Expression] = {}
    table[atom] = ex.substitute(value, table.__getitem__, memo)
    made = with_variables(a, table, *groups)
    limit = (table[atom], bounds)
    return made.remade(constraints=(*made.constraints, limit)).simplify()


def _narrowed(a: IndexingMap) -> IndexingMap:
    """The map with ``s floordiv n`` or ``s mod n`` as a variable, if s occurs so only.

    Remainders only where all of them occur.
    """
    places: dict[Atom, set[Atom | None]] = {}
    for e in a.expressions():
        _collect(e, None, places)
    for s, found in places.items():
        if s.kind != RANGE or len(found) != 1:
            continue
        (part,) = found
        if part is None or part.first is not ex.of_atom(s):
            continue
        low, high = a.ranges[s.first].bounds
        n = part.second
        if part.kind == DIV:
            bounds = Interval(low // n, high // n)
        elif high - low + 1 >= n:
            bounds = Interval(0, n - 1)
        else:
            continue
        # The operation yields the new variable for these values of the old one.
        value = ex.of_atom(s) * (n if part.kind == DIV else 1)
        return _narrowed(with_range(a, s.first, value, bounds).simplify())
    return a


def _summed(a: IndexingMap) -> IndexingMap:
    """The map with ``s + t`` as one variable where results know only of the sum.

    As in windows of windows. Constraints may hold s without t: ``e + s in [l, u]`` is
    said of e and the sum instead. All coefficients being 1, nothing is lost by that.
    """
    if not a.constraints:
        return a
    rows: dict[Atom, dict[int, int]] = {}
    nested: dict[Atom, None] = {}
    both = (*a.results, *[e for e, _ in a.constraints])
    for i, e in enumerate(both):
        for atom, k in e.terms:
            if atom.kind < DIM:
                ex.variables(ex.of_atom(atom), nested)
            elif atom.kind == RANGE:
                rows.setdefault(atom, {})[i] = k
    for v in a.runtimes:
        for e in v.owner.index if v.owner is not None else ():
            ex.variables(e, nested)
    usable = [atom for atom in rows if atom not in nested]
    count = len(a.results)
    for n, s in enumerate(usable):
        mine = {i: k for i, k in rows[s].items() if i < count}
        for t in usable[n + 1 :]:
            if mine != {i: k for i, k in rows[t].items() if i < count}:
                continue
            made = _sum_of(a, s, t)
            if made is not None:
                return _summed(made)
    return a


def _sum_of(a: IndexingMap, s: Atom, t: Atom) -> IndexingMap | None:
    """The map with t for ``s + t``, and s projected away; None if that is not exact."""
    lower, upper = (ex.of_atom(t) - a.ranges[t.first].bounds.upper), ex.of_atom(t)
    low, high = a.ranges[s.first].bounds
    # s is at least any of the first and at most any of the second.
    least = [ex.constant(low), lower]
    most = [ex.constant(high), upper - a.ranges[t.first].bounds.lower]
    kept = []
    for e, (first, last) in a.constraints:
        terms = dict(e.terms)
        with_s, with_t = terms.pop(s, 0), terms.pop(t, 0)
        k = with_s - with_t
        rest = ex.linear({**terms, t: with_t}, e.constant)
        if k == 0:
            kept.append((rest, Interval(first, last)))
        elif k == 1:
            least.append(first - rest)
            most.append(last - rest)
        elif k == -1:
            least.append(rest - last)
            most.append(rest - first)
        else:
            return None
    if len(least) > _MOST_BOUNDS:
        return None
    bounds = a.ranges[s.first].bounds + a.ranges[t.first].bounds
    for x in least:
        for y in most:
            difference = y - x
            if difference.terms:
                kept.append((difference, Interval(0, INT64_MAX)))
            elif difference.constant < 0:
                return None
    ranges = list(a.ranges)
    ranges[t.first] = Variable(bounds)
    merged: dict[Expression, Interval] = {}
    for e, i in kept:
        merged[e] = merged[e].intersect(i) if e in merged else i
    results = [e - ex.of_atom(s, dict(e.terms).get(s, 0)) for e in a.results]
    made = IndexingMap(a.dims, results, ranges, a.runtimes, merged, a.reasons)
    return made.simplify().drop_unused()


def _from_zero(a: IndexingMap) -> IndexingMap:
    """The map of which all range variables begin at 0."""
    if all(v.bounds.lower == 0 for v in a.ranges):
        return a
    for i, v in enumerate(a.ranges):
        low, high = v.bounds
        if low:
            a = with_range(a, i, ex.range_variable(i) + low, Interval(0, high - low))
    return a.simplify()


def _collect(
    e: Expression, inside: Atom | None, places: dict[Atom, set[Atom | None]]
) -> None:
    """Notes in which operation each variable occurs; None: in none, or in several."""
    for atom, _ in e.terms:
        if atom.kind >= DIM:
            places.setdefault(atom, set()).add(inside)
            continue
        is_simple = inside is None and atom.kind <= DIV
        _collect(atom.first, atom if is_simple else None, places)
        if atom.kind > DIV:
            _collect(atom.second, None, places)


def _ordered(a: IndexingMap) -> IndexingMap:
    """The map with its range variables in the order in which they occur."""
    found: dict[Atom, None] = {}
    for e in a.expressions():
        ex.variables(e, found)
    order = [v.first for v in found if v.kind == RANGE]
    if order == sorted(order):
        return a
    order += [i for i in range(len(a.ranges)) if i not in order]
    table = identity_table(a)
    for new, old in enumerate(order):
        table[ex.range_variable(old).terms[0][0]] = ex.range_variable(new)
    ranges = tuple([a.ranges[i] for i in order])
    return with_variables(a, table, a.dims, ranges, a.runtimes).simplify()
