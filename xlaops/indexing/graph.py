"""A traced program as a list of operations on values, with calls written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core.compat import Literal, scan_counts
from . import constants, integer_ranges
from . import expression as ex
from .called import program_of
from .expression import Expression
from .integer_ranges import Range
from .primitives import find
from .primitives.collectives import RULES as COLLECTIVES
from .primitives.collectives import Mesh
from .primitives.equation import Equation, Operand

# Collectives over an axis of jax.vmap: then of their operand's own axes, by number.
_FOLDS_OF_BATCHES: Final = {
    "psum": "reduce_sum",
    "psum_invariant": "reduce_sum",
    "pmax": "reduce_max",
    "pmin": "reduce_min",
}
# They yield other numbers each time.
_DRAWS: Final = frozenset({"rng_uniform", "xlaops_rng"})
LOOPS: Final = frozenset({"scan", "while"})
JOIN: Final = "cond"
PART: Final = "part"
WHOLE: Final = "whole"


class Value:
    """An array of a program.

    Attributes:
      shape: its shape.
      dtype: its element type.
      number: its place among the values of the program.
      node: the operation that makes it; None for inputs and constants.
      constant: its value, where it does not depend on the inputs and is known.
      name: what the program calls it, if it does.
      bounds: of its elements, if they are integers of which bounds are known.
    """

    __slots__ = ("bounds", "constant", "dtype", "name", "node", "number", "shape")

    def __init__(self, aval: Any, number: int, node: Node | None = None) -> None:
        self.shape: tuple[int, ...] = tuple(getattr(aval, "shape", ()))
        self.dtype: Any = getattr(aval, "dtype", None)
        self.number = number
        self.node = node
        self.constant: np.ndarray | None = None
        self.bounds: Range | None = None
        self.name = ""

    def __repr__(self) -> str:
        maker = self.node.name if self.node is not None else "input"
        sizes = ",".join(map(str, self.shape))
        called = f" {self.name!r}" if self.name else ""
        return f"<%{self.number}{called} {maker} {self.dtype}[{sizes}]>"


class Node:
    """An operation of a program.

    Attributes:
      name: of the primitive.
      params: its parameters.
      inputs: what it reads.
      outputs: what it makes.
      mesh: the axes over which every device does it; its arrays have a dimension for
        each of them in front.
      bodies: of a loop the programs that it repeats, by the name of their parameter.
    """

    __slots__ = ("bodies", "inputs", "mesh", "name", "outputs", "params")

    def __init__(
        self,
        name: str,
        params: Mapping[str, Any],
        inputs: Sequence[Value],
        mesh: Mesh,
    ) -> None:
        self.name = name
        self.mesh = mesh
        self.params = params
        self.inputs = tuple(inputs)
        self.outputs: tuple[Value, ...] = ()
        self.bodies: dict[str, Graph] = {}

    def as_equation(self) -> Equation:
        """The operation as rules see it, on one device."""
        # Not kept: it is quickly made, and what many thousands of them hold would have
        # the garbage collector look through everything again and again.
        skipped = self.mesh.rank
        return Equation(
            self.name,
            self.params,
            tuple([_operand(v, skipped) for v in self.inputs]),
            tuple([v.shape[skipped:] for v in self.outputs]),
            tuple([v.dtype for v in self.outputs]),
        )


def _operand(value: Value, skipped: int) -> Operand:
    return Operand(
        value.shape[skipped:],
        value.dtype,
        value,
        lambda: value.constant,
        lambda index: _origin(value, index),
    )


# Operations that hand on their first operand's elements.
_MOVES: Final = frozenset(
    {
        *("broadcast_in_dim", "convert_element_type", "copy", "expand_dims", "reshape"),
        *("rev", "slice", "squeeze", "transpose"),
    }
)


def _origin(value: Value, index: tuple[Expression, ...]) -> tuple[Value, Any, Any]:
    """Where an element of an array of integers comes from, and its bounds."""
    bounds = value.bounds
    while value.node is not None:
        node, taken = value.node, value.node.inputs
        if node.name == "concatenate":
            axis = node.params["dimension"]
            place = index[axis]
            if place.terms:
                break
            at, piece = place.constant, 0
            while at >= taken[piece].shape[axis]:
                at -= taken[piece].shape[axis]
                piece += 1
            index = (*index[:axis], ex.constant(at), *index[axis + 1 :])
            value = taken[piece]
        elif node.name in _MOVES and np.dtype(taken[0].dtype).kind in "iu":
            if value.bounds is None and (
                taken[0].bounds is not None
                or not np.can_cast(taken[0].dtype, value.dtype)
            ):
                break  # it may wrap around
            rule = find(node.name)
            assert rule is not None
            ((one,), *_) = rule(node.as_equation(), 0)
            memo: dict[Expression, Expression] = {}
            before = index

            def at_index(atom: Any, before: Any = before) -> Expression:
                return before[atom.first]

            results = [ex.substitute(e, at_index, memo) for e in one.results]
            index, value = tuple(results), taken[0]
        else:
            break
        bounds = value.bounds if bounds is None else bounds
    return value, index, bounds


class Graph:
    """A program: its inputs, its operations in order, and its outputs.

    Args:
      closed: a closed jaxpr.
      bounds: of inputs of integers, by their number, where they are known.
      mesh: the axes over which it is written device by device.
      fixed: inputs that are constants of a program around it, by their number.
    """

    def __init__(
        self,
        closed: Any,
        bounds: Mapping[int, Range] | None = None,
        mesh: Mesh | None = None,
        fixed: Mapping[int, np.ndarray] | None = None,
    ) -> None:
        self.nodes: list[Node] = []
        self.values: list[Value] = []
        self._same: dict[Any, tuple[Value, ...]] = {}
        self._mesh = Mesh() if mesh is None else mesh
        self._state: Value | None = None
        self.inputs = [self._value(v.aval) for v in closed.jaxpr.invars]
        for i, known in (bounds or {}).items():
            self.inputs[i].bounds = known
        for i, constant in (fixed or {}).items():
            self.inputs[i].constant = constant
            self.inputs[i].bounds = integer_ranges.of_constant(constant)
        self.outputs = self._added(closed.jaxpr, closed.consts, self.inputs)

    def _value(self, aval: Any, node: Node | None = None) -> Value:
        value = Value(aval, len(self.values), node)
        value.shape = (*self._mesh.sizes, *value.shape)
        self.values.append(value)
        return value

    def _constant(self, array: Any, aval: Any) -> Value:
        value = self._value(aval)
        value.constant = constants.of_array(array)
        if value.constant is not None:
            value.bounds = integer_ranges.of_constant(value.constant)
        return value

    def _added(
        self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Value]
    ) -> list[Value]:
        """Adds the operations of a jaxpr; the values of its results."""
        known: dict[Any, Value] = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable, array in zip(jaxpr.constvars, consts, strict=True):
            known[variable] = self._constant(array, variable.aval)

        def read(atom: Any) -> Value:
            if isinstance(atom, Literal):
                return self._constant(atom.val, atom.aval)
            return known[atom]

        for eqn in jaxpr.eqns:
            operands = [read(x) for x in eqn.invars]
            results = self._operation(eqn, operands)
            for variable, value in zip(eqn.outvars, results, strict=True):
                known[variable] = value
        return [read(x) for x in jaxpr.outvars]

    def _operation(self, eqn: Any, operands: list[Value]) -> Sequence[Value]:
        name, params = eqn.primitive.name, eqn.params
        inner = program_of(eqn)
        if inner is not None:
            jaxpr, consts = inner
            return self._added(jaxpr, consts, operands)
        if name == "cond":
            return self._choice(eqn, operands)
        if _is_stateful(eqn):
            return self._stateful(eqn, operands)
        if name == "shard_map":
            return self._devices(eqn, operands)
        fold = _FOLDS_OF_BATCHES.get(name)
        if fold is not None and any(isinstance(a, int) for a in params["axes"]):
            own = tuple([a for a in params["axes"] if isinstance(a, int)])
            avals = [v.aval for v in eqn.outvars]
            operands = [
                self._node(fold, {**params, "axes": own}, [v], [aval]).outputs[0]
                for v, aval in zip(operands, avals, strict=True)
            ]
            axes = tuple([a for a in params["axes"] if not isinstance(a, int)])
            if not axes:
                return operands
            return self._node(name, {**params, "axes": axes}, operands, avals).outputs
        key = self._key(eqn, operands)
        if key is not None and key in self._same:
            return self._same[key]
        # A future is taken for what it will hold.
        avals = [getattr(v.aval, "inner_aval", v.aval) for v in eqn.outvars]
        chosen = None
        if len(avals) == 1:
            chosen = _same_as(name, operands, avals[0], self._mesh.rank)
        if chosen is not None:
            return [chosen]
        node = self._node(name, params, operands, avals)
        if name in LOOPS:
            for which in ("jaxpr", "cond_jaxpr", "body_jaxpr"):
                if which in params:
                    known = _of_rounds(node) if which == "jaxpr" else {}
                    fixed = {
                        i: v.constant
                        for i, v in enumerate(_given(node, which))
                        if v.constant is not None
                    }
                    node.bodies[which] = Graph(params[which], known, self._mesh, fixed)
        elif name == "name":
            node.outputs[0].name = str(params["name"])
        elif len(avals) == 1:
            values = [v.constant for v in operands]
            if all(v is not None for v in values):
                node.outputs[0].constant = constants.evaluated(
                    name,
                    params,
                    values,  # pyright: ignore[reportArgumentType]
                    avals[0],
                )
            _bounded(node, avals[0])
        if key is not None:
            self._same[key] = node.outputs
        return node.outputs

    def _node(
        self,
        name: str,
        params: Mapping[str, Any],
        operands: Sequence[Value],
        avals: Sequence[Any],
    ) -> Node:
        node = Node(name, params, operands, self._mesh)
        node.outputs = tuple([self._value(aval, node) for aval in avals])
        self.nodes.append(node)
        return node

    def _key(self, eqn: Any, operands: Sequence[Value]) -> Any:
        """What integers are computed from: equal indices are then one value."""
        if len(eqn.outvars) != 1 or eqn.effects or eqn.primitive.name in _DRAWS:
            return None
        dtype = getattr(eqn.outvars[0].aval, "dtype", None)
        if dtype is None or getattr(dtype, "kind", "") not in ("b", "i", "u"):
            return None
        parts = []
        for v in operands:
            if v.constant is not None and v.constant.size == 1 and v.node is None:
                parts.append((v.shape, v.dtype, v.constant.item()))
            else:
                parts.append(v)
        key = (eqn.primitive, tuple(parts), tuple(sorted(eqn.params.items(), key=str)))
        try:
            hash(key)
        except TypeError:
            return None
        return key

    def _stateful(self, eqn: Any, operands: list[Value]) -> Sequence[Value]:
        """An operation on references or the outside, which has no rule.

        It may read all that those before it wrote, and hands on a state to say so.
        """
        before = [] if self._state is None else [self._state]
        name = f"{eqn.primitive.name} with effects"
        node = self._node(
            name, eqn.params, [*operands, *before], [v.aval for v in eqn.outvars]
        )
        self._state = self._value(None, node)
        node.outputs = (*node.outputs, self._state)
        return node.outputs[:-1]

    def _devices(self, eqn: Any, operands: list[Value]) -> Sequence[Value]:
        """A program that every device runs: on parts of the operands, as one."""
        params, jaxpr = eqn.params, eqn.params["jaxpr"]
        jaxpr, consts = getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ())
        outer, same = self._mesh, self._same
        mesh = _of_mesh(params, outer)
        self._mesh, self._same = outer.within(mesh), {}
        parts = []
        for v, x, spec in zip(operands, jaxpr.invars, params["in_specs"], strict=True):
            node = Node(PART, {"spec": spec, "mesh": mesh}, [v], outer)
            node.outputs = (self._value(x.aval, node),)
            self.nodes.append(node)
            parts += node.outputs
            if x.aval.shape == v.shape[outer.rank :]:
                # Every device has all of it.
                parts[-1].constant = v.constant
            parts[-1].bounds = v.bounds
        made = self._added(jaxpr, consts, parts)
        self._mesh, self._same = outer, same
        results = []
        for v, y, spec in zip(made, eqn.outvars, params["out_specs"], strict=True):
            node = self._node(WHOLE, {"spec": spec, "mesh": mesh}, [v], [y.aval])
            results += node.outputs
        return results

    def _choice(self, eqn: Any, operands: list[Value]) -> Sequence[Value]:
        """The branches of a conditional, and operations that choose among results."""
        index, rest = operands[0], operands[1:]
        before = self._state
        branches = [
            self._added(b.jaxpr, b.consts, rest) for b in eqn.params["branches"]
        ]
        results = []
        for variable, *cases in zip(eqn.outvars, *branches, strict=True):
            node = self._node(JOIN, {}, [index, *cases], [variable.aval])
            results.append(node.outputs[0])
        if self._state is not None and self._state is not before:
            # What was written depends on which branch ran.
            node = self._node(JOIN, {}, [index, self._state], [None])
            self._state = node.outputs[0]
        return results


def _same_as(
    name: str, operands: Sequence[Value], aval: Any, skipped: int
) -> Value | None:
    """The operand that an operation on integers yields unchanged, if it is known."""
    first = operands[0] if operands else None
    if first is None or first.dtype is None:
        return None
    if name == "convert_element_type" and first.dtype == aval.dtype:
        return first if getattr(first.dtype, "kind", "") in ("i", "u") else None
    if name == "select_n" and first.bounds is not None:
        low, high = first.bounds
        if low == high and 0 <= low < len(operands) - 1:
            chosen = operands[low + 1]
            return chosen if chosen.shape[skipped:] == aval.shape else None
    return None


def _bounded(node: Node, aval: Any) -> None:
    """Sets what is known of the integers of an operation's only result."""
    made = node.outputs[0]
    if made.constant is not None:
        made.bounds = integer_ranges.of_constant(made.constant)
        return
    made.bounds = integer_ranges.of_result(
        node.name, node.params, [v.bounds for v in node.inputs], aval
    )


def _given(node: Node, which: str) -> Sequence[Value]:
    """What a loop hands to one of its programs in every round, before all else."""
    if which == "jaxpr":
        first, _ = scan_counts(node.params)
        return node.inputs[:first]
    tests = node.params["cond_nconsts"]
    if which == "cond_jaxpr":
        return node.inputs[:tests]
    return node.inputs[tests : tests + node.params["body_nconsts"]]


def _of_rounds(node: Node) -> dict[int, Range]:
    """Bounds of what a scan takes, and of what it carries and adds a constant to.

    Args:
      node: the scan.

    Returns:
      By the number of the input of its body.
    """
    first, count = scan_counts(node.params)
    jaxpr, rounds = node.params["jaxpr"].jaxpr, int(node.params["length"])
    made = {v: e for e in jaxpr.eqns for v in e.outvars}
    found: dict[int, Range] = {}
    for k in range(first + count, len(node.inputs)):
        bounds = node.inputs[k].bounds
        if bounds is not None:
            found[k] = bounds
    for k in range(count):
        start = node.inputs[first + k].bounds
        variable, result = jaxpr.invars[first + k], jaxpr.outvars[k]
        equation = None if isinstance(result, Literal) else made.get(result)
        if start is None or variable.aval.shape:
            continue
        if result is variable:
            found[first + k] = start
        elif equation is not None and equation.primitive.name == "add":
            steps = [x for x in equation.invars if isinstance(x, Literal)]
            if len(steps) == 1 and variable in equation.invars:
                change = int(steps[0].val) * max(rounds - 1, 0)
                low, high = min(0, change), max(0, change)
                bounds = integer_ranges.fitting(
                    (start[0] + low, start[1] + high), np.dtype(variable.aval.dtype)
                )
                if bounds is not None:
                    found[first + k] = bounds
    return found


# That an axis of a mesh is used is an effect for JAX, as is what is printed.
_HARMLESS: Final = frozenset({"NamedAxisEffect", "DebugEffect", "OrderedDebugEffect"})


def _is_stateful(eqn: Any) -> bool:
    """Whether what an operation yields may depend on what others wrote."""
    if any(type(x.aval).__name__ == "AbstractRef" for x in eqn.invars):
        return True
    effects = [e for e in eqn.effects if type(e).__name__ not in _HARMLESS]
    name = eqn.primitive.name
    if name in LOOPS:
        return bool(effects)
    return bool(effects) and find(name) is None and name not in COLLECTIVES


def _of_mesh(params: Mapping[str, Any], outer: Mesh) -> Mesh:
    """The axes that a program within ``shard_map`` is written device by device over.

    Without those over which the program around it is already.
    """
    mesh = params["mesh"]
    manual = params.get("newly_manual_axes", params.get("manual_axes", mesh.axis_names))
    names = tuple(n for n in mesh.axis_names if n in manual and n not in outer.names)
    return Mesh(names, tuple(mesh.shape[n] for n in names))
