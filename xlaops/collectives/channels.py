"""Transfers between the replicas of one program, in two halves.

Every replica runs both halves, as they are one program, and says who sends to whom.
Those of `xlaops` itself are between programs.
"""

from typing import Any

from .. import types
from ..core import checks
from ..core.typing import (
    AxisNames,
    ChannelHandleLike,
    ItemShapeLike,
    SourceTargetPairsLike,
)
from . import futures, groups, permuting
from .futures import Future


def send(
    operand: Any,
    channel_id: ChannelHandleLike,
    source_target_pairs: SourceTargetPairsLike,
    *,
    axis_name: AxisNames | None = None,
) -> Future:
    """Sends an operand from replicas to others, which `recv` gets there.

    It is one half of a `xlaops.collective_permute`.

    Args:
      operand: an array, or a tuple of arrays.
      channel_id: the number of the channel, or a ``ChannelHandle`` of type
        DEVICE_TO_DEVICE.
      source_target_pairs: pairs of the ids of a replica that sends and of one that
        receives; no replica sends, or receives, twice.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.

    Returns:
      What `recv` takes.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if ``operand`` holds something else than arrays, or ``channel_id`` is
        no channel.
      ValueError: if the channel is of another type, an id is out of range, or is a
        source or a target twice.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> from xlaops import collectives
      >>> def shift(x):
      ...     handle = collectives.send(x, 1, [(0, 1), (1, 2)])
      ...     return collectives.recv("s32[]", handle)
      >>> print(jax.vmap(shift, axis_name="i")(jnp.array([7, 8, 9])))
      [0 7 8]

    Source: *Send* in XLA's Operation semantics; ``stablehlo.collective_permute``.
    """
    if channel_id is None:
        raise TypeError("send: channel_id must be a channel, got None")
    groups.channel("send", channel_id)
    value = permuting.permute(
        "send", operand, source_target_pairs, None, None, axis_name, ()
    )
    return Future("send", value)


def recv(shape: ItemShapeLike, handle: Future) -> Any:
    """What another replica sent to this one; zeros where none did.

    Args:
      shape: the shape of an array, or of a tuple of arrays.
      handle: what `send` returned.

    Returns:
      What was sent.

    Raises:
      TypeError: if ``handle`` is something else, or what was sent has another shape.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> from xlaops import collectives
      >>> def swap(x):
      ...     handle = collectives.send(x, 1, [(0, 1), (1, 0)])
      ...     return collectives.recv("s32[]", handle)
      >>> print(jax.vmap(swap, axis_name="i")(jnp.array([7, 8])))
      [8 7]

    Source: *Recv* in XLA's Operation semantics; ``stablehlo.collective_permute``.
    """
    value = futures.taken("recv", "handle", "send", handle)
    wanted = checks.coerced(types.Shape.coerce)("recv", "shape", shape)
    came = checks.coerced(types.Shape.coerce)("recv", "handle", value)
    if wanted.without_layout() != came:
        raise TypeError(
            f"recv: shape must be that of what was sent, {came}, got {wanted}"
        )
    return value
