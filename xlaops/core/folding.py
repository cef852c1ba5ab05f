"""Elements combined by a computation along dimensions of an array."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from . import checks, mixing
from .compat import Tracer, batching, stablehlo
from .computation import Computation, Role, derived, traced
from .primitive import equally_varying, whole_along
from .regions import (
    barrier,
    batch_to_front,
    batched_as,
    differentiated_as,
    fill,
    integers,
    region_primitive,
)

# For each computation of one operation the function of jax.lax that reduces with it,
# and the kinds of element types for which it does the same.
_OF_LAX = {
    "add": (lax.reduce_sum, "iufc"),
    "mul": (lax.reduce_prod, "iufc"),
    "max": (lax.reduce_max, "iuf"),
    "min": (lax.reduce_min, "iuf"),
    "and": (lax.reduce_and, "biu"),
    "or": (lax.reduce_or, "biu"),
    "xor": (lax.reduce_xor, "biu"),
}


def operands_and_inits(
    operation: str, names: tuple[str, str], operands: Any, init_values: Any
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Operands of one shape, with an initial value of its element type for each.

    Args:
      operation: for messages.
      names: the parameters that hold them, for messages.
      operands: a sequence of arrays.
      init_values: a scalar, or a sequence of them; Python scalars take the operand's
        type.
    """
    of_operands, of_inits = names
    xs = checks.arrays(operation, of_operands, operands)
    init_values = checks.one_or_more(init_values)
    checks.numbers(operation, of_operands, xs)
    checks.same_shape(operation, of_operands, xs)
    if isinstance(init_values, str) or not isinstance(init_values, Sequence):
        raise TypeError(
            f"{operation}: {of_inits} must be a sequence of scalars, "
            f"got {checks.describe(init_values)}"
        )
    if len(init_values) != len(xs):
        raise ValueError(
            f"{operation}: {of_inits} must have one entry for each of the {len(xs)} "
            f"{of_operands}, got {len(init_values)}"
        )
    pairs = [
        checks.same_element_type(
            operation, **{f"{of_operands}[{i}]": x, f"{of_inits}[{i}]": init}
        )
        for i, (x, init) in enumerate(zip(xs, init_values, strict=True))
    ]
    for i, (_, init) in enumerate(pairs):
        if init.ndim:
            raise TypeError(
                f"{operation}: {of_inits}[{i}] must be a scalar, "
                f"got {checks.describe(init)}"
            )
    return tuple(x for x, _ in pairs), tuple(init for _, init in pairs)


def reducer(
    operation: str, parameter: str, computation: Any, operands: Sequence[Array]
) -> Computation:
    """The computation of N running values and N elements of the operands' types."""
    dtypes = [x.dtype for x in operands]
    role = Role(operation, parameter, "running values, then elements")
    return traced(role, computation, dtypes * 2, dtypes)


def reduce(
    operands: Sequence[Array],
    inits: Sequence[Array],
    computation: Computation,
    dimensions: Sequence[int],
) -> tuple[Array, ...]:
    """Operands of one shape, reduced over some dimensions.

    Args:
      operands: N arrays of one shape.
      inits: N scalars of their element types.
      computation: takes N running values and N elements, and returns N running values.
      dimensions: the dimensions that go, ascending.

    Returns:
      N arrays with the remaining dimensions.
    """
    if math.prod(operands[0].shape[d] for d in dimensions) == 1:
        # XLA would leave out the initial values.
        shape = _reduced_shape(operands[0].shape, dimensions)
        values = [lax.reshape(x, shape) if dimensions else x for x in operands]
        return with_inits(values, inits, computation)
    is_neutral = is_identity(computation.pattern, inits[0])
    reducer = _of_lax(operands, computation)
    if reducer is not None:
        result = reducer(operands[0], dimensions)
        return (result,) if is_neutral else with_inits([result], inits, computation)
    if mixing.is_mixed(operands):
        results = reduce(
            mixing.held(operands),
            mixing.held(inits),
            mixing.of_held(computation),
            dimensions,
        )
        return tuple(mixing.converted(results, [x.dtype for x in operands]))
    return tuple(
        _reduce_p.bind(
            *equally_varying(*operands, *inits),
            computation=computation,
            dimensions=tuple(dimensions),
            is_neutral=is_neutral,
        )
    )


def _reduced_shape(shape: Sequence[int], dimensions: Sequence[int]) -> tuple[int, ...]:
    return tuple(n for d, n in enumerate(shape) if d not in dimensions)


def is_identity(pattern: str, init: Any) -> bool:
    """Whether a value is known to be the one that changes nothing."""
    if not pattern or isinstance(init, Tracer):
        return False
    identity = identity_of(pattern, init.dtype)
    value = np.asarray(init)
    return identity is not None and value.tobytes() == identity.tobytes()


def identity_of(pattern: str, dtype: Any) -> np.ndarray | None:
    """The value that changes nothing in a computation of one operation."""
    kind = checks.kind(dtype)
    if pattern in ("add", "mul"):
        identity = np.array(pattern == "mul", dtype)
        return None if kind == "f" and np.isnan(identity) else identity
    if pattern in ("and", "or", "xor") and kind in "biu":
        zero = np.zeros((), dtype)
        return np.invert(zero) if pattern == "and" else zero
    if pattern in ("max", "min") and kind in "iuf":
        if kind == "f":
            limits = jnp.finfo(dtype)
            low, high = (-np.inf, np.inf)
            if not np.isinf(np.array(np.inf, dtype)):  # a type without infinities
                low, high = limits.min, limits.max
        else:
            limits = jnp.iinfo(dtype)
            low, high = limits.min, limits.max
        return np.array(low if pattern == "max" else high, dtype)
    return None


def _of_lax(operands: Sequence[Array], computation: Computation) -> Any:
    pattern, dtype = computation.pattern, operands[0].dtype
    reducer, kinds = _OF_LAX.get(pattern, (None, ""))
    if pattern in ("and", "or", "xor") and dtype in mixing.NARROW:
        return None  # which those of jax.lax refuse
    if pattern in ("add", "max", "min") and identity_of("add", dtype) is None:
        return None  # those of jax.lax begin with a zero or infinity that is not there
    return reducer if checks.kind(dtype) in kinds else None


def with_inits(
    values: Sequence[Array], inits: Sequence[Array], computation: Computation
) -> tuple[Array, ...]:
    """The computation of the initial values and one more value each, elementwise."""
    spread = [lax.full_like(x, init) for x, init in zip(values, inits, strict=True)]
    return computation.elementwise(*equally_varying(*spread, *values))


def fold(
    arrays: Sequence[Array], computation: Computation, dimensions: Sequence[int]
) -> Sequence[Array]:
    """The same as a reduction without initial values, of operations on halves.

    Neighbours are combined with one another, so the order is kept. At least one element
    must be there.
    """
    for d in sorted(dimensions, reverse=True):
        arrays = _fold_dimension(arrays, computation, d)
    return [lax.squeeze(x, dimensions) for x in arrays]


def _fold_dimension(
    arrays: Sequence[Array], computation: Computation, dimension: int
) -> Sequence[Array]:
    """One dimension combined to the size 1."""
    values = [whole_along(x, dimension) for x in arrays]
    count = values[0].shape[dimension]
    rest: Sequence[Array] | None = None  # what is behind the last pair

    def part(start: int, stop: int, stride: int = 1) -> list[Array]:
        return [
            lax.slice_in_dim(x, start, stop, stride, axis=dimension) for x in values
        ]

    while count > 1:
        paired = count - count % 2
        if paired < count:
            last = part(paired, count)
            rest = last if rest is None else computation.elementwise(*last, *rest)
        values = list(computation.elementwise(*part(0, paired, 2), *part(1, paired, 2)))
        count = paired // 2
    return values if rest is None else computation.elementwise(*values, *rest)


# The primitive. XLA takes initial values for identities: it lets one enter several
# times or not at all, as it suits the backend, or where it rewrites a reduction of what
# was concatenated, reduced or sliced. So they are given to it in a form that is right
# for other values too, unless `is_neutral` says that they change nothing.


def _result_shapes(
    *avals: Any, dimensions: tuple[int, ...], **params: Any
) -> list[tuple[int, ...]]:
    return [_reduced_shape(avals[0].shape, dimensions)] * (len(avals) // 2)


def _build(
    ctx: Any,
    results: Sequence[Any],
    values: Sequence[Any],
    *,
    computation: Computation,
    dimensions: tuple[int, ...],
    is_neutral: bool,
) -> Any:
    count = len(values) // 2
    operands, inits = values[:count], values[count:]
    if not is_neutral:
        # The CPU backend goes through the elements in order, beginning with the initial
        # value, once nothing is left for it to rewrite.
        operands = barrier(operands)
    op = stablehlo.ReduceOp(results, operands, inits, integers(dimensions))
    fill(ctx, op.regions[0], computation)
    return op


def _beginning_with_nothing(
    *values: Array,
    computation: Computation,
    dimensions: tuple[int, ...],
    is_neutral: bool,
) -> Sequence[Array]:
    """The same with initial values that are identities, for other backends.

    They split reductions into parts, each of which begins with the initial value.
    """
    count = len(values) // 2
    operands, inits = values[:count], values[count:]
    dtypes = (*computation.inputs[:count], np.dtype(bool))
    present = lax.full_like(operands[0], True, bool)
    *results, is_any = _reduce_p.bind(
        *equally_varying(*operands, present, *inits, jnp.array(False)),
        computation=derived(functools.partial(of_present, computation), dtypes * 2),
        dimensions=dimensions,
        is_neutral=True,
    )
    combined = with_inits(results, inits, computation)
    return [
        lax.select(is_any, y, lax.full_like(y, init))
        for y, init in zip(combined, inits, strict=True)
    ]


def of_present(computation: Computation, *scalars: Any) -> tuple[Any, ...]:
    """The computation of values that may be absent, each with whether it is there.

    Args:
      computation: takes N running values and N elements, and returns N running values.
      *scalars: N running values and whether they are there, then the same of elements.

    Returns:
      N running values, and whether they are there.
    """
    count = len(scalars) // 2 - 1
    left, has_left = scalars[:count], scalars[count]
    right, has_right = scalars[count + 1 : -1], scalars[-1]
    results = [
        lax.select(has_left, lax.select(has_right, y, a), b)
        for y, a, b in zip(computation(*left, *right), left, right, strict=True)
    ]
    return (*results, lax.bitwise_or(has_left, has_right))


def _equivalent(
    *values: Array,
    computation: Computation,
    dimensions: tuple[int, ...],
    is_neutral: bool,
) -> Sequence[Array]:
    count = len(values) // 2
    operands, inits = values[:count], values[count:]
    if any(operands[0].shape[d] == 0 for d in dimensions):
        shape = _reduced_shape(operands[0].shape, dimensions)
        return [lax.broadcast(init, shape) for init in inits]
    return with_inits(fold(operands, computation, dimensions), inits, computation)


def _batch(args: Any, dims: Any, *, dimensions: tuple[int, ...], **params: Any) -> Any:
    count = len(args) // 2
    if any(d is not None for d in dims[count:]):
        # The operation has room for one initial value only.
        return batched_as(_equivalent, args, dims, dimensions=dimensions, **params)
    operands = batch_to_front(args[:count], dims[:count])
    results = _reduce_p.bind(
        *operands, *args[count:], dimensions=tuple(d + 1 for d in dimensions), **params
    )
    return results, [0] * count


_reduce_p = region_primitive(
    "reduce",
    _result_shapes,
    _build,
    elsewhere=_beginning_with_nothing,
    # Partitioned, it would be a reduction between devices with that computation, which
    # backends do not have.
    partitioned=_equivalent,
)
differentiated_as(_reduce_p, _equivalent)
batching.primitive_batchers[_reduce_p] = _batch
