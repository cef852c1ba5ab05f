"""Stochastic rounding against exact fractions and the list of all target numbers."""

import fractions
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P
from ops.oracles.stochastic import goes_up, numbers_of, to_float, to_integer

import xlaops as xo

FLOATS = ("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "bfloat16", "float16")
SOURCES = (*FLOATS, "float32", "float64")
INTEGERS = ("int4", "int8", "uint8", "int16", "int32", "uint32", "int64")


def _bits(dtype):
    return 8 * np.dtype(jnp.dtype(dtype)).itemsize


def _special(dtype):
    """Numbers at the edges of a type, those that are not finite, and between."""
    info = jnp.finfo(dtype)
    tiny, smallest = float(info.tiny), float(info.smallest_subnormal)
    largest = float(info.max)
    numbers = [0.0, smallest, 3 * smallest, tiny, tiny - smallest, 0.5, 0.75, 1.0, 1.5]
    numbers += [2.5, 7.25, 126.5, 127.5, 128.5, 255.5, 1e3, 240.0, 250.0, 465.0]
    numbers += [largest, largest / 2, 65519.0, 65520.0, 65535.0, 1e5, math.inf]
    return np.array([*numbers, *(-v for v in numbers), math.nan])


def inputs(rng, dtype, target):
    """Numbers of the source type, of all sizes that matter, and random bits."""
    width = _bits(dtype)
    scale = np.exp2(rng.uniform(-24, 12, 60))
    info = jnp.finfo(target) if target in SOURCES else None
    near = [] if info is None else float(info.tiny) * rng.normal(0, 2, 20)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        x = np.concatenate([_special(dtype), rng.normal(0, 1, 60) * scale, near])
        x = np.concatenate([x, rng.uniform(-140, 140, 40)]).astype(jnp.dtype(dtype))
    random = rng.integers(0, 1 << width, x.size, np.uint64).astype(f"uint{width}")
    edges = np.array([0, 1, (1 << width) - 1, 1 << (width - 1)], f"uint{width}")
    random[rng.permutation(x.size)[:20]] = np.resize(edges, 20)
    return x, random


def _convert(x, random, dtype, how=lambda f: f):
    wide = {x.dtype, jnp.dtype(dtype)} & set(map(np.dtype, ("f8", "i8", "u8")))
    with jax.enable_x64(bool(wide)):
        f = how(lambda x, r: xo.stochastic_convert_type(x, r, dtype))
        return f(jnp.asarray(x), jnp.asarray(random))


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("dtype", SOURCES)
def test_to_floats(dtype, target, rng):
    x, random = inputs(rng, dtype, target)
    got = _convert(x, random, target)
    assert got.dtype == jnp.dtype(target)
    expected = np.array(
        [
            to_float(float(v), int(r), _bits(dtype), target)
            for v, r in zip(x, random, strict=True)
        ]
    )
    got = np.asarray(got).astype(np.float64)
    np.testing.assert_array_equal(got, expected)
    if not target.endswith("fnuz"):
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(
            np.signbit(got[numbers]), np.signbit(expected[numbers])
        )


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("dtype", SOURCES)
def test_to_integers(dtype, target, rng):
    x, random = inputs(rng, dtype, target)
    got = _convert(x, random, target)
    assert got.dtype == jnp.dtype(target)
    expected = [
        to_integer(float(v), int(r), _bits(dtype), target)
        for v, r in zip(x, random, strict=True)
    ]
    assert np.asarray(got).astype(object).tolist() == expected


def test_from_64_to_32_bits(rng):
    """To the neighbours that numpy knows, and both of them."""
    x = rng.normal(0, 1, 200) * np.exp2(rng.integers(-160, 120, 200))
    random = rng.integers(0, 1 << 64, 200, np.uint64, endpoint=False)
    got = np.asarray(_convert(x, random, "float32")).astype(np.float64)
    nearest = x.astype(np.float32)
    other = np.where(
        nearest.astype(np.float64) < x,
        np.nextafter(nearest, np.float32(np.inf)),
        np.nextafter(nearest, np.float32(-np.inf)),
    )
    is_nearest, is_other = got == nearest, got == other
    assert (is_nearest | is_other).all()
    assert is_nearest.sum() > 100
    assert is_other.sum() > 20
    # The probability of each is exact.
    low, high = np.minimum(nearest, other), np.maximum(nearest, other)
    for v, r, y, a, b in zip(x, random, got, low, high, strict=True):
        v, a, b = (fractions.Fraction(float(n)) for n in (v, a, b))
        inner, outer = (a, b) if v > 0 else (b, a)
        up = goes_up(v, inner, outer, int(r), 64)
        assert y == float(outer if up else inner)


@pytest.mark.parametrize("target", ["bfloat16", "float16", "float8_e4m3fn", "int8"])
def test_mean_is_the_number(target, rng):
    x = np.float32([1.1, -2.7, 3.003, 0.3, -0.01])
    random = rng.integers(0, 1 << 32, (40000, 5), np.uint64).astype(np.uint32)
    got = _convert(np.broadcast_to(x, random.shape), random, target)
    mean = np.asarray(got).astype(np.float64).mean(0)
    # Of neighbours at most one apart, and of a standard deviation of at most half that.
    np.testing.assert_allclose(mean, x, atol=4 * 0.5 / 200)


def test_numbers_of_the_type_are_kept(rng):
    values = np.array([float(v) for v in numbers_of("float16")], np.float32)
    random = np.full(values.shape, 0, np.uint32)  # which rounds up whatever can be
    got = _convert(values, random, "float16")
    np.testing.assert_array_equal(np.asarray(got).astype(np.float32), values)


@pytest.mark.parametrize("how", [jax.jit, jax.vmap, lambda f: jax.jit(jax.vmap(f))])
def test_transformed(how, rng):
    x, random = inputs(rng, "float32", "bfloat16")
    for target in ("bfloat16", "int8"):
        got = _convert(x, random, target, how)
        expected = _convert(x, random, target)
        np.testing.assert_array_equal(
            np.asarray(got).astype(np.float32), np.asarray(expected).astype(np.float32)
        )


def test_derivative_is_that_of_the_conversion():
    x = jnp.array([1.1, -2.7])
    bits = jnp.array([0, 5], "uint32")

    def f(x):
        y = xo.stochastic_convert_type(x, bits, "bf16")
        return (y.astype(jnp.float32) * jnp.array([2.0, 3.0])).sum()

    np.testing.assert_array_equal(jax.grad(f)(x), [2, 3])
    tangent = jax.jvp(
        lambda x: xo.stochastic_convert_type(x, bits, "f8e5m2"), (x,), (jnp.ones(2),)
    )[1]
    assert tangent.dtype == jnp.float8_e5m2
    np.testing.assert_array_equal(tangent.astype(np.float32), [1, 1])
    tangent = jax.jvp(
        lambda x: xo.stochastic_convert_type(x, bits, "s8"), (x,), (jnp.ones(2),)
    )[1]
    assert tangent.dtype == jax.dtypes.float0


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map(check_vma, mesh8, rng):
    x = rng.normal(size=8).astype(np.float32)
    random = rng.integers(0, 1 << 32, 1, np.uint64).astype(np.uint32)
    f = jax.shard_map(
        lambda x, r: xo.stochastic_convert_type(x, r, "bf16"),
        mesh=mesh8,
        in_specs=(P("i"), P()),
        out_specs=P("i"),
        check_vma=check_vma,
    )
    got = jax.jit(f)(x, random)
    expected = [to_float(float(v), int(random[0]), 32, "bfloat16") for v in x]
    np.testing.assert_array_equal(np.asarray(got).astype(np.float64), expected)


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm", "tpu"])
@pytest.mark.parametrize("target", ["bf16", "s8"])
def test_lowers_to_what_every_backend_has(platform, target):
    traced = jax.jit(lambda x, r: xo.stochastic_convert_type(x, r, target)).trace(
        np.ones(3, np.float32), np.ones(3, np.uint32)
    )
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert "stablehlo.shift_left" in text
    assert "mhlo.stochastic" not in text
    assert "custom_call" not in text


_X, _R = np.ones(3, np.float32), np.ones(3, np.uint32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: xo.stochastic_convert_type(_R, _R, "s8"),
            "operand must be an array of floating-point elements, got uint32",
        ),
        (
            lambda: xo.stochastic_convert_type(_X, _X, "s8"),
            "random must be an array of unsigned integer elements, got float32",
        ),
        (
            lambda: xo.stochastic_convert_type(_X, _R.astype(np.uint16), "s8"),
            r"random must be uint32\[3\], as wide as operand, got uint16\[3\]",
        ),
        (
            lambda: xo.stochastic_convert_type(_X, _R[:2], "s8"),
            r"random must be uint32\[3\].*got uint32\[2\]",
        ),
        (
            lambda: xo.stochastic_convert_type(_X, _R, "pred"),
            "new_element_type must be an integer type or.*got bool",
        ),
        (
            lambda: xo.stochastic_convert_type(_X, _R, "c64"),
            "new_element_type must be an integer type or.*got complex64",
        ),
        (
            lambda: xo.stochastic_convert_type(_X, _R, "f8e8m0fnu"),
            "new_element_type must be.*signed floating-point.*float8_e8m0fnu",
        ),
        (
            lambda: xo.stochastic_convert_type(
                jnp.ones(3, "float8_e8m0fnu"), jnp.ones(3, "uint8"), "s8"
            ),
            "operand must have signed elements of 8 bits or more, got float8_e8m0fnu",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(TypeError, match="stochastic_convert_type: " + message):
        call()
