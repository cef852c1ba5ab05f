"""A progress bar for a terminal, and plain lines where there is none."""

import shutil
import sys
import time
from types import TracebackType
from typing import TextIO

_WIDTH = 28
_INTERVAL = 0.1  # seconds between two redrawings
_LINES = 10  # how many lines tell the progress where there is no terminal


class Progress:
    """Shows how far some work has come; to be used in a ``with`` statement.

    Args:
      stream: where to write; the standard error unless given.

    Example:
      >>> import sys
      >>> with Progress(sys.stdout) as progress:
      ...     for i in range(101):
      ...         progress.update(i, 100, f"item {i}")  # doctest: +ELLIPSIS
        0 %  item 0
       10 %  item 10
      ...
      100 %  item 100
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        encoding = (self._stream.encoding or "").lower().replace("-", "")
        self._full, self._empty = ("━", "─") if encoding == "utf8" else ("#", "-")
        self._drawn = -_INTERVAL
        self._next_line = 0
        self._is_open = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Whatever comes next, an error message as well, starts on a line of its own.
        if self._is_open:
            self._stream.write("\n")
            self._stream.flush()

    def update(self, done: int, total: int, words: str = "") -> None:
        """Tells that so much of the total is done."""
        percent = 100 * done // max(total, 1)
        if not self._is_terminal:
            if percent >= self._next_line:
                self._next_line = percent - percent % _LINES + 100 // _LINES
                self._stream.write(f"{percent:3d} %  {words}\n")
                self._stream.flush()
            return
        now = time.monotonic()
        if now - self._drawn < _INTERVAL and done < total:
            return
        self._drawn = now
        filled = _WIDTH * done // max(total, 1)
        bar = self._full * filled + self._empty * (_WIDTH - filled)
        line = f"{bar} {percent:3d} %  {words}"
        columns = shutil.get_terminal_size().columns - 1
        # The old line is cleared to its end, as the new one may be shorter.
        self._stream.write(f"\r{line[:columns]}\x1b[K")
        self._stream.flush()
        self._is_open = True
