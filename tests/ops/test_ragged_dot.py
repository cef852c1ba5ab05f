"""ragged_dot against sums that are weighted by who belongs to which group."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads

from xlaops.ops.ragged_dot import ragged_dot


@dataclasses.dataclass(frozen=True)
class Form:
    """One kind of product.

    Attributes:
      numbers: the dimension numbers.
      letters: what numpy.einsum calls the dimensions of lhs, of rhs, those for which
        there may be group sizes of their own, the ragged one, and the result. The
        groups are ``g``.
    """

    numbers: tuple
    letters: tuple[str, str, str, str, str]


SIZES = {"b": 2, "c": 2, "d": 4, "k": 3, "h": 2, "m": 5, "n": 2, "x": 2, "g": 3}
SIZES |= {"r": 5}
FORMS = {
    "rows": Form(((((1,), (1,)), ((), ())), (0,), (0,)), ("mk", "gkn", "", "m", "mn")),
    "rows of batches": Form(
        ((((0, 4), (1, 0)), ((1,), (2,))), (3,), (4,)),
        ("kbxmh", "hkbng", "bx", "m", "bxmn"),
    ),
    "sums": Form(((((0,), (0,)), ((), ())), (0,), ()), ("rm", "rn", "", "r", "gmn")),
    "sums of batches": Form(
        ((((1, 2), (2, 0)), ((0,), (3,))), (2,), ()),
        ("bcrx", "rncb", "bc", "r", "gbxn"),
    ),
    "sums in another order": Form(
        ((((2, 1), (0, 2)), ((0,), (3,))), (2,), ()),
        ("bcrx", "rncb", "b", "r", "gbxn"),
    ),
    "batches": Form(
        ((((2,), (0,)), ((0, 1), (2, 1))), (1,), ()),
        ("bdk", "kdb", "b", "d", "bd"),
    ),
}
CASES = [(name, own) for name in FORMS for own in (False, True)]
CASES = [(n, own) for n, own in CASES if FORMS[n].letters[2] or not own]
# Sums below, at and above the size of the ragged dimension (4 or 5); empty groups.
GROUPS = np.array([[1, 0, 2], [2, 2, 1], [0, 4, 0], [3, 1, 4], [0, 0, 0]])


def operands(form, own, rng):
    x, y = (
        rng.normal(size=[SIZES[c] for c in letters]) for letters in form.letters[:2]
    )
    before = tuple(SIZES[c] for c in form.letters[2]) if own else ()
    sizes = GROUPS[rng.integers(0, len(GROUPS), before)].astype(np.int32)
    return x, y, sizes


def membership(form, sizes):
    """1 where a position of the ragged dimension belongs to a group."""
    before = [SIZES[c] for c in form.letters[2]]
    if sizes.ndim == 1:
        sizes = np.broadcast_to(sizes, (*before, len(sizes)))
    result = np.zeros((*before, SIZES[form.letters[3]], sizes.shape[-1]))
    for index in np.ndindex(*before):
        groups = [g for g, n in enumerate(sizes[index].tolist()) for _ in range(n)]
        for position, group in enumerate(groups[: result.shape[-2]]):
            result[(*index, position, group)] = 1
    return result


def einsum(form, operands, sizes, inputs, output):
    """Products and sums over named dimensions, and over the groups where they count."""
    if "g" in output + "".join(inputs):
        operands = (*operands, membership(form, sizes))
        inputs = (*inputs, form.letters[2] + form.letters[3] + "g")
    return np.einsum(f"{','.join(inputs)}->{output}", *operands)


def oracle(form, x, y, sizes):
    left, right, *_, result = form.letters
    return einsum(form, (x, y), sizes, (left, right), result)


def gradient_oracle(form, x, y, sizes, cotangent):
    left, right, *_, result = form.letters
    return (
        einsum(form, (cotangent, y), sizes, (result, right), left),
        einsum(form, (x, cotangent), sizes, (left, result), right),
    )


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def pullback(numbers, x, y, sizes, cotangent):
    return jax.vjp(lambda x, y: ragged_dot(x, y, sizes, numbers), x, y)[1](cotangent)


@pytest.mark.parametrize(("name", "own"), CASES)
def test_values_and_gradients(name, own, rng):
    form = FORMS[name]
    x, y, _ = operands(form, own, rng)
    call = jax.jit(lambda *a: ragged_dot(*a, form.numbers))
    back = jax.jit(lambda *a: pullback(form.numbers, *a))
    for _ in range(4):
        sizes = operands(form, own, rng)[2]
        expected = oracle(form, x, y, sizes)
        close(call(x, y, sizes), expected)
        close(ragged_dot(x, y, sizes, form.numbers), expected)
        cotangent = rng.normal(size=expected.shape).astype(np.float32)
        for got, wanted in zip(
            back(x, y, sizes, cotangent),
            gradient_oracle(form, x, y, sizes, cotangent),
            strict=True,
        ):
            close(got, wanted)


ROWS = FORMS["rows"]
_rows = jax.jit(lambda x, y, sizes: ragged_dot(x, y, sizes, ROWS.numbers))


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_random_groups(sizes):
    rng = np.random.default_rng(sum(sizes))
    x, y, _ = operands(ROWS, False, rng)
    sizes = np.array(sizes, np.int32)
    close(_rows(x, y, sizes), oracle(ROWS, x, y, sizes))


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("rows", False),
        ("rows of batches", False),
        ("rows of batches", True),
        ("sums of batches", True),
        ("batches", True),
    ],
)
@pytest.mark.parametrize(
    "mapped",
    [
        (True, False, False),
        (False, True, False),
        (False, False, True),
        (True, True, False),
        (True, True, True),
    ],
)
def test_vmap_and_its_gradient(name, own, mapped, rng):
    form = FORMS[name]
    batch = [operands(form, own, rng) for _ in range(2)]
    places = (-1, 1, max(0, batch[0][2].ndim - 1))
    axes = [axis if m else None for axis, m in zip(places, mapped, strict=True)]
    by_operand = list(zip(*batch, strict=True))

    def place(values, axis):
        return values[0] if axis is None else np.stack(values, axis)

    def pick(b):
        return [
            values[0] if axis is None else values[b]
            for values, axis in zip(by_operand, axes, strict=True)
        ]

    x, y, sizes = (place(*pair) for pair in zip(by_operand, axes, strict=True))
    f = jax.vmap(lambda *a: ragged_dot(*a, form.numbers), axes)

    @jax.jit
    def both(x, y, sizes, cotangent):
        result, back = jax.vjp(lambda x, y: f(x, y, sizes), x, y)
        return result, back(cotangent)

    expected = np.stack([oracle(form, *pick(b)) for b in range(2)])
    cotangent = rng.normal(size=expected.shape).astype(np.float32)
    got, gradients = both(x, y, sizes, cotangent)
    close(got, expected)
    each = [gradient_oracle(form, *pick(b), cotangent[b]) for b in range(2)]
    for i, gradient in enumerate(gradients):
        parts = [pair[i] for pair in each]
        close(gradient, sum(parts) if axes[i] is None else np.stack(parts, axes[i]))


@pytest.mark.parametrize("name", ["rows of batches", "sums of batches", "batches"])
def test_vmap_of_gradients_and_nested_vmap(name, rng):
    form = FORMS[name]
    batch = [[operands(form, True, rng) for _ in range(2)] for _ in range(3)]
    x, y, sizes = (
        np.stack([np.stack([batch[a][b][i] for b in range(2)]) for a in range(3)])
        for i in range(3)
    )

    def f(x, y, sizes):
        return (ragged_dot(x, y, sizes, form.numbers) ** 2).sum() / 2

    got = jax.jit(jax.vmap(jax.vmap(jax.grad(f, (0, 1)))))(x, y, sizes)
    for a, b in np.ndindex(3, 2):
        arguments = batch[a][b]
        cotangent = oracle(form, *arguments)
        wanted = gradient_oracle(form, *arguments, cotangent)
        close(got[0][a, b], wanted[0])
        close(got[1][a, b], wanted[1])


def test_second_derivatives(x64, rng):
    names = ("rows", "sums", "batches")
    cases = [(FORMS[n], operands(FORMS[n], False, rng)) for n in names]

    @jax.jit
    def f(xs, ys):
        return [
            ragged_dot(x, y, sizes, form.numbers)
            for x, y, (form, (*_, sizes)) in zip(xs, ys, cases, strict=True)
        ]

    xs, ys = [x for _, (x, _, _) in cases], [y for _, (_, y, _) in cases]
    check_grads(f, (xs, ys), 2, modes=["rev"])


def test_jvp(rng):
    for form in FORMS.values():
        x, y, sizes = operands(form, True, rng)
        dx, dy, _ = operands(form, True, rng)
        _, got = jax.jvp(
            lambda x, y, form=form, sizes=sizes: ragged_dot(x, y, sizes, form.numbers),
            (jnp.float32(x), jnp.float32(y)),
            (jnp.float32(dx), jnp.float32(dy)),
        )
        close(got, oracle(form, dx, y, sizes) + oracle(form, x, dy, sizes))


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", ["rows", "sums of batches", "batches"])
def test_inside_shard_map(mesh8, name, check_vma, rng):
    form = FORMS[name]
    batch = [operands(form, False, rng) for _ in range(8)]
    x, sizes = (np.stack([b[i] for b in batch]) for i in (0, 2))
    y = batch[0][1]
    sharded = jax.jit(
        jax.shard_map(
            lambda x, y, sizes: ragged_dot(x[0], y, sizes[0], form.numbers)[None],
            mesh=mesh8,
            in_specs=(P("i"), P(), P("i")),
            out_specs=P("i"),
            check_vma=check_vma,
        )
    )
    expected = np.stack([oracle(form, x[i], y, sizes[i]) for i in range(8)])
    close(sharded(x, y, sizes), expected)
    got = jax.grad(lambda x, y: (sharded(x, y, sizes) ** 2).sum() / 2, (0, 1))(x, y)
    each = [gradient_oracle(form, x[i], y, sizes[i], expected[i]) for i in range(8)]
    close(got[0], np.stack([dx for dx, _ in each]))
    np.testing.assert_allclose(got[1], sum(dy for _, dy in each), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "uint32", "int4"])
def test_group_sizes_of_every_type(dtype):
    # Their sums do not fit the narrow types.
    top = {"int8": 127, "int4": 7}.get(dtype, 200)
    sizes = np.array([top, top, 3]).astype(dtype)
    x = np.arange(2 * top + 5, dtype=np.float32)[:, None]
    y = np.array([1, 10, 100], np.float32)[:, None, None]
    got = ragged_dot(x, y, jnp.asarray(sizes), ROWS.numbers)
    factors = np.repeat([1, 10, 100, 0], [top, top, 3, 2])
    np.testing.assert_array_equal(got, x * factors[:, None])


@pytest.mark.parametrize(
    ("left", "right", "preferred", "result"),
    [
        ("bfloat16", "bfloat16", None, "bfloat16"),
        ("bfloat16", "bfloat16", "float32", "float32"),
        ("float16", "bfloat16", "float32", "float32"),
        ("int8", "int8", "int32", "int32"),
        ("int32", "int32", None, "int32"),
        ("complex64", "complex64", None, "complex64"),
    ],
)
def test_element_types(left, right, preferred, result, rng, mode):
    x, y, sizes = operands(ROWS, False, rng)
    x, y = np.round(4 * x).astype(left), np.round(4 * y).astype(right)
    got = mode(
        lambda x, y: ragged_dot(
            x, y, sizes, ROWS.numbers, preferred_element_type=preferred
        )
    )(jnp.asarray(x), jnp.asarray(y))
    assert got.dtype == jnp.dtype(result)
    wide = np.complex128 if "complex" in left else np.float64
    expected = oracle(ROWS, x.astype(wide), y.astype(wide), sizes)
    # Small integers, which all of the types hold exactly.
    np.testing.assert_array_equal(np.asarray(got).astype(wide), expected)


@pytest.mark.parametrize(
    ("left", "right"), [("bfloat16", "bfloat16"), ("float16",) * 2]
)
@pytest.mark.parametrize("name", ["rows", "sums", "batches"])
def test_gradients_have_the_types_of_the_operands(name, left, right, rng):
    form = FORMS[name]
    x, y, sizes = operands(form, False, rng)
    x, y = np.round(4 * x).astype(left), np.round(4 * y).astype(right)
    got = jax.grad(
        lambda x, y: ragged_dot(
            x, y, sizes, form.numbers, preferred_element_type="f32"
        ).sum(),
        (0, 1),
    )(jnp.asarray(x), jnp.asarray(y))
    x, y = x.astype(float), y.astype(float)
    ones = np.ones_like(oracle(form, x, y, sizes))
    for gradient, dtype, wanted in zip(
        got, (left, right), gradient_oracle(form, x, y, sizes, ones), strict=True
    ):
        assert gradient.dtype == jnp.dtype(dtype)
        np.testing.assert_array_equal(np.asarray(gradient).astype(float), wanted)


def test_no_groups_and_no_rows(mode):
    f = mode(lambda *a: ragged_dot(*a, ROWS.numbers))
    empty = jnp.zeros((0,), jnp.int32)
    got = f(jnp.ones((5, 3)), jnp.ones((0, 3, 2)), empty)
    np.testing.assert_array_equal(got, np.zeros((5, 2)))
    got = f(jnp.ones((0, 3)), jnp.ones((2, 3, 2)), jnp.zeros(2, jnp.int32))
    assert got.shape == (0, 2)
    sums = FORMS["sums"].numbers
    got = mode(lambda *a: ragged_dot(*a, sums))(
        jnp.ones((5, 3)), jnp.ones((5, 2)), empty
    )
    assert got.shape == (0, 3, 2)


def lowered(f, *arguments, platforms=None):
    return jax.jit(f).trace(*arguments).lower(lowering_platforms=platforms).as_text()


def test_precision(rng):
    x, y, sizes = operands(ROWS, False, rng)
    text = lowered(lambda *a: ragged_dot(*a, ROWS.numbers, "HIGHEST"), x, y, sizes)
    assert "precision = [HIGHEST, HIGHEST]" in text

    def in_context(x, y, sizes):
        with jax.default_matmul_precision("highest"):
            return ragged_dot(x, y, sizes, ROWS.numbers)

    assert "precision = [HIGHEST, HIGHEST]" in lowered(in_context, x, y, sizes)
    text = lowered(lambda *a: ragged_dot(*a, ROWS.numbers), x, y, sizes)
    assert "HIGHEST" not in text
    text = lowered(
        lambda *a: ragged_dot(*a, ROWS.numbers, lax.DotAlgorithmPreset.F32_F32_F32),
        x,
        y,
        sizes,
    )
    assert "algorithm = <lhs_precision_type = f32" in text


def test_lowers_to_what_lax_lowers_to(rng):
    x, y, sizes = operands(ROWS, False, rng)
    numbers = lax.RaggedDotDimensionNumbers(*ROWS.numbers)

    def ours(x, y, sizes):
        return ragged_dot(x, y, sizes, ROWS.numbers)

    def theirs(x, y, sizes):
        return lax.ragged_dot_general(x, y, sizes, numbers)

    theirs.__name__ = "ours"
    for platforms in (("cpu",), ("tpu",), ("cuda",)):
        assert lowered(ours, x, y, sizes, platforms=platforms) == lowered(
            theirs, x, y, sizes, platforms=platforms
        )


@pytest.mark.parametrize("platform", ["tpu", "cuda", "rocm"])
@pytest.mark.parametrize("name", FORMS)
def test_lowering_for_other_platforms(platform, name, rng):
    form = FORMS[name]
    x, y, sizes = operands(form, False, rng)
    cotangent = np.ones_like(oracle(form, x, y, sizes), np.float32)
    text = lowered(
        lambda *a: pullback(form.numbers, *a),
        np.float32(x),
        np.float32(y),
        sizes,
        cotangent,
        platforms=(platform,),
    )
    assert ("ragged_dot" if platform == "tpu" else "dot") in text


def test_ways_to_write_the_numbers():
    x, y, sizes = jnp.ones((4, 3)), jnp.ones((2, 3, 2)), jnp.array([1, 2])
    expected = [[3, 3]] * 3 + [[0, 0]]
    fields = {
        "dot_dimension_numbers": {
            "lhs_contracting_dimensions": [1],
            "rhs_contracting_dimensions": [1],
        },
        "lhs_ragged_dimensions": [0],
        "rhs_group_dimensions": [0],
    }
    for numbers in (fields, lax.RaggedDotDimensionNumbers(*ROWS.numbers)):
        np.testing.assert_array_equal(ragged_dot(x, y, sizes, numbers), expected)


X, Y, G = np.ones((4, 3), np.float32), np.ones((2, 3, 2), np.float32), np.array([1, 2])
DOT = (((1,), (1,)), ((), ()))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((X, Y.astype(int), G, ROWS.numbers), TypeError, "lhs and rhs .*int32"),
        ((X, Y.astype(np.float16), G, ROWS.numbers), TypeError, "lhs and rhs .*Tip"),
        (([1], Y, G, ROWS.numbers), TypeError, "lhs must be .*list"),
        ((X, Y, G / 2, ROWS.numbers), TypeError, r"group_sizes must .*float32\[2\]"),
        (
            (X, Y, 3, ROWS.numbers),
            TypeError,
            r"group_sizes must have shape .*int32\[\]",
        ),
        ((X, Y, G[None], ROWS.numbers), TypeError, r"group_sizes must .*int32\[1, 2\]"),
        (
            (X, Y, np.array([1, 2, 3]), ROWS.numbers),
            TypeError,
            r"rhs_group_dimensions must have the size 3 .*got 2 in dimension 0",
        ),
        ((X, Y, G, (DOT, (2,), (0,))), ValueError, r"lhs_ragged_dimensions .*\(2,\)"),
        ((X, Y, G, (DOT, (0,), (3,))), ValueError, r"rhs_group_dimensions .*\(3,\)"),
        ((X, Y, G, (DOT, (0,), ())), ValueError, r"rhs_group_dimensions must be one"),
        ((X, Y, G, (DOT, (1,), (0,))), ValueError, r"rhs_group_dimensions .* empty"),
        ((X, Y, G, (DOT, (0, 1), (0,))), ValueError, r"lhs_ragged_dimensions.*exactly"),
        (
            (X, Y, G, ((((1,), (3,)), ((), ())), (0,), (0,))),
            ValueError,
            r"rhs_contracting_dimensions .*got \(3,\)",
        ),
        (
            (X, Y, G, ((((0,), (1,)), ((), ())), (1,), (0,))),
            TypeError,
            r"contracting dimensions must have equal sizes, got 4 .* and 3 ",
        ),
        (
            (X, X, G, ((((1,), (1,)), ((0,), (1,))), (0,), ())),
            ValueError,
            "batch",
        ),
        ((X, Y, G, ROWS.numbers, None, "s32"), TypeError, "preferred_element_type"),
        ((X, Y, G, 7), TypeError, "dimension_numbers: .*instance"),
    ],
)
def test_errors(arguments, error, message):
    with pytest.raises(error, match=f"ragged_dot: .*{message}"):
        ragged_dot(*arguments)
