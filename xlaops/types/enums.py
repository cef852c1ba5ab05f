"""The enumerations of the documents, as texts with the documents' names."""

from __future__ import annotations

import enum
import re
from typing import Any, Self

from jax import lax

from .arguments import integer, shown

# "Padding::kSame" and "kSame" are how C++ code writes what documents call SAME.
_CPP_PREFIX = re.compile(r"(?:\w+::)*(?:k(?=[A-Z]))?")


def _key(name: str) -> str:
    return name.replace("_", "").upper()


class DocumentEnum(enum.StrEnum):
    """An enumeration whose members are their names in the document."""

    def __init_subclass__(
        cls, *, first_number: int | None = None, prefix: str = ""
    ) -> None:
        """Says how else members are written.

        Args:
            first_number: the number of the first member in XLA's protocol buffer; those
                of the others follow. None where it has no such enumeration.
            prefix: what all names begin with, and what may be left out.
        """
        super().__init_subclass__()
        cls.__first_number = first_number
        cls.__prefix = prefix

    @classmethod
    def coerce(cls, value: Any) -> Self:
        """A member from what stands for one.

        Args:
            value: a member; its name in any case, with or without underscores, also as
                C++ writes it (``"kSame"``); its number in XLA's protocol buffer, if
                there is one; or the member of ``jax.lax``'s enumeration of this name.

        Raises:
            TypeError: if the value is no name, number or member.
            ValueError: if it is the name or number of none of the members.
        """
        if isinstance(value, cls):
            return value
        accepted = f"one of {', '.join(cls.__members__)}"
        if isinstance(value, enum.Enum):
            # Not any enumeration: HIGH of one is not HIGH of another.
            if type(value).__name__ != cls.__name__:
                raise TypeError(
                    f"{cls.__name__}: value must be {accepted}, got {value!r}"
                )
            value = value.name
        first = cls.__first_number
        if isinstance(value, str):
            key = _key(_CPP_PREFIX.sub("", value, count=1))
            prefix = _key(cls.__prefix)
            for member in cls:
                if _key(member.name) in (key, prefix + key):
                    return member
        elif first is not None:
            numbers = dict(enumerate(cls, first))
            number = integer(value, cls.__name__, f"value ({accepted})")
            if number in numbers:
                return numbers[number]
            accepted += " or a number of " + ", ".join(map(str, numbers))
        else:
            raise TypeError(
                f"{cls.__name__}: value must be {accepted}, got {shown(value)}"
            )
        raise ValueError(
            f"{cls.__name__}: value must be {accepted}, got {shown(value)}"
        )


class Padding(DocumentEnum):
    """How a window reaches over the edges.

    ``VALID`` adds nothing; ``SAME`` adds what makes the output as large as the input
    divided by the stride, rounded up, with the odd element at the high end.

    Example:
        >>> from xlaops.types import Padding
        >>> Padding.coerce("kSame")
        <Padding.SAME: 'SAME'>

    Source:
        ``padding.h`` of XLA; the section "ConvWithGeneralPadding (convolution)" of
        "Operation semantics".
    """

    SAME = "SAME"
    VALID = "VALID"


class ComparisonDirection(DocumentEnum):
    """Which comparison is made.

    Example:
        >>> from xlaops.types import ComparisonDirection
        >>> ComparisonDirection.coerce("ge")
        <ComparisonDirection.GE: 'GE'>

    Source:
        ``comparison_util.h`` of XLA; the section "Compare" of "Operation semantics".
    """

    EQ = "EQ"
    NE = "NE"
    GE = "GE"
    GT = "GT"
    LE = "LE"
    LT = "LT"


class ComparisonType(DocumentEnum):
    """In which order values are compared.

    Example:
        >>> from xlaops.types import ComparisonType
        >>> ComparisonType.coerce("kFloatTotalOrder")
        <ComparisonType.TOTALORDER: 'TOTALORDER'>

    Source:
        ``comparison_util.h`` of XLA; StableHLO's ``compare``.
    """

    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"

    @classmethod
    def coerce(cls, value: Any) -> Self:
        """A member from a member or its name; C++ says FloatTotalOrder for one."""
        if isinstance(value, str) and _key(value).endswith("FLOATTOTALORDER"):
            return cls["TOTALORDER"]
        return super().coerce(value)


class FftType(DocumentEnum, first_number=0):
    """The kind of Fourier transform.

    Example:
        >>> from xlaops.types import FftType
        >>> FftType.coerce("rfft")
        <FftType.RFFT: 'RFFT'>

    Source:
        ``FftType`` of XLA's ``xla_data.proto``; the section "Fft" of "Operation
        semantics".
    """

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"

    def to_lax(self) -> lax.FftType:
        """The member of ``lax.FftType``."""
        return getattr(lax.FftType, self.name)


class RandomAlgorithm(DocumentEnum, first_number=0, prefix="RNG_"):
    """The generator of random bits.

    Example:
        >>> from xlaops.types import RandomAlgorithm
        >>> RandomAlgorithm.coerce("three_fry")
        <RandomAlgorithm.RNG_THREE_FRY: 'RNG_THREE_FRY'>

    Source:
        ``RandomAlgorithm`` of XLA's ``xla_data.proto``; the section "RngBitGenerator"
        of "Operation semantics".
    """

    RNG_DEFAULT = "RNG_DEFAULT"
    RNG_THREE_FRY = "RNG_THREE_FRY"
    RNG_PHILOX = "RNG_PHILOX"

    def to_lax(self) -> lax.RandomAlgorithm:
        """The member of ``lax.RandomAlgorithm``."""
        return lax.RandomAlgorithm[self.name]


class Transpose(DocumentEnum, first_number=1):
    """What is done to the matrix of a triangular solve first.

    Example:
        >>> from xlaops.types import Transpose
        >>> Transpose.coerce(3)
        <Transpose.ADJOINT: 'ADJOINT'>

    Source:
        ``TriangularSolveOptions.Transpose`` of XLA's ``xla_data.proto``; the section
        "TriangularSolve" of "Operation semantics".
    """

    NO_TRANSPOSE = "NO_TRANSPOSE"
    TRANSPOSE = "TRANSPOSE"
    ADJOINT = "ADJOINT"


class Precision(DocumentEnum, first_number=0):
    """How exactly an operand of a product is represented.

    Example:
        >>> from jax import lax
        >>> from xlaops.types import Precision
        >>> Precision.coerce(lax.Precision.HIGHEST)
        <Precision.HIGHEST: 'HIGHEST'>

    Source:
        ``PrecisionConfig.Precision`` of XLA's ``xla_data.proto``.
    """

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"
    PACKED_NIBBLE = "PACKED_NIBBLE"

    def to_lax(self) -> lax.Precision:
        """The member of ``lax.Precision``.

        Raises:
            ValueError: for ``PACKED_NIBBLE``, which JAX does not have.
        """
        if self is Precision.PACKED_NIBBLE:
            raise ValueError(
                "Precision.to_lax: value must be DEFAULT, HIGH or HIGHEST, the ones "
                "that jax.lax has, got PACKED_NIBBLE"
            )
        return lax.Precision[self.name]


class PrecisionAlgorithm(DocumentEnum):
    """The algorithm of a dot product: operand, accumulation and component types.

    Example:
        >>> from xlaops.types import PrecisionAlgorithm
        >>> PrecisionAlgorithm.coerce("dot_bf16_bf16_f32_x3").to_lax()
        DotAlgorithmPreset.BF16_BF16_F32_X3

    Source:
        ``PrecisionConfig.Algorithm`` of XLA's ``xla_data.proto``.
    """

    ALG_UNSET = "ALG_UNSET"
    ALG_DOT_ANY_F8_ANY_F8_F32 = "ALG_DOT_ANY_F8_ANY_F8_F32"
    ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM = "ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM"
    ALG_DOT_F16_F16_F16 = "ALG_DOT_F16_F16_F16"
    ALG_DOT_F16_F16_F32 = "ALG_DOT_F16_F16_F32"
    ALG_DOT_BF16_BF16_BF16 = "ALG_DOT_BF16_BF16_BF16"
    ALG_DOT_BF16_BF16_F32 = "ALG_DOT_BF16_BF16_F32"
    ALG_DOT_BF16_BF16_F32_X3 = "ALG_DOT_BF16_BF16_F32_X3"
    ALG_DOT_BF16_BF16_F32_X6 = "ALG_DOT_BF16_BF16_F32_X6"
    ALG_DOT_BF16_BF16_F32_X9 = "ALG_DOT_BF16_BF16_F32_X9"
    ALG_DOT_TF32_TF32_F32 = "ALG_DOT_TF32_TF32_F32"
    ALG_DOT_TF32_TF32_F32_X3 = "ALG_DOT_TF32_TF32_F32_X3"
    ALG_DOT_F32_F32_F32 = "ALG_DOT_F32_F32_F32"
    ALG_DOT_F64_F64_F64 = "ALG_DOT_F64_F64_F64"

    @classmethod
    def coerce(cls, value: Any) -> Self:
        """A member from what stands for one.

        Args:
            value: a member; its name in any case, where ``ALG_`` and ``ALG_DOT_`` may
                be left out; or a ``lax.DotAlgorithmPreset``.

        Raises:
            TypeError: if the value is no name and no member.
            ValueError: if XLA has no algorithm of this name.
        """
        if isinstance(value, lax.DotAlgorithmPreset):
            default = value is lax.DotAlgorithmPreset.DEFAULT
            value = "ALG_UNSET" if default else value.name
        if isinstance(value, str):
            for prefix in ("ALG_", "ALG_DOT_"):
                if prefix + value.upper() in cls.__members__:
                    return cls[prefix + value.upper()]
        return super().coerce(value)

    def to_lax(self) -> lax.DotAlgorithmPreset:
        """The member of ``lax.DotAlgorithmPreset``.

        Raises:
            ValueError: if this version of JAX does not have the algorithm.
        """
        name = self.name.removeprefix("ALG_DOT_")
        if self is PrecisionAlgorithm.ALG_UNSET:
            name = "DEFAULT"
        if name not in lax.DotAlgorithmPreset.__members__:
            raise ValueError(
                "PrecisionAlgorithm.to_lax: value must be an algorithm that "
                f"lax.DotAlgorithmPreset has, got {self.name}"
            )
        return lax.DotAlgorithmPreset[name]


class AccuracyMode(DocumentEnum, first_number=0):
    """How accurate the result of an elementwise function must be.

    Example:
        >>> from xlaops.types import AccuracyMode
        >>> AccuracyMode.coerce("highest")
        <AccuracyMode.HIGHEST: 'HIGHEST'>

    Source:
        ``ResultAccuracy.Mode`` of XLA's ``xla_data.proto``.
    """

    DEFAULT = "DEFAULT"
    HIGHEST = "HIGHEST"


class ChannelType(DocumentEnum, first_number=0):
    """Between which ends a channel carries data.

    Example:
        >>> from xlaops.types import ChannelType
        >>> ChannelType.coerce("device_to_host")
        <ChannelType.DEVICE_TO_HOST: 'DEVICE_TO_HOST'>

    Source:
        ``ChannelHandle.ChannelType`` of XLA's ``xla_data.proto``.
    """

    CHANNEL_TYPE_INVALID = "CHANNEL_TYPE_INVALID"
    DEVICE_TO_DEVICE = "DEVICE_TO_DEVICE"
    DEVICE_TO_HOST = "DEVICE_TO_HOST"
    HOST_TO_DEVICE = "HOST_TO_DEVICE"


class CustomCallSchedule(DocumentEnum, first_number=0, prefix="SCHEDULE_"):
    """Where a custom call stands in the order of a program.

    Example:
        >>> from xlaops.types import CustomCallSchedule
        >>> CustomCallSchedule.coerce("latest")
        <CustomCallSchedule.SCHEDULE_LATEST: 'SCHEDULE_LATEST'>

    Source:
        ``CustomCallSchedule`` of XLA's ``xla_data.proto``.
    """

    SCHEDULE_NONE = "SCHEDULE_NONE"
    SCHEDULE_LATEST = "SCHEDULE_LATEST"
    SCHEDULE_EARLIEST = "SCHEDULE_EARLIEST"


class CustomCallApiVersion(DocumentEnum, first_number=0, prefix="API_VERSION_"):
    """How a program calls the code behind a custom call.

    Example:
        >>> from xlaops.types import CustomCallApiVersion
        >>> CustomCallApiVersion.coerce("typed_ffi")
        <CustomCallApiVersion.API_VERSION_TYPED_FFI: 'API_VERSION_TYPED_FFI'>

    Source:
        ``CustomCallApiVersion`` of XLA's ``xla_data.proto``.
    """

    API_VERSION_UNSPECIFIED = "API_VERSION_UNSPECIFIED"
    API_VERSION_ORIGINAL = "API_VERSION_ORIGINAL"
    API_VERSION_STATUS_RETURNING = "API_VERSION_STATUS_RETURNING"
    API_VERSION_STATUS_RETURNING_UNIFIED = "API_VERSION_STATUS_RETURNING_UNIFIED"
    API_VERSION_TYPED_FFI = "API_VERSION_TYPED_FFI"

    @property
    def number(self) -> int:
        """The number in XLA's protocol buffer, which StableHLO has as well."""
        return list(type(self)).index(self)
