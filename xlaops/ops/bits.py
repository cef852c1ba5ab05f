"""Element-wise operations on the bits of integers."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import broadcasting, checks
from ..core.compat import FOLDED_CLZ_COUNTS_SIGN_COPIES
from ..core.operation import operation
from ..core.typing import Dims


@operation(broadcast_dimensions=checks.integers)
def shift_left(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Element-wise shift towards the more significant bits.

    Zeros move in. An amount that is negative or not below the width gives 0.

    Args:
      lhs: array of integer elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      An array of the operands' element type and their broadcast shape: sizes are equal
      or one of them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.shift_left(jnp.array([1, 1, 1]), jnp.array([4, 32, -1]))
      Array([16,  0,  0], dtype=int32)

    Source: *ShiftLeft* in XLA's Operation semantics; ``stablehlo.shift_left``.
    """
    x, y = broadcasting.binary("shift_left", lhs, rhs, broadcast_dimensions, "iu")
    return lax.shift_left(x, y)


@operation(broadcast_dimensions=checks.integers)
def shift_right_arithmetic(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Element-wise shift towards the less significant bits that keeps the sign.

    Copies of the top bit move in, also into unsigned integers. An amount that is
    negative or not below the width leaves nothing but that bit.

    Args:
      lhs: array of integer elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      An array of the operands' element type and their broadcast shape: sizes are equal
      or one of them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.shift_right_arithmetic(jnp.array([-8, -8, 8]), jnp.array([1, 32, 40]))
      Array([-4, -1,  0], dtype=int32)

    Source: *ShiftRightArithmetic* in XLA's Operation semantics;
    ``stablehlo.shift_right_arithmetic``.
    """
    x, y = broadcasting.binary(
        "shift_right_arithmetic", lhs, rhs, broadcast_dimensions, "iu"
    )
    return lax.shift_right_arithmetic(x, y)


@operation(broadcast_dimensions=checks.integers)
def shift_right_logical(
    lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()
) -> Array:
    """Element-wise shift towards the less significant bits.

    Zeros move in. An amount that is negative or not below the width gives 0.

    Args:
      lhs: array of integer elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      An array of the operands' element type and their broadcast shape: sizes are equal
      or one of them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.shift_right_logical(jnp.array([-8, -8]), jnp.array([1, 32]))
      Array([2147483644,          0], dtype=int32)

    Source: *ShiftRightLogical* in XLA's Operation semantics;
    ``stablehlo.shift_right_logical``.
    """
    x, y = broadcasting.binary(
        "shift_right_logical", lhs, rhs, broadcast_dimensions, "iu"
    )
    return lax.shift_right_logical(x, y)


@operation(broadcast_dimensions=checks.integers)
def mulhi(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise more significant half of the product.

    The product of two numbers of n bits has 2n bits: these are the upper n, and those
    of `xlaops.mul` the lower n.

    Args:
      lhs: array of integer elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      An array of the operands' element type and their broadcast shape: sizes are equal
      or one of them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.mulhi(jnp.array([2**31 - 1, -1]), 4)
      Array([ 1, -1], dtype=int32)

    Source: ``Mulhi`` of ``xla_builder.h``; ``chlo.mulhi``.
    """
    x, y = broadcasting.binary("mulhi", lhs, rhs, broadcast_dimensions, "iu")
    # Not jax.lax's: XLA refuses chlo.mulhi in programs for several devices, and its
    # results of less than eight bits are wrong.
    width = checks.bit_width(x.dtype)
    if width <= 16:
        wide = "int32" if checks.kind(x.dtype) == "i" else "uint32"
        product = lax.mul(*(lax.convert_element_type(v, wide) for v in (x, y)))
        # The lower bits are all that is kept: the kind of shift does not count.
        high = lax.shift_right_arithmetic(product, lax.full_like(product, width))
        return lax.convert_element_type(high, x.dtype)
    return _high_half(x, y, width // 2)


def _high_half(x: Array, y: Array, half: int) -> Array:
    """From four products of halves, the upper ones of which have the sign."""
    signed = checks.kind(x.dtype) == "i"
    shift = lax.shift_right_arithmetic if signed else lax.shift_right_logical

    def low(v: Array) -> Array:
        return lax.bitwise_and(v, lax.full_like(v, (1 << half) - 1))

    def high(v: Array) -> Array:
        return shift(v, lax.full_like(v, half))

    lowest = lax.mul(low(x), low(y))
    carry = lax.shift_right_logical(lowest, lax.full_like(lowest, half))
    first = lax.add(lax.mul(high(x), low(y)), carry)
    second = lax.add(lax.mul(low(x), high(y)), low(first))
    return lax.add(lax.add(lax.mul(high(x), high(y)), high(first)), high(second))


@operation()
def clz(operand: ArrayLike) -> Array:
    """Element-wise number of leading zero bits.

    Args:
      operand: integer array of any shape.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of integer elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.clz(jnp.array([0, 1, -1]))
      Array([32, 31,  0], dtype=int32)

    Source: *Clz* in XLA's Operation semantics; ``stablehlo.count_leading_zeros``.
    """
    x = checks.operand("clz", "operand", operand, "iu")
    if FOLDED_CLZ_COUNTS_SIGN_COPIES and checks.kind(x.dtype) == "i":
        unsigned = lax.bitcast_convert_type(x, f"u{x.dtype.name}")
        return lax.bitcast_convert_type(lax.clz(unsigned), x.dtype)
    return lax.clz(x)


@operation()
def population_count(operand: ArrayLike) -> Array:
    """Element-wise number of bits that are set.

    Args:
      operand: integer array of any shape.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of integer elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.population_count(jnp.array([0, 7, -1]))
      Array([ 0,  3, 32], dtype=int32)

    Source: *PopulationCount* in XLA's Operation semantics; ``stablehlo.popcnt``.
    """
    x = checks.operand("population_count", "operand", operand, "iu")
    bits = checks.bit_width(x.dtype)
    if bits < 8:
        # XLA counts those of the byte that it keeps it in, copies of the sign too.
        byte = lax.convert_element_type(x, "int8")
        byte = lax.bitwise_and(byte, lax.full_like(byte, (1 << bits) - 1))
        return lax.convert_element_type(lax.population_count(byte), x.dtype)
    return lax.population_count(x)
