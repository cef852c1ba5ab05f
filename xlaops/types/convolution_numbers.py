"""The dimension numbers of convolutions.

The fields have exactly the names of XLA's protocol buffer, so that the class takes what
a dump of such a message holds. What needs no shapes is checked when an object is made;
ranks and sizes are for the operations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from jax import lax

from .arguments import (
    freeze,
    freeze_dimensions,
    from_mapping,
    integer,
    sequence,
    shown,
)
from .record import Record

# XLA writes a convolution's spatial dimensions as one digit each, and every position up
# to the largest dimension number as one character: more than these have no such text.
_MAX_SPATIAL_IN_TEXT: Final = 10
_MAX_RANK_IN_TEXT: Final = 64


class ConvolutionDimensionNumbers(Record):
    """The batch, feature and spatial dimensions of a convolution's three arrays.

    The i-th numbers of the three ``spatial_dimensions`` belong to one another.

    Args:
        input_batch_dimension: the batch dimension of the input (``lhs``).
        input_feature_dimension: its feature dimension.
        input_spatial_dimensions: its spatial dimensions.
        kernel_input_feature_dimension: the kernel's (``rhs``) dimension that meets the
            input's features.
        kernel_output_feature_dimension: the kernel's dimension that makes the output's.
        kernel_spatial_dimensions: the kernel's spatial dimensions.
        output_batch_dimension: the batch dimension of the output.
        output_feature_dimension: its feature dimension.
        output_spatial_dimensions: its spatial dimensions.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if a number is negative or used twice in one array, or the counts of
            spatial dimensions differ.

    Example:
        >>> from xlaops.types import ConvolutionDimensionNumbers
        >>> numbers = ConvolutionDimensionNumbers.coerce(("NHWC", "HWIO", "NHWC"))
        >>> str(numbers), numbers.kernel_output_feature_dimension
        ('b01f_01io->b01f', 3)
        >>> str(ConvolutionDimensionNumbers.default(2))
        'bf01_oi01->bf01'

    Source:
        ``ConvolutionDimensionNumbers`` of XLA's ``xla_data.proto``; the section
        "ConvWithGeneralPadding (convolution)" of "Operation semantics".
    """

    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: tuple[int, ...]
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: tuple[int, ...]
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: tuple[int, ...]

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_spatial_dimensions"):
                freeze_dimensions(self, field.name)
            else:
                number = integer(value, owner, field.name, minimum=0)
                freeze(self, **{field.name: number})
        spatial = (
            self.input_spatial_dimensions,
            self.kernel_spatial_dimensions,
            self.output_spatial_dimensions,
        )
        if len(set(map(len, spatial))) != 1:
            raise ValueError(
                f"{owner}: input_spatial_dimensions, kernel_spatial_dimensions and "
                f"output_spatial_dimensions must have the same length, got {spatial[0]}"
                f", {spatial[1]} and {spatial[2]}"
            )
        specs = zip(("input", "kernel", "output"), self._specs(), strict=True)
        for array, spec in specs:
            if len(set(spec)) != len(spec):
                raise ValueError(
                    f"{owner}: the dimensions of the {array} must be distinct, got "
                    f"{spec}"
                )

    def _specs(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The numbers in lax's order: two named dimensions, then the spatial ones."""
        return (
            (
                self.input_batch_dimension,
                self.input_feature_dimension,
                *self.input_spatial_dimensions,
            ),
            (
                self.kernel_output_feature_dimension,
                self.kernel_input_feature_dimension,
                *self.kernel_spatial_dimensions,
            ),
            (
                self.output_batch_dimension,
                self.output_feature_dimension,
                *self.output_spatial_dimensions,
            ),
        )

    @classmethod
    def _from_specs(cls, lhs: Any, rhs: Any, out: Any) -> ConvolutionDimensionNumbers:
        specs = [
            sequence(spec, cls.__name__, name, "a sequence of at least two numbers")
            for name, spec in (("lhs_spec", lhs), ("rhs_spec", rhs), ("out_spec", out))
        ]
        if any(len(spec) < 2 for spec in specs):
            raise ValueError(
                f"{cls.__name__}: lhs_spec, rhs_spec and out_spec must have at least "
                f"two numbers, got {shown(specs)}"
            )
        (b, f, *lhs_spatial), (o, i, *rhs_spatial), (ob, of, *out_spatial) = specs
        return cls(
            input_batch_dimension=b,
            input_feature_dimension=f,
            input_spatial_dimensions=tuple(lhs_spatial),
            kernel_input_feature_dimension=i,
            kernel_output_feature_dimension=o,
            kernel_spatial_dimensions=tuple(rhs_spatial),
            output_batch_dimension=ob,
            output_feature_dimension=of,
            output_spatial_dimensions=tuple(out_spatial),
        )

    @property
    def num_spatial_dimensions(self) -> int:
        """The number of spatial dimensions."""
        return len(self.input_spatial_dimensions)

    @classmethod
    def default(cls, num_spatial_dimensions: int = 2) -> ConvolutionDimensionNumbers:
        """XLA's default: batch, feature, spatial; the kernel output feature first.

        Source:
            ``XlaBuilder::CreateDefaultConvDimensionNumbers``.
        """
        count = integer(
            num_spatial_dimensions,
            f"{cls.__name__}.default",
            "num_spatial_dimensions",
            minimum=0,
        )
        order = tuple(range(count + 2))
        return cls._from_specs(order, order, order)

    @classmethod
    def coerce(cls, value: Any) -> ConvolutionDimensionNumbers:
        """The numbers from any of the forms that people write them in.

        Args:
            value: an instance; a mapping with the field names; XLA's text
                (``"b01f_01io->b01f"``); three texts such as ``("NHWC", "HWIO",
                "NHWC")``, whose spatial letters are paired by name, in the kernel's
                order; or a ``lax.ConvDimensionNumbers``.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, ConvolutionDimensionNumbers):
            return value
        if isinstance(value, lax.ConvDimensionNumbers):
            return cls._from_specs(value.lhs_spec, value.rhs_spec, value.out_spec)
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, (tuple, list)) and len(value) == 3:
            lhs, rhs, out = value
            if isinstance(lhs, str) and isinstance(rhs, str) and isinstance(out, str):
                return cls._from_letters(lhs, rhs, out)
        raise TypeError(
            f"{cls.__name__}: value must be an instance, a mapping of its fields, text "
            "such as 'b01f_01io->b01f', three texts such as ('NHWC', 'HWIO', 'NHWC') "
            f"or a lax.ConvDimensionNumbers, got {shown(value)}"
        )

    @classmethod
    def _from_letters(cls, lhs: str, rhs: str, out: str) -> ConvolutionDimensionNumbers:
        lhs, rhs, out = lhs.upper(), rhs.upper(), out.upper()
        specs = (("lhs", lhs, "NC"), ("rhs", rhs, "OI"), ("out", out, "NC"))
        # The others are held to the kernel's, which has to be right itself first.
        if not {"O", "I"} <= set(rhs) or set(rhs) & set("NC"):
            raise ValueError(
                f"{cls.__name__}: rhs must have the letters O and I once, and others "
                f"than N and C for what is spatial, got {rhs!r}"
            )
        spatial = [letter for letter in rhs if letter not in "OI"]
        for name, text, named in specs:
            expected = sorted([*named, *spatial])
            if sorted(text) != expected or len(set(text)) != len(text):
                raise ValueError(
                    f"{cls.__name__}: {name} must have each of the letters "
                    f"{''.join([*named, *spatial])} once, got {text!r}"
                )
        return cls._from_specs(
            *(
                tuple(text.index(letter) for letter in [*named, *spatial])
                for _, text, named in specs
            )
        )

    @classmethod
    def parse(cls, text: str) -> ConvolutionDimensionNumbers:
        """The numbers that HLO text writes after ``dim_labels=``.

        A ``?`` stands for a dimension that takes no part.

        Raises:
            TypeError: if it is no text.
            ValueError: if the text has another form, or labels that do not fit.
        """
        if not isinstance(text, str):
            raise TypeError(
                f"{cls.__name__}.parse: text must be a string, got {shown(text)}"
            )
        left, arrow, out = text.partition("->")
        lhs, underscore, rhs = left.partition("_")
        if not arrow or not underscore:
            raise ValueError(
                f"{cls.__name__}.parse: text must have the form 'b01f_01io->b01f', got "
                f"{shown(text)}"
            )
        count = sum(label in "0123456789" for label in lhs)
        return cls._from_specs(
            _label_positions("lhs", lhs, "bf", count),
            _label_positions("rhs", rhs, "oi", count),
            _label_positions("out", out, "bf", count),
        )

    def __str__(self) -> str:
        specs = self._specs()
        if (
            self.num_spatial_dimensions > _MAX_SPATIAL_IN_TEXT
            or max(map(max, specs)) >= _MAX_RANK_IN_TEXT
        ):
            return repr(self)
        lhs, rhs, out = map(_label_text, specs, ("bf", "oi", "bf"))
        return f"{lhs}_{rhs}->{out}"

    def to_lax(self) -> lax.ConvDimensionNumbers:
        """The numbers as ``lax.conv_general_dilated`` takes them."""
        return lax.ConvDimensionNumbers(*self._specs())


def _label_positions(array: str, text: str, named: str, count: int) -> tuple[int, ...]:
    labels = [label for label in text if label != "?"]
    expected = [*named, *(str(i) for i in range(count))]
    if count > _MAX_SPATIAL_IN_TEXT or sorted(labels) != sorted(expected):
        raise ValueError(
            "ConvolutionDimensionNumbers.parse: the labels of the "
            f"{array} must be {named[0]}, {named[1]} and the digits from 0 on, each "
            f"once and as many digits as in the lhs, got {shown(text)}"
        )
    return tuple(text.index(label) for label in expected)


def _label_text(spec: tuple[int, ...], named: str) -> str:
    labels = ["?"] * (max(spec) + 1)
    for position, label in zip(spec, [*named, *"0123456789"], strict=False):
        labels[position] = label
    return "".join(labels)
