"""Jacobians that are computed as sparse matrices, with few derivatives."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arguments import is_array
from .coloring import Coloring
from .jacobian_maps import Flat, chosen, structs
from .sparsity_pattern import Mode, Sparsity, sparsity

_NAME = "sparse_jacobian"


def sparse_jacobian(
    f: Callable[..., Any],
    *,
    argnums: int | Sequence[int] | None = 0,
    has_aux: bool = False,
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
        has_aux: whether ``f`` returns a pair, of which only the first one is
            differentiated, and the second one is returned beside the Jacobian.
        mode: ``"forward"``, ``"reverse"``, or ``"auto"`` for what takes less.
        pattern: the pattern, from `sparsity` with the same ``argnums``; None finds it.
        batch_size: how many derivatives are computed at a time; None: all at once.

    Returns:
        A function of the arguments of ``f``, by position or by keyword. It returns a
        `jax.experimental.sparse.BCOO`, of which the rows are the elements of the result
        and the columns those of the arguments, in the order of `Sparsity`; it works
        under `jax.jit`, `jax.vmap` and `jax.grad`.

    Raises:
        TypeError: if ``f`` is not callable, ``pattern`` is no pattern, the batch size
            no integer, or a type is complex or cannot be differentiated.
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
    if batch_size is not None:
        if isinstance(batch_size, bool) or not hasattr(batch_size, "__index__"):
            raise TypeError(
                f"{_NAME}: batch_size must be an integer or None, got {batch_size!r}"
            )
        batch_size = operator.index(batch_size)
        if batch_size < 1:
            raise ValueError(
                f"{_NAME}: batch_size must be at least 1, got {batch_size}"
            )
    known: dict[Any, Sparsity] = {}
    lock = threading.Lock()

    def found(flat: Flat, function: Any, args: Any, which_args: Any) -> Sparsity:
        if pattern is not None:
            return pattern
        leaves, tree = jax.tree.flatten(args)
        shapes = [structs([x])[0] if is_array(x) else x for x in leaves]
        types = [(x.shape, x.dtype) for x in shapes if is_array(x)]
        key = (tree, tuple(types), tuple(flat.fixed))
        try:
            hash(key)
        except TypeError as error:
            raise TypeError(
                f"{_NAME}: arguments that are no arrays must be hashable, got "
                f"{flat.fixed}"
            ) from error
        with lock:
            made = known.get(key)
            if made is None:
                made = known[key] = sparsity(
                    function,
                    *jax.tree.unflatten(tree, shapes),
                    argnums=which_args,
                    has_aux=has_aux,
                )
        return made

    def jacobian(*args: Any, **keywords: Any) -> Any:
        function, which_args = f, argnums
        if keywords:
            # They become one more argument, which is not differentiated.
            which_args = tuple(sorted(chosen(_NAME, len(args), argnums)))
            function = lambda *a: f(*a[:-1], **a[-1])  # noqa: E731
            args = (*args, keywords)
        flat = Flat(_NAME, function, args, which_args, has_aux)
        for i in flat.which:
            dtype = jnp.result_type(flat.leaves[i])
            if jnp.issubdtype(dtype, jnp.complexfloating):
                raise TypeError(f"{_NAME}: {flat.names[i]} must be real, got {dtype}")
        which = found(flat, function, args, which_args)
        selected = [jnp.asarray(x) for x in flat.selected]
        shapes = [x.shape for x in selected]
        if [leaf.shape for leaf in which.inputs] != shapes:
            raise ValueError(
                f"{_NAME}: pattern must belong to arguments of shapes {shapes}, got "
                f"one for {[leaf.shape for leaf in which.inputs]}"
            )
        colors = which.coloring(mode)
        compute = _forward if colors.axis == "columns" else _reverse
        found_jacobian, aux = compute(flat, which, colors, selected, batch_size)
        return (found_jacobian, aux) if has_aux else found_jacobian

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
) -> tuple[Any, Any]:
    rows, columns = which.coo()
    others = flat.others
    result, pushforward, aux = jax.linearize(
        lambda x: flat.with_aux(x, others), selected, has_aux=True
    )
    _check_results(flat, which, result)
    by_leaf = _split(colors.colors, selected)

    def derivative(color: Any) -> Any:
        tangents = [
            (c == color).astype(x.dtype) for c, x in zip(by_leaf, selected, strict=True)
        ]
        return _joined(pushforward(tangents))

    compressed = _each(derivative, colors.count, batch_size)
    return which.to_bcoo(compressed[colors.colors[columns], rows]), aux


def _reverse(
    flat: Flat,
    which: Sparsity,
    colors: Coloring,
    selected: list[Any],
    batch_size: int | None,
) -> tuple[Any, Any]:
    rows, columns = which.coo()
    others = flat.others
    result, pullback, aux = jax.vjp(
        lambda x: flat.with_aux(x, others), selected, has_aux=True
    )
    _check_results(flat, which, result)
    by_leaf = _split(colors.colors, result)

    def derivative(color: Any) -> Any:
        cotangents = [
            (c == color).astype(x.dtype) for c, x in zip(by_leaf, result, strict=True)
        ]
        return _joined(pullback(cotangents)[0])

    compressed = _each(derivative, colors.count, batch_size)
    return which.to_bcoo(compressed[colors.colors[rows], columns]), aux


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
