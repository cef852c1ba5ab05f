"""One map for several, which relates at least what they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from . import expression as ex
from .composition import TOO_WIDE
from .interval import Interval, WideError, fitting
from .map_data import DEFINED, EMPTY, UNKNOWN, MapData, merged_reasons
from .simplification import simplify
from .variables import Variable

M = TypeVar("M", bound=MapData)


def hull(maps: Sequence[M], reason: str) -> M:
    """A map that relates each element to a box around what any of the maps yields.

    Results that all maps have in common, as functions of the dimensions, stay. Others
    become range variables, each of its own.

    Args:
      maps: at least one map; all have dimensions and results of the same number.
      reason: why it relates more than the maps do; noted unless it is one map.

    Raises:
      ValueError: if there are no maps, or their numbers differ.
    """
    if not maps:
        raise ValueError("hull: maps must not be empty")
    first = maps[0]
    arity = (len(first.dims), len(first.results))
    for m in maps:
        if (len(m.dims), len(m.results)) != arity:
            raise ValueError(
                f"hull: maps must have {arity[0]} dimensions and {arity[1]} results, "
                f"got {len(m.dims)} and {len(m.results)}"
            )
    kept = [m for m in map(simplify, maps) if m.status != EMPTY]
    reasons = (reason,)
    for m in kept:
        reasons = merged_reasons(m.reasons, reasons)
    if not kept:
        return first.emptied(ranges=0)
    if len(set(kept)) == 1:
        return kept[0]
    if any(m.status == UNKNOWN for m in kept):
        unknown = next(m for m in kept if m.status == UNKNOWN)
        return unknown.remade(reasons=reasons, is_simplified=True)
    dims = [
        Variable(_joined([m.dims[i].bounds for m in kept]), first.dims[i].name)
        for i in range(arity[0])
    ]
    ranges: list[Variable] = []
    results: list[ex.Expression] = []
    scopes = [m.scope() for m in kept]
    for j in range(arity[1]):
        forms = {m.results[j] for m in kept}
        if len(forms) == 1:
            (form,) = forms
            if all(a.kind == ex.DIM for a in ex.variables(form)):
                results.append(form)
                continue
        try:
            spans = [
                fitting(*s.range(m.results[j]))
                for s, m in zip(scopes, kept, strict=True)
            ]
        except WideError:
            unknown = first.build(tuple(dims), ()).undefined_like(arity[1], TOO_WIDE)
            return unknown.remade(
                reasons=merged_reasons(reasons, (TOO_WIDE,)), is_simplified=True
            )
        for i, m in enumerate(kept):
            if m.result_bounds is not None:
                spans[i] = spans[i].intersect(m.result_bounds[j])
        results.append(ex.range_variable(len(ranges)))
        ranges.append(Variable(_joined(spans)))
    widened = type(first).build(
        tuple(dims), tuple(results), tuple(ranges), reasons=reasons
    )
    assert widened.status == DEFINED
    return simplify(widened)


def _joined(intervals: Sequence[Interval]) -> Interval:
    joined = intervals[0]
    for interval in intervals[1:]:
        joined = joined.hull(interval)
    return joined
