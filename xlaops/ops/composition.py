"""Computations called, and values tied together.

They take callables or pytrees, so they bypass the fast eager path of other operations.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
from jax import lax

from ..core import checks

T = TypeVar("T")


def call(computation: Callable[..., T], operands: Sequence[Any]) -> T:
    """The result of a computation, which stays a function of its own in the program.

    Args:
      computation: called with one argument for each operand.
      operands: N arrays or pytrees of arrays; N may be 0.

    Returns:
      What ``computation`` returns.

    Raises:
      TypeError: if ``computation`` is not callable or ``operands`` no sequence.

    Example:
      >>> import xlaops as xo
      >>> print(xo.call(lambda x, y: x * y, [3.0, 4.0]))
      12.0

    Source: *Call* in XLA's Operation semantics; ``func.call``.
    """
    if not callable(computation):
        raise TypeError(
            f"call: computation must be callable, got {checks.describe(computation)}"
        )
    if not isinstance(operands, (tuple, list)):
        raise TypeError(
            f"call: operands must be a sequence, got {checks.describe(operands)}"
        )
    return jax.jit(computation)(*operands)


def optimization_barrier(operand: T) -> T:
    """The operand, through which the compiler moves nothing.

    Everything that ``operand`` depends on is computed before anything that depends on
    the result.

    Args:
      operand: array or pytree of arrays (the document's tuples).

    Returns:
      ``operand``.

    Raises:
      TypeError: if a leaf of ``operand`` is no array.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.optimization_barrier(jnp.arange(3))
      Array([0, 1, 2], dtype=int32)

    Source: *OptimizationBarrier* in XLA's Operation semantics;
    ``stablehlo.optimization_barrier``.
    """
    leaves, tree = jax.tree.flatten(operand)
    checked = [checks.array("optimization_barrier", "operand", x) for x in leaves]
    return lax.optimization_barrier(jax.tree.unflatten(tree, checked))
