"""A computation applied to each element.

The operation takes a computation, so it bypasses the fast eager path of others.
"""

from collections.abc import Callable, Sequence
from typing import Any

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, compat
from ..core.computation import Role, traced
from ..core.primitive import equally_varying
from ..core.typing import Dims


def map(
    operands: Sequence[ArrayLike],
    computation: Callable[..., Any],
    dimensions: Dims,
    static_operands: Sequence[ArrayLike] = (),
) -> Array:
    """The results of a computation for the elements at each position.

    The computation may hold loops and branches, which each element goes through on its
    own. Derivatives are those of the computation.

    Args:
      operands: N arrays of one shape.
      computation: called with N scalars; returns one scalar of any type. It may use no
        traced value that is not among its arguments.
      dimensions: all dimensions of the operands, in order: the document has no other
        use for it.
      static_operands: has to be empty.

    Returns:
      An array of the operands' shape and the element type of the result.

    Raises:
      TypeError: if shapes differ, or if ``computation`` is not callable, returns
        anything but a scalar or uses a traced value, or if ``static_operands`` is no
        sequence.
      ValueError: if ``dimensions`` are not all dimensions in order, there are no
        operands, or there are ``static_operands``.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x, y = jnp.array([1.0, 2.0]), jnp.array([3.0, 5.0])
      >>> xo.map([x, y], lambda a, b: a * b + 1, [0])
      Array([ 4., 11.], dtype=float32)

    Source: *Map* in XLA's Operation semantics. No ``stablehlo.map`` is left of it: the
    operations of the computation are written out for whole arrays, to which XLA's
    compilers turn a map themselves.
    """
    xs = checks.arrays("map", "operands", operands)
    checks.numbers("map", "operands", xs)
    checks.same_shape("map", "operands", xs)
    rank = xs[0].ndim
    dims = checks.integers("map", "dimensions", dimensions)
    if dims != tuple(range(rank)):
        raise ValueError(
            f"map: dimensions must be all dimensions of the operands in order, "
            f"{tuple(range(rank))}, got {dims}"
        )
    if not isinstance(static_operands, (tuple, list)):
        raise TypeError(
            f"map: static_operands must be an empty sequence, got "
            f"{checks.describe(static_operands)}"
        )
    if static_operands:
        raise ValueError(
            f"map: static_operands must be empty, as XLA has none, got "
            f"{len(static_operands)}"
        )
    role = Role("map", "computation", "one of each operand")
    traced_computation = traced(
        role, computation, [x.dtype for x in xs], None, in_region=False
    )
    if compat.FOLDING_DIVIDES_BY_ZERO and traced_computation.divides_integers:
        xs = lax.optimization_barrier(xs)  # so that they are no constants
    (result,) = traced_computation.elementwise(*equally_varying(*xs))
    return result
