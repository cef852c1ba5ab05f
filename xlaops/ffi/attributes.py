"""Attributes of foreign calls: typed by a schema, checked, and written as MLIR.

A handler decodes each attribute as one exact type. JAX derives that type from the
Python value at hand, and its cache of eager calls tells attributes apart by value
alone: a call with ``np.float32(1)`` behind one with ``1`` runs the program of the
first. Here a schema fixes the type, and the text of the attributes, with the types in
it, is what tells programs apart.
"""

import dataclasses
import enum
import typing
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from .. import types
from ..core import checks
from ..core.compat import Tracer

# What callers may write for the type of an attribute.
AttributeLike: TypeAlias = "AttributeType | str | type | np.dtype | Mapping[str, Any]"

# Element types that a handler can decode, with MLIR's names.
_MLIR_INTS = {
    f"{letter}{bits}": f"{'ui' if letter == 'u' else 'i'}{bits}"
    for letter in "su"
    for bits in (8, 16, 32, 64)
}
_MLIR_TYPES = {**_MLIR_INTS, "f32": "f32", "f64": "f64"}
_COMPLEX = {"c64": "f32", "c128": "f64"}


class AttributeType:
    """The type of an attribute. See `xlaops.ffi.op` for what one can be written as."""

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        """What the reference is given for a value, and its text as an MLIR attribute.

        Raises:
            TypeError: The value is of another kind.
            ValueError: The value is out of the range of the type.
        """
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Attributes:
    """The attributes of one call; the text, which holds the types, is what counts.

    Attributes:
        text: a dictionary attribute of MLIR.
        values: what the reference is given.
        kinds: what the reference sees and the text does not say: shapes of arrays,
            which the handler gets flat, and Python's types.
    """

    text: str
    values: Mapping[str, Any] = dataclasses.field(compare=False, hash=False)
    kinds: Any = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", _kinds_of(self.values))

    def __repr__(self) -> str:
        return self.text


def _kinds_of(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, Mapping):
        return tuple(_kinds_of(item) for item in value.values())
    if dataclasses.is_dataclass(value):
        fields = (getattr(value, f.name) for f in dataclasses.fields(value) if f.init)
        return type(value), tuple(map(_kinds_of, fields))
    return type(value)


@dataclasses.dataclass(frozen=True)
class _Number(AttributeType):
    """A number of a given width: ``Attr<int32_t>``, ``Attr<float>`` and so on."""

    name: str

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        value = _plain(operation, parameter, value)
        dtype = types.dtype_of(self.name)
        if self.name in _MLIR_INTS:
            number = _exact_integer(operation, parameter, value, self.name)
            limits = np.iinfo(dtype)
            if not limits.min <= number <= limits.max:
                raise ValueError(
                    f"{operation}: {parameter} must fit into {self.name} "
                    f"({limits.min} to {limits.max}), got {checks.describe(value)}"
                )
            return number, f"{number} : {_MLIR_INTS[self.name]}"
        number = _float_of(operation, parameter, value, dtype, self.name)
        return number, _float_text(number, dtype)


@dataclasses.dataclass(frozen=True)
class _Complex(AttributeType):
    """A complex number, as an array of two numbers: XLA's attributes have no other.

    ``Attr<Span<const float>>`` for c64, of doubles for c128.
    """

    name: str

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        value = _plain(operation, parameter, value)
        if isinstance(value, bool) or not isinstance(value, (int, float, complex)):
            raise TypeError(
                f"{operation}: {parameter} must be a complex number, "
                f"got {checks.describe(value)}"
            )
        part = types.dtype_of(_COMPLEX[self.name])
        number = complex(value)
        parts = [
            _float_of(operation, parameter, p, part, self.name)
            for p in (number.real, number.imag)
        ]
        return complex(*parts), _array_text(np.array(parts, part), _COMPLEX[self.name])


@dataclasses.dataclass(frozen=True)
class _Bool(AttributeType):
    """``Attr<bool>``."""

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        value = _plain(operation, parameter, value)
        if not isinstance(value, bool):
            raise TypeError(
                f"{operation}: {parameter} must be a bool, got {checks.describe(value)}"
            )
        return value, "true" if value else "false"


@dataclasses.dataclass(frozen=True)
class _Text(AttributeType):
    """``Attr<std::string_view>``."""

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        if not isinstance(value, (str, bytes)):
            raise TypeError(
                f"{operation}: {parameter} must be a str or bytes, "
                f"got {checks.describe(value)}"
            )
        try:
            octets = value if isinstance(value, bytes) else value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{operation}: {parameter} must be text that UTF-8 has, "
                f"got {value!r}: {error}"
            ) from None
        return value, _quoted(octets)


@dataclasses.dataclass(frozen=True)
class _Array(AttributeType):
    """``Attr<Span<const T>>``: an array, which the handler sees flat."""

    name: str

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        _refuse_traced(operation, parameter, value)
        dtype = types.dtype_of(self.name)
        try:
            given = np.asarray(value)
        except ValueError as error:
            raise TypeError(
                f"{operation}: {parameter} must be an array of {self.name}, "
                f"got {checks.describe(value)}: {error}"
            ) from None
        if given.size == 0 and not isinstance(value, np.ndarray):
            given = given.astype(dtype)
        kinds = "iu" if self.name in _MLIR_INTS else "iuf"
        if given.dtype.kind not in kinds:
            raise TypeError(
                f"{operation}: {parameter} must be an array of {self.name}, "
                f"got {checks.describe(value)}"
            )
        with np.errstate(all="ignore"):
            array = given.astype(dtype)
        if self.name in _MLIR_INTS:
            is_same = [int(x) for x in array.flat] == [int(x) for x in given.flat]
        else:
            is_same = bool(np.all(np.isfinite(array) | ~np.isfinite(given)))
        if not is_same:
            raise ValueError(
                f"{operation}: {parameter} must hold numbers that fit into "
                f"{self.name}, got {checks.describe(value)}"
            )
        array.flags.writeable = False
        return array, _array_text(array, self.name)


@dataclasses.dataclass(frozen=True)
class _Member(AttributeType):
    """A member of a Python enumeration: a C++ enum over an integer type."""

    members: type[enum.Enum]
    name: str

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        _refuse_traced(operation, parameter, value)
        member = value
        known = ", ".join(self.members.__members__)
        if isinstance(value, enum.Enum) and not isinstance(value, self.members):
            # Not any enumeration: a member of one is not the same-numbered of another.
            raise TypeError(
                f"{operation}: {parameter} must be a {self.members.__name__} "
                f"({known}), got {value!r}"
            )
        if isinstance(value, str) and not isinstance(value, enum.Enum):
            member = self.members.__members__.get(value)
        elif not isinstance(value, enum.Enum):
            number = _exact_integer(
                operation,
                parameter,
                _plain(operation, parameter, value),
                f"a {self.members.__name__} ({known})",
            )
            try:
                member = self.members(number)
            except ValueError:
                member = None
        if member is None:
            raise ValueError(
                f"{operation}: {parameter} must be one of {self.members.__name__} "
                f"({known}), got {checks.describe(value)}"
            )
        _, text = _Number(self.name).normalize(operation, parameter, member.value)
        return member, text


@dataclasses.dataclass(frozen=True)
class _Record(AttributeType):
    """A dictionary of known names: ``Attr<Dictionary>`` or a C++ struct.

    ``make`` makes of the values what the reference is given: the dataclass, or a dict.
    """

    fields: tuple[tuple[str, AttributeType], ...]
    defaults: Mapping[str, Any] = dataclasses.field(hash=False)
    make: type

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        _refuse_traced(operation, parameter, value)
        make = self.make
        if make is not dict and isinstance(value, make):
            value = {name: getattr(value, name) for name, _ in self.fields}
        if not isinstance(value, Mapping):
            wanted = "mapping" if make is dict else make.__name__
            raise TypeError(
                f"{operation}: {parameter} must be a {wanted}, "
                f"got {checks.describe(value)}"
            )
        values, text = normalize_all(
            operation, dict(self.fields), {**self.defaults, **value}, f"{parameter}."
        )
        return make(**values), text


@dataclasses.dataclass(frozen=True)
class _Open(AttributeType):
    """A dictionary of any names, whose values have the types that they come with."""

    def normalize(self, operation: str, parameter: str, value: Any) -> tuple[Any, str]:
        _refuse_traced(operation, parameter, value)
        if not isinstance(value, Mapping):
            raise TypeError(
                f"{operation}: {parameter} must be a mapping, "
                f"got {checks.describe(value)}"
            )
        schema = {}
        for name, item in value.items():
            if not isinstance(name, str) or not name:
                raise TypeError(
                    f"{operation}: {parameter} must have names as keys, got {name!r}"
                )
            schema[name] = type_of_value(operation, f"{parameter}.{name}", item)
        return normalize_all(operation, schema, value, f"{parameter}.")


def attribute_type(
    value: AttributeLike, where: str = "op: attributes"
) -> AttributeType:
    """The type that a user writes as in `xlaops.ffi.op`.

    Args:
        value: what was written.
        where: what messages call the place.

    Raises:
        TypeError: It stands for no type.
        ValueError: It is the name of none, or of one that handlers cannot decode.
    """
    if isinstance(value, AttributeType):
        return value
    if isinstance(value, Mapping):
        return _Record(_fields_of(value, where), {}, dict)
    if typing.get_origin(value) is typing.Annotated:
        return attribute_type(typing.get_args(value)[1], where)
    if value is None:  # which NumPy takes for float64
        raise TypeError(f"{where} must be the type of an attribute, got None")
    if isinstance(value, type):
        found = _type_of_class(value, where)
        if found is not None:
            return found
    text = value
    if not isinstance(text, str):
        try:
            text = types.element_type_name(np.dtype(value))  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(
                f"{where} must be the type of an attribute, got {value!r}"
            ) from None
    element, bracket, rest = text.strip().partition("[")
    element = {"bool": "pred"}.get(element, element)
    if bracket and rest.strip() == "]":
        if element in _MLIR_TYPES:
            return _Array(element)
    elif not bracket:
        if element == "pred":
            return _Bool()
        if element in ("str", "string"):
            return _Text()
        if element in _MLIR_TYPES:
            return _Number(element)
        if element in _COMPLEX:
            return _Complex(element)
    known = "pred, str, " + ", ".join([*_MLIR_TYPES, *_COMPLEX])
    raise ValueError(
        f"{where} must be one of {known}, or an array of ints or floats such as "
        f"'f32[]', got {value!r}"
    )


def enumeration(members: type[enum.Enum], element_type: str = "s32") -> AttributeType:
    """The attribute type of a C++ enum over another integer type than ``int32_t``.

    Args:
        members: a Python enumeration with the numbers of the C++ one.
        element_type: the integer type below the C++ one.

    Returns:
        What `xlaops.ffi.op` takes as the type of an attribute.

    Raises:
        TypeError: ``members`` is no enumeration, or has a member that is no int.
        ValueError: ``element_type`` is no integer type, or a member does not fit.

    Example:
        >>> import enum, xlaops.ffi
        >>> class Mode(enum.Enum):
        ...     FAST = 1
        >>> mode = xlaops.ffi.enumeration(Mode, "u8")

    Source: "User-defined enum attributes" of XLA's *Custom calls* document.
    """
    if not isinstance(members, type) or not issubclass(members, enum.Enum):
        raise TypeError(f"enumeration: members must be an enumeration, got {members!r}")
    if element_type not in _MLIR_INTS:
        raise ValueError(
            f"enumeration: element_type must be one of {', '.join(_MLIR_INTS)}, "
            f"got {element_type!r}"
        )
    for member in members:
        _Number(element_type).normalize("enumeration", str(member), member.value)
    return _Member(members, element_type)


def record_of(value: Any, where: str = "op: attributes") -> dict[str, AttributeType]:
    """The schema that a mapping, or a dataclass, is."""
    if isinstance(value, Mapping):
        return dict(_fields_of(value, where))
    if isinstance(value, type) and dataclasses.is_dataclass(value):
        found = _type_of_class(value, where)
        assert isinstance(found, _Record)
        return dict(found.fields)
    raise TypeError(
        f"{where} must be a mapping from names to types, a dataclass or dict, "
        f"got {checks.describe(value)}"
    )


def defaults_of(value: Any) -> dict[str, Any]:
    """The defaults of a dataclass's fields, as far as they are given to it."""
    found = {}
    for field in dataclasses.fields(value):
        if not field.init:
            continue
        if field.default is not dataclasses.MISSING:
            found[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
    return found


def normalize_all(
    operation: str,
    schema: Mapping[str, AttributeType],
    values: Mapping[str, Any],
    prefix: str = "",
) -> tuple[dict[str, Any], str]:
    """What the reference is given for named values, and the text of all of them.

    Raises:
        TypeError: A name is missing or unknown, or a value is of another kind.
        ValueError: A value is out of range.
    """
    for name in values:
        if name not in schema:
            known = ", ".join(schema) or "none"
            raise TypeError(
                f"{operation}: {prefix}{name} must be a known attribute ({known})"
            )
    normal, texts = {}, []
    for name, type_ in schema.items():
        if name not in values:
            raise TypeError(f"{operation}: {prefix}{name} must be given")
        normal[name], text = type_.normalize(operation, prefix + name, values[name])
        texts.append(f"{_quoted(name.encode())} = {text}")
    return normal, "{" + ", ".join(texts) + "}"


def type_of_value(operation: str, parameter: str, value: Any) -> AttributeType:
    """The type of a value that no schema describes, which is that of JAX's own calls.

    Python's ints and floats have 64 bits, NumPy's numbers and arrays their own types.
    """
    _refuse_traced(operation, parameter, value)
    if isinstance(value, Mapping):
        return _Open()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return attribute_type(type(value), f"{operation}: {parameter}")
    if isinstance(value, enum.Enum) and not isinstance(value, (str, bytes)):
        return _Member(type(value), "s32")
    for kind, type_ in _OF_PYTHON.items():
        if isinstance(value, kind):
            return type_
    if isinstance(value, (np.ndarray, np.generic)):
        name = types.element_type_name(value.dtype)
        if isinstance(value, np.generic) and name == "pred":
            return _Bool()
        if isinstance(value, np.generic) and name in _COMPLEX:
            return _Complex(name)
        if name in _MLIR_TYPES:
            return _Number(name) if isinstance(value, np.generic) else _Array(name)
    raise TypeError(
        f"{operation}: {parameter} must be a number, a text, an array of ints or "
        f"floats or a mapping, got {checks.describe(value)}"
    )


# In this order: a bool is an int.
_OF_PYTHON: dict[type, AttributeType] = {
    bool: _Bool(),
    int: _Number("s64"),
    float: _Number("f64"),
    complex: _Complex("c128"),
    str: _Text(),
    bytes: _Text(),
}


def _type_of_class(value: type, where: str) -> AttributeType | None:
    if value is dict:
        return _Open()
    if issubclass(value, enum.Enum):
        return enumeration(value)
    if dataclasses.is_dataclass(value):
        hints = typing.get_type_hints(value, include_extras=True)
        names = {f.name: hints[f.name] for f in dataclasses.fields(value) if f.init}
        return _Record(_fields_of(names, where), defaults_of(value), value)
    return _OF_PYTHON.get(value)


def _fields_of(
    names: Mapping[str, Any], where: str
) -> tuple[tuple[str, AttributeType], ...]:
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"{where} must have identifiers as names, got {name!r}")
    return tuple(
        (name, attribute_type(type_, f"{where}[{name!r}]"))
        for name, type_ in names.items()
    )


def _plain(operation: str, parameter: str, value: Any) -> Any:
    """A number of NumPy, or an array of one, as a number of Python."""
    _refuse_traced(operation, parameter, value)
    if isinstance(value, enum.Enum):
        return value
    if isinstance(value, (np.generic, np.ndarray)) or hasattr(value, "__jax_array__"):
        if np.ndim(value) == 0:
            return np.asarray(value).item()
    elif hasattr(value, "dtype") and np.ndim(value) == 0:
        return np.asarray(value).item()  # an array of JAX
    return value


def _refuse_traced(operation: str, parameter: str, value: Any) -> None:
    if isinstance(value, Tracer):
        raise TypeError(
            f"{operation}: {parameter} must be known when the program is traced, since "
            f"it is an attribute, got a traced {checks.describe(value)}. (Tip: what is "
            f"computed goes to a handler as an operand; for jax.jit there is "
            f"static_argnames.)"
        )


def _exact_integer(operation: str, parameter: str, value: Any, wanted: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{operation}: {parameter} must be an int for {wanted}, "
            f"got {checks.describe(value)}"
        )
    return int(value)


def _float_of(
    operation: str, parameter: str, value: Any, dtype: np.dtype, wanted: str
) -> float:
    if isinstance(value, (bool, enum.Enum)) or not isinstance(value, (int, float)):
        raise TypeError(
            f"{operation}: {parameter} must be a number for {wanted}, "
            f"got {checks.describe(value)}"
        )
    try:
        with np.errstate(all="ignore"):
            rounded = float(dtype.type(value))
        overflows = np.isinf(rounded) and not np.isinf(float(value))
    except OverflowError:  # an int beyond the largest float
        overflows, rounded = True, 0.0
    if overflows:
        raise ValueError(
            f"{operation}: {parameter} must fit into {wanted}, "
            f"got {checks.describe(value)}"
        )
    return rounded


def _float_text(value: float, dtype: np.dtype) -> str:
    # By its bits: decimal text would lose the sign of zero to some readers, and NaN.
    bits = np.array(value, dtype).view(f"u{dtype.itemsize}").item()
    return f"0x{bits:0{2 * dtype.itemsize}X} : f{8 * dtype.itemsize}"


def _array_text(array: np.ndarray, name: str) -> str:
    type_ = f"tensor<{array.size}x{_MLIR_TYPES[name]}>"
    if array.size == 0:
        return f"dense<> : {type_}"
    return f'dense<"0x{array.tobytes().hex().upper()}"> : {type_}'


def _quoted(octets: bytes) -> str:
    plain = set(b" !#$%&'()*+,-./:;<=>?@[]^_`{|}~") | set(range(48, 58))
    plain |= set(range(65, 91)) | set(range(97, 123))
    return '"' + "".join(chr(b) if b in plain else f"\\{b:02X}" for b in octets) + '"'
