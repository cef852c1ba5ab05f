"""All points of a map's domain, and the pairs of elements that it relates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from . import expression as ex
from .evaluation import fits_int64, value_at, values_at
from .expression import DIM, RANGE, RUNTIME, Atom
from .map_data import DEFINED, UNKNOWN, Constraint, MapData
from .scope import Scope

MAX_POINTS: Final = 2**27
"""How many points the box of the bounds may have, unless one asks for more."""

MAX_SEARCH: Final = 2**16
"""How many points are tried to find one that satisfies constraints."""

_BLOCK: Final = 2**19

Values = dict[Atom, Any]


def blocks(
    data: MapData, limit: int | None = None
) -> Iterator[tuple[Values, Any, int]]:
    """The domain in parts that fit memory.

    Args:
      data: a map.
      limit: how many points the box of the bounds may have.

    Yields:
      The values of the variables as arrays that broadcast to one shape; a mask of that
      shape, or None where all points belong to the domain; and the number of points.

    Raises:
      ValueError: if nothing is known of the map, or the box has more points.
      OverflowError: if values do not fit 64 bits.
    """
    if data.status == UNKNOWN:
        raise ValueError("enumerate: map must not be undefined")
    if data.status != DEFINED:
        return
    limit = MAX_POINTS if limit is None else limit
    scope = data.scope()
    free, tabled = _axes(data)
    sizes = [data.variable_of(a).bounds.count for a in free]
    total = prod(sizes)
    if total > limit:
        raise ValueError(
            f"enumerate: the domain must have at most {limit} points, got {total}"
        )
    for expression in data.expressions():
        if not fits_int64(expression, scope):
            raise OverflowError(f"enumerate: values must fit 64 bits: {expression}")
    if total == 0:
        return
    # The last axes as a whole, one axis in pieces, those before it step by step.
    split, whole = len(sizes), 1
    while split and whole * sizes[split - 1] <= _BLOCK:
        split -= 1
        whole *= sizes[split]
    piece = max(1, _BLOCK // whole)
    steps = [range(n) for n in sizes[: max(split - 1, 0)]]
    starts = range(0, sizes[split - 1], piece) if split else range(1)
    lowers = [data.variable_of(a).bounds.lower for a in free]
    for outer in np.ndindex(*[len(s) for s in steps]):
        for start in starts:
            values: Values = {}
            shape = []
            for i, atom in enumerate(free):
                if i < split - 1:
                    low, count = lowers[i] + outer[i], 1
                elif i == split - 1:
                    low, count = lowers[i] + start, min(piece, sizes[i] - start)
                else:
                    low, count = lowers[i], sizes[i]
                axis = [1] * len(free)
                axis[i] = count
                shape.append(count)
                values[atom] = np.arange(low, low + count, dtype=np.int64).reshape(axis)
            mask = _from_tables(data, tabled, values)
            for expression, (lower, upper) in data.constraints:
                value = np.asarray(value_at(expression, values))
                inside = (value >= lower) & (value <= upper)
                mask = inside if mask is None else mask & inside
            if mask is not None:
                mask = np.broadcast_to(mask, shape)
                count = int(np.count_nonzero(mask))
            else:
                count = prod(shape)
            yield values, mask, count


def _axes(data: MapData) -> tuple[list[Atom], list[Atom]]:
    """The variables with values of their own, and those that are read from tables."""
    free = [ex.dim(i).terms[0][0] for i in range(len(data.dims))]
    free += [ex.range_variable(i).terms[0][0] for i in range(len(data.ranges))]
    tabled = []
    for i, variable in enumerate(data.runtimes):
        atom = ex.runtime_variable(i).terms[0][0]
        known = variable.owner is not None and variable.owner.table is not None
        (tabled if known else free).append(atom)
    return free, tabled


def _from_tables(data: MapData, tabled: Sequence[Atom], values: Values) -> Any:
    """Reads the variables of tables; the mask of points that stay within them."""
    mask = None
    for atom, inside in read_tables(data, tabled, values).items():
        lower, upper = data.runtimes[atom.first].bounds
        value = values[atom]
        inside = inside & (value >= lower) & (value <= upper)
        if not inside.all():
            mask = inside if mask is None else mask & inside
    return mask


def read_tables(
    data: MapData, tabled: Sequence[Atom], values: Values
) -> dict[Atom, Any]:
    """Reads variables from their tables, at any index where theirs is out of them.

    Args:
      data: the map.
      tabled: the variables, all of which have tables.
      values: of all other variables; those that are read are added.

    Returns:
      For each variable an array that says where its index is in the table.

    Raises:
      ValueError: if an index depends on what is read at it.
    """
    found: dict[Atom, Any] = {}
    waiting = list(tabled)
    while waiting:
        ready = [
            a
            for a in waiting
            if all(v in values for e in _index(data, a) for v in ex.variables(e))
        ]
        if not ready:
            raise ValueError("enumerate: tables must not depend on one another in turn")
        for atom in ready:
            waiting.remove(atom)
            variable = data.runtimes[atom.first]
            assert variable.owner is not None
            assert variable.owner.table is not None
            table = variable.owner.table.values
            index = [np.asarray(x) for x in values_at(variable.owner.index, values)]
            inside: Any = np.ones((1,) * max((x.ndim for x in index), default=0), bool)
            safe = []
            for x, n in zip(index, table.shape, strict=True):
                inside = inside & (x >= 0) & (x < n)
                safe.append(np.asarray(np.clip(x, 0, max(n - 1, 0)), np.int64))
            if table.size == 0:
                values[atom], inside = np.zeros_like(inside, np.int64), inside & False
            else:
                values[atom] = np.asarray(table[tuple(safe)])
            found[atom] = inside
    return found


def _index(data: MapData, atom: Atom) -> tuple[ex.Expression, ...]:
    owner = data.runtimes[atom.first].owner
    return owner.index if owner is not None else ()


def _column(value: Any, mask: Any, shape: Sequence[int]) -> np.ndarray:
    array = np.broadcast_to(np.asarray(value, np.int64), shape)
    return array.ravel() if mask is None else array[mask]


def points(data: MapData, limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All points of the domain and the results there.

    Args:
      data: a map.
      limit: how many points the box of the bounds may have.

    Returns:
      Two int64 arrays with one row a point: the values of the variables (dimensions,
      ranges, runtimes), and the results.
    """
    order = _all_atoms(data)
    rows: list[np.ndarray] = []
    results: list[np.ndarray] = []
    for values, mask, count in blocks(data, limit):
        shape = _shape(values, mask)
        columns = [_column(values[a], mask, shape) for a in order]
        computed = [_column(v, mask, shape) for v in values_at(data.results, values)]
        rows.append(_stacked(columns, count))
        results.append(_stacked(computed, count))
    if not rows:
        return (
            np.zeros((0, len(order)), np.int64),
            np.zeros((0, len(data.results)), np.int64),
        )
    return np.concatenate(rows), np.concatenate(results)


def _all_atoms(data: MapData) -> list[Atom]:
    groups = (data.dims, data.ranges, data.runtimes)
    return [
        ex.variable(kind, i).terms[0][0]
        for kind, group in zip((DIM, RANGE, RUNTIME), groups, strict=True)
        for i in range(len(group))
    ]


def _shape(values: Values, mask: Any) -> tuple[int, ...]:
    if mask is not None:
        return mask.shape
    return np.broadcast_shapes(*[np.shape(v) for v in values.values()])


def _stacked(columns: Sequence[np.ndarray], count: int) -> np.ndarray:
    if not columns:
        return np.zeros((count, 0), np.int64)
    return np.stack(columns, axis=1)


def relation(data: MapData, limit: int | None = None) -> np.ndarray:
    """The pairs of elements that a map relates, each once, in order.

    Returns:
      An int64 array with one row a pair: the dimensions, then the results.
    """
    scope = data.scope()
    intervals = data.bound_lists()[0] + [scope.range(e) for e in data.results]
    sizes = [max(upper - lower + 1, 1) for lower, upper in intervals]
    columns = len(intervals)
    if prod(sizes) >= 2**62:
        rows, results = points(data, limit)
        pairs = np.concatenate([rows[:, : len(data.dims)], results], axis=1)
        return np.unique(pairs, axis=0)
    codes = [np.zeros(0, np.int64)]
    for values, mask, count in blocks(data, limit):
        shape = _shape(values, mask)
        computed = values_at(data.results, values)
        parts = [values[ex.dim(i).terms[0][0]] for i in range(len(data.dims))]
        code: Any = np.zeros((), np.int64)
        for part, (lower, _), size in zip(
            [*parts, *computed], intervals, sizes, strict=True
        ):
            code = code * size + (part - lower)
        if mask is None:
            # Axes on which nothing depends would only repeat the codes.
            codes.append(sorted_unique(np.ravel(code)))
        elif count:
            codes.append(sorted_unique(_column(code, mask, shape)))
    merged = codes[1] if len(codes) == 2 else sorted_unique(np.concatenate(codes))
    out = np.empty((len(merged), columns), np.int64)
    for i in reversed(range(columns)):
        merged, out[:, i] = np.divmod(merged, sizes[i])
        out[:, i] += intervals[i][0]
    return out


def flat_relation(
    data: MapData,
    from_shape: Sequence[int],
    to_shape: Sequence[int],
    limit: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that a map relates, as row-major positions in two arrays.

    Pairs outside of the arrays are left out.

    Args:
      data: a map.
      from_shape: shape of the array to which the dimensions belong.
      to_shape: shape of the array to which the results belong.
      limit: how many points the box of the bounds may have.

    Returns:
      Two int64 arrays of one length: positions in the first array, in order, and in
      the second.

    Raises:
      OverflowError: if the arrays have too many pairs of elements for 64 bits.
    """
    count = prod(to_shape)
    if prod(from_shape) * count >= 2**63:
        raise OverflowError(
            f"flat_relation: arrays must have fewer than 2**63 pairs of elements, got "
            f"{prod(from_shape)} times {count}"
        )
    codes = [np.zeros(0, np.int64)]
    for values, mask, _ in blocks(data, limit):
        shape = _shape(values, mask)
        parts = [values[ex.dim(i).terms[0][0]] for i in range(len(data.dims))]
        computed = values_at(data.results, values)
        code: Any = np.zeros((), np.int64)
        inside: Any = None
        for part, size in zip(
            [*parts, *computed], [*from_shape, *to_shape], strict=True
        ):
            code = code * size + part
            array = np.asarray(part)
            if array.min() < 0 or array.max() >= size:
                within = (array >= 0) & (array < size)
                inside = within if inside is None else inside & within
        if mask is not None:
            inside = mask if inside is None else inside & mask
        if inside is not None:
            inside = np.broadcast_to(inside, shape)
            codes.append(sorted_unique(_column(code, inside, shape)))
        else:
            codes.append(sorted_unique(np.ravel(code)))
    merged = codes[1] if len(codes) == 2 else sorted_unique(np.concatenate(codes))
    return np.divmod(merged, max(count, 1))


def sorted_unique(values: np.ndarray) -> np.ndarray:
    """The values in order, each once."""
    # Not np.unique, which hashes integers, and these ones badly.
    if len(values) and bool(np.all(values[1:] > values[:-1])):
        return values
    values = np.sort(values)
    keep = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=keep[1:])
    return values[keep]


def has_point(data: MapData, constraints: Iterable[Constraint]) -> bool:
    """Whether some values of the variables are found that satisfy constraints.

    Corners of the box are tried, and all of it if it is small.
    """
    kept = list(constraints)
    used: dict[Atom, None] = {}
    for expression, _ in kept:
        ex.variables(expression, used)
    bounds = {a: data.variable_of(a).bounds for a in used}
    for corner in (
        {a: b.lower for a, b in bounds.items()},
        {a: b.upper for a, b in bounds.items()},
        {a: (b.lower + b.upper) // 2 for a, b in bounds.items()},
    ):
        if all(value_at(e, corner) in interval for e, interval in kept):
            return True
    if prod(b.count for b in bounds.values()) > MAX_SEARCH:
        return False
    scope = Scope(data.bound_lists())
    if not all(fits_int64(e, scope) for e, _ in kept):
        return False
    values: Values = {}
    for i, (atom, b) in enumerate(bounds.items()):
        axis = [1] * len(bounds)
        axis[i] = b.count
        values[atom] = np.arange(b.lower, b.upper + 1, dtype=np.int64).reshape(axis)
    mask: Any = True
    for expression, (lower, upper) in kept:
        value = value_at(expression, values)
        mask = mask & (value >= lower) & (value <= upper)
    return bool(np.any(mask))
