"""One entry or several for every implemented operation: operands, oracle, derivatives.

The tests of values, transformations and errors all read this table. An operation of the
catalog that is implemented and not here fails `test_table.py`.
"""

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo
from xlaops import catalog

SIGNED = ("int4", "int8", "int16", "int32", "int64")
UNSIGNED = ("uint4", "uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2")
COMPLEX = ("complex64", "complex128")
INEXACT = FLOATS + COMPLEX
NUMBERS = INEXACT + INTEGERS
ORDERED = FLOATS + INTEGERS + ("bool",)
EVERY = (*NUMBERS, "bool")
# For the further forms of an operation whose plain form runs through all types.
FEW = ("float32", "int32", "bfloat16", "float64")

# One of each kind, for operations of which a sister runs through all types.
KINDS = ("float32", "int32", "uint8", "bool", "bfloat16", "float64")

TWO_THREE = (2, 3)


@dataclasses.dataclass(frozen=True)
class Error:
    """A call that is refused.

    Attributes:
      call: makes the call.
      exception: what it raises.
      parameter: what the message must name next to the operation.
      value: how the message writes what came.
    """

    call: Callable[[], Any]
    exception: type[Exception]
    parameter: str
    value: str


@dataclasses.dataclass(frozen=True)
class Case:
    """One way to call an operation.

    Attributes:
      title: the catalog's record that it belongs to.
      label: tells apart several cases of one record.
      arguments: operands from a numpy generator and an element type.
      arrange: the operands as named arguments.
      statics: the static arguments, by name.
      oracle: called with the operands and static arguments, as numpy arrays; of a
        random operation, called with the sample and the operands, and asserts.
      dtypes: the element types that the case takes.
      exact: whether the result must be the oracle's to the last bit.
      gradient: "yes", "zero", or "not differentiable" (the result is not continuous).
      smooth: operands for derivatives: float64 (or complex128), away from kinks.
      differentiable: the operands with derivatives; None is all of them.
      in_axes: the operands that `jax.vmap` may map; None is all of them.
      error: a call that is refused.
      random: whether the result differs from run to run.
      looser: factor of the tolerance, with its reason beside it.
    """

    title: str
    label: str
    arguments: Callable[..., tuple[Any, ...]]
    arrange: Callable[..., Mapping[str, Any]]
    oracle: Callable[..., Any]
    dtypes: tuple[str, ...]
    gradient: str
    error: Error
    statics: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    exact: bool = False
    smooth: Callable[..., tuple[Any, ...]] | None = None
    differentiable: tuple[int, ...] | None = None
    in_axes: tuple[int, ...] | None = None
    random: bool = False
    looser: float = 1.0

    @property
    def record(self) -> catalog.Record:
        return _RECORDS[self.title]

    @property
    def function(self) -> Callable[..., Any]:
        return operator.attrgetter(self.record.function)(xo)

    @property
    def name(self) -> str:
        return f"{self.record.function}-{self.label}" if self.label else self.title

    def named(self, *operands: Any) -> dict[str, Any]:
        """The arguments of a call, by name."""
        return {**self.arrange(*operands), **self.statics}

    def call(self, *operands: Any) -> Any:
        """The result, with all arguments by position in the document's order."""
        named = self.named(*operands)
        order = self.record.parameters
        given = [p for p in order if p in named]
        assert given == list(order[: len(given)]), self.name
        assert len(given) == len(named), self.name
        return self.function(*(named[p] for p in given))

    def reference(self) -> Callable[..., Any]:
        """`call`, for many calls: jitted where each would trace its functions again."""
        if self.record.family == "control_flow":
            return jax.jit(self.call)
        return self.call

    def call_by_keyword(self, *operands: Any) -> Any:
        return self.function(**self.named(*operands))

    def expected(self, *operands: Any) -> Any:
        """The oracle's result for numpy operands."""
        with np.errstate(all="ignore"):
            return self.oracle(*operands, **self.statics)

    def smooth_operands(self, rng: np.random.Generator, dtype: str = "float64") -> Any:
        return (self.smooth or self.arguments)(rng, dtype)

    def derivative_operands(self) -> tuple[int, ...]:
        if self.differentiable is not None:
            return self.differentiable
        return tuple(range(len(self.smooth_operands(np.random.default_rng(0)))))

    def mapped_operands(self) -> tuple[int, ...]:
        if self.in_axes is not None:
            return self.in_axes
        rng = np.random.default_rng(0)
        return tuple(range(len(self.arguments(rng, self.dtypes[0]))))


_RECORDS = {record.title: record for record in catalog.RECORDS}


def dtype_of(name: str) -> np.dtype:
    return np.dtype(jnp.dtype(name))


# Operands


def uniform(rng, dtype, shape, low=-3.0, high=3.0):
    """Numbers without special values. Integers come from the same interval."""
    dtype = dtype_of(dtype)
    match oracles.kind(dtype):
        case "b":
            return rng.integers(0, 2, shape).astype(bool)
        case "i":
            return rng.integers(int(np.floor(low)), int(high) + 1, shape).astype(dtype)
        case "u":
            return rng.integers(
                int(np.maximum(low, 0)), int(high) + 1, shape, np.uint64
            ).astype(dtype)
        case "c":
            parts = rng.uniform(low, high, (2, *shape))
            return (parts[0] + 1j * parts[1]).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)


def anything(rng, dtype, shape):
    """Numbers of the whole range, with the special values of the type among them."""
    dtype = dtype_of(dtype)
    size = int(np.prod(shape))
    match oracles.kind(dtype):
        case "b":
            return rng.integers(0, 2, shape).astype(bool)
        case "i" | "u":
            width = oracles.bits(dtype)
            raw = rng.integers(0, 1 << 64, size, np.uint64, endpoint=False)
            values = [int(v) % (1 << width) for v in raw]
            special = [0, 1, (1 << width) - 1, 1 << (width - 1)]
            values[: len(special)] = special[:size]
            rng.shuffle(values)
            return oracles.wrapped(np.array(values, object), dtype).reshape(shape)
        case "c":
            return uniform(rng, dtype, shape)
    values = np.round(rng.normal(0, 4, size) * 4) / 4
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0]
    if dtype.name == "float8_e4m3fn":  # which has no infinities
        special = [0.0, -0.0, np.nan, 1.0]
    values[: len(special)] = special[:size]
    rng.shuffle(values)
    return values.reshape(shape).astype(dtype)


def apart(rng, shape, dtype="float64"):
    """Numbers no two of which are near each other, an integer or a half."""
    size = int(np.prod(shape))
    values = rng.permutation(size) - size // 2 + rng.uniform(0.1, 0.4, size)
    return values.reshape(shape).astype(dtype_of(dtype))


def by_name(*names):
    def arrange(*operands):
        return dict(zip(names, operands, strict=True))

    return arrange


# Element-wise operations of one operand


def _function(title, oracle, low=-3.0, high=3.0, *, interval=None, looser=1.0):
    """A function with a result accuracy: the plain form, and that with it."""
    name = _RECORDS[title].function
    function = getattr(xo, name)

    def arguments(rng, dtype):
        return (uniform(rng, dtype, (3, 4), low, high),)

    def smooth(rng, dtype="float64"):
        return (uniform(rng, dtype, (2, 3), *(interval or (low, high))),)

    shared = {
        "arguments": arguments,
        "arrange": by_name("operand"),
        "gradient": "yes",
        "smooth": smooth,
        "looser": looser,
    }
    return (
        Case(
            title=title,
            label="",
            oracle=oracle,
            dtypes=INEXACT,
            error=Error(
                lambda: function(jnp.arange(3)), TypeError, "operand", "int32[3]"
            ),
            **shared,
        ),
        Case(
            title=f"{title} (result_accuracy)",
            label="",
            oracle=lambda operand, result_accuracy: oracle(operand),
            statics={"result_accuracy": "HIGHEST"},
            dtypes=("float32",),
            error=Error(
                lambda: function(jnp.ones(3), {"atol": -1.5}),
                ValueError,
                "result_accuracy",
                "-1.5",
            ),
            **shared,
        ),
    )


def _unary(title, oracle, dtypes, *, gradient="yes", exact=True, looser=1.0):
    function = getattr(xo, _RECORDS[title].function)
    refused = np.ones(3, bool) if "bool" not in dtypes else np.ones(3, np.float32)
    if gradient == "yes":

        def smooth(rng, dtype="float64"):
            if dtype.startswith("c"):
                return (uniform(rng, dtype, (2, 3), 0.5, 2.0),)
            return (apart(rng, (2, 3), dtype),)

    else:
        smooth = None

    return Case(
        title=title,
        label="",
        arguments=lambda rng, dtype: (anything(rng, dtype, (3, 4)),),
        arrange=by_name("operand"),
        oracle=oracle,
        dtypes=dtypes,
        exact=exact,
        gradient=gradient,
        smooth=smooth,
        looser=looser,
        error=Error(
            lambda: function(refused),
            TypeError,
            "operand",
            f"{refused.dtype}[3]",
        ),
    )


# Element-wise operations of two operands


def _binary(
    title,
    oracle,
    dtypes,
    *,
    gradient="yes",
    exact=True,
    arguments=None,
    smooth=None,
    looser=1.0,
    few=None,
):
    """The plain form, and that with broadcast_dimensions."""
    function = getattr(xo, _RECORDS[title].function)
    few = few or tuple(t for t in FEW if t in dtypes) or dtypes[:3]
    arguments = arguments or anything
    shared = {
        "arrange": by_name("lhs", "rhs"),
        "exact": exact,
        "gradient": gradient,
        "looser": looser,
    }

    def both(make, *shapes):
        if make is None:
            return None

        def operands(rng, dtype="float64"):
            if make is apart:
                parts = apart(rng, (3 * int(np.prod(shapes[0])),), dtype)
                sizes = [int(np.prod(s)) for s in shapes]
                return tuple(
                    parts[: sizes[0]].reshape(shapes[0])
                    if i == 0
                    else parts[sizes[0] : sizes[0] + sizes[1]].reshape(shapes[1])
                    for i in range(2)
                )
            return tuple(make(rng, dtype, shape) for shape in shapes)

        return operands

    zeros = [np.zeros(s, dtype_of(dtypes[0])) for s in ((2, 3), (3,))]
    plain = Case(
        title=title,
        label="",
        arguments=both(arguments, (3, 4), (3, 4)),
        oracle=oracle,
        dtypes=dtypes,
        smooth=both(smooth, TWO_THREE, TWO_THREE),
        error=Error(
            lambda: function(*zeros), TypeError, "broadcast_dimensions", "(3,)"
        ),
        **shared,
    )
    degenerate = dataclasses.replace(
        plain,
        label="degenerate",
        dtypes=few[:1],
        arguments=both(arguments, (3, 1), (1, 4)),
        smooth=both(smooth, (3, 1), (1, 2)),
        error=Error(
            lambda: function(zeros[1], zeros[1][:2]), TypeError, "lhs and rhs", "(2,)"
        ),
    )
    scalar = dataclasses.replace(
        plain,
        label="scalar",
        dtypes=few[:1],
        arguments=both(arguments, (3, 4), ()),
        smooth=both(smooth, TWO_THREE, ()),
        error=Error(
            lambda: function(zeros[1], [1]), TypeError, "rhs", "list of length 1"
        ),
    )
    dims = Case(
        title=f"{title} (broadcast_dimensions)",
        label="",
        arguments=both(arguments, (4,), (3, 4)),
        oracle=oracle,
        statics={"broadcast_dimensions": (1,)},
        dtypes=few,
        smooth=both(smooth, (3,), TWO_THREE),
        error=Error(
            lambda: function(*zeros, (2,)), ValueError, "broadcast_dimensions", "(2,)"
        ),
        **shared,
    )
    # Size 1 of each is stretched, after the ranks are made equal.
    both_ways = dataclasses.replace(
        dims,
        label="both ways",
        statics={"broadcast_dimensions": (0, 2)},
        dtypes=few[:1],
        arguments=both(arguments, (2, 1, 4), (1, 4)),
        smooth=both(smooth, (2, 1, 2), (1, 2)),
        error=Error(
            lambda: function(np.zeros((2, 3, 4), zeros[0].dtype), zeros[0], (1, 0)),
            ValueError,
            "broadcast_dimensions",
            "(1, 0)",
        ),
    )
    return plain, degenerate, scalar, dims, both_ways


def _total_order(direction):
    name = direction.capitalize()
    function = getattr(xo, f"{direction.lower()}_total_order")
    plain = Case(
        title=f"{name}TotalOrder",
        label="",
        arguments=lambda rng, dtype: tuple(
            anything(rng, dtype, (3, 4)) for _ in range(2)
        ),
        arrange=by_name("lhs", "rhs"),
        statics={"broadcast_dimensions": ()},
        oracle=oracles.total_order(direction),
        dtypes={"EQ": ORDERED, "LT": ORDERED}.get(direction, KINDS),
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: function(np.ones(2, np.complex64), np.ones(2, np.complex64)),
            TypeError,
            "lhs",
            "complex64[2]",
        ),
    )
    dims = dataclasses.replace(
        plain,
        label="broadcast_dimensions",
        arguments=lambda rng, dtype: (
            anything(rng, dtype, (4,)),
            anything(rng, dtype, (3, 4)),
        ),
        statics={"broadcast_dimensions": (1,)},
        dtypes=FEW,
        error=Error(
            lambda: function(np.ones(3), np.ones((2, 4)), (1,)),
            TypeError,
            "lhs",
            "(3,)",
        ),
    )
    return plain, dims


def _compare(direction, type_, dtypes):
    return Case(
        title="Compare",
        label=f"{direction} {type_}",
        arguments=lambda rng, dtype: (
            anything(rng, dtype, (3, 4)),
            anything(rng, dtype, (4,)),
        ),
        arrange=by_name("lhs", "rhs"),
        statics={
            "broadcast_dimensions": (1,),
            "direction": direction,
            "type": type_,
        },
        oracle=oracles.compare,
        dtypes=dtypes,
        exact=True,
        gradient="not differentiable",
        error=Error(
            lambda: xo.compare(jnp.ones(2), jnp.ones(2), (), "LT", "SIGNED"),
            TypeError,
            "type",
            "SIGNED",
        )
        if type_ is None
        else Error(
            lambda: xo.compare(jnp.ones(2), jnp.ones(2), (), "BELOW"),
            ValueError,
            "direction",
            "BELOW",
        ),
    )


def _positive(rng, dtype, shape):
    return uniform(rng, dtype, shape, 0.5, 2.9)


def _nonzero(rng, dtype, shape):
    """Away from zero; the remainders away from multiples as well."""
    return uniform(rng, dtype, shape, 1.1, 2.9) * (
        1 if oracles.kind(dtype_of(dtype)) == "u" else dtype_of(dtype).type(-1)
    )


def _mixed_powers(rng, dtype, shape):
    """Real bases are positive: other powers of negative ones are NaN."""
    if oracles.kind(dtype_of(dtype)) in "iu":
        return uniform(rng, dtype, shape, -7, 7)
    return _positive(rng, dtype, shape)


ELEMENTWISE = (
    # jax.lax has it for no 4-bit integers; complex ones are rounded by a hypotenuse.
    _unary("Abs", oracles.abs_, tuple(t for t in NUMBERS if t != "int4"), exact=False),
    *_binary(
        "Add", oracles.add, EVERY, smooth=lambda rng, dtype, s: uniform(rng, dtype, s)
    ),
    *_binary("And", oracles.and_, ("bool", *INTEGERS), gradient="not differentiable"),
    *_binary("Atan2", oracles.atan2, FLOATS, exact=False, smooth=_positive),
    *_function("Cbrt", oracles.cbrt, interval=(0.4, 3.0)),
    _unary("Ceil", oracles.ceil, FLOATS, gradient="zero"),
    *_function("Cos", oracles.cos),
    *_binary("Div", oracles.div, NUMBERS, exact=False, smooth=_positive),
    *_function("Exp", oracles.exp),
    *_function("Expm1", oracles.expm1),
    _unary("Floor", oracles.floor, FLOATS, gradient="zero"),
    _unary("IsFinite", oracles.is_finite, FLOATS, gradient="not differentiable"),
    *_function("Log", oracles.log, 0.2, 3.0),
    *_function("Log1p", oracles.log1p, -0.7, 3.0),
    *_function("Logistic", oracles.logistic),
    *_binary("Max", oracles.maximum, EVERY, smooth=apart),
    *_binary("Min", oracles.minimum, EVERY, smooth=apart),
    *_binary("Mul", oracles.mul, EVERY, exact=False, smooth=_positive),
    _unary("Neg", oracles.neg, NUMBERS),
    _unary("Not", oracles.not_, ("bool", *INTEGERS), gradient="not differentiable"),
    *_binary("Or", oracles.or_, ("bool", *INTEGERS), gradient="not differentiable"),
    *_binary(
        "Pow",
        oracles.power,
        NUMBERS,
        exact=False,
        arguments=_mixed_powers,
        smooth=_positive,
        looser=4.0,  # exp(y log x) of numbers of which the logarithm is not small
    ),
    *_binary(
        "Rem",
        oracles.rem,
        FLOATS + INTEGERS,
        smooth=lambda rng, dtype, s: apart(rng, s, dtype) + 0.5,
    ),
    _unary("Round", oracles.round_away, FLOATS, gradient="zero"),
    _unary("RoundNearestAfz", oracles.round_away, FLOATS, gradient="zero"),
    _unary("RoundNearestEven", oracles.round_even, FLOATS, gradient="zero"),
    *_function("Rsqrt", oracles.rsqrt, 0.3, 3.0),
    _unary("Sign", oracles.sign, NUMBERS, exact=False),
    *_function("Sin", oracles.sin),
    *_function("Sqrt", oracles.sqrt, 0.3, 3.0),
    *_binary(
        "Sub",
        oracles.sub,
        NUMBERS,
        smooth=lambda rng, dtype, s: uniform(rng, dtype, s),
    ),
    *_function("Tan", oracles.tan, -1.2, 1.2),
    *_function("Tanh", oracles.tanh),
    *_binary("Xor", oracles.xor, ("bool", *INTEGERS), gradient="not differentiable"),
)

COMPARISONS = (
    *(
        case
        for direction in ("EQ", "NE", "GE", "GT", "LE", "LT")
        for case in _binary(
            direction.capitalize(),
            oracles.comparison(direction),
            {"EQ": EVERY, "LT": ORDERED}.get(direction, KINDS),
            gradient="not differentiable",
        )
    ),
    *(
        case
        for direction in ("EQ", "NE", "GE", "GT", "LE", "LT")
        for case in _total_order(direction)
    ),
    _compare("EQ", None, EVERY),
    _compare("NE", None, KINDS),
    _compare("GE", None, KINDS),
    _compare("GT", "FLOAT", FLOATS),
    _compare("LE", "SIGNED", SIGNED),
    _compare("LT", "UNSIGNED", (*UNSIGNED, "bool")),
    _compare("LT", "TOTALORDER", FLOATS),
    _compare("GE", "TOTALORDER", ("float32",)),
)


# Choice and conversion


def _clamp_arguments(*shapes):
    def arguments(rng, dtype):
        low = uniform(rng, dtype, shapes[0], -3, 1)
        high = uniform(rng, dtype, shapes[2], 0, 3)
        return low, anything(rng, dtype, shapes[1]), high

    return arguments


def _clamp_smooth(*shapes):
    """Below, between and above the bounds, and never near one."""

    def smooth(rng, dtype="float64"):
        low = uniform(rng, dtype, shapes[0], -1.2, -1.0)
        high = uniform(rng, dtype, shapes[2], 1.0, 1.2)
        x = np.resize([-2.0, 0.1, 2.0, 0.3, 1.7, -1.9], shapes[1])
        return low, (x + rng.uniform(0, 0.1, shapes[1])).astype(dtype), high

    return smooth


def _clamp(label, *shapes, dtypes):
    return Case(
        title="Clamp",
        label=label,
        arguments=_clamp_arguments(*shapes),
        arrange=by_name("min", "operand", "max"),
        oracle=oracles.clamp,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=_clamp_smooth(*shapes),
        error=Error(
            lambda: xo.clamp(jnp.zeros(2), jnp.zeros((2, 3)), 1.0),
            TypeError,
            "min",
            "(2,)",
        ),
    )


def _select(label, *shapes, dtypes):
    def arguments(rng, dtype):
        pred = rng.integers(0, 2, shapes[0]).astype(bool)
        return pred, anything(rng, dtype, shapes[1]), anything(rng, dtype, shapes[2])

    def smooth(rng, dtype="float64"):
        return arguments(rng, "bool")[0], *(uniform(rng, dtype, s) for s in shapes[1:])

    return Case(
        title="Select",
        label=label,
        arguments=arguments,
        arrange=by_name("pred", "on_true", "on_false"),
        oracle=oracles.select,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth,
        differentiable=(1, 2),
        error=Error(
            lambda: xo.select(jnp.ones(2, jnp.int32), jnp.ones(2), jnp.ones(2)),
            TypeError,
            "pred",
            "int32[2]",
        ),
    )


def _convert_arguments(target):
    def arguments(rng, dtype):
        # What does not fit is the backend's choice: `test_values.py` has XLA's.
        small = target in ("s4", "s8", "u32")
        low = 0 if target[0] == "u" else -7
        if oracles.kind(dtype_of(dtype)) in "iu":
            return (anything(rng, dtype, (3, 4)),)
        return (uniform(rng, dtype, (3, 4), low, 7 if small else 12),)

    return arguments


def _convert(target, dtypes, gradient="not differentiable", label=None):
    return Case(
        title="ConvertElementType",
        label=label or f"to {target}",
        arguments=_convert_arguments(target),
        arrange=by_name("operand"),
        statics={"new_element_type": target},
        oracle=oracles.convert,
        dtypes=dtypes,
        exact=True,
        gradient=gradient,
        smooth=lambda rng, dtype="float64": (uniform(rng, dtype, (2, 3)),),
        error=Error(
            lambda: xo.convert_element_type(jnp.ones(2), "f33"),
            TypeError,
            "new_element_type",
            "f33",
        ),
    )


CHOICE = (
    _clamp("", (3, 4), (3, 4), (3, 4), dtypes=ORDERED),
    _clamp("scalar bounds", (), (3, 4), (), dtypes=FEW),
    _clamp("scalar operand", (3, 4), (), (3, 4), dtypes=FEW),
    _clamp("scalar min", (), (3, 4), (3, 4), dtypes=FEW),
    _select("", (3, 4), (3, 4), (3, 4), dtypes=EVERY),
    _select("scalar pred", (), (3, 4), (3, 4), dtypes=FEW),
    _select("scalar branch", (3, 4), (), (3, 4), dtypes=FEW),
    _convert("pred", EVERY),
    _convert("s8", EVERY),
    _convert("s4", ("float32", "int32", "bool", "uint8")),
    _convert("u32", EVERY),
    _convert("bf16", EVERY),
    _convert("f16", ("float32", "float64", "int32", "bfloat16")),
    _convert("f8e4m3fn", ("float32", "float16", "bfloat16", "int8", "bool")),
    _convert("f32", EVERY, "yes"),
    _convert("c64", EVERY, "yes"),
    _convert("s64", ("int64", "uint64", "float64", "int8")),
    _convert("f64", ("int64", "uint64", "float64", "float32"), "yes"),
)


# Shapes


def _one(shape):
    return lambda rng, dtype="float64": (anything(rng, dtype, shape),)


def _smooth(*shapes):
    return lambda rng, dtype="float64": tuple(uniform(rng, dtype, s) for s in shapes)


def _shape_case(title, label, shape, statics, oracle, error, dtypes=EVERY, smooth=None):
    return Case(
        title=title,
        label=label,
        arguments=_one(shape),
        arrange=by_name("operand"),
        statics=statics,
        oracle=oracle,
        dtypes=dtypes,
        exact=True,
        gradient="yes",
        smooth=smooth or _smooth(shape),
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
        smooth=_smooth(*shapes),
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
        smooth=_smooth(shape, ()),
        error=Error(
            lambda: xo.pad(jnp.ones(2), 0.0, [(0, 0, -1)]),
            ValueError,
            "padding_config",
            "-1",
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
)


# Products

# An int8 or float8 sum of more products would round or wrap at every step.
PRODUCT_TYPES = (
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)


def _pair(low, high, *shapes):
    return lambda rng, dtype="float64": tuple(
        uniform(rng, dtype, s, low, high) for s in shapes
    )


def _product(
    title, label, shapes, statics, oracle, error, dtypes=PRODUCT_TYPES, gradient="yes"
):
    return Case(
        title=title,
        label=label,
        arguments=_pair(-2, 2, *shapes),
        arrange=by_name("lhs", "rhs"),
        statics=statics,
        oracle=oracle,
        dtypes=dtypes,
        gradient=gradient,
        looser=4.0,  # sums of up to 36 products of up to 4
        error=error,
    )


_DOT_ERROR = Error(
    lambda: xo.dot(jnp.ones((2, 3)), jnp.ones((2, 3))), TypeError, "lhs", "(2, 3)"
)
_SUM = {"precision_config": "HIGHEST", "preferred_element_type": None}
_NUMBERS = (((2, 0), (1, 3)), ((1,), (0,)))

DOTS = (
    _product(
        "Dot",
        "",
        ((3, 4), (4, 2)),
        {},
        oracles.dot,
        _DOT_ERROR,
        (*PRODUCT_TYPES, "bool", "int4", "uint4", "float8_e4m3fn", "float8_e5m2"),
    ),
    _product("Dot", "vectors", ((4,), (4,)), {}, oracles.dot, _DOT_ERROR, FEW),
    _product(
        "Dot", "matrix and vector", ((3, 4), (4,)), {}, oracles.dot, _DOT_ERROR, FEW
    ),
    _product("Dot", "rank 3", ((2, 4, 3), (4, 2, 2)), {}, oracles.dot, _DOT_ERROR, FEW),
    _product(
        "Dot",
        "preferred",
        ((3, 4), (4, 2)),
        {"precision_config": None, "preferred_element_type": np.float32},
        oracles.dot,
        Error(
            lambda: xo.dot(jnp.ones(2), jnp.ones(2, "bfloat16")),
            TypeError,
            "lhs",
            "bfloat16[2]",
        ),
        ("bfloat16", "float16", "float8_e5m2"),
    ),
    _product(
        "Dot",
        "preferred s32",
        ((3, 4), (4, 2)),
        {"precision_config": None, "preferred_element_type": np.int32},
        oracles.dot,
        _DOT_ERROR,
        ("int8",),
        "not differentiable",
    ),
    _product(
        "DotGeneral",
        "",
        ((3, 2, 4), (2, 4, 2, 3)),
        {"dimension_numbers": _NUMBERS, **_SUM},
        oracles.dot_general,
        Error(
            lambda: xo.dot_general(
                jnp.ones((2, 3)), jnp.ones((3, 2)), (((1,), (2,)), ((), ()))
            ),
            ValueError,
            "rhs_contracting_dimensions",
            "(2,)",
        ),
    ),
    _product(
        "DotGeneral",
        "outer",
        ((3,), (2,)),
        {"dimension_numbers": (((), ()), ((), ()))},
        oracles.dot_general,
        Error(
            lambda: xo.dot_general(
                jnp.ones((2, 3)), jnp.ones((2, 3)), (((0,), (1,)), ((), ()))
            ),
            TypeError,
            "contracting",
            "(2, 3)",
        ),
        FEW,
    ),
)

_CONV_ERRORS = {
    "window_strides": ((0, 1), ValueError, "window_strides", "(0, 1)"),
    "padding": ([(1, 1)], ValueError, "padding", "((1, 1),)"),
    "lhs_dilation": ((0, 1), ValueError, "lhs_dilation", "(0, 1)"),
    "feature_group_count": (2, TypeError, "feature_group_count", "(1, 2, 5, 4)"),
}


def _conv(title, label, shapes, statics, wrong, dtypes=FEW, smooth=None):
    """A convolution; ``wrong`` names the static argument that is refused."""
    function = getattr(xo, _RECORDS[title].function)
    value, exception, parameter, came = _CONV_ERRORS[wrong]
    base = {"window_strides": (1, 1), "padding": [(0, 0), (0, 0)]}
    if title in ("Conv", "ConvWithGeneralDimensions"):
        base["padding"] = "VALID"
    if "dimension_numbers" in statics:
        base["dimension_numbers"] = "bf01_oi01->bf01"
    if title == "ConvGeneralDilated":
        base |= {"lhs_dilation": (1, 1), "rhs_dilation": (1, 1)}
    base[wrong] = value
    case = _product(
        title,
        label,
        shapes,
        statics,
        oracles.convolution,
        Error(
            lambda: function(jnp.ones((1, 2, 5, 4)), jnp.ones((2, 2, 2, 2)), **base),
            exception,
            parameter,
            came,
        ),
        dtypes,
    )
    return dataclasses.replace(case, smooth=smooth)


_TAIL = {
    "feature_group_count": 1,
    "batch_group_count": 1,
    "precision_config": "HIGHEST",
    "preferred_element_type": None,
}
_NHWC = "b01f_01io->b01f"

CONVOLUTIONS = (
    _conv(
        "Conv",
        "",
        ((2, 2, 4, 3), (2, 2, 3, 2)),
        {"window_strides": (2, 1), "padding": "SAME"},
        "window_strides",
        PRODUCT_TYPES,
    ),
    _conv(
        "Conv",
        "valid and groups",
        ((2, 4, 4, 3), (4, 2, 2, 2)),
        {
            "window_strides": (1, 1),
            "padding": "VALID",
            **_TAIL,
            "feature_group_count": 2,
        },
        "feature_group_count",
    ),
    _conv(
        "Conv",
        "preferred",
        ((2, 2, 4, 3), (2, 2, 3, 2)),
        {
            "window_strides": (1, 1),
            "padding": "VALID",
            **_TAIL,
            "preferred_element_type": np.float32,
        },
        "window_strides",
        ("bfloat16",),
        # Its element type may not be narrower than the operands'.
        smooth=lambda rng, dtype="float64": _pair(-2, 2, (2, 2, 4, 3), (2, 2, 3, 2))(
            rng, "float32"
        ),
    ),
    _conv(
        "ConvWithGeneralPadding",
        "",
        ((1, 2, 4, 3), (2, 2, 2, 2)),
        {"window_strides": (1, 2), "padding": ((1, 0), (-1, 2))},
        "padding",
        FEW,
    ),
    _conv(
        "ConvWithGeneralDimensions",
        "",
        ((1, 4, 3, 2), (2, 2, 2, 2)),
        {
            "window_strides": (1, 2),
            "padding": "SAME",
            "dimension_numbers": _NHWC,
            **_TAIL,
        },
        "window_strides",
        FEW,
    ),
    _conv(
        "ConvGeneral",
        "",
        ((1, 4, 3, 2), (2, 2, 2, 2)),
        {
            "window_strides": (2, 1),
            "padding": ((1, 1), (0, 1)),
            "dimension_numbers": _NHWC,
            **_TAIL,
        },
        "padding",
        FEW,
    ),
    _conv(
        "ConvGeneral",
        "batch groups",
        ((4, 4, 2), (2, 2, 4)),
        {
            "window_strides": (1,),
            "padding": ((0, 1),),
            "dimension_numbers": "b0f_0io->f0b",
            **_TAIL,
            "batch_group_count": 2,
        },
        "padding",
    ),
    _conv(
        "ConvGeneralDilated",
        "",
        ((1, 2, 4, 3), (2, 2, 2, 2)),
        {
            "window_strides": (1, 2),
            "padding": ((1, 2), (2, -1)),
            "lhs_dilation": (2, 1),
            "rhs_dilation": (1, 2),
            "dimension_numbers": "bf01_oi01->bf01",
        },
        "lhs_dilation",
        PRODUCT_TYPES,
    ),
    _conv(
        "ConvGeneralDilated",
        "reversed",
        ((1, 2, 4, 3), (2, 2, 3, 2)),
        {
            "window_strides": (1, 1),
            "padding": ((1, 1), (0, 1)),
            "lhs_dilation": (1, 2),
            "rhs_dilation": (1, 1),
            "dimension_numbers": "bf01_oi01->bf01",
            **_TAIL,
            "window_reversal": (True, False),
        },
        "padding",
    ),
)


# Random numbers: scalars are no batch, and samples are checked as they are


def _random(
    title, label, parameters, shape, low, high, oracle, dtypes, gradient, error
):
    names = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64"}

    def make(dtype):
        short = names.get(dtype) or ("u" if dtype[0] == "u" else "s") + (
            dtype.removeprefix("uint").removeprefix("int")
        )
        return Case(
            title=title,
            label=f"{label}{dtype}",
            arguments=lambda rng, dtype: (
                np.asarray(low, dtype_of(dtype)),
                np.asarray(high, dtype_of(dtype)),
            ),
            arrange=by_name(*parameters),
            statics={"shape": f"{short}{shape}"},
            oracle=oracle,
            dtypes=(dtype,),
            gradient=gradient,
            random=True,
            error=error,
        )

    return tuple(make(dtype) for dtype in dtypes)


_A_B = Error(
    lambda: xo.rng_uniform(jnp.zeros(2), 1.0, "f32[3]"), TypeError, "a", "float32[2]"
)
_MU_SIGMA = Error(lambda: xo.rng_normal(0, 1, "s32[3]"), TypeError, "shape", "s32[3]")
_FLOATS = ("float32", "float16", "bfloat16", "float64")

RANDOM = (
    *_random(
        "RngUniform",
        "",
        ("a", "b"),
        "[4,1000]",
        -1,
        2,
        oracles.check_uniform,
        _FLOATS,
        "yes",
        _A_B,
    ),
    *_random(
        "RngUniform",
        "",
        ("a", "b"),
        "[4,1000]",
        -3,
        7,
        oracles.check_uniform,
        ("int8", "int16", "int32", "int64"),
        "not differentiable",
        _A_B,
    ),
    *_random(
        "RngUniform",
        "",
        ("a", "b"),
        "[4,1000]",
        3,
        9,
        oracles.check_uniform,
        ("uint8", "uint16", "uint32", "uint64"),
        "not differentiable",
        _A_B,
    ),
    *_random(
        "RngNormal",
        "",
        ("mu", "sigma"),
        "[4,1000]",
        0.5,
        2,
        oracles.check_normal,
        _FLOATS,
        "yes",
        _MU_SIGMA,
    ),
)


# Control flow


def _on_true(x):
    return x * x


def _on_false(x):
    return x + x + x


_COMPUTATIONS = (_on_true, _on_false, lambda x: -x)


def _conditional_arguments(predicate):
    def arguments(rng, dtype="float32"):
        return np.asarray(predicate), *(uniform(rng, dtype, (3,)) for _ in range(2))

    return arguments


def _branch_arguments(index):
    def arguments(rng, dtype="float32"):
        return np.int32(index), *(uniform(rng, dtype, (3,)) for _ in range(3))

    return arguments


def _falls_short(x):
    return (x * x).sum() < 50.0


def _doubled(x):
    return x + x


CONTROL = (
    *(
        Case(
            title="Conditional (predicate)",
            label=f"{predicate}",
            arguments=_conditional_arguments(predicate),
            arrange=lambda pred, x, y: {
                "predicate": pred,
                "true_operand": x,
                "true_computation": _on_true,
                "false_operand": y,
                "false_computation": _on_false,
            },
            oracle=lambda pred, x, y: oracles.conditional(
                pred, x, y, on_true=_on_true, on_false=_on_false
            ),
            dtypes=("float32", "int32", "float64", "complex64", "uint8"),
            gradient="yes",
            differentiable=(1, 2),
            error=Error(
                lambda: xo.conditional(
                    jnp.int32(1), jnp.ones(2), _on_true, jnp.ones(2), _on_false
                ),
                TypeError,
                "predicate",
                "int32[]",
            ),
        )
        for predicate in (True, False)
    ),
    *(
        Case(
            title="Conditional (branch_index)",
            label=f"branch {index}",
            arguments=_branch_arguments(index),
            arrange=lambda i, *xs: {
                "branch_index": i,
                "branch_computations": _COMPUTATIONS,
                "branch_operands": xs,
            },
            oracle=lambda i, *xs: oracles.branches(i, *xs, computations=_COMPUTATIONS),
            dtypes=("float32", "int32", "float64"),
            gradient="yes",
            differentiable=(1, 2, 3),
            error=Error(
                lambda: xo.conditional(0, [_on_true], [jnp.ones(2), jnp.ones(2)]),
                ValueError,
                "branch_operands",
                "got 2",
            ),
        )
        for index in (0, 1, 2, 3, -1)
    ),
    Case(
        title="While",
        label="",
        arguments=lambda rng, dtype="float32": (uniform(rng, dtype, (3,), 1, 3),),
        arrange=lambda x: {"condition": _falls_short, "body": _doubled, "init": x},
        oracle=lambda x: oracles.while_(
            x, condition=lambda v: float((v * v).sum()) < 50, body=_doubled
        ),
        dtypes=("float32", "float64"),
        gradient="forward",
        error=Error(
            lambda: xo.while_(lambda v: v, _doubled, jnp.float32(1)),
            TypeError,
            "condition",
            "float32[]",
        ),
    ),
)

CASES = (
    *ELEMENTWISE,
    *COMPARISONS,
    *CHOICE,
    *SHAPES,
    *DOTS,
    *CONVOLUTIONS,
    *RANDOM,
    *CONTROL,
)


# Without forms that differ from another one in nothing that a transformation meets.
_SAMPLED = ("add", "div", "pow", "rem", "max", "lt")
TRANSFORMED = tuple(
    case
    for case in CASES
    if not case.random
    and not case.title.endswith("(result_accuracy)")
    and case.mapped_operands()
    and case.label not in ("to s64", "to f64")  # which need 64-bit types
    and (
        case.label not in ("degenerate", "scalar", "both ways")
        or case.record.function in _SAMPLED
    )
    and (
        not case.title.endswith("(broadcast_dimensions)")
        or case.record.function in _SAMPLED
    )
)


def case_id(case: Case) -> str:
    return case.name
