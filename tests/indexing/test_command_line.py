"""``xlaops index``, called in this process and once as a program."""

import json
import os
import subprocess
import sys

import pytest

from xlaops import cli

MODULE = """
import jax.numpy as jnp

def both(x, y):
    return {"a": x[1:] - x[:-1], "b": (x * y).sum()}

def difference(x):
    return x[1:] - x[:-1]

def pair(xy, k):
    return xy[0] * xy[1][k]

def broken(x):
    raise KeyError("nothing here")

class Model:
    @staticmethod
    def call(x):
        return x.T

number = 3
"""


@pytest.fixture
def index(tmp_path, monkeypatch, capsys):
    """Runs the command beside a module, and returns the code and what it printed."""
    (tmp_path / "functions_to_index.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "functions_to_index", raising=False)

    def call(name, *arguments):
        function = name if ":" in name or not name else f"functions_to_index:{name}"
        code = cli.main(["index", "--python", function, *arguments])
        captured = capsys.readouterr()
        return code, captured.out.splitlines(), captured.err

    return call


def test_all_maps(index):
    code, lines, err = index("both", "--shapes", "f32[8,3]", "f32[]")
    assert (code, err) == (0, "")
    assert lines == [
        "result['a'] <- args[0]:",
        "  (d0, d1) -> (d0 + 1, d1), domain: d0 in [0, 6], d1 in [0, 2]",
        "  (d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 2]",
        "result['a'] <- args[1]: nothing",
        "result['b'] <- args[0]:",
        "  ()[s0, s1] -> (s0, s1), domain: s0 in [0, 7], s1 in [0, 2]",
        "result['b'] <- args[1]:",
        "  () -> ()",
    ]


def test_some_maps_in_the_other_direction(index):
    shapes = ("--shapes", "f32[8,3]", "f32[]")
    _, lines, _ = index(
        "both", *shapes, "--input-to-output", "--input", "1", "--output", "result['b']"
    )
    assert lines == ["args[1] -> result['b']:", "  () -> ()"]
    _, lines, _ = index("both", *shapes, "--output", "0", "--input", "0", "--pretty")
    assert lines[:5] == [
        "result['a'] <- args[0]:",
        "  (d0, d1) -> (d0 + 1, d1),",
        "  domain:",
        "  d0 in [0, 6],",
        "  d1 in [0, 2]",
    ]


def test_json(index):
    _, lines, _ = index("difference", "--shapes", "f32[8]", "--json")
    found = json.loads("\n".join(lines))
    assert found["direction"] == "output_to_input"
    (one,) = found["dependences"]
    assert (one["from"], one["to"]) == ("result", "args[0]")
    assert [m["map"] for m in one["maps"]] == [
        "(d0) -> (d0 + 1), domain: d0 in [0, 6]",
        "(d0) -> (d0), domain: d0 in [0, 6]",
    ]
    assert all(m["exact"] and m["reasons"] == [] for m in one["maps"])
    assert (found["undefined"], found["widened"]) == ({}, 0)


def test_tuples_and_attributes(index):
    _, lines, _ = index("pair", "--shapes", "(f32[], f32[4])", "s32[]")
    assert [line for line in lines if "<-" in line] == [
        "result <- args[0][0]:",
        "result <- args[0][1]:",
        "result <- args[1]:",
    ]
    _, lines, _ = index("Model.call", "--shapes", "f32[2,3]")
    assert lines[1] == "  (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"


def test_uses(index):
    _, lines, _ = index("difference", "--shapes", "f32[8]", "--sparsity")
    assert lines[0] == "7 x 8, 14 elements (25 %), band from 0 to 1"
    assert lines[-2:] == [
        "Coloring(2 colors of 8 columns, at least 2)",
        "Coloring(2 colors of 7 rows, at least 2)",
    ]
    _, lines, _ = index("difference", "--shapes", "f32[8]", "--element", "3")
    assert lines[0] == "element (3,) sees 2 of 8 elements, 100 % of the box"
    _, lines, _ = index("difference", "--shapes", "f32[8]", "--utilization")
    assert lines == [
        "args[0]: 8 of 8 elements read (100 %), 1.75 times each on average, "
        "2 times at most"
    ]


@pytest.mark.parametrize("more", [[], ["--sparsity"], ["--element", "2"]])
def test_pictures(index, tmp_path, more):
    code, _, err = index("difference", "--shapes", "f32[8]", "--plot", "a.svg", *more)
    assert (code, err) == (0, "")
    assert "<svg" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "--shapes"], "'functions_to_index' has no 'nothing'"),
        (["no_such_module:f"], "there is no module 'no_such_module'"),
        (["functions_to_index:"], "--python must be MODULE:FUNCTION"),
        (["number"], "--python must name a function"),
        (["difference", "--shapes", "f33[8]"], "expected an element type"),
        (["difference"], "cannot be traced with these shapes: TypeError: "),
        (["broken", "--shapes", "f32[]"], "KeyError: 'nothing here'"),
        (
            ["difference", "--shapes", "f32[8]", "--output", "1"],
            "must be one of 1, got 1",
        ),
        (["difference", "--shapes", "f32[8]", "--element", "9"], "index must lie in"),
        (["difference", "--shapes", "f32[8]", "--plot", "a.xyz"], "path must end with"),
        (
            ["difference", "--shapes", "s32[8]", "--sparsity"],
            "must have a floating type",
        ),
    ],
)
def test_what_is_wrong_is_one_line(index, arguments, message):
    code, _, err = index(*arguments)
    assert code == 1
    assert err.startswith("xlaops index: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--python"],
        ["--element", "a"],
        ["--python", "jax.nn:softmax", "--json", "--sparsity"],
        ["--python", "jax.nn:softmax", "--utilization", "--json"],
    ],
)
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["index", *arguments])
    assert caught.value.code == 2
    assert "usage: xlaops index" in capsys.readouterr().err


def test_other_commands_do_not_load_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "xlaops.indexing.command_line", None)
    assert cli.main(["ops", "Add"]) == 0
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "index" in capsys.readouterr().out


def test_as_a_program(tmp_path):
    (tmp_path / "functions_to_index.py").write_text(MODULE)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "xlaops", "index"),
            *("--python", "functions_to_index:Model.call", "--shapes", "f32[2,3]"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        cwd=tmp_path,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "result <- args[0]:",
        "  (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]",
    ]
