// A[i] = B[i mod m] + C[i], the example of XLA's document on custom calls (where m is
// 128), for any m >= 1, over the last axis of batches of equal shape.

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

namespace {

// Unsigned arithmetic for integers: overflow wraps around, as XLA's does, where that of
// signed types would be undefined.
template <typename T>
T Add(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(x) + static_cast<U>(y)));
  } else {
    return x + y;
  }
}

template <typename T>
void PeriodicAdd(ffi::AnyBuffer b, ffi::AnyBuffer c, ffi::AnyBuffer a, int64_t rows,
                 int64_t m, int64_t n) {
  const T* ring = static_cast<const T*>(b.untyped_data());
  const T* in = static_cast<const T*>(c.untyped_data());
  T* out = static_cast<T*>(a.untyped_data());
  // A short ring is laid out several times over, so that the inner loop is always long:
  // there is no division in it, and the compiler vectorises it.
  constexpr int64_t kBlock = 256;
  std::array<T, kBlock> laps;
  const bool is_short = m <= kBlock / 2 && m < n;
  const int64_t period = is_short ? kBlock / m * m : m;
  for (int64_t row = 0; row < rows; ++row, ring += m, in += n, out += n) {
    const T* repeated = ring;
    if (is_short) {
      for (int64_t start = 0; start < period; start += m) {
        std::copy_n(ring, m, laps.begin() + start);
      }
      repeated = laps.data();
    }
    for (int64_t start = 0; start < n; start += period) {
      const int64_t length = std::min(period, n - start);
      for (int64_t i = 0; i < length; ++i) {
        out[start + i] = Add(repeated[i], in[start + i]);
      }
    }
  }
}

std::string Text(ffi::AnyBuffer::Dimensions dimensions) {
  std::string text = "[";
  for (size_t i = 0; i < dimensions.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(dimensions[i]);
  }
  return text + "]";
}

bool Equal(ffi::AnyBuffer::Dimensions x, ffi::AnyBuffer::Dimensions y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

ffi::Error Invalid(const std::string& message) {
  return ffi::Error::InvalidArgument("periodic_add: " + message);
}

ffi::Error PeriodicAddImpl(ffi::AnyBuffer b, ffi::AnyBuffer c,
                           ffi::Result<ffi::AnyBuffer> a) {
  const ffi::AnyBuffer::Dimensions b_dims = b.dimensions();
  const ffi::AnyBuffer::Dimensions c_dims = c.dimensions();
  if (b_dims.size() == 0 || b_dims.size() != c_dims.size()) {
    return Invalid("b and c must have the same rank, at least 1, got shapes " +
                   Text(b_dims) + " and " + Text(c_dims));
  }
  if (!std::equal(b_dims.begin(), b_dims.end() - 1, c_dims.begin())) {
    return Invalid("b and c must have the same leading dimensions, got shapes " +
                   Text(b_dims) + " and " + Text(c_dims));
  }
  if (!Equal(a->dimensions(), c_dims)) {
    return Invalid("the result must have the shape of c, " + Text(c_dims) + ", got " +
                   Text(a->dimensions()));
  }
  if (b.element_type() != c.element_type() || b.element_type() != a->element_type()) {
    return Invalid("b, c and the result must have the same element type");
  }
  const int64_t m = b_dims.back();
  const int64_t n = c_dims.back();
  const int64_t rows = std::accumulate(c_dims.begin(), c_dims.end() - 1, int64_t{1},
                                       std::multiplies<int64_t>());
  if (m == 0 && n > 0) {
    return Invalid("b must not be empty along its last axis, got shape " +
                   Text(b_dims));
  }
  switch (b.element_type()) {
#define XLAOPS_CASE(type, T)                         \
  case ffi::DataType::type:                          \
    PeriodicAdd<T>(b, c, *a, rows, m, n);            \
    return ffi::Error::Success();
    XLAOPS_CASE(F32, float)
    XLAOPS_CASE(F64, double)
    XLAOPS_CASE(C64, std::complex<float>)
    XLAOPS_CASE(C128, std::complex<double>)
    XLAOPS_CASE(S8, int8_t)
    XLAOPS_CASE(S16, int16_t)
    XLAOPS_CASE(S32, int32_t)
    XLAOPS_CASE(S64, int64_t)
    XLAOPS_CASE(U8, uint8_t)
    XLAOPS_CASE(U16, uint16_t)
    XLAOPS_CASE(U32, uint32_t)
    XLAOPS_CASE(U64, uint64_t)
#undef XLAOPS_CASE
    default:
      return Invalid("b must have elements of F32, F64, C64, C128, S8 to S64 or U8 to "
                     "U64, got XLA_FFI_DataType " +
                     std::to_string(static_cast<int>(b.element_type())));
  }
}

}  // namespace

XLAOPS_DEFINE_HANDLER(xlaops_periodic_add, PeriodicAddImpl,
                      ffi::Ffi::Bind()
                          .Arg<ffi::AnyBuffer>()
                          .Arg<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>());
