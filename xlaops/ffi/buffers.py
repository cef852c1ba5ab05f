"""What operands must be, and what results are: ``"f32[n,m]"`` and the like.

A name among the dimensions stands for one size wherever it occurs, a capital letter in
the place of the element type for one element type. So a call is checked against the
handler's own terms before XLA sees it, and the texts of results say what they are.
"""

import dataclasses
import functools
import re
from typing import Any, TypeAlias

import jax
import numpy as np

from .. import types
from ..core import checks

# What callers may write for a result: a type, or a tree of them.
ResultLike: TypeAlias = Any

_ELEMENT = r"(?P<elements>\*|[A-Z]\d*|[a-z]\w*(?:\|[a-z]\w*)*)"
_TEXT = re.compile(rf"\s*{_ELEMENT}\s*(?P<dims>\[[^\[\]]*\])?\s*")


class Bindings:
    """The sizes and element types that names have got in one call, and from where."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._from: dict[str, str] = {}

    def agrees(self, name: str, value: Any, parameter: str) -> bool:
        """Whether a name has the value; it gets it, if it has none yet."""
        self._from.setdefault(name, parameter)
        return self.values.setdefault(name, value) == value

    def told(self, names: Any) -> str:
        """Of some names what they are and where from, for a message."""
        known = [
            f"{name} = {_shown(self.values[name])} of {self._from[name]}"
            for name in names
            if name in self.values
        ]
        return f" with {', '.join(known)}" if known else ""


@dataclasses.dataclass(frozen=True)
class BufferType:
    """The type that an operand must have.

    Attributes:
        text: as it was written.
        elements: names of element types; empty if a variable stands for it, or any.
        variable: the name of one, or None.
        dims: sizes, or names of them (``_`` is any); None for any shape.
        has_rest: whether any number of dimensions may come before these.
    """

    text: str
    elements: tuple[str, ...]
    variable: str | None
    dims: tuple[int | str, ...] | None
    has_rest: bool

    @functools.cached_property
    def dtype(self) -> np.dtype | None:
        """The element type, if there is but one."""
        if len(self.elements) != 1:
            return None
        return types.dtype_of(self.elements[0])

    def check(self, operation: str, parameter: str, value: Any, at: Bindings) -> None:
        """Refuses an array that is not of the type."""
        name = types.element_type_name(value.dtype)
        before = Bindings()
        before.values, before._from = dict(at.values), dict(at._from)
        if self.elements and name not in self.elements:
            fits = False
        else:
            fits = self.variable is None or at.agrees(self.variable, name, parameter)
        if fits and self.dims is not None:
            fits = self._fits(value.shape, parameter, at)
        if not fits:
            rest = ["..."] if self.dims is not None and self.has_rest else []
            names = [self.variable, *rest, *(self.dims or ())]
            raise TypeError(
                f"{operation}: {parameter} must be {self.text}{before.told(names)}, "
                f"got {name}{list(value.shape)}"
            )

    def _fits(self, shape: tuple[Any, ...], parameter: str, at: Bindings) -> bool:
        assert self.dims is not None
        rest = len(shape) - len(self.dims)
        if rest < 0 or (rest and not self.has_rest):
            return False
        if self.has_rest and not at.agrees("...", shape[:rest], parameter):
            return False
        return all(
            dim == "_" or at.agrees(dim, size, parameter)
            if isinstance(dim, str)
            else dim == size
            for dim, size in zip(self.dims, shape[rest:], strict=True)
        )

    def result(self, operation: str, at: Bindings) -> jax.ShapeDtypeStruct:
        """The type of a result, by the names that the operands have given values."""
        missing = [
            name
            for name in (self.variable, *(self.dims or ()))
            if isinstance(name, str) and name not in at.values
        ]
        if self.has_rest and "..." not in at.values:
            missing.append("...")
        element = self.elements[0] if len(self.elements) == 1 else None
        if self.variable is not None:
            element = at.values.get(self.variable)
        if missing or element is None or self.dims is None:
            raise TypeError(
                f"{operation}: result must be one type, of names that the operands "
                f"give, got {self.text!r}"
            )
        sizes = tuple(at.values[d] if isinstance(d, str) else d for d in self.dims)
        before = at.values["..."] if self.has_rest else ()
        return jax.ShapeDtypeStruct((*before, *sizes), types.dtype_of(element))


def parse(text: str, where: str) -> BufferType:
    """The type that a text such as ``"f32[..., n]"`` stands for.

    Raises:
        TypeError: It is no text.
        ValueError: It is another text.
    """
    if not isinstance(text, str):
        raise TypeError(f"{where} must be a text such as 'f32[n,m]', got {text!r}")
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError(f"{where} must be a text such as 'f32[n,m]', got {text!r}")
    elements = found["elements"]
    variable = elements if elements[0].isupper() else None
    names: tuple[str, ...] = ()
    if elements != "*" and variable is None:
        names = tuple({"bool": "pred"}.get(n, n) for n in elements.split("|"))
    for name in names:
        try:
            types.dtype_of(name)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where} must name element types: {error}") from None
    if found["dims"] is None:
        return BufferType(text, names, variable, None, True)
    parts = [part.strip() for part in found["dims"][1:-1].split(",")]
    if parts == [""]:
        parts = []
    has_rest = bool(parts) and parts[0] == "..."
    dims: list[int | str] = []
    for part in parts[has_rest:]:
        if part.isdecimal():
            dims.append(int(part))
        elif part.isidentifier():
            dims.append(part)
        else:
            raise ValueError(
                f"{where} must have sizes or names as dimensions, with '...' in front "
                f"of them for any others, got {text!r}"
            )
    return BufferType(text, names, variable, tuple(dims), has_rest)


def array(
    operation: str, parameter: str, value: Any, type_: BufferType | None
) -> jax.Array:
    """An operand as an array; a Python scalar takes the element type that is wanted."""
    dtype = None if type_ is None else type_.dtype
    if dtype is not None and checks.takes_scalar(np.zeros((), dtype), value):
        value = checks.typed_scalar(operation, parameter, value, dtype)
    return checks.array(operation, parameter, value)


def result_tree(operation: str, value: ResultLike, at: Bindings) -> Any:
    """The tree of types that a result is written as.

    Raises:
        TypeError: A leaf is no type of an array.
    """
    if isinstance(value, list):
        return [result_tree(operation, item, at) for item in value]
    if isinstance(value, tuple):
        items = [result_tree(operation, item, at) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {k: result_tree(operation, item, at) for k, item in value.items()}
    if value is None:
        return None
    if isinstance(value, str) and value.lstrip().startswith("("):
        value = types.Shape.parse(value)
    if isinstance(value, str):
        return parse(value, f"{operation}: result").result(operation, at)
    if isinstance(value, types.Shape):
        if value.is_tuple:
            return tuple(result_tree(operation, s, at) for s in value.tuple_shapes)
        value = checks.array_shape(operation, "result", value)
        return jax.ShapeDtypeStruct(value.dimensions, value.dtype)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return jax.ShapeDtypeStruct(value.shape, value.dtype)
    raise TypeError(
        f"{operation}: result must be a jax.ShapeDtypeStruct, a text such as 'f32[n]', "
        f"or a tree of them, got {checks.describe(value)}"
    )


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
