"""A shared library of handlers: opened, checked, and registered by handler."""

import ctypes
import difflib
import hashlib
import os
import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import registry, toolchain
from .api_version import check_version, library_api_version, runtime_api_version
from .load_errors import HandlerNotFoundError, LoadError, VersionError

KEY_DIGITS = 16

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLATFORMS = {"c++": "cpu", "cuda": "CUDA"}
# XLA's stages, in the order in which they run.
_STAGES = ("instantiate", "prepare", "initialize", "execute")

_lock = threading.Lock()
_opened: dict[tuple[str, str], "Library"] = {}
# The keys of files of users, by path and by what the system calls the file.
_files: dict[Any, str] = {}


class Library:
    """A shared library of handlers, open until the process ends.

    Made by `load` and `load_library`.

    Attributes:
        name: The name that it was loaded by.
        key: A hash of what it was made of, by which the names of its targets differ
            from those of every other library.
        path: The file.
        language: "c++" or "cuda".
        api_version: The version (major, minor) of XLA's FFI API that it needs.
        handlers: Names of handlers in its sources, as far as macros do not hide them.
    """

    def __init__(
        self,
        name: str,
        key: str,
        path: Path,
        language: toolchain.Language,
        handlers: Sequence[str],
    ):
        self.name = name
        self.key = key
        self.path = path
        self.language = language
        self.handlers = tuple(handlers)
        try:
            # Nothing closes it again: XLA keeps pointers into it.
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise LoadError(_cannot_open(name, str(error))) from error
        try:
            self.api_version = library_api_version(self._library)
            check_version(self.api_version, runtime_api_version())
        except VersionError as error:
            raise VersionError(f"library {name!r} cannot be used: {error}") from None

    def __repr__(self) -> str:
        handlers = ", ".join(self.handlers) or "unknown"
        return f"<xlaops.ffi.Library {self.name!r}, handlers: {handlers}>"

    def target(
        self,
        execute: str,
        *,
        instantiate: str | None = None,
        prepare: str | None = None,
        initialize: str | None = None,
        state: str | None = None,
        platform: str | None = None,
    ) -> str:
        """Registers a handler with XLA, and returns the name to call it by.

        The same call again returns the same name. The name holds the hash of the
        sources, so an edited library never meets what an earlier one registered.

        Args:
            execute: The C symbol of the handler, of XLAOPS_DEFINE_HANDLER.
            instantiate: The symbol of its instantiate stage, which makes its state.
            prepare: The symbol of its prepare stage.
            initialize: The symbol of its initialize stage.
            state: The name given to XLAOPS_DEFINE_STATE, if there is a state.
            platform: XLA's name of the platform; "cpu" for C++ and "CUDA" for CUDA
                unless given.

        Returns:
            The name, for `jax.ffi.ffi_call`.

        Raises:
            HandlerNotFoundError: The library has no handler of that name and stage.

        Example:
            >>> import jax, jax.numpy as jnp, xlaops.ffi
            >>> text = '''
            ... #include "xlaops/ffi.h"
            ... namespace ffi = xla::ffi;
            ... XLAOPS_DEFINE_HANDLER(answer, [](ffi::ResultBufferR0<ffi::S32> out) {
            ...   out->typed_data()[0] = 42;
            ...   return ffi::Error::Success();
            ... }, ffi::Ffi::Bind().Ret<ffi::BufferR0<ffi::S32>>());
            ... '''
            >>> target = xlaops.ffi.load("answer", source_text=text).target("answer")
            >>> call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct((), jnp.int32))
            >>> jax.jit(call)()
            Array(42, dtype=int32)
        """
        platform = _PLATFORMS[self.language] if platform is None else platform
        symbols = {
            "instantiate": instantiate,
            "prepare": prepare,
            "initialize": initialize,
            "execute": execute,
        }
        stages = {
            stage: self._handler(symbol, stage)
            for stage, symbol in symbols.items()
            if symbol is not None
        }
        if state is not None:
            registry.register_state(
                f"{self.name}.{state}.{self.key}",
                platform,
                self._pointer(f"{state}_type_id", state),
                self._pointer(f"{state}_type_info", state),
            )
        used = ".".join(
            symbols[stage] for stage in reversed(_STAGES) if stage in stages
        )
        name = f"{self.name}.{used}.{self.key}"
        registry.register(name, platform, stages, str(self.path))
        return name

    def _handler(self, symbol: str, stage: str) -> Any:
        """The address of a handler, which XLA will call: so it must be one."""
        try:
            pointer = getattr(self._library, symbol)
        except AttributeError:
            raise HandlerNotFoundError(self._no_handler(symbol)) from None
        try:
            found = ctypes.c_int.in_dll(self._library, f"{symbol}_xlaops_stage").value
        except ValueError:
            # Of XLA's own macro, or one of the user's; or no handler at all.
            if symbol in self.handlers:
                return pointer
            raise HandlerNotFoundError(
                f"library {self.name!r}: {symbol!r} is not a handler that "
                f"XLAOPS_DEFINE_HANDLER defines, and XLA would call it as one"
            ) from None
        # XLA's numbers of the stages are in the order of _STAGES.
        if _STAGES[found] != stage:
            raise HandlerNotFoundError(
                f"library {self.name!r}: {stage} must be a handler of the stage "
                f"{stage}, got {symbol!r}, which is one of the stage {_STAGES[found]}"
            )
        return pointer

    def _pointer(self, symbol: str, state: str) -> int:
        try:
            function = getattr(self._library, symbol)
        except AttributeError:
            raise HandlerNotFoundError(
                f"library {self.name!r} has no state {state!r}; "
                f"XLAOPS_DEFINE_STATE({state}, T) defines one"
            ) from None
        function.restype = ctypes.c_void_p
        return function()

    def _no_handler(self, symbol: str) -> str:
        message = f"library {self.name!r} has no handler {symbol!r}"
        close = difflib.get_close_matches(symbol, self.handlers, n=1)
        if close:
            return f"{message}; did you mean {close[0]!r}?"
        if self.handlers:
            return f"{message}; it has {', '.join(self.handlers)}"
        return f"{message}; XLAOPS_DEFINE_HANDLER({symbol}, ...) defines one"


def load_library(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    language: toolchain.Language = "c++",
    handlers: Sequence[str] = (),
) -> Library:
    """Opens a library of handlers that was built elsewhere, as for a wheel.

    One that was compiled with ``xlaops/ffi.h`` works with every jaxlib that xlaops
    supports, whichever brought the headers.

    Args:
        path: The file.
        name: A name for its targets; that of the file unless given.
        language: "cuda" if its handlers are for GPUs.
        handlers: Names of handlers that XLA's own macro defines. Those of
            ``XLAOPS_DEFINE_HANDLER`` say themselves that they are.

    Returns:
        The library.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The name is not made of letters, digits and underscores.
        VersionError: The library needs another version of XLA's FFI API.
        LoadError: The system does not open it; or the file was opened before in this
            process and has been built again, and the system would give the old one.
    """
    file = Path(path).absolute()
    if name is None:
        name = re.sub(
            r"\W", "_", file.name.split(".")[0].removeprefix("lib"), flags=re.A
        )
        if not _NAME.fullmatch(name):
            name = f"_{name}"
    check_name("load_library", name)
    check_language("load_library", language)
    content = file.read_bytes()
    key = hashlib.sha256(content).hexdigest()[:KEY_DIGITS]
    handlers = words("load_library", "handlers", handlers)
    status = file.stat()
    places = (str(file), (status.st_dev, status.st_ino))
    if any(_files.get(place, key) != key for place in places):
        raise LoadError(
            f"library {name!r} was opened before from {file}, which holds another one "
            f"now; a process goes on with the first: give the new file another name, "
            f"or start the process anew"
        )
    library = opened(name, key, file, language, handlers)
    _files.update(dict.fromkeys(places, key))
    return library


def already_open(name: str, key: str) -> Library | None:
    """The library that was opened by this name and key before, or None."""
    with _lock:
        return _opened.get((name, key))


def opened(
    name: str,
    key: str,
    file: Path,
    language: toolchain.Language,
    handlers: Sequence[str],
) -> Library:
    """The library of a file, opened once in a process."""
    with _lock:
        library = _opened.get((name, key))
        if library is None:
            library = Library(name, key, file, language, handlers)
            _opened[name, key] = library
        library.handlers = tuple(dict.fromkeys([*library.handlers, *handlers]))
        return library


def check_name(operation: str, name: str) -> None:
    """Refuses a name that cannot be part of a file's and a target's name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"{operation}: name must begin with no digit and be made of letters, "
            f"digits and underscores, got {name!r}"
        )


def check_language(operation: str, language: str) -> None:
    """Refuses a language for which there is no compiler to look for."""
    if language not in _PLATFORMS:
        raise ValueError(
            f"{operation}: language must be 'c++' or 'cuda', got {language!r}"
        )


def words(operation: str, parameter: str, words: Sequence[str]) -> tuple[str, ...]:
    """A list of texts as a tuple, and not one text by mistake."""
    is_one = isinstance(words, str) or not isinstance(words, Iterable)
    if is_one or not all(isinstance(word, str) for word in words):
        raise TypeError(
            f"{operation}: {parameter} must be a sequence of texts, got {words!r}"
        )
    return tuple(words)


def _cannot_open(name: str, reason: str) -> str:
    message = f"library {name!r} cannot be opened: {reason}"
    if "GLIBCXX" in reason or "CXXABI" in reason:
        message += (
            "; this Python brings an older C++ runtime than the compiler's: add "
            "'-static-libstdc++' to link_flags"
        )
    return message
