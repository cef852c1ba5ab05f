"""What values an expression can have, given the bounds of the variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .expression import DIM, DIV, MAX, MIN, MOD, Atom, Bounds, Expression, linear

ByNumber: TypeAlias = Sequence[Bounds] | Mapping[int, Bounds]
BoundLists: TypeAlias = tuple[ByNumber, ByNumber, ByNumber]


class Scope:
    """The bounds of variables, and the ranges of expressions that follow from them.

    Args:
      bounds: of the dimension, range and runtime variables, pairs by number.
      constraints: intervals of more expressions, each without a constant term.
    """

    __slots__ = ("_atoms", "_memo", "bounds", "constraints")

    def __init__(
        self,
        bounds: BoundLists,
        constraints: Mapping[Expression, Bounds] | None = None,
    ) -> None:
        self.bounds = bounds
        self.constraints = constraints
        self._memo: dict[Expression, Bounds] = {}
        self._atoms: dict[Atom, Bounds] = {}

    def atom_range(self, atom: Atom) -> Bounds:
        """The least and the largest value of an atom, or an interval around them."""
        kind = atom.kind
        if kind >= DIM:
            return self.bounds[kind - DIM][atom.first]
        result = self._atoms.get(atom)
        if result is not None:
            return result
        lower, upper = self.range(atom.first)
        if kind == DIV:
            result = (lower // atom.second, upper // atom.second)
        elif kind == MOD:
            m = atom.second
            block = lower // m
            if upper // m == block:
                result = (lower - block * m, upper - block * m)
            else:
                result = (0, m - 1)
        else:
            a, b = self.range(atom.second)
            if kind == MIN:
                result = (min(lower, a), min(upper, b))
            elif kind == MAX:
                result = (max(lower, a), max(upper, b))
            else:
                corners = (lower * a, lower * b, upper * a, upper * b)
                result = (min(corners), max(corners))
        if self.constraints:
            limits = self.constraints.get(linear({atom: 1}, 0))
            if limits is not None:
                result = (max(result[0], limits[0]), min(result[1], limits[1]))
        self._atoms[atom] = result
        return result

    def range(self, expression: Expression) -> Bounds:
        """The least and the largest value, or an interval around them."""
        result = self._memo.get(expression)
        if result is None:
            lower = upper = expression.constant
            for atom, k in expression.terms:
                a, b = self.atom_range(atom)
                if k > 0:
                    lower += k * a
                    upper += k * b
                else:
                    lower += k * b
                    upper += k * a
            if self.constraints and len(expression.terms) > 1:
                lower, upper = self._limited(expression, lower, upper)
            self._memo[expression] = result = (lower, upper)
        return result

    def _limited(self, expression: Expression, lower: int, upper: int) -> Bounds:
        """The range within that of a constraint on the same terms, if there is one."""
        assert self.constraints is not None
        offset = expression.constant
        core = linear(dict(expression.terms), 0)
        limits = self.constraints.get(core)
        if limits is not None:
            return max(lower, limits[0] + offset), min(upper, limits[1] + offset)
        limits = self.constraints.get(-core)
        if limits is not None:
            return max(lower, offset - limits[1]), min(upper, offset - limits[0])
        return lower, upper
