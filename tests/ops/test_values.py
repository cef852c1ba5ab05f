"""Edge values, computed by hand from the document and from XLA's own rules."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from ops import oracles

import xlaops as xo

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
nan, inf = np.nan, np.inf


def assert_same(got, expected, dtype=None):
    """Equal values, NaN to NaN, and zeros of equal sign."""
    got = np.asarray(got)
    if dtype is not None:
        assert got.dtype == dtype
    if oracles.kind(got.dtype) == "f":
        got = got.astype(np.float64)
        expected = np.asarray(expected, np.float64)
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(
            np.signbit(got)[numbers], np.signbit(expected)[numbers]
        )
    np.testing.assert_array_equal(got, expected)


# Division


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_signed_division(bits, sign, mode):
    low = -(2 ** (bits - 1))
    with jax.enable_x64(bits == 64):
        dtype = f"int{bits}"
        x = jnp.array([7, -7, 7, -7, 5, -5, 0, low, low], dtype)
        y = jnp.array([-2, 2, 2, -2, 0, 0, 0, -1, 0], dtype)
        quotient, remainder = mode(xo.div)(x, y), mode(xo.rem)(x, y)
    assert_same(quotient, [-3, -3, 3, 3, -1, -1, -1, low, -1], dtype)
    assert_same(remainder, [1, -1, 1, -1, 5, -5, 0, 0, low], dtype)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_unsigned_division(bits, mode):
    high = 2**bits - 1
    with jax.enable_x64(bits == 64):
        dtype = f"uint{bits}"
        x, y = (
            jnp.array([7, high, 5, 0, high], dtype),
            jnp.array([2, 3, 0, 0, 0], dtype),
        )
        quotient, remainder = mode(xo.div)(x, y), mode(xo.rem)(x, y)
    assert_same(quotient, [3, high // 3, high, high, high], dtype)
    assert_same(remainder, [1, high % 3, 5, 0, high], dtype)


def test_scalar_divisors(mode):
    """A Python divisor, zero and -1 among them, and divisors that are stretched."""
    x = jnp.array([7, -7, INT_MIN])
    assert_same(mode(lambda v: xo.div(v, 0))(x), [-1, -1, -1])
    assert_same(mode(lambda v: xo.rem(v, 0))(x), [7, -7, INT_MIN])
    assert_same(mode(lambda v: xo.div(v, -1))(x), [-7, 7, INT_MIN])
    assert_same(mode(lambda v: xo.rem(v, -1))(x), [0, 0, 0])
    assert_same(mode(lambda v: xo.div(9, v))(x), [1, -1, 0])
    both = mode(xo.div)(jnp.array([[6], [-9]]), jnp.array([[0, 2, -3]]))
    assert_same(both, [[-1, 3, -2], [-1, -4, 3]])


def test_real_division():
    x, y = jnp.array([1.0, -1.0, 0.0, inf]), jnp.array([0.0, 0.0, 0.0, inf])
    assert_same(xo.div(x, y), [inf, -inf, nan, nan])
    x = jnp.array([5.5, -5.5, 1.0, 1.0, inf, -0.0])
    y = jnp.array([2.0, 2.0, 0.0, inf, 2.0, 3.0])
    assert_same(xo.rem(x, y), [1.5, -1.5, nan, 1.0, nan, -0.0])


ZERO_DIVISORS = """
import jax, jax.numpy as jnp, numpy as np, xlaops as xo
for name in {names}:
    jax.config.update("jax_enable_x64", "64" in name)
    ones = np.iinfo(name).max if name[0] == "u" else -1
    c = jnp.array([6, 9], name)
    zeros = {{
        "literal": lambda: jnp.zeros(2, name),
        "numpy": lambda: np.zeros(2, name),
        "difference": lambda: xo.sub(c, c),
        "product": lambda: xo.mul(c, 0),
        "quotient": lambda: xo.div(xo.rem(c, 3), 5),
        "converted": lambda: xo.convert_element_type(jnp.zeros(2), name),
        "selected": lambda: xo.select(xo.gt(c, 0), xo.xor(c, c), c),
        "python": lambda: 0,
        "scalar": lambda: xo.sub(c[0], c[0]),
    }}
    for label, zero in zeros.items():
        quotient, remainder = jax.jit(lambda: (xo.div(c, zero()), xo.rem(c, zero())))()
        assert quotient.dtype == remainder.dtype == name, (name, label)
        assert quotient.tolist() == [ones, ones], (name, label, quotient)
        assert remainder.tolist() == [6, 9], (name, label, remainder)
    own = jax.jit(lambda: xo.div(jnp.array(6, name), jnp.array(0, name)))()
    assert int(own) == ones, (name, own)
    low = jnp.array([np.iinfo(name).min], name)
    if name[0] == "i":
        q, r = jax.jit(lambda: (xo.div(low, -1), xo.rem(low, -1)))()
        assert q == low and r == 0, (name, q, r)
print("survived")
"""


@pytest.mark.parametrize(
    "names", [("int8", "uint16", "int32", "uint32"), ("int16", "int64", "uint64")]
)
def test_constant_zero_divisors_do_not_end_the_process(names):
    """XLA folds constants, and one of its versions divides by zero while it does.

    In a process of its own, which it would end.
    """
    done = subprocess.run(
        [sys.executable, "-c", ZERO_DIVISORS.format(names=names)],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "survived\n"


# Powers


def test_integer_powers_wrap(mode):
    x = jnp.array([3, -3, 2, 2, 2, 0, 0, -1, -1, 1, 7])
    y = jnp.array([4, 3, 31, 32, -1, 0, 5, -3, -4, -9, 30])
    wrapped = (7**30 + 2**31) % 2**32 - 2**31
    expected = [81, -27, INT_MIN, 0, 0, 1, 0, -1, 1, 1, wrapped]
    assert_same(mode(xo.pow)(x, y), expected, "int32")
    # And when XLA folds constants.
    assert_same(jax.jit(lambda: xo.pow(x, y))(), expected, "int32")


@pytest.mark.parametrize("exponent", [63, 64, 65, 100, 127])
@pytest.mark.parametrize("dtype", ["int8", "uint32"])
def test_integer_powers_wrap_with_large_exponents(dtype, exponent, mode):
    """The same at run time as when XLA folds constants."""
    x, y = jnp.array([3, 5], dtype), jnp.array([exponent] * 2, dtype)
    expected = oracles.wrapped([3**exponent, 5**exponent], np.dtype(dtype))
    assert_same(mode(xo.pow)(x, y), expected, dtype)
    assert_same(jax.jit(lambda: xo.pow(x, y))(), expected, dtype)


def test_unsigned_powers():
    x = jnp.array([255, 2, 3], "uint8")
    assert_same(xo.pow(x, 2), [1, 4, 9], "uint8")
    # As an unsigned exponent 255 is no -1.
    assert_same(xo.pow(x, jnp.array([1, 255, 0], "uint8")), [255, 0, 1], "uint8")


def test_real_powers():
    x = jnp.array([0.0, -8.0, -8.0, 0.0, nan, inf, 2.0])
    y = jnp.array([0.0, 3.0, 0.5, -1.0, 0.0, -1.0, inf])
    assert_same(xo.pow(x, y), [1, -512, nan, inf, 1, 0, inf])


# Signs and extremes


def test_wrapping():
    assert_same(xo.add(jnp.array([INT_MAX]), 1), [INT_MIN], "int32")
    assert_same(xo.sub(jnp.array([0, 5], "uint8"), 7), [249, 254], "uint8")
    assert_same(xo.mul(jnp.array([2**20]), 2**12), [0], "int32")
    assert_same(xo.neg(jnp.array([INT_MIN])), [INT_MIN], "int32")
    assert_same(xo.neg(jnp.array([1, 0], "uint16")), [65535, 0], "uint16")
    assert_same(xo.abs(jnp.array([INT_MIN, -5])), [INT_MIN, 5], "int32")
    assert_same(xo.abs(jnp.array([255, 0], "uint8")), [255, 0], "uint8")
    assert_same(xo.sign(jnp.array([200, 0], "uint8")), [1, 0], "uint8")
    assert_same(xo.sign(jnp.array([INT_MIN, 0, 3])), [-1, 0, 1], "int32")


def test_signed_zeros_and_nan(mode):
    x = jnp.array([-0.0, 0.0, nan, -3.0, inf])
    assert_same(mode(xo.sign)(x), [-0.0, 0.0, nan, -1.0, 1.0])
    assert_same(mode(xo.abs)(x), [0.0, 0.0, nan, 3.0, inf])
    assert_same(mode(xo.neg)(x), [0.0, -0.0, nan, 3.0, -inf])
    assert_same(mode(xo.sqrt)(x), [-0.0, 0.0, nan, nan, inf])
    a, b = (
        jnp.array([-0.0, 0.0, nan, 1.0, -0.0]),
        jnp.array([0.0, -0.0, 1.0, nan, -0.0]),
    )
    assert_same(mode(xo.max)(a, b), [0.0, 0.0, nan, nan, -0.0])
    assert_same(mode(xo.min)(a, b), [-0.0, -0.0, nan, nan, -0.0])


def test_angles_at_signed_zeros():
    y, x = jnp.array([0.0, -0.0, 0.0, -0.0]), jnp.array([-0.0, -0.0, 0.0, 0.0])
    got = xo.atan2(y, x)
    np.testing.assert_allclose(got, [np.pi, -np.pi, 0, 0], rtol=1e-6)
    assert np.signbit(np.asarray(got)).tolist() == [False, True, False, True]


def test_pred_arithmetic():
    x, y = jnp.array([True, True, False, False]), jnp.array([True, False, True, False])
    assert_same(xo.add(x, y), [True, True, True, False], "bool")
    assert_same(xo.mul(x, y), [True, False, False, False], "bool")
    assert_same(xo.max(x, y), [True, True, True, False], "bool")
    assert_same(xo.min(x, y), [True, False, False, False], "bool")
    assert_same(xo.xor(x, y), [False, True, True, False], "bool")
    assert_same(xo.not_(x), [False, False, True, True], "bool")
    assert_same(xo.not_(jnp.array([5, 0])), [-6, -1], "int32")
    with pytest.raises(TypeError, match=r"^sub: lhs .* bool\[4\]"):
        xo.sub(x, y)


def test_complex_numbers():
    assert_same(xo.abs(jnp.array([3 - 4j, 0j])), [5.0, 0.0], "float32")
    np.testing.assert_allclose(
        xo.sign(jnp.array([3 + 4j, 0j, -2j])), [0.6 + 0.8j, 0, -1j], rtol=1e-6
    )
    assert xo.max(jnp.complex64(1 + 5j), jnp.complex64(2 - 9j)) == 2 - 9j
    assert xo.max(jnp.complex64(2 + 5j), jnp.complex64(2 - 9j)) == 2 + 5j
    assert xo.min(jnp.complex64(2 + 5j), jnp.complex64(2 - 9j)) == 2 - 9j
    np.testing.assert_allclose(
        xo.cbrt(jnp.array([-8 + 0j, 0j])), [1 + np.sqrt(3) * 1j, 0], rtol=1e-6
    )


# Rounding


def test_halves(mode):
    x = jnp.array([0.5, 1.5, 2.5, -2.5, -0.5, -0.3, 0.49999997, 8388609.0, inf, nan])
    away = [1, 2, 3, -3, -1, -0.0, 0, 8388609, inf, nan]
    assert_same(mode(xo.round)(x), away)
    assert_same(mode(xo.round_nearest_afz)(x), away)
    even = [0, 2, 2, -2, -0.0, -0.0, 0, 8388609, inf, nan]
    assert_same(mode(xo.round_nearest_even)(x), even)
    assert_same(mode(xo.ceil)(x), [1, 2, 3, -2, -0.0, -0.0, 1, 8388609, inf, nan])
    assert_same(mode(xo.floor)(x), [0, 1, 2, -3, -1, -1, 0, 8388609, inf, nan])


# The total order

TOTAL = [-nan, -inf, -1.0, -0.0, 0.0, 1.0, inf, nan]
DIRECTIONS = ["EQ", "NE", "GE", "GT", "LE", "LT"]


def ordered(dtype):
    """The eight numbers in their order, with the signs of NaN set by hand."""
    values = np.array(TOTAL).astype(dtype)
    bits = values.view(f"u{values.dtype.itemsize}")
    sign = 1 << (8 * values.dtype.itemsize - 1)
    bits[0] |= sign
    bits[-1] &= sign - 1
    return values


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "dtype", [np.float32, ml_dtypes.bfloat16, np.float16, np.float64]
)
def test_total_order(dtype, direction, mode):
    """All 64 pairs, against the positions and against the patterns of bits."""
    values = ordered(dtype)
    with jax.enable_x64(dtype is np.float64):
        x, y = (jnp.asarray(v) for v in (values[:, None], values[None, :]))
        f = getattr(xo, f"{direction.lower()}_total_order")
        got = mode(f)(x, y)
        same = xo.compare(x, y, direction=direction, type="TOTALORDER")
    i, j = np.indices((8, 8))
    expected = {
        "EQ": i == j,
        "NE": i != j,
        "GE": i >= j,
        "GT": i > j,
        "LE": i <= j,
        "LT": i < j,
    }[direction]
    assert_same(got, expected, "bool")
    assert_same(same, expected, "bool")
    by_bits = oracles.total_order(direction)(values[:, None], values[None, :])
    np.testing.assert_array_equal(by_bits, expected)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_total_order_of_constants(direction):
    """The same when XLA folds them."""
    # Of full size: a broadcast would not be folded.
    x, y = np.repeat(ordered(np.float32), 8), np.tile(ordered(np.float32), 8)
    f = getattr(xo, f"{direction.lower()}_total_order")
    expected = oracles.total_order(direction)(x, y)
    assert_same(jax.jit(lambda: f(x, y))(), expected)
    half = x.astype(ml_dtypes.bfloat16), y.astype(ml_dtypes.bfloat16)
    assert_same(jax.jit(lambda: f(*half))(), expected)


def test_partial_order_of_nan_and_zeros():
    x = jnp.array([nan, nan, -0.0, 1.0])
    y = jnp.array([nan, 1.0, 0.0, nan])
    assert_same(xo.eq(x, y), [False, False, True, False])
    assert_same(xo.ne(x, y), [True, True, False, True])
    for f in (xo.lt, xo.gt):
        assert_same(f(x, y), [False] * 4)
    for f in (xo.le, xo.ge):
        assert_same(f(x, y), [False, False, True, False])


def test_total_order_of_integers():
    x, y = jnp.array([-1, 2]), jnp.array([1, 2])
    assert_same(xo.lt_total_order(x, y), [True, False])
    big = jnp.array([200, 1], "uint8")
    assert_same(xo.gt_total_order(big, 100), [True, False])


# Clamp and select


def test_clamp():
    assert_same(xo.clamp(5.0, jnp.array([1.0, 7.0]), 2.0), [2, 2])
    assert_same(xo.clamp(0.0, jnp.array([nan]), 2.0), [nan])
    assert_same(xo.clamp(jnp.array([0.0, 1.0]), 0.5, 2.0), [0.5, 1])
    assert_same(xo.clamp(nan, jnp.array([1.0]), 2.0), [nan])
    assert_same(xo.clamp(jnp.array([0, 250], "uint8"), 100, 200), [100, 200], "uint8")


@pytest.mark.parametrize("operand", [False, True])
def test_clamp_of_pred_with_min_above_max(operand, mode):
    """It is ``max`` also there, and also of constants."""
    x = jnp.array([operand])
    low, high = jnp.array([True]), jnp.array([False])
    assert_same(mode(xo.clamp)(low, x, high), [False], "bool")
    assert_same(jax.jit(lambda: xo.clamp(low, x, high))(), [False], "bool")


def test_select_of_scalars():
    pred = jnp.array([True, False])
    assert_same(xo.select(pred, 1, jnp.array([5, 6])), [1, 6], "int32")
    assert_same(xo.select(True, jnp.array([1, 2]), 0), [1, 2], "int32")
    assert_same(xo.select(pred, jnp.float32(1), 2), [1, 2], "float32")
    assert_same(xo.select(pred, 1, 2), [1, 2], "int32")


# Conversion


def test_conversion_saturates(mode):
    def to(name):
        return mode(lambda v: xo.convert_element_type(v, name))

    x = jnp.array([300.0, -300.0, nan, -1.9, inf, -inf])
    assert_same(to("s8")(x), [127, -128, 0, -1, 127, -128], "int8")
    assert_same(to("u8")(x), [255, 0, 0, 0, 255, 0], "uint8")
    big = jnp.array([3e9, -3e9, nan])
    assert_same(to("s32")(big), [INT_MAX, INT_MIN, 0], "int32")
    assert_same(to("u32")(jnp.array([5e9, -1.0])), [2**32 - 1, 0], "uint32")


def test_conversion_of_constants_saturates():
    """As at run time, when XLA folds it."""
    x = jnp.array([300.0, -300.0, nan, -1.9])
    got = jax.jit(lambda: xo.convert_element_type(x, "s8"))()
    assert_same(got, [127, -128, 0, -1], "int8")


def test_conversion():
    assert_same(
        xo.convert_element_type(jnp.array([300, -129]), "s8"), [44, 127], "int8"
    )
    pred = xo.convert_element_type(jnp.array([nan, 0.0, -0.0, 0.5]), "pred")
    assert_same(pred, [True, False, False, True], "bool")
    assert xo.convert_element_type(jnp.int32(16777217), "f32") == 16777216
    assert_same(
        xo.convert_element_type(jnp.array([1 + 2j, -3j]), "f32"), [1, -0.0], "float32"
    )
    assert_same(xo.convert_element_type(jnp.array([True, False]), "f32"), [1, 0])
    # Ties to even: 1 + 2**-8 lies between two bfloat16.
    halfway = jnp.array([1 + 2**-8, 1 + 3 * 2**-8])
    assert_same(
        xo.convert_element_type(halfway, "bf16"), [1, 1 + 2**-6], ml_dtypes.bfloat16
    )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_conversion_of_complex_numbers_to_pred(dtype, mode):
    """Whether they differ from zero, the imaginary part too."""
    with jax.enable_x64(dtype == "complex128"):
        x = jnp.array([0, 1, 2j, 1 + 1j], dtype)
        got = mode(lambda v: xo.convert_element_type(v, "pred"))(x)
    assert_same(got, [False, True, True, True], "bool")


# Broadcasting


def test_documents_example():
    row, column = jnp.array([1, 2, 3, 4]), jnp.array([[5, 6]])
    expected = [[6, 7], [7, 8], [8, 9], [9, 10]]
    assert_same(xo.add(row, column, (0,)), expected)
    assert_same(xo.add(column, row, (0,)), expected)
    shapes = xo.add(jnp.zeros((1, 2)), jnp.zeros((4, 3, 1)), (1, 2)).shape
    assert shapes == (4, 3, 2)
    assert xo.add(jnp.zeros((2, 1)), jnp.zeros((1, 3))).shape == (2, 3)
    assert xo.add(jnp.zeros((2, 1)), jnp.zeros((2, 3, 4)), (0, 2)).shape == (2, 3, 4)
    assert xo.add(jnp.zeros((0, 3)), jnp.zeros((1, 3))).shape == (0, 3)
    assert xo.add(jnp.zeros((2, 3)), jnp.zeros((2, 3)), (0, 1)).shape == (2, 3)


@pytest.mark.parametrize(
    ("lhs", "rhs", "dims", "exception"),
    [
        ((2, 3), (3,), (), TypeError),
        ((3, 3), (3, 3), (1, 0), ValueError),
        ((2, 3, 4), (4, 3), (2, 1), ValueError),
        ((7, 2, 5), (7, 2, 6), (), TypeError),
        ((2, 3), (3,), (0,), TypeError),
        ((2, 3), (3,), (-1,), ValueError),
        ((2, 3), (3,), (0, 1), ValueError),
        ((2, 3), (), (0,), ValueError),
        ((0, 3), (2, 3), (), TypeError),
    ],
)
def test_shapes_that_do_not_broadcast(lhs, rhs, dims, exception, mode):
    with pytest.raises(exception, match=r"^add: "):
        mode(lambda x, y: xo.add(x, y, dims))(jnp.zeros(lhs), jnp.zeros(rhs))
    with pytest.raises(exception, match=r"^add: "):
        mode(lambda x, y: xo.add(x, y, dims))(jnp.zeros(rhs), jnp.zeros(lhs))


# Scalars of Python, numpy and JAX


@pytest.mark.parametrize("value", [0, 1, 2, 100, 127])
@pytest.mark.parametrize(
    "dtype", ["int8", "float32", "bfloat16", "complex64", "uint32"]
)
def test_a_python_int_becomes_any_number(dtype, value, mode):
    got = mode(lambda v: xo.max(v, value))(jnp.zeros(2, dtype))
    assert_same(got, np.array([value] * 2, dtype), dtype)


def test_a_python_float_becomes_floating_or_complex(mode):
    for dtype in ("float32", "float16", "bfloat16", "complex64"):
        got = mode(lambda v: xo.add(v, 1.5))(jnp.zeros(2, dtype))
        assert_same(got, np.array([1.5] * 2, dtype), dtype)
    with pytest.raises(TypeError, match=r"^add: operands .* int32\[2\].*float 1.5"):
        xo.add(jnp.zeros(2, jnp.int32), 1.5)
    with jax.enable_x64(True):
        got = mode(lambda v: xo.add(v, 0.1))(jnp.zeros(2, "float64"))
    assert_same(got, [0.1, 0.1], "float64")


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", True),
        ("int32", True),
        ("int32", 1j),
        ("float32", 1j),
        ("bool", 1),
        ("bool", 0.5),
    ],
)
def test_kinds_that_do_not_mix(dtype, value, mode):
    with pytest.raises(TypeError, match=rf"^eq: operands .*{dtype}\[2\]"):
        mode(lambda v: xo.eq(v, value))(jnp.zeros(2, dtype))
    with pytest.raises(TypeError, match=rf"^eq: operands .*{dtype}\[2\]"):
        mode(lambda v: xo.eq(value, v))(jnp.zeros(2, dtype))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int8", 128),
        ("int8", -129),
        ("uint8", 256),
        ("uint8", -1),
        ("uint32", -1),
        ("int32", 2**31),
        ("uint16", 65536),
        ("int4", 8),
        ("int4", 100),
        ("uint4", 16),
    ],
)
def test_python_ints_that_do_not_fit(dtype, value, mode):
    x = jnp.zeros(2, dtype)
    for f in (xo.add, xo.max):
        with pytest.raises(OverflowError, match=rf"^{f.__name__}: rhs .*{value}"):
            mode(lambda v, f=f: f(v, value))(x)
    with pytest.raises(OverflowError, match=rf"^add: lhs .*{value}"):
        mode(lambda v: xo.add(value, v))(x)


def test_python_int_beyond_every_type():
    with pytest.raises(OverflowError, match=r"^add: "):
        xo.add(2**80, jnp.int32(1))
    with pytest.raises(OverflowError, match=r"^add: "):
        xo.add(2**80, 2**80)
    with pytest.raises(OverflowError, match=r"^neg: operand"):
        xo.neg(2**80)


def test_python_ints_are_rounded_into_floating_point():
    assert xo.add(jnp.float32(0), 16777217) == 16777216
    assert xo.add(jnp.float16(0), 10**6) == inf


def test_numpy_scalars_are_strong():
    with pytest.raises(
        TypeError, match=r"^add: operands .*float64|^add: .*float32\[\]"
    ):
        xo.add(jnp.zeros(2, "bfloat16"), np.float32(1))
    with pytest.raises(TypeError, match=r"^add: "):
        xo.add(jnp.zeros(2, "float32"), np.int32(1))
    got = xo.add(jnp.zeros(2, "float32"), np.float32(1))
    assert_same(got, [1, 1], "float32")
    # As everywhere in JAX a 64-bit type is one of 32 bits without x64.
    assert xo.add(jnp.zeros(2, "float32"), np.float64(1)).dtype == "float32"
    with jax.enable_x64(True), pytest.raises(TypeError, match=r"^add: "):
        xo.add(jnp.zeros(2, "float32"), np.float64(1))


def test_two_python_scalars(mode):
    assert xo.add(1, 2).dtype == "int32"
    assert xo.add(1, 2.5) == 3.5
    assert xo.add(2.5, 1).dtype == "float32"
    assert xo.add(1, 2j).dtype == "complex64"
    assert xo.add(True, False).dtype == "bool"
    with pytest.raises(TypeError, match=r"^add: "):
        xo.add(True, 1)
    assert mode(xo.add)(1, 2.5) == 3.5
    assert mode(xo.clamp)(0, 2.5, 2) == 2


@pytest.mark.parametrize("dtype", ["bfloat16", "float64", "int8", "complex64"])
def test_traced_python_scalars_adapt(dtype):
    """A scalar that is an argument of a jitted function is still a Python scalar."""
    with jax.enable_x64(dtype == "float64"):
        x = jnp.ones(3, dtype)
        got = jax.jit(lambda v, s: xo.add(v, s))(x, 2)
    assert_same(got, np.array([3] * 3, dtype), dtype)


def test_weak_arrays_adapt_where_they_are_scalars():
    weak = jnp.asarray(2.0)
    assert jax.typeof(weak).weak_type
    assert xo.add(jnp.ones(2, "bfloat16"), weak).dtype == "bfloat16"
    with pytest.raises(TypeError, match=r"^add: "):
        xo.add(jnp.ones(2, "int32"), weak)
    with pytest.raises(TypeError, match=r"^add: "):
        xo.add(jnp.ones(2, "bfloat16"), jnp.float32(2))


def test_python_floats_are_rounded_once(mode):
    """To the operand's type alone, eagerly as in a program.

    1 + 2**-11 alone lies between two float16 and goes to 1; this is above it, but not
    in float32.
    """
    value = 1 + 2**-11 + 2**-30
    got = mode(lambda v: xo.add(v, value))(jnp.zeros(1, "float16"))
    assert_same(got, [1 + 2**-10], "float16")


@pytest.mark.parametrize(
    "bad", ["3", None, [1, 2], (1.0,), {"a": 1}, np.array(["a"]), np.array([None])]
)
def test_what_is_no_array(bad, mode):
    with pytest.raises(TypeError, match=r"^neg: operand must"):
        xo.neg(bad)
    with pytest.raises(TypeError, match=r"^add: rhs must"):
        mode(lambda v: xo.add(v, bad))(jnp.zeros(2))


def test_missing_and_unknown_arguments():
    with pytest.raises(TypeError, match=r"^add\(\) .*rhs"):
        xo.add(1)
    with pytest.raises(TypeError, match=r"^add\(\) .*other"):
        xo.add(1, 2, other=3)
    with pytest.raises(TypeError, match=r"^add\(\) "):
        xo.add(1, 2, (), 4)
    with pytest.raises(TypeError, match=r"^add\(\) .*lhs"):
        xo.add(1, 2, lhs=3)


def test_traced_static_arguments():
    with pytest.raises(jax.errors.JAXTypeError) as caught:
        jax.jit(lambda n: xo.broadcast(jnp.ones(2), (n,)))(3)
    assert any("broadcast_sizes" in note for note in caught.value.__notes__)


# Control flow

BRANCHES = [lambda v: v + 1, lambda v: v * 10, lambda v: v - 5]


@pytest.mark.parametrize(
    ("index", "expected"),
    [(-1, -3), (2, -3), (3, -3), (INT_MIN, -3), (INT_MAX, -3), (0, 3), (1, 20)],
)
def test_branch_index_out_of_range_is_the_last(index, expected, mode):
    x = jnp.float32(2)
    f = mode(lambda i: xo.conditional(i, BRANCHES, [x, x, x]))
    assert f(jnp.int32(index)) == expected
    assert f(index) == expected
    assert jax.jit(lambda: xo.conditional(index, BRANCHES, [x, x, x]))() == expected


@pytest.mark.parametrize("index", [2**32, 2**32 + 1, -(2**32)])
def test_branch_index_beyond_32_bits(index):
    """The last branch, or an error: not what its low bits say."""
    with jax.enable_x64(True):
        x = jnp.float32(2)
        try:
            got = xo.conditional(index, BRANCHES, [x, x, x])
        except (OverflowError, TypeError) as error:
            assert str(error).startswith("conditional: branch_index")  # noqa: PT017
        else:
            assert got == -3


def test_one_branch():
    for index in (-1, 0, 5):
        assert xo.conditional(index, [lambda v: v * 2], [jnp.float32(4)]) == 8


def test_branches_of_different_operands():
    got = xo.conditional(
        True,
        (jnp.float32(2), jnp.int32(3)),
        lambda t: t[0],
        {"a": jnp.ones(3)},
        lambda d: d["a"].sum(),
    )
    assert got == 2
    with pytest.raises(
        TypeError, match=r"^conditional: false_computation .*float32\[3\]"
    ):
        xo.conditional(True, 1.0, lambda v: v, jnp.ones(3), lambda v: v)
    with pytest.raises(TypeError, match=r"^conditional: branch_index"):
        xo.conditional(jnp.uint32(0), BRANCHES, [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"^conditional: branch_computations"):
        xo.conditional(0, [], [])


def test_while():
    assert xo.while_(lambda v: v < 0, lambda v: v + 1, jnp.int32(3)) == 3
    state = xo.while_(
        lambda s: s["i"] < 4,
        lambda s: {"i": s["i"] + 1, "x": s["x"] * 2.0},
        {"i": 0, "x": jnp.ones(2)},
    )
    assert state["i"] == 4
    assert_same(state["x"], [16, 16])
    with pytest.raises(TypeError, match=r"^while_: body .*int32\[\].*float32\[\]"):
        xo.while_(lambda v: v < 3, lambda v: v * 1.5, jnp.int32(1))
    with pytest.raises(TypeError, match=r"^while_: condition .*bool\[2\]"):
        xo.while_(lambda v: v < 3, lambda v: v, jnp.ones(2))


# Shapes and products


def test_pad_by_hand():
    x = jnp.array([1, 2, 3])
    assert_same(xo.pad(x, 0, [(-1, -2, 2)]), [0, 0, 2, 0])
    assert_same(xo.pad(x, 9, [(2, 0, 1)]), [9, 9, 1, 9, 2, 9, 3])
    assert_same(xo.pad(x, 9, [(0, -3, 0)]), np.zeros(0))
    with pytest.raises(ValueError, match=r"^pad: padding_config"):
        xo.pad(x, 0, [(-2, -2, 0)])
    with pytest.raises(TypeError, match=r"^pad: "):
        xo.pad(x, 0.5, [(0, 0, 0)])


def test_iota_wraps_and_rounds():
    assert_same(xo.iota("u8[300]", 0)[254:258], [254, 255, 0, 1], "uint8")
    assert_same(xo.iota("bf16[300]", 0)[257:260], [256, 258, 260], ml_dtypes.bfloat16)
    assert xo.iota("f32[0]", 0).shape == (0,)
    with pytest.raises(TypeError, match=r"^iota: shape .*pred\[3\]"):
        xo.iota("pred[3]", 0)


def test_integer_products_wrap_in_their_type():
    x = jnp.array([127, 127], "int8")
    assert xo.dot(x, x) == 2
    wide = xo.dot(x, x, preferred_element_type="s32")
    assert wide == 2 * 127 * 127
    assert wide.dtype == "int32"


def test_dot_of_rank_three(rng):
    x, y = rng.normal(size=(2, 3, 4)).astype("f"), rng.normal(size=3).astype("f")
    expected = np.einsum("akb,k->ab", x, y)
    np.testing.assert_allclose(xo.dot(x, y), expected, rtol=1e-5, atol=1e-6)


def test_same_padding_puts_the_odd_one_at_the_end():
    x = jnp.arange(1.0, 5.0).reshape(1, 1, 4)
    kernel = jnp.array([[[1.0, 10.0]]])
    got = xo.conv(x, kernel, (1,), "SAME")
    assert_same(got[0, 0], [21, 32, 43, 4])


def test_window_reversal_by_hand():
    x, kernel = jnp.array([[[1.0, 2.0, 3.0]]]), jnp.array([[[1.0, 10.0]]])
    args = ((1,), [(0, 0)], (1,), (1,), "bf0_oi0->bf0")
    assert_same(xo.conv_general_dilated(x, kernel, *args)[0, 0], [21, 32])
    got = xo.conv_general_dilated(x, kernel, *args, window_reversal=[True])
    assert_same(got[0, 0], [12, 23])
