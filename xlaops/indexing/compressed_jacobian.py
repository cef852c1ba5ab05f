"""Jacobians that are computed as sparse matrices, with few derivatives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .coloring import Coloring
from .jacobian_maps import Flat, structs
from .sparsity_pattern import Mode, Sparsity, sparsity

_NAME = "sparse_jacobian"


def sparse_jacobian(
    f: Callable[..., Any],
    *,
    argnums: int | Sequence[int] | None = 0,
    mode: Mode = "auto",
    pattern: Sparsity | None = None,
    batch_size: int | None = None,
) -> Callable[..., Any]:
    """A function that computes the Jacobian of another one, as a sparse matrix.

    Columns without a row in common are found with one derivative: a tridiagonal
    Jacobian of any size takes three. Pattern and colours are found once for all
    arguments of the same shapes and types, and are constants of a jitted program.

    Args:
        f: a function that JAX can trace and differentiate.
        argnums: which arguments are differentiated: a number, several, or None for all.
        mode: ``"forward"``, ``"reverse"``, or ``"auto"`` for what takes less.
        pattern: the pattern, from `sparsity` with the same ``argnums``; None finds it.
        batch_size: how many derivatives are computed at a time; None: all at once.

    Returns:
        A function of the arguments of ``f``. It returns a
        `jax.experimental.sparse.BCOO`, of which the rows are the elements of the result
        and the columns those of the arguments, in the order of `Sparsity`; it works
        under `jax.jit`, `jax.vmap` and `jax.grad`.

    Raises:
        TypeError: if ``f`` is not callable, ``pattern`` is no pattern, or a type is
            complex or cannot be differentiated.
        ValueError: if the mode or the batch size is no such thing, or the pattern
            belongs to other shapes.

    Example:
        >>> import jax.numpy as jnp
        >>> from xlaops.indexing import sparse_jacobian
        >>> jacobian = sparse_jacobian(lambda x: x[1:] ** 2 - x[:-1])
        >>> jacobian(jnp.array([1.0, 2.0, 3.0, 4.0])).todense()
        Array([[-1.,  4.,  0.,  0.],
               [ 0., -1.,  6.,  0.],
               [ 0.,  0., -1.,  8.]], dtype=float32)

        The Hessian is the Jacobian of the gradient.

        >>> import jax
        >>> energy = lambda x: jnp.sum((x[1:] - x[:-1]) ** 2)
        >>> sparse_jacobian(jax.grad(energy))(jnp.zeros(1000)).nse
        2998

    Source:
        *Indexing Analysis*, section Indexing maps of fusions.
    """
    if not callable(f):
        raise TypeError(f"{_NAME}: f must be callable, got {f!r}")
    if mode not in ("auto", "forward", "reverse"):
        raise ValueError(
            f"{_NAME}: mode must be 'auto', 'forward' or 'reverse', got {mode!r}"
        )
    if pattern is not None and not isinstance(pattern, Sparsity):
        raise TypeError(f"{_NAME}: pattern must be a Sparsity, got {pattern!r}")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"{_NAME}: batch_size must be at least 1, got {batch_size}")
    known: dict[Any, Sparsity] = {}
    lock = threading.Lock()

    def found(flat: Flat, args: Sequence[Any]) -> Sparsity:
        if pattern is not None:
            return pattern
        leaves, tree = jax.tree.flatten(args)
        types = structs(leaves)
        key = (tree, tuple([(s.shape, s.dtype) for s in types]))
        with lock:
            made = known.get(key)
            if made is None:
                shapes = jax.tree.unflatten(tree, types)
                made = known[key] = sparsity(f, *shapes, argnums=argnums)
        return made

    def jacobian(*args: Any) -> Any:
        flat = Flat(_NAME, f, args, argnums)
        for i in flat.which:
            dtype = jnp.result_type(flat.leaves[i])
            if jnp.issubdtype(dtype, jnp.complexfloating):
                raise TypeError(f"{_NAME}: {flat.names[i]} must be real, got {dtype}")
        which = found(flat, args)
        selected = [jnp.asarray(x) for x in flat.selected]
        shapes = [x.shape for x in selected]
        if [leaf.shape for leaf in which.inputs] != shapes:
            raise ValueError(
                f"{_NAME}: pattern must belong to arguments of shapes {shapes}, got "
                f"one for {[leaf.shape for leaf in which.inputs]}"
            )
        colors = which.coloring(mode)
        compute = _forward if colors.axis == "columns" else _reverse
        return compute(flat, which, colors, selected, batch_size)

    return jacobian


def _each(function: Callable[[Any], Any], count: int, batch_size: int | None) -> Any:
    """The results for all numbers below a count, side by side."""
    numbers = jnp.arange(count)
    if batch_size is None or batch_size >= count:
        return jax.vmap(function)(numbers)
    return jax.lax.map(function, numbers, batch_size=batch_size)


def _joined(leaves: Sequence[Any]) -> Any:
    if not leaves:
        return jnp.zeros(0)
    return jnp.concatenate([jnp.ravel(x) for x in leaves])


def _split(values: np.ndarray, leaves: Sequence[Any]) -> list[np.ndarray]:
    """An array in the shapes of leaves."""
    ends = np.cumsum([x.size for x in leaves])
    parts = np.split(values, ends[:-1]) if len(leaves) else []
    return [part.reshape(x.shape) for part, x in zip(parts, leaves, strict=True)]


def _forward(
    flat: Flat,
    which: Sparsity,
    colors: Coloring,
    selected: list[Any],
    batch_size: int | None,
) -> Any:
    rows, columns = which.coo()
    others = flat.others
    result, pushforward = jax.linearize(lambda x: flat(x, others), selected)
    _check_results(flat, which, result)
    by_leaf = _split(colors.colors, selected)

    def derivative(color: Any) -> Any:
        tangents = [
            (c == color).astype(x.dtype) for c, x in zip(by_leaf, selected, strict=True)
        ]
        return _joined(pushforward(tangents))

    compressed = _each(derivative, colors.count, batch_size)
    return which.to_bcoo(compressed[colors.colors[columns], rows])


def _reverse(
    flat: Flat,
    which: Sparsity,
    colors: Coloring,
    selected: list[Any],
    batch_size: int | None,
) -> Any:
    rows, columns = which.coo()
    others = flat.others
    result, pullback = jax.vjp(lambda x: flat(x, others), selected)
    _check_results(flat, which, result)
    by_leaf = _split(colors.colors, result)

    def derivative(color: Any) -> Any:
        cotangents = [
            (c == color).astype(x.dtype) for c, x in zip(by_leaf, result, strict=True)
        ]
        return _joined(pullback(cotangents)[0])

    compressed = _each(derivative, colors.count, batch_size)
    return which.to_bcoo(compressed[colors.colors[rows], columns])


def _check_results(flat: Flat, which: Sparsity, result: Sequence[Any]) -> None:
    shapes = [x.shape for x in result]
    if [leaf.shape for leaf in which.outputs] != shapes:
        raise ValueError(
            f"{_NAME}: pattern must belong to results of shapes {shapes}, got one for "
            f"{[leaf.shape for leaf in which.outputs]}"
        )
    for name, x in zip(flat.result_names, result, strict=True):
        if jnp.issubdtype(x.dtype, jnp.complexfloating):
            raise TypeError(f"{_NAME}: {name} must be real, got {x.dtype}")
