"""The programs of examples/ffi: one for each feature of the custom-call document."""

import functools
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffi.libraries import folder, library

import xlaops.ffi
from xlaops.ffi import ErrorCode, cache, toolchain

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "ffi"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="examples/ is not here")


@functools.cache
def example(name):
    """The module of an example, which compiles its handlers."""
    if toolchain.find_compiler("c++") is None:
        pytest.skip("there is no C++ compiler")
    spec = importlib.util.spec_from_file_location(
        f"ffi_example_{name}", EXAMPLES / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.VARIABLE, folder())
        spec.loader.exec_module(module)
    return module


def names():
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def test_each_is_in_the_table():
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)\.py` \|", table, re.MULTILINE)
    assert sorted(listed) == names()


@pytest.mark.parametrize("name", names())
def test_program_runs(name, capsys):
    example(name).main()
    assert capsys.readouterr().out


def test_errors():
    m = example("errors")
    np.testing.assert_array_equal(m.square_root(jnp.array([4.0, 0.0])), [2, 0])
    error = m.caught(jnp.array([0.0, 1.0, -1.0]))
    assert error.code is ErrorCode.OUT_OF_RANGE
    assert error.message == "element 2 is negative"
    assert error.operation == "square_root"
    error = m.caught(jnp.array([np.inf]))
    assert error.code is ErrorCode.UNKNOWN
    assert "infinite" in error.message
    assert m.caught(jnp.array([1.0])) is None
    assert m.caught_later(jnp.array([-1.0])).code is ErrorCode.OUT_OF_RANGE
    # The same when the program runs in the background.
    assert m.caught_later(jnp.full(10**6, -1.0)).code is ErrorCode.OUT_OF_RANGE


def test_buffers():
    m = example("buffers")
    # PRED is 1 in XLA's protocol buffer, S8 is 2, F32 is 11, C64 is 15.
    for dtype, number in (("bool", 1), ("int8", 2), ("float32", 11), ("complex64", 15)):
        size = np.dtype(dtype).itemsize
        described = m.describe(np.ones((2, 3), dtype))
        np.testing.assert_array_equal(described, [number, 2, 6 * size])
    np.testing.assert_array_equal(m.describe(np.ones((), "float32")), [11, 0, 4])
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(m.twice(x), 2 * x)
    np.testing.assert_array_equal(m.transpose(x[0]), x[0].T)
    np.testing.assert_array_equal(jax.vmap(m.transpose)(x), x.transpose(0, 2, 1))
    assert "x must be f32[n,m], got f32[3]" in str(m.refused_by_python())
    assert m.refused_by_xla().code is ErrorCode.INVALID_ARGUMENT
    assert "expected 2 but got 1" in m.refused_by_xla().message


def test_matching():
    m = example("matching")
    assert m.trace(jnp.array([[1.0, 2.0], [3.0, 4.0]])) == 5
    assert m.refused(m.trace, jnp.ones((2, 3))) == "x must be square"
    np.testing.assert_array_equal(m.captured(jnp.ones((3, 16))), [3, 16])
    # Neither dimension is written where the second one does not fit.
    np.testing.assert_array_equal(m.captured(jnp.ones((3, 15))), [-1, -1])
    assert m.sixteen(jnp.arange(32.0).reshape(2, 16)) == 15
    assert m.refused(m.sixteen, jnp.ones((2, 3))) == (
        "Buffer 'x' failed to match a buffer with dtype F32 with rank 2 with "
        "dimensions [any dimension, 16]: expected dimension 1 to be 16 but got 3"
    )
    for rank in (1, 2):
        x = np.arange(4, dtype=np.int32).reshape((4,) if rank == 1 else (2, 2))
        np.testing.assert_array_equal(m.copy(x), x)
    message = m.refused(m.copy, jnp.ones((2, 2)))
    assert "expected dtype to be one of [S32, S64] but got F32" in message
    assert "rank" in m.refused(m.copy, jnp.ones((1, 1, 1), "int32"))
    mask = jnp.array([True, False, True])
    np.testing.assert_array_equal(m.masked(jnp.arange(1.0, 4.0), mask), [1, 0, 3])
    assert "dtype" in m.refused(m.masked, jnp.ones(3), jnp.ones(3))
    assert m.dot3(jnp.array([1.0, 2.0, 3.0]), jnp.ones(3)) == 6
    assert "expected dimension 0 to be 3" in m.refused(m.dot3, *(jnp.ones(4),) * 2)


def test_variadic():
    m = example("variadic")
    xs = [np.arange(3, dtype=np.float32) + i for i in range(4)]
    for count in (1, 4):
        sums = m.running_sums(*xs[:count])
        np.testing.assert_array_equal(sums, np.cumsum(xs[:count], axis=0))
    assert m.running_sums() == ()
    np.testing.assert_array_equal(m.clipped(xs[3]), [3, 4, 5])
    np.testing.assert_array_equal(m.clipped(xs[3], 4), [3, 4, 4])
    with pytest.raises(TypeError, match=r"xs\[1\] must be f32\[n\] with n = 3 of xs"):
        m.running_sums(xs[0], jnp.ones(2))


def test_argument_behind_remaining_ones_does_not_compile(monkeypatch):
    m = example("variadic")
    monkeypatch.setenv(cache.VARIABLE, folder())
    assert "error:" in m.refused()


def test_attributes():
    m = example("attributes")
    x = np.linspace(-2, 2, 9, dtype=np.float32)
    given = m.polynomial(x, coefficients=[1, -2, 0.5], power=3, negate=True)
    expected = -((1 - 2 * x + 0.5 * x * x) ** 3)
    np.testing.assert_allclose(given, expected, rtol=1e-5)
    down = m.polynomial(x, coefficients=[0, 1], rounding="down")
    np.testing.assert_array_equal(down, np.floor(x))
    with pytest.raises(xlaops.ffi.HandlerError, match="unknown rounding up") as caught:
        m.polynomial(x, coefficients=[], rounding="up")
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    z = np.array([1 + 2j, -3j], "complex64")
    np.testing.assert_allclose(m.rotate(z, factor=0.5 - 1j), z * (0.5 - 1j), rtol=1e-6)


@pytest.mark.parametrize("order", ["ASCENDING", "DESCENDING"])
@pytest.mark.parametrize("ties", ["KEEP", "DROP"])
def test_enums(order, ties):
    m = example("enums")
    x = np.array([2, 3, 2, -1, 3], np.float32)
    expected = sorted(set(x) if ties == "DROP" else x, reverse=order == "DESCENDING")
    for run in (m.sort, m.sort.ref):
        y, count = run(x, order=m.Order[order], ties=m.Ties[ties])
        assert count == len(expected)
        np.testing.assert_array_equal(y, [*expected, *[0] * (5 - len(expected))])
    by_number = m.sort(x, order=m.Order[order].value, ties=m.Ties[ties].value)
    np.testing.assert_array_equal(by_number[0], y)


def test_values_that_an_enum_has_not_are_refused():
    m = example("enums")
    x = jnp.ones(2)
    for wrong, error in (
        (77, ValueError),
        ("UP", ValueError),
        (m.Ties.DROP, TypeError),
    ):
        with pytest.raises(error, match=r"order must be .*ASCENDING, DESCENDING"):
            m.sort(x, order=wrong)


def test_dictionary():
    m = example("dictionary")
    x = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(m.scaled(x), x)
    np.testing.assert_array_equal(m.scaled(x, factor=np.float32(3)), 3 * x)
    more = {"offset": np.int32(-4)}
    np.testing.assert_array_equal(m.scaled(x, more=more), x - 4)
    # A double has the same value, and is another type: nothing cached hides it.
    with pytest.raises(xlaops.ffi.HandlerError, match="expected F32 but got F64"):
        m.scaled(x, factor=3.0)


def test_structs():
    m = example("structs")
    x = np.arange(-5, 20, dtype=np.float32)
    assert m.count(x) == 10
    assert m.count(x, low=3) == 7
    assert m.count(x, low=-1, high=0.5) == 2
    assert m.count_window(x, window=m.Window(m.Range(low=3))) == 7
    assert m.count_window(x, window={"range": {"high": 4.0}, "inside": False}) == 21
    with pytest.raises(TypeError, match=r"window\.range\.hihg must be a known"):
        m.count_window(x, window={"range": {"hihg": 4.0}})


def test_binding():
    m = example("binding")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert len(m.OPERATIONS) == 4
    for operation in m.OPERATIONS.values():
        np.testing.assert_array_equal(operation(x, x), 2 * x)


def test_cpu_and_cuda():
    m = example("cpu_and_cuda")
    b, c = np.arange(128, dtype=np.float32), np.arange(2048, dtype=np.float32)
    np.testing.assert_array_equal(m.ring_add(b, c), np.tile(b, 16) + c)
    np.testing.assert_array_equal(m.ring_add(b, c[:3]), b[:3] + c[:3])
    assert "custom_call" in m.program_for("cpu")
    assert "custom_call" not in m.program_for("tpu")
    assert ("custom_call" in m.program_for("cuda")) == ("cuda" in m.HANDLERS)


@pytest.mark.gpu
def test_cuda_twin_runs():
    m = example("cpu_and_cuda")
    try:
        device = jax.devices("cuda")[0]
    except RuntimeError:
        pytest.skip("there is no GPU")
    b, c = np.arange(128, dtype=np.float32), np.arange(2048, dtype=np.float32)
    result = m.ring_add(jax.device_put(b, device), jax.device_put(c, device))
    assert result.devices() == {device}
    np.testing.assert_array_equal(result, np.tile(b, 16) + c)


def test_nested_tuple():
    m = example("nested_tuple")
    a, b, c, d = (np.arange(n, dtype=np.float32) for n in (32, 64, 128, 256))
    result = m.reverse((a, (b, c), d))
    expected = (a[::-1], (b[::-1], c[::-1]), d[::-1])
    assert jax.tree.structure(result) == jax.tree.structure(expected)
    jax.tree.map(np.testing.assert_array_equal, result, expected)
    with pytest.raises(TypeError, match=r"x\[1\]\[0\] must be f32\[64\]"):
        m.reverse((a, (c, b), d))
    with pytest.raises(TypeError, match="x must be a tree of arrays like"):
        m.reverse((a, b, c, d))


def test_scratch():
    m = example("scratch")
    x = np.array([3, 1, 2, 9, 5], np.float32)
    assert m.median(x) == 3
    np.testing.assert_array_equal(jax.grad(m.median)(x), [1, 0, 0, 0, 0])
    np.testing.assert_array_equal(jax.vmap(m.median)(x[None] + x[:, None]), 3 + x)


def test_state_is_made_once_for_a_program():
    m = example("state")
    program = jax.jit(lambda x: m.power(x, base=2.0, size=4))
    for run in (1, 2, 3):
        y, runs = program(jnp.array([3, 0], "int32"))
        np.testing.assert_array_equal(y, [8, 1])
        assert runs == run
    other = jax.jit(lambda x: m.power(x, base=2.0, size=3))
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="not in the"):
        jax.block_until_ready(other(jnp.array([3, 0], "int32")))
    with pytest.raises(xlaops.ffi.HandlerError, match="a negative size"):
        m.power(jnp.array([0], "int32"), base=2.0, size=-1)


def test_state_may_be_the_first_that_a_process_does():
    """As JAX would hand over handlers before types, the backend would not start."""
    library("op")  # skips without a compiler
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "state.py")],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, cache.VARIABLE: folder()},
    )
    assert done.returncode == 0, done.stderr
    assert "in run 2" in done.stdout
