"""Element-wise rounding to integers."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation


@operation()
def ceil(operand: ArrayLike) -> Array:
    """Element-wise smallest integer that is not below the operand.

    Args:
      operand: floating-point array of any shape.

    Returns:
      An array of the shape and element type of ``operand``. Its derivative is zero.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.ceil(jnp.array([1.2, -0.5]))
      Array([ 2., -0.], dtype=float32)

    Source: *Ceil* in XLA's Operation semantics; ``stablehlo.ceil``.
    """
    return lax.ceil(checks.operand("ceil", "operand", operand, "f"))


@operation()
def floor(operand: ArrayLike) -> Array:
    """Element-wise largest integer that is not above the operand.

    Args:
      operand: floating-point array of any shape.

    Returns:
      An array of the shape and element type of ``operand``. Its derivative is zero.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.floor(jnp.array([1.8, -0.5]))
      Array([ 1., -1.], dtype=float32)

    Source: *Floor* in XLA's Operation semantics; ``stablehlo.floor``.
    """
    return lax.floor(checks.operand("floor", "operand", operand, "f"))


@operation()
def round(operand: ArrayLike) -> Array:
    """Element-wise nearest integer, halves away from zero.

    The same as `xlaops.round_nearest_afz`, and not Python's or NumPy's ``round``, which
    takes halves to even: that is `xlaops.round_nearest_even`.

    Args:
      operand: floating-point array of any shape.

    Returns:
      An array of the shape and element type of ``operand``. Its derivative is zero.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.round(jnp.array([0.5, 2.5, -2.5, -0.3]))
      Array([ 1.,  3., -3., -0.], dtype=float32)

    Source: *Round* in XLA's Operation semantics; ``stablehlo.round_nearest_afz``.
    """
    x = checks.operand("round", "operand", operand, "f")
    return lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)


@operation()
def round_nearest_afz(operand: ArrayLike) -> Array:
    """Element-wise nearest integer, halves away from zero.

    Args:
      operand: floating-point array of any shape.

    Returns:
      An array of the shape and element type of ``operand``. Its derivative is zero.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.round_nearest_afz(jnp.array([0.5, 1.5, -2.5]))
      Array([ 1.,  2., -3.], dtype=float32)

    Source: *RoundNearestAfz* in XLA's Operation semantics;
    ``stablehlo.round_nearest_afz``.
    """
    x = checks.operand("round_nearest_afz", "operand", operand, "f")
    return lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)


@operation()
def round_nearest_even(operand: ArrayLike) -> Array:
    """Element-wise nearest integer, halves to the even one.

    Args:
      operand: floating-point array of any shape.

    Returns:
      An array of the shape and element type of ``operand``. Its derivative is zero.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.round_nearest_even(jnp.array([0.5, 1.5, -2.5, -0.4]))
      Array([ 0.,  2., -2., -0.], dtype=float32)

    Source: *RoundNearestEven* in XLA's Operation semantics;
    ``stablehlo.round_nearest_even``.
    """
    x = checks.operand("round_nearest_even", "operand", operand, "f")
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
