"""Operations that arrange elements, and arrays that are known."""

import jax.numpy as jnp
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import EVERY, FEW, anything, anything_of, by_name, smooth_of, uniform


def _shape_case(title, label, shape, statics, oracle, error, dtypes=EVERY, smooth=None):
    return Case(
        title=title,
        label=label,
        arguments=anything_of(shape),
        arrange=by_name("operand"),
        statics=statics,
        oracle=oracle,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth or smooth_of(shape),
        error=error,
    )


def _concat(label, dimension, *shapes, dtypes=EVERY):
    return Case(
        title="ConcatInDim",
        label=label,
        arguments=lambda rng, dtype: tuple(anything(rng, dtype, s) for s in shapes),
        arrange=lambda *operands: {"operands": list(operands)},
        statics={"dimension": dimension},
        oracle=oracles.concat_in_dim,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth_of(*shapes),
        error=Error(
            lambda: xo.concat_in_dim([jnp.ones(2), jnp.ones(3)], -1),
            ValueError,
            "dimension",
            "-1",
        ),
    )


def _pad(label, shape, config, dtypes=FEW):
    return Case(
        title="Pad",
        label=label,
        arguments=lambda rng, dtype: (
            anything(rng, dtype, shape),
            uniform(rng, dtype, ()),
        ),
        arrange=by_name("operand", "padding_value"),
        statics={"padding_config": config},
        oracle=oracles.pad,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth_of(shape, ()),
        error=Error(
            lambda: xo.pad(jnp.ones(2), 0.0, [(0, 0, -1)]),
            ValueError,
            "padding_config",
            "-1",
        ),
    )


def _constant(title, shape, dtypes=FEW, name="values"):
    return Case(
        title=title,
        label="",
        arguments=anything_of(shape),
        arrange=by_name(name),
        oracle=lambda value: value,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth_of(shape),
        error=Error(
            lambda: xo.constant(["a", "b"]),
            TypeError,
            "literal",
            "<U1",
        ),
    )


def _pad_in_dim(label, shape, statics, dtypes=FEW, differentiable=None):
    return Case(
        title="PadInDim",
        label=label,
        arguments=lambda rng, dtype: (
            anything(rng, dtype, shape),
            uniform(rng, dtype, ()),
        ),
        arrange=by_name("operand", "padding_value"),
        statics=statics,
        oracle=oracles.pad_in_dim,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth_of(shape, ()),
        differentiable=differentiable,
        error=Error(
            lambda: xo.pad_in_dim(jnp.ones((2, 3)), 0.0, 2, 1, 1),
            ValueError,
            "dimno",
            "2",
        ),
    )


_IN_DIM_ERROR = Error(
    lambda: xo.broadcast_in_dim(jnp.ones(2), (2, 3), (1,)),
    TypeError,
    "out_dim_size",
    "(2, 3)",
)

SHAPES = (
    _shape_case(
        "Broadcast",
        "",
        (2, 3),
        {"broadcast_sizes": (2, 1)},
        oracles.broadcast,
        Error(
            lambda: xo.broadcast(jnp.ones(2), (-3,)),
            ValueError,
            "broadcast_sizes",
            "-3",
        ),
    ),
    _shape_case(
        "BroadcastInDim",
        "",
        (1, 3),
        {"out_dim_size": (2, 4, 3), "broadcast_dimensions": (1, 2)},
        oracles.broadcast_in_dim,
        _IN_DIM_ERROR,
    ),
    _shape_case(
        "BroadcastInDim",
        "transposing",
        (3, 2),
        {"out_dim_size": (2, 4, 3), "broadcast_dimensions": (2, 0)},
        oracles.broadcast_in_dim,
        Error(
            lambda: xo.broadcast_in_dim(jnp.ones((2, 2)), (2, 2), (1, 1)),
            ValueError,
            "broadcast_dimensions",
            "(1, 1)",
        ),
        FEW,
    ),
    _shape_case(
        "BroadcastInDim",
        "transposing degenerate",
        (3, 1),
        {"out_dim_size": (2, 3), "broadcast_dimensions": (1, 0)},
        oracles.broadcast_in_dim,
        _IN_DIM_ERROR,
        FEW,
    ),
    *(
        Case(
            title="Iota",
            label=f"{shape} {dimension}",
            arguments=lambda rng, dtype: (),
            arrange=dict,
            statics={"shape": shape, "iota_dimension": dimension},
            oracle=oracles.iota,
            dtypes=(dtype,),
            exact=True,
            gradient="not differentiable",
            in_axes=(),
            error=Error(
                lambda: xo.iota("f32[2,3]", 2), ValueError, "iota_dimension", "2"
            ),
        )
        for shape, dimension, dtype in (
            ("s32[3,4]", 0, "int32"),
            ("u8[2,300]", 1, "uint8"),
            ("f32[3,4]", 1, "float32"),
            ("bf16[2,300]", 1, "bfloat16"),
            ("f16[3,4]", 1, "float16"),
            ("c64[3,4]", 0, "complex64"),
            ("s64[2,3,4]", 1, "int64"),
            ("s4[20]", 0, "int4"),
            ("f8e4m3fn[4]", 0, "float8_e4m3fn"),
        )
    ),
    _concat("", 1, (2, 1), (2, 3), (2, 2)),
    _concat("one", 0, (2,), dtypes=FEW),
    _concat("empty", 0, (2, 3), (0, 3), (1, 3), dtypes=FEW),
    _pad("", (2, 3), ((1, 0, 0), (0, 2, 1)), EVERY),
    _pad("negative", (3, 4), ((-1, 2, 0), (-2, -1, 1))),
    _pad("empty", (0, 2), ((1, 2, 3), (0, 0, 0))),
    _shape_case(
        "Reshape",
        "",
        (2, 6),
        {"dimensions": (3, 4)},
        oracles.reshape,
        Error(
            lambda: xo.reshape(jnp.ones((2, 3)), (4, 2)),
            ValueError,
            "dimensions",
            "(4, 2)",
        ),
    ),
    _shape_case(
        "Reshape",
        "scalar",
        (1, 1),
        {"dimensions": ()},
        oracles.reshape,
        Error(
            lambda: xo.reshape(jnp.ones((2, 3)), (-1,)),
            ValueError,
            "dimensions",
            "(-1,)",
        ),
        FEW,
    ),
    _shape_case(
        "Reshape (explicit)",
        "",
        (2, 6),
        {"shape": "f32[3,4]"},
        lambda operand, shape: oracles.reshape_explicit(shape, operand),
        Error(
            lambda: xo.reshape("s32[3,2]", jnp.ones((2, 3))),
            TypeError,
            "shape",
            "s32[3,2]",
        ),
        ("float32",),
        # The shape names the element type.
        smooth=lambda rng, dtype="float64": (uniform(rng, "float32", (2, 6)),),
    ),
    _shape_case(
        "Transpose",
        "",
        (2, 3, 4),
        {"permutation": (2, 0, 1)},
        oracles.transpose,
        Error(
            lambda: xo.transpose(jnp.ones((2, 3)), (0, 0)),
            ValueError,
            "permutation",
            "(0, 0)",
        ),
    ),
    _shape_case(
        "Slice",
        "",
        (3, 4),
        {"start_indices": (0, 1), "limit_indices": (3, 4), "strides": (2, 2)},
        oracles.slice_,
        Error(
            lambda: xo.slice(jnp.ones(3), (0,), (4,)),
            ValueError,
            "limit_indices",
            "4",
        ),
    ),
    _shape_case(
        "Slice",
        "without strides",
        (3, 4),
        {"start_indices": (1, 2), "limit_indices": (1, 4)},
        oracles.slice_,
        Error(
            lambda: xo.slice(jnp.ones(3), (0,), (3,), (0,)),
            ValueError,
            "strides",
            "(0,)",
        ),
        FEW,
    ),
    _shape_case(
        "SliceInDim",
        "",
        (2, 7),
        {"start_index": 1, "limit_index": 6, "stride": 2, "dimno": 1},
        oracles.slice_in_dim,
        Error(
            lambda: xo.slice_in_dim(jnp.ones((2, 7)), 0, 8, 1, 1),
            ValueError,
            "limit_index",
            "8",
        ),
    ),
    _shape_case(
        "SliceInDim",
        "empty",
        (2, 3),
        {"start_index": 1, "limit_index": 1, "stride": 1, "dimno": 0},
        oracles.slice_in_dim,
        Error(
            lambda: xo.slice_in_dim(jnp.ones((2, 7)), 0, 2, -1, 0),
            ValueError,
            "stride",
            "-1",
        ),
        FEW,
    ),
    _pad_in_dim("", (2, 3), {"dimno": 1, "pad_lo": 2, "pad_hi": 1}, EVERY),
    _pad_in_dim("negative", (3, 4), {"dimno": 0, "pad_lo": -1, "pad_hi": 2}),
    _pad_in_dim(
        "value", (2, 3), {"dimno": 0, "pad_lo": 1, "pad_hi": 0}, ("float32",), (1,)
    ),
    _shape_case(
        "Collapse",
        "",
        (2, 3, 2, 2),
        {"dimensions": (1, 2)},
        oracles.collapse,
        Error(
            lambda: xo.collapse(jnp.ones((2, 3, 4)), (0, 2)),
            ValueError,
            "dimensions",
            "(0, 2)",
        ),
    ),
    _shape_case(
        "Collapse",
        "one",
        (2, 3),
        {"dimensions": (1,)},
        oracles.collapse,
        Error(
            lambda: xo.collapse(jnp.ones((2, 3)), (1, 0)),
            ValueError,
            "dimensions",
            "(1, 0)",
        ),
        FEW,
    ),
    _shape_case(
        "Rev",
        "",
        (2, 3, 2),
        {"dimensions": (2, 0)},
        oracles.rev,
        Error(
            lambda: xo.rev(jnp.ones((2, 3)), (1, 1)), ValueError, "dimensions", "(1, 1)"
        ),
    ),
    _shape_case(
        "ReshapeWithInferredDimension",
        "",
        (2, 6),
        {"new_sizes": (-1, 4), "inferred_dimension": 0},
        oracles.reshape_with_inferred_dimension,
        Error(
            lambda: xo.reshape_with_inferred_dimension(jnp.ones(6), (4, 0), 1),
            ValueError,
            "new_sizes",
            "(4, 0)",
        ),
    ),
    _shape_case(
        "ReshapeWithInferredDimension",
        "none",
        (2, 6),
        {"new_sizes": (3, 4), "inferred_dimension": -1},
        oracles.reshape_with_inferred_dimension,
        Error(
            lambda: xo.reshape_with_inferred_dimension(jnp.ones(6), (2, 3), 2),
            ValueError,
            "inferred_dimension",
            "2",
        ),
        FEW,
    ),
    _constant("Constant", (2, 3), EVERY, "literal"),
    _constant("ConstantLiteral", (0, 2), FEW, "literal"),
    _constant("ConstantR0", (), EVERY, "value"),
    _constant("ConstantR1", (4,)),
    _constant("ConstantR2", (2, 3)),
    _constant("ConstantR3FromArray3D", (2, 1, 3)),
    _constant("ConstantR4FromArray4D", (2, 1, 3, 2)),
)
