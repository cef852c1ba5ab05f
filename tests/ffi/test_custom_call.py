"""xo.custom_call and its forms: what reaches the target, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffi.children import printed
from ffi.libraries import symbols, target

import xlaops as xo
from xlaops import builder as xb

TYPED = "API_VERSION_TYPED_FFI"
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def sine():
    return target("scaled_sine")


@pytest.fixture(scope="module")
def original():
    name = "test_original_add"
    capsule = jax.ffi.pycapsule(symbols().original_add)
    jax.ffi.register_ffi_target(name, capsule, platform="cpu", api_version=0)
    return name


# What is computed


def test_opaque_holds_the_attributes(sine, mode):
    @mode
    def call(x):
        return xo.custom_call(
            sine, [x], "f32[2,3]", opaque="{factor = 2.5 : f32}", api_version=TYPED
        )

    np.testing.assert_allclose(call(X), 2.5 * np.sin(X), rtol=1e-6)


@pytest.mark.parametrize("opaque", ["", b"anything", "{not parsed"])
def test_original_version(original, opaque):
    a, b = np.arange(4, dtype=np.float32), np.full(4, 10, np.float32)
    result = xo.custom_call(original, [a, b], "f32[4]", opaque)
    np.testing.assert_array_equal(result, a + b)
    text = _text(lambda a, b: xo.custom_call(original, [a, b], "f32[4]", opaque), a, b)
    written = opaque.decode() if isinstance(opaque, bytes) else opaque
    assert f'backend_config = "{written}"' in text


@pytest.mark.parametrize(
    "version",
    [4, "typed_ffi", TYPED, xo.types.CustomCallApiVersion("API_VERSION_TYPED_FFI")],
)
def test_versions_are_names_and_numbers(version):
    result = xo.custom_call(target("raw"), [X], "f32[3,2]", api_version=version)
    np.testing.assert_array_equal(result, X.reshape(3, 2))


def test_tuples_of_results_and_operands_are_flat_to_the_target():
    name = target("negated")
    shape = ("f32[3]", ("f32[3]", "f32[3]"))
    a, b, c = np.ones(3, np.float32), np.arange(3, dtype=np.float32), X[1]
    total, (minus_b, minus_c) = xo.custom_call(
        name, [(a, (b,)), c], shape, api_version=TYPED
    )
    np.testing.assert_array_equal(total, a + b + c)
    np.testing.assert_array_equal(minus_b, -b)
    np.testing.assert_array_equal(minus_c, -c)
    text = "(f32[3], (f32[3], f32[3]))"
    again = xo.custom_call(name, [(a, (b,)), c], text, api_version=TYPED)
    assert jax.tree.structure(again) == jax.tree.structure((0, (0, 0)))


def test_aliased_operand_lies_where_the_result_does():
    name = target("increment")

    def call(x, aliasing):
        shape = ("f32[3]", "f32[]")
        return xo.custom_call(name, [x], shape, "", False, aliasing, api_version=TYPED)

    x = jnp.arange(3.0)
    for aliasing, same in (((), 0), ([((0,), (0, ()))], 1)):
        result, is_same = jax.jit(lambda x, a=aliasing: call(x, a))(x)
        np.testing.assert_array_equal(result, [1, 2, 3])
        assert is_same == same
    np.testing.assert_array_equal(x, [0, 1, 2])  # it was copied


def test_layouts_are_those_of_the_shapes():
    name = target("raw")
    columns = xo.custom_call_with_layout(
        name, [X], "f32[2,3]", ["f32[2,3]{0,1}"], api_version=TYPED
    )
    np.testing.assert_array_equal(columns, X.T.reshape(2, 3))
    back = xo.custom_call_with_layout(
        name, [columns], "f32[2,3]{0,1}", ["f32[2,3]"], api_version=TYPED
    )
    np.testing.assert_array_equal(back, X)
    text = _text(
        lambda x: xo.custom_call_with_layout(
            name, [x], "f32[2,3]{0,1}", ["f32[2,3]{0,1}"], api_version=TYPED
        ),
        X,
    )
    assert text.count("dense<[0, 1]> : tensor<2xindex>") == 2


def test_side_effects_stay():
    name = target("tick")

    def program(x, effect):
        xo.custom_call(name, [x], "f32[]", "", effect, api_version=TYPED)
        return x

    for effect in (False, True):
        compiled = jax.jit(lambda x, e=effect: program(x, e)).lower(1.0).compile()
        assert ("custom-call" in compiled.as_text()) == effect


@pytest.mark.parametrize("has_layouts", [False, True])
@pytest.mark.parametrize("built", [False, True])
def test_computation_is_a_function_that_the_call_names(has_layouts, built):
    name = target("raw")
    computation = lambda x: x * x  # noqa: E731
    if built:
        b = xb.XlaBuilder("square")
        p = xb.Parameter(b, 0, "f32[]", "p")
        computation = b.Build(p * p)

    def call(x):
        if has_layouts:
            return xo.custom_call_with_computation_and_layouts(
                name, [x], computation, "f32[2,3]", ["f32[2,3]"], api_version=TYPED
            )
        return xo.custom_call_with_computation(
            name, [x], computation, "f32[2,3]", api_version=TYPED
        )

    np.testing.assert_array_equal(jax.jit(call)(X), X)
    text = jax.jit(call).lower(X).as_text(dialect="hlo")
    assert "multiply" in text
    assert "called_computations={" in text


def test_conv_dnums_are_those_that_are_none():
    name = target("raw")
    result = xo.custom_call_with_conv_dnums(
        name, [X], "f32[2,3]", ["f32[2,3]{0,1}"], api_version=TYPED
    )
    np.testing.assert_array_equal(result, X.T.reshape(2, 3))
    for parameter in ("window", "dnums"):
        with pytest.raises(ValueError, match=f"{parameter} must be None"):
            xo.custom_call_with_conv_dnums(
                name, [X], "f32[2,3]", [], **{parameter: {}}, api_version=TYPED
            )


def test_builder_has_the_forms_by_position():
    name = target("raw")
    b = xb.XlaBuilder("program")
    x = xb.Parameter(b, 0, "f32[2,3]", "x")
    y = xb.CustomCallWithLayout(
        b, name, [x], "f32[2,3]", ["f32[2,3]{0,1}"], api_version=TYPED
    )
    np.testing.assert_array_equal(b.Build(y)(X), X.T.reshape(2, 3))
    b = xb.XlaBuilder("program")
    x = xb.Parameter(b, 0, "f32[2,3]", "x")
    y = xb.CustomCall(b, name, [x], "f32[6]", api_version=TYPED)
    np.testing.assert_array_equal(b.Build(y)(X), X.ravel())


@pytest.mark.parametrize("check_vma", [False, True])
def test_shard_map(mesh8, check_vma, sine):
    spec = jax.P("i")

    def part(x):
        opaque = "{factor = 1.0 : f32}"
        return xo.custom_call(sine, [x], "f32[1]", opaque, api_version=TYPED)

    sharded = jax.shard_map(
        part, mesh=mesh8, in_specs=spec, out_specs=spec, check_vma=check_vma
    )
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_allclose(jax.jit(sharded)(x), np.sin(x), rtol=1e-6)


# What is refused


def test_opaque_that_would_end_the_process():
    """In a child: MLIR's parser is recursive, and XLA writes out each element."""
    script = """
        import numpy as np, xlaops as xo
        huge = "tensor<1000000000000xf32>"
        for opaque in (
            "{a = " + 200_000 * "[" + 200_000 * "]" + "}",
            "{a = " + 100_000 * "[ // ]\\n",
            '{a = // "\\n' + 100_000 * "[" + '// "\\n',
            "{a = [1, {b = dense<1.0> : " + huge + "}]}",
        ):
            try:
                xo.custom_call("t", [np.ones(2)], "f32[2]", opaque, api_version=4)
            except ValueError as error:
                print(str(error)[-60:])
        # Brackets in a text are none.
        opaque = '{a = "' + 200 * "[" + '"}'
        try:
            xo.custom_call("t", [np.ones(2)], "f32[2]", opaque, api_version=4)
        except Exception as error:
            print(str(error)[:40])
    """
    *refused, last = printed(script).splitlines()
    assert ["deeper" in line for line in refused] == [True, True, True, False]
    assert refused[3].endswith("it has arrays of more than 268435456 elements")
    assert "No FFI handler" in last


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"call_target_name": ""}, ValueError, "call_target_name must be the name"),
        ({"call_target_name": 3}, TypeError, "call_target_name must be the name"),
        ({"operands": X}, TypeError, "operands must be a sequence"),
        ({"operands": ["x"]}, TypeError, r"operands\[0\] must be a jax.Array"),
        ({"shape": "f33[2]"}, ValueError, "shape"),
        ({"shape": "f32[<=2]"}, ValueError, "static dimensions"),
        ({"shape": "token[]"}, ValueError, "shape must be of arrays"),
        ({"opaque": 3}, TypeError, "opaque must be a text"),
        ({"opaque": b"\xff"}, ValueError, "opaque must be text in UTF-8"),
        ({"opaque": "factor"}, ValueError, "opaque must be the text of a dictionary"),
        ({"opaque": '{a = "\ud800"}'}, ValueError, "it is not text that UTF-8 has"),
        ({"has_side_effect": 1}, TypeError, "has_side_effect must be"),
        ({"output_operand_aliasing": [(0, 0)]}, TypeError, "must be pairs"),
        ({"output_operand_aliasing": [((1,), (0, ()))]}, ValueError, "must lead to"),
        ({"output_operand_aliasing": [((), (1, ()))]}, ValueError, "must lead to"),
        (
            {"output_operand_aliasing": [((), (0, ()))], "shape": "f32[3,2]"},
            TypeError,
            "arrays of one shape",
        ),
        ({"literal": 1.0}, ValueError, "literal must be None"),
        ({"schedule": "latest"}, ValueError, "schedule must be SCHEDULE_NONE"),
        ({"schedule": "soon"}, ValueError, "schedule"),
        ({"api_version": 0}, ValueError, "api_version must be specified"),
        ({"api_version": 7}, ValueError, "api_version"),
        ({"api_version": 1, "operands": [(X,)]}, ValueError, "tuples"),
        ({"api_version": 1, "shape": "((f32[]))"}, ValueError, "tuples"),
    ],
)
def test_arguments_are_checked(change, error, message):
    arguments = {
        "call_target_name": "t",
        "operands": [X],
        "shape": "f32[2,3]",
        "api_version": TYPED,
    }
    with pytest.raises(error, match=f"custom_call: .*{message}|{message}"):
        xo.custom_call(**{**arguments, **change})


def test_layouts_are_checked():
    def call(shape, operand_shapes):
        return xo.custom_call_with_layout(
            "t", [X], shape, operand_shapes, api_version=TYPED
        )

    with pytest.raises(TypeError, match="must be a sequence of shapes"):
        call("f32[2,3]", "f32[2,3]")
    with pytest.raises(TypeError, match=r"must be a sequence of shapes, got NoneType"):
        call("f32[2,3]", None)
    with pytest.raises(TypeError, match=r"operands, f32\[2,3\], got f32\[3,2\]"):
        call("f32[2,3]", ["f32[3,2]"])
    with pytest.raises(ValueError, match="without tiles"):
        call("f32[2,3]{1,0:T(8,128)}", ["f32[2,3]"])


def test_computation_is_checked():
    def call(computation):
        return xo.custom_call_with_computation(
            "t", [X], computation, "f32[2,3]", api_version=TYPED
        )

    for computation in (3, None):
        with pytest.raises(TypeError, match="computation must be callable"):
            call(computation)
    with pytest.raises(TypeError, match="must return an array"):
        call(lambda x: None)
    with pytest.raises(TypeError, match="close over traced"):
        jax.jit(
            lambda y: xo.custom_call_with_computation(
                "t", [X], lambda x: x + y, "f32[2,3]", api_version=TYPED
            )
        )(1.0)


def test_batches_and_derivatives_are_refused_with_what_to_do(sine):
    def call(x):
        opaque = "{factor = 1.0 : f32}"
        return xo.custom_call(sine, [x], "f32[3]", opaque, api_version=TYPED)

    with pytest.raises(NotImplementedError, match=r"a batch .*xlaops\.ffi\.op"):
        jax.vmap(call)(X)
    with pytest.raises(NotImplementedError, match=r"derivatives .*xlaops\.ffi\.op"):
        jax.grad(lambda x: call(x).sum())(X[0])


def _text(function, *operands):
    return jax.jit(function).lower(*operands).as_text()
