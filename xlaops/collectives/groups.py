"""Replica groups: who communicates with whom, and in which order.

An operation turns its arguments into `Participants`: the mapped axes along which it
communicates, and the groups of ids along them. Everything about ids is known when the
program is built; only which of them is *this* replica is not.
"""

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import types
from ..core import checks
from . import axes as mapped
from .axes import Axes

Ids = tuple[int, ...]

_PAIRS = "source_target_pairs"


@dataclasses.dataclass(frozen=True)
class Groups:
    """Disjoint groups of the ids ``0 .. count - 1``, each in its own order.

    Attributes:
      ids: the ids of every group.
      count: how many ids there are; those that are in no group take no part.
    """

    ids: tuple[Ids, ...]
    count: int

    @functools.cached_property
    def size(self) -> int:
        """The number of members of the largest group."""
        return max(map(len, self.ids))

    @functools.cached_property
    def are_equal(self) -> bool:
        """Whether all groups have the same number of members."""
        return len(set(map(len, self.ids))) == 1

    @functools.cached_property
    def cover(self) -> bool:
        """Whether every id is in a group."""
        return sum(map(len, self.ids)) == self.count

    @functools.cached_property
    def are_whole(self) -> bool:
        """Whether there is one group, of all ids in ascending order."""
        return self.ids == (tuple(range(self.count)),)

    @functools.cached_property
    def are_one(self) -> bool:
        """Whether there is one group, of all ids in any order."""
        return len(self.ids) == 1 and self.cover

    @property
    def for_lax(self) -> list[list[int]] | None:
        """The groups as ``axis_index_groups``, which is None for the whole axis."""
        return None if self.are_whole else [list(group) for group in self.ids]

    # Tables with an entry for every id, from which `axes.lookup` takes this replica's.

    @functools.cached_property
    def members(self) -> np.ndarray:
        """``[count, size]``: the ids of one's group in its order.

        A smaller group is filled with its first member. For an id in no group all are
        itself.
        """
        table = np.tile(np.arange(self.count, dtype=np.int32)[:, None], self.size)
        for group in self.ids:
            table[list(group)] = [*group, *group[:1] * (self.size - len(group))]
        return table

    @functools.cached_property
    def positions(self) -> np.ndarray:
        """``[count]``: one's position in one's group; 0 for an id in no group."""
        table = np.zeros(self.count, np.int32)
        for group in self.ids:
            table[list(group)] = range(len(group))
        return table

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        """``[count]``: the number of members of one's group; 0 in no group."""
        table = np.zeros(self.count, np.int32)
        for group in self.ids:
            table[list(group)] = len(group)
        return table

    def __str__(self) -> str:
        return _shown(self.ids)


@dataclasses.dataclass(frozen=True)
class Participants:
    """Who takes part in a collective.

    Attributes:
      axes: the axes along which ids count, row-major in this order.
      groups: the groups of those ids.
    """

    axes: Axes
    groups: Groups

    @property
    def are_native(self) -> bool:
        """Whether XLA has a collective for them in whatever operation has equal groups.

        The axes must be of the mesh, and all groups of one size and of all replicas.
        """
        return (
            bool(self.axes)
            and mapped.are_manual(self.axes)
            and self.groups.cover
            and self.groups.are_equal
        )


def participants(
    operation: str,
    replica_groups: Any,
    *,
    axis_name: Any = None,
    partition_axes: Any = (),
    channel_id: Any = None,
    use_global_device_ids: Any = None,
    by_partition: bool = False,
    equal: bool = False,
    cover: bool = True,
) -> Participants:
    """Who takes part in a collective, by the arguments that the document has for it.

    There are replicas, along ``axis_name``, and partitions, along ``partition_axes``.
    What an id in ``replica_groups`` means depends on the mode, as in StableHLO:

    * *flattened ids*, with ``use_global_device_ids``: a replica and a partition, as
      ``replica * number of partitions + partition``;
    * *cross replica and partition*, with a channel: a replica in all its partitions;
    * *cross partition*, with a channel where ``by_partition`` says that the operation
      has this mode instead: a partition, of the same replica;
    * *cross replica*, otherwise: a replica, in the same partition.

    Without partition axes all modes are the same.

    Args:
      operation: for messages; so are the names of the parameters.
      replica_groups: what `parsed` takes.
      axis_name: what `axes.resolved` takes.
      partition_axes: a name or a sequence of names; these axes are no replica axes.
      channel_id: a channel or None; 0 stands for none.
      use_global_device_ids: a bool or None.
      by_partition: whether the operation has the mode *cross partition*.
      equal: whether all groups must have one size.
      cover: whether every id must be in a group.

    Returns:
      The participants.

    Raises:
      TypeError, ValueError: if an argument is not of that form, or groups break a rule.
      NameError: if an axis is not in scope.
    """
    has_channel = bool(channel(operation, channel_id))
    is_flat = _optional_bool(operation, "use_global_device_ids", use_global_device_ids)
    groups = parsed(operation, "replica_groups", replica_groups)
    axes, expand = mode(
        operation, axis_name, partition_axes, has_channel, bool(is_flat), by_partition
    )
    # Rules are those of the ids as they were written.
    checked = checked_groups(
        operation, groups, expand.count, equal=equal, cover=cover, axes=expand.axes
    )
    if expand.partitions == 1:
        return Participants(axes, checked)
    expanded = tuple(
        tuple(r * expand.partitions + p for p in range(expand.partitions) for r in ids)
        for ids in checked.ids
    )
    return Participants(axes, Groups(expanded, checked.count * expand.partitions))


@dataclasses.dataclass(frozen=True)
class Expansion:
    """What ids stand for.

    Attributes:
      axes: the axes that an id as written counts along.
      count: how many such ids there are.
      partitions: how many partitions each of them stands for, all of which take part.
    """

    axes: Axes
    count: int
    partitions: int = 1


def mode(
    operation: str,
    axis_name: Any,
    partition_axes: Any,
    has_channel: bool,
    is_flat: bool,
    by_partition: bool,
) -> tuple[Axes, Expansion]:
    """The axes along which a collective works, and what its ids stand for."""
    partitions: Axes = ()
    if not isinstance(partition_axes, (tuple, list)) or partition_axes:
        partitions = mapped.names(operation, "partition_axes", partition_axes)
    replicas = mapped.resolved(operation, axis_name)
    if axis_name is None:
        replicas = tuple(axis for axis in replicas if axis not in partitions)
    elif both := set(replicas) & set(partitions):
        raise ValueError(
            f"{operation}: partition_axes must not be in axis_name {replicas}, got "
            f"{sorted(both, key=repr)}"
        )
    if not replicas and not partitions:
        raise ValueError(f"{operation}: axis_name must name at least one axis, got ()")
    if is_flat:
        axes = (*replicas, *partitions)
    elif has_channel and partitions and by_partition:
        axes = partitions
    elif has_channel and partitions:
        count = mapped.size(replicas)
        expansion = Expansion(replicas, count, mapped.size(partitions))
        return (*replicas, *partitions), expansion
    else:
        axes = replicas
    return axes, Expansion(axes, mapped.size(axes))


def checked_groups(
    operation: str,
    groups: tuple[Ids, ...],
    count: int,
    *,
    equal: bool,
    cover: bool,
    axes: Axes,
) -> Groups:
    """The groups of ids below ``count``, of which no groups are one of all of them."""
    if not groups:
        return Groups((tuple(range(count)),), count)
    must = f"{operation}: replica_groups must"
    ids = [i for group in groups for i in group]
    for i in ids:
        if not 0 <= i < count:
            raise ValueError(
                f"{must} hold ids in [0, {count}), of the replicas along {axes}, got "
                f"{i} in {_shown(groups)}"
            )
    if len(set(ids)) != len(ids):
        twice = next(i for i in ids if ids.count(i) > 1)
        raise ValueError(
            f"{must} hold every id at most once, got {twice} more than once in "
            f"{_shown(groups)}"
        )
    if not all(groups):
        raise ValueError(f"{must} hold no empty group, got {_shown(groups)}")
    if cover and len(ids) != count:
        missing = sorted(set(range(count)) - set(ids))
        raise ValueError(
            f"{must} be empty or hold each of the ids 0 to {count - 1}, got "
            f"{_shown(groups)} without {_shown((tuple(missing),))[1:-1]}"
        )
    result = Groups(groups, count)
    if equal and not result.are_equal:
        raise ValueError(f"{must} have one size, got {_shown(groups)}")
    return result


def parsed(operation: str, parameter: str, value: Any) -> tuple[Ids, ...]:
    """The groups that a value stands for.

    Args:
      operation: for messages.
      parameter: for messages.
      value: a sequence of groups, each a `xlaops.ReplicaGroup`, what stands for one or
        a sequence of ids; a 2-d numpy array of ids; or a device list as HLO writes it:
        ``"{{0,1},{2,3}}"``, ``"[2,4]<=[4,2]T(1,0)"`` or ``"mesh['a'=2,'b'=4] {'b'}"``.

    Returns:
      The ids of every group.
    """
    if isinstance(value, str):
        return _device_list(operation, parameter, value)
    what = "groups of replica ids or a device list"
    if parameter == _PAIRS:
        what = "pairs of replica ids or their text"
    rule = f"{operation}: {parameter} must be a sequence of {what} as HLO writes it"
    is_sequence = isinstance(value, Iterable) and not isinstance(
        value, (Mapping, bytes, set, frozenset)
    )
    if not is_sequence or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"{rule}, got {checks.describe(value)}")
    return tuple(
        checks.integers(operation, f"{parameter}[{i}]", _ids_of(group))
        for i, group in enumerate(value)
    )


def _ids_of(group: Any) -> Any:
    if isinstance(group, types.ReplicaGroup):
        return group.replica_ids
    if isinstance(group, types.SourceTarget):
        return group.source, group.target
    if isinstance(group, Mapping) and "replica_ids" in group:
        return group["replica_ids"]
    if isinstance(group, Mapping) and {"source", "target"} == set(group):
        return group["source"], group["target"]
    return group


_LISTED = re.compile(r"\{ *(\{[0-9, ]*\}( *, *\{[0-9, ]*\})*)? *\}")
_IOTA = re.compile(r"\[([0-9, ]+)\] *<= *\[([0-9, ]+)\](?: *T\(([0-9, ]+)\))?")
_NAMES = r"'[^']+'(?: *, *'[^']+')*"
_SIZES = r"'[^']+' *= *[0-9]+(?: *, *'[^']+' *= *[0-9]+)*"
_MESH_AXES = re.compile(rf"mesh\[ *({_SIZES}) *\] *\{{ *({_NAMES})? *\}}")
# Of a text alone nobody can tell how many replicas there are, but not that many.
_MAX_IDS = 2**20


def _device_list(operation: str, parameter: str, text: str) -> tuple[Ids, ...]:
    """The groups of a device list.

    It is explicit, a reshaped and transposed iota, or says along which axes of a mesh
    the members of a group lie.
    """
    written = text.strip()
    try:
        if _LISTED.fullmatch(written):
            groups = re.findall(r"\{([0-9, ]*)\}", written[1:-1])
            if len(groups) == 1 and not groups[0].strip():
                return ()
            return tuple(_numbers(group) if group.strip() else () for group in groups)
        if iota := _IOTA.fullmatch(written):
            shape, dims = _numbers(iota[1]), _numbers(iota[2])
            order = _numbers(iota[3]) if iota[3] else range(len(dims))
            count = math.prod(dims)
            if len(shape) == 2 and 0 < math.prod(shape) == count <= _MAX_IDS:
                ids = np.arange(count).reshape(dims).transpose(order)
                return tuple(map(tuple, ids.reshape(shape).tolist()))
        if mesh := _MESH_AXES.fullmatch(written):
            sizes = dict(re.findall(r"'([^']+)' *= *([0-9]+)", mesh[1]))
            along = re.findall(r"'([^']+)'", mesh[2] or "")
            if groups := _along_axes({k: int(n) for k, n in sizes.items()}, along):
                return groups
    except ValueError:
        pass
    such = (
        "a device list such as '{{0,1},{2,3}}', '[2,4]<=[4,2]T(1,0)' or "
        "\"mesh['a'=2,'b'=4] {'b'}\""
    )
    if parameter == _PAIRS:
        such = "pairs such as '{{0,1},{1,2}}'"
    raise ValueError(f"{operation}: {parameter} must be {such}, got {text[:60]!r}")


def _along_axes(sizes: Mapping[str, int], along: Sequence[str]) -> tuple[Ids, ...]:
    """The positions in a mesh that differ along some axes; none if it cannot be."""
    names = list(sizes)
    is_known = set(along) <= set(names) and len(set(along)) == len(along)
    if not is_known or not 0 < math.prod(sizes.values()) <= _MAX_IDS:
        return ()
    order = [names.index(axis) for axis in along]
    rest = [i for i in range(len(names)) if i not in order]
    ids = np.arange(math.prod(sizes.values())).reshape(list(sizes.values()))
    members = math.prod(sizes[axis] for axis in along)
    rows = ids.transpose(rest + order).reshape(-1, members)
    return tuple(map(tuple, rows.tolist()))


def _numbers(text: str) -> Ids:
    return tuple(int(number) for number in text.split(","))


def pairs(
    operation: str, value: Any, count: int, axes: Axes
) -> tuple[tuple[int, int], ...]:
    """The pairs of source and target ids of a permutation, checked.

    Args:
      operation: for messages.
      value: a sequence of pairs, each a `xlaops.SourceTarget`, what stands for one or
        two ids; or their text as HLO writes it.
      count: how many ids there are.
      axes: the axes along which they count.
    """
    must = f"{operation}: {_PAIRS} must"
    result = parsed(operation, _PAIRS, value)
    for pair in result:
        if len(pair) != 2:
            raise ValueError(f"{must} hold pairs, got {pair} in {_shown(result)}")
        for i in pair:
            if not 0 <= i < count:
                raise ValueError(
                    f"{must} hold ids in [0, {count}), of the replicas along {axes}, "
                    f"got {i} in {_shown(result)}"
                )
    for which, ids in zip(
        ("source", "target"), zip(*result, strict=True), strict=False
    ):
        if len(set(ids)) != len(ids):
            twice = next(i for i in ids if ids.count(i) > 1)
            raise ValueError(
                f"{must} hold every {which} at most once, got {twice} more than once "
                f"in {_shown(result)}"
            )
    return tuple((source, target) for source, target in result)


def channel(operation: str, channel_id: Any) -> int:
    """The number of a channel between devices; 0 for None."""
    if channel_id is None:
        return 0
    return checks.channel(
        operation, "channel_id", channel_id, types.ChannelType.DEVICE_TO_DEVICE
    )


def layout(operation: str, parameter: str, value: Any) -> None:
    """Checks a layout, which has no effect: JAX's collectives cannot carry one."""
    if value is not None:
        checks.coerced(types.Layout.coerce)(operation, parameter, value)


def group_size(operation: str, parameter: str, value: Any, groups: Groups) -> None:
    """Checks the number of members of a group that a caller may write beside it."""
    if value is None:
        return
    count = checks.integer(operation, parameter, value)
    if count != groups.size:
        raise ValueError(
            f"{operation}: {parameter} must be the number of members of a replica "
            f"group, {groups.size}, got {count}"
        )


_optional_bool: Callable[[str, str, Any], bool | None] = checks.optional(checks.boolean)


def _shown(groups: Sequence[Sequence[int]]) -> str:
    """Groups as HLO writes them, cut to a length that fits a message."""
    text = f"{{{','.join('{' + ','.join(map(str, g)) + '}' for g in groups)}}}"
    return text if len(text) <= 100 else f"{text[:97]}..."
