"""Slices at computed positions."""

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import EVERY, FEW, anything, by_name, uniform


def _starts(rng, limits, dtype="int32"):
    """Positions of which some are outside, on either side if the type has one."""
    low = 0 if dtype.startswith("u") else -2
    return np.array([rng.integers(low, n + 2) for n in limits]).astype(dtype)


def _dynamic_slice(label, arrange, split=False, starts="int32", dtypes=FEW):
    shape, sizes = (3, 4), (2, 3)

    def with_starts(x, rng):
        positions = _starts(rng, shape, starts)
        return (x, *positions) if split else (x, positions)

    def smooth(rng, dtype="float64"):
        return with_starts(uniform(rng, dtype, shape), rng)

    def oracle(operand, *positions, slice_sizes):
        positions = positions if split else positions[0]
        return oracles.dynamic_slice(operand, positions, slice_sizes)

    return Case(
        title="DynamicSlice",
        label=label,
        arguments=lambda rng, dtype: with_starts(anything(rng, dtype, shape), rng),
        arrange=arrange,
        statics={"slice_sizes": sizes},
        oracle=oracle,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth,
        differentiable=(0,),
        error=Error(
            lambda: xo.dynamic_slice(jnp.ones((2, 3)), [0, 0], (2, 4)),
            ValueError,
            "slice_sizes",
            "4",
        ),
    )


def _dynamic_update_slice(label, arrange, split=False, starts="int32", dtypes=FEW):
    shape, sizes = (3, 4), (2, 3)

    def operands(make, rng, dtype):
        positions = _starts(rng, shape, starts)
        arrays = make(rng, dtype, shape), make(rng, dtype, sizes)
        return (*arrays, *positions) if split else (*arrays, positions)

    def oracle(operand, update, *positions):
        positions = positions if split else positions[0]
        return oracles.dynamic_update_slice(operand, update, positions)

    return Case(
        title="DynamicUpdateSlice",
        label=label,
        arguments=lambda rng, dtype: operands(anything, rng, dtype),
        arrange=arrange,
        oracle=oracle,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=lambda rng, dtype="float64": operands(uniform, rng, dtype),
        differentiable=(0, 1),
        error=Error(
            lambda: xo.dynamic_update_slice(jnp.ones(3), jnp.ones(4), [0]),
            TypeError,
            "update",
            "(4,)",
        ),
    )


def _scalar_starts(*names):
    def arrange(*operands):
        arrays, starts = operands[: len(names)], operands[len(names) :]
        named = dict(zip(names, arrays, strict=True))
        return {**named, "start_indices": list(starts)}

    return arrange


def _gather(label, shapes, numbers, sizes, dtypes=FEW, starts="int32", promise=()):
    shape, index_shape = shapes

    def operands(make, rng, dtype):
        count = int(np.prod(index_shape))
        indices = _starts(rng, (4,) * count, starts)
        # In order, where that is promised: of the one part that index vectors have.
        indices = np.sort(indices) if promise else indices
        return make(rng, dtype, shape), indices.reshape(index_shape)

    return Case(
        title="Gather",
        label=label,
        arguments=lambda rng, dtype: operands(anything, rng, dtype),
        arrange=by_name("operand", "start_indices"),
        statics={
            "dimension_numbers": numbers,
            "slice_sizes": sizes,
            **dict.fromkeys(promise, True),
        },
        oracle=oracles.gather,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=lambda rng, dtype="float64": operands(uniform, rng, dtype),
        differentiable=(0,),
        error=Error(
            lambda: xo.gather(
                jnp.ones((2, 3)), jnp.zeros((4, 1), jnp.int32), _ROWS, (1, 4)
            ),
            ValueError,
            "slice_sizes",
            "4",
        ),
    )


_ROWS = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "index_vector_dim": 1,
}

POSITIONS = (
    _dynamic_slice("", by_name("operand", "start_indices"), dtypes=EVERY),
    _dynamic_slice("scalars", _scalar_starts("operand"), split=True),
    _dynamic_slice("u8 starts", by_name("operand", "start_indices"), starts="uint8"),
    _dynamic_update_slice(
        "", by_name("operand", "update", "start_indices"), dtypes=EVERY
    ),
    _dynamic_update_slice("scalars", _scalar_starts("operand", "update"), split=True),
    _dynamic_update_slice(
        "u8 starts", by_name("operand", "update", "start_indices"), starts="uint8"
    ),
    _gather("", ((4, 3), (5, 1)), _ROWS, (1, 2), EVERY),
    _gather(
        "vector first",
        ((4, 3), (2, 3)),
        {
            "offset_dims": (0, 2),
            "collapsed_slice_dims": (),
            "start_index_map": (1, 0),
            "index_vector_dim": 0,
        },
        (2, 2),
    ),
    _gather(
        "batching",
        ((3, 4, 2), (2, 3)),
        {
            "offset_dims": (1,),
            "collapsed_slice_dims": (1,),
            "start_index_map": (1,),
            "index_vector_dim": 2,
            "operand_batching_dims": (0,),
            "start_indices_batching_dims": (1,),
        },
        (1, 1, 2),
        starts="uint8",
    ),
    _gather(
        "sorted",
        ((4, 3), (5, 1)),
        _ROWS,
        (1, 3),
        promise=("indices_are_sorted",),
    ),
)
