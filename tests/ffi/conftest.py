import jax
import pytest

from xlaops.ffi import library


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
