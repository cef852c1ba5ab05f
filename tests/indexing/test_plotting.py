"""Pictures: what is in them, read back from the axes and from the files."""

import sys
import warnings
import xml.etree.ElementTree as ET

import jax
import jax.numpy as jnp
import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from xlaops.indexing import IndexingMap, analyze, plot, sparsity


def struct(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


def marked(axis):
    """The elements that a layer above the first one colours."""
    (_, layer) = axis.images
    return np.argwhere(np.asarray(layer.get_array())[..., 3] > 0).tolist()


def test_a_pattern_is_its_matrix():
    pattern = sparsity(lambda x: x[2:] - x[:-2], struct(12))
    figure = plot(pattern)
    assert isinstance(figure, Figure)
    (axis,) = figure.axes
    (image,) = axis.images
    np.testing.assert_array_equal(image.get_array() > 0, pattern.dense())
    assert axis.get_title() == "10 x 12, 20 elements"
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("args[0]", "result")
    assert plot(pattern, title="mine").axes[0].get_title() == "mine"


def test_arrays_are_divided_by_lines():
    pattern = sparsity(lambda x, y: (x + y[0], y), struct(3), struct(2), argnums=None)
    (axis,) = plot(pattern).axes
    across, down = axis.lines
    assert list(down.get_xdata()) == [2.5, 2.5]
    assert list(across.get_ydata()) == [2.5, 2.5]
    assert axis.get_xlabel() == "args[0], args[1]"


def test_large_patterns_fit():
    pattern = sparsity(lambda x: x[1:] - x[:-1], struct(20_000))
    (image,) = plot(pattern).axes[0].images
    pixels = np.asarray(image.get_array()) > 0
    assert pixels.shape == (512, 512)
    assert np.all(np.diag(pixels))
    assert np.count_nonzero(pixels) <= 3 * 512


def test_an_access_pattern():
    analysis = analyze(lambda x: x[:, 1:] + x[:, :-1], struct(3, 5))
    left, right, _ = plot(analysis, element=(1, 2)).axes
    assert marked(left) == [[1, 2]]
    assert marked(right) == [[1, 2], [1, 3]]
    counts = np.asarray(right.images[0].get_array())
    np.testing.assert_array_equal(counts, [[1, 2, 2, 2, 1]] * 3)
    assert left.get_title() == "element (1, 2) of the result"
    assert right.get_title() == "reads 2 of 15 elements"
    # Without one it is the element in the middle.
    assert marked(plot(analysis).axes[0]) == [[1, 2]]


def test_more_dimensions_are_rows():
    analysis = analyze(lambda x: x.transpose(2, 0, 1), struct(2, 3, 4))
    left, right, _ = plot(analysis, element=(3, 1, 2)).axes
    assert marked(left) == [[3 * 2 + 1, 2]]
    assert marked(right) == [[1 * 3 + 2, 3]]


def test_scalars_and_results_by_name():
    analysis = analyze(lambda x, y: {"a": x.sum() * y, "b": y}, struct(2, 2), struct())
    left, right, _ = plot(analysis, title="sum").axes
    assert marked(left) == [[0, 0]]
    assert len(marked(right)) == 4
    figure = plot(analysis, output="result['b']", input=1)
    assert marked(figure.axes[1]) == [[0, 0]]


def test_maps():
    text = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [0, 2]"
    for what in (IndexingMap.parse(text), [IndexingMap.parse(text)]):
        _, right, _ = plot(what, element=[4]).axes
        assert marked(right) == [[0, 4], [0, 5], [0, 6]]
        assert np.asarray(right.images[0].get_array()).shape == (1, 8)


def test_files(tmp_path):
    pattern = sparsity(lambda x: x[1:] - x[:-1], struct(12))
    plot(pattern, tmp_path / "a.png")
    pixels = matplotlib.image.imread(tmp_path / "a.png")[..., :3]
    assert min(pixels.shape[:2]) > 300
    assert pixels.std() > 0.05
    plot(pattern, str(tmp_path / "a.svg"))
    root = ET.parse(tmp_path / "a.svg").getroot()
    assert root.tag.endswith("svg")
    with pytest.raises(ValueError, match=r"path must end with one of .*\.png"):
        plot(pattern, tmp_path / "a.xyz")


def test_notebooks_show_it():
    figure = plot(sparsity(lambda x: x, struct(3)))
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_the_last_element_of_what_reads_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot(
            analyze(lambda x, y: y, struct(0), struct(3)), input=0, element=(-1,)
        )
    assert marked(figure.axes[0]) == [[0, 2]]
    assert marked(figure.axes[1]) == []


def test_no_window_and_no_state(tmp_path):
    plot(sparsity(lambda x: x, struct(3)), tmp_path / "a.png")
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plot(3), TypeError, "what must be a Sparsity, .* maps, got int"),
        (lambda: plot([]), TypeError, "what must be a Sparsity, an Analysis or maps"),
        (lambda: plot([3]), TypeError, "what must be a Sparsity, an Analysis or maps"),
        (
            lambda: plot(analyze(jnp.sin, struct(3)), element=(0, 1)),
            TypeError,
            r"element must have 1 entries, got \(0, 1\)",
        ),
        (
            lambda: plot(analyze(jnp.sin, struct(3)), element=(3,)),
            ValueError,
            r"element must lie in the shape \(3,\), got \(3,\)",
        ),
        (
            lambda: plot(IndexingMap.identity([4]), element=(1.5,)),
            TypeError,
            r"element must be a sequence of integers, got \(1.5,\)",
        ),
        (
            lambda: plot([IndexingMap.identity([n] * n) for n in (2, 1)]),
            ValueError,
            r"as many dimensions and results, got \[\(1, 1\), \(2, 2\)\]",
        ),
        (
            lambda: plot(analyze(jnp.sin, struct(0))),
            ValueError,
            "the result must have elements",
        ),
        (
            lambda: plot(IndexingMap.empty(1, 1)),
            ValueError,
            "maps must relate something that is known",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "xlaops\[plot\]"'):
        plot(sparsity(lambda x: x, struct(3)))
