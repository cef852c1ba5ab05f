"""What holds for every map, by brute force over random ones."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from indexing import brute_force, drawn

from xlaops.indexing import IndexingMap, Interval, Variable, range_variable
from xlaops.indexing.composition import identity_table, with_variables


def _again(m):
    """The map as if nothing were known of it."""
    return IndexingMap(m.dims, m.results, m.ranges, m.runtimes, m.constraints)


@given(drawn.maps())
def test_text_is_read_back(m):
    assert IndexingMap.parse(str(m), dims=len(m.dims), results=len(m.results)) == m or (
        m.is_known_empty
    )
    assert str(IndexingMap.parse(m.pretty())) == str(m)


@given(drawn.maps())
def test_simplified_map_is_the_same_function_of_the_same_domain(m):
    simple = m.simplify()
    assert brute_force.graph(simple) == brute_force.graph(m)
    if not simple.is_known_empty:
        assert _again(simple).simplify() == simple


@given(drawn.maps())
def test_kept_points_and_rules_alone_give_the_same_function(m):
    truth = brute_force.graph(m)
    assert brute_force.graph(m.simplify(keep_points=True)) == truth
    assert brute_force.graph(m.simplify(prove=False)) == truth


@given(drawn.maps())
def test_relation_and_points_are_those_of_brute_force(m):
    n = len(m.dims)
    rows = {(tuple(r[:n]), tuple(r[n:])) for r in m.relation().tolist()}
    assert rows == brute_force.relation(m)
    points, results = m.enumerate()
    found = zip(points.tolist(), results.tolist(), strict=True)
    assert {(tuple(p), tuple(r)) for p, r in found} == brute_force.graph(m)


@given(drawn.maps())
def test_other_forms_relate_the_same_elements(m):
    truth = brute_force.relation(m)
    for form in (m.drop_unused(), m.rescale(), m.merge_ranges(), m.canonical()):
        assert brute_force.relation(form) == truth
        assert len(form.ranges) <= len(m.ranges)
    assert m.equals(m.simplify())
    assert m.equals(m.canonical())


def _otherwise(data, m):
    """The map with its range variables in another order, moved and turned round."""
    count = len(m.ranges)
    places = data.draw(st.permutations(range(count)))
    ranges = [None] * count
    table = identity_table(m)
    for i, (place, v) in enumerate(zip(places, m.ranges, strict=True)):
        k = data.draw(st.integers(-3, 3))
        low, high = v.bounds
        s = range_variable(place)
        turned = data.draw(st.booleans())
        ranges[place] = (k - high, k - low) if turned else (low + k, high + k)
        table[range_variable(i).terms[0][0]] = k - s if turned else s - k
    ranges = tuple([Variable(Interval(*r)) for r in ranges])
    return with_variables(m, table, m.dims, ranges, m.runtimes)


@given(drawn.maps(ranges=3, runtimes=0), st.data())
def test_range_variables_have_no_order_and_no_direction(m, data):
    assume(not m.is_known_empty)
    other = _otherwise(data, m)
    assert brute_force.relation(other) == brute_force.relation(m)
    assert m.equals(other)
    assert m.canonical() == other.canonical()
    assert m.canonical().canonical() == m.canonical()


@given(drawn.maps())
def test_inverse_relates_the_same_elements(m):
    turned = {(b, a) for a, b in brute_force.relation(m)}
    inverse = m.inverse()
    assert brute_force.relation(inverse) == turned
    assert brute_force.relation(inverse.inverse()) == brute_force.relation(m)


@given(drawn.maps(dims=2, results=1))
def test_inverse_within_bounds(m):
    inverse = m.inverse([(0, 5)])
    assert brute_force.relation(inverse) == {
        (b, a) for a, b in brute_force.relation(m) if 0 <= b[0] <= 5
    }


@given(st.lists(drawn.maps(2, 1, ranges=1, runtimes=0), min_size=1, max_size=3))
def test_hull_relates_at_least_what_the_maps_do(maps):
    hull = IndexingMap.hull(maps, "too many maps")
    # It can be a box of billions of pairs.
    sizes = [v.bounds.upper - v.bounds.lower + 1 for v in hull.variables]
    assume(math.prod(sizes) < 100_000)
    truth = set().union(*map(brute_force.relation, maps))
    found = brute_force.relation(hull)
    assert truth <= found
    if hull.exact:
        assert found == truth
    else:
        assert hull.reasons == ("too many maps",)


def _joined(*relations):
    first, *others = relations
    for second in others:
        after = {}
        for b, c in second:
            after.setdefault(b, set()).add(c)
        first = {(a, c) for a, b in first for c in after.get(b, ())}
    return first


@given(drawn.maps(dims=2, results=2, ranges=1), drawn.maps(dims=2, ranges=1))
def test_composition_joins_the_relations(f, g):
    joined = _joined(brute_force.relation(f), brute_force.relation(g))
    composed = f * g
    assert brute_force.relation(composed) == joined
    assert len(composed.ranges) == len(f.ranges) + len(g.ranges)


@given(st.data())
def test_composition_is_associative(data):
    f, g, h = (
        data.draw(drawn.maps(dims=1, results=1, ranges=1, runtimes=0)) for _ in range(3)
    )
    left, right = (f * g) * h, f * (g * h)
    truth = _joined(*map(brute_force.relation, (f, g, h)))
    assert brute_force.relation(left) == brute_force.relation(right) == truth
    assert left.equivalent(right)


@given(drawn.maps(dims=2, results=1), drawn.maps(dims=2, results=1))
def test_equal_forms_relate_the_same_elements(a, b):
    same = brute_force.relation(a) == brute_force.relation(b)
    assert a.equivalent(b) is same
    if a.equals(b):
        assert same


@given(drawn.maps())
def test_evaluation_at_all_points_at_once(m):
    assume(not m.is_known_empty)
    names = brute_force.Text(str(m)).names
    bounds = [v.bounds for v in m.variables]
    grids = np.meshgrid(*[np.arange(a, b + 1) for a, b in bounds], indexing="ij")
    flat = [g.ravel() for g in grids]
    d, s = len(m.dims), len(m.dims) + len(m.ranges)
    inside = np.broadcast_to(m.contains(flat[:d], flat[d:s], flat[s:]), flat[0].shape)
    values = m.evaluate(flat[:d], flat[d:s], flat[s:])
    values = [np.broadcast_to(v, flat[0].shape) for v in values]
    found = {
        (tuple(int(f[i]) for f in flat), tuple(int(v[i]) for v in values))
        for i in np.flatnonzero(inside)
    }
    assert len(names) == len(flat)
    assert found == brute_force.graph(m)
