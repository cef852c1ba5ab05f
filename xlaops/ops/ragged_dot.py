"""Products of groups of rows with a matrix for each group."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, primitive
from ..core.compat import (
    ad,
    batching,
    mlir,
    new_primitive,
    result_type_like,
)
from ..core.operation import operation
from ..core.typing import (
    DTypeLike,
    PrecisionConfigLike,
    RaggedDotDimensionNumbersLike,
)
from ..types import DotDimensionNumbers, PrecisionConfig, RaggedDotDimensionNumbers


@operation(
    dimension_numbers=checks.coerced(RaggedDotDimensionNumbers.coerce),
    precision_config=checks.optional(checks.coerced(PrecisionConfig.coerce)),
    preferred_element_type=checks.optional(checks.element_type),
)
def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    dimension_numbers: RaggedDotDimensionNumbersLike,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Sum of products, where one dimension of ``lhs`` consists of consecutive groups.

    What the groups do depends on which dimension of ``lhs`` is the ragged one:

    - neither contracting nor batch: ``rhs`` has a slice for each group, and the rows of
      group ``g`` are multiplied by slice ``g``; rows behind the last group give zero;
    - contracting: each group is summed over by itself, so that the result has one slice
      for each group in front; what lies behind the last group is left out;
    - batch: the groups change nothing, the result is that of `xlaops.dot_general`.

    It is linear in ``lhs`` and in ``rhs``, and has derivatives with respect to both.
    Backends without ragged products (all but TPU and GPU) multiply all rows by all
    slices and mask, so that a NaN or an infinity in one slice of ``rhs`` reaches every
    row there.

    Args:
      lhs: array.
      rhs: array of the element type of ``lhs``. Two different floating-point types may
        be multiplied if ``preferred_element_type`` says what comes of it.
      group_sizes: integers, not negative: one size for each of G groups, as an array of
        shape ``[G]``, or sizes of their own for each index in the dimensions before the
        ragged one (the batch dimensions, then those of its kind in front of it), as an
        array with these dimensions and G last.
      dimension_numbers: the contracting and batch dimensions, the ragged dimension of
        ``lhs`` and the group dimension of ``rhs`` (which only the first kind has): a
        `xlaops.RaggedDotDimensionNumbers`, a mapping of its fields, or its fields.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands.

    Returns:
      An array with G first if the ragged dimension is contracting, then the batch
      dimensions, the remaining ones of ``lhs``, and those of ``rhs`` but the group
      dimension.

    Raises:
      TypeError: if an operand is no array, or if element types or sizes that belong
        together differ.
      ValueError: if ``dimension_numbers`` repeats dimensions or leaves the range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> rows = jnp.array([[1.0], [2.0], [3.0], [4.0]])
      >>> slices = jnp.array([[[10.0]], [[100.0]]])
      >>> numbers = ((((1,), (1,)), ((), ())), (0,), (0,))
      >>> print(xo.ragged_dot(rows, slices, jnp.array([1, 2]), numbers).T)
      [[ 10. 200. 300.   0.]]

    Source: ``xla_builder.h``, as XLA's Operation semantics does not describe it;
    ``chlo.ragged_dot``.
    """
    x, y = _operands(lhs, rhs, preferred_element_type)
    sizes = checks.operand("ragged_dot", "group_sizes", group_sizes, "iu")
    if jnp.iinfo(sizes.dtype).bits < 32:
        # Sums of the sizes must not wrap around.
        sizes = lax.convert_element_type(sizes, np.int32)
    numbers = RaggedDotDimensionNumbers.coerce(dimension_numbers)
    _check(x, y, sizes, numbers)
    precision = PrecisionConfig.coerce(precision_config).to_lax()
    if precision is None:
        # Now, because the lowering happens outside of a context that sets it.
        precision = jax.config.jax_default_matmul_precision  # pyright: ignore
    return _bind(
        x,
        y,
        sizes,
        numbers=numbers,
        precision=precision,
        dtype=_result_dtype(x, y, preferred_element_type),
    )


def _operands(
    lhs: ArrayLike, rhs: ArrayLike, preferred_element_type: DTypeLike | None
) -> tuple[Array, Array]:
    x = checks.operand("ragged_dot", "lhs", lhs, "biufc")
    y = checks.operand("ragged_dot", "rhs", rhs, "biufc")
    mixed = checks.kind(x.dtype) == checks.kind(y.dtype) == "f"
    if x.dtype != y.dtype and not (mixed and preferred_element_type is not None):
        tip = " (Tip: with preferred_element_type they may differ.)" if mixed else ""
        raise TypeError(
            f"ragged_dot: lhs and rhs must have the same element type, got "
            f"{checks.describe(x)} and {checks.describe(y)}.{tip}"
        )
    return x, y


def _result_dtype(
    x: Array, y: Array, preferred_element_type: DTypeLike | None
) -> np.dtype:
    if preferred_element_type is None:
        return x.dtype
    if checks.kind(preferred_element_type) != checks.kind(x.dtype):
        raise TypeError(
            f"ragged_dot: preferred_element_type must be of the kind of the operands, "
            f"got {preferred_element_type} for {checks.describe(x)}"
        )

    def product(a: Array, b: Array) -> Array:
        return lax.dot(a, b, preferred_element_type=preferred_element_type)

    vectors = (jax.ShapeDtypeStruct((1,), v.dtype) for v in (x, y))
    try:
        return jax.eval_shape(product, *vectors).dtype
    except TypeError as error:
        raise TypeError(f"ragged_dot: preferred_element_type: {error}") from None


def _check(
    x: Array, y: Array, sizes: Array, numbers: RaggedDotDimensionNumbers
) -> None:
    dot = numbers.dot_dimension_numbers
    for name, dims, rank in (
        ("lhs_contracting_dimensions", dot.lhs_contracting_dimensions, x.ndim),
        ("rhs_contracting_dimensions", dot.rhs_contracting_dimensions, y.ndim),
        ("lhs_batch_dimensions", dot.lhs_batch_dimensions, x.ndim),
        ("rhs_batch_dimensions", dot.rhs_batch_dimensions, y.ndim),
        ("lhs_ragged_dimensions", numbers.lhs_ragged_dimensions, x.ndim),
        ("rhs_group_dimensions", numbers.rhs_group_dimensions, y.ndim),
    ):
        checks.distinct_dimensions("ragged_dot", name, dims, rank)
    for role, left, right in (
        (
            "contracting",
            dot.lhs_contracting_dimensions,
            dot.rhs_contracting_dimensions,
        ),
        ("batch", dot.lhs_batch_dimensions, dot.rhs_batch_dimensions),
    ):
        for i, j in zip(left, right, strict=True):
            if x.shape[i] != y.shape[j]:
                raise TypeError(
                    f"ragged_dot: {role} dimensions must have equal sizes, got "
                    f"{x.shape[i]} in dimension {i} of lhs {x.shape} and {y.shape[j]} "
                    f"in dimension {j} of rhs {y.shape}"
                )
    roles = _Roles(numbers, x.ndim, y.ndim)
    if len(numbers.rhs_group_dimensions) != (roles.mode == "free"):
        rule = (
            "one dimension of rhs where the ragged dimension is neither contracting "
            "nor batch"
            if roles.mode == "free"
            else f"empty where the ragged dimension is {roles.mode}"
        )
        raise ValueError(
            f"ragged_dot: rhs_group_dimensions must be {rule}, got "
            f"{numbers.rhs_group_dimensions} with lhs_ragged_dimensions="
            f"{numbers.lhs_ragged_dimensions}"
        )
    before = tuple(x.shape[d] for d in roles.before)
    if sizes.ndim == 0 or (sizes.ndim > 1 and sizes.shape[:-1] != before):
        raise TypeError(
            f"ragged_dot: group_sizes must have shape [G] or {[*before, 'G']} for lhs "
            f"{x.shape}, got {checks.describe(sizes)}"
        )
    for d in numbers.rhs_group_dimensions:
        if y.shape[d] != sizes.shape[-1]:
            raise TypeError(
                f"ragged_dot: rhs_group_dimensions must have the size "
                f"{sizes.shape[-1]} of the last dimension of group_sizes, got "
                f"{y.shape[d]} in dimension {d} of rhs {y.shape}"
            )


class _Roles:
    """What each dimension of the operands is, and where the result has it.

    Attributes:
      mode: what the ragged dimension is: ``"free"`` (neither of the others),
        ``"contracting"`` or ``"batch"``.
      lhs_kept: the free dimensions of lhs.
      rhs_kept: those of rhs, without the group dimension.
      before: the dimensions of lhs for which there may be group sizes of their own.
      first: how many dimensions of the result come before its batch dimensions.
      result_lhs: where the result has ``lhs_kept``.
      result_rhs: where the result has ``rhs_kept``.
    """

    def __init__(
        self, numbers: RaggedDotDimensionNumbers, lhs_rank: int, rhs_rank: int
    ) -> None:
        dot = numbers.dot_dimension_numbers
        contracting, batch = dot.lhs_contracting_dimensions, dot.lhs_batch_dimensions
        (ragged,) = numbers.lhs_ragged_dimensions
        used = (
            *dot.rhs_contracting_dimensions,
            *dot.rhs_batch_dimensions,
            *numbers.rhs_group_dimensions,
        )
        self.lhs_kept = tuple(
            d for d in range(lhs_rank) if d not in (*contracting, *batch)
        )
        self.rhs_kept = tuple(d for d in range(rhs_rank) if d not in used)
        if ragged in batch:
            self.mode = "batch"
            self.before = batch[: batch.index(ragged)]
        elif ragged in contracting:
            self.mode = "contracting"
            self.before = (*batch, *contracting[: contracting.index(ragged)])
        else:
            self.mode = "free"
            self.before = (*batch, *self.lhs_kept[: self.lhs_kept.index(ragged)])
        self.first = int(self.mode == "contracting")
        start = self.first + len(batch)
        middle = start + len(self.lhs_kept)
        self.result_lhs = tuple(range(start, middle))
        self.result_rhs = tuple(range(middle, middle + len(self.rhs_kept)))


# jax.lax cannot batch it unless every operand is batched in front, and has derivatives
# for a free ragged dimension only.
_ragged_dot = new_primitive("ragged_dot")


def _bind(
    x: Array,
    y: Array,
    sizes: Array,
    *,
    numbers: RaggedDotDimensionNumbers,
    precision: Any,
    dtype: DTypeLike,
) -> Array:
    operands = primitive.equally_varying(x, y, sizes)
    return _ragged_dot.bind(
        *operands, numbers=numbers, precision=precision, dtype=np.dtype(dtype)
    )


@_ragged_dot.def_abstract_eval
def _type(
    x: Any,
    y: Any,
    sizes: Any,
    *,
    numbers: RaggedDotDimensionNumbers,
    precision: Any,
    dtype: np.dtype,
) -> Any:
    roles = _Roles(numbers, x.ndim, y.ndim)
    shape = (
        *sizes.shape[-1:] * roles.first,
        *(x.shape[d] for d in numbers.dot_dimension_numbers.lhs_batch_dimensions),
        *(x.shape[d] for d in roles.lhs_kept),
        *(y.shape[d] for d in roles.rhs_kept),
    )
    return result_type_like(x, shape, dtype)


def _lax_ragged_dot(
    x: Array,
    y: Array,
    sizes: Array,
    *,
    numbers: RaggedDotDimensionNumbers,
    precision: Any,
    dtype: np.dtype,
) -> Array:
    return lax.ragged_dot_general(
        x,
        y,
        sizes,
        numbers.to_lax(),
        precision=precision,
        preferred_element_type=dtype,
    )


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    x, y, sizes = primals
    dx, dy, _ = tangents
    result = _bind(x, y, sizes, **params)
    terms = []
    if type(dx) is not ad.Zero:
        terms.append(_bind(dx, y, sizes, **params))
    if type(dy) is not ad.Zero:
        terms.append(_bind(x, dy, sizes, **params))
    if not terms:
        return result, lax.full_like(result, 0)
    return result, terms[0] if len(terms) == 1 else lax.add(*terms)


def _transpose(
    cotangent: Any,
    x: Any,
    y: Any,
    sizes: Any,
    *,
    numbers: RaggedDotDimensionNumbers,
    precision: Any,
    dtype: np.dtype,
) -> Any:
    wants_lhs = ad.is_undefined_primal(x)
    wanted = (x if wants_lhs else y).aval
    if type(cotangent) is ad.Zero:
        zero = ad.Zero(wanted)
        return (zero, None, None) if wants_lhs else (None, zero, None)
    x_rank, y_rank = (
        v.aval.ndim if ad.is_undefined_primal(v) else v.ndim for v in (x, y)
    )
    product = _lhs_gradient if wants_lhs else _rhs_gradient
    gradient, layout = product(
        cotangent,
        y if wants_lhs else x,
        sizes,
        numbers,
        _Roles(numbers, x_rank, y_rank),
        precision,
    )
    gradient = lax.transpose(gradient, tuple(np.argsort(layout)))
    gradient = lax.convert_element_type(gradient, wanted.dtype)
    return (gradient, None, None) if wants_lhs else (None, gradient, None)


def _lhs_gradient(
    cotangent: Array,
    y: Array,
    sizes: Array,
    numbers: RaggedDotDimensionNumbers,
    roles: _Roles,
    precision: Any,
) -> tuple[Array, tuple[int, ...]]:
    """The gradient, and which dimension of lhs each of its dimensions is."""
    dot = numbers.dot_dimension_numbers
    batch = tuple(range(roles.first, roles.first + len(dot.lhs_batch_dimensions)))
    if roles.mode == "contracting":
        # Row k of lhs belongs to the group of row k of rhs: rows of rhs, times the
        # slice of the cotangent for their group. The dimensions are brought into the
        # order in which they are numbered, which is that of the group sizes.
        y, contracted = _arranged(
            y, dot.rhs_batch_dimensions, dot.rhs_contracting_dimensions, roles.rhs_kept
        )
        n = len(batch)
        index = dot.lhs_contracting_dimensions.index(*numbers.lhs_ragged_dimensions)
        product = RaggedDotDimensionNumbers(
            DotDimensionNumbers(
                tuple(range(n + len(contracted), y.ndim)),
                roles.result_rhs,
                tuple(range(n)),
                batch,
            ),
            (contracted[index],),
            (0,),
        )
        layout = (
            *dot.lhs_batch_dimensions,
            *dot.lhs_contracting_dimensions,
            *roles.lhs_kept,
        )
        return _times(y, cotangent, sizes, product, precision), layout
    dimensions = DotDimensionNumbers(
        roles.result_rhs, roles.rhs_kept, batch, dot.rhs_batch_dimensions
    )
    order = np.argsort(dot.rhs_contracting_dimensions)
    layout = (
        *dot.lhs_batch_dimensions,
        *roles.lhs_kept,
        *(dot.lhs_contracting_dimensions[i] for i in order),
    )
    (ragged,) = numbers.lhs_ragged_dimensions
    if roles.mode == "batch":
        where = dot.lhs_batch_dimensions.index(ragged)
    else:
        where = roles.result_lhs[roles.lhs_kept.index(ragged)]
    product = RaggedDotDimensionNumbers(
        dimensions, (where,), numbers.rhs_group_dimensions
    )
    return _times(cotangent, y, sizes, product, precision), layout


def _rhs_gradient(
    cotangent: Array,
    x: Array,
    sizes: Array,
    numbers: RaggedDotDimensionNumbers,
    roles: _Roles,
    precision: Any,
) -> tuple[Array, tuple[int, ...]]:
    """The gradient, and which dimension of rhs each of its dimensions is."""
    dot = numbers.dot_dimension_numbers
    batch = tuple(range(roles.first, roles.first + len(dot.lhs_batch_dimensions)))
    if roles.mode == "contracting":
        # As for lhs: row k of rhs belongs to the group of row k of lhs.
        x, contracted = _arranged(
            x, dot.lhs_batch_dimensions, dot.lhs_contracting_dimensions, roles.lhs_kept
        )
        n = len(batch)
        index = dot.lhs_contracting_dimensions.index(*numbers.lhs_ragged_dimensions)
        product = RaggedDotDimensionNumbers(
            DotDimensionNumbers(
                tuple(range(n + len(contracted), x.ndim)),
                roles.result_lhs,
                tuple(range(n)),
                batch,
            ),
            (contracted[index],),
            (0,),
        )
        layout = (
            *dot.rhs_batch_dimensions,
            *dot.rhs_contracting_dimensions,
            *roles.rhs_kept,
        )
        return _times(x, cotangent, sizes, product, precision), layout
    # A free ragged dimension is summed over here, group by group.
    product = RaggedDotDimensionNumbers(
        DotDimensionNumbers(
            roles.lhs_kept, roles.result_lhs, dot.lhs_batch_dimensions, batch
        ),
        numbers.lhs_ragged_dimensions,
    )
    order = np.argsort(dot.lhs_contracting_dimensions)
    layout = (
        *numbers.rhs_group_dimensions,
        *dot.rhs_batch_dimensions,
        *(dot.rhs_contracting_dimensions[i] for i in order),
        *roles.rhs_kept,
    )
    return _times(x, cotangent, sizes, product, precision), layout


def _arranged(
    x: Array, batch: Sequence[int], contracting: Sequence[int], kept: Sequence[int]
) -> tuple[Array, tuple[int, ...]]:
    """The array in this order of dimensions, and where the contracting ones are."""
    start = len(batch)
    return (
        lax.transpose(x, (*batch, *contracting, *kept)),
        tuple(range(start, start + len(contracting))),
    )


def _times(
    x: Array,
    y: Array,
    sizes: Array,
    numbers: RaggedDotDimensionNumbers,
    precision: Any,
) -> Array:
    dtype = jnp.promote_types(x.dtype, y.dtype)
    return _bind(x, y, sizes, numbers=numbers, precision=precision, dtype=dtype)


def _batch(
    args: Any, dims: Any, *, numbers: RaggedDotDimensionNumbers, **params: Any
) -> Any:
    x, y, sizes = args
    x_dim, y_dim, sizes_dim = dims
    size = next(v.shape[d] for v, d in zip(args, dims, strict=True) if d is not None)
    roles = _Roles(numbers, x.ndim - (x_dim is not None), y.ndim - (y_dim is not None))
    before = tuple(
        x.shape[d + (x_dim is not None and d >= x_dim)] for d in roles.before
    )
    batch_count = len(numbers.dot_dimension_numbers.lhs_batch_dimensions)
    if y_dim is None and (sizes_dim is None or roles.mode == "free"):
        # One more free dimension of lhs, in front: rhs is not copied.
        x = batching.bdim_at_front(x, x_dim, size)
        if roles.mode == "free" and (sizes_dim is not None or sizes.ndim > 1):
            sizes = _expand_sizes(sizes, sizes_dim, size, before)
            sizes = jnp.moveaxis(sizes, 0, batch_count)
        result = _bind(x, y, sizes, numbers=_shifted(numbers, lhs=1), **params)
        return result, roles.first + batch_count
    y = batching.bdim_at_front(y, y_dim, size)
    if x_dim is None and sizes_dim is None:
        result = _bind(x, y, sizes, numbers=_shifted(numbers, rhs=1), **params)
        return result, roles.first + batch_count + len(roles.lhs_kept)
    x = batching.bdim_at_front(x, x_dim, size)
    if sizes_dim is not None or sizes.ndim > 1:
        sizes = _expand_sizes(sizes, sizes_dim, size, before)
    shifted = _shifted(numbers, lhs=1, rhs=1, batch=(0,))
    return _bind(x, y, sizes, numbers=shifted, **params), roles.first


def _expand_sizes(
    sizes: Array, dim: int | None, size: int, before: tuple[int, ...]
) -> Array:
    """Group sizes of their own for each index in the new and the other dimensions."""
    sizes = batching.bdim_at_front(sizes, dim, size)
    if sizes.ndim == 2 and before:
        shape = (size, *before, sizes.shape[-1])
        sizes = lax.broadcast_in_dim(sizes, shape, (0, len(shape) - 1))
    return sizes


def _shifted(
    numbers: RaggedDotDimensionNumbers,
    lhs: int = 0,
    rhs: int = 0,
    batch: tuple[int, ...] = (),
) -> RaggedDotDimensionNumbers:
    """The numbers for operands with new dimensions in front."""
    dot = numbers.dot_dimension_numbers
    return RaggedDotDimensionNumbers(
        DotDimensionNumbers(
            tuple(d + lhs for d in dot.lhs_contracting_dimensions),
            tuple(d + rhs for d in dot.rhs_contracting_dimensions),
            (*batch, *(d + lhs for d in dot.lhs_batch_dimensions)),
            (*batch, *(d + rhs for d in dot.rhs_batch_dimensions)),
        ),
        tuple(d + lhs for d in numbers.lhs_ragged_dimensions),
        tuple(d + rhs for d in numbers.rhs_group_dimensions),
    )


mlir.register_lowering(
    _ragged_dot, mlir.lower_fun(_lax_ragged_dot, multiple_results=False)
)
ad.primitive_jvps[_ragged_dot] = _jvp
ad.primitive_transposes[_ragged_dot] = _transpose
batching.primitive_batchers[_ragged_dot] = _batch
