"""Reductions, over dimensions and over windows, of arrays of dynamic size."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import Array, lax

from . import bounded, folding, windowing
from .computation import Computation, derived
from .windowing import Window


def reduce(
    operands: Sequence[Array],
    sizes: Sequence[Array | None],
    inits: Sequence[Array],
    computation: Computation,
    dimensions: Sequence[int],
) -> tuple[Any, ...]:
    """Operands of one shape, of which some elements count, reduced over dimensions.

    Args:
      operands: N arrays of one shape.
      sizes: for each dimension how many elements count, or None.
      inits: N scalars of the operands' element types.
      computation: takes N running values and N elements, and returns N running values.
      dimensions: the dimensions that go, ascending.

    Returns:
      N arrays with the remaining dimensions, and their sizes.
    """
    identity = None
    if computation.pattern:
        identity = folding.identity_of(computation.pattern, operands[0].dtype)
    present = bounded.validity(operands[0], sizes)
    if identity is not None or present is None:
        xs = [bounded.masked(x, sizes, identity) for x in operands]
        results = folding.reduce(xs, inits, computation, dimensions)
    else:
        of_type = (*computation.inputs[: len(operands)], np.dtype(bool))
        of_present = functools.partial(folding.of_present, computation)
        results = folding.reduce(
            [*operands, present],
            [*inits, lax.full((), True)],
            derived(of_present, of_type * 2),
            dimensions,
        )[:-1]
    kept = [size for d, size in enumerate(sizes) if d not in dimensions]
    return tuple(bounded.wrapped(y, kept) for y in results)


def reduce_window(
    operands: Sequence[Array],
    sizes: Sequence[Array | None],
    inits: Sequence[Array],
    computation: Computation,
    window: Window,
    is_same: bool,
) -> tuple[Any, ...]:
    """Operands of one shape, of which some elements count, reduced over windows.

    Args:
      operands: N arrays of one shape.
      sizes: for each dimension how many elements count, or None.
      inits: N scalars of the operands' element types.
      computation: takes N running values and N elements, and returns N running values.
      window: the window over arrays of the bounds.
      is_same: whether its padding is SAME, which depends on the sizes.

    Returns:
      N arrays with an element for each position of the window, and their sizes.
    """
    # Padding is made of initial values, so that behind the elements that count there is
    # no difference between padding and what does not count.
    xs = [bounded.masked(x, sizes, i) for x, i in zip(operands, inits, strict=True)]
    positions: list[Array | None] = [None] * len(sizes)
    extents = window.padded(operands[0].shape)
    for d, size in enumerate(sizes):
        if size is None:
            continue
        # A longer step than there are elements has one position, as this has; sums with
        # it would not fit into the type of sizes.
        step = min(window.strides[d], max(extents[d], 1))
        base = window.base_dilations[d]
        reach = (window.sizes[d] - 1) * window.dilations[d] + 1
        count = lax.max(size - 1, np.int32(0)) * base + lax.min(size, np.int32(1))
        if not is_same:
            low, high = window.padding[d]
            room = lax.max(count + (low + high - reach), np.int32(-step))
            positions[d] = lax.div(room + step, np.int32(step))
            continue
        positions[d] = found = lax.div(count + (step - 1), np.int32(step))
        needed = (found - 1) * step + reach - count
        before = lax.div(lax.max(needed, np.int32(0)), np.int32(2))
        xs = [
            _beginning(x, init, d, base, before, step, reach)
            for x, init in zip(xs, inits, strict=True)
        ]
        window = _unpadded(window, d)
    results = windowing.reduce_window(xs, inits, computation, window)
    return tuple(bounded.wrapped(y, positions) for y in results)


def _beginning(
    x: Array, init: Any, dimension: int, base: int, before: Array, step: int, reach: int
) -> Array:
    """An array with as much padding in front as is known when the program runs."""
    count = (x.shape[dimension] - 1) * base + 1 if x.shape[dimension] else 0
    length = max((-(-count // step) - 1) * step + reach, 0)
    most = max(reach - 1, 0) // 2
    config = [(0, 0, 0)] * x.ndim
    config[dimension] = (most, max(length - count, 0), base - 1)
    padded = lax.pad(x, lax.convert_element_type(init, x.dtype), config)
    return lax.dynamic_slice_in_dim(padded, most - before, length, dimension)


def _unpadded(window: Window, dimension: int) -> Window:
    """A window without base dilation and padding in one dimension."""
    bases, pads = list(window.base_dilations), list(window.padding)
    bases[dimension], pads[dimension] = 1, (0, 0)
    return window.__class__(
        window.sizes, window.strides, tuple(bases), window.dilations, tuple(pads)
    )
