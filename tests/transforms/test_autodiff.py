"""Derivatives of every operation: numerically, and by formulas written out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.cases import TRANSFORMED, case_id, uniform

import xlaops as xo

# Without forms that differ from another one in nothing that a derivative meets:
# numerical derivatives take most of the time of these tests.
_SAME = ("scalar", "both ways", "branch 0", "branch 3", "False", "rank 3", "vectors")
_SAME += ("one", "without strides", "matrix and vector", "degenerate", "reversed")
DIFFERENTIABLE = [
    case
    for case in TRANSFORMED
    if case.gradient == "yes"
    and (case.label not in _SAME or case.record.function == "add")
    and (
        not case.title.endswith("(broadcast_dimensions)")
        or case.record.function in ("add", "pow")
    )
]
# Second derivatives of one of each way to have a derivative, as they take their time.
TWICE = ("atan2", "broadcast_in_dim", "cbrt", "clamp", "conditional", "div")
TWICE += ("logistic", "max", "mul", "pad", "pow", "select", "sign")
TWICE += ("cholesky", "gather", "ragged_dot", "scan", "top_k", "triangular_solve")
FLAT = [case for case in TRANSFORMED if case.gradient == "zero"]
COMPLEX = [
    case
    for case in DIFFERENTIABLE
    if "complex128" in case.dtypes
    and not case.label
    and not case.record.function.startswith("conv_general")
]


def of_operands(case, operands):
    """The case as a function of its differentiable operands, and these."""
    chosen = case.derivative_operands()
    fixed = [jnp.asarray(x) for x in operands]

    def f(*values):
        every = list(fixed)
        for i, value in zip(chosen, values, strict=True):
            every[i] = value
        return case.call(*every)

    return f, tuple(fixed[i] for i in chosen)


def unit(rng, like):
    """Numbers of the shape and type of ``like`` of which the squares add up to one."""
    v = rng.normal(size=(2, *like.shape))
    v = v[0] + 1j * v[1] if jnp.iscomplexobj(like) else v[0]
    return (v / np.sqrt((abs(v) ** 2).sum())).astype(like.dtype)


def product(xs, ys):
    """Without conjugates, as JAX defines the reverse derivative."""
    return sum((x * y).sum() for x, y in zip(xs, ys, strict=True)).real


def check_derivatives(f, operands, rng, *, order=1, step=1e-5, tolerance=1e-6):
    """Holds forward and reverse derivatives to difference quotients.

    They are taken along one random direction, those in reverse for a random cotangent;
    of order 2 also the derivatives of both. All of it is one program, because compiling
    takes most of the time.
    """
    along = tuple(unit(rng, x) for x in operands)
    cotangent = unit(rng, jax.eval_shape(f, *operands))

    def quotient(f, xs):
        above, below = (
            f(*(x + h * v for x, v in zip(xs, along, strict=True)))
            for h in (step, -step)
        )
        return (above - below) / (2 * step)

    def forward(*xs):
        return jax.jvp(f, xs, along)[1]

    def reverse(*xs):
        return product(jax.vjp(f, *xs)[1](cotangent), along)

    def pairs(*xs):
        numeric = quotient(f, xs)
        yield "forward", forward(*xs), numeric
        yield "reverse", reverse(*xs), product((cotangent,), (numeric,))
        if order == 1:
            return
        second = {
            "forward": lambda *xs: product((cotangent,), (forward(*xs),)),
            "reverse": reverse,
        }
        for name, g in second.items():
            numeric = quotient(g, xs)
            yield f"forward of {name}", jax.jvp(g, xs, along)[1], numeric
            gradient = jax.grad(g, range(len(xs)))(*xs)
            yield f"reverse of {name}", product(gradient, along), numeric

    program = jax.jit(lambda *xs: {name: pair for name, *pair in pairs(*xs)})
    for name, (got, expected) in program(*operands).items():
        assert got.shape == expected.shape
        np.testing.assert_allclose(
            got, expected, rtol=tolerance, atol=tolerance, err_msg=name
        )


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=case_id)
def test_derivatives(case, rng, x64):
    f, operands = of_operands(case, case.smooth_operands(rng))
    order = 2 if case.record.function in TWICE else 1
    if jax.eval_shape(f, *operands).dtype in ("float64", "complex128"):
        check_derivatives(f, operands, rng, order=order)
    else:
        # A result of 32 bits leaves a difference quotient few digits.
        check_derivatives(f, operands, rng, order=order, step=1e-2, tolerance=3e-2)


def test_wrong_derivatives_are_found(rng, x64):
    """The tests above can fail."""

    @jax.custom_jvp
    def cube(x):
        return x**3

    def twice(x):
        """Of which the first derivative is right and the second is not."""

        @jax.custom_jvp
        def square(x):
            return 3 * x**2

        square.defjvp(lambda x, v: (square(*x), 5 * v[0]))
        return square(x)

    x = (jnp.array([0.5, 2.0]),)
    cube.defjvp(lambda x, v: (cube(*x), 2.9 * x[0] ** 2 * v[0]))
    with pytest.raises(AssertionError, match="forward"):
        check_derivatives(cube, x, rng)
    cube.defjvp(lambda x, v: (cube(*x), twice(x[0]) * v[0]))
    check_derivatives(cube, x, rng)
    with pytest.raises(AssertionError, match="of forward"):
        check_derivatives(cube, x, rng, order=2)


@pytest.mark.parametrize("case", COMPLEX, ids=case_id)
def test_complex_derivatives(case, rng, x64):
    operands = case.smooth_operands(rng, "complex128")
    f, operands = of_operands(case, operands)
    if jax.eval_shape(f, *operands).dtype not in ("float64", "complex128"):
        pytest.skip("a result of 32-bit numbers, which the real test has")
    check_derivatives(f, operands, rng)


@pytest.mark.parametrize("case", FLAT, ids=case_id)
def test_zero_derivatives(case):
    x = jnp.array([-1.7, -0.2, 0.3, 2.6])
    value, tangent = jax.jvp(case.call, (x,), (jnp.ones_like(x),))
    assert tangent.dtype == value.dtype
    np.testing.assert_array_equal(tangent, np.zeros(4))
    np.testing.assert_array_equal(
        jax.grad(lambda v: case.call(v).sum())(x), np.zeros(4)
    )


COMPARING = [
    c
    for c in TRANSFORMED
    if c.gradient == "not differentiable" and "float32" in c.dtypes
]


@pytest.mark.parametrize("case", COMPARING, ids=case_id)
def test_comparison_inside_a_derivative(case, rng):
    """It lets the derivative of the rest of the program through."""
    operands = [jnp.asarray(x) for x in case.arguments(rng, "float32")]

    def f(x):
        flag = case.call(x, *operands[1:])
        return (jnp.where(flag != 0, 2.0, 3.0)).sum() * 0 + (x[0] * 5.0).sum()

    expected = np.zeros(operands[0].shape, np.float32)
    expected[0] = 5.0
    gradient, (_, tangent) = jax.jit(
        lambda x: (jax.grad(f)(x), jax.jvp(f, (x,), (jnp.ones_like(x),)))
    )(operands[0])
    np.testing.assert_array_equal(gradient, expected)
    assert tangent == expected.sum()


# By hand

BOUNDS = [(-2.0, (1.0, 0.0, 0.0)), (0.5, (0.0, 1.0, 0.0)), (3.0, (0.0, 0.0, 1.0))]


@pytest.mark.parametrize(("x", "expected"), BOUNDS)
def test_clamp_derivative_goes_to_the_operand_that_is_taken(x, expected):
    got = jax.grad(xo.clamp, argnums=(0, 1, 2))(-1.0, x, 1.0)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("x", [-3.0, 0.0, 3.0, 7.0])
def test_clamp_with_min_above_max_takes_max(x):
    """The result is ``max`` whatever the others are."""
    assert xo.clamp(5.0, x, 2.0) == 2.0
    got = jax.grad(xo.clamp, argnums=(0, 1, 2))(5.0, x, 2.0)
    np.testing.assert_array_equal(got, (0.0, 0.0, 1.0))


def test_clamp_scalar_bounds_get_the_sum():
    x = jnp.array([-2.0, -3.0, 0.0, 5.0])
    f = lambda low, v, high: xo.clamp(low, v, high).sum()  # noqa: E731
    low, middle, high = jax.grad(f, argnums=(0, 1, 2))(-1.0, x, 1.0)
    assert (low, high) == (2.0, 1.0)
    np.testing.assert_array_equal(middle, [0, 0, 1, 0])


@pytest.mark.parametrize("x", [-1.0, 1.0])
def test_clamp_derivatives_at_a_bound_add_up_to_one(x):
    """Moving all three by one moves the result by one."""
    ones = (1.0, 1.0, 1.0)
    _, tangent = jax.jvp(xo.clamp, (-1.0, x, 1.0), ones)
    assert tangent == 1.0


def test_select_keeps_nan_out():
    pred = jnp.array([True, False])

    def f(x):
        return xo.select(pred, x, xo.log(x)).sum()

    np.testing.assert_array_equal(jax.grad(f)(jnp.array([-1.0, 2.0])), [1.0, 0.5])

    def g(x, y):
        return xo.select(pred, x, y).sum()

    bad = jnp.array([jnp.nan, jnp.nan])
    got = jax.grad(g, argnums=(0, 1))(bad, jnp.ones(2))
    np.testing.assert_array_equal(got, [[1.0, 0.0], [0.0, 1.0]])


def test_conditional_has_the_derivative_of_the_chosen_branch():
    def f(x):
        return xo.conditional(x > 1, x, lambda v: v * v, x, lambda v: xo.log(v - 2.0))

    assert jax.grad(f)(3.0) == 6.0

    def g(i, x):
        return xo.conditional(i, [lambda v: v, lambda v: v**3], [x, 2.0 * x])

    assert [float(jax.grad(g, 1)(i, 1.0)) for i in (0, 1, 2, -1)] == [1, 24, 24, 24]


def test_conditional_derivatives_of_both_operands():
    def f(p, x, y):
        return xo.conditional(p, x, lambda v: 3 * v, y, lambda v: 5 * v)

    gradient = jax.grad(f, argnums=(1, 2))
    assert gradient(True, 1.0, 1.0) == (3.0, 0.0)
    assert gradient(False, 1.0, 1.0) == (0.0, 5.0)


def test_abs_of_a_complex_number():
    """JAX's gradient of a real function of z = x + iy is f_x - i f_y."""
    z = jnp.array([3.0 + 4.0j])
    gradient = jax.grad(lambda v: xo.abs(v).sum())(z)
    np.testing.assert_allclose(gradient, [0.6 - 0.8j], rtol=1e-6)
    _, tangent = jax.jvp(xo.abs, (z,), (jnp.array([1.0j]),))
    np.testing.assert_allclose(tangent, [0.8], rtol=1e-6)
    assert jax.grad(xo.abs)(0j) == 0


def test_sign_of_a_complex_number():
    """It turns with z: d(z / |z|) of i z is i z / |z|."""
    z = jnp.array([3.0 + 4.0j], jnp.complex64)
    _, along = jax.jvp(xo.sign, (z,), (z,))
    np.testing.assert_allclose(along, [0], atol=1e-6)
    _, across = jax.jvp(xo.sign, (z,), (1j * z,))
    np.testing.assert_allclose(across, [1j * (0.6 + 0.8j)], rtol=1e-6)


def test_sign_of_a_real_number_is_flat():
    np.testing.assert_array_equal(
        jax.grad(lambda v: xo.sign(v).sum())(jnp.array([-2.0, 3.0])), [0, 0]
    )


@pytest.mark.parametrize(
    ("base", "exponent", "d_base", "d_exponent"),
    [
        (0.0, 2.0, 0.0, 0.0),
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 3.0, 0.0, 0.0),
        (2.0, 0.0, 0.0, np.log(2.0)),
        (0.0, 0.0, 0.0, None),
        (-2.0, 2.0, -4.0, None),
        (-2.0, 3.0, 12.0, None),
    ],
)
def test_pow_at_the_edge(base, exponent, d_base, d_exponent):
    got = jax.grad(xo.pow, argnums=(0, 1))(base, exponent)
    np.testing.assert_allclose(got[0], d_base, rtol=1e-6)
    if d_exponent is not None:
        np.testing.assert_allclose(got[1], d_exponent, rtol=1e-6, atol=1e-7)


def test_pow_with_a_python_exponent():
    assert jax.grad(lambda x: xo.pow(x, 2))(0.0) == 0
    assert jax.grad(jax.grad(lambda x: xo.pow(x, 2)))(0.0) == 2
    assert jax.grad(lambda x: xo.pow(x, 3.0))(-2.0) == 12


def test_pow_with_one_constant_operand_in_forward_mode():
    """The derivative by the other operand, which may be NaN, takes no part."""
    cube = lambda x: xo.pow(x, 3.0)  # noqa: E731
    x = jnp.array([-2.0, 0.0, 3.0, jnp.inf])
    _, tangent = jax.jvp(cube, (x,), (jnp.ones(4),))
    np.testing.assert_array_equal(tangent, [12, 0, 27, jnp.inf])
    _, tangent = jax.jvp(jax.jit(jax.vmap(cube)), (x,), (jnp.ones(4),))
    np.testing.assert_array_equal(tangent, [12, 0, 27, jnp.inf])
    assert jax.hessian(cube)(-2.0) == -12
    _, tangent = jax.jvp(lambda y: xo.pow(0.0, y), (0.5,), (1.0,))
    assert tangent == 0


def test_a_scalar_beside_an_explicitly_sharded_operand():
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    sharding = jax.NamedSharding(mesh, jax.P("i"))
    x = jax.device_put(np.float32([-2.0, 3.0]), sharding)
    z = jax.device_put(np.complex64([-2.0, 3.0]), sharding)
    with jax.set_mesh(mesh):
        powers = jax.jit(jax.grad(lambda v: xo.pow(v, 3.0).sum()))(x)
        largest = jax.jit(jax.grad(lambda v: xo.max(v, 1.0).sum().real))(z)
    np.testing.assert_array_equal(powers, [12, 27])
    np.testing.assert_array_equal(largest, [0, 1])


def test_cbrt():
    np.testing.assert_allclose(jax.grad(xo.cbrt)(-8.0), 1 / 12, rtol=1e-5)
    z = np.complex64(1 + 2j)
    got = jax.grad(xo.cbrt, holomorphic=True)(z)
    np.testing.assert_allclose(got, z ** (-2 / 3) / 3, rtol=1e-5)


def test_reduce_precision_rounds_the_derivative_too():
    """That of the identity: two bits of mantissa have steps of a quarter."""
    x = jnp.array([1.1, 3.14159])
    weights = jnp.array([1.0, 1.3])
    f = lambda v: xo.reduce_precision(v, 5, 2)  # noqa: E731
    _, tangent = jax.jvp(f, (x,), (weights,))
    np.testing.assert_array_equal(tangent, [1.0, 1.25])
    gradient = jax.grad(lambda v: (f(v) * weights).sum())(x)
    np.testing.assert_array_equal(gradient, [1.0, 1.25])


@pytest.mark.parametrize("target", ["s32", "u8"])
def test_bits_are_flat(target):
    _, tangent = jax.jvp(
        lambda v: xo.bitcast_convert_type(v, target).astype("float32"),
        (jnp.array([1.1, 3.14159]),),
        (jnp.ones(2),),
    )
    np.testing.assert_array_equal(tangent, np.zeros(tangent.shape))


def test_rem():
    """x - y trunc(x / y): 1 and -trunc(x / y)."""
    got = jax.grad(xo.rem, argnums=(0, 1))(-7.5, 2.0)
    assert got == (1.0, 3.0)


@pytest.mark.parametrize("f", [xo.max, xo.min])
def test_equal_operands_share_the_derivative(f):
    got = jax.grad(f, argnums=(0, 1))(2.0, 2.0)
    assert sum(map(float, got)) == 1.0


def test_pad_derivatives_with_negative_edges(rng):
    x = jnp.arange(1.0, 5.0)

    def f(v, value):
        return (xo.pad(v, value, [(-1, 2, 1)]) * jnp.arange(8.0)).sum()

    # [pad, x1, pad, x2, pad, x3, pad, pad]
    dx, value = jax.grad(f, argnums=(0, 1))(x, 0.5)
    np.testing.assert_array_equal(dx, [0, 1, 3, 5])
    assert value == 0 + 2 + 4 + 6 + 7


def test_transposing_broadcast(rng):
    """Dimension i of the operand goes to broadcast_dimensions[i], and so back."""
    weights = rng.normal(size=(2, 4, 3)).astype(np.float32)

    def f(x):
        return (xo.broadcast_in_dim(x, (2, 4, 3), (2, 0)) * weights).sum()

    got = jax.grad(f)(jnp.ones((3, 2)))
    np.testing.assert_allclose(got, weights.sum(1).T, rtol=1e-5)


def test_transposing_broadcast_to_a_square(rng):
    """Of which the shapes do not tell whether the derivative was transposed."""
    weights = rng.normal(size=(2, 2)).astype(np.float32)

    def f(x):
        return (xo.broadcast_in_dim(x, (2, 2), (1, 0)) * weights).sum()

    np.testing.assert_allclose(jax.grad(f)(jnp.ones((2, 2))), weights.T)


def test_while_is_forward_only():
    def f(x):
        return xo.while_(lambda v: v < 100.0, lambda v: v * v, x)

    value, tangent = jax.jvp(f, (3.0,), (1.0,))  # x ** 8
    assert value == 3.0**8
    np.testing.assert_allclose(tangent, 8 * 3.0**7, rtol=1e-6)
    np.testing.assert_allclose(jax.jacfwd(f)(3.0), 8 * 3.0**7, rtol=1e-6)
    with pytest.raises(ValueError, match="Reverse-mode"):
        jax.grad(f)(3.0)


def test_integers_pass_through_derivatives():
    """Integer operations next to a derivative, also in the carry of a loop."""

    def f(x, n):
        n = xo.pow(n, 2)
        n = xo.rem(xo.div(n, 2), 5)
        return x * xo.convert_element_type(n, "f32")

    assert jax.grad(f)(2.0, jnp.int32(4)) == 3.0

    def body(carry, _):
        x, n = carry
        return (x * 2.0, xo.pow(n, 1)), None

    def g(x, n):
        return jax.lax.scan(body, (x, n), None, length=3)[0][0]

    assert jax.grad(g)(1.0, jnp.int32(2)) == 8.0
    zero = np.zeros((), jax.dtypes.float0)
    _, tangent = jax.jvp(lambda n: xo.pow(n, 2), (jnp.int32(3),), (zero,))
    assert tangent.dtype == jax.dtypes.float0


def test_low_precision_products_with_a_wider_result(rng):
    """The gradient has the operands' element type, though the result is wider."""
    x, y = (uniform(rng, "bfloat16", s) for s in ((2, 3), (3, 2)))

    def f(x, y):
        return xo.dot(x, y, preferred_element_type="f32").sum()

    dx, dy = jax.grad(f, argnums=(0, 1))(x, y)
    assert dx.dtype == dy.dtype == "bfloat16"
    wide = np.asarray(y, np.float32).sum(1)
    np.testing.assert_allclose(np.asarray(dx, np.float32), [wide, wide], rtol=1e-2)


def test_low_precision_convolution_with_a_wider_result(rng):
    x, kernel = (uniform(rng, "bfloat16", s) for s in ((1, 1, 3), (1, 1, 2)))

    def f(x, kernel):
        return xo.conv(x, kernel, (1,), "VALID", preferred_element_type="f32").sum()

    dx, dkernel = jax.grad(f, argnums=(0, 1))(x, kernel)
    assert dx.dtype == dkernel.dtype == "bfloat16"
    a, b = np.asarray(kernel, np.float32)[0, 0]
    np.testing.assert_allclose(
        np.asarray(dx, np.float32)[0, 0], [a, a + b, b], rtol=1e-2
    )


@pytest.mark.parametrize("f", [xo.dot, xo.dot_general])
def test_products_of_two_element_types(f, rng):
    x = uniform(rng, "float32", (2, 3))
    y = uniform(rng, "bfloat16", (3, 2))
    extra = () if f is xo.dot else ((((1,), (0,)), ((), ())),)

    def g(x, y):
        return f(x, y, *extra, preferred_element_type="f32").sum()

    dx, dy = jax.grad(g, argnums=(0, 1))(x, y)
    assert (dx.dtype, dy.dtype) == ("float32", "bfloat16")
    np.testing.assert_allclose(
        np.asarray(dy, np.float32), np.stack([x.sum(0)] * 2, 1), rtol=1e-2
    )


# Random numbers: a + (b - a) u and mu + sigma z


def test_uniform_reparametrised():
    def f(a, b):
        return xo.rng_uniform(a, b, "f32[50]")

    x, tangent = jax.jvp(f, (2.0, 6.0), (1.0, 0.0))
    np.testing.assert_allclose(tangent, 1 - (x - 2) / 4, rtol=1e-4, atol=1e-5)
    x, tangent = jax.jvp(f, (2.0, 6.0), (0.0, 1.0))
    np.testing.assert_allclose(tangent, (x - 2) / 4, rtol=1e-4, atol=1e-5)
    da, db = jax.grad(lambda a, b: f(a, b).sum(), argnums=(0, 1))(2.0, 6.0)
    np.testing.assert_allclose(da + db, 50, rtol=1e-5)


def test_normal_reparametrised():
    def f(mu, sigma):
        return xo.rng_normal(mu, sigma, "f32[50]")

    x, tangent = jax.jvp(f, (2.0, 3.0), (0.0, 1.0))
    np.testing.assert_allclose(tangent, (x - 2) / 3, rtol=1e-4, atol=1e-5)
    mean = jax.grad(lambda m: f(m, 3.0).sum())(2.0)
    assert mean == 50
    assert jax.grad(jax.grad(lambda m: f(m, 3.0).sum()))(2.0) == 0


def test_uniform_integers_inside_a_derivative():
    zero = np.zeros((), jax.dtypes.float0)
    f = lambda a: xo.rng_uniform(a, xo.add(a, 5), "s32[3]")  # noqa: E731
    value, tangent = jax.jvp(f, (jnp.int32(1),), (zero,))
    assert value.dtype == "int32"
    assert tangent.dtype == jax.dtypes.float0

    def g(x, n):
        return x * xo.rng_uniform(n, xo.add(n, 1), "s32[]").astype("float32")

    assert jax.grad(g)(2.0, jnp.int32(7)) == 7.0
