"""Any number of arguments and results, and ones that may be missing.

Source: "Variable number of arguments and results" of XLA's *Custom calls* document.
"""

import jax
import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include <algorithm>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

// The running sums of the arguments: as many results as there are arguments.
static ffi::Error RunningSums(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  if (args.size() != rets.size()) {
    return ffi::Error::InvalidArgument("one result for each argument");
  }
  for (size_t i = 0; i < args.size(); ++i) {
    auto x = args.get<ffi::BufferR1<ffi::F32>>(i);
    if (x.has_error()) return x.error();
    auto y = rets.get<ffi::BufferR1<ffi::F32>>(i);
    if (y.has_error()) return y.error();
    float* out = (*y)->typed_data();
    std::copy_n(x->typed_data(), x->element_count(), out);
    if (i == 0) continue;
    auto before = rets.get<ffi::BufferR1<ffi::F32>>(i - 1);
    for (size_t j = 0; j < x->element_count(); ++j) {
      out[j] += (*before)->typed_data()[j];
    }
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(running_sums, RunningSums,
                      ffi::Ffi::Bind().RemainingArgs().RemainingRets());

// An argument that may be missing.
static ffi::Error Clipped(ffi::BufferR1<ffi::F32> x,
                          std::optional<ffi::BufferR0<ffi::F32>> bound,
                          ffi::ResultBufferR1<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    float value = x.typed_data()[i];
    y->typed_data()[i] = bound ? std::min(value, *bound->typed_data()) : value;
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(clipped, Clipped,
                      ffi::Ffi::Bind()
                          .Arg<ffi::BufferR1<ffi::F32>>()
                          .OptionalArg<ffi::BufferR0<ffi::F32>>()
                          .Ret<ffi::BufferR1<ffi::F32>>());
"""

# After RemainingArgs there is no other argument: this does not compile.
REFUSED = r"""
#include "xlaops/ffi.h"
namespace ffi = xla::ffi;
static ffi::Error Wrong(ffi::RemainingArgs, ffi::AnyBuffer) {
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(wrong, Wrong,
                      ffi::Ffi::Bind().RemainingArgs().Arg<ffi::AnyBuffer>());
"""

library = xlaops.ffi.load("variadic", source_text=SOURCE)


@xlaops.ffi.op(library.target("running_sums"), operands={"xs": "f32[n]"})
def running_sums(*xs):
    """The sums of the first one, two, three and so on of some vectors."""
    return tuple(sum(xs[1 : i + 1], xs[0]) for i in range(len(xs)))


@xlaops.ffi.op(
    library.target("clipped"),
    operands={"x": "f32[n]", "bound": "f32[]"},
    result="f32[n]",
)
def clipped(x, bound=None):
    """The elements, none of which is above the bound, if there is one."""
    return x if bound is None else jnp.minimum(x, bound)


def refused():
    """What the compiler says of a regular argument behind RemainingArgs."""
    try:
        xlaops.ffi.load("variadic_wrong", source_text=REFUSED)
    except xlaops.ffi.BuildError as error:
        return str(error)
    return None


def main():
    a, b, c = jnp.ones(2), jnp.arange(2.0), jnp.full(2, 5.0)
    print(running_sums(a, b, c))
    print(jax.grad(lambda b: running_sums(a, b, c)[2].sum())(b))
    print(clipped(c), clipped(c, 3.0))


if __name__ == "__main__":
    main()
