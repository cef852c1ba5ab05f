"""Enumerations, precision, accuracy, padding and communication."""

import dataclasses
import enum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import xlaops.types
from xlaops.types import (
    AccuracyMode,
    ChannelHandle,
    ChannelType,
    ComparisonDirection,
    ComparisonType,
    FftType,
    Padding,
    PaddingConfig,
    PaddingConfigDimension,
    Precision,
    PrecisionAlgorithm,
    PrecisionConfig,
    RandomAlgorithm,
    ReplicaGroup,
    ResultAccuracy,
    SourceTarget,
    Tolerance,
    Transpose,
    window_padding,
)

ENUMS = [
    AccuracyMode,
    ChannelType,
    ComparisonDirection,
    ComparisonType,
    FftType,
    Padding,
    Precision,
    PrecisionAlgorithm,
    RandomAlgorithm,
    Transpose,
]


@pytest.mark.parametrize("cls", ENUMS)
class TestEveryEnum:
    def test_names(self, cls):
        for member in cls:
            assert member == member.name  # A member is its name.
            assert cls.coerce(member) is member
            for form in (member.name, member.name.lower(), member.name.title()):
                assert cls.coerce(form) is member

    def test_unknown_names(self, cls):
        with pytest.raises(ValueError, match=f"{cls.__name__}: value must be one of"):
            cls.coerce("PURPLE")

    @pytest.mark.parametrize("value", [None, 1.5, True, [], {"mode": 1}], ids=repr)
    def test_other_types(self, cls, value):
        with pytest.raises(TypeError, match=f"{cls.__name__}: value") as info:
            cls.coerce(value)
        assert repr(value) in str(info.value)
        assert next(iter(cls)).name in str(info.value)

    def test_a_member_of_another_enumeration(self, cls):
        other = enum.Enum("Other", list(cls.__members__))
        with pytest.raises(TypeError, match="must be one of"):
            cls.coerce(next(iter(other)))


@pytest.mark.parametrize(
    ("cls", "value", "name"),
    [
        (Padding, "kSame", "SAME"),
        (Padding, "Padding::kValid", "VALID"),
        (Padding, "xla::Padding::kValid", "VALID"),
        (ComparisonDirection, "kGe", "GE"),
        (ComparisonType, "kFloat", "FLOAT"),
        (ComparisonType, "kFloatTotalOrder", "TOTALORDER"),
        (ComparisonType, "total_order", "TOTALORDER"),
        (FftType, 3, "IRFFT"),
        (FftType, np.int32(1), "IFFT"),
        (FftType, lax.FftType.RFFT, "RFFT"),
        (RandomAlgorithm, "rng_three_fry", "RNG_THREE_FRY"),
        (RandomAlgorithm, "three_fry", "RNG_THREE_FRY"),
        (RandomAlgorithm, "ThreeFry", "RNG_THREE_FRY"),
        (RandomAlgorithm, "philox", "RNG_PHILOX"),
        (RandomAlgorithm, 0, "RNG_DEFAULT"),
        (RandomAlgorithm, lax.RandomAlgorithm.RNG_PHILOX, "RNG_PHILOX"),
        (Transpose, 1, "NO_TRANSPOSE"),
        (Transpose, "TriangularSolveOptions::TRANSPOSE", "TRANSPOSE"),
        (Precision, lax.Precision.HIGH, "HIGH"),
        (Precision, 3, "PACKED_NIBBLE"),
        (PrecisionAlgorithm, "BF16_BF16_F32", "ALG_DOT_BF16_BF16_F32"),
        (PrecisionAlgorithm, "dot_f32_f32_f32", "ALG_DOT_F32_F32_F32"),
        (PrecisionAlgorithm, lax.DotAlgorithmPreset.DEFAULT, "ALG_UNSET"),
        (
            PrecisionAlgorithm,
            lax.DotAlgorithmPreset.TF32_TF32_F32,
            "ALG_DOT_TF32_TF32_F32",
        ),
        (AccuracyMode, lax.AccuracyMode.HIGHEST, "HIGHEST"),
        (AccuracyMode, 1, "HIGHEST"),
        (ChannelType, 2, "DEVICE_TO_HOST"),
    ],
    ids=repr,
)
def test_what_stands_for_a_member(cls, value, name):
    assert cls.coerce(value) is cls[name]


@pytest.mark.parametrize(
    ("cls", "number"), [(FftType, 4), (Transpose, 0), (RandomAlgorithm, -1)]
)
def test_unknown_numbers(cls, number):
    with pytest.raises(ValueError, match=f"got {number}"):
        cls.coerce(number)


def test_enumerations_in_lax():
    assert [member.to_lax() for member in FftType] == [
        lax.FftType.FFT,
        lax.FftType.IFFT,
        lax.FftType.RFFT,
        lax.FftType.IRFFT,
    ]
    assert RandomAlgorithm.RNG_PHILOX.to_lax() is lax.RandomAlgorithm.RNG_PHILOX
    for algorithm in PrecisionAlgorithm:
        assert isinstance(algorithm.to_lax(), lax.DotAlgorithmPreset)


def test_an_algorithm_that_lax_lacks(monkeypatch):
    class Preset(enum.Enum):
        DEFAULT = 0

    monkeypatch.setattr("jax.lax.DotAlgorithmPreset", Preset)
    with pytest.raises(ValueError, match="has, got ALG_DOT_F64_F64_F64"):
        PrecisionAlgorithm.ALG_DOT_F64_F64_F64.to_lax()


class TestPrecisionConfig:
    @pytest.mark.parametrize(
        ("value", "names", "in_lax"),
        [
            (None, (), None),
            ((), (), None),
            ("HIGHEST", ("HIGHEST",) * 2, (lax.Precision.HIGHEST,) * 2),
            (Precision.HIGH, ("HIGH",) * 2, (lax.Precision.HIGH,) * 2),
            (lax.Precision.DEFAULT, ("DEFAULT",) * 2, (lax.Precision.DEFAULT,) * 2),
            (
                ("default", lax.Precision.HIGHEST),
                ("DEFAULT", "HIGHEST"),
                (lax.Precision.DEFAULT, lax.Precision.HIGHEST),
            ),
            (
                {"operand_precision": ["HIGH", 0]},
                ("HIGH", "DEFAULT"),
                (lax.Precision.HIGH, lax.Precision.DEFAULT),
            ),
        ],
        ids=repr,
    )
    def test_forms(self, value, names, in_lax):
        config = PrecisionConfig.coerce(value)
        assert tuple(p.name for p in config.operand_precision) == names
        assert config.to_lax() == in_lax
        assert PrecisionConfig.coerce(config) is config
        assert PrecisionConfig.coerce(dataclasses.asdict(config)) == config

    def test_defaults(self):
        assert PrecisionConfig() == PrecisionConfig(("DEFAULT", "DEFAULT"))

    def test_algorithm(self):
        preset = lax.DotAlgorithmPreset.BF16_BF16_F32_X3
        config = PrecisionConfig.coerce({"algorithm": "dot_bf16_bf16_f32_x3"})
        assert config.algorithm is PrecisionAlgorithm.ALG_DOT_BF16_BF16_F32_X3
        assert config.to_lax() is preset
        assert PrecisionConfig.coerce(preset).to_lax() is preset
        assert PrecisionConfig(algorithm="ALG_UNSET") == PrecisionConfig()

    def test_number_of_operands(self):
        config = PrecisionConfig(("HIGH",) * 3)
        assert config.to_lax(3) == (lax.Precision.HIGH,) * 3
        with pytest.raises(ValueError, match=r"each of the 2 operands, got .*'HIGH'"):
            config.to_lax()

    def test_packed_nibble_is_not_in_lax(self):
        config = PrecisionConfig.coerce("packed_nibble")
        with pytest.raises(ValueError, match="has, got PACKED_NIBBLE"):
            config.to_lax()

    @pytest.mark.parametrize("value", [1.5, object(), {"precision": 1}], ids=type)
    def test_refuses(self, value):
        with pytest.raises(TypeError, match="PrecisionConfig: "):
            PrecisionConfig.coerce(value)

    def test_unknown_names(self):
        with pytest.raises(ValueError, match="got 'LOW'"):
            PrecisionConfig.coerce(("HIGH", "LOW"))


class TestResultAccuracy:
    def test_modes(self):
        assert ResultAccuracy.coerce(None) == ResultAccuracy()
        assert ResultAccuracy().to_lax() is None
        forms = ["highest", {"mode": "HIGHEST"}, {"mode": 1}, lax.AccuracyMode.HIGHEST]
        for form in forms:
            accuracy = ResultAccuracy.coerce(form)
            assert accuracy == ResultAccuracy(AccuracyMode.HIGHEST)
            assert accuracy.to_lax() is lax.AccuracyMode.HIGHEST

    def test_tolerances(self):
        fields = {"atol": 1e-6, "rtol": 0.5, "ulps": 2}
        expected = ResultAccuracy(tolerance=Tolerance(**fields))
        for form in (
            fields,
            {"tolerance": fields},
            Tolerance(**fields),
            lax.Tolerance(**fields),
            expected,
        ):
            accuracy = ResultAccuracy.coerce(form)
            assert accuracy == expected
            assert hash(accuracy) == hash(expected)
        in_lax = expected.to_lax()
        assert isinstance(in_lax, lax.Tolerance)
        assert (in_lax.atol, in_lax.rtol, in_lax.ulps) == (1e-6, 0.5, 2)
        assert ResultAccuracy.coerce(dataclasses.asdict(expected)) == expected

    def test_numpy_numbers(self):
        tolerance = Tolerance(atol=np.float32(0.5), ulps=np.int8(1))
        assert tolerance == Tolerance(0.5, 0.0, 1)
        assert (type(tolerance.atol), type(tolerance.ulps)) == (float, int)

    @pytest.mark.parametrize(
        ("fields", "error", "message"),
        [
            (
                {"atol": -1.0},
                ValueError,
                "atol must be finite and non-negative, got -1",
            ),
            ({"rtol": float("nan")}, ValueError, "got nan"),
            ({"rtol": float("inf")}, ValueError, "got inf"),
            ({"rtol": 10**400}, ValueError, "rtol must be finite and non-negative"),
            ({"ulps": -1}, ValueError, "ulps must be non-negative, got -1"),
            ({"ulps": 1.5}, TypeError, "ulps must be an integer, got 1.5"),
            ({"atol": "1"}, TypeError, "atol must be a number, got '1'"),
            ({"atol": True}, TypeError, "atol must be a number, got True"),
            ({"atol": np.True_}, TypeError, "atol must be a number, got"),
            ({"atol": None}, TypeError, "atol must be a number, got None"),
            ({"atol": 0.0}, ValueError, "must be positive"),
        ],
        ids=repr,
    )
    def test_bad_tolerances(self, fields, error, message):
        with pytest.raises(error, match=message):
            ResultAccuracy.coerce(fields)

    @pytest.mark.parametrize("value", [3, 0.1, (1, 2), {"eps": 1}], ids=repr)
    def test_refuses(self, value):
        with pytest.raises(TypeError, match="ResultAccuracy: "):
            ResultAccuracy.coerce(value)
        with pytest.raises(TypeError, match=r"tolerance must be a Tolerance|keys"):
            ResultAccuracy(tolerance=value)

    def test_mode_or_tolerance(self):
        with pytest.raises(ValueError, match="mode must be DEFAULT beside a tolerance"):
            ResultAccuracy(AccuracyMode.HIGHEST, Tolerance(ulps=1))


class TestPaddingConfig:
    FIELDS = (
        {"edge_padding_low": 0, "edge_padding_high": 1, "interior_padding": 0},
        {"edge_padding_low": -2, "edge_padding_high": 3, "interior_padding": 4},
    )

    def test_forms_agree(self):
        forms = [
            [(0, 1, 0), (-2, 3, 4)],
            np.array([[0, 1, 0], [-2, 3, 4]]),
            list(self.FIELDS),
            {"dimensions": list(self.FIELDS)},
            {"dimensions": [(0, 1, 0), (-2, 3, 4)]},
            "0_1_0x-2_3_4",
            "0_1x-2_3_4",
            [PaddingConfigDimension(0, 1), PaddingConfigDimension(-2, 3, 4)],
        ]
        configs = {PaddingConfig.coerce(form) for form in forms}
        assert len(configs) == 1
        (config,) = configs
        assert dataclasses.asdict(config) == {"dimensions": self.FIELDS}
        assert PaddingConfig.coerce(config) is config

    @pytest.mark.parametrize("text", ["0_1x2_3", "0_1_0x2_3_4", "-1_-2", ""])
    def test_text_as_xla_prints_it(self, text):
        assert str(PaddingConfig.parse(text)) == text

    @given(
        st.lists(
            st.tuples(
                st.integers(-(2**63) + 1, 2**63 - 1),
                st.integers(-9, 9),
                st.integers(0, 2**63 - 1),
            )
        )
    )
    @settings(deadline=None)
    def test_round_trip(self, triples):
        config = PaddingConfig.coerce(triples)
        assert PaddingConfig.parse(str(config)) == config
        assert PaddingConfig.coerce(dataclasses.asdict(config)) == config

    @pytest.mark.parametrize(
        ("text", "position"),
        [
            ("0", 0),
            ("0_1x", 4),
            ("x0_1", 0),
            ("0_1x2", 4),
            ("0_1y2_3", 0),
            ("0_1_-1", 0),
            ("0_1 x2_3", 0),
            ("0_1_2_3", 0),
            pytest.param("0_" + "9" * 10**6, 0, id="long"),
            ("0_9999999999999999999", 0),
        ],
    )
    def test_bad_text(self, text, position):
        with pytest.raises(ValueError, match=f"at position {position}, got") as info:
            PaddingConfig.parse(text)
        assert len(str(info.value)) < 200

    def test_text_must_be_text(self):
        with pytest.raises(TypeError, match=r"parse: text must be a string, got None"):
            PaddingConfig.parse(None)

    @pytest.mark.parametrize(
        ("value", "error", "message"),
        [
            ([(0, 0, -1)], ValueError, "interior_padding must be non-negative, got -1"),
            ([(0, 1)], ValueError, r"\(low, high, interior\), got \(0, 1\)"),
            ([3], TypeError, "got 3"),
            (3, TypeError, "dimension, got 3"),
            ([(0, 1.0, 0)], TypeError, "edge_padding_high must be an integer, got 1.0"),
            ([{"low": 1}], TypeError, "keys must be among edge_padding_low"),
        ],
        ids=repr,
    )
    def test_refuses(self, value, error, message):
        with pytest.raises(error, match=message):
            PaddingConfig.coerce(value)


class TestWindowPadding:
    def test_forms(self):
        assert window_padding(Padding.SAME) is Padding.SAME
        assert window_padding("kValid") is Padding.VALID
        assert window_padding([(0, 1), [-2, np.int64(2)]]) == ((0, 1), (-2, 2))
        assert window_padding(np.array([[0, 1]])) == ((0, 1),)
        assert window_padding(()) == ()

    @pytest.mark.parametrize(
        ("value", "error", "message"),
        [
            (1, TypeError, "window_padding: padding must be SAME, VALID or"),
            ((1, 1), TypeError, r"padding\[0\] must be a sequence of integers, got 1"),
            ([(0, 1, 2)], ValueError, r"pair for each dimension, got \[\(0, 1, 2\)\]"),
            ([(0, 0.5)], TypeError, r"padding\[0\]\[1\] must be an integer, got 0.5"),
            ("FULL", ValueError, "SAME, VALID, got 'FULL'"),
            (None, TypeError, "got None"),
        ],
        ids=repr,
    )
    def test_refuses(self, value, error, message):
        with pytest.raises(error, match=message):
            window_padding(value)


class TestCommunication:
    def test_replica_group(self):
        group = ReplicaGroup([2, np.int32(0)])
        assert group.replica_ids == (2, 0)
        assert str(group) == "{2,0}"
        for form in (group, (2, 0), {"replica_ids": [2, 0]}, np.array([2, 0])):
            assert ReplicaGroup.coerce(form) == group
        assert ReplicaGroup(()).replica_ids == ()
        with pytest.raises(ValueError, match="replica_ids must be distinct"):
            ReplicaGroup([1, 1])
        with pytest.raises(ValueError, match=r"replica_ids\[0\] must be non-negative"):
            ReplicaGroup([-1])
        with pytest.raises(TypeError, match="sequence of replica ids, got 3"):
            ReplicaGroup.coerce(3)

    def test_channel_handle(self):
        handle = ChannelHandle(3, 1)
        assert handle.type is ChannelType.DEVICE_TO_DEVICE
        assert ChannelHandle.coerce({"handle": 3, "type": "DEVICE_TO_DEVICE"}) == handle
        assert ChannelHandle.coerce(handle) is handle
        assert ChannelHandle.coerce(3) == ChannelHandle(3)
        assert ChannelHandle(3).type is ChannelType.CHANNEL_TYPE_INVALID
        with pytest.raises(ValueError, match="handle must be non-negative, got -1"):
            ChannelHandle.coerce(-1)
        for value in (None, "3", True, (3, 1)):
            with pytest.raises(TypeError, match="ChannelHandle: value"):
                ChannelHandle.coerce(value)

    def test_source_target(self):
        pair = SourceTarget(0, 1)
        for form in (pair, (0, 1), [0, 1], {"source": 0, "target": 1}):
            assert SourceTarget.coerce(form) == pair
        assert str(pair) == "{0,1}"
        with pytest.raises(ValueError, match=r"\(source, target\), got \(0,\)"):
            SourceTarget.coerce((0,))
        with pytest.raises(ValueError, match="target must be non-negative"):
            SourceTarget(0, -1)


def test_public_names():
    for name in xlaops.types.__all__:
        assert getattr(xlaops.types, name).__doc__
        assert getattr(xlaops.types, name).__module__.startswith("xlaops.types.")
    assert xlaops.types.__all__ == sorted(xlaops.types.__all__)
