"""Operations that choose between operands."""

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import EVERY, FEW, ORDERED, anything, by_name, uniform


def _clamp_arguments(*shapes):
    def arguments(rng, dtype):
        low = uniform(rng, dtype, shapes[0], -3, 1)
        high = uniform(rng, dtype, shapes[2], 0, 3)
        return low, anything(rng, dtype, shapes[1]), high

    return arguments


def _clamp_smooth(*shapes):
    """Below, between and above the bounds, and never near one."""

    def smooth(rng, dtype="float64"):
        low = uniform(rng, dtype, shapes[0], -1.2, -1.0)
        high = uniform(rng, dtype, shapes[2], 1.0, 1.2)
        x = np.resize([-2.0, 0.1, 2.0, 0.3, 1.7, -1.9], shapes[1])
        return low, (x + rng.uniform(0, 0.1, shapes[1])).astype(dtype), high

    return smooth


def _clamp(label, *shapes, dtypes):
    return Case(
        title="Clamp",
        label=label,
        arguments=_clamp_arguments(*shapes),
        arrange=by_name("min", "operand", "max"),
        oracle=oracles.clamp,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=_clamp_smooth(*shapes),
        error=Error(
            lambda: xo.clamp(jnp.zeros(2), jnp.zeros((2, 3)), 1.0),
            TypeError,
            "min",
            "(2,)",
        ),
    )


def _select(label, *shapes, dtypes):
    def arguments(rng, dtype):
        pred = rng.integers(0, 2, shapes[0]).astype(bool)
        return pred, anything(rng, dtype, shapes[1]), anything(rng, dtype, shapes[2])

    def smooth(rng, dtype="float64"):
        return arguments(rng, "bool")[0], *(uniform(rng, dtype, s) for s in shapes[1:])

    return Case(
        title="Select",
        label=label,
        arguments=arguments,
        arrange=by_name("pred", "on_true", "on_false"),
        oracle=oracles.select,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth,
        differentiable=(1, 2),
        error=Error(
            lambda: xo.select(jnp.ones(2, jnp.int32), jnp.ones(2), jnp.ones(2)),
            TypeError,
            "pred",
            "int32[2]",
        ),
    )


CHOICE = (
    _clamp("", (3, 4), (3, 4), (3, 4), dtypes=ORDERED),
    _clamp("scalar bounds", (), (3, 4), (), dtypes=FEW),
    _clamp("scalar operand", (3, 4), (), (3, 4), dtypes=FEW),
    _clamp("scalar min", (), (3, 4), (3, 4), dtypes=FEW),
    _select("", (3, 4), (3, 4), (3, 4), dtypes=EVERY),
    _select("scalar pred", (), (3, 4), (3, 4), dtypes=FEW),
    _select("scalar branch", (3, 4), (), (3, 4), dtypes=FEW),
)
