"""Computations that operations are given: traced, compared, checked and screened."""

import functools
import gc
import weakref

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import xlaops as xo
from xlaops import builder as xb
from xlaops.core import computation as computations
from xlaops.core.computation import Role

F4, I4, PRED = np.dtype(np.float32), np.dtype(np.int32), np.dtype(bool)
ROLE = Role("reduce", "computation", "running values, then elements")


def traced(function, inputs=(F4, F4), outputs=(F4,), **options):
    return computations.traced(ROLE, function, inputs, outputs, **options)


# Equal computations are one object


def test_lambdas_that_do_the_same_are_one_object():
    first = traced(lambda a, b: a * b + 1)
    assert traced(lambda x, y: x * y + 1) is first
    assert traced(lambda a, b: a * b + 2) is not first
    assert traced(lambda a, b: b * a + 1) is not first
    assert traced(lambda a, b: a * b + 1, (I4, I4), (I4,)) is not first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 2.0),
        (0.0, -0.0),
        (np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(1))),
        # As arrays they print alike.
        (np.array(0.123456789, "f4"), np.array(0.12345679 + 1e-8, "f4")),
        (1, True),
        (np.float32(1), 1),
    ],
)
def test_constants_are_compared_by_their_bits(one, other):
    def shifted(k):
        return traced(lambda a, b: a + b * k)

    first = shifted(one)
    assert shifted(one) is first
    same = np.asarray(one, F4).tobytes() == np.asarray(other, F4).tobytes()
    assert (shifted(other) is first) == same or type(one) is not type(other)
    assert float(shifted(other)(1.0, 1.0)[0]) == float(np.float32(1) + other)


def test_arrays_in_closures_are_compared_by_value():
    def scaled(k):
        return traced(lambda a, b: a + b * k)

    first = scaled(jnp.float32(3))
    assert scaled(jnp.float32(3)) is first
    assert scaled(jnp.float32(4)) is not first


def test_what_a_function_closes_over_may_change():
    factor = 2.0

    def f(a, b):
        return a + b * factor

    x = jnp.array([1.0, 2.0])
    assert xo.reduce([x], [0.0], f, [0]) == 6
    factor = 3.0
    assert xo.reduce([x], [0.0], f, [0]) == 9


def test_64_bit_types_are_told_apart():
    def f(a, b):
        return a + (b * 2.5).astype(F4)

    narrow = traced(f)
    with jax.enable_x64(True):
        assert traced(f) is not narrow


def test_operations_of_the_package_are_traced_once(monkeypatch):
    first = traced(xo.atan2)
    tracings = []
    make_jaxpr = jax.make_jaxpr
    monkeypatch.setattr(
        jax, "make_jaxpr", lambda f: tracings.append(f) or make_jaxpr(f)
    )
    assert traced(xo.atan2) is first
    assert not tracings
    assert traced(xo.atan2, (jnp.bfloat16,) * 2, (jnp.bfloat16,)) is not first
    with pytest.raises(TypeError, match=r"must return float32\[\], got bool\[\]"):
        traced(xo.eq)
    assert len(tracings) == 2
    # What passes for one of them is not.
    wrapped = functools.wraps(xo.atan2)(lambda a, b: a + b)
    assert traced(wrapped).pattern == "add"


def test_callables_without_hash():
    class Weighted:
        __hash__ = None

        def __call__(self, a, b):
            return a + 2 * b

    assert traced(Weighted()) is traced(Weighted())


def test_functions_with_derivatives_of_their_own():
    """Equal rules are one; the same value with another derivative is not."""

    def doubled(factor):
        f = jax.custom_jvp(lambda v: v * 2)
        f.defjvp(lambda p, t: (f(*p), t[0] * factor))
        return f

    first = traced(lambda a, b: a + doubled(2.0)(b))
    assert traced(lambda a, b: a + doubled(2.0)(b)) is first
    other = traced(lambda a, b: a + doubled(7.0)(b))
    assert other is not first
    assert traced(lambda a, b: a + jax.nn.relu(b)) is traced(
        lambda a, b: a + jax.nn.relu(b)
    )
    x = jnp.array([1.0, 2.0])
    for factor in (2.0, 7.0):
        f = doubled(factor)
        got = jax.grad(lambda x: xo.map([x], f, [0]).sum())(x)  # noqa: B023
        np.testing.assert_array_equal(got, [factor] * 2)


def test_calls_are_no_part_of_a_computation():
    inner = jax.jit(lambda a, b: a * b)
    assert traced(lambda a, b: jnp.add(inner(a, b), b)) is traced(
        lambda a, b: a * b + b
    )
    assert traced(jax.checkpoint(lambda a, b: a * b)) is traced(lambda a, b: a * b)


@pytest.mark.parametrize(
    ("function", "pattern"),
    [
        (xo.add, "add"),
        (lambda a, b: b + a, "add"),
        (jnp.multiply, "mul"),
        (lambda a, b: a - b, "sub"),
        (lambda a, b: b - a, ""),
        (lambda a, b: b, "second"),
        (lambda a, b: a, ""),
        (lambda a, b: a + a, ""),
        (lambda a, b: a + b + 0, ""),
        (lambda a, b: a + 1, ""),
    ],
)
def test_patterns(function, pattern):
    assert traced(function).pattern == pattern


def test_computations_go_with_the_programs_that_hold_them():
    computation = traced(lambda a, b: a * 1234.5 + b)
    held = weakref.ref(computation)
    del computation
    gc.collect()
    assert held() is None


def test_a_new_lambda_compiles_nothing():
    compiled = []

    def listen(event, duration, **_):
        if event.endswith("backend_compile_duration"):
            compiled.append(event)

    x, at = jnp.arange(8.0), jnp.array([[1], [3]])
    rows = {
        "update_window_dims": (),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
        "index_vector_dim": 1,
    }

    def call():
        def new():
            return lambda a, b: a * b + 3 * b

        xo.reduce([x], [1.5], new(), [0])
        xo.sort([x], lambda a, b: a * 3 > b * 3)
        xo.map([x, x], lambda a, b: a * b + 4 * b, [0])
        xo.reduce_window([x], [1.5], new(), [2], [1], "SAME")
        xo.scatter([x], at, [x[:2]], new(), rows)
        xo.select_and_scatter(
            x, lambda a, b: a * 2 > b * 2, [2], [2], "VALID", x[:4], 0.0, new()
        )

    call()
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        jax.jit(lambda x: x * 123.25)(x)
        assert len(compiled) == 1  # it does listen
        call()
        assert len(compiled) == 1
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


# What comes in, and what comes out


def test_results_may_be_python_numbers_and_lists():
    computation = traced(lambda a, b: [1, 2.5], (F4, F4), (F4, F4))
    assert [x.dtype for x in computation(0.0, 0.0)] == ["float32", "float32"]
    assert [float(x) for x in computation(0.0, 0.0)] == [1, 2.5]


REFUSED_RESULTS = [
    (lambda a, b: a > b, r"return float32\[\], got bool\[\]"),
    (lambda a, b: a.astype(np.int32), r"return float32\[\], got int32\[\]"),
    (lambda a, b: a[None], r"return float32\[\], got float32\[1\]"),
    (lambda a, b: (a, b), r"return float32\[\], got 2 values"),
    (lambda a, b: (), r"return float32\[\], got 0 values"),
    (lambda a, b: None, r"return float32\[\], got NoneType None"),
    (lambda a, b: "a", r"return float32\[\], got str 'a'"),
    (lambda a, b: {"a": a}, r"return float32\[\], got dict"),
    (lambda a, b: True, r"return float32\[\], got .*bool"),
    (lambda a, b: 1j, r"return float32\[\], got "),
]


@pytest.mark.parametrize(("function", "match"), REFUSED_RESULTS)
def test_other_results_are_refused(function, match):
    with pytest.raises(TypeError, match=f"^reduce: computation must {match}"):
        traced(function)


@pytest.mark.parametrize(
    "function", [lambda a: a, lambda a, b, c: a, lambda a, *, b: a, lambda: 1]
)
def test_other_parameters_are_refused(function):
    rule = r"^reduce: computation must take 2 scalars \(running values, then elements: "
    with pytest.raises(TypeError, match=rf"{rule}float32\[\], float32\[\]\), got <la"):
        traced(function)


def test_defaults_and_variable_parameters_fit():
    assert traced(lambda *args: args[0] + args[1]).pattern == "add"
    assert traced(lambda a, b, c=3: a + b).pattern == "add"
    assert traced(functools.partial(lambda c, a, b: a + b, 3)).pattern == "add"


def test_an_error_of_the_function_is_its_own():
    def f(a, b):
        raise TypeError("of its own")

    with pytest.raises(TypeError, match=r"^of its own"):
        traced(f)


# Computations that were built


def built(*shapes, operation=xb.Mul):
    b = xb.XlaBuilder("built")
    return b.Build(
        operation(*(xb.Parameter(b, i, shape) for i, shape in enumerate(shapes)))
    )


def test_a_built_computation():
    x = jnp.array([1.0, 2.0, 3.0])
    product = built("f32[]", "f32[]")
    assert xo.reduce([x], [2.0], product, [0]) == 12
    assert traced(product) is traced(lambda a, b: a * b)
    less = built("f32[]", "f32[]", operation=xb.Gt)
    np.testing.assert_array_equal(xo.sort([x], less), [3, 2, 1])


def test_a_built_computation_inside_of_another():
    b = xb.XlaBuilder("outer")
    x = xb.Parameter(b, 0, "f32[3]")
    total = xb.Reduce([x], [xb.ConstantR0(b, 1.0)], built("f32[]", "f32[]"), [0])
    assert b.Build(total)(jnp.array([2.0, 3.0, 4.0])) == 24


@pytest.mark.parametrize("shapes", [("s32[]", "s32[]"), ("f32[2]", "f32[2]")])
def test_a_built_computation_of_other_types_is_refused(shapes):
    match = r"^reduce: computation must take 2 scalars .*got XlaComputation\(built"
    with pytest.raises(TypeError, match=match):
        xo.reduce([jnp.ones(3)], [0.0], built(*shapes), [0])


# What a computation may not hold

X = jnp.linspace(0.5, 1.5, 6)
AT = np.array([[1], [2]], np.int32)
ROWS = {
    "update_window_dims": (),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "index_vector_dim": 1,
}
OPERATIONS = {
    "reduce": lambda x, f: xo.reduce([x], [1.0], f, [0]),
    "reduce_all": lambda x, f: xo.reduce_all(x, 1.0, f),
    "reduce_window": lambda x, f: xo.reduce_window([x], [1.0], f, [2], [1], "SAME"),
    "scatter": lambda x, f: xo.scatter([x], AT, [x[:2]], f, ROWS),
    "select_and_scatter": lambda x, f: xo.select_and_scatter(
        x, xo.ge, [2], [2], "VALID", x[: x.size // 2], 0.0, f
    ),
    "sort": lambda x, f: xo.sort([x], lambda a, b: f(a, 2 * b) < f(b, 2 * a)),
}
MAPPED = {**OPERATIONS, "map": lambda x, f: xo.map([x, x], f, [0])}


def _of_loop(a, b):
    return lax.fori_loop(0, 3, lambda i, c: c * b, a)


def _of_while(a, b):
    return lax.while_loop(lambda c: c < 9, lambda c: c + b, a)


def _of_callback(a, b):
    return jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct((), F4), a + b)


def _printing(a, b):
    jax.debug.print("{}", a)
    return a + b


CONTENTS = {
    "fori_loop": (_of_loop, "have no loop.*Unroll it"),
    "while": (_of_while, "have no loop.*'while'"),
    "scan": (
        lambda a, b: lax.scan(lambda c, _: (c + b, None), a, None, length=2)[0],
        "have no loop.*'scan'",
    ),
    "a loop in a branch": (
        lambda a, b: lax.cond(a > b, _of_while, lambda a, b: a, a, b),
        "have no loop",
    ),
    "a loop in a call": (lambda a, b: jax.jit(_of_while)(a, b), "have no loop"),
    "igamma": (lax.igamma, "have no loop.*'igamma'"),
    "igammac": (lax.igammac, "have no loop.*'igammac'"),
    "betainc": (lambda a, b: lax.betainc(a, b, np.float32(0.5)), "have no loop"),
    "gcd": (
        lambda a, b: jnp.gcd(a.astype(int), b.astype(int)).astype(F4),
        "have no loop",
    ),
    "sort": (
        lambda a, b: jnp.sort(jnp.stack([a, b]))[0],
        "be made of operations on scalars",
    ),
    "dot": (
        lambda a, b: jnp.vdot(jnp.stack([a, b]), jnp.stack([b, a])),
        "be made of operations on scalars",
    ),
    "a table": (
        lambda a, b: a + jnp.arange(4.0)[b.astype(int)],
        "be made of operations on scalars|hold only scalars",
    ),
    "an array": (lambda a, b: a + (b * X)[0], "hold only scalars"),
    "pure_callback": (_of_callback, "not call back to Python.*'pure_callback'"),
    "debug.print": (_printing, "not call back to Python"),
    "random numbers": (
        lambda a, b: a + jax.random.uniform(jax.random.key(0)),
        "draw no random numbers|be made of operations on scalars|hold only scalars",
    ),
    "rng_uniform": (
        lambda a, b: a + xo.rng_uniform(0.0, 1.0, "f32[]"),
        "draw no random numbers.*'xlaops_rng'",
    ),
    "x / 0": (
        lambda a, b: a + lax.div(np.int32(3), np.int32(0)).astype(F4),
        "not divide integers by zero.*'div'",
    ),
    "x % 0": (
        lambda a, b: a + lax.rem(np.uint8(3), np.uint8(0)).astype(F4),
        "not divide integers by zero.*'rem'",
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("content", CONTENTS)
def test_contents_that_end_the_process_are_refused(name, content):
    function, match = CONTENTS[content]
    with pytest.raises(TypeError, match=rf"^{name}: \w+ must ({match})"):
        OPERATIONS[name](X, function)
    with pytest.raises(TypeError, match=rf"^{name}: \w+ must ({match})"):
        jax.jit(lambda x: OPERATIONS[name](x, function))(X)


@pytest.mark.parametrize("name", OPERATIONS)
def test_communication_is_refused(name, mesh8):
    def body(x):
        return OPERATIONS[name](x, lambda a, b: a + lax.psum(b, "i"))

    program = jax.shard_map(body, mesh=mesh8, in_specs=P(), out_specs=P())
    with pytest.raises(TypeError, match=rf"^{name}: .* not communicate"):
        jax.jit(program)(X)


@pytest.mark.parametrize("name", MAPPED)
def test_traced_values_in_closures_are_refused(name):
    operation = MAPPED[name]
    match = rf"^{name}: \w+ must use no value that is traced outside of it, got one of"
    match += rf" type float32\[\]\. Make it an operand of {name}"

    def f(k):
        return operation(X, lambda a, b: a * k + b).sum()

    for transformed, k in (
        (jax.jit(f), 2.0),
        (jax.grad(f), 2.0),
        (jax.vmap(f), jnp.ones(2)),
    ):
        with pytest.raises(TypeError, match=match):
            transformed(k)
    assert jnp.isfinite(f(2.0))  # which is concrete here


# What it may hold

ALLOWED = {
    "cond": lambda a, b: lax.cond(a > b, lambda a, b: a * b, lambda a, b: b - a, a, b),
    "switch": lambda a, b: lax.switch(
        (a * 2).astype(int), [lambda v: v, lambda v: v * 2, jax.nn.relu], b
    ),
    "a call in a branch": lambda a, b: lax.cond(
        a > b, lambda a, b: jnp.where(a > 1, a, b), lambda a, b: jax.nn.relu(a), a, b
    ),
    "jit": lambda a, b: jax.jit(jnp.maximum)(a, b) * 0.5,
    "checkpoint": lambda a, b: jax.checkpoint(jnp.sin)(a) + b,
    "derivative of its own": lambda a, b: jax.nn.relu(a - 1) + jax.nn.gelu(b),
    "platform_dependent": lambda a, b: lax.platform_dependent(
        a, b, cpu=lambda a, b: a * b, default=lambda a, b: a + b
    ),
    "special functions": lambda a, b: (
        lax.lgamma(a + 1) + lax.digamma(b) + lax.erf_inv(a / 9)
    ),
    "integers": lambda a, b: (a * 9).astype(int).astype(F4) + lax.clz(b.astype(int)),
    "operations of xlaops": lambda a, b: xo.add(xo.round(a * 3), xo.pow(b, 2.0)),
    "optimization_barrier": lambda a, b: lax.optimization_barrier(a) + b * b,
}


@pytest.mark.parametrize("name", MAPPED)
@pytest.mark.parametrize("content", ALLOWED)
def test_contents_that_run(name, content):
    """What they compute is what they compute outside of an operation."""
    function = ALLOWED[content]
    got = np.asarray(jax.jit(lambda x: MAPPED[name](x, function))(X))
    value = np.float32
    if name == "map":
        np.testing.assert_allclose(got, [function(v, v) for v in X], rtol=1e-5)
    elif name == "reduce":
        running = value(1)
        for v in np.asarray(X):
            running = value(function(jnp.float32(running), jnp.float32(v)))
        np.testing.assert_allclose(got, running, rtol=1e-4)
    else:
        assert np.isfinite(got).all()


# Everywhere


def _second(a, b):
    return a * b + a + b


@pytest.mark.parametrize("name", MAPPED)
def test_in_loops_and_branches(name):
    operation = MAPPED[name]
    x = X * 0.1

    def f(x):
        return x + 0.1 * operation(x, _second)

    step = f(x)
    if step.shape == x.shape:
        scanned, _ = lax.scan(lambda c, _: (f(c), None), x, None, length=2)
        np.testing.assert_allclose(scanned, f(f(x)), rtol=1e-5)
        looped = lax.while_loop(
            lambda s: s[0] < 2, lambda s: (s[0] + 1, f(s[1])), (0, x)
        )[1]
        np.testing.assert_allclose(looped, scanned, rtol=1e-5)
    chosen = lax.cond(x[0] > 0, f, lambda x: x, x)
    np.testing.assert_allclose(chosen, step, rtol=1e-5)
    loss = lambda x: (f(x) ** 2).sum()  # noqa: E731
    again = jax.jit(jax.grad(jax.checkpoint(loss)))(x)
    np.testing.assert_allclose(again, jax.grad(loss)(x), rtol=1e-4)


@pytest.mark.parametrize("name", MAPPED)
@pytest.mark.parametrize("check_vma", [True, False])
def test_gradients_in_a_manual_program(name, check_vma, mesh8, rng):
    """Of an operand of each device, and of one that all of them have."""
    operation = MAPPED[name]
    rows = rng.uniform(0.1, 0.3, (8, 6)).astype(F4)
    shared = rng.uniform(0.5, 1.5, 6).astype(F4)

    def local(row, shared):
        return (operation(row * shared, _second) ** 2).sum()

    def total(rows, shared):
        each = jax.shard_map(
            lambda r, s: local(r[0], s)[None],
            mesh=mesh8,
            in_specs=(P("i"), P()),
            out_specs=P("i"),
            check_vma=check_vma,
        )(rows, shared)
        return each.sum()

    got = jax.jit(jax.grad(total, (0, 1)))(rows, shared)
    of_rows, of_shared = jax.vmap(jax.grad(local, (0, 1)), (0, None))(rows, shared)
    np.testing.assert_allclose(got[0], of_rows, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(got[1], of_shared.sum(0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", MAPPED)
def test_in_pmap_and_in_automatically_sharded_programs(name, mesh8, rng):
    operation = MAPPED[name]
    rows = rng.uniform(0.1, 0.3, (8, 6)).astype(F4)
    f = lambda x: operation(x, _second)  # noqa: E731
    expected = jax.vmap(f)(rows)
    np.testing.assert_allclose(jax.pmap(f)(rows), expected, rtol=1e-5)
    sharded = jax.device_put(rows, jax.NamedSharding(mesh8, P("i")))
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(sharded), expected, rtol=1e-5)


@pytest.mark.parametrize("name", MAPPED)
def test_along_a_dimension_that_is_sharded(name, mesh8, rng):
    """XLA partitions the program, and has no reduction between devices for it."""
    x = rng.uniform(0.1, 0.3, 16).astype(F4)
    sharded = jax.device_put(x, jax.NamedSharding(mesh8, P("i")))
    f = lambda x: MAPPED[name](x, _second)  # noqa: E731
    np.testing.assert_allclose(jax.jit(f)(sharded), f(x), rtol=1e-5)
    gradient = jax.jit(jax.grad(lambda x: (f(x) ** 2).sum()))
    np.testing.assert_allclose(gradient(sharded), gradient(x), rtol=1e-4)


@pytest.mark.parametrize("name", MAPPED)
def test_in_a_mesh_of_explicit_axes(name, rng):
    mesh = jax.make_mesh((8,), ("i",), axis_types=(AxisType.Explicit,))
    x = rng.uniform(0.1, 0.3, 6).astype(F4)
    expected = MAPPED[name](jnp.asarray(x), _second)
    with jax.set_mesh(mesh):
        replicated = jax.device_put(x, jax.NamedSharding(mesh, P()))
        got = jax.jit(lambda x: MAPPED[name](x, _second))(replicated)
    np.testing.assert_allclose(got, expected, rtol=1e-5)
