"""Arrays rearranged: reshape, transpose, concatenation and padding."""

import functools
import inspect
import itertools
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
    checks.addressable("reshape", parameter, sizes, x.dtype)
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
      operand: array of numbers or PRED.
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
    return _padded("pad", "padding_config", x, value, config)


def _padded(
    operation: str,
    parameter: str,
    x: Array,
    value: Array,
    config: tuple[tuple[int, int, int], ...],
) -> Array:
    # XLA counts what is added before it removes anything.
    sizes = [
        n + max(n - 1, 0) * interior + max(low, 0) + max(high, 0)
        for n, (low, high, interior) in zip(x.shape, config, strict=True)
    ]
    checks.addressable(operation, parameter, sizes, x.dtype)
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


@operation(
    dimno=checks.integer,
    pad_lo=checks.integer,
    pad_hi=checks.integer,
)
def pad_in_dim(
    operand: ArrayLike, padding_value: ArrayLike, dimno: int, pad_lo: int, pad_hi: int
) -> Array:
    """An array with a value added at both edges of one dimension.

    Args:
      operand: array of numbers or PRED.
      padding_value: scalar of the element type of ``operand``.
      dimno: the dimension, in ``[0, rank)``.
      pad_lo: number of elements added before the first; negative: removed.
      pad_hi: number of elements added after the last; negative: removed.

    Returns:
      An array whose size in ``dimno`` is larger by ``pad_lo + pad_hi``.

    Raises:
      TypeError: if element types differ or ``padding_value`` is no scalar.
      ValueError: if ``dimno`` is out of range or more is removed than there is.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.pad_in_dim(jnp.array([1, 2]), 0, 0, 1, 2)
      Array([0, 1, 2, 0, 0], dtype=int32)

    Source: ``PadInDim`` of ``xla_builder.h``; ``stablehlo.pad``.
    """
    x, value = checks.same_element_type(
        "pad_in_dim", operand=operand, padding_value=padding_value
    )
    checks.element_kind("pad_in_dim", "operand", x, "biufc")
    checks.dimension("pad_in_dim", "dimno", dimno, x.ndim)
    if value.ndim:
        raise TypeError(
            f"pad_in_dim: padding_value must be a scalar, got {checks.describe(value)}"
        )
    if pad_lo + pad_hi + x.shape[dimno] < 0:
        raise ValueError(
            f"pad_in_dim: pad_lo and pad_hi must not remove more than there is, got "
            f"{pad_lo} and {pad_hi} for dimension {dimno} of operand {x.shape}"
        )
    config = [(0, 0, 0)] * x.ndim
    config[dimno] = (pad_lo, pad_hi, 0)
    return _padded("pad_in_dim", "pad_lo and pad_hi", x, value, tuple(config))


@operation(dimensions=checks.integers)
def collapse(operand: ArrayLike, dimensions: Dims) -> Array:
    """An array with consecutive dimensions made one.

    Args:
      operand: array of any element type.
      dimensions: dimensions of ``operand`` in order and without a gap; with one or none
        the result is ``operand``.

    Returns:
      An array with one dimension, of the product of their sizes, in their place.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if ``dimensions`` is not consecutive or out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.collapse(jnp.zeros((4, 2, 3)), (1, 2)).shape
      (4, 6)

    Source: *Collapse* in XLA's Operation semantics; ``stablehlo.reshape``.
    """
    x = checks.array("collapse", "operand", operand)
    dims = tuple(dimensions)
    checks.distinct_dimensions("collapse", "dimensions", dims, x.ndim)
    if any(b != a + 1 for a, b in itertools.pairwise(dims)):
        raise ValueError(
            f"collapse: dimensions must be consecutive and in order, got {dims}"
        )
    if len(dims) < 2:
        return x
    return lax.collapse(x, dims[0], dims[-1] + 1)


@operation(dimensions=checks.integers)
def rev(operand: ArrayLike, dimensions: Dims) -> Array:
    """An array with the order of elements reversed in some dimensions.

    Args:
      operand: array of any element type.
      dimensions: different dimensions of ``operand``.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if ``dimensions`` repeats one or leaves the range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.rev(jnp.array([[1, 2], [3, 4]]), (0,))
      Array([[3, 4],
             [1, 2]], dtype=int32)

    Source: *Rev (reverse)* in XLA's Operation semantics; ``stablehlo.reverse``.
    """
    x = checks.array("rev", "operand", operand)
    checks.distinct_dimensions("rev", "dimensions", dimensions, x.ndim)
    return lax.rev(x, dimensions)


@operation(new_sizes=checks.integers, inferred_dimension=checks.integer)
def reshape_with_inferred_dimension(
    operand: ArrayLike, new_sizes: Dims, inferred_dimension: int
) -> Array:
    """The elements of an array in another shape, one size of which follows.

    Args:
      operand: array of any element type.
      new_sizes: the new sizes; the one at ``inferred_dimension`` is not read.
      inferred_dimension: the dimension whose size is what the others leave, in
        ``[0, len(new_sizes))``; -1 if there is none.

    Returns:
      An array of the new shape.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if the elements do not fill the other sizes, or
        ``inferred_dimension`` is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.reshape_with_inferred_dimension(jnp.arange(6), (-1, 2), 0).shape
      (3, 2)

    Source: ``ReshapeWithInferredDimension`` of ``xla_builder.h``;
    ``stablehlo.reshape``.
    """
    operation = "reshape_with_inferred_dimension"
    x = checks.array(operation, "operand", operand)
    sizes = list(new_sizes)
    if not -1 <= inferred_dimension < len(sizes):
        raise ValueError(
            f"{operation}: inferred_dimension must be -1 or in [0, {len(sizes)}), "
            f"got {inferred_dimension}"
        )
    if inferred_dimension >= 0:
        sizes[inferred_dimension] = 1
        others = math.prod(sizes)
        if others > 0 and x.size % others == 0:
            sizes[inferred_dimension] = x.size // others
    if min(sizes, default=0) < 0 or math.prod(sizes) != x.size:
        raise ValueError(
            f"{operation}: new_sizes must have the {x.size} elements of operand "
            f"{x.shape}, got {tuple(new_sizes)}"
        )
    checks.addressable(operation, "new_sizes", sizes, x.dtype)
    return lax.reshape(x, tuple(sizes))
