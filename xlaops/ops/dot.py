"""Contractions of two arrays."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, products
from ..core.operation import operation
from ..core.typing import DotDimensionNumbersLike, DTypeLike, PrecisionConfigLike
from ..types import DotDimensionNumbers, PrecisionConfig

_precision = checks.optional(checks.coerced(PrecisionConfig.coerce))


@operation(
    precision_config=_precision,
    preferred_element_type=checks.optional(checks.element_type),
)
def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Sum of products over dimension 1 of ``lhs`` (0 of a vector) and 0 of ``rhs``.

    That is the product of vectors, of a matrix and a vector, or of matrices. Operands
    of higher rank, on which the document is silent, are contracted over the same
    dimensions, as XlaBuilder does.

    Args:
      lhs: array of rank 1 or more.
      rhs: array of rank 1 or more and of the element type of ``lhs``. Two different
        floating-point types may be multiplied if ``preferred_element_type`` says what
        comes of it.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands (so that a sum of int8 products wraps in int8). Only of
        floating-point operands it may be a narrower one.

    Returns:
      An array with the remaining dimensions of ``lhs``, then those of ``rhs``.

    Raises:
      TypeError: if an operand is a scalar or no array, or if element types or the
        contracted sizes differ.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.dot(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 10.0]))
      Array([21., 43.], dtype=float32)

    Source: *Dot* in XLA's Operation semantics; ``stablehlo.dot_general``.
    """
    x, y = _operands("dot", lhs, rhs, preferred_element_type)
    for name, operand in (("lhs", x), ("rhs", y)):
        if operand.ndim == 0:
            raise TypeError(f"dot: {name} must have rank 1 or more, got a scalar")
    numbers = DotDimensionNumbers((0 if x.ndim == 1 else 1,), (0,))
    return _contract("dot", x, y, numbers, precision_config, preferred_element_type)


@operation(
    dimension_numbers=checks.coerced(DotDimensionNumbers.coerce),
    precision_config=_precision,
    preferred_element_type=checks.optional(checks.element_type),
)
def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DotDimensionNumbersLike,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Sum of products over any dimensions, for each element of batch dimensions.

    Args:
      lhs: array.
      rhs: array of the element type of ``lhs``. Two different floating-point types may
        be multiplied if ``preferred_element_type`` says what comes of it.
      dimension_numbers: which dimensions of each are contracted and which are batch
        dimensions, pairwise of equal size: a `xlaops.DotDimensionNumbers`, a mapping of
        its fields, or ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands (so that a sum of int8 products wraps in int8). Only of
        floating-point operands it may be a narrower one.

    Returns:
      An array with the batch dimensions, in the order given, then the remaining ones of
      ``lhs``, then those of ``rhs``.

    Raises:
      TypeError: if an operand is no array, or if element types or paired sizes differ.
      ValueError: if ``dimension_numbers`` repeats dimensions or leaves the range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x, y = jnp.ones((4, 2, 3)), jnp.ones((4, 3, 5))
      >>> xo.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))).shape
      (4, 2, 5)

    Source: *DotGeneral* in XLA's Operation semantics; ``stablehlo.dot_general``.
    """
    x, y = _operands("dot_general", lhs, rhs, preferred_element_type)
    numbers = DotDimensionNumbers.coerce(dimension_numbers)
    for name, dims, operand in (
        ("lhs_contracting_dimensions", numbers.lhs_contracting_dimensions, x),
        ("rhs_contracting_dimensions", numbers.rhs_contracting_dimensions, y),
        ("lhs_batch_dimensions", numbers.lhs_batch_dimensions, x),
        ("rhs_batch_dimensions", numbers.rhs_batch_dimensions, y),
    ):
        checks.distinct_dimensions("dot_general", name, dims, operand.ndim)
    return _contract(
        "dot_general", x, y, numbers, precision_config, preferred_element_type
    )


def _operands(
    operation: str,
    lhs: ArrayLike,
    rhs: ArrayLike,
    preferred_element_type: DTypeLike | None,
) -> tuple[Array, Array]:
    x = checks.operand(operation, "lhs", lhs, "biufc")
    y = checks.operand(operation, "rhs", rhs, "biufc")
    mixed = checks.kind(x.dtype) == checks.kind(y.dtype) == "f"
    if x.dtype != y.dtype and not (mixed and preferred_element_type is not None):
        tip = " (Tip: with preferred_element_type they may differ.)" if mixed else ""
        raise TypeError(
            f"{operation}: lhs and rhs must have the same element type, got "
            f"{checks.describe(x)} and {checks.describe(y)}.{tip}"
        )
    products.check_sum_type(operation, x, preferred_element_type)
    if checks.kind(x.dtype) in "iuc":
        products.check_not_narrower(operation, x, preferred_element_type)
    return x, y


def _contract(
    operation: str,
    x: Array,
    y: Array,
    numbers: DotDimensionNumbers,
    precision_config: PrecisionConfigLike,
    preferred_element_type: DTypeLike | None,
) -> Array:
    for role, pairs in (
        (
            "contracting",
            zip(
                numbers.lhs_contracting_dimensions,
                numbers.rhs_contracting_dimensions,
                strict=True,
            ),
        ),
        (
            "batch",
            zip(
                numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions, strict=True
            ),
        ),
    ):
        for i, j in pairs:
            if x.shape[i] != y.shape[j]:
                raise TypeError(
                    f"{operation}: {role} dimensions must have equal sizes, got "
                    f"{x.shape[i]} in dimension {i} of lhs {x.shape} and {y.shape[j]} "
                    f"in dimension {j} of rhs {y.shape}"
                )
    precision = products.precision(operation, precision_config)

    def multiply(x: Array, y: Array, preferred: DTypeLike | None) -> Array:
        return lax.dot_general(
            x,
            y,
            numbers.to_lax(),
            precision=precision,
            preferred_element_type=preferred,
        )

    return products.product(multiply, x, y, preferred_element_type)
