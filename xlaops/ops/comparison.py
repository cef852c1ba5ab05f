"""Element-wise comparisons."""

import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import broadcasting, checks
from ..core.operation import operation
from ..core.typing import Dims
from ..types import ComparisonDirection, ComparisonType


@operation(broadcast_dimensions=checks.integers)
def eq(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Whether elements are equal.

    NaN equals nothing, itself included; -0 equals +0.

    Args:
      lhs: array of integer, floating-point, complex or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.eq(jnp.array([1.0, 2.0, jnp.nan]), 2.0)
      Array([False,  True, False], dtype=bool)

    Source: *Eq* in XLA's Operation semantics; ``stablehlo.compare EQ``.
    """
    x, y = broadcasting.binary("eq", lhs, rhs, broadcast_dimensions, "biufc")
    return lax.eq(x, y)


@operation(broadcast_dimensions=checks.integers)
def ne(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Whether elements differ.

    NaN differs from everything, itself included; -0 equals +0.

    Args:
      lhs: array of integer, floating-point, complex or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.ne(jnp.array([1.0, 2.0, jnp.nan]), 2.0)
      Array([ True, False,  True], dtype=bool)

    Source: *Ne* in XLA's Operation semantics; ``stablehlo.compare NE``.
    """
    x, y = broadcasting.binary("ne", lhs, rhs, broadcast_dimensions, "biufc")
    return lax.ne(x, y)


@operation(broadcast_dimensions=checks.integers)
def ge(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise comparison ``lhs >= rhs``.

    False where either operand is NaN; -0 equals +0.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.ge(jnp.array([1.0, 2.0, jnp.nan]), 2.0)
      Array([False,  True, False], dtype=bool)

    Source: *Ge* in XLA's Operation semantics; ``stablehlo.compare GE``.
    """
    x, y = broadcasting.binary("ge", lhs, rhs, broadcast_dimensions, "biuf")
    return lax.ge(x, y)


@operation(broadcast_dimensions=checks.integers)
def gt(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise comparison ``lhs > rhs``.

    False where either operand is NaN; -0 equals +0.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.gt(jnp.array([1.0, 2.0, jnp.nan]), 2.0)
      Array([False, False, False], dtype=bool)

    Source: *Gt* in XLA's Operation semantics; ``stablehlo.compare GT``.
    """
    x, y = broadcasting.binary("gt", lhs, rhs, broadcast_dimensions, "biuf")
    return lax.gt(x, y)


@operation(broadcast_dimensions=checks.integers)
def le(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise comparison ``lhs <= rhs``.

    False where either operand is NaN; -0 equals +0.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.le(jnp.array([1.0, 2.0, jnp.nan]), 2.0)
      Array([ True,  True, False], dtype=bool)

    Source: *Le* in XLA's Operation semantics; ``stablehlo.compare LE``.
    """
    x, y = broadcasting.binary("le", lhs, rhs, broadcast_dimensions, "biuf")
    return lax.le(x, y)


@operation(broadcast_dimensions=checks.integers)
def lt(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise comparison ``lhs < rhs``.

    False where either operand is NaN; -0 equals +0.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.lt(jnp.array([1.0, 2.0, jnp.nan]), 2.0)
      Array([ True, False, False], dtype=bool)

    Source: *Lt* in XLA's Operation semantics; ``stablehlo.compare LT``.
    """
    x, y = broadcasting.binary("lt", lhs, rhs, broadcast_dimensions, "biuf")
    return lax.lt(x, y)


@operation(broadcast_dimensions=checks.integers)
def eq_total_order(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Whether elements are the same in the total order.

    Floating-point numbers are ordered -NaN < -Inf < negative < -0 < +0 < positive <
    +Inf < +NaN. Integers and PRED are compared as always.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.eq_total_order(jnp.array([-0.0, jnp.nan]), jnp.array([0.0, jnp.nan]))
      Array([False,  True], dtype=bool)

    Source: *Eq* in XLA's Operation semantics; ``stablehlo.compare`` of integers.
    """
    x, y = broadcasting.binary("eq_total_order", lhs, rhs, broadcast_dimensions, "biuf")
    return _total_order("EQ", x, y)


@operation(broadcast_dimensions=checks.integers)
def ne_total_order(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Whether elements differ in the total order.

    Floating-point numbers are ordered -NaN < -Inf < negative < -0 < +0 < positive <
    +Inf < +NaN. Integers and PRED are compared as always.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.ne_total_order(jnp.array([-0.0, jnp.nan]), jnp.array([0.0, jnp.nan]))
      Array([ True, False], dtype=bool)

    Source: *Ne* in XLA's Operation semantics; ``stablehlo.compare`` of integers.
    """
    x, y = broadcasting.binary("ne_total_order", lhs, rhs, broadcast_dimensions, "biuf")
    return _total_order("NE", x, y)


@operation(broadcast_dimensions=checks.integers)
def ge_total_order(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Element-wise comparison ``lhs >= rhs`` in the total order.

    Floating-point numbers are ordered -NaN < -Inf < negative < -0 < +0 < positive <
    +Inf < +NaN. Integers and PRED are compared as always.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.ge_total_order(jnp.array([-0.0, jnp.nan]), jnp.array([0.0, jnp.nan]))
      Array([False,  True], dtype=bool)

    Source: *Ge* in XLA's Operation semantics; ``stablehlo.compare`` of integers.
    """
    x, y = broadcasting.binary("ge_total_order", lhs, rhs, broadcast_dimensions, "biuf")
    return _total_order("GE", x, y)


@operation(broadcast_dimensions=checks.integers)
def gt_total_order(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Element-wise comparison ``lhs > rhs`` in the total order.

    Floating-point numbers are ordered -NaN < -Inf < negative < -0 < +0 < positive <
    +Inf < +NaN. Integers and PRED are compared as always.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.gt_total_order(jnp.array([-0.0, jnp.nan]), jnp.array([0.0, jnp.nan]))
      Array([False, False], dtype=bool)

    Source: *Gt* in XLA's Operation semantics; ``stablehlo.compare`` of integers.
    """
    x, y = broadcasting.binary("gt_total_order", lhs, rhs, broadcast_dimensions, "biuf")
    return _total_order("GT", x, y)


@operation(broadcast_dimensions=checks.integers)
def le_total_order(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Element-wise comparison ``lhs <= rhs`` in the total order.

    Floating-point numbers are ordered -NaN < -Inf < negative < -0 < +0 < positive <
    +Inf < +NaN. Integers and PRED are compared as always.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.le_total_order(jnp.array([-0.0, jnp.nan]), jnp.array([0.0, jnp.nan]))
      Array([ True,  True], dtype=bool)

    Source: *Le* in XLA's Operation semantics; ``stablehlo.compare`` of integers.
    """
    x, y = broadcasting.binary("le_total_order", lhs, rhs, broadcast_dimensions, "biuf")
    return _total_order("LE", x, y)


@operation(broadcast_dimensions=checks.integers)
def lt_total_order(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Element-wise comparison ``lhs < rhs`` in the total order.

    Floating-point numbers are ordered -NaN < -Inf < negative < -0 < +0 < positive <
    +Inf < +NaN. Integers and PRED are compared as always.

    Args:
      lhs: array of integer, floating-point or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A PRED (bool) array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.lt_total_order(jnp.array([-0.0, jnp.nan]), jnp.array([0.0, jnp.nan]))
      Array([ True, False], dtype=bool)

    Source: *Lt* in XLA's Operation semantics; ``stablehlo.compare`` of integers.
    """
    x, y = broadcasting.binary("lt_total_order", lhs, rhs, broadcast_dimensions, "biuf")
    return _total_order("LT", x, y)


@operation(
    broadcast_dimensions=checks.integers,
    direction=checks.optional(checks.coerced(ComparisonDirection.coerce)),
    type=checks.optional(checks.coerced(ComparisonType.coerce)),
)
def compare(
    lhs: ArrayLike,
    rhs: ArrayLike,
    broadcast_dimensions: Dims = (),
    direction: ComparisonDirection | str | None = None,
    type: ComparisonType | str | None = None,
) -> Array:
    """Element-wise comparison in a given direction.

    Args:
      lhs: array of integer, floating-point, complex (EQ and NE only) or PRED elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.
      direction: a `xlaops.ComparisonDirection` or its name: ``"EQ"``, ``"NE"``,
        ``"GE"``, ``"GT"``, ``"LE"`` or ``"LT"``. Required.
      type: a `xlaops.ComparisonType` or its name. None is the usual one of the element
        type; ``"TOTALORDER"`` orders floating-point numbers totally; ``"FLOAT"``,
        ``"SIGNED"`` and ``"UNSIGNED"`` only state what the element type implies.

    Returns:
      A PRED (bool) array of the operands' broadcast shape.

    Raises:
      TypeError: if ``direction`` is missing, if the element types differ, do not fit
        ``type`` or have no order, or if the shapes do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks, or if
        ``direction`` or ``type`` is unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.compare(jnp.array([1, 2, 3]), 2, direction="LE")
      Array([ True,  True, False], dtype=bool)

    Source: *Compare* in XLA's Operation semantics; ``stablehlo.compare``.
    """
    if direction is None:
        raise TypeError(
            "compare: direction must be one of EQ, NE, GE, GT, LE and LT, got None"
        )
    direction = ComparisonDirection.coerce(direction)
    allowed = "biufc" if direction.value in ("EQ", "NE") else "biuf"
    x, y = broadcasting.binary("compare", lhs, rhs, broadcast_dimensions, allowed)
    if type is None:
        return _PARTIAL[direction.value](x, y)
    type = ComparisonType.coerce(type)
    if checks.kind(x.dtype) not in _KINDS_OF_TYPE[type.value]:
        raise TypeError(
            f"compare: type must fit the element type {x.dtype} of lhs, "
            f"got {type.value}"
        )
    if type is ComparisonType.TOTALORDER:
        return _total_order(direction.value, x, y)
    return _PARTIAL[direction.value](x, y)


_PARTIAL = {
    "EQ": lax.eq,
    "NE": lax.ne,
    "GE": lax.ge,
    "GT": lax.gt,
    "LE": lax.le,
    "LT": lax.lt,
}

# XLA compares PRED as unsigned integers.
_KINDS_OF_TYPE = {"FLOAT": "fc", "TOTALORDER": "f", "SIGNED": "i", "UNSIGNED": "ub"}


def _total_order(direction: str, x: Array, y: Array) -> Array:
    if checks.kind(x.dtype) == "f":
        x, y = _ordered_bits(x), _ordered_bits(y)
    return _PARTIAL[direction](x, y)


def _ordered_bits(x: Array) -> Array:
    """Integers in the total order of floating-point numbers.

    StableHLO has a comparison in total order, but XLA folds it as a partial one when
    both operands are constants.
    """
    if x.dtype.name not in _SIGN_AND_MAGNITUDE:
        x = lax.convert_element_type(x, "float32")  # exact, and orders what there is
    bits = lax.bitcast_convert_type(x, f"int{checks.bit_width(x.dtype)}")
    # Of a negative number the larger magnitude comes first.
    flipped = lax.bitwise_xor(bits, lax.full_like(bits, jnp.iinfo(bits.dtype).max))
    return lax.select(lax.lt(bits, lax.full_like(bits, 0)), flipped, bits)


# Those that have a sign bit with both zeros, or NaNs of both signs.
_SIGN_AND_MAGNITUDE = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "float8_e5m2",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e3m4",
)


@operation()
def is_finite(operand: ArrayLike) -> Array:
    """Whether elements are neither infinite nor NaN.

    Args:
      operand: floating-point array of any shape.

    Returns:
      A PRED (bool) array of the shape of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.is_finite(jnp.array([1.0, jnp.inf, jnp.nan]))
      Array([ True, False, False], dtype=bool)

    Source: *IsFinite* in XLA's Operation semantics; ``stablehlo.is_finite``.
    """
    return lax.is_finite(checks.operand("is_finite", "operand", operand, "f"))
