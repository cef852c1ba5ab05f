"""xlaops.ffi.doctor and `xlaops doctor`."""

import json
import subprocess
import sys

import jax
import pytest

import xlaops.ffi
from xlaops import cli
from xlaops.ffi import diagnosis, toolchain


@pytest.fixture(autouse=True)
def no_programs(monkeypatch):
    """Versions are asked of programs in one test only: it takes time."""
    monkeypatch.setattr(diagnosis, "_described", lambda tool: " ".join(tool.command))


def test_report(empty_cache):
    found = xlaops.ffi.doctor()
    assert found.problems == ()
    assert found.tools["C++ compiler"] == " ".join(toolchain.compiler("c++").command)
    assert found.header_api == xlaops.ffi.runtime_api_version()
    assert found.handler_api == (0, 3)
    assert found.versions["jax"] == jax.__version__
    assert (found.cache, found.cache_entries) == (str(empty_cache), 0)
    text = str(found)
    assert "xlaops.ffi.load works here." in text
    assert all(name in text for name in found.tools)
    assert str(empty_cache) in text


def test_targets_and_cache(kit):
    target = kit.target("square")
    found = xlaops.ffi.doctor()
    assert target in {t.name for t in found.targets}
    assert f"{target} on cpu" in str(found)
    assert found.cache_entries >= 1
    assert found.cache_bytes > 10_000


def test_version_of_a_program(compiler, monkeypatch):
    monkeypatch.undo()
    tool = toolchain.compiler("c++")
    stated = subprocess.run(
        [*tool.command, "-dumpfullversion"], capture_output=True, text=True, check=False
    ).stdout.strip()
    described = diagnosis._described(tool)
    assert described.startswith(tool.command[0])
    if stated:
        assert stated in described


def test_version_of_nvcc():
    text = (
        "nvcc: NVIDIA (R) Cuda compiler driver\n"
        "Copyright (c) 2005-2025 NVIDIA Corporation\n"
        "Cuda compilation tools, release 13.0, V13.0.88\n"
    )
    assert "13.0" in diagnosis._last_release_line(text)


def test_program_that_does_not_run(tmp_path, monkeypatch):
    monkeypatch.undo()
    tool = toolchain.Tool((str(tmp_path / "gone"),))
    assert "which does not run" in diagnosis._described(tool)


def test_nothing_is_installed(empty_cache, monkeypatch):
    monkeypatch.setattr(toolchain, "find_compiler", lambda language: None)
    monkeypatch.setattr(toolchain, "find_build_tool", lambda name: None)
    monkeypatch.setattr(toolchain, "has_nvidia_gpu", lambda: True)
    found = xlaops.ffi.doctor()
    assert set(found.tools.values()) == {None}
    assert "no C++ compiler was found" in found.problems[0]
    assert any("nvcc" in hint for hint in found.hints)
    assert any("xlaops[ffi]" in hint for hint in found.hints)
    text = str(found)
    assert "problem: no C++ compiler" in text
    assert "works here" not in text


def test_old_jaxlib(empty_cache, monkeypatch):
    monkeypatch.setattr(diagnosis, "runtime_api_version", lambda: (0, 2))
    (problem,) = xlaops.ffi.doctor().problems
    assert "has 0.2; install jaxlib 0.10.2 or newer" in problem


def test_cache_of_others(empty_cache):
    empty_cache.mkdir(parents=True)
    empty_cache.chmod(0o777)
    (problem,) = xlaops.ffi.doctor().problems
    assert "writable by other users" in problem


def test_command(empty_cache, capsys, monkeypatch):
    assert cli.main(["doctor"]) == 0
    assert "xlaops.ffi.load works here." in capsys.readouterr().out
    assert cli.main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["handler_api"] == [0, 3]
    assert found["cache"] == str(empty_cache)
    monkeypatch.setattr(toolchain, "find_compiler", lambda language: None)
    assert cli.main(["doctor"]) == 1


def test_other_commands_do_not_load_jax():
    script = "import sys; from xlaops import cli; cli.main(['ops', 'rng_normal'])"
    script += "; print('xlaops.ffi' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.split()[-1] == "False"
