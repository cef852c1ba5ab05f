"""Operations that arrange elements."""

import itertools
import math

import ml_dtypes
import numpy as np


def iota(shape, iota_dimension):
    name, _, dims = shape.removesuffix("]").partition("[")
    sizes = tuple(int(n) for n in dims.split(","))
    types = {"s32": np.int32, "u8": np.uint8, "f32": np.float32, "c64": np.complex64}
    types |= {"bf16": ml_dtypes.bfloat16, "s64": np.int64, "f16": np.float16}
    types |= {"s4": ml_dtypes.int4, "f8e4m3fn": ml_dtypes.float8_e4m3fn}
    return np.indices(sizes)[iota_dimension].astype(types[name])


def reshape(operand, dimensions):
    result = np.empty(math.prod(dimensions), operand.dtype)
    for i, index in enumerate(np.ndindex(*operand.shape)):
        result[i] = operand[index]
    return result.reshape(dimensions)


def reshape_explicit(shape, operand):
    dims = shape.partition("[")[2].removesuffix("]").split(",")
    return reshape(operand, tuple(int(n) for n in dims))


def transpose(operand, permutation):
    sizes = tuple(operand.shape[p] for p in permutation)
    result = np.empty(sizes, operand.dtype)
    for index in np.ndindex(*sizes):
        source = [0] * len(permutation)
        for i, p in enumerate(permutation):
            source[p] = index[i]
        result[index] = operand[tuple(source)]
    return result


def concat_in_dim(*operands, dimension):
    return np.concatenate(operands, axis=dimension)


def pad(operand, padding_value, padding_config):
    sizes, positions = [], []
    for n, (low, high, interior) in zip(operand.shape, padding_config, strict=True):
        sizes.append(low + high + n + (n - 1 if n else 0) * interior)
        positions.append([low + i * (1 + interior) for i in range(n)])
    result = np.full(sizes, padding_value, operand.dtype)
    for index in np.ndindex(*operand.shape):
        at = tuple(p[i] for p, i in zip(positions, index, strict=True))
        if all(0 <= i < n for i, n in zip(at, sizes, strict=True)):
            result[at] = operand[index]
    return result


def slice_(operand, start_indices, limit_indices, strides=None):
    strides = strides or (1,) * operand.ndim
    chosen = [
        range(*bounds)
        for bounds in zip(start_indices, limit_indices, strides, strict=True)
    ]
    result = [operand[index] for index in itertools.product(*chosen)]
    return np.array(result, operand.dtype).reshape([len(c) for c in chosen])


def slice_in_dim(operand, start_index, limit_index, stride, dimno):
    starts, strides = [0] * operand.ndim, [1] * operand.ndim
    limits = list(operand.shape)
    starts[dimno], limits[dimno], strides[dimno] = start_index, limit_index, stride
    return slice_(operand, starts, limits, strides)


def pad_in_dim(operand, padding_value, dimno, pad_lo, pad_hi):
    config = [(0, 0, 0)] * operand.ndim
    config[dimno] = (pad_lo, pad_hi, 0)
    return pad(operand, padding_value, config)


def collapse(operand, dimensions):
    sizes = list(operand.shape)
    first, last = dimensions[0], dimensions[-1]
    sizes[first : last + 1] = [math.prod(sizes[first : last + 1])]
    return reshape(operand, sizes)


def reshape_with_inferred_dimension(operand, new_sizes, inferred_dimension):
    sizes = list(new_sizes)
    if inferred_dimension >= 0:
        others = sizes[:inferred_dimension] + sizes[inferred_dimension + 1 :]
        sizes[inferred_dimension] = operand.size // math.prod(others)
    return reshape(operand, sizes)


def rev(operand, dimensions):
    result = np.empty(operand.shape, operand.dtype)
    for index in np.ndindex(*operand.shape):
        source = tuple(
            n - 1 - i if d in dimensions else i
            for d, (i, n) in enumerate(zip(index, operand.shape, strict=True))
        )
        result[index] = operand[source]
    return result
