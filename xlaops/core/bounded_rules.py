"""What operations do with arrays of dynamic size, for those that have a fast path.

Operations that take computations ask `core.bounded` themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from . import bounded, checks
from .bounded import BoundedArray
from .primitive import sharding_like, whole_along

# Gets the operation's name and function, its operands and its static arguments.
Rule = Callable[[str, Callable[..., Any], Sequence[Any], Mapping[str, Any]], Any]

_NO_SIZE = np.iinfo(np.int32).max


def apply(
    operation: str,
    function: Callable[..., Any],
    names: Sequence[str],
    operands: Sequence[Any],
    static: Mapping[str, Any],
) -> Any:
    """The result of an operation, some of whose operands are BoundedArrays.

    Args:
      operation: its name.
      function: the operation for arrays.
      names: of the operands.
      operands: arrays, BoundedArrays, scalars or sequences of them.
      static: the other arguments, in normal form.
    """
    rule = RULES.get(operation)
    takes_sequence = rule is None or rule is _concat_in_dim

    def checked(parameter: str, value: Any) -> Any:
        if isinstance(value, (tuple, list)) and takes_sequence:
            return [checked(f"{parameter}[{i}]", x) for i, x in enumerate(value)]
        if type(value) in (bool, int, float, complex):
            return value
        if not isinstance(value, BoundedArray):
            return checks.array(operation, parameter, value)
        if rule is None:
            checks.array(operation, parameter, value)  # which refuses it
        return bounded.checked(operation, parameter, value)

    values = [checked(name, x) for name, x in zip(names, operands, strict=True)]
    assert rule is not None
    return rule(operation, function, values, static)


def _elementwise(
    operation: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    static: Mapping[str, Any],
) -> Any:
    values = [bounded.data_of(x) for x in operands]
    rank = max(np.ndim(x) for x in values)
    places = [_places(np.ndim(x), rank, static) for x in values]
    if None in places:  # the operation's own error says why
        return function(*values, **static)
    shape = [1] * rank
    for x, dims in zip(values, places, strict=True):
        for d, n in zip(dims, np.shape(x), strict=True):
            shape[d] = n if shape[d] == 1 else shape[d]
    sizes: list[Array | None] = [None] * rank
    for d in range(rank):
        own = [
            (i, dims.index(d), bounded.sizes_of(operands[i])[dims.index(d)])
            for i, dims in enumerate(places)
            if d in dims
        ]
        dynamic = [(i, j, size) for i, j, size in own if size is not None]
        common = _common([size for _, _, size in dynamic])
        for i, j, size in dynamic:
            if len({id(size) for _, _, size in dynamic}) > 1 and np.shape(values[i])[j]:
                values[i] = _stretched(values[i], j, size)
        stretched = all(np.shape(values[i])[j] == 1 for i, j, _ in dynamic)
        if common is not None and shape[d] > 1 and stretched:
            # A bound of one along what is static: all of it, or nothing.
            common = common * np.int32(shape[d])
        sizes[d] = common
    # Undefined elements may be such that a derivative is infinite, and zero times that
    # would reach a sum. At one, all functions have values and derivatives.
    for i, dims in enumerate(places):
        if dims and checks.kind(checks.element_type_of(values[i])) in "fc":
            x = values[i]
            own_sizes = {
                j: size
                for j, d in enumerate(dims)
                if (size := sizes[d]) is not None and x.shape[j] == shape[d]
            }
            values[i] = bounded.masked(x, own_sizes, 1)
    return bounded.wrapped(function(*values, **static), sizes)


def _places(rank: int, of_result: int, static: Mapping[str, Any]) -> Any:
    """The dimensions of the result that those of an operand become."""
    if rank in (0, of_result):
        return tuple(range(rank))
    dims = tuple(static.get("broadcast_dimensions") or ())
    fit = len(set(dims)) == len(dims) == rank and all(0 <= d < of_result for d in dims)
    return dims if fit else None


def _common(sizes: Sequence[Array]) -> Array | None:
    """The size of the result in a dimension: the smallest, but of 1 the others'."""
    if len({id(size) for size in sizes}) < 2:
        return sizes[0] if sizes else None
    one = np.int32(1)
    others = [lax.select(lax.eq(s, one), lax.full_like(s, _NO_SIZE), s) for s in sizes]
    found = bounded.smallest(others)
    assert found is not None
    return lax.select(lax.eq(found, np.int32(_NO_SIZE)), lax.full_like(found, 1), found)


def _stretched(x: Array, dimension: int, size: Array) -> Array:
    """An array whose element stands for all along a dimension of size 1."""
    first = lax.slice_in_dim(x, 0, 1, axis=dimension)
    stretched = lax.broadcast_in_dim(
        first, x.shape, range(x.ndim), out_sharding=sharding_like(x)
    )
    return lax.select(lax.eq(size, np.int32(1)), stretched, x)


def _dot(
    operation: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    static: Mapping[str, Any],
) -> Any:
    x, y = (
        checks.array(operation, name, bounded.data_of(operand))
        for name, operand in zip(("lhs", "rhs"), operands, strict=True)
    )
    numbers = static.get("dimension_numbers")
    if numbers is None:
        if 0 in (x.ndim, y.ndim):
            return function(x, y, **static)
        contracted, batch = ((0 if x.ndim == 1 else 1,), (0,)), ((), ())
    else:
        contracted = (
            numbers.lhs_contracting_dimensions,
            numbers.rhs_contracting_dimensions,
        )
        batch = numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions
        for dims, array in ((0, x), (1, y)):
            if any(d >= array.ndim for d in (*contracted[dims], *batch[dims])):
                return function(x, y, **static)
    left, right = (list(bounded.sizes_of(operand)) for operand in operands)
    for i, j in (*zip(*contracted, strict=True), *zip(*batch, strict=True)):
        left[i] = right[j] = bounded.smallest([left[i], right[j]])
    # In all dimensions: undefined elements would reach the derivative of the other.
    result = function(bounded.masked(x, left, 0), bounded.masked(y, right, 0), **static)
    sizes = [left[i] for i in batch[0]]
    sizes += [s for i, s in enumerate(left) if i not in (*contracted[0], *batch[0])]
    sizes += [s for j, s in enumerate(right) if j not in (*contracted[1], *batch[1])]
    return bounded.wrapped(result, sizes)


def _concat_in_dim(
    operation: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    static: Mapping[str, Any],
) -> Any:
    (values,) = operands
    if isinstance(values, BoundedArray):
        return function(values, **static)  # which refuses it
    data = [bounded.data_of(x) for x in values]
    joined = function(data, **static)  # which checks them
    dimension = static["dimension"]
    columns = list(zip(*map(bounded.sizes_of, values), strict=True))
    sizes = [bounded.smallest(column) for column in columns]
    if any(size is not None for size in columns[dimension]):
        # Each begins where the elements of the one before end, and its end overwrites
        # what was undefined there.
        dtype = joined.dtype
        if checks.kind(dtype) in "iu" and checks.bit_width(dtype) < 4:
            # As for arrays: the CPU backend moves whole bytes.
            data = [lax.convert_element_type(x, "int8") for x in data]
        data = [whole_along(x, dimension) for x in data]
        joined = lax.full_like(whole_along(joined, dimension), 0, data[0].dtype)
        start: Array = jnp.zeros((), np.int32)
        for x, size in zip(data, columns[dimension], strict=True):
            joined = lax.dynamic_update_slice_in_dim(joined, x, start, dimension)
            start = start + (np.int32(x.shape[dimension]) if size is None else size)
        joined = lax.convert_element_type(joined, dtype)
        sizes[dimension] = start
    return bounded.wrapped(joined, sizes)


def _pad(
    operation: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    static: Mapping[str, Any],
) -> Any:
    operand, value = operands
    if isinstance(value, BoundedArray):
        raise TypeError(
            f"{operation}: padding_value must be a scalar, got {value.bounded_shape}"
        )
    if operation == "pad_in_dim":
        config = [(0, 0, 0)] * operand.ndim
        dimno = checks.dimension(operation, "dimno", static["dimno"], operand.ndim)
        config[dimno] = (static["pad_lo"], static["pad_hi"], 0)
    else:
        config = list(static["padding_config"])
    function(operand.data, value, **static)  # which checks them
    # Behind the elements that count there is padding only.
    _, scalar = checks.same_element_type(
        operation, operand=operand.data, padding_value=value
    )
    x = bounded.masked(operand.data, operand.sizes, scalar)
    sizes = [
        None
        if size is None
        else lax.max(
            low + high + size + lax.max(size - 1, np.int32(0)) * interior, np.int32(0)
        )
        for size, (low, high, interior) in zip(operand.sizes, config, strict=True)
    ]
    return bounded.wrapped(function(x, scalar, **static), sizes)


def _slice(
    operation: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    static: Mapping[str, Any],
) -> Any:
    (x,) = operands
    result = function(x.data, **static)
    if operation == "slice_in_dim":
        parts = [(0, n, 1) for n in x.shape]
        parts[static["dimno"]] = (
            static["start_index"],
            static["limit_index"],
            static["stride"],
        )
    else:
        strides = static["strides"] or (1,) * x.ndim
        parts = list(
            zip(static["start_indices"], static["limit_indices"], strides, strict=True)
        )
    sizes: list[Array | None] = []
    for size, (start, limit, step) in zip(x.sizes, parts, strict=True):
        if size is None:
            sizes.append(None)
            continue
        count = lax.max(lax.min(size, np.int32(limit)) - start, np.int32(0))
        # A longer step than there are elements takes the first one, as this does; the
        # sum would not fit into the type of sizes.
        step = min(step, max(limit, 1))
        sizes.append(lax.div(count + (step - 1), np.int32(step)))
    return bounded.wrapped(result, sizes)


_ELEMENTWISE = [
    "abs",
    "add",
    "and_",
    "atan2",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "compare",
    "complex",
    "conj",
    "convert_element_type",
    "cos",
    "cosh",
    "div",
    "eq",
    "eq_total_order",
    "erf",
    "exp",
    "expm1",
    "floor",
    "ge",
    "ge_total_order",
    "gt",
    "gt_total_order",
    "imag",
    "is_finite",
    "le",
    "le_total_order",
    "log",
    "log1p",
    "logistic",
    "lt",
    "lt_total_order",
    "max",
    "min",
    "mul",
    "mulhi",
    "ne",
    "ne_total_order",
    "neg",
    "not_",
    "or_",
    "population_count",
    "pow",
    "real",
    "reduce_precision",
    "rem",
    "round",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sqrt",
    "stochastic_convert_type",
    "sub",
    "tan",
    "tanh",
    "xor",
]

RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    "concat_in_dim": _concat_in_dim,
    "dot": _dot,
    "dot_general": _dot,
    "pad": _pad,
    "pad_in_dim": _pad,
    "slice": _slice,
    "slice_in_dim": _slice,
}
