"""Element-wise choice between operands."""

import jax
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import broadcasting, checks
from ..core.operation import operation


@operation(alike=("on_true", "on_false"))
def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """Elements of ``on_true`` where ``pred`` holds, and of ``on_false`` elsewhere.

    The gradient reaches only the operand that was chosen: a NaN in the other one stays
    where it is.

    Args:
      pred: PRED (bool) array.
      on_true: array of any element type.
      on_false: array of the element type of ``on_true``. Either may be a scalar, which
        is used at every element; a Python scalar takes the element type of the other.
        Operands that are not scalars have the same shape.

    Returns:
      An array of the common shape and of the element type of ``on_true``.

    Raises:
      TypeError: if ``pred`` is not PRED, or if shapes or element types differ.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.select(jnp.array([True, False]), jnp.array([1, 2]), 0)
      Array([1, 0], dtype=int32)

    Source: *Select* in XLA's Operation semantics; ``stablehlo.select``.
    """
    p = checks.operand("select", "pred", pred, "b")
    x, y = checks.same_element_type("select", on_true=on_true, on_false=on_false)
    p, x, y = broadcasting.ternary("select", ("pred",), pred=p, on_true=x, on_false=y)
    return lax.select(p, x, y)


@operation()
def clamp(min: ArrayLike, operand: ArrayLike, max: ArrayLike) -> Array:
    """Element-wise ``operand``, but not below ``min`` and not above ``max``.

    Where ``min`` is above ``max`` the result is ``max``; NaN in any operand gives NaN.
    The derivative is that of the operand which the result is taken from.

    Args:
      min: integer, floating-point or PRED array.
      operand: array of the element type of ``min``.
      max: array of the element type of ``min``. Any of the three may be a scalar, which
        is used at every element; Python scalars take the element type of the others.
        Operands that are not scalars have the same shape.

    Returns:
      An array of the common shape and of the element type of ``operand``.

    Raises:
      TypeError: if shapes or element types differ or there is no order on them.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.clamp(0.0, jnp.array([-1.5, 0.5, 7.0]), 2.0)
      Array([0. , 0.5, 2. ], dtype=float32)

    Source: *Clamp* in XLA's Operation semantics; ``stablehlo.clamp``.
    """
    low, x, high = checks.same_element_type("clamp", min=min, operand=operand, max=max)
    checks.element_kind("clamp", "operand", x, "biuf")
    low, x, high = broadcasting.ternary(
        "clamp", ("min", "max"), min=low, operand=x, max=high
    )
    if checks.kind(x.dtype) == "f":
        return _clamp(low, x, high)
    if x.dtype == bool:
        # Not stablehlo.clamp: XLA folds it wrongly where the bounds cross.
        low, x, high = broadcasting.stretched(low, x, high)
        return lax.bitwise_and(lax.bitwise_or(low, x), high)
    return lax.clamp(low, x, high)


@jax.custom_jvp
def _clamp(low: Array, x: Array, high: Array) -> Array:
    return lax.clamp(low, x, high)


@_clamp.defjvp
def _clamp_jvp(primals, tangents):
    # jax.lax's rule forgets that scalar bounds are used at every element, and which
    # operand the result is where the bounds cross.
    low, x, high = broadcasting.stretched(*primals)
    dlow, dx, dhigh = broadcasting.stretched(*tangents)
    raised, draised = lax.max(low, x), lax.select(lax.ge(x, low), dx, dlow)
    return _clamp(*primals), lax.select(lax.le(raised, high), draised, dhigh)
