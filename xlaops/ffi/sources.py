"""The C++ text of a library: its files, and the headers that they include."""

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

# Also in a comment or a branch that is not taken: a header too many in the hash does no
# harm. The name of a header may be a macro; such a header is not seen.
_INCLUDE = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE
)
_HANDLER = re.compile(
    r"^[ \t]*(?:XLAOPS_DEFINE(?:_INSTANTIATE|_PREPARE|_INITIALIZE)?_HANDLER"
    r"|XLA_FFI_DEFINE_HANDLER_SYMBOL)\(\s*(\w+)",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Sources:
    """What a library is made of.

    Attributes:
        files: Source files by absolute path, with their content.
        text: Source text that lies in no file, or None.
        headers: The headers of the user that they include, with their content.
    """

    files: dict[Path, bytes]
    text: str | None
    headers: dict[Path, bytes]

    def digest(self) -> str:
        """A hash of all of it, in which the place of a file has no part."""
        total = hashlib.sha256()
        parts = [("file", *part) for part in self.files.items()]
        parts += [("header", *part) for part in sorted(self.headers.items())]
        if self.text is not None:
            parts.append(("text", Path(), self.text.encode()))
        for kind, path, content in parts:
            total.update(f"{kind}\0{path.name}\0{len(content)}\0".encode())
            total.update(content)
        return total.hexdigest()

    def handlers(self) -> list[str]:
        """The names of handlers in the text, as far as macros do not hide them."""
        texts = [content.decode(errors="replace") for content in self.files.values()]
        texts += [self.text] if self.text is not None else []
        return list(dict.fromkeys(name for t in texts for name in _HANDLER.findall(t)))


def read(
    files: Sequence[Path],
    text: str | None,
    include_dirs: Sequence[Path],
    forced: Sequence[str] = (),
) -> Sources:
    """Reads sources, and what they include from their own folders or `include_dirs`.

    Args:
        files: Absolute paths.
        text: Source text that lies in no file, or None.
        include_dirs: Where the compiler is told to look for headers.
        forced: Headers that flags include in front of each file.

    Returns:
        The sources. Headers that are not found, as those of the system, are left out.

    Raises:
        OSError: A file cannot be read.
    """
    contents = {path: path.read_bytes() for path in files}
    headers: dict[Path, bytes] = {}
    waiting: list[tuple[Path | None, bytes]] = [
        (path.parent, content) for path, content in contents.items()
    ]
    if text is not None:
        waiting.append((None, text.encode()))
    waiting += [(None, f'#include "{name}"'.encode()) for name in forced]
    while waiting:
        parent, content = waiting.pop()
        for path in _included(parent, content, include_dirs):
            if path not in headers and path not in contents:
                headers[path] = path.read_bytes()
                waiting.append((path.parent, headers[path]))
    return Sources(contents, text, headers)


def _included(
    parent: Path | None, content: bytes, include_dirs: Sequence[Path]
) -> Iterable[Path]:
    for quoted, angled in _INCLUDE.findall(content):
        name = (quoted or angled).decode(errors="replace")
        places = [*include_dirs]
        if quoted and parent is not None:
            places.insert(0, parent)
        if Path(name).is_absolute():
            places = [Path()]
        for place in places:
            path = place / name
            if path.is_file():
                yield path.resolve()
                break


def digest_of_folder(folder: Path, pattern: str) -> str:
    """A hash of the headers of a folder: their names and contents."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob(pattern)):
        content = path.read_bytes()
        name = path.relative_to(folder).as_posix()
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()
