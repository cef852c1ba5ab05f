"""How the elements of an array lie in memory, as HLO text writes it after the shape."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from .arguments import (
    distinct_dimensions,
    freeze,
    integer,
    integers,
    sequence,
    shown,
)
from .element_type import element_type_name
from .record import Record
from .scanner import Scanner

_UNSIGNED: Final = ("u1", "u2", "u4", "u8", "u16", "u32", "u64")
_DIM_LEVEL_TYPE: Final = re.compile(r"[DCS]\+?~?")


class Tile(Record):
    """The sizes of one tile: the minor-most dimensions are cut into blocks of them.

    Args:
        dimensions: tile sizes, major to minor; :attr:`COMBINE_DIMENSION` (or ``"*"``)
            stands for a dimension that is first combined with the next minor one.

    Example:
        >>> from xlaops.types import Tile
        >>> str(Tile((8, 128)))
        '(8,128)'

    Source:
        XLA's document "Tiled layout".
    """

    COMBINE_DIMENSION: ClassVar[int] = -(2**63)

    dimensions: tuple[int, ...]

    def __post_init__(self) -> None:
        items = sequence(self.dimensions, "Tile", "dimensions", "a sequence of sizes")
        combine = self.COMBINE_DIMENSION
        sizes = integers(
            [combine if isinstance(d, str) and d == "*" else d for d in items],
            "Tile",
            "dimensions",
        )
        if any(size < 0 and size != combine for size in sizes):
            raise ValueError(
                "Tile: dimensions must be non-negative or '*', got "
                f"{shown(self.dimensions)}"
            )
        freeze(self, dimensions=sizes)

    def __str__(self) -> str:
        combine = self.COMBINE_DIMENSION
        sizes = ("*" if size == combine else str(size) for size in self.dimensions)
        return f"({','.join(sizes)})"


class SplitConfig(Record):
    """Where one dimension is split over several memories.

    Args:
        dimension: the dimension that is split.
        split_indices: the indices at which a new part begins.

    Example:
        >>> from xlaops.types import SplitConfig
        >>> str(SplitConfig(1, (0, 4)))
        '(1:0,4)'

    Source:
        ``SplitConfigProto`` of XLA's ``xla_data.proto``.
    """

    dimension: int
    split_indices: tuple[int, ...]

    def __post_init__(self) -> None:
        freeze(
            self,
            dimension=integer(self.dimension, "SplitConfig", "dimension", minimum=0),
            split_indices=integers(
                self.split_indices, "SplitConfig", "split_indices", minimum=0
            ),
        )

    def __str__(self) -> str:
        return f"({self.dimension}:{','.join(map(str, self.split_indices))})"


class Layout(Record):
    """The order of an array's dimensions in memory, with tiles and memory space.

    Args:
        minor_to_major: the dimension numbers from the one whose neighbours lie closest
            together to the one whose neighbours lie farthest apart; a permutation.
        tiles: the tiles, outermost first, as :class:`Tile` or as sequences of sizes;
            printed as ``T(8,128)(2,1)``.
        memory_space: 0 is the device's default memory; printed as ``S(1)``.
        element_size_in_bits: the bits that one element occupies, 0 for the whole bytes
            of its type; printed as ``E(4)``.
        tail_padding_alignment_in_elements: the buffer's size is rounded up to a
            multiple of this; printed as ``L(1024)``.
        index_primitive_type: an unsigned type, printed as ``#(u32)``, or None.
        pointer_primitive_type: an unsigned type, printed as ``*(u32)``, or None.
        dim_level_types: one text for each dimension or nothing: ``D`` dense, ``C``
            compressed, ``S`` singleton, then ``+`` if not unique and ``~`` if not
            ordered; printed as ``D(D,C+~)``. Only older XLA has them.
        split_configs: printed as ``SC(0:3)(1:0,4)``.
        dynamic_shape_metadata_prefix_bytes: the bytes in front of the data that hold
            the sizes of dynamic dimensions; printed as ``M(1024)``.

    Example:
        >>> from xlaops.types import Layout
        >>> layout = Layout.parse("{1,0:T(8,128)(2,1)S(1)}")
        >>> layout.minor_to_major, layout.memory_space
        ((1, 0), 1)
        >>> str(Layout((0, 1), tiles=[(8, 128)]))
        '{0,1:T(8,128)}'

    Source:
        XLA's documents "Shapes and layout" and "Tiled layout".
    """

    minor_to_major: tuple[int, ...]
    tiles: tuple[Tile, ...] = ()
    memory_space: int = 0
    element_size_in_bits: int = 0
    tail_padding_alignment_in_elements: int = 1
    index_primitive_type: str | None = None
    pointer_primitive_type: str | None = None
    dim_level_types: tuple[str, ...] = ()
    split_configs: tuple[SplitConfig, ...] = ()
    dynamic_shape_metadata_prefix_bytes: int = 0

    def __post_init__(self) -> None:
        order = integers(self.minor_to_major, "Layout", "minor_to_major")
        if sorted(order) != list(range(len(order))):
            raise ValueError(
                "Layout: minor_to_major must be a permutation of the dimension numbers "
                f"0 to {len(order) - 1}, got {shown(order)}"
            )
        tiles = sequence(self.tiles, "Layout", "tiles", "a sequence of tiles")
        levels = sequence(
            self.dim_level_types, "Layout", "dim_level_types", "a sequence of texts"
        )
        for level in levels:
            if not isinstance(level, str) or not _DIM_LEVEL_TYPE.fullmatch(level):
                raise ValueError(
                    "Layout: dim_level_types must be D, C or S, then + and ~ where "
                    f"they apply, got {shown(level)}"
                )
        if levels and len(levels) != len(order):
            raise ValueError(
                "Layout: dim_level_types must have one entry for each of the "
                f"{len(order)} dimensions, got {shown(levels)}"
            )
        splits = sequence(
            self.split_configs, "Layout", "split_configs", "a sequence of SplitConfig"
        )
        for split in splits:
            if not isinstance(split, SplitConfig):
                raise TypeError(
                    "Layout: split_configs must be SplitConfig objects, got "
                    f"{shown(split)}"
                )
            if split.dimension >= len(order):
                raise ValueError(
                    "Layout: split_configs must name one of the "
                    f"{len(order)} dimensions, got {split.dimension}"
                )
        distinct_dimensions([s.dimension for s in splits], "Layout", "split_configs")
        freeze(
            self,
            minor_to_major=order,
            tiles=tuple(t if isinstance(t, Tile) else Tile(t) for t in tiles),
            dim_level_types=levels,
            split_configs=splits,
        )
        for name, minimum in _INTEGER_FIELDS.items():
            value = integer(getattr(self, name), "Layout", name, minimum=minimum)
            freeze(self, **{name: value})
        for name in ("index_primitive_type", "pointer_primitive_type"):
            value = getattr(self, name)
            if value is not None:
                freeze(self, **{name: _unsigned_name(value, name)})

    def __str__(self) -> str:
        parts = []
        if self.dim_level_types:
            parts.append(f"D({','.join(self.dim_level_types)})")
        if self.tiles:
            parts.append("T" + "".join(map(str, self.tiles)))
        if self.tail_padding_alignment_in_elements != 1:
            parts.append(f"L({self.tail_padding_alignment_in_elements})")
        if self.index_primitive_type is not None:
            parts.append(f"#({self.index_primitive_type})")
        if self.pointer_primitive_type is not None:
            parts.append(f"*({self.pointer_primitive_type})")
        if self.element_size_in_bits:
            parts.append(f"E({self.element_size_in_bits})")
        if self.memory_space:
            parts.append(f"S({self.memory_space})")
        if self.split_configs:
            parts.append("SC" + "".join(map(str, self.split_configs)))
        if self.dynamic_shape_metadata_prefix_bytes:
            parts.append(f"M({self.dynamic_shape_metadata_prefix_bytes})")
        order = ",".join(map(str, self.minor_to_major))
        return f"{{{order}{':' if parts else ''}{''.join(parts)}}}"

    @property
    def is_row_major(self) -> bool:
        """Whether the last dimension is the minor-most; says nothing about tiles."""
        rank = len(self.minor_to_major)
        return self.minor_to_major == tuple(range(rank - 1, -1, -1))

    @classmethod
    def row_major(cls, rank: int) -> Layout:
        """XLA's default layout: the last dimension is the minor-most, no tiles.

        Example:
            >>> from xlaops.types import Layout
            >>> str(Layout.row_major(3))
            '{2,1,0}'
        """
        size = integer(rank, "Layout.row_major", "rank", minimum=0)
        return cls(tuple(range(size - 1, -1, -1)))

    @classmethod
    def coerce(cls, value: Layout | str | Iterable[int]) -> Layout:
        """A layout from a layout, from HLO text or from its ``minor_to_major``.

        Example:
            >>> from xlaops.types import Layout
            >>> Layout.coerce("{1,0}") == Layout.coerce([1, 0])
            True
        """
        if isinstance(value, Layout):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        return cls(
            sequence(
                value,
                "Layout",
                "value",
                "a Layout, text such as '{1,0}' or the minor_to_major numbers",
            )
        )

    @classmethod
    def parse(cls, text: str) -> Layout:
        """The layout that HLO text writes, braces included.

        Raises:
            ValueError: with the position, if the text is not a layout.
        """
        scanner = Scanner("Layout.parse", text)
        layout = scan_layout(scanner)
        scanner.finish()
        return layout


_INTEGER_FIELDS: Final = {
    "memory_space": 0,
    "element_size_in_bits": 0,
    "tail_padding_alignment_in_elements": 1,
    "dynamic_shape_metadata_prefix_bytes": 0,
}


def scan_layout(scanner: Scanner) -> Layout:
    """Reads a layout from ``{`` to ``}``; attributes come in XLA's order."""
    scanner.expect("{")
    start = scanner.position - 1
    order: list[int] = []
    if not scanner.at(":"):
        order = scanner.integers("a dimension number", "}")
    fields: dict[str, Any] = {}
    if scanner.accept(":"):
        _scan_attributes(scanner, fields)
    if not scanner.accept("}"):
        scanner.fail("a layout attribute (D T L # * E S SC M, in this order) or '}'")
    try:
        return Layout(tuple(order), **fields)
    except (TypeError, ValueError) as error:
        scanner.reject(start, error)


def _scan_attributes(scanner: Scanner, fields: dict[str, Any]) -> None:
    # Attributes are not separated, so "SC(" and "S(" are told apart by whole words.
    if scanner.peek_word() == "D":
        scanner.expect("D")
        fields["dim_level_types"] = _scan_dim_level_types(scanner)
    if scanner.peek_word() == "T":
        scanner.expect("T")
        fields["tiles"] = [_scan_tile(scanner)]
        while scanner.at("("):
            fields["tiles"].append(_scan_tile(scanner))
    if scanner.peek_word() == "L":
        key = "tail_padding_alignment_in_elements"
        fields[key] = _scan_number(scanner, "L")
    for sign, key in (("#", "index_primitive_type"), ("*", "pointer_primitive_type")):
        if scanner.accept(sign):
            scanner.expect("(")
            if scanner.peek_word() not in _UNSIGNED:
                scanner.fail("an unsigned integer type such as u32")
            fields[key] = scanner.word("an unsigned integer type")
            scanner.expect(")")
    if scanner.peek_word() == "E":
        fields["element_size_in_bits"] = _scan_number(scanner, "E")
    if scanner.peek_word() == "S":
        fields["memory_space"] = _scan_number(scanner, "S")
    if scanner.peek_word() == "SC":
        scanner.expect("SC")
        fields["split_configs"] = [_scan_split(scanner)]
        while scanner.at("("):
            fields["split_configs"].append(_scan_split(scanner))
    if scanner.peek_word() == "P":
        scanner.fail("a layout without P(...), the physical shape of a sparse array,")
    if scanner.peek_word() == "M":
        key = "dynamic_shape_metadata_prefix_bytes"
        fields[key] = _scan_number(scanner, "M")


def _scan_number(scanner: Scanner, letter: str) -> int:
    scanner.expect(letter)
    scanner.expect("(")
    number = scanner.integer("an integer")
    scanner.expect(")")
    return number


def _scan_tile(scanner: Scanner) -> Tile:
    scanner.expect("(")
    sizes: list[int] = []
    if not scanner.at(")"):
        while True:
            if scanner.accept("*"):
                sizes.append(Tile.COMBINE_DIMENSION)
            else:
                sizes.append(scanner.integer("a tile size or '*'"))
            if not scanner.accept(","):
                break
    scanner.expect(")")
    return Tile(tuple(sizes))


def _scan_split(scanner: Scanner) -> SplitConfig:
    scanner.expect("(")
    dimension = scanner.integer("a dimension number")
    scanner.expect(":")
    indices = scanner.integers("a split index", ")")
    scanner.expect(")")
    return SplitConfig(dimension, tuple(indices))


def _scan_dim_level_types(scanner: Scanner) -> list[str]:
    scanner.expect("(")
    levels: list[str] = []
    while True:
        scanner.skip()
        match = _DIM_LEVEL_TYPE.match(scanner.text, scanner.position)
        if match is None:
            scanner.fail("a dimension level type (D, C or S)")
        levels.append(match.group())
        scanner.position = match.end()
        if not scanner.accept(","):
            break
    scanner.expect(")")
    return levels


def _unsigned_name(value: Any, name: str) -> str:
    type_name = element_type_name(value)
    if type_name not in _UNSIGNED:
        raise ValueError(
            f"Layout: {name} must be an unsigned integer type, got {type_name}"
        )
    return type_name
