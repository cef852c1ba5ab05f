"""The picture: its format, its size, and the colour of mistakes."""

import struct
import sys

import matplotlib.image
import numpy as np
import pytest

from xlaops.demo import picture


def _size(path):
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", content[16:24])


def _red(path):
    """The share of red pixels in each tenth of the width of the first row."""
    pixels = matplotlib.image.imread(path)[..., :3]
    red = (pixels[..., 0] > 0.6) & (pixels[..., 1:].max(-1) < 0.35)
    return [part.mean() for part in np.array_split(red, 10, axis=1)]


@pytest.mark.parametrize(("n", "rows"), [(1, 1), (10, 1), (11, 2), (99, 4)])
def test_size(tmp_path, rng, n, rows):
    path = tmp_path / "digits.png"
    labels = np.arange(n) % 10
    picture.draw(rng.uniform(size=(n, 8, 8, 1)), labels, labels, path)
    width, height = _size(path)
    assert width == 1224
    assert height == pytest.approx(120 * (0.85 + 0.2 + 1.22 * rows), abs=1)


def test_mistakes_come_first_and_are_red(tmp_path, rng):
    images, labels = rng.uniform(size=(10, 8, 8, 1)), np.arange(10)
    predictions = labels.copy()
    picture.draw(images, labels, predictions, tmp_path / "right.png")
    assert max(_red(tmp_path / "right.png")) == 0
    predictions[[4, 7]] = 0
    picture.draw(images, labels, predictions, tmp_path / "wrong.png")
    red = _red(tmp_path / "wrong.png")
    # The second frame may reach a little into the third tenth.
    assert min(red[:2]) > 0.03
    assert max(red[2:]) < 0.02
    assert max(red[3:]) == 0


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "xlaops\[examples\]"'):
        picture.require_matplotlib()
