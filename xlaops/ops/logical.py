"""Element-wise logical operations, which are bitwise for integers."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import broadcasting, checks
from ..core.operation import operation
from ..core.typing import Dims


@operation(broadcast_dimensions=checks.integers)
def and_(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise and.

    Bitwise for integers, logical for PRED (bool).

    Args:
      lhs: array of integer or PRED elements.
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
      >>> xo.and_(jnp.array([6, -1]), 3)
      Array([2, 3], dtype=int32)

    Source: *And* in XLA's Operation semantics; ``stablehlo.and``.
    """
    x, y = broadcasting.binary("and_", lhs, rhs, broadcast_dimensions, "biu")
    return lax.bitwise_and(x, y)


@operation(broadcast_dimensions=checks.integers)
def or_(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise or.

    Bitwise for integers, logical for PRED (bool).

    Args:
      lhs: array of integer or PRED elements.
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
      >>> xo.or_(jnp.array([True, False]), False)
      Array([ True, False], dtype=bool)

    Source: *Or* in XLA's Operation semantics; ``stablehlo.or``.
    """
    x, y = broadcasting.binary("or_", lhs, rhs, broadcast_dimensions, "biu")
    return lax.bitwise_or(x, y)


@operation(broadcast_dimensions=checks.integers)
def xor(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise exclusive or.

    Bitwise for integers, logical for PRED (bool).

    Args:
      lhs: array of integer or PRED elements.
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
      >>> xo.xor(jnp.array([6, -1]), 3)
      Array([ 5, -4], dtype=int32)

    Source: *Xor* in XLA's Operation semantics; ``stablehlo.xor``.
    """
    x, y = broadcasting.binary("xor", lhs, rhs, broadcast_dimensions, "biu")
    return lax.bitwise_xor(x, y)


@operation()
def not_(operand: ArrayLike) -> Array:
    """Element-wise complement.

    Logical for PRED (bool). The document says logical for integers as well, but every
    backend of XLA flips their bits, and so does this.

    Args:
      operand: integer or PRED array of any shape.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of integer or PRED elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.not_(jnp.array([5, 0]))
      Array([-6, -1], dtype=int32)

    Source: *Not* in XLA's Operation semantics; ``stablehlo.not``.
    """
    return lax.bitwise_not(checks.operand("not_", "operand", operand, "biu"))
