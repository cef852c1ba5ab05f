"""What callers may write for the static arguments of operations."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import jax
from jax import lax
from jax.typing import DTypeLike as JaxDTypeLike

from .. import types

Dims: TypeAlias = Sequence[int]
DTypeLike: TypeAlias = JaxDTypeLike
ShapeLike: TypeAlias = types.Shape | jax.ShapeDtypeStruct | str
ItemShapeLike: TypeAlias = ShapeLike | Sequence[ShapeLike]
# Pairs of a result and an operand that share memory, each with the place in the tuple.
Aliasing: TypeAlias = Sequence[tuple[Sequence[int], tuple[int, Sequence[int]]]]
ChannelHandleLike: TypeAlias = types.ChannelHandle | Mapping[str, Any] | int
ResultAccuracyLike: TypeAlias = (
    types.ResultAccuracy
    | lax.AccuracyMode
    | lax.Tolerance
    | Mapping[str, Any]
    | str
    | None
)
PrecisionConfigLike: TypeAlias = (
    types.PrecisionConfig
    | lax.Precision
    | Mapping[str, Any]
    | Sequence[Any]
    | str
    | None
)
PaddingConfigLike: TypeAlias = (
    types.PaddingConfig | Mapping[str, Any] | Sequence[Sequence[int]]
)
DotDimensionNumbersLike: TypeAlias = (
    types.DotDimensionNumbers
    | Mapping[str, Any]
    | tuple[tuple[Dims, Dims], tuple[Dims, Dims]]
)
RaggedDotDimensionNumbersLike: TypeAlias = (
    types.RaggedDotDimensionNumbers
    | lax.RaggedDotDimensionNumbers
    | Mapping[str, Any]
    | Sequence[Any]
)
GatherDimensionNumbersLike: TypeAlias = types.GatherDimensionNumbers | Mapping[str, Any]
ScatterDimensionNumbersLike: TypeAlias = (
    types.ScatterDimensionNumbers | Mapping[str, Any]
)
ConvolutionDimensionNumbersLike: TypeAlias = (
    types.ConvolutionDimensionNumbers
    | lax.ConvDimensionNumbers
    | Mapping[str, Any]
    | tuple[str, str, str]
    | str
)
PaddingLike: TypeAlias = types.Padding | str
WindowPadding: TypeAlias = Sequence[tuple[int, int]] | Sequence[Sequence[int]]
LayoutLike: TypeAlias = types.Layout | Sequence[int] | str
AxisNames: TypeAlias = Hashable | Sequence[Hashable]
ReplicaGroupsLike: TypeAlias = (
    Sequence[types.ReplicaGroup | Mapping[str, Any] | Sequence[int]] | str
)
SourceTargetPairsLike: TypeAlias = (
    Sequence[types.SourceTarget | Mapping[str, Any] | Sequence[int]] | str
)
