// XLA's FFI headers, with the version that handlers report held down.

#ifndef XLAOPS_FFI_API_H_
#define XLAOPS_FFI_API_H_

#ifdef XLA_FFI_API_FFI_H_
#error "include xlaops/ffi.h before xla/ffi/api/ffi.h, or instead of it"
#endif

#include "xla/ffi/api/c_api.h"

#if XLA_FFI_API_MAJOR != 0
#error "xlaops/ffi.h knows version 0 of XLA's FFI API only"
#endif

// ffi::Match came with version 0.4, that of jaxlib 0.11.1.
#if XLA_FFI_API_MINOR >= 4
#define XLAOPS_FFI_XLA_HAS_MATCH 1
#else
#define XLAOPS_FFI_XLA_HAS_MATCH 0
#endif

// A handler reports the minor version of the FFI API whose headers compiled it, and a
// runtime refuses handlers that are newer than itself. Wheels are built with the newest
// jaxlib there is, so without this cap they would not load in an older one: JAX would
// fail to initialise its CPU backend, for the whole process. Version 0.3 is that of
// jaxlib 0.10, the oldest supported. Reporting it is safe, because the call frame has
// not changed since, and functions of later versions are at the end of XLA's table of
// functions, where handlers that do not call them never look. Do not use those here:
// XLA_FFI_Extension and what builds on it, and records and collectives.
#if XLA_FFI_API_MINOR > 3
#undef XLA_FFI_API_MINOR
#define XLA_FFI_API_MINOR 3
#endif

#include "xla/ffi/api/ffi.h"

#if defined(_WIN32)
#define XLAOPS_EXPORT __declspec(dllexport)
#define XLAOPS_WEAK_EXPORT __declspec(dllexport) inline
#else
#define XLAOPS_EXPORT __attribute__((visibility("default")))
#define XLAOPS_WEAK_EXPORT __attribute__((visibility("default"), weak))
#endif

// What a loader asks of a library before it registers any of its handlers. Weak: each
// source file that includes this header has them, and the library has them once.
extern "C" {
XLAOPS_WEAK_EXPORT int xlaops_ffi_api_major() { return XLA_FFI_API_MAJOR; }
XLAOPS_WEAK_EXPORT int xlaops_ffi_api_minor() { return XLA_FFI_API_MINOR; }
}

#endif  // XLAOPS_FFI_API_H_
