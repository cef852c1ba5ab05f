"""Operations that fold an array along dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .building import along, d, dropped, related, s, to_scalar
from .dependence import fold_dependence
from .equation import Equation, Maps, rule


@rule(
    *("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and"),
    *("reduce_or", "reduce_xor", "argmax", "argmin"),
)
def _reduce(eq: Equation, output: int) -> Sequence[Maps]:
    axes = tuple(eq.params["axes"])
    return [(dropped(eq.shapes[output], eq.operands[0].shape, axes),)]


@rule("reduce", "xlaops_reduce")
def _reduce_by(eq: Equation, output: int) -> Sequence[Maps]:
    axes = tuple(eq.params["dimensions"])
    shape, count = eq.shapes[output], len(eq.operands) // 2
    needed = fold_dependence(eq.params, count, output)
    maps: list[Maps] = []
    for i, x in enumerate(eq.operands):
        if i % count not in needed:
            maps.append(())
        elif i < count:
            maps.append((dropped(shape, x.shape, axes),))
        else:
            maps.append((to_scalar(shape),))
    return maps


@rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _cumulative(eq: Equation, output: int) -> Sequence[Maps]:
    shape, axis = eq.shapes[0], eq.params["axis"]
    results = [s(0) if i == axis else d(i) for i in range(len(shape))]
    ahead = s(0) - d(axis) if eq.params["reverse"] else d(axis) - s(0)
    n = shape[axis]
    limits = [(ahead, (0, n - 1))]
    return [(related(shape, results, ranges=[n], limits=limits),)]


@rule("sort")
def _sort(eq: Equation, output: int) -> Sequence[Maps]:
    # The order of the first keys does not depend on what breaks ties among equals.
    keys = min(eq.params["num_keys"], output + 1)
    return _sorted(eq, output, range(keys))


@rule("xlaops_sort")
def _sort_by(eq: Equation, output: int) -> Sequence[Maps]:
    read = _compared(eq.params["comparator"].jaxpr, len(eq.operands))
    return _sorted(eq, output, read)


def _compared(jaxpr: Any, count: int) -> set[int]:
    """The operands of which a comparator looks at the elements."""
    from .dependence import read_inputs

    (read,) = read_inputs(jaxpr)
    return {i // 2 for i in read if i < 2 * count}


def _sorted(eq: Equation, output: int, keys: Any) -> Sequence[Maps]:
    shape, axis = eq.shapes[output], eq.params["dimension"]
    line = along(shape, shape, (axis,))
    return [
        (line,) if i == output or i in keys else () for i in range(len(eq.operands))
    ]


@rule("top_k")
def _top_k(eq: Equation, output: int) -> Sequence[Maps]:
    axis = eq.params.get("axis", len(eq.operands[0].shape) - 1)
    return [(along(eq.shapes[output], eq.operands[0].shape, (axis,)),)]


@rule("approx_top_k")
def _approx_top_k(eq: Equation, output: int) -> Sequence[Maps]:
    operand = eq.operands[0].shape
    axis = eq.params["reduction_dimension"] % len(operand)
    return [(along(eq.shapes[output], operand, (axis,)),)]


# Normalisation over all but one dimension


@rule("xlaops_batch_norm_training")
def _batch_norm_training(eq: Equation, output: int) -> Sequence[Maps]:
    x = eq.operands[0].shape
    feature = eq.params["feature_index"]
    others = tuple([i for i in range(len(x)) if i != feature])
    shape = eq.shapes[output]
    if output:
        return [(dropped(shape, x, others),), (), ()]
    of_feature = related(shape, [d(feature)])
    return [(along(shape, x, others),), (of_feature,), (of_feature,)]


@rule("xlaops_batch_norm_inference")
def _batch_norm_inference(eq: Equation, output: int) -> Sequence[Maps]:
    shape, feature = eq.shapes[output], eq.params["feature_index"]
    results = [d(i) for i in range(len(shape))]
    of_feature = related(shape, [d(feature)])
    return [
        (related(shape, results),) if len(x.shape) == len(shape) else (of_feature,)
        for x in eq.operands
    ]


@rule("xlaops_batch_norm_grad", "xlaops_batch_norm_tangent")
def _batch_norm_linear(eq: Equation, output: int) -> Sequence[Maps]:
    reasons = ("a derivative of batch normalisation is taken to read all it is given",)
    x = eq.operands[0].shape
    feature = eq.params["feature_index"]
    shape = eq.shapes[output]
    own = d(feature) if len(shape) == len(x) else d(0)
    maps: list[Maps] = []
    for operand in eq.operands:
        if len(operand.shape) != len(x):
            maps.append((related(shape, [own], reasons=reasons),))
            continue
        ranges = [n for i, n in enumerate(x) if i != feature]
        results = [s(i - (i > feature)) for i in range(len(x))]
        results[feature] = own
        maps.append((related(shape, results, ranges=ranges, reasons=reasons),))
    return maps
