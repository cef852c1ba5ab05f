"""Side effects and errors of handlers, and what op itself refuses."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffi.libraries import target
from ffi.op.operations import X, make_sine

import xlaops.ffi
from xlaops.ffi import ErrorCode, HandlerError

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


def test_effects_are_not_lost_where_the_reference_would_run():
    tick = make_tick(True)
    mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Explicit,))
    spread = jax.device_put(jnp.ones(4), jax.NamedSharding(mesh, jax.P("d")))
    with pytest.raises(NotImplementedError, match=r"tick: .*shard_map"):
        jax.jit(lambda x: (tick(x), x)[1])(spread)
    with pytest.raises(ValueError, match="op: vmap must not be 'ref' where has_side"):
        xlaops.ffi.op({}, ref=lambda x: (), vmap="ref", has_side_effect=True)


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
        ({"name": 3}, TypeError, "name must be a text, got int 3"),
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
