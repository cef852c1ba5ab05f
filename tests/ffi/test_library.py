"""Finding, checking and registering the C++ library, and doing without it."""

import concurrent.futures
import ctypes
import importlib.metadata
import importlib.resources
import re
from pathlib import Path

import jax
import numpy as np
import pytest
from ffi.children import printed

import xlaops.ffi
from xlaops.ffi import library, registry


@pytest.fixture
def fresh(monkeypatch):
    """The loader as a new process finds it."""
    monkeypatch.setattr(library, "_outcome", None)
    monkeypatch.setattr(registry, "_targets", {})


def load_directly():
    return ctypes.CDLL(str(library._find()))


def test_platform_wheel_has_a_working_library():
    try:
        wheel = importlib.metadata.distribution("xlaops").read_text("WHEEL")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("xlaops is used from its sources")
    if "Tag: py3-none-any" in (wheel or ""):
        pytest.skip("this wheel was built without a C++ compiler")
    assert xlaops.ffi.available(), xlaops.ffi.unavailable_reason()


def test_available_and_reason_agree():
    assert xlaops.ffi.available() == (xlaops.ffi.unavailable_reason() is None)


def test_header_is_installed():
    folder = Path(xlaops.ffi.include_dir())
    header = (folder / "xlaops" / "ffi.h").read_text()
    parts = re.findall(r'#include "(xlaops/ffi/.*)"', header)
    assert "xlaops/ffi/handler.h" in parts
    assert all((folder / part).is_file() for part in parts)


def test_runtime_version_is_what_the_header_says():
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    lines = [line.split() for line in header.read_text().splitlines()]
    defined = {
        line[1]: int(line[2])
        for line in lines
        if len(line) == 3 and line[0] == "#define" and line[2].isdigit()
    }
    assert library.runtime_api_version() == (
        defined["XLA_FFI_API_MAJOR"],
        defined["XLA_FFI_API_MINOR"],
    )


def test_library_reports_the_capped_version(native):
    lib = load_directly()
    assert lib.xlaops_ffi_api_major() == 0
    assert lib.xlaops_ffi_api_minor() == 3
    assert lib.xlaops_ffi_api_minor() <= library.runtime_api_version()[1]


def test_handlers_are_exported(native):
    lib = load_directly()
    for target in library._CPU_TARGETS:
        assert getattr(lib, target)


def test_loads_once_from_many_threads(native, fresh, monkeypatch):
    registered = []
    monkeypatch.setattr(
        jax.ffi,
        "register_ffi_target",
        lambda name, *args, **kwargs: registered.append(name),
    )
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: library.available(), range(64)))
    assert sorted(registered) == sorted(library._CPU_TARGETS)


def test_newer_library_is_refused_before_it_is_registered(native, fresh, monkeypatch):
    registered = []
    monkeypatch.setattr(library, "runtime_api_version", lambda: (0, 2))
    monkeypatch.setattr(
        jax.ffi, "register_ffi_target", lambda *args, **kw: registered.append(args)
    )
    assert not library.available()
    assert re.search(r"needs version 0\.3 .* has 0\.2", library.unavailable_reason())
    assert registered == []


def test_other_major_version_is_refused(native, fresh, monkeypatch):
    monkeypatch.setattr(library, "runtime_api_version", lambda: (1, 9))
    assert not library.available()
    assert "1.9" in library.unavailable_reason()


def test_unreadable_headers_are_a_reason(native, fresh, monkeypatch, tmp_path):
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    assert not library.available()
    assert "header cannot be read" in library.unavailable_reason()


def test_headers_without_a_version_are_a_reason(native, fresh, monkeypatch, tmp_path):
    header = tmp_path / "xla" / "ffi" / "api" / "c_api.h"
    header.parent.mkdir(parents=True)
    header.write_text("// nothing\n")
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    assert not library.available()
    assert "does not state the version" in library.unavailable_reason()


def test_file_that_is_no_library_is_a_reason(fresh, monkeypatch, tmp_path):
    (tmp_path / "libxlaops_ffi.so").write_text("not a library")
    monkeypatch.setattr(importlib.resources, "files", lambda package: tmp_path)
    assert not library.available()
    assert "libxlaops_ffi.so cannot be used" in library.unavailable_reason()


def test_registration_error_is_a_reason(native, fresh, monkeypatch):
    def refuse(*args, **kwargs):
        raise RuntimeError("refused by XLA")

    monkeypatch.setattr(jax.ffi, "register_ffi_target", refuse)
    assert not library.available()
    assert library.unavailable_reason().endswith("refused by XLA")


def test_without_the_file_everything_works():
    out = printed(
        """
        import jax, numpy as np
        import xlaops, xlaops.ffi
        xlaops.ffi.library._find = lambda: None
        print(xlaops.ffi.available())
        print(xlaops.ffi.unavailable_reason())
        b, c = np.arange(3.0, dtype=np.float32), np.arange(7.0, dtype=np.float32)
        print(xlaops.ffi.periodic_add(b, c).tolist())
        print("custom_call" in jax.jit(xlaops.ffi.periodic_add).lower(b, c).as_text())
        """
    ).splitlines()
    assert out[0] == "False"
    assert "without a C++ compiler" in out[1]
    assert out[2] == "[0.0, 2.0, 4.0, 3.0, 5.0, 7.0, 6.0]"
    assert out[3] == "False"


def test_import_neither_loads_nor_starts_a_backend():
    out = printed(
        """
        import xlaops, xlaops.ffi
        from xlaops.ffi import library, registry
        from jax._src import xla_bridge
        print(library._outcome, bool(xla_bridge._backends))
        # Nor does loading: the registration waits for the backend.
        xlaops.ffi.available()
        print(bool(xla_bridge._backends))
        import jax.numpy as jnp
        print(xlaops.ffi.periodic_add(jnp.arange(2), jnp.arange(3)).tolist())
        """
    ).splitlines()
    assert out[:3] == ["None False", "False", "[0, 2, 2]"]


@pytest.mark.parametrize(
    ("b", "c", "result", "message"),
    [
        ((), (7,), (7,), r"same rank, at least 1, got shapes \[\] and \[7\]"),
        ((3,), (2, 7), (2, 7), r"same rank, at least 1, got shapes \[3\] and \[2,7\]"),
        ((2, 3), (4, 7), (4, 7), r"leading dimensions, got shapes \[2,3\] and \[4,7\]"),
        ((3,), (7,), (8,), r"shape of c, \[7\], got \[8\]"),
        ((0,), (7,), (7,), r"must not be empty .*got shape \[0\]"),
    ],
)
def test_handler_refuses_shapes(native, b, c, result, message):
    call = jax.ffi.ffi_call(
        "xlaops_periodic_add", jax.ShapeDtypeStruct(result, np.float32)
    )
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match=f"(?s)INVALID_ARGUMENT.*periodic_add: .*{message}",
    ):
        jax.jit(call)(np.ones(b, np.float32), np.ones(c, np.float32))


@pytest.mark.parametrize(
    ("b", "c", "result", "message"),
    [
        ("float32", "int32", "int32", "same element type"),
        ("float32", "float32", "int32", "same element type"),
        ("bool", "bool", "bool", "elements of F32, F64.*got XLA_FFI_DataType 1"),
    ],
)
def test_handler_refuses_element_types(native, b, c, result, message):
    call = jax.ffi.ffi_call("xlaops_periodic_add", jax.ShapeDtypeStruct((7,), result))
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match=f"(?s)INVALID_ARGUMENT.*periodic_add: .*{message}",
    ):
        jax.jit(call)(np.ones(3, b), np.ones(7, c))


def test_process_goes_on_after_a_handler_error(native):
    call = jax.ffi.ffi_call("xlaops_periodic_add", jax.ShapeDtypeStruct((7,), "int32"))
    with pytest.raises(jax.errors.JaxRuntimeError):
        jax.jit(call)(np.ones(0, "int32"), np.ones(7, "int32"))
    out = jax.jit(call)(np.array([1, 2], "int32"), np.zeros(7, "int32"))
    np.testing.assert_array_equal(out, [1, 2, 1, 2, 1, 2, 1])
