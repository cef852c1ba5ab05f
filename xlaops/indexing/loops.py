"""What loops read: the maps of a body, composed with themselves.

A body relates what it carries on to what it was given. The relation of several rounds
is its power. Powers mostly repeat themselves soon, as for a body that works on every
element alone; what depends on the number of rounds is then a range of the index of the
round. Where they do not, one relation that holds them all takes their place.

Bodies within `jax.shard_map` may communicate: their arrays have the dimensions of the
mesh in front, and the dimension of the rounds comes behind those.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import jax
import numpy as np

from ..core.compat import scan_counts
from . import constants
from . import expression as ex
from .expression import DIM, RANGE, Atom, Expression
from .graph import Node, Value
from .interval import Interval
from .map import IndexingMap
from .map_sets import Collector, Maps, composed, hull
from .primitives.building import identity, related, sizes
from .primitives.collectives import Mesh, on_every_device
from .primitives.masks import affine_expression
from .primitives.runtimes import Clamped
from .tidying import replaced, tidied
from .variables import Owner, Table, Variable

if TYPE_CHECKING:
    from .flow import Flow

MAX_POWERS: Final = 6
"""How many powers of a body are looked at before one relation is to hold them all."""

MAX_KNOWN: Final = 2**12
"""How many rounds a loop may take for its integers to be computed round by round."""

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
        rows.append([found.get(v, ()) for v in graph.inputs])
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
            return [_doubted(_closure(body, shapes), body, found[0])]
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


def _doubted(total: Matrix, body: Matrix, unit: Matrix) -> Matrix:
    """The closure with a reason, but for what every round carries on as it is.

    What is related after some numbers of rounds need not be so after all of them.
    """
    return [
        row
        if _is_same([carried], [same])
        else [tuple([m.widened(ALL_ROUNDS) for m in maps]) for maps in row]
        for row, carried, same in zip(total, body, unit, strict=True)
    ]


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
        self.operands = node.inputs
        self.axes = node.mesh.rank
        self.consts, self.carries = scan_counts(params)
        self.rounds = int(params["length"])
        self.is_reversed = bool(params["reverse"])
        self.known: dict[Value, np.ndarray | None] = {}
        self.read = _cached(node, "jaxpr", flow)
        self.rows = [[_unowned(maps) for maps in row] for row in self.read]
        graph = self.graph = node.bodies["jaxpr"]
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
                made = self.lifted(one, output, stacked, least, most)
                if output >= self.carries and most == 0:
                    made = tuple([self.with_known(m) for m in made])
                into.add(_unowned(made))
        return into.maps

    def by_lag(self, output: int, operand: int) -> dict[Reasoned, Runs]:
        """The maps to one operand, and how many rounds before each of them reads it."""
        found: dict[Reasoned, Runs] = {}
        shape = self.inner[operand]
        column = [row[operand] for row in self.rows[: self.carries]]
        # A result of a round is made of what was carried into it.
        more = int(output >= self.carries)
        if more:
            for one in self.read[output][operand]:
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
        time = self.time(ex.dim(self.axes))
        for (one, _), rounds in found.items():
            into.add(
                [
                    _lifted(one, self.axes, self.rounds, (), [(time, run)])
                    for run in rounds
                ]
            )
        return into.maps

    def time(self, index: Expression) -> Expression:
        """The round in which the element of that index is read or made."""
        return self.rounds - 1 - index if self.is_reversed else index

    def with_known(self, one: IndexingMap) -> IndexingMap:
        """The map of a round with what is known of the integers that it reads.

        Args:
          one: a map of the whole loop, from what was made in the same round.
        """
        time = ex.dim(self.axes)
        for i, variable in enumerate(one.runtimes):
            owner = variable.owner
            if owner is None or owner.table is not None:
                continue
            source, most = owner.source, None
            if isinstance(source, Clamped):
                source, most = source
            values = self.by_round(source) if isinstance(source, Value) else None
            if values is None:
                continue
            if most is not None:
                values = np.clip(values, 0, most)
            index = (time, *owner.index[self.axes :])
            found = affine_expression(values, index)
            if found is not None:
                atom = ex.runtime_variable(i).terms[0][0]
                return self.with_known(replaced(one, atom, found))
            known = Owner((owner.source, "by round"), index, Table(values))
            runtimes = list(one.runtimes)
            runtimes[i] = Variable(variable.bounds, variable.name, known)
            return self.with_known(one.remade(runtimes=tuple(runtimes)))
        return one

    def by_round(self, value: Value) -> np.ndarray | None:
        """The values of an array of the body in all rounds, where they are known."""
        if value in self.known:
            return self.known[value]
        found = None
        if value in self.graph.inputs[self.consts + self.carries :]:
            found = self.operands[self.graph.inputs.index(value)].constant
        elif value.constant is not None and self.rounds <= MAX_KNOWN:
            found = np.broadcast_to(
                value.constant, (self.rounds, *value.shape[self.axes :])
            )
        elif value.node is not None and len(value.node.outputs) == 1:
            found = self.evaluated(value, value.node)
        self.known[value] = found
        return found

    def evaluated(self, value: Value, node: Node) -> np.ndarray | None:
        """What an operation of the body makes of values that are known, by round."""
        if node.name not in constants.NAMES or self.rounds > MAX_KNOWN:
            return None
        inputs = [self.by_round(v) for v in node.inputs]
        known = [x for x in inputs if x is not None]
        if len(known) < len(inputs):
            return None
        aval = jax.ShapeDtypeStruct(value.shape[self.axes :], value.dtype)
        made = []
        for values in zip(*known, strict=True):
            one = constants.evaluated(node.name, node.params, values, aval)
            if one is None:
                return None
            made.append(one)
        return np.stack(made) if made else None

    def lifted(
        self, one: IndexingMap, output: int, stacked: bool, least: int, most: int
    ) -> Maps:
        """The map of a body as one of the whole loop, for rounds that far apart."""
        last = self.rounds - 1
        lift = functools.partial(_lifted, one, self.axes)
        s = ex.range_variable(len(one.ranges))
        if output < self.carries:
            if not stacked:
                return (one,)
            index = (self.time(s),)
            return (lift(None, index, [(last - s, (least, most))], self.rounds),)
        made = self.time(ex.dim(self.axes))
        if not stacked:
            # Some round at least that far before has been.
            return (lift(self.rounds, (), [(made, (least, last))]),)
        if least == most:
            index = (self.time(made - least),)
            return (lift(self.rounds, index, [(made, (least, last))]),)
        index = (self.time(s),)
        limits = [(made - s, (least, most))]
        return (lift(self.rounds, index, limits, self.rounds),)


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
    axes: int,
    outer: int | None,
    index: tuple[Expression, ...],
    limits: Sequence[tuple[Expression, tuple[int, int]]],
    rounds: int | None = None,
) -> IndexingMap:
    """The map with a dimension or a result for the round.

    Args:
      one: the map of the body.
      axes: how many dimensions and results stay in front, for the axes of a mesh.
      outer: how many rounds the new dimension counts; None for none.
      index: the new result, of the variables of the new map, if there is one.
      limits: constraints, of the variables of the new map.
      rounds: how many values one more range variable has, behind the others.
    """
    more = sizes([] if outer is None else [outer])
    dims = (*one.dims[:axes], *more, *one.dims[axes:])
    if one.is_undefined or one.is_known_empty:
        data = one.remade(dims=dims)
        if one.is_known_empty:
            return data.emptied(results=len(one.results) + len(index))
        return data.undefined_like(len(one.results) + len(index))
    memo: dict[Expression, Expression] = {}

    def behind(a: Atom) -> Expression:
        is_moved = more and a.kind == DIM and a.first >= axes
        return ex.variable(a.kind, a.first + 1 if is_moved else a.first)

    def moved(e: Expression) -> Expression:
        return ex.substitute(e, behind, memo) if more else e

    runtimes = tuple(
        [
            v
            if v.owner is None
            else Variable(v.bounds, v.name, v.owner.replace_variables(moved))
            for v in one.runtimes
        ]
    )
    results = [moved(e) for e in one.results]
    made = IndexingMap(
        dims,
        (*results[:axes], *index, *results[axes:]),
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
    rows = [
        [_unowned(maps) for maps in row] for row in _cached(node, "body_jaxpr", flow)
    ]
    operands = node.inputs
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
    test = None
    if not flow.derivative:
        test = [_unowned(maps) for maps in _cached(node, "cond_jaxpr", flow)[0]]
    tests = node.bodies["cond_jaxpr"].outputs[0].shape
    of_test_result = _to_test(powers, output, shapes, tests, node.mesh)
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
            if i < of_test:
                into.add(_product(of_test_result, test[i], operand.shape))
            else:
                for read, value in zip(
                    test[of_test:], range(len(carried)), strict=True
                ):
                    looked_at = _product(of_test_result, read, carried[value].shape)
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


def _to_test(
    powers: Sequence[Matrix],
    output: int,
    shapes: Sequence[tuple[int, ...]],
    tests: tuple[int, ...],
    mesh: Mesh,
) -> Maps:
    """The maps from a result of a loop to the outcomes of its test.

    There is one outcome, or one for each element of a batch, which stops then. The
    dimensions of the batch are the first ones of all that is carried.
    """

    def to_first(shape: tuple[int, ...]) -> IndexingMap:
        index = [ex.dim(i) for i in range(len(tests) - mesh.rank)]
        return on_every_device(related(shape[mesh.rank :], index), mesh)

    if len(tests) == mesh.rank:
        return (to_first(shapes[output]),)
    every = (
        _product(maps, (to_first(shape),), tests)
        for power in powers
        for maps, shape in zip(power[output], shapes, strict=True)
    )
    return _united(every, tests)
