"""Whether two maps, or two programs, relate the same elements."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from .analysis import Analysis
from .composition import TOO_WIDE
from .graph import Value
from .interval import INT64_MAX
from .map import IndexingMap
from .map_sets import Maps
from .positions import pairs
from .primitives.runtimes import Clamped
from .questions import analysis_of, largest
from .variables import Owner, Variable

Comparable: TypeAlias = (
    IndexingMap | Sequence[IndexingMap] | Analysis | Callable[..., Any]
)

_NAME: Final = "equivalent"
_DEEPEST: Final = 32
"""How many operations an index may be computed by, one after the other."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The answer of `equivalent`. It is true where the verdict is True.

    Attributes:
        verdict: True or False where that is proved, None where it is not.
        reason: why it is not True; nothing if it is.
        output: the result for which that holds, such as ``result['a']``.
        input: the argument for which that holds.
        pair: an element of the result and one of the argument that one of the two
            relates and the other one does not.
        only_in: which one: ``"a"`` or ``"b"``.
    """

    verdict: bool | None
    reason: str = ""
    output: str = ""
    input: str = ""
    pair: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    only_in: str = ""

    def __bool__(self) -> bool:
        return self.verdict is True

    def __str__(self) -> str:
        if self.verdict:
            return "the same"
        text = "not the same" if self.verdict is False else "not decided"
        if self.output or self.input:
            text += f", {self.output} <- {self.input}"
        return f"{text}: {self.reason}"


def equivalent(
    a: Comparable, b: Comparable, *args: Any, limit: int | None = None
) -> Comparison:
    """Whether two maps relate the same elements, or two programs read the same.

    A check for rewrites: a program that is to compute the same must read the same
    elements for each element of its results. What it does with them is not looked at.

    Args:
        a: a map, several of which the union counts, an `Analysis`, or a function that
            JAX can trace.
        b: something of the same kind.
        *args: the arguments of functions: arrays or `jax.ShapeDtypeStruct`.
        limit: how many points may be looked at, 2**27 unless given.

    Returns:
        The verdict, with a pair of elements that differs if one was found. It is None
        where maps are no exact ones, or read at indices that are only known when the
        program runs, so that equal or different maps prove nothing.

    Raises:
        TypeError: if the two are of different kinds.
        ValueError: if their arrays differ in number or shape.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from xlaops.indexing import equivalent
        >>> x = jax.ShapeDtypeStruct((8, 6), jnp.float32)
        >>> f = lambda x: x.reshape(4, 2, 6).transpose(0, 2, 1).reshape(4, 12)
        >>> bool(equivalent(f, lambda x: jnp.stack([x[::2], x[1::2]], 2).reshape(4, 12), x))
        True
        >>> print(equivalent(f, lambda x: x.reshape(4, 12), x))
        not the same, result <- args[0]: only a has (0, 1) <- (1, 0)

    Source:
        *Indexing Analysis*, section Indexing maps of fusions.
    """  # noqa: E501
    are_maps = [_maps(one) for one in (a, b)]
    if are_maps[0] is not None and are_maps[1] is not None:
        if args:
            raise TypeError(f"{_NAME}: maps must come without arguments")
        return _of_maps(are_maps[0], are_maps[1], limit)
    if are_maps[0] is not None or are_maps[1] is not None:
        raise TypeError(f"{_NAME}: a and b must both be maps, or both be programs")
    programs = [
        analysis_of(_NAME, one, () if isinstance(one, Analysis) else args, False)  # pyright: ignore[reportArgumentType]
        for one in (a, b)
    ]
    return _of_programs(programs[0], programs[1], limit)


def _maps(one: Any) -> Maps | None:
    if isinstance(one, IndexingMap):
        return (one,)
    if isinstance(one, (tuple, list)) and all(isinstance(m, IndexingMap) for m in one):
        return tuple(one)
    return None


def _of_maps(a: Maps, b: Maps, limit: int | None) -> Comparison:
    arities = {(len(m.dims), len(m.results)) for m in (*a, *b)}
    if len(arities) > 1:
        raise ValueError(
            f"{_NAME}: maps must have as many dimensions and results, got "
            f"{sorted(arities)}"
        )
    if not arities:
        return Comparison(True)
    dims, results = arities.pop()
    defined = [m for m in (*a, *b) if not m.is_undefined and not m.is_known_empty]
    if any(m.is_undefined for m in (*a, *b)):
        return Comparison(None, "nothing is known of one of the maps")
    # Arrays around all indices, moved so that the first one is 0.
    lows, sizes = [], []
    for i in range(dims + results):
        spans = [
            tuple(m.dims[i].bounds)
            if i < dims
            else m.scope().range(m.results[i - dims])
            for m in defined
        ]
        low = min((s[0] for s in spans), default=0)
        lows.append(low)
        sizes.append(max((s[1] for s in spans), default=-1) - low + 1)
    if not defined:
        return Comparison(True)
    if max(sizes, default=0) > INT64_MAX:
        # Moved to 0 they would not fit 64 bits, and are too many to be looked at.
        same = all(m.exact for m in defined) and _canonical(a) == _canonical(b)
        return Comparison(True) if same else Comparison(None, TOO_WIDE)
    return _compared(
        _moved(a, lows, dims),
        _moved(b, lows, dims),
        sizes[:dims],
        sizes[dims:],
        limit,
        lows,
    )


def _canonical(maps: Maps) -> set[IndexingMap]:
    """What equal sets of maps have in common."""
    return {one.canonical() for one in maps}


def _moved(maps: Maps, lows: Sequence[int], dims: int) -> Maps:
    """The maps between arrays whose first index is 0."""
    from . import expression as ex

    if not any(lows):
        return maps
    moved = []
    for one in maps:
        if one.is_known_empty:
            continue
        back = IndexingMap(
            [(v.bounds.lower - n, v.bounds.upper - n) for v, n in zip(one.dims, lows)],  # noqa: B905
            [ex.dim(i) + lows[i] for i in range(dims)],
        )
        there = back.compose(one)
        results = [e - n for e, n in zip(there.results, lows[dims:], strict=True)]
        moved.append(there.replace(results=results))
    return tuple(moved)


def _of_programs(a: Analysis, b: Analysis, limit: int | None) -> Comparison:
    for what, one, other in (
        ("results", a.outputs, b.outputs),
        ("arguments", a.inputs, b.inputs),
    ):
        shapes = [v.shape for v in one], [v.shape for v in other]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"{_NAME}: {what} must have the same shapes, got {shapes[0]} and "
                f"{shapes[1]}"
            )
    undecided: Comparison | None = None
    for i, name in enumerate(a.output_names):
        for j, other in enumerate(a.input_names):
            made, read = a.outputs[i].shape, a.inputs[j].shape
            found = _compared(
                largest(_portable(a, a.output_to_input(i, j)), read),
                largest(_portable(b, b.output_to_input(i, j)), read),
                made,
                read,
                limit,
            )
            if found.verdict is not True:
                found = dataclasses.replace(found, output=name, input=other)
            if found.verdict is False:
                return found
            if found.verdict is None and undecided is None:
                undecided = found
    return Comparison(True) if undecided is None else undecided


def _portable(analysis: Analysis, maps: Maps) -> Maps:
    """The maps with owners that maps of another program can have too."""
    names: dict[Value, Any] = {v: ("input", i) for i, v in enumerate(analysis.inputs)}

    def source(old: Any) -> Any:
        if isinstance(old, Clamped):
            return Clamped(source(old.source), old.most)
        return _formula(old, names, _DEEPEST) if isinstance(old, Value) else old

    found = []
    for one in maps:
        if any(v.owner is not None and v.owner.table is None for v in one.runtimes):
            runtimes = [
                v
                if v.owner is None or v.owner.table is not None
                else Variable(
                    v.bounds, v.name, Owner(source(v.owner.source), v.owner.index)
                )
                for v in one.runtimes
            ]
            one = one.replace(runtimes=runtimes).simplify()
        found.append(one)
    return tuple(found)


def _formula(value: Value, names: dict[Value, Any], depth: int) -> Any:
    """How a value is computed from the inputs, or itself if that is long."""
    known = names.get(value)
    if known is not None:
        return known
    found: Any = value
    if value.constant is not None:
        constant = value.constant
        found = ("constant", constant.dtype, constant.shape, constant.tobytes())
    elif value.node is not None and depth:
        node = value.node
        parts = tuple([_formula(v, names, depth - 1) for v in node.inputs])
        params = tuple(sorted(node.params.items(), key=str))
        which = node.outputs.index(value)
        found = ("operation", node.name, which, params, parts)
        try:
            hash(found)
        except TypeError:
            found = value
    names[value] = found
    return found


def _is_known(one: IndexingMap) -> bool:
    """Whether all that it relates is read, whatever the values of arguments are."""
    return one.exact and all(
        v.owner is not None and v.owner.table is not None for v in one.runtimes
    )


def _compared(
    a: Maps,
    b: Maps,
    from_shape: Sequence[int],
    to_shape: Sequence[int],
    limit: int | None,
    lows: Sequence[int] = (),
) -> Comparison:
    """Two sets of maps between the same arrays."""
    every = (*a, *b)
    if all(one.exact for one in every) and _canonical(a) == _canonical(b):
        return Comparison(True)
    try:
        at_most = [pairs(one, from_shape, to_shape, limit) for one in (a, b)]
        at_least = [
            pairs([m for m in one if _is_known(m)], from_shape, to_shape, limit)
            for one in (a, b)
        ]
    except (ValueError, OverflowError) as error:
        return Comparison(None, str(error))
    columns = max(prod(to_shape), 1)
    most = [rows * columns + more for rows, more in at_most]
    least = [rows * columns + more for rows, more in at_least]
    for which, sure, other in (("a", least[0], most[1]), ("b", least[1], most[0])):
        extra = np.setdiff1d(sure, other, assume_unique=True)
        if len(extra):
            row, column = divmod(int(extra[0]), columns)
            pair = (
                _element(row, from_shape, lows),
                _element(column, to_shape, lows[len(from_shape) :]),
            )
            reason = f"only {which} has {pair[0]} <- {pair[1]}"
            return Comparison(False, reason, pair=pair, only_in=which)
    if all(_is_known(one) for one in every):
        return Comparison(True)
    reasons = dict.fromkeys(reason for one in every for reason in one.reasons)
    return Comparison(
        None,
        "; ".join(reasons) or "what is read depends on the values of arguments",
    )


def _element(
    position: int, shape: Sequence[int], lows: Sequence[int]
) -> tuple[int, ...]:
    index = [int(i) for i in np.unravel_index(position, tuple(shape))] if shape else []
    return tuple([i + n for i, n in zip(index, lows or [0] * len(index), strict=False)])
