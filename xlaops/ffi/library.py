"""The C++ library of xlaops: found, checked and registered with XLA on first use.

Nothing here runs at import. A library that cannot be used is not an error: operations
then take their JAX paths, and `unavailable_reason` says what is missing.
"""

import ctypes
import dataclasses
import importlib.metadata
import importlib.resources
import threading
from pathlib import Path

from . import registry
from .api_version import check_version, library_api_version, runtime_api_version

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
        check_version(library_api_version(library), runtime_api_version())
        for target in _CPU_TARGETS:
            handler = {"execute": getattr(library, target)}
            registry.register(target, "cpu", handler, str(path))
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
