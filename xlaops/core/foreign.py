"""The primitive of raw custom calls, of which nothing but the text is known."""

from collections.abc import Sequence
from typing import Any, NoReturn

import jax
import numpy as np
from jax import Array

from . import compat, primitive
from .compat import ad, batching, ir, mlir

TYPED_FFI = 4

_raw = compat.new_primitive("custom_call")
_raw.multiple_results = True


def custom_call(operands: Sequence[Array], **params: Any) -> list[Array]:
    """The results of a custom call.

    Args:
        operands: arrays.
        **params: ``operation``, as messages call it; ``target``; ``results``, pairs of
            shape and element type; ``opaque``, of the typed FFI the text of a
            dictionary of MLIR; ``aliases``, pairs of an operand and a result;
            ``has_side_effect``; ``api_version``; ``operand_layouts`` and
            ``result_layouts``, from minor to major, None for row-major ones;
            ``computation``, a traced one, or None.
    """
    return _raw.bind(*primitive.equally_varying(*operands), **params)


@_raw.def_effectful_abstract_eval
def _types(*avals: Any, results: Any, has_side_effect: bool, **_: Any) -> Any:
    types = [
        compat.result_type_like(avals[0], shape, dtype)
        if avals
        else compat.ShapedArray(shape, dtype)
        for shape, dtype in results
    ]
    return types, {compat.FOREIGN_EFFECT} if has_side_effect else set()


def _lower(
    ctx: Any,
    *operands: Any,
    target: str,
    opaque: str,
    aliases: Any,
    has_side_effect: bool,
    api_version: int,
    operand_layouts: Any,
    result_layouts: Any,
    computation: Any,
    **_: Any,
) -> Any:
    config: Any = opaque
    if api_version == TYPED_FFI:
        config = compat.dictionary_of(opaque or "{}")
    called = [] if computation is None else [_function_of(ctx, computation)]
    rule = jax.ffi.ffi_lowering(
        target,
        operand_layouts=operand_layouts,
        result_layouts=result_layouts,
        backend_config=config,
        has_side_effect=has_side_effect,
        operand_output_aliases=dict(aliases),
        api_version=api_version,
        called_computations=called,
    )
    return rule(ctx, *operands)


def _function_of(ctx: Any, computation: Any) -> str:
    """The name of a function of the program that is the computation."""
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in computation.in_avals]

    def run(*xs: Any) -> Any:
        return jitted(*xs)

    def called(*xs: Any) -> Any:
        return compat.eval_jaxpr(computation.jaxpr, computation.consts, *xs)

    # JAX makes a function of a call; the call itself, with constants for operands, is
    # of no use, and goes away with them.
    jitted = jax.jit(called)
    constants = [mlir.ir_constant(np.zeros(t.shape, t.dtype)) for t in types]
    avals = [compat.ShapedArray(t.shape, t.dtype) for t in types]
    inner = ctx.replace(
        primitive=None, avals_in=avals, avals_out=list(computation.out_avals)
    )
    results = mlir.lower_fun(run, multiple_results=True)(inner, *constants)
    made = results[0].owner.operation
    while made.name != "func.call":
        made = made.operands[0].owner.operation
    return ir.FlatSymbolRefAttr(made.attributes["callee"]).value


def _refuse(operation: str, what: str) -> NoReturn:
    raise NotImplementedError(
        f"{operation}: {what} must be described for a custom call, of which nothing "
        f"is known. (Tip: xlaops.ffi.op makes of a handler a function that has "
        f"derivatives and batches.)"
    )


def _jvp(primals: Any, tangents: Any, *, operation: str, **_: Any) -> NoReturn:
    _refuse(operation, "derivatives")


def _batch(operands: Any, dims: Any, *, operation: str, **_: Any) -> NoReturn:
    _refuse(operation, "a batch")


ad.primitive_jvps[_raw] = _jvp
batching.primitive_batchers[_raw] = _batch
mlir.register_lowering(_raw, _lower)
