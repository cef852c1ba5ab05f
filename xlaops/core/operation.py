"""The decorator of a public operation: static arguments and fast eager calls."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
import numpy as np
from jax import Array

from .compat import Tracer

F = TypeVar("F", bound=Callable[..., Any])

# Turns what a caller may write for a static argument into its one hashable form:
# normalize(operation, parameter, value). Applied to its own result it changes nothing.
Normalizer = Callable[[str, str, Any], Any]

# Types of which a value is known to be concrete. Filled as they are met, because the
# type of concrete jax arrays has no public name.
_CONCRETE: set[type] = {bool, float, complex}


def operation(
    name: str | None = None, /, **normalizers: Normalizer
) -> Callable[[F], F]:
    """Makes a public operation of a function.

    The named parameters are static: the function receives them normalized, so that
    equal calls share one trace and nothing mutable or unhashable becomes a key of it.
    The other parameters are operands, and come first.

    When every operand is concrete the call goes through `jax.jit`, whose dispatch costs
    a third of a `jax.lax` call; when any is a tracer the function is called as it is,
    so that the operation adds nothing to the traced program.

    The decorator is typed as returning its argument: signature, docstring and
    types stay what the editor sees.

    Args:
      name: how messages call the operation; its own name, if None.
      **normalizers: for each static parameter what brings it into its normal form.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        names = tuple(signature.parameters)
        count = len(names) - len(normalizers)
        if set(names[count:]) != set(normalizers):
            raise TypeError(f"{function.__name__}: the static parameters must be last")
        called = name or function.__name__
        return cast(
            F, _with_fast_path(called, function, signature, names, count, normalizers)
        )

    return decorate


def _with_fast_path(
    operation: str,
    function: Callable[..., Any],
    signature: inspect.Signature,
    names: tuple[str, ...],
    operand_count: int,
    normalizers: dict[str, Normalizer],
) -> Callable[..., Any]:
    total = len(names)
    defaults = tuple(
        p.default
        for p in signature.parameters.values()
        if p.default is not inspect.Parameter.empty
    )
    required = total - len(defaults)
    # Defaults are written in normal form, so that an omitted argument costs nothing.
    static = tuple(
        (i, names[i], normalizers[names[i]], signature.parameters[names[i]].default)
        for i in range(operand_count, total)
    )
    static_argnums = tuple(range(operand_count, total))
    jitted: Callable[..., Any] | None = None

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal jitted
        # This is every eager call of every operation: plain, flat code on purpose.
        if kwargs or not required <= len(args) <= total:
            args = _positional(operation, signature, names, args, kwargs)
        elif len(args) < total:
            args += defaults[len(args) - total :]
        for index, parameter, normalize, default in static:
            value = args[index]
            if value is not default:
                normal = normalize(operation, parameter, value)
                args = (*args[:index], normal, *args[index + 1 :])
        for value in args[:operand_count]:
            if type(value) not in _CONCRETE and not _is_concrete(value):
                return function(*args)
        if jitted is None:
            # On first use: to make one costs half a millisecond, and there are many
            # operations. Inlined: under an outer trace with concrete operands nothing
            # of it is left in the lowered program.
            jitted = jax.jit(function, static_argnums=static_argnums, inline=True)
        return jitted(*args)

    return call


def _positional(
    operation: str,
    signature: inspect.Signature,
    names: tuple[str, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, ...]:
    """All arguments in order, with defaults; a TypeError that names the operation."""
    values = list(args)
    used = 0
    for name in names[len(args) :]:
        if name in kwargs:
            values.append(kwargs[name])
            used += 1
        else:
            values.append(signature.parameters[name].default)
    if (
        used == len(kwargs)
        and len(values) == len(names)
        and inspect.Parameter.empty not in values[len(args) :]
    ):
        return tuple(values)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{operation}: {error}") from None
    bound.apply_defaults()
    return bound.args


def _is_concrete(value: Any) -> bool:
    """Whether `jax.jit` takes ``value`` and the result is what the function gives."""
    if type(value) is int:
        # A traced int has lost its value, so the check that a dtype can hold it would
        # be lost as well. These fit every integer dtype of at least eight bits.
        return 0 <= value < 128
    if isinstance(value, (tuple, list)):
        return all(type(v) in _CONCRETE or _is_concrete(v) for v in value)
    if isinstance(value, Tracer):
        return False
    if isinstance(value, Array):
        _CONCRETE.add(type(value))
        return True
    if isinstance(value, (np.ndarray, np.generic)):
        # Strings, dates and Python objects are left to the checks of the operation.
        return value.dtype.kind in "biufcV" and value.dtype.names is None
    return False
