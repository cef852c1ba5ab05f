"""Windows of updates combined into an array at positions that indices hold."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ..types import ScatterDimensionNumbers
from ..types.record import Record
from . import checks, mixing
from .compat import batching, ir, stablehlo
from .computation import Computation
from .primitive import equally_varying, whole
from .regions import (
    batch_to_front,
    differentiated_as,
    fill,
    region_primitive,
)

# For each computation that jax.lax has a scatter for: the function, and the kinds of
# element types for which it does the same.
_OF_LAX = {
    "second": (lax.scatter, "biufc"),
    "add": (lax.scatter_add, "iufc"),
    "sub": (lax.scatter_sub, "iufc"),
    "mul": (lax.scatter_mul, "iufc"),
    "max": (lax.scatter_max, "iuf"),
    "min": (lax.scatter_min, "iuf"),
}


class Positions(Record):
    """How indices say where windows go.

    Attributes:
      numbers: the dimension numbers, with the index vectors in the last dimension.
      are_sorted: whether the index vectors are promised to be in order.
      are_unique: whether no element is promised to be reached twice.
    """

    numbers: ScatterDimensionNumbers
    are_sorted: bool
    are_unique: bool

    def to_lax(self) -> lax.ScatterDimensionNumbers:
        """The dimension numbers of jax.lax."""
        return self.numbers.to_lax()

    def batched(self) -> "Positions":
        """With one more batch in front of operands, indices and updates."""
        numbers = self.numbers

        def behind(dims: Sequence[int]) -> tuple[int, ...]:
            return tuple(d + 1 for d in dims)

        return dataclasses.replace(
            self,
            numbers=ScatterDimensionNumbers(
                update_window_dims=behind(numbers.update_window_dims),
                inserted_window_dims=behind(numbers.inserted_window_dims),
                scatter_dims_to_operand_dims=behind(
                    numbers.scatter_dims_to_operand_dims
                ),
                index_vector_dim=numbers.index_vector_dim + 1,
                input_batching_dims=(0, *behind(numbers.input_batching_dims)),
                scatter_indices_batching_dims=(
                    0,
                    *behind(numbers.scatter_indices_batching_dims),
                ),
            ),
        )

    def window_sizes(
        self, shape: Sequence[int], updates: Sequence[int]
    ) -> tuple[int, ...]:
        """The size of one window in every dimension of the operand."""
        numbers = self.numbers
        left_out = (*numbers.inserted_window_dims, *numbers.input_batching_dims)
        sizes = iter(updates[d] for d in numbers.update_window_dims)
        return tuple(1 if d in left_out else next(sizes) for d in range(len(shape)))


def scatter(
    operands: Sequence[Array],
    indices: Array,
    updates: Sequence[Array],
    computation: Computation,
    positions: Positions,
) -> tuple[Array, ...]:
    """Operands with updates combined into them.

    Args:
      operands: N arrays of one shape.
      indices: integers, with the index vectors in the last dimension.
      updates: N arrays of one shape and the operands' element types.
      computation: takes N elements of the operands and N of the updates, and returns N
        elements.
      positions: what the indices mean.

    Returns:
      N arrays of the operands' shape.
    """
    if not operands[0].ndim:
        return _into_scalars(operands, indices, updates, computation, positions)
    if 0 in operands[0].shape:
        # No window lies inside. Derivatives would read some there.
        return equally_varying(*operands, *updates, indices)[: len(operands)]
    if mixing.is_mixed(operands):
        results = scatter(
            mixing.held(operands),
            indices,
            mixing.held(updates),
            mixing.of_held(computation),
            positions,
        )
        return tuple(mixing.converted(results, [x.dtype for x in operands]))
    function = _of_lax(operands, computation.pattern, positions)
    if function is not None:
        return (function(operands[0], indices, updates[0], positions),)
    return tuple(
        _scatter_p.bind(
            *equally_varying(*operands, *updates, indices),
            computation=computation,
            positions=positions,
        )
    )


def _into_scalars(
    operands: Sequence[Array],
    indices: Array,
    updates: Sequence[Array],
    computation: Computation,
    positions: Positions,
) -> tuple[Array, ...]:
    """The same for operands without dimensions, which XLA cannot scatter into."""
    numbers = ScatterDimensionNumbers(
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=indices.ndim - 1,
    )
    results = scatter(
        [lax.reshape(x, (1,)) for x in operands],
        lax.full((*indices.shape[:-1], 1), 0, indices.dtype),
        updates,
        computation,
        dataclasses.replace(positions, numbers=numbers),
    )
    return tuple(lax.reshape(y, ()) for y in results)


def _of_lax(operands: Sequence[Array], pattern: str, positions: Positions) -> Any:
    """The function of jax.lax that does the same, with its derivatives, or None."""
    function, kinds = _OF_LAX.get(pattern, (None, ""))
    if function is None or checks.kind(operands[0].dtype) not in kinds:
        return None
    if pattern == "mul" and not positions.are_unique:
        return None  # of which it has no derivatives

    def scattered(x: Array, indices: Array, updates: Array, positions: Any) -> Array:
        return function(
            x,
            indices,
            updates,
            positions.to_lax(),
            indices_are_sorted=positions.are_sorted,
            unique_indices=positions.are_unique,
            mode="drop",
        )

    return scattered


# The primitive: operands, updates, indices


def _result_shapes(
    *avals: Any, computation: Computation, positions: Positions
) -> list[tuple[int, ...]]:
    return [avals[0].shape] * (len(avals) // 2)


def _build(
    ctx: Any,
    results: Sequence[Any],
    values: Sequence[Any],
    *,
    computation: Computation,
    positions: Positions,
) -> Any:
    count = len(values) // 2
    numbers = positions.numbers
    op = stablehlo.ScatterOp(
        results,
        list(values[:count]),
        values[-1],
        list(values[count:-1]),
        stablehlo.ScatterDimensionNumbers.get(
            update_window_dims=list(numbers.update_window_dims),
            inserted_window_dims=list(numbers.inserted_window_dims),
            input_batching_dims=list(numbers.input_batching_dims),
            scatter_indices_batching_dims=list(numbers.scatter_indices_batching_dims),
            scattered_dims_to_operand_dims=list(numbers.scatter_dims_to_operand_dims),
            index_vector_dim=numbers.index_vector_dim,
        ),
        indices_are_sorted=ir.BoolAttr.get(positions.are_sorted),
        unique_indices=ir.BoolAttr.get(positions.are_unique),
    )
    fill(ctx, op.update_computation, computation)
    return op


def _equivalent(
    *values: Array, computation: Computation, positions: Positions
) -> Sequence[Array]:
    count = len(values) // 2
    operands, updates, indices = values[:count], values[count:-1], values[-1]
    apply = _all_at_once if positions.are_unique else _one_by_one
    return apply(operands, updates, indices, computation, positions)


def _all_at_once(
    operands: Sequence[Array],
    updates: Sequence[Array],
    indices: Array,
    computation: Computation,
    positions: Positions,
) -> list[Array]:
    """The same where no element is reached twice."""
    numbers = positions.numbers
    of_gather = lax.GatherDimensionNumbers(
        offset_dims=numbers.update_window_dims,
        collapsed_slice_dims=numbers.inserted_window_dims,
        start_index_map=numbers.scatter_dims_to_operand_dims,
        operand_batching_dims=numbers.input_batching_dims,
        start_indices_batching_dims=numbers.scatter_indices_batching_dims,
    )
    sizes = positions.window_sizes(operands[0].shape, updates[0].shape)
    # Windows partly outside are read elsewhere, and not written.
    seen = [lax.gather(x, indices, of_gather, sizes, mode="clip") for x in operands]
    replaced = computation.elementwise(*seen, *updates)
    return [
        lax.scatter(
            x,
            indices,
            y,
            positions.to_lax(),
            indices_are_sorted=positions.are_sorted,
            unique_indices=True,
            mode="drop",
        )
        for x, y in zip(operands, replaced, strict=True)
    ]


def _one_by_one(
    operands: Sequence[Array],
    updates: Sequence[Array],
    indices: Array,
    computation: Computation,
    positions: Positions,
) -> Sequence[Array]:
    """The same, window after window: any of them may reach what another one did."""
    shape = operands[0].shape
    sizes = positions.window_sizes(shape, updates[0].shape)
    operands = [whole(x) for x in operands]
    starts = whole(_full_starts(indices, len(shape), positions))
    windows = [whole(_windows(u, sizes, positions)) for u in updates]
    last = np.subtract(shape, sizes).astype(starts.dtype)

    def step(arrays: Any, given: Any) -> Any:
        start, *new = given
        is_inside = ((start >= 0) & (start <= last)).all()
        at = [lax.index_in_dim(start, d, keepdims=False) for d in range(len(shape))]
        seen = [lax.dynamic_slice(x, at, sizes) for x in arrays]
        combined = computation.elementwise(*seen, *new)
        return [
            lax.dynamic_update_slice(
                x, lax.select(lax.full(sizes, is_inside), y, old), at
            )
            for x, y, old in zip(arrays, combined, seen, strict=True)
        ], None

    results, _ = lax.scan(step, list(operands), (starts, *windows))
    return results


def _full_starts(indices: Array, rank: int, positions: Positions) -> Array:
    """For each window, in order, where it starts in every dimension of the operand."""
    numbers = positions.numbers
    outer = indices.shape[:-1]
    columns = [lax.full(outer, 0, indices.dtype)] * rank
    for part, d in enumerate(numbers.scatter_dims_to_operand_dims):
        columns[d] = lax.index_in_dim(indices, part, indices.ndim - 1, keepdims=False)
    for d, i in zip(
        numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True
    ):
        columns[d] = lax.broadcasted_iota(indices.dtype, outer, i)
    if not rank:
        return lax.full((int(np.prod(outer)), 0), 0, indices.dtype)
    stacked = jnp.stack(list(equally_varying(*columns)), -1)
    return lax.reshape(stacked, (int(np.prod(outer)), rank))


def _windows(updates: Array, sizes: Sequence[int], positions: Positions) -> Array:
    """The windows, in order, each with all dimensions of the operand."""
    inner = positions.numbers.update_window_dims
    outer = [d for d in range(updates.ndim) if d not in inner]
    count = int(np.prod([updates.shape[d] for d in outer]))
    return lax.reshape(lax.transpose(updates, (*outer, *inner)), (count, *sizes))


def _batch(
    args: Any, dims: Any, *, computation: Computation, positions: Positions
) -> Any:
    results = _scatter_p.bind(
        *batch_to_front(args, dims),
        computation=computation,
        positions=positions.batched(),
    )
    return results, [0] * len(results)


_scatter_p = region_primitive("scatter", _result_shapes, _build)
differentiated_as(_scatter_p, _equivalent)
batching.primitive_batchers[_scatter_p] = _batch
