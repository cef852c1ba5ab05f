"""Programs over several devices, against what changes when the devices run them."""

import jax
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from xlaops.indexing import analyze

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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_collectives(name, mesh):
    f, in_spec, out_spec = PROGRAMS[name]
    run = jax.shard_map(
        f, mesh=mesh, in_specs=in_spec, out_specs=out_spec, check_vma=False
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
    if name in ("index", "cond", "scan"):
        # A factor of 0, one branch, and 0 times the first row, are not told apart.
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
