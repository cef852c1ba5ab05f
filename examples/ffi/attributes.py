"""Attributes: what a handler is told when the program is compiled.

Source: "Attributes" of XLA's *Custom calls* document.
"""

import jax
import jax.numpy as jnp
import numpy as np

import xlaops.ffi

SOURCE = r"""
#include <complex>
#include <string_view>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error Polynomial(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y,
                             ffi::Span<const float> coefficients, int32_t power,
                             bool negate, std::string_view rounding) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    double sum = 0;
    for (size_t k = coefficients.size(); k-- > 0;) {
      sum = sum * x.typed_data()[i] + coefficients[k];
    }
    double value = 1;
    for (int32_t k = 0; k < power; ++k) value *= sum;
    if (negate) value = -value;
    if (rounding == "down") {
      value = std::floor(value);
    } else if (rounding != "none") {
      return ffi::Error::InvalidArgument("unknown rounding " + std::string(rounding));
    }
    y->typed_data()[i] = static_cast<float>(value);
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(polynomial, Polynomial,
                      ffi::Ffi::Bind()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Ret<ffi::Buffer<ffi::F32>>()
                          .Attr<ffi::Span<const float>>("coefficients")
                          .Attr<int32_t>("power")
                          .Attr<bool>("negate")
                          .Attr<std::string_view>("rounding"));

// A complex number is an array of its two parts: XLA's attributes have no complex ones.
static ffi::Error Rotate(ffi::Buffer<ffi::C64> x, ffi::ResultBuffer<ffi::C64> y,
                         ffi::Span<const float> factor) {
  std::complex<float> by(factor[0], factor[1]);
  for (size_t i = 0; i < x.element_count(); ++i) {
    y->typed_data()[i] = x.typed_data()[i] * by;
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(rotate, Rotate,
                      ffi::Ffi::Bind()
                          .Arg<ffi::Buffer<ffi::C64>>()
                          .Ret<ffi::Buffer<ffi::C64>>()
                          .Attr<ffi::Span<const float>>("factor"));
"""

library = xlaops.ffi.load("attributes", source_text=SOURCE)


@xlaops.ffi.op(
    library.target("polynomial"),
    operands={"x": "f32[...]"},
    attributes={
        "coefficients": "f32[]",
        "power": "s32",
        "negate": "pred",
        "rounding": "str",
    },
    vmap="broadcast_all",
)
def polynomial(x, *, coefficients, power=1, negate=False, rounding="none"):
    """A power of a polynomial; attributes with defaults may be left out."""
    value = jnp.polyval(jnp.asarray(np.array(coefficients)[::-1], "float32"), x)
    value = value**power * (-1 if negate else 1)
    return jnp.floor(value) if rounding == "down" else value


@xlaops.ffi.op(library.target("rotate"), attributes={"factor": "c64"})
def rotate(x, *, factor):
    """Complex numbers, times one."""
    return x * factor


def main():
    x = jnp.array([0.0, 1.0, 2.0])
    print(polynomial(x, coefficients=[1, 0, 1]))  # 1 + x^2
    print(polynomial(x, coefficients=[0.5, 1], power=2, rounding="down"))
    print(jax.vmap(jax.grad(lambda x: polynomial(x, coefficients=[1, 0, 1])))(x))
    print(rotate(jnp.array([1, 2], "complex64"), factor=1j))
    for wrong in ({"power": 2**31}, {"power": 1.5}, {"negate": 1}, {"powr": 2}):
        try:
            polynomial(x, coefficients=[1], **wrong)
        except (TypeError, ValueError) as error:
            print(type(error).__name__, "|", error)


if __name__ == "__main__":
    main()
