"""Patterns of Jacobians, against the Jacobians themselves."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

import xlaops as xo
from xlaops.indexing import sparsity


def struct(*shape, dtype=np.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def observed(f, *args):
    """The elements of Jacobians at random points that are not zero in all of them."""
    rng = np.random.default_rng(0)
    dense = jax.jit(
        jax.jacobian(
            lambda *x: jnp.concatenate([jnp.ravel(y) for y in jax.tree.leaves(f(*x))]),
            argnums=range(len(args)),
        )
    )
    found = None
    for _ in range(6):
        xs = [jnp.asarray(rng.standard_normal(a.shape), a.dtype) for a in args]
        parts = [np.asarray(j).reshape(j.shape[0], -1) != 0 for j in dense(*xs)]
        matrix = np.concatenate(parts, axis=1)
        found = matrix if found is None else found | matrix
    return found


RANDOM = np.random.default_rng(3)
INDEX = RANDOM.integers(0, 30, (40, 3))
PLACES = RANDOM.integers(0, 12, 30)
BLOCKS = RANDOM.standard_normal((6, 5, 5)).astype(np.float32)
KERNEL = RANDOM.standard_normal((3, 3, 2, 2)).astype(np.float32)


def heat(u):
    p = jnp.pad(u, 1)
    around = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]
    return u**3 + around - 4 * u


def convolution(x):
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x[None], KERNEL, (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=numbers
    )[0]


def recurrence(x):
    return lax.scan(lambda c, a: (0.9 * c + a, c**2), 1.0, x)[1]


def assembled(u):
    """A sum over elements of a mesh, each of which reads its three corners."""
    corners = u[INDEX]
    local = jnp.sin(corners).sum(1, keepdims=True) * corners
    return jnp.zeros(30).at[INDEX].add(local)


PATTERNS = {
    "stencil": (lambda x: x[2:] - 2 * x[1:-1] ** 2 + x[:-2], struct(30)),
    "periodic": (lambda x: jnp.roll(x, 1) - x**2, struct(30)),
    "heat": (heat, struct(6, 5)),
    "convolution": (convolution, struct(6, 5, 2)),
    "blocks": (
        lambda x: jnp.einsum("bij,bj->bi", BLOCKS, x.reshape(6, 5)) ** 2,
        struct(30),
    ),
    "softmax": (lambda x: jax.nn.softmax(x, -1), struct(6, 5)),
    "cumulative": (lambda x: jnp.cumsum(x.T, 0), struct(6, 5)),
    "gather": (lambda x: x[INDEX[:, 0]] ** 2, struct(30)),
    "scatter": (lambda x: jnp.zeros(12).at[PLACES].add(x**2), struct(30)),
    "elements": (assembled, struct(30)),
    "scan": (recurrence, struct(20)),
    "masked": (lambda x: jnp.where(np.tri(6, dtype=bool), x, 0), struct(6, 6)),
    "two arguments": (lambda x, y: x[:, None] * y, struct(4), struct(4, 3)),
    "two results": (
        lambda x: (x[::2] ** 2, {"sum": x.sum(), "none": x[:0]}),
        struct(9),
    ),
    "rounded": (lambda x: jnp.floor(x) + x[::-1] * (x > 0), struct(9)),
    "stopped": (lambda x: lax.stop_gradient(x) * x[::-1], struct(9)),
    "relu": (lambda x: jax.nn.relu(x[1:] - x[:-1]), struct(9)),
    "hessian": (jax.grad(lambda x: jnp.sum((x[1:] - x[:-1]) ** 4)), struct(12)),
    "scalar": (lambda x: x**2, struct()),
    "constant": (lambda x: jnp.zeros((2, 2)), struct(3)),
    "ours": (lambda x: xo.reduce([x], [0.0], xo.add, [1]), struct(4, 3)),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_are_those_of_jacobians(name):
    f, *args = PATTERNS[name]
    pattern = sparsity(f, *args, argnums=None)
    truth = observed(f, *args)
    assert pattern.shape == truth.shape
    np.testing.assert_array_equal(pattern.dense(), truth)
    assert pattern.exact
    assert not pattern.undefined
    assert not pattern.widened


@pytest.mark.parametrize("name", ["two results", "two arguments", "heat", "constant"])
def test_all_forms_are_the_same_matrix(name):
    f, *args = PATTERNS[name]
    pattern = sparsity(f, *args, argnums=None)
    dense = pattern.dense()
    rows, columns = pattern.coo()
    np.testing.assert_array_equal(np.argwhere(dense), np.stack([rows, columns], 1))
    assert pattern.nnz == np.count_nonzero(dense)
    assert pattern.density == pytest.approx(dense.mean())
    np.testing.assert_array_equal(pattern.to_bcoo().todense(), dense)
    for form in ("csr", "csc", "coo"):
        assert pattern.to_scipy(form).format == form
        np.testing.assert_array_equal(pattern.to_scipy(form).toarray(), dense)
    values = np.arange(1.0, pattern.nnz + 1, dtype=np.float32)
    filled = np.zeros(dense.shape, np.float32)
    filled[dense] = values
    np.testing.assert_array_equal(pattern.to_bcoo(values).todense(), filled)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (
            jnp.tril(jnp.ones((6, 6))) @ x
        ),  # values of constants are not looked at
        lambda x: x[jnp.argmax(x)] + 0 * x,  # which element, only the program knows
        lambda x: jnp.sort(x),
        lambda x: lax.while_loop(
            lambda c: c[0] < 3, lambda c: c + jnp.roll(c, 1) ** 2, x
        ),
    ],
)
def test_what_is_not_known_is_in_the_pattern(f):
    truth, dense = observed_forward(f, 6), sparsity(f, struct(6)).dense()
    assert not (truth & ~dense).any()
    assert dense.any()


def observed_forward(f, n):
    rng = np.random.default_rng(0)
    points = jnp.asarray(rng.standard_normal((8, n)), np.float32)
    return np.any(np.asarray(jax.vmap(jax.jacfwd(f))(points)) != 0, axis=0)


# Derivatives that are not those of the function


@jax.custom_jvp
def forward_mirrored(x):
    return jnp.round(x)


@forward_mirrored.defjvp
def _(primals, tangents):
    return forward_mirrored(*primals), tangents[0][::-1]


@jax.custom_vjp
def straight_through(x):
    return jnp.round(x)


straight_through.defvjp(lambda x: (straight_through(x), None), lambda _, g: (g,))


def test_custom_derivatives_count():
    assert sparsity(jnp.round, struct(4)).nnz == 0
    mirrored = sparsity(forward_mirrored, struct(4))
    np.testing.assert_array_equal(mirrored.dense(), np.eye(4)[::-1])
    assert (mirrored.forward, mirrored.reverse) == (True, True)
    through = sparsity(lambda x: straight_through(x[:-1]), struct(4))
    np.testing.assert_array_equal(through.dense(), np.eye(3, 4))
    assert (through.forward, through.reverse) == (False, True)


def test_loops_without_a_count_have_only_forward_derivatives():
    pattern = sparsity(
        lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: c * 2, x), struct(4)
    )
    assert (pattern.forward, pattern.reverse) == (True, False)


def test_a_primitive_without_a_rule_makes_everything_dense():
    def f(x):
        return jnp.linalg.solve(jnp.eye(3) + jnp.diag(x[:3]), x[3:])

    pattern = sparsity(f, struct(6))
    assert not (observed(f, struct(6)) & ~pattern.dense()).any()


def test_arrays_without_elements():
    pattern = sparsity(lambda x: x.sum(0), struct(0, 3))
    assert pattern.shape == (3, 0)
    assert (pattern.nnz, pattern.density) == (0, 0.0)
    assert pattern.coloring("forward").count == 0


# Structure


def test_bands():
    assert sparsity(lambda x: x[3:] * x[1:-2], struct(20)).band == (1, 3)
    assert sparsity(lambda x: x[:-2] * x[2:], struct(10**9)).band == (0, 2)
    assert sparsity(heat, struct(6, 5)).band == (-5, 5)
    assert sparsity(jnp.cumsum, struct(7)).band == (-6, 0)
    assert sparsity(lambda x: x[::-1], struct(4)).band == (-3, 3)
    assert sparsity(lambda x: jnp.zeros(3), struct(4)).band == (0, 0)
    # Of a reshape the formula is not linear.
    assert sparsity(lambda x: x.reshape(3, 4), struct(4, 3)).band == (0, 0)


def test_diagonal_blocks():
    pattern = sparsity(lambda x: jnp.cumsum(x.reshape(4, 5), 1) ** 2, struct(20))
    assert pattern.block_size == (5, 5)
    assert [b.rows for b in pattern.diagonal_blocks] == [
        (i, i + 5) for i in range(0, 20, 5)
    ]
    wide = sparsity(lambda x: x.reshape(4, 5).sum(1), struct(20))
    assert wide.block_size == (1, 5)
    whole = sparsity(lambda x: x * x.sum(), struct(20))
    assert whole.block_size == (20, 20)
    uneven = sparsity(
        lambda x: jnp.stack([x[0] * x[1], x[1], x[3], x[3] + x[4]]), struct(6)
    )
    assert uneven.diagonal_blocks == [((0, 2), (0, 3)), ((2, 4), (3, 6))]
    assert uneven.block_size == (2, 3)


@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8),
)
def test_blocks_hold_everything_and_cannot_be_split(height, width, elements):
    from xlaops.indexing.structure import diagonal_blocks

    dense = np.zeros((height, width), bool)
    for i, j in elements:
        dense[i % height, j % width] = True
    blocks = diagonal_blocks(*np.nonzero(dense), dense.shape)
    outside = dense.copy()
    row = column = 0
    for block in blocks:
        assert (block.rows[0], block.columns[0]) == (row, column)
        row, column = block.rows[1], block.columns[1]
        outside[slice(*block.rows), slice(*block.columns)] = False
    assert (row, column) == dense.shape
    assert not outside.any()
    for a, b in itertools.pairwise(blocks):
        assert dense[slice(*a.rows), slice(*a.columns)].any()
        assert dense[slice(*b.rows), slice(*b.columns)].any()
    # Every division into two is a border between blocks.
    for i in range(1, height):
        for j in range(1, width):
            if not dense[:i, j:].any() and not dense[i:, :j].any():
                filled = dense[:i].any() and dense[i:].any()
                if filled:
                    assert len(blocks) > 1


def test_the_formula_does_not_depend_on_sizes():
    pattern = sparsity(lambda x: x[1:] - x[:-1], struct(10**9))
    assert sorted(pattern.formula.splitlines()) == [
        "(d0) -> (d0 + 1), domain: d0 in [0, 999999998]",
        "(d0) -> (d0), domain: d0 in [0, 999999998]",
    ]
    with pytest.raises(ValueError, match="must have at most 134217728 points"):
        pattern.coo()
    with pytest.raises(ValueError, match="must have at most 10 points, got 11"):
        sparsity(lambda x: x * 2, struct(11), limit=10).coo()


def test_a_scatter_looks_at_updates_and_not_at_pairs():
    places = np.random.default_rng(0).integers(0, 100_000, 100_000)
    pattern = sparsity(
        lambda x: jnp.zeros(100_000).at[places].add(x), struct(100_000), limit=100_000
    )
    rows, columns = pattern.coo()
    order = np.argsort(places, kind="stable")
    np.testing.assert_array_equal(columns, order)
    np.testing.assert_array_equal(rows, places[order])


def test_the_text_says_it_all():
    text = str(
        sparsity(lambda x, y: (x * y, y.sum()), struct(2), struct(2), argnums=None)
    )
    assert text.splitlines() == [
        "3 x 4, 6 elements (50 %), band from 0 to 2",
        "result[0] <- args[0]:",
        "  (d0) -> (d0), domain: d0 in [0, 1]",
        "result[0] <- args[1]:",
        "  (d0) -> (d0), domain: d0 in [0, 1]",
        "result[1] <- args[0]:",
        "  nothing",
        "result[1] <- args[1]:",
        "  ()[s0] -> (s0), domain: s0 in [0, 1]",
    ]


def test_arguments_are_chosen():
    def f(x, i, y):
        return x["a"][i] + y

    args = {"a": struct(4), "b": struct(2)}, struct(3, dtype=np.int32), struct(3)
    assert sparsity(f, *args).shape == (3, 6)
    assert sparsity(f, *args, argnums=(0, 2)).shape == (3, 9)
    np.testing.assert_array_equal(sparsity(f, *args, argnums=-1).dense(), np.eye(3))
    assert sparsity(f, *args, argnums=np.int64(2)).shape == (3, 3)
    assert sparsity(f, *args, argnums=np.array([0, 2])).shape == (3, 9)
    assert [x.name for x in sparsity(f, *args).inputs] == [
        "args[0]['a']",
        "args[0]['b']",
    ]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sparsity(3, struct(3)), TypeError, "f must be callable, got 3"),
        (
            lambda: sparsity(lambda x: x, struct(3), argnums=1),
            ValueError,
            "argnums must be among the 1 arguments, got 1",
        ),
        (
            lambda: sparsity(lambda x: x, struct(3), argnums="a"),
            TypeError,
            "argnums must be integers, got 'a'",
        ),
        (
            lambda: sparsity(lambda x: x * 1.0, struct(3, dtype=np.int32)),
            TypeError,
            r"args\[0\] must have a floating type",
        ),
        (
            lambda: sparsity(lambda x: {"i": jnp.argsort(x)}, struct(3)),
            TypeError,
            r"result\['i'\] must have a floating type",
        ),
        (
            lambda: sparsity(lambda x: x, struct(3)).coloring("both"),
            ValueError,
            "mode must be 'auto', 'forward' or 'reverse', got 'both'",
        ),
        (
            lambda: sparsity(lambda x: x, struct(3)).to_bcoo(np.ones(2)),
            ValueError,
            r"values must have shape \(3,\), got \(2,\)",
        ),
        (
            lambda: sparsity(lambda x: x[-3:], struct(2**33)).to_bcoo(),
            ValueError,
            r"must have at most 2\*\*31 rows and columns, got \(3, 8589934592\)",
        ),
        (
            lambda: sparsity(lambda x: x, struct(3), argnums=0.0),
            TypeError,
            "argnums must be integers, got 0.0",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_without_scipy(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(ImportError, match="SciPy must be installed"):
        sparsity(lambda x: x, struct(3)).to_scipy()


@pytest.mark.parametrize(
    ("f", "shape"),
    [
        (lambda u: u.at[0].set(u[1]).at[-1].set(2 * u[-2]), (6,)),
        (lambda u: u.at[:, 0].set(u[:, 1]).at[-1].set(0.0), (4, 3)),
        (lambda u: u.at[1:-1].set(u[2:] - u[:-2]), (7,)),
        (lambda u: u.at[jnp.array([0, 9, -1])].set(0.0, mode="drop"), (5,)),
        (lambda u: u.at[jnp.array([0, 9])].set(0.0, mode="clip"), (5,)),
        (lambda u: u.at[jnp.arange(4), jnp.arange(4)].set(0.0), (4, 4)),
        (lambda u: u.at[:, ::2].set(0.0), (2, 6)),
    ],
)
def test_what_a_scatter_overwrites_is_not_read(f, shape):
    """Boundary conditions: rows that are replaced keep nothing of what was there."""
    pattern = sparsity(f, jax.ShapeDtypeStruct(shape, np.float32))
    x = jnp.asarray(np.random.default_rng(0).standard_normal(shape), jnp.float32)
    size = x.size
    np.testing.assert_array_equal(
        pattern.dense(), np.asarray(jax.jacobian(f)(x)).reshape(-1, size) != 0
    )
    assert pattern.exact


@pytest.mark.parametrize(
    "f",
    [
        lambda u: u.at[1:3, 1:3].set(0.0),
        lambda u: u.at[jnp.array([0, 2, 3, 0]), jnp.array([1, 3, 0, 3])].set(0.0),
    ],
)
def test_what_a_scatter_overwrites_here_and_there_is_a_reason(f):
    pattern = sparsity(f, jax.ShapeDtypeStruct((5, 5), np.float32))
    assert pattern.nnz == 25
    assert not pattern.exact
    assert "overwrites" in pattern.reasons[0]


def test_of_a_pair_only_the_first_one_counts():
    x = jax.ShapeDtypeStruct((5,), np.float32)
    pattern = sparsity(lambda x: (x[1:], x.astype(int)), x, has_aux=True)
    assert pattern.shape == (4, 5)
    with pytest.raises(TypeError, match="f must return a pair with has_aux, got"):
        sparsity(lambda x: x, x, has_aux=True)


def test_arguments_that_are_no_arrays_are_handed_on():
    x = jax.ShapeDtypeStruct((5,), np.float32)
    f = jax.jit(
        lambda x, how: x[::-1] if how == "reversed" else x, static_argnames="how"
    )
    assert sparsity(f, x, "reversed").coo()[1].tolist() == [4, 3, 2, 1, 0]
    assert sparsity(f, x, "kept").coo()[1].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(
        TypeError, match=r"args\[1\] must have a floating type.*got str"
    ):
        sparsity(f, x, "kept", argnums=1)


def test_maps_of_more_points_than_may_be_looked_at():
    """Windows of windows: a map of each axis is looked at alone."""

    def layers(x):
        for _ in range(4):
            for size in (3, 5):
                x = jax.lax.reduce_window(
                    x, 0.0, jax.lax.add, (size, size), (1, 1), "SAME"
                )
        return x

    pattern = sparsity(layers, jax.ShapeDtypeStruct((20, 20), np.float32), limit=10**6)
    one = np.abs(np.subtract.outer(np.arange(20), np.arange(20))) <= 12
    np.testing.assert_array_equal(pattern.dense(), np.kron(one, one))
