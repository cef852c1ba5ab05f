"""Numbers of every element type, and how a wide result becomes one of them."""

import ml_dtypes
import numpy as np


def kind(dtype):
    """One of b, i, u, f and c; ml_dtypes' own types have none in numpy."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biufc" and dtype.name != "bfloat16":
        return dtype.kind
    if dtype.name.startswith("int"):
        return "i"
    return "u" if dtype.name.startswith("uint") else "f"


def bits(dtype):
    return ml_dtypes.iinfo(dtype).bits


def wide(x):
    """The numbers in the widest type of their kind; integers as Python's."""
    x = np.asarray(x)
    match kind(x.dtype):
        case "f":
            return x.astype(np.float64)
        case "c":
            return x.astype(np.complex128)
        case "i":
            return x.astype(np.int64).astype(object)
        case "u":
            return x.astype(np.uint64).astype(object)
    return x


def wrapped(values, dtype):
    """Python integers modulo two to the number of bits."""
    modulus = 1 << bits(dtype)
    signed = kind(dtype) == "i"

    def one(value):
        value = int(value) % modulus
        return value - modulus if signed and value >= modulus // 2 else value

    flat = [one(v) for v in np.asarray(values, object).ravel()]
    store = np.int64 if signed else np.uint64
    return np.array(flat, store).reshape(np.shape(values)).astype(dtype)


def elementwise(f, *arrays):
    """``f`` of Python integers at every element."""
    arrays = np.broadcast_arrays(*arrays)
    flat = [f(*values) for values in zip(*(a.ravel() for a in arrays), strict=True)]
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(arrays[0].shape)


def by_kind(*, real=None, complex=None, integer=None, boolean=None):
    """An oracle of which the result has the operands' element type."""

    def oracle(*operands):
        dtype = operands[0].dtype
        values = [wide(x) for x in operands]
        match kind(dtype):
            case "b":
                return np.asarray(boolean(*values), bool)
            case "f":
                return np.asarray(real(*values)).astype(dtype)
            case "c":
                return np.asarray((complex or real)(*values)).astype(dtype)
        return wrapped(elementwise(integer, *values), dtype)

    return oracle


PARTS = {"complex64": np.float32, "complex128": np.float64}
