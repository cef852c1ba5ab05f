"""Operations that take a computation."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

import xlaops as xo

from .case import Case


def _combine(a: Any, b: Any) -> Any:
    return a * b + a + b


def _ascending(a: Any, b: Any) -> Any:
    return a < b


_NO_COMPUTATION = "jax.numpy takes no computation"
_INTO_ROWS = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "index_vector_dim": 1,
}
_INTO_ROWS_OF_LAX = lax.ScatterDimensionNumbers((1,), (0,), (0,))

COMPUTATIONS = (
    Case(
        "reduce",
        "Reduce",
        ("f32[8,8]",),
        lambda x: xo.reduce([x], [0.0], xo.add, (1,)),
        lambda x: lax.reduce(x, np.float32(0), lax.add, (1,)),
        lambda x: jnp.sum(x, 1),
    ),
    Case(
        "reduce lambda",
        "Reduce",
        ("f32[8,8]", "f32[]"),
        lambda x, init: xo.reduce([x], [init], _combine, (0, 1)),
        lambda x, init: lax.reduce(x, init, _combine, (0, 1)),
        _NO_COMPUTATION,
    ),
    Case(
        "reduce_all",
        "ReduceAll",
        ("f32[8,8]",),
        lambda x: xo.reduce_all(x, -np.inf, xo.max),
        lambda x: lax.reduce(x, np.float32(-np.inf), lax.max, (0, 1)),
        lambda x: jnp.max(x),
    ),
    Case(
        "reduce_window",
        "ReduceWindow",
        ("f32[8,8]",),
        lambda x: xo.reduce_window([x], [-np.inf], xo.max, (2, 2), (2, 2), "SAME"),
        lambda x: lax.reduce_window(
            x, np.float32(-np.inf), lax.max, (2, 2), (2, 2), "SAME"
        ),
        "jax.numpy has no windows",
    ),
    Case(
        "reduce_window lambda",
        "ReduceWindow",
        ("f32[8,8]", "f32[]"),
        lambda x, init: xo.reduce_window(
            [x], [init], _combine, (2, 3), (1, 2), "VALID"
        ),
        lambda x, init: lax.reduce_window(x, init, _combine, (2, 3), (1, 2), "VALID"),
        "jax.numpy has no windows",
    ),
    Case(
        "reduce_window_with_general_padding",
        "ReduceWindowWithGeneralPadding",
        ("f32[8,8]",),
        lambda x: xo.reduce_window_with_general_padding(
            [x], [0.0], xo.add, (2, 2), (1, 1), (2, 1), (1, 2), [(1, 1), (0, 2)]
        ),
        lambda x: lax.reduce_window(
            x, np.float32(0), lax.add, (2, 2), (1, 1), [(1, 1), (0, 2)], (2, 1), (1, 2)
        ),
        "jax.numpy has no windows",
    ),
    Case(
        "select_and_scatter",
        "SelectAndScatter",
        ("f32[8,8]", "f32[4,4]"),
        lambda x, y: xo.select_and_scatter(
            x, xo.ge, (2, 2), (2, 2), "VALID", y, 0.0, xo.add
        ),
        lambda x, y: lax.select_and_scatter(x, y),
        "jax.numpy has no windows",
    ),
    Case(
        "select_and_scatter_with_general_padding",
        "SelectAndScatterWithGeneralPadding",
        ("f32[7,8]", "f32[4,4]"),
        lambda x, y: xo.select_and_scatter_with_general_padding(
            x, xo.ge, (2, 2), (2, 2), [(1, 0), (0, 0)], y, 0.0, xo.add
        ),
        lambda x, y: lax.select_and_scatter(x, y),
        "jax.numpy has no windows",
    ),
    Case(
        "scatter",
        "Scatter",
        ("f32[8,8]", "s32[3,1]", "f32[3,8]"),
        lambda x, i, u: xo.scatter([x], i, [u], xo.add, _INTO_ROWS),
        lambda x, i, u: lax.scatter_add(x, i, u, _INTO_ROWS_OF_LAX, mode="drop"),
        lambda x, i, u: x.at[i[:, 0]].add(u, mode="drop"),
    ),
    Case(
        "scatter lambda",
        "Scatter",
        ("f32[8,8]", "s32[3,1]", "f32[3,8]"),
        lambda x, i, u: xo.scatter([x], i, [u], _combine, _INTO_ROWS),
        lambda x, i, u: lax.scatter(x, i, u, _INTO_ROWS_OF_LAX, _combine),
        _NO_COMPUTATION,
    ),
    Case(
        "sort",
        "Sort",
        ("s32[8,8]",),
        lambda x: xo.sort([x], _ascending, 1, True),
        lambda x: lax.sort(x, 1),
        lambda x: jnp.sort(x, 1),
    ),
    Case(
        "map",
        "Map",
        ("f32[8,8]", "f32[8,8]"),
        lambda x, y: xo.map([x, y], _combine, (0, 1)),
        _combine,
        _combine,
        emits=("stablehlo.multiply", "stablehlo.add"),
    ),
)
