// Handlers for the tests of xlaops.ffi.op.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

static std::atomic<int64_t> calls{0};

extern "C" XLAOPS_EXPORT int64_t test_calls() { return calls.load(); }

static float* Out(ffi::Result<ffi::AnyBuffer>& y) {
  return y->typed_data<float>();
}

// sin(x) * factor for any shape.
static ffi::Error ScaledSine(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y,
                             float factor) {
  ++calls;
  for (size_t i = 0; i < x.element_count(); ++i) {
    Out(y)[i] = std::sin(x.typed_data<float>()[i]) * factor;
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(scaled_sine, ScaledSine,
                      ffi::Ffi::Bind()
                          .Arg<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>()
                          .Attr<float>("factor"));

// The sum of a vector, of that rank alone.
static ffi::Error Total(ffi::BufferR1<ffi::F32> x,
                        ffi::Result<ffi::BufferR0<ffi::F32>> y) {
  ++calls;
  float sum = 0;
  for (size_t i = 0; i < x.element_count(); ++i) sum += x.typed_data()[i];
  *y->typed_data() = sum;
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(total, Total,
                      ffi::Ffi::Bind()
                          .Arg<ffi::BufferR1<ffi::F32>>()
                          .Ret<ffi::BufferR0<ffi::F32>>());

// Each row of x, sorted, plus a row of w, which has one for every so many rows of x.
static ffi::Error SortRows(ffi::AnyBuffer x, ffi::AnyBuffer w,
                           ffi::Result<ffi::AnyBuffer> y) {
  ++calls;
  int64_t n = x.dimensions().back();
  int64_t rows = n == 0 ? 0 : x.element_count() / n;
  int64_t others = n == 0 ? 0 : w.element_count() / n;
  for (int64_t r = 0; r < rows; ++r) {
    float* row = Out(y) + r * n;
    std::copy_n(x.typed_data<float>() + r * n, n, row);
    std::sort(row, row + n);
    const float* own = w.typed_data<float>() + r * others / rows * n;
    for (int64_t i = 0; i < n; ++i) row[i] += own[i];
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(sort_rows, SortRows,
                      ffi::Ffi::Bind()
                          .Arg<ffi::AnyBuffer>()
                          .Arg<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>());

// Which C++ type the attribute v has.
static ffi::Error KindOf(ffi::Dictionary attrs, ffi::Result<ffi::AnyBuffer> y) {
  float kind = 0;
  if (attrs.get<bool>("v").has_value()) kind = 1;
  if (attrs.get<int32_t>("v").has_value()) kind = 2;
  if (attrs.get<int64_t>("v").has_value()) kind = 3;
  if (attrs.get<float>("v").has_value()) kind = 4;
  if (attrs.get<double>("v").has_value()) kind = 5;
  if (attrs.get<uint8_t>("v").has_value()) kind = 6;
  if (attrs.get<std::string_view>("v").has_value()) kind = 7;
  Out(y)[0] = kind;
  Out(y)[1] = attrs.size();
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(kind_of, KindOf,
                      ffi::Ffi::Bind().Attrs().Ret<ffi::AnyBuffer>());

// The bits of one number of every type.
static ffi::Error EveryNumber(int8_t s8, int16_t s16, int32_t s32, int64_t s64,
                              uint8_t u8, uint16_t u16, uint32_t u32,
                              uint64_t u64, float f32, double f64, bool pred,
                              ffi::Result<ffi::AnyBuffer> y) {
  auto* out = y->typed_data<int64_t>();
  int64_t bits32 = 0, bits64 = 0;
  std::memcpy(&bits32, &f32, 4);
  std::memcpy(&bits64, &f64, 8);
  int64_t values[] = {s8,  s16, s32,    s64,    u8,  u16, u32, (int64_t)u64,
                      bits32, bits64, pred};
  std::copy(std::begin(values), std::end(values), out);
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(every_number, EveryNumber,
                      ffi::Ffi::Bind()
                          .Attr<int8_t>("s8")
                          .Attr<int16_t>("s16")
                          .Attr<int32_t>("s32")
                          .Attr<int64_t>("s64")
                          .Attr<uint8_t>("u8")
                          .Attr<uint16_t>("u16")
                          .Attr<uint32_t>("u32")
                          .Attr<uint64_t>("u64")
                          .Attr<float>("f32")
                          .Attr<double>("f64")
                          .Attr<bool>("pred")
                          .Ret<ffi::AnyBuffer>());

// Bytes of a text, numbers of arrays, parts of a complex number.
static ffi::Error TextAndArrays(std::string_view text,
                                ffi::Span<const int32_t> ints,
                                ffi::Span<const uint8_t> bytes,
                                ffi::Span<const double> doubles,
                                ffi::Span<const float> number,
                                ffi::Result<ffi::AnyBuffer> y) {
  auto* out = y->typed_data<double>();
  double sum = 0;
  for (char c : text) sum = sum * 2 + static_cast<unsigned char>(c);
  *out++ = text.size();
  *out++ = sum;
  *out++ = ints.size();
  sum = 0;
  for (int32_t v : ints) sum = 3 * sum + v;
  *out++ = sum;
  sum = 0;
  for (uint8_t v : bytes) sum = 3 * sum + v;
  *out++ = sum;
  sum = 0;
  for (double v : doubles) sum += v;
  *out++ = sum;
  *out++ = number[0];
  *out++ = number[1];
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(text_and_arrays, TextAndArrays,
                      ffi::Ffi::Bind()
                          .Attr<std::string_view>("text")
                          .Attr<ffi::Span<const int32_t>>("ints")
                          .Attr<ffi::Span<const uint8_t>>("bytes")
                          .Attr<ffi::Span<const double>>("doubles")
                          .Attr<ffi::Span<const float>>("number")
                          .Ret<ffi::AnyBuffer>());

// A struct in a struct, with an enum.
enum class Mode : uint8_t { kDown = 1, kUp = 200 };
XLA_FFI_REGISTER_ENUM_ATTR_DECODING(Mode);
struct Range {
  int64_t low;
  float high;
};
struct Options {
  Range range;
  Mode mode;
  std::string_view name;
};
XLA_FFI_REGISTER_STRUCT_ATTR_DECODING(Range, ffi::StructMember<int64_t>("low"),
                                      ffi::StructMember<float>("high"));
XLA_FFI_REGISTER_STRUCT_ATTR_DECODING(Options,
                                      ffi::StructMember<Range>("range"),
                                      ffi::StructMember<Mode>("mode"),
                                      ffi::StructMember<std::string_view>(
                                          "name"));
static ffi::Error Structs(Options options, ffi::Dictionary more,
                          ffi::Result<ffi::AnyBuffer> y) {
  Out(y)[0] = options.range.low;
  Out(y)[1] = options.range.high;
  Out(y)[2] = static_cast<int>(options.mode);
  Out(y)[3] = options.name.size();
  auto depth = more.get<int32_t>("depth");
  if (!depth.has_value()) return depth.error();
  Out(y)[4] = *depth;
  auto inner = more.get<ffi::Dictionary>("inner");
  if (!inner.has_value()) return inner.error();
  auto x = inner->get<float>("x");
  if (!x.has_value()) return x.error();
  Out(y)[5] = *x;
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(structs, Structs,
                      ffi::Ffi::Bind()
                          .Attr<Options>("options")
                          .Attr<ffi::Dictionary>("more")
                          .Ret<ffi::AnyBuffer>());

// The sum of all arguments, and each of them, negated.
static ffi::Error Negated(ffi::AnyBuffer first, ffi::RemainingArgs rest,
                          ffi::Result<ffi::AnyBuffer> sum,
                          ffi::RemainingRets outs) {
  size_t n = first.element_count();
  float* total = Out(sum);
  std::copy_n(first.typed_data<float>(), n, total);
  for (size_t i = 0; i < rest.size(); ++i) {
    auto x = rest.get<ffi::AnyBuffer>(i);
    if (!x.has_value()) return x.error();
    for (size_t j = 0; j < n; ++j) total[j] += x->typed_data<float>()[j];
    if (i < outs.size()) {
      auto y = outs.get<ffi::AnyBuffer>(i);
      if (!y.has_value()) return y.error();
      for (size_t j = 0; j < n; ++j) {
        (*y)->typed_data<float>()[j] = -x->typed_data<float>()[j];
      }
    }
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(negated, Negated,
                      ffi::Ffi::Bind()
                          .Arg<ffi::AnyBuffer>()
                          .RemainingArgs()
                          .Ret<ffi::AnyBuffer>()
                          .RemainingRets());

// x, or x + y, and whether there was a y.
static ffi::Error Optional(ffi::AnyBuffer x,
                           std::optional<ffi::AnyBuffer> maybe,
                           ffi::Result<ffi::AnyBuffer> y,
                           std::optional<ffi::Result<ffi::AnyBuffer>> had) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    Out(y)[i] = x.typed_data<float>()[i];
    if (maybe) Out(y)[i] += maybe->typed_data<float>()[i];
  }
  if (had) *(*had)->typed_data<float>() = maybe ? 1 : 0;
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(optional, Optional,
                      ffi::Ffi::Bind()
                          .Arg<ffi::AnyBuffer>()
                          .OptionalArg<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>()
                          .OptionalRet<ffi::AnyBuffer>());

// y = x + 1 and whether it lies where x did, with scratch of twice the size.
static ffi::Error Increment(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y,
                            ffi::Result<ffi::AnyBuffer> same,
                            ffi::RemainingRets scratch) {
  *Out(same) = x.untyped_data() == y->untyped_data();
  for (size_t i = 0; i < x.element_count(); ++i) {
    Out(y)[i] = x.typed_data<float>()[i] + 1;
  }
  if (scratch.size() == 1) {
    auto memory = scratch.get<ffi::AnyBuffer>(0);
    if (!memory.has_value()) return memory.error();
    if ((*memory)->element_count() != 2 * x.element_count()) {
      return ffi::Error::InvalidArgument("scratch of another size");
    }
    std::fill_n((*memory)->typed_data<float>(), 2 * x.element_count(), 7.f);
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(increment, Increment,
                      ffi::Ffi::Bind()
                          .Arg<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>()
                          .RemainingRets());

// Counts its calls, and does nothing else.
static ffi::Error Tick(ffi::RemainingArgs, ffi::RemainingRets) {
  ++calls;
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(tick, Tick,
                      ffi::Ffi::Bind().RemainingArgs().RemainingRets());

// An error of the given code; of 0, a C++ exception.
static ffi::Error Fail(ffi::AnyBuffer, ffi::Result<ffi::AnyBuffer>,
                       int32_t code) {
  if (code == 0) throw std::runtime_error("thrown");
  return ffi::Error(static_cast<ffi::ErrorCode>(code),
                    "code " + std::to_string(code));
}
XLAOPS_DEFINE_HANDLER(fail, Fail,
                      ffi::Ffi::Bind()
                          .Arg<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>()
                          .Attr<int32_t>("code"));

// The elements as they lie in memory, whatever the dimensions mean.
static ffi::Error Raw(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  std::memcpy(y->untyped_data(), x.untyped_data(), x.size_bytes());
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(raw, Raw,
                      ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());

// Of API_VERSION_ORIGINAL: the sum of two vectors of four floats.
extern "C" XLAOPS_EXPORT void original_add(void* out, const void** in) {
  for (int i = 0; i < 4; ++i) {
    static_cast<float*>(out)[i] = static_cast<const float*>(in[0])[i] +
                                  static_cast<const float*>(in[1])[i];
  }
}
