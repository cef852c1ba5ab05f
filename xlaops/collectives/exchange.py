"""What collectives are made of: the arrays of a group, and blocks for its members.

Each function uses XLA's own collective where it has one for the participants, and
otherwise `gathered`, of which every replica takes what is its own.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ..core import checks, compat
from ..core.bounded import BoundedArray
from ..core.compat import ad, batching, mlir, new_primitive
from ..core.primitive import (
    equally_varying,
    is_split,
    sharding_like,
    varying_over,
    whole_along,
)
from . import axes as mapped
from . import vmapped
from .axes import Axes
from .groups import Groups, Ids, Participants


def of_each(
    operation: str, operand: Any, function: Callable[[Array], Array], axes: Axes
) -> Any:
    """A function of every array of an operand, which may be a pytree of arrays.

    The function gets arrays that vary over the axes.
    """
    if operand is None:
        checks.array(operation, "operand", operand)
    # The size of a BoundedArray, a leaf of it, is none that could be sent or added up.
    leaves, tree = jax.tree.flatten(
        operand, is_leaf=lambda value: isinstance(value, BoundedArray)
    )
    alone = tree == jax.tree.structure(0)
    results = []
    for i, leaf in enumerate(leaves):
        name = "operand" if alone else f"operand[{i}]"
        x = checks.operand(operation, name, leaf, "biufc")
        results.append(function(mapped.vary(x, axes)))
    return jax.tree.unflatten(tree, results)


def sendable(x: Array) -> Array:
    """The array in an element type that XLA can send.

    An all-gather of two-bit integers writes beyond its result, an exchange of blocks
    puts them together in a way that ends the process.
    """
    is_int = checks.kind(x.dtype) in "iu"
    if is_int and checks.bit_width(x.dtype) < 4:
        wide = jnp.int8 if checks.kind(x.dtype) == "i" else jnp.uint8
        return lax.convert_element_type(x, wide)
    return x


def received(x: Array, dtype: Any) -> Array:
    """What was made `sendable`, in its own element type again."""
    return x if x.dtype == dtype else lax.convert_element_type(x, dtype)


def members(x: Array, who: Participants, *, same: bool = False) -> Array:
    """The arrays of this replica's group, stacked in its order: ``[size, ...]``.

    A group smaller than the largest is filled with its first member's; a replica in no
    group has its own alone. With ``same``, which only one group of all replicas allows,
    the result is typed as not varying.
    """
    axes, groups = who.axes, who.groups
    if groups.size == 1 and not same:
        return x[None]
    y = sendable(x)
    if who.are_native:
        y = _stacked(y, axes, groups, same)
    else:
        y = gathered(y, axes, same=same)
        if not groups.are_whole:
            y = _rows_at(y, mapped.lookup(groups.members, axes))
    return received(y, x.dtype)


def gathered(x: Array, axes: Axes, *, same: bool = False) -> Array:
    """The arrays of all replicas, stacked in the order of their ids.

    With ``same`` the result is typed as not varying over the axes, which it does not.

    The one way to communicate that works along every kind of axis and any mix of them:
    axis by axis, for jax.lax has no gather over axes of `jax.vmap` and of the mesh.
    """
    count = 1
    shape = x.shape
    for axis in reversed(axes):
        n = mapped.size((axis,))
        if mapped.are_manual((axis,)):
            everyone = Groups((tuple(range(n)),), n)
            x = _stacked(x, (axis,), everyone, same)
        else:
            x = vmapped.stacked(x, axis, n)
        count *= n
    return x.reshape(count, *shape)


def _stacked(x: Array, axes: Axes, groups: Groups, same: bool) -> Array:
    """The arrays of groups that XLA can gather, stacked."""
    to = mapped.variation(same)
    if to == "varying" and not mapped.can_scatter_sums():
        return _gather.bind(x[None], axes=axes, groups=groups, dimension=0)
    # Of what is not tiled JAX has a wrong type where it is split, and no lowering where
    # dimensions are symbols of `jax.export`.
    tiled = is_split(x) or not isinstance(x.size, int)
    return lax.all_gather(
        x[None] if tiled else x,
        axes,
        axis=0,
        tiled=tiled,
        axis_index_groups=groups.for_lax,
        to=to,
    )


def _rows_at(x: Array, places: Array) -> Array:
    """Those rows of an array."""
    if not is_split(x):
        return jnp.take(x, places, axis=0, mode="clip")
    # JAX cannot index what is split, or has no derivative of it.
    rows = (lax.dynamic_slice_in_dim(x, at, 1) for at in places)
    return lax.concatenate(list(rows), 0)


def gather(x: Array, who: Participants, dimension: int) -> Array:
    """The arrays of this replica's group, one behind the other along a dimension."""
    if who.groups.size == 1:
        return x
    if not x.size:
        return _empty(x, dimension, who.groups.size)
    if who.are_native:
        params = {"axes": who.axes, "groups": who.groups, "dimension": dimension}
        gather = _gather_by_lax if mapped.can_scatter_sums() else _gather.bind
        return received(gather(sendable(x), **params), x.dtype)
    return _merged(jnp.moveaxis(members(x, who), 0, dimension), dimension)


def blocks(x: Array, who: Participants, split: int, concat: int) -> Array:
    """Block ``i`` of every member for the member at position ``i``, one behind another.

    Args:
      x: an array whose dimension ``split`` is a multiple of the group's size.
      who: participants with groups of one size.
      split: the dimension of which every member gets a block.
      concat: the dimension along which the blocks are put together, in the order of
        the group.

    Returns:
      The blocks that are for this replica.
    """
    axes, groups = who.axes, who.groups
    if groups.size == 1:
        return x
    if not x.size:
        divided = lax.slice_in_dim(x, 0, x.shape[split] // groups.size, axis=split)
        return _empty(divided, concat, groups.size)
    if who.are_native:
        y = mapped.vary(sendable(x), axes)
        if is_split(y):
            y = whole_along(whole_along(y, split), concat)
        if groups.are_whole:
            y = lax.all_to_all(y, axes, split, concat, tiled=True)
        else:
            swap = (split, concat)
            y = _all_to_all.bind(y, axes=axes, groups=groups.ids, swap=swap)
        return received(y, x.dtype)
    n = groups.size
    y = jnp.moveaxis(members(x, who), split + 1, 1)  # [member, n * block, ...]
    y = y.reshape(n, n, y.shape[1] // n, *y.shape[2:])
    mine = mapped.lookup(groups.positions, axes)
    y = lax.dynamic_index_in_dim(y, mine, axis=1, keepdims=False)
    y = jnp.moveaxis(y, 1, split + 1)
    return _merged(jnp.moveaxis(y, 0, concat), concat)


def _empty(x: Array, dimension: int, times: int) -> Array:
    """An array without elements that many times; XLA's operations refuse such."""
    return lax.concatenate([x] * times, dimension)


def _merged(x: Array, dimension: int) -> Array:
    """The array with a dimension and the next one as one."""
    shape = list(x.shape)
    shape[dimension : dimension + 2] = [shape[dimension] * shape[dimension + 1]]
    return x.reshape(shape)


def permuted(x: Array, axes: Axes, pairs: tuple[tuple[int, int], ...]) -> Array:
    """The array of the replica that is one's source, zeros for who has none.

    Args:
      x: an array.
      axes: the axes along which ids count.
      pairs: ``(source, target)`` ids; no source and no target twice.
    """
    if not pairs or not x.size:
        return zeros(x)
    if axes and mapped.are_manual(axes):
        order = tuple(axis for axis in mapped.manual_axes() if axis in axes)
        if order != axes:
            # JAX counts along the axes in mesh order, whatever their order here, which
            # some versions do without a word.
            sizes = [mapped.size((axis,)) for axis in axes]
            ids = np.arange(np.prod(sizes)).reshape(sizes)
            ids = ids.transpose([axes.index(axis) for axis in order]).reshape(-1)
            new = np.argsort(ids)
            pairs = tuple((int(new[s]), int(new[t])) for s, t in pairs)
        return received(lax.ppermute(sendable(x), order, pairs), x.dtype)
    count = mapped.size(axes)
    sources, has_source = np.zeros(count, np.int32), np.zeros(count, bool)
    for source, target in pairs:
        sources[target], has_source[target] = source, True
    return taken(x, axes, sources, has_source)


def taken(x: Array, axes: Axes, sources: np.ndarray, has_source: np.ndarray) -> Array:
    """The array of any replica, along any axes; zeros for who has no source."""
    everyone = gathered(sendable(x), axes)
    mine = mapped.lookup(sources, axes)
    y = received(lax.dynamic_index_in_dim(everyone, mine, keepdims=False), x.dtype)
    if has_source.all():
        return y
    return choose(mapped.lookup(has_source, axes), y, zeros(y))


def choose(predicate: Array, if_true: Array, if_false: Array) -> Array:
    """One array or the other, by a scalar."""
    return lax.select(*equally_varying(predicate, if_true, if_false))


def choose_rows(predicates: Array, if_true: Array, if_false: Array) -> Array:
    """The rows of one array or the other, by a vector."""
    sharding = sharding_like(if_true)
    each = lax.broadcast_in_dim(predicates, if_true.shape, (0,), out_sharding=sharding)
    return lax.select(*equally_varying(each, if_true, if_false))


def zeros(x: Array) -> Array:
    """Zeros of the type of an array, varying over the axes over which it does."""
    (result,) = varying_over(compat.varying_axes(x), jnp.zeros_like(x))
    return result


# A gather of which the derivative scatters no sums.


def _gather_by_lax(x: Array, *, axes: Axes, groups: Groups, dimension: int) -> Array:
    return lax.all_gather(
        x, axes, axis=dimension, tiled=True, axis_index_groups=groups.for_lax
    )


_gather = new_primitive("all_gather")


@_gather.def_abstract_eval
def _gather_type(x: Any, *, axes: Axes, groups: Groups, dimension: int) -> Any:
    shape = list(x.shape)
    shape[dimension] *= groups.size
    return x.update(shape=tuple(shape), weak_type=False)


def _gather_transpose(
    cotangent: Any, x: Any, *, axes: Axes, groups: Groups, dimension: int
) -> list[Any]:
    """The sum of what all members have for this replica."""
    who = Participants(axes, groups)
    parts = blocks(cotangent, who, dimension, dimension)
    block = parts.shape[dimension] // groups.size
    total = None
    for k in range(groups.size):
        part = lax.slice_in_dim(parts, k * block, (k + 1) * block, axis=dimension)
        total = part if total is None else lax.add(total, part)
    assert total is not None
    if is_split(cotangent):
        total = jax.sharding.reshard(total, x.aval.sharding)
    return [total]


def _gather_batch(
    args: Any, batched: Any, *, dimension: int, **params: Any
) -> tuple[Array, int]:
    (x,), (at,) = args, batched
    return _gather.bind(x, dimension=dimension + (at <= dimension), **params), at


mlir.register_lowering(_gather, mlir.lower_fun(_gather_by_lax, multiple_results=False))
ad.deflinear2(_gather, _gather_transpose)
batching.primitive_batchers[_gather] = _gather_batch


# An exchange of blocks within groups. That of jax.lax is not used directly: under
# `jax.vmap` it refuses groups.

_all_to_all = new_primitive("all_to_all")


@_all_to_all.def_abstract_eval
def _all_to_all_type(
    x: Any, *, axes: Axes, groups: tuple[Ids, ...], swap: tuple[int, int]
) -> Any:
    shape, n = list(x.shape), len(groups[0])
    shape[swap[0]] //= n
    shape[swap[1]] *= n
    return x.update(shape=tuple(shape), weak_type=False)


def _all_to_all_by_lax(
    x: Array, *, axes: Axes, groups: tuple[Ids, ...], swap: tuple[int, int]
) -> Array:
    lists = [list(group) for group in groups]
    return lax.all_to_all(x, axes, *swap, axis_index_groups=lists, tiled=True)


def _all_to_all_transpose(
    cotangent: Any, x: Any, *, axes: Axes, groups: Any, swap: tuple[int, int]
) -> list[Any]:
    return [_all_to_all.bind(cotangent, axes=axes, groups=groups, swap=swap[::-1])]


def _all_to_all_batch(
    args: Any, batched: Any, *, axes: Axes, groups: Any, swap: tuple[int, int]
) -> tuple[Array, int]:
    (x,), (at,) = args, batched
    split, concat = (d + (at <= d) for d in swap)
    return _all_to_all.bind(x, axes=axes, groups=groups, swap=(split, concat)), at


mlir.register_lowering(
    _all_to_all, mlir.lower_fun(_all_to_all_by_lax, multiple_results=False)
)
ad.deflinear2(_all_to_all, _all_to_all_transpose)
batching.primitive_batchers[_all_to_all] = _all_to_all_batch
