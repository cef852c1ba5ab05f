"""Products of arrays that have scale factors for blocks of their elements."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, composites
from ..core.compat import batching
from ..core.operation import operation
from ..core.typing import DotDimensionNumbersLike, DTypeLike, PrecisionConfigLike
from ..types import DotDimensionNumbers, PrecisionConfig


@operation(
    alike=(),
    dimension_numbers=checks.coerced(DotDimensionNumbers.coerce),
    precision_config=checks.optional(checks.coerced(PrecisionConfig.coerce)),
    preferred_element_type=checks.optional(checks.element_type),
)
def scaled_dot(
    lhs: ArrayLike,
    lhs_scale: ArrayLike,
    rhs: ArrayLike,
    rhs_scale: ArrayLike,
    dimension_numbers: DotDimensionNumbersLike,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Sum of products of two arrays that are multiplied by scales before.

    A scale has the rank of its array, and its size in every dimension but the
    contracting ones: there it has a divisor of it, and each of its elements belongs to
    a block of consecutive elements of the array. So it is with microscaling formats,
    whose elements have 8 bits or fewer.

    The lowered program holds the composite ``xla.scaled_dot``, as that of
    `jax.lax.scaled_dot` does, also under `jax.vmap`; backends without such a product
    multiply by the scales first. The scaled arrays are held in bfloat16 where that is
    exact, which it is for the small formats, and otherwise in 32 bits (64 for such
    operands).

    It has derivatives with respect to both arrays and their scales; scales that are
    powers of two by their type (``f8e8m0fnu``) have none, as that type has no zero.

    Args:
      lhs: floating-point array.
      lhs_scale: floating-point array of the scales of ``lhs``; a scalar is the scale of
        everything.
      rhs: floating-point array.
      rhs_scale: likewise, of ``rhs``.
      dimension_numbers: which dimensions of each are contracted and which are batch
        dimensions, pairwise of equal size: a `xlaops.DotDimensionNumbers`, a mapping of
        its fields, or ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: floating-point element type to accumulate in and of the
        result; None is that in which the scaled arrays are held.

    Returns:
      An array with the batch dimensions, in the order given, then the remaining ones of
      ``lhs``, then those of ``rhs``.

    Raises:
      TypeError: if an operand is no floating-point array, or if paired sizes differ, or
        if a scale does not fit its array.
      ValueError: if ``dimension_numbers`` repeats dimensions or leaves the range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.ones((2, 4), "float8_e4m3fn")
      >>> scale = jnp.array([[1.0, 4.0], [2.0, 8.0]], "float8_e8m0fnu")
      >>> print(xo.scaled_dot(x, scale, x.T, 0.5, (((1,), (0,)), ((), ()))))
      [[ 5.  5.]
       [10. 10.]]

    Source: *ScaledDot* in XLA's Operation semantics, which gives the dimension numbers
    a type of another operation by mistake; ``stablehlo.composite``.
    """
    x = checks.operand("scaled_dot", "lhs", lhs, "f")
    y = checks.operand("scaled_dot", "rhs", rhs, "f")
    numbers = DotDimensionNumbers.coerce(dimension_numbers)
    _check_numbers(x, y, numbers)
    s = _scale("lhs_scale", lhs_scale, x, numbers.lhs_contracting_dimensions)
    t = _scale("rhs_scale", rhs_scale, y, numbers.rhs_contracting_dimensions)
    if preferred_element_type is None:
        preferred_element_type = _exact_type(x, y, s, t)
    elif checks.kind(preferred_element_type) != "f":
        raise TypeError(
            f"scaled_dot: preferred_element_type must be a floating-point type, got "
            f"{preferred_element_type}"
        )
    precision = PrecisionConfig.coerce(precision_config).to_lax()
    return _bind(
        (x, y, s, t),
        numbers=numbers,
        precision=precision,
        dtype=np.dtype(preferred_element_type),
    )


def _check_numbers(x: Array, y: Array, numbers: DotDimensionNumbers) -> None:
    pairs = {
        "contracting": (
            numbers.lhs_contracting_dimensions,
            numbers.rhs_contracting_dimensions,
        ),
        "batch": (numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions),
    }
    for role, sides in pairs.items():
        for side, dims, array in zip(("lhs", "rhs"), sides, (x, y), strict=True):
            name = f"{side}_{role}_dimensions"
            checks.distinct_dimensions("scaled_dot", name, dims, array.ndim)
    for role, sides in pairs.items():
        for i, j in zip(*sides, strict=True):
            if x.shape[i] != y.shape[j]:
                raise TypeError(
                    f"scaled_dot: {role} dimensions must have equal sizes, got "
                    f"{x.shape[i]} in dimension {i} of lhs {x.shape} and {y.shape[j]} "
                    f"in dimension {j} of rhs {y.shape}"
                )


def _scale(
    parameter: str, value: ArrayLike, array: Array, contracting: Sequence[int]
) -> Array:
    """The scale as an array of the rank of what it scales."""
    value = _typed(parameter, value)
    scale = checks.operand("scaled_dot", parameter, value, "f")
    if scale.ndim == 0:
        shape = [1 if d in contracting else n for d, n in enumerate(array.shape)]
        scale = lax.broadcast(scale, shape)
    fits = scale.ndim == array.ndim and all(
        n == m or (d in contracting and m and n % m == 0)
        for d, (n, m) in enumerate(zip(array.shape, scale.shape, strict=True))
    )
    if not fits:
        raise TypeError(
            f"scaled_dot: {parameter} must have the shape {array.shape} of "
            f"{parameter.removesuffix('_scale')}, or divisors of its sizes in the "
            f"contracting dimensions {tuple(contracting)}, got "
            f"{checks.describe(scale)}"
        )
    # The tangents of a type without a zero would have no zero either.
    return lax.stop_gradient(scale) if _mantissa(scale) == 0 else scale


def _typed(parameter: str, value: ArrayLike) -> ArrayLike:
    """A number of Python, which may be traced already, as one of 32 bits."""
    f32 = np.dtype(np.float32)
    if isinstance(value, (int, float)) and not isinstance(value, (bool, np.generic)):
        return checks.typed_scalar("scaled_dot", parameter, value, f32)
    if (
        isinstance(value, Array)
        and value.ndim == 0
        and jax.typeof(value).weak_type
        and checks.kind(value.dtype) in "if"
    ):
        return lax.convert_element_type(value, f32)
    return value


def _mantissa(x: Array) -> int:
    return jnp.finfo(x.dtype).nmant


def _exact_type(*operands: Array) -> np.dtype:
    """The type in which the arrays are scaled, which is exact for narrow ones."""
    x, y, s, t = operands
    if max(_mantissa(x) + _mantissa(s), _mantissa(y) + _mantissa(t)) <= 7:
        return np.dtype(jnp.bfloat16)
    is_wide = any(v.dtype == np.float64 for v in operands)
    return np.dtype(np.float64 if is_wide else np.float32)


def _bind(
    # In the order in which XLA knows those of the composite: the scales behind.
    operands: Sequence[Array],
    *,
    numbers: DotDimensionNumbers,
    precision: Any,
    dtype: np.dtype,
) -> Array:
    setting = {"numbers": numbers, "precision": precision, "dtype": dtype}
    decomposition = functools.partial(_scale_and_multiply, **setting)
    x, y, s, t = operands
    sizes = [
        (array.shape[d], scale.shape[d])
        for array, scale, dims in (
            (x, s, numbers.lhs_contracting_dimensions),
            (y, t, numbers.rhs_contracting_dimensions),
        )
        for d in dims
    ]
    blocks = [n // m if m else 0 for n, m in sizes]
    if not blocks or min(blocks) < 2:
        # Not what the composite is defined for.
        return decomposition(*operands)
    attributes = {
        "dimension_numbers": numbers.to_lax(),
        "preferred_element_type": dtype,
    }
    (result,) = composites.composite(
        jax.make_jaxpr(decomposition)(*operands),
        operands,
        name="xla.scaled_dot",
        attributes=composites.attributes_of(attributes),
        version=0,
        batch=functools.partial(_batch, **setting),
    )
    return result


def _scale_and_multiply(
    x: Array,
    y: Array,
    s: Array,
    t: Array,
    *,
    numbers: DotDimensionNumbers,
    precision: Any,
    dtype: np.dtype,
) -> Array:
    exact = _exact_type(x, y, s, t)
    return lax.dot_general(
        _scaled(x, s, exact),
        _scaled(y, t, exact),
        numbers.to_lax(),
        precision=precision,
        preferred_element_type=dtype,
    )


def _scaled(x: Array, scale: Array, dtype: np.dtype) -> Array:
    for d, (n, m) in enumerate(zip(x.shape, scale.shape, strict=True)):
        if n != m:
            shape = scale.shape
            dims = [i + (i > d) for i in range(scale.ndim)]
            blocks = (*shape[: d + 1], n // m, *shape[d + 1 :])
            spread = lax.broadcast_in_dim(scale, blocks, dims)
            scale = lax.reshape(spread, (*shape[:d], n, *shape[d + 1 :]))
    x, scale = (lax.convert_element_type(v, dtype) for v in (x, scale))
    return lax.mul(x, scale)


def _batch(
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    numbers: DotDimensionNumbers,
    precision: Any,
    dtype: np.dtype,
) -> tuple[Any, Any]:
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
    front = [
        batching.bdim_at_front(x, d, size) for x, d in zip(args, dims, strict=True)
    ]
    shifted = DotDimensionNumbers(
        tuple(d + 1 for d in numbers.lhs_contracting_dimensions),
        tuple(d + 1 for d in numbers.rhs_contracting_dimensions),
        (0, *(d + 1 for d in numbers.lhs_batch_dimensions)),
        (0, *(d + 1 for d in numbers.rhs_batch_dimensions)),
    )
    result = _bind(front, numbers=shifted, precision=precision, dtype=dtype)
    return [result], [0]
