"""Tuples in tuples: the handler sees their arrays, one after the other.

Source: "Passing tuples to custom calls" of XLA's *Custom calls* document, whose shape
this is: (f32[32], (f32[64], f32[128]), f32[256]).
"""

import jax
import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include <algorithm>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

// Four arguments and four results, of which each is its argument in reverse.
static ffi::Error Reverse(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  if (args.size() != 4 || rets.size() != 4) {
    return ffi::Error::InvalidArgument("four arguments and results");
  }
  for (size_t i = 0; i < 4; ++i) {
    auto x = args.get<ffi::BufferR1<ffi::F32>>(i);
    auto y = rets.get<ffi::BufferR1<ffi::F32>>(i);
    if (x.has_error()) return x.error();
    if (y.has_error()) return y.error();
    std::reverse_copy(x->typed_data(), x->typed_data() + x->element_count(),
                      (*y)->typed_data());
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(reverse, Reverse,
                      ffi::Ffi::Bind().RemainingArgs().RemainingRets());
"""

SHAPE = "(f32[32], (f32[64], f32[128]), f32[256])"

library = xlaops.ffi.load("nested_tuple", source_text=SOURCE)


@xlaops.ffi.op(library.target("reverse"), operands={"x": SHAPE}, result=SHAPE)
def reverse(x):
    """A tuple of the document's shape, with each array in reverse."""
    return jax.tree.map(lambda a: a[::-1], x)


def main():
    a, b, c, d = (jnp.arange(float(n)) for n in (32, 64, 128, 256))
    result = reverse((a, (b, c), d))
    print(jax.tree.map(lambda y: (y.shape, float(y[0])), result))


if __name__ == "__main__":
    main()
