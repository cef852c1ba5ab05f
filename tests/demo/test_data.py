"""The split, the batches and the distortions."""

import sys

import numpy as np
import pytest

from xlaops.demo import data


@pytest.fixture(scope="module")
def digits():
    return data.load()


def test_every_image_is_in_one_part(digits):
    from sklearn.datasets import load_digits

    source = load_digits()
    wanted = sorted(zip(source.images.reshape(-1, 64).tolist(), source.target))  # noqa: B905
    got = [
        (np.round(image * 16).ravel().tolist(), label)
        for images, labels in (
            (digits.train_images, digits.train_labels),
            (digits.test_images, digits.test_labels),
        )
        for image, label in zip(images, labels, strict=True)
    ]
    assert sorted(got) == wanted
    assert digits.train_images.dtype == digits.test_images.dtype == np.float32
    assert digits.train_labels.dtype == digits.test_labels.dtype == np.int32


def test_every_class_has_its_share(digits):
    assert len(digits.test_labels) == 360
    train, test = (
        np.bincount(labels, minlength=10)
        for labels in (digits.train_labels, digits.test_labels)
    )
    assert np.all(np.abs(test - 0.2 * (train + test)) < 1)


def test_the_seed_decides(digits):
    np.testing.assert_array_equal(data.load(0).test_images, digits.test_images)
    assert np.any(data.load(1).test_images != digits.test_images)


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r'pip install "xlaops\[examples\]"'):
        data.load()


def test_training_batches(monkeypatch):
    monkeypatch.setattr(data, "distorted", lambda images, rng: images)
    labels = np.arange(23)
    images = np.broadcast_to(labels.reshape(-1, 1, 1, 1), (23, 2, 2, 1))
    rng = np.random.default_rng(0)
    epochs = [list(data.training_batches(images, labels, 5, rng)) for _ in range(2)]
    for epoch in epochs:
        assert [len(x) for x, _ in epoch] == [5, 5, 5, 5]
        for x, y in epoch:
            np.testing.assert_array_equal(x[:, 0, 0, 0], y)
        seen = np.concatenate([y for _, y in epoch])
        assert len(set(seen)) == 20
    first, second = (np.concatenate([y for _, y in epoch]) for epoch in epochs)
    assert np.any(first != second)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16])
def test_evaluation_batches(count):
    labels = np.arange(1, count + 1)
    images = np.broadcast_to(
        labels.astype(np.float32).reshape(-1, 1, 1, 1), (count, 2, 2, 1)
    )
    batches = list(data.evaluation_batches(images, labels, 8))
    assert {(len(x), len(y), len(w)) for x, y, w in batches} == {(8, 8, 8)}
    x, y, weights = (np.concatenate(part) for part in zip(*batches, strict=True))
    np.testing.assert_array_equal(x[:count], images)
    np.testing.assert_array_equal(y[:count], labels)
    np.testing.assert_array_equal(weights, np.arange(len(weights)) < count)


class _Fixed:
    """A generator that gives chosen numbers: turn, stretches, shifts."""

    def __init__(self, *values):
        self._values = list(values)

    def uniform(self, low, high, size):
        return np.full(size, 0.0) + self._values.pop(0)


def test_no_distortion(rng):
    images = rng.uniform(size=(3, 8, 6, 1)).astype(np.float32)
    got = data.distorted(images, _Fixed(0, 0, 0))
    np.testing.assert_allclose(got, images, atol=1e-6)
    assert got.dtype == np.float32


@pytest.mark.parametrize("rows", [-9, -3, -1, 0, 2, 9])
@pytest.mark.parametrize("columns", [-1, 0, 3])
def test_shift(rng, rows, columns):
    images = rng.uniform(size=(2, 5, 4, 1))
    got = data.distorted(images, _Fixed(0, 0, np.reshape([rows, columns], (2, 1))))
    for i in range(5):
        for j in range(4):
            y, x = i + rows, j + columns
            inside = 0 <= y < 5 and 0 <= x < 4
            wanted = images[:, y, x] if inside else np.zeros((2, 1))
            np.testing.assert_allclose(got[:, i, j], wanted, atol=1e-6)


def test_half_a_pixel():
    images = np.arange(9.0).reshape(1, 3, 3, 1)
    got = data.distorted(images, _Fixed(0, 0, np.reshape([0, 0.5], (2, 1))))
    np.testing.assert_allclose(
        got[0, ..., 0], [[0.5, 1.5, 1], [3.5, 4.5, 2.5], [6.5, 7.5, 4]]
    )


def test_a_quarter_turn(rng):
    images = rng.uniform(size=(2, 5, 5, 1))
    got = data.distorted(images, _Fixed(np.pi / 2, 0, 0))
    np.testing.assert_allclose(got, np.rot90(images, -1, (1, 2)), atol=1e-6)


def test_distortions_are_small_and_differ(digits):
    images = digits.train_images[:64]
    got = data.distorted(images, np.random.default_rng(0))
    assert got.min() >= 0
    assert got.max() <= 1
    correlation = [
        np.corrcoef(a.ravel(), b.ravel())[0, 1]
        for a, b in zip(images, got, strict=True)
    ]
    assert np.mean(correlation) > 0.75
    same = data.distorted(np.repeat(images[:1], 2, 0), np.random.default_rng(0))
    assert np.any(same[0] != same[1])
