"""The record of one operation, and the constructor that the tables use."""

import dataclasses
import keyword
import re
from typing import Literal

Status = Literal["implemented", "hlo-only"]
Source = Literal["document", "header"]


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """One signature of XLA's "Operation semantics" page or of ``xla_builder.h``.

    Attributes:
      name: XlaBuilder's name, such as ``"Add"``.
      variant: what tells apart several signatures of one name, such as
        ``"broadcast_dimensions"``; empty for the plain one.
      section: the heading of the "Operation semantics" page that describes it; for a
        function that only the header declares, the heading it is a form of, or empty.
      parameters: names in the document's order and spelling; a sequence that the
        document writes with dots (``operands...``) is one name.
      stablehlo: operations that it lowers to, with their dialect, or that the note
        says it stands for.
      lax: nearest public names below ``jax.lax``.
      function: dotted name below ``xlaops``; empty where there is none.
      status: ``"implemented"``, or ``"hlo-only"``: nothing that a user's program
        constructs, and the note says what stands for it; the function, where there is
        one, raises an error that does.
      family: page of the documentation, and module of the function.
      source: ``"document"``, or ``"header"`` where only ``xla_builder.h`` has it.
      note: how it differs from lax, which defect of the document was resolved and how,
        or what stands for it.
    """

    name: str
    variant: str
    section: str
    parameters: tuple[str, ...]
    stablehlo: tuple[str, ...]
    lax: tuple[str, ...]
    function: str
    status: Status
    family: str
    source: Source
    note: str

    @property
    def title(self) -> str:
        """The name, with the variant in parentheses where there is one."""
        return f"{self.name} ({self.variant})" if self.variant else self.name

    @property
    def signature(self) -> str:
        """The name with its parameters, as the document writes a signature."""
        return f"{self.name}({', '.join(self.parameters)})"


def snake_case(name: str) -> str:
    """Name of the function that stands for an XlaBuilder name.

    Args:
      name: a CamelCase name.

    Returns:
      The name in snake_case, with an underscore behind a Python keyword.

    >>> snake_case("ConcatInDim"), snake_case("Log1p"), snake_case("PartitionID")
    ('concat_in_dim', 'log1p', 'partition_id')
    >>> snake_case("And"), snake_case("While")
    ('and_', 'while_')
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return snake + "_" if keyword.iskeyword(snake) else snake


def row(
    status: Status,
    name: str,
    parameters: str = "",
    *,
    variant: str = "",
    section: str | None = None,
    stablehlo: str = "",
    lax: str = "",
    function: str | None = None,
    source: Source = "document",
    note: str = "",
) -> Record:
    """One record of a table, without its family (see `in_family`).

    Args:
      status: see `Record`.
      name: XlaBuilder's name.
      parameters: names, separated by spaces; so are `stablehlo` and `lax`.
      variant: see `Record`.
      section: heading; the name itself unless given, empty for the header's.
      stablehlo: operations, with their dialect.
      lax: names below ``jax.lax``.
      function: the name in snake_case unless given.
      source: see `Record`.
      note: see `Record`.

    Returns:
      The record.
    """
    if section is None:
        section = name if source == "document" else ""
    return Record(
        name=name,
        variant=variant,
        section=section,
        parameters=tuple(parameters.split()),
        stablehlo=tuple(stablehlo.split()),
        lax=tuple(lax.split()),
        function=snake_case(name) if function is None else function,
        status=status,
        family="",
        source=source,
        note=note,
    )


def in_family(family: str, *records: Record) -> tuple[Record, ...]:
    """The records with their family filled in.

    >>> [r.family for r in in_family("shape", row("implemented", "Rev"))]
    ['shape']
    """
    return tuple(dataclasses.replace(record, family=family) for record in records)
