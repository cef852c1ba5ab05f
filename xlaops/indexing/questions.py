"""What questions about programs have in common: the program, and its sets of maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
