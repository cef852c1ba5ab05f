"""Operations that only XLA's compiler makes: each says what to call instead.

The document describes them because they stand in the text of compiled programs. They
have functions so that a name that was found there leads somewhere.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from jax.typing import ArrayLike

from ..core.typing import ShapeLike


def async_start(
    operands: Sequence[ArrayLike], computation: Callable[..., Any]
) -> NoReturn:
    """Refuses to start a computation; the compiler makes what is asynchronous.

    Args:
      operands: operands of the computation.
      computation: what would run while the program goes on.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.async_start([1.0], lambda x: x)
      Traceback (most recent call last):
      NotImplementedError: async_start: only XLA's compiler makes it, to run a
      computation beside others. Call the computation itself: the compiler decides what
      overlaps, and JAX returns before the result is there.

    Source: *Async* in XLA's Operation semantics; HLO's ``async-start``.
    """
    _refuse(
        "async_start",
        "to run a computation beside others",
        "Call the computation itself: the compiler decides what overlaps, and JAX "
        "returns before the result is there.",
    )


def async_update(context: Any) -> NoReturn:
    """Refuses to pass on a computation that was started; see `xlaops.async_start`.

    Args:
      context: what the start of the computation gave.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.async_update(None)
      Traceback (most recent call last):
      NotImplementedError: async_update: only XLA's compiler makes it, between the start
      and the end of what it runs asynchronously. Call the computation itself.

    Source: *Async* in XLA's Operation semantics; HLO's ``async-update``.
    """
    _refuse(
        "async_update",
        "between the start and the end of what it runs asynchronously",
        "Call the computation itself.",
    )


def async_done(context: Any) -> NoReturn:
    """Refuses to wait for a computation that was started; see `xlaops.async_start`.

    Args:
      context: what the start of the computation gave.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.async_done(None)
      Traceback (most recent call last):
      NotImplementedError: async_done: only XLA's compiler makes it, to wait for what it
      runs asynchronously. Use the result of the computation itself, and
      jax.block_until_ready to wait for it.

    Source: *Async* in XLA's Operation semantics; HLO's ``async-done``.
    """
    _refuse(
        "async_done",
        "to wait for what it runs asynchronously",
        "Use the result of the computation itself, and jax.block_until_ready to wait "
        "for it.",
    )


def bitcast(operand: ArrayLike, shape: ShapeLike) -> NoReturn:
    """Refuses to read a buffer as one of another shape and layout.

    Args:
      operand: an array.
      shape: the shape that its buffer would be read as.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.bitcast(1.0, "s32[]")
      Traceback (most recent call last):
      NotImplementedError: bitcast: only XLA's compiler makes it, to read a buffer in
      another layout. Use xlaops.bitcast_convert_type for another element type,
      xlaops.reshape for another shape.

    Source: *Bitcast* in XLA's Operation semantics; HLO's ``bitcast``.
    """
    _refuse(
        "bitcast",
        "to read a buffer in another layout",
        "Use xlaops.bitcast_convert_type for another element type, xlaops.reshape for "
        "another shape.",
    )


def copy(operand: ArrayLike) -> NoReturn:
    """Refuses to copy a buffer: arrays are values, and the compiler places copies.

    Args:
      operand: an array.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.copy(1.0)
      Traceback (most recent call last):
      NotImplementedError: copy: only XLA's compiler makes it, where a buffer is needed
      twice or in another layout. Use jax.numpy.copy for an array of its own,
      jax.device_put for another device or memory.

    Source: *Copy* in XLA's Operation semantics; HLO's ``copy``.
    """
    _refuse(
        "copy",
        "where a buffer is needed twice or in another layout",
        "Use jax.numpy.copy for an array of its own, jax.device_put for another device "
        "or memory.",
    )


def copy_start(operand: ArrayLike) -> NoReturn:
    """Refuses to start a copy; see `xlaops.copy`.

    Args:
      operand: an array.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.copy_start(1.0)
      Traceback (most recent call last):
      NotImplementedError: copy_start: only XLA's compiler makes it, to move a buffer
      between memories while the program goes on. Use jax.device_put, which returns
      before the copy is made.

    Source: *Copy* in XLA's Operation semantics; HLO's ``copy-start``.
    """
    _refuse(
        "copy_start",
        "to move a buffer between memories while the program goes on",
        "Use jax.device_put, which returns before the copy is made.",
    )


def copy_done(context: Any) -> NoReturn:
    """Refuses to wait for a copy that was started; see `xlaops.copy`.

    Args:
      context: what the start of the copy gave.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.copy_done(None)
      Traceback (most recent call last):
      NotImplementedError: copy_done: only XLA's compiler makes it, to wait for a copy
      between memories. Use the result of jax.device_put, and jax.block_until_ready to
      wait for it.

    Source: *Copy* in XLA's Operation semantics; HLO's ``copy-done``.
    """
    _refuse(
        "copy_done",
        "to wait for a copy between memories",
        "Use the result of jax.device_put, and jax.block_until_ready to wait for it.",
    )


def domain(operand: ArrayLike) -> NoReturn:
    """Refuses to mark the border between two shardings.

    Args:
      operand: an array.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.domain(1.0)
      Traceback (most recent call last):
      NotImplementedError: domain: only XLA's partitioner makes it, where operations of
      different shardings meet. Use jax.lax.with_sharding_constraint to say how a value
      is sharded.

    Source: *Domain* in XLA's Operation semantics; HLO's ``domain``.
    """
    _refuse(
        "domain",
        "where operations of different shardings meet",
        "Use jax.lax.with_sharding_constraint to say how a value is sharded.",
        by="partitioner",
    )


def fusion(operands: Sequence[ArrayLike], computation: Callable[..., Any]) -> NoReturn:
    """Refuses to fuse a computation: the compiler decides what is fused.

    Args:
      operands: operands of the computation.
      computation: what would become one kernel.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.fusion([1.0], lambda x: x)
      Traceback (most recent call last):
      NotImplementedError: fusion: only XLA's compiler makes it, of operations that
      become one kernel. Call the computation itself under jax.jit, which fuses what it
      can.

    Source: *Fusion* in XLA's Operation semantics; HLO's ``fusion``.
    """
    _refuse(
        "fusion",
        "of operations that become one kernel",
        "Call the computation itself under jax.jit, which fuses what it can.",
    )


def rng_get_and_update_state() -> NoReturn:
    """Refuses to touch the hidden state of XLA's random numbers.

    Returns:
      Nothing.

    Raises:
      NotImplementedError: always.

    Example:
      >>> import xlaops as xo
      >>> xo.rng_get_and_update_state()
      Traceback (most recent call last):
      NotImplementedError: rng_get_and_update_state: only XLA's compiler makes it, of
      random numbers whose state is hidden. Use xlaops.rng_bit_generator with a state of
      the program's own.

    Source: *RngGetAndUpdateState* in XLA's Operation semantics; HLO's
    ``rng-get-and-update-state``.
    """
    _refuse(
        "rng_get_and_update_state",
        "of random numbers whose state is hidden",
        "Use xlaops.rng_bit_generator with a state of the program's own.",
    )


def _refuse(
    operation: str, purpose: str, instead: str, by: str = "compiler"
) -> NoReturn:
    raise NotImplementedError(
        f"{operation}: only XLA's {by} makes it, {purpose}. {instead}"
    )
