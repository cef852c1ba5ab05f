"""CUDA: compiled where nvcc is, lowered everywhere, run where a GPU is."""

import re

import jax
import numpy as np
import pytest

import xlaops.ffi
from xlaops.ffi import build, toolchain

from .conftest import NATIVE


@pytest.fixture(scope="module")
def twice(session_cache):
    if toolchain.find_compiler("cuda") is None:
        pytest.skip("there is no nvcc")
    # Without CMake, which first tries out nvcc: that takes as long again.
    return xlaops.ffi.load(
        "twice", sources=NATIVE / "twice.cu", language="cuda", cmake=False
    )


@pytest.mark.parametrize("variable", ["CUDACXX", "PATH"])
def test_without_nvcc(monkeypatch, variable):
    monkeypatch.setattr(toolchain.shutil, "which", lambda *_, **__: None)
    monkeypatch.setenv("CUDACXX", "/nowhere/nvcc" if variable == "CUDACXX" else "")
    with pytest.raises(
        xlaops.ffi.CompilerNotFoundError, match=r"no CUDA compiler.*CUDA toolkit"
    ):
        xlaops.ffi.load("it", source_text="", language="cuda")


def test_compiled_and_lowered(twice):
    assert twice.api_version == (0, 3)
    target = twice.target("twice")
    assert ("CUDA", target) in {(t.platform, t.name) for t in xlaops.ffi.targets()}
    x = np.ones(3, np.float32)
    call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(x.shape, x.dtype))
    lowered = jax.jit(call).trace(x).lower(lowering_platforms=("cuda",))
    assert f"@{target}" in lowered.as_text()


@pytest.mark.parametrize(
    ("chosen", "has_gpu", "expected"),
    [
        ("80;90", True, None),
        ("", True, "native"),
        ("80", False, None),
        ("", False, "OFF"),
    ],
)
def test_architecture(monkeypatch, chosen, has_gpu, expected):
    monkeypatch.setattr(toolchain, "has_nvidia_gpu", lambda: has_gpu)
    monkeypatch.setenv("CUDAARCHS", chosen)
    text = build._cmake_lists(build.Recipe("it", "cuda", (), (), (), (), ()))
    found = re.findall(r"CUDA_ARCHITECTURES (\w+)", text)
    assert found == ([] if expected is None else [expected])


@pytest.mark.slow
def test_compiled_by_cmake(session_cache):
    if toolchain.find_compiler("cuda") is None:
        pytest.skip("there is no nvcc")
    if toolchain.find_build_tool("cmake") is None:
        pytest.skip("there is no CMake")
    library = xlaops.ffi.load(
        "twice", sources=NATIVE / "twice.cu", language="cuda", cmake=True
    )
    assert library.target("twice")


@pytest.mark.gpu
def test_on_a_gpu(twice):
    if jax.default_backend() != "gpu":
        pytest.skip("there is no GPU")
    target = twice.target("twice")
    for dtype in (np.float32, "bfloat16"):
        x = jax.numpy.arange(1000, dtype=dtype)
        call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(x.shape, x.dtype))
        np.testing.assert_array_equal(jax.jit(call)(x), 2 * x)
