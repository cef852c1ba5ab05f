"""The two maps between a result and one operand."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .. import expression as ex
from ..expression import Expression
from ..interval import Interval
from ..map import IndexingMap
from ..map_data import Constraint
from ..variables import Variable, of_size

Shape = tuple[int, ...]


class OperandMaps:
    """How the elements of a result and of one operand belong together.

    One of the two maps is given, and the other one is its inverse, made when it is
    first asked for.

    Args:
        result: shape of the result.
        operand: shape of the operand.
        output_to_input: for each element of the result those of the operand.
        input_to_output: for each element of the operand those of the result; or a
            function that makes this map when it is asked for.

    Example:
        >>> from xlaops.indexing import rules
        >>> maps = rules.slice_in((20,), (3,), (20,), (7,))
        >>> print(maps.output_to_input)
        (d0) -> (d0 * 7 + 3), domain: d0 in [0, 2]
        >>> print(maps.input_to_output)
        (d0) -> ((d0 - 3) floordiv 7), domain: d0 in [3, 17], (d0 - 3) mod 7 in [0, 0]
    """

    __slots__ = ("_backward", "_forward", "operand", "result")

    def __init__(
        self,
        result: Shape,
        operand: Shape,
        output_to_input: IndexingMap | None = None,
        input_to_output: IndexingMap | Callable[[], IndexingMap] | None = None,
    ) -> None:
        self.result = result
        self.operand = operand
        self._backward = output_to_input
        self._forward = input_to_output

    @property
    def output_to_input(self) -> IndexingMap:
        """From the index of an element of the result."""
        if self._backward is None:
            self._backward = self.input_to_output.inverse(self.result)
        return self._backward

    @property
    def input_to_output(self) -> IndexingMap:
        """From the index of an element of the operand."""
        if self._forward is None:
            assert self._backward is not None
            self._forward = self._backward.inverse(self.operand)
        elif not isinstance(self._forward, IndexingMap):
            self._forward = self._forward()
        return self._forward


def sized(shape: Iterable[int]) -> tuple[Variable, ...]:
    """A variable for each dimension of a shape."""
    return tuple([of_size(n) for n in shape])


def between(
    shape: Shape,
    results: Iterable[Expression],
    other: Shape,
    constraints: tuple[Constraint, ...] = (),
    reasons: tuple[str, ...] = (),
    bounds: Iterable[Interval] | None = None,
) -> IndexingMap:
    """A map from the elements of one shape to those of another, simplified.

    Args:
      shape: where the dimensions are from.
      results: one expression for each dimension of ``other``.
      other: where the results stay, which is relied on.
      constraints: intervals of more expressions.
      reasons: why it relates more elements than belong together.
      bounds: of the dimensions, where they are not the whole shape.
    """
    dims = sized(shape) if bounds is None else tuple([Variable(b) for b in bounds])
    if 0 in shape or 0 in other:
        return IndexingMap.empty(len(shape), len(other))
    m = IndexingMap.build(
        dims,
        tuple(results),
        constraints=constraints,
        reasons=reasons,
        result_bounds=tuple([Interval(0, n - 1) for n in other]),
    )
    # Of what rules write down there is nothing to be guessed.
    return m.simplify(keep_points=True, prove=False)


def same(rank: int) -> list[Expression]:
    """The dimensions themselves."""
    return [ex.dim(i) for i in range(rank)]
