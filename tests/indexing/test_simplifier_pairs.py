"""Each identity of the simplifier, and rewrites that look like one and are none."""

import json
import pathlib

import pytest
from indexing import brute_force

from xlaops.indexing import IndexingMap

DATA = pathlib.Path(__file__).parent.parent / "data" / "indexing"
PAIRS = json.loads((DATA / "simplify.json").read_text())["pairs"]
CASES = json.loads((DATA / "cases.json").read_text())["cases"]
TEXTS = sorted(
    {
        text
        for case in CASES
        for text in (
            case["expected"]
            if isinstance(case["expected"], list)
            else [case["expected"]]
        )
    }
)


def _maps(pair):
    before = IndexingMap.parse(pair["before"])
    sizes = {"dims": len(before.dims), "results": len(before.results)}
    return before, IndexingMap.parse(pair["after"], ranges=len(before.ranges), **sizes)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_pair(pair):
    before, after = _maps(pair)
    if pair.get("expect") == "different":
        assert not before.equals(after)
        assert before.simplify() != after
        # Some differ at single points, and relate the same elements all the same.
        if brute_force.relation(before) != brute_force.relation(after):
            assert before.equivalent(after) is False
        return
    assert before.equals(after)
    assert before.canonical() == after.canonical()
    assert brute_force.relation(before.simplify()) == brute_force.relation(after)


# Those whose right side is the printed form, and not a form to compare only.
REWRITTEN = [
    pair
    for pair in PAIRS
    if pair.get("expect") != "different"
    and not pair["rule"].startswith(("U", "D5"))
    and pair["name"] != "reshape_round_trip_3d"
]


@pytest.mark.parametrize("pair", REWRITTEN, ids=lambda pair: pair["name"])
def test_simplified_text_is_that_of_the_pair(pair):
    before, after = _maps(pair)
    assert str(before.simplify()) == str(after)


BY_OPERATION = {
    "unused_range_variable": lambda m: m.drop_unused(),
    "unused_range_variable_with_own_constraint": lambda m: m.drop_unused(),
    "rescale_symbol": lambda m: m.rescale(),
    "merge_range_variables_equal_stride": lambda m: m.merge_ranges(),
    "merge_range_variables_mixed_radix": lambda m: m.merge_ranges(),
}


@pytest.mark.parametrize("name", BY_OPERATION)
def test_operation_on_range_variables_gives_the_text_of_the_pair(name):
    (pair,) = [p for p in PAIRS if p["name"] == name]
    before, after = _maps(pair)
    assert str(BY_OPERATION[name](before)) == str(after)


# The document's own examples, with the parentheses that the last of them needs.
DOCUMENT = [
    (
        "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], "
        "d1 in [0, 14]",
        "(d0, d1) -> (d0, d1)",
    ),
    (
        "(d0, d1, d2) -> ((100d0 + 10d1 + d2) floorDiv 100, ((100d0 + 10d1 + d2) mod "
        "100) floordiv 10, d2 mod 10), domain: d0 in [0, 9], d1 in [0, 9], "
        "d2 in [0, 9]",
        "(d0, d1, d2) -> (d0, d1, d2)",
    ),
    (
        "(d0, d1, d2) -> ((16d0 + 4d1 + d2) floordiv 8, (16d0 + 4d1 + d2) mod 8), "
        "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        "(d0, d1, d2) -> (d0 * 2 + (d1 * 4 + d2) floordiv 8, (d1 * 4 + d2) mod 8)",
    ),
    (
        "(d0, d1) -> (-((-11d0 - d1 + 109) floordiv 11) + 9), domain: d0 in [0, 9], "
        "d1 in [0, 10]",
        "(d0, d1) -> (d0)",
    ),
]


@pytest.mark.parametrize(("before", "after"), DOCUMENT)
def test_example_of_the_document(before, after):
    simple = IndexingMap.parse(before).simplify(prove=False)
    assert str(simple).partition(", domain:")[0] == after


@pytest.mark.parametrize(
    ("constraint", "bounds"),
    [
        ("d0 floordiv 4 in [2, 4]", (8, 19)),
        ("d0 + 7 in [2, 5]", (0, -2)),
        ("d0 - 7 in [2, 5]", (9, 12)),
        ("d0 * 3 in [4, 20]", (2, 6)),
        ("d0 * -3 in [-20, -4]", (2, 6)),
        ("d0 + s0 in [1, 23]", (0, 20)),
    ],
)
def test_constraint_becomes_a_bound_or_goes(constraint, bounds):
    text = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 20], s0 in [1, 3], "
    simple = IndexingMap.parse(text + constraint).simplify()
    assert simple.constraints == ()
    if bounds[0] > bounds[1]:
        assert simple.is_known_empty
    else:
        assert tuple(simple.dims[0].bounds) == bounds


@pytest.mark.parametrize("text", TEXTS)
def test_map_of_an_operation(text):
    m = IndexingMap.parse(text)
    if m.is_known_empty:
        assert str(m) == text
        return
    assert IndexingMap.parse(str(m)) == m
    assert IndexingMap.parse(m.pretty()) == m
    truth = {tuple(row) for row in m.relation().tolist()}
    simple = m.simplify()
    assert {tuple(row) for row in simple.relation().tolist()} == truth
    n = len(m.results)
    turned = {(*row[n:], *row[:n]) for row in m.inverse().relation().tolist()}
    assert turned == truth
