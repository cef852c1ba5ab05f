"""What primitives of our own that hold a computation have in common."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from .compat import (
    Primitive,
    ad,
    batching,
    ir,
    is_partitioned,
    mlir,
    new_primitive,
    result_type_like,
    scalar_type,
    stablehlo,
)
from .computation import Computation


def region_primitive(
    name: str,
    result_shapes: Callable[..., Sequence[tuple[int, ...]]],
    build: Callable[..., Any],
    elsewhere: Callable[..., Any] | None = None,
    partitioned: Callable[..., Any] | None = None,
) -> Primitive:
    """A primitive ``xlaops_<name>`` that lowers to one operation with regions.

    Its results have the element types of its first operands, and vary over the mesh
    axes that they do: it has to be bound with operands that are equally varying.

    Args:
      name: name of the primitive.
      result_shapes: the shapes of the results, from the operands' types and parameters.
      build: builds the operation from the context, the types of the results, the
        operands' values and the parameters; see `fill`.
      elsewhere: what it is on other backends than the CPU, if that differs unless the
        parameter ``is_neutral`` is true; a function of arrays.
      partitioned: what it is in programs that XLA partitions, if that differs; a
        function of arrays.
    """
    primitive = new_primitive(name)
    primitive.multiple_results = True

    @primitive.def_abstract_eval
    def _types(*avals: Any, **params: Any) -> list[Any]:
        shapes = result_shapes(*avals, **params)
        # In an Explicit mesh the result is sharded like the operand that is sharded.
        most = max(
            avals[: len(shapes)],
            key=lambda a: sum(part is not None for part in a.sharding.spec),
        )
        return [
            result_type_like(most, shape, aval.dtype)
            for aval, shape in zip(avals, shapes, strict=False)
        ]

    def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
        if partitioned is not None and is_partitioned(ctx):
            function = functools.partial(partitioned, **params)
            return mlir.lower_fun(function, multiple_results=True)(ctx, *operands)
        results = [
            mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out
        ]
        return build(ctx, results, operands, **params).results

    mlir.register_lowering(primitive, lower)
    if elsewhere is not None:

        def lower_elsewhere(ctx: Any, *operands: Any, **params: Any) -> Any:
            if params["is_neutral"] or is_partitioned(ctx):
                return lower(ctx, *operands, **params)
            function = functools.partial(elsewhere, **params)
            return mlir.lower_fun(function, multiple_results=True)(ctx, *operands)

        for platform in ("cuda", "rocm", "tpu"):
            mlir.register_lowering(primitive, lower_elsewhere, platform=platform)
    return primitive


def fill(ctx: Any, region: Any, computation: Computation) -> None:
    """Writes a computation into the empty region of an operation."""
    avals = [scalar_type(dtype) for dtype in computation.inputs]
    types = [mlir.aval_to_ir_type(ctx.module_context, aval) for aval in avals]
    block = region.blocks.append(*types)
    with ir.InsertionPoint(block):
        inner = ctx.replace(primitive=None, avals_in=avals, avals_out=None)
        lower = mlir.lower_fun(computation, multiple_results=True)
        stablehlo.ReturnOp(list(lower(inner, *block.arguments)))


def barrier(values: Sequence[Any]) -> Sequence[Any]:
    """The values, so that XLA does not see what they come from."""
    return stablehlo.OptimizationBarrierOp(list(values)).results


def integers(values: Sequence[int]) -> Any:
    """The attribute of an array of integers."""
    return ir.DenseI64ArrayAttr.get(list(values))


def pairs(values: Sequence[tuple[int, int]]) -> Any:
    """The attribute of a matrix of integers with two columns."""
    matrix = np.array(values, np.int64).reshape(len(values), 2)
    return ir.DenseIntElementsAttr.get(matrix)


def differentiated_as(
    primitive: Primitive, equivalent: Callable[..., Sequence[Array]]
) -> None:
    """Gives a primitive the derivatives of a function that computes the same.

    The value stays that of the primitive. The function is made of operations that JAX
    can differentiate in both directions, any number of times; it may be slow where no
    derivative is needed.
    """
    jitted = as_one_program(equivalent)

    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        results = primitive.bind(*primals, **params)
        return results, tangents_of(
            functools.partial(jitted, **params), primals, tangents, results
        )

    ad.primitive_jvps[primitive] = jvp


@functools.cache
def as_one_program(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, compiled as a whole where it is called with concrete arrays.

    Its keyword parameters are static.
    """
    parameters = inspect.signature(function).parameters.values()
    static = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    return jax.jit(function, static_argnames=static, inline=True)


def tangents_of(
    function: Callable[..., Sequence[Array]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    results: Sequence[Array],
) -> list[Any]:
    """The tangents of a function's results, symbolic zeros among them."""
    active = [i for i, t in enumerate(tangents) if not isinstance(t, ad.Zero)]
    smooth = [jnp.issubdtype(r.dtype, np.inexact) for r in results]

    def of_active(*values: Any) -> list[Array]:
        merged = list(primals)
        for i, value in zip(active, values, strict=True):
            merged[i] = value
        outputs = function(*merged)
        return [y for y, is_smooth in zip(outputs, smooth, strict=True) if is_smooth]

    _, found = jax.jvp(
        of_active, [primals[i] for i in active], [tangents[i] for i in active]
    )
    remaining = iter(found)
    return [
        next(remaining) if is_smooth else ad.Zero(jax.typeof(r).to_tangent_aval())
        for r, is_smooth in zip(results, smooth, strict=True)
    ]


def batch_size(args: Sequence[Any], dims: Sequence[int | None]) -> int:
    """The size of the dimension that a batching rule is given."""
    return next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)


def batch_to_front(args: Sequence[Any], dims: Sequence[int | None]) -> list[Array]:
    """The operands, all with the batch as their first dimension."""
    size = batch_size(args, dims)
    return [batching.bdim_at_front(x, d, size) for x, d in zip(args, dims, strict=True)]


def batched_as(
    function: Callable[..., Sequence[Array]],
    args: Sequence[Any],
    dims: Sequence[int | None],
    **params: Any,
) -> tuple[Sequence[Array], list[int]]:
    """What a batching rule returns, of a function that JAX can batch."""
    jitted = functools.partial(as_one_program(function), **params)
    results = jax.vmap(jitted, in_axes=tuple(dims))(*args)
    return results, [0] * len(results)
