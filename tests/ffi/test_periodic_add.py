"""periodic_add against loops of numpy, on both paths and under every transformation."""

import itertools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import xlaops.ffi
from xlaops.ffi import periodic_add

FLOATS = [np.float32, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32]
WIDE = [np.float64, np.complex128, np.int64, np.uint64]


def expected(b, c):
    """The document's loop."""
    b, c = np.asarray(b), np.asarray(c)
    out = np.empty_like(c)
    for row in np.ndindex(c.shape[:-1]):
        for i in range(c.shape[-1]):
            with np.errstate(over="ignore"):
                out[(*row, i)] = b[(*row, i % b.shape[-1])] + c[(*row, i)]
    return out


def rows(b, size):
    return np.broadcast_to(np.asarray(b), (size, *b.shape))


def operands(rng, m, n, batch=(), dtype=np.float32):
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return tuple(
            rng.integers(limits.min, limits.max, (*batch, k), dtype, endpoint=True)
            for k in (m, n)
        )
    b, c = (rng.normal(size=(*batch, k)) for k in (m, n))
    if np.dtype(dtype).kind == "c":
        b, c = b + 1j * b[..., ::-1], c - 2j * c
    return b.astype(dtype), c.astype(dtype)


def target_calls(f, *args):
    return jax.jit(f).lower(*args).as_text().count("@xlaops_periodic_add(")


@pytest.mark.parametrize(
    ("m", "n"),
    [
        (128, 1000),
        (128, 1024),
        (128, 128),
        (1, 7),
        (3, 1),
        (3, 2),
        (3, 1000),
        (129, 1000),
        (300, 1000),
        (7, 0),
        (0, 0),
    ],
)
def test_values(path, mode, rng, m, n):
    b, c = operands(rng, m, n)
    out = mode(periodic_add)(b, c)
    assert out.dtype == c.dtype
    np.testing.assert_array_equal(out, expected(b, c))


@pytest.mark.parametrize("batch", [(4,), (2, 3), (0,), (1, 1, 2)])
@pytest.mark.parametrize("m", [3, 140])
def test_batches(path, rng, batch, m):
    b, c = operands(rng, m, 290, batch)
    np.testing.assert_array_equal(periodic_add(b, c), expected(b, c))


@pytest.mark.parametrize("dtype", [*FLOATS, np.complex64, *INTEGERS])
def test_element_types(path, rng, dtype):
    b, c = operands(rng, 5, 23, dtype=dtype)
    out = periodic_add(b, c)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, expected(b, c))


@pytest.mark.parametrize("dtype", WIDE)
def test_wide_element_types(path, rng, x64, dtype):
    b, c = operands(rng, 5, 23, dtype=dtype)
    out = periodic_add(b, c)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, expected(b, c))


def test_integers_wrap_around(path):
    out = periodic_add(np.array([1, 2], np.int8), np.array([127, 127, -128], np.int8))
    np.testing.assert_array_equal(out, np.array([-128, -127, -127], np.int8))


def test_native_path_is_taken(native):
    b, c = jnp.arange(3.0), jnp.arange(7.0)
    assert target_calls(periodic_add, b, c) == 1
    # bfloat16 has no handler.
    assert target_calls(periodic_add, b.astype("bfloat16"), c.astype("bfloat16")) == 0


@pytest.mark.parametrize("path", ["fallback"], indirect=True)
def test_fallback_path_is_taken(path):
    assert target_calls(periodic_add, jnp.arange(3.0), jnp.arange(7.0)) == 0


@pytest.mark.parametrize(
    ("b_axis", "c_axis"),
    # All but (None, None), which maps nothing.
    list(itertools.product([None, 0, 1], repeat=2))[1:],
)
@pytest.mark.parametrize("out_axis", [0, 1])
def test_vmap(path, mode, rng, b_axis, c_axis, out_axis):
    b, c = operands(rng, 3, 8, (4,))
    b = rows(b[0], 4) if b_axis is None else b
    c = rows(c[0], 4) if c_axis is None else c
    args = [
        x[0] if axis is None else np.moveaxis(x, 0, axis)
        for x, axis in ((b, b_axis), (c, c_axis))
    ]
    out = mode(jax.vmap(periodic_add, (b_axis, c_axis), out_axis))(*args)
    np.testing.assert_array_equal(out, np.moveaxis(expected(b, c), 0, out_axis))


def test_vmap_of_vmap(path, rng):
    b, c = operands(rng, 3, 8, (2, 5))
    # The outer map walks the 5, the inner one the 2.
    out = jax.vmap(jax.vmap(periodic_add), in_axes=1)(b, c)
    np.testing.assert_array_equal(out, expected(b, c).swapaxes(0, 1))


def test_vmap_is_one_call(native, rng):
    b, c = operands(rng, 3, 8, (4,))
    assert target_calls(jax.vmap(periodic_add), b, c) == 1


def test_jvp(path, mode, rng):
    b, c = operands(rng, 3, 8)
    b_dot, c_dot = operands(rng, 3, 8)
    push = mode(lambda p, t: jax.jvp(periodic_add, p, t))
    out, tangent = push((b, c), (b_dot, c_dot))
    np.testing.assert_array_equal(out, expected(b, c))
    np.testing.assert_array_equal(tangent, expected(b_dot, c_dot))


def test_jvp_of_one_operand(path, rng):
    b, c = operands(rng, 3, 8)
    b_dot, c_dot = operands(rng, 3, 8)
    _, tangent = jax.jvp(lambda b: periodic_add(b, c), (b,), (b_dot,))
    np.testing.assert_array_equal(tangent, expected(b_dot, np.zeros_like(c)))
    _, tangent = jax.jvp(lambda c: periodic_add(b, c), (c,), (c_dot,))
    np.testing.assert_array_equal(tangent, c_dot)


def test_jvp_of_integers(path):
    b, c = np.arange(3), np.arange(7)
    zeros = tuple(np.zeros(x.shape, jax.dtypes.float0) for x in (b, c))
    out, tangent = jax.jvp(periodic_add, (b, c), zeros)
    np.testing.assert_array_equal(out, expected(b, c))
    assert tangent.dtype == jax.dtypes.float0


def ring_sums(cotangent, m):
    """What each element of the ring collects: it went to every m-th element."""
    return np.stack([cotangent[..., k::m].sum(-1) for k in range(m)], -1)


@pytest.mark.parametrize(("m", "n"), [(3, 8), (8, 3), (4, 8)])
def test_vjp(path, mode, rng, m, n):
    b, c = operands(rng, m, n)
    cotangent = rng.normal(size=n).astype(np.float32)
    b_bar, c_bar = mode(lambda ct: jax.vjp(periodic_add, b, c)[1](ct))(cotangent)
    np.testing.assert_array_equal(c_bar, cotangent)
    np.testing.assert_allclose(b_bar, ring_sums(cotangent, m), rtol=1e-6, atol=1e-6)


def test_hessian(path, rng):
    b, c = operands(rng, 3, 8)
    blocks = jax.hessian(lambda b, c: jnp.sum(periodic_add(b, c) ** 2), (0, 1))(b, c)
    # Of sum_i (b[i mod 3] + c[i])^2: c's block is 2I, b's counts how often each occurs.
    onto = np.array([[i % 3 == k for i in range(8)] for k in range(3)], np.float32)
    np.testing.assert_array_equal(blocks[0][0], np.diag([6.0, 6.0, 4.0]))
    np.testing.assert_array_equal(blocks[0][1], 2 * onto)
    np.testing.assert_array_equal(blocks[1][0], 2 * onto.T)
    np.testing.assert_array_equal(blocks[1][1], 2 * np.eye(8))


def test_vmap_of_grad(path, rng):
    b, c = operands(rng, 3, 8, (4,))
    grad = jax.vmap(jax.grad(lambda b, c: jnp.sum(periodic_add(b, c) ** 2)), (0, 0))
    reference = ring_sums(2 * expected(b, c), 3)
    np.testing.assert_allclose(grad(b, c), reference, rtol=1e-5, atol=1e-5)


def test_scan(path, rng):
    b, c = operands(rng, 3, 8)

    def step(carry, _):
        carry = periodic_add(b, carry)
        return carry, carry[0]

    out, firsts = jax.lax.scan(step, c, None, length=4)
    steps = [c]
    for _ in range(4):
        steps.append(expected(b, steps[-1]))
    np.testing.assert_array_equal(out, steps[-1])
    np.testing.assert_array_equal(firsts, [s[0] for s in steps[1:]])


def test_remat(path, rng):
    b, c = operands(rng, 3, 8)
    loss = jax.checkpoint(lambda b: jnp.sum(periodic_add(b, c) ** 3))
    reference = ring_sums(3 * expected(b, c) ** 2, 3)
    np.testing.assert_allclose(jax.grad(loss)(b), reference, rtol=1e-4)


def test_without_jit(path, rng):
    b, c = operands(rng, 3, 8)
    with jax.disable_jit():
        np.testing.assert_array_equal(periodic_add(b, c), expected(b, c))


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("b_spec", [P(), P("i")])
@pytest.mark.parametrize("c_spec", [P(), P("i")])
def test_shard_map(path, mesh8, rng, check_vma, b_spec, c_spec):
    b, c = operands(rng, 3, 11, (8,))
    # What every device has is the one row of an unsharded operand.
    b, c = (x if s else x[:1] for x, s in ((b, len(b_spec)), (c, len(c_spec))))
    f = jax.shard_map(
        periodic_add,
        mesh=mesh8,
        in_specs=(b_spec, c_spec),
        out_specs=P("i") if len(b_spec) or len(c_spec) else P(),
        check_vma=check_vma,
    )
    size = max(len(b), len(c))
    out = expected(np.repeat(b, size // len(b), 0), np.repeat(c, size // len(c), 0))
    np.testing.assert_array_equal(jax.jit(f)(b, c), out)
    assert target_calls(f, b, c) == (path == "native")
    # With one operand for all devices, its cotangent is summed over them.
    b_bar, c_bar = jax.grad(lambda b, c: jnp.sum(f(b, c) ** 2), (0, 1))(b, c)
    for bar, full, x in ((b_bar, ring_sums(2 * out, 3), b), (c_bar, 2 * out, c)):
        reference = full if len(x) == size else full.sum(0, keepdims=True)
        np.testing.assert_allclose(bar, reference, rtol=1e-5, atol=1e-5)


def test_partly_manual_program_has_no_custom_call(path, mesh8, rng):
    mesh = jax.make_mesh((4, 2), ("i", "j"), axis_types=(AxisType.Auto,) * 2)
    b, c = operands(rng, 3, 11, (8,))
    f = jax.shard_map(
        periodic_add, mesh=mesh, in_specs=P("i"), out_specs=P("i"), axis_names={"i"}
    )
    np.testing.assert_array_equal(jax.jit(f)(b, c), expected(b, c))
    assert target_calls(f, b, c) == 0


def test_pmap(path, mesh8, rng):
    b, c = operands(rng, 3, 11, (8,))
    f = jax.pmap(periodic_add)
    np.testing.assert_array_equal(f(b, c), expected(b, c))
    assert f.lower(b, c).as_text().count("@xlaops_periodic_add(") == (path == "native")


def test_auto_sharded_program_gathers_nothing(path, mesh8, rng):
    b, c = operands(rng, 3, 11, (8,))
    sharding = NamedSharding(mesh8, P("i"))
    b_on, c_on = (jax.device_put(x, sharding) for x in (b, c))
    text = jax.jit(periodic_add).lower(b_on, c_on).compile().as_text()
    assert "custom-call" not in text
    assert "all-gather" not in text
    out = periodic_add(b_on, c_on)
    assert out.sharding.is_equivalent_to(sharding, 2)
    np.testing.assert_array_equal(out, expected(b, c))


def test_explicit_mesh(path, mesh8, rng):
    mesh = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Explicit,))
    b, c = operands(rng, 3, 11, (8,))
    with jax.set_mesh(mesh):
        b_on, c_on = (
            jax.device_put(x, NamedSharding(mesh, P("i", None))) for x in (b, c)
        )
        for f in (periodic_add, jax.jit(periodic_add), jax.vmap(periodic_add)):
            out = f(b_on, c_on)
            np.testing.assert_array_equal(out, expected(b, c))
            assert jax.typeof(out).sharding.spec == P("i", None)


@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu"])
def test_other_platforms_get_plain_stablehlo(path, platform):
    traced = jax.jit(periodic_add).trace(jnp.arange(3.0), jnp.arange(7.0))
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert "custom_call" not in text
    assert "stablehlo.add" in text


def test_several_platforms_at_once(native):
    traced = jax.jit(periodic_add).trace(jnp.arange(3.0), jnp.arange(7.0))
    text = traced.lower(lowering_platforms=("cpu", "tpu")).as_text()
    assert text.count("@xlaops_periodic_add(") == 1
    assert "stablehlo.add" in text


def test_export_is_portable(path, rng):
    b, c = operands(rng, 3, 8)
    exported = jax.export.export(jax.jit(periodic_add))(b, c)
    assert "custom_call" not in exported.mlir_module()
    np.testing.assert_array_equal(exported.call(b, c), expected(b, c))


def test_export_with_symbolic_sizes(path, rng):
    m, n, k = jax.export.symbolic_shape("m, n, k")
    f32 = np.float32
    exported = jax.export.export(jax.jit(periodic_add))(
        jax.ShapeDtypeStruct((k, m), f32), jax.ShapeDtypeStruct((k, n), f32)
    )
    b, c = operands(rng, 3, 8, (4,))
    np.testing.assert_array_equal(exported.call(b, c), expected(b, c))


F3, F7 = np.ones(3, np.float32), np.ones(7, np.float32)


@pytest.mark.parametrize(
    ("b", "c", "error", "message"),
    [
        (1.0, F7, TypeError, "b must have at least one dimension"),
        (F3, np.float32(1), TypeError, "c must have at least one dimension"),
        (F3, F7.astype(np.int32), TypeError, r"float32\[3\].*int32\[7\]"),
        (F3 > 0, F7 > 0, TypeError, r"b must be .*got bool\[3\]"),
        (F3[:0], F7, ValueError, r"b must not be empty .*\(0,\) and \(7,\)"),
        (F3, np.ones((2, 7), np.float32), TypeError, r"leading .*\(3,\) and \(2, 7\)"),
        (None, F7, TypeError, "b must be .*NoneType"),
        ("ring", F7, TypeError, "b must be .*'ring'"),
    ],
)
@pytest.mark.parametrize("jit", [False, True])
def test_refused(jit, b, c, error, message):
    def call():
        # Closed over: jax.jit itself would refuse what is no array.
        return jax.jit(lambda: periodic_add(b, c))() if jit else periodic_add(b, c)

    with pytest.raises(error, match=f"^periodic_add: .*{message}"):
        call()


def test_public_name():
    assert xlaops.ffi.kernels.periodic_add is periodic_add
    assert periodic_add.__name__ == "periodic_add"
