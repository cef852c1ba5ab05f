"""Logic and bits of integers."""

from .broadcasting import binary
from .element_types import bits, by_kind, elementwise, wide, wrapped

and_ = binary(by_kind(integer=lambda x, y: x & y, boolean=lambda x, y: x & y))
or_ = binary(by_kind(integer=lambda x, y: x | y, boolean=lambda x, y: x | y))
xor = binary(by_kind(integer=lambda x, y: x ^ y, boolean=lambda x, y: x ^ y))
not_ = by_kind(integer=lambda x: ~x, boolean=lambda x: ~x)


def _of_width(f):
    """An oracle of integers that is told how many bits they have."""

    def oracle(*operands):
        dtype = operands[0].dtype
        values = elementwise(
            lambda *numbers: f(*numbers, bits(dtype)), *map(wide, operands)
        )
        return wrapped(values, dtype)

    return oracle


def _signed(x, width):
    """The number that the bits of ``x`` are in two's complement."""
    x %= 1 << width
    return x - (1 << width) if x >> (width - 1) else x


def _shift_right_arithmetic(x, count, width):
    inside = 0 <= count < width
    return _signed(x, width) >> (count if inside else width - 1)


shift_left = binary(
    _of_width(lambda x, count, width: x << count if 0 <= count < width else 0)
)
shift_right_arithmetic = binary(_of_width(_shift_right_arithmetic))
shift_right_logical = binary(
    _of_width(
        lambda x, count, width: (x % (1 << width)) >> count if 0 <= count < width else 0
    )
)
mulhi = binary(_of_width(lambda x, y, width: (x * y) >> width))
clz = _of_width(lambda x, width: width - (x % (1 << width)).bit_length())
population_count = _of_width(lambda x, width: (x % (1 << width)).bit_count())
