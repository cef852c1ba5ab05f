"""Arrays made of nothing but their shape."""

from jax import Array, lax

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
