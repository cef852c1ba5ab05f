"""Operations between replicas in every context, with every kind of groups."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collectives.contexts import (
    ALL,
    CONTEXTS,
    DIFFERENTIATED,
    EQUAL,
    KINDS,
    Case,
    assert_same,
    check,
    check_linear,
    named,
    results,
    written,
)
from collectives.oracles import (
    exchanged,
    from_first,
    from_last,
    from_one_before,
    gathered,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import xlaops as xo


def chain(groups, axis_name, x):
    """The pairs of a chain along each group."""
    count = len(groups) and max(max(g) for g in groups) + 1
    pairs = [pair for g in groups for pair in itertools.pairwise(g)]
    if not count:  # no groups: all that there are
        n = x.shape[-1]
        pairs = [(k, k + 1) for k in range(n - 1)]
    return xo.collective_permute(x, pairs, axis_name=axis_name)


def last_position(groups, axis_name, x):
    """The position of the last member of this replica's group."""
    size = jnp.int32(len(groups[0]) - 1 if groups else x.shape[-1] - 1)
    return xo.collective_broadcast(
        operands=[x, size],
        replica_groups=groups,
        has_dynamic_root=True,
        axis_name=axis_name,
    )[0]


def wide(rng, n):
    """Arrays whose last dimension tells how many replicas there are."""
    return (rng.integers(-9, 9, (n, 2, n)).astype(np.float32),)


def options(groups, axis_name):
    return {"replica_groups": groups, "axis_name": axis_name}


LINEAR = [
    Case(
        "all_gather_first",
        lambda g, a, x: xo.all_gather(x, 0, **options(g, a)),
        gathered(0),
    ),
    Case(
        "all_gather_last",
        lambda g, a, x: xo.all_gather(x, 1, **options(g, a)),
        gathered(1),
    ),
    Case(
        "all_to_all_same",
        lambda g, a, x: xo.all_to_all(x, 0, 0, **options(g, a)),
        exchanged(0, 0),
    ),
    Case(
        "all_to_all_other",
        lambda g, a, x: xo.all_to_all(x, 0, 1, **options(g, a)),
        exchanged(0, 1),
    ),
    Case("collective_permute", chain, from_one_before, ALL, wide),
    Case(
        "collective_broadcast",
        lambda g, a, x: xo.collective_broadcast(x, **options(g, a)),
        from_first,
        ALL,
    ),
    Case(
        "collective_broadcast_dynamic",
        last_position,
        from_last,
        EQUAL,
        wide,
    ),
]
PARAMETERS = [
    pytest.param(case, context, kind, id=f"{case}-{context}-{kind}")
    for case in LINEAR
    for context in CONTEXTS
    for kind in sorted(case.kinds)
]


@pytest.mark.parametrize(("case", "context", "kind"), PARAMETERS)
def test_values(case, context, kind):
    check(case, context, kind)


# Of these the others differ in the dimensions, or in how they are mapped, alone. JAX
# cannot save what depends on the replica for the reverse derivative of nested maps.
WITH_DERIVATIVES = [
    pytest.param(case, context, kind, id=f"{case}-{context}-{kind}")
    for case in LINEAR
    if case.name not in ("all_gather_last", "all_to_all_same")
    for context in CONTEXTS
    if context.name in DIFFERENTIATED
    and (case.name, context.name) != ("collective_broadcast_dynamic", "nested")
    for kind in sorted(case.kinds)
]


@pytest.mark.parametrize(("case", "context", "kind"), WITH_DERIVATIVES)
def test_derivatives(case, context, kind):
    check_linear(case, context, kind)


# Several arrays at once, of several types


def several(groups, axis_name, x, y):
    tree = {"x": x, "y": (y, y[..., 0])}
    gathered = xo.all_gather(tree, 0, **options(groups, axis_name))
    pair = [x, y.astype(np.float32)[..., :2]]
    tuples = xo.all_gather_tuple(pair, 1, **options(groups, axis_name))
    return gathered, tuples


def several_oracle(groups, x, y):
    first, second = gathered(0), gathered(1)
    tree = {"x": first(groups, x), "y": (first(groups, y), first(groups, y[..., 0]))}
    short = y.astype(np.float32)[..., :2]
    return tree, (second(groups, x), second(groups, short))


def several_inputs(rng, n):
    return (
        rng.integers(-9, 9, (n, 8, 2)).astype(np.float32),
        rng.integers(-9, 9, (n, 8, 3)).astype(np.int8),
    )


SEVERAL = Case("several", several, several_oracle, EQUAL, several_inputs)
FEW = [c for c in CONTEXTS if c.name in ("two_axes", "pmap", "vmap")]


@pytest.mark.parametrize("kind", ["none", "odd"])
@pytest.mark.parametrize("context", FEW, ids=repr)
def test_pytrees(context, kind):
    check(SEVERAL, context, kind)


def from_a_position_each(groups, axis_name, x, y, z):
    """The first and the last member's, by one position for each array."""
    last = len(groups[0]) - 1 if groups else x.shape[-1] - 1

    def broadcast(*operands):
        return xo.collective_broadcast(
            operands, groups, None, True, axis_name=axis_name
        )

    return (
        broadcast(x, y, z, jnp.array([0, last, 0], jnp.int8)),
        broadcast(x, y, jnp.array([last], jnp.uint32)),
    )


def from_a_position_each_oracle(groups, x, y, z):
    return (
        (from_first(groups, x), from_last(groups, y), from_first(groups, z)),
        (from_last(groups, x), from_last(groups, y)),
    )


POSITIONS = Case(
    "positions",
    from_a_position_each,
    from_a_position_each_oracle,
    EQUAL,
    lambda rng, n: (
        *wide(rng, n),
        rng.integers(-9, 9, (n,)).astype(np.int8),
        rng.integers(0, 2, (n, 3)).astype(np.bool_),
    ),
)


@pytest.mark.parametrize("kind", ["none", "odd"])
@pytest.mark.parametrize("context", FEW, ids=repr)
def test_a_position_for_each_array(context, kind):
    check(POSITIONS, context, kind)


# What people reported, with the right values


def test_reported_exchange_in_groups():
    """https://github.com/jax-ml/jax/issues/5861: on CPUs groups were not kept apart."""

    def of_replica(x):
        return xo.all_to_all(x, 0, 0, replica_groups=[[0, 2], [1, 3]])

    x = np.arange(8).reshape(4, 2)
    for name in ("partial_manual", "partial_manual_unchecked"):
        y = jax.jit(named(name)(of_replica))(x)
        np.testing.assert_array_equal(y, [[0, 4], [2, 6], [1, 5], [3, 7]])
    np.testing.assert_array_equal(
        jax.vmap(of_replica, axis_name="i")(x), [[0, 4], [2, 6], [1, 5], [3, 7]]
    )


@pytest.mark.parametrize("context", CONTEXTS, ids=repr)
def test_reported_broadcast(context):
    """https://github.com/openxla/xla/issues/10992: jax.lax has it on GPUs alone."""
    n = context.count
    x = np.arange(n * 2, dtype=np.float32).reshape(n, 2)
    groups = [[3, *(k for k in range(n) if k != 3)]]

    def of_replica(v):
        return xo.collective_broadcast(v, groups, axis_name=context.axis_name)

    y = jax.jit(context(of_replica))(x)
    np.testing.assert_array_equal(y, np.tile(x[3], (n, 1)))


def test_reported_derivative_of_a_gather_under_vmap():
    """https://github.com/jax-ml/jax/issues/7965."""

    def loss(x):
        gather = jax.vmap(lambda v: xo.all_gather(v[None], 0)[1], axis_name="i")
        return 10 * gather(x).sum()

    gradient = jax.grad(loss)(np.arange(5, dtype=np.float32))
    np.testing.assert_array_equal(gradient, [0, 50, 0, 0, 0])


# The examples of the document


def test_example_of_all_to_all():
    """Four replicas of f32[4,16], split along 1 and put together along 0."""
    x = np.arange(4 * 64, dtype=np.float32).reshape(4, 4, 16)
    y = jax.jit(
        named("partial_manual")(
            lambda v: xo.all_to_all(
                v, split_dimension=1, concat_dimension=0, split_count=4
            )
        )
    )(x)
    assert y.shape == (4, 16, 4)
    for replica in range(4):
        blocks = [x[k][:, 4 * replica : 4 * replica + 4] for k in range(4)]
        np.testing.assert_array_equal(y[replica], np.concatenate(blocks))


def test_example_of_a_permutation():
    """Zeros where nothing is sent to."""
    y = jax.jit(
        named("partial_manual")(lambda v: xo.collective_permute(v, [(0, 1), (1, 2)]))
    )(np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]))
    np.testing.assert_array_equal(y, [[0, 0], [1, 2], [3, 4], [0, 0]])


# Drawn calls


@st.composite
def drawn(draw):
    """A context, groups of its replicas, a shape and dimensions of it."""
    context = draw(st.sampled_from([named(name) for name in DRAWN]))
    ids = draw(st.permutations(range(context.count)))
    size = draw(st.sampled_from([k for k in (1, 2, 4, 8) if k <= context.count]))
    groups = [ids[k : k + size] for k in range(0, context.count, size)]
    rank = draw(st.integers(1, 3))
    shape = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    split, concat = draw(st.integers(0, rank - 1)), draw(st.integers(0, rank - 1))
    shape[split] *= size
    dtype = draw(st.sampled_from(["float32", "int8", "bfloat16", "complex64", "bool"]))
    return context, groups, tuple(shape), split, concat, jnp.dtype(dtype)


DRAWN = ("axes_swapped", "partial_manual", "two_vmaps", "vmap_in_shard_map", "nested")


@settings(max_examples=10)
@given(drawn())
def test_drawn_calls(call):
    context, groups, shape, split, concat, dtype = call
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (context.count, *shape)).astype(dtype)
    pairs = [(g[0], g[-1]) for g in groups]

    def of_replica(v):
        more = options(groups, context.axis_name)
        return (
            xo.all_gather(v, concat, **more),
            xo.all_to_all(v, split, concat, **more),
            xo.collective_broadcast(v, **more),
            xo.collective_permute(v, pairs, axis_name=context.axis_name),
        )

    permuted = np.zeros_like(x)
    for source, target in pairs:
        permuted[target] = x[source]
    wanted = (
        gathered(concat)(groups, x),
        exchanged(split, concat)(groups, x),
        from_first(groups, x),
        permuted,
    )
    assert_same(jax.jit(context(of_replica))(x), wanted)


def test_the_harness_notices_a_wrong_value():
    wrong = Case("wrong", LINEAR[0].call, gathered(1))
    with pytest.raises(AssertionError):
        check(wrong, CONTEXTS[0], "none")
    right = results(LINEAR[0], CONTEXTS[0])["none"]
    with pytest.raises(AssertionError):
        assert_same(right, np.asarray(right) + 1)


def test_kinds_of_groups_are_what_they_are_called():
    for n in (4, 8):
        for kind, make in KINDS.items():
            ids = [i for g in written(make(n), n) for i in g]
            assert len(set(ids)) == len(ids)
            assert (sorted(ids) == list(range(n))) == (kind != "missing")
            sizes = {len(g) for g in written(make(n), n)}
            assert (len(sizes) == 1) == (kind != "unequal")
