"""Sets of maps between the same two arrays: composed, deduplicated and bounded."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from . import expression as ex
from .expression import RANGE, Atom, Expression
from .interval import Interval
from .map import IndexingMap
from .map_data import merged_reasons
from .primitives.building import identity
from .tidying import tidied
from .variables import Variable

Maps: TypeAlias = tuple[IndexingMap, ...]

FEW: Final = 4
"""How many maps a set may have before maps within others are looked for."""

MANY: Final = 64
"""How many maps a set may have before it becomes one map that holds all of them."""

WIDENED: Final = "there were too many maps, and one took their place"


def is_whole_identity(a: IndexingMap) -> bool:
    """Whether it is the map of rules that takes every element to itself."""
    # Equal maps may be the identity on a part of a larger array.
    return a is identity(tuple([v.bounds.upper + 1 for v in a.dims]))


def composed(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """The map that applies both, without variables that it does not need."""
    # Maps that differ in their reasons alone are equal. So are the identity of a whole
    # array and that of a part of a larger one, which restricts what comes after it.
    whole = is_whole_identity(first), is_whole_identity(second)
    return _composed(first, second, whole, first.reasons, second.reasons)


@functools.lru_cache(maxsize=2**15)
def _composed(
    first: IndexingMap,
    second: IndexingMap,
    whole: tuple[bool, bool],
    *reasons: tuple[str, ...],
) -> IndexingMap:
    if whole[1]:
        return first
    if whole[0]:
        return second
    made = first.compose(second)
    if made.is_known_empty or made.is_undefined:
        return made
    if made.ranges or made.runtimes:
        made = tidied(made)
    return made


def turned(a: IndexingMap, shape: tuple[int, ...]) -> IndexingMap:
    """The map in the other direction, from an array of that shape."""
    return _turned(a, shape, a.reasons)


@functools.lru_cache(maxsize=2**15)
def _turned(
    a: IndexingMap, shape: tuple[int, ...], reasons: tuple[str, ...]
) -> IndexingMap:
    return a.inverse(list(shape))


class Collector:
    """A growing set of maps from one array to one other.

    Args:
      shape: of the array that the maps lead to.
      limit: how many maps it may hold.
    """

    def __init__(self, shape: Sequence[int], limit: int = MANY) -> None:
        self.shape = tuple(shape)
        self.limit = limit
        self.found: dict[IndexingMap, tuple[str, ...]] = {}
        self.was_widened = False

    def add(self, maps: Iterable[IndexingMap]) -> None:
        """Adds maps that are not known to relate nothing."""
        for one in maps:
            if one.is_known_empty:
                continue
            if one in self.found:
                if self.found[one] and not one.reasons:
                    # It relates no more than it should after all.
                    del self.found[one]
                    self.found[one] = one.reasons
                continue
            if any(m.is_undefined for m in self.found):
                return
            if one.is_undefined:
                self.found = {}
            self.found[one] = one.reasons
            if len(self.found) > FEW:
                self._without_parts()
            if len(self.found) > self.limit:
                self._widen()

    def _without_parts(self) -> None:
        """Drops maps that relate nothing that another one does not."""
        newest = next(reversed(self.found))
        for other in list(self.found):
            if other is newest:
                continue
            if holds(other, newest, self.shape):
                del self.found[newest]
                return
            if holds(newest, other, self.shape):
                del self.found[other]

    def _widen(self) -> None:
        one = hull(tuple(self.found), self.shape)
        self.found = {one: one.reasons}
        self.was_widened = True

    @property
    def maps(self) -> Maps:
        """The maps, in the order in which they were found."""
        return tuple(self.found)


def _free_ranges(a: IndexingMap) -> set[Atom]:
    """Range variables that take all their values whatever the others are."""
    counts: dict[Atom, int] = {}
    for e in (*a.results, *[c for c, _ in a.constraints]):
        for atom in ex.variables(e):
            counts[atom] = counts.get(atom, 0) + 1
    for v in a.runtimes:
        for e in v.owner.index if v.owner is not None else ():
            for atom in ex.variables(e):
                counts[atom] = counts.get(atom, 0) + 2
    return {atom for atom, n in counts.items() if atom.kind == RANGE and n == 1}


def holds(big: IndexingMap, small: IndexingMap, shape: Sequence[int]) -> bool:
    """Whether one map surely relates all that another one does.

    False does not say that it does not.

    Args:
      big: a map.
      small: a map of the same dimensions.
      shape: of the array that both lead to.
    """
    if big.constraints or big.runtimes or small.is_undefined or big.is_undefined:
        return False
    for v, w in zip(big.dims, small.dims, strict=True):
        if w.bounds not in v.bounds:
            return False
    free = _free_ranges(big)
    scope = small.scope()
    for b, a, n in zip(big.results, small.results, shape, strict=True):
        atom = b.variable
        if atom is not None and atom in free:
            low, high = scope.range(a)
            bounds = big.ranges[atom.first].bounds
            if max(low, 0) < bounds.lower or min(high, n - 1) > bounds.upper:
                return False
        elif b is not a or any(v.kind >= RANGE for v in ex.variables(b)):
            return False
    return not big.reasons or bool(small.reasons)


def hull(maps: Maps, shape: Sequence[int]) -> IndexingMap:
    """One map that relates all that some maps do.

    A result that is the same function of the dimensions in all of them stays; any other
    becomes all values between the least and the largest.
    """
    first = maps[0]
    dims = list(first.dims)
    for one in maps[1:]:
        dims = [
            v.within(v.bounds.hull(w.bounds))
            for v, w in zip(dims, one.dims, strict=True)
        ]
    scopes = [one.scope() for one in maps]
    results: list[Expression] = []
    ranges: list[Variable] = []
    for i, n in enumerate(shape):
        e = first.results[i]
        own = all(v.kind < RANGE for v in ex.variables(e))
        if own and all(one.results[i] is e for one in maps):
            results.append(e)
            continue
        spans = [
            scope.range(one.results[i]) for scope, one in zip(scopes, maps, strict=True)
        ]
        low = max(min(a for a, _ in spans), 0)
        high = min(max(b for _, b in spans), n - 1)
        results.append(ex.range_variable(len(ranges)))
        ranges.append(Variable(Interval(low, high)))
    reasons: tuple[str, ...] = ()
    for one in maps:
        reasons = merged_reasons(reasons, one.reasons)
    reasons = merged_reasons(reasons, (WIDENED,))
    return IndexingMap(dims, results, ranges, reasons=reasons).simplify()
