"""The primitive behind `xlaops.ffi.op`: a call of a handler that has a reference.

Batching, derivatives and platforms without a handler go by the reference, a JAX
function of the same values. How a batch and a division among devices reach the handler
is decided while lowering, so that other platforms batch the reference and know nothing
of it.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from ..core import checks, compat, primitive
from ..core.compat import ad, batching, mlir
from . import sharding
from .attributes import Attributes

VmapMethod: TypeAlias = Literal[
    "sequential", "sequential_unrolled", "broadcast_all", "expand_dims", "ref"
]
# Shape and element type of an array.
Type: TypeAlias = tuple[tuple[Any, ...], Any]
# One level of batching: its size, and which operands it is the first dimension of.
Level: TypeAlias = tuple[Any, tuple[bool, ...]]


@dataclasses.dataclass(frozen=True, eq=False)
class Definition:
    """What an operation is, whatever it is called with.

    Attributes:
        name: how messages call it.
        targets: by JAX's name of a platform the target registered for it.
        reference: the same in JAX; None if there is none.
        vmap: how the handler is given a batch.
        rule: how the call is divided among devices; None: it is not.
        may_gather: whether XLA may gather the operands onto every device.
        has_side_effect: whether calls must stay though their results are not used.
        scratch: the types of scratch results, by the operands' types and attributes.
    """

    name: str
    targets: Mapping[str, str]
    reference: Callable[..., Any] | None
    vmap: VmapMethod | None
    rule: sharding.Rule | None
    may_gather: bool
    has_side_effect: bool
    scratch: Callable[[Any, Sequence[Type], Attributes], tuple[Type, ...]]

    def __repr__(self) -> str:
        return self.name


def call(operands: Sequence[Array], **params: Any) -> list[Array]:
    """The results of a call, in a program or as they are.

    Args:
        operands: arrays.
        **params: those of the primitive: ``definition``; ``tree``, the structure of the
            reference's arguments; ``attributes``; ``results`` and ``scratch``, as
            `Type`; ``aliases``, pairs of an operand and the result that takes its
            memory; ``batch``, the levels of batching, outermost first.
    """
    definition: Definition = params["definition"]
    if any(map(is_explicit, operands)) and definition.rule is None:
        # The types of the results say how they are split; jax.lax has those rules.
        if definition.reference is None:
            raise NotImplementedError(
                f"{definition.name}: sharding must be a rule in a mesh with Explicit "
                f"axes, since this was made with ref=None"
            )
        if definition.has_side_effect:
            raise _must_be_manual(definition)
        known = ("definition", "tree", "attributes", "results", "batch")
        return _reference(**{name: params[name] for name in known})(*operands)
    return _bind(*primitive.equally_varying(*operands), **params)


def _must_be_manual(definition: Definition) -> NotImplementedError:
    return NotImplementedError(
        f"{definition.name}: a call with side effects must be made inside "
        f"jax.shard_map in a program that XLA divides among devices"
    )


def _bind(*operands: Array, definition: Definition, **params: Any) -> list[Array]:
    primitive = _call if definition.rule is None else _divisible_call
    return primitive.bind(*operands, definition=definition, **params)


_call = compat.new_primitive("foreign_call")
# One that the partitioner may divide. It must know the devices while it is lowered, so
# that such programs are lowered anew for other devices.
_divisible_call = compat.new_primitive("divisible_foreign_call")
compat.needs_devices(_divisible_call)


def _prefixed(types: Sequence[Type], batch: Sequence[Level]) -> list[Type]:
    sizes = tuple(size for size, _ in batch)
    return [((*sizes, *shape), dtype) for shape, dtype in types]


def _unbatched(index: int, shape: Any, batch: Sequence[Level]) -> Any:
    return shape[sum(mask[index] for _, mask in batch) :]


def _types(
    *avals: Any,
    definition: Definition,
    results: tuple[Type, ...],
    scratch: tuple[Type, ...],
    batch: tuple[Level, ...],
    **_: Any,
) -> Any:
    for what, given in (("result", results), ("scratch", scratch)):
        for shape, dtype in _prefixed(given, batch):
            checks.addressable(definition.name, what, shape, dtype)
    types = [
        compat.result_type_like(avals[0], shape, dtype)
        if avals
        else compat.ShapedArray(shape, dtype)
        for shape, dtype in _prefixed(results, batch)
    ]
    mesh = next((a.sharding.mesh for a in avals if _has_explicit_axes(a)), None)
    if mesh is not None and definition.rule is not None:
        shapes = [aval.shape for aval in avals]
        of_operands, of_results = _factors(definition, shapes, results, batch)
        axes = sharding.axes_of(of_operands, [aval.sharding.spec for aval in avals])
        types = [
            aval.update(
                sharding=NamedSharding(
                    mesh, PartitionSpec(*sharding.spec_of(factors, axes))
                )
            )
            for aval, factors in zip(types, of_results, strict=True)
        ]
    return types, {compat.FOREIGN_EFFECT} if definition.has_side_effect else set()


# The reference


def _reference(
    definition: Definition,
    tree: Any,
    attributes: Attributes,
    results: tuple[Type, ...],
    batch: tuple[Level, ...],
) -> Callable[..., list[Array]]:
    """The reference as a function of flat operands, batched."""
    function = definition.reference
    assert function is not None

    def run(*operands: Any) -> list[Array]:
        arguments = jax.tree.unflatten(tree, operands)
        given = jax.tree.leaves(function(*arguments, **attributes.values))
        leaves = [strong(definition.name, y) for y in given]
        types = [(y.shape, y.dtype) for y in leaves]
        if types != list(results):
            raise TypeError(
                f"{definition.name}: ref must return {shown(results)}, "
                f"got {shown(types)}"
            )
        return leaves

    batched: Callable[..., list[Array]] = run
    for size, mask in reversed(batch):
        axes = tuple(0 if is_batched else None for is_batched in mask)
        batched = jax.vmap(batched, in_axes=axes, axis_size=size)
    return batched


def reference_of(params: Mapping[str, Any]) -> Callable[..., list[Array]] | None:
    """What a call with these parameters computes, as a JAX function of its operands.

    None if nothing but the handler is known.
    """
    if params["definition"].reference is None:
        return None
    known = ("definition", "tree", "attributes", "results", "batch")
    return _reference(**{name: params[name] for name in known})


def strong(operation: str, value: Any) -> Array:
    """A result of a reference as an array whose element type is settled."""
    if isinstance(value, Array) and jnp.issubdtype(value.dtype, jax.dtypes.extended):
        return value  # keys of random numbers
    try:
        array = jnp.asarray(value)
    except TypeError:
        raise TypeError(
            f"{operation}: ref must return arrays, got {type(value).__name__}"
        ) from None
    return lax.convert_element_type(array, array.dtype)


def shown(types: Sequence[Type]) -> str:
    """Types for a message."""
    texts = ", ".join(f"{dtype}{list(shape)}" for shape, dtype in types)
    return texts if len(types) == 1 else f"({texts})"


def _jvp(
    primals: Any,
    tangents: Any,
    *,
    definition: Definition,
    tree: Any,
    attributes: Attributes,
    results: Any,
    batch: Any,
    **params: Any,
) -> Any:
    known: dict[str, Any] = {
        "definition": definition,
        "tree": tree,
        "attributes": attributes,
        "results": results,
        "batch": batch,
    }
    if definition.reference is None:
        raise NotImplementedError(
            f"{definition.name}: derivatives are those of a reference, and this was "
            f"made with ref=None"
        )
    values = _bind(*primals, **known, **params)
    moving = [i for i, t in enumerate(tangents) if type(t) is not ad.Zero]

    def along(*moved: Array) -> list[Array]:
        operands = list(primals)
        for i, value in zip(moving, moved, strict=True):
            operands[i] = value
        return _reference(**known)(*operands)

    _, out = jax.jvp(
        along,
        tuple(primals[i] for i in moving),
        tuple(tangents[i] for i in moving),
    )
    # The reference of a value that some operand does not reach may vary over less.
    varying = frozenset().union(*map(compat.varying_axes, primals))
    float0 = jax.dtypes.float0
    return values, [
        ad.Zero(jax.typeof(y).to_tangent_aval())
        if t.dtype == float0
        else primitive.varying_over(varying, t)[0]
        for y, t in zip(values, out, strict=True)
    ]


def _batch(
    operands: Any, dims: Any, *, definition: Definition, batch: Any, **params: Any
) -> Any:
    size = next(
        x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None
    )
    moved = [
        x if d is None else batching.bdim_at_front(x, d, size)
        for x, d in zip(operands, dims, strict=True)
    ]
    mask = tuple(d is not None for d in dims)
    if definition.vmap is None:
        raise NotImplementedError(
            f"{definition.name}: vmap must be given to xlaops.ffi.op for jax.vmap"
        )
    batch = ((size, mask), *batch)
    if definition.vmap == "ref":
        known = {k: params[k] for k in ("tree", "attributes", "results")}
        results = _reference(definition, batch=batch, **known)(*moved)
    else:
        results = _bind(*moved, definition=definition, batch=batch, **params)
    return results, [0] * len(results)


# Lowering


def _lower(ctx: Any, *operands: Any, platform: str | None, **params: Any) -> Any:
    definition: Definition = params["definition"]
    has_reference = definition.reference is not None
    target = definition.targets.get(platform) if platform is not None else None
    if target is None:
        if not has_reference:
            where = platform or " or ".join(ctx.module_context.platforms)
            known = ", ".join(definition.targets) or "none"
            raise NotImplementedError(
                f"{definition.name}: has handlers for {known}, and was made with "
                f"ref=None, so it does not run on {where}"
            )
        return _lower_reference(ctx, *operands, **params)
    if compat.is_exported(ctx) and has_reference:
        # What jax.export writes is to run where this process's targets are not.
        return _lower_reference(ctx, *operands, **params)
    if compat.is_partitioned(ctx) and operands and not definition.may_gather:
        if definition.has_side_effect:
            # Neither the reference nor what JAX offers for parts would keep it.
            raise _must_be_manual(definition)
        if definition.rule is not None and not compat.is_partly_manual(ctx):
            return _lower_in_parts(ctx, *operands, **params)
        if has_reference:
            return _lower_reference(ctx, *operands, **params)
        raise NotImplementedError(
            f"{definition.name}: sharding must say how the call is divided among "
            f"devices, or 'replicate', in a program that XLA divides"
        )
    if params["batch"]:
        return mlir.lower_fun(_unbatch, multiple_results=True)(ctx, *operands, **params)
    types = [
        compat.ShapedArray(shape, dtype)
        for shape, dtype in (*params["results"], *params["scratch"])
    ]
    rule = jax.ffi.ffi_lowering(
        target,
        has_side_effect=definition.has_side_effect,
        operand_output_aliases=dict(params["aliases"]),
        backend_config=compat.dictionary_of(params["attributes"].text),
    )
    values = rule(ctx.replace(avals_out=types), *operands)
    return list(values)[: len(params["results"])]


def _lower_reference(
    ctx: Any,
    *operands: Any,
    definition: Definition,
    tree: Any,
    attributes: Attributes,
    results: Any,
    batch: Any,
    **_: Any,
) -> Any:
    run = _reference(definition, tree, attributes, results, batch)
    return mlir.lower_fun(run, multiple_results=True)(ctx, *operands)


def _unbatch(
    *operands: Array, definition: Definition, batch: Any, **params: Any
) -> list[Array]:
    """Calls of the handler for operands that have batch dimensions."""
    if definition.vmap in ("sequential", "sequential_unrolled"):
        (size, mask), *rest = batch

        def body(_: Any, moved: Any) -> Any:
            values = iter(moved)
            merged = [
                next(values) if is_batched else x
                for x, is_batched in zip(operands, mask, strict=True)
            ]
            return None, _bind(
                *merged, definition=definition, batch=tuple(rest), **params
            )

        batched = [x for x, m in zip(operands, mask, strict=True) if m]
        unroll = definition.vmap == "sequential_unrolled"
        return lax.scan(body, None, batched, length=size, unroll=unroll)[1]

    expand = definition.vmap == "expand_dims"
    # A result has the whole batch, and so must have an operand whose memory it takes.
    shared = {operand for operand, _ in params["aliases"]}
    whole = []
    for i, x in enumerate(operands):
        present = [level for level, (_, mask) in enumerate(batch) if mask[i]]
        sizes = [
            1 if expand and not mask[i] and i not in shared else size
            for size, mask in batch
        ]
        inner = x.shape[len(present) :]
        dims = (*present, *range(len(batch), len(batch) + len(inner)))
        whole.append(lax.broadcast_in_dim(x, (*sizes, *inner), dims))
    for name in ("results", "scratch"):
        params[name] = tuple(_prefixed(params[name], batch))
    return _bind(*whole, definition=definition, batch=(), **params)


# Programs on several devices


def _factors(
    definition: Definition, shapes: Sequence[Any], results: Any, batch: Any
) -> tuple[list[sharding.Factors], list[sharding.Factors]]:
    """What each dimension is split into, batch dimensions among them."""
    assert definition.rule is not None
    ranks = [len(_unbatched(i, shape, batch)) for i, shape in enumerate(shapes)]
    of_operands, of_results = definition.rule.factors(
        definition.name, ranks, [len(shape) for shape, _ in results]
    )
    # No name in a rule can be one of these.
    levels = [f"batch {level}" for level in range(len(batch))]
    return (
        [
            (*(n for n, (_, m) in zip(levels, batch, strict=True) if m[i]), *factors)
            for i, factors in enumerate(of_operands)
        ],
        [(*levels, *factors) for factors in of_results],
    )


def _part_of(params: dict[str, Any], specs: Sequence[Any], sizes: Any) -> Callable:
    """The call on one device's part of operands.

    Args:
        params: those of the whole call.
        specs: how the results are split.
        sizes: by name those of the mesh's axes.
    """
    definition, batch = params["definition"], params["batch"]

    def run(*operands: Array) -> list[Array]:
        shapes = [x.shape for x in operands]
        local = tuple(
            (next(s[_place(batch, level, i)] for i, s in enumerate(shapes) if m[i]), m)
            for level, (_, m) in enumerate(batch)
        )
        whole = _prefixed(params["results"], batch)
        results = tuple(
            (_split(shape, spec, sizes)[len(batch) :], dtype)
            for (shape, dtype), spec in zip(whole, specs, strict=True)
        )
        types = [
            (_unbatched(i, x.shape, batch), x.dtype) for i, x in enumerate(operands)
        ]
        scratch = definition.scratch(params["tree"], types, params["attributes"])
        own = {**params, "batch": local, "results": results, "scratch": scratch}
        return _bind(*primitive.equally_varying(*operands), **own)

    return run


def _place(batch: Any, level: int, operand: int) -> int:
    return sum(mask[operand] for _, mask in batch[:level])


def _split(shape: Sequence[int], spec: Any, sizes: Any) -> tuple[int, ...]:
    counts = [1] * len(shape)
    for d, axes in enumerate(spec):
        for axis in axes or ():
            counts[d] *= sizes[axis]
    return tuple(-(-n // count) for n, count in zip(shape, counts, strict=True))


def is_explicit(x: Array) -> bool:
    """Whether the type of an array says how it is split over a mesh."""
    return _has_explicit_axes(jax.typeof(x))


def _has_explicit_axes(aval: Any) -> bool:
    return AxisType.Explicit in aval.sharding.mesh.axis_types


def _lower_in_parts(ctx: Any, *operands: Any, **params: Any) -> Any:
    """A call that XLA's partitioner divides by the rule."""
    # Not needed by programs of one device, and slow to import.
    from jax.experimental.custom_partitioning import custom_partitioning

    definition, batch = params["definition"], params["batch"]
    shapes = [aval.shape for aval in ctx.avals_in]
    of_operands, of_results = _factors(definition, shapes, params["results"], batch)

    def whole(*operands: Array) -> tuple[Array, ...]:
        return tuple(_bind(*operands, **params))

    def axes_at(operands: Any) -> dict[str, sharding.Axes]:
        # Without Shardy, the sharding of an operand may be unknown; an error here would
        # then end the process.
        specs = [getattr(x.sharding, "spec", ()) for x in operands]
        return sharding.axes_of(of_operands, specs)

    def shardings(mesh: Any, axes: Any, factors: Any) -> tuple[NamedSharding, ...]:
        return tuple(
            NamedSharding(mesh, PartitionSpec(*sharding.spec_of(f, axes)))
            for f in factors
        )

    def infer(mesh: Any, operands: Any, _: Any) -> tuple[NamedSharding, ...]:
        return shardings(mesh, axes_at(operands), of_results)

    def partition(mesh: Any, operands: Any, _: Any) -> Any:
        axes = axes_at(operands)
        run = _part_of(
            params, [sharding.spec_of(f, axes) for f in of_results], mesh.shape
        )

        def part(*operands: Array) -> tuple[Array, ...]:
            return tuple(run(*operands))

        out, into = (shardings(mesh, axes, f) for f in (of_results, of_operands))
        return mesh, part, out, into

    divided = custom_partitioning(whole)
    divided.def_partition(
        partition=partition,
        infer_sharding_from_operands=infer,
        **sharding.sdy_rule(of_operands, of_results),
    )
    lowered = mlir.lower_fun(lambda *xs: divided(*xs), multiple_results=True)
    # The partitioner knows what types say of shardings in a mesh with Explicit axes.
    plain = {
        name: [compat.ShapedArray(a.shape, a.dtype) for a in getattr(ctx, name)]
        for name in ("avals_in", "avals_out")
    }
    return lowered(ctx.replace(**plain), *operands)


PLATFORMS = ("cpu", "cuda", "rocm")


def _define(primitive: Any) -> None:
    primitive.multiple_results = True
    primitive.def_effectful_abstract_eval(_types)
    ad.primitive_jvps[primitive] = _jvp
    batching.primitive_batchers[primitive] = _batch
    mlir.register_lowering(primitive, functools.partial(_lower, platform=None))
    for platform in PLATFORMS:
        rule = functools.partial(_lower, platform=platform)
        mlir.register_lowering(primitive, rule, platform=platform)


_define(_call)
_define(_divisible_call)
