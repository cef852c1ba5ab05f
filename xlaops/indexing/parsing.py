"""Reading the text of maps: XLA's, its document's, and their older and newer forms."""

from __future__ import annotations

import re
from typing import Final

from . import expression as ex
from .expression import Atom, Expression
from .interval import INT64_MAX, Interval
from .variables import KEYWORDS, Variable

MAX_NESTING: Final = 60
"""How deep parentheses may nest."""

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>->|//|\S))"
)
_OPERATORS: Final = {"floordiv": "floordiv", "//": "floordiv", "ceildiv": "ceildiv"}
_OPERATORS.update({"mod": "mod", "%": "mod", "*": "*"})


_LISTING: Final = re.compile("runtime variables:|replica id:")
_TRAILER: Final = re.compile(r"is_simplified\b|" + _LISTING.pattern)

# One more than the largest: the least of all has it behind its sign.
_LARGEST: Final = INT64_MAX + 1


def _factors(expression: Expression) -> list[int]:
    return [expression.constant, *[k for _, k in expression.terms]]


class ParseError(ValueError):
    """A text that is no map.

    Attributes:
      text: the whole text.
      position: where in it reading stopped, counted from 0.
      line: the line of that position, counted from 1.
      column: the column in that line, counted from 1.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.line = text.count("\n", 0, position) + 1
        start = text.rfind("\n", 0, position) + 1
        self.column = position - start + 1
        end = text.find("\n", position)
        shown = text[start : end if end >= 0 else len(text)]
        cut = max(0, position - start - 50)
        mark = " " * (position - start - cut) + "^"
        super().__init__(
            f"IndexingMap: {message} at line {self.line}, column {self.column}\n"
            f"  {shown[cut : cut + 100]}\n  {mark}"
        )


class Parsed:
    """What a text says: names, results and the entries of the domain, in order."""

    def __init__(self) -> None:
        self.groups: list[list[Variable]] = [[], [], []]
        self.results: list[Expression] = []
        self.constraints: list[tuple[Expression, Interval]] = []
        self.special = ""


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0  # where the next token begins to be looked for
        self.kind = ""
        self.token = ""
        self.start = 0  # where the present token is
        self.depth = 0
        self.names: dict[str, tuple[int, Expression]] = {}
        self.advance()

    # Tokens

    def advance(self) -> str:
        """The present token, having moved to the next."""
        token = self.token
        match = _TOKEN.match(self.text, self.position)
        if match is None:  # nothing but spaces is left
            self.kind, self.token, self.start = "end", "", len(self.text)
        else:
            self.kind = match.lastgroup or ""
            self.token = match[self.kind]
            self.start = match.start(self.kind)
            self.position = match.end()
        return token

    def error(self, message: str, position: int | None = None) -> ParseError:
        return ParseError(
            message, self.text, self.start if position is None else position
        )

    def expected(self, what: str) -> ParseError:
        got = "the end of the text" if self.kind == "end" else repr(self.token)
        return self.error(f"{what} must come here, got {got}")

    def accept(self, token: str) -> bool:
        if self.kind != "end" and self.token == token:
            self.advance()
            return True
        return False

    def require(self, token: str) -> None:
        if not self.accept(token):
            raise self.expected(repr(token))

    def integer(self) -> int:
        negative = self.accept("-")
        if self.kind != "number":
            raise self.expected("an integer")
        value = self.number()
        return -value if negative else value

    def number(self) -> int:
        digits = self.token.lstrip("0") or "0"
        if len(digits) > 19 or int(digits) > _LARGEST:
            raise self.error("an integer must fit 64 bits")
        self.advance()
        return int(digits)

    # Expressions

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"parentheses must nest at most {MAX_NESTING} deep")
        terms: dict[Atom, int] = {}
        constant, sign = 0, 1
        while True:
            part = self.product()
            for atom, k in part.terms:
                terms[atom] = terms.get(atom, 0) + sign * k
            constant += sign * part.constant
            if self.token == "+" and self.kind == "sign":
                sign = 1
            elif self.token == "-" and self.kind == "sign":
                sign = -1
            else:
                break
            self.advance()
        self.depth -= 1
        return ex.linear(terms, constant)

    def product(self) -> Expression:
        value = self.factor()
        while self.kind != "end":
            word = _OPERATORS.get(self.token.lower())
            if word is None:
                return value
            position = self.start
            self.advance()
            at = self.start
            right = self.factor()
            try:
                if word == "*":
                    value = ex.multiply(value, right)
                    if any(abs(k) > _LARGEST for k in _factors(value)):
                        raise self.error("factors must fit 64 bits", position)
                    continue
                if right.terms:
                    raise self.error(f"the right side of {word} must be constant", at)
                n = right.constant
                if word == "mod":
                    value = ex.mod(value, n)
                else:
                    divide = ex.floordiv if word == "floordiv" else ex.ceildiv
                    value = divide(value, n)
            except ParseError:
                raise
            except ValueError as error:
                reason = str(error).removeprefix("Expression: ")
                raise self.error(reason, position) from None
        return value

    def factor(self) -> Expression:
        # A minus binds tighter than a product. Signs in a row are one loop, not a call
        # for each, for there may be many.
        sign = 1
        while self.token == "-" and self.kind == "sign":
            sign = -sign
            self.advance()
        value = self.primary()
        return value if sign == 1 else ex.scale(value, -1)

    def primary(self) -> Expression:
        if self.kind == "number":
            value = self.number()
            word = self.token.lower()
            if self.kind == "name" and (word not in KEYWORDS or word in ("min", "max")):
                # A coefficient right before a name, as in 100d0.
                return ex.scale(self.primary(), value)
            return ex.constant(value)
        if self.accept("("):
            inner = self.expression()
            self.require(")")
            return inner
        if self.kind == "name":
            word = self.token.lower()
            if word in ("min", "max") and self.token not in self.names:
                self.advance()
                self.require("(")
                first = self.expression()
                self.require(",")
                second = self.expression()
                self.require(")")
                combine = ex.minimum if word == "min" else ex.maximum
                try:
                    return combine(first, second)
                except ValueError as error:
                    raise self.error(str(error).removeprefix("Expression: ")) from None
            found = self.names.get(self.token)
            if found is not None:
                self.advance()
                return found[1]
            if word not in KEYWORDS:
                raise self.error(f"the variable {self.token!r} must be declared before")
        raise self.expected("an expression")

    # Maps

    def signature(self, parsed: Parsed) -> None:
        for kind, (opening, closing) in enumerate(("()", "[]", "{}")):
            if not self.accept(opening):
                if kind == 0:
                    raise self.expected("'('")
                continue
            index = 0
            while not self.accept(closing):
                if self.kind != "name" or self.token.lower() in KEYWORDS:
                    raise self.expected("the name of a variable")
                name = self.token
                if name in self.names:
                    raise self.error(f"the variable {name!r} must be declared once")
                if not name[0].isalpha():
                    raise self.error("a name must begin with a letter")
                self.names[name] = kind, ex.variable(ex.DIM + kind, index)
                default = name == f"{('d', 's', 'rt')[kind]}{index}"
                parsed.groups[kind].append(
                    Variable(Interval.ANY, "" if default else name)
                )
                index += 1
                self.advance()
                if not self.accept(",") and self.token != closing:
                    raise self.expected(f"',' or {closing!r}")

    def map(self) -> Parsed:
        parsed = Parsed()
        self.signature(parsed)
        self.require("->")
        self.require("(")
        while not self.accept(")"):
            parsed.results.append(self.expression())
            if not self.accept(",") and self.token != ")":
                raise self.expected("',' or ')'")
        self.accept(",")
        bounded: set[str] = set()
        if self.kind == "name" and self.token.lower() == "domain":
            self.advance()
            self.require(":")
            self.domain(parsed, bounded)
        self.trailer()
        for name in self.names:
            if name not in bounded:
                raise self.expected(f"the bounds of {name!r}")
        return parsed

    def domain(self, parsed: Parsed, bounded: set[str]) -> None:
        while self.kind != "end" and not self.at_trailer():
            start, name = self.start, self.token
            expression = self.expression()
            self.require("in")
            interval = self.interval()
            self.accept(",")
            atom = expression.variable
            plain = self.text[start : start + len(name)] == name in self.names
            if atom is not None and plain and name not in bounded:
                kind = atom.kind - ex.DIM
                old = parsed.groups[kind][atom.first]
                parsed.groups[kind][atom.first] = old.within(interval)
                bounded.add(name)
            else:
                parsed.constraints.append((expression, interval))

    def interval(self) -> Interval:
        self.require("[")
        at = self.start
        lower = self.integer()
        self.require(",")
        upper = self.integer()
        if self.accept(")"):
            upper -= 1
        else:
            self.require("]")
        try:
            return Interval(lower, upper)
        except ValueError:
            raise self.error("an integer must fit 64 bits", at) from None

    def at_trailer(self) -> bool:
        if self.kind != "name" or self.token in self.names:
            return False
        return bool(_TRAILER.match(self.text, self.start))

    def trailer(self) -> None:
        if self.kind == "name" and self.token == "is_simplified":
            self.advance()
            self.require(":")
            if self.token.lower() not in ("true", "false"):
                raise self.expected("'true' or 'false'")
            self.advance()
            self.accept(",")
        # The listing of an instruction may go on: that is not the map's own.
        if self.kind != "end" and not _LISTING.match(self.text, self.start):
            raise self.expected("the end of the text")


def parse(text: str) -> Parsed:
    """What the text of a map says.

    Raises:
      TypeError: if it is no string.
      ParseError: if it is no map.
    """
    if not isinstance(text, str):
        raise TypeError(f"IndexingMap: text must be a string, got {type(text)}")
    inner = text.strip()
    # The form of an attribute in a dump of MLIR.
    wrapped = re.fullmatch(r'#?(?:xla\.)?indexing_map\s*<\s*"(.*)"\s*>', inner, re.S)
    if wrapped:
        text = wrapped[1]
        inner = text.strip()
    words = " ".join(inner.split()).lower().rstrip(",;.")
    parsed = Parsed()
    if words == "known empty":
        parsed.special = "empty"
        return parsed
    if words in ("undefined", "unknown indexing"):
        parsed.special = "undefined"
        return parsed
    return _Parser(text).map()


def parse_expression(text: str) -> Expression:
    """The expression that a text stands for, of variables ``d0``, ``s0``, ``rt0``.

    Raises:
      TypeError: if it is no string.
      ParseError: if it is no expression.
    """
    if not isinstance(text, str):
        raise TypeError(f"Expression: text must be a string, got {type(text)}")
    parser = _Parser(text)
    for name in re.findall(r"(?<![A-Za-z_])(?:d|s|rt)[0-9]{1,6}(?![A-Za-z0-9_])", text):
        letters = name.rstrip("0123456789")
        kind = ("d", "s", "rt").index(letters)
        index = int(name[len(letters) :])
        parser.names[name] = kind, ex.variable(ex.DIM + kind, index)
    result = parser.expression()
    if parser.kind != "end":
        raise parser.expected("the end of the text")
    return result
