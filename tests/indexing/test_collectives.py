"""Programs over several devices, against what changes when the devices run them."""

import jax
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from xlaops.indexing import IndexingMap, analyze, dim
from xlaops.indexing.primitives.masks import formula

from .observed import related

SHAPE = (4, 8)


@pytest.fixture(scope="module")
def mesh():
    if len(jax.devices()) < 4:
        pytest.skip("needs 4 devices")
    return jax.make_mesh(
        (2, 2), ("a", "b"), (AxisType.Auto,) * 2, devices=jax.devices()[:4]
    )


def _gathered(x):
    return lax.all_gather(x, "b", axis=1, tiled=True)


PROGRAMS = {
    "alone": (lambda x: x[::-1] * 2, P("a", "b"), P("a", "b")),
    "psum": (lambda x: lax.psum(x, "a"), P("a", "b"), P(None, "b")),
    "psum both": (lambda x: lax.psum(x, ("a", "b")), P(("a", "b")), P()),
    "pmax": (lambda x: lax.pmax(x, "b"), P("a", "b"), P("a")),
    "psum groups": (
        lambda x: lax.psum(x, "b", axis_index_groups=[[0], [1]]),
        P("a", "b"),
        P("a", "b"),
    ),
    "all_gather": (
        lambda x: _gathered(x) * _gathered(x)[:, ::-1],
        P("a", "b"),
        P(("a", "b")),
    ),
    "all_gather new": (
        lambda x: lax.all_gather(x, "b", axis=1)[:, 0],
        P("a", "b"),
        P("a", "b"),
    ),
    "psum_scatter": (
        lambda x: lax.psum_scatter(x, "b", scatter_dimension=0, tiled=True),
        P("a", "b"),
        P(("a", "b")),
    ),
    "all_to_all": (
        lambda x: lax.all_to_all(x, "b", 0, 1, tiled=True),
        P("a", "b"),
        P(("a", "b")),
    ),
    "all_to_all along one": (
        lambda x: lax.all_to_all(x, "b", 1, 1, tiled=True),
        P("a", "b"),
        P("a", "b"),
    ),
    "all_to_all new": (
        lambda x: lax.all_to_all(x.reshape(2, 2, 2), "b", 1, 0).reshape(2, 4),
        P("a", "b"),
        P("a", "b"),
    ),
    "all_to_all groups": (
        lambda x: lax.all_to_all(x, "b", 1, 0, axis_index_groups=[[1, 0]], tiled=True),
        P("a", "b"),
        P(("a", "b")),
    ),
    "ppermute": (lambda x: lax.ppermute(x, "b", [(0, 1)]), P("a", "b"), P("a", "b")),
    "ppermute both": (
        lambda x: lax.ppermute(x, ("a", "b"), [(0, 3), (2, 1), (3, 0)]),
        P(("a", "b")),
        P(("a", "b")),
    ),
    "halo": (
        lambda x: x + lax.ppermute(x[:, -1:], "b", [(0, 1), (1, 0)]),
        P("a", "b"),
        P("a", "b"),
    ),
    "index": (lambda x: x * lax.axis_index("a"), P("a"), P("a")),
    "scan": (
        lambda x: lax.scan(lambda c, a: (c + a, c + a), 0 * x[0], x)[1],
        P(None, "b"),
        P(None, "b"),
    ),
    "cond": (
        lambda x: lax.cond(lax.axis_index("a") > 0, lambda y: y, lambda y: y[::-1], x),
        P("a", "b"),
        P("a", "b"),
    ),
    "scan of ppermute": (
        lambda x: lax.scan(
            lambda c, a: (lax.ppermute(c, "b", [(0, 1), (1, 0)]) + a, c * 2), x[0], x
        )[1],
        P(None, "b"),
        P(None, "b"),
    ),
    "scan of psum": (
        lambda x: lax.scan(
            lambda c, a: (c, lax.psum(a, "b") + c), x[0], x, reverse=True
        )[1],
        P(None, "b"),
        P(None, "b"),
    ),
    "halo in a loop": (
        lambda x: lax.fori_loop(
            0,
            2,
            lambda i, y: y + lax.ppermute(y[:, -1:], "b", [(0, 1), (1, 0)]),
            x,
        ),
        P("a", "b"),
        P("a", "b"),
    ),
    "while of ppermute": (
        lambda x: lax.while_loop(
            lambda c: c[0] < 3,
            lambda c: (c[0] + 1, lax.ppermute(c[1], "b", [(0, 1), (1, 0)])),
            (0, x),
        )[1],
        P("a", "b"),
        P("a", "b"),
    ),
    "shard_map in shard_map": (
        lambda x: jax.shard_map(
            lambda y: y + lax.ppermute(y, "b", [(0, 1), (1, 0)])[::-1],
            in_specs=P(None, "b"),
            out_specs=P(None, "b"),
            axis_names={"b"},
            check_vma=False,
        )(lax.psum(x, "a") + x),
        P("a"),
        P("a"),
        {"a"},
    ),
    "shard_map in a scan in shard_map": (
        lambda x: lax.scan(
            lambda c, a: (
                c,
                jax.shard_map(
                    lambda y: lax.psum(y, "b"),
                    in_specs=P("b"),
                    out_specs=P(),
                    axis_names={"b"},
                    check_vma=False,
                )(a),
            ),
            0.0,
            lax.ppermute(x, "a", [(0, 1), (1, 0)]),
        )[1],
        P("a"),
        P("a"),
        {"a"},
    ),
}

# Where a factor of 0, one branch, or how many rounds there are decide.
LOOSE = {"index", "cond", "scan", "while of ppermute"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_collectives(name, mesh):
    f, in_spec, out_spec, *names = PROGRAMS[name]
    run = jax.shard_map(
        f,
        mesh=mesh,
        in_specs=in_spec,
        out_specs=out_spec,
        axis_names=names[0] if names else set(),
        check_vma=False,
    )
    compiled = jax.jit(run)
    rng = np.random.default_rng(0)
    base = rng.standard_normal(SHAPE).astype(np.float32)
    before = np.asarray(compiled(base))
    truth = np.zeros((before.size, base.size), bool)
    for i in range(base.size):
        for change in (-30.0, 30.0):
            moved = base.copy()
            moved.flat[i] += change
            truth[:, i] |= (np.asarray(compiled(moved)) != before).ravel()
    analysis = analyze(run, jax.ShapeDtypeStruct(SHAPE, np.float32))
    maps = analysis.output_to_input()
    assert not analysis.undefined
    matrix = related(maps, before.shape, SHAPE)
    if name in LOOSE:
        assert not (truth & ~matrix).any()
    else:
        np.testing.assert_array_equal(matrix, truth)
        assert all(m.exact for m in maps)
    back = related(analysis.input_to_output(), SHAPE, before.shape)
    np.testing.assert_array_equal(back.T, matrix)


def test_a_mesh_that_is_only_described_is_enough():
    described = jax.sharding.AbstractMesh(
        (4, 256), ("a", "b"), axis_types=(AxisType.Auto,) * 2
    )
    run = jax.shard_map(
        lambda x: lax.ppermute(x, "b", [(i, (i + 1) % 256) for i in range(256)]),
        mesh=described,
        in_specs=P("a", "b"),
        out_specs=P("a", "b"),
    )
    x = jax.ShapeDtypeStruct((16, 4096), np.float32)
    (one,) = analyze(run, x).output_to_input()
    rows, columns = one.flat_relation((16, 4096), (16, 4096))
    shifted = rows // 4096 * 4096 + (rows % 4096 - 16) % 4096
    np.testing.assert_array_equal(columns, shifted)


def test_a_broadcast_reads_one_device(mesh):
    """No CPU runs it, so this says by hand what it reads."""
    run = jax.shard_map(
        lambda x: lax.pbroadcast(x, "b", 1),
        mesh=mesh,
        in_specs=P("a", "b"),
        out_specs=P("a", "b"),
        check_vma=False,
    )
    maps = analyze(run, jax.ShapeDtypeStruct(SHAPE, np.float32)).output_to_input()
    rows, columns = np.nonzero(related(maps, SHAPE, SHAPE))
    np.testing.assert_array_equal(rows, np.arange(32))
    np.testing.assert_array_equal(columns, rows // 8 * 8 + 4 + rows % 4)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ([1, 2, 3, 0], "(d0 + 1) mod 4"),
        ([-1, 0, 1, 2], "d0 - 1"),
        ([2, 3, -1, -1], "d0 + 2"),
        ([3, 2, 1, 0], "-d0 + 3"),
        ([-1, 5, -1, -1], "5"),
        ([0, 0, 4, 4, 8, 8], "(d0 floordiv 2) * 4"),
        ([1, 3, 5, 1, 3, 5, 1], "(d0 mod 3) * 2 + 1"),
        ([[0, 1], [0, 1], [2, 3], [2, 3]], "(d0 floordiv 2) * 2 + d1"),
        ([[0, 2], [1, 3], [0, 2], [1, 3]], "d1 * 2 + d0 mod 2"),
        ([1, -1, 3, -1], None),
        ([0, 2, 1, 3], None),
        ([[0, 1], [2, -1]], None),
        ([[0, 1], [1, 0]], None),
        ([-1, -1], None),
    ],
)
def test_formulas_of_tables(table, text):
    table = np.array(table)
    found = formula(table, tuple(dim(i) for i in range(table.ndim)))
    if text is None:
        assert found is None
        return
    expression, limits = found
    assert str(expression) == text
    one = IndexingMap(table.shape, [expression], constraints=limits)
    pairs = {tuple(row) for row in one.relation().tolist()}
    assert pairs == {(*i, v) for i, v in np.ndenumerate(table) if v >= 0}


def test_collectives_in_two_halves(mesh):
    """JAX has no public name for its own yet; those of xlaops are one operation."""
    parallel = pytest.importorskip("jax._src.lax.parallel")
    if not hasattr(parallel, "all_gather_start"):
        pytest.skip("this version of JAX has none")
    halves = jax.shard_map(
        lambda x: parallel.all_gather_start(x, "b", axis=1, tiled=True).done(),
        mesh=mesh,
        in_specs=P("a", "b"),
        out_specs=P(("a", "b")),
        check_vma=False,
    )
    whole = jax.shard_map(
        _gathered,
        mesh=mesh,
        in_specs=P("a", "b"),
        out_specs=P(("a", "b")),
        check_vma=False,
    )
    x = jax.ShapeDtypeStruct(SHAPE, np.float32)
    assert analyze(halves, x).output_to_input() == analyze(whole, x).output_to_input()
