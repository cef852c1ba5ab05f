"""The demonstration computes with xlaops alone."""

import ast
import pathlib

import pytest

import xlaops.demo

_OTHER_ARRAY_LIBRARIES = {"jax.lax", "jax.nn", "jax.numpy", "jax.scipy"}

_MODULES = sorted(pathlib.Path(xlaops.demo.__path__[0]).glob("*.py"))


def _uses(path: pathlib.Path) -> set[str]:
    """Dotted names that a module imports or uses, with import aliases resolved."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    aliases: dict[str, str] = {}
    uses: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                uses.add(name.name)
                local = name.asname or name.name.partition(".")[0]
                aliases[local] = name.name if name.asname else local
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for name in node.names:
                full = f"{node.module}.{name.name}"
                uses.add(full)
                aliases[name.asname or name.name] = full
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name):
            first = aliases.get(node.id, node.id)
            uses.add(".".join([first, *reversed(parts)]))
    return uses


def _within(uses: set[str], library: str) -> set[str]:
    """What is used of a library, as names within it; "" is the library itself."""
    return {
        use.removeprefix(library).removeprefix(".").partition(".")[0]
        for use in uses
        if use == library or use.startswith(library + ".")
    }


def test_the_scan_resolves_aliases(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "import jax\n"
        "import jax.numpy as jnp\n"
        "from jax import lax as l\n"
        "def f(x):\n"
        "    return l.add(jnp.sin(x), jax.lax.cos(x))\n"
    )
    uses = _uses(path)
    assert _within(uses, "jax.lax") == {"", "add", "cos"}
    assert _within(uses, "jax.numpy") == {"", "sin"}


def test_there_are_modules_to_scan():
    assert {"model.py", "optimizer.py", "training.py"} <= {
        path.name for path in _MODULES
    }


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: path.stem)
def test_no_other_array_library_is_used(path):
    uses = _uses(path)
    for library in _OTHER_ARRAY_LIBRARIES:
        assert _within(uses, library) == set()
