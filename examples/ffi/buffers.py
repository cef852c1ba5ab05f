"""Buffers of any type, of one element type, and of one rank.

Source: "Buffer arguments and results" of XLA's *Custom calls* document.
"""

import jax
import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include <algorithm>
#include <cstring>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

// AnyBuffer: the handler itself looks at the element type and the dimensions.
static ffi::Error Describe(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  auto* out = y->typed_data<int32_t>();
  out[0] = static_cast<int32_t>(x.element_type());
  out[1] = static_cast<int32_t>(x.dimensions().size());
  out[2] = static_cast<int32_t>(x.size_bytes());
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(describe, Describe);

// Buffer<F32>: any rank, and the data have their C++ type.
static ffi::Error Twice(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  std::transform(x.typed_data(), x.typed_data() + x.element_count(),
                 y->typed_data(), [](float v) { return 2 * v; });
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(twice, Twice);

// BufferR2<F32>: matrices only. XLA refuses others before the handler runs.
static ffi::Error Transpose(ffi::BufferR2<ffi::F32> x,
                            ffi::ResultBufferR2<ffi::F32> y) {
  int64_t rows = x.dimensions()[0], columns = x.dimensions()[1];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      y->typed_data()[j * rows + i] = x.typed_data()[i * columns + j];
    }
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(transpose, Transpose);
"""

library = xlaops.ffi.load("buffers", source_text=SOURCE)

describe = xlaops.ffi.op(
    library.target("describe"),
    name="describe",
    operands={"x": "*"},
    result="s32[3]",
    ref=None,  # nothing in JAX stands for it
)


@xlaops.ffi.op(
    library.target("twice"), operands={"x": "f32[...]"}, vmap="broadcast_all"
)
def twice(x):
    """Twice the elements of an array of any shape."""
    return 2 * x


@xlaops.ffi.op(
    library.target("transpose"), operands={"x": "f32[n,m]"}, result="f32[m,n]"
)
def transpose(x):
    """A matrix with rows and columns exchanged."""
    return x.T


@xlaops.ffi.op(library.target("transpose"), result=lambda x: x)
def unchecked(x):
    """The handler above, which says itself what it takes."""
    return x


def refused_by_python():
    """A wrong rank, found before anything runs."""
    try:
        transpose(jnp.ones(3))
    except TypeError as error:
        return error
    return None


def refused_by_xla():
    """A wrong rank that nothing in Python knew to be wrong."""
    try:
        unchecked(jnp.ones(3))
    except xlaops.ffi.HandlerError as error:
        return error
    return None


def main():
    for dtype in ("int8", "float32", "complex64"):
        print(dtype, describe(jnp.ones((2, 3), dtype)))
    print(twice(jnp.arange(3.0)), jax.vmap(twice)(jnp.ones((2, 2))))
    print(transpose(jnp.arange(6.0).reshape(2, 3)))
    print(refused_by_python())
    print(refused_by_xla())


if __name__ == "__main__":
    main()
