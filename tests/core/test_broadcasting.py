"""Broadcasting of operands, against the rules of XLA's Broadcasting document."""

import itertools

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

import xlaops as xo
from xlaops.core import broadcasting

F4 = np.float32


def numbered(shape, start=0):
    return np.arange(start, start + np.prod(shape, dtype=int), dtype=F4).reshape(shape)


# The rules, written anew: what the two operands become, or None where they do not fit.


def expand(low, rank, dims):
    """The operand of lower rank with a size of 1 in the dimensions it lacks."""
    shape = [1] * rank
    for size, d in zip(low.shape, dims, strict=True):
        shape[d] = size
    return low.reshape(shape)


def documented(x, y, dims):
    if x.ndim == y.ndim:
        if tuple(dims) not in ((), tuple(range(x.ndim))):
            return None
    elif not dims:
        if 0 not in (x.ndim, y.ndim):
            return None
        rank = max(x.ndim, y.ndim)
        x, y = (
            x.reshape((1,) * (rank - x.ndim) + x.shape),
            y.reshape((1,) * (rank - y.ndim) + y.shape),
        )
    else:
        low, rank = (x, y.ndim) if x.ndim < y.ndim else (y, x.ndim)
        rising = list(dims) == sorted(set(dims))
        if len(dims) != low.ndim or not rising or not all(0 <= d < rank for d in dims):
            return None
        x, y = (v if v.ndim == rank else expand(v, rank, dims) for v in (x, y))
    sizes = []
    for m, n in zip(x.shape, y.shape, strict=True):
        if m != n and 1 not in (m, n):
            return None
        sizes.append(n if m == 1 else m)
    return np.broadcast_to(x, sizes), np.broadcast_to(y, sizes)


# Few sizes, so that shapes fit each other often and programs are compiled once.
SHAPES = [
    shape
    for rank in range(4)
    for shape in itertools.product((1, 2, 3), repeat=rank)
    if rank < 3 or shape in {(2, 1, 3), (1, 2, 3), (3, 2, 1), (2, 3, 2)}
] + [(0,), (0, 2), (2, 0)]


@given(
    lhs=st.sampled_from(SHAPES),
    rhs=st.sampled_from(SHAPES),
    dims=st.lists(st.integers(-1, 3), max_size=3),
)
def test_any_two_shapes(lhs, rhs, dims):
    check(lhs, rhs, dims)


@st.composite
def fitting(draw):
    """Two shapes of different rank that fit by dimensions, for most examples."""
    high = draw(st.sampled_from([s for s in SHAPES if len(s) > 1]))
    dims = sorted(draw(st.sets(st.integers(0, len(high) - 1), max_size=len(high) - 1)))
    low = tuple(draw(st.sampled_from([1, high[d]])) for d in dims)
    pair = [low, high]
    return (*draw(st.permutations(pair)), dims)


@given(fitting())
def test_shapes_that_fit(case):
    lhs, rhs, dims = case
    assert documented(numbered(lhs), numbered(rhs), dims) is not None
    check(lhs, rhs, dims)


def check(lhs, rhs, dims):
    x, y = numbered(lhs), numbered(rhs, 100)
    expected = documented(x, y, dims)
    if expected is None:
        with pytest.raises((TypeError, ValueError), match=r"^sub: "):
            jax.eval_shape(lambda a, b: xo.sub(a, b, dims), x, y)
        return
    want = expected[0] - expected[1]
    got = xo.sub(x, y, dims)
    np.testing.assert_array_equal(got, want)
    assert got.shape == want.shape
    # The pair itself: ready for functions that stretch a size of 1, and nothing else.
    pair = broadcasting.binary("sub", x, y, dims, "f")
    stretched = documented(*map(np.asarray, pair), ())
    assert stretched is not None
    for got, want in zip(stretched, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_an_unsorted_spelling_of_all_dimensions_is_no_broadcast():
    x = numbered((2, 2))
    np.testing.assert_array_equal(xo.add(x, x, (0, 1)), x + x)
    with pytest.raises(ValueError, match=r"^add: broadcast_dimensions .* got \(1, 0\)"):
        xo.add(x, x, (1, 0))


def test_examples_of_the_document(mode):
    add = mode(lambda x, y: xo.add(x, y, (0,)))
    got = add(np.array([1, 2, 3, 4]), np.array([[5, 6]]))
    assert got.tolist() == [[6, 7], [7, 8], [8, 9], [9, 10]]

    def shape(lhs, rhs, dims=()):
        return mode(lambda x, y: xo.add(x, y, dims))(numbered(lhs), numbered(rhs)).shape

    assert shape((2, 3), (2, 3)) == (2, 3)
    assert shape((3,), (2, 3), (1,)) == (2, 3)
    assert shape((2,), (2, 3), (0,)) == (2, 3)
    assert shape((2, 3), (2, 3, 4), (0, 1)) == (2, 3, 4)
    assert shape((2, 3, 4), (3, 4), (1, 2)) == (2, 3, 4)
    assert shape((1, 2), (4, 3, 1), (1, 2)) == (4, 3, 2)
    assert shape((2, 1), (1, 3)) == (2, 3)
    assert shape((), (2, 3)) == (2, 3)
    assert shape((2, 3), ()) == (2, 3)


MATRIX = np.array([[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("vector", "dims", "expected"),
    [
        ([7, 8, 9], (1,), [[8, 10, 12], [11, 13, 15]]),
        ([7, 8], (0,), [[8, 9, 10], [12, 13, 14]]),
    ],
)
def test_matrix_and_vector_of_the_document(vector, dims, expected):
    assert xo.add(MATRIX, np.array(vector), dims).tolist() == expected
    assert xo.add(np.array(vector), MATRIX, dims).tolist() == expected


@pytest.mark.parametrize(
    ("lhs", "rhs", "dims", "error", "match"),
    [
        (
            (2, 3),
            (3,),
            (),
            TypeError,
            r"broadcast_dimensions must be given .* got lhs \(2, 3\) and rhs \(3,\)",
        ),
        (
            (3,),
            (2, 3),
            (),
            TypeError,
            r"broadcast_dimensions must be given .* got lhs \(3,\) and rhs \(2, 3\)",
        ),
        (
            (3, 3),
            (3, 3),
            (1, 0),
            ValueError,
            r"broadcast_dimensions must be empty or \(0, 1\) .* got \(1, 0\)",
        ),
        (
            (2, 3, 4),
            (4, 3),
            (2, 1),
            ValueError,
            r"broadcast_dimensions must be strictly increasing .* got \(2, 1\)",
        ),
        (
            (2, 3),
            (3,),
            (0, 1),
            ValueError,
            r"broadcast_dimensions must have one entry .* rhs, .* \(3,\), got \(0, 1\)",
        ),
        (
            (3,),
            (2, 3),
            (2,),
            ValueError,
            r"broadcast_dimensions must be .* in \[0, 2\), got \(2,\)",
        ),
        (
            (3,),
            (2, 3),
            (-1,),
            ValueError,
            r"broadcast_dimensions must be .* in \[0, 2\), got \(-1,\)",
        ),
        (
            (),
            (2, 3),
            (0,),
            ValueError,
            r"broadcast_dimensions must have one entry .* lhs, .* \(\), got \(0,\)",
        ),
        (
            (7, 2, 5),
            (7, 2, 6),
            (),
            TypeError,
            r"lhs and rhs must have sizes .* got 5 and 6 in dimension 2 of \(7, 2, 5\)",
        ),
        (
            (2, 0),
            (2, 3),
            (),
            TypeError,
            r"lhs and rhs must have sizes .* got 0 and 3 in dimension 1",
        ),
        (
            (2,),
            (2, 3),
            (1,),
            TypeError,
            r"dimension 1 of rhs must be 2 or 1 .* lhs \(2,\) .*\(1,\), got rhs .*\(2,",
        ),
        (
            (2, 3),
            (2,),
            (1,),
            TypeError,
            r"dimension 1 of lhs must be 2 or 1 .* rhs \(2,\) .*\(1,\), got lhs .*\(2,",
        ),
        (
            (0,),
            (2, 3),
            (1,),
            TypeError,
            r"dimension 1 of rhs must be 0 or 1 .* got rhs of shape \(2, 3\)",
        ),
    ],
)
def test_shapes_that_do_not_fit(mode, lhs, rhs, dims, error, match):
    with pytest.raises(error, match=f"^add: {match}"):
        mode(lambda x, y: xo.add(x, y, dims))(numbered(lhs), numbered(rhs))


def test_kinds_are_checked():
    with pytest.raises(
        TypeError, match=r"^f: lhs must be an array of pred elements, got float32\[2\]"
    ):
        broadcasting.binary("f", numbered((2,)), numbered((2,)), (), "b")


def test_binary_adds_one_operation_at_most():
    """The best hand-written form: no reshape beside the broadcast."""
    x, y = numbered((2, 3)), numbered((3,))
    jaxpr = jax.make_jaxpr(lambda a, b: xo.add(a, b, (1,)))(x, y)
    names = [e.primitive.name for e in jaxpr.eqns]
    assert names == ["broadcast_in_dim", "add"]
    jaxpr = jax.make_jaxpr(lambda a: xo.add(a, 1.0))(x)
    assert [e.primitive.name for e in jaxpr.eqns] == ["add"]


# Three operands


def ternary(scalars, *shapes):
    operands = {
        n: jnp.asarray(numbered(s)) for n, s in zip("abc", shapes, strict=False)
    }
    return operands, broadcasting.ternary("f", scalars, **operands)


@pytest.mark.parametrize("shapes", list(itertools.product([(), (2, 3)], repeat=3)))
def test_ternary_gives_scalars_the_shape_of_the_others(shapes):
    operands, got = ternary("ac", *shapes)
    common = max(shapes, key=len)
    for (name, before), after in zip(operands.items(), got, strict=True):
        assert after.shape == (before.shape if name in "ac" else common)
        np.testing.assert_array_equal(after, np.broadcast_to(before, after.shape))


def test_ternary_refuses_other_shapes():
    with pytest.raises(
        TypeError,
        match=r"^f: operands .* same shape, got a \(2, 3\), c \(3, 2\)",
    ):
        ternary("b", (2, 3), (), (3, 2))
    with pytest.raises(TypeError, match=r"^f: .* got a \(1,\), b \(2,\), c \(2,\)"):
        ternary("", (1,), (2,), (2,))


@pytest.mark.parametrize(
    ("shapes", "common"),
    [
        ([(), ()], ()),
        ([(), (2, 3)], (2, 3)),
        ([(2, 1), (1, 3)], (2, 3)),
        ([(1, 1), (), (0, 3)], (0, 3)),
    ],
)
def test_stretched_operands_have_one_shape(shapes, common):
    operands = [jnp.asarray(numbered(s)) for s in shapes]
    for before, after in zip(operands, broadcasting.stretched(*operands), strict=True):
        assert after.shape == common
        np.testing.assert_array_equal(after, np.broadcast_to(before, common))
