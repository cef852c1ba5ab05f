"""The dimension numbers of dot products.

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
    require_disjoint,
    require_equal_lengths,
    shown,
)
from .record import Record
from .scanner import Scanner


class DotDimensionNumbers(Record):
    """The contracting and batch dimensions of a general dot product.

    The i-th contracting dimensions of the two sides are multiplied and summed over, the
    i-th batch dimensions run together.

    Args:
        lhs_contracting_dimensions: the contracting dimensions of ``lhs``.
        rhs_contracting_dimensions: those of ``rhs``.
        lhs_batch_dimensions: the batch dimensions of ``lhs``.
        rhs_batch_dimensions: those of ``rhs``.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if a number is negative or used twice on one side, or the two sides
            have different counts.

    Example:
        >>> from xlaops.types import DotDimensionNumbers
        >>> numbers = DotDimensionNumbers([1], [0])
        >>> str(numbers)
        'lhs_contracting_dims={1}, rhs_contracting_dims={0}'
        >>> DotDimensionNumbers.coerce((((1,), (0,)), ((), ()))) == numbers
        True

    Source:
        ``DotDimensionNumbers`` of XLA's ``xla_data.proto``; the section "DotGeneral" of
        "Operation semantics".
    """

    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()
    lhs_batch_dimensions: tuple[int, ...] = ()
    rhs_batch_dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        freeze_dimensions(self, *(f.name for f in dataclasses.fields(self)))
        for part in ("contracting_dimensions", "batch_dimensions"):
            require_equal_lengths(self, f"lhs_{part}", f"rhs_{part}")
        for side in ("lhs", "rhs"):
            require_disjoint(
                self, f"{side}_contracting_dimensions", f"{side}_batch_dimensions"
            )

    @classmethod
    def coerce(cls, value: Any) -> DotDimensionNumbers:
        """The numbers from any of the forms that people write them in.

        Args:
            value: an instance; a mapping with the field names; XLA's text; or lax's
                ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, DotDimensionNumbers):
            return value
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, (tuple, list)) and len(value) == 2:
            pairs = [p for p in value if isinstance(p, (tuple, list)) and len(p) == 2]
            if len(pairs) == 2:
                (lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch) = pairs
                return cls(lhs_contracting, rhs_contracting, lhs_batch, rhs_batch)
        raise TypeError(
            f"{cls.__name__}: value must be an instance, a mapping of its fields, text "
            "such as 'lhs_contracting_dims={1}, rhs_contracting_dims={0}' or "
            "((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)), got "
            f"{shown(value)}"
        )

    @classmethod
    def parse(cls, text: str) -> DotDimensionNumbers:
        """The numbers from the attributes of a dot in HLO text, in any order.

        Raises:
            ValueError: with the position, if the text has another form.
        """
        scanner = Scanner(f"{cls.__name__}.parse", text)
        fields: dict[str, tuple[int, ...]] = {}
        while True:
            for name, attribute in _DOT_ATTRIBUTES.items():
                if name not in fields and scanner.accept(attribute):
                    break
            else:
                scanner.fail(
                    "one of the attributes "
                    + ", ".join(
                        a for n, a in _DOT_ATTRIBUTES.items() if n not in fields
                    )
                )
            scanner.expect("=")
            scanner.expect("{")
            fields[name] = tuple(scanner.integers("a dimension number", "}"))
            scanner.expect("}")
            if len(fields) == len(_DOT_ATTRIBUTES) or not scanner.accept(","):
                break
        scanner.finish()
        return cls(**fields)

    def __str__(self) -> str:
        return ", ".join(
            f"{attribute}={{{','.join(map(str, getattr(self, name)))}}}"
            for name, attribute in _DOT_ATTRIBUTES.items()
            # As in HLO text, batch dimensions are left out where there are none.
            if getattr(self, name) or "contracting" in name
        )

    def to_lax(
        self,
    ) -> tuple[
        tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]
    ]:
        """The numbers as ``lax.dot_general`` takes them."""
        return (
            (self.lhs_contracting_dimensions, self.rhs_contracting_dimensions),
            (self.lhs_batch_dimensions, self.rhs_batch_dimensions),
        )


_DOT_ATTRIBUTES: Final = {
    "lhs_batch_dimensions": "lhs_batch_dims",
    "lhs_contracting_dimensions": "lhs_contracting_dims",
    "rhs_batch_dimensions": "rhs_batch_dims",
    "rhs_contracting_dimensions": "rhs_contracting_dims",
}


class RaggedDotDimensionNumbers(Record):
    """The dimensions of a dot product whose ``lhs`` consists of groups of rows.

    Args:
        dot_dimension_numbers: the dimensions of the dot, see
            :class:`DotDimensionNumbers`; whatever its ``coerce`` takes.
        lhs_ragged_dimensions: the one dimension of ``lhs`` that is cut into groups.
        rhs_group_dimensions: the dimension of ``rhs`` that counts the groups, if any.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if there is not exactly one ragged dimension, more than one group
            dimension, or the group dimension is also contracting or batch.

    Example:
        >>> from xlaops.types import RaggedDotDimensionNumbers
        >>> numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
        >>> numbers.dot_dimension_numbers.lhs_contracting_dimensions
        (1,)

    Source:
        ``RaggedDotDimensionNumbers`` of XLA's ``xla_data.proto``; the section
        "RaggedDot" of "Operation semantics".
    """

    dot_dimension_numbers: DotDimensionNumbers
    lhs_ragged_dimensions: tuple[int, ...]
    rhs_group_dimensions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        dot = DotDimensionNumbers.coerce(self.dot_dimension_numbers)
        freeze(self, dot_dimension_numbers=dot)
        freeze_dimensions(self, "lhs_ragged_dimensions", "rhs_group_dimensions")
        owner = type(self).__name__
        if len(self.lhs_ragged_dimensions) != 1:
            raise ValueError(
                f"{owner}: lhs_ragged_dimensions must be exactly one dimension, got "
                f"{self.lhs_ragged_dimensions}"
            )
        if len(self.rhs_group_dimensions) > 1:
            raise ValueError(
                f"{owner}: rhs_group_dimensions must be at most one dimension, got "
                f"{self.rhs_group_dimensions}"
            )
        used = dot.rhs_contracting_dimensions + dot.rhs_batch_dimensions
        if set(self.rhs_group_dimensions) & set(used):
            raise ValueError(
                f"{owner}: rhs_group_dimensions must be neither contracting nor batch, "
                f"got {self.rhs_group_dimensions} with {dot}"
            )

    @classmethod
    def coerce(cls, value: Any) -> RaggedDotDimensionNumbers:
        """The numbers from an instance or from what stands for one.

        Args:
            value: an instance; a mapping with the field names; a
                ``lax.RaggedDotDimensionNumbers``; or the three fields as a tuple.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, RaggedDotDimensionNumbers):
            return value
        if isinstance(value, lax.RaggedDotDimensionNumbers):
            return cls(
                DotDimensionNumbers.coerce(value.dot_dimension_numbers),
                tuple(value.lhs_ragged_dimensions),
                tuple(value.rhs_group_dimensions),
            )
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        if isinstance(value, (tuple, list)) and len(value) == 3:
            return cls(*value)
        raise TypeError(
            f"{cls.__name__}: value must be an instance, a mapping of its fields, a "
            "lax.RaggedDotDimensionNumbers or (dot_dimension_numbers, "
            f"lhs_ragged_dimensions, rhs_group_dimensions), got {shown(value)}"
        )

    def to_lax(self) -> lax.RaggedDotDimensionNumbers:
        """The numbers as ``lax.ragged_dot_general`` takes them."""
        return lax.RaggedDotDimensionNumbers(
            self.dot_dimension_numbers.to_lax(),
            self.lhs_ragged_dimensions,
            self.rhs_group_dimensions,
        )
