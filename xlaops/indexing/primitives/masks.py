"""Known integers as formulas: where a mask is true, and what a table holds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import combinations
from math import prod
from typing import Final

import numpy as np

from .. import expression as ex
from ..constants import compact
from ..expression import Expression
from ..map import IndexingMap
from .building import Limit, Shape, d, identity, related

MAX_REGIONS: Final = 16
MAX_KEPT: Final = 2**20
"""How many elements a mask may have for what is found of it to be kept."""

NOT_A_FORMULA: Final = "where a known mask is true is no formula"


def regions(shape: Shape, mask: np.ndarray) -> tuple[IndexingMap, ...]:
    """The maps of every element to itself that exist where a mask is true.

    Args:
      shape: of the arrays.
      mask: an array of bools of that shape, or a scalar.

    Returns:
      No map if it is true nowhere, one without constraints if it is true everywhere.
      Otherwise one for each interval of the index, of the difference or of the sum of
      two indices for which it is true; or the identity with a reason if it is none.
    """
    mask = compact(np.broadcast_to(mask, shape))
    if mask.all():
        return (identity(shape),)
    if not mask.any():
        return ()
    limits = _limits(mask)
    results = [d(i) for i in range(len(shape))]
    if limits is None:
        return (related(shape, results, reasons=(NOT_A_FORMULA,)),)
    return tuple([related(shape, results, limits=[one]) for one in limits])


def _limits(mask: np.ndarray) -> list[Limit] | None:
    """The same, and kept."""
    if mask.size > MAX_KEPT:
        return _found_limits(mask)
    return _known_limits(mask.shape, np.packbits(mask).tobytes())


@functools.lru_cache(maxsize=256)
def _known_limits(shape: Shape, bits: bytes) -> list[Limit] | None:
    packed = np.frombuffer(bits, np.uint8)
    return _found_limits(
        np.unpackbits(packed, count=prod(shape)).astype(bool).reshape(shape)
    )


def _found_limits(mask: np.ndarray) -> list[Limit] | None:
    """Constraints of which one holds exactly where the mask is true."""
    for expression, values in _lines(mask.shape):
        low, high = int(values.min()), int(values.max())
        position = np.broadcast_to(values - low, mask.shape).ravel()
        seen = np.bincount(position, minlength=high - low + 1)
        true = np.bincount(position, mask.ravel(), high - low + 1)
        if ((true == 0) | (true == seen)).all():
            runs = _runs(true > 0, seen > 0)
            if len(runs) <= MAX_REGIONS:
                return [(expression, (low + a, low + b)) for a, b in runs]
    return None


def _lines(shape: Shape) -> Iterator[tuple[Expression, np.ndarray]]:
    """Expressions on which a mask may depend, and their values."""
    index = np.indices(shape, sparse=True)
    axes = [i for i in range(len(shape)) if shape[i] > 1]
    for i in axes:
        yield d(i), index[i]
    for i, j in combinations(axes, 2):
        yield d(i) - d(j), index[i] - index[j]
        yield d(i) + d(j), index[i] + index[j]


def _runs(true: np.ndarray, seen: np.ndarray) -> list[tuple[int, int]]:
    """The intervals of positions that are true, over positions that do not occur."""
    found: list[tuple[int, int]] = []
    is_open = False
    for i in np.flatnonzero(seen):
        if not true[i]:
            is_open = False
        elif is_open:
            found[-1] = (found[-1][0], int(i))
        else:
            found.append((int(i), int(i)))
            is_open = True
    return found


def affine(values: np.ndarray) -> tuple[int, tuple[int, ...]] | None:
    """The constant and the coefficients of the indices that make an array, or None."""
    if values.size == 0:
        return None
    values = compact(values).astype(np.int64)
    start = int(values.flat[0])
    index = np.indices(values.shape, sparse=True)
    expected = np.asarray(start)
    slopes = []
    for axis, size in enumerate(values.shape):
        step = 0
        if size > 1:
            corner = [0] * values.ndim
            corner[axis] = 1
            step = int(values[tuple(corner)]) - start
        slopes.append(step)
        expected = expected + step * index[axis]
    if not np.array_equal(np.broadcast_to(expected, values.shape), values):
        return None
    return start, tuple(slopes)


def affine_expression(
    values: np.ndarray, index: tuple[Expression, ...]
) -> Expression | None:
    """The linear form in the index that gives the elements of an array, or None."""
    found = affine(values)
    if found is None:
        return None
    start, slopes = found
    total = ex.constant(start)
    for slope, e in zip(slopes, index, strict=True):
        total = total + e * slope
    return total


def formula(
    values: np.ndarray, index: tuple[Expression, ...]
) -> tuple[Expression, list[Limit]] | None:
    """The formula of a table of which negative entries are none, or None without one.

    Formulas are linear, as of neighbours in a row; shifts around a ring; and, for one
    index, quotients and remainders, as of places in groups. A table of two indices has
    one that is a formula of the first one, and linear in the second.

    Args:
      values: the table.
      index: the index of an entry, as expressions.

    Returns:
      The formula, and limits of the index outside of which there is no entry.
    """
    if values.ndim == 2:
        step = int(values[0, 1] - values[0, 0]) if values.shape[1] > 1 else 0
        first = values[:, :1]
        if (values < 0).any() or (values != first + step * _places(values[0])).any():
            return None
        found = formula(values[:, 0], index[:1])
        return None if found is None else (found[0] + index[1] * step, found[1])
    places = np.flatnonzero(values >= 0)
    low, high = (int(places[0]), int(places[-1])) if len(places) else (0, -1)
    if high - low + 1 != len(places):
        return None
    limits = [] if len(places) == len(values) else [(index[0], (low, high))]
    known, e = values[low : high + 1], index[0] - low
    linear = affine_expression(known, (e,))
    if linear is not None or len(places) < len(values):
        return None if linear is None else (linear, limits)
    n, place, start = len(values), _places(values), int(values[0])
    if (values == (place + start) % n).all():
        return (e + start) % n, limits
    # Where it goes on otherwise than before for the first time.
    change = np.diff(values)
    period = 1 + int(np.flatnonzero(change != change[0])[0])
    slope = int(change[0])
    if (values == start + slope * (place % period)).all():
        return e % period * slope + start, limits
    jump = int(values[period]) - start
    if (values == start + jump * (place // period)).all():
        return e // period * jump + start, limits
    return None


def _places(values: np.ndarray) -> np.ndarray:
    return np.arange(len(values))
