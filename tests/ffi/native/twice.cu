// y = 2 x on a GPU.

#include <cuda_runtime.h>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

template <typename T>
__global__ void TwiceKernel(const T* x, T* y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = T(2.0f * static_cast<float>(x[i]));
}

static ffi::Error Twice(cudaStream_t stream, ffi::AnyBuffer x,
                        ffi::Result<ffi::AnyBuffer> y) {
  const size_t n = x.element_count();
  if (n == 0) return ffi::Error::Success();
  return xlaops::Dispatch<xlaops::DTypes<ffi::F32, ffi::BF16>>("x", x, [&](auto dtype) {
    using T = typename decltype(dtype)::type;
    TwiceKernel<<<(n + 255) / 256, 256, 0, stream>>>(xlaops::Data<T>(x),
                                                     xlaops::Data<T>(*y), n);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? ffi::Error::Success()
                                : ffi::Error::Internal(cudaGetErrorString(error));
  });
}

XLAOPS_DEFINE_HANDLER(twice, Twice,
                      ffi::Ffi::Bind()
                          .Ctx<ffi::PlatformStream<cudaStream_t>>()
                          .Arg<ffi::AnyBuffer>()
                          .Ret<ffi::AnyBuffer>(),
                      {ffi::Traits::kCmdBufferCompatible});
