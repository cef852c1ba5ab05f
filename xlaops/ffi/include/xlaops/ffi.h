// XLA's FFI for handlers that one binary serves to every supported jaxlib, and what
// handlers need beside it. Include this instead of "xla/ffi/api/ffi.h".
//
//   #include "xlaops/ffi.h"
//   namespace ffi = xla::ffi;
//
//   ffi::Error Scale(ffi::Buffer<ffi::F32> x, float factor,
//                    ffi::ResultBuffer<ffi::F32> y) {
//     for (size_t i = 0; i < x.element_count(); ++i) {
//       y->typed_data()[i] = factor * x.typed_data()[i];
//     }
//     return ffi::Error::Success();
//   }
//   XLAOPS_DEFINE_HANDLER(scale, Scale,
//                         ffi::Ffi::Bind()
//                             .Arg<ffi::Buffer<ffi::F32>>()
//                             .Attr<float>("factor")
//                             .Ret<ffi::Buffer<ffi::F32>>());
//
// The parts can be included one by one as well:
//   api.h       XLA's headers, with the version that handlers report held down
//   handler.h   XLAOPS_DEFINE_HANDLER and its kin
//   match.h     ffi::Match, ffi::Verify and ffi::match, also where jaxlib lacks them
//   parallel.h  xlaops::ParFor, a loop on XLA's threads
//   numbers.h   float16, bfloat16, float8 and float4 as C++ types
//   dispatch.h  xlaops::Dispatch, from an element type at run time to a C++ type
//   packed.h    xlaops::Packed, numbers of less than a byte

#ifndef XLAOPS_FFI_H_
#define XLAOPS_FFI_H_

#include "xlaops/ffi/api.h"
#include "xlaops/ffi/dispatch.h"
#include "xlaops/ffi/handler.h"
#include "xlaops/ffi/match.h"
#include "xlaops/ffi/numbers.h"
#include "xlaops/ffi/packed.h"
#include "xlaops/ffi/parallel.h"

#endif  // XLAOPS_FFI_H_
