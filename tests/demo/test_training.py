"""Training: many devices do what one does, and the digits are learnt."""

import functools

import jax
import numpy as np
import pytest

from xlaops.demo import data, training

_CHANNELS = (4, 6)


@pytest.fixture(scope="module")
def digits():
    return data.load()


@pytest.fixture(scope="module")
def mesh():
    if len(jax.devices()) < 8:
        pytest.skip("needs 8 devices")
    return training.mesh_of(jax.devices()[:8])


def test_eight_devices_step_as_one(digits, mesh):
    batch = digits.train_images[:64], digits.train_labels[:64]
    state = training.init(1, _CHANNELS)
    one, loss = jax.jit(functools.partial(training.step, total_steps=10))(state, *batch)
    many, loss_of_many = training.parallel_step(mesh, 10)(state, *batch)
    np.testing.assert_allclose(loss_of_many, loss, rtol=1e-5)
    close = functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6)
    jax.tree.map(close, many.statistics, one.statistics)
    # After one step this is a tenth of the gradient.
    jax.tree.map(close, many.adam.first, one.adam.first)
    largest = jax.tree.map(lambda x: np.abs(x).max(), one.adam.first)
    assert min(jax.tree.leaves(largest)) > 1e-4
    # Adam's first step has the size of the learning rate however small the gradient is:
    # where that is mere rounding, nothing can be compared.
    for a, b, gradient in zip(
        jax.tree.leaves(many.parameters),
        jax.tree.leaves(one.parameters),
        jax.tree.leaves(one.adam.first),
        strict=True,
    ):
        known = np.abs(gradient) > 1e-5
        np.testing.assert_allclose(a[known], b[known], rtol=1e-3, atol=1e-5)


def test_eight_devices_evaluate_as_one(digits, mesh):
    state = training.init(1, _CHANNELS)
    (batch,) = data.evaluation_batches(
        digits.test_images[:50], digits.test_labels[:50], 64
    )
    losses, right, predictions = training.parallel_evaluate(mesh)(state, *batch)
    one = jax.jit(training.evaluate)(state, *batch)
    np.testing.assert_allclose(losses, one[0], rtol=1e-5)
    np.testing.assert_array_equal(predictions, one[2])
    assert right == one[1] == np.sum(predictions[:50] == digits.test_labels[:50])


def test_64_bit_types_change_nothing(digits, x64):
    batch = digits.train_images[:64], digits.train_labels[:64]
    state = jax.eval_shape(lambda: training.init(1, _CHANNELS))
    after = jax.eval_shape(
        functools.partial(training.step, total_steps=10), state, *batch
    )
    assert {x.dtype for x in jax.tree.leaves((state, after))} == {np.dtype("float32")}


def test_blanks_do_not_count(digits):
    state = training.init(1, _CHANNELS)
    images, labels = digits.test_images[:8], digits.test_labels[:8]
    evaluate = jax.jit(training.evaluate)
    weights = np.float32([1, 1, 1, 0, 1, 0, 0, 0])
    losses, right, predictions = evaluate(state, images, labels, weights)
    singly = [
        evaluate(state, images, labels, np.eye(8, dtype=np.float32)[i])
        for i in np.flatnonzero(weights)
    ]
    np.testing.assert_allclose(losses, sum(s[0] for s in singly), rtol=1e-5)
    assert right == np.sum(weights * (predictions == labels))


def test_the_digits_are_learnt(digits, mesh):
    calls = []
    result = training.fit(
        digits, jax.devices()[:8], epochs=10, report=lambda *call: calls.append(call)
    )
    assert result.accuracy >= 0.97
    assert result.correct == np.sum(result.predictions == digits.test_labels)
    assert result.predictions.shape == digits.test_labels.shape
    assert result.images == 10 * 1408
    assert 0 < result.test_loss < 0.2
    assert 0 < result.train_loss < 0.5
    assert [done for done, *_ in calls] == list(range(111))
    assert {total for _, total, _ in calls} == {110}
    assert calls[0][2] == "compiling"
    assert calls[-1][2].startswith("epoch 10/10, loss 0.")


def test_the_seed_decides(digits):
    # On two devices: 126 images a batch do not divide by 8.
    fit = functools.partial(
        training.fit,
        digits,
        jax.devices()[:2],
        epochs=1,
        batch_size=126,
        channels=(4,),
    )
    first, again, other = fit(seed=1), fit(seed=1), fit(seed=2)
    assert first.test_loss == again.test_loss
    np.testing.assert_array_equal(first.predictions, again.predictions)
    assert first.test_loss != other.test_loss


@pytest.mark.parametrize(
    ("devices", "batch_size", "message"),
    [
        (8, 100, "batch_size must be a multiple of the number of devices 8, got 100"),
        (1, 0, "batch_size must be between 1 and the number of images 50, got 0"),
        (1, 51, "batch_size must be between 1 and the number of images 50, got 51"),
        (64, None, "number of images 50, got 128"),
    ],
)
def test_batch_sizes_that_do_not_fit(devices, batch_size, message):
    images = 1437 if batch_size == 100 else 50
    with pytest.raises(ValueError, match=f"fit: .*{message}"):
        training.fitting_batch_size(images, devices, batch_size)


def test_batch_size_fits_the_devices():
    sizes = [training.fitting_batch_size(1437, n, None) for n in (1, 3, 8, 200)]
    assert sizes == [128, 126, 128, 200]


def test_no_epochs(digits):
    with pytest.raises(ValueError, match="fit: epochs must be at least 1, got 0"):
        training.fit(digits, epochs=0)
