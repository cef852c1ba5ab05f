"""The decorator of operations: what callers see, and when programs are built."""

import concurrent.futures
import inspect
import re
import threading

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import pytest

import xlaops as xo
from xlaops.core import checks
from xlaops.core.operation import operation
from xlaops.types import DotDimensionNumbers

F4 = np.float32

# Names of what JAX reports while it traces, lowers and compiles.
EVENTS = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, duration, **rest: EVENTS.append(name)
)


def programs_built(call):
    """How many programs JAX compiles during a call."""
    before = len(EVENTS)
    jax.block_until_ready(call())
    return sum("backend_compile" in name for name in EVENTS[before:])


def traces(call):
    before = len(EVENTS)
    jax.block_until_ready(call())
    return sum("jaxpr_trace" in name for name in EVENTS[before:])


def scaled(**normalizers):
    """A new operation, and the list of the arguments its body was called with."""
    calls = []

    def scale(x, factor, sizes=()):
        """Doc of scale."""
        calls.append((x, factor, sizes))
        return checks.array("scale", "x", x) * checks.array("scale", "factor", factor)

    return operation(**normalizers or {"sizes": checks.sizes})(scale), calls, scale


# What the editor and help() see


def test_signature_docstring_and_names_are_kept():
    def area(height: jax.Array, width: float, dims: tuple[int, ...] = ()) -> jax.Array:
        """Doc."""
        return height

    made = operation(dims=checks.integers)(area)
    assert inspect.signature(made) == inspect.signature(area)
    assert made.__wrapped__ is area
    for name in ("__doc__", "__name__", "__qualname__", "__module__"):
        assert getattr(made, name) == getattr(area, name)
    assert made.__annotations__ == area.__annotations__


@pytest.mark.parametrize(
    "name", ["add", "pad", "concat_in_dim", "conv_general_dilated"]
)
def test_public_operations_are_wrapped(name):
    function = getattr(xo, name)
    assert inspect.isfunction(function)
    assert inspect.signature(function) == inspect.signature(function.__wrapped__)
    assert function.__name__ == name
    assert inspect.getsourcefile(inspect.unwrap(function)).endswith(".py")


def test_static_parameters_must_be_last():
    with pytest.raises(TypeError, match=r"^_first_static: .* must be last"):
        operation(n=checks.integer)(_first_static)
    with pytest.raises(TypeError, match=r"^_first_static: "):
        operation(other=checks.integer)(_first_static)


def _first_static(n, x):
    return x


# When a program is built


CONCRETE = {
    "jax array": jnp.ones(2),
    "numpy array": np.ones(2, F4),
    "numpy 0-d array": np.array(1.0, F4),
    "numpy scalar": np.float32(2),
    "numpy bfloat16": jnp.bfloat16(2),
    "numpy int": np.int8(3),
    "float": 2.0,
    "nan": float("nan"),
    "complex": 2j,
    "bool": True,
    "small int": 127,
}


@pytest.mark.parametrize("value", CONCRETE.values(), ids=CONCRETE)
def test_concrete_operands_are_traced_once(value):
    scale, calls, _ = scaled()
    got = [scale(value, value) for _ in range(3)]
    assert len(calls) == 1
    x, factor, sizes = calls[0]
    assert isinstance(x, jax.core.Tracer)
    assert isinstance(factor, jax.core.Tracer)
    assert sizes == ()
    for each in got:
        np.testing.assert_array_equal(each, np.asarray(value) * np.asarray(value))


@pytest.mark.parametrize("value", [128, -1, -(2**31), 2**31 - 1, 2**24 + 1])
def test_ints_keep_their_value(value):
    assert int(xo.add(value, 0)) == value
    assert xo.add(jnp.zeros(2, jnp.int32), value).tolist() == [value] * 2
    got = float(xo.add(jnp.zeros(()), value))
    assert got == float(F4(value))


def test_traced_operands_reach_the_body_as_they_are():
    scale, calls, _ = scaled()
    seen = []

    @jax.jit
    def outer(x):
        seen.append(x)
        return scale(x, 3.0)

    outer(jnp.ones(2))
    (x, factor, _) = calls[0]
    assert x is seen[0]
    assert factor == 3.0
    assert type(factor) is float
    jaxpr = str(jax.make_jaxpr(lambda v: scale(v, 3.0))(jnp.ones(2)))
    assert not re.search(r"\bp?jit\b", jaxpr), jaxpr


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: lambda x: jax.grad(lambda v: f(v).sum())(x),
        lambda f: jax.vmap(f),
        lambda f: lambda x: jax.jvp(f, (x,), (x,))[1],
        lambda f: lambda x: jax.lax.scan(lambda c, v: (c, f(v)), 0.0, x)[1],
        lambda f: jax.checkpoint(f),
    ],
    ids=["grad", "vmap", "jvp", "scan", "checkpoint"],
)
def test_transformations_see_the_body(transform):
    scale, calls, _ = scaled()
    got = transform(lambda v: scale(v, 3.0))(jnp.ones(2))
    np.testing.assert_array_equal(got, [3.0, 3.0])
    assert calls
    assert all(type(factor) is float for _, factor, _ in calls)


def test_concrete_operands_in_an_outer_program_leave_no_call():
    x = np.ones(2, F4)
    text = jax.jit(lambda y: xo.add(xo.mul(x, 3.0), y)).lower(x).as_text()
    assert "call" not in text
    assert text.count("func.func") == 1
    text = jax.jit(lambda: xo.transpose(np.ones((2, 3), F4), (1, 0))).lower().as_text()
    assert "call" not in text
    assert "stablehlo.transpose" in text


SPELLINGS = [
    (2, 3),
    [2, 3],
    range(2, 4),
    np.array([2, 3]),
    np.array([2, 3], np.uint8),
    (np.int64(2), np.int8(3)),
    [jnp.int32(2), 3],
    jnp.array([2, 3]),
]


def test_static_arguments_share_one_program_in_every_spelling():
    x = jnp.ones(5)
    got = [xo.broadcast(x, SPELLINGS[0])]
    spelled = {
        repr(s): programs_built(lambda s=s: xo.broadcast(x, s)) for s in SPELLINGS
    }
    # Nothing is compiled but what jnp.array([2, 3]) needs to be read.
    xo.broadcast(x, SPELLINGS[-1])
    again = [programs_built(lambda s=s: xo.broadcast(x, s)) for s in SPELLINGS]
    assert again == [0] * len(SPELLINGS)
    assert sum(spelled.values()) == sum(list(spelled.values())[-2:])
    got += [xo.broadcast(x, s) for s in SPELLINGS]
    assert {v.shape for v in got} == {(2, 3, 5)}


@pytest.mark.parametrize("spelling", SPELLINGS, ids=repr)
def test_the_body_sees_one_form_of_a_static_argument(spelling):
    scale, calls, _ = scaled()
    scale(jnp.ones(2), 1.0, (2, 3))
    scale(jnp.ones(2), 1.0, spelling)
    assert len(calls) == 1
    assert calls[0][2] == (2, 3)
    assert all(type(n) is int for n in calls[0][2])
    scale(jnp.ones(2), 1.0, (2, 4))
    assert len(calls) == 2


DOT_NUMBERS = [
    DotDimensionNumbers((1,), (0,)),
    {"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": np.array([0])},
    (((1,), (0,)), ((), ())),
    [[[1], [0]], [[], []]],
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
]


def test_dimension_numbers_share_one_program_in_every_spelling():
    x = jnp.ones((3, 3))
    xo.dot_general(x, x, DOT_NUMBERS[0])
    assert [traces(lambda n=n: xo.dot_general(x, x, n)) for n in DOT_NUMBERS] == [
        0
    ] * len(DOT_NUMBERS)


def test_other_static_arguments_share_one_program_in_every_spelling():
    x, image, kernel = jnp.ones(7), jnp.ones((1, 1, 9)), jnp.ones((1, 1, 2))
    families = [
        [
            lambda c=c: xo.pad(x, 0.0, c)
            for c in ([(1, 2, 3)], np.array([[1, 2, 3]]), xo.PaddingConfig([[1, 2, 3]]))
        ],
        [
            lambda s=s: xo.iota(s, np.int64(0))
            for s in (
                "f32[11]",
                jax.ShapeDtypeStruct((11,), F4),
                xo.Shape.parse("f32[11]"),
            )
        ],
        [
            lambda n=n, p=p: xo.conv_with_general_dimensions(image, kernel, [1], p, n)
            for n, p in (("bf0_oi0->bf0", "same"), (("NCW", "OIW", "NCW"), "SAME"))
        ],
        [
            lambda t=t: xo.convert_element_type(x, t)
            for t in ("bf16", jnp.bfloat16, np.dtype(jnp.bfloat16), "BF16")
        ],
    ]
    for first, *others in families:
        first()
        assert [traces(call) for call in others] == [0] * len(others)


def test_arrays_of_dynamic_size_share_one_program_of_their_type():
    def sized(size):
        return xo.set_dimension_size(jnp.arange(6.0), size, 0)

    calls = [
        (lambda x: xo.neg(x), lambda v: -v),
        (lambda x: xo.add(x, x), lambda v: v + v),
        (lambda x: xo.mul(x, 2.0), lambda v: v * 2),
        (lambda x: xo.slice(x, [1], [3], [1]), lambda v: v[1:3]),
        (lambda x: xo.concat_in_dim([x, x], 0), lambda v: np.concatenate([v, v])),
    ]
    first, second = sized(4), sized(2)
    for call, oracle in calls:
        np.testing.assert_array_equal(call(first).valid(), oracle(np.arange(4.0)))
        assert programs_built(lambda call=call: call(second)) == 0
        np.testing.assert_array_equal(call(second).valid(), oracle(np.arange(2.0)))


def test_scalars_beside_arrays_of_dynamic_size_are_checked_alike_by_both_paths():
    x = xo.set_dimension_size(jnp.arange(6, dtype=jnp.int8), 4, 0)
    np.testing.assert_array_equal(xo.add(x, 100).valid(), np.arange(100, 104))
    assert xo.add(x, 100).dtype == np.int8
    for scalar in (200, 0.5):
        with pytest.raises((TypeError, OverflowError)) as eager:
            xo.add(x, scalar)
        with pytest.raises((TypeError, OverflowError)) as traced:
            jax.jit(lambda v, scalar=scalar: xo.add(v, scalar))(x)
        assert type(eager.value) is type(traced.value)
        assert str(eager.value) == str(traced.value)


def test_omitted_defaults_share_the_program_of_given_ones():
    x = jnp.ones((2, 7))
    xo.add(x, x)
    assert traces(lambda: xo.add(x, x, ())) == 0
    assert traces(lambda: xo.add(x, x, broadcast_dimensions=[])) == 0
    assert traces(lambda: xo.add(x, rhs=x)) == 0


def test_each_type_and_shape_is_traced_once():
    scale, calls, _ = scaled()
    for _ in range(2):
        for x in (jnp.ones(2), jnp.ones(3), jnp.ones(2, jnp.int32), 1.0, True):
            scale(x, x)
    assert len(calls) == 5


def test_mutable_static_arguments_are_not_kept():
    sizes = [2]
    x = jnp.ones(3)
    assert xo.broadcast(x, sizes).shape == (2, 3)
    sizes[0] = 4
    assert xo.broadcast(x, sizes).shape == (4, 3)
    numbers = {"lhs_contracting_dimensions": [0], "rhs_contracting_dimensions": [0]}
    y = jnp.ones((2, 2)) * jnp.array([[1.0, 2.0]])
    before = xo.dot_general(y, y, numbers)
    numbers["lhs_contracting_dimensions"][0] = 1
    assert not np.array_equal(before, xo.dot_general(y, y, numbers))


def test_mutable_parts_of_static_arguments_are_not_kept():
    dimension = [1, 0, 0]
    config = (dimension,)
    x = jnp.ones(2)
    assert xo.pad(x, 0.0, config).tolist() == [0, 1, 1]
    dimension[1] = 1
    assert xo.pad(x, 0.0, config).tolist() == [0, 1, 1, 0]


def test_new_static_arguments_are_not_taken_for_those_that_are_gone():
    """Objects that were freed may have given their identity to others."""
    scale, calls, _ = scaled()
    with jax.disable_jit():
        for n in range(5000):
            # Larger than the ints that Python keeps, and twice the memory of forms.
            sizes = (n + 1000, 7)
            scale(1.0, 2.0, sizes)
            assert calls.pop()[2] == sizes
            scale(1.0, 2.0, list(sizes))
            assert calls.pop()[2] == sizes


# Arguments


@pytest.mark.parametrize("operand", [jnp.ones(2), np.ones(2, F4), np.ones((2, 2)), 1.0])
def test_keyword_calls(operand):
    want = np.asarray(operand) * 2
    np.testing.assert_array_equal(xo.add(operand, operand), want)
    np.testing.assert_array_equal(xo.add(lhs=operand, rhs=operand), want)
    np.testing.assert_array_equal(xo.add(rhs=operand, lhs=operand), want)
    np.testing.assert_array_equal(xo.add(operand, rhs=operand), want)
    np.testing.assert_array_equal(
        xo.add(broadcast_dimensions=(), rhs=operand, lhs=operand), want
    )
    np.testing.assert_array_equal(xo.neg(operand=operand), -np.asarray(operand))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda x: xo.add(), r"missing 2 required positional .*'lhs' and 'rhs'"),
        (lambda x: xo.add(x), r"missing 1 required positional argument: 'rhs'"),
        (lambda x: xo.add(rhs=x), r"missing 1 required positional argument: 'lhs'"),
        (lambda x: xo.add(x, x, (), 1), r"takes from 2 to 3 positional arguments"),
        (lambda x: xo.add(x, x, dims=()), r"got an unexpected keyword .*'dims'"),
        (lambda x: xo.add(x, x, lhs=x), r"got multiple values for argument 'lhs'"),
        (lambda x: xo.add(x, x, (), rhs=x), r"got multiple values for .*'rhs'"),
        (lambda x: xo.broadcast(x), r"missing .*'broadcast_sizes'"),
        (lambda x: xo.broadcast(broadcast_sizes=()), r"missing .*'operand'"),
        (lambda x: xo.neg(x, x), r"takes 1 positional argument but 2 were given"),
        (lambda x: xo.neg(x, rhs=x), r"got an unexpected keyword .*'rhs'"),
    ],
)
@pytest.mark.parametrize("operand", [jnp.ones(2), np.ones(2, F4), None])
def test_wrong_arguments(call, match, operand):
    name = call.__code__.co_names[-1]
    with pytest.raises(TypeError, match=rf"^{name}\(\) {match}"):
        call(operand)


def test_the_first_call_is_bound_as_all_others_are():
    for _ in range(2):
        scale, calls, _ = scaled()
        with pytest.raises(TypeError, match=r"scale\(\) missing .*'x' and 'factor'"):
            scale()
        with pytest.raises(TypeError, match=r"scale\(\) got an unexpected .*'dims'"):
            scale(1.0, 2.0, dims=())
        assert not calls
    scale, calls, _ = scaled()
    scale(factor=jnp.ones(2), sizes=[3], x=2.0)
    ((x, factor, sizes),) = calls
    assert (x.shape, factor.shape, sizes) == ((), (2,), (3,))


def test_threads_make_the_first_call_together():
    for _ in range(20):
        scale, _, _ = scaled()
        start = threading.Barrier(4)

        def work(n, scale=scale, start=start):
            start.wait()
            return float(scale(n, factor=2))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(4))) == [0, 2, 4, 6]


@pytest.mark.parametrize(
    "function",
    [
        lambda *xs: xs,
        lambda x, **rest: x,
        lambda x, /: x,
        lambda x, *, y: x,
    ],
)
def test_parameters_must_be_positional_or_by_keyword(function):
    with pytest.raises(TypeError, match=r"^f: parameters must be positional or by"):
        operation("f")(function)


NOT_ARRAYS = {
    "none": None,
    "list": [1.0, 2.0],
    "nested list": [[1.0], [2.0]],
    "tuple": (1.0, 2.0),
    "empty list": [],
    "str": "x",
    "dict": {"a": 1.0},
    "object": object(),
    "type": float,
    "struct": jax.ShapeDtypeStruct((2,), F4),
    "str array": np.array(["a", "b"]),
    "object array": np.array([None, 1], object),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "records": np.zeros(2, [("a", F4)]),
    "void": np.zeros(2, "V4"),
    "longdouble": np.zeros(2, np.longdouble),
}
if np.dtype(np.longdouble) == np.float64:  # as it is on some platforms
    del NOT_ARRAYS["longdouble"]


@pytest.mark.parametrize("value", NOT_ARRAYS.values(), ids=NOT_ARRAYS)
def test_what_is_no_array_is_refused_by_name(value):
    with pytest.raises(TypeError, match=r"^neg: operand must .*got "):
        xo.neg(value)
    with pytest.raises(TypeError, match=r"^add: rhs must .*got "):
        xo.add(jnp.ones(2), value)
    with pytest.raises(TypeError, match=r"^add: lhs must .*got "):
        jax.jit(lambda y: xo.add(value, y))(jnp.ones(2))


def test_random_keys_are_arrays_but_no_numbers():
    key = jax.random.key(0)
    keys = jax.random.split(key, 6)
    assert xo.reshape(keys, (2, 3)).shape == (2, 3)
    assert xo.broadcast(key, (2,)).dtype == key.dtype
    with pytest.raises(TypeError, match=r"^neg: operand must .* got key<fry>\[\]"):
        xo.neg(key)
    with pytest.raises(TypeError, match=r"^add: lhs must .* got key<fry>\[6\]"):
        xo.add(keys, keys)
    with pytest.raises(TypeError, match=r"^pad: "):
        xo.pad(keys, key, [(1, 0, 0)])


def test_a_traced_static_argument_is_named():
    with pytest.raises(TypeError) as caught:
        jax.jit(lambda n: xo.broadcast(np.ones(2, F4), (n,)))(2)
    assert "broadcast_sizes[0]" in "".join([str(caught.value), *caught.value.__notes__])


# The same result by both paths


CALLS = {
    "array and array": (xo.add, jnp.ones(3), np.arange(3, dtype=F4)),
    "array and float": (xo.mul, jnp.arange(3, dtype=jnp.bfloat16), 0.1),
    "f16 and float that f32 rounds": (
        xo.mul,
        jnp.ones(2, jnp.float16),
        1 + 2**-11 + 2**-30,
    ),
    "array and int": (xo.mul, jnp.arange(3, dtype=jnp.int8), 100),
    "array and large int": (xo.add, jnp.arange(3), 2**30 + 1),
    "float and large int": (xo.mul, jnp.ones(3), 2**24 + 1),
    "array and nan": (xo.max, jnp.arange(3.0), float("nan")),
    "array and overflow": (xo.add, jnp.ones(2, jnp.float16), 1e10),
    "complex and float": (xo.mul, jnp.ones(2, jnp.complex64), 0.1),
    "two floats": (xo.sub, 1.0, 3.5),
    "two ints": (xo.sub, 3, 5),
    "int and float": (xo.mul, 3, 0.5),
    "bools": (xo.and_, True, False),
    "numpy float64": (xo.mul, np.ones(2), np.float64(0.1)),
    "numpy int64": (xo.mul, np.ones(2, np.int64), np.int64(3)),
    "list": (lambda *xs: xo.concat_in_dim(xs, 0), jnp.ones(2), np.ones(1, F4)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_eager_result_is_that_of_the_body(call):
    function, *operands = call
    eager = function(*operands)
    with jax.disable_jit():
        plain = function(*operands)
    # Python scalars as they are written in a traced program.
    program = jax.jit(lambda *xs: function(*_merge(operands, xs)))
    traced = program(*(x for x in operands if not isinstance(x, (int, float))))
    for other in (plain, traced):
        np.testing.assert_array_equal(eager, other)
        assert eager.dtype == other.dtype
        assert eager.shape == other.shape
        assert jax.typeof(eager).weak_type == jax.typeof(other).weak_type


def _merge(operands, traced):
    traced = iter(traced)
    return [x if isinstance(x, (int, float)) else next(traced) for x in operands]


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int8", "uint8", "int32"])
@pytest.mark.parametrize("value", [-200, -1, 0, 7, 8, 100, 200, 2**31])
def test_ints_are_checked_alike_by_both_paths(dtype, value):
    x = jnp.zeros(2, dtype)
    limits = jnp.iinfo(dtype)
    calls = (lambda v: xo.add(v, value), jax.jit(lambda v: xo.add(v, value)))
    for call in calls:
        if limits.min <= value <= limits.max:
            assert call(x).tolist() == [value, value]
            assert call(x).dtype == dtype
        else:
            match = rf"^add: rhs must fit into {dtype} .* got {value}"
            with pytest.raises(OverflowError, match=match):
                call(x)


def test_disable_jit():
    scale, calls, _ = scaled()
    with jax.disable_jit():
        for _ in range(2):
            scale(jnp.ones(2), 2.0)
    assert len(calls) == 2
    assert not any(isinstance(x, jax.core.Tracer) for x, _, _ in calls)


# Leaks, threads, configuration


def test_nothing_leaks():
    with jax.checking_leaks():
        for _ in range(2):
            x = jnp.ones(3)
            got = jax.jit(lambda v: xo.add(xo.mul(v, 2.0), np.ones(3, F4)))(x)
            assert got.tolist() == [3.0] * 3
            assert xo.add(x, 1.0).tolist() == [2.0] * 3
            xo.concat_in_dim([x, x], 0)
            xo.conditional(True, x, xo.neg, x, lambda v: xo.add(v, v))
            xo.while_(lambda s: xo.lt(s, 5), lambda s: xo.add(s, 1), 0)
            jax.grad(lambda v: xo.mul(v, v).sum())(x)


def test_threads():
    scale, calls, _ = scaled()
    count, barrier = 8, threading.Barrier(8)

    doubled = jax.jit(lambda v: scale(v, 2.0))

    def work(i):
        barrier.wait()
        return [
            (
                float(scale(jnp.full(2, float(i)), float(j))[0]),
                xo.broadcast(np.full(1, float(i), F4), [j % 3 + 1]).shape,
                float(doubled(jnp.full(2, float(j)))[0]),
            )
            for j in range(10)
        ]

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        results = list(pool.map(work, range(count)))
    for i, rows in enumerate(results):
        want = [(float(i * j), (j % 3 + 1, 1), 2.0 * j) for j in range(10)]
        assert rows == want
    eager = [factor for _, factor, _ in calls if isinstance(factor, jax.core.Tracer)]
    assert 1 <= len(eager) <= count


def test_64_bit_types_can_be_switched():
    for on in (False, True, False, True):
        with jax.enable_x64(on):
            wide = "float64" if on else "float32"
            assert xo.add(np.ones(2), np.ones(2)).dtype == wide
            assert xo.mul(2.0, 3.0).dtype == wide
            assert xo.mul(2, 3).dtype == ("int64" if on else "int32")
            assert xo.iota("f32[2]", 0).dtype == "float32"
    with jax.enable_x64(True):
        assert xo.add(np.ones(2), np.float64(2**-40)).tolist() == [1 + 2**-40] * 2


def test_default_matmul_precision_reaches_cached_programs():
    x = jnp.ones((2, 2))
    xo.dot(x, x)
    seen = {}
    for precision in ("default", "highest"):
        with jax.default_matmul_precision(precision):
            assert traces(lambda: xo.dot(x, x)) == 1
            assert traces(lambda: xo.dot(x, x)) == 0
            seen[precision] = jax.jit(lambda a: xo.dot(a, a)).lower(x).as_text()
    assert "HIGHEST" in seen["highest"]
    assert "HIGHEST" not in seen["default"]
    assert traces(lambda: xo.dot(x, x)) == 0


# Where arrays live


def test_results_stay_on_the_operands_device():
    devices = jax.devices()
    if len(devices) < 2:
        pytest.skip("needs 2 devices")
    for device in devices[:2]:
        x = jax.device_put(np.ones(3, F4), device)
        for got in (xo.add(x, x), xo.add(x, 1.0), xo.reshape(x, (3, 1))):
            assert got.devices() == {device}
    with jax.default_device(devices[1]):
        assert xo.add(np.ones(2, F4), 1.0).devices() == {devices[1]}
        assert xo.iota("f32[3]", 0).devices() == {devices[1]}
    first, second = (jax.device_put(np.ones(3, F4), d) for d in devices[:2])
    with pytest.raises(ValueError, match=r"[Ii]ncompatible devices"):
        xo.add(first, second)


def test_results_stay_sharded(mesh8):
    spec = jax.sharding.NamedSharding(mesh8, jax.sharding.PartitionSpec("i"))
    x = jax.device_put(np.arange(16, dtype=F4), spec)
    for got in (xo.add(x, x), xo.mul(x, 2.0), xo.neg(x), xo.add(x, np.ones(16, F4))):
        assert got.sharding.is_equivalent_to(spec, 1)
    np.testing.assert_array_equal(xo.add(x, x), np.arange(16) * 2)


def test_explicit_sharding_is_in_the_type():
    if len(jax.devices()) < 8:
        pytest.skip("needs 8 devices")
    explicit = (jax.sharding.AxisType.Explicit,)
    mesh = jax.make_mesh((8,), ("i",), axis_types=explicit)
    spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
    with jax.set_mesh(mesh):
        x = jax.device_put(np.arange(16, dtype=F4), spec)
        for got in (xo.add(x, x), xo.neg(x), xo.mul(x, 2.0), xo.sub(3.0, x)):
            assert got.sharding.spec == spec.spec
