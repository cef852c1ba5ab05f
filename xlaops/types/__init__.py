"""Plain data of XLA's documents: shapes, dimension numbers and configurations.

Everything here is immutable, hashable and independent of the operations. Each class has
``coerce``, which accepts what people write for it and says what it accepts when it does
not; those with a text form in HLO print it with ``str`` and read it with ``parse``.
"""

from .communication import ChannelHandle as ChannelHandle
from .communication import ReplicaGroup as ReplicaGroup
from .communication import SourceTarget as SourceTarget
from .convolution_numbers import (
    ConvolutionDimensionNumbers as ConvolutionDimensionNumbers,
)
from .dot_numbers import DotDimensionNumbers as DotDimensionNumbers
from .dot_numbers import (
    RaggedDotDimensionNumbers as RaggedDotDimensionNumbers,
)
from .element_type import dtype_of as dtype_of
from .element_type import element_type_name as element_type_name
from .enums import AccuracyMode as AccuracyMode
from .enums import ChannelType as ChannelType
from .enums import ComparisonDirection as ComparisonDirection
from .enums import ComparisonType as ComparisonType
from .enums import CustomCallApiVersion as CustomCallApiVersion
from .enums import CustomCallSchedule as CustomCallSchedule
from .enums import FftType as FftType
from .enums import Padding as Padding
from .enums import Precision as Precision
from .enums import PrecisionAlgorithm as PrecisionAlgorithm
from .enums import RandomAlgorithm as RandomAlgorithm
from .enums import Transpose as Transpose
from .indexing_numbers import (
    GatherDimensionNumbers as GatherDimensionNumbers,
)
from .indexing_numbers import (
    ScatterDimensionNumbers as ScatterDimensionNumbers,
)
from .layout import Layout as Layout
from .layout import SplitConfig as SplitConfig
from .layout import Tile as Tile
from .padding import PaddingConfig as PaddingConfig
from .padding import PaddingConfigDimension as PaddingConfigDimension
from .padding import window_padding as window_padding
from .precision import PrecisionConfig as PrecisionConfig
from .precision import ResultAccuracy as ResultAccuracy
from .precision import Tolerance as Tolerance
from .shape import Shape as Shape

__all__ = [
    "AccuracyMode",
    "ChannelHandle",
    "ChannelType",
    "ComparisonDirection",
    "ComparisonType",
    "ConvolutionDimensionNumbers",
    "CustomCallApiVersion",
    "CustomCallSchedule",
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
    "dtype_of",
    "element_type_name",
    "window_padding",
]
