"""Adam with decoupled weight decay, and the course of its learning rate."""

import math
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np
from jax import Array

import xlaops as xo

T = TypeVar("T")

_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.999
_EPSILON = 1e-8


class AdamState(NamedTuple):
    """Running means of the gradients and of their squares, and the steps taken."""

    first: Any
    second: Any
    steps: Array


def init(parameters: Any) -> AdamState:
    """The state before the first step.

    Args:
      parameters: a pytree of floating-point arrays.

    Returns:
      The state, with means of zero.
    """
    zeros = jax.tree.map(lambda p: xo.mul(p, 0.0), parameters)
    return AdamState(zeros, zeros, xo.constant(np.float32(0)))


def update(
    parameters: T,
    gradients: T,
    state: AdamState,
    learning_rate: Array,
    weight_decay: float = 0.0,
) -> tuple[T, AdamState]:
    """Parameters and state after one step.

    Args:
      parameters: a pytree of floating-point arrays.
      gradients: the gradients of a loss, of the same structure.
      state: the state before.
      learning_rate: scalar.
      weight_decay: what each step takes off a parameter, as a multiple of the
        learning rate. Vectors (biases, scales) are spared.

    Returns:
      ``(parameters, state)``.

    Example:
      >>> import jax.numpy as jnp
      >>> from xlaops.demo import optimizer
      >>> x = jnp.array([1.0, -2.0])
      >>> new, _ = optimizer.update(x, x, optimizer.init(x), jnp.float32(0.1))
      >>> new
      Array([ 0.9, -1.9], dtype=float32)
    """
    steps = xo.add(state.steps, 1.0)
    first = _mean(state.first, gradients, _FIRST_DECAY)
    squares = jax.tree.map(lambda g: xo.mul(g, g), gradients)
    second = _mean(state.second, squares, _SECOND_DECAY)
    # The means start at zero, and are too small by these factors.
    first_share = xo.sub(1.0, xo.pow(_FIRST_DECAY, steps))
    second_share = xo.sub(1.0, xo.pow(_SECOND_DECAY, steps))

    def moved(parameter: Array, mean: Array, square: Array) -> Array:
        first, second, rate = (
            xo.convert_element_type(scalar, parameter.dtype)
            for scalar in (first_share, second_share, learning_rate)
        )
        deviation = xo.sqrt(xo.div(square, second))
        step = xo.div(xo.div(mean, first), xo.add(deviation, _EPSILON))
        if weight_decay and parameter.ndim > 1:
            step = xo.add(step, xo.mul(parameter, weight_decay))
        return xo.sub(parameter, xo.mul(step, rate))

    return (
        jax.tree.map(moved, parameters, first, second),
        AdamState(first, second, steps),
    )


def _mean(old: Any, new: Any, decay: float) -> Any:
    return jax.tree.map(
        lambda a, b: xo.add(xo.mul(a, decay), xo.mul(b, 1 - decay)), old, new
    )


def cosine_decay(step: Array, total_steps: int, peak: float) -> Array:
    """A learning rate that falls from ``peak`` to zero along half a wave.

    Args:
      step: scalar, the number of steps taken, from 0 to ``total_steps``.
      total_steps: where it reaches zero.
      peak: where it starts.

    Returns:
      A scalar of the element type of ``step``.

    Example:
      >>> import jax.numpy as jnp
      >>> from xlaops.demo import optimizer
      >>> optimizer.cosine_decay(jnp.float32(5), 10, 0.5)
      Array(0.25, dtype=float32)
    """
    wave = xo.cos(xo.mul(step, math.pi / total_steps))
    return xo.mul(xo.add(wave, 1.0), peak / 2)
