"""Programs of drawn operations with drawn attributes, beside numpy on sets of elements.

A set of elements of the argument is an array of bools, one for each of them, in a first
dimension that all arrays here have in front of their own. What moves elements is done
to the rest of the dimensions; what combines elements is a disjunction.
"""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from xlaops.indexing import analyze

from .observed import related

LARGEST = 120


def _some(draw, shape):
    return tuple(i for i in range(len(shape)) if draw(st.booleans()))


def _factors(draw, n):
    factors = []
    while n > 1:
        factors.append(
            draw(st.sampled_from([k for k in range(2, n + 1) if n % k == 0]))
        )
        n //= factors[-1]
    ones = draw(st.integers(0, 2))
    return tuple(draw(st.permutations([*factors, *[1] * ones])))


# Each draws its attributes and returns what it is in a program and what it is on sets.


def _reshape(draw, shape):
    new = _factors(draw, math.prod(shape))
    return lambda x: x.reshape(new), lambda a: a.reshape(len(a), *new)


def _transpose(draw, shape):
    p = draw(st.permutations(range(len(shape))))
    return lambda x: x.transpose(p), lambda a: a.transpose(0, *[i + 1 for i in p])


def _reverse(draw, shape):
    axes = _some(draw, shape)
    return lambda x: lax.rev(x, axes), lambda a: np.flip(a, [i + 1 for i in axes])


def _both_ways(draw, shape):
    axes = _some(draw, shape)
    return (
        lambda x: x + lax.rev(x, axes),
        lambda a: a | np.flip(a, [i + 1 for i in axes]),
    )


def _slice(draw, shape):
    spans = []
    for n in shape:
        start = draw(st.integers(0, n - 1))
        stop = draw(st.integers(start + 1, n))
        spans.append(slice(start, stop, draw(st.integers(1, 3))))
    spans = tuple(spans)
    return lambda x: x[spans], lambda a: a[(slice(None), *spans)]


def _start(draw, shape):
    """A slice at numbers, which are moved to where it lies in the array."""
    sizes = [draw(st.integers(1, n)) for n in shape]
    starts = [draw(st.integers(-2, n + 2)) for n in shape]
    spans = []
    for at, size, n in zip(starts, sizes, shape, strict=True):
        # Numbers below 0 count from the end.
        first = min(max(at + n if at < 0 else at, 0), n - size)
        spans.append(slice(first, first + size))
    return (
        lambda x: lax.dynamic_slice(x, starts, sizes),
        lambda a: a[(slice(None), *spans)],
    )


def _pad(draw, shape):
    config = []
    for n in shape:
        low, high, between = draw(
            st.tuples(st.integers(-2, 3), st.integers(-2, 3), st.integers(0, 2)).filter(
                lambda c, n=n: c[0] + c[1] + n + (n - 1) * c[2] > 0
            )
        )
        config.append((low, high, between))

    def padded(a):
        for i, (low, high, between) in enumerate(config, 1):
            count = a.shape[i]
            wide = [*a.shape]
            wide[i] = count + (count - 1) * between
            spread = np.zeros(wide, bool)
            at = [slice(None)] * a.ndim
            at[i] = slice(None, None, between + 1)
            spread[tuple(at)] = a
            more = [(0, 0)] * a.ndim
            more[i] = (max(low, 0), max(high, 0))
            spread = np.pad(spread, more)
            at[i] = slice(max(-low, 0), spread.shape[i] - max(-high, 0))
            a = spread[tuple(at)]
        return a

    return lambda x: lax.pad(x, jnp.float32(0), config), padded


def _broadcast(draw, shape):
    sizes, places = list(shape), list(range(len(shape)))
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(sizes)))
        sizes.insert(at, draw(st.integers(1, 3)))
        places = [p + (p >= at) for p in places]
    new = [i + 1 for i in range(len(sizes)) if i not in places]
    return (
        lambda x: lax.broadcast_in_dim(x, sizes, places),
        lambda a: np.broadcast_to(np.expand_dims(a, new), (len(a), *sizes)),
    )


def _reduce(draw, shape):
    axes = _some(draw, shape)
    return lambda x: x.sum(axes), lambda a: a.any(tuple(i + 1 for i in axes))


def _softmax(draw, shape):
    axis = draw(st.integers(0, len(shape) - 1))
    return (
        lambda x: jax.nn.softmax(x, axis),
        lambda a: a | a.any(axis + 1, keepdims=True),
    )


def _take(draw, shape):
    axis = draw(st.integers(0, len(shape) - 1))
    n = shape[axis]
    index = np.array(draw(st.lists(st.integers(-2, n + 2), min_size=1, max_size=4)))
    return (
        lambda x: jnp.take(x, index, axis, mode="clip"),
        lambda a: a.take(index.clip(0, n - 1), axis + 1),
    )


def _concatenate(draw, shape):
    axis = draw(st.integers(0, len(shape) - 1))
    before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))

    def sized(n):
        return jnp.zeros([n if i == axis else k for i, k in enumerate(shape)])

    more = [(0, 0)] * (len(shape) + 1)
    more[axis + 1] = (before, after)
    return (
        lambda x: jnp.concatenate([sized(before), x, sized(after)], axis),
        lambda a: np.pad(a, more),
    )


def _window(draw, shape):
    parts = []
    for n in shape:
        parts.append(
            draw(
                st.tuples(
                    *[st.integers(1, 3)] * 2,
                    *[st.integers(0, 2)] * 2,
                    *[st.integers(1, 2)] * 2,
                ).filter(lambda c, n=n: _window_count(n, *c) > 0)
            )
        )
    size, stride, low, high, base, window = zip(*parts, strict=True)

    def read(a):
        for i, (n, c) in enumerate(zip(shape, parts, strict=True), 1):
            a = _windows_along(a, i, n, c)
        return a

    pads = list(zip(low, high, strict=True))
    return (
        lambda x: lax.reduce_window(
            x, -jnp.inf, lax.max, size, stride, pads, base, window
        ),
        read,
    )


def _window_count(n, size, stride, low, high, base, window):
    """How many windows fit, at least 0."""
    room = (n - 1) * base + 1 + low + high - ((size - 1) * window + 1)
    return max(room // stride + 1, 0)


def _taps(n, c, o):
    """The elements along one dimension that a window reads."""
    size, stride, low, _, base, window = c
    for t in range(size):
        at = o * stride + t * window - low
        if at % base == 0 and 0 <= at // base < n:
            yield t, at // base


def _windows_along(a, axis, n, c):
    made = [
        a.take([i for _, i in _taps(n, c, o)], axis).any(axis)
        for o in range(_window_count(n, *c))
    ]
    return np.stack(made, axis)


OPERATIONS = [
    *(_reshape, _transpose, _reverse, _both_ways, _slice, _start, _pad, _broadcast),
    *(_reduce, _softmax, _take, _concatenate, _window),
]


def _hold(f, shapes, number, truth):
    """Both directions between a result and an argument are what numpy says."""
    analysis = analyze(f, *[jax.ShapeDtypeStruct(s, np.float32) for s in shapes])
    made, read = analysis.outputs[0].shape, shapes[number]
    back = analysis.output_to_input(0, number)
    ahead = analysis.input_to_output(number)
    assert all(m.exact for m in (*back, *ahead))
    truth = truth.reshape(math.prod(read), math.prod(made))
    np.testing.assert_array_equal(related(back, made, read), truth.T)
    np.testing.assert_array_equal(related(ahead, read, made), truth)


@settings(max_examples=60)
@given(st.data())
def test_chains(data):
    start = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    sets = np.eye(math.prod(start), dtype=bool).reshape(-1, *start)
    steps = []
    for operation in data.draw(st.lists(st.sampled_from(OPERATIONS), max_size=4)):
        if sets.ndim == 1 or 0 in sets.shape:
            break
        step, on_sets = operation(data.draw, sets.shape[1:])
        after = on_sets(sets)
        if math.prod(after.shape[1:]) <= LARGEST:
            steps.append(step)
            sets = after

    def f(x):
        for step in steps:
            x = step(x)
        return x

    _hold(f, [tuple(start)], 0, sets)


@settings(max_examples=30)
@given(st.data())
def test_matrix_products(data):
    counts = [data.draw(st.integers(0, 2)) for _ in range(4)]
    kinds = [[(k, i) for i in range(n)] for k, n in zip("bclr", counts, strict=True)]
    batch, contracted, left, right = kinds
    sizes = {name: data.draw(st.integers(1, 3)) for group in kinds for name in group}
    operands = [
        data.draw(st.permutations([*batch, *contracted, *free]))
        for free in (left, right)
    ]
    numbers = tuple(
        tuple(tuple(names.index(name) for name in group) for names in operands)
        for group in (contracted, batch)
    )
    shapes = [tuple(sizes[name] for name in names) for names in operands]
    # What is left of an operand stays in the operand's order.
    rest = [n for names in operands for n in names if n[0] in "lr"]
    results = [*batch, *rest]
    number = data.draw(st.integers(0, 1))
    truth = np.zeros((*shapes[number], *[sizes[n] for n in results]), bool)
    every = [*batch, *contracted, *left, *right]
    for point in itertools.product(*[range(sizes[n]) for n in every]):
        at = dict(zip(every, point, strict=True))
        truth[tuple(at[n] for n in [*operands[number], *results])] = True
    _hold(lambda x, y: lax.dot_general(x, y, numbers), shapes, number, truth)


@settings(max_examples=40)
@given(st.data())
def test_convolutions(data):
    draw = data.draw
    spatial = draw(st.integers(1, 2))
    groups, batches = draw(
        st.sampled_from([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)])
    )
    per_group, batch = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    features = draw(st.integers(1, 2)) * groups * batches
    parts, counts = [], []
    for _ in range(spatial):
        n = draw(st.integers(1, 5))
        c = draw(
            st.tuples(
                st.integers(1, 3),
                st.integers(1, 2),
                st.integers(-1, 2),
                st.integers(-1, 2),
                *[st.integers(1, 2)] * 2,
            ).filter(
                lambda c, n=n: (
                    _window_count(n, *c) > 0 and (n - 1) * c[4] + 1 + c[2] + c[3] > 0
                )
            )
        )
        parts.append((n, c))
        counts.append(_window_count(n, *c))
    digits = "01"[:spatial]
    orders = [
        draw(st.permutations(list(kinds + digits))) for kinds in ("nc", "oi", "nc")
    ]
    sizes = [
        {"n": batch * batches, "c": per_group * groups},
        {"o": features, "i": per_group},
        {"n": batch, "c": features},
    ]
    for i, digit in enumerate(digits):
        for of, n in zip(sizes, (parts[i][0], parts[i][1][0], counts[i]), strict=True):
            of[digit] = n
    numbers = lax.ConvDimensionNumbers(
        *[
            tuple(order.index(k) for k in kinds + digits)
            for order, kinds in zip(orders, ("nc", "oi", "nc"), strict=True)
        ]
    )
    shapes = [
        tuple(of[k] for k in order) for of, order in zip(sizes, orders, strict=True)
    ]
    number = draw(st.integers(0, 1))
    truth = np.zeros((*shapes[number], *shapes[2]), bool)
    for made in np.ndindex(*shapes[2]):
        at = dict(zip(orders[2], made, strict=True))
        taps = [
            list(_taps(n, c, at[digit]))
            for digit, (n, c) in zip(digits, parts, strict=True)
        ]
        for i, tap in itertools.product(range(per_group), itertools.product(*taps)):
            group, part = (at["c"] // (features // k) for k in (groups, batches))
            read = [
                {"n": part * batch + at["n"], "c": group * per_group + i},
                {"o": at["c"], "i": i},
            ][number]
            for digit, pair in zip(digits, tap, strict=True):
                read[digit] = pair[1 - number]
            truth[(*[read[k] for k in orders[number]], *made)] = True

    def f(x, kernel):
        _, stride, low, high, base, window = zip(*[c for _, c in parts], strict=True)
        pads = list(zip(low, high, strict=True))
        return lax.conv_general_dilated(
            x, kernel, stride, pads, base, window, numbers, groups, batches
        )

    _hold(f, shapes[:2], number, truth)
