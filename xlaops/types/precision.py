"""How exact products and elementwise functions are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from jax import lax

from .arguments import freeze, from_mapping, integer, sequence, shown
from .enums import AccuracyMode, Precision, PrecisionAlgorithm
from .record import Record


class PrecisionConfig(Record):
    """The precision of each operand of a dot product or convolution.

    Args:
        operand_precision: a :class:`Precision`, or what its ``coerce`` takes, for each
            operand; nothing at all leaves the choice to JAX's configuration.
        algorithm: the algorithm of a dot product, which overrides the precisions, or
            None.

    Raises:
        TypeError, ValueError: if a precision or the algorithm is not one of XLA's.

    Example:
        >>> from xlaops.types import PrecisionConfig
        >>> PrecisionConfig.coerce("HIGHEST").to_lax()
        (Precision.HIGHEST, Precision.HIGHEST)
        >>> PrecisionConfig.coerce(None).to_lax() is None
        True

    Source:
        ``PrecisionConfig`` of XLA's ``xla_data.proto``.
    """

    operand_precision: tuple[Precision, ...] = (Precision.DEFAULT, Precision.DEFAULT)
    algorithm: PrecisionAlgorithm | None = None

    def __post_init__(self) -> None:
        items = sequence(
            self.operand_precision,
            "PrecisionConfig",
            "operand_precision",
            "a sequence of precisions",
        )
        freeze(self, operand_precision=tuple(map(Precision.coerce, items)))
        if self.algorithm is not None:
            algorithm = PrecisionAlgorithm.coerce(self.algorithm)
            # The protocol buffer's way to say that there is none.
            unset = algorithm is PrecisionAlgorithm.ALG_UNSET
            freeze(self, algorithm=None if unset else algorithm)

    @classmethod
    def coerce(cls, value: Any) -> PrecisionConfig:
        """A configuration from what stands for one.

        Args:
            value: an instance; None, for JAX's configuration; one precision for both
                operands (a :class:`Precision`, its name or ``lax.Precision``); a
                sequence of precisions; an algorithm (:class:`PrecisionAlgorithm` or
                ``lax.DotAlgorithmPreset``); or a mapping of the fields.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, PrecisionConfig):
            return value
        if value is None:
            return cls(())
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        if isinstance(value, (PrecisionAlgorithm, lax.DotAlgorithmPreset)):
            return cls((), PrecisionAlgorithm.coerce(value))
        if isinstance(value, (str, lax.Precision)):
            return cls((Precision.coerce(value),) * 2)
        if isinstance(value, (tuple, list)):
            return cls(tuple(map(Precision.coerce, value)))
        raise TypeError(
            "PrecisionConfig: value must be an instance, None, a precision, a sequence "
            "of precisions, an algorithm or a mapping of the fields, got "
            f"{shown(value)}"
        )

    def to_lax(self, num_operands: int = 2) -> lax.PrecisionLike:
        """The ``precision`` argument of lax's products.

        Args:
            num_operands: the number of operands of the operation.

        Returns:
            None if nothing is stated, the algorithm if there is one, and otherwise one
            ``lax.Precision`` for each operand.

        Raises:
            ValueError: if there is another number of precisions than of operands, or
                lax does not have one of them or the algorithm.
        """
        if self.algorithm is not None:
            return self.algorithm.to_lax()
        if not self.operand_precision:
            return None
        if len(self.operand_precision) != num_operands:
            raise ValueError(
                "PrecisionConfig.to_lax: operand_precision must have one entry for "
                f"each of the {num_operands} operands, got "
                f"{shown([p.name for p in self.operand_precision])}"
            )
        # jax's type knows pairs only.
        return cast(Any, tuple(p.to_lax() for p in self.operand_precision))


class Tolerance(Record):
    """The largest error that an elementwise function may make.

    Args:
        atol: the absolute error.
        rtol: the relative error.
        ulps: the error in units in the last place.

    Raises:
        TypeError: if a tolerance is not a number, or ``ulps`` not an integer.
        ValueError: if one is negative or not finite, or all are zero.

    Example:
        >>> from xlaops.types import Tolerance
        >>> Tolerance(rtol=1e-3)
        Tolerance(atol=0.0, rtol=0.001, ulps=0)

    Source:
        ``ResultAccuracy.Tolerance`` of XLA's ``xla_data.proto``.
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        for name in ("atol", "rtol"):
            freeze(self, **{name: _tolerance(getattr(self, name), name)})
        freeze(self, ulps=integer(self.ulps, "Tolerance", "ulps", minimum=0))
        if not (self.atol or self.rtol or self.ulps):
            raise ValueError(
                "Tolerance: one of atol, rtol and ulps must be positive, got 0, 0 and 0"
            )


class ResultAccuracy(Record):
    """The accuracy asked of an elementwise function: a mode or a tolerance.

    Args:
        mode: an :class:`AccuracyMode` or what its ``coerce`` takes.
        tolerance: a :class:`Tolerance` or a mapping of its fields, in place of a mode.

    Raises:
        TypeError, ValueError: if the mode or tolerance is not valid, or both are given.

    Example:
        >>> from xlaops.types import ResultAccuracy
        >>> ResultAccuracy.coerce({"atol": 1e-6, "ulps": 2}).tolerance
        Tolerance(atol=1e-06, rtol=0.0, ulps=2)
        >>> ResultAccuracy.coerce("highest").to_lax()
        <AccuracyMode.HIGHEST: 1>

    Source:
        ``ResultAccuracy`` of XLA's ``xla_data.proto``.
    """

    mode: AccuracyMode = AccuracyMode.DEFAULT
    tolerance: Tolerance | None = None

    def __post_init__(self) -> None:
        freeze(self, mode=AccuracyMode.coerce(self.mode))
        if self.tolerance is None:
            return
        if isinstance(self.tolerance, Mapping):
            freeze(self, tolerance=from_mapping(Tolerance, self.tolerance))
        elif not isinstance(self.tolerance, Tolerance):
            raise TypeError(
                "ResultAccuracy: tolerance must be a Tolerance, a mapping of its "
                f"fields or None, got {shown(self.tolerance)}"
            )
        if self.mode is not AccuracyMode.DEFAULT:
            raise ValueError(
                "ResultAccuracy: mode must be DEFAULT beside a tolerance, got "
                f"{self.mode.name} with {self.tolerance}"
            )

    @classmethod
    def coerce(cls, value: Any) -> ResultAccuracy:
        """An accuracy from what stands for one.

        Args:
            value: an instance; None, for the default; a mode (an :class:`AccuracyMode`,
                its name or ``lax.AccuracyMode``); a :class:`Tolerance` or
                ``lax.Tolerance``; a mapping of the fields ``mode`` or ``tolerance``; or
                a mapping of ``atol``, ``rtol`` and ``ulps``.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, ResultAccuracy):
            return value
        if value is None:
            return cls()
        if isinstance(value, (str, lax.AccuracyMode)):
            return cls(AccuracyMode.coerce(value))
        if isinstance(value, lax.Tolerance):
            return cls(tolerance=Tolerance(value.atol, value.rtol, value.ulps))
        if isinstance(value, Tolerance):
            return cls(tolerance=value)
        if isinstance(value, Mapping):
            if value and set(value) <= {"atol", "rtol", "ulps"}:
                return cls(tolerance=from_mapping(Tolerance, value))
            return from_mapping(cls, value)
        raise TypeError(
            "ResultAccuracy: value must be an instance, None, a mode, a tolerance or a "
            f"mapping of the fields of either, got {shown(value)}"
        )

    def to_lax(self) -> lax.AccuracyMode | lax.Tolerance | None:
        """The ``accuracy`` argument of lax's functions; None for the default."""
        if self.tolerance is not None:
            return lax.Tolerance(**dataclasses.asdict(self.tolerance))
        if self.mode is AccuracyMode.HIGHEST:
            return lax.AccuracyMode.HIGHEST
        return None


def _tolerance(value: Any, name: str) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(f"Tolerance: {name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except TypeError as error:
        message = f"Tolerance: {name} must be a number, got {shown(value)}"
        raise TypeError(message) from error
    except OverflowError:  # an int beyond the largest float
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise ValueError(
            f"Tolerance: {name} must be finite and non-negative, got {number}"
        )
    return number
