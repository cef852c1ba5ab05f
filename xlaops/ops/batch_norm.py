"""Batch normalisation: training, its gradient, and inference."""

import math
from typing import Any

import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, normalization
from ..core.operation import operation


def _epsilon(operation: str, parameter: str, value: Any) -> float:
    """A number as XLA keeps it, which is in 32 bits."""
    number = checks.real_number(operation, parameter, value)
    with np.errstate(over="ignore"):
        kept = float(np.float32(number))
    if not 0 <= kept < math.inf:
        raise ValueError(
            f"{operation}: {parameter} must be finite in 32 bits and not negative, got "
            f"{number}"
        )
    return kept


@operation(epsilon=_epsilon, feature_index=checks.integer)
def batch_norm_training(
    operand: ArrayLike,
    scale: ArrayLike,
    offset: ArrayLike,
    epsilon: float,
    feature_index: int,
) -> tuple[Array, Array, Array]:
    r"""A batch normalised with its own moments, and these moments.

    For each feature, with the mean :math:`\mu` and the variance :math:`\sigma^2` (the
    biased one, divided by the number of elements) over all other dimensions:

    .. math::
        y = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \, scale + offset

    All three results have derivatives with respect to all three operands, of any order;
    the gradient is that of `xlaops.batch_norm_grad`. Element types of less than 32 bits
    are computed in 32 bits and rounded at the end: their own sums would overflow.

    Args:
      operand: floating-point array of rank 1 or more.
      scale: one factor for each of C features, shape ``[C]``.
      offset: one summand for each feature, shape ``[C]``.
      epsilon: number that is added to the variance, kept in 32 bits.
      feature_index: the dimension of ``operand`` that holds the features, of size C.

    Returns:
      ``(output, batch_mean, batch_var)``: an array of the shape of ``operand``, and the
      mean and the variance of each feature, of shape ``[C]``; all of the operands'
      element type.

    Raises:
      TypeError: if an operand is no floating-point array, if element types differ, or
        if ``scale`` or ``offset`` has another shape than ``[C]``.
      ValueError: if ``feature_index`` is no dimension of ``operand`` (negative ones are
        none) or ``epsilon`` is negative or not finite.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([[1.0, 2.0], [3.0, 6.0]])
      >>> y, mean, var = xo.batch_norm_training(x, jnp.full(2, 2.0), jnp.zeros(2), 0, 1)
      >>> print(y, mean, var)
      [[-2. -2.]
       [ 2.  2.]] [2. 4.] [1. 4.]

    Source: *BatchNormTraining* in XLA's Operation semantics;
    ``stablehlo.batch_norm_training``.
    """
    x, a, b = checks.same_element_type(
        "batch_norm_training", operand=operand, scale=scale, offset=offset
    )
    _check("batch_norm_training", x, feature_index, scale=a, offset=b)
    results = normalization.training(
        *map(_widened, (x, a, b)), epsilon=epsilon, feature_index=feature_index
    )
    output, mean, variance = (_narrowed(y, x) for y in results)
    return output, mean, variance


@operation(epsilon=_epsilon, feature_index=checks.integer)
def batch_norm_inference(
    operand: ArrayLike,
    scale: ArrayLike,
    offset: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    epsilon: float,
    feature_index: int,
) -> Array:
    r"""A batch normalised with given moments.

    For each feature:

    .. math::
        y = \frac{x - mean}{\sqrt{variance + \epsilon}} \, scale + offset

    It has derivatives with respect to all five operands, of any order. Element types of
    less than 32 bits are computed in 32 bits and rounded at the end.

    Args:
      operand: floating-point array of rank 1 or more.
      scale: one factor for each of C features, shape ``[C]``.
      offset: one summand for each feature, shape ``[C]``.
      mean: the mean of each feature, shape ``[C]``.
      variance: the variance of each feature, shape ``[C]``.
      epsilon: number that is added to the variance, kept in 32 bits.
      feature_index: the dimension of ``operand`` that holds the features, of size C.

    Returns:
      An array of the shape and element type of ``operand``.

    Raises:
      TypeError: if an operand is no floating-point array, if element types differ, or
        if an operand but the first has another shape than ``[C]``.
      ValueError: if ``feature_index`` is no dimension of ``operand`` (negative ones are
        none) or ``epsilon`` is negative or not finite.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> one, four = jnp.array([1.0]), jnp.array([4.0])
      >>> xo.batch_norm_inference(jnp.array([[5.0]]), one, one, one, four, 0.0, 1)
      Array([[3.]], dtype=float32)

    Source: *BatchNormInference* in XLA's Operation semantics;
    ``stablehlo.batch_norm_inference``.
    """
    x, a, b, m, v = checks.same_element_type(
        "batch_norm_inference",
        operand=operand,
        scale=scale,
        offset=offset,
        mean=mean,
        variance=variance,
    )
    _check(
        "batch_norm_inference",
        x,
        feature_index,
        scale=a,
        offset=b,
        mean=m,
        variance=v,
    )
    result = normalization.inference(
        *map(_widened, (x, a, b, m, v)), epsilon=epsilon, feature_index=feature_index
    )
    return _narrowed(result, x)


@operation(epsilon=_epsilon, feature_index=checks.integer)
def batch_norm_grad(
    operand: ArrayLike,
    scale: ArrayLike,
    batch_mean: ArrayLike,
    batch_var: ArrayLike,
    grad_output: ArrayLike,
    epsilon: float,
    feature_index: int,
) -> tuple[Array, Array, Array]:
    r"""The gradients of `xlaops.batch_norm_training` for the gradient of its output.

    For each feature, with the mean :math:`E` and the sum :math:`\Sigma` over all other
    dimensions, :math:`g` for ``grad_output``, :math:`c = x - batch\_mean` and
    :math:`r = (batch\_var + \epsilon)^{-1/2}`:

    .. math::
        grad\_operand &= scale \, r \, (g - E[g] - r^2 c \, E[g c]) \\
        grad\_scale &= r \, \Sigma[g c] \\
        grad\_offset &= \Sigma[g]

    It has derivatives with respect to all five operands, of any order. Element types of
    less than 32 bits are computed in 32 bits and rounded at the end.

    Args:
      operand: floating-point array of rank 1 or more.
      scale: one factor for each of C features, shape ``[C]``.
      batch_mean: the mean of each feature, shape ``[C]``.
      batch_var: the biased variance of each feature, shape ``[C]``.
      grad_output: the gradient of the output, of the shape of ``operand``.
      epsilon: number that is added to the variance, kept in 32 bits.
      feature_index: the dimension of ``operand`` that holds the features, of size C.

    Returns:
      ``(grad_operand, grad_scale, grad_offset)``: an array of the shape of ``operand``
      and two of shape ``[C]``. This is the order of the document and of StableHLO; a
      comment of ``xla_builder.h`` has another one, and is wrong.

    Raises:
      TypeError: if an operand is no floating-point array, if element types differ, or
        if the shapes are not those above.
      ValueError: if ``feature_index`` is no dimension of ``operand`` (negative ones are
        none) or ``epsilon`` is negative or not finite.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x, g = jnp.array([[1.0], [3.0]]), jnp.array([[1.0], [0.0]])
      >>> one, two = jnp.array([1.0]), jnp.array([2.0])
      >>> [y.tolist() for y in xo.batch_norm_grad(x, two, two, one, g, 0.0, 1)]
      [[[0.0], [0.0]], [-1.0], [1.0]]

    Source: *BatchNormGrad* in XLA's Operation semantics;
    ``stablehlo.batch_norm_grad``.
    """
    x, a, m, v, g = checks.same_element_type(
        "batch_norm_grad",
        operand=operand,
        scale=scale,
        batch_mean=batch_mean,
        batch_var=batch_var,
        grad_output=grad_output,
    )
    _check("batch_norm_grad", x, feature_index, scale=a, batch_mean=m, batch_var=v)
    if g.shape != x.shape:
        raise TypeError(
            f"batch_norm_grad: grad_output must have the shape {x.shape} of operand, "
            f"got {checks.describe(g)}"
        )
    results = normalization.gradient(
        *map(_widened, (x, a, m, v, g)), epsilon=epsilon, feature_index=feature_index
    )
    of_operand, of_scale, of_offset = (_narrowed(y, x) for y in results)
    return of_operand, of_scale, of_offset


def _check(operation: str, x: Array, feature_index: int, **vectors: Array) -> None:
    """Checks the operand, and that the others have one element for each feature."""
    checks.element_kind(operation, "operand", x, "f")
    if x.ndim == 0:
        raise TypeError(
            f"{operation}: operand must have rank 1 or more, got {checks.describe(x)}"
        )
    # A negative index would end the process.
    checks.dimension(operation, "feature_index", feature_index, x.ndim)
    size = x.shape[feature_index]
    for name, vector in vectors.items():
        if vector.shape != (size,):
            raise TypeError(
                f"{operation}: {name} must have shape {(size,)}, one element for each "
                f"index of dimension {feature_index} of operand {x.shape}, got "
                f"{checks.describe(vector)}"
            )


def _widened(x: Array) -> Array:
    if checks.bit_width(x.dtype) >= 32:
        return x
    return lax.convert_element_type(x, np.float32)


def _narrowed(y: Array, like: Array) -> Array:
    return y if y.dtype == like.dtype else lax.convert_element_type(y, like.dtype)
