"""Constraints on expressions: what they say of the variables, and of one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, lcm
from typing import Final

from . import expression as ex
from .expression import DIM, DIV, MOD, Atom, Bounds, Expression
from .rewriting import Rewriter
from .scope import Scope

MAX_ROUNDS: Final = 64
"""How often all constraints are looked at; more would only tighten further."""


class EmptyDomainError(Exception):
    """No values of the variables satisfy the constraints."""


class System:
    """Bounds of variables and constraints on expressions, simplified together.

    Args:
      dims: bounds of the dimension variables, pairs.
      ranges: bounds of the range variables.
      runtimes: bounds of the runtime variables.
      reduced: which normal form of expressions, see `Rewriter`.
    """

    def __init__(
        self,
        dims: Iterable[Bounds],
        ranges: Iterable[Bounds] = (),
        runtimes: Iterable[Bounds] = (),
        reduced: bool = False,
    ) -> None:
        self.bounds: tuple[list[Bounds], list[Bounds], list[Bounds]] = (
            list(dims),
            list(ranges),
            list(runtimes),
        )
        self.constraints: dict[Expression, Bounds] = {}
        self.facts: dict[Expression, Bounds] = {}
        self.reduced = reduced
        self._rewriter: Rewriter | None = None
        self._residues: dict[Expression, Bounds] = {}
        self._residue_rewriter: Rewriter | None = None
        self.check_bounds()

    def check_bounds(self) -> None:
        """Raises `EmptyDomainError` if a variable has no values."""
        for group in self.bounds:
            for lower, upper in group:
                if lower > upper:
                    raise EmptyDomainError

    def rewriter(self, constrained: bool = False) -> Rewriter:
        """A rewriter for the bounds as they are; ``constrained``: the constraints too.

        That of the bounds alone is kept until they change.
        """
        if constrained and (self.constraints or self.facts):
            known = self.constraints
            if self.facts:
                known = {**self.facts, **self.constraints}
            return Rewriter(Scope(self.bounds, known), self.reduced)
        if self._rewriter is None:
            self._rewriter = Rewriter(Scope(self.bounds), self.reduced)
        return self._rewriter

    def _rewriter_of(self, expression: Expression) -> Rewriter:
        """The rewriter for a constraint: known residues count, but not its own."""
        if not self._residues or _is_remainder(expression):
            return self.rewriter()
        if self._residue_rewriter is None:
            scope = Scope(self.bounds, self._residues)
            self._residue_rewriter = Rewriter(scope, self.reduced)
        return self._residue_rewriter

    def tighten(self, atom: Atom, lower: int, upper: int) -> bool:
        """Intersects a variable's bounds with an interval; whether they changed."""
        group = self.bounds[atom.kind - DIM]
        old = group[atom.first]
        new = (max(old[0], lower), min(old[1], upper))
        if new == old:
            return False
        if new[0] > new[1]:
            raise EmptyDomainError
        group[atom.first] = new
        self._rewriter = self._residue_rewriter = None
        return True

    def learn(self, expression: Expression, lower: int, upper: int) -> None:
        """Notes bounds that hold anyway: no constraint, but of use for results."""
        offset = expression.constant
        core = ex.shift(expression, -offset)
        self.facts[core] = (lower - offset, upper - offset)

    def add(self, expression: Expression, lower: int, upper: int) -> bool:
        """Adds a constraint in its simplest form; whether anything changed.

        Raises:
          EmptyDomainError: if it cannot be satisfied within the bounds.
        """
        while True:
            expression = self._rewriter_of(expression).simplify(expression)
            least, most = self.rewriter().scope.range(expression)
            if lower <= least and most <= upper:
                return False
            if most < lower or upper < least:
                raise EmptyDomainError
            lower, upper = max(lower, least), min(upper, most)
            offset = expression.constant
            expression = ex.shift(expression, -offset)
            lower, upper = lower - offset, upper - offset
            factor = gcd(*(k for _, k in expression.terms))
            if factor > 1:
                terms = tuple((a, k // factor) for a, k in expression.terms)
                expression = ex.linear(dict(terms), 0)
                lower, upper = -(-lower // factor), upper // factor
            if _leads_negative(expression):
                expression = ex.scale(expression, -1)
                lower, upper = -upper, -lower
            if lower > upper:
                raise EmptyDomainError
            smaller = self._without_rest(expression, lower, upper)
            if smaller is not None:
                expression, lower, upper = smaller
                continue
            if len(expression.terms) != 1:
                break
            atom = expression.terms[0][0]
            if atom.kind >= DIM:
                return self.tighten(atom, lower, upper)
            if atom.kind != DIV:
                break
            n = atom.second
            expression, lower, upper = atom.first, lower * n, upper * n + n - 1
        old = self.constraints.get(expression)
        if old is not None:
            lower, upper = max(lower, old[0]), min(upper, old[1])
            if lower > upper:
                raise EmptyDomainError
            if (lower, upper) == old:
                return False
        self.constraints[expression] = (lower, upper)
        return True

    def _without_rest(
        self, expression: Expression, lower: int, upper: int
    ) -> tuple[Expression, int, int] | None:
        """An equal constraint on the terms with large coefficients alone, or None.

        That is ``g x + y in [lower, upper]`` where the bounds that follow for x are the
        same for every y.
        """
        if len(expression.terms) < 2:
            return None
        scope = self.rewriter().scope
        total_low, total_high = scope.range(expression)
        for g in sorted({abs(k) for _, k in expression.terms}, reverse=True):
            if g == 1:
                break
            big = {a: k // g for a, k in expression.terms if k % g == 0}
            rest = {a: k for a, k in expression.terms if k % g}
            if not rest:
                continue
            low, high = scope.range(ex.linear(rest, 0))
            least, most = -(-(lower - low) // g), (upper - high) // g
            x = ex.linear(big, 0)
            x_low, x_high = scope.range(x)
            # A bound that nothing can violate need not be the same for every y.
            if total_low >= lower:
                least = x_low
            elif -(-(lower - high) // g) != least:
                continue
            if total_high <= upper:
                most = x_high
            elif (upper - low) // g != most:
                continue
            return x, least, most
        return None

    # All together

    def propagate(self) -> None:
        """Lets the constraints tighten bounds and one another, until nothing changes.

        Raises:
          EmptyDomainError: if no values of the variables satisfy them.
        """
        for _ in range(MAX_ROUNDS):
            changed = False
            before = self.constraints
            self.constraints = {}
            # Remainders first: the others may be simpler for what is known of them.
            residues = [c for c in before.items() if _is_residue(*c)]
            for expression, (lower, upper) in residues:
                self.add(expression, lower, upper)
            self._residues = {
                e: b for e, b in self.constraints.items() if _is_residue(e, b)
            }
            self._residue_rewriter = None
            for expression, (lower, upper) in before.items():
                if not _is_residue(expression, (lower, upper)):
                    self.add(expression, lower, upper)
            changed |= self.constraints != before
            for expression, (lower, upper) in list(self.constraints.items()):
                changed |= self._tighten_terms(expression, lower, upper)
            changed |= self._tighten_residues()
            if not changed:
                return

    def _tighten_terms(self, expression: Expression, lower: int, upper: int) -> bool:
        """Bounds of each variable in a sum from those of the other terms."""
        scope = self.rewriter().scope
        total_low, total_high = scope.range(expression)
        changed = False
        for atom, k in expression.terms:
            if atom.kind < DIM:
                continue
            a, b = scope.atom_range(atom)
            low, high = (k * a, k * b) if k > 0 else (k * b, k * a)
            rest_low, rest_high = total_low - low, total_high - high
            # k v in [lower - rest, upper - rest].
            least, most = lower - rest_high, upper - rest_low
            if k < 0:
                least, most, k = -most, -least, -k
            least, most = -(-least // k), most // k
            changed |= self.tighten(atom, least, most)
        return changed

    def _tighten_residues(self) -> bool:
        """What constraints ``e mod m in [r, r]`` say of variables and one another."""
        changed = False
        classes: dict[Expression, tuple[int, int]] = {}
        members: dict[Expression, list[Expression]] = {}
        for expression, (lower, upper) in list(self.constraints.items()):
            if not _is_residue(expression, (lower, upper)):
                continue
            atom = expression.terms[0][0]
            m = atom.second
            core = ex.shift(atom.first, -atom.first.constant)
            r = (lower - atom.first.constant) % m
            members.setdefault(core, []).append(expression)
            merged = classes.get(core)
            if merged is not None:
                m, r = _common_residue(*merged, m, r)
            classes[core] = (m, r)
        for core, (m, r) in classes.items():
            if len(members[core]) > 1:
                for expression in members[core]:
                    del self.constraints[expression]
                self.add(ex.mod(core, m), r, r)
                changed = True
            if len(core.terms) != 1:
                continue
            variable, k = core.terms[0]
            if variable.kind < DIM:
                continue
            # k v = r modulo m.
            g = gcd(k, m)
            if r % g:
                raise EmptyDomainError
            m, r = m // g, r // g * pow(k // g, -1, m // g) % (m // g)
            lower, upper = self.bounds[variable.kind - DIM][variable.first]
            changed |= self.tighten(
                variable, lower + (r - lower) % m, upper - (upper - r) % m
            )
        return changed


def _is_remainder(expression: Expression) -> bool:
    if len(expression.terms) != 1 or expression.constant:
        return False
    atom, k = expression.terms[0]
    return atom.kind == MOD and k == 1


def _is_residue(expression: Expression, bounds: Bounds) -> bool:
    return bounds[0] == bounds[1] and _is_remainder(expression)


def _leads_negative(expression: Expression) -> bool:
    balance = 0
    for _, k in expression.terms:
        balance += 1 if k < 0 else -1
    return balance > 0 or (balance == 0 and expression.terms[0][1] < 0)


def _common_residue(m: int, r: int, n: int, s: int) -> tuple[int, int]:
    """The modulus and residue of what is r modulo m and s modulo n."""
    g = gcd(m, n)
    if (r - s) % g:
        raise EmptyDomainError
    both = lcm(m, n)
    steps = (s - r) // g * pow(m // g, -1, n // g) % (n // g)
    return both, (r + steps * m) % both


def sorted_items(
    constraints: dict[Expression, Bounds],
) -> Sequence[tuple[Expression, Bounds]]:
    """The constraints in an order that does not depend on how they came about."""
    return sorted(constraints.items(), key=lambda item: item[0].key)
