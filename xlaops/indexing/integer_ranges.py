"""Bounds of the integers that a program computes, where they follow from its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

Range: TypeAlias = tuple[int, int]

_SAME: Final = frozenset(
    {
        *("broadcast_in_dim", "copy", "expand_dims", "reduce_max", "reduce_min"),
        *("reshape", "rev", "slice", "squeeze", "transpose", "dynamic_slice", "sort"),
        *("cummax", "cummin", "optimization_barrier", "pcast", "pvary"),
    }
)
_COMPARISONS: Final = frozenset({"eq", "ge", "gt", "le", "lt", "ne"})


def of_constant(value: np.ndarray) -> Range | None:
    """The least and the largest element of an array of integers."""
    if value.dtype.kind not in "iub" or value.size == 0:
        return None
    return int(value.min()), int(value.max())


def of_result(
    name: str, params: Mapping[str, Any], inputs: Sequence[Range | None], aval: Any
) -> Range | None:
    """Bounds of the elements of an operation's result, or None.

    Args:
      name: of the primitive.
      params: its parameters.
      inputs: the bounds of its operands.
      aval: the type of the result.
    """
    try:
        dtype = np.dtype(aval.dtype)
    except TypeError:
        return None
    if dtype.kind not in "iub":
        return None
    if 0 in aval.shape:
        # What is made of them is not bounded by them: the largest of no integers is the
        # least one that there is.
        return None
    if name == "iota":
        found: Range | None = 0, aval.shape[params["dimension"]] - 1
    else:
        found = _computed(name, inputs)
    return None if found is None else fitting(found, dtype)


def fitting(found: Range, dtype: np.dtype) -> Range | None:
    """Bounds of computed integers, or None if some do not fit: those wrap around.

    Args:
      found: the bounds, if nothing wraps around.
      dtype: the type of the integers.
    """
    low, high = 0, 1
    if dtype.kind != "b":
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return found if low <= found[0] and found[1] <= high else None


def _computed(name: str, inputs: Sequence[Range | None]) -> Range | None:
    if name == "select_n":
        which, *cases = inputs
        if any(c is None for c in cases):
            return None
        if which is not None and which[0] == which[1] and 0 <= which[0] < len(cases):
            return cases[which[0]]
        known = [c for c in cases if c is not None]
        return min(a for a, _ in known), max(b for _, b in known)
    if name == "rem" and inputs[1] is not None and inputs[1][0] > 0:
        most = inputs[1][1] - 1
        if inputs[0] is not None and inputs[0][0] >= 0:
            return 0, min(most, inputs[0][1])
        return -most, most
    if name == "clamp" and inputs[0] is not None and inputs[2] is not None:
        # It is min(max(x, low), high), also where low is more than high.
        (least_low, most_low), (least_high, most_high) = inputs[0], inputs[2]
        if inputs[1] is None:
            return min(least_low, least_high), most_high
        low, high = max(inputs[1][0], least_low), max(inputs[1][1], most_low)
        return min(low, least_high), min(high, most_high)
    if any(x is None for x in inputs) or not inputs:
        return None
    ranges = [x for x in inputs if x is not None]
    if name in _SAME or name == "convert_element_type":
        return ranges[0]
    if name in ("concatenate", "stack"):
        return min(a for a, _ in ranges), max(b for _, b in ranges)
    if name == "neg":
        return -ranges[0][1], -ranges[0][0]
    if len(ranges) != 2:
        return None
    (a, b), (c, d) = ranges
    if name in _COMPARISONS:
        return _compared(name, a, b, c, d)
    if name == "add":
        return a + c, b + d
    if name == "sub":
        return a - d, b - c
    if name == "mul":
        corners = (a * c, a * d, b * c, b * d)
        return min(corners), max(corners)
    if name == "min":
        return min(a, c), min(b, d)
    if name == "max":
        return max(a, c), max(b, d)
    if name == "div" and a >= 0 and c > 0:
        return a // d, b // c
    return None


def _compared(name: str, a: int, b: int, c: int, d: int) -> Range:
    if name == "gt":
        name, a, b, c, d = "lt", c, d, a, b
    elif name == "ge":
        name, a, b, c, d = "le", c, d, a, b
    if name == "lt":
        always, never = b < c, a >= d
    elif name == "le":
        always, never = b <= c, a > d
    else:
        always, never = a == b == c == d, b < c or d < a
        if name == "ne":
            always, never = never, always
    return int(always), int(not never)
