"""Range variables that count only what they take, and several of them in one."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TypeVar

from . import expression as ex
from .composition import identity_table, with_range, with_variables
from .expression import DIM, MOD, RANGE, Atom, Expression
from .interval import INT64_MAX, INT64_MIN, Interval
from .map_data import DEFINED, MapData
from .simplification import simplify
from .variables import Variable

M = TypeVar("M", bound=MapData)


def rescale(data: M) -> M:
    """The map in which no range variable is held to one residue of a modulus.

    A variable s of which ``s mod m`` is r becomes ``s * m + r``.
    """
    if data.status != DEFINED:
        return data
    data = simplify(data)
    for expression, interval in data.constraints:
        if not interval.is_point or len(expression.terms) != 1:
            continue
        operation, factor = expression.terms[0]
        if operation.kind != MOD or factor != 1:
            continue
        inside = operation.first
        if len(inside.terms) != 1 or inside.terms[0][0].kind != RANGE:
            continue
        atom, k = inside.terms[0]
        m = operation.second
        g, r = gcd(k, m), (interval.lower - inside.constant) % m
        if r % g:
            return data.emptied()
        m, r = m // g, r // g * pow(k // g, -1, m // g) % (m // g)
        bounds = data.ranges[atom.first].bounds
        low, high = -(-(bounds.lower - r) // m), (bounds.upper - r) // m
        new = ex.range_variable(atom.first) * m + r
        others = tuple([c for c in data.constraints if c[0] is not expression])
        changed = with_range(
            data.remade(constraints=others), atom.first, new, Interval(low, high)
        )
        return rescale(simplify(changed))
    return data


def merge_ranges(data: M) -> M:
    """The map with range variables that occur only together put into one.

    ``q s + t`` becomes one variable where t has at least q values, as in two
    convolutions in a row or a sum in two steps.
    """
    if data.status != DEFINED:
        return data
    data = simplify(data)
    while len(data.ranges) > 1:
        merged = _merged_once(data)
        if merged is None:
            break
        data = merged
    return data


def _merged_once(data: M) -> M | None:
    occurrences: dict[Atom, list[tuple[int, int]]] = {}
    forms = 0
    stack = list(data.expressions())
    seen: set[Expression] = set()
    while stack:
        expression = stack.pop()
        if expression in seen:
            continue
        seen.add(expression)
        for atom, k in expression.terms:
            if atom.kind == RANGE:
                occurrences.setdefault(atom, []).append((forms, k))
            elif atom.kind < DIM:
                stack.append(atom.first)
                if atom.kind > MOD and isinstance(atom.second, Expression):
                    stack.append(atom.second)
        forms += 1
    found = sorted(occurrences, key=lambda a: a.first)
    for t in found:
        for s in found:
            if s is t:
                continue
            q = _common_ratio(occurrences[s], occurrences[t])
            if q is None or data.ranges[t.first].bounds.count < abs(q):
                continue
            if _fits_merged(data, s.first, t.first, q):
                return _merged_pair(data, s.first, t.first, q)
    return None


def _common_ratio(
    s: Sequence[tuple[int, int]], t: Sequence[tuple[int, int]]
) -> int | None:
    """The q by which s always has the coefficient of t, in the same sums; or None."""
    if [form for form, _ in s] != [form for form, _ in t]:
        return None
    ratios = {
        a // b if a % b == 0 else None for (_, a), (_, b) in zip(s, t, strict=True)
    }
    return ratios.pop() if len(ratios) == 1 else None


def _fits_merged(data: MapData, s: int, t: int, q: int) -> bool:
    """Whether ``q s + t`` stays so far within 64 bits that bounds do not saturate."""
    bounds = data.ranges[s].bounds * q + data.ranges[t].bounds
    return bounds.lower > INT64_MIN and bounds.upper < INT64_MAX


def _merged_pair(data: M, s: int, t: int, q: int) -> M:
    """The map with ``q s + t`` as one variable in the place of the first of the two."""
    a, b = data.ranges[s].bounds, data.ranges[t].bounds
    bounds = a * q + b
    first, second = min(s, t), max(s, t)
    table = identity_table(data)
    for i in range(second + 1, len(data.ranges)):
        table[ex.range_variable(i).terms[0][0]] = ex.range_variable(i - 1)
    table[ex.range_variable(s).terms[0][0]] = ex.ZERO
    table[ex.range_variable(t).terms[0][0]] = ex.range_variable(first)
    ranges = [v for i, v in enumerate(data.ranges) if i != second]
    ranges[first] = Variable(bounds)
    return simplify(
        with_variables(data, table, data.dims, tuple(ranges), data.runtimes)
    )
