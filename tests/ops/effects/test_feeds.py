"""Infeed and outfeed: the values of all types and shapes that they carry."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.effects.items import DTYPES, SHAPES, WIDE, array, equal, feed, numbers, text_of

import xlaops as xo
from xlaops import effects as fx


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
