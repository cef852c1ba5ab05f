"""Arrays made of nothing but their shape, or of values that are known."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..core.typing import ShapeLike
from ..types import Shape


@operation(shape=checks.array_shape, iota_dimension=checks.integer)
def iota(shape: ShapeLike, iota_dimension: int) -> Array:
    """An array whose elements are their own index in one dimension.

    Numbers that the element type cannot hold wrap around (integers) or are rounded
    (floating-point).

    Args:
      shape: shape of the result as `xlaops.Shape`, `jax.ShapeDtypeStruct` or text such
        as ``"s32[4,8]"``; of any rank from 1 and any element type but PRED.
      iota_dimension: the dimension to count along, in ``[0, rank)``.

    Returns:
      An array of that shape.

    Raises:
      TypeError: if ``shape`` is no shape or of element type PRED.
      ValueError: if ``iota_dimension`` is out of range.

    Example:
      >>> import xlaops as xo
      >>> xo.iota("s32[2,3]", 1)
      Array([[0, 1, 2],
             [0, 1, 2]], dtype=int32)

    Source: *Iota* in XLA's Operation semantics; ``stablehlo.iota``.
    """
    wanted = Shape.coerce(shape)
    if checks.kind(wanted.dtype) not in "iufc":
        raise TypeError(f"iota: shape must have a numeric element type, got {wanted}")
    checks.dimension("iota", "iota_dimension", iota_dimension, wanted.rank)
    return lax.broadcasted_iota(wanted.dtype, wanted.dimensions, iota_dimension)


def constant(literal: ArrayLike | Sequence[Any]) -> Array:
    """An array of given values.

    Args:
      literal: array, scalar or nested sequence of numbers. Python numbers get JAX's
        default types (s32, f32, c64 without ``jax_enable_x64``). Without that JAX has
        no 64-bit types: it makes numpy arrays of them such of 32 bits.

    Returns:
      An array with the shape, the values and, of a numpy array, the element type of
      ``literal``, bit by bit.

    Raises:
      TypeError: if ``literal`` holds anything but numbers.
      OverflowError: if a Python int does not fit into its default type.

    Example:
      >>> import numpy as np
      >>> import xlaops as xo
      >>> xo.constant(np.array([[1, 2], [3, 4]], np.int8))
      Array([[1, 2],
             [3, 4]], dtype=int8)

    Source: *Constant* in XLA's Operation semantics; ``stablehlo.constant``.
    """
    value = literal
    if isinstance(literal, (list, tuple)):
        try:
            value = np.asarray(literal)
        except ValueError as error:
            raise TypeError(f"constant: literal: {error}") from None
        _check_fits(value)
    array = checks.array("constant", "literal", value)
    # Not weakly typed, also if made of a Python number: a constant has a type.
    return lax.convert_element_type(array, array.dtype) if array.weak_type else array


def _check_fits(values: np.ndarray) -> None:
    """Checks Python ints, of which JAX would keep the low bits."""
    dtype = jax.dtypes.canonicalize_dtype(values.dtype)
    if dtype != values.dtype and values.dtype.kind in "iu" and values.size:
        limits = np.iinfo(dtype)
        if values.min() < limits.min or values.max() > limits.max:
            raise OverflowError(
                f"constant: literal must fit into {dtype}, got elements from "
                f"{values.min()} to {values.max()}"
            )
