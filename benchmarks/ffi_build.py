"""How long it takes from C++ text to a handler, the first time and after that."""

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import report
import timing

import xlaops.ffi
from xlaops.ffi import toolchain

_TEXT = """
#include "xlaops/ffi.h"
namespace ffi = xla::ffi;
ffi::Error Scale(ffi::Buffer<ffi::F32> x, float factor, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    y->typed_data()[i] = factor * x.typed_data()[i];
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(scale, Scale,
                      ffi::Ffi::Bind()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Attr<float>("factor")
                          .Ret<ffi::Buffer<ffi::F32>>());
"""
# The same handler as one would write and compile it without xlaops.
_PLAIN_TEXT = _TEXT.replace("xlaops/ffi.h", "xla/ffi/api/ffi.h").replace(
    "XLAOPS_DEFINE_HANDLER", "XLA_FFI_DEFINE_HANDLER_SYMBOL"
)
# What a process spends in load, when the library has been built.
_CACHED = """
import time, jax, xlaops.ffi
from benchmark_text import TEXT
start = time.perf_counter()
library = xlaops.ffi.load("scale", source_text=TEXT, progress=False)
print(time.perf_counter() - start)
"""


def main(arguments: Sequence[str]) -> int:
    parser = report.parser("ffi_build", __doc__ or "")
    options = parser.parse_args(arguments)
    result = report.Report("ffi_build")
    result.tables += tables(options.repeat or 3)
    report.publish(result, options.json)
    return 0


def tables(rounds: int) -> list[report.Table]:
    """The tables, for a benchmark that has others beside them."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("XLAOPS_CACHE_DIR")
        os.environ["XLAOPS_CACHE_DIR"] = folder
        try:
            return [_cold(rounds), _cached(rounds, Path(folder))]
        finally:
            os.environ.pop("XLAOPS_CACHE_DIR")
            if before is not None:
                os.environ["XLAOPS_CACHE_DIR"] = before


def _cold(rounds: int) -> report.Table:
    ways: dict[str, Callable[[str], Any]] = {"load": lambda text: _load(text, None)}
    if toolchain.find_build_tool("cmake") is not None:
        ways["load, cmake=False"] = lambda text: _load(text, False)
    ways["the compiler by hand"] = _by_hand
    times = dict.fromkeys(ways, (float("inf"), float("inf")))
    for name, text in report.progress("builds", list(_work(ways, rounds))):
        start, spent = time.perf_counter(), _seconds_of_children()
        ways[name](text)
        wall = time.perf_counter() - start
        cpu = _seconds_of_children() - spent
        times[name] = (min(times[name][0], wall), min(times[name][1], cpu))
    by_hand = times["the compiler by hand"]
    return report.Table(
        "One handler of C++ text, seconds (best)",
        [
            {
                "way": name,
                "wall": wall,
                "cpu": cpu,
                "cpu/by hand": cpu / by_hand[1],
            }
            for name, (wall, cpu) in times.items()
        ],
        ["", "On a busy machine the seconds of the processor are the steadier ones."],
    )


def _work(ways: dict[str, Any], rounds: int) -> Iterator[tuple[str, str]]:
    """Ways in turn, each time with a text that has not been compiled before."""
    for turn in range(rounds):
        for name in ways:
            text = _PLAIN_TEXT if name == "the compiler by hand" else _TEXT
            yield name, _marked(text, name, turn)


def _marked(text: str, name: str, turn: int) -> str:
    """A text that no other way or turn has."""
    return f"{text}// {name} {turn}\n"


def _load(text: str, cmake: bool | None) -> None:
    xlaops.ffi.load("scale", source_text=text, cmake=cmake, progress=False)


def _by_hand(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "scale.cc")
        source.write_text(text)
        command = [*toolchain.compiler("c++").command, "-O3", "-DNDEBUG", "-std=c++17"]
        command += ["-shared", "-fPIC", "-isystem", jax.ffi.include_dir()]
        command += [str(source), "-o", str(source.with_suffix(".so"))]
        subprocess.run(command, check=True)


def _cached(rounds: int, folder: Path) -> report.Table:
    text = _marked(_TEXT, "load", 0)  # built before
    library = xlaops.ffi.load("scale", source_text=text, progress=False)
    (folder / "benchmark_text.py").write_text(f"TEXT = {text!r}\n")
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\n{_CACHED}"
    in_a_process = timing.in_children({"cached": program}, rounds=rounds)["cached"]
    target = library.target("scale")
    calls = [
        lambda: xlaops.ffi.load("scale", source_text=text, progress=False),
        lambda: library.target("scale"),
    ]
    assert library.target("scale") == target
    again, of_target = timing.interleaved(calls, rounds=20 * rounds)
    return report.Table(
        "After that, milliseconds (best)",
        [
            {"step": "load in a new process", "ms": 1e3 * min(in_a_process)[0]},
            {"step": "load again in this process", "ms": 1e3 * again.best},
            {"step": "Library.target again", "ms": 1e3 * of_target.best},
        ],
    )


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
