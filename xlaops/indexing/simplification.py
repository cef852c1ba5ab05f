"""The simplest form of a map: constraints first, then results."""

from __future__ import annotations

from typing import TypeVar

from .affine import exact_range, linear_equivalent
from .constraints import EmptyDomainError, System
from .expression import Bounds, Expression
from .interval import Interval, WideError, fitting
from .map_data import DEFINED, Constraint, MapData
from .rewriting import Rewriter
from .variables import Variable

M = TypeVar("M", bound=MapData)


def simplify(
    data: M, *, keep_points: bool = False, prove: bool = True, reduced: bool = False
) -> M:
    """The map in its simplest form; simplifying it again changes nothing.

    Args:
      data: the map.
      keep_points: whether dimensions with one index stay in the results.
      prove: whether linear forms are guessed and proved where rules find none.
      reduced: the form to compare instead of the one to read.
    """
    if data.status != DEFINED or (
        data.is_simplified and not reduced and not keep_points
    ):
        return data
    if not data.constraints and not data.runtimes:
        plain = _plain(data, keep_points)
        if plain is not None:
            return plain
    system = system_of(data, reduced)
    if system is None:
        return data.emptied()
    try:
        return finished(
            data, system, data.results, keep_points=keep_points, prove=prove
        )
    except WideError:
        # What cannot be said in 64 bits stays as it is.
        return data.remade(is_simplified=True)


def _plain(data: M, keep_points: bool) -> M | None:
    """A map of linear forms and without constraints, simplified; None for others."""
    points = False
    for group in (data.dims, data.ranges):
        for variable in group:
            bounds = variable.bounds
            if bounds.upper <= bounds.lower:
                if bounds.is_empty:
                    return data.emptied()
                points = True
    for e in data.results:
        if e.depth:
            return None
    if points:
        if not keep_points:
            return None
        # Only range variables with one value would be replaced.
        if any(v.bounds.is_point for v in data.ranges):
            return None
    return data.remade(is_simplified=not points)


def system_of(data: MapData, reduced: bool = False) -> System | None:
    """Bounds and constraints of a map, tightened; None if nothing satisfies them."""
    try:
        system = System(*data.bound_lists(), reduced=reduced)
        for expression, interval in data.constraints:
            system.add(expression, interval.lower, interval.upper)
        system.propagate()
    except EmptyDomainError:
        return None
    return system


def finished(
    data: M,
    system: System,
    results: tuple[Expression, ...],
    *,
    keep_points: bool = False,
    prove: bool = True,
) -> M:
    """The map of tightened bounds and constraints, with its results simplified.

    Raises:
      WideError: if an interval does not fit 64 bits.
    """
    if prove:
        try:
            _sharpen(system)
        except EmptyDomainError:
            # Of a composition the map's own results are still those of the first map.
            return data.emptied(results=len(results))
    rewriter = system.rewriter(constrained=True)
    if keep_points:
        rewriter = Rewriter(rewriter.scope, system.reduced, keep_points=True)
    simplified = tuple([simplest(r, rewriter, prove) for r in results])
    if system.facts and any(r.depth for r in simplified):
        # What a fact made simple must stay simple for those who do not know it.
        system.facts = {}
        rewriter = system.rewriter(constrained=True)
        simplified = tuple([simplest(r, rewriter, prove) for r in simplified])
    return data.remade(
        dims=_within(data.dims, system.bounds[0], rewriter),
        ranges=_within(data.ranges, system.bounds[1], rewriter),
        runtimes=_within(data.runtimes, system.bounds[2], rewriter),
        results=simplified,
        result_bounds=data.result_bounds,
        constraints=as_constraints(system),
        is_simplified=prove and not system.reduced and not keep_points,
    )


def _sharpen(system: System) -> None:
    """Drops constraints that computing all values shows to hold anyway.

    Raises:
      EmptyDomainError: if no value satisfies one.
    """
    changed = False
    for expression, (lower, upper) in list(system.constraints.items()):
        if expression.depth == 0:
            continue
        exact = exact_range(expression, system.rewriter().scope)
        if exact is None:
            continue
        least, most = max(lower, exact[0]), min(upper, exact[1])
        if least > most:
            raise EmptyDomainError
        if (least, most) == exact:
            del system.constraints[expression]
            changed = True
        elif (least, most) != (lower, upper):
            system.constraints[expression] = (least, most)
            changed = True
    if changed:
        system.propagate()
        _sharpen(system)


def simplest(expression: Expression, rewriter: Rewriter, prove: bool) -> Expression:
    """The simplest form of a result that rules and, if asked for, proofs find."""
    expression = rewriter.simplify(expression)
    if not prove or expression.depth == 0:
        return expression
    found = linear_equivalent(expression, rewriter.scope)
    if found is not None:
        return rewriter.simplify(found)
    # The other normal form cancels what this one does not.
    other = Rewriter(rewriter.scope, not rewriter.reduced, rewriter.keep_points)
    while True:
        candidate = rewriter.simplify(other.simplify(expression))
        if candidate.size >= expression.size:
            return expression
        expression = candidate


def as_constraints(system: System) -> tuple[Constraint, ...]:
    """The constraints of a system as a map holds them.

    Raises:
      WideError: if an interval does not fit 64 bits.
    """
    return tuple(
        [(e, fitting(lower, upper)) for e, (lower, upper) in system.constraints.items()]
    )


def _within(
    variables: tuple[Variable, ...], bounds: list[Bounds], rewriter: Rewriter
) -> tuple[Variable, ...]:
    changed = []
    for variable, (lower, upper) in zip(variables, bounds, strict=True):
        old = variable.bounds
        if (lower, upper) != (old.lower, old.upper):
            variable = variable.within(Interval(lower, upper))
        owner = variable.owner
        if owner is not None and owner.index:
            new = owner.replace_variables(rewriter.simplify)
            if new != owner:
                variable = Variable(variable.bounds, variable.name, new)
        changed.append(variable)
    return tuple(changed)
