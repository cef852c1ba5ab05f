"""Arithmetic, functions, rounding, logic, bits and parts of complex numbers."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import xlaops as xo

from .case import Case, binary, unary


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


_NO_AFZ = "jax.numpy rounds halves to even"

ARITHMETIC = (
    unary("abs", "Abs", lax.abs, jnp.abs),
    *binary("add", "Add", lax.add, jnp.add),
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
    *binary("sub", "Sub", lax.sub, jnp.subtract),
    *binary("mul", "Mul", lax.mul, jnp.multiply),
    Case(
        "mul pred",
        "Mul",
        ("pred[8,8]", "pred[8,8]"),
        xo.mul,
        lax.bitwise_and,  # jax.lax multiplies no bools
        jnp.multiply,
        emits=("stablehlo.and",),
    ),
    *binary("div", "Div", lax.div, jnp.divide),
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
    *binary("rem", "Rem", lax.rem, jnp.fmod),
    Case("rem s32", "Rem", ("s32[8,8]", "s32[8,8]"), xo.rem, lax.rem, jnp.fmod),
    *binary("max", "Max", lax.max, jnp.maximum),
    *binary("min", "Min", lax.min, jnp.minimum),
    *binary("pow", "Pow", lax.pow, jnp.power),
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
    *binary("atan2", "Atan2", lax.atan2, jnp.arctan2),
    unary("neg", "Neg", lax.neg, jnp.negative),
    unary("sign", "Sign", lax.sign, jnp.sign),
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
    unary("cosh", "Cosh", lax.cosh, jnp.cosh),
    Case(
        "cosh result_accuracy",
        "Cosh (result_accuracy)",
        ("f32[8,8]",),
        lambda x: xo.cosh(x, "HIGHEST"),
        lambda x: lax.cosh(x, accuracy=lax.AccuracyMode.HIGHEST),
        "jax.numpy takes no accuracy",
    ),
    unary("erf", "Erf", lax.erf, "jax.numpy has no function for it"),
    Case(
        "erf result_accuracy",
        "Erf (result_accuracy)",
        ("f32[8,8]",),
        lambda x: xo.erf(x, "HIGHEST"),
        lax.erf,  # which takes none, as HLO's has none
        "jax.numpy has no function for it",
    ),
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
    unary("ceil", "Ceil", lax.ceil, jnp.ceil),
    unary("floor", "Floor", lax.floor, jnp.floor),
    unary(
        "round",
        "Round",
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        _NO_AFZ,
    ),
    unary(
        "round_nearest_afz",
        "RoundNearestAfz",
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        _NO_AFZ,
    ),
    unary(
        "round_nearest_even",
        "RoundNearestEven",
        lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        jnp.round,
    ),
)

LOGICAL = (
    *binary("and_", "And", lax.bitwise_and, jnp.bitwise_and, "s32"),
    *binary("or_", "Or", lax.bitwise_or, jnp.bitwise_or, "s32"),
    *binary("xor", "Xor", lax.bitwise_xor, jnp.bitwise_xor, "s32"),
    unary("not_", "Not", lax.bitwise_not, jnp.invert, "s32"),
)

BITS = (
    *binary("shift_left", "ShiftLeft", lax.shift_left, jnp.left_shift, "s32"),
    *binary(
        "shift_right_arithmetic",
        "ShiftRightArithmetic",
        lax.shift_right_arithmetic,
        jnp.right_shift,
        "s32",
    ),
    *binary(
        "shift_right_logical",
        "ShiftRightLogical",
        lax.shift_right_logical,
        "jax.numpy has it of unsigned integers only",
        "s32",
    ),
    Case(
        "mulhi",
        "Mulhi",
        ("s32[8,8]", "s32[8,8]"),
        xo.mulhi,
        lax.mulhi,
        "jax.numpy has no function for it",
        emits=("stablehlo.multiply",),
    ),
    Case(
        "mulhi broadcast_dimensions",
        "Mulhi",
        ("s32[8,8]", "s32[8]"),
        lambda x, y: xo.mulhi(x, y, (1,)),
        lambda x, y: lax.mulhi(x, lax.broadcast_in_dim(y, (8, 8), (1,))),
        "jax.numpy has no function for it",
        emits=("stablehlo.multiply",),
    ),
    unary("clz", "Clz", lax.clz, "jax.numpy has no function for it", "s32"),
    Case(
        "population_count",
        "PopulationCount",
        ("s32[8,8]",),
        xo.population_count,
        lax.population_count,
        "jax.numpy.bitwise_count counts those of the absolute value",
    ),
)

COMPLEX = (
    *binary("complex", "Complex", lax.complex, lambda x, y: x + 1j * y),
    unary("real", "Real", lax.real, jnp.real, "c64"),
    unary("imag", "Imag", lax.imag, jnp.imag, "c64"),
    Case(
        "real of a real number",
        "Real",
        ("f32[8,8]",),
        xo.real,
        lambda x: x,  # jax.lax takes complex numbers only
        jnp.real,
        emits=(),
    ),
    Case(
        "imag of a real number",
        "Imag",
        ("f32[8,8]",),
        xo.imag,
        lambda x: lax.full_like(x, 0),  # jax.lax takes complex numbers only
        jnp.imag,
        emits=("stablehlo.constant",),
    ),
    unary("conj", "Conj", lax.conj, jnp.conj, "c64"),
)
