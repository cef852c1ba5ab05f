"""Random numbers."""

from jax import lax

import xlaops as xo

from .case import Case

_NO_DRAW = "jax.numpy draws nothing, and jax.random needs a key"

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
    *(
        Case(
            f"rng_bit_generator {name}",
            "RngBitGenerator",
            ("u32[4]",),
            lambda state, name=name: xo.rng_bit_generator(name, state, "u32[8,8]"),
            lambda state, name=name: lax.rng_bit_generator(
                state, (8, 8), algorithm=getattr(lax.RandomAlgorithm, name)
            ),
            _NO_DRAW,
        )
        for name in ("RNG_DEFAULT", "RNG_THREE_FRY", "RNG_PHILOX")
    ),
    Case(
        "rng_bit_generator of three words",
        "RngBitGenerator",
        ("u32[6]",),
        lambda state: xo.rng_bit_generator("RNG_PHILOX", state, "u32[8,8]"),
        lambda state: lax.rng_bit_generator(
            state, (8, 8), algorithm=lax.RandomAlgorithm.RNG_PHILOX
        ),
        _NO_DRAW,
    ),
)
