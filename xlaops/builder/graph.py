"""Computations built operation by operation, as with XLA's XlaBuilder."""

import contextvars
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from .. import types
from ..core import checks, tokens
from ..core.bounded import BoundedArray
from ..core.tokens import Token
from ..core.typing import ShapeLike

Operand: TypeAlias = "XlaOp | ArrayLike"

# The builder of the innermost `with` block, for operations without operands.
_current: contextvars.ContextVar["XlaBuilder | None"] = contextvars.ContextVar(
    "xlaops_builder", default=None
)


class XlaOp:
    """A value in a computation that is being built; operations return them.

    The operators of C++ work: ``+ - * / %``, ``& | ^ ~``, ``<<`` and ``>>`` (arithmetic
    for signed integers, logical for others). ``==`` compares identity: it is `Eq` that
    compares values.

    Attributes:
      builder: the `XlaBuilder` that it belongs to.
      shape: its `xlaops.Shape`; a tuple shape if the operation returns a tuple.
    """

    __slots__ = (
        "_arguments",
        "_function",
        "_has_effect",
        "_index",
        "builder",
        "shape",
    )

    # Beside an array on the left, numpy would add the value to each of its elements.
    __array_ufunc__ = None

    def __init__(
        self,
        builder: "XlaBuilder",
        index: int,
        shape: types.Shape,
        function: Callable[..., Any] | None,
        arguments: tuple[Any, ...],
        has_effect: bool = False,
    ) -> None:
        self.builder = builder
        self.shape = shape
        self._index = index
        self._function = function
        self._arguments = arguments
        self._has_effect = has_effect

    def __repr__(self) -> str:
        return f"XlaOp(%{self._index}: {self.shape})"

    def _apply(self, name: str, *arguments: Any) -> "XlaOp":
        from . import facade

        return facade.function(name)(*arguments)

    def __neg__(self) -> "XlaOp":
        return self._apply("Neg", self)

    def __invert__(self) -> "XlaOp":
        return self._apply("Not", self)

    def __add__(self, other: Operand) -> "XlaOp":
        return self._apply("Add", self, other)

    def __radd__(self, other: Operand) -> "XlaOp":
        return self._apply("Add", other, self)

    def __sub__(self, other: Operand) -> "XlaOp":
        return self._apply("Sub", self, other)

    def __rsub__(self, other: Operand) -> "XlaOp":
        return self._apply("Sub", other, self)

    def __mul__(self, other: Operand) -> "XlaOp":
        return self._apply("Mul", self, other)

    def __rmul__(self, other: Operand) -> "XlaOp":
        return self._apply("Mul", other, self)

    def __truediv__(self, other: Operand) -> "XlaOp":
        return self._apply("Div", self, other)

    def __rtruediv__(self, other: Operand) -> "XlaOp":
        return self._apply("Div", other, self)

    def __mod__(self, other: Operand) -> "XlaOp":
        return self._apply("Rem", self, other)

    def __rmod__(self, other: Operand) -> "XlaOp":
        return self._apply("Rem", other, self)

    def __and__(self, other: Operand) -> "XlaOp":
        return self._apply("And", self, other)

    def __rand__(self, other: Operand) -> "XlaOp":
        return self._apply("And", other, self)

    def __or__(self, other: Operand) -> "XlaOp":
        return self._apply("Or", self, other)

    def __ror__(self, other: Operand) -> "XlaOp":
        return self._apply("Or", other, self)

    def __xor__(self, other: Operand) -> "XlaOp":
        return self._apply("Xor", self, other)

    def __rxor__(self, other: Operand) -> "XlaOp":
        return self._apply("Xor", other, self)

    def __lshift__(self, other: Operand) -> "XlaOp":
        return self._apply("ShiftLeft", self, other)

    def __rshift__(self, other: Operand) -> "XlaOp":
        signed = self.shape.is_array and checks.kind(self.shape.dtype) == "i"
        name = "ShiftRightArithmetic" if signed else "ShiftRightLogical"
        return self._apply(name, self, other)


@dataclasses.dataclass(frozen=True)
class ProgramShape:
    """The shapes of a computation's parameters and result.

    Attributes:
      parameters: one `xlaops.Shape` for each parameter.
      parameter_names: their names.
      result: the shape of the result.
    """

    parameters: tuple[types.Shape, ...]
    parameter_names: tuple[str, ...]
    result: types.Shape

    def parameter_shapes(self) -> tuple[types.Shape, ...]:
        """The shapes of the parameters, as the old Python API calls them."""
        return self.parameters

    def result_shape(self) -> types.Shape:
        """The shape of the result, as the old Python API calls it."""
        return self.result

    def __str__(self) -> str:
        named = zip(self.parameter_names, self.parameters, strict=True)
        parameters = ", ".join(f"{name}: {shape}" for name, shape in named)
        return f"({parameters}) -> {self.result}"


class XlaComputation:
    """A computation that was built: a JAX function of its parameters.

    It is called with arrays (tuples of arrays for parameters of tuple shape), works
    under `jax.jit`, `jax.grad` and `jax.vmap`, and is taken wherever an operation takes
    a computation.

    Attributes:
      name: the builder's name.
      program_shape: the `ProgramShape`.
    """

    def __init__(
        self, name: str, program_shape: ProgramShape, ops: Sequence[XlaOp], root: XlaOp
    ) -> None:
        self.name = self.__name__ = name
        self.program_shape = program_shape
        self._ops = tuple(ops)
        self._root = root

    def __repr__(self) -> str:
        return f"XlaComputation({self.name} {self.program_shape})"

    def GetProgramShape(self) -> ProgramShape:
        """The shapes of the parameters and of the result."""
        return self.program_shape

    def as_hlo_text(self) -> str:
        """The text of the HLO module that JAX makes of the computation."""
        structs = [_struct(shape) for shape in self.program_shape.parameters]
        return jax.jit(self).lower(*structs).as_text(dialect="hlo")

    def __call__(self, *arguments: Any) -> Any:
        """The result for the given arguments.

        Raises:
          TypeError: if the number of arguments or a shape is not that of the
          parameters.
        """
        shapes = self.program_shape.parameters
        if len(arguments) != len(shapes):
            raise TypeError(
                f"{self.name}: arguments must be one for each of the {len(shapes)} "
                f"parameters, got {len(arguments)}"
            )
        names = self.program_shape.parameter_names
        parameters = [
            _argument(self.name, name, shape, argument)
            for name, shape, argument in zip(names, shapes, arguments, strict=True)
        ]
        values: dict[XlaOp, Any] = {}
        for op in self._ops:
            if op._function is None:
                values[op] = parameters[op._arguments[0]]
            else:
                values[op] = op._function(*_replaced(op._arguments, values))
        return values[self._root]


class XlaBuilder:
    """Builds an `XlaComputation` operation by operation.

    The functions of `xlaops.builder` add operations to the builder of their operands.
    Those without operands get it as a first argument, as in C++ and the old Python API,
    or from a ``with`` block. A faulty operation raises where it is written.

    Args:
      name: name of the computation.

    Example:
      >>> from xlaops import builder as xb
      >>> b = xb.XlaBuilder("scaled_sum")
      >>> x = xb.Parameter(b, 0, "f32[3]", "x")
      >>> y = xb.Parameter(b, 1, "f32[3]", "y")
      >>> scaled_sum = b.Build(xb.Add(x, y) * xb.ConstantR0(b, 2.0))
      >>> print(scaled_sum.program_shape)
      (x: f32[3], y: f32[3]) -> f32[3]
      >>> import jax.numpy as jnp
      >>> scaled_sum(jnp.arange(3.0), jnp.ones(3))
      Array([2., 4., 6.], dtype=float32)

    Source: ``XlaBuilder`` of ``xla_builder.h``.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(
                f"XlaBuilder: name must be a str, got {checks.describe(name)}"
            )
        self.name = name
        self._ops: list[XlaOp] = []
        self._parameters: dict[int, tuple[str, XlaOp]] = {}
        self._tokens: list[contextvars.Token[XlaBuilder | None]] = []

    def __repr__(self) -> str:
        return f"XlaBuilder({self.name!r}, {len(self._ops)} operations)"

    def __enter__(self) -> "XlaBuilder":
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._tokens.pop())

    def GetShape(self, op: XlaOp) -> types.Shape:
        """The shape of a value of this builder."""
        self._own("GetShape", "op", op)
        return op.shape

    def GetProgramShape(self, root: XlaOp | None = None) -> ProgramShape:
        """The shapes of the parameters so far and of ``root``.

        Args:
          root: the result; None is the operation that was added last.

        Raises:
          ValueError: if the builder is empty or parameter numbers have gaps.
        """
        result = self._root("GetProgramShape", root)
        numbers = sorted(self._parameters)
        if numbers != list(range(len(numbers))):
            raise ValueError(
                f"{self.name}: parameter numbers must be 0 to {len(numbers) - 1}, "
                f"got {numbers}"
            )
        names, ops = [], []
        for number in numbers:
            name, op = self._parameters[number]
            names.append(name)
            ops.append(op)
        return ProgramShape(tuple(op.shape for op in ops), tuple(names), result.shape)

    def Build(self, root: XlaOp | None = None) -> XlaComputation:
        """The computation that ``root`` is the result of.

        What ``root`` does not depend on is left out, unless it has a side effect. The
        builder can be built from again, with another root or after more operations.

        Args:
          root: the result; None is the operation that was added last.

        Returns:
          An `XlaComputation`.

        Raises:
          TypeError: if ``root`` is no `XlaOp`.
          ValueError: if ``root`` is of another builder, the builder is empty, or
            parameter numbers have gaps.
        """
        result = self._root("Build", root)
        return XlaComputation(
            self.name, self.GetProgramShape(result), _needed(self._ops, result), result
        )

    # The names of the old Python API (xla_client.XlaBuilder).
    build = Build
    get_shape = GetShape
    get_program_shape = GetProgramShape

    def _root(self, operation: str, root: XlaOp | None) -> XlaOp:
        if root is not None:
            self._own(operation, "root", root)
            return root
        if not self._ops:
            raise ValueError(f"{operation}: builder {self.name!r} must have operations")
        return self._ops[-1]

    def _own(self, operation: str, parameter: str, op: Any) -> None:
        if not isinstance(op, XlaOp):
            raise TypeError(
                f"{operation}: {parameter} must be an XlaOp, got {checks.describe(op)}"
            )
        if op.builder is not self:
            raise ValueError(
                f"{operation}: {parameter} must be of builder {self.name!r}, got one "
                f"of {op.builder.name!r}"
            )

    def _add(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> XlaOp:
        """Adds an operation; its errors are those of the shapes it is given."""
        arguments = _kept(arguments)
        operands = list(dict.fromkeys(_operands(arguments)))

        def evaluate(values: list[Any]) -> Any:
            known = dict(zip(operands, values, strict=True))
            return function(*_replaced(arguments, known))

        traced, result = jax.make_jaxpr(evaluate, return_shape=True)(
            [_struct(op.shape) for op in operands]
        )
        op = XlaOp(
            self,
            len(self._ops),
            _shape(result),
            function,
            arguments,
            has_effect=bool(traced.effects),
        )
        self._ops.append(op)
        return op


def Parameter(
    builder: XlaBuilder, parameter_number: int, shape: ShapeLike, name: str = ""
) -> XlaOp:
    """A parameter of the computation.

    Args:
      builder: the builder.
      parameter_number: its position among the parameters, from 0.
      shape: its shape as `xlaops.Shape`, `jax.ShapeDtypeStruct` or text such as
        ``"f32[2,3]"``; a tuple shape takes a tuple of arrays.
      name: its name; ``p0``, ``p1``, ... if empty.

    Returns:
      The value of the parameter.

    Raises:
      TypeError: if ``builder`` is none, ``shape`` no shape or ``name`` no text.
      ValueError: if the number is negative or taken, or nothing of that shape can be
        passed.

    Example:
      >>> from xlaops import builder as xb
      >>> xb.Parameter(xb.XlaBuilder("f"), 0, "f32[2,3]", "x")
      XlaOp(%0: f32[2,3])

    Source: ``Parameter`` of ``xla_builder.h``.
    """
    if not isinstance(builder, XlaBuilder):
        raise TypeError(
            f"Parameter: builder must be an XlaBuilder, got {checks.describe(builder)}"
        )
    number = checks.integer("Parameter", "parameter_number", parameter_number)
    if number < 0 or number in builder._parameters:
        raise ValueError(
            f"Parameter: parameter_number must not be negative or taken, got {number}"
        )
    wanted = checks.coerced(types.Shape.coerce)("Parameter", "shape", shape)
    if not isinstance(name, str):
        raise TypeError(f"Parameter: name must be a str, got {checks.describe(name)}")
    if not _is_passed(wanted):
        raise ValueError(
            f"Parameter: shape must be one of arrays with bounds, tuples and tokens, "
            f"got {wanted}"
        )
    for leaf in jax.tree.leaves(_struct(wanted)):
        if jax.dtypes.canonicalize_dtype(leaf.dtype) != leaf.dtype:
            raise ValueError(
                f"Parameter: shape must have no 64-bit types without jax_enable_x64, "
                f"got {wanted}"
            )
    op = XlaOp(builder, len(builder._ops), wanted, None, (number,))
    builder._ops.append(op)
    builder._parameters[number] = (name or f"p{number}", op)
    return op


def AddDependency(operand: XlaOp, token: XlaOp) -> XlaOp:
    """The operand, available only after the token is.

    Args:
      operand: a value.
      token: a value of the same builder that must be computed first.

    Returns:
      ``operand``.

    Raises:
      TypeError: if an argument is no `XlaOp`.

    Example:
      >>> from xlaops import builder as xb
      >>> x = xb.Parameter(xb.XlaBuilder("f"), 0, "f32[2]")
      >>> xb.AddDependency(x, xb.Exp(x))
      XlaOp(%2: f32[2])

    Source: ``AddDependency`` of ``xla_builder.h``; ``stablehlo.optimization_barrier``.
    """
    if not isinstance(operand, XlaOp):
        raise TypeError(
            f"AddDependency: operand must be an XlaOp, got {checks.describe(operand)}"
        )
    operand.builder._own("AddDependency", "token", token)

    def tied(value: Any, after: Any) -> Any:
        return lax.optimization_barrier((value, after))[0]

    return operand.builder._add(tied, (operand, token))


def _shape(result: Any) -> types.Shape:
    """The shape of what an operation returns."""

    def of(value: Any) -> Any:
        if isinstance(value, Token):
            return types.Shape.token()
        return value.bounded_shape if isinstance(value, BoundedArray) else value

    return types.Shape.coerce(
        jax.tree.map(of, result, is_leaf=lambda x: isinstance(x, (Token, BoundedArray)))
    )


def _is_passed(shape: types.Shape) -> bool:
    """Whether a function of JAX can have an argument of a shape."""
    if shape.is_tuple:
        return all(map(_is_passed, shape.tuple_shapes))
    return shape.is_token or (
        shape.is_array and shape.UNBOUNDED not in shape.dimensions
    )


def _struct(shape: types.Shape) -> Any:
    """What JAX traces an operation with for a value of a shape."""
    if shape.is_token:
        return Token(jax.ShapeDtypeStruct((), tokens.ELEMENT_TYPE))
    if shape.is_tuple:
        return tuple(map(_struct, shape.tuple_shapes))
    if not shape.is_static and shape.UNBOUNDED not in shape.dimensions:
        size = jax.ShapeDtypeStruct((), np.int32)
        sizes = tuple(size if d else None for d in shape.dynamic_dimensions)
        data: Any = jax.ShapeDtypeStruct(shape.dimensions, shape.dtype)
        return BoundedArray(data, cast(Any, sizes))
    return shape.to_struct()


def current_builder() -> XlaBuilder | None:
    """The builder of the innermost ``with`` block."""
    return _current.get()


def _operands(argument: Any) -> Iterator[XlaOp]:
    """The XlaOps in an argument, in order."""
    if isinstance(argument, XlaOp):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for item in argument:
            yield from _operands(item)


def _kept(argument: Any) -> Any:
    """The argument, out of reach of a caller that changes its lists and arrays."""
    if type(argument) in (tuple, list):
        return type(argument)(map(_kept, argument))
    if type(argument) is dict:
        return {key: _kept(value) for key, value in argument.items()}
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _replaced(argument: Any, values: dict[XlaOp, Any]) -> Any:
    """The argument with the values of the XlaOps in their places."""
    if isinstance(argument, XlaOp):
        return values[argument]
    if type(argument) in (tuple, list):
        return type(argument)(_replaced(item, values) for item in argument)
    return argument


def _needed(ops: Sequence[XlaOp], root: XlaOp) -> list[XlaOp]:
    """What ``root`` and side effects depend on, in the order it was added."""
    needed = {root, *(op for op in ops if op._has_effect)}
    for op in reversed(ops):  # operands always come before
        if op in needed and op._function is not None:
            needed.update(_operands(op._arguments))
    return [op for op in ops if op in needed]


def _argument(computation: str, name: str, shape: types.Shape, value: Any) -> Any:
    """An argument, checked against the shape of its parameter."""
    if shape.is_tuple:
        if not isinstance(value, (tuple, list)) or len(value) != len(
            shape.tuple_shapes
        ):
            raise TypeError(
                f"{computation}: {name} must be a tuple {shape}, "
                f"got {checks.describe(value)}"
            )
        return tuple(
            _argument(computation, f"{name}[{i}]", part, item)
            for i, (part, item) in enumerate(
                zip(shape.tuple_shapes, value, strict=True)
            )
        )
    if shape.is_token:
        return tokens.checked(computation, name, value)
    if not shape.is_static:
        if not isinstance(value, BoundedArray) or value.bounded_shape != shape:
            raise TypeError(
                f"{computation}: {name} must be {shape}, got {checks.describe(value)}"
            )
        return value
    if not shape.dimensions and checks.takes_scalar(shape, value):
        return jnp.asarray(checks.typed_scalar(computation, name, value, shape.dtype))
    array = checks.array(computation, name, value)
    fits = array.dtype == shape.dtype
    if not fits and array.ndim == 0 and jax.typeof(array).weak_type:
        # Of a Python number that JAX has traced, only the kind is known.
        fits = checks.takes_scalar(shape, np.zeros((), array.dtype).item())
    if array.shape != shape.dimensions or not fits:
        raise TypeError(
            f"{computation}: {name} must be {shape}, got {checks.describe(value)}"
        )
    # Also where only the weak type of a number that JAX has traced has to go.
    return lax.convert_element_type(array, shape.dtype)
