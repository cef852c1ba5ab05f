"""Scaled products against einsum in numpy's float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads
from ops.oracles.scaled import scaled_einsum as oracle
from ops.oracles.scaled import spread

import xlaops as xo

PLAIN = (((1,), (0,)), ((), ()))
BATCHED = (((2,), (1,)), ((0,), (0,)))


def operands(rng, dtype="float8_e4m3fn", scales="float8_e8m0fnu", block=4, batch=()):
    k = 8
    x = rng.normal(size=(*batch, 3, k)).astype(jnp.dtype(dtype))
    y = rng.normal(size=(*batch, k, 5)).astype(jnp.dtype(dtype))
    s = np.exp2(rng.integers(-3, 4, (*batch, 3, k // block)))
    t = np.exp2(rng.integers(-3, 4, (*batch, k // block, 5)))
    if scales != "float8_e8m0fnu":
        s, t = s * 1.25, t * 1.5
    return x, s.astype(jnp.dtype(scales)), y, t.astype(jnp.dtype(scales))


@pytest.mark.parametrize("block", [1, 2, 4, 8])
@pytest.mark.parametrize(
    ("dtype", "scales", "tolerance"),
    [
        ("float8_e4m3fn", "float8_e8m0fnu", 1e-6),
        ("float8_e5m2", "float8_e4m3fn", 1e-6),
        ("bfloat16", "float8_e8m0fnu", 1e-6),
        ("float16", "float16", 1e-6),
        ("float32", "float32", 1e-6),
    ],
)
def test_value(dtype, scales, block, tolerance, mode, rng):
    args = operands(rng, dtype, scales, block)
    f = mode(lambda *a: xo.scaled_dot(*a, PLAIN, "HIGHEST", "f32"))
    got = f(*args)
    assert got.dtype == np.float32
    expected = oracle(*args, "mk,kn->mn")
    np.testing.assert_allclose(
        got, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()
    )


def test_value_in_64_bits(x64, rng):
    args = operands(rng, "float64", "float64")
    got = xo.scaled_dot(*args, PLAIN)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, oracle(*args, "mk,kn->mn"), rtol=1e-13, atol=1e-13)


def test_by_hand():
    """Blocks of two, of which each row and column has its own scale."""
    x = jnp.array([[1.0, 2.0, 3.0, 4.0]])
    y = jnp.array([[1.0], [1.0], [1.0], [10.0]])
    got = xo.scaled_dot(
        x, jnp.array([[1.0, 10.0]]), y, jnp.array([[2.0], [3.0]]), PLAIN
    )
    # (1 + 2) * 1 * 2 + (3 + 40) * 10 * 3
    np.testing.assert_array_equal(got, [[1296.0]])


@pytest.mark.parametrize(
    ("dtype", "scales", "expected"),
    [
        ("float8_e4m3fn", "float8_e8m0fnu", "bfloat16"),
        ("float8_e4m3fn", "float32", "float32"),
        ("float16", "float8_e8m0fnu", "float32"),
        ("bfloat16", "float8_e8m0fnu", "bfloat16"),
    ],
)
def test_default_type_is_the_one_that_is_exact(dtype, scales, expected, rng):
    got = xo.scaled_dot(*operands(rng, dtype, scales), PLAIN)
    assert got.dtype == jnp.dtype(expected)


def test_scalar_scales(rng):
    x, _, y, _ = operands(rng)
    ones = np.ones((1, 1))
    got = xo.scaled_dot(x, 0.5, y, np.float32(3), PLAIN, preferred_element_type="f32")
    expected = oracle(x, 0.5 * ones, y, 3 * ones, "mk,kn->mn")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("x64_mode", [False, True])
def test_scales_that_are_numbers_of_python(mode, x64_mode):
    x = jnp.array([[1.0, 3.0]], "float8_e4m3fn")
    with jax.enable_x64(x64_mode):
        for call in (
            mode(lambda a, b: xo.scaled_dot(a, 2, b, 0.75, PLAIN)),
            lambda a, b: jax.jit(xo.scaled_dot, static_argnums=4)(a, 2, b, 0.75, PLAIN),
        ):
            got = call(x, x.T)
            assert got.dtype == np.float32
            assert got.tolist() == [[15.0]]
    with pytest.raises(OverflowError, match=r"^scaled_dot: rhs_scale must fit into"):
        xo.scaled_dot(x, 2.0, x.T, 10**400, PLAIN)


@pytest.mark.parametrize("scales", [((3, 0), (0, 5)), ((), ())])
def test_nothing_to_contract(mode, scales):
    args = (
        jnp.ones((3, 0)),
        jnp.ones(scales[0]),
        jnp.ones((0, 5)),
        jnp.ones(scales[1]),
    )
    got = mode(lambda *a: xo.scaled_dot(*a, PLAIN))(*args)
    np.testing.assert_array_equal(got, np.zeros((3, 5)))


def test_batch_and_several_contracting_dimensions(rng):
    x = rng.normal(size=(4, 2, 6, 3)).astype(np.float32)
    y = rng.normal(size=(6, 5, 3, 4)).astype(np.float32)
    s = rng.uniform(1, 2, (2, 2, 3, 3)).astype(np.float32)
    t = rng.uniform(1, 2, (2, 5, 3, 1)).astype(np.float32)
    numbers = xo.DotDimensionNumbers((0, 2), (3, 0), (3,), (2,))
    got = xo.scaled_dot(x, s, y, t, numbers, "HIGHEST")
    expected = oracle(x, s, y, t, "ambk,bnka->kmn")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


# The lowered program


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm", "tpu"])
def test_program_has_the_composite_of_lax(platform, rng):
    """The same call of it: operands in the same order, the same attributes."""
    args = operands(rng, batch=(2,))

    def composite(f):
        traced = jax.jit(f).trace(*args)
        text = traced.lower(lowering_platforms=(platform,)).as_text()
        (line,) = (x for x in text.splitlines() if "stablehlo.composite" in x)
        return line

    ours = composite(
        lambda x, s, y, t: xo.scaled_dot(
            x, s, y, t, BATCHED, preferred_element_type="f32"
        )
    )
    of_lax = composite(
        lambda x, s, y, t: lax.scaled_dot(
            x,
            y,
            lhs_scale=s,
            rhs_scale=t,
            dimension_numbers=BATCHED,
            preferred_element_type="float32",
        )
    )
    operands_of = "(%arg0, %arg2, %arg1, %arg3"
    assert operands_of[1:] in of_lax
    assert ours == of_lax


def test_blocks_of_one_are_no_composite(rng):
    args = operands(rng, block=1)
    text = jax.jit(lambda *a: xo.scaled_dot(*a, PLAIN)).lower(*args).as_text()
    assert "composite" not in text


# Transformations


def test_derivatives(x64, rng):
    args = operands(rng, "float64", "float64", batch=(2,))
    check_grads(lambda *a: xo.scaled_dot(*a, BATCHED), args, order=2)


def test_gradient_of_narrow_operands(rng):
    """Tangents have the operands' types; scales that know no zero have none."""
    x, s, y, t = operands(rng, "bfloat16")

    def loss(x, y):
        return xo.scaled_dot(x, s, y, t, PLAIN, preferred_element_type="f32").sum()

    of_x, of_y = jax.grad(loss, (0, 1))(jnp.asarray(x), jnp.asarray(y))
    assert of_x.dtype == of_y.dtype == jnp.bfloat16
    wide = np.asarray(y, np.float64) * spread(np.asarray(t, np.float64), y.shape)
    expected = wide.sum(1) * spread(np.asarray(s, np.float64), x.shape)
    np.testing.assert_allclose(
        np.asarray(of_x, np.float64), expected, rtol=4e-2, atol=2e-1
    )


@pytest.mark.parametrize(
    "axes",
    [(0, 0, 0, 0), (1, None, None, None), (None, 0, None, None), (0, None, 2, 1)],
)
def test_vmap_is_a_loop_and_keeps_the_composite(axes, rng):
    rows = [operands(rng, "float8_e4m3fn") for _ in range(3)]
    args = [
        np.stack([row[i] for row in rows], a) if a is not None else rows[0][i]
        for i, a in enumerate(axes)
    ]
    f = jax.jit(
        jax.vmap(
            lambda *a: xo.scaled_dot(*a, PLAIN, preferred_element_type="f32"), axes
        )
    )
    got = f(*args)
    for i, row in enumerate(rows):
        own = [row[j] if a is not None else rows[0][j] for j, a in enumerate(axes)]
        np.testing.assert_allclose(
            got[i], oracle(*own, "mk,kn->mn"), rtol=1e-5, atol=1e-4
        )
    assert '"xla.scaled_dot"' in f.lower(*args).as_text()


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map(check_vma, mesh8, rng):
    rows = [operands(rng, "float32", "float32") for _ in range(8)]
    x, s = (np.stack([row[i] for row in rows]) for i in (0, 1))
    _, _, y, t = rows[0]

    def on_device(x, s, y, t):
        return xo.scaled_dot(x[0], s[0], y, t, PLAIN, "HIGHEST")[None]

    f = jax.shard_map(
        on_device,
        mesh=mesh8,
        in_specs=(P("i"), P("i"), P(), P()),
        out_specs=P("i"),
        check_vma=check_vma,
    )
    got = jax.jit(f)(x, s, y, t)
    for i in range(8):
        expected = oracle(x[i], s[i], y, t, "mk,kn->mn")
        np.testing.assert_allclose(got[i], expected, rtol=1e-5, atol=1e-5)


# Errors

_X = np.ones((3, 8), np.float32)
_S = np.ones((3, 2), np.float32)


@pytest.mark.parametrize(
    ("call", "exception", "message"),
    [
        (
            lambda: xo.scaled_dot(_X.astype(int), _S, _X.T, _S.T, PLAIN),
            TypeError,
            "scaled_dot: lhs must be an array of floating-point elements, got int",
        ),
        (
            lambda: xo.scaled_dot(_X, _S, _X.T, np.ones((2, 3), int), PLAIN),
            TypeError,
            "scaled_dot: rhs_scale must be an array of floating-point",
        ),
        (
            lambda: xo.scaled_dot(_X, _S[:2], _X.T, _S.T, PLAIN),
            TypeError,
            r"scaled_dot: lhs_scale must have the shape \(3, 8\) of lhs.*\[2, 2\]",
        ),
        (
            lambda: xo.scaled_dot(_X, _S[0], _X.T, _S.T, PLAIN),
            TypeError,
            r"scaled_dot: lhs_scale must have the shape.*got float32\[2\]",
        ),
        (
            lambda: xo.scaled_dot(_X, np.ones((3, 3), "f4"), _X.T, _S.T, PLAIN),
            TypeError,
            r"scaled_dot: lhs_scale must have.*divisors.*got float32\[3, 3\]",
        ),
        (
            lambda: xo.scaled_dot(_X, _S, _X[:, :4].T, _S.T, PLAIN),
            TypeError,
            "scaled_dot: contracting dimensions must have equal sizes, got 8.*and 4",
        ),
        (
            lambda: xo.scaled_dot(_X, _S, _X.T, _S.T, (((2,), (0,)), ((), ()))),
            ValueError,
            r"scaled_dot: lhs_contracting_dimensions must be distinct.*\(2,\)",
        ),
        (
            lambda: xo.scaled_dot(_X, _S, _X.T, _S.T, PLAIN, None, "s32"),
            TypeError,
            "scaled_dot: preferred_element_type must be a floating-point.*int32",
        ),
    ],
)
def test_errors(call, exception, message):
    with pytest.raises(exception, match=message):
        call()
