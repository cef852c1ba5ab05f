"""Every form in which maps are written, and errors that say where."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexing import drawn

from xlaops.indexing import IndexingMap, Interval, ParseError, parse_expression

LINE = (
    "(d0, d1)[s0]{rt0} -> (d0 * 2 + s0, d1 + rt0), domain: d0 in [0, 3], d1 in [0, 4], "
    "s0 in [0, 1], rt0 in [0, 2], d0 * 2 + s0 in [0, 5]"
)
DOCUMENT = """(d0, d1)[s0]{rt0} -> (d0 * 2 + s0, d1 + rt0),
domain:
d0 in [0, 3],
d1 in [0, 4],
s0 in [0, 1],
rt0 in [0, 2],
d0 * 2 + s0 in [0, 5]"""
FORMS = {
    "document": DOCUMENT,
    "no comma after the results": DOCUMENT.replace("),\n", ")\n"),
    "no commas between lines": DOCUMENT.replace(",\n", "\n"),
    "one comma missing": DOCUMENT.replace("[0, 4],", "[0, 4]"),
    "trailing comma": DOCUMENT + ",",
    "half open": (
        LINE.replace("[0, 3]", "[0, 4)")
        .replace("[0, 1]", "[0, 2)")
        .replace("[0, 5]", "[0, 6)")
    ),
    "is_simplified": LINE + ", is_simplified: true",
    "attribute": f'#xla.indexing_map<"{LINE}">',
    "attribute without namespace": f'indexing_map<"{LINE}">',
    "no spaces": LINE.replace(" ", "").replace("in[", " in[").replace("->", " -> "),
    "parentheses": LINE.replace("d0 * 2 + s0,", "((d0 * 2) + s0),"),
    "juxtaposed": LINE.replace("d0 * 2", "2d0"),
    "sign in front": LINE.replace("d1 + rt0", "-(-d1) + rt0"),
    "other order": LINE.replace("d1 + rt0", "rt0 + d1"),
    "lines of windows": DOCUMENT.replace("\n", "\r\n\t"),
    "spaces around": f"  \n{LINE}\n\t ",
    "attribute, spaces around": f' #xla.indexing_map < "\n{LINE} "> \n',
    "listing": LINE + "\nruntime variables:\nrt0: parameter(1); (d0, d1) -> ()",
    "replica id": LINE + "\nreplica id: (d0, d1) -> (d1)",
}


@pytest.mark.parametrize("form", FORMS)
def test_form_is_read(form):
    m = IndexingMap.parse(FORMS[form])
    assert m == IndexingMap.parse(LINE)
    assert str(m) == LINE
    assert m.pretty() == DOCUMENT


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("()[] -> ()", "() -> ()"),
        (
            "()[s0] -> (s0)\ndomain: s0 in [0, 3]",
            "()[s0] -> (s0), domain: s0 in [0, 3]",
        ),
        ("(d0)[]{rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [-2, -1]", None),
        ("(d0) -> ((d0 floorDiv 4) * 4), domain: d0 in [0, 9]", None),
        ("(d0) -> (d0 // 4, d0 % 4), domain: d0 in [0, 9]", None),
        ("(d0) -> (d0 ceildiv 4), domain: d0 in [0, 9]", None),
        ("(d0) -> (min(d0, 4), max(d0 * 2, 3)), domain: d0 in [0, 9]", None),
        ("(v0) -> (v0 floordiv 2 * -1), domain: v0 in [0, 9]", None),
        (
            "(th_x, bl_x)[chunk_id] -> (th_x + bl_x * 128 + chunk_id * 516096), "
            "domain: "
            "th_x in [0, 127], bl_x in [0, 1007], chunk_id in [0, 11]",
            None,
        ),
        ("(d1, d0) -> (d1), domain: d1 in [0, 1], d0 in [0, 2]", None),
    ],
)
def test_other_texts_are_read_back(text, printed):
    m = IndexingMap.parse(text)
    if printed is not None:
        assert str(m) == printed
    assert IndexingMap.parse(str(m)) == m
    assert IndexingMap.parse(m.pretty()) == m
    assert str(IndexingMap.parse(str(m))) == str(m)


def test_names_are_kept_and_do_not_count():
    named = IndexingMap.parse(
        "(th_x)[v] -> (th_x + v), domain: th_x in [0, 1], v in [0, 2]"
    )
    plain = IndexingMap.parse(
        "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 1], s0 in [0, 2]"
    )
    assert str(named) == (
        "(th_x)[v] -> (th_x + v), domain: th_x in [0, 1], v in [0, 2]"
    )
    assert [v.name for v in named.variables] == ["th_x", "v"]
    assert named == plain
    assert hash(named) == hash(plain)
    # A composition may bring one name twice; a text may not.
    again = IndexingMap.parse("(x)[v] -> (x, v), domain: x in [0, 9], v in [0, 1]")
    text = str(named * again)
    assert str(IndexingMap.parse(text)) == text


def test_minus_binds_tighter_than_division():
    # Read literally, the last of the document's examples is not d0.
    domain = ", domain: d0 in [0, 9], d1 in [0, 10]"
    literal = "(d0, d1) -> (-(-11d0 - d1 + 109) floordiv 11 + 9)" + domain
    meant = "(d0, d1) -> (-((-11d0 - d1 + 109) floordiv 11) + 9)" + domain
    assert str(IndexingMap.parse(meant).simplify()) == "(d0, d1) -> (d0)" + domain
    assert not IndexingMap.parse(literal).equals(IndexingMap.parse(meant))


def test_maps_without_a_function():
    empty = IndexingMap.parse("KNOWN EMPTY", dims=2, results=3, ranges=1)
    assert str(empty) == empty.pretty() == "KNOWN EMPTY"
    assert empty.is_known_empty
    assert [len(g) for g in (empty.dims, empty.ranges, empty.results)] == [2, 1, 3]
    assert empty == IndexingMap.empty(2, 3, 1)
    for text in ("UNDEFINED", "unknown indexing"):
        unknown = IndexingMap.parse(text, dims=2, results=3)
        assert str(unknown) == "UNDEFINED"
        assert unknown.is_undefined
        assert not unknown.exact
        assert (len(unknown.dims), len(unknown.results)) == (2, 3)


def test_entries_on_one_expression_are_intersected():
    text = "(d0) -> (d0), domain: d0 in [0, 9], d0 in [3, 20], d0 * 2 in [0, 30]"
    m = IndexingMap.parse(text + ", d0 * 2 in [8, 50], 4 in [0, 9]")
    assert m.dims[0].bounds == Interval(3, 9)
    assert m.constraints[0][1] == Interval(8, 30)
    assert IndexingMap.parse(text + ", 4 in [5, 9]").is_known_empty
    assert IndexingMap.parse("(d0) -> (d0), domain: d0 in [3, 2]").is_known_empty


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", r"'\(' must come here, got the end", 1, 1),
        ("(d0 -> (d0)", r"',' or '\)' must come here, got '->'", 1, 5),
        ("(d0, d0) -> (d0)", "'d0' must be declared once", 1, 6),
        ("(d0) (d0)", "'->' must come here", 1, 6),
        ("(d0) -> (d1), domain: d0 in [0, 1]", "'d1' must be declared", 1, 10),
        ("(d0) -> (d0)", "bounds of 'd0' must come here", 1, 13),
        ("(d0) -> (d0),\ndomain:\nd0 in [0; 1]", "',' must come here, got ';'", 3, 9),
        ("(d0) -> (d0 / 2), domain: d0 in [0, 1]", "must come here, got '/'", 1, 13),
        ("(d0) -> (d0 mod 0), domain: d0 in [0, 1]", "must be positive, got 0", 1, 13),
        ("(d0) -> (d0 // 0), domain: d0 in [0, 1]", "must not be 0", 1, 13),
        ("(d0) -> (4 mod d0), domain: d0 in [0, 1]", "must be constant", 1, 16),
        ("(d0) -> (d0) x", "end of the text must come here, got 'x'", 1, 14),
        ("(d0) -> (d0), domain: d0 in [0, 99999999999999999999]", "64 bits", 1, 33),
        ("(d0) -> (), domain: d0 in [0, 9223372036854775808]", "64 bits", 1, 28),
        ("(d0) -> (" + "(" * 100, "nest at most 60 deep", 1, 70),
        ("(d0) -> (d0" + " // 2" * 90 + ")", "must nest at most 64 deep", None, None),
        ("(_d) -> (_d)", "must begin with a letter", 1, 2),
        ("(mod) -> (1)", "the name of a variable must come here, got 'mod'", 1, 2),
        ("(d0) -> (d0\x00)", "got '.x00'", 1, 12),
        ("(d0) -> (d0), domain: d0 in [0, 1], is_simplifiedx", "must be decl", 1, 37),
        (
            "(d0) -> (d0), domain: d0 in [0, 1], is_simplified: true, is_simplified: 1",
            "end of the text must come here, got 'is_simplified'",
            1,
            58,
        ),
        ("(d0) -> (d0" + " * 2" * 90 + "), domain: d0 in [0, 1]", "64 bits", 1, 265),
    ],
)
def test_error_says_where(text, message, line, column):
    with pytest.raises(ParseError, match=message) as error:
        IndexingMap.parse(text)
    if line is not None:
        assert (error.value.line, error.value.column) == (line, column)
        lines = text.split("\n")
        assert error.value.position == column - 1 + sum(
            len(x) + 1 for x in lines[: line - 1]
        )
    assert f"line {error.value.line}, column {error.value.column}" in str(error.value)


def test_text_must_be_a_string():
    with pytest.raises(TypeError, match="text must be a string"):
        IndexingMap.parse(None)
    with pytest.raises(TypeError, match="text must be a string"):
        parse_expression(None)
    with pytest.raises(ParseError, match="'d' must be declared"):
        parse_expression("d0 + d")
    assert str(parse_expression(" d0 + 2 ")) == "d0 + 2"


@given(drawn.maps(), st.data())
def test_broken_texts_are_errors_or_maps(m, data):
    """No other error than ParseError, whatever comes."""
    text = str(m)
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.integers(0, len(text)))
        j = data.draw(st.integers(i, min(i + 5, len(text))))
        text = (
            text[:i]
            + data.draw(st.text("d0s1[](){},:->*+ modin9%", max_size=3))
            + text[j:]
        )
    try:
        again = IndexingMap.parse(text)
    except ParseError:
        return
    assert isinstance(again, IndexingMap)


def test_long_texts_are_read_in_no_time():
    rng = random.Random(0)
    names = [f"d{i}" for i in range(300)]
    terms = " + ".join(
        f"{rng.choice(names)} * {rng.randint(1, 9)}" for _ in range(20000)
    )
    domain = ", ".join(f"{n} in [0, 3]" for n in names)
    m = IndexingMap.parse(f"({', '.join(names)}) -> ({terms}), domain: {domain}")
    assert len(m.results[0].terms) == 300
    signs = IndexingMap.parse("(d0) -> (" + "-" * 100_001 + "d0), domain: d0 in [0, 1]")
    assert str(signs.results[0]) == "-d0"
    with pytest.raises(ParseError, match="64 bits"):
        IndexingMap.parse("(d0) -> (" + "9" * 100_000 + ")")


@pytest.mark.parametrize(
    "inside",
    [
        *("(" * 100_000, "-(" * 100_000, "min(d0, " * 100_000, "d0" + " * 2" * 100_000),
        *("d0" + " * d0" * 100_000, "d0" + " mod 7" * 100_000, "[" * 100_000),
        "d0" + " * (d0 mod 3 + d0 mod 5 + d0)" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_texts_are_refused_in_no_time(inside):
    with pytest.raises(ParseError):
        IndexingMap.parse(f"(d0) -> ({inside}), domain: d0 in [0, 1]")


def test_attributes_do_not_nest():
    text = 'indexing_map<"' * 2000 + LINE + '">' * 2000
    with pytest.raises(ParseError, match="must come here, got 'indexing_map'"):
        IndexingMap.parse(text)
