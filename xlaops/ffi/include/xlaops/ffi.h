// XLA's FFI for handlers that one binary serves to every supported jaxlib.
//
// Include this instead of "xla/ffi/api/ffi.h".

#ifndef XLAOPS_FFI_H_
#define XLAOPS_FFI_H_

#include "xla/ffi/api/c_api.h"

// A handler reports the minor version of the FFI API whose headers compiled it, and a
// runtime refuses handlers that are newer than itself. Wheels are built with the newest
// jaxlib there is, so without this cap they would not load in an older one: JAX would
// fail to initialise its CPU backend, for the whole process. Version 0.3 is that of
// jaxlib 0.10, the oldest supported. Reporting it is safe, because the call frame has
// not changed since, and functions of later versions are at the end of XLA's table of
// functions, where handlers that do not call them never look. Do not use those here:
// XLA_FFI_Extension and what builds on it, and records and collectives.
#if XLA_FFI_API_MAJOR != 0
#error "xlaops/ffi.h knows version 0 of XLA's FFI API only"
#endif
#if XLA_FFI_API_MINOR > 3
#undef XLA_FFI_API_MINOR
#define XLA_FFI_API_MINOR 3
#endif

#include "xla/ffi/api/ffi.h"

#if defined(_WIN32)
#define XLAOPS_EXPORT __declspec(dllexport)
#else
#define XLAOPS_EXPORT __attribute__((visibility("default")))
#endif

// Defines the exported C symbol `name`, a handler that runs `function` with the
// arguments that `binding` (xla::ffi::Ffi::Bind()...) decodes. A semicolon follows.
//
// The declaration in front carries the visibility, for libraries that are built with
// -fvisibility=hidden: GCC drops an attribute that stands before `extern "C"` in a
// definition.
#define XLAOPS_DEFINE_HANDLER(name, function, ...)                             \
  extern "C" XLAOPS_EXPORT XLA_FFI_Error* name(XLA_FFI_CallFrame* call_frame); \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, __VA_ARGS__)

#endif  // XLAOPS_FFI_H_
