"""Rewriting expressions by what the bounds of their variables allow.

Two normal forms: one to read, in which what was written stays where nothing simpler is
known, and one to compare, in which coefficients and constants inside of a division or a
remainder lie below the divisor.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from . import expression as ex
from .expression import DIM, DIV, MIN, MOD, MUL, Atom, Expression
from .scope import Scope

MAX_ROUNDS: Final = 8
"""How often an expression is rewritten before its smallest form is taken."""

MAX_STEPS: Final = 4000
"""How many quotients and remainders one rewriter simplifies; then it leaves them."""

MAX_DEPTH: Final = 40
"""How many of them may be simplified inside of one another."""

MAX_PAIRED_TERMS: Final = 64
"""In longer sums no quotient is looked for that fits a remainder."""


class Rewriter:
    """Constructors of expressions that simplify, within the bounds of a `Scope`.

    Args:
      scope: the bounds.
      reduced: whether coefficients inside of divisions and remainders are brought
        below the divisor: the form to compare instead of the one to read.
      keep_points: whether dimensions with one index stay variables.
    """

    __slots__ = (
        "_depth",
        "_memo",
        "_quotients",
        "_remainders",
        "_steps",
        "keep_points",
        "reduced",
        "scope",
    )

    def __init__(
        self, scope: Scope, reduced: bool = False, keep_points: bool = False
    ) -> None:
        self.scope = scope
        self.reduced = reduced
        self.keep_points = keep_points
        self._depth = self._steps = 0
        self._memo: dict[Expression, Expression] = {}
        self._quotients: dict[tuple[Expression, int], Expression] = {}
        self._remainders: dict[tuple[Expression, int], Expression] = {}

    # Sums

    def sum(self, terms: dict[Atom, int], constant: int) -> Expression:
        """The sum of the terms, in which quotients and remainders are put together."""
        while len(terms) <= MAX_PAIRED_TERMS:
            better = self._recombined(terms, constant)
            if better is None:
                break
            terms, constant = dict(better.terms), better.constant
        return ex.linear(terms, constant)

    def add(self, x: Expression, y: Expression) -> Expression:
        """The sum of two expressions, simplified."""
        if not y.terms or not x.terms:
            return ex.add(x, y)
        terms = dict(x.terms)
        for atom, k in y.terms:
            terms[atom] = terms.get(atom, 0) + k
        return self.sum(terms, x.constant + y.constant)

    def _recombined(self, terms: dict[Atom, int], constant: int) -> Expression | None:
        """A smaller sum with the same value, or None."""
        rest = [(atom, k) for atom, k in terms.items() if k and atom.kind <= DIV]
        if not rest:
            return None
        rest.sort(key=lambda term: term[0].key)
        size = sum(atom.size for atom, k in terms.items() if k) + (constant != 0)
        for atom, k in rest:
            c = atom.second
            if atom.kind == MOD:
                better = self._paired(terms, constant, atom, k, size)
                if better is not None:
                    return better
                # k (y mod c) is k y - k c (y floordiv c).
                swapped = self.floordiv(atom.first, c)
                candidate = _replaced(
                    terms, constant, atom, ((atom.first, k), (swapped, -k * c))
                )
                if candidate.size < size:
                    return candidate
                continue
            if k % c == 0:
                # k (x floordiv c) is (k / c) (x - x mod c).
                swapped = self.mod(atom.first, c)
                candidate = _replaced(
                    terms, constant, atom, ((atom.first, k // c), (swapped, -k // c))
                )
                if candidate.size < size:
                    return candidate
            better = self._unwrapped(terms, constant, atom, k, size)
            if better is not None:
                return better
        return None

    def _unwrapped(
        self, terms: dict[Atom, int], constant: int, atom: Atom, k: int, size: int
    ) -> Expression | None:
        """The sum with a remainder inside of the quotient ``atom`` undone, or None.

        ``(x + j (y mod b)) floordiv c`` is ``(x + j y) floordiv c`` less a multiple of
        ``y floordiv b`` where c divides j b.
        """
        c = atom.second
        for inner, j in atom.first.terms:
            if inner.kind != MOD or (j * inner.second) % c:
                continue
            y, b = inner.first, inner.second
            inside = _replaced(
                dict(atom.first.terms), atom.first.constant, inner, ((y, j),)
            )
            whole = self.floordiv(self.sum(dict(inside.terms), inside.constant), c)
            quotient = self.floordiv(y, b)
            candidate = _replaced(
                terms, constant, atom, ((whole, k), (quotient, -k * (j * b // c)))
            )
            if candidate.size < size:
                return candidate
        return None

    def _paired(
        self, terms: dict[Atom, int], constant: int, atom: Atom, k: int, size: int
    ) -> Expression | None:
        """The sum where another term completes the remainder ``atom``, or None."""
        y, c = atom.first, atom.second
        quotient: Expression | None = None
        for other, j in terms.items():
            if j != k * c:
                continue
            if other.kind == DIV and other.second == c:
                # c (x floordiv c) + y mod c is x where x and y agree modulo c.
                if _divisible(other.first - y, c):
                    return _replaced(
                        {a: q for a, q in terms.items() if a is not other},
                        constant,
                        atom,
                        ((other.first, k),),
                    )
            elif other.kind == MOD:
                # c (z mod n) + y mod c is (y + c (z - y floordiv c)) mod (c n): simpler
                # if z is the quotient, or differs from it by little.
                if quotient is None:
                    quotient = self.floordiv(y, c)
                z, n = other.first, other.second
                inside = y + (z - quotient) * c
                if inside.size > y.size + z.size:
                    continue
                candidate = _replaced(
                    {a: q for a, q in terms.items() if a is not other},
                    constant,
                    atom,
                    ((self.mod(inside, c * n), k),),
                )
                if candidate.size < size:
                    return candidate
        return None

    # Quotients and remainders

    def floordiv(self, x: Expression, n: int) -> Expression:
        """The quotient by a positive integer, rounded down, simplified."""
        if n == 1:
            return x
        key = (x, n)
        result = self._quotients.get(key)
        if result is None:
            if not self._enter():
                return ex.floordiv(x, n)
            result = self._quotients[key] = self._floordiv(x, n)
            self._depth -= 1
        return result

    def _enter(self) -> bool:
        """Whether there is work left to do for one more quotient or remainder."""
        if self._steps >= MAX_STEPS or self._depth >= MAX_DEPTH:
            return False
        self._steps += 1
        self._depth += 1
        return True

    def _is_reversed(self, x: Expression, n: int) -> bool:
        """Whether ``-x - 1`` is rather to be divided by n than x.

        That is where most coefficients are negative, or half of them and the first. In
        the form to compare none is: there the sum of what is left of them decides.
        """
        balance = 0
        if not self.reduced:
            for _, k in x.terms:
                balance += 1 if k < 0 else -1
            return balance > 0 or (balance == 0 and bool(x.terms) and x.terms[0][1] < 0)
        first = 0
        for _, k in x.terms:
            r = k % n
            if r:
                balance += 2 * r - n
                first = first or 2 * r - n
        balance = balance or first or 2 * (x.constant % n) - n + 1
        return balance > 0

    def _floordiv(self, x: Expression, n: int) -> Expression:
        lower, upper = self.scope.range(x)
        if lower // n == upper // n:
            return ex.constant(lower // n)
        if self._is_reversed(x, n):
            # (-x - 1) floordiv n is -(x floordiv n) - 1.
            inside = ex.shift(ex.scale(x, -1), -1)
            return ex.shift(ex.scale(self.floordiv(inside, n), -1), -1)
        for atom, j in x.terms if self.reduced else ():
            # (j (y mod b) + z) floordiv n is ((j y + z) floordiv n) mod (j b / n) where
            # z lies in [0, j - 1]: of the two forms the one to compare.
            if atom.kind != MOD or j < 2 or (j * atom.second) % n:
                continue
            rest = ex.linear({a: k for a, k in x.terms if a is not atom}, x.constant)
            lower, upper = self.scope.range(rest)
            if lower < 0 or upper >= j:
                continue
            whole = self.floordiv(self.add(ex.scale(atom.first, j), rest), n)
            return self.mod(whole, j * atom.second // n)
        outside: dict[Atom, int] = {}
        inside_terms: dict[Atom, int] = {}
        for atom, k in x.terms:
            q, r = divmod(k, n)
            if r and not self.reduced:
                q, r = 0, k
            if q:
                outside[atom] = q
            if r:
                inside_terms[atom] = r
        q = x.constant // n
        if not self.reduced and abs(x.constant) < n:
            q = 0
        elif not self.reduced and x.constant < 0:
            q = -(-x.constant // n)
        inner = ex.linear(inside_terms, x.constant - q * n)
        if outside or q:
            return self.add(ex.linear(outside, q), self.floordiv(inner, n))
        terms = inner.terms
        if len(terms) == 1 and terms[0][1] == 1 and inner.constant == 0:
            atom = terms[0][0]
            if atom.kind == MOD and atom.second % n == 0:
                # (x mod (a n)) floordiv n is (x floordiv n) mod a.
                return self.mod(self.floordiv(atom.first, n), atom.second // n)
        for g in _common_factors(terms, n):
            # (g x + y) floordiv n is (x + y floordiv g) floordiv (n / g).
            big, small = _split(inner, g)
            lower, upper = self.scope.range(small)
            if lower // g == upper // g:
                return self.floordiv(ex.shift(big, lower // g), n // g)
        quotients = [a for a, k in terms if a.kind == DIV]
        if len(quotients) == 1:
            (atom,) = quotients
            others = dict(terms)
            if others.pop(atom) == 1:
                # (x floordiv c + y) floordiv n is (x + c y) floordiv (c n).
                c = atom.second
                rest = ex.scale(ex.linear(others, inner.constant), c)
                return self.floordiv(self.add(atom.first, rest), c * n)
        return ex.floordiv(inner, n)

    def mod(self, x: Expression, m: int) -> Expression:
        """The remainder by a positive integer, simplified."""
        if m == 1:
            return ex.ZERO
        key = (x, m)
        result = self._remainders.get(key)
        if result is None:
            if not self._enter():
                return ex.mod(x, m)
            result = self._remainders[key] = self._mod(x, m)
            self._depth -= 1
        return result

    def _mod(self, x: Expression, m: int) -> Expression:
        lower, upper = self.scope.range(x)
        block = lower // m
        if upper // m == block:
            return ex.shift(x, -block * m)
        if self._is_reversed(x, m):
            # (-x - 1) mod n is n - 1 - (x mod n).
            inside = ex.shift(ex.scale(x, -1), -1)
            return ex.shift(ex.scale(self.mod(inside, m), -1), m - 1)
        terms: dict[Atom, int] = {}
        for atom, k in x.terms:
            r = k % m
            if r:
                terms[atom] = r if self.reduced else k
        offset = x.constant
        if self.reduced:
            offset %= m
        elif abs(offset) >= m:
            offset = offset % m if offset > 0 else -(-offset % m)
        inner = ex.linear(terms, offset)
        for atom, k in inner.terms:
            if atom.kind == MOD and (k * atom.second) % m == 0:
                # k (y mod c) is k y modulo m where m divides k c.
                others = dict(terms)
                del others[atom]
                rest = ex.linear(others, offset)
                return self.mod(self.add(rest, ex.scale(atom.first, k)), m)
        if inner is not x:
            return self.mod(inner, m)
        for atom, k in inner.terms:
            if atom.kind != DIV:
                continue
            c = atom.second
            for wrapped, j in atom.first.terms:
                # (x + j (y mod b)) floordiv c is (x + j y) floordiv c less a multiple
                # of j b / c, which is a multiple of m here.
                if wrapped.kind != MOD or (j * wrapped.second) % c:
                    continue
                if k * (j * wrapped.second // c) % m:
                    continue
                inside = _replaced(
                    dict(atom.first.terms),
                    atom.first.constant,
                    wrapped,
                    ((wrapped.first, j),),
                )
                whole = self.floordiv(self.sum(dict(inside.terms), inside.constant), c)
                others = {a: q for a, q in inner.terms if a is not atom}
                rest = ex.linear(others, offset)
                return self.mod(self.add(rest, ex.scale(whole, k)), m)
        for g in _common_factors(inner.terms, m):
            # (g x + y) mod (g n) is g (x mod n) + y where y lies in [0, g - 1].
            big, small = _split(inner, g)
            lower, upper = self.scope.range(small)
            block = lower // g
            if upper // g == block:
                low = ex.shift(small, -block * g)
                high = self.mod(ex.shift(big, block), m // g)
                # Not put together again, which would be where this came from.
                return ex.add(ex.scale(high, g), low)
        result = ex.mod(inner, m)
        if self.scope.constraints:
            lower, upper = self.scope.range(result)
            if lower == upper:
                return ex.constant(lower)
        return result

    # Minima, maxima, products

    def extremum(self, kind: int, x: Expression, y: Expression) -> Expression:
        """The minimum or the maximum of two expressions, simplified."""
        lower, upper = self.scope.range(ex.add(x, ex.scale(y, -1)))
        if upper <= 0:
            return x if kind == MIN else y
        if lower >= 0:
            return y if kind == MIN else x
        return ex.operation(kind, x, y)

    # Whole expressions

    def rebuild(self, expression: Expression) -> Expression:
        """An expression whose parts are simplified one by one, from inside."""
        result = self._memo.get(expression)
        if result is None:
            result = ex.constant(expression.constant)
            for atom, k in expression.terms:
                result = self.add(result, ex.scale(self.atom(atom), k))
            if result.depth or not self.keep_points:
                lower, upper = self.scope.range(result)
                if lower == upper:
                    result = ex.constant(lower)
            self._memo[expression] = result
        return result

    def atom(self, atom: Atom) -> Expression:
        """An atom, simplified."""
        kind = atom.kind
        if kind >= DIM:
            lower, upper = self.scope.atom_range(atom)
            if lower == upper and not (self.keep_points and kind == DIM):
                return ex.constant(lower)
            return ex.of_atom(atom)
        first = self.rebuild(atom.first)
        if kind == DIV:
            return self.floordiv(first, atom.second)
        if kind == MOD:
            return self.mod(first, atom.second)
        second = self.rebuild(atom.second)
        if kind == MUL:
            return ex.multiply(first, second)
        return self.extremum(kind, first, second)

    def simplify(self, expression: Expression) -> Expression:
        """The simplest form found; it is its own simplest form."""
        seen: list[Expression] = []
        current = expression
        while len(seen) < MAX_ROUNDS:
            seen.append(current)
            try:
                following = self.rebuild(current)
            except ex.NestingError:
                # On the way to something simpler it grew too large: it stays.
                self._depth = 0
                break
            if following is current:
                return current
            if following in seen:
                # A cycle, of which every member gives the same answer.
                seen = seen[seen.index(following) :]
                break
            current = following
        return min(seen, key=lambda e: (e.size, e.key))


def _replaced(
    terms: dict[Atom, int],
    constant: int,
    atom: Atom,
    parts: tuple[tuple[Expression, int], ...],
) -> Expression:
    """The sum with one of its atoms replaced by a sum of expressions."""
    merged = {a: k for a, k in terms.items() if a is not atom}
    for part, factor in parts:
        for a, k in part.terms:
            merged[a] = merged.get(a, 0) + k * factor
        constant += part.constant * factor
    return ex.linear(merged, constant)


def _divisible(x: Expression, n: int) -> bool:
    return x.constant % n == 0 and all(k % n == 0 for _, k in x.terms)


def _common_factors(terms: ex.Terms, n: int) -> list[int]:
    """Factors that a coefficient and ``n`` have in common, the largest first."""
    factors = {gcd(k, n) for _, k in terms}
    factors.discard(1)
    factors.discard(n)
    return sorted(factors, reverse=True)


def _split(x: Expression, g: int) -> tuple[Expression, Expression]:
    """``big`` and ``small`` with x = g big + small, and no multiple of g in small."""
    big: dict[Atom, int] = {}
    small: dict[Atom, int] = {}
    for atom, k in x.terms:
        if k % g:
            small[atom] = k
        else:
            big[atom] = k // g
    return ex.linear(big, 0), ex.linear(small, x.constant)
