"""Element types, shapes and values that travel through queues."""

import ml_dtypes
import numpy as np

from xlaops import effects as fx

DTYPES = {
    "pred": np.bool_,
    "s8": np.int8,
    "u8": np.uint8,
    "s16": np.int16,
    "s32": np.int32,
    "u32": np.uint32,
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "c64": np.complex64,
}
WIDE = {"s64": np.int64, "u64": np.uint64, "f64": np.float64, "c128": np.complex128}
SHAPES = [(), (1,), (5,), (2, 3), (0, 3), (2, 1, 2)]


def array(dtype, shape):
    """An array of small numbers, PRED ones alternating."""
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7
    return (values % 2 == 0) if dtype == np.bool_ else values.astype(dtype)


def equal(got, want):
    """Values, element type and shape."""
    got = np.asarray(got)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def numbers(values):
    return [np.asarray(v).tolist() for v in values]


def text_of(name, shape):
    return f"{name}[{','.join(map(str, shape))}]"


def feed(values, device=0):
    for value in values:
        fx.infeed_queue(device).put(value)
