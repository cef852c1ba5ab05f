"""Windows of updates combined into arrays at many positions.

The operation takes a computation, so it bypasses the fast eager path of others.
"""

from collections.abc import Callable, Sequence
from typing import Any

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, indices, scattering
from ..core.computation import Role, traced
from ..core.typing import ScatterDimensionNumbersLike
from ..types import ScatterDimensionNumbers

_numbers = checks.coerced(ScatterDimensionNumbers.coerce)


def scatter(
    operands: ArrayLike | Sequence[ArrayLike],
    scatter_indices: ArrayLike,
    updates: ArrayLike | Sequence[ArrayLike],
    update_computation: Callable[..., Any],
    dimension_numbers: ScatterDimensionNumbersLike,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Any:
    """Arrays into which windows of updates are combined, where indices say.

    A window that lies partly outside of the operands is left out as a whole; that is
    what XLA does, where the document speaks of single elements. In which order several
    updates of one element are combined is the compiler's choice.

    Derivatives with respect to operands and updates work for any computation that has
    them. Those of one that `jax.lax` has no scatter for go through the windows one
    after another, unless ``unique_indices`` promises that none meets another.

    Args:
      operands: N arrays of one shape; an array by itself is one.
      scatter_indices: integer array. Along ``index_vector_dim`` lie the index vectors;
        if that is its rank, each element is an index vector of length one.
      updates: N arrays, or one by itself, of one shape and the operands' element
        types, with the windows' dimensions at ``update_window_dims`` and, at the
        others, the dimensions of ``scatter_indices`` without ``index_vector_dim``.
      update_computation: called with 2N scalars, N elements of the operands and N of
        the updates; returns the N new elements, as a tuple (one scalar alone if N is
        1). It may use no traced value that is not among its arguments.
      dimension_numbers: what the dimensions of operands, indices and updates are, as
        `xlaops.ScatterDimensionNumbers` or a mapping of its fields.
      indices_are_sorted: a promise that the index vectors are in ascending order, once
        ordered by ``scatter_dims_to_operand_dims``; broken, the result is undefined.
      unique_indices: a promise that no element is updated twice; broken, the result is
        undefined.

    Returns:
      A tuple of N arrays of the operands' shape; one array alone if N is 1.

    Raises:
      TypeError: if shapes or element types differ, ``scatter_indices`` are no integers,
        or if ``update_computation`` is not callable, returns other types or holds what
        XLA cannot run inside of an operation.
      ValueError: if ``dimension_numbers`` do not fit the operands.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> elements = xo.ScatterDimensionNumbers(
      ...     update_window_dims=(), inserted_window_dims=(0,),
      ...     scatter_dims_to_operand_dims=(0,), index_vector_dim=1,
      ... )
      >>> x, indices = jnp.array([10.0, 20.0, 30.0]), jnp.array([2, -1, 5, 0])
      >>> new = jnp.array([1.0, 2.0, 3.0, 4.0])
      >>> xo.scatter([x], indices, [new], lambda old, u: old - u, elements)
      Array([ 6., 20., 29.], dtype=float32)

    Source: *Scatter* in XLA's Operation semantics, which leaves out the batching
    dimensions of ``stablehlo.scatter``.
    """
    xs = checks.arrays("scatter", "operands", checks.one_or_more(operands))
    checks.numbers("scatter", "operands", xs)
    checks.same_shape("scatter", "operands", xs)
    given = checks.arrays("scatter", "updates", checks.one_or_more(updates))
    if len(given) != len(xs):
        raise ValueError(
            f"scatter: updates must have one entry for each of the {len(xs)} operands, "
            f"got {len(given)}"
        )
    checks.same_shape("scatter", "updates", given)
    typed = [
        checks.same_element_type("scatter", **{f"operands[{i}]": x, f"updates[{i}]": u})
        for i, (x, u) in enumerate(zip(xs, given, strict=True))
    ]
    xs, new = tuple(x for x, _ in typed), tuple(u for _, u in typed)
    where = indices.safe(
        "scatter", "scatter_indices", indices.exact(scatter_indices), xs[0].shape
    )
    numbers = _numbers("scatter", "dimension_numbers", dimension_numbers)
    _check_numbers(xs[0], where, new[0], numbers)
    where, numbers = _with_vectors_last(where, numbers)
    dtypes = [x.dtype for x in xs]
    role = Role("scatter", "update_computation", "elements, then updates")
    computation = traced(role, update_computation, dtypes * 2, dtypes)
    positions = scattering.Positions(
        numbers,
        checks.boolean("scatter", "indices_are_sorted", indices_are_sorted),
        checks.boolean("scatter", "unique_indices", unique_indices),
    )
    results = scattering.scatter(xs, where, new, computation, positions)
    return results[0] if len(results) == 1 else results


def _with_vectors_last(
    starts: Array, numbers: ScatterDimensionNumbers
) -> tuple[Array, ScatterDimensionNumbers]:
    """The indices with their vectors in the last dimension, as jax.lax has them."""
    vector = numbers.index_vector_dim
    batching = numbers.scatter_indices_batching_dims
    if vector == starts.ndim:
        starts = lax.expand_dims(starts, (vector,))
    elif vector != starts.ndim - 1:
        others = [d for d in range(starts.ndim) if d != vector]
        starts = lax.transpose(starts, (*others, vector))
        batching = tuple(d - (d > vector) for d in batching)
    return starts, ScatterDimensionNumbers(
        update_window_dims=numbers.update_window_dims,
        inserted_window_dims=numbers.inserted_window_dims,
        scatter_dims_to_operand_dims=numbers.scatter_dims_to_operand_dims,
        index_vector_dim=starts.ndim - 1,
        input_batching_dims=numbers.input_batching_dims,
        scatter_indices_batching_dims=batching,
    )


def _check_numbers(
    x: Array, starts: Array, updates: Array, numbers: ScatterDimensionNumbers
) -> None:
    """The constraints of StableHLO between dimension numbers and operands."""
    vector = numbers.index_vector_dim
    if vector > starts.ndim:
        raise ValueError(
            f"scatter: index_vector_dim must be in [0, {starts.ndim}] for "
            f"scatter_indices {starts.shape}, got {vector}"
        )
    for name, values, rank in (
        ("update_window_dims", numbers.update_window_dims, updates.ndim),
        ("inserted_window_dims", numbers.inserted_window_dims, x.ndim),
        ("scatter_dims_to_operand_dims", numbers.scatter_dims_to_operand_dims, x.ndim),
        ("input_batching_dims", numbers.input_batching_dims, x.ndim),
        (
            "scatter_indices_batching_dims",
            numbers.scatter_indices_batching_dims,
            starts.ndim,
        ),
    ):
        checks.distinct_dimensions("scatter", name, values, rank)
    length = 1 if vector == starts.ndim else starts.shape[vector]
    if len(numbers.scatter_dims_to_operand_dims) != length:
        raise ValueError(
            f"scatter: scatter_dims_to_operand_dims must have one entry for each of "
            f"the {length} parts of an index vector of scatter_indices {starts.shape} "
            f"with index_vector_dim={vector}, got "
            f"{numbers.scatter_dims_to_operand_dims}"
        )
    left_out = (*numbers.inserted_window_dims, *numbers.input_batching_dims)
    inner = [n for d, n in enumerate(x.shape) if d not in left_out]
    if len(numbers.update_window_dims) != len(inner):
        raise ValueError(
            f"scatter: update_window_dims must have one entry for each dimension of "
            f"operands {x.shape} but inserted_window_dims="
            f"{numbers.inserted_window_dims} and input_batching_dims="
            f"{numbers.input_batching_dims}, got {numbers.update_window_dims}"
        )
    outer = [n for d, n in enumerate(starts.shape) if d != vector]
    shape: list[int] = []
    remaining = iter(outer)
    for d in range(len(outer) + len(inner)):
        if d in numbers.update_window_dims:
            shape.append(updates.shape[d] if d < updates.ndim else -1)
        else:
            shape.append(next(remaining))
    if updates.shape != tuple(shape):
        raise TypeError(
            f"scatter: updates must have the dimensions {tuple(outer)} of "
            f"scatter_indices and {len(inner)} of a window, got {updates.shape}"
        )
    for d, limit in zip(numbers.update_window_dims, inner, strict=True):
        if updates.shape[d] > limit:
            raise TypeError(
                f"scatter: updates must have windows no larger than operands "
                f"{x.shape}, got {updates.shape[d]} in dimension {d} of "
                f"{updates.shape}"
            )
    for i, j in zip(
        numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True
    ):
        if x.shape[i] != starts.shape[j]:
            raise TypeError(
                f"scatter: input_batching_dims and scatter_indices_batching_dims must "
                f"have equal sizes, got {x.shape[i]} in dimension {i} of operands "
                f"{x.shape} and {starts.shape[j]} in dimension {j} of scatter_indices "
                f"{starts.shape}"
            )
