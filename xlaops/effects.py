"""The host's side of infeed, outfeed, send and recv: bounded queues.

A program reads and writes the queues of its device with the operations `xlaops.infeed`,
`xlaops.outfeed`, `xlaops.send`, `xlaops.recv` and their like; the host does so with the
queues that these functions return. The number of a device is its row-major index over
the manual axes of `jax.shard_map` or `jax.pmap`, and 0 in all other programs.

>>> import jax
>>> import xlaops as xo
>>> for x in (1.0, 2.0, 3.0):
...     xo.effects.infeed_queue().put(x)
>>> total = lambda i, x: x + xo.infeed("f32[]")
>>> print(jax.jit(lambda: jax.lax.fori_loop(0, 3, total, 0.0))())
6.0
"""

from typing import Any

from . import types
from .core import checks, compat, host_queues
from .core.host_queues import HostQueue as HostQueue
from .core.host_queues import Item as Item
from .core.host_queues import QueueClosedError as QueueClosedError
from .core.host_queues import Role as _Role
from .core.host_queues import configure as configure
from .core.host_queues import reset as reset
from .core.tokens import Token as Token
from .core.typing import ChannelHandleLike

__all__ = [
    "HostQueue",
    "Item",
    "QueueClosedError",
    "Token",
    "channel_queue",
    "configure",
    "flush",
    "from_host_queue",
    "infeed_queue",
    "outfeed_queue",
    "reset",
    "to_host_queue",
]


def infeed_queue(device: int = 0) -> HostQueue:
    """The queue that `xlaops.infeed` reads on a device.

    Args:
      device: number of the device.

    Returns:
      A `HostQueue`: put into it what programs shall read.

    Raises:
      TypeError, ValueError: if ``device`` is no such number.

    Example:
      >>> import xlaops as xo
      >>> xo.effects.infeed_queue().put(2.0)
      >>> print(xo.infeed("f32[]"))
      2.0
    """
    return host_queues.queue(_Role.INFEED, 0, _device("infeed_queue", device))


def outfeed_queue(device: int = 0) -> HostQueue:
    """The queue that `xlaops.outfeed` fills on a device.

    Args:
      device: number of the device.

    Returns:
      A `HostQueue`: get from it what programs have written.

    Raises:
      TypeError, ValueError: if ``device`` is no such number.

    Example:
      >>> import xlaops as xo
      >>> xo.outfeed(2.0)
      ()
      >>> print(xo.effects.outfeed_queue().get())
      2.0
    """
    return host_queues.queue(_Role.OUTFEED, 0, _device("outfeed_queue", device))


def channel_queue(handle: ChannelHandleLike, device: int = 0) -> HostQueue:
    """The queue between `xlaops.send` and `xlaops.recv` of a channel.

    Args:
      handle: the channel: its number or a ``ChannelHandle``.
      device: number of the device.

    Returns:
      A `HostQueue`, which the host may use as well.

    Raises:
      TypeError, ValueError: if ``handle`` or ``device`` is not valid.

    Example:
      >>> import xlaops as xo
      >>> _ = xo.send(2.0, handle=7)
      >>> print(xo.effects.channel_queue(7).get())
      2.0
    """
    return _channel_queue(
        "channel_queue",
        _Role.CHANNEL,
        types.ChannelType.DEVICE_TO_DEVICE,
        handle,
        device,
    )


def to_host_queue(handle: ChannelHandleLike, device: int = 0) -> HostQueue:
    """The queue that `xlaops.send_to_host` fills.

    Args:
      handle: the channel: its number or a ``ChannelHandle``.
      device: number of the device.

    Returns:
      A `HostQueue`: get from it what programs have sent.

    Raises:
      TypeError, ValueError: if ``handle`` or ``device`` is not valid.

    Example:
      >>> import xlaops as xo
      >>> _ = xo.send_to_host(2.0, xo.create_token(), "f32[]", handle=7)
      >>> print(xo.effects.to_host_queue(7).get())
      2.0
    """
    return _channel_queue(
        "to_host_queue",
        _Role.TO_HOST,
        types.ChannelType.DEVICE_TO_HOST,
        handle,
        device,
    )


def from_host_queue(handle: ChannelHandleLike, device: int = 0) -> HostQueue:
    """The queue that `xlaops.recv_from_host` reads.

    Args:
      handle: the channel: its number or a ``ChannelHandle``.
      device: number of the device.

    Returns:
      A `HostQueue`: put into it what programs shall receive.

    Raises:
      TypeError, ValueError: if ``handle`` or ``device`` is not valid.

    Example:
      >>> import xlaops as xo
      >>> xo.effects.from_host_queue(7).put(2.0)
      >>> x, token = xo.recv_from_host(xo.create_token(), "f32[]", handle=7)
      >>> print(x)
      2.0
    """
    return _channel_queue(
        "from_host_queue",
        _Role.FROM_HOST,
        types.ChannelType.HOST_TO_DEVICE,
        handle,
        device,
    )


def flush() -> None:
    """Waits until the side effects of all programs that were called have happened.

    JAX runs programs in the background: without it the host may look into a queue
    before a program has written. Only programs called by this thread count.

    Raises:
      jax.errors.JaxRuntimeError: if one of them has failed. On several devices those
        that are called after one that failed end with its error, until this has raised
        it.

    Example:
      >>> import jax
      >>> import xlaops as xo
      >>> _ = jax.jit(lambda: xo.outfeed(2.0))()
      >>> xo.effects.flush()
      >>> print(*xo.effects.outfeed_queue().drain())
      2.0
    """
    compat.effects_barrier()


def _channel_queue(
    function: str,
    role: _Role,
    kind: types.ChannelType,
    handle: Any,
    device: Any,
) -> HostQueue:
    channel = checks.channel(function, "handle", handle, kind)
    return host_queues.queue(role, channel, _device(function, device))


def _device(function: str, value: Any) -> int:
    device = checks.integer(function, "device", value)
    if device < 0:
        raise ValueError(f"{function}: device must not be negative, got {device}")
    return device
