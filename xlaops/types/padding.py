"""How arrays and windows are padded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from .arguments import (
    freeze,
    from_mapping,
    integer,
    integers,
    sequence,
    shown,
)
from .enums import Padding
from .record import Record
from .scanner import INT64_MAX

_DIMENSION: Final = re.compile(r"(-?\d{1,19})_(-?\d{1,19})(?:_(\d{1,19}))?")


class PaddingConfigDimension(Record):
    """The padding of one dimension.

    Args:
        edge_padding_low: the elements added before the first, negative to remove some.
        edge_padding_high: the elements added after the last, negative to remove some.
        interior_padding: the elements added between any two neighbours.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if ``interior_padding`` is negative.

    Example:
        >>> from xlaops.types import PaddingConfigDimension
        >>> PaddingConfigDimension(1, -1, 2).interior_padding
        2

    Source:
        ``PaddingConfig.PaddingConfigDimension`` of XLA's ``xla_data.proto``.
    """

    edge_padding_low: int = 0
    edge_padding_high: int = 0
    interior_padding: int = 0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        low = integer(self.edge_padding_low, owner, "edge_padding_low")
        high = integer(self.edge_padding_high, owner, "edge_padding_high")
        interior = integer(self.interior_padding, owner, "interior_padding", minimum=0)
        freeze(
            self,
            edge_padding_low=low,
            edge_padding_high=high,
            interior_padding=interior,
        )

    @classmethod
    def coerce(cls, value: Any) -> PaddingConfigDimension:
        """The padding from an instance, a mapping or ``(low, high, interior)``.

        Raises:
            TypeError, ValueError: if the value is none of these. Pairs are refused: it
                is not clear that they mean low and high.
        """
        if isinstance(value, PaddingConfigDimension):
            return value
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        rule = "an instance, a mapping of its fields or (low, high, interior)"
        numbers = sequence(value, cls.__name__, "value", rule)
        if len(numbers) != 3:
            raise ValueError(
                f"{cls.__name__}: value must be {rule}, got {shown(value)}"
            )
        return cls(*numbers)


class PaddingConfig(Record):
    """The padding of every dimension of an array.

    ``str`` gives what HLO text writes: ``low_high`` for each dimension, joined by
    ``x``, with ``_interior`` if any dimension has interior padding.

    Args:
        dimensions: for each dimension what :meth:`PaddingConfigDimension.coerce` takes.

    Raises:
        TypeError, ValueError: if an entry is not valid.

    Example:
        >>> from xlaops.types import PaddingConfig
        >>> config = PaddingConfig.coerce([(0, 1, 0), (2, 3, 4)])
        >>> str(config)
        '0_1_0x2_3_4'
        >>> PaddingConfig.coerce("0_1x2_3").dimensions[1].edge_padding_high
        3

    Source:
        ``PaddingConfig`` of XLA's ``xla_data.proto``; the section "Pad" of "Operation
        semantics".
    """

    dimensions: tuple[PaddingConfigDimension, ...] = ()

    def __post_init__(self) -> None:
        items = sequence(
            self.dimensions,
            "PaddingConfig",
            "dimensions",
            "a sequence with (low, high, interior) for each dimension",
        )
        freeze(self, dimensions=tuple(map(PaddingConfigDimension.coerce, items)))

    @classmethod
    def coerce(cls, value: Any) -> PaddingConfig:
        """The padding from what stands for it.

        Args:
            value: an instance; a sequence with ``(low, high, interior)`` or a mapping
                for each dimension; a mapping with ``dimensions``; or HLO text.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, PaddingConfig):
            return value
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        if isinstance(value, str):
            return cls.parse(value)
        return cls(value)

    @classmethod
    def parse(cls, text: str) -> PaddingConfig:
        """The padding that HLO text writes after ``padding=``.

        Raises:
            TypeError: if it is no text.
            ValueError: with the position, if the text has another form.
        """
        if not isinstance(text, str):
            raise TypeError(
                f"{cls.__name__}.parse: text must be a string, got {shown(text)}"
            )
        dimensions: list[PaddingConfigDimension] = []
        position = 0
        while position < len(text):
            match = _DIMENSION.match(text, position)
            end = position if match is None else match.end()
            is_last = end == len(text)
            if match is None or not (is_last or text[end : end + 1] == "x"):
                _fail(position, "low_high or low_high_interior", text)
            numbers = [int(number or 0) for number in match.groups()]
            if any(abs(number) > INT64_MAX for number in numbers):
                _fail(position, "numbers below 2**63", text)
            dimensions.append(PaddingConfigDimension(*numbers))
            if not is_last and end + 1 == len(text):
                _fail(end + 1, "low_high or low_high_interior", text)
            position = end + 1
        return cls(tuple(dimensions))

    def __str__(self) -> str:
        interior = any(d.interior_padding for d in self.dimensions)
        return "x".join(
            f"{d.edge_padding_low}_{d.edge_padding_high}"
            + (f"_{d.interior_padding}" if interior else "")
            for d in self.dimensions
        )


def _fail(position: int, expected: str, text: str) -> NoReturn:
    came = repr(text[position : position + 24]) if position < len(text) else "its end"
    raise ValueError(
        f"PaddingConfig.parse: expected {expected} at position {position}, got {came}"
    )


def window_padding(value: Any) -> Padding | tuple[tuple[int, int], ...]:
    """The padding of a window: a :class:`Padding` or explicit pairs.

    Args:
        value: a :class:`Padding` or its name, or for each dimension of the window a
            pair ``(low, high)``, in which numbers may be negative.

    Returns:
        The padding, with pairs as tuples of Python ints.

    Raises:
        TypeError, ValueError: if the value is neither.

    Example:
        >>> from xlaops.types import window_padding
        >>> window_padding("same")
        <Padding.SAME: 'SAME'>
        >>> window_padding([[0, 1], [2, 2]])
        ((0, 1), (2, 2))

    Source:
        The sections "ConvWithGeneralPadding (convolution)" and "ReduceWindow" of
        "Operation semantics".
    """
    if isinstance(value, str):
        return Padding.coerce(value)
    rule = "SAME, VALID or a (low, high) pair for each dimension"
    pairs: list[tuple[int, int]] = []
    for i, item in enumerate(sequence(value, "window_padding", "padding", rule)):
        pair = integers(item, "window_padding", f"padding[{i}]")
        if len(pair) != 2:
            raise ValueError(
                f"window_padding: padding must be {rule}, got {shown(value)}"
            )
        pairs.append((pair[0], pair[1]))
    return tuple(pairs)
