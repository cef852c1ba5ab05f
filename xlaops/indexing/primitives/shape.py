"""Operations that move elements and change none: shapes, slices, padding."""

from __future__ import annotations

from collections.abc import Sequence

from ..expression import Expression
from ..map import IndexingMap
from .building import Limit, d, mirrored, related, reshaped, transposed
from .equation import Equation, Maps, forward_rule, rule


@rule("broadcast_in_dim")
def _broadcast_in_dim(eq: Equation, output: int) -> Sequence[Maps]:
    shape, operand = eq.shapes[0], eq.operands[0].shape
    dims = eq.params["broadcast_dimensions"]
    results: list[Expression | int] = [
        d(int(to)) if n == shape[to] else 0 for n, to in zip(operand, dims, strict=True)
    ]
    # Sizes of dynamic shapes are operands as well.
    return [(related(shape, results),), *[()] * (len(eq.operands) - 1)]


@rule("broadcast_to")
def _broadcast_to(eq: Equation, output: int) -> Sequence[Maps]:
    shape, operand = eq.shapes[0], eq.operands[0].shape
    skipped = len(shape) - len(operand)
    results: list[Expression | int] = [
        d(i + skipped) if n == shape[i + skipped] else 0 for i, n in enumerate(operand)
    ]
    return [(related(shape, results),)]


@rule("reshape", "squeeze", "expand_dims")
def _reshape(eq: Equation, output: int) -> Sequence[Maps]:
    operand = eq.operands[0].shape
    order = eq.params.get("dimensions") if eq.name == "reshape" else None
    if order is None:
        return [(reshaped(eq.shapes[0], operand),)]
    turned = tuple([operand[i] for i in order])
    first = reshaped(eq.shapes[0], turned)
    return [(first.compose(transposed(turned, tuple(order))),)]


@forward_rule("reshape", "squeeze", "expand_dims")
def _reshape_forward(eq: Equation, output: int) -> Sequence[Maps]:
    operand = eq.operands[0].shape
    order = eq.params.get("dimensions") if eq.name == "reshape" else None
    if order is None:
        return [(reshaped(operand, eq.shapes[0]),)]
    turned = tuple([operand[i] for i in order])
    back = tuple([order.index(i) for i in range(len(order))])
    return [(transposed(operand, back).compose(reshaped(turned, eq.shapes[0])),)]


@rule("transpose")
def _transpose(eq: Equation, output: int) -> Sequence[Maps]:
    return [(transposed(eq.shapes[0], tuple(eq.params["permutation"])),)]


@rule("rev")
def _reverse(eq: Equation, output: int) -> Sequence[Maps]:
    return [(mirrored(eq.shapes[0], tuple(eq.params["dimensions"])),)]


@rule("slice")
def _slice(eq: Equation, output: int) -> Sequence[Maps]:
    starts = eq.params["start_indices"]
    strides = eq.params["strides"] or [1] * len(starts)
    results = [
        d(i) * int(k) + int(a)
        for i, (a, k) in enumerate(zip(starts, strides, strict=True))
    ]
    return [(related(eq.shapes[0], results),)]


@rule("split")
def _split(eq: Equation, output: int) -> Sequence[Maps]:
    axis, before = eq.params["axis"], sum(eq.params["sizes"][:output])
    return [(moved(eq.shapes[output], axis, int(before)),)]


@rule("unstack")
def _unstack(eq: Equation, output: int) -> Sequence[Maps]:
    axis, shape = eq.params["axis"], eq.shapes[output]
    before = [d(i) for i in range(axis)]
    behind = [d(i) for i in range(axis, len(shape))]
    return [(related(shape, [*before, output, *behind]),)]


@rule("stack")
def _stack(eq: Equation, output: int) -> Sequence[Maps]:
    axis, shape = eq.params["axis"], eq.shapes[0]
    results = [d(i) for i in range(len(shape)) if i != axis]
    return [
        (related(shape, results, limits=[(d(axis), (k, k))]),)
        for k in range(len(eq.operands))
    ]


@rule("tile")
def _tile(eq: Equation, output: int) -> Sequence[Maps]:
    shape, operand = eq.shapes[0], eq.operands[0].shape
    skipped = len(shape) - len(operand)
    results = [d(i + skipped) % max(n, 1) for i, n in enumerate(operand)]
    return [(related(shape, results),)]


@rule("concatenate")
def _concatenate(eq: Equation, output: int) -> Sequence[Maps]:
    axis, shape = eq.params["dimension"], eq.shapes[0]
    maps: list[Maps] = []
    offset = 0
    for x in eq.operands:
        size = x.shape[axis]
        limit = (d(axis), (offset, offset + size - 1))
        maps.append((moved(shape, axis, -offset, [limit]),))
        offset += size
    return maps


def moved(
    shape: Sequence[int], axis: int, offset: int, limits: Sequence[Limit] = ()
) -> IndexingMap:
    """The elements that lie further by an offset along one dimension."""
    results = [d(i) + offset if i == axis else d(i) for i in range(len(shape))]
    return related(shape, results, limits=limits)


@rule("pad")
def _pad(eq: Equation, output: int) -> Sequence[Maps]:
    shape, operand = tuple(eq.shapes[0]), eq.operands[0].shape
    results: list[Expression] = []
    limits: list[Limit] = []
    padded: list[Limit] = []
    for i, (low, high, interior) in enumerate(eq.params["padding_config"]):
        step, n = interior + 1, operand[i]
        last = (n - 1) * step if n else -1
        position = d(i) - low
        results.append(position // step)
        limits.append((position, (0, last)))
        if low > 0:
            padded.append((d(i), (0, low - 1)))
        if high > 0:
            padded.append((d(i), (low + last + 1, shape[i] - 1)))
        if step > 1:
            limits.append((position % step, (0, 0)))
            padded.append((position % step, (1, interior)))
    inside = related(shape, results, limits=limits)
    value = [related(shape, (), limits=[one]) for one in padded]
    return [(inside,), tuple([m for m in value if not m.is_known_empty])]
