"""Windows that move over an array, and elements combined over each position of one."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from .. import types
from ..types.record import Record
from . import checks, folding, mixing
from .compat import batching, stablehlo
from .computation import Computation
from .primitive import equally_varying, has_explicit_axes, whole_along
from .regions import (
    barrier,
    batch_to_front,
    batched_as,
    differentiated_as,
    fill,
    integers,
    pairs,
    region_primitive,
)

# Of one element, at most.
_MOST_BYTES = 16

# Windows with more elements in a dimension are gathered, not sliced one by one.
_MANY = 32

# For each computation of one operation the one of jax.lax that its function of windows
# knows, and the kinds of element types for which it does the same.
_OF_LAX = {"add": (lax.add, "iufc"), "max": (lax.max, "iuf"), "min": (lax.min, "iuf")}


class Window(Record):
    """A window, by dimension of the array it moves over.

    Attributes:
      sizes: how many elements it holds.
      strides: how far it moves.
      base_dilations: the distance of the array's elements, after padding is put between
        them.
      dilations: the distance of the window's elements.
      padding: how much is added ``(before, behind)``; negative where it is removed.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    base_dilations: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]

    def batched(self) -> "Window":
        """The window with one more dimension in front, along which it is one wide."""
        one = (1,)
        return Window(
            one + self.sizes,
            one + self.strides,
            one + self.base_dilations,
            one + self.dilations,
            ((0, 0), *self.padding),
        )

    def padded(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the array with its padding."""
        return tuple(
            max(0, _spread(n, base) + low + high)
            for n, base, (low, high) in zip(
                shape, self.base_dilations, self.padding, strict=True
            )
        )

    def positions(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How many positions the window has in an array of that shape."""
        return tuple(
            max(0, (n - _spread(size, dilation)) // stride + 1)
            for n, size, stride, dilation in zip(
                self.padded(shape),
                self.sizes,
                self.strides,
                self.dilations,
                strict=True,
            )
        )

    def cropped(self) -> "Window":
        """The window without negative padding."""
        kept = tuple((max(0, low), max(0, high)) for low, high in self.padding)
        return dataclasses.replace(self, padding=kept)

    def unpadded(self) -> "Window":
        """The window on an array that has its padding already."""
        ones = (1,) * len(self.sizes)
        return dataclasses.replace(
            self, base_dilations=ones, padding=((0, 0),) * len(self.sizes)
        )


def _spread(count: int, dilation: int) -> int:
    """How far elements reach that lie ``dilation`` apart."""
    return (count - 1) * dilation + 1 if count else 0


def window(
    operation: str,
    shape: Sequence[int],
    window_dimensions: Any,
    window_strides: Any,
    base_dilations: Any,
    window_dilations: Any,
    padding: Any,
) -> Window:
    """The window that an operation's parameters describe, checked.

    Args:
      operation: for messages.
      shape: the shape of the array that it moves over.
      window_dimensions: the document's parameters, as the caller wrote them; dilations
        may be None.
      window_strides: see there.
      base_dilations: see there.
      window_dilations: see there.
      padding: SAME, VALID or pairs.
    """
    rank = len(shape)
    given = {
        "window_dimensions": window_dimensions,
        "window_strides": window_strides,
        "base_dilations": (1,) * rank if base_dilations is None else base_dilations,
        "window_dilations": (1,) * rank
        if window_dilations is None
        else window_dilations,
    }
    for name, value in given.items():
        numbers = given[name] = checks.integers(operation, name, value)
        if len(numbers) != rank:
            raise ValueError(
                f"{operation}: {name} must have one entry for each of the {rank} "
                f"dimensions of {tuple(shape)}, got {numbers}"
            )
        if any(n < 1 for n in numbers):
            raise ValueError(f"{operation}: {name} must be positive, got {numbers}")
    sizes, strides, base, dilations = given.values()
    pads = checks.coerced(types.window_padding)(operation, "padding", padding)
    if isinstance(pads, types.Padding):
        pads = (
            same_padding(
                [_spread(n, b) for n, b in zip(shape, base, strict=True)],
                sizes,
                strides,
                dilations,
            )
            if pads is types.Padding.SAME
            else ((0, 0),) * rank
        )
    if len(pads) != rank:
        raise ValueError(
            f"{operation}: padding must have one pair for each of the {rank} "
            f"dimensions of {tuple(shape)}, got {pads}"
        )
    for n, b, (low, high) in zip(shape, base, pads, strict=True):
        if _spread(n, b) + low + high < 0:
            raise ValueError(
                f"{operation}: padding must not remove more than there is, got "
                f"({low}, {high}) for {_spread(n, b)} of {tuple(shape)}"
            )
    found = Window(sizes, strides, base, dilations, pads)
    _check_addressable(operation, found, shape)
    return found


def _check_addressable(operation: str, window: Window, shape: Sequence[int]) -> None:
    """Checks that XLA can count the bytes of the array with its padding.

    Beyond that XLA before jaxlib 0.12 ends the process.
    """
    extents = window.cropped().padded(shape)
    if checks.count(extents) * _MOST_BYTES >= 2**63:
        raise ValueError(
            f"{operation}: padding must give an array of less than 2**63 bytes, got "
            f"sizes {extents}"
        )
    # What is around the elements has a number too, also where there are none.
    reach = max(
        (
            _spread(size, dilation)
            for size, dilation in zip(window.sizes, window.dilations, strict=True)
        ),
        default=0,
    )
    if max((reach, *window.strides, *window.base_dilations)) >= 2**31:
        raise ValueError(
            f"{operation}: window_dimensions, strides and dilations must be below "
            f"2**31, got {window.sizes}, {window.strides}, {window.base_dilations} and "
            f"{window.dilations}"
        )


def same_padding(
    shape: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[tuple[int, int], ...]:
    """The padding with which there are as many positions as elements by stride."""
    result = []
    for n, size, stride, dilation in zip(shape, sizes, strides, dilations, strict=True):
        positions = -(-n // stride)
        total = max(0, (positions - 1) * stride + _spread(size, dilation) - n)
        result.append((total // 2, total - total // 2))
    return tuple(result)


def pad(x: Array, value: Array, window: Window) -> Array:
    """The array with the padding of a window, at its edges and within."""
    config = [
        (low, high, base - 1)
        for (low, high), base in zip(window.padding, window.base_dilations, strict=True)
    ]
    x, value = equally_varying(x, value)
    return lax.pad(x, value, config)


def _whole(x: Array, window: Window) -> Array:
    """The array, not split along dimensions in which the window moves."""
    moves = zip(
        window.sizes,
        window.strides,
        window.base_dilations,
        window.padding,
        strict=True,
    )
    for d, move in enumerate(moves):
        if move != (1, 1, 1, (0, 0)):
            x = whole_along(x, d)
    return x


def _is_padded(window: Window) -> bool:
    return window != window.unpadded()


def reduce_window(
    operands: Sequence[Array],
    inits: Sequence[Array],
    computation: Computation,
    window: Window,
    known_neutral: bool = False,
) -> tuple[Array, ...]:
    """Operands of one shape, reduced over each position of a window.

    Args:
      operands: N arrays of one shape.
      inits: N scalars of their element types.
      computation: takes N running values and N elements, and returns N running values.
      window: the window.
      known_neutral: whether the initial values are known to change nothing.

    Returns:
      N arrays with one element for each position.
    """
    if not window.sizes:
        return folding.reduce(operands, inits, computation, ())
    pattern = computation.pattern
    is_neutral = folding.is_identity(pattern, inits[0])
    of_lax = _of_lax(operands, pattern, window)
    if of_lax and is_neutral:
        return (_windows_of_lax(operands[0], pattern, window),)
    if mixing.is_mixed(operands):
        results = reduce_window(
            mixing.held(operands),
            mixing.held(inits),
            mixing.of_held(computation),
            window,
            known_neutral,
        )
        return tuple(mixing.converted(results, [x.dtype for x in operands]))
    if has_explicit_axes():
        operands = [_whole(x, window) for x in operands]
    # With the padding of the operation itself, backends differ in whether initial
    # values count that are no identity. Padded beforehand they do, as StableHLO says,
    # unless XLA merges the two: the barrier keeps it from seeing that the values are
    # the same.
    padded = [
        pad(x, lax.optimization_barrier(init), window) if _is_padded(window) else x
        for x, init in zip(operands, inits, strict=True)
    ]
    inner = window.unpadded()
    if math.prod(window.sizes) == 1:
        # XLA would leave out the initial values.
        return folding.with_inits(
            [elements(x, inner)[0] for x in padded], inits, computation
        )
    if of_lax:
        result = _windows_of_lax(padded[0], pattern, inner)
        return folding.with_inits([result], inits, computation)
    return tuple(
        _reduce_window_p.bind(
            *equally_varying(*padded, *inits),
            computation=computation,
            window=inner,
            is_neutral=is_neutral or known_neutral,
        )
    )


def _of_lax(operands: Sequence[Array], pattern: str, window: Window) -> bool:
    """Whether jax.lax has the operation, with its derivatives."""
    _, kinds = _OF_LAX.get(pattern, (None, ""))
    dtype = operands[0].dtype
    if checks.kind(dtype) not in kinds or folding.identity_of(pattern, dtype) is None:
        return False
    dilated = any(d > 1 for d in (*window.base_dilations, *window.dilations))
    return pattern == "add" or not dilated


def _windows_of_lax(x: Array, pattern: str, window: Window) -> Array:
    init = folding.identity_of(pattern, x.dtype)
    if any(n < 0 for pads in window.padding for n in pads):
        # XLA's CPU backend takes no negative padding in some programs.
        x, window = pad(x, jnp.asarray(init), window), window.unpadded()
    return lax.reduce_window(
        x,
        init,
        _OF_LAX[pattern][0],
        window.sizes,
        window.strides,
        window.padding,
        window.base_dilations,
        window.dilations,
    )


def elements(x: Array, window: Window) -> tuple[Array, tuple[int, ...]]:
    """The elements at each position of a window without padding.

    Returns:
      An array in which each dimension of the window that is more than one wide follows
      that of the positions, and which dimensions those of the window are.
    """
    positions = window.positions(x.shape)
    inner = []
    # From behind, so that the dimensions before stay where they are.
    for d in reversed(range(x.ndim)):
        size, stride, dilation = window.sizes[d], window.strides[d], window.dilations[d]
        count = positions[d]
        reach = (count - 1) * stride + 1 if count else 0
        if size > _MANY:
            starts = stride * np.arange(count)[:, None]
            places = starts + dilation * np.arange(size)
            x = _take(x, places.astype(np.int32), d)
            inner = [d + 1, *(i + 1 for i in inner)]
            continue
        offsets = [k * dilation if count else 0 for k in range(size)]
        slices = [
            lax.slice_in_dim(x, offset, offset + reach, stride, axis=d)
            for offset in offsets
        ]
        if size == 1:
            (x,) = slices
            continue
        x = lax.concatenate([lax.expand_dims(s, (d + 1,)) for s in slices], d + 1)
        inner = [d + 1, *(i + 1 for i in inner)]
    return x, tuple(inner)


def _take(x: Array, places: np.ndarray, dimension: int) -> Array:
    """The elements along one dimension at a matrix of places, two dimensions of it."""
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(
            d if d < dimension else d + 1 for d in range(x.ndim) if d != dimension
        ),
        collapsed_slice_dims=(dimension,),
        start_index_map=(dimension,),
    )
    sizes = tuple(1 if d == dimension else n for d, n in enumerate(x.shape))
    return lax.gather(x, places[..., None], numbers, sizes, mode="promise_in_bounds")


# The primitive, on operands that have their padding. XLA takes initial values for
# identities where it rewrites the operation; see `folding`.


def _result_shapes(*avals: Any, window: Window, **params: Any) -> list[tuple[int, ...]]:
    return [window.positions(avals[0].shape)] * (len(avals) // 2)


def _build(
    ctx: Any,
    results: Sequence[Any],
    values: Sequence[Any],
    *,
    computation: Computation,
    window: Window,
    is_neutral: bool,
) -> Any:
    count = len(values) // 2
    operands = values[:count] if is_neutral else barrier(values[:count])
    op = stablehlo.ReduceWindowOp(
        results,
        operands,
        values[count:],
        integers(window.sizes),
        window_strides=integers(window.strides),
        base_dilations=integers(window.base_dilations),
        window_dilations=integers(window.dilations),
        padding=pairs(window.padding),
    )
    fill(ctx, op.regions[0], computation)
    return op


def _equivalent(
    *values: Array, computation: Computation, window: Window, is_neutral: bool
) -> Sequence[Array]:
    count = len(values) // 2
    operands, inits = values[:count], values[count:]
    found = [elements(x, window) for x in operands]
    return folding.reduce([x for x, _ in found], inits, computation, found[0][1])


def _batch(args: Any, dims: Any, *, window: Window, **params: Any) -> Any:
    count = len(args) // 2
    if any(d is not None for d in dims[count:]):
        # The operation has room for one initial value only.
        return batched_as(_equivalent, args, dims, window=window, **params)
    results = _reduce_window_p.bind(
        *batch_to_front(args[:count], dims[:count]),
        *args[count:],
        window=window.batched(),
        **params,
    )
    return results, [0] * count


_reduce_window_p = region_primitive("reduce_window", _result_shapes, _build)
differentiated_as(_reduce_window_p, _equivalent)
batching.primitive_batchers[_reduce_window_p] = _batch
