"""Operations of handlers on several devices: rules of sharding, and no gather."""

import jax
import numpy as np
import pytest
from ffi.children import printed
from ffi.libraries import library, target
from ffi.op.operations import X, make_sine, make_sort_rows, make_total, sorted_rows

import xlaops.ffi


def _collectives(text):
    return {n for n in ("all-gather", "all-reduce", "all-to-all") if n in text}


def test_sharded_program_runs_on_parts_without_a_gather(mesh4, matrix, counted):
    x, w = matrix
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P("d")))
    run = jax.jit(make_sort_rows())
    counted()
    result = jax.block_until_ready(run(spread, w))
    assert counted() == 4
    np.testing.assert_allclose(result, sorted_rows(x, w), rtol=1e-6)
    assert result.sharding.spec == jax.P("d")
    text = run.lower(spread, w).compile().as_text()
    assert not _collectives(text)
    assert "custom-call" in text
    assert "f32[2,5]" in text


def test_dimension_that_must_be_whole_is_made_so(mesh4, rng):
    x = rng.normal(size=(3, 8)).astype(np.float32)
    w = np.arange(8, dtype=np.float32)
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P(None, "d")))
    result = jax.jit(make_sort_rows())(spread, w)
    np.testing.assert_allclose(result, sorted_rows(x, w), rtol=1e-6)


@pytest.mark.parametrize("levels", [1, 2])
def test_sharded_batch(mesh4, rng, levels):
    x = rng.normal(size=(4, 8, 3)[-1 - levels :]).astype(np.float32)
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P("d")))
    run = make_sine(vmap="sequential")
    for _ in range(levels):
        run = jax.vmap(run)
    compiled = jax.jit(run).lower(spread).compile()
    np.testing.assert_allclose(compiled(spread), np.sin(x), rtol=1e-6)
    assert not _collectives(compiled.as_text())
    assert "custom-call" in compiled.as_text()


@pytest.mark.parametrize("name", ["batch0", "rest0"])
def test_any_name_will_do(mesh4, rng, name):
    x = rng.normal(size=(2, 8, 3)).astype(np.float32)
    rule = f"... {name} _, _ -> ... {name} _"
    run = jax.jit(jax.vmap(make_sort_rows(sharding=rule), in_axes=(0, None)))
    w = np.arange(3, dtype=np.float32)
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P(None, "d")))
    np.testing.assert_allclose(run(spread, w), sorted_rows(x, w), rtol=1e-6)
    assert not _collectives(run.lower(spread, w).compile().as_text())


def test_before_shardy():
    """In a child: an error while XLA asks for a sharding ends the process."""
    script = f"""
        import os
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
        import jax, jax.numpy as jnp, numpy as np, xlaops.ffi
        jax.config.update("jax_use_shardy_partitioner", False)
        library = xlaops.ffi.load_library({str(library("op").path)!r}, name="op")
        add = xlaops.ffi.op(
            library.target("sort_rows"),
            ref=lambda x, w: jnp.sort(x, -1) + w,
            sharding="b _, _ -> b _",
        )
        mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
        x = np.arange(12.0, dtype=np.float32).reshape(4, 3)[:, ::-1]
        spread = jax.device_put(x, jax.NamedSharding(mesh, jax.P("d")))
        y = jax.jit(add)(spread, jnp.ones(3))
        np.testing.assert_array_equal(y, x[:, ::-1] + 1)
        print(y.sharding.spec)
    """
    assert "'d'" in printed(script)


def test_sharded_derivative(mesh4, matrix):
    x, w = matrix
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P("d")))
    sort_rows = make_sort_rows()
    scale = np.arange(5, dtype=np.float32)[None]
    grad = jax.jit(jax.grad(lambda x: (sort_rows(x, w) * scale).sum()))(spread)
    np.testing.assert_array_equal(grad, np.argsort(np.argsort(x, -1), -1))


def test_without_a_rule_the_reference_runs(mesh4, matrix, counted):
    x, w = matrix
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P("d")))
    run = jax.jit(make_sort_rows(sharding=None))
    np.testing.assert_allclose(run(spread, w), sorted_rows(x, w), rtol=1e-6)
    assert counted() == 0
    assert not _collectives(run.lower(spread, w).compile().as_text())


def test_replicate_gathers(mesh4, matrix, counted):
    x, w = matrix
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P("d")))
    run = jax.jit(make_sort_rows(sharding="replicate"))
    # Every device has the whole result, and NumPy reads the first that is ready.
    result = jax.block_until_ready(run(spread, w))
    np.testing.assert_allclose(result, sorted_rows(x, w), rtol=1e-6)
    assert counted() == 4
    assert _collectives(run.lower(spread, w).compile().as_text()) == {"all-gather"}


@pytest.mark.parametrize("check_vma", [False, True])
def test_shard_map(mesh4, matrix, counted, check_vma):
    x, w = matrix
    run = jax.shard_map(
        make_sort_rows(sharding=None),
        mesh=mesh4,
        in_specs=(jax.P("d"), jax.P()),
        out_specs=jax.P("d"),
        check_vma=check_vma,
    )
    np.testing.assert_allclose(jax.jit(run)(x, w), sorted_rows(x, w), rtol=1e-6)
    assert counted() == 4
    grad = jax.jit(jax.grad(lambda x, w: run(x, w).sum(), argnums=1))(x, w)
    np.testing.assert_array_equal(grad, np.full(5, 8))


@pytest.mark.parametrize("sharding", ["b _, _ -> b _", None])
def test_explicit_mesh(matrix, counted, sharding):
    x, w = matrix
    mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Explicit,))
    sort_rows = make_sort_rows(sharding=sharding)
    with jax.set_mesh(mesh):
        spread = jax.device_put(x, jax.NamedSharding(mesh, jax.P("d")))
        result = jax.jit(sort_rows)(spread, w)
        np.testing.assert_allclose(result, sorted_rows(x, w), rtol=1e-6)
        assert jax.typeof(result).sharding.spec[0] == "d"
        assert counted() == (4 if sharding else 0)
        text = jax.jit(sort_rows).lower(spread, w).compile().as_text()
        assert not _collectives(text)
        if sharding is None:
            return  # jax.numpy.sort sorts no dimension that is split
        columns = jax.device_put(x[:, :4], jax.NamedSharding(mesh, jax.P(None, "d")))
        result = jax.jit(sort_rows)(columns, w[:4])
        np.testing.assert_allclose(result, sorted_rows(x[:, :4], w[:4]), rtol=1e-6)


@pytest.mark.parametrize("sharding", ["... -> ...", None])
def test_explicit_mesh_that_is_not_the_context(sharding, rng):
    """As jax.make_mesh makes them, where no mesh is set."""
    x = rng.normal(size=(8, 3)).astype(np.float32)
    mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Explicit,))
    spread = jax.device_put(x, jax.NamedSharding(mesh, jax.P("d")))
    sine = make_sine(sharding=sharding)
    for run in (sine, jax.jit(sine), jax.jit(jax.vmap(sine))):
        result = run(spread)
        np.testing.assert_allclose(result, np.sin(x), rtol=1e-6)
        assert jax.typeof(result).sharding.spec[0] == "d"
    text = jax.jit(jax.vmap(sine)).lower(spread).compile().as_text()
    assert not _collectives(text)
    assert ("custom-call" in text) == (sharding is not None)
    grad = jax.jit(jax.grad(lambda x: sine(x).sum()))(spread)
    np.testing.assert_allclose(grad, np.cos(x), rtol=1e-6)


def test_pmap(counted):
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(jax.pmap(make_total())(x), x.sum(1))
    assert counted() == 4


def test_partly_manual_program_runs_the_reference(mesh4, counted):
    mesh = jax.make_mesh(
        (2, 2), ("d", "e"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )
    run = jax.shard_map(
        make_sine(),
        mesh=mesh,
        in_specs=jax.P("d"),
        out_specs=jax.P("d"),
        axis_names={"d"},
    )
    np.testing.assert_allclose(jax.jit(run)(X), np.sin(X), rtol=1e-6)
    assert counted() == 0


def test_handler_that_nothing_stands_for_needs_a_rule(mesh4):
    f = xlaops.ffi.op(
        target("raw"), ref=None, name="f", operands={"x": "f32[n]"}, result="f32[n]"
    )
    spread = jax.device_put(X.ravel()[:4], jax.NamedSharding(mesh4, jax.P("d")))
    with pytest.raises(NotImplementedError, match="f: sharding must say"):
        jax.jit(f)(spread)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("b _", "a rule such as"),
        ("b 2 -> b _", "must name dimensions"),
        ("b b -> b", "once"),
        ("b c -> b", "without c"),
        ("... -> _", r"without \.\.\."),
    ],
)
def test_rules_are_checked(rule, message):
    with pytest.raises(ValueError, match=f"op: sharding .*{message}"):
        make_sort_rows(sharding=rule)


@pytest.mark.parametrize("rule", ["b _ -> b _", "b, _ -> b _", "b _, _ -> b _, b"])
def test_rule_must_fit_the_call(mesh4, matrix, rule):
    x, w = matrix
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P("d")))
    with pytest.raises(TypeError, match="sort_rows: sharding must"):
        jax.jit(make_sort_rows(sharding=rule))(spread, w)
