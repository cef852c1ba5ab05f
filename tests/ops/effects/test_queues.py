"""The queues of the host by themselves."""

import itertools
import threading
import time

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from ops.effects.items import equal, numbers

import xlaops as xo
from xlaops import effects as fx
from xlaops.core import host_queues


def test_first_in_first_out():
    queue = fx.HostQueue("q", capacity=3)
    for i in range(3):
        queue.put(i)
    assert len(queue) == 3
    assert repr(queue) == "HostQueue(q, 3 of 3 items)"
    assert numbers(queue.get() for _ in range(3)) == [0, 1, 2]
    assert len(queue) == 0
    assert queue  # an empty queue is not false


def test_put_takes_a_copy():
    queue, mine = fx.HostQueue("q"), np.zeros(2, np.float32)
    queue.put(mine)
    mine[:] = 7
    got = queue.get()
    equal(got, np.zeros(2, np.float32))
    got[:] = 1  # and what comes out belongs to the receiver


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (True, np.bool_(True)),
        (3, np.int32(3)),
        (1.5, np.float32(1.5)),
        (1j, np.complex64(1j)),
        (np.float64(2.5), np.float32(2.5)),
        (np.arange(3), np.arange(3, dtype=np.int32)),
        (np.array([1, 2], ml_dtypes.bfloat16), np.array([1, 2], ml_dtypes.bfloat16)),
    ],
)
def test_put_gives_values_the_types_of_jax(value, want):
    queue = fx.HostQueue("q")
    queue.put(value)
    equal(queue.get(), np.asarray(want))


def test_tuples_stay_tuples():
    queue = fx.HostQueue("q")
    queue.put([1, jnp.ones(2)])
    queue.put((np.float32(1),))
    queue.put(())
    first = queue.get()
    assert isinstance(first, tuple)
    equal(first[0], np.array(1, np.int32))
    equal(first[1], np.ones(2, np.float32))
    assert [len(queue.get()), queue.get()] == [1, ()]


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ((1, (2, 3)), "q: value must not hold nested tuples, got .* at index 1"),
        ([[1, 2]], "q: value must not hold nested tuples, got a list .* at index 0"),
        ("text", "q: value must be .* got str 'text'"),
        ((1, None), r"q: value\[1\] must be .* got NoneType None"),
        (np.array(["a"]), "q: value must have an element type that XLA has"),
        (np.ma.masked_array([1.0]), "q: value must be an array without a mask"),
    ],
)
def test_put_refuses(value, match):
    queue = fx.HostQueue("q")
    with pytest.raises(TypeError, match=match):
        queue.put(value)
    assert len(queue) == 0


def test_keys_are_no_data():
    with pytest.raises(TypeError, match="q: value must be an array of pred or"):
        fx.HostQueue("q").put(jax.random.key(0))


def test_full_queue_times_out_and_keeps_what_it_has():
    queue = fx.HostQueue("q", capacity=2)
    queue.put(1)
    queue.put(2)
    with pytest.raises(TimeoutError, match=r"q stayed full with 2 items for 0\.05 s"):
        queue.put(3, timeout=0.05)
    assert numbers(queue.drain()) == [1, 2]


def test_empty_queue_times_out():
    queue = fx.HostQueue("q", timeout=0.05)
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"q stayed empty for 0\.05 s: nothing fed"):
        queue.get()
    assert 0.04 < time.monotonic() - start < 5
    with pytest.raises(TimeoutError, match="for 0 s"):
        queue.get(timeout=0)


def test_a_waiting_put_goes_on_when_there_is_room():
    queue = fx.HostQueue("q", capacity=1)
    queue.put(1)
    thread = threading.Timer(0.05, queue.get)
    thread.start()
    queue.put(2)
    thread.join()
    assert numbers(queue.drain()) == [2]
    queue.put(3)
    thread = threading.Timer(0.05, lambda: setattr(queue, "capacity", 2))
    thread.start()
    queue.put(4)
    thread.join()
    assert numbers(queue.drain()) == [3, 4]


def test_closed_queue_gives_what_it_has_and_then_ends():
    queue = fx.HostQueue("q")
    queue.put(1)
    queue.put(2)
    assert not queue.is_closed
    queue.close()
    assert queue.is_closed
    assert repr(queue).endswith(", closed)")
    with pytest.raises(fx.QueueClosedError, match="q is closed: nothing can be put"):
        queue.put(3)
    assert numbers(queue) == [1, 2]  # iteration ends by itself
    with pytest.raises(fx.QueueClosedError, match="q is closed and empty"):
        queue.get()


def test_close_wakes_who_waits():
    queue, raised = fx.HostQueue("q", timeout=60), []

    def wait():
        try:
            queue.get()
        except fx.QueueClosedError as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    queue.close()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert len(raised) == 1


def test_consume_puts_back_what_a_dying_consumer_held():
    queue = fx.HostQueue("q")
    for i in range(3):
        queue.put(i, config=f"item {i}")
    with queue.consume() as item:
        assert int(item.value) == 0

    def die():
        with queue.consume() as item:
            assert (int(item.value), item.config) == (1, "item 1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        die()
    assert numbers(queue.drain()) == [1, 2]


@pytest.mark.parametrize("consumers", [1, 4])
def test_threads_lose_and_repeat_nothing(consumers):
    queue, each = fx.HostQueue("q", capacity=3), 150
    got = [[] for _ in range(consumers)]

    def produce(k):
        for i in range(each):
            queue.put((k, i))

    def consume(k):
        for pair in queue:
            got[k].append(tuple(map(int, pair)))
            assert len(queue) <= 3

    producers = [threading.Thread(target=produce, args=(k,)) for k in range(4)]
    takers = [threading.Thread(target=consume, args=(k,)) for k in range(consumers)]
    for thread in producers + takers:
        thread.start()
    for thread in producers:
        thread.join()
    queue.close()
    for thread in takers:
        thread.join()
    assert sorted(itertools.chain(*got)) == [
        (k, i) for k in range(4) for i in range(each)
    ]
    for part in got:  # and each consumer sees each producer's items in order
        for k in range(4):
            assert [i for j, i in part if j == k] == sorted(
                i for j, i in part if j == k
            )


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"capacity": 0}, ValueError, "capacity must be at least 1, got 0"),
        ({"capacity": 1.5}, TypeError, "capacity must be an integer, got float 1.5"),
        ({"timeout": -1}, ValueError, "timeout must be finite and not negative"),
        ({"timeout": float("inf")}, ValueError, "for ever, got inf"),
        ({"timeout": float("nan")}, ValueError, "for ever, got nan"),
        ({"timeout": "1"}, TypeError, "timeout must be a number of seconds, got str"),
        ({"timeout": True}, TypeError, "timeout must be a number of seconds, got bool"),
    ],
)
def test_settings_are_checked(settings, error, match):
    with pytest.raises(error, match=f"^effects: .*{match}"):
        fx.configure(**settings)
    with pytest.raises(error, match=f"^effects: .*{match}"):
        fx.HostQueue("q", **settings)
    (name,), (value,) = settings.keys(), settings.values()
    with pytest.raises(error, match=f"^effects: .*{match}"):
        setattr(fx.infeed_queue(), name, value)


def test_settings_of_one_queue_and_of_all():
    a, b = fx.infeed_queue(), fx.outfeed_queue()
    a.timeout, a.capacity = 1.5, 2
    fx.configure(capacity=7, timeout=3)
    assert (a.timeout, a.capacity, b.timeout, b.capacity) == (1.5, 2, 3.0, 7)
    fx.reset()
    assert fx.infeed_queue() is not a
    queue = fx.infeed_queue()
    assert (queue.timeout, queue.capacity) == (
        host_queues.TIMEOUT,
        host_queues.CAPACITY,
    )


def test_queues_are_one_for_each_role_channel_and_device():
    made = [
        fx.infeed_queue(),
        fx.infeed_queue(1),
        fx.outfeed_queue(),
        fx.channel_queue(0),
        fx.channel_queue(1),
        fx.channel_queue(1, device=2),
        fx.to_host_queue(1),
        fx.from_host_queue(1),
    ]
    assert len({id(q) for q in made}) == len(made)
    assert len({q.name for q in made}) == len(made)
    assert fx.infeed_queue(0) is made[0]
    assert fx.channel_queue(xo.ChannelHandle(1, "DEVICE_TO_DEVICE"), 2) is made[5]
    assert fx.to_host_queue({"handle": 1, "type": "DEVICE_TO_HOST"}) is made[6]
    assert made[5].name == "channel 1 of device 2"


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: fx.infeed_queue(-1), ValueError, "infeed_queue: device must not be"),
        (lambda: fx.outfeed_queue("0"), TypeError, "outfeed_queue: device must be an"),
        (lambda: fx.channel_queue(-1), ValueError, "channel_queue: handle: .* got -1"),
        (lambda: fx.to_host_queue(None), TypeError, "to_host_queue: handle: "),
        (
            lambda: fx.from_host_queue(xo.ChannelHandle(1, "DEVICE_TO_HOST")),
            ValueError,
            "from_host_queue: handle must be a channel of type HOST_TO_DEVICE, got one "
            "of type DEVICE_TO_HOST",
        ),
    ],
)
def test_queues_are_asked_for_correctly(call, error, match):
    with pytest.raises(error, match=f"^{match}"):
        call()
