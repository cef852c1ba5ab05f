"""Building a shared library of handlers, by CMake or by the compiler alone."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from . import toolchain
from .load_errors import BuildError

# Changed whenever the same sources and flags would be built differently.
RECIPE = "1"

# Beside what the user asks for. Assertions are off as a failed one ends the process.
_DEFAULTS = ("-O3", "-DNDEBUG")
_LOG_IN_MESSAGE = 20_000


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What to build, and how.

    Attributes:
        output: The file name of the library, without ".so".
        language: "c++" or "cuda".
        sources: Source files, absolute.
        flags: For the compiler, and for the linker, which has the same driver.
        link_flags: For the linker, behind everything else: libraries.
        include_dirs: Folders of the user's headers.
        system_include_dirs: Folders of headers whose warnings are not the user's.
        cmake: Lines of CMake for the target ``handlers``, or "".
    """

    output: str
    language: toolchain.Language
    sources: tuple[Path, ...]
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    include_dirs: tuple[Path, ...]
    system_include_dirs: tuple[Path, ...]
    cmake: str = ""

    @property
    def file(self) -> str:
        """The file name of the library."""
        return self.output + ".so"


def with_cmake(
    recipe: Recipe,
    folder: Path,
    compilers: dict[str, toolchain.Tool],
    cmake: toolchain.Tool,
    ninja: toolchain.Tool | None,
) -> tuple[Path, str]:
    """Builds with CMake, and Ninja if there is one.

    Args:
        recipe: What to build.
        folder: An empty folder for all that comes of it.
        compilers: By language; "c++" may be missing where nvcc finds its own.
        cmake: CMake.
        ninja: Ninja; without it CMake writes files for make.

    Returns:
        The library, and the log.

    Raises:
        BuildError: It does not compile.
    """
    (folder / "CMakeLists.txt").write_text(_cmake_lists(recipe), encoding="utf-8")
    configure = [*cmake.command, "-S", str(folder), "-B", str(folder / "out")]
    configure.append("-DCMAKE_BUILD_TYPE=Release")
    if ninja is not None:
        configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja.path}"]
    for language, variable in (("c++", "CXX"), ("cuda", "CUDA")):
        if language in compilers:
            # A list: a launcher in front, as in CXX="ccache g++", or flags behind.
            command = ";".join(compilers[language].command)
            configure.append(f"-DCMAKE_{variable}_COMPILER={command}")
    log = _run(recipe, configure, folder)
    build = [*cmake.command, "--build", str(folder / "out")]
    log += _run(recipe, build, folder, log)
    return folder / "out" / recipe.file, log


def directly(
    recipe: Recipe, folder: Path, compiler: toolchain.Tool
) -> tuple[Path, str]:
    """Builds with one call of the compiler, where there is no CMake.

    Args:
        recipe: What to build; without lines of CMake.
        folder: An empty folder for all that comes of it.
        compiler: The compiler of its language.

    Returns:
        The library, and the log.

    Raises:
        BuildError: It does not compile.
    """
    output = folder / recipe.file
    is_cuda = recipe.language == "cuda"
    command = [*compiler.command, *_DEFAULTS, "-std=c++17", "-shared"]
    command.append("-Xcompiler=-fPIC" if is_cuda else "-fPIC")
    # Not the first word alone, which may be ccache.
    names = [Path(word).resolve().name for word in compiler.command]
    if not is_cuda and not any("clang" in name for name in names):
        command += _platform_flags()
    for variable in ("CUDAFLAGS",) if is_cuda else ("CPPFLAGS", "CXXFLAGS"):
        command += os.environ.get(variable, "").split()
    if is_cuda and toolchain.has_nvidia_gpu():
        command.append("-arch=native")
    command += recipe.flags
    for path in recipe.system_include_dirs:
        command += ["-isystem", str(path)]
    for path in recipe.include_dirs:
        command += ["-I", str(path)]
    command += [str(path) for path in recipe.sources]
    command += ["-o", str(output)]
    if not is_cuda:
        command += [*os.environ.get("LDFLAGS", "").split(), *_link_flags(recipe)]
    command += recipe.link_flags
    log = _run(recipe, command, folder)
    return output, log


def _cmake_lists(recipe: Recipe) -> str:
    is_cuda = recipe.language == "cuda"
    languages = "CXX CUDA" if is_cuda else "CXX"
    lines = [
        "cmake_minimum_required(VERSION 3.20)",
        # Modules would need another pass over every file.
        "set(CMAKE_CXX_SCAN_FOR_MODULES OFF)",
        f"project(xlaops_handlers LANGUAGES {languages})",
        f"add_library(handlers SHARED {_arguments(recipe.sources)})",
        f"set_target_properties(handlers PROPERTIES OUTPUT_NAME {recipe.output}",
        '  PREFIX "" SUFFIX ".so" CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON',
        "  CXX_EXTENSIONS OFF)",
        f"target_include_directories(handlers SYSTEM PRIVATE "
        f"{_arguments(recipe.system_include_dirs)})",
    ]
    if is_cuda:
        lines += [
            "set_target_properties(handlers PROPERTIES CUDA_STANDARD 17",
            "  CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static)",
        ]
        if not os.environ.get("CUDAARCHS"):
            # Without a GPU not one that CMake chooses, but what this nvcc takes for
            # granted.
            which = "native" if toolchain.has_nvidia_gpu() else "OFF"
            lines.append(
                f"set_target_properties(handlers PROPERTIES CUDA_ARCHITECTURES {which})"
            )
    else:
        for flag, compilers in _platform_flags().items():
            lines.append(
                f"target_compile_options(handlers PRIVATE "
                f"$<$<CXX_COMPILER_ID:{compilers}>:{flag}>)"
            )
        flags = _arguments(_link_flags(recipe))
        lines.append(f"target_link_options(handlers PRIVATE {flags})")
    if recipe.include_dirs:
        folders = _arguments(recipe.include_dirs)
        lines.append(f"target_include_directories(handlers PRIVATE {folders})")
    if recipe.flags:
        flags = _arguments(recipe.flags)
        lines.append(f"target_compile_options(handlers PRIVATE {flags})")
        lines.append(f"target_link_options(handlers PRIVATE {flags})")
    if recipe.link_flags:
        flags = _arguments(recipe.link_flags)
        lines.append(f"target_link_libraries(handlers PRIVATE {flags})")
    if recipe.cmake:
        lines += ["# The user's:", recipe.cmake]
    return "\n".join(lines) + "\n"


def _arguments(words: Sequence[object]) -> str:
    """Words as CMake takes them: whatever is in them, one argument each."""
    texts = (str(word).replace(";", "\\;") for word in words)
    return " ".join(f"[==[{text}]==]" for text in texts)


def _platform_flags() -> dict[str, str]:
    """Flags for Linux, with the compilers that know them.

    Two builds of one source may be in a process at once, as in a notebook. g++ would
    let them share the variables of templates and inline functions.
    """
    return {"-fno-gnu-unique": "GNU"} if sys.platform.startswith("linux") else {}


def _link_flags(recipe: Recipe) -> tuple[str, ...]:
    if not sys.platform.startswith("linux"):
        return ()
    flags = ["-Wl,-Bsymbolic"]
    # What is missing is known at once, by its name in C++ and its place. Sanitizers
    # leave their symbols to the process.
    if not any(flag.startswith("-fsanitize") for flag in recipe.flags):
        flags.append("-Wl,-z,defs")
    return tuple(flags)


def _run(recipe: Recipe, command: Sequence[str], folder: Path, before: str = "") -> str:
    """Runs a step of a build, and returns what it wrote."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise BuildError(f"{command[0]} does not run: {error}", before) from error
    log = done.stdout
    if done.returncode == 0:
        return log
    log = before + log
    shown = log if len(log) <= _LOG_IN_MESSAGE else log[:_LOG_IN_MESSAGE] + "\n[...]"
    message = (
        f"the {recipe.language} sources of {recipe.output!r} do not compile; "
        f"{Path(command[0]).name} ended with {done.returncode}:\n{shown}"
    )
    if "GetXlaFfiApi" in log:
        message += (
            "\nXLA_FFI_REGISTER_HANDLER works inside of XLA only: leave it out, and "
            "register handlers by Library.target."
        )
    raise BuildError(message, log)
