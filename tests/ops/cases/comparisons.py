"""Comparisons in partial and in total order."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .forms import binary
from .operands import (
    EVERY,
    FEW,
    FLOATS,
    KINDS,
    ORDERED,
    SIGNED,
    UNSIGNED,
    anything,
    by_name,
)


def _total_order(direction):
    name = direction.capitalize()
    function = getattr(xo, f"{direction.lower()}_total_order")
    plain = Case(
        title=f"{name}TotalOrder",
        label="",
        arguments=lambda rng, dtype: tuple(
            anything(rng, dtype, (3, 4)) for _ in range(2)
        ),
        arrange=by_name("lhs", "rhs"),
        statics={"broadcast_dimensions": ()},
        oracle=oracles.total_order(direction),
        dtypes={"EQ": ORDERED, "LT": ORDERED}.get(direction, KINDS),
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: function(np.ones(2, np.complex64), np.ones(2, np.complex64)),
            TypeError,
            "lhs",
            "complex64[2]",
        ),
    )
    dims = dataclasses.replace(
        plain,
        label="broadcast_dimensions",
        arguments=lambda rng, dtype: (
            anything(rng, dtype, (4,)),
            anything(rng, dtype, (3, 4)),
        ),
        statics={"broadcast_dimensions": (1,)},
        dtypes=FEW,
        error=Error(
            lambda: function(np.ones(3), np.ones((2, 4)), (1,)),
            TypeError,
            "lhs",
            "(3,)",
        ),
    )
    return plain, dims


def _compare(direction, type_, dtypes):
    return Case(
        title="Compare",
        label=f"{direction} {type_}",
        arguments=lambda rng, dtype: (
            anything(rng, dtype, (3, 4)),
            anything(rng, dtype, (4,)),
        ),
        arrange=by_name("lhs", "rhs"),
        statics={
            "broadcast_dimensions": (1,),
            "direction": direction,
            "type": type_,
        },
        oracle=oracles.compare,
        dtypes=dtypes,
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: xo.compare(jnp.ones(2), jnp.ones(2), (), "LT", "SIGNED"),
            TypeError,
            "type",
            "SIGNED",
        )
        if type_ is None
        else Error(
            lambda: xo.compare(jnp.ones(2), jnp.ones(2), (), "BELOW"),
            ValueError,
            "direction",
            "BELOW",
        ),
    )


COMPARISONS = (
    *(
        case
        for direction in ("EQ", "NE", "GE", "GT", "LE", "LT")
        for case in binary(
            direction.capitalize(),
            oracles.comparison(direction),
            {"EQ": EVERY, "LT": ORDERED}.get(direction, KINDS),
            gradient="not differentiable",
        )
    ),
    *(
        case
        for direction in ("EQ", "NE", "GE", "GT", "LE", "LT")
        for case in _total_order(direction)
    ),
    _compare("EQ", None, EVERY),
    _compare("NE", None, KINDS),
    _compare("GE", None, KINDS),
    _compare("GT", "FLOAT", FLOATS),
    _compare("LE", "SIGNED", SIGNED),
    _compare("LT", "UNSIGNED", (*UNSIGNED, "bool")),
    _compare("LT", "TOTALORDER", FLOATS),
    _compare("GE", "TOTALORDER", ("float32",)),
)
