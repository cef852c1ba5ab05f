"""The decorator of a public operation: static arguments and fast eager calls."""

import dataclasses
import enum
import functools
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

import jax
import numpy as np
from jax import Array

from . import bounded, bounded_rules, checks, computation
from .compat import Tracer

F = TypeVar("F", bound=Callable[..., Any])

# Turns what a caller may write for a static argument into its one hashable form:
# normalize(operation, parameter, value). Applied to its own result it changes nothing.
Normalizer = Callable[[str, str, Any], Any]

# Types of which a value is known to be a concrete array. Filled as they are met: that
# of jax's concrete arrays has no public name.
_CONCRETE: set[type] = set()
_SCALARS = (bool, int, float, complex)

# Stands where there is no value, not even None.
_NO_VALUE = object()

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
        # As inspect.signature would say, which takes as long as to load the module.
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        others = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
        if code.co_posonlyargcount or code.co_kwonlyargcount or code.co_flags & others:
            raise TypeError(f"{called}: parameters must be positional or by keyword")
        count = len(names) - len(normalizers)
        if set(names[count:]) != set(normalizers):
            raise TypeError(f"{called}: the static parameters must be last")
        forms = _StaticForms(called, function, names[count:], normalizers)
        together = names[:count] if alike is None else alike
        call = _with_fast_path(called, function, names, forms, together)
        computation.constant(call)
        return cast(F, call)

    return decorate


def _with_fast_path(
    operation: str,
    function: Callable[..., Any],
    names: tuple[str, ...],
    forms: "_StaticForms",
    alike: tuple[str, ...],
) -> Callable[..., Any]:
    count = len(names) - forms.count
    together = tuple(name in alike for name in names[:count])

    plans: dict[tuple[type, ...], _ScalarPlan] = {}
    # Of the call before with scalars: the types of its operands, which one is an array
    # and its element type. It spares calls like it the plans.
    latest: list[tuple[Any, ...]] = [(None,) * count + (0, None)]

    def call_slowly(form: _Form, operands: tuple[Any, ...]) -> Any:
        plan = plans.get(tuple(map(type, operands)))
        if plan is not None and plan.fits(operands):
            if not plan.arrays and not plan.ints:
                dtype = operands[plan.array].dtype
                latest[0] = (*map(type, operands), plan.array, dtype)
            return form.jitted(*operands)
        if not all(map(_is_concrete, operands)):
            if bounded.among(operands):
                return call_with_sizes(form, operands)
            typed = _with_typed_scalars(operation, names, together, operands)
            if typed is None:
                return function(*operands, *form.static)
            plan = _ScalarPlan.of(operands, together)
            if plan is not None:
                plans[tuple(map(type, operands))] = plan
            operands = typed
        return form.jitted(*operands)

    # By the static arguments in normal form.
    jits_with_sizes: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def call_with_sizes(form: _Form, operands: tuple[Any, ...]) -> Any:
        def apply(*operands: Any) -> Any:
            static = dict(zip(names[count:], form.static, strict=True))
            return bounded_rules.apply(
                operation, function, names[:count], operands, static
            )

        if operation not in bounded_rules.RULES or not all(
            map(_is_concrete_throughout, operands)
        ):
            return apply(*operands)
        data = tuple(map(_data_of, operands))
        typed = _with_typed_scalars(operation, names, together, data)
        if typed is None:
            return apply(*operands)
        jitted = jits_with_sizes.get(form.static)
        if jitted is None:
            if len(jits_with_sizes) >= _REMEMBERED:
                jits_with_sizes.clear()
            jitted = jits_with_sizes[form.static] = jax.jit(apply, inline=True)
        # Only scalars have become others.
        return jitted(
            *(
                new if type(old) in _SCALARS else old
                for old, new in zip(operands, typed, strict=True)
            )
        )

    defaults = function.__defaults__ or ()

    def write() -> Callable[..., Any]:
        code = _code_of_call(count, forms.count, len(defaults))
        call.__code__ = code.replace(
            co_varnames=(*names, *code.co_varnames[len(names) :])
        )
        return call

    call = FunctionType(
        _code_of_first_call(),
        {
            "_write": write,
            "_type": type,
            "_concrete": _CONCRETE,
            "_find": forms.find,
            "_call_slowly": call_slowly,
            "_with_scalars": latest,
            "_plain": None,
            "_latest": (_NO_VALUE,) * forms.count + (None,),
            **{f"_default_{i}": value for i, value in enumerate(reversed(defaults))},
        },
        function.__name__,
        function.__defaults__,
    )
    functools.update_wrapper(call, function)
    if operation != function.__name__:
        call.__qualname__ = operation  # Python's errors name the public function
    return call


@functools.cache
def _code_of_first_call() -> CodeType:
    """The code with which an operation begins: it puts the other in its place.

    A program uses few of the operations. To write code for all of them would be a fifth
    of what it takes to import the package.
    """
    return _compiled("""
def call(*arguments, **by_name):
    return _write()(*arguments, **by_name)
""")


@functools.cache
def _code_of_call(
    operand_count: int, static_count: int, default_count: int
) -> CodeType:
    """The code of the function that takes every call of an operation.

    It is written out for so many parameters, as that of a dataclass is: Python then
    binds the arguments itself, in a tenth of the time of any loop over ``*args`` and
    ``**kwargs``, and words the error where they do not fit. What belongs to the one
    operation are its globals. The names of the parameters are put in later, as one code
    serves all operations of the same form.
    """
    operands = tuple(f"_operand_{i}" for i in range(operand_count))
    static = tuple(f"_static_{i}" for i in range(static_count))
    parameters = ", ".join((*operands, *static))
    passed = ", ".join(operands)
    written = f"({_listed('{}', static)})"

    # The form of the static arguments. Nothing is looked up for those that are all
    # defaults, or those of the call before: a dictionary costs little in a loop of its
    # own, but much more in between two programs of XLA, where nothing of it is in the
    # processor's caches.
    find_form = f"""
    _form = _plain
    if _form is None:
        _form = _plain = _find({written})"""
    if static:
        are_defaults = "False"
        if static_count <= default_count:
            are_defaults = " and ".join(
                f"{name} is _default_{i}" for i, name in enumerate(reversed(static))
            )
        find_form = f"""
    if {are_defaults}:
        _form = _plain
        if _form is None:
            _form = _plain = _find({written})
    else:
        {_listed("_latest_{}", static)} _form = _latest
        if not ({_all("{0} is _latest_{0}", static)}):
            _form = _find({written})
            if _form.is_remembered:
                _latest = (*_form.written, _form)"""

    # The same for scalars like those of the call before.
    call_jit = f"""
    return _form.jitted({passed})"""
    if operands:
        call_jit = f"""
    if {_all("_type({}) in _concrete", operands)}:
        return _form.jitted({passed})
    _operands = ({_listed("{}", operands)})
    {_listed("_type_{}", operands)} _array, _dtype = _with_scalars[0]
    if ({_all("_type({0}) is _type_{0}", operands)}
        and _operands[_array].dtype is _dtype):
        return _form.jitted({passed})
    return _call_slowly(_form, _operands)"""

    return _compiled(f"""
def call({parameters}):
    global _plain, _latest
{find_form}
{call_jit}
""")


def _compiled(definition: str) -> CodeType:
    """The code of the one function that a text defines."""
    module = compile(definition, "<call of an operation>", "exec")
    return next(code for code in module.co_consts if isinstance(code, CodeType))


def _listed(form: str, names: tuple[str, ...]) -> str:
    return "".join(f"{form.format(name)}, " for name in names)


def _all(form: str, names: tuple[str, ...]) -> str:
    return " and ".join(form.format(name) for name in names)


class _Form:
    """Static arguments in normal form, and the jit of the operation with them."""

    __slots__ = ("is_remembered", "jitted", "static", "written")

    def __init__(
        self,
        static: tuple[Any, ...],
        jitted: Callable[..., Any],
        written: tuple[Any, ...],
    ) -> None:
        self.static = static
        self.jitted = jitted
        # As they were written. They are kept: as long as they live, their ids, by
        # which they are known, are theirs alone.
        self.written = written
        # Whether they stay as they are, so that the same objects mean the same.
        self.is_remembered = all(map(_is_immutable, written))


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
        parameters: tuple[str, ...],
        normalizers: dict[str, Normalizer],
    ) -> None:
        self.count = len(parameters)
        self._operation = operation
        self._function = function
        given = reversed(function.__defaults__ or ())
        defaults = dict(zip(reversed(parameters), given, strict=False))
        self._static = tuple(
            (name, normalizers[name], defaults.get(name, _NO_VALUE))
            for name in parameters
        )
        self._jits: dict[tuple[Any, ...], Callable[..., Any]] = {}
        # By the ids of the arguments as written.
        self._known: dict[tuple[int, ...], _Form] = {}

    def find(self, written: tuple[Any, ...]) -> _Form:
        """The form of arguments, whether they are known or not."""
        key = tuple(map(id, written))
        form = self._known.get(key)
        if form is not None:
            return form
        normal = self._normal(written)
        jitted = self._jits.get(normal)
        if jitted is None:
            if len(self._jits) >= _REMEMBERED:
                self._jits.clear()
                self._known.clear()
            jitted = self._jits[normal] = _jitted(self._function, normal)
        form = _Form(normal, jitted, written)
        if form.is_remembered:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = form
        return form

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


# By the type of a Python scalar, the element types into which JAX converts it, once it
# is traced, without rounding twice. For an int: of one that fits into 32 bits.
_EXACT_FOR: dict[type, frozenset[np.dtype[Any]]] = {
    kind: frozenset(map(np.dtype, names.split()))
    for kind, names in {
        bool: "bool",
        int: "int32 int64 float32 float64",
        float: "float32 float64 complex64 complex128",
        complex: "complex64 complex128",
    }.items()
}


class _ScalarPlan:
    """What tells quickly that a jit may take arrays and scalars of these types.

    A loop over them at every call would cost as much as a third of it.
    """

    __slots__ = ("array", "arrays", "exact", "ints")

    @classmethod
    def of(
        cls, operands: tuple[Any, ...], together: tuple[bool, ...]
    ) -> "_ScalarPlan | None":
        """The plan for the types of operands; None where there is more to check."""
        plan = cls()
        arrays, ints, exact = [], [], None
        for index, (value, one_of_them) in enumerate(
            zip(operands, together, strict=True)
        ):
            kind = type(value)
            if kind in _EXACT_FOR and one_of_them:
                exact = _EXACT_FOR[kind] if exact is None else exact & _EXACT_FOR[kind]
                if kind is int:
                    ints.append(index)
            elif kind not in _CONCRETE:
                return None
            elif one_of_them:
                arrays.append(index)
        if exact is None or not arrays:
            return None
        plan.array, *plan.arrays = arrays
        plan.ints = ints
        plan.exact = exact
        return plan

    def fits(self, operands: tuple[Any, ...]) -> bool:
        """Whether a jit takes operands of the plan's types as they are."""
        dtype = operands[self.array].dtype
        if dtype not in self.exact:
            return False
        for index in self.arrays:
            if operands[index].dtype != dtype:
                return False
        for index in self.ints:  # noqa: SIM110 - a generator is slower
            if not -(2**31) <= operands[index] < 2**31:
                return False
        return True


def _with_typed_scalars(
    operation: str,
    names: tuple[str, ...],
    together: tuple[bool, ...],
    operands: tuple[Any, ...],
) -> tuple[Any, ...] | None:
    """Concrete operands, in which Python scalars may have become arrays.

    A jit traces a Python scalar with a type of its own and converts it from that. Where
    this would round twice, or lose that an int does not fit, the scalar is made an
    array of the element type of the others here. None if an operand is traced or
    nothing says what type a scalar takes: then the function itself is called.
    """
    arrays = []
    for value, one_of_them in zip(operands, together, strict=True):
        if type(value) not in _SCALARS:
            if not _is_concrete(value):
                return None
            if one_of_them:
                arrays.append(value)
    typed = []
    for name, value, one_of_them in zip(names, operands, together, strict=False):
        if type(value) in _SCALARS:
            dtype = None
            if arrays and one_of_them:
                partners = (x for x in arrays if checks.takes_scalar(x, value))
                partner = next(partners, None)
                if partner is None:
                    return None
                dtype = checks.element_type_of(partner)
            if not _is_traced_exactly(value, dtype):
                if dtype is None:
                    return None
                value = checks.typed_scalar(operation, name, value, dtype)
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


def _is_concrete_throughout(value: Any) -> bool:
    """Whether all that BoundedArrays hold is concrete, also those in a sequence."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_concrete_throughout, value))
    if not isinstance(value, bounded.BoundedArray):
        return True
    sizes = value.sizes
    return (
        _is_concrete(value.data)
        and isinstance(sizes, tuple)
        and all(size is None or _is_concrete(size) for size in sizes)
    )


def _data_of(value: Any) -> Any:
    """The data of a BoundedArray, and of each in a sequence."""
    if isinstance(value, (tuple, list)):
        return [_data_of(x) for x in value]
    return bounded.data_of(value)
