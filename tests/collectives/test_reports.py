"""What people have reported of collectives in public, with the right values.

Each test is named after the project and the number of the issue.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collectives.contexts import mesh, one
from jax.sharding import PartitionSpec as P

import xlaops as xo

ALONG = P("i")


def on(count, function, out_specs=ALONG, check_vma=True):
    return jax.jit(
        jax.shard_map(
            function,
            mesh=jax.make_mesh(
                (count,),
                ("i",),
                axis_types=(jax.sharding.AxisType.Auto,),
                devices=jax.devices()[:count],
            ),
            in_specs=P("i"),
            out_specs=out_specs,
            check_vma=check_vma,
        )
    )


def test_jax_34755_ragged_exchange_on_cpus():
    f = on(2, one(xo.ragged_all_to_all))
    arguments = (
        [[1, 2, 2], [3, 4, 0]],
        [[0, 1], [0, 1]],
        [[1, 2], [1, 1]],
        [[0] * 4] * 2,
        [[0, 0], [1, 2]],
        [[1, 1], [2, 1]],
    )
    got = f(*map(np.array, arguments))
    np.testing.assert_array_equal(got, [[1, 3, 0, 0], [2, 2, 4, 0]])


@pytest.mark.parametrize("check_vma", [True, False])
def test_jax_19709_scattered_sums_in_groups(check_vma):
    groups = ((0, 2, 4, 6), (1, 3, 5, 7))
    x = np.arange(64).reshape(8, 8)
    f = on(
        8,
        one(lambda x: xo.reduce_scatter(x, xo.add, 0, replica_groups=groups)),
        check_vma=check_vma,
    )
    expected = np.empty((8, 2), int)
    for group in groups:
        expected[list(group)] = x[list(group)].sum(0).reshape(4, 2)
    np.testing.assert_array_equal(f(x), expected)


@pytest.mark.parametrize("check_vma", [True, False])
def test_jax_19709_sums_in_groups(check_vma):
    """A sum in groups was refused where types say what varies."""
    f = on(
        8,
        lambda x: xo.all_reduce(x, xo.add, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        check_vma=check_vma,
    )
    np.testing.assert_array_equal(f(np.arange(8)), [6] * 4 + [22] * 4)


def test_jax_7167_derivative_of_the_largest():
    f = on(3, lambda x: xo.all_reduce(x, xo.max), check_vma=False)
    gradient = jax.grad(lambda x: f(x).sum())(np.array([0.0, 2, 2], np.float32))
    np.testing.assert_array_equal(gradient, [0, 1.5, 1.5])


def test_jax_3970_gradient_of_a_total_inside():
    """The total is one number where types say so, and one on each device otherwise."""

    def gradient(x):
        return jax.grad(lambda x: xo.all_reduce(x**2, xo.add).sum())(x)

    x = np.array([1.0, 2.0], np.float32)
    np.testing.assert_array_equal(on(2, gradient)(x), [2, 4])
    np.testing.assert_array_equal(on(2, gradient, check_vma=False)(x), [4, 8])


def test_jax_2382_groups_under_vmap():
    f = jax.vmap(lambda x: xo.all_reduce(x, xo.add, [[0, 1], [2, 3]]), axis_name="i")
    np.testing.assert_array_equal(f(jnp.arange(4)), [1, 1, 5, 5])


def test_xla_47383_any_computation():
    """XLA refuses, or ends the process, for a reduction that it does not have."""
    f = on(4, lambda x: xo.all_reduce(x, lambda a, b: jnp.maximum(a * a, b * b)))
    np.testing.assert_array_equal(f(np.array([2, 1, 1, 1])), [16] * 4)


def test_jax_36886_gradient_of_what_is_the_same_everywhere():
    """It is summed over the devices, whose losses are one."""

    def gradient(w, x):
        return jax.grad(lambda w: (xo.all_reduce(w * x, xo.add)).sum())(w)

    f = jax.jit(
        jax.shard_map(
            gradient, mesh=mesh(("i", 8)), in_specs=(P(), P("i")), out_specs=P()
        )
    )
    assert f(jnp.float32(3), np.arange(8, dtype=np.float32)[:, None]) == 28


def test_grouped_extremes_are_not_the_same_everywhere():
    """Each group has its own largest, which no specification may call the same."""
    groups = [[0, 1, 2, 3], [4, 5, 6, 7]]
    f = on(8, lambda x: xo.all_reduce(x, xo.max, groups), out_specs=P())
    with pytest.raises(ValueError, match="out_specs"):
        f(np.arange(8))


def test_jax_34249_vmap_of_a_mapped_reduction():
    f = jax.vmap(on(8, lambda x: xo.all_reduce(x, xo.add), out_specs=P()))
    x = np.arange(1600).reshape(2, 8, 100)
    np.testing.assert_array_equal(f(x)[:, 0], x.sum(1))
