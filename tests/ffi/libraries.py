"""The handlers that tests call, compiled once for all tests."""

import ctypes
import functools
import os
import pathlib

import pytest

import xlaops.ffi
from xlaops.ffi import cache

NATIVE = pathlib.Path(__file__).parent / "native"


def folder():
    """A cache of this run of the tests, in place of the user's."""
    return os.environ["XLAOPS_TEST_CACHE"]


@functools.cache
def _loaded(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.VARIABLE, folder())
        try:
            return xlaops.ffi.load(
                f"test_{name}",
                sources=NATIVE / f"{name}.cc",
                flags=["-O0"],
                progress=False,
            )
        except xlaops.ffi.CompilerNotFoundError as error:
            return error


def library(name):
    """The library of the handlers in a file; skips where there is no compiler."""
    found = _loaded(name)
    if isinstance(found, Exception):
        pytest.skip(str(found))
    return found


def target(symbol, name="op"):
    """The target of a handler in a file."""
    return library(name).target(symbol)


def symbols(name="op"):
    """The C functions of a library, for those that are no handlers."""
    return ctypes.CDLL(str(library(name).path))


def calls():
    """How often handlers that count their calls have been called."""
    function = symbols().test_calls
    function.restype = ctypes.c_int64
    return function()
