"""The example of XLA's *Custom calls* document, grown up: A[i] = B[i mod m] + C[i]."""

from typing import Any

import jax
from jax import Array, lax
from jax.sharding import AxisType
from jax.typing import ArrayLike

from ...core import checks, compat
from ...core.compat import ad, batching, mlir
from ...core.operation import operation
from .. import library

_TARGET = "xlaops_periodic_add"
# Element types of the C++ handler. The others take the JAX path on the CPU as well.
_NATIVE_DTYPES = frozenset(
    ["float32", "float64", "complex64", "complex128"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


@operation()
def periodic_add(b: ArrayLike, c: ArrayLike) -> Array:
    """Computes ``b[..., i % m] + c[..., i]``, where m is the length of b's last axis.

    On the CPU this runs a C++ handler through XLA's FFI, elsewhere plain JAX. It is
    plain JAX on the CPU as well where there is no compiled library (see
    `xlaops.ffi.available`), in a program that XLA partitions over several devices (a
    custom call would gather its operands onto each), and in one that `jax.export`
    writes. All transformations of JAX apply.

    Args:
        b: The ring, an array ``[..., m]`` of integers, floating-point or complex
            numbers, with m >= 1 unless n is 0. The document has m = 128.
        c: An array ``[..., n]`` of b's element type, with b's leading dimensions.

    Returns:
        The array of c's shape and element type. Integers wrap around.

    Raises:
        TypeError: b or c is a scalar or not numeric, or they differ in element type or
            leading dimensions.
        ValueError: b has nothing to repeat (m is 0, and n is not).

    Example:
        >>> import jax.numpy as jnp, xlaops.ffi
        >>> b, c = jnp.array([10, 20, 30]), jnp.arange(7)
        >>> xlaops.ffi.periodic_add(b, c)
        Array([10, 21, 32, 13, 24, 35, 16], dtype=int32)

    Source: *XLA custom calls*, "Create a custom call on CPU", where it is
    ``do_custom_call``.
    """
    b, c = checks.same_element_type("periodic_add", b=b, c=c)
    b = checks.operand("periodic_add", "b", b, "iufc")
    for parameter, value in (("b", b), ("c", c)):
        if value.ndim == 0:
            raise TypeError(
                f"periodic_add: {parameter} must have at least one dimension, "
                f"got {checks.describe(value)}"
            )
    if b.shape[:-1] != c.shape[:-1]:
        raise TypeError(
            f"periodic_add: b and c must have the same leading dimensions, "
            f"got shapes {b.shape} and {c.shape}"
        )
    if b.shape[-1] == 0 and c.shape[-1] != 0:
        raise ValueError(
            f"periodic_add: b must not be empty along its last axis, "
            f"got shapes {b.shape} and {c.shape}"
        )
    if _has_explicit_sharding(b) or _has_explicit_sharding(c):
        # The type of the result then says how it is sharded; jax.lax has those rules.
        return _reference(b, c)
    varying = compat.varying_axes(b) | compat.varying_axes(c)
    return _primitive.bind(_vary_over(varying, b), _vary_over(varying, c))


def _has_explicit_sharding(x: Array) -> bool:
    return AxisType.Explicit in jax.typeof(x).sharding.mesh.axis_types


def _vary_over(axes: frozenset[str], x: Array) -> Array:
    """``x`` as a value that varies over the manual mesh axes ``axes``, as one type."""
    missing = tuple(sorted(axes - compat.varying_axes(x)))
    return lax.pcast(x, missing, to="varying") if missing else x


def _reference(b: Array, c: Array) -> Array:
    return _repeat(b, c.shape[-1]) + c


def _repeat(b: Array, n: Any) -> Array:
    """``b[..., i % m]`` for i < n."""
    m = b.shape[-1]
    if not (isinstance(m, int) and isinstance(n, int)):
        # jax.export may leave sizes open, and reshape must know that they divide.
        return b[..., lax.rem(lax.iota("int32", n), lax.full((n,), m, "int32"))]
    # Whole laps, then a cut: XLA fuses this with the addition, where the concatenation
    # of a last, shorter lap takes up to thirty times as long.
    axis = b.ndim - 1
    laps = -(-n // max(m, 1))
    rings = lax.broadcast_in_dim(b, (*b.shape[:-1], laps, m), (*range(axis), axis + 1))
    return lax.slice_in_dim(rings.reshape(*b.shape[:-1], laps * m), 0, n, axis=axis)


_primitive = compat.new_primitive("periodic_add")


def _result_type(b: compat.ShapedArray, c: compat.ShapedArray) -> compat.ShapedArray:
    return compat.result_type_like(c, c.shape, c.dtype)


def _jvp(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Any]:
    """The function is linear: its tangent is itself, in jax.lax, which transposes."""
    out = _primitive.bind(*primals)
    b_dot, c_dot = tangents
    if isinstance(b_dot, ad.Zero):
        return out, c_dot
    repeated = _repeat(b_dot, out.shape[-1])
    return out, repeated if isinstance(c_dot, ad.Zero) else repeated + c_dot


def _batch(
    operands: tuple[Array, Array], dims: tuple[int | None, int | None]
) -> tuple[Array, int]:
    """The batch becomes the leading dimension of both operands."""
    size = next(
        x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None
    )
    b, c = (
        lax.broadcast(x, (size,))
        if d is None
        else lax.transpose(x, (d, *(i for i in range(x.ndim) if i != d)))
        for x, d in zip(operands, dims, strict=True)
    )
    return _primitive.bind(b, c), 0


_lower_reference = mlir.lower_fun(_reference, multiple_results=False)


def _lower_on_cpu(ctx: mlir.LoweringRuleContext, b: Any, c: Any) -> Any:
    type_of_b: Any = ctx.avals_in[0]
    if (
        type_of_b.dtype.name in _NATIVE_DTYPES
        and compat.runs_as_lowered(ctx)
        and library.available()
    ):
        return jax.ffi.ffi_lowering(_TARGET)(ctx, b, c)
    return _lower_reference(ctx, b, c)


_primitive.def_abstract_eval(_result_type)
ad.primitive_jvps[_primitive] = _jvp
batching.primitive_batchers[_primitive] = _batch
mlir.register_lowering(_primitive, _lower_reference)
mlir.register_lowering(_primitive, _lower_on_cpu, platform="cpu")
