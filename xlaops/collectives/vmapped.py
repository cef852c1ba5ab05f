"""Replicas along an axis of `jax.vmap`: which one this is, and the arrays of all.

Along such an axis nothing has to be sent: the arrays of all replicas are one array. The
collectives of jax.lax know that as well, but not inside of
``jax.shard_map(check_vma=True)``: there an assertion fails where one is given the name
of an axis of `jax.vmap`, and the index along it is of no use within a `jax.jit`.
"""

from collections.abc import Hashable
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from ..core.compat import ad, batching, new_primitive, result_type_like, scalar_type

_index_p = new_primitive("replica_index")
_stack_p = new_primitive("stack_replicas")
_sum_own_p = new_primitive("sum_own_blocks")


def index(axis: Hashable, size: int) -> Array:
    """The index of this replica along an axis of `jax.vmap`, an int32 scalar."""
    return _index_p.bind(axis=axis, size=size)


def stacked(x: Array, axis: Hashable, size: int) -> Array:
    """The arrays of all replicas along an axis of `jax.vmap`: ``[size, ...]``."""
    return _stack_p.bind(x, axis=axis, size=size)


@_index_p.def_abstract_eval
def _index_type(*, axis: Hashable, size: int) -> Any:
    return scalar_type(jnp.int32)


def _index_batch(
    mapped: Any, args: Any, dims: Any, *, axis: Hashable, size: int
) -> tuple[Array, int | None]:
    if mapped.name != axis:
        return _index_p.bind(axis=axis, size=size), None
    return lax.iota(jnp.int32, size), 0


@_stack_p.def_abstract_eval
def _stack_type(x: Any, *, axis: Hashable, size: int) -> Any:
    return result_type_like(x, (size, *x.shape), x.dtype)


def _stack_batch(
    mapped: Any, args: Any, dims: Any, *, axis: Hashable, size: int
) -> tuple[Array, int | None]:
    (x,), (dim,) = args, dims
    if mapped.name != axis:
        result = _stack_p.bind(x, axis=axis, size=size)
        return result, None if dim is None else dim + 1
    if dim is None:  # the same for all
        return jnp.broadcast_to(x, (size, *x.shape)), None
    return jnp.moveaxis(x, dim, 0), None


def _stack_transpose(cotangent: Any, x: Any, *, axis: Hashable, size: int) -> Any:
    return [_sum_own_p.bind(cotangent, axis=axis, size=size)]


# The opposite: of ``[size, ...]`` of every replica the entries that are for this one,
# added up.


@_sum_own_p.def_abstract_eval
def _sum_own_type(x: Any, *, axis: Hashable, size: int) -> Any:
    return result_type_like(x, x.shape[1:], x.dtype)


def _sum_own_batch(
    mapped: Any, args: Any, dims: Any, *, axis: Hashable, size: int
) -> tuple[Array, int | None]:
    (x,), (dim,) = args, dims
    if mapped.name != axis:
        if dim is None:
            return _sum_own_p.bind(x, axis=axis, size=size), None
        x = jnp.moveaxis(x, dim, 1)
        return _sum_own_p.bind(x, axis=axis, size=size), 0
    if dim is None:
        return x * size, 0
    return lax.reduce_sum(x, [dim]), 0


def _sum_own_transpose(cotangent: Any, x: Any, *, axis: Hashable, size: int) -> Any:
    return [_stack_p.bind(cotangent, axis=axis, size=size)]


ad.deflinear2(_stack_p, _stack_transpose)
ad.deflinear2(_sum_own_p, _sum_own_transpose)
batching.fancy_primitive_batchers[_index_p] = _index_batch
batching.fancy_primitive_batchers[_stack_p] = _stack_batch
batching.fancy_primitive_batchers[_sum_own_p] = _sum_own_batch
