"""Operations that treat every element alone: arithmetic, comparison, conversion."""

from .record import Record, Status, in_family, row

_MAPPED = (
    "broadcast_dimensions places the operand of lower rank among the dimensions of the "
    "other, then sizes of one stretch; lax has no such parameter."
)
_ACCURACY = (
    "A ResultAccuracy stands where lax takes accuracy= as a Tolerance or an "
    "AccuracyMode; compilers are free to ignore it."
)
_FLOATS = "Floats and complex numbers, as in lax: integers are not promoted."
_EXACT_TYPES = (
    "Both operands have one element type and nothing is promoted; ranks differ only "
    "where one operand is a scalar."
)
_TOTAL_ORDER = (
    "Floats are ordered -NaN < -Inf < -Finite < -0 < +0 < +Finite < +Inf < +NaN; "
    "integers, which have no such order, compare as usual."
)


def _accurate(
    status: Status, name: str, stablehlo: str, lax: str, note: str = _FLOATS
) -> tuple[Record, Record]:
    """The plain row of a unary operation and the one with result_accuracy."""
    return (
        row(status, name, "operand", stablehlo=stablehlo, lax=lax, note=note),
        row(
            status,
            name,
            "operand result_accuracy",
            variant="result_accuracy",
            stablehlo=stablehlo,
            lax=lax,
            note=_ACCURACY,
        ),
    )


def _binary(
    status: Status,
    name: str,
    stablehlo: str,
    lax: str,
    note: str = "",
    section: str | None = None,
) -> tuple[Record, Record]:
    """The plain row of a binary operation and the one with broadcast_dimensions."""
    return (
        row(
            status,
            name,
            "lhs rhs",
            section=section,
            stablehlo=stablehlo,
            lax=lax,
            note=f"{_EXACT_TYPES} {note}".rstrip(),
        ),
        row(
            status,
            name,
            "lhs rhs broadcast_dimensions",
            variant="broadcast_dimensions",
            section=section,
            stablehlo=f"{stablehlo} stablehlo.broadcast_in_dim",
            lax=f"{lax} broadcast_in_dim",
            note=_MAPPED,
        ),
    )


def _total_order(name: str, lax: str, note: str = "") -> Record:
    """The row of a comparison in total order, described under the plain one."""
    return row(
        "implemented",
        name,
        "lhs rhs broadcast_dimensions",
        section=name.removesuffix("TotalOrder"),
        stablehlo="stablehlo.compare",
        lax=lax,
        note=f"{_TOTAL_ORDER} {note or 'lax has a primitive and no function.'}",
    )


ELEMENTWISE = in_family(
    "elementwise",
    row(
        "implemented",
        "Abs",
        "operand",
        stablehlo="stablehlo.abs",
        lax="abs",
        note="Unsigned integers, which lax.abs refuses, pass unchanged; complex "
        "numbers give their magnitude as a real array.",
    ),
    *_binary(
        "implemented",
        "Add",
        "stablehlo.add",
        "add",
        "PRED, which lax.add refuses, adds as logical or.",
    ),
    *_binary(
        "implemented",
        "And",
        "stablehlo.and",
        "bitwise_and",
        "Logical on PRED and bitwise on integers.",
    ),
    *_binary(
        "implemented",
        "Atan2",
        "stablehlo.atan2",
        "atan2",
        "The signs of zeros choose the quadrant.",
    ),
    *_accurate(
        "implemented",
        "Cbrt",
        "stablehlo.cbrt",
        "cbrt",
        "Complex numbers too, which lax.cbrt refuses: the principal root.",
    ),
    row(
        "implemented",
        "Ceil",
        "operand",
        stablehlo="stablehlo.ceil",
        lax="ceil",
        note="Keeps the sign of zero: -0.5 becomes -0.",
    ),
    row(
        "implemented",
        "Clamp",
        "min operand max",
        stablehlo="stablehlo.clamp",
        lax="clamp",
        note="Any of the three may be a scalar, where lax lets only the bounds be "
        "scalars; where min exceeds max, the result is max.",
    ),
    row(
        "implemented",
        "Clz",
        "operand",
        stablehlo="stablehlo.count_leading_zeros",
        lax="clz",
        note="Integers only; zero gives the width of the type.",
    ),
    *_binary(
        "implemented",
        "Complex",
        "stablehlo.complex",
        "complex",
        "lhs is the real and rhs the imaginary part, both F32 or both F64.",
    ),
    *_accurate("implemented", "Cos", "stablehlo.cosine", "cos"),
    row(
        "implemented",
        "Cosh",
        "operand",
        stablehlo="chlo.cosh",
        lax="cosh",
        note="The document has it, the header does not declare it.",
    ),
    row(
        "implemented",
        "Cosh",
        "operand result_accuracy",
        variant="result_accuracy",
        stablehlo="stablehlo.exponential",
        lax="cosh exp",
        note="lax.cosh takes no accuracy; with a request it is computed from "
        "exponentials that have it.",
    ),
    *_binary(
        "implemented",
        "Div",
        "stablehlo.divide",
        "div",
        "Integer division truncates; by zero it gives all bits set and MIN / -1 gives "
        "MIN, also where lax on constants would end the process.",
    ),
    row(
        "implemented",
        "Erf",
        "operand",
        stablehlo="chlo.erf",
        lax="erf",
        note="Real floats only.",
    ),
    row(
        "implemented",
        "Erf",
        "operand result_accuracy",
        variant="result_accuracy",
        stablehlo="chlo.erf",
        lax="erf",
        note="The request is checked and changes nothing: HLO's error function carries "
        "no accuracy.",
    ),
    *_accurate("implemented", "Exp", "stablehlo.exponential", "exp"),
    *_accurate("implemented", "Expm1", "stablehlo.exponential_minus_one", "expm1"),
    row(
        "implemented",
        "Floor",
        "operand",
        stablehlo="stablehlo.floor",
        lax="floor",
        note="Real floats only, as in lax.",
    ),
    row(
        "implemented",
        "Imag",
        "operand",
        stablehlo="stablehlo.imag",
        lax="imag",
        note="Real floats, which lax.imag refuses, give zeros.",
    ),
    row(
        "implemented",
        "IsFinite",
        "operand",
        stablehlo="stablehlo.is_finite",
        lax="is_finite",
        note="Real floats only, as in lax.",
    ),
    *_accurate("implemented", "Log", "stablehlo.log", "log"),
    *_accurate("implemented", "Log1p", "stablehlo.log_plus_one", "log1p"),
    *_accurate(
        "implemented",
        "Logistic",
        "stablehlo.logistic",
        "logistic",
        "Floats and complex numbers; lax and xlaops spell it as 1 / (1 + exp(-x)).",
    ),
    *_binary(
        "implemented",
        "Max",
        "stablehlo.maximum",
        "max",
        "NaN wins over numbers and +0 over -0.",
    ),
    *_binary(
        "implemented",
        "Min",
        "stablehlo.minimum",
        "min",
        "NaN wins over numbers and -0 over +0.",
    ),
    *_binary(
        "implemented",
        "Mul",
        "stablehlo.multiply",
        "mul",
        "PRED, which lax.mul refuses, multiplies as logical and.",
    ),
    row(
        "implemented",
        "Neg",
        "operand",
        stablehlo="stablehlo.negate",
        lax="neg",
        note="Unsigned integers wrap around.",
    ),
    row(
        "implemented",
        "Not",
        "operand",
        stablehlo="stablehlo.not",
        lax="bitwise_not",
        note="The document calls it logical; on integers it flips every bit, as XLA "
        "does.",
    ),
    *_binary(
        "implemented",
        "Or",
        "stablehlo.or",
        "bitwise_or",
        "Logical on PRED and bitwise on integers.",
    ),
    row(
        "implemented",
        "PopulationCount",
        "operand",
        stablehlo="stablehlo.popcnt",
        lax="population_count",
        note="Integers only.",
    ),
    *_binary(
        "implemented",
        "Pow",
        "stablehlo.power",
        "pow",
        "Integer bases, which lax.pow refuses, are allowed: 2 to the -1 is 0.",
    ),
    row(
        "implemented",
        "Real",
        "operand",
        stablehlo="stablehlo.real",
        lax="real",
        note="Real floats, which lax.real refuses, pass unchanged.",
    ),
    *_binary(
        "implemented",
        "Rem",
        "stablehlo.remainder",
        "rem",
        "The sign is the dividend's; an integer modulo zero is the integer itself, "
        "also where lax on constants would end the process.",
    ),
    row(
        "implemented",
        "Round",
        "operand",
        stablehlo="stablehlo.round_nearest_afz",
        lax="round",
        note="Halves go away from zero, unlike numpy's and jax.numpy's round.",
    ),
    row(
        "implemented",
        "RoundNearestAfz",
        "operand",
        stablehlo="stablehlo.round_nearest_afz",
        lax="round",
        note="The same as Round; lax.round with RoundingMethod.AWAY_FROM_ZERO.",
    ),
    row(
        "implemented",
        "RoundNearestEven",
        "operand",
        stablehlo="stablehlo.round_nearest_even",
        lax="round",
        note="lax.round with RoundingMethod.TO_NEAREST_EVEN.",
    ),
    *_accurate("implemented", "Rsqrt", "stablehlo.rsqrt", "rsqrt"),
    row(
        "implemented",
        "Select",
        "pred on_true on_false",
        stablehlo="stablehlo.select",
        lax="select",
        note="Any of the three may be a scalar, where lax lets only pred be one; pred "
        "has to be PRED, where lax also takes integers.",
    ),
    *_binary(
        "implemented",
        "ShiftLeft",
        "stablehlo.shift_left",
        "shift_left",
        "An amount that is negative or not below the width gives zero.",
    ),
    *_binary(
        "implemented",
        "ShiftRightArithmetic",
        "stablehlo.shift_right_arithmetic",
        "shift_right_arithmetic",
        "The top bit is repeated, on unsigned types too.",
    ),
    *_binary(
        "implemented",
        "ShiftRightLogical",
        "stablehlo.shift_right_logical",
        "shift_right_logical",
        "An amount that is negative or not below the width gives zero.",
    ),
    row(
        "implemented",
        "Sign",
        "operand",
        stablehlo="stablehlo.sign",
        lax="sign",
        note="Zeros keep their sign and NaN stays; a complex number is divided by its "
        "magnitude.",
    ),
    *_accurate("implemented", "Sin", "stablehlo.sine", "sin"),
    *_accurate("implemented", "Sqrt", "stablehlo.sqrt", "sqrt"),
    *_binary("implemented", "Sub", "stablehlo.subtract", "sub"),
    *_accurate("implemented", "Tan", "stablehlo.tan", "tan"),
    *_accurate("implemented", "Tanh", "stablehlo.tanh", "tanh"),
    *_binary(
        "implemented",
        "Xor",
        "stablehlo.xor",
        "bitwise_xor",
        "Logical on PRED and bitwise on integers.",
    ),
    # Only in the header.
    row(
        "implemented",
        "Mulhi",
        "lhs rhs broadcast_dimensions",
        stablehlo="chlo.mulhi",
        lax="mulhi",
        source="header",
        note="The high half of an integer product.",
    ),
    row(
        "implemented",
        "Conj",
        "operand",
        stablehlo="stablehlo.real stablehlo.negate stablehlo.imag stablehlo.complex",
        lax="conj",
        source="header",
        note="Real floats give a complex array, as they do in lax.",
    ),
    # XLA's math library composes these; they are no operations of XlaBuilder.
    row(
        "hlo-only",
        "Square",
        "operand",
        stablehlo="chlo.square",
        lax="square",
        function="",
        source="header",
        note="Part of XLA's math library and outside the document: use jax.lax.square.",
    ),
    row(
        "hlo-only",
        "Exp2",
        "operand",
        lax="exp2",
        function="",
        source="header",
        note="Part of XLA's math library and outside the document: use jax.lax.exp2.",
    ),
    row(
        "hlo-only",
        "Log2",
        "operand",
        function="",
        source="header",
        note="Part of XLA's math library and outside the document: use jax.numpy.log2, "
        "as older versions of jax.lax have none.",
    ),
    row(
        "hlo-only",
        "Acos",
        "operand",
        stablehlo="chlo.acos",
        lax="acos",
        function="",
        source="header",
        note="Part of XLA's math library and outside the document, like the other "
        "inverse and hyperbolic functions: use jax.lax.acos and its neighbours.",
    ),
)


COMPARISON = in_family(
    "comparison",
    row(
        "implemented",
        "Compare",
        "lhs rhs broadcast_dimensions direction type",
        stablehlo="stablehlo.compare",
        lax="eq ne ge gt le lt",
        note="The document describes its six directions and gives no signature; the "
        "parameters are the header's. A type of TOTALORDER asks for the total order.",
    ),
    *_binary(
        "implemented",
        "Eq",
        "stablehlo.compare",
        "eq",
        "NaN equals nothing and the two zeros are equal.",
    ),
    _total_order("EqTotalOrder", "eq_to_p"),
    *_binary(
        "implemented",
        "Ne",
        "stablehlo.compare",
        "ne",
        "NaN differs from everything and the two zeros are equal.",
    ),
    _total_order("NeTotalOrder", "", "lax has nothing for this direction."),
    *_binary(
        "implemented",
        "Ge",
        "stablehlo.compare",
        "ge",
        "False where an operand is NaN; complex numbers have no order.",
    ),
    _total_order(
        "GeTotalOrder",
        "",
        "The document prints GtTotalOrder under the heading Ge; both exist.",
    ),
    *_binary(
        "implemented",
        "Gt",
        "stablehlo.compare",
        "gt",
        "False where an operand is NaN; complex numbers have no order.",
    ),
    _total_order(
        "GtTotalOrder",
        "",
        "The document prints it under the heading Ge and not under Gt.",
    ),
    *_binary(
        "implemented",
        "Le",
        "stablehlo.compare",
        "le",
        "False where an operand is NaN; complex numbers have no order.",
    ),
    _total_order("LeTotalOrder", "le_to_p"),
    *_binary(
        "implemented",
        "Lt",
        "stablehlo.compare",
        "lt",
        "False where an operand is NaN; complex numbers have no order.",
    ),
    _total_order("LtTotalOrder", "lt_to_p"),
)


CONVERSION = in_family(
    "conversion",
    row(
        "hlo-only",
        "Bitcast",
        "operand shape",
        stablehlo="mhlo.bitcast",
        lax="bitcast_convert_type",
        note="The compiler's own reinterpretation of a layout; a program uses "
        "BitcastConvertType, or Reshape.",
    ),
    row(
        "implemented",
        "BitcastConvertType",
        "operand new_element_type",
        stablehlo="stablehlo.bitcast_convert",
        lax="bitcast_convert_type",
        note="Types of another width add or remove a last dimension; PRED and complex "
        "numbers convert to themselves only.",
    ),
    row(
        "implemented",
        "ConvertElementType",
        "operand new_element_type",
        stablehlo="stablehlo.convert",
        lax="convert_element_type",
        note="Float to integer, which the document leaves open, saturates and turns "
        "NaN into zero; complex to real drops the imaginary part without a warning.",
    ),
    row(
        "implemented",
        "ReducePrecision",
        "operand exponent_bits mantissa_bits",
        stablehlo="stablehlo.reduce_precision",
        lax="reduce_precision",
        note="Rounds ties to even and sends what exceeds the exponent to infinity.",
    ),
    # Only in the header.
    row(
        "implemented",
        "StochasticConvertType",
        "operand random new_element_type",
        stablehlo="stablehlo.bitcast_convert",
        source="header",
        note="lax has nothing for it, and XLA's own operation does not run for every "
        "type on every backend, so it is integer arithmetic; random holds unsigned "
        "bits of the operand's width.",
    ),
)

RECORDS = (*ELEMENTWISE, *COMPARISON, *CONVERSION)
