"""The order of side effects, and the tokens that say it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from ops.effects.items import equal, feed, numbers

import xlaops as xo
from xlaops import effects as fx

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
