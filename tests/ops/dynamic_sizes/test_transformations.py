"""Transformations and loops on arrays of dynamic size, and what refuses them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.dynamic_sizes.arrays import bounded, check, floats

import xlaops as xo

# Everything else


REFUSED = {
    "transpose": lambda x: xo.transpose(x, (1, 0)),
    "reshape": lambda x: xo.reshape(x, (12,)),
    "broadcast": lambda x: xo.broadcast(x, (2,)),
    "rev": lambda x: xo.rev(x, (0,)),
    "collapse": lambda x: xo.collapse(x, (0, 1)),
    "cholesky": lambda x: xo.cholesky(x, True),
    "fft": lambda x: xo.fft(x, "RFFT", (4,)),
    "map": lambda x: xo.map([x], xo.neg, (0, 1)),
    "bitcast_convert_type": lambda x: xo.bitcast_convert_type(x, "s32"),
    "top_k": lambda x: xo.top_k(x, 1),
    "dynamic_slice": lambda x: xo.dynamic_slice(x, [0, 0], (1, 1)),
    "select_and_scatter": lambda x: xo.select_and_scatter(
        x, xo.ge, (1, 1), (1, 1), "VALID", x, 0.0, xo.add
    ),
    "conv": lambda x: xo.conv(x, np.ones((1, 1)), (), "VALID"),
    "gather": lambda x: xo.gather(
        x,
        np.zeros(2, np.int32),
        xo.GatherDimensionNumbers((0, 1), (), (0, 1), 0),
        (1, 1),
    ),
    "scan": lambda x: xo.scan([x], [], lambda row: row, 0),
    "rng_uniform": lambda x: xo.rng_uniform(x, 1.0, "f32[3]"),
    "ragged_dot": lambda x: xo.ragged_dot(
        x,
        np.ones((1, 4, 2), np.float32),
        np.array([3]),
        ((((1,), (1,)), ((), ())), (0,), (0,)),
    ),
    "triangular_solve": lambda x: xo.triangular_solve(
        x, x, True, True, False, "NO_TRANSPOSE"
    ),
    "batch_norm_training": lambda x: xo.batch_norm_training(
        x, np.ones(4, np.float32), np.ones(4, np.float32), 1e-3, 1
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_operations_refuse(name):
    x = bounded(floats(2, 4), (3, None))
    message = rf"^{name}: \w+(\[0\])? must be.*f32\[<=3,4\].*remove_dynamic"
    for call in (REFUSED[name], jax.jit(REFUSED[name])):
        with pytest.raises(TypeError, match=message):
            call(x)


# Transformations


def _statistics(x, n, w):
    """Of the first n rows: something of every kind of operation."""
    x = xo.set_dimension_size(x, n, 0)
    y = xo.log(xo.mul(xo.div(1.0, x), w))
    y = xo.concat_in_dim([y, xo.pow(x, w)], 0)
    y = xo.sort([y], xo.lt, 0)
    y = xo.pad(y, 0.5, [(1, 1, 0), (0, 0, 0)])
    y = xo.dot(y, jnp.ones((3, 2)))
    y = xo.reduce_window([y], [0.0], xo.add, (2, 1), (1, 1), "SAME")
    return xo.reduce_all(y, 0.0, lambda a, b: (a * 2 + b * 2) / 2)


def _statistics_of_numpy(x, w):
    y = np.concatenate([np.log(w / x), x**w])
    y = np.sort(y, 0)
    y = np.pad(y, [(1, 1), (0, 0)], constant_values=0.5)
    y = np.repeat(y.sum(1, keepdims=True), 2, 1)
    y = y + np.pad(y[1:], [(0, 1), (0, 0)])
    return y.sum()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_values_and_derivatives_do_not_see_what_does_not_count(n):
    x = np.full((5, 3), np.nan, np.float32)
    x[:n] = floats(n, 3)
    w, size = np.float32(1.3), np.int32(n)
    valid, wide = x[:n].astype(np.float64), float(w)
    expected = _statistics_of_numpy(valid, wide)
    np.testing.assert_allclose(_statistics(x, size, w), expected, rtol=1e-5)

    dx, dw = jax.jit(jax.grad(_statistics, (0, 2)))(x, size, w)
    step = 1e-6
    slope = _statistics_of_numpy(valid, wide + step) - _statistics_of_numpy(
        valid, wide - step
    )
    np.testing.assert_allclose(dw, slope / (2 * step), rtol=1e-4, atol=1e-5)
    for i, j in np.ndindex(n, 3):
        moved = np.zeros_like(valid)
        moved[i, j] = step
        slope = _statistics_of_numpy(valid + moved, wide) - _statistics_of_numpy(
            valid - moved, wide
        )
        np.testing.assert_allclose(dx[i, j], slope / (2 * step), rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(dx[n:], 0)


def test_vmap_of_sizes():
    x, sizes = floats(4, 5, 3), np.array([0, 1, 3, 5], np.int32)
    w = np.float32(1.3)
    results = jax.vmap(_statistics, (0, 0, None))(x, sizes, w)
    for result, rows, n in zip(results, x, sizes, strict=True):
        np.testing.assert_allclose(result, _statistics_of_numpy(rows[:n], w), rtol=1e-4)


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map(mesh8, check_vma):
    x = floats(8, 5, 3)
    sizes, w = np.arange(8, dtype=np.int32) % 6, np.float32(1.3)
    spec = jax.sharding.PartitionSpec("i")

    def each(x, n, w):
        return _statistics(x[0], n[0], w[0])[None]

    results = jax.jit(
        jax.shard_map(
            each, mesh=mesh8, in_specs=spec, out_specs=spec, check_vma=check_vma
        )
    )(x, sizes, np.full(8, w))
    for result, rows, n in zip(results, x, sizes, strict=True):
        np.testing.assert_allclose(result, _statistics_of_numpy(rows[:n], w), rtol=1e-4)


def test_vmap_takes_and_returns_bounded_arrays():
    x, sizes = floats(3, 5), np.array([0, 2, 5], np.int32)
    many = jax.vmap(lambda v, n: xo.set_dimension_size(v, n, 0))(x, sizes)
    assert isinstance(many, xo.BoundedArray)
    assert str(many.bounded_shape) == "f32[3,<=5]"
    assert repr(many).startswith("BoundedArray(f32[3,<=5], sizes=(")
    with pytest.raises(TypeError, match=r"BoundedArray\.valid: sizes must have one"):
        many.valid()
    with pytest.raises(TypeError, match="neg: operand must have one entry of sizes"):
        xo.neg(many)
    doubled = jax.vmap(lambda v: xo.add(v, v))(many)
    sums = jax.vmap(lambda v: xo.reduce_all(v, 0.0, xo.add))(doubled)
    expected = [2 * row[:n].sum() for row, n in zip(x, sizes, strict=True)]
    np.testing.assert_allclose(sums, expected, rtol=1e-6)


def test_takes_what_was_fetched_from_the_device():
    x = jax.device_get(xo.set_dimension_size(jnp.arange(4), 2, 0))
    assert isinstance(x.data, np.ndarray)
    np.testing.assert_array_equal(xo.neg(x).valid(), [0, -1])
    assert xo.reduce_all(x, 5, xo.add) == 6


def test_plain_operand_has_no_derivative_where_nothing_counts():
    """Also where the function has an infinite one."""
    x, y = bounded(floats(2), (4,)), np.array([1.0, 2.0, 0.0, 0.0], np.float32)
    slope = jax.grad(lambda y: xo.reduce_all(xo.div(x, y), 0.0, xo.add))(y)
    np.testing.assert_allclose(slope, [*(-floats(2) / y[:2] ** 2), 0, 0], rtol=1e-6)


def test_loops_carry_bounded_arrays():
    x = xo.set_dimension_size(jnp.arange(8.0), 3, 0)

    def longer(x, step):
        n = xo.get_dimension_size(x, 0) + step
        x = xo.set_dimension_size(xo.remove_dynamic_dimension(x, 0), n, 0)
        return x, xo.reduce_all(x, 0.0, xo.add)

    last, sums = jax.lax.scan(longer, x, jnp.array([1, 0, 2], jnp.int32))
    np.testing.assert_array_equal(sums, [6, 6, 15])
    np.testing.assert_array_equal(last.valid(), np.arange(6))
    grown = xo.while_(
        lambda x: xo.lt(xo.get_dimension_size(x, 0), 7), lambda x: longer(x, 1)[0], x
    )
    np.testing.assert_array_equal(grown.valid(), np.arange(7))


def test_derivative_with_respect_to_a_bounded_array():
    x = bounded(floats(3), (5,))

    def squares(x):
        return xo.reduce_all(xo.mul(x, x), 0.0, xo.add)

    slope = jax.grad(squares, allow_int=True)(x)
    np.testing.assert_allclose(slope.data, [*(2 * floats(3)), 0, 0], rtol=1e-6)
    value, tangent = jax.jvp(
        lambda data: squares(xo.set_dimension_size(data, 3, 0)), (x.data,), (x.data,)
    )
    np.testing.assert_allclose(tangent, 2 * value, rtol=1e-6)


def test_second_derivative():
    x = np.array([1.0, 2.0, np.nan], np.float32)

    def cubes(x):
        v = xo.set_dimension_size(x, 2, 0)
        return xo.reduce_all(xo.mul(v, xo.mul(v, v)), 0.0, xo.add)

    np.testing.assert_allclose(jax.hessian(cubes)(x), np.diag([6.0, 12.0, 0.0]))


def test_builder():
    from xlaops import builder as b

    program = b.XlaBuilder("total")
    x = b.Parameter(program, 0, "f32[10]", "x")
    n = b.Parameter(program, 1, "s32[]", "n")
    part = b.SetDimensionSize(x, n, 0)
    assert str(part.shape) == "f32[<=10]"
    with pytest.raises(TypeError, match="reshape: operand must be an array of static"):
        b.Reshape(part, (5, 2))
    size = b.GetDimensionSize(part, 0)
    total = b.ReduceAll(b.Add(part, part), 0.0, xo.add)
    call = program.Build(b.Tuple([total, size]))
    total, size = jax.jit(call)(jnp.arange(10.0), 4)
    assert (total, size) == (12, 4)


def test_builder_has_parameters_of_dynamic_size():
    from xlaops import builder as b

    program = b.XlaBuilder("doubled")
    x = b.Parameter(program, 0, "f32[2,<=4]", "x")
    call = program.Build(b.Add(x, x))
    assert str(call.program_shape) == "(x: f32[2,<=4]) -> f32[2,<=4]"
    valid = floats(2, 3)
    check(jax.jit(call)(bounded(valid, (None, 4))), 2 * valid)
    with pytest.raises(TypeError, match=r"x must be f32\[2,<=4\], got float32\[2, 4\]"):
        call(floats(2, 4))
