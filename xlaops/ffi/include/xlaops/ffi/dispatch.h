// From an element type that is known when the handler runs to a C++ type.

#ifndef XLAOPS_FFI_DISPATCH_H_
#define XLAOPS_FFI_DISPATCH_H_

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "xlaops/ffi/api.h"
#include "xlaops/ffi/match.h"
#include "xlaops/ffi/numbers.h"

namespace xlaops {
namespace internal {

template <::xla::ffi::DataType dtype>
struct NativeType {
  static_assert(::xla::ffi::ByteWidth(dtype) == 0,
                "numbers of less than a byte have no address: see xlaops::Packed");
  static_assert(::xla::ffi::ByteWidth(dtype) != 0, "this type has no elements");
};

#define XLAOPS_NATIVE_TYPE(dtype, T)                    \
  template <>                                           \
  struct NativeType<::xla::ffi::DataType::dtype> {      \
    using type = T;                                     \
  }
XLAOPS_NATIVE_TYPE(PRED, bool);
XLAOPS_NATIVE_TYPE(S8, int8_t);
XLAOPS_NATIVE_TYPE(S16, int16_t);
XLAOPS_NATIVE_TYPE(S32, int32_t);
XLAOPS_NATIVE_TYPE(S64, int64_t);
XLAOPS_NATIVE_TYPE(U8, uint8_t);
XLAOPS_NATIVE_TYPE(U16, uint16_t);
XLAOPS_NATIVE_TYPE(U32, uint32_t);
XLAOPS_NATIVE_TYPE(U64, uint64_t);
XLAOPS_NATIVE_TYPE(F8E3M4, float8_e3m4);
XLAOPS_NATIVE_TYPE(F8E4M3, float8_e4m3);
XLAOPS_NATIVE_TYPE(F8E4M3FN, float8_e4m3fn);
XLAOPS_NATIVE_TYPE(F8E4M3B11FNUZ, float8_e4m3b11fnuz);
XLAOPS_NATIVE_TYPE(F8E4M3FNUZ, float8_e4m3fnuz);
XLAOPS_NATIVE_TYPE(F8E5M2, float8_e5m2);
XLAOPS_NATIVE_TYPE(F8E5M2FNUZ, float8_e5m2fnuz);
XLAOPS_NATIVE_TYPE(F8E8M0FNU, float8_e8m0fnu);
XLAOPS_NATIVE_TYPE(BF16, bfloat16);
XLAOPS_NATIVE_TYPE(F16, float16);
XLAOPS_NATIVE_TYPE(F32, float);
XLAOPS_NATIVE_TYPE(F64, double);
XLAOPS_NATIVE_TYPE(C64, std::complex<float>);
XLAOPS_NATIVE_TYPE(C128, std::complex<double>);
#undef XLAOPS_NATIVE_TYPE

}  // namespace internal

// The C++ type of the elements of a buffer, also of those that XLA has no name for.
template <::xla::ffi::DataType dtype>
using Native = typename internal::NativeType<dtype>::type;

// What Dispatch calls a function with.
template <::xla::ffi::DataType dtype>
struct DType {
  static constexpr ::xla::ffi::DataType value = dtype;
  using type = Native<dtype>;
};

// A list of element types.
template <::xla::ffi::DataType... dtypes>
struct DTypes {};

namespace internal {

template <typename... Lists>
struct Joined;
template <::xla::ffi::DataType... dtypes>
struct Joined<DTypes<dtypes...>> {
  using type = DTypes<dtypes...>;
};
template <::xla::ffi::DataType... first, ::xla::ffi::DataType... second,
          typename... Rest>
struct Joined<DTypes<first...>, DTypes<second...>, Rest...>
    : Joined<DTypes<first..., second...>, Rest...> {};

template <::xla::ffi::DataType dtype, ::xla::ffi::DataType... rest, typename Function>
::xla::ffi::Error DispatchOver(DTypes<dtype, rest...>, ::xla::ffi::DataType found,
                               Function& function) {
  if (found == dtype) return function(DType<dtype>());
  if constexpr (sizeof...(rest) > 0) {
    return DispatchOver(DTypes<rest...>(), found, function);
  } else {
    // Verify has been here before.
    return ::xla::ffi::Error::Internal("no such element type");
  }
}

template <::xla::ffi::DataType... dtypes>
::xla::ffi::Error VerifyDType(DTypes<dtypes...>, std::string_view name,
                              ::xla::ffi::AnyBuffer buffer) {
  return ::xla::ffi::Verify(name, buffer,
                            ::xla::ffi::match::Buffer().WithDType<dtypes...>());
}

}  // namespace internal

template <typename... Lists>
using Join = typename internal::Joined<Lists...>::type;

using SignedIntegers = DTypes<::xla::ffi::S8, ::xla::ffi::S16, ::xla::ffi::S32,
                              ::xla::ffi::S64>;
using UnsignedIntegers = DTypes<::xla::ffi::U8, ::xla::ffi::U16, ::xla::ffi::U32,
                                ::xla::ffi::U64>;
using Integers = Join<SignedIntegers, UnsignedIntegers>;
using Floats = DTypes<::xla::ffi::F16, ::xla::ffi::BF16, ::xla::ffi::F32,
                      ::xla::ffi::F64>;
using SmallFloats = DTypes<::xla::ffi::F8E3M4, ::xla::ffi::F8E4M3, ::xla::ffi::F8E4M3FN,
                           ::xla::ffi::F8E4M3B11FNUZ,
                           ::xla::ffi::F8E4M3FNUZ, ::xla::ffi::F8E5M2,
                           ::xla::ffi::F8E5M2FNUZ, ::xla::ffi::F8E8M0FNU>;
using Complexes = DTypes<::xla::ffi::C64, ::xla::ffi::C128>;
using Numbers = Join<Integers, Floats, Complexes>;

// The elements of a buffer as T, which Dispatch or Match has found to be right.
template <typename T, typename Buffer>
T* Data(const Buffer& buffer) {
  return static_cast<T*>(buffer.untyped_data());
}

// Calls function(DType<dtype>()) for the element type of `buffer`, one of List, and
// returns the Error that it returns. If it is none of List, that is the error, with
// `name` and the text that ffi::Verify would give.
//
//   return xlaops::Dispatch<xlaops::Floats>("x", x, [&](auto dtype) {
//     using T = typename decltype(dtype)::type;
//     T* out = xlaops::Data<T>(*y);
//     ...
//     return ffi::Error::Success();
//   });
template <typename List, typename Function>
::xla::ffi::Error Dispatch(std::string_view name, ::xla::ffi::AnyBuffer buffer,
                           Function&& function) {
  if (::xla::ffi::Error error = internal::VerifyDType(List(), name, buffer);
      error.failure()) {
    return error;
  }
  return internal::DispatchOver(List(), buffer.element_type(), function);
}

}  // namespace xlaops

#endif  // XLAOPS_FFI_DISPATCH_H_
