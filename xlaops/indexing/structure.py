"""Bands and blocks of sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import expression as ex
from .expression import Expression
from .map import IndexingMap
from .scope import Scope


class Block(NamedTuple):
    """Rows and columns of a matrix that only one another have elements in common.

    Attributes:
      rows: the first row, and that behind the last.
      columns: the first column, and that behind the last.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        return self.rows[1] - self.rows[0], self.columns[1] - self.columns[0]


def position(index: Sequence[Expression], shape: Sequence[int]) -> Expression:
    """The row-major position of an element, as an expression."""
    found = ex.constant(0)
    for e, n in zip(index, shape, strict=True):
        found = ex.add(ex.scale(found, n), e)
    return found


def band_of_map(
    one: IndexingMap, from_shape: Sequence[int], to_shape: Sequence[int]
) -> tuple[int, int] | None:
    """The least and the largest difference of column and row, if a formula tells.

    Args:
      one: a map from rows to columns.
      from_shape: shape of the array of the rows.
      to_shape: shape of the array of the columns.
    """
    if one.is_undefined or one.is_known_empty or one.constraints:
        return None
    scope: Scope = one.scope()
    for e, n in zip(one.results, to_shape, strict=True):
        low, high = scope.range(e)
        if low < 0 or high >= n:
            return None
    dims = [ex.dim(i) for i in range(len(one.dims))]
    difference = ex.add(
        position(one.results, to_shape), ex.scale(position(dims, from_shape), -1)
    )
    # A linear function takes its extremes at corners of the box.
    if not difference.is_linear or any(v.owner is not None for v in one.runtimes):
        return None
    return scope.range(difference)


def band_of_positions(rows: np.ndarray, columns: np.ndarray) -> tuple[int, int]:
    """The least and the largest difference of column and row; 0, 0 without any."""
    if not len(rows):
        return 0, 0
    difference = columns - rows
    return int(difference.min()), int(difference.max())


def diagonal_blocks(
    rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> list[Block]:
    """The finest division into blocks along the diagonal.

    Rows and columns without elements belong to the block before them.

    Args:
      rows: of the elements of the matrix, in order.
      columns: of the same elements.
      shape: of the matrix.
    """
    if not len(rows):
        return [Block((0, shape[0]), (0, shape[1]))] if all(shape) else []
    first = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    filled = rows[first]
    low = np.minimum.reduceat(columns, first)
    high = np.maximum.accumulate(np.maximum.reduceat(columns, first))
    later = np.minimum.accumulate(low[::-1])[::-1]
    # A block ends where all columns so far lie before all that come.
    ends = np.flatnonzero(high[:-1] < later[1:])
    row_starts = [0, *filled[ends + 1].tolist(), shape[0]]
    column_starts = [0, *later[ends + 1].tolist(), shape[1]]
    return [
        Block((a, b), (c, d))
        for a, b, c, d in zip(
            row_starts, row_starts[1:], column_starts, column_starts[1:], strict=False
        )
    ]
