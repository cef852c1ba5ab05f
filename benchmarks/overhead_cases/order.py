"""Operations that put elements in order."""

import jax
import numpy as np
from jax import lax

import xlaops as xo

from .case import Case


def _least(x: jax.Array, k: int) -> tuple[jax.Array, jax.Array]:
    """The pairs that a stable sort has first."""
    iota = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 1)
    values, indices = lax.sort((x, iota), num_keys=1, is_stable=True)
    last = x.ndim - 1
    return (
        lax.slice_in_dim(values, 0, k, axis=last),
        lax.slice_in_dim(indices, 0, k, axis=last),
    )


ORDER = (
    Case(
        "top_k",
        "TopK",
        ("s32[8,8]",),
        lambda x: xo.top_k(x, 3),
        lambda x: lax.top_k(x, 3),
        "jax.numpy has no function for it",
        emits=("chlo.top_k",),
    ),
    Case(
        "top_k f32",
        "TopK",
        ("f32[8,8]",),
        lambda x: xo.top_k(x, 3),
        lambda x: lax.top_k(x, 3),
        "jax.numpy has no function for it",
        emits=("chlo.top_k",),
    ),
    Case(
        "top_k smallest",
        "TopK",
        ("s32[8,8]",),
        lambda x: xo.top_k(x, 3, False),
        lambda x: _least(x, 3),  # negated, the least integer would stay the least
        "jax.numpy has no function for it",
        emits=("stablehlo.sort",),
    ),
)
