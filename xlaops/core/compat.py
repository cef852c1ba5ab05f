"""The only module that touches version-dependent or non-public parts of JAX.

`jax.extend` and `jax.interpreters` are importable by anyone but carry no promise of
stability, so the rest of xlaops takes them from here. Each entry says why it is needed
and until when. Last checked with JAX 0.10.2 and 0.12.0.1.
"""

import contextlib
import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import config
from jax._src import dispatch as _dispatch
from jax.core import ShapedArray as ShapedArray
from jax.core import Tracer as Tracer
from jax.core import eval_jaxpr as eval_jaxpr
from jax.interpreters import ad as ad
from jax.interpreters import batching as batching
from jax.interpreters import mlir as mlir
from jax.interpreters import partial_eval as partial_eval
from jax.interpreters import xla as xla

# A primitive of our own is the only way to emit a StableHLO operation that jax.lax has
# no function for. jax.extend exports these names, but its package imports Pallas and so
# adds 50 ms, a twentieth of `import jax`, to the import of xlaops: they are taken from
# where jax.extend takes them, and from it should they move. Needed for as long as JAX
# has no public primitive API.
try:
    from jax._src.core import Literal as Literal
    from jax._src.core import Primitive as Primitive
    from jax._src.core import unsafe_get_axis_names as _axis_names
    from jaxlib.mlir import ir as ir
    from jaxlib.mlir.dialects import stablehlo as stablehlo
except ImportError:  # pragma: no cover
    from jax.extend.core import Literal as Literal
    from jax.extend.core import Primitive as Primitive
    from jax.extend.core import (
        unsafe_get_axis_names_DO_NOT_USE as _axis_names,  # pyright: ignore
    )
    from jax.extend.mlir import ir as ir
    from jax.extend.mlir.dialects import stablehlo as stablehlo

# The effect of a foreign call that must not be removed. That of jax.ffi's own calls is
# private too, and on JAX 0.10 it is refused by jax.checkpoint; the tables of what each
# transformation allows have no public form. Needed for as long as that is so.
from jax._src import effects as _effects

# See needs_devices.
from jax._src.dispatch import (
    prim_requires_devices_during_lowering as _lowered_for_devices,
)

# See drawn_where_written.
from jax._src.interpreters.ad import primitive_linearizations as _linearizations


class _ForeignEffect(_effects.Effect):
    def __str__(self) -> str:
        return "foreign call"


FOREIGN_EFFECT = _ForeignEffect()
for _table in (
    "lowerable_effects",
    "control_flow_allowed_effects",
    "remat_allowed_effects",
    "custom_derivatives_allowed_effects",
    "partial_eval_kept_effects",
):
    if hasattr(_effects, _table):
        getattr(_effects, _table).add_type(_ForeignEffect)

# XLA of jaxlib 0.10 divides while folding constants without looking for a zero divisor:
# an integer x / 0 or x % 0 whose operands are both compile-time constants ends the
# process (SIGFPE). Gone in jaxlib 0.12. Drop when 0.12 is the oldest supported.
FOLDING_DIVIDES_BY_ZERO: bool = jax.__version_info__ < (0, 12)

# XLA of jaxlib 0.10 folds the leading zeros of a constant negative number of a signed
# type below 64 bits to a negative count. Gone in jaxlib 0.12. Drop when 0.12 is the
# oldest supported.
FOLDED_CLZ_COUNTS_SIGN_COPIES: bool = jax.__version_info__ < (0, 12)

# XLA of jaxlib 0.10 folds a bit-cast of constants to elements of less than eight bits
# to the wrong ones. Gone in jaxlib 0.12. Drop when 0.12 is the oldest supported.
FOLDED_BITCAST_TO_PARTS_OF_BYTES_IS_WRONG: bool = jax.__version_info__ < (0, 12)

# XLA:CPU of jaxlib 0.10 computes some convolutions with negative padding wrong. Gone in
# jaxlib 0.12. Drop when 0.12 is the oldest supported.
CROPPED_CONVOLUTION_IS_WRONG: bool = jax.__version_info__ < (0, 12)

# XLA of jaxlib 0.10 merges the slice of a slice at the sum of the starts, and clamps
# only that sum: slices of which the first one is moved back read the wrong elements.
# Gone in jaxlib 0.12. Drop when 0.12 is the oldest supported.
SLICES_MERGE_UNCLAMPED: bool = jax.__version_info__ < (0, 12)

# XLA of jaxlib 0.10 folds the power of -1 with a negative exponent to 0. Gone in jaxlib
# 0.12. Drop when 0.12 is the oldest supported.
FOLDED_POWER_IS_WRONG: bool = jax.__version_info__ < (0, 12)

# In XLA:CPU of jaxlib 0.10 a callback waits for a free thread to get at an argument of
# 100 KiB or more. On several devices all threads may be waiting for each other in a
# collective, which then ends the process. Gone in jaxlib 0.12. Drop when 0.12 is the
# oldest supported.
CALLBACK_WAITS_FOR_LARGE_ARGUMENTS: bool = jax.__version_info__ < (0, 12)


def new_primitive(name: str) -> Primitive:
    """A primitive ``xlaops_<name>`` of one result, which XLA also runs eagerly."""
    primitive = Primitive(f"xlaops_{name}")
    primitive.def_impl(functools.partial(xla.apply_primitive, primitive))
    return primitive


def needs_devices(primitive: Primitive) -> None:
    """Has programs that hold the primitive lowered for the devices they will run on.

    What lowers to `jax.experimental.custom_partitioning` needs it, as that does, and
    there is no public way to say so.
    """
    _lowered_for_devices.add(primitive)


def drawn_where_written(
    primitive: Primitive, rule: Callable[..., tuple[Any, Any, Callable[..., Any]]]
) -> None:
    """Has a primitive that is no function of its operands run once where it stands.

    Reverse derivatives of a loop move what depends on nothing in it out of the loop,
    and `jax.checkpoint` runs again what it has not kept. JAX leaves alone only what has
    an effect, which it refuses in both, or what has rules of its own. How they are
    called is undocumented, and differs for linearizations between JAX 0.10 and 0.12.
    Needed until JAX has effects that are neither moved nor repeated.

    Args:
      primitive: the primitive, of one result.
      rule: from its operands and parameters to its result, residuals, and a function
        from these and the operands' tangents, with zeros among them, to that of the
        result.
    """

    # Not known before the loop runs.
    def stage(trace: Any, *tracers: Any, **params: Any) -> Any:
        staged = tuple(map(trace.instantiate_const, tracers))
        return trace.default_process_primitive(primitive, staged, params)

    # Known where the operands are, and kept for the second run.
    def keep(_: Any, unknown: Any, instantiated: Any, equation: Any) -> Any:
        if not any(unknown):
            return equation, None, [False], [False], []
        missing = [
            x
            for x, is_there in zip(equation.invars, instantiated, strict=True)
            if not is_there and not isinstance(x, Literal)
        ]
        return None, equation, [True], [True], missing

    # Linearized by its derivative it would have to be known, in spite of `stage`.
    def linearize(_: Any, nonzero: Any, *operands: Any, **params: Any) -> Any:
        result, residuals, tangent_of = rule(*operands, **params)
        if jax.__version_info__ < (0, 12):
            return result, True, residuals, tangent_of
        return (
            result,
            True,
            residuals,
            None,
            lambda residuals, _, *tangents: tangent_of(residuals, *tangents),
        )

    partial_eval.custom_partial_eval_rules[primitive] = stage
    partial_eval.partial_eval_jaxpr_custom_rules[primitive] = keep
    _linearizations[primitive] = linearize


def bind_equation(equation: Any, inputs: Sequence[Any]) -> list[Any]:
    """The results of one equation of a jaxpr for the given inputs.

    ``get_bind_params`` turns jaxprs among the parameters into the functions that some
    primitives are bound with. `jax.core.eval_jaxpr` does the same, but for a whole
    jaxpr: needed until JAX has a public way to replace some equations of one.
    """
    primitive = equation.primitive
    params = primitive.get_bind_params(equation.params)
    results = primitive.bind(*inputs, **params)
    return list(results) if primitive.multiple_results else [results]


def scan_counts(params: Mapping[str, Any]) -> tuple[int, int]:
    """How many constants and how many carried values an equation of a scan has.

    JAX 0.12 holds them as trees of its own. Needed until there is a public way to read
    the parameters of a loop.
    """
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carries, _ = params["ft_in"].unpack()
    return len(consts), len(carries)


def scan_operands(
    params: Mapping[str, Any], operands: Sequence[Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """The operands of the equation of a scan: constants, carry and what it scans."""
    consts, carry = scan_counts(params)
    return (
        list(operands[:consts]),
        list(operands[consts : consts + carry]),
        list(operands[consts + carry :]),
    )


def scalar_type(dtype: jax.typing.DTypeLike) -> ShapedArray:
    """The type of a scalar that is the same on all devices."""
    return ShapedArray((), dtype)


@functools.cache
def _attribute_context() -> ir.Context:
    context = ir.Context()
    stablehlo.register_dialect(context)
    return context


def attribute_of(value: Any) -> str:
    """The text of the MLIR attribute that stands for a value.

    ``mlir.ir_attribute`` is undocumented. Needed for as long as primitives of our own
    write attributes.
    """
    with _attribute_context(), ir.Location.unknown():
        return str(mlir.ir_attribute(value))


def parsed_dictionary(text: str) -> str:
    """The text of a dictionary of MLIR attributes, in MLIR's own spelling.

    Raises ValueError with the reason if it is no such text, or one that would end the
    process: MLIR's parser is recursive, and XLA writes out each element of an array.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"it is not text that UTF-8 has: {error}") from None
    if _nesting(text) > _LARGEST_NESTING:
        raise ValueError(f"it is nested deeper than {_LARGEST_NESTING} levels")
    with _attribute_context():
        try:
            attribute = ir.Attribute.parse(text)
        except ir.MLIRError as error:
            # The last line says what was expected, behind the place.
            reason = str(error).strip().splitlines()[-1].rpartition(": ")[2]
            raise ValueError(reason) from None
    if not isinstance(attribute, ir.DictAttr):
        raise ValueError("it is another attribute")
    if _elements(attribute) > _MOST_ELEMENTS:
        raise ValueError(f"it has arrays of more than {_MOST_ELEMENTS} elements")
    return str(attribute)


_LARGEST_NESTING = 100
_MOST_ELEMENTS = 2**28


def _nesting(text: str) -> int:
    """How deep brackets are nested, those in strings and comments left out."""
    depth = deepest = 0
    for bracket in re.findall(r"[(\[{<)\]}]|(?<!-)>(?!=)", _NO_CODE.sub("", text)):
        depth += 1 if bracket in "([{<" else -1
        deepest = max(deepest, depth)
    return deepest


_NO_CODE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')


def _elements(attribute: ir.Attribute) -> int:
    """How many elements arrays in an attribute have, though all may be written once."""
    if isinstance(attribute, ir.DictAttr):
        return sum(_elements(entry.attr) for entry in attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return sum(map(_elements, attribute))
    if isinstance(attribute, ir.DenseElementsAttr):
        return math.prod(ir.ShapedType(attribute.type).shape)
    return 0


def dictionary_of(text: str) -> dict[str, ir.Attribute]:
    """The entries of the text of a dictionary, as attributes of the current context.

    Needed for as long as primitives of our own write attributes.
    """
    attribute = ir.Attribute.parse(text)
    return {entry.name: entry.attr for entry in ir.DictAttr(attribute)}


def varying_axes(value: jax.Array) -> frozenset[str]:
    """The manual mesh axes over which ``value`` differs between devices.

    ``manual_axis_type`` is an undocumented attribute of the type. Needed until JAX
    documents one.
    """
    return jax.typeof(value).manual_axis_type.varying


def axes_in_scope() -> tuple[Any, ...]:
    """The names of all mapped axes, of meshes and of `jax.vmap`, outermost first.

    No public function tells the names that `jax.vmap` was given. Needed until one does.
    """
    return tuple(_axis_names())


def check_vma() -> bool:
    """Whether types say over which manual axes values vary, as `shard_map` was told.

    No public function tells; what does, the type of an axis index, leaves an equation
    behind in the program. Needed until one does.
    """
    return config._check_vma.value


def effects_barrier() -> None:
    """`jax.effects_barrier`, after whose error programs with effects run again.

    JAX 0.10 keeps the token of a program that failed and gives it to the next one: on
    several devices, all that follow then end with the same error. That of 0.12 forgets
    it here, and raises a group where devices failed differently, of which this raises
    the first. Drop the former when 0.12 is the oldest supported.
    """
    try:
        jax.effects_barrier()
    except jax.errors.JaxRuntimeError:
        _dispatch.runtime_tokens.clear()
        raise
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


def without_mesh() -> contextlib.AbstractContextManager[Any]:
    """A context in which no mesh is set, so that what is traced does not hold it.

    ``use_abstract_mesh`` is public, and takes an empty mesh without saying so. Needed
    for as long as a jaxpr remembers the mesh that it was traced under.
    """
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ()))


def without_check_vma() -> contextlib.AbstractContextManager[Any]:
    """A context in which types do not say over which manual axes a value varies.

    Within ``shard_map(check_vma=True)`` a collective over an axis of `jax.vmap` ends in
    a bare AssertionError, unless the check is off while it is traced. Needed until it
    does not.
    """
    return config._check_vma(False)


def result_type_like(
    aval: ShapedArray, shape: tuple[int, ...], dtype: jax.typing.DTypeLike
) -> ShapedArray:
    """A type of the given shape and dtype that varies over the axes that ``aval`` does.

    ``update`` keeps the varying axes; a plain ``ShapedArray`` would drop them, and the
    gradient inside ``shard_map`` would then be refused. It is undocumented.
    """
    if aval.shape == shape:
        return aval.update(dtype=dtype, weak_type=False)
    # Within an Explicit mesh the sharding of another rank does not fit the new shape.
    mesh_sharding = aval.sharding.update(spec=(None,) * len(shape))
    return aval.update(
        shape=shape, dtype=dtype, weak_type=False, sharding=mesh_sharding
    )


def is_partitioned(ctx: mlir.LoweringRuleContext) -> bool:
    """Whether XLA divides the program being lowered among devices by itself.

    False in a program for one device and in one that is manual over its whole mesh
    (``shard_map``, ``pmap``). A lowering rule is told by no public attribute; needed
    until there is one.
    """
    axes = ctx.module_context.axis_context
    if isinstance(axes, mlir.SPMDAxisContext):
        sizes = axes.mesh.shape
        return any(sizes[name] != 1 for name in sizes if name not in axes.manual_axes)
    return axes.num_devices != 1


def mesh_positions(ctx: mlir.LoweringRuleContext, axes: Sequence[Any]) -> np.ndarray:
    """``[n, m]``: the devices at each index along manual axes, as XLA counts them.

    Row i has those at index i, row-major along the given axes, one for each place along
    all other axes of the mesh. XLA counts the positions in the mesh. A lowering rule is
    told the mesh by no public attribute; needed until there is one.
    """
    context: Any = ctx.module_context.axis_context
    shape = context.mesh.shape
    names = list(shape)
    order = [names.index(axis) for axis in axes]
    rest = [i for i in range(len(names)) if i not in order]
    ids = np.arange(math.prod(shape.values())).reshape(list(shape.values()))
    count = math.prod(shape[axis] for axis in axes)
    return ids.transpose(order + rest).reshape(count, -1)


def collective_broadcast(x: Any, groups: np.ndarray) -> Any:
    """StableHLO's operation among partitions; its binding differs between versions.

    That of jaxlib 0.12 takes and returns several operands. Drop the other form when
    0.12 is the oldest supported.
    """
    attributes: dict[str, Any] = {
        "replica_groups": ir.DenseIntElementsAttr.get(groups.astype(np.int64)),
        # With a channel between devices, ids count partitions.
        "channel_handle": stablehlo.ChannelHandle.get(1, 1),
    }
    if jax.__version_info__ < (0, 12):
        return stablehlo.CollectiveBroadcastOp(x, **attributes).result
    return stablehlo.CollectiveBroadcastOp([x], **attributes).results[0]


def runs_as_lowered(ctx: mlir.LoweringRuleContext) -> bool:
    """Whether this process's devices run the program being lowered as it stands.

    False where XLA will partition it, because a custom call is opaque to the
    partitioner, which gathers its operands onto every device; and false for
    ``jax.export``, because a custom call of ours would tie the artifact to this
    process.

    Needed for as long as JAX offers no way to say how a custom call is partitioned
    without a gather.
    """
    return not is_exported(ctx) and not is_partitioned(ctx)


def is_exported(ctx: mlir.LoweringRuleContext) -> bool:
    """Whether the program being lowered is one that `jax.export` writes.

    A lowering rule is told by no public attribute; needed until there is one.
    """
    return ctx.module_context.lowering_parameters.for_export


def is_partly_manual(ctx: mlir.LoweringRuleContext) -> bool:
    """Whether the program is manual over some axes of its mesh, but not over all.

    A lowering rule is told by no public attribute; needed until there is one.
    """
    axes = ctx.module_context.axis_context
    return isinstance(axes, mlir.SPMDAxisContext) and bool(axes.manual_axes)
