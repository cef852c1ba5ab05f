"""Operations that make, move and order elements: shapes, slices, sorts, tuples."""

from .record import in_family, row

BROADCAST = in_family(
    "broadcast",
    row(
        "implemented",
        "Broadcast",
        "operand broadcast_sizes",
        stablehlo="stablehlo.broadcast_in_dim",
        lax="broadcast",
        note="New dimensions come first, as in lax.",
    ),
    row(
        "implemented",
        "BroadcastInDim",
        "operand out_dim_size broadcast_dimensions",
        stablehlo="stablehlo.broadcast_in_dim",
        lax="broadcast_in_dim",
        note="Dimension i of the operand becomes broadcast_dimensions[i], in any "
        "order; a size of one stretches.",
    ),
    row(
        "implemented",
        "Constant",
        "literal",
        stablehlo="stablehlo.constant",
        lax="full",
        note="XlaBuilder's name is ConstantLiteral; 64-bit literals need JAX's x64 "
        "mode.",
    ),
    row(
        "implemented",
        "Iota",
        "shape iota_dimension",
        stablehlo="stablehlo.iota",
        lax="broadcasted_iota",
        note="Takes one Shape where lax takes a dtype and sizes; integers wrap around.",
    ),
    # Only in the header: constants of fixed rank, all of them one Constant here.
    row(
        "implemented",
        "ConstantLiteral",
        "literal",
        section="Constant",
        stablehlo="stablehlo.constant",
        lax="full",
        function="constant",
        source="header",
        note="The builder's name of Constant.",
    ),
    *(
        row(
            "implemented",
            name,
            parameters,
            section="Constant",
            stablehlo="stablehlo.constant",
            lax="full",
            function="constant",
            source="header",
            note="Constant of an array of this rank, whose literal it calls "
            f"{parameters}; its type comes from them.",
        )
        for name, parameters in (
            ("ConstantR0", "value"),
            ("ConstantR1", "values"),
            ("ConstantR2", "values"),
            ("ConstantR3FromArray3D", "values"),
            ("ConstantR4FromArray4D", "values"),
        )
    ),
)


SHAPE = in_family(
    "shape",
    row(
        "implemented",
        "Collapse",
        "operand dimensions",
        stablehlo="stablehlo.reshape",
        lax="collapse",
        note="Takes every collapsed dimension, consecutive and ascending, where lax "
        "takes a start and a stop.",
    ),
    row(
        "implemented",
        "ConcatInDim",
        "operands dimension",
        section="ConcatInDim (Concatenate)",
        stablehlo="stablehlo.concatenate",
        lax="concatenate",
        note="The document's signature calls it Concatenate; scalars and negative "
        "dimensions, which lax accepts, are refused.",
    ),
    row(
        "implemented",
        "Pad",
        "operand padding_value padding_config",
        stablehlo="stablehlo.pad",
        lax="pad",
        note="A PaddingConfig or (low, high, interior) triples; interior padding comes "
        "before negative edges cut.",
    ),
    row(
        "implemented",
        "Reshape",
        "operand dimensions",
        stablehlo="stablehlo.reshape",
        lax="reshape",
        note="Row-major, between equal numbers of elements, scalars included; no size "
        "is inferred.",
    ),
    row(
        "implemented",
        "Reshape",
        "shape operand",
        variant="explicit",
        section="Reshape (explicit)",
        stablehlo="stablehlo.reshape",
        lax="reshape",
        note="The Shape comes first and has to have the operand's element type; lax "
        "has no such form.",
    ),
    row(
        "implemented",
        "Rev",
        "operand dimensions",
        section="Rev (reverse)",
        stablehlo="stablehlo.reverse",
        lax="rev",
        note="A dimension may be named once.",
    ),
    row(
        "implemented",
        "Transpose",
        "operand permutation",
        stablehlo="stablehlo.transpose",
        lax="transpose",
        note="Dimension i of the result is dimension permutation[i] of the operand, as "
        "in lax.",
    ),
    # Only in the header.
    row(
        "implemented",
        "PadInDim",
        "operand padding_value dimno pad_lo pad_hi",
        section="Pad",
        stablehlo="stablehlo.pad",
        lax="pad",
        source="header",
        note="Pad along one dimension, without interior padding.",
    ),
    row(
        "implemented",
        "ReshapeWithInferredDimension",
        "operand new_sizes inferred_dimension",
        section="Reshape",
        stablehlo="stablehlo.reshape",
        lax="reshape",
        source="header",
        note="The size at inferred_dimension follows from the others.",
    ),
)


SLICING = in_family(
    "slicing",
    row(
        "implemented",
        "DynamicSlice",
        "operand start_indices slice_sizes",
        stablehlo="stablehlo.dynamic_slice",
        lax="dynamic_slice",
        note="Starts are clamped, where lax first counts negative ones from the end; "
        "the document's table says size_indices for slice_sizes.",
    ),
    row(
        "implemented",
        "DynamicUpdateSlice",
        "operand update start_indices",
        stablehlo="stablehlo.dynamic_update_slice",
        lax="dynamic_update_slice",
        note="Starts are clamped, where lax first counts negative ones from the end.",
    ),
    row(
        "implemented",
        "Slice",
        "operand start_indices limit_indices strides",
        stablehlo="stablehlo.slice",
        lax="slice",
        note="Strides default to one, as the document's examples leave them out; "
        "limits outside the operand are an error.",
    ),
    # Only in the header.
    row(
        "implemented",
        "SliceInDim",
        "operand start_index limit_index stride dimno",
        section="Slice",
        stablehlo="stablehlo.slice",
        lax="slice_in_dim",
        source="header",
        note="Slice along one dimension; indices do not count from the end.",
    ),
)


GATHER_SCATTER = in_family(
    "gather_scatter",
    row(
        "implemented",
        "Gather",
        "operand start_indices dimension_numbers slice_sizes indices_are_sorted",
        stablehlo="stablehlo.gather",
        lax="gather",
        note="Indices are clamped, and so is the gradient, which lax's default mode "
        "drops; the index vector may lie along any dimension.",
    ),
    row(
        "implemented",
        "Scatter",
        "operands scatter_indices updates update_computation dimension_numbers "
        "indices_are_sorted unique_indices",
        stablehlo="stablehlo.scatter",
        lax="scatter scatter_add scatter_sub scatter_mul scatter_min scatter_max "
        "scatter_apply",
        note="Any update computation and several operands; a window that lies partly "
        "outside is dropped whole, as XLA does and the document does not say.",
    ),
)


SORTING = in_family(
    "sorting",
    row(
        "implemented",
        "Sort",
        "operands comparator dimension is_stable",
        stablehlo="stablehlo.sort",
        lax="sort",
        note="Any comparator over (lhs0, rhs0, lhs1, rhs1, ...), where lax sorts "
        "ascending by leading keys; not stable unless asked.",
    ),
    row(
        "implemented",
        "TopK",
        "operand k largest",
        stablehlo="chlo.top_k mhlo.topk",
        lax="top_k",
        note="Also the smallest, which the negated lax.top_k gets wrong on unsigned "
        "types and the least integer.",
    ),
)


DYNAMIC_SHAPE = in_family(
    "dynamic_shape",
    row(
        "implemented",
        "DynamicReshape",
        "operand dim_sizes new_size_bounds dims_are_dynamic",
        stablehlo="stablehlo.dynamic_reshape",
        note="JAX's types are static, so a dynamic result is a BoundedArray of data "
        "and sizes; the document's int63 is int64.",
    ),
    row(
        "implemented",
        "GetDimensionSize",
        "operand dimension",
        stablehlo="stablehlo.get_dimension_size",
        note="The size of a BoundedArray at run time, otherwise a constant, as S32.",
    ),
    row(
        "implemented",
        "SetDimensionSize",
        "operand val dimension",
        stablehlo="stablehlo.set_dimension_size",
        note="Gives a BoundedArray, whose reductions leave out the padded elements.",
    ),
    # Only in the header.
    row(
        "implemented",
        "RemoveDynamicDimension",
        "operand dimension",
        section="SetDimensionSize",
        stablehlo="stablehlo.set_dimension_size",
        source="header",
        note="Sets the dimension of a BoundedArray to its bound; the padded elements "
        "come back.",
    ),
    *(
        row(
            "hlo-only",
            name,
            parameters + " window_strides padding lhs_dilation rhs_dilation "
            "dimension_numbers feature_group_count batch_group_count precision_config "
            "padding_type preferred_element_type",
            section="Conv (Convolution)",
            stablehlo="stablehlo.dynamic_conv",
            function="",
            source="header",
            note="XLA cannot compile it from StableHLO; use ConvGeneralDilated, whose "
            "sizes are static.",
        )
        for name, parameters in (
            ("DynamicConvForward", "lhs rhs"),
            ("DynamicConvInputGrad", "input_sizes lhs rhs"),
            ("DynamicConvKernelGrad", "activations gradients"),
        )
    ),
    row(
        "hlo-only",
        "MhloDynamicBroadcastInDim",
        "operand output_dimensions broadcast_dimensions output_shape",
        section="BroadcastInDim",
        stablehlo="stablehlo.dynamic_broadcast_in_dim",
        function="",
        source="header",
        note="Exists to export bounded programs; use BroadcastInDim, whose sizes are "
        "static.",
    ),
    row(
        "hlo-only",
        "MhloDynamicReshape",
        "operand output_shape shape",
        section="DynamicReshape",
        stablehlo="stablehlo.dynamic_reshape",
        function="",
        source="header",
        note="Exists to export bounded programs; use Reshape or DynamicReshape.",
    ),
)


TUPLES = in_family(
    "tuples",
    row(
        "implemented",
        "GetTupleElement",
        "tuple_data index",
        stablehlo="stablehlo.get_tuple_element",
        note="Tuples are Python tuples; a negative index is an error.",
    ),
    row(
        "implemented",
        "Tuple",
        "elements",
        stablehlo="stablehlo.tuple",
        note="Gives a Python tuple, as JAX has no tuple values.",
    ),
)

RECORDS = (
    *BROADCAST,
    *SHAPE,
    *SLICING,
    *GATHER_SCATTER,
    *SORTING,
    *DYNAMIC_SHAPE,
    *TUPLES,
)
