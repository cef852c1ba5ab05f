import os
from pathlib import Path

import jax
import pytest

import xlaops.ffi
from xlaops.ffi import cache, library, shared_library, toolchain

NATIVE = Path(__file__).parent / "native"


@pytest.fixture
def native():
    """Skips where this installation has no usable library (see test_library)."""
    if not library.available():
        pytest.skip(library.unavailable_reason())


@pytest.fixture(params=["native", "fallback"])
def path(request, monkeypatch):
    """Runs the test with the C++ handlers, and without."""
    if request.param == "native":
        request.getfixturevalue("native")
        yield "native"
        return
    # Programs that were lowered on the other path are cached, before and after.
    jax.clear_caches()
    monkeypatch.setattr(library, "available", lambda: False)
    yield "fallback"
    jax.clear_caches()


@pytest.fixture(scope="session")
def compiler():
    """Skips where nothing can be compiled."""
    if toolchain.find_compiler("c++") is None:
        pytest.skip("there is no C++ compiler")


@pytest.fixture(scope="session")
def session_cache(compiler):
    """A cache for what several tests use, which is built once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.VARIABLE, os.environ["XLAOPS_TEST_CACHE"])
        yield


@pytest.fixture
def empty_cache(tmp_path, monkeypatch, compiler):
    """A cache of one test, which knows of no library yet; its folder."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(shared_library, "_opened", {})
    return tmp_path / "cache" / "ffi"


def load_kit(flags):
    files = [NATIVE / "matching.cc", NATIVE / "computing.cc"]
    return xlaops.ffi.load("kit", sources=files, flags=flags)


@pytest.fixture(scope="session")
def kit(session_cache):
    """The handlers of native/, in one library."""
    # Other flags than usual are for the sanitizers, see test_sanitizers.
    flags = os.environ.get("XLAOPS_TEST_FLAGS", "-O0").split()
    return load_kit(flags)


@pytest.fixture
def call(kit):
    """Calls a handler of the kit under jit: ``call(symbol, results, *operands)``."""

    def call(symbol, results, *operands, stages=None, **attributes):
        target = kit.target(symbol, **(stages or {}))
        function = jax.ffi.ffi_call(target, results)
        return jax.jit(lambda *operands: function(*operands, **attributes))(*operands)

    return call
