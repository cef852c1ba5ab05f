"""Arrays whose sizes are known only when the program runs, up to a bound."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from .. import types
from .primitive import sharding_like

# For each dimension its size, or None where it is that of the type.
Sizes = tuple[Array | None, ...]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BoundedArray:
    """An array with dimensions whose sizes are data, below a bound.

    JAX's types are static, so an array of dynamic size is one of the largest size and,
    for each dynamic dimension, how many of its elements count. Elements beyond a size
    are undefined, and no operation lets them influence those that are not.

    `set_dimension_size` and `dynamic_reshape` make them. They are pytrees: `jax.jit`,
    `jax.vmap` and loops take and return them. `jax.grad` with respect to one needs
    ``allow_int=True``, as the sizes are integers.

    Attributes:
      data: array of the bounds.
      sizes: for each dimension an S32 scalar, or None where the size is static.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = xo.set_dimension_size(jnp.arange(10), 4, 0)
      >>> print(x.bounded_shape)
      s32[<=10]
      >>> x
      BoundedArray(s32[<=10], sizes=(4,), [0 1 2 3])
      >>> xo.add(x, x).valid()
      array([0, 2, 4, 6], dtype=int32)

    Source: "Dynamic dimensions" of XLA's shapes (``ShapeProto.is_dynamic_dimension``).
    """

    data: Array
    sizes: Sizes

    @property
    def shape(self) -> tuple[int, ...]:
        """The bounds: the size of ``data``."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.data.ndim

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.data.dtype

    @property
    def bounded_shape(self) -> types.Shape:
        """The type as `xlaops.Shape`, whose text has ``<=`` before a bound."""
        # Outside of the `jax.vmap` that made it, an array has dimensions in front.
        flags = [size is not None for size in self.sizes]
        flags = [False] * (self.data.ndim - len(flags)) + flags
        name = types.element_type_name(self.data.dtype)
        return types.Shape(name, self.data.shape, None, tuple(flags))

    def valid(self) -> np.ndarray:
        """The elements that count, as a NumPy array.

        Raises:
          TypeError: if `jax.vmap` has put dimensions in front.
          jax.errors.ConcretizationTypeError: if the array is traced.
        """
        if len(self.sizes) != self.data.ndim:
            raise TypeError(
                f"BoundedArray.valid: sizes must have one entry for each dimension of "
                f"{self.data.shape}, got {len(self.sizes)}"
            )
        ends = [None if size is None else int(size) for size in self.sizes]
        return np.asarray(self.data)[tuple(slice(end) for end in ends)]

    def __repr__(self) -> str:
        try:
            shape = str(self.bounded_shape)
        except (AttributeError, TypeError):
            # Of what stands for arrays: specifications, axes of `jax.vmap`, ...
            return f"BoundedArray({self.data!r}, sizes={self.sizes!r})"
        try:
            sizes = tuple(None if s is None else int(s) for s in self.sizes)
            text = np.array2string(self.valid(), threshold=20, prefix="BoundedArray(")
        except (TypeError, jax.errors.JAXTypeError):
            return f"BoundedArray({shape}, sizes={self.sizes})"
        return f"BoundedArray({shape}, sizes={sizes}, {text})"


def among(operands: Sequence[Any]) -> bool:
    """Whether any operand, or any of a sequence among them, is a BoundedArray."""
    for value in operands:
        kind = type(value)
        if kind is BoundedArray or (
            (kind is tuple or kind is list) and BoundedArray in map(type, value)
        ):
            return True
    return False


def checked(operation: str, parameter: str, value: BoundedArray) -> BoundedArray:
    """A BoundedArray of arrays of JAX, if its parts fit one another."""
    data, sizes = value.data, value.sizes
    if not isinstance(data, (Array, np.ndarray)) or not isinstance(sizes, tuple):
        raise TypeError(
            f"{operation}: {parameter} must hold an array and a tuple of sizes, got "
            f"{type(data).__name__} and {type(sizes).__name__}"
        )
    if len(sizes) != data.ndim:
        raise TypeError(
            f"{operation}: {parameter} must have one entry of sizes for each dimension "
            f"of {data.shape}, got {len(sizes)}. (Tip: what jax.vmap returns is taken "
            f"apart by jax.vmap.)"
        )
    for size in sizes:
        if size is not None and (
            np.shape(size) or getattr(size, "dtype", None) != np.int32
        ):
            raise TypeError(
                f"{operation}: {parameter} must have sizes that are s32 scalars, got "
                f"{getattr(size, 'dtype', type(size).__name__)}{list(np.shape(size))}"
            )
    if all(isinstance(leaf, Array) for leaf in (data, *sizes) if leaf is not None):
        return value
    # What a transformation returns as it got it, and jax.device_get.
    return BoundedArray(
        jnp.asarray(data), tuple(None if s is None else jnp.asarray(s) for s in sizes)
    )


def wrapped(data: Array, sizes: Sequence[Array | None]) -> Any:
    """A BoundedArray, or the array alone where no size is dynamic."""
    if all(size is None for size in sizes):
        return data
    return BoundedArray(data, tuple(sizes))


def sizes_of(value: Any) -> Sizes:
    """The sizes of an operand, all None for one that is no BoundedArray."""
    return value.sizes if isinstance(value, BoundedArray) else (None,) * np.ndim(value)


def data_of(value: Any) -> Any:
    """The data of a BoundedArray; anything else as it is."""
    return value.data if isinstance(value, BoundedArray) else value


def smallest(sizes: Sequence[Array | None]) -> Array | None:
    """The smallest of sizes of one dimension, of which None is the bound."""
    known: Array | None = None
    for size in sizes:
        if size is not None and size is not known:
            known = size if known is None else lax.min(known, size)
    return known


def split(
    operation: str, parameter: str, operands: Any
) -> tuple[Any, tuple[Array | None, ...] | None]:
    """Operands of one shape with data for bounded arrays, and their common sizes.

    The sizes are None where no operand is a BoundedArray.
    """
    if not isinstance(operands, (tuple, list)) or not among(operands):
        return operands, None
    operands = [
        checked(operation, f"{parameter}[{i}]", value)
        if isinstance(value, BoundedArray)
        else value
        for i, value in enumerate(operands)
    ]
    rank = max(np.ndim(data_of(value)) for value in operands)
    of_all = [sizes_of(x) for x in operands if np.ndim(data_of(x)) == rank]
    sizes = tuple(smallest(column) for column in zip(*of_all, strict=True))
    return [data_of(value) for value in operands], sizes


def validity(
    x: Array, sizes: Sequence[Array | None] | Mapping[int, Array | None]
) -> Array | None:
    """Where the elements of an array are that count; None if all do."""
    pairs = sizes.items() if isinstance(sizes, Mapping) else enumerate(sizes)
    result: Array | None = None
    for dimension, size in pairs:
        if size is None:
            continue
        sharding = sharding_like(x)
        places = lax.broadcasted_iota(
            np.int32, x.shape, dimension, out_sharding=sharding
        )
        inside = lax.lt(places, lax.broadcast(size, x.shape, out_sharding=sharding))
        result = inside if result is None else lax.bitwise_and(result, inside)
    return result


def masked(x: Array, sizes: Any, value: Any) -> Array:
    """An array with a scalar in place of the elements that do not count."""
    valid = validity(x, sizes)
    if valid is None:
        return x
    scalar = jnp.asarray(value, x.dtype)
    others = lax.broadcast(scalar, x.shape, out_sharding=sharding_like(x))
    return lax.select(valid, x, others)
