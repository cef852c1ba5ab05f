"""dynamic_slice and dynamic_update_slice against loops over the document's formula."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads

from xlaops.core.compat import SLICES_MERGE_UNCLAMPED
from xlaops.ops.dynamic_slicing import dynamic_slice, dynamic_update_slice

# (shape of the operand, shape of the slice): few, so that few programs are compiled.
SHAPES = [
    ((5,), (2,)),
    ((5,), (5,)),
    ((300,), (3,)),
    ((2, 4, 3), (1, 4, 2)),
]
EXTREMES = {
    "int4": (-8, -1, 0, 2, 7),
    "int8": (-128, -1, 0, 2, 127),
    "int16": (-(2**15), -1, 3, 2**15 - 1),
    "int32": (-(2**31), -1, 0, 1, 2, 299, 2**31 - 1),
    "uint4": (0, 2, 15),
    "uint8": (0, 2, 128, 255),
    "uint16": (0, 2, 2**15, 2**16 - 1),
    "uint32": (0, 2, 2**31 - 1, 2**31, 2**32 - 1),
}


def clamped(starts, shape, sizes):
    return [
        min(max(int(s), 0), n - size)
        for s, n, size in zip(starts, shape, sizes, strict=True)
    ]


def slice_oracle(operand, starts, sizes):
    result = np.empty(sizes, operand.dtype)
    first = clamped(starts, operand.shape, sizes)
    for index in np.ndindex(*sizes):
        result[index] = operand[tuple(map(int, np.add(first, index)))]
    return result


def update_oracle(operand, update, starts):
    result = operand.copy()
    first = clamped(starts, operand.shape, update.shape)
    for index in np.ndindex(*update.shape):
        result[tuple(map(int, np.add(first, index)))] = update[index]
    return result


def numbers(shape):
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def test_examples_of_the_document():
    a = jnp.arange(5.0)
    b = jnp.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(dynamic_slice(a, [2], [2]), [2, 3])
    np.testing.assert_array_equal(dynamic_slice(b, [2, 1], [2, 2]), [[7, 8], [10, 11]])
    np.testing.assert_array_equal(
        dynamic_update_slice(a, jnp.array([5.0, 6.0]), [2]), [0, 1, 5, 6, 4]
    )
    np.testing.assert_array_equal(
        dynamic_update_slice(b, jnp.arange(12.0, 18).reshape(3, 2), jnp.array([1, 1])),
        [[0, 1, 2], [3, 12, 13], [6, 14, 15], [9, 16, 17]],
    )


@pytest.mark.parametrize("when", ["eager", "jit", "const"])
@pytest.mark.parametrize("dtype", EXTREMES)
def test_starts_of_every_type_are_clamped(dtype, when):
    x = numbers((300,))
    new = -numbers((3,)) - 1
    starts = [jnp.asarray(np.asarray(v).astype(dtype)) for v in EXTREMES[dtype]]

    def both(start):
        return dynamic_slice(x, [start], (3,)), dynamic_update_slice(
            x, new, start[None]
        )

    if when == "const":
        # Constants of the program, which XLA folds by rules of its own.
        results = jax.jit(lambda: [both(start) for start in starts])()
    else:
        call = jax.jit(both) if when == "jit" else both
        results = [call(start) for start in starts]
    for value, (taken, updated) in zip(EXTREMES[dtype], results, strict=True):
        np.testing.assert_array_equal(taken, slice_oracle(x, [value], (3,)))
        np.testing.assert_array_equal(updated, update_oracle(x, new, [value]))


@pytest.mark.parametrize("with_x64", [False, True])
def test_python_ints_of_any_size(with_x64, mode):
    x = numbers((300,))
    values = [-(2**40), -1, 3, 200, 2**31, 2**32, 2**64 + 1]
    with jax.enable_x64(with_x64):
        results = mode(lambda x: [dynamic_slice(x, [v], (3,)) for v in values])(x)
    for value, got in zip(values, results, strict=True):
        np.testing.assert_array_equal(got, slice_oracle(x, [value], (3,)))


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("with_x64", [False, True])
def test_64_bit_starts_do_not_wrap(dtype, with_x64):
    # Without x64 JAX would keep the low halves of these numpy values.
    x = numbers((300,))
    values = [2, 2**31, 2**32, 2**33 + 5, 2**63 - 1]
    values += [-1, -(2**32) + 7] if dtype == "int64" else [2**63, 2**64 - 1]
    starts = [np.array([v]).astype(dtype) for v in values]

    def take(start):
        return dynamic_slice(x, start, (3,))

    with jax.enable_x64(with_x64):
        eager = [take(list(start)) for start in starts]
        constant = jax.jit(lambda: [take(start) for start in starts])()
        traced = [jax.jit(take)(start) for start in starts] if with_x64 else eager
    for results in (eager, constant, traced):
        for value, got in zip(values, results, strict=True):
            np.testing.assert_array_equal(got, slice_oracle(x, [value], (3,)))


def test_starts_of_mixed_types():
    x = numbers((2, 4, 3))
    starts = [jnp.uint32(2**32 - 1), 1, jnp.int8(-5)]
    got = dynamic_slice(x, starts, (1, 2, 2))
    np.testing.assert_array_equal(got, slice_oracle(x, [2**32 - 1, 1, -5], (1, 2, 2)))
    with jax.enable_x64(True):
        starts = [jnp.uint64(2**64 - 1), jnp.int64(-(2**40)), jnp.int32(9)]
        got = jax.jit(lambda *i: dynamic_slice(x, i, (1, 2, 2)))(*starts)
    oracle = slice_oracle(x, [2**64 - 1, -(2**40), 9], (1, 2, 2))
    np.testing.assert_array_equal(got, oracle)


@pytest.mark.parametrize(
    "dtype",
    ["bfloat16", "int4", "uint8", "bool", "complex64", "float16"],
)
def test_operands_of_every_type(dtype, mode):
    x = numbers((4, 3)).astype(dtype)
    new = (numbers((2, 2)) + 1).astype(dtype)
    got = mode(lambda x: dynamic_slice(x, [9, 1], (2, 2)))(jnp.asarray(x))
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, slice_oracle(x, [9, 1], (2, 2)))
    got = mode(lambda x, u: dynamic_update_slice(x, u, [9, 1]))(
        jnp.asarray(x), jnp.asarray(new)
    )
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, update_oracle(x, new, [9, 1]))


def test_prng_keys():
    keys = jax.random.split(jax.random.key(0), 5)
    got = dynamic_slice(keys, [9], (2,))
    np.testing.assert_array_equal(
        jax.random.key_data(got), jax.random.key_data(keys)[3:]
    )
    got = dynamic_update_slice(keys, keys[:1], [-1])
    np.testing.assert_array_equal(jax.random.key_data(got), jax.random.key_data(keys))


def test_scalars_and_empty_slices(mode):
    assert mode(lambda x: dynamic_slice(x, [], ()))(jnp.float32(3)) == 3
    assert (
        mode(lambda x: dynamic_update_slice(x, jnp.float32(7), ()))(jnp.float32(3)) == 7
    )
    x = jnp.arange(5.0)
    assert mode(lambda x: dynamic_slice(x, [7], (0,)))(x).shape == (0,)
    got = mode(lambda x: dynamic_update_slice(x, jnp.zeros((0,)), [7]))(x)
    np.testing.assert_array_equal(got, x)
    empty = jnp.zeros((0, 3), jnp.int32)
    assert mode(lambda x: dynamic_slice(x, [7, 1], (0, 2)))(empty).shape == (0, 2)


def test_python_scalar_takes_the_type_of_the_operand():
    got = dynamic_update_slice(jnp.float16(1), 2, [])
    assert got.dtype == jnp.float16
    assert got == 2


@functools.cache
def jitted(sizes):
    return (
        jax.jit(lambda x, i: dynamic_slice(x, i, sizes)),
        jax.jit(lambda x, u, i: dynamic_update_slice(x, u, i)),
    )


@given(st.data())
def test_random_starts(data):
    shape, sizes = data.draw(st.sampled_from(SHAPES))
    dtype = data.draw(st.sampled_from(["int8", "int32", "uint32"]))
    starts = data.draw(
        st.tuples(*[st.sampled_from(EXTREMES[dtype]) | st.integers(0, 5)] * len(shape))
    )
    x, new = numbers(shape), -numbers(sizes)
    taken, updated = jitted(sizes)
    index = np.array(starts).astype(dtype)
    np.testing.assert_array_equal(taken(x, index), slice_oracle(x, starts, sizes))
    np.testing.assert_array_equal(updated(x, new, index), update_oracle(x, new, starts))


@functools.cache
def chain(steps):
    def run(x, starts):
        for step, start in zip(steps, starts, strict=True):
            if step > 0:
                x = dynamic_slice(x, [start], (step,))
            else:
                x = dynamic_update_slice(x, x[:-step] * 2 + 100, [start])
        return x

    return jax.jit(run)


@given(
    st.sampled_from([(6, 2), (6, 4, 1), (-3, 6), (6, -3, 2), (-4, 5, -2)]),
    st.lists(st.integers(-3, 12), min_size=3, max_size=3),
)
def test_slices_of_slices_clamp_each_for_itself(steps, starts):
    # XLA merges them, and in some versions forgets that the inner one was clamped.
    starts = starts[: len(steps)]
    x = expected = numbers((10,))
    for step, start in zip(steps, starts, strict=True):
        if step > 0:
            expected = slice_oracle(expected, [start], (step,))
        else:
            expected = update_oracle(expected, expected[:-step] * 2 + 100, [start])
    got = chain(steps)(x, np.array(starts, np.int32))
    np.testing.assert_array_equal(got, expected)


def test_derivatives(x64, rng):
    x, new = rng.normal(size=(4, 3)), rng.normal(size=(2, 2))

    @jax.jit
    def f(x, u):
        return (
            dynamic_slice(x, [-1, 9], (2, 2)) ** 3,
            dynamic_update_slice(x, u, np.array([3, 0])) ** 3,
        )

    check_grads(f, (x, new), 2)


@pytest.mark.parametrize("starts", [[-3, 1], [9, 9], [1, 0]])
def test_gradients_go_where_the_slice_was(starts, mode):
    x, update = numbers((4, 3)), numbers((2, 2))
    weights = numbers((4, 3)) + 1

    def f(x, u, s):
        part = dynamic_slice(x, s, (2, 2)) * weights[:2, :2]
        return part.sum() + (dynamic_update_slice(x, u, s) * weights).sum()

    got = mode(jax.grad(f, (0, 1)))(x, update, jnp.array(starts))
    taken = update_oracle(np.zeros_like(x), weights[:2, :2], starts)
    kept = update_oracle(weights, np.zeros((2, 2)), starts)
    np.testing.assert_array_equal(got[0], taken + kept)
    np.testing.assert_array_equal(got[1], slice_oracle(weights, starts, (2, 2)))


@pytest.mark.parametrize(
    "axes", [*itertools.product([None, 0, 1], [None, 0], [None, 1])]
)
def test_vmap_of_slice(axes, rng):
    if axes == (None, None, None):
        axes = (-1, None, None)
    x_axis, i_axis, j_axis = axes
    x = rng.normal(size=(4, 3))
    xs = np.stack([x + 10 * b for b in range(3)])
    i, j = np.array([-4, 1, 9], np.int32), np.array([[2, 0, 5]], np.uint8)
    xs_in = x if x_axis is None else np.moveaxis(xs, 0, x_axis)
    i_in, j_in = (i[1] if i_axis is None else i), (j[0, 1] if j_axis is None else j)

    def f(x, i, j):
        return dynamic_slice(x, [i, j.reshape(())], (2, 2))

    got = jax.vmap(f, in_axes=axes)(xs_in, i_in, j_in)
    for b in range(3):
        starts = (i[1 if i_axis is None else b], j[0, 1 if j_axis is None else b])
        oracle = slice_oracle(x if x_axis is None else xs[b], starts, (2, 2))
        np.testing.assert_allclose(got[b], oracle, rtol=1e-6)


@pytest.mark.parametrize("axes", [*itertools.product([None, 0], [None, 2], [None, 1])])
def test_vmap_of_update(axes, rng):
    if axes == (None, None, None):
        axes = (1, 0, 0)
    x_axis, u_axis, s_axis = axes
    xs = rng.normal(size=(3, 4, 3)).astype(np.float32)
    us = rng.normal(size=(3, 2, 2)).astype(np.float32)
    ss = np.array([[-4, 1], [1, 9], [9, 0]], np.int32)

    def place(values, axis):
        return values[1] if axis is None else np.moveaxis(values, 0, axis)

    arguments = place(xs, x_axis), place(us, u_axis), place(ss, s_axis)
    got = jax.jit(jax.vmap(dynamic_update_slice, in_axes=axes))(*arguments)
    for b in range(3):
        x, u, s = (
            values[1 if axis is None else b]
            for values, axis in zip((xs, us, ss), axes, strict=True)
        )
        np.testing.assert_array_equal(got[b], update_oracle(x, u, s))


def test_nested_vmap_and_grad_of_vmap(rng):
    xs = rng.normal(size=(2, 3, 5)).astype(np.float32)
    starts = np.array([[-1, 2, 9], [0, 4, 1]], np.int32)

    def f(x, i):
        return dynamic_slice(x, [i], (2,)).sum()

    got = jax.vmap(jax.vmap(f))(xs, starts)
    oracle = [
        [slice_oracle(xs[a, b], [starts[a, b]], (2,)).sum() for b in range(3)]
        for a in range(2)
    ]
    np.testing.assert_allclose(got, oracle, rtol=1e-6)
    gradient = jax.grad(lambda xs: jax.vmap(jax.vmap(f))(xs, starts).sum())(xs)
    each = jax.vmap(jax.vmap(jax.grad(f)))(xs, starts)
    for a, b in np.ndindex(2, 3):
        oracle = update_oracle(np.zeros(5, np.float32), np.ones(2), [starts[a, b]])
        np.testing.assert_array_equal(gradient[a, b], oracle)
        np.testing.assert_array_equal(each[a, b], oracle)


@pytest.mark.parametrize("check_vma", [True, False])
def test_inside_shard_map(mesh8, check_vma):
    x = jnp.arange(40.0).reshape(8, 5)
    starts = jnp.array([-1, 0, 1, 2, 3, 4, 5, 9])

    def f(whole, row, start):
        part = dynamic_slice(whole, [start[0], 0], (1, 3))
        return dynamic_update_slice(row, part, [0, start[0]])

    sharded = jax.shard_map(
        f,
        mesh=mesh8,
        in_specs=(P(), P("i"), P("i")),
        out_specs=P("i"),
        check_vma=check_vma,
    )
    got = jax.jit(sharded)(x, -x, starts)
    for i, start in enumerate(starts):
        part = slice_oracle(np.asarray(x), [start, 0], (1, 3))
        oracle = update_oracle(-np.asarray(x)[i : i + 1], part, [0, start])
        np.testing.assert_array_equal(got[i : i + 1], oracle)
    gradient = jax.grad(lambda x: jax.jit(sharded)(x, -x, starts).sum())(x)
    oracle = np.full((8, 5), -1.0)
    for i, start in enumerate(starts):
        column = clamped([start], [5], [3])[0]
        oracle[i, column : column + 3] += 1
    for start in starts:
        oracle[clamped([start], [8], [1])[0], :3] += 1
    np.testing.assert_array_equal(gradient, oracle)


@pytest.mark.parametrize("platform", ["tpu", "cuda", "rocm"])
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int8"])
def test_lowering_for_other_platforms(platform, dtype):
    def f(x, u, i):
        return dynamic_update_slice(x, u + dynamic_slice(x, i, (2,)), i)

    arguments = jnp.zeros(5), jnp.zeros(2), jnp.zeros((1,), dtype)
    lowered = jax.jit(f).trace(*arguments).lower(lowering_platforms=(platform,))
    text = lowered.as_text()
    assert "stablehlo.dynamic_slice" in text
    assert "stablehlo.dynamic_update_slice" in text


@pytest.mark.skipif(SLICES_MERGE_UNCLAMPED, reason="starts are clamped twice there")
def test_lowers_to_what_lax_lowers_to():
    def text(slice_, update):
        def f(x, u, i):
            return update(x, u, [i, 1]), slice_(x, [i, 1], (2, 2))

        arguments = jnp.zeros((4, 3)), jnp.zeros((2, 2)), jnp.int32(0)
        return jax.jit(f).lower(*arguments).as_text()

    plain = {"allow_negative_indices": False}
    assert text(dynamic_slice, dynamic_update_slice) == text(
        lambda x, i, s: lax.dynamic_slice(x, i, s, **plain),
        lambda x, u, i: lax.dynamic_update_slice(x, u, i, **plain),
    )


X = np.zeros((4, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: dynamic_slice(X, [0], (1, 1)),
            ValueError,
            r"dynamic_slice: start_indices must have one entry .*\(4, 3\), got 1",
        ),
        (
            lambda: dynamic_slice(X, jnp.array([0, 0, 0]), (1, 1)),
            ValueError,
            r"dynamic_slice: start_indices must have one entry .*\(4, 3\), got 3",
        ),
        (
            lambda: dynamic_slice(X, [0, 0], (1,)),
            ValueError,
            r"dynamic_slice: slice_sizes must have one entry .*got \(1,\)",
        ),
        (
            lambda: dynamic_slice(X, [0, 0], (1, 4)),
            ValueError,
            r"dynamic_slice: slice_sizes must not be above .*got 4 in dimension 1",
        ),
        (
            lambda: dynamic_slice(X, [0, 0], (1, -1)),
            ValueError,
            r"dynamic_slice: slice_sizes must not hold negative sizes, got \(1, -1\)",
        ),
        (
            lambda: dynamic_slice(X, [0, 1.5], (1, 1)),
            TypeError,
            r"dynamic_slice: start_indices\[1\] must be an array of signed integer",
        ),
        (
            lambda: dynamic_slice(X, [0, True], (1, 1)),
            TypeError,
            r"dynamic_slice: start_indices\[1\] .*got bool",
        ),
        (
            lambda: dynamic_slice(X, [0, jnp.zeros((1,), int)], (1, 1)),
            TypeError,
            r"dynamic_slice: start_indices\[1\] must be a scalar, got int32\[1\]",
        ),
        (
            lambda: dynamic_slice(X, jnp.zeros((2, 1), int), (1, 1)),
            TypeError,
            r"dynamic_slice: start_indices must be .*1-dimensional.*int32\[2, 1\]",
        ),
        (
            lambda: dynamic_slice(X, "01", (1, 1)),
            TypeError,
            r"dynamic_slice: start_indices must be a jax.Array.*'01'",
        ),
        (
            lambda: dynamic_slice([1, 2], [0], (1,)),
            TypeError,
            r"dynamic_slice: operand must be a jax.Array.*list",
        ),
        (
            lambda: dynamic_update_slice(X, np.zeros((5, 1), np.float32), [0, 0]),
            TypeError,
            r"dynamic_update_slice: update must .*\(4, 3\).*got \(5, 1\)",
        ),
        (
            lambda: dynamic_update_slice(X, np.zeros(2, np.float32), [0, 0]),
            TypeError,
            r"dynamic_update_slice: update must have the rank .*got \(2,\)",
        ),
        (
            lambda: dynamic_update_slice(X, np.zeros((1, 1), np.int32), [0, 0]),
            TypeError,
            r"dynamic_update_slice: operands must have the same element type.*int32",
        ),
        (
            lambda: dynamic_update_slice(X, X, [0]),
            ValueError,
            r"dynamic_update_slice: start_indices must have one entry.*got 1",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
