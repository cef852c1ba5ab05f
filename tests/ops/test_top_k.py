"""top_k against Python's stable sort."""

import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads
from ops.oracles import top_k as oracle

from xlaops.ops.top_k import top_k

NAN, INF = float("nan"), float("inf")
FLOATS = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int8", "int16", "int32", "uint8", "uint16", "uint32", "int4", "uint4"]


def wide(x):
    # numpy does not know the NaN of ml_dtypes.
    return np.asarray(x).astype(np.float64)


def check(got, x, k, largest):
    expected = oracle(x, k, largest)
    values, indices = got
    assert values.dtype == x.dtype
    assert indices.dtype == np.int32
    np.testing.assert_array_equal(indices, expected[1])
    values, expected = wide(values), wide(expected[0])
    np.testing.assert_array_equal(values, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(values[zero]), np.signbit(expected[zero]))


def test_examples():
    values, indices = top_k(jnp.array([2, 1, 1, 3, 1]), 3, False)
    np.testing.assert_array_equal(values, [1, 1, 1])
    np.testing.assert_array_equal(indices, [1, 2, 4])
    values, indices = top_k(jnp.array([[1, 5, 5, 2], [7, 7, 7, 0]]), 2)
    np.testing.assert_array_equal(values, [[5, 5], [7, 7]])
    np.testing.assert_array_equal(indices, [[1, 2], [0, 1]])


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_floats(dtype, largest, mode):
    row = [1, NAN, -0.0, 0.0, INF, -NAN, -INF, 1, -0.0, 0.5]
    if dtype == "float8_e4m3fn":
        row = [448 if v == INF else -448 if v == -INF else v for v in row]
    x = np.array([row, row[::-1]], np.float32).astype(dtype)
    got = mode(lambda x: top_k(x, 10, largest))(jnp.asarray(x))
    check(got, x, 10, largest)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_with_their_limits(dtype, largest, mode):
    limits = ml_dtypes.iinfo(dtype) if dtype.endswith("t4") else np.iinfo(dtype)
    x = np.array([3, limits.max, limits.min, 0, 3, limits.max]).astype(dtype)
    got = mode(lambda x: top_k(x, 4, largest))(jnp.asarray(x))
    check(got, x, 4, largest)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_64_bits(dtype, largest, x64):
    x = np.array([2**40, 7, 2**40 + 1, 0, 7]).astype(dtype)
    check(top_k(x, 3, largest), x, 3, largest)


@pytest.mark.parametrize("largest", [True, False])
def test_pred(largest, mode):
    x = np.array([[False, True, True], [True, False, False]])
    check(mode(lambda x: top_k(x, 2, largest))(x), x, 2, largest)


@pytest.mark.parametrize("largest", [True, False])
def test_empty(largest, mode):
    f = mode(lambda x: top_k(x, 0, largest))
    for shape in ((3,), (0,), (2, 0), (0, 3)):
        values, indices = f(jnp.zeros(shape))
        assert values.shape == indices.shape == (*shape[:-1], 0)
    values, indices = mode(lambda x: top_k(x, 2, largest))(jnp.zeros((0, 3)))
    assert values.shape == indices.shape == (0, 2)


@functools.cache
def jitted(k, largest):
    return jax.jit(lambda x: top_k(x, k, largest))


@given(
    st.sampled_from([(0, True), (1, False), (4, True), (4, False), (6, True)]),
    st.lists(
        st.sampled_from([0.0, -0.0, 1.0, 2.5, -1.0, INF, -INF, NAN, -NAN]),
        min_size=12,
        max_size=12,
    ),
)
def test_random_rows(form, values):
    k, largest = form
    x = np.array(values, np.float32).reshape(2, 6)
    check(jitted(k, largest)(x), x, k, largest)


@pytest.mark.parametrize("largest", [True, False])
def test_derivatives(x64, rng, largest):
    # Different by more than the step of the numerical derivative.
    x = rng.permuted(np.arange(15.0)).reshape(3, 5)
    check_grads(jax.jit(lambda x: top_k(x, 3, largest)[0] ** 3), (x,), 2)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2"])
def test_gradient_goes_to_the_chosen(dtype, largest, mode):
    x = np.array([[2, 1, 1, NAN, 0, -0.0], [3, 3, 3, 3, 3, 3]]).astype(dtype)
    weights = np.array([[1, 2, 4], [1, 2, 4]]).astype(dtype)
    got = mode(jax.grad(lambda x: (top_k(x, 3, largest)[0] * weights).sum()))(
        jnp.asarray(x)
    )
    expected = np.zeros_like(x)
    np.put_along_axis(expected, oracle(x, 3, largest)[1], weights, -1)
    np.testing.assert_array_equal(got, expected)
    tangent = np.arange(12).reshape(2, 6).astype(dtype)
    _, moved = mode(
        lambda x, t: jax.jvp(lambda x: top_k(x, 3, largest)[0], (x,), (t,))
    )(jnp.asarray(x), jnp.asarray(tangent))
    expected = np.take_along_axis(tangent, oracle(x, 3, largest)[1], -1)
    np.testing.assert_array_equal(moved, expected)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_vmap(axis, largest, rng):
    xs = rng.integers(-3, 3, (3, 2, 5)).astype(np.float32)

    def f(x):
        return top_k(x, 3, largest)

    moved = np.moveaxis(xs, 0, axis)
    values, indices = jax.jit(jax.vmap(f, in_axes=axis))(moved)
    for b in range(3):
        check((values[b], indices[b]), xs[b], 3, largest)
    gradient = jax.grad(lambda x: (jax.vmap(f, axis)(x)[0] ** 2).sum())(moved)
    each = jax.vmap(jax.grad(lambda x: (f(x)[0] ** 2).sum()), axis, axis)(moved)
    expected = np.zeros_like(xs)
    chosen, where = oracle(xs, 3, largest)
    np.put_along_axis(expected, where, 2 * chosen, -1)
    np.testing.assert_array_equal(gradient, np.moveaxis(expected, 0, axis))
    np.testing.assert_array_equal(each, np.moveaxis(expected, 0, axis))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("check_vma", [True, False])
def test_inside_shard_map(mesh8, check_vma, largest):
    x = np.random.default_rng(0).integers(-3, 3, (8, 5)).astype(np.float32)
    sharded = jax.jit(
        jax.shard_map(
            lambda x: top_k(x, 3, largest),
            mesh=mesh8,
            in_specs=P("i"),
            out_specs=P("i"),
            check_vma=check_vma,
        )
    )
    check(sharded(x), x, 3, largest)
    gradient = jax.grad(lambda x: sharded(x)[0].sum())(x)
    expected = np.zeros_like(x)
    np.put_along_axis(expected, oracle(x, 3, largest)[1], 1, -1)
    np.testing.assert_array_equal(gradient, expected)


@pytest.mark.parametrize("platform", ["tpu", "cuda", "rocm"])
@pytest.mark.parametrize("largest", [True, False])
def test_lowering_for_other_platforms(platform, largest):
    traced = jax.jit(lambda x: top_k(x, 3, largest)).trace(jnp.zeros((2, 5)))
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert ("chlo.top_k" if largest else "stablehlo.sort") in text


def test_integers_lower_to_what_lax_lowers_to():
    def text(call):
        def f(x):
            return tuple(call(x))

        return jax.jit(f).lower(jnp.zeros((2, 5), int)).as_text()

    assert text(lambda x: top_k(x, 3)) == text(lambda x: lax.top_k(x, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: top_k(np.zeros(2), 3),
            ValueError,
            r"top_k: k must be in \[0, 2\] .*\(2,\), got 3",
        ),
        (lambda: top_k(np.zeros(2), -1), ValueError, r"top_k: k must .*got -1"),
        (lambda: top_k(np.zeros(2), 1.5), TypeError, r"top_k: k must be an integer"),
        (lambda: top_k(1.0, 0), TypeError, r"top_k: operand must have rank 1"),
        (
            lambda: top_k(np.zeros(2, np.complex64), 1),
            TypeError,
            r"top_k: operand must .*complex64\[2\]",
        ),
        (
            lambda: top_k(jax.random.split(jax.random.key(0)), 1),
            TypeError,
            r"top_k: operand must .*key",
        ),
        (lambda: top_k([1, 2], 1), TypeError, r"top_k: operand must be .*list"),
        (
            lambda: top_k(np.zeros(2), 1, "no"),
            TypeError,
            r"top_k: largest must be a bool, got str 'no'",
        ),
        (
            lambda: jax.eval_shape(
                lambda x: top_k(x, 1, False),
                jax.ShapeDtypeStruct((2**31 + 1,), np.int8),
            ),
            ValueError,
            r"top_k: operand must have a last size .*2147483649",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
