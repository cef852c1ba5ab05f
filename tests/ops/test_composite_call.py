"""Composites: what is lowered, and that transformations go by the decomposition."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads

import xlaops as xo
from xlaops import builder

X = np.array([0.5, -1.0, 2.0], np.float32)


def swish(x, y):
    return xo.composite_call(
        lambda x, y: (x / (1 + jnp.exp(-x * y)), x.sum()), [x, y], "my.swish"
    )


def swish_oracle(x, y):
    return x / (1 + np.exp(-x * y)), x.sum()


def lowered(f, *operands, platform="cpu"):
    return jax.jit(f).trace(*operands).lower(lowering_platforms=(platform,)).as_text()


def composites(text):
    return [line.strip() for line in text.splitlines() if "stablehlo.composite" in line]


# Values


def test_value(mode):
    got = mode(swish)(X, X[::-1])
    for y, want in zip(got, swish_oracle(X, X[::-1]), strict=True):
        assert isinstance(y, jax.Array)
        np.testing.assert_allclose(y, want, rtol=1e-6)


def test_results_are_a_tree_like_the_computations(mode):
    def f(x):
        return xo.composite_call(lambda x: {"a": x + 1, "b": [x * 2, 3]}, [x], "my.f")

    got = mode(f)(X)
    assert list(got) == ["a", "b"]
    np.testing.assert_array_equal(got["a"], X + 1)
    np.testing.assert_array_equal(got["b"][0], X * 2)
    assert got["b"][1].dtype == jnp.int32
    assert not got["b"][1].weak_type


def test_no_operands(mode):
    got = mode(lambda: xo.composite_call(lambda: jnp.arange(3), [], "my.iota"))()
    np.testing.assert_array_equal(got, [0, 1, 2])


def test_one_result_of_several_kinds_of_operands(mode):
    got = mode(lambda n: xo.composite_call(lambda x, n: x * n, (X, n), "my.mul"))(2.0)
    np.testing.assert_array_equal(got, 2 * X)


def test_computation_of_the_builder():
    b = builder.XlaBuilder("double")
    x = builder.Parameter(b, 0, "f32[3]", "x")
    computation = b.build(builder.Add(x, x))
    got = xo.composite_call(computation, [X], "my.double", "{}", 1)
    np.testing.assert_array_equal(got, 2 * X)


# What is lowered


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm", "tpu"])
def test_program_has_the_composite(platform):
    def f(x):
        y = xo.composite_call(
            lambda x: jnp.sin(x) * np.float32([1, 2, 3]), [x], "my.sin", "{n = 1}", 2
        )
        return y + 1

    text = lowered(f, X, platform=platform)
    (line,) = composites(text)
    assert '"my.sin" %arg0 ' in line
    assert "composite_attributes = {n = 1 : i64}" in line
    assert "version = 2 : i32" in line
    # Of the operands alone: the constant is within the decomposition.
    name = re.search(r"decomposition = @([\w.]+)", line)[1]
    body = text.partition(f"func.func private @{name}(")[2]
    assert "dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>" in body
    assert "stablehlo.sine" in body
    assert "func.call" not in text
    assert " call @" not in text


def test_composites_of_one_name():
    def f(x):
        once = xo.composite_call(jnp.sin, [x], "my.f")
        return xo.composite_call(jnp.cos, [once], "my.f", version=1)

    np.testing.assert_allclose(jax.jit(f)(X), np.cos(np.sin(X)), rtol=1e-6)
    text = lowered(f, X)
    first, second = composites(text)
    functions = [re.search(r"decomposition = @([\w.]+)", c)[1] for c in (first, second)]
    assert len(set(functions)) == 2


def test_composite_within_a_composite():
    def inner(x):
        return xo.composite_call(jnp.sin, [x], "my.inner")

    def outer(x):
        return xo.composite_call(lambda x: inner(x) + 1, [x], "my.outer")

    assert len(composites(lowered(outer, X))) == 2
    np.testing.assert_allclose(jax.jit(outer)(X), np.sin(X) + 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        (None, ""),
        ({}, ""),
        ("{}", ""),
        ('{b = "x", a}', 'composite_attributes = {a, b = "x"}'),
        ({"n": 1}, "composite_attributes = {n = 1 : i64}"),
        ({"f": 2.5, "t": True}, "{f = 2.500000e+00 : f64, t = true}"),
        ({"s": "x", "none": None}, '{s = "x"}'),
        ({"l": (1, [2, 3])}, "{l = [1, [2, 3]]}"),
        ({"d": {"k": np.float32(1)}}, "{d = {k = 1.000000e+00 : f32}}"),
        ({"a": np.int32([1, 2])}, "{a = dense<[1, 2]> : tensor<2xi32>}"),
        ({"t": np.dtype("float16")}, "{t = f16}"),
        ("{p = #stablehlo<precision HIGH>}", "{p = #stablehlo<precision HIGH>}"),
    ],
)
def test_attributes(attributes, text):
    def f(x):
        return xo.composite_call(jnp.sin, [x], "my.sin", attributes)

    (line,) = composites(lowered(f, X))
    assert text in line
    assert ("composite_attributes" in line) == bool(text)
    np.testing.assert_allclose(jax.jit(f)(X), np.sin(X), rtol=1e-6)


def test_survives_export(tmp_path):
    """Other compilers read the portable form."""
    text = jax.export.export(jax.jit(swish))(X, X).mlir_module()
    assert '"my.swish"' in text


# Transformations


def test_derivatives(x64):
    x, y = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.3, -0.7])
    check_grads(swish, (x, y), order=3, modes=["fwd", "rev"])
    check_grads(lambda x: swish(x, y), (x,), order=2)


def test_gradient_keeps_the_composite_for_the_value():
    def f(x):
        return xo.composite_call(jnp.tanh, [x], "my.tanh").sum()

    text = lowered(jax.value_and_grad(f), X)
    assert len(composites(text)) == 1
    value, gradient = jax.jit(jax.value_and_grad(f))(X)
    np.testing.assert_allclose(value, np.tanh(X).sum(), rtol=1e-6)
    np.testing.assert_allclose(gradient, 1 - np.tanh(X) ** 2, rtol=1e-5)


def test_integers_beside_floats():
    def f(x, n):
        y, m = xo.composite_call(lambda x, n: (x * n, n + 1), [x, n], "my.f")
        return y * m

    n = np.int32([1, 2, 3])
    tangent = jax.jvp(lambda x: f(x, n), (X,), (np.ones(3, np.float32),))[1]
    np.testing.assert_array_equal(tangent, n * (n + 1))
    np.testing.assert_array_equal(jax.grad(lambda x: f(x, n).sum())(X), n * (n + 1))


def test_own_derivative_of_the_computation():
    @jax.custom_jvp
    def clipped(x):
        return jnp.clip(x, -1, 1)

    clipped.defjvp(lambda p, t: (clipped(*p), t[0]))
    gradient = jax.grad(lambda x: xo.composite_call(clipped, [x], "my.clip").sum())(X)
    np.testing.assert_array_equal(gradient, np.ones(3))


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 1)])
def test_vmap_is_a_loop(axes, rng):
    x, y = (
        rng.normal(size=(3, 3)).astype(np.float32) if a is not None else X for a in axes
    )
    got = jax.vmap(swish, axes)(x, y)
    for i in range(3):
        row = [
            v if a is None else np.take(v, i, a)
            for v, a in zip((x, y), axes, strict=True)
        ]
        for g, want in zip(got, swish_oracle(*row), strict=True):
            np.testing.assert_allclose(g[i], want, rtol=1e-5, atol=1e-6)


def test_vmap_dissolves_it():
    """A name and attributes that speak of one row say nothing of many."""

    def f(x):
        return xo.composite_call(lambda x: x[::-1], [x], "my.rev", "{dimension = 0}")

    rows = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(jax.vmap(f)(rows), rows[:, ::-1])
    assert not composites(lowered(jax.vmap(f), rows))


@pytest.mark.parametrize("wrap", ["scan", "while", "cond", "checkpoint"])
def test_inside_control_flow(wrap):
    def body(x):
        return xo.composite_call(jnp.sin, [x], "my.sin")

    f = {
        "scan": lambda x: jax.lax.scan(lambda c, _: (body(c), None), x, length=2)[0],
        "while": lambda x: jax.lax.fori_loop(0, 2, lambda i, c: body(c), x),
        "cond": lambda x: jax.lax.cond(x[0] > 0, lambda x: body(body(x)), body, x),
        "checkpoint": lambda x: jax.checkpoint(lambda x: body(body(x)))(x),
    }[wrap]
    np.testing.assert_allclose(jax.jit(f)(X), np.sin(np.sin(X)), rtol=1e-6)
    np.testing.assert_allclose(
        jax.grad(lambda x: f(x).sum())(X), np.cos(np.sin(X)) * np.cos(X), rtol=1e-5
    )
    assert composites(lowered(f, X))


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map(check_vma, mesh8, rng):
    x = rng.normal(size=(8, 3)).astype(np.float32)

    def on_device(x, y):
        gradient = jax.grad(lambda x: swish(x[0], y)[0].sum())(x)
        return swish(x[0], y)[0][None], gradient

    f = jax.jit(
        jax.shard_map(
            on_device,
            mesh=mesh8,
            in_specs=(P("i"), P()),
            out_specs=(P("i"), P("i")),
            check_vma=check_vma,
        )
    )
    got, gradient = f(x, X)
    for i, row in enumerate(x):
        np.testing.assert_allclose(
            got[i], swish_oracle(row, X)[0], rtol=1e-5, atol=1e-6
        )
        s = 1 / (1 + np.exp(-row * X))
        np.testing.assert_allclose(
            gradient[i], s + row * X * s * (1 - s), rtol=1e-4, atol=1e-5
        )
    assert composites(f.lower(x, X).as_text())


def test_sharded_by_the_compiler_and_explicitly(mesh8):
    explicit = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Explicit,))
    x = np.arange(16, dtype=np.float32)
    for mesh in (mesh8, explicit):
        placed = jax.device_put(x, NamedSharding(mesh, P("i")))
        y = jax.jit(lambda x: xo.composite_call(lambda x: x * 2, [x], "my.f"))(placed)
        np.testing.assert_array_equal(y, 2 * x)
        assert y.sharding.spec == P("i")


# Errors


@pytest.mark.parametrize(
    ("call", "exception", "message"),
    [
        (
            lambda: xo.composite_call(3, [X], "my.f"),
            TypeError,
            "composite_call: computation must be callable, got int 3",
        ),
        (
            lambda: xo.composite_call(jnp.sin, X, "my.f"),
            TypeError,
            r"composite_call: operands must be a sequence, got float32\[3\]",
        ),
        (
            lambda: xo.composite_call(jnp.sin, ["x"], "my.f"),
            TypeError,
            r"composite_call: operands\[0\] must be a jax\.Array.*got str 'x'",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], 3),
            TypeError,
            "composite_call: name must be a text.*, got 3",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], ""),
            ValueError,
            "composite_call: name must be a text.*, got ''",
        ),
        *(
            (
                lambda name=name: xo.composite_call(jnp.sin, [X], name),
                ValueError,
                "composite_call: name must be a text.* with a namespace before a dot",
            )
            for name in (
                "f",
                "my.",
                ".f",
                "1.f",
                "my.f\n",
                "my.\u00fc",
                "my f.g",
                "a..b",
            )
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", 3),
            TypeError,
            "composite_call: attributes must be a mapping, a text or None, got int 3",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", "{bad"),
            ValueError,
            r"attributes must be the text of a dictionary, got '\{bad': expected '}'",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", "1 : i64"),
            ValueError,
            "attributes must be the text of a dictionary, got '1 : i64'",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", {1: 2}),
            TypeError,
            "composite_call: attributes must have names as keys, got 1",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", {"a": {2, 3}}),
            TypeError,
            r"composite_call: attributes must hold numbers.*got \{2, 3\}",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", {"a": 1 << 70}),
            OverflowError,
            "composite_call: attributes must hold ints of 64 bits, got 1180",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", None, -1),
            ValueError,
            r"composite_call: version must be in \[0, 2\*\*31\), got -1",
        ),
        (
            lambda: xo.composite_call(jnp.sin, [X], "my.f", None, 1.5),
            TypeError,
            "composite_call: version must be an integer, got float 1.5",
        ),
        (
            lambda: xo.composite_call(lambda x: None, [X], "my.f"),
            TypeError,
            "composite_call: computation must return at least one array, got none",
        ),
        (
            lambda: xo.composite_call(lambda x: "y", [X], "my.f"),
            TypeError,
            "composite_call: computation's results must be.*got str 'y'",
        ),
        (
            lambda: jax.jit(lambda n: xo.composite_call(lambda x: x * n, [X], "my.f"))(
                2.0
            ),
            TypeError,
            r"composite_call: computation must not close over traced.*float32\[\]",
        ),
        (
            lambda: jax.grad(lambda n: xo.composite_call(lambda: n * 2, [], "my.f"))(
                2.0
            ),
            TypeError,
            r"composite_call: computation must not close over traced.*float32\[\]",
        ),
        (
            lambda: xo.composite_call(
                lambda x: (jax.debug.print("{}", x), x)[1], [X], "my.f"
            ),
            TypeError,
            "composite_call: computation must have no side effects.*got Debug",
        ),
    ],
)
def test_errors(call, exception, message):
    with pytest.raises(exception, match=message):
        call()


def test_communication_is_refused(mesh8):
    def on_device(x):
        return xo.composite_call(lambda x: jax.lax.psum(x, "i"), [x], "my.sum")

    with pytest.raises(TypeError, match="must have no side effects and name no mesh"):
        jax.shard_map(on_device, mesh=mesh8, in_specs=P("i"), out_specs=P())(
            np.ones(8, np.float32)
        )
