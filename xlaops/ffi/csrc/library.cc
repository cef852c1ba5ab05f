// What the loader asks of the library before it registers any handler.

#include "xlaops/ffi.h"

extern "C" XLAOPS_EXPORT int xlaops_ffi_api_major() { return XLA_FFI_API_MAJOR; }
extern "C" XLAOPS_EXPORT int xlaops_ffi_api_minor() { return XLA_FFI_API_MINOR; }
