"""How elements flow through a program: the maps between a value and all others."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp

from . import loops
from .graph import JOIN, LOOPS, PART, WHOLE, Graph, Node, Value
from .map import IndexingMap
from .map_sets import Collector, Maps, composed, turned
from .primitives import collectives, find, find_forward
from .primitives.building import identity, to_scalar, undefined
from .primitives.elementwise import CONSTANT_DERIVATIVE


class Flow:
    """The maps between the values of a program, computed when they are asked for.

    Args:
        graph: the program.
        derivative: whether only what has a derivative counts: not the flow through
            integers and bools, nor through operations that are constant in pieces.
    """

    def __init__(self, graph: Graph, derivative: bool = False) -> None:
        self.graph = graph
        self.derivative = derivative
        self.unknown: dict[str, int] = {}
        self.widened = 0
        self._back: dict[Value, dict[Value, Maps]] = {}
        self._ahead: dict[Value, dict[Value, Maps]] = {}
        self.bodies: dict[tuple[Node, str], list[list[Maps]]] = {}
        self.scans: dict[Node, loops.Scan] = {}
        self._steps: dict[tuple[Node, int], Sequence[Maps]] = {}
        self._forward_steps: dict[tuple[Node, int, int], Maps] = {}

    # One operation

    def step(self, node: Node, output: int) -> Sequence[Maps]:
        """The maps from a result of an operation to each of its operands."""
        key = (node, output)
        maps = self._steps.get(key)
        if maps is None:
            maps = self._step(node, output)
            if self.derivative:
                maps = self._differentiable(node, output, maps)
            self._steps[key] = maps
        return maps

    def forward_step(self, node: Node, output: int, operand: int) -> Maps:
        """The maps from an operand of an operation to one of its results."""
        key = (node, output, operand)
        found = self._forward_steps.get(key)
        if found is None:
            found = self._forward_steps[key] = self._forward_step(*key)
        return found

    def _forward_step(self, node: Node, output: int, operand: int) -> Maps:
        maps = self.step(node, output)[operand]
        rule = find_forward(node.name)
        # What a derivative leaves out is left out in both directions.
        if rule is None or not maps:
            shape = node.inputs[operand].shape
            return tuple([turned(one, shape) for one in maps])
        forward = rule(node.as_equation(), output)[operand]
        return tuple([collectives.on_every_device(m, node.mesh) for m in forward])

    def _step(self, node: Node, output: int) -> Sequence[Maps]:
        if node.name == PART:
            return [(_of_part(node),)]
        if node.name == WHOLE:
            return [(_of_whole(node),)]
        if node.name in LOOPS:
            return loops.maps(node, output, self)
        mesh = node.mesh
        if mesh.rank and node.name in collectives.RULES:
            return collectives.RULES[node.name](node.as_equation(), output, mesh)
        alone = self._alone(node, output)
        if alone is not None:
            if not mesh.rank:
                return alone
            return [
                tuple([collectives.on_every_device(m, mesh) for m in maps])
                for maps in alone
            ]
        self.unknown[node.name] = self.unknown.get(node.name, 0) + 1
        shape = node.outputs[output].shape
        reason = f"no rule for the primitive {node.name}"
        return [(undefined(shape, len(v.shape), reason),) for v in node.inputs]

    def _alone(self, node: Node, output: int) -> Sequence[Maps] | None:
        """The maps of an operation that one device does, or None without a rule."""
        if node.name == JOIN:
            return _chosen(node)
        rule = find(node.name)
        return None if rule is None else rule(node.as_equation(), output)

    def _differentiable(
        self, node: Node, output: int, maps: Sequence[Maps]
    ) -> Sequence[Maps]:
        if node.name in CONSTANT_DERIVATIVE or not is_inexact(node.outputs[output]):
            return [()] * len(node.inputs)
        return [
            m if is_inexact(v) else () for v, m in zip(node.inputs, maps, strict=True)
        ]

    # All operations

    def back(self, value: Value) -> dict[Value, Maps]:
        """The maps from the elements of a value to those of all that it is made of."""
        known = self._back.get(value)
        if known is not None:
            return known
        found: dict[Value, Collector] = {value: Collector(value.shape)}
        found[value].add([identity(value.shape)])
        done: dict[Value, Maps] = {}
        for node in reversed(self.graph.nodes):
            for output, made in enumerate(node.outputs):
                if made not in found:
                    continue
                reached = found[made].maps
                if not reached:
                    continue
                steps = self.step(node, output)
                for operand, maps in zip(node.inputs, steps, strict=True):
                    if maps and operand.constant is None:
                        into = found.get(operand)
                        if into is None:
                            into = found[operand] = Collector(operand.shape)
                        for first in reached:
                            into.add([composed(first, second) for second in maps])
        for reached_value, collector in found.items():
            done[reached_value] = collector.maps
            self.widened += collector.was_widened
        self._back[value] = done
        return done

    def ahead(self, value: Value) -> dict[Value, Maps]:
        """The maps from the elements of a value to those of all that is made of it."""
        known = self._ahead.get(value)
        if known is not None:
            return known
        found: dict[Value, Collector] = {value: Collector(value.shape)}
        found[value].add([identity(value.shape)])
        for node in self.graph.nodes:
            read = [v in found and bool(found[v].found) for v in node.inputs]
            if not any(read):
                continue
            for output, made in enumerate(node.outputs):
                for i, operand in enumerate(node.inputs):
                    maps = self.forward_step(node, output, i) if read[i] else ()
                    if not maps:
                        continue
                    into = found.get(made)
                    if into is None:
                        into = found[made] = Collector(made.shape)
                    for first in found[operand].maps:
                        into.add([composed(first, second) for second in maps])
        done = {}
        for reached_value, collector in found.items():
            done[reached_value] = collector.maps
            self.widened += collector.was_widened
        self._ahead[value] = done
        return done


def is_inexact(value: Value) -> bool:
    """Whether the array's elements are numbers that can have a derivative."""
    # What was written to references and outside, which has no type, may be numbers.
    return value.dtype is None or jnp.issubdtype(value.dtype, jnp.inexact)


def _of_part(node: Node) -> IndexingMap:
    outer, mesh = node.mesh, node.params["mesh"]
    local = node.outputs[0].shape[outer.rank + mesh.rank :]
    part = collectives.part_of_whole(node.params["spec"], mesh, local)
    return collectives.on_every_device(part, outer)


def _of_whole(node: Node) -> IndexingMap:
    outer, mesh = node.mesh, node.params["mesh"]
    local = node.inputs[0].shape[outer.rank + mesh.rank :]
    whole = collectives.whole_of_parts(node.params["spec"], mesh, local)
    return collectives.on_every_device(whole, outer)


def _chosen(node: Node) -> Sequence[Maps]:
    """The maps of the choice among the results of branches."""
    shape = node.outputs[0].shape[node.mesh.rank :]
    index = node.inputs[0]
    cases = len(node.inputs) - 1
    if index.constant is not None:
        taken = min(max(int(index.constant), 0), cases - 1)
        return [(), *[(identity(shape),) if i == taken else () for i in range(cases)]]
    return [(to_scalar(shape),), *[(identity(shape),)] * cases]
