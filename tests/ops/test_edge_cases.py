"""Corners in which XLA is easily misread, with values found by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

import xlaops as xo

INF, NAN = np.inf, np.nan
INT_MIN = -(2**31)


def f32(*values):
    return np.array(values, np.float32)


def s32(*values):
    return np.array(values, np.int32)


def same(result, expected):
    """Equal bit by bit, but for what kind of NaN it is."""
    result, expected = (
        np.asarray(result),
        np.asarray(expected, np.asarray(result).dtype),
    )
    np.testing.assert_array_equal(result, expected, strict=True)
    if result.dtype.kind == "f":
        number = ~np.isnan(expected)
        signs = np.signbit(result)[number], np.signbit(expected)[number]
        np.testing.assert_array_equal(*signs)


X5 = s32(0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("start", "expected"),
    [(s32(-1), [0, 1]), (s32(9), [3, 4]), (np.array([2**32 - 1], np.uint32), [3, 4])],
)
def test_dynamic_slice_clamps_its_start(start, expected, mode):
    same(mode(lambda x, i: xo.dynamic_slice(x, [i[0]], [2]))(X5, start), expected)
    if start.dtype == np.int32:
        # A Python integer below zero does not count from the end.
        same(xo.dynamic_slice(X5, [int(start[0])], [2]), expected)


@pytest.mark.parametrize(("start", "at"), [(-1, 0), (4, 3)])
def test_dynamic_update_slice_clamps_its_start(start, at, mode):
    expected = X5.copy()
    expected[at : at + 2] = [9, 8]
    update = mode(lambda x, u, i: xo.dynamic_update_slice(x, u, [i]))
    same(update(X5, s32(9, 8), np.int32(start)), expected)


@pytest.mark.parametrize(
    ("index", "expected"), [(-1, -3), (2, -3), (3, -3), (INT_MIN, -3), (0, 3), (1, 20)]
)
def test_conditional_takes_the_last_branch_for_other_indices(index, expected, mode):
    branches = [lambda x: x + 1, lambda x: 10 * x, lambda x: x - 5]
    two = np.float32(2)
    f = mode(lambda i: xo.conditional(i, branches, [two, two, two]))
    same(f(np.int32(index)), np.float32(expected))


def test_integers_are_divided_towards_zero(mode):
    x, y = s32(7, -7, 7, -7, 5, INT_MIN), s32(-2, 2, -2, 2, 0, -1)
    same(mode(xo.div)(x, y), [-3, -3, -3, -3, -1, INT_MIN])
    same(mode(xo.rem)(x, y), [1, -1, 1, -1, 5, 0])
    # Constants are folded by other code.
    same(jax.jit(lambda: xo.div(x, y))(), [-3, -3, -3, -3, -1, INT_MIN])
    same(jax.jit(lambda: xo.rem(x, y))(), [1, -1, 1, -1, 5, 0])


def test_broadcasting(mode):
    f = mode(lambda x, y: xo.add(x, y, (0,)))
    same(f(s32(1, 2, 3, 4), s32([5, 6])), [[6, 7], [7, 8], [8, 9], [9, 10]])
    zeros = lambda *shape: np.zeros(shape, np.float32)  # noqa: E731
    assert xo.add(zeros(1, 2), zeros(4, 3, 1), (1, 2)).shape == (4, 3, 2)
    assert xo.add(zeros(2, 1), zeros(1, 3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("lhs", "rhs", "dims"),
    [
        ((2, 3), (3,), None),
        ((3, 3), (3, 3), (1, 0)),
        ((2, 3, 4), (4, 3), (2, 1)),
        ((7, 2, 5), (7, 2, 6), None),
    ],
)
def test_broadcasting_refuses(lhs, rhs, dims):
    with pytest.raises((TypeError, ValueError), match=r"^add: "):
        xo.add(np.zeros(lhs, np.float32), np.zeros(rhs, np.float32), dims)


def test_clamp_broadcasts_its_bounds_and_keeps_nan(mode):
    clamp = mode(xo.clamp)
    same(clamp(np.float32(5), f32(1, 7), np.float32(2)), [2, 2])
    same(clamp(np.float32(0), f32(NAN), np.float32(2)), [NAN])
    same(clamp(f32(0, 1), np.float32(0.5), np.float32(2)), [0.5, 1])


def test_total_order(mode):
    minus_nan = np.copysign(np.float32(NAN), np.float32(-1))
    assert np.signbit(minus_nan)
    for f, x, y, expected in [
        (xo.eq_total_order, NAN, NAN, True),
        (xo.eq_total_order, -0.0, 0.0, False),
        (xo.ne_total_order, -0.0, 0.0, True),
        (xo.lt_total_order, minus_nan, -INF, True),
        (xo.gt_total_order, NAN, INF, True),
        (xo.lt_total_order, -0.0, 0.0, True),
        (xo.eq_total_order, minus_nan, NAN, False),
    ]:
        assert bool(mode(f)(np.float32(x), np.float32(y))) is expected, f


def test_parts_of_real_numbers_and_not(mode):
    same(mode(xo.real)(f32(1.5, -2)), [1.5, -2])
    same(mode(xo.imag)(f32(1.5, -2)), [0, 0])
    same(mode(xo.not_)(s32(5, 0)), [-6, -1])
    same(mode(xo.not_)(np.array(True)), False)


def test_bitcasts_between_widths(mode):
    s8 = mode(lambda x: xo.bitcast_convert_type(x, "s8"))(f32(1.0))
    same(s8, [[0, 0, -128, 63]])
    same(mode(lambda x: xo.bitcast_convert_type(x, "f32"))(s8), [1.0])
    assert xo.bitcast_convert_type(np.float32(1), "f16").shape == (2,)
    with pytest.raises(ValueError, match=r"^bitcast_convert_type: "):
        xo.bitcast_convert_type(np.zeros(10, np.int8), "s32")


def test_conversions(mode):
    to = lambda name: mode(lambda x: xo.convert_element_type(x, name))  # noqa: E731
    same(to("s8")(f32(300, -300, NAN, -1.9)), [127, -128, 0, -1])
    same(to("s8")(s32(300, -129)), [44, 127])
    same(to("pred")(f32(NAN, 0, -0.0, 0.5)), [True, False, False, True])
    same(to("f32")(np.int32(16777217)), 16777216)


def test_rounding_and_signs(mode):
    same(mode(xo.round)(f32(0.5, 2.5, -2.5, -0.3)), [1, 3, -3, -0.0])
    same(mode(xo.round_nearest_even)(f32(0.5, 1.5, 2.5, -0.4)), [0, 2, 2, -0.0])
    same(mode(xo.sign)(f32(-0.0, NAN, -3)), [-0.0, NAN, -1])


def test_shifts_by_more_than_there_are_bits(mode):
    same(mode(xo.shift_left)(s32(1, 1), s32(32, -1)), [0, 0])
    shifted = mode(xo.shift_right_arithmetic)(s32(-8, -8, 8), s32(1, 32, 40))
    same(shifted, [-4, -1, 0])
    same(mode(xo.shift_right_logical)(s32(-8, -8), s32(1, 32)), [2147483644, 0])


def test_reduce_counts_its_initial_value_once(mode):
    x, two = f32(1, 5, 5, 2), np.float32(2)
    f = lambda x, init: xo.reduce([x], [init], xo.mul, [0])  # noqa: E731
    same(mode(f)(x, two), 100)
    of_x, of_init = jax.grad(f, (0, 1))(x, two)
    same(of_x, [100, 20, 20, 50])
    same(of_init, 50)


def test_reduce_to_the_last_of_the_largest(mode):
    def largest(value, index, new, place):
        is_new = new >= value
        return jnp.where(is_new, new, value), jnp.where(is_new, place, index)

    f = lambda x, i: xo.reduce([x, i], [-INF, -1], largest, [0])  # noqa: E731
    value, place = mode(f)(f32(1, 5, 5, 2), s32(0, 1, 2, 3))
    same(value, 5)
    same(place, 2)


def test_windows_with_every_dilation(mode):
    f = lambda x: xo.reduce_window_with_general_padding(  # noqa: E731
        [x], [0], xo.add, (2, 1), (4, 1), (2, 1), (3, 1), [(2, 1), (0, 0)]
    )
    same(mode(f)(s32([1, 2], [3, 4], [5, 6])), [[0, 0], [3, 4]])
    g = lambda x: xo.reduce_window([x], [INF], xo.min, (3,), (2,), "SAME")  # noqa: E731
    same(mode(g)(f32(1e4, 1e3, 100, 10, 1)), [1000, 10, 1])


@pytest.mark.parametrize(
    ("operand", "select", "window", "stride", "padding", "init", "scatter", "expected"),
    [
        ([1, 1, 1], xo.ge, 2, 1, "VALID", 0, xo.add, [5, 7, 0]),
        ([1, 1, 1], xo.gt, 2, 1, "VALID", 0, xo.add, [0, 5, 7]),
        ([-3, -1, -2], xo.ge, 2, 2, [(1, 0)], 0, xo.add, [5, 7, 0]),
        ([3, 1, 2, 1], xo.ge, 2, 2, "VALID", 2, xo.sub, [-3, 2, -5, 2]),
    ],
)
def test_select_and_scatter(
    operand, select, window, stride, padding, init, scatter, expected, mode
):
    f = lambda x, s: xo.select_and_scatter(  # noqa: E731
        x, select, (window,), (stride,), padding, s, np.float32(init), scatter
    )
    same(mode(f)(f32(*operand), f32(5, 7)), expected)


def test_scatter_leaves_out_whole_windows(mode):
    elements = xo.ScatterDimensionNumbers((), (0,), (0,), 1)
    f = lambda x, i, u: xo.scatter([x], i, [u], xo.sub, elements)  # noqa: E731
    same(mode(f)(f32(10, 20, 30), s32(2, -1, 5, 0), f32(1, 2, 3, 4)), [6, 20, 29])
    windows = xo.ScatterDimensionNumbers((0,), (), (0,), 0)
    g = lambda x, i, u: xo.scatter([x], i, [u], xo.add, windows)  # noqa: E731
    same(mode(g)(f32(10, 20, 30), s32(2), f32(1, 2)), [10, 20, 30])


def test_gather_clamps(mode):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    rows = xo.GatherDimensionNumbers((1,), (0,), (0,), 1)
    f = lambda x, i: xo.gather(x, i, rows, (1, 4))  # noqa: E731
    same(mode(f)(x, s32([5], [-1])), x[[2, 0]])
    windows = xo.GatherDimensionNumbers((0, 1), (), (0, 1), 0)
    g = lambda x, i: xo.gather(x, i, windows, (2, 2))  # noqa: E731
    same(mode(g)(x, s32(2, 3)), [[6, 7], [10, 11]])
    slope = jax.grad(lambda x: f(x, s32([5], [-1], [9])).sum())(x)
    same(slope, np.repeat(f32([1], [0], [2]), 4, axis=1))


def test_pad_removes_and_spreads(mode):
    f = lambda x: xo.pad(x, np.int32(0), [(-1, -2, 2)])  # noqa: E731
    same(mode(f)(s32(1, 2, 3)), [0, 0, 2, 0])


def test_sort_takes_others_along_and_keeps_the_order(mode):
    f = lambda *xs: xo.sort(xs, lambda a, b, *_: a < b, 0)  # noqa: E731
    for result, expected in zip(
        mode(f)(s32(3, 1), s32(42, 50), f32(-3, 1.1)),
        (s32(1, 3), s32(50, 42), f32(1.1, -3)),
        strict=True,
    ):
        same(result, expected)
    far_first = lambda a, b: abs(a - 2) > abs(b - 2)  # noqa: E731
    g = lambda x: xo.sort([x], far_first, 0, is_stable=True)  # noqa: E731
    same(mode(g)(s32(3, 1, 2, 1)), [3, 1, 1, 2])


def test_smallest_elements(mode):
    smallest = lambda k: mode(lambda x: xo.top_k(x, k, largest=False))  # noqa: E731
    for x, k, values, places in [
        (s32(2, 1, 1, 3, 1), 3, [1, 1, 1], [1, 2, 4]),
        (np.array([-128, 0, 5], np.int8), 1, [-128], [0]),
        (np.array([3, 0, 255], np.uint8), 2, [0, 3], [1, 0]),
    ]:
        result, indices = smallest(k)(x)
        same(result, values)
        same(indices, places)


def test_cholesky_reads_one_triangle(mode):
    lower = np.tril(mode(lambda a: xo.cholesky(a, True))(f32([4, 99], [2, 3])))
    np.testing.assert_allclose(lower, [[2, 0], [1, np.sqrt(2)]], rtol=1e-6)
    upper = np.triu(mode(lambda a: xo.cholesky(a, False))(f32([4, 2], [99, 3])))
    np.testing.assert_allclose(upper, [[2, 1], [0, np.sqrt(2)]], rtol=1e-6)


def _on_devices(function, x):
    """A function of what each of the devices holds."""
    count = len(x)
    mesh = jax.make_mesh(
        (count,), ("i",), (jax.sharding.AxisType.Auto,), devices=jax.devices()[:count]
    )
    one = lambda x: function(x[0])[None]  # noqa: E731
    return jax.jit(jax.shard_map(one, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(x)


def test_between_four_devices():
    x = f32([0, 1], [2, 3], [4, 5], [6, 7])
    moved = _on_devices(lambda x: xo.collective_permute(x, [(0, 1), (1, 2)]), x)
    same(moved, [[0, 0], [0, 1], [2, 3], [0, 0]])
    sent = _on_devices(lambda x: xo.collective_broadcast(x, [[2, 1]]), x)
    same(sent, [[0, 0], [4, 5], [4, 5], [0, 0]])
    gathered = _on_devices(lambda x: xo.all_gather(x, 0, None, [[2, 0], [1, 3]]), x)
    same(gathered[np.array([0, 2])], [[4, 5, 0, 1]] * 2)
    same(gathered[np.array([1, 3])], [[2, 3, 6, 7]] * 2)
    y = np.arange(16, dtype=np.float32).reshape(4, 4)
    parts = _on_devices(
        lambda y: xo.reduce_scatter(y, xo.add, 0, None, [[3, 2, 1, 0]]), y
    )
    same(parts, [[36], [32], [28], [24]])


def test_batch_norm(mode):
    x, two, zero = f32([1, 2], [3, 6]), f32(2, 2), f32(0, 0)
    f = lambda x: xo.batch_norm_training(x, two, zero, 0.0, 1)  # noqa: E731
    y, mean, variance = mode(f)(x)
    np.testing.assert_allclose(y, [[-2, -2], [2, 2]], rtol=1e-6)
    same(mean, [2, 4])
    same(variance, [1, 4])  # of the elements, not of what they were drawn from
    of_y = f32([1, 0], [0, 0])
    g = lambda x: xo.batch_norm_grad(  # noqa: E731
        x, two, mean, variance, of_y, 0.0, 1
    )
    of_x, of_scale, of_offset = mode(g)(x)
    np.testing.assert_allclose(of_x, np.zeros((2, 2)), atol=1e-6)
    np.testing.assert_allclose(of_scale, [-1, 0], rtol=1e-6)
    same(of_offset, [1, 0])


def test_dot_of_rank_three(mode):
    x = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    y = f32(1, 2)
    numbers = xo.DotDimensionNumbers((1,), (0,), (), ())
    same(
        mode(lambda x, y: xo.dot_general(x, y, numbers))(x, y),
        np.einsum("akb,k->ab", x, y),
    )


def test_reduced_precision(mode):
    f = mode(lambda x: xo.reduce_precision(x, 5, 10))
    x = f32(65519, 65520, 1e-8, 1 + 2**-11, 1 + 3 * 2**-11)
    same(f(x), [65504, INF, 0, 1, 1 + 2**-9])


@pytest.mark.parametrize("value", [2**40, -(2**31) - 1, 2**63])
def test_a_constant_does_not_lose_bits_of_python_ints(value):
    with pytest.raises(
        OverflowError, match=r"^constant: literal must fit into u?int32"
    ):
        xo.constant([[value]])
    same(xo.constant([[2**31 - 1, INT_MIN]]), s32(2**31 - 1, INT_MIN)[None])


@pytest.mark.parametrize(
    ("kind", "shape", "lengths", "expected"),
    [
        ("RFFT", (2, 0), (0,), (2, 0)),
        ("RFFT", (0, 4), (0, 4), (0, 3)),
        ("RFFT", (4, 0), (4, 0), (4, 0)),
        ("FFT", (2, 0), (0,), (2, 0)),
        ("IRFFT", (4, 0), (0,), (4, 0)),
        ("IRFFT", (0, 3), (0, 4), (0, 4)),
    ],
)
def test_transforms_of_nothing(mode, kind, shape, lengths, expected):
    x = jnp.zeros(shape, "float32" if kind == "RFFT" else "complex64")
    got = mode(lambda x: xo.fft(x, kind, lengths))(x)
    assert got.shape == expected
    assert got.dtype == ("float32" if kind == "IRFFT" else "complex64")
