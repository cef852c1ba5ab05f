"""Parts of arrays at indices that are known when the program is built."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..core.typing import Dims


@operation(
    start_indices=checks.integers,
    limit_indices=checks.integers,
    strides=checks.optional(checks.integers),
)
def slice(
    operand: ArrayLike,
    start_indices: Dims,
    limit_indices: Dims,
    strides: Dims | None = None,
) -> Array:
    """The sub-array between two corners, with steps.

    Args:
      operand: array of any element type and rank N.
      start_indices: N first indices, one for each dimension.
      limit_indices: N indices before which the slice ends, not below the first ones and
        not above the sizes.
      strides: N steps, at least 1; None is 1 in each dimension.

    Returns:
      An array of size ``ceil((limit - start) / stride)`` in each dimension.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if a list has not N entries or an index is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.slice(jnp.arange(12).reshape(3, 4), (0, 1), (3, 4), (2, 2))
      Array([[ 1,  3],
             [ 9, 11]], dtype=int32)

    Source: *Slice* in XLA's Operation semantics; ``stablehlo.slice``.
    """
    x = checks.array("slice", "operand", operand)
    steps = (1,) * x.ndim if strides is None else tuple(strides)
    for name, values in (
        ("start_indices", start_indices),
        ("limit_indices", limit_indices),
        ("strides", steps),
    ):
        if len(values) != x.ndim:
            raise ValueError(
                f"slice: {name} must have one entry for each dimension of operand "
                f"{x.shape}, got {tuple(values)}"
            )
    for i, (start, limit, step, size) in enumerate(
        zip(start_indices, limit_indices, steps, x.shape, strict=True)
    ):
        if not 0 <= start <= limit <= size:
            raise ValueError(
                f"slice: start_indices and limit_indices must satisfy 0 <= start <= "
                f"limit <= {size} in dimension {i} of operand {x.shape}, got "
                f"{start} and {limit}"
            )
        if not 1 <= step < 2**63:
            raise ValueError(f"slice: strides must be in [1, 2**63), got {steps}")
    return lax.slice(x, tuple(start_indices), tuple(limit_indices), strides)


@operation(
    start_index=checks.integer,
    limit_index=checks.integer,
    stride=checks.integer,
    dimno=checks.integer,
)
def slice_in_dim(
    operand: ArrayLike, start_index: int, limit_index: int, stride: int, dimno: int
) -> Array:
    """The part of an array between two indices of one dimension, with steps.

    Args:
      operand: array of any element type.
      start_index: first index, not negative.
      limit_index: index before which the slice ends, at most the size.
      stride: step, at least 1.
      dimno: the dimension, in ``[0, rank)``.

    Returns:
      An array of size ``ceil((limit_index - start_index) / stride)`` in ``dimno``.

    Raises:
      TypeError: if ``operand`` is no array.
      ValueError: if an index, ``stride`` or ``dimno`` is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.slice_in_dim(jnp.arange(10), 1, 8, 3, 0)
      Array([1, 4, 7], dtype=int32)

    Source: ``SliceInDim`` of ``xla_builder.h``; ``stablehlo.slice``.
    """
    x = checks.array("slice_in_dim", "operand", operand)
    checks.dimension("slice_in_dim", "dimno", dimno, x.ndim)
    size = x.shape[dimno]
    if not 0 <= start_index <= limit_index <= size:
        raise ValueError(
            f"slice_in_dim: start_index and limit_index must satisfy 0 <= start <= "
            f"limit <= {size} for dimension {dimno} of operand {x.shape}, got "
            f"{start_index} and {limit_index}"
        )
    if not 1 <= stride < 2**63:
        raise ValueError(f"slice_in_dim: stride must be in [1, 2**63), got {stride}")
    return lax.slice_in_dim(x, start_index, limit_index, stride, dimno)
