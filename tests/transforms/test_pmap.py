"""Operations under `jax.pmap`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.cases import TRANSFORMED, case_id
from ops.cases.agreement import assert_is

import xlaops as xo

DEVICES = 8
NAMES = ("Add", "Pow", "LtTotalOrder", "Clamp", "Pad", "DotGeneral", "Div", "Conv")
NAMES += ("ConcatInDim", "Select", "Cbrt", "While", "conditional-True", "Rem", "Max")
NAMES += ("convert_element_type-to f32", "conditional-branch -1", "BroadcastInDim")
CASES = [case for case in TRANSFORMED if case.name in NAMES]


@pytest.fixture(autouse=True)
def _devices(mesh8):
    """Skips where there are not eight."""


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_devices_are_a_loop(case, rng):
    """All operands mapped, and the first one alone."""
    rows = [case.arguments(rng, case.dtypes[0]) for _ in range(DEVICES)]
    count = len(rows[0])
    for mapped in {(True,) * count, (True,) + (False,) * (count - 1)}:
        operands = tuple(
            jnp.stack([jnp.asarray(row[i]) for row in rows])
            if mapped[i]
            else jnp.asarray(rows[0][i])
            for i in range(count)
        )
        in_axes = tuple(0 if m else None for m in mapped)
        got = np.asarray(jax.pmap(case.call, in_axes=in_axes)(*operands))
        for k in range(DEVICES):
            row = (rows[k if mapped[i] else 0][i] for i in range(count))
            assert_is(case, got[k], case.expected(*row))


def test_gradient_inside(rng):
    x = rng.uniform(1, 2, (8, 3)).astype(np.float32)
    y = rng.uniform(1, 2, 3).astype(np.float32)

    def f(x, y):
        return jax.grad(lambda a, b: xo.pow(a, b).sum(), argnums=(0, 1))(x, y)

    dx, dy = jax.pmap(f, in_axes=(0, None))(x, y)
    np.testing.assert_allclose(dx, y * x ** (y - 1), rtol=1e-5)
    np.testing.assert_allclose(dy, x**y * np.log(x), rtol=1e-5, atol=1e-6)


def test_devices_draw_their_own_numbers():
    got = jax.pmap(lambda x: xo.rng_uniform(x, 1.0, "f32[50]"))(jnp.zeros(8))
    assert len({tuple(row) for row in np.asarray(got).tolist()}) == 8
