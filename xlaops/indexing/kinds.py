"""The kinds of atoms that expressions are sums of, in the order in which they sort."""

from typing import Final

MOD: Final = 0
DIV: Final = 1
MIN: Final = 2
MAX: Final = 3
MUL: Final = 4
DIM: Final = 5
RANGE: Final = 6
RUNTIME: Final = 7

PREFIXES: Final = {DIM: "d", RANGE: "s", RUNTIME: "rt"}
"""What the names of variables begin with."""
