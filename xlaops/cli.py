"""The command line: ``xlaops ops``, ``index``, ``doctor``, ``demo``."""

import argparse
import collections
import dataclasses
import difflib
import importlib.metadata
import json
import os
import re
import sys
import textwrap
import typing
from collections.abc import Iterable, Sequence

from . import catalog

_WIDTH = 100
_GAP = "  "
# The signature column takes what the others leave.
_CAPS = {"xlaops": 24, "status": 11, "StableHLO": 18, "lax": 16}
_BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ended


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
      argv: arguments without the program's name; those of the process unless given.

    Returns:
      The exit code.

    Raises:
      SystemExit: argparse's way out, for ``--help``, ``--version`` and wrong arguments.

    >>> main(["ops", "rng_normal"])
    xlaops      XlaBuilder                   status       StableHLO  lax
    rng_normal  RngNormal(mu, sigma, shape)  implemented  rng        -
    <BLANKLINE>
    1 row: 1 implemented
    0
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    options = _parser(arguments[0] if arguments else "").parse_args(arguments)
    try:
        code = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has left, as `head` does. What is still buffered must go somewhere,
        # or the interpreter complains while it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return code


def _parser(command: str) -> argparse.ArgumentParser:
    """The parser; arguments of commands that load much only where they are needed."""
    parser = argparse.ArgumentParser(
        prog="xlaops", description="Operations that XLA documents, as JAX functions."
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    ops = commands.add_parser(
        "ops",
        help="list the operations and what stands for them",
        description="Lists XLA's operations, with the function of this package, the "
        "StableHLO operation and the nearest jax.lax function of each.",
    )
    ops.add_argument(
        "word",
        nargs="?",
        default="",
        metavar="WORD",
        help="part of a name, in XlaBuilder, xlaops, StableHLO or jax.lax",
    )
    ops.add_argument(
        "--status", choices=typing.get_args(catalog.Status), help="only this status"
    )
    ops.add_argument(
        "--family",
        choices=sorted({record.family for record in catalog.RECORDS}),
        metavar="FAMILY",
        help="only this family, one of %(choices)s",
    )
    ops.add_argument(
        "--notes", action="store_true", help="say how each differs from jax.lax"
    )
    ops.add_argument("--json", action="store_true", help="print the records as JSON")
    ops.set_defaults(run=_ops)

    doctor = commands.add_parser(
        "doctor",
        help="say whether C++ and CUDA can be compiled here, and what is missing",
        description="Reports what xlaops.ffi finds: compilers, versions of XLA's FFI "
        "API, handlers and the cache. The exit code is 1 if handlers cannot be "
        "compiled.",
    )
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    doctor.set_defaults(run=_doctor)

    index = commands.add_parser(
        "index", help="print which elements of its arguments a JAX function reads"
    )
    if command == "index":
        # Here and not above: listing operations should not load what the others need.
        from .indexing.command_line import add_arguments, run

        add_arguments(index)
        index.set_defaults(run=run)

    demo = commands.add_parser(
        "demo", help="train a small network made of these operations"
    )
    if command == "demo":
        from .demo.cli import add_arguments, run

        add_arguments(demo)
        demo.set_defaults(run=run)
    return parser


def _version() -> str:
    versions = []
    for package in ("xlaops", "jax", "jaxlib"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} (not installed)")
    return ", ".join(versions)


def _ops(options: argparse.Namespace) -> int:
    found = catalog.find(options.word)
    records = [
        record
        for record in found
        if options.status in (None, record.status)
        and options.family in (None, record.family)
    ]
    if not records:
        print(_nothing(options, found), file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps([dataclasses.asdict(r) for r in records], indent=1))
        return 0
    for line in _table(records, options.notes):
        print(line)
    statuses = collections.Counter(record.status for record in records)
    print(
        f"\n{_rows(len(records))}: "
        + ", ".join(
            f"{statuses[status]} {status}"
            for status in typing.get_args(catalog.Status)
            if statuses[status]
        )
    )
    return 0


def _doctor(options: argparse.Namespace) -> int:
    # Here and not above: the other commands do without JAX.
    from . import ffi

    diagnosis = ffi.doctor()
    if options.json:
        print(json.dumps(dataclasses.asdict(diagnosis), indent=1))
    else:
        print(diagnosis)
    return 1 if diagnosis.problems else 0


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _nothing(options: argparse.Namespace, found: Sequence[catalog.Record]) -> str:
    """What to say when no record is left."""
    filters = " and ".join(
        f"{name} {value}"
        for name, value in (("status", options.status), ("family", options.family))
        if value
    )
    if found:
        matched = f"{options.word!r} matches" if options.word else "there are"
        return f"xlaops: {matched} {_rows(len(found))}, none of {filters}"
    # Closeness is a matter of letters: upper case and the words' joints are left out.
    names: dict[str, str] = {}
    for record in catalog.RECORDS:
        for name in (record.name, record.function):
            names.setdefault(_letters(name.rpartition(".")[2]), record.name)
    # Behind them what others call it, which is often one name for many operations.
    for record in catalog.RECORDS:
        for name in (*record.stablehlo, *record.lax):
            names.setdefault(_letters(name.rpartition(".")[2]), record.name)
    close = difflib.get_close_matches(_letters(options.word), names, n=4, cutoff=0.65)
    suggestions = dict.fromkeys(names[match] for match in close)
    message = f"xlaops: no operation matches {options.word!r}"
    if suggestions:
        return f"{message}; close are {', '.join(suggestions)}"
    return f"{message}; `xlaops ops` lists all of them"


def _letters(name: str) -> str:
    return name.replace("_", "").casefold()


def _table(records: Sequence[catalog.Record], notes: bool) -> Iterable[str]:
    """The lines of a table that is at most `_WIDTH` columns wide."""
    header = ("xlaops", "XlaBuilder", "status", "StableHLO", "lax")
    cells = [
        (
            record.function or "-",
            record.signature,
            record.status,
            ", ".join(o.removeprefix("stablehlo.") for o in record.stablehlo) or "-",
            ", ".join(record.lax) or "-",
        )
        for record in records
    ]
    widths = [
        min(max(map(len, column)), _CAPS.get(column[0], _WIDTH))
        for column in zip(header, *cells, strict=True)
    ]
    rest = _WIDTH - len(_GAP) * (len(header) - 1)
    widths[1] = min(widths[1], rest - (sum(widths) - widths[1]))

    yield from _lines(header, widths)
    for record, row in zip(records, cells, strict=True):
        yield from _lines(row, widths)
        if notes and record.note:
            indent = "    "
            yield from textwrap.wrap(
                record.note,
                _WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
                break_on_hyphens=False,
            )


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    """One row of the table, over as many lines as its longest cell needs."""
    columns = [_wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    for i in range(max(map(len, columns))):
        line = _GAP.join(
            (column[i] if i < len(column) else "").ljust(width)
            for column, width in zip(columns, widths, strict=True)
        )
        yield line.rstrip()


def _wrap(text: str, width: int) -> list[str]:
    """Breaks a cell behind spaces and parentheses, and names at their joints."""
    lines = [""]
    for part in re.findall(r"[^ (]*[ (]|[^ (]+", text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        while len(part.rstrip()) > width:
            joints = [m.end() for m in re.finditer(r"[_.]|[a-z](?=[A-Z])", part)]
            cut = max((joint for joint in joints if joint <= width), default=width)
            lines[-1] = part[:cut]
            lines.append("")
            part = part[cut:]
        lines[-1] += part
    return [line.rstrip() for line in lines]
