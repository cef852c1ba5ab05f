"""XlaBuilder's facade: graphs, computations, errors, and the stub for editors."""

import ast
import collections
import inspect
import re
import subprocess
import sys
import traceback
import typing

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import xlaops as xo
from xlaops import builder as xb
from xlaops.builder import facade, stub


def test_parameters_and_broadcast_dimensions():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[4]", "x")
    y = xb.Parameter(b, 1, "f32[4,2]", "y")
    f = b.Build(xb.Add(x, y, (0,)))
    assert str(f.program_shape) == "(x: f32[4], y: f32[4,2]) -> f32[4,2]"
    got = f(np.arange(4, dtype=np.float32), np.ones((4, 2), np.float32))
    np.testing.assert_array_equal(got, np.arange(4)[:, None] + np.ones((4, 2)))


def test_old_python_api_lines():
    c = xb.XlaBuilder("comp")
    p0 = xb.Parameter(c, 0, xo.Shape.array("f32", (3,)))
    p1 = xb.Parameter(c, 1, jax.ShapeDtypeStruct((3,), np.float32))
    out = xb.Max(xb.Sub(p0, p1), xb.Constant(c, np.float32(0)))
    assert str(c.get_shape(out)) == "f32[3]"
    computation = c.build(out)
    assert c.get_program_shape().parameter_shapes() == (
        xo.Shape.parse("f32[3]"),
        xo.Shape.parse("f32[3]"),
    )
    got = computation(np.float32([3, 1, 2]), np.float32([1, 2, 2]))
    np.testing.assert_array_equal(got, [2, 0, 0])
    assert computation.as_hlo_text().startswith("HloModule")


def test_build_takes_the_last_operation_and_can_be_repeated():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "s32[]")
    double = x + x
    square = x * x
    assert int(b.Build()(7)) == 49
    assert int(b.Build(double)(7)) == 14
    assert int(b.Build(square)(7)) == 49


@pytest.mark.parametrize(
    ("name", "operate", "oracle"),
    [
        ("add", lambda x, y: x + y, np.add),
        ("sub", lambda x, y: x - y, np.subtract),
        ("mul", lambda x, y: x * y, np.multiply),
        ("rem", lambda x, y: x % y, np.fmod),
        ("and", lambda x, y: x & y, np.bitwise_and),
        ("or", lambda x, y: x | y, np.bitwise_or),
        ("xor", lambda x, y: x ^ y, np.bitwise_xor),
        ("shift_left", lambda x, y: x << y, np.left_shift),
        ("shift_right", lambda x, y: x >> y, np.right_shift),
        ("not", lambda x, y: ~x, lambda x, y: np.invert(x)),
        ("neg", lambda x, y: -x, lambda x, y: np.negative(x)),
        ("radd", lambda x, y: 3 + x, lambda x, y: 3 + x),
        ("rsub", lambda x, y: 3 - x, lambda x, y: 3 - x),
        ("rmul", lambda x, y: 3 * x, lambda x, y: 3 * x),
    ],
)
@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_operators(name, operate, oracle, dtype):
    b = xb.XlaBuilder(name)
    x, y = (xb.Parameter(b, i, xo.Shape.array(dtype, (4,))) for i in range(2))
    f = b.Build(operate(x, y))
    values = np.array([-9, 7, 100, -1]).astype(dtype), np.array([3, 2, 7, 5], dtype)
    if name == "neg" or (name == "rsub" and dtype == "uint32"):
        expected = oracle(*(v.astype(np.int64) for v in values)).astype(dtype)
    else:
        expected = oracle(*values).astype(dtype)
    np.testing.assert_array_equal(f(*values), expected)


def test_division_operator():
    b = xb.XlaBuilder("div")
    x = xb.Parameter(b, 0, "f32[2]")
    f = b.Build(1.0 / (x / 2.0))
    np.testing.assert_allclose(f(np.float32([1, 4])), [2, 0.5])


def test_tuple_parameters_and_results():
    b = xb.XlaBuilder("swap")
    t = xb.Parameter(b, 0, "(f32[2], (s32[], pred[3]))")
    inner = xb.GetTupleElement(t, 1)
    f = b.Build(xb.Tuple(b, [inner, xb.GetTupleElement(t, 0)]))
    assert str(f.program_shape.result) == "((s32[], pred[3]), f32[2])"
    (count, flags), x = f((jnp.ones(2), (3, np.array([True, False, True]))))
    assert int(count) == 3
    np.testing.assert_array_equal(flags, [True, False, True])
    np.testing.assert_array_equal(x, [1, 1])
    with pytest.raises(TypeError, match=r"swap: p0\[1\] must be a tuple"):
        f((jnp.ones(2), jnp.ones(2)))


def _loop():
    state = "(s32[], f32[2])"
    with xb.XlaBuilder("condition") as b:
        count = xb.GetTupleElement(xb.Parameter(b, 0, state), 0)
        condition = b.Build(xb.Lt(count, 3))
    with xb.XlaBuilder("body") as b:
        t = xb.Parameter(b, 0, state)
        parts = [xb.GetTupleElement(t, 0) + 1, xb.GetTupleElement(t, 1) * 2.0]
        body = b.Build(xb.Tuple(parts))
    return condition, body


def test_computations_are_arguments_of_operations():
    condition, body = _loop()
    b = xb.XlaBuilder("main")
    x = xb.Parameter(b, 0, "f32[2]")
    loop = xb.While(condition, body, xb.Tuple(b, [xb.ConstantR0(b, 0), x]))
    f = b.Build(xb.GetTupleElement(loop, 1))
    np.testing.assert_array_equal(f(np.float32([1, 3])), [8, 24])
    # Outside of the builder as well.
    count, y = xo.while_(condition, body, (0, jnp.float32([1, 3])))
    assert int(count) == 3
    np.testing.assert_array_equal(y, [8, 24])


def test_conditional_and_call():
    b = xb.XlaBuilder("double")
    double = b.Build(xb.Mul(xb.Parameter(b, 0, "f32[]"), 2.0))
    b = xb.XlaBuilder("main")
    p, x = xb.Parameter(b, 0, "pred[]"), xb.Parameter(b, 1, "f32[]")
    chosen = xb.Conditional(p, x, double, x, lambda v: -v)
    f = b.Build(xb.Add(chosen, xb.Call(double, [x])))
    assert float(f(True, 3.0)) == 12
    assert float(f(False, 3.0)) == 3


def test_transformations_of_a_computation():
    b = xb.XlaBuilder("f")
    x, y = xb.Parameter(b, 0, "f32[3]"), xb.Parameter(b, 1, "f32[3]")
    f = b.Build(xb.Mul(xb.Sin(x), y))
    values = np.float32([0.1, 0.2, 0.3]), np.float32([1, 2, 3])
    expected = np.sin(values[0]) * values[1]
    np.testing.assert_allclose(jax.jit(f)(*values), expected, rtol=1e-6)
    check_grads(f, values, order=1, modes=("fwd", "rev"), atol=1e-2, rtol=1e-2)
    stacked = np.stack([values[0], 2 * values[0]])
    batched = jax.vmap(f, in_axes=(0, None))(stacked, values[1])
    np.testing.assert_allclose(batched, np.sin(stacked) * values[1], rtol=1e-6)


def test_python_scalars_take_the_parameter_type():
    b = xb.XlaBuilder("f")
    f = b.Build(xb.Parameter(b, 0, "bf16[]") + 1.0)
    assert f(2.0).dtype == "bfloat16"
    with pytest.raises(TypeError, match=r"f: p0 must be bf16\[\], got float32\[\]"):
        f(np.float32(2))


@pytest.mark.parametrize("call", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("shape", "value"),
    [("s32[]", 1.5), ("s32[]", 1j), ("f32[]", 1j), ("pred[]", 2), ("f32[]", True)],
)
def test_scalars_of_a_wider_kind_are_refused(call, shape, value):
    b = xb.XlaBuilder("f")
    f = call(b.Build(xb.Parameter(b, 0, shape, "x")))
    with pytest.raises(TypeError, match=rf"^f: x must be {re.escape(shape)}, got "):
        f(value)


def test_scalars_fit_into_the_parameter_type():
    def identity(shape):
        b = xb.XlaBuilder("f")
        return b.Build(xb.Parameter(b, 0, shape, "x"))

    with pytest.raises(OverflowError, match=r"f: x must fit into uint8 .*got 300"):
        identity("u8[]")(300)
    got = identity("f32[]")(2**40)  # of no 32-bit integer
    assert isinstance(got, jax.Array)
    assert (float(got), got.dtype) == (2.0**40, np.float32)
    for shape, dtype in (("bf16[]", "bfloat16"), ("f32[]", "float32")):
        for f in (identity(shape), jax.jit(identity(shape))):
            assert float(f(3)) == float(f(3.0)) == 3
            assert f(3).dtype == f(3.0).dtype == dtype
            assert not f(3.0).weak_type


def test_what_is_built_does_not_change_with_its_arguments():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[2,3]")
    permutation, row = [1, 0], np.float32([1, 2])
    numbers = {"lhs_contracting_dimensions": [0], "rhs_contracting_dimensions": [0]}
    y = xb.Add(xb.Transpose(x, permutation), row, broadcast_dimensions=(1,))
    f = b.Build(xb.DotGeneral(y, x, numbers | {"rhs_contracting_dimensions": [1]}))
    z = b.Build(xb.DotGeneral(x, x, numbers))
    permutation.reverse()
    row[:] = 7
    numbers["lhs_contracting_dimensions"][0] = 1
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(f(a), np.add(a, [[1], [2]]) @ a.T)
    np.testing.assert_array_equal(z(a), a.T @ a)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numpy_values_on_the_left_of_an_operator(dtype):
    with jax.enable_x64(dtype == "float64"):
        b = xb.XlaBuilder("f")
        x = xb.Parameter(b, 0, xo.Shape.array(dtype, (3,)))
        ones, two = np.ones(3, dtype), np.dtype(dtype).type(2)
        f = b.Build(ones - two * (ones / x))
        got = f(np.array([1, 2, 4], dtype))
        np.testing.assert_array_equal(got, [-1, 0, 0.5])
        assert got.dtype == dtype
    assert (ones == x) is False


def test_unneeded_operations_do_not_run():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[]")
    wanted = x + 1.0
    xb.Exp(x)
    assert "exponential" not in jax.jit(b.Build(wanted)).lower(1.0).as_text()


def test_add_dependency_ties_values():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[2]")
    f = b.Build(xb.AddDependency(x, xb.Exp(x)))
    text = jax.jit(f).lower(jnp.ones(2)).as_text()
    assert "optimization_barrier" in text
    assert "exponential" in text
    np.testing.assert_array_equal(f(jnp.ones(2)), [1, 1])


def test_document_keyword_names():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(builder=b, parameter_number=0, shape="f32[2]", name="x")
    y = xb.Mul(lhs=x, rhs=xb.ConstantR1(builder=b, values=[1.0, 2.0]))
    np.testing.assert_array_equal(b.Build(y)(np.float32([3, 4])), [3, 8])
    b = xb.XlaBuilder("g")
    assert b.Build(xb.ConstantR0(b, value=np.int8(5)))().dtype == np.int8


def test_operations_of_several_forms_by_keyword():
    b = xb.XlaBuilder("f")
    p, x = xb.Parameter(b, 0, "pred[]"), xb.Parameter(b, 1, "f32[4]")
    chosen = xb.Conditional(
        predicate=p,
        true_operand=x,
        true_computation=xo.neg,
        false_operand=x,
        false_computation=xo.abs,
    )
    indexed = xb.Conditional(
        branch_index=1, branch_computations=[xo.neg, xo.abs], branch_operands=[x, x]
    )
    sums = xb.ReduceWindow(
        operands=x,
        init_values=0.0,
        computation=xo.add,
        window_dimensions=[2],
        window_strides=[2],
        padding="VALID",
    )
    square = xb.Reshape(operand=x, dimensions=(2, 2))
    again = xb.Reshape(shape="f32[4]", operand=square)
    f = b.Build(xb.Tuple([chosen, indexed, sums, square, again]))
    values = np.float32([1, -2, 3, -5])
    got = f(True, values)
    expected = -values, abs(values), [-1, -2], values.reshape(2, 2), values
    for result, wanted in zip(got, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_operations_between_replicas_by_keyword():
    def of_replica(x):
        b = xb.XlaBuilder("f")
        p = xb.Parameter(b, 0, "f32[2]")
        first = xb.CollectiveBroadcast(operand=p, replica_groups=[[1, 0]])
        swapped = xb.AllToAllTuple(operands=[p, p + 10.0], replica_groups=[[0, 1]])
        return b.Build(xb.Tuple([first, swapped]))(x)

    x = np.float32([[1, 2], [3, 4]])
    first, swapped = jax.vmap(of_replica, axis_name="i")(x)
    np.testing.assert_array_equal(first, [[3, 4], [3, 4]])
    np.testing.assert_array_equal(swapped[0], [[1, 2], [11, 12]])
    np.testing.assert_array_equal(swapped[1], [[3, 4], [13, 14]])


def test_errors_come_at_the_line_of_the_operation():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[2,3]")
    with pytest.raises(TypeError, match="dot: contracting dimensions") as caught:
        xb.Dot(x, x)  # the faulty line
    lines = [entry.line or "" for entry in traceback.extract_tb(caught.tb)]
    assert any("the faulty line" in line for line in lines)
    # The builder is as it was.
    assert b.Build(x)(jnp.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: xb.XlaBuilder(3), TypeError, "XlaBuilder: name must be a str"),
        (lambda: xb.XlaBuilder("e").Build(), ValueError, "builder 'e' must have"),
        (
            lambda: xb.Parameter(xb.XlaBuilder("f"), -1, "f32[]"),
            ValueError,
            "parameter_number must not be negative or taken, got -1",
        ),
        (
            lambda: xb.Parameter(xb.XlaBuilder("f"), 0, "nonsense"),
            ValueError,
            "Parameter: shape",
        ),
        (
            lambda: xb.Parameter(xb.XlaBuilder("f"), 0, "f64[]"),
            ValueError,
            "jax_enable_x64",
        ),
        (lambda: xb.Parameter("f", 0, "f32[]"), TypeError, "builder must be an"),
        (
            lambda: xb.Parameter(xb.XlaBuilder("f"), 0, "f32[]", 5),
            TypeError,
            "Parameter: name must be a str, got int 5",
        ),
        *(
            (
                lambda shape=shape: xb.Parameter(xb.XlaBuilder("f"), 0, shape),
                ValueError,
                "Parameter: shape must be one of arrays with bounds",
            )
            for shape in ("opaque[]", "f32[?]", "(f32[], b(f32[2]))")
        ),
        (
            lambda: xb.Iota("s32[3]", 0, builder="f"),
            TypeError,
            "Iota: builder must be an XlaBuilder, got str 'f'",
        ),
        (lambda: xb.Iota("s32[3]", 0), TypeError, "Iota: builder must be given"),
        (
            lambda: xb.ConstantR0(xb.XlaBuilder("f"), [1, 2]),
            TypeError,
            r"ConstantR0: value must be of rank 0, got one of shape \(2,\)",
        ),
        (
            lambda: xb.ConstantR4FromArray4D(xb.XlaBuilder("f"), values=[1.0]),
            TypeError,
            "ConstantR4FromArray4D: values must be of rank 4",
        ),
        (lambda: xb.XlaBuilder("f").Build(3), TypeError, "root must be an XlaOp"),
    ],
)
def test_misuse(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_parameter_numbers_must_be_complete_and_unique():
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 1, "f32[]")
    with pytest.raises(
        ValueError, match=r"parameter numbers must be 0 to 0, got \[1\]"
    ):
        b.Build(x)
    with pytest.raises(ValueError, match="got 1"):
        xb.Parameter(b, 1, "f32[]")


def test_builders_do_not_mix():
    x = xb.Parameter(xb.XlaBuilder("one"), 0, "f32[]")
    other = xb.XlaBuilder("two")
    y = xb.Parameter(other, 0, "f32[]")
    with pytest.raises(ValueError, match="Add: operands must be of one builder"):
        xb.Add(x, y)
    with pytest.raises(ValueError, match="got one of 'one'"):
        other.Build(x)


def test_wrong_arguments_of_a_computation():
    b = xb.XlaBuilder("f")
    f = b.Build(xb.Parameter(b, 0, "f32[2]", "x") + 1.0)
    with pytest.raises(TypeError, match="f: arguments must be one for each of the 1"):
        f()
    with pytest.raises(TypeError, match=r"f: x must be f32\[2\], got float32\[3\]"):
        f(np.ones(3, np.float32))


def test_every_implemented_row_has_its_function():
    implemented = {r.name for r in xo.catalog.RECORDS if r.status == "implemented"}
    assert implemented <= set(dir(xb))
    for name in facade.records():
        function = getattr(xb, name)
        assert function.__name__ == name
        assert inspect.getdoc(function)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("DynamicConvForward", "it is hlo-only: .*use ConvGeneralDilated"),
        ("NoSuchOp", "'NoSuchOp'$"),
    ],
)
def test_names_without_a_function_say_why(name, why):
    with pytest.raises(AttributeError, match=why):
        getattr(xb, name)


def test_star_import_brings_every_name():
    names = {}
    exec("from xlaops.builder import *", names)
    assert set(dir(xb)) == set(names) - {"__builtins__"}


HLO_ONLY = [r for r in facade.records().values() if r.status == "hlo-only"]


@pytest.mark.parametrize("record", HLO_ONLY, ids=lambda record: record.name)
def test_what_only_the_compiler_makes_says_what_stands_for_it(record):
    """As the operation of the package does, with a builder, operands or neither."""
    with pytest.raises(NotImplementedError) as expected:
        getattr(xo, record.function)(*record.parameters)
    b = xb.XlaBuilder("f")
    x = xb.Parameter(b, 0, "f32[2]")
    for arguments in ((b,), (b, x), (x,), ()):
        with pytest.raises(NotImplementedError) as caught:
            getattr(xb, record.name)(*arguments)
        assert str(caught.value) == str(expected.value)
    # The builder is as it was.
    np.testing.assert_array_equal(b.Build()(np.float32([1, 2])), [1, 2])


def test_every_row_can_be_called_by_keyword_of_the_document():
    for name, record in facade.records().items():
        target = getattr(xo, record.function)
        forms = typing.get_overloads(target) or [target]
        accepted = {p for f in forms for p in inspect.signature(f).parameters}
        accepted |= set(facade.renamed(record, target))
        assert set(record.parameters) <= accepted, name


def test_operations_between_replicas_are_built_where_they_run():
    def of_replica(x):
        c = xb.XlaBuilder("add")
        add = c.Build(xb.Add(xb.Parameter(c, 0, "f32[]"), xb.Parameter(c, 1, "f32[]")))
        b = xb.XlaBuilder("f")
        p = xb.Parameter(b, 0, "f32[2]")
        started = xb.AllGatherStart(p, 0, replica_groups=[[1, 0]])
        results = [xb.AllReduce(p, add), xb.AllGatherDone(started), xb.ReplicaId(b)]
        return b.Build(xb.Tuple(b, results))(x)

    x = np.float32([[1, 2], [3, 4]])
    total, gathered, ids = jax.vmap(of_replica, axis_name="i")(x)
    np.testing.assert_array_equal(total, [[4, 6]] * 2)
    np.testing.assert_array_equal(gathered, [[3, 4, 1, 2]] * 2)
    np.testing.assert_array_equal(ids, [0, 1])
    b = xb.XlaBuilder("f")
    with pytest.raises(NameError, match="all_gather: axis_name must name a mapped"):
        xb.AllGather(xb.Parameter(b, 0, "f32[2]"), 0)


# The stub


def test_stub_is_up_to_date(capsys):
    assert stub.main(["--check"]) == 0, capsys.readouterr().out


def test_stub_is_checked_as_a_program():
    command = [sys.executable, "-m", "xlaops.builder.stub", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_old_stub_is_noticed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(stub, "PATH", tmp_path / "__init__.pyi")
    stub.PATH.write_text(stub.text().replace("def Abs(", "def Absolute("))
    assert stub.main(["--check"]) == 1
    assert "is not up to date" in capsys.readouterr().out
    assert stub.main([]) == 0
    assert stub.main(["--check"]) == 0


def test_stub_has_every_name_under_the_parameters_of_the_document():
    tree = ast.parse(stub.text())
    functions = collections.defaultdict(list)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name].append([a.arg for a in node.args.args])
    assert set(functions) == set(facade.records())
    for name, record in facade.records().items():
        assert any(
            list(record.parameters) == parameters[: len(record.parameters)]
            for parameters in functions[name]
        ), name
    assert functions["ConstantR0"] == [["value"], ["builder", "value"]]
