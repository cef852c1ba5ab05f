"""Batch normalisation as primitives: types, lowering, batching and derivatives.

Each is one operation of StableHLO where the program runs as it is written, and
arithmetic where XLA partitions it: the partitioner knows nothing of these operations,
and would gather the whole batch onto every device.

The tangent of training is a primitive as well. It is linear in the tangents of operand,
scale and offset, and its transpose is the gradient operation: so `jax.grad` of training
holds one ``stablehlo.batch_norm_grad``.

All operands have one element type of 32 or 64 bits; vectors have one element for each
index of the dimension ``feature_index`` of the operand.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import Array, lax

from .compat import (
    Primitive,
    ad,
    batching,
    ir,
    is_partitioned,
    mlir,
    new_primitive,
    result_type_like,
    stablehlo,
)
from .primitive import equally_varying, has_sharding_in_type, sharding_like

# Backends whose compilers take the operations of StableHLO.
_NATIVE = ("cpu", "cuda", "rocm", "tpu")


def training(
    x: Array, scale: Array, offset: Array, *, epsilon: float, feature_index: int
) -> tuple[Array, Array, Array]:
    """The normalised operand, and the mean and the variance of each feature."""
    x, scale, offset = equally_varying(x, scale, offset)
    # XLA takes the variance for the mean of the squares less the square of the mean,
    # which loses everything where the mean is large. It is subtracted before. As a
    # constant: whatever is subtracted, the function of the operand is the same one.
    centre = lax.stop_gradient(_mean(x, feature_index))
    centred = lax.sub(x, _spread(centre, x, feature_index))
    output, rest, variance = _training.bind(
        centred, scale, offset, epsilon=epsilon, feature_index=feature_index
    )
    if has_sharding_in_type(rest):
        centre = jax.sharding.reshard(centre, sharding_like(rest))
    # Of a mean that is not finite nothing is left to add.
    rest = lax.select(lax.is_finite(centre), rest, lax.full_like(rest, 0))
    return output, lax.add(centre, rest), variance


def inference(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    feature_index: int,
) -> Array:
    """The operand, normalised with the given moments."""
    operands = equally_varying(x, scale, offset, mean, variance)
    return _inference.bind(*operands, epsilon=epsilon, feature_index=feature_index)[0]


def gradient(
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    cotangent: Array,
    *,
    epsilon: float,
    feature_index: int,
) -> tuple[Array, Array, Array]:
    """The gradients of training's operand, scale and offset."""
    operands = equally_varying(x, scale, mean, variance, cotangent)
    return tuple(
        _gradient.bind(*operands, epsilon=epsilon, feature_index=feature_index)
    )


# The formulas


def _count(x: Array, feature_index: int) -> int:
    return math.prod(n for d, n in enumerate(x.shape) if d != feature_index)


def _spread(vector: Array, like: Array, feature_index: int) -> Array:
    """One element for each feature, at every element of the operand."""
    return lax.broadcast_in_dim(
        vector, like.shape, (feature_index,), out_sharding=sharding_like(like)
    )


def _sum(x: Array, feature_index: int) -> Array:
    return lax.reduce_sum(x, [d for d in range(x.ndim) if d != feature_index])


def _mean(x: Array, feature_index: int) -> Array:
    total = _sum(x, feature_index)
    return lax.div(total, lax.full_like(total, _count(x, feature_index)))


def _inverse_deviation(variance: Array, epsilon: float) -> Array:
    return lax.rsqrt(lax.add(variance, lax.full_like(variance, epsilon)))


def _standardized(
    x: Array, mean: Array, variance: Array, *, epsilon: float, feature_index: int
) -> Array:
    centred = lax.sub(x, _spread(mean, x, feature_index))
    inverse = _inverse_deviation(variance, epsilon)
    return lax.mul(centred, _spread(inverse, x, feature_index))


def _inference_formula(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    feature_index: int,
) -> list[Array]:
    standardized = _standardized(
        x, mean, variance, epsilon=epsilon, feature_index=feature_index
    )
    scaled = lax.mul(standardized, _spread(scale, x, feature_index))
    return [lax.add(scaled, _spread(offset, x, feature_index))]


def _training_formula(
    x: Array, scale: Array, offset: Array, *, epsilon: float, feature_index: int
) -> list[Array]:
    # As XLA does, in one pass over the operand, which is centred.
    mean = _mean(x, feature_index)
    squares = _mean(lax.mul(x, x), feature_index)
    difference = lax.sub(squares, lax.mul(mean, mean))
    variance = lax.max(difference, lax.full_like(difference, 0))
    (output,) = _inference_formula(
        x, scale, offset, mean, variance, epsilon=epsilon, feature_index=feature_index
    )
    return [output, mean, variance]


def _gradient_formula(
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    cotangent: Array,
    *,
    epsilon: float,
    feature_index: int,
) -> list[Array]:
    spread = functools.partial(_spread, like=x, feature_index=feature_index)
    inverse = _inverse_deviation(variance, epsilon)
    centred = lax.sub(x, spread(mean))
    product = lax.mul(cotangent, centred)
    along = lax.mul(_mean(product, feature_index), lax.mul(inverse, inverse))
    rest = lax.sub(
        lax.sub(cotangent, spread(_mean(cotangent, feature_index))),
        lax.mul(centred, spread(along)),
    )
    return [
        lax.mul(spread(lax.mul(scale, inverse)), rest),
        lax.mul(_sum(product, feature_index), inverse),
        _sum(cotangent, feature_index),
    ]


def _tangent_formula(
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *tangents: Array,
    moving: tuple[int, ...],
    epsilon: float,
    feature_index: int,
) -> list[Array]:
    """The tangents of training's results.

    ``moving`` tells whose tangents are given: of operand (0), scale (1), offset (2).
    """
    setting = {"epsilon": epsilon, "feature_index": feature_index}
    spread = functools.partial(_spread, like=x, feature_index=feature_index)
    given = dict(zip(moving, tangents, strict=True))
    d_mean, d_variance = lax.full_like(mean, 0), lax.full_like(variance, 0)
    terms = []
    if 0 in given:
        # The map from the tangent of the operand to that of the output is symmetric,
        # and therefore the one from the cotangent of the output to the gradient.
        dx = given[0]
        terms.append(gradient(x, scale, mean, variance, dx, **setting)[0])
        centred = lax.sub(x, spread(mean))
        d_mean = _mean(dx, feature_index)
        half = _mean(lax.mul(centred, dx), feature_index)
        d_variance = lax.add(half, half)
    if 1 in given:
        standardized = _standardized(x, mean, variance, **setting)
        terms.append(lax.mul(spread(given[1]), standardized))
    if 2 in given:
        terms.append(spread(given[2]))
    return [functools.reduce(lax.add, terms), d_mean, d_variance]


# The primitives


def _new(name: str, formula: Callable[..., list[Array]]) -> Primitive:
    """A primitive that is lowered as a formula says."""
    primitive = new_primitive(name)
    primitive.multiple_results = True
    mlir.register_lowering(primitive, mlir.lower_fun(formula, multiple_results=True))
    return primitive


def _lower_to(
    primitive: Primitive, formula: Callable[..., list[Array]], native: Any
) -> None:
    """Lowers a primitive to an operation of StableHLO where that is not partitioned."""
    expanded = mlir.lower_fun(formula, multiple_results=True)

    def lower(
        ctx: Any, *operands: Any, epsilon: float, feature_index: int
    ) -> Sequence[Any]:
        if is_partitioned(ctx):
            return expanded(
                ctx, *operands, epsilon=epsilon, feature_index=feature_index
            )
        operation = native(
            *operands,
            ir.FloatAttr.get(ir.F32Type.get(), epsilon),
            mlir.i64_attr(feature_index),
        )
        return list(operation.results)

    for platform in _NATIVE:
        mlir.register_lowering(primitive, lower, platform=platform)


_training = _new("batch_norm_training", _training_formula)
_inference = _new("batch_norm_inference", _inference_formula)
_gradient = _new("batch_norm_grad", _gradient_formula)
_tangent = _new("batch_norm_tangent", _tangent_formula)
_lower_to(_training, _training_formula, stablehlo.BatchNormTrainingOp)
_lower_to(_inference, _inference_formula, stablehlo.BatchNormInferenceOp)
_lower_to(_gradient, _gradient_formula, stablehlo.BatchNormGradOp)


def _types(x: Any, *others: Any, **_: Any) -> list[Any]:
    """Of one result like the operand, and two vectors like the scale behind it."""
    scale = others[0]
    vector = result_type_like(scale, scale.shape, scale.dtype)
    return [result_type_like(x, x.shape, x.dtype), vector, vector]


_training.def_abstract_eval(_types)
_gradient.def_abstract_eval(_types)
_tangent.def_abstract_eval(_types)
_inference.def_abstract_eval(lambda *avals, **_: _types(*avals)[:1])


# Derivatives


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero


def _tangents_of(
    formula: Callable[..., list[Array]], primals: Any, tangents: Any, **params: Any
) -> list[Array] | None:
    """The tangents of a formula's results; None where nothing moves."""
    moving = [i for i, t in enumerate(tangents) if not (t is None or _is_zero(t))]
    if not moving:
        return None

    def along(*values: Array) -> list[Array]:
        operands = list(primals)
        for i, value in zip(moving, values, strict=True):
            operands[i] = value
        return formula(*operands, **params)

    starts = tuple(primals[i] for i in moving)
    return jax.jvp(along, starts, tuple(tangents[i] for i in moving))[1]


def _zeros_like(results: Sequence[Any]) -> list[Any]:
    return [ad.Zero(jax.typeof(y).to_tangent_aval()) for y in results]


def _sums(results: Sequence[Any], *tangents: Sequence[Any] | None) -> Sequence[Any]:
    given = [t for t in tangents if t is not None]
    if not given:
        return _zeros_like(results)
    return given[0] if len(given) == 1 else list(map(lax.add, *given))


def _training_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    x, scale, _ = primals
    results = _training.bind(*primals, **params)
    _, mean, variance = results
    moving = tuple(i for i, t in enumerate(tangents) if not _is_zero(t))
    if not moving:
        return results, _zeros_like(results)
    linear = [tangents[i] for i in moving]
    out = _bind_tangent(x, scale, mean, variance, *linear, moving=moving, **params)
    if 0 not in moving:
        out[1:] = _zeros_like(results[1:])
    return results, out


def _bind_tangent(*operands: Array, **params: Any) -> list[Array]:
    return _tangent.bind(*equally_varying(*operands), **params)


def _inference_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    results = _inference.bind(*primals, **params)
    moved = _tangents_of(_inference_formula, primals, tangents, **params)
    return results, _sums(results, moved)


def _gradient_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    results = _gradient.bind(*primals, **params)
    fixed, cotangent = tangents[:4], tangents[4]
    linear = None
    if not _is_zero(cotangent):
        x, scale, mean, variance, _ = primals
        linear = gradient(x, scale, mean, variance, cotangent, **params)
    moved = _tangents_of(_gradient_formula, primals, [*fixed, None], **params)
    return results, _sums(results, linear, moved)


def _tangent_jvp(
    primals: Any, tangents: Any, *, moving: tuple[int, ...], **params: Any
) -> Any:
    results = _tangent.bind(*primals, moving=moving, **params)
    linear = None
    given = [i for i, t in enumerate(tangents[4:]) if not _is_zero(t)]
    if given:
        linear = _bind_tangent(
            *primals[:4],
            *(tangents[4 + i] for i in given),
            moving=tuple(moving[i] for i in given),
            **params,
        )
    fixed = [*tangents[:4], *(None for _ in moving)]
    formula = functools.partial(_tangent_formula, moving=moving)
    moved = _tangents_of(formula, primals, fixed, **params)
    return results, _sums(results, linear, moved)


def _gradient_transpose(
    cotangents: Any,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    wanted: Any,
    **params: Any,
) -> Any:
    output, of_scale, of_offset = cotangents
    index = params["feature_index"]
    terms = []
    if not _is_zero(output):
        terms.append(gradient(x, scale, mean, variance, output, **params)[0])
    if not _is_zero(of_scale):
        standardized = _standardized(x, mean, variance, **params)
        terms.append(lax.mul(standardized, _spread(of_scale, x, index)))
    if not _is_zero(of_offset):
        terms.append(_spread(of_offset, x, index))
    total = functools.reduce(lax.add, terms) if terms else ad.Zero(wanted.aval)
    return None, None, None, None, total


def _tangent_transpose(
    cotangents: Any,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *tangents: Any,
    moving: tuple[int, ...],
    **params: Any,
) -> Any:
    output, of_mean, of_variance = cotangents
    index = params["feature_index"]
    gradients: list[Any] = [None] * 3
    if not _is_zero(output):
        gradients = list(gradient(x, scale, mean, variance, output, **params))
    if 0 in moving:
        terms = [] if gradients[0] is None else gradients[:1]
        count = _count(x, index)
        if not _is_zero(of_mean):
            share = lax.div(of_mean, lax.full_like(of_mean, count))
            terms.append(_spread(share, x, index))
        if not _is_zero(of_variance):
            share = lax.div(of_variance, lax.full_like(of_variance, count / 2))
            centred = lax.sub(x, _spread(mean, x, index))
            terms.append(lax.mul(centred, _spread(share, x, index)))
        gradients[0] = functools.reduce(lax.add, terms) if terms else None
    given = []
    for which, tangent in zip(moving, tangents, strict=True):
        if not ad.is_undefined_primal(tangent):
            given.append(None)
        elif gradients[which] is None:
            given.append(ad.Zero(tangent.aval))
        else:
            given.append(gradients[which])
    return None, None, None, None, *given


ad.primitive_jvps[_training] = _training_jvp
ad.primitive_jvps[_inference] = _inference_jvp
ad.primitive_jvps[_gradient] = _gradient_jvp
ad.primitive_jvps[_tangent] = _tangent_jvp
ad.primitive_transposes[_gradient] = _gradient_transpose
ad.primitive_transposes[_tangent] = _tangent_transpose


# Batching


def _batch(
    primitive: Primitive, args: Any, dims: Any, *, feature_index: int, **params: Any
) -> Any:
    """Every feature of every member of the batch becomes a feature of its own."""
    if has_sharding_in_type(*args):
        # Which are not put together where they may be split among devices.
        formula = functools.partial(
            _FORMULAS[primitive], feature_index=feature_index, **params
        )
        results = jax.vmap(formula, in_axes=tuple(dims))(*args)
        return results, [0] * len(results)
    mapped = [(x, d) for x, d in zip(args, dims, strict=True) if d is not None]
    size = mapped[0][0].shape[mapped[0][1]]
    shape = list(args[0].shape)
    if dims[0] is not None:
        del shape[dims[0]]
    rank, features = len(shape), shape[feature_index]

    def fold(x: Array, dim: int | None) -> Array:
        is_vector = x.ndim - (dim is not None) < rank or rank == 1
        index = 0 if is_vector else feature_index
        x = batching.bdim_at_front(x, dim, size)
        if index:
            x = lax.transpose(x, _moved(x.ndim, index))
        return lax.reshape(
            x, (*x.shape[:index], size * features, *x.shape[index + 2 :])
        )

    folded = map(fold, args, dims)
    results = primitive.bind(*folded, feature_index=feature_index, **params)

    def unfold(y: Array, index: int) -> Array:
        shape = (*y.shape[:index], size, features, *y.shape[index + 1 :])
        return lax.reshape(y, shape)

    places = [feature_index, 0, 0][: len(results)]
    return list(map(unfold, results, places)), places


def _moved(rank: int, index: int) -> tuple[int, ...]:
    """The order of dimensions in which the first one stands before ``index + 1``."""
    return (*range(1, index + 1), 0, *range(index + 1, rank))


def _batch_inference(args: Any, dims: Any, *, feature_index: int, **params: Any) -> Any:
    if dims[0] is None or any(d is not None for d in dims[1:]):
        return _batch(_inference, args, dims, feature_index=feature_index, **params)
    # With moments that are the same for all, one more dimension like the others.
    x = batching.bdim_at_front(args[0], dims[0], args[0].shape[dims[0]])
    index = feature_index + 1
    return _inference.bind(x, *args[1:], feature_index=index, **params), [0]


_FORMULAS = {
    _training: _training_formula,
    _inference: _inference_formula,
    _gradient: _gradient_formula,
    _tangent: _tangent_formula,
}
for _primitive in (_training, _gradient, _tangent):
    batching.primitive_batchers[_primitive] = functools.partial(_batch, _primitive)
batching.primitive_batchers[_inference] = _batch_inference
