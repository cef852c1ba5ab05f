// The floating-point types of XLA that C++17 has not, stored as XLA stores them.

#ifndef XLAOPS_FFI_NUMBERS_H_
#define XLAOPS_FFI_NUMBERS_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define XLAOPS_HOST_DEVICE __host__ __device__
#else
#define XLAOPS_HOST_DEVICE
#endif

namespace xlaops {
namespace internal {

XLAOPS_HOST_DEVICE inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

XLAOPS_HOST_DEVICE inline float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// `bits` without its last `shift` (1 to 31), rounded to nearest, ties to even.
XLAOPS_HOST_DEVICE inline uint32_t RoundedShift(uint32_t bits, int shift) {
  const uint32_t is_odd = (bits >> shift) & 1;
  return (bits + (uint32_t{1} << (shift - 1)) - 1 + is_odd) >> shift;
}

// What the codes with the largest exponent stand for.
enum class Specials {
  kIeee,          // infinities and NaN, as in IEEE 754
  kNan,           // no infinities; NaN is all ones behind the sign ("FN")
  kUnsignedZero,  // no infinities and no -0, whose code is NaN ("FNUZ")
  kNone,          // finite numbers only
};

}  // namespace internal

// A floating-point number of a sign, kExponent and kMantissa bits.
//
// It converts to float without being asked, exactly, and from float when asked, to
// nearest with ties to even: arithmetic happens in float. What is too large becomes
// what the type has for it: an infinity, else NaN, else the largest number. Everything
// is integer arithmetic, as XLA runs handlers with denormal floats flushed to zero.
template <typename Storage, int kExponent, int kMantissa, int kBias,
          internal::Specials kSpecials>
class SmallFloat {
 public:
  SmallFloat() = default;
  XLAOPS_HOST_DEVICE explicit SmallFloat(float value) : bits_(Encode(value)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> &&
                                                    !std::is_same_v<T, float>>>
  XLAOPS_HOST_DEVICE explicit SmallFloat(T value)
      : SmallFloat(static_cast<float>(value)) {}

  XLAOPS_HOST_DEVICE operator float() const { return Decode(bits_); }  // NOLINT

  // The number of which these are the bits, and its bits.
  XLAOPS_HOST_DEVICE static SmallFloat FromBits(Storage bits) {
    SmallFloat result;
    result.bits_ = bits;
    return result;
  }
  XLAOPS_HOST_DEVICE Storage bits() const { return bits_; }

 private:
  using Specials = internal::Specials;

  static constexpr uint32_t kSign = uint32_t{1} << (kExponent + kMantissa);
  static constexpr uint32_t kInfinity = ((uint32_t{1} << kExponent) - 1) << kMantissa;
  static constexpr uint32_t kLargest = kSpecials == Specials::kIeee  ? kInfinity - 1
                                       : kSpecials == Specials::kNan ? kSign - 2
                                                                     : kSign - 1;
  static constexpr uint32_t kQuietNan =
      kSpecials == Specials::kIeee  ? kInfinity | (uint32_t{1} << (kMantissa - 1))
      : kSpecials == Specials::kNan ? kSign - 1
                                    : kSign;
  static constexpr uint32_t kFloatInfinity = 0x7f800000;
  static constexpr uint32_t kFloatNan = 0x7fc00000;

  XLAOPS_HOST_DEVICE static float Decode(uint32_t bits) {
    const uint32_t sign = (bits & kSign) << (31 - kExponent - kMantissa);
    const uint32_t magnitude = bits & (kSign - 1);
    if constexpr (kSpecials == Specials::kUnsignedZero) {
      if (bits == kSign) return internal::FromBits(kFloatNan);
    }
    if constexpr (kSpecials == Specials::kIeee) {
      if (magnitude >= kInfinity) {
        return internal::FromBits(
            sign | (magnitude == kInfinity ? kFloatInfinity : kFloatNan));
      }
    }
    if constexpr (kSpecials == Specials::kNan) {
      if (magnitude == kSign - 1) return internal::FromBits(sign | kFloatNan);
    }
    uint32_t mantissa = magnitude & ((uint32_t{1} << kMantissa) - 1);
    int exponent = static_cast<int>(magnitude >> kMantissa);
    if (exponent == 0) {
      if (mantissa == 0) return internal::FromBits(sign);
      // Denormal here, and normal as a float: the leading one moves to its place.
      exponent = 1;
      while ((mantissa >> kMantissa) == 0) {
        mantissa <<= 1;
        --exponent;
      }
      mantissa &= (uint32_t{1} << kMantissa) - 1;
    }
    const uint32_t biased = static_cast<uint32_t>(exponent - kBias + 127);
    return internal::FromBits(sign | (biased << 23) | (mantissa << (23 - kMantissa)));
  }

  XLAOPS_HOST_DEVICE static Storage Encode(float value) {
    const uint32_t bits = internal::BitsOf(value);
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t sign = (bits >> 31) << (kExponent + kMantissa);
    if (magnitude > kFloatInfinity) {
      // The sign of a NaN is kept where it has one.
      if constexpr (kSpecials == Specials::kNone) return static_cast<Storage>(kSign);
      return static_cast<Storage>(sign | kQuietNan);
    }
    const int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
    const uint32_t fraction = magnitude & 0x7fffff;
    uint32_t code;
    if (exponent >= 1) {
      // A carry out of the mantissa moves on into the exponent, as it should.
      code = internal::RoundedShift((static_cast<uint32_t>(exponent) << 23) | fraction,
                                    23 - kMantissa);
    } else {
      // Denormal: so far to the right that half of the least number and what is below
      // it become zero.
      const int shift = 23 - kMantissa + 1 - exponent;
      code = shift > 24 ? 0 : internal::RoundedShift(fraction | 0x800000, shift);
    }
    if (code > kLargest) {
      code = kSpecials == Specials::kIeee   ? kInfinity
             : kSpecials == Specials::kNone ? kLargest
                                            : kQuietNan;
    }
    if constexpr (kSpecials == Specials::kUnsignedZero) {
      if (code == 0 || code == kQuietNan) return static_cast<Storage>(code);
    }
    return static_cast<Storage>(sign | code);
  }

  Storage bits_;
};

// The upper half of a float: cheap to convert, also denormal numbers.
class bfloat16 {
 public:
  bfloat16() = default;
  XLAOPS_HOST_DEVICE explicit bfloat16(float value) : bits_(Encode(value)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> &&
                                                    !std::is_same_v<T, float>>>
  XLAOPS_HOST_DEVICE explicit bfloat16(T value)
      : bfloat16(static_cast<float>(value)) {}

  XLAOPS_HOST_DEVICE operator float() const {  // NOLINT
    return internal::FromBits(uint32_t{bits_} << 16);
  }

  XLAOPS_HOST_DEVICE static bfloat16 FromBits(uint16_t bits) {
    bfloat16 result;
    result.bits_ = bits;
    return result;
  }
  XLAOPS_HOST_DEVICE uint16_t bits() const { return bits_; }

 private:
  XLAOPS_HOST_DEVICE static uint16_t Encode(float value) {
    const uint32_t bits = internal::BitsOf(value);
    // A NaN stays one, whatever bits are cut off.
    if ((bits & 0x7fffffff) > 0x7f800000) {
      return static_cast<uint16_t>((bits >> 16) | 0x40);
    }
    return static_cast<uint16_t>(internal::RoundedShift(bits, 16));
  }

  uint16_t bits_;
};

// A power of two between 2^-127 and 2^127, or NaN: no sign and no zero. It serves as a
// scale. From float it is rounded to the nearest, upwards in the middle; what has no
// such power, as zero and negative numbers, becomes NaN.
class float8_e8m0fnu {
 public:
  float8_e8m0fnu() = default;
  XLAOPS_HOST_DEVICE explicit float8_e8m0fnu(float value) : bits_(Encode(value)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> &&
                                                    !std::is_same_v<T, float>>>
  XLAOPS_HOST_DEVICE explicit float8_e8m0fnu(T value)
      : float8_e8m0fnu(static_cast<float>(value)) {}

  XLAOPS_HOST_DEVICE operator float() const {  // NOLINT
    if (bits_ == 0xff) return internal::FromBits(0x7fc00000);
    // The least is denormal as a float.
    return internal::FromBits(bits_ == 0 ? 0x00400000 : uint32_t{bits_} << 23);
  }

  XLAOPS_HOST_DEVICE static float8_e8m0fnu FromBits(uint8_t bits) {
    float8_e8m0fnu result;
    result.bits_ = bits;
    return result;
  }
  XLAOPS_HOST_DEVICE uint8_t bits() const { return bits_; }

 private:
  XLAOPS_HOST_DEVICE static uint8_t Encode(float value) {
    const uint32_t bits = internal::BitsOf(value);
    if (bits == 0 || bits >= 0x7f800000) return 0xff;
    // Between the two least, of which one is denormal as a float.
    if (bits < 0x00800000) return bits < 0x00600000 ? 0 : 1;
    return static_cast<uint8_t>((bits + 0x400000) >> 23);
  }

  uint8_t bits_;
};

using float16 = SmallFloat<uint16_t, 5, 10, 15, internal::Specials::kIeee>;
using float8_e5m2 = SmallFloat<uint8_t, 5, 2, 15, internal::Specials::kIeee>;
using float8_e4m3 = SmallFloat<uint8_t, 4, 3, 7, internal::Specials::kIeee>;
using float8_e3m4 = SmallFloat<uint8_t, 3, 4, 3, internal::Specials::kIeee>;
using float8_e4m3fn = SmallFloat<uint8_t, 4, 3, 7, internal::Specials::kNan>;
using float8_e4m3b11fnuz =
    SmallFloat<uint8_t, 4, 3, 11, internal::Specials::kUnsignedZero>;
using float8_e5m2fnuz =
    SmallFloat<uint8_t, 5, 2, 16, internal::Specials::kUnsignedZero>;
using float8_e4m3fnuz = SmallFloat<uint8_t, 4, 3, 8, internal::Specials::kUnsignedZero>;
// A byte of its own here; two share one in a buffer, see Packed.
using float4_e2m1fn = SmallFloat<uint8_t, 2, 1, 1, internal::Specials::kNone>;

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);
static_assert(sizeof(float8_e5m2) == 1 && sizeof(float8_e8m0fnu) == 1);
static_assert(std::is_trivially_copyable_v<float16> &&
              std::is_trivially_copyable_v<bfloat16>);

}  // namespace xlaops

#endif  // XLAOPS_FFI_NUMBERS_H_
