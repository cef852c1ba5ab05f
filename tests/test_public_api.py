"""The package as a whole: what it offers, what importing it does, and its layout."""

import ast
import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

import jax
import pytest

import xlaops as xo
from xlaops import catalog, types

PACKAGE = pathlib.Path(xo.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
OPERATIONS = sorted(
    name for name in xo.__all__ if not isinstance(getattr(xo, name), type)
)
# The one module that may touch what JAX does not promise to keep.
COMPAT = PACKAGE / "core" / "compat.py"
UNSTABLE = ("jax.extend", "jax.interpreters", "jax._src", "jaxlib")
MAX_LINES = 800


def _relative(path):
    return str(path.relative_to(PACKAGE))


# What it offers


def test_all_holds_operations_and_types_only():
    functions = {r.function for r in catalog.RECORDS} - {""}
    assert set(OPERATIONS) == {f for f in functions if "." not in f}
    # Of the classes this one alone holds arrays.
    classes = set(xo.__all__) - set(OPERATIONS) - {"BoundedArray"}
    assert classes <= set(types.__all__)
    assert all(getattr(xo, name) is getattr(types, name) for name in classes)
    assert len(set(xo.__all__)) == len(xo.__all__)


def test_types_that_operations_take_are_at_the_top():
    for name in (
        "ConvolutionDimensionNumbers",
        "DotDimensionNumbers",
        "Padding",
        "PaddingConfig",
        "PrecisionConfig",
        "ResultAccuracy",
        "Shape",
    ):
        assert getattr(xo, name) is getattr(types, name)


def test_dir_adds_the_sub_packages_and_the_version():
    extra = set(dir(xo)) - set(xo.__all__)
    assert "__version__" in extra
    packages = extra - {"__version__"}
    assert packages == {
        "builder",
        "catalog",
        "collectives",
        "effects",
        "ffi",
        "indexing",
        "types",
    }
    for name in packages:
        assert getattr(xo, name) is importlib.import_module(f"xlaops.{name}")
    assert re.match(r"\d+[.+]", xo.__version__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match=r"'xlaops' has no attribute 'no_such'"):
        xo.no_such  # noqa: B018


def test_star_import():
    names = {}
    exec("from xlaops import *", names)
    assert set(xo.__all__) == set(names) - {"__builtins__"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_is_a_documented_function(name):
    function = getattr(xo, name)
    assert inspect.isfunction(function)
    assert function.__name__ == name
    module = importlib.import_module(function.__module__)
    assert module.__name__.startswith(("xlaops.ops.", "xlaops.collectives."))
    assert getattr(module, name) is function
    assert inspect.getsourcefile(inspect.unwrap(function)) == module.__file__

    doc = inspect.getdoc(function)
    first = doc.splitlines()[0]
    assert first.endswith(".")
    assert len(first) < 80
    sections = re.findall(r"^(Args|Returns|Raises|Example|Source):", doc, re.MULTILINE)
    wanted = ["Args", "Returns", "Raises", "Example", "Source"]
    if not inspect.signature(function).parameters:
        wanted.remove("Args")
        if "Raises" not in sections:
            wanted.remove("Raises")  # nothing that could be wrong
    assert sections == wanted
    assert ">>> import xlaops as xo" in doc
    assert f"xo.{name}(" in doc

    arguments = doc.partition("Args:")[2].partition("Returns:")[0]
    described = re.findall(r"^  (\w+): ", arguments, re.MULTILINE)
    documented = {p for r in _forms(name) for p in r.parameters}
    assert set(described) == documented | _own_parameters(function)
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    if not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        assert set(described) == set(inspect.signature(function).parameters)


def _own_parameters(function):
    """Those that the document has not, of collectives: by keyword alone."""
    forms = typing.get_overloads(function) or [function]
    return {"axis_name", "partition_axes", "joint"} & {
        p.name
        for form in forms
        for p in inspect.signature(form).parameters.values()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    }


def _forms(name):
    """The rows that a function stands for under its own name and by its parameters."""
    records = catalog.functions()[name]
    own = [r for r in records if catalog.snake_case(r.name) == name]
    assert own, name
    return own


@pytest.mark.parametrize("name", OPERATIONS)
def test_source_is_a_section_of_the_document_or_the_header(name):
    doc = inspect.getdoc(getattr(xo, name))
    source = " ".join(doc[doc.index("Source:") :].split())
    forms = _forms(name)
    if "``xla_builder.h``" in source:
        # The document has no row, or a row without a signature, which the note says.
        assert all(r.source == "header" or "header" in r.note for r in forms)
    else:
        cited = set(re.findall(r"\*([^*]+)\*", source))
        assert "XLA's Operation semantics" in source
        assert cited & {r.section for r in forms}
    if forms[0].status == "hlo-only":
        lowered = r"HLO's ``[a-z-]+``"
    else:
        lowered = r"``(stablehlo|chlo|mhlo|func)\.\w+( [A-Z]+)?``"
    assert re.search(lowered, source)


# What importing it does


CHILD = """
import json, logging, os, sys, warnings
import jax

def state():
    return json.dumps({
        "config": {k: repr(v) for k, v in sorted(jax.config.values.items())},
        "environ": dict(os.environ),
        "filters": repr(warnings.filters),
        "path": sys.path,
        "handlers": repr(logging.getLogger().handlers),
        "hook": repr(sys.excepthook),
    }, sort_keys=True)

modules, before = set(sys.modules), state()
import xlaops
dir(xlaops)
after = state()
loaded = sorted(set(sys.modules) - modules)
print(json.dumps({"changed": before != after, "loaded": loaded}))
"""


@pytest.fixture(scope="module")
def imported():
    """What a process that only imports the package reports."""
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD],
        capture_output=True,
        text=True,
        timeout=120,
        # To start a backend would be an error.
        env={**os.environ, "JAX_PLATFORMS": "no_such_platform"},
    )
    assert child.returncode == 0, child.stderr
    assert child.stderr == ""
    (line,) = child.stdout.splitlines()
    return json.loads(line)


def test_import_starts_no_backend_and_changes_nothing(imported):
    assert not imported["changed"]


def test_a_started_backend_would_be_noticed():
    child = subprocess.run(
        [sys.executable, "-c", "import jax; jax.devices()"],
        capture_output=True,
        timeout=120,
        env={**os.environ, "JAX_PLATFORMS": "no_such_platform"},
    )
    assert child.returncode != 0


def test_import_loads_only_what_the_operations_need(imported):
    loaded = set(imported["loaded"])
    for name in ("sklearn", "matplotlib", "torch", "pandas", "pytest", "hypothesis"):
        assert name not in loaded
    unused = "builder catalog cli collectives demo effects indexing"
    for name in unused.split():
        assert f"xlaops.{name}" not in loaded
    assert "xlaops.ops.arithmetic" in loaded


# Its layout


def _imports(path):
    """Absolute names of all that a module imports or reaches through ``jax.``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ["xlaops", *path.relative_to(PACKAGE).parent.parts]
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names.append(ast.unparse(node))
        elif isinstance(node, ast.Call) and node.args:
            function = ast.unparse(node.func)
            if function.endswith(("import_module", "__import__")):
                names.append(ast.unparse(node.args[0]).strip("\"'"))
    return names


def _below(name, module):
    return name == module or name.startswith(f"{module}.")


@pytest.mark.parametrize("path", MODULES, ids=_relative)
def test_only_compat_touches_unstable_parts_of_jax(path):
    used = [n for n in _imports(path) if any(_below(n, u) for u in UNSTABLE)]
    if path == COMPAT:
        assert used
    else:
        assert not used


def test_the_walk_sees_every_way_to_import(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "ops").mkdir()
    path = tmp_path / "ops" / "m.py"
    for text, name in {
        "import jaxlib.xla_client": "jaxlib.xla_client",
        "from jax import extend": "jax.extend",
        "from jax.interpreters import mlir": "jax.interpreters.mlir",
        "import jax\ndef f(): return jax._src.core": "jax._src.core",
        "import importlib\nimportlib.import_module('jaxlib')": "jaxlib",
        "from .dot import dot": "xlaops.ops.dot.dot",
        "from ..core import checks": "xlaops.core.checks",
        "from . import dot": "xlaops.ops.dot",
    }.items():
        path.write_text(text)
        assert name in _imports(path)


def test_families_of_operations_do_not_import_one_another():
    families = {p.stem for p in (PACKAGE / "ops").glob("*.py")} - {"__init__"}
    assert families
    for family in families:
        for name in _imports(PACKAGE / "ops" / f"{family}.py"):
            other = re.match(r"xlaops\.ops\.(\w+)", name)
            assert not other or other[1] == family, f"{family} imports {name}"
            assert name != "xlaops", family


LAYERS = ["types", "core", "ops", "collectives", "builder"]


@pytest.mark.parametrize("layer", LAYERS)
def test_arrows_point_down(layer):
    above = {p.stem for p in PACKAGE.iterdir()} - set(LAYERS[: LAYERS.index(layer) + 1])
    if layer == "builder":
        above -= {"catalog"}  # which the operations themselves do not read
    for path in (PACKAGE / layer).rglob("*.py"):
        for name in _imports(path):
            part = re.match(r"xlaops\.(\w+)", name)
            assert not part or part[1] not in above, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=_relative)
def test_modules_are_small_and_described(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_LINES
    assert ast.get_docstring(ast.parse(text))


def test_jax_is_one_that_is_supported():
    assert jax.__version_info__ >= (0, 10, 2)
