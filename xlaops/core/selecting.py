"""Elements put where a window selects one."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ..types import ScatterDimensionNumbers
from . import scattering, windowing
from .compat import batching, stablehlo
from .computation import Computation, derived
from .primitive import equally_varying, has_explicit_axes, whole
from .regions import (
    barrier,
    batch_to_front,
    batched_as,
    differentiated_as,
    fill,
    integers,
    pairs,
    region_primitive,
)
from .windowing import Window

_COMMUTATIVE = ("add", "mul", "max", "min", "and", "or", "xor")


def select_and_scatter(
    operand: Array,
    source: Array,
    init: Array,
    select: Computation,
    scatter: Computation,
    window: Window,
) -> Array:
    """Elements of ``source`` put where a window on ``operand`` selects one.

    Args:
      operand: the array to select from.
      source: one element for each position of the window.
      init: what the result begins with.
      select: of the selected element and another one, whether the first stays.
      scatter: of what is there and an element of ``source``, what will be there.
      window: the window, without dilations.
    """
    cropped = window.cropped()
    inside = operand
    if cropped != window:
        # What is removed is never selected.
        inside = lax.pad(
            operand,
            np.zeros((), operand.dtype),
            [(min(0, low), min(0, high), 0) for low, high in window.padding],
        )
    if _may_see_only_padding(inside.shape, cropped) or not window.sizes:
        (result,) = _equivalent(
            inside, source, init, select=select, scatter=scatter, window=cropped
        )
    else:
        (result,) = _select_and_scatter_p.bind(
            *equally_varying(inside, source, init),
            select=select,
            scatter=scatter,
            window=cropped,
        )
    if cropped == window:
        return result
    result, begun = equally_varying(result, init)
    return lax.pad(
        result,
        begun,
        [(max(0, -low), max(0, -high), 0) for low, high in window.padding],
    )


def _may_see_only_padding(shape: Sequence[int], window: Window) -> bool:
    """Whether at some position the window holds nothing but padding.

    Nothing is selected there, which the operation has no way to say.
    """
    for n, size, stride, (low, _), count in zip(
        shape,
        window.sizes,
        window.strides,
        window.padding,
        window.positions(shape),
        strict=True,
    ):
        starts = stride * np.arange(count) - low
        if ((starts + size <= 0) | (starts >= n)).any():
            return True
    return False


def _equivalent(
    operand: Array,
    source: Array,
    init: Array,
    *,
    select: Computation,
    scatter: Computation,
    window: Window,
) -> list[Array]:
    sharding = jax.typeof(operand).sharding
    operand, source = whole(operand), whole(source)
    shape, count = operand.shape, operand.size
    index_type = np.int32 if count <= np.iinfo(np.int32).max else np.int64
    places = lax.reshape(lax.iota(index_type, count), shape)
    present = lax.full(shape, True)
    dtypes = (operand.dtype, np.dtype(index_type), np.dtype(bool))

    def choose(x: Any, i: Any, known: Any, y: Any, j: Any, other: Any) -> Any:
        (stays,) = select(x, y)
        first = lax.bitwise_and(known, lax.bitwise_or(lax.bitwise_not(other), stays))
        return tuple(
            lax.select(first, a, b) for a, b in ((x, y), (i, j), (known, other))
        )

    nothing = [
        jnp.asarray(value, dtype)
        for value, dtype in zip((0, -1, False), dtypes, strict=True)
    ]
    # Where the largest element is does not change with it.
    _, chosen, _ = windowing.reduce_window(
        (lax.stop_gradient(operand), places, present),
        nothing,
        derived(choose, dtypes * 2),
        window,
        known_neutral=True,
    )
    numbers = ScatterDimensionNumbers(
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=1,
    )
    begun = lax.full_like(operand, init, shape=(count,))
    (result,) = scattering.scatter(
        (begun,),
        lax.reshape(chosen, (source.size, 1)),
        (lax.reshape(source, (source.size,)),),
        scatter,
        scattering.Positions(numbers, are_sorted=False, are_unique=False),
    )
    result = lax.reshape(result, shape)
    return [jax.sharding.reshard(result, sharding) if has_explicit_axes() else result]


# The primitive


def _result_shapes(*avals: Any, **params: Any) -> list[tuple[int, ...]]:
    return [avals[0].shape]


def _build(
    ctx: Any,
    results: Sequence[Any],
    values: Sequence[Any],
    *,
    select: Computation,
    scatter: Computation,
    window: Window,
) -> Any:
    (result,) = results
    if scatter.pattern not in _COMMUTATIVE:
        # Where XLA folds constants it swaps what is there with what is new.
        values = barrier(values)
    op = stablehlo.SelectAndScatterOp(
        result,
        *values,
        window_dimensions=integers(window.sizes),
        window_strides=integers(window.strides),
        padding=pairs(window.padding),
    )
    fill(ctx, op.select, select)
    fill(ctx, op.scatter, scatter)
    return op


def _batch(args: Any, dims: Any, *, window: Window, **computations: Any) -> Any:
    if dims[2] is not None:
        # The operation has room for one initial value only.
        return batched_as(_equivalent, args, dims, window=window, **computations)
    results = _select_and_scatter_p.bind(
        *batch_to_front(args[:2], dims[:2]),
        args[2],
        window=window.batched(),
        **computations,
    )
    return results, [0]


_select_and_scatter_p = region_primitive(
    "select_and_scatter",
    _result_shapes,
    _build,
    # Where windows of two devices overlap, XLA loses what one of them puts.
    partitioned=_equivalent,
)
differentiated_as(_select_and_scatter_p, _equivalent)
batching.primitive_batchers[_select_and_scatter_p] = _batch
