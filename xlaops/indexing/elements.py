"""What one element is made of, array by array, from the end of a program to its start.

The maps of a deep program may have so many points that nobody can look at them all: a
variable for every window of every layer. The set of elements that one element is made
of is small all the same, and goes backward through one operation after the other.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from . import expression as ex
from .expression import Expression
from .flow import Flow
from .graph import Value
from .interval import Interval
from .map import IndexingMap
from .map_data import merged_reasons
from .map_sets import Maps
from .parts import split
from .positions import merged, pairs
from .primitives.building import sizes
from .variables import Owner, Table, Variable


class Group(NamedTuple):
    """Some indices along some axes.

    Attributes:
      axes: their numbers, ascending.
      codes: row-major positions in an array of these axes alone, ascending.
    """

    axes: tuple[int, ...]
    codes: np.ndarray


class Elements:
    """A set of elements of an array: the product of groups, one for each axis or more.

    Args:
      shape: of the array.
      groups: which have all axes, each once.
    """

    def __init__(self, shape: Sequence[int], groups: Sequence[Group]) -> None:
        self.shape = tuple(shape)
        self.groups = tuple(sorted(groups, key=lambda g: g.axes))

    @classmethod
    def of_index(cls, shape: Sequence[int], index: Sequence[int]) -> Elements:
        """One element."""
        return cls(shape, [Group((i,), np.array([k])) for i, k in enumerate(index)])

    @classmethod
    def every(cls, shape: Sequence[int]) -> Elements:
        """All elements."""
        return cls(shape, [Group((i,), np.arange(n)) for i, n in enumerate(shape)])

    @property
    def count(self) -> int:
        """How many elements it has."""
        return prod([len(g.codes) for g in self.groups])

    def codes(self) -> np.ndarray:
        """The row-major positions of all elements, ascending."""
        if not self.groups:
            return np.zeros(1, np.int64)
        return _joined(self.shape, self.groups).codes

    def union(self, other: Elements) -> Elements:
        """The elements of both sets."""
        if not self.count or not other.count:
            return other if not self.count else self
        # Groups of which every one of either set is a part.
        axes: list[set[int]] = []
        for one in (*self.groups, *other.groups):
            found = set(one.axes)
            for apart in [a for a in axes if a & found]:
                axes.remove(apart)
                found |= apart
            axes.append(found)
        both = [(self._group(a), other._group(a)) for a in axes]
        if all(_holds(b, a) for a, b in both):
            return other
        if all(_holds(a, b) for a, b in both):
            return self
        same = [a for a, b in both if np.array_equal(a.codes, b.codes)]
        kept = {a.axes for a in same}
        # What differs in several groups is no product of them.
        rest = [i for a in axes if tuple(sorted(a)) not in kept for i in a]
        one, two = self._group(rest), other._group(rest)
        return Elements(
            self.shape, [*same, Group(one.axes, merged([one.codes, two.codes]))]
        )

    def _group(self, axes: Sequence[int] | set[int]) -> Group:
        """The groups of some axes as one."""
        return _joined(self.shape, [g for g in self.groups if g.axes[0] in set(axes)])

    def select(self) -> IndexingMap:
        """The map without dimensions that leads to the elements."""
        results: list[Expression] = [ex.ZERO] * len(self.shape)
        ranges: list[Variable] = []
        runtimes: list[Variable] = []
        for axes, codes in self.groups:
            row = ex.range_variable(len(ranges))
            if len(codes) != 1:
                ranges += sizes([len(codes)])
            inner = tuple([self.shape[i] for i in axes])
            for axis, values in zip(axes, np.unravel_index(codes, inner), strict=True):
                first = int(values[0])
                step = int(values[1]) - first if len(values) > 1 else 0
                if np.array_equal(values, first + step * np.arange(len(values))):
                    results[axis] = row * step + first
                else:
                    owner = Owner(("elements", len(runtimes)), (row,), Table(values))
                    bounds = Interval(int(values.min()), int(values.max()))
                    results[axis] = ex.runtime_variable(len(runtimes))
                    runtimes.append(Variable(bounds, owner=owner))
        return IndexingMap((), results, ranges, runtimes)


def _joined(shape: Sequence[int], groups: Sequence[Group]) -> Group:
    """The product of groups as one."""
    if len(groups) == 1:
        return groups[0]
    axes = sorted(i for g in groups for i in g.axes)
    strides = {i: prod([shape[k] for k in axes if k > i]) for i in axes}
    codes: np.ndarray = np.zeros(1, np.int64)
    for one in groups:
        inner = tuple([shape[i] for i in one.axes])
        index = np.unravel_index(one.codes, inner)
        own = sum(
            (v * strides[i] for i, v in zip(one.axes, index, strict=True)),
            np.zeros(len(one.codes), np.int64),
        )
        codes = np.add.outer(codes, own).ravel()
    return Group(tuple(axes), np.sort(codes))


def _holds(a: Group, b: Group) -> bool:
    """Whether the first group has all indices of the second one."""
    if len(a.codes) < len(b.codes):
        return False
    at = np.minimum(np.searchsorted(a.codes, b.codes), len(a.codes) - 1)
    return bool(np.array_equal(a.codes[at], b.codes))


def image(
    found: Elements, one: IndexingMap, shape: Sequence[int], limit: int | None
) -> Elements | None:
    """The elements that a map leads to from a set, or None if there are none.

    Args:
      found: the set, which is not empty.
      one: a map from the array of the set.
      shape: of the array that it leads to.
      limit: how many points of a part of the map may be looked at.

    Raises:
      ValueError: if there are more.
    """
    if one.is_undefined:
        return Elements.every(shape) if prod(shape) else None
    there = found.select().compose(one)
    if there.is_known_empty:
        return None
    groups = []
    for part in split(there):
        inner = tuple([shape[i] for i in part.results])
        _, codes = pairs([part.map], (), inner, limit)
        if not len(codes):
            return None
        if part.results:
            groups.append(Group(part.results, codes))
    return Elements(shape, groups)


class Seen(NamedTuple):
    """What one element is made of, of one array.

    Attributes:
      elements: of the array.
      reasons: why there are more than need be, if there are.
      is_known: whether no index that is only known when the program runs matters.
    """

    elements: Elements
    reasons: tuple[str, ...] = ()
    is_known: bool = True


def seen(
    flow: Flow, value: Value, index: Sequence[int], limit: int | None = None
) -> dict[Value, Seen]:
    """What one element of an array is made of, of every array that it is made of.

    Args:
      flow: the program.
      value: the array.
      index: of the element.
      limit: how many points may be looked at for one part of an operation.

    Raises:
      ValueError: if there are more.
    """
    found = {value: Seen(Elements.of_index(value.shape, index))}
    for node in reversed(flow.graph.nodes):
        for output, made in enumerate(node.outputs):
            if made not in found:
                continue
            steps: Sequence[Maps] = flow.step(node, output)
            for operand, maps in zip(node.inputs, steps, strict=True):
                if operand.constant is not None:
                    continue
                for one in maps:
                    more = _step(found[made], one, operand.shape, limit)
                    if more is not None:
                        old = found.get(operand)
                        found[operand] = more if old is None else _both(old, more)
    return found


def _step(
    before: Seen, one: IndexingMap, shape: Sequence[int], limit: int | None
) -> Seen | None:
    elements = image(before.elements, one, shape, limit)
    if elements is None:
        return None
    reasons = merged_reasons(before.reasons, one.reasons)
    is_known = before.is_known and all(
        v.owner is not None and v.owner.table is not None for v in one.runtimes
    )
    return Seen(elements, reasons, is_known)


def _both(a: Seen, b: Seen) -> Seen:
    return Seen(
        a.elements.union(b.elements),
        functools.reduce(merged_reasons, (a.reasons, b.reasons)),
        a.is_known and b.is_known,
    )
