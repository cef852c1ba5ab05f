"""Random maps that are small enough for brute force."""

from hypothesis import strategies as st

from xlaops.indexing import (
    IndexingMap,
    Interval,
    dim,
    maximum,
    minimum,
    range_variable,
    runtime_variable,
)

FACTORS = st.sampled_from([1, 2, 3, 4, 5, 6, 8, 9, 12])
COEFFICIENTS = st.sampled_from([-12, -6, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 8, 12])


@st.composite
def intervals(draw, most=6):
    lower = draw(st.sampled_from([0, 0, 0, 1, -3, 2, -7]))
    return Interval(lower, lower + draw(st.integers(0, most - 1)))


@st.composite
def sums(draw, atoms):
    total = draw(st.integers(-13, 13)) * 1
    for _ in range(draw(st.integers(1, 3))):
        total = draw(st.sampled_from(atoms)) * draw(COEFFICIENTS) + total
    return total


@st.composite
def expressions(draw, leaves, depth=2, linear=False, kinds="//%%/%mM*"):
    """Sums of variables and, unless ``linear``, of what is made of such sums."""
    atoms = list(leaves)
    if not linear:
        for _ in range(draw(st.integers(0, depth))):
            inside = draw(sums(atoms))
            kind = draw(st.sampled_from(kinds))
            if kind == "/":
                atoms.append(inside // draw(FACTORS))
            elif kind == "%":
                atoms.append(inside % draw(FACTORS))
            elif kind == "*":
                atoms.append(inside * draw(st.sampled_from(leaves)))
            else:
                other = draw(sums(leaves))
                atoms.append((minimum if kind == "m" else maximum)(inside, other))
    return draw(sums(atoms))


@st.composite
def constraints(draw, leaves):
    entries = []
    for _ in range(draw(st.integers(0, 2))):
        expression = draw(expressions(leaves, depth=1))
        m = draw(FACTORS)
        if draw(st.booleans()):
            expression = expression % m
        lower = draw(st.integers(-6, 12))
        entries.append(
            (expression, (lower, lower + draw(st.sampled_from([0, 1, 5, 20]))))
        )
    return entries


@st.composite
def maps(draw, dims=None, results=None, ranges=2, runtimes=1):
    d = draw(st.integers(1, 3)) if dims is None else dims
    s, rt = draw(st.integers(0, ranges)), draw(st.integers(0, runtimes))
    most = 6 if d + s + rt <= 3 else 3
    leaves = [dim(i) for i in range(d)]
    leaves += [range_variable(i) for i in range(s)]
    leaves += [runtime_variable(i) for i in range(rt)]
    count = draw(st.integers(0, 2)) if results is None else results
    linear = draw(st.integers(0, 2)) == 0
    return IndexingMap(
        [draw(intervals(most)) for _ in range(d)],
        [draw(expressions(leaves, linear=linear)) for _ in range(count)],
        [draw(intervals(most)) for _ in range(s)],
        [draw(intervals(most)) for _ in range(rt)],
        draw(constraints(leaves)),
    )
