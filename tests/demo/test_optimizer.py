"""Adam against its textbook form in NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest

from xlaops.demo import optimizer


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_update(rng, x64, dtype):
    parameters = {"matrix": rng.normal(size=(2, 3)), "vector": rng.normal(size=4)}
    gradients = [
        {name: rng.normal(size=p.shape) for name, p in parameters.items()}
        for _ in range(5)
    ]

    got = {name: jnp.asarray(p, dtype) for name, p in parameters.items()}
    state = optimizer.init(got)
    for i, gradient in enumerate(gradients):
        gradient = {name: jnp.asarray(g, dtype) for name, g in gradient.items()}
        got, state = optimizer.update(
            got, gradient, state, jnp.float32(0.1 / (i + 1)), weight_decay=0.3
        )

    for name, x in parameters.items():
        m, v = np.zeros_like(x), np.zeros_like(x)
        decay = 0.3 if x.ndim > 1 else 0.0
        for t, gradient in enumerate(gradients, 1):
            g = gradient[name]
            m = 0.9 * m + 0.1 * g
            v = 0.999 * v + 0.001 * g**2
            step = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            x = x - 0.1 / t * (step + decay * x)
        np.testing.assert_allclose(got[name], x, rtol=1e-4, atol=1e-5)
        assert got[name].dtype == dtype
    assert state.steps == 5


def test_a_parameter_without_gradient_stays():
    x = jnp.array([1.0, 2.0])
    new, _ = optimizer.update(x, jnp.zeros(2), optimizer.init(x), jnp.float32(0.1))
    np.testing.assert_array_equal(new, x)


def test_cosine_decay():
    got = [optimizer.cosine_decay(jnp.float32(s), 8, 0.5) for s in (0, 2, 4, 8)]
    wanted = [0.5, 0.25 * (1 + np.sqrt(0.5)), 0.25, 0]
    np.testing.assert_allclose(got, wanted, atol=1e-7)
