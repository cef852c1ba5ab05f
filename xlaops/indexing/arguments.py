"""Arguments of functions that are traced: arrays, and whatever else they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax


def is_array(leaf: Any) -> bool:
    """Whether a leaf is traced: an array, a number, or what stands for an array.

    Anything else, such as a string, is handed to the function as it is.
    """
    if isinstance(leaf, (bool, int, float, complex)):
        return True
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype")


def traced(f: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, Any, list[str]]:
    """The program of a function.

    Args:
      f: a function that JAX can trace.
      args: its arguments, pytrees.

    Returns:
      The closed jaxpr, of the arrays of the arguments; the shapes of the result; and
      the paths of these arrays, such as ``args[0]['w']``.
    """
    paths, tree = jax.tree_util.tree_flatten_with_path(tuple(args))
    leaves = [leaf for _, leaf in paths]
    which = [i for i, leaf in enumerate(leaves) if is_array(leaf)]

    def of_arrays(*arrays: Any) -> Any:
        whole = list(leaves)
        for i, array in zip(which, arrays, strict=True):
            whole[i] = array
        return f(*jax.tree.unflatten(tree, whole))

    closed, result = jax.make_jaxpr(of_arrays, return_shape=True)(
        *[leaves[i] for i in which]
    )
    names = [f"args{jax.tree_util.keystr(paths[i][0])}" for i in which]
    return closed, result, names
