"""The CamelCase functions, made from the catalog.

Nothing is listed here: a row of the catalog that has a function appears by itself.
"""

import functools
import importlib
import inspect
import operator
import re
from collections.abc import Callable
from typing import Any, NoReturn

from .. import catalog
from ..core import checks
from .graph import XlaBuilder, XlaOp, _operands, current_builder

# XlaBuilder's own spelling of "Conv" and "ConcatInDim" in examples of the document.
ALIASES = {"Concatenate": "ConcatInDim"}


@functools.cache
def records() -> dict[str, catalog.Record]:
    """For each CamelCase name the first record that has an operation of the package.

    Those of operations that only the compiler makes are among them: their functions
    raise an error that names what stands for them.
    """
    found: dict[str, catalog.Record] = {}
    for record in catalog.RECORDS:
        if record.function and "." not in record.function:
            found.setdefault(record.name, record)
    for alias, name in ALIASES.items():
        found[alias] = found[name]
    return found


@functools.cache
def function(name: str) -> Callable[..., XlaOp]:
    """The function that adds the operation of that XlaBuilder name to a builder."""
    record = records()[name]
    target = operator.attrgetter(record.function)(importlib.import_module("xlaops"))
    if record.status == "hlo-only":
        return _refusing(name, target, len(record.parameters))
    names = renamed(record, target)
    evaluate = _evaluated(record, target)

    @functools.wraps(target)
    def add(*args: Any, **kwargs: Any) -> XlaOp:
        builder = kwargs.pop("builder", None)
        if args and isinstance(args[0], XlaBuilder):
            builder, args = args[0], args[1:]
        kwargs = {names.get(key, key): value for key, value in kwargs.items()}
        keys = tuple(kwargs)
        arguments = (*args, *kwargs.values())
        count = len(args)

        def run(*values: Any) -> Any:
            named = dict(zip(keys, values[count:], strict=True))
            return evaluate(*values[:count], **named)

        return _builder_of(name, builder, arguments)._add(run, arguments)

    _named(
        add,
        name,
        f"Adds `xlaops.{record.function}` to the builder of its operands.\n\n"
        f"A builder may be given as a first argument. What it computes:\n\n"
        f"{inspect.getdoc(target)}",
    )
    return add


def _evaluated(
    record: catalog.Record, target: Callable[..., Any]
) -> Callable[..., Any]:
    """What an operation gives in a builder, whose values have shapes and no classes.

    The future of a collective is there what it holds. A constant whose name says its
    rank has that rank.
    """
    rank = re.match(r"ConstantR(\d)", record.name)
    if rank:
        return functools.partial(_constant, record, int(rank[1]), target)
    if record.family == "collectives" and record.name.endswith("Start"):
        return lambda *args, **kwargs: target(*args, **kwargs).value
    if record.family == "collectives" and record.name.endswith("Done"):
        return lambda context: context
    return target


def _constant(
    record: catalog.Record, rank: int, constant: Callable[[Any], Any], literal: Any
) -> Any:
    value = constant(literal)
    if value.ndim != rank:
        raise TypeError(
            f"{record.name}: {record.parameters[0]} must be of rank {rank}, got one of "
            f"shape {value.shape}"
        )
    return value


def _refusing(
    name: str, target: Callable[..., NoReturn], count: int
) -> Callable[..., NoReturn]:
    """The function of an operation that only the compiler makes."""

    @functools.wraps(target)
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        # Whatever the arguments are: there is nothing that they could be right for.
        target(*(None,) * count)

    _named(refuse, name, inspect.getdoc(target) or "")
    return refuse


def _named(function: Callable[..., Any], name: str, doc: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "xlaops.builder"
    function.__doc__ = doc


def renamed(record: catalog.Record, target: Callable[..., Any]) -> dict[str, str]:
    """The document's parameter names that the function has under another name."""
    parameters = inspect.signature(target).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        # Of several forms, which find their arguments by the names of the document.
        return {}
    return {
        wanted: actual
        for wanted, actual in zip(record.parameters, parameters, strict=False)
        if wanted not in parameters
    }


def _builder_of(name: str, builder: Any, arguments: tuple[Any, ...]) -> XlaBuilder:
    if builder is not None and not isinstance(builder, XlaBuilder):
        raise TypeError(
            f"{name}: builder must be an XlaBuilder, got {checks.describe(builder)}"
        )
    for op in _operands(arguments):
        builder = builder or op.builder
        if op.builder is not builder:
            raise ValueError(
                f"{name}: operands must be of one builder, got one of "
                f"{builder.name!r} and one of {op.builder.name!r}"
            )
    builder = builder or current_builder()
    if builder is None:
        raise TypeError(
            f"{name}: builder must be given first, as no operand is an XlaOp, "
            f"or be that of a with block"
        )
    return builder
