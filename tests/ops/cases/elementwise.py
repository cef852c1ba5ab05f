"""Arithmetic, functions, rounding, bits and parts of complex numbers."""

import numpy as np
from ops import oracles

from .forms import (
    accurate,
    binary,
    header_binary,
    part_of_complex,
    unary,
)
from .operands import (
    COMPLEX,
    EVERY,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    anything,
    apart,
    dtype_of,
    uniform,
)


def _positive(rng, dtype, shape):
    return uniform(rng, dtype, shape, 0.5, 2.9)


def _nonzero(rng, dtype, shape):
    """Away from zero; the remainders away from multiples as well."""
    return uniform(rng, dtype, shape, 1.1, 2.9) * (
        1 if oracles.kind(dtype_of(dtype)) == "u" else dtype_of(dtype).type(-1)
    )


def _mixed_powers(rng, dtype, shape):
    """Real bases are positive: other powers of negative ones are NaN."""
    if oracles.kind(dtype_of(dtype)) in "iu":
        return uniform(rng, dtype, shape, -7, 7)
    return _positive(rng, dtype, shape)


def _shiftable(rng, dtype, shape):
    """Numbers of the whole range and, as often, amounts from -1 to the width."""
    dtype = dtype_of(dtype)
    least = 0 if oracles.kind(dtype) == "u" else -1
    amounts = rng.integers(least, oracles.bits(dtype) + 1, shape).astype(object)
    numbers = oracles.wide(anything(rng, dtype, shape))
    return oracles.wrapped(np.where(rng.random(shape) < 0.5, amounts, numbers), dtype)


def _shift(title, oracle):
    return binary(
        title, oracle, INTEGERS, gradient="not differentiable", arguments=_shiftable
    )


ELEMENTWISE = (
    # jax.lax has it for no 4-bit integers; complex ones are rounded by a hypotenuse.
    unary("Abs", oracles.abs_, tuple(t for t in NUMBERS if t != "int4"), exact=False),
    *binary(
        "Add", oracles.add, EVERY, smooth=lambda rng, dtype, s: uniform(rng, dtype, s)
    ),
    *binary("And", oracles.and_, ("bool", *INTEGERS), gradient="not differentiable"),
    *binary("Atan2", oracles.atan2, FLOATS, exact=False, smooth=_positive),
    *accurate("Cbrt", oracles.cbrt, interval=(0.4, 3.0)),
    unary("Ceil", oracles.ceil, FLOATS, gradient="zero"),
    unary("Clz", oracles.clz, INTEGERS, gradient="not differentiable"),
    *binary(
        "Complex",
        oracles.complex_,
        ("float32", "float64"),
        smooth=lambda rng, dtype, s: uniform(rng, dtype, s),
    ),
    *part_of_complex("Conj", oracles.conj, ("float32", "float64", *COMPLEX)),
    *accurate("Cos", oracles.cos),
    *accurate("Cosh", oracles.cosh),
    *binary("Div", oracles.div, NUMBERS, exact=False, smooth=_positive),
    *accurate("Erf", oracles.erf, dtypes=FLOATS),
    *accurate("Exp", oracles.exp),
    *accurate("Expm1", oracles.expm1),
    unary("Floor", oracles.floor, FLOATS, gradient="zero"),
    *part_of_complex("Imag", oracles.imag, INEXACT),
    unary("IsFinite", oracles.is_finite, FLOATS, gradient="not differentiable"),
    *accurate("Log", oracles.log, 0.2, 3.0),
    *accurate("Log1p", oracles.log1p, -0.7, 3.0),
    *accurate("Logistic", oracles.logistic),
    *binary("Max", oracles.maximum, EVERY, smooth=apart),
    *binary("Min", oracles.minimum, EVERY, smooth=apart),
    *binary("Mul", oracles.mul, EVERY, exact=False, smooth=_positive),
    *header_binary("Mulhi", oracles.mulhi, INTEGERS, gradient="not differentiable"),
    unary("Neg", oracles.neg, NUMBERS),
    unary("Not", oracles.not_, ("bool", *INTEGERS), gradient="not differentiable"),
    *binary("Or", oracles.or_, ("bool", *INTEGERS), gradient="not differentiable"),
    unary(
        "PopulationCount",
        oracles.population_count,
        INTEGERS,
        gradient="not differentiable",
    ),
    *binary(
        "Pow",
        oracles.power,
        NUMBERS,
        exact=False,
        arguments=_mixed_powers,
        smooth=_positive,
        looser=4.0,  # exp(y log x) of numbers of which the logarithm is not small
    ),
    *part_of_complex("Real", oracles.real, INEXACT),
    *binary(
        "Rem",
        oracles.rem,
        FLOATS + INTEGERS,
        smooth=lambda rng, dtype, s: apart(rng, s, dtype) + 0.5,
    ),
    unary("Round", oracles.round_away, FLOATS, gradient="zero"),
    unary("RoundNearestAfz", oracles.round_away, FLOATS, gradient="zero"),
    unary("RoundNearestEven", oracles.round_even, FLOATS, gradient="zero"),
    *accurate("Rsqrt", oracles.rsqrt, 0.3, 3.0),
    *_shift("ShiftLeft", oracles.shift_left),
    *_shift("ShiftRightArithmetic", oracles.shift_right_arithmetic),
    *_shift("ShiftRightLogical", oracles.shift_right_logical),
    unary("Sign", oracles.sign, NUMBERS, exact=False),
    *accurate("Sin", oracles.sin),
    *accurate("Sqrt", oracles.sqrt, 0.3, 3.0),
    *binary(
        "Sub",
        oracles.sub,
        NUMBERS,
        smooth=lambda rng, dtype, s: uniform(rng, dtype, s),
    ),
    *accurate("Tan", oracles.tan, -1.2, 1.2),
    *accurate("Tanh", oracles.tanh),
    *binary("Xor", oracles.xor, ("bool", *INTEGERS), gradient="not differentiable"),
)
