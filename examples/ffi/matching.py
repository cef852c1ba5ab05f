"""Match and Verify: a handler says what its buffers must be, dimension by dimension.

Source: "Buffer matching" of XLA's *Custom calls* document.
"""

import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include "xlaops/ffi.h"

namespace ffi = xla::ffi;
namespace match = xla::ffi::match;

// The trace of a square matrix. Dim(&n) captures a dimension; both must be one size.
static ffi::Error Trace(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  int64_t n = 0, m = 0;
  auto matrix = ffi::Match("x", x,
                           match::Buffer<ffi::F32, 2>().WithDims(match::Dim(&n),
                                                                 match::Dim(&m)));
  if (matrix.has_error()) return matrix.error();
  if (n != m) return ffi::Error::InvalidArgument("x must be square");
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += matrix->typed_data()[i * n + i];
  *y->typed_data<float>() = sum;
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(trace, Trace);

// What was captured before is unchanged where a match fails.
static ffi::Error Captured(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  int64_t rows = -1, columns = -1;
  ffi::Error error = ffi::Verify(
      "x", x,
      match::Buffer<ffi::F32, 2>().WithDims(match::Dim(&rows), match::Dim(16)));
  if (error.success()) {
    columns = x.dimensions()[1];
  }
  y->typed_data<int32_t>()[0] = static_cast<int32_t>(rows);
  y->typed_data<int32_t>()[1] = static_cast<int32_t>(columns);
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(captured, Captured);

// A last dimension of 16, nothing else.
static ffi::Error Sixteen(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  ffi::Error error = ffi::Verify(
      "x", x, match::Buffer<ffi::F32, 2>().WithDims(match::Dim(), match::Dim(16)));
  if (error.failure()) return error;
  *y->typed_data<float>() = x.typed_data<float>()[15];
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(sixteen, Sixteen);

// One of several element types, and of several ranks; the result is like the operand.
static ffi::Error Copy(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  ffi::Error error =
      ffi::Verify("x", x,
                  match::Buffer().WithDType<ffi::S32, ffi::S64>().WithRank<1, 2>());
  if (error.failure()) return error;
  error = ffi::Verify("y", *y, match::Buffer().Like(x));
  if (error.failure()) return error;
  std::memcpy(y->untyped_data(), x.untyped_data(), x.size_bytes());
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(copy, Copy);

// The second operand has the shape of the first, of another element type perhaps; one
// dimension alone is checked as well.
static ffi::Error Masked(ffi::AnyBuffer x, ffi::AnyBuffer mask,
                         ffi::Result<ffi::AnyBuffer> y) {
  int64_t n = 0;
  ffi::Error error = ffi::Verify(
      "x", x, match::Buffer().WithDType<ffi::F32>().WithRank<1>().WithDim(
                  0, match::Dim(&n)));
  if (error.failure()) return error;
  error = ffi::Verify("mask", mask,
                      match::Buffer().WithDType<ffi::PRED>().WithShapeOf(x));
  if (error.failure()) return error;
  for (int64_t i = 0; i < n; ++i) {
    y->typed_data<float>()[i] =
        mask.typed_data<bool>()[i] ? x.typed_data<float>()[i] : 0;
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(masked, Masked);

// Match on a buffer that has its type already: only the dimensions are left to check.
static ffi::Error Dot3(ffi::BufferR1<ffi::F32> x, ffi::BufferR1<ffi::F32> y,
                       ffi::ResultBufferR0<ffi::F32> out) {
  auto three = ffi::Match("x", x, match::Buffer().WithDims(match::Dim(3)));
  if (three.has_error()) return three.error();
  auto other = ffi::Match("y", y, match::Buffer().Like(*three));
  if (other.has_error()) return other.error();
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += three->typed_data()[i] * other->typed_data()[i];
  *out->typed_data() = sum;
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(dot3, Dot3);
"""

library = xlaops.ffi.load("matching", source_text=SOURCE)


@xlaops.ffi.op(library.target("trace"))
def trace(x):
    """The trace of a square matrix, which the handler checks to be one."""
    return jnp.trace(x)


captured = xlaops.ffi.op(
    library.target("captured"),
    name="captured",
    operands={"x": "f32[...]"},
    result="s32[2]",
    ref=None,
)
sixteen = xlaops.ffi.op(
    library.target("sixteen"),
    name="sixteen",
    operands={"x": "f32[...]"},
    result="f32[]",
    ref=None,
)


@xlaops.ffi.op(library.target("copy"))
def copy(x):
    """Integers of 32 or 64 bits, in one or two dimensions."""
    return x


@xlaops.ffi.op(library.target("masked"), result=lambda x, mask: x)
def masked(x, mask):
    """The elements where the mask is true, elsewhere 0."""
    return jnp.where(mask, x, 0)


@xlaops.ffi.op(library.target("dot3"), result="f32[]")
def dot3(x, y):
    """The product of two vectors of three elements."""
    return jnp.sum(x * y)


def refused(function, *operands):
    """The message with which the handler refuses operands."""
    try:
        function(*operands)
    except xlaops.ffi.HandlerError as error:
        return error.message
    return None


def main():
    print(trace(jnp.array([[1.0, 2.0], [3.0, 4.0]])))
    print(refused(trace, jnp.ones((2, 3))))
    print(captured(jnp.ones((3, 16))), captured(jnp.ones((3, 15))))
    print(refused(sixteen, jnp.ones((2, 3))))
    print(refused(copy, jnp.ones((2, 2))))
    print(masked(jnp.arange(3.0), jnp.array([True, False, True])))
    print(dot3(jnp.arange(3.0), jnp.ones(3)), refused(dot3, jnp.ones(4), jnp.ones(4)))


if __name__ == "__main__":
    main()
