"""Values of expressions, at one point or at many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from .expression import DIM, DIV, MAX, MIN, MOD, Atom, Bounds, Expression
from .scope import Scope

_LIMIT: Final = 2**62


def value_at(expression: Expression, values: Mapping[Atom, Any]) -> Any:
    """The value of an expression.

    Args:
      expression: the expression.
      values: of its variables: integers, or integer arrays that broadcast.

    Returns:
      An integer, or an array of the shape to which the arrays broadcast.
    """
    return _value(expression, values, {})


def values_at(
    expressions: list[Expression] | tuple[Expression, ...], values: Mapping[Atom, Any]
) -> list[Any]:
    """The values of several expressions, where common parts are computed once."""
    memo: dict[Atom, Any] = {}
    return [_value(e, values, memo) for e in expressions]


def _value(
    expression: Expression, values: Mapping[Atom, Any], memo: dict[Atom, Any]
) -> Any:
    total: Any = None
    for atom, k in expression.terms:
        part = _atom_value(atom, values, memo)
        if k != 1:
            part = part * k
        total = part if total is None else total + part
    if total is None:
        return expression.constant
    return total + expression.constant if expression.constant else total


def _atom_value(atom: Atom, values: Mapping[Atom, Any], memo: dict[Atom, Any]) -> Any:
    if atom.kind >= DIM:
        return values[atom]
    result = memo.get(atom)
    if result is not None:
        return result
    first = _value(atom.first, values, memo)
    if atom.kind == DIV:
        result = first // atom.second
    elif atom.kind == MOD:
        result = first % atom.second
    else:
        second = _value(atom.second, values, memo)
        if atom.kind not in (MIN, MAX):
            result = first * second
        elif isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
            result = (np.minimum if atom.kind == MIN else np.maximum)(first, second)
        else:
            result = (min if atom.kind == MIN else max)(first, second)
    memo[atom] = result
    return result


def check_arrays(expressions: Iterable[Expression], values: Mapping[Atom, Any]) -> None:
    """Raises `OverflowError` if an expression of arrays may leave 64 bits.

    Integers that are no arrays have no limit.
    """
    if not any(isinstance(v, np.ndarray) for v in values.values()):
        return
    bounds: tuple[dict[int, Bounds], ...] = ({}, {}, {})
    for atom, value in values.items():
        array = np.asarray(value)
        span = (int(array.min()), int(array.max())) if array.size else (0, 0)
        bounds[atom.kind - DIM][atom.first] = span
    scope = Scope((bounds[0], bounds[1], bounds[2]))
    for expression in expressions:
        if not fits_int64(expression, scope):
            raise OverflowError(f"evaluate: values must fit 64 bits: {expression}")


def fits_int64(expression: Expression, scope: Scope) -> bool:
    """Whether no step of the evaluation can leave 64 bits, for variables in bounds."""
    total = abs(expression.constant)
    for atom, k in expression.terms:
        if atom.kind < DIM and not (
            fits_int64(atom.first, scope)
            and (atom.kind <= DIV or fits_int64(atom.second, scope))
        ):
            return False
        lower, upper = scope.atom_range(atom)
        total += abs(k) * max(abs(lower), abs(upper))
    return total < _LIMIT
