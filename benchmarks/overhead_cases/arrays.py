"""Conversions, constants, and operations that arrange elements."""

import jax.numpy as jnp
import numpy as np
from jax import lax

import xlaops as xo

from .case import Case


def _constants() -> tuple[Case, ...]:
    """The names that constants of each rank have in the header."""

    def case(title: str, name: str, shape: tuple[int, ...]) -> Case:
        values = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        return Case(
            f"constant{name}",
            title,
            (),
            lambda: xo.constant(values),
            # Of values that are known jax.lax has only what converts them.
            lambda: lax.convert_element_type(values, np.int32),
            lambda: jnp.asarray(values),
        )

    return (
        case("Constant", "", (8, 8)),
        case("ConstantLiteral", " of a literal", (3, 5)),
        case("ConstantR0", " of rank 0", ()),
        case("ConstantR1", " of rank 1", (8,)),
        case("ConstantR2", " of rank 2", (4, 2)),
        case("ConstantR3FromArray3D", " of rank 3", (2, 3, 4)),
        case("ConstantR4FromArray4D", " of rank 4", (2, 3, 1, 4)),
    )


ARRAYS = (
    Case(
        "convert_element_type",
        "ConvertElementType",
        ("f32[8,8]",),
        lambda x: xo.convert_element_type(x, "s32"),
        lambda x: lax.convert_element_type(x, "int32"),
        lambda x: jnp.astype(x, "int32"),
    ),
    Case(
        "convert_element_type c64",
        "ConvertElementType",
        ("c64[8,8]",),
        lambda x: xo.convert_element_type(x, np.float32),
        lax.real,  # what jax.lax converts to as well, with a warning
        jnp.real,
        emits=("stablehlo.real",),
    ),
    Case(
        "bitcast_convert_type",
        "BitcastConvertType",
        ("f32[8,8]",),
        lambda x: xo.bitcast_convert_type(x, "u8"),
        lambda x: lax.bitcast_convert_type(x, np.uint8),
        lambda x: x.view(np.uint8),
    ),
    Case(
        "stochastic_convert_type",
        "StochasticConvertType",
        ("f32[8,8]", "u32[8,8]"),
        lambda x, bits: xo.stochastic_convert_type(x, bits, "bf16"),
        lambda x, bits: lax.stochastic_convert_type(x, bits, jnp.bfloat16),
        "jax.numpy has no function for it",
    ),
    Case(
        "reduce_precision",
        "ReducePrecision",
        ("f32[8,8]",),
        lambda x: xo.reduce_precision(x, 5, 10),
        lambda x: lax.reduce_precision(x, 5, 10),
        "jax.numpy has no function for it",
    ),
    Case(
        "broadcast",
        "Broadcast",
        ("f32[8,8]",),
        lambda x: xo.broadcast(x, (3,)),
        lambda x: lax.broadcast(x, (3,)),
        lambda x: jnp.broadcast_to(x, (3, 8, 8)),
    ),
    Case(
        "broadcast_in_dim",
        "BroadcastInDim",
        ("f32[8]",),
        lambda x: xo.broadcast_in_dim(x, (8, 8), (1,)),
        lambda x: lax.broadcast_in_dim(x, (8, 8), (1,)),
        lambda x: jnp.broadcast_to(x, (8, 8)),
    ),
    Case(
        "iota",
        "Iota",
        (),
        lambda: xo.iota("s32[64]", 0),
        lambda: lax.iota("int32", 64),
        lambda: jnp.arange(64, dtype="int32"),
    ),
    Case(
        "iota of rank 2",
        "Iota",
        (),
        lambda: xo.iota(xo.Shape("f32", (8, 8)), 1),
        lambda: lax.broadcasted_iota("float32", (8, 8), 1),
        "jax.numpy has it along one dimension",
    ),
    *_constants(),
    Case(
        "concat_in_dim",
        "ConcatInDim",
        (["f32[8,8]", "f32[8,8]"],),
        lambda xs: xo.concat_in_dim(xs, 0),
        lambda xs: lax.concatenate(xs, 0),
        lambda xs: jnp.concatenate(xs, 0),
    ),
    Case(
        "pad",
        "Pad",
        ("f32[8,8]", "f32[]"),
        lambda x, value: xo.pad(x, value, ((1, 2, 0), (0, 1, 0))),
        lambda x, value: lax.pad(x, value, ((1, 2, 0), (0, 1, 0))),
        lambda x, value: jnp.pad(x, ((1, 2), (0, 1)), constant_values=value),
    ),
    Case(
        "pad interior",
        "Pad",
        ("f32[8,8]",),
        lambda x: xo.pad(x, 0.0, ((-1, 2, 1), (0, 1, 2))),
        lambda x: lax.pad(x, np.float32(0.0), ((-1, 2, 1), (0, 1, 2))),
        "jax.numpy.pad adds nothing between elements",
    ),
    Case(
        "reshape",
        "Reshape",
        ("f32[8,8]",),
        lambda x: xo.reshape(x, (4, 16)),
        lambda x: lax.reshape(x, (4, 16)),
        lambda x: jnp.reshape(x, (4, 16)),
    ),
    Case(
        "reshape explicit",
        "Reshape (explicit)",
        ("f32[8,8]",),
        lambda x: xo.reshape("f32[4,16]", x),
        lambda x: lax.reshape(x, (4, 16)),
        lambda x: jnp.reshape(x, (4, 16)),
    ),
    Case(
        "transpose",
        "Transpose",
        ("f32[8,8]",),
        lambda x: xo.transpose(x, (1, 0)),
        lambda x: lax.transpose(x, (1, 0)),
        lambda x: jnp.transpose(x, (1, 0)),
    ),
    Case(
        "slice",
        "Slice",
        ("f32[8,8]",),
        lambda x: xo.slice(x, (1, 2), (5, 8)),
        lambda x: lax.slice(x, (1, 2), (5, 8)),
        lambda x: x[1:5, 2:8],
    ),
    Case(
        "slice strides",
        "Slice",
        ("f32[8,8]",),
        lambda x: xo.slice(x, (1, 2), (5, 8), (2, 1)),
        lambda x: lax.slice(x, (1, 2), (5, 8), (2, 1)),
        lambda x: x[1:5:2, 2:8],
    ),
    Case(
        "slice_in_dim",
        "SliceInDim",
        ("f32[8,8]",),
        lambda x: xo.slice_in_dim(x, 1, 6, 2, 1),
        lambda x: lax.slice_in_dim(x, 1, 6, 2, 1),
        lambda x: x[:, 1:6:2],
    ),
    Case(
        "pad_in_dim",
        "PadInDim",
        ("f32[8,8]", "f32[]"),
        lambda x, value: xo.pad_in_dim(x, value, 1, 2, 1),
        lambda x, value: lax.pad(x, value, ((0, 0, 0), (2, 1, 0))),
        lambda x, value: jnp.pad(x, ((0, 0), (2, 1)), constant_values=value),
    ),
    Case(
        "collapse",
        "Collapse",
        ("f32[2,4,8]",),
        lambda x: xo.collapse(x, (0, 1)),
        lambda x: lax.collapse(x, 0, 2),
        lambda x: jnp.reshape(x, (8, 8)),
    ),
    Case(
        "rev",
        "Rev",
        ("f32[8,8]",),
        lambda x: xo.rev(x, (1,)),
        lambda x: lax.rev(x, (1,)),
        lambda x: jnp.flip(x, 1),
    ),
    Case(
        "reshape_with_inferred_dimension",
        "ReshapeWithInferredDimension",
        ("f32[8,8]",),
        lambda x: xo.reshape_with_inferred_dimension(x, (4, -1), 1),
        lambda x: lax.reshape(x, (4, 16)),
        lambda x: jnp.reshape(x, (4, -1)),
    ),
)
