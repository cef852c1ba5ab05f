"""Values that a program's text fixes: index arrays, masks, and what is made of them.

They are computed with numpy, so that no program runs: only operations of which index
arithmetic and masks are made, and arrays of a bounded size. What is rounded is not
known, because another way to round may make another index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core.compat import Tracer
from . import constant_windows

MAX_SIZE: Final = 2**22
"""How many elements a value may have to be computed."""


# Whose results are rounded, if they are floats.
_ROUNDED: Final = frozenset(
    {"add", "cumsum", "div", "mul", "reduce_sum", "scatter-add", "sub"}
)
_WIDE: Final = np.longdouble


class _Wide:
    """The type of a result with more digits.

    Args:
      aval: the type.
    """

    def __init__(self, aval: Any) -> None:
        self.shape: tuple[int, ...] = aval.shape
        self.dtype = np.dtype(_WIDE)


def of_array(value: Any) -> np.ndarray | None:
    """The value of a constant of a program: integers, bools, or a few numbers."""
    if isinstance(value, Tracer):
        return None
    dtype, size = getattr(value, "dtype", None), getattr(value, "size", 1)
    if size > MAX_SIZE:
        return None
    if dtype is not None:
        try:
            kind = np.dtype(dtype).kind
        except TypeError:  # keys of random numbers
            return None
        if kind not in "biuf" or (kind == "f" and size > 1):
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
        found = function(params, aval, *inputs)
    if found is None:
        return None
    result = np.asarray(found)
    if name in _ROUNDED and np.dtype(aval.dtype).kind == "f":
        # The compiler may round otherwise, by multiplying and adding at once or in
        # another order, and an index or a mask that is made of it would be another one.
        with np.errstate(all="ignore"):
            wide = function(params, _Wide(aval), *[x.astype(_WIDE) for x in inputs])
        if not np.array_equal(result.astype(aval.dtype), wide):
            return None
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
    # The quotient is rounded towards 0. The least integer has no absolute value.
    safe = np.where(y == 0, 1, y).astype(y.dtype)
    below = x // safe
    is_less = (np.fmod(x, safe) != 0) & ((x < 0) != (safe < 0))
    ones = np.invert(np.zeros_like(safe))  # -1, or the largest one without a sign
    return np.where(y == 0, ones, below + is_less)


def _remainder(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind == "f":
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y).astype(y.dtype)))


def _converted(params: Any, aval: Any, x: np.ndarray) -> Any:
    dtype = np.dtype(aval.dtype)
    x = compact(x)
    if x.dtype.kind == "f" and dtype.kind in "iu":
        # What becomes of numbers that do not fit is each backend's own affair.
        limits, whole = np.iinfo(dtype), np.trunc(x).astype(_WIDE)
        fits = (whole >= limits.min) & (whole < _WIDE(limits.max) + 1)
        if not fits.all():
            return None
    return x.astype(dtype)


def _clamped(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _selected(params: Any, aval: Any, which: np.ndarray, *cases: np.ndarray) -> Any:
    # Numbers of no case choose the first or the last one.
    chosen = np.clip(compact(which), 0, len(cases) - 1)
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
    order = params["dimensions"]
    return (x if order is None else x.transpose(order)).reshape(aval.shape)


def _of_shape(params: Any, aval: Any, x: np.ndarray) -> Any:
    return x.reshape(aval.shape)


def _padded(params: Any, aval: Any, x: np.ndarray, value: np.ndarray) -> Any:
    made = np.full(aval.shape, value, aval.dtype)
    to, taken = [], []
    for n, size, (low, _, interior) in zip(
        x.shape, aval.shape, params["padding_config"], strict=True
    ):
        step = interior + 1
        # Negative padding cuts off what would lie outside.
        first = max(0, -(low // step))
        last = min(n, (size - 1 - low) // step + 1)
        last = max(first, last)
        taken.append(slice(first, last))
        to.append(slice(low + first * step, max(low + last * step, 0), step))
    if all(t.start < t.stop for t in taken):
        made[tuple(to)] = x[tuple(taken)]
    return made


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda params, aval, x: function(x, axis=tuple(params["axes"]))


def _extremum(function: Callable[..., Any]) -> Callable[..., Any]:
    # Of nothing numpy knows none.
    found = _reduced(function)
    return lambda params, aval, x: found(params, aval, x) if x.size else None


def _bits(bitwise: np.ufunc, logical: Callable[..., Any]) -> Callable[..., Any]:
    of_bools, of_integers = _reduced(logical), _extremum(bitwise.reduce)
    return lambda params, aval, x: (of_bools if x.dtype == bool else of_integers)(
        params, aval, x
    )


def _first(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda params, aval, x: function(x, axis=params["axes"][0])


_functions: Final[dict[str, Callable[..., Any]]] = {
    "abs": _of(np.abs),
    "add": _of(np.add),
    "and": _of(np.bitwise_and),
    "argmax": _first(np.argmax),
    "argmin": _first(np.argmin),
    "broadcast_in_dim": _broadcast,
    "ceil": _of(np.ceil),
    "clamp": _of(_clamped),
    "concatenate": lambda p, aval, *xs: np.concatenate(xs, p["dimension"]),
    "convert_element_type": _converted,
    "copy": _of(np.asarray),
    "cumsum": _cumulative_sum,
    "div": _of(_divided),
    "eq": _of(np.equal),
    "expand_dims": _of_shape,
    "floor": _of(np.floor),
    "gather": constant_windows.gathered,
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
    "pad": _padded,
    # What says only where an array is, as every operand of another one's does.
    "pcast": _of(np.asarray),
    "pvary": _of(np.asarray),
    "reduce_and": _bits(np.bitwise_and, np.all),
    "reduce_max": _extremum(np.max),
    "reduce_min": _extremum(np.min),
    "reduce_or": _bits(np.bitwise_or, np.any),
    "reduce_sum": _sum,
    "rem": _of(_remainder),
    "reshape": _reshaped,
    "rev": lambda p, aval, x: np.flip(x, tuple(p["dimensions"])),
    "scatter": constant_windows.scattered,
    "scatter-add": constant_windows.scatter_added,
    "select_n": _selected,
    "sign": _of(np.sign),
    "slice": _sliced,
    "squeeze": _of_shape,
    "stack": lambda p, aval, *xs: np.stack(xs, p.get("axis", 0)),
    "sub": _of(np.subtract),
    "transpose": lambda p, aval, x: x.transpose(p["permutation"]),
    "xor": _of(np.bitwise_xor),
}

NAMES: Final = frozenset(_functions)
"""The primitives that `evaluated` computes."""
