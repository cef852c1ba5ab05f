"""What the overhead of an operation is measured on: one call in three spellings.

Each case is a call of this package with the best hand-written `jax.lax` form of it, and
with the nearest call of `jax.numpy`. `EXCEPTIONS` has the cases whose program differs
from that of jax.lax, each with its reason. The benchmark times them, and the tests hold
the lowered programs to this table.
"""

import jax

from .arrays import ARRAYS
from .case import Case, lowered, lowered_by_lax
from .comparison import COMPARISON, SELECTION
from .computations import COMPUTATIONS
from .control_flow import CONTROL_FLOW
from .custom_calls import CUSTOM_CALLS
from .elementwise import (
    ARITHMETIC,
    BITS,
    COMPLEX,
    LOGICAL,
    ROUNDING,
    TRANSCENDENTAL,
)
from .normalization import NORMALIZATION
from .order import ORDER
from .positions import POSITIONS
from .products import CONVOLUTION, DOT, RAGGED, SCALED
from .random_numbers import RANDOM
from .sizes import SIZES
from .systems import SYSTEMS
from .tuples import TUPLES

__all__ = ["CASES", "EXCEPTIONS", "Case", "lowered", "lowered_by_lax"]

CASES: tuple[Case, ...] = (
    *ARITHMETIC,
    *TRANSCENDENTAL,
    *ROUNDING,
    *LOGICAL,
    *BITS,
    *COMPLEX,
    *COMPARISON,
    *SELECTION,
    *ARRAYS,
    *POSITIONS,
    *ORDER,
    *TUPLES,
    *SIZES,
    *DOT,
    *RAGGED,
    *SCALED,
    *CONVOLUTION,
    *NORMALIZATION,
    *SYSTEMS,
    *RANDOM,
    *CONTROL_FLOW,
    *COMPUTATIONS,
    *CUSTOM_CALLS,
)

_ONCE = "XLA rewrites reductions as if every initial value were an identity"
_NO_FUNCTION = "jax.lax has no function for it"
_NO_MULHI = "XLA refuses that of jax.lax in programs for several devices"

_CALLED = "jax.ffi has no computations beside the operands"

# Why the program of a case is not that of its jax.lax form.
EXCEPTIONS: dict[str, str] = {
    "pow s32": "jax.lax has no power of integers by an array of exponents",
    "rng_uniform f16": "the document excludes b, which XLA's rounding reaches",
    "custom_call_with_computation": _CALLED,
    "custom_call_with_computation_and_layouts": _CALLED,
    "reduce lambda": _ONCE,
    "reduce_window lambda": _ONCE,
    "select_and_scatter": "jax.lax has primitives and no function for it",
    "select_and_scatter_with_general_padding": "jax.lax has no function for it",
    "scatter lambda": "jax.lax scatters with a few computations only",
    "mulhi": _NO_MULHI,
    "mulhi broadcast_dimensions": _NO_MULHI,
    "rng_normal": _NO_FUNCTION,
    "batch_norm_training": _NO_FUNCTION,
    "batch_norm_inference": _NO_FUNCTION,
    "batch_norm_grad": _NO_FUNCTION,
    "stochastic_convert_type": _NO_FUNCTION,
    "cosh result_accuracy": "jax.lax.cosh takes no accuracy",
    "scaled_dot": "jax.lax holds what is scaled in bfloat16 whatever it is",
    "rng_bit_generator of three words": "jax.lax takes states of two words",
    "top_k f32": "zeros are equal and NaN of either sign is above all numbers, which "
    "the backend of jax.lax.top_k may order by their sign bits",
    "conditional branch_index": "an index out of range runs the last branch, as the "
    "document says, where jax.lax.switch clamps it",
}
EXCEPTIONS |= {
    case.name: "XLA folds its comparison in total order as one in partial order, so "
    "integers of that order are compared"
    for case in CASES
    if "_total_order" in case.name or case.name == "compare type"
}
if jax.__version_info__ < (0, 12):
    _MERGED = "XLA before jaxlib 0.12 merges slices without clamping the first one"
    EXCEPTIONS |= {
        "div s32": "XLA before jaxlib 0.12 ends the process when it folds x / 0",
        "rem s32": "XLA before jaxlib 0.12 ends the process when it folds x % 0",
        "clz": "XLA before jaxlib 0.12 folds those of negative constants wrongly",
        "dynamic_slice": _MERGED,
        "dynamic_slice at an array": _MERGED,
        "dynamic_update_slice": _MERGED,
    }
