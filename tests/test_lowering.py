"""The lowered programs: those of jax.lax, for every backend, from every operation."""

import functools
import importlib.util
import pathlib
import re
import sys

import jax
import pytest
from jax import lax

from xlaops import catalog

PLATFORMS = ("tpu", "cuda", "rocm")


def _load():
    """The cases of the benchmark, which is not installed."""
    folder = pathlib.Path(__file__).parents[1] / "benchmarks" / "overhead_cases"
    spec = importlib.util.spec_from_file_location(folder.name, folder / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its own modules look for it
    spec.loader.exec_module(module)
    return module


overhead = _load()
CASES, EXCEPTIONS = overhead.CASES, overhead.EXCEPTIONS
# Functions with a dotted name are the builder's: they make programs and are in none.
# Operations with side effects lower to callbacks, which belong to the running backend,
# and jax.lax has none of them. Those between replicas need a mesh: collectives/test_
# programs.py has them.
IMPLEMENTED = {
    r.title: r
    for r in catalog.RECORDS
    if r.status == "implemented"
    and "." not in r.function
    and (r.family != "effects" or r.name == "OptimizationBarrier")
    and r.family != "collectives"
}


def _name(case):
    return case.name


@functools.cache
def _traced(name):
    """The traced call of a case, which is lowered for several backends."""
    case = next(case for case in CASES if case.name == name)
    return jax.jit(case.ours).trace(*case.arrays())


def _operations(text):
    return set(re.findall(r"\b((?:stablehlo|chlo|mhlo)\.\w+)", text))


# The table


def test_every_implemented_record_has_a_case():
    assert {case.record for case in CASES} == set(IMPLEMENTED)


def test_cases_are_of_the_function_that_the_record_names():
    wrong = [c.name for c in CASES if IMPLEMENTED[c.record].function != c.function]
    assert not wrong


def test_names_are_unique_and_exceptions_are_cases():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert set(EXCEPTIONS) <= set(names)
    assert all(EXCEPTIONS.values())


# The same program as jax.lax


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_program_is_that_of_lax(case):
    """Or it is listed with a reason, and then it does differ: no entry gets stale."""
    operands = case.arrays()
    ours = overhead.lowered(case.ours, operands)
    of_lax = overhead.lowered_by_lax(case, operands)
    if case.name in EXCEPTIONS:
        assert ours != of_lax
    else:
        assert ours == of_lax


def test_comparison_tells_programs_apart():
    """The test above can fail."""
    x = jax.numpy.ones((2, 3))
    assert overhead.lowered(lax.sin, (x,)) == overhead.lowered(
        lambda v: lax.sin(v), (x,)
    )
    assert overhead.lowered(lax.sin, (x,)) != overhead.lowered(lax.cos, (x,))
    assert overhead.lowered(lax.sin, (x,)) != overhead.lowered(lax.sin, (x[0],))


# Every backend


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case", CASES, ids=_name)
def test_lowers_for_other_backends(case, platform):
    expected = case.emits
    if expected is None:
        expected = IMPLEMENTED[case.record].stablehlo
        assert expected
    lowered = _traced(case.name).lower(lowering_platforms=(platform,))
    missing = set(expected) - _operations(lowered.as_text())
    assert not missing
