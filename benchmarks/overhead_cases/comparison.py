"""Comparisons, and the choice between operands."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

import xlaops as xo

from .case import Case, binary, unary


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


COMPARISON = (
    *binary("eq", "Eq", lax.eq, jnp.equal),
    *binary("ne", "Ne", lax.ne, jnp.not_equal),
    *binary("ge", "Ge", lax.ge, jnp.greater_equal),
    *binary("gt", "Gt", lax.gt, jnp.greater),
    *binary("le", "Le", lax.le, jnp.less_equal),
    *binary("lt", "Lt", lax.lt, jnp.less),
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
    unary("is_finite", "IsFinite", lax.is_finite, jnp.isfinite),
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
