"""Compilers and build tools: where they are, and what tells two of them apart."""

import contextlib
import dataclasses
import hashlib
import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Literal

from .load_errors import CompilerNotFoundError

Language = Literal["c++", "cuda"]

# What compilers and CMake read of the environment: it takes part in the result.
_VARIABLES: dict[str, tuple[str, ...]] = {
    "c++": (
        "CXXFLAGS",
        "CPPFLAGS",
        "LDFLAGS",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
        "LIBRARY_PATH",
        "CMAKE_PREFIX_PATH",
    ),
    "cuda": (
        "CUDAFLAGS",
        "CUDAARCHS",
        "CUDAHOSTCXX",
        "NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
    ),
}
_MISSING = {
    "c++": "no C++ compiler was found (c++, g++ or clang++ on PATH, or the one that "
    "the environment variable CXX names); install one, as by `apt install g++`, "
    "`conda install cxx-compiler` or `xcode-select --install`",
    "cuda": "no CUDA compiler was found (nvcc on PATH or in CUDA_HOME/bin, or the one "
    "that the environment variable CUDACXX names); install NVIDIA's CUDA toolkit",
}


@dataclasses.dataclass(frozen=True)
class Tool:
    """A program that takes part in a build.

    Attributes:
        command: Its absolute path, and arguments that always come first (CXX may be
            "ccache g++").
    """

    command: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The program itself."""
        return Path(self.command[0])

    def identity(self) -> str:
        """What changes when the program is another one, without running it."""
        parts = []
        for word in self.command:
            path = Path(word)
            if path.is_absolute() and path.is_file():
                status = path.resolve().stat()
                parts.append(f"{path.resolve()} {status.st_size} {status.st_mtime_ns}")
            else:
                parts.append(word)
        return "\n".join(parts)


def find_compiler(language: Language) -> Tool | None:
    """The compiler of a language, or None.

    Args:
        language: "c++": what CXX names, else c++, g++ or clang++ on PATH. "cuda": what
            CUDACXX names, else nvcc on PATH, in CUDA_HOME or CUDA_PATH, or in
            /usr/local/cuda.

    Returns:
        The compiler. None if there is none, also if the variable names one that does
        not exist: another one instead would be a surprise.
    """
    variable = {"c++": "CXX", "cuda": "CUDACXX"}[language]
    chosen = shlex.split(os.environ.get(variable, ""))
    if chosen:
        found = shutil.which(chosen[0])
        return Tool((found, *_absolute(chosen[1:]))) if found else None
    if language == "c++":
        names = ["c++", "g++", "clang++"]
    else:
        homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
        names = ["nvcc", *(f"{home}/bin/nvcc" for home in homes if home)]
        names.append("/usr/local/cuda/bin/nvcc")
    for name in names:
        found = shutil.which(name)
        if found:
            return Tool((os.path.abspath(found),))
    return None


def _absolute(words: list[str]) -> list[str]:
    """Arguments in front, of which one may be the compiler behind a ccache."""
    return [shutil.which(word) or word for word in words]


def compiler(language: Language) -> Tool:
    """As `find_compiler`.

    Raises:
        CompilerNotFoundError: There is none; the message says what to install.
    """
    found = find_compiler(language)
    if found is None:
        raise CompilerNotFoundError(missing(language))
    return found


def missing(language: Language) -> str:
    """What to say where there is no compiler of a language."""
    return _MISSING[language]


def find_build_tool(name: Literal["cmake", "ninja"]) -> Tool | None:
    """CMake or Ninja: those of this Python environment, else those on PATH."""
    # The package's own binary: its script in the environment starts Python first.
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin is not None:
        binary = Path(spec.origin).parent / "data" / "bin" / name
        if binary.is_file() and os.access(binary, os.X_OK):
            return Tool((str(binary),))
    scripts = sysconfig.get_path("scripts")
    found = shutil.which(name, path=scripts) or shutil.which(name)
    return Tool((os.path.abspath(found),)) if found else None


def environment_identity(language: Language) -> str:
    """The variables of the environment that a compiler of this language heeds."""
    names = _VARIABLES["c++"] + (_VARIABLES["cuda"] if language == "cuda" else ())
    return "\n".join(f"{name}={os.environ.get(name, '')}" for name in names)


def processor_identity() -> str:
    """What tells processors apart that run different instructions."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        import platform

        return f"{sys.platform} {platform.machine()} {platform.processor()}"
    wanted = ("vendor_id", "model name", "flags", "Features", "CPU part")
    lines = [line for line in text.splitlines() if line.startswith(wanted)]
    return hashlib.sha256("\n".join(sorted(set(lines))).encode()).hexdigest()


def gpu_identity() -> str:
    """What tells GPUs apart for which nvcc makes different code."""
    models = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        with contextlib.suppress(OSError):
            lines = path.read_text(errors="replace").splitlines()
            models += [line for line in lines if line.startswith("Model")]
    return f"{has_nvidia_gpu()} {models}"


def has_nvidia_gpu() -> bool:
    """Whether this machine has a GPU for which nvcc can find the architecture."""
    return os.path.exists("/dev/nvidiactl")
