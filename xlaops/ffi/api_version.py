"""Versions of XLA's FFI API: of the installed jaxlib, and of libraries."""

import ctypes
import re
from pathlib import Path

import jax

from .load_errors import VersionError


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


def library_api_version(library: ctypes.CDLL) -> tuple[int, int]:
    """The version (major, minor) that the handlers of a library report.

    Raises:
        VersionError: The library does not say, as it was not made with xlaops/ffi.h.
    """
    try:
        return library.xlaops_ffi_api_major(), library.xlaops_ffi_api_minor()
    except AttributeError:
        raise VersionError(
            "it does not say which version of XLA's FFI API it needs: none of its "
            'sources has #include "xlaops/ffi.h"'
        ) from None


def check_version(built: tuple[int, int], runtime: tuple[int, int]) -> None:
    """Refuses handlers that are newer than the runtime, before XLA sees them.

    XLA does not refuse them in time: it takes the registration, and the whole process
    then fails to initialise its CPU backend.

    Args:
        built: The version (major, minor) that the handlers report.
        runtime: The version (major, minor) of the installed jaxlib.

    Raises:
        VersionError: The major versions differ, or that of the handlers is newer.
    """
    if built[0] != runtime[0] or built[1] > runtime[1]:
        raise VersionError(
            f"it needs version {built[0]}.{built[1]} of XLA's FFI API, and the "
            f"installed jaxlib has {runtime[0]}.{runtime[1]}"
        )
