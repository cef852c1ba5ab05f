"""Factorisation and solution of linear systems."""

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..types import Transpose

_FACTORED = ("float32", "float64", "complex64", "complex128")


@operation(lower=checks.boolean)
def cholesky(a: ArrayLike, lower: bool) -> Array:
    """Cholesky factor of Hermitian positive-definite matrices.

    Only one triangle of ``a`` is read, in the value and in the derivatives: the other
    one is taken to be its conjugate transpose. Where a matrix is not positive-definite
    the result holds NaN.

    Args:
      a: floating-point or complex array of shape ``[..., n, n]``.
      lower: whether the lower triangle is read and ``a = l @ l.conj().T`` is factored,
        or the upper one and ``a = u.conj().T @ u``.

    Returns:
      An array of the shape and element type of ``a`` with ``l`` or ``u``. The document
      leaves the other triangle to the implementation: here it is zero.

    Raises:
      TypeError: if ``a`` is no array of square matrices of such elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.cholesky(jnp.array([[4.0, 99.0], [2.0, 5.0]]), lower=True)
      Array([[2., 0.],
             [1., 2.]], dtype=float32)

    Source: *Cholesky* in XLA's Operation semantics; ``stablehlo.cholesky``.
    """
    x = _matrices("cholesky", a)
    return _lower_factor(x) if lower else _adjoint(_lower_factor(_adjoint(x)))


@jax.custom_jvp
def _lower_factor(x: Array) -> Array:
    return lax.linalg.cholesky(x, symmetrize_input=False)


@_lower_factor.defjvp
def _lower_factor_jvp(primals, tangents):
    # jax.lax's rule reads both triangles: give it what the lower one stands for.
    (x,), (dx,) = primals, tangents
    return jax.jvp(_lower_factor.fun, (_hermitian(x),), (_hermitian(dx),))


def _hermitian(x: Array) -> Array:
    below, diagonal = jnp.tril(x, -1), jnp.triu(jnp.tril(x))
    if checks.kind(x.dtype) == "c":
        # The imaginary part of it is not read either.
        diagonal = lax.convert_element_type(lax.real(diagonal), x.dtype)
    return below + diagonal + _adjoint(below)


def _adjoint(x: Array) -> Array:
    y = jnp.swapaxes(x, -1, -2)
    return lax.conj(y) if checks.kind(y.dtype) == "c" else y


@operation(
    left_side=checks.boolean,
    lower=checks.boolean,
    unit_diagonal=checks.boolean,
    transpose_a=checks.coerced(Transpose.coerce),
)
def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose_a: Transpose | str,
) -> Array:
    """Solution ``x`` of ``op(a) @ x = b`` or ``x @ op(a) = b`` for triangular ``a``.

    Args:
      a: floating-point or complex array of shape ``[..., n, n]``. The other triangle is
        not read.
      b: array of the element type of ``a`` and of shape ``[..., n, k]``, or
        ``[..., k, n]`` if ``left_side`` is false; leading dimensions equal those of
        ``a``.
      left_side: whether ``a`` stands on the left of ``x``.
      lower: whether ``a`` is lower triangular.
      unit_diagonal: whether the diagonal is taken to be ones and not read.
      transpose_a: ``"NO_TRANSPOSE"``, ``"TRANSPOSE"`` or ``"ADJOINT"``: what ``op`` is.

    Returns:
      An array of the shape of ``b``.

    Raises:
      TypeError: if shapes or element types do not fit.
      ValueError: if ``transpose_a`` is unknown.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> a = jnp.array([[2.0, 99.0], [1.0, 4.0]])
      >>> b = jnp.array([[2.0], [9.0]])
      >>> xo.triangular_solve(a, b, True, True, False, "NO_TRANSPOSE")
      Array([[1.],
             [2.]], dtype=float32)

    Source: *TriangularSolve* in XLA's Operation semantics;
    ``stablehlo.triangular_solve``.
    """
    x, y = checks.same_element_type("triangular_solve", a=a, b=b)
    x = _matrices("triangular_solve", x)
    side = -2 if left_side else -1
    if y.ndim != x.ndim or y.shape[:-2] != x.shape[:-2] or y.shape[side] != x.shape[-1]:
        raise TypeError(
            f"triangular_solve: b must have the leading dimensions of a {x.shape} and "
            f"{x.shape[-1]} {'rows' if left_side else 'columns'}, got {y.shape}"
        )
    transpose = Transpose.coerce(transpose_a)
    return lax.linalg.triangular_solve(
        x,
        y,
        left_side=left_side,
        lower=lower,
        transpose_a=transpose is not Transpose.NO_TRANSPOSE,
        conjugate_a=transpose is Transpose.ADJOINT,
        unit_diagonal=unit_diagonal,
    )


def _matrices(operation: str, a: ArrayLike) -> Array:
    x = checks.array(operation, "a", a)
    if x.dtype.name not in _FACTORED:
        raise TypeError(
            f"{operation}: a must be an array of f32, f64, c64 or c128 elements, "
            f"got {checks.describe(x)}"
        )
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise TypeError(
            f"{operation}: a must hold square matrices, [..., n, n], got {x.shape}"
        )
    return x
