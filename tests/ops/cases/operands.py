"""Element types, and operands of them from a numpy generator."""

import jax.numpy as jnp
import numpy as np
from ops import oracles

SIGNED = ("int4", "int8", "int16", "int32", "int64")
UNSIGNED = ("uint4", "uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2")
COMPLEX = ("complex64", "complex128")
INEXACT = FLOATS + COMPLEX
NUMBERS = INEXACT + INTEGERS
ORDERED = FLOATS + INTEGERS + ("bool",)
EVERY = (*NUMBERS, "bool")
# For the further forms of an operation whose plain form runs through all types.
FEW = ("float32", "int32", "bfloat16", "float64")

# One of each kind, for operations of which a sister runs through all types.
KINDS = ("float32", "int32", "uint8", "bool", "bfloat16", "float64")


def dtype_of(name: str) -> np.dtype:
    return np.dtype(jnp.dtype(name))


def uniform(rng, dtype, shape, low=-3.0, high=3.0):
    """Numbers without special values. Integers come from the same interval."""
    dtype = dtype_of(dtype)
    match oracles.kind(dtype):
        case "b":
            return rng.integers(0, 2, shape).astype(bool)
        case "i":
            return rng.integers(int(np.floor(low)), int(high) + 1, shape).astype(dtype)
        case "u":
            return rng.integers(
                int(np.maximum(low, 0)), int(high) + 1, shape, np.uint64
            ).astype(dtype)
        case "c":
            parts = rng.uniform(low, high, (2, *shape))
            return (parts[0] + 1j * parts[1]).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)


def anything(rng, dtype, shape):
    """Numbers of the whole range, with the special values of the type among them."""
    dtype = dtype_of(dtype)
    size = int(np.prod(shape))
    match oracles.kind(dtype):
        case "b":
            return rng.integers(0, 2, shape).astype(bool)
        case "i" | "u":
            width = oracles.bits(dtype)
            raw = rng.integers(0, 1 << 64, size, np.uint64, endpoint=False)
            values = [int(v) % (1 << width) for v in raw]
            special = [0, 1, (1 << width) - 1, 1 << (width - 1)]
            values[: len(special)] = special[:size]
            rng.shuffle(values)
            return oracles.wrapped(np.array(values, object), dtype).reshape(shape)
        case "c":
            return uniform(rng, dtype, shape)
    values = np.round(rng.normal(0, 4, size) * 4) / 4
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0]
    if dtype.name == "float8_e4m3fn":  # which has no infinities
        special = [0.0, -0.0, np.nan, 1.0]
    values[: len(special)] = special[:size]
    rng.shuffle(values)
    return values.reshape(shape).astype(dtype)


def apart(rng, shape, dtype="float64"):
    """Numbers no two of which are near each other, an integer or a half."""
    size = int(np.prod(shape))
    values = rng.permutation(size) - size // 2 + rng.uniform(0.1, 0.4, size)
    return values.reshape(shape).astype(dtype_of(dtype))


def by_name(*names):
    def arrange(*operands):
        return dict(zip(names, operands, strict=True))

    return arrange


def anything_of(shape):
    return lambda rng, dtype="float64": (anything(rng, dtype, shape),)


def smooth_of(*shapes):
    return lambda rng, dtype="float64": tuple(uniform(rng, dtype, s) for s in shapes)


def uniform_of(low, high, *shapes):
    return lambda rng, dtype="float64": tuple(
        uniform(rng, dtype, s, low, high) for s in shapes
    )
