"""`jax.vmap` of every operation against a loop over the oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops import oracles
from ops.cases import TRANSFORMED, case_id
from ops.cases.agreement import assert_is

import xlaops as xo

BATCH = 3
LOOSER = 4.0  # a batched program adds up in another order


def draws(case, rng, count=BATCH):
    return [case.arguments(rng, case.dtypes[0]) for _ in range(count)]


def patterns(case):
    """Which operands are mapped, and over which of their dimensions."""
    count = len(case.arguments(np.random.default_rng(0), case.dtypes[0]))
    mapped = case.mapped_operands()
    alone = [tuple(0 if i == j else None for i in range(count)) for j in mapped]
    together = tuple(-(i % 2) if i in mapped else None for i in range(count))
    first = tuple(0 if i in mapped else None for i in range(count))
    return list(dict.fromkeys([*alone, together, first]))


def stacked(rows, in_axes):
    return tuple(
        rows[0][i]
        if axis is None
        else jnp.stack([jnp.asarray(row[i]) for row in rows], axis)
        for i, axis in enumerate(in_axes)
    )


@pytest.mark.parametrize("case", TRANSFORMED, ids=case_id)
def test_vmap_is_a_loop(case, rng):
    rows = draws(case, rng)
    every = patterns(case)
    program = jax.jit(
        lambda inputs: [
            jax.vmap(case.call, in_axes)(*operands)
            for in_axes, operands in zip(every, inputs, strict=True)
        ]
    )
    results = program([stacked(rows, in_axes) for in_axes in every])
    for in_axes, got in zip(every, results, strict=True):
        expected = [
            case.expected(
                *(rows[0 if a is None else k][i] for i, a in enumerate(in_axes))
            )
            for k in range(BATCH)
        ]
        assert_is(case, got, np.stack(expected), looser=LOOSER)


NESTED = ("Pow", "Add", "Clamp", "clamp-scalar bounds", "Pad", "ConcatInDim", "Select")
NESTED += ("LtTotalOrder", "DotGeneral", "While", "BroadcastInDim", "Div", "Rem")
NESTED += ("DynamicSlice", "DynamicUpdateSlice", "Gather", "gather-batching", "Fft")
NESTED += ("RaggedDot", "Cholesky", "TriangularSolve", "scan-outputs", "Call")
NESTED += ("top_k-largest", "top_k-smallest", "OptimizationBarrier")


@pytest.mark.parametrize(
    "case", [c for c in TRANSFORMED if c.name in NESTED], ids=case_id
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_nested_vmap(case, dtype, rng):
    """The first operand mapped outside, the last one inside."""
    if dtype not in case.dtypes:
        pytest.skip("not a type of this case")
    rows = [case.arguments(rng, dtype) for _ in range(BATCH)]
    last = len(rows[0]) - 1
    outer = tuple(0 if i == 0 else None for i in range(last + 1))
    inner = tuple(0 if i == last else None for i in range(last + 1))
    if last == 0:
        operands = (jnp.stack([jnp.stack([rows[i][0]] * 2) for i in range(BATCH)]),)
    else:
        mapped = tuple(0 if i in (0, last) else None for i in range(last + 1))
        operands = stacked(rows, mapped)
    got = jax.jit(jax.vmap(jax.vmap(case.call, inner), outer))(*operands)
    for i, j in np.ndindex(got.shape[:2]):
        row = [rows[0][k] for k in range(last + 1)]
        row[0] = rows[i][0]
        if last:
            row[last] = rows[j][last]
        assert_is(case, got[i, j], case.expected(*row), looser=LOOSER)


def test_out_axes_and_negative_in_axes(rng):
    x = rng.normal(size=(3, 4)).astype(np.float32)
    y = rng.normal(size=(4,)).astype(np.float32)
    got = jax.vmap(xo.add, in_axes=(-1, 0), out_axes=1)(x, y)
    np.testing.assert_array_equal(got, x + y[None, :])


def test_predicate_that_differs_in_a_batch():
    pred = jnp.array([True, False, True])
    x = jnp.array([1.0, 2.0, 3.0])

    def f(p, v):
        return xo.conditional(p, v, lambda t: t * 10, v, lambda t: -t)

    np.testing.assert_array_equal(jax.vmap(f)(pred, x), [10.0, -2.0, 30.0])


def test_branch_index_that_differs_in_a_batch():
    """Out of range on either side it is the last branch, also in a batch."""
    index = jnp.array([0, 1, 2, 3, -1, -(2**31)], jnp.int32)
    branches = [lambda v: v + 1, lambda v: v * 10, lambda v: v - 5]

    def f(i, v):
        return xo.conditional(i, branches, [v, v, v])

    got = jax.vmap(f, in_axes=(0, None))(index, jnp.float32(2))
    np.testing.assert_array_equal(got, [3.0, 20.0, -3.0, -3.0, -3.0, -3.0])


def test_while_condition_that_differs_in_a_batch():
    def f(limit):
        return xo.while_(lambda s: s[0] < limit, lambda s: (s[0] + 1, s[1] * 2), (0, 1))

    count, power = jax.vmap(f)(jnp.array([0, 3, 5]))
    np.testing.assert_array_equal(count, [0, 3, 5])
    np.testing.assert_array_equal(power, [1, 8, 32])


UNIFORM = [("float32", "f32"), ("bfloat16", "bf16"), ("int32", "s32"), ("int8", "s8")]
UNIFORM += [("uint32", "u32")]


@pytest.mark.parametrize(("dtype", "name"), UNIFORM)
def test_uniform_bounds_of_each_row(dtype, name):
    """Every row is uniform over its own interval, and rows are different draws."""
    low, high = jnp.array([0, 10, 0], dtype), jnp.array([4, 30, 4], dtype)
    got = jax.vmap(lambda a, b: xo.rng_uniform(a, b, f"{name}[2000]"))(low, high)
    assert got.shape == (3, 2000)
    assert got.dtype == dtype
    for k in range(3):
        oracles.check_uniform(
            np.asarray(got[k]), np.asarray(low[k]), np.asarray(high[k])
        )
    assert np.any(np.asarray(got[0]) != np.asarray(got[2]))


def test_uniform_with_one_bound_mapped():
    high = jnp.array([1.0, 100.0])
    got = jax.vmap(lambda b: xo.rng_uniform(0.0, b, "f32[2000]"))(high)
    for k in range(2):
        oracles.check_uniform(np.asarray(got[k]), np.float32(0), np.asarray(high[k]))


def test_uniform_of_the_whole_int32_range():
    low, high = jnp.full(2, -(2**31), jnp.int32), jnp.full(2, 2**31 - 1, jnp.int32)
    got = jax.vmap(lambda a, b: xo.rng_uniform(a, b, "s32[2000]"))(low, high)
    for k in range(2):
        oracles.check_uniform(
            np.asarray(got[k]), np.asarray(low[k]), np.asarray(high[k])
        )


def test_normal_parameters_of_each_row():
    mu, sigma = jnp.array([0.0, 50.0, 0.0]), jnp.array([1.0, 3.0, 1.0])
    got = jax.vmap(lambda m, s: xo.rng_normal(m, s, "f32[2000]"))(mu, sigma)
    for k in range(3):
        oracles.check_normal(
            np.asarray(got[k]), np.asarray(mu[k]), np.asarray(sigma[k])
        )
    assert np.any(np.asarray(got[0]) != np.asarray(got[2]))


def test_random_rows_without_mapped_parameters_are_drawn_once():
    """What does not depend on the batch is computed once, as everywhere in JAX."""
    f = functools.partial(xo.rng_uniform, 0.0, 1.0, "f32[10]")
    got = jax.vmap(lambda x: f() + x)(jnp.zeros(2))
    np.testing.assert_array_equal(got[0], got[1])
