"""XLA's primitive types as NumPy dtypes, and back.

The names are those that HLO text and the document "Shapes and layout" print: ``pred``,
``s8``, ``u32``, ``bf16``, ``f8e4m3fn``, ``c64``, ...
"""

from __future__ import annotations

from typing import Any, Final

import jax
import ml_dtypes
import numpy as np

from .arguments import shown

_DTYPES: Final[dict[str, np.dtype[Any]]] = {
    name: np.dtype(getattr(ml_dtypes, of) if isinstance(of, str) else of)
    for name, of in {
        "pred": np.bool_,
        "s1": "int1",
        "s2": "int2",
        "s4": "int4",
        "s8": np.int8,
        "s16": np.int16,
        "s32": np.int32,
        "s64": np.int64,
        "u1": "uint1",
        "u2": "uint2",
        "u4": "uint4",
        "u8": np.uint8,
        "u16": np.uint16,
        "u32": np.uint32,
        "u64": np.uint64,
        "f4e2m1fn": "float4_e2m1fn",
        "f6e2m3fn": "float6_e2m3fn",
        "f6e3m2fn": "float6_e3m2fn",
        "f8e3m4": "float8_e3m4",
        "f8e4m3": "float8_e4m3",
        "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
        "f8e4m3fn": "float8_e4m3fn",
        "f8e4m3fnuz": "float8_e4m3fnuz",
        "f8e5m2": "float8_e5m2",
        "f8e5m2fnuz": "float8_e5m2fnuz",
        "f8e8m0fnu": "float8_e8m0fnu",
        "bf16": "bfloat16",
        "f16": np.float16,
        "f32": np.float32,
        "f64": np.float64,
        "c64": np.complex64,
        "c128": np.complex128,
    }.items()
    # ml_dtypes has the one-bit integers since 0.6, and JAX takes 0.5.
    if not isinstance(of, str) or hasattr(ml_dtypes, of)
}

ARRAY_ELEMENT_TYPES: Final[tuple[str, ...]] = tuple(_DTYPES)
"""The names of the element types that an array can have."""

SPECIAL_ELEMENT_TYPES: Final[tuple[str, ...]] = ("token", "opaque", "tuple", "buffer")
"""The names of the element types of shapes that are not arrays."""

_NAMES: Final[dict[np.dtype[Any], str]] = {d: name for name, d in _DTYPES.items()}
_NUMPY_NAMES: Final[dict[str, np.dtype[Any]]] = {d.name: d for d in _NAMES}
_PYTHON_TYPES: Final[dict[str, type]] = {
    t.__name__: t for t in (bool, int, float, complex)
}


def dtype_of(value: Any) -> np.dtype[Any]:
    """The NumPy dtype of an XLA element type or of anything dtype-like.

    XLA's names win over NumPy's one-letter codes: ``"u8"`` has 8 bits, not 8 bytes.
    The codes that XLA has no such name for (``"i8"``, ``"f4"``) are refused, because
    next to ``"u8"`` they would be read wrongly. A 64-bit type stays one also where x64
    is off.

    Args:
        value: an XLA name in any case (``"f32"``, ``"PRED"``), a NumPy name
            (``"float32"``, ``"bfloat16"``), a NumPy dtype, a scalar type of NumPy,
            ``jax.numpy`` or ``ml_dtypes``, one of Python's ``bool``, ``int``,
            ``float`` and ``complex`` (JAX's default type of that kind, which follows
            x64), or a ``PrimitiveType`` of ``xla_client``.

    Returns:
        The dtype.

    Raises:
        TypeError: if the value names no element type of an array.

    Example:
        >>> from xlaops.types import dtype_of
        >>> dtype_of("u8"), dtype_of("F32"), dtype_of(bool)
        (dtype('uint8'), dtype('float32'), dtype('bool'))

    Source:
        ``PrimitiveType`` of XLA's ``xla_data.proto``.
    """
    if isinstance(value, np.dtype):
        if value in _NAMES:
            return value
    elif isinstance(value, str):
        name = value.lower()
        for table in (_DTYPES, _NUMPY_NAMES):
            if name in table:
                return table[name]
        if name in _PYTHON_TYPES:
            return jax.dtypes.canonicalize_dtype(_PYTHON_TYPES[name])
    elif isinstance(value, type):
        if _PYTHON_TYPES.get(value.__name__) is value:
            return jax.dtypes.canonicalize_dtype(value)
        # The scalar types of jax.numpy and ml_dtypes carry their dtype; those of NumPy
        # have a descriptor there, and its abstract ones (np.integer) have no dtype.
        dtype = getattr(value, "dtype", None)
        if not isinstance(dtype, np.dtype) and issubclass(value, np.generic):
            dtype = _concrete_dtype(value)
        if isinstance(dtype, np.dtype) and dtype in _NAMES:
            return dtype
    elif type(value).__name__ == "PrimitiveType":
        dtype = _DTYPES.get(str(getattr(value, "name", "")).lower())
        if dtype is not None:
            return dtype
    raise TypeError(
        "element type must be an XLA name such as 'f32' or 's8', or a dtype that XLA "
        f"has, got {shown(value)}"
    )


def element_type_name(value: Any) -> str:
    """The XLA name of an element type or of anything dtype-like.

    Args:
        value: what :func:`dtype_of` takes, or ``"token"`` or ``"opaque"``, which have
            no dtype.

    Returns:
        The name in lower case, as HLO text prints it.

    Raises:
        TypeError: if the value names no element type.

    Example:
        >>> import numpy as np
        >>> from xlaops.types import element_type_name
        >>> element_type_name(np.int8), element_type_name("bfloat16")
        ('s8', 'bf16')

    Source:
        ``PrimitiveType`` of XLA's ``xla_data.proto``.
    """
    if isinstance(value, str) and value.lower() in ("token", "opaque"):
        return value.lower()
    return _NAMES[dtype_of(value)]


def _concrete_dtype(scalar_type: type[np.generic]) -> np.dtype[Any] | None:
    try:
        return np.dtype(scalar_type)
    except TypeError:
        return None
