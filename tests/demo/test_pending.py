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
_LAX = {"max", "psum", "reduce_max", "reduce_min", "reduce_sum", "reduce_window"}
_STAND_INS = {
    "all_reduce",
    "batch_norm_inference",
    "batch_norm_training",
    "reduce",
    "reduce_window",
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


@pytest.mark.parametrize(
    ("computation", "init", "oracle"),
    [(xo.add, 1.5, np.sum), (xo.max, 0.25, np.max), (xo.min, -0.25, np.min)],
    ids=["add", "max", "min"],
)
@pytest.mark.parametrize("dimensions", [(0,), (0, 2), (1, 2, 0)])
def test_reduce(rng, computation, init, oracle, dimensions):
    x = rng.normal(size=(3, 4, 5)).astype(np.float32)
    seen = oracle(x, dimensions)
    wanted = {xo.add: np.add, xo.max: np.maximum, xo.min: np.minimum}[computation]
    got = pending.reduce(x, init, computation, dimensions)
    np.testing.assert_allclose(got, wanted(seen, np.float32(init)), rtol=1e-5)


def test_reduce_window(rng):
    x = rng.normal(size=(2, 4, 6, 3)).astype(np.float32)
    window = (1, 2, 2, 1)
    got = pending.reduce_window(x, -np.inf, xo.max, window, window, "VALID")
    np.testing.assert_array_equal(got, x.reshape(2, 2, 2, 3, 2, 3).max((2, 4)))


def test_gradient_of_reduce_window():
    x = np.array([1.0, 4.0, 2.0, 3.0], np.float32)

    def f(x):
        y = pending.reduce_window(x, -np.inf, xo.max, (2,), (2,), "VALID")
        return pending.reduce(xo.mul(y, np.float32([2, 5])), 0.0, xo.add, (0,))

    np.testing.assert_array_equal(jax.grad(f)(x), [0, 2, 0, 5])


@pytest.mark.parametrize("feature_index", [0, 1, 3])
def test_batch_norm(rng, feature_index):
    x = rng.normal(3, 2, size=(2, 3, 4, 5)).astype(np.float32)
    n = x.shape[feature_index]
    scale, offset = rng.normal(size=(2, n)).astype(np.float32)
    rows = np.moveaxis(x.astype(np.float64), feature_index, -1).reshape(-1, n)
    mean, variance = rows.mean(0), rows.var(0)
    shape = [1] * 4
    shape[feature_index] = n

    def normalised(mean, variance):
        centred = (x - mean.reshape(shape)) / np.sqrt(variance + 1e-3).reshape(shape)
        return centred * scale.reshape(shape) + offset.reshape(shape)

    got = pending.batch_norm_training(x, scale, offset, 1e-3, feature_index)
    for a, b in zip(got, (normalised(mean, variance), mean, variance), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)

    mean, variance = (mean + 1).astype(np.float32), (2 * variance).astype(np.float32)
    got = pending.batch_norm_inference(
        x, scale, offset, mean, variance, 1e-3, feature_index
    )
    np.testing.assert_allclose(got, normalised(mean, variance), rtol=1e-4, atol=1e-5)


def test_all_reduce(mesh8, rng):
    x = rng.normal(size=(8, 3)).astype(np.float32)
    spec = jax.sharding.PartitionSpec

    def total(x):
        return pending.all_reduce(xo.reshape(x, (3,)), xo.add, axis_name="i")

    f = jax.jit(jax.shard_map(total, mesh=mesh8, in_specs=spec("i"), out_specs=spec()))
    np.testing.assert_allclose(f(x), x.sum(0), rtol=1e-5, atol=1e-6)


def test_other_computations_are_refused():
    x = np.ones((2, 2), np.float32)
    with pytest.raises(
        ValueError, match=r"reduce: computation must be xlaops\.add, max"
    ):
        pending.reduce(x, 1.0, xo.mul, (0,))
    with pytest.raises(ValueError, match="reduce_window: computation must be"):
        pending.reduce_window(x, 0.0, xo.add, (2, 2), (1, 1), "VALID")
    with pytest.raises(
        ValueError, match=r"all_reduce: computation must be xlaops\.add"
    ):
        pending.all_reduce(x, xo.max, axis_name="i")
