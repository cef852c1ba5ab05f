"""Reductions between replicas: element types, what varies, programs, errors."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from collectives.contexts import KINDS, collectives, mesh, sizes
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import xlaops as xo

ALONG = P("i")
ODD = KINDS["odd"](8)
UNEQUAL = KINDS["unequal"](8)
INTEGERS = ("int2", "uint2", "int4", "uint4", "int8", "uint16", "int32", "uint32")
FLOATS = ("float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2")


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def mapped(function, check_vma=True, out_specs=ALONG):
    return jax.shard_map(
        function,
        mesh=mesh(("i", 8)),
        in_specs=P("i"),
        out_specs=out_specs,
        check_vma=check_vma,
    )


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "complex64"])
def test_element_types(name, rng):
    """Sums wrap as the type does; small whole numbers are exact in all of them."""
    dtype = dtype_of(name)
    values = rng.integers(0, 2, (8, 4))
    x = values.astype(dtype)

    def f(x):
        return (
            xo.all_reduce(x, xo.add, ODD),
            xo.all_reduce(x, lambda a, b: b + a * 1, UNEQUAL),
            xo.reduce_scatter(x[0], xo.add, 0, replica_groups=KINDS["equal"](8)),
            x if name == "complex64" else xo.all_reduce(x, xo.max, UNEQUAL),
        )

    odd, unequal, blocks, largest = jax.jit(mapped(f))(x)
    for got, groups, function in (
        (odd, ODD, np.sum),
        (unequal, UNEQUAL, np.sum),
        (largest, UNEQUAL, np.max),
    ):
        expected = values.copy()
        for group in groups:
            expected[group] = function(values[group], 0)
        if name == "complex64" and function is np.max:
            expected = values
        assert got.dtype == dtype
        wide = np.asarray(got).astype(complex)
        np.testing.assert_array_equal(wide, wrapped(expected, name))
    expected = np.concatenate([values[:4].sum(0), values[4:].sum(0)])
    wide = np.asarray(blocks).astype(complex)
    np.testing.assert_array_equal(wide, wrapped(expected, name))


def wrapped(values, name):
    """Whole numbers as an integer type holds them."""
    if name not in INTEGERS:
        return values
    limits = ml_dtypes.iinfo(dtype_of(name))
    return (values - int(limits.min)) % 2**limits.bits + int(limits.min)


@pytest.mark.parametrize(
    "function", [xo.or_, xo.max, jnp.logical_or, lambda a, b: a | b]
)
def test_truths(function):
    x = np.arange(8) == 3
    got = jax.jit(mapped(lambda x: xo.all_reduce(x, function, ODD)))(x)
    np.testing.assert_array_equal(got, np.isin(np.arange(8), [0, 3]))
    got = jax.jit(mapped(lambda x: xo.cross_replica_sum(x)))(x)
    assert got.dtype == bool
    assert got.all()


def test_pytrees_and_scalars():
    tree = {"a": np.arange(8.0, dtype=np.float32), "b": (np.arange(8), None)}
    got = jax.jit(mapped(lambda t: xo.all_reduce(t, xo.add)))(tree)
    np.testing.assert_array_equal(got["a"], [28] * 8)
    np.testing.assert_array_equal(got["b"][0], [28] * 8)
    assert got["b"][1] is None
    total = mapped(lambda x: x + xo.all_reduce(2, xo.add))
    np.testing.assert_array_equal(jax.jit(total)(np.arange(8)), np.arange(8) + 16)
    empty = jax.jit(mapped(lambda x: xo.all_reduce(x, jnp.hypot)))
    assert empty(np.zeros((8, 0), np.float32)).shape == (8, 0)


# What varies


@pytest.mark.parametrize("computation", [xo.add, xo.max, jnp.hypot])
@pytest.mark.parametrize("small", [True, False])
def test_one_group_is_the_same_everywhere(computation, small):
    for groups in ((), KINDS["reversed"](8)):
        f = mapped(lambda x, g=groups: xo.all_reduce(x, computation, g), out_specs=P())
        with sizes(_SMALL=10**9 if small else 0):
            assert jax.jit(f)(np.ones((8, 3), np.float32)).shape == (1, 3)


@pytest.mark.parametrize("computation", [xo.add, xo.max, jnp.hypot])
def test_several_groups_are_not(computation):
    f = mapped(lambda x: xo.all_reduce(x, computation, ODD), out_specs=P())
    with pytest.raises(ValueError, match="out_specs"):
        jax.eval_shape(f, np.ones((8, 3), np.float32))


def test_beside_explicit_axes(rng):
    """Manual along one axis of a mesh, the other of which is part of the types."""
    both = jax.make_mesh(
        (4, 2), ("i", "x"), axis_types=(AxisType.Auto, AxisType.Explicit)
    )
    x = rng.integers(-9, 9, (4, 8, 3)).astype(np.float32)

    def f(x):
        x = x[0]
        return (
            xo.reduce_scatter(x, xo.add, 0)[None],
            xo.all_reduce(x, xo.add, [[0, 1], [3, 2]])[None],
            xo.all_reduce(x, lambda a, b: a + b + 0 * a)[None],
        )

    with jax.set_mesh(both):
        g = jax.shard_map(
            f, in_specs=P("i"), out_specs=P("i"), axis_names={"i"}, check_vma=True
        )
        blocks, pairs, total = jax.jit(g)(x)
    np.testing.assert_array_equal(blocks, x.sum(0).reshape(4, 2, 3))
    np.testing.assert_array_equal(pairs[0], x[0] + x[1])
    np.testing.assert_array_equal(pairs[3], x[2] + x[3])
    np.testing.assert_array_equal(total, [x.sum(0)] * 4)


# Programs

X = np.ones((8, 4096), np.float32)


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm", "tpu"])
@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("kind", ["none", "odd", "reversed", "unequal"])
def test_one_native_operation(kind, check_vma, platform):
    groups = KINDS[kind](8)
    unequal = kind == "unequal"
    for computation in (xo.add, xo.max, jnp.minimum):
        f = mapped(
            lambda x, c=computation: (
                lax.pcast(xo.all_reduce(x, c, groups), "i", to="varying")
                if check_vma and kind in ("none", "reversed")
                else xo.all_reduce(x, c, groups)
            ),
            check_vma,
        )
        used = collectives(f, X, platform=platform)
        if unequal and platform == "tpu":  # which has none of several sizes
            assert used == {"all_gather": 1}
        else:
            assert used == {"all_reduce": 1}
    if not unequal:
        scatter = mapped(
            lambda x: xo.reduce_scatter(x, xo.add, 1, replica_groups=groups), check_vma
        )
        assert collectives(scatter, X, platform=platform) == {"reduce_scatter": 1}


@pytest.mark.parametrize("platform", ["cpu", "cuda", "tpu"])
def test_any_computation_is_exchanged_in_blocks(platform):
    large = np.ones((8, 2**17), np.float32)
    f = mapped(lambda x: xo.all_reduce(x, jnp.hypot, KINDS["equal"](8)))
    used = collectives(f, large, platform=platform)
    assert used == {"all_to_all": 1, "all_gather": 1}
    # Of two members each sends what the other needs, where copies are what it costs.
    f = mapped(lambda x: xo.all_reduce(x, jnp.hypot, ODD))
    used = collectives(f, large, platform=platform)
    exchange = "collective_permute" if platform == "cpu" else "all_to_all"
    assert used == {exchange: 1, "all_gather": 1}
    scatter = mapped(lambda x: xo.reduce_scatter(x, jnp.hypot, 1, replica_groups=ODD))
    assert collectives(scatter, X, platform=platform) == {"all_to_all": 1}


def test_memory_does_not_grow_with_the_group():
    def temporary(groups):
        f = mapped(lambda x: xo.all_reduce(x, jnp.hypot, groups))
        x = jax.ShapeDtypeStruct((8, 2**18), np.float32)
        return jax.jit(f).lower(x).compile().memory_analysis().temp_size_in_bytes

    size = 4 * 2**18
    assert max(temporary(KINDS["odd"](8)), temporary(())) < 2 * size


# Sampling


@settings(max_examples=10)
@given(st.data())
def test_any_partition(data):
    """Any partition of the replicas, for a computation that keeps their order."""
    order = data.draw(st.permutations(range(8)))
    cuts = sorted(data.draw(st.sets(st.integers(1, 7), max_size=4)))
    groups = [list(g) for g in np.split(order, cuts)]
    x = data.draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))

    def last_nonzero(a, b):
        return jnp.where(b == 0, a, b)

    got = jax.vmap(lambda x: xo.all_reduce(x, last_nonzero, groups), axis_name="i")(
        jnp.array(x)
    )
    for group in groups:
        nonzero = [x[k] for k in group if x[k]]
        assert set(np.asarray(got)[group]) == {nonzero[-1] if nonzero else 0}


# Errors


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (TypeError, "computation must be callable", lambda x: xo.all_reduce(x, 1)),
        (
            TypeError,
            "computation must take 2 scalars",
            lambda x: xo.all_reduce(x, jnp.sin),
        ),
        (
            TypeError,
            r"computation must return float32\[\]",
            lambda x: xo.all_reduce(x, lambda a, b: a > b),
        ),
        (
            TypeError,
            "computation must not communicate",
            lambda x: xo.all_reduce(x, lambda a, b: a + lax.axis_index("i") * b),
        ),
        (
            TypeError,
            "computation must use no value that is traced",
            lambda x: xo.all_reduce(x, lambda a, b: a + b * x[0, 0]),
        ),
        (
            TypeError,
            "computation must not call back",
            lambda x: xo.all_reduce(
                x, lambda a, b: a + (jax.debug.print("{}", b), b)[1]
            ),
        ),
        (
            TypeError,
            "operand must have one shape",
            lambda x: xo.all_reduce((x, x[0]), lambda a, b, c, d: (a, b), joint=True),
        ),
        (
            TypeError,
            "operand must be a jax.Array",
            lambda x: xo.all_reduce("x", xo.add),
        ),
        (TypeError, "operand must be", lambda x: xo.all_reduce(None, xo.add)),
        (
            ValueError,
            "shape_with_layout must be",
            lambda x: xo.all_reduce(x, xo.add, shape_with_layout="f32[3]"),
        ),
        (
            ValueError,
            "replica_groups must be empty or hold each",
            lambda x: xo.all_reduce(x, xo.add, [[0, 1]]),
        ),
        (
            ValueError,
            "at most once",
            lambda x: xo.all_reduce(x, xo.add, [[0, 1, 2, 3], [3, 4, 5, 6, 7]]),
        ),
        (
            NameError,
            "axis_name must name a mapped axis",
            lambda x: xo.all_reduce(x, xo.add, axis_name="j"),
        ),
        (
            ValueError,
            "scatter_dimension must be a dimension that is a multiple",
            lambda x: xo.reduce_scatter(x, xo.add, 1),
        ),
        (
            ValueError,
            "shard_count must be",
            lambda x: xo.reduce_scatter(x, xo.add, 0, 4),
        ),
        (
            ValueError,
            r"scatter_dimension must be in \[0, 2\)",
            lambda x: xo.reduce_scatter(x, xo.add, 2),
        ),
        (
            ValueError,
            "must have one size",
            lambda x: xo.reduce_scatter(x, xo.add, 0, replica_groups=UNEQUAL),
        ),
    ],
)
def test_errors(error, message, call):
    with pytest.raises(error, match=rf"(all_reduce|reduce_scatter): .*{message}"):
        jax.eval_shape(mapped(call), np.ones((64, 3), np.float32))


def test_outside_of_any_map():
    with pytest.raises(NameError, match="all_reduce: axis_name must name a mapped"):
        xo.all_reduce(np.ones(3), xo.add)


def test_shape_with_layout():
    f = mapped(
        lambda x: xo.all_reduce((x, x), xo.add, ODD, None, "(f32[1,3]{0,1}, f32[1,3])")
    )
    x = np.ones((8, 3), np.float32)
    np.testing.assert_array_equal(jax.jit(f)(x)[1], 2 * x)
