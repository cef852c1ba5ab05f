"""Gathers and scatters: reads and writes at indices that are data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple

import numpy as np

from .. import expression as ex
from ..constant_windows import clamps as is_clamped
from ..constant_windows import positions
from ..constants import MAX_SIZE
from ..expression import Expression
from ..interval import Interval
from ..map import IndexingMap
from ..variables import Owner, Table, Variable
from .building import Limit, Shape, d, identity, related, rt, s
from .dependence import read_inputs
from .equation import Equation, Maps, Operand, rule
from .masks import affine_expression, regions
from .runtimes import runtime


class _Indices:
    """The starts of windows that an array of index vectors says.

    Args:
      operand: the array, with the index vectors in its last dimension.
      vector: the index of the vector, as expressions of the map's variables.
      clamps: whether starts are moved into the bounds; if not, windows that do not lie
        in the array are left out.
    """

    def __init__(
        self, operand: Operand, vector: Sequence[Expression], clamps: bool
    ) -> None:
        self.operand = operand
        self.vector = tuple(vector)
        self.clamps = clamps
        self.value = operand.constant()
        self.runtimes: list[Variable] = []
        self.limits: list[Limit] = []

    def start(self, component: int, most: int) -> Expression:
        """The start along one dimension, which is 0 to ``most``."""
        if most == 0 and self.clamps:
            return ex.ZERO
        bounds = Interval(0, most)
        if self.value is None:
            index = (*self.vector, ex.constant(component))
            return self._runtime(runtime(self.operand, index, most, self.clamps))
        column = self.value[..., component].astype(np.int64)
        if self.clamps:
            column = np.clip(column, 0, most)
        formula = affine_expression(column, self.vector)
        if formula is not None:
            if not self.clamps:
                self.limits.append((formula, (0, most)))
            return formula
        source = (self.operand.source, component, most if self.clamps else None)
        owner = Owner(source, self.vector, Table(column))
        return self._runtime(Variable(bounds, owner=owner))

    def _runtime(self, variable: Variable) -> Expression:
        self.runtimes.append(variable)
        return rt(len(self.runtimes) - 1)


def _most(n: int, size: int) -> int:
    return max(n - size, 0)


# Gather


@rule("gather")
def _gather(eq: Equation, output: int) -> Sequence[Maps]:
    shape, params = eq.shapes[0], eq.params
    source, indices = eq.operands[0], eq.operands[1]
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    batch = [i for i in range(len(shape)) if i not in numbers.offset_dims]
    vector = [d(i) for i in batch]
    starts = _Indices(indices, vector, is_clamped(params["mode"]))
    results: list[Expression] = []
    offset = 0
    for i, n in enumerate(source.shape):
        if i in numbers.operand_batching_dims:
            k = numbers.operand_batching_dims.index(i)
            results.append(d(batch[numbers.start_indices_batching_dims[k]]))
            continue
        at = ex.ZERO
        if i not in numbers.collapsed_slice_dims:
            at = d(numbers.offset_dims[offset])
            offset += 1
        if i in numbers.start_index_map:
            k = numbers.start_index_map.index(i)
            at = at + starts.start(k, _most(n, sizes[i]))
        results.append(at)
    read = related(shape, results, runtimes=starts.runtimes, limits=starts.limits)
    of_vectors = related(shape, [*vector, s(0)], ranges=[len(numbers.start_index_map)])
    return [(read,), (of_vectors,)]


# Scatter


@rule(
    *("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min"),
    "scatter-max",
)
def _scatter(eq: Equation, output: int) -> Sequence[Maps]:
    shape, params = eq.shapes[0], eq.params
    _, indices, updates = eq.operands
    numbers = params["dimension_numbers"]
    write = _Write(
        numbers.update_window_dims,
        numbers.inserted_window_dims,
        numbers.scatter_dims_to_operand_dims,
        numbers.operand_batching_dims,
        numbers.scatter_indices_batching_dims,
    )
    clamps = is_clamped(params["mode"])
    written = write.written(shape, indices, updates.shape, clamps)
    # A plain scatter comes without a computation: it overwrites.
    keeps = eq.name != "scatter"
    if params.get("update_jaxpr") is not None:
        (read,) = read_inputs(params["update_jaxpr"])
        keeps = 0 in read
    return [
        (identity(shape),)
        if keeps
        else write.kept(shape, indices, updates.shape, clamps),
        write.of_vectors(shape, indices.shape),
        (written,),
    ]


@rule("xlaops_scatter")
def _scatter_by(eq: Equation, output: int) -> Sequence[Maps]:
    count = len(eq.operands) // 2
    shape, indices = eq.shapes[output], eq.operands[-1]
    numbers = eq.params["positions"].to_lax()
    write = _Write(
        numbers.update_window_dims,
        numbers.inserted_window_dims,
        numbers.scatter_dims_to_operand_dims,
        numbers.operand_batching_dims,
        numbers.scatter_indices_batching_dims,
    )
    read = read_inputs(eq.params["computation"].jaxpr)
    needed = {output}
    while True:
        more = needed | {i % count for o in needed for i in read[o] if i < 2 * count}
        if more == needed:
            break
        needed = more
    updates = eq.operands[count : 2 * count]
    maps: list[Maps] = []
    for i in range(count):
        keeps = any(i in read[o] for o in needed) or i != output
        kept = (identity(shape),)
        if not keeps:
            kept = write.kept(shape, indices, updates[i].shape, False)
        maps.append(kept if i in needed else ())
    for i in range(count):
        written = write.written(shape, indices, updates[i].shape, False)
        maps.append((written,) if i in needed else ())
    return [*maps, write.of_vectors(shape, indices.shape)]


OVERWRITTEN: Final = (
    "elements that a scatter at known indices overwrites are not left out"
)
_MANY_KEPT: Final = 4
"""How many regions what is not overwritten may have to be told apart."""


class _Write(NamedTuple):
    """The dimension numbers of a scatter."""

    window: Sequence[int]
    inserted: Sequence[int]
    to_operand: Sequence[int]
    batching: Sequence[int]
    index_batching: Sequence[int]

    def written(
        self, shape: Shape, indices: Operand, updates: Shape, clamps: bool
    ) -> IndexingMap:
        """The map from the result's elements to the updates that go there."""
        scattered = [i for i in range(len(updates)) if i not in self.window]
        vector = [d(i) for i in scattered]
        starts = _Indices(indices, vector, clamps)
        results: list[Expression] = []
        position = 0
        for i, n in enumerate(shape):
            if i in self.batching:
                k = list(self.batching).index(i)
                results.append(d(scattered[self.index_batching[k]]))
                continue
            at, size = ex.ZERO, 1
            if i not in self.inserted:
                at, size = d(self.window[position]), updates[self.window[position]]
                position += 1
            if i in self.to_operand:
                k = list(self.to_operand).index(i)
                at = at + starts.start(k, _most(n, size))
            results.append(at)
        there = related(
            updates, results, runtimes=starts.runtimes, limits=starts.limits
        )
        return there.inverse(list(shape))

    def kept(
        self, shape: Shape, indices: Operand, updates: Shape, clamps: bool
    ) -> Maps:
        """The maps to the elements that are there after a scatter that overwrites."""
        value = indices.constant()
        if value is None:
            return (identity(shape),)
        if not self.batching and max(prod(shape), prod(updates)) <= MAX_SIZE:
            inner = [updates[i] for i in self.window]
            window = [
                1 if i in self.inserted else inner.pop(0) for i in range(len(shape))
            ]
            where, lies_within = positions(
                shape, value, self.to_operand, window, clamps
            )
            is_kept = np.ones(prod(shape), bool)
            is_kept[where[lies_within]] = False
            found = regions(shape, is_kept.reshape(shape))
            if len(found) <= _MANY_KEPT and all(one.exact for one in found):
                return found
        return (identity(shape).widened(OVERWRITTEN),)

    def of_vectors(self, shape: Shape, indices: Shape) -> Maps:
        """The maps to the index vectors: any window may end anywhere."""
        results: list[Expression] = []
        ranges: list[int] = []
        for i, n in enumerate(indices):
            if i in self.index_batching:
                results.append(d(self.batching[list(self.index_batching).index(i)]))
            else:
                results.append(s(len(ranges)))
                ranges.append(n)
        return (related(shape, results, ranges=ranges),)
