"""Maps: what they are made of, how they are composed, changed and asked."""

import copy
import itertools
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from indexing import brute_force

from xlaops.indexing import (
    IndexingMap,
    Interval,
    Owner,
    Table,
    Variable,
    dim,
    range_variable,
    runtime_variable,
)

D0, D1, S0, RT0 = dim(0), dim(1), range_variable(0), runtime_variable(0)
parse = IndexingMap.parse


# Making


def test_parts():
    m = IndexingMap(
        [4, (1, 3), Interval(0, 7), Variable(Interval(0, 1), "th_x")],
        [D0, 5],
        ranges=[2],
        runtimes=[3],
        constraints={D0 + D1: (0, 5), D0: (1, 9)},
    )
    assert str(m) == (
        "(d0, d1, d2, th_x)[s0]{rt0} -> (d0, 5), domain: d0 in [1, 3], d1 in [1, 3], "
        "d2 in [0, 7], th_x in [0, 1], s0 in [0, 1], rt0 in [0, 2], d0 + d1 in [0, 5]"
    )
    assert repr(m) == f"IndexingMap.parse({str(m)!r})"


def test_maps_are_values():
    a = IndexingMap([4, 4], [D0], constraints=[(D0 + D1, 5), (D0 - D1, 1)])
    b = IndexingMap([4, 4], [D0], constraints=[(D0 - D1, 1), (D0 + D1, 5)])
    assert a == b
    assert len({a, b, copy.copy(a), pickle.loads(pickle.dumps(a))}) == 1
    assert a != IndexingMap([4, 4], [D1], constraints=a.constraints)
    assert a != str(a)
    with pytest.raises(AttributeError, match="immutable"):
        a.dims = ()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: IndexingMap([2], [D1]),
            ValueError,
            "dimension variables must be among",
        ),
        (
            lambda: IndexingMap([2], [D0 // 2 + S0]),
            ValueError,
            "range variables must be",
        ),
        (lambda: IndexingMap([-1], []), ValueError, "dims must be >= 0, got -1"),
        (
            lambda: IndexingMap(["2"], []),
            TypeError,
            "dims must be variables, intervals",
        ),
        (
            lambda: IndexingMap([2], ["d0"]),
            TypeError,
            "must be an expression or an int",
        ),
        (
            lambda: IndexingMap([2], [D0], result_bounds=[2, 2]),
            ValueError,
            "one entry for each of 1",
        ),
        (
            lambda: Variable(Interval(0, 1), "mod"),
            ValueError,
            "name must be an identif",
        ),
        (
            lambda: Variable(Interval(0, 1), "a b"),
            ValueError,
            "name must be an identif",
        ),
        (lambda: Table([0.5]), TypeError, "values must be integers, got float64"),
        (
            lambda: Table(np.array([2**63], np.uint64)),
            ValueError,
            "values must fit 64 bits with a sign, got 9223372036854775808",
        ),
        (
            lambda: IndexingMap([9], [D0 * 2**62]).evaluate([np.arange(5)]),
            OverflowError,
            r"values must fit 64 bits: d0 \* 4611686018427387904",
        ),
        (
            lambda: IndexingMap([9], [], constraints={D0 * 2**62: 0}).contains(
                [np.arange(5)]
            ),
            OverflowError,
            "values must fit 64 bits",
        ),
        (
            lambda: Owner("x", (D0,), Table([[1]])),
            ValueError,
            "the table's 2 dimensions",
        ),
        (
            lambda: IndexingMap.identity([2]) * IndexingMap.identity([2, 3]),
            ValueError,
            "second must have one dimension for each of first's 1 results, got 2",
        ),
        (
            lambda: IndexingMap.identity([2]).evaluate([1, 2]),
            ValueError,
            "dims must have one value for each of 1 variables, got 2",
        ),
        (
            lambda: IndexingMap.identity([2]).evaluate([0.5]),
            TypeError,
            "dims must be integers, got 0.5",
        ),
        (
            lambda: IndexingMap.identity([2]).inverse([2, 3]),
            ValueError,
            "bounds must have one entry for each of 1 results, got 2",
        ),
        (
            lambda: IndexingMap.identity([2]).flat_relation([2], [2, 1]),
            ValueError,
            "shapes must have 1 and 1 dimensions",
        ),
        (
            lambda: IndexingMap.identity([2**20, 2**20]).relation(),
            ValueError,
            "must have at most 134217728 points, got 1099511627776",
        ),
        (
            lambda: IndexingMap([9], [D0 * 2**60]).relation(),
            OverflowError,
            "values must fit 64 bits",
        ),
        (
            lambda: IndexingMap.undefined([2], 1).relation(),
            ValueError,
            "map must not be undefined",
        ),
        (
            lambda: IndexingMap([2], [D0], [2]).ranges_to_dims([1]),
            ValueError,
            r"ranges must be in \[0, 1\), got 1",
        ),
        (
            lambda: IndexingMap([2], [D0]).dims_to_ranges([0, 0]),
            ValueError,
            "dims must differ",
        ),
        (
            lambda: IndexingMap([2], [D0]).compose("d0"),
            TypeError,
            "compose: second must be an IndexingMap, got str",
        ),
        (
            lambda: IndexingMap([2], [D0]).equivalent(2),
            TypeError,
            "equivalent: other must be an IndexingMap, got int",
        ),
        (
            lambda: IndexingMap.hull([D0], "a reason"),
            TypeError,
            "hull: maps must be an IndexingMap, got Expression",
        ),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


# Composition


def test_order_of_variables():
    first = parse(
        "(d0)[s0]{rt0} -> (d0 + rt0, s0), "
        "domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 1]"
    )
    second = parse(
        "(d0, d1)[s0]{rt0} -> (s0, d0, d1 + rt0), domain: d0 in [0, 4], d1 in [0, 2], "
        "s0 in [0, 5], rt0 in [0, 6]"
    )
    assert str(first * second) == (
        "(d0)[s0, s1]{rt0, rt1} -> (s0, d0 + rt1, s1 + rt0), domain: d0 in [0, 3], "
        "s0 in [0, 5], s1 in [0, 2], rt0 in [0, 6], rt1 in [0, 1]"
    )
    assert first.compose(second) == first * second


def test_results_are_held_to_the_second_domain():
    joined = IndexingMap([9], [D0 * 3]) * parse(
        "(d0) -> (d0 - 4), domain: d0 in [4, 13]"
    )
    assert str(joined) == "(d0) -> (d0 * 3 - 4), domain: d0 in [2, 4]"
    apart = IndexingMap([3], [D0]) * parse("(d0) -> (d0), domain: d0 in [5, 9]")
    assert apart.is_known_empty


def test_a_composition_that_is_shown_to_be_empty_has_the_results_of_the_second_map():
    # Even numbers only: that takes computing all of them to see.
    cut = parse(
        "(d0, d1) -> (d0), domain: d0 in [1, 3], d1 in [1, 3], "
        "(d0 * 4 + d1 * 6) mod 12 in [11, 11]"
    )
    empty = IndexingMap([3, 3], [D0 + 1, D1 + 1]) * cut
    assert empty.is_known_empty
    assert (len(empty.dims), len(empty.results)) == (2, 1)


def test_special_maps_absorb():
    identity = IndexingMap.identity([2, 3])
    empty, unknown = IndexingMap.empty(2, 2), IndexingMap.undefined([2, 3], 2, "sort")
    assert (identity * empty).is_known_empty
    assert (empty * identity).is_known_empty
    assert (empty * unknown).is_known_empty
    assert (unknown * identity).is_undefined
    assert (identity * unknown).is_undefined
    assert (identity * unknown).reasons == ("sort",)
    assert unknown.inverse().is_undefined
    assert empty.inverse().is_known_empty
    assert empty.relation().shape == (0, 4)
    assert [a.shape for a in empty.enumerate()] == [(0, 2), (0, 2)]
    assert empty.contains([0, 0]) is False
    for m in (empty, unknown):
        assert m.simplify() is m
        assert m.canonical() is m
        assert m.drop_unused() is m


def test_exactness_and_its_reasons():
    exact = IndexingMap.identity([4])
    loose = exact.widened("the padding value is read in the padding only")
    assert exact.exact
    assert not loose.exact
    assert loose == exact
    for m in (loose * exact, exact * loose, loose.inverse(), loose.simplify()):
        assert m.reasons == loose.reasons
    assert (loose * loose.widened("other")).reasons == (*loose.reasons, "other")


def test_what_is_too_deep_becomes_unknown():
    step = parse(
        "(d0) -> (min((d0 * 7) floordiv 3, d0 * d0) mod 1000003), "
        "domain: d0 in [0, 1000002]"
    )
    m = step
    for _ in range(60):
        m = m * step
    assert m.is_undefined
    assert m.reasons == ("expressions nest too deep",)


def test_results_bounds_are_relied_on():
    # Nothing but the bounds says that these results are indices of 6.
    odd = (D0 * D0 * 5 + 3) % 7
    told = IndexingMap([6], [odd], result_bounds=[6])
    untold = IndexingMap([6], [odd])
    cut = IndexingMap.identity([6])
    assert (told * cut).constraints == ()
    assert len((untold.compose(cut)).constraints) <= 1
    assert told.simplify().result_bounds == (Interval(0, 5),)


# Runtime variables


def test_owners_travel_with_their_variables():
    first = IndexingMap(
        [4],
        [D0 + RT0],
        runtimes=[Variable(Interval(0, 2), "", Owner("i", (D0,)))],
    )
    second = IndexingMap(
        [6],
        [D0 + RT0],
        runtimes=[Variable(Interval(0, 5), "", Owner("j", (D0 * 2,)))],
    )
    joined = first * second
    assert [v.owner.source for v in joined.runtimes] == ["j", "i"]
    # The index of j's element is where first leads, with first's own variable moved.
    owner, index = joined.owner(0)
    assert owner.source == "j"
    assert str(index) == (
        "(d0){rt0, rt1} -> (d0 * 2 + rt1 * 2), domain: d0 in [0, 3], rt0 in [0, 5], "
        "rt1 in [0, 2]"
    )
    assert IndexingMap([2], [D0], runtimes=[2]).owner(0) is None


def test_one_value_is_one_variable():
    def shifted(source):
        return IndexingMap(
            [4], [D0 + RT0], runtimes=[Variable(Interval(0, 2), "", Owner(source))]
        )

    wide = shifted("i").replace(dims=[7])
    assert str((shifted("i") * wide).drop_unused()) == (
        "(d0){rt0} -> (d0 + rt0 * 2), domain: d0 in [0, 3], rt0 in [0, 2]"
    )
    assert len((shifted("j") * wide).drop_unused().runtimes) == 2
    assert shifted("i") != shifted("j")


def test_tables_are_read():
    table = Table([[4, 0], [2, 2], [9, 1]])
    m = IndexingMap(
        [3, 2],
        [RT0, D1],
        runtimes=[Variable(Interval(0, 4), "", Owner("x", (D0, D1), table))],
    )
    assert m.evaluate([1, 0]) == (2, 0)
    # 9 is beyond the bounds: that point is none of the domain's.
    pairs = [[0, 0, 4, 0], [0, 1, 0, 1], [1, 0, 2, 0], [1, 1, 2, 1], [2, 1, 1, 1]]
    assert m.relation().tolist() == pairs
    rows, cols = m.flat_relation([3, 2], [5, 2])
    assert list(zip(rows.tolist(), cols.tolist(), strict=True)) == [
        (0, 8),
        (1, 1),
        (2, 4),
        (3, 5),
        (5, 3),
    ]
    turned = m.inverse().relation()
    assert sorted(turned[:, [2, 3, 0, 1]].tolist()) == pairs
    # Through a composition, and out of the table: no such point.
    before = IndexingMap([4], [D0 * 2, 1])
    assert (before * m).relation().tolist() == [[0, 0, 1], [1, 1, 1]]
    assert m.drop_unused().runtimes == m.runtimes


def test_points_where_a_table_has_nothing():
    table = Table([2**62, 8, 9])
    m = IndexingMap(
        [5],
        [RT0 * 8],
        runtimes=[Variable(Interval(0, 2**62), "", Owner("x", (D0,), table))],
    )
    # More than 64 bits, as integers that are no arrays may have.
    assert m.evaluate([0]) == (2**65,)
    inside = [m.contains([i]) for i in (-1, 0, 2, 3, 10**30)]
    assert inside == [False, True, True, False, False]
    assert m.contains([np.arange(5)]).tolist() == [True, True, True, False, False]
    for at in (-1, 3, np.arange(4)):
        with pytest.raises(IndexError, match="table must be read within its shape"):
            m.evaluate([at])


def test_a_table_that_is_read_where_another_one_says():
    first = Owner("x", (runtime_variable(1),), Table([7, 8, 9]))
    second = Owner("y", (D0,), Table([2, 0, 5]))
    bounds = Interval(0, 9)
    m = IndexingMap(
        [3], [RT0], runtimes=[Variable(bounds, "", o) for o in (first, second)]
    )
    assert m.relation().tolist() == [[0, 9], [1, 7]]
    assert m.evaluate([0]) == (9,)
    assert m.contains([np.arange(3)]).tolist() == [True, True, False]


def test_tables_of_another_process_are_equal():
    made = "Table([[3, 1], [2, 5]])"
    code = (
        "import pickle, sys; from xlaops.indexing import Table; "
        f"sys.stdout.buffer.write(pickle.dumps({made}))"
    )
    # Hashes of bytes differ from process to process.
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    child = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        check=True,
        timeout=100,
    )
    table, other = pickle.loads(child.stdout), Table([[3, 1], [2, 5]])
    assert table == other
    assert hash(table) == hash(other)
    assert not table.values.flags.writeable


def test_an_index_of_integers():
    owner = Owner("x", (0, D0), Table([[3, 4]]))
    m = IndexingMap([2], [RT0], runtimes=[Variable(Interval(0, 9), "", owner)])
    assert m.relation().tolist() == [[0, 3], [1, 4]]


def _reading(results, dims, ranges, index, table, bounds=(-1, 5), constraints=()):
    """A map with one runtime variable, which is read from a table."""
    owner = Owner(str(table), index, Table(table))
    return IndexingMap(
        dims, results, ranges, [Variable(Interval(*bounds), "", owner)], constraints
    )


def _pairs(m, table, index, relate):
    """The relation of such a map, by loops over its dimensions and range variables."""
    found = set()
    table = np.array(table)
    for point in itertools.product(
        *[range(v.bounds.lower, v.bounds.upper + 1) for v in m.dims + m.ranges]
    ):
        at = index(*point)
        if all(0 <= i < n for i, n in zip(at, table.shape, strict=True)):
            value = int(table[at])
            low, high = m.runtimes[0].bounds
            results = relate(*point, value) if low <= value <= high else None
            if results is not None:
                found.add((point[: len(m.dims)], results))
    return found


READING = {
    # Unused, but not all indices are in the table.
    "out of the table": (
        lambda: _reading([D0], [4], [], (D0 - 1,), [3, 1]),
        [3, 1],
        lambda d: (d - 1,),
        lambda d, rt: (d,),
    ),
    # What is solved for the dimension says where the dimension is read.
    "offset by its own element": (
        lambda: _reading([D0 + RT0], [4], [], (D0,), [3, 1, 0, 2]),
        [3, 1, 0, 2],
        lambda d: (d,),
        lambda d, rt: (d + rt,),
    ),
    # The range variable is in no result, and yet not any of its values will do.
    "range of an index": (
        lambda: _reading(
            [D0], [9], [3], (S0 // 2,), [4, 1], constraints={D0 - S0 - RT0: (-1, 0)}
        ),
        [4, 1],
        lambda d, s: (s // 2,),
        lambda d, s, rt: (d,) if -1 <= d - s - rt <= 0 else None,
    ),
    "range of an index with a constraint": (
        lambda: _reading([RT0], [2], [3], (S0,), [4, 1, 2], constraints={S0 % 2: 1}),
        [4, 1, 2],
        lambda d, s: (s,),
        lambda d, s, rt: (rt,) if s % 2 == 1 else None,
    ),
}


@pytest.mark.parametrize("name", READING)
def test_forms_of_maps_that_read_tables(name):
    make, table, index, relate = READING[name]
    m = make()
    truth = _pairs(m, table, index, relate)
    assert truth
    forms = (m, m.simplify(), m.drop_unused(), m.canonical(), m.inverse().inverse())
    n = len(m.dims)
    for form in (*forms, m.merge_ranges(), m.rescale()):
        rows = form.relation().tolist()
        assert {(tuple(r[:n]), tuple(r[n:])) for r in rows} == truth
    k = len(m.results)
    turned = m.inverse().relation().tolist()
    assert {(tuple(r[k:]), tuple(r[:k])) for r in turned} == truth


def test_values_that_nobody_knows_must_be_given():
    m = IndexingMap([4], [D0 + RT0], runtimes=[3])
    assert m.evaluate([1], (), [2]) == (3,)
    with pytest.raises(
        ValueError, match="runtimes must be given, for rt0 has no table"
    ):
        m.evaluate([1])


# Evaluation


def test_bounds_are_not_looked_at_when_evaluating():
    m = parse(
        "(d0)[s0] -> (d0 * 2 + s0), "
        "domain: d0 in [0, 3], s0 in [0, 1], d0 + s0 in [1, 3]"
    )
    assert m.evaluate([100], [7]) == (207,)
    assert m.contains([0], [1])
    assert not m.contains([0], [0])
    assert not m.contains([4], [0])
    grid = np.arange(5)
    assert m.evaluate([grid], [1])[0].tolist() == [1, 3, 5, 7, 9]
    assert m.contains([grid], [1]).tolist() == [True, True, True, False, False]


def test_blocks_of_large_domains():
    m = IndexingMap([700, 900], [(D0 * 900 + D1) // 7], constraints={D0 - D1: (0, 3)})
    rows = m.relation()
    d0, d1 = np.meshgrid(np.arange(700), np.arange(900), indexing="ij")
    keep = (d0 - d1 >= 0) & (d0 - d1 <= 3)
    truth = np.stack([d0[keep], d1[keep], (d0[keep] * 900 + d1[keep]) // 7], 1)
    assert np.array_equal(rows, truth)
    points, results = m.enumerate()
    assert np.array_equal(np.concatenate([points, results], 1), truth)


def test_results_outside_of_the_array_are_left_out():
    m = IndexingMap([4], [D0 + S0 - 1], ranges=[3])
    rows, cols = m.flat_relation([4], [4])
    dense = np.zeros((4, 4), int)
    dense[rows, cols] = 1
    assert dense.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]


def test_positions_in_arrays_with_too_many_pairs():
    m = IndexingMap([(2**31, 2**31 + 2)], [D0])
    assert m.flat_relation([2**32], [2**30])[0].tolist() == []
    with pytest.raises(OverflowError, match=r"fewer than 2\*\*63 pairs of elements"):
        m.flat_relation([2**32], [2**32])


# Variables


def test_kinds_are_converted():
    m = parse(
        "(d0)[s0, s1]{rt0} -> (d0, s0, s1 + rt0), domain: d0 in [0, 1], s0 in [0, 2], "
        "s1 in [0, 3], rt0 in [0, 4]"
    )
    assert str(m.ranges_to_dims()) == (
        "(d0, d1, d2, d3) -> (d0, d1, d2 + d3), domain: d0 in [0, 1], d1 in [0, 2], "
        "d2 in [0, 3], d3 in [0, 4]"
    )
    assert str(m.ranges_to_dims([1])) == (
        "(d0, d1)[s0]{rt0} -> (d0, s0, d1 + rt0), domain: d0 in [0, 1], d1 in [0, 3], "
        "s0 in [0, 2], rt0 in [0, 4]"
    )
    back = m.ranges_to_dims([1]).dims_to_ranges([1])
    assert brute_force.relation(back) == brute_force.relation(m)
    assert str(m.select_results([2, 0])).startswith(
        "(d0)[s0, s1]{rt0} -> (s1 + rt0, d0)"
    )


def test_unused_variables_go_with_what_is_only_theirs():
    m = parse(
        "(d0)[s0, s1, s2] -> (d0, s1), "
        "domain: d0 in [0, 4], s0 in [0, 9], s1 in [0, 2], "
        "s2 in [0, 5], s0 + s2 in [3, 4]"
    )
    assert str(m.drop_unused()) == (
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [0, 2]"
    )
    # No value of s0: the constraint must not be dropped.
    never = parse(
        "(d0)[s0] -> (d0), domain: d0 in [0, 4], s0 in [0, 9], s0 * s0 in [2, 3]"
    )
    assert never.drop_unused().relation().size == 0
    # Some value of s0 for each d0, within limits.
    some = parse(
        "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 2], d0 + s0 in [4, 6]"
    )
    assert str(some.drop_unused()) == "(d0) -> (d0), domain: d0 in [2, 6]"
    wide = parse("(d0, d1) -> (d1), domain: d0 in [0, 9], d1 in [0, 3]")
    assert str(wide.drop_unused(dims=True)) == "(d0) -> (d0), domain: d0 in [0, 3]"
    assert wide.drop_unused() == wide


def test_points_can_be_kept():
    m = parse("(d0, d1) -> (d0 * 9 + d1), domain: d0 in [0, 0], d1 in [0, 8]")
    assert m.simplify(keep_points=True) == m
    assert str(m.simplify()) == "(d0, d1) -> (d1), domain: d0 in [0, 0], d1 in [0, 8]"
    assert IndexingMap.identity([1, 4]).results == (D0, D1)
    assert IndexingMap.identity([1, 4]).is_identity
    assert IndexingMap.identity([1, 4]).simplify().is_identity


# Comparison


def test_range_variables_may_be_others():
    a = parse(
        "(d0)[s0, s1] -> (s1, s0 * 2 + d0), "
        "domain: d0 in [0, 1], s0 in [1, 3], s1 in [0, 4]"
    )
    b = parse(
        "(d0)[s0, s1] -> (s0, d0 - s1 * 2 + 6), "
        "domain: d0 in [0, 1], s0 in [0, 4], s1 in [0, 2]"
    )
    assert brute_force.relation(a) == brute_force.relation(b)
    assert a != b
    assert a.equals(b)
    assert a.equivalent(b) is True


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # one in the other's place, and turned round inside of a remainder
        (
            "()[s0, s1] -> (s0 * 2 + s1 * 9), domain: s0 in [0, 1], s1 in [0, 1]",
            "()[s0, s1] -> (s0 * 9 + s1 * 2), domain: s0 in [0, 1], s1 in [0, 1]",
        ),
        (
            "(d0)[s0] -> ((d0 * 6 + s0 * 3) mod 7), domain: d0 in [0, 2], s0 in [0, 1]",
            "(d0)[s0] -> ((d0 * 6 + s0 * 4 + 3) mod 7), domain: d0 in [0, 2], "
            "s0 in [0, 1]",
        ),
        # both turned round
        (
            "()[s0, s1] -> (s0 * s1, s0 * 5 + s1), domain: s0 in [0, 2], s1 in [0, 3]",
            "()[s0, s1] -> (s0 * s1 - s0 * 3 - s1 * 2 + 6, s0 * -5 - s1 + 13), "
            "domain: s0 in [0, 2], s1 in [0, 3]",
        ),
        # relating nothing, with or without range variables
        (
            "(d0)[s0] -> (d0), domain: d0 in [0, 4], s0 in [0, 2], d0 * 2 in [3, 3]",
            "(d0) -> (d0), domain: d0 in [2, 1]",
        ),
    ],
)
def test_forms_of_one_relation_are_equal(a, b):
    a, b = parse(a), parse(b)
    assert brute_force.relation(a) == brute_force.relation(b)
    assert a.equals(b)
    assert a.canonical() == b.canonical()
    assert a.canonical().canonical() == a.canonical()


def test_equivalence_is_proved_or_not():
    a = parse("(d0) -> ((d0 * d0) mod 8), domain: d0 in [0, 99]")
    b = parse("(d0) -> (((d0 mod 8) * (d0 mod 8)) mod 8), domain: d0 in [0, 99]")
    assert a.equivalent(b) is True
    assert a.equivalent(b, limit=10) is None
    assert a.equivalent(IndexingMap.identity([100])) is False
    assert a.equivalent(IndexingMap.identity([100, 1])) is False
    unknown = IndexingMap.undefined([100], 1)
    assert a.equivalent(unknown) is None
    assert unknown.equivalent(a) is None
    assert unknown.equivalent(unknown) is None
    runtime = IndexingMap(
        [4], [RT0], runtimes=[Variable(Interval(0, 3), "", Owner("i"))]
    )
    other = IndexingMap([4], [RT0], runtimes=[Variable(Interval(0, 3), "", Owner("j"))])
    assert runtime.equivalent(other) is None


# Inverses, by the rules of the document


@pytest.mark.parametrize(
    ("there", "back"),
    [
        # strided slice and padding between elements
        (
            "(d0) -> (d0 * 7 + 3), domain: d0 in [0, 2]",
            "(d0) -> ((d0 - 3) floordiv 7), "
            "domain: d0 in [3, 17], (d0 - 3) mod 7 in [0, 0]",
        ),
        # collapse and expand
        (
            "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
            "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
        ),
        # linearise and delinearise
        (
            "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), "
            "domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
            "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), "
            "domain: d0 in [0, 3], d1 in [0, 7]",
        ),
        # broadcast and its reverse
        (
            "(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]",
            "(d0)[s0, s1] -> (s0, d0, s1), "
            "domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]",
        ),
        # a matrix product's right operand
        (
            "(d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 4], "
            "d2 in [0, 5], s0 in [0, 6]",
            "(d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 6], "
            "d2 in [0, 5], s0 in [0, 4]",
        ),
        # a window
        (
            "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 3], s0 in [0, 2], "
            "d0 * 2 + s0 in [1, 8]",
            "(d0)[s0] -> ((d0 - s0 + 1) floordiv 2), "
            "domain: d0 in [0, 7], s0 in [0, 2], "
            "(d0 - s0 + 1) mod 2 in [0, 0], d0 - s0 in [-1, 6]",
        ),
        # all elements before, and all after
        (
            "(d0)[s0] -> (s0), domain: d0 in [0, 4], s0 in [0, 4], d0 - s0 in [0, 4]",
            "(d0)[s0] -> (s0), domain: d0 in [0, 4], s0 in [0, 4], d0 - s0 in [-4, 0]",
        ),
        ("(d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 2]", None),
    ],
)
def test_inverse(there, back):
    m = parse(there)
    if back is not None:
        assert m.inverse().equals(parse(back))
        assert parse(back).inverse().equals(m)
    truth = {(b, a) for a, b in brute_force.relation(m)}
    assert brute_force.relation(m.inverse()) == truth


def test_inverse_keeps_owners():
    m = IndexingMap(
        [7],
        [D0 - RT0],
        runtimes=[Variable(Interval(0, 4), "", Owner("i", (D0 // 7,)))],
        constraints={D0 - RT0: (0, 2)},
    )
    inverse = m.inverse()
    assert (
        str(inverse) == "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 4]"
    )
    assert inverse.runtimes[0].owner.source == "i"


# Bounds at the ends of 64 bits

LEAST, MOST = Interval.ANY
WIDE = [
    "(d0)[s0] -> (d0 + s0), domain: d0 in [LEAST, MOST], s0 in [LEAST, MOST], "
    "d0 + s0 in [LEAST, MOST]",
    "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [-5, 5], d0 + s0 in [2, MOST]",
    "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [-5, MOST], "
    "d0 * 2 - s0 in [2, MOST]",
    "(d0) -> (d0 * MOST + MOST), domain: d0 in [LEAST, MOST]",
    "(d0) -> (d0), domain: d0 in [LEAST, MOST], d0 * MOST + MOST in [3, MOST]",
    "(d0)[s0, s1] -> (s0 * 4 + s1, d0 * MOST), domain: d0 in [5, MOST], "
    "s0 in [0, MOST], s1 in [0, MOST], (d0 + s0) floordiv MOST in [1, MOST]",
]


@pytest.mark.parametrize("text", WIDE)
def test_wide_bounds_are_kept_or_become_unknown(text):
    m = parse(text.replace("LEAST", str(LEAST)).replace("MOST", str(MOST)))
    simple = m.simplify()
    near = [LEAST, LEAST + 1, -1, 0, 1, 5, MOST - 1, MOST]
    dims = [n for n in near if n in m.dims[0].bounds]
    for d in dims:
        for s in near:
            if not all(s in v.bounds for v in m.ranges):
                continue
            point = [d], [s] * len(m.ranges)
            assert simple.contains(*point) == m.contains(*point)
            if m.contains(*point):
                assert simple.evaluate(*point) == m.evaluate(*point)
    for form in (m.canonical(), m.drop_unused(), m.rescale(), m.merge_ranges()):
        assert len(form.dims) == 1
    inverse = m.inverse()
    assert inverse.is_undefined == ("bounds do not fit 64 bits" in inverse.reasons)
    hull = IndexingMap.hull([m, m.replace(results=[7] * len(m.results))], "several")
    assert not hull.exact


def test_compositions_beyond_64_bits_are_unknown():
    # The constraint that is left says more than an interval of 64 bits can.
    first = IndexingMap([(-5, 5)], [D0 * 2**62 * 4 + 2**70])
    second = IndexingMap([Interval.ANY], [D0], constraints={D0 * 3: (0, MOST)})
    joined = first * second
    assert joined.is_undefined or all(
        joined.contains([d]) == second.contains(first.evaluate([d]))
        for d in range(-5, 6)
    )
    moved = IndexingMap([(0, 2**40)], [D0 * 2**30]).compose(
        IndexingMap([Interval.ANY], [D0 * 2**62])
    )
    assert moved.evaluate([3]) == (3 * 2**92,)
    assert moved.inverse().is_undefined
