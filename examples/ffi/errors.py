"""Errors of a handler, which are exceptions that carry their code.

Source: "Error handling" of XLA's *Custom calls* document.
"""

import jax
import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include <cmath>
#include <stdexcept>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error SquareRoot(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    float value = x.typed_data()[i];
    if (value < 0) {
      return ffi::Error(ffi::ErrorCode::kOutOfRange,
                        "element " + std::to_string(i) + " is negative");
    }
    if (std::isinf(value)) throw std::domain_error("infinite");
    y->typed_data()[i] = std::sqrt(value);
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(square_root, SquareRoot);
"""

library = xlaops.ffi.load("errors", source_text=SOURCE)


@xlaops.ffi.op(library.target("square_root"), operands={"x": "f32[...]"})
def square_root(x):
    """The square root of numbers that are not negative."""
    return jnp.sqrt(x)


def caught(x):
    """The error of a call, which raises where it is written."""
    try:
        square_root(x)
    except xlaops.ffi.HandlerError as error:
        return error
    return None


def caught_later(x):
    """The error of a compiled program, which may run while Python goes on."""
    program = jax.jit(lambda x: 2 * square_root(x))
    try:
        with xlaops.ffi.handler_errors():
            jax.block_until_ready(program(x))
    except xlaops.ffi.HandlerError as error:
        return error
    return None


def main():
    print(square_root(jnp.array([1.0, 4.0])))
    for error in (
        caught(jnp.array([1.0, -4.0])),
        caught(jnp.array([jnp.inf])),
        caught_later(jnp.array([-1.0])),
    ):
        if error is not None:
            print(repr(error.code), "|", error)


if __name__ == "__main__":
    main()
