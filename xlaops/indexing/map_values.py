"""The values of a map: at points, over its domain, and the pairs that it relates."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import enumeration
from . import expression as ex
from .evaluation import check_arrays, value_at, values_at
from .expression import DIM, RANGE, RUNTIME, Atom
from .map_data import EMPTY, UNKNOWN, MapData
from .variables import as_int64


class MapValues(MapData):
    """A map that can be evaluated and enumerated."""

    __slots__ = ()

    def evaluate(
        self, dims: Sequence[Any], ranges: Sequence[Any] = (), runtimes: Any = None
    ) -> tuple[Any, ...]:
        """The results at a point, or at many; bounds and constraints are not looked at.

        Args:
            dims: a value for each dimension: an integer, or an array of integers; the
                arrays are broadcast.
            ranges: a value for each range variable.
            runtimes: a value for each runtime variable; None reads them from their
                tables.

        Returns:
            The value of each result.

        Raises:
            ValueError: if there are not as many values as variables, or nothing is
                known of the map.
            IndexError: if a table is to be read where it has no element.
            OverflowError: if values are arrays and results may not fit 64 bits.

        Example:
            >>> from xlaops.indexing import IndexingMap
            >>> flat = IndexingMap.parse("(d0) -> (d0 floordiv 8, d0 mod 8), "
            ...                          "domain: d0 in [0, 31]")
            >>> flat.evaluate([19])
            (2, 3)
        """
        values, is_read = self._values("evaluate", dims, ranges, runtimes)
        if not np.all(is_read):
            raise IndexError("evaluate: a table must be read within its shape")
        check_arrays(self.results, values)
        return tuple(values_at(self.results, values))

    def contains(
        self, dims: Sequence[Any], ranges: Sequence[Any] = (), runtimes: Any = None
    ) -> Any:
        """Whether a point lies within the bounds and satisfies the constraints.

        Args:
            dims: as for `evaluate`.
            ranges: as for `evaluate`.
            runtimes: as for `evaluate`.

        Returns:
            True or False; for arrays an array of them.
        """
        if self.status == EMPTY:
            given = [np.shape(v) for v in (*dims, *ranges)]
            shape = np.broadcast_shapes(*given)
            return np.zeros(shape, bool) if shape else False
        values, inside = self._values("contains", dims, ranges, runtimes)
        check_arrays([e for e, _ in self.constraints], values)
        for atom, value in values.items():
            lower, upper = self.variable_of(atom).bounds
            inside = inside & (value >= lower) & (value <= upper)
        for expression, (lower, upper) in self.constraints:
            value = value_at(expression, values)
            inside = inside & (value >= lower) & (value <= upper)
        return inside

    def _values(
        self, what: str, dims: Sequence[Any], ranges: Sequence[Any], runtimes: Any
    ) -> tuple[dict[Atom, Any], Any]:
        """The values of all variables, and where all tables were read within them."""
        if self.status == UNKNOWN:
            raise ValueError(f"{what}: map must not be undefined")
        values: dict[Atom, Any] = {}
        given = [("dims", DIM, dims, self.dims), ("ranges", RANGE, ranges, self.ranges)]
        if runtimes is not None:
            given.append(("runtimes", RUNTIME, runtimes, self.runtimes))
        for name, kind, group, variables in given:
            if len(group) != len(variables):
                raise ValueError(
                    f"{what}: {name} must have one value for each of "
                    f"{len(variables)} variables, got {len(group)}"
                )
            for i, value in enumerate(group):
                number = _integer(f"{what}: {name}", value)
                values[ex.variable(kind, i).terms[0][0]] = number
        is_read: Any = True
        if runtimes is None and self.runtimes:
            for i, variable in enumerate(self.runtimes):
                if variable.owner is None or variable.owner.table is None:
                    raise ValueError(
                        f"{what}: runtimes must be given, for rt{i} has no table"
                    )
            tabled = [
                ex.runtime_variable(i).terms[0][0] for i in range(len(self.runtimes))
            ]
            for atom, inside in enumeration.read_tables(self, tabled, values).items():
                # What is read at one point is a Python integer, which has no limit.
                values[atom] = values[atom] if np.ndim(inside) else int(values[atom])
                is_read = is_read & (inside if np.ndim(inside) else bool(inside))
        return values, is_read

    def enumerate(self, limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """All points of the domain, and the results there.

        Args:
            limit: how many points the box of the bounds may have.

        Returns:
            Two int64 arrays with one row a point: the values of the variables
            (dimensions, ranges, runtimes), and the results.

        Raises:
            ValueError: if there are more points, or nothing is known of the map.
            OverflowError: if values do not fit 64 bits.
        """
        return enumeration.points(self, limit)

    def relation(self, limit: int | None = None) -> np.ndarray:
        """The pairs of elements that it relates, each once, in order.

        Args:
            limit: how many points the box of the bounds may have.

        Returns:
            An int64 array with one row a pair: the dimensions, then the results.

        Raises:
            ValueError: if there are more points, or nothing is known of the map.
            OverflowError: if values do not fit 64 bits.

        Example:
            >>> from xlaops.indexing import IndexingMap
            >>> m = IndexingMap.parse("(d0)[s0] -> (d0 + s0), "
            ...                       "domain: d0 in [0, 1], s0 in [0, 1]")
            >>> m.relation().tolist()
            [[0, 0], [0, 1], [1, 1], [1, 2]]
        """
        return enumeration.relation(self, limit)

    def flat_relation(
        self,
        from_shape: Sequence[int],
        to_shape: Sequence[int],
        limit: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that it relates, as row-major positions in two arrays.

        Args:
            from_shape: shape of the array to which the dimensions belong.
            to_shape: shape of the array to which the results belong; results outside
                of it are left out.
            limit: how many points the box of the bounds may have.

        Returns:
            Two int64 arrays of one length, ordered by the first and then the second.

        Raises:
            ValueError: if the shapes do not fit, there are more points, or nothing is
                known of the map.
            OverflowError: if values or pairs of positions do not fit 64 bits.
        """
        if len(from_shape) != len(self.dims) or len(to_shape) != len(self.results):
            raise ValueError(
                f"flat_relation: shapes must have {len(self.dims)} and "
                f"{len(self.results)} dimensions, got {tuple(from_shape)} and "
                f"{tuple(to_shape)}"
            )
        return enumeration.flat_relation(self, from_shape, to_shape, limit)


def _integer(what: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu":
            raise TypeError(f"{what} must be integers, got {value.dtype}")
        return as_int64(what, value)
    try:
        return operator.index(value)
    except TypeError:
        array = np.asarray(value)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{what} must be integers, got {value!r}") from None
        return as_int64(what, array)
