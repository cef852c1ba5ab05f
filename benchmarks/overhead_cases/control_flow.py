"""Branches, loops, calls and barriers.

The functions are the module's: jax.lax keeps what it has traced by their identity.
"""

import jax
import numpy as np
from jax import lax

import xlaops as xo

from .case import Case

_NO_LOOP = "jax.numpy has no control flow"


def _double(x: jax.Array) -> jax.Array:
    return lax.add(x, x)


def _sum(x: jax.Array, y: jax.Array) -> jax.Array:
    return lax.add(x, y)


def _negate(x: jax.Array) -> jax.Array:
    return lax.neg(x)


def _double_first(xs: tuple[jax.Array, ...]) -> jax.Array:
    return _double(xs[0])


def _negate_second(xs: tuple[jax.Array, ...]) -> jax.Array:
    return _negate(xs[1])


def _unfinished(state: tuple[jax.Array, jax.Array]) -> jax.Array:
    return lax.lt(state[0], np.int32(5))


def _step(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    return lax.add(state[0], np.int32(1)), lax.add(state[1], state[1])


def _sums(x: jax.Array, carry: jax.Array) -> tuple[jax.Array, jax.Array]:
    total = lax.add(x, carry)
    return total, total


def _sums_of_carry(
    carry: tuple[jax.Array], xs: tuple[jax.Array]
) -> tuple[tuple[jax.Array], tuple[jax.Array]]:
    total, output = _sums(xs[0], carry[0])
    return (total,), (output,)


CONTROL_FLOW = (
    Case(
        "scan",
        "Scan",
        ("f32[8,3]", "f32[3]"),
        lambda x, carry: xo.scan([x], [carry], _sums, 0),
        lambda x, carry: jax.tree.leaves(
            lax.scan(_sums_of_carry, (carry,), (x,))[::-1]
        ),
        _NO_LOOP,
        # XLA's own scan has no lowering in JAX.
        emits=("stablehlo.while",),
    ),
    Case(
        "call",
        "Call",
        ("f32[8,8]", "f32[8,8]"),
        lambda x, y: xo.call(_sum, [x, y]),
        lambda x, y: jax.jit(_sum)(x, y),  # what JAX has for it
        "jax.numpy has no calls",
        # In a function of its own, which is of another dialect.
        emits=("stablehlo.add",),
    ),
    Case(
        "composite_call",
        "CompositeCall",
        ("f32[8,8]", "f32[8,8]"),
        lambda x, y: xo.composite_call(_sum, [x, y], "my.sum", None, 1),
        lambda x, y: lax.composite(_sum, "my.sum", 1)(x, y),
        "jax.numpy has no composites",
    ),
    Case(
        "optimization_barrier",
        "OptimizationBarrier",
        (("f32[8,8]", "s32[8]"),),
        xo.optimization_barrier,
        lax.optimization_barrier,
        "jax.numpy has no barrier",
    ),
    Case(
        "conditional",
        "Conditional (predicate)",
        ("pred[]", "f32[8,8]", "f32[8,8]"),
        lambda p, x, y: xo.conditional(p, x, _double, y, _negate),
        lambda p, x, y: lax.cond(p, _double_first, _negate_second, (x, y)),
        _NO_LOOP,
        emits=("stablehlo.case",),
    ),
    Case(
        "conditional branch_index",
        "Conditional (branch_index)",
        ("s32[]", "f32[8,8]", "f32[8,8]"),
        lambda i, x, y: xo.conditional(i, (_double, _negate), (x, y)),
        lambda i, x, y: lax.switch(i, (_double_first, _negate_second), (x, y)),
        _NO_LOOP,
    ),
    Case(
        "while_",
        "While",
        (("s32[]=0", "f32[8,8]"),),
        lambda state: xo.while_(_unfinished, _step, state),
        lambda state: lax.while_loop(_unfinished, _step, state),
        _NO_LOOP,
    ),
)
