"""Attributes of handlers: their types, and what reaches the handler."""

import dataclasses
import enum
import functools
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffi.libraries import target
from ffi.op.operations import make_sine

import xlaops.ffi


def kind_of(**attributes):
    f = xlaops.ffi.op(
        target("kind_of"),
        ref=None,
        name="kind_of",
        operands={},
        result="f32[2]",
        attributes=dict,
    )
    return int(f(**attributes)[0])


def test_equal_values_of_other_types_are_told_apart():
    """JAX's own calls run the program of the first of them for all."""
    pairs = [(1, 3), (np.float32(1), 4), (True, 1), (np.int32(1), 2), (1.0, 5)]
    for value, kind in [*pairs, (np.uint8(1), 6), ("1", 7), *reversed(pairs)]:
        assert kind_of(v=value) == kind


@dataclasses.dataclass
class Limits:
    low: int
    seen: int = dataclasses.field(init=False, default=0)


class Kind(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    "values",
    [
        ([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0, 3.0, 4.0], [[1.0], [2.0], [3.0], [4.0]]),
        ("a", b"a"),
        (Kind.ONE, enum.IntEnum("Other", "ONE").ONE),
        ({"low": 1}, Limits(1)),
    ],
)
def test_what_only_the_reference_can_tell_apart(values):
    """The handler is told the same; the reference of one call must not run for all."""
    if isinstance(values[0], list):
        values = [np.array(v) for v in values]
    seen = []

    def ref(x, **attributes):
        seen.append(attributes["v"])
        return x + 0

    f = xlaops.ffi.op({}, ref=ref, name="f", attributes=dict)
    for value in values:
        f(1.0, v=value)
        assert type(seen[-1]) is type(value)
        assert np.shape(seen[-1]) == np.shape(value)
    count = len(seen)
    for value in values:
        f(1.0, v=value)
    assert len(seen) == count


def test_shape_of_an_array_is_the_references():
    f = xlaops.ffi.op(
        {}, ref=lambda x, w: x * w.sum(0), name="f", attributes={"w": "f32[]"}
    )
    np.testing.assert_array_equal(f(1.0, w=[[1, 2], [3, 4]]), [4, 6])
    np.testing.assert_array_equal(f(1.0, w=[1, 2, 3, 4]), 10)


def test_fields_that_are_not_given_are_no_attributes():
    f = xlaops.ffi.op(
        {}, ref=lambda x, a: x + a.low, name="f", attributes={"a": Limits}
    )
    assert f(1.0, a=Limits(3)) == 4


def test_signed_zeros_are_told_apart():
    sine = make_sine()
    x = jnp.ones(2)
    for factor in (0.0, -0.0, 0.0):
        assert np.signbit(sine(x, factor=factor)).all() == np.signbit(factor)


def test_every_number_reaches_the_handler(x64):
    names = [f"{letter}{bits}" for letter in "su" for bits in (8, 16, 32, 64)]
    names += ["f32", "f64", "pred"]
    f = xlaops.ffi.op(
        target("every_number"),
        ref=None,
        name="f",
        operands={},
        result="s64[11]",
        attributes={name: name for name in names},
    )
    low = f(
        s8=-(2**7), s16=-(2**15), s32=-(2**31), s64=-(2**63), u8=0, u16=0, u32=0, u64=0,
        f32=-0.0, f64=float("-inf"), pred=False,
    )  # fmt: skip
    bits = [-(2**7), -(2**15), -(2**31), -(2**63), 0, 0, 0, 0, 2**31, -(2**52), 0]
    np.testing.assert_array_equal(low, bits)
    high = f(
        s8=np.int64(127), s16=2**15 - 1, s32=jnp.int32(7), s64=2**63 - 1, u8=255,
        u16=2**16 - 1, u32=2**32 - 1, u64=2**64 - 1, f32=1, f64=np.float32(0.5),
        pred=np.bool_(True),
    )  # fmt: skip
    bits = [127, 2**15 - 1, 7, 2**63 - 1, 255, 2**16 - 1, 2**32 - 1, -1]
    np.testing.assert_array_equal(high, [*bits, 0x3F800000, 0x3FE << 52, 1])


def test_texts_arrays_and_complex_numbers(x64):
    f = xlaops.ffi.op(
        target("text_and_arrays"),
        ref=None,
        name="f",
        operands={},
        result="f64[8]",
        attributes={
            "text": str,
            "ints": "s32[]",
            "bytes": "u8[]",
            "doubles": "f64[]",
            "number": "c64",
        },
    )
    text = 'a\0"\\\u00e9'
    octets = text.encode()
    given = f(
        text=text,
        ints=np.array([[1, -2], [3, 4]]),
        bytes=(255, 255),
        doubles=[],
        number=1 - 2j,
    )
    folded = functools.reduce(lambda total, byte: 2 * total + byte, octets, 0)
    expected = [len(octets), folded, 4, 27 - 18 + 9 + 4, 3 * 255 + 255, 0, 1, -2]
    np.testing.assert_array_equal(given, expected)
    splat = f(text=b"", ints=[5] * 3, bytes=[], doubles=[0.5] * 200, number=0)
    np.testing.assert_array_equal(splat, [0, 0, 3, 65, 0, 100, 0, 0])


class Mode(enum.IntEnum):
    DOWN = 1
    UP = 200


@dataclasses.dataclass(frozen=True)
class Range:
    low: int
    high: Annotated[float, "f32"] = 2.5


@dataclasses.dataclass(frozen=True)
class Options:
    range: Range
    mode: Annotated[Mode, xlaops.ffi.enumeration(Mode, "u8")] = Mode.DOWN
    name: str = "none"


def test_structs_and_dictionaries_within_each_other():
    seen = []

    def ref(options, more):
        seen.append((options, more))
        return jnp.zeros(6)

    f = xlaops.ffi.op(
        target("structs"),
        ref=ref,
        attributes={"options": Options, "more": {"depth": "s32", "inner": dict}},
    )
    more = {"depth": 4, "inner": {"x": np.float32(9)}}
    given = f(options=Options(Range(3), Mode.UP), more=more)
    np.testing.assert_array_equal(given, [3, 2.5, 200, 4, 4, 9])
    assert seen[0] == (Options(Range(3), Mode.UP), more)
    given = f(options={"range": {"low": -1, "high": 1}, "name": ""}, more=more)
    np.testing.assert_array_equal(given, [-1, 1, 1, 0, 4, 9])


@pytest.mark.parametrize(
    ("type_", "value", "error", "message"),
    [
        ("s8", 128, ValueError, r"fit into s8 \(-128 to 127\), got int 128"),
        ("u16", -1, ValueError, "fit into u16"),
        ("s32", True, TypeError, "an int for s32"),
        ("s32", 1.0, TypeError, "an int for s32, got float 1.0"),
        ("f32", 1e39, ValueError, "fit into f32"),
        ("f64", 10**400, ValueError, "fit into f64"),
        ("f32", "1", TypeError, "a number for f32, got str '1'"),
        ("f32", 1j, TypeError, "a number for f32"),
        ("f32", None, TypeError, "a number for f32"),
        ("c64", "1", TypeError, "a complex number"),
        ("c64", 1e39j, ValueError, "fit into c64"),
        ("pred", 1, TypeError, "a bool, got int 1"),
        ("str", 1, TypeError, "a str or bytes, got int 1"),
        ("str", "\ud800", ValueError, "UTF-8"),
        ("s32[]", [1.5], TypeError, "an array of s32"),
        ("s32[]", [2**31], ValueError, "fit into s32"),
        ("s32[]", [[1], [1, 2]], TypeError, "an array of s32"),
        ("f32[]", [1e39], ValueError, "fit into f32"),
        ("f32[]", ["a"], TypeError, "an array of f32"),
        (Mode, 2, ValueError, r"one of Mode \(DOWN, UP\), got int 2"),
        (Mode, "LEFT", ValueError, "one of Mode"),
        (Mode, 1.0, TypeError, "an int for a Mode"),
        (Range, 3, TypeError, "a Range, got int 3"),
        (Range, {"high": 1.0}, TypeError, r"a\.low must be given"),
        (Range, {"low": 1, "middle": 1}, TypeError, r"a\.middle must be a known"),
        ({"x": "s32"}, {"x": 1.5}, TypeError, r"a\.x must be an int"),
        (dict, {1: 2}, TypeError, "names as keys"),
        (dict, {"": 2}, TypeError, "names as keys"),
        (dict, {"x": None}, TypeError, r"a\.x must be a number"),
        (dict, 5, TypeError, "a mapping"),
    ],
)
def test_attributes_are_checked_before_anything_runs(type_, value, error, message):
    f = xlaops.ffi.op({}, ref=lambda x, a: x, name="f", attributes={"a": type_})
    with pytest.raises(error, match=f"f: (a must .*)?{message}"):
        f(1.0, a=value)


@pytest.mark.parametrize("type_", ["s32", "f64", Mode])
def test_numbers_too_long_to_print(type_):
    f = xlaops.ffi.op({}, ref=lambda x, a: x, name="f", attributes={"a": type_})
    with pytest.raises(ValueError, match=r"^f: a must .* int of 16610 bits"):
        f(1.0, a=10**5000)


def test_attributes_by_name_only_and_all_of_them():
    sine = make_sine()
    with pytest.raises(TypeError, match="scaled_sine: too many positional"):
        sine(1.0, 2.0)
    with pytest.raises(TypeError, match=r"scaled_sine: .*unexpected.* 'fact'"):
        sine(1.0, fact=2.0)
    f = xlaops.ffi.op({}, ref=lambda x, a: x, name="f", attributes={"a": "s32"})
    with pytest.raises(TypeError, match=r"f: missing a required.* 'a'"):
        f(1.0)


def test_traced_attributes_are_refused_with_what_to_do():
    with pytest.raises(TypeError, match=r"factor must be known .*static_argnames"):
        jax.jit(lambda f: make_sine()(1.0, factor=f))(2.0)


@pytest.mark.parametrize(
    ("type_", "error"),
    [("f16", ValueError), ("pred[]", ValueError), ("c64[]", ValueError), ("f32[3]",
     ValueError), (3.5, TypeError), (object, TypeError), (None, TypeError),
     ({"a b": "s32"}, TypeError)],
)  # fmt: skip
def test_types_of_attributes_are_checked(type_, error):
    with pytest.raises(error, match="op: attributes"):
        xlaops.ffi.op({}, ref=lambda x, a: x, attributes={"a": type_})


def test_enumerations_are_checked():
    with pytest.raises(ValueError, match="fit into s8"):
        xlaops.ffi.enumeration(Mode, "s8")
    with pytest.raises(ValueError, match="element_type must be one of"):
        xlaops.ffi.enumeration(Mode, "f32")
    with pytest.raises(TypeError, match="members must be an enumeration"):
        xlaops.ffi.enumeration(3)
