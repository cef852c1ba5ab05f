"""What loops read: the maps of a body, composed with themselves.

A body relates what it carries on to what it was given. The relation of several rounds
is its power. Powers mostly repeat themselves soon, as for a body that works on every
element alone; what depends on the number of rounds is then a range of the index of the
round. Where they do not, one relation that holds them all takes their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from ..core.compat import scan_counts
from . import expression as ex
from .expression import DIM, RANGE, Expression
from .graph import Node
from .interval import Interval
from .map import IndexingMap
from .map_sets import Collector, Maps, composed, hull
from .primitives.building import identity, sizes, to_scalar
from .tidying import tidied
from .variables import Variable

if TYPE_CHECKING:
    from .flow import Flow

MAX_POWERS: Final = 6
"""How many powers of a body are looked at before one relation is to hold them all."""

ALL_ROUNDS: Final = "the elements that a loop carries were not followed round by round"
ANY_COUNT: Final = "how many rounds a loop takes is not known"
CHANGES: Final = "what is read at an index that changes between rounds may be anywhere"

# By result and by what is carried.
Matrix: TypeAlias = list[list[Maps]]
# Intervals of numbers of rounds, ascending.
Runs: TypeAlias = list[tuple[int, int]]
# A map with its reasons, which do not count when maps are compared.
Reasoned: TypeAlias = tuple[IndexingMap, tuple[str, ...]]


def maps(node: Node, output: int, flow: Flow) -> Sequence[Maps]:
    """The maps from a result of a loop to each of its operands."""
    if node.name == "scan":
        scan = flow.scans.get(node)
        if scan is None:
            scan = flow.scans[node] = Scan(node, flow)
        return scan.maps(output)
    return _while(node, output, flow)


# Bodies


def _body(node: Node, which: str, flow: Flow) -> list[list[Maps]]:
    """For each result of a body the maps to each of its inputs."""
    from .flow import Flow as NewFlow

    graph = node.bodies[which]
    inner = NewFlow(graph, flow.derivative)
    rows = []
    for value in graph.outputs:
        found = inner.back(value)
        rows.append([_unowned(found.get(v, ())) for v in graph.inputs])
    for name, count in inner.unknown.items():
        flow.unknown[name] = flow.unknown.get(name, 0) + count
    flow.widened += inner.widened
    return rows


def _unowned(found: Maps) -> Maps:
    """The maps with runtime variables that have another value in each round."""
    changed = []
    for one in found:
        if any(v.owner is not None and v.owner.table is None for v in one.runtimes):
            runtimes = tuple(
                [
                    v
                    if v.owner is None or v.owner.table
                    else Variable(v.bounds, v.name)
                    for v in one.runtimes
                ]
            )
            one = tidied(one.remade(runtimes=runtimes))
            if any(v.owner is None for v in one.runtimes):
                one = one.widened(CHANGES)
        changed.append(one)
    return tuple(changed)


def _product(a: Maps, b: Maps, shape: Sequence[int]) -> Maps:
    """The maps of one relation and then another, to an array of that shape."""
    into = Collector(shape)
    for first in a:
        into.add([composed(first, second) for second in b])
    return into.maps


def _united(groups: Iterable[Maps], shape: Sequence[int]) -> Maps:
    into = Collector(shape)
    for one in groups:
        into.add(one)
    return into.maps


def _times(a: Matrix, b: Matrix, shapes: Sequence[tuple[int, ...]]) -> Matrix:
    """The product of two matrices of relations between arrays of those shapes."""
    count = len(shapes)
    return [
        [
            _united(
                (_product(row[k], b[k][j], shapes[j]) for k in range(count)), shapes[j]
            )
            for j in range(len(b[0]) if b else 0)
        ]
        for row in a
    ]


def _unit(shapes: Sequence[tuple[int, ...]]) -> Matrix:
    return [
        [(identity(shape),) if i == j else () for j in range(len(shapes))]
        for i, shape in enumerate(shapes)
    ]


def _is_same(a: Matrix, b: Matrix) -> bool:
    return all(
        set(x) == set(y)
        for row, other in zip(a, b, strict=True)
        for x, y in zip(row, other, strict=True)
    )


def _powers(
    body: Matrix, shapes: Sequence[tuple[int, ...]], rounds: int | None
) -> list[Matrix]:
    """The powers of a body from 0 on; the last one is that of all exponents from there.

    With a known number of rounds there may be all that are needed instead.
    """
    found = [_unit(shapes)]
    while True:
        if rounds is not None and len(found) > rounds:
            return found
        following = _times(found[-1], body, shapes)
        if _is_same(found[-1], following):
            return found
        if len(found) > MAX_POWERS:
            return [_closure(body, shapes)]
        found.append(following)


def _closure(body: Matrix, shapes: Sequence[tuple[int, ...]]) -> Matrix:
    """A relation that holds those of any number of rounds."""
    total = _unit(shapes)
    while True:
        more = _times(total, body, shapes)
        grown = [
            [
                _grown(x, y, shape)
                for x, y, shape in zip(row, other, shapes, strict=True)
            ]
            for row, other in zip(total, more, strict=True)
        ]
        if _is_same(grown, total):
            return total
        total = grown


def _grown(old: Maps, new: Maps, shape: tuple[int, ...]) -> Maps:
    """The first maps if they hold the new ones, one map for all if not."""
    from .map_sets import holds

    if all(n in old or any(holds(o, n, shape) for o in old) for n in new):
        return old
    every = (*old, *new)
    undefined = [m for m in every if m.is_undefined]
    if undefined:
        return (undefined[0],)
    if not old:
        return (
            tuple([m.widened(ALL_ROUNDS) for m in new])
            if len(new) == 1
            else (_loose(hull(every, shape), shape),)
        )
    return (_loose(hull(every, shape), shape),)


def _loose(one: IndexingMap, shape: tuple[int, ...]) -> IndexingMap:
    """The map with all of a dimension where it had a part, so that growth ends."""
    ranges = [
        shape[i] if e.variable is not None and e.variable.kind == RANGE else 0
        for i, e in enumerate(one.results)
    ]
    free = sizes([n for n in ranges if n])
    results = list(one.results)
    position = 0
    for i, n in enumerate(ranges):
        if n:
            results[i] = ex.range_variable(position)
            position += 1
        elif any(v.kind >= RANGE for v in ex.variables(results[i])):
            results[i] = ex.range_variable(position)
            free = (*free[:position], *sizes([shape[i]]), *free[position:])
            position += 1
    return IndexingMap(one.dims, results, free, reasons=one.reasons).widened(ALL_ROUNDS)


# Scan


class Scan:
    """A scan with the maps of its body."""

    def __init__(self, node: Node, flow: Flow) -> None:
        params = node.params
        self.operands = node.as_equation().operands
        self.consts, self.carries = scan_counts(params)
        self.rounds = int(params["length"])
        self.is_reversed = bool(params["reverse"])
        self.rows = _cached(node, "jaxpr", flow)
        graph = node.bodies["jaxpr"]
        first = self.consts
        self.shapes = [v.shape for v in graph.inputs[first : first + self.carries]]
        self.inner = [v.shape for v in graph.inputs]
        body = [row[first : first + self.carries] for row in self.rows[: self.carries]]
        self.powers = _powers(body, self.shapes, self.rounds)

    def maps(self, output: int) -> Sequence[Maps]:
        """The maps from a result to each of the operands."""
        if self.rounds == 0:
            return [
                (identity(v.shape),) if i == self.consts + output else ()
                for i, v in enumerate(self.operands)
            ]
        return [self.map_to(output, i) for i in range(len(self.operands))]

    def map_to(self, output: int, operand: int) -> Maps:
        """The maps from a result to one operand."""
        if self.consts <= operand < self.consts + self.carries:
            return self.to_initial(output, operand - self.consts)
        stacked = operand >= self.consts + self.carries
        into = Collector(self.operands[operand].shape)
        for (one, _), lags in self.by_lag(output, operand).items():
            for least, most in lags:
                into.add(self.lifted(one, output, stacked, least, most))
        return into.maps

    def by_lag(self, output: int, operand: int) -> dict[Reasoned, Runs]:
        """The maps to one operand, and how many rounds before each of them reads it."""
        found: dict[Reasoned, Runs] = {}
        shape = self.inner[operand]
        column = [row[operand] for row in self.rows[: self.carries]]
        # A result of a round is made of what was carried into it.
        more = int(output >= self.carries)
        if more:
            for one in self.rows[output][operand]:
                _include(found.setdefault((one, one.reasons), []), 0, 0)
        for k, end in self.exponents(self.rounds - 1 - more):
            power = self.row(output, k)
            reached = _united(
                (_product(p, c, shape) for p, c in zip(power, column, strict=True)),
                shape,
            )
            for one in reached:
                _include(found.setdefault((one, one.reasons), []), k + more, end + more)
        return found

    def exponents(self, most: int) -> list[tuple[int, int]]:
        """The exponents up to ``most`` as intervals in which the power is the same."""
        last = min(len(self.powers) - 1, most)
        return [(k, most if k == last else k) for k in range(last + 1)]

    def row(self, output: int, exponent: int) -> list[Maps]:
        """The maps from a result to what is carried, that many rounds before."""
        power = self.powers[min(exponent, len(self.powers) - 1)]
        if output < self.carries:
            return power[output]
        read = self.rows[output][self.consts : self.consts + self.carries]
        return _times([read], power, self.shapes)[0] if self.shapes else []

    def to_initial(self, output: int, carry: int) -> Maps:
        """The maps from a result to what is carried into the first round."""
        if output < self.carries:
            return self.row(output, self.rounds)[carry]
        # Round i reads what was carried into it, i rounds after the start.
        found: dict[Reasoned, Runs] = {}
        for k, end in self.exponents(self.rounds - 1):
            for one in self.row(output, k)[carry]:
                _include(found.setdefault((one, one.reasons), []), k, end)
        into = Collector(self.shapes[carry])
        time = self.time(ex.dim(0))
        for (one, _), rounds in found.items():
            into.add([_lifted(one, self.rounds, (), [(time, run)]) for run in rounds])
        return into.maps

    def time(self, index: Expression) -> Expression:
        """The round in which the element of that index is read or made."""
        return self.rounds - 1 - index if self.is_reversed else index

    def lifted(
        self, one: IndexingMap, output: int, stacked: bool, least: int, most: int
    ) -> Maps:
        """The map of a body as one of the whole loop, for rounds that far apart."""
        last = self.rounds - 1
        s = ex.range_variable(len(one.ranges))
        if output < self.carries:
            if not stacked:
                return (one,)
            index = (self.time(s),)
            return (
                _lifted(one, None, index, [(last - s, (least, most))], self.rounds),
            )
        made = self.time(ex.dim(0))
        if not stacked:
            # Some round at least that far before has been.
            return (_lifted(one, self.rounds, (), [(made, (least, last))]),)
        if least == most:
            index = (self.time(made - least),)
            return (_lifted(one, self.rounds, index, [(made, (least, last))]),)
        index = (self.time(s),)
        limits = [(made - s, (least, most))]
        return (_lifted(one, self.rounds, index, limits, self.rounds),)


def _cached(node: Node, which: str, flow: Flow) -> list[list[Maps]]:
    key = (node, which)
    found = flow.bodies.get(key)
    if found is None:
        found = flow.bodies[key] = _body(node, which, flow)
    return found


def _include(runs: Runs, low: int, high: int) -> None:
    """Adds an interval behind others, as one with the last if nothing is between."""
    if runs and low <= runs[-1][1] + 1:
        low = runs.pop()[0]
    runs.append((low, high))


def _lifted(
    one: IndexingMap,
    outer: int | None,
    index: tuple[Expression, ...],
    limits: Sequence[tuple[Expression, tuple[int, int]]],
    rounds: int | None = None,
) -> IndexingMap:
    """The map with a dimension or a result for the round in front.

    Args:
      one: the map of the body.
      outer: how many rounds the new first dimension counts; None for none.
      index: the new first result, of the variables of the new map, if there is one.
      limits: constraints, of the variables of the new map.
      rounds: how many values one more range variable has, behind the others.
    """
    if one.is_undefined or one.is_known_empty:
        dims = (*sizes([] if outer is None else [outer]), *one.dims)
        data = one.remade(dims=dims)
        if one.is_known_empty:
            return data.emptied(results=len(one.results) + len(index))
        return data.undefined_like(len(one.results) + len(index))
    shift = 0 if outer is None else 1
    memo: dict[Expression, Expression] = {}

    def moved(e: Expression) -> Expression:
        if not shift:
            return e
        return ex.substitute(
            e,
            lambda a: ex.variable(a.kind, a.first + (shift if a.kind == DIM else 0)),
            memo,
        )

    runtimes = tuple(
        [
            v
            if v.owner is None
            else Variable(v.bounds, v.name, v.owner.replace_variables(moved))
            for v in one.runtimes
        ]
    )
    made = IndexingMap(
        (*sizes([] if outer is None else [outer]), *one.dims),
        (*index, *[moved(e) for e in one.results]),
        (*one.ranges, *sizes([] if rounds is None else [rounds])),
        runtimes,
        [*[(moved(e), i) for e, i in one.constraints], *_intervals(limits)],
        one.reasons,
    )
    return tidied(made.simplify())


def _intervals(
    limits: Sequence[tuple[Expression, tuple[int, int]]],
) -> list[tuple[Expression, Interval]]:
    return [(e, Interval(low, high)) for e, (low, high) in limits]


# While


def _while(node: Node, output: int, flow: Flow) -> Sequence[Maps]:
    params = node.params
    of_test, of_body = params["cond_nconsts"], params["body_nconsts"]
    first = of_test + of_body
    rows = _cached(node, "body_jaxpr", flow)
    operands = node.as_equation().operands
    carried = operands[first:]
    shapes = [v.shape for v in carried]
    shape = shapes[output]
    body = [row[of_body:] for row in rows]
    graph = node.bodies["body_jaxpr"]
    if graph.outputs[output] is graph.inputs[of_body + output]:
        # Not changed, whatever the loop does.
        return [
            (identity(shape),) if i == first + output else ()
            for i in range(len(operands))
        ]
    powers = _powers(body, shapes, None)
    test = _cached(node, "cond_jaxpr", flow)[0] if not flow.derivative else None
    result: list[Maps] = []
    for i, operand in enumerate(operands):
        into = Collector(operand.shape)
        column = i - of_test
        for power in powers:
            if i >= first:
                into.add(power[output][i - first])
            elif i >= of_test:
                for p, row in zip(power[output], rows, strict=True):
                    into.add(_product(p, row[column], operand.shape))
        if test is not None:
            of_scalar = (to_scalar(shape),)
            if i < of_test:
                into.add(_product(of_scalar, test[i], operand.shape))
            else:
                for read, value in zip(
                    test[of_test:], range(len(carried)), strict=True
                ):
                    looked_at = _product(of_scalar, read, carried[value].shape)
                    for power in powers:
                        if i >= first:
                            into.add(
                                _product(
                                    looked_at, power[value][i - first], operand.shape
                                )
                            )
                        else:
                            for p, row in zip(power[value], rows, strict=True):
                                step = _product(p, row[column], operand.shape)
                                into.add(_product(looked_at, step, operand.shape))
        result.append(tuple([m.widened(ANY_COUNT) for m in into.maps]))
    return result
