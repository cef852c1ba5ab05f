"""Operands with regions whose element types XLA does not take beside one another.

It packs several elements of less than a byte into one, and takes arrays of which some
are packed and others are not for arrays of different shapes; and it has no reduction or
scatter of floating-point types of different precision. There the operation works on
types that hold all values of the operands' own, and its computation on theirs.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from . import checks
from .computation import Computation, derived

NARROW = tuple(jnp.dtype(name) for name in ("int2", "int4", "uint2", "uint4"))


def is_mixed(arrays: Sequence[Array]) -> bool:
    """Whether the element types have to be held in others."""
    dtypes = [x.dtype for x in arrays]
    return len(set(dtypes)) > 1 and bool(_holders(dtypes))


def held(values: Sequence[Array]) -> list[Array]:
    """The arrays, in types that XLA takes beside one another."""
    dtypes = [x.dtype for x in values]
    holders = _holders(dtypes)
    return converted(values, [holders.get(dtype, dtype) for dtype in dtypes])


def of_held(computation: Computation) -> Computation:
    """The computation that takes and returns values in these types."""
    holders = _holders(computation.inputs)

    def types_of(dtypes: Sequence[Any]) -> list[Any]:
        return [holders.get(dtype, dtype) for dtype in dtypes]

    def function(*scalars: Any) -> list[Array]:
        results = computation(*converted(scalars, computation.inputs))
        return converted(results, types_of(computation.outputs))

    return derived(function, types_of(computation.inputs))


def converted(values: Sequence[Any], dtypes: Sequence[Any]) -> list[Array]:
    """The values, each as its type."""
    return [
        lax.convert_element_type(x, dtype)
        for x, dtype in zip(values, dtypes, strict=True)
    ]


def _holders(dtypes: Sequence[Any]) -> dict[Any, Any]:
    """The types of which values are held in others, and these."""
    different = set(dtypes)
    holders = {}
    if len(different) > 1:
        holders = {d: np.dtype(np.int8) for d in different.intersection(NARROW)}
    floats = [d for d in different if checks.kind(d) == "f"]
    if len(floats) > 1:
        is_wide = any(checks.bit_width(d) > 32 for d in floats)
        holder = np.dtype(np.float64 if is_wide else np.float32)
        holders |= {d: holder for d in floats if d != holder}
    return holders
