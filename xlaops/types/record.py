"""The base of plain data: named fields, fixed once they are set, compared by value."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class Record:
    """A frozen dataclass, as all of its subclasses are.

    ``dataclasses.dataclass(frozen=True)`` writes and compiles six functions for each
    class, which takes a millisecond. Here only ``__init__`` is written, and the others
    are shared: a subclass is a dataclass without any decorator, and a fifth of that.
    """

    # Also what type checkers know a dataclass by.
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    __match_args__: ClassVar[tuple[str, ...]]
    _compared: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclasses.dataclass(eq=False, repr=False)(cls)
        names = [f.name for f in cls.__dataclass_fields__.values() if f.compare]
        cls._compared = operator.attrgetter(*names)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self._compared(self) == self._compared(other)

    def __hash__(self) -> int:
        return hash(self._compared(self))

    def __repr__(self) -> str:
        fields = [f.name for f in dataclasses.fields(self) if f.repr]
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields)
        return f"{type(self).__qualname__}({values})"

    def __setattr__(self, name: str, value: object) -> None:
        # By __init__, which sets each of its parameters once.
        if name in self.__match_args__ and name not in self.__dict__:
            object.__setattr__(self, name, value)
        else:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
