"""Reductions between replicas, against a loop in numpy over the members of a group."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from collectives.contexts import (
    CONTEXTS,
    COVERING,
    EQUAL,
    KINDS,
    Case,
    assert_same,
    check,
    named,
    sizes,
    written,
)
from jax import lax

import xlaops as xo
from xlaops.collectives import reduction


def all_reduce(computation, *, in_blocks=True, chunk=1000, **options):
    """By blocks, or as small arrays are combined: by all arrays of a group."""

    def call(groups, axis_name, *arrays):
        operand = arrays if len(arrays) > 1 else arrays[0]
        with sizes(_SMALL=0 if in_blocks else 10**9, _CHUNK=chunk):
            return reduction.all_reduce(
                operand, computation, groups, axis_name=axis_name, **options
            )

    return call


def reduce_scatter(computation, dimension=0, chunk=1000):
    def call(groups, axis_name, x):
        with sizes(_CHUNK=chunk):
            return reduction.reduce_scatter(
                x, computation, dimension, replica_groups=groups, axis_name=axis_name
            )

    return call


def reduced(function):
    """The oracle: members of each group combined from the first to the last."""

    def oracle(groups, *stacked):
        results = [np.empty_like(x) for x in stacked]
        for group in groups:
            total = [x[group[0]] for x in stacked]
            for member in group[1:]:
                total = function(*total, *(x[member] for x in stacked))
                total = total if isinstance(total, tuple) else (total,)
            for result, value in zip(results, total, strict=True):
                result[group] = value
        return results[0] if len(results) == 1 else tuple(results)

    return oracle


def scattered(function, dimension=0):
    def oracle(groups, x):
        whole, n = reduced(function)(groups, x), len(groups[0])
        result = np.empty_like(np.split(x, n, dimension + 1)[0])
        for group in groups:
            for i, member in enumerate(group):
                result[member] = np.split(whole[member], n, dimension)[i]
        return result

    return oracle


def compose(a, b, c, d):
    """Two lines one after the other: associative, and not commutative."""
    return a * c, b * c + d


def small(rng, n):
    return (rng.choice(np.array([-2, -1, 1, 1, 2], np.float32), (n, 8, 3)),)


def whole_numbers(rng, n):
    return (rng.integers(-(2**31), 2**31 - 1, (n, 8), np.int32),)


def truths(rng, n):
    return (rng.random((n, 8, 2)) < 0.3,)


def lines(rng, n):
    return tuple(rng.integers(-3, 4, (n, 5), np.int32) for _ in range(2))


# In every context.
EVERYWHERE = (
    Case("sum", all_reduce(xo.add), reduced(np.add), COVERING),
    Case("max", all_reduce(xo.max), reduced(np.maximum), COVERING),
    Case("lines", all_reduce(compose, joint=True), reduced(compose), COVERING, lines),
    Case("scatter sum", reduce_scatter(xo.add), scattered(np.add), EQUAL),
    Case(
        "scatter product",
        reduce_scatter(lambda a, b: b * a, 1),
        scattered(np.multiply, 1),
        EQUAL,
        lambda rng, n: (small(rng, n)[0].transpose(0, 2, 1),),
    ),
)
# Where types say what varies, where they do not, and where XLA has no collective.
REPRESENTATIVE = ("shard_map", "two_axes_unchecked", "vmap_in_shard_map")
ELSEWHERE = (
    Case("min", all_reduce(jnp.minimum), reduced(np.minimum), COVERING, whole_numbers),
    Case("product", all_reduce(xo.mul), reduced(np.multiply), COVERING, small),
    Case("xor", all_reduce(xo.xor), reduced(np.bitwise_xor), COVERING, whole_numbers),
    Case("any", all_reduce(xo.or_), reduced(np.logical_or), COVERING, truths),
    Case("all", all_reduce(xo.and_), reduced(np.logical_and), COVERING, truths),
    Case("first", all_reduce(lambda a, b: a), reduced(lambda a, b: a), COVERING),
    Case(
        "lines, whole",
        all_reduce(compose, joint=True, in_blocks=False),
        reduced(compose),
        COVERING,
        lines,
    ),
    Case(
        "lines, chunks",
        all_reduce(compose, joint=True, chunk=2),
        reduced(compose),
        COVERING,
        lines,
    ),
    Case("scatter max", reduce_scatter(xo.max), scattered(np.maximum), EQUAL),
    Case(
        "scatter any",
        reduce_scatter(xo.or_, chunk=5),
        scattered(np.logical_or),
        EQUAL,
        truths,
    ),
)
PLACES = [(case, context) for case in EVERYWHERE for context in CONTEXTS]
PLACES += [(case, named(name)) for case in ELSEWHERE for name in REPRESENTATIVE]


@pytest.mark.parametrize(
    ("case", "context"), PLACES, ids=lambda value: repr(value).replace(" ", "_")
)
def test_values(case, context):
    for kind in sorted(case.kinds):
        check(case, context, kind)


# Derivatives: of each combination the derivative with respect to every member.


def tied(x):
    """The largest elements of a group share the derivative."""
    has_it = (x == x.max(0)).astype(np.float32)
    return has_it / has_it.sum(0)


WEIGHTS = {
    "sum": (xo.add, np.ones_like),
    "max": (xo.max, tied),
    "product": (lambda a, b: a * b, lambda x: np.prod(x, 0) / x),
    "log-sum-exp": (jnp.logaddexp, lambda x: np.exp(x) / np.exp(x).sum(0)),
    "loop": (
        lambda a, b: lax.fori_loop(0, 2, lambda i, s: s + b, a - b),
        np.ones_like,
    ),
}


def weighted(groups, weights, x, tangent, cotangent):
    """The two derivatives of `all_reduce`."""
    forward, reverse = np.empty_like(x), np.empty_like(x)
    for group in groups:
        w = weights(x[group])
        forward[group] = (w * tangent[group]).sum(0)
        reverse[group] = w * cotangent[group].sum(0)
    return forward, reverse


def weighted_blocks(groups, weights, x, tangent, cotangent):
    """The two derivatives of `reduce_scatter` along the first dimension."""
    forward, reverse = np.empty_like(cotangent), np.empty_like(x)
    for group in groups:
        w = weights(x[group])
        blocks = np.split((w * tangent[group]).sum(0), len(group))
        forward[group] = np.stack(blocks)
        reverse[group] = w * np.concatenate(list(cotangent[group]))
    return forward, reverse


FORMS = ((all_reduce, weighted), (reduce_scatter, weighted_blocks))
WHERE = [(which, name) for which in ("sum", "max") for name in REPRESENTATIVE]
WHERE += [("max", "pmap"), ("max", "batched"), ("loop", "pmap")]
WHERE += [("product", "two_axes_unchecked"), ("log-sum-exp", "two_axes_unchecked")]
WHERE += [(which, "shard_map") for which in ("product", "log-sum-exp", "loop")]


@pytest.mark.parametrize(("which", "name"), WHERE)
def test_derivatives(which, name):
    computation, weights = WEIGHTS[which]
    context = named(name)
    rng = np.random.default_rng(0)
    # Groups of two alone where the computation takes long to compile.
    forms = [(form, oracle, "odd") for form, oracle in FORMS]
    if which in ("sum", "max"):
        forms += [(form, oracle, "none") for form, oracle in FORMS]
    if which not in ("log-sum-exp", "loop"):
        forms += [(all_reduce, weighted, "unequal")]

    def of_replica(*xs):
        return [
            form(computation, chunk=16)(KINDS[kind](8), context.axis_name, x)
            for (form, _, kind), x in zip(forms, xs, strict=True)
        ]

    f = context(of_replica)
    values = np.array([-1.5, -1, 0.5, 1], np.float32)
    xs = [rng.choice(values, (8, 8)) for _ in forms]
    tangents = [rng.normal(size=x.shape).astype(np.float32) for x in xs]
    shapes = jax.eval_shape(f, *xs)
    cotangents = [rng.normal(size=s.shape).astype(np.float32) for s in shapes]

    @jax.jit
    def derivatives(xs, tangents, cotangents):
        forward = jax.jvp(f, xs, tangents)[1]
        return forward, jax.vjp(f, *xs)[1](cotangents)

    forward, reverse = derivatives(tuple(xs), tuple(tangents), cotangents)
    for k, (_, oracle, kind) in enumerate(forms):
        groups = written(KINDS[kind](8), 8)
        expected = oracle(groups, weights, xs[k], tangents[k], cotangents[k])
        assert_same((forward[k], reverse[k]), expected, rtol=1e-5, atol=1e-5)


# Groups so large that rows are combined by halves before they are one by one


def _compositions(a, b, groups):
    """``x -> a x + b`` of all members, the first one innermost; exact, as int32."""
    many_a, many_b = np.empty_like(a), np.empty_like(b)
    with np.errstate(over="ignore"):
        for group in groups:
            factor, offset = a[group[0]], b[group[0]]
            for member in group[1:]:
                factor, offset = a[member] * factor, a[member] * offset + b[member]
            many_a[group], many_b[group] = factor, offset
    return many_a, many_b


@pytest.mark.parametrize("count", [17, 33, 100])
def test_many_replicas(count, rng):
    """In order, though the computation does not commute, in groups of any size."""
    a = rng.integers(-2, 3, (count, 3), dtype=np.int32)
    b = rng.integers(-9, 9, (count, 3), dtype=np.int32)
    ids = rng.permutation(count).tolist()
    third = count // 3

    def compose(a, b, c, d):
        return c * a, c * b + d

    for groups in ([], [ids], [ids[:third], ids[third:]]):
        together = jax.vmap(
            lambda *x, groups=groups: xo.all_reduce(x, compose, groups, joint=True),
            axis_name="i",
        )
        got = jax.jit(together)(a, b)
        expected = _compositions(a, b, groups or [list(range(count))])
        np.testing.assert_array_equal(got[0], expected[0])
        np.testing.assert_array_equal(got[1], expected[1])


def test_derivative_with_many_replicas(rng):
    x = rng.normal(size=(40, 3)).astype(np.float32)
    groups = [list(range(18)), list(range(18, 40))[::-1]]

    def loss(x):
        reduced = lambda x: xo.all_reduce(x, jnp.logaddexp, groups)  # noqa: E731
        return jnp.sum(jax.vmap(reduced, axis_name="i")(x))

    gradient = jax.jit(jax.grad(loss))(x)
    for group in groups:
        share = np.exp(x[group]) / np.exp(x[group]).sum(0)  # softmax
        np.testing.assert_allclose(gradient[np.array(group)], len(group) * share, 1e-4)


def test_program_hardly_grows_with_the_replicas():
    def lines(count):
        reduced = jax.vmap(
            lambda x: xo.all_reduce(x, jnp.logaddexp), axis_name="i", axis_size=count
        )
        return len(jax.jit(reduced).lower(np.ones(count)).as_text().splitlines())

    assert lines(1024) < 2 * lines(64)
