"""The stand-ins are few, in one place, right, and only as long as they are needed."""

import ast
import pathlib

import jax
import numpy as np
import pytest

import xlaops as xo
import xlaops.demo
from xlaops.demo import pending

# These lists may only become shorter.
_LAX = {"psum"}
_STAND_INS = {
    "all_reduce",
}
_OTHER_ARRAY_LIBRARIES = {"jax.nn", "jax.numpy", "jax.scipy"}

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
    assert {"model.py", "optimizer.py", "pending.py", "training.py"} <= {
        path.name for path in _MODULES
    }


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: path.stem)
def test_lax_is_used_by_pending_alone(path):
    used = _within(_uses(path), "jax.lax")
    assert used <= (_LAX | {""} if path.stem == "pending" else set())


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: path.stem)
def test_no_other_array_library_is_used(path):
    uses = _uses(path)
    for library in _OTHER_ARRAY_LIBRARIES:
        assert _within(uses, library) == set()


def test_nothing_is_kept_that_xlaops_has():
    own = {
        name
        for name, value in vars(pending).items()
        if getattr(value, "__module__", None) == pending.__name__
        and not name.startswith("_")
    }
    assert own <= _STAND_INS
    assert [name for name in sorted(own) if hasattr(xo, name)] == []


def test_all_reduce(mesh8, rng):
    x = rng.normal(size=(8, 3)).astype(np.float32)
    spec = jax.sharding.PartitionSpec

    def total(x):
        return pending.all_reduce(xo.reshape(x, (3,)), xo.add, axis_name="i")

    f = jax.jit(jax.shard_map(total, mesh=mesh8, in_specs=spec("i"), out_specs=spec()))
    np.testing.assert_allclose(f(x), x.sum(0), rtol=1e-5, atol=1e-6)


def test_other_computations_are_refused():
    with pytest.raises(
        ValueError, match=r"all_reduce: computation must be xlaops\.add"
    ):
        pending.all_reduce(np.ones((2, 2), np.float32), xo.max, axis_name="i")
