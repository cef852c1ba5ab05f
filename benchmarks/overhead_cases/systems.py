"""Linear systems and Fourier transforms."""

import jax.numpy as jnp
from jax import lax

import xlaops as xo

from .case import Case

_TRANSFORMS = {
    "FFT": ("c64[8,8]", jnp.fft.fft),
    "IFFT": ("c64[8,8]", jnp.fft.ifft),
    "RFFT": ("f32[8,8]", jnp.fft.rfft),
    "IRFFT": ("c64[8,5]", jnp.fft.irfft),
}

SYSTEMS = (
    Case(
        "cholesky",
        "Cholesky",
        ("f32[8,8]",),
        lambda a: xo.cholesky(a, True),
        lambda a: lax.linalg.cholesky(a, symmetrize_input=False),
        lambda a: jnp.linalg.cholesky(a, symmetrize_input=False),
        emits=(),  # on GPUs it is a call of their library
    ),
    Case(
        "cholesky upper",
        "Cholesky",
        ("f32[8,8]",),
        lambda a: xo.cholesky(a, False),
        lambda a: lax.transpose(
            lax.linalg.cholesky(lax.transpose(a, (1, 0)), symmetrize_input=False),
            (1, 0),
        ),
        lambda a: jnp.linalg.cholesky(a, upper=True, symmetrize_input=False),
        emits=("stablehlo.transpose",),
    ),
    Case(
        "triangular_solve",
        "TriangularSolve",
        ("f32[8,8]", "f32[8,3]"),
        lambda a, b: xo.triangular_solve(a, b, True, True, False, "TRANSPOSE"),
        lambda a, b: lax.linalg.triangular_solve(
            a, b, left_side=True, lower=True, transpose_a=True
        ),
        "jax.numpy solves general systems only",
    ),
    *(
        Case(
            f"fft {name}",
            "Fft",
            (operand,),
            lambda x, name=name: xo.fft(x, name, (8,)),
            lambda x, name=name: lax.fft(x, name, (8,)),
            of_jnp,
        )
        for name, (operand, of_jnp) in _TRANSFORMS.items()
    ),
)
