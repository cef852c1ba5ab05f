"""Random bits as a function of a state."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.compat import (
    batching,
    ir,
    mlir,
    new_primitive,
    result_type_like,
    stablehlo,
)
from ..core.operation import operation
from ..core.typing import ShapeLike
from ..types import RandomAlgorithm, Shape

# How many words of 64 bits a state may have.
_WORDS = {
    RandomAlgorithm.RNG_DEFAULT: (2, 3),
    RandomAlgorithm.RNG_THREE_FRY: (2,),
    RandomAlgorithm.RNG_PHILOX: (2, 3),
}


def rng_bit_generator(
    algorithm: RandomAlgorithm | str, initial_state: ArrayLike, shape: ShapeLike
) -> tuple[Array, Array]:
    """Uniformly distributed random bits, and the state to draw the next ones from.

    The same state gives the same bits, on one backend and with one version of XLA. The
    derivative is zero, and `jax.vmap` over states draws from each what a call with it
    alone would.

    Args:
      algorithm: ``"RNG_THREE_FRY"``, ``"RNG_PHILOX"``, or ``"RNG_DEFAULT"`` for the one
        that the backend prefers, as `xlaops.RandomAlgorithm` or its name.
      initial_state: u64[2] for ThreeFry, u64[3] or u64[2] for the others, or the same
        words as u32[4] and u32[6], low half first, for programs without 64-bit types.
      shape: shape of the data as `xlaops.Shape`, `jax.ShapeDtypeStruct` or text such as
        ``"u32[4,8]"``. Elements of a floating-point type have random bits too, so that
        some are NaN; for random numbers of an interval see `xlaops.rng_uniform`.
        Elements of PRED are true with probability one half. Complex types, one-bit
        integers and floating-point types below 8 bits are refused.

    Returns:
      The pair ``(new_state, data)``: a state in the form of ``initial_state``, and an
      array of that shape.

    Raises:
      TypeError: if ``initial_state`` is no state of the algorithm, or ``shape`` has an
        element type that is refused or needs ``jax_enable_x64``.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> state = jnp.array([1, 2, 3, 4], jnp.uint32)
      >>> state, data = xo.rng_bit_generator("RNG_PHILOX", state, "u32[2,3]")
      >>> data.shape, data.dtype
      ((2, 3), dtype('uint32'))

    Source: *RngBitGenerator* in XLA's Operation semantics;
    ``stablehlo.rng_bit_generator``.
    """
    if (
        isinstance(initial_state, np.ndarray)
        and initial_state.dtype == np.uint64
        and not _has_x64()
    ):
        raise TypeError(
            "rng_bit_generator: initial_state must be u32[4] or u32[6] where x64 is "
            f"off, got {checks.describe(initial_state)}. (Tip: pass "
            "initial_state.view(numpy.uint32).)"
        )
    return _rng_bit_generator(initial_state, algorithm, shape)


@operation(
    "rng_bit_generator",
    algorithm=checks.coerced(RandomAlgorithm.coerce),
    shape=checks.array_shape,
)
def _rng_bit_generator(
    initial_state: ArrayLike, algorithm: RandomAlgorithm | str, shape: ShapeLike
) -> tuple[Array, Array]:
    algorithm, shape = RandomAlgorithm.coerce(algorithm), Shape.coerce(shape)
    state = checks.array("rng_bit_generator", "initial_state", initial_state)
    words = _WORDS[algorithm]
    if (state.dtype.name, state.shape) not in (
        *(("uint64", (n,)) for n in words),
        *(("uint32", (2 * n,)) for n in words),
    ):
        allowed = " or ".join(f"u64[{n}] or u32[{2 * n}]" for n in words)
        raise TypeError(
            f"rng_bit_generator: initial_state must be {allowed} for {algorithm.name}, "
            f"got {checks.describe(state)}"
        )
    dtype = shape.dtype
    bits = _width(dtype)
    if bits == 64 and not _has_x64():
        raise TypeError(
            f"rng_bit_generator: shape must have an element type of at most 32 bits "
            f"where x64 is off, got {shape}"
        )
    drawn = np.dtype(f"uint{bits}")
    new_state, data = _generator.bind(
        state,
        algorithm=algorithm.name.removeprefix("RNG_"),
        shape=tuple(shape.dimensions),
        dtype=drawn,
    )
    return new_state, _of_type(data, dtype)


def _has_x64() -> bool:
    return jax.dtypes.canonicalize_dtype(np.uint64) == np.uint64


def _width(dtype: np.dtype) -> int:
    """How many bits are drawn for each element."""
    kind = checks.kind(dtype)
    if kind == "b":
        return 8
    if kind in "iu" and jnp.iinfo(dtype).bits > 1:
        return max(8, jnp.iinfo(dtype).bits)
    if kind == "f" and jnp.finfo(dtype).bits >= 8:
        return jnp.finfo(dtype).bits
    raise TypeError(
        f"rng_bit_generator: shape must have an element type that is pred, integer of "
        f"at least 2 bits or floating-point of at least 8 bits, got {dtype}"
    )


def _of_type(data: Array, dtype: np.dtype) -> Array:
    """Unsigned data as the bits of another type; XLA's own other types are not safe.

    Asked for signed or floating-point data, XLA gives a buffer of another type than it
    says.
    """
    kind = checks.kind(dtype)
    if dtype == data.dtype:
        return data
    if kind == "b":
        return lax.ge(data, lax.full_like(data, 128))
    if kind in "iu" and jnp.iinfo(dtype).bits < 8:
        # The high bits, shifted: a conversion of what does not fit is not defined.
        shift = lax.full_like(data, 8 - jnp.iinfo(dtype).bits)
        if kind == "u":
            return lax.convert_element_type(lax.shift_right_logical(data, shift), dtype)
        data = lax.bitcast_convert_type(data, np.int8)
        shift = lax.bitcast_convert_type(shift, np.int8)
        return lax.convert_element_type(lax.shift_right_arithmetic(data, shift), dtype)
    return lax.bitcast_convert_type(data, dtype)


# jax.lax has it for states of two words only, and types the data inside shard_map as
# equal on all devices also where the states differ.
_generator = new_primitive("rng_bit_generator")
_generator.multiple_results = True


@_generator.def_abstract_eval
def _generator_types(
    state: Any, *, algorithm: str, shape: tuple[int, ...], dtype: np.dtype
) -> Any:
    return (
        result_type_like(state, state.shape, state.dtype),
        result_type_like(state, shape, dtype),
    )


def _generator_lower(
    ctx: Any, state: Any, *, algorithm: str, shape: tuple[int, ...], dtype: np.dtype
) -> Any:
    (aval,) = ctx.avals_in
    word = ir.IntegerType.get_unsigned(64)
    half = ir.IntegerType.get_unsigned(32)
    in_halves = aval.dtype == np.uint32
    count = aval.shape[0] // 2 if in_halves else aval.shape[0]
    words = ir.RankedTensorType.get([count], word)
    pairs = ir.RankedTensorType.get([count, 2], half)
    if in_halves:
        state = stablehlo.bitcast_convert(words, stablehlo.reshape(pairs, state))
    new_state, data = stablehlo.RngBitGeneratorOp(
        words,
        ir.RankedTensorType.get(shape, mlir.dtype_to_ir_type(dtype)),
        stablehlo.RngAlgorithmAttr.get(algorithm),
        state,
    ).results
    if in_halves:
        new_state = stablehlo.reshape(
            ir.RankedTensorType.get([2 * count], half),
            stablehlo.bitcast_convert(pairs, new_state),
        )
    return [new_state, data]


def _generator_batch(args: Any, dims: Any, **params: Any) -> Any:
    (states,), (dim,) = args, dims
    states = batching.bdim_at_front(states, dim, states.shape[dim])
    results = lax.map(functools.partial(_generator.bind, **params), states)
    return results, (0, 0)


mlir.register_lowering(_generator, _generator_lower)
batching.primitive_batchers[_generator] = _generator_batch
