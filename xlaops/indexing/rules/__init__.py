"""The maps of single operations, by family: from shapes and attributes alone."""

from .operand import OperandMaps as OperandMaps
from .shape import broadcast as broadcast
from .shape import concatenate as concatenate
from .shape import elementwise as elementwise
from .shape import pad as pad
from .shape import pad_value as pad_value
from .shape import reshape as reshape
from .shape import reverse as reverse
from .shape import scalar as scalar
from .shape import slice_in as slice_in
from .shape import transpose as transpose

__all__ = [
    "OperandMaps",
    "broadcast",
    "concatenate",
    "elementwise",
    "pad",
    "pad_value",
    "reshape",
    "reverse",
    "scalar",
    "slice_in",
    "transpose",
]
