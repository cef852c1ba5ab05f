"""Every operation against its oracle, in every element type, eagerly and jitted."""

import collections
import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops import oracles
from ops.cases import CASES, case_id, dtype_of

import xlaops as xo
from xlaops import catalog

# Of a result that is rounded once or a few times, relative and absolute.
TOLERANCE = {
    "float8_e4m3fn": 0.13,
    "float8_e5m2": 0.26,
    "bfloat16": 1e-2,
    "float16": 1e-3,
    "float32": 1e-6,
    "float64": 4e-15,
    "complex64": 2e-6,
    "complex128": 8e-15,
}
ALL = [(case, dtype) for case in CASES for dtype in case.dtypes]
PAIRS = [
    pytest.param(case, dtype, id=f"{case.name}-{dtype}")
    for case, dtype in ALL
    if not case.random
]
RANDOM = [case for case in CASES if case.random]
PLAIN = [case for case in CASES if not case.random]
# Without forms that are broadcast before the operation itself: these run eagerly.
_BROADCAST = ("degenerate", "scalar", "both ways")
JITTED = [
    case
    for case in PLAIN
    if case.label not in _BROADCAST or case.record.function == "add"
]


def is_wide(case, dtype):
    """Whether a type of 64-bit numbers takes part, as an operand or by name."""
    named = {v for v in case.statics.values() if isinstance(v, str)}
    return dtype in ("int64", "uint64", "float64", "complex128") or bool(
        named & {"s64", "f64"}
    )


def precision(case, dtype):
    return jax.enable_x64(True) if is_wide(case, dtype) else contextlib.nullcontext()


def assert_is(case, got, expected, operand_type):
    """The same element type, shape and values."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    dtype = got.dtype
    if case.exact or oracles.kind(dtype) in "biu":
        if oracles.kind(dtype) == "f":
            got, expected = got.astype(np.float64), expected.astype(np.float64)
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(
                np.signbit(got[numbers]), np.signbit(expected[numbers])
            )
        np.testing.assert_array_equal(got, expected)
        return
    tolerance = case.looser * TOLERANCE[dtype.name]
    if oracles.kind(dtype) == "f":
        got, expected = got.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


# The table itself


def test_every_implemented_record_has_a_case():
    implemented = {r.title for r in catalog.RECORDS if r.status == "implemented"}
    assert {case.title for case in CASES} == implemented


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_is_complete(case):
    assert callable(case.oracle)
    assert case.dtypes
    assert len(set(case.dtypes)) == len(case.dtypes)
    assert case.gradient in ("yes", "zero", "forward", "not differentiable")
    assert all(0 <= i < 4 for i in case.mapped_operands())
    assert callable(case.error.call)
    assert case.error.parameter
    assert case.error.value


def test_names_are_unique():
    counts = collections.Counter(case.name for case in CASES)
    assert max(counts.values()) == 1, counts.most_common(3)


# Values


@pytest.mark.parametrize(("case", "dtype"), PAIRS)
def test_eager_value(case, dtype, rng):
    operands = case.arguments(rng, dtype)
    with precision(case, dtype):
        arrays = tuple(jnp.asarray(x) for x in operands)
        got = case.call(*arrays)
        assert isinstance(got, jax.Array)
        expected = case.expected(*operands)
        assert_is(case, got, expected, dtype)
        shape = jax.eval_shape(case.call, *arrays)
    assert shape.dtype == expected.dtype
    assert shape.shape == expected.shape


@pytest.mark.parametrize("case", JITTED, ids=case_id)
def test_jitted_value(case, rng):
    """One program that has a call for an element type of every kind.

    Eager calls compile one for each type as well: what differs here is that the
    function meets tracers.
    """
    kinds = {oracles.kind(dtype_of(t)) + f"{is_wide(case, t)}": t for t in case.dtypes}
    for wide in (False, True):
        dtypes = [t for t in kinds.values() if is_wide(case, t) == wide]
        if not dtypes:
            continue
        operands = [case.arguments(rng, t) for t in dtypes]
        with jax.enable_x64(wide):
            program = jax.jit(lambda rows: [case.call(*row) for row in rows])
            got = program([tuple(jnp.asarray(x) for x in row) for row in operands])
        for result, row, dtype in zip(got, operands, dtypes, strict=True):
            assert_is(case, result, case.expected(*row), dtype)


@pytest.mark.parametrize("case", PLAIN, ids=case_id)
def test_numpy_operands(case, rng):
    operands = case.arguments(rng, case.dtypes[0])
    with precision(case, case.dtypes[0]):
        got = case.call(*operands)
        assert_is(case, got, case.expected(*operands), case.dtypes[0])


@pytest.mark.parametrize("case", PLAIN, ids=case_id)
def test_call_by_keyword_is_the_same(case, rng):
    dtype = case.dtypes[0]
    operands = case.arguments(rng, dtype)
    with precision(case, dtype):
        arrays = tuple(jnp.asarray(x) for x in operands)
        by_position, by_keyword = case.call(*arrays), case.call_by_keyword(*arrays)
    assert by_position.dtype == by_keyword.dtype
    np.testing.assert_array_equal(by_position, by_keyword)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_error(case):
    """It names the operation, the parameter and what came."""
    with pytest.raises(case.error.exception) as caught:
        case.error.call()
    message = str(caught.value)
    assert message.startswith(f"{case.record.function}: ")
    assert case.error.parameter in message
    assert case.error.value in message


# Random numbers


@pytest.mark.parametrize("how", ["eager", "jit"])
@pytest.mark.parametrize("case", RANDOM, ids=case_id)
def test_random_numbers(case, how):
    dtype = case.dtypes[0]
    operands = case.arguments(None, dtype)
    with precision(case, dtype):
        arrays = tuple(jnp.asarray(x) for x in operands)
        f = {"eager": case.call_by_keyword, "jit": jax.jit(case.call)}[how]
        first, second = np.asarray(f(*arrays)), np.asarray(f(*arrays))
        shape = jax.eval_shape(case.call, *arrays)
    assert first.dtype == shape.dtype == dtype_of(dtype)
    assert first.shape == shape.shape == (4, 1000)
    assert np.any(first != second)
    assert np.any(first[0] != first[1])
    case.oracle(first, *operands)
    case.oracle(second, *operands)


def test_two_draws_of_one_program_differ():
    """XLA may not merge them, though they look alike."""

    @jax.jit
    def twice():
        return xo.rng_uniform(0.0, 1.0, "f32[10]"), xo.rng_uniform(0.0, 1.0, "f32[10]")

    first, second = twice()
    assert np.any(np.asarray(first) != np.asarray(second))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_uniform_of_few_bits_stays_below_b(dtype):
    name = {"bfloat16": "bf16", "float16": "f16"}[dtype]
    low, high = jnp.asarray([2.0, 2.5], dtype)
    sample = xo.rng_uniform(low, high, f"{name}[20000]")
    assert bool((sample < high).all())
    assert bool((sample >= low).all())
