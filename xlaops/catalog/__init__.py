"""What XLA documents, row by row, and where it is in this package.

One `Record` for every signature of XLA's "Operation semantics" page, and for every
function that only ``xla_builder.h`` declares. It is plain data: the builder, the
documentation, the command line and the tests read it, and no operation does.

>>> from xlaops import catalog
>>> [record.function for record in catalog.by_name("ConcatInDim")]
['concat_in_dim']
"""

from . import arrays, numeric, pointwise, programs, replicas
from .record import Record, Source, Status, snake_case

__all__ = [
    "RECORDS",
    "Record",
    "Source",
    "Status",
    "by_name",
    "find",
    "functions",
    "snake_case",
]

RECORDS: tuple[Record, ...] = (
    *pointwise.RECORDS,
    *arrays.RECORDS,
    *numeric.RECORDS,
    *programs.RECORDS,
    *replicas.RECORDS,
)


def find(word: str) -> list[Record]:
    """Records in which a word occurs, in the catalog's order.

    Args:
      word: part of a name, function, section, StableHLO operation or lax name; case
        does not matter.

    Returns:
      The records, of which there may be none.

    >>> [record.title for record in find("top_k")]
    ['TopK']
    >>> [record.title for record in find("while")]
    ['While']
    """
    wanted = word.casefold()
    return [
        record
        for record in RECORDS
        if any(
            wanted in text.casefold()
            for text in (
                record.name,
                record.function,
                record.section,
                *record.stablehlo,
                *record.lax,
            )
        )
    ]


def by_name(name: str) -> list[Record]:
    """Records of one XlaBuilder name: one for each of its signatures.

    Args:
      name: XlaBuilder's name, exactly.

    Returns:
      The records, of which there may be none.

    >>> [record.signature for record in by_name("Add")]
    ['Add(lhs, rhs)', 'Add(lhs, rhs, broadcast_dimensions)']
    """
    return [record for record in RECORDS if record.name == name]


def functions() -> dict[str, list[Record]]:
    """Records by the function of this package that stands for them.

    Returns:
      From the dotted name below ``xlaops`` to the records, both in the catalog's order;
      records without a function are left out.

    >>> [record.title for record in functions()["reshape"]]
    ['Reshape', 'Reshape (explicit)']
    """
    result: dict[str, list[Record]] = {}
    for record in RECORDS:
        if record.function:
            result.setdefault(record.function, []).append(record)
    return result
