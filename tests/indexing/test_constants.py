"""Index arrays and masks that a program computes from constants."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from xlaops.indexing import analyze, sparsity

N = 12
MASK = np.arange(N) % 5 == 1
LEAST = np.iinfo(np.int32).min
X = jax.ShapeDtypeStruct((N,), np.float32)


def taken(index):
    """A function that gathers, the positions it reads, and the shape of its result."""
    return lambda x: x[index()]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (lambda: jnp.array([5, 3, 8])[jnp.array([2, 0])], [8, 5]),
        (
            lambda: jnp.array([[5, 3], [8, 1]])[:, jnp.array([1, 1, 0])],
            [3, 3, 5, 1, 1, 8],
        ),
        (lambda: jnp.arange(6).at[jnp.array([0, 4])].set(9), [9, 1, 2, 3, 9, 5]),
        (lambda: jnp.zeros(3, int).at[jnp.array([1, 1, 7])].add(2), [0, 4, 0]),
        (lambda: jnp.zeros((2, 3), int).at[:, 1].set(7).ravel(), [0, 7, 0, 0, 7, 0]),
        (lambda: jnp.stack([jnp.arange(3), jnp.arange(3) + 4], 1), [0, 4, 1, 5, 2, 6]),
        (lambda: jnp.nonzero(jnp.arange(N) % 5 == 1, size=3)[0], [1, 6, 11]),
        (
            lambda: jnp.repeat(
                jnp.arange(3), jnp.array([2, 0, 1]), total_repeat_length=3
            ),
            [0, 0, 2],
        ),
        (lambda: jnp.tril_indices(3)[1], [0, 0, 1, 0, 1, 2]),
        (lambda: jnp.pad(jnp.array([4, 5, 6]), 1, mode="edge"), [4, 4, 5, 6, 6]),
        (lambda: jnp.floor(jnp.arange(5) * 0.5).astype(int), [0, 0, 1, 1, 2]),
        (lambda: jnp.array([3, 9, 4]).max()[None], [9]),
        (lambda: jnp.argmax(jnp.array([3, 9, 4]))[None], [1]),
        (
            lambda: jax.lax.pad(jnp.array([4, 5, 6]), 0, [(-1, 2, 1)]),
            [0, 5, 0, 6, 0, 0],
        ),
        (
            lambda: (
                jnp.array([7, 8]).at[jnp.array([0, 5])].get(mode="fill", fill_value=2)
            ),
            [7, 2],
        ),
        (lambda: jax.lax.div(jnp.array([LEAST, LEAST + 1, 7]), LEAST // 8), [8, 7, 0]),
        (lambda: jax.lax.div(jnp.arange(4, dtype="uint8"), jnp.uint8(2)), [0, 0, 1, 1]),
        (lambda: jax.lax.reduce_or(jnp.array([[1, 2, 4], [1, 8, 1]]), (1,)), [7, 9]),
        (lambda: jax.lax.reduce_and(jnp.array([[3, 6, 7], [5, 5, 4]]), (1,)), [2, 4]),
        (
            lambda: jax.lax.select_n(
                jnp.array([2, 7, -3]), *[jnp.full(3, k) for k in (4, 5, 6)]
            ),
            [6, 6, 4],
        ),
    ],
)
def test_indices_that_are_computed_are_known(index, expected):
    pattern = sparsity(taken(index), X)
    rows, columns = pattern.coo()
    assert rows.tolist() == list(range(len(expected)))
    assert columns.tolist() == expected


def test_what_is_rounded_is_not_known():
    """Whether 0.1 * 3 is 0.3 depends on how it is computed."""
    scaled = sparsity(lambda x: x[(jnp.arange(4) * 0.1 * 10).astype(int)], X)
    assert scaled.nnz == 4 * N
    assert sparsity(lambda x: x[(jnp.arange(4) * 0.25).astype(int)], X).nnz == 4
    assert sparsity(lambda x: jnp.where(jnp.arange(12.0) < 4.5, x, 0), X).nnz == 5


def test_indices_of_two_values_are_not_known():
    """Which of two elements a scatter to one place leaves there is not defined."""
    pattern = sparsity(
        lambda x: x[jnp.zeros(2, int).at[jnp.array([1, 1])].set(jnp.array([3, 4]))], X
    )
    assert set(zip(*pattern.coo(), strict=True)) >= {(0, 0), (1, 3), (1, 4)}


@pytest.mark.parametrize("n", [-3, 0, 1, 6])
def test_an_index_that_is_clamped_to_computed_bounds(n):
    def below(x, n):
        return jax.lax.dynamic_slice(
            x, (jax.lax.clamp(0, jax.lax.rem(n, 3) + 7, jax.lax.rem(n, 4) + 3),), (1,)
        )

    def above(x, n):
        return jax.lax.dynamic_slice(
            x, (jax.lax.clamp(jax.lax.rem(n, 4) + 5, jax.lax.rem(n, 2), 9),), (1,)
        )

    places = [
        min(max(int(np.fmod(n, 3)) + 7, 0), int(np.fmod(n, 4)) + 3),
        min(max(int(np.fmod(n, 2)), int(np.fmod(n, 4)) + 5), 9),
    ]
    for f, place in zip((below, above), places, strict=True):
        pattern = sparsity(f, X, jax.ShapeDtypeStruct((), np.int32))
        assert pattern.dense()[0, max(place, 0)]


@pytest.mark.parametrize("value", [np.inf, np.nan, -1.0, 300.0, 1e10])
def test_numbers_that_do_not_fit_are_not_known(value):
    """What becomes of them is the backend's affair: here it saturates."""

    def index():
        return jnp.where(np.array([True, False]), value, 2.0)

    pattern = sparsity(lambda x: x[index().astype(jnp.uint8)], X)
    assert pattern.nnz == 2 * N


def test_what_a_scatter_computes_is_no_overwriting():
    """``apply`` writes what a function makes of what is there."""

    def tripled():
        return jnp.arange(3).at[jnp.array([2])].apply(lambda v: v * 3)

    rows, columns = sparsity(taken(tripled), X).coo()
    assert (2, 6) in set(zip(rows.tolist(), columns.tolist(), strict=True))


def test_sums_that_a_scatter_rounds_are_not_known():
    def added(*values):
        updates = jnp.array(values).astype(jnp.float32)
        return jnp.zeros(2).at[jnp.array([0, 0, 1])].add(updates)

    def index(x):
        return x[(added(2**24, 1, 3) > 2**24).astype(int)]

    assert sparsity(index, X).nnz == 2 * N
    assert sparsity(lambda x: x[added(2, 1, 3).astype(int)], X).nnz == 2


def test_a_remainder_by_zero_is_no_number():
    def zero():
        return jax.lax.rem(jnp.arange(12.0), jnp.zeros(12)) < 4

    assert sparsity(lambda x: jnp.where(zero(), x, 0), X).nnz == 0


def test_the_largest_of_nothing_is_no_error():
    def largest():
        return jnp.zeros((2, 0), int).max(1, initial=3)

    assert sparsity(taken(largest), X).nnz == 2 * N


def test_keys_are_constants_like_others():
    key = jax.random.key(0)
    pattern = sparsity(lambda x: x * jax.random.uniform(key, (N,)), X)
    assert pattern.nnz == N


@pytest.mark.parametrize(
    "f",
    [
        lambda x: jax.lax.scan(
            lambda c, a: (c, jnp.where(MASK, x, 0) * a), 0, jnp.ones(3)
        )[1][0],
        lambda x: jax.lax.scan(
            lambda c, a: (jnp.where(MASK, c, 0) * a, None), x, jnp.ones(3)
        )[0],
        lambda x: jax.lax.while_loop(
            lambda c: c[0] < 2,
            lambda c: (c[0] + 1, jnp.where(MASK, x, 0)),
            (0, jnp.zeros(N)),
        )[1],
        jax.shard_map(
            lambda x: jnp.where(MASK, x, 0),
            mesh=jax.make_mesh((1,), ("i",), (jax.sharding.AxisType.Auto,)),
            in_specs=jax.P(),
            out_specs=jax.P(),
        ),
    ],
    ids=["scan", "carried", "while", "shard_map"],
)
def test_constants_are_known_in_programs_within_programs(f):
    rows, columns = sparsity(f, X).coo()
    assert rows.tolist() == columns.tolist() == np.flatnonzero(MASK).tolist()


def test_numbers_of_no_case_choose_the_nearest_one():
    which = np.array([0, 1, 2, 7, -3], np.int32)

    def f(*cases):
        return jax.lax.select_n(which, *cases)

    case = jax.ShapeDtypeStruct((5,), np.float32)
    analysis = analyze(f, case, case, case)
    taken_from = [
        [int(i) for one in analysis.output_to_input(0, k) for i in one.relation()[:, 0]]
        for k in range(3)
    ]
    assert [sorted(found) for found in taken_from] == [[0, 4], [1], [2, 3]]
