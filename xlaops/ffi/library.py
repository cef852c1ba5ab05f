"""The C++ library of xlaops: found, checked and registered with XLA on first use.

Nothing here runs at import. A library that cannot be used is not an error: operations
then take their JAX paths, and `unavailable_reason` says what is missing.
"""

import ctypes
import dataclasses
import importlib.metadata
import importlib.resources
import re
import threading
from pathlib import Path

import jax

_FILE = "libxlaops_ffi.so"

# The handlers of the library: each is the name of its C symbol and of its XLA target.
_CPU_TARGETS = ("xlaops_periodic_add",)


@dataclasses.dataclass(frozen=True)
class _Outcome:
    """What came of loading: the library, or the reason why there is none."""

    library: ctypes.CDLL | None = None
    reason: str | None = None


_lock = threading.Lock()
_outcome: _Outcome | None = None


def available() -> bool:
    """Whether the C++ handlers of xlaops can be used in this process.

    The first call loads the library and registers its handlers with XLA.

    Returns:
        True if the handlers are registered. False if this installation has no library
        (it was built without a C++ compiler), or one that does not load or that the
        installed jaxlib would refuse; `unavailable_reason` says which.

    Example:
        >>> import xlaops.ffi
        >>> xlaops.ffi.available() == (xlaops.ffi.unavailable_reason() is None)
        True
    """
    return _load_once().library is not None


def unavailable_reason() -> str | None:
    """The reason why the C++ handlers cannot be used, or None if they can."""
    return _load_once().reason


def include_dir() -> str:
    """The folder to give to a C++ compiler for ``#include "xlaops/ffi.h"``.

    XLA's own headers, which that one includes, are in `jax.ffi.include_dir`.

    Example:
        >>> import os.path, xlaops.ffi
        >>> os.path.isfile(os.path.join(xlaops.ffi.include_dir(), "xlaops", "ffi.h"))
        True
    """
    return str(Path(__file__).parent / "include")


def runtime_api_version() -> tuple[int, int]:
    """The version (major, minor) of XLA's FFI API in the installed jaxlib.

    It is read from the header that jaxlib ships, for want of a Python function.

    Raises:
        RuntimeError: The header is missing or does not state a version.
    """
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    try:
        text = header.read_text(encoding="utf-8")
    except OSError as error:
        raise RuntimeError(f"jaxlib's FFI header cannot be read: {error}") from error
    found = [
        re.search(rf"^#define XLA_FFI_API_{part} (\d+)$", text, re.MULTILINE)
        for part in ("MAJOR", "MINOR")
    ]
    if found[0] is None or found[1] is None:
        raise RuntimeError(f"{header} does not state the version of the FFI API")
    return int(found[0][1]), int(found[1][1])


def _load_once() -> _Outcome:
    global _outcome
    if _outcome is None:
        with _lock:
            if _outcome is None:
                _outcome = _load()
    return _outcome


def _load() -> _Outcome:
    try:
        path = _find()
        if path is None:
            return _Outcome(
                reason=f"this installation of xlaops has no {_FILE}: it was built "
                f"without a C++ compiler, or is used from its sources"
            )
        library = ctypes.CDLL(str(path))
        _check_version(library)
        for target in _CPU_TARGETS:
            capsule = jax.ffi.pycapsule(getattr(library, target))
            jax.ffi.register_ffi_target(target, capsule, platform="cpu")
    # Whatever goes wrong here, JAX without our handlers is still right.
    except Exception as error:
        return _Outcome(reason=f"{_FILE} cannot be used: {error}")
    return _Outcome(library=library)


def _find() -> Path | None:
    """The library of this installation."""
    # Through importlib: in an editable install it is not beside this file.
    resource = importlib.resources.files("xlaops.ffi").joinpath(_FILE)
    if resource.is_file():
        return Path(str(resource))
    # The sources are in front of the installed package, as in `python -m xlaops` run in
    # a checkout: its library serves them as well.
    try:
        distribution = importlib.metadata.distribution("xlaops")
    except importlib.metadata.PackageNotFoundError:
        return None
    installed = Path(str(distribution.locate_file(f"xlaops/ffi/{_FILE}")))
    return installed if installed.is_file() else None


def _check_version(library: ctypes.CDLL) -> None:
    """Refuses a library that is newer than the runtime, before XLA sees it.

    XLA does not refuse it in time: it takes the registration, and the whole process
    then fails to initialise its CPU backend.
    """
    built = (library.xlaops_ffi_api_major(), library.xlaops_ffi_api_minor())
    runtime = runtime_api_version()
    if built[0] != runtime[0] or built[1] > runtime[1]:
        raise RuntimeError(
            f"it needs version {built[0]}.{built[1]} of XLA's FFI API, and the "
            f"installed jaxlib has {runtime[0]}.{runtime[1]}"
        )
