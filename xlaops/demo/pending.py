"""Operations that xlaops does not have yet, as far as the demo needs them.

They have the names and the order of parameters of XLA's operations, so that a function
here is deleted, and an import changed, as soon as xlaops has it. This is the only
module of the demo that uses `jax.lax`.
"""

from collections.abc import Callable, Sequence

from jax import Array, lax
from jax.typing import ArrayLike

import xlaops as xo

_REDUCTIONS: dict[Callable[..., Array], Callable[..., Array]] = {
    xo.add: lax.reduce_sum,
    xo.max: lax.reduce_max,
    xo.min: lax.reduce_min,
}


def reduce(
    operand: Array,
    init_value: ArrayLike,
    computation: Callable[..., Array],
    dimensions_to_reduce: Sequence[int],
) -> Array:
    """Elements combined over some dimensions, beginning with an initial value.

    Args:
      operand: array of real numbers.
      init_value: scalar that the computation starts from.
      computation: `xlaops.add`, `xlaops.max` or `xlaops.min`.
      dimensions_to_reduce: the dimensions that the result does not have.

    Returns:
      An array with the other dimensions of ``operand``.

    Raises:
      ValueError: if it is another computation.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> reduce(jnp.array([[1, 5], [2, 3]]), 0, xo.max, (1,))
      Array([5, 3], dtype=int32)

    Source: *Reduce* in XLA's Operation semantics.
    """
    if computation not in _REDUCTIONS:
        raise ValueError(
            f"reduce: computation must be xlaops.add, max or min, got {computation}"
        )
    reduced = _REDUCTIONS[computation](operand, tuple(dimensions_to_reduce))
    return computation(reduced, init_value)


def reduce_window(
    operand: Array,
    init_value: float,
    computation: Callable[..., Array],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> Array:
    """Elements combined over each position of a moving window.

    Args:
      operand: array of floating-point numbers.
      init_value: scalar that the computation starts from.
      computation: `xlaops.max`.
      window_dimensions: the window's size in each dimension.
      window_strides: its step in each dimension.
      padding: ``"VALID"`` or ``"SAME"``.

    Returns:
      An array with one element for each position of the window.

    Raises:
      ValueError: if it is another computation.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([1.0, 4.0, 2.0, 3.0])
      >>> reduce_window(x, -jnp.inf, xo.max, (2,), (2,), "VALID")
      Array([4., 3.], dtype=float32)

    Source: *ReduceWindow* in XLA's Operation semantics.
    """
    if computation is not xo.max:
        raise ValueError(
            f"reduce_window: computation must be xlaops.max, got {computation}"
        )
    return lax.reduce_window(
        operand, init_value, lax.max, window_dimensions, window_strides, padding
    )


def batch_norm_inference(
    operand: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    feature_index: int,
) -> Array:
    """A batch normalised with given moments, then scaled and shifted by feature.

    Args:
      operand: array of rank n.
      scale: one factor for each feature.
      offset: one summand for each feature.
      mean: the mean of each feature.
      variance: the variance of each feature.
      epsilon: what is added to the variance.
      feature_index: the dimension of ``operand`` that holds the features.

    Returns:
      An array of the shape of ``operand``.

    Example:
      >>> import jax.numpy as jnp
      >>> one, four = jnp.array([1.0]), jnp.array([4.0])
      >>> batch_norm_inference(jnp.array([[5.0]]), one, one, one, four, 0.0, 1)
      Array([[3.]], dtype=float32)

    Source: *BatchNormInference* in XLA's Operation semantics.
    """
    feature = (feature_index,)
    factor = xo.mul(scale, xo.rsqrt(xo.add(variance, epsilon)))
    centred = xo.sub(operand, mean, feature)
    return xo.add(xo.mul(centred, factor, feature), offset, feature)


def batch_norm_training(
    operand: Array,
    scale: Array,
    offset: Array,
    epsilon: float,
    feature_index: int,
) -> tuple[Array, Array, Array]:
    """A batch normalised with its own moments, and these moments.

    Args:
      operand: array of rank n.
      scale: one factor for each feature.
      offset: one summand for each feature.
      epsilon: what is added to the variance.
      feature_index: the dimension of ``operand`` that holds the features.

    Returns:
      ``(output, batch_mean, batch_var)``: the normalised array, and one mean and one
      variance (the biased one) for each feature.

    Example:
      >>> import jax.numpy as jnp
      >>> x, one, zero = jnp.array([[1.0], [5.0]]), jnp.ones(1), jnp.zeros(1)
      >>> [y.tolist() for y in batch_norm_training(x, one, zero, 0.0, 1)]
      [[[-1.0], [1.0]], [3.0], [4.0]]

    Source: *BatchNormTraining* in XLA's Operation semantics.
    """
    others = [d for d in range(operand.ndim) if d != feature_index]
    count = operand.size // operand.shape[feature_index]
    mean = xo.div(reduce(operand, 0.0, xo.add, others), float(count))
    centred = xo.sub(operand, mean, (feature_index,))
    squares = reduce(xo.mul(centred, centred), 0.0, xo.add, others)
    variance = xo.div(squares, float(count))
    output = batch_norm_inference(
        operand, scale, offset, mean, variance, epsilon, feature_index
    )
    return output, mean, variance


def all_reduce(
    operand: Array,
    computation: Callable[..., Array],
    *,
    axis_name: str,
) -> Array:
    """Elements combined over the devices along a mesh axis.

    Args:
      operand: this device's array.
      computation: `xlaops.add`.
      axis_name: an axis of the mesh of the enclosing `jax.shard_map`.

    Returns:
      An array of the shape of ``operand``, equal on all the devices.

    Raises:
      ValueError: if it is another computation.

    Source: *AllReduce* in XLA's Operation semantics.
    """
    if computation is not xo.add:
        raise ValueError(
            f"all_reduce: computation must be xlaops.add, got {computation}"
        )
    return lax.psum(operand, axis_name)
