"""Everything that XLA documents, as plain JAX functions.

The operations are here by name (``import xlaops as xo; xo.add(x, y)``), with the
signatures and semantics of XLA's *Operation semantics* document; the sub-packages load
when they are first used.
"""

from typing import TYPE_CHECKING, Any

from .core.bounded import BoundedArray as BoundedArray
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
from .ops.batch_norm import batch_norm_grad as batch_norm_grad
from .ops.batch_norm import batch_norm_inference as batch_norm_inference
from .ops.batch_norm import batch_norm_training as batch_norm_training
from .ops.bits import clz as clz
from .ops.bits import mulhi as mulhi
from .ops.bits import population_count as population_count
from .ops.bits import shift_left as shift_left
from .ops.bits import shift_right_arithmetic as shift_right_arithmetic
from .ops.bits import shift_right_logical as shift_right_logical
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
from .ops.complex_parts import complex as complex
from .ops.complex_parts import conj as conj
from .ops.complex_parts import imag as imag
from .ops.complex_parts import real as real
from .ops.composition import call as call
from .ops.composition import composite_call as composite_call
from .ops.composition import optimization_barrier as optimization_barrier
from .ops.constants import constant as constant
from .ops.constants import iota as iota
from .ops.control_flow import conditional as conditional
from .ops.control_flow import scan as scan
from .ops.control_flow import while_ as while_
from .ops.conversion import bitcast_convert_type as bitcast_convert_type
from .ops.conversion import convert_element_type as convert_element_type
from .ops.conversion import reduce_precision as reduce_precision
from .ops.convolution import conv as conv
from .ops.convolution import conv_general as conv_general
from .ops.convolution import conv_general_dilated as conv_general_dilated
from .ops.convolution import (
    conv_with_general_dimensions as conv_with_general_dimensions,
)
from .ops.convolution import conv_with_general_padding as conv_with_general_padding
from .ops.custom_calls import custom_call as custom_call
from .ops.custom_calls import (
    custom_call_with_computation as custom_call_with_computation,
)
from .ops.custom_calls import (
    custom_call_with_computation_and_layouts as custom_call_with_computation_and_layouts,  # noqa: E501
)
from .ops.custom_calls import custom_call_with_conv_dnums as custom_call_with_conv_dnums
from .ops.custom_calls import custom_call_with_layout as custom_call_with_layout
from .ops.dot import dot as dot
from .ops.dot import dot_general as dot_general
from .ops.dynamic_sizes import dynamic_reshape as dynamic_reshape
from .ops.dynamic_sizes import get_dimension_size as get_dimension_size
from .ops.dynamic_sizes import remove_dynamic_dimension as remove_dynamic_dimension
from .ops.dynamic_sizes import set_dimension_size as set_dimension_size
from .ops.dynamic_slicing import dynamic_slice as dynamic_slice
from .ops.dynamic_slicing import dynamic_update_slice as dynamic_update_slice
from .ops.fft import fft as fft
from .ops.gather import gather as gather
from .ops.hlo_only import async_done as async_done
from .ops.hlo_only import async_start as async_start
from .ops.hlo_only import async_update as async_update
from .ops.hlo_only import bitcast as bitcast
from .ops.hlo_only import copy as copy
from .ops.hlo_only import copy_done as copy_done
from .ops.hlo_only import copy_start as copy_start
from .ops.hlo_only import domain as domain
from .ops.hlo_only import fusion as fusion
from .ops.hlo_only import rng_get_and_update_state as rng_get_and_update_state
from .ops.linalg import cholesky as cholesky
from .ops.linalg import triangular_solve as triangular_solve
from .ops.logical import and_ as and_
from .ops.logical import not_ as not_
from .ops.logical import or_ as or_
from .ops.logical import xor as xor
from .ops.mapping import map as map
from .ops.ragged_dot import ragged_dot as ragged_dot
from .ops.random import rng_normal as rng_normal
from .ops.random import rng_uniform as rng_uniform
from .ops.reduction import reduce as reduce
from .ops.reduction import reduce_all as reduce_all
from .ops.rng_bit_generator import rng_bit_generator as rng_bit_generator
from .ops.rounding import ceil as ceil
from .ops.rounding import floor as floor
from .ops.rounding import round as round
from .ops.rounding import round_nearest_afz as round_nearest_afz
from .ops.rounding import round_nearest_even as round_nearest_even
from .ops.scaled_dot import scaled_dot as scaled_dot
from .ops.scatter import scatter as scatter
from .ops.selection import clamp as clamp
from .ops.selection import select as select
from .ops.shape import collapse as collapse
from .ops.shape import concat_in_dim as concat_in_dim
from .ops.shape import pad as pad
from .ops.shape import pad_in_dim as pad_in_dim
from .ops.shape import reshape as reshape
from .ops.shape import (
    reshape_with_inferred_dimension as reshape_with_inferred_dimension,
)
from .ops.shape import rev as rev
from .ops.shape import transpose as transpose
from .ops.slicing import slice as slice
from .ops.slicing import slice_in_dim as slice_in_dim
from .ops.sorting import sort as sort
from .ops.stochastic_convert import stochastic_convert_type as stochastic_convert_type
from .ops.top_k import top_k as top_k
from .ops.transcendental import cbrt as cbrt
from .ops.transcendental import cos as cos
from .ops.transcendental import cosh as cosh
from .ops.transcendental import erf as erf
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
from .ops.tuples import get_tuple_element as get_tuple_element
from .ops.tuples import tuple as tuple
from .ops.windows import reduce_window as reduce_window
from .ops.windows import (
    reduce_window_with_general_padding as reduce_window_with_general_padding,
)
from .ops.windows import select_and_scatter as select_and_scatter
from .ops.windows import (
    select_and_scatter_with_general_padding as select_and_scatter_with_general_padding,
)
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
    from . import builder as builder
    from . import catalog as catalog
    from . import collectives as collectives
    from . import effects as effects
    from . import ffi as ffi
    from . import indexing as indexing
    from . import types as types
    from .collectives import all_gather as all_gather
    from .collectives import all_gather_done as all_gather_done
    from .collectives import all_gather_start as all_gather_start
    from .collectives import all_gather_tuple as all_gather_tuple
    from .collectives import all_reduce as all_reduce
    from .collectives import all_reduce_done as all_reduce_done
    from .collectives import all_reduce_start as all_reduce_start
    from .collectives import all_reduce_tuple as all_reduce_tuple
    from .collectives import all_to_all as all_to_all
    from .collectives import all_to_all_tuple as all_to_all_tuple
    from .collectives import collective_broadcast as collective_broadcast
    from .collectives import collective_permute as collective_permute
    from .collectives import collective_permute_done as collective_permute_done
    from .collectives import collective_permute_start as collective_permute_start
    from .collectives import cross_replica_sum as cross_replica_sum
    from .collectives import multi_collective_permute as multi_collective_permute
    from .collectives import partition_id as partition_id
    from .collectives import ragged_all_to_all as ragged_all_to_all
    from .collectives import reduce_scatter as reduce_scatter
    from .collectives import replica_id as replica_id
    from .ops.effects import after_all as after_all
    from .ops.effects import create_token as create_token
    from .ops.effects import infeed as infeed
    from .ops.effects import infeed_with_token as infeed_with_token
    from .ops.effects import outfeed as outfeed
    from .ops.effects import outfeed_with_token as outfeed_with_token
    from .ops.effects import recv as recv
    from .ops.effects import recv_done as recv_done
    from .ops.effects import recv_from_host as recv_from_host
    from .ops.effects import recv_with_token as recv_with_token
    from .ops.effects import send as send
    from .ops.effects import send_done as send_done
    from .ops.effects import send_to_host as send_to_host
    from .ops.effects import send_with_token as send_with_token

    __version__: str

__all__ = [
    "AccuracyMode",
    "BoundedArray",
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
    "after_all",
    "all_gather",
    "all_gather_done",
    "all_gather_start",
    "all_gather_tuple",
    "all_reduce",
    "all_reduce_done",
    "all_reduce_start",
    "all_reduce_tuple",
    "all_to_all",
    "all_to_all_tuple",
    "and_",
    "async_done",
    "async_start",
    "async_update",
    "atan2",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "bitcast",
    "bitcast_convert_type",
    "broadcast",
    "broadcast_in_dim",
    "call",
    "cbrt",
    "ceil",
    "cholesky",
    "clamp",
    "clz",
    "collapse",
    "collective_broadcast",
    "collective_permute",
    "collective_permute_done",
    "collective_permute_start",
    "compare",
    "complex",
    "composite_call",
    "concat_in_dim",
    "conditional",
    "conj",
    "constant",
    "conv",
    "conv_general",
    "conv_general_dilated",
    "conv_with_general_dimensions",
    "conv_with_general_padding",
    "convert_element_type",
    "copy",
    "copy_done",
    "copy_start",
    "cos",
    "cosh",
    "create_token",
    "cross_replica_sum",
    "custom_call",
    "custom_call_with_computation",
    "custom_call_with_computation_and_layouts",
    "custom_call_with_conv_dnums",
    "custom_call_with_layout",
    "div",
    "domain",
    "dot",
    "dot_general",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update_slice",
    "eq",
    "eq_total_order",
    "erf",
    "exp",
    "expm1",
    "fft",
    "floor",
    "fusion",
    "gather",
    "ge",
    "ge_total_order",
    "get_dimension_size",
    "get_tuple_element",
    "gt",
    "gt_total_order",
    "imag",
    "infeed",
    "infeed_with_token",
    "iota",
    "is_finite",
    "le",
    "le_total_order",
    "log",
    "log1p",
    "logistic",
    "lt",
    "lt_total_order",
    "map",
    "max",
    "min",
    "mul",
    "mulhi",
    "multi_collective_permute",
    "ne",
    "ne_total_order",
    "neg",
    "not_",
    "optimization_barrier",
    "or_",
    "outfeed",
    "outfeed_with_token",
    "pad",
    "pad_in_dim",
    "partition_id",
    "population_count",
    "pow",
    "ragged_all_to_all",
    "ragged_dot",
    "real",
    "recv",
    "recv_done",
    "recv_from_host",
    "recv_with_token",
    "reduce",
    "reduce_all",
    "reduce_precision",
    "reduce_scatter",
    "reduce_window",
    "reduce_window_with_general_padding",
    "rem",
    "remove_dynamic_dimension",
    "replica_id",
    "reshape",
    "reshape_with_inferred_dimension",
    "rev",
    "rng_bit_generator",
    "rng_get_and_update_state",
    "rng_normal",
    "rng_uniform",
    "round",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scaled_dot",
    "scan",
    "scatter",
    "select",
    "select_and_scatter",
    "select_and_scatter_with_general_padding",
    "send",
    "send_done",
    "send_to_host",
    "send_with_token",
    "set_dimension_size",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "slice",
    "slice_in_dim",
    "sort",
    "sqrt",
    "stochastic_convert_type",
    "sub",
    "tan",
    "tanh",
    "top_k",
    "transpose",
    "triangular_solve",
    "tuple",
    "while_",
    "xor",
]

_SUBPACKAGES = (
    "builder",
    "catalog",
    "collectives",
    "effects",
    "ffi",
    "indexing",
    "types",
)


# Operations that few programs need load with the first of their kind. `send` and `recv`
# of the collectives are not among them: here these are between programs.
_LATE = {
    **dict.fromkeys(
        (
            "all_gather",
            "all_gather_done",
            "all_gather_start",
            "all_gather_tuple",
            "all_reduce",
            "all_reduce_done",
            "all_reduce_start",
            "all_reduce_tuple",
            "all_to_all",
            "all_to_all_tuple",
            "collective_broadcast",
            "collective_permute",
            "collective_permute_done",
            "collective_permute_start",
            "cross_replica_sum",
            "multi_collective_permute",
            "partition_id",
            "ragged_all_to_all",
            "reduce_scatter",
            "replica_id",
        ),
        ".collectives",
    ),
    **dict.fromkeys(
        (
            "after_all",
            "create_token",
            "infeed",
            "infeed_with_token",
            "outfeed",
            "outfeed_with_token",
            "recv",
            "recv_done",
            "recv_from_host",
            "recv_with_token",
            "send",
            "send_done",
            "send_to_host",
            "send_with_token",
        ),
        ".ops.effects",
    ),
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: they are not needed by the operations, and some take time.
    if name in _SUBPACKAGES or name in _LATE:
        import importlib

        if name in _SUBPACKAGES:
            return importlib.import_module(f".{name}", __name__)
        module = importlib.import_module(_LATE[name], __name__)
        value = globals()[name] = getattr(module, name)
        return value
    if name == "__version__":
        import importlib.metadata

        try:
            return importlib.metadata.version(__name__)
        except importlib.metadata.PackageNotFoundError:
            return "0+unknown"  # a source tree that was never installed
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBPACKAGES, "__version__"})
