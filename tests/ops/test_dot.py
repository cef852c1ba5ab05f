"""Contractions, against loops over numpy scalars and numpy.einsum."""

import itertools
import string

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from jax.test_util import check_grads

import xlaops as xo

F4, I1, I4 = np.float32, np.int8, np.int32


def numbers(lhs_contracting=(), rhs_contracting=(), lhs_batch=(), rhs_batch=()):
    return {
        "lhs_contracting_dimensions": lhs_contracting,
        "rhs_contracting_dimensions": rhs_contracting,
        "lhs_batch_dimensions": lhs_batch,
        "rhs_batch_dimensions": rhs_batch,
    }


def einsum(x, y, contracting, batch):
    """The document's formula: batch dimensions first, then what is left of each."""
    letters = iter(string.ascii_lowercase)
    left = [next(letters) for _ in x.shape]
    right = [next(letters) for _ in y.shape]
    for i, j in (*contracting, *batch):
        right[j] = left[i]
    used = (
        {i for i, _ in (*contracting, *batch)},
        {j for _, j in (*contracting, *batch)},
    )
    out = [left[i] for i, _ in batch]
    out += [c for i, c in enumerate(left) if i not in used[0]]
    out += [c for j, c in enumerate(right) if j not in used[1]]
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", x, y)


def integers(rng, shape, dtype=I4):
    return rng.integers(-9, 9, shape).astype(dtype)


# Dot


DOT_SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((2, 0), (0, 4)),
    ((0, 3), (3, 4)),
    ((0,), (0,)),
    ((2, 3, 5), (3, 4)),
    ((2, 3), (3, 4, 5)),
    ((2, 3, 4), (3, 5, 1)),
]


@pytest.mark.parametrize("shapes", DOT_SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64"])
def test_dot(mode, rng, shapes, dtype):
    x, y = (integers(rng, s).astype(dtype) for s in shapes)
    got = mode(xo.dot)(x, y)
    # Dimension 1 of lhs, or 0 of a vector, against 0 of rhs: also of higher ranks.
    want = einsum(x, y, [(0 if x.ndim == 1 else 1, 0)], [])
    np.testing.assert_array_equal(got, want)
    assert got.dtype == dtype
    assert got.shape == want.shape


def test_dot_of_the_document():
    scalar = xo.dot(np.array([1, 2, 3]), np.array([4, 5, 6]))
    assert int(scalar) == 32
    assert scalar.shape == ()
    matrix = np.array([[1, 2], [3, 4]])
    assert xo.dot(matrix, np.array([5, 6])).tolist() == [17, 39]
    assert xo.dot(matrix, np.array([[5, 6], [7, 8]])).tolist() == [[19, 22], [43, 50]]


# DotGeneral


@st.composite
def contractions(draw):
    """Two shapes and their pairs, all sizes from a small set so that programs recur."""
    contracting = draw(st.integers(0, 2))
    batch = draw(st.integers(0, 1))
    free = draw(st.tuples(st.integers(0, 1), st.integers(0, 1)))
    shared = [2, 3, 2][: contracting + batch]
    sides = []
    for extra in free:
        rank = contracting + batch + extra
        order = draw(st.permutations(range(rank)))
        shape = [4] * rank
        for size, d in zip(shared, order, strict=False):
            shape[d] = size
        sides.append((tuple(shape), order))
    (lhs, i), (rhs, j) = sides
    pairs = list(zip(i, j, strict=False))
    return lhs, rhs, pairs[:contracting], pairs[contracting : contracting + batch]


@given(case=contractions(), seed=st.integers(0, 99))
def test_dot_general(case, seed):
    lhs, rhs, contracting, batch = case
    rng = np.random.default_rng(seed)
    x, y = integers(rng, lhs), integers(rng, rhs)
    dims = [[p[k] for p in pairs] for pairs in (contracting, batch) for k in (0, 1)]
    got = xo.dot_general(x, y, numbers(*dims))
    want = einsum(x, y, contracting, batch)
    np.testing.assert_array_equal(got, want)
    assert got.shape == want.shape


def test_einsum_is_the_formula():
    """The oracle itself, against a loop."""
    x, y = np.arange(12).reshape(2, 3, 2), np.arange(24).reshape(3, 4, 2)
    want = np.zeros((2, 2, 4), int)
    for b, m, n, k in itertools.product(range(2), range(2), range(4), range(3)):
        want[b, m, n] += x[m, k, b] * y[k, n, b]
    np.testing.assert_array_equal(einsum(x, y, [(1, 0)], [(2, 2)]), want)


def test_batch_dimensions_come_first_in_the_order_given(rng):
    x, y = integers(rng, (2, 3, 4, 5)), integers(rng, (4, 5, 3, 2))
    got = xo.dot_general(x, y, numbers([3], [1], [1, 0, 2], [2, 3, 0]))
    np.testing.assert_array_equal(got, np.einsum("abcd,cdba->bac", x, y))
    got = xo.dot_general(x, y, numbers([], [], [2], [0]))
    np.testing.assert_array_equal(got, np.einsum("abcd,cxyz->cabdxyz", x, y))
    assert xo.dot_general(I4(3), I4(4), numbers()) == 12


SPELLINGS = [
    xo.DotDimensionNumbers([2], [1], [0], [0]),
    numbers([2], [1], [0], [0]),
    (((2,), (1,)), ((0,), (0,))),
    [[[2], [1]], [[0], [0]]],
    "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
    "rhs_contracting_dims={1}",
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda s: type(s).__name__)
def test_dimension_numbers_in_every_spelling(mode, rng, spelling):
    x, y = integers(rng, (2, 3, 4)), integers(rng, (2, 4, 5))
    got = mode(lambda a, b: xo.dot_general(a, b, spelling))(x, y)
    np.testing.assert_array_equal(got, x @ y)


# Element types


def test_int8_products_wrap_unless_a_type_is_preferred(mode):
    x = np.full((1, 4), 100, I1)
    y = np.full((4, 1), 100, I1)
    got = mode(xo.dot)(x, y)
    assert got.dtype == I1
    assert int(got[0, 0]) == np.int64(40000).astype(I1)
    for preferred in ("s32", np.int32, jnp.int32):
        got = mode(lambda a, b, t=preferred: xo.dot(a, b, None, t))(x, y)
        assert got.dtype == I4
        assert int(got[0, 0]) == 40000
    got = mode(
        lambda a, b: xo.dot_general(
            a, b, numbers([1], [0]), preferred_element_type="s32"
        )
    )(x, y)
    assert (got.dtype, int(got[0, 0])) == (I4, 40000)


def test_bfloat16_is_summed_in_the_preferred_type(mode):
    x = jnp.full((1, 512), 1.0078125, jnp.bfloat16)
    got = mode(lambda a: xo.dot(a, a[0], preferred_element_type="f32"))(x)
    assert got.dtype == F4
    np.testing.assert_allclose(got, [512 * 1.0078125**2], rtol=1e-6)
    got = mode(lambda a: xo.dot(a, a[0]))(x)
    assert got.dtype == jnp.bfloat16
    np.testing.assert_allclose(got.astype(F4), [512 * 1.0078125**2], rtol=2**-7)


def test_mixed_floating_point_types_need_a_preferred_type(mode):
    x, y = jnp.ones((2, 3), jnp.bfloat16), np.full((3, 2), 0.1, F4)
    with pytest.raises(TypeError, match=r"^dot: lhs and rhs .* bfloat16\[2, 3\] and"):
        xo.dot(x, y)
    got = mode(lambda a, b: xo.dot(a, b, preferred_element_type="f32"))(x, y)
    assert got.dtype == F4
    np.testing.assert_allclose(got, np.full((2, 2), np.float32(0.1) * 3), rtol=1e-6)


def test_dot_of_bools(mode):
    """A sum of products of truth values: any of both."""
    x = np.array([[True, False], [False, False], [True, True]])
    got = mode(xo.dot)(x, np.array([False, True]))
    assert got.dtype == bool
    assert got.tolist() == [False, False, True]


def test_nan_and_infinity_are_kept(mode):
    x = np.array([[np.inf, 1.0], [np.nan, 0.0], [np.inf, -np.inf]], F4)
    got = mode(xo.dot)(x, np.array([0.0, 1.0], F4))
    assert np.isnan(got).all()
    got = mode(xo.dot)(x, np.array([1.0, 1.0], F4))
    np.testing.assert_array_equal(got, np.array([np.inf, np.nan, np.nan], F4))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, None),
        ("HIGHEST", "HIGHEST, HIGHEST"),
        (("DEFAULT", "HIGH"), "DEFAULT, HIGH"),
        (jax.lax.Precision.HIGH, "HIGH, HIGH"),
        (xo.PrecisionConfig(["HIGHEST", "DEFAULT"]), "HIGHEST, DEFAULT"),
        ({"operand_precision": ["HIGH", "HIGH"]}, "HIGH, HIGH"),
    ],
    ids=str,
)
def test_precision_reaches_the_program(config, words):
    x = np.eye(3, dtype=F4)
    for call in (
        lambda a: xo.dot(a, a, config),
        lambda a: xo.dot_general(a, a, numbers([1], [0]), config),
    ):
        text = jax.jit(call).lower(x).as_text()
        if words is None:
            assert "HIGH" not in text
        else:
            assert f"[{words}]" in text
        np.testing.assert_array_equal(call(x), x)


# Errors


@pytest.mark.parametrize(
    ("lhs", "rhs", "error", "match"),
    [
        (
            F4(1),
            np.ones(3, F4),
            TypeError,
            r"lhs must have rank 1 or more, got a scalar",
        ),
        (
            np.ones(3, F4),
            F4(1),
            TypeError,
            r"rhs must have rank 1 or more, got a scalar",
        ),
        (np.ones(3, F4), np.ones(4, F4), TypeError, r"contracting .* 3 in .* and 4 in"),
        (
            np.ones((2, 3), F4),
            np.ones((2, 3), F4),
            TypeError,
            r"contracting .* 3 in .* 2",
        ),
        (np.ones(3, F4), np.ones(3, I4), TypeError, r"lhs and rhs .* float32.* int32"),
        (np.ones(3, I1), np.ones(3, I4), TypeError, r"lhs and rhs .* int8.* int32"),
        ([1.0], np.ones(1, F4), TypeError, r"lhs must be .* got a list of length 1"),
        (np.ones(1, F4), None, TypeError, r"rhs must be .* got NoneType None"),
    ],
)
def test_dot_refuses(lhs, rhs, error, match):
    with pytest.raises(error, match=f"^dot: {match}"):
        xo.dot(lhs, rhs)


@pytest.mark.parametrize(
    ("dims", "error", "match"),
    [
        (numbers([2], [0]), ValueError, r"lhs_contracting_dimensions .* got \(2,\)"),
        (numbers([1], [2]), ValueError, r"rhs_contracting_dimensions .* got \(2,\)"),
        (numbers([], [], [2], [0]), ValueError, r"lhs_batch_dimensions .* got \(2,\)"),
        (numbers([], [], [0], [2]), ValueError, r"rhs_batch_dimensions .* got \(2,\)"),
        (numbers([-1], [0]), ValueError, r"dimension_numbers: .*-1"),
        (
            numbers([1, 1], [0, 1]),
            ValueError,
            r".*lhs_contracting_dimensions.*\(1, 1\)",
        ),
        (numbers([1], [0], [1], [1]), ValueError, r"dimension_numbers: .*lhs"),
        (numbers([1], [0, 1]), ValueError, r"dimension_numbers: .*contracting"),
        (numbers([0], [0]), TypeError, r"contracting .* 2 in dimension 0 .* 3 in"),
        (numbers([], [], [0], [0]), TypeError, r"batch .* 2 in dimension 0 .* 3 in"),
        (None, TypeError, r"dimension_numbers: .*got None"),
        ({"lhs_contracting": [1]}, TypeError, r"dimension_numbers: .*lhs_contracting"),
    ],
)
def test_dot_general_refuses(mode, dims, error, match):
    call = mode(lambda a, b: xo.dot_general(a, b, dims))
    with pytest.raises(error, match=f"^dot_general: {match}"):
        call(np.ones((2, 3), F4), np.ones((3, 2), F4))


@pytest.mark.parametrize("name", ["dot", "dot_general"])
def test_precision_and_preferred_type_are_checked(name):
    def call(**rest):
        dims = {} if name == "dot" else {"dimension_numbers": numbers([1], [0])}
        x = np.eye(2, dtype=F4)
        return getattr(xo, name)(x, x, **dims, **rest)

    error = (TypeError, ValueError)
    with pytest.raises(error, match=rf"^{name}: precision_config: .*'X'"):
        call(precision_config="X")
    with pytest.raises(error, match=rf"^{name}: preferred_element_type: .*'X'"):
        call(preferred_element_type="X")
    # Not truncated silently.
    for preferred in ("s32", "pred"):
        with pytest.raises(TypeError, match=rf"^{name}: preferred_element_type .*got "):
            call(preferred_element_type=preferred)
    with pytest.raises(ValueError, match=rf"^{name}: precision_config: .*2 operands"):
        call(precision_config=("HIGH",) * 3)


@pytest.mark.parametrize("preferred", ["s8", "u16", "f16"])
def test_sums_of_integers_are_not_narrower(preferred):
    x = np.ones(3, I4)
    with pytest.raises(TypeError, match=r"^dot: preferred.* narrower than int32"):
        xo.dot(x, x, preferred_element_type=preferred)


# Transformations


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "call",
    [
        xo.dot,
        lambda x, y: xo.dot_general(x, y, numbers([0], [1], [1], [0])),
        lambda x, y: xo.dot_general(x, y, numbers()),
    ],
    ids=["dot", "batch", "outer"],
)
def test_gradients(call, rng):
    check_grads(call, (rng.normal(size=(3, 3)), rng.normal(size=(3, 3))), order=2)


def test_vmap_is_a_loop(rng):
    x, y = integers(rng, (4, 2, 3)), integers(rng, (3, 5, 4))
    want = np.stack([x[i] @ y[:, :, i] for i in range(4)])
    np.testing.assert_array_equal(jax.vmap(xo.dot, (0, 2))(x, y), want)
    np.testing.assert_array_equal(
        jax.vmap(xo.dot, (0, None))(x, y[..., 0]), x @ y[..., 0]
    )
    got = jax.vmap(lambda a, b: xo.dot_general(a, b, numbers([1], [0])), (0, 2))(x, y)
    np.testing.assert_array_equal(got, want)
