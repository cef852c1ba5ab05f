"""Which variables an expression depends on, through the indices of tables as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from . import expression as ex
from .expression import RUNTIME, Atom, Expression
from .map_data import MapData

IndexOf: TypeAlias = Callable[[Atom], Sequence[Expression]]


def depends(expression: Expression, atom: Atom, index_of: IndexOf) -> bool:
    """Whether the value of an expression depends on a variable.

    If it does it must not take the variable's place: a table would be read at an index
    that is not known before it is read.

    Args:
      expression: the expression.
      atom: the variable.
      index_of: where a runtime variable is read, for those that are read from tables.
    """
    waiting = list(ex.variables(expression))
    seen: set[Atom] = set()
    while waiting:
        v = waiting.pop()
        if v is atom:
            return True
        if v.kind == RUNTIME and v not in seen:
            seen.add(v)
            for e in index_of(v):
                waiting += ex.variables(e)
    return False


def table_index(data: MapData) -> IndexOf:
    """Where the runtime variables of a map are read, of which the table is known."""

    def index_of(atom: Atom) -> Sequence[Expression]:
        owner = data.runtimes[atom.first].owner
        return () if owner is None or owner.table is None else owner.index

    return index_of
