"""Other element types, and fewer bits of one."""

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import EVERY, FLOATS, anything, by_name, dtype_of, uniform


def _convert_arguments(target):
    def arguments(rng, dtype):
        # What does not fit is the backend's choice: `test_values.py` has XLA's.
        small = target in ("s4", "s8", "u32")
        low = 0 if target[0] == "u" else -7
        if oracles.kind(dtype_of(dtype)) in "iu":
            return (anything(rng, dtype, (3, 4)),)
        return (uniform(rng, dtype, (3, 4), low, 7 if small else 12),)

    return arguments


def _convert(target, dtypes, gradient="not differentiable", label=None):
    return Case(
        title="ConvertElementType",
        label=label or f"to {target}",
        arguments=_convert_arguments(target),
        arrange=by_name("operand"),
        statics={"new_element_type": target},
        oracle=oracles.convert,
        dtypes=dtypes,
        exact=True,
        gradient=gradient,
        smooth=lambda rng, dtype="float64": (uniform(rng, dtype, (2, 3)),),
        error=Error(
            lambda: xo.convert_element_type(jnp.ones(2), "f33"),
            TypeError,
            "new_element_type",
            "f33",
        ),
    )


def _bitcast(target, shape, dtypes, oracle=oracles.bitcast_convert, label=None):
    def arguments(rng, dtype):
        numbers = {"f32": "float32", "bf16": "bfloat16"}.get(target)
        if numbers is None:
            return (anything(rng, dtype, shape),)
        # Bits of numbers: those of a signalling NaN change when they are copied.
        return (uniform(rng, numbers, shape).view(dtype_of(dtype)),)

    return Case(
        title="BitcastConvertType",
        label=label or f"to {target}",
        arguments=arguments,
        arrange=by_name("operand"),
        statics={"new_element_type": target},
        oracle=oracle,
        dtypes=dtypes,
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: xo.bitcast_convert_type(jnp.ones(3, "uint8"), "u32"),
            ValueError,
            "operand",
            "uint8[3]",
        ),
    )


def _reduce_precision(label, exponent_bits, mantissa_bits, arguments, dtypes):
    # Its steps have no derivative to compare with: what stands for it is by hand in
    # `transforms/test_autodiff.py`.
    return Case(
        title="ReducePrecision",
        label=label,
        arguments=arguments,
        arrange=by_name("operand"),
        statics={"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits},
        oracle=oracles.reduce_precision,
        dtypes=dtypes,
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: xo.reduce_precision(jnp.ones(3), 0, 4),
            ValueError,
            "exponent_bits",
            "0",
        ),
    )


def _magnitudes(rng, dtype):
    """Of all sizes, so that some leave the range of a narrow format."""
    values = rng.choice([-1, 1], (4, 8)) * 2.0 ** rng.uniform(-30, 20, (4, 8))
    return (values.astype(dtype_of(dtype)),)


def _stochastic(target, dtypes):
    # The derivative is by hand in `ops/test_stochastic_convert.py`.
    def arguments(rng, dtype):
        width = dtype_of(dtype).itemsize * 8
        random = rng.integers(0, 1 << width, (3, 4), np.uint64, endpoint=False)
        return uniform(rng, dtype, (3, 4)), random.astype(f"uint{width}")

    return Case(
        title="StochasticConvertType",
        label=f"to {target}",
        arguments=arguments,
        arrange=by_name("operand", "random"),
        statics={"new_element_type": target},
        oracle=lambda operand, random, new_element_type: oracles.stochastic_convert(
            operand, random, {"s8": "int8", "bf16": "bfloat16"}[target]
        ),
        dtypes=dtypes,
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: xo.stochastic_convert_type(
                jnp.ones(2), jnp.ones(2, "uint16"), "s8"
            ),
            TypeError,
            "random",
            "uint16[2]",
        ),
    )


CONVERSIONS = (
    _stochastic("s8", ("float32", "bfloat16", "float16", "float64", "float8_e5m2")),
    _stochastic("bf16", ("float32", "float16", "float64")),
    _convert("pred", EVERY),
    _convert("s8", EVERY),
    _convert("s4", ("float32", "int32", "bool", "uint8")),
    _convert("u32", EVERY),
    _convert("bf16", EVERY),
    _convert("f16", ("float32", "float64", "int32", "bfloat16")),
    _convert("f8e4m3fn", ("float32", "float16", "bfloat16", "int8", "bool")),
    _convert("f32", EVERY, "yes"),
    _convert("c64", EVERY, "yes"),
    _convert("s64", ("int64", "uint64", "float64", "int8")),
    _convert("f64", ("int64", "uint64", "float64", "float32"), "yes"),
    _bitcast("u32", (3, 4), ("float32", "int32", "uint32")),
    _bitcast("f32", (3, 4), ("int32", "float32")),
    _bitcast("bf16", (3, 4), ("int16", "float16")),
    _bitcast(
        "u8",
        (3, 2),
        ("float32", "int8", "bfloat16", "float16", "float8_e5m2", "float64", "uint64"),
    ),
    _bitcast("s32", (3, 2, 4), ("uint8", "int8", "float8_e4m3fn"), label="of bytes"),
    _bitcast("s64", (3, 4), ("float64", "uint64")),
    _bitcast("u4", (3, 2), ("uint8",), oracles.nibbles),
    _reduce_precision(
        "", 4, 2, lambda rng, dtype: (anything(rng, dtype, (3, 4)),), FLOATS
    ),
    _reduce_precision(
        "out of range", 4, 3, _magnitudes, ("float32", "bfloat16", "float64")
    ),
    _reduce_precision("mantissa only", 8, 0, _magnitudes, ("float32", "bfloat16")),
)
