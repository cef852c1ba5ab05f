"""xlaops.ffi.op as a function: derivatives, control flow, batches and platforms."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffi.libraries import target
from ffi.op.operations import X, make_sine, make_total

import xlaops.ffi
from xlaops.ffi import ErrorCode, HandlerError

# As a function


def test_signature_and_documentation_are_the_references():
    sine = make_sine()
    assert str(inspect.signature(sine)) == "(x, *, factor=1.0)"
    assert sine.__doc__ == "The sine, times a factor."
    assert sine.__name__ == "scaled_sine"
    assert sine.__module__ == "ffi.op.operations"
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
