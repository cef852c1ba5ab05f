"""What each primitive reads: a module a family, and the table of rules."""

from . import (
    contraction,
    elementwise,
    indexed,
    linear_algebra,
    offsets,
    reduction,
    shape,
    window,
)
from .equation import Equation as Equation
from .equation import Maps as Maps
from .equation import Operand as Operand
from .equation import find as find
from .equation import find_forward as find_forward
from .equation import names as names

__all__ = [
    "Equation",
    "Maps",
    "Operand",
    "contraction",
    "elementwise",
    "find",
    "find_forward",
    "indexed",
    "linear_algebra",
    "names",
    "offsets",
    "reduction",
    "shape",
    "window",
]
