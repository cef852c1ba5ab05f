"""All attributes as one dictionary, whatever their names are.

Source: "Binding all custom call attributes to a dictionary" of XLA's *Custom calls*
document.
"""

import jax.numpy as jnp
import numpy as np

import xlaops.ffi

SOURCE = r"""
#include <string>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

// x times the attribute "factor", if there is one, plus the one of a dictionary within.
static ffi::Error Scaled(ffi::Buffer<ffi::F32> x, ffi::Dictionary attrs,
                         ffi::ResultBuffer<ffi::F32> y) {
  float factor = 1, offset = 0;
  if (attrs.contains("factor")) {
    auto given = attrs.get<float>("factor");
    if (given.has_error()) return given.error();
    factor = *given;
  }
  if (attrs.contains("more")) {
    auto more = attrs.get<ffi::Dictionary>("more");
    if (more.has_error()) return more.error();
    auto given = more->get<int32_t>("offset");
    if (given.has_error()) return given.error();
    offset = *given;
  }
  for (size_t i = 0; i < x.element_count(); ++i) {
    y->typed_data()[i] = x.typed_data()[i] * factor + offset;
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(scaled, Scaled,
                      ffi::Ffi::Bind()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Attrs()
                          .Ret<ffi::Buffer<ffi::F32>>());
"""

library = xlaops.ffi.load("dictionary", source_text=SOURCE)


@xlaops.ffi.op(library.target("scaled"), operands={"x": "f32[...]"}, attributes=dict)
def scaled(x, **attributes):
    """Any attributes; each has the type of its value, NumPy's or Python's."""
    offset = attributes.get("more", {}).get("offset", 0)
    return x * attributes.get("factor", 1.0) + offset


def main():
    x = jnp.arange(3.0)
    print(scaled(x), scaled(x, factor=np.float32(2)))
    print(scaled(x, factor=np.float32(2), more={"offset": np.int32(10)}))
    try:
        scaled(x, factor=2.0)  # a Python float is a double
    except xlaops.ffi.HandlerError as error:
        print(error)


if __name__ == "__main__":
    main()
