"""ParFor: every index once, no deadlock, exceptions."""

import jax
import numpy as np
import pytest
from ffi.children import printed

INT = jax.ShapeDtypeStruct((), np.int32)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 1000, 100_003])
@pytest.mark.parametrize("grain", [-1, 1, 64, 2**62])
def test_every_index_once(call, size, grain):
    result = jax.ShapeDtypeStruct((size,), np.int32)
    out = call("visits", result, grain=np.int64(grain))
    np.testing.assert_array_equal(out, np.ones(size))


@pytest.mark.parametrize(
    ("size", "grain"), [(10, 1), (10, 4), (1000, 100), (2**62, 1), (5, 6), (1, 0)]
)
def test_ranges_keep_to_the_grain(call, size, grain):
    result = jax.ShapeDtypeStruct((3,), np.int32)
    with jax.enable_x64(True):
        count, least, threads = call(
            "ranges", result, size=np.int64(size), grain=np.int64(grain)
        ).tolist()
    assert 1 <= count <= 4 * max(threads, 1)
    if size < 2**31:
        assert least >= min(size, grain)


def test_nested(call):
    result = jax.ShapeDtypeStruct((17, 33), np.int32)
    np.testing.assert_array_equal(
        call("nested", result), np.arange(17 * 33).reshape(17, 33)
    )


def test_exception_on_any_thread_becomes_an_error(call):
    for _ in range(20):
        with pytest.raises(jax.errors.JaxRuntimeError, match="in the middle"):
            call("throws_inside", INT)


def test_forty_handlers_at_once(kit):
    """Each waits for work of its own; a loop that blocked on tasks would hang here."""
    script = f"""
        import jax, numpy as np
        import xlaops.ffi
        lib = xlaops.ffi.load_library({str(kit.path)!r}, name="kit")
        target = lib.target("stress")

        def one(x):
            return jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

        run = jax.jit(lambda xs: [one(x) for x in xs])
        xs = [np.full(64, i, np.float32) for i in range(40)]
        for _ in range(5):
            for i, y in enumerate(run(xs)):
                np.testing.assert_array_equal(y, 2 * i)
        print("done")
    """
    assert printed(script) == "done\n"
