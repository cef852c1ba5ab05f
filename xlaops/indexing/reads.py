"""How much of its arguments a function reads, and how often."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from .analysis import Analysis, Selector
from .components import Counts, counts
from .positions import pairs
from .questions import analysis_of, largest


@dataclasses.dataclass(frozen=True)
class Utilization:
    """How much of an array is read, if all of the results are used.

    Attributes:
        name: the array's path, such as ``args[0]``.
        size: how many elements it has.
        read: how many of them are read at all.
        reads: how many elements of results read each of its elements, summed up: what
            is read if every result is computed for itself.
        most: how many elements of results read one element, at most.
        exact: whether no rule took more elements than the operations read.
    """

    name: str
    size: int
    read: int
    reads: int
    most: int
    exact: bool

    @property
    def coverage(self) -> float:
        """Which part of the array is read; 1 if it has no elements."""
        return self.read / self.size if self.size else 1.0

    @property
    def multiplicity(self) -> float:
        """How often an element is read on average; 0 if there is none."""
        return self.reads / self.size if self.size else 0.0

    def __str__(self) -> str:
        about = "" if self.exact else " or less"
        return (
            f"{self.name}: {self.read} of {self.size} elements read "
            f"({100 * self.coverage:.3g} %){about}, {self.multiplicity:.4g} times each "
            f"on average, {self.most} times at most"
        )


def utilization(
    f: Callable[..., Any] | Analysis,
    *args: Any,
    output: Selector | None = None,
    limit: int | None = None,
) -> tuple[Utilization, ...]:
    """How much of each argument the results read, and how often.

    An element of a result counts once for each element that it reads. What is far from
    1 says what recomputing costs, or tiling saves: a matrix product reads each element
    of its operands as often as the other one has columns.

    Args:
        f: a function that JAX can trace, or its `Analysis`.
        *args: its arguments, pytrees of arrays or of `jax.ShapeDtypeStruct`.
        output: the only result that counts, by number, name or value; None: all.
        limit: how many points may be looked at, 2**27 unless given.

    Returns:
        One entry for each array of the arguments.

    Raises:
        TypeError: if ``f`` is neither.
        ValueError: if there is no such result, or there are more points.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from xlaops.indexing import utilization
        >>> a = jax.ShapeDtypeStruct((4096, 512), jnp.float32)
        >>> b = jax.ShapeDtypeStruct((512, 1024), jnp.float32)
        >>> for one in utilization(lambda a, b: a[::2] @ b, a, b):
        ...     print(one)
        args[0]: 1048576 of 2097152 elements read (50 %), 512 times each on average, 1024 times at most
        args[1]: 524288 of 524288 elements read (100 %), 2048 times each on average, 2048 times at most

    Source:
        *Indexing Analysis*, section Operand utilization.
    """  # noqa: E501
    analysis = analysis_of("utilization", f, args, derivative=False)
    outputs = analysis.outputs if output is None else (analysis.output(output),)
    found = []
    for name, read in zip(analysis.input_names, analysis.inputs, strict=True):
        size = prod(read.shape)
        several: list[Counts] = []
        total = np.zeros(0, np.int64)
        exact = True
        for made in outputs:
            maps = largest(analysis.output_to_input(made, read), read.shape)
            exact = exact and all(one.exact for one in maps)
            if len(maps) == 1:
                several.append(counts(maps[0], made.shape, read.shape, limit))
            elif maps:
                _, columns = pairs(maps, made.shape, read.shape, limit)
                more = np.bincount(columns, minlength=size)
                total = more if not len(total) else total + more
        if len(several) == 1 and not len(total):
            one = several[0]
            entry = Utilization(name, size, one.read, one.total, one.most, exact)
        else:
            if not len(total):
                total = np.zeros(size, np.int64)
            for one in several:
                total = total + _spread(one, read.shape)
            entry = Utilization(
                name,
                size,
                int(np.count_nonzero(total)),
                int(total.sum()),
                int(total.max()) if size else 0,
                exact,
            )
        found.append(entry)
    return tuple(found)


def _spread(one: Counts, shape: tuple[int, ...]) -> np.ndarray:
    """The counts as one array, row by row."""
    found = np.full(shape, one.factor, np.int64)
    for axes, values in zip(one.axes, one.counts, strict=True):
        index = [1] * len(shape)
        for i, n in zip(axes, values.shape, strict=True):
            index[i] = n
        found *= values.reshape(index)
    return found.ravel()
