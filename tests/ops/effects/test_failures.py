"""What happens when a program cannot go on, and that nothing is lost then."""

import subprocess
import sys
import textwrap
import threading

import jax
import numpy as np
import pytest
from jax import lax
from ops.effects.items import feed, numbers

import xlaops as xo
from xlaops import effects as fx
from xlaops.core import host_queues, host_transfer

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


def test_an_error_is_found_while_other_programs_fail():
    class FailingError(TimeoutError):
        def __str__(self):
            host_transfer._errors.append(TimeoutError("of another program"))
            return "of this one"

    before = tuple(host_transfer._errors)
    host_transfer._errors.clear()
    host_transfer._errors.extend(
        [FailingError(), TimeoutError("of a third"), FailingError()]
    )
    try:
        with pytest.raises(TimeoutError, match=r"^of a third$"):
            host_transfer._raise_original(RuntimeError("INTERNAL: of a third"))
    finally:
        host_transfer._errors.clear()
        host_transfer._errors.extend(before)


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
