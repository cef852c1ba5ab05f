"""The ways to say what a handler takes: inferred, from a lambda, and by a pointer.

Source: "Custom call binding" of XLA's *Custom calls* document.
"""

import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error Add(ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::F32> y,
                      ffi::ResultBuffer<ffi::F32> out) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    out->typed_data()[i] = x.typed_data()[i] + y.typed_data()[i];
  }
  return ffi::Error::Success();
}

// From the parameters of the function: arguments and results, but no attributes, whose
// names C++ does not know.
XLAOPS_DEFINE_HANDLER(add_inferred, Add);

// The same, written out.
XLAOPS_DEFINE_HANDLER(add_bound, Add,
                      ffi::Ffi::Bind()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Ret<ffi::Buffer<ffi::F32>>());

// A pointer to a function.
XLAOPS_DEFINE_HANDLER(add_pointer, &Add);

// A lambda.
XLAOPS_DEFINE_HANDLER(add_lambda, [](ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::F32> y,
                                     ffi::ResultBuffer<ffi::F32> out) {
  return Add(x, y, out);
});
"""

library = xlaops.ffi.load("binding", source_text=SOURCE)


def add(x, y):
    """The sum of two arrays of one shape."""
    return x + y


OPERATIONS = {
    symbol: xlaops.ffi.op(
        library.target(symbol),
        ref=add,
        name=symbol,
        operands={"x": "f32[...]", "y": "f32[...]"},
    )
    for symbol in ("add_inferred", "add_bound", "add_pointer", "add_lambda")
}


def main():
    x = jnp.arange(3.0)
    for name, operation in OPERATIONS.items():
        print(name, operation(x, x))


if __name__ == "__main__":
    main()
