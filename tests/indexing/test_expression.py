"""Expressions: held once, normal, and evaluated as Python evaluates their text."""

import copy
import gc
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import drawn

from xlaops.indexing import (
    Expression,
    ceildiv,
    constant,
    dim,
    maximum,
    minimum,
    parse_expression,
    range_variable,
    runtime_variable,
)
from xlaops.indexing import expression as ex
from xlaops.indexing.affine import are_equal, exact_range, linear_equivalent, period
from xlaops.indexing.evaluation import fits_int64, value_at
from xlaops.indexing.rewriting import Rewriter
from xlaops.indexing.scope import Scope

D0, D1, S0, RT0 = dim(0), dim(1), range_variable(0), runtime_variable(0)
EXPRESSIONS = drawn.expressions([D0, D1, S0])


def _python(expression, d0, d1, s0=0):
    text = str(expression).replace("floordiv", "//").replace("mod", "%")
    return eval(text, {"d0": d0, "d1": d1, "s0": s0, "min": min, "max": max})


def _at(expression, d0, d1, s0=0):
    atoms = [e.terms[0][0] for e in (D0, D1, S0)]
    return value_at(expression, dict(zip(atoms, (d0, d1, s0), strict=True)))


def test_equal_expressions_are_one_object():
    assert (D0 * 2 + D1) // 3 is (D1 + D0 + D0) // 3
    assert D0 - D0 is constant(0)
    assert minimum(D0, D1) is minimum(D1, D0)
    assert D0 * D1 is D1 * D0
    assert (D0 + 1) * (D1 + 2) is D0 * D1 + 2 * D0 + D1 + 2
    assert (D0 * D1) * S0 is D0 * (S0 * D1)
    assert D0 != S0
    assert len({D0 + 1, 1 + D0, D0}) == 2


def test_copies_and_pickles_are_the_same_object():
    e = maximum((D0 * 4 + S0) // 8, RT0 % 3) * D1
    assert copy.deepcopy(e) is e
    assert pickle.loads(pickle.dumps(e)) is e


def test_expressions_do_not_stay_for_ever():
    before = len(ex._expressions)
    for i in range(3 * ex.KEPT):
        (D0 * 12345 + i) // 7
    gc.collect()
    assert len(ex._expressions) - before < 3 * ex.KEPT


def test_threads_agree_on_one_object():
    made, barrier = [], threading.Barrier(4)

    def work():
        barrier.wait()
        made.append([(D0 * 7919 + i) // 11 for i in range(500)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(a is b for other in made for a, b in zip(made[0], other, strict=True))


def test_a_thread_forgets_nothing_that_another_one_just_made(monkeypatch):
    terms = ((D0.terms[0][0], 1_000_033),)
    made, threads = [], []

    class Slow(dict):
        """Lets another thread make the expression while its entry is taken out."""

        def get(self, key, default=None):
            found = super().get(key, default)
            if key == (terms, 5) and found is not None and not threads:
                other = threading.Thread(target=lambda: made.append(ex._make(terms, 5)))
                threads.append(other)
                other.start()
                other.join(0.3)
            return found

    expression = ex._make(terms, 5)
    ex._recent.clear()
    monkeypatch.setattr(ex, "_expressions", Slow(ex._expressions))
    del expression
    assert threads
    threads[0].join()
    assert ex._make(terms, 5) is made[0]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (D0 * 2 + S0 - 1, "d0 * 2 + s0 - 1"),
        (S0 * 3 + D0 + (S0 % 3) * 4, "d0 + (s0 mod 3) * 4 + s0 * 3"),
        ((D1 % 2) * 4 + D0, "(d1 mod 2) * 4 + d0"),
        (D0 + D1 // 8, "d1 floordiv 8 + d0"),
        ((D0 + S0) % 3, "(d0 + s0) mod 3"),
        (16 - D1, "-d1 + 16"),
        ((-D0) % 2, "(-d0) mod 2"),
        (-(D0 // 2), "-(d0 floordiv 2)"),
        (D0 - RT0, "d0 - rt0"),
        (D0 * D1 * 2, "(d0 * d1) * 2"),
        (maximum(D0, 0) * 3, "max(0, d0) * 3"),
        (constant(-5), "-5"),
        (D0 // 1, "d0"),
        (D0 % 1, "0"),
        (constant(-7) // 2, "-4"),
        (constant(-7) % 4, "1"),
    ],
)
def test_text(expression, text):
    assert str(expression) == text
    assert parse_expression(text) is expression


@given(EXPRESSIONS, st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_value_is_that_of_the_text(e, d0, d1, s0):
    assert _at(e, d0, d1, s0) == _python(e, d0, d1, s0)
    assert parse_expression(str(e)) is e


@given(EXPRESSIONS, st.integers(-5, 5).filter(bool), st.integers(-9, 9))
def test_negative_divisors_round_down(e, n, d0):
    assert _at(e // n, d0, 2) == _at(e, d0, 2) // n
    assert _at(ceildiv(e, n), d0, 2) == -(-_at(e, d0, 2) // n)
    assert _at(ceildiv(d0, n), 0, 0) == -(-d0 // n)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: D0 // 0, ValueError, "divisor must not be 0"),
        (lambda: D0 % -2, ValueError, "modulus must be positive, got -2"),
        (lambda: D0 // D1, ValueError, "divisor must be a constant, got d1"),
        (lambda: D0 + 0.5, TypeError, "must be an expression or an integer, got 0.5"),
        (lambda: dim(-1), ValueError, "number must be >= 0, got -1"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_growth_is_bounded():
    e = D0
    for i in range(64):
        e = (e + i) // 2
    with pytest.raises(ValueError, match="must nest at most 64 deep"):
        e // 2
    wide = sum((dim(i) for i in range(40)), constant(0))
    with pytest.raises(ValueError, match="must have at most 1024 terms"):
        wide * wide


# What follows from bounds

BOX = Scope(([(-4, 5), (0, 6)], [(1, 3)], []))
POINTS = [(a, b, c) for a in range(-4, 6) for b in range(7) for c in range(1, 4)]


@given(EXPRESSIONS)
def test_range_holds_all_values(e):
    values = [_at(e, *p) for p in POINTS]
    lower, upper = BOX.range(e)
    assert lower <= min(values)
    assert max(values) <= upper
    assert exact_range(e, BOX) == (min(values), max(values))


@given(EXPRESSIONS, st.booleans())
def test_rewriting_keeps_all_values(e, reduced):
    rewriter = Rewriter(BOX, reduced)
    simple = rewriter.simplify(e)
    assert [_at(simple, *p) for p in POINTS] == [_at(e, *p) for p in POINTS]
    assert rewriter.simplify(simple) is simple
    assert Rewriter(BOX, reduced).simplify(simple) is simple


@given(EXPRESSIONS)
def test_period_repeats_everywhere(e):
    repeat = period(e, D0.terms[0][0])
    if repeat is not None:
        n, change = repeat
        for d0 in range(-6, 6):
            assert _at(e, d0 + n, 2, 1) == _at(e, d0, 2, 1) + change


@given(EXPRESSIONS, EXPRESSIONS)
def test_equality_is_decided(a, b):
    same = [_at(a, *p) for p in POINTS] == [_at(b, *p) for p in POINTS]
    assert are_equal(a, b, BOX) is same
    assert are_equal(a, a + 0, BOX) is True


def test_linear_form_is_found_or_not():
    scope = Scope(([(0, 9), (0, 10)], [], []))
    e = -((-11 * D0 - D1 + 109) // 11) + 9
    assert linear_equivalent(e, scope) is D0
    assert linear_equivalent((D0 * 11 + D1) // 12, scope) is None


def test_a_proof_that_takes_too_long_is_not_made():
    scope = Scope(([(0, 2**40), (0, 2**40)], [], []))
    e = minimum(D0 * D1, D0 * D1 + D0) - D0 * D1
    assert are_equal(e, constant(0), scope) is None


def test_values_beyond_64_bits_are_seen():
    scope = Scope(([(0, 2**40), (0, 9)], [], []))
    assert fits_int64(D0 * 1000 + D1, scope)
    assert not fits_int64(D0 * 2**30, scope)
    assert exact_range(D1 * 2**70, scope) == (0, 9 * 2**70)


def test_expression_is_exported():
    assert isinstance(D0, Expression)
