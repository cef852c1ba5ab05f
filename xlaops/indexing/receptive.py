"""What one element of a result sees of an argument."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from . import expression as ex
from .analysis import Analysis, Selector
from .expression import DIM, Expression
from .map import IndexingMap
from .map_sets import Maps
from .positions import pairs
from .questions import analysis_of, element_of


class Window(NamedTuple):
    """Which indices of an axis an element reads, wherever it is.

    At the borders of the array some of them are missing.

    Attributes:
      lower: the first index, as a function of the element's.
      upper: the last one.
    """

    lower: Expression
    upper: Expression

    @property
    def size(self) -> int:
        """From the first to the last index."""
        return (self.upper - self.lower).constant + 1

    def stride(self, dimension: int) -> int:
        """How far it moves if one dimension of the element's index grows by 1."""
        for atom, k in self.lower.terms:
            if atom.kind == DIM and atom.first == dimension:
                return k
        return 0


@dataclasses.dataclass(frozen=True, eq=False)
class ReceptiveField:
    """What one element of a result sees of an array.

    Attributes:
        index: which element.
        shape: of the array.
        positions: an int64 array with a row for each element that is seen.
        windows: for each axis of the array what an element sees wherever it is, or None
            where that is no linear function of its index.
        reasons: why it is more than need be, if it is.
    """

    index: tuple[int, ...]
    shape: tuple[int, ...]
    positions: np.ndarray
    windows: tuple[Window | None, ...]
    reasons: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether no rule took more elements than the operations read."""
        return not self.reasons

    @property
    def count(self) -> int:
        """How many elements are seen."""
        return len(self.positions)

    @property
    def box(self) -> tuple[tuple[int, int], ...]:
        """For each axis the first and the last index that is seen; (0, -1) if none."""
        if not self.count:
            return ((0, -1),) * len(self.shape)
        low, high = self.positions.min(0), self.positions.max(0)
        return tuple(zip(low.tolist(), high.tolist(), strict=True))

    @property
    def size(self) -> tuple[int, ...]:
        """How many indices of each axis lie in the box."""
        return tuple([high - low + 1 for low, high in self.box])

    @property
    def steps(self) -> tuple[int, ...]:
        """The distance of the indices that are seen, 1 without gaps or dilation."""
        found = []
        for i in range(len(self.shape)):
            indices = np.unique(self.positions[:, i])
            found.append(
                int(np.gcd.reduce(np.diff(indices))) if len(indices) > 1 else 1
            )
        return tuple(found)

    @property
    def coverage(self) -> float:
        """Which part of the box is seen; 1 if nothing is."""
        return self.count / prod(self.size) if self.count else 1.0

    def __str__(self) -> str:
        lines = [
            f"element {self.index} sees {self.count} of {prod(self.shape)} elements, "
            f"{100 * self.coverage:.3g} % of the box"
        ]
        for i, ((low, high), step, window) in enumerate(
            zip(self.box, self.steps, self.windows, strict=True)
        ):
            line = f"  axis {i}: {low} to {high} of {self.shape[i]}"
            if step != 1:
                line += f" in steps of {step}"
            if window is not None:
                line += f"; in general {window.lower} to {window.upper}"
            lines.append(line)
        lines += [f"  more than needed: {reason}" for reason in self.reasons]
        return "\n".join(lines)


def receptive_field(
    f: Callable[..., Any] | Analysis,
    *args: Any,
    index: Sequence[int] | None = None,
    output: Selector = 0,
    input: Selector = 0,
    derivative: bool = False,
    limit: int | None = None,
) -> ReceptiveField:
    """What one element of a result sees of an argument.

    It works for any function: convolutions, attention, reshapes, loops. What is seen is
    what the operations read. A mask that is only known when the program runs hides
    nothing, and neither does one that is added to the scores before a softmax.

    Args:
        f: a function that JAX can trace, or its `Analysis`.
        *args: its arguments, pytrees of arrays or of `jax.ShapeDtypeStruct`.
        index: of the element, from the end where negative; None: the one in the
            middle.
        output: the result, by number, name or value.
        input: the argument, by number, name or value.
        derivative: whether only the dependence counts that a derivative can have.
        limit: how many points may be looked at, 2**27 unless given.

    Returns:
        The positions that it sees, and for each axis the general rule.

    Raises:
        TypeError: if ``f`` is neither, or the index is none or has another length.
        ValueError: if there is no such element, result or argument.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from xlaops.indexing import receptive_field
        >>> image = jax.ShapeDtypeStruct((64, 64), jnp.float32)
        >>> def network(x):
        ...     for _ in range(3):
        ...         x = jax.lax.reduce_window(
        ...             x, 0.0, jax.lax.add, (3, 3), (2, 2), "SAME")
        ...     return x
        >>> print(receptive_field(network, image))
        element (4, 4) sees 225 of 4096 elements, 100 % of the box
          axis 0: 32 to 46 of 64; in general d0 * 8 to d0 * 8 + 14
          axis 1: 32 to 46 of 64; in general d1 * 8 to d1 * 8 + 14

    Source:
        *Indexing Analysis*, section Indexing maps of fusions.
    """
    analysis = analysis_of("receptive_field", f, args, derivative)
    made, read = analysis.output(output), analysis.input(input)
    where = element_of("receptive_field", "index", index, tuple(made.shape))
    seen = analysis.seen(made, where, limit).get(read)
    maps = analysis.output_to_input(made, read)
    columns = np.zeros(0, np.int64) if seen is None else seen.elements.codes()
    reasons = () if seen is None else seen.reasons
    if seen is not None and not seen.is_known:
        # The formula knows which indices are equal wherever they are read.
        columns = _also_in(columns, maps, where, read.shape, limit)
    positions = (
        np.stack(np.unravel_index(columns, read.shape), 1)
        if read.shape
        else (np.zeros((len(columns), 0), np.int64))
    )
    windows = tuple([_window(maps, i) for i in range(len(read.shape))])
    return ReceptiveField(where, tuple(read.shape), positions, windows, reasons)


def _also_in(
    columns: np.ndarray,
    maps: Maps,
    where: Sequence[int],
    shape: tuple[int, ...],
    limit: int | None,
) -> np.ndarray:
    """The positions that maps lead to from an element too, if these can be counted."""
    here = IndexingMap((), list(where))
    if any(one.is_undefined for one in maps):
        return columns
    try:
        _, others = pairs([here.compose(one) for one in maps], (), shape, limit)
    except ValueError:
        return columns
    return np.intersect1d(columns, others, assume_unique=True)


def _window(maps: Maps, axis: int) -> Window | None:
    """The first and the last index on an axis, as functions of the dimensions."""
    base: Expression | None = None
    low = high = 0
    for one in maps:
        if one.is_undefined:
            return None
        result = one.results[axis]
        own = ex.constant(0)
        rest = ex.constant(result.constant)
        for atom, k in result.terms:
            term = ex.of_atom(atom, k)
            if atom.kind == DIM:
                own = own + term
            elif any(v.kind == DIM for v in ex.variables(term)):
                return None
            else:
                rest = rest + term
        least, most = one.scope().range(rest)
        if base is None:
            base, low, high = own, least, most
        elif own is not base:
            return None
        else:
            low, high = min(low, least), max(high, most)
    return None if base is None else Window(base + low, base + high)
