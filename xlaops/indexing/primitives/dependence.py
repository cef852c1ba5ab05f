"""Which inputs of a small program each of its results depends on, as wholes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.compat import Literal


def jaxpr_of(params: Mapping[str, Any]) -> Any:
    """The computation of a fold: a jaxpr, or a computation that holds one."""
    if "computation" in params and hasattr(params["computation"], "jaxpr"):
        return params["computation"].jaxpr
    return params["jaxpr"]


def read_inputs(jaxpr: Any) -> list[set[int]]:
    """For each result the numbers of the inputs that it may depend on."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    known: dict[Any, set[int]] = {v: {i} for i, v in enumerate(jaxpr.invars)}
    for eqn in jaxpr.eqns:
        read: set[int] = set()
        for x in eqn.invars:
            if not isinstance(x, Literal):
                read |= known.get(x, set())
        for y in eqn.outvars:
            known[y] = read
    return [
        set() if isinstance(y, Literal) else known.get(y, set()) for y in jaxpr.outvars
    ]


def fold_dependence(params: Mapping[str, Any], count: int, output: int) -> set[int]:
    """The operands of a fold that one of its results depends on.

    Args:
      params: of the equation, with the computation that takes ``count`` running values
        and as many new ones.
      count: how many operands there are.
      output: the number of the result.
    """
    read = read_inputs(jaxpr_of(params))
    found = {output}
    while True:
        more = found | {i % count for o in found for i in read[o] if i < 2 * count}
        if more == found:
            return found
        found = more
