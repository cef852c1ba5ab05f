"""What the overhead of an operation is measured on: one call in three spellings.

Each case is a call of this package with the best hand-written `jax.lax` form of it, and
with the nearest call of `jax.numpy`. `EXCEPTIONS` has the cases whose program differs
from that of jax.lax, each with its reason. The benchmark times them, and the tests hold
the lowered programs to this table.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import xlaops as xo

_DTYPES = {
    "pred": "bool",
    "s8": "int8",
    "s32": "int32",
    "u32": "uint32",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "c64": "complex64",
}


@dataclasses.dataclass(frozen=True)
class Case:
    """One call on the same operands, in up to three spellings.

    Attributes:
      name: unique; begins with the name of the function.
      record: title of the catalog's record that it is a call of.
      operands: types such as ``"f32[8,8]"``, or ``"f32[]=2"`` with the value of all
        elements; they may be nested in lists and tuples.
      ours: the call of this package, as a function of the operands.
      lax: the hand-written form. For what jax.lax has no function for, the call that
        one would try: it raises, and `EXCEPTIONS` says why.
      jnp: the nearest call of jax.numpy, or the reason why there is none.
      emits: operations that its program holds; None for all that the record names.
    """

    name: str
    record: str
    operands: tuple[Any, ...]
    ours: Callable[..., Any]
    lax: Callable[..., Any]
    jnp: Callable[..., Any] | str
    emits: tuple[str, ...] | None = None

    @property
    def function(self) -> str:
        """The name of the function below `xlaops`."""
        return self.name.partition(" ")[0]

    def arrays(self) -> tuple[Any, ...]:
        """The operands as concrete jax arrays; the same at every call."""
        return jax.tree.map(_filled, self.operands)


def lowered(function: Callable[..., Any], operands: tuple[Any, ...]) -> str:
    """The StableHLO text of a call, in a module whose name says nothing of it."""

    def program(*args: Any) -> Any:
        return function(*args)

    return jax.jit(program).lower(*operands).as_text()


def lowered_by_lax(case: Case, operands: tuple[Any, ...]) -> str | None:
    """The text of the hand-written form; None where jax.lax cannot say it."""
    try:
        return lowered(case.lax, operands)
    except (AttributeError, TypeError):
        return None


def _filled(spec: str) -> jax.Array:
    """A small array without zeros, infinities or repeated values next to each other."""
    typed, _, value = spec.partition("=")
    name, _, dims = typed.removesuffix("]").partition("[")
    shape = tuple(int(size) for size in dims.split(",") if size)
    dtype = jnp.dtype(_DTYPES[name])
    if value:
        return jnp.full(shape, float(value), dtype)
    steps = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 + 1
    if name == "pred":
        return jnp.asarray(steps % 2 == 0)
    if name == "c64":
        return jnp.asarray(steps / 8 + 0.5j, dtype)
    return jnp.asarray(steps / 8 if "f" in name else steps, dtype)


def _unary(
    function: str,
    title: str,
    of_lax: Callable[..., Any],
    of_jnp: Callable[..., Any] | str,
    element_type: str = "f32",
) -> Case:
    ours = getattr(xo, function)
    return Case(function, title, (f"{element_type}[8,8]",), ours, of_lax, of_jnp)


def _accurate(
    function: str,
    title: str,
    of_lax: Callable[..., Any],
    of_jnp: Callable[..., Any] | str,
    emits: tuple[str, ...] | None = None,
) -> tuple[Case, Case]:
    """A function with a result accuracy, without it and with it."""
    ours = getattr(xo, function)
    return (
        Case(function, title, ("f32[8,8]",), ours, of_lax, of_jnp, emits),
        Case(
            f"{function} result_accuracy",
            f"{title} (result_accuracy)",
            ("f32[8,8]",),
            lambda x: ours(x, result_accuracy="HIGHEST"),
            lambda x: of_lax(x, accuracy=lax.AccuracyMode.HIGHEST),
            "jax.numpy takes no accuracy",
            emits,
        ),
    )


def _binary(
    function: str,
    title: str,
    of_lax: Callable[..., Any],
    of_jnp: Callable[..., Any] | str,
    element_type: str = "f32",
) -> tuple[Case, Case]:
    """A binary function of equal shapes, and of different ranks."""
    ours = getattr(xo, function)
    return (
        Case(
            function,
            title,
            (f"{element_type}[8,8]", f"{element_type}[8,8]"),
            ours,
            of_lax,
            of_jnp,
        ),
        Case(
            f"{function} broadcast_dimensions",
            f"{title} (broadcast_dimensions)",
            (f"{element_type}[8,8]", f"{element_type}[8]"),
            lambda x, y: ours(x, y, (1,)),
            lambda x, y: of_lax(x, lax.broadcast_in_dim(y, (8, 8), (1,))),
            of_jnp,  # the last dimension is the one that it adds to by itself
        ),
    )


def _total_order(
    function: str, title: str, of_lax: Callable[..., Any]
) -> tuple[Case, Case]:
    """A comparison in total order, of equal shapes and of different ranks."""
    ours = getattr(xo, function)
    reason = "jax.numpy has no total order"
    return (
        Case(function, title, ("f32[8,8]", "f32[8,8]"), ours, of_lax, reason),
        Case(
            f"{function} broadcast_dimensions",
            title,
            ("f32[8,8]", "f32[8]"),
            lambda x, y: ours(x, y, (1,)),
            lambda x, y: of_lax(x, lax.broadcast_in_dim(y, (8, 8), (1,))),
            reason,
        ),
    )


_NO_AFZ = "jax.numpy rounds halves to even"
_NO_LOOP = "jax.numpy has no control flow"
_NO_CONVOLUTION = "jax.numpy.convolve has one dimension and no features"
_NO_DRAW = "jax.numpy draws nothing, and jax.random needs a key"

ARITHMETIC = (
    _unary("abs", "Abs", lax.abs, jnp.abs),
    *_binary("add", "Add", lax.add, jnp.add),
    Case(
        "add scalar",
        "Add",
        ("f32[8,8]",),
        lambda x: xo.add(x, 2.0),
        lambda x: lax.add(x, 2.0),
        lambda x: jnp.add(x, 2.0),
    ),
    Case(
        "add keywords",
        "Add",
        ("f32[8,8]", "f32[8,8]"),
        lambda x, y: xo.add(lhs=x, rhs=y),
        lax.add,  # it takes no keywords; neither does jax.numpy
        jnp.add,
    ),
    Case(
        "add pred",
        "Add",
        ("pred[8,8]", "pred[8,8]"),
        xo.add,
        lax.bitwise_or,  # jax.lax adds no bools
        jnp.add,
        emits=("stablehlo.or",),
    ),
    *_binary("sub", "Sub", lax.sub, jnp.subtract),
    *_binary("mul", "Mul", lax.mul, jnp.multiply),
    Case(
        "mul pred",
        "Mul",
        ("pred[8,8]", "pred[8,8]"),
        xo.mul,
        lax.bitwise_and,  # jax.lax multiplies no bools
        jnp.multiply,
        emits=("stablehlo.and",),
    ),
    *_binary("div", "Div", lax.div, jnp.divide),
    Case(
        "div s32",
        "Div",
        ("s32[8,8]", "s32[8,8]"),
        xo.div,
        lax.div,
        "jax.numpy.floor_divide rounds down",
    ),
    Case(
        "div s32 by a constant",
        "Div",
        ("s32[8,8]",),
        lambda x: xo.div(x, 3),
        lambda x: lax.div(x, np.int32(3)),
        "jax.numpy.floor_divide rounds down",
    ),
    *_binary("rem", "Rem", lax.rem, jnp.fmod),
    Case("rem s32", "Rem", ("s32[8,8]", "s32[8,8]"), xo.rem, lax.rem, jnp.fmod),
    *_binary("max", "Max", lax.max, jnp.maximum),
    *_binary("min", "Min", lax.min, jnp.minimum),
    *_binary("pow", "Pow", lax.pow, jnp.power),
    Case(
        "pow s32",
        "Pow",
        ("s32[8,8]", "s32[8,8]"),
        xo.pow,
        lax.pow,
        jnp.power,
        # By squaring before jax 0.12, whose XLA folds powers wrongly.
        emits=("stablehlo.power",)
        if jax.__version_info__ >= (0, 12)
        else ("stablehlo.multiply",),
    ),
    *_binary("atan2", "Atan2", lax.atan2, jnp.arctan2),
    _unary("neg", "Neg", lax.neg, jnp.negative),
    _unary("sign", "Sign", lax.sign, jnp.sign),
)

TRANSCENDENTAL = (
    *_accurate("cbrt", "Cbrt", lax.cbrt, jnp.cbrt),
    Case(
        "cbrt c64",
        "Cbrt",
        ("c64[8,8]",),
        xo.cbrt,
        # jax.lax has cube roots of real numbers only.
        lambda x: lax.pow(x, lax.full_like(x, 1 / 3)),
        "jax.numpy has cube roots of real numbers only",
        emits=("stablehlo.power",),
    ),
    *_accurate("cos", "Cos", lax.cos, jnp.cos),
    *_accurate("exp", "Exp", lax.exp, jnp.exp),
    *_accurate("expm1", "Expm1", lax.expm1, jnp.expm1),
    *_accurate("log", "Log", lax.log, jnp.log),
    *_accurate("log1p", "Log1p", lax.log1p, jnp.log1p),
    *_accurate(
        "logistic",
        "Logistic",
        lax.logistic,
        jax.nn.sigmoid,
        # jax.lax spells it out on every backend: 1 / (1 + exp(-x)).
        emits=("stablehlo.exponential", "stablehlo.divide"),
    ),
    *_accurate("rsqrt", "Rsqrt", lax.rsqrt, "jax.numpy has no function for it"),
    *_accurate("sin", "Sin", lax.sin, jnp.sin),
    *_accurate("sqrt", "Sqrt", lax.sqrt, jnp.sqrt),
    *_accurate("tan", "Tan", lax.tan, jnp.tan),
    *_accurate("tanh", "Tanh", lax.tanh, jnp.tanh),
)

ROUNDING = (
    _unary("ceil", "Ceil", lax.ceil, jnp.ceil),
    _unary("floor", "Floor", lax.floor, jnp.floor),
    _unary(
        "round",
        "Round",
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        _NO_AFZ,
    ),
    _unary(
        "round_nearest_afz",
        "RoundNearestAfz",
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        _NO_AFZ,
    ),
    _unary(
        "round_nearest_even",
        "RoundNearestEven",
        lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        jnp.round,
    ),
)

LOGICAL = (
    *_binary("and_", "And", lax.bitwise_and, jnp.bitwise_and, "s32"),
    *_binary("or_", "Or", lax.bitwise_or, jnp.bitwise_or, "s32"),
    *_binary("xor", "Xor", lax.bitwise_xor, jnp.bitwise_xor, "s32"),
    _unary("not_", "Not", lax.bitwise_not, jnp.invert, "s32"),
)

COMPARISON = (
    *_binary("eq", "Eq", lax.eq, jnp.equal),
    *_binary("ne", "Ne", lax.ne, jnp.not_equal),
    *_binary("ge", "Ge", lax.ge, jnp.greater_equal),
    *_binary("gt", "Gt", lax.gt, jnp.greater),
    *_binary("le", "Le", lax.le, jnp.less_equal),
    *_binary("lt", "Lt", lax.lt, jnp.less),
    # jax.lax has primitives for three of the total orders, and functions for none.
    *_total_order("eq_total_order", "EqTotalOrder", lax.eq_to_p.bind),
    *_total_order(
        "ne_total_order",
        "NeTotalOrder",
        lambda x, y: lax.bitwise_not(lax.eq_to_p.bind(x, y)),
    ),
    *_total_order(
        "ge_total_order", "GeTotalOrder", lambda x, y: lax.le_to_p.bind(y, x)
    ),
    *_total_order(
        "gt_total_order", "GtTotalOrder", lambda x, y: lax.lt_to_p.bind(y, x)
    ),
    *_total_order("le_total_order", "LeTotalOrder", lax.le_to_p.bind),
    *_total_order("lt_total_order", "LtTotalOrder", lax.lt_to_p.bind),
    Case(
        "compare",
        "Compare",
        ("f32[8,8]", "f32[8,8]"),
        lambda x, y: xo.compare(x, y, direction="LE"),
        lax.le,
        jnp.less_equal,
    ),
    Case(
        "compare type",
        "Compare",
        ("f32[8,8]", "f32[8,8]"),
        lambda x, y: xo.compare(x, y, direction="LT", type="TOTALORDER"),
        lax.lt_to_p.bind,
        "jax.numpy has no total order",
    ),
    _unary("is_finite", "IsFinite", lax.is_finite, jnp.isfinite),
)

SELECTION = (
    Case(
        "clamp",
        "Clamp",
        ("f32[8,8]", "f32[8,8]", "f32[8,8]"),
        xo.clamp,
        lax.clamp,
        lambda low, x, high: jnp.clip(x, low, high),
    ),
    Case(
        "clamp scalars",
        "Clamp",
        ("f32[8,8]",),
        lambda x: xo.clamp(0.25, x, 0.5),
        lambda x: lax.clamp(np.float32(0.25), x, np.float32(0.5)),
        lambda x: jnp.clip(x, 0.25, 0.5),
    ),
    Case(
        "select",
        "Select",
        ("pred[8,8]", "f32[8,8]", "f32[8,8]"),
        xo.select,
        lax.select,
        jnp.where,
    ),
)

ARRAYS = (
    Case(
        "convert_element_type",
        "ConvertElementType",
        ("f32[8,8]",),
        lambda x: xo.convert_element_type(x, "s32"),
        lambda x: lax.convert_element_type(x, "int32"),
        lambda x: jnp.astype(x, "int32"),
    ),
    Case(
        "convert_element_type c64",
        "ConvertElementType",
        ("c64[8,8]",),
        lambda x: xo.convert_element_type(x, np.float32),
        lax.real,  # what jax.lax converts to as well, with a warning
        jnp.real,
        emits=("stablehlo.real",),
    ),
    Case(
        "broadcast",
        "Broadcast",
        ("f32[8,8]",),
        lambda x: xo.broadcast(x, (3,)),
        lambda x: lax.broadcast(x, (3,)),
        lambda x: jnp.broadcast_to(x, (3, 8, 8)),
    ),
    Case(
        "broadcast_in_dim",
        "BroadcastInDim",
        ("f32[8]",),
        lambda x: xo.broadcast_in_dim(x, (8, 8), (1,)),
        lambda x: lax.broadcast_in_dim(x, (8, 8), (1,)),
        lambda x: jnp.broadcast_to(x, (8, 8)),
    ),
    Case(
        "iota",
        "Iota",
        (),
        lambda: xo.iota("s32[64]", 0),
        lambda: lax.iota("int32", 64),
        lambda: jnp.arange(64, dtype="int32"),
    ),
    Case(
        "iota of rank 2",
        "Iota",
        (),
        lambda: xo.iota(xo.Shape("f32", (8, 8)), 1),
        lambda: lax.broadcasted_iota("float32", (8, 8), 1),
        "jax.numpy has it along one dimension",
    ),
    Case(
        "concat_in_dim",
        "ConcatInDim",
        (["f32[8,8]", "f32[8,8]"],),
        lambda xs: xo.concat_in_dim(xs, 0),
        lambda xs: lax.concatenate(xs, 0),
        lambda xs: jnp.concatenate(xs, 0),
    ),
    Case(
        "pad",
        "Pad",
        ("f32[8,8]", "f32[]"),
        lambda x, value: xo.pad(x, value, ((1, 2, 0), (0, 1, 0))),
        lambda x, value: lax.pad(x, value, ((1, 2, 0), (0, 1, 0))),
        lambda x, value: jnp.pad(x, ((1, 2), (0, 1)), constant_values=value),
    ),
    Case(
        "pad interior",
        "Pad",
        ("f32[8,8]",),
        lambda x: xo.pad(x, 0.0, ((-1, 2, 1), (0, 1, 2))),
        lambda x: lax.pad(x, np.float32(0.0), ((-1, 2, 1), (0, 1, 2))),
        "jax.numpy.pad adds nothing between elements",
    ),
    Case(
        "reshape",
        "Reshape",
        ("f32[8,8]",),
        lambda x: xo.reshape(x, (4, 16)),
        lambda x: lax.reshape(x, (4, 16)),
        lambda x: jnp.reshape(x, (4, 16)),
    ),
    Case(
        "reshape explicit",
        "Reshape (explicit)",
        ("f32[8,8]",),
        lambda x: xo.reshape("f32[4,16]", x),
        lambda x: lax.reshape(x, (4, 16)),
        lambda x: jnp.reshape(x, (4, 16)),
    ),
    Case(
        "transpose",
        "Transpose",
        ("f32[8,8]",),
        lambda x: xo.transpose(x, (1, 0)),
        lambda x: lax.transpose(x, (1, 0)),
        lambda x: jnp.transpose(x, (1, 0)),
    ),
    Case(
        "slice",
        "Slice",
        ("f32[8,8]",),
        lambda x: xo.slice(x, (1, 2), (5, 8)),
        lambda x: lax.slice(x, (1, 2), (5, 8)),
        lambda x: x[1:5, 2:8],
    ),
    Case(
        "slice strides",
        "Slice",
        ("f32[8,8]",),
        lambda x: xo.slice(x, (1, 2), (5, 8), (2, 1)),
        lambda x: lax.slice(x, (1, 2), (5, 8), (2, 1)),
        lambda x: x[1:5:2, 2:8],
    ),
)

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

RANDOM = (
    Case(
        "rng_uniform",
        "RngUniform",
        ("f32[]=0", "f32[]=1"),
        lambda a, b: xo.rng_uniform(a, b, "f32[8,8]"),
        lambda a, b: lax.rng_uniform(a, b, (8, 8)),
        _NO_DRAW,
    ),
    Case(
        "rng_uniform s32",
        "RngUniform",
        ("s32[]=0", "s32[]=9"),
        lambda a, b: xo.rng_uniform(a, b, "s32[8,8]"),
        lambda a, b: lax.rng_uniform(a, b, (8, 8)),
        _NO_DRAW,
    ),
    Case(
        "rng_uniform f16",
        "RngUniform",
        ("f16[]=0", "f16[]=1"),
        lambda a, b: xo.rng_uniform(a, b, "f16[8,8]"),
        lambda a, b: lax.rng_uniform(a, b, (8, 8)),
        _NO_DRAW,
    ),
    Case(
        "rng_normal",
        "RngNormal",
        ("f32[]=0", "f32[]=1"),
        lambda mu, sigma: xo.rng_normal(mu, sigma, "f32[8,8]"),
        lambda mu, sigma: lax.rng_normal(mu, sigma, (8, 8)),
        _NO_DRAW,
    ),
)


# Functions of the module: jax.lax keeps what it has traced by the function's identity.


def _double(x: jax.Array) -> jax.Array:
    return lax.add(x, x)


def _negate(x: jax.Array) -> jax.Array:
    return lax.neg(x)


def _double_first(xs: tuple[jax.Array, ...]) -> jax.Array:
    return _double(xs[0])


def _negate_second(xs: tuple[jax.Array, ...]) -> jax.Array:
    return _negate(xs[1])


def _unfinished(state: tuple[jax.Array, jax.Array]) -> jax.Array:
    return lax.lt(state[0], np.int32(5))


def _step(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    return lax.add(state[0], np.int32(1)), lax.add(state[1], state[1])


CONTROL_FLOW = (
    Case(
        "conditional",
        "Conditional (predicate)",
        ("pred[]", "f32[8,8]", "f32[8,8]"),
        lambda p, x, y: xo.conditional(p, x, _double, y, _negate),
        lambda p, x, y: lax.cond(p, _double_first, _negate_second, (x, y)),
        _NO_LOOP,
        emits=("stablehlo.case",),
    ),
    Case(
        "conditional branch_index",
        "Conditional (branch_index)",
        ("s32[]", "f32[8,8]", "f32[8,8]"),
        lambda i, x, y: xo.conditional(i, (_double, _negate), (x, y)),
        lambda i, x, y: lax.switch(i, (_double_first, _negate_second), (x, y)),
        _NO_LOOP,
    ),
    Case(
        "while_",
        "While",
        (("s32[]=0", "f32[8,8]"),),
        lambda state: xo.while_(_unfinished, _step, state),
        lambda state: lax.while_loop(_unfinished, _step, state),
        _NO_LOOP,
    ),
)

CASES: tuple[Case, ...] = (
    *ARITHMETIC,
    *TRANSCENDENTAL,
    *ROUNDING,
    *LOGICAL,
    *COMPARISON,
    *SELECTION,
    *ARRAYS,
    *DOT,
    *CONVOLUTION,
    *RANDOM,
    *CONTROL_FLOW,
)

# Why the program of a case is not that of its jax.lax form.
EXCEPTIONS: dict[str, str] = {
    "pow s32": "jax.lax has no power of integers by an array of exponents",
    "rng_uniform f16": "the document excludes b, which XLA's rounding reaches",
    "rng_normal": "jax.lax has no function for it",
    "conditional branch_index": "an index out of range runs the last branch, as the "
    "document says, where jax.lax.switch clamps it",
}
EXCEPTIONS |= {
    case.name: "XLA folds its comparison in total order as one in partial order, so "
    "integers of that order are compared"
    for case in CASES
    if "_total_order" in case.name or case.name == "compare type"
}
if jax.__version_info__ < (0, 12):
    EXCEPTIONS |= {
        "div s32": "XLA before jaxlib 0.12 ends the process when it folds x / 0",
        "rem s32": "XLA before jaxlib 0.12 ends the process when it folds x % 0",
    }
