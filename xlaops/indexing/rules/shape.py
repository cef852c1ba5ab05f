"""Operations that move elements: where each of them comes from.

Shapes and attributes are tuples of integers. They are taken to fit each other, as they
do in a program that was traced or checked.
"""

from __future__ import annotations

import functools
from math import prod

from .. import expression as ex
from ..expression import Expression
from ..interval import Interval
from ..map import IndexingMap
from ..map_data import Constraint
from ..rewriting import Rewriter
from ..scope import Scope
from .operand import OperandMaps, Shape, between, same


@functools.lru_cache(maxsize=4096)
def elementwise(result: Shape, operand: Shape | None = None) -> OperandMaps:
    """An operation that works element by element.

    Args:
      result: shape of the result.
      operand: shape of the operand: nothing is that of the result; dimensions of size 1
        and scalars belong to all elements of the result.
    """
    if operand is None or operand == result:
        m = between(result, same(len(result)), result)
        return OperandMaps(result, result, m, m)
    if not operand:
        return scalar(result)
    indices = [
        ex.ZERO if n == 1 and result[i] != 1 else ex.dim(i)
        for i, n in enumerate(operand)
    ]
    return OperandMaps(result, operand, between(result, indices, operand))


@functools.lru_cache(maxsize=4096)
def scalar(result: Shape) -> OperandMaps:
    """An operand that is one element, on which all of the result depend."""
    return OperandMaps(result, (), between(result, (), ()))


@functools.lru_cache(maxsize=4096)
def broadcast(operand: Shape, result: Shape, dimensions: Shape) -> OperandMaps:
    """Broadcasting of an array into a shape.

    Args:
      operand: shape of the operand.
      result: shape of the result.
      dimensions: for each dimension of the operand the one of the result that it is;
        one of size 1 may become a larger one.
    """
    indices = [
        ex.ZERO if n == 1 and result[j] != 1 else ex.dim(j)
        for n, j in zip(operand, dimensions, strict=True)
    ]
    return OperandMaps(result, operand, between(result, indices, operand))


@functools.lru_cache(maxsize=4096)
def transpose(operand: Shape, permutation: Shape) -> OperandMaps:
    """A permutation of dimensions.

    Args:
      operand: shape of the operand.
      permutation: for each dimension of the result the one of the operand.
    """
    result = tuple([operand[p] for p in permutation])
    backward: list[Expression] = [ex.ZERO] * len(operand)
    for j, p in enumerate(permutation):
        backward[p] = ex.dim(j)
    return OperandMaps(
        result,
        operand,
        between(result, backward, operand),
        between(operand, [ex.dim(p) for p in permutation], result),
    )


@functools.lru_cache(maxsize=4096)
def reverse(operand: Shape, dimensions: Shape) -> OperandMaps:
    """Reversal of some dimensions.

    Args:
      operand: shape of the operand.
      dimensions: those that are reversed.
    """
    indices = [
        n - 1 - ex.dim(i) if i in dimensions else ex.dim(i)
        for i, n in enumerate(operand)
    ]
    m = between(operand, indices, operand)
    return OperandMaps(operand, operand, m, m)


@functools.lru_cache(maxsize=4096)
def slice_in(
    operand: Shape, starts: Shape, limits: Shape, strides: Shape | None = None
) -> OperandMaps:
    """A slice with known bounds.

    Args:
      operand: shape of the operand.
      starts: the first index in each dimension.
      limits: the index before which it ends.
      strides: the steps; nothing is 1 everywhere.
    """
    steps = strides or (1,) * len(operand)
    result = tuple(
        [
            max(0, -(-(b - a) // c))
            for a, b, c in zip(starts, limits, steps, strict=True)
        ]
    )
    indices = [
        ex.dim(i) * c + a for i, (a, c) in enumerate(zip(starts, steps, strict=True))
    ]
    return OperandMaps(result, operand, between(result, indices, operand))


@functools.lru_cache(maxsize=4096)
def pad(operand: Shape, low: Shape, high: Shape, interior: Shape) -> OperandMaps:
    """Padding, of the array that is padded.

    Args:
      operand: shape of the operand.
      low: how many elements come before the first in each dimension; negative: are cut.
      high: how many come after the last.
      interior: how many come between two elements.
    """
    result = _padded(operand, low, high, interior)
    there: list[Expression] = []
    back: list[Expression] = []
    kept: list[Interval] = []
    padded: list[Interval] = []
    between_elements: list[Constraint] = []
    for i, (n, m, first) in enumerate(zip(operand, result, low, strict=True)):
        step = interior[i] + 1
        # Padding that is less than nothing cuts elements off.
        some = Interval(max(0, -(first // step)), min(n - 1, (m - 1 - first) // step))
        kept.append(some)
        padded.append(some * step + first)
        there.append(ex.dim(i) * step + first)
        offset = ex.dim(i) - first
        back.append(ex.floordiv(offset, step))
        if step > 1:
            between_elements.append((ex.mod(offset, step), Interval(0, 0)))
    return OperandMaps(
        result,
        operand,
        between(result, back, operand, tuple(between_elements), bounds=padded),
        lambda: between(operand, there, result, bounds=kept),
    )


PADDING_READ: str = "the padding value is read in the padding only"


@functools.lru_cache(maxsize=4096)
def pad_value(operand: Shape, low: Shape, high: Shape, interior: Shape) -> OperandMaps:
    """Padding, of the value that it is padded with.

    All of the result where it has padding at all: what is not padding is no box.
    """
    result = _padded(operand, low, high, interior)
    kept = pad(operand, low, high, interior).input_to_output
    count = 0
    if not kept.is_known_empty:
        count = prod(v.bounds.count for v in kept.dims)
    total = prod(result)
    if count == total:
        m = IndexingMap.empty(len(result), 0)
    else:
        reasons = (PADDING_READ,) if count else ()
        m = between(result, (), (), reasons=reasons)
    return OperandMaps(result, (), m)


def _padded(operand: Shape, low: Shape, high: Shape, interior: Shape) -> Shape:
    return tuple(
        [
            max(0, a + b + n + c * max(n - 1, 0))
            for n, a, b, c in zip(operand, low, high, interior, strict=True)
        ]
    )


@functools.lru_cache(maxsize=4096)
def concatenate(
    operands: tuple[Shape, ...], dimension: int, number: int
) -> OperandMaps:
    """A concatenation, of one of its operands.

    Args:
      operands: shapes of all operands.
      dimension: along which they are joined.
      number: which operand.
    """
    operand = operands[number]
    sizes = [shape[dimension] for shape in operands]
    result = list(operand)
    result[dimension] = sum(sizes)
    offset = sum(sizes[:number])
    there, back = same(len(operand)), same(len(operand))
    there[dimension] = there[dimension] + offset
    back[dimension] = back[dimension] - offset
    shape = tuple(result)
    own = [Interval(0, n - 1) for n in operand]
    own[dimension] = own[dimension] + offset
    return OperandMaps(
        shape,
        operand,
        between(shape, back, operand, bounds=own),
        lambda: between(operand, there, shape),
    )


@functools.lru_cache(maxsize=4096)
def reshape(operand: Shape, result: Shape) -> OperandMaps:
    """A change of shape that keeps the row-major order of elements.

    Args:
      operand: shape of the operand.
      result: shape of the result, with as many elements.
    """
    return OperandMaps(
        result,
        operand,
        between(result, _reshaped(operand, result), operand),
        lambda: between(operand, _reshaped(result, operand), result),
    )


def _reshaped(operand: Shape, result: Shape) -> list[Expression]:
    """The index of the operand for that of the result."""
    if 0 in operand:
        return [ex.ZERO] * len(operand)
    scope = Scope(([(0, n - 1) for n in result], [], []))
    rewriter = Rewriter(scope, keep_points=True)
    indices: list[Expression] = []
    i = j = 0
    # Groups of dimensions with as many elements, the smallest there are.
    while i < len(operand):
        first_i, first_j = i, j
        i, count = i + 1, operand[i]
        others = 1
        if j < len(result):
            others, j = result[j], j + 1
        while count != others:
            if count < others:
                i, count = i + 1, count * operand[i]
            else:
                j, others = j + 1, others * result[j]
        flat = ex.ZERO
        for k in range(first_j, j):
            flat = flat + ex.dim(k) * prod(result[k + 1 : j])
        for k in range(first_i, i):
            inner = prod(operand[k + 1 : i])
            index = rewriter.floordiv(flat, inner)
            if k > first_i:
                index = rewriter.mod(index, operand[k])
            indices.append(index)
    return indices
