"""Every operation against its oracle, in every element type, eagerly and jitted."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.cases import CASES, case_id, dtype_of
from ops.cases.agreement import assert_is, is_wide, precision

import xlaops as xo
from xlaops import catalog

RANDOM = [case for case in CASES if case.random]
PLAIN = [case for case in CASES if not case.random]
# Compiling takes most of the time, so each element type is met once: those
# of every day in calls of their own, the others together in one program.
_EVERY_DAY = ("float32", "bfloat16", "int32", "complex64")


def in_calls(case):
    return [t for t in case.dtypes if t in _EVERY_DAY] or [case.dtypes[0]]


def in_programs(case):
    """The other types, or the first one: a call may meet tracers only here."""
    rest = [t for t in case.dtypes if t not in in_calls(case)]
    return rest or [case.dtypes[0]]


PAIRS = [
    pytest.param(case, dtype, id=f"{case.name}-{dtype}")
    for case in PLAIN
    for dtype in in_calls(case)
]
# Without forms of one type that are broadcast before the operation itself.
_BROADCAST = ("degenerate", "scalar", "both ways")
JITTED = [
    case
    for case in PLAIN
    if case.label not in _BROADCAST
    or len(case.dtypes) > 1
    or case.record.function == "add"
]


# The table itself


def test_every_implemented_record_has_a_case():
    """Those of the builder, whose functions are no operations on arrays, aside."""
    implemented = {
        r.title
        for r in catalog.RECORDS
        # Some are functions of more than arrays: of what the host does, of what other
        # replicas have, of what a handler is. effects/, ../collectives and ../ffi have
        # tests of their own.
        if r.status == "implemented"
        and "." not in r.function
        and (
            r.family not in ("effects", "collectives", "ffi")
            or r.name == "OptimizationBarrier"
        )
    }
    assert {case.title for case in CASES} == implemented


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_case_is_complete(case):
    assert callable(case.oracle)
    assert case.dtypes
    assert len(set(case.dtypes)) == len(case.dtypes)
    assert case.gradient in ("yes", "zero", "forward", "not differentiable")
    assert all(0 <= i < 5 for i in case.mapped_operands())
    assert callable(case.error.call)
    assert case.error.parameter
    assert case.error.value


def test_names_are_unique():
    counts = collections.Counter(case.name for case in CASES)
    assert max(counts.values()) == 1, counts.most_common(3)


# Values


def test_every_element_type_has_a_value():
    missing = [
        (case.name, dtype)
        for case in PLAIN
        for dtype in case.dtypes
        if dtype not in in_calls(case)
        and not (case in JITTED and dtype in in_programs(case))
    ]
    assert not missing


@pytest.mark.parametrize(("case", "dtype"), PAIRS)
def test_eager_value(case, dtype, rng):
    """By position and by keyword, of arrays of jax and of numpy."""
    operands = case.arguments(rng, dtype)
    expected = case.expected(*operands)
    with precision(case, dtype):
        arrays = tuple(jnp.asarray(x) for x in operands)
        got = case.call(*arrays)
        assert isinstance(got, jax.Array)
        assert_is(case, got, expected)
        shape = jax.eval_shape(case.call, *arrays)
        assert_is(case, case.call(*operands), expected)
        by_keyword = case.call_by_keyword(*arrays)
    assert shape.dtype == expected.dtype
    assert shape.shape == expected.shape
    assert by_keyword.dtype == got.dtype
    assert_is(case, by_keyword, expected)


@pytest.mark.parametrize("case", JITTED, ids=case_id)
def test_jitted_value(case, rng):
    """One program that has a call for each element type."""
    for wide in (False, True):
        dtypes = [t for t in in_programs(case) if is_wide(case, t) == wide]
        if not dtypes:
            continue
        operands = [case.arguments(rng, t) for t in dtypes]
        with jax.enable_x64(wide):
            program = jax.jit(lambda rows: [case.call(*row) for row in rows])
            got = program([tuple(jnp.asarray(x) for x in row) for row in operands])
        for result, row in zip(got, operands, strict=True):
            assert_is(case, result, case.expected(*row))


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


# Of a kind of numbers one is jitted: an eager call runs the same program.
HOW = [(case, "eager") for case in RANDOM]
HOW += [(case, "jit") for case in RANDOM if case.dtypes[0].endswith("32")]


@pytest.mark.parametrize(("case", "how"), HOW, ids=lambda v: getattr(v, "name", v))
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
