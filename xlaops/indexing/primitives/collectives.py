"""What devices exchange: the mesh's axes are dimensions in front of every array.

Within `jax.shard_map` an array has as many elements as it has on all devices: its index
is that of the device, by mesh axis, and then that on the device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from .. import expression as ex
from ..expression import Expression
from ..interval import Interval
from ..map import IndexingMap
from ..variables import Owner, Table, Variable
from .building import Limit, Shape, d, related, rt, s, sizes
from .equation import Equation, Maps
from .masks import formula


@dataclasses.dataclass(frozen=True, slots=True)
class Mesh:
    """The axes of a mesh over which a program is written device by device.

    Attributes:
      names: of the axes.
      sizes: how many devices there are along each.
    """

    names: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(self.names)

    def within(self, inner: Mesh) -> Mesh:
        """The axes of this mesh, and behind them those of one within it."""
        return Mesh(self.names + inner.names, self.sizes + inner.sizes)

    def place(self) -> list[Expression]:
        """The device that an element is on, by axis."""
        return [d(i) for i in range(self.rank)]

    def numbers(self, axes: Any) -> tuple[int, ...]:
        """The numbers of axes by name, one name or several."""
        names = axes if isinstance(axes, (tuple, list)) else (axes,)
        return tuple([self.names.index(name) for name in names])

    def linear(self, axes: Sequence[int]) -> Expression:
        """The number of a device among those along some axes."""
        total = ex.ZERO
        for i in axes:
            total = total * self.sizes[i] + d(i)
        return total

    def moved(self, axes: Sequence[int], number: Expression) -> list[Expression]:
        """The device with that number among those along some axes, else the same."""
        place = self.place()
        below = prod(self.sizes[i] for i in axes)
        for i in axes:
            above, below = below, below // self.sizes[i]
            place[i] = (number % above) // below
        return place

    def count(self, axes: Sequence[int]) -> int:
        """How many devices there are along some axes."""
        return prod(self.sizes[i] for i in axes)


CollectiveRule: TypeAlias = Callable[[Equation, int, Mesh], Sequence[Maps]]
RULES: Final[dict[str, CollectiveRule]] = {}


def _rule(*names: str) -> Callable[[CollectiveRule], CollectiveRule]:
    def register(function: CollectiveRule) -> CollectiveRule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


class _Peers:
    """The devices that a device exchanges with: along axes, or those of its group.

    Args:
      mesh: the mesh.
      axes: names of its axes.
      groups: of the numbers of devices along those axes, of any sizes; None: all.
    """

    def __init__(self, mesh: Mesh, axes: Any, groups: Any) -> None:
        self.mesh = mesh
        self.axes = mesh.numbers(axes)
        self.number = mesh.linear(self.axes)
        self.table: np.ndarray | None = None
        self.position = self.number
        self.count = mesh.count(self.axes)
        self.runtimes: list[Variable] = []
        self.limits: list[Limit] = []
        if groups is not None:
            # -1 is no device: where there is none, the map has no element.
            most = max(map(len, groups))
            self.table = np.full((self.count, most), -1, np.int64)
            self.places = np.zeros(self.count, np.int64)
            for group in groups:
                for k, member in enumerate(group):
                    self.table[member, : len(group)] = group
                    self.places[member] = k
            self.count = most
            self.position = self._read(self.places, (self.number,))

    def _read(self, table: np.ndarray, index: tuple[Expression, ...]) -> Expression:
        found = formula(table, index)
        if found is not None:
            self.limits += found[1]
            return found[0]
        bounds = Interval(0, int(table.max()))
        owner = Owner(("peers", table.tobytes()), index, Table(table))
        self.runtimes.append(Variable(bounds, owner=owner))
        return rt(len(self.runtimes) - 1)

    def device(self, k: Expression) -> list[Expression]:
        """The device that is the k-th of those."""
        if self.table is not None:
            k = self._read(self.table, (self.number, k))
        return self.mesh.moved(self.axes, k)


def _full(eq: Equation, output: int, mesh: Mesh) -> Shape:
    return (*mesh.sizes, *eq.shapes[output])


def _local(mesh: Mesh, rank: int) -> list[Expression]:
    return [d(mesh.rank + i) for i in range(rank)]


def _only(eq: Equation, output: int, one: IndexingMap) -> Sequence[Maps]:
    return [(one,) if i == output else () for i in range(len(eq.operands))]


@_rule(
    *("psum", "psum_invariant", "unreduced_psum", "pmax", "pmin", "unreduced_pmax"),
    "unreduced_pmin",
)
def _all_reduce(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    peers = _Peers(mesh, eq.params["axes"], eq.params.get("axis_index_groups"))
    return _summed(eq, output, mesh, peers)


def _summed(eq: Equation, output: int, mesh: Mesh, peers: _Peers) -> Sequence[Maps]:
    """The maps to the same element on all peers."""
    local = _local(mesh, len(eq.shapes[output]))
    results = [*peers.device(s(0)), *local]
    made = related(
        _full(eq, output, mesh),
        results,
        ranges=[peers.count],
        runtimes=peers.runtimes,
        limits=peers.limits,
    )
    return _only(eq, output, made)


@_rule("all_gather", "all_gather_invariant", "all_gather_reduced")
def _all_gather(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    params = eq.params
    peers = _Peers(mesh, params["axis_name"], params.get("axis_index_groups"))
    return _gathered(eq, mesh, peers, params["all_gather_dimension"], params["tiled"])


def _gathered(
    eq: Equation, mesh: Mesh, peers: _Peers, axis: int, tiled: bool
) -> Sequence[Maps]:
    """The maps to the device that a part of a dimension is from."""
    local = _local(mesh, len(eq.shapes[0]))
    if tiled:
        size = max(eq.operands[0].shape[axis], 1)
        which, local[axis] = local[axis] // size, local[axis] % size
    else:
        which = local.pop(axis)
    results = [*peers.device(which), *local]
    shape = _full(eq, 0, mesh)
    made = related(shape, results, runtimes=peers.runtimes, limits=peers.limits)
    return [(made,)]


@_rule("reduce_scatter", "unreduced_reduce_scatter")
def _reduce_scatter(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    params = eq.params
    peers = _Peers(mesh, params["axis_name"], params.get("axis_index_groups"))
    axis = params["scatter_dimension"]
    local = _local(mesh, len(eq.shapes[0]))
    if params["tiled"]:
        local[axis] = local[axis] + peers.position * eq.shapes[0][axis]
    else:
        local.insert(axis, peers.position)
    results = [*peers.device(s(0)), *local]
    shape = _full(eq, 0, mesh)
    made = related(
        shape,
        results,
        ranges=[peers.count],
        runtimes=peers.runtimes,
        limits=peers.limits,
    )
    return [(made,)]


@_rule("all_to_all")
def _all_to_all(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    params = eq.params
    peers = _Peers(mesh, params["axis_name"], params.get("axis_index_groups"))
    return _exchanged(eq, mesh, peers, params["split_axis"], params["concat_axis"])


def _exchanged(
    eq: Equation, mesh: Mesh, peers: _Peers, split: int, joined: int
) -> Sequence[Maps]:
    """The maps to the part of a dimension that a device has sent to this one."""
    operand = eq.operands[0].shape
    local = _local(mesh, len(operand))
    # Along one dimension a part takes the place of another.
    parts = peers.count if split == joined else 1
    size = max(operand[joined] // parts, 1)
    which, local[joined] = local[joined] // size, local[joined] % size
    part = operand[split] // peers.count
    local[split] = local[split] + peers.position * part
    results = [*peers.device(which), *local]
    shape = _full(eq, 0, mesh)
    made = related(shape, results, runtimes=peers.runtimes, limits=peers.limits)
    return [(made,)]


@_rule("ppermute")
def _permute(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    axes = mesh.numbers(eq.params["axis_name"])
    return _sent(eq, output, mesh, axes, eq.params["perm"])


def _sent(
    eq: Equation, output: int, mesh: Mesh, axes: Sequence[int], pairs: Any
) -> Sequence[Maps]:
    """The maps to the same element on the device that has sent to this one."""
    count = mesh.count(axes)
    # Where nothing is sent to, zeros are received.
    table = np.full(count, -1, np.int64)
    for sender, receiver in pairs:
        table[receiver] = sender
    shape, local = _full(eq, output, mesh), _local(mesh, len(eq.shapes[output]))
    number = mesh.linear(axes)
    found = formula(table, (number,))
    if found is not None:
        results = [*mesh.moved(axes, found[0]), *local]
        return _only(eq, output, related(shape, results, limits=found[1]))
    owner = Owner(("sender", table.tobytes()), (number,), Table(table))
    sender = Variable(Interval(0, count - 1), owner=owner)
    results = [*mesh.moved(axes, rt(0)), *local]
    return _only(eq, output, related(shape, results, runtimes=[sender]))


@_rule("pbroadcast")
def _broadcast(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    axes = mesh.numbers(eq.params["axis_name"])
    place = mesh.moved(axes, ex.constant(int(eq.params["source"])))
    results = [*place, *_local(mesh, len(eq.shapes[output]))]
    return _only(eq, output, related(_full(eq, output, mesh), results))


@_rule("pbroadcast_dynamic")
def _broadcast_of_any(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    axes, shape = mesh.numbers(eq.params["axis_name"]), _full(eq, output, mesh)
    results = [*mesh.moved(axes, s(0)), *_local(mesh, len(eq.shapes[output]))]
    read = related(shape, results, ranges=[mesh.count(axes)])
    return [(read,), (related(shape, mesh.place()),)]


# The first halves of collectives give futures, which are taken for their results.
for _name in (
    *("all_gather", "all_gather_reduced", "all_to_all", "pbroadcast", "ppermute"),
    *("psum", "psum_invariant", "reduce_scatter", "unreduced_psum"),
    "unreduced_reduce_scatter",
):
    RULES[f"{_name}_start"] = RULES[_name]


RAGGED: Final = "which rows are exchanged is known to sizes and offsets alone"


@_rule("ragged_all_to_all", "xlaops_ragged_all_to_all")
def _ragged_all_to_all(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    if eq.name == "ragged_all_to_all":
        axes, groups = eq.params["axis_name"], eq.params.get("axis_index_groups")
    else:
        axes, groups = eq.params["axes"], eq.params["groups"].ids
    shape, local = _full(eq, 0, mesh), _local(mesh, len(eq.shapes[0]))
    maps: list[Maps] = []
    for number, operand in enumerate(eq.operands):
        if number == 1:
            maps.append((related(shape, [*mesh.place(), *local]),))
            continue
        # A row of any member; of offsets and sizes all that any member has.
        peers = _Peers(mesh, axes, groups)
        ranges = operand.shape if number else operand.shape[:1]
        results = [*peers.device(s(0)), *[s(i + 1) for i in range(len(ranges))]]
        made = related(
            shape,
            results if number else [*results, *local[1:]],
            ranges=[peers.count, *ranges],
            runtimes=peers.runtimes,
            limits=peers.limits,
            reasons=(RAGGED,),
        )
        maps.append((made,))
    return maps


# Those of this package


@_rule("xlaops_reduce_groups")
def _reduce_groups(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    peers = _Peers(mesh, eq.params["axes"], eq.params["groups"].ids)
    return _summed(eq, output, mesh, peers)


@_rule("xlaops_all_gather")
def _gather_groups(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    peers = _Peers(mesh, eq.params["axes"], eq.params["groups"].ids)
    return _gathered(eq, mesh, peers, eq.params["dimension"], True)


@_rule("xlaops_all_to_all")
def _exchange_groups(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    peers = _Peers(mesh, eq.params["axes"], eq.params["groups"])
    return _exchanged(eq, mesh, peers, *eq.params["swap"])


@_rule("xlaops_collective_broadcast")
def _broadcast_groups(eq: Equation, output: int, mesh: Mesh) -> Sequence[Maps]:
    # Devices in no group receive zeros.
    pairs = [(ids[0], member) for ids in eq.params["groups"].ids for member in ids]
    return _sent(eq, output, mesh, mesh.numbers(eq.params["axes"]), pairs)


# Between arrays as a whole and their parts


def _axes_of(entry: Any) -> tuple[Any, ...]:
    if entry is None:
        return ()
    return tuple(entry) if isinstance(entry, (tuple, list)) else (entry,)


def part_of_whole(spec: Any, mesh: Mesh, local: Shape) -> IndexingMap:
    """The map from the parts on devices to the array that they are parts of."""
    results: list[Expression] = []
    entries = [*spec, *[None] * (len(local) - len(spec))]
    for i, (n, entry) in enumerate(zip(local, entries, strict=True)):
        axes = [mesh.names.index(a) for a in _axes_of(entry) if a in mesh.names]
        results.append(mesh.linear(axes) * n + d(mesh.rank + i))
    return related((*mesh.sizes, *local), results)


def whole_of_parts(spec: Any, mesh: Mesh, local: Shape) -> IndexingMap:
    """The map from an array to the parts on devices of which it is put together.

    Along axes that the array is not split over all devices have the same part, and the
    first one's is taken.
    """
    place: list[Expression] = [ex.ZERO] * mesh.rank
    shape: list[int] = []
    inside: list[Expression] = []
    entries = [*spec, *[None] * (len(local) - len(spec))]
    for i, (n, entry) in enumerate(zip(local, entries, strict=True)):
        axes = [mesh.names.index(a) for a in _axes_of(entry) if a in mesh.names]
        count = mesh.count(axes)
        shape.append(n * count)
        inside.append(d(i) % n if count > 1 else d(i))
        if axes and n:
            moved = mesh.moved(axes, d(i) // n)
            for a in axes:
                place[a] = moved[a]
    return related(shape, [*place, *inside])


def on_every_device(one: IndexingMap, mesh: Mesh) -> IndexingMap:
    """The map of an operation that every device does alone."""
    if not mesh.rank:
        return one
    dims = (*sizes(mesh.sizes), *one.dims)
    if one.is_undefined:
        return one.remade(dims=dims).undefined_like(mesh.rank + len(one.results))
    if one.is_known_empty:
        return one.emptied(len(dims), results=mesh.rank + len(one.results))
    memo: dict[Expression, Expression] = {}

    def behind(e: Expression) -> Expression:
        return ex.substitute(
            e,
            lambda a: ex.variable(a.kind, a.first + mesh.rank * (a.kind == ex.DIM)),
            memo,
        )

    runtimes = []
    for v in one.runtimes:
        owner = v.owner
        if owner is not None:
            index = tuple([behind(e) for e in owner.index])
            if owner.table is None:
                index = (*mesh.place(), *index)
            owner = Owner(owner.source, index, owner.table)
        runtimes.append(Variable(v.bounds, v.name, owner))
    return IndexingMap(
        dims,
        (*mesh.place(), *[behind(e) for e in one.results]),
        one.ranges,
        runtimes,
        [(behind(e), i) for e, i in one.constraints],
        one.reasons,
    ).simplify()
