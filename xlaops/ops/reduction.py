"""Elements combined over some dimensions.

The operations take computations, so they bypass the fast eager path of others.
"""

from collections.abc import Callable, Sequence
from typing import Any

from jax import Array
from jax.typing import ArrayLike

from ..core import bounded, bounded_folding, checks, folding
from ..core.typing import Dims


def reduce(
    operands: ArrayLike | Sequence[ArrayLike],
    init_values: ArrayLike | Sequence[ArrayLike],
    computation: Callable[..., Any],
    dimensions_to_reduce: Dims,
) -> Any:
    """Elements combined over some dimensions, beginning with initial values.

    In which order elements are combined is the compiler's choice: ``computation`` has
    to be associative, and each initial value enters once, whether it is the
    computation's identity or not.

    Derivatives with respect to operands and initial values work for any computation
    that has them.

    Args:
      operands: N arrays of one shape; an array by itself is one.
      init_values: N scalars of the operands' element types, or one by itself.
      computation: called with 2N scalars, N running values and N elements; returns the
        N new running values, as a tuple (one scalar alone if N is 1). It may use no
        traced value that is not among its arguments.
      dimensions_to_reduce: the dimensions that the result does not have, in any order.
        Without any, the initial values are combined with each element.

    Returns:
      A tuple of N arrays with the remaining dimensions; one array alone if N is 1.

    Raises:
      TypeError: if shapes or element types differ, or if ``computation`` is not
        callable, returns other types or holds what XLA cannot run inside of an
        operation.
      ValueError: if a dimension is out of range or named twice, or there are no
        operands.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([[1.0, 5.0, 5.0], [2.0, 0.0, 1.0]])
      >>> xo.reduce([x], [10.0], lambda total, v: total + v, [1])
      Array([21., 13.], dtype=float32)

      The last of the largest elements, and where it is:

      >>> def last_largest(largest, place, v, i):
      ...     return jnp.where(v >= largest, v, largest), jnp.where(
      ...         v >= largest, i, place
      ...     )
      >>> columns = xo.iota("s32[2,3]", 1)
      >>> values, places = xo.reduce([x, columns], [-jnp.inf, -1], last_largest, [1])
      >>> print(values, places)
      [5. 2.] [2 0]

    Source: *Reduce* in XLA's Operation semantics; ``stablehlo.reduce``.
    """
    return _reduce("reduce", operands, init_values, computation, dimensions_to_reduce)


def reduce_all(
    operand: ArrayLike, init_value: ArrayLike, computation: Callable[..., Any]
) -> Array:
    """All elements of an array combined, beginning with an initial value.

    Args:
      operand: array of any shape.
      init_value: scalar of its element type.
      computation: called with two scalars, the running value and an element; returns
        the new running value. See `reduce`.

    Returns:
      A scalar.

    Raises:
      TypeError: if element types differ, or if ``computation`` is not callable, returns
        another type or holds what XLA cannot run inside of an operation.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> print(xo.reduce_all(jnp.array([[1, 5], [2, 3]]), 100, xo.add))
      111

    Source: ``ReduceAll`` of ``xla_builder.h``, a form of *Reduce* in XLA's Operation
    semantics; ``stablehlo.reduce``.
    """
    x = operand
    if not isinstance(x, bounded.BoundedArray):
        x = checks.array("reduce_all", "operand", x)
    return _reduce("reduce_all", [x], [init_value], computation, range(x.ndim))


def _reduce(
    operation: str,
    operands: Any,
    init_values: Any,
    computation: Callable[..., Any],
    dimensions_to_reduce: Any,
) -> Any:
    single = operation == "reduce_all"
    names = ("operand", "init_value") if single else ("operands", "init_values")
    operands, sizes = bounded.split(operation, names[0], checks.one_or_more(operands))
    xs, inits = folding.operands_and_inits(operation, names, operands, init_values)
    dims = checks.integers(operation, "dimensions_to_reduce", dimensions_to_reduce)
    checks.distinct_dimensions(operation, "dimensions_to_reduce", dims, xs[0].ndim)
    reducer = folding.reducer(operation, "computation", computation, xs)
    if sizes is None:
        results = folding.reduce(xs, inits, reducer, sorted(dims))
    else:
        results = bounded_folding.reduce(xs, sizes, inits, reducer, sorted(dims))
    return results[0] if len(results) == 1 else results
