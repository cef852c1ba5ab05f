"""Dots, of ragged operands too, and convolutions."""

import jax.numpy as jnp
from jax import lax

import xlaops as xo

from .case import Case

_NO_CONVOLUTION = "jax.numpy.convolve has one dimension and no features"

_CONTRACTION = (((2,), (1,)), ((0,), (0,)))

DOT = (
    Case(
        "dot",
        "Dot",
        ("f32[8,8]", "f32[8,8]"),
        xo.dot,
        lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))),
        jnp.dot,
    ),
    Case(
        "dot precision_config",
        "Dot",
        ("bf16[8,8]", "bf16[8]"),
        lambda x, y: xo.dot(x, y, "HIGHEST", "f32"),
        lambda x, y: lax.dot_general(
            x,
            y,
            (((1,), (0,)), ((), ())),
            precision=lax.Precision.HIGHEST,
            preferred_element_type="float32",
        ),
        lambda x, y: jnp.dot(
            x, y, precision="highest", preferred_element_type="float32"
        ),
    ),
    Case(
        "dot_general",
        "DotGeneral",
        ("f32[2,8,8]", "f32[2,8,8]"),
        lambda x, y: xo.dot_general(x, y, _CONTRACTION),
        lambda x, y: lax.dot_general(x, y, _CONTRACTION),
        jnp.matmul,
    ),
)

_RAGGED = (((1,), (1,)), ((), ()))

RAGGED = (
    Case(
        "ragged_dot",
        "RaggedDot",
        ("f32[8,4]", "f32[3,4,5]", "s32[3]=2"),
        lambda x, y, sizes: xo.ragged_dot(x, y, sizes, (_RAGGED, (0,), (0,))),
        lambda x, y, sizes: lax.ragged_dot(x, y, sizes),
        "jax.numpy has no ragged products",
    ),
    Case(
        "ragged_dot contracting",
        "RaggedDot",
        ("f32[8,4]", "f32[8,5]", "s32[3]=2"),
        lambda x, y, sizes: xo.ragged_dot(
            x, y, sizes, ((((0,), (0,)), ((), ())), (0,), ())
        ),
        lambda x, y, sizes: lax.ragged_dot_general(
            x,
            y,
            sizes,
            lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ()),
        ),
        "jax.numpy has no ragged products",
    ),
)

_ROWS = (((1,), (1,)), ((), ()))

SCALED = (
    Case(
        "scaled_dot",
        "ScaledDot",
        ("bf16[8,8]", "bf16[8,2]", "bf16[8,8]", "bf16[8,2]"),
        lambda x, s, y, t: xo.scaled_dot(x, s, y, t, _ROWS),
        lambda x, s, y, t: lax.scaled_dot(
            x, y, lhs_scale=s, rhs_scale=t, dimension_numbers=_ROWS
        ),
        "jax.numpy has no scaled products",
    ),
)

_IMAGE, _KERNEL = "f32[1,2,8,8]", "f32[3,2,3,3]"
_NHWC = ("NHWC", "HWIO", "NHWC")
_IMAGE_NHWC, _KERNEL_HWIO = "f32[1,8,8,2]", "f32[3,3,2,3]"

CONVOLUTION = (
    Case(
        "conv",
        "Conv",
        (_IMAGE, _KERNEL),
        lambda x, k: xo.conv(x, k, (1, 1), "SAME"),
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"),
        _NO_CONVOLUTION,
    ),
    Case(
        "conv_with_general_padding",
        "ConvWithGeneralPadding",
        (_IMAGE, _KERNEL),
        lambda x, k: xo.conv_with_general_padding(x, k, (2, 1), ((1, 0), (0, 1))),
        lambda x, k: lax.conv_general_dilated(x, k, (2, 1), ((1, 0), (0, 1))),
        _NO_CONVOLUTION,
    ),
    Case(
        "conv_with_general_dimensions",
        "ConvWithGeneralDimensions",
        (_IMAGE_NHWC, _KERNEL_HWIO),
        lambda x, k: xo.conv_with_general_dimensions(x, k, (1, 1), "VALID", _NHWC),
        lambda x, k: lax.conv_general_dilated(
            x, k, (1, 1), "VALID", dimension_numbers=_NHWC
        ),
        _NO_CONVOLUTION,
    ),
    Case(
        "conv_general",
        "ConvGeneral",
        (_IMAGE_NHWC, _KERNEL_HWIO),
        lambda x, k: xo.conv_general(x, k, (1, 1), ((1, 1), (0, 0)), _NHWC),
        lambda x, k: lax.conv_general_dilated(
            x, k, (1, 1), ((1, 1), (0, 0)), dimension_numbers=_NHWC
        ),
        _NO_CONVOLUTION,
    ),
    Case(
        "conv_general_dilated",
        "ConvGeneralDilated",
        (_IMAGE_NHWC, _KERNEL_HWIO),
        lambda x, k: xo.conv_general_dilated(
            x, k, (1, 1), ((1, 1), (0, 0)), (2, 1), (1, 2), _NHWC
        ),
        lambda x, k: lax.conv_general_dilated(
            x,
            k,
            (1, 1),
            ((1, 1), (0, 0)),
            lhs_dilation=(2, 1),
            rhs_dilation=(1, 2),
            dimension_numbers=_NHWC,
        ),
        _NO_CONVOLUTION,
    ),
    Case(
        "conv_general_dilated window_reversal",
        "ConvGeneralDilated",
        (_IMAGE_NHWC, _KERNEL_HWIO),
        lambda x, k: xo.conv_general_dilated(
            x,
            k,
            (1, 1),
            ((1, 1), (0, 0)),
            (2, 1),
            (1, 2),
            _NHWC,
            window_reversal=(True, False),
        ),
        # jax.lax has no window_reversal.
        lambda x, k: lax.conv_general_dilated(
            x,
            lax.rev(k, (0,)),
            (1, 1),
            ((1, 1), (0, 0)),
            lhs_dilation=(2, 1),
            rhs_dilation=(1, 2),
            dimension_numbers=_NHWC,
        ),
        _NO_CONVOLUTION,
    ),
)
