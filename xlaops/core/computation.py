"""Computations over scalars that operations are given: reducers, comparators, maps.

XLA's operations take a computation by value. Here it is a Python callable over scalars,
flat in the document's order, or a computation of `xlaops.builder`. It is traced at
every call, because what a callable does may depend on values that it closes over, and
equal traces become one object: a lambda written anew at every call compiles nothing
anew. Operations of this package, such as `xlaops.add`, are traced once.
"""

import functools
import inspect
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array, lax

from . import checks
from .compat import Literal, Tracer, without_mesh
from .evaluation import REPLACED, evaluate

_LOOPS = frozenset({"while", "scan"})
# Of one operation, which XLA takes for the reduction itself on every backend.
_MONOIDS = frozenset({"add", "mul", "max", "min", "and", "or", "xor"})
_ORDERED_PAIRS = frozenset({"sub"})

# Operations on scalars that XLA cannot run for each element within another operation,
# with what to say of them. The process ends, or the value is that of something else.
_LOOP = "have no loop, whose number of steps XLA has no place for inside an operation"
_HOST = "not call back to Python or foreign code"
_DEVICES = "not communicate between devices"
_DRAWS = "draw no random numbers"
_REFUSED = {
    **dict.fromkeys(_LOOPS, _LOOP),
    # Written as loops where they are lowered.
    **dict.fromkeys(
        (
            "igamma",
            "igammac",
            "igamma_grad_a",
            "random_gamma_grad",
            "regularized_incomplete_beta",
        ),
        _LOOP,
    ),
    **dict.fromkeys(
        (
            "pure_callback",
            "io_callback",
            "debug_callback",
            "debug_print",
            "ffi_call",
            "infeed",
            "outfeed",
        ),
        _HOST,
    ),
    **dict.fromkeys(
        (
            "psum",
            "psum2",
            "psum_invariant",
            "pmax",
            "pmin",
            "ppermute",
            "pbroadcast",
            "all_gather",
            "all_gather_invariant",
            "all_to_all",
            "ragged_all_to_all",
            "reduce_scatter",
            "axis_index",
        ),
        _DEVICES,
    ),
    **dict.fromkeys(
        (
            "random_bits",
            "random_seed",
            "random_wrap",
            "random_unwrap",
            "random_split",
            "random_fold_in",
            "random_clone",
            "random_gamma",
            "threefry2x32",
            "rng_bit_generator",
            "rng_uniform",
            "xlaops_rng",
            "xlaops_rng_bit_generator",
        ),
        _DRAWS,
    ),
}


class Computation:
    """A computation over scalars that holds all it needs; equal ones are one object.

    Attributes:
      jaxpr: what it computes, without calls.
      inputs: the element types of its parameters.
      outputs: the element types of its results.
      pattern: the name of the one operation that it consists of (``"add"``, ``"sub"``),
        ``"second"`` if it gives its second parameter, or an empty text.
    """

    __slots__ = ("__weakref__", "consts", "inputs", "jaxpr", "outputs")

    def __init__(self, jaxpr: Any, consts: Sequence[Any]) -> None:
        self.jaxpr = jaxpr
        self.consts = tuple(consts)
        self.inputs = tuple(v.aval.dtype for v in jaxpr.invars)
        self.outputs = tuple(v.aval.dtype for v in jaxpr.outvars)

    def __repr__(self) -> str:
        return f"Computation({self.jaxpr})"

    def __call__(self, *scalars: Any) -> list[Array]:
        """The results for scalar arguments."""
        return evaluate(self.jaxpr, self.consts, *scalars)

    @property
    def pattern(self) -> str:
        """See the class."""
        jaxpr = self.jaxpr
        if len(jaxpr.invars) != 2 or len(jaxpr.outvars) != 1:
            return ""
        if not jaxpr.eqns:
            return "second" if jaxpr.outvars[0] is jaxpr.invars[1] else ""
        equation, *others = jaxpr.eqns
        name = equation.primitive.name
        if others or jaxpr.outvars[0] is not equation.outvars[0]:
            return ""
        straight = [x is y for x, y in zip(equation.invars, jaxpr.invars, strict=False)]
        swapped = [
            x is y for x, y in zip(equation.invars, jaxpr.invars[::-1], strict=False)
        ]
        if name in _MONOIDS and (straight == [True] * 2 or swapped == [True] * 2):
            return name
        return name if name in _ORDERED_PAIRS and straight == [True] * 2 else ""

    @property
    def divides_integers(self) -> bool:
        """Whether it holds a division or a remainder of integers."""
        return any(
            equation.primitive.name in ("div", "rem")
            and checks.kind(equation.invars[0].aval.dtype) in "iu"
            for equation in _equations(self.jaxpr)
        )

    def elementwise(self, *arrays: Array) -> tuple[Array, ...]:
        """The results for each element of arrays of one shape."""
        return _mapped(self, np.ndim(arrays[0]))(*arrays)


@functools.lru_cache(maxsize=1024)
def _mapped(computation: Computation, rank: int) -> Callable[..., tuple[Array, ...]]:
    """The computation as a function of arrays of one rank, one program where eager."""

    def mapped(*arrays: Array) -> tuple[Array, ...]:
        function: Callable[..., Any] = computation
        for _ in range(rank):
            function = jax.vmap(function)
        return tuple(function(*arrays))

    return jax.jit(mapped, inline=True)


class Role(NamedTuple):
    """How an operation uses a computation, for messages.

    Attributes:
      operation: the operation.
      parameter: the operation's parameter that holds the computation.
      takes: what it is called with, such as ``"the running values, then the new"``.
    """

    operation: str
    parameter: str
    takes: str

    def must(self, rule: str) -> str:
        """The beginning of the message that the rule is broken."""
        return f"{self.operation}: {self.parameter} must {rule}"


def traced(
    role: Role,
    function: Any,
    inputs: Sequence[Any],
    outputs: Sequence[Any] | None,
    *,
    in_region: bool = True,
) -> Computation:
    """The computation that a callable over scalars does.

    Args:
      role: what it is for.
      function: a callable, or a computation of `xlaops.builder`.
      inputs: the element types that it is called with.
      outputs: the element types of its results; None for one result of any type.
      in_region: whether XLA runs it as a region of an operation, where it may hold
        nothing but operations on scalars.

    Returns:
      The computation, the same object for callables that do the same.

    Raises:
      TypeError: if it is not callable, takes or returns something else, or holds a
        traced value or what a region may not hold.
    """
    # Other callables may have no hash.
    if isinstance(function, FunctionType) and function in _constant_functions:
        key = (
            function,
            tuple(inputs),
            None if outputs is None else tuple(outputs),
            in_region,
            jax.config.jax_enable_x64,
        )
        known = _of_constant_functions.get(key)
        if known is None:
            known = _traced(role, function, inputs, outputs, in_region)
            _of_constant_functions[key] = known
        return known
    return _traced(role, function, inputs, outputs, in_region)


# Functions that do the same at every call, and what they were traced to.
_constant_functions: set[Any] = set()
_of_constant_functions: dict[Any, Computation] = {}


def constant(function: Callable[..., Any]) -> None:
    """States that a function always does the same, so that it is traced but once."""
    _constant_functions.add(function)


def _traced(
    role: Role,
    function: Any,
    inputs: Sequence[Any],
    outputs: Sequence[Any] | None,
    in_region: bool,
) -> Computation:
    _check_signature(role, function, inputs)
    structs = [jax.ShapeDtypeStruct((), dtype) for dtype in inputs]
    make = jax.make_jaxpr(lambda *scalars: _results(role, function(*scalars), outputs))
    try:
        # One computation serves programs on several meshes: it is traced on none.
        with without_mesh():
            closed = make(*structs)
    except (AssertionError, ValueError):
        # JAX asserts that no value of a mesh is used there. It is a constant here, of
        # which the message below says more; other errors come again.
        closed = make(*structs)
    _check_constants(role, closed.consts, in_region)
    if in_region:
        if any(e.primitive.name in REPLACED for e in closed.jaxpr.eqns):
            inlined = functools.partial(evaluate, closed.jaxpr, closed.consts)
            with without_mesh():
                closed = jax.make_jaxpr(inlined)(*structs)
        _check_contents(role, closed.jaxpr)
    return interned(closed)


def derived(function: Callable[..., Any], inputs: Sequence[Any]) -> Computation:
    """The computation of a function of ours, made of other computations."""
    structs = [jax.ShapeDtypeStruct((), dtype) for dtype in inputs]
    with without_mesh():
        return interned(jax.make_jaxpr(function)(*structs))


def refuse_effects(role: Role, computation: Computation) -> None:
    """Raises TypeError for what means nothing if it is done for each element apart.

    That is what a region may not hold, but for loops and arrays.
    """
    for equation in _equations(computation.jaxpr):
        name = equation.primitive.name
        rule = _REFUSED.get(name) or (_HOST if equation.effects else None)
        if rule is not None and rule is not _LOOP:
            raise TypeError(
                f"{role.must(rule)}, got {name!r}. Do that outside of {role.operation}."
            )
        if name in ("div", "rem") and _divides_by_zero(equation):
            raise TypeError(
                f"{role.must('not divide integers by zero')}, got {name!r} of constants"
            )


# Every computation that lives, by all that it does: as long as a compiled program
# holds one, a call with an equal one finds the program.
_known: weakref.WeakValueDictionary[Any, Computation] = weakref.WeakValueDictionary()


def interned(closed: Any) -> Computation:
    """The one computation that does what a traced function does."""
    consts = [_constant(c) for c in closed.consts]
    key = (jax.config.jax_enable_x64, _key(closed.jaxpr, consts))
    known = _known.get(key)
    if known is None:
        known = _known.setdefault(key, Computation(closed.jaxpr, consts))
    return known


# What is checked


def _check_signature(role: Role, function: Any, inputs: Sequence[Any]) -> None:
    if not callable(function):
        raise TypeError(f"{role.must('be callable')}, got {checks.describe(function)}")
    wanted = ", ".join(f"{dtype}[]" for dtype in inputs)
    rule = role.must(f"take {len(inputs)} scalars ({role.takes}: {wanted})")
    # A computation that was built knows its types: core does not know its class.
    shape = getattr(function, "program_shape", None)
    if shape is not None:
        came = [(s.dimensions, s.dtype) if s.is_array else s for s in shape.parameters]
        if came != [((), np.dtype(dtype)) for dtype in inputs]:
            raise TypeError(f"{rule}, got {function!r}")
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of C code, which does not always have one
        return
    try:
        signature.bind(*inputs)
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(f"{rule}, got {name}{signature}: {error}") from None


def _results(role: Role, result: Any, outputs: Sequence[Any] | None) -> tuple[Any, ...]:
    """The results as scalars of the element types that they must have."""
    values = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if outputs is None:
        rule = role.must("return one scalar")
    else:
        wanted = ", ".join(f"{dtype}[]" for dtype in outputs)
        rule = role.must(f"return {wanted}")
    if len(values) != (1 if outputs is None else len(outputs)):
        raise TypeError(f"{rule}, got {len(values)} values")
    scalars = []
    for i, value in enumerate(values):
        wanted = None if outputs is None else outputs[i]
        try:
            scalar = checks.array(role.operation, role.parameter, value)
        except TypeError:
            raise TypeError(f"{rule}, got {checks.describe(value)}") from None
        if wanted is not None and scalar.dtype != wanted:
            # A Python number, or a comparison of nothing but those.
            weak = jax.typeof(scalar).weak_type
            fits = weak and checks.kind(scalar.dtype) != "b"
            if not fits or checks.kind(wanted) not in _into(scalar.dtype):
                raise TypeError(f"{rule}, got {_types(values)}")
        if scalar.ndim:
            raise TypeError(f"{rule}, got {_types(values)}")
        dtype = scalar.dtype if wanted is None else wanted
        if scalar.dtype != dtype or jax.typeof(scalar).weak_type:
            scalar = lax.convert_element_type(scalar, dtype)
        scalars.append(scalar)
    return tuple(scalars)


def _into(dtype: Any) -> str:
    return {"i": "iufc", "f": "fc", "c": "c"}.get(checks.kind(dtype), "")


def _types(values: Sequence[Any]) -> str:
    return ", ".join(
        checks.describe(v) if hasattr(v, "dtype") else f"{type(v).__name__} {v!r}"
        for v in values
    )


def _check_constants(role: Role, consts: Sequence[Any], in_region: bool) -> None:
    for value in consts:
        if isinstance(value, Tracer):
            aval = jax.typeof(value)
            raise TypeError(
                f"{role.must('use no value that is traced outside of it')}, got one of "
                f"type {aval.dtype}{list(aval.shape)}. Make it an operand of "
                f"{role.operation}, broadcast where it has to be, or a constant that "
                f"is known before the program is traced."
            )
        if in_region and np.ndim(value):
            raise TypeError(
                f"{role.must('hold only scalars')}, got a constant of type "
                f"{checks.describe(value)}"
            )


def _check_contents(role: Role, jaxpr: Any) -> None:
    """Raises for what ends the process when XLA compiles or runs it in a region."""
    for equation in _equations(jaxpr):
        name = equation.primitive.name
        # What runs on every element has no effect that could be counted.
        rule = _REFUSED.get(name) or (_HOST if equation.effects else None)
        if rule is not None:
            advice = (
                "Unroll it with a loop of Python"
                if rule is _LOOP
                else f"Do that outside of {role.operation}"
            )
            raise TypeError(f"{role.must(rule)}, got {name!r}. {advice}.")
        if name in ("div", "rem") and _divides_by_zero(equation):
            # Folding it ends the process where XLA does not look for a zero.
            raise TypeError(
                f"{role.must('not divide integers by zero')}, got {name!r} of constants"
            )
        for value in (*equation.invars, *equation.outvars):
            shape = getattr(value.aval, "shape", ())
            if shape:
                raise TypeError(
                    f"{role.must('be made of operations on scalars')}, got {name!r} "
                    f"with a value of shape {list(shape)}"
                )


def _divides_by_zero(equation: Any) -> bool:
    """Whether an equation is known to divide a constant integer by zero."""
    if not all(isinstance(v, Literal) for v in equation.invars):
        return False
    divisor = np.asarray(equation.invars[1].val)
    return checks.kind(divisor.dtype) in "iu" and not divisor


def _equations(jaxpr: Any) -> Iterator[Any]:
    """The equations of a jaxpr and of those within it."""
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for item in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(item, "jaxpr", item)
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)


# What is compared


def _constant(value: Any) -> Any:
    """A constant that belongs to no device."""
    return np.asarray(value) if isinstance(value, Array) else value


def _key(
    jaxpr: Any, consts: Sequence[Any], *, with_derivative: bool = True
) -> tuple[Any, ...]:
    """All that a jaxpr does, hashable and equal for equal ones.

    Not its text, which rounds constants and leaves out what functions within it do.
    """
    numbers: dict[Any, int] = {}

    def number(value: Any) -> Any:
        if isinstance(value, Literal):
            return (_value_key(value.val), str(value.aval))
        return numbers.setdefault(value, len(numbers))

    for variable in (*jaxpr.constvars, *jaxpr.invars):
        number(variable)
    equations = []
    custom = False
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        custom = custom or name == "custom_jvp_call"
        inputs = tuple(map(number, equation.invars))
        for variable in equation.outvars:
            number(variable)
        params = equation.params
        equations.append(
            (
                name,
                inputs,
                tuple(str(v.aval) for v in equation.outvars),
                tuple(
                    (k, _value_key(params[k], with_derivative))
                    for k in sorted(params)
                    if k != "jvp_jaxpr_fun"
                ),
            )
        )
    parts = (
        tuple(map(_value_key, consts)),
        tuple(str(v.aval) for v in jaxpr.invars),
        tuple(equations),
        tuple(map(number, jaxpr.outvars)),
    )
    # Rules of derivatives are functions made anew at every trace. What they compute is
    # compared instead, of a function with the same value.
    if custom and with_derivative:
        return (*parts, _derivative_key(jaxpr, consts))
    return parts


def _derivative_key(jaxpr: Any, consts: Sequence[Any]) -> Any:
    structs = [jax.ShapeDtypeStruct((), v.aval.dtype) for v in jaxpr.invars]
    smooth = [checks.kind(s.dtype) in "fc" for s in structs]
    tangents = [s for s, is_smooth in zip(structs, smooth, strict=True) if is_smooth]

    def derivative(values: Any, tangents: Any) -> Any:
        def of_smooth(*chosen: Any) -> Any:
            remaining = iter(chosen)
            merged = [
                next(remaining) if is_smooth else value
                for value, is_smooth in zip(values, smooth, strict=True)
            ]
            return evaluate(jaxpr, consts, *merged)

        chosen = [v for v, is_smooth in zip(values, smooth, strict=True) if is_smooth]
        return jax.jvp(of_smooth, chosen, tangents)[1]

    with without_mesh():
        closed = jax.make_jaxpr(derivative)(structs, tangents)
    consts = [_constant(c) for c in closed.consts]
    return _key(closed.jaxpr, consts, with_derivative=False)


class _Same:
    """An object without a hash, or with one that says too little: itself alone."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _value_key(value: Any, with_derivative: bool = True) -> Any:
    if value is None or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (bool, int)):
        return (type(value), value)
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return (type(value), repr(value))  # which tells zeros apart and equates NaN
    if isinstance(value, (np.ndarray, np.generic, Array)):
        host = np.asarray(value)
        return (str(host.dtype), host.shape, host.tobytes())
    if isinstance(value, (tuple, list)):
        return (
            type(value).__name__,
            *(_value_key(item, with_derivative) for item in value),
        )
    inner = getattr(value, "jaxpr", value)
    if hasattr(inner, "eqns"):
        consts = [_constant(c) for c in getattr(value, "consts", ())]
        # A rule may call the function whose rule it is: the keys of rules hold none.
        return _key(inner, consts, with_derivative=with_derivative)
    try:
        hash(value)
    except TypeError:
        return _Same(value)
    return value
