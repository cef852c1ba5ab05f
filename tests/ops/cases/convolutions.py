"""Convolutions in each form that the document has."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import BY_TITLE, Error
from .operands import FEW, uniform_of
from .products import PRODUCT_TYPES, product

_CONV_ERRORS = {
    "window_strides": ((0, 1), ValueError, "window_strides", "(0, 1)"),
    "padding": ([(1, 1)], ValueError, "padding", "((1, 1),)"),
    "lhs_dilation": ((0, 1), ValueError, "lhs_dilation", "(0, 1)"),
    "feature_group_count": (2, TypeError, "feature_group_count", "(1, 2, 5, 4)"),
}


def _conv(title, label, shapes, statics, wrong, dtypes=FEW, smooth=None):
    """A convolution; ``wrong`` names the static argument that is refused."""
    function = getattr(xo, BY_TITLE[title].function)
    value, exception, parameter, came = _CONV_ERRORS[wrong]
    base = {"window_strides": (1, 1), "padding": [(0, 0), (0, 0)]}
    if title in ("Conv", "ConvWithGeneralDimensions"):
        base["padding"] = "VALID"
    if "dimension_numbers" in statics:
        base["dimension_numbers"] = "bf01_oi01->bf01"
    if title == "ConvGeneralDilated":
        base |= {"lhs_dilation": (1, 1), "rhs_dilation": (1, 1)}
    base[wrong] = value
    case = product(
        title,
        label,
        shapes,
        statics,
        oracles.convolution,
        Error(
            lambda: function(jnp.ones((1, 2, 5, 4)), jnp.ones((2, 2, 2, 2)), **base),
            exception,
            parameter,
            came,
        ),
        dtypes,
    )
    return dataclasses.replace(case, smooth=smooth)


_TAIL = {
    "feature_group_count": 1,
    "batch_group_count": 1,
    "precision_config": "HIGHEST",
    "preferred_element_type": None,
}
_NHWC = "b01f_01io->b01f"

CONVOLUTIONS = (
    _conv(
        "Conv",
        "",
        ((2, 2, 4, 3), (2, 2, 3, 2)),
        {"window_strides": (2, 1), "padding": "SAME"},
        "window_strides",
        PRODUCT_TYPES,
    ),
    _conv(
        "Conv",
        "valid and groups",
        ((2, 4, 4, 3), (4, 2, 2, 2)),
        {
            "window_strides": (1, 1),
            "padding": "VALID",
            **_TAIL,
            "feature_group_count": 2,
        },
        "feature_group_count",
    ),
    _conv(
        "Conv",
        "preferred",
        ((2, 2, 4, 3), (2, 2, 3, 2)),
        {
            "window_strides": (1, 1),
            "padding": "VALID",
            **_TAIL,
            "preferred_element_type": np.float32,
        },
        "window_strides",
        ("bfloat16",),
        # Its element type may not be narrower than the operands'.
        smooth=lambda rng, dtype="float64": uniform_of(
            -2, 2, (2, 2, 4, 3), (2, 2, 3, 2)
        )(rng, "float32"),
    ),
    _conv(
        "ConvWithGeneralPadding",
        "",
        ((1, 2, 4, 3), (2, 2, 2, 2)),
        {"window_strides": (1, 2), "padding": ((1, 0), (-1, 2))},
        "padding",
        FEW,
    ),
    _conv(
        "ConvWithGeneralDimensions",
        "",
        ((1, 4, 3, 2), (2, 2, 2, 2)),
        {
            "window_strides": (1, 2),
            "padding": "SAME",
            "dimension_numbers": _NHWC,
            **_TAIL,
        },
        "window_strides",
        FEW,
    ),
    _conv(
        "ConvGeneral",
        "",
        ((1, 4, 3, 2), (2, 2, 2, 2)),
        {
            "window_strides": (2, 1),
            "padding": ((1, 1), (0, 1)),
            "dimension_numbers": _NHWC,
            **_TAIL,
        },
        "padding",
        FEW,
    ),
    _conv(
        "ConvGeneral",
        "batch groups",
        ((4, 4, 2), (2, 2, 4)),
        {
            "window_strides": (1,),
            "padding": ((0, 1),),
            "dimension_numbers": "b0f_0io->f0b",
            **_TAIL,
            "batch_group_count": 2,
        },
        "padding",
    ),
    _conv(
        "ConvGeneralDilated",
        "",
        ((1, 2, 4, 3), (2, 2, 2, 2)),
        {
            "window_strides": (1, 2),
            "padding": ((1, 2), (2, -1)),
            "lhs_dilation": (2, 1),
            "rhs_dilation": (1, 2),
            "dimension_numbers": "bf01_oi01->bf01",
        },
        "lhs_dilation",
        PRODUCT_TYPES,
    ),
    _conv(
        "ConvGeneralDilated",
        "reversed",
        ((1, 2, 4, 3), (2, 2, 3, 2)),
        {
            "window_strides": (1, 1),
            "padding": ((1, 1), (0, 1)),
            "lhs_dilation": (1, 2),
            "rhs_dilation": (1, 1),
            "dimension_numbers": "bf01_oi01->bf01",
            **_TAIL,
            "window_reversal": (True, False),
        },
        "padding",
    ),
)
