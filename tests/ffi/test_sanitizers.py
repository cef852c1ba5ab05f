"""The header under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer.

They are slow: select them with ``-m slow``. XLA itself is not instrumented, so ParFor
runs on a pool of its own for ThreadSanitizer, which has to see both sides.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import xlaops.ffi
from xlaops.ffi import cache, toolchain

from .conftest import NATIVE, load_kit

pytestmark = pytest.mark.slow


def compile_main(output, *flags):
    done = subprocess.run(
        [
            *toolchain.compiler("c++").command,
            *("-std=c++17", "-O1", "-g", "-pthread", *flags),
            *("-I", xlaops.ffi.include_dir(), str(NATIVE / "parallel_main.cc")),
            *("-o", str(output)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if "cannot find" in done.stderr:
        pytest.skip("this compiler has no such sanitizer")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_par_for(compiler, tmp_path, sanitizer):
    program = tmp_path / "parallel"
    compile_main(program, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all")
    done = subprocess.run(
        # Without randomised addresses: older ThreadSanitizers do not know the places
        # where newer kernels put things.
        ["setarch", "-R", str(program)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_handlers(compiler, tmp_path, monkeypatch):
    """The tests of the header once more, with handlers that are instrumented."""
    runtimes = [
        subprocess.run(
            [*toolchain.compiler("c++").command, f"-print-file-name={name}"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
        # Without the second, the first finds no exceptions to look after.
        for name in ("libasan.so", "libstdc++.so")
    ]
    if not all(Path(path).is_absolute() for path in runtimes):
        pytest.skip("this compiler has no AddressSanitizer to load into Python")
    flags = ["-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    # It is built here, where the compiler is not looked after, and not opened.
    with pytest.raises(xlaops.ffi.LoadError, match="LD_PRELOAD"):
        load_kit(flags)
    here = Path(__file__).parent
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(str(here / "test_header.py"), str(here / "test_parallel.py")),
            # Those that start the compiler or another Python have nothing to add.
            *("-k", "not forty and not remaining and not is_refused and not needs"),
        ],
        cwd=here.parent.parent,
        env={
            **os.environ,
            "XLAOPS_TEST_FLAGS": " ".join(flags),
            "XLAOPS_TEST_CACHE": str(tmp_path / "cache"),
            "LD_PRELOAD": " ".join(runtimes),
            # Python keeps what it has allocated.
            "ASAN_OPTIONS": f"detect_leaks=0:log_path={tmp_path / 'report'}",
            "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={tmp_path / 'report'}",
        },
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    reports = "".join(path.read_text() for path in tmp_path.glob("report*"))
    assert done.returncode == 0, reports[:4000] + done.stdout[-4000:]
    assert reports == ""
    assert " passed" in done.stdout
