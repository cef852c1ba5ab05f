"""Tuples and their elements."""

import xlaops as xo

from .case import Case

_NO_TUPLES = "jax.numpy has no tuples"

TUPLES = (
    Case(
        "tuple",
        "Tuple",
        ("f32[8,8]", "s32[8]"),
        lambda x, y: xo.tuple([x, y]),
        lambda x, y: (x, y),  # jax.lax has no tuples either: they are Python's
        _NO_TUPLES,
        emits=(),
    ),
    Case(
        "get_tuple_element",
        "GetTupleElement",
        (("f32[8,8]", "s32[8]"),),
        lambda xs: xo.get_tuple_element(xs, 1),
        lambda xs: xs[1],
        _NO_TUPLES,
        emits=(),
    ),
)
