"""What primitives of our own have in common."""

from collections.abc import Callable
from typing import Any

import jax
from jax import Array, lax

from .compat import (
    Primitive,
    batching,
    mlir,
    new_primitive,
    result_type_like,
    varying_axes,
)


def equally_varying(*operands: Array) -> tuple[Array, ...]:
    """The operands, made to vary over the same manual mesh axes.

    Inside `jax.shard_map` with ``check_vma=True`` a primitive must be given operands
    that vary over the same axes: jax.lax functions see to that themselves, primitives
    that are bound directly do not.
    """
    return varying_over(
        frozenset().union(*(varying_axes(x) for x in operands)), *operands
    )


def varying_over(axes: frozenset[str], *operands: Array) -> tuple[Array, ...]:
    """The operands, made to vary over the given manual mesh axes at least."""
    return tuple(
        lax.pcast(x, tuple(sorted(missing)), to="varying")
        if (missing := axes - varying_axes(x))
        else x
        for x in operands
    )


def sharding_like(x: Array) -> Any:
    """The ``out_sharding`` for an array to be split as another of its shape is.

    None where types do not say how arrays are split.
    """
    sharding = jax.typeof(x).sharding
    mesh = sharding.mesh
    return None if mesh.empty or not mesh.explicit_axes else sharding


def is_split(x: Array) -> bool:
    """Whether types say that axes of an Explicit mesh divide the array."""
    return any(part is not None for part in jax.typeof(x).sharding.spec)


def has_sharding_in_type(*arrays: Array) -> bool:
    """Whether the type of any says how it is split, along Explicit axes of a mesh."""
    return any(sharding_like(x) is not None for x in arrays)


def whole_along(x: Array, dimension: int) -> Array:
    """The array, not split along a dimension by axes of an Explicit mesh."""
    sharding = jax.typeof(x).sharding
    if sharding.mesh.empty or sharding.spec[dimension] is None:
        return x
    spec = [None if d == dimension else part for d, part in enumerate(sharding.spec)]
    return jax.sharding.reshard(x, jax.sharding.PartitionSpec(*spec))


def whole(x: Array) -> Array:
    """The array, not split along any dimension by axes of an Explicit mesh."""
    for d in range(x.ndim):
        x = whole_along(x, d)
    return x


def manual_axes() -> frozenset[str]:
    """The mesh axes over which the running program is written device by device."""
    return frozenset(jax.sharding.get_abstract_mesh().manual_axes)


def has_explicit_axes() -> bool:
    """Whether types say how values are split among the devices of a mesh."""
    return bool(jax.sharding.get_abstract_mesh().explicit_axes)


def elementwise(name: str, build: Callable[..., Any]) -> Callable[..., Array]:
    """A function that binds a new element-wise primitive without derivatives.

    Args:
      name: name of the primitive.
      build: builds the StableHLO operation from the operands' values.

    Returns:
      A function of arrays of one shape and element type; its result has the same.
    """
    primitive: Primitive = new_primitive(name)

    @primitive.def_abstract_eval
    def _type(*avals: Any) -> Any:
        # In an Explicit mesh the result is sharded like the operand that is sharded.
        most = max(avals, key=lambda a: sum(p is not None for p in a.sharding.spec))
        return result_type_like(most, most.shape, most.dtype)

    def lower(ctx: Any, *operands: Any) -> Any:
        return [build(*operands)]

    def batch(args: Any, dims: Any) -> Any:
        size = next(
            x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None
        )
        front = (
            batching.bdim_at_front(x, d, size) for x, d in zip(args, dims, strict=True)
        )
        return primitive.bind(*front), 0

    mlir.register_lowering(primitive, lower)
    batching.primitive_batchers[primitive] = batch

    def apply(*operands: Array) -> Array:
        return primitive.bind(*equally_varying(*operands))

    return apply
