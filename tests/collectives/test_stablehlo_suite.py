"""The multi-device tests of StableHLO's interpreter, run by our operations.

XLAOPS_STABLEHLO_CHECKOUT names a checkout of https://github.com/openxla/stablehlo, of
which nothing is here; without it only the reader of its tests is tested. What it runs
is reported whether or not output is captured.
"""

import concurrent.futures
import os
import pathlib
import types
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
import pytest
from collectives import stablehlo_suite as suite
from collectives.stablehlo_suite import TOKEN, Case, Operation
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import xlaops as xo

VARIABLE = "XLAOPS_STABLEHLO_CHECKOUT"
CHECKOUT = os.environ.get(VARIABLE, "")
FOLDER = pathlib.Path(CHECKOUT, suite.FOLDER)
needs_checkout = pytest.mark.skipif(
    not (CHECKOUT and os.path.isdir(CHECKOUT)),
    reason=f"{VARIABLE} names no checkout of StableHLO",
)

# Files of one program for all processes: these are the devices of a mesh.
OF_ONE_PROGRAM = (
    "all_gather.mlir",
    "all_reduce.mlir",
    "all_to_all.mlir",
    "collective_broadcast.mlir",
    "collective_permute.mlir",
    "partition_id.mlir",
    "reduce_scatter.mlir",
    "replica_id.mlir",
)
# Files of programs that exchange data with the host or with one another: these are
# jitted functions, each of which a thread calls.
OF_SEVERAL_PROGRAMS = ("infeed.mlir", "outfeed.mlir", "send_recv.mlir")
# Files with such tests that are not run, for we have nothing to run them with.
NOT_RUN = {
    "collective_reduce.mlir": (
        "XLA's document has no reduction to one replica, and so xlaops has none"
    ),
    "printing.mlir": (
        "its processes compute no more than an iota: what it tests is how the "
        "interpreter itself prints, by an operation of its own"
    ),
}


def cases(files: tuple[str, ...]) -> list[Any]:
    """The texts of all modules of the files, as parameters with their file's name."""
    return [
        pytest.param(file, module, id=f"{file}-{name}")
        for file in files
        for name, module in found(file).items()
    ]


def found(file: str) -> Mapping[str, str]:
    path = FOLDER / file
    return suite.modules(path.read_text("utf-8")) if path.is_file() else {}


# What the suite calls it, in ours


WHERE = types.MappingProxyType(
    {"axis_name": "replica", "partition_axes": "partition"},
)


def groups(operation: Operation) -> list[list[int]]:
    """Replica groups, of which smaller ones are filled up with -1 in the attribute."""
    rows = operation.attributes["replica_groups"].tolist()
    return [[i for i in row if i != -1] for row in rows]


def channel(operation: Operation) -> int | None:
    return operation.attributes.get("channel_handle")


def is_flat(operation: Operation) -> bool | None:
    return operation.attributes.get("use_global_device_ids")


def computation(operation: Operation) -> Callable[..., Any]:
    """The function of scalars in the region of an operation."""

    def of_scalars(*scalars: Any) -> Any:
        results = suite.evaluate(operation.region, scalars, elementwise)
        return results[0] if len(results) == 1 else tuple(results)

    return of_scalars


def elementwise(operation: Operation, *operands: Any) -> list[Any]:
    functions = {
        "add": xo.add,
        "and": xo.and_,
        "maximum": xo.max,
        "minimum": xo.min,
        "multiply": xo.mul,
        "or": xo.or_,
        "subtract": xo.sub,
    }
    return [functions[operation.name](*operands)]


def all_gather(op: Operation, *xs: Any) -> Any:
    dimension = op.attributes["all_gather_dim"]
    more = {"use_global_device_ids": is_flat(op), **WHERE}
    return xo.all_gather(xs, dimension, None, groups(op), channel(op), **more)


def all_reduce(op: Operation, *xs: Any) -> Any:
    more = {"use_global_device_ids": is_flat(op), **WHERE}
    return xo.all_reduce(xs, computation(op), groups(op), channel(op), **more)


def all_to_all(op: Operation, *xs: Any) -> Any:
    names = ("split_dimension", "concat_dimension", "split_count")
    dimensions = [op.attributes[name] for name in names]
    more = {"channel_id": channel(op), **WHERE}
    return xo.all_to_all(xs, *dimensions, groups(op), **more)


def collective_broadcast(op: Operation, *xs: Any) -> Any:
    if op.attributes.get("has_dynamic_root"):
        return xo.collective_broadcast(xs, groups(op), channel(op), True, **WHERE)
    return xo.collective_broadcast(xs, groups(op), channel(op), **WHERE)


def collective_permute(op: Operation, *xs: Any) -> Any:
    pairs = op.attributes["source_target_pairs"].tolist()
    return xo.collective_permute(xs, pairs, channel(op), **WHERE)


def reduce_scatter(op: Operation, *xs: Any) -> Any:
    dimension = op.attributes["scatter_dimension"]
    who = (None, groups(op), channel(op))
    more = {"use_global_device_ids": is_flat(op), **WHERE}
    return xo.reduce_scatter(xs, computation(op), dimension, *who, **more)


def partition_id(op: Operation) -> Any:
    return [xo.partition_id(partition_axes="partition")]


def replica_id(op: Operation) -> Any:
    return [xo.replica_id(axis_name="replica")]


def infeed(op: Operation, token: Any) -> Any:
    return xo.infeed_with_token(token, shape(op))


def outfeed(op: Operation, x: Any, token: Any) -> Any:
    return [xo.outfeed_with_token(x, token)]


def recv(op: Operation, token: Any) -> Any:
    return xo.recv_with_token(token, shape(op), channel(op))


def send(op: Operation, x: Any, token: Any) -> Any:
    # The type of its channel is that of one to the host, of which there is none here:
    # the other end is a program.
    return [xo.send_with_token(x, token, channel(op))]


def shape(operation: Operation) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(*operation.types[0])


OPERATIONS = {
    function.__name__: function
    for function in (
        all_gather,
        all_reduce,
        all_to_all,
        collective_broadcast,
        collective_permute,
        infeed,
        outfeed,
        partition_id,
        recv,
        reduce_scatter,
        replica_id,
        send,
    )
}


def call(operation: Operation, *operands: Any) -> Any:
    return OPERATIONS[operation.name](operation, *operands)


# Two ways to run processes


def run_in_mesh(case: Case, check_vma: bool) -> list[np.ndarray]:
    """The results of all processes, which run the same program on their devices."""
    (name,) = set(case.processes)
    sizes = len(case.grid), len(case.grid[0])
    count = len(case.processes)
    if jax.device_count() < count:
        pytest.skip(f"needs {count} devices")
    mesh = jax.make_mesh(
        sizes,
        ("replica", "partition"),
        axis_types=(AxisType.Auto,) * 2,
        devices=jax.devices()[:count],
    )

    def of_process(*args):
        results = suite.evaluate(case.functions[name], [x[0, 0] for x in args], call)
        return [x[None, None] for x in results]

    spec = P("replica", "partition")
    mapped = jax.shard_map(
        of_process, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=check_vma
    )
    own = len(case.inputs) // count
    arrays = [np.stack(case.inputs[k::own]) for k in range(own)]
    results = jax.jit(mapped)(*[x.reshape(*sizes, *x.shape[1:]) for x in arrays])
    flat = [np.asarray(x).reshape(count, *x.shape[2:]) for x in results]
    return [x[k] for k in range(count) for x in flat]


def run_in_threads(case: Case) -> list[Any]:
    """The results of all processes, each a jitted function that a thread calls."""
    queue = xo.effects.infeed_queue()
    for name in case.infeed:
        items = suite.evaluate(case.functions[name], (), call)
        queue.put(items[0] if len(items) == 1 else tuple(items))
    inputs = iter(case.inputs)
    programs = [case.functions[name] for name in case.processes]
    arguments = [[next(inputs) for _ in program.arguments] for program in programs]

    def of_process(program, arguments):
        def with_tokens(*arrays):
            left = iter(arrays)
            values = [
                xo.create_token() if x is TOKEN else next(left) for x in arguments
            ]
            return suite.evaluate(program, values, call)

        with jax.enable_x64(True):  # a thread has its own
            arrays = [x for x in arguments if x is not TOKEN]
            return jax.block_until_ready(jax.jit(with_tokens)(*arrays))

    with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
        results = list(pool.map(of_process, programs, arguments))
    return [x for own in results for x in own]


def assert_expected(case: Case, results: list[Any]) -> None:
    """Compares results with the constants of a case, types and shapes too."""
    for position, expected in case.expected:
        came = np.asarray(results[position])
        assert (came.dtype, came.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(came, expected, err_msg=f"result {position}")


# Of a checkout


@needs_checkout
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("check_vma", [True, False], ids=["checked", "unchecked"])
@pytest.mark.parametrize(("file", "module"), cases(OF_ONE_PROGRAM))
def test_one_program(file, module, check_vma):
    case = suite.read(module)
    results = run_in_mesh(case, check_vma)
    assert sorted(i for i, _ in case.expected) == list(range(len(results)))
    assert_expected(case, results)


@needs_checkout
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("file", "module"), cases(OF_SEVERAL_PROGRAMS))
def test_several_programs(file, module):
    case = suite.read(module)
    results = run_in_threads(case)
    assert_expected(case, results)
    if file == "outfeed.mlir":  # of which the suite checks only that it ends
        (sent,) = (x for x in case.inputs if x is not TOKEN)
        np.testing.assert_array_equal(xo.effects.outfeed_queue().get(), sent)
    else:
        assert case.expected


@needs_checkout
@pytest.mark.parametrize("file", OF_ONE_PROGRAM + OF_SEVERAL_PROGRAMS)
def test_there_are_cases(file, capsys):
    names = list(found(file))
    with capsys.disabled():
        print(f"\n{file}: {len(names)} run: {', '.join(names)}", end="")
    assert names


@needs_checkout
def test_no_other_file_has_cases(capsys):
    files = {path.name for path in FOLDER.glob("*.mlir") if found(path.name)}
    with capsys.disabled():
        for file in sorted(files & set(NOT_RUN)):
            print(f"\n{file}: {len(found(file))} not run: {NOT_RUN[file]}", end="")
    assert files <= {*OF_ONE_PROGRAM, *OF_SEVERAL_PROGRAMS, *NOT_RUN}


def test_what_is_not_run_cannot_be():
    names = set(dir(xo))
    assert {file.removesuffix(".mlir") for file in OF_ONE_PROGRAM} <= names
    assert not {file.removesuffix(".mlir") for file in NOT_RUN} & names


# Of the reader and of both ways to run what it reads. The modules are ours.

DIFFERENCES = """
module @differences {
  func.func @both(%x: tensor<1xi32>) -> (tensor<2xi32>, tensor<1xi32>, tensor<ui32>) {
    %all = "stablehlo.all_gather"(%x) {
      all_gather_dim = 0 : i64,
      replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (tensor<1xi32>) -> tensor<2xi32>
    %left = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %two = stablehlo.constant dense<2> : tensor<i32>
        %c = stablehlo.multiply %a, %two : tensor<i32>
        %d = stablehlo.maximum %b, %b : tensor<i32>
        %e = stablehlo.add %c, %d : tensor<i32>
        %f = stablehlo.subtract %e, %a : tensor<i32>
        stablehlo.return %f : tensor<i32>
    }) {
      replica_groups = dense<[[0, 3, 1], [2, -1, -1]]> : tensor<2x3xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>,
      use_global_device_ids
    } : (tensor<1xi32>) -> tensor<1xi32>
    %who = stablehlo.partition_id : tensor<ui32>
    return %all, %left, %who : tensor<2xi32>, tensor<1xi32>, tensor<ui32>
  }
  func.func @main() {
    %0 = stablehlo.constant dense<1> : tensor<1xi32>
    %1 = stablehlo.constant dense<[10]> : tensor<1xi32>
    %2 = stablehlo.constant dense<[100]> : tensor<1xi32>
    %3 = stablehlo.constant dense<[1000]> : tensor<1xi32>
    %y:12 = "interpreter.run_parallel"(%0, %1, %2, %3) {
      programs = [[@both, @both], [@both, @both]]
    } : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
      -> (tensor<2xi32>, tensor<1xi32>, tensor<ui32>,
          tensor<2xi32>, tensor<1xi32>, tensor<ui32>,
          tensor<2xi32>, tensor<1xi32>, tensor<ui32>,
          tensor<2xi32>, tensor<1xi32>, tensor<ui32>)
    check.expect_eq_const %y#0, dense<[100,
                                       1]> : tensor<2xi32>
    check.expect_eq_const %y#1, dense<1011> : tensor<1xi32>
    check.expect_eq_const %y#2, dense<0> : tensor<ui32>
    check.expect_eq_const %y#3, dense<[1000, 10]> : tensor<2xi32> // the other column
    check.expect_eq_const %y#5, dense<1> : tensor<ui32>
    check.expect_eq_const %y#7, dense<100> : tensor<1xi32>
    check.expect_eq_const %y#9, dense<[1000, 10]> : tensor<2xi32>
    check.expect_eq_const %y#10, dense<1011> : tensor<1xi32>
    func.return
  }
}
"""
PASSED_ON = """
module @passed_on {
  func.func @first(%t: !stablehlo.token) -> !stablehlo.token {
    %x, %read = "stablehlo.infeed"(%t)
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %sent = "stablehlo.send"(%x, %read) {
      channel_handle = #stablehlo.channel_handle<handle = 41, type = 1>
    } : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    return %sent : !stablehlo.token
  }
  func.func @second(%t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
    %x, %got = "stablehlo.recv"(%t) {
      channel_handle = #stablehlo.channel_handle<handle = 41, type = 1>
    } : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    return %x, %got : tensor<2xf32>, !stablehlo.token
  }
  func.func @fed() -> tensor<2xf32> {
    %x = stablehlo.constant dense<[0.5, -2.0]> : tensor<2xf32>
    return %x : tensor<2xf32>
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %y:3 = "interpreter.run_parallel"(%t, %t) {
      infeed = [@fed], programs = [[@first], [@second]]
    } : (!stablehlo.token, !stablehlo.token)
      -> (!stablehlo.token, tensor<2xf32>, !stablehlo.token)
    check.expect_eq_const %y#1, dense<[0.5, -2.0]> : tensor<2xf32>
    func.return
  }
}
"""


def test_modules_of_a_file():
    without = "module @without {}\n"
    text = f"// A file.\n{DIFFERENCES}\n// -----\n{without}// -----\n{PASSED_ON}"
    assert list(suite.modules(text)) == ["differences", "passed_on"]
    assert suite.modules(without) == {}
    with pytest.raises(ValueError, match="two modules are called passed_on"):
        suite.modules(f"{PASSED_ON}\n// -----\n{PASSED_ON}")


@pytest.mark.parametrize("check_vma", [True, False], ids=["checked", "unchecked"])
def test_own_module_in_a_mesh(check_vma):
    case = suite.read(DIFFERENCES)
    assert case.grid == (("both", "both"), ("both", "both"))
    assert [x.tolist() for x in case.inputs] == [[1], [10], [100], [1000]]
    results = run_in_mesh(case, check_vma)
    assert len(results) == 12
    assert_expected(case, results)
    for wrong in (results[::-1], [np.asarray(x, np.int64) for x in results]):
        with pytest.raises(AssertionError):
            assert_expected(case, wrong)


def test_own_module_in_threads():
    case = suite.read(PASSED_ON)
    results = run_in_threads(case)
    assert_expected(case, results)
    with pytest.raises(AssertionError):
        assert_expected(case, [x if i != 1 else -x for i, x in enumerate(results)])


def test_what_cannot_be_read():
    with pytest.raises(ValueError, match="main must run and check, got negate"):
        suite.read(DIFFERENCES.replace("%2 = stablehlo.constant dense<[100]>", NEGATE))
    with pytest.raises(ValueError, match=r"no attributes .*seed"):
        suite.read(DIFFERENCES.replace("programs =", "seed = 3 : i64, programs ="))
    with pytest.raises(ValueError, match="attribute must be of a known kind"):
        suite.read(DIFFERENCES.replace("programs =", 'seed = "3", programs ='))
    # A check of another kind is not passed over.
    with pytest.raises(Exception, match=r"check.*expect_close"):
        suite.read(DIFFERENCES.replace("expect_eq_const %y#5,", "expect_close %y#5,"))


NEGATE = "%2 = stablehlo.negate %1"
