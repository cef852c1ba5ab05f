"""Side effects of programs: what puts into the queues of the host and takes from them.

The calls are ordered `jax.experimental.io_callback`. All that JAX would do wrong with
one, without a word, is refused before: see `_guard`.
"""

import collections
import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import Array, lax
from jax.experimental import io_callback

from .. import types
from ..types.record import Record
from . import host_queues, primitive, tokens
from .compat import (
    CALLBACK_WAITS_FOR_LARGE_ARGUMENTS,
    Primitive,
    Tracer,
    ad,
    batching,
    mlir,
    new_primitive,
    partial_eval,
)
from .host_queues import Item, Role
from .tokens import Token

# Bytes of an argument that a callback gets without waiting for a thread.
_PIECE = 64 * 1024

# Errors of calls from programs: XLA hands on only their text.
_errors: collections.deque[Exception] = collections.deque(maxlen=64)


class Transfer(Record):
    """One operation that hands data over, as the callback that does it.

    Equal transfers are one callback: eager calls find their program compiled.

    Attributes:
      operation: name of the operation, for messages.
      role: role of the queue.
      channel: number of the channel; 0 where there is none.
      shape: what is taken from the queue; None if something is put into it.
      is_tuple: whether what is put is a tuple.
      config: text that travels along.
      whole: sizes of the arrays that come in pieces; empty if they come as they are.
      on_devices: whether the number of the device comes first.
      after_token: whether a token comes next.
    """

    operation: str
    role: Role
    channel: int = 0
    shape: types.Shape | None = None
    is_tuple: bool = False
    config: str = ""
    whole: tuple[tuple[int, ...], ...] = ()
    on_devices: bool = False
    after_token: bool = False

    def __call__(self, *operands: Any) -> tuple[np.ndarray, ...]:
        """Does the transfer, and returns what was taken and the token."""
        device = int(operands[0]) if self.on_devices else 0
        arrays = operands[self.on_devices + self.after_token :]
        queue = host_queues.queue(self.role, self.channel, device)
        token = np.zeros((), tokens.ELEMENT_TYPE)
        try:
            if self.shape is None:
                values = tuple(np.array(x) for x in _joined(arrays, self.whole))
                item = Item(values if self.is_tuple else values[0], self.config)
                queue._put(item)
                return (token,)
            value = queue._take(check=self._check).value
        except Exception as error:
            named = type(error)(f"{self._name}: {error}")
            _errors.append(named)
            raise named from None
        return (*(value if isinstance(value, tuple) else (value,)), token)

    @property
    def _name(self) -> str:
        return (
            f"{self.operation}(config={self.config!r})"
            if self.config
            else (self.operation)
        )

    def _check(self, item: Item) -> None:
        if item.shape != self.shape:
            raise TypeError(
                f"shape must be that of the next item in the queue, {item.shape}, "
                f"which stays there, got {self.shape}"
            )


def transfer(
    what: Transfer,
    token: Token | None,
    arrays: tuple[Array, ...] = (),
    parameter: str = "",
) -> tuple[tuple[Array, ...], Token]:
    """Hands over arrays, or takes some.

    Args:
      what: the operation.
      token: what has to be done before; None if nothing has.
      arrays: what is put into the queue.
      parameter: the parameter that the arrays came as, for messages.

    Returns:
      The arrays that were taken, and a token that depends on the transfer.
    """
    axes = primitive.manual_axes()
    if what.role is not Role.CHANNEL:
        # What has gone to the host takes no part in the computation any more.
        arrays = tuple(map(lax.stop_gradient, arrays))
    if CALLBACK_WAITS_FOR_LARGE_ARGUMENTS and axes and arrays:
        what = dataclasses.replace(what, whole=tuple(x.shape for x in arrays))
        arrays = tuple(piece for x in arrays for piece in _pieces(x))
    # No constants, so that what takes only data from the host has no operands at all:
    # XLA of jaxlib 0.12 ends the process if a function that is called with nothing but
    # a token holds a constant that the caller has, too.
    what = dataclasses.replace(
        what, on_devices=bool(axes), after_token=token is not None
    )
    operands = _guard.bind(
        *((_device_number(axes),) if axes else ()),
        *((token.value,) if token is not None else ()),
        *arrays,
        operation=what.operation,
        parameter=parameter,
    )
    structs = [jax.ShapeDtypeStruct((), tokens.ELEMENT_TYPE)]
    if what.shape is not None:
        leaves = what.shape.tuple_shapes if what.shape.is_tuple else (what.shape,)
        structs = [*(leaf.to_struct() for leaf in leaves), *structs]
    try:
        results = io_callback(what, tuple(structs), *operands, ordered=True)
        if not isinstance(results[-1], Tracer):
            # Eagerly an error is raised where it belongs, as what it is.
            jax.block_until_ready(results)
    except jax.errors.JaxRuntimeError as error:
        _raise_original(error)
        raise
    # Every device has called for itself.
    results = primitive.varying_over(axes, *results)
    return results[:-1], Token(results[-1])


def _pieces(array: Array) -> list[Array]:
    """The elements of an array, in vectors of at most `_PIECE` bytes."""
    step = _PIECE // array.dtype.itemsize
    flat = lax.reshape(array, (array.size,))
    starts = range(0, max(array.size, 1), step)
    return [lax.slice(flat, (i,), (min(i + step, array.size),)) for i in starts]


def _joined(pieces: Sequence[Any], sizes: Sequence[tuple[int, ...]]) -> list[Any]:
    """The arrays of the given sizes that were cut into pieces."""
    if not sizes:
        return list(pieces)
    rest, arrays = list(map(np.asarray, pieces)), []
    for size in sizes:
        count = -(-math.prod(size) // (_PIECE // rest[0].dtype.itemsize)) or 1
        arrays.append(np.concatenate(rest[:count]).reshape(size))
        del rest[:count]
    return arrays


def _device_number(axes: frozenset[str]) -> Any:
    """The row-major index of the running device over the manual axes."""
    # In the mesh's order, which the set has lost.
    names = jax.sharding.get_abstract_mesh().axis_names
    return lax.axis_index(tuple(name for name in names if name in axes))


def _raise_original(error: Exception) -> None:
    """Raises the error of a callback that another error speaks of, if there is one."""
    text = str(error)
    # A copy: other programs may fail meanwhile.
    for original in reversed(tuple(_errors)):
        if str(original) in text:
            raise type(original)(str(original)) from None


# JAX refuses to map or differentiate the operands of an ordered callback. Where it sees
# none that is, it goes on in silence: it calls once for a whole batch, and in the
# reverse derivative of a loop it moves the call out of the loop or drops it. All
# operands of a callback pass through this primitive, which every such transformation
# meets, and which refuses.
_guard: Primitive = new_primitive("host_transfer")
_guard.multiple_results = True
_guard.def_impl(lambda *operands, **_: list(operands))


@functools.cache
def _ordered_effects() -> Any:
    """The effects of an ordered callback, which have no public name."""
    return jax.make_jaxpr(lambda: io_callback(lambda: (), (), ordered=True))().effects


# It has the effects of the callback itself, so that nothing drops it where it has no
# operands, and nothing that the callback uses.
@_guard.def_effectful_abstract_eval
def _type(*avals: Any, **_: Any) -> Any:
    return list(avals), _ordered_effects()


def _lower(ctx: Any, *operands: Any, **_: Any) -> Any:
    ctx.set_tokens_out(ctx.tokens_in)
    return list(operands)


def _differentiate(primals: Any, _: Any, *, operation: str, parameter: str) -> Any:
    raise NotImplementedError(
        f"{operation}: {parameter} must not depend on what is differentiated: the "
        f"program that receives it is another one, in which the derivative would be "
        f"lost. (Tip: wrap it in jax.lax.stop_gradient if it may be.)"
    )


def _map(axis: Any, operands: Any, dims: Any, *, operation: str, **_: Any) -> Any:
    raise NotImplementedError(
        f"{operation}: cannot be mapped with jax.vmap: side effects have a total "
        f"order, and the elements of a batch have none. (Tip: jax.lax.map and "
        f"jax.lax.scan run them one after the other.)"
    )


def _split(trace: Any, *operands: Any, operation: str, **_: Any) -> Any:
    raise NotImplementedError(
        f"{operation}: cannot be inside a loop, or the rule of a jax.custom_jvp, of "
        f"which the reverse derivative is taken: JAX splits them, and would move side "
        f"effects out of a loop or drop them. (Tip: return the values from the loop, "
        f"and transfer them after it.)"
    )


mlir.register_lowering(_guard, _lower)
ad.primitive_jvps[_guard] = _differentiate
batching.fancy_primitive_batchers[_guard] = _map
partial_eval.custom_partial_eval_rules[_guard] = _split
