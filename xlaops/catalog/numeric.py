"""Operations that combine elements: reductions, windows, products, random draws."""

from .record import in_family, row

_CONVOLUTION_TAIL = (
    "feature_group_count batch_group_count precision_config preferred_element_type"
)

REDUCTION = in_family(
    "reduction",
    row(
        "implemented",
        "Reduce",
        "operands init_values computation dimensions_to_reduce",
        stablehlo="stablehlo.reduce",
        lax="reduce",
        note="Any number of operands and any initial values; with one that is no "
        "identity, lax.reduce changes its own result under differentiation.",
    ),
    # Only in the header.
    row(
        "implemented",
        "ReduceAll",
        "operand init_value computation",
        section="Reduce",
        stablehlo="stablehlo.reduce",
        lax="reduce",
        source="header",
        note="Reduce over all dimensions.",
    ),
)


WINDOW = in_family(
    "window",
    row(
        "implemented",
        "ReduceWindow",
        "operands init_values computation window_dimensions window_strides "
        "base_dilations window_dilations padding",
        stablehlo="stablehlo.reduce_window",
        lax="reduce_window",
        note="Differentiable with any computation; the dilations are in the document's "
        "table only and may be left out.",
    ),
    row(
        "implemented",
        "SelectAndScatter",
        "operand select window_dimensions window_strides padding source init_value "
        "scatter",
        stablehlo="stablehlo.select_and_scatter",
        lax="select_and_scatter_p select_and_scatter_add_p",
        note="lax has primitives and no function; padding is never selected.",
    ),
    # Only in the header: explicit padding.
    row(
        "implemented",
        "ReduceWindowWithGeneralPadding",
        "operands init_values computation window_dimensions window_strides "
        "base_dilations window_dilations padding",
        section="ReduceWindow",
        stablehlo="stablehlo.reduce_window",
        lax="reduce_window",
        source="header",
        note="ReduceWindow with (low, high) padding, to which the dilations belong.",
    ),
    row(
        "implemented",
        "SelectAndScatterWithGeneralPadding",
        "operand select window_dimensions window_strides padding source init_value "
        "scatter",
        section="SelectAndScatter",
        stablehlo="stablehlo.select_and_scatter",
        lax="select_and_scatter_p select_and_scatter_add_p",
        source="header",
        note="SelectAndScatter with (low, high) padding.",
    ),
)


CONVOLUTION = in_family(
    "convolution",
    row(
        "implemented",
        "Conv",
        f"lhs rhs window_strides padding {_CONVOLUTION_TAIL}",
        section="Conv (Convolution)",
        stablehlo="stablehlo.convolution",
        lax="conv conv_general_dilated",
        note="Batch, features, then space; padding is SAME or VALID. lax.conv takes no "
        "group counts.",
    ),
    row(
        "implemented",
        "ConvWithGeneralPadding",
        f"lhs rhs window_strides padding {_CONVOLUTION_TAIL}",
        stablehlo="stablehlo.convolution",
        lax="conv_with_general_padding conv_general_dilated",
        note="Padding as (low, high) pairs, which may be negative.",
    ),
    row(
        "implemented",
        "ConvWithGeneralDimensions",
        f"lhs rhs window_strides padding dimension_numbers {_CONVOLUTION_TAIL}",
        stablehlo="stablehlo.convolution",
        lax="conv_general_dilated",
        note="ConvolutionDimensionNumbers has the document's fields, where lax takes "
        "permutations or strings.",
    ),
    row(
        "implemented",
        "ConvGeneral",
        f"lhs rhs window_strides padding dimension_numbers {_CONVOLUTION_TAIL}",
        stablehlo="stablehlo.convolution",
        lax="conv_general_dilated",
        note="Padding as (low, high) pairs and dimension numbers with the document's "
        "fields.",
    ),
    row(
        "implemented",
        "ConvGeneralDilated",
        "lhs rhs window_strides padding lhs_dilation rhs_dilation dimension_numbers "
        f"{_CONVOLUTION_TAIL} window_reversal",
        stablehlo="stablehlo.convolution",
        lax="conv_general_dilated",
        note="window_reversal, which lax does not have, flips the kernel along the "
        "chosen spatial dimensions.",
    ),
)


DOT = in_family(
    "dot",
    row(
        "implemented",
        "Dot",
        "lhs rhs precision_config preferred_element_type",
        stablehlo="stablehlo.dot_general",
        lax="dot dot_general",
        note="Contracts dimension 1 of lhs (0 of a vector) with dimension 0 of rhs at "
        "any rank, where lax.dot stops at matrices.",
    ),
    row(
        "implemented",
        "DotGeneral",
        "lhs rhs dimension_numbers precision_config preferred_element_type",
        stablehlo="stablehlo.dot_general",
        lax="dot_general",
        note="DotDimensionNumbers names its fields, where lax nests tuples; "
        "PrecisionConfig gives each operand its precision.",
    ),
    row(
        "implemented",
        "ScaledDot",
        "lhs lhs_scale rhs rhs_scale dimension_numbers precision_config "
        "preferred_element_type",
        stablehlo="stablehlo.composite",
        lax="scaled_dot",
        note="The scales follow their operands, which lax takes by keyword; the "
        "document's dimension_number of type ScatterDimensionNumbers is meant to be "
        "DotDimensionNumbers.",
    ),
    row(
        "implemented",
        "RaggedDot",
        "lhs rhs group_sizes dimension_numbers precision_config preferred_element_type",
        stablehlo="chlo.ragged_dot",
        lax="ragged_dot_general ragged_dot",
        note="The document gives no signature, so the parameters are the header's; "
        "rows behind the last group are zero.",
    ),
)


LINALG = in_family(
    "linalg",
    row(
        "implemented",
        "Cholesky",
        "a lower",
        stablehlo="stablehlo.cholesky",
        lax="linalg.cholesky",
        note="Reads one triangle, the upper one too, where lax averages both unless "
        "told otherwise; the other triangle of the result is zero.",
    ),
    row(
        "implemented",
        "TriangularSolve",
        "a b left_side lower unit_diagonal transpose_a",
        stablehlo="stablehlo.triangular_solve",
        lax="linalg.triangular_solve",
        note="transpose_a is NO_TRANSPOSE, TRANSPOSE or ADJOINT, where lax has two "
        "flags and another default side.",
    ),
)


FFT = in_family(
    "fft",
    row(
        "implemented",
        "Fft",
        "operand fft_type fft_length",
        stablehlo="stablehlo.fft",
        lax="fft",
        note="A complex transform takes complex operands only, where lax promotes real "
        "ones; the signature's ftt_type is a misprint of the table's fft_type.",
    ),
)


RANDOM = in_family(
    "random",
    row(
        "implemented",
        "RngNormal",
        "mu sigma shape",
        stablehlo="stablehlo.rng",
        note="lax has no such function; every execution draws new numbers, so nothing "
        "repeats from a seed.",
    ),
    row(
        "implemented",
        "RngUniform",
        "a b shape",
        stablehlo="stablehlo.rng",
        lax="rng_uniform",
        note="Every execution draws new numbers; types that would end the process in "
        "lax are drawn through a wider one or refused.",
    ),
    row(
        "implemented",
        "RngBitGenerator",
        "algorithm initial_state shape",
        stablehlo="stablehlo.rng_bit_generator",
        lax="rng_bit_generator",
        note="Also Philox states of three words and signed or floating results, which "
        "lax refuses; gives (new_state, data).",
    ),
    row(
        "hlo-only",
        "RngGetAndUpdateState",
        "",
        stablehlo="mhlo.xla.rng_get_and_update_state",
        note="The compiler's hidden state behind the Rng operations; a program passes "
        "its own state to RngBitGenerator.",
    ),
)


NORMALIZATION = in_family(
    "normalization",
    row(
        "implemented",
        "BatchNormGrad",
        "operand scale batch_mean batch_var grad_output epsilon feature_index",
        stablehlo="stablehlo.batch_norm_grad",
        note="lax has nothing for it; gives (grad_operand, grad_scale, grad_offset), "
        "whose order the header's comment has wrong.",
    ),
    row(
        "implemented",
        "BatchNormInference",
        "operand scale offset mean variance epsilon feature_index",
        stablehlo="stablehlo.batch_norm_inference",
        note="lax has nothing for it; all operands have one element type.",
    ),
    row(
        "implemented",
        "BatchNormTraining",
        "operand scale offset epsilon feature_index",
        stablehlo="stablehlo.batch_norm_training",
        note="lax has nothing for it; gives (output, batch_mean, batch_var) with the "
        "variance divided by N.",
    ),
)

RECORDS = (
    *REDUCTION,
    *WINDOW,
    *CONVOLUTION,
    *DOT,
    *LINALG,
    *FFT,
    *RANDOM,
    *NORMALIZATION,
)
