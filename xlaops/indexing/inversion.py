"""The map in the other direction: from the results to the dimensions.

Every result is an equation between a new dimension and the old variables. Quotients
and remainders are unknowns of their own, of which ``x = n (x floordiv n) + x mod n``
holds. The equations are solved one by one for the variable with the most values; what
nothing determines becomes a range variable, and what a solution cannot say of the
variables becomes a constraint. The inverse relates the same elements, always.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TypeVar

from . import expression as ex
from .composition import TOO_WIDE
from .constraints import EmptyDomainError
from .dependence import depends, table_index
from .determined import eliminate
from .expression import DIM, DIV, MOD, RANGE, Atom, Bounds, Expression
from .interval import Interval, WideError, fitting
from .map_data import DEFINED, EMPTY, Constraint, MapData
from .scope import Scope
from .simplification import simplify
from .unused import drop_unused
from .variables import Variable

M = TypeVar("M", bound=MapData)


def inverse(data: M, bounds: Sequence[Interval] | None = None) -> M:
    """The map from the elements that a map yields to those that yield them.

    Args:
      data: the map.
      bounds: of its results, the indices of the array that they belong to; None: what
        the results can be.

    Raises:
      ValueError: if there is not one interval for each result.
    """
    if bounds is not None and len(bounds) != len(data.results):
        raise ValueError(
            f"inverse: bounds must have one entry for each of {len(data.results)} "
            f"results, got {len(bounds)}"
        )
    if data.status != DEFINED:
        dims = len(data.results)
        if data.status == EMPTY:
            return data.emptied(dims=dims, results=len(data.dims))
        known = [Interval.ANY] * dims if bounds is None else bounds
        turned = data.remade(dims=tuple([Variable(b) for b in known]))
        return turned.undefined_like(len(data.dims))
    data = simplify(data)
    if data.status != DEFINED:
        return data.emptied(dims=len(data.results), results=len(data.dims))
    scope = data.scope()
    spans = [scope.range(e) for e in data.results]
    if bounds is not None:
        spans = [
            (max(a, b.lower), min(c, b.upper))
            for (a, c), b in zip(spans, bounds, strict=True)
        ]
    if any(lower > upper for lower, upper in spans):
        return data.emptied(dims=len(data.results), results=len(data.dims))
    limits = [Interval.ANY] * len(spans) if bounds is None else list(bounds)
    try:
        limits = [fitting(*span) for span in spans]
        return _Inversion(data, limits).result(data)
    except EmptyDomainError:
        return data.emptied(dims=len(data.results), results=len(data.dims))
    except ex.NestingError:
        turned = data.remade(dims=tuple([Variable(b) for b in limits]))
        return turned.undefined_like(len(data.dims), "expressions nest too deep")
    except WideError:
        turned = data.remade(dims=tuple([Variable(b) for b in limits]))
        return turned.undefined_like(len(data.dims), TOO_WIDE)


class _Inversion:
    """The system of equations of one map.

    Atoms keep their kinds, so that the old variables are: new dimensions ``DIM`` with
    numbers from 0, unknowns ``RANGE`` with numbers from 0 (first the old dimensions,
    then the old range variables, then quotients and remainders), runtime variables as
    they were.
    """

    def __init__(self, data: MapData, limits: list[Interval]) -> None:
        self.new_bounds: list[Bounds] = [(b.lower, b.upper) for b in limits]
        self.bounds: list[Bounds] = []  # of the unknowns
        self.solution: dict[Atom, Expression] = {}
        self.equations: list[Expression] = []  # each of them is 0
        self.conditions: list[tuple[Expression, int, int]] = []
        self.parts: dict[tuple[Expression, int], tuple[Atom, Atom]] = {}
        old, ranges, runtimes = data.bound_lists()
        self.runtimes = runtimes
        self.table: dict[Atom, Expression] = {}
        for i, b in enumerate(old):
            self.table[ex.dim(i).terms[0][0]] = self.unknown(b)
        for i, b in enumerate(ranges):
            self.table[ex.range_variable(i).terms[0][0]] = self.unknown(b)
        for i in range(len(runtimes)):
            e = ex.runtime_variable(i)
            self.table[e.terms[0][0]] = e
        self.memo: dict[Expression, Expression] = {}
        # Where tables are read: what is solved for must not depend on itself by them.
        of_tables = table_index(data)
        self.read_at: dict[Atom, list[Expression]] = {}
        for i in range(len(runtimes)):
            atom = ex.runtime_variable(i).terms[0][0]
            self.read_at[atom] = [self.moved(e) for e in of_tables(atom)]
        results = [self.moved(e) for e in data.results]
        flat = [self.flattened(e) for e in results]
        for i, e in enumerate(flat):
            self.equations.append(ex.dim(i) - e)
        for expression, (lower, upper) in data.constraints:
            self.conditions.append((self.moved(expression), lower, upper))
        self.solve()

    def unknown(self, bounds: Bounds) -> Expression:
        self.bounds.append(bounds)
        return ex.range_variable(len(self.bounds) - 1)

    def moved(self, e: Expression) -> Expression:
        return ex.substitute(e, self.table.__getitem__, self.memo)

    def scope(self) -> Scope:
        return Scope((self.new_bounds, self.bounds, self.runtimes))

    # Quotients and remainders

    def flattened(self, e: Expression) -> Expression:
        """The expression with unknowns in the place of quotients and remainders."""
        result = ex.constant(e.constant)
        for atom, k in e.terms:
            result = result + self.flat_atom(atom) * k
        return result

    def flat_atom(self, atom: Atom) -> Expression:
        if atom.kind not in (DIV, MOD):
            return ex.of_atom(atom)
        pair = self.pair(atom.first, atom.second)
        return ex.of_atom(pair[0] if atom.kind == DIV else pair[1])

    def pair(self, x: Expression, n: int) -> tuple[Atom, Atom]:
        """The unknowns that are the quotient and the remainder of x by n."""
        pair = self.parts.get((x, n))
        if pair is not None:
            return pair
        inner = x.terms[0][0] if len(x.terms) == 1 else None
        if inner is not None and inner.kind == DIV and x is ex.of_atom(inner):
            # The quotient of a quotient is that by the product: one unknown for both.
            inside = ex.of_atom(self.pair(inner.first, inner.second)[0])
            quotient = ex.of_atom(self.pair(inner.first, inner.second * n)[0])
        else:
            inside = self.flattened(x)
            low, high = self.scope().range(inside)
            quotient = self.unknown((low // n, high // n))
        remainder = self.unknown((0, n - 1))
        self.equations.append(inside - quotient * n - remainder)
        pair = quotient.terms[0][0], remainder.terms[0][0]
        self.parts[(x, n)] = pair
        return pair

    # Equations

    def solve(self) -> None:
        waiting = self.equations
        while waiting:
            waiting = [self.substituted(e) for e in waiting]
            scored = []
            for i, e in enumerate(waiting):
                # Those first of which the unknowns stand in plain sums.
                scored.append((bool(_nested(e)), len(self.unknowns(e)), i))
            scored.sort()
            i = scored[0][2]
            equation = waiting.pop(i)
            waiting += self.step(equation)

    def unknowns(self, e: Expression) -> list[tuple[Atom, int]]:
        return [(a, k) for a, k in e.terms if a.kind == RANGE]

    def is_circular(self, atom: Atom, k: int, equation: Expression) -> bool:
        """Whether the unknown says where a table is read that gives its own value."""

        def index_of(runtime: Atom) -> list[Expression]:
            return [self.substituted(e) for e in self.read_at[runtime]]

        return depends(equation - ex.of_atom(atom, k), atom, index_of)

    def substituted(self, e: Expression) -> Expression:
        if not any(a in self.solution for a in ex.variables(e)):
            return e
        memo: dict[Expression, Expression] = {}

        def replace(atom: Atom) -> Expression:
            return self.solution.get(atom) or ex.of_atom(atom)

        while any(a in self.solution for a in ex.variables(e)):
            e = ex.substitute(e, replace, memo)
            memo.clear()
        return e

    def step(self, equation: Expression) -> list[Expression]:
        """Solves an equation for one unknown, or splits it in two."""
        nested = _nested(equation)
        usable = [
            (a, k)
            for a, k in self.unknowns(equation)
            if a not in nested and not self.is_circular(a, k, equation)
        ]
        if not usable:
            self.conditions.append((equation, 0, 0))
            return []
        if len(usable) > 1:
            split = self.split(equation, usable)
            if split is not None:
                return split
        scope = self.scope()

        def worth(term: tuple[Atom, int]) -> tuple[int, int, int]:
            atom, k = term
            lower, upper = scope.atom_range(atom)
            return (lower - upper, abs(k), atom.first)

        atom, k = min(usable, key=worth)
        rest = equation - ex.of_atom(atom, k)
        if k > 0:
            rest, k = -rest, k
        else:
            k = -k
        # k v = rest
        value = ex.floordiv(rest, k)
        if k > 1:
            self.conditions.append((ex.mod(rest, k), 0, 0))
        self.solution[atom] = value
        self.conditions.append((value, *self.bounds[atom.first]))
        return []

    def split(
        self, equation: Expression, usable: list[tuple[Atom, int]]
    ) -> list[Expression] | None:
        """Two equations for ``g x + y = known``, where y has less than g values."""
        scope = self.scope()
        factors = sorted({abs(k) for _, k in usable}, reverse=True)
        chosen = {a for a, _ in usable}
        known = {a: k for a, k in equation.terms if a not in chosen}
        for g in sorted({gcd(a, b) for a in factors for b in factors}, reverse=True):
            big = {a: k // g for a, k in usable if k % g == 0}
            small = {a: k for a, k in usable if k % g}
            if g == 1 or not big or not small:
                continue
            low, high = scope.range(ex.linear(small, 0))
            if high - low >= g:
                continue
            # g x + y + known = 0, so that -known - low = g x + (y - low).
            total = ex.scale(ex.linear(known, equation.constant), -1)
            total = ex.shift(total, -low)
            x = ex.linear(big, 0) - ex.floordiv(total, g)
            y = ex.linear(small, -low) - ex.mod(total, g)
            return [x, y]
        return None

    # The inverse

    def result(self, data: M) -> M:
        kept: list[int] = []
        for i in range(len(self.bounds)):
            if ex.range_variable(i).terms[0][0] not in self.solution:
                kept.append(i)
        numbers: dict[Atom, Expression] = {}
        for new, i in enumerate(kept):
            numbers[ex.range_variable(i).terms[0][0]] = ex.range_variable(new)
        memo: dict[Expression, Expression] = {}

        def renumbered(e: Expression) -> Expression:
            def replace(atom: Atom) -> Expression:
                return numbers.get(atom) or ex.of_atom(atom)

            return ex.substitute(self.substituted(e), replace, memo)

        runtimes = []
        for variable in data.runtimes:
            owner = variable.owner
            if owner is not None and owner.index:
                owner = owner.replace_variables(lambda e: renumbered(self.moved(e)))
            runtimes.append(Variable(variable.bounds, variable.name, owner))
        conditions: list[Constraint] = []
        for expression, lower, upper in self.conditions:
            conditions.append((renumbered(expression), fitting(lower, upper)))
        turned = data.remade(
            dims=tuple([Variable(fitting(*b)) for b in self.new_bounds]),
            ranges=tuple([Variable(fitting(*self.bounds[i])) for i in kept]),
            runtimes=tuple(runtimes),
            results=tuple(
                [renumbered(ex.range_variable(i)) for i in range(len(data.dims))]
            ),
            result_bounds=tuple([v.bounds for v in data.dims]),
            constraints=_merged(conditions),
        )
        return drop_unused(eliminate(turned))


def _nested(e: Expression) -> set[Atom]:
    """The unknowns inside of operations."""
    found: set[Atom] = set()
    for atom, _ in e.terms:
        if atom.kind < DIM:
            found.update(v for v in ex.variables(ex.of_atom(atom)) if v.kind == RANGE)
    return found


def _merged(conditions: list[Constraint]) -> tuple[Constraint, ...]:
    """The constraints with one interval for each expression."""
    found: dict[Expression, Interval] = {}
    for expression, interval in conditions:
        old = found.get(expression)
        found[expression] = interval if old is None else old.intersect(interval)
    return tuple(found.items())
