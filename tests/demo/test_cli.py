"""The command, as a program and called in this process."""

import functools
import os
import re
import struct
import subprocess
import sys

import jax
import pytest

from xlaops import cli
from xlaops.demo import training


@pytest.fixture(autouse=True, scope="module")
def _started():
    """JAX is running: the command must not choose the devices of other tests."""
    jax.devices()


def _child(code, *arguments, **environment):
    """Runs Python code in a process of its own, on the CPU and without XLA's flags."""
    inherited = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={**inherited, "JAX_PLATFORMS": "cpu", **environment},
        timeout=300,
        check=False,
    )


def test_end_to_end(tmp_path):
    path = tmp_path / "picture.png"
    code = "import sys; from xlaops.cli import main; sys.exit(main(sys.argv[1:]))"
    done = _child(code, "demo", "--epochs", "10", "--output", str(path))
    assert done.returncode == 0, done.stderr
    header, sizes, *table, last = done.stdout.splitlines()
    assert header.startswith(
        f"xlaops demo: jax {jax.__version__}, cpu, 8 devices, native handlers "
    )
    assert sizes == "1,437 digits to train with, 360 to test with"
    assert any(re.fullmatch(r"  throughput +[\d,]+ images/s", line) for line in table)
    assert any(re.fullmatch(r"  compile time +[\d.]+ s", line) for line in table)
    match = re.fullmatch(r"test accuracy ([\d.]+) % \((\d+) of 360\)", last)
    assert match
    assert float(match[1]) == round(100 * int(match[2]) / 360, 1)
    assert float(match[1]) >= 97
    assert done.stderr.splitlines()[0] == "  0 %  compiling"
    assert done.stderr.splitlines()[-1].startswith("100 %  epoch 10/10, loss 0.")

    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1000
    assert height > 500


def test_importing_the_command_is_cheap():
    done = _child(
        "import sys, xlaops; before = set(sys.modules)\n"
        "import xlaops.demo.cli\n"
        "print({n.partition('.')[0] for n in set(sys.modules) - before})\n"
        "import jax\n"
        "jax.config.update('jax_num_cpu_devices', 3)  # fails if a backend runs\n"
        "print(len(jax.devices()))"
    )
    assert done.returncode == 0, done.stderr
    modules, devices = done.stdout.splitlines()
    assert not {"sklearn", "scipy", "matplotlib"} & eval(modules)
    assert devices == "3"


def test_a_poor_model_is_a_failure(capsys, monkeypatch):
    small = functools.partial(training.fit, channels=(2,))
    monkeypatch.setattr(training, "fit", small)
    arguments = ["demo", "--epochs", "1", "--batch-size", "1280", "--no-picture"]
    assert cli.main([*arguments, "--devices", "2"]) == 1
    captured = capsys.readouterr()
    assert ", 2 devices, " in captured.out.splitlines()[0]
    assert "picture" not in captured.out
    assert captured.out.splitlines()[-1].startswith("test accuracy ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch-size", "100", "--devices", "8"], "must be a multiple of the number"),
        (
            ["--batch-size", "5000", "--devices", "1"],
            "batch_size must be between 1 and",
        ),
        (["--output", "no/such/folder/x.png"], "--output must be a file in a folder"),
        (["--output", "."], "--output must be a file in a folder"),
        (["--output", "digits.abc"], "--output must end in one of "),
        (["--output", "digits"], "--output must end in one of "),
        (["--platform", "tpu"], "--platform tpu cannot be used"),
    ],
)
def test_what_is_wrong_is_told_before_the_work(
    capsys, monkeypatch, tmp_path, arguments, message
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("xlaops demo: ")
    assert message in captured.err


@pytest.mark.parametrize("option", ["--epochs", "--devices", "--batch-size"])
@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_numbers_must_be_positive(capsys, option, value):
    with pytest.raises(SystemExit) as caught:
        cli.main(["demo", option, value])
    assert caught.value.code == 2
    assert f"argument {option}: " in capsys.readouterr().err


def test_help(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["demo", "--help"])
    assert caught.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "less than 97 % of the test images" in text
    assert "(xlaops-demo.png)" in text


@pytest.mark.parametrize("missing", ["sklearn", "matplotlib"])
def test_what_is_missing_is_told(capsys, monkeypatch, missing):
    for name in list(sys.modules):
        if name.partition(".")[0] == missing:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert cli.main(["demo"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert 'pip install "xlaops[examples]"' in captured.err


def test_jax_is_running_with_fewer_devices():
    done = _child(
        "import jax; jax.devices()\n"
        "from xlaops.demo import cli\n"
        "print(len(cli._devices(None, None)), len(cli._devices('cpu', 1)))"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1"]
    assert done.stderr == "xlaops demo: 8 devices wanted, 1 there\n"


def test_xla_flags_do_not_stand_in_the_way():
    done = _child(
        "from xlaops.demo import cli\nprint(len(cli._devices(None, None)))",
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["8"]
