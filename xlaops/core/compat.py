"""The only module that touches version-dependent or non-public parts of JAX.

`jax.extend` and `jax.interpreters` are importable by anyone but carry no promise of
stability, so the rest of xlaops takes them from here. Each entry says why it is needed
and until when. Last checked with JAX 0.10.2 and 0.12.0.1.
"""

import functools

import jax
from jax.core import ShapedArray as ShapedArray
from jax.core import Tracer as Tracer
from jax.interpreters import ad as ad
from jax.interpreters import batching as batching
from jax.interpreters import mlir as mlir
from jax.interpreters import xla as xla

# A primitive of our own is the only way to emit a StableHLO operation that jax.lax has
# no function for. jax.extend exports these names, but its package imports Pallas and so
# adds 50 ms, a twentieth of `import jax`, to the import of xlaops: they are taken from
# where jax.extend takes them, and from it should they move. Needed for as long as JAX
# has no public primitive API.
try:
    from jax._src.core import Primitive as Primitive
    from jaxlib.mlir import ir as ir
    from jaxlib.mlir.dialects import stablehlo as stablehlo
except ImportError:  # pragma: no cover
    from jax.extend.core import Primitive as Primitive
    from jax.extend.mlir import ir as ir
    from jax.extend.mlir.dialects import stablehlo as stablehlo

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


def new_primitive(name: str) -> Primitive:
    """A primitive ``xlaops_<name>`` of one result, which XLA also runs eagerly."""
    primitive = Primitive(f"xlaops_{name}")
    primitive.def_impl(functools.partial(xla.apply_primitive, primitive))
    return primitive


def varying_axes(value: jax.Array) -> frozenset[str]:
    """The manual mesh axes over which ``value`` differs between devices.

    ``manual_axis_type`` is an undocumented attribute of the type. Needed until JAX
    documents one.
    """
    return jax.typeof(value).manual_axis_type.varying


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


def runs_as_lowered(ctx: mlir.LoweringRuleContext) -> bool:
    """Whether this process's devices run the program being lowered as it stands.

    True in a program for one device and in one that is manual over its whole mesh
    (``shard_map``, ``pmap``). False where XLA will partition it, because a custom call
    is opaque to the partitioner, which gathers its operands onto every device; and
    false for ``jax.export``, because a custom call of ours would tie the artifact to
    this process.

    A lowering rule is told neither by a public attribute. Needed for as long as JAX
    offers no way to say how a custom call is partitioned without a gather.
    """
    module = ctx.module_context
    if module.lowering_parameters.for_export:
        return False
    axes = module.axis_context
    if isinstance(axes, mlir.SPMDAxisContext):
        sizes = axes.mesh.shape
        return all(sizes[name] == 1 for name in sizes if name not in axes.manual_axes)
    return axes.num_devices == 1
