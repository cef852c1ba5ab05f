"""Dimensions whose sizes are data, here with sizes that are known."""

import numpy as np

import xlaops as xo

from .case import Case, Error
from .operands import FEW, smooth_of

SIZES = (
    Case(
        title="DynamicReshape",
        label="",
        arguments=smooth_of((2, 6)),
        arrange=lambda x: {"operand": x},
        statics={
            "dim_sizes": (3, 4),
            "new_size_bounds": (3, 4),
            "dims_are_dynamic": (False, True),
        },
        oracle=lambda x, **sizes: x.reshape(3, 4),
        dtypes=FEW,
        exact=True,
        gradient="yes",
        part=lambda y: y.data,
        error=Error(
            lambda: xo.dynamic_reshape(np.zeros(6), [4], (4,), (True,)),
            ValueError,
            "new_size_bounds",
            "(4,)",
        ),
    ),
    Case(
        title="GetDimensionSize",
        label="",
        arguments=smooth_of((2, 3)),
        arrange=lambda x: {"operand": x},
        statics={"dimension": 1},
        oracle=lambda x, dimension: np.int32(x.shape[dimension]),
        dtypes=FEW,
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: xo.get_dimension_size(np.zeros(6), 1), ValueError, "dimension", "1"
        ),
    ),
    Case(
        title="SetDimensionSize",
        label="",
        arguments=smooth_of((2, 3)),
        arrange=lambda x: {"operand": x},
        statics={"val": 2, "dimension": 1},
        oracle=lambda x, val, dimension: x[:, :val],
        dtypes=FEW,
        exact=True,
        gradient="yes",
        part=lambda y: y.data[:, :2],
        error=Error(
            lambda: xo.set_dimension_size(np.zeros(6), 7, 0), ValueError, "val", "7"
        ),
    ),
    Case(
        title="RemoveDynamicDimension",
        label="",
        arguments=smooth_of((2, 3)),
        arrange=lambda x: {"operand": xo.set_dimension_size(x, 1, 0)},
        statics={"dimension": 0},
        oracle=lambda x, dimension: x,
        dtypes=FEW,
        exact=True,
        gradient="yes",
        error=Error(
            lambda: xo.remove_dynamic_dimension(np.zeros(6), 1),
            ValueError,
            "dimension",
            "1",
        ),
    ),
)
