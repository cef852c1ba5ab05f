// Numbers of less than a byte, of which XLA keeps several in each.

#ifndef XLAOPS_FFI_PACKED_H_
#define XLAOPS_FFI_PACKED_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "xlaops/ffi/api.h"
#include "xlaops/ffi/numbers.h"

namespace xlaops {
namespace internal {

template <::xla::ffi::DataType dtype>
struct PackedType;

#define XLAOPS_PACKED_TYPE(dtype, T, number_of_bits, sign) \
  template <>                                              \
  struct PackedType<::xla::ffi::DataType::dtype> {         \
    using type = T;                                        \
    static constexpr int bits = number_of_bits;            \
    static constexpr bool is_signed = sign;                \
  }
XLAOPS_PACKED_TYPE(S2, int8_t, 2, true);
XLAOPS_PACKED_TYPE(S4, int8_t, 4, true);
XLAOPS_PACKED_TYPE(U2, uint8_t, 2, false);
XLAOPS_PACKED_TYPE(U4, uint8_t, 4, false);
XLAOPS_PACKED_TYPE(F4E2M1FN, float4_e2m1fn, 4, false);
#undef XLAOPS_PACKED_TYPE

}  // namespace internal

// The elements of a buffer of S2, S4, U2, U4 or F4E2M1FN. The first is in the lowest
// bits of a byte. XLA's size_bytes() counts a byte for each of them, and is too large.
//
// Neighbours share a byte, so two threads must not write to one: begin the ranges of a
// loop at multiples of kPerByte.
template <::xla::ffi::DataType dtype>
class Packed {
  using Type = internal::PackedType<dtype>;

 public:
  using value_type = typename Type::type;
  static constexpr int kPerByte = 8 / Type::bits;

  template <typename Buffer>
  explicit Packed(const Buffer& buffer)
      : bytes_(static_cast<uint8_t*>(buffer.untyped_data())) {
    assert(buffer.element_type() == dtype);
  }

  value_type Get(size_t index) const {
    const uint32_t bits = (bytes_[index / kPerByte] >> Shift(index)) & kMask;
    if constexpr (Type::is_signed) {
      // The upper half of the codes stands for negative numbers.
      constexpr int kHalf = 1 << (Type::bits - 1);
      return static_cast<value_type>(static_cast<int>(bits ^ kHalf) - kHalf);
    } else if constexpr (std::is_integral_v<value_type>) {
      return static_cast<value_type>(bits);
    } else {
      return value_type::FromBits(static_cast<uint8_t>(bits));
    }
  }

  // Integers lose their upper bits.
  void Set(size_t index, value_type value) const {
    uint32_t bits;
    if constexpr (std::is_integral_v<value_type>) {
      bits = static_cast<uint8_t>(value);
    } else {
      bits = value.bits();
    }
    uint8_t& byte = bytes_[index / kPerByte];
    const int shift = Shift(index);
    byte = static_cast<uint8_t>((byte & ~(kMask << shift)) | ((bits & kMask) << shift));
  }

 private:
  static constexpr uint32_t kMask = (uint32_t{1} << Type::bits) - 1;

  static int Shift(size_t index) {
    return static_cast<int>(index % kPerByte) * Type::bits;
  }

  uint8_t* bytes_;
};

}  // namespace xlaops

#endif  // XLAOPS_FFI_PACKED_H_
