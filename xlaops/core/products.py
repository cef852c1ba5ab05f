"""What the products of arrays, dot and convolution, have in common."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import Array, lax

from .. import types
from . import checks

# The kinds of element type that hold sums of products of a kind.
_SUMS = {"b": "biufc", "i": "iufc", "u": "iufc", "f": "fc", "c": "c"}


def check_sum_type(operation: str, x: Array, preferred_element_type: Any) -> None:
    """Checks that sums of products of ``x`` can be of the preferred type."""
    if preferred_element_type is not None:
        dtype = np.dtype(preferred_element_type)
        if checks.kind(dtype) not in _SUMS[checks.kind(x.dtype)]:
            raise TypeError(
                f"{operation}: preferred_element_type must hold sums of {x.dtype}, "
                f"got {dtype}"
            )


def precision(operation: str, precision_config: Any) -> lax.PrecisionLike:
    """What jax.lax takes as the precision of a product of two operands."""

    def to_lax(config: Any) -> lax.PrecisionLike:
        return types.PrecisionConfig.coerce(config).to_lax()

    return checks.coerced(to_lax)(operation, "precision_config", precision_config)


def check_not_narrower(operation: str, x: Array, preferred_element_type: Any) -> None:
    """Checks that the preferred type has no fewer bits than ``x``."""
    if preferred_element_type is None:
        return
    bits = checks.bit_width(preferred_element_type)
    if checks.kind(preferred_element_type) == "c" and checks.kind(x.dtype) != "c":
        bits //= 2  # those of the real part
    if bits < checks.bit_width(x.dtype):
        raise TypeError(
            f"{operation}: preferred_element_type must not be narrower than "
            f"{x.dtype}, got {preferred_element_type}"
        )


def product(
    multiply: Callable[[Array, Array, Any], Array],
    x: Array,
    y: Array,
    preferred_element_type: Any,
) -> Array:
    """``multiply(x, y, preferred_element_type)`` on every backend.

    The CPU and GPU backends refuse operands of less than eight bits when the result is
    of another type, and those of two bits always. There they are converted first, which
    is exact.
    """
    native = checks.bit_width(x.dtype) >= 8 and checks.bit_width(y.dtype) >= 8
    if native or (preferred_element_type is None and checks.bit_width(x.dtype) > 2):
        return multiply(x, y, preferred_element_type)
    wanted = x.dtype if preferred_element_type is None else preferred_element_type
    wide = "int8" if preferred_element_type is None else preferred_element_type

    def converted(x: Array, y: Array) -> Array:
        x, y = lax.convert_element_type(x, wide), lax.convert_element_type(y, wide)
        return lax.convert_element_type(multiply(x, y, None), wanted)

    return lax.platform_dependent(
        x,
        y,
        tpu=lambda x, y: multiply(x, y, preferred_element_type),
        default=converted,
    )
