"""Variables of one kind made variables of another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from . import expression as ex
from .composition import identity_table, with_variables
from .map_data import MapData
from .variables import Variable

M = TypeVar("M", bound=MapData)


def ranges_to_dims(data: M, which: Iterable[int] | None = None) -> M:
    """The map in which range variables are dimensions, behind those that there are.

    Args:
      data: the map.
      which: numbers of range variables; None: all, and the runtime variables too.
    """
    runtimes = data.runtimes if which is None else ()
    chosen = list(range(len(data.ranges))) if which is None else list(which)
    for i in chosen:
        if not 0 <= i < len(data.ranges):
            raise ValueError(
                f"to_dims: ranges must be in [0, {len(data.ranges)}), got {i}"
            )
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"to_dims: ranges must differ, got {chosen}")
    table = identity_table(data)
    dims = list(data.dims)
    for i in chosen:
        table[ex.range_variable(i).terms[0][0]] = ex.dim(len(dims))
        dims.append(data.ranges[i])
    left = [i for i in range(len(data.ranges)) if i not in chosen]
    for new, i in enumerate(left):
        table[ex.range_variable(i).terms[0][0]] = ex.range_variable(new)
    for i, variable in enumerate(runtimes):
        table[ex.runtime_variable(i).terms[0][0]] = ex.dim(len(dims))
        dims.append(Variable(variable.bounds, variable.name))
    kept_runtimes = () if which is None else data.runtimes
    ranges = tuple([data.ranges[i] for i in left])
    return with_variables(data, table, tuple(dims), ranges, kept_runtimes)


def dims_to_ranges(data: M, which: Iterable[int]) -> M:
    """The map in which dimensions are range variables, behind those that there are."""
    chosen = list(which)
    for i in chosen:
        if not 0 <= i < len(data.dims):
            raise ValueError(
                f"to_ranges: dims must be in [0, {len(data.dims)}), got {i}"
            )
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"to_ranges: dims must differ, got {chosen}")
    table = identity_table(data)
    ranges = list(data.ranges)
    for i in chosen:
        table[ex.dim(i).terms[0][0]] = ex.range_variable(len(ranges))
        ranges.append(data.dims[i])
    left = [i for i in range(len(data.dims)) if i not in chosen]
    for new, i in enumerate(left):
        table[ex.dim(i).terms[0][0]] = ex.dim(new)
    dims = tuple([data.dims[i] for i in left])
    return with_variables(data, table, dims, tuple(ranges), data.runtimes)
