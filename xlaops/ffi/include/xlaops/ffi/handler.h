// Handlers as exported C symbols.

#ifndef XLAOPS_FFI_HANDLER_H_
#define XLAOPS_FFI_HANDLER_H_

#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "xlaops/ffi/api.h"

namespace xlaops::internal {

// The three ways to say what a handler takes. Functions, not XLA's macros, which would
// take the comma in `Buffer<F32, 2>` for one between their arguments.
template <::xla::ffi::ExecutionStage stage, typename Function>
auto NewHandler(Function function) {
  return ::xla::ffi::Ffi::BindTo<Function, stage>(std::move(function)).release();
}
template <::xla::ffi::ExecutionStage stage, typename Function, typename... Parts>
auto NewHandler(Function function, ::xla::ffi::Binding<stage, Parts...> binding,
                std::initializer_list<::xla::ffi::Traits> traits = {}) {
  return std::move(binding).To(std::move(function), traits).release();
}

inline XLA_FFI_Error* NewError(const XLA_FFI_Api* api, XLA_FFI_Error_Code code,
                               const char* message) {
  XLA_FFI_Error_Create_Args args;
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.extension_start = nullptr;
  args.message = message;
  args.errc = code;
  return api->XLA_FFI_Error_Create(&args);
}

// Runs a handler. What it throws becomes an error here, inside of the library: whether
// an exception could be caught on the other side depends on the C++ runtimes that the
// two sides are linked to.
inline XLA_FFI_Error* Run(const char* name, const ::xla::ffi::Ffi& handler,
                          XLA_FFI_CallFrame* call_frame) {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  try {
    std::string message;
    try {
      return handler.Call(call_frame);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      message = std::string(name) + " threw a C++ exception: " + error.what();
    } catch (...) {
      message = std::string(name) + " threw a C++ exception that is no std::exception";
    }
    return NewError(call_frame->api, XLA_FFI_Error_Code_UNKNOWN, message.c_str());
  } catch (...) {
    // No memory, for the handler or for the message. This text needs none of ours.
    return NewError(call_frame->api, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED,
                    "a handler ran out of memory");
  }
#else
  static_cast<void>(name);
  return handler.Call(call_frame);
#endif
}

}  // namespace xlaops::internal

// Defines the exported C symbol `name`, a handler of the stage `stage`. A semicolon
// follows. The constant beside it says that this is a handler, and of which stage: XLA
// calls whatever it is given as one, so a loader asks first.
//
// The declaration in front carries the visibility, for libraries that are built with
// -fvisibility=hidden: GCC drops an attribute that stands before `extern "C"` in a
// definition.
#define XLAOPS_DEFINE_STAGE_HANDLER(name, stage, ...)                               \
  extern "C" XLAOPS_EXPORT const int name##_xlaops_stage;                           \
  extern "C" const int name##_xlaops_stage =                                        \
      static_cast<int>(::xla::ffi::ExecutionStage::stage);                          \
  extern "C" XLAOPS_EXPORT XLA_FFI_Error* name(XLA_FFI_CallFrame* call_frame);      \
  extern "C" XLA_FFI_Error* name(XLA_FFI_CallFrame* call_frame) {                   \
    static const ::xla::ffi::Ffi* const handler =                                   \
        ::xlaops::internal::NewHandler<::xla::ffi::ExecutionStage::stage>(          \
            __VA_ARGS__);                                                           \
    return ::xlaops::internal::Run(#name, *handler, call_frame);                    \
  }                                                                                 \
  static_assert(true, "")

// Defines the exported C symbol `name`, a handler that runs a function when the program
// runs. A semicolon follows.
//
//   XLAOPS_DEFINE_HANDLER(name, function);
//   XLAOPS_DEFINE_HANDLER(name, function, binding);
//   XLAOPS_DEFINE_HANDLER(name, function, binding, {traits});
//
// `function` is a function, or a lambda that captures nothing. `binding` says what to
// decode for it, as in ffi::Ffi::Bind().Arg<ffi::AnyBuffer>(); without it that is
// inferred from the function's parameters. `traits` are flags such as
// ffi::Traits::kCmdBufferCompatible. What the function throws is reported as an error.
#define XLAOPS_DEFINE_HANDLER(name, ...) \
  XLAOPS_DEFINE_STAGE_HANDLER(name, kExecute, __VA_ARGS__)

// As XLAOPS_DEFINE_HANDLER for the stages before that. A function that instantiates
// runs once for each place in a compiled program and returns its state, as
// ffi::ErrorOr<std::unique_ptr<T>>; the others take it as T*, by
// .Ctx<ffi::State<T>>(). XLA:CPU runs neither prepare nor initialize.
#define XLAOPS_DEFINE_INSTANTIATE_HANDLER(name, ...) \
  XLAOPS_DEFINE_STAGE_HANDLER(name, kInstantiate, __VA_ARGS__)
#define XLAOPS_DEFINE_PREPARE_HANDLER(name, ...) \
  XLAOPS_DEFINE_STAGE_HANDLER(name, kPrepare, __VA_ARGS__)
#define XLAOPS_DEFINE_INITIALIZE_HANDLER(name, ...) \
  XLAOPS_DEFINE_STAGE_HANDLER(name, kInitialize, __VA_ARGS__)

// Defines the exported C symbols `name`_type_id and `name`_type_info, by which XLA is
// told of the type T of a handler's state before it sees the handler. T declares
// `static xla::ffi::TypeId id;`, which this macro defines: it stands outside of all
// namespaces, and the name of T is written in full. A semicolon follows.
#define XLAOPS_DEFINE_STATE(name, T)                                     \
  ::xla::ffi::TypeId T::id = {};                                         \
  extern "C" XLAOPS_EXPORT XLA_FFI_TypeId* name##_type_id();             \
  extern "C" XLAOPS_EXPORT const XLA_FFI_TypeInfo* name##_type_info();   \
  extern "C" XLA_FFI_TypeId* name##_type_id() { return &T::id; }         \
  extern "C" const XLA_FFI_TypeInfo* name##_type_info() {                \
    static const XLA_FFI_TypeInfo info = ::xla::ffi::MakeTypeInfo<T>();  \
    return &info;                                                        \
  }                                                                      \
  static_assert(true, "")

#endif  // XLAOPS_FFI_HANDLER_H_
