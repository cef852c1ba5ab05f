"""The maps of which rules are made."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from math import prod

from .. import expression as ex
from ..expression import Expression
from ..interval import Interval
from ..map import IndexingMap
from ..variables import Variable

Shape = tuple[int, ...]
Limit = tuple[Expression, tuple[int, int]]

d = ex.dim
s = ex.range_variable
rt = ex.runtime_variable


@functools.lru_cache(maxsize=4096)
def _of_size(size: int) -> Variable:
    return Variable(Interval(0, size - 1))


def sizes(shape: Iterable[int]) -> tuple[Variable, ...]:
    """A variable for the indices of each dimension."""
    return tuple([_of_size(int(n)) for n in shape])


def related(
    shape: Sequence[int],
    results: Sequence[Expression | int],
    *,
    ranges: Sequence[int] = (),
    runtimes: Sequence[Variable] = (),
    limits: Sequence[Limit] = (),
    reasons: Sequence[str] = (),
) -> IndexingMap:
    """A simplified map.

    Args:
      shape: of the array to which the dimensions belong.
      results: the index in the other array.
      ranges: how many values each range variable has.
      runtimes: the runtime variables.
      limits: expressions, and the least and largest value that each may have.
      reasons: why the map relates too much.
    """
    parts = (tuple(shape), tuple(results), tuple(ranges), tuple(limits), tuple(reasons))
    if runtimes:
        return _related(*parts, tuple(runtimes))
    return _known_related(*parts)


def _related(
    shape: Shape,
    results: tuple[Expression | int, ...],
    ranges: Shape,
    limits: tuple[Limit, ...],
    reasons: tuple[str, ...],
    runtimes: tuple[Variable, ...] = (),
) -> IndexingMap:
    dims, free = sizes(shape), sizes(ranges)
    made = IndexingMap(dims, results, free, runtimes, limits, reasons)
    return made.simplify(prove=False)


_known_related = functools.lru_cache(maxsize=2**14)(_related)


@functools.lru_cache(maxsize=4096)
def identity(shape: Shape) -> IndexingMap:
    """Every element to itself."""
    return IndexingMap.identity(shape)


@functools.lru_cache(maxsize=4096)
def to_scalar(shape: Shape, reasons: tuple[str, ...] = ()) -> IndexingMap:
    """Every element to the only one of a scalar."""
    return related(shape, (), reasons=reasons)


@functools.lru_cache(maxsize=4096)
def spread(shape: Shape, operand: Shape) -> tuple[IndexingMap, ...]:
    """The map of an operation on elements to an operand that it broadcasts.

    Scalars and dimensions of size 1 are broadcast.
    """
    if operand == shape:
        return (identity(shape),)
    skipped = len(shape) - len(operand)
    results = [
        d(i + skipped) if n == shape[i + skipped] else 0 for i, n in enumerate(operand)
    ]
    return (related(shape, results),)


@functools.lru_cache(maxsize=4096)
def whole(
    shape: Shape, operand: Shape, batch: int = 0, reasons: tuple[str, ...] = ()
) -> IndexingMap:
    """Every element to all elements of an array, of the same batch.

    Args:
      shape: of the result.
      operand: of the array.
      batch: how many leading dimensions both have in common.
      reasons: why it relates too much.
    """
    rest = operand[batch:]
    results = [d(i) for i in range(batch)] + [s(i) for i in range(len(rest))]
    return related(shape, results, ranges=rest, reasons=reasons)


@functools.lru_cache(maxsize=4096)
def along(shape: Shape, operand: Shape, dimensions: tuple[int, ...]) -> IndexingMap:
    """Every element to all along some dimensions that both arrays have."""
    results: list[Expression] = []
    ranges: list[int] = []
    for i, size in enumerate(operand):
        if i in dimensions:
            results.append(s(len(ranges)))
            ranges.append(size)
        else:
            results.append(d(i))
    return related(shape, results, ranges=ranges)


@functools.lru_cache(maxsize=4096)
def dropped(shape: Shape, operand: Shape, dimensions: tuple[int, ...]) -> IndexingMap:
    """Every element to all along some dimensions that only the operand has."""
    results: list[Expression] = []
    ranges: list[int] = []
    kept = 0
    for i, size in enumerate(operand):
        if i in dimensions:
            results.append(s(len(ranges)))
            ranges.append(size)
        else:
            results.append(d(kept))
            kept += 1
    return related(shape, results, ranges=ranges)


@functools.lru_cache(maxsize=4096)
def reshaped(shape: Shape, operand: Shape) -> IndexingMap:
    """The elements of the array of another shape with the same row-major position."""
    if prod(shape) == 0 or prod(operand) == 0:
        return IndexingMap.empty(len(shape), len(operand))
    results: list[Expression | int] = []
    i = j = 0
    while i < len(shape) or j < len(operand):
        # The least groups of dimensions with as many elements on both sides.
        first_i, first_j = i, j
        have = shape[i] if i < len(shape) else 1
        want = operand[j] if j < len(operand) else 1
        i, j = min(i + 1, len(shape)), min(j + 1, len(operand))
        while have != want:
            if have < want:
                have *= shape[i]
                i += 1
            else:
                want *= operand[j]
                j += 1
        results += _group(shape, first_i, i, operand[first_j:j])
    # The range of a sum of quotients and remainders may be larger than the array.
    return IndexingMap.build(
        sizes(shape),
        tuple([ex.as_expression(e) for e in results]),
        result_bounds=tuple([v.bounds for v in sizes(operand)]),
    ).simplify(prove=False)


def _group(
    shape: Shape, first: int, last: int, operand: Shape
) -> list[Expression | int]:
    position = ex.ZERO
    for k in range(first, last):
        position = position * shape[k] + d(k)
    parts: list[Expression | int] = []
    below = prod(operand)
    for k, size in enumerate(operand):
        below //= size
        part = position // below
        parts.append(part % size if k else part)
    return parts


@functools.lru_cache(maxsize=4096)
def transposed(shape: Shape, permutation: tuple[int, ...]) -> IndexingMap:
    """The elements of an array of which ``shape`` is the transpose."""
    results: list[Expression] = [ex.ZERO] * len(shape)
    for j, p in enumerate(permutation):
        results[p] = d(j)
    return related(shape, results)


@functools.lru_cache(maxsize=4096)
def mirrored(shape: Shape, dimensions: tuple[int, ...]) -> IndexingMap:
    """The elements that are as far from the end as these are from the beginning."""
    results = [n - 1 - d(i) if i in dimensions else d(i) for i, n in enumerate(shape)]
    return related(shape, results)


def undefined(shape: Shape, rank: int, reason: str) -> IndexingMap:
    """The map of which nothing is known."""
    return IndexingMap.undefined(sizes(shape), rank, reason)
