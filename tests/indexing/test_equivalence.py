"""Rewrites that are right, and rewrites that are not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

from xlaops.indexing import IndexingMap, Interval, analyze, dim, equivalent

X = jax.ShapeDtypeStruct((4, 6), np.float32)
I = jax.ShapeDtypeStruct((), np.int32)  # noqa: E741


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (lambda x: x.T.reshape(-1), lambda x: x.reshape(-1, order="F")),
        (lambda x: x[::-1][::-1], lambda x: x),
        (
            lambda x: jnp.roll(x, 2, 1),
            lambda x: jnp.concatenate([x[:, 4:], x[:, :4]], 1),
        ),
        (
            lambda x: x @ jnp.ones((6, 2)),
            lambda x: x.sum(1)[:, None] * jnp.ones((1, 2)),
        ),
        (
            lambda x: jnp.pad(x, 1)[1:-1, 1:-1],
            lambda x: lax.dynamic_slice(x, (0, 0), (4, 6)),
        ),
        (lambda x: x[jnp.array([0, 2])], lambda x: x[::2]),
        (lambda x: jnp.zeros(3), lambda x: jnp.ones(3)),
        (lambda x: (x.sum(0), x), lambda x: [jnp.ones(4) @ x, x + 1]),
    ],
    ids=range(8),
)
def test_right_rewrites(f, g):
    found = equivalent(f, g, X)
    assert found
    assert found.verdict is True
    assert str(found) == "the same"


@pytest.mark.parametrize(
    ("f", "g", "pair", "only_in"),
    [
        (lambda x: x.reshape(6, 4).T, lambda x: x, ((0, 1), (0, 1)), "b"),
        (lambda x: x.sum(0), lambda x: x[:3].sum(0), ((0,), (3, 0)), "a"),
        (lambda x: jnp.tanh(x), lambda x: jnp.zeros((4, 6)), ((0, 0), (0, 0)), "a"),
        (lambda x: x[jnp.array([0, 2])], lambda x: x[:2], None, None),
    ],
    ids=range(4),
)
def test_wrong_rewrites(f, g, pair, only_in):
    found = equivalent(f, g, X)
    assert not found
    assert found.verdict is False
    assert (found.output, found.input) == ("result", "args[0]")
    if only_in == "a":
        assert (found.pair, found.only_in) == (pair, only_in)
    # It is a pair that exactly one of the two has, as running them shows.
    at, of = found.pair
    changes = []
    x = np.random.default_rng(0).standard_normal(X.shape).astype(np.float32)
    for one in (f, g):
        y = x.copy()
        y[of] += 1
        changes.append(bool((one(jnp.asarray(x)) != one(jnp.asarray(y)))[at]))
    assert changes == [found.only_in == "a", found.only_in == "b"]


def test_indices_of_the_running_program():
    def f(x, i):
        return lax.dynamic_slice(x, (i, 0), (2, 6))

    assert equivalent(f, lambda x, i: f(x, i) * 2, X, I)
    assert equivalent(f, lambda x, i: f(x, i + 1), X, I).verdict is None
    found = equivalent(f, lambda x, i: x[:2], X, I)
    assert found.verdict is False
    assert found.input == "args[1]"


def test_maps_that_are_not_exact_decide_nothing():
    def f(x):
        return jnp.linalg.svd(x)[1]

    found = equivalent(f, lambda x: 2 * f(x), X)
    assert found.verdict is None
    assert not found
    assert str(found).startswith("not decided, result <- args[0]: ")
    # But what only the other one reads is a difference.
    assert equivalent(f, lambda x: x.sum() * jnp.ones(4), X).verdict is None
    assert equivalent(lambda x: f(x[:, :5]), lambda x: x.sum(0)[:4], X).verdict is None
    assert equivalent(lambda x: f(x[:, :4]), lambda x: x.sum(0)[2:], X).verdict is False


def test_too_much_to_look_at():
    def f(x):
        return x.sum(0) + x[0]

    def g(x):
        return jnp.concatenate([x[:1], x]).sum(0) * x.sum(0)

    assert equivalent(f, g, X).verdict is True
    far = IndexingMap.parse(
        "(d0)[s0] -> (d0 * 3 + s0), domain: d0 in [0, 99], s0 in [0, 1]"
    )
    near = IndexingMap.parse(
        "(d0)[s0] -> (d0 * 3 + s0), domain: d0 in [0, 99], s0 in [0, 2]"
    )
    found = equivalent(far, near, limit=10)
    assert found.verdict is None
    assert "at most 10 points" in found.reason
    assert equivalent(far, near).pair == ((0,), (2,))


def test_analyses():
    assert equivalent(analyze(lambda x: x.T.T, X), analyze(lambda x: x, X))


def test_sets_of_maps():
    parse = IndexingMap.parse
    whole = parse("(d0)[s0] -> (d0 + s0), domain: d0 in [3, 7], s0 in [0, 3]")
    halves = [
        parse("(d0)[s0] -> (d0 + s0), domain: d0 in [3, 7], s0 in [0, 1]"),
        parse("(d0)[s0] -> (d0 + s0 + 2), domain: d0 in [3, 7], s0 in [0, 1]"),
    ]
    assert equivalent(whole, halves)
    found = equivalent(whole, halves[:1])
    assert (found.pair, found.only_in) == (((3,), (5,)), "a")
    assert equivalent([], [])
    assert equivalent(IndexingMap.empty(1, 1), [IndexingMap.empty(1, 1)])
    assert equivalent(whole, IndexingMap.empty(1, 1)).verdict is False
    assert equivalent(whole, IndexingMap.undefined([5], 1)).verdict is None


def test_indices_that_span_more_than_64_bits():
    wide = [
        IndexingMap([(-(2**62) - 5, 2**62 + 5)], [dim(0) + k], ranges=[2])
        for k in (0, 1)
    ]
    assert equivalent(wide[0], wide[0].drop_unused())
    found = equivalent(*wide)
    assert (found.verdict, found.reason) == (None, "bounds do not fit 64 bits")
    whole = IndexingMap([Interval.ANY], [dim(0)])
    assert equivalent(whole, [whole])


small = st.integers(-3, 3)


@given(small, small, st.integers(0, 3), small, small, st.integers(0, 3))
def test_maps_against_their_relations(a, b, n, c, d, m):
    one, other = (
        IndexingMap.parse(
            f"(d0)[s0] -> (d0 * {k} + s0 + {shift}), "
            f"domain: d0 in [-2, 4], s0 in [0, {n}]"
        )
        for k, shift, n in ((a, b, n), (c, d, m))
    )
    pairs = [{tuple(row) for row in x.relation().tolist()} for x in (one, other)]
    found = equivalent(one, other)
    assert found.verdict is (pairs[0] == pairs[1])
    if not found:
        (i,), (j,) = found.pair
        which = found.only_in == "b"
        assert (i, j) in pairs[which]
        assert (i, j) not in pairs[not which]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: equivalent(IndexingMap.identity([2]), jnp.sin, X),
            TypeError,
            "a and b must both be maps, or both be programs",
        ),
        (
            lambda: equivalent(IndexingMap.identity([2]), IndexingMap.identity([2]), X),
            TypeError,
            "maps must come without arguments",
        ),
        (
            lambda: equivalent(IndexingMap.identity([2]), IndexingMap.identity([2, 2])),
            ValueError,
            "maps must have as many dimensions and results",
        ),
        (
            lambda: equivalent(jnp.sin, lambda x: x[0], X),
            ValueError,
            "results must have the same shapes",
        ),
        (lambda: equivalent(3, jnp.sin, X), TypeError, "must be a function or an Ana"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
