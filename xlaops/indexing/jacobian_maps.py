"""The maps of a function's Jacobian: which input changes which output.

A function's own program says what depends on what, and its derivative is made of that,
unless a custom derivative stands for something else: then the program of the derivative
is looked at, the one that JAX runs.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp

from .analysis import Analysis
from .arguments import is_array
from .graph import Graph
from .map_sets import Maps

_CUSTOM_FORWARD: Final = frozenset({"custom_jvp_call", "custom_lin"})
_CUSTOM_REVERSE: Final = frozenset({"custom_vjp_call", "custom_vjp_call_jaxpr"})
_FORWARD_ONLY: Final = frozenset({"while"})


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An array of an argument or of a result.

    Attributes:
      name: its path, such as ``args[0]['w']``.
      shape: its shape.
      dtype: its element type.
      start: where its elements begin among those of all arrays.
    """

    name: str
    shape: tuple[int, ...]
    dtype: Any
    start: int

    @property
    def size(self) -> int:
        """How many elements it has."""
        size = 1
        for n in self.shape:
            size *= n
        return size


@dataclasses.dataclass(frozen=True)
class JacobianMaps:
    """The maps of all results to all arguments that are differentiated.

    Attributes:
      outputs: the arrays of the result.
      inputs: the arrays of the arguments.
      blocks: for each output the maps to each input.
      undefined: primitives without a rule, and how often they were met.
      widened: how many sets of maps became one map.
      forward: whether JAX can differentiate the function in forward mode.
      reverse: whether it can in reverse mode.
    """

    outputs: tuple[Leaf, ...]
    inputs: tuple[Leaf, ...]
    blocks: tuple[tuple[Maps, ...], ...]
    undefined: dict[str, int]
    widened: int
    forward: bool
    reverse: bool


class Flat:
    """A function of the differentiated leaves alone, which returns leaves.

    Args:
      name: of the caller, for errors.
      f: a function of pytrees.
      args: its arguments.
      argnums: which of them are differentiated; None: all.
      has_aux: whether the function returns a pair, of which only the first one counts.
    """

    def __init__(
        self,
        name: str,
        f: Callable[..., Any],
        args: Sequence[Any],
        argnums: int | Sequence[int] | None,
        has_aux: bool = False,
    ) -> None:
        if not callable(f):
            raise TypeError(f"{name}: f must be callable, got {f!r}")
        numbers = chosen(name, len(args), argnums)
        paths, self._tree = jax.tree_util.tree_flatten_with_path(tuple(args))
        self._name, self._f, self._has_aux = name, f, has_aux
        self.result_names: list[str] = []
        self.leaves = [leaf for _, leaf in paths]
        # The first key of a path is the number of the argument.
        self.which = [i for i, (path, _) in enumerate(paths) if path[0].idx in numbers]
        chosen_leaves = set(self.which)
        self.rest = [
            i
            for i, leaf in enumerate(self.leaves)
            if i not in chosen_leaves and is_array(leaf)
        ]
        self.names = [f"args{jax.tree_util.keystr(path)}" for path, _ in paths]
        for i in self.which:
            _check(name, self.names[i], self.leaves[i])

    def __call__(self, selected: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """The leaves of the result."""
        return self.with_aux(selected, others)[0]

    def with_aux(
        self, selected: Sequence[Any], others: Sequence[Any]
    ) -> tuple[list[Any], Any]:
        """The leaves of the result, and what the function returns with it, or None."""
        leaves = list(self.leaves)
        for i, value in zip(self.which, selected, strict=True):
            leaves[i] = value
        for i, value in zip(self.rest, others, strict=True):
            leaves[i] = value
        result, aux = self._f(*jax.tree.unflatten(self._tree, leaves)), None
        if self._has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError(
                    f"{self._name}: f must return a pair with has_aux, got "
                    f"{type(result).__name__}"
                )
            result, aux = result
        made = jax.tree_util.tree_flatten_with_path(result)[0]
        self.result_names = [f"result{jax.tree_util.keystr(path)}" for path, _ in made]
        return [value for _, value in made], aux

    @property
    def selected(self) -> list[Any]:
        """The leaves that are differentiated."""
        return [self.leaves[i] for i in self.which]

    @property
    def others(self) -> list[Any]:
        """The other arrays."""
        return [self.leaves[i] for i in self.rest]

    @property
    def fixed(self) -> list[Any]:
        """The leaves that are no arrays, which the function gets as they are."""
        return [leaf for leaf in self.leaves if not is_array(leaf)]


def chosen(name: str, count: int, argnums: int | Sequence[int] | None) -> set[int]:
    """The numbers of the arguments that are differentiated, from 0 on.

    Args:
      name: of the caller, for errors.
      count: how many arguments there are.
      argnums: a number, several, or None for all.

    Raises:
      TypeError: if they are no integers.
      ValueError: if there is no argument of a number.
    """
    if argnums is None:
        return set(range(count))
    found = set()
    for i in argnums if isinstance(argnums, Iterable) else [argnums]:
        if isinstance(i, bool) or not hasattr(i, "__index__"):
            raise TypeError(f"{name}: argnums must be integers, got {i!r}")
        if not -count <= i < count:
            raise ValueError(
                f"{name}: argnums must be among the {count} arguments, got {i}"
            )
        found.add(operator.index(i) % count)
    return found


def _check(name: str, leaf: str, value: Any) -> None:
    dtype = jnp.result_type(value) if is_array(value) else type(value).__name__
    if not is_array(value) or not jnp.issubdtype(dtype, jnp.inexact):
        raise TypeError(
            f"{name}: {leaf} must have a floating type to be differentiated, got "
            f"{dtype}"
        )


def structs(values: Sequence[Any]) -> list[jax.ShapeDtypeStruct]:
    """The shapes and types of arrays, scalars and `jax.ShapeDtypeStruct`."""
    return [
        jax.ShapeDtypeStruct(
            v.shape if hasattr(v, "shape") else jnp.shape(v),
            v.dtype if hasattr(v, "dtype") else jnp.result_type(v),
        )
        for v in values
    ]


def jacobian_maps(
    name: str,
    f: Callable[..., Any],
    args: Sequence[Any],
    argnums: int | Sequence[int] | None,
    has_aux: bool = False,
) -> JacobianMaps:
    """The maps of a function's Jacobian.

    Args:
      name: of the caller, for errors.
      f: a function of pytrees.
      args: its arguments: arrays or `jax.ShapeDtypeStruct`.
      argnums: which of them are differentiated; None: all.
      has_aux: whether the function returns a pair, of which only the first one counts.

    Raises:
      TypeError: if a result or an argument that is differentiated is no float.
    """
    flat = Flat(name, f, args, argnums, has_aux)
    selected, others = structs(flat.selected), structs(flat.others)
    closed, result = jax.make_jaxpr(flat, return_shape=True)(selected, others)
    names = flat.result_names
    for one, value in zip(names, result, strict=True):
        _check(name, one, value)
    outputs = _leaves(names, result)
    inputs = _leaves([flat.names[i] for i in flat.which], selected)
    primitives = frozenset(_primitives(closed.jaxpr))
    maps: Callable[[int, int], Maps]
    if primitives & _CUSTOM_REVERSE:
        analysis = _of_pullback(flat, selected, others, result)
        maps = lambda i, j: analysis.input_to_output(i, j)  # noqa: E731
    elif primitives & _CUSTOM_FORWARD:
        analysis = _of_pushforward(flat, selected, others)
        maps = lambda i, j: analysis.output_to_input(i, j)  # noqa: E731
    else:
        analysis = _analysis(closed, derivative=True)
        maps = lambda i, j: analysis.output_to_input(i, j)  # noqa: E731
    blocks = tuple(
        [tuple([maps(i, j) for j in range(len(inputs))]) for i in range(len(outputs))]
    )
    return JacobianMaps(
        outputs,
        inputs,
        blocks,
        analysis.undefined,
        analysis.widened,
        forward=not primitives & _CUSTOM_REVERSE,
        reverse=not primitives & _FORWARD_ONLY,
    )


def _leaves(names: Sequence[str], values: Sequence[Any]) -> tuple[Leaf, ...]:
    leaves: list[Leaf] = []
    start = 0
    for name, value in zip(names, values, strict=True):
        leaves.append(Leaf(name, tuple(value.shape), value.dtype, start))
        start += leaves[-1].size
    return tuple(leaves)


def _analysis(closed: Any, *, derivative: bool) -> Analysis:
    count = [f"[{i}]" for i in range(len(closed.jaxpr.invars))]
    made = [f"[{i}]" for i in range(len(closed.jaxpr.outvars))]
    return Analysis(Graph(closed), count, made, derivative)


def _of_pushforward(
    flat: Flat, selected: Sequence[Any], others: Sequence[Any]
) -> Analysis:
    """From tangents of the arguments, which come first, to those of the results."""

    def pushforward(tangents: Any, primals: Any, others: Any) -> Any:
        return jax.jvp(lambda x: flat(x, others), (primals,), (tangents,))[1]

    closed = jax.make_jaxpr(pushforward)(selected, selected, others)
    return _analysis(closed, derivative=False)


def _of_pullback(
    flat: Flat, selected: Sequence[Any], others: Sequence[Any], result: Sequence[Any]
) -> Analysis:
    """From cotangents of the results, which come first, to those of the arguments."""

    def pullback(cotangents: Any, primals: Any, others: Any) -> Any:
        return jax.vjp(lambda x: flat(x, others), primals)[1](cotangents)[0]

    closed = jax.make_jaxpr(pullback)(structs(result), selected, others)
    return _analysis(closed, derivative=False)


def _primitives(jaxpr: Any) -> Iterator[str]:
    """The names of all primitives of a jaxpr and those in it."""
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        for value in jax.tree.leaves(
            list(eqn.params.values()), is_leaf=lambda x: hasattr(x, "eqns")
        ):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from _primitives(inner)
