"""Operations that put elements in order."""

import operator

import jax.numpy as jnp
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import KINDS, ORDERED, anything, apart, by_name


def _top_k(part, largest):
    values = part == 0

    return Case(
        title="TopK",
        label=f"{'largest' if largest else 'smallest'}{'' if values else ' indices'}",
        arguments=lambda rng, dtype: (anything(rng, dtype, (3, 7)),),
        arrange=by_name("operand"),
        statics={"k": 4, "largest": largest},
        oracle=lambda operand, k, largest: oracles.top_k(operand, k, largest)[part],
        dtypes=ORDERED if values else KINDS,
        exact=True,
        gradient="yes" if values else "not differentiable",
        smooth=lambda rng, dtype="float64": (apart(rng, (2, 5), dtype),),
        part=operator.itemgetter(part),
        error=Error(
            lambda: xo.top_k(jnp.ones((2, 3)), 4),
            ValueError,
            "k",
            "4",
        ),
    )


ORDER = tuple(_top_k(part, largest) for part in (0, 1) for largest in (True, False))
