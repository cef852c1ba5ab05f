"""Random numbers: scalars are no batch, and samples are checked as they are."""

import operator

import jax.numpy as jnp
import numpy as np
from ops import bit_generators, oracles

import xlaops as xo

from .case import Case, Error
from .operands import by_name, dtype_of


def _random(
    title, label, parameters, shape, low, high, oracle, dtypes, gradient, error
):
    names = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64"}

    def make(dtype):
        short = names.get(dtype) or ("u" if dtype[0] == "u" else "s") + (
            dtype.removeprefix("uint").removeprefix("int")
        )
        return Case(
            title=title,
            label=f"{label}{dtype}",
            arguments=lambda rng, dtype: (
                np.asarray(low, dtype_of(dtype)),
                np.asarray(high, dtype_of(dtype)),
            ),
            arrange=by_name(*parameters),
            statics={"shape": f"{short}{shape}"},
            oracle=oracle,
            dtypes=(dtype,),
            gradient=gradient,
            random=True,
            error=error,
        )

    return tuple(make(dtype) for dtype in dtypes)


_A_B = Error(
    lambda: xo.rng_uniform(jnp.zeros(2), 1.0, "f32[3]"), TypeError, "a", "float32[2]"
)
_MU_SIGMA = Error(lambda: xo.rng_normal(0, 1, "s32[3]"), TypeError, "shape", "s32[3]")
_FLOATS = ("float32", "float16", "bfloat16", "float64")

RANDOM = (
    *_random(
        "RngUniform",
        "",
        ("a", "b"),
        "[4,1000]",
        -1,
        2,
        oracles.check_uniform,
        _FLOATS,
        "yes",
        _A_B,
    ),
    *_random(
        "RngUniform",
        "",
        ("a", "b"),
        "[4,1000]",
        -3,
        7,
        oracles.check_uniform,
        ("int8", "int16", "int32", "int64"),
        "not differentiable",
        _A_B,
    ),
    *_random(
        "RngUniform",
        "",
        ("a", "b"),
        "[4,1000]",
        3,
        9,
        oracles.check_uniform,
        ("uint8", "uint16", "uint32", "uint64"),
        "not differentiable",
        _A_B,
    ),
    *_random(
        "RngNormal",
        "",
        ("mu", "sigma"),
        "[4,1000]",
        0.5,
        2,
        oracles.check_normal,
        _FLOATS,
        "yes",
        _MU_SIGMA,
    ),
)


def _bit_generator(algorithm, words, part):
    """The same bits from the same state, on one backend."""

    def arguments(rng, dtype):
        count = 2 * words if dtype == "uint32" else words
        return (rng.integers(0, np.iinfo(dtype).max, count, dtype, endpoint=True),)

    def oracle(initial_state, algorithm, shape):
        # On the CPU the default is Philox.
        name = "RNG_PHILOX" if algorithm == "RNG_DEFAULT" else algorithm
        return bit_generators.rng_bit_generator(initial_state, name, shape)[part]

    return Case(
        title="RngBitGenerator",
        label=f"{algorithm} of {words}{' data' if part else ' state'}",
        arguments=arguments,
        arrange=by_name("initial_state"),
        statics={"algorithm": algorithm, "shape": "u32[3,4]"},
        oracle=oracle,
        dtypes=("uint32", "uint64"),
        exact=True,
        gradient="not differentiable",
        part=operator.itemgetter(part),
        error=Error(
            lambda: xo.rng_bit_generator(
                "RNG_THREE_FRY", jnp.zeros(6, jnp.uint32), "u32[3]"
            ),
            TypeError,
            "initial_state",
            "uint32[6]",
        ),
    )


GENERATORS = tuple(
    _bit_generator(algorithm, words, part)
    for algorithm, words, part in (
        ("RNG_THREE_FRY", 2, 1),
        ("RNG_THREE_FRY", 2, 0),
        ("RNG_PHILOX", 3, 1),
        ("RNG_PHILOX", 3, 0),
        ("RNG_PHILOX", 2, 1),
        ("RNG_DEFAULT", 3, 1),
    )
)
