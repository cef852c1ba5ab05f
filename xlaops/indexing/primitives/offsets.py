"""Slices at offsets that are data: runtime variables, or numbers if they are known."""

from __future__ import annotations

from collections.abc import Sequence

from .. import expression as ex
from ..expression import Expression
from ..variables import Variable
from .building import Limit, d, identity, related, rt, to_scalar
from .equation import Equation, Maps, Operand, rule
from .runtimes import runtime


class _Starts:
    """Where a slice begins: a number or a runtime variable for each dimension."""

    def __init__(
        self, indices: Sequence[Operand], shape: Sequence[int], sizes: Sequence[int]
    ) -> None:
        self.runtimes: list[Variable] = []
        self.starts: list[Expression] = []
        self.bounds: list[tuple[int, int]] = []
        # XLA moves a slice that would end outside of the array back into it.
        self.most = [n - size for n, size in zip(shape, sizes, strict=True)]
        for x, most in zip(indices, self.most, strict=True):
            value = x.constant()
            if most == 0 or value is not None:
                start = 0 if value is None else min(max(int(value), 0), most)
                self.starts.append(ex.constant(start))
                self.bounds.append((start, start))
                continue
            self.starts.append(rt(len(self.runtimes)))
            self.runtimes.append(runtime(x, (), most))
            low, high = self.runtimes[-1].bounds
            self.bounds.append((low, high))

    def index_maps(self, shape: tuple[int, ...]) -> list[Maps]:
        """The maps to the indices, which every element reads."""
        return [(to_scalar(shape),)] * len(self.most)


@rule("dynamic_slice")
def _dynamic_slice(eq: Equation, output: int) -> Sequence[Maps]:
    shape, operand = eq.shapes[0], eq.operands[0].shape
    rank = len(operand)
    # Behind the indices may come sizes of dynamic shapes.
    starts = _Starts(eq.operands[1 : 1 + rank], operand, shape)
    results = [d(i) + e for i, e in enumerate(starts.starts)]
    read = related(shape, results, runtimes=starts.runtimes)
    rest = len(eq.operands) - 1 - rank
    return [(read,), *starts.index_maps(shape), *[()] * rest]


@rule("dynamic_update_slice")
def _dynamic_update_slice(eq: Equation, output: int) -> Sequence[Maps]:
    shape, update = eq.shapes[0], eq.operands[1].shape
    starts = _Starts(eq.operands[2:], shape, update)
    results = [d(i) - e for i, e in enumerate(starts.starts)]
    limits = [(e, (0, n - 1)) for e, n in zip(results, update, strict=True)]
    written = related(shape, results, runtimes=starts.runtimes, limits=limits)
    return [
        _kept(shape, update, starts),
        () if written.is_known_empty else (written,),
        *_where_written(shape, update, starts),
    ]


def _where_written(
    shape: tuple[int, ...], update: Sequence[int], starts: _Starts
) -> list[Maps]:
    """The maps to the offsets: they matter where something may be written."""
    limits = [
        (d(i), (low, high + size - 1))
        for i, ((low, high), size) in enumerate(zip(starts.bounds, update, strict=True))
    ]
    there = related(shape, (), limits=limits)
    return [(there,)] * len(starts.most)


def _kept(shape: tuple[int, ...], update: Sequence[int], starts: _Starts) -> Maps:
    """The elements that are not overwritten, for some values of the offsets."""
    results = [d(i) for i in range(len(shape))]
    maps = []
    for i, (n, size) in enumerate(zip(shape, update, strict=True)):
        least, first = starts.bounds[i]
        last = least + size - 1
        if first > last:
            # No element lies in the slice for every offset.
            return (identity(shape),)
        outside: list[Limit] = [(d(i), (0, first - 1)), (d(i), (last + 1, n - 1))]
        maps += [related(shape, results, limits=[one]) for one in outside]
    return tuple([m for m in maps if not m.is_known_empty])
