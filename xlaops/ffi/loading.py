"""From C++ or CUDA text to handlers that XLA can call."""

import functools
import hashlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from . import build, cache, shared_library, sources, toolchain
from .api_version import check_version, runtime_api_version
from .load_errors import LoadError
from .shared_library import Library

_SUFFIXES = {"c++": ".cc", "cuda": ".cu"}
_INCLUDE = Path(__file__).parent / "include"


def load(
    name: str,
    *,
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    source_text: str | None = None,
    language: toolchain.Language = "c++",
    flags: Sequence[str] = (),
    link_flags: Sequence[str] = (),
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    cmake: str | bool | None = None,
    progress: bool = True,
) -> Library:
    """Compiles handlers, unless that has been done before, and opens the library.

    The library is kept in a cache, under a hash of the sources, the headers that they
    include, the flags, the compiler, and the versions of xlaops and of XLA's FFI API.
    The cache is a folder that only its user can write to: ``xlaops`` in the user's
    cache folder, or what the environment variable XLAOPS_CACHE_DIR names. Processes
    that ask for the same library at once build it once.

    Args:
        name: A name for file and targets, made of letters, digits and underscores.
        sources: One or more source files.
        source_text: The text of a source file; instead of `sources`, or beside them.
        language: "c++", or "cuda" for nvcc.
        flags: Flags for the compiler, such as ``"-march=native"``. C++17,
            optimisation and position-independent code are set.
        link_flags: Flags for the linker and libraries, such as ``"-lfftw3"``.
        include_dirs: Folders to find headers in. Those of xlaops, of XLA and of each
            source file are found anyway.
        cmake: None builds with CMake and Ninja where they are installed, and otherwise
            with one call of the compiler. True insists on CMake, False on the
            compiler. Text is lines of CMake for the target ``handlers``, such as
            ``find_package`` and ``target_link_libraries(handlers PRIVATE ...)``.
        progress: Whether a line on the standard error says that something is built.

    Returns:
        The library. The same call again in the process returns the same one.

    Raises:
        TypeError: There is no source, or an argument is of the wrong type.
        ValueError: The name or the language is not one.
        FileNotFoundError: A source file or a folder does not exist.
        CompilerNotFoundError: There is no compiler; the message says what to install.
        BuildError: The sources do not compile; the message holds the log.
        VersionError: The library needs another version of XLA's FFI API.
        CacheError: The cache cannot be made or written to, others than the user could
            have written to it, or an entry is not the one that was built.
        LoadError: All of these, and a library that the system does not open.

    Example:
        >>> import xlaops.ffi
        >>> text = '''
        ... #include "xlaops/ffi.h"
        ... namespace ffi = xla::ffi;
        ... ffi::Error Twice(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
        ...   for (size_t i = 0; i < x.element_count(); ++i) {
        ...     y->typed_data()[i] = 2 * x.typed_data()[i];
        ...   }
        ...   return ffi::Error::Success();
        ... }
        ... XLAOPS_DEFINE_HANDLER(twice, Twice);
        ... '''
        >>> xlaops.ffi.load("example", source_text=text)
        <xlaops.ffi.Library 'example', handlers: twice>
    """
    request = _Request(
        name, sources, source_text, language, flags, link_flags, include_dirs, cmake
    )
    key = request.key()
    library = shared_library.already_open(name, key)
    if library is not None:
        return library
    entry = cache.find(f"{name}-{key}")
    if entry is None:
        entry = request.build(progress)
        key = entry.manifest.get("key", key)
    _check_sanitizers(name, request.flags)
    try:
        major, minor = map(int, entry.manifest["api_version"])
        handlers = [str(name) for name in entry.manifest["handlers"]]
    except (KeyError, TypeError, ValueError) as error:
        raise cache.changed(
            entry.library.parent, f"what it notes ({error!r})"
        ) from None
    check_version((major, minor), runtime_api_version())
    return shared_library.opened(name, key, entry.library, language, handlers)


class _Request:
    """The arguments of `load`, checked, and the library that they mean."""

    def __init__(
        self,
        name: str,
        files: Any,
        text: str | None,
        language: toolchain.Language,
        flags: Sequence[str],
        link_flags: Sequence[str],
        include_dirs: Sequence[str | os.PathLike[str]],
        cmake: str | bool | None,
    ):
        shared_library.check_name("load", name)
        shared_library.check_language("load", language)
        if isinstance(files, str | os.PathLike):
            files = [files]
        self.files = [Path(path).absolute() for path in files or ()]
        if not self.files and text is None:
            raise TypeError("load: sources or source_text must be given, got neither")
        if text is not None and not isinstance(text, str):
            raise TypeError(f"load: source_text must be text, got {text!r}")
        if not isinstance(cmake, str | bool | None):
            raise TypeError(f"load: cmake must be text, a bool or None, got {cmake!r}")
        self.name = name
        self.text = text
        self.language: toolchain.Language = language
        self.flags = shared_library.words("load", "flags", flags)
        self.link_flags = shared_library.words("load", "link_flags", link_flags)
        self.cmake = cmake
        if not isinstance(include_dirs, list | tuple):
            raise TypeError(f"load: include_dirs must be a list, got {include_dirs!r}")
        self.include_dirs = [Path(path).absolute() for path in include_dirs]
        for path in self.include_dirs:
            if not path.is_dir():
                raise FileNotFoundError(f"load: include_dirs has no folder {path}")
        self.read()

    def read(self) -> None:
        try:
            searched, forced = self._in_flags()
            folders = [*self.include_dirs, *searched]
            self.sources = sources.read(self.files, self.text, folders, forced)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"load: there is no file {error.filename}"
            ) from None

    def _in_flags(self) -> tuple[list[Path], list[str]]:
        """Where flags have the compiler look for headers, and those they include."""
        folders: list[Path] = []
        headers: list[str] = []
        words = iter(self.flags)
        for word in words:
            if word in ("-include", "-imacros"):
                headers.append(next(words, ""))
                continue
            for flag in ("-I", "-iquote", "-isystem", "-idirafter"):
                if word.startswith(flag):
                    folders.append(Path(word.removeprefix(flag) or next(words, ".")))
                    break
        return folders, headers

    @functools.cached_property
    def compilers(self) -> dict[str, toolchain.Tool]:
        found = {self.language: toolchain.compiler(self.language)}
        if self.language == "cuda":
            host = toolchain.find_compiler("c++")
            if host is not None:
                found["c++"] = host
        return found

    @functools.cached_property
    def cmake_tool(self) -> toolchain.Tool | None:
        if self.cmake is False:
            return None
        tool = toolchain.find_build_tool("cmake")
        if tool is None and self.cmake:
            raise LoadError(
                "load: cmake was asked for, and there is none; install it, as by "
                "`pip install 'xlaops[ffi]'`"
            )
        return tool

    def key(self) -> str:
        """A hash of everything that takes part in the library."""
        environment = toolchain.environment_identity(self.language)
        parts = [
            build.RECIPE,
            _package_version(),
            str(runtime_api_version()),
            sources.digest_of_folder(_INCLUDE, "*.h"),
            sources.digest_of_folder(_xla_headers(), "*.h"),
            self.name,
            self.language,
            self.sources.digest(),
            repr((self.flags, self.link_flags, self.cmake)),
            # A file may include others relative to these.
            repr([str(path) for path in self.include_dirs]),
            "cmake" if self.cmake_tool else "compiler",
            *(tool.identity() for tool in self.compilers.values()),
            environment,
        ]
        # Wherever the compiler may be told to compile for this processor.
        commands = (word for tool in self.compilers.values() for word in tool.command)
        if any(
            "native" in t
            for t in (*self.flags, str(self.cmake), environment, *commands)
        ):
            parts.append(toolchain.processor_identity())
        if self.language == "cuda":
            parts.append(toolchain.gpu_identity())
        total = hashlib.sha256()
        for part in parts:
            total.update(f"{len(part)}\0{part}".encode())
        return total.hexdigest()[: shared_library.KEY_DIGITS]

    def build(self, progress: bool) -> cache.Entry:
        """The entry of the cache, built here or by a process that was faster."""
        key = self.key()
        entry_name = f"{self.name}-{key}"

        def say(text: str, end: str = "\n") -> None:
            if progress:
                print(text, end=end, file=sys.stderr, flush=True)

        def on_wait() -> None:
            say(f"xlaops.ffi: another process is compiling {self.name!r}, waiting")

        with cache.locked(entry_name, on_wait):
            entry = cache.find(entry_name)
            if entry is not None:
                return entry
            say(f"xlaops.ffi: compiling {self.name!r} ({self.language}) ...", end="")
            start = time.monotonic()
            try:
                with cache.unfinished() as folder:
                    library, log = self._build_in(folder, entry_name)
                    self.read()
                    if self.key() != key:
                        # Saved while the compiler was reading: nobody knows which.
                        raise LoadError(
                            f"load: the sources of {self.name!r} changed while they "
                            f"were compiled; load them again"
                        )
                    entry = cache.add(entry_name, library, self._manifest(key, log))
            except BaseException:
                say(" failed")
                raise
            say(f" {time.monotonic() - start:.1f} s")
            return entry

    def _build_in(self, folder: Path, output: str) -> tuple[Path, str]:
        files = list(self.files)
        if self.text is not None:
            file = folder / (self.name + _SUFFIXES[self.language])
            # In messages of the compiler the file is one of the user's, not this one.
            file.write_text(f'#line 1 "{file.name}"\n{self.text}', encoding="utf-8")
            files.append(file)
        recipe = build.Recipe(
            output=output,
            language=self.language,
            sources=tuple(files),
            flags=self.flags,
            link_flags=self.link_flags,
            include_dirs=tuple(self.include_dirs),
            system_include_dirs=(_INCLUDE, Path(jax.ffi.include_dir())),
            cmake=self.cmake if isinstance(self.cmake, str) else "",
        )
        if self.cmake_tool is None:
            return build.directly(recipe, folder, self.compilers[self.language])
        ninja = toolchain.find_build_tool("ninja")
        return build.with_cmake(recipe, folder, self.compilers, self.cmake_tool, ninja)

    def _manifest(self, key: str, log: str) -> dict[str, Any]:
        return {
            "name": self.name,
            "key": key,
            "language": self.language,
            # What xlaops/ffi/api.h holds the version down to.
            "api_version": [0, min(3, runtime_api_version()[1])],
            "handlers": self.sources.handlers(),
            "compiler": list(self.compilers[self.language].command),
            "log": log,
        }


def _xla_headers() -> Path:
    return Path(jax.ffi.include_dir(), "xla", "ffi", "api")


def _package_version() -> str:
    try:
        return importlib.metadata.version("xlaops")
    except importlib.metadata.PackageNotFoundError:
        return "0+unknown"  # a source tree; the contents of the header count anyway


def _check_sanitizers(name: str, flags: Sequence[str]) -> None:
    """Refuses what AddressSanitizer would end the process for."""
    sanitizers = [flag for flag in flags if flag.startswith("-fsanitize=")]
    if "address" not in "".join(sanitizers) or not sys.platform.startswith("linux"):
        return
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        raise LoadError(
            f"library {name!r} needs AddressSanitizer in front of everything else in "
            f"the process; start it with LD_PRELOAD set to the paths that `c++ "
            f"-print-file-name=libasan.so` and `c++ -print-file-name=libstdc++.so` "
            f"print"
        )
