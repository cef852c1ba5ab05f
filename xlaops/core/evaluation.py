"""Jaxprs evaluated, with the bodies of calls and branches in their places.

Not by `jax.core.eval_jaxpr`: it runs every equation under the mesh that the jaxpr was
traced under, and one computation serves programs on several meshes. And inside
`jax.shard_map` with ``check_vma=True`` it could not mix the values of a device with the
constants that all of them have.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .compat import Literal, bind_equation, scan_operands
from .primitive import has_explicit_axes, manual_axes, varying_axes, varying_over

# Calls that stand for nothing but what they call. No backend knows a composite of
# scalars.
_TRANSPARENT = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint"}
    | {"composite", "xlaops_composite"}
)
REPLACED = _TRANSPARENT | {"cond"}
# The parameters that hold what they call.
_BODIES = ("jaxpr", "call_jaxpr", "decomposition")


def evaluate(jaxpr: Any, consts: Sequence[Any], *args: Any) -> list[Any]:
    """The results of a jaxpr for the given constants and arguments.

    Args:
      jaxpr: a jaxpr that was traced with values that are the same on all devices.
      consts: its constants.
      *args: arrays. If any differs between devices, so do all results.
    """
    axes: frozenset[str] = frozenset()
    if manual_axes():
        axes = axes.union(*map(varying_axes, args))
    is_retraced = bool(axes) or has_explicit_axes()
    known: dict[Any, Any] = {}

    def write(variables: Sequence[Any], values: Sequence[Any]) -> None:
        # An equation takes only values that vary over the same axes.
        if axes:
            values = varying_over(axes, *values)
        known.update(zip(variables, values, strict=True))

    def read(value: Any) -> Any:
        if not isinstance(value, Literal):
            return known[value]
        if not axes:
            return value.val
        aval: Any = value.aval
        return varying_over(axes, jnp.asarray(value.val, aval.dtype))[0]

    write(jaxpr.constvars, consts)
    write(jaxpr.invars, args)
    for equation in jaxpr.eqns:
        inputs = list(map(read, equation.invars))
        name, params = equation.primitive.name, equation.params
        if name in _TRANSPARENT:
            body = next(params[key] for key in _BODIES if key in params)
            results = _called(body, *inputs)
        elif name == "cond":
            results = _selected(*inputs, branches=params["branches"])
        elif is_retraced and name in _RETRACED:
            results = _RETRACED[name](equation, inputs)
        else:
            results = bind_equation(equation, inputs)
        write(equation.outvars, results)
    return list(map(read, jaxpr.outvars))


def _called(closed: Any, *inputs: Any) -> list[Any]:
    consts = getattr(closed, "consts", ())
    return evaluate(getattr(closed, "jaxpr", closed), consts, *inputs)


def _selected(index: Any, *inputs: Any, branches: Sequence[Any]) -> Sequence[Any]:
    """The results of the branch of that index, of all of them evaluated.

    XLA runs few forms of a conditional within another operation: more than two branches
    or a call in one of them end the process. On scalars it would select anyway.
    """
    results = [_called(branch, *inputs) for branch in branches]
    return [lax.select_n(index, *cases) for cases in zip(*results, strict=True)]


# Equations that hold a jaxpr: the types in it are those of values that are whole on
# all devices, and it is traced once more with values that differ or are split.


def _scan(equation: Any, inputs: Sequence[Any]) -> list[Any]:
    params = equation.params
    consts, carry, slices = scan_operands(params, inputs)

    def body(carry: Any, slices: Any) -> Any:
        results = _called(params["jaxpr"], *consts, *carry, *slices)
        return results[: len(carry)], results[len(carry) :]

    carry, stacked = lax.scan(
        body,
        carry,
        slices,
        length=params["length"],
        reverse=params["reverse"],
        unroll=params["unroll"],
    )
    return [*carry, *stacked]


def _while(equation: Any, inputs: Sequence[Any]) -> list[Any]:
    params = equation.params
    first, second = params["cond_nconsts"], params["body_nconsts"]
    of_condition, rest = inputs[:first], inputs[first:]
    of_body, state = rest[:second], rest[second:]
    return lax.while_loop(
        lambda state: _called(params["cond_jaxpr"], *of_condition, *state)[0],
        lambda state: _called(params["body_jaxpr"], *of_body, *state),
        list(state),
    )


class _Rule:
    """The equation of a function that has a derivative of its own.

    What that derivative does outside of the program is a jaxpr again. Only results that
    can be differentiated take part: JAX has no type for a tangent of an integer that
    differs between devices.
    """

    def __init__(self, equation: Any) -> None:
        self._equation = equation
        self._smooth = [_is_smooth(v.aval) for v in equation.invars]
        self.structs = [
            jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars
        ]

    def all_results(self, *values: Any) -> list[Any]:
        """The results of the function itself."""
        return _called(self._equation.params["call_jaxpr"], *values)

    def results(self, *values: Any) -> list[Any]:
        """Those of them that can be differentiated."""
        return list(filter(_is_smooth, self.all_results(*values)))

    def outside(self, values: Sequence[Any], *chosen: Any) -> list[Any]:
        """The same with the derivative, where no value differs between devices.

        Args:
          values: the operands.
          *chosen: what stands for those that can be differentiated.
        """
        operands = self.each(chosen, values)
        return list(filter(_is_smooth, bind_equation(self._equation, operands)))

    def chosen(self, values: Sequence[Any]) -> list[Any]:
        """Those of the operands that can be differentiated."""
        return [v for v, smooth in zip(values, self._smooth, strict=True) if smooth]

    def each(self, chosen: Iterable[Any], others: Sequence[Any]) -> list[Any]:
        """One value for each operand."""
        given = iter(chosen)
        return [
            next(given) if smooth else other
            for other, smooth in zip(others, self._smooth, strict=True)
        ]

    def apply(self, function: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
        """All results, those that can be differentiated from ``function``."""
        found = iter(function(*inputs))
        return [next(found) if _is_smooth(y) else y for y in self.all_results(*inputs)]


def _is_smooth(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, np.inexact)


def _custom_jvp(equation: Any, inputs: Sequence[Any]) -> list[Any]:
    rule = _Rule(equation)

    def moved(values: Any, tangents: Any) -> Any:
        function = functools.partial(rule.outside, values)
        return jax.jvp(function, rule.chosen(values), tangents)

    def jvp(primals: Any, tangents: Any) -> Any:
        closed = jax.make_jaxpr(moved)(rule.structs, rule.chosen(rule.structs))
        found = _called(closed, *primals, *rule.chosen(tangents))
        count = len(found) // 2
        return found[:count], found[count:]

    function = jax.custom_jvp(rule.results)
    function.defjvp(jvp)
    return rule.apply(function, inputs)


def _custom_vjp(equation: Any, inputs: Sequence[Any]) -> list[Any]:
    rule = _Rule(equation)

    def differentiated(values: Any) -> Any:
        function = functools.partial(rule.outside, values)
        return jax.vjp(function, *rule.chosen(values))

    def forward(*values: Any) -> Any:
        closed = jax.make_jaxpr(lambda values: differentiated(values)[0])(rule.structs)
        return _called(closed, *values), values

    def backward(values: Any, cotangents: Any) -> Any:
        structs = [jax.ShapeDtypeStruct(y.shape, y.dtype) for y in cotangents]
        closed = jax.make_jaxpr(
            lambda values, cotangents: differentiated(values)[1](cotangents)
        )(rule.structs, structs)
        found = _called(closed, *values, *cotangents)
        return tuple(rule.each(found, [None] * len(values)))

    function = jax.custom_vjp(rule.results)
    function.defvjp(forward, backward)
    return rule.apply(function, inputs)


_RETRACED = {
    "scan": _scan,
    "while": _while,
    "custom_jvp_call": _custom_jvp,
    "custom_vjp_call": _custom_vjp,
}
