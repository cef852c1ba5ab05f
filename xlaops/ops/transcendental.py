"""Element-wise functions of one floating-point or complex operand."""

import functools

import jax
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..core.typing import ResultAccuracyLike
from ..types import ResultAccuracy

_accuracy = checks.optional(checks.coerced(ResultAccuracy.coerce))


def _to_lax(
    result_accuracy: ResultAccuracyLike,
) -> lax.Tolerance | lax.AccuracyMode | None:
    if result_accuracy is None:
        return None
    return ResultAccuracy.coerce(result_accuracy).to_lax()


@operation(result_accuracy=_accuracy)
def cbrt(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    r"""Element-wise cube root.

    Real numbers have a real cube root, also negative ones. A complex number has its
    principal one, :math:`e^{\log(z) / 3}`.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.cbrt(jnp.array([8.0, -27.0]))
      Array([ 2., -3.], dtype=float32)

    Source: *Cbrt* in XLA's Operation semantics; ``stablehlo.cbrt``.
    """
    x = checks.operand("cbrt", "operand", operand, "fc")
    if checks.kind(x.dtype) == "c":
        # jax.lax has the real function only; 0 ** (1 / 3) is 0, so no case is special.
        return lax.pow(x, lax.full_like(x, 1 / 3))
    return lax.cbrt(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def cos(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise cosine of an angle in radians.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.cos(jnp.array([0.0, 3.1415927]))
      Array([ 1., -1.], dtype=float32)

    Source: *Cos* in XLA's Operation semantics; ``stablehlo.cosine``.
    """
    x = checks.operand("cos", "operand", operand, "fc")
    return lax.cos(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def exp(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise exponential :math:`e^x`.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.exp(jnp.array([0.0, 1.0]))
      Array([1.       , 2.7182817], dtype=float32)

    Source: *Exp* in XLA's Operation semantics; ``stablehlo.exponential``.
    """
    x = checks.operand("exp", "operand", operand, "fc")
    return lax.exp(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def expm1(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise :math:`e^x - 1`, exact also for small operands.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.expm1(jnp.array([0.0, 1e-10]))
      Array([0.e+00, 1.e-10], dtype=float32)

    Source: *Expm1* in XLA's Operation semantics; ``stablehlo.exponential_minus_one``.
    """
    x = checks.operand("expm1", "operand", operand, "fc")
    return lax.expm1(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def log(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise natural logarithm.

    The logarithm of a negative real number is NaN.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.log(jnp.array([1.0, 0.0]))
      Array([  0., -inf], dtype=float32)

    Source: *Log* in XLA's Operation semantics; ``stablehlo.log``.
    """
    x = checks.operand("log", "operand", operand, "fc")
    return lax.log(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def log1p(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    r"""Element-wise :math:`\log(1 + x)`, exact also for small operands.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.log1p(jnp.array([0.0, 1e-10]))
      Array([0.e+00, 1.e-10], dtype=float32)

    Source: *Log1p* in XLA's Operation semantics; ``stablehlo.log_plus_one``.
    """
    x = checks.operand("log1p", "operand", operand, "fc")
    return lax.log1p(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def logistic(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise logistic function :math:`1 / (1 + e^{-x})`.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.logistic(jnp.array([0.0, 100.0]))
      Array([0.5, 1. ], dtype=float32)

    Source: *Logistic* in XLA's Operation semantics; ``stablehlo.logistic``.
    """
    x = checks.operand("logistic", "operand", operand, "fc")
    return lax.logistic(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def rsqrt(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    r"""Element-wise reciprocal square root :math:`1 / \sqrt{x}`.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.rsqrt(jnp.array([4.0, 0.0]))
      Array([0.5, inf], dtype=float32)

    Source: *Rsqrt* in XLA's Operation semantics; ``stablehlo.rsqrt``.
    """
    x = checks.operand("rsqrt", "operand", operand, "fc")
    return lax.rsqrt(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def sin(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise sine of an angle in radians.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.sin(jnp.array([0.0, 1.5707964]))
      Array([0., 1.], dtype=float32)

    Source: *Sin* in XLA's Operation semantics; ``stablehlo.sine``.
    """
    x = checks.operand("sin", "operand", operand, "fc")
    return lax.sin(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def sqrt(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise square root.

    The square root of a negative real number is NaN.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.sqrt(jnp.array([4.0, -0.0]))
      Array([ 2., -0.], dtype=float32)

    Source: *Sqrt* in XLA's Operation semantics; ``stablehlo.sqrt``.
    """
    x = checks.operand("sqrt", "operand", operand, "fc")
    return lax.sqrt(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def tan(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise tangent of an angle in radians.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.tan(jnp.array([0.0, 0.7853982]))
      Array([0., 1.], dtype=float32)

    Source: *Tan* in XLA's Operation semantics; ``stablehlo.tan``.
    """
    x = checks.operand("tan", "operand", operand, "fc")
    return lax.tan(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def tanh(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise hyperbolic tangent.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.tanh(jnp.array([0.0, 100.0]))
      Array([0., 1.], dtype=float32)

    Source: *Tanh* in XLA's Operation semantics; ``stablehlo.tanh``.
    """
    x = checks.operand("tanh", "operand", operand, "fc")
    return lax.tanh(x, accuracy=_to_lax(result_accuracy))


@operation(result_accuracy=_accuracy)
def cosh(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise hyperbolic cosine.

    XLA has no accuracy for it, but for the exponential: with a request it is computed
    from exponentials that are asked for that accuracy, and rounded two or three times
    more. For complex numbers the request is checked, and changes nothing.

    Args:
      operand: floating-point or complex array of any shape.
      result_accuracy: how exact the result must be, as a `xlaops.ResultAccuracy` or
        what it is made of; None leaves it to the backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.cosh(jnp.array([0.0, 1.0]))
      Array([1.       , 1.5430806], dtype=float32)

    Source: *Cosh* in XLA's Operation semantics; ``chlo.cosh``.
    """
    x = checks.operand("cosh", "operand", operand, "fc")
    accuracy = _to_lax(result_accuracy)
    if accuracy is None or checks.kind(x.dtype) == "c":
        return lax.cosh(x)
    return _cosh_of_exponentials(accuracy, x)


@operation(result_accuracy=_accuracy)
def erf(operand: ArrayLike, result_accuracy: ResultAccuracyLike = None) -> Array:
    """Element-wise error function.

    Args:
      operand: floating-point array of any shape.
      result_accuracy: how exact the result should be, as a `xlaops.ResultAccuracy` or
        what it is made of. It is checked, and changes nothing: the error function of
        HLO carries no accuracy on any backend.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point elements.
      ValueError: if ``result_accuracy`` is negative or unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.erf(jnp.array([0.0, 1.0]))
      Array([0.        , 0.84270084], dtype=float32)

    Source: *Erf* in XLA's Operation semantics; ``chlo.erf``.
    """
    return lax.erf(checks.operand("erf", "operand", operand, "f"))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _cosh_of_exponentials(
    accuracy: lax.Tolerance | lax.AccuracyMode, x: Array
) -> Array:
    half = lax.full_like(x, 0.5)
    size = lax.abs(x)
    whole = lax.exp(size, accuracy=accuracy)
    near = lax.add(lax.mul(half, whole), lax.div(half, whole))
    # The exponential is infinite already for some whose half is finite.
    root = lax.exp(lax.mul(half, size), accuracy=accuracy)
    far = lax.mul(lax.mul(half, root), root)
    return lax.select(lax.lt(whole, lax.full_like(x, float("inf"))), near, far)


@_cosh_of_exponentials.defjvp
def _cosh_jvp(accuracy, primals, tangents):
    (x,), (tangent,) = primals, tangents
    return _cosh_of_exponentials(accuracy, x), lax.mul(tangent, lax.sinh(x))
