"""xlaops.ffi.op: what reaches a handler, and what becomes of it in each transformation.

The handlers are those of native/op.cc; some of them count their calls.
"""

import dataclasses
import enum
import functools
import inspect
import pickle
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffi.libraries import calls, target

import xlaops.ffi
from xlaops.ffi import ErrorCode, HandlerError

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


@functools.cache
def make_sine(**options):
    options = {"vmap": "broadcast_all", "sharding": "... -> ...", **options}

    @xlaops.ffi.op(
        target("scaled_sine"),
        operands={"x": "f32[...]"},
        attributes={"factor": "f32"},
        **options,
    )
    def scaled_sine(x, *, factor=1.0):
        """The sine, times a factor."""
        return jnp.sin(x) * factor

    return scaled_sine


@functools.cache
def make_total(**options):
    return xlaops.ffi.op(
        target("total"), ref=_total, operands={"x": "f32[n]"}, **options
    )


def _total(x):
    return x.sum()


@functools.cache
def make_sort_rows(sharding="b _, _ -> b _"):
    return xlaops.ffi.op(
        target("sort_rows"),
        ref=_sort_rows,
        operands={"x": "f32[b,n]", "w": "f32[n]"},
        sharding=sharding,
    )


def _sort_rows(x, w):
    return jnp.sort(x, -1) + w[None]


@pytest.fixture
def counted():
    """How often handlers have been called since the last time."""
    before = [calls()]

    def count():
        now = calls()
        try:
            return now - before[0]
        finally:
            before[0] = now

    return count


@pytest.fixture
def matrix(rng):
    return rng.normal(size=(8, 5)).astype(np.float32), np.arange(5, dtype=np.float32)


def sorted_rows(x, w):
    return np.sort(x, -1) + w


# As a function


def test_signature_and_documentation_are_the_references():
    sine = make_sine()
    assert str(inspect.signature(sine)) == "(x, *, factor=1.0)"
    assert sine.__doc__ == "The sine, times a factor."
    assert sine.__name__ == "scaled_sine"
    assert sine.__module__ == __name__
    np.testing.assert_allclose(sine.ref(0.5, factor=2.0), 2 * np.sin(0.5), rtol=1e-6)


def test_handler_runs_and_not_the_reference(mode, counted):
    result = mode(lambda x: make_sine()(x, factor=2.5))(X)
    np.testing.assert_allclose(result, 2.5 * np.sin(X), rtol=1e-6)
    assert counted() == 1


def test_concrete_operands_in_a_traced_function(counted):
    sine, x = make_sine(), jnp.asarray(X)
    text = jax.jit(lambda: sine(x)).lower().as_text()
    assert text.count("func.func") == 1
    np.testing.assert_allclose(jax.jit(lambda: sine(x))(), np.sin(X), rtol=1e-6)
    assert counted() == 1


@pytest.mark.parametrize("x", [0.5, 1, np.float32(0.5), jnp.float32(0.5)])
def test_scalars_take_the_element_type(x):
    result = make_sine()(x)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.sin(float(x)), rtol=1e-6)


def test_name_without_a_reference_with_one():
    sine = xlaops.ffi.op(
        target("scaled_sine"),
        ref=lambda x, factor: jnp.sin(x) * factor,
        attributes={"factor": "f32"},
    )
    assert sine.__name__ == "scaled_sine"  # the symbol of the handler


def test_target_that_was_registered_elsewhere():
    name = target("total")
    total = xlaops.ffi.op({"cpu": name}, ref=lambda x: x.sum())
    assert total(jnp.ones(3)) == 3
    missing = xlaops.ffi.op("no_such_target", ref=lambda x: x)
    with pytest.raises(HandlerError, match="no_such_target") as caught:
        missing(1.0)
    assert caught.value.code is ErrorCode.NOT_FOUND


# Derivatives


def test_derivatives_are_those_of_the_reference():
    sine = make_sine()
    x = jnp.asarray(X[0])

    def f(x):
        return sine(x, factor=2.0).sum()

    np.testing.assert_allclose(jax.jit(jax.grad(f))(x), 2 * np.cos(x), rtol=1e-6)
    np.testing.assert_allclose(
        jax.hessian(f)(x), np.diag(-2 * np.sin(x)), rtol=1e-5, atol=1e-6
    )
    primal, tangent = jax.jvp(sine, (x,), (jnp.ones(3),))
    np.testing.assert_allclose(primal, np.sin(x), rtol=1e-6)
    np.testing.assert_allclose(tangent, np.cos(x), rtol=1e-6)


def test_result_is_the_handlers_and_its_tangent_the_references(counted):
    value, pull = jax.vjp(make_sine(), jnp.asarray(X))
    assert counted() == 1
    np.testing.assert_allclose(value, np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(pull(jnp.ones((2, 3)))[0], np.cos(X), rtol=1e-6)
    assert counted() == 0


def test_operands_without_derivatives():
    @xlaops.ffi.op({})
    def shifted(x, i):
        return x + i, i

    i = jnp.arange(3)
    grad = jax.grad(lambda x: (shifted(x, i)[0] ** 2).sum())(jnp.ones(3))
    np.testing.assert_array_equal(grad, 2 * (1 + i))
    _, tangents = jax.jvp(lambda x: shifted(x, i), (jnp.ones(3),), (jnp.ones(3),))
    assert tangents[1].dtype == jax.dtypes.float0


@pytest.mark.parametrize("rematted", [False, True])
def test_in_control_flow(rematted, counted):
    sine = make_sine()

    def program(x):
        def step(carry, _):
            return jax.lax.cond(carry[0] > -9, sine, lambda x: x, carry), None

        return jax.lax.scan(step, x, length=3)[0]

    run = jax.checkpoint(program) if rematted else program
    x = jnp.asarray(X[0])
    expected = np.sin(np.sin(np.sin(X[0])))
    np.testing.assert_allclose(jax.jit(run)(x), expected, rtol=1e-5)
    assert counted() == 3
    slope = np.cos(X[0]) * np.cos(np.sin(X[0])) * np.cos(np.sin(np.sin(X[0])))
    grad = jax.jit(jax.grad(lambda x: run(x).sum()))(x)
    np.testing.assert_allclose(grad, slope, rtol=1e-5)


# Batches


@pytest.mark.parametrize(
    ("vmap", "count"),
    [
        ("sequential", 6),
        ("sequential_unrolled", 6),
        ("broadcast_all", 1),
        ("expand_dims", 1),
        ("ref", 0),
    ],
)
def test_batches_reach_the_handler_as_asked(vmap, count, counted):
    sine = make_sine(vmap=vmap)
    x = np.linspace(0, 1, 24, dtype=np.float32).reshape(2, 4, 3)
    run = jax.vmap(jax.vmap(sine, in_axes=1, out_axes=1))
    # The batch of the inner one is the last dimension.
    np.testing.assert_allclose(jax.jit(run)(x), np.sin(x), rtol=1e-6)
    assert counted() == count


@pytest.mark.parametrize("vmap", ["sequential", "broadcast_all", "expand_dims", "ref"])
def test_batches_of_some_operands(vmap, rng):
    def make(x_axis, w_axis):
        f = xlaops.ffi.op(target("sort_rows"), ref=_sort_rows_nd, vmap=vmap)
        return jax.vmap(f, in_axes=(x_axis, w_axis))

    x = rng.normal(size=(4, 2, 3)).astype(np.float32)
    w = np.arange(3, dtype=np.float32)
    np.testing.assert_allclose(make(0, None)(x, w), np.sort(x, -1) + w, rtol=1e-6)
    moved = make(1, None)(x, w)
    np.testing.assert_allclose(moved, np.sort(x, -1).swapaxes(0, 1) + w, rtol=1e-6)


def _sort_rows_nd(x, w):
    return jnp.sort(x, -1) + w[(None,) * (x.ndim - 1)]


@pytest.mark.parametrize("vmap", ["sequential", "ref"])
def test_batch_for_a_handler_of_one_rank(vmap):
    total = make_total(vmap=vmap)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(jax.vmap(jax.vmap(total))(x), x.sum(-1))
    np.testing.assert_array_equal(jax.vmap(jax.grad(total))(x[0]), np.ones((3, 4)))
    np.testing.assert_array_equal(
        jax.jacrev(jax.vmap(total))(x[0]), np.eye(3)[:, :, None] * np.ones(4)
    )


def test_no_batches():
    total = make_total(vmap=None)
    with pytest.raises(NotImplementedError, match="total: vmap must be given"):
        jax.vmap(total)(X)


# Several devices


def _collectives(text):
    return {n for n in ("all-gather", "all-reduce", "all-to-all") if n in text}


@pytest.fixture(scope="module")
def mesh4():
    return jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))


def test_sharded_program_runs_on_parts_without_a_gather(mesh4, matrix, counted):
    x, w = matrix
    spread = jax.device_put(x, jax.NamedSharding(mesh4, jax.P("d")))
    run = jax.jit(make_sort_rows())
    counted()
    result = run(spread, w)
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


# Platforms


def test_other_platforms_run_the_reference():
    traced = jax.jit(jax.vmap(make_sine())).trace(X)
    for platform, has_call in (("cpu", True), ("tpu", False), ("cuda", False)):
        text = traced.lower(lowering_platforms=(platform,)).as_text()
        assert ("custom_call" in text) == has_call
    both = traced.lower(lowering_platforms=("cpu", "tpu")).as_text()
    assert "custom_call" in both
    assert "sine" in both


def test_handlers_of_several_platforms():
    f = xlaops.ffi.op({"cpu": "of_cpu", "gpu": "of_gpu"}, ref=lambda x: x + 1)
    traced = jax.jit(f).trace(1.0)
    for platform, name in (("cpu", "cpu"), ("cuda", "gpu"), ("rocm", "gpu")):
        assert f"@of_{name}" in traced.lower(lowering_platforms=(platform,)).as_text()


def test_without_a_reference_it_runs_nowhere_else():
    f = xlaops.ffi.op("t", ref=None, name="f", operands={"x": "*"}, result="f32[]")
    with pytest.raises(NotImplementedError, match=r"f: has handlers for cpu, .*tpu"):
        jax.jit(f).trace(1.0).lower(lowering_platforms=("tpu",))
    with pytest.raises(NotImplementedError, match="f: derivatives are those of"):
        jax.grad(f)(1.0)


def test_exported_program_holds_the_reference():
    exported = jax.export.export(jax.jit(make_sine()))(X)
    assert "custom_call" not in exported.mlir_module()
    np.testing.assert_allclose(exported.call(X), np.sin(X), rtol=1e-6)


def test_exported_program_of_any_size():
    (n,) = jax.export.symbolic_shape("n")
    struct = jax.ShapeDtypeStruct((n,), jnp.float32)
    exported = jax.export.export(jax.jit(make_sine()))(struct)
    np.testing.assert_allclose(exported.call(X[0]), np.sin(X[0]), rtol=1e-6)


# Attributes


def kind_of(**attributes):
    f = xlaops.ffi.op(
        target("kind_of"),
        ref=None,
        name="kind_of",
        operands={},
        result="f32[2]",
        attributes=dict,
    )
    return int(f(**attributes)[0])


def test_equal_values_of_other_types_are_told_apart():
    """JAX's own calls run the program of the first of them for all."""
    pairs = [(1, 3), (np.float32(1), 4), (True, 1), (np.int32(1), 2), (1.0, 5)]
    for value, kind in [*pairs, (np.uint8(1), 6), ("1", 7), *reversed(pairs)]:
        assert kind_of(v=value) == kind


def test_signed_zeros_are_told_apart():
    sine = make_sine()
    x = jnp.ones(2)
    for factor in (0.0, -0.0, 0.0):
        assert np.signbit(sine(x, factor=factor)).all() == np.signbit(factor)


def test_every_number_reaches_the_handler(x64):
    names = [f"{letter}{bits}" for letter in "su" for bits in (8, 16, 32, 64)]
    names += ["f32", "f64", "pred"]
    f = xlaops.ffi.op(
        target("every_number"),
        ref=None,
        name="f",
        operands={},
        result="s64[11]",
        attributes={name: name for name in names},
    )
    low = f(
        s8=-(2**7), s16=-(2**15), s32=-(2**31), s64=-(2**63), u8=0, u16=0, u32=0, u64=0,
        f32=-0.0, f64=float("-inf"), pred=False,
    )  # fmt: skip
    bits = [-(2**7), -(2**15), -(2**31), -(2**63), 0, 0, 0, 0, 2**31, -(2**52), 0]
    np.testing.assert_array_equal(low, bits)
    high = f(
        s8=np.int64(127), s16=2**15 - 1, s32=jnp.int32(7), s64=2**63 - 1, u8=255,
        u16=2**16 - 1, u32=2**32 - 1, u64=2**64 - 1, f32=1, f64=np.float32(0.5),
        pred=np.bool_(True),
    )  # fmt: skip
    bits = [127, 2**15 - 1, 7, 2**63 - 1, 255, 2**16 - 1, 2**32 - 1, -1]
    np.testing.assert_array_equal(high, [*bits, 0x3F800000, 0x3FE << 52, 1])


def test_texts_arrays_and_complex_numbers(x64):
    f = xlaops.ffi.op(
        target("text_and_arrays"),
        ref=None,
        name="f",
        operands={},
        result="f64[8]",
        attributes={
            "text": str,
            "ints": "s32[]",
            "bytes": "u8[]",
            "doubles": "f64[]",
            "number": "c64",
        },
    )
    text = 'a\0"\\\u00e9'
    octets = text.encode()
    given = f(
        text=text,
        ints=np.array([[1, -2], [3, 4]]),
        bytes=(255, 255),
        doubles=[],
        number=1 - 2j,
    )
    folded = functools.reduce(lambda total, byte: 2 * total + byte, octets, 0)
    expected = [len(octets), folded, 4, 27 - 18 + 9 + 4, 3 * 255 + 255, 0, 1, -2]
    np.testing.assert_array_equal(given, expected)
    splat = f(text=b"", ints=[5] * 3, bytes=[], doubles=[0.5] * 200, number=0)
    np.testing.assert_array_equal(splat, [0, 0, 3, 65, 0, 100, 0, 0])


class Mode(enum.IntEnum):
    DOWN = 1
    UP = 200


@dataclasses.dataclass(frozen=True)
class Range:
    low: int
    high: Annotated[float, "f32"] = 2.5


@dataclasses.dataclass(frozen=True)
class Options:
    range: Range
    mode: Annotated[Mode, xlaops.ffi.enumeration(Mode, "u8")] = Mode.DOWN
    name: str = "none"


def test_structs_and_dictionaries_within_each_other():
    seen = []

    def ref(options, more):
        seen.append((options, more))
        return jnp.zeros(6)

    f = xlaops.ffi.op(
        target("structs"),
        ref=ref,
        attributes={"options": Options, "more": {"depth": "s32", "inner": dict}},
    )
    more = {"depth": 4, "inner": {"x": np.float32(9)}}
    given = f(options=Options(Range(3), Mode.UP), more=more)
    np.testing.assert_array_equal(given, [3, 2.5, 200, 4, 4, 9])
    assert seen[0] == (Options(Range(3), Mode.UP), more)
    given = f(options={"range": {"low": -1, "high": 1}, "name": ""}, more=more)
    np.testing.assert_array_equal(given, [-1, 1, 1, 0, 4, 9])


@pytest.mark.parametrize(
    ("type_", "value", "error", "message"),
    [
        ("s8", 128, ValueError, r"fit into s8 \(-128 to 127\), got 128"),
        ("u16", -1, ValueError, "fit into u16"),
        ("s32", True, TypeError, "an int for s32"),
        ("s32", 1.0, TypeError, "an int for s32, got float 1.0"),
        ("f32", 1e39, ValueError, "fit into f32"),
        ("f64", 10**400, ValueError, "fit into f64"),
        ("f32", "1", TypeError, "a number for f32, got str '1'"),
        ("f32", 1j, TypeError, "a number for f32"),
        ("f32", None, TypeError, "a number for f32"),
        ("c64", "1", TypeError, "a complex number"),
        ("c64", 1e39j, ValueError, "fit into c64"),
        ("pred", 1, TypeError, "a bool, got int 1"),
        ("str", 1, TypeError, "a str or bytes, got int 1"),
        ("str", "\ud800", ValueError, "UTF-8"),
        ("s32[]", [1.5], TypeError, "an array of s32"),
        ("s32[]", [2**31], ValueError, "fit into s32"),
        ("s32[]", [[1], [1, 2]], TypeError, "an array of s32"),
        ("f32[]", [1e39], ValueError, "fit into f32"),
        ("f32[]", ["a"], TypeError, "an array of f32"),
        (Mode, 2, ValueError, r"one of Mode \(DOWN, UP\), got 2"),
        (Mode, "LEFT", ValueError, "one of Mode"),
        (Mode, 1.0, TypeError, "an int for a Mode"),
        (Range, 3, TypeError, "a Range, got int 3"),
        (Range, {"high": 1.0}, TypeError, r"a\.low must be given"),
        (Range, {"low": 1, "middle": 1}, TypeError, r"a\.middle must be a known"),
        ({"x": "s32"}, {"x": 1.5}, TypeError, r"a\.x must be an int"),
        (dict, {1: 2}, TypeError, "names as keys"),
        (dict, {"x": None}, TypeError, r"a\.x must be a number"),
        (dict, 5, TypeError, "a mapping"),
    ],
)
def test_attributes_are_checked_before_anything_runs(type_, value, error, message):
    f = xlaops.ffi.op({}, ref=lambda x, a: x, name="f", attributes={"a": type_})
    with pytest.raises(error, match=f"f: (a must .*)?{message}"):
        f(1.0, a=value)


def test_attributes_by_name_only_and_all_of_them():
    sine = make_sine()
    with pytest.raises(TypeError, match="scaled_sine: too many positional"):
        sine(1.0, 2.0)
    with pytest.raises(TypeError, match=r"scaled_sine: .*unexpected.* 'fact'"):
        sine(1.0, fact=2.0)
    f = xlaops.ffi.op({}, ref=lambda x, a: x, name="f", attributes={"a": "s32"})
    with pytest.raises(TypeError, match=r"f: missing a required.* 'a'"):
        f(1.0)


def test_traced_attributes_are_refused_with_what_to_do():
    with pytest.raises(TypeError, match=r"factor must be known .*static_argnames"):
        jax.jit(lambda f: make_sine()(1.0, factor=f))(2.0)


@pytest.mark.parametrize(
    ("type_", "error"),
    [("f16", ValueError), ("pred[]", ValueError), ("c64[]", ValueError), ("f32[3]",
     ValueError), (3.5, TypeError), (object, TypeError), ({"a b": "s32"}, TypeError)],
)  # fmt: skip
def test_types_of_attributes_are_checked(type_, error):
    with pytest.raises(error, match="op: attributes"):
        xlaops.ffi.op({}, ref=lambda x, a: x, attributes={"a": type_})


def test_enumerations_are_checked():
    with pytest.raises(ValueError, match="fit into s8"):
        xlaops.ffi.enumeration(Mode, "s8")
    with pytest.raises(ValueError, match="element_type must be one of"):
        xlaops.ffi.enumeration(Mode, "f32")
    with pytest.raises(TypeError, match="members must be an enumeration"):
        xlaops.ffi.enumeration(3)


# Operands


@pytest.mark.parametrize(
    ("spec", "shape", "dtype", "message"),
    [
        ("f32[2]", (2,), "float32", None),
        ("f32[2]", (3,), "float32", r"must be f32\[2\], got f32\[3\]"),
        ("f32[2]", (2,), "int32", r"must be f32\[2\], got s32\[2\]"),
        ("f32[n,n]", (2, 2), "float32", None),
        ("f32[n,n]", (2, 3), "float32", r"must be f32\[n,n\], got f32\[2, 3\]"),
        ("f32|bf16[_,_]", (2, 3), "bfloat16", None),
        ("f32|bf16[_,_]", (2, 3), "float16", "got f16"),
        ("*[...,3]", (3,), "bool", None),
        ("*[...,3]", (), "bool", "got pred"),
        ("*", (1, 2, 3), "uint8", None),
        ("f32[]", (1,), "float32", r"must be f32\[\]"),
    ],
)
def test_operands_are_checked(spec, shape, dtype, message):
    f = xlaops.ffi.op({}, ref=lambda x: x, name="f", operands={"x": spec})
    for run in (f, jax.jit(f)):
        if message is None:
            assert run(jnp.zeros(shape, dtype)).shape == shape
            continue
        with pytest.raises(TypeError, match=f"f: x .*{message}"):
            run(jnp.zeros(shape, dtype))


def test_names_are_one_size_and_one_type_in_all_operands():
    operands = {"a": "T[...,n]", "b": "T[...,m]", "c": "s32[n]"}
    f = xlaops.ffi.op(
        "t", ref=None, name="f", operands=operands, result=("T[...,m]", "s32[n,2]")
    )
    a, b, c = jnp.ones((4, 2)), jnp.ones((4, 3)), jnp.ones(2, "int32")
    y, z = jax.eval_shape(f, a, b, c)
    assert (y.shape, y.dtype, z.shape, z.dtype) == ((4, 3), "float32", (2, 2), "int32")
    with pytest.raises(TypeError, match=r"f: b must be T\[...,m\] with T = f32 of a"):
        f(a, b.astype("int32"), c)
    with pytest.raises(TypeError, match=r"f: c must be s32\[n\] with n = 2 of a"):
        f(a, b, jnp.ones(3, "int32"))
    with pytest.raises(TypeError, match=r"f: b must be"):
        f(a, b[0], c)


@pytest.mark.parametrize("value", [None, "x", [1.0, 2.0], {"a": 1.0}, object()])
def test_operands_are_arrays(value):
    with pytest.raises(TypeError, match=r"scaled_sine: x must be"):
        make_sine()(value)


def test_number_of_operands():
    with pytest.raises(TypeError, match=r"sort_rows: missing a required.* 'w'"):
        make_sort_rows()(X)
    with pytest.raises(TypeError, match="sort_rows: too many positional"):
        make_sort_rows()(X, X[0], X)


def test_any_number_of_operands_and_results():
    @xlaops.ffi.op(target("negated"), operands={"first": "f32[n]", "rest": "f32[n]"})
    def negated(first, *rest):
        return first + sum(rest), [-x for x in rest]

    a, b, c = (np.arange(3, dtype=np.float32) + i for i in range(3))
    total, others = negated(a, b, c)
    np.testing.assert_array_equal(total, a + b + c)
    np.testing.assert_array_equal(others, [-b, -c])
    total, others = negated(a)
    np.testing.assert_array_equal(total, a)
    assert others == []
    batched = jax.vmap(negated, in_axes=(0, None))(np.stack([a, b]), c)
    np.testing.assert_array_equal(batched[0], [a + c, b + c])
    np.testing.assert_array_equal(batched[1][0], [-c, -c])
    with pytest.raises(TypeError, match=r"negated: rest\[1\] must be f32\[n\]"):
        negated(a, b, c[:2])


def test_operands_and_results_that_may_be_missing():
    @xlaops.ffi.op(
        target("optional"), result=lambda x, y: (x, None if y is None else "f32[]")
    )
    def optional(x, y=None):
        return (x, None) if y is None else (x + y, jnp.float32(1))

    x = jnp.arange(3.0)
    y, had = optional(x)
    np.testing.assert_array_equal(y, x)
    assert had is None
    y, had = optional(x, x)
    np.testing.assert_array_equal(y, 2 * x)
    assert had == 1
    f = xlaops.ffi.op({}, ref=lambda x=None, y=None: x, name="f")
    with pytest.raises(TypeError, match="f: y must be None where an operand before"):
        f(None, 1.0)


# Results, and the memory of operands


def test_reference_must_be_what_the_result_says():
    f = xlaops.ffi.op(
        {}, ref=lambda x: x.sum(), name="f", operands={"x": "f32[n]"}, result="f32[n]"
    )
    with pytest.raises(
        TypeError, match=r"f: ref must return what result says, .*\[3\]"
    ):
        f(jnp.ones(3))
    f = xlaops.ffi.op({}, ref=lambda x: "text", name="f")
    with pytest.raises(TypeError, match="f: ref must return arrays, got str"):
        f(1.0)


@pytest.mark.parametrize(
    "result",
    [
        "f32[6]",
        jax.ShapeDtypeStruct((6,), jnp.float32),
        xlaops.types.Shape.parse("f32[6]"),
        lambda x: jax.ShapeDtypeStruct((x.size,), x.dtype),
        lambda x: "f32[6]",
    ],
)
def test_forms_of_results(result):
    f = xlaops.ffi.op(target("raw"), ref=lambda x: x.ravel(), result=result)
    np.testing.assert_array_equal(f(X), X.ravel())


def test_result_follows_attributes():
    f = xlaops.ffi.op(
        target("raw"),
        ref=lambda x, rows: x.reshape(rows, -1),
        result=lambda x, rows: jax.ShapeDtypeStruct((rows, x.size // rows), x.dtype),
        attributes={"rows": "s64"},
        name="f",
    )
    # The handler decodes none, and XLA then lets it be given some.
    for rows in (1, 3):
        np.testing.assert_array_equal(f(X, rows=rows), X.reshape(rows, -1))


def test_aliased_operands():
    f = xlaops.ffi.op(
        target("increment"),
        ref=lambda x: (x + 1, jnp.float32(0)),
        operands={"x": "f32[n]"},
        aliases={"x": 0},
    )
    x = jnp.arange(3.0)
    y, is_same = f(x)
    np.testing.assert_array_equal(y, [1, 2, 3])
    assert is_same == 1
    np.testing.assert_array_equal(x, [0, 1, 2])  # it was copied
    y, is_same = jax.vmap(f)(X)
    np.testing.assert_array_equal(y, X + 1)
    np.testing.assert_array_equal(is_same, [1, 1])
    y, is_same = jax.jit(f, donate_argnums=0)(x)
    np.testing.assert_array_equal(y, [1, 2, 3])
    assert x.is_deleted()


def test_aliases_are_checked():
    def make(aliases):
        return xlaops.ffi.op({}, ref=lambda x: x.sum(), name="f", aliases=aliases)

    with pytest.raises(TypeError, match=r"f: x must have the type of result 0"):
        make({"x": 0})(jnp.ones(3))
    with pytest.raises(ValueError, match="f: aliases must be of 1 operands"):
        make({"x": 1})(1.0)
    with pytest.raises(ValueError, match="aliases must name an operand"):
        make({"y": 0})
    with pytest.raises(ValueError, match="must not be negative"):
        make({"x": -1})


def test_scratch_memory_is_not_returned():
    f = xlaops.ffi.op(
        target("increment"),
        ref=lambda x: (x + 1, jnp.float32(0)),
        scratch=lambda x: jax.ShapeDtypeStruct((2 * x.shape[0],), x.dtype),
    )
    for run in (f, jax.jit(f)):
        y, _ = run(X[0])
        np.testing.assert_array_equal(y, X[0] + 1)
    np.testing.assert_array_equal(jax.vmap(f)(X)[0], X + 1)
    wrong = xlaops.ffi.op(
        target("increment"), ref=lambda x: (x + 1, jnp.float32(0)), scratch="f32[3]"
    )
    with pytest.raises(HandlerError, match="scratch of another size"):
        wrong(X[0])


def test_keys_of_random_numbers():
    f = xlaops.ffi.op(target("raw"), ref=lambda key: key)
    key = jax.random.key(7)
    np.testing.assert_array_equal(
        jax.random.key_data(jax.jit(f)(key)), jax.random.key_data(key)
    )


# Side effects


def make_tick(effect, sharding=None):
    return xlaops.ffi.op(
        target("tick"),
        ref=lambda x: (),
        name="tick",
        has_side_effect=effect,
        sharding=sharding,
    )


@pytest.mark.parametrize("effect", [False, True])
def test_unused_calls_stay_if_they_have_effects(effect, counted):
    tick = make_tick(effect)

    @jax.jit
    def program(x):
        tick(x)
        tick(x)
        return x

    jax.block_until_ready(program(1.0))
    assert counted() == (2 if effect else 0)


def test_effects_in_every_transformation(counted, mesh4):
    tick = make_tick(True)
    tick(1.0)
    assert counted() == 1

    def body(carry, _):
        tick(carry)
        return carry + 1, None

    jax.block_until_ready(jax.jit(lambda x: jax.lax.scan(body, x, length=5))(1.0))
    assert counted() == 5

    def squared(x):
        tick(x)
        return x**2

    jax.block_until_ready(jax.grad(squared)(3.0))
    assert counted() == 1
    assert jax.grad(jax.checkpoint(squared))(3.0) == 6
    assert counted() >= 1
    jax.block_until_ready(jax.vmap(squared)(jnp.ones(3)))
    assert counted() == 3
    run = jax.shard_map(squared, mesh=mesh4, in_specs=jax.P("d"), out_specs=jax.P("d"))
    jax.block_until_ready(jax.jit(run)(jnp.ones(4)))
    assert counted() == 4
    spread = jax.device_put(jnp.ones(4), jax.NamedSharding(mesh4, jax.P("d")))
    with pytest.raises(NotImplementedError, match=r"tick: .*shard_map"):
        jax.jit(squared)(spread)


# Errors


def make_fail():
    return xlaops.ffi.op(
        target("fail"), ref=lambda x, code: x, name="fail", attributes={"code": "s32"}
    )


@pytest.mark.parametrize("size", [2, 10**6])
@pytest.mark.parametrize("code", list(ErrorCode))
def test_codes_of_handlers(code, size):
    with pytest.raises(HandlerError) as caught:
        make_fail()(jnp.ones(size), code=int(code))
    error = caught.value
    assert (error.code, error.message) == (code, f"code {int(code)}")
    assert error.operation == "fail"
    assert str(error) == f"fail: {code.name}: code {int(code)}"
    assert isinstance(error, jax.errors.JaxRuntimeError)
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.message, again.operation) == (
        error.code,
        error.message,
        "fail",
    )


def test_exceptions_of_handlers():
    with pytest.raises(HandlerError, match="thrown") as caught:
        make_fail()(1.0, code=0)
    assert caught.value.code is ErrorCode.UNKNOWN


@pytest.mark.parametrize("size", [2, 10**6])
def test_errors_of_compiled_programs(size):
    """Their type depends on whether the program has run before; not so here."""
    fail = make_fail()
    program = jax.jit(lambda x: fail(x, code=5) + 1)

    @xlaops.ffi.handler_errors("program")
    def run(x):
        return jax.block_until_ready(program(x))

    for _ in range(2):
        with pytest.raises(HandlerError, match="program: NOT_FOUND: code 5"):
            run(jnp.ones(size))
    with pytest.raises(ZeroDivisionError), xlaops.ffi.handler_errors():
        1 / 0  # noqa: B018
    with pytest.raises(ValueError, match=r"^plain$"), xlaops.ffi.handler_errors():
        raise ValueError("plain")


# What op itself is given


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"handler": 3}, TypeError, "handler must be the name of a target"),
        ({"handler": {"cpu": 3}}, TypeError, "handler must have"),
        ({"handler": {"tpu": "t"}}, ValueError, "handler must be for cpu, cuda, rocm"),
        ({"ref": 3}, TypeError, "ref must be callable"),
        ({"ref": None}, TypeError, "name, operands and result must be given"),
        ({"vmap": "parallel"}, ValueError, "vmap must be one of"),
        ({"operands": {"y": "f32"}}, TypeError, "operands must name operands of ref"),
        ({"operands": {"x": "f33"}}, ValueError, "name element types"),
        ({"operands": {"x": "f32[2"}}, ValueError, "must be a text such as"),
        ({"operands": {"x": "f32[n,...]"}}, ValueError, "in front"),
        ({"operands": {"x": 3}}, TypeError, "must be a text such as"),
        ({"operands": "f32"}, TypeError, "operands must be a mapping"),
        ({"attributes": {"b": "s32"}}, TypeError, "ref must take the attribute b"),
        ({"attributes": 3}, TypeError, "attributes must be a mapping"),
        ({"ref": lambda x, *, a: x}, TypeError, "the type of a, which is a keyword"),
        (
            {"ref": lambda a, x: x, "attributes": {"a": "s32"}},
            TypeError,
            "operands before its attributes",
        ),
        ({"sharding": 3}, TypeError, "sharding must be a rule"),
        ({"aliases": [0]}, TypeError, "aliases must be a mapping"),
        ({"has_side_effect": 1}, TypeError, "has_side_effect must be"),
    ],
)
def test_arguments_of_op_are_checked(options, error, message):
    options = {"handler": {}, "ref": lambda x: x, **options}
    with pytest.raises(error, match=f"op: .*{message}"):
        xlaops.ffi.op(options.pop("handler"), **options)


def test_calls_cost_what_those_of_jax_do():
    """The program is that of jax.ffi: one custom call and nothing around it."""
    sine = make_sine()
    x = jnp.asarray(X)
    of_jax = jax.ffi.ffi_call(
        target("scaled_sine"), jax.ShapeDtypeStruct((2, 3), "float32")
    )

    def program(x):
        return sine(x, factor=2.0)

    ours = jax.jit(program).lower(x).as_text()

    def program(x):
        return of_jax(x, factor=np.float32(2))

    assert ours == jax.jit(program).lower(x).as_text()
