"""Dimensions whose sizes are known only when the program runs.

The operations only put data and sizes together, or take them apart: there is no program
for which they could have a fast eager path.
"""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import bounded, checks
from ..core.bounded import BoundedArray
from ..core.typing import Dims

_INT32_MAX = np.iinfo(np.int32).max


def set_dimension_size(
    operand: ArrayLike | BoundedArray, val: ArrayLike, dimension: int
) -> BoundedArray:
    """An array of which only the first elements of a dimension count.

    The size is data, so that it may differ between executions of one program. The other
    elements become undefined: no operation on the result lets them influence those that
    count.

    Args:
      operand: array of any element type, or a BoundedArray.
      val: S32 scalar, the number of elements that count, from 0 to the size of
        ``operand``. What is outside of that range when the program runs is clamped.
      dimension: the dimension, in ``[0, rank)``. One that is dynamic already gets the
        new size.

    Returns:
      A `BoundedArray`.

    Raises:
      TypeError: if ``operand`` is no array or ``val`` no S32 scalar.
      ValueError: if ``dimension`` is out of range, or ``val`` is a Python int outside
        of 0 to the size.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = xo.set_dimension_size(jnp.arange(10.0), 5, 0)
      >>> xo.reduce([x], [0.0], xo.add, [0])
      Array(10., dtype=float32)
      >>> print(x.bounded_shape)
      f32[<=10]

    Source: *SetDimensionSize* in XLA's Operation semantics;
    ``stablehlo.set_dimension_size``.
    """
    x, sizes = _parts("set_dimension_size", operand)
    d = _dimension("set_dimension_size", dimension, x.ndim)
    sizes[d] = _size("set_dimension_size", "val", val, x.shape[d])
    return BoundedArray(x, tuple(sizes))


def get_dimension_size(operand: ArrayLike | BoundedArray, dimension: int) -> Array:
    """The size of a dimension, as it is when the program runs.

    Args:
      operand: array, or a `BoundedArray`.
      dimension: the dimension, in ``[0, rank)``.

    Returns:
      An S32 scalar; a constant where the size is static.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if ``dimension`` is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = xo.set_dimension_size(jnp.zeros((3, 8)), 5, 1)
      >>> print(xo.get_dimension_size(x, 0), xo.get_dimension_size(x, 1))
      3 5

    Source: *GetDimensionSize* in XLA's Operation semantics;
    ``stablehlo.get_dimension_size``.
    """
    x, sizes = _parts("get_dimension_size", operand)
    d = _dimension("get_dimension_size", dimension, x.ndim)
    size = sizes[d]
    if size is not None:
        return size
    if x.shape[d] > _INT32_MAX:
        raise ValueError(
            f"get_dimension_size: operand must have a size that fits into s32, got "
            f"{x.shape[d]}"
        )
    return jnp.asarray(x.shape[d], np.int32)


def remove_dynamic_dimension(operand: ArrayLike | BoundedArray, dimension: int) -> Any:
    """An array with all elements of a dimension, also those that did not count.

    These are undefined, except directly after `set_dimension_size`: then they are what
    they were before it.

    Args:
      operand: array, or a `BoundedArray`.
      dimension: the dimension, in ``[0, rank)``. Nothing changes if it is static.

    Returns:
      An array, or a `BoundedArray` if other dimensions are dynamic.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if ``dimension`` is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = xo.set_dimension_size(jnp.arange(4), 2, 0)
      >>> print(xo.remove_dynamic_dimension(x, 0))
      [0 1 2 3]

    Source: ``RemoveDynamicDimension`` of ``xla_builder.h``, a form of
    *SetDimensionSize* in XLA's Operation semantics; ``stablehlo.set_dimension_size``.
    """
    x, sizes = _parts("remove_dynamic_dimension", operand)
    d = _dimension("remove_dynamic_dimension", dimension, x.ndim)
    sizes[d] = None
    return bounded.wrapped(x, sizes)


def dynamic_reshape(
    operand: ArrayLike | BoundedArray,
    dim_sizes: Sequence[ArrayLike],
    new_size_bounds: Dims,
    dims_are_dynamic: Sequence[bool],
) -> Any:
    """The elements that count in another shape, in row-major order.

    Args:
      operand: array, or a `BoundedArray`, whose elements that count are taken in
        row-major order.
      dim_sizes: for each new dimension its size, an S32 scalar. Their product should be
        the number of elements that count; what is missing is undefined. That of a
        static dimension is not read.
      new_size_bounds: for each new dimension the largest size. Their product is the
        number of elements of ``operand``, with its bounds for sizes.
      dims_are_dynamic: for each new dimension whether its size is dynamic.

    Returns:
      A `BoundedArray`; an array if no dimension is dynamic.

    Raises:
      TypeError: if ``operand`` is no array or a size is no S32 scalar.
      ValueError: if the sequences have different lengths, the numbers of elements
        differ, or a Python int in ``dim_sizes`` is above its bound.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = xo.set_dimension_size(jnp.arange(12), 6, 0)
      >>> y = xo.dynamic_reshape(x, [2, 3], (3, 4), (False, True))
      >>> xo.dynamic_reshape(x, [2, 3], (3, 4), (True, True)).valid()
      array([[0, 1, 2],
             [3, 4, 5]], dtype=int32)

    Source: *DynamicReshape* in XLA's Operation semantics;
    ``stablehlo.dynamic_reshape``.
    """
    name = "dynamic_reshape"
    x, old = _parts(name, operand)
    bounds = checks.sizes(name, "new_size_bounds", new_size_bounds)
    if isinstance(dim_sizes, str) or not isinstance(dim_sizes, Sequence):
        raise TypeError(
            f"{name}: dim_sizes must be a sequence of scalars, got "
            f"{checks.describe(dim_sizes)}"
        )
    if not isinstance(dims_are_dynamic, (Sequence, np.ndarray)):
        raise TypeError(
            f"{name}: dims_are_dynamic must be a sequence of bools, got "
            f"{checks.describe(dims_are_dynamic)}"
        )
    flags = [
        checks.boolean(name, f"dims_are_dynamic[{i}]", flag)
        for i, flag in enumerate(dims_are_dynamic)
    ]
    if not len(dim_sizes) == len(bounds) == len(flags):
        raise ValueError(
            f"{name}: dim_sizes, new_size_bounds and dims_are_dynamic must have one "
            f"entry for each new dimension, got {len(dim_sizes)}, {len(bounds)} and "
            f"{len(flags)}"
        )
    if math.prod(bounds) != x.size:
        raise ValueError(
            f"{name}: new_size_bounds must have the {x.size} elements of operand "
            f"{x.shape}, got {bounds}, which has {math.prod(bounds)}"
        )
    given = [
        _size(name, f"dim_sizes[{i}]", size, bound)
        for i, (size, bound) in enumerate(zip(dim_sizes, bounds, strict=True))
    ]
    new = [s if flag else None for s, flag in zip(given, flags, strict=True)]
    if x.size == 0 or not any(s is not None for s in (*old[1:], *new[1:])):
        # Where only the first sizes are dynamic, all elements stay in their order.
        return bounded.wrapped(lax.reshape(x, bounds), new)
    if x.size > _INT32_MAX:
        raise ValueError(
            f"{name}: operand must have at most {_INT32_MAX} elements where other than "
            f"first dimensions are dynamic, got {x.size}"
        )
    # Of each element of the result: how many come before it, and where the operand has
    # the element that as many come before.
    number = _zeros(bounds)
    for d, n in enumerate(_extents(new, bounds)):
        number = number * n + lax.broadcasted_iota(np.int32, bounds, d)
    place, step = _zeros(bounds), 1
    extents = _extents(old, x.shape)
    for d in reversed(range(x.ndim)):
        n = extents[d]
        index = number if d == 0 else lax.rem(number, lax.full_like(number, 0) + n)
        number = lax.div(number, lax.full_like(number, 0) + n)
        place = place + index * np.int32(step)
        step *= x.shape[d]
    taken = jnp.take(lax.reshape(x, (x.size,)), place, mode="clip")
    return bounded.wrapped(taken, new)


def _zeros(shape: Sequence[int]) -> Array:
    return lax.full(tuple(shape), 0, np.int32)


def _extents(sizes: Sequence[Array | None], bounds: Sequence[int]) -> list[Any]:
    """Sizes to count with: none is zero, by which nothing could be divided."""
    one = np.int32(1)
    return [
        np.int32(max(n, 1)) if size is None else lax.max(size, one)
        for size, n in zip(sizes, bounds, strict=True)
    ]


def _parts(operation: str, operand: Any) -> tuple[Array, list[Array | None]]:
    """The data of an operand and its sizes."""
    if isinstance(operand, BoundedArray):
        limited = bounded.checked(operation, "operand", operand)
        return limited.data, list(limited.sizes)
    x = checks.array(operation, "operand", operand)
    return x, [None] * x.ndim


def _dimension(operation: str, dimension: Any, rank: int) -> int:
    number = checks.integer(operation, "dimension", dimension)
    return checks.dimension(operation, "dimension", number, rank)


def _size(operation: str, parameter: str, value: Any, bound: int) -> Array:
    """A size as an S32 scalar between 0 and the bound."""
    if type(value) is int:
        if not 0 <= value <= bound:
            raise ValueError(
                f"{operation}: {parameter} must be from 0 to the bound {bound}, got "
                f"{value}"
            )
        if bound > _INT32_MAX:
            raise ValueError(
                f"{operation}: {parameter} must belong to a dimension whose bound fits "
                f"into s32, got {bound}"
            )
        return jnp.asarray(value, np.int32)
    size = checks.array(operation, parameter, value)
    if size.ndim or size.dtype != np.int32:
        raise TypeError(
            f"{operation}: {parameter} must be an s32 scalar, got "
            f"{checks.describe(size)}"
        )
    # A traced Python int would leave its weak type, which loops do not keep.
    size = lax.convert_element_type(size, np.int32)
    return lax.clamp(np.int32(0), size, np.int32(min(bound, _INT32_MAX)))
