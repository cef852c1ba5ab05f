"""Dimension numbers: every form in which they are written, and contradictions."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from xlaops.types import (
    ConvolutionDimensionNumbers,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    RaggedDotDimensionNumbers,
    ScatterDimensionNumbers,
)

NHWC = {
    "input_batch_dimension": 0,
    "input_feature_dimension": 3,
    "input_spatial_dimensions": [1, 2],
    "kernel_input_feature_dimension": 2,
    "kernel_output_feature_dimension": 3,
    "kernel_spatial_dimensions": [0, 1],
    "output_batch_dimension": 0,
    "output_feature_dimension": 3,
    "output_spatial_dimensions": [1, 2],
}
DOT = {
    "lhs_contracting_dimensions": [2],
    "rhs_contracting_dimensions": [1],
    "lhs_batch_dimensions": [0],
    "rhs_batch_dimensions": [0],
}
RAGGED = {
    "dot_dimension_numbers": {
        "lhs_contracting_dimensions": [1],
        "rhs_contracting_dimensions": [1],
    },
    "lhs_ragged_dimensions": [0],
    "rhs_group_dimensions": [0],
}
GATHER = {
    "offset_dims": [1, 2],
    "collapsed_slice_dims": [0],
    "start_index_map": [2, 0],
    "index_vector_dim": 1,
    "operand_batching_dims": [1],
    "start_indices_batching_dims": [0],
}
SCATTER = {
    "update_window_dims": [1, 2],
    "inserted_window_dims": [0],
    "scatter_dims_to_operand_dims": [2, 0],
    "index_vector_dim": 1,
    "input_batching_dims": [1],
    "scatter_indices_batching_dims": [0],
}
CASES = [
    (ConvolutionDimensionNumbers, NHWC),
    (DotDimensionNumbers, DOT),
    (RaggedDotDimensionNumbers, RAGGED),
    (GatherDimensionNumbers, GATHER),
    (ScatterDimensionNumbers, SCATTER),
]


def frozen(value):
    if isinstance(value, list):
        return tuple(value)
    return value


@pytest.mark.parametrize(("cls", "fields"), CASES)
class TestEveryClass:
    def test_fields_of_the_protocol_buffer(self, cls, fields):
        numbers = cls(**fields)
        for name, value in fields.items():
            if name != "dot_dimension_numbers":
                assert getattr(numbers, name) == frozen(value)
        assert numbers == cls.coerce(fields)
        assert cls.coerce(numbers) is numbers
        assert hash(numbers) == hash(cls(**fields))
        assert cls(**dataclasses.asdict(numbers)) == numbers
        assert {f.name for f in dataclasses.fields(cls)} == set(fields)

    def test_numbers_become_python_integers(self, cls, fields):
        as_arrays = {
            name: value if isinstance(value, dict) else np.asarray(value)
            for name, value in fields.items()
        }
        numbers = cls(**as_arrays)
        assert numbers == cls(**fields)
        for name, value in dataclasses.asdict(numbers).items():
            if name != "dot_dimension_numbers":
                items = value if isinstance(value, tuple) else (value,)
                assert {type(item) for item in items} == {int}

    @pytest.mark.parametrize(
        ("bad", "error", "rule"),
        [
            (True, TypeError, "an integer, got True"),
            (1.0, TypeError, "an integer, got 1.0"),
            ("1", TypeError, "an integer, got '1'"),
            (None, TypeError, "an integer, got None"),
            (-1, ValueError, "non-negative, got -1"),
        ],
    )
    def test_bad_numbers_are_named(self, cls, fields, bad, error, rule):
        for name, value in fields.items():
            if name == "dot_dimension_numbers":
                continue
            wrong = [bad] if isinstance(value, list) else bad
            with pytest.raises(error, match=rule) as info:
                cls(**{**fields, name: wrong})
            assert str(info.value).startswith(f"{cls.__name__}: {name}")

    def test_unknown_and_missing_keys(self, cls, fields):
        with pytest.raises(TypeError, match=f"{cls.__name__}: keys .* got 'colour'"):
            cls.coerce({**fields, "colour": 1})
        if cls is not DotDimensionNumbers:  # All its fields may be left out.
            first = next(iter(fields))
            rest = {name: value for name, value in fields.items() if name != first}
            with pytest.raises(TypeError, match=f"keys must include {first}"):
                cls.coerce(rest)

    @pytest.mark.parametrize("value", [None, 3, 1.5, (), [1]], ids=repr)
    def test_coerce_refuses(self, cls, fields, value):
        with pytest.raises(TypeError, match=f"{cls.__name__}: value must be"):
            cls.coerce(value)

    def test_frozen(self, cls, fields):
        numbers = cls(**fields)
        with pytest.raises(AttributeError):
            setattr(numbers, next(iter(fields)), 0)


class TestConvolution:
    def test_all_forms_agree(self):
        forms = [
            NHWC,
            ("NHWC", "HWIO", "NHWC"),
            ["nhwc", "hwio", "nhwc"],
            ("NXYC", "XYIO", "NXYC"),
            "b01f_01io->b01f",
            lax.ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2)),
        ]
        assert len(set(map(ConvolutionDimensionNumbers.coerce, forms))) == 1

    def test_default(self):
        # batch 0, feature 1, then spatial; kernel: output feature 0, input feature 1.
        numbers = ConvolutionDimensionNumbers.default(2)
        assert numbers == ConvolutionDimensionNumbers.coerce(("NCHW", "OIHW", "NCHW"))
        assert numbers.kernel_output_feature_dimension == 0
        assert numbers.num_spatial_dimensions == 2
        assert str(ConvolutionDimensionNumbers.default(0)) == "bf_oi->bf"
        with pytest.raises(ValueError, match="num_spatial_dimensions must be non-neg"):
            ConvolutionDimensionNumbers.default(-1)

    def test_spatial_letters_are_paired_by_name(self):
        numbers = ConvolutionDimensionNumbers.coerce(("NWHC", "HWIO", "HNWC"))
        assert numbers.kernel_spatial_dimensions == (0, 1)
        assert numbers.input_spatial_dimensions == (2, 1)
        assert numbers.output_spatial_dimensions == (0, 2)

    @pytest.mark.parametrize(
        "specs",
        [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"), ("WNC", "IWO", "CWN")],
    )
    def test_letters_mean_what_they_mean_to_lax(self, specs):
        shape = (4,) * len(specs[0])
        expected = lax.conv_dimension_numbers(shape, shape, specs)
        assert ConvolutionDimensionNumbers.coerce(specs).to_lax() == expected

    @pytest.mark.parametrize(
        "text",
        [
            "b01f_01io->b01f",
            "bf_io->bf",
            "b0f_0io->b0f",
            "01bf_01oi->f1b0",
            "b0?f_0?io->b?0f",
            "bf0123456789_oi0123456789->bf0123456789",
        ],
    )
    def test_text(self, text):
        numbers = ConvolutionDimensionNumbers.parse(text)
        assert str(numbers) == text
        assert ConvolutionDimensionNumbers.coerce(text) == numbers

    @given(
        st.integers(0, 6).flatmap(
            lambda n: st.tuples(*[st.permutations(range(n + 2))] * 3)
        )
    )
    @settings(deadline=None)
    def test_round_trips(self, specs):
        lax_numbers = lax.ConvDimensionNumbers(*map(tuple, specs))
        numbers = ConvolutionDimensionNumbers.coerce(lax_numbers)
        assert ConvolutionDimensionNumbers.parse(str(numbers)) == numbers
        assert numbers.to_lax() == lax_numbers

    def test_numbers_without_a_text_print_as_a_call(self):
        far = ConvolutionDimensionNumbers(**{**NHWC, "input_batch_dimension": 10**12})
        many = ConvolutionDimensionNumbers.default(11)
        for numbers in (far, many):
            assert str(numbers) == repr(numbers)
        assert eval(repr(far)) == far

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "b01f",
            "b01f_01io",
            "b01f->b01f",
            "B01F_01IO->B01F",
            "b02f_02io->b02f",
            "b00f_00io->b00f",
            "b01f_0io->b01f",
            "b01f_01io->b0f",
            "b01_01io->b01f",
            "b01ff_01io->b01f",
            "b01f_01io->b01f_",
            "b01f_01iq->b01f",
        ],
    )
    def test_bad_text(self, text):
        with pytest.raises(ValueError, match="ConvolutionDimensionNumbers") as e:
            ConvolutionDimensionNumbers.parse(text)
        assert "got '" in str(e.value)

    @pytest.mark.parametrize(
        ("specs", "message"),
        [
            (("NHWC", "HWIO", "NHW"), "out must have each of the letters NCHW once"),
            (("NHHC", "HHIO", "NHHC"), "got 'NHHC'"),
            (("NHWC", "HWIO", "NHXC"), "got 'NHXC'"),
            (("HWC", "HWIO", "NHWC"), "lhs must have"),
            (("NHWC", "HWI", "NHWC"), "rhs must have .*got 'HWI'"),
            (("NHWC", "HWIC", "NHWC"), "rhs must have .*got 'HWIC'"),
            (("NHWC", "HWOIN", "NHWC"), "rhs must have .*got 'HWOIN'"),
            (("NHWC", "HWIOO", "NHWC"), "rhs must have .*got 'HWIOO'"),
        ],
    )
    def test_bad_letters(self, specs, message):
        with pytest.raises(ValueError, match=message):
            ConvolutionDimensionNumbers.coerce(specs)

    def test_text_must_be_text(self):
        with pytest.raises(TypeError, match=r"parse: text must be a string, got 3"):
            ConvolutionDimensionNumbers.parse(3)

    def test_contradictions(self):
        with pytest.raises(ValueError, match=r"same length, got \(1,\), \(0, 1\) and"):
            ConvolutionDimensionNumbers(**{**NHWC, "input_spatial_dimensions": [1]})
        with pytest.raises(
            ValueError, match="dimensions of the kernel must be distinct"
        ):
            ConvolutionDimensionNumbers(**{**NHWC, "kernel_spatial_dimensions": [0, 3]})
        with pytest.raises(
            ValueError, match="input_spatial_dimensions must be distinct"
        ):
            ConvolutionDimensionNumbers(**{**NHWC, "input_spatial_dimensions": [1, 1]})
        with pytest.raises(ValueError, match="at least two numbers"):
            ConvolutionDimensionNumbers.coerce(lax.ConvDimensionNumbers((0,), (0,), ()))


class TestDot:
    def test_all_forms_agree(self):
        forms = [
            DOT,
            (((2,), (1,)), ((0,), (0,))),
            [[[2], [1]], [[0], [0]]],
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
            "rhs_contracting_dims={1}",
            "rhs_contracting_dims={1},lhs_contracting_dims={2},"
            "lhs_batch_dims={0},rhs_batch_dims={0}",
        ]
        assert len(set(map(DotDimensionNumbers.coerce, forms))) == 1
        assert DotDimensionNumbers(**DOT).to_lax() == (((2,), (1,)), ((0,), (0,)))

    @pytest.mark.parametrize(
        "text",
        [
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "lhs_contracting_dims={}, rhs_contracting_dims={}",
            "lhs_batch_dims={0,3}, lhs_contracting_dims={2}, rhs_batch_dims={1,0}, "
            "rhs_contracting_dims={2}",
        ],
    )
    def test_text_as_xla_prints_it(self, text):
        assert str(DotDimensionNumbers.parse(text)) == text

    @given(st.data())
    @settings(deadline=None)
    def test_round_trips(self, data):
        batch = data.draw(st.integers(0, 3))
        count = batch + data.draw(st.integers(0, 3))
        lhs = data.draw(st.permutations(range(count + 1)))[:count]
        rhs = data.draw(st.permutations(range(count + 2)))[:count]
        value = ((lhs[batch:], rhs[batch:]), (lhs[:batch], rhs[:batch]))
        numbers = DotDimensionNumbers.coerce(value)
        assert DotDimensionNumbers.parse(str(numbers)) == numbers
        assert DotDimensionNumbers.coerce(numbers.to_lax()) == numbers

    @pytest.mark.parametrize(
        ("text", "position"),
        [
            ("", 0),
            ("lhs_contracting={1}", 0),
            ("lhs_contracting_dims=1", 21),
            ("lhs_contracting_dims={1", 23),
            ("lhs_contracting_dims={-1}", 22),
            ("lhs_contracting_dims={1}, lhs_contracting_dims={1}", 26),
            ("lhs_contracting_dims={1} rhs_contracting_dims={0}", 25),
            ("lhs_contracting_dims={1},", 25),
            (
                "lhs_batch_dims={0},lhs_contracting_dims={2},rhs_batch_dims={0},"
                "rhs_contracting_dims={1},",
                87,
            ),
        ],
    )
    def test_bad_text(self, text, position):
        with pytest.raises(ValueError, match=f"at position {position}, got "):
            DotDimensionNumbers.parse(text)

    def test_contradictions(self):
        with pytest.raises(ValueError, match=r"same length, got \(2,\) and \(1, 2\)"):
            DotDimensionNumbers(**{**DOT, "rhs_contracting_dimensions": [1, 2]})
        with pytest.raises(ValueError, match="batch_dimensions must have the same len"):
            DotDimensionNumbers(**{**DOT, "rhs_batch_dimensions": []})
        with pytest.raises(ValueError, match="no dimension in common"):
            DotDimensionNumbers(**{**DOT, "lhs_batch_dimensions": [2]})
        with pytest.raises(ValueError, match=r"must be distinct, got \(1, 1\)"):
            DotDimensionNumbers([1, 1], [0, 1])


class TestRaggedDot:
    def test_all_forms_agree(self):
        numbers = RaggedDotDimensionNumbers(**RAGGED)
        dot = (((1,), (1,)), ((), ()))
        forms = [RAGGED, (dot, [0], [0]), numbers.to_lax()]
        assert {RaggedDotDimensionNumbers.coerce(form) for form in forms} == {numbers}
        assert numbers.dot_dimension_numbers == DotDimensionNumbers([1], [1])

    def test_lax_runs_with_it(self):
        numbers = RaggedDotDimensionNumbers(**RAGGED)
        lhs = np.arange(6.0, dtype=np.float32).reshape(3, 2)
        rhs = np.arange(8.0, dtype=np.float32).reshape(2, 2, 2)
        sizes = jnp.array([1, 2], jnp.int32)
        out = lax.ragged_dot_general(lhs, rhs, sizes, numbers.to_lax())
        expected = np.concatenate([lhs[:1] @ rhs[0], lhs[1:] @ rhs[1]])
        np.testing.assert_array_equal(out, expected)

    def test_contradictions(self):
        for ragged in ([], [0, 2]):
            with pytest.raises(ValueError, match="exactly one dimension"):
                RaggedDotDimensionNumbers(**{**RAGGED, "lhs_ragged_dimensions": ragged})
        with pytest.raises(ValueError, match="at most one dimension"):
            RaggedDotDimensionNumbers(**{**RAGGED, "rhs_group_dimensions": [0, 2]})
        with pytest.raises(ValueError, match="neither contracting nor batch"):
            RaggedDotDimensionNumbers(**{**RAGGED, "rhs_group_dimensions": [1]})


@pytest.mark.parametrize(
    ("cls", "fields", "lax_class"),
    [
        (GatherDimensionNumbers, GATHER, lax.GatherDimensionNumbers),
        (ScatterDimensionNumbers, SCATTER, lax.ScatterDimensionNumbers),
    ],
)
class TestGatherAndScatter:
    def test_lax_and_back(self, cls, fields, lax_class):
        numbers = cls(**fields)
        lax_numbers = numbers.to_lax()
        assert isinstance(lax_numbers, lax_class)
        assert lax_numbers.operand_batching_dims == (1,)
        assert cls.coerce(lax_numbers, index_vector_dim=1) == numbers
        with pytest.raises(ValueError, match="index_vector_dim must be given"):
            cls.coerce(lax_numbers)

    def test_batching_dimensions_may_be_left_out(self, cls, fields, lax_class):
        short = {n: v for n, v in fields.items() if "batching" not in n}
        batching = {n: [] for n in fields if "batching" in n}
        assert cls(**short) == cls(**short, **batching)

    def test_order(self, cls, fields, lax_class):
        window, dropped, _, _, batch, indices_batch = fields
        for name in (window, dropped, batch):
            wrong = {**fields, batch: [], indices_batch: []}
            if name == batch:
                wrong[indices_batch] = [2, 3]
            wrong[name] = [4, 3]
            with pytest.raises(ValueError, match=f"{name} must be in ascending order"):
                cls(**wrong)

    def test_contradictions(self, cls, fields, lax_class):
        _, dropped, index_map, vector, batch, indices_batch = fields
        with pytest.raises(ValueError, match=f"{index_map} must be distinct"):
            cls(**{**fields, index_map: [2, 2]})
        with pytest.raises(ValueError, match="must have the same length"):
            cls(**{**fields, batch: [1, 3]})
        with pytest.raises(ValueError, match=f"{dropped} and {batch} must have no"):
            cls(**{**fields, dropped: [1]})
        with pytest.raises(ValueError, match=f"{index_map} and {batch} must have no"):
            cls(**{**fields, index_map: [1]})
        with pytest.raises(ValueError, match=f"{indices_batch} must not hold {vector}"):
            cls(**{**fields, vector: 0})


def test_gather_runs_in_lax():
    numbers = GatherDimensionNumbers([1], [0], [0], 1)
    operand = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    rows = np.array([[2], [0]], np.int32)
    out = lax.gather(operand, rows, numbers.to_lax(), (1, 4))
    np.testing.assert_array_equal(out, operand[[2, 0]])
