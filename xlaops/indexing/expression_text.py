"""The text of expressions, in XLA's order and with its parentheses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from .kinds import DIM, DIV, MAX, MIN, MOD, MUL, PREFIXES

if TYPE_CHECKING:
    # The other way round would be a circle: expressions print themselves.
    from .expression import Atom, Expression

Names: TypeAlias = "Mapping[Atom, str]"


def expression_text(expression: Expression, names: Names | None = None) -> str:
    """The text of an expression.

    Args:
      expression: the expression.
      names: of the variables; without an entry a variable is ``d0``, ``s0``, ``rt0``.
    """
    names = names or {}
    parts: list[str] = []
    for atom, k in _ordered(expression):
        sign = "-" if k < 0 else "+"
        if parts:
            parts.append(f" {sign} {_term(atom, abs(k), names)}")
        elif k == -1:
            parts.append("-" + _operand_of_atom(atom, names))
        else:
            parts.append(_term(atom, k, names))
    c = expression.constant
    if not parts:
        return str(c)
    if c:
        parts.append(f" {'-' if c < 0 else '+'} {abs(c)}")
    return "".join(parts)


def _ordered(expression: Expression) -> list[tuple[Atom, int]]:
    """The terms in XLA's order: products, remainders, quotients, plain variables.

    Terms without dimensions that would come first are moved behind the first with one.
    """
    terms = expression.terms
    if len(terms) < 2:
        return list(terms)
    ordered = sorted(terms, key=lambda term: (term[1] == 1, term[0].key))
    for i, (atom, _) in enumerate(ordered):
        if _has_dimension(atom):
            return [ordered[i], *ordered[:i], *ordered[i + 1 :]]
    return ordered


def _has_dimension(atom: Atom) -> bool:
    if atom.kind >= DIM:
        return atom.kind == DIM
    inside = list(atom.first.terms)
    if atom.kind > DIV:
        inside += atom.second.terms
    return any(_has_dimension(a) for a, _ in inside)


def _term(atom: Atom, k: int, names: Names) -> str:
    if k == 1:
        return _atom(atom, names)
    return f"{_operand_of_atom(atom, names)} * {k}"


def _operand_of_atom(atom: Atom, names: Names) -> str:
    text = _atom(atom, names)
    return text if atom.kind >= DIM or atom.kind in (MIN, MAX) else f"({text})"


def _operand(expression: Expression, names: Names) -> str:
    text = expression_text(expression, names)
    if len(expression.terms) == 1 and expression.constant == 0:
        atom, k = expression.terms[0]
        if k == 1 and (atom.kind >= DIM or atom.kind in (MIN, MAX)):
            return text
    return f"({text})"


def _atom(atom: Atom, names: Names) -> str:
    kind = atom.kind
    if kind >= DIM:
        return names.get(atom) or f"{PREFIXES[kind]}{atom.first}"
    if kind in (DIV, MOD):
        word = "floordiv" if kind == DIV else "mod"
        return f"{_operand(atom.first, names)} {word} {atom.second}"
    if kind == MUL:
        return f"{_operand(atom.first, names)} * {_operand(atom.second, names)}"
    word = "min" if kind == MIN else "max"
    first = expression_text(atom.first, names)
    return f"{word}({first}, {expression_text(atom.second, names)})"
