"""The parts of a map that have no variable in common.

What a map relates is the product of what its parts relate. Parts are small where the
map is not: those of a convolution are one for each of its dimensions.
"""

from __future__ import annotations

from typing import NamedTuple

from . import expression as ex
from .expression import DIM, RANGE, RUNTIME, Atom, Expression
from .interval import Interval
from .map import IndexingMap
from .variables import Variable


class Part(NamedTuple):
    """A map of some dimensions to some results of another map.

    Attributes:
      dims: numbers of the dimensions.
      results: numbers of the results.
      map: from those to these.
    """

    dims: tuple[int, ...]
    results: tuple[int, ...]
    map: IndexingMap


def split(one: IndexingMap) -> list[Part]:
    """The parts of a map, of which the product is the map.

    Args:
      one: a map that is neither undefined nor known to be empty.
    """
    groups: list[tuple[set[Atom], list[int], list[int]]] = [
        ({ex.dim(i).terms[0][0]}, [], []) for i in range(len(one.dims))
    ]
    for i, variable in enumerate(one.runtimes):
        owner = variable.owner
        found = {ex.runtime_variable(i).terms[0][0]}
        for e in owner.index if owner is not None and owner.table is not None else ():
            found |= set(ex.variables(e))
        groups.append((found, [], []))
    groups += [(set(ex.variables(e)), [i], []) for i, e in enumerate(one.results)]
    groups += [
        (set(ex.variables(e)), [], [i]) for i, (e, _) in enumerate(one.constraints)
    ]
    joined: list[tuple[set[Atom], list[int], list[int]]] = []
    for atoms, results, constraints in groups:
        apart = []
        for group in joined:
            if group[0] & atoms:
                atoms = atoms | group[0]
                results, constraints = group[1] + results, group[2] + constraints
            else:
                apart.append(group)
        joined = [*apart, (atoms, results, constraints)]
    return [_part(one, *group) for group in joined]


def _part(
    one: IndexingMap, atoms: set[Atom], results: list[int], constraints: list[int]
) -> Part:
    kept = {
        kind: sorted(a.first for a in atoms if a.kind == kind)
        for kind in (DIM, RANGE, RUNTIME)
    }
    number = {
        (kind, old): new for kind, all_ in kept.items() for new, old in enumerate(all_)
    }
    memo: dict[Expression, Expression] = {}

    def renumbered(e: Expression) -> Expression:
        return ex.substitute(
            e, lambda a: ex.variable(a.kind, number[a.kind, a.first]), memo
        )

    runtimes = []
    for i in kept[RUNTIME]:
        v = one.runtimes[i]
        owner = v.owner
        if owner is None or owner.table is None:
            runtimes.append(Variable(v.bounds, v.name))
        else:
            runtimes.append(
                Variable(v.bounds, v.name, owner.replace_variables(renumbered))
            )
    limits: list[tuple[Expression, Interval]] = [
        (renumbered(one.constraints[i][0]), one.constraints[i][1]) for i in constraints
    ]
    results = sorted(results)
    made = IndexingMap.build(
        tuple([one.dims[i] for i in kept[DIM]]),
        tuple([renumbered(one.results[i]) for i in results]),
        tuple([one.ranges[i] for i in kept[RANGE]]),
        tuple(runtimes),
        tuple(limits),
        one.reasons,
    )
    return Part(tuple(kept[DIM]), tuple(results), made)
