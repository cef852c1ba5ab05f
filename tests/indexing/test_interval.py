"""Intervals against the integers that they hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaops.indexing import Interval
from xlaops.indexing.interval import INT64_MAX, INT64_MIN

SMALL = st.tuples(st.integers(-9, 9), st.integers(0, 6)).map(
    lambda p: Interval(p[0], p[0] + p[1])
)
BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def _values(interval):
    return range(interval.lower, interval.upper + 1)


def _hull(values):
    values = list(values)
    return Interval(min(values), max(values))


@given(SMALL, SMALL)
def test_arithmetic_is_the_hull_of_all_results(a, b):
    pairs = list(itertools.product(_values(a), _values(b)))
    for operation in BINARY.values():
        assert operation(a, b) == _hull(operation(x, y) for x, y in pairs)
    assert a.minimum(b) == _hull(min(p) for p in pairs)
    assert a.maximum(b) == _hull(max(p) for p in pairs)
    assert -a == _hull(-x for x in _values(a))


@given(SMALL, st.integers(-7, 7).filter(bool))
def test_quotient_is_the_hull_of_all_results(a, n):
    assert a // n == _hull(x // n for x in _values(a))


@given(SMALL, st.integers(1, 9))
def test_remainder_holds_all_results(a, n):
    result = a % n
    exact = _hull(x % n for x in _values(a))
    assert exact in result
    # Exact unless the values pass a multiple.
    assert result == exact or result == Interval(0, n - 1)


@given(SMALL, SMALL)
def test_comparisons_are_true_false_or_unknown(a, b):
    pairs = list(itertools.product(_values(a), _values(b)))
    for compared, truth in (
        (a.less(b), [x < y for x, y in pairs]),
        (a.greater(b), [x > y for x, y in pairs]),
        (a.less_equal(b), [x <= y for x, y in pairs]),
        (a.greater_equal(b), [x >= y for x, y in pairs]),
        (a.equal(b), [x == y for x, y in pairs]),
        (a.not_equal(b), [x != y for x, y in pairs]),
    ):
        assert compared is (truth[0] if len(set(truth)) == 1 else None)


@given(SMALL, SMALL)
def test_sets(a, b):
    both = set(_values(a)) & set(_values(b))
    assert set(_values(a.intersect(b))) == both
    assert a.intersect(b).is_empty is (not both)
    assert set(_values(a)) | set(_values(b)) <= set(_values(a.hull(b)))
    assert (b in a) is (set(_values(b)) <= set(_values(a)))
    assert a.count == len(_values(a))
    assert a.is_point is (a.count == 1)


def test_saturation():
    assert Interval.ANY + 5 == Interval.ANY
    assert Interval.ANY - 5 == Interval.ANY
    assert Interval.ANY * -3 == Interval.ANY
    assert Interval(0, 0) == Interval.ANY * 0
    assert Interval.ANY // 8 == Interval.ANY
    assert Interval(0, 7) == Interval.ANY % 8
    assert Interval(2**62, 2**62) * 2 == Interval(INT64_MAX, INT64_MAX)
    assert Interval(-(2**62), 0) * 3 == Interval(INT64_MIN, 0)
    assert Interval(3, INT64_MAX) + 1 == Interval(4, INT64_MAX)
    least, most = Interval(INT64_MIN, 0), Interval(INT64_MAX, INT64_MAX)
    assert least + most == most + least == Interval.ANY
    assert Interval(INT64_MIN, INT64_MIN + 3) % 16 == Interval(0, 15)
    assert Interval(-1, 1) % 2**64 == Interval(0, INT64_MAX)


def test_empty_stays_empty():
    empty = Interval(3, 2)
    for result in (empty + 1, 1 - empty, empty * 2, empty // 3, empty % 3):
        assert result.is_empty
    assert empty.hull(Interval(1, 4)) == Interval(1, 4)
    assert empty.count == 0
    assert empty in Interval(0, 0)


def test_what_stands_for_an_interval():
    assert Interval.of(3) == Interval.of((3, 3)) == Interval(3, 3)
    assert Interval.size(4) == Interval(0, 3)
    lower, upper = Interval(2, 5)
    assert (lower, upper, str(Interval(2, 5))) == (2, 5, "[2, 5]")


def test_numbers_of_numpy():
    assert np.int64(3) in Interval(0, 5)
    assert np.uint8(6) not in Interval(0, 5)
    assert np.array(5) in Interval(0, 5)
    assert 3.0 not in Interval(0, 5)
    assert "3" not in Interval(0, 5)
    assert Interval(0, 500) // np.int8(-3) == Interval(-167, 0)
    assert Interval(0, 500) % np.int8(7) == Interval(0, 6)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Interval(0.5, 1), TypeError, "lower must be an integer, got 0.5"),
        (lambda: Interval(0, 2**63), ValueError, "upper must fit 64 bits"),
        (lambda: Interval.of((1, 2, 3)), TypeError, "a pair must have two bounds"),
        (lambda: Interval(0, 1) % 0, ValueError, "modulus must be positive, got 0"),
        (lambda: Interval(0, 1) % 2.5, TypeError, "modulus must be an integer, got 2"),
        (lambda: Interval(0, 1) // 2.5, TypeError, "divisor must be an integer, got 2"),
        (lambda: Interval(0, 1) // 0, ZeroDivisionError, "must not be 0"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()
