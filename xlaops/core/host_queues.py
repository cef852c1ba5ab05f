"""Bounded queues of the host through which programs and the host exchange data.

An item is an array or a flat tuple of arrays, and is handed over whole or not at all:
it leaves a queue only when the receiver has it.
"""

import collections
import contextlib
import enum
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import jax
import numpy as np

from .. import types
from ..types.record import Record
from . import checks

HostValue: TypeAlias = "np.ndarray | tuple[np.ndarray, ...]"

CAPACITY = 256
TIMEOUT = 30.0


class QueueClosedError(RuntimeError):
    """The queue was closed: nothing goes in, and nothing more will come out."""


class Role(enum.Enum):
    """What a queue carries, and in which direction."""

    INFEED = "infeed"
    OUTFEED = "outfeed"
    CHANNEL = "channel"
    TO_HOST = "channel to the host"
    FROM_HOST = "channel from the host"


class Item(Record):
    """What travels through a queue.

    Attributes:
      value: a numpy array or a tuple of them.
      config: the text that came with it (``outfeed_config``), else empty.
    """

    value: HostValue
    config: str = ""

    @property
    def shape(self) -> types.Shape:
        """The `xlaops.Shape` of the value."""
        return types.Shape.coerce(self.value)


class HostQueue:
    """A bounded first-in, first-out queue between programs and the host.

    Any number of threads may use it. Every wait has an end: when it takes longer than
    the time-out, a TimeoutError says which queue was empty or full.

    Attributes:
      name: what messages call it.
    """

    def __init__(
        self, name: str, capacity: int | None = None, timeout: float | None = None
    ) -> None:
        self.name = name
        self._items: collections.deque[Item] = collections.deque()
        self._changed = threading.Condition()
        self._closed = False
        self._capacity = None if capacity is None else _capacity(capacity)
        self._timeout = None if timeout is None else _seconds(timeout)

    def __repr__(self) -> str:
        state = ", closed" if self._closed else ""
        return f"HostQueue({self.name}, {len(self)} of {self.capacity} items{state})"

    def __len__(self) -> int:
        """The number of items in it."""
        return len(self._items)

    def __bool__(self) -> bool:
        """True: an empty queue is a queue."""
        return True

    def __iter__(self) -> Iterator[HostValue]:
        """The values as they come, until the queue is closed and empty."""
        while True:
            try:
                value = self.get()
            except QueueClosedError:
                return
            yield value

    @property
    def capacity(self) -> int:
        """How many items it holds at most; who puts more waits."""
        return defaults.capacity if self._capacity is None else self._capacity

    @capacity.setter
    def capacity(self, value: int) -> None:
        with self._changed:
            self._capacity = _capacity(value)
            self._changed.notify_all()

    @property
    def timeout(self) -> float:
        """Seconds after which a wait ends with an error, also that of a program."""
        return defaults.timeout if self._timeout is None else self._timeout

    @timeout.setter
    def timeout(self, value: float) -> None:
        self._timeout = _seconds(value)

    @property
    def is_closed(self) -> bool:
        """Whether nothing goes in any more."""
        return self._closed

    def put(
        self, value: Any, *, config: str = "", timeout: float | None = None
    ) -> None:
        """Appends an item, a copy of the value, and waits while the queue is full.

        Args:
          value: an array or scalar, or a tuple or list of them, not nested. As in an
            operand, Python scalars are s32, f32 and c64 without ``jax_enable_x64``,
            and 64-bit arrays are narrowed.
          config: text for the receiver.
          timeout: seconds to wait; None takes that of the queue.

        Raises:
          TypeError: if the value is no such thing.
          TimeoutError: if the queue stays full.
          QueueClosedError: if the queue is closed.
        """
        value = _host_value(f"{self.name}: value", value)
        self._put(Item(value, _text(config)), timeout)

    def get(self, *, timeout: float | None = None) -> HostValue:
        """Removes and returns the oldest value, and waits while there is none.

        Args:
          timeout: seconds to wait; None takes that of the queue.

        Returns:
          A numpy array, or a tuple of them if a tuple was put.

        Raises:
          TimeoutError: if the queue stays empty.
          QueueClosedError: if it is closed and empty.
        """
        return self._take(timeout).value

    @contextlib.contextmanager
    def consume(self, *, timeout: float | None = None) -> Iterator[Item]:
        """The oldest item, for a ``with`` block that works on it.

        If the block raises, the item is put back to where it was: a consumer that dies
        in its work loses nothing, and another one can take over.

        Args:
          timeout: seconds to wait; None takes that of the queue.

        Returns:
          A context manager of the `Item`.

        Raises:
          TimeoutError: if the queue stays empty.
          QueueClosedError: if it is closed and empty.
        """
        item = self._take(timeout)
        try:
            yield item
        except BaseException:
            with self._changed:
                self._items.appendleft(item)
                self._changed.notify_all()
            raise

    def drain(self) -> list[HostValue]:
        """Removes and returns all values that are there now, without waiting."""
        with self._changed:
            values = [item.value for item in self._items]
            self._items.clear()
            self._changed.notify_all()
        return values

    def close(self) -> None:
        """Ends the queue: what is in it can still be taken, and nothing is added.

        Programs and threads that wait for what cannot come any more get a
        `QueueClosedError`.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _put(self, item: Item, timeout: float | None = None) -> None:
        def may_put() -> bool:
            return self._closed or len(self._items) < self.capacity

        with self._changed:
            seconds = self._wait_for(may_put, timeout)
            if self._closed:
                raise QueueClosedError(f"{self.name} is closed: nothing can be put in")
            if seconds is not None:
                raise TimeoutError(
                    f"{self.name} stayed full with {len(self._items)} items for "
                    f"{seconds:g} s: nothing took from it"
                )
            self._items.append(item)
            self._changed.notify_all()

    def _take(
        self,
        timeout: float | None = None,
        check: Callable[[Item], None] | None = None,
    ) -> Item:
        """The oldest item; what ``check`` raises leaves it where it is."""

        def may_take() -> bool:
            return self._closed or bool(self._items)

        with self._changed:
            seconds = self._wait_for(may_take, timeout)
            if not self._items:
                if self._closed:
                    raise QueueClosedError(f"{self.name} is closed and empty")
                raise TimeoutError(
                    f"{self.name} stayed empty for {seconds:g} s: nothing fed it"
                )
            if check is not None:
                check(self._items[0])
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def _wait_for(
        self, condition: Callable[[], bool], timeout: float | None
    ) -> float | None:
        """The seconds that were waited in vain; None if the condition holds."""
        seconds = self.timeout if timeout is None else _seconds(timeout)
        end = time.monotonic() + seconds
        while not condition():
            left = end - time.monotonic()
            if left <= 0:
                return seconds
            self._changed.wait(left)
        return None


class _Defaults:
    """Capacity and time-out of all queues that have none of their own."""

    def __init__(self) -> None:
        self.capacity = CAPACITY
        self.timeout = TIMEOUT


defaults = _Defaults()

_queues: dict[tuple[Role, int, int], HostQueue] = {}
_lock = threading.Lock()


def queue(role: Role, channel: int, device: int) -> HostQueue:
    """The queue of a role, channel and device, made when it is first asked for."""
    key = (role, channel, device)
    with _lock:
        found = _queues.get(key)
        if found is None:
            number = f" {channel}" if role not in (Role.INFEED, Role.OUTFEED) else ""
            name = f"{role.value}{number} of device {device}"
            found = _queues[key] = HostQueue(name)
        return found


def configure(capacity: int | None = None, timeout: float | None = None) -> None:
    """Sets what holds for all queues that have no value of their own.

    Args:
      capacity: how many items a queue holds at most (256 at the start).
      timeout: seconds after which a wait ends with an error (30 at the start).

    Raises:
      TypeError: if one is no such number.
      ValueError: if ``capacity`` is below 1, or ``timeout`` negative or infinite.

    Example:
      >>> import xlaops as xo
      >>> xo.effects.configure(timeout=10.0)
      >>> xo.effects.outfeed_queue().timeout
      10.0
      >>> xo.effects.configure(timeout=30.0)
    """
    new_capacity = defaults.capacity if capacity is None else _capacity(capacity)
    new_timeout = defaults.timeout if timeout is None else _seconds(timeout)
    defaults.capacity, defaults.timeout = new_capacity, new_timeout


def reset() -> None:
    """Closes and forgets all queues, with what is in them, and all settings.

    Programs that wait get a `QueueClosedError`. Queues that are asked for afterwards
    are new and empty.

    Example:
      >>> import xlaops as xo
      >>> xo.effects.infeed_queue().put(1.0)
      >>> xo.effects.reset()
      >>> len(xo.effects.infeed_queue())
      0
    """
    with _lock:
        old = list(_queues.values())
        _queues.clear()
        defaults.capacity, defaults.timeout = CAPACITY, TIMEOUT
    for each in old:
        each.close()
        each.drain()


def _host_value(where: str, value: Any) -> HostValue:
    """A copy of a value in numpy arrays of the element types that JAX gives it."""
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            if isinstance(item, (tuple, list)):
                raise TypeError(
                    f"{where} must not hold nested tuples, got "
                    f"{checks.describe(item)} at index {i}"
                )
        return tuple(_host_array(f"{where}[{i}]", item) for i, item in enumerate(value))
    return _host_array(where, value)


def _host_array(where: str, value: Any) -> np.ndarray:
    name, _, parameter = where.rpartition(": ")
    # Numbers of numpy first: their arrays do not have to visit a device.
    if isinstance(value, (np.ndarray, np.generic)) and checks.is_element_type(
        value.dtype
    ):
        if isinstance(value, np.ma.MaskedArray):
            checks.array(name, parameter, value)
        return np.array(value, jax.dtypes.canonicalize_dtype(value.dtype))
    array = checks.array(name, parameter, value)
    return np.array(checks.element_kind(name, parameter, array, "biufc"))


def _text(config: Any) -> str:
    if not isinstance(config, str):
        raise TypeError(f"put: config must be a str, got {checks.describe(config)}")
    return config


def _capacity(value: Any) -> int:
    number = checks.integer("effects", "capacity", value)
    if number < 1:
        raise ValueError(f"effects: capacity must be at least 1, got {number}")
    return number


def _seconds(value: Any) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(
            f"effects: timeout must be a number of seconds, "
            f"got {checks.describe(value)}"
        )
    seconds = float(value)
    if not (0 <= seconds <= threading.TIMEOUT_MAX) or math.isinf(seconds):
        raise ValueError(
            f"effects: timeout must be finite and not negative, so that no wait is "
            f"for ever, got {value}"
        )
    return seconds
