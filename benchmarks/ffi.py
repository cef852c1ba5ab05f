"""What a handler costs beside jax.ffi: calls in a program, eager calls, and builds."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import ffi_build
import jax
import jax.numpy as jnp
import numpy as np
import report
import timing
from jax import lax

import xlaops.ffi

# Calls in one program, one after the other.
CALLS = 1000

_TEXT = """
#include "xlaops/ffi.h"
namespace ffi = xla::ffi;
ffi::Error Step(ffi::Buffer<ffi::F32> x, float by, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) {
    y->typed_data()[i] = x.typed_data()[i] + by;
  }
  return ffi::Error::Success();
}
XLAOPS_DEFINE_HANDLER(step, Step,
                      ffi::Ffi::Bind()
                          .Arg<ffi::Buffer<ffi::F32>>()
                          .Attr<float>("by")
                          .Ret<ffi::Buffer<ffi::F32>>());
"""


def main(arguments: Sequence[str]) -> int:
    parser = report.parser("ffi", __doc__ or "")
    options = parser.parse_args(arguments)
    rounds = options.repeat or 20
    target = xlaops.ffi.load("benchmark", source_text=_TEXT).target("step")
    result = report.Report("ffi")
    result.tables += [_in_programs(target, rounds), _eager(target, rounds)]
    result.tables += ffi_build.tables(max(1, rounds // 10))
    report.publish(result, options.json)
    return 0


def _ways(target: str) -> dict[str, Callable[[Any], Any]]:
    ours = xlaops.ffi.op(
        target,
        ref=lambda x, by: x + by,
        name="step",
        operands={"x": "f32[...]"},
        attributes={"by": "f32"},
    )

    def of_jax(x: Any) -> Any:
        struct = jax.ShapeDtypeStruct(jnp.shape(x), jnp.float32)
        return jax.ffi.ffi_call(target, struct)(x, by=np.float32(1))

    def callback(x: Any) -> Any:
        struct = jax.ShapeDtypeStruct(jnp.shape(x), jnp.float32)
        return jax.pure_callback(lambda x: np.float32(x + 1), struct, x)

    return {
        "xlaops.ffi.op": functools.partial(ours, by=1.0),
        "jax.ffi.ffi_call": of_jax,
        "jax.pure_callback": callback,
    }


def _in_programs(target: str, rounds: int) -> report.Table:
    """A loop of calls, less the same loop without them."""
    x = jnp.float32(0)

    def looped(step: Callable[[Any], Any]) -> Callable[[], Any]:
        # The condition depends on the carry, so that XLA neither unrolls nor folds.
        program = jax.jit(lambda x: lax.while_loop(lambda c: c < CALLS - 0.5, step, x))
        return lambda: jax.block_until_ready(program(x))

    ways = _ways(target)
    loops = [looped(step) for step in (lambda c: c + 1, *ways.values())]
    empty, *times = timing.interleaved(loops, rounds=rounds, largest_batch=1)
    each = {
        name: 1e9 * (t.best - empty.best) / CALLS
        for name, t in zip(ways, times, strict=True)
    }
    of_jax = each["jax.ffi.ffi_call"]
    rows = [{"way": n, "ns": ns, "/jax.ffi": ns / of_jax} for n, ns in each.items()]
    return report.Table("A call within a program, nanoseconds (best)", rows)


def _eager(target: str, rounds: int) -> report.Table:
    x = jnp.ones(8)
    ways = _ways(target)
    ways["jitted x + 1"] = jax.jit(lambda x: x + 1)
    calls = [functools.partial(way, x) for way in ways.values()]
    times = timing.interleaved(calls, rounds=rounds)
    rows = [
        {"way": name, "us": 1e6 * t.best} for name, t in zip(ways, times, strict=True)
    ]
    return report.Table("An eager call, microseconds (best)", rows)
