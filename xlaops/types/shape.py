"""Shapes of arrays, tuples and tokens, printed and parsed as HLO text writes them."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, TypeAlias

import jax
import numpy as np

from .arguments import freeze, integers, sequence, shown
from .element_type import (
    ARRAY_ELEMENT_TYPES,
    SPECIAL_ELEMENT_TYPES,
    dtype_of,
    element_type_name,
)
from .layout import Layout, scan_layout
from .record import Record
from .scanner import INT64_MAX, Scanner

# In the body of Shape, "tuple" is the constructor Shape.tuple: these stand in for it.
_tuple = tuple
Sizes: TypeAlias = tuple[int, ...]
Flags: TypeAlias = tuple[bool, ...]
Shapes: TypeAlias = tuple["Shape", ...]

MAX_NESTING: Final = 200
"""How deep tuples may nest; deeper ones would exhaust Python's stack when printed."""

_NO_LAYOUT: Final = Layout(())

# What most arrays look like in a dump; anything else is read token by token.
_PLAIN_ARRAY: Final = re.compile(
    r"[a-z][a-z0-9]{1,14}\[[0-9,<=?]{0,80}\](?:\{[0-9:][0-9A-Z,:()#*a-z]{0,80}\})?"
)

# XLA marks every fifth element of a long tuple with a comment that holds its index.
_INDEX_COMMENT_INTERVAL: Final = 5


class Shape(Record):
    """An element type with dimensions and a layout, or a tuple of shapes.

    The constructors :meth:`array`, :meth:`tuple`, :meth:`token`, :meth:`opaque`,
    :meth:`buffer`, :meth:`parse` and :meth:`coerce` say what is meant best. ``str``
    gives the HLO text, and ``Shape.parse(str(shape)) == shape`` holds for each shape.

    Args:
        element_type: XLA's name in lower case, or anything that
            :func:`~xlaops.types.dtype_of` takes; ``"token"``, ``"opaque"``, ``"tuple"``
            and ``"buffer"`` for the shapes that are not arrays.
        dimensions: the sizes, each below 2**63; :attr:`UNBOUNDED` in a dynamic
            dimension without a bound.
        layout: a :class:`Layout`, its text or its ``minor_to_major``; None leaves it to
            the compiler. The layout of a scalar that says nothing is None.
        dynamic_dimensions: whether the size of each dimension is only an upper bound;
            nothing means that none is.
        tuple_shapes: the shapes inside a tuple or buffer.

    Raises:
        TypeError, ValueError: if the parts do not fit each other.

    Example:
        >>> from xlaops.types import Shape
        >>> shape = Shape.parse("(f32[2,3]{1,0}, s32[<=10])")
        >>> shape.tuple_shapes[0].dimensions
        (2, 3)
        >>> shape.is_static
        False
        >>> str(Shape.array("bf16", (8, 128), layout=(1, 0)))
        'bf16[8,128]{1,0}'

    Source:
        XLA's document "Shapes and layout" and ``ShapeProto`` of ``xla_data.proto``.
    """

    UNBOUNDED: ClassVar[int] = -1

    element_type: str
    dimensions: Sizes = ()
    layout: Layout | None = None
    dynamic_dimensions: Flags = ()
    tuple_shapes: Shapes = ()
    _depth: int = dataclasses.field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        special = self.element_type
        if isinstance(special, str) and special.lower() in SPECIAL_ELEMENT_TYPES:
            freeze(self, element_type=special.lower())
            self._freeze_special()
        else:
            freeze(self, element_type=element_type_name(special))
            self._freeze_array()

    def _freeze_array(self) -> None:
        sizes = integers(self.dimensions, "Shape", "dimensions")
        dynamic = _flags(self.dynamic_dimensions, len(sizes))
        for size, is_dynamic in zip(sizes, dynamic, strict=True):
            unbounded = is_dynamic and size == self.UNBOUNDED
            if not unbounded and not 0 <= size <= INT64_MAX:
                raise ValueError(
                    "Shape: dimensions must be non-negative and below 2**63, got "
                    f"{shown(sizes)}"
                )
        layout = None if self.layout is None else Layout.coerce(self.layout)
        if layout is not None and len(layout.minor_to_major) != len(sizes):
            raise ValueError(
                "Shape: layout must order each of the "
                f"{len(sizes)} dimensions, got {layout}"
            )
        # HLO text has no way to write an empty layout of a scalar.
        if not sizes and layout == _NO_LAYOUT:
            layout = None
        if self.tuple_shapes:
            raise ValueError(
                "Shape: tuple_shapes must be empty for element type "
                f"{self.element_type}, got {shown(self.tuple_shapes)}"
            )
        freeze(
            self,
            dimensions=sizes,
            layout=layout,
            dynamic_dimensions=dynamic,
            tuple_shapes=(),
        )

    def _freeze_special(self) -> None:
        kind = self.element_type
        for name in ("dimensions", "layout", "dynamic_dimensions"):
            value = getattr(self, name)
            if value is not None and value != ():
                raise ValueError(
                    f"Shape: {name} must be empty for element type {kind}, got {value}"
                )
        shapes: _tuple[Any, ...] = ()
        if self.tuple_shapes is not None:
            shapes = sequence(
                self.tuple_shapes, "Shape", "tuple_shapes", "a sequence of shapes"
            )
        for shape in shapes:
            if not isinstance(shape, Shape):
                raise TypeError(
                    f"Shape: tuple_shapes must be Shape objects, got {shown(shape)}"
                )
        if kind == "buffer":
            if len(shapes) != 1 or not shapes[0].is_array:
                raise ValueError(
                    "Shape: tuple_shapes must be one array shape in a buffer, got "
                    f"{shown(shapes)}"
                )
        elif kind != "tuple" and shapes:
            raise ValueError(
                f"Shape: tuple_shapes must be empty for element type {kind}, got "
                f"{shown(shapes)}"
            )
        depth = 0
        if kind == "tuple":
            depth = 1 + max((shape._depth for shape in shapes), default=0)
        if depth > MAX_NESTING:
            raise ValueError(
                f"Shape: tuple_shapes must nest at most {MAX_NESTING} deep, got {depth}"
            )
        freeze(
            self,
            dimensions=(),
            layout=None,
            dynamic_dimensions=(),
            tuple_shapes=shapes,
            _depth=depth,
        )

    # Constructors

    @classmethod
    def array(
        cls,
        element_type: Any,
        dimensions: Iterable[int] = (),
        *,
        layout: Layout | str | Iterable[int] | None = None,
        dynamic: Iterable[bool] | None = None,
    ) -> Shape:
        """The shape of an array.

        Args:
            element_type: an XLA name or anything dtype-like.
            dimensions: the sizes.
            layout: a layout, its text or its ``minor_to_major``.
            dynamic: whether each size is only an upper bound.

        Example:
            >>> from xlaops.types import Shape
            >>> str(Shape.array("f32", (10, 3), dynamic=(True, False)))
            'f32[<=10,3]'
        """
        name = element_type_name(element_type)
        if name not in ARRAY_ELEMENT_TYPES:
            raise TypeError(
                "Shape.array: element_type must be one that an array can have, got "
                f"{shown(element_type)}"
            )
        return cls(
            name,
            sequence(dimensions, "Shape.array", "dimensions", "a sequence of integers"),
            None if layout is None else Layout.coerce(layout),
            ()
            if dynamic is None
            else sequence(dynamic, "Shape.array", "dynamic", "a sequence of booleans"),
        )

    @classmethod
    def tuple(cls, shapes: Iterable[Any] = ()) -> Shape:
        """The shape of a tuple; each item is what :meth:`coerce` takes.

        Example:
            >>> from xlaops.types import Shape
            >>> str(Shape.tuple(["f32[2]", ["pred[]", Shape.token()]]))
            '(f32[2], (pred[], token[]))'
        """
        items = sequence(shapes, "Shape.tuple", "shapes", "a sequence of shapes")
        return cls.coerce(items)

    @classmethod
    def token(cls) -> Shape:
        """The shape of a token, which orders side effects and holds no data."""
        return cls("token")

    @classmethod
    def opaque(cls) -> Shape:
        """The shape of a value that XLA knows nothing about."""
        return cls("opaque")

    @classmethod
    def buffer(cls, shape: Any) -> Shape:
        """The shape of a buffer (a mutable array), which HLO text writes ``b(...)``.

        Example:
            >>> from xlaops.types import Shape
            >>> str(Shape.buffer("f32[2]{0}"))
            'b(f32[2]{0})'
        """
        return cls("buffer", tuple_shapes=(cls.coerce(shape),))

    @classmethod
    def coerce(cls, value: Any) -> Shape:
        """A shape from whatever describes one.

        Args:
            value: a :class:`Shape`, a ``jax.ShapeDtypeStruct``, HLO text, any object
                with a shape and a dtype (a JAX or NumPy array, a tracer), or a tuple or
                list of these, which becomes a tuple shape.

        Raises:
            TypeError: if the value is none of these.
            ValueError: if text cannot be parsed or lists nest too deep.

        Example:
            >>> import jax, jax.numpy as jnp
            >>> from xlaops.types import Shape
            >>> str(Shape.coerce((jax.ShapeDtypeStruct((2,), jnp.int8), "f32[]")))
            '(s8[2], f32[])'
        """
        return cls._coerce(value, 0)

    @classmethod
    def _coerce(cls, value: Any, depth: int) -> Shape:
        if isinstance(value, Shape):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        # A NamedTuple that happens to have a shape and a dtype describes an array.
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return cls(element_type_name(value.dtype), value.shape)
        if isinstance(value, (list, _tuple)):
            if depth >= MAX_NESTING:
                raise ValueError(
                    f"Shape.coerce: value must nest at most {MAX_NESTING} deep, got "
                    "deeper lists"
                )
            items = _tuple(cls._coerce(item, depth + 1) for item in value)
            return cls("tuple", tuple_shapes=items)
        raise TypeError(
            "Shape.coerce: value must be a Shape, a jax.ShapeDtypeStruct, text such as "
            "'f32[2,3]', an object with a shape and a dtype, or a tuple or list of "
            f"these, got {shown(value)}"
        )

    @classmethod
    def parse(cls, text: str) -> Shape:
        """The shape that HLO text writes.

        White space and ``/* */`` comments may stand between any two tokens.

        Raises:
            ValueError: with the position, if the text is not a shape.

        Example:
            >>> from xlaops.types import Shape
            >>> Shape.parse("f32[4,<=8]{1,0:T(8,128)S(1)}").layout.memory_space
            1
            >>> Shape.parse("f32[4,]")
            Traceback (most recent call last):
                ...
            ValueError: Shape.parse: expected a dimension size at position 6, got ']'
        """
        scanner = Scanner("Shape.parse", text)
        shape = _scan_shape(scanner)
        scanner.finish()
        return shape

    @classmethod
    def parse_prefix(cls, text: str, start: int = 0) -> _tuple[Shape, int]:
        """The shape that begins at a position of longer HLO text, and where it ends.

        A brace after the dimensions counts as a layout only if a number or a colon
        follows it, as in XLA: it may as well open the body of a computation.

        Example:
            >>> from xlaops.types import Shape
            >>> text = "(f32[2]) -> f32[2] { ROOT r = ..."
            >>> shape, end = Shape.parse_prefix(text, 12)
            >>> str(shape), text[end:]
            ('f32[2]', ' { ROOT r = ...')
        """
        scanner = Scanner("Shape.parse", text, start)
        return _scan_shape(scanner), scanner.position

    # Text

    def __str__(self) -> str:
        if self.is_tuple:
            return f"({_joined(self.tuple_shapes)})"
        if self.is_buffer:
            return f"b({self.tuple_shapes[0]})"
        flags = self.dynamic_dimensions
        sizes = ",".join(map(_dimension_text, self.dimensions, flags))
        return f"{self.element_type}[{sizes}]{self.layout or ''}"

    def __repr__(self) -> str:
        return f"Shape.parse({str(self)!r})"

    # Properties

    @property
    def rank(self) -> int:
        """The number of dimensions; 0 for what is not an array."""
        return len(self.dimensions)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of an array's elements.

        Raises:
            TypeError: if the shape is not that of an array.
        """
        self._require_array("dtype")
        return dtype_of(self.element_type)

    @property
    def is_array(self) -> bool:
        """Whether this is the shape of an array (a scalar is an array of rank 0)."""
        return self.element_type not in SPECIAL_ELEMENT_TYPES

    @property
    def is_tuple(self) -> bool:
        """Whether this is the shape of a tuple."""
        return self.element_type == "tuple"

    @property
    def is_token(self) -> bool:
        """Whether this is the shape of a token."""
        return self.element_type == "token"

    @property
    def is_opaque(self) -> bool:
        """Whether this is the shape of an opaque value."""
        return self.element_type == "opaque"

    @property
    def is_buffer(self) -> bool:
        """Whether this is the shape of a buffer."""
        return self.element_type == "buffer"

    @property
    def is_static(self) -> bool:
        """Whether no dimension, also inside tuples, is dynamic."""
        if any(self.dynamic_dimensions):
            return False
        return all(shape.is_static for shape in self.tuple_shapes)

    def is_dynamic_dimension(self, dimension: int) -> bool:
        """Whether the size of a dimension is only an upper bound.

        Raises:
            TypeError: if the shape is not that of an array.
            ValueError: if there is no such dimension; negative numbers do not count
                from the end.
        """
        self._require_array("is_dynamic_dimension")
        (number,) = integers([dimension], "Shape.is_dynamic_dimension", "dimension")
        if not 0 <= number < self.rank:
            raise ValueError(
                "Shape.is_dynamic_dimension: dimension must be at least 0 and below "
                f"{self.rank}, got {number}"
            )
        return self.dynamic_dimensions[number]

    @property
    def element_count(self) -> int:
        """The number of elements; a dynamic dimension counts with its bound.

        Raises:
            TypeError: if the shape is not that of an array.
            ValueError: if a dimension is unbounded.
        """
        self._require_array("element_count")
        self._require_bounds("element_count")
        return math.prod(self.dimensions)

    @property
    def byte_size(self) -> int:
        """The bytes of the elements, without the padding of tiles.

        An element counts with the whole bytes of its dtype, so that one of ``s4`` takes
        a byte, unless the layout's ``element_size_in_bits`` packs it: ``s4[3]{0:E(4)}``
        takes 2 bytes. Tuples sum over their elements, a buffer counts what it holds,
        and tokens and opaque values count 0.

        Raises:
            ValueError: if a dimension is unbounded.

        Example:
            >>> from xlaops.types import Shape
            >>> Shape.parse("(f32[2,3], s4[3], s4[3]{0:E(4)}, token[])").byte_size
            29
        """
        if not self.is_array:
            return sum(shape.byte_size for shape in self.tuple_shapes)
        self._require_bounds("byte_size")
        bits = self.layout.element_size_in_bits if self.layout else 0
        if bits:
            return -(-self.element_count * bits // 8)
        return self.element_count * self.dtype.itemsize

    # Conversions

    def to_struct(self) -> Any:
        """The ``jax.ShapeDtypeStruct`` of an array, or a tuple tree of them.

        A dynamic dimension has the size of its bound, a buffer is the array that it
        holds, and layouts are left out: JAX has no place for them here.

        Raises:
            TypeError: for a token or an opaque value, which have no dtype.
            ValueError: if a dimension is unbounded.

        Example:
            >>> from xlaops.types import Shape
            >>> Shape.parse("(f32[2,3]{1,0}, pred[])").to_struct()[0]
            ShapeDtypeStruct(shape=(2, 3), dtype=float32)
        """
        if self.is_tuple:
            return _tuple(shape.to_struct() for shape in self.tuple_shapes)
        if self.is_buffer:
            return self.tuple_shapes[0].to_struct()
        self._require_array("to_struct")
        self._require_bounds("to_struct")
        return jax.ShapeDtypeStruct(self.dimensions, self.dtype)

    def with_layout(self, layout: Layout | str | Iterable[int] | None) -> Shape:
        """The same array with another layout, or with none.

        Raises:
            TypeError: if the shape is not that of an array.
            ValueError: if the layout does not fit the rank.

        Example:
            >>> from xlaops.types import Shape
            >>> str(Shape.parse("f32[2,3]{1,0}").with_layout((0, 1)))
            'f32[2,3]{0,1}'
        """
        self._require_array("with_layout")
        new = None if layout is None else Layout.coerce(layout)
        return Shape(self.element_type, self.dimensions, new, self.dynamic_dimensions)

    def with_default_layout(self) -> Shape:
        """The same shape with XLA's row-major layout where an array has none.

        Example:
            >>> from xlaops.types import Shape
            >>> str(Shape.parse("(f32[2,3], f32[2,3]{0,1})").with_default_layout())
            '(f32[2,3]{1,0}, f32[2,3]{0,1})'
        """
        if self.is_array:
            if self.layout is not None:
                return self
            return self.with_layout(Layout.row_major(self.rank))
        shapes = _tuple(shape.with_default_layout() for shape in self.tuple_shapes)
        return Shape(self.element_type, tuple_shapes=shapes)

    def without_layout(self) -> Shape:
        """The same shape with no layout in any array.

        Example:
            >>> from xlaops.types import Shape
            >>> str(Shape.parse("(f32[2,3]{1,0}, s32[])").without_layout())
            '(f32[2,3], s32[])'
        """
        if self.is_array:
            return self.with_layout(None)
        shapes = _tuple(shape.without_layout() for shape in self.tuple_shapes)
        return Shape(self.element_type, tuple_shapes=shapes)

    def _require_array(self, name: str) -> None:
        if not self.is_array:
            raise TypeError(f"Shape.{name}: shape must be an array's, got {self}")

    def _require_bounds(self, name: str) -> None:
        if self.UNBOUNDED in self.dimensions:
            raise ValueError(f"Shape.{name}: dimensions must have bounds, got {self}")


def _flags(value: Iterable[bool] | None, rank: int) -> Flags:
    if value is None:
        return (False,) * rank
    flags = sequence(value, "Shape", "dynamic_dimensions", "a sequence of booleans")
    if not all(isinstance(flag, (bool, np.bool_)) for flag in flags):
        raise TypeError(
            f"Shape: dynamic_dimensions must be a sequence of booleans, got {flags}"
        )
    if flags and len(flags) != rank:
        raise ValueError(
            "Shape: dynamic_dimensions must have one entry for each of the "
            f"{rank} dimensions, got {shown(flags)}"
        )
    return tuple(map(bool, flags)) or (False,) * rank


def _dimension_text(size: int, is_dynamic: bool) -> str:
    if not is_dynamic:
        return str(size)
    return "?" if size == Shape.UNBOUNDED else f"<={size}"


def _joined(shapes: Sequence[Shape]) -> str:
    parts = []
    for index, shape in enumerate(shapes):
        if index and index % _INDEX_COMMENT_INTERVAL == 0:
            parts.append(f"/*index={index}*/{shape}")
        else:
            parts.append(str(shape))
    return ", ".join(parts)


def _scan_shape(scanner: Scanner) -> Shape:
    # One list for each tuple that is still open, instead of recursion: the depth of
    # text from elsewhere must not decide over Python's stack.
    open_tuples: list[list[Shape]] = []
    while True:
        if scanner.accept("("):
            if len(open_tuples) >= MAX_NESTING:
                scanner.position -= 1
                scanner.fail(f"tuples that nest at most {MAX_NESTING} deep")
            if not scanner.accept(")"):
                open_tuples.append([])
                continue
            shape = Shape("tuple")
        else:
            shape = _scan_plain_array(scanner) or _scan_leaf(scanner)
        while open_tuples:
            open_tuples[-1].append(shape)
            if scanner.accept(","):
                break
            if not scanner.accept(")"):
                scanner.fail("',' or ')'")
            shape = Shape("tuple", tuple_shapes=tuple(open_tuples.pop()))
        else:
            return shape


def _scan_plain_array(scanner: Scanner) -> Shape | None:
    match = _PLAIN_ARRAY.match(scanner.text, scanner.position)
    if match is None:
        return None
    start, scanner.position = scanner.position, match.end()
    # A layout that is written in another way may follow.
    if not scanner.at("{"):
        shape = _plain_array(match.group())
        if shape is not None:
            scanner.position = match.end()
            return shape
    scanner.position = start
    return None


@functools.lru_cache(maxsize=4096)
def _plain_array(text: str) -> Shape | None:
    """The shape that a whole text means, which a dump repeats many times."""
    scanner = Scanner("Shape.parse", text)
    try:
        shape = _scan_leaf_array(scanner)
    except ValueError:
        return None  # The caller reads it again, for the position in its own text.
    return shape if scanner.position == len(text) else None


def _scan_leaf(scanner: Scanner) -> Shape:
    if scanner.peek_word() == "b":
        scanner.expect("b")
        scanner.expect("(")
        start = scanner.position
        inner = _scan_leaf_array(scanner)
        scanner.expect(")")
        try:
            return Shape("buffer", tuple_shapes=(inner,))
        except ValueError as error:
            scanner.reject(start, error)
    return _scan_leaf_array(scanner)


def _scan_leaf_array(scanner: Scanner) -> Shape:
    scanner.skip()
    start = scanner.position
    word = scanner.word("an element type or '('")
    name = word.lower()
    if name not in ARRAY_ELEMENT_TYPES and name not in ("token", "opaque"):
        scanner.position = start
        scanner.fail(f"an element type{_suggestion(word)}")
    scanner.expect("[")
    sizes, dynamic = _scan_dimensions(scanner)
    scanner.expect("]")
    layout = _scan_optional_layout(scanner, rank=len(sizes))
    try:
        return Shape(name, tuple(sizes), layout, tuple(dynamic))
    except (TypeError, ValueError) as error:
        scanner.reject(start, error)


def _scan_dimensions(scanner: Scanner) -> tuple[list[int], list[bool]]:
    sizes: list[int] = []
    dynamic: list[bool] = []
    if scanner.at("]"):
        return sizes, dynamic
    while True:
        if scanner.accept("?"):
            sizes.append(Shape.UNBOUNDED)
            dynamic.append(True)
        else:
            dynamic.append(scanner.accept("<="))
            sizes.append(scanner.integer("a dimension size"))
        if not scanner.accept(","):
            return sizes, dynamic


def _scan_optional_layout(scanner: Scanner, rank: int) -> Layout | None:
    end = scanner.position
    if scanner.accept("{"):
        brace = scanner.position - 1
        scanner.skip()
        following = scanner.text[scanner.position : scanner.position + 1]
        if following.isdecimal() or following == ":" or (following == "}" and not rank):
            scanner.position = brace
            return scan_layout(scanner)
    scanner.position = end
    return None


def _suggestion(word: str) -> str:
    try:
        return f" ({word} is {element_type_name(word)} here)"
    except TypeError:
        return ""
