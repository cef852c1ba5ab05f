"""Indices that XLA clamps, in element types in which its clamp is right.

XLA clamps in the element type of the indices, where the size of a dimension may not
fit, and takes unsigned indices that are constants of the program for signed ones.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from . import checks
from .compat import SLICES_MERGE_UNCLAMPED, Tracer

_INT32 = np.iinfo(np.int32)


def exact(value: Any) -> Any:
    """A Python int or an array of numpy's as JAX holds it, without wrapping around.

    Without x64 JAX keeps the low 32 bits of a 64-bit integer. An index so large is out
    of range whatever it is, and stays so as the largest (or least) number.
    """
    limits = np.iinfo(jax.dtypes.canonicalize_dtype(np.int64))
    if type(value) is int:
        value = min(max(value, int(limits.min)), int(limits.max))
        fits = _INT32.min <= value <= _INT32.max
        return np.int32(value) if fits else np.int64(value)
    if not isinstance(value, (np.ndarray, np.generic)) or limits.bits == 64:
        return value
    if value.dtype == np.uint64:
        return np.minimum(value, np.uint64(_INT32.max)).astype(np.int32)
    if value.dtype == np.int64:
        return np.clip(value, _INT32.min, _INT32.max).astype(np.int32)
    return value


def safe(operation: str, parameter: str, value: Any, shape: Sequence[int]) -> Array:
    """Integer indices of an array of that shape, in a type that XLA clamps rightly."""
    x = checks.operand(operation, parameter, value, "iu")
    signed = checks.kind(x.dtype) == "i"
    bits = jnp.iinfo(x.dtype).bits
    if bits < 32:
        return lax.convert_element_type(x, np.int32)
    if signed:
        return x
    wide = np.dtype(np.int32)
    if max(shape, default=0) > _INT32.max:
        wide = jax.dtypes.canonicalize_dtype(np.int64)
        if wide == np.int32:
            return x
    if wide.itemsize * 8 > bits:
        return lax.convert_element_type(x, wide)
    limit = lax.full_like(x, np.iinfo(wide).max)
    return lax.convert_element_type(lax.min(x, limit), wide)


def scalars(
    operation: str,
    parameter: str,
    value: Any,
    shape: Sequence[int],
    sizes: Sequence[int],
) -> list[Array]:
    """One start for each dimension, of one element type.

    Args:
      operation: for messages.
      parameter: for messages.
      value: a sequence of integer scalars or one 1-d array.
      shape: shape of the array that is indexed.
      sizes: shape of the slice in it.
    """
    if isinstance(value, (tuple, list)):
        starts = []
        for i, item in enumerate(value):
            x = safe(operation, f"{parameter}[{i}]", item, shape)
            if x.ndim:
                raise TypeError(
                    f"{operation}: {parameter}[{i}] must be a scalar, "
                    f"got {checks.describe(x)}"
                )
            starts.append(x)
        dtypes = {x.dtype for x in starts}
        if len(dtypes) > 1:
            wide = np.int64 if np.dtype(np.int64) in dtypes else np.int32
            starts = [lax.convert_element_type(x, wide) for x in starts]
        count = len(starts)
    else:
        x = safe(operation, parameter, value, shape)
        if x.ndim != 1:
            raise TypeError(
                f"{operation}: {parameter} must be a sequence of scalars or a "
                f"1-dimensional array, got {checks.describe(x)}"
            )
        count = x.shape[0]
        starts = list(x) if count == len(shape) else []
    if count != len(shape):
        raise ValueError(
            f"{operation}: {parameter} must have one entry for each dimension of "
            f"operand {tuple(shape)}, got {count}"
        )
    if not SLICES_MERGE_UNCLAMPED:
        return starts
    return [
        lax.clamp(np.zeros((), x.dtype), x, np.asarray(n - size, x.dtype))
        if isinstance(x, Tracer)
        else x
        for x, n, size in zip(starts, shape, sizes, strict=True)
    ]
