"""Arrays rearranged: reshape, transpose, concatenation and padding."""

import functools
import inspect
import math
from collections.abc import Sequence
from typing import overload

import jax
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.compat import Tracer
from ..core.operation import operation
from ..core.typing import Dims, PaddingConfigLike, ShapeLike
from ..types import PaddingConfig, Shape


@overload
def reshape(operand: ArrayLike, dimensions: Dims) -> Array: ...


@overload
def reshape(shape: ShapeLike, operand: ArrayLike) -> Array: ...


def reshape(*args, **kwargs):  # noqa: D417
    """The elements of an array in another shape, in row-major order.

    There are two forms: ``reshape(operand, dimensions)``, and with an explicit shape
    first, ``reshape(shape, operand)``.

    Args:
      operand: array of any element type.
      dimensions: the new sizes; their product is the number of elements.
      shape: the new shape as `xlaops.Shape`, `jax.ShapeDtypeStruct` or text such as
        ``"f32[2,3]"``. Its element type is that of ``operand``. A layout in it is
        ignored: XLA chooses layouts inside a JAX program.

    Returns:
      An array of the new shape.

    Raises:
      TypeError: if ``operand`` is no array or has another element type than ``shape``.
      ValueError: if the numbers of elements differ or a size is negative.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.reshape(jnp.arange(6), (2, 3))
      Array([[0, 1, 2],
             [3, 4, 5]], dtype=int32)
      >>> xo.reshape("s32[3,2]", jnp.arange(6))
      Array([[0, 1],
             [2, 3],
             [4, 5]], dtype=int32)

    Source: *Reshape* and *Reshape (explicit)* in XLA's Operation semantics;
    ``stablehlo.reshape``.
    """
    explicit = "shape" in kwargs or isinstance(
        args[0] if args else None, (Shape, jax.ShapeDtypeStruct, str)
    )
    if not explicit:
        return _reshape(*args, **kwargs)
    try:
        bound = inspect.signature(_reshape_explicit).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"reshape: {error}") from None
    return _reshape_explicit(*bound.args)


def _reshape_to(x: Array, parameter: str, sizes: Sequence[int]) -> Array:
    if math.prod(sizes) != x.size:
        raise ValueError(
            f"reshape: {parameter} must have the {x.size} elements of operand "
            f"{x.shape}, got {tuple(sizes)}, which has {math.prod(sizes)}"
        )
    return lax.reshape(x, tuple(sizes))


@operation("reshape", dimensions=checks.sizes)
def _reshape(operand: ArrayLike, dimensions: Dims) -> Array:
    return _reshape_to(
        checks.array("reshape", "operand", operand), "dimensions", dimensions
    )


@operation("reshape", shape=checks.array_shape)
def _reshape_operand(operand: ArrayLike, shape: ShapeLike) -> Array:
    x = checks.array("reshape", "operand", operand)
    wanted = Shape.coerce(shape)
    if x.dtype != wanted.dtype:
        raise TypeError(
            f"reshape: shape must have the element type {x.dtype} of operand, "
            f"got {wanted}"
        )
    return _reshape_to(x, "shape", wanted.dimensions)


def _reshape_explicit(shape: ShapeLike, operand: ArrayLike) -> Array:
    return _reshape_operand(operand, shape)


@operation(permutation=checks.integers)
def transpose(operand: ArrayLike, permutation: Dims) -> Array:
    """An array with its dimensions permuted.

    Args:
      operand: array of any element type.
      permutation: dimension ``i`` of the result is dimension ``permutation[i]`` of
        ``operand``.

    Returns:
      An array of sizes ``operand.shape[permutation[i]]``.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if ``permutation`` is no permutation of its dimensions.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.transpose(jnp.zeros((2, 3, 5)), (2, 0, 1)).shape
      (5, 2, 3)

    Source: *Transpose* in XLA's Operation semantics; ``stablehlo.transpose``.
    """
    x = checks.array("transpose", "operand", operand)
    if sorted(permutation) != list(range(x.ndim)):
        raise ValueError(
            f"transpose: permutation must be a permutation of {tuple(range(x.ndim))} "
            f"for operand {x.shape}, got {permutation}"
        )
    return lax.transpose(x, permutation)


@operation(dimension=checks.integer)
def concat_in_dim(operands: Sequence[ArrayLike], dimension: int) -> Array:
    """Arrays joined along one of their dimensions.

    Args:
      operands: one or more arrays of one element type and of one rank, at least 1,
        whose sizes are equal except in ``dimension``.
      dimension: the dimension to join along, in ``[0, rank)``.

    Returns:
      An array whose size in ``dimension`` is the sum of the operands'.

    Raises:
      TypeError: if ranks, element types or the other sizes differ.
      ValueError: if there are no operands, or ``dimension`` is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.concat_in_dim([jnp.array([[1, 2]]), jnp.array([[3, 4], [5, 6]])], 0)
      Array([[1, 2],
             [3, 4],
             [5, 6]], dtype=int32)

    Source: *ConcatInDim (Concatenate)* in XLA's Operation semantics;
    ``stablehlo.concatenate``.
    """
    xs = checks.arrays("concat_in_dim", "operands", operands)
    first = xs[0]
    if first.ndim == 0:
        raise TypeError("concat_in_dim: operands must have rank 1 or more, got scalars")
    checks.dimension("concat_in_dim", "dimension", dimension, first.ndim)
    for i, x in enumerate(xs):
        if x.dtype != first.dtype:
            raise TypeError(
                f"concat_in_dim: operands must have the same element type, got "
                f"{first.dtype} and, in operands[{i}], {x.dtype}"
            )
        if x.ndim != first.ndim or any(
            m != n
            for d, (m, n) in enumerate(zip(x.shape, first.shape, strict=True))
            if d != dimension
        ):
            raise TypeError(
                f"concat_in_dim: operands must have the same sizes except in dimension "
                f"{dimension}, got {first.shape} and, in operands[{i}], {x.shape}"
            )
    if checks.kind(first.dtype) in "iu" and checks.bit_width(first.dtype) < 4:
        # XLA:CPU fails a check and ends the process.
        bytes_ = [lax.convert_element_type(x, "int8") for x in xs]
        return lax.convert_element_type(lax.concatenate(bytes_, dimension), first.dtype)
    return lax.concatenate(xs, dimension)


def _triples(
    operation: str, parameter: str, value: PaddingConfigLike
) -> tuple[tuple[int, int, int], ...]:
    # Plain tuples: as part of the key of a compiled program they compare fastest.
    config = checks.coerced(PaddingConfig.coerce)(operation, parameter, value)
    return tuple(
        (d.edge_padding_low, d.edge_padding_high, d.interior_padding)
        for d in config.dimensions
    )


@operation(padding_config=_triples)
def pad(
    operand: ArrayLike, padding_value: ArrayLike, padding_config: PaddingConfigLike
) -> Array:
    """An array with a value added at its edges and between its elements.

    Interior padding is applied first; negative edge padding then removes elements,
    those of the interior padding included.

    Args:
      operand: array of any element type.
      padding_value: scalar of the element type of ``operand``.
      padding_config: for each dimension ``(low, high, interior)``, as
        `xlaops.PaddingConfig` or what it is made of. ``low`` and ``high`` elements are
        added (negative: removed) at the edges, ``interior`` (not negative) between any
        two elements.

    Returns:
      An array of size ``low + high + n + max(n - 1, 0) * interior`` in each dimension.

    Raises:
      TypeError: if element types differ or ``padding_value`` is no scalar.
      ValueError: if ``padding_config`` has not one entry for each dimension, an
        interior padding is negative, or more is removed than there is.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.pad(jnp.array([1, 2, 3]), 0, [(-1, 2, 1)])
      Array([0, 2, 0, 3, 0, 0], dtype=int32)

    Source: *Pad* in XLA's Operation semantics; ``stablehlo.pad``.
    """
    x, value = checks.same_element_type(
        "pad", operand=operand, padding_value=padding_value
    )
    checks.element_kind("pad", "operand", x, "biufc")
    if value.ndim:
        raise TypeError(
            f"pad: padding_value must be a scalar, got {checks.describe(value)}"
        )
    config = _triples("pad", "padding_config", padding_config)
    if len(config) != x.ndim:
        raise ValueError(
            f"pad: padding_config must have one entry for each dimension of operand "
            f"{x.shape}, got {config}"
        )
    for i, (n, (low, high, interior)) in enumerate(zip(x.shape, config, strict=True)):
        if low + high + n + max(n - 1, 0) * interior < 0:
            raise ValueError(
                f"pad: padding_config must not remove more than there is, got "
                f"{(low, high, interior)} for dimension {i} of operand {x.shape}"
            )
    if isinstance(value, Tracer) and checks.kind(value.dtype) in "fc":
        return _pad_with_traced_value(config, x, value)
    return lax.pad(x, value, config)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _pad_with_traced_value(
    config: tuple[tuple[int, int, int], ...], x: Array, value: Array
) -> Array:
    return lax.pad(x, value, config)


@_pad_with_traced_value.defjvp
def _pad_jvp(config, primals, tangents):
    # jax.lax's transposition fails when only the padding value has a derivative.
    (x, value), (dx, dvalue) = primals, tangents
    result = _pad_with_traced_value(config, x, value)
    is_element = lax.pad(lax.full_like(x, True, dtype=bool), np.False_, config)
    zero = lax.full_like(value, 0)
    tangent = lax.select(
        is_element, lax.pad(dx, zero, config), lax.broadcast(dvalue, result.shape)
    )
    return result, tangent
