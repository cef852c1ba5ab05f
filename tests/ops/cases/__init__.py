"""One entry or several for every implemented operation: operands, oracle, derivatives.

The tests of values, transformations and errors all read this table. An operation of the
catalog that is implemented and not here fails `test_table.py`.
"""

from .case import Case
from .choice import CHOICE
from .comparisons import COMPARISONS
from .computations import WITH_COMPUTATIONS
from .control_flow import CONTROL
from .conversions import CONVERSIONS
from .convolutions import CONVOLUTIONS
from .elementwise import ELEMENTWISE
from .normalization import NORMALIZATION
from .operands import dtype_of, uniform
from .order import ORDER
from .positions import POSITIONS
from .products import DOTS, RAGGED, SCALED
from .random_numbers import GENERATORS, RANDOM
from .shapes import SHAPES
from .sizes import SIZES
from .systems import SYSTEMS
from .tuples import TUPLES

__all__ = ["CASES", "TRANSFORMED", "Case", "case_id", "dtype_of", "uniform"]

CASES = (
    *ELEMENTWISE,
    *COMPARISONS,
    *CHOICE,
    *CONVERSIONS,
    *SHAPES,
    *POSITIONS,
    *ORDER,
    *TUPLES,
    *SIZES,
    *DOTS,
    *RAGGED,
    *SCALED,
    *CONVOLUTIONS,
    *NORMALIZATION,
    *SYSTEMS,
    *RANDOM,
    *GENERATORS,
    *CONTROL,
    *WITH_COMPUTATIONS,
)


# Without forms that differ from another one in nothing that a transformation meets.
_SAMPLED = ("add", "div", "pow", "rem", "max", "lt", "lt_total_order")
_SAME = ("NE None", "GE None", "GT FLOAT", "LE SIGNED", "GE TOTALORDER", "to u32")
_SAME += ("to bf16", "to f16", "to pred", "out of range", "branch 0", "branch 2")
_SAME += ("RNG_PHILOX of 2 data", "RNG_PHILOX of 3 state", "of real even")
_BROADCAST = ("degenerate", "scalar", "both ways", "broadcast_dimensions")
TRANSFORMED = tuple(
    case
    for case in CASES
    if not case.random
    and not case.title.endswith("(result_accuracy)")
    and case.mapped_operands()
    and case.label not in ("to s64", "to f64")  # which need 64-bit types
    and case.label not in _SAME
    and (case.label not in _BROADCAST or case.record.function in _SAMPLED)
    and (
        not case.title.endswith("(broadcast_dimensions)")
        or case.record.function in _SAMPLED
    )
)


def case_id(case: Case) -> str:
    return case.name
