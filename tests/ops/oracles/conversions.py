"""Other element types, and fewer bits of one."""

import math

import ml_dtypes
import numpy as np

from .element_types import elementwise, kind, wide, wrapped


def convert(operand, new_element_type):
    target = np.dtype(
        {
            "pred": bool,
            "s4": ml_dtypes.int4,
            "s8": np.int8,
            "u32": np.uint32,
            "s64": np.int64,
            "f8e4m3fn": ml_dtypes.float8_e4m3fn,
            "bf16": ml_dtypes.bfloat16,
            "f16": np.float16,
            "f32": np.float32,
            "f64": np.float64,
            "c64": np.complex64,
        }[new_element_type]
    )
    values, source, into = wide(operand), kind(operand.dtype), kind(target)
    if into == "b":
        return np.asarray(values != 0, bool)
    if source == "b":
        return values.astype(target)
    if source == "c" and into != "c":
        values, source = values.real, "f"
    if into in "iu":
        if source == "f":
            limits = ml_dtypes.iinfo(target)

            def saturated(v):
                if math.isnan(v):
                    return 0
                if math.isinf(v):
                    return limits.max if v > 0 else limits.min
                return sorted((int(limits.min), math.trunc(v), int(limits.max)))[1]

            values = elementwise(saturated, values)
        return wrapped(values, target)
    if source in "iu":
        # numpy's, because a Python integer above 2**53 must be rounded only once.
        return operand.astype(target)
    return values.astype(target)


_BITS = {
    "u8": np.uint8,
    "u32": np.uint32,
    "s32": np.int32,
    "s64": np.int64,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
}


def bitcast_convert(operand, new_element_type):
    """The bytes in memory as another type: the least significant one is the first."""
    target = np.dtype(_BITS[new_element_type])
    ratio = operand.dtype.itemsize / target.itemsize
    shape = operand.shape if ratio >= 1 else operand.shape[:-1]
    shape = (*shape, int(ratio)) if ratio > 1 else shape
    return np.frombuffer(operand.tobytes(), target).reshape(shape)


def nibbles(operand, new_element_type):
    """The two halves of each byte, the less significant one first."""
    parts = np.stack([operand & 15, operand >> 4], axis=-1)
    return parts.astype({"u4": ml_dtypes.uint4}[new_element_type])


def reduce_precision(operand, exponent_bits, mantissa_bits):
    """Rounded to ``1.m * 2**e`` with ``|e|`` in the range of the format, or to 0."""
    largest = (1 << (exponent_bits - 1)) - 1

    def one(value):
        if value == 0 or not math.isfinite(value):
            return value
        step = math.ldexp(1.0, math.frexp(value)[1] - 1 - mantissa_bits)
        # Python rounds halves to even; the quotient by a power of two is exact.
        magnitude = round(abs(value) / step) * step
        exponent = math.frexp(magnitude)[1] - 1
        if exponent > largest:
            magnitude = math.inf
        if exponent < 1 - largest:
            magnitude = 0.0
        return math.copysign(magnitude, value)

    values = elementwise(one, wide(operand))
    return values.astype(np.float64).astype(operand.dtype)
