"""Where collectives run: every way in which JAX maps a function over replicas.

A `Context` calls a function of one replica's arrays on stacked arrays, whose first
dimension counts the replicas in the order of their ids. An operation is tested by its
function, an oracle of the stacked arrays in numpy, and the kinds of groups it takes:

    case = Case("all_gather", call, oracle, GROUPS - {"unequal", "missing"})
    check(case, context, kind)

All kinds of groups of a case share one program a context, for compiling takes most of
the time.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from xlaops.collectives import combining

Groups = Sequence[Sequence[int]]

# Groups of n ids, n being 4 or 8.
KINDS: dict[str, Callable[[int], Groups]] = {
    "none": lambda n: (),
    "equal": lambda n: [list(range(n // 2)), list(range(n // 2, n))],
    # The order of the ids counts, and they fit no axis.
    "odd": lambda n: [[0, 3], [1, 2], [4, 7], [6, 5]] if n == 8 else [[0, 3], [2, 1]],
    "strided": lambda n: [list(range(k, n, 2)) for k in range(2)],
    "reversed": lambda n: [list(range(n))[::-1]],
    "single": lambda n: [[k] for k in range(n)],
    "unequal": lambda n: (
        [list(range(1, n)), [0]] if n == 4 else [[2, 0, 1], [*range(3, 8)]]
    ),
    "missing": lambda n: [[2, 0]] if n == 4 else [[0, 1], [5, 3]],
}
EQUAL = frozenset({"none", "equal", "odd", "strided", "reversed", "single"})
COVERING = EQUAL | {"unequal"}
ALL = COVERING | {"missing"}


def written(groups: Groups, n: int) -> list[list[int]]:
    """The groups, where no groups are one of all ids."""
    return [list(g) for g in groups] or [list(range(n))]


@dataclasses.dataclass(frozen=True)
class Context:
    """A way to map a function over replicas.

    Attributes:
      name: for the names of tests.
      count: how many replicas there are.
      axis_name: what an operation is told; None is its default.
      wrap: from a function of one replica's arrays to one of stacked arrays.
      check_vma: whether types say over which axes values vary.
    """

    name: str
    count: int
    axis_name: Any
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
    check_vma: bool = False

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.wrap(function)

    def __repr__(self) -> str:
        return self.name


@functools.cache
def mesh(*axes: tuple[str, int], explicit: bool = False) -> jax.sharding.Mesh:
    kind = AxisType.Explicit if explicit else AxisType.Auto
    names, sizes = zip(*axes, strict=True)
    return jax.make_mesh(sizes, names, axis_types=(kind,) * len(axes))


def one(function):
    """A function of arrays with a leading dimension of 1, from one without."""

    def of_shards(*args):
        result = function(*jax.tree.map(lambda x: x[0], args))
        return jax.tree.map(lambda x: x[None], result)

    return of_shards


def _shard_map(axes, spec, check_vma, **options):
    def wrap(function):
        return jax.shard_map(
            one(function),
            mesh=mesh(*axes),
            in_specs=spec,
            out_specs=spec,
            check_vma=check_vma,
            **options,
        )

    return wrap


def _vmaps(*axes):
    """Of nested vmaps, outermost first."""
    sizes = tuple(size for _, size in axes)

    def wrap(function):
        def of_stacked(*args):
            args = jax.tree.map(lambda x: x.reshape(*sizes, *x.shape[1:]), args)
            mapped = function
            for name, _ in reversed(axes):
                mapped = jax.vmap(mapped, axis_name=name)
            result = mapped(*args)
            n = len(sizes)
            return jax.tree.map(lambda x: x.reshape(-1, *x.shape[n:]), result)

        return of_stacked

    return wrap


def _vmap_in_shard_map(check_vma):
    """Replicas along a vmap axis (2) and a mesh axis (4) together."""

    def wrap(function):
        def of_shards(*args):
            mapped = jax.vmap(function, axis_name="v")
            args = jax.tree.map(lambda x: x[:, 0], args)
            return jax.tree.map(lambda x: x[:, None], mapped(*args))

        sharded = jax.shard_map(
            of_shards,
            mesh=mesh(("i", 4)),
            in_specs=P(None, "i"),
            out_specs=P(None, "i"),
            check_vma=check_vma,
        )

        def of_stacked(*args):
            args = jax.tree.map(lambda x: x.reshape(2, 4, *x.shape[1:]), args)
            result = sharded(*args)
            return jax.tree.map(lambda x: x.reshape(8, *x.shape[2:]), result)

        return of_stacked

    return wrap


def _batched_in_shard_map(check_vma):
    """An unnamed vmap inside: every replica calls it for two arrays, once negated."""

    def wrap(function):
        def both(*args):
            pairs = jax.tree.map(lambda x: jax.numpy.stack([x, x]), args)
            return jax.tree.map(lambda x: x[1], jax.vmap(function)(*pairs))

        return _shard_map([("i", 8)], P("i"), check_vma)(both)

    return wrap


def _nested(check_vma):
    """A shard_map over one axis inside of one over another."""

    def wrap(function):
        inner = jax.shard_map(
            one(function),
            in_specs=P("b"),
            out_specs=P("b"),
            axis_names={"b"},
            check_vma=check_vma,
        )
        return jax.shard_map(
            inner,
            mesh=mesh(("a", 2), ("b", 4)),
            in_specs=P("a"),
            out_specs=P("a"),
            axis_names={"a"},
            check_vma=check_vma,
        )

    return wrap


def _partial(check_vma):
    """Manual over one axis of two; the other is the compiler's."""
    axes = [("x", 2), ("i", 4)]
    return _shard_map(axes, P("i"), check_vma, axis_names={"i"})


CONTEXTS = (
    Context("shard_map", 8, None, _shard_map([("i", 8)], P("i"), True), True),
    Context("shard_map_unchecked", 8, None, _shard_map([("i", 8)], P("i"), False)),
    Context(
        "two_axes",
        8,
        None,
        _shard_map([("a", 2), ("b", 4)], P(("a", "b")), True),
        True,
    ),
    Context(
        "two_axes_unchecked",
        8,
        ("a", "b"),
        _shard_map([("a", 2), ("b", 4)], P(("a", "b")), False),
    ),
    # Ids count along the axes as they are named, not in the order of the mesh.
    Context(
        "axes_swapped",
        8,
        ("b", "a"),
        _shard_map([("a", 2), ("b", 4)], P(("b", "a")), True),
        True,
    ),
    Context("partial_manual", 4, None, _partial(True), True),
    Context("partial_manual_unchecked", 4, "i", _partial(False)),
    Context("nested", 8, None, _nested(True), True),
    Context("pmap", 8, "p", lambda f: jax.pmap(f, axis_name="p")),
    Context("pmap_unnamed", 8, None, lambda f: jax.pmap(f)),
    Context("vmap", 8, None, _vmaps(("v", 8))),
    Context("two_vmaps", 8, ("v", "w"), _vmaps(("v", 2), ("w", 4))),
    Context("vmap_in_shard_map", 8, ("v", "i"), _vmap_in_shard_map(True), True),
    Context("vmap_in_shard_map_unchecked", 8, ("v", "i"), _vmap_in_shard_map(False)),
    Context("batched", 8, None, _batched_in_shard_map(True), True),
    Context("batched_unchecked", 8, None, _batched_in_shard_map(False)),
)


# Those in which derivatives are looked at; they take the most time.
DIFFERENTIATED = frozenset(
    {
        "shard_map",
        "shard_map_unchecked",
        "axes_swapped",
        "partial_manual",
        "nested",
        "two_vmaps",
        "vmap_in_shard_map",
        "batched",
    }
)


def named(name: str) -> Context:
    """The context of that name."""
    return next(context for context in CONTEXTS if context.name == name)


@dataclasses.dataclass(frozen=True)
class Case:
    """An operation under test.

    Attributes:
      name: for the names of tests.
      call: ``call(groups, axis_name, *arrays)``, of one replica's arrays.
      oracle: ``oracle(groups, *stacked)`` in numpy, of and to stacked arrays; the
        groups name every id that takes part.
      kinds: the kinds of groups, names of `KINDS`.
      inputs: ``inputs(rng, count)`` gives the stacked arrays; small whole numbers, so
        that sums are exact.
    """

    name: str
    call: Callable[..., Any]
    oracle: Callable[..., Any]
    kinds: frozenset[str] = EQUAL
    inputs: Callable[[np.random.Generator, int], tuple[np.ndarray, ...]] = (
        lambda rng, n: (rng.integers(-9, 9, (n, 8, 2)).astype(np.float32),)
    )

    def __repr__(self) -> str:
        return self.name

    def arrays(self, count: int) -> tuple[np.ndarray, ...]:
        return self.inputs(np.random.default_rng(count), count)

    def function(self, context: Context, kinds: Sequence[str]) -> Callable[..., Any]:
        """Of stacked arrays, to the results for all those kinds of groups."""

        def of_replica(*arrays):
            return [
                self.call(KINDS[kind](context.count), context.axis_name, *arrays)
                for kind in kinds
            ]

        return context(of_replica)


@functools.cache
def results(case: Case, context: Context) -> dict[str, Any]:
    """What a case gives in a context, for every kind of groups that it takes."""
    kinds = sorted(case.kinds)
    function = jax.jit(case.function(context, kinds))
    return dict(zip(kinds, function(*case.arrays(context.count)), strict=True))


def check(case: Case, context: Context, kind: str) -> None:
    """Compares the result of a case with its oracle."""
    groups = written(KINDS[kind](context.count), context.count)
    expected = case.oracle(groups, *case.arrays(context.count))
    assert_same(results(case, context)[kind], expected)


def assert_same(came: Any, expected: Any, **tolerance: float) -> None:
    """Compares two pytrees of arrays: types, shapes and, exactly or not, values."""
    came_leaves, tree = jax.tree.flatten(came)
    leaves, wanted = jax.tree.flatten(expected)
    assert tree == wanted
    for x, y in zip(came_leaves, leaves, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if tolerance:
            np.testing.assert_allclose(x, y, **tolerance)
        else:
            np.testing.assert_array_equal(x, y)


def matrix(function: Callable[..., np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """The matrix of a linear oracle of one array of that shape."""
    basis = np.eye(int(np.prod(shape)), dtype=np.float32)
    return np.stack([function(row.reshape(shape)).reshape(-1) for row in basis], axis=1)


@functools.cache
def derivatives(case: Case, context: Context) -> dict[str, Any]:
    """For every kind of groups ``(tangent, cotangent, forward, reverse)``."""
    kinds = sorted(case.kinds)
    x, *others = case.arrays(context.count)
    assert not others
    rng = np.random.default_rng(1)
    t = rng.integers(-9, 9, x.shape).astype(x.dtype)
    functions = [case.function(context, [kind]) for kind in kinds]
    shapes = [jax.eval_shape(function, x)[0] for function in functions]
    cts = [rng.integers(-9, 9, s.shape).astype(s.dtype) for s in shapes]

    def both(x, t, cts):
        forward = [jax.jvp(function, (x,), (t,))[1][0] for function in functions]
        reverse = [
            jax.vjp(function, x)[1]([ct])[0]
            for function, ct in zip(functions, cts, strict=True)
        ]
        return forward, reverse

    forward, reverse = jax.jit(both)(x, t, cts)
    tangents = [t] * len(kinds)
    values = zip(tangents, cts, forward, reverse, strict=True)
    return dict(zip(kinds, values, strict=True))


def check_linear(case: Case, context: Context, kind: str) -> None:
    """Compares both derivatives of a linear case with the matrix of its oracle."""
    n = context.count
    groups = written(KINDS[kind](n), n)
    x = case.arrays(n)[0]
    linear = matrix(lambda v: case.oracle(groups, v), x.shape)
    tangent, cotangent, forward, reverse = derivatives(case, context)[kind]
    assert_same(
        np.asarray(forward).reshape(-1), linear @ tangent.reshape(-1), rtol=1e-5
    )
    assert_same(
        np.asarray(reverse).reshape(-1), linear.T @ cotangent.reshape(-1), rtol=1e-5
    )


# Of one-hot programs: which collectives they hold.


def collectives(function: Callable[..., Any], *args: Any, platform: str = "cpu"):
    """The collectives of the lowered program, by name with their number."""
    lowered = jax.jit(function).trace(*args).lower(lowering_platforms=(platform,))
    text = lowered.as_text()
    names = (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_permute",
        "reduce_scatter",
    )
    counts = {name: text.count(f'"stablehlo.{name}"') for name in names}
    counts["ragged_all_to_all"] = text.count("@ragged_all_to_all(")
    return {name: count for name, count in counts.items() if count}


@contextlib.contextmanager
def sizes(**values):
    """What is small, and how much is exchanged at once, for what is traced here."""
    programs = (combining.folded, combining.scattered)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(combining, name, value)
        for program in programs:
            program.clear_cache()
        yield
    for program in programs:
        program.clear_cache()
