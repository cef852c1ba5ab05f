"""Tuples and their elements."""

import operator

import xlaops as xo

from .case import Case, Error
from .operands import FEW, anything, smooth_of


def _tuple(index):
    """One element of two that are made a tuple."""
    return Case(
        title="Tuple",
        label=f"element {index}",
        arguments=lambda rng, dtype: (
            anything(rng, dtype, (2, 3)),
            anything(rng, dtype, (4,)),
        ),
        arrange=lambda *elements: {"elements": list(elements)},
        oracle=lambda *elements: elements[index],
        dtypes=FEW,
        exact=True,
        gradient="yes",
        smooth=smooth_of((2, 3), (4,)),
        part=operator.itemgetter(index),
        error=Error(lambda: xo.tuple(3), TypeError, "elements", "int 3"),
    )


TUPLES = (
    _tuple(0),
    _tuple(1),
    Case(
        title="GetTupleElement",
        label="",
        arguments=lambda rng, dtype: (
            anything(rng, dtype, (2, 3)),
            anything(rng, dtype, (4,)),
        ),
        arrange=lambda *elements: {"tuple_data": elements},
        statics={"index": 1},
        oracle=lambda *elements, index: elements[index],
        dtypes=FEW,
        exact=True,
        gradient="yes",
        smooth=smooth_of((2, 3), (4,)),
        error=Error(
            lambda: xo.get_tuple_element((1.0, 2.0), -1), ValueError, "index", "-1"
        ),
    ),
)
