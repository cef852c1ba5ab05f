"""The network against one that is written with NumPy loops."""

import jax
import numpy as np
import pytest
import scipy.special
from jax.test_util import check_grads

from xlaops.demo import model, training

_EPSILON = 1e-5


def _random(rng, channels, image_shape, classes):
    """Parameters and statistics of which nothing is zero or one."""
    like = jax.eval_shape(
        lambda: model.init(jax.random.key(0), channels, image_shape, classes)
    )
    parameters, statistics = jax.tree.map(
        lambda x: rng.normal(0, 0.5, x.shape).astype(np.float32), like
    )
    statistics = tuple(m._replace(variance=1 + m.variance**2) for m in statistics)
    return parameters, statistics


def _convolution(x, kernel):
    n, height, width, _ = x.shape
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    y = np.zeros((n, height, width, kernel.shape[-1]))
    for i in range(height):
        for j in range(width):
            patch = padded[:, i : i + 3, j : j + 3]
            y[:, i, j] = np.einsum("nabf,abfg->ng", patch, kernel)
    return y


def _pooled(x):
    n, height, width, features = x.shape
    y = np.full((n, height // 2, width // 2, features), -np.inf)
    for i in range(height // 2 * 2):
        for j in range(width // 2 * 2):
            y[:, i // 2, j // 2] = np.maximum(y[:, i // 2, j // 2], x[:, i, j])
    return y


def _oracle(parameters, statistics, images, is_training):
    x = images.astype(np.float64)
    updated = []
    for i, (block, moments) in enumerate(
        zip(parameters.blocks, statistics, strict=True)
    ):
        x = _convolution(x, block.kernel)
        mean, variance = moments
        if is_training:
            rows = x.reshape(-1, x.shape[-1])
            mean, variance = rows.mean(0), rows.var(0)
            updated.append(
                (
                    0.9 * moments.mean + 0.1 * mean,
                    0.9 * moments.variance + 0.1 * variance,
                )
            )
        x = (x - mean) / np.sqrt(variance + _EPSILON) * block.scale + block.offset
        x = np.maximum(x, 0)
        if i > 0:
            x = _pooled(x)
    x = x.reshape(len(x), -1)
    return x @ parameters.weights + parameters.bias, updated


@pytest.mark.parametrize("image_shape", [(8, 8, 1), (7, 4, 2)], ids=str)
@pytest.mark.parametrize("is_training", [False, True], ids=["inference", "training"])
def test_apply(rng, image_shape, is_training):
    parameters, statistics = _random(rng, (3, 4, 5), image_shape, 6)
    images = rng.normal(size=(5, *image_shape)).astype(np.float32)
    wanted, updated = _oracle(parameters, statistics, images, is_training)
    logits, got = jax.jit(model.apply, static_argnames="training")(
        parameters, statistics, images, training=is_training
    )
    np.testing.assert_allclose(logits, wanted, rtol=1e-3, atol=1e-3)
    if is_training:
        for a, b in zip(jax.tree.leaves(got), sum(updated, ()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    else:
        jax.tree.map(np.testing.assert_array_equal, got, statistics)


def test_gradients_of_the_loss(rng, x64):
    parameters, statistics = jax.tree.map(
        np.float64, _random(rng, (2, 3), (4, 4, 1), 3)
    )
    images, labels = rng.normal(size=(4, 4, 4, 1)), np.array([0, 2, 1, 2])

    @jax.jit
    def loss(parameters):
        value, _ = training.loss(parameters, statistics, images, labels)
        return value

    # The step is small: relu and max pooling have kinks, which it must not cross.
    check_grads(loss, (parameters,), order=1, modes=("fwd", "rev"), eps=1e-6)


def test_cross_entropy(rng):
    logits = rng.normal(0, 30, size=(7, 5)).astype(np.float32)
    logits[0] = [1000, -1000, 0, 0, 0]  # exp of it overflows
    labels = np.array([1, 2, 0, 4, 4, 3, 1])
    wanted = scipy.special.logsumexp(logits.astype(np.float64), axis=1)
    wanted -= logits[np.arange(7), labels]
    got = model.cross_entropy(logits, labels)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def test_predict(rng):
    logits = rng.integers(0, 4, size=(50, 6)).astype(np.float32)
    assert np.any((logits == logits.max(1, keepdims=True)).sum(1) > 1)  # some ties
    np.testing.assert_array_equal(model.predict(logits), logits.argmax(1))
    assert model.predict(logits).dtype == np.int32
    logits[3, 2] = np.nan
    assert model.predict(logits)[3] == 6


def test_init():
    parameters, statistics = model.init(jax.random.key(3), (4, 64), (8, 8, 1), 10)
    assert [b.kernel.shape for b in parameters.blocks] == [(3, 3, 1, 4), (3, 3, 4, 64)]
    assert parameters.weights.shape == (4 * 4 * 64, 10)
    # 2,304 normal numbers: their deviation is known to 1.5 %.
    deviation = np.std(parameters.blocks[1].kernel)
    assert abs(deviation / np.sqrt(2 / (9 * 4)) - 1) < 0.06
    assert {x.dtype for x in jax.tree.leaves((parameters, statistics))} == {
        np.dtype("float32")
    }
    again = model.init(jax.random.key(3), (4, 64), (8, 8, 1), 10)
    jax.tree.map(np.testing.assert_array_equal, (parameters, statistics), again)
    other, _ = model.init(jax.random.key(4), (4, 64), (8, 8, 1), 10)
    assert np.any(other.weights != parameters.weights)
