"""The maps of operations that move elements, against what numpy moves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import brute_force
from jax import lax

from xlaops.indexing import IndexingMap, analyze

SIZES = st.integers(0, 5)
SHAPES = st.lists(SIZES, max_size=3).map(tuple)


def _struct(shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


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


def _check(f, moved, *shapes, number=0):
    """Compares both directions of one operand with where its elements went."""
    analysis = analyze(f, *map(_struct, shapes))
    operand = shapes[number]
    assert analysis.outputs[0].shape == moved.shape
    truth = _truth(moved, operand)
    backward = analysis.output_to_input(0, number)
    forward = analysis.input_to_output(number, 0)
    # An operation that moves elements takes one map, and none where it moves nothing.
    assert len(backward) == len(forward) == bool(truth)
    for maps, pairs in ((backward, truth), (forward, {(b, a) for a, b in truth})):
        assert set().union(*map(brute_force.relation, maps)) == pairs
        assert all(m.exact for m in maps)
        for m in maps:
            if m.result_bounds is not None:
                results = m.enumerate()[1]
                for column, bounds in zip(results.T, m.result_bounds, strict=True):
                    assert bounds.lower <= column.min()
                    assert column.max() <= bounds.upper
    return backward, forward


@given(SHAPES)
def test_elementwise(shape):
    _check(lambda x: -x, _positions(shape), shape)
    _check(lambda p, x: lax.add(lax.broadcast(p, shape), x), np.zeros(shape, int), (),
           shape)  # fmt: skip


@given(SHAPES, st.data())
def test_broadcast(result, data):
    order = data.draw(st.permutations(range(len(result))))
    dims = tuple(sorted(order[: data.draw(st.integers(0, len(result)))]))
    operand = tuple(data.draw(st.sampled_from([1, result[d]])) for d in dims)
    shape = [1] * len(result)
    for d, n in zip(dims, operand, strict=True):
        shape[d] = n
    moved = np.broadcast_to(_positions(operand).reshape(shape), result)
    _check(lambda x: lax.broadcast_in_dim(x, result, dims), moved, operand)


@given(SHAPES, st.data())
def test_transpose_and_reverse(shape, data):
    p = tuple(data.draw(st.permutations(range(len(shape)))))
    _check(
        lambda x: lax.transpose(x, p),
        np.transpose(_positions(shape), p),
        shape,
    )
    axes = p[: data.draw(st.integers(0, len(p)))]
    _check(lambda x: lax.rev(x, axes), np.flip(_positions(shape), axes), shape)


@given(SHAPES, st.data())
def test_slice(shape, data):
    starts = tuple(data.draw(st.integers(0, n)) for n in shape)
    limits = tuple(
        data.draw(st.integers(a, n)) for a, n in zip(starts, shape, strict=True)
    )
    strides = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    keys = zip(starts, limits, strides, strict=True)
    moved = _positions(shape)[tuple(slice(*k) for k in keys)]
    _check(lambda x: lax.slice(x, starts, limits, strides), moved, shape)


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
        if n + min(a, 0) + min(b, 0) < 0:
            return  # JAX refuses it
        moved = moved[(slice(None),) * axis + (slice(max(-a, 0), n + min(b, 0)),)]
    config = list(zip(low, high, interior, strict=True))

    def pad(x, value):
        return lax.pad(x, value, config)

    _check(pad, moved, shape, ())
    read = {(i, ()) for i in np.ndindex(moved.shape) if moved[i] < 0}
    analysis = analyze(pad, _struct(shape), _struct(()))
    backward = analysis.output_to_input(0, 1)
    assert all(m.exact for m in backward)
    assert set().union(*map(brute_force.relation, backward)) == read
    forward = analysis.input_to_output(1, 0)
    assert set().union(*map(brute_force.relation, forward)) == {(b, a) for a, b in read}


@given(SHAPES.filter(len), st.data())
def test_concatenate(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    sizes = data.draw(st.lists(SIZES, min_size=2, max_size=3))
    shapes = tuple((*shape[:axis], n, *shape[axis + 1 :]) for n in sizes)
    for number, operand in enumerate(shapes):
        parts = [np.full(s, -1) for s in shapes]
        parts[number] = _positions(operand)
        moved = np.concatenate(parts, axis)
        _check(lambda *xs: lax.concatenate(xs, axis), moved, *shapes, number=number)


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
    backward, forward = _check(
        lambda x: lax.reshape(x, result), _positions(operand).reshape(result), operand
    )
    for one, other in zip(backward, forward, strict=True):
        assert not other.ranges
        assert one.inverse(operand).equivalent(other)


@given(st.data())
def test_ordered_reshape(data):
    operand = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    order = tuple(data.draw(st.permutations(range(len(operand)))))
    result = (int(np.prod(operand)),)
    moved = np.transpose(_positions(operand), order).reshape(result)
    _check(lambda x: lax.reshape(x, result, order), moved, operand)


# As the document prints them


DOCUMENT = {
    "broadcast": (
        lambda x: lax.broadcast_in_dim(x, (10, 20, 30), (1,)),
        (20,),
        "(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]",
        "(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], "
        "s1 in [0, 29]",
    ),
    "scalar": (
        lambda x: lax.broadcast(x, (2, 4)),
        (),
        "(d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 3]",
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 3]",
    ),
    "transpose": (
        lambda x: x.transpose(0, 2, 3, 1),
        (3, 12288, 6, 128),
        "(d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: d0 in [0, 2], d1 in [0, 5], "
        "d2 in [0, 127], d3 in [0, 12287]",
        "(d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: d0 in [0, 2], "
        "d1 in [0, 12287], d2 in [0, 5], d3 in [0, 127]",
    ),
    "reverse": (
        lambda x: lax.rev(x, (1, 2)),
        (1, 17, 9, 9),
        "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], "
        "d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]",
        "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], "
        "d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]",
    ),
    "slice": (
        lambda x: lax.slice(x, (5, 3, 0), (10, 20, 50), (1, 7, 2)),
        (10, 20, 50),
        "(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], "
        "d1 in [0, 2], d2 in [0, 24]",
        "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: "
        "d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], "
        "d2 mod 2 in [0, 0]",
    ),
    "collapse": (
        lambda x: x.reshape(32),
        (4, 8),
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
    ),
    "expand of one": (
        lambda x: x.reshape(1, 9),
        (9,),
        "(d0, d1) -> (d0 * 9 + d1), domain: d0 in [0, 0], d1 in [0, 8]",
        "(d0) -> (0, d0), domain: d0 in [0, 8]",
    ),
    "generic reshape": (
        lambda x: x.reshape(2, 4, 4),
        (4, 8),
        "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), domain: "
        "d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
        "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), "
        "domain: d0 in [0, 3], d1 in [0, 7]",
    ),
    "reshape of two groups": (
        lambda x: x.reshape(32, 3, 4),
        (4, 8, 12),
        "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: "
        "d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]",
        "(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: "
        "d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]",
    ),
    "concatenate": (
        lambda x: jnp.concatenate([jnp.ones((2, 5, 7)), x, jnp.ones((2, 17, 7))], 1),
        (2, 11, 7),
        "(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], "
        "d2 in [0, 6]",
        "(d0, d1, d2) -> (d0, d1 + 5, d2), domain: d0 in [0, 1], d1 in [0, 10], "
        "d2 in [0, 6]",
    ),
    "pad": (
        lambda x: lax.pad(x, np.float32(0), ((1, 4, 1), (4, 8, 0))),
        (4, 4),
        "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], "
        "d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
        "(d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], d1 in [0, 3]",
    ),
}


@pytest.mark.parametrize("name", DOCUMENT)
def test_example_of_the_document(name):
    f, shape, backward, forward = DOCUMENT[name]
    analysis = analyze(f, _struct(shape))
    for maps, text in (
        (analysis.output_to_input(), backward),
        (analysis.input_to_output(), forward),
    ):
        (m,) = maps
        expected = IndexingMap.parse(text)
        # A dimension of size 1 is written 0 where the document writes d0.
        if all(v.bounds.count > 1 for v in expected.dims):
            assert m == expected, m
        assert m.equals(expected)
