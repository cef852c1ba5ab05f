"""Arrays sorted by a comparator.

The operation takes a computation, so it bypasses the fast eager path of others.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import bounded, checks, mixing
from ..core.compat import ad, batching, ir, mlir, stablehlo
from ..core.computation import Computation, Role, derived, traced
from ..core.primitive import equally_varying, has_explicit_axes, whole_along
from ..core.regions import batch_to_front, fill, region_primitive, tangents_of

_INT32_MAX = np.iinfo(np.int32).max


def sort(
    operands: Sequence[ArrayLike],
    comparator: Callable[..., Any],
    dimension: int = -1,
    is_stable: bool = False,
) -> Any:
    """Arrays sorted along one dimension, in the order that a comparator says.

    All operands are permuted alike. The comparator has to be a strict weak order, which
    ``<`` on floating-point numbers is not where there are NaN; `lt_total_order` is one.

    The derivative of an element goes to the place it comes from.

    Args:
      operands: N arrays of one shape.
      comparator: called with 2N scalars ``(lhs0, rhs0, lhs1, rhs1, ...)``; returns a
        PRED scalar, which says whether the elements ``lhs`` come before ``rhs``. It may
        use no traced value that is not among its arguments.
      dimension: the dimension to sort along; counted from the end if negative.
      is_stable: whether elements of which neither comes before the other stay in their
        order.

    Returns:
      A tuple of N arrays of the operands' shape; one array alone if N is 1.

    Raises:
      TypeError: if shapes differ, or if ``comparator`` is not callable, returns
        anything but a PRED scalar or holds what XLA cannot run inside of an operation.
      ValueError: if ``dimension`` is out of range, or there are no operands.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> keys, values = jnp.array([3, 1, 2]), jnp.array([30.0, 10.0, 20.0])
      >>> xo.sort([keys, values], lambda a, b, _, __: a > b)
      (Array([3, 2, 1], dtype=int32), Array([30., 20., 10.], dtype=float32))

    Source: *Sort* in XLA's Operation semantics; ``stablehlo.sort``.
    """
    operands, sizes = bounded.split("sort", "operands", operands)
    xs = checks.arrays("sort", "operands", operands)
    checks.numbers("sort", "operands", xs)
    checks.same_shape("sort", "operands", xs)
    rank = xs[0].ndim
    dim = checks.integer("sort", "dimension", dimension)
    if not -rank <= dim < rank:
        raise ValueError(
            f"sort: dimension must be in [{-rank}, {rank}) for operands of rank "
            f"{rank}, got {dim}"
        )
    stable = checks.boolean("sort", "is_stable", is_stable)
    dtypes = [x.dtype for x in xs for _ in range(2)]
    role = Role("sort", "comparator", "of each operand the left element, the right")
    order = traced(role, comparator, dtypes, [np.dtype(bool)])
    valid, order_of_valid = None, order
    if sizes is not None:
        # What does not count comes last.
        valid = bounded.validity(xs[0], {dim % rank: sizes[dim % rank]})
    if valid is not None:
        order = derived(
            lambda *scalars: [_before(order_of_valid, *scalars)],
            (*dtypes, *[np.dtype(bool)] * 2),
        )
        xs = (*xs, valid)
    of_results = [x.dtype for x in xs]
    if mixing.is_mixed(xs):
        xs, order = mixing.held(xs), mixing.of_held(order)
    results = _sort_p.bind(
        *equally_varying(*xs),
        comparator=order,
        dimension=dim % rank,
        is_stable=stable,
    )
    results = mixing.converted(results, of_results)
    if valid is not None:
        results = results[:-1]
    if sizes is not None:
        results = [bounded.wrapped(x, sizes) for x in results]
    return results[0] if len(results) == 1 else tuple(results)


def _before(order: Computation, *scalars: Any) -> Any:
    """Whether the left of two elements comes first, each with whether it counts."""
    *elements, left, right = scalars
    (is_before,) = order(*elements)
    both = lax.bitwise_and(left, right)
    only_left = lax.bitwise_and(left, lax.bitwise_not(right))
    return lax.bitwise_or(only_left, lax.bitwise_and(both, is_before))


def _result_shapes(*avals: Any, **params: Any) -> list[tuple[int, ...]]:
    return [aval.shape for aval in avals]


def _build(
    ctx: Any,
    results: Sequence[Any],
    values: Sequence[Any],
    *,
    comparator: Computation,
    dimension: int,
    is_stable: bool,
) -> Any:
    op = stablehlo.SortOp(
        results,
        list(values),
        dimension=mlir.i64_attr(dimension),
        is_stable=ir.BoolAttr.get(is_stable),
    )
    fill(ctx, op.comparator, comparator)
    return op


def _jvp(
    primals: Sequence[Array],
    tangents: Sequence[Any],
    *,
    comparator: Computation,
    dimension: int,
    is_stable: bool,
) -> tuple[Sequence[Array], Sequence[Any]]:
    # The places of the elements are sorted along with them: the value comes from the
    # same sort, so that it belongs to the derivative also where there are ties.
    shape = primals[0].shape
    index_type = np.int32 if shape[dimension] <= _INT32_MAX else np.int64
    places = lax.broadcasted_iota(index_type, shape, dimension)
    dtypes = (*comparator.inputs, np.dtype(index_type), np.dtype(index_type))
    *results, permutation = _sort_p.bind(
        *equally_varying(*primals, places),
        comparator=derived(lambda *scalars: comparator(*scalars[:-2]), dtypes),
        dimension=dimension,
        is_stable=is_stable,
    )
    return results, [
        tangents_of(lambda x: [_permuted(x, permutation, dimension)], [x], [t], [y])[0]
        if not isinstance(t, ad.Zero)
        else ad.Zero(t.aval)
        for x, t, y in zip(primals, tangents, results, strict=True)
    ]


def _permuted(x: Array, permutation: Array, dimension: int) -> Array:
    """The elements of ``x`` along a dimension at the indices of a permutation."""
    if has_explicit_axes():
        sharding = jax.typeof(x).sharding
        x, permutation = (whole_along(v, dimension) for v in (x, permutation))
        return jax.sharding.reshard(_taken(x, permutation, dimension), sharding)
    return _taken(x, permutation, dimension)


def _taken(x: Array, permutation: Array, dimension: int) -> Array:
    others = tuple(d for d in range(x.ndim) if d != dimension)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(dimension,),
        start_index_map=(dimension,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    return lax.gather(
        x,
        lax.expand_dims(permutation, (x.ndim,)),
        numbers,
        (1,) * x.ndim,
        unique_indices=True,
        mode="promise_in_bounds",
    )


def _batch(
    args: Any, dims: Any, *, comparator: Computation, dimension: int, is_stable: bool
) -> Any:
    results = _sort_p.bind(
        *batch_to_front(args, dims),
        comparator=comparator,
        dimension=dimension + 1,
        is_stable=is_stable,
    )
    return results, [0] * len(results)


_sort_p = region_primitive("sort", _result_shapes, _build)
ad.primitive_jvps[_sort_p] = _jvp
batching.primitive_batchers[_sort_p] = _batch
