"""One operation with a handler for the CPU and one for GPUs, on XLA's stream.

Where there is no nvcc the GPU runs the reference, as every other platform does.

Source: "Create a custom call on CPU" and "Create a custom call on GPU" of XLA's *Custom
calls* document, whose example this is: A[i] = B[i mod 128] + C[i].
"""

import jax
import jax.numpy as jnp

import xlaops.ffi

CPU = r"""
#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error Add(ffi::BufferR1<ffi::F32> b, ffi::BufferR1<ffi::F32> c,
                      ffi::ResultBufferR1<ffi::F32> a) {
  size_t m = b.element_count();
  for (size_t i = 0; i < c.element_count(); ++i) {
    a->typed_data()[i] = b.typed_data()[i % m] + c.typed_data()[i];
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(add, Add);
"""

CUDA = r"""
#include <cuda_runtime_api.h>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

__global__ void AddKernel(const float* b, const float* c, float* a, size_t m,
                          size_t n) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) a[i] = b[i % m] + c[i];
}

static ffi::Error Add(cudaStream_t stream, ffi::BufferR1<ffi::F32> b,
                      ffi::BufferR1<ffi::F32> c, ffi::ResultBufferR1<ffi::F32> a) {
  size_t n = c.element_count();
  if (n == 0) return ffi::Error::Success();
  // Nothing is waited for: what XLA runs next is behind it on the same stream.
  AddKernel<<<(n + 255) / 256, 256, 0, stream>>>(b.typed_data(), c.typed_data(),
                                                 a->typed_data(), b.element_count(), n);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return ffi::Error::Internal(cudaGetErrorString(error));
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(add, Add,
                      ffi::Ffi::Bind()
                          .Ctx<ffi::PlatformStream<cudaStream_t>>()
                          .Arg<ffi::BufferR1<ffi::F32>>()
                          .Arg<ffi::BufferR1<ffi::F32>>()
                          .Ret<ffi::BufferR1<ffi::F32>>());
"""


def handlers():
    """By platform the targets that this machine can build."""
    found = {"cpu": xlaops.ffi.load("ring", source_text=CPU).target("add")}
    try:
        cuda = xlaops.ffi.load("ring_cuda", source_text=CUDA, language="cuda")
    except xlaops.ffi.CompilerNotFoundError:
        return found
    return {**found, "cuda": cuda.target("add")}


HANDLERS = handlers()


@xlaops.ffi.op(
    HANDLERS,
    operands={"b": "f32[m]", "c": "f32[n]"},
    result="f32[n]",
    sharding="_, n -> n",
)
def ring_add(b, c):
    """Computes ``b[i mod m] + c[i]``."""
    return b[jnp.arange(c.shape[0]) % b.shape[0]] + c


def program_for(platform):
    """The program that JAX makes for a platform, which need not be here."""
    b, c = jnp.zeros(128), jnp.zeros(2048)
    traced = jax.jit(ring_add).trace(b, c)
    return traced.lower(lowering_platforms=(platform,)).as_text()


def main():
    b, c = jnp.arange(128.0), jnp.full(2048, 1000.0)
    print(ring_add(b, c)[:4], ring_add(b, c)[-1])
    for platform in ("cpu", "cuda", "tpu"):
        print(platform, "custom_call" in program_for(platform))


if __name__ == "__main__":
    main()
