"""A struct of C++ as an attribute, and as all attributes together.

Source: "User-defined struct attributes" of XLA's *Custom calls* document.
"""

import dataclasses
from typing import Annotated

import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

struct Range {
  int64_t low;
  float high;
};
XLA_FFI_REGISTER_STRUCT_ATTR_DECODING(Range, ffi::StructMember<int64_t>("low"),
                                      ffi::StructMember<float>("high"));

struct Window {
  Range range;
  bool inside;
};
XLA_FFI_REGISTER_STRUCT_ATTR_DECODING(Window, ffi::StructMember<Range>("range"),
                                      ffi::StructMember<bool>("inside"));

static int32_t Count(ffi::Buffer<ffi::F32> x, const Range& range) {
  int32_t count = 0;
  for (size_t i = 0; i < x.element_count(); ++i) {
    float v = x.typed_data()[i];
    count += v >= range.low && v < range.high;
  }
  return count;
}

// All attributes are the members of one struct.
XLAOPS_DEFINE_HANDLER(
    count_all,
    [](ffi::Buffer<ffi::F32> x, Range range, ffi::ResultBufferR0<ffi::S32> y) {
      *y->typed_data() = Count(x, range);
      return ffi::Error::Success();
    },
    ffi::Ffi::Bind()
        .Arg<ffi::Buffer<ffi::F32>>()
        .Attrs<Range>()
        .Ret<ffi::BufferR0<ffi::S32>>());

// One attribute is a struct, with another inside.
XLAOPS_DEFINE_HANDLER(
    count_window,
    [](ffi::Buffer<ffi::F32> x, Window window, ffi::ResultBufferR0<ffi::S32> y) {
      int32_t inside = Count(x, window.range);
      *y->typed_data() =
          window.inside ? inside : static_cast<int32_t>(x.element_count()) - inside;
      return ffi::Error::Success();
    },
    ffi::Ffi::Bind()
        .Arg<ffi::Buffer<ffi::F32>>()
        .Attr<Window>("window")
        .Ret<ffi::BufferR0<ffi::S32>>());
"""

library = xlaops.ffi.load("structs", source_text=SOURCE)


@dataclasses.dataclass(frozen=True)
class Range:
    """The numbers from ``low`` to below ``high``; the annotations are C++'s types."""

    low: int = 0
    high: Annotated[float, "f32"] = 10.0


@dataclasses.dataclass(frozen=True)
class Window:
    """What is in a range, or what is not."""

    range: Range
    inside: bool = True


@xlaops.ffi.op(library.target("count_all"), attributes=Range, result="s32[]")
def count(x, *, low=0, high=10.0):
    """How many elements are in the range; the fields of `Range` are keywords."""
    return jnp.sum((x >= low) & (x < high), dtype="int32")


@xlaops.ffi.op(
    library.target("count_window"), attributes={"window": Window}, result="s32[]"
)
def count_window(x, *, window):
    """How many elements are in the window."""
    inside = count.ref(x, low=window.range.low, high=window.range.high)
    return inside if window.inside else jnp.int32(x.size) - inside


def main():
    x = jnp.arange(-5.0, 20.0)
    print(count(x), count(x, low=3), count(x, low=3, high=4.5))
    print(count_window(x, window=Window(Range(low=3))))
    print(count_window(x, window={"range": {"high": 4.0}, "inside": False}))


if __name__ == "__main__":
    main()
