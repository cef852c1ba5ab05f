"""Which elements of one array belong to which of another: XLA's indexing maps.

The document *Indexing Analysis* describes them. A map is a function of an element's
index, of range variables and of runtime variables, with a domain; this package reads,
writes, composes, simplifies, inverts, compares and enumerates maps. Maps need nothing
of JAX.

>>> from xlaops.indexing import IndexingMap
>>> reshape = IndexingMap.parse('''(d0, d1) -> (d0 * 8 + d1),
... domain: d0 in [0, 3], d1 in [0, 7]''')
>>> print(reshape.inverse())
(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]

`analyze` finds the maps of a JAX function. `sparsity`, `sparse_jacobian`,
`receptive_field`, `utilization`, `equivalent` and `plot` say what follows from them.
All of these are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any

from .expression import Expression as Expression
from .expression import ceildiv as ceildiv
from .expression import constant as constant
from .expression import dim as dim
from .expression import maximum as maximum
from .expression import minimum as minimum
from .expression import range_variable as range_variable
from .expression import runtime_variable as runtime_variable
from .interval import Interval as Interval
from .map import IndexingMap as IndexingMap
from .parsing import ParseError as ParseError
from .parsing import parse_expression as parse_expression
from .variables import Owner as Owner
from .variables import Table as Table
from .variables import Variable as Variable

if TYPE_CHECKING:
    from .analysis import Analysis as Analysis
    from .analysis import analyze as analyze
    from .coloring import Coloring as Coloring
    from .comparison import Comparison as Comparison
    from .comparison import equivalent as equivalent
    from .compressed_jacobian import sparse_jacobian as sparse_jacobian
    from .plotting import plot as plot
    from .reads import Utilization as Utilization
    from .reads import utilization as utilization
    from .receptive import ReceptiveField as ReceptiveField
    from .receptive import receptive_field as receptive_field
    from .sparsity_pattern import Sparsity as Sparsity
    from .sparsity_pattern import sparsity as sparsity
    from .structure import Block as Block

__all__ = [
    "Analysis",
    "Block",
    "Coloring",
    "Comparison",
    "Expression",
    "IndexingMap",
    "Interval",
    "Owner",
    "ParseError",
    "ReceptiveField",
    "Sparsity",
    "Table",
    "Utilization",
    "Variable",
    "analyze",
    "ceildiv",
    "constant",
    "dim",
    "equivalent",
    "maximum",
    "minimum",
    "parse_expression",
    "plot",
    "range_variable",
    "receptive_field",
    "runtime_variable",
    "sparse_jacobian",
    "sparsity",
    "utilization",
]

# What needs JAX, and what draws: by name the module that has it.
_ON_USE = {
    "Analysis": "analysis",
    "analyze": "analysis",
    "Coloring": "coloring",
    "Comparison": "comparison",
    "equivalent": "comparison",
    "sparse_jacobian": "compressed_jacobian",
    "plot": "plotting",
    "Utilization": "reads",
    "utilization": "reads",
    "ReceptiveField": "receptive",
    "receptive_field": "receptive",
    "Sparsity": "sparsity_pattern",
    "sparsity": "sparsity_pattern",
    "Block": "structure",
}


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        import importlib

        found = getattr(importlib.import_module(f".{_ON_USE[name]}", __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
