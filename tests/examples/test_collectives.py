"""The examples of collectives, against the same on one device."""

import importlib.util
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "collectives"


@pytest.fixture(scope="module")
def example():
    def load(name):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_expert_parallel(example, mesh8, rng):
    """Values and all three gradients; one expert gets no token at all."""
    module = example("expert_parallel")
    x = rng.normal(size=(8 * 6, 5)).astype(np.float32)
    router = rng.normal(size=(5, 8)).astype(np.float32)
    router[:, 3] = 0
    x[:, 0], router[0] = 1, np.where(np.arange(8) == 3, -50, 0)
    experts = rng.normal(size=(8, 5, 5)).astype(np.float32)
    chosen = (x @ router).argmax(1)
    assert not (chosen == 3).any()
    weight = np.exp(x @ router - (x @ router).max(1, keepdims=True))
    weight = 1 / weight.sum(1)
    expected = [
        w * np.tanh(row @ experts[k])
        for row, k, w in zip(x, chosen, weight, strict=True)
    ]
    f = module.parallel(mesh8)
    spread = experts.reshape(-1, 5)
    np.testing.assert_allclose(f(x, router, spread), expected, 1e-4, 1e-5)

    def loss(f):
        return lambda *args: (f(*args) ** 2).sum()

    got = jax.jit(jax.grad(loss(f), (0, 1, 2)))(x, router, spread)
    wanted = jax.grad(loss(module.by_hand), (0, 1, 2))(x, router, experts)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a.reshape(b.shape), b, 1e-3, 1e-4)


def test_log_sum_exp(example, mesh8, rng):
    """Of scores whose exponentials overflow; values and gradient by hand."""
    module = example("replica_reductions")
    scores = (100 * rng.normal(size=(4, 24))).astype(np.float32)
    labels = rng.integers(0, 24, 4)
    loss = module.on_devices(module.cross_entropy, (P(None, "i"), P()), P())
    exact = scores.astype(np.float64)
    shifted = np.exp(exact - exact.max(1, keepdims=True))
    at_label = exact[np.arange(4), labels]
    expected = np.log(shifted.sum(1)) + exact.max(1) - at_label
    np.testing.assert_allclose(loss(scores, labels), expected, 1e-5, 1e-4)
    gradient = jax.grad(lambda s: loss(s, labels).sum())(jnp.array(scores))
    of_scores = shifted / shifted.sum(1, keepdims=True)
    of_scores[np.arange(4), labels] -= 1
    np.testing.assert_allclose(gradient, of_scores, 1e-4, 1e-5)


def test_checksum(example, mesh8, rng):
    module = example("replica_reductions")
    check = module.on_devices(module.agree, P("i"), (P(), P()))
    copies = np.stack([rng.normal(size=50).astype(np.float32)] * 8)
    same, total = check(copies)
    assert same
    assert total == 0
    copies[5, 7] = np.nextafter(copies[5, 7], np.float32(9))
    same, total = check(copies)
    assert not same
    assert total == np.bitwise_xor.reduce(copies.view(np.uint32).reshape(-1))


@pytest.mark.parametrize("name", ["expert_parallel", "replica_reductions"])
def test_they_run(example, name, mesh8, capsys):
    example(name).main()
    assert capsys.readouterr().out
