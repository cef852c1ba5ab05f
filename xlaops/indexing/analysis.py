"""Which elements of a JAX function's arguments its results depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax

from .arguments import traced
from .elements import Seen, seen
from .flow import Flow
from .graph import Graph, Value
from .map_sets import Maps

Selector: TypeAlias = int | str | Value


class Analysis:
    """The flow of elements through one function, for given shapes.

    Made by `analyze`. Nothing is computed until it is asked for, and what was computed
    is kept.

    Attributes:
        inputs: the leaves of the arguments.
        outputs: the leaves of the result.
        values: all arrays of the program, with those between inputs and outputs.
    """

    def __init__(
        self,
        graph: Graph,
        input_names: Sequence[str],
        output_names: Sequence[str],
        derivative: bool,
    ) -> None:
        self._flow = Flow(graph, derivative)
        self.inputs: tuple[Value, ...] = tuple(graph.inputs)
        self.outputs: tuple[Value, ...] = tuple(graph.outputs)
        self.values: tuple[Value, ...] = tuple(graph.values)
        self.input_names = tuple(input_names)
        self.output_names = tuple(output_names)

    def __repr__(self) -> str:
        return (
            f"Analysis({len(self.inputs)} inputs, {len(self.outputs)} outputs, "
            f"{len(self._flow.graph.nodes)} operations)"
        )

    # Arrays

    def find(self, name: str) -> Value:
        """The array that the program calls so, with JAX's ``checkpoint_name``.

        Args:
            name: its name.

        Raises:
            ValueError: if there is none.
        """
        for value in self.values:
            if value.name == name:
                return value
        raise ValueError(f"find: name must be that of an array, got {name!r}")

    def input(self, which: Selector) -> Value:
        """An input: by number, by path such as ``"args[0]['w']"``, or itself.

        Args:
            which: the number, the path or the array.

        Raises:
            TypeError, ValueError: if there is none.
        """
        return self._selected("input", which, self.inputs, self.input_names)

    def output(self, which: Selector) -> Value:
        """An output: by number, by path, or itself.

        Args:
            which: the number, the path or the array.

        Raises:
            TypeError, ValueError: if there is none.
        """
        return self._selected("output", which, self.outputs, self.output_names)

    def _selected(
        self, what: str, which: Selector, values: Sequence[Value], names: Sequence[str]
    ) -> Value:
        if isinstance(which, Value):
            if self.values[which.number : which.number + 1] != (which,):
                raise ValueError(
                    f"Analysis: {what} must be an array of this program, got {which!r}"
                )
            return which
        if isinstance(which, str):
            if which in names:
                return values[names.index(which)]
            return self.find(which)
        if isinstance(which, bool) or not isinstance(which, int):
            raise TypeError(
                f"Analysis: {what} must be a number, a name or a value, got {which!r}"
            )
        if not -len(values) <= which < len(values):
            raise ValueError(
                f"Analysis: {what} must be one of {len(values)}, got {which}"
            )
        return values[which]

    # Maps

    def output_to_input(self, output: Selector = 0, input: Selector = 0) -> Maps:
        """The maps from the elements of an output to those of an input.

        Args:
            output: which output, or any other array of the program.
            input: which input, or any other array.

        Returns:
            The maps: an element depends on those that any of them relates to it. The
            tuple is empty if the output does not depend on the input.
        """
        made, read = self.output(output), self.input(input)
        return _in_order(self._flow.back(made).get(read, ()))

    def input_to_output(self, input: Selector = 0, output: Selector = 0) -> Maps:
        """The maps from the elements of an input to those of an output.

        Args:
            input: which input, or any other array of the program.
            output: which output, or any other array.

        Returns:
            The maps: they relate the pairs of `output_to_input`, turned around.
        """
        read, made = self.input(input), self.output(output)
        return _in_order(self._flow.ahead(read).get(made, ()))

    def seen(
        self, output: Selector, index: Sequence[int], limit: int | None = None
    ) -> dict[Value, Seen]:
        """What one element is made of, of every array of the program that it reads.

        It is found operation by operation, and not from the maps of the program.

        Args:
            output: which output, or any other array of the program.
            index: of the element.
            limit: how many points of a part of an operation may be looked at.

        Raises:
            ValueError: if there are more.
        """
        return seen(self._flow, self.output(output), index, limit)

    def items(self) -> Iterator[tuple[str, str, Maps]]:
        """The names of each output and each input, and the maps between them."""
        for name, made in zip(self.output_names, self.outputs, strict=True):
            for other, read in zip(self.input_names, self.inputs, strict=True):
                yield name, other, self.output_to_input(made, read)

    # What is not exact

    @property
    def undefined(self) -> dict[str, int]:
        """The primitives without a rule that were met, and how often."""
        return dict(self._flow.unknown)

    @property
    def widened(self) -> int:
        """How many sets of maps were too large and became one map."""
        return self._flow.widened

    def __str__(self) -> str:
        lines = []
        for name, other, maps in self.items():
            lines.append(f"{name} <- {other}:" + ("" if maps else " nothing"))
            for one in maps:
                lines.append(f"  {one}")
                lines += [f"    more than needed: {reason}" for reason in one.reasons]
        for name, count in sorted(self.undefined.items()):
            lines.append(f"no rule: {name} ({count} times)")
        if self.widened:
            lines.append(f"widened sets: {self.widened}")
        return "\n".join(lines)


def _in_order(maps: Maps) -> Maps:
    """The maps with the fewest variables first."""
    return tuple(sorted(maps, key=lambda m: (len(m.ranges) + len(m.runtimes), str(m))))


def analyze(f: Callable[..., Any], *args: Any, derivative: bool = False) -> Analysis:
    """Which elements of the arguments the results of a function depend on.

    The function is traced, and nothing is computed. Calls, conditionals and loops are
    followed. What no rule is known for gives maps that are undefined, and their number
    is reported.

    Args:
        f: a function that JAX can trace.
        *args: its arguments, pytrees of arrays or of `jax.ShapeDtypeStruct`.
            Leaves that are neither, nor numbers, are handed on as they are.
        derivative: whether only the dependence counts that a derivative can have: not
            that through integers, bools, and functions that are constant in pieces.

    Returns:
        The analysis, which answers questions.

    Raises:
        TypeError: if ``f`` is not callable.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from xlaops.indexing import analyze
        >>> x = jax.ShapeDtypeStruct((8, 4), jnp.float32)
        >>> for one in analyze(lambda x: x.T - x.sum(1), x).output_to_input():
        ...     print(one)
        (d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 7]
        (d0, d1)[s0] -> (d1, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 3]

    Source:
        *Indexing Analysis*, section Indexing maps of fusions.
    """
    if not callable(f):
        raise TypeError(f"analyze: f must be callable, got {f!r}")
    closed, result, names = traced(f, args)
    made = jax.tree_util.tree_flatten_with_path(result)[0]
    outputs = [f"result{jax.tree_util.keystr(path)}" for path, _ in made]
    return Analysis(Graph(closed), names, outputs, derivative)
