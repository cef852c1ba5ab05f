"""Conversion that rounds up or down at random, to the mean of the value."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.operation import operation
from ..core.typing import DTypeLike


@operation(alike=(), new_element_type=checks.element_type)
def stochastic_convert_type(
    operand: ArrayLike, random: ArrayLike, new_element_type: DTypeLike
) -> Array:
    r"""Element-wise conversion that rounds to one of two neighbours at random.

    A number between two neighbours of the new type goes to the one away from zero with
    a probability of its distance from the other, in units of their distance: the mean
    over all random bits is the number. It does so where the random bits, as an unsigned
    number, are less than :math:`2^w` times that distance, rounded down, :math:`w` being
    their width.

    Numbers that the new type has are kept. Beyond the range integers saturate, and NaN
    gives 0, as in `xlaops.convert_element_type`; floating-point numbers become what
    rounding up the largest one gives, infinity or NaN.

    The result is the same on every backend. As a conversion between floating-point
    types it has the derivative of one; to integers it has none.

    Args:
      operand: floating-point array of 8, 16, 32 or 64 bits.
      random: array of unsigned integers, of the shape of ``operand`` and as wide as its
        elements; uniformly distributed bits.
      new_element_type: an integer or floating-point type: an XLA name (``"bf16"``,
        ``"s8"``, ...) or what numpy takes as a dtype.

    Returns:
      An array of the shape of ``operand``.

    Raises:
      TypeError: if an argument is of another type, width or shape.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([1.25, 1.25, -1.25, 300.0])
      >>> bits = jnp.array([0, 2**30, 0, 0], "uint32")
      >>> xo.stochastic_convert_type(x, bits, "s8")
      Array([  2,   1,  -2, 127], dtype=int8)

    Source: ``xla_builder.h``, as XLA's Operation semantics does not describe it;
    ``mhlo.stochastic_convert``, which some backends have for some types, has these
    results there.
    """
    x = checks.operand("stochastic_convert_type", "operand", operand, "f")
    bits = checks.operand("stochastic_convert_type", "random", random, "u")
    width = checks.bit_width(x.dtype)
    if width not in (8, 16, 32, 64) or jnp.finfo(x.dtype).nmant == 0:
        raise TypeError(
            f"stochastic_convert_type: operand must have signed elements of 8 bits or "
            f"more, got {checks.describe(x)}"
        )
    if bits.shape != x.shape or checks.bit_width(bits.dtype) != width:
        raise TypeError(
            f"stochastic_convert_type: random must be uint{width}{list(x.shape)}, as "
            f"wide as operand, got {checks.describe(bits)}"
        )
    dtype = np.dtype(new_element_type)
    kind = checks.kind(dtype)
    if kind in "iu":
        return _to_integer(x, bits, dtype)
    if kind != "f" or checks.bit_width(dtype) < 8 or jnp.finfo(dtype).nmant == 0:
        raise TypeError(
            f"stochastic_convert_type: new_element_type must be an integer type or a "
            f"signed floating-point one of 8 bits or more, got {dtype}"
        )
    return _to_float(dtype, x, bits)


def _parts(x: Array) -> tuple[Array, Array]:
    """Integers ``n`` and ``e`` for which the magnitude of a number is ``n * 2**e``.

    The first are unsigned, the second signed, both of the width of ``x``. Of what is
    not finite they are those of the pattern, read as if it were a number.
    """
    info = jnp.finfo(x.dtype)
    unsigned, signed = np.dtype(f"uint{info.bits}"), np.dtype(f"int{info.bits}")
    pattern = lax.bitcast_convert_type(x, unsigned)
    number = lax.bitwise_and(pattern, lax.full_like(pattern, (1 << info.nmant) - 1))
    field = lax.shift_right_logical(
        lax.shift_left(pattern, lax.full_like(pattern, 1)),
        lax.full_like(pattern, info.nmant + 1),
    )
    one = lax.full_like(field, 1)
    implicit = lax.shift_left(lax.min(field, one), lax.full_like(field, info.nmant))
    exponent = lax.convert_element_type(lax.max(field, one), signed)
    # The field is 1 for numbers whose exponent is the smallest.
    shift = lax.full_like(exponent, info.minexp - 1 - info.nmant)
    return lax.bitwise_or(number, implicit), lax.add(exponent, shift)


def _rounded(number: Array, places: Array, random: Array) -> Array:
    """``number / 2**places``, rounded up where the random bits say so."""
    width = checks.bit_width(number.dtype)
    zero = lax.full_like(places, 0)
    unsigned = functools.partial(lax.convert_element_type, new_dtype=number.dtype)
    right, left = (unsigned(lax.max(p, zero)) for p in (places, lax.neg(places)))
    # What is shifted by the width or more is 0.
    kept = lax.shift_left(lax.shift_right_logical(number, right), left)
    # The dropped bits as a fraction of 2 ** width. All others are shifted out.
    up = lax.sub(lax.full_like(places, width), places)
    fraction = lax.select(
        lax.lt(up, zero),
        lax.shift_right_logical(number, unsigned(lax.max(lax.neg(up), zero))),
        lax.shift_left(number, unsigned(lax.max(up, zero))),
    )
    goes_up = lax.bitwise_and(lax.gt(places, zero), lax.lt(random, fraction))
    return lax.add(kept, lax.convert_element_type(goes_up, number.dtype))


def _to_integer(x: Array, random: Array, dtype: np.dtype) -> Array:
    number, exponent = _parts(x)
    random = lax.convert_element_type(random, number.dtype)
    # What has a fraction is small enough for the mantissa, and so for this conversion.
    rounded = lax.convert_element_type(
        _rounded(number, lax.neg(exponent), random), x.dtype
    )
    rounded = lax.select(lax.lt(x, lax.full_like(x, 0)), lax.neg(rounded), rounded)
    is_whole = lax.ge(exponent, lax.full_like(exponent, 0))
    # Saturates, and makes NaN zero.
    return lax.convert_element_type(lax.select(is_whole, x, rounded), dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _to_float(dtype: np.dtype, x: Array, random: Array) -> Array:
    source, target = jnp.finfo(x.dtype), jnp.finfo(dtype)
    lowest = target.minexp - target.nmant  # the exponent of the smallest number
    if (
        source.nmant <= target.nmant
        and float(source.max) <= float(target.max)
        and source.minexp - source.nmant >= lowest
    ):
        return lax.convert_element_type(x, dtype)
    number, exponent = _parts(x)
    width = source.bits
    zero = lax.full_like(exponent, 0)
    # Dropped are the bits behind the new mantissa, and those below the smallest number.
    length = lax.convert_element_type(
        lax.sub(lax.full_like(number, width), lax.clz(number)), exponent.dtype
    )
    places = lax.max(
        lax.sub(length, lax.full_like(length, target.nmant + 1)),
        lax.sub(lax.full_like(exponent, lowest), exponent),
    )
    rounded = _rounded(number, places, lax.convert_element_type(random, number.dtype))
    # The pattern of a number: its leading bit counts as one of the exponent, and a
    # carry out of the mantissa is what it should be.
    largest = int(np.asarray(target.max, dtype).view(f"uint{target.bits}"))
    above = lax.sub(lax.add(exponent, places), lax.full_like(exponent, lowest))
    limit = lax.full_like(above, (largest >> target.nmant) + 1)
    steps = lax.convert_element_type(lax.clamp(zero, above, limit), number.dtype)
    steps = lax.select(lax.eq(length, zero), lax.full_like(steps, 0), steps)
    pattern = lax.add(
        lax.shift_left(steps, lax.full_like(steps, target.nmant)), rounded
    )
    # Behind the largest number comes infinity, or NaN in a type without.
    pattern = lax.min(pattern, lax.full_like(pattern, largest + 1))
    bits = np.dtype(f"uint{target.bits}")
    magnitude = lax.convert_element_type(pattern, bits)
    sign = lax.shift_right_logical(
        lax.bitcast_convert_type(x, number.dtype), lax.full_like(number, width - 1)
    )
    sign = lax.shift_left(
        lax.convert_element_type(sign, bits), lax.full_like(magnitude, target.bits - 1)
    )
    if dtype.name.endswith("fnuz"):  # where the pattern of -0 is NaN
        nothing = lax.full_like(sign, 0)
        sign = lax.select(lax.eq(magnitude, nothing), nothing, sign)
    result = lax.bitcast_convert_type(lax.bitwise_or(magnitude, sign), dtype)
    # Infinity and NaN are no numbers to round.
    return lax.select(lax.is_finite(x), result, lax.convert_element_type(x, dtype))


@_to_float.defjvp
def _to_float_jvp(dtype, primals, tangents):
    # That of the conversion whose rounding it is, on average.
    tangent, _ = tangents
    return _to_float(dtype, *primals), lax.convert_element_type(tangent, dtype)
