"""A small program for every operation of the catalog, to look at what it reads."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import xlaops as xo
from xlaops import types

from .observed import Arg

REPLICAS = 8
PAIRS = [[0, 3], [1, 2], [4, 7], [6, 5]]
UNEQUAL = [[2, 0, 1], [3, 4, 5, 6, 7]]


@dataclasses.dataclass(frozen=True)
class Program:
    """A function that calls operations, and its arguments.

    Attributes:
      functions: the operations that it shows, by their names in the catalog.
      f: the function.
      args: its arguments.
      exact: whether the maps are to relate exactly what depends on each other.
      draws: how many values are tried for each element.
    """

    functions: tuple[str, ...]
    f: Callable
    args: tuple[Arg, ...]
    exact: bool
    draws: int


PROGRAMS: dict[str, Program] = {}


def show(functions, f, *args, name="", exact=True, draws=48):
    functions = tuple(functions.split())
    name = name or functions[0]
    assert name not in PROGRAMS
    PROGRAMS[name] = Program(functions, f, args, exact, draws)


def each(names, call):
    """A function that calls several operations alike."""
    return lambda *xs: {name: call(getattr(xo, name), *xs) for name in names.split()}


F = Arg((5,))
I = Arg((5,), "int32", -9, 9)  # noqa: E741
U = Arg((5,), "uint32", 0, 2**32 - 1)
B = Arg((5,), "bool")
C = Arg((5,), "complex64")
X = Arg((3, 4))


def index(*shape, low=-2, high=6):
    return Arg(shape, "int32", low, high)


# Element by element

for _title, _names, _args in (
    (
        "float",
        "abs cbrt ceil cos cosh erf exp expm1 floor is_finite log log1p logistic neg "
        "round round_nearest_afz round_nearest_even rsqrt sign sin sqrt tan tanh",
        (F,),
    ),
    ("two floats", "add atan2 div max min mul pow rem sub", (F, F)),
    ("two integers", "and_ or_ xor mulhi", (U, U)),
    (
        "shifts",
        "shift_left shift_right_arithmetic shift_right_logical",
        (U, Arg((5,), "uint32", 0, 31)),
    ),
    ("bits", "clz not_ population_count", (U,)),
    ("parts", "real imag conj", (C,)),
    ("comparisons", "eq ne ge gt le lt", (I, I)),
    (
        "total order",
        "eq_total_order ne_total_order ge_total_order gt_total_order le_total_order "
        "lt_total_order",
        (Arg((5,), "float16"), Arg((5,), "float16")),
    ),
):
    # Equal numbers are rare among floats.
    show(
        _names,
        each(_names, lambda op, *xs: op(*xs)),
        *_args,
        name=_title,
        exact=_title not in ("total order", "float"),
    )
show(
    "is_finite",
    lambda x: xo.is_finite(xo.div(1.0, x)),
    Arg((4,), "float32", 0, 1),
    name="one of floats",
    exact=False,
)
show("add", lambda x, y: xo.add(x, y, [1]), X, Arg((4,)), name="add along")
show("add", lambda x, y: xo.add(x, y), Arg((3, 1)), X, name="add stretched")
show("complex", lambda x, y: xo.complex(x, y), F, F)
show("compare", lambda x, y: xo.compare(x, y, direction="LE"), I, I)
show("clamp", lambda a, x, b: xo.clamp(a, x, b), Arg(), F, Arg())
show("select", lambda p, x, y: xo.select(p, x, y), B, F, F)
show(
    "select",
    lambda p, x, y: xo.select(p, x, y),
    Arg((), "bool"),
    F,
    F,
    name="select one",
)
show("convert_element_type", lambda x: xo.convert_element_type(x, np.int32), F)
show("reduce_precision", lambda x: xo.reduce_precision(x, 5, 10), F)
show("bitcast_convert_type", lambda x: xo.bitcast_convert_type(x, np.uint8), F)
show(
    "bitcast_convert_type",
    lambda x: xo.bitcast_convert_type(x, np.uint16),
    Arg((3, 2), "uint8", 0, 255),
    name="bitcast wider",
)
show(
    "stochastic_convert_type",
    lambda x, r: xo.stochastic_convert_type(x, r, np.float16),
    F,
    U,
)
show(
    "map", lambda x, y: xo.map([x, y], lambda a, b: xo.add(xo.mul(a, b), a), [0]), F, F
)


# Shapes

show("broadcast", lambda x: xo.broadcast(x, [2]), X)
show(
    "broadcast_in_dim", lambda x: xo.broadcast_in_dim(x, (5, 3, 2), (1, 2)), Arg((3, 1))
)
show("constant", lambda x: xo.add(xo.constant([1.0, 2.0, 3.0, 4.0, 5.0]), x), F)
show("iota", lambda x: xo.mul(xo.iota("f32[3,4]", 1), x), X, exact=False)
show("collapse", lambda x: xo.collapse(x, [1, 2]), Arg((2, 3, 4)))
show("concat_in_dim", lambda x, y: xo.concat_in_dim([x, y, x], 1), X, Arg((3, 2)))
show("pad", lambda x, v: xo.pad(x, v, [(1, 2, 1), (0, -1, 0)]), X, Arg())
show("pad_in_dim", lambda x, v: xo.pad_in_dim(x, v, 1, 2, -1), X, Arg())
show("reshape", lambda x: xo.reshape(x, [2, 6]), X)
show(
    "reshape_with_inferred_dimension",
    lambda x: xo.reshape_with_inferred_dimension(x, [2, -1, 2], 1),
    X,
)
show("rev", lambda x: xo.rev(x, [1]), X)
show("transpose", lambda x: xo.transpose(x, [2, 0, 1]), Arg((2, 3, 4)))
show(
    "get_tuple_element tuple",
    lambda x, y: xo.get_tuple_element(xo.tuple([x, y]), 1),
    X,
    X,
)
show("optimization_barrier", lambda x, y: xo.optimization_barrier((x, y)), X, X)
show("slice", lambda x: xo.slice(x, [1, 0], [3, 4], [1, 3]), X)
show("slice_in_dim", lambda x: xo.slice_in_dim(x, 1, 4, 2, 1), X)
show(
    "dynamic_slice",
    lambda x, i, j: xo.dynamic_slice(x, [i, j], [2, 3]),
    X,
    index(),
    index(),
)
show(
    "dynamic_update_slice",
    lambda x, u, i, j: xo.dynamic_update_slice(x, u, [i, j]),
    X,
    Arg((2, 2)),
    index(),
    index(),
)
show(
    "gather",
    lambda x, i: xo.gather(
        x,
        i,
        types.GatherDimensionNumbers(
            offset_dims=[0, 2],
            collapsed_slice_dims=[],
            start_index_map=[1, 0],
            index_vector_dim=1,
        ),
        [2, 3],
    ),
    X,
    index(3, 2),
)
_ROWS = types.ScatterDimensionNumbers(
    update_window_dims=[1],
    inserted_window_dims=[0],
    scatter_dims_to_operand_dims=[0],
    index_vector_dim=1,
)
show(
    "scatter",
    lambda x, i, u: xo.scatter([x], i, [u], lambda a, b: xo.add(a, b), _ROWS),
    X,
    index(2, 1),
    Arg((2, 4)),
)
show(
    "scatter",
    lambda x, u: xo.scatter(
        [x], jnp.array([[2], [0], [7]]), [u], lambda a, b: xo.mul(a, b), _ROWS
    ),
    X,
    Arg((3, 4)),
    name="scatter known",
)


# Sizes that are data

show(
    "set_dimension_size remove_dynamic_dimension get_dimension_size",
    lambda x, n: xo.get_dimension_size(xo.set_dimension_size(x, n, 0), 0),
    X,
    index(low=0, high=3),
)
show(
    "remove_dynamic_dimension",
    lambda x, n: xo.remove_dynamic_dimension(xo.set_dimension_size(x, n, 0), 0),
    X,
    index(low=0, high=3),
    exact=False,
)
show(
    "dynamic_reshape",
    lambda x, n: (
        xo.dynamic_reshape(
            xo.set_dimension_size(x, n, 0), [n, 4], [3, 4], [True, False]
        ).data
    ),
    X,
    index(low=0, high=3),
    exact=False,
)


# Folds and orders

show("sort", lambda x, y: xo.sort([x, y], lambda a, b, c, d: xo.lt(a, b), 1), X, X)
show("top_k", lambda x: xo.top_k(x, 2), X)
show("reduce", lambda x, v: xo.reduce([x], [v], lambda a, b: a * b + 1, [1]), X, Arg())
show(
    "reduce",
    lambda x, y, v, w: xo.reduce(
        [x, y], [v, w], lambda a, b, c, d: (a + c, b * d + a * c), [0]
    ),
    X,
    X,
    Arg(),
    Arg(),
    name="reduce several",
)
show("reduce_all", lambda x, v: xo.reduce_all(x, v, lambda a, b: a + b), X, Arg())
show(
    "reduce_window",
    lambda x, v: xo.reduce_window([x], [v], lambda a, b: a * b + 1, [2], [1], "same"),
    F,
    Arg(),
)
show(
    "reduce_window_with_general_padding",
    lambda x, v: xo.reduce_window_with_general_padding(
        [x], [v], lambda a, b: a + b, [2, 3], [1, 2], [1, 2], [2, 1], [(1, 0), (2, 1)]
    ),
    Arg((3, 3)),
    Arg(),
)
show(
    "select_and_scatter",
    lambda x, s, v: xo.select_and_scatter(
        x, lambda a, b: a >= b, [2], [2], "valid", s, v, lambda a, b: a + b
    ),
    Arg((6,)),
    Arg((3,)),
    Arg(),
    exact=False,
)
show(
    "select_and_scatter_with_general_padding",
    lambda x, s, v: xo.select_and_scatter_with_general_padding(
        x, lambda a, b: a >= b, [3], [2], [(1, 1)], s, v, lambda a, b: a + b
    ),
    Arg((5,)),
    Arg((3,)),
    Arg(),
    exact=False,
)
show(
    "batch_norm_training",
    lambda x, a, b: xo.batch_norm_training(x, a, b, 0.1, 1),
    X,
    Arg((4,)),
    Arg((4,)),
)
show(
    "batch_norm_inference",
    lambda x, a, b, m, v: xo.batch_norm_inference(x, a, b, m, xo.exp(v), 0.1, 1),
    X,
    *[Arg((4,))] * 4,
)
show(
    "batch_norm_grad",
    lambda x, a, m, v, g: xo.batch_norm_grad(x, a, m, xo.exp(v), g, 0.1, 1),
    X,
    *[Arg((4,))] * 3,
    X,
    exact=False,
)


# Products, and linear algebra

show("dot", lambda x, y: xo.dot(x, y), X, Arg((4, 2)))
show(
    "dot_general",
    lambda x, y: xo.dot_general(x, y, (((1, 3), (3, 0)), ((2,), (1,)))),
    Arg((2, 3, 2, 2)),
    Arg((2, 2, 3, 3)),
)
show(
    "scaled_dot",
    lambda x, a, y, b: xo.scaled_dot(x, a, y, b, (((1,), (0,)), ((), ()))),
    Arg((3, 4)),
    Arg((3, 2)),
    Arg((4, 2)),
    Arg((1, 2)),
)
show(
    "ragged_dot",
    lambda x, y, n: xo.ragged_dot(
        x,
        y,
        n,
        types.RaggedDotDimensionNumbers(types.DotDimensionNumbers([1], [1]), [0], [0]),
    ),
    X,
    Arg((2, 4, 2)),
    Arg((2,), "int32", 0, 2),
    exact=False,
)
_KERNEL = (Arg((1, 2, 5)), Arg((3, 2, 2)))
show("conv", lambda x, k: xo.conv(x, k, [2], "same"), *_KERNEL)
show(
    "conv_with_general_padding",
    lambda x, k: xo.conv_with_general_padding(x, k, [1], [(2, 0)]),
    *_KERNEL,
)
_NWC = types.ConvolutionDimensionNumbers(
    input_batch_dimension=0,
    input_feature_dimension=2,
    input_spatial_dimensions=[1],
    kernel_input_feature_dimension=1,
    kernel_output_feature_dimension=2,
    kernel_spatial_dimensions=[0],
    output_batch_dimension=0,
    output_feature_dimension=2,
    output_spatial_dimensions=[1],
)
show(
    "conv_with_general_dimensions",
    lambda x, k: xo.conv_with_general_dimensions(x, k, [1], "valid", _NWC),
    Arg((1, 4, 2)),
    Arg((2, 2, 3)),
)
show(
    "conv_general",
    lambda x, k: xo.conv_general(x, k, [1], [(1, 1)], _NWC),
    Arg((1, 4, 2)),
    Arg((2, 2, 3)),
)
show(
    "conv_general_dilated",
    lambda x, k: xo.conv_general_dilated(
        x, k, [2], [(1, 2)], [2], [2], _NWC, feature_group_count=2
    ),
    Arg((1, 4, 4)),
    Arg((2, 2, 4)),
)
show("cholesky", lambda x: xo.cholesky(x * 0.1 + 9 * jnp.eye(3), True), Arg((3, 3)))
show(
    "cholesky",
    lambda x: xo.cholesky(x * 0.1 + 9 * jnp.eye(3), False),
    Arg((3, 3)),
    name="cholesky upper",
)
show(
    "triangular_solve",
    lambda a, b: xo.triangular_solve(a, b, True, False, False, "TRANSPOSE"),
    Arg((3, 3)),
    Arg((3, 2)),
)
show("fft", lambda x: xo.fft(x, "FFT", [4]), Arg((2, 4), "complex64"))
show(
    "fft",
    lambda x: xo.fft(x, "IRFFT", [4]),
    Arg((2, 3), "complex64"),
    name="irfft",
    exact=False,
)


# Numbers by chance: which of them depends on what the generator's state was

show(
    "rng_uniform",
    lambda a, b: xo.rng_uniform(a, xo.add(xo.abs(b), 9.0), "f32[3]"),
    Arg(),
    Arg(),
    exact=False,
    draws=4,
)
show(
    "rng_normal",
    lambda a, b: xo.rng_normal(a, xo.abs(b), "f32[3]"),
    Arg(),
    Arg(),
    exact=False,
    draws=4,
)
show(
    "rng_bit_generator",
    lambda s: xo.rng_bit_generator("THREE_FRY", s, "u32[3]"),
    Arg((4,), "uint32", 0, 2**31),
    exact=False,
    draws=8,
)


# Programs in programs

show(
    "conditional",
    lambda p, x, y: xo.conditional(p, x, lambda a: xo.rev(a, [0]), y, xo.neg),
    Arg((), "bool"),
    F,
    F,
)
show(
    "conditional",
    lambda i, x, y: xo.conditional(i, [lambda a: a, lambda a: xo.rev(a, [0])], [x, y]),
    index(),
    F,
    F,
    name="conditional of many",
)
show(
    "while_",
    lambda x: xo.while_(
        lambda c: xo.lt(c[0], 3),
        lambda c: (xo.add(c[0], 1), xo.add(c[1], xo.rev(c[1], [0]))),
        (np.int32(0), x),
    )[1],
    F,
    exact=False,
)
show(
    "scan",
    lambda x, c: xo.scan([x], [c], lambda a, b: (xo.mul(a, b), xo.add(a, b)), 0),
    Arg((4, 2)),
    Arg((2,)),
    exact=False,
)
show("call", lambda x: xo.call(lambda y: xo.rev(y, [0]), [x]), F)
show(
    "composite_call",
    lambda x: xo.composite_call(lambda y: xo.rev(y, [0]), [x], "a.b"),
    F,
)


# Replicas


def replicated(f):
    """A function of the arrays of all replicas, from one of those of one of them."""

    def of_one(*xs):
        return jax.tree.map(lambda y: y[None], f(*[x[0] for x in xs]))

    mesh = jax.make_mesh((REPLICAS,), ("r",), axis_types=(AxisType.Auto,))
    return lambda *xs: jax.shard_map(
        of_one, mesh=mesh, in_specs=P("r"), out_specs=P("r"), check_vma=False
    )(*xs)


def share(functions, f, *args, **more):
    """Shows collectives: each replica has its part of the arguments."""
    show(functions, replicated(f), *args, **{"draws": 12, **more})


R2 = Arg((REPLICAS, 2))
R4 = Arg((REPLICAS, 4))


def total(x, y):
    return x + y


share("all_reduce", lambda x: xo.all_reduce(x, total, PAIRS), R2)
share("all_reduce", lambda x: xo.all_reduce(x, total), R2, name="all_reduce all")
share(
    "all_reduce",
    lambda x: xo.all_reduce(x, total, UNEQUAL),
    R2,
    name="all_reduce unequal",
)
share(
    "all_reduce",
    lambda x: xo.all_reduce(x, lambda a, b: a * b + a + b, PAIRS),
    R2,
    name="all_reduce by a computation",
)
share(
    "all_reduce_start all_reduce_done",
    lambda x: xo.all_reduce_done(xo.all_reduce_start(x, total, PAIRS)),
    R2,
)
share(
    "all_reduce_tuple", lambda x, y: xo.all_reduce_tuple([x, y], total, PAIRS), R2, R2
)
share("cross_replica_sum", lambda x: xo.cross_replica_sum(x, UNEQUAL), R2)
share("all_gather", lambda x: xo.all_gather(x, 0, None, PAIRS), R2)
share(
    "all_gather_start all_gather_done",
    lambda x: xo.all_gather_done(xo.all_gather_start(x, 0, None, PAIRS)),
    R2,
)
share(
    "all_gather_tuple", lambda x, y: xo.all_gather_tuple([x, y], 0, None, PAIRS), R2, R4
)
share("all_to_all", lambda x: xo.all_to_all(x, 0, 0, None, PAIRS), R4)
share("all_to_all_tuple", lambda x, y: xo.all_to_all_tuple([x, y], PAIRS), R2, R2)
share("reduce_scatter", lambda x: xo.reduce_scatter(x, total, 0, None, PAIRS), R4)
share(
    "collective_permute",
    lambda x: xo.collective_permute(x, [(0, 3), (3, 1), (5, 5)]),
    R2,
)
share(
    "collective_permute_start collective_permute_done",
    lambda x: xo.collective_permute_done(
        xo.collective_permute_start(x, [(0, 3), (3, 1)])
    ),
    R2,
)
share(
    "multi_collective_permute",
    lambda x, y: xo.multi_collective_permute([x, y], [(0, 3), (3, 1)]),
    R2,
    R4,
)
share("collective_broadcast", lambda x: xo.collective_broadcast(x, UNEQUAL), R2)
share(
    "collective_broadcast",
    lambda x: xo.collective_broadcast(x, PAIRS[:2]),
    R2,
    name="collective_broadcast of some",
)
share(
    "ragged_all_to_all",
    lambda x, out, a, b: xo.ragged_all_to_all(
        x, a % 2, jnp.ones(REPLICAS, np.int32), out, b % 4, jnp.ones(REPLICAS, np.int32)
    ),
    R2,
    R4,
    Arg((REPLICAS, REPLICAS), "int32", 0, 9),
    Arg((REPLICAS, REPLICAS), "int32", 0, 9),
    exact=False,
    draws=2,
)
share(
    "replica_id",
    lambda x: xo.add(x, xo.convert_element_type(xo.replica_id(), np.float32)),
    R2,
)
share(
    "partition_id",
    lambda x: xo.add(x, xo.convert_element_type(xo.partition_id(), np.float32)),
    R2,
)


# Operations of which nothing is known, and why
UNDEFINED = {
    "custom_call": "foreign code",
    "custom_call_with_computation": "foreign code",
    "custom_call_with_computation_and_layouts": "foreign code",
    "custom_call_with_conv_dnums": "foreign code",
    "custom_call_with_layout": "foreign code",
    "infeed": "the host",
    "infeed_with_token": "the host",
    "outfeed": "the host",
    "outfeed_with_token": "the host",
    "recv": "the host",
    "recv_done": "the host",
    "recv_from_host": "the host",
    "recv_with_token": "the host",
    "send": "the host",
    "send_done": "the host",
    "send_to_host": "the host",
    "send_with_token": "the host",
}

# What has no arrays to speak of, and why
NOT_ARRAYS = {
    "after_all": "tokens alone",
    "create_token": "tokens alone",
    "builder.AddDependency": "of the builder",
    "builder.Parameter": "of the builder",
}
