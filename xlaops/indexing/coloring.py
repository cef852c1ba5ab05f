"""Colours for the columns of a sparse matrix, so that few products give all of it.

Columns of one colour have no row in common. One product with the sum of their unit
vectors then holds the elements of all of them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import numpy as np

Axis = Literal["columns", "rows"]

_SAMPLE: Final = 64
_MOST_GUESSED: Final = 64
_MORE_GUESSED: Final = 3


@dataclasses.dataclass(frozen=True, eq=False)
class Coloring:
    """A colour for each column, or each row, of a matrix.

    Attributes:
      colors: an int32 array with a number from 0 on for each of them.
      count: how many colours there are.
      axis: ``"columns"`` or ``"rows"``.
      least: how many any such colouring needs: the most elements that a row, or a
        column, has.
    """

    colors: np.ndarray
    count: int
    axis: Axis
    least: int

    def __repr__(self) -> str:
        return (
            f"Coloring({self.count} colors of {len(self.colors)} {self.axis}, "
            f"at least {self.least})"
        )

    def is_valid(self, rows: np.ndarray, columns: np.ndarray) -> bool:
        """Whether no two elements of one line lie in columns, or rows, of one colour.

        Args:
          rows: of the elements of the matrix.
          columns: of the same elements.
        """
        lines, colored = (rows, columns) if self.axis == "columns" else (columns, rows)
        return _is_valid(lines, self.colors[colored], self.count)


def color(
    rows: np.ndarray,
    columns: np.ndarray,
    count: int,
    axis: Axis = "columns",
    index_shape: Sequence[int] = (),
) -> Coloring:
    """A colouring of the columns, or of the rows, of a matrix.

    Patterns that repeat themselves are coloured by a linear function of the index,
    which for stencils finds the fewest colours that there can be. Others are coloured
    one column after the other, each with the first colour that is free.

    Args:
      rows: of the elements of the matrix.
      columns: of the same elements.
      count: how many columns, or rows, it has.
      axis: what is coloured.
      index_shape: of the array to which the columns, or rows, belong.
    """
    if axis == "columns":
        lines, colored = rows, columns
    else:
        lines, colored = columns, rows
    if not len(lines):
        return Coloring(np.zeros(count, np.int32), int(count > 0), axis, int(count > 0))
    degrees = np.bincount(lines)
    least = int(degrees.max())
    if least == count:
        return Coloring(np.arange(count, dtype=np.int32), count, axis, least)
    starts, members = _by_column(lines, colored, count)
    best = _greedy(starts, members, range(count))
    if best.max() + 1 > least:
        guessed = _linear(lines, colored, degrees, count, index_shape, int(best.max()))
        if guessed is not None:
            best = guessed
        else:
            order = np.argsort(-np.diff(starts), kind="stable")
            other = _greedy(starts, members, order.tolist())
            if other.max() < best.max():
                best = other
    best.setflags(write=False)
    return Coloring(best, int(best.max()) + 1, axis, least)


def _by_column(
    lines: np.ndarray, colored: np.ndarray, count: int
) -> tuple[np.ndarray, list[int]]:
    """The lines of each column, one column after the other, and where they begin."""
    order = np.argsort(colored, kind="stable")
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(colored, minlength=count), out=starts[1:])
    return starts, lines[order].tolist()


def _greedy(starts: np.ndarray, members: list[int], order: Sequence[int]) -> np.ndarray:
    """The first free colour for each column, in an order."""
    bounds = starts.tolist()
    # Of each line the colours that its columns have, as bits.
    taken: dict[int, int] = {}
    get = taken.get
    colors = [0] * (len(bounds) - 1)
    for column in order:
        own = members[bounds[column] : bounds[column + 1]]
        used = 0
        for line in own:
            used |= get(line, 0)
        free = ~used & (used + 1)
        colors[column] = free.bit_length() - 1
        for line in own:
            taken[line] = get(line, 0) | free
    return np.asarray(colors, np.int32)


def _linear(
    lines: np.ndarray,
    colored: np.ndarray,
    degrees: np.ndarray,
    count: int,
    index_shape: Sequence[int],
    most: int,
) -> np.ndarray | None:
    """Colours that are a linear function of the index, modulo their number."""
    least = int(degrees.max())
    if least > _MOST_GUESSED:
        return None
    shape = tuple(index_shape) or (count,)
    index = np.unravel_index(np.arange(count), shape)
    # What fails at the fullest lines fails, and most guesses do.
    fullest = np.argsort(-degrees, kind="stable")[:_SAMPLE]
    is_sample = np.isin(lines, fullest)
    few_lines, few = lines[is_sample], colored[is_sample]
    for modulus in range(least, min(most, least + _MORE_GUESSED) + 1):
        for factors in _factors(shape, modulus):
            values = sum(
                (i * k for i, k in zip(index, factors, strict=True)),
                np.zeros(count, np.int64),
            )
            values %= modulus
            if _is_valid(few_lines, values[few], modulus) and _is_valid(
                lines, values[colored], modulus
            ):
                return values.astype(np.int32)
    return None


def _factors(shape: Sequence[int], modulus: int) -> Iterator[tuple[int, ...]]:
    """Some factors for the dimensions of an index: 1 for the last, small others."""
    wide = [n > 1 for n in shape]
    choices = [range(modulus) if w else range(1) for w in wide]
    if any(wide):
        last = max(i for i, w in enumerate(wide) if w)
        choices[last] = range(1, 2)
    yield from itertools.islice(itertools.product(*choices), 4 * _MOST_GUESSED)


def _is_valid(lines: np.ndarray, colors: np.ndarray, count: int) -> bool:
    """Whether no line has a colour twice."""
    codes = lines.astype(np.int64) * count + colors
    codes = np.sort(codes, kind="stable")
    return not bool(np.any(codes[1:] == codes[:-1]))
