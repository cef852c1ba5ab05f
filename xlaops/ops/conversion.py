"""Conversion between element types."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..core.typing import DTypeLike


@operation(new_element_type=checks.element_type)
def convert_element_type(operand: ArrayLike, new_element_type: DTypeLike) -> Array:
    """Element-wise conversion of values to another element type.

    Floating-point numbers are rounded to the nearest (ties to even) of a narrower type.
    To integers they are truncated towards zero; the document leaves what does not fit
    to the implementation, and XLA saturates there and makes NaN zero. Integers wrap to
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
