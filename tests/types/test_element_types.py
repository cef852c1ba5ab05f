"""XLA's element types: names, dtypes and what is refused."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from xlaops.types import dtype_of, element_type_name

# Written out by hand: the name, the NumPy name and the bytes that one element takes.
TABLE = [
    ("pred", "bool", 1),
    ("s1", "int1", 1),
    ("s2", "int2", 1),
    ("s4", "int4", 1),
    ("s8", "int8", 1),
    ("s16", "int16", 2),
    ("s32", "int32", 4),
    ("s64", "int64", 8),
    ("u1", "uint1", 1),
    ("u2", "uint2", 1),
    ("u4", "uint4", 1),
    ("u8", "uint8", 1),
    ("u16", "uint16", 2),
    ("u32", "uint32", 4),
    ("u64", "uint64", 8),
    ("f4e2m1fn", "float4_e2m1fn", 1),
    ("f6e2m3fn", "float6_e2m3fn", 1),
    ("f6e3m2fn", "float6_e3m2fn", 1),
    ("f8e3m4", "float8_e3m4", 1),
    ("f8e4m3", "float8_e4m3", 1),
    ("f8e4m3b11fnuz", "float8_e4m3b11fnuz", 1),
    ("f8e4m3fn", "float8_e4m3fn", 1),
    ("f8e4m3fnuz", "float8_e4m3fnuz", 1),
    ("f8e5m2", "float8_e5m2", 1),
    ("f8e5m2fnuz", "float8_e5m2fnuz", 1),
    ("f8e8m0fnu", "float8_e8m0fnu", 1),
    ("bf16", "bfloat16", 2),
    ("f16", "float16", 2),
    ("f32", "float32", 4),
    ("f64", "float64", 8),
    ("c64", "complex64", 8),
    ("c128", "complex128", 16),
]


@pytest.mark.parametrize(("name", "numpy_name", "bytes_"), TABLE)
def test_names_map_both_ways(name, numpy_name, bytes_):
    dtype = dtype_of(name)
    assert dtype.name == numpy_name
    assert dtype.itemsize == bytes_
    assert dtype_of(name.upper()) == dtype
    assert dtype_of(numpy_name) == dtype
    assert dtype_of(dtype) is dtype
    assert dtype_of(dtype.type) == dtype
    for form in (name, name.upper(), numpy_name, dtype, dtype.type):
        assert element_type_name(form) == name


@pytest.mark.parametrize(
    ("scalar_type", "name"),
    [
        (jnp.float32, "f32"),
        (jnp.bfloat16, "bf16"),
        (jnp.int4, "s4"),
        (jnp.bool_, "pred"),
        (jnp.complex64, "c64"),
        (jnp.float8_e4m3fn, "f8e4m3fn"),
        (ml_dtypes.float8_e5m2, "f8e5m2"),
        (np.uint16, "u16"),
    ],
)
def test_scalar_types(scalar_type, name):
    assert element_type_name(scalar_type) == name


def test_xla_names_win_over_numpy_codes():
    assert np.dtype("u8").itemsize == 8  # NumPy counts bytes, XLA counts bits.
    assert dtype_of("u8") == np.uint8
    assert dtype_of("u4") == ml_dtypes.uint4
    assert dtype_of("f16") == np.float16


@pytest.mark.parametrize("x64", [False, True])
def test_python_types_follow_x64(x64):
    with jax.enable_x64(x64):
        assert dtype_of(bool) == np.bool_
        assert dtype_of(int) == (np.int64 if x64 else np.int32)
        assert dtype_of("float") == (np.float64 if x64 else np.float32)
        assert dtype_of(complex) == (np.complex128 if x64 else np.complex64)
        # What is asked for by name is never cut.
        assert dtype_of("f64") == np.float64
        assert dtype_of(np.int64) == np.int64


def test_primitive_type_enumeration():
    from enum import Enum

    primitive_type = Enum("PrimitiveType", ["F32", "PRED", "TUPLE"])
    assert element_type_name(primitive_type.PRED) == "pred"
    with pytest.raises(TypeError, match="TUPLE"):
        dtype_of(primitive_type.TUPLE)


def test_types_without_a_dtype():
    assert element_type_name("token") == "token"
    assert element_type_name("OPAQUE") == "opaque"
    with pytest.raises(TypeError, match="'token'"):
        dtype_of("token")
    with pytest.raises(TypeError, match="'tuple'"):
        element_type_name("tuple")


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "f31",
        "i8",  # NumPy's code for int64, which would be read as 8 bits.
        "f4",
        "<f4",
        "S5",
        32,
        1.0,
        object,
        str,
        np.integer,
        np.str_,
        np.dtype(">f4"),
        np.dtype("M8[s]"),
        np.dtype([("a", "f4")]),
        jax.dtypes.float0,
        jax.dtypes.prng_key,
        np.zeros(2, np.float32),
        [np.float32],
    ],
    ids=repr,
)
def test_everything_else_is_refused(value):
    with pytest.raises(TypeError, match="element type must be an XLA name") as info:
        dtype_of(value)
    assert repr(value) in str(info.value)
