"""Maps that are known: those of the document, its fusions, and some found by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import xlaops as xo
from xlaops.indexing import IndexingMap, analyze

from .observed import Arg, related

F = Arg
I = Arg((), "int32")  # noqa: E741
_CONCAT = (F((2, 3, 4)), F((2, 6, 4)), F((2, 8, 4)))
_POOL = F((9, 6))


def _dot(x, y):
    return lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,))))


def _conv(pads, strides, **kwargs):
    def f(x, k):
        dims = "NWC" if x.ndim == 3 else "NHWC"
        kernel = "WIO" if x.ndim == 3 else "HWIO"
        numbers = (dims, kernel, dims)
        return lax.conv_general_dilated(
            x, k, strides, pads, dimension_numbers=numbers, **kwargs
        )

    return f


def _sliced_concat(*xs):
    return jnp.concatenate(xs, 1)[:, ::3]


def _first_largest(x, y):
    def combine(a, b):
        first = a[0] >= b[0]
        return [lax.select(first, p, q) for p, q in zip(a, b, strict=True)]

    start = (jnp.float32(-np.inf), jnp.int32(0))
    return lax.reduce((x, y), start, combine, (0,))


def _first_largest_of(x, y):
    return _first_largest(x, y)[0]


def _gather(shape):
    numbers = lax.GatherDimensionNumbers(tuple(range(1, len(shape) + 1)), (), (0,))
    return lambda x, i: lax.gather(x, i, numbers, shape, mode="clip")


# Function, arguments, number of the input, and the maps from the output to it.
TO_INPUT = {
    "broadcast": (
        lambda x: lax.broadcast_in_dim(x, (4, 6, 5), (1,)),
        [F((6,))],
        0,
        "(d0, d1, d2) -> (d1), domain: d0 in [0, 3], d1 in [0, 5], d2 in [0, 4]",
    ),
    "elementwise": (
        lambda x, y: x * y,
        [F((3, 7)), F((3, 7))],
        1,
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 6]",
    ),
    "select by a scalar": (
        lambda p, x, y: lax.select(p, x, y),
        [Arg((), "bool"), F((5, 4)), F((5, 4))],
        0,
        "(d0, d1) -> (), domain: d0 in [0, 4], d1 in [0, 3]",
    ),
    "reverse": (
        lambda x: lax.rev(x, (1, 2)),
        [F((2, 9, 6))],
        0,
        "(d0, d1, d2) -> (d0, -d1 + 8, -d2 + 5), domain: d0 in [0, 1], d1 in [0, 8], "
        "d2 in [0, 5]",
    ),
    "reshape with a dimension of size 1": (
        lambda x: x.reshape(1, 9),
        [F((9,))],
        0,
        "(d0, d1) -> (d0 * 9 + d1), domain: d0 in [0, 0], d1 in [0, 8]",
    ),
    "reshape expands": (
        lambda x: x.reshape(2, 3, 4),
        [F((24,))],
        0,
        "(d0, d1, d2) -> (d0 * 12 + d1 * 4 + d2), domain: d0 in [0, 1], d1 in [0, 2], "
        "d2 in [0, 3]",
    ),
    "concatenate": (
        lambda x, y, z: jnp.concatenate([x, y, z], 1),
        [*_CONCAT[:2], F((2, 1, 4))],
        1,
        "(d0, d1, d2) -> (d0, d1 - 3, d2), domain: d0 in [0, 1], "
        "d1 in [3, 8], d2 in [0, 3]",
    ),
    "convolution, groups": (
        _conv("VALID", (1,), feature_group_count=4),
        [F((1, 6, 8)), F((3, 2, 12))],
        0,
        "(d0, d1, d2)[s0, s1] -> (d0, d1 + s0, (d2 floordiv 3) * 2 + s1), domain: "
        "d0 in [0, 0], d1 in [0, 3], d2 in [0, 11], s0 in [0, 2], s1 in [0, 1]",
    ),
    "convolution": (
        _conv("VALID", (1, 1)),
        [F((2, 7, 6, 3)), F((3, 2, 3, 4))],
        0,
        "(d0, d1, d2, d3)[s0, s1, s2] -> (d0, d1 + s0, d2 + s1, s2), domain: "
        "d0 in [0, 1], d1 in [0, 4], d2 in [0, 4], d3 in [0, 3], s0 in [0, 2], "
        "s1 in [0, 1], s2 in [0, 2]",
    ),
    "convolution, padded": (
        _conv(((1, 1), (1, 1)), (2, 2)),
        [F((1, 8, 6, 2)), F((3, 2, 2, 3))],
        0,
        "(d0, d1, d2, d3)[s0, s1, s2] -> (d0, d1 * 2 + s0 - 1, d2 * 2 + s1 - 1, s2), "
        "domain: d0 in [0, 0], d1 in [0, 3], d2 in [0, 3], d3 in [0, 2], s0 in [0, 2], "
        "s1 in [0, 1], s2 in [0, 1], d1 * 2 + s0 in [1, 8], d2 * 2 + s1 in [1, 6]",
    ),
    "convolution, padded, kernel": (
        # Taps that fall on padding are not read.
        _conv(((1, 1), (1, 1)), (2, 2)),
        [F((1, 8, 6, 2)), F((3, 2, 2, 3))],
        1,
        "(d0, d1, d2, d3)[s0, s1, s2] -> (s0, s1, s2, d3), domain: d0 in [0, 0], "
        "d1 in [0, 3], d2 in [0, 3], d3 in [0, 2], s0 in [0, 2], s1 in [0, 1], "
        "s2 in [0, 1], d1 * 2 + s0 in [1, 8], d2 * 2 + s1 in [1, 6]",
    ),
    "convolution, batch groups": (
        # Each of its own group only.
        _conv("VALID", (1,), batch_group_count=3),
        [F((6, 5, 2)), F((2, 2, 9))],
        0,
        "(d0, d1, d2)[s0, s1] -> ((d2 floordiv 3) * 2 + d0, d1 + s0, s1), domain: "
        "d0 in [0, 1], d1 in [0, 3], d2 in [0, 8], s0 in [0, 1], s1 in [0, 1]",
    ),
    "dot, batch dimensions in another order": (
        lambda x, y: lax.dot_general(x, y, (((2,), (0,)), ((3, 1), (1, 3)))),
        [F((4, 3, 2, 5)), F((2, 5, 6, 3))],
        1,
        "(d0, d1, d2, d3)[s0] -> (s0, d0, d3, d1), domain: d0 in [0, 4], d1 in [0, 2], "
        "d2 in [0, 3], d3 in [0, 5], s0 in [0, 1]",
    ),
    "dot, left": (
        _dot,
        [F((3, 4, 6)), F((3, 6, 5))],
        0,
        "(d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 2], "
        "d1 in [0, 3], d2 in [0, 4], s0 in [0, 5]",
    ),
    "dot, right": (
        _dot,
        [F((3, 4, 6)), F((3, 6, 5))],
        1,
        "(d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 2], "
        "d1 in [0, 3], d2 in [0, 4], s0 in [0, 5]",
    ),
    "slice at data": (
        lambda x, i: lax.dynamic_slice(x, (0, i), (1, 3)),
        [F((1, 8)), I],
        1,
        "(d0, d1) -> (), domain: d0 in [0, 0], d1 in [0, 2]",
    ),
    "slice at data, all of a dimension": (
        lambda x, i, j, k: lax.dynamic_slice(x, (i, j, k), (1, 2, 6)),
        [F((3, 2, 20)), I, I, I],
        2,
        "(d0, d1, d2) -> (), domain: d0 in [0, 0], d1 in [0, 1], d2 in [0, 5]",
    ),
    "slice at a number": (
        lambda x: lax.dynamic_slice(x, (7,), (4,)),
        [F((30,))],
        0,
        "(d0) -> (d0 + 7), domain: d0 in [0, 3]",
    ),
    "slice beyond": (
        lambda x: lax.dynamic_slice(x, (99,), (4,)),
        [F((30,))],
        0,
        "(d0) -> (d0 + 26), domain: d0 in [0, 3]",
    ),
    "update at data": (
        lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)),
        [F((7, 9)), F((3, 4)), I, I],
        1,
        "(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: d0 in [0, 6], "
        "d1 in [0, 8], rt0 in [0, 4], rt1 in [0, 5], d0 - rt0 in [0, 2], "
        "d1 - rt1 in [0, 3]",
    ),
    "reshapes cancel": (
        lambda x: x.reshape(18, 12).reshape(6, 6, 6),
        [F((6, 6, 6))],
        0,
        "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 5], "
        "d1 in [0, 5], d2 in [0, 5]",
    ),
    "reverses cancel": (
        lambda x: x[::-1, ::-1].reshape(28)[::-1].reshape(4, 7),
        [F((4, 7))],
        0,
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 6]",
    ),
    "reduce of reduce": (
        lambda x: x.max((0, 3)).max(0),
        [F((6, 3, 4, 5))],
        0,
        "(d0)[s0, s1, s2] -> (s0, s2, d0, s1), domain: d0 in [0, 3], s0 in [0, 5], "
        "s1 in [0, 4], s2 in [0, 2]",
    ),
    "slice of concatenate, second": (
        _sliced_concat,
        [*_CONCAT],
        1,
        "(d0, d1, d2) -> (d0, d1 * 3 - 3, d2), domain: d0 in [0, 1], d1 in [1, 2], "
        "d2 in [0, 3]",
    ),
    "slice of concatenate, third": (
        _sliced_concat,
        [*_CONCAT],
        2,
        "(d0, d1, d2) -> (d0, d1 * 3 - 9, d2), domain: d0 in [0, 1], d1 in [3, 5], "
        "d2 in [0, 3]",
    ),
    "slice misses": (
        lambda x, y: jnp.concatenate([x, y], 1)[:, :5:2],
        [F((2, 5, 4)), F((2, 6, 4))],
        1,
    ),
    "dense layer": (
        lambda x, w, b: (x @ w + b[None]).reshape(2, 2, 3),
        [F((4, 6)), F((6, 3)), F((3,))],
        1,
        "(d0, d1, d2)[s0] -> (s0, d2), domain: d0 in [0, 1], d1 in [0, 1], "
        "d2 in [0, 2], s0 in [0, 5]",
    ),
    "pad, then slice": (
        lambda x, i: lax.dynamic_slice(
            lax.pad(x, 0.0, ((0, 0, 0), (0, 6, 0))), (0, i), (1, 8)
        ),
        [F((1, 8)), I],
        0,
        "(d0, d1){rt0} -> (0, d1 + rt0), domain: d0 in [0, 0], d1 in [0, 7], "
        "rt0 in [0, 6], d1 + rt0 in [0, 7]",
    ),
    "softmax": (
        lambda x: jax.nn.softmax(x, 2),
        [F((2, 3, 7))],
        0,
        "(d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 2], "
        "d2 in [0, 6], s0 in [0, 6]",
        "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 2], "
        "d2 in [0, 6]",
    ),
    "sum with transpose": (
        lambda x: x + x.T,
        [F((5, 5))],
        0,
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 4]",
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 4]",
    ),
    "transpose, then reshape": (
        lambda x: x.T.reshape(8, 3),
        [F((6, 4))],
        0,
        "(d0, d1) -> ((d0 mod 2) * 3 + d1, d0 floordiv 2), domain: d0 in [0, 7], "
        "d1 in [0, 2]",
    ),
    "reshape of concatenate": (
        lambda x, y: jnp.concatenate([x, y]).reshape(3, 5),
        [F((3,)), F((12,))],
        1,
        "(d0, d1) -> (d0 * 5 + d1 - 3), domain: d0 in [0, 2], d1 in [0, 4], "
        "d0 * 5 + d1 in [3, 14]",
    ),
    "gather, iota": (
        lambda x: _gather((1, 4))(x, lax.broadcasted_iota(np.int32, (7, 1), 0)),
        [F((9, 4))],
        0,
        "(d0, d1, d2) -> (d0, d2), domain: d0 in [0, 6], d1 in [0, 0], d2 in [0, 3]",
    ),
    "gather, iota past the end": (
        # Past the end the last row is read.
        lambda x: _gather((1, 4))(x, lax.broadcasted_iota(np.int32, (7, 1), 0)),
        [F((5, 4))],
        0,
        "(d0, d1, d2){rt0} -> (min(d0, 4), d2), domain: d0 in [0, 6], d1 in [0, 0], "
        "d2 in [0, 3], rt0 in [0, 0]",
    ),
    "reduce, result of the other operand": (
        lambda x, y: _first_largest(x, y)[1],
        [F((12, 5)), Arg((12, 5), "int32")],
        0,
        "(d0)[s0] -> (s0, d0), domain: d0 in [0, 4], s0 in [0, 11]",
    ),
    "reshape of concatenate, first": (
        lambda x, y: jnp.concatenate([x, y]).reshape(3, 5),
        [F((3,)), F((12,))],
        0,
        "(d0, d1) -> (d1), domain: d0 in [0, 0], d1 in [0, 2]",
    ),
    "gather, indices": (
        lambda x, i: lax.gather(
            x,
            i,
            lax.GatherDimensionNumbers((1, 2, 3), (), (0, 1)),
            (2, 3, 5),
            mode="clip",
        ),
        [F((6, 8, 5)), Arg((4, 2), "int32")],
        1,
        "(d0, d1, d2, d3)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 1], "
        "d2 in [0, 2], d3 in [0, 4], s0 in [0, 1]",
    ),
    "pad, negative": (
        lambda x: lax.pad(x, 0.0, ((-2, -2, 1),)),
        [F((6,))],
        0,
        "(d0) -> ((d0 + 2) floordiv 2), domain: d0 in [0, 6], (d0 + 2) mod 2 in [0, 0]",
    ),
    "window, dilated": (
        lambda x: lax.reduce_window(
            x, -jnp.inf, lax.max, (3, 1), (1, 1), "VALID", None, (3, 1)
        ),
        [F((10, 3))],
        0,
        "(d0, d1)[s0] -> (d0 + s0 * 3, d1), domain: d0 in [0, 3], d1 in [0, 2], "
        "s0 in [0, 2]",
    ),
    "window, base dilated": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2,), (1,), "VALID", (2,)),
        [F((4,))],
        0,
        "(d0)[s0] -> ((d0 + s0) floordiv 2), domain: d0 in [0, 5], s0 in [0, 1], "
        "(d0 + s0) mod 2 in [0, 0]",
    ),
    "window, padded": (
        lambda x: lax.reduce_window(
            x, -jnp.inf, lax.max, (3, 2), (2, 1), ((1, 1), (0, 1))
        ),
        [_POOL],
        0,
        "(d0, d1)[s0, s1] -> (d0 * 2 + s0 - 1, d1 + s1), domain: d0 in [0, 4], "
        "d1 in [0, 5], s0 in [0, 2], s1 in [0, 1], d0 * 2 + s0 in [1, 9], "
        "d1 + s1 in [0, 5]",
    ),
    "scatter": (
        lambda x, i, u: x.at[i].add(u),
        [F((6, 3)), Arg((4,), "int32"), F((4, 3))],
        2,
        "(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 5], d1 in [0, 2], s0 in [0, 3]",
    ),
    "cumulative sum": (
        lambda x: lax.cumsum(x, 1),
        [F((2, 4))],
        0,
        "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 3], s0 in [0, 3], "
        "d1 - s0 in [0, 3]",
    ),
    "reshape without elements": (lambda x: x.reshape(0, 4), [F((2, 0))], 0),
}

TO_OUTPUT = {
    "broadcast of the middle": (
        lambda x: lax.broadcast_in_dim(x, (4, 6, 5), (1,)),
        [F((6,))],
        "(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 5], s0 in [0, 3], "
        "s1 in [0, 4]",
    ),
    "dot, right": (
        lambda y, x: _dot(x, y),
        [F((3, 6, 5)), F((3, 4, 6))],
        "(d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 2], d1 in [0, 5], "
        "d2 in [0, 4], s0 in [0, 3]",
    ),
    "reduce, initial value": (
        lambda c, x: xo.reduce([x], [c], jnp.maximum, [3, 1]),
        [F(), F((5, 4, 3, 6))],
        "()[s0, s1] -> (s0, s1), domain: s0 in [0, 4], s1 in [0, 2]",
    ),
    "reduce, two operands": (
        _first_largest_of,
        [F((12, 5)), Arg((12, 5), "int32")],
        "(d0, d1) -> (d1), domain: d0 in [0, 11], d1 in [0, 4]",
    ),
    "reshape collapses": (
        lambda x: x.reshape(15),
        [F((3, 5))],
        "(d0, d1) -> (d0 * 5 + d1), domain: d0 in [0, 2], d1 in [0, 4]",
    ),
    "broadcast": (
        lambda x: lax.broadcast_in_dim(x, (3, 4, 5, 2), (0, 2)),
        [F((3, 5))],
        "(d0, d1)[s0, s1] -> (d0, s0, d1, s1), domain: d0 in [0, 2], "
        "d1 in [0, 4], s0 in [0, 3], s1 in [0, 1]",
    ),
    "concatenate": (
        lambda x: jnp.concatenate([jnp.ones((2, 3, 4)), x], 1),
        [F((2, 6, 4))],
        "(d0, d1, d2) -> (d0, d1 + 3, d2), domain: d0 in [0, 1], "
        "d1 in [0, 5], d2 in [0, 3]",
    ),
    "reduce": (
        lambda x: x.sum((1, 3)),
        [F((5, 4, 3, 6))],
        "(d0, d1, d2, d3) -> (d0, d2), domain: d0 in [0, 4], d1 in [0, 3], "
        "d2 in [0, 2], d3 in [0, 5]",
    ),
    "reshape": (
        lambda x: x.reshape(12, 2, 5),
        [F((3, 4, 10))],
        "(d0, d1, d2) -> (d0 * 4 + d1, d2 floordiv 5, d2 mod 5), domain: "
        "d0 in [0, 2], d1 in [0, 3], d2 in [0, 9]",
    ),
    "slice": (
        lambda x: x[5:9, 2:15:5, ::2],
        [F((10, 15, 20))],
        "(d0, d1, d2) -> (d0 - 5, (d1 - 2) floordiv 5, d2 floordiv 2), domain: "
        "d0 in [5, 8], d1 in [2, 12], d2 in [0, 18], (d1 - 2) mod 5 in [0, 0], "
        "d2 mod 2 in [0, 0]",
    ),
    "transpose": (
        lambda x: x.transpose(0, 2, 3, 1),
        [F((2, 5, 3, 4))],
        "(d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: d0 in [0, 1], "
        "d1 in [0, 4], d2 in [0, 2], d3 in [0, 3]",
    ),
    "transpose, then reshape": (
        lambda x: x.T.reshape(8, 3),
        [F((6, 4))],
        "(d0, d1) -> (d0 floordiv 3 + d1 * 2, d0 mod 3), domain: d0 in [0, 5], "
        "d1 in [0, 3]",
    ),
}


def _hold(maps, texts, made, read):
    expected = [IndexingMap.parse(t) for t in texts]
    assert all(m.exact for m in maps)
    np.testing.assert_array_equal(
        related(maps, made, read), related(expected, made, read)
    )
    assert len(maps) == len(expected)


@pytest.mark.parametrize("name", TO_INPUT)
def test_output_to_input(name):
    f, args, number, *texts = TO_INPUT[name]
    analysis = analyze(f, *[a.struct for a in args])
    made, read = analysis.outputs[0].shape, args[number].shape
    _hold(analysis.output_to_input(0, number), texts, made, read)


@pytest.mark.parametrize("name", TO_OUTPUT)
def test_input_to_output(name):
    f, args, *texts = TO_OUTPUT[name]
    analysis = analyze(f, *[a.struct for a in args])
    made, read = analysis.outputs[0].shape, args[0].shape
    _hold(analysis.input_to_output(), texts, read, made)


def test_known_maps_print_as_the_document_prints_them():
    def text(f, *shape):
        (one,) = analyze(f, F(shape).struct).output_to_input()
        return str(one)

    assert text(lambda x: x.reshape(2, 3, 4), 24) == (
        "(d0, d1, d2) -> (d0 * 12 + d1 * 4 + d2), domain: d0 in [0, 1], d1 in [0, 2], "
        "d2 in [0, 3]"
    )
    assert text(lambda x: lax.rev(x, (1,)), 2, 9) == (
        "(d0, d1) -> (d0, -d1 + 8), domain: d0 in [0, 1], d1 in [0, 8]"
    )
    assert text(lambda x: x.T.reshape(8, 3), 6, 4) == (
        "(d0, d1) -> ((d0 mod 2) * 3 + d1, d0 floordiv 2), domain: d0 in [0, 7], "
        "d1 in [0, 2]"
    )
