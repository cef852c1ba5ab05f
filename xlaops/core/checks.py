"""Checks of arguments. A message names the operation, the rule and what broke it."""

import functools
import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from .. import types
from .bounded import BoundedArray

# The kinds of element type, in the letters of numpy.dtype.kind, and what to call them.
_KIND_NAMES = {
    "b": "pred",
    "i": "signed integer",
    "u": "unsigned integer",
    "f": "floating-point",
    "c": "complex",
    "k": "PRNG key",
}
# Into which kinds of element type a Python scalar of a kind goes without loss of
# meaning. A bool is not a number here: XLA has no arithmetic between PRED and numbers.
_SCALAR_INTO = {bool: "b", int: "iufc", float: "fc", complex: "c"}
_WEAK_INTO = {"b": "b", "i": "iufc", "f": "fc", "c": "c"}


@functools.lru_cache(maxsize=256)
def kind(dtype: Any) -> str:
    """The kind of an element type: one of ``b i u f c``, or ``k`` for PRNG keys.

    `numpy.dtype.kind` will not do: it is ``V`` for bfloat16, float8 and int4.
    """
    if jnp.issubdtype(dtype, jax.dtypes.prng_key):
        return "k"
    if dtype == np.bool_:
        return "b"
    for letter, category in (
        ("u", jnp.unsignedinteger),
        ("i", jnp.signedinteger),
        ("f", jnp.floating),
        ("c", jnp.complexfloating),
    ):
        if jnp.issubdtype(dtype, category):
            return letter
    raise TypeError(f"{dtype} is not an element type of XLA")


@functools.lru_cache(maxsize=256)
def bit_width(dtype: Any) -> int:
    """The number of bits of an element type.

    Not of its bytes in numpy, where an int4 has one of its own.
    """
    letter = kind(dtype)
    if letter in "iu":
        return jnp.iinfo(dtype).bits
    return jnp.finfo(dtype).bits if letter == "f" else 8 * dtype.itemsize


def array(operation: str, parameter: str, value: Any) -> Array:
    """``value`` as an array; lists, strings, None and the like are refused."""
    if isinstance(value, Array):
        return value
    if isinstance(value, (bool, int, float, complex)):
        try:
            return jnp.asarray(value)
        except OverflowError:
            raise OverflowError(
                f"{operation}: {parameter} must fit into "
                f"{jax.dtypes.canonicalize_dtype(int)}, got {_short(value)}"
            ) from None
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{operation}: {parameter} must be an array without a mask, "
            f"got {type(value).__name__}"
        )
    if isinstance(value, (np.ndarray, np.generic)):
        # Strings, dates, records and Python objects.
        if not is_element_type(value.dtype):
            raise TypeError(
                f"{operation}: {parameter} must have an element type that XLA has, "
                f"got a numpy array of {value.dtype}"
            )
        return jnp.asarray(value)
    if isinstance(value, BoundedArray):
        raise TypeError(
            f"{operation}: {parameter} must be an array of static size, got "
            f"{value.bounded_shape}. (Tip: xlaops.remove_dynamic_dimension gives one, "
            f"with undefined elements behind those that count.)"
        )
    raise TypeError(
        f"{operation}: {parameter} must be a jax.Array, a numpy array or a scalar, "
        f"got {describe(value)}"
    )


def arrays(operation: str, parameter: str, values: Any) -> tuple[Array, ...]:
    """A non-empty sequence of arrays."""
    if isinstance(values, (Array, np.ndarray, str, bytes)) or not isinstance(
        values, Sequence
    ):
        raise TypeError(
            f"{operation}: {parameter} must be a sequence of arrays, "
            f"got {describe(values)}"
        )
    if not values:
        raise ValueError(f"{operation}: {parameter} must hold at least one array")
    return tuple(
        array(operation, f"{parameter}[{i}]", value) for i, value in enumerate(values)
    )


def one_or_more(values: Any) -> Any:
    """A sequence of arrays; an array or a scalar by itself is one of them.

    XlaBuilder has a form for one operand beside that for many.
    """
    one = isinstance(values, (Array, BoundedArray, np.ndarray, np.generic))
    return (values,) if one or type(values) in (bool, int, float, complex) else values


def numbers(operation: str, parameter: str, values: Sequence[Array]) -> None:
    """Checks that arrays of one parameter hold numbers or PRED, and no PRNG keys."""
    for i, value in enumerate(values):
        element_kind(operation, f"{parameter}[{i}]", value, "biufc")


def same_shape(operation: str, parameter: str, values: Sequence[Array]) -> None:
    """Checks that arrays of one parameter have one shape."""
    for i, value in enumerate(values):
        if value.shape != values[0].shape:
            raise TypeError(
                f"{operation}: {parameter} must have one shape, got "
                f"{values[0].shape} and {value.shape} ({parameter}[{i}])"
            )


@functools.lru_cache(maxsize=256)
def is_element_type(dtype: np.dtype) -> bool:
    """Whether XLA has arrays of a numpy dtype."""
    try:
        types.element_type_name(dtype)
    except TypeError:
        return False
    return True


def describe(value: Any) -> str:
    """A short text for a value in a message: type and shape of arrays, else a repr."""
    if isinstance(value, (Array, np.ndarray, np.generic)):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, BoundedArray):
        return str(value.bounded_shape)
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of length {len(value)}"
    return f"{type(value).__name__} {_short(value)}"


def _short(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an int of {value.bit_length()} bits"  # Python may refuse to print it
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def element_kind(operation: str, parameter: str, value: Array, allowed: str) -> Array:
    """``value``, if the kind of its element type is one of ``allowed``."""
    if kind(value.dtype) not in allowed:
        names = " or ".join(_KIND_NAMES[letter] for letter in allowed)
        raise TypeError(
            f"{operation}: {parameter} must be an array of {names} elements, "
            f"got {describe(value)}"
        )
    return value


def operand(operation: str, parameter: str, value: Any, allowed: str) -> Array:
    """The array of a one-operand operation, of one of the ``allowed`` kinds."""
    return element_kind(
        operation, parameter, array(operation, parameter, value), allowed
    )


def same_element_type(operation: str, **values: ArrayLike) -> tuple[Array, ...]:
    """The arguments as arrays of one element type.

    A Python scalar takes the element type of the others if its kind allows: an int
    becomes any number, a float a floating-point or complex one. A traced Python scalar
    is a 0-d weakly typed array, which is treated alike. Nothing else is converted.
    """
    values = {p: _plain_scalar(v) for p, v in values.items()}
    dtype = None
    for parameter, value in values.items():
        if not _adapts(operation, parameter, value):
            other = dtype
            dtype = element_type_of(value)
            if other is not None and other != dtype:
                _refuse(operation, values)
    if dtype is None:
        # Scalars only: the widest kind decides, as it does between Python numbers.
        converted = [array(operation, p, v) for p, v in values.items()]
        dtype = max((x.dtype for x in converted), key=_width)
        values = dict(zip(values, converted, strict=True))
    return tuple(
        _as_element_type(operation, parameter, value, dtype, values)
        for parameter, value in values.items()
    )


def _plain_scalar(value: Any) -> Any:
    """A member of an enumeration of ints, or the like, as the number that it is."""
    if type(value) not in _SCALAR_INTO and not isinstance(value, np.generic):
        for scalar in _SCALAR_INTO:
            if isinstance(value, scalar):
                return scalar(value)
    return value


def _adapts(operation: str, parameter: str, value: Any) -> bool:
    if type(value) in _SCALAR_INTO:
        return True
    if not isinstance(value, Array):
        array(operation, parameter, value)
        return False
    return value.ndim == 0 and jax.typeof(value).weak_type


def element_type_of(value: Any) -> Any:
    """The element type that JAX gives to an array, 64-bit ones only where enabled."""
    if isinstance(value, Array):
        return value.dtype
    return jax.dtypes.canonicalize_dtype(value.dtype)


def takes_scalar(array: Any, value: Any) -> bool:
    """Whether a Python scalar takes the element type of an array."""
    return hasattr(array, "dtype") and (
        kind(element_type_of(array)) in _SCALAR_INTO.get(type(value), "")
    )


def typed_scalar(operation: str, parameter: str, value: Any, dtype: Any) -> np.ndarray:
    """A Python scalar as an array of an element type of a kind that takes it."""
    if type(value) is int and kind(dtype) in "iu":
        limits = jnp.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(
                f"{operation}: {parameter} must fit into {dtype} "
                f"({limits.min} to {limits.max}), got {_short(value)}"
            )
    with np.errstate(over="ignore", under="ignore"):
        try:
            if type(value) is int and kind(dtype) == "f":
                value = float(value)  # types of ml_dtypes take only ints of 64 bits
            return np.asarray(value, dtype)
        except OverflowError:  # an int beyond the largest float of 64 bits
            raise OverflowError(
                f"{operation}: {parameter} must fit into {dtype}, got {_short(value)}"
            ) from None


def _width(dtype: Any) -> tuple[int, int]:
    return "biufck".index(kind(dtype)), dtype.itemsize


def _as_element_type(
    operation: str, parameter: str, value: Any, dtype: Any, values: Any
) -> Array:
    into = _SCALAR_INTO.get(type(value))
    if into is None:
        value = array(operation, parameter, value)
        if value.dtype == dtype:
            return value
        if kind(dtype) not in _WEAK_INTO.get(kind(value.dtype), ""):
            _refuse(operation, values)
        return lax.convert_element_type(value, dtype)
    if kind(dtype) not in into:
        _refuse(operation, values)
    # Not a jax array: a numpy constant adds nothing to the traced program.
    return cast(Array, typed_scalar(operation, parameter, value, dtype))


def _refuse(operation: str, values: dict[str, Any]) -> None:
    came = ", ".join(f"{p} {_typed(v)}" for p, v in values.items())
    raise TypeError(
        f"{operation}: operands must have the same element type, got {came}. "
        f"(Tip: convert one with xlaops.convert_element_type.)"
    )


def _typed(value: Any) -> str:
    if type(value) in _SCALAR_INTO:
        return f"{type(value).__name__} {value!r}"
    return describe(value)


def dimension(operation: str, parameter: str, value: int, rank: int) -> int:
    """``value``, if it is one of the dimensions ``0 <= value < rank``."""
    if not 0 <= value < rank:
        raise ValueError(
            f"{operation}: {parameter} must be in [0, {rank}) for an operand of rank "
            f"{rank}, got {value}"
        )
    return value


def distinct_dimensions(
    operation: str, parameter: str, values: Sequence[int], rank: int
) -> None:
    """Checks that ``values`` are different dimensions of an array of that rank."""
    if len(set(values)) != len(values) or any(not 0 <= v < rank for v in values):
        raise ValueError(
            f"{operation}: {parameter} must be distinct and in [0, {rank}), "
            f"got {tuple(values)}"
        )


# Normal forms of static arguments (see operation.Normalizer).


def integer(operation: str, parameter: str, value: Any) -> int:
    """A Python int."""
    if type(value) is int:
        return value
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)
        except TypeError as error:
            _explain_tracer(error, operation, parameter)
    raise TypeError(
        f"{operation}: {parameter} must be an integer, got {describe(value)}"
    )


def _explain_tracer(error: TypeError, operation: str, parameter: str) -> None:
    """Raises JAX's own error of a traced value again, with the parameter's name."""
    if isinstance(error, jax.errors.JAXTypeError):
        error.add_note(
            f"{operation}: {parameter} must be known when the program is built"
        )
        raise error


def real_number(operation: str, parameter: str, value: Any) -> float:
    """A Python float; any other real number may be given."""
    if not isinstance(value, (bool, np.bool_, str, bytes)):
        try:
            return float(value)
        except OverflowError:
            raise OverflowError(
                f"{operation}: {parameter} must fit into float64, got {_short(value)}"
            ) from None
        except TypeError as error:
            _explain_tracer(error, operation, parameter)
    raise TypeError(
        f"{operation}: {parameter} must be a real number, got {describe(value)}"
    )


def integers(operation: str, parameter: str, value: Any) -> tuple[int, ...]:
    """A tuple of Python ints; a range, list or 1-d numpy array may be given."""
    if value is None or isinstance(value, (str, bytes, set, frozenset, dict)):
        items = None  # of what has no order, which dimension would be which?
    else:
        try:
            items = tuple(value)
        except TypeError as error:
            _explain_tracer(error, operation, parameter)
            items = None
    if items is None:
        raise TypeError(
            f"{operation}: {parameter} must be a sequence of integers, "
            f"got {describe(value)}"
        )
    return tuple(
        v if type(v) is int else integer(operation, f"{parameter}[{i}]", v)
        for i, v in enumerate(items)
    )


def sizes(operation: str, parameter: str, value: Any) -> tuple[int, ...]:
    """A tuple of non-negative ints."""
    result = integers(operation, parameter, value)
    for size in result:
        if size < 0:
            raise ValueError(
                f"{operation}: {parameter} must not hold negative sizes, got {result}"
            )
    return result


def addressable(
    operation: str, parameter: str, dimensions: Sequence[int], dtype: Any
) -> None:
    """Checks that an array of these sizes has fewer bytes than XLA can count.

    Beyond that XLA before jaxlib 0.12 ends the process.
    """
    if count(dimensions) * dtype.itemsize >= 2**63:  # of a random key as well
        raise ValueError(
            f"{operation}: {parameter} must give an array of less than 2**63 bytes, "
            f"got sizes {tuple(dimensions)} of {dtype}"
        )


def count(dimensions: Sequence[int]) -> int:
    """How many elements XLA counts, which multiplies sizes beside a zero as well.

    Sizes that are symbols of `jax.export` are not known yet.
    """
    return math.prod(n for n in dimensions if isinstance(n, int) and n)


def boolean(operation: str, parameter: str, value: Any) -> bool:
    """A Python bool."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{operation}: {parameter} must be a bool, got {describe(value)}")


def booleans(operation: str, parameter: str, value: Any) -> tuple[bool, ...]:
    """A tuple of Python bools."""
    is_sequence = isinstance(value, (tuple, list, np.ndarray))
    items = tuple(value) if is_sequence else ()
    if not is_sequence or not all(isinstance(v, (bool, np.bool_)) for v in items):
        came = repr(value) if is_sequence else describe(value)
        raise TypeError(
            f"{operation}: {parameter} must be a sequence of bools, got {came:.60}"
        )
    return tuple(bool(v) for v in items)


def element_type(operation: str, parameter: str, value: Any) -> np.dtype:
    """A numpy dtype; XLA's names (``"f32"``, ``"PRED"``) may be given."""
    return coerced(types.dtype_of)(operation, parameter, value)


def optional(normalize: Callable[[str, str, Any], Any]) -> Callable[..., Any]:
    """The normalizer that also takes None."""

    def normalized(operation: str, parameter: str, value: Any) -> Any:
        return None if value is None else normalize(operation, parameter, value)

    return normalized


def coerced(coerce: Callable[[Any], Any]) -> Callable[[str, str, Any], Any]:
    """The normalizer made of a ``coerce`` of `xlaops.types`."""

    def normalized(operation: str, parameter: str, value: Any) -> Any:
        try:
            return coerce(value)
        except (TypeError, ValueError) as error:
            # The class or function that refused it is not what the caller called.
            own = getattr(coerce, "__name__", "coerce")
            rule = re.sub(rf"^([A-Z]\w*(\.\w+)?|{re.escape(own)}): ", "", str(error))
            raise type(error)(f"{operation}: {parameter}: {rule}") from None

    return normalized


def array_shape(operation: str, parameter: str, value: Any) -> types.Shape:
    """The `xlaops.Shape` of an array, static in every dimension."""
    shape = coerced(types.Shape.coerce)(operation, parameter, value)
    if not shape.is_array or not shape.is_static:
        raise ValueError(
            f"{operation}: {parameter} must be the shape of an array with static "
            f"dimensions, got {shape}"
        )
    addressable(operation, parameter, shape.dimensions, shape.dtype)
    return shape


def channel(operation: str, parameter: str, value: Any, kind: types.ChannelType) -> int:
    """The number of a channel of the given type, or of one whose type is left open."""
    handle = coerced(types.ChannelHandle.coerce)(operation, parameter, value)
    if handle.type not in (kind, types.ChannelType.CHANNEL_TYPE_INVALID):
        raise ValueError(
            f"{operation}: {parameter} must be a channel of type {kind.value}, "
            f"got one of type {handle.type.value}"
        )
    return handle.handle
