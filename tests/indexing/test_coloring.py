"""Colours, against what they are for: no line has one twice, and there are few."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaops.indexing.coloring import color


def is_proper(dense, colors):
    """Whether no row has two elements in columns of one colour."""
    for row in dense:
        used = [colors[j] for j in np.flatnonzero(row)]
        if len(set(used)) < len(used):
            return False
    return True


def fewest(dense):
    """The least number of colours, by trying all."""
    width = dense.shape[1]
    for count in range(1, width + 1):
        for colors in itertools.product(range(count), repeat=width):
            if is_proper(dense, colors):
                return count
    return 0


matrices = (
    st.integers(1, 6)
    .flatmap(
        lambda width: st.lists(
            st.lists(st.booleans(), min_size=width, max_size=width),
            min_size=1,
            max_size=6,
        )
    )
    .map(np.asarray)
)


@given(matrices)
def test_colors_are_proper_and_few(dense):
    found = color(*np.nonzero(dense), dense.shape[1])
    assert is_proper(dense, found.colors)
    assert found.count == found.colors.max() + 1
    assert found.is_valid(*np.nonzero(dense))
    assert found.least <= fewest(dense) <= found.count
    assert found.count <= fewest(dense) + 2

    by_row = color(*np.nonzero(dense), dense.shape[0], "rows")
    assert is_proper(dense.T, by_row.colors)
    assert by_row.is_valid(*np.nonzero(dense))


def test_validity_is_noticed():
    found = color(np.array([0, 1]), np.array([0, 1]), 2)
    assert found.count == 1
    assert not found.is_valid(np.array([0, 0]), np.array([0, 1]))


def band(n, offsets):
    dense = np.zeros((n, n), bool)
    for k in offsets:
        dense |= np.eye(n, k=k, dtype=bool)
    return dense


def plane(height, width, offsets):
    """The pattern of a stencil on a grid."""
    dense = np.zeros((height, width, height, width), bool)
    for i, j in np.ndindex(height, width):
        for a, b in offsets:
            if 0 <= i + a < height and 0 <= j + b < width:
                dense[i, j, i + a, j + b] = True
    return dense.reshape(height * width, -1)


CROSS = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
SQUARE = list(itertools.product((-1, 0, 1), repeat=2))


@pytest.mark.parametrize(
    ("dense", "shape", "count"),
    [
        (band(40, [-1, 0, 1]), (40,), 3),
        (band(40, [-4, 0, 4]), (40,), 3),
        (band(40, [0]), (40,), 1),
        (np.kron(np.eye(6, dtype=bool), np.ones((5, 5), bool)), (30,), 5),
        (plane(9, 11, CROSS), (9, 11), 5),
        (plane(9, 11, SQUARE), (9, 11), 9),
        (np.ones((3, 70), bool), (70,), 70),
        (np.zeros((3, 5), bool), (5,), 1),
        (np.zeros((3, 0), bool), (0,), 0),
    ],
)
def test_regular_patterns_have_the_fewest_colors(dense, shape, count):
    found = color(*np.nonzero(dense), dense.shape[1], "columns", shape)
    assert is_proper(dense, found.colors)
    assert found.count == count
