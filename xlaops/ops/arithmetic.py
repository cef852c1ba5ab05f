"""Element-wise arithmetic."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.custom_derivatives import SymbolicZero
from jax.typing import ArrayLike

from ..core import broadcasting, checks, compat, primitive
from ..core.operation import operation
from ..core.typing import Dims


@operation(broadcast_dimensions=checks.integers)
def add(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise sum.

    Integers wrap around. The sum of PRED (bool) elements is their logical or.

    Args:
      lhs: array of integer, floating-point, complex or PRED elements.
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
      >>> x, y = jnp.array([1, 2, 3, 4]), jnp.array([[5, 6]])
      >>> xo.add(x, y, broadcast_dimensions=(0,))
      Array([[ 6,  7],
             [ 7,  8],
             [ 8,  9],
             [ 9, 10]], dtype=int32)

    Source: *Add* in XLA's Operation semantics; ``stablehlo.add``.
    """
    x, y = broadcasting.binary("add", lhs, rhs, broadcast_dimensions, "biufc")
    return lax.bitwise_or(x, y) if x.dtype == bool else lax.add(x, y)


@operation(broadcast_dimensions=checks.integers)
def sub(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise difference.

    Integers wrap around.

    Args:
      lhs: array of integer, floating-point or complex elements.
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
      >>> xo.sub(jnp.array([5, 3]), 4)
      Array([ 1, -1], dtype=int32)

    Source: *Sub* in XLA's Operation semantics; ``stablehlo.subtract``.
    """
    x, y = broadcasting.binary("sub", lhs, rhs, broadcast_dimensions, "iufc")
    return lax.sub(x, y)


@operation(broadcast_dimensions=checks.integers)
def mul(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise product.

    Integers wrap around. The product of PRED (bool) elements is their logical and.

    Args:
      lhs: array of integer, floating-point, complex or PRED elements.
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
      >>> xo.mul(jnp.array([1.0, 2.0]), jnp.array([[1.0], [10.0]]), (1,))
      Array([[ 1.,  2.],
             [10., 20.]], dtype=float32)

    Source: *Mul* in XLA's Operation semantics; ``stablehlo.multiply``.
    """
    x, y = broadcasting.binary("mul", lhs, rhs, broadcast_dimensions, "biufc")
    return lax.bitwise_and(x, y) if x.dtype == bool else lax.mul(x, y)


@operation(broadcast_dimensions=checks.integers)
def div(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise quotient.

    Integer quotients are truncated towards zero. The document leaves an integer divided
    by zero, and the smallest integer divided by -1, to the implementation: here the
    former is -1 (all bits set, also of unsigned types), the latter the smallest
    integer.

    Args:
      lhs: array of integer, floating-point or complex elements.
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
      >>> xo.div(jnp.array([7, -7]), 2)
      Array([ 3, -3], dtype=int32)

    Source: *Div* in XLA's Operation semantics; ``stablehlo.divide``.
    """
    x, y = broadcasting.binary("div", lhs, rhs, broadcast_dimensions, "iufc")
    if compat.FOLDING_DIVIDES_BY_ZERO and checks.kind(x.dtype) in "iu":
        return _guarded_division(lax.div, x, y, lambda x: lax.full_like(x, -1))
    return lax.div(x, y)


@operation(broadcast_dimensions=checks.integers)
def rem(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise remainder of the truncated division.

    It has the sign of the dividend. The document leaves integer remainders of a
    division by zero to the implementation: here the remainder is the dividend.

    Args:
      lhs: array of integer or floating-point elements.
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
      >>> xo.rem(jnp.array([7, -7]), jnp.array([-2, 2]))
      Array([ 1, -1], dtype=int32)

    Source: *Rem* in XLA's Operation semantics; ``stablehlo.remainder``.
    """
    x, y = broadcasting.binary("rem", lhs, rhs, broadcast_dimensions, "iuf")
    if compat.FOLDING_DIVIDES_BY_ZERO and checks.kind(x.dtype) in "iu":
        return _guarded_division(lax.rem, x, y, lambda x: x)
    return lax.rem(x, y)


@operation(broadcast_dimensions=checks.integers)
def max(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise maximum.

    NaN if either operand is; +0 is larger than -0. Complex numbers are compared by
    their real parts, then by their imaginary parts; with a NaN in a part that decides,
    the result is ``rhs``.

    Args:
      lhs: array of integer, floating-point, complex or PRED elements.
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
      >>> xo.max(jnp.array([1.0, jnp.nan]), 2.0)
      Array([ 2., nan], dtype=float32)

    Source: *Max* in XLA's Operation semantics; ``stablehlo.maximum``.
    """
    x, y = broadcasting.binary("max", lhs, rhs, broadcast_dimensions, "biufc")
    if checks.kind(x.dtype) == "c":
        return _complex_max(x, y)
    return lax.max(x, y)


@operation(broadcast_dimensions=checks.integers)
def min(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise minimum.

    NaN if either operand is; -0 is smaller than +0. Complex numbers are compared by
    their real parts, then by their imaginary parts; with a NaN in a part that decides,
    the result is ``rhs``.

    Args:
      lhs: array of integer, floating-point, complex or PRED elements.
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
      >>> xo.min(jnp.array([1.0, jnp.nan]), 2.0)
      Array([ 1., nan], dtype=float32)

    Source: *Min* in XLA's Operation semantics; ``stablehlo.minimum``.
    """
    x, y = broadcasting.binary("min", lhs, rhs, broadcast_dimensions, "biufc")
    if checks.kind(x.dtype) == "c":
        return _complex_min(x, y)
    return lax.min(x, y)


@operation(broadcast_dimensions=checks.integers)
def pow(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise power :math:`lhs^{rhs}`.

    An integer power wraps around; with a negative exponent it is 0, but for bases 1 and
    -1, whose powers are exact.

    Args:
      lhs: array of integer, floating-point or complex elements.
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
      >>> xo.pow(jnp.array([2.0, -8.0]), jnp.array([0.5, 3.0]))
      Array([   1.4142135, -512.       ], dtype=float32)
      >>> xo.pow(jnp.array([3, 2]), jnp.array([4, -1]))
      Array([81,  0], dtype=int32)

    Source: *Pow* in XLA's Operation semantics; ``stablehlo.power``.
    """
    x, y = broadcasting.binary("pow", lhs, rhs, broadcast_dimensions, "iufc")
    if checks.kind(x.dtype) == "i":
        base, exponent = broadcasting.stretched(x, y)
        if compat.FOLDED_POWER_IS_WRONG and not primitive.has_sharding_in_type(
            base, exponent
        ):
            return _power_with_sign(base, exponent)
        return _signed_power(base, exponent)
    if checks.kind(x.dtype) == "u":
        return _unsigned_power(*broadcasting.stretched(x, y))
    return _power(x, y)


@operation(broadcast_dimensions=checks.integers)
def atan2(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    r"""Element-wise angle of the point with ordinate ``lhs`` and abscissa ``rhs``.

    In radians and in :math:`[-\pi, \pi]`, with the quadrant of the point; the signs of
    zeros count.

    Args:
      lhs: array of floating-point elements.
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
      >>> xo.atan2(jnp.array([1.0, 0.0]), jnp.array([1.0, -1.0]))
      Array([0.7853982, 3.1415927], dtype=float32)

    Source: *Atan2* in XLA's Operation semantics; ``stablehlo.atan2``.
    """
    x, y = broadcasting.binary("atan2", lhs, rhs, broadcast_dimensions, "f")
    return lax.atan2(x, y)


# jax.lax.pow takes no integer bases, though stablehlo.power does.
_signed_power = primitive.elementwise("integer_power", compat.stablehlo.power)


@jax.custom_jvp
def _power(base: Array, exponent: Array) -> Array:
    return lax.pow(base, exponent)


@functools.partial(_power.defjvp, symbolic_zeros=True)
def _power_jvp(primals, tangents):
    # As jax.lax's, but that the power to 0 is constant at base 0 as well. An operand
    # that is constant adds nothing: its derivative may be infinite or NaN.
    (x, y), (dx, dy) = primals, tangents
    result = _power(x, y)
    terms = []
    if not isinstance(dx, SymbolicZero):
        one = lax.full_like(y, 1)
        lower = lax.select(lax.eq(y, lax.full_like(y, 0)), one, y) - one
        terms.append(y * _power(x, lower) * dx)
    if not isinstance(dy, SymbolicZero):
        is_zero = lax.eq(x, lax.full_like(x, 0))
        safe = lax.select(is_zero, lax.full_like(x, 1), x)
        terms.append(lax.log(safe) * result * dy)
    return result, lax.add(*terms) if len(terms) == 2 else terms[0]


def _chooser(choose: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """Maximum or minimum of complex numbers, which have no derivative in jax.lax."""
    chosen = jax.custom_jvp(choose)

    @chosen.defjvp
    def _jvp(primals, tangents):
        result = chosen(*primals)
        # Not jax.lax's: a scalar's tangent is sharded like the other operand's.
        return result, jnp.where(lax.eq(result, primals[0]), *tangents)

    return chosen


_complex_max = _chooser(lambda x, y: lax.max(x, y))
_complex_min = _chooser(lambda x, y: lax.min(x, y))


def _power_with_sign(base: Array, exponent: Array) -> Array:
    zero, one = lax.full_like(base, 0), lax.full_like(base, 1)
    odd = lax.eq(lax.bitwise_and(exponent, one), one)
    of_minus_one = lax.select(odd, lax.neg(one), one)
    reciprocal = lax.select(
        lax.eq(base, one),
        one,
        lax.select(lax.eq(base, lax.neg(one)), of_minus_one, zero),
    )
    power = _unsigned_power(base, exponent)
    return lax.select(lax.lt(exponent, zero), reciprocal, power)


def _unsigned_power(base: Array, exponent: Array) -> Array:
    # By squaring: XLA reads no more than six bits of an unsigned exponent.
    one = lax.full_like(base, 1)
    result = one
    for bit in range(checks.bit_width(base.dtype)):
        shifted = lax.shift_right_logical(exponent, lax.full_like(exponent, bit))
        is_set = lax.eq(lax.bitwise_and(shifted, one), one)
        result = lax.select(is_set, lax.mul(result, base), result)
        base = lax.mul(base, base)
    return result


def _guarded_division(
    divide: Callable[[Array, Array], Array],
    x: Array,
    y: Array,
    by_zero: Callable[[Array], Array],
) -> Array:
    """An integer division of which XLA never sees a zero divisor.

    See `compat.FOLDING_DIVIDES_BY_ZERO`: it would end the process.
    """
    if isinstance(y, np.ndarray) and np.all(y != 0):
        return divide(x, y)  # a Python scalar, known not to be zero
    if primitive.has_sharding_in_type(x, y):
        return divide(x, y)  # no constant is sharded
    x, y = broadcasting.stretched(x, y)
    is_zero = lax.eq(y, lax.full_like(y, 0))
    quotient = divide(x, lax.select(is_zero, lax.full_like(y, 1), y))
    return lax.select(is_zero, by_zero(x), quotient)


@operation()
def abs(operand: ArrayLike) -> Array:
    """Element-wise absolute value.

    The magnitude of a complex number is real. The absolute value of the smallest signed
    integer does not fit its type and is that integer; unsigned integers are their own.

    Args:
      operand: integer, floating-point or complex array of any shape.

    Returns:
      An array of the shape of ``operand``, and of its element type or, if that is
      complex, of the real type of its parts.

    Raises:
      TypeError: if ``operand`` is not an array of such elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.abs(jnp.array([3 - 4j, 2j]))
      Array([5., 2.], dtype=float32)

    Source: *Abs* in XLA's Operation semantics; ``stablehlo.abs``.
    """
    x = checks.operand("abs", "operand", operand, "iufc")
    if checks.kind(x.dtype) == "u":
        return x
    if checks.kind(x.dtype) == "i" and checks.bit_width(x.dtype) < 8:
        return lax.select(lax.lt(x, lax.full_like(x, 0)), lax.neg(x), x)
    return lax.abs(x)


@operation()
def neg(operand: ArrayLike) -> Array:
    """Element-wise negation.

    Integers wrap around, so that the negation of an unsigned 1 is its type's maximum.

    Args:
      operand: integer, floating-point or complex array of any shape.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of such elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.neg(jnp.array([1, 0], dtype="uint8"))
      Array([255,   0], dtype=uint8)

    Source: *Neg* in XLA's Operation semantics; ``stablehlo.negate``.
    """
    return lax.neg(checks.operand("neg", "operand", operand, "iufc"))


@operation()
def sign(operand: ArrayLike) -> Array:
    """Element-wise sign: -1, 0 or 1.

    The sign of -0 is -0 and that of NaN is NaN; the sign of a complex number other than
    zero is the number of magnitude one in its direction.

    Args:
      operand: integer, floating-point or complex array of any shape.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of such elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.sign(jnp.array([-3.0, -0.0, jnp.nan, 2.0]))
      Array([-1., -0., nan,  1.], dtype=float32)

    Source: *Sign* in XLA's Operation semantics; ``stablehlo.sign``.
    """
    x = checks.operand("sign", "operand", operand, "iufc")
    return _complex_sign(x) if checks.kind(x.dtype) == "c" else lax.sign(x)


@jax.custom_jvp
def _complex_sign(x: Array) -> Array:
    return lax.sign(x)


@_complex_sign.defjvp
def _complex_sign_jvp(primals, tangents):
    # Across its direction x turns, along it nothing changes. That of jax 0.10 is zero.
    (x,), (dx,) = primals, tangents
    direction, size = _complex_sign(x), lax.abs(x)
    along = lax.real(lax.conj(direction) * dx)
    at_zero = lax.eq(size, lax.full_like(size, 0))
    safe = lax.select(at_zero, lax.full_like(size, 1), size)
    across = (dx - direction * lax.complex(along, lax.full_like(along, 0))) / (
        lax.complex(safe, lax.full_like(safe, 0))
    )
    return direction, lax.select(at_zero, lax.full_like(across, 0), across)
