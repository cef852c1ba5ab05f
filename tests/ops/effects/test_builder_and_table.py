"""Side effects in built computations, and the table of the operations."""

import pathlib

import jax
import numpy as np
import pytest
from ops.effects.items import equal, feed

from xlaops import catalog
from xlaops import effects as fx

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
    modules = pathlib.Path(__file__).parent.glob("test_*.py")
    text = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert len(names) == 14
    for name in names:
        assert f"xo.{name}(" in text, name
