# Written by `python -m xlaops.builder.stub` from the catalog and the operations.
# fmt: off
from collections.abc import Callable as Callable
from collections.abc import Mapping as Mapping
from collections.abc import Sequence as Sequence
from typing import Any as Any
from typing import NoReturn as NoReturn
from typing import overload as overload

from .. import types as _types
from ..core.typing import *
from .graph import AddDependency as AddDependency
from .graph import Operand as Operand
from .graph import Parameter as Parameter
from .graph import ProgramShape as ProgramShape
from .graph import XlaBuilder as XlaBuilder
from .graph import XlaComputation as XlaComputation
from .graph import XlaOp as XlaOp

@overload
def Abs(operand: Operand) -> XlaOp:
    """Element-wise absolute value. (`xlaops.abs`)"""

@overload
def Abs(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise absolute value. (`xlaops.abs`)"""

@overload
def Add(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise sum. (`xlaops.add`)"""

@overload
def Add(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise sum. (`xlaops.add`)"""

@overload
def AfterAll(tokens: Sequence[Operand]) -> XlaOp:
    """A token that depends on several: what it orders comes after all of them. (`xlaops.after_all`)"""

@overload
def AfterAll(builder: XlaBuilder, tokens: Sequence[Operand]) -> XlaOp:
    """A token that depends on several: what it orders comes after all of them. (`xlaops.after_all`)"""

@overload
def AllGather(operand: Any, all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, one behind the other. (`xlaops.all_gather`)"""

@overload
def AllGather(builder: XlaBuilder, operand: Any, all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, one behind the other. (`xlaops.all_gather`)"""

@overload
def AllGatherDone(context: Operand) -> XlaOp:
    """The result of a gather that was started. (`xlaops.all_gather_done`)"""

@overload
def AllGatherDone(builder: XlaBuilder, context: Operand) -> XlaOp:
    """The result of a gather that was started. (`xlaops.all_gather_done`)"""

@overload
def AllGatherStart(operand: Any, all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A future of the operands of all replicas of a group, one behind the other. (`xlaops.all_gather_start`)"""

@overload
def AllGatherStart(builder: XlaBuilder, operand: Any, all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A future of the operands of all replicas of a group, one behind the other. (`xlaops.all_gather_start`)"""

@overload
def AllGatherTuple(operands: Sequence[Operand], all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, one behind the other, each by itself. (`xlaops.all_gather_tuple`)"""

@overload
def AllGatherTuple(builder: XlaBuilder, operands: Sequence[Operand], all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, one behind the other, each by itself. (`xlaops.all_gather_tuple`)"""

@overload
def AllGatherWithDeviceList(operand: Any, all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, one behind the other. (`xlaops.all_gather`)"""

@overload
def AllGatherWithDeviceList(builder: XlaBuilder, operand: Any, all_gather_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, one behind the other. (`xlaops.all_gather`)"""

@overload
def AllReduce(operand: Any, computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=(), joint: bool=False) -> XlaOp:
    """The operands of all replicas of a group, combined elementwise. (`xlaops.all_reduce`)"""

@overload
def AllReduce(builder: XlaBuilder, operand: Any, computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=(), joint: bool=False) -> XlaOp:
    """The operands of all replicas of a group, combined elementwise. (`xlaops.all_reduce`)"""

@overload
def AllReduceDone(context: Operand) -> XlaOp:
    """The result of a reduction that was started. (`xlaops.all_reduce_done`)"""

@overload
def AllReduceDone(builder: XlaBuilder, context: Operand) -> XlaOp:
    """The result of a reduction that was started. (`xlaops.all_reduce_done`)"""

@overload
def AllReduceStart(operand: Any, computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A future of the operands of all replicas of a group, combined elementwise. (`xlaops.all_reduce_start`)"""

@overload
def AllReduceStart(builder: XlaBuilder, operand: Any, computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A future of the operands of all replicas of a group, combined elementwise. (`xlaops.all_reduce_start`)"""

@overload
def AllReduceTuple(operand: Sequence[Operand], computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, combined elementwise, each by itself. (`xlaops.all_reduce_tuple`)"""

@overload
def AllReduceTuple(builder: XlaBuilder, operand: Sequence[Operand], computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of all replicas of a group, combined elementwise, each by itself. (`xlaops.all_reduce_tuple`)"""

@overload
def AllReduceWithDeviceList(operand: Any, computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=(), joint: bool=False) -> XlaOp:
    """The operands of all replicas of a group, combined elementwise. (`xlaops.all_reduce`)"""

@overload
def AllReduceWithDeviceList(builder: XlaBuilder, operand: Any, computation: Callable[..., Any], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, shape_with_layout: ShapeLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=(), joint: bool=False) -> XlaOp:
    """The operands of all replicas of a group, combined elementwise. (`xlaops.all_reduce`)"""

@overload
def AllToAll(operand: Any, split_dimension: int, concat_dimension: int, split_count: int | None=None, replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Blocks of the operands of a group: the one for this replica from each member. (`xlaops.all_to_all`)"""

@overload
def AllToAll(builder: XlaBuilder, operand: Any, split_dimension: int, concat_dimension: int, split_count: int | None=None, replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Blocks of the operands of a group: the one for this replica from each member. (`xlaops.all_to_all`)"""

@overload
def AllToAllTuple(operands: Sequence[Operand], replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Arrays from all members of a group, of which each sent one to every member. (`xlaops.all_to_all_tuple`)"""

@overload
def AllToAllTuple(builder: XlaBuilder, operands: Sequence[Operand], replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Arrays from all members of a group, of which each sent one to every member. (`xlaops.all_to_all_tuple`)"""

@overload
def AllToAllTuple(operand: Operand, split_dimension: int, concat_dimension: int, split_count: int | None=None, replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Arrays from all members of a group, of which each sent one to every member. (`xlaops.all_to_all_tuple`)"""

@overload
def AllToAllTuple(builder: XlaBuilder, operand: Operand, split_dimension: int, concat_dimension: int, split_count: int | None=None, replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Arrays from all members of a group, of which each sent one to every member. (`xlaops.all_to_all_tuple`)"""

@overload
def AllToAllWithDeviceList(operand: Any, split_dimension: int, concat_dimension: int, split_count: int | None=None, replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Blocks of the operands of a group: the one for this replica from each member. (`xlaops.all_to_all`)"""

@overload
def AllToAllWithDeviceList(builder: XlaBuilder, operand: Any, split_dimension: int, concat_dimension: int, split_count: int | None=None, replica_groups: ReplicaGroupsLike=(), layout: LayoutLike | None=None, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """Blocks of the operands of a group: the one for this replica from each member. (`xlaops.all_to_all`)"""

@overload
def And(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise and. (`xlaops.and_`)"""

@overload
def And(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise and. (`xlaops.and_`)"""

@overload
def AsyncDone(context: Any) -> NoReturn:
    """Refuses to wait for a computation that was started; see `xlaops.async_start`. (`xlaops.async_done`)"""

@overload
def AsyncDone(builder: XlaBuilder, context: Any) -> NoReturn:
    """Refuses to wait for a computation that was started; see `xlaops.async_start`. (`xlaops.async_done`)"""

@overload
def AsyncStart(operands: Sequence[Operand], computation: Callable[..., Any]) -> NoReturn:
    """Refuses to start a computation; the compiler makes what is asynchronous. (`xlaops.async_start`)"""

@overload
def AsyncStart(builder: XlaBuilder, operands: Sequence[Operand], computation: Callable[..., Any]) -> NoReturn:
    """Refuses to start a computation; the compiler makes what is asynchronous. (`xlaops.async_start`)"""

@overload
def AsyncUpdate(context: Any) -> NoReturn:
    """Refuses to pass on a computation that was started; see `xlaops.async_start`. (`xlaops.async_update`)"""

@overload
def AsyncUpdate(builder: XlaBuilder, context: Any) -> NoReturn:
    """Refuses to pass on a computation that was started; see `xlaops.async_start`. (`xlaops.async_update`)"""

@overload
def Atan2(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise angle of the point with ordinate ``lhs`` and abscissa ``rhs``. (`xlaops.atan2`)"""

@overload
def Atan2(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise angle of the point with ordinate ``lhs`` and abscissa ``rhs``. (`xlaops.atan2`)"""

@overload
def BatchNormGrad(operand: Operand, scale: Operand, batch_mean: Operand, batch_var: Operand, grad_output: Operand, epsilon: float, feature_index: int) -> XlaOp:
    """The gradients of `xlaops.batch_norm_training` for the gradient of its output. (`xlaops.batch_norm_grad`)"""

@overload
def BatchNormGrad(builder: XlaBuilder, operand: Operand, scale: Operand, batch_mean: Operand, batch_var: Operand, grad_output: Operand, epsilon: float, feature_index: int) -> XlaOp:
    """The gradients of `xlaops.batch_norm_training` for the gradient of its output. (`xlaops.batch_norm_grad`)"""

@overload
def BatchNormInference(operand: Operand, scale: Operand, offset: Operand, mean: Operand, variance: Operand, epsilon: float, feature_index: int) -> XlaOp:
    """A batch normalised with given moments. (`xlaops.batch_norm_inference`)"""

@overload
def BatchNormInference(builder: XlaBuilder, operand: Operand, scale: Operand, offset: Operand, mean: Operand, variance: Operand, epsilon: float, feature_index: int) -> XlaOp:
    """A batch normalised with given moments. (`xlaops.batch_norm_inference`)"""

@overload
def BatchNormTraining(operand: Operand, scale: Operand, offset: Operand, epsilon: float, feature_index: int) -> XlaOp:
    """A batch normalised with its own moments, and these moments. (`xlaops.batch_norm_training`)"""

@overload
def BatchNormTraining(builder: XlaBuilder, operand: Operand, scale: Operand, offset: Operand, epsilon: float, feature_index: int) -> XlaOp:
    """A batch normalised with its own moments, and these moments. (`xlaops.batch_norm_training`)"""

@overload
def Bitcast(operand: Operand, shape: ShapeLike) -> NoReturn:
    """Refuses to read a buffer as one of another shape and layout. (`xlaops.bitcast`)"""

@overload
def Bitcast(builder: XlaBuilder, operand: Operand, shape: ShapeLike) -> NoReturn:
    """Refuses to read a buffer as one of another shape and layout. (`xlaops.bitcast`)"""

@overload
def BitcastConvertType(operand: Operand, new_element_type: DTypeLike) -> XlaOp:
    """The bits of an array read as another element type. (`xlaops.bitcast_convert_type`)"""

@overload
def BitcastConvertType(builder: XlaBuilder, operand: Operand, new_element_type: DTypeLike) -> XlaOp:
    """The bits of an array read as another element type. (`xlaops.bitcast_convert_type`)"""

@overload
def Broadcast(operand: Operand, broadcast_sizes: Dims) -> XlaOp:
    """Copies of an array along new leading dimensions. (`xlaops.broadcast`)"""

@overload
def Broadcast(builder: XlaBuilder, operand: Operand, broadcast_sizes: Dims) -> XlaOp:
    """Copies of an array along new leading dimensions. (`xlaops.broadcast`)"""

@overload
def BroadcastInDim(operand: Operand, out_dim_size: Dims, broadcast_dimensions: Dims) -> XlaOp:
    """An array placed into some dimensions of a shape and repeated in the others. (`xlaops.broadcast_in_dim`)"""

@overload
def BroadcastInDim(builder: XlaBuilder, operand: Operand, out_dim_size: Dims, broadcast_dimensions: Dims) -> XlaOp:
    """An array placed into some dimensions of a shape and repeated in the others. (`xlaops.broadcast_in_dim`)"""

@overload
def Call(computation: Callable[..., Any], operands: Sequence[Any]) -> XlaOp:
    """The result of a computation, which stays a function of its own in the program. (`xlaops.call`)"""

@overload
def Call(builder: XlaBuilder, computation: Callable[..., Any], operands: Sequence[Any]) -> XlaOp:
    """The result of a computation, which stays a function of its own in the program. (`xlaops.call`)"""

@overload
def Cbrt(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise cube root. (`xlaops.cbrt`)"""

@overload
def Cbrt(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise cube root. (`xlaops.cbrt`)"""

@overload
def Ceil(operand: Operand) -> XlaOp:
    """Element-wise smallest integer that is not below the operand. (`xlaops.ceil`)"""

@overload
def Ceil(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise smallest integer that is not below the operand. (`xlaops.ceil`)"""

@overload
def Cholesky(a: Operand, lower: bool) -> XlaOp:
    """Cholesky factor of Hermitian positive-definite matrices. (`xlaops.cholesky`)"""

@overload
def Cholesky(builder: XlaBuilder, a: Operand, lower: bool) -> XlaOp:
    """Cholesky factor of Hermitian positive-definite matrices. (`xlaops.cholesky`)"""

@overload
def Clamp(min: Operand, operand: Operand, max: Operand) -> XlaOp:
    """Element-wise ``operand``, but not below ``min`` and not above ``max``. (`xlaops.clamp`)"""

@overload
def Clamp(builder: XlaBuilder, min: Operand, operand: Operand, max: Operand) -> XlaOp:
    """Element-wise ``operand``, but not below ``min`` and not above ``max``. (`xlaops.clamp`)"""

@overload
def Clz(operand: Operand) -> XlaOp:
    """Element-wise number of leading zero bits. (`xlaops.clz`)"""

@overload
def Clz(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise number of leading zero bits. (`xlaops.clz`)"""

@overload
def Collapse(operand: Operand, dimensions: Dims) -> XlaOp:
    """An array with consecutive dimensions made one. (`xlaops.collapse`)"""

@overload
def Collapse(builder: XlaBuilder, operand: Operand, dimensions: Dims) -> XlaOp:
    """An array with consecutive dimensions made one. (`xlaops.collapse`)"""

@overload
def CollectiveBroadcast(operand: Any, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectiveBroadcast(builder: XlaBuilder, operand: Any, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectiveBroadcast(operands: Sequence[Operand], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, has_dynamic_root: bool=False, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectiveBroadcast(builder: XlaBuilder, operands: Sequence[Operand], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, has_dynamic_root: bool=False, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectiveBroadcastWithDeviceList(operand: Any, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectiveBroadcastWithDeviceList(builder: XlaBuilder, operand: Any, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectiveBroadcastWithDeviceList(operands: Sequence[Operand], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, has_dynamic_root: bool=False, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectiveBroadcastWithDeviceList(builder: XlaBuilder, operands: Sequence[Operand], replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, has_dynamic_root: bool=False, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the first replica of a group, for all of the group. (`xlaops.collective_broadcast`)"""

@overload
def CollectivePermute(operand: Any, source_target_pairs: SourceTargetPairsLike, channel_id: ChannelHandleLike | None=None, inplace: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the replica that sends to this one; zeros where none does. (`xlaops.collective_permute`)"""

@overload
def CollectivePermute(builder: XlaBuilder, operand: Any, source_target_pairs: SourceTargetPairsLike, channel_id: ChannelHandleLike | None=None, inplace: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operand of the replica that sends to this one; zeros where none does. (`xlaops.collective_permute`)"""

@overload
def CollectivePermuteDone(context: Operand) -> XlaOp:
    """The result of a permutation that was started. (`xlaops.collective_permute_done`)"""

@overload
def CollectivePermuteDone(builder: XlaBuilder, context: Operand) -> XlaOp:
    """The result of a permutation that was started. (`xlaops.collective_permute_done`)"""

@overload
def CollectivePermuteStart(operand: Any, source_target_pairs: SourceTargetPairsLike, channel_id: ChannelHandleLike | None=None, inplace: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A future of the operand of the replica that sends to this one. (`xlaops.collective_permute_start`)"""

@overload
def CollectivePermuteStart(builder: XlaBuilder, operand: Any, source_target_pairs: SourceTargetPairsLike, channel_id: ChannelHandleLike | None=None, inplace: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A future of the operand of the replica that sends to this one. (`xlaops.collective_permute_start`)"""

@overload
def Compare(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=(), direction: _types.ComparisonDirection | str | None=None, type: _types.ComparisonType | str | None=None) -> XlaOp:
    """Element-wise comparison in a given direction. (`xlaops.compare`)"""

@overload
def Compare(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=(), direction: _types.ComparisonDirection | str | None=None, type: _types.ComparisonType | str | None=None) -> XlaOp:
    """Element-wise comparison in a given direction. (`xlaops.compare`)"""

@overload
def Complex(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise complex number of a real and an imaginary part. (`xlaops.complex`)"""

@overload
def Complex(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise complex number of a real and an imaginary part. (`xlaops.complex`)"""

@overload
def CompositeCall(computation: Callable[..., Any], operands: Sequence[Operand], name: str, attributes: str | Mapping[str, Any] | None=None, version: int=0) -> XlaOp:
    """The result of a computation that a backend may know by its name. (`xlaops.composite_call`)"""

@overload
def CompositeCall(builder: XlaBuilder, computation: Callable[..., Any], operands: Sequence[Operand], name: str, attributes: str | Mapping[str, Any] | None=None, version: int=0) -> XlaOp:
    """The result of a computation that a backend may know by its name. (`xlaops.composite_call`)"""

@overload
def ConcatInDim(operands: Sequence[Operand], dimension: int) -> XlaOp:
    """Arrays joined along one of their dimensions. (`xlaops.concat_in_dim`)"""

@overload
def ConcatInDim(builder: XlaBuilder, operands: Sequence[Operand], dimension: int) -> XlaOp:
    """Arrays joined along one of their dimensions. (`xlaops.concat_in_dim`)"""

@overload
def Concatenate(operands: Sequence[Operand], dimension: int) -> XlaOp:
    """Arrays joined along one of their dimensions. (`xlaops.concat_in_dim`)"""

@overload
def Concatenate(builder: XlaBuilder, operands: Sequence[Operand], dimension: int) -> XlaOp:
    """Arrays joined along one of their dimensions. (`xlaops.concat_in_dim`)"""

@overload
def Conditional(predicate: Operand, true_operand: Any, true_computation: Callable[[Any], Any], false_operand: Any, false_computation: Callable[[Any], Any]) -> XlaOp:
    """The result of one of several computations, chosen when the program runs. (`xlaops.conditional`)"""

@overload
def Conditional(builder: XlaBuilder, predicate: Operand, true_operand: Any, true_computation: Callable[[Any], Any], false_operand: Any, false_computation: Callable[[Any], Any]) -> XlaOp:
    """The result of one of several computations, chosen when the program runs. (`xlaops.conditional`)"""

@overload
def Conditional(branch_index: Operand, branch_computations: Sequence[Callable[[Any], Any]], branch_operands: Sequence[Any]) -> XlaOp:
    """The result of one of several computations, chosen when the program runs. (`xlaops.conditional`)"""

@overload
def Conditional(builder: XlaBuilder, branch_index: Operand, branch_computations: Sequence[Callable[[Any], Any]], branch_operands: Sequence[Any]) -> XlaOp:
    """The result of one of several computations, chosen when the program runs. (`xlaops.conditional`)"""

@overload
def Conj(operand: Operand) -> XlaOp:
    """Element-wise complex conjugate. (`xlaops.conj`)"""

@overload
def Conj(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise complex conjugate. (`xlaops.conj`)"""

@overload
def Constant(literal: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def Constant(builder: XlaBuilder, literal: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantLiteral(literal: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantLiteral(builder: XlaBuilder, literal: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR0(value: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR0(builder: XlaBuilder, value: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR1(values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR1(builder: XlaBuilder, values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR2(values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR2(builder: XlaBuilder, values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR3FromArray3D(values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR3FromArray3D(builder: XlaBuilder, values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR4FromArray4D(values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def ConstantR4FromArray4D(builder: XlaBuilder, values: Operand | Sequence[Any]) -> XlaOp:
    """An array of given values. (`xlaops.constant`)"""

@overload
def Conv(lhs: Operand, rhs: Operand, window_strides: Dims, padding: PaddingLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution of a batch of inputs with a kernel, with SAME or VALID padding. (`xlaops.conv`)"""

@overload
def Conv(builder: XlaBuilder, lhs: Operand, rhs: Operand, window_strides: Dims, padding: PaddingLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution of a batch of inputs with a kernel, with SAME or VALID padding. (`xlaops.conv`)"""

@overload
def ConvGeneral(lhs: Operand, rhs: Operand, window_strides: Dims, padding: WindowPadding, dimension_numbers: ConvolutionDimensionNumbersLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution with any padding and dimensions in any order. (`xlaops.conv_general`)"""

@overload
def ConvGeneral(builder: XlaBuilder, lhs: Operand, rhs: Operand, window_strides: Dims, padding: WindowPadding, dimension_numbers: ConvolutionDimensionNumbersLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution with any padding and dimensions in any order. (`xlaops.conv_general`)"""

@overload
def ConvGeneralDilated(lhs: Operand, rhs: Operand, window_strides: Dims, padding: WindowPadding, lhs_dilation: Dims, rhs_dilation: Dims, dimension_numbers: ConvolutionDimensionNumbersLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None, window_reversal: Sequence[bool] | None=None) -> XlaOp:
    """Convolution with any padding, dilation and dimensions in any order. (`xlaops.conv_general_dilated`)"""

@overload
def ConvGeneralDilated(builder: XlaBuilder, lhs: Operand, rhs: Operand, window_strides: Dims, padding: WindowPadding, lhs_dilation: Dims, rhs_dilation: Dims, dimension_numbers: ConvolutionDimensionNumbersLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None, window_reversal: Sequence[bool] | None=None) -> XlaOp:
    """Convolution with any padding, dilation and dimensions in any order. (`xlaops.conv_general_dilated`)"""

@overload
def ConvWithGeneralDimensions(lhs: Operand, rhs: Operand, window_strides: Dims, padding: PaddingLike, dimension_numbers: ConvolutionDimensionNumbersLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution with SAME or VALID padding and dimensions in any order. (`xlaops.conv_with_general_dimensions`)"""

@overload
def ConvWithGeneralDimensions(builder: XlaBuilder, lhs: Operand, rhs: Operand, window_strides: Dims, padding: PaddingLike, dimension_numbers: ConvolutionDimensionNumbersLike, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution with SAME or VALID padding and dimensions in any order. (`xlaops.conv_with_general_dimensions`)"""

@overload
def ConvWithGeneralPadding(lhs: Operand, rhs: Operand, window_strides: Dims, padding: WindowPadding, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution of a batch of inputs with a kernel, with any padding. (`xlaops.conv_with_general_padding`)"""

@overload
def ConvWithGeneralPadding(builder: XlaBuilder, lhs: Operand, rhs: Operand, window_strides: Dims, padding: WindowPadding, feature_group_count: int=1, batch_group_count: int=1, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Convolution of a batch of inputs with a kernel, with any padding. (`xlaops.conv_with_general_padding`)"""

@overload
def ConvertElementType(operand: Operand, new_element_type: DTypeLike) -> XlaOp:
    """Element-wise conversion of values to another element type. (`xlaops.convert_element_type`)"""

@overload
def ConvertElementType(builder: XlaBuilder, operand: Operand, new_element_type: DTypeLike) -> XlaOp:
    """Element-wise conversion of values to another element type. (`xlaops.convert_element_type`)"""

@overload
def Copy(operand: Operand) -> NoReturn:
    """Refuses to copy a buffer: arrays are values, and the compiler places copies. (`xlaops.copy`)"""

@overload
def Copy(builder: XlaBuilder, operand: Operand) -> NoReturn:
    """Refuses to copy a buffer: arrays are values, and the compiler places copies. (`xlaops.copy`)"""

@overload
def CopyDone(context: Any) -> NoReturn:
    """Refuses to wait for a copy that was started; see `xlaops.copy`. (`xlaops.copy_done`)"""

@overload
def CopyDone(builder: XlaBuilder, context: Any) -> NoReturn:
    """Refuses to wait for a copy that was started; see `xlaops.copy`. (`xlaops.copy_done`)"""

@overload
def CopyStart(operand: Operand) -> NoReturn:
    """Refuses to start a copy; see `xlaops.copy`. (`xlaops.copy_start`)"""

@overload
def CopyStart(builder: XlaBuilder, operand: Operand) -> NoReturn:
    """Refuses to start a copy; see `xlaops.copy`. (`xlaops.copy_start`)"""

@overload
def Cos(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise cosine of an angle in radians. (`xlaops.cos`)"""

@overload
def Cos(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise cosine of an angle in radians. (`xlaops.cos`)"""

@overload
def Cosh(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise hyperbolic cosine. (`xlaops.cosh`)"""

@overload
def Cosh(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise hyperbolic cosine. (`xlaops.cosh`)"""

@overload
def CreateToken() -> XlaOp:
    """A token that depends on nothing. (`xlaops.create_token`)"""

@overload
def CreateToken(builder: XlaBuilder) -> XlaOp:
    """A token that depends on nothing. (`xlaops.create_token`)"""

@overload
def CrossReplicaSum(operand: Any, replica_groups: ReplicaGroupsLike=(), *, axis_name: AxisNames | None=None) -> XlaOp:
    """The operands of all replicas of a group, added up. (`xlaops.cross_replica_sum`)"""

@overload
def CrossReplicaSum(builder: XlaBuilder, operand: Any, replica_groups: ReplicaGroupsLike=(), *, axis_name: AxisNames | None=None) -> XlaOp:
    """The operands of all replicas of a group, added up. (`xlaops.cross_replica_sum`)"""

@overload
def CustomCall(call_target_name: str, operands: Sequence[Any], shape: ItemShapeLike, opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code that is registered under a name. (`xlaops.custom_call`)"""

@overload
def CustomCall(builder: XlaBuilder, call_target_name: str, operands: Sequence[Any], shape: ItemShapeLike, opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code that is registered under a name. (`xlaops.custom_call`)"""

@overload
def CustomCallWithComputation(call_target_name: str, operands: Sequence[Any], computation: Callable[..., Any], shape: ItemShapeLike, opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code that is also given a computation. (`xlaops.custom_call_with_computation`)"""

@overload
def CustomCallWithComputation(builder: XlaBuilder, call_target_name: str, operands: Sequence[Any], computation: Callable[..., Any], shape: ItemShapeLike, opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code that is also given a computation. (`xlaops.custom_call_with_computation`)"""

@overload
def CustomCallWithComputationAndLayouts(call_target_name: str, operands: Sequence[Any], computation: Callable[..., Any], shape_with_layout: ItemShapeLike, operand_shapes_with_layout: Sequence[ItemShapeLike], opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code with a computation and layouts of its own. (`xlaops.custom_call_with_computation_and_layouts`)"""

@overload
def CustomCallWithComputationAndLayouts(builder: XlaBuilder, call_target_name: str, operands: Sequence[Any], computation: Callable[..., Any], shape_with_layout: ItemShapeLike, operand_shapes_with_layout: Sequence[ItemShapeLike], opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code with a computation and layouts of its own. (`xlaops.custom_call_with_computation_and_layouts`)"""

@overload
def CustomCallWithConvDnums(call_target_name: str, operands: Sequence[Any], shape: ItemShapeLike, operand_shapes_with_layout: Sequence[ItemShapeLike], opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, window: None=None, dnums: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code for a convolution, as far as JAX can say it. (`xlaops.custom_call_with_conv_dnums`)"""

@overload
def CustomCallWithConvDnums(builder: XlaBuilder, call_target_name: str, operands: Sequence[Any], shape: ItemShapeLike, operand_shapes_with_layout: Sequence[ItemShapeLike], opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, window: None=None, dnums: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code for a convolution, as far as JAX can say it. (`xlaops.custom_call_with_conv_dnums`)"""

@overload
def CustomCallWithLayout(call_target_name: str, operands: Sequence[Any], shape_with_layout: ItemShapeLike, operand_shapes_with_layout: Sequence[ItemShapeLike], opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code that takes and gives layouts of its own. (`xlaops.custom_call_with_layout`)"""

@overload
def CustomCallWithLayout(builder: XlaBuilder, call_target_name: str, operands: Sequence[Any], shape_with_layout: ItemShapeLike, operand_shapes_with_layout: Sequence[ItemShapeLike], opaque: str | bytes='', has_side_effect: bool=False, output_operand_aliasing: Aliasing=(), literal: None=None, schedule: types.CustomCallSchedule | str | int='SCHEDULE_NONE', api_version: types.CustomCallApiVersion | str | int='API_VERSION_ORIGINAL') -> XlaOp:
    """The result of foreign code that takes and gives layouts of its own. (`xlaops.custom_call_with_layout`)"""

@overload
def Div(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise quotient. (`xlaops.div`)"""

@overload
def Div(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise quotient. (`xlaops.div`)"""

@overload
def Domain(operand: Operand) -> NoReturn:
    """Refuses to mark the border between two shardings. (`xlaops.domain`)"""

@overload
def Domain(builder: XlaBuilder, operand: Operand) -> NoReturn:
    """Refuses to mark the border between two shardings. (`xlaops.domain`)"""

@overload
def Dot(lhs: Operand, rhs: Operand, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products over dimension 1 of ``lhs`` (0 of a vector) and 0 of ``rhs``. (`xlaops.dot`)"""

@overload
def Dot(builder: XlaBuilder, lhs: Operand, rhs: Operand, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products over dimension 1 of ``lhs`` (0 of a vector) and 0 of ``rhs``. (`xlaops.dot`)"""

@overload
def DotGeneral(lhs: Operand, rhs: Operand, dimension_numbers: DotDimensionNumbersLike, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products over any dimensions, for each element of batch dimensions. (`xlaops.dot_general`)"""

@overload
def DotGeneral(builder: XlaBuilder, lhs: Operand, rhs: Operand, dimension_numbers: DotDimensionNumbersLike, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products over any dimensions, for each element of batch dimensions. (`xlaops.dot_general`)"""

@overload
def DynamicReshape(operand: Operand, dim_sizes: Sequence[Operand], new_size_bounds: Dims, dims_are_dynamic: Sequence[bool]) -> XlaOp:
    """The elements that count in another shape, in row-major order. (`xlaops.dynamic_reshape`)"""

@overload
def DynamicReshape(builder: XlaBuilder, operand: Operand, dim_sizes: Sequence[Operand], new_size_bounds: Dims, dims_are_dynamic: Sequence[bool]) -> XlaOp:
    """The elements that count in another shape, in row-major order. (`xlaops.dynamic_reshape`)"""

@overload
def DynamicSlice(operand: Operand, start_indices: Operand | Sequence[Operand], slice_sizes: Dims) -> XlaOp:
    """The sub-array of a given size at a computed position. (`xlaops.dynamic_slice`)"""

@overload
def DynamicSlice(builder: XlaBuilder, operand: Operand, start_indices: Operand | Sequence[Operand], slice_sizes: Dims) -> XlaOp:
    """The sub-array of a given size at a computed position. (`xlaops.dynamic_slice`)"""

@overload
def DynamicUpdateSlice(operand: Operand, update: Operand, start_indices: Operand | Sequence[Operand]) -> XlaOp:
    """An array with a sub-array replaced at a computed position. (`xlaops.dynamic_update_slice`)"""

@overload
def DynamicUpdateSlice(builder: XlaBuilder, operand: Operand, update: Operand, start_indices: Operand | Sequence[Operand]) -> XlaOp:
    """An array with a sub-array replaced at a computed position. (`xlaops.dynamic_update_slice`)"""

@overload
def Eq(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements are equal. (`xlaops.eq`)"""

@overload
def Eq(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements are equal. (`xlaops.eq`)"""

@overload
def EqTotalOrder(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements are the same in the total order. (`xlaops.eq_total_order`)"""

@overload
def EqTotalOrder(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements are the same in the total order. (`xlaops.eq_total_order`)"""

@overload
def Erf(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise error function. (`xlaops.erf`)"""

@overload
def Erf(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise error function. (`xlaops.erf`)"""

@overload
def Exp(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise exponential :math:`e^x`. (`xlaops.exp`)"""

@overload
def Exp(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise exponential :math:`e^x`. (`xlaops.exp`)"""

@overload
def Expm1(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise :math:`e^x - 1`, exact also for small operands. (`xlaops.expm1`)"""

@overload
def Expm1(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise :math:`e^x - 1`, exact also for small operands. (`xlaops.expm1`)"""

@overload
def Fft(operand: Operand, fft_type: _types.FftType | str, fft_length: Dims) -> XlaOp:
    """Discrete Fourier transform over the last one, two or three dimensions. (`xlaops.fft`)"""

@overload
def Fft(builder: XlaBuilder, operand: Operand, fft_type: _types.FftType | str, fft_length: Dims) -> XlaOp:
    """Discrete Fourier transform over the last one, two or three dimensions. (`xlaops.fft`)"""

@overload
def Floor(operand: Operand) -> XlaOp:
    """Element-wise largest integer that is not above the operand. (`xlaops.floor`)"""

@overload
def Floor(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise largest integer that is not above the operand. (`xlaops.floor`)"""

@overload
def Fusion(operands: Sequence[Operand], computation: Callable[..., Any]) -> NoReturn:
    """Refuses to fuse a computation: the compiler decides what is fused. (`xlaops.fusion`)"""

@overload
def Fusion(builder: XlaBuilder, operands: Sequence[Operand], computation: Callable[..., Any]) -> NoReturn:
    """Refuses to fuse a computation: the compiler decides what is fused. (`xlaops.fusion`)"""

@overload
def Gather(operand: Operand, start_indices: Operand, dimension_numbers: GatherDimensionNumbersLike, slice_sizes: Dims, indices_are_sorted: bool=False) -> XlaOp:
    """Slices of one size, taken at the positions that an array of indices holds. (`xlaops.gather`)"""

@overload
def Gather(builder: XlaBuilder, operand: Operand, start_indices: Operand, dimension_numbers: GatherDimensionNumbersLike, slice_sizes: Dims, indices_are_sorted: bool=False) -> XlaOp:
    """Slices of one size, taken at the positions that an array of indices holds. (`xlaops.gather`)"""

@overload
def Ge(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs >= rhs``. (`xlaops.ge`)"""

@overload
def Ge(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs >= rhs``. (`xlaops.ge`)"""

@overload
def GeTotalOrder(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs >= rhs`` in the total order. (`xlaops.ge_total_order`)"""

@overload
def GeTotalOrder(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs >= rhs`` in the total order. (`xlaops.ge_total_order`)"""

@overload
def GetDimensionSize(operand: Operand, dimension: int) -> XlaOp:
    """The size of a dimension, as it is when the program runs. (`xlaops.get_dimension_size`)"""

@overload
def GetDimensionSize(builder: XlaBuilder, operand: Operand, dimension: int) -> XlaOp:
    """The size of a dimension, as it is when the program runs. (`xlaops.get_dimension_size`)"""

@overload
def GetTupleElement(tuple_data: Sequence[Any], index: int) -> XlaOp:
    """One element of a tuple. (`xlaops.get_tuple_element`)"""

@overload
def GetTupleElement(builder: XlaBuilder, tuple_data: Sequence[Any], index: int) -> XlaOp:
    """One element of a tuple. (`xlaops.get_tuple_element`)"""

@overload
def Gt(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs > rhs``. (`xlaops.gt`)"""

@overload
def Gt(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs > rhs``. (`xlaops.gt`)"""

@overload
def GtTotalOrder(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs > rhs`` in the total order. (`xlaops.gt_total_order`)"""

@overload
def GtTotalOrder(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs > rhs`` in the total order. (`xlaops.gt_total_order`)"""

@overload
def Imag(operand: Operand) -> XlaOp:
    """Element-wise imaginary part. (`xlaops.imag`)"""

@overload
def Imag(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise imaginary part. (`xlaops.imag`)"""

@overload
def Infeed(shape: ItemShapeLike, config: str | None=None) -> XlaOp:
    """The next item of the device's infeed, which the host fills. (`xlaops.infeed`)"""

@overload
def Infeed(builder: XlaBuilder, shape: ItemShapeLike, config: str | None=None) -> XlaOp:
    """The next item of the device's infeed, which the host fills. (`xlaops.infeed`)"""

@overload
def InfeedWithToken(token: Operand, shape: ItemShapeLike, config: str | None=None) -> XlaOp:
    """The next item of the infeed, after a token; see `infeed`. (`xlaops.infeed_with_token`)"""

@overload
def InfeedWithToken(builder: XlaBuilder, token: Operand, shape: ItemShapeLike, config: str | None=None) -> XlaOp:
    """The next item of the infeed, after a token; see `infeed`. (`xlaops.infeed_with_token`)"""

@overload
def Iota(shape: ShapeLike, iota_dimension: int) -> XlaOp:
    """An array whose elements are their own index in one dimension. (`xlaops.iota`)"""

@overload
def Iota(builder: XlaBuilder, shape: ShapeLike, iota_dimension: int) -> XlaOp:
    """An array whose elements are their own index in one dimension. (`xlaops.iota`)"""

@overload
def IsFinite(operand: Operand) -> XlaOp:
    """Whether elements are neither infinite nor NaN. (`xlaops.is_finite`)"""

@overload
def IsFinite(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Whether elements are neither infinite nor NaN. (`xlaops.is_finite`)"""

@overload
def Le(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs <= rhs``. (`xlaops.le`)"""

@overload
def Le(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs <= rhs``. (`xlaops.le`)"""

@overload
def LeTotalOrder(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs <= rhs`` in the total order. (`xlaops.le_total_order`)"""

@overload
def LeTotalOrder(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs <= rhs`` in the total order. (`xlaops.le_total_order`)"""

@overload
def Log(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise natural logarithm. (`xlaops.log`)"""

@overload
def Log(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise natural logarithm. (`xlaops.log`)"""

@overload
def Log1p(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    r"""Element-wise :math:`\log(1 + x)`, exact also for small operands. (`xlaops.log1p`)"""

@overload
def Log1p(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    r"""Element-wise :math:`\log(1 + x)`, exact also for small operands. (`xlaops.log1p`)"""

@overload
def Logistic(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise logistic function :math:`1 / (1 + e^{-x})`. (`xlaops.logistic`)"""

@overload
def Logistic(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise logistic function :math:`1 / (1 + e^{-x})`. (`xlaops.logistic`)"""

@overload
def Lt(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs < rhs``. (`xlaops.lt`)"""

@overload
def Lt(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs < rhs``. (`xlaops.lt`)"""

@overload
def LtTotalOrder(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs < rhs`` in the total order. (`xlaops.lt_total_order`)"""

@overload
def LtTotalOrder(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise comparison ``lhs < rhs`` in the total order. (`xlaops.lt_total_order`)"""

@overload
def Map(operands: Sequence[Operand], computation: Callable[..., Any], dimensions: Dims, static_operands: Sequence[Operand]=()) -> XlaOp:
    """The results of a computation for the elements at each position. (`xlaops.map`)"""

@overload
def Map(builder: XlaBuilder, operands: Sequence[Operand], computation: Callable[..., Any], dimensions: Dims, static_operands: Sequence[Operand]=()) -> XlaOp:
    """The results of a computation for the elements at each position. (`xlaops.map`)"""

@overload
def Max(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise maximum. (`xlaops.max`)"""

@overload
def Max(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise maximum. (`xlaops.max`)"""

@overload
def Min(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise minimum. (`xlaops.min`)"""

@overload
def Min(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise minimum. (`xlaops.min`)"""

@overload
def Mul(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise product. (`xlaops.mul`)"""

@overload
def Mul(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise product. (`xlaops.mul`)"""

@overload
def Mulhi(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise more significant half of the product. (`xlaops.mulhi`)"""

@overload
def Mulhi(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise more significant half of the product. (`xlaops.mulhi`)"""

@overload
def MultiCollectivePermute(operands: Sequence[Operand], source_target_pairs: SourceTargetPairsLike, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of the replica that sends to this one; zeros where none does. (`xlaops.multi_collective_permute`)"""

@overload
def MultiCollectivePermute(builder: XlaBuilder, operands: Sequence[Operand], source_target_pairs: SourceTargetPairsLike, channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """The operands of the replica that sends to this one; zeros where none does. (`xlaops.multi_collective_permute`)"""

@overload
def Ne(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements differ. (`xlaops.ne`)"""

@overload
def Ne(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements differ. (`xlaops.ne`)"""

@overload
def NeTotalOrder(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements differ in the total order. (`xlaops.ne_total_order`)"""

@overload
def NeTotalOrder(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Whether elements differ in the total order. (`xlaops.ne_total_order`)"""

@overload
def Neg(operand: Operand) -> XlaOp:
    """Element-wise negation. (`xlaops.neg`)"""

@overload
def Neg(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise negation. (`xlaops.neg`)"""

@overload
def Not(operand: Operand) -> XlaOp:
    """Element-wise complement. (`xlaops.not_`)"""

@overload
def Not(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise complement. (`xlaops.not_`)"""

@overload
def OptimizationBarrier(operand: Any) -> XlaOp:
    """The operand, through which the compiler moves nothing. (`xlaops.optimization_barrier`)"""

@overload
def OptimizationBarrier(builder: XlaBuilder, operand: Any) -> XlaOp:
    """The operand, through which the compiler moves nothing. (`xlaops.optimization_barrier`)"""

@overload
def Or(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise or. (`xlaops.or_`)"""

@overload
def Or(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise or. (`xlaops.or_`)"""

@overload
def Outfeed(operand: Any, shape_with_layout: ItemShapeLike | None=None, outfeed_config: str | None=None) -> XlaOp:
    """Puts data into the device's outfeed, from which the host takes it. (`xlaops.outfeed`)"""

@overload
def Outfeed(builder: XlaBuilder, operand: Any, shape_with_layout: ItemShapeLike | None=None, outfeed_config: str | None=None) -> XlaOp:
    """Puts data into the device's outfeed, from which the host takes it. (`xlaops.outfeed`)"""

@overload
def OutfeedWithToken(operand: Any, token: Operand, shape_with_layout: ItemShapeLike | None=None, outfeed_config: str | None=None) -> XlaOp:
    """Puts data into the outfeed, after a token; see `outfeed`. (`xlaops.outfeed_with_token`)"""

@overload
def OutfeedWithToken(builder: XlaBuilder, operand: Any, token: Operand, shape_with_layout: ItemShapeLike | None=None, outfeed_config: str | None=None) -> XlaOp:
    """Puts data into the outfeed, after a token; see `outfeed`. (`xlaops.outfeed_with_token`)"""

@overload
def Pad(operand: Operand, padding_value: Operand, padding_config: PaddingConfigLike) -> XlaOp:
    """An array with a value added at its edges and between its elements. (`xlaops.pad`)"""

@overload
def Pad(builder: XlaBuilder, operand: Operand, padding_value: Operand, padding_config: PaddingConfigLike) -> XlaOp:
    """An array with a value added at its edges and between its elements. (`xlaops.pad`)"""

@overload
def PadInDim(operand: Operand, padding_value: Operand, dimno: int, pad_lo: int, pad_hi: int) -> XlaOp:
    """An array with a value added at both edges of one dimension. (`xlaops.pad_in_dim`)"""

@overload
def PadInDim(builder: XlaBuilder, operand: Operand, padding_value: Operand, dimno: int, pad_lo: int, pad_hi: int) -> XlaOp:
    """An array with a value added at both edges of one dimension. (`xlaops.pad_in_dim`)"""

@overload
def PartitionID(shape: ShapeLike | None=None, *, partition_axes: AxisNames=()) -> XlaOp:
    """The id of this partition. (`xlaops.partition_id`)"""

@overload
def PartitionID(builder: XlaBuilder, shape: ShapeLike | None=None, *, partition_axes: AxisNames=()) -> XlaOp:
    """The id of this partition. (`xlaops.partition_id`)"""

@overload
def PopulationCount(operand: Operand) -> XlaOp:
    """Element-wise number of bits that are set. (`xlaops.population_count`)"""

@overload
def PopulationCount(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise number of bits that are set. (`xlaops.population_count`)"""

@overload
def Pow(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise power :math:`lhs^{rhs}`. (`xlaops.pow`)"""

@overload
def Pow(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise power :math:`lhs^{rhs}`. (`xlaops.pow`)"""

@overload
def RaggedAllToAll(input: Operand, input_offsets: Operand, send_sizes: Operand, output: Operand, output_offsets: Operand, recv_sizes: Operand, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None) -> XlaOp:
    """Slices of rows of all members of a group, written into an output. (`xlaops.ragged_all_to_all`)"""

@overload
def RaggedAllToAll(builder: XlaBuilder, input: Operand, input_offsets: Operand, send_sizes: Operand, output: Operand, output_offsets: Operand, recv_sizes: Operand, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None) -> XlaOp:
    """Slices of rows of all members of a group, written into an output. (`xlaops.ragged_all_to_all`)"""

@overload
def RaggedAllToAllWithDeviceList(input: Operand, input_offsets: Operand, send_sizes: Operand, output: Operand, output_offsets: Operand, recv_sizes: Operand, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None) -> XlaOp:
    """Slices of rows of all members of a group, written into an output. (`xlaops.ragged_all_to_all`)"""

@overload
def RaggedAllToAllWithDeviceList(builder: XlaBuilder, input: Operand, input_offsets: Operand, send_sizes: Operand, output: Operand, output_offsets: Operand, recv_sizes: Operand, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, *, axis_name: AxisNames | None=None) -> XlaOp:
    """Slices of rows of all members of a group, written into an output. (`xlaops.ragged_all_to_all`)"""

@overload
def RaggedDot(lhs: Operand, rhs: Operand, group_sizes: Operand, dimension_numbers: RaggedDotDimensionNumbersLike, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products, where one dimension of ``lhs`` consists of consecutive groups. (`xlaops.ragged_dot`)"""

@overload
def RaggedDot(builder: XlaBuilder, lhs: Operand, rhs: Operand, group_sizes: Operand, dimension_numbers: RaggedDotDimensionNumbersLike, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products, where one dimension of ``lhs`` consists of consecutive groups. (`xlaops.ragged_dot`)"""

@overload
def Real(operand: Operand) -> XlaOp:
    """Element-wise real part. (`xlaops.real`)"""

@overload
def Real(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise real part. (`xlaops.real`)"""

@overload
def Recv(shape: ItemShapeLike, handle: ChannelHandleLike) -> XlaOp:
    """Data from a channel, which another program sends. (`xlaops.recv`)"""

@overload
def Recv(builder: XlaBuilder, shape: ItemShapeLike, handle: ChannelHandleLike) -> XlaOp:
    """Data from a channel, which another program sends. (`xlaops.recv`)"""

@overload
def RecvDone(context: Any) -> XlaOp:
    """The data of a receive that was started, once it is there. (`xlaops.recv_done`)"""

@overload
def RecvDone(builder: XlaBuilder, context: Any) -> XlaOp:
    """The data of a receive that was started, once it is there. (`xlaops.recv_done`)"""

@overload
def RecvFromHost(token: Operand, shape: ItemShapeLike, handle: ChannelHandleLike) -> XlaOp:
    """Data that the host sends through a channel, after a token. (`xlaops.recv_from_host`)"""

@overload
def RecvFromHost(builder: XlaBuilder, token: Operand, shape: ItemShapeLike, handle: ChannelHandleLike) -> XlaOp:
    """Data that the host sends through a channel, after a token. (`xlaops.recv_from_host`)"""

@overload
def RecvWithToken(token: Operand, shape: ItemShapeLike, handle: ChannelHandleLike) -> XlaOp:
    """Data from a channel, after a token; see `recv`. (`xlaops.recv_with_token`)"""

@overload
def RecvWithToken(builder: XlaBuilder, token: Operand, shape: ItemShapeLike, handle: ChannelHandleLike) -> XlaOp:
    """Data from a channel, after a token; see `recv`. (`xlaops.recv_with_token`)"""

@overload
def Reduce(operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], dimensions_to_reduce: Dims) -> XlaOp:
    """Elements combined over some dimensions, beginning with initial values. (`xlaops.reduce`)"""

@overload
def Reduce(builder: XlaBuilder, operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], dimensions_to_reduce: Dims) -> XlaOp:
    """Elements combined over some dimensions, beginning with initial values. (`xlaops.reduce`)"""

@overload
def ReduceAll(operand: Operand, init_value: Operand, computation: Callable[..., Any]) -> XlaOp:
    """All elements of an array combined, beginning with an initial value. (`xlaops.reduce_all`)"""

@overload
def ReduceAll(builder: XlaBuilder, operand: Operand, init_value: Operand, computation: Callable[..., Any]) -> XlaOp:
    """All elements of an array combined, beginning with an initial value. (`xlaops.reduce_all`)"""

@overload
def ReducePrecision(operand: Operand, exponent_bits: int, mantissa_bits: int) -> XlaOp:
    """Floating-point numbers rounded to a format of fewer bits, in their own type. (`xlaops.reduce_precision`)"""

@overload
def ReducePrecision(builder: XlaBuilder, operand: Operand, exponent_bits: int, mantissa_bits: int) -> XlaOp:
    """Floating-point numbers rounded to a format of fewer bits, in their own type. (`xlaops.reduce_precision`)"""

@overload
def ReduceScatter(operand: Any, computation: Callable[..., Any], scatter_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A block of the operands of all replicas of a group, combined elementwise. (`xlaops.reduce_scatter`)"""

@overload
def ReduceScatter(builder: XlaBuilder, operand: Any, computation: Callable[..., Any], scatter_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A block of the operands of all replicas of a group, combined elementwise. (`xlaops.reduce_scatter`)"""

@overload
def ReduceScatterWithDeviceList(operand: Any, computation: Callable[..., Any], scatter_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A block of the operands of all replicas of a group, combined elementwise. (`xlaops.reduce_scatter`)"""

@overload
def ReduceScatterWithDeviceList(builder: XlaBuilder, operand: Any, computation: Callable[..., Any], scatter_dimension: int, shard_count: int | None=None, replica_groups: ReplicaGroupsLike=(), channel_id: ChannelHandleLike | None=None, layout: LayoutLike | None=None, use_global_device_ids: bool | None=None, *, axis_name: AxisNames | None=None, partition_axes: AxisNames=()) -> XlaOp:
    """A block of the operands of all replicas of a group, combined elementwise. (`xlaops.reduce_scatter`)"""

@overload
def ReduceWindow(operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, padding: PaddingLike | WindowPadding, *, base_dilations: Dims | None=None, window_dilations: Dims | None=None) -> XlaOp:
    """Elements combined over each position of a moving window. (`xlaops.reduce_window`)"""

@overload
def ReduceWindow(builder: XlaBuilder, operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, padding: PaddingLike | WindowPadding, *, base_dilations: Dims | None=None, window_dilations: Dims | None=None) -> XlaOp:
    """Elements combined over each position of a moving window. (`xlaops.reduce_window`)"""

@overload
def ReduceWindow(operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, base_dilations: Dims | None, window_dilations: Dims | None, padding: PaddingLike | WindowPadding) -> XlaOp:
    """Elements combined over each position of a moving window. (`xlaops.reduce_window`)"""

@overload
def ReduceWindow(builder: XlaBuilder, operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, base_dilations: Dims | None, window_dilations: Dims | None, padding: PaddingLike | WindowPadding) -> XlaOp:
    """Elements combined over each position of a moving window. (`xlaops.reduce_window`)"""

@overload
def ReduceWindowWithGeneralPadding(operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, base_dilations: Dims | None, window_dilations: Dims | None, padding: WindowPadding) -> XlaOp:
    """Elements combined over each position of a window, with explicit padding. (`xlaops.reduce_window_with_general_padding`)"""

@overload
def ReduceWindowWithGeneralPadding(builder: XlaBuilder, operands: Operand | Sequence[Operand], init_values: Operand | Sequence[Operand], computation: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, base_dilations: Dims | None, window_dilations: Dims | None, padding: WindowPadding) -> XlaOp:
    """Elements combined over each position of a window, with explicit padding. (`xlaops.reduce_window_with_general_padding`)"""

@overload
def Rem(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise remainder of the truncated division. (`xlaops.rem`)"""

@overload
def Rem(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise remainder of the truncated division. (`xlaops.rem`)"""

@overload
def RemoveDynamicDimension(operand: Operand, dimension: int) -> XlaOp:
    """An array with all elements of a dimension, also those that did not count. (`xlaops.remove_dynamic_dimension`)"""

@overload
def RemoveDynamicDimension(builder: XlaBuilder, operand: Operand, dimension: int) -> XlaOp:
    """An array with all elements of a dimension, also those that did not count. (`xlaops.remove_dynamic_dimension`)"""

@overload
def ReplicaId(*, axis_name: AxisNames | None=None) -> XlaOp:
    """The id of this replica. (`xlaops.replica_id`)"""

@overload
def ReplicaId(builder: XlaBuilder, *, axis_name: AxisNames | None=None) -> XlaOp:
    """The id of this replica. (`xlaops.replica_id`)"""

@overload
def Reshape(operand: Operand, dimensions: Dims) -> XlaOp:
    """The elements of an array in another shape, in row-major order. (`xlaops.reshape`)"""

@overload
def Reshape(builder: XlaBuilder, operand: Operand, dimensions: Dims) -> XlaOp:
    """The elements of an array in another shape, in row-major order. (`xlaops.reshape`)"""

@overload
def Reshape(shape: ShapeLike, operand: Operand) -> XlaOp:
    """The elements of an array in another shape, in row-major order. (`xlaops.reshape`)"""

@overload
def Reshape(builder: XlaBuilder, shape: ShapeLike, operand: Operand) -> XlaOp:
    """The elements of an array in another shape, in row-major order. (`xlaops.reshape`)"""

@overload
def ReshapeWithInferredDimension(operand: Operand, new_sizes: Dims, inferred_dimension: int) -> XlaOp:
    """The elements of an array in another shape, one size of which follows. (`xlaops.reshape_with_inferred_dimension`)"""

@overload
def ReshapeWithInferredDimension(builder: XlaBuilder, operand: Operand, new_sizes: Dims, inferred_dimension: int) -> XlaOp:
    """The elements of an array in another shape, one size of which follows. (`xlaops.reshape_with_inferred_dimension`)"""

@overload
def Rev(operand: Operand, dimensions: Dims) -> XlaOp:
    """An array with the order of elements reversed in some dimensions. (`xlaops.rev`)"""

@overload
def Rev(builder: XlaBuilder, operand: Operand, dimensions: Dims) -> XlaOp:
    """An array with the order of elements reversed in some dimensions. (`xlaops.rev`)"""

@overload
def RngBitGenerator(algorithm: _types.RandomAlgorithm | str, initial_state: Operand, shape: ShapeLike) -> XlaOp:
    """Uniformly distributed random bits, and the state to draw the next ones from. (`xlaops.rng_bit_generator`)"""

@overload
def RngBitGenerator(builder: XlaBuilder, algorithm: _types.RandomAlgorithm | str, initial_state: Operand, shape: ShapeLike) -> XlaOp:
    """Uniformly distributed random bits, and the state to draw the next ones from. (`xlaops.rng_bit_generator`)"""

@overload
def RngGetAndUpdateState() -> NoReturn:
    """Refuses to touch the hidden state of XLA's random numbers. (`xlaops.rng_get_and_update_state`)"""

@overload
def RngGetAndUpdateState(builder: XlaBuilder) -> NoReturn:
    """Refuses to touch the hidden state of XLA's random numbers. (`xlaops.rng_get_and_update_state`)"""

@overload
def RngNormal(mu: Operand, sigma: Operand, shape: ShapeLike) -> XlaOp:
    """Random numbers, normally distributed with mean ``mu`` and deviation ``sigma``. (`xlaops.rng_normal`)"""

@overload
def RngNormal(builder: XlaBuilder, mu: Operand, sigma: Operand, shape: ShapeLike) -> XlaOp:
    """Random numbers, normally distributed with mean ``mu`` and deviation ``sigma``. (`xlaops.rng_normal`)"""

@overload
def RngUniform(a: Operand, b: Operand, shape: ShapeLike) -> XlaOp:
    """Random numbers, uniformly distributed over the interval ``[a, b)``. (`xlaops.rng_uniform`)"""

@overload
def RngUniform(builder: XlaBuilder, a: Operand, b: Operand, shape: ShapeLike) -> XlaOp:
    """Random numbers, uniformly distributed over the interval ``[a, b)``. (`xlaops.rng_uniform`)"""

@overload
def Round(operand: Operand) -> XlaOp:
    """Element-wise nearest integer, halves away from zero. (`xlaops.round`)"""

@overload
def Round(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise nearest integer, halves away from zero. (`xlaops.round`)"""

@overload
def RoundNearestAfz(operand: Operand) -> XlaOp:
    """Element-wise nearest integer, halves away from zero. (`xlaops.round_nearest_afz`)"""

@overload
def RoundNearestAfz(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise nearest integer, halves away from zero. (`xlaops.round_nearest_afz`)"""

@overload
def RoundNearestEven(operand: Operand) -> XlaOp:
    """Element-wise nearest integer, halves to the even one. (`xlaops.round_nearest_even`)"""

@overload
def RoundNearestEven(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise nearest integer, halves to the even one. (`xlaops.round_nearest_even`)"""

@overload
def Rsqrt(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    r"""Element-wise reciprocal square root :math:`1 / \sqrt{x}`. (`xlaops.rsqrt`)"""

@overload
def Rsqrt(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    r"""Element-wise reciprocal square root :math:`1 / \sqrt{x}`. (`xlaops.rsqrt`)"""

@overload
def ScaledDot(lhs: Operand, lhs_scale: Operand, rhs: Operand, rhs_scale: Operand, dimension_numbers: DotDimensionNumbersLike, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products of two arrays that are multiplied by scales before. (`xlaops.scaled_dot`)"""

@overload
def ScaledDot(builder: XlaBuilder, lhs: Operand, lhs_scale: Operand, rhs: Operand, rhs_scale: Operand, dimension_numbers: DotDimensionNumbersLike, precision_config: PrecisionConfigLike=None, preferred_element_type: DTypeLike | None=None) -> XlaOp:
    """Sum of products of two arrays that are multiplied by scales before. (`xlaops.scaled_dot`)"""

@overload
def Scan(inputs: Sequence[Operand], inits: Sequence[Operand], computation: Callable[..., Any], scan_dimension: int, scan_dimension_size: int | None=None, is_reverse: bool=False, is_associative: bool | None=None) -> XlaOp:
    """Results and final carries of a computation that walks along one dimension. (`xlaops.scan`)"""

@overload
def Scan(builder: XlaBuilder, inputs: Sequence[Operand], inits: Sequence[Operand], computation: Callable[..., Any], scan_dimension: int, scan_dimension_size: int | None=None, is_reverse: bool=False, is_associative: bool | None=None) -> XlaOp:
    """Results and final carries of a computation that walks along one dimension. (`xlaops.scan`)"""

@overload
def Scatter(operands: Operand | Sequence[Operand], scatter_indices: Operand, updates: Operand | Sequence[Operand], update_computation: Callable[..., Any], dimension_numbers: ScatterDimensionNumbersLike, indices_are_sorted: bool=False, unique_indices: bool=False) -> XlaOp:
    """Arrays into which windows of updates are combined, where indices say. (`xlaops.scatter`)"""

@overload
def Scatter(builder: XlaBuilder, operands: Operand | Sequence[Operand], scatter_indices: Operand, updates: Operand | Sequence[Operand], update_computation: Callable[..., Any], dimension_numbers: ScatterDimensionNumbersLike, indices_are_sorted: bool=False, unique_indices: bool=False) -> XlaOp:
    """Arrays into which windows of updates are combined, where indices say. (`xlaops.scatter`)"""

@overload
def Select(pred: Operand, on_true: Operand, on_false: Operand) -> XlaOp:
    """Elements of ``on_true`` where ``pred`` holds, and of ``on_false`` elsewhere. (`xlaops.select`)"""

@overload
def Select(builder: XlaBuilder, pred: Operand, on_true: Operand, on_false: Operand) -> XlaOp:
    """Elements of ``on_true`` where ``pred`` holds, and of ``on_false`` elsewhere. (`xlaops.select`)"""

@overload
def SelectAndScatter(operand: Operand, select: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, padding: PaddingLike | WindowPadding, source: Operand, init_value: Operand, scatter: Callable[..., Any]) -> XlaOp:
    """Elements of one array put where a window selects one of another array. (`xlaops.select_and_scatter`)"""

@overload
def SelectAndScatter(builder: XlaBuilder, operand: Operand, select: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, padding: PaddingLike | WindowPadding, source: Operand, init_value: Operand, scatter: Callable[..., Any]) -> XlaOp:
    """Elements of one array put where a window selects one of another array. (`xlaops.select_and_scatter`)"""

@overload
def SelectAndScatterWithGeneralPadding(operand: Operand, select: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, padding: WindowPadding, source: Operand, init_value: Operand, scatter: Callable[..., Any]) -> XlaOp:
    """Elements put where a window with explicit padding selects one. (`xlaops.select_and_scatter_with_general_padding`)"""

@overload
def SelectAndScatterWithGeneralPadding(builder: XlaBuilder, operand: Operand, select: Callable[..., Any], window_dimensions: Dims, window_strides: Dims, padding: WindowPadding, source: Operand, init_value: Operand, scatter: Callable[..., Any]) -> XlaOp:
    """Elements put where a window with explicit padding selects one. (`xlaops.select_and_scatter_with_general_padding`)"""

@overload
def Send(operand: Any, handle: ChannelHandleLike) -> XlaOp:
    """Sends data into a channel, from which another program receives it. (`xlaops.send`)"""

@overload
def Send(builder: XlaBuilder, operand: Any, handle: ChannelHandleLike) -> XlaOp:
    """Sends data into a channel, from which another program receives it. (`xlaops.send`)"""

@overload
def SendDone(context: Operand) -> XlaOp:
    """The token of a send that was started, once it has happened. (`xlaops.send_done`)"""

@overload
def SendDone(builder: XlaBuilder, context: Operand) -> XlaOp:
    """The token of a send that was started, once it has happened. (`xlaops.send_done`)"""

@overload
def SendToHost(operand: Any, token: Operand, shape_with_layout: ItemShapeLike | None, handle: ChannelHandleLike) -> XlaOp:
    """Sends data to the host through a channel, after a token. (`xlaops.send_to_host`)"""

@overload
def SendToHost(builder: XlaBuilder, operand: Any, token: Operand, shape_with_layout: ItemShapeLike | None, handle: ChannelHandleLike) -> XlaOp:
    """Sends data to the host through a channel, after a token. (`xlaops.send_to_host`)"""

@overload
def SendWithToken(operand: Any, token: Operand, handle: ChannelHandleLike) -> XlaOp:
    """Sends data into a channel, after a token; see `send`. (`xlaops.send_with_token`)"""

@overload
def SendWithToken(builder: XlaBuilder, operand: Any, token: Operand, handle: ChannelHandleLike) -> XlaOp:
    """Sends data into a channel, after a token; see `send`. (`xlaops.send_with_token`)"""

@overload
def SetDimensionSize(operand: Operand, val: Operand, dimension: int) -> XlaOp:
    """An array of which only the first elements of a dimension count. (`xlaops.set_dimension_size`)"""

@overload
def SetDimensionSize(builder: XlaBuilder, operand: Operand, val: Operand, dimension: int) -> XlaOp:
    """An array of which only the first elements of a dimension count. (`xlaops.set_dimension_size`)"""

@overload
def ShiftLeft(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise shift towards the more significant bits. (`xlaops.shift_left`)"""

@overload
def ShiftLeft(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise shift towards the more significant bits. (`xlaops.shift_left`)"""

@overload
def ShiftRightArithmetic(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise shift towards the less significant bits that keeps the sign. (`xlaops.shift_right_arithmetic`)"""

@overload
def ShiftRightArithmetic(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise shift towards the less significant bits that keeps the sign. (`xlaops.shift_right_arithmetic`)"""

@overload
def ShiftRightLogical(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise shift towards the less significant bits. (`xlaops.shift_right_logical`)"""

@overload
def ShiftRightLogical(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise shift towards the less significant bits. (`xlaops.shift_right_logical`)"""

@overload
def Sign(operand: Operand) -> XlaOp:
    """Element-wise sign: -1, 0 or 1. (`xlaops.sign`)"""

@overload
def Sign(builder: XlaBuilder, operand: Operand) -> XlaOp:
    """Element-wise sign: -1, 0 or 1. (`xlaops.sign`)"""

@overload
def Sin(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise sine of an angle in radians. (`xlaops.sin`)"""

@overload
def Sin(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise sine of an angle in radians. (`xlaops.sin`)"""

@overload
def Slice(operand: Operand, start_indices: Dims, limit_indices: Dims, strides: Dims | None=None) -> XlaOp:
    """The sub-array between two corners, with steps. (`xlaops.slice`)"""

@overload
def Slice(builder: XlaBuilder, operand: Operand, start_indices: Dims, limit_indices: Dims, strides: Dims | None=None) -> XlaOp:
    """The sub-array between two corners, with steps. (`xlaops.slice`)"""

@overload
def SliceInDim(operand: Operand, start_index: int, limit_index: int, stride: int, dimno: int) -> XlaOp:
    """The part of an array between two indices of one dimension, with steps. (`xlaops.slice_in_dim`)"""

@overload
def SliceInDim(builder: XlaBuilder, operand: Operand, start_index: int, limit_index: int, stride: int, dimno: int) -> XlaOp:
    """The part of an array between two indices of one dimension, with steps. (`xlaops.slice_in_dim`)"""

@overload
def Sort(operands: Sequence[Operand], comparator: Callable[..., Any], dimension: int=-1, is_stable: bool=False) -> XlaOp:
    """Arrays sorted along one dimension, in the order that a comparator says. (`xlaops.sort`)"""

@overload
def Sort(builder: XlaBuilder, operands: Sequence[Operand], comparator: Callable[..., Any], dimension: int=-1, is_stable: bool=False) -> XlaOp:
    """Arrays sorted along one dimension, in the order that a comparator says. (`xlaops.sort`)"""

@overload
def Sqrt(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise square root. (`xlaops.sqrt`)"""

@overload
def Sqrt(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise square root. (`xlaops.sqrt`)"""

@overload
def StochasticConvertType(operand: Operand, random: Operand, new_element_type: DTypeLike) -> XlaOp:
    """Element-wise conversion that rounds to one of two neighbours at random. (`xlaops.stochastic_convert_type`)"""

@overload
def StochasticConvertType(builder: XlaBuilder, operand: Operand, random: Operand, new_element_type: DTypeLike) -> XlaOp:
    """Element-wise conversion that rounds to one of two neighbours at random. (`xlaops.stochastic_convert_type`)"""

@overload
def Sub(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise difference. (`xlaops.sub`)"""

@overload
def Sub(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise difference. (`xlaops.sub`)"""

@overload
def Tan(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise tangent of an angle in radians. (`xlaops.tan`)"""

@overload
def Tan(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise tangent of an angle in radians. (`xlaops.tan`)"""

@overload
def Tanh(operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise hyperbolic tangent. (`xlaops.tanh`)"""

@overload
def Tanh(builder: XlaBuilder, operand: Operand, result_accuracy: ResultAccuracyLike=None) -> XlaOp:
    """Element-wise hyperbolic tangent. (`xlaops.tanh`)"""

@overload
def TopK(operand: Operand, k: int, largest: bool=True) -> XlaOp:
    """The ``k`` largest or smallest elements along the last dimension, in order. (`xlaops.top_k`)"""

@overload
def TopK(builder: XlaBuilder, operand: Operand, k: int, largest: bool=True) -> XlaOp:
    """The ``k`` largest or smallest elements along the last dimension, in order. (`xlaops.top_k`)"""

@overload
def Transpose(operand: Operand, permutation: Dims) -> XlaOp:
    """An array with its dimensions permuted. (`xlaops.transpose`)"""

@overload
def Transpose(builder: XlaBuilder, operand: Operand, permutation: Dims) -> XlaOp:
    """An array with its dimensions permuted. (`xlaops.transpose`)"""

@overload
def TriangularSolve(a: Operand, b: Operand, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: _types.Transpose | str) -> XlaOp:
    """Solution ``x`` of ``op(a) @ x = b`` or ``x @ op(a) = b`` for triangular ``a``. (`xlaops.triangular_solve`)"""

@overload
def TriangularSolve(builder: XlaBuilder, a: Operand, b: Operand, left_side: bool, lower: bool, unit_diagonal: bool, transpose_a: _types.Transpose | str) -> XlaOp:
    """Solution ``x`` of ``op(a) @ x = b`` or ``x @ op(a) = b`` for triangular ``a``. (`xlaops.triangular_solve`)"""

@overload
def Tuple(elements: Sequence[Any]) -> XlaOp:
    """The elements as a tuple. (`xlaops.tuple`)"""

@overload
def Tuple(builder: XlaBuilder, elements: Sequence[Any]) -> XlaOp:
    """The elements as a tuple. (`xlaops.tuple`)"""

@overload
def While(condition: Callable[[Any], Operand], body: Callable[[Any], Any], init: Any) -> XlaOp:
    """The value that repeated application of ``body`` reaches. (`xlaops.while_`)"""

@overload
def While(builder: XlaBuilder, condition: Callable[[Any], Operand], body: Callable[[Any], Any], init: Any) -> XlaOp:
    """The value that repeated application of ``body`` reaches. (`xlaops.while_`)"""

@overload
def Xor(lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise exclusive or. (`xlaops.xor`)"""

@overload
def Xor(builder: XlaBuilder, lhs: Operand, rhs: Operand, broadcast_dimensions: Dims=()) -> XlaOp:
    """Element-wise exclusive or. (`xlaops.xor`)"""
