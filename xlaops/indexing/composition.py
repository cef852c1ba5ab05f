"""One map after another, and maps with their variables replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from . import expression as ex
from .constraints import EmptyDomainError, System
from .expression import DIM, RANGE, RUNTIME, Atom, Expression
from .interval import Interval, WideError
from .map_data import DEFINED, UNKNOWN, MapData, merged_reasons
from .simplification import finished
from .variables import Variable

M = TypeVar("M", bound=MapData)

TOO_WIDE: Final = "bounds do not fit 64 bits"


def compose(first: M, second: MapData, *, prove: bool = True) -> M:
    """The map that applies ``first`` and then ``second``, simplified.

    Its dimensions are those of ``first``. Range variables and runtime variables of
    ``second`` come before those of ``first``. Every result of ``first`` is held to the
    bounds of the dimension of ``second`` that it becomes.

    Raises:
      ValueError: if ``first`` has not one result for each dimension of ``second``.
    """
    if len(first.results) != len(second.dims):
        raise ValueError(
            f"compose: second must have one dimension for each of first's "
            f"{len(first.results)} results, got {len(second.dims)}"
        )
    offsets = (0, len(second.ranges), len(second.runtimes))
    count = len(second.results)
    ranges = len(second.ranges) + len(first.ranges)
    if DEFINED != first.status != UNKNOWN or DEFINED != second.status != UNKNOWN:
        return first.emptied(ranges=ranges, results=count)
    if UNKNOWN in (first.status, second.status):
        unknown = first.undefined_like(count)
        return unknown.remade(
            reasons=merged_reasons(first.reasons, second.reasons), is_simplified=True
        )
    try:
        return _composed(first, second, offsets, prove)
    except ex.NestingError:
        return first.undefined_like(count, "expressions nest too deep")
    except WideError:
        return first.undefined_like(count, TOO_WIDE)


def _composed(
    first: M, second: MapData, offsets: tuple[int, int, int], prove: bool
) -> M:
    moves = offsets != (0, 0, 0)
    memo: dict[Expression, Expression] = {}

    def moved(atom: Atom) -> Expression:
        return ex.variable(atom.kind, atom.first + offsets[atom.kind - DIM])

    def of_first(e: Expression) -> Expression:
        return ex.substitute(e, moved, memo) if moves else e

    results = [of_first(e) for e in first.results]

    def replaced(atom: Atom) -> Expression:
        if atom.kind == DIM:
            return results[atom.first]
        return ex.variable(atom.kind, atom.first)

    memo_second: dict[Expression, Expression] = {}

    def of_second(e: Expression) -> Expression:
        return ex.substitute(e, replaced, memo_second)

    bounds, more = first.bound_lists(), second.bound_lists()
    try:
        system = System(bounds[0], more[1] + bounds[1], more[2] + bounds[2])
        for expression, interval in first.constraints:
            system.add(of_first(expression), interval.lower, interval.upper)
        held = first.result_bounds or (Interval.ANY,) * len(results)
        for expression, (lower, upper), known in zip(
            results, more[0], held, strict=True
        ):
            if known.lower < lower or known.upper > upper:
                system.add(expression, lower, upper)
            if expression.depth or len(expression.terms) > 1:
                system.learn(expression, known.lower, known.upper)
        for expression, interval in second.constraints:
            system.add(of_second(expression), interval.lower, interval.upper)
        system.propagate()
    except EmptyDomainError:
        return first.emptied(
            ranges=len(second.ranges) + len(first.ranges), results=len(second.results)
        )
    joined = first.remade(
        ranges=second.ranges + first.ranges,
        runtimes=(
            tuple([_with_owner(v, of_second) for v in second.runtimes])
            + tuple([_with_owner(v, of_first) for v in first.runtimes])
        ),
        reasons=merged_reasons(first.reasons, second.reasons),
        result_bounds=second.result_bounds,
    )
    substituted = tuple([of_second(e) for e in second.results])
    return finished(joined, system, substituted, prove=prove)


def _with_owner(
    variable: Variable, replace: Callable[[Expression], Expression]
) -> Variable:
    owner = variable.owner
    if owner is None or not owner.index:
        return variable
    return Variable(
        variable.bounds,
        variable.name,
        owner.replace_variables(replace),
    )


def with_variables(
    data: M,
    table: dict[Atom, Expression],
    dims: tuple[Variable, ...],
    ranges: tuple[Variable, ...],
    runtimes: tuple[Variable, ...],
) -> M:
    """The map with variables replaced by expressions of other variables.

    Args:
      data: the map.
      table: what each variable that occurs becomes.
      dims: the dimension variables that there are then.
      ranges: the range variables.
      runtimes: the runtime variables, whose owners still speak of the old variables.
    """
    memo: dict[Expression, Expression] = {}

    def replace(e: Expression) -> Expression:
        return ex.substitute(e, table.__getitem__, memo)

    return data.remade(
        dims=dims,
        ranges=ranges,
        runtimes=tuple([_with_owner(v, replace) for v in runtimes]),
        results=tuple([replace(e) for e in data.results]),
        result_bounds=data.result_bounds,
        constraints=tuple([(replace(e), i) for e, i in data.constraints]),
    )


def with_range(data: M, index: int, value: Expression, bounds: Interval) -> M:
    """The map with a range variable replaced, in new bounds of the same variable."""
    table = identity_table(data)
    table[ex.range_variable(index).terms[0][0]] = value
    ranges = list(data.ranges)
    ranges[index] = ranges[index].within(bounds)
    return with_variables(data, table, data.dims, tuple(ranges), data.runtimes)


def identity_table(data: MapData) -> dict[Atom, Expression]:
    """Each variable of a map, standing for itself: to change, for `with_variables`."""
    table: dict[Atom, Expression] = {}
    groups = (data.dims, data.ranges, data.runtimes)
    for kind, group in zip((DIM, RANGE, RUNTIME), groups, strict=True):
        for i in range(len(group)):
            e = ex.variable(kind, i)
            table[e.terms[0][0]] = e
    return table
