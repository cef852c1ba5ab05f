"""Bounds of computed integers, against numpy at all values of the operands."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from xlaops.indexing import integer_ranges


def aval(dtype, shape=()):
    return SimpleNamespace(dtype=np.dtype(dtype), shape=shape)


def remainder(a, b):
    return int(np.fmod(a, b))


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: int(np.trunc(a / b)),
    "rem": remainder,
    "min": min,
    "max": max,
    "neg": lambda a: -a,
    "clamp": lambda low, x, high: min(max(x, low), high),
    "select_n": lambda which, a, b: b if which else a,
    "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b,
    "ne": lambda a, b: a != b,
}
SPANS = [(-3, 2), (0, 0), (0, 4), (1, 3), (5, 7)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_result_lies_outside(name):
    f = OPERATIONS[name]
    count = f.__code__.co_argcount if hasattr(f, "__code__") else 2
    dtype = bool if name in ("lt", "ge", "ne") else np.int32
    known = 0
    for spans in itertools.product(SPANS, repeat=count):
        if name == "select_n" and not 0 <= spans[0][0] <= spans[0][1] <= 1:
            continue
        if name in ("div", "rem") and spans[1][0] <= 0 <= spans[1][1]:
            continue
        found = integer_ranges.of_result(name, {}, spans, aval(dtype))
        if found is None:
            continue
        known += 1
        values = [
            f(*v) for v in itertools.product(*[range(a, b + 1) for a, b in spans])
        ]
        assert found[0] <= min(values), spans
        assert max(values) <= found[1], spans
    assert known


def test_clamp_to_bounds_that_are_not_constant():
    found = integer_ranges.of_result("clamp", {}, [(0, 0), None, (3, 9)], aval("int32"))
    assert found == (0, 9)


def test_iota_that_wraps_around():
    ranges = [
        integer_ranges.of_result("iota", {"dimension": 0}, [], aval(dtype, (300,)))
        for dtype in ("int8", "uint8", "int16")
    ]
    assert ranges == [None, None, (0, 299)]


def test_the_maximum_of_nothing_is_not_known():
    none = integer_ranges.of_result("iota", {"dimension": 0}, [], aval("int32", (0, 3)))
    assert none is None
    assert (
        integer_ranges.of_result("reduce_max", {}, [none], aval("int32", (3,))) is None
    )
