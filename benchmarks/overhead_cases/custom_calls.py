"""Custom calls, beside those of jax.ffi."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import xlaops as xo
import xlaops.ffi

from .case import Case

_TARGET = "xlaops_periodic_add"
_RESULT = "s32[8]"
_TYPED = "API_VERSION_TYPED_FFI"
_LAYOUTS = ("s32[8]{0}", ["s32[4]{0}", "s32[8]{0}"])


def _add(x: Any, y: Any) -> Any:
    return x + y


def _of_jax(b: Any, c: Any) -> Any:
    result = jax.ShapeDtypeStruct((8,), jnp.int32)
    return jax.ffi.ffi_call(_TARGET, result)(b, c)


def _refused(b: Any, c: Any) -> Any:
    return jax.ffi.ffi_call(_TARGET, c, called_computations=[_add])(b, c)  # type: ignore[call-overload]


def _case(
    name: str, record: str, ours: Callable[..., Any], of_jax: Callable[..., Any]
) -> Case:
    def with_target(b: Any, c: Any) -> Any:
        xo.ffi.available()  # its first call registers the target
        return ours(b, c)

    operands = ("s32[4]", "s32[8]")
    return Case(name, record, operands, with_target, of_jax, "jax.numpy has no calls")


CUSTOM_CALLS: tuple[Case, ...] = (
    _case(
        "custom_call",
        "CustomCall",
        lambda b, c: xo.custom_call(_TARGET, [b, c], _RESULT, api_version=_TYPED),
        _of_jax,
    ),
    _case(
        "custom_call_with_computation",
        "CustomCallWithComputation",
        lambda b, c: xo.custom_call_with_computation(
            _TARGET, [b, c], _add, _RESULT, api_version=_TYPED
        ),
        _refused,
    ),
    _case(
        "custom_call_with_layout",
        "CustomCallWithLayout",
        lambda b, c: xo.custom_call_with_layout(
            _TARGET, [b, c], *_LAYOUTS, api_version=_TYPED
        ),
        _of_jax,
    ),
    _case(
        "custom_call_with_computation_and_layouts",
        "CustomCallWithComputationAndLayouts",
        lambda b, c: xo.custom_call_with_computation_and_layouts(
            _TARGET, [b, c], _add, *_LAYOUTS, api_version=_TYPED
        ),
        _refused,
    ),
    _case(
        "custom_call_with_conv_dnums",
        "CustomCallWithConvDnums",
        lambda b, c: xo.custom_call_with_conv_dnums(
            _TARGET, [b, c], *_LAYOUTS, api_version=_TYPED
        ),
        _of_jax,
    ),
)
