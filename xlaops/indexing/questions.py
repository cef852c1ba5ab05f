"""What questions about programs have in common: the program, and its sets of maps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .analysis import Analysis, analyze
from .map_sets import Maps, holds


def analysis_of(
    name: str, f: Callable[..., Any] | Analysis, args: Sequence[Any], derivative: bool
) -> Analysis:
    """The analysis of a function, or one that is there.

    Args:
      name: of the caller, for errors.
      f: a function, or its analysis.
      args: of the function.
      derivative: whether only what has a derivative counts.

    Raises:
      TypeError: if it is neither, or there are arguments for an analysis.
    """
    if isinstance(f, Analysis):
        if args:
            raise TypeError(
                f"{name}: an analysis must come without arguments, got {len(args)}"
            )
        return f
    if not callable(f):
        raise TypeError(f"{name}: f must be a function or an Analysis, got {f!r}")
    return analyze(f, *args, derivative=derivative)


def element_of(
    name: str, what: str, index: Sequence[int] | None, shape: tuple[int, ...]
) -> tuple[int, ...]:
    """The index of an element of a result.

    Args:
      name: of the caller, for errors.
      what: its parameter, for errors.
      index: what it was given: negative ones count from the end; None: the middle.
      shape: of the result.

    Raises:
      TypeError: if it is no index, or has another length.
      ValueError: if there is no such element.
    """
    if not prod(shape):
        raise ValueError(f"{name}: the result must have elements, got shape {shape}")
    if index is None:
        return tuple([n // 2 for n in shape])
    try:
        found = tuple([operator.index(i) for i in index])
    except TypeError:
        raise TypeError(
            f"{name}: {what} must be a sequence of integers, got {index!r}"
        ) from None
    if len(found) != len(shape):
        raise TypeError(f"{name}: {what} must have {len(shape)} entries, got {found}")
    for i, n in zip(found, shape, strict=True):
        if not -n <= i < n:
            raise ValueError(
                f"{name}: {what} must lie in the shape {shape}, got {found}"
            )
    return tuple([i % n for i, n in zip(found, shape, strict=True)])


def largest(maps: Maps, shape: Sequence[int]) -> Maps:
    """The maps that relate more than any other one does.

    Args:
      maps: maps between the same arrays.
      shape: of the array that they lead to.
    """
    undefined = [one for one in maps if one.is_undefined]
    if undefined:
        return (undefined[0],)
    kept = list(maps)
    for one in maps:
        if any(other is not one and holds(other, one, shape) for other in kept):
            kept.remove(one)
    return tuple(kept)
