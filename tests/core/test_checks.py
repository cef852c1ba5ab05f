"""The checks of arguments: what passes, in which form, and what messages say."""

import enum
import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import xlaops as xo
from xlaops.core import checks

F4, I4 = np.float32, np.int32


class Number(enum.IntEnum):
    THREE = 3


# Kinds


@pytest.mark.parametrize(
    ("kind", "names"),
    {
        "b": ["bool"],
        "i": ["int2", "int4", "int8", "int16", "int32", "int64"],
        "u": ["uint2", "uint4", "uint8", "uint16", "uint32", "uint64"],
        "f": ["float16", "bfloat16", "float32", "float64", "float8_e5m2"],
        "c": ["complex64", "complex128"],
    }.items(),
)
def test_kind(kind, names):
    for name in names:
        assert checks.kind(np.dtype(getattr(ml_dtypes, name, name))) == kind


def test_kind_of_keys_and_of_no_element_type():
    assert checks.kind(jax.random.key(0).dtype) == "k"
    for dtype in (np.dtype("U1"), np.dtype("O"), np.dtype("V4")):
        message = re.escape(f"{dtype} is not an element type of XLA")
        with pytest.raises(TypeError, match=f"^{message}$"):
            checks.kind(dtype)


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        ("b", "pred"),
        ("iu", "signed integer or unsigned integer"),
        ("fc", "floating-point or complex"),
    ],
)
def test_element_kind(allowed, words):
    key = jax.random.key(0)
    message = f"f: x must be an array of {words} elements, got key<fry>[]"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        checks.element_kind("f", "x", key, allowed)
    x = jnp.zeros(2, {"b": "bool", "i": "int8", "f": "bfloat16"}[allowed[0]])
    assert checks.element_kind("f", "x", x, allowed) is x
    assert checks.operand("f", "x", x, allowed) is x


def test_operand_names_type_and_shape():
    message = "f: x must be an array of pred elements, got float32[2, 3]"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        checks.operand("f", "x", np.zeros((2, 3), F4), "b")


# Arrays


@pytest.mark.parametrize(
    ("value", "dtype", "weak"),
    [
        (True, "bool", False),
        (3, "int32", True),
        (2.5, "float32", True),
        (1j, "complex64", True),
        (np.float64(2.5), "float32", False),
        (np.int8(3), "int8", False),
        (np.bool_(True), "bool", False),
        (np.array([1.5]), "float32", False),
        (ml_dtypes.bfloat16(1.5), "bfloat16", False),
        (np.zeros(2, ml_dtypes.float8_e5m2), "float8_e5m2", False),
        (np.zeros((0, 2), ">i4").astype(I4), "int32", False),
        (Number.THREE, "int32", True),
    ],
    ids=repr,
)
def test_array(value, dtype, weak):
    got = checks.array("f", "x", value)
    assert isinstance(got, jax.Array)
    assert got.dtype == dtype
    assert jax.typeof(got).weak_type == weak
    np.testing.assert_array_equal(got, np.asarray(value))


def test_arrays_of_jax_are_passed_on():
    x = jnp.ones(2)
    assert checks.array("f", "x", x) is x
    jax.jit(lambda v: 0.0 if checks.array("f", "x", v) is v else 1 / 0)(x)


@pytest.mark.parametrize(
    ("value", "came"),
    [
        (None, "NoneType None"),
        ("a", "str 'a'"),
        ([1, 2], "a list of length 2"),
        ((), "a tuple of length 0"),
        ({}, "dict {}"),
        ("a" * 99, f"str '{'a' * 56}..."),
        (float, "type <class 'float'>"),
    ],
    ids=repr,
)
def test_array_refuses(value, came):
    message = f"f: x must be a jax.Array, a numpy array or a scalar, got {came}"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        checks.array("f", "x", value)


@pytest.mark.parametrize(
    "dtype", ["U1", "S1", "O", "M8[s]", "m8[s]", "V4", [("a", F4)]]
)
def test_array_refuses_types_that_xla_has_not(dtype):
    value = np.zeros(2, dtype)
    message = (
        "f: x must have an element type that XLA has, got a numpy array of "
        f"{value.dtype}"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        checks.array("f", "x", value)


@pytest.mark.parametrize(
    "value", [2**40, -(2**31) - 1, 10**400], ids=["large", "negative", "huge"]
)
def test_array_refuses_ints_that_do_not_fit(value):
    with pytest.raises(OverflowError, match=r"^f: x.*int32") as caught:
        checks.array("f", "x", value)
    assert len(str(caught.value)) < 200


def test_array_refuses_masked_arrays():
    with pytest.raises(TypeError, match=r"^f: x must .* got "):
        checks.array("f", "x", np.ma.array([1.0, 2.0], mask=[0, 1]))


def test_arrays():
    got = checks.arrays("f", "xs", [1, np.ones(2, F4)])
    assert isinstance(got, tuple)
    assert [x.shape for x in got] == [(), (2,)]
    assert len(checks.arrays("f", "xs", (jnp.ones(2),))) == 1


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([], ValueError, "f: xs must hold at least one array"),
        (None, TypeError, "f: xs must be a sequence of arrays, got NoneType None"),
        (1.0, TypeError, "f: xs must be a sequence of arrays, got float 1.0"),
        ("ab", TypeError, "f: xs must be a sequence of arrays, got str 'ab'"),
        (b"ab", TypeError, "f: xs must be a sequence of arrays, got bytes b'ab'"),
        (
            np.ones((2, 2), F4),
            TypeError,
            "f: xs must be a sequence of arrays, got float32[2, 2]",
        ),
        (
            jnp.ones(2),
            TypeError,
            "f: xs must be a sequence of arrays, got float32[2]",
        ),
        (
            [1.0, None],
            TypeError,
            "f: xs[1] must be a jax.Array, a numpy array or a scalar, got NoneType "
            "None",
        ),
    ],
)
def test_arrays_refuses(values, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        checks.arrays("f", "xs", values)


# One element type


# From Python scalar to element type of the other operand.
SCALARS = {True: "b", 3: "iufc", 2.5: "fc", 1j: "c"}
ELEMENT_TYPES = {
    "bool": "b",
    "int8": "i",
    "uint32": "u",
    "bfloat16": "f",
    "float16": "f",
    "float32": "f",
    "complex64": "c",
}


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_scalars_take_the_type_of_arrays(dtype, scalar, traced, first):
    x = jnp.ones(2, dtype)

    def types(value):
        pair = {"lhs": value, "rhs": x} if first else {"lhs": x, "rhs": value}
        seen.extend(checks.same_element_type("f", **pair))
        return 0

    seen = []
    if ELEMENT_TYPES[dtype] in SCALARS[scalar]:
        if traced:
            jax.eval_shape(types, jnp.asarray(scalar))
        else:
            types(scalar)
        assert [v.dtype for v in seen] == [dtype, dtype]
        value = seen[0 if first else 1]
        assert value.shape == ()
        if not traced:
            np.testing.assert_array_equal(value, np.asarray(scalar, x.dtype))
        return
    other = "lhs" if first else "rhs"
    with pytest.raises(
        TypeError,
        match=r"^f: operands must have the same element type, got lhs .*, rhs .*"
        r"convert_element_type",
    ) as caught:
        jax.eval_shape(types, jnp.asarray(scalar)) if traced else types(scalar)
    came = f"{jnp.asarray(scalar).dtype}[]" if traced else f"{type(scalar).__name__} "
    assert f"{other} {came}" in str(caught.value)


def test_only_weakly_typed_0_d_arrays_adapt():
    x = jnp.ones(2, jnp.bfloat16)
    weak = jnp.asarray(2.0)
    assert jax.typeof(weak).weak_type
    assert checks.same_element_type("f", a=x, b=weak)[1].dtype == jnp.bfloat16
    for value in (jnp.float32(2.0), np.float32(2.0), np.array(2.0), jnp.full(2, 2.0)):
        with pytest.raises(
            TypeError, match=r"^f: .* a bfloat16\[2\], b float32|float64"
        ):
            checks.same_element_type("f", a=x, b=value)


@pytest.mark.parametrize(
    ("scalars", "dtype"),
    [
        ((1, 2), "int32"),
        ((1, 2.5), "float32"),
        ((2.5, 1), "float32"),
        ((1, 1j), "complex64"),
        ((2.5, 1j, 1), "complex64"),
        ((True, False), "bool"),
    ],
)
def test_scalars_alone_take_the_widest_kind(scalars, dtype):
    named = dict(zip("abc", scalars, strict=False))
    got = checks.same_element_type("f", **named)
    assert [x.dtype for x in got] == [dtype] * len(scalars)
    assert [complex(x) for x in got] == [complex(s) for s in scalars]


def test_bools_are_no_numbers():
    for pair in ((True, 1), (2.5, True), (np.ones(2, F4), True), (np.ones(2, bool), 1)):
        with pytest.raises(TypeError, match=r"^f: operands must have the same"):
            checks.same_element_type("f", a=pair[0], b=pair[1])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.ones(2, F4), np.ones(2, I4)),
        (np.ones(2, F4), np.ones(2, np.float16)),
        (np.ones(2, np.uint8), np.ones(2, np.int8)),
        (np.ones(2, F4), np.int32(1)),
        (np.ones(2, bool), np.ones(2, I4)),
        (np.ones(2, np.complex64), np.ones(2, F4)),
    ],
)
def test_arrays_are_not_converted(a, b):
    x, y = (checks.describe(v) for v in (a, b))
    match = re.escape(f"got a {x}, b {y}. (Tip: convert one with")
    for values in ((a, b), (jnp.asarray(a), b), (jnp.asarray(a), jnp.asarray(b))):
        with pytest.raises(TypeError, match=f"^f: .*{match}"):
            checks.same_element_type("f", a=values[0], b=values[1])


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int8", "uint8", "int32", "uint32"])
def test_ints_must_fit(dtype):
    x, limits = jnp.zeros(2, dtype), jnp.iinfo(dtype)
    for value in (int(limits.min), int(limits.max)):
        assert int(checks.same_element_type("f", a=x, b=value)[1]) == value
    for value in (int(limits.min) - 1, int(limits.max) + 1):
        message = (
            f"f: b must fit into {dtype} ({limits.min} to {limits.max}), got {value}"
        )
        with pytest.raises(OverflowError, match=f"^{re.escape(message)}$"):
            checks.same_element_type("f", a=x, b=value)


def test_ints_too_large_for_a_float_name_the_parameter():
    with pytest.raises(OverflowError, match=r"^f: b .*float32") as caught:
        checks.same_element_type("f", a=jnp.ones(2), b=10**400)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8_e5m2"])
@pytest.mark.parametrize("value", [2**64, -(2**70)])
def test_ints_beyond_64_bits_are_numbers_for_every_float(dtype, value):
    x = jnp.zeros(2, dtype)
    with np.errstate(over="ignore"):
        want = np.array(float(value)).astype(x.dtype)
    assert checks.same_element_type("f", a=x, b=value)[1] == want


def test_floats_overflow_to_infinity_without_a_warning():
    x = jnp.ones(2, jnp.float16)
    assert checks.same_element_type("f", a=x, b=1e300)[1] == np.inf
    assert checks.same_element_type("f", a=x, b=1e-300)[1] == 0


@pytest.mark.parametrize("call", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_enumerated_ints_are_ints(call):
    x = jnp.ones(2)
    assert call(lambda v: xo.add(v, Number.THREE))(x).tolist() == [4.0, 4.0]


@pytest.mark.usefixtures("x64")
def test_64_bit_types_are_types_of_their_own():
    x = np.ones(2, F4)
    assert checks.same_element_type("f", a=x, b=2.5)[1].dtype == F4
    with pytest.raises(TypeError, match=r"a float32\[2\], b float64\[\]"):
        checks.same_element_type("f", a=x, b=np.float64(2.5))
    assert [v.dtype for v in checks.same_element_type("f", a=2, b=2.5)] == ["f8", "f8"]


# Dimensions


def test_dimension():
    assert [checks.dimension("f", "d", v, 2) for v in (0, 1)] == [0, 1]
    for value in (-1, 2):
        message = f"f: d must be in [0, 2) for an operand of rank 2, got {value}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            checks.dimension("f", "d", value, 2)


def test_distinct_dimensions():
    for good in ((), (0,), (1, 0), [0, 1]):
        assert checks.distinct_dimensions("f", "dims", good, 2) is None
    for bad in ((0, 0), (2,), (-1, 0), [0, 1, 2]):
        message = f"f: dims must be distinct and in [0, 2), got {tuple(bad)}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            checks.distinct_dimensions("f", "dims", bad, 2)


# Normal forms of static arguments


@pytest.mark.parametrize(
    "value", [3, np.int64(3), np.uint8(3), np.array(3), jnp.int32(3), Number.THREE]
)
def test_integer(value):
    got = checks.integer("f", "n", value)
    assert got == 3
    assert type(got) is int


@pytest.mark.parametrize(
    ("value", "came"),
    [
        (3.0, "float 3.0"),
        (True, "bool True"),
        (np.bool_(True), "bool[]"),
        (np.float32(3), "float32[]"),
        (np.array([3]), "int64[1]"),
        ("3", "str '3'"),
        (None, "NoneType None"),
        ((3,), "a tuple of length 1"),
        (3j, "complex 3j"),
    ],
    ids=repr,
)
def test_integer_refuses(value, came):
    message = re.escape(f"f: n must be an integer, got {came}")
    with pytest.raises(TypeError, match=f"^{message}$"):
        checks.integer("f", "n", value)
    message = re.escape(f"f: n[1] must be an integer, got {came}")
    with pytest.raises(TypeError, match=f"^{message}$"):
        checks.integers("f", "n", (0, value))


@pytest.mark.parametrize(
    "value",
    [
        (2, 3),
        [2, 3],
        range(2, 4),
        np.array([2, 3]),
        jnp.array([2, 3]),
        [np.int8(2), jnp.int32(3)],
        (n for n in (2, 3)),
    ],
    ids=["tuple", "list", "range", "numpy", "jax", "mixed", "generator"],
)
def test_integers(value):
    got = checks.integers("f", "ns", value)
    assert got == (2, 3)
    assert type(got) is tuple
    assert all(type(n) is int for n in got)
    assert checks.integers("f", "ns", got) == got
    assert checks.integers("f", "ns", ()) == ()


@pytest.mark.parametrize(
    ("value", "came"),
    [
        (None, "NoneType None"),
        (3, "int 3"),
        ("23", "str '23'"),
        (np.array(3), "int64[]"),
        (jnp.array(3), "int32[]"),
        # Unordered: which dimension would be which?
        ({3, 2}, "set {2, 3}"),
    ],
    ids=repr,
)
def test_integers_refuses(value, came):
    message = re.escape(f"f: ns must be a sequence of integers, got {came}")
    with pytest.raises(TypeError, match=f"^{message}$"):
        checks.integers("f", "ns", value)


def test_sizes():
    assert checks.sizes("f", "ns", [0, np.int8(3)]) == (0, 3)
    message = re.escape("f: ns must not hold negative sizes, got (2, -1)")
    with pytest.raises(ValueError, match=f"^{message}$"):
        checks.sizes("f", "ns", [2, -1])
    with pytest.raises(TypeError, match=r"^f: ns must be a sequence of integers"):
        checks.sizes("f", "ns", None)


@pytest.mark.parametrize(
    "value", [(True, False), [True, np.bool_(False)], np.array([True, False])], ids=repr
)
def test_booleans(value):
    got = checks.booleans("f", "flags", value)
    assert got == (True, False)
    assert all(type(flag) is bool for flag in got)
    assert checks.booleans("f", "flags", ()) == ()


@pytest.mark.parametrize("value", [None, "ab", [1, 0], [True, None], 1, np.array([1])])
def test_booleans_refuses(value):
    match = r"^f: flags must be a sequence of bools, got "
    with pytest.raises(TypeError, match=match):
        checks.booleans("f", "flags", value)


@pytest.mark.parametrize(
    "value", ["f32", "F32", "float32", F4, np.dtype(F4), jnp.float32]
)
def test_element_type(value):
    got = checks.element_type("f", "t", value)
    assert got == np.dtype(F4)
    assert isinstance(got, np.dtype)


@pytest.mark.parametrize("value", ["f33", 3, object, "M8[s]", np.dtype("O")])
def test_element_type_refuses(value):
    with pytest.raises((TypeError, ValueError), match=r"^f: t: .*got "):
        checks.element_type("f", "t", value)


def test_optional():
    normal = checks.optional(checks.integer)
    assert normal("f", "n", None) is None
    assert normal("f", "n", np.int8(3)) == 3
    with pytest.raises(TypeError, match=r"^f: n must be an integer, got str 'x'"):
        normal("f", "n", "x")


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_coerced(error):
    def coerce(value):
        if value == 0:
            raise error("value must not be 0")
        return (value,)

    normal = checks.coerced(coerce)
    assert normal("f", "n", 3) == (3,)
    with pytest.raises(error, match=r"^f: n: value must not be 0$") as caught:
        normal("f", "n", 0)
    assert caught.value.__suppress_context__


def test_array_shape():
    shape = xo.Shape.parse("f32[2,3]")
    assert checks.array_shape("f", "s", shape) == shape
    assert checks.array_shape("f", "s", "f32[2,3]") == shape
    assert checks.array_shape("f", "s", jax.ShapeDtypeStruct((2, 3), F4)) == shape
    for bad in ("(f32[2])", "token[]", "f32[<=2]"):
        match = re.escape(
            f"f: s must be the shape of an array with static dimensions, got {bad}"
        )
        with pytest.raises(ValueError, match=f"^{match}"):
            checks.array_shape("f", "s", bad)
    for bad in (3, None, (2, 3), "f32["):
        with pytest.raises((TypeError, ValueError), match=r"^f: s: .*got "):
            checks.array_shape("f", "s", bad)


def test_traced_static_arguments_are_named():
    for call, value in (
        (lambda n: checks.integer("f", "n", n), 3),
        (lambda n: checks.integers("f", "n", (n,)), 3),
        (lambda n: checks.integers("f", "n", n), jnp.arange(2)),
    ):
        with pytest.raises(jax.errors.JAXTypeError) as caught:
            jax.jit(call)(value)
        assert any(note.startswith("f: n") for note in caught.value.__notes__)


def test_describe():
    assert checks.describe(np.ones((2, 3), F4)) == "float32[2, 3]"
    assert checks.describe(jnp.int8(1)) == "int8[]"
    assert checks.describe([1, [2]]) == "a list of length 2"
    assert checks.describe(2.5) == "float 2.5"
    assert len(checks.describe("x" * 999)) < 70


# Real numbers


@pytest.mark.parametrize("value", [1, 1.5, np.float32(2), np.int8(3), np.array(4.0)])
def test_real_number(value):
    number = checks.real_number("op", "epsilon", value)
    assert type(number) is float
    assert number == value


@pytest.mark.parametrize("value", [True, "1.5", None, 1j, [1.0], np.bool_(True)])
def test_real_number_refuses(value):
    with pytest.raises(TypeError, match="op: epsilon must be a real number, got"):
        checks.real_number("op", "epsilon", value)


def test_real_number_that_is_too_large_is_named():
    with pytest.raises(OverflowError, match=r"^op: epsilon must fit into float64, got"):
        checks.real_number("op", "epsilon", 10**400)


def test_traced_real_number_is_explained():
    def f(x):
        return checks.real_number("op", "epsilon", x)

    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        jax.jit(f)(1.0)
    note = "op: epsilon must be known when the program is built"
    assert note in caught.value.__notes__
