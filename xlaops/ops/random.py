"""Random numbers from XLA's own generator, whose state is hidden.

Every execution draws new numbers, and nothing makes them repeatable: for that there is
`jax.random`. The state belongs to the device, so that inside `jax.shard_map` each
device draws its own.
"""

from typing import Any

import jax
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, primitive
from ..core.compat import (
    ad,
    batching,
    drawn_where_written,
    ir,
    mlir,
    new_primitive,
    result_type_like,
    stablehlo,
)
from ..core.operation import operation
from ..core.typing import ShapeLike
from ..types import Shape

# Other types end the process inside XLA (a failed check in its expander of rng).
_NATIVE = ("float16", "bfloat16", "float32", "float64")
_NATIVE_INTEGERS = ("int32", "uint32", "int64", "uint64")


def rng_uniform(a: ArrayLike, b: ArrayLike, shape: ShapeLike) -> Array:
    """Random numbers, uniformly distributed over the interval ``[a, b)``.

    Derivatives with respect to ``a`` and ``b`` are those of ``a + (b - a) * u`` for the
    numbers ``u`` that were drawn from ``[0, 1)``. With 32 bits and more, rounding can
    make a number equal ``b`` if ``b - a`` is small against ``a``.

    Args:
      a: scalar of an integer or floating-point element type (not float8).
      b: scalar of the element type of ``a``, above ``a``: otherwise the result is
        undefined.
      shape: shape of the result as `xlaops.Shape`, `jax.ShapeDtypeStruct` or text such
        as ``"f32[4,8]"``, with the element type of ``a``.

    Returns:
      An array of that shape, with other numbers in every execution.

    Raises:
      TypeError: if element types differ or have no such distribution, or ``a`` or ``b``
        is no scalar.

    Example:
      >>> import xlaops as xo
      >>> x = xo.rng_uniform(2.0, 3.0, "f32[100]")
      >>> bool(x.min() >= 2.0 and x.max() < 3.0)
      True

    Source: *RngUniform* in XLA's Operation semantics; ``stablehlo.rng``.
    """
    wanted = checks.array_shape("rng_uniform", "shape", shape)
    low, high = _typed("rng_uniform", wanted, a=a, b=b)
    return _uniform(low, high, wanted)


@operation("rng_uniform", shape=checks.array_shape)
def _uniform(a: ArrayLike, b: ArrayLike, shape: ShapeLike) -> Array:
    low, high, wanted = _parameters("rng_uniform", shape, "iuf", a=a, b=b)
    dtype, sizes = wanted.dtype, wanted.dimensions
    if dtype.name in _NATIVE_INTEGERS:
        return _draw("UNIFORM", low, high, sizes)
    if checks.kind(dtype) in "iu":
        # Narrow integers: XLA has none, and any interval of theirs fits 32 bits.
        low = lax.convert_element_type(low, "int32")
        high = lax.convert_element_type(high, "int32")
        return lax.convert_element_type(_draw("UNIFORM", low, high, sizes), dtype)
    result = _draw("UNIFORM", low, high, sizes)
    if dtype.itemsize > 2:
        return result
    # With few bits XLA's rounding reaches b in one of some hundred draws.
    return lax.select(lax.lt(result, high), result, lax.broadcast(low, sizes))


def rng_normal(mu: ArrayLike, sigma: ArrayLike, shape: ShapeLike) -> Array:
    """Random numbers, normally distributed with mean ``mu`` and deviation ``sigma``.

    Derivatives with respect to ``mu`` and ``sigma`` are those of ``mu + sigma * z`` for
    the numbers ``z`` that were drawn from the standard normal distribution.

    Args:
      mu: scalar of a floating-point element type (not float8).
      sigma: scalar of the element type of ``mu``, not negative.
      shape: shape of the result as `xlaops.Shape`, `jax.ShapeDtypeStruct` or text such
        as ``"f32[4,8]"``, with the element type of ``mu``.

    Returns:
      An array of that shape, with other numbers in every execution.

    Raises:
      TypeError: if element types differ or are not floating-point, or ``mu`` or
        ``sigma`` is no scalar.

    Example:
      >>> import xlaops as xo
      >>> x = xo.rng_normal(10.0, 0.1, "f32[1000]")
      >>> bool(abs(x.mean() - 10.0) < 0.1)
      True

    Source: *RngNormal* in XLA's Operation semantics; ``stablehlo.rng``.
    """
    wanted = checks.array_shape("rng_normal", "shape", shape)
    mean, deviation = _typed("rng_normal", wanted, mu=mu, sigma=sigma)
    return _normal(mean, deviation, wanted)


@operation("rng_normal", shape=checks.array_shape)
def _normal(mu: ArrayLike, sigma: ArrayLike, shape: ShapeLike) -> Array:
    mean, deviation, wanted = _parameters("rng_normal", shape, "f", mu=mu, sigma=sigma)
    return _draw("NORMAL", mean, deviation, wanted.dimensions)


def _typed(
    operation: str, wanted: Shape, **scalars: ArrayLike
) -> tuple[ArrayLike, ...]:
    """Python scalars with the element type of the shape, and other values as they are.

    Here and not while tracing, when a Python scalar has a type of its own.
    """
    example = np.zeros((), wanted.dtype)
    return tuple(
        checks.typed_scalar(operation, name, value, checks.element_type_of(example))
        if isinstance(value, (bool, int, float, complex))
        and not isinstance(value, np.generic)
        and checks.takes_scalar(example, value)
        else value
        for name, value in scalars.items()
    )


def _parameters(
    operation: str, shape: ShapeLike, allowed: str, **scalars: ArrayLike
) -> tuple[Array, Array, Shape]:
    """The scalars with the element type of the shape, and the shape."""
    wanted = Shape.coerce(shape)
    kind = checks.kind(wanted.dtype)
    if kind not in allowed or (kind == "f" and wanted.dtype.name not in _NATIVE):
        kinds = "integer or floating-point" if "i" in allowed else "floating-point"
        raise TypeError(
            f"{operation}: shape must have an element type that is {kinds} (of the "
            f"latter one of {', '.join(_NATIVE)}), got {wanted}"
        )
    # The shape takes part in the comparison of element types as an operand would.
    first, second, _ = checks.same_element_type(
        operation, **scalars, shape=np.zeros((), wanted.dtype)
    )
    for parameter, value in zip(scalars, (first, second), strict=True):
        if value.ndim:
            raise TypeError(
                f"{operation}: {parameter} must be a scalar, "
                f"got {checks.describe(value)}"
            )
    return first, second, wanted


_rng = new_primitive("rng")


def _draw(distribution: str, a: Array, b: Array, shape: tuple[int, ...]) -> Array:
    # Devices draw different numbers, whatever the parameters.
    a, b = primitive.varying_over(primitive.manual_axes(), a, b)
    a, b = primitive.equally_varying(a, b)
    drawn = _rng.bind(a, b, distribution=distribution, shape=shape)
    if jax.sharding.get_abstract_mesh().explicit_axes:
        # XLA gives the result of a program that ends in a drawing a sharding that JAX
        # cannot read.
        return lax.optimization_barrier(drawn)
    return drawn


@_rng.def_abstract_eval
def _rng_type(a: Any, b: Any, *, distribution: str, shape: tuple[int, ...]) -> Any:
    return result_type_like(a, shape, a.dtype)


def _rng_lower(
    ctx: Any, a: Any, b: Any, *, distribution: str, shape: tuple[int, ...]
) -> Any:
    sizes = stablehlo.constant(
        ir.DenseElementsAttr.get(
            np.array(shape, np.int64), type=ir.IntegerType.get_signless(64)
        )
    )
    return [stablehlo.rng(a, b, sizes, stablehlo.RngDistributionAttr.get(distribution))]


def _rng_linearized(
    a: Any, b: Any, *, distribution: str, shape: tuple[int, ...]
) -> tuple[Any, Any, Any]:
    # Drawn from the standard distribution, so that the derivative is at hand.
    zero, one = lax.full_like(a, 0), lax.full_like(a, 1)
    standard = _rng.bind(zero, one, distribution=distribution, shape=shape)

    def tangent_of(standard: Any, da: Any, db: Any) -> Any:
        da, db = (ad.instantiate_zeros(t) for t in (da, db))
        if distribution == "UNIFORM":
            return da + (db - da) * standard
        return da + db * standard

    scale = b - a if distribution == "UNIFORM" else b
    return a + scale * standard, standard, tangent_of


def _rng_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    result, standard, tangent_of = _rng_linearized(*primals, **params)
    return result, tangent_of(standard, *tangents)


def _rng_batch(
    args: Any, dims: Any, *, distribution: str, shape: tuple[int, ...]
) -> Any:
    # The parameters of one draw are scalars: draw a standard batch and move it.
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
    a, b = (
        lax.reshape(batching.bdim_at_front(x, d, size), (size, *(1 for _ in shape)))
        for x, d in zip(args, dims, strict=True)
    )
    sizes = (size, *shape)
    dtype = a.dtype
    if checks.kind(dtype) in "iu":
        unsigned = np.dtype(f"uint{8 * dtype.itemsize}")
        bits = _draw_bits(a, unsigned, sizes)
        span = lax.convert_element_type(b - a, unsigned)
        offset = lax.rem(bits, lax.broadcast_in_dim(span, sizes, range(len(sizes))))
        return a + lax.convert_element_type(offset, dtype), 0
    zero, one = lax.full_like(a, 0, shape=()), lax.full_like(a, 1, shape=())
    standard = _draw(distribution, zero, one, sizes)
    scale = b - a if distribution == "UNIFORM" else b
    return a + scale * standard, 0


def _draw_bits(like: Array, dtype: np.dtype, sizes: tuple[int, ...]) -> Array:
    low = lax.full_like(like, 0, dtype=dtype, shape=())
    high = lax.full_like(like, np.iinfo(dtype).max, dtype=dtype, shape=())
    return _draw("UNIFORM", low, high, sizes)


mlir.register_lowering(_rng, _rng_lower)
ad.primitive_jvps[_rng] = _rng_jvp
batching.primitive_batchers[_rng] = _rng_batch
drawn_where_written(_rng, _rng_linearized)
