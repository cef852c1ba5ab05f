"""Conversion between element types."""

import jax
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.compat import FOLDED_BITCAST_TO_PARTS_OF_BYTES_IS_WRONG
from ..core.operation import operation
from ..core.typing import DTypeLike


@operation(new_element_type=checks.element_type)
def convert_element_type(operand: ArrayLike, new_element_type: DTypeLike) -> Array:
    """Element-wise conversion of values to another element type.

    Floating-point numbers are rounded to the nearest (ties to even) of a narrower type;
    XLA's CPU backend rounds f64 to bf16 and f16 by way of f32, and so twice. To
    integers they are truncated towards zero; the document leaves what does not fit to
    the implementation, and XLA saturates there and makes NaN zero. Integers wrap to
    narrower integers. Conversion to PRED tells what differs from zero; of a complex
    number converted to a real type the real part is kept.

    Args:
      operand: array of any numeric element type or PRED.
      new_element_type: an XLA name (``"f32"``, ``"s8"``, ``"pred"``, ...) or what numpy
        takes as a dtype. 64-bit types need ``jax_enable_x64``, as everywhere in JAX.

    Returns:
      An array of the shape of ``operand``.

    Raises:
      TypeError: if ``operand`` is no array or ``new_element_type`` no element type.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.convert_element_type(jnp.array([300.0, -1.9, jnp.nan]), "s8")
      Array([127,  -1,   0], dtype=int8)

    Source: *ConvertElementType* in XLA's Operation semantics; ``stablehlo.convert``.
    """
    x = checks.operand("convert_element_type", "operand", operand, "biufc")
    if checks.kind(x.dtype) == "c":
        # JAX drops the imaginary part, also on the way to PRED, and warns.
        if checks.kind(new_element_type) == "b":
            return lax.ne(x, lax.full_like(x, 0))
        if checks.kind(new_element_type) != "c":
            x = lax.real(x)
    return lax.convert_element_type(x, new_element_type)


@operation(new_element_type=checks.element_type)
def bitcast_convert_type(operand: ArrayLike, new_element_type: DTypeLike) -> Array:
    """The bits of an array read as another element type.

    To a narrower type each element becomes several, in a new last dimension with the
    least significant part first; to a wider type the last dimension is what one element
    is made of, and goes. It is not differentiable: derivatives are zero.

    Args:
      operand: integer or floating-point array; complex and PRED ones only to their own
        type, as XLA has no other bit-cast of them.
      new_element_type: an XLA name (``"f32"``, ``"s8"``, ...) or what numpy takes as a
        dtype. 64-bit types need ``jax_enable_x64``.

    Returns:
      An array of the new element type, with the shape of ``operand`` if the widths are
      equal.

    Raises:
      TypeError: if one of the types is complex or PRED and the other is not the same.
      ValueError: if elements do not fill the wider type: the last dimension must be the
        ratio of the widths.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.bitcast_convert_type(jnp.float32(1.0), "u8")
      Array([  0,   0, 128,  63], dtype=uint8)

    Source: *BitcastConvertType* in XLA's Operation semantics;
    ``stablehlo.bitcast_convert``.
    """
    x = checks.operand("bitcast_convert_type", "operand", operand, "biufc")
    new = jax.dtypes.canonicalize_dtype(new_element_type)
    if x.dtype != new and {checks.kind(x.dtype), checks.kind(new)} & set("bc"):
        raise TypeError(
            f"bitcast_convert_type: new_element_type must be {x.dtype} for an operand "
            f"{checks.describe(x)}, as complex and PRED have no other, got {new}"
        )
    old_bits, new_bits = checks.bit_width(x.dtype), checks.bit_width(new)
    if max(old_bits, new_bits) % min(old_bits, new_bits):
        raise TypeError(
            f"bitcast_convert_type: new_element_type must have a width that divides or "
            f"is divided by the {old_bits} bits of {x.dtype}, got {new}"
        )
    if new_bits > old_bits and x.shape[-1:] != (new_bits // old_bits,):
        raise ValueError(
            f"bitcast_convert_type: operand must have a last dimension of "
            f"{new_bits // old_bits} elements to become {new}, "
            f"got {checks.describe(x)}"
        )
    if FOLDED_BITCAST_TO_PARTS_OF_BYTES_IS_WRONG and new_bits < 8 <= old_bits:
        return _parts_of_bytes(x, new)
    return lax.bitcast_convert_type(x, new)


def _parts_of_bytes(x: Array, new: np.dtype) -> Array:
    width = checks.bit_width(new)
    octets = lax.bitcast_convert_type(x, np.uint8)
    octets = lax.broadcast_in_dim(
        octets, (*octets.shape, 8 // width), range(octets.ndim)
    )
    shifts = lax.broadcasted_iota(np.uint8, octets.shape, octets.ndim - 1)
    shifts = lax.mul(shifts, lax.full_like(shifts, width))
    parts = lax.shift_right_logical(octets, shifts)
    parts = lax.bitwise_and(parts, lax.full_like(parts, (1 << width) - 1))
    parts = lax.reshape(parts, (*x.shape, checks.bit_width(x.dtype) // width))
    return lax.bitcast_convert_type(
        lax.convert_element_type(parts, f"uint{width}"), new
    )


@operation(exponent_bits=checks.integer, mantissa_bits=checks.integer)
def reduce_precision(
    operand: ArrayLike, exponent_bits: int, mantissa_bits: int
) -> Array:
    """Floating-point numbers rounded to a format of fewer bits, in their own type.

    Rounded to the nearest number of the format, ties to even; what is too large becomes
    infinite, what is too small zero. The derivative is that of the identity, rounded
    the same way.

    Args:
      operand: floating-point array of any shape.
      exponent_bits: bits of the exponent, at least 1.
      mantissa_bits: bits of the mantissa, at least 0.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.
      ValueError: if a number of bits is too small.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.reduce_precision(jnp.array([65519.0, 65520.0]), 5, 10)
      Array([65504.,    inf], dtype=float32)

    Source: *ReducePrecision* in XLA's Operation semantics;
    ``stablehlo.reduce_precision``.
    """
    x = checks.operand("reduce_precision", "operand", operand, "f")
    for name, bits, least in (
        ("exponent_bits", exponent_bits, 1),
        ("mantissa_bits", mantissa_bits, 0),
    ):
        if not least <= bits < 2**31:
            raise ValueError(
                f"reduce_precision: {name} must be at least {least}, got {bits}"
            )
    return lax.reduce_precision(x, exponent_bits, mantissa_bits)
