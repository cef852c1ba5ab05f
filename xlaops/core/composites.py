"""The primitive behind composites: a computation that backends may know by name.

It is lowered to ``stablehlo.composite``, which names a function of the program as its
decomposition. Backends that know the composite run their own code for it; all others,
and all of JAX's transformations, go by the decomposition.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from .compat import (
    ad,
    attribute_of,
    batching,
    eval_jaxpr,
    ir,
    mlir,
    new_primitive,
    stablehlo,
)

# How a composite is batched as a composite: called with its operands and where each is
# batched (None where it is not); gives the results and where each of them is.
Batcher = Callable[[Sequence[Any], Sequence[int | None]], tuple[Any, Any]]


def composite(
    decomposition: Any,
    operands: Sequence[Array],
    *,
    name: str,
    attributes: str,
    version: int,
    batch: Batcher | None = None,
) -> list[Array]:
    """The results of a traced computation, as one composite of the program.

    Args:
      decomposition: what `jax.make_jaxpr` gave for the operands.
      operands: arrays.
      name: the composite's name.
      attributes: the text of a dictionary of MLIR.
      version: the composite's version.
      batch: how it is batched as a composite. None if its name, attributes and version
        say what it is for operands of these shapes only: then it is dissolved into its
        decomposition.
    """
    return _composite.bind(
        *operands,
        decomposition=decomposition,
        name=name,
        attributes=attributes,
        version=version,
        batch=batch,
    )


def attributes_of(values: Mapping[str, Any]) -> str:
    """The text of a dictionary of MLIR with the values of a mapping.

    Ints and floats have 64 bits; numpy's numbers and arrays have their own types.
    """
    return attribute_of(_plain(values))


def _plain(value: Any) -> Any:
    """A value, made of what has an attribute."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"must have names as keys, got {key!r}")
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise OverflowError(f"must hold ints of 64 bits, got {value}")
    if isinstance(value, (bool, int, float, str, np.generic, np.ndarray, np.dtype)):
        return value
    raise TypeError(
        f"must hold numbers, texts, arrays and lists of them, got {value!r}"
    )


_composite = new_primitive("composite")
_composite.multiple_results = True


def _run(decomposition: Any, *operands: Any) -> list[Any]:
    return eval_jaxpr(decomposition.jaxpr, decomposition.consts, *operands)


@_composite.def_impl
def _evaluate(*operands: Any, decomposition: Any, **_: Any) -> list[Any]:
    # Operation by operation: no new program for every new callable.
    # A result that depends on nothing may be a number of Python still.
    return [jnp.asarray(y) for y in _run(decomposition, *operands)]


@_composite.def_abstract_eval
def _types(*avals: Any, decomposition: Any, **_: Any) -> list[Any]:
    return [aval.update(weak_type=False) for aval in decomposition.out_avals]


def _lower(
    ctx: Any,
    *operands: Any,
    decomposition: Any,
    name: str,
    attributes: str,
    version: int,
    batch: Any,
) -> Sequence[Any]:
    # A call of the decomposition as a function, which JAX makes; in its place comes
    # the composite of that function.
    def call(*operands: Any) -> list[Any]:
        return jitted(*operands)

    def decomposed(*operands: Any) -> list[Any]:
        return _run(decomposition, *operands)

    decomposed.__name__ = name
    jitted = jax.jit(decomposed)
    results = mlir.lower_fun(call, multiple_results=True)(ctx, *operands)
    call_op = _call_behind(results[0])
    made = stablehlo.CompositeOp(
        [result.type for result in call_op.results],
        list(call_op.operands),
        name=name,
        decomposition=call_op.attributes["callee"],
        composite_attributes=ir.Attribute.parse(attributes, call_op.context),
        version=version,
        ip=ir.InsertionPoint(call_op),
    )
    replaced = dict(zip(call_op.results, made.results, strict=True))
    results = [replaced.get(result, result) for result in results]
    for old, new in replaced.items():
        old.replace_all_uses_with(new)
    call_op.erase()
    return results


def _call_behind(value: Any) -> ir.Operation:
    """The call whose result a value is, or is a result with its sharding."""
    operation = value.owner.operation
    while operation.name != "func.call":
        operation = operation.operands[0].owner.operation
    return operation


def _jvp(primals: Any, tangents: Any, *, decomposition: Any, **params: Any) -> Any:
    results = _composite.bind(*primals, decomposition=decomposition, **params)
    moving = [i for i, t in enumerate(tangents) if type(t) is not ad.Zero]

    def along(*values: Array) -> list[Array]:
        operands = list(primals)
        for i, value in zip(moving, values, strict=True):
            operands[i] = value
        return _run(decomposition, *operands)

    _, out = jax.jvp(
        along,
        tuple(primals[i] for i in moving),
        tuple(tangents[i] for i in moving),
    )
    float0 = jax.dtypes.float0
    return results, [
        ad.Zero(jax.typeof(y).to_tangent_aval()) if t.dtype == float0 else t
        for y, t in zip(results, out, strict=True)
    ]


def _batch(
    args: Any, dims: Any, *, decomposition: Any, batch: Batcher | None, **params: Any
) -> Any:
    if batch is not None:
        return batch(args, dims)
    run = functools.partial(_run, decomposition)
    results = jax.vmap(run, in_axes=tuple(dims))(*args)
    return results, [0] * len(results)


mlir.register_lowering(_composite, _lower)
ad.primitive_jvps[_composite] = _jvp
batching.primitive_batchers[_composite] = _batch
