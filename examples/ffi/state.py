"""State: what a handler makes once for a compiled program, and uses at every run.

Source: "Execution stages" and "Stateful custom calls" of XLA's *Custom calls* document.
"""

import jax
import jax.numpy as jnp

import xlaops.ffi

SOURCE = r"""
#include <memory>
#include <vector>

#include "xlaops/ffi.h"

namespace ffi = xla::ffi;

struct Table {
  static ffi::TypeId id;
  std::vector<float> powers;
  float runs = 0;
};
XLAOPS_DEFINE_STATE(table, Table);

static ffi::ErrorOr<std::unique_ptr<Table>> Make(float base, int32_t size) {
  if (size < 0) return ffi::Unexpected(ffi::Error::InvalidArgument("a negative size"));
  auto made = std::make_unique<Table>();
  float power = 1;
  for (int32_t i = 0; i < size; ++i, power *= base) made->powers.push_back(power);
  return made;
}
XLAOPS_DEFINE_INSTANTIATE_HANDLER(make, Make,
                                  ffi::Ffi::BindInstantiate()
                                      .Attr<float>("base")
                                      .Attr<int32_t>("size"));

static ffi::Error LookUp(Table* table, ffi::BufferR1<ffi::S32> x,
                         ffi::ResultBufferR1<ffi::F32> y,
                         ffi::ResultBufferR0<ffi::F32> runs) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    size_t index = x.typed_data()[i];
    if (index >= table->powers.size()) {
      return ffi::Error(ffi::ErrorCode::kOutOfRange, "not in the table");
    }
    y->typed_data()[i] = table->powers[index];
  }
  *runs->typed_data() = ++table->runs;
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(look_up, LookUp,
                      ffi::Ffi::Bind()
                          .Ctx<ffi::State<Table>>()
                          .Arg<ffi::BufferR1<ffi::S32>>()
                          .Ret<ffi::BufferR1<ffi::F32>>()
                          .Ret<ffi::BufferR0<ffi::F32>>());
"""

library = xlaops.ffi.load("state", source_text=SOURCE)

power = xlaops.ffi.op(
    library.target("look_up", instantiate="make", state="table"),
    name="power",
    operands={"x": "s32[n]"},
    attributes={"base": "f32", "size": "s32"},
    result=("f32[n]", "f32[]"),
    has_side_effect=True,  # it counts
    ref=None,
)


def main():
    program = jax.jit(lambda x: power(x, base=3.0, size=8))
    for x in ([0, 1, 2], [7, 6, 5]):
        powers, runs = program(jnp.array(x, "int32"))
        print(powers, "in run", int(runs))


if __name__ == "__main__":
    main()
