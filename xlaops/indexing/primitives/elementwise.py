"""Operations on each element alone, and those that hand on what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..constants import compact
from .building import d, identity, related, spread, whole
from .equation import Equation, Maps, rule
from .masks import regions

# The result has the shape of the operands, of which some may be scalars.
ELEMENTWISE: Final = (
    *("abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan"),
    *("atan2", "atanh", "bessel_i0e", "bessel_i1e", "cbrt", "ceil", "clamp", "clz"),
    *("complex", "conj", "convert_element_type", "copy", "copy_p", "cos", "cosh"),
    *("digamma", "div", "eq", "eq_to", "erf", "erf_inv", "erfc", "exp", "exp2"),
    *("expm1", "floor", "ge", "gt", "igamma", "igamma_grad_a", "igammac", "imag"),
    *("integer_pow", "is_finite", "le", "le_to", "lgamma", "log", "log1p", "log2"),
    *("logistic", "lt", "lt_to", "max", "min", "mul", "mulhi", "ne", "neg"),
    *("nextafter", "not", "one_minus_square", "or", "polygamma", "polynomial"),
    *("population_count", "pow", "random_clone", "random_fold_in"),
    *("random_seed", "real", "reciprocal", "reduce_precision"),
    *("regularized_incomplete_beta", "rem", "round", "rsqrt"),
    *("shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin"),
    *("sinh", "sqrt", "square", "stop_gradient", "sub", "tan", "tanh", "xor", "zeta"),
    "xlaops_integer_power",
    # What changes only where an array is, or what is known of it.
    *("layout_constraint", "name", "pcast", "preduced", "pvary"),
    *("reduced_vary_cast", "reduced_vary_cast_p", "relayout", "reshard"),
    *("sharding_constraint", "vary_unreduced_cast"),
    *("vary_unreduced_cast_p", "with_memory_space_constraint", "xla_metadata_value"),
    # The second halves of collectives of which the first half gave a future.
    *("all_gather_done", "all_to_all_done", "pbroadcast_done", "ppermute_done"),
    *("psum_done", "reduce_scatter_done"),
)

CONSTANT_DERIVATIVE: Final = frozenset(
    {"ceil", "floor", "round", "sign", "stop_gradient", "argmax", "argmin", "clz"}
)
"""Operations on numbers whose derivative is 0 wherever there is one."""


@rule(*ELEMENTWISE)
def _elementwise(eq: Equation, output: int) -> Sequence[Maps]:
    shape = eq.shapes[output]
    return [spread(shape, x.shape) for x in eq.operands]


@rule("xlaops_periodic_add")
def _periodic_add(eq: Equation, output: int) -> Sequence[Maps]:
    shape, period = eq.shapes[output], eq.operands[0].shape[-1]
    last = len(shape) - 1
    results = [*[d(i) for i in range(last)], d(last) % max(period, 1)]
    return [(related(shape, results),), (identity(shape),)]


@rule("tie")
def _second(eq: Equation, output: int) -> Sequence[Maps]:
    return [(), (identity(eq.shapes[output]),)]


@rule("optimization_barrier", "device_put")
def _each_its_own(eq: Equation, output: int) -> Sequence[Maps]:
    return [
        (identity(eq.shapes[output]),) if i == output else ()
        for i in range(len(eq.operands))
    ]


@rule("threefry2x32", "threefry4x32", "philox2x32", "philox4x32")
def _random_block(eq: Equation, output: int) -> Sequence[Maps]:
    return [spread(eq.shapes[output], x.shape) for x in eq.operands]


@rule(
    "bitcast_convert_type", "random_wrap", "random_unwrap", "from_edtype", "to_edtype"
)
def _parts_of_elements(eq: Equation, output: int) -> Sequence[Maps]:
    # The wider elements are those of the shape without the parts' dimensions.
    shape, operand = eq.shapes[output], eq.operands[0].shape
    if len(shape) >= len(operand):
        results = [d(i) for i in range(len(operand))]
        return [(related(shape, results),)]
    return [(whole(shape, operand, len(shape)),)]


@rule("random_bits", "random_split")
def _from_each_key(eq: Equation, output: int) -> Sequence[Maps]:
    keys = len(eq.operands[0].shape)
    return [(related(eq.shapes[output], [d(i) for i in range(keys)]),)]


@rule("rng_bit_generator", "xlaops_rng_bit_generator", "random_gamma", "rng_uniform")
def _from_whole_state(eq: Equation, output: int) -> Sequence[Maps]:
    reasons = ("random bits may depend on all of the generator's state",)
    return [(whole(eq.shapes[output], x.shape, 0, reasons),) for x in eq.operands]


@rule("select_n")
def _select(eq: Equation, output: int) -> Sequence[Maps]:
    shape = eq.shapes[output]
    which, cases = eq.operands[0], eq.operands[1:]
    value = which.constant()
    if value is None:
        return [spread(shape, x.shape) for x in eq.operands]
    value = compact(value)
    if value.dtype == bool and len(cases) == 2:
        return [(), regions(shape, ~value), regions(shape, value)]
    # Numbers of no case choose the first or the last one.
    value = np.clip(value, 0, len(cases) - 1)
    return [(), *[regions(shape, value == i) for i in range(len(cases))]]


@rule("xlaops_rng")
def _uniform(eq: Equation, output: int) -> Sequence[Maps]:
    shape = eq.shapes[output]
    return [spread(shape, x.shape) for x in eq.operands]


@rule(
    *("axis_index", "create_token", "dim_as_value", "dimension_size", "empty"),
    *("empty2", "iota", "iota_2x32_shape", "platform_index", "rng_state"),
    "zeros_like",
)
def _nothing(eq: Equation, output: int) -> Sequence[Maps]:
    return [() for _ in eq.operands]
