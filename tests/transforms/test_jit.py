"""Operations under `jax.jit`, `jax.lax.scan` and `jax.checkpoint`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops import oracles
from ops.cases import TRANSFORMED, case_id, dtype_of
from ops.cases.agreement import assert_is, is_wide

import xlaops as xo

NAMES = ("Add", "Pow", "LtTotalOrder", "Clamp", "Pad", "DotGeneral", "Div", "Conv")
NAMES += ("conditional-branch 3", "ConcatInDim", "Select", "Cbrt", "While", "Sort")
NAMES += ("Cholesky", "DynamicUpdateSlice", "Gather", "RaggedDot", "TriangularSolve")
NAMES += ("Constant", "Call", "OptimizationBarrier", "scan-outputs", "top_k-largest")
NAMES += ("rng_bit_generator-RNG_PHILOX of 3 data", "fft-to real")
FEW = [case for case in TRANSFORMED if case.name in NAMES]


def assert_close(got, expected):
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if oracles.kind(got.dtype) in "biu":
        np.testing.assert_array_equal(got, expected)
        return
    tolerance = 4 * float(jnp.finfo(got.dtype).eps)
    if got.dtype == "complex64":
        tolerance *= 4  # which XLA computes and folds by different formulas
    else:
        got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", TRANSFORMED, ids=case_id)
def test_constants_fold_to_the_oracles_result(case, rng):
    """Operands of every kind that XLA knows when it compiles.

    `ops/test_table.py` has jitted functions of arguments.
    """
    kinds = {oracles.kind(dtype_of(t)): t for t in case.dtypes if not is_wide(case, t)}
    rows = [case.arguments(rng, t) for t in kinds.values()]
    assert rows
    arrays = [tuple(map(jnp.asarray, row)) for row in rows]
    results = jax.jit(lambda: [case.call(*row) for row in arrays])()
    for got, row in zip(results, rows, strict=True):
        assert_is(case, got, case.expected(*row))


@pytest.mark.parametrize("case", FEW, ids=case_id)
def test_scan(case, rng):
    """The operands of each step; the result in the carry's place is accumulated."""
    rows = [case.arguments(rng, case.dtypes[0]) for _ in range(3)]
    xs = tuple(
        jnp.stack([jnp.asarray(r[i]) for r in rows]) for i in range(len(rows[0]))
    )
    _, got = jax.lax.scan(lambda c, row: (c, case.call(*row)), 0, xs)
    assert_is(case, got, np.stack([case.expected(*row) for row in rows]))


@pytest.mark.parametrize("case", [c for c in FEW if c.gradient == "yes"], ids=case_id)
def test_checkpoint(case, rng):
    """The same gradient when the forward pass is computed again."""
    operands = [jnp.asarray(x) for x in case.smooth_operands(rng, "float32")]
    index = case.derivative_operands()

    def loss(*xs):
        result = case.call(*xs)
        return (result * result).sum()

    plain = jax.jit(jax.grad(loss, argnums=index))(*operands)
    again = jax.jit(jax.grad(jax.checkpoint(loss), argnums=index))(*operands)
    for a, b in zip(plain, again, strict=True):
        assert_close(a, b)


def test_equal_static_arguments_share_one_program():
    """A list, a tuple and numpy integers are the same sizes."""
    x = jnp.ones((2, 3))
    traces = []

    def f(v, sizes):
        traces.append(sizes)
        return xo.broadcast(v, sizes)

    jitted = jax.jit(f, static_argnums=1)
    for sizes in ((2,), (np.int64(2),), (2,)):
        assert jitted(x, sizes).shape == (2, 2, 3)
    assert xo.broadcast(x, [2]).shape == xo.broadcast(x, np.array([2])).shape
    assert len(traces) == 1


def test_nothing_is_left_of_the_eager_path():
    """No call is in the program: the operation is inlined."""
    text = jax.jit(xo.add).lower(jnp.ones(3), jnp.ones(3)).as_text()
    assert "call @" not in text
    constant = jnp.ones(3)
    text = jax.jit(lambda: xo.add(constant, constant)).lower().as_text()
    assert "call @" not in text


def test_disable_jit():
    with jax.disable_jit():
        assert xo.add(jnp.float32(1), 2.0) == 3
        assert xo.pow(jnp.int32(3), 2) == 9
        assert xo.while_(lambda v: v < 10, lambda v: v * 2, jnp.int32(1)) == 16


def test_programs_are_told_apart_by_x64():
    x = np.array([2**40 + 1], np.int64)
    narrow = xo.add(x, x)
    with jax.enable_x64(True):
        wide = xo.add(x, x)
    assert narrow.dtype == "int32"
    assert wide.dtype == "int64"
    assert wide.tolist() == [2**41 + 2]


def test_random_numbers_in_a_loop_differ():
    def body(carry, _):
        return carry, xo.rng_uniform(0.0, 1.0, "f32[4]")

    _, got = jax.lax.scan(body, 0, None, length=3)
    assert len(np.unique(np.asarray(got))) == 12


def test_a_tracer_in_a_closure():
    """Of loops and branches, which are given functions."""

    @jax.jit
    def f(x, limit):
        y = xo.while_(lambda v: v < limit, lambda v: v + x, x)
        return xo.conditional(limit > 5, y, lambda v: v * x, y, lambda v: v - x)

    assert f(2.0, 7.0) == 16.0
    assert f(2.0, 3.0) == 2.0
