"""Operations of which every result depends on whole lines or matrices of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..expression import Expression
from ..map import IndexingMap
from .building import Limit, Shape, d, related, s, whole
from .equation import Equation, Maps, rule

WHOLE_MATRIX: Final = "a factorisation is taken to read the whole matrix"
WHOLE_SYSTEM: Final = "a solution is taken to depend on the whole system"


@rule("fft")
def _fft(eq: Equation, output: int) -> Sequence[Maps]:
    operand = eq.operands[0].shape
    batch = len(operand) - len(eq.params["fft_lengths"])
    return [(whole(eq.shapes[0], operand, batch),)]


@rule(
    *("eig", "eigh", "lu", "qr", "geqrf", "geqp3", "householder_product", "svd"),
    *("schur", "hessenberg", "tridiagonal", "ormqr", "symmetric_product"),
    "cholesky_update",
)
def _factorisation(eq: Equation, output: int) -> Sequence[Maps]:
    batch = len(eq.operands[0].shape) - 2
    shape, reasons = eq.shapes[output], (WHOLE_MATRIX,)
    return [(whole(shape, x.shape, batch, reasons),) for x in eq.operands]


@rule("lu_pivots_to_permutation")
def _permutation(eq: Equation, output: int) -> Sequence[Maps]:
    operand = eq.operands[0].shape
    return [(whole(eq.shapes[0], operand, len(operand) - 1, (WHOLE_MATRIX,)),)]


@rule("custom_linear_solve")
def _linear_solve(eq: Equation, output: int) -> Sequence[Maps]:
    # Which part of the operands makes up the matrix is known to functions alone.
    shape = eq.shapes[output]
    return [(whole(shape, x.shape, 0, (WHOLE_SYSTEM,)),) for x in eq.operands]


@rule("tridiagonal_solve")
def _tridiagonal_solve(eq: Equation, output: int) -> Sequence[Maps]:
    shape, rhs = eq.shapes[0], eq.operands[3].shape
    batch = len(rhs) - 2
    column = [*[d(i) for i in range(batch)], s(0), d(batch + 1)]
    maps: list[Maps] = [
        (whole(shape, x.shape, batch, (WHOLE_SYSTEM,)),) for x in eq.operands[:3]
    ]
    of_column = related(shape, column, ranges=[rhs[batch]], reasons=(WHOLE_SYSTEM,))
    return [*maps, (of_column,)]


@rule("cholesky")
def _cholesky(eq: Equation, output: int) -> Sequence[Maps]:
    shape = eq.shapes[0]
    batch = len(shape) - 2
    lead = [d(i) for i in range(batch)]
    row, column = d(batch), d(batch + 1)
    n = shape[-1]
    # The factor's element (i, j) is made of the rows up to j, and of row i up to j.
    lower: Limit = (row - column, (0, n - 1))
    before: list[Limit] = [
        lower,
        (column - s(0), (0, n - 1)),
        (s(0) - s(1), (0, n - 1)),
    ]
    rows = related(shape, [*lead, s(0), s(1)], ranges=[n, n], limits=before)
    own: list[Limit] = [lower, (column - s(0), (0, n - 1))]
    line = related(shape, [*lead, row, s(0)], ranges=[n], limits=own)
    return [(rows, line)]


@rule("triangular_solve")
def _triangular_solve(eq: Equation, output: int) -> Sequence[Maps]:
    shape, params = eq.shapes[0], eq.params
    matrix, batch = eq.operands[0].shape, len(shape) - 2
    lead = [d(i) for i in range(batch)]
    n = matrix[-1]
    left = params["left_side"]
    solved, other = (d(batch), d(batch + 1)) if left else (d(batch + 1), d(batch))
    # Whether an unknown depends on those before it, or on those behind it.
    forward = params["lower"] != bool(params["transpose_a"])
    if not left:
        forward = not forward
    first, second = (solved, s(0)) if forward else (s(0), solved)
    limits: list[Limit] = [(first - second, (0, n - 1))]
    index = [s(0), other] if left else [other, s(0)]
    to_rhs = related(shape, [*lead, *index], ranges=[n], limits=limits)
    return [(_triangle(shape, matrix, lead, solved, eq),), (to_rhs,)]


def _triangle(
    shape: Shape,
    matrix: Shape,
    lead: Sequence[Expression],
    solved: Expression,
    eq: Equation,
) -> IndexingMap:
    """The elements of a triangle that one unknown depends on."""
    params, n = eq.params, matrix[-1]
    lower = params["lower"]
    row, column = s(0), s(1)
    order = row - column if lower else column - row
    limits: list[Limit] = [(order, (int(params["unit_diagonal"]), n - 1))]
    forward = lower != bool(params["transpose_a"])
    if not params["left_side"]:
        forward = not forward
    for part in (row, column):
        limits.append((solved - part if forward else part - solved, (0, n - 1)))
    return related(shape, [*lead, row, column], ranges=[n, n], limits=limits)
