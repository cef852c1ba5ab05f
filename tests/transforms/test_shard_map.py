"""Operations inside `jax.shard_map`, with sharded and replicated operands, and on
meshes whose axes are part of the types.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from ops import oracles
from ops.cases import TRANSFORMED, case_id
from ops.cases.agreement import assert_is

import xlaops as xo

DEVICES = 8
# Without forms that differ from another one in nothing that matters here.
_SAME = ("scalar", "degenerate", "one", "vectors", "branch 1", "False", "both ways")
_SAME += ("to s8", "to c64", "empty", "matrix and vector", "of a tuple", "of bytes")
_SAME += ("scalar min", "scalar operand", "element 1", "without strides", "none")
# Functions that are one call of jax.lax, of which one has all that is to see.
_ALIKE = ("cos", "cosh", "erf", "exp", "expm1", "log", "log1p", "logistic", "rsqrt")
_ALIKE += ("sin", "sqrt", "tan", "tanh", "floor", "ceil", "round_nearest_afz", "or_")
_ALIKE += ("xor", "ge", "le", "gt", "ne", "min", "sub", "neg", "shift_left", "conj")
_ALIKE += ("imag", "ge_total_order", "le_total_order", "gt_total_order", "collapse")
CASES = [
    case
    for case in TRANSFORMED
    if case.label not in _SAME and case.record.function not in _ALIKE
]
WITH_GRADIENT = ("Add", "Mul", "Pow", "Clamp", "clamp-scalar bounds", "Select", "Atan2")
WITH_GRADIENT += ("Dot", "Conv", "ConcatInDim", "Pad", "BroadcastInDim", "Max", "Div")
WITH_GRADIENT += ("Cbrt", "conditional-True", "conditional-branch -1", "Transpose")
WITH_GRADIENT += ("Cholesky", "DynamicSlice", "DynamicUpdateSlice", "Gather", "Call")
WITH_GRADIENT += ("PadInDim", "RaggedDot", "TriangularSolve", "scan-outputs")
WITH_GRADIENT += ("top_k-largest", "OptimizationBarrier", "Rev")


def patterns(rows):
    """Which operands differ from device to device: all, the first or the last one."""
    count = len(rows[0])
    alone = [tuple(i == j for i in range(count)) for j in range(count)]
    return list(dict.fromkeys([(True,) * count, alone[0], alone[-1]]))


def inputs(rows, pattern):
    return tuple(
        jnp.stack([jnp.asarray(row[i]) for row in rows])
        if varies
        else jnp.asarray(rows[0][i])
        for i, varies in enumerate(pattern)
    )


def on_each_device(f, pattern, mesh, check_vma):
    """The stacked results of ``f`` of every device's operands."""

    def body(*operands):
        local = (x[0] if v else x for x, v in zip(operands, pattern, strict=True))
        return jax.tree.map(lambda y: y[None], f(*local))

    return jax.shard_map(
        body,
        mesh=mesh,
        in_specs=tuple(P("i") if v else P() for v in pattern),
        out_specs=P("i"),
        check_vma=check_vma,
    )


def programs(f, rows, mesh):
    """The mapped ``f`` and its results for every pattern, by whether JAX tracks what
    varies. Programs that are lowered to the same text are compiled once.
    """
    every = patterns(rows)
    given = [inputs(rows, pattern) for pattern in every]
    compiled = {}
    for check_vma in (True, False):
        mapped = [on_each_device(f, p, mesh, check_vma) for p in every]
        lowered = jax.jit(
            lambda given, mapped=mapped: [
                g(*operands) for g, operands in zip(mapped, given, strict=True)
            ]
        ).lower(given)
        text = lowered.as_text()
        if text not in compiled:
            compiled[text] = lowered.compile()(given)
        for pattern, results in zip(every, compiled[text], strict=True):
            yield check_vma, pattern, results


def of_devices(rows, pattern):
    """The operands of each device."""
    for k in range(DEVICES):
        yield tuple(rows[k if v else 0][i] for i, v in enumerate(pattern))


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_devices_are_a_loop(case, rng, mesh8):
    rows = [case.arguments(rng, case.dtypes[0]) for _ in range(DEVICES)]
    for _, pattern, got in programs(case.call, rows, mesh8):
        expected = [case.expected(*row) for row in of_devices(rows, pattern)]
        assert_is(case, got, np.stack(expected))


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name in WITH_GRADIENT], ids=case_id
)
def test_gradient_inside(case, rng, mesh8):
    """Of a replicated operand it is the sum over devices, where JAX tracks that."""
    rows = [case.smooth_operands(rng, "float32") for _ in range(DEVICES)]
    index = case.derivative_operands()

    def loss(*xs):
        result = case.call(*xs)
        return (result * result).sum()

    gradient = jax.grad(loss, argnums=index)
    plain = jax.jit(gradient)
    for check_vma, pattern, got in programs(gradient, rows, mesh8):
        expected = [plain(*row) for row in of_devices(rows, pattern)]
        for position, i in enumerate(index):
            each = np.stack([np.asarray(e[position]) for e in expected])
            if check_vma and not pattern[i]:
                each = np.broadcast_to(each.sum(0), each.shape)
            np.testing.assert_allclose(got[position], each, rtol=1e-4, atol=1e-4)


def test_gradient_through_the_map(mesh8, rng):
    x = rng.normal(size=(8, 3)).astype(np.float32)
    scale = rng.uniform(1, 2, 3).astype(np.float32)

    def f(x, scale):
        return jax.shard_map(
            lambda x, s: xo.mul(x, s, (1,)),
            mesh=mesh8,
            in_specs=(P("i"), P()),
            out_specs=P("i"),
        )(x, scale).sum()

    dx, ds = jax.jit(jax.grad(f, argnums=(0, 1)))(x, scale)
    np.testing.assert_allclose(dx, np.stack([scale] * 8), rtol=1e-6)
    np.testing.assert_allclose(ds, x.sum(0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("draw", ["uniform", "normal", "s32", "s8"])
def test_devices_draw_their_own_numbers(draw, check_vma, mesh8):
    """Also with parameters that are the same everywhere."""

    def body(shift):
        low = xo.convert_element_type(shift, "s32")
        sample = {
            "uniform": lambda: xo.rng_uniform(shift, 1.0, "f32[50]"),
            "normal": lambda: xo.rng_normal(shift, 1.0, "f32[50]"),
            "s32": lambda: xo.rng_uniform(low, 1_000_000, "s32[50]"),
            "s8": lambda: xo.rng_uniform(np.int8(-100), np.int8(100), "s8[50]"),
        }[draw]()
        return sample[None]

    got = jax.jit(
        jax.shard_map(
            body, mesh=mesh8, in_specs=P(), out_specs=P("i"), check_vma=check_vma
        )
    )(jnp.float32(0))
    assert got.shape == (8, 50)
    assert len({tuple(row) for row in np.asarray(got).tolist()}) == 8


def test_derivatives_of_draws_inside(mesh8):
    def body(mu, sigma):
        f = lambda m, s: xo.rng_normal(m, s, "f32[4]").sum()  # noqa: E731
        dm, ds = jax.grad(f, argnums=(0, 1))(mu, sigma[0])
        return dm[None], ds[None]

    dm, ds = jax.jit(
        jax.shard_map(
            body, mesh=mesh8, in_specs=(P(), P("i")), out_specs=(P("i"), P("i"))
        )
    )(jnp.float32(1), jnp.ones(8))
    np.testing.assert_array_equal(dm, [32.0] * 8)  # summed over devices
    assert len(set(np.asarray(ds).tolist())) == 8


def test_while_with_a_limit_of_each_device(mesh8):
    def body(limit):
        start = jnp.zeros_like(limit)
        return xo.while_(lambda s: xo.lt(s, limit)[0], lambda s: xo.add(s, 2), start)

    got = jax.jit(jax.shard_map(body, mesh=mesh8, in_specs=P("i"), out_specs=P("i")))(
        jnp.arange(8)
    )
    np.testing.assert_array_equal(got, [0, 2, 2, 4, 4, 6, 6, 8])


@pytest.mark.parametrize("check_vma", [True, False])
def test_branches_of_which_one_differs(check_vma, mesh8):
    """One operand is replicated, so that only one branch's result varies."""

    def body(x, y):
        index = xo.convert_element_type(x[0], "s32")
        return xo.conditional(index, [lambda v: v * 10, lambda v: v[None] + 1], [x, y])

    got = jax.jit(
        jax.shard_map(
            body,
            mesh=mesh8,
            in_specs=(P("i"), P()),
            out_specs=P("i"),
            check_vma=check_vma,
        )
    )(jnp.arange(8.0), jnp.float32(41))
    np.testing.assert_array_equal(got, [0.0] + [42.0] * 7)


# Meshes whose shardings are part of the types


@pytest.fixture
def explicit():
    mesh = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        yield mesh


BINARY = {
    "add": (xo.add, np.add, "float32"),
    "div-float": (xo.div, np.divide, "float32"),
    "div": (xo.div, np.floor_divide, "int32"),
    "rem": (xo.rem, np.fmod, "int32"),
    "pow": (xo.pow, np.power, "int32"),
    "max": (xo.max, np.maximum, "float32"),
    "lt": (xo.lt, np.less, "float32"),
    "lt_total_order": (xo.lt_total_order, np.less, "float32"),
    "ge_total_order": (xo.ge_total_order, np.greater_equal, "float32"),
    "and_": (xo.and_, np.bitwise_and, "int32"),
}
OPERANDS = {
    "both": ((8, 4), P("i", None), (8, 4), P("i", None)),
    "left": ((8, 4), P("i", None), (8, 4), P(None, None)),
    "right": ((8, 4), P(None, None), (8, 4), P("i", None)),
    "scalar": ((8, 4), P("i", None), (), P()),
    "stretched": ((8, 1), P("i", None), (1, 4), P(None, None)),
}


@pytest.mark.parametrize("how", ["eager", "jit"])
@pytest.mark.parametrize("which", OPERANDS)
@pytest.mark.parametrize("name", BINARY)
def test_explicit_mesh(name, which, how, explicit, rng):
    """The values, and the sharding of whichever operand has one."""
    f, oracle, dtype = BINARY[name]
    shape_x, spec_x, shape_y, spec_y = OPERANDS[which]
    x = rng.integers(1, 6, shape_x).astype(dtype)
    y = rng.integers(1, 6, shape_y).astype(dtype)
    placed = [
        jax.device_put(v, NamedSharding(explicit, s))
        for v, s in ((x, spec_x), (y, spec_y))
    ]
    call = jax.jit(f) if how == "jit" else f
    got = call(*placed)
    np.testing.assert_array_equal(np.asarray(got), oracle(x, y))
    assert got.sharding.spec == P("i", None)
    assert jax.typeof(got).sharding.spec == P("i", None)


@pytest.mark.parametrize("how", ["eager", "jit", "vmap"])
@pytest.mark.parametrize("axes", ["Explicit", "Auto"])
@pytest.mark.parametrize("name", ["div", "rem", "pow"])
def test_mesh_with_another_axis(name, axes, how):
    """What XLA is kept from folding, also where not all axes are Explicit."""
    types = (AxisType.Explicit, getattr(AxisType, axes))
    mesh = jax.make_mesh((4, 2), ("i", "j"), axis_types=types)
    f, oracle, dtype = BINARY[name]
    x = np.arange(1, 9, dtype=dtype).reshape(4, 2)
    y = np.array([2, 1, 3, 2], dtype)[:, None]
    transform = {"eager": lambda f: f, "jit": jax.jit, "vmap": jax.vmap}[how]
    with jax.set_mesh(mesh):
        placed = [jax.device_put(v, NamedSharding(mesh, P("i", None))) for v in (x, y)]
        got = transform(f)(*placed)
    np.testing.assert_array_equal(np.asarray(got), oracle(x, y))
    assert jax.typeof(got).sharding.spec == P("i", None)


@pytest.mark.parametrize("f", [xo.exp, xo.round, xo.is_finite, xo.abs, xo.neg])
def test_explicit_mesh_one_operand(f, explicit):
    x = jax.device_put(jnp.arange(8.0), NamedSharding(explicit, P("i")))
    got = jax.jit(f)(x)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(f(np.arange(8.0))))
    assert jax.typeof(got).sharding.spec == P("i")


def test_explicit_mesh_ternary(explicit):
    x = jax.device_put(jnp.arange(8.0), NamedSharding(explicit, P("i")))
    np.testing.assert_array_equal(
        jax.jit(xo.clamp)(2.0, x, 5.0), np.clip(np.arange(8.0), 2, 5)
    )


def test_explicit_mesh_scalar_branch(explicit):
    x = jax.device_put(jnp.arange(8.0), NamedSharding(explicit, P("i")))
    got = jax.jit(xo.select)(xo.lt(x, 3.0), x, 0.0)
    np.testing.assert_array_equal(got, [0, 1, 2, 0, 0, 0, 0, 0])


def test_explicit_mesh_random_numbers(explicit):
    """JAX cannot read the sharding that XLA gives to a program that only draws."""

    def f():
        uniform = xo.rng_uniform(0.0, 1.0, "f32[8,100]")
        return uniform, xo.rng_normal(0.0, 1.0, "f32[800]")

    for draw in (f, jax.jit(f), jax.jit(lambda: f()[0]), jax.jit(lambda: f()[1])):
        for drawn in jax.tree.leaves(draw()):
            assert drawn.sharding.is_fully_replicated
            if drawn.shape == (8, 100):
                oracles.check_uniform(np.asarray(drawn), np.float32(0), np.float32(1))
            else:
                oracles.check_normal(np.asarray(drawn), np.float32(0), np.float32(1))


def test_explicit_mesh_random_parameters(explicit):
    x = jax.device_put(jnp.arange(8.0), NamedSharding(explicit, P("i")))
    got = jax.jit(lambda v: xo.rng_uniform(v.max(), v.max() + 1, "f32[8,100]"))(x)
    assert 7 <= float(got.min()) <= float(got.max()) < 8


# Partitioned by the compiler


@pytest.mark.parametrize("name", ["pow", "rem", "lt_total_order"])
def test_automatically_partitioned(name, mesh8, rng):
    f, oracle, dtype = BINARY[name]
    x, y = (rng.integers(1, 6, (8, 4)).astype(dtype) for _ in range(2))
    put = jax.device_put(x, NamedSharding(mesh8, P("i")))
    got = jax.jit(f)(put, y)
    np.testing.assert_array_equal(np.asarray(got), oracle(x, y))
    assert got.sharding.is_equivalent_to(NamedSharding(mesh8, P("i")), 2)
