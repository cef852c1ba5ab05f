"""Operations on whole programs: control flow, calls, effects, foreign code."""

from .record import in_family, row

CONTROL_FLOW = in_family(
    "control_flow",
    row(
        "implemented",
        "Conditional",
        "predicate true_operand true_computation false_operand false_computation",
        variant="predicate",
        stablehlo="stablehlo.if stablehlo.case",
        lax="cond",
        note="Each operand stands before its computation; predicate has to be PRED, "
        "where lax also takes numbers.",
    ),
    row(
        "implemented",
        "Conditional",
        "branch_index branch_computations branch_operands",
        variant="branch_index",
        stablehlo="stablehlo.case",
        lax="switch",
        note="An index outside, negative ones too, runs the last branch, where lax "
        "clamps it; every branch has its own operand.",
    ),
    row(
        "implemented",
        "While",
        "condition body init",
        stablehlo="stablehlo.while",
        lax="while_loop",
        note="condition and body take one argument of the type of init, and condition "
        "gives PRED; no reverse-mode derivative, as in lax.",
    ),
    # Only in the header.
    row(
        "implemented",
        "Scan",
        "inputs inits computation scan_dimension scan_dimension_size is_reverse "
        "is_associative",
        stablehlo="chlo.scan",
        lax="scan associative_scan",
        source="header",
        note="Scans along any dimension and gives results and carries, flat.",
    ),
)


COMPOSITION = in_family(
    "composition",
    row(
        "implemented",
        "Call",
        "computation operands",
        stablehlo="func.call",
        note="jax.jit is what JAX has for it; operands may be empty.",
    ),
    row(
        "implemented",
        "CompositeCall",
        "computation operands name attributes version",
        stablehlo="stablehlo.composite",
        lax="composite",
        note="Differentiable and batchable through its computation, which "
        "lax.composite is not; attributes are the text of a dictionary.",
    ),
    row(
        "implemented",
        "Map",
        "operands computation dimensions static_operands",
        stablehlo="stablehlo.map",
        note="lax.map is something else; dimensions have to be all of them in order, "
        "and static_operands, in the document's table only, have to be empty. Written "
        "out for whole arrays, so that the computation may hold loops.",
    ),
)


EFFECTS = in_family(
    "effects",
    row(
        "implemented",
        "AfterAll",
        "tokens",
        stablehlo="stablehlo.after_all",
        lax="after_all",
        note="Tokens are data tied by OptimizationBarrier, so that they also pass "
        "through loops and shard_map, where lax's fail; at least one is needed.",
    ),
    row(
        "implemented",
        "Infeed",
        "shape config",
        stablehlo="stablehlo.infeed",
        note="JAX has no infeed any more; reads a bounded queue of the host in an "
        "ordered callback, and raises after a time-out instead of hanging.",
    ),
    row(
        "implemented",
        "OptimizationBarrier",
        "operand",
        stablehlo="stablehlo.optimization_barrier",
        lax="optimization_barrier",
        note="Takes an array or a tuple, as lax does.",
    ),
    row(
        "implemented",
        "Outfeed",
        "operand shape_with_layout outfeed_config",
        stablehlo="stablehlo.outfeed",
        note="JAX has no outfeed any more; fills a bounded queue of the host in an "
        "ordered callback.",
    ),
    row(
        "implemented",
        "Recv",
        "shape handle",
        stablehlo="stablehlo.recv",
        note="Takes from the host queue of its ChannelHandle and raises after a "
        "time-out; between replicas use collectives.recv.",
    ),
    row(
        "implemented",
        "RecvDone",
        "context",
        note="Found in HLO only; waits for a Recv, whose result is the context. The "
        "document prints Recv's signature under its heading.",
    ),
    row(
        "implemented",
        "Send",
        "operand handle",
        stablehlo="stablehlo.send",
        note="Puts into the host queue of its ChannelHandle; between replicas use "
        "collectives.send.",
    ),
    row(
        "implemented",
        "SendDone",
        "context",
        note="Found in HLO only; waits for a Send, whose token is the context.",
    ),
    # Only in the header: the same with tokens in the program's hands.
    row(
        "implemented",
        "CreateToken",
        "",
        section="AfterAll",
        stablehlo="stablehlo.create_token",
        lax="create_token",
        source="header",
        note="A token that depends on nothing.",
    ),
    row(
        "implemented",
        "InfeedWithToken",
        "token shape config",
        section="Infeed",
        stablehlo="stablehlo.infeed",
        source="header",
        note="Infeed behind a token; gives the data and a new token.",
    ),
    row(
        "implemented",
        "OutfeedWithToken",
        "operand token shape_with_layout outfeed_config",
        section="Outfeed",
        stablehlo="stablehlo.outfeed",
        source="header",
        note="Outfeed behind a token; gives a new token.",
    ),
    row(
        "implemented",
        "SendWithToken",
        "operand token handle",
        section="Send",
        stablehlo="stablehlo.send",
        source="header",
        note="Send behind a token; the document calls it SendWithTokens.",
    ),
    row(
        "implemented",
        "RecvWithToken",
        "token shape handle",
        section="Recv",
        stablehlo="stablehlo.recv",
        source="header",
        note="Recv behind a token; the document calls it RecvWithTokens.",
    ),
    row(
        "implemented",
        "SendToHost",
        "operand token shape_with_layout handle",
        section="Send",
        stablehlo="stablehlo.send",
        source="header",
        note="Hands data to the host through the queue of its ChannelHandle.",
    ),
    row(
        "implemented",
        "RecvFromHost",
        "token shape handle",
        section="Recv",
        stablehlo="stablehlo.recv",
        source="header",
        note="Takes what the host put into the queue; the document calls it "
        "RecvToHost.",
    ),
)


FFI = in_family(
    "ffi",
    row(
        "implemented",
        "CustomCall",
        "call_target_name operands shape opaque has_side_effect "
        "output_operand_aliasing literal schedule api_version",
        stablehlo="stablehlo.custom_call",
        note="jax.ffi.ffi_call is what JAX has for it. The document only refers to its "
        "page on custom calls, so the parameters are the header's. StableHLO carries "
        "neither literal nor schedule.",
    ),
    # Only in the header: forms of the same call.
    *(
        row(
            "implemented",
            name,
            f"call_target_name operands {parameters} opaque has_side_effect "
            "output_operand_aliasing literal schedule api_version",
            section="CustomCall",
            stablehlo="stablehlo.custom_call",
            source="header",
            note=note,
        )
        for name, parameters, note in (
            (
                "CustomCallWithComputation",
                "computation shape",
                "CustomCall that also hands a computation to the target.",
            ),
            (
                "CustomCallWithLayout",
                "shape_with_layout operand_shapes_with_layout",
                "CustomCall with the layouts of its operands and result laid down.",
            ),
            (
                "CustomCallWithComputationAndLayouts",
                "computation shape_with_layout operand_shapes_with_layout",
                "CustomCall with a computation and with layouts laid down.",
            ),
        )
    ),
    row(
        "implemented",
        "CustomCallWithConvDnums",
        "call_target_name operands shape operand_shapes_with_layout opaque "
        "has_side_effect output_operand_aliasing literal window dnums schedule "
        "api_version",
        section="CustomCall",
        stablehlo="stablehlo.custom_call",
        source="header",
        note="CustomCall that also carries a convolution's window and dimension "
        "numbers, for which StableHLO has no place.",
    ),
)


BUILDER = in_family(
    "builder",
    row(
        "implemented",
        "AddDependency",
        "operand token",
        stablehlo="mhlo.add_dependency",
        function="builder.AddDependency",
        note="Found in HLO only; ties the operand to the token with an "
        "OptimizationBarrier.",
    ),
    *(
        row(
            "hlo-only",
            name,
            parameters,
            section="Async",
            stablehlo=stablehlo,
            note="The compiler makes asynchronous operations itself; a program calls "
            "the computation.",
        )
        for name, parameters, stablehlo in (
            ("AsyncStart", "operands computation", "stablehlo.async_start"),
            ("AsyncUpdate", "context", "mhlo.async_update"),
            ("AsyncDone", "context", "stablehlo.async_done"),
        )
    ),
    *(
        row(
            "hlo-only",
            name,
            parameters,
            section="Copy",
            stablehlo="mhlo.copy" if name == "Copy" else "",
            lax="copy_p" if name == "Copy" else "",
            note="Arrays are values, so the compiler places the copies; jax.numpy.copy "
            "and jax.device_put are a program's own.",
        )
        for name, parameters in (
            ("Copy", "operand"),
            ("CopyStart", "operand"),
            ("CopyDone", "context"),
        )
    ),
    row(
        "hlo-only",
        "Domain",
        "operand",
        stablehlo="mhlo.domain",
        note="A boundary that the partitioner sets; a program states shardings with "
        "jax.lax.with_sharding_constraint.",
    ),
    row(
        "hlo-only",
        "Fusion",
        "operands computation",
        stablehlo="mhlo.fusion",
        note="The compiler decides what is fused; a program calls the operations under "
        "jax.jit.",
    ),
    row(
        "implemented",
        "Parameter",
        "parameter_number shape name",
        function="builder.Parameter",
        note="An argument of the function in JAX; exists for programs built step by "
        "step, with the header's parameters behind the builder.",
    ),
)

RECORDS = (*CONTROL_FLOW, *COMPOSITION, *EFFECTS, *FFI, *BUILDER)
