"""The mapped axes that a collective works over, and who is who along them.

A *replica* is one position along the named axes, and its id counts them row-major in
the order in which they are named. It is neither the id of a device nor what XLA calls
the replica id of one, which is 0 on every device of a program that JAX makes.
"""

from collections.abc import Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.sharding import AxisType

from ..core import checks, compat
from . import vmapped

Axes = tuple[Hashable, ...]


def manual_axes() -> Axes:
    """The manual mesh axes of the enclosing `shard_map` or `pmap`, in mesh order."""
    mesh = jax.sharding.get_abstract_mesh()
    return () if mesh.empty else tuple(mesh.manual_axes)


def in_scope() -> Axes:
    """All mapped axes, of meshes and of `jax.vmap`, some twice."""
    return (*manual_axes(), *compat.axes_in_scope())


def names(operation: str, parameter: str, value: Any) -> Axes:
    """The axes of a name or a sequence of names, each of which is in scope."""
    axes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    scope = in_scope()
    for axis in axes:
        if not isinstance(axis, Hashable) or axis is None:
            raise TypeError(
                f"{operation}: {parameter} must be the name of a mapped axis or a "
                f"sequence of names, got {checks.describe(value)}"
            )
        if axis not in scope:
            known = ", ".join(dict.fromkeys(map(repr, scope))) or "none"
            raise NameError(
                f"{operation}: {parameter} must name a mapped axis in scope ({known}), "
                f"got {axis!r}"
            )
    if len(set(axes)) != len(axes):
        raise ValueError(
            f"{operation}: {parameter} must hold distinct names, got {axes}"
        )
    return axes


def resolved(operation: str, axis_name: Any) -> Axes:
    """The axes that ``axis_name`` stands for.

    None stands for all manual axes in scope; where there are none, for those of
    `jax.vmap` that have a name.
    """
    if axis_name is not None:
        return names(operation, "axis_name", axis_name)
    axes = manual_axes() or compat.axes_in_scope()
    if not axes:
        raise NameError(
            f"{operation}: axis_name must name a mapped axis, got None outside of any. "
            f"(Tip: call it inside of jax.shard_map, jax.pmap or "
            f"jax.vmap(..., axis_name=...).)"
        )
    return tuple(axes)


def are_manual(axes: Axes) -> bool:
    """Whether all axes are of the mesh, so that XLA itself communicates along them."""
    return set(axes) <= set(manual_axes())


def check_vma() -> bool:
    """Whether types say over which manual axes values vary.

    That is ``check_vma`` of the enclosing `shard_map`; false outside of one.
    """
    return bool(manual_axes()) and compat.check_vma()


def vary(x: Array, axes: Axes) -> Array:
    """The array, typed as varying over those of the axes that are manual.

    Every operand of a collective must be, and so must every result that may differ
    between replicas. Changes nothing where types do not say it.
    """
    wanted = [axis for axis in manual_axes() if axis in axes]
    if not wanted or not check_vma():
        return x
    present = compat.varying_axes(x)
    missing = tuple(axis for axis in wanted if axis not in present)
    return lax.pcast(x, missing, to="varying") if missing else x


def can_scatter_sums() -> bool:
    """Whether `jax.lax.psum_scatter` works under the mesh in scope.

    That of jax 0.12 raises an error where axes of the mesh are Explicit beside those
    that are manual.
    """
    return AxisType.Explicit not in jax.sharding.get_abstract_mesh().axis_types


def variation(same: bool) -> str:
    """How `jax.lax.all_gather` is told to type its result, as the same or varying."""
    return "invarying" if same and check_vma() else "varying"


def size(axes: Axes) -> int:
    """How many replicas there are along the axes."""
    return lax.axis_size(axes)


def index(axes: Axes) -> Array:
    """The id of this replica, an int32 scalar."""
    if axes and are_manual(axes):
        # The index along a tuple of one axis multiplies that along it by one.
        return lax.axis_index(axes[0] if len(axes) == 1 else axes)
    result = jnp.int32(0)
    for axis in axes:
        n = size((axis,))
        along = lax.axis_index(axis) if are_manual((axis,)) else vmapped.index(axis, n)
        result = result * n + along
    return result


def lookup(table: np.ndarray, axes: Axes) -> Array:
    """The entry of a table that is this replica's: ``table[id]``."""
    if not axes:
        return jnp.asarray(table[0])
    entries = vary(jnp.asarray(table), axes)
    return lax.dynamic_index_in_dim(entries, index(axes), keepdims=False)
