"""Complex numbers from their parts, and the parts of them."""

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import broadcasting, checks
from ..core.operation import operation
from ..core.typing import Dims


@operation(broadcast_dimensions=checks.integers)
def complex(lhs: ArrayLike, rhs: ArrayLike, broadcast_dimensions: Dims = ()) -> Array:
    """Element-wise complex number of a real and an imaginary part.

    ``lhs`` is the real part, ``rhs`` the imaginary one.

    Args:
      lhs: array of f32 or f64 elements.
      rhs: array of the element type of ``lhs``; a Python scalar takes that type.
      broadcast_dimensions: for operands of different rank, neither of them a scalar:
        entry ``i`` is the dimension of the higher-rank operand that dimension ``i`` of
        the lower-rank one is matched with; strictly increasing.

    Returns:
      A c64 or c128 array of the operands' broadcast shape: sizes are equal or one of
      them is 1, which is stretched.

    Raises:
      TypeError: if the element types differ or are not of that kind, or if the shapes
        do not broadcast.
      ValueError: if ``broadcast_dimensions`` does not fit the ranks.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.complex(jnp.array([1.0, 2.0]), jnp.array([0.0, -1.0]))
      Array([1.+0.j, 2.-1.j], dtype=complex64)

    Source: *Complex* in XLA's Operation semantics; ``stablehlo.complex``.
    """
    x, y = broadcasting.binary("complex", lhs, rhs, broadcast_dimensions, "f")
    if x.dtype not in ("float32", "float64"):
        raise TypeError(
            f"complex: lhs must be an array of f32 or f64 elements, "
            f"got {checks.describe(x)}"
        )
    return lax.complex(x, y)


@operation()
def real(operand: ArrayLike) -> Array:
    """Element-wise real part.

    A real number is its own real part.

    Args:
      operand: floating-point or complex array of any shape.

    Returns:
      An array of the shape of ``operand`` and of the type of its parts.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.real(jnp.array([1 + 2j, 3j]))
      Array([1., 0.], dtype=float32)

    Source: *Real* in XLA's Operation semantics; ``stablehlo.real``.
    """
    x = checks.operand("real", "operand", operand, "fc")
    return lax.real(x) if checks.kind(x.dtype) == "c" else x


@operation()
def imag(operand: ArrayLike) -> Array:
    """Element-wise imaginary part.

    That of a real number is 0.

    Args:
      operand: floating-point or complex array of any shape.

    Returns:
      An array of the shape of ``operand`` and of the type of its parts.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point or complex elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.imag(jnp.array([1 + 2j, 3j]))
      Array([2., 3.], dtype=float32)

    Source: *Imag* in XLA's Operation semantics; ``stablehlo.imag``.
    """
    x = checks.operand("imag", "operand", operand, "fc")
    return lax.imag(x) if checks.kind(x.dtype) == "c" else lax.full_like(x, 0)


@operation()
def conj(operand: ArrayLike) -> Array:
    """Element-wise complex conjugate.

    The conjugate of a real number is complex too, as in XlaBuilder, where it is made of
    the parts.

    Args:
      operand: floating-point (f32 or f64) or complex array of any shape.

    Returns:
      A complex array of the shape of ``operand``.

    Raises:
      TypeError: if ``operand`` is not an array of floating-point (f32 or f64) or
        complex elements.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.conj(jnp.array([1 + 2j, 3j]))
      Array([1.-2.j, 0.-3.j], dtype=complex64)

    Source: ``Conj`` of ``xla_builder.h``; ``stablehlo.complex``.
    """
    x = checks.operand("conj", "operand", operand, "fc")
    if checks.kind(x.dtype) == "f" and x.dtype not in ("float32", "float64"):
        raise TypeError(
            f"conj: operand must be an array of f32, f64 or complex elements, "
            f"got {checks.describe(x)}"
        )
    return lax.conj(x)
