"""Operands and results of handlers: what fits, what is missing, shared memory."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ffi.children import printed
from ffi.libraries import target
from ffi.op.operations import X, make_sine, make_sort_rows

import xlaops.ffi
from xlaops.ffi import HandlerError

# Operands


@pytest.mark.parametrize(
    ("spec", "shape", "dtype", "message"),
    [
        ("f32[2]", (2,), "float32", None),
        ("f32[2]", (3,), "float32", r"must be f32\[2\], got f32\[3\]"),
        ("f32[2]", (2,), "int32", r"must be f32\[2\], got s32\[2\]"),
        ("f32[n,n]", (2, 2), "float32", None),
        ("f32[n,n]", (2, 3), "float32", r"must be f32\[n,n\], got f32\[2, 3\]"),
        ("f32|bf16[_,_]", (2, 3), "bfloat16", None),
        ("f32|bf16[_,_]", (2, 3), "float16", "got f16"),
        ("*[...,3]", (3,), "bool", None),
        ("*[...,3]", (), "bool", "got pred"),
        ("*", (1, 2, 3), "uint8", None),
        ("f32[]", (1,), "float32", r"must be f32\[\]"),
    ],
)
def test_operands_are_checked(spec, shape, dtype, message):
    f = xlaops.ffi.op({}, ref=lambda x: x, name="f", operands={"x": spec})
    for run in (f, jax.jit(f)):
        if message is None:
            assert run(jnp.zeros(shape, dtype)).shape == shape
            continue
        with pytest.raises(TypeError, match=f"f: x .*{message}"):
            run(jnp.zeros(shape, dtype))


def test_names_are_one_size_and_one_type_in_all_operands():
    operands = {"a": "T[...,n]", "b": "T[...,m]", "c": "s32[n]"}
    f = xlaops.ffi.op(
        "t", ref=None, name="f", operands=operands, result=("T[...,m]", "s32[n,2]")
    )
    a, b, c = jnp.ones((4, 2)), jnp.ones((4, 3)), jnp.ones(2, "int32")
    y, z = jax.eval_shape(f, a, b, c)
    assert (y.shape, y.dtype, z.shape, z.dtype) == ((4, 3), "float32", (2, 2), "int32")
    with pytest.raises(TypeError, match=r"f: b must be T\[...,m\] with T = f32 of a"):
        f(a, b.astype("int32"), c)
    with pytest.raises(TypeError, match=r"f: c must be s32\[n\] with n = 2 of a"):
        f(a, b, jnp.ones(3, "int32"))
    with pytest.raises(TypeError, match=r"f: b must be"):
        f(a, b[0], c)


def test_the_rest_is_the_same_in_all_operands():
    operands = {"a": "f32[...]", "b": "f32[...,_]", "c": "f32"}
    f = xlaops.ffi.op({}, ref=lambda a, b, c: a, name="f", operands=operands)
    f(jnp.ones(3), jnp.ones((3, 2)), jnp.ones((5, 5)))
    with pytest.raises(
        TypeError,
        match=r"f: b must be f32\[...,_\] with ... = \[3\] of a, got f32\[4, 2",
    ):
        f(jnp.ones(3), jnp.ones((4, 2)), jnp.ones(()))


def test_any_size_has_no_name():
    operands = {"a": "f32[_]", "b": "f32[_,3]"}
    f = xlaops.ffi.op("t", ref=None, name="f", operands=operands, result="f32[_]")
    with pytest.raises(TypeError, match=r"f: b must be f32\[_,3\], got f32\[5\]"):
        f(jnp.ones(5), jnp.ones(5))
    with pytest.raises(TypeError, match="f: result must be one type"):
        f(jnp.ones(5), jnp.ones((5, 3)))


def test_named_tuples_of_operands():
    pair = collections.namedtuple("Pair", "left right")
    f = xlaops.ffi.op(
        {}, ref=lambda p: p.left + p.right, operands={"p": pair("f32[n]", "f32[n]")}
    )
    np.testing.assert_array_equal(f(pair(X[0], X[1])), X[0] + X[1])
    with pytest.raises(TypeError, match=r"p\.right must be f32\[n\] with n = 3"):
        f(pair(X[0], X[1, :2]))


@pytest.mark.parametrize("value", [None, "x", [1.0, 2.0], {"a": 1.0}, object()])
def test_operands_are_arrays(value):
    with pytest.raises(TypeError, match=r"scaled_sine: x must be"):
        make_sine()(value)


def test_number_of_operands():
    with pytest.raises(TypeError, match=r"sort_rows: missing a required.* 'w'"):
        make_sort_rows()(X)
    with pytest.raises(TypeError, match="sort_rows: too many positional"):
        make_sort_rows()(X, X[0], X)


def test_any_number_of_operands_and_results():
    @xlaops.ffi.op(target("negated"), operands={"first": "f32[n]", "rest": "f32[n]"})
    def negated(first, *rest):
        return first + sum(rest), [-x for x in rest]

    a, b, c = (np.arange(3, dtype=np.float32) + i for i in range(3))
    total, others = negated(a, b, c)
    np.testing.assert_array_equal(total, a + b + c)
    np.testing.assert_array_equal(others, [-b, -c])
    total, others = negated(a)
    np.testing.assert_array_equal(total, a)
    assert others == []
    batched = jax.vmap(negated, in_axes=(0, None))(np.stack([a, b]), c)
    np.testing.assert_array_equal(batched[0], [a + c, b + c])
    np.testing.assert_array_equal(batched[1][0], [-c, -c])
    with pytest.raises(TypeError, match=r"negated: rest\[1\] must be f32\[n\]"):
        negated(a, b, c[:2])


def test_operands_and_results_that_may_be_missing():
    @xlaops.ffi.op(
        target("optional"), result=lambda x, y: (x, None if y is None else "f32[]")
    )
    def optional(x, y=None):
        return (x, None) if y is None else (x + y, jnp.float32(1))

    x = jnp.arange(3.0)
    y, had = optional(x)
    np.testing.assert_array_equal(y, x)
    assert had is None
    y, had = optional(x, x)
    np.testing.assert_array_equal(y, 2 * x)
    assert had == 1
    f = xlaops.ffi.op({}, ref=lambda x=None, y=None: x, name="f")
    with pytest.raises(TypeError, match="f: y must be None where an operand before"):
        f(None, 1.0)


# Results, and the memory of operands


def test_reference_must_be_what_the_result_says():
    f = xlaops.ffi.op(
        {}, ref=lambda x: x.sum(), name="f", operands={"x": "f32[n]"}, result="f32[n]"
    )
    with pytest.raises(
        TypeError, match=r"f: ref must return what result says, .*\[3\]"
    ):
        f(jnp.ones(3))
    f = xlaops.ffi.op({}, ref=lambda x: "text", name="f")
    with pytest.raises(TypeError, match="f: ref must return arrays, got str"):
        f(1.0)


@pytest.mark.parametrize(
    "result",
    [
        "f32[6]",
        jax.ShapeDtypeStruct((6,), jnp.float32),
        xlaops.types.Shape.parse("f32[6]"),
        lambda x: jax.ShapeDtypeStruct((x.size,), x.dtype),
        lambda x: "f32[6]",
    ],
)
def test_forms_of_results(result):
    f = xlaops.ffi.op(target("raw"), ref=lambda x: x.ravel(), result=result)
    np.testing.assert_array_equal(f(X), X.ravel())


def test_result_follows_attributes():
    f = xlaops.ffi.op(
        target("raw"),
        ref=lambda x, rows: x.reshape(rows, -1),
        result=lambda x, rows: jax.ShapeDtypeStruct((rows, x.size // rows), x.dtype),
        attributes={"rows": "s64"},
        name="f",
    )
    # The handler decodes none, and XLA then lets it be given some.
    for rows in (1, 3):
        np.testing.assert_array_equal(f(X, rows=rows), X.reshape(rows, -1))


def test_aliased_operands():
    f = xlaops.ffi.op(
        target("increment"),
        ref=lambda x: (x + 1, jnp.float32(0)),
        operands={"x": "f32[n]"},
        aliases={"x": 0},
    )
    x = jnp.arange(3.0)
    y, is_same = f(x)
    np.testing.assert_array_equal(y, [1, 2, 3])
    assert is_same == 1
    np.testing.assert_array_equal(x, [0, 1, 2])  # it was copied
    y, is_same = jax.vmap(f)(X)
    np.testing.assert_array_equal(y, X + 1)
    np.testing.assert_array_equal(is_same, [1, 1])
    y, is_same = jax.jit(f, donate_argnums=0)(x)
    np.testing.assert_array_equal(y, [1, 2, 3])
    assert x.is_deleted()


def test_aliases_are_checked():
    def make(aliases):
        return xlaops.ffi.op({}, ref=lambda x: x.sum(), name="f", aliases=aliases)

    with pytest.raises(TypeError, match=r"f: x must have the type of result 0"):
        make({"x": 0})(jnp.ones(3))
    with pytest.raises(ValueError, match="f: aliases must be of 1 operands"):
        make({"x": 1})(1.0)
    with pytest.raises(ValueError, match="aliases must name an operand"):
        make({"y": 0})
    with pytest.raises(ValueError, match="must not be negative"):
        make({"x": -1})
    with pytest.raises(ValueError, match="must not have negative numbers"):
        make({-1: 0})
    two = xlaops.ffi.op({}, ref=lambda x: (x, x), name="f", aliases={"x": 0, 0: 1})
    with pytest.raises(ValueError, match="f: aliases must have a result for each"):
        two(1.0)


@pytest.mark.parametrize("vmap", ["sequential", "broadcast_all", "expand_dims"])
def test_aliased_operand_that_has_no_batch(vmap):
    f = xlaops.ffi.op(
        target("sort_rows"),
        ref=lambda x, w: jnp.sort(x, -1) + w[(None,) * (x.ndim - 1)],
        aliases={np.int64(0): 0},
        vmap=vmap,
    )
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = jax.vmap(f, in_axes=(None, 0))(X, w)
    np.testing.assert_array_equal(result, np.sort(X, -1) + w[:, None])


def test_scratch_memory_is_not_returned():
    f = xlaops.ffi.op(
        target("increment"),
        ref=lambda x: (x + 1, jnp.float32(0)),
        scratch=lambda x: jax.ShapeDtypeStruct((2 * x.shape[0],), x.dtype),
    )
    for run in (f, jax.jit(f)):
        y, _ = run(X[0])
        np.testing.assert_array_equal(y, X[0] + 1)
    np.testing.assert_array_equal(jax.vmap(f)(X)[0], X + 1)
    wrong = xlaops.ffi.op(
        target("increment"), ref=lambda x: (x + 1, jnp.float32(0)), scratch="f32[3]"
    )
    with pytest.raises(HandlerError, match="scratch of another size"):
        wrong(X[0])


def test_more_memory_than_can_be_counted():
    """In a child: XLA of jaxlib 0.10 ends the process."""
    script = """
        import jax, jax.numpy as jnp, xlaops.ffi
        def make(**options):
            options = {"name": "f", "operands": {"x": "f32[n]"}, **options}
            return xlaops.ffi.op("t", ref=None, **options)
        huge, x = "f32[4611686018427387904]", jnp.ones(2)
        for f in (
            make(result=huge),
            make(result="f32[n]", scratch=huge),
            lambda x: jax.vmap(make(result="f32[2305843009213693951]"))(x[:, None]),
        ):
            try:
                f(x)
            except ValueError as error:
                print(error)
    """
    text = printed(script)
    assert text.count("must give an array of less than 2**63 bytes") == 3, text
    assert text.startswith("f: result must")
    assert "\nf: scratch must" in text


def test_keys_of_random_numbers():
    f = xlaops.ffi.op(target("raw"), ref=lambda key: key)
    key = jax.random.key(7)
    np.testing.assert_array_equal(
        jax.random.key_data(jax.jit(f)(key)), jax.random.key_data(key)
    )
