// Handlers that try out xlaops/ffi.h: element types and ParFor.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

namespace {

// ---- Element types

using AnyNumber = xlaops::Join<xlaops::Floats, xlaops::SmallFloats, xlaops::Integers,
                               xlaops::DTypes<ffi::PRED>>;

template <ffi::DataType dtype>
void PackedToFloat(ffi::AnyBuffer x, float* y) {
  const xlaops::Packed<dtype> packed(x);
  for (size_t i = 0; i < x.element_count(); ++i) {
    y[i] = static_cast<float>(packed.Get(i));
  }
}

template <ffi::DataType dtype>
void FloatToPacked(const float* x, ffi::AnyBuffer y) {
  const xlaops::Packed<dtype> packed(y);
  using T = typename xlaops::Packed<dtype>::value_type;
  // From the end: setting one must leave its neighbours as they are.
  for (size_t i = y.element_count(); i-- > 0;) packed.Set(i, T(x[i]));
}

#define EACH_PACKED(FUNCTION, ...)                        \
  switch (dtype) {                                        \
    case ffi::S2:                                         \
      FUNCTION<ffi::S2>(__VA_ARGS__);                     \
      break;                                              \
    case ffi::S4:                                         \
      FUNCTION<ffi::S4>(__VA_ARGS__);                     \
      break;                                              \
    case ffi::U2:                                         \
      FUNCTION<ffi::U2>(__VA_ARGS__);                     \
      break;                                              \
    case ffi::U4:                                         \
      FUNCTION<ffi::U4>(__VA_ARGS__);                     \
      break;                                              \
    case ffi::F4E2M1FN:                                   \
      FUNCTION<ffi::F4E2M1FN>(__VA_ARGS__);               \
      break;                                              \
    default:                                              \
      return ffi::Error::InvalidArgument("not packed");   \
  }                                                       \
  return ffi::Error::Success()

ffi::Error FromPacked(ffi::AnyBuffer x, ffi::ResultBuffer<ffi::F32> y) {
  const ffi::DataType dtype = x.element_type();
  EACH_PACKED(PackedToFloat, x, y->typed_data());
}

ffi::Error ToPacked(ffi::Buffer<ffi::F32> x, ffi::Result<ffi::AnyBuffer> y) {
  const ffi::DataType dtype = y->element_type();
  EACH_PACKED(FloatToPacked, x.typed_data(), *y);
}

ffi::Error FromFloat(ffi::Buffer<ffi::F32> x, ffi::Result<ffi::AnyBuffer> y) {
  return xlaops::Dispatch<AnyNumber>("y", *y, [&](auto dtype) {
    using T = typename decltype(dtype)::type;
    for (size_t i = 0; i < x.element_count(); ++i) {
      xlaops::Data<T>(*y)[i] = T(x.typed_data()[i]);
    }
    return ffi::Error::Success();
  });
}

ffi::Error ToFloat(ffi::AnyBuffer x, ffi::ResultBuffer<ffi::F32> y) {
  return xlaops::Dispatch<AnyNumber>("x", x, [&](auto dtype) {
    using T = typename decltype(dtype)::type;
    for (size_t i = 0; i < x.element_count(); ++i) {
      y->typed_data()[i] = static_cast<float>(xlaops::Data<T>(x)[i]);
    }
    return ffi::Error::Success();
  });
}

ffi::Error Conjugate(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  return xlaops::Dispatch<xlaops::Complexes>("x", x, [&](auto dtype) {
    using T = typename decltype(dtype)::type;
    static_assert(std::is_same_v<T, ffi::NativeType<decltype(dtype)::value>>);
    for (size_t i = 0; i < x.element_count(); ++i) {
      xlaops::Data<T>(*y)[i] = std::conj(xlaops::Data<T>(x)[i]);
    }
    return ffi::Error::Success();
  });
}

// ---- ParFor

// How often each index was visited.
ffi::Error Visits(ffi::ThreadPool pool, int64_t grain, ffi::ResultBufferR1<ffi::S32> y) {
  const int64_t size = static_cast<int64_t>(y->element_count());
  std::fill_n(y->typed_data(), size, 0);
  xlaops::ParFor(pool, size, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y->typed_data()[i] += 1;
  });
  return ffi::Error::Success();
}

// The number of ranges, the smallest one, and whether one was empty.
ffi::Error Ranges(ffi::ThreadPool pool, int64_t size, int64_t grain,
                  ffi::ResultBufferR1<ffi::S32> y) {
  std::atomic<int32_t> count{0}, least{1 << 30}, threads{0};
  xlaops::ParFor(pool, size, grain, [&](int64_t begin, int64_t end) {
    ++count;
    const int32_t length = static_cast<int32_t>(end - begin);
    int32_t seen = least.load();
    while (length < seen && !least.compare_exchange_weak(seen, length)) {
    }
  });
  y->typed_data()[0] = count;
  y->typed_data()[1] = least;
  y->typed_data()[2] = static_cast<int32_t>(pool.num_threads());
  return ffi::Error::Success();
}

// Slow pieces, so that all handlers of a program are at work at once.
ffi::Error Stress(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x,
                  ffi::ResultBuffer<ffi::F32> y) {
  const int64_t size = static_cast<int64_t>(x.element_count());
  xlaops::ParFor(pool, size, 1, [&](int64_t begin, int64_t end) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (int64_t i = begin; i < end; ++i) y->typed_data()[i] = 2 * x.typed_data()[i];
  });
  return ffi::Error::Success();
}

ffi::Error Nested(ffi::ThreadPool pool, ffi::ResultBufferR2<ffi::S32> y) {
  const int64_t rows = y->dimensions()[0], cols = y->dimensions()[1];
  xlaops::ParFor(pool, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      xlaops::ParFor(pool, cols, 1, [&](int64_t first, int64_t last) {
        for (int64_t col = first; col < last; ++col) {
          y->typed_data()[row * cols + col] = static_cast<int32_t>(row * cols + col);
        }
      });
    }
  });
  return ffi::Error::Success();
}

ffi::Error ThrowInside(ffi::ThreadPool pool, ffi::ResultBufferR0<ffi::S32>) {
  xlaops::ParFor(pool, 1000, 1, [&](int64_t begin, int64_t) {
    if (begin >= 500) throw std::runtime_error("in the middle");
  });
  return ffi::Error::Success();
}

}  // namespace

XLAOPS_DEFINE_HANDLER(from_float, FromFloat);
XLAOPS_DEFINE_HANDLER(to_float, ToFloat);
XLAOPS_DEFINE_HANDLER(from_packed, FromPacked);
XLAOPS_DEFINE_HANDLER(to_packed, ToPacked);
XLAOPS_DEFINE_HANDLER(conjugate, Conjugate);

XLAOPS_DEFINE_HANDLER(visits, Visits,
                      ffi::Ffi::Bind()
                          .Ctx<ffi::ThreadPool>()
                          .Attr<int64_t>("grain")
                          .Ret<ffi::BufferR1<ffi::S32>>());
XLAOPS_DEFINE_HANDLER(ranges, Ranges,
                      ffi::Ffi::Bind()
                          .Ctx<ffi::ThreadPool>()
                          .Attr<int64_t>("size")
                          .Attr<int64_t>("grain")
                          .Ret<ffi::BufferR1<ffi::S32>>());
XLAOPS_DEFINE_HANDLER(stress, Stress,
                      ffi::Ffi::Bind()
                          .Ctx<ffi::ThreadPool>()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Ret<ffi::Buffer<ffi::F32>>());
XLAOPS_DEFINE_HANDLER(
    nested, Nested,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Ret<ffi::Buffer<ffi::S32, 2>>());
XLAOPS_DEFINE_HANDLER(
    throws_inside, ThrowInside,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Ret<ffi::Buffer<ffi::S32, 0>>());

