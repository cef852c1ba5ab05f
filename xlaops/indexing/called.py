"""What operations stand for: the programs that they run, if they do nothing else."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import jax

Program: TypeAlias = tuple[Any, Sequence[Any]]
"""A jaxpr and its constants."""

# Primitives that run a jaxpr once, on their operands. The parameter that holds it.
CALLS: Final = {
    "call": ("call_jaxpr", "jaxpr"),
    "closed_call": ("call_jaxpr", "jaxpr"),
    "composite": ("jaxpr",),
    "core_call": ("call_jaxpr",),
    "custom_jvp_call": ("call_jaxpr", "jaxpr"),
    "custom_lin": ("call_jaxpr",),
    "custom_partitioning": ("call",),
    "custom_vjp_call": ("call_jaxpr", "fun_jaxpr"),
    "custom_vjp_call_jaxpr": ("fun_jaxpr",),
    "custom_vmap_call": ("call",),
    "eval_jaxpr": ("call_jaxpr", "jaxpr"),
    "jit": ("jaxpr",),
    "linear_call": ("callee",),
    "pjit": ("jaxpr",),
    "remat2": ("jaxpr",),
    "remat_opt": ("fwd_jaxpr",),
    "checkpoint": ("jaxpr",),
    "xla_metadata_call": ("jaxpr",),
    "xlaops_composite": ("decomposition",),
}

# Foreign functions, which may come with the same function in JAX.
_FOREIGN: Final = frozenset({"xlaops_foreign_call", "xlaops_divisible_foreign_call"})

# From JAX 0.12 on some functions, as jnp.searchsorted, stay operations of their own
# until a program is lowered. They know what they are made of.
_HIGH: Final = "call_hi_primitive"


def program_of(eqn: Any) -> Program | None:
    """The program that an operation does nothing but run, or None.

    Args:
      eqn: an equation of a jaxpr.
    """
    found = _held(eqn.primitive.name, eqn.params)
    return _traced(eqn) if found is None else found


def _held(name: str, params: Mapping[str, Any]) -> Program | None:
    """The program that is among the parameters of a primitive."""
    for which in CALLS.get(name, ()):
        found: Any = params.get(which)
        if hasattr(found, "consts"):
            return found.jaxpr, found.consts
        if hasattr(found, "eqns"):
            return found, ()
    return None


def _traced(eqn: Any) -> Program | None:
    """The program of a function that an operation is the same as."""
    primitive, params = eqn.primitive, eqn.params
    reference: Any = None
    if primitive.name == _HIGH:
        reference = functools.partial(primitive.to_lojax, **params)
    elif primitive.name in _FOREIGN:
        from ..ffi.calls import reference_of

        reference = reference_of(params)
    if reference is None:
        return None
    types = [jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in eqn.invars]
    closed = jax.make_jaxpr(reference)(*types)
    return closed.jaxpr, closed.consts
