"""A cursor over text that reports the position of every error."""

from __future__ import annotations

import re
from typing import Final, NoReturn

_EXCERPT_CHARACTERS: Final = 24
_INTEGER: Final = re.compile(r"-?[0-9]+")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")

INT64_MAX: Final = 2**63 - 1
"""The largest number that XLA keeps in a dimension."""


class Scanner:
    """Reads text from left to right, skipping white space and ``/* */`` comments.

    Attributes:
        owner: what is parsed, named in the messages.
        text: the text.
        position: the index of the next character.
    """

    __slots__ = ("owner", "position", "text")

    def __init__(self, owner: str, text: str, position: int = 0) -> None:
        if not isinstance(text, str):
            raise TypeError(f"{owner}: text must be a string, got {text!r}")
        self.owner = owner
        self.text = text
        self.position = position

    def skip(self) -> None:
        """Moves over white space and comments."""
        text, position = self.text, self.position
        while position < len(text):
            if text[position].isspace():
                position += 1
            elif text.startswith("/*", position):
                end = text.find("*/", position + 2)
                if end < 0:
                    self.position = position
                    self.fail("a closed comment")
                position = end + 2
            else:
                break
        self.position = position

    def at(self, token: str) -> bool:
        """Whether the token comes next."""
        self.skip()
        return self.text.startswith(token, self.position)

    def accept(self, token: str) -> bool:
        """Moves over the token if it comes next, and says whether it did."""
        if not self.at(token):
            return False
        self.position += len(token)
        return True

    def expect(self, token: str) -> None:
        """Moves over the token, which must come next."""
        if not self.accept(token):
            self.fail(repr(token))

    def word(self, what: str) -> str:
        """A run of letters and digits that starts with a letter."""
        self.skip()
        match = _WORD.match(self.text, self.position)
        if match is None:
            self.fail(what)
        self.position = match.end()
        return match.group()

    def peek_word(self) -> str:
        """The word that comes next, or an empty string."""
        self.skip()
        match = _WORD.match(self.text, self.position)
        return match.group() if match else ""

    def integer(self, what: str) -> int:
        """A non-negative integer that fits into 64 bits with a sign."""
        self.skip()
        match = _INTEGER.match(self.text, self.position)
        # The length is looked at first: int() of a long text is slow, then an error.
        if match is None or match.group()[0] == "-":
            self.fail(what)
        digits = match.group().lstrip("0") or "0"
        if len(digits) > 19 or int(digits) > INT64_MAX:
            self.fail(f"{what} below 2**63")
        self.position = match.end()
        return int(digits)

    def integers(self, what: str, end: str) -> list[int]:
        """Integers separated by commas, up to but without the token ``end``."""
        numbers: list[int] = []
        if self.at(end):
            return numbers
        while True:
            numbers.append(self.integer(what))
            if not self.accept(","):
                return numbers

    def finish(self) -> None:
        """Checks that nothing but white space and comments is left."""
        self.skip()
        if self.position < len(self.text):
            self.fail("end of text")

    def fail(self, expected: str) -> NoReturn:
        """Raises a ValueError that says what was expected, where, and what came."""
        position = self.position
        rest = self.text[position : position + _EXCERPT_CHARACTERS]
        came = repr(rest) if rest else "end of text"
        raise ValueError(
            f"{self.owner}: expected {expected} at position {position}, got {came}"
        )

    def reject(self, position: int, error: Exception) -> NoReturn:
        """Raises a ValueError that adds a position to an error about the content."""
        message = f"{self.owner}: at position {position}: {error}"
        raise ValueError(message) from error
