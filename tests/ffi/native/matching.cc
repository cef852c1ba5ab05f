// Handlers that try out xlaops/ffi.h: Match and Verify, exceptions, stages.

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;
namespace match = ::xla::ffi::match;

namespace {

// ---- Match and Verify

ffi::Error CopyMatrix(ffi::AnyBuffer input, ffi::Result<ffi::AnyBuffer> output) {
  int64_t rows, cols;
  ffi::ErrorOr<ffi::BufferR2<ffi::F32>> in =
      ffi::Match("input", input, match::Buffer<ffi::F32>().WithDims(&rows, &cols));
  if (in.has_error()) return std::move(in).error();
  ffi::ErrorOr<ffi::Result<ffi::BufferR2<ffi::F32>>> out =
      ffi::Match("output", output, match::Buffer<ffi::F32>().WithDims(rows, cols));
  if (out.has_error()) return std::move(out).error();
  std::memcpy((*out)->typed_data(), in->typed_data(), in->size_bytes());
  return ffi::Error::Success();
}

// What the dimensions were captured as, which a failed match must not touch.
ffi::Error Captured(ffi::AnyBuffer matrix, ffi::ResultBufferR1<ffi::S32> out) {
  int64_t first = -1, second = -2;
  const bool fits = ffi::Verify("matrix", matrix,
                                match::Buffer<ffi::F32>().WithDims(&first, &second, 5))
                        .success();
  out->typed_data()[0] = fits;
  out->typed_data()[1] = static_cast<int32_t>(first);
  out->typed_data()[2] = static_cast<int32_t>(second);
  return ffi::Error::Success();
}

ffi::Error Square(ffi::AnyBuffer matrix, ffi::ResultBufferR0<ffi::S32> out) {
  int64_t n = -1;
  auto square =
      ffi::Match("matrix", matrix, match::Buffer<ffi::F32>().WithDims(&n, &n));
  if (square.has_error()) return std::move(square).error();
  out->typed_data()[0] = static_cast<int32_t>(n);
  return ffi::Error::Success();
}

ffi::Error FixedDim(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer>) {
  return ffi::Verify(
      "x", x, match::Buffer<ffi::F32>().WithDims(match::Dim(16), match::Dim()));
}

ffi::Error OneDim(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer>) {
  return ffi::Verify("x", x, match::Buffer().WithDim(1, 16).WithDim<0>(match::Dim()));
}

ffi::Error Alternatives(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer>) {
  return ffi::Verify(
      "indices", x,
      match::Buffer().WithDType<ffi::S32, ffi::S16>().WithRank<1, 2>());
}

ffi::Error KeysAndValues(ffi::AnyBuffer keys, ffi::AnyBuffer values,
                         ffi::Result<ffi::AnyBuffer> sorted) {
  ffi::Error error =
      ffi::Verify("values", values, match::Buffer().WithShapeOf(keys));
  if (error.failure()) return error;
  return ffi::Verify("sorted", *sorted, match::Buffer().Like(keys));
}

// A later constraint takes the place of an earlier one of its kind.
ffi::Error Replaced(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  return ffi::Verify("x", x,
                     match::Buffer<ffi::F32, 3>()
                         .Like(*y)
                         .WithDType<ffi::S8>()
                         .WithRank<2>()
                         .WithDim(1, 7));
}

// The buffer has a type already; the pattern leaves a choice.
ffi::Error Typed(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  int64_t n = 0;
  auto in = ffi::Match("x", x, match::Buffer().WithRank<1, 2>().WithDim(0, &n));
  if (in.has_error()) return std::move(in).error();
  auto out = ffi::Match("y", y, match::Buffer<ffi::F32>().Like(*in));
  if (out.has_error()) return std::move(out).error();
  for (size_t i = 0; i < in->element_count(); ++i) {
    (*out)->typed_data()[i] = in->typed_data()[i] + static_cast<float>(n);
  }
  return ffi::Error::Success();
}

ffi::Error RankInType(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer>) {
  ffi::ErrorOr<ffi::BufferR2<ffi::S32>> matched =
      ffi::Match("x", x, match::Buffer<ffi::S32, 2>());
  return matched.has_error() ? std::move(matched).error() : ffi::Error::Success();
}

// ---- Exceptions

ffi::Error Throw(int32_t what, ffi::ResultBufferR0<ffi::S32> y) {
  switch (what) {
    case 0:
      throw std::runtime_error("boom, ünïcode");
    case 1:
      throw 42;
    case 2:
      throw std::bad_alloc();
    case 3:
      throw std::out_of_range("");
    default:
      y->typed_data()[0] = what;
      return ffi::Error::Success();
  }
}

}  // namespace

namespace kit {

// ---- Stages and state

struct Counter {
  static ffi::TypeId id;
  int64_t value;
};

ffi::ErrorOr<std::unique_ptr<Counter>> Start(int64_t first) {
  if (first < 0) {
    return ffi::Unexpected<ffi::Error>(
        ffi::Error::InvalidArgument("first must not be negative"));
  }
  return std::make_unique<Counter>(Counter{first});
}

ffi::Error Count(Counter* counter, ffi::ResultBufferR0<ffi::S32> y) {
  y->typed_data()[0] = static_cast<int32_t>(counter->value++);
  return ffi::Error::Success();
}

// A variable that two builds of this file would share if they were careless.
template <typename T>
int& Shared() {
  static int value = 0;
  return value;
}

ffi::Error CountCalls(ffi::ResultBufferR0<ffi::S32> y) {
  y->typed_data()[0] = ++Shared<float>();
  return ffi::Error::Success();
}

}  // namespace kit

#define ANY_TO_ANY ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>()

XLAOPS_DEFINE_HANDLER(copy_matrix, CopyMatrix, ANY_TO_ANY);
XLAOPS_DEFINE_HANDLER(captured, Captured);
XLAOPS_DEFINE_HANDLER(square, Square);
XLAOPS_DEFINE_HANDLER(fixed_dim, FixedDim);
XLAOPS_DEFINE_HANDLER(one_dim, OneDim);
XLAOPS_DEFINE_HANDLER(alternatives, Alternatives);
XLAOPS_DEFINE_HANDLER(keys_and_values, KeysAndValues);
XLAOPS_DEFINE_HANDLER(replaced, Replaced);
XLAOPS_DEFINE_HANDLER(typed, Typed);
XLAOPS_DEFINE_HANDLER(rank_in_type, RankInType);

XLAOPS_DEFINE_HANDLER(
    throws, Throw,
    ffi::Ffi::Bind().Attr<int32_t>("what").Ret<ffi::Buffer<ffi::S32, 0>>());

XLAOPS_DEFINE_STATE(counter, kit::Counter);
XLAOPS_DEFINE_INSTANTIATE_HANDLER(counter_start, kit::Start,
                                  ffi::Ffi::BindInstantiate().Attr<int64_t>("first"));
XLAOPS_DEFINE_HANDLER(counter_next, kit::Count,
                      ffi::Ffi::Bind()
                          .Ctx<ffi::State<kit::Counter>>()
                          .Ret<ffi::BufferR0<ffi::S32>>(),
                      {ffi::Traits::kCmdBufferCompatible});
XLAOPS_DEFINE_HANDLER(count_calls, kit::CountCalls);

// The ways to give a function.
using Int = ffi::BufferR0<ffi::S32>;
XLAOPS_DEFINE_HANDLER(lambda, [](Int x, ffi::Result<Int> y) {
  y->typed_data()[0] = x.typed_data()[0] + 1;
  return ffi::Error::Success();
});
static ffi::Error (*const pointer_to_square)(ffi::AnyBuffer, ffi::Result<Int>) = Square;
XLAOPS_DEFINE_HANDLER(pointer, pointer_to_square);

// XLA's own macro, as in its document.
XLA_FFI_DEFINE_HANDLER_SYMBOL(of_xla, CopyMatrix, ANY_TO_ANY);
// Exported, and no handler.
extern "C" XLAOPS_EXPORT int not_a_handler(void*) { return 1; }
