"""Shapes and layouts: text, constructors, properties and errors."""

import time
from typing import NamedTuple, get_type_hints

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaops.types import Layout, Shape, SplitConfig, Tile

ARRAY_TYPES = ["pred", "s4", "s8", "u32", "bf16", "f32", "f8e4m3b11fnuz", "c128", "u1"]

# Printed by XLA in exactly this form.
CANONICAL_TEXTS = [
    "pred[]",
    "f32[2,3]{1,0}",
    "f32[2,3]",
    "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}",
    "s4[16]{0:E(4)}",
    "u32[]{:T(256)}",
    "f32[]{:S(2)}",
    "f32[<=10,3]{1,0}",
    "f32[?,3]{1,0}",
    "f32[<=3]{0:T(4)M(8)}",
    "f32[4]{0:T(2)(*,3)}",
    "f32[4]{0:L(3)E(32)S(5)M(123)}",
    "f32[4,2]{0,1:SC(0:2)(1:0,1)}",
    "f32[4]{0:#(u8)}",
    "f32[4]{0:*(u16)}",
    "f32[3]{0:T()}",
    "f32[2,3,4,5]{3,2,1,0:T(42,123)(4,5)L(100)E(42)}",
    "f32[2,2,2]{0,1,2:D(D,C+~,S~)}",
    "f8e4m3b11fnuz[0]{0}",
    "f32[9223372036854775807]{0}",
    "token[]",
    "opaque[]",
    "()",
    "((), ())",
    "(f32[2]{0}, (s32[], pred[]))",
    "b(f32[2]{0})",
    "(b(s8[2]), token[])",
    "(f32[], f32[], f32[], f32[], f32[], /*index=5*/s32[2])",
    "f32[1,1]{1,0:T(8,128)L(1024)#(u32)*(u16)E(4)S(5)SC(1:3)M(1024)}",
]


def layouts(rank):
    unsigned = st.sampled_from([None, "u8", "u32"])
    size = st.integers(0, 2**40)
    tile = st.lists(st.one_of(size, st.just(Tile.COMBINE_DIMENSION)), max_size=3)
    level = st.sampled_from(["D", "C", "S", "C+", "S~", "D+~"])
    split = st.builds(
        SplitConfig, st.integers(0, max(rank - 1, 0)), st.lists(size, max_size=3)
    )
    return st.builds(
        Layout,
        st.permutations(range(rank)),
        tiles=st.lists(tile.map(tuple).map(Tile), max_size=3),
        memory_space=st.integers(0, 9),
        element_size_in_bits=st.sampled_from([0, 1, 2, 4, 32]),
        tail_padding_alignment_in_elements=st.sampled_from([1, 2, 1024]),
        index_primitive_type=unsigned,
        pointer_primitive_type=unsigned,
        dim_level_types=st.one_of(
            st.just(()), st.lists(level, min_size=rank, max_size=rank)
        ),
        split_configs=st.lists(split, max_size=1) if rank else st.just(()),
        dynamic_shape_metadata_prefix_bytes=st.sampled_from([0, 1024]),
    )


@st.composite
def arrays(draw):
    rank = draw(st.integers(0, 4))
    size = st.integers(0, 2**63 - 1)
    dynamic = draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
    sizes = [
        draw(st.one_of(size, st.just(Shape.UNBOUNDED)) if flag else size)
        for flag in dynamic
    ]
    layout = draw(st.one_of(st.none(), layouts(rank)))
    name = draw(st.sampled_from(ARRAY_TYPES))
    return Shape.array(name, sizes, layout=layout, dynamic=dynamic)


def shapes():
    leaves = st.one_of(
        arrays(),
        st.just(Shape.token()),
        st.just(Shape.opaque()),
        arrays().map(Shape.buffer),
    )
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=7).map(Shape.tuple), max_leaves=9
    )


def check_shape_or_value_error(text):
    message = ""
    try:
        shape = Shape.parse(text)
    except ValueError as error:
        message = str(error)
    if message:
        assert "at position" in message
    else:
        assert Shape.parse(str(shape)) == shape


class TestText:
    @pytest.mark.parametrize("text", CANONICAL_TEXTS)
    def test_what_xla_prints_comes_back(self, text):
        shape = Shape.parse(text)
        assert str(shape) == text
        assert Shape.parse(str(shape)) == shape

    @pytest.mark.parametrize("text", CANONICAL_TEXTS)
    def test_spaces_change_nothing(self, text):
        # Plain text has a short cut in the parser, which spaces keep it from taking.
        spaced = text.replace("[", " [ ").replace("{", " { ")
        assert Shape.parse(spaced) == Shape.parse(text)

    @given(shapes())
    @settings(deadline=None, max_examples=60)
    def test_round_trip(self, shape):
        assert Shape.parse(str(shape)) == shape
        assert hash(Shape.parse(str(shape))) == hash(shape)

    @given(st.integers(0, 4).flatmap(layouts))
    @settings(deadline=None)
    def test_layout_round_trip(self, layout):
        assert Layout.parse(str(layout)) == layout

    @pytest.mark.parametrize(
        ("text", "canonical"),
        [
            ("( f32[2] ,f32[] )", "(f32[2], f32[])"),
            ("f32[ 2, <= 3 ]", "f32[2,<=3]"),
            ("f32 [2] { 1 : T( 8 ) }".replace("1", "0"), "f32[2]{0:T(8)}"),
            (" \n f32[2]\t{0}\n", "f32[2]{0}"),
            ("f32[2]{0:}", "f32[2]{0}"),
            ("f32[]{}", "f32[]"),
            ("f32[3]{0:S(0)}", "f32[3]{0}"),
            ("f32[3]{0:E(0)}", "f32[3]{0}"),
            ("f32[3]{0:L(1)}", "f32[3]{0}"),
            ("f32[02]", "f32[2]"),
            ("F32[2]", "f32[2]"),
            ("PRED[]", "pred[]"),
            ("(f32[2]{0}, /*index=1*/s32[])", "(f32[2]{0}, s32[])"),
            ("/* a */(/* { */f32/**/[2]/* { */{/*}*/0})/*]*/", "(f32[2]{0})"),
        ],
    )
    def test_other_ways_to_write_it(self, text, canonical):
        assert str(Shape.parse(text)) == canonical

    def test_repr_is_an_expression(self):
        shape = Shape.parse("(f32[2]{0}, token[])")
        assert repr(shape) == "Shape.parse('(f32[2]{0}, token[])')"
        assert eval(repr(shape), {"Shape": Shape}) == shape

    @pytest.mark.parametrize(
        ("text", "start", "shape", "rest"),
        [
            ("f32[42]{0} %x", 0, "f32[42]{0}", " %x"),
            # The brace opens a computation here.
            ("-> f32[123] { %a", 2, "f32[123]", " { %a"),
            ("f32[] {\n}", 0, "f32[]", ""),
            ("f32[2] {}", 0, "f32[2]", " {}"),
            ("(f32[2], s32[]) tuple(%a)", 0, "(f32[2], s32[])", " tuple(%a)"),
            ("s32[] parameter(0)", 0, "s32[]", " parameter(0)"),
        ],
    )
    def test_prefix(self, text, start, shape, rest):
        parsed, end = Shape.parse_prefix(text, start)
        assert str(parsed) == shape
        assert text[end:] == rest

    @pytest.mark.parametrize(
        ("text", "position", "message"),
        [
            ("", 0, "expected an element type"),
            ("f32", 3, r"expected '\['"),
            ("float32[2]", 0, "float32 is f32 here"),
            ("q7[2]", 0, "got 'q7\\[2\\]'"),
            ("f32[2", 5, "expected ']'.*got end of text"),
            ("f32[2,]", 6, "expected a dimension size"),
            ("f32[,2]", 4, "expected a dimension size"),
            ("f32[-1]", 4, "expected a dimension size"),
            ("f32[+2]", 4, "expected a dimension size"),
            ("f32[<=?]", 6, "expected a dimension size"),
            ("f32[1e3]", 5, "expected ']'"),
            ("f32[9223372036854775808]", 4, "below 2\\*\\*63"),
            pytest.param("f32[" + "9" * 10**6, 4, "below 2\\*\\*63", id="long"),
            ("f32[2]{0}x", 9, "expected end of text"),
            ("f32[2]{}", 6, "expected end of text"),
            ("f32[2]{0", 8, "expected a layout attribute"),
            ("f32[2]{0:Q(1)}", 9, "expected a layout attribute"),
            ("f32[2]{0:S(1)S(2)}", 13, "expected a layout attribute"),
            ("f32[2]{0:S(1)T(8)}", 13, "expected a layout attribute"),
            ("f32[2]{0:S(-1)}", 11, "expected an integer"),
            ("f32[2]{0:T(8)T(2)}", 13, "expected a layout attribute"),
            ("f32[2]{0:T(-3)}", 11, "tile size"),
            ("f32[2]{0:T8}", 9, "expected a layout attribute"),
            ("f32[2]{0:L(0)}", 6, "must be at least 1"),
            ("f32[2]{0:#(f32)}", 11, "unsigned integer type"),
            ("f32[2]{0:P(f32[2])}", 9, "physical shape"),
            ("f32[2]{0:D(X)}", 11, "dimension level type"),
            ("f32[2]{0:D(D,D)}", 6, "each of the 1 dimensions"),
            ("f32[2]{0:SC(1:2)}", 6, "one of the 1 dimensions"),
            ("f32[2,3]{0}", 0, "must order each of the 2 dimensions"),
            ("f32[2,3]{1,1}", 8, "permutation"),
            ("(f32[2],)", 8, "expected an element type"),
            ("(f32[2] f32[2])", 8, "expected ',' or '\\)'"),
            ("(f32[2]", 7, "expected ',' or '\\)'.*end of text"),
            ("f32[2])", 6, "expected end of text"),
            ("token[2]", 0, "dimensions must be empty"),
            ("opaque[]{:S(1)}", 0, "layout must be empty"),
            ("b(token[])", 2, "one array shape in a buffer"),
            ("b((f32[]))", 2, "expected an element type"),
            ("f32[2] /* x", 7, "expected a closed comment"),
            ("(f32[2], f32[3]{0:T(}, s32[])", 20, "tile size"),
        ],
    )
    def test_errors_name_the_position(self, text, position, message):
        with pytest.raises(ValueError, match=message) as info:
            Shape.parse(text)
        assert f"at position {position}" in str(info.value)
        assert len(str(info.value)) < 300

    @pytest.mark.parametrize(
        "text",
        ["(" * 10**6, "f32[2]{0:T" + "(" * 10**6, "b" + "(" * 10**6],
        ids=["tuple", "tile", "buffer"],
    )
    def test_deep_text_is_refused_quickly(self, text):
        start = time.perf_counter()
        with pytest.raises(ValueError, match="at position"):
            Shape.parse(text)
        assert time.perf_counter() - start < 5

    @given(st.text("()[]{}:,<=?*#/ 019fs32bTSELMDCPtoken", max_size=40))
    @settings(deadline=None, max_examples=300)
    def test_any_text_is_a_shape_or_a_value_error(self, text):
        check_shape_or_value_error(text)

    @given(st.sampled_from(CANONICAL_TEXTS), st.data())
    @settings(deadline=None, max_examples=300)
    def test_damaged_text_is_a_shape_or_a_value_error(self, text, data):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        insert = data.draw(st.text("()[]{}:,<=?*#0", max_size=2))
        check_shape_or_value_error(text[:start] + insert + text[end:])

    def test_deepest_nesting(self):
        shape = Shape.parse("(" * 200 + ")" * 200)
        assert str(shape) == "(" * 200 + ")" * 200
        assert shape.byte_size == 0
        assert hash(shape) == hash(Shape.parse(str(shape)))
        with pytest.raises(ValueError, match="200"):
            Shape.parse("(" * 201 + ")" * 201)
        with pytest.raises(ValueError, match="200 deep, got 201"):
            Shape.tuple([shape])

    def test_long_tuple_is_read_in_linear_time(self):
        text = "(" + ", ".join(["f32[2,3]{1,0}"] * 5000) + ")"
        shape = Shape.parse(text)
        assert len(shape.tuple_shapes) == 5000
        assert "/*index=4995*/" in str(shape)

    def test_text_must_be_text(self):
        with pytest.raises(TypeError, match="text must be a string, got 3"):
            Shape.parse(3)  # type: ignore[arg-type]


class TestConstructors:
    def test_parts(self):
        shape = Shape.array(np.float32, [np.int64(2), 3], layout="{0,1:T(8,128)}")
        assert shape.element_type == "f32"
        assert shape.dimensions == (2, 3)
        assert all(type(size) is int for size in shape.dimensions)
        assert shape.layout == Layout((0, 1), tiles=(Tile((8, 128)),))
        assert shape.dynamic_dimensions == (False, False)
        assert shape.tuple_shapes == ()

    def test_equal_shapes_are_one_key(self):
        forms = [
            Shape("f32", (2, 3), None, (False, False)),
            Shape("F32", (2, 3)),
            Shape.array(jnp.float32, np.array([2, 3])),
            Shape.coerce(jax.ShapeDtypeStruct((2, 3), np.float32)),
            Shape.coerce("f32[2,3]"),
            Shape.coerce(np.zeros((2, 3), np.float32)),
            Shape.coerce(jnp.zeros((2, 3), jnp.float32)),
        ]
        assert len(set(forms)) == 1
        others = {
            Shape.parse("f32[2,3]{1,0}"),
            Shape.parse("f32[2,<=3]"),
            Shape.parse("f32[3,2]"),
            Shape.parse("s32[2,3]"),
            Shape.parse("(f32[2,3])"),
        }
        assert len(others | set(forms)) == 6

    def test_a_scalars_empty_layout_says_nothing(self):
        assert Shape.array("f32", (), layout=()) == Shape.parse("f32[]")
        assert Shape.array("f32", (), layout="{:S(1)}") != Shape.parse("f32[]")

    def test_kinds(self):
        kinds = {
            "f32[2]": "is_array",
            "f32[]": "is_array",
            "()": "is_tuple",
            "token[]": "is_token",
            "opaque[]": "is_opaque",
            "b(f32[])": "is_buffer",
        }
        names = set(kinds.values())
        for text, kind in kinds.items():
            shape = Shape.parse(text)
            assert {name for name in names if getattr(shape, name)} == {kind}
        assert Shape.token() == Shape.parse("token[]")
        assert Shape.opaque() == Shape.parse("opaque[]")
        assert Shape.tuple() == Shape.parse("()")

    def test_coerce_nests(self):
        value = [jax.ShapeDtypeStruct((2,), "int8"), ("f32[]", [Shape.token()]), ()]
        assert str(Shape.coerce(value)) == "(s8[2], (f32[], (token[])), ())"

    def test_a_named_tuple_with_shape_and_dtype_is_an_array(self):
        class Spec(NamedTuple):
            shape: tuple[int, ...]
            dtype: str

        assert str(Shape.coerce(Spec((2,), "int8"))) == "s8[2]"

    def test_coerce_takes_tracers(self):
        seen = []

        def f(x):
            seen.append(str(Shape.coerce(x)))
            return x

        jax.eval_shape(f, jax.ShapeDtypeStruct((4, 2), jnp.bfloat16))
        assert seen == ["bf16[4,2]"]

    def test_coerce_stops_at_a_list_that_holds_itself(self):
        value: list = []
        value.append(value)
        with pytest.raises(ValueError, match="nest at most 200 deep"):
            Shape.coerce(value)

    @pytest.mark.parametrize("value", [None, 3, {"a": "f32[]"}, np.float32], ids=repr)
    def test_coerce_refuses(self, value):
        with pytest.raises(TypeError, match=r"value must be a Shape|element type"):
            Shape.coerce(value)

    def test_keys_are_refused(self):
        with pytest.raises(TypeError, match="key<"):
            Shape.coerce(jax.random.key(0))

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"dimensions": (2, -1)}, ValueError, r"non-negative.*got \(2, -1\)"),
            ({"dimensions": (2**63,)}, ValueError, "below 2\\*\\*63"),
            ({"dimensions": (2.0,)}, TypeError, r"dimensions\[0\] must be an integer"),
            ({"dimensions": (True,)}, TypeError, "got True"),
            ({"dimensions": "23"}, TypeError, "sequence of integers, got '23'"),
            ({"dimensions": 3}, TypeError, "sequence of integers, got 3"),
            ({"dimensions": {2, 3}}, TypeError, "sequence of integers"),
            ({"dimensions": (2,), "layout": (1, 0)}, ValueError, "1 dimensions"),
            ({"dimensions": (2,), "layout": 0}, TypeError, "got 0"),
            ({"dimensions": (2,), "dynamic": [1]}, TypeError, "booleans, got"),
            ({"dimensions": (2,), "dynamic": [True] * 2}, ValueError, "1 dimensions"),
            ({"element_type": "token"}, TypeError, "an array can have, got 'token'"),
            ({"element_type": "f31"}, TypeError, "got 'f31'"),
        ],
        ids=repr,
    )
    def test_array_refuses(self, arguments, error, message):
        with pytest.raises(error, match=message):
            Shape.array(**{"element_type": "f32", **arguments})

    def test_parts_that_do_not_fit_are_refused(self):
        scalar = Shape.parse("f32[]")
        with pytest.raises(ValueError, match="tuple_shapes must be empty"):
            Shape("f32", (), tuple_shapes=(scalar,))
        with pytest.raises(ValueError, match="dimensions must be empty"):
            Shape("tuple", (2,))
        with pytest.raises(ValueError, match="tuple_shapes must be empty"):
            Shape("token", tuple_shapes=(scalar,))
        with pytest.raises(TypeError, match="must be Shape objects, got 'f32"):
            Shape("tuple", tuple_shapes=("f32[]",))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="one array shape in a buffer"):
            Shape.buffer("(f32[])")

    def test_frozen(self):
        with pytest.raises(AttributeError):
            Shape.parse("f32[]").element_type = "s32"  # type: ignore[misc]

    def test_annotations_resolve(self):
        # "tuple" is a constructor inside the class and a type outside.
        assert get_type_hints(Shape)["dimensions"] == tuple[int, ...]


class TestProperties:
    def test_array(self):
        shape = Shape.parse("bf16[4,<=8]{1,0}")
        assert shape.rank == 2
        assert shape.dtype == jnp.bfloat16
        assert not shape.is_static
        assert not shape.is_dynamic_dimension(0)
        assert shape.is_dynamic_dimension(1)
        assert shape.element_count == 32
        assert shape.byte_size == 64

    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("f32[]", 4),
            ("f32[0,5]", 0),
            ("pred[3]", 3),
            ("c128[2,3]", 96),
            ("s4[3]", 3),
            ("s4[3]{0:E(4)}", 2),
            ("s4[4]{0:E(4)}", 2),
            ("pred[9]{0:E(1)}", 2),
            ("bf16[8,128]{1,0:T(8,128)(2,1)}", 2048),
            ("(f32[2], (s32[], pred[3]), token[], ())", 15),
            ("b(f32[2])", 8),
            ("opaque[]", 0),
            ("f64[4611686018427387904,4]", 2**67),
        ],
    )
    def test_byte_size(self, text, count):
        assert Shape.parse(text).byte_size == count

    def test_static(self):
        assert Shape.parse("(f32[2], (s32[]))").is_static
        assert not Shape.parse("(f32[2], (s32[<=2]))").is_static
        assert not Shape.parse("b(s32[?])").is_static

    @pytest.mark.parametrize("number", [-1, 2])
    def test_no_such_dimension(self, number):
        with pytest.raises(ValueError, match=f"below 2, got {number}"):
            Shape.parse("f32[2,3]").is_dynamic_dimension(number)

    @pytest.mark.parametrize("name", ["dtype", "element_count"])
    @pytest.mark.parametrize("text", ["()", "token[]", "b(f32[])"])
    def test_only_arrays_have(self, name, text):
        with pytest.raises(TypeError, match=f"Shape.{name}: shape must be an array's"):
            getattr(Shape.parse(text), name)

    @pytest.mark.parametrize("name", ["element_count", "byte_size", "to_struct"])
    def test_unbounded(self, name):
        shape = Shape.parse("f32[?,2]")
        assert shape.is_dynamic_dimension(0)
        with pytest.raises(ValueError, match="must have bounds, got f32"):
            # A property raises at once, the method when it is called.
            getattr(shape, name, lambda: None)()

    def test_to_struct(self):
        struct = Shape.parse("(f32[2,<=3]{1,0}, (s4[], b(f64[1])), ())").to_struct()
        assert struct == (
            jax.ShapeDtypeStruct((2, 3), np.float32),
            (
                jax.ShapeDtypeStruct((), jnp.int4),
                jax.ShapeDtypeStruct((1,), np.float64),
            ),
            (),
        )
        with pytest.raises(TypeError, match="must be an array's, got token"):
            Shape.token().to_struct()


class TestLayout:
    def test_defaults(self):
        layout = Layout([1, 0])
        assert layout == Layout.row_major(2) == Layout.coerce("{1,0}")
        assert layout.is_row_major
        assert not Layout((0, 1)).is_row_major
        assert Layout.row_major(0) == Layout(())

    def test_with_layout(self):
        shape = Shape.parse("(f32[2,3], (s32[<=2]{0:S(1)}, f32[], token[]))")
        text = "(f32[2,3]{1,0}, (s32[<=2]{0:S(1)}, f32[], token[]))"
        assert str(shape.with_default_layout()) == text
        bare = "(f32[2,3], (s32[<=2], f32[], token[]))"
        assert str(shape.without_layout()) == bare
        assert str(Shape.parse("b(f32[2])").with_default_layout()) == "b(f32[2]{0})"
        with pytest.raises(TypeError, match="must be an array's"):
            shape.with_layout((1, 0))
        dynamic = Shape.parse("f32[<=2,3]").with_layout((0, 1))
        assert str(dynamic) == "f32[<=2,3]{0,1}"
        assert str(dynamic.with_layout(None)) == "f32[<=2,3]"

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"minor_to_major": (0, 2)}, ValueError, r"permutation.*got \(0, 2\)"),
            ({"minor_to_major": (-1, 0)}, ValueError, "permutation"),
            ({"tiles": 8}, TypeError, "tiles must be a sequence of tiles, got 8"),
            ({"tiles": [8]}, TypeError, "Tile: dimensions must be"),
            ({"tiles": [(-2,)]}, ValueError, "non-negative or '\\*'"),
            ({"memory_space": -1}, ValueError, "memory_space must be non-negative"),
            ({"element_size_in_bits": 1.5}, TypeError, "got 1.5"),
            (
                {"tail_padding_alignment_in_elements": 0},
                ValueError,
                "at least 1, got 0",
            ),
            ({"index_primitive_type": "s32"}, ValueError, "unsigned.*got s32"),
            ({"dim_level_types": ("D",)}, ValueError, "each of the 2 dimensions"),
            ({"dim_level_types": ("D", "X")}, ValueError, "got 'X'"),
            ({"split_configs": (SplitConfig(2, ()),)}, ValueError, "2 dimensions"),
            ({"split_configs": (SplitConfig(0, ()),) * 2}, ValueError, "distinct"),
            ({"split_configs": ((0, ()),)}, TypeError, "SplitConfig objects"),
        ],
        ids=repr,
    )
    def test_refuses(self, arguments, error, message):
        with pytest.raises(error, match=message):
            Layout(**{"minor_to_major": (1, 0), **arguments})

    def test_tile(self):
        tile = Tile(("*", 2))
        assert tile.dimensions == (-(2**63), 2)
        assert str(tile) == "(*,2)"

    def test_layout_text_ends(self):
        with pytest.raises(ValueError, match=r"Layout\.parse: expected end of text"):
            Layout.parse("{0}x")
