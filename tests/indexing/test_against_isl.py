"""The integer set library as a second oracle, for domains too large to enumerate."""

import functools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from indexing import chains, drawn

from xlaops.indexing import (
    IndexingMap,
    Interval,
    dim,
    range_variable,
    runtime_variable,
)
from xlaops.indexing.kinds import DIM, DIV, MAX, MIN, MOD, PREFIXES

isl = pytest.importorskip("islpy")

# What takes longer in the library is no example.
MOST_OPERATIONS = 300_000


def _atom(atom):
    if atom.kind >= DIM:
        return f"{PREFIXES[atom.kind]}{atom.first}"
    if atom.kind == DIV:
        return f"floor(({_text(atom.first)})/{atom.second})"
    if atom.kind == MOD:
        return f"(({_text(atom.first)}) % {atom.second})"
    word = {MIN: "min", MAX: "max"}[atom.kind]
    return f"{word}({_text(atom.first)}, {_text(atom.second)})"


def _text(expression):
    terms = [f"{k} * {_atom(atom)}" for atom, k in expression.terms]
    return " + ".join([*terms, str(expression.constant)])


def _isl(m):
    """A map as isl's relation of dimensions and results."""
    groups = (m.dims, m.ranges, m.runtimes)
    names = [
        [f"{PREFIXES[kind]}{i}" for i in range(len(group))]
        for kind, group in zip(PREFIXES, groups, strict=True)
    ]
    outputs = [f"o{i}" for i in range(len(m.results))]
    head = f"[{', '.join(names[0])}] -> [{', '.join(outputs)}]"
    if m.is_known_empty:
        return isl.Map(f"{{ {head} : false }}")
    conditions = ["true"]
    conditions += [f"{o} = {_text(e)}" for o, e in zip(outputs, m.results, strict=True)]
    for name, v in zip([n for group in names for n in group], m.variables, strict=True):
        conditions.append(f"{v.bounds.lower} <= {name} <= {v.bounds.upper}")
    for e, i in m.constraints:
        conditions.append(f"{i.lower} <= {_text(e)} <= {i.upper}")
    body = " and ".join(conditions)
    inner = [*names[1], *names[2]]
    if inner:
        body = f"exists {', '.join(inner)}: {body}"
    return isl.Map(f"{{ {head} : {body} }}")


@pytest.fixture(autouse=True)
def _no_limit_left_behind():
    yield
    isl.DEFAULT_CONTEXT.set_max_operations(0)


def _decided(ask):
    """The answer of the library, where it comes before the limit of its work."""
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(MOST_OPERATIONS)
    try:
        return ask()
    except isl.Error as error:
        if "operations" not in str(error):
            raise
        assume(False)
    finally:
        context.set_max_operations(0)


SHAPES = [
    ((600, 400), (240, 1000)),
    ((64, 96, 50), (48, 128, 50)),
    ((30, 77, 13), (2002, 15)),
]


@pytest.mark.parametrize(("shape", "other"), SHAPES)
def test_reshapes_and_their_composition(shape, other):
    there, back = chains.reshape(shape, other), chains.reshape(other, shape)
    flip = chains.reverse(other, [0])
    assert _isl(there).is_equal(_isl(there.simplify(prove=False)))
    composed = _isl(there).apply_range(_isl(back))
    assert composed.is_equal(_isl(there * back))
    assert (there * back).is_identity
    assert _isl(flip).apply_range(_isl(there)).is_equal(_isl(flip * there))


@pytest.mark.parametrize(("shape", "other"), SHAPES)
def test_inverse(shape, other):
    there = chains.reshape(shape, other)
    assert _isl(there.inverse()).is_equal(_isl(there).reverse())
    assert there.inverse().equals(chains.reshape(other, shape))


MAPS = [
    "(d0)[s0, s1] -> (d0 * 2 + s0 + s1 * 3 - 4), "
    "domain: d0 in [0, 4095], s0 in [0, 4], "
    "s1 in [0, 2], d0 * 2 + s0 + s1 * 3 in [4, 8192]",
    "(d0, d1)[s0] -> (s0, (d0 * 12 + d1) floordiv 5), domain: d0 in [0, 999], "
    "d1 in [0, 11], s0 in [0, 999], d0 - s0 in [0, 999]",
    "(d0)[s0] -> ((d0 + s0) floordiv 4), domain: d0 in [0, 9999], s0 in [0, 6], "
    "(d0 + s0) mod 4 in [1, 1]",
    "(d0)[s0] -> (d0 * 6 + s0 * 10), "
    "domain: d0 in [0, 500], s0 in [3, 99], s0 mod 7 in [5, 5]",
]


@pytest.mark.parametrize("text", MAPS)
def test_other_forms_and_inverses(text):
    m = IndexingMap.parse(text)
    truth = _isl(m)
    for form in (m.simplify(), m.drop_unused(), m.merge_ranges(), m.rescale()):
        assert _isl(form).is_equal(truth)
    assert _isl(m.inverse()).is_equal(truth.reverse())


@pytest.mark.parametrize("first", MAPS[:1] + MAPS[2:])
def test_composition(first):
    f, g = IndexingMap.parse(first), IndexingMap.parse(MAPS[0])
    assert _isl(f * g).is_equal(_isl(f).apply_range(_isl(g)))
    h = IndexingMap.parse(MAPS[2])
    left, right = functools.reduce(IndexingMap.compose, (f, g, h)), f * (g * h)
    assert _isl(left).is_equal(_isl(right))


# Drawn maps, with domains that nobody would enumerate


@st.composite
def _maps(draw, dims, results, ranges=1, runtimes=0):
    leaves = [dim(i) for i in range(dims)]
    leaves += [range_variable(i) for i in range(ranges)]
    leaves += [runtime_variable(i) for i in range(runtimes)]

    def bounds():
        lower = draw(st.sampled_from([0, 0, 0, -7, 3, -1000]))
        return Interval(lower, lower + draw(st.sampled_from([0, 1, 4, 63, 999, 10**6])))

    def expression(depth):
        return draw(drawn.expressions(leaves, depth=depth, kinds="//%%mM"))

    constraints = []
    for _ in range(draw(st.integers(0, 1))):
        lower = draw(st.integers(-50, 50))
        width = draw(st.sampled_from([0, 3, 1000]))
        constraints.append((expression(1), (lower, lower + width)))
    return IndexingMap(
        [bounds() for _ in range(dims)],
        [expression(draw(st.integers(0, 2))) for _ in range(results)],
        [bounds() for _ in range(ranges)],
        [bounds() for _ in range(runtimes)],
        constraints,
    )


ANY = st.one_of(_maps(1, 1), _maps(2, 1, 0), _maps(2, 2, 1), _maps(1, 2, 2, 1))


@given(ANY)
def test_drawn_forms_are_the_same_relation(m):
    truth = _isl(m)
    forms = [m.simplify(), m.simplify(prove=False), m.simplify(keep_points=True)]
    forms += [m.canonical(), m.drop_unused(), m.rescale(), m.merge_ranges()]
    for form in forms:
        assert _decided(lambda form=form: _isl(form).is_equal(truth)), str(form)
    if m.simplify().is_known_empty:
        assert truth.is_empty()


@given(ANY)
def test_drawn_inverses_are_the_reverse_relation(m):
    inverse = m.inverse()
    assert _decided(lambda: _isl(inverse).is_equal(_isl(m).reverse()))
    again = inverse.inverse()
    assert _decided(lambda: _isl(again).is_equal(_isl(m)))


@given(_maps(2, 2), _maps(2, 1))
def test_drawn_compositions_are_the_relation_applied(f, g):
    joined = f * g
    assert _decided(lambda: _isl(joined).is_equal(_isl(f).apply_range(_isl(g))))


@given(_maps(1, 1, 1), _maps(1, 1, 0), _maps(1, 1, 1))
def test_drawn_compositions_are_associative(f, g, h):
    left, right = (f * g) * h, f * (g * h)
    assert _decided(lambda: _isl(left).is_equal(_isl(right)))
    assert _decided(
        lambda: _isl(left).is_equal(_isl(f).apply_range(_isl(g)).apply_range(_isl(h)))
    )


@given(_maps(1, 1, 1), st.sampled_from([1, -1, 2, 6]))
def test_drawn_verdicts_are_those_of_the_library(m, step):
    moved = m.replace(results=[m.results[0] + step])
    same = _decided(lambda: _isl(m).is_equal(_isl(moved)))
    if m.equals(moved):
        assert same
    verdict = m.equivalent(moved, limit=2**14)
    assert verdict is None or verdict is same


@given(st.lists(_maps(2, 1, 1), min_size=1, max_size=3))
def test_drawn_hulls_hold_their_maps(maps):
    hull = IndexingMap.hull(maps, "several")
    for m in maps:
        assert _decided(lambda m=m: _isl(m).is_subset(_isl(hull)))
