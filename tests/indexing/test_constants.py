"""Index arrays and masks that a program computes from constants."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from xlaops.indexing import sparsity

N = 12
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
