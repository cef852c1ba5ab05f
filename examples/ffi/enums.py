"""An enumeration of C++ as an attribute; values that it has not are refused.

Source: "User-defined enum attributes" of XLA's *Custom calls* document.
"""

import enum

import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include <algorithm>
#include <cstdint>
#include <functional>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

enum class Order : int32_t { kAscending = 1, kDescending = 2 };
XLA_FFI_REGISTER_ENUM_ATTR_DECODING(Order);

// Over another integer type, the Python side says so.
enum class Ties : uint8_t { kKeep = 0, kDrop = 200 };
XLA_FFI_REGISTER_ENUM_ATTR_DECODING(Ties);

static ffi::Error Sorted(ffi::BufferR1<ffi::F32> x, ffi::ResultBufferR1<ffi::F32> y,
                         ffi::ResultBufferR0<ffi::S32> count, Order order, Ties ties) {
  float* begin = y->typed_data();
  float* end = std::copy_n(x.typed_data(), x.element_count(), begin);
  if (order == Order::kAscending) {
    std::sort(begin, end);
  } else {
    std::sort(begin, end, std::greater<float>());
  }
  float* kept = ties == Ties::kDrop ? std::unique(begin, end) : end;
  std::fill(kept, end, 0.f);
  *count->typed_data() = static_cast<int32_t>(kept - begin);
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(sorted, Sorted,
                      ffi::Ffi::Bind()
                          .Arg<ffi::BufferR1<ffi::F32>>()
                          .Ret<ffi::BufferR1<ffi::F32>>()
                          .Ret<ffi::BufferR0<ffi::S32>>()
                          .Attr<Order>("order")
                          .Attr<Ties>("ties"));
"""

library = xlaops.ffi.load("enums", source_text=SOURCE)


class Order(enum.Enum):
    """Smallest or largest first."""

    ASCENDING = 1
    DESCENDING = 2


class Ties(enum.Enum):
    """What becomes of equal elements."""

    KEEP = 0
    DROP = 200


@xlaops.ffi.op(
    library.target("sorted"),
    operands={"x": "f32[n]"},
    result=("f32[n]", "s32[]"),
    attributes={"order": Order, "ties": xlaops.ffi.enumeration(Ties, "u8")},
)
def sort(x, *, order=Order.ASCENDING, ties=Ties.KEEP):
    """The sorted elements with zeros behind them, and how many there are."""
    n = x.shape[0]
    y, count = jnp.sort(x), jnp.int32(n)
    if ties is Ties.DROP:
        is_new = jnp.concatenate([jnp.ones(min(n, 1), bool), y[1:] != y[:-1]])
        count = is_new.sum(dtype="int32")
        y = jnp.sort(jnp.where(is_new, y, jnp.inf))
    if order is Order.DESCENDING:
        y = jnp.roll(y[::-1], count - n)
    return jnp.where(jnp.arange(n) < count, y, 0), count


def main():
    x = jnp.array([2.0, 3.0, 2.0, 1.0])
    print(sort(x))
    print(sort(x, order=Order.DESCENDING, ties="DROP"))  # names and numbers do as well
    for wrong in (3, "SIDEWAYS", Ties.DROP):
        try:
            sort(x, order=wrong)
        except (TypeError, ValueError) as error:
            print(type(error).__name__, "|", error)


if __name__ == "__main__":
    main()
