"""Runs a benchmark: ``python benchmarks/run.py NAME [options]``.

The package is taken from where Python finds it: install it, or set PYTHONPATH.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

# Each is a module of this folder with a function main(arguments) that returns the exit
# status; it is imported when it is asked for.
BENCHMARKS = {
    "collectives": "operations between replicas, beside jax.lax; memory of a device",
    "ffi": "calls of a handler, beside jax.ffi, and how long it takes to build one",
    "ffi_build": "from C++ text to a handler: the first time, and from the cache",
    "overhead": "what an operation adds to jax.lax: program, eager call, import",
    "indexing": "indexing analysis: chains, layers, patterns of Jacobians",
    "regions": "operations that take a computation, beside jax.lax and numpy",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Runs a benchmark and prints its figures.",
        epilog="benchmarks:\n"
        + "\n".join(f"  {name:<12}{what}" for name, what in BENCHMARKS.items())
        + "\n\nrun.py NAME --help lists the options of one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", choices=BENCHMARKS)
    parser.add_argument("options", nargs=argparse.REMAINDER)
    chosen = parser.parse_args(arguments)
    return importlib.import_module(chosen.name).main(chosen.options)


if __name__ == "__main__":
    sys.exit(main())
