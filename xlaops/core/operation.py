"""The decorator of a public operation: static arguments and fast eager calls."""

import dataclasses
import enum
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
import numpy as np
from jax import Array

from . import checks
from .compat import Tracer

F = TypeVar("F", bound=Callable[..., Any])

# Turns what a caller may write for a static argument into its one hashable form:
# normalize(operation, parameter, value). Applied to its own result it changes nothing.
Normalizer = Callable[[str, str, Any], Any]

# Types of which a value is known to be a concrete array. Filled as they are met: that
# of jax's concrete arrays has no public name.
_CONCRETE: set[type] = set()
_SCALARS = (bool, int, float, complex)

# What stands for an argument that has no default and was not given.
_MISSING = inspect.Parameter.empty

# How many forms of the static arguments an operation remembers before it starts anew.
_REMEMBERED = 2048


def operation(
    name: str | None = None,
    /,
    *,
    alike: tuple[str, ...] | None = None,
    **normalizers: Normalizer,
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
      alike: the operands that have one element type, which a Python scalar among them
        takes; all, if None.
      **normalizers: for each static parameter what brings it into its normal form.
    """

    def decorate(function: F) -> F:
        called = name or function.__name__
        parameters = tuple(inspect.signature(function).parameters.values())
        names = tuple(p.name for p in parameters)
        count = len(names) - len(normalizers)
        if set(names[count:]) != set(normalizers):
            raise TypeError(f"{called}: the static parameters must be last")
        together = names[:count] if alike is None else alike
        forms = _StaticForms(called, function, parameters[count:], normalizers)
        return cast(F, _with_fast_path(called, function, parameters, forms, together))

    return decorate


def _with_fast_path(
    operation: str,
    function: Callable[..., Any],
    parameters: tuple[inspect.Parameter, ...],
    forms: "_StaticForms",
    alike: tuple[str, ...],
) -> Callable[..., Any]:
    total, operand_count = len(parameters), len(parameters) - forms.count
    static_defaults = tuple(p.default for p in parameters[operand_count:])
    # The number of arguments when all of them are operands, if it may be so.
    plain_count = -1 if _MISSING in static_defaults else operand_count
    concrete = _CONCRETE
    plain: Callable[..., Any] | None = None

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # This is every eager call of every operation: plain, flat code on purpose.
        nonlocal plain
        if not kwargs and len(args) == plain_count:
            if plain is None:
                plain = forms.find(static_defaults)[1]
            operands, static, jitted = args, (), plain
        else:
            if kwargs or len(args) != total:
                args = _positional(operation, function, parameters, args, kwargs)
            operands = args[:operand_count]
            static, jitted = forms.find(args[operand_count:])
        for value in operands:
            if type(value) not in concrete and not _is_concrete(value):
                break
        else:
            return jitted(*operands)
        typed = _with_typed_scalars(operation, parameters, alike, operands)
        if typed is None:
            return function(*operands, *static)
        return jitted(*typed)

    return call


class _StaticForms:
    """The static arguments of one operation in normal form, each form with its jit.

    A jit with static arguments would hash and compare them at every call, and they
    would have to be normalized before. Both cost more than the call. So each normal
    form has a jit of its own, and arguments that cannot change are recognised by the
    identity of the objects as written: those of a call in a program stay the same.
    """

    def __init__(
        self,
        operation: str,
        function: Callable[..., Any],
        parameters: tuple[inspect.Parameter, ...],
        normalizers: dict[str, Normalizer],
    ) -> None:
        self.count = len(parameters)
        self._operation = operation
        self._function = function
        self._static = tuple(
            (p.name, normalizers[p.name], p.default) for p in parameters
        )
        self._jits: dict[tuple[Any, ...], Callable[..., Any]] = {}
        # The values are kept with the result: as long as they live, their ids are
        # theirs alone.
        self._written: dict[tuple[int, ...], tuple[Any, ...]] = {}

    def find(
        self, written: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], Callable[..., Any]]:
        """The normal form of the arguments, and the jit of the function with them."""
        identity = tuple(map(id, written))
        known = self._written.get(identity)
        if known is None:
            normal = self._normal(written)
            jitted = self._jits.get(normal)
            if jitted is None:
                if len(self._jits) >= _REMEMBERED:
                    self._jits.clear()
                    self._written.clear()
                jitted = self._jits[normal] = _jitted(self._function, normal)
            known = (normal, jitted, written)
            if all(map(_is_immutable, written)):
                if len(self._written) >= _REMEMBERED:
                    self._written.clear()
                self._written[identity] = known
        return known[0], known[1]

    def _normal(self, written: tuple[Any, ...]) -> tuple[Any, ...]:
        # Defaults are written in normal form.
        return tuple(
            value if value is default else normalize(self._operation, name, value)
            for value, (name, normalize, default) in zip(
                written, self._static, strict=True
            )
        )


def _jitted(
    function: Callable[..., Any], static: tuple[Any, ...]
) -> Callable[..., Any]:
    """The jit of the function with the given static arguments.

    It is inlined: under an outer trace with concrete operands nothing of it is left in
    the lowered program.
    """

    @functools.wraps(function)
    def with_static(*operands: Any) -> Any:
        return function(*operands, *static)

    # The signature of the wrapped function has parameters that this one has not.
    del with_static.__wrapped__
    return jax.jit(with_static, inline=True)


def _is_immutable(value: Any) -> bool:
    """Whether an object, and all that it holds, stays as it is."""
    if isinstance(value, tuple):
        return all(map(_is_immutable, value))
    if dataclasses.is_dataclass(value):
        # Ours are frozen and hold nothing that is not.
        return type(value).__module__.startswith("xlaops.types.")
    return value is None or isinstance(
        value, (bool, int, float, str, enum.Enum, type, np.dtype)
    )


def _positional(
    operation: str,
    function: Callable[..., Any],
    parameters: tuple[inspect.Parameter, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, ...]:
    """All arguments in order, with defaults; a TypeError that names the operation."""
    rest = parameters[len(args) :]
    values = [kwargs.get(p.name, p.default) for p in rest]
    # By identity: arrays cannot be compared for being anything.
    if (
        len(args) <= len(parameters)
        and not any(value is _MISSING for value in values)
        and sum(p.name in kwargs for p in rest) == len(kwargs)
    ):
        return (*args, *values)
    unknown = kwargs.keys() - {p.name for p in parameters}
    if unknown:
        raise TypeError(
            f"{operation}: got an unexpected keyword argument {min(unknown)!r}"
        )
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{operation}: {error}") from None
    raise AssertionError(f"{operation}: arguments fit the signature")  # a bug of ours


def _with_typed_scalars(
    operation: str,
    parameters: tuple[inspect.Parameter, ...],
    alike: tuple[str, ...],
    operands: tuple[Any, ...],
) -> tuple[Any, ...] | None:
    """Concrete operands, in which Python scalars may have become arrays.

    A jit traces a Python scalar with a type of its own and converts it from that. Where
    this would round twice, or lose that an int does not fit, the scalar is made an
    array of the element type of the others here. None if an operand is traced or
    nothing says what type a scalar takes: then the function itself is called.
    """
    arrays = []
    for parameter, value in zip(parameters, operands, strict=False):
        if type(value) not in _SCALARS:
            if not _is_concrete(value):
                return None
            if parameter.name in alike:
                arrays.append(value)
    typed = []
    for parameter, value in zip(parameters, operands, strict=False):
        if type(value) in _SCALARS:
            dtype = None
            if arrays and parameter.name in alike:
                partners = (x for x in arrays if checks.takes_scalar(x, value))
                partner = next(partners, None)
                if partner is None:
                    return None
                dtype = checks.element_type_of(partner)
            if not _is_traced_exactly(value, dtype):
                if dtype is None:
                    return None
                value = checks.typed_scalar(operation, parameter.name, value, dtype)
        typed.append(value)
    return tuple(typed)


def _is_traced_exactly(scalar: Any, dtype: Any) -> bool:
    """Whether a traced Python scalar, converted to ``dtype``, is what it should be."""
    if type(scalar) is int:
        if not -(2**31) <= scalar < 2**31:
            return False
        return dtype is None or dtype in (np.int32, np.int64, np.float32, np.float64)
    # Traced with 32 bits, or 64 where enabled: from there to a wider type is exact, to
    # a narrower one it would be rounded again.
    if dtype is None or dtype.kind == "b":
        return True
    return dtype.itemsize >= 4 and dtype.kind in "fc"


def _is_concrete(value: Any) -> bool:
    """Whether a value, or all of a sequence, is a concrete array that XLA can have."""
    kind = type(value)
    if kind in _CONCRETE:
        return True
    if kind is tuple or kind is list:
        return all(map(_is_concrete, value))
    if isinstance(value, Tracer):
        return False
    if isinstance(value, Array):
        _CONCRETE.add(kind)
        return True
    # Strings, dates and Python objects are left to the checks of the operation.
    return (
        isinstance(value, (np.ndarray, np.generic))
        and checks.is_element_type(value.dtype)
        and not isinstance(value, np.ma.MaskedArray)
    )
