"""Indexing maps: which elements of one array belong to an element of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from . import (
    canonical,
    composition,
    conversion,
    inversion,
    parsing,
    printing,
    range_variables,
    unused,
    widening,
)
from . import expression as ex
from .expression import Expression
from .interval import Interval
from .map_data import (
    DEFINED,
    EMPTY,
    UNKNOWN,
    ConstraintsLike,
    IntervalLike,
    VariableLike,
    merged_reasons,
)
from .map_parts import (
    check_variables,
    constrained,
    merged_constraints,
    result_bounds_of,
    variables_of,
)
from .map_values import MapValues
from .simplification import simplify
from .variables import Owner


class IndexingMap(MapValues):
    """A function from the elements of one array to those of another, with its domain.

    Its arguments are dimension variables, which are the index of an element, range
    variables, which take all their values, and runtime variables, of which only the
    bounds are known before the program runs. It relates an element to all results that
    the other variables give.

    Maps are immutable. Equal maps have equal bounds, results, constraints and owners;
    names and reasons do not count. `equals` and `equivalent` compare what maps mean.

    Args:
        dims: the dimension variables: each a `Variable`, an `Interval`, a pair of
            bounds, or a size.
        results: an expression, or an integer, for each dimension of the other array.
        ranges: the range variables.
        runtimes: the runtime variables.
        constraints: intervals of more expressions.
        reasons: why it relates more elements than it should; nothing if it does not.
        result_bounds: intervals that the results are known to stay in for all of the
            domain, such as the sizes of the other array: a composition relies on them.

    Raises:
        TypeError, ValueError: if the parts are of other types or do not fit.

    Example:
        >>> from xlaops.indexing import IndexingMap, dim, range_variable
        >>> row_of = IndexingMap([4], [dim(0), range_variable(0)], ranges=[8])
        >>> print(row_of)
        (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]
        >>> print(row_of.inverse())
        (d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 7]

    Source:
        *Indexing Analysis*, section Indexing map.
    """

    __slots__ = ("__weakref__",)

    def __new__(
        cls,
        dims: Iterable[VariableLike],
        results: Iterable[Expression | int],
        ranges: Iterable[VariableLike] = (),
        runtimes: Iterable[VariableLike] = (),
        constraints: ConstraintsLike = (),
        reasons: Iterable[str] = (),
        result_bounds: Iterable[VariableLike] | None = None,
    ) -> Self:
        """A map of checked parts; see the class."""
        groups = [
            variables_of(name, group)
            for name, group in (
                ("dims", dims),
                ("ranges", ranges),
                ("runtimes", runtimes),
            )
        ]
        expressions = tuple([ex.as_expression(e) for e in results])
        entries: Iterable[tuple[Expression, IntervalLike]] = (
            constraints.items()  # pyright: ignore[reportAssignmentType]
            if isinstance(constraints, Mapping)
            else constraints
        )
        data = cls.build(
            groups[0],
            expressions,
            groups[1],
            groups[2],
            (),
            tuple(reasons),
            result_bounds=result_bounds_of(result_bounds, len(expressions)),
        )
        return constrained(data, merged_constraints(entries))

    # The text

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        dims: int = 0,
        results: int = 0,
        ranges: int = 0,
    ) -> Self:
        """The map that a text stands for.

        XLA's one line, the document's lines, and the forms of older and newer versions
        are all read: with or without commas between entries, ``[0, n)``,
        ``is_simplified``, ``floorDiv``, ``100d0``, ``min``, ``max`` and ``ceildiv``.

        Args:
            text: the text.
            dims: how many dimensions ``KNOWN EMPTY`` and ``UNDEFINED`` have, which
                their texts do not say.
            results: how many results they have.
            ranges: how many range variables they have.

        Raises:
            TypeError: if it is no string.
            ParseError: if it is no map; it says where.

        Example:
            >>> from xlaops.indexing import IndexingMap
            >>> IndexingMap.parse("(d0)[] -> (2d0 floorDiv 3) domain: d0 in [0, 4)")
            IndexingMap.parse('(d0) -> ((d0 * 2) floordiv 3), domain: d0 in [0, 3]')
        """
        parsed = parsing.parse(text)
        if parsed.special:
            empty = cls.empty(dims, results, ranges)
            if parsed.special == "empty":
                return empty
            return cls.undefined([Interval.ANY] * dims, results)
        merged = merged_constraints(parsed.constraints)
        d, s, rt = (tuple(group) for group in parsed.groups)
        return constrained(cls.build(d, tuple(parsed.results), s, rt), merged)

    def __str__(self) -> str:
        return printing.one_line(self)

    def __repr__(self) -> str:
        return f"IndexingMap.parse({str(self)!r})"

    def pretty(self) -> str:
        """The text as XLA's document prints it, one entry of the domain a line.

        Example:
            >>> from xlaops.indexing import IndexingMap
            >>> print(IndexingMap.identity([2, 3]).pretty())
            (d0, d1) -> (d0, d1),
            domain:
            d0 in [0, 1],
            d1 in [0, 2]
        """
        return printing.document_form(self)

    # Making

    @classmethod
    def identity(cls, shape: Sequence[int]) -> Self:
        """The map of every element of a shape to itself."""
        sizes = variables_of("shape", shape)
        return cls.build(
            sizes,
            tuple([ex.dim(i) for i in range(len(sizes))]),
            result_bounds=tuple([v.bounds for v in sizes]),
        ).simplify(keep_points=True)

    @classmethod
    def empty(cls, dims: int, results: int, ranges: int = 0) -> Self:
        """The map with that many variables and results that relates nothing."""
        return cls.build((), ()).emptied(dims, ranges, results)

    @classmethod
    def undefined(
        cls, dims: Iterable[VariableLike], results: int, reason: str = ""
    ) -> Self:
        """The map of which nothing is known: any element may belong to any other."""
        return cls.build(variables_of("dims", dims), ()).undefined_like(results, reason)

    def replace(
        self,
        *,
        dims: Iterable[VariableLike] | None = None,
        results: Iterable[Expression | int] | None = None,
        ranges: Iterable[VariableLike] | None = None,
        runtimes: Iterable[VariableLike] | None = None,
        constraints: ConstraintsLike | None = None,
        reasons: Iterable[str] | None = None,
    ) -> Self:
        """The map with some of its parts replaced."""
        if self.status != DEFINED:
            return self
        return type(self)(
            self.dims if dims is None else dims,
            self.results if results is None else results,
            self.ranges if ranges is None else ranges,
            self.runtimes if runtimes is None else runtimes,
            self.constraints if constraints is None else constraints,
            self.reasons if reasons is None else reasons,
        )

    def constrain(self, expression: Expression, interval: Any) -> Self:
        """The map with one more constraint, not simplified."""
        return self.replace(
            constraints=[*self.constraints, (expression, Interval.of(interval))]
        )

    def widened(self, reason: str) -> Self:
        """The map with one more reason for which it relates more than it should."""
        return self.remade(
            reasons=merged_reasons(self.reasons, (reason,)),
            is_simplified=self.is_simplified,
        )

    # What it is

    @property
    def is_known_empty(self) -> bool:
        """Whether its domain is known to have no points. It may be empty unknown."""
        return self.status == EMPTY

    @property
    def is_undefined(self) -> bool:
        """Whether nothing is known."""
        return self.status == UNKNOWN

    @property
    def exact(self) -> bool:
        """Whether it relates no more elements than belong together; see `reasons`."""
        return not self.reasons and self.status != UNKNOWN

    @property
    def is_identity(self) -> bool:
        """Whether every element is mapped to itself."""
        return (
            self.status == DEFINED
            and not self.constraints
            and len(self.results) == len(self.dims)
            and all(
                e is ex.dim(i) or (v.bounds.is_point and _is_point(e, v.bounds.lower))
                for i, (e, v) in enumerate(zip(self.results, self.dims, strict=True))
            )
        )

    def verify(self) -> None:
        """Checks that expressions mention only variables that there are.

        Constructors do so; this is for maps made of parts.

        Raises:
            ValueError: if one mentions another.
        """
        check_variables(self)

    def owner(self, index: int) -> tuple[Owner, Self] | None:
        """Where a runtime variable's value comes from.

        Returns:
            The owner, and the map from this map's variables to the element of its array
            that holds the value; None if nothing is known.
        """
        owner = self.runtimes[index].owner
        if owner is None:
            return None
        return owner, self.remade(results=owner.index)

    # Other maps

    def compose(self, second: IndexingMap) -> Self:
        """The map that applies this one and then ``second``, simplified.

        Range and runtime variables of ``second`` come before those of this one.

        Args:
            second: a map with as many dimensions as this one has results.

        Raises:
            TypeError: if ``second`` is no map.
            ValueError: if the numbers differ.

        Example:
            >>> from xlaops.indexing import IndexingMap
            >>> there = IndexingMap.parse("(d0) -> (d0 floordiv 8, d0 mod 8), "
            ...                           "domain: d0 in [0, 31]")
            >>> back = IndexingMap.parse("(d0, d1) -> (d0 * 8 + d1), "
            ...                          "domain: d0 in [0, 3], d1 in [0, 7]")
            >>> print(there.compose(back))
            (d0) -> (d0), domain: d0 in [0, 31]
        """
        _check_map("compose", "second", second)
        return composition.compose(self, second)

    def __mul__(self, second: object) -> Self:
        if not isinstance(second, IndexingMap):
            return NotImplemented
        return composition.compose(self, second)

    def simplify(self, *, keep_points: bool = False, prove: bool = True) -> Self:
        """The map in its simplest form; simplifying it again changes nothing.

        Args:
            keep_points: whether dimensions with one index stay in the results, as they
                do in XLA's maps of reshapes.
            prove: whether linear forms are guessed and proved where rules find none.
        """
        return simplify(self, keep_points=keep_points, prove=prove)

    def inverse(self, bounds: Sequence[Any] | None = None) -> Self:
        """The map in the other direction, which relates the same elements.

        Args:
            bounds: the intervals, pairs or sizes of the results' array; None takes what
                the results can be.

        Raises:
            ValueError: if there is not one for each result.

        Example:
            >>> from xlaops.indexing import IndexingMap
            >>> stride = IndexingMap.parse("(d0) -> (d0 * 7), domain: d0 in [0, 2]")
            >>> print(stride.inverse())
            (d0) -> (d0 floordiv 7), domain: d0 in [0, 14], d0 mod 7 in [0, 0]
        """
        if bounds is None:
            return inversion.inverse(self)
        intervals = [v.bounds for v in variables_of("bounds", bounds)]
        return inversion.inverse(self, intervals)

    def drop_unused(self, *, dims: bool = False) -> Self:
        """The map without the variables on which nothing depends.

        Args:
            dims: whether dimensions are dropped as well.
        """
        return unused.drop_unused(self, dims=dims)

    def rescale(self) -> Self:
        """The map in which range variables count only the values that they take.

        A variable held to one residue of a modulus becomes one that is not.
        """
        return range_variables.rescale(self)

    def merge_ranges(self) -> Self:
        """The map with range variables that occur only together put into one."""
        return range_variables.merge_ranges(self)

    def ranges_to_dims(self, which: Iterable[int] | None = None) -> Self:
        """The map in which range variables are dimensions, behind those there are.

        Args:
            which: numbers of range variables; None: all, and the runtime variables too.

        Raises:
            ValueError: if there is none of that number.
        """
        return conversion.ranges_to_dims(self, which)

    def dims_to_ranges(self, which: Iterable[int]) -> Self:
        """The map in which dimensions are range variables, behind those there are.

        Args:
            which: numbers of dimensions.

        Raises:
            ValueError: if there is none of that number.
        """
        return conversion.dims_to_ranges(self, which)

    def select_results(self, which: Sequence[int]) -> Self:
        """The map with these of its results, in this order; the domain stays."""
        bounds = self.result_bounds
        return self.remade(
            results=tuple([self.results[i] for i in which]),
            result_bounds=bounds and tuple([bounds[i] for i in which]),
        )

    @classmethod
    def hull(cls, maps: Sequence[Self], reason: str) -> Self:
        """A map that relates each element to a box around what any of the maps yields.

        Args:
            maps: at least one; all with as many dimensions and results.
            reason: why it relates more than the maps do.

        Raises:
            TypeError: if one is no map.
            ValueError: if there are no maps, or the numbers differ.

        Example:
            >>> from xlaops.indexing import IndexingMap, dim
            >>> taps = [IndexingMap([8], [dim(0) + k]) for k in range(3)]
            >>> print(IndexingMap.hull(taps, "too many maps"))
            (d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 9]
        """
        for one in maps:
            _check_map("hull", "maps", one)
        return widening.hull(maps, reason)

    # Comparison of what maps mean

    def canonical(self) -> Self:
        """The form that maps have in common if rules find them equal."""
        return canonical.canonical(self)

    def equals(self, other: IndexingMap) -> bool:
        """Whether both have one canonical form: then they relate the same elements.

        Maps that relate the same elements may have different ones; see `equivalent`.
        """
        _check_map("equals", "other", other)
        return self == other or self.canonical() == other.canonical()

    def equivalent(self, other: IndexingMap, limit: int = 2**20) -> bool | None:
        """Whether both relate the same elements.

        Args:
            other: a map.
            limit: how many points a domain may have to be enumerated.

        Returns:
            True or False where that is proved, None where it is not.
        """
        _check_map("equivalent", "other", other)
        arity = (len(self.dims), len(self.results))
        if arity != (len(other.dims), len(other.results)):
            return False
        if UNKNOWN in (self.status, other.status):
            return None
        if self.equals(other):
            return True
        if any(
            v.owner is not None and v.owner.table is None
            for v in self.runtimes + other.runtimes
        ):
            return None
        try:
            a, b = self.relation(limit), other.relation(limit)
        except (ValueError, OverflowError):
            return None
        return np.array_equal(a, b)


def _check_map(name: str, parameter: str, value: object) -> None:
    if not isinstance(value, IndexingMap):
        raise TypeError(
            f"{name}: {parameter} must be an IndexingMap, got {type(value).__name__}"
        )


def _is_point(e: Expression, value: int) -> bool:
    return not e.terms and e.constant == value
