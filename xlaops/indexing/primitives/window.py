"""Windows that move over an array: folds, selections, convolutions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .. import expression as ex
from ..expression import Expression
from .building import Limit, d, related, s, to_scalar
from .dependence import fold_dependence
from .equation import Equation, Maps, rule


@dataclasses.dataclass(frozen=True, slots=True)
class _Axis:
    """How a window moves along one dimension."""

    size: int
    stride: int
    low: int
    base: int
    dilation: int
    count: int  # of elements of the array

    def element(
        self, position: Expression, tap: Expression
    ) -> tuple[Expression, list[Limit]]:
        """The array's element under a tap of the window, and where there is one."""
        at = position * self.stride + tap * self.dilation - self.low
        last = (self.count - 1) * self.base if self.count else -1
        limits: list[Limit] = [(at, (0, last))]
        if self.base > 1:
            limits.append((at % self.base, (0, 0)))
        return at // self.base, limits


def _axes(params: Any, shape: Sequence[int]) -> list[_Axis]:
    window = params.get("window")
    if window is not None:
        columns = (
            *(window.sizes, window.strides, window.padding),
            *(window.base_dilations, window.dilations),
        )
    else:
        ones = (1,) * len(shape)
        columns = (
            *(params["window_dimensions"], params["window_strides"], params["padding"]),
            *(params.get("base_dilation", ones), params.get("window_dilation", ones)),
        )
    return [
        _Axis(int(size), int(stride), int(padding[0]), int(base), int(dilation), n)
        for size, stride, padding, base, dilation, n in zip(
            *columns, shape, strict=True
        )
    ]


class _Taps:
    """Range variables for the taps of windows, one where there is more than one tap."""

    def __init__(self) -> None:
        self.ranges: list[int] = []

    def new(self, size: int) -> Expression:
        if size == 1:
            return ex.ZERO
        self.ranges.append(size)
        return s(len(self.ranges) - 1)


def _read(shape: tuple[int, ...], axes: Sequence[_Axis]) -> Maps:
    """The elements under the window, for each of its positions."""
    taps = _Taps()
    results: list[Expression] = []
    limits: list[Limit] = []
    for i, axis in enumerate(axes):
        element, more = axis.element(d(i), taps.new(axis.size))
        results.append(element)
        limits += more
    return (related(shape, results, ranges=taps.ranges, limits=limits),)


@rule(
    *("reduce_window_sum", "reduce_window_max", "reduce_window_min"),
    "select_and_gather_add",
)
def _reduce_window(eq: Equation, output: int) -> Sequence[Maps]:
    shape = eq.shapes[output]
    axes = _axes(eq.params, eq.operands[0].shape)
    return [_read(shape, axes)] * len(eq.operands)


@rule("reduce_window", "xlaops_reduce_window")
def _reduce_window_by(eq: Equation, output: int) -> Sequence[Maps]:
    shape, count = eq.shapes[output], len(eq.operands) // 2
    axes = _axes(eq.params, eq.operands[0].shape)
    needed = fold_dependence(eq.params, count, output)
    maps: list[Maps] = []
    for i in range(len(eq.operands)):
        if i % count not in needed:
            maps.append(())
        else:
            maps.append(_read(shape, axes) if i < count else (to_scalar(shape),))
    return maps


def _covering(
    shape: tuple[int, ...],
    axes: Sequence[_Axis],
    positions: Sequence[int],
) -> tuple[list[Expression], _Taps, list[Limit]]:
    """The positions at which the window covers an element."""
    taps = _Taps()
    results: list[Expression] = []
    limits: list[Limit] = []
    for i, (axis, count) in enumerate(zip(axes, positions, strict=True)):
        start = d(i) + axis.low - taps.new(axis.size)
        results.append(start // axis.stride)
        limits.append((start, (0, (count - 1) * axis.stride)))
        if axis.stride > 1:
            limits.append((start % axis.stride, (0, 0)))
    return results, taps, limits


@rule("select_and_scatter_add", "xlaops_select_and_scatter", "select_and_scatter")
def _select_and_scatter(eq: Equation, output: int) -> Sequence[Maps]:
    shape = tuple(eq.shapes[0])
    of_lax = eq.name == "select_and_scatter_add"
    source, operand = (0, 1) if of_lax else (1, 0)
    axes = _axes(eq.params, eq.operands[operand].shape)
    results, taps, limits = _covering(shape, axes, eq.operands[source].shape)
    to_source = related(shape, results, ranges=taps.ranges, limits=limits)
    # Which element of a window is chosen depends on all of them.
    results, taps, limits = _covering(shape, axes, eq.operands[source].shape)
    chosen: list[Expression] = []
    for position, axis in zip(results, axes, strict=True):
        element, more = axis.element(position, taps.new(axis.size))
        chosen.append(element)
        limits += more
    to_operand = related(shape, chosen, ranges=taps.ranges, limits=limits)
    maps: list[Maps] = [(), ()]
    maps[source], maps[operand] = (to_source,), (to_operand,)
    return [*maps, *[(to_scalar(shape),)] * (len(eq.operands) - 2)]


@rule("conv_general_dilated")
def _convolution(eq: Equation, output: int) -> Sequence[Maps]:
    shape, params = eq.shapes[0], eq.params
    lhs, rhs = eq.operands[0].shape, eq.operands[1].shape
    numbers = params["dimension_numbers"]
    lhs_spec, rhs_spec, out_spec = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    taps = _Taps()
    to_lhs: list[Expression] = [ex.ZERO] * len(lhs)
    to_rhs: list[Expression] = [ex.ZERO] * len(rhs)
    limits: list[Limit] = []
    for k in range(len(lhs) - 2):
        n, size = lhs[lhs_spec[k + 2]], rhs[rhs_spec[k + 2]]
        axis = _Axis(
            size,
            params["window_strides"][k],
            params["padding"][k][0],
            params["lhs_dilation"][k],
            params["rhs_dilation"][k],
            n,
        )
        tap = taps.new(size)
        element, more = axis.element(d(out_spec[k + 2]), tap)
        to_lhs[lhs_spec[k + 2]] = element
        to_rhs[rhs_spec[k + 2]] = tap
        limits += more
    batch, feature = d(out_spec[0]), d(out_spec[1])
    features = shape[out_spec[1]]
    channels = rhs[rhs_spec[1]]
    channel = taps.new(channels)
    groups = params["feature_group_count"]
    batch_groups = params["batch_group_count"]
    of_group = channel
    if groups > 1:
        of_group = feature // max(features // groups, 1) * channels + channel
    of_batch = batch
    if batch_groups > 1:
        in_group = lhs[lhs_spec[0]] // batch_groups
        of_batch = feature // max(features // batch_groups, 1) * in_group + batch
    to_lhs[lhs_spec[0]], to_lhs[lhs_spec[1]] = of_batch, of_group
    to_rhs[rhs_spec[0]], to_rhs[rhs_spec[1]] = feature, channel
    return [
        (related(shape, to_lhs, ranges=taps.ranges, limits=limits),),
        (related(shape, to_rhs, ranges=taps.ranges, limits=limits).drop_unused(),),
    ]
