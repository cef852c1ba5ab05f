"""Memory that a handler needs while it runs, which XLA gives it as further results.

Source: "Tuple outputs as temp buffers" of XLA's *Custom calls* document.
"""

import jax
import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include <algorithm>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

// The median: the elements are moved about in the scratch memory.
static ffi::Error Median(ffi::BufferR1<ffi::F32> x, ffi::ResultBufferR0<ffi::F32> y,
                         ffi::ResultBufferR1<ffi::F32> scratch) {
  size_t n = x.element_count();
  if (n == 0) return ffi::Error::InvalidArgument("x must not be empty");
  float* begin = scratch->typed_data();
  std::copy_n(x.typed_data(), n, begin);
  std::nth_element(begin, begin + (n - 1) / 2, begin + n);
  *y->typed_data() = begin[(n - 1) / 2];
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(median, Median);
"""

library = xlaops.ffi.load("scratch", source_text=SOURCE)


@xlaops.ffi.op(
    library.target("median"),
    operands={"x": "f32[n]"},
    result="f32[]",
    scratch="f32[n]",
)
def median(x):
    """The lower median of a vector."""
    return jnp.sort(x)[(x.shape[0] - 1) // 2]


def main():
    x = jnp.array([3.0, 1.0, 2.0, 9.0])
    print(median(x), jax.grad(median)(x), jax.vmap(median)(x.reshape(2, 2)))


if __name__ == "__main__":
    main()
