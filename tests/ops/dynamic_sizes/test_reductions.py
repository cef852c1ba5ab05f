"""Reductions over dimensions and windows of dynamic size, against NumPy."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.dynamic_sizes.arrays import SIZES, bounded, check, floats, ints

import xlaops as xo

# Reductions

REDUCERS = {
    "sum": (lambda a, b: a + b, 0, np.sum),
    "product": (lambda a, b: a * b, 1, np.prod),
    "largest": (xo.max, -np.inf, functools.partial(np.max, initial=-np.inf)),
    # no operation alone, so nothing that is known to change nothing
    "composed": (lambda a, b: (a * 2 + b * 2) / 2, 0, np.sum),
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", REDUCERS)
def test_reduce(name, n):
    computation, init, oracle = REDUCERS[name]
    valid = floats(n, 3)
    x = bounded(valid, (6, 4))

    def reduced(x, dims):
        return xo.reduce([x], [init], computation, dims)

    for dims in ((0,), (1,), (0, 1), ()):
        expected = oracle(valid, axis=dims) if dims else valid
        for f in (reduced, jax.jit(reduced, static_argnums=1)):
            result = f(x, dims)
            check(result, np.asarray(expected, np.float32))
            assert isinstance(result, xo.BoundedArray) == (len(dims) < 2)


@pytest.mark.parametrize("n", SIZES)
def test_initial_value_enters_once(n):
    x = bounded(floats(n), (6,))
    for computation in (xo.add, lambda a, b: (a * 2 + b * 2) / 2):
        check(xo.reduce_all(x, 10.0, computation), np.float32(10 + floats(n).sum()))


def test_reduce_of_several_operands():
    values, places = ints(5), np.arange(5, dtype=np.int32)

    def largest(v, i, w, j):
        return jnp.maximum(v, w), jnp.where(w > v, j, i)

    value, place = xo.reduce(
        [bounded(values, (9,)), np.arange(9, dtype=np.int32)],
        [-100, -1],
        largest,
        [0],
    )
    assert (value, place) == (values.max(), places[values.argmax()])


# Windows


def _windows(x, init, oracle, size, stride, base, dilation, pads):
    """Reductions over windows of a vector, by hand."""
    spread = np.full(max(len(x) - 1, 0) * base + min(len(x), 1), init, x.dtype)
    spread[::base] = x
    low, high = pads
    padded = np.concatenate(
        [
            np.full(max(low, 0), init, x.dtype),
            spread[max(-low, 0) :],
            np.full(max(high, 0), init, x.dtype),
        ]
    )
    padded = padded[: len(padded) + min(high, 0)]
    reach = (size - 1) * dilation + 1
    starts = range(0, len(padded) - reach + 1, stride)
    return np.array(
        [oracle([init, *padded[s : s + reach : dilation]]) for s in starts], x.dtype
    )


@pytest.mark.parametrize("n", [0, 1, 3, 6, 8])
@pytest.mark.parametrize(
    ("size", "stride", "base", "dilation", "padding"),
    [
        (2, 1, 1, 1, "VALID"),
        (3, 2, 1, 1, "VALID"),
        (3, 2, 1, 1, "SAME"),
        (4, 3, 1, 1, "SAME"),
        (2, 2, 3, 2, "SAME"),
        (3, 1, 1, 2, [(2, 3)]),
        (2, 3, 2, 1, [(1, 2)]),
        (2, 1, 1, 1, [(1, -1)]),
    ],
)
def test_reduce_window(n, size, stride, base, dilation, padding):
    x = floats(n)
    pads = padding[0] if isinstance(padding, list) else (0, 0)
    if padding == "SAME":
        count = max(n - 1, 0) * base + min(n, 1)
        reach = (size - 1) * dilation + 1
        total = max((math.ceil(count / stride) - 1) * stride + reach - count, 0)
        pads = (total // 2, total - total // 2)
    if n + min(pads[1], 0) < 0:
        pytest.skip("removes more than there is")
    for computation, init, oracle in (
        (xo.add, 0.0, np.sum),
        (xo.max, -np.inf, np.max),
        (lambda a, b: (a * 2 + b * 2) / 2, 0.0, np.sum),
    ):
        expected = _windows(x, init, oracle, size, stride, base, dilation, pads)
        if padding == "SAME" and n == 0:
            expected = expected[:0]

        @jax.jit
        def reduced(x, computation=computation, init=init):
            return xo.reduce_window(
                [x],
                [init],
                computation,
                [size],
                [stride],
                base_dilations=[base],
                window_dilations=[dilation],
                padding=padding,
            )

        check(reduced(bounded(x, (8,))), expected)


@pytest.mark.parametrize("padding", ["VALID", "SAME", [(2, 1)]])
def test_reduce_window_with_a_stride_beyond_the_end(padding):
    x = floats(3)
    a = bounded(x, (8,))
    low = {"VALID": 0, "SAME": 0}.get(str(padding), 2)
    for stride in (9, 11, 2**31 - 1):
        y = xo.reduce_window([a], [0.0], xo.add, [2], [stride], padding=padding)
        check(y, np.array([np.sum(x[: 2 - low])], np.float32))


def test_reduce_window_of_matrices():
    x = floats(3, 4)
    y = xo.reduce_window([bounded(x, (5, 6))], [0.0], xo.add, (2, 2), (1, 2), "VALID")
    expected = [[x[i : i + 2, j : j + 2].sum() for j in (0, 2)] for i in (0, 1)]
    check(y, np.array(expected, np.float32))
    general = xo.reduce_window_with_general_padding(
        [bounded(x, (5, None))],
        [0.0],
        xo.add,
        (2, 1),
        (1, 1),
        None,
        None,
        [(0, 0), (0, 0)],
    )
    check(general, x[:-1] + x[1:])
