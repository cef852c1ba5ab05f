"""The integer set library as a second oracle, for domains too large to enumerate."""

import functools
import re

import pytest
from indexing import chains

from xlaops.indexing import IndexingMap

isl = pytest.importorskip("islpy")


def _isl(m):
    """A map as isl's relation of dimensions and results."""
    from xlaops.indexing.printing import map_parts

    head, domain = map_parts(m)
    head, _, results = head.partition(" -> ")
    groups = re.fullmatch(r"\(([^)]*)\)(?:\[([^\]]*)\])?(?:\{([^}]*)\})?", head)
    d, s, rt = (g or "" for g in groups.groups())
    inner = ", ".join(g for g in (s, rt) if g)
    entries = [
        re.fullmatch(r"(.*) in \[(-?\d+), (-?\d+)\]", e).groups() for e in domain
    ]
    body = " and ".join(f"{a} <= {_floors(e)} <= {b}" for e, a, b in entries) or "true"
    if inner:
        body = f"exists {inner}: {body}"
    outputs = [f"o{i}" for i in range(len(m.results))]
    equal = [
        f"o{i} = {_floors(str(e))}" for i, e in enumerate(_texts(results), start=0)
    ]
    condition = (
        " and ".join([*equal, body])
        if not inner
        else (f"exists {inner}: " + " and ".join([*equal, body.partition(": ")[2]]))
    )
    return isl.Map(f"{{ [{d}] -> [{', '.join(outputs)}] : {condition} }}")


def _texts(results):
    parts, depth, start = [], 0, 1
    for i, c in enumerate(results):
        depth += (c == "(") - (c == ")")
        if (c == "," and depth == 1) or (c == ")" and depth == 0):
            parts.append(results[start:i].strip())
            start = i + 1
    return [p for p in parts if p]


def _floors(text):
    """isl's way to write the quotients and remainders of a text."""
    operand = r"(\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)|\w+)"
    while " floordiv " in text:
        text = re.sub(operand + r" floordiv (\d+)", r"floor(\1/\2)", text, count=1)
    return text.replace(" mod ", " % ")


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
