"""Handwritten digits: loading, splitting and batching, on the host with NumPy."""

import dataclasses
from collections.abc import Iterator

import numpy as np

CLASSES = 10


@dataclasses.dataclass(frozen=True, eq=False)
class Digits:
    """Images and labels, to train with and to test with.

    Attributes:
      train_images: float32[n, 8, 8, 1], ink between 0 and 1.
      train_labels: int32[n], the digits.
      test_images: float32[m, 8, 8, 1].
      test_labels: int32[m].
    """

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load(seed: int = 0, test_fraction: float = 0.2) -> Digits:
    """The 1,797 digits that scikit-learn carries, split by chance.

    Each digit has the same share in both parts, up to rounding.

    Args:
      seed: of the split; the same seed gives the same one.
      test_fraction: share of the images that is kept for the test.

    Returns:
      The digits.

    Raises:
      ImportError: if scikit-learn is not installed.

    Example:
      >>> from xlaops.demo import data
      >>> digits = data.load()
      >>> digits.train_images.shape, digits.test_images.shape
      ((1437, 8, 8, 1), (360, 8, 8, 1))
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError(
            "the digits are scikit-learn's, which cannot be imported: "
            'pip install "xlaops[examples]"'
        ) from error
    pixels, target = load_digits(return_X_y=True)
    images = (np.reshape(pixels, (-1, 8, 8, 1)) / 16).astype(np.float32)
    labels = np.asarray(target, np.int32)
    train, test = _stratified(labels, test_fraction, np.random.default_rng(seed))
    return Digits(images[train], labels[train], images[test], labels[test])


def _stratified(
    labels: np.ndarray, fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Two sets of indices; of each class the second has the given fraction."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    # Class by class, each index moves a counter on by the fraction, and is taken for
    # the test when the counter passes a whole number: so the sizes add up as well.
    counter = np.ceil(np.arange(len(labels) + 1) * fraction)
    chosen = np.diff(counter) > 0
    return np.sort(order[~chosen]), np.sort(order[chosen])


def training_batches(
    images: np.ndarray, labels: np.ndarray, batch_size: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The batches of one epoch, shuffled and distorted.

    What is left over at the end, and would make a smaller batch, is left out.

    Args:
      images: float32[n, height, width, 1].
      labels: int32[n].
      batch_size: images in a batch.
      rng: where order and distortions come from.

    Yields:
      Images and labels of each batch.

    Example:
      >>> import numpy as np
      >>> from xlaops.demo import data
      >>> images, labels = np.zeros((10, 8, 8, 1), np.float32), np.arange(10)
      >>> rng = np.random.default_rng(0)
      >>> [len(y) for x, y in data.training_batches(images, labels, 4, rng)]
      [4, 4]
    """
    order = rng.permutation(len(images))
    for start in range(0, len(images) - batch_size + 1, batch_size):
        chosen = order[start : start + batch_size]
        yield distorted(images[chosen], rng), labels[chosen]


def evaluation_batches(
    images: np.ndarray, labels: np.ndarray, batch_size: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """All images in order, in batches of one size: the last one is filled with blanks.

    Args:
      images: float32[n, height, width, 1].
      labels: int32[n].
      batch_size: images in a batch.

    Yields:
      Images, labels and weights of each batch; a weight is 1 for an image, 0 for a
      blank.

    Example:
      >>> import numpy as np
      >>> from xlaops.demo import data
      >>> images, labels = np.zeros((3, 8, 8, 1), np.float32), np.arange(3)
      >>> batches = data.evaluation_batches(images, labels, 2)
      >>> [weights.tolist() for *_, weights in batches]
      [[1.0, 1.0], [1.0, 0.0]]
    """
    for start in range(0, len(images), batch_size):
        x, y = images[start : start + batch_size], labels[start : start + batch_size]
        weights = np.ones(len(x), np.float32)
        missing = batch_size - len(x)
        if missing:
            x = np.pad(x, [(0, missing), (0, 0), (0, 0), (0, 0)])
            y, weights = np.pad(y, (0, missing)), np.pad(weights, (0, missing))
        yield x, y, weights


def distorted(
    images: np.ndarray,
    rng: np.random.Generator,
    angle: float = 0.2,
    stretch: float = 0.12,
    shift: float = 0.6,
) -> np.ndarray:
    """Each image a little turned, stretched and shifted, as another hand might write.

    Args:
      images: float32[n, height, width, 1].
      rng: where the distortions come from.
      angle: greatest turn, in radians.
      stretch: greatest relative change of height and of width.
      shift: greatest shift in each direction, in pixels.

    Returns:
      New images of the same shape and type; what comes from outside is blank.

    Example:
      >>> import numpy as np
      >>> from xlaops.demo import data
      >>> images = np.ones((5, 8, 8, 1), np.float32)
      >>> data.distorted(images, np.random.default_rng(0)).shape
      (5, 8, 8, 1)
    """
    n, height, width, _ = images.shape
    turn = rng.uniform(-angle, angle, n)
    scale = 1 + rng.uniform(-stretch, stretch, (2, n))
    move = rng.uniform(-shift, shift, (2, n))

    # Where each pixel of the result lies in its source, measured from the middle.
    y, x = np.meshgrid(
        np.arange(height) - (height - 1) / 2,
        np.arange(width) - (width - 1) / 2,
        indexing="ij",
    )
    cos, sin = (f(turn)[:, np.newaxis, np.newaxis] for f in (np.cos, np.sin))
    scale, move = (a[:, :, np.newaxis, np.newaxis] for a in (scale, move))
    rows = scale[0] * (cos * y - sin * x) + move[0] + (height - 1) / 2
    columns = scale[1] * (sin * y + cos * x) + move[1] + (width - 1) / 2

    # Bilinear interpolation between the four pixels around. Two blank pixels on every
    # side stand for all that is outside.
    padded = np.pad(images[..., 0], [(0, 0), (2, 2), (2, 2)])
    rows = np.clip(rows + 2, 0, height + 2.999)
    columns = np.clip(columns + 2, 0, width + 2.999)
    top, left = rows.astype(int), columns.astype(int)
    down, right = rows - top, columns - left
    index = np.arange(n)[:, np.newaxis, np.newaxis]
    upper = (1 - right) * padded[index, top, left] + right * padded[
        index, top, left + 1
    ]
    lower = (1 - right) * padded[index, top + 1, left] + right * padded[
        index, top + 1, left + 1
    ]
    result = (1 - down) * upper + down * lower
    return result[..., np.newaxis].astype(images.dtype)
