"""The arrays of a group combined into one by a computation over scalars.

XLA has collectives that add, and that take the larger or the smaller element; a
computation that does just that is found out, and becomes one of them. For any other one
the backends end the process or refuse: each member then combines one block of all
arrays, in the order of the group, and the blocks are gathered. That sends about twice
an array and holds two, however many members there are.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, custom_jvp, lax

from ..core import checks
from ..core.computation import Computation, derived
from ..core.primitive import is_split
from . import axes as mapped
from . import native
from .exchange import (
    blocks,
    choose,
    choose_rows,
    gather,
    members,
    permuted,
    received,
    sendable,
)
from .groups import Groups, Participants

# Below that many elements of all members together one exchange of whole arrays is
# faster than two of blocks.
_SMALL = 16 * 1024
# That many elements of an array are exchanged at once on CPUs.
_CHUNK = 64 * 1024
# That many rows are combined one by one, which is the fastest; more of them by halves
# first, or else the program, and the time to compile it, would grow with the group.
_ONE_BY_ONE = 16

_KINDS = {"add": "sum", "max": "max", "min": "min"}
_KINDS_OF_PRED = {"or": "max", "max": "max", "and": "min", "min": "min"}


@functools.lru_cache(maxsize=1024)
def kind(computation: Computation) -> str:
    """``"sum"``, ``"max"`` or ``"min"``, if it is what XLA combines replicas with."""
    if len(computation.outputs) != 1:
        return ""
    dtype = computation.outputs[0]
    # Of a function that calls another one its operations are seen only without calls.
    pattern = derived(computation, computation.inputs).pattern
    if dtype == np.bool_:
        return _KINDS_OF_PRED.get(pattern, "")
    found = _KINDS.get(pattern, "")
    if found != "sum" and checks.kind(dtype) == "c":
        return ""  # complex numbers are ordered by JAX alone
    return found


def reduced(x: Array, computation: Computation, who: Participants) -> Array:
    """The arrays of this replica's group, combined elementwise.

    Args:
      x: this replica's array, which varies over the axes.
      computation: of two scalars of the array's type.
      who: participants with groups of all replicas, of any sizes.
    """
    if who.groups.size == 1 and not who.groups.are_one:
        return x
    found = kind(computation)
    if found and found != "sum" and checks.kind(x.dtype) == "f":
        return _extreme(x, who, found)
    if found:
        return _of_kind(x, who, found)
    (result,) = folded([x], computation, who)
    return result


def jointly_reduced(
    xs: Sequence[Array], computation: Computation, who: Participants
) -> list[Array]:
    """Several arrays of one shape, of all replicas of a group, combined together.

    Args:
      xs: N arrays of this replica, which vary over the axes.
      computation: of N scalars of some replicas and N of later ones.
      who: participants with groups of all replicas, of any sizes.
    """
    if len(xs) == 1:
        return [reduced(xs[0], computation, who)]
    if not xs or (who.groups.size == 1 and not who.groups.are_one):
        return list(xs)
    return folded(xs, computation, who)


@functools.partial(jax.jit, static_argnums=(1, 2, 3), inline=True)
def scattered(
    x: Array, computation: Computation, who: Participants, dimension: int
) -> Array:
    """One block of the arrays of this replica's group, combined elementwise.

    Args:
      x: this replica's array, which varies over the axes; its dimension is a multiple
        of the group's size.
      computation: of two scalars of the array's type.
      who: participants with groups of all replicas, of one size.
      dimension: the dimension of which the member at position ``i`` gets block ``i``.
    """
    n = who.groups.size
    if n == 1:
        return x
    found = kind(computation)
    if found == "sum" and who.are_native and mapped.can_scatter_sums():
        y = lax.psum_scatter(
            sendable(x),
            who.axes,
            scatter_dimension=dimension,
            axis_index_groups=who.groups.for_lax,
            tiled=True,
        )
        return received(y, x.dtype)

    def combine(rows: Sequence[Array]) -> list[Array]:
        if found:
            return [native.along_rows(rows[0], found)]
        return _fold(rows, computation)

    if not x.size:
        return lax.slice_in_dim(x, 0, x.shape[dimension] // n, axis=dimension)
    if is_split(x):
        came = blocks(x, who, dimension, dimension)
        (own,) = combine([jnp.stack(jnp.split(came, n, dimension))])
        return own
    first = jnp.moveaxis(x, dimension, 0)
    block = (first.shape[0] // n, *first.shape[1:])
    rows = first.reshape(n, -1)
    count = _chunks(x.size)
    if rest := rows.shape[1] % count:
        rows = jnp.pad(rows, ((0, 0), (0, count - rest)))

    (own,) = _own_block([rows.reshape(n, count, -1)], who, combine)
    own = own.reshape(-1)[: math.prod(block)].reshape(block)
    return jnp.moveaxis(own, 0, dimension)


# Sums, the largest and the smallest


def _of_kind(x: Array, who: Participants, kind: str) -> Array:
    return received(native.reduced(sendable(x), who, kind), x.dtype)


@functools.partial(custom_jvp, nondiff_argnums=(1, 2))
def _extreme(x: Array, who: Participants, kind: str) -> Array:
    return _of_kind(x, who, kind)


@_extreme.defjvp
def _extreme_jvp(
    who: Participants, kind: str, primals: Any, tangents: Any
) -> tuple[Array, Array]:
    """The mean of the tangents of all who have the extreme element."""
    (x,), (tangent,) = primals, tangents
    y = _extreme(x, who, kind)
    has_it = lax.convert_element_type(lax.eq(x, mapped.vary(y, who.axes)), x.dtype)
    total, count = (_of_kind(v, who, "sum") for v in (tangent * has_it, has_it))
    return y, total / count


# Any computation


@functools.partial(jax.jit, static_argnums=(1, 2), inline=True)
def folded(
    xs: Sequence[Array], computation: Computation, who: Participants
) -> list[Array]:
    """The arrays of this replica's group, combined by a computation of several values.

    Args:
      xs: N arrays of one shape, which vary over the axes.
      computation: of N scalars of one member and N of another one.
      who: participants with groups of all replicas, of any sizes.

    Returns:
      N arrays.
    """
    groups = who.groups
    everyone, order = who, None
    if groups.are_one:
        # The same for all replicas, in whatever order it comes.
        ascending = tuple(range(groups.count))
        everyone = Participants(who.axes, Groups((ascending,), groups.count))
        order = groups.ids[0]
    if _is_large(xs[0], groups.size) and everyone.are_native:
        return _folded_in_blocks(xs, computation, everyone, order)
    rows = [members(x, everyone, same=groups.are_one) for x in xs]
    if groups.are_equal:
        return _fold(rows, computation, order=order)
    return _fold(rows, computation, length=mapped.lookup(groups.lengths, who.axes))


def _folded_in_blocks(
    xs: Sequence[Array],
    computation: Computation,
    who: Participants,
    order: Sequence[int] | None,
) -> list[Array]:
    """The same where each member combines one block, and all blocks are gathered."""
    n, size, shape = who.groups.size, xs[0].size, xs[0].shape
    count = _chunks(size)
    combine = functools.partial(_fold, computation=computation, order=order)
    parts = [_padded(x, n * count).reshape(n, count, -1) for x in xs]
    results = _own_block(parts, who, combine)
    return [_gathered(y.reshape(-1), who)[:size].reshape(shape) for y in results]


def _is_large(x: Array, members: int) -> bool:
    """Whether it pays to exchange an array in blocks, and is possible.

    It is not where types say how the array is split, nor where a dimension is a symbol
    of `jax.export`.
    """
    if not isinstance(x.size, int) or is_split(x):
        return False
    return x.size * members > _SMALL


def _chunks(size: int) -> int:
    """In how many parts an array is exchanged on CPUs."""
    return max(1, -(-size // _CHUNK)) if isinstance(size, int) else 1


def _own_block(
    parts: Sequence[Array],
    who: Participants,
    combine: Callable[[Sequence[Array]], list[Array]],
) -> list[Array]:
    """The block of this replica, of the arrays of all members, combined.

    Args:
      parts: N arrays ``[members, chunks, elements]``: by whose block it is.
      who: participants with groups of one size.
      combine: of N arrays of rows, one for each member, in N arrays.

    Returns:
      N arrays ``[chunks, elements]``, or ``[chunks * elements]``.
    """

    def combined(*chunks: Array) -> list[Array]:
        return combine([blocks(x, who, 0, 0) for x in chunks])

    def one_by_one(*parts: Array) -> list[Array]:
        def step(_: None, i: Array) -> tuple[None, list[Array]]:
            at_i = [lax.dynamic_index_in_dim(x, i, 1, keepdims=False) for x in parts]
            return None, combined(*at_i)

        return lax.scan(step, None, jnp.arange(count))[1]

    def of_pairs(*parts: Array) -> list[Array]:
        mine = mapped.lookup(who.groups.positions, who.axes)
        return combine([_rows_of_pair(x, mine, who) for x in parts])

    count = parts[0].shape[1]
    if count == 1 or not who.are_native:
        return combined(*parts)
    # Accelerators are better off with one large exchange. CPUs copy twice what is sent:
    # of two members only the half that the other one needs, of more of them in chunks,
    # which the processor's cache holds.
    on_cpu = of_pairs if who.groups.size == 2 else one_by_one
    return lax.platform_dependent(*parts, cpu=on_cpu, default=combined)


def _rows_of_pair(x: Array, mine: Array, who: Participants) -> Array:
    """The rows at this replica's position of both members: ``[2, ...] -> [2, ...]``."""
    own, others = (
        lax.dynamic_index_in_dim(x, i, keepdims=False) for i in (mine, 1 - mine)
    )
    pairs = tuple(pair for a, b in who.groups.ids for pair in ((a, b), (b, a)))
    came = permuted(others, who.axes, pairs)
    is_first = mine == 0
    rows = choose(is_first, own, came), choose(is_first, came, own)
    return jnp.stack(rows)


def _padded(x: Array, multiple: int) -> Array:
    """The elements as a vector, with zeros behind them up to a multiple."""
    flat, rest = x.reshape(-1), x.size % multiple
    return jnp.pad(flat, (0, multiple - rest)) if rest else flat


def _gathered(x: Array, who: Participants) -> Array:
    """The vectors of all members, one behind the other."""
    to = mapped.variation(who.groups.are_whole)
    if to == "varying":
        return gather(x, who, 0)
    return received(lax.all_gather(sendable(x), who.axes, tiled=True, to=to), x.dtype)


def _fold(
    rows: Sequence[Array],
    computation: Computation,
    *,
    order: Sequence[int] | None = None,
    length: Array | None = None,
) -> list[Array]:
    """Rows combined with their neighbours until one is left: ``[n, ...] -> [...]``.

    Args:
      rows: N arrays of rows.
      computation: of N scalars of a row and N of a later one.
      order: in which order rows come, if not in their own.
      length: how many rows there are, if the rest of them is to be ignored.
    """
    n = rows[0].shape[0]
    if n > _ONE_BY_ONE and order is not None:
        rows, order = [jnp.take(x, np.array(order), axis=0) for x in rows], None
    while n > _ONE_BY_ONE:
        rows = _halved(rows, computation, length)
        length = None if length is None else (length + 1) // 2
        n = rows[0].shape[0]
    parts = [[x[i] for x in rows] for i in (range(n) if order is None else order)]
    is_there = [None if length is None else i < length for i in range(n)]
    while len(parts) > 1:
        paired = []
        for i in range(0, len(parts) - 1, 2):
            left, right = parts[i], parts[i + 1]
            both = list(computation.elementwise(*left, *right))
            if (there := is_there[i + 1]) is not None:
                both = [choose(there, y, a) for y, a in zip(both, left, strict=True)]
            paired.append(both)
        parts = paired + parts[2 * len(paired) :]
        is_there = is_there[::2]
    return parts[0]


def _halved(
    rows: Sequence[Array], computation: Computation, length: Array | None
) -> list[Array]:
    """Every row combined with the next one: ``[n, ...] -> [ceil(n / 2), ...]``."""
    half = rows[0].shape[0] // 2
    left, right = (
        [lax.slice_in_dim(x, start, 2 * half, 2) for x in rows] for start in (0, 1)
    )
    both = list(computation.elementwise(*left, *right))
    if length is not None:
        there = 2 * lax.iota(jnp.int32, half) + 1 < length
        both = [choose_rows(there, y, a) for y, a in zip(both, left, strict=True)]
    if rows[0].shape[0] % 2:
        both = [
            lax.concatenate([y, x[2 * half :]], 0)
            for y, x in zip(both, rows, strict=True)
        ]
    return both
