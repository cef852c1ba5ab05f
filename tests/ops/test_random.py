"""XLA's hidden generator: distributions, bounds, and that draws differ."""

import math

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.sharding import PartitionSpec

import xlaops as xo

F4 = np.float32
P = PartitionSpec
NARROW = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
FLOATS = ["float16", "bfloat16", "float32"]


def struct(shape, dtype):
    return jax.ShapeDtypeStruct(shape, np.dtype(getattr(ml_dtypes, dtype, dtype)))


def kolmogorov(sample, cdf):
    """The largest distance of the empirical distribution from the given one."""
    x = np.sort(np.asarray(sample, np.float64))
    below = np.arange(len(x)) / len(x)
    return max(abs(cdf(x) - below).max(), abs(cdf(x) - below - 1 / len(x)).max())


def normal_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


# A distance that a right distribution exceeds once in some 10**8 times.
LIMIT = 3.1


# Uniform


@pytest.mark.parametrize("dtype", NARROW)
def test_uniform_integers_take_each_value_alike(mode, dtype):
    low, high = (3, 11) if dtype[0] == "u" else (-4, 4)
    got = mode(lambda a, b: xo.rng_uniform(a, b, struct((4000,), dtype)))(
        np.dtype(dtype).type(low), np.dtype(dtype).type(high)
    )
    assert got.dtype == dtype
    values, counts = np.unique(got, return_counts=True)
    assert values.tolist() == list(range(low, high))
    # 500 expected of each, with a deviation of 21.
    assert np.abs(counts - 500).max() < 130


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_uniform_integers_over_the_whole_range(dtype):
    info = np.iinfo(dtype)
    kind = np.dtype(dtype).type
    got = np.asarray(
        xo.rng_uniform(kind(info.min), kind(info.max), struct((20000,), dtype)),
        np.float64,
    )
    assert (got < info.max).all()
    span = float(info.max) - float(info.min)
    slack = 1 / span + LIMIT / math.sqrt(20000)
    assert kolmogorov(got, lambda x: (x - info.min) / span) < slack


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_uniform_integers_of_64_bits(dtype):
    kind = np.dtype(dtype).type
    got = xo.rng_uniform(kind(2**40), kind(2**40 + 3), struct((200,), dtype))
    assert got.dtype == dtype
    assert sorted(set(got.tolist())) == [2**40, 2**40 + 1, 2**40 + 2]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-2.0, 6.0)])
def test_uniform_floats(mode, dtype, low, high):
    got = mode(lambda a, b: xo.rng_uniform(a, b, struct((100, 50), dtype)))(
        jnp.asarray(low, dtype), jnp.asarray(high, dtype)
    )
    assert got.dtype == dtype
    assert got.shape == (100, 50)
    x = np.asarray(got, np.float64).ravel()
    assert x.min() >= low
    assert x.max() < high
    step = float(jnp.finfo(dtype).eps)
    slack = LIMIT / math.sqrt(x.size) + step
    assert kolmogorov(x, lambda v: (v - low) / (high - low)) < slack


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (1.0, 2.0), (-1.0, 0.0)])
def test_small_floats_never_reach_the_upper_bound(dtype, low, high):
    for call in (
        lambda a, b: xo.rng_uniform(a, b, struct((1000, 1000), dtype)),
        lambda a, b: jax.vmap(lambda v: xo.rng_uniform(v, b, struct((1000,), dtype)))(
            jnp.full(1000, a)
        ),
        lambda a, b: jax.jvp(
            lambda v, w: xo.rng_uniform(v, w, struct((1000, 1000), dtype)),
            (a, b),
            (a, b),
        )[0],
    ):
        x = np.asarray(call(jnp.asarray(low, dtype), jnp.asarray(high, dtype)), F4)
        assert x.shape == (1000, 1000)
        assert x.min() >= low
        assert x.max() < high


@pytest.mark.usefixtures("x64")
def test_uniform_float64():
    got = xo.rng_uniform(0.0, 1.0, "f64[2000]")
    assert got.dtype == np.float64
    # More than 32 bits are random.
    assert len(np.unique(np.asarray(got) * 2**32 % 1)) > 1900
    assert kolmogorov(got, lambda v: v) < LIMIT / math.sqrt(2000)


# Normal


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal(mode, dtype):
    got = mode(lambda m, s: xo.rng_normal(m, s, struct((5000,), dtype)))(
        jnp.asarray(1.0, dtype), jnp.asarray(2.0, dtype)
    )
    assert got.dtype == dtype
    x = (np.asarray(got, np.float64) - 1) / 2
    slack = LIMIT / math.sqrt(x.size) + float(jnp.finfo(dtype).eps)
    assert kolmogorov(x, normal_cdf) < slack


@pytest.mark.usefixtures("x64")
def test_normal_float64():
    got = xo.rng_normal(0.0, 1.0, "f64[5000]")
    assert got.dtype == np.float64
    assert kolmogorov(got, normal_cdf) < LIMIT / math.sqrt(5000)


def test_normal_without_deviation():
    assert xo.rng_normal(3.0, 0.0, "f32[4]").tolist() == [3.0] * 4


# Shapes


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 1, 3)])
@pytest.mark.parametrize("function", [xo.rng_uniform, xo.rng_normal])
def test_shapes(mode, function, shape):
    for wanted in (struct(shape, "float32"), xo.Shape.coerce(struct(shape, "float32"))):
        got = mode(lambda w=wanted: function(0.0, 1.0, w))()
        assert got.shape == shape
        assert got.dtype == F4


def test_python_scalars_take_the_type_of_the_shape():
    assert xo.rng_uniform(0, 5, "s8[3]").dtype == np.int8
    assert xo.rng_uniform(0, 5, "f32[3]").dtype == F4
    assert xo.rng_normal(0, 1, "bf16[3]").dtype == jnp.bfloat16
    assert xo.rng_uniform(np.float16(0), 1, "f16[3]").dtype == np.float16


# Draws differ


DRAWS = [
    lambda: xo.rng_uniform(0.0, 1.0, "f32[64]"),
    lambda: xo.rng_normal(0.0, 1.0, "f32[64]"),
    lambda: xo.rng_uniform(0, 2**30, "s32[64]"),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_each_execution_draws_anew(mode, draw):
    call = mode(draw)
    results = [call().tolist() for _ in range(3)]
    assert all(
        sum(a == b for a, b in zip(x, y, strict=True)) < 8
        for i, x in enumerate(results)
        for y in results[:i]
    )


@pytest.mark.parametrize("draw", DRAWS)
def test_two_draws_of_one_program_differ(draw):
    x, y = jax.jit(lambda: (draw(), draw()))()
    assert not np.array_equal(x, y)


@pytest.mark.parametrize("draw", DRAWS)
def test_each_step_of_a_loop_draws_anew(draw):
    _, rows = jax.lax.scan(lambda c, _: (c, draw()), 0, length=4)
    assert len(np.unique(np.asarray(rows), axis=0)) == 4
    _, total = xo.while_(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + draw()), (0, draw())
    )
    assert total.shape == (64,)


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("draw", DRAWS)
def test_each_device_draws_its_own(mesh8, draw, check_vma):
    got = jax.jit(
        jax.shard_map(
            draw, mesh=mesh8, in_specs=(), out_specs=P("i"), check_vma=check_vma
        )
    )()
    rows = np.asarray(got).reshape(8, 64)
    assert len(np.unique(rows, axis=0)) == 8


@pytest.mark.parametrize("check_vma", [True, False])
def test_gradient_inside_shard_map(mesh8, check_vma):
    def mean(a, b):
        return jax.lax.pmean(xo.rng_uniform(a, b, "f32[64]").mean(), "i")

    def slopes(a, b):
        return jax.grad(
            lambda v: jax.shard_map(
                mean,
                mesh=mesh8,
                in_specs=(P(), P()),
                out_specs=P(),
                check_vma=check_vma,
            )(*v)
        )((a, b))

    da, db = jax.jit(slopes)(2.0, 5.0)
    np.testing.assert_allclose(da + db, 1.0, rtol=1e-5)
    assert 0.3 < db < 0.7


# Derivatives, for the numbers that were drawn


def test_derivatives_are_of_the_numbers_drawn():
    shape = "f32[100]"
    a, b = 2.0, 6.0
    (value, slope) = jax.jvp(lambda v: xo.rng_uniform(v, b, shape), (a,), (1.0,))
    np.testing.assert_allclose(slope, 1 - (np.asarray(value) - a) / (b - a), atol=1e-6)
    (value, slope) = jax.jvp(lambda v: xo.rng_uniform(a, v, shape), (b,), (1.0,))
    np.testing.assert_allclose(slope, (np.asarray(value) - a) / (b - a), atol=1e-6)
    (value, slope) = jax.jvp(lambda v: xo.rng_normal(v, b, shape), (a,), (1.0,))
    np.testing.assert_array_equal(slope, np.ones(100, F4))
    (value, slope) = jax.jvp(lambda v: xo.rng_normal(a, v, shape), (b,), (1.0,))
    np.testing.assert_allclose(slope, (np.asarray(value) - a) / b, atol=1e-5)


def test_reverse_derivatives():
    value, pull = jax.vjp(
        lambda a, b: xo.rng_uniform(a, b, "f32[3]"), jnp.float32(2.0), jnp.float32(6.0)
    )
    u = (np.asarray(value) - 2) / 4
    ct = np.array([1.0, 10.0, 100.0], F4)
    da, db = pull(jnp.asarray(ct))
    np.testing.assert_allclose(da, (ct * (1 - u)).sum(), rtol=1e-5)
    np.testing.assert_allclose(db, (ct * u).sum(), rtol=1e-5)
    value, pull = jax.vjp(
        lambda m, s: xo.rng_normal(m, s, "f32[3]"), jnp.float32(2.0), jnp.float32(6.0)
    )
    z = (np.asarray(value) - 2) / 6
    dm, ds = pull(jnp.asarray(ct))
    np.testing.assert_allclose(dm, ct.sum())
    np.testing.assert_allclose(ds, (ct * z).sum(), rtol=1e-4)


def test_second_derivatives_of_a_function_of_draws():
    def square(m):
        return (xo.rng_normal(m, 0.0, "f32[3]") ** 2).sum()

    assert float(jax.jit(jax.grad(jax.grad(square)))(2.0)) == 6.0


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint])
@pytest.mark.parametrize("deviation", [lambda s: s, lambda s: s * 0 + 1, lambda s: 1.0])
def test_reverse_derivative_of_a_loop_is_of_what_each_step_drew(wrap, deviation):
    @wrap
    def squares(scale):
        def step(total, _):
            z = xo.rng_normal(0.0, deviation(scale), "f32[]")
            return total + jnp.square(scale * z), z

        return jax.lax.scan(step, 0.0, length=4)

    (value, drawn), slope = jax.value_and_grad(squares, has_aux=True)(2.0)
    drawn = np.asarray(drawn, np.float64)
    assert len(np.unique(drawn)) == 4
    np.testing.assert_allclose(value, (4 * drawn**2).sum(), rtol=1e-5)
    by_deviation = 8 * (drawn**2).sum() / 2 if deviation(7.0) == 7 else 0
    np.testing.assert_allclose(slope, 4 * (drawn**2).sum() + by_deviation, rtol=1e-5)


def test_derivatives_under_checkpoint_are_of_the_numbers_drawn():
    @jax.checkpoint
    def wave(scale):
        z = xo.rng_uniform(0.0, scale, "f32[5]")
        return jnp.sin(z).sum(), z

    (value, drawn), slope = jax.jit(jax.value_and_grad(wave, has_aux=True))(3.0)
    np.testing.assert_allclose(value, np.sin(drawn).sum(), rtol=1e-5)
    np.testing.assert_allclose(slope, (np.cos(drawn) * drawn / 3).sum(), atol=1e-5)


def test_draws_of_branches_and_inner_loops_have_derivatives():
    def walk(scale):
        def step(total, i):
            def inner(part, _):
                z = xo.rng_normal(0.0, 1.0, "f32[]")
                return part + scale * z, z

            part, drawn = jax.lax.scan(inner, 0.0, length=2)
            factor = jax.lax.cond(
                i > 0, lambda: xo.rng_uniform(1.0, 2.0, "f32[]"), lambda: 3.0
            )
            return total + part * factor, (drawn, factor)

        return jax.lax.scan(step, 0.0, jnp.arange(3))

    (_, (drawn, factor)), slope = jax.value_and_grad(walk, has_aux=True)(2.0)
    assert len(np.unique(drawn)) == 6
    assert len(np.unique(factor)) == 3
    expected = (np.asarray(drawn).sum(axis=1) * np.asarray(factor)).sum()
    np.testing.assert_allclose(slope, expected, atol=1e-4)


def test_integers_have_no_derivatives():
    got = jax.grad(lambda x: x * xo.rng_uniform(1, 2, "s32[]"))(3.0)
    assert float(got) == 1.0


# Batches of parameters


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "int8", "uint32"])
def test_vmap_over_both_parameters(dtype):
    lows = jnp.array([0, 10, 100], dtype)
    highs = jnp.array([4, 20, 120], dtype)
    got = jax.vmap(lambda a, b: xo.rng_uniform(a, b, struct((2000,), dtype)))(
        lows, highs
    )
    assert got.dtype == dtype
    assert got.shape == (3, 2000)
    for row, low, high in zip(
        np.asarray(got, np.float64), lows.tolist(), highs.tolist(), strict=True
    ):
        assert row.min() >= low
        assert row.max() < high
        middle = (low + high - (dtype[0] not in "fb")) / 2
        assert abs(row.mean() - middle) < 0.05 * (high - low)


def test_vmap_of_integers_draws_all_values_alike():
    got = jax.vmap(lambda a: xo.rng_uniform(a, a + 3, "s32[6000]"))(jnp.array([0, -7]))
    for row, low in zip(np.asarray(got), (0, -7), strict=True):
        values, counts = np.unique(row, return_counts=True)
        assert values.tolist() == [low, low + 1, low + 2]
        assert np.abs(counts - 2000).max() < 230


def test_vmap_of_integers_over_the_whole_range():
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    got = jax.vmap(lambda a: xo.rng_uniform(a, np.int32(high), "s32[20000]"))(
        jnp.array([low], jnp.int32)
    )
    span = float(high) - float(low)
    limit = LIMIT / math.sqrt(20000)
    assert kolmogorov(got[0], lambda v: (v - low) / span) < limit


@pytest.mark.parametrize("axis", [0, 1])
def test_vmap_over_one_parameter_and_positions(axis):
    means = jnp.array([0.0, 100.0])
    got = jax.vmap(lambda m: xo.rng_normal(m, 1.0, "f32[3,4]"), out_axes=axis)(means)
    rows = np.moveaxis(np.asarray(got), axis, 0)
    assert rows.shape == (2, 3, 4)
    assert np.abs(rows[0]).max() < 10
    assert np.abs(rows[1] - 100).max() < 10
    # The rows are no shifted copies of one another.
    assert np.abs(rows[1] - 100 - rows[0]).min() > 0
    scales = jax.vmap(lambda s: xo.rng_normal(5.0, s, "f32[100]"))(
        jnp.array([0.0, 3.0])
    )
    assert np.asarray(scales[0]).tolist() == [5.0] * 100
    assert 2 < np.asarray(scales[1]).std() < 4


def test_vmap_over_nothing_draws_once_for_all():
    got = jax.vmap(lambda x: x + xo.rng_uniform(0.0, 1.0, "f32[]"))(jnp.zeros(3))
    assert got.shape == (3,)
    assert len(np.unique(got)) == 1


def test_vmap_twice_and_with_gradient():
    lows = jnp.arange(6.0).reshape(2, 3)
    got = jax.vmap(jax.vmap(lambda a: xo.rng_uniform(a, a + 1, "f32[5]")))(lows)
    assert got.shape == (2, 3, 5)
    np.testing.assert_array_equal(
        np.floor(got), np.asarray(lows)[..., None] + np.zeros(5)
    )
    slope = jax.vmap(jax.grad(lambda m: xo.rng_normal(m, 1.0, "f32[]")))(lows[0])
    assert slope.tolist() == [1.0] * 3


# Errors


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((0.0, 1.0, "pred[2]"), TypeError, r"shape .* integer or floating.* pred\[2\]"),
        ((0.0, 1.0, "f8e4m3fn[2]"), TypeError, r"shape .* got f8e4m3fn\[2\]"),
        ((0.0, 1.0, "c64[2]"), TypeError, r"shape .* got c64\[2\]"),
        ((0.0, 1.0, "f32[<=2]"), ValueError, r"shape .* got f32\[<=2\]"),
        ((0.0, 1.0, "(f32[2])"), ValueError, r"shape .* got \(f32\[2\]"),
        ((0.0, 1.0, (2,)), TypeError, r"shape: .* got 2"),
        ((0.0, 1.0, "s32[2]"), TypeError, r".* a float.* b float.* shape int32"),
        ((F4(0), np.float16(1), "f32[2]"), TypeError, r".* a float32.* b float16"),
        ((np.zeros(1, F4), 1.0, "f32[2]"), TypeError, r"a .* scalar, got float32\[1\]"),
        ((0.0, np.zeros(1, F4), "f32[2]"), TypeError, r"b .* scalar, got float32\[1\]"),
        ((None, 1.0, "f32[2]"), TypeError, r"a must be .* got NoneType None"),
        ((0, 200, "s8[2]"), OverflowError, r"b must fit into int8 .* got 200"),
    ],
)
def test_uniform_refuses(mode, arguments, error, match):
    with pytest.raises(error, match=f"^rng_uniform: {match}"):
        mode(lambda: xo.rng_uniform(*arguments))()


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((0, 1, "s32[2]"), TypeError, r"shape .* floating-point .* got s32\[2\]"),
        ((0.0, 1.0, "pred[2]"), TypeError, r"shape .* got pred\[2\]"),
        ((0.0, 1.0, "f8e5m2[2]"), TypeError, r"shape .* got f8e5m2\[2\]"),
        ((F4(0), 1.0, "f16[2]"), TypeError, r".* mu float32.* shape float16"),
        ((0.0, np.zeros(2, F4), "f32[2]"), TypeError, r"sigma .* got float32\[2\]"),
        ((0.0, "x", "f32[2]"), TypeError, r"sigma must be .* got str 'x'"),
    ],
)
def test_normal_refuses(mode, arguments, error, match):
    with pytest.raises(error, match=f"^rng_normal: {match}"):
        mode(lambda: xo.rng_normal(*arguments))()
