"""The reductions that XLA has between replicas: sums, the largest and the smallest."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ..core import checks
from ..core.compat import (
    ShapedArray,
    ad,
    batching,
    mlir,
    new_primitive,
    result_type_like,
    without_check_vma,
)
from . import axes as mapped
from .axes import Axes
from .exchange import gathered, members
from .groups import Groups, Participants

_BETWEEN_REPLICAS = {"sum": lax.psum, "max": lax.pmax, "min": lax.pmin}


def reduced(x: Array, who: Participants, kind: str) -> Array:
    """The sum, the largest or the smallest of the arrays of a group, elementwise.

    Args:
      x: this replica's array, which varies over the axes.
      who: participants with groups of all replicas, of any sizes.
      kind: ``"sum"``, which is differentiable, ``"max"`` or ``"min"``, which are not.

    Returns:
      An array of the same type; it does not vary over the axes if the group is one of
      all replicas.
    """
    if not who.groups.are_one and not mapped.are_manual(who.axes):
        return _by_rows(x, axes=who.axes, groups=who.groups, kind=kind)
    if not who.groups.are_one:
        return _reduce_groups.bind(x, axes=who.axes, groups=who.groups, kind=kind)
    manual = tuple(axis for axis in who.axes if mapped.are_manual((axis,)))
    others = tuple(axis for axis in who.axes if axis not in manual)
    if others:
        x = along_rows(gathered(x, others), kind)
    return _BETWEEN_REPLICAS[kind](x, manual) if manual else x


def along_rows(rows: Array, kind: str) -> Array:
    """The sum, the largest or the smallest of rows: ``[n, ...] -> [...]``."""
    if rows.dtype == np.bool_:
        reduce = {"max": lax.reduce_or, "min": lax.reduce_and}[kind]
        return reduce(rows, [0])
    wide = rows
    if checks.kind(rows.dtype) in "iu" and checks.bit_width(rows.dtype) < 8:
        # Not every backend reduces integers of parts of a byte.
        wide = lax.convert_element_type(rows, jnp.int8)
    reduce = {"sum": lax.reduce_sum, "max": lax.reduce_max, "min": lax.reduce_min}[kind]
    return lax.convert_element_type(reduce(wide, [0]), rows.dtype)


# Reductions in groups. Those of jax.lax are not used directly: where types say over
# which axes a value varies, one refuses groups, and the others have a wrong type.

_reduce_groups = new_primitive("reduce_groups")


@_reduce_groups.def_abstract_eval
def _reduce_groups_type(x: Any, *, axes: Axes, groups: Groups, kind: str) -> Any:
    return result_type_like(x, x.shape, x.dtype)


def _by_lax(x: Array, *, axes: Axes, groups: Groups, kind: str) -> Array:
    return _BETWEEN_REPLICAS[kind](x, axes, axis_index_groups=groups.for_lax)


def _by_rows(x: Array, *, axes: Axes, groups: Groups, kind: str) -> Array:
    """The same of the arrays of all replicas."""
    who = Participants(axes, groups)
    rows = members(x, who)
    length = mapped.lookup(groups.lengths, axes)
    neutral = jnp.zeros_like(rows) if kind == "sum" else jnp.broadcast_to(x, rows.shape)
    place = lax.broadcasted_iota(jnp.int32, rows.shape, 0)
    return along_rows(lax.select(place < length, rows, neutral), kind)


def _lower(ctx: Any, x: Any, *, groups: Groups, **params: Any) -> Any:
    # XLA for TPU refuses groups of several sizes.
    for_tpu = "tpu" in ctx.module_context.platforms
    function = _by_rows if for_tpu and not groups.are_equal else _by_lax
    plain = ctx.replace(
        primitive=None,
        avals_in=[ShapedArray(aval.shape, aval.dtype) for aval in ctx.avals_in],
        avals_out=[ShapedArray(aval.shape, aval.dtype) for aval in ctx.avals_out],
    )
    with without_check_vma():
        lower = mlir.lower_fun(function, multiple_results=False)
        return lower(plain, x, groups=groups, **params)


def _reduce_groups_transpose(
    cotangent: Any, x: Any, *, kind: str, **params: Any
) -> Any:
    assert kind == "sum"
    return [_reduce_groups.bind(cotangent, kind=kind, **params)]


def _reduce_groups_batch(args: Any, dims: Any, **params: Any) -> tuple[Array, int]:
    return _reduce_groups.bind(*args, **params), dims[0]


mlir.register_lowering(_reduce_groups, _lower)
ad.deflinear2(_reduce_groups, _reduce_groups_transpose)
batching.primitive_batchers[_reduce_groups] = _reduce_groups_batch
