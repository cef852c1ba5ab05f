"""Send and recv: between programs and within one."""

import threading

import jax
import numpy as np
import pytest
from jax import lax
from ops.effects.items import numbers

import xlaops as xo
from xlaops import effects as fx


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
