"""Reads the multi-device tests in a checkout of StableHLO.

They are modules of which the function ``main`` runs others as processes of a grid of
replicas and partitions, and says what these must return:

    %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@f], [@f]]} : ...
    check.expect_eq_const %results#0, dense<[1, 2]> : tensor<2xi64>

MLIR parses them, but neither these two dialects nor all operations of a checkout that
is newer than JAX: what is under test is read as if of a dialect that nobody knows.
"""

import dataclasses
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jax.extend.mlir import ir  # noqa: TID251
from jax.extend.mlir.dialects import stablehlo  # noqa: TID251
from jax.interpreters import mlir  # noqa: TID251

FOLDER = pathlib.PurePath("stablehlo", "tests", "interpret")
# A value that is a token; what it orders is the business of who runs the process.
TOKEN = object()

_UNKNOWN = "suite."
_RUN = "interpreter.run_parallel"
_CHECK = re.compile(
    r"check\.expect_eq_const\s+(%[\w#]+)\s*,\s*(dense<.*?>)\s*:\s*(tensor<[^>]*>)",
    re.DOTALL,
)
_DTYPES = {
    "i1": np.bool_,
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
}


@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation of a function; values are numbers.

    Attributes:
      name: without the name of the dialect if that is StableHLO's.
      operands: the values it takes.
      results: the values it gives.
      types: a shape and an element type for each result; None for a token.
      attributes: as what Python has for them.
      region: its computation, or None.
    """

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[tuple[tuple[int, ...], np.dtype] | None, ...]
    attributes: Mapping[str, Any]
    region: "Function | None"


@dataclasses.dataclass(frozen=True)
class Function:
    """Operations in their order; the last one returns."""

    arguments: tuple[int, ...]
    body: tuple[Operation, ...]


@dataclasses.dataclass(frozen=True)
class Case:
    """A run of processes, and what they must return.

    Attributes:
      functions: those of the module, by name.
      grid: a row for each replica, of the name of a function for each partition.
      inputs: the arrays and tokens of all processes, one process after the other.
      infeed: names of functions, each of which returns an item that is fed in.
      expected: positions among the results of all processes, and the arrays there.
    """

    functions: Mapping[str, Function]
    grid: tuple[tuple[str, ...], ...]
    inputs: tuple[Any, ...]
    infeed: tuple[str, ...]
    expected: tuple[tuple[int, np.ndarray], ...]

    @property
    def processes(self) -> tuple[str, ...]:
        """The functions of all processes, row after row."""
        return tuple(name for row in self.grid for name in row)


def evaluate(
    function: Function,
    arguments: Sequence[Any],
    call: Callable[..., Sequence[Any]],
) -> list[Any]:
    """What a function returns.

    Args:
      function: of constants and operations.
      arguments: its arguments.
      call: ``call(operation, *operands)`` gives the results of any other operation.
    """
    values = dict(zip(function.arguments, arguments, strict=True))
    for operation in function.body:
        operands = [values[i] for i in operation.operands]
        if operation.name in ("return", "func.return"):
            return operands
        if operation.name == "constant":
            results = [operation.attributes["value"]]
        else:
            results = call(operation, *operands)
        values.update(zip(operation.results, results, strict=True))
    raise ValueError("a function must end with a return")


def modules(text: str) -> dict[str, str]:
    """The modules of a file that run processes, by name."""
    parts = re.split(r"^// -----\s*$", text, flags=re.MULTILINE)
    result = {}
    for i, part in enumerate(parts):
        if f'"{_RUN}"' in part:
            found = re.search(r"^module @(\w+)", part, flags=re.MULTILINE)
            name = found[1] if found else f"module_{i}"
            if name in result:
                raise ValueError(f"two modules are called {name}")
            result[name] = part
    return result


def read(module: str) -> Case:
    """The run of processes in a module."""
    functions = _functions(module)
    runs: list[dict[str, Any]] = []
    expected: list[tuple[int, np.ndarray]] = []

    def call(operation: Operation, *operands: Any) -> Sequence[Any]:
        if operation.name == _RUN:
            runs.append({"inputs": operands, **operation.attributes})
            return range(len(operation.results))
        if operation.name == "check.expect_eq_const":
            expected.append((operands[0], operation.attributes["value"]))
            return ()
        if operation.name == "after_all":
            return [TOKEN]
        raise ValueError(f"main must run and check, got {operation.name}")

    evaluate(functions["main"], (), call)
    (run,) = runs
    unknown = set(run) - {"inputs", "programs", "infeed"}
    if unknown:
        raise ValueError(f"a run must have no attributes but these, got {unknown}")
    return Case(
        functions,
        tuple(tuple(row) for row in run["programs"]),
        run["inputs"],
        tuple(run.get("infeed", ())),
        tuple(expected),
    )


def _functions(module: str) -> dict[str, Function]:
    text = module.replace('"stablehlo.', f'"{_UNKNOWN}')
    text = _CHECK.sub(
        r'"check.expect_eq_const"(\1) {value = \2 : \3} : (\3) -> ()', text
    )
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        body = ir.Module.parse(text).body
        return {_name_of(f): _function(f.regions[0]) for f in body.operations}


def _name_of(function: Any) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _function(region: Any) -> Function:
    (block,) = region.blocks
    numbers: dict[Any, int] = {}

    def numbered(values: Any) -> tuple[int, ...]:
        return tuple(numbers.setdefault(value, len(numbers)) for value in values)

    arguments = numbered(block.arguments)
    return Function(arguments, tuple(_operation(op, numbered) for op in block))


def _operation(op: Any, numbered: Callable[[Any], tuple[int, ...]]) -> Operation:
    op = op.operation
    # jax 0.10 gives the attributes, that of 0.12 their names.
    names = [getattr(named, "name", named) for named in op.attributes]
    return Operation(
        op.name.removeprefix("stablehlo.").removeprefix(_UNKNOWN),
        numbered(op.operands),
        numbered(op.results),
        tuple(_type(result.type) for result in op.results),
        {name: _attribute(op.attributes[name]) for name in names},
        _function(op.regions[0]) if len(op.regions) else None,
    )


def _type(kind: ir.Type) -> tuple[tuple[int, ...], np.dtype] | None:
    if str(kind) == "!stablehlo.token":
        return None
    shaped = ir.ShapedType(kind)
    return tuple(shaped.shape), np.dtype(_DTYPES[str(shaped.element_type)])


def _attribute(value: Any) -> Any:
    if isinstance(value, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        shape, dtype = _type(value.type) or ((), None)
        return np.array(list(value), dtype).reshape(shape)
    if isinstance(value, ir.ArrayAttr):
        return [_attribute(element) for element in value]
    if isinstance(value, (ir.FlatSymbolRefAttr, ir.IntegerAttr, ir.BoolAttr)):
        return value.value
    if isinstance(value, ir.UnitAttr):
        return True
    if stablehlo.ChannelHandle.isinstance(value):
        # The suite writes types that its own document does not allow there.
        return stablehlo.ChannelHandle(value).handle
    raise ValueError(f"an attribute must be of a known kind, got {value}")
