"""The maps of operations that move elements, against what numpy moves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import brute_force

from xlaops.indexing import IndexingMap, rules

SIZES = st.integers(0, 5)
SHAPES = st.lists(SIZES, max_size=3).map(tuple)


def _truth(moved, operand):
    """Pairs of an array whose elements are positions in the operand, or -1."""
    pairs = set()
    for index in np.ndindex(moved.shape):
        if moved[index] >= 0:
            place = np.unravel_index(int(moved[index]), operand)
            pairs.add((index, tuple(int(p) for p in place)))
    return pairs


def _positions(shape):
    return np.arange(int(np.prod(shape))).reshape(shape)


def _check(maps, moved, operand):
    assert maps.result == moved.shape
    assert maps.operand == operand
    truth = _truth(moved, operand)
    backward, forward = maps.output_to_input, maps.input_to_output
    assert brute_force.relation(backward) == truth
    assert brute_force.relation(forward) == {(b, a) for a, b in truth}
    assert len(backward.dims) == len(forward.results) == moved.ndim
    assert len(forward.dims) == len(backward.results) == len(operand)
    for m in (backward, forward):
        assert m.exact
        if m.result_bounds is not None and not m.is_known_empty:
            results = m.enumerate()[1]
            for column, bounds in zip(results.T, m.result_bounds, strict=True):
                assert bounds.lower <= column.min()
                assert column.max() <= bounds.upper


@given(SHAPES)
def test_elementwise(shape):
    _check(rules.elementwise(shape), _positions(shape), shape)
    _check(rules.elementwise(shape, ()), np.zeros(shape, int), ())


@given(SHAPES, st.data())
def test_stretched(shape, data):
    operand = tuple(data.draw(st.sampled_from([1, n])) for n in shape)
    moved = np.broadcast_to(_positions(operand), shape)
    _check(rules.elementwise(shape, operand), moved, operand)


@given(SHAPES, st.data())
def test_broadcast(result, data):
    order = data.draw(st.permutations(range(len(result))))
    dims = tuple(order[: data.draw(st.integers(0, len(result)))])
    operand = tuple(data.draw(st.sampled_from([1, result[d]])) for d in dims)
    at = np.argsort(dims) if dims else []
    shape = [1] * len(result)
    for d, n in zip(dims, operand, strict=True):
        shape[d] = n
    moved = np.transpose(_positions(operand), [int(a) for a in at]).reshape(shape)
    _check(
        rules.broadcast(operand, result, dims), np.broadcast_to(moved, result), operand
    )


@given(SHAPES, st.data())
def test_transpose_and_reverse(shape, data):
    p = tuple(data.draw(st.permutations(range(len(shape)))))
    _check(rules.transpose(shape, p), np.transpose(_positions(shape), p), shape)
    axes = p[: data.draw(st.integers(0, len(p)))]
    _check(rules.reverse(shape, axes), np.flip(_positions(shape), axes), shape)


@given(SHAPES, st.data())
def test_slice(shape, data):
    starts = tuple(data.draw(st.integers(0, n)) for n in shape)
    limits = tuple(
        data.draw(st.integers(a, n)) for a, n in zip(starts, shape, strict=True)
    )
    strides = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    keys = zip(starts, limits, strides, strict=True)
    moved = _positions(shape)[tuple(slice(*k) for k in keys)]
    _check(rules.slice_in(shape, starts, limits, strides), moved, shape)


@given(SHAPES, st.data())
def test_pad(shape, data):
    low, high, interior = (
        tuple(data.draw(st.integers(least, 2)) for _ in shape) for least in (-2, -2, 0)
    )
    spread = np.full(
        [n + c * max(n - 1, 0) for n, c in zip(shape, interior, strict=True)], -1
    )
    spread[tuple(slice(None, None, c + 1) for c in interior)] = _positions(shape)
    moved = spread
    for axis, (a, b) in enumerate(zip(low, high, strict=True)):
        widths = [(0, 0)] * len(shape)
        widths[axis] = (max(a, 0), max(b, 0))
        moved = np.pad(moved, widths, constant_values=-1)
        n = moved.shape[axis]
        cut = slice(max(-a, 0), max(n - max(-b, 0), 0))
        moved = moved[(slice(None),) * axis + (cut,)]
    _check(rules.pad(shape, low, high, interior), moved, shape)
    value = rules.pad_value(shape, low, high, interior).output_to_input
    read = {(i, ()) for i in np.ndindex(moved.shape) if moved[i] < 0}
    claimed = brute_force.relation(value)
    assert read <= claimed
    if value.exact:
        assert read == claimed


@given(SHAPES.filter(len), st.data())
def test_concatenate(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    sizes = data.draw(st.lists(SIZES, min_size=1, max_size=3))
    shapes = tuple((*shape[:axis], n, *shape[axis + 1 :]) for n in sizes)
    for number, operand in enumerate(shapes):
        parts = [np.full(s, -1) for s in shapes]
        parts[number] = _positions(operand)
        moved = np.concatenate(parts, axis)
        _check(rules.concatenate(shapes, axis, number), moved, operand)


@given(st.data())
def test_reshape(data):
    n = data.draw(st.sampled_from([0, 1, 6, 12, 24, 36]))

    def factors():
        left, found = n, []
        while left > 1 and len(found) < 4:
            divisors = [d for d in range(1, left + 1) if left % d == 0]
            found.append(data.draw(st.sampled_from(divisors)))
            left //= found[-1]
        return tuple([*found, left] if left != 1 or data.draw(st.booleans()) else found)

    operand, result = factors(), factors()
    maps = rules.reshape(operand, result)
    _check(maps, _positions(operand).reshape(result), operand)
    inverse = maps.output_to_input.inverse(operand)
    assert inverse.equivalent(maps.input_to_output)


# As the document prints them


DOCUMENT = {
    "broadcast": (
        rules.broadcast((20,), (10, 20, 30), (1,)),
        "(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]",
        "(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], "
        "s1 in [0, 29]",
    ),
    "iota": (
        rules.scalar((2, 4)),
        "(d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 3]",
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 3]",
    ),
    "transpose": (
        rules.transpose((3, 12288, 6, 128), (0, 2, 3, 1)),
        "(d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: d0 in [0, 2], d1 in [0, 5], "
        "d2 in [0, 127], d3 in [0, 12287]",
        "(d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: d0 in [0, 2], "
        "d1 in [0, 12287], d2 in [0, 5], d3 in [0, 127]",
    ),
    "reverse": (
        rules.reverse((1, 17, 9, 9), (1, 2)),
        "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], "
        "d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]",
        "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], "
        "d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]",
    ),
    "slice": (
        rules.slice_in((10, 20, 50), (5, 3, 0), (10, 20, 50), (1, 7, 2)),
        "(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], "
        "d1 in [0, 2], d2 in [0, 24]",
        "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: "
        "d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], "
        "d2 mod 2 in [0, 0]",
    ),
    "collapse": (
        rules.reshape((4, 8), (32,)),
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
    ),
    "expand of one": (
        rules.reshape((9,), (1, 9)),
        "(d0, d1) -> (d0 * 9 + d1), domain: d0 in [0, 0], d1 in [0, 8]",
        "(d0) -> (0, d0), domain: d0 in [0, 8]",
    ),
    "generic reshape": (
        rules.reshape((4, 8), (2, 4, 4)),
        "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), domain: "
        "d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
        "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), "
        "domain: d0 in [0, 3], d1 in [0, 7]",
    ),
    "reshape of two groups": (
        rules.reshape((4, 8, 12), (32, 3, 4)),
        "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: "
        "d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]",
        "(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: "
        "d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]",
    ),
    "concatenate": (
        rules.concatenate(((2, 5, 7), (2, 11, 7), (2, 17, 7)), 1, 1),
        "(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], "
        "d2 in [0, 6]",
        "(d0, d1, d2) -> (d0, d1 + 5, d2), domain: d0 in [0, 1], d1 in [0, 10], "
        "d2 in [0, 6]",
    ),
    "pad": (
        rules.pad((4, 4), (1, 4), (4, 8), (1, 0)),
        "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], "
        "d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
        "(d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], d1 in [0, 3]",
    ),
}


@pytest.mark.parametrize("name", DOCUMENT)
def test_example_of_the_document(name):
    maps, backward, forward = DOCUMENT[name]
    for m, text in (
        (maps.output_to_input, backward),
        (maps.input_to_output, forward),
    ):
        expected = IndexingMap.parse(text)
        assert m == expected, m
        assert m.equals(expected)


def test_padding_value_is_read_in_more_than_the_padding():
    value = rules.pad_value((4, 4), (1, 4), (4, 8), (1, 0)).output_to_input
    assert str(value) == "(d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]"
    assert not value.exact
    assert value.reasons == ("the padding value is read in the padding only",)
