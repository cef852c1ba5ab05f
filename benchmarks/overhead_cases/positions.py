"""Slices at computed positions."""

import jax.numpy as jnp
from jax import lax

import xlaops as xo

from .case import Case

_ROWS = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
}
_BLOCKS = {
    "offset_dims": (1, 2),
    "collapsed_slice_dims": (),
    "start_index_map": (0, 1),
}

POSITIONS = (
    Case(
        "dynamic_slice",
        "DynamicSlice",
        ("f32[8,8]", "s32[]", "s32[]"),
        lambda x, i, j: xo.dynamic_slice(x, (i, j), (2, 3)),
        lambda x, i, j: lax.dynamic_slice(
            x, (i, j), (2, 3), allow_negative_indices=False
        ),
        "jax.numpy has no slices at computed positions",
    ),
    Case(
        "dynamic_slice at an array",
        "DynamicSlice",
        ("f32[8,8]", "s32[2]"),
        lambda x, starts: xo.dynamic_slice(x, starts, (2, 3)),
        lambda x, starts: lax.dynamic_slice(
            x, starts, (2, 3), allow_negative_indices=False
        ),
        "jax.numpy has no slices at computed positions",
    ),
    Case(
        "dynamic_update_slice",
        "DynamicUpdateSlice",
        ("f32[8,8]", "f32[2,3]", "s32[]", "s32[]"),
        lambda x, update, i, j: xo.dynamic_update_slice(x, update, (i, j)),
        lambda x, update, i, j: lax.dynamic_update_slice(
            x, update, (i, j), allow_negative_indices=False
        ),
        "jax.numpy has no slices at computed positions",
    ),
    Case(
        "gather",
        "Gather",
        ("f32[8,8]", "s32[5,1]"),
        lambda x, i: xo.gather(x, i, {**_ROWS, "index_vector_dim": 1}, (1, 8)),
        lambda x, i: lax.gather(
            x, i, lax.GatherDimensionNumbers(**_ROWS), (1, 8), mode="clip"
        ),
        lambda x, i: jnp.take(x, i[:, 0], 0, mode="clip"),
    ),
    Case(
        "gather vector first",
        "Gather",
        ("f32[8,8]", "s32[2,5]"),
        lambda x, i: xo.gather(x, i, {**_BLOCKS, "index_vector_dim": 0}, (2, 2)),
        lambda x, i: lax.gather(
            x,
            lax.transpose(i, (1, 0)),
            lax.GatherDimensionNumbers(**_BLOCKS),
            (2, 2),
            mode="clip",
        ),
        "jax.numpy takes single elements",
    ),
    Case(
        "gather sorted",
        "Gather",
        ("f32[8,8]", "s32[5,1]"),
        lambda x, i: xo.gather(x, i, {**_ROWS, "index_vector_dim": 1}, (1, 8), True),
        lambda x, i: lax.gather(
            x,
            i,
            lax.GatherDimensionNumbers(**_ROWS),
            (1, 8),
            indices_are_sorted=True,
            mode="clip",
        ),
        lambda x, i: jnp.take(x, i[:, 0], 0, mode="clip", indices_are_sorted=True),
    ),
)
