"""Normalisation of the arguments that the types of this package are built from.

Every function returns plain, hashable Python values, so that equal arguments give
equal keys, and raises errors of the form ``{owner}: {name} must {rule}, got {value}``.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Mapping, Set
from typing import Any, TypeVar, cast

import numpy as np

_T = TypeVar("_T")

_SHOWN_CHARACTERS = 200


def shown(value: object) -> str:
    """The representation of a value, cut to a length that fits an error message."""
    text = repr(value)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}... ({len(text)} characters)"


def integer(value: Any, owner: str, name: str, *, minimum: int | None = None) -> int:
    """A Python int from anything that Python itself takes as an index.

    Args:
        value: an int, a NumPy integer or a concrete integer array of rank 0. Booleans
            and floats are refused: they are never meant as a dimension number.
        owner: the operation or class that asks, for the message.
        name: the parameter's name, for the message.
        minimum: the smallest value allowed, if there is one.

    Returns:
        The value as a Python int.

    Raises:
        TypeError: if the value is not an integer.
        ValueError: if it is smaller than ``minimum``.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{owner}: {name} must be an integer, got {shown(value)}")
    try:
        number = operator.index(value)
    except TypeError as error:
        message = f"{owner}: {name} must be an integer, got {shown(value)}"
        raise TypeError(message) from error
    if minimum is not None and number < minimum:
        rule = "non-negative" if minimum == 0 else f"at least {minimum}"
        raise ValueError(f"{owner}: {name} must be {rule}, got {number}")
    return number


def sequence(value: Any, owner: str, name: str, rule: str) -> tuple[Any, ...]:
    """A tuple from any ordered iterable except text.

    Args:
        value: the iterable; text, mappings and sets are refused.
        owner: the operation or class that asks, for the message.
        name: the parameter's name, for the message.
        rule: what the value must be, for the message.

    Raises:
        TypeError: if the value is not an ordered iterable.
    """
    if type(value) is tuple:
        return value
    unordered = (str, bytes, Mapping, Set)
    if isinstance(value, unordered) or not isinstance(value, Iterable):
        raise TypeError(f"{owner}: {name} must be {rule}, got {shown(value)}")
    try:
        return tuple(value)
    except TypeError as error:  # An array of rank 0 has __iter__ and refuses it.
        message = f"{owner}: {name} must be {rule}, got {shown(value)}"
        raise TypeError(message) from error


def integers(
    value: Any, owner: str, name: str, *, minimum: int | None = None
) -> tuple[int, ...]:
    """A tuple of Python ints from a sequence of integers, see :func:`integer`."""
    items = sequence(value, owner, name, "a sequence of integers")
    # What is normal already passes quickly: text of thousands of shapes comes here.
    if all(type(item) is int for item in items) and (
        minimum is None or all(item >= minimum for item in items)
    ):
        return items
    return tuple(
        integer(item, owner, f"{name}[{i}]", minimum=minimum)
        for i, item in enumerate(items)
    )


def distinct_dimensions(value: Any, owner: str, name: str) -> tuple[int, ...]:
    """A tuple of distinct, non-negative dimension numbers."""
    numbers = integers(value, owner, name, minimum=0)
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"{owner}: {name} must be distinct, got {shown(numbers)}")
    return numbers


def from_mapping(cls: type[_T], value: Mapping[Any, Any]) -> _T:
    """Builds a dataclass from a mapping of its field names.

    Raises:
        TypeError: if a name is not one of the fields, or a field without a default is
            missing.
    """
    fields = [f for f in dataclasses.fields(cast(Any, cls)) if f.init]
    accepted = ", ".join(f.name for f in fields)
    unknown = [key for key in value if key not in {f.name for f in fields}]
    if unknown:
        raise TypeError(
            f"{cls.__name__}: keys must be among {accepted}, got {shown(unknown[0])}"
        )
    missing = [
        f.name
        for f in fields
        if f.name not in value
        and f.default is dataclasses.MISSING
        and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise TypeError(
            f"{cls.__name__}: keys must include {', '.join(missing)}, got "
            f"{shown(sorted(map(str, value)))}"
        )
    return cls(**value)


def freeze(instance: object, **values: object) -> None:
    """Sets fields of a frozen dataclass; only for its own ``__post_init__``."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def freeze_dimensions(instance: Any, *names: str) -> None:
    """Makes fields of a frozen dataclass tuples of distinct dimension numbers."""
    owner = type(instance).__name__
    for name in names:
        numbers = distinct_dimensions(getattr(instance, name), owner, name)
        freeze(instance, **{name: numbers})


def require_disjoint(instance: Any, first: str, second: str) -> None:
    """Raises a ValueError if two fields have a dimension number in common."""
    common = set(getattr(instance, first)) & set(getattr(instance, second))
    if common:
        raise ValueError(
            f"{type(instance).__name__}: {first} and {second} must have no dimension "
            f"in common, got {getattr(instance, first)} and {getattr(instance, second)}"
        )


def require_equal_lengths(instance: Any, first: str, second: str) -> None:
    """Raises a ValueError if two fields have different lengths."""
    one, two = getattr(instance, first), getattr(instance, second)
    if len(one) != len(two):
        raise ValueError(
            f"{type(instance).__name__}: {first} and {second} must have the same "
            f"length, got {one} and {two}"
        )


def require_ascending(instance: Any, *names: str) -> None:
    """Raises a ValueError if the numbers of a field are not in ascending order."""
    for name in names:
        numbers = getattr(instance, name)
        if list(numbers) != sorted(numbers):
            raise ValueError(
                f"{type(instance).__name__}: {name} must be in ascending order, got "
                f"{numbers}"
            )
