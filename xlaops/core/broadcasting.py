"""Broadcasting as XLA's *Broadcasting* document states it, which is not NumPy's."""

import itertools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from . import checks
from .primitive import sharding_like


def binary(
    operation: str,
    lhs: ArrayLike,
    rhs: ArrayLike,
    broadcast_dimensions: Sequence[int],
    allowed: str,
) -> tuple[Array, Array]:
    """The operands of a binary operation, of one element type and ready for jax.lax.

    They have equal ranks and sizes that are equal or one (which jax.lax stretches), or
    one of them is a scalar.
    """
    x, y = checks.same_element_type(operation, lhs=lhs, rhs=rhs)
    checks.element_kind(operation, "lhs", x, allowed)
    dims = tuple(broadcast_dimensions)
    if x.ndim == y.ndim:
        if dims and dims != tuple(range(x.ndim)):
            raise ValueError(
                f"{operation}: broadcast_dimensions must be empty or "
                f"{tuple(range(x.ndim))} for operands of equal rank, got {dims}"
            )
        _degenerate(operation, x.shape, y.shape)
        return x, y
    if not dims and 0 in (x.ndim, y.ndim):
        return x, y
    if x.ndim < y.ndim:
        return _raise_rank(operation, "lhs", x, "rhs", y, dims), y
    return x, _raise_rank(operation, "rhs", y, "lhs", x, dims)


def _degenerate(operation: str, lhs: tuple[int, ...], rhs: tuple[int, ...]) -> None:
    for i, (m, n) in enumerate(zip(lhs, rhs, strict=True)):
        if m != n and 1 not in (m, n):
            raise TypeError(
                f"{operation}: lhs and rhs must have sizes that are equal or 1 in "
                f"every dimension, got {m} and {n} in dimension {i} of {lhs} and {rhs}"
            )


def _raise_rank(
    operation: str,
    low_name: str,
    low: Array,
    high_name: str,
    high: Array,
    dims: tuple[int, ...],
) -> Array:
    """The operand of lower rank, with its dimensions where ``dims`` says."""
    rank = high.ndim
    if not dims:
        shapes = {low_name: low.shape, high_name: high.shape}
        raise TypeError(
            f"{operation}: broadcast_dimensions must be given for operands of "
            f"different rank, got lhs {shapes['lhs']} and rhs {shapes['rhs']}"
        )
    if len(dims) != low.ndim:
        raise ValueError(
            f"{operation}: broadcast_dimensions must have one entry for each dimension "
            f"of {low_name}, which has shape {low.shape}, got {dims}"
        )
    if any(not 0 <= d < rank for d in dims) or any(
        a >= b for a, b in itertools.pairwise(dims)
    ):
        raise ValueError(
            f"{operation}: broadcast_dimensions must be strictly increasing and in "
            f"[0, {rank}), got {dims}"
        )
    for size, d in zip(low.shape, dims, strict=True):
        if size != high.shape[d] and 1 not in (size, high.shape[d]):
            raise TypeError(
                f"{operation}: dimension {d} of {high_name} must be {size} or 1 to "
                f"match {low_name} {low.shape} with broadcast_dimensions={dims}, got "
                f"{high_name} of shape {high.shape}"
            )
    # To the full size at once where that can be: one operation in the program, as in
    # the best hand-written form. Dimensions in which `high` is 1 take `low`'s size.
    shape = list(high.shape)
    for size, d in zip(low.shape, dims, strict=True):
        shape[d] = max(size, shape[d]) if 0 not in (size, shape[d]) else 0
    return lax.broadcast_in_dim(low, tuple(shape), dims)


def ternary(
    operation: str, scalars: Sequence[str], **operands: Array
) -> tuple[Array, ...]:
    """Operands of equal shape; those named in ``scalars`` may stay 0-d instead.

    The document has scalars for two of Clamp's operands and one of Select's. XlaBuilder
    broadcasts any scalar, and so does this.
    """
    shapes = {name: x.shape for name, x in operands.items() if x.ndim}
    if len(set(shapes.values())) > 1:
        came = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise TypeError(
            f"{operation}: operands that are not scalars must have the same shape, "
            f"got {came}"
        )
    if not shapes:
        return tuple(operands.values())
    like = next(x for x in operands.values() if x.ndim)
    return tuple(
        x if x.ndim or (name in scalars) else _broadcast_like(x, like)
        for name, x in operands.items()
    )


def _broadcast_like(x: Array, like: Array) -> Array:
    """A scalar at every element of the shape, and in an Explicit mesh sharded alike."""
    return lax.broadcast(x, like.shape, out_sharding=sharding_like(like))


def stretched(*operands: Array) -> tuple[Array, ...]:
    """Scalars and operands of one rank, all broadcast to their common shape.

    Only for what jax.lax does not stretch by itself.
    """
    # A rule of derivatives may be given Python scalars.
    operands = tuple(x if hasattr(x, "shape") else jnp.asarray(x) for x in operands)
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    return tuple(
        x
        if x.shape == shape
        else lax.broadcast_in_dim(x, shape, range(len(shape) - x.ndim, len(shape)))
        for x in operands
    )
