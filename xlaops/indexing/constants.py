"""Values that a program's text fixes: index arrays, masks, and what is made of them.

They are computed with numpy, so that no program runs: only operations of which index
arithmetic and masks are made, and arrays of a bounded size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core.compat import Tracer

MAX_SIZE: Final = 2**22
"""How many elements a value may have to be computed."""


def of_array(value: Any) -> np.ndarray | None:
    """The value of a constant of a program: integers, bools, or a few numbers."""
    if isinstance(value, Tracer):
        return None
    dtype, size = getattr(value, "dtype", None), getattr(value, "size", 1)
    if size > MAX_SIZE or (dtype is not None and np.dtype(dtype).kind not in "biuf"):
        return None
    if dtype is not None and np.dtype(dtype).kind == "f" and size > 1:
        return None
    return np.asarray(value)


def evaluated(
    name: str, params: Mapping[str, Any], inputs: Sequence[np.ndarray], aval: Any
) -> np.ndarray | None:
    """The value of an operation's only result, or None if it is not computed.

    Args:
      name: of the primitive.
      params: its parameters.
      inputs: the values of its operands.
      aval: the type of the result.
    """
    function = _functions.get(name)
    if function is None or np.dtype(aval.dtype).kind not in "biuf":
        return None
    if aval.size > MAX_SIZE:
        return None
    with np.errstate(all="ignore"):
        result = np.asarray(function(params, aval, *inputs))
    if result.shape != aval.shape:
        result = np.broadcast_to(result, aval.shape)
    return result.astype(aval.dtype, copy=False)


def compact(x: np.ndarray) -> np.ndarray:
    """The array with one element along dimensions along which it is broadcast."""
    return x[tuple([slice(None, None if k else 1) for k in x.strides])]


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda params, aval, *inputs: function(*map(compact, inputs))


def _divided(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind == "f":
        return x / y
    # The quotient of integers is rounded towards 0.
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, -1, np.sign(x) * np.sign(safe) * (abs(x) // abs(safe)))


def _remainder(x: np.ndarray, y: np.ndarray) -> Any:
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y)))


def _clamped(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _selected(params: Any, aval: Any, which: np.ndarray, *cases: np.ndarray) -> Any:
    chosen = compact(which)
    result = compact(cases[0])
    for i, case in enumerate(cases[1:], 1):
        result = np.where(chosen == i, compact(case), result)
    return result


def _iota(params: Any, aval: Any, *inputs: Any) -> Any:
    dimension = params["dimension"]
    index = [1] * len(aval.shape)
    index[dimension] = -1
    return np.arange(aval.shape[dimension]).reshape(index)


def _broadcast(params: Any, aval: Any, x: np.ndarray) -> Any:
    index = [1] * len(aval.shape)
    for size, to in zip(x.shape, params["broadcast_dimensions"], strict=True):
        index[to] = size
    return x.reshape(index)


def _sliced(params: Any, aval: Any, x: np.ndarray) -> Any:
    strides = params["strides"] or [1] * x.ndim
    return x[
        tuple(
            slice(a, b, k)
            for a, b, k in zip(
                params["start_indices"], params["limit_indices"], strides, strict=True
            )
        )
    ]


def _sum(params: Any, aval: Any, x: np.ndarray) -> Any:
    return np.sum(x, axis=tuple(params["axes"]), dtype=aval.dtype)


def _cumulative_sum(params: Any, aval: Any, x: np.ndarray) -> Any:
    axis = params["axis"]
    if params["reverse"]:
        x = np.flip(x, axis)
    total = np.cumsum(x, axis, dtype=aval.dtype)
    return np.flip(total, axis) if params["reverse"] else total


def _reshaped(params: Any, aval: Any, x: np.ndarray, *sizes: Any) -> Any:
    order = params.get("dimensions")
    return (x if order is None else x.transpose(order)).reshape(aval.shape)


_functions: Final[dict[str, Callable[..., Any]]] = {
    "abs": _of(np.abs),
    "add": _of(np.add),
    "and": _of(np.bitwise_and),
    "broadcast_in_dim": _broadcast,
    "clamp": _of(_clamped),
    "concatenate": lambda p, aval, *xs: np.concatenate(xs, p["dimension"]),
    "convert_element_type": lambda p, aval, x: x.astype(aval.dtype),
    "copy": _of(np.asarray),
    "cumsum": _cumulative_sum,
    "div": _of(_divided),
    "eq": _of(np.equal),
    "expand_dims": _reshaped,
    "ge": _of(np.greater_equal),
    "gt": _of(np.greater),
    "iota": _iota,
    "le": _of(np.less_equal),
    "lt": _of(np.less),
    "max": _of(np.maximum),
    "min": _of(np.minimum),
    "mul": _of(np.multiply),
    "ne": _of(np.not_equal),
    "neg": _of(np.negative),
    "not": _of(np.invert),
    "or": _of(np.bitwise_or),
    "reduce_sum": _sum,
    "rem": _of(_remainder),
    "reshape": _reshaped,
    "rev": lambda p, aval, x: np.flip(x, tuple(p["dimensions"])),
    "select_n": _selected,
    "sign": _of(np.sign),
    "slice": _sliced,
    "squeeze": _reshaped,
    "sub": _of(np.subtract),
    "transpose": lambda p, aval, x: x.transpose(p["permutation"]),
    "xor": _of(np.bitwise_xor),
}
