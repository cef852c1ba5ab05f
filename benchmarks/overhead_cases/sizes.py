"""Dimensions whose sizes are data."""

import numpy as np
from jax import lax

import xlaops as xo

from .case import Case

_NO_SIZES = "jax.numpy has no dynamic sizes"


def _clamped(n):
    return lax.clamp(np.int32(0), n, np.int32(8))


def _parts(x):
    return x.data, x.sizes[0]


SIZES = (
    Case(
        "set_dimension_size",
        "SetDimensionSize",
        ("f32[8,8]", "s32[]"),
        lambda x, n: _parts(xo.set_dimension_size(x, n, 0)),
        lambda x, n: (x, _clamped(n)),
        _NO_SIZES,
        emits=("stablehlo.clamp",),
    ),
    Case(
        "get_dimension_size",
        "GetDimensionSize",
        ("f32[8,8]",),
        lambda x: xo.get_dimension_size(x, 0),
        lambda x: lax.full((), x.shape[0], np.int32),
        _NO_SIZES,
        emits=("stablehlo.constant",),
    ),
    Case(
        "remove_dynamic_dimension",
        "RemoveDynamicDimension",
        ("f32[8,8]",),
        lambda x: xo.remove_dynamic_dimension(x, 0),
        lambda x: x,
        _NO_SIZES,
        emits=(),
    ),
    Case(
        "dynamic_reshape",
        "DynamicReshape",
        ("f32[64]", "s32[]"),
        lambda x, n: _parts(xo.dynamic_reshape(x, [n, 8], (8, 8), (True, False))),
        lambda x, n: (_clamped(n), lax.reshape(x, (8, 8)))[::-1],
        _NO_SIZES,
        emits=("stablehlo.reshape",),
    ),
)
