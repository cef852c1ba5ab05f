"""Integer expressions of a map's variables: linear forms over atoms, held once.

An expression is a sum of atoms with integer coefficients and a constant. An atom is a
variable (a dimension, a range variable or a runtime variable, by its number), or a
floor division, a remainder, a minimum, a maximum or a product of expressions. Equal
expressions are one object while they live, so that ``is`` and ``==`` agree and results
can be remembered by identity.

What is constructed here is normal whatever the variables' bounds are: like terms are
merged, and divisors are positive. See `rewriting` for what follows from the bounds.
"""

from __future__ import annotations

import functools
import operator
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from .expression_text import expression_text
from .kinds import DIM, DIV, MAX, MIN, MOD, MUL, RANGE, RUNTIME

MAX_PRODUCT_TERMS: Final = 1024
"""How many terms the product of two sums may have."""

MAX_DEPTH: Final = 64
"""How deep operations that are not linear may nest in one another."""

MAX_SIZE: Final = 1000
"""How many operands an operation may have inside, each counted where it occurs.

Walks do not remember where they were: a part that occurs twice is walked twice.
"""

KEPT: Final = 8192
"""How many new expressions and atoms are kept alive although nothing refers to them."""

Bounds: TypeAlias = tuple[int, int]


class NestingError(ValueError):
    """Operations nest deeper than `MAX_DEPTH`, or are larger than `MAX_SIZE`."""


class _Reference(weakref.ref):
    """A weak reference that knows under which key it is in the table."""

    __slots__ = ("key",)
    key: Any


_expressions: dict[Any, _Reference] = {}
_atoms: dict[Any, _Reference] = {}
_recent: list[Any] = []

# Held where an entry is taken out or replaced: a thread must not take out what another
# one has just put there. It may be entered again, as taking out frees more.
_lock = threading.RLock()


def _forget_expression(reference: _Reference) -> None:
    with _lock:
        if _expressions.get(reference.key) is reference:
            del _expressions[reference.key]


def _forget_atom(reference: _Reference) -> None:
    with _lock:
        if _atoms.get(reference.key) is reference:
            del _atoms[reference.key]


class Atom:
    """A variable, or an operation that is not linear, inside of an `Expression`.

    ``kind`` is one of the constants of this module. ``first`` is the number of a
    variable or the first operand; ``second`` is the divisor, the modulus or the second
    operand, and 0 for variables.
    """

    __slots__ = ("__weakref__", "_key", "depth", "first", "kind", "second", "size")

    kind: int
    first: Any
    second: Any
    size: int
    depth: int
    _key: tuple[Any, ...] | None

    @property
    def key(self) -> tuple[Any, ...]:
        """What atoms are sorted by."""
        key = self._key
        if key is None:
            second = self.second if self.kind <= DIV else self.second.key
            self._key = key = (self.kind, self.first.key, second)
        return key

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable."""
        return self.kind >= DIM

    def __reduce__(self) -> tuple[Any, ...]:
        return _atom, (self.kind, self.first, self.second)

    def __repr__(self) -> str:
        return str(_make(((self, 1),), 0))


def _atom(kind: int, first: Any, second: Any) -> Atom:
    key = (kind, first, second)
    reference = _atoms.get(key)
    found = None if reference is None else reference()
    if found is not None:
        return found
    atom = Atom()
    atom.kind, atom.first, atom.second = key
    if kind >= DIM:
        atom._key, atom.size, atom.depth = (kind, first), 1, 0
    elif kind <= DIV:
        atom._key = None
        atom.size, atom.depth = 1 + first.size, 1 + first.depth
    else:
        atom._key = None
        atom.size = 1 + first.size + second.size
        atom.depth = 1 + max(first.depth, second.depth)
    if atom.depth > MAX_DEPTH or atom.size > MAX_SIZE:
        raise NestingError(
            f"Expression: operations must nest at most {MAX_DEPTH} deep and hold at "
            f"most {MAX_SIZE} operands, got {atom.depth} and {atom.size}"
        )
    return _held(_atoms, key, atom, _forget_atom)


def _held(
    table: dict[Any, _Reference],
    key: Any,
    value: Any,
    forget: Callable[[_Reference], None],
) -> Any:
    """The object of that key in the table, which is ``value`` if there is none."""
    reference = _Reference(value, forget)
    reference.key = key
    # In one step, so that threads agree on one object.
    while (present := table.setdefault(key, reference)) is not reference:
        found = present()
        if found is not None:
            return found
        with _lock:
            if table.get(key) is present:
                del table[key]
    # Most are needed again soon: the next equation has the same shapes.
    if len(_recent) >= KEPT:
        _recent.clear()
    _recent.append(value)
    return value


Terms: TypeAlias = tuple[tuple[Atom, int], ...]


class Expression:
    """A sum of atoms with integer coefficients, and a constant.

    Made with `dim`, `range_variable`, `runtime_variable`, `constant`, and the operators
    ``+ - * // %`` (floor division and its remainder, by integers that are not 0 and
    positive) and `minimum` and `maximum`.

    Example:
        >>> from xlaops.indexing import dim, range_variable
        >>> (dim(0) * 4 + range_variable(0)) // 8 + dim(0) - dim(0) + 1
        (d0 * 4 + s0) floordiv 8 + 1
    """

    __slots__ = ("__weakref__", "_key", "constant", "depth", "size", "terms")

    terms: Terms
    constant: int
    size: int
    depth: int
    _key: tuple[Any, ...] | None

    # What it is

    @property
    def key(self) -> tuple[Any, ...]:
        """What expressions are sorted by."""
        key = self._key
        if key is None:
            key = (tuple([(atom.key, k) for atom, k in self.terms]), self.constant)
            self._key = key
        return key

    @property
    def is_constant(self) -> bool:
        """Whether it has no variables."""
        return not self.terms

    @property
    def variable(self) -> Atom | None:
        """The variable that it is, or None if it is anything else."""
        if self.constant == 0 and len(self.terms) == 1:
            atom, coefficient = self.terms[0]
            if coefficient == 1 and atom.kind >= DIM:
                return atom
        return None

    @property
    def is_linear(self) -> bool:
        """Whether all atoms are variables."""
        return self.depth == 0

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self.terms, self.constant)

    def __repr__(self) -> str:
        return expression_text(self)

    # Arithmetic

    def __add__(self, other: Expression | int) -> Expression:
        return add(self, as_expression(other))

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return scale(self, -1)

    def __sub__(self, other: Expression | int) -> Expression:
        return add(self, scale(as_expression(other), -1))

    def __rsub__(self, other: int) -> Expression:
        return add(scale(self, -1), as_expression(other))

    def __mul__(self, other: Expression | int) -> Expression:
        return multiply(self, as_expression(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: Expression | int) -> Expression:
        return floordiv(self, _divisor(other))

    def __mod__(self, other: Expression | int) -> Expression:
        return mod(self, _divisor(other))


def _make(terms: Terms, value: int) -> Expression:
    """The expression of terms that are sorted and have no coefficient 0."""
    table_key = (terms, value)
    reference = _expressions.get(table_key)
    found = None if reference is None else reference()
    if found is not None:
        return found
    expression = Expression()
    expression.terms, expression.constant = terms, value
    expression._key = None
    size, depth = (1 if value else 0), 0
    for atom, _ in terms:
        size += atom.size
        if atom.depth > depth:
            depth = atom.depth
    expression.size, expression.depth = size, depth
    return _held(_expressions, table_key, expression, _forget_expression)


def _term_key(term: tuple[Atom, int]) -> tuple[Any, ...]:
    return term[0]._key or term[0].key


def linear(terms: Mapping[Atom, int], value: int) -> Expression:
    """The sum of atoms with the given coefficients, and a constant."""
    kept = [item for item in terms.items() if item[1]]
    if len(kept) > 1:
        kept.sort(key=_term_key)
    return _make(tuple(kept), value)


def as_expression(value: Expression | int) -> Expression:
    """An expression of an expression or an integer."""
    if isinstance(value, Expression):
        return value
    try:
        return _make((), operator.index(value))
    except TypeError:
        raise TypeError(
            f"Expression: an operand must be an expression or an integer, got {value!r}"
        ) from None


def _divisor(value: Expression | int) -> int:
    value = as_expression(value)
    if value.terms:
        raise ValueError(f"Expression: a divisor must be a constant, got {value}")
    return value.constant


# Constructors


@functools.lru_cache(maxsize=1024)
def variable(kind: int, index: int) -> Expression:
    """The variable of that kind and number."""
    return _make(((_atom(kind, index, 0), 1),), 0)


def dim(index: int) -> Expression:
    """The dimension variable of that number: ``d0`` is ``dim(0)``."""
    return variable(DIM, _number(index))


def range_variable(index: int) -> Expression:
    """The range variable of that number: ``s0`` is ``range_variable(0)``."""
    return variable(RANGE, _number(index))


def runtime_variable(index: int) -> Expression:
    """The runtime variable of that number: ``rt0`` is ``runtime_variable(0)``."""
    return variable(RUNTIME, _number(index))


def _number(index: int) -> int:
    index = operator.index(index)
    if index < 0:
        raise ValueError(f"Expression: a variable's number must be >= 0, got {index}")
    return index


def constant(value: int) -> Expression:
    """An integer as an expression."""
    return as_expression(value)


def of_atom(atom: Atom, coefficient: int = 1) -> Expression:
    """An atom times a coefficient."""
    return _make(((atom, coefficient),), 0) if coefficient else _make((), 0)


ZERO: Final = _make((), 0)


def add(x: Expression, y: Expression) -> Expression:
    """The sum of two expressions."""
    if not y.terms:
        return _make(x.terms, x.constant + y.constant) if y.constant else x
    if not x.terms:
        return _make(y.terms, x.constant + y.constant) if x.constant else y
    terms = dict(x.terms)
    for atom, k in y.terms:
        terms[atom] = terms.get(atom, 0) + k
    return linear(terms, x.constant + y.constant)


def scale(x: Expression, factor: int) -> Expression:
    """An expression times an integer."""
    if factor == 1:
        return x
    if factor == 0:
        return ZERO
    return _make(tuple([(a, k * factor) for a, k in x.terms]), x.constant * factor)


def shift(x: Expression, offset: int) -> Expression:
    """An expression plus an integer."""
    return _make(x.terms, x.constant + offset) if offset else x


def floordiv(x: Expression, divisor: int) -> Expression:
    """The quotient rounded down, by an integer that is not 0."""
    if divisor < 0:
        x, divisor = scale(x, -1), -divisor
    if divisor == 0:
        raise ValueError("Expression: a divisor must not be 0")
    if divisor == 1:
        return x
    if not x.terms:
        return _make((), x.constant // divisor)
    return _make(((_atom(DIV, x, divisor), 1),), 0)


def mod(x: Expression, modulus: int) -> Expression:
    """The remainder of the floor division by a positive integer."""
    if modulus <= 0:
        raise ValueError(f"Expression: a modulus must be positive, got {modulus}")
    if modulus == 1:
        return ZERO
    if not x.terms:
        return _make((), x.constant % modulus)
    return _make(((_atom(MOD, x, modulus), 1),), 0)


def ceildiv(x: Expression | int, divisor: int) -> Expression:
    """The quotient rounded up, by an integer that is not 0."""
    return scale(floordiv(scale(as_expression(x), -1), _divisor(divisor)), -1)


def minimum(x: Expression | int, y: Expression | int) -> Expression:
    """The lesser of two expressions."""
    return _extremum(MIN, as_expression(x), as_expression(y))


def maximum(x: Expression | int, y: Expression | int) -> Expression:
    """The greater of two expressions."""
    return _extremum(MAX, as_expression(x), as_expression(y))


def _extremum(kind: int, x: Expression, y: Expression) -> Expression:
    if x.terms == y.terms:
        choose = min if kind == MIN else max
        return _make(x.terms, choose(x.constant, y.constant))
    if y.key < x.key:
        x, y = y, x
    return _make(((_atom(kind, x, y), 1),), 0)


def multiply(x: Expression, y: Expression) -> Expression:
    """The product of two expressions; that of two sums is a sum of products."""
    if not y.terms:
        return scale(x, y.constant)
    if not x.terms:
        return scale(y, x.constant)
    if len(x.terms) * len(y.terms) > MAX_PRODUCT_TERMS:
        raise ValueError(
            f"Expression: a product must have at most {MAX_PRODUCT_TERMS} terms, got "
            f"{len(x.terms)} times {len(y.terms)}"
        )
    terms: dict[Atom, int] = {}
    for a, j in x.terms:
        terms[a] = terms.get(a, 0) + j * y.constant
        for b, k in y.terms:
            product = _product(a, b)
            terms[product] = terms.get(product, 0) + j * k
    for b, k in y.terms:
        terms[b] = terms.get(b, 0) + k * x.constant
    return linear(terms, x.constant * y.constant)


def _factors(atom: Atom) -> list[Atom]:
    if atom.kind != MUL:
        return [atom]
    return _factors(atom.first.terms[0][0]) + _factors(atom.second.terms[0][0])


def _product(a: Atom, b: Atom) -> Atom:
    # One order of the factors, nested to the right: a product is held once.
    factors = sorted(_factors(a) + _factors(b), key=lambda atom: atom.key)
    product = factors.pop()
    while factors:
        product = _atom(MUL, of_atom(factors.pop()), of_atom(product))
    return product


def operation(kind: int, first: Expression, second: Any) -> Expression:
    """The operation of an atom that is no variable, on operands as they are."""
    if kind == DIV:
        return floordiv(first, second)
    if kind == MOD:
        return mod(first, second)
    if kind == MUL:
        return multiply(first, second)
    return _extremum(kind, first, second)


# Walks


def variables(
    expression: Expression, found: dict[Atom, None] | None = None
) -> dict[Atom, None]:
    """The variables of an expression, in the order in which they first occur."""
    found = {} if found is None else found
    for atom, _ in expression.terms:
        if atom.kind >= DIM:
            found[atom] = None
        else:
            variables(atom.first, found)
            if atom.kind > DIV:
                variables(atom.second, found)
    return found


def substitute(
    expression: Expression,
    replace: Callable[[Atom], Expression],
    memo: dict[Expression, Expression],
) -> Expression:
    """The expression with variables replaced, and nothing else changed.

    Args:
      expression: what to replace in.
      replace: the expression that stands for a variable.
      memo: results for this ``replace``, kept from call to call.
    """
    result = memo.get(expression)
    if result is None:
        result = _make((), expression.constant)
        for atom, k in expression.terms:
            if atom.kind >= DIM:
                part = replace(atom)
            else:
                first = substitute(atom.first, replace, memo)
                second = atom.second
                if atom.kind > DIV:
                    second = substitute(second, replace, memo)
                part = operation(atom.kind, first, second)
            result = add(result, scale(part, k))
        memo[expression] = result
    return result
