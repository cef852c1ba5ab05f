"""Finding the linear form that an expression with divisions equals, and proving it.

Local rules do not find every cancellation. What remains is tried: the linear form that
agrees with the expression at a corner and one step from it, if it agrees at some more
points, is proved by computing both wherever they could differ.
"""

from __future__ import annotations

from math import gcd, lcm
from typing import Final

import numpy as np

from . import expression as ex
from .evaluation import fits_int64, value_at
from .expression import DIM, DIV, MAX, MIN, MOD, Atom, Bounds, Expression
from .scope import Scope

MAX_POINTS: Final = 2**20
"""At how many points a proof may compute."""

MAX_RANGE_POINTS: Final = 2**16
"""At how many points the range of a constraint may be computed."""

_SAMPLES: Final = 24
_MAX_PERIOD: Final = 2**40


def linear_equivalent(expression: Expression, scope: Scope) -> Expression | None:
    """The linear form that has the same value for all variables in bounds, or None.

    None also where the proof would take more than `MAX_POINTS` points.
    """
    candidate = guess(expression, scope)
    if candidate is None or not are_equal(expression, candidate, scope):
        return None
    return candidate


def guess(expression: Expression, scope: Scope) -> Expression | None:
    """A linear form that agrees at some points, or None if there is none."""
    bounds = {v: scope.atom_range(v) for v in ex.variables(expression)}
    corner = {v: lower for v, (lower, _) in bounds.items()}
    start = value_at(expression, corner)
    terms: dict[Atom, int] = {}
    constant = start
    for v, (lower, upper) in bounds.items():
        if lower == upper:
            continue
        slope = value_at(expression, {**corner, v: lower + 1}) - start
        terms[v] = slope
        constant -= slope * lower
    candidate = ex.linear(terms, constant)
    far = {v: upper for v, (_, upper) in bounds.items()}
    if value_at(expression, far) != value_at(candidate, far):
        return None
    # The same points each time: what is found must not depend on chance.
    state = 12345
    for _ in range(_SAMPLES):
        point = {}
        for v, (lower, upper) in bounds.items():
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            point[v] = lower + (state >> 17) % (upper - lower + 1)
        if value_at(expression, point) != value_at(candidate, point):
            return None
    return candidate


def are_equal(a: Expression, b: Expression, scope: Scope) -> bool | None:
    """Whether two expressions agree for all variables in bounds; None: too many points.

    Along a variable in which the difference repeats itself one period is enough.
    """
    difference = ex.add(a, ex.scale(b, -1))
    exact = exact_range(difference, scope, MAX_POINTS)
    return None if exact is None else exact == (0, 0)


def exact_range(
    expression: Expression, scope: Scope, limit: int = MAX_RANGE_POINTS
) -> Bounds | None:
    """The least and the largest value for variables in bounds; None: too many points.

    Along a variable in which the expression repeats itself one period is enough.
    """
    if not expression.terms:
        return expression.constant, expression.constant
    used = list(ex.variables(expression))
    axes: list[Bounds] = []
    points = 1
    for v in used:
        lower, upper = scope.atom_range(v)
        repeat = period(expression, v)
        if repeat is not None and repeat[1] == 0:
            upper = min(upper, lower + repeat[0] - 1)
        axes.append((lower, upper))
        points *= upper - lower + 1
    if not 0 < points <= limit:
        return None
    dtype = np.int64 if fits_int64(expression, scope) else object
    values = {}
    for i, (v, (lower, upper)) in enumerate(zip(used, axes, strict=True)):
        shape = [1] * len(used)
        shape[i] = -1
        values[v] = np.array(range(lower, upper + 1), dtype=dtype).reshape(shape)
    computed = value_at(expression, values)
    return int(np.min(computed)), int(np.max(computed))


def period(expression: Expression, v: Atom) -> tuple[int, int] | None:
    """``(n, c)`` with expression(v + n) = expression(v) + c everywhere, or None."""
    n, c = 1, 0
    for atom, k in expression.terms:
        part = _atom_period(atom, v)
        if part is None:
            return None
        m, d = part
        both = lcm(n, m)
        if both > _MAX_PERIOD:
            return None
        n, c = both, c * (both // n) + k * d * (both // m)
    return n, c


def _atom_period(atom: Atom, v: Atom) -> tuple[int, int] | None:
    if atom.kind >= DIM:
        return 1, int(atom is v)
    first = period(atom.first, v)
    if first is None:
        return None
    n, c = first
    if atom.kind in (DIV, MOD):
        times = atom.second // gcd(c, atom.second)
        return n * times, c * times // atom.second if atom.kind == DIV else 0
    second = period(atom.second, v)
    if second is None:
        return None
    m, d = second
    if c == 0 and d == 0:
        return lcm(n, m), 0
    both = lcm(n, m)
    if atom.kind in (MIN, MAX) and c * (both // n) == d * (both // m):
        return both, c * (both // n)
    return None
