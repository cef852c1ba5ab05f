"""Everything that XLA documents, as plain JAX functions.

The operations are here by name (``import xlaops as xo; xo.add(x, y)``), with the
signatures and semantics of XLA's *Operation semantics* document; the sub-packages load
when they are first used.
"""

from typing import TYPE_CHECKING, Any

from .ops.arithmetic import abs as abs
from .ops.arithmetic import add as add
from .ops.arithmetic import atan2 as atan2
from .ops.arithmetic import div as div
from .ops.arithmetic import max as max
from .ops.arithmetic import min as min
from .ops.arithmetic import mul as mul
from .ops.arithmetic import neg as neg
from .ops.arithmetic import pow as pow
from .ops.arithmetic import rem as rem
from .ops.arithmetic import sign as sign
from .ops.arithmetic import sub as sub
from .ops.broadcast import broadcast as broadcast
from .ops.broadcast import broadcast_in_dim as broadcast_in_dim
from .ops.comparison import compare as compare
from .ops.comparison import eq as eq
from .ops.comparison import eq_total_order as eq_total_order
from .ops.comparison import ge as ge
from .ops.comparison import ge_total_order as ge_total_order
from .ops.comparison import gt as gt
from .ops.comparison import gt_total_order as gt_total_order
from .ops.comparison import is_finite as is_finite
from .ops.comparison import le as le
from .ops.comparison import le_total_order as le_total_order
from .ops.comparison import lt as lt
from .ops.comparison import lt_total_order as lt_total_order
from .ops.comparison import ne as ne
from .ops.comparison import ne_total_order as ne_total_order
from .ops.constants import iota as iota
from .ops.control_flow import conditional as conditional
from .ops.control_flow import while_ as while_
from .ops.conversion import convert_element_type as convert_element_type
from .ops.convolution import conv as conv
from .ops.convolution import conv_general as conv_general
from .ops.convolution import conv_general_dilated as conv_general_dilated
from .ops.convolution import (
    conv_with_general_dimensions as conv_with_general_dimensions,
)
from .ops.convolution import conv_with_general_padding as conv_with_general_padding
from .ops.dot import dot as dot
from .ops.dot import dot_general as dot_general
from .ops.logical import and_ as and_
from .ops.logical import not_ as not_
from .ops.logical import or_ as or_
from .ops.logical import xor as xor
from .ops.random import rng_normal as rng_normal
from .ops.random import rng_uniform as rng_uniform
from .ops.rounding import ceil as ceil
from .ops.rounding import floor as floor
from .ops.rounding import round as round
from .ops.rounding import round_nearest_afz as round_nearest_afz
from .ops.rounding import round_nearest_even as round_nearest_even
from .ops.selection import clamp as clamp
from .ops.selection import select as select
from .ops.shape import concat_in_dim as concat_in_dim
from .ops.shape import pad as pad
from .ops.shape import reshape as reshape
from .ops.shape import transpose as transpose
from .ops.slicing import slice as slice
from .ops.transcendental import cbrt as cbrt
from .ops.transcendental import cos as cos
from .ops.transcendental import exp as exp
from .ops.transcendental import expm1 as expm1
from .ops.transcendental import log as log
from .ops.transcendental import log1p as log1p
from .ops.transcendental import logistic as logistic
from .ops.transcendental import rsqrt as rsqrt
from .ops.transcendental import sin as sin
from .ops.transcendental import sqrt as sqrt
from .ops.transcendental import tan as tan
from .ops.transcendental import tanh as tanh
from .types import AccuracyMode as AccuracyMode
from .types import ChannelHandle as ChannelHandle
from .types import ChannelType as ChannelType
from .types import ComparisonDirection as ComparisonDirection
from .types import ComparisonType as ComparisonType
from .types import ConvolutionDimensionNumbers as ConvolutionDimensionNumbers
from .types import DotDimensionNumbers as DotDimensionNumbers
from .types import FftType as FftType
from .types import GatherDimensionNumbers as GatherDimensionNumbers
from .types import Layout as Layout
from .types import Padding as Padding
from .types import PaddingConfig as PaddingConfig
from .types import PaddingConfigDimension as PaddingConfigDimension
from .types import Precision as Precision
from .types import PrecisionAlgorithm as PrecisionAlgorithm
from .types import PrecisionConfig as PrecisionConfig
from .types import RaggedDotDimensionNumbers as RaggedDotDimensionNumbers
from .types import RandomAlgorithm as RandomAlgorithm
from .types import ReplicaGroup as ReplicaGroup
from .types import ResultAccuracy as ResultAccuracy
from .types import ScatterDimensionNumbers as ScatterDimensionNumbers
from .types import Shape as Shape
from .types import SourceTarget as SourceTarget
from .types import SplitConfig as SplitConfig
from .types import Tile as Tile
from .types import Tolerance as Tolerance
from .types import Transpose as Transpose

if TYPE_CHECKING:
    from . import catalog as catalog
    from . import ffi as ffi
    from . import types as types

    __version__: str

__all__ = [
    "AccuracyMode",
    "ChannelHandle",
    "ChannelType",
    "ComparisonDirection",
    "ComparisonType",
    "ConvolutionDimensionNumbers",
    "DotDimensionNumbers",
    "FftType",
    "GatherDimensionNumbers",
    "Layout",
    "Padding",
    "PaddingConfig",
    "PaddingConfigDimension",
    "Precision",
    "PrecisionAlgorithm",
    "PrecisionConfig",
    "RaggedDotDimensionNumbers",
    "RandomAlgorithm",
    "ReplicaGroup",
    "ResultAccuracy",
    "ScatterDimensionNumbers",
    "Shape",
    "SourceTarget",
    "SplitConfig",
    "Tile",
    "Tolerance",
    "Transpose",
    "abs",
    "add",
    "and_",
    "atan2",
    "broadcast",
    "broadcast_in_dim",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "concat_in_dim",
    "conditional",
    "conv",
    "conv_general",
    "conv_general_dilated",
    "conv_with_general_dimensions",
    "conv_with_general_padding",
    "convert_element_type",
    "cos",
    "div",
    "dot",
    "dot_general",
    "eq",
    "eq_total_order",
    "exp",
    "expm1",
    "floor",
    "ge",
    "ge_total_order",
    "gt",
    "gt_total_order",
    "iota",
    "is_finite",
    "le",
    "le_total_order",
    "log",
    "log1p",
    "logistic",
    "lt",
    "lt_total_order",
    "max",
    "min",
    "mul",
    "ne",
    "ne_total_order",
    "neg",
    "not_",
    "or_",
    "pad",
    "pow",
    "rem",
    "reshape",
    "rng_normal",
    "rng_uniform",
    "round",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "select",
    "sign",
    "sin",
    "slice",
    "sqrt",
    "sub",
    "tan",
    "tanh",
    "transpose",
    "while_",
    "xor",
]

_SUBPACKAGES = ("catalog", "ffi", "types")


def __getattr__(name: str) -> Any:
    # Loaded on first use: they are not needed by the operations, and some take time.
    if name in _SUBPACKAGES:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name == "__version__":
        import importlib.metadata

        try:
            return importlib.metadata.version(__name__)
        except importlib.metadata.PackageNotFoundError:
            return "0+unknown"  # a source tree that was never installed
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBPACKAGES, "__version__"})
