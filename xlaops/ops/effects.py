"""Tokens, feeds and transfers between programs and the host.

JAX has neither infeed and outfeed nor sends and receives of a single device. They are
bounded queues of the host here (`xlaops.effects`), which programs reach by ordered
callbacks: all side effects of a program happen in the order in which it is written.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import jax
from jax import Array

from .. import types
from ..core import checks, host_transfer, tokens
from ..core.compat import Tracer
from ..core.host_queues import Role
from ..core.host_transfer import Transfer
from ..core.tokens import Token
from ..core.typing import ChannelHandleLike, ItemShapeLike

T = TypeVar("T")


def create_token() -> Token:
    """A token that depends on nothing.

    Returns:
      A token.

    Example:
      >>> import xlaops as xo
      >>> xo.create_token()
      Token()

    Source: ``CreateToken`` of ``xla_builder.h``, a form of *AfterAll* in XLA's
    Operation semantics; ``stablehlo.create_token``.
    """
    return tokens.new()


def after_all(tokens: Sequence[Token]) -> Token:
    """A token that depends on several: what it orders comes after all of them.

    Args:
      tokens: N tokens; at least one.

    Returns:
      A token.

    Raises:
      TypeError: if ``tokens`` is no sequence of tokens.
      ValueError: if it is empty.

    Example:
      >>> import xlaops as xo
      >>> xo.after_all([xo.create_token(), xo.create_token()])
      Token()

    Source: *AfterAll* in XLA's Operation semantics; ``stablehlo.after_all``.
    """
    return _joined(tokens)


def infeed(shape: ItemShapeLike, config: str | None = None) -> Any:
    """The next item of the device's infeed, which the host fills.

    The host puts items into ``xo.effects.infeed_queue(device)``. An infeed of an empty
    tuple does nothing.

    Under `jax.shard_map` and `jax.pmap` every device reads its own queue. Reads in
    loops happen in every iteration. JAX transformations that would change their number
    or order are refused: `jax.vmap`, and reverse derivatives of loops.

    Args:
      shape: what to read: the shape of an array, or of a tuple of arrays that is not
        nested. It has to be that of the next item; layouts do not matter.
      config: text that appears in messages.

    Returns:
      An array, or a tuple of arrays if ``shape`` is a tuple's.

    Raises:
      TypeError: if ``shape`` is a nested tuple or holds what is no array; when it
        runs, if the next item has another shape, which leaves it in the queue.
      ValueError: if a dimension is dynamic, or an element type needs
        ``jax_enable_x64``.
      TimeoutError: when it runs, if nothing feeds the queue. Errors of jitted programs
        are of `jax.errors.JaxRuntimeError`, with this text at their end.

    Example:
      >>> import jax
      >>> import xlaops as xo
      >>> queue = xo.effects.infeed_queue()
      >>> queue.put([1.0, 2.0])  # a tuple of two
      >>> x, y = jax.jit(lambda: xo.infeed("(f32[], f32[])"))()
      >>> print(x, y)
      1.0 2.0

    Source: *Infeed* in XLA's Operation semantics; ``stablehlo.infeed``.
    """
    what = _Receive("infeed", Role.INFEED, shape=shape, config=config)
    return what.run(None)[0]


def outfeed(
    operand: Any,
    shape_with_layout: ItemShapeLike | None = None,
    outfeed_config: str | None = None,
) -> tuple[()]:
    """Puts data into the device's outfeed, from which the host takes it.

    The host takes items from ``xo.effects.outfeed_queue(device)``. An outfeed of an
    empty tuple does nothing. When the queue is full the program waits.

    The data takes no part in derivatives: an outfeed in a differentiated function
    happens once, and adds nothing to the derivative.

    Args:
      operand: an array, or a tuple of arrays that is not nested.
      shape_with_layout: its shape; layouts in it do not matter. None leaves it to the
        operand.
      outfeed_config: text that goes with the item to the host.

    Returns:
      An empty tuple, as in XLA.

    Raises:
      TypeError: if ``operand`` is a nested tuple or ``shape_with_layout`` another
        shape than that of the operand.
      TimeoutError: when it runs, if the queue stays full. Errors of jitted programs are
        of `jax.errors.JaxRuntimeError`, with this text at their end.

    Example:
      >>> import jax
      >>> import xlaops as xo
      >>> @jax.jit
      ... def f(x):
      ...     xo.outfeed(x * 10)
      ...     return x + 1
      >>> print(f(1.5))
      2.5
      >>> print(xo.effects.outfeed_queue().get())
      15.0

    Source: *Outfeed* in XLA's Operation semantics; ``stablehlo.outfeed``.
    """
    _put(
        "outfeed",
        Role.OUTFEED,
        operand,
        shape=shape_with_layout,
        config_name="outfeed_config",
        config=outfeed_config,
    )
    return ()


def recv(shape: ItemShapeLike, handle: ChannelHandleLike) -> Any:
    """Data from a channel, which another program sends.

    The two programs run in different threads, or the sending one before the receiving
    one: within a thread the side effects of programs are in order. The host can also
    put into the channel: ``xo.effects.channel_queue(handle, device)``. Between the
    devices of one program use collectives.

    The result is its own context: `recv_done` of it waits for the transfer.

    Args:
      shape: what to receive: the shape of an array, or of a tuple of arrays that is not
        nested.
      handle: the channel: its number or a ``ChannelHandle`` of type DEVICE_TO_DEVICE.

    Returns:
      An array, or a tuple of arrays if ``shape`` is a tuple's.

    Raises:
      TypeError: if ``shape`` is a nested tuple; when it runs, if what was sent has
        another shape, which leaves it in the channel.
      ValueError: if ``handle`` is of another type, or as in `infeed`.
      TimeoutError: when it runs, if nothing is sent.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> _ = jax.jit(lambda x: xo.send(x, 7))(jnp.arange(3.0))
      >>> print(jax.jit(lambda: xo.recv("f32[3]", 7) * 2)())
      [0. 2. 4.]

    Source: *Recv* in XLA's Operation semantics; ``stablehlo.recv``.
    """
    what = _Receive("recv", Role.CHANNEL, handle=handle, shape=shape)
    return what.run(None)[0]


def recv_done(context: T) -> T:
    """The data of a receive that was started, once it is there.

    Args:
      context: what `recv` or `recv_with_token` returned.

    Returns:
      ``context``; outside of a traced program the call waits for it.

    Raises:
      TypeError: if ``context`` holds something else than arrays and tokens.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> _ = xo.send(jnp.ones(2), 7)
      >>> print(xo.recv_done(xo.recv("f32[2]", 7)))
      [1. 1.]

    Source: *RecvDone*, below Recv, in XLA's Operation semantics; ``stablehlo.recv``.
    """
    return _awaited("recv_done", context)


def send(operand: Any, handle: ChannelHandleLike) -> Token:
    """Sends data into a channel, from which another program receives it.

    See `recv`. The data waits in ``xo.effects.channel_queue(handle, device)``; when
    that is full the program waits.

    Args:
      operand: an array, or a tuple of arrays that is not nested.
      handle: the channel: its number or a ``ChannelHandle`` of type DEVICE_TO_DEVICE.

    Returns:
      A token, which is the context of `send_done`: it depends on the transfer.

    Raises:
      TypeError: if ``operand`` is a nested tuple.
      ValueError: if ``handle`` is of another type.
      NotImplementedError: if ``operand`` depends on what is differentiated: the
        derivative would be lost on the way.
      TimeoutError: when it runs, if the channel stays full.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.send(jnp.arange(3), handle=8)
      Token()
      >>> print(xo.recv("s32[3]", handle=8))
      [0 1 2]

    Source: *Send* in XLA's Operation semantics; ``stablehlo.send``.
    """
    return _put("send", Role.CHANNEL, operand, handle=handle)


def send_done(context: Token) -> Token:
    """The token of a send that was started, once it has happened.

    Args:
      context: what `send` or `send_with_token` returned.

    Returns:
      ``context``; outside of a traced program the call waits for it.

    Raises:
      TypeError: if ``context`` is no token.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.send_done(xo.send(jnp.ones(2), 7))
      Token()
      >>> print(xo.recv("f32[2]", 7))
      [1. 1.]

    Source: *SendDone*, below Send, in XLA's Operation semantics; ``stablehlo.send``.
    """
    return _awaited("send_done", tokens.checked("send_done", "context", context))


def infeed_with_token(
    token: Token, shape: ItemShapeLike, config: str | None = None
) -> tuple[Any, Token]:
    """The next item of the infeed, after a token; see `infeed`.

    Args:
      token: what has to be done before.
      shape: the shape of an array, or of a tuple of arrays that is not nested.
      config: text that appears in messages.

    Returns:
      The data and a token, which depends on the read.

    Raises:
      TypeError: if ``token`` is none, or as in `infeed`.
      ValueError: as in `infeed`.
      TimeoutError: when it runs, if nothing feeds the queue.

    Example:
      >>> import xlaops as xo
      >>> xo.effects.infeed_queue().put(3)
      >>> x, token = xo.infeed_with_token(xo.create_token(), "s32[]")
      >>> print(x, token)
      3 Token()

    Source: ``InfeedWithToken`` of ``xla_builder.h``, a form of *Infeed* in XLA's
    Operation semantics; ``stablehlo.infeed``.
    """
    operation = "infeed_with_token"
    token = tokens.checked(operation, "token", token)
    return _Receive(operation, Role.INFEED, shape=shape, config=config).run(token)


def outfeed_with_token(
    operand: Any,
    token: Token,
    shape_with_layout: ItemShapeLike | None = None,
    outfeed_config: str | None = None,
) -> Token:
    """Puts data into the outfeed, after a token; see `outfeed`.

    Args:
      operand: an array, or a tuple of arrays that is not nested.
      token: what has to be done before.
      shape_with_layout: the shape of the operand, or None.
      outfeed_config: text that goes with the item to the host.

    Returns:
      A token, which depends on the transfer.

    Raises:
      TypeError: if ``token`` is none, or as in `outfeed`.
      TimeoutError: when it runs, if the queue stays full.

    Example:
      >>> import xlaops as xo
      >>> xo.outfeed_with_token(3, xo.create_token(), "s32[]")
      Token()
      >>> print(xo.effects.outfeed_queue().get())
      3

    Source: ``OutfeedWithToken`` of ``xla_builder.h``, a form of *Outfeed* in XLA's
    Operation semantics; ``stablehlo.outfeed``.
    """
    return _put(
        "outfeed_with_token",
        Role.OUTFEED,
        operand,
        token=tokens.checked("outfeed_with_token", "token", token),
        shape=shape_with_layout,
        config_name="outfeed_config",
        config=outfeed_config,
    )


def send_with_token(operand: Any, token: Token, handle: ChannelHandleLike) -> Token:
    """Sends data into a channel, after a token; see `send`.

    Args:
      operand: an array, or a tuple of arrays that is not nested.
      token: what has to be done before.
      handle: the channel, as in `send`.

    Returns:
      A token, which depends on the transfer.

    Raises:
      TypeError: if ``token`` is none, or as in `send`.
      ValueError, NotImplementedError, TimeoutError: as in `send`.

    Example:
      >>> import xlaops as xo
      >>> token = xo.send_with_token(1.0, xo.create_token(), 7)
      >>> print(xo.recv("f32[]", 7))
      1.0

    Source: ``SendWithToken`` of ``xla_builder.h``, a form of *Send* in XLA's Operation
    semantics; ``stablehlo.send``.
    """
    token = tokens.checked("send_with_token", "token", token)
    return _put("send_with_token", Role.CHANNEL, operand, token=token, handle=handle)


def recv_with_token(
    token: Token, shape: ItemShapeLike, handle: ChannelHandleLike
) -> tuple[Any, Token]:
    """Data from a channel, after a token; see `recv`.

    Args:
      token: what has to be done before.
      shape: the shape of an array, or of a tuple of arrays that is not nested.
      handle: the channel, as in `recv`.

    Returns:
      The data and a token, which depends on the transfer.

    Raises:
      TypeError: if ``token`` is none, or as in `recv`.
      ValueError, TimeoutError: as in `recv`.

    Example:
      >>> import xlaops as xo
      >>> token = xo.send(1.0, 7)
      >>> x, token = xo.recv_with_token(token, "f32[]", 7)
      >>> print(x)
      1.0

    Source: ``RecvWithToken`` of ``xla_builder.h``, a form of *Recv* in XLA's Operation
    semantics; ``stablehlo.recv``.
    """
    operation = "recv_with_token"
    token = tokens.checked(operation, "token", token)
    return _Receive(operation, Role.CHANNEL, handle=handle, shape=shape).run(token)


def send_to_host(
    operand: Any,
    token: Token,
    shape_with_layout: ItemShapeLike | None,
    handle: ChannelHandleLike,
) -> Token:
    """Sends data to the host through a channel, after a token.

    The host takes it from ``xo.effects.to_host_queue(handle, device)``. As in
    `outfeed`, the data takes no part in derivatives.

    Args:
      operand: an array, or a tuple of arrays that is not nested.
      token: what has to be done before.
      shape_with_layout: the shape of the operand; layouts in it do not matter. None
        leaves it to the operand.
      handle: the channel: its number or a ``ChannelHandle`` of type DEVICE_TO_HOST.

    Returns:
      A token, which depends on the transfer.

    Raises:
      TypeError: if ``token`` is none, or as in `outfeed`.
      ValueError: if ``handle`` is of another type.
      TimeoutError: when it runs, if the queue stays full.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> token = xo.create_token()
      >>> token = xo.send_to_host(jnp.arange(3), token, "s32[3]", handle=5)
      >>> xo.effects.to_host_queue(5).get()
      array([0, 1, 2], dtype=int32)

    Source: ``SendToHost`` of ``xla_builder.h``, a form of *Send* in XLA's Operation
    semantics; ``stablehlo.send``.
    """
    return _put(
        "send_to_host",
        Role.TO_HOST,
        operand,
        token=tokens.checked("send_to_host", "token", token),
        shape=shape_with_layout,
        handle=handle,
    )


def recv_from_host(
    token: Token, shape: ItemShapeLike, handle: ChannelHandleLike
) -> tuple[Any, Token]:
    """Data that the host sends through a channel, after a token.

    The host puts it into ``xo.effects.from_host_queue(handle, device)``. The document
    calls the operation RecvToHost.

    Args:
      token: what has to be done before.
      shape: the shape of an array, or of a tuple of arrays that is not nested.
      handle: the channel: its number or a ``ChannelHandle`` of type HOST_TO_DEVICE.

    Returns:
      The data and a token, which depends on the transfer.

    Raises:
      TypeError: if ``token`` is none, or as in `infeed`.
      ValueError: if ``handle`` is of another type, or as in `infeed`.
      TimeoutError: when it runs, if nothing is put into the queue.

    Example:
      >>> import xlaops as xo
      >>> xo.effects.from_host_queue(6).put(2.5)
      >>> x, token = xo.recv_from_host(xo.create_token(), "f32[]", handle=6)
      >>> print(x)
      2.5

    Source: ``RecvFromHost`` of ``xla_builder.h``, a form of *Recv* in XLA's Operation
    semantics; ``stablehlo.recv``.
    """
    operation = "recv_from_host"
    token = tokens.checked(operation, "token", token)
    return _Receive(operation, Role.FROM_HOST, handle=handle, shape=shape).run(token)


def _joined(values: Any) -> Token:
    if isinstance(values, (str, Array)) or not isinstance(values, Sequence):
        raise TypeError(
            f"after_all: tokens must be a sequence of tokens, "
            f"got {checks.describe(values)}"
        )
    if not values:
        raise ValueError("after_all: tokens must hold at least one token, got none")
    return tokens.joined(
        [tokens.checked("after_all", f"tokens[{i}]", t) for i, t in enumerate(values)]
    )


class _Receive:
    """The arguments of an operation that takes from a queue, checked."""

    def __init__(
        self,
        operation: str,
        role: Role,
        *,
        shape: ItemShapeLike,
        handle: ChannelHandleLike | None = None,
        config: str | None = None,
    ) -> None:
        self._shape = _item_shape(operation, "shape", shape)
        self._transfer = Transfer(
            operation,
            role,
            _channel(operation, role, handle),
            shape=self._shape,
            config=_config(operation, "config", config),
        )

    def run(self, token: Token | None) -> tuple[Any, Token]:
        """The data, and a token that depends on it."""
        if self._shape == types.Shape.tuple():
            return (), tokens.new() if token is None else token
        arrays, token = host_transfer.transfer(self._transfer, token)
        return (arrays if self._shape.is_tuple else arrays[0]), token


def _put(
    operation: str,
    role: Role,
    operand: Any,
    *,
    token: Token | None = None,
    shape: ItemShapeLike | None = None,
    handle: ChannelHandleLike | None = None,
    config_name: str = "",
    config: str | None = None,
) -> Token:
    """Puts an operand into a queue, and returns a token that depends on it."""
    is_tuple = isinstance(operand, (tuple, list))
    parts = operand if is_tuple else (operand,)
    arrays = []
    for i, part in enumerate(parts):
        name = f"operand[{i}]" if is_tuple else "operand"
        if isinstance(part, (tuple, list)):
            raise TypeError(
                f"{operation}: operand must not hold nested tuples, got "
                f"{checks.describe(part)} at index {i}"
            )
        arrays.append(checks.operand(operation, name, part, "biufc"))
    if shape is not None:
        wanted = _item_shape(operation, "shape_with_layout", shape)
        came = types.Shape.coerce(tuple(arrays) if is_tuple else arrays[0])
        if wanted != came:
            raise TypeError(
                f"{operation}: shape_with_layout must be the shape of operand, {came}, "
                f"got {wanted}"
            )
    what = Transfer(
        operation,
        role,
        _channel(operation, role, handle),
        is_tuple=is_tuple,
        config=_config(operation, config_name, config),
    )
    if not arrays:
        return tokens.new() if token is None else token
    return host_transfer.transfer(what, token, tuple(arrays), "operand")[1]


def _item_shape(operation: str, parameter: str, value: Any) -> types.Shape:
    """The shape of an array or of a flat tuple of arrays, without its layout."""
    shape = checks.coerced(types.Shape.coerce)(operation, parameter, value)
    for part in shape.tuple_shapes if shape.is_tuple else (shape,):
        if part.is_tuple:
            raise TypeError(
                f"{operation}: {parameter} must not hold nested tuples, got {shape}"
            )
        if not part.is_array:
            raise TypeError(f"{operation}: {parameter} must hold arrays, got {shape}")
        if not part.is_static:
            raise ValueError(
                f"{operation}: {parameter} must have static dimensions, got {shape}"
            )
        if jax.dtypes.canonicalize_dtype(part.dtype) != part.dtype:
            raise ValueError(
                f"{operation}: {parameter} must have no 64-bit types without "
                f"jax_enable_x64, got {shape}"
            )
        checks.addressable(operation, parameter, part.dimensions, part.dtype)
    return shape.without_layout()


_CHANNEL_TYPES = {
    Role.CHANNEL: types.ChannelType.DEVICE_TO_DEVICE,
    Role.TO_HOST: types.ChannelType.DEVICE_TO_HOST,
    Role.FROM_HOST: types.ChannelType.HOST_TO_DEVICE,
}


def _channel(operation: str, role: Role, handle: ChannelHandleLike | None) -> int:
    """The number of a channel whose type is that of the role, or is left open."""
    if role not in _CHANNEL_TYPES:
        return 0
    return checks.channel(operation, "handle", handle, _CHANNEL_TYPES[role])


def _config(operation: str, parameter: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(
            f"{operation}: {parameter} must be a str, got {checks.describe(value)}"
        )
    return value


def _awaited(operation: str, context: T) -> T:
    """The context, for which a call outside of a traced program waits."""
    for leaf in jax.tree.leaves(context):
        checks.array(operation, "context", leaf)
        if isinstance(leaf, Tracer):
            return context
    return jax.block_until_ready(context)
