"""The command ``xlaops index``."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from ..types import Shape
from .analysis import Analysis, Selector, analyze
from .map_sets import Maps
from .plotting import plot
from .reads import utilization
from .receptive import receptive_field
from .sparsity_pattern import sparsity


class _UsageError(Exception):
    """Something that the user should be told in one line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``xlaops index``.

    Args:
      parser: of this command.
    """
    parser.description = (
        "Prints which elements of a JAX function's arguments each element of its "
        "results depends on, as XLA's indexing maps. The function is traced; nothing "
        "is computed."
    )
    parser.add_argument(
        "--python",
        required=True,
        metavar="MODULE:FUNCTION",
        help="the function; modules in the current folder are found",
    )
    parser.add_argument(
        "--shapes",
        nargs="*",
        default=[],
        metavar="SHAPE",
        help='of its arguments, as XLA writes them: "f32[8,128]", "s32[]", '
        '"(f32[2], f32[3])" for a tuple',
    )
    parser.add_argument(
        "--output", type=_selector, metavar="WHICH", help="only this result"
    )
    parser.add_argument(
        "--input", type=_selector, metavar="WHICH", help="only this argument"
    )
    parser.add_argument(
        "--input-to-output",
        action="store_true",
        help="maps from elements of arguments to those of results",
    )
    parser.add_argument(
        "--derivative",
        action="store_true",
        help="only the dependence that a derivative can have",
    )
    parser.add_argument(
        "--pretty", action="store_true", help="print maps as XLA's document does"
    )
    # They print other things: none of them should be asked for in vain.
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print the maps as JSON")
    parser.add_argument(
        "--element",
        type=_index,
        metavar="I,J,...",
        help="say what this element of the result sees; the one that --plot marks",
    )
    printed.add_argument(
        "--sparsity",
        type=int,
        nargs="?",
        const=0,
        metavar="ARGNUM",
        help="describe the pattern of the Jacobian by an argument (the first one)",
    )
    printed.add_argument(
        "--utilization",
        action="store_true",
        help="say how much of each argument is read, and how often",
    )
    parser.add_argument(
        "--plot",
        metavar="PATH",
        help="write a picture, of the Jacobian's pattern with --sparsity; the ending "
        "says the format (.png, .svg, ...)",
    )


def _selector(text: str) -> Selector:
    try:
        return int(text)
    except ValueError:
        return text


def _index(text: str) -> tuple[int, ...]:
    return tuple([int(part) for part in text.split(",") if part.strip()])


_index.__name__ = "index"  # what argparse calls it in its messages


def run(options: argparse.Namespace) -> int:
    """Runs the command.

    Args:
      options: those that `add_arguments` adds.

    Returns:
      The exit code: 0, or 1 if something is missing or wrong.
    """
    try:
        function = _function(options.python)
        arguments = [_argument(text) for text in options.shapes]
        return _run(options, function, arguments)
    except (_UsageError, ImportError, ValueError, TypeError, OSError) as error:
        print(f"xlaops index: {error}", file=sys.stderr)
        return 1


def _function(text: str) -> Callable[..., Any]:
    """The function that a text names."""
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise _UsageError(f"--python must be MODULE:FUNCTION, got {text!r}")
    # As `python -m` does, which an installed program does not.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise _UsageError(f"--python: there is no module {error.name!r}") from error
        raise
    for part in name.split("."):
        if not hasattr(found, part):
            raise _UsageError(f"--python: {module!r} has no {name!r}")
        found = getattr(found, part)
    if not callable(found):
        raise _UsageError(f"--python must name a function, got {text!r}")
    return found


def _argument(text: str) -> Any:
    return Shape.coerce(text).to_struct()


def _run(
    options: argparse.Namespace, function: Callable[..., Any], arguments: list[Any]
) -> int:
    try:
        analysis = analyze(function, *arguments, derivative=options.derivative)
    except Exception as error:
        # Of the function, not of this program: what it raises can be anything.
        shown = str(error).partition("\n")[0]
        raise _UsageError(
            f"{options.python} cannot be traced with these shapes: "
            f"{type(error).__name__}: {shown}"
        ) from error
    output = 0 if options.output is None else options.output
    read = 0 if options.input is None else options.input
    if options.sparsity is not None:
        pattern = sparsity(function, *arguments, argnums=options.sparsity)
        print(pattern)
        print(pattern.coloring("forward"))
        print(pattern.coloring("reverse"))
        if options.plot:
            plot(pattern, options.plot)
        return 0
    if options.json:
        print(json.dumps(_as_json(analysis, options), indent=1))
    elif options.utilization:
        for one in utilization(analysis, output=options.output):
            print(one)
    elif options.element is not None:
        field = receptive_field(
            analysis, index=options.element, output=output, input=read
        )
        print(field)
    else:
        for line in _lines(analysis, options):
            print(line)
    if options.plot:
        plot(analysis, options.plot, element=options.element, output=output, input=read)
    return 0


def _chosen(
    analysis: Analysis, options: argparse.Namespace
) -> list[tuple[str, str, Maps]]:
    """The names of results and arguments that are asked for, and their maps."""
    outputs = list(zip(analysis.output_names, analysis.outputs, strict=True))
    inputs = list(zip(analysis.input_names, analysis.inputs, strict=True))
    if options.output is not None:
        chosen = analysis.output(options.output)
        outputs = [(n, v) for n, v in outputs if v is chosen] or [
            (str(options.output), chosen)
        ]
    if options.input is not None:
        chosen = analysis.input(options.input)
        inputs = [(n, v) for n, v in inputs if v is chosen] or [
            (str(options.input), chosen)
        ]
    found = []
    for name, made in outputs:
        for other, read in inputs:
            if options.input_to_output:
                found.append((other, name, analysis.input_to_output(read, made)))
            else:
                found.append((name, other, analysis.output_to_input(made, read)))
    return found


def _lines(analysis: Analysis, options: argparse.Namespace) -> list[str]:
    arrow = "->" if options.input_to_output else "<-"
    lines = []
    for name, other, maps in _chosen(analysis, options):
        lines.append(f"{name} {arrow} {other}:" + ("" if maps else " nothing"))
        for one in maps:
            text = one.pretty() if options.pretty else str(one)
            lines += [f"  {line}" for line in text.splitlines()]
            lines += [f"    more than needed: {reason}" for reason in one.reasons]
    for primitive, count in sorted(analysis.undefined.items()):
        lines.append(f"no rule: {primitive} ({count} times)")
    if analysis.widened:
        lines.append(f"widened sets: {analysis.widened}")
    return lines


def _as_json(analysis: Analysis, options: argparse.Namespace) -> dict[str, Any]:
    direction = "input_to_output" if options.input_to_output else "output_to_input"
    maps = [
        {
            "from": name,
            "to": other,
            "maps": [
                {"map": str(one), "exact": one.exact, "reasons": list(one.reasons)}
                for one in found
            ],
        }
        for name, other, found in _chosen(analysis, options)
    ]
    return {
        "direction": direction,
        "dependences": maps,
        "undefined": analysis.undefined,
        "widened": analysis.widened,
    }
