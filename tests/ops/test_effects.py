"""Tokens, feeds and transfers, from the program's side and from the host's.

Values come from Python lists of what was put where; queues are filled and emptied by
the tests themselves.
"""

import itertools
import pathlib
import subprocess
import sys
import textwrap
import threading
import time

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import xlaops as xo
from xlaops import catalog
from xlaops import effects as fx
from xlaops.core import host_queues, host_transfer

DTYPES = {
    "pred": np.bool_,
    "s8": np.int8,
    "u8": np.uint8,
    "s16": np.int16,
    "s32": np.int32,
    "u32": np.uint32,
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "c64": np.complex64,
}
WIDE = {"s64": np.int64, "u64": np.uint64, "f64": np.float64, "c128": np.complex128}
SHAPES = [(), (1,), (5,), (2, 3), (0, 3), (2, 1, 2)]


@pytest.fixture(autouse=True)
def queues():
    """No test sees the queues of another one, and none waits for long."""
    fx.reset()
    fx.configure(timeout=10.0)
    yield
    fx.flush()
    fx.reset()


@pytest.fixture
def order(monkeypatch):
    """What was done to queues, in the order in which it happened."""
    events = []
    put, take = fx.HostQueue._put, fx.HostQueue._take

    def logged_put(queue, item, timeout=None):
        put(queue, item, timeout)
        events.append((queue.name, np.asarray(item.value).tolist()))

    def logged_take(queue, timeout=None, check=None):
        item = take(queue, timeout, check)
        events.append((queue.name, np.asarray(item.value).tolist()))
        return item

    monkeypatch.setattr(fx.HostQueue, "_put", logged_put)
    monkeypatch.setattr(fx.HostQueue, "_take", logged_take)
    return events


def array(dtype, shape):
    """An array of small numbers, PRED ones alternating."""
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7
    return (values % 2 == 0) if dtype == np.bool_ else values.astype(dtype)


def equal(got, want):
    """Values, element type and shape."""
    got = np.asarray(got)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def numbers(values):
    return [np.asarray(v).tolist() for v in values]


def text_of(name, shape):
    return f"{name}[{','.join(map(str, shape))}]"


def feed(values, device=0):
    for value in values:
        fx.infeed_queue(device).put(value)


# The queue by itself


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


# Infeed and outfeed: values


@pytest.mark.parametrize("name", DTYPES)
def test_infeed_of_each_type(mode, name):
    x = array(DTYPES[name], (2, 3))
    feed([x])
    equal(mode(lambda: xo.infeed(text_of(name, (2, 3))))(), x)


@pytest.mark.parametrize("name", DTYPES)
def test_outfeed_of_each_type(mode, name):
    x = array(DTYPES[name], (2, 3))
    assert mode(lambda v: xo.outfeed(v))(jnp.asarray(x)) == ()
    fx.flush()
    equal(fx.outfeed_queue().get(), x)


@pytest.mark.parametrize("name", WIDE)
def test_wide_types_where_enabled(mode, x64, name):
    x = array(WIDE[name], (3,))
    feed([x])
    got = mode(lambda: xo.infeed(f"{name}[3]"))()
    equal(got, x)
    mode(xo.outfeed)(got)
    fx.flush()
    equal(fx.outfeed_queue().get(), x)


@pytest.mark.parametrize("name", WIDE)
def test_wide_types_need_x64(mode, name):
    with pytest.raises(
        ValueError, match=r"^infeed: shape must have no 64-bit types wi"
    ):
        mode(lambda: xo.infeed(f"{name}[3]"))()


@pytest.mark.parametrize("shape", SHAPES)
def test_round_trip_of_each_shape(mode, shape):
    x = array(np.float32, shape)
    feed([x])

    def program():
        value = xo.infeed(text_of("f32", shape))
        xo.outfeed(value)
        return value

    equal(mode(program)(), x)
    fx.flush()
    equal(fx.outfeed_queue().get(), x)


def test_values_of_floats_arrive_bit_by_bit(mode):
    x = np.array([np.nan, -np.nan, np.inf, -0.0, 1e-45, -1e-40], np.float32)
    feed([x])
    got = np.asarray(mode(lambda: xo.infeed("f32[6]"))())
    np.testing.assert_array_equal(got.view(np.uint32), x.view(np.uint32))


def test_tuples(mode):
    a, b = np.arange(3, dtype=np.int32), np.array([True, False])
    feed([(a, b)])
    got = mode(lambda: xo.infeed("(s32[3], pred[2])"))()
    assert isinstance(got, tuple)
    equal(got[0], a)
    equal(got[1], b)
    assert mode(xo.outfeed)(got) == ()
    fx.flush()
    equal(fx.outfeed_queue().get()[1], b)


def test_a_tuple_of_one_is_no_array():
    feed([(np.float32(1),), np.float32(2)])
    (got,) = xo.infeed("(f32[])")
    assert float(got) == 1
    with pytest.raises(TypeError, match=r"next item in the queue, f32\[\], .* \(f32"):
        xo.infeed("(f32[])")
    assert float(xo.infeed("f32[]")) == 2
    xo.outfeed([1.5])
    (got,) = fx.outfeed_queue().get()
    assert float(got) == 1.5


@pytest.mark.parametrize(
    "shape",
    [
        xo.Shape.parse("f32[2,3]{0,1}"),
        jax.ShapeDtypeStruct((2, 3), np.float32),
        "f32[2,3]{0,1:T(8,128)}",
    ],
)
def test_layouts_do_not_matter(mode, shape):
    x = array(np.float32, (2, 3))
    feed([x])
    equal(mode(lambda: xo.infeed(shape))(), x)
    mode(lambda v: xo.outfeed(v, shape))(x)
    fx.flush()
    equal(fx.outfeed_queue().get(), x)


def test_shape_may_be_a_sequence_of_shapes():
    feed([(1, 2.0)])
    got = xo.infeed([jax.ShapeDtypeStruct((), np.int32), "f32[]"])
    assert numbers(got) == [1, 2.0]


def test_empty_tuples_do_nothing(mode):
    feed([1.0])

    def program():
        assert xo.infeed("()") == ()
        assert xo.infeed(()) == ()
        assert xo.outfeed(()) == ()
        xo.outfeed([], "()")
        token = xo.send((), 1)
        data, token = xo.infeed_with_token(token, "()")
        assert data == ()
        data, token = xo.recv_with_token(token, (), 1)
        token = xo.outfeed_with_token((), token)
        xo.send_to_host((), token, None, 1)
        return xo.recv_from_host(token, "()", 1)

    data, token = mode(program)()
    assert data == ()
    assert isinstance(token, fx.Token)
    assert len(fx.infeed_queue()) == 1
    assert len(fx.outfeed_queue()) == len(fx.channel_queue(1)) == 0
    assert "custom_call" not in jax.jit(program).lower().as_text()


NESTED = [
    "((f32[]))",
    "(f32[], (s32[]))",
    "(())",
    (("f32[]",),),
    [jax.ShapeDtypeStruct((), np.float32), ()],
]


@pytest.mark.parametrize("shape", NESTED)
def test_nested_shapes_are_refused(mode, shape):
    token = xo.create_token()
    for name, call in {
        "infeed": lambda: xo.infeed(shape),
        "infeed_with_token": lambda: xo.infeed_with_token(token, shape),
        "recv": lambda: xo.recv(shape, 1),
        "recv_with_token": lambda: xo.recv_with_token(token, shape, 1),
        "recv_from_host": lambda: xo.recv_from_host(token, shape, 1),
    }.items():
        match = rf"^{name}: shape must not hold nested tuples, got \("
        with pytest.raises(TypeError, match=match):
            mode(call)()


@pytest.mark.parametrize("operand", [((1.0,),), [1.0, (2.0, 3.0)], ((),)])
def test_nested_operands_are_refused(mode, operand):
    token = xo.create_token()
    for name, call in {
        "outfeed": lambda: xo.outfeed(operand),
        "outfeed_with_token": lambda: xo.outfeed_with_token(operand, token),
        "send": lambda: xo.send(operand, 1),
        "send_with_token": lambda: xo.send_with_token(operand, token, 1),
        "send_to_host": lambda: xo.send_to_host(operand, token, None, 1),
    }.items():
        match = f"^{name}: operand must not hold nested tuples, got a tuple of length"
        with pytest.raises(TypeError, match=match):
            mode(call)()


@pytest.mark.parametrize(
    ("shape", "error", "match"),
    [
        ("token[]", TypeError, r"must hold arrays, got token\[\]"),
        ("(f32[], token[])", TypeError, r"must hold arrays, got \(f32\[\], token"),
        ("f32[<=4]", ValueError, r"must have static dimensions, got f32\[<=4\]"),
        ("f32[2", ValueError, "expected"),
        (None, TypeError, "got None"),
        (3, TypeError, "got 3"),
    ],
)
def test_shapes_that_cannot_be_read_are_refused(shape, error, match):
    with pytest.raises(error, match=f"^infeed: shape.*{match}"):
        xo.infeed(shape)


@pytest.mark.parametrize(
    ("operand", "match"),
    [
        ("text", "operand must be a jax.Array, a numpy array or a scalar, got str"),
        (None, "operand must be .* got NoneType"),
        ((1.0, "a"), r"operand\[1\] must be .* got str 'a'"),
        ({"a": 1.0}, "operand must be .* got dict"),
    ],
)
def test_operands_that_are_no_arrays_are_refused(operand, match):
    with pytest.raises(TypeError, match=f"^outfeed: {match}"):
        xo.outfeed(operand)


def test_keys_are_refused():
    with pytest.raises(TypeError, match=r"^outfeed: operand must be an array of pred"):
        xo.outfeed(jax.random.key(0))


@pytest.mark.parametrize("shape", ["f32[3]", "s32[2]", "(f32[2])", "f32[2,1]"])
def test_shape_with_layout_is_that_of_the_operand(shape):
    match = r"shape_with_layout must be the shape of operand, f32\[2\], got "
    with pytest.raises(TypeError, match=f"^outfeed: {match}"):
        xo.outfeed(np.ones(2, np.float32), shape)
    with pytest.raises(TypeError, match=f"^send_to_host: {match}"):
        xo.send_to_host(np.ones(2, np.float32), xo.create_token(), shape, 1)


def test_configs(mode):
    mode(lambda v: xo.outfeed(v, outfeed_config="first"))(1.0)
    mode(lambda v: xo.outfeed(v))(2.0)
    token = xo.create_token()
    mode(lambda v, t: xo.outfeed_with_token(v, t, "f32[]", "third"))(3.0, token)
    fx.flush()
    configs = []
    for _ in range(3):
        with fx.outfeed_queue().consume() as item:
            configs.append((float(item.value), item.config))
    assert configs == [(1.0, "first"), (2.0, ""), (3.0, "third")]
    feed([1.0, 2.0])
    assert float(mode(lambda: xo.infeed("f32[]", config="any text"))()) == 1
    got, _ = mode(lambda t: xo.infeed_with_token(t, "f32[]", "any"))(token)
    assert float(got) == 2
    with pytest.raises(TypeError, match=r"^infeed: config must be a str, got int 3"):
        xo.infeed("f32[]", 3)
    with pytest.raises(TypeError, match=r"^outfeed: outfeed_config must be a str, got"):
        xo.outfeed(1.0, None, b"x")
    fx.infeed_queue().timeout = 0.01
    with pytest.raises(TimeoutError, match=r"^infeed\(config='any text'\): infeed of"):
        xo.infeed("f32[]", "any text")


def test_an_item_of_another_shape_stays_in_the_queue():
    feed([np.arange(3, dtype=np.float32)])
    for shape in ("f32[2]", "s32[3]", "f32[3,1]", "(f32[3])", "bf16[3]"):
        with pytest.raises(TypeError, match=r"^infeed: shape must be .* f32\[3\], whi"):
            xo.infeed(shape)
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"infeed: shape must be"):
            jax.block_until_ready(jax.jit(lambda s=shape: xo.infeed(s))())
    assert numbers([xo.infeed("f32[3]")]) == [[0, 1, 2]]


# Order


def test_two_chained_while_loops(mode):
    """The document's example: the loops are ordered by a dependency between them."""
    feed(np.arange(1, 8, dtype=np.float32))

    def program():
        def body(state):
            count, log = state
            return count + 1, log.at[count].set(xo.infeed("f32[]"))

        start = (jnp.int32(0), jnp.zeros(7))
        result1 = xo.while_(lambda state: state[0] < 3, body, start)
        return xo.while_(lambda state: state[0] < 7, body, result1)

    count, log = mode(program)()
    assert int(count) == 7
    equal(log, np.arange(1, 8, dtype=np.float32))


def test_chained_while_loops_in_which_nothing_depends_on_what_is_read(mode, order):
    """Reads without a data dependency still happen in the program's order."""
    feed(np.arange(1, 6, dtype=np.float32))
    del order[:]

    def loop(count, then):
        def body(i):
            xo.outfeed(xo.infeed("f32[]") * then)
            return i + 1

        return xo.while_(lambda i: i < count, body, 0)

    mode(lambda: (loop(2, 10), loop(3, 100)))()
    fx.flush()
    assert [value for name, value in order if "outfeed" not in name] == [1, 2, 3, 4, 5]
    assert numbers(fx.outfeed_queue().drain()) == [10, 20, 300, 400, 500]


def test_all_effects_of_a_program_are_in_its_order(mode, order):
    fx.from_host_queue(4).put(5.0)
    feed([1.0, 2.0])
    del order[:]

    def program(x):
        token = xo.create_token()
        xo.outfeed(x)
        first = xo.infeed("f32[]")
        xo.send(x + 1, 3)
        token = xo.send_to_host(x + 2, token, "f32[]", 4)
        host, token = xo.recv_from_host(token, "f32[]", 4)
        xo.outfeed_with_token(x + 3, xo.create_token())
        back = xo.recv("f32[]", 3)
        second, _ = xo.infeed_with_token(xo.create_token(), "f32[]")
        return first, second, host, back

    assert numbers(mode(program)(10.0)) == [1, 2, 5, 11]
    fx.flush()
    assert order == [
        ("outfeed of device 0", 10),
        ("infeed of device 0", 1),
        ("channel 3 of device 0", 11),
        ("channel to the host 4 of device 0", 12),
        ("channel from the host 4 of device 0", 5),
        ("outfeed of device 0", 13),
        ("channel 3 of device 0", 11),
        ("infeed of device 0", 2),
    ]


def test_programs_are_in_the_order_of_their_calls(order):
    f = jax.jit(lambda x: xo.outfeed(x))
    for i in range(20):
        f(float(i)) if i % 3 else xo.outfeed(float(i))
    fx.flush()
    assert [value for _, value in order] == list(range(20))


def test_loops(mode):
    def program():
        def step(carry, x):
            y = xo.infeed("f32[]")
            xo.outfeed((x, carry))
            return carry + y, y

        carry, ys = lax.scan(step, 0.0, jnp.arange(3))
        total = lax.fori_loop(0, 2, lambda i, c: c + xo.infeed("f32[]"), carry)
        reads, _ = xo.scan(
            [jnp.arange(2)], [0.0], lambda x, c: (xo.infeed("f32[]"), c), 0
        )
        return total, ys, reads

    feed(np.arange(1, 8, dtype=np.float32))
    total, ys, reads = mode(program)()
    assert numbers([total, ys, reads]) == [15, [1, 2, 3], [6, 7]]
    fx.flush()
    assert [numbers(v) for v in fx.outfeed_queue().drain()] == [[0, 0], [1, 1], [2, 3]]


def test_reads_in_the_condition_of_a_loop(mode):
    """A loop that runs until the host says so."""
    feed([True, True, False, 1.0])
    count = mode(lambda: xo.while_(lambda i: xo.infeed("pred[]"), lambda i: i + 1, 0))()
    assert int(count) == 2
    assert len(fx.infeed_queue()) == 1


@pytest.mark.parametrize("chosen", [True, False])
def test_only_the_chosen_branch_has_effects(mode, chosen):
    def program(p):
        return xo.conditional(
            p,
            1.0,
            lambda x: (xo.outfeed(x), x * xo.infeed("f32[]"))[1],
            2.0,
            lambda x: (xo.outfeed(x), x)[1],
        )

    feed([5.0])
    assert float(mode(program)(chosen)) == (5 if chosen else 2)
    fx.flush()
    assert numbers(fx.outfeed_queue().drain()) == [1 if chosen else 2]
    assert len(fx.infeed_queue()) == (0 if chosen else 1)


def test_effects_inside_of_calls_happen_at_each_call():
    inner = jax.jit(lambda x: x + xo.infeed("f32[]"))
    feed(np.arange(6, dtype=np.float32))
    got = jax.jit(lambda: [inner(0.0), xo.call(inner, [10.0]), inner(20.0)])()
    assert numbers(got) == [0, 11, 22]
    assert float(inner(0.0)) == 3
    assert float(inner(0.0)) == 4  # from jit's cache


def test_a_result_that_is_not_used_is_read_all_the_same(mode):
    feed([1.0, 2.0])
    assert float(mode(lambda: (xo.infeed("f32[]"), xo.infeed("f32[]"))[1])()) == 2


# Tokens


def test_tokens_are_made_and_joined(mode):
    def program():
        a, b = xo.create_token(), xo.create_token()
        return xo.after_all([a, b]), xo.after_all((a,))

    for token in mode(program)():
        assert isinstance(token, fx.Token)
        assert repr(token) == "Token()"
        assert not hasattr(token, "__dict__")


def test_tokens_pass_through_everything(mode):
    feed(np.arange(1, 7, dtype=np.float32))

    def read(state):
        token, total = state
        x, token = xo.infeed_with_token(token, "f32[]")
        return xo.outfeed_with_token(total, token), total + x

    def program(token):
        state = (token, 0.0)
        state = lax.scan(lambda s, _: (read(s), None), state, None, length=2)[0]
        state = lax.fori_loop(0, 2, lambda i, s: read(s), state)
        state = xo.while_(lambda s: s[1] < 15.0, read, state)
        state = xo.conditional(state[1] > 0, state, read, state, lambda s: s)
        return xo.optimization_barrier(jax.jit(lambda s: s)(state))

    token, total = mode(program)(xo.create_token())
    assert isinstance(token, fx.Token)
    assert float(total) == 21
    fx.flush()
    assert numbers(fx.outfeed_queue().drain()) == [0, 1, 3, 6, 10, 15]


def test_a_token_depends_on_the_transfer():
    """So that what waits for the token waits for the transfer."""
    feed([1.0])
    jaxpr = jax.make_jaxpr(lambda t: xo.infeed_with_token(t, "f32[]"))(
        xo.create_token()
    )
    names = [str(e.primitive) for e in jaxpr.eqns]
    callback = jaxpr.eqns[names.index("io_callback")]
    assert jaxpr.jaxpr.outvars == callback.outvars
    xo.infeed("f32[]")


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: xo.after_all([]), ValueError, "after_all: tokens must hold at least"),
        (
            lambda: xo.after_all([1.0]),
            TypeError,
            r"after_all: tokens\[0\] must be a to",
        ),
        (
            lambda: xo.after_all(xo.create_token()),
            TypeError,
            "after_all: tokens must be a sequence of tokens, got Token",
        ),
        (
            lambda: xo.infeed_with_token(np.uint8(0), "f32[]"),
            TypeError,
            "infeed_with_token: token must be a token .* got uint8",
        ),
        (
            lambda: xo.outfeed_with_token(1.0, None),
            TypeError,
            "outfeed_with_token: token must be a token .* got NoneType None",
        ),
        (
            lambda: xo.send_with_token(xo.create_token(), 1.0, 1),
            TypeError,
            "send_with_token: token must be a token .* got float 1.0",
        ),
        (
            lambda: xo.recv_with_token("f32[]", xo.create_token(), 1),
            TypeError,
            "recv_with_token: token must be a token .* got str 'f32",
        ),
        (
            lambda: xo.send_to_host(1.0, jnp.ones(2), None, 1),
            TypeError,
            r"send_to_host: token must be a token .* got float32\[2\]",
        ),
        (
            lambda: xo.recv_from_host(fx.Token(jnp.zeros((2,), np.uint8)), "f32[]", 1),
            TypeError,
            r"recv_from_host: token must be a single token, got .* uint8\[2\]",
        ),
        (lambda: xo.send_done(1.0), TypeError, "send_done: context must be a token"),
        (lambda: xo.recv_done("a"), TypeError, "recv_done: context must be a jax.Arr"),
    ],
)
def test_tokens_are_checked(call, error, match):
    with pytest.raises(error, match=f"^{match}"):
        call()


def test_a_token_is_no_operand():
    with pytest.raises(
        TypeError, match=r"^outfeed: operand must be .* got Token Token"
    ):
        xo.outfeed(xo.create_token())


# Send and recv


def test_between_two_programs(mode):
    mode(lambda x: (xo.send(x, 1), xo.send(x * 2, 1))[1])(np.arange(3.0))
    got = mode(lambda: (xo.recv("f32[3]", 1), xo.recv("f32[3]", 1)))()
    assert numbers(got) == [[0, 1, 2], [0, 2, 4]]


def test_within_one_program(mode):
    got = mode(lambda x: (xo.send((x, x + 1), 1), xo.recv("(f32[], f32[])", 1))[1])(3.0)
    assert numbers(got) == [3, 4]


def test_recv_waits_for_a_send_in_another_thread():
    sender = threading.Timer(0.1, lambda: jax.jit(lambda x: xo.send(x, 1))(1.5))
    sender.start()
    assert float(jax.jit(lambda: xo.recv("f32[]", 1) * 2)()) == 3
    sender.join()


@pytest.mark.parametrize("pairs", [1, 5])
def test_many_programs_at_once(pairs):
    """Each pair of threads has its channel; none waits for another pair."""
    got = {}

    def produce(k):
        def step(i, x):
            xo.send(x, k)
            return x + 1

        jax.block_until_ready(jax.jit(lambda x: lax.fori_loop(0, 20, step, x))(100 * k))

    def consume(k):
        ys = jax.jit(
            lambda: lax.scan(lambda c, _: (c, xo.recv("s32[]", k)), 0, length=20)[1]
        )()
        got[k] = np.asarray(ys).tolist()

    # More than fit, so that senders wait too.
    for k in range(pairs):
        fx.channel_queue(k).capacity = 2
    threads = [
        threading.Thread(target=run, args=(k,))
        for k in range(pairs)
        for run in (consume, produce)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {k: list(range(100 * k, 100 * k + 20)) for k in range(pairs)}


def test_channels_do_not_mix(mode):
    token = xo.create_token()
    handle = xo.ChannelHandle(1, xo.ChannelType.DEVICE_TO_HOST)
    mode(lambda x, t: xo.send_to_host(x, t, None, handle))(1.0, token)
    mode(lambda x: xo.send(x, 1))(2.0)
    mode(lambda x: xo.send(x, {"handle": 2}))(3.0)
    fx.from_host_queue(1).put(4.0)
    fx.flush()
    assert float(fx.to_host_queue(1).get()) == 1
    assert float(mode(lambda: xo.recv("f32[]", 2))()) == 3
    assert float(mode(lambda t: xo.recv_from_host(t, "f32[]", 1)[0])(token)) == 4
    assert float(fx.channel_queue(1).get()) == 2


def test_with_tokens(mode):
    def program(x):
        token = xo.send_with_token(x, xo.create_token(), 1)
        token = xo.send_with_token(x + 1, token, 1)
        a, token = xo.recv_with_token(token, "f32[]", 1)
        b, token = xo.recv_with_token(xo.after_all([token]), "f32[]", 1)
        return a, b

    assert numbers(mode(program)(1.0)) == [1, 2]


def test_done_returns_what_was_started(mode):
    def program(x):
        token = xo.send_done(xo.send(x, 1))
        token = xo.send_done(xo.send_with_token(x + 1, token, 1))
        first = xo.recv_done(xo.recv("f32[]", 1))
        second, token = xo.recv_done(xo.recv_with_token(token, "f32[]", 1))
        return first, second, token

    *got, token = mode(program)(1.0)
    assert numbers(got) == [1, 2]
    assert isinstance(token, fx.Token)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda h: xo.send(1.0, h), "DEVICE_TO_DEVICE"),
        (lambda h: xo.recv("f32[]", h), "DEVICE_TO_DEVICE"),
        (lambda h: xo.send_with_token(1.0, xo.create_token(), h), "DEVICE_TO_DEVICE"),
        (
            lambda h: xo.recv_with_token(xo.create_token(), "f32[]", h),
            "DEVICE_TO_DEVICE",
        ),
        (lambda h: xo.send_to_host(1.0, xo.create_token(), None, h), "DEVICE_TO_HOST"),
        (lambda h: xo.recv_from_host(xo.create_token(), "f32[]", h), "HOST_TO_DEVICE"),
    ],
)
def test_handles_have_the_type_of_the_operation(call, wanted):
    types = {"DEVICE_TO_DEVICE", "DEVICE_TO_HOST", "HOST_TO_DEVICE"}
    for other in types - {wanted}:
        match = f": handle must be a channel of type {wanted}, got one of type {other}"
        with pytest.raises(ValueError, match=match):
            call(xo.ChannelHandle(1, other))
    for handle in (-1, "a", None, 1.5):
        with pytest.raises((TypeError, ValueError), match=r"^.*: handle: "):
            call(handle)


def test_a_recv_that_stands_before_its_send_times_out():
    fx.channel_queue(1).timeout = 0.1
    f = jax.jit(lambda x: (xo.recv("f32[]", 1), xo.send(x, 1)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="recv: channel 1 of device 0"):
        jax.block_until_ready(f(1.0))


# Errors when it runs


@pytest.mark.parametrize(
    "call",
    [
        lambda: xo.infeed("f32[]"),
        lambda: xo.infeed_with_token(xo.create_token(), "f32[]"),
        lambda: xo.recv("f32[]", 1),
        lambda: xo.recv_with_token(xo.create_token(), "f32[]", 1),
        lambda: xo.recv_from_host(xo.create_token(), "f32[]", 1),
    ],
)
def test_a_read_that_nothing_feeds_is_a_time_out(call):
    fx.configure(timeout=0.05)
    match = r"^(\w+): (in|ch).* of device 0 stayed empty for 0\.05 s: nothing fed it$"
    with pytest.raises(TimeoutError, match=match):
        call()
    with pytest.raises(jax.errors.JaxRuntimeError, match=match[1:-1]):
        jax.block_until_ready(jax.jit(call)())


@pytest.mark.parametrize(
    "call",
    [
        lambda: xo.outfeed(1.0),
        lambda: xo.outfeed_with_token(1.0, xo.create_token()),
        lambda: xo.send(1.0, 1),
        lambda: xo.send_with_token(1.0, xo.create_token(), 1),
        lambda: xo.send_to_host(1.0, xo.create_token(), None, 1),
    ],
)
def test_a_write_that_nothing_takes_is_a_time_out(call):
    fx.configure(timeout=0.05, capacity=1)
    call()
    match = r"of device 0 stayed full with 1 items for 0\.05 s: nothing took from it"
    with pytest.raises(TimeoutError, match=match):
        call()
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        jax.block_until_ready((jax.jit(call)(), jax.effects_barrier()))


def test_programs_go_on_after_an_error():
    fx.infeed_queue().timeout = 0.05
    f = jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: c + xo.infeed("f32[]"), x))
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="infeed of device 0"):
            jax.block_until_ready(f(0.0))
        feed([1.0, 2.0, 3.0])
        assert float(f(0.0)) == 6


def test_close_ends_a_program_that_waits():
    fx.infeed_queue().timeout = 60
    closer = threading.Timer(0.1, fx.infeed_queue().close)
    closer.start()
    with pytest.raises(
        fx.QueueClosedError, match=r"^infeed: infeed of device 0 is clos"
    ):
        xo.infeed("f32[]")
    closer.join()
    with pytest.raises(jax.errors.JaxRuntimeError, match="is closed and empty"):
        jax.block_until_ready(jax.jit(lambda: xo.infeed("f32[]"))())


def test_reset_ends_a_program_that_waits():
    fx.configure(timeout=60)
    resetter = threading.Timer(0.1, fx.reset)
    resetter.start()
    with pytest.raises(fx.QueueClosedError, match="is closed and empty"):
        xo.recv("f32[]", 1)
    resetter.join()


CHILD = """
import time
import jax, jax.numpy as jnp
import xlaops as xo
from jax import lax

xo.effects.configure(timeout=1.0)
start = time.monotonic()
try:
    {call}
    xo.effects.flush()
except jax.errors.JaxRuntimeError as error:
    print(str(error).splitlines()[-1])
print("after", round(time.monotonic() - start), "s")
"""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "jax.block_until_ready(jax.jit(lambda: xo.infeed('f32[4]'))())",
            "TimeoutError: infeed: infeed of device 0 stayed empty for 1 s: nothing",
        ),
        (
            "jax.block_until_ready(jax.jit(lambda: xo.while_("
            "lambda x: x < 9, lambda x: x + xo.recv('f32[]', 3), 0.0))())",
            "TimeoutError: recv: channel 3 of device 0 stayed empty for 1 s: nothing",
        ),
        (
            "xo.effects.configure(capacity=2); jax.block_until_ready("
            "jax.jit(lambda: lax.fori_loop(0, 9, lambda i, c: "
            "(xo.outfeed(i), c)[1], 0))())",
            "TimeoutError: outfeed: outfeed of device 0 stayed full with 2 items for 1",
        ),
    ],
    ids=["read", "loop", "write"],
)
def test_a_process_ends_instead_of_hanging(call, message):
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD).format(call=call)],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert child.returncode == 0, child.stderr
    error, after = child.stdout.splitlines()[-2:]
    assert error.startswith(message)
    assert 1 <= int(after.split()[1]) < 30


NO_ARGUMENTS = """
import jax
import xlaops as xo
from jax import lax

read = jax.jit(lambda: xo.infeed("f32[]"))
f = jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2 + read(), x) * read())
for i in range(4):
    xo.effects.infeed_queue().put(i + 1.0)
print(f(0.0))
double = lambda i, c: c * 2 + 1
g = jax.jit(lambda x: lax.fori_loop(0, 3, double, x) * xo.call(read, []))
xo.effects.infeed_queue().put(2.0)
print(g(0.0))
"""


def test_a_function_without_arguments_that_reads():
    """XLA of jaxlib 0.12 would end the process if it held any constant."""
    child = subprocess.run(
        [sys.executable, "-c", NO_ARGUMENTS],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    assert child.stdout.split() == ["44.0", "14.0"]


def test_the_time_out_that_nobody_has_set_is_finite():
    assert 0 < host_queues.TIMEOUT <= 60


# Nothing is lost


def test_a_program_that_dies_leaves_what_it_has_not_read():
    feed([1.0, 2.0, np.int32(3), 4.0, 5.0])
    f = jax.jit(lambda: [xo.infeed("f32[]") for _ in range(5)])
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"infeed: shape must be"):
        jax.block_until_ready(f())
    assert numbers(fx.infeed_queue().drain()) == [3, 4, 5]


def test_a_consumer_that_dies_loses_nothing():
    """Another one goes on where it died, while the program keeps writing."""
    fx.outfeed_queue().capacity = 2
    seen, died = [], []

    def consumer(limit):
        try:
            while True:
                with fx.outfeed_queue().consume() as item:
                    if len(seen) == limit:
                        raise ArithmeticError("the consumer dies")
                    seen.append(int(item.value))
        except ArithmeticError as error:
            died.append(error)
        except fx.QueueClosedError:
            pass

    def program():
        f = jax.jit(lambda: lax.fori_loop(0, 40, lambda i, c: (xo.outfeed(i), c)[1], 0))
        jax.block_until_ready(f())
        fx.flush()
        fx.outfeed_queue().close()

    writer = threading.Thread(target=program)
    writer.start()
    for limit in (0, 7, 8, 25, -1):
        reader = threading.Thread(target=consumer, args=(limit,))
        reader.start()
        reader.join()
    writer.join()
    assert len(died) == 4
    assert seen == list(range(40))


def test_a_program_that_dies_of_a_full_queue_leaves_what_it_has_written():
    fx.outfeed_queue().capacity, fx.outfeed_queue().timeout = 3, 0.05
    f = jax.jit(lambda: lax.fori_loop(0, 9, lambda i, c: (xo.outfeed(i), c)[1], 0))
    with pytest.raises(jax.errors.JaxRuntimeError, match="stayed full with 3 items"):
        jax.block_until_ready((f(), jax.effects_barrier()))
    assert numbers(fx.outfeed_queue().drain()) == [0, 1, 2]


def test_a_feeder_in_another_thread():
    """The host feeds a program that runs, through a queue of two items."""
    fx.infeed_queue().capacity = 2
    feeder = threading.Thread(target=feed, args=(range(50),))
    feeder.start()
    f = jax.jit(lambda: lax.scan(lambda c, _: (c, xo.infeed("s32[]")), 0, length=50)[1])
    assert np.asarray(f()).tolist() == list(range(50))
    feeder.join()


# Transformations


def test_what_is_read_is_a_constant_of_derivatives(mode):
    feed([3.0, 4.0, 5.0])
    f = mode(lambda x: x * x * xo.infeed("f32[]"))
    assert float(jax.grad(f)(2.0)) == 12
    assert numbers(jax.jvp(f, (2.0,), (1.0,))) == [16, 16]
    value, grad = jax.value_and_grad(f)(1.0)
    assert numbers([value, grad]) == [5, 10]


def test_what_is_written_takes_no_part_in_derivatives(mode):
    def f(x):
        xo.outfeed(x * 10)
        xo.send_to_host((x, 2), xo.create_token(), None, 1)
        xo.send(lax.stop_gradient(x), 1)
        return x**3

    f = mode(f)
    assert float(jax.grad(f)(2.0)) == 12
    fx.flush()
    assert numbers(fx.outfeed_queue().drain()) == [20]  # once
    assert float(jax.grad(jax.grad(f))(2.0)) == 12
    fx.flush()
    assert numbers(fx.outfeed_queue().drain()) == [20]
    assert numbers(jax.jvp(f, (2.0,), (1.0,))) == [8, 12]
    assert numbers(jax.jacrev(f)(jnp.array([2.0]))) == [[12]]
    fx.flush()
    assert len(fx.to_host_queue(1).drain()) == len(fx.channel_queue(1).drain()) == 4


def test_forward_derivative_of_a_loop():
    def f(x):
        def step(c, _):
            xo.outfeed(c)
            return c * xo.infeed("f32[]"), None

        return lax.scan(step, x, None, length=3)[0]

    feed([2.0, 3.0, 4.0])
    assert numbers(jax.jvp(f, (1.0,), (1.0,))) == [24, 24]
    fx.flush()
    assert numbers(fx.outfeed_queue().drain()) == [1, 2, 6]


@pytest.mark.parametrize(
    "effect",
    [
        lambda x: x * xo.infeed("f32[]"),
        lambda x: (xo.outfeed(x), x * 2)[1],
        lambda x: (xo.outfeed(1.0), x * 2)[1],
        lambda x: (xo.send(1.0, 1), x * 2)[1],
        lambda x: (xo.infeed("f32[]"), x * 2)[1],
        jax.jit(lambda x: x * xo.infeed("f32[]")),
        jax.jit(lambda x: (xo.infeed("f32[]"), x * 2)[1]),
    ],
)
def test_reverse_derivative_of_a_loop_is_refused(mode, effect):
    """JAX would read once for all iterations, and drop what is written."""

    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: effect(c), x)

    feed([2.0, 3.0, 4.0])
    match = r"^\w+: cannot be inside a loop, .* of which the reverse derivative is tak"
    with pytest.raises(NotImplementedError, match=match):
        mode(jax.grad(f))(1.0)
    assert len(fx.infeed_queue()) == 3
    assert len(fx.outfeed_queue()) == 0


def _scaled(x):
    xo.outfeed(x)
    return x * xo.infeed("f32[]")


_custom_jvp = jax.custom_jvp(_scaled)
_custom_jvp.defjvp(lambda p, t: (_custom_jvp(*p), 5 * t[0]))
_custom_vjp = jax.custom_vjp(_scaled)
_custom_vjp.defvjp(lambda x: (_scaled(x), None), lambda _, g: (7 * g,))


@pytest.mark.parametrize(
    ("f", "derivative"),
    [
        (lambda x: xo.conditional(x > 0, x, _scaled, x, lambda v: v), 4),
        (lambda x: xo.call(jax.jit(_scaled), [x]) * 2, 8),
        (_custom_jvp, 5),
        (_custom_vjp, 7),
    ],
    ids=["branch", "call", "custom_jvp", "custom_vjp"],
)
def test_reverse_derivatives_outside_of_loops(mode, f, derivative):
    """The effects happen once, in the forward pass."""
    feed([4.0, 9.0])
    assert float(mode(jax.grad(f))(3.0)) == derivative
    fx.flush()
    assert numbers(fx.outfeed_queue().drain()) == [3]
    assert len(fx.infeed_queue()) == 1


def test_effects_in_the_rule_of_a_custom_jvp(mode):
    """JAX cannot tell them from those of a loop: forward derivatives only."""
    f = jax.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (_scaled(*p), 5 * t[0]))
    feed([4.0])
    assert numbers(mode(lambda x: jax.jvp(f, (x,), (1.0,)))(3.0)) == [12, 5]
    with pytest.raises(NotImplementedError, match=r"or the rule of a jax\.custom_jvp"):
        mode(jax.grad(f))(3.0)


@pytest.mark.parametrize("check_vma", [True, False])
def test_reverse_derivative_of_a_shard_map(mode, mesh8, check_vma):
    for device in range(8):
        feed([device + 1.0], device)
    f = jax.shard_map(
        _scaled, mesh=mesh8, in_specs=P("i"), out_specs=P("i"), check_vma=check_vma
    )
    got = mode(jax.grad(lambda x: f(x).sum()))(jnp.arange(8.0))
    assert np.asarray(got).tolist() == [d + 1.0 for d in range(8)]
    fx.flush()
    for device in range(8):
        assert numbers(fx.outfeed_queue(device).drain()) == [[device]]


def test_a_loop_beside_the_differentiated_one():
    def f(x):
        total = lax.fori_loop(0, 3, lambda i, c: c + xo.infeed("f32[]"), 0.0)
        return lax.fori_loop(0, 2, lambda i, c: c * x, 1.0) * total

    feed([1.0, 2.0, 3.0])
    assert float(jax.grad(f)(5.0)) == 60


@pytest.mark.parametrize("transform", [jax.grad, lambda f: lambda x: jax.jvp(f, x, x)])
def test_derivative_of_what_is_sent_is_refused(transform):
    for name, f in {
        "send": lambda x: (xo.send(x, 1), x)[1],
        "send_with_token": lambda x: (
            xo.send_with_token((1, x), xo.create_token(), 1),
            x,
        )[1],
    }.items():
        argument = 1.0 if transform is jax.grad else (1.0,)
        match = f"^{name}: operand must not depend on what is differentiated"
        with pytest.raises(NotImplementedError, match=match):
            transform(f)(argument)
    assert len(fx.channel_queue(1)) == 0


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("infeed", lambda x: x + xo.infeed("f32[]")),
        ("outfeed", lambda x: (xo.outfeed(x), x)[1]),
        ("outfeed", lambda x: (xo.outfeed(1.0), x)[1]),
        ("send", lambda x: (xo.send(1.0, 1), x)[1]),
        ("recv", lambda x: xo.recv("f32[]", 1)),
        ("infeed", jax.jit(lambda x: x + xo.infeed("f32[]"))),
        (
            "infeed",
            lambda x: lax.fori_loop(0, 2, lambda i, c: c + xo.infeed("f32[]"), x),
        ),
        ("infeed", lambda x: lax.cond(x > 1, lambda: xo.infeed("f32[]"), lambda: 0.0)),
        ("infeed", lambda x: xo.infeed_with_token(xo.create_token(), "f32[]")[0]),
    ],
)
def test_vmap_is_refused(mode, name, effect):
    """Also where nothing of the effect is mapped: JAX would have it happen once."""
    feed([1.0, 2.0])
    with pytest.raises(
        NotImplementedError, match=rf"^({name}\w*: cannot be mapped|.*vmap-of-cond)"
    ):
        mode(jax.vmap(effect))(jnp.arange(2.0))
    assert len(fx.infeed_queue()) == 2
    assert len(fx.outfeed_queue()) == len(fx.channel_queue(1)) == 0


def test_a_mapped_loop_is_one_after_the_other():
    feed([10.0, 20.0, 30.0])
    got = jax.jit(lambda xs: lax.map(lambda x: x + xo.infeed("f32[]"), xs))(
        jnp.arange(3.0)
    )
    assert np.asarray(got).tolist() == [10, 21, 32]


def test_checkpoint_is_refused():
    with pytest.raises(NotImplementedError, match="Effects not supported in"):
        jax.grad(jax.checkpoint(lambda x: x * xo.infeed("f32[]")))(1.0)


def test_checkpoint_without_derivative():
    feed([2.0])
    assert float(jax.checkpoint(lambda x: x * xo.infeed("f32[]"))(3.0)) == 6


# Several devices


@pytest.mark.parametrize("check_vma", [True, False])
def test_each_device_of_a_shard_map_has_its_queues(mesh8, check_vma):
    def body(x):
        def step(state, _):
            token, y = state
            z, token = xo.infeed_with_token(token, "f32[]")
            token = xo.outfeed_with_token(y + z, token)
            return (token, y + z), None

        (token, y), _ = lax.scan(step, (xo.create_token(), x[0]), None, length=2)
        xo.outfeed_with_token(y * 10, xo.after_all([token, xo.create_token()]))
        return y[None]

    for device in range(8):
        feed([10.0 * device, 1.0], device)
    f = jax.shard_map(
        body, mesh=mesh8, in_specs=P("i"), out_specs=P("i"), check_vma=check_vma
    )
    got = jax.jit(f)(jnp.arange(8.0))
    assert np.asarray(got).tolist() == [11.0 * d + 1 for d in range(8)]
    fx.flush()
    for d in range(8):
        want = [11.0 * d, 11.0 * d + 1, 10 * (11.0 * d + 1)]
        assert numbers(fx.outfeed_queue(d).drain()) == want


def test_what_devices_read_varies(mesh8):
    """So that it cannot be taken for the same everywhere."""
    f = jax.shard_map(
        lambda: xo.infeed("f32[]"), mesh=mesh8, in_specs=(), out_specs=P()
    )
    with pytest.raises(ValueError, match="out_specs"):
        jax.jit(f)()


def test_devices_are_numbered_along_all_manual_axes():
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    for device in range(8):
        feed([float(device)], device)
    f = jax.shard_map(
        lambda x: x + xo.infeed("f32[]"),
        mesh=mesh,
        in_specs=P("a", "b"),
        out_specs=P("a", "b"),
    )
    got = jax.jit(f)(jnp.zeros((2, 4)))
    assert np.asarray(got).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_pmap():
    for device in range(4):
        feed([10.0 * device], device)
    got = jax.pmap(lambda x: x + xo.infeed("f32[]"), devices=jax.devices()[:4])(
        jnp.arange(4.0)
    )
    assert np.asarray(got).tolist() == [0, 11, 22, 33]


def test_sharded_by_the_compiler_it_happens_once(mesh8):
    sharding = NamedSharding(mesh8, P("i"))
    feed([5.0])
    f = jax.jit(lambda x: (xo.outfeed(x), x + xo.infeed("f32[]"))[1])
    got = f(jax.device_put(jnp.arange(8.0), sharding))
    assert np.asarray(got).tolist() == [5.0 + i for i in range(8)]
    fx.flush()
    assert numbers(fx.outfeed_queue(0).drain()) == [list(range(8))]


def test_operands_on_another_device(mode):
    """The queues are those of the program, which runs on one device: number 0."""
    x = jax.device_put(np.arange(3.0, dtype=np.float32), jax.devices()[1])
    feed([1.0])
    got = mode(lambda v: (xo.outfeed(v), v + xo.infeed("f32[]"))[1])(x)
    assert np.asarray(got).tolist() == [1, 2, 3]
    fx.flush()
    assert numbers(fx.outfeed_queue().drain()) == [[0, 1, 2]]


def test_partly_manual_programs_are_refused():
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    f = jax.shard_map(
        lambda x: x + xo.infeed("f32[]"),
        mesh=mesh,
        axis_names={"a"},
        in_specs=P("a"),
        out_specs=P("a"),
    )
    with pytest.raises(NotImplementedError, match=r"all mesh axes .* manually"):
        jax.jit(f)(jnp.zeros(4))


@pytest.mark.parametrize("size", [7, 60_000])
def test_data_of_any_size_between_collectives(mesh8, size):
    """A callback that waits for a thread would end the process here."""

    def body(x):
        for _ in range(2):
            xo.outfeed((x, x[:0], x[:3].astype(jnp.bfloat16)))
            x = lax.psum(x, "i") / 8
        return x

    f = jax.jit(jax.shard_map(body, mesh=mesh8, in_specs=P("i"), out_specs=P()))
    x = np.arange(8 * size, dtype=np.float32) % 1000
    jax.block_until_ready(f(x))
    fx.flush()
    parts = x.reshape(8, size)
    for device in range(8):
        first, second = fx.outfeed_queue(device).drain()
        equal(first[0], parts[device])
        equal(first[1], np.zeros(0, np.float32))
        equal(first[2], parts[device][:3].astype(ml_dtypes.bfloat16))
        np.testing.assert_allclose(second[0], parts.mean(0), rtol=1e-6)


@pytest.mark.parametrize(
    "shapes", [[(70_000,)], [(3, 9_000), (), (0, 2), (50, 40, 30)]]
)
def test_pieces_make_the_whole(shapes):
    arrays = [array(np.float32, shape) for shape in shapes]
    pieces = [p for x in arrays for p in host_transfer._pieces(jnp.asarray(x))]
    assert all(p.size * 4 <= 64 * 1024 for p in pieces)
    for got, want in zip(host_transfer._joined(pieces, shapes), arrays, strict=True):
        equal(got, want)


# The lowered program


def test_each_effect_is_one_call():
    def program(x):
        xo.outfeed(x)
        return lax.fori_loop(0, 3, lambda i, c: c + xo.infeed("f32[]"), x)

    text = jax.jit(program).lower(1.0).as_text()
    assert text.count("stablehlo.custom_call") == 2
    assert "xlaops" not in text.replace("module @", "")


# The builder


def test_builder_keeps_what_has_effects():
    from xlaops import builder as xb

    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[2]", "x")
    xb.Outfeed(x, "f32[2]", "config")
    token = xb.CreateToken(b)
    sent = xb.SendToHost(xb.Mul(x, x), token, "f32[2]", 5)
    data = xb.GetTupleElement(xb.InfeedWithToken(sent, shape="f32[2]"), 0)
    joined = xb.AfterAll(tokens=[token, sent])
    received = xb.Recv(b, shape="s32[]", handle=6)
    xb.Send(received, handle=7)
    assert [str(op.shape) for op in (token, sent, joined)] == ["token[]"] * 3
    f = b.Build(xb.Add(data, x))
    assert str(f.program_shape) == "(x: f32[2]) -> f32[2]"

    feed([np.float32([10, 20])])
    fx.channel_queue(6).put(9)
    equal(jax.jit(f)(np.float32([1, 2])), np.float32([11, 22]))
    fx.flush()
    equal(fx.outfeed_queue().get(), np.float32([1, 2]))
    equal(fx.to_host_queue(5).get(), np.float32([1, 4]))
    equal(fx.channel_queue(7).get(), np.array(9, np.int32))
    assert f.as_hlo_text().count("custom-call(") >= 4


def test_builder_leaves_out_what_has_none():
    from xlaops import builder as xb

    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[]")
    token = xb.CreateToken(b)
    xb.Sin(x)
    f = b.Build(xb.Cos(xb.AddDependency(x, token)))
    np.testing.assert_allclose(f(1.0), 0.5403023, rtol=1e-6)
    assert "sine(" not in f.as_hlo_text().replace("cosine(", "")


def test_builder_loops_carry_tokens():
    from xlaops import builder as xb

    state = "(token[], f32[])"
    with xb.XlaBuilder("condition") as b:
        total = xb.GetTupleElement(xb.Parameter(b, 0, state), 1)
        condition = b.Build(xb.Lt(total, 10.0))
    with xb.XlaBuilder("body") as b:
        parts = xb.Parameter(b, 0, state)
        read = xb.InfeedWithToken(xb.GetTupleElement(parts, 0), "f32[]")
        total = xb.Add(xb.GetTupleElement(parts, 1), xb.GetTupleElement(read, 0))
        body = b.Build(xb.Tuple([xb.GetTupleElement(read, 1), total]))
    b = xb.XlaBuilder("main")
    x = xb.Parameter(b, 0, "f32[]")
    loop = xb.While(condition, body, xb.Tuple([xb.CreateToken(b), x]))
    assert str(loop.shape) == state
    f = b.Build(xb.GetTupleElement(loop, 1))
    feed([4.0, 5.0, 6.0])
    assert float(f(0.0)) == 15
    with pytest.raises(TypeError, match=r"body: p0\[0\] must be a token"):
        body((1.0, 2.0))


# The table


def test_every_operation_of_the_family_is_tested_here():
    names = {
        r.function
        for r in catalog.RECORDS
        if r.family == "effects" and r.status == "implemented"
    } - {"optimization_barrier"}
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    assert len(names) == 14
    for name in names:
        assert f"xo.{name}(" in text, name


def test_the_document_and_the_host_agree_on_devices():
    """Queues of one device do not see another device's data."""
    feed([1.0], device=3)
    fx.infeed_queue(0).timeout = 0.05
    with pytest.raises(TimeoutError):
        xo.infeed("f32[]")
    assert len(fx.infeed_queue(3)) == 1


def test_an_eager_call_compiles_once(caplog):
    feed(range(4))
    xo.infeed("s32[]")
    with jax.log_compiles(True):
        for i in range(1, 4):
            assert int(xo.infeed("s32[]")) == i
    assert "Compiling" not in caplog.text
    feed([1.0])
    with jax.log_compiles(True):
        xo.infeed("f32[]", config="which no other test has")
    assert "Compiling" in caplog.text
