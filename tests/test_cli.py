"""The command line, called in this process and once as a program."""

import json
import os
import subprocess
import sys
import types

import pytest

from xlaops import catalog, cli


def _table(text: str) -> tuple[list[str], str]:
    """The lines of a printed table, and what is below it."""
    table, below = text.split("\n\n")
    return table.splitlines(), below


def test_ops_prints_a_row(capsys):
    assert cli.main(["ops", "concat_in_dim"]) == 0
    (header, line), count = _table(capsys.readouterr().out)
    assert header.split() == ["xlaops", "XlaBuilder", "status", "StableHLO", "lax"]
    assert line.startswith("concat_in_dim  ConcatInDim(operands, dimension)  ")
    assert line.endswith("  concatenate  concatenate")
    assert count.startswith("1 row: 1 ")


def test_ops_prints_everything_in_100_columns(capsys):
    assert cli.main(["ops", "--notes"]) == 0
    captured = capsys.readouterr()
    lines, count = _table(captured.out)
    assert max(map(len, lines)) <= 100
    assert not any(line.endswith(" ") for line in lines)
    assert count.startswith(f"{len(catalog.RECORDS)} rows: ")
    assert captured.err == ""


def test_wrapped_cells_lose_nothing(capsys):
    """The signature column, put together again, is the signature."""
    cli.main(["ops", "ConvGeneralDilated"])
    (header, *lines), _ = _table(capsys.readouterr().out)
    start, end = header.index("XlaBuilder"), header.index("status")
    assert len(lines) > 1
    cell = "".join(line[start:end] for line in lines)
    (record,) = catalog.by_name("ConvGeneralDilated")
    assert cell.replace(" ", "") == record.signature.replace(" ", "")


def test_notes_lose_nothing(capsys):
    cli.main(["ops", "--notes"])
    text = " ".join(capsys.readouterr().out.split())
    for record in catalog.RECORDS:
        assert record.note in text


def test_ops_prints_notes_when_asked(capsys):
    (record,) = catalog.by_name("Clamp")
    cli.main(["ops", "clamp"])
    assert "scalar" not in capsys.readouterr().out
    cli.main(["ops", "clamp", "--notes"])
    text = " ".join(capsys.readouterr().out.split())
    assert record.note in text


def test_ops_filters(capsys):
    assert cli.main(["ops", "--family", "linalg", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["name"] for record in records] == ["Cholesky", "TriangularSolve"]

    assert cli.main(["ops", "--status", "hlo-only", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert "Fusion" in {record["name"] for record in records}
    assert {record["status"] for record in records} == {"hlo-only"}


def test_ops_json_has_every_field(capsys):
    assert cli.main(["ops", "stablehlo.clamp", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record.pop("note")
    assert record.pop("status") == "implemented"
    assert record == {
        "name": "Clamp",
        "variant": "",
        "section": "Clamp",
        "parameters": ["min", "operand", "max"],
        "stablehlo": ["stablehlo.clamp"],
        "lax": ["clamp"],
        "function": "clamp",
        "family": "elementwise",
        "source": "document",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transposs"], "no operation matches 'transposs'; close are Transpose"),
        (["DynamicUpdateSlize"], "close are DynamicUpdateSlice"),
        (["broadcast_in_dimm"], "close are BroadcastInDim"),
        (["zzzz"], "no operation matches 'zzzz'; `xlaops ops` lists all of them"),
        (
            ["Tuple", "--family", "linalg", "--status", "hlo-only"],
            "rows, none of status hlo-only and family linalg",
        ),
        (
            ["--status", "hlo-only", "--family", "linalg"],
            f"there are {len(catalog.RECORDS)} rows, none of",
        ),
    ],
)
def test_ops_says_why_nothing_matches(capsys, arguments, message):
    assert cli.main(["ops", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("xlaops: ")
    assert message in captured.err


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["ops", "--status", "done"], ["ops", "a", "b"]]
)
def test_wrong_arguments(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage: xlaops" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith("xlaops ")
    assert "jax " in text


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    assert "ops" in text
    assert "demo" in text


def _stand_in_for_demo(monkeypatch, calls):
    module = types.ModuleType("xlaops.demo.cli")

    def add_arguments(parser):
        parser.add_argument("--steps", type=int, default=1, help="how many steps")

    def run(arguments):
        calls.append(arguments.steps)
        return 3

    module.add_arguments = add_arguments
    module.run = run
    monkeypatch.setitem(sys.modules, "xlaops.demo.cli", module)


def test_demo_delegates(monkeypatch):
    calls = []
    _stand_in_for_demo(monkeypatch, calls)
    assert cli.main(["demo", "--steps", "5"]) == 3
    assert calls == [5]


def test_demo_has_its_own_help(monkeypatch, capsys):
    _stand_in_for_demo(monkeypatch, [])
    with pytest.raises(SystemExit):
        cli.main(["demo", "--help"])
    assert "how many steps" in capsys.readouterr().out


def test_the_demo_itself_has_help(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["demo", "--help"])
    assert caught.value.code == 0
    assert "usage: xlaops demo" in capsys.readouterr().out


def test_ops_does_not_load_the_demo(monkeypatch):
    monkeypatch.setitem(sys.modules, "xlaops.demo.cli", None)  # its import fails
    assert cli.main(["ops", "Add"]) == 0


def test_as_a_program_with_a_reader_that_leaves():
    """`python -m xlaops` into a closed pipe: no traceback, and a shell's exit code."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "xlaops", "ops"],
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
    finally:
        os.close(write)
    assert done.stderr == ""
    assert done.returncode == 141


def test_as_a_program():
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-m", "xlaops", "ops", "rev", "--json"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    names = {record["name"] for record in json.loads(done.stdout)}
    assert "Rev" in names
