"""How often elements are read, part by part of the maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .map import IndexingMap
from .parts import split
from .positions import pairs


class Counts(NamedTuple):
    """How often elements are read, as a product.

    Attributes:
      factor: of all elements.
      axes: for each factor the axes of the array on which it depends.
      counts: the factors, each an array with those axes.
    """

    factor: int
    axes: list[tuple[int, ...]]
    counts: list[np.ndarray]

    @property
    def total(self) -> int:
        """The sum over all elements."""
        found = self.factor
        for one in self.counts:
            found *= int(one.sum())
        return found

    @property
    def read(self) -> int:
        """How many elements are read at all."""
        found = int(self.factor > 0)
        for one in self.counts:
            found *= int(np.count_nonzero(one))
        return found

    @property
    def most(self) -> int:
        """How often an element is read at most."""
        found = self.factor
        for one in self.counts:
            found *= int(one.max()) if one.size else 0
        return found


def counts(
    one: IndexingMap,
    from_shape: Sequence[int],
    to_shape: Sequence[int],
    limit: int | None = None,
) -> Counts:
    """How many elements of one array read each element of another.

    Args:
      one: a map from the first to the second.
      from_shape: shape of the array that reads.
      to_shape: shape of the array that is read.
      limit: how many points of a part may be looked at.

    Raises:
      ValueError: if there are more.
    """
    if one.is_undefined:
        return Counts(
            int(np.prod(from_shape, dtype=object)),
            [(i,) for i in range(len(to_shape))],
            [np.ones(n, np.int64) for n in to_shape],
        )
    if one.is_known_empty:
        return Counts(0, [], [])
    factor, axes, found = 1, [], []
    for dims, results, part in split(one):
        inner = tuple([to_shape[i] for i in results])
        rows, columns = pairs([part], [from_shape[i] for i in dims], inner, limit)
        if results:
            size = int(np.prod(inner, dtype=np.int64))
            axes.append(results)
            found.append(np.bincount(columns, minlength=size).reshape(inner))
        else:
            factor *= len(rows)
    return Counts(factor, axes, found)
