"""What the operations cost beside jax.lax: in programs, eager calls and import."""

import collections
import functools
import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import report
import timing
from overhead_cases import CASES, EXCEPTIONS, Case, lowered, lowered_by_lax

PARTS = ("lowering", "eager", "import")

# What the project holds itself to.
FASTER_THAN_LAX = 2.0
SLOWER_THAN_JNP = 1.1
IMPORT_PERCENT = 10.0


def main(arguments: Sequence[str]) -> int:
    parser = report.parser("overhead", __doc__)
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=PARTS,
        help="what to measure; everything by default",
    )
    options = parser.parse_args(arguments)
    cases = [case for case in CASES if (options.only or "") in case.name]
    if not cases:
        parser.error(f"no case has {options.only!r} in its name")
    result = report.Report("overhead")
    if "lowering" in options.parts:
        compare_programs(result, cases)
    if "eager" in options.parts:
        time_calls(result, cases, rounds=options.repeat or 100)
    if "import" in options.parts and not options.only:
        time_import(result, rounds=options.repeat or 9)
    report.publish(result, options.json)
    return 0


def compare_programs(result: report.Report, cases: Sequence[Case]) -> None:
    """Adds the table of programs that differ from those of jax.lax."""
    equal = 0
    rows = []
    for case in report.progress("lowering", cases):
        operands = case.arrays()
        ours = lowered(case.ours, operands)
        of_lax = lowered_by_lax(case, operands)
        equal += ours == of_lax
        expected = EXCEPTIONS.get(case.name)
        if ours != of_lax or expected:
            rows.append(
                {
                    "case": case.name,
                    "difference": difference(ours, of_lax),
                    "reason": expected or "UNEXPECTED",
                }
            )
    result.tables.append(
        report.Table(f"Programs: {equal} of {len(cases)} are those of jax.lax", rows)
    )
    result.summary["programs compared"] = len(cases)
    result.summary["programs equal"] = equal
    result.summary["unexpected differences"] = sum(
        row["reason"] == "UNEXPECTED" for row in rows
    )


def difference(ours: str, of_lax: str | None) -> str:
    """Which operations one program has more than the other, in short."""
    if of_lax is None:
        return "jax.lax refuses the call"
    if ours == of_lax:
        return "none"
    more, less = (
        collections.Counter(re.findall(r"\b(?:stablehlo|chlo|mhlo|func)\.(\w+)", text))
        for text in (ours, of_lax)
    )
    changes = [f"+{n} {name}" for name, n in sorted((more - less).items())]
    changes += [f"-{n} {name}" for name, n in sorted((less - more).items())]
    if changes:
        return ", ".join(changes)
    lines = zip(ours.splitlines(), of_lax.splitlines(), strict=False)
    return next(f"{a.strip()} | {b.strip()}" for a, b in lines if a != b)


def time_calls(result: report.Report, cases: Sequence[Case], rounds: int) -> None:
    """Adds the table of eager calls."""
    rows = [_time_case(case, rounds) for case in report.progress("eager calls", cases)]
    result.tables.append(
        report.Table(
            "Eager calls, microseconds",
            rows,
            [
                "",
                f"Best of {rounds} interleaved batches (fewer of slow calls).",
                "lax/ours above 1: faster than jax.lax; ours/jnp below 1: faster than "
                "jax.numpy.",
            ],
        )
    )
    _summarize(result, cases, rows)


def _time_case(case: Case, rounds: int) -> dict[str, Any]:
    operands = case.arrays()
    functions: dict[str, Callable[..., Any]] = {"ours": case.ours}
    if lowered_by_lax(case, operands) is not None:
        functions["lax"] = case.lax
    if not isinstance(case.jnp, str):
        functions["jnp"] = case.jnp
    calls = {
        name: functools.partial(_from_python(function, len(operands)), *operands)
        for name, function in functions.items()
    }
    timings = dict(
        zip(calls, timing.interleaved(list(calls.values()), rounds=rounds), strict=True)
    )
    best = {name: 1e6 * t.best for name, t in timings.items()}
    return {
        "case": case.name,
        **{name: best.get(name) for name in ("ours", "lax", "jnp")},
        "lax/ours": best["lax"] / best["ours"] if "lax" in best else None,
        "ours/jnp": best["ours"] / best["jnp"] if "jnp" in best else None,
    }


def _from_python(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function as a program calls it: from a function of Python.

    Many cases need a lambda to pass keywords or a scalar. Its frame costs what the
    tenth of a call costs, so all that are compared get one.
    """
    if getattr(function, "__name__", "") == "<lambda>":
        return function
    match count:
        case 1:
            return lambda x: function(x)
        case 2:
            return lambda x, y: function(x, y)
        case _:
            return lambda *operands: function(*operands)


def _summarize(
    result: report.Report, cases: Sequence[Case], rows: list[dict[str, Any]]
) -> None:
    # An operation with many cases is to count no more than one with a single case.
    first = {}
    for case, row in zip(cases, rows, strict=True):
        first.setdefault(case.function, row)
    summary = result.summary
    for heading, worst in (("lax/ours", min), ("ours/jnp", max)):
        figures = [row[heading] for row in first.values() if row[heading] is not None]
        known = [row for row in rows if row[heading] is not None]
        if not known:
            continue
        if figures:
            summary[f"{heading}, median of {len(figures)} operations"] = (
                statistics.median(figures)
            )
        extreme = worst(known, key=lambda row: row[heading])
        summary[f"{heading}, worst of {len(known)} cases"] = extreme[heading]
        summary[f"{heading}, worst case"] = extreme["case"]
    summary[f"cases below {FASTER_THAN_LAX} in lax/ours"] = sum(
        row["lax/ours"] is not None and row["lax/ours"] < FASTER_THAN_LAX
        for row in rows
    )
    summary[f"cases above {SLOWER_THAN_JNP} in ours/jnp"] = sum(
        row["ours/jnp"] is not None and row["ours/jnp"] > SLOWER_THAN_JNP
        for row in rows
    )


_IMPORTS = {
    "import jax": """
import time
start = time.perf_counter()
import jax
print(time.perf_counter() - start)
""",
    "import jax; import xlaops": """
import time
start = time.perf_counter()
import jax
middle = time.perf_counter()
import xlaops
stop = time.perf_counter()
print(stop - start, stop - middle)
""",
}


def time_import(result: report.Report, rounds: int) -> None:
    """Adds the table of import times."""
    figures = timing.in_children(_IMPORTS, rounds=rounds)
    alone, both = figures.values()
    rows = [
        _milliseconds("import jax", [total for (total,) in alone]),
        _milliseconds("import jax; import xlaops", [total for total, _ in both]),
        _milliseconds("import xlaops, after jax", [added for _, added in both]),
    ]
    result.tables.append(
        report.Table(
            "Import, milliseconds",
            rows,
            ["", f"{rounds} fresh processes of each, interleaved."],
        )
    )
    first, second, _ = rows
    # On a busy machine two processes differ by more than what is measured; within
    # one, both imports have met the same noise.
    within = statistics.median(100 * added / (total - added) for total, added in both)
    result.summary |= {
        "import adds percent, best": 100 * (second["best"] / first["best"] - 1),
        "import adds percent, median": 100 * (second["median"] / first["median"] - 1),
        "import adds percent, median within a process": within,
        f"import adds less than {IMPORT_PERCENT} percent": within < IMPORT_PERCENT,
    }


def _milliseconds(name: str, seconds: Sequence[float]) -> dict[str, Any]:
    times = timing.Timing.of(seconds)
    return {"import": name, "best": 1e3 * times.best, "median": 1e3 * times.median}
