"""Writes the stub of `xlaops.builder` for editors and type checkers.

python -m xlaops.builder.stub          # writes it beside this file
python -m xlaops.builder.stub --check  # exit code 1 if it is not up to date
"""

import ast
import importlib
import inspect
import operator
import pathlib
import sys
import textwrap
import typing
from collections.abc import Callable, Iterator
from typing import Any

from .. import types
from . import facade

PATH = pathlib.Path(__file__).with_name("__init__.pyi")

_HEADER = """\
# Written by `python -m xlaops.builder.stub` from the catalog and the operations.
# fmt: off
from collections.abc import Callable as Callable
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from typing import Any as Any
from typing import NoReturn as NoReturn
from typing import overload as overload

from .. import types as _types
from ..core.typing import *
from .graph import AddDependency as AddDependency
from .graph import Operand as Operand
from .graph import Parameter as Parameter
from .graph import ProgramShape as ProgramShape
from .graph import XlaBuilder as XlaBuilder
from .graph import XlaComputation as XlaComputation
from .graph import XlaOp as XlaOp
"""


def text() -> str:
    """The text of the stub."""
    parts = [_HEADER]
    for name, record in sorted(facade.records().items()):
        target = operator.attrgetter(record.function)(importlib.import_module("xlaops"))
        summary = (inspect.getdoc(target) or "").partition("\n")[0]
        for definition in _definitions(target):
            parameters = _parameters(definition, facade.renamed(record, target))
            returns = "NoReturn" if record.status == "hlo-only" else "XlaOp"
            for form in (parameters, f"builder: XlaBuilder, {parameters}"):
                form = form.removesuffix(", ")  # of an operation without parameters
                raw = "r" if "\\" in summary else ""
                body = f'    {raw}"""{summary} (`xlaops.{record.function}`)"""'
                parts.append(f"@overload\ndef {name}({form}) -> {returns}:\n{body}\n")
    return "\n".join(parts)


def _definitions(target: Callable[..., Any]) -> Iterator[ast.FunctionDef]:
    """The definitions of a function: its overloads, or itself."""
    for function in typing.get_overloads(target) or [inspect.unwrap(target)]:
        source = textwrap.dedent(inspect.getsource(function))
        (definition,) = ast.parse(source).body
        assert isinstance(definition, ast.FunctionDef)
        yield definition


class _Operands(ast.NodeTransformer):
    """Array arguments become values of the builder, type variables anything."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ("ArrayLike", "BoundedArray", "Future", "Token"):
            return ast.Name("Operand")
        if node.id in types.__all__:
            # `Transpose` is a type, and a function here.
            return ast.Attribute(ast.Name("_types"), node.id)
        # Type variables only relate pytrees that a builder has no types for.
        return ast.Name("Any") if len(node.id) == 1 else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if ast.unparse(left) == ast.unparse(right):
            return left
        return ast.BinOp(left, node.op, right)


def _parameters(definition: ast.FunctionDef, renamed: dict[str, str]) -> str:
    """The parameters as text, under the names that the document has for them."""
    names = {actual: wanted for wanted, actual in renamed.items()}
    arguments = definition.args
    for argument in (*arguments.args, *arguments.kwonlyargs):
        argument.arg = names.get(argument.arg, argument.arg)
        if argument.annotation is not None:
            argument.annotation = _Operands().visit(argument.annotation)
    return ast.unparse(arguments)


def main(arguments: list[str]) -> int:
    """Writes or checks the stub; returns the exit code."""
    if arguments == ["--check"]:
        if PATH.read_text(encoding="utf-8") == text():
            return 0
        print(f"{PATH.name} is not up to date: run python -m xlaops.builder.stub")
        return 1
    PATH.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
