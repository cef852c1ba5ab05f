"""What the FFI toolkit finds on this machine, and what is missing."""

import dataclasses
import importlib.metadata
import platform
import re
import subprocess

from . import cache, library, registry, toolchain
from .api_version import check_version, runtime_api_version
from .load_errors import LoadError

# What xlaops/ffi/api.h holds the version of handlers down to.
HANDLER_API_VERSION = (0, 3)

_TIMEOUT_SECONDS = 10


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What `doctor` found. As text it is a report for a reader.

    Attributes:
        versions: Versions by the names of packages.
        tools: For "C++ compiler", "CUDA compiler", "CMake" and "Ninja", where it is
            and which version; None if there is none.
        header_api: The version of XLA's FFI API in the headers of jaxlib, which is that
            of its runtime, or None if they cannot be read.
        handler_api: The version that handlers made with ``xlaops/ffi.h`` report; a
            runtime takes it if it is not newer.
        own_library: Why the C++ handlers of xlaops itself cannot be used, or None.
        targets: The handlers that have been registered in this process.
        cache: The folder of built libraries; "none" if there is no place for it.
        cache_entries: How many there are.
        cache_bytes: How much room they take.
        problems: What keeps `load` from working, and what to do.
        hints: What could be better, and how.
    """

    versions: dict[str, str]
    tools: dict[str, str | None]
    header_api: tuple[int, int] | None
    handler_api: tuple[int, int]
    own_library: str | None
    targets: tuple[registry.Target, ...]
    cache: str
    cache_entries: int
    cache_bytes: int
    problems: tuple[str, ...]
    hints: tuple[str, ...]

    def __str__(self) -> str:
        """The report."""
        rows = [("versions", ", ".join(f"{k} {v}" for k, v in self.versions.items()))]
        rows += [(tool, found or "none") for tool, found in self.tools.items()]
        header = _dotted(self.header_api) if self.header_api else "unknown"
        rows += [
            (
                "FFI API",
                f"headers and runtime of jaxlib {header}, "
                f"handlers {_dotted(self.handler_api)}",
            ),
            ("handlers of xlaops", self.own_library or "registered"),
            *(
                ("" if i else "targets", line)
                for i, line in enumerate(
                    [f"{t.name} on {t.platform}" for t in self.targets]
                    or ["none besides those of JAX"]
                )
            ),
            (
                "cache",
                f"{self.cache}, {self.cache_entries} libraries, "
                f"{self.cache_bytes / 1e6:.1f} MB",
            ),
        ]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name.ljust(width)}  {value}".rstrip() for name, value in rows]
        lines.append("")
        lines += [f"problem: {problem}" for problem in self.problems]
        lines += [f"hint: {hint}" for hint in self.hints]
        if not self.problems:
            lines.append("xlaops.ffi.load works here.")
        return "\n".join(lines)

    __repr__ = __str__


def doctor() -> Diagnosis:
    """Looks for everything that `load` needs, and says what is missing.

    Returns:
        What was found. It prints as a report: compilers and build tools, the versions
        of XLA's FFI API, the handlers that have been registered and for which platform,
        the cache, and what to mend. ``xlaops doctor`` prints it in a shell.

    Example:
        >>> import xlaops.ffi
        >>> xlaops.ffi.doctor().handler_api
        (0, 3)
    """
    problems: list[str] = []
    hints: list[str] = []
    tools = _tools(problems, hints)
    header_api = None
    try:
        header_api = runtime_api_version()
        check_version(HANDLER_API_VERSION, header_api)
    except RuntimeError as error:
        problems.append(f"jaxlib: {error}; install jaxlib 0.10.2 or newer")
    entries = size = 0
    place = "none"
    try:
        place = str(cache.root() / "ffi")
        cache.folder()
        entries, size = cache.summary()
    except LoadError as error:
        problems.append(str(error))
    own_library = library.unavailable_reason()
    if own_library is not None:
        hints.append(
            "xlaops computes its own kernels in plain JAX; install it with a C++ "
            "compiler on the machine to have them in C++"
        )
    return Diagnosis(
        versions=_versions(),
        tools=tools,
        header_api=header_api,
        handler_api=HANDLER_API_VERSION,
        own_library=own_library,
        targets=registry.targets(),
        cache=place,
        cache_entries=entries,
        cache_bytes=size,
        problems=tuple(problems),
        hints=tuple(hints),
    )


def _tools(problems: list[str], hints: list[str]) -> dict[str, str | None]:
    compilers: dict[str, toolchain.Tool | None] = {
        "C++ compiler": toolchain.find_compiler("c++"),
        "CUDA compiler": toolchain.find_compiler("cuda"),
    }
    builders: dict[str, toolchain.Tool | None] = {
        "CMake": toolchain.find_build_tool("cmake"),
        "Ninja": toolchain.find_build_tool("ninja"),
    }
    if compilers["C++ compiler"] is None:
        problems.append(toolchain.missing("c++"))
    if compilers["CUDA compiler"] is None and toolchain.has_nvidia_gpu():
        hints.append(f"for language='cuda': {toolchain.missing('cuda')}")
    if None in builders.values():
        hints.append(
            "`pip install 'xlaops[ffi]'` brings CMake and Ninja; without them the "
            "compiler is called directly, and load takes no lines of CMake"
        )
    return {
        name: None if tool is None else _described(tool)
        for name, tool in {**compilers, **builders}.items()
    }


def _described(tool: toolchain.Tool) -> str:
    """Where a program is, and the version that it states."""
    command = " ".join(tool.command)
    try:
        done = subprocess.run(
            [*tool.command, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command}, which does not run: {error}"
    found = re.search(r"\d+\.\d+(\.\d+)*", _last_release_line(done.stdout))
    return f"{command} ({found[0]})" if found else command


def _last_release_line(text: str) -> str:
    """The line with the version; nvcc has it in the fourth, behind a year."""
    lines = text.splitlines()
    return next(
        (line for line in lines if "release" in line), lines[0] if lines else ""
    )


def _versions() -> dict[str, str]:
    versions = {"Python": platform.python_version()}
    for package in ("xlaops", "jax", "jaxlib"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "from its sources"
    return versions


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
