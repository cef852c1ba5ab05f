"""Products that sum over dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import expression as ex
from ..expression import Expression
from .building import Shape, d, related, s, whole
from .equation import Equation, Maps, rule


class _Contraction:
    """Which dimensions of two arrays a product matches, sums over and keeps."""

    def __init__(self, numbers: Any, lhs: Shape, rhs: Shape) -> None:
        contracted, batch = numbers
        self.contracted = tuple(map(tuple, contracted))
        self.batch = tuple(map(tuple, batch))
        self.shapes = (lhs, rhs)

    def index(
        self, side: int, free: int, first: int = 0, groups: Sequence[int] = ()
    ) -> tuple[list[Expression], list[int]]:
        """The index in one of the arrays, and the sizes of the range variables.

        Args:
          side: 0 or 1.
          free: the result's dimension of the first that only this array has.
          first: the result's dimension of the first that both have.
          groups: dimensions that are summed over as well.
        """
        results: list[Expression] = []
        contracted = self.contracted[side]
        ranges = [self.shapes[side][i] for i in contracted]
        for i, size in enumerate(self.shapes[side]):
            if i in self.batch[side]:
                results.append(d(first + self.batch[side].index(i)))
            elif i in contracted:
                results.append(s(contracted.index(i)))
            elif i in groups:
                results.append(s(len(ranges)))
                ranges.append(size)
            else:
                results.append(d(free))
                free += 1
        return results, ranges

    def free_count(self, side: int) -> int:
        """How many dimensions only this array has."""
        matched = len(self.batch[side]) + len(self.contracted[side])
        return len(self.shapes[side]) - matched


@rule("dot_general")
def _dot_general(eq: Equation, output: int) -> Sequence[Maps]:
    lhs, rhs = eq.operands[0].shape, eq.operands[1].shape
    contraction = _Contraction(eq.params["dimension_numbers"], lhs, rhs)
    batch = len(contraction.batch[0])
    first, ranges = contraction.index(0, batch)
    second, _ = contraction.index(1, batch + contraction.free_count(0))
    shape = eq.shapes[0]
    return [
        (related(shape, first, ranges=ranges),),
        (related(shape, second, ranges=ranges),),
    ]


@rule("scaled_dot")
def _scaled_dot(eq: Equation, output: int) -> Sequence[Maps]:
    (to_lhs,), (to_rhs,) = _dot_general(eq, output)
    contracted = eq.params["dimension_numbers"][0]
    maps: list[Maps] = [(to_lhs,), (to_rhs,)]
    for side, one in enumerate((to_lhs, to_rhs)):
        # A scale belongs to a block of what is summed over.
        values, scale = eq.operands[side].shape, eq.operands[side + 2].shape
        results, ranges, limits = list(one.results), [], []
        for i in contracted[side]:
            if scale[i]:
                results[i] = s(len(ranges))
                ranges.append(scale[i])
        if any(values[i] == 0 for i in contracted[side]):
            limits = [(ex.ZERO, (1, 1))]
        made = related(eq.shapes[0], results, ranges=ranges, limits=limits)
        maps.append(() if made.is_known_empty else (made,))
    return maps


@rule("ragged_dot_general", "xlaops_ragged_dot")
def _ragged_dot(eq: Equation, output: int) -> Sequence[Maps]:
    shape = eq.shapes[0]
    lhs, rhs = eq.operands[0].shape, eq.operands[1].shape
    numbers = next(v for v in eq.params.values() if hasattr(v, "rhs_group_dimensions"))
    if hasattr(numbers, "to_lax"):
        numbers = numbers.to_lax()
    contraction = _Contraction(numbers.dot_dimension_numbers, lhs, rhs)
    groups = tuple(numbers.rhs_group_dimensions)
    ragged = tuple(numbers.lhs_ragged_dimensions)
    # Groups of what is summed over are a dimension of the result, the first one.
    first = int(any(i in contraction.contracted[0] for i in ragged))
    batch = first + len(contraction.batch[0])
    to_lhs, ranges = contraction.index(0, batch, first)
    free = batch + contraction.free_count(0)
    to_rhs, more = contraction.index(1, free, first, groups)
    maps: list[Maps] = [
        (related(shape, to_lhs, ranges=ranges),),
        (related(shape, to_rhs, ranges=more),),
    ]
    return maps + [(whole(shape, x.shape),) for x in eq.operands[2:]]
