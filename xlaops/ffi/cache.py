"""A folder of built libraries that only its user can write to.

What lies in it is executed, so it is looked at before it is used: owner, access, no
symbolic links, and that each library is still the one that was built.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .load_errors import CacheError

VARIABLE = "XLAOPS_CACHE_DIR"
_MANIFEST = "manifest.json"
_UNFINISHED = ".build-"
# What a build that was killed has left is removed by a later one, not sooner: a slow
# build may be at work in it.
_LEFT_OVER_SECONDS = 24 * 3600


@dataclasses.dataclass(frozen=True)
class Entry:
    """A library in the cache.

    Attributes:
        library: Its file.
        manifest: What was noted when it was built.
    """

    library: Path
    manifest: dict[str, Any]


def root() -> Path:
    """The folder of all caches of xlaops, which may not exist yet.

    Raises:
        CacheError: The user has no home folder, and no variable names another place.
    """
    chosen = os.environ.get(VARIABLE)
    try:
        if chosen:
            return Path(chosen).expanduser().absolute()
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "xlaops"
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError as error:
        raise CacheError(
            f"there is no place for the cache: {error}; set {VARIABLE} to a folder "
            f"that can be written to"
        ) from error
    return Path(base).absolute() / "xlaops"


def folder() -> Path:
    """The folder of built libraries, made if need be.

    Raises:
        CacheError: It cannot be made, or others than its user can write to it.
    """
    path = root() / "ffi"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable("be made", path, error) from error
    _check_owned(path, os.lstat(path), stat.S_ISDIR)
    return path


def find(name: str) -> Entry | None:
    """An entry by its name, or None if there is none.

    Raises:
        CacheError: There is one that is not as it was built.
    """
    path = folder() / name
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    _check_owned(path, status, stat.S_ISDIR)
    try:
        manifest = json.loads(_read_checked(path / _MANIFEST))
        expected = manifest["sha256"]
        library = path / manifest["library"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise changed(path, f"{_MANIFEST} cannot be read ({error})") from error
    if library.parent != path:
        raise changed(path, f"{_MANIFEST} points out of it")
    try:
        content = _read_checked(library)
    except OSError as error:
        raise changed(path, str(error)) from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise changed(path, f"{library.name} is not the file that was built")
    return Entry(library, manifest)


@contextlib.contextmanager
def unfinished() -> Iterator[Path]:
    """A new folder beside the entries, which is gone in the end."""
    _remove_left_over()
    try:
        path = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder()))
    except OSError as error:
        raise _unusable("be written to", folder(), error) from error
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def add(name: str, built: Path, manifest: dict[str, Any]) -> Entry:
    """Makes a built library an entry, in one step that others see whole or not at all.

    Args:
        name: The name of the entry.
        built: The library, in a folder of `unfinished`.
        manifest: What to note about it.

    Returns:
        The entry: this one, or that of a process that was faster.
    """
    content = built.read_bytes()
    manifest = {
        **manifest,
        "library": built.name,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    entry = built.parent / "entry"
    entry.mkdir(mode=0o700)
    _write(entry / built.name, content, 0o700)
    _write(entry / _MANIFEST, json.dumps(manifest, indent=1).encode(), 0o600)
    try:
        # Onto a folder that is not empty, this fails.
        os.rename(entry, folder() / name)
    except OSError as error:
        found = find(name)
        if found is None:
            raise CacheError(f"{folder() / name} cannot be made: {error}") from error
        return found
    return Entry(folder() / name / built.name, manifest)


@contextlib.contextmanager
def locked(name: str, on_wait: Any = None) -> Iterator[None]:
    """Lets one thread of one process at a time work on an entry.

    Without locks, as on some network file systems, work may be done twice; the entry is
    right all the same.

    Args:
        name: The name of the entry.
        on_wait: Called without arguments if another one is at work.
    """
    try:
        import fcntl
    except ImportError:  # not a Unix
        yield
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        file = os.open(folder() / f"{name}.lock", flags, 0o600)
    except OSError as error:
        raise _unusable("be written to", folder(), error) from error
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_wait is not None:
                on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass
        yield
    finally:
        # Not by closing alone: a process that was forked meanwhile has the file too.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)


def summary() -> tuple[int, int]:
    """How many entries the cache has, and how many bytes they take."""
    path = root() / "ffi"
    entries = [p for p in path.glob("*") if (p / _MANIFEST).is_file()]
    size = sum(
        file.lstat().st_size
        for entry in entries
        for file in entry.iterdir()
        if file.is_file()
    )
    return len(entries), size


def _unusable(what: str, path: Path, error: OSError) -> CacheError:
    return CacheError(
        f"the cache {path} cannot {what}: {error}; set {VARIABLE} to a folder that can "
        f"be written to"
    )


def changed(path: Path, what: str) -> CacheError:
    """The error for an entry that is not as it was built."""
    return CacheError(
        f"the cache entry {path} has been changed: {what}; delete the folder to have "
        f"the library built again"
    )


def _check_owned(path: Path, status: os.stat_result, is_kind: Any) -> None:
    """Refuses what is a link or what others than the user could have put there."""
    if stat.S_ISLNK(status.st_mode) or not is_kind(status.st_mode):
        raise CacheError(
            f"{path} must be a plain file or folder, as it holds code that is "
            f"executed, got {stat.filemode(status.st_mode)}"
        )
    if sys.platform == "win32":
        return  # no owners and modes of this kind
    if status.st_uid != os.geteuid():
        raise CacheError(
            f"{path} must belong to the user of this process ({os.geteuid()}), as it "
            f"holds code that is executed, got owner {status.st_uid}; set {VARIABLE} "
            f"to another folder"
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheError(
            f"{path} must not be writable by other users, as it holds code that is "
            f"executed, got {stat.filemode(status.st_mode)}; `chmod go-w` mends it"
        )


def _read_checked(path: Path) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        if path.is_symlink():
            raise CacheError(f"{path} must be a plain file, got a link") from error
        raise
    with os.fdopen(file, "rb") as opened:
        _check_owned(path, os.fstat(opened.fileno()), stat.S_ISREG)
        return opened.read()


def _write(path: Path, content: bytes, mode: int) -> None:
    """Writes a new file to the disk itself: what a crash cuts short is no entry."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(file, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _remove_left_over() -> None:
    for path in folder().glob(_UNFINISHED + "*"):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _LEFT_OVER_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
