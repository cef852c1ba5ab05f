"""Who takes part in a collective, and over which channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .arguments import (
    freeze,
    freeze_dimensions,
    from_mapping,
    integer,
    sequence,
    shown,
)
from .enums import ChannelType
from .record import Record


class ReplicaGroup(Record):
    """The replicas that one collective operation joins, in their order.

    Args:
        replica_ids: distinct, non-negative numbers of replicas.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is negative or appears twice.

    Example:
        >>> from xlaops.types import ReplicaGroup
        >>> str(ReplicaGroup([2, 0]))
        '{2,0}'

    Source:
        ``ReplicaGroup`` of XLA's ``xla_data.proto``.
    """

    replica_ids: tuple[int, ...]

    def __post_init__(self) -> None:
        freeze_dimensions(self, "replica_ids")

    @classmethod
    def coerce(cls, value: Any) -> ReplicaGroup:
        """A group from an instance, a mapping with ``replica_ids`` or the numbers.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, ReplicaGroup):
            return value
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        rule = "an instance, a mapping of its fields or a sequence of replica ids"
        return cls(sequence(value, cls.__name__, "value", rule))

    def __str__(self) -> str:
        return f"{{{','.join(map(str, self.replica_ids))}}}"


class ChannelHandle(Record):
    """The number of a channel, and between which ends it carries data.

    Args:
        handle: a non-negative number; 0 stands for no channel in XLA.
        type: a :class:`ChannelType` or what its ``coerce`` takes.

    Raises:
        TypeError, ValueError: if the number or the type is not valid.

    Example:
        >>> from xlaops.types import ChannelHandle, ChannelType
        >>> ChannelHandle(3, ChannelType.DEVICE_TO_HOST).type
        <ChannelType.DEVICE_TO_HOST: 'DEVICE_TO_HOST'>

    Source:
        ``ChannelHandle`` of XLA's ``xla_data.proto``.
    """

    handle: int
    type: ChannelType = ChannelType.CHANNEL_TYPE_INVALID

    def __post_init__(self) -> None:
        freeze(
            self,
            handle=integer(self.handle, "ChannelHandle", "handle", minimum=0),
            type=ChannelType.coerce(self.type),
        )

    @classmethod
    def coerce(cls, value: Any) -> ChannelHandle:
        """A handle from an instance, a mapping of the fields or the number alone.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, ChannelHandle):
            return value
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        number = integer(
            value, "ChannelHandle", "value (an instance, a mapping or a number)"
        )
        return cls(number)


class SourceTarget(Record):
    """One transfer of a permutation: from which replica to which.

    Args:
        source: the replica that sends.
        target: the replica that receives.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if one is negative.

    Example:
        >>> from xlaops.types import SourceTarget
        >>> str(SourceTarget.coerce((0, 1)))
        '{0,1}'

    Source:
        ``SourceTarget`` of XLA's ``xla_data.proto``.
    """

    source: int
    target: int

    def __post_init__(self) -> None:
        owner = type(self).__name__
        freeze(
            self,
            source=integer(self.source, owner, "source", minimum=0),
            target=integer(self.target, owner, "target", minimum=0),
        )

    @classmethod
    def coerce(cls, value: Any) -> SourceTarget:
        """A transfer from an instance, a mapping of the fields or a pair.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, SourceTarget):
            return value
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        rule = "an instance, a mapping of its fields or (source, target)"
        pair = sequence(value, cls.__name__, "value", rule)
        if len(pair) != 2:
            raise ValueError(
                f"{cls.__name__}: value must be {rule}, got {shown(value)}"
            )
        return cls(*pair)

    def __str__(self) -> str:
        return f"{{{self.source},{self.target}}}"
