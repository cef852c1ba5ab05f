"""How much is read, counted by hand and by all pairs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

from xlaops.indexing import IndexingMap, analyze, utilization
from xlaops.indexing.components import counts, split


def struct(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


def figures(one):
    return one.size, one.read, one.reads, one.most


def test_by_hand():
    (strided,) = utilization(lambda x: x[::2].sum(), struct(9))
    assert figures(strided) == (9, 5, 5, 1)
    assert strided.coverage == pytest.approx(5 / 9)
    assert strided.multiplicity == pytest.approx(5 / 9)
    left, right = utilization(jnp.matmul, struct(4, 5), struct(5, 6))
    assert figures(left) == (20, 20, 120, 6)
    assert figures(right) == (30, 30, 120, 4)
    # A window of 3 with the border left out, and of the softmax every row as a whole.
    (window,) = utilization(lambda x: x[2:] + x[1:-1] + x[:-2], struct(8))
    assert figures(window) == (8, 8, 18, 3)
    (softmax,) = utilization(lambda x: jax.nn.softmax(x, -1), struct(3, 5))
    assert figures(softmax) == (15, 15, 75, 5)
    (unused,) = utilization(lambda x: jnp.zeros(3), struct(4))
    assert figures(unused) == (4, 0, 0, 0)
    (empty,) = utilization(lambda x: x, struct(0))
    assert figures(empty) == (0, 0, 0, 0)
    assert (empty.coverage, empty.multiplicity) == (1.0, 0.0)


def test_large_products_are_counted_in_parts():
    left, right = utilization(jnp.matmul, struct(4096, 8192), struct(8192, 2048))
    assert left.reads == right.reads == 4096 * 8192 * 2048
    assert (left.most, right.most) == (2048, 4096)

    def f(x, k):
        return lax.conv(x, k, (1, 1), "VALID")

    image, kernel = utilization(f, struct(1, 64, 224, 224), struct(32, 64, 3, 3))
    assert image.most == 32 * 9
    assert image.reads == kernel.reads == 32 * 222 * 222 * 64 * 9
    assert kernel.most == 222 * 222


def test_several_results():
    def f(x):
        return (x[1:], x.sum(), x[:2])

    analysis = analyze(f, struct(4))
    (total,) = utilization(analysis)
    assert figures(total) == (4, 4, 9, 3)
    (first,) = utilization(analysis, output=0)
    assert figures(first) == (4, 3, 3, 1)


def test_what_nothing_is_known_of():
    def f(x):
        return jax.pure_callback(np.sin, struct(3), x)

    (one,) = utilization(f, struct(3))
    assert figures(one) == (3, 3, 9, 3)
    assert not one.exact
    assert "or less" in str(one)


def test_the_text():
    (one,) = utilization(lambda x: x[::2], struct(8))
    assert str(one) == (
        "args[0]: 4 of 8 elements read (50 %), 0.5 times each on average, "
        "1 times at most"
    )


def test_a_limit():
    with pytest.raises(ValueError, match="at most 10 points"):
        utilization(lambda x: x[1:] - x[:-1], struct(100), limit=10)
    with pytest.raises(TypeError, match="must be a function or an Analysis"):
        utilization(3)


MAPS = [
    "(d0, d1)[s0] -> (d0 + s0, d1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 2]",
    "(d0, d1)[s0] -> (s0, d0), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 4]",
    "(d0, d1)[s0] -> (d0 * 2 + s0, d1), domain: d0 in [0, 3], d1 in [0, 2], "
    "s0 in [0, 1], d0 + s0 in [1, 3]",
    "(d0, d1) -> ((d0 * 3 + d1) floordiv 2, (d0 + d1) mod 2), domain: d0 in [0, 3], "
    "d1 in [0, 2]",
    "(d0, d1)[s0, s1] -> (s0, 1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 5], "
    "s1 in [0, 2], d0 - d1 in [0, 1], s0 - s1 in [2, 3]",
    "(d0, d1){rt0} -> (d0, rt0), domain: d0 in [0, 3], d1 in [0, 2], rt0 in [0, 1]",
]


@pytest.mark.parametrize("text", MAPS)
def test_parts_multiply_to_the_whole(text):
    one = IndexingMap.parse(text)
    relation = one.relation()
    shape = (7, 5)
    expected = np.zeros(shape, np.int64)
    pairs = {(*row[:2], *row[2:]) for row in relation.tolist()}
    for _, _, i, j in pairs:
        if i < shape[0] and j < shape[1]:
            expected[i, j] += 1
    found = counts(one, (4, 3), shape)
    whole = np.full(shape, found.factor, np.int64)
    for axes, values in zip(found.axes, found.counts, strict=True):
        whole = whole * (values.T if axes == (1, 0) else values).reshape(
            [shape[i] if i in axes else 1 for i in range(2)]
        )
    np.testing.assert_array_equal(whole, expected)
    assert found.total == expected.sum()
    assert found.read == np.count_nonzero(expected)
    assert found.most == expected.max()


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_variables_belong_to_one_part(a, b, c):
    text = (
        f"(d0, d1, d2)[s0] -> (d0 + s0, d2), domain: d0 in [0, {a - 1}], "
        f"d1 in [0, {b - 1}], d2 in [0, {c - 1}], s0 in [0, 2]"
    )
    parts = split(IndexingMap.parse(text))
    assert sorted((p.dims, p.results) for p in parts) == [
        ((0,), (0,)),
        ((1,), ()),
        ((2,), (1,)),
    ]
