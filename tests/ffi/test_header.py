"""xlaops/ffi.h: Match and Verify, element types, exceptions, stages."""

import subprocess

import jax
import ml_dtypes
import numpy as np
import pytest

import xlaops.ffi
from xlaops.ffi import toolchain

INT = jax.ShapeDtypeStruct((), np.int32)


def like(shape, dtype=np.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def ones(shape, dtype=np.float32):
    return np.ones(shape, dtype)


def refused(call, *args, **kwargs):
    """The text of the INVALID_ARGUMENT that a handler answers with."""
    with pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT") as caught:
        call(*args, **kwargs)
    return str(caught.value).split("INVALID_ARGUMENT: ", 1)[1].splitlines()[0]


# ---- Match and Verify. The texts are XLA's: where jaxlib brings Match these tests run
# its implementation, elsewhere that of xlaops.


def test_match_gives_typed_buffers(call):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(call("copy_matrix", like((2, 3)), x), x)


@pytest.mark.parametrize(
    ("x", "result", "message"),
    [
        (
            ones((2, 3)),
            like((2, 4)),
            "Buffer 'output' failed to match a buffer with dtype F32 with rank 2 with "
            "dimensions [2, 3]: expected dimension 1 to be 3 but got 4",
        ),
        (
            ones((2,)),
            like((2, 4)),
            "Buffer 'input' failed to match a buffer with dtype F32 with rank 2 with "
            "dimensions [any dimension (captured), any dimension (captured)]: "
            "expected rank 2 but got 1",
        ),
        (
            ones((2, 3), np.int8),
            like((2, 3)),
            "Buffer 'input' failed to match a buffer with dtype F32 with rank 2 with "
            "dimensions [any dimension (captured), any dimension (captured)]: "
            "expected dtype F32 but got S8",
        ),
    ],
)
def test_match_says_what_does_not_fit(call, x, result, message):
    assert refused(call, "copy_matrix", result, x) == message


def test_captures_of_a_match(call):
    out = call("captured", like((3,), np.int32), ones((7, 6, 5)))
    assert out.tolist() == [1, 7, 6]


@pytest.mark.parametrize("shape", [(7, 6, 4), (7, 6), (7, 6, 5, 4)])
def test_failed_match_leaves_captures_as_they_are(call, shape):
    out = call("captured", like((3,), np.int32), ones(shape))
    assert out.tolist() == [0, -1, -2]


def test_same_capture_twice(call):
    assert call("square", INT, ones((4, 4))) == 4
    assert refused(call, "square", INT, ones((4, 5))) == (
        "Buffer 'matrix' failed to match a buffer with dtype F32 with rank 2 with "
        "dimensions [any dimension (captured), any dimension (captured)]: "
        "expected dimension 1 to be 4 but got 5"
    )


def test_fixed_dimension(call):
    call("fixed_dim", like((1,)), ones((16, 3)))
    assert refused(call, "fixed_dim", like((1,)), ones((15, 3))) == (
        "Buffer 'x' failed to match a buffer with dtype F32 with rank 2 with "
        "dimensions [16, any dimension]: expected dimension 0 to be 16 but got 15"
    )


def test_one_dimension(call):
    call("one_dim", like((1,)), ones((2, 16)))
    call("one_dim", like((1,)), ones((2, 16, 3), np.int8))
    pattern = "a buffer with dimensions [any dimension, 16]"
    assert refused(call, "one_dim", like((1,)), ones((2, 15))) == (
        f"Buffer 'x' failed to match {pattern}: "
        f"expected dimension 1 to be 16 but got 15"
    )
    assert refused(call, "one_dim", like((1,)), ones((2,))) == (
        f"Buffer 'x' failed to match {pattern}: "
        f"expected dimension 1 but buffer rank is 1"
    )


def test_alternatives(call):
    for shape, dtype in (((2,), np.int32), ((2, 3), np.int16)):
        call("alternatives", like((1,)), ones(shape, dtype))
    pattern = "a buffer with dtype in [S32, S16] with rank in [1, 2]"
    assert refused(call, "alternatives", like((1,)), ones((2,))) == (
        f"Buffer 'indices' failed to match {pattern}: "
        f"expected dtype to be one of [S32, S16] but got F32"
    )
    assert refused(call, "alternatives", like((1,)), ones((), np.int32)) == (
        f"Buffer 'indices' failed to match {pattern}: "
        f"expected rank to be one of [1, 2] but got 0"
    )


def test_shape_of_and_like_another_buffer(call):
    keys, values = ones((2, 3), np.int8), ones((2, 3))
    call("keys_and_values", like((2, 3), np.int8), keys, values)
    shape = "with rank 2 with dimensions [2, 3]"
    assert refused(call, "keys_and_values", like((2, 3)), keys, ones((2, 4))) == (
        f"Buffer 'values' failed to match a buffer {shape}: "
        f"expected dimension 1 to be 3 but got 4"
    )
    assert refused(call, "keys_and_values", like((2, 3)), keys, ones((2,))) == (
        f"Buffer 'values' failed to match a buffer {shape}: expected rank 2 but got 1"
    )
    assert refused(call, "keys_and_values", like((2, 3)), keys, values) == (
        f"Buffer 'sorted' failed to match a buffer with dtype S8 {shape}: "
        f"expected dtype S8 but got F32"
    )


def test_later_constraints_replace_earlier_ones(call):
    call("replaced", like((4, 5)), ones((4, 7), np.int8))
    pattern = "a buffer with dtype S8 with rank 2 with dimensions [4, 7]"
    assert refused(call, "replaced", like((4, 5)), ones((4, 5), np.int8)) == (
        f"Buffer 'x' failed to match {pattern}: expected dimension 1 to be 7 but got 5"
    )


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_match_of_a_typed_buffer(call, shape):
    np.testing.assert_array_equal(call("typed", like(shape), ones(shape)), 4)


def test_match_of_a_typed_buffer_refuses(call):
    assert refused(call, "typed", like(()), ones(())) == (
        "Buffer 'x' failed to match a buffer with rank in [1, 2] with dimensions "
        "[any dimension (captured)]: expected rank to be one of [1, 2] but got 0"
    )
    assert "Buffer 'y' failed to match a buffer with dtype F32 with rank 1" in refused(
        call, "typed", like((4,)), ones((3,))
    )


def test_rank_in_the_type_of_a_pattern(call):
    call("rank_in_type", like((1,)), ones((1, 1), np.int32))
    assert refused(call, "rank_in_type", like((1,)), ones((1,), np.int32)) == (
        "Buffer 'x' failed to match a buffer with dtype S32 with rank 2: "
        "expected rank 2 but got 1"
    )


# ---- Element types


BYTES = [
    ml_dtypes.float8_e3m4,
    ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e8m0fnu,
]
HALVES = [np.float16, ml_dtypes.bfloat16]


def every_value(dtype):
    """All bit patterns of a type."""
    if dtype in HALVES:
        return np.arange(2**16, dtype=np.uint16).view(dtype)
    return np.arange(256, dtype=np.uint8).view(dtype)


@pytest.mark.parametrize("dtype", [*BYTES, *HALVES])
def test_every_number_becomes_its_float(call, dtype):
    values = every_value(dtype)
    out = np.asarray(call("to_float", like(values.shape), values))
    expected = values.astype(np.float32)
    np.testing.assert_array_equal(out, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(out[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("dtype", [*BYTES, *HALVES])
def test_floats_are_rounded(call, rng, dtype):
    finite = every_value(dtype).astype(np.float32)
    finite = np.unique(finite[np.isfinite(finite)])
    middles = (finite[1:].astype(np.float64) + finite[:-1]) / 2
    middles = middles.astype(np.float32)
    floats = [finite, middles]
    floats += [
        np.nextafter(x, np.float32(s)) for x in floats for s in (-np.inf, np.inf)
    ]
    limits = np.array([0, 1e-45, 2**-126, 2**-127, 1e30, 3.4e38, np.inf], np.float32)
    anything = rng.integers(0, 2**32, 4096, np.uint32).view(np.float32)
    floats = np.concatenate([*floats, limits, -limits, anything])
    if dtype is ml_dtypes.float8_e8m0fnu:
        # Here ml_dtypes rounds up what is nearer to the least number, 2**-127.
        floats = floats[(floats <= 2**-127) | (floats >= 1.5 * 2**-127)]
    floats = floats[~np.isnan(floats)]
    out = np.asarray(call("from_float", like(floats.shape, dtype), floats))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = floats.astype(dtype)
    # Equal bits, and any NaN is as good as another.
    isnan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(out.astype(np.float32)), isnan)
    bits = f"u{np.dtype(dtype).itemsize}"
    np.testing.assert_array_equal(out[~isnan].view(bits), expected[~isnan].view(bits))


@pytest.mark.parametrize("dtype", [*BYTES, *HALVES])
def test_nan_stays_nan(call, dtype):
    nans = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32)
    out = call("from_float", like((4,), dtype), nans.view(np.float32))
    assert np.isnan(np.asarray(out).astype(np.float32)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8, np.uint32])
def test_integers_are_dispatched(call, dtype):
    values = np.array([0, 1, 100, np.iinfo(dtype).max // 2], dtype)
    out = call("to_float", like((4,)), values)
    np.testing.assert_array_equal(out, values.astype(np.float32))


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("int2", range(-2, 2)),
        ("uint2", range(4)),
        ("int4", range(-8, 8)),
        ("uint4", range(16)),
        (
            "float4_e2m1fn",
            [s * x for s in (1, -1) for x in (0, 0.5, 1, 1.5, 2, 3, 4, 6)],
        ),
    ],
)
def test_packed_numbers(call, rng, dtype, values):
    x = rng.choice(np.array(values, np.float32), 33)
    packed = x.astype(getattr(ml_dtypes, dtype))
    np.testing.assert_array_equal(call("from_packed", like((33,)), packed), x)
    back = np.asarray(call("to_packed", like((33,), packed.dtype), x))
    np.testing.assert_array_equal(back.astype(np.float32), x)


def test_float4_is_rounded(call):
    x = np.array([0.25, 0.2501, 0.75, 1.25, 5, 5.01, 7, 1e9, -np.inf, 1e-9], np.float32)
    result = like(x.shape, ml_dtypes.float4_e2m1fn)
    out = np.asarray(call("to_packed", result, x)).astype(np.float32)
    assert out.tolist() == [0, 0.5, 1, 1, 4, 6, 6, 6, -6, 0]


def test_bool_and_complex_are_dispatched(call):
    out = call("to_float", like((2,)), np.array([True, False]))
    assert out.tolist() == [1, 0]
    z = np.array([1 + 2j, -3j], np.complex64)
    np.testing.assert_array_equal(call("conjugate", like((2,), z.dtype), z), z.conj())


def test_dispatch_names_the_buffer_and_the_choice(call):
    assert refused(call, "conjugate", like((2,)), ones((2,))) == (
        "Buffer 'x' failed to match a buffer with dtype in [C64, C128]: "
        "expected dtype to be one of [C64, C128] but got F32"
    )


# ---- Exceptions


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (0, "UNKNOWN: throws threw a C++ exception: boom, ünïcode"),
        (1, "UNKNOWN: throws threw a C++ exception that is no std::exception"),
        (2, "RESOURCE_EXHAUSTED: a handler ran out of memory"),
        (3, "UNKNOWN: throws threw a C++ exception: "),
    ],
)
def test_exceptions_become_errors(call, what, message):
    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        call("throws", INT, what=np.int32(what))
    assert message in str(caught.value)
    # And the process goes on.
    assert call("throws", INT, what=np.int32(7)) == 7


# ---- Stages, state, and ways to give a function


def test_state(kit):
    target = kit.target("counter_next", instantiate="counter_start", state="counter")
    count = jax.jit(
        lambda: jax.ffi.ffi_call(target, INT, has_side_effect=True)(first=np.int64(5))
    )
    assert [int(count()) for _ in range(3)] == [5, 6, 7]
    # Another program has another state.
    again = jax.jit(
        lambda: jax.ffi.ffi_call(target, INT, has_side_effect=True)(first=np.int64(9))
    )
    assert int(again()) == 9
    assert int(count()) == 8


def test_error_in_instantiate(call):
    stages = {"instantiate": "counter_start", "state": "counter"}
    message = refused(call, "counter_next", INT, stages=stages, first=np.int64(-1))
    assert "first must not be negative" in message


def test_lambda_and_pointer(call):
    assert call("lambda", INT, np.int32(41)) == 42
    assert call("pointer", INT, ones((3, 3))) == 3


def test_macro_of_xla(call):
    x = ones((2, 3))
    np.testing.assert_array_equal(call("of_xla", like((2, 3)), x), x)


# ---- What must not compile


def compiler_says(text, *flags):
    """What the compiler makes of a source file that is only looked at."""
    done = subprocess.run(
        [
            *toolchain.compiler("c++").command,
            *("-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-x", "c++", "-"),
            *("-I", xlaops.ffi.include_dir(), "-isystem", jax.ffi.include_dir()),
            *flags,
        ],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


BINDING = """
#include "xlaops/ffi.h"
namespace ffi = xla::ffi;
auto binding = ffi::Ffi::Bind().{};
"""


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (
            "RemainingArgs().Arg<ffi::AnyBuffer>()",
            "argument can't be passed after remaining arguments",
        ),
        (
            "RemainingRets().Ret<ffi::AnyBuffer>()",
            "result can't be passed after remaining results",
        ),
    ],
)
def test_nothing_after_the_remaining(compiler, binding, message):
    code, errors = compiler_says(BINDING.format(binding))
    assert code != 0
    assert message in errors


def test_remaining_behind_others_compiles_without_warnings(compiler):
    binding = (
        "Arg<ffi::AnyBuffer>().RemainingArgs().Ret<ffi::AnyBuffer>().RemainingRets()"
    )
    assert compiler_says(BINDING.format(binding), "-Werror") == (0, "")


def test_the_header_of_xla_first_is_refused(compiler):
    text = '#include "xla/ffi/api/ffi.h"\n#include "xlaops/ffi.h"\n'
    code, errors = compiler_says(text)
    assert code != 0
    assert "include xlaops/ffi.h before xla/ffi/api/ffi.h" in errors


def test_match_needs_a_rank_for_the_type_of_its_result(compiler):
    text = """
#include "xlaops/ffi.h"
auto f(xla::ffi::AnyBuffer x) {
  return xla::ffi::Match("x", x, xla::ffi::match::Buffer<xla::ffi::F32>());
}
"""
    code, _ = compiler_says(text)
    assert code != 0
