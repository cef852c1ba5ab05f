"""Slices of different sizes, sent to all members of a group at once."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks
from ..core.compat import (
    ad,
    batching,
    mlir,
    new_primitive,
    result_type_like,
    varying_axes,
)
from ..core.primitive import equally_varying, sharding_like, varying_over, whole
from ..core.regions import batch_size, batch_to_front
from ..core.typing import AxisNames, ChannelHandleLike, ReplicaGroupsLike
from . import axes as mapped
from . import groups as replica_groups_
from .axes import Axes
from .exchange import blocks, members
from .groups import Groups, Participants


def ragged_all_to_all(
    input: ArrayLike,
    input_offsets: ArrayLike,
    send_sizes: ArrayLike,
    output: ArrayLike,
    output_offsets: ArrayLike,
    recv_sizes: ArrayLike,
    replica_groups: ReplicaGroupsLike = (),
    channel_id: ChannelHandleLike | None = None,
    *,
    axis_name: AxisNames | None = None,
) -> Array:
    """Slices of rows of all members of a group, written into an output.

    Each member sends to every member a slice of its rows, which may be empty, and says
    where in the other's output it goes. Rows of the output that nobody writes keep
    their values; where slices overlap, which of them is kept is undefined.

    XLA has this operation on GPU and TPU. On CPUs, and along axes of `jax.vmap`, the
    inputs of a group are gathered, and each row of the output is looked up there.

    Derivatives are right for any offsets: where a row is sent to several members, the
    derivatives of all its copies are added up.

    Args:
      input: array of any rank but 0, of whose first dimension slices are sent.
      input_offsets: integers ``[n]`` for the ``n`` members of a group: the first row
        that is sent to each; or ``[n, u]`` for ``u`` slices to each.
      send_sizes: of the same type; how many rows are sent to each.
      output: array of the input's element type, which differs from it at most in the
        first dimension.
      output_offsets: of the same type; at which row of the other's output each slice
        begins.
      recv_sizes: of the same type; how many rows come from each: the ``send_sizes``
        that each member has for this one.
      replica_groups: groups of replica ids, all of one size, that hold every replica
        once; empty is one group of all replicas.
      channel_id: a channel between devices; without effect.
      axis_name: the mapped axes that replicas are counted along, row-major; all that
        are manual unless given.

    Returns:
      An array of the output's type. Offsets and sizes are data, which nothing checks:
      what a slice outside of an array does is undefined.

    Raises:
      NameError: if there is no mapped axis, or none of that name.
      TypeError: if element types or shapes do not fit.
      ValueError: if offsets and sizes are not one, or some, for each member, or the
        groups are not equal ones of all replicas.

    Example:
      >>> import jax
      >>> import jax.numpy as jnp
      >>> import xlaops as xo

      The first replica keeps one row and sends two, the second one sends one:

      >>> def exchange(rows, start, size, place, comes):
      ...     output = jnp.zeros(4, int)
      ...     return xo.ragged_all_to_all(rows, start, size, output, place, comes)
      >>> arguments = (
      ...     [[1, 2, 2], [3, 4, 0]],  # rows
      ...     [[0, 1], [0, 1]],  # start
      ...     [[1, 2], [1, 1]],  # size
      ...     [[0, 0], [1, 2]],  # place
      ...     [[1, 1], [2, 1]],  # comes
      ... )
      >>> print(jax.vmap(exchange, axis_name="i")(*map(jnp.array, arguments)))
      [[1 3 0 0]
       [2 2 4 0]]

    Source: *RaggedAllToAll* in XLA's Operation semantics; a ``stablehlo.custom_call``.
    """
    operation = "ragged_all_to_all"
    who = replica_groups_.participants(
        operation,
        replica_groups,
        axis_name=axis_name,
        channel_id=channel_id,
        equal=True,
    )
    x, out = _rows(operation, input, output)
    described = _descriptions(
        operation,
        who.groups.size,
        input_offsets=input_offsets,
        send_sizes=send_sizes,
        output_offsets=output_offsets,
        recv_sizes=recv_sizes,
    )
    sharding = sharding_like(out)
    # What any of them varies over the result does, whose type is that of the output.
    operands = equally_varying(
        *(mapped.vary(whole(v), who.axes) for v in (x, out, *described))
    )
    exchange = _ragged_p.bind if who.are_native else _looked_up
    result = exchange(*operands, axes=who.axes, groups=who.groups)
    return result if sharding is None else jax.sharding.reshard(result, sharding)


def _rows(operation: str, input: Any, output: Any) -> tuple[Array, Array]:
    """The operands whose rows are read and written."""
    x = checks.operand(operation, "input", input, "biufc")
    out = checks.operand(operation, "output", output, "biufc")
    for parameter, value in (("input", x), ("output", out)):
        if not value.ndim:
            raise TypeError(
                f"{operation}: {parameter} must have rank 1 or more, got "
                f"{checks.describe(value)}"
            )
    x, out = checks.same_element_type(operation, input=x, output=out)
    if x.shape[1:] != out.shape[1:]:
        raise TypeError(
            f"{operation}: output must have the shape of the input but for the first "
            f"dimension, got {checks.describe(out)} for an input of "
            f"{checks.describe(x)}"
        )
    return x, out


def _descriptions(operation: str, members: int, **values: Any) -> list[Array]:
    """The offsets and sizes as int32 ``[members, slices]``."""
    found = [checks.operand(operation, p, v, "iu") for p, v in values.items()]
    shape = found[0].shape
    first = next(iter(values))
    if len(shape) not in (1, 2) or shape[0] != members:
        raise ValueError(
            f"{operation}: {first} must be of shape ({members},) or ({members}, u) for "
            f"the {members} members of a replica group, got {shape}"
        )
    for parameter, value in zip(values, found, strict=True):
        if (value.shape, value.dtype) != (shape, found[0].dtype):
            raise TypeError(
                f"{operation}: {parameter} must be of the type of {first}, "
                f"{checks.describe(found[0])}, got {checks.describe(value)}"
            )
    return [lax.convert_element_type(v, jnp.int32).reshape(members, -1) for v in found]


# The operation from its definition: of each row of the output, which row of all inputs
# it is. A pure gather, so that derivatives are exact, and rows that are sent several
# times are added up.


def _looked_up(
    x: Array,
    out: Array,
    input_offsets: Array,
    send_sizes: Array,
    output_offsets: Array,
    recv_sizes: Array,
    *,
    axes: Axes,
    groups: Groups,
) -> Array:
    who = Participants(axes, groups)
    sent = jnp.stack([input_offsets, send_sizes, output_offsets], 1)
    mine = blocks(sent, who, 0, 0)  # [sender, 3, slice]
    starts, sizes, places = (mine[:, i].reshape(-1) for i in range(3))
    sender = jnp.repeat(jnp.arange(groups.size, dtype=jnp.int32), mine.shape[2])
    if not x.size or not out.size or not sender.size:
        return out
    source, is_written = _sources(
        starts, sizes, places, sender, x.shape[0], out.shape[0]
    )
    rows = members(x, who).reshape(-1, *x.shape[1:])
    came = jnp.take(rows, source, axis=0, mode="clip")
    is_written = lax.broadcast_in_dim(is_written, out.shape, (0,))
    return lax.select(is_written, came, out)


def _sources(
    starts: Array, sizes: Array, places: Array, sender: Array, rows: int, count: int
) -> tuple[Array, Array]:
    """For each row of the output which row of the stacked inputs it is, and if any."""
    row = jnp.arange(count, dtype=jnp.int32)
    inside = row[:, None] - places[None]
    slot = lax.argmax((inside >= 0) & (inside < sizes[None]), 1, jnp.int32)
    at = row - places[slot]
    is_written = (at >= 0) & (at < sizes[slot])
    return sender[slot] * rows + starts[slot] + at, is_written


# The primitive: XLA's own operation where it has one.


def _by_lax(x: Array, out: Array, *described: Array, axes: Axes, groups: Groups) -> Any:
    # Slices to one member lie one behind the other.
    flat = [v.reshape(-1) for v in described]
    return lax.ragged_all_to_all(
        x, out, *flat, axis_name=axes, axis_index_groups=groups.for_lax
    )


_ragged_p = new_primitive("ragged_all_to_all")


@_ragged_p.def_abstract_eval
def _ragged_type(x: Any, out: Any, *described: Any, axes: Axes, groups: Groups) -> Any:
    return result_type_like(out, out.shape, out.dtype)


def _ragged_jvp(primals: Any, tangents: Any, *, axes: Axes, groups: Groups) -> Any:
    result = _ragged_p.bind(*primals, axes=axes, groups=groups)
    moved = (ad.instantiate_zeros(tangent) for tangent in tangents[:2])
    operands = equally_varying(*moved, *primals[2:])
    return result, _ragged_p.bind(*operands, axes=axes, groups=groups)


def _ragged_transpose(
    cotangent: Any, x: Any, out: Any, *described: Any, axes: Axes, groups: Groups
) -> list[Any]:
    """That of the definition: the one of jax.lax loses rows that were sent twice."""
    is_linear = [ad.is_undefined_primal(v) for v in (x, out)]
    avals = [
        v.aval if linear else jax.typeof(v)
        for v, linear in zip((x, out), is_linear, strict=True)
    ]
    if isinstance(cotangent, ad.Zero):
        found = [ad.Zero(aval) for aval in avals]
    else:
        zeros = varying_over(
            varying_axes(cotangent),
            *(jnp.zeros(aval.shape, cotangent.dtype) for aval in avals),
        )
        _, pull = jax.vjp(
            lambda x, out: _looked_up(x, out, *described, axes=axes, groups=groups),
            *zeros,
        )
        found = pull(cotangent)
    kept = [ct if linear else None for ct, linear in zip(found, is_linear, strict=True)]
    return kept + [None] * len(described)


def _ragged_batch(args: Any, dims: Any, *, axes: Axes, groups: Groups) -> Any:
    """One exchange of the rows of all, with as many slices more."""
    size = batch_size(args, dims)
    x, out, *described = batch_to_front(args, dims)
    index = jnp.arange(size, dtype=jnp.int32)[:, None, None]
    steps = (x.shape[1], 0, out.shape[1], 0)
    shifted = [
        jnp.moveaxis(v + index * step, 0, 1).reshape(v.shape[1], -1)
        for v, step in zip(described, steps, strict=True)
    ]
    result = _ragged_p.bind(
        x.reshape(-1, *x.shape[2:]),
        out.reshape(-1, *out.shape[2:]),
        *shifted,
        axes=axes,
        groups=groups,
    )
    return result.reshape(out.shape), 0


mlir.register_lowering(_ragged_p, mlir.lower_fun(_by_lax, multiple_results=False))
mlir.register_lowering(
    _ragged_p, mlir.lower_fun(_looked_up, multiple_results=False), platform="cpu"
)
ad.primitive_jvps[_ragged_p] = _ragged_jvp
ad.primitive_transposes[_ragged_p] = _ragged_transpose
batching.primitive_batchers[_ragged_p] = _ragged_batch
