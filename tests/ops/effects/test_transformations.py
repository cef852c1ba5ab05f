"""Derivatives, jax.vmap and jax.checkpoint of programs with side effects."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P
from ops.effects.items import feed, numbers

import xlaops as xo
from xlaops import effects as fx


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
