"""What all benchmarks share: options, progress, tables, and the same as JSON."""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO, TypeVar

import jax

T = TypeVar("T")


@dataclasses.dataclass
class Table:
    """Rows of equal keys, which are the headings.

    Attributes:
      title: what stands above.
      rows: values by heading; None is written as a dash.
      notes: lines that stand below.
    """

    title: str
    rows: list[dict[str, Any]]
    notes: list[str] = dataclasses.field(default_factory=list)

    def text(self) -> str:
        """The table with columns aligned: numbers to the right, text to the left."""
        lines = [self.title, "-" * len(self.title)]
        if self.rows:
            lines += _aligned(self.rows)
        return "\n".join([*lines, *self.notes])


def _aligned(rows: Sequence[dict[str, Any]]) -> list[str]:
    headings = list(rows[0])
    cells = [[_cell(row[heading]) for heading in headings] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    right = [
        all(isinstance(row[h], (int, float, type(None))) for row in rows)
        for h in headings
    ]
    return [
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in [headings, *cells]
    ]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.1g}"
    return str(value)


@dataclasses.dataclass
class Report:
    """The result of one benchmark.

    Attributes:
      benchmark: its name.
      tables: in the order they are printed.
      summary: figures by name, of which a reader should know.
    """

    benchmark: str
    tables: list[Table] = dataclasses.field(default_factory=list)
    summary: dict[str, Any] = dataclasses.field(default_factory=dict)
    environment: dict[str, Any] = dataclasses.field(
        default_factory=lambda: environment()
    )

    def text(self) -> str:
        """All of it for a reader."""
        of_the_machine = ", ".join(f"{k} {v}" for k, v in self.environment.items())
        parts = [f"{self.benchmark}: {of_the_machine}"]
        parts += [table.text() for table in self.tables]
        if self.summary:
            width = max(map(len, self.summary))
            lines = [f"{k.ljust(width)}  {_cell(v)}" for k, v in self.summary.items()]
            parts.append("\n".join(["Summary", "-------", *lines]))
        return "\n\n".join(parts)

    def json(self) -> str:
        """All of it for a program."""
        return json.dumps(dataclasses.asdict(self), indent=1)


def environment() -> dict[str, Any]:
    """What the figures depend on."""
    return {
        "python": platform.python_version(),
        "jax": jax.__version__,
        "platform": jax.default_backend(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def parser(benchmark: str, description: str) -> argparse.ArgumentParser:
    """A parser with the options of every benchmark."""
    result = argparse.ArgumentParser(
        prog=f"run.py {benchmark}", description=description
    )
    result.add_argument("--only", metavar="WORD", help="cases with WORD in their name")
    result.add_argument(
        "--json", metavar="FILE", help="also as JSON; - for the standard output"
    )
    result.add_argument("--repeat", metavar="N", type=int, help="rounds of measurement")
    return result


def publish(report: Report, json_file: str | None) -> None:
    """Prints the tables, and writes the JSON where it is asked for.

    JSON on the standard output is alone there: the tables go to the standard error.
    """
    out: TextIO = sys.stderr if json_file == "-" else sys.stdout
    print(report.text(), file=out)
    if json_file == "-":
        print(report.json())
    elif json_file:
        pathlib.Path(json_file).write_text(report.json() + "\n", encoding="utf-8")


def progress(label: str, items: Sequence[T]) -> Iterable[T]:
    """The items, with a line on the terminal that says how far it is."""
    if not sys.stderr.isatty():
        return items
    return _with_progress(label, items)


def _with_progress(label: str, items: Sequence[T]) -> Iterator[T]:
    for i, item in enumerate(items, 1):
        print(f"\r{label} {i}/{len(items)}", end="", file=sys.stderr, flush=True)
        yield item
    print("\r\033[K", end="", file=sys.stderr, flush=True)
