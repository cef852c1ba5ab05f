"""Side effects on several devices, and in the lowered program."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from ops.effects.items import array, equal, feed, numbers

import xlaops as xo
from xlaops import effects as fx
from xlaops.core import host_transfer

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


def test_programs_on_devices_go_on_after_an_error_that_flush_has_raised(mesh8):
    fx.configure(timeout=0.05)
    f = jax.jit(
        jax.shard_map(
            lambda: xo.infeed("f32[1]"), mesh=mesh8, in_specs=(), out_specs=P("i")
        )
    )
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="stayed empty"):
            jax.block_until_ready(f())
        with pytest.raises(jax.errors.JaxRuntimeError, match="stayed empty"):
            fx.flush()
        for device in range(8):
            feed([np.full(1, device, np.float32)], device)
        assert np.asarray(f()).tolist() == list(range(8))


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


def test_the_document_and_the_host_agree_on_devices():
    """Queues of one device do not see another device's data."""
    feed([1.0], device=3)
    fx.infeed_queue(0).timeout = 0.05
    with pytest.raises(TimeoutError):
        xo.infeed("f32[]")
    assert len(fx.infeed_queue(3)) == 1


# The lowered program


def test_each_effect_is_one_call():
    def program(x):
        xo.outfeed(x)
        return lax.fori_loop(0, 3, lambda i, c: c + xo.infeed("f32[]"), x)

    text = jax.jit(program).lower(1.0).as_text()
    assert text.count("stablehlo.custom_call") == 2
    assert "xlaops" not in text.replace("module @", "")


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
