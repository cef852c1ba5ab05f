"""Arrays rearranged, against numpy indexing and loops over the document's formulas."""

import itertools
import math

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from jax import export
from jax.test_util import check_grads

import xlaops as xo

# Few shapes, so that most examples find their program compiled.
SHAPES = [(), (3,), (2, 3), (3, 1, 2), (0, 2), (1, 2, 2, 3)]
DTYPES = ["bool", "int8", "uint32", "float16", "bfloat16", "float32", "complex64"]

shapes = st.sampled_from(SHAPES)
nonscalar_shapes = st.sampled_from(SHAPES[1:])


def counted(shape, dtype=np.int32):
    """An array whose elements are all different, and never 0."""
    return np.arange(1, math.prod(shape) + 1).astype(dtype).reshape(shape)


def equal(got, want):
    """Values, shape and element type."""
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape


def positions(shape):
    return itertools.product(*map(range, shape))


# Oracles


def broadcast_in_dim(x, sizes, dims):
    result = np.empty(sizes, x.dtype)
    for at in positions(sizes):
        source = tuple(
            0 if n == 1 else at[d] for n, d in zip(x.shape, dims, strict=True)
        )
        result[at] = x[source]
    return result


def padded(x, value, config):
    """The document's picture: spread, then padded or cut at the edges."""
    sizes = [
        low + high + n + max(n - 1, 0) * interior
        for n, (low, high, interior) in zip(x.shape, config, strict=True)
    ]
    result = np.full(sizes, value, x.dtype)
    for at in positions(x.shape):
        to = tuple(
            low + i * (interior + 1)
            for i, (low, _, interior) in zip(at, config, strict=True)
        )
        if all(0 <= i < n for i, n in zip(to, sizes, strict=True)):
            result[to] = x[at]
    return result


# Broadcast, BroadcastInDim


@pytest.mark.parametrize("dtype", DTYPES)
def test_broadcast_of_each_type(mode, dtype):
    x = jnp.asarray(counted((2, 1)), dtype)
    got = mode(lambda v: xo.broadcast(v, (3, 2)))(x)
    equal(got, np.broadcast_to(np.asarray(x), (3, 2, 2, 1)))


@given(shape=shapes, sizes=st.sampled_from([(), (2,), (0,), (2, 1), (1, 3, 2)]))
def test_broadcast_puts_sizes_in_front(shape, sizes):
    x = counted(shape)
    equal(xo.broadcast(x, sizes), np.broadcast_to(x, sizes + shape))


@st.composite
def placements(draw):
    """A shape, the dimensions that it goes to in any order, and the result's sizes."""
    shape = draw(shapes)
    rank = draw(st.integers(len(shape), len(shape) + 1))
    dims = draw(st.permutations(range(rank)).map(lambda p: tuple(p[: len(shape)])))
    sizes = [2] * rank
    for n, d in zip(shape, dims, strict=True):
        sizes[d] = n if n != 1 else draw(st.sampled_from([1, 3]))
    return shape, tuple(sizes), dims


@given(placements())
def test_broadcast_in_dim_places_dimensions(case):
    shape, sizes, dims = case
    x = counted(shape)
    equal(xo.broadcast_in_dim(x, sizes, dims), broadcast_in_dim(x, sizes, dims))


def test_broadcast_in_dim_transposes_when_dimensions_are_not_sorted():
    got = xo.broadcast_in_dim(np.array([[1, 2, 3], [4, 5, 6]]), (3, 2), (1, 0))
    assert got.tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize(
    ("shape", "sizes", "dims", "error", "match"),
    [
        ((2,), (2, 3), (), ValueError, r"broadcast_dimensions .* \(2,\), got \(\)"),
        ((2,), (2, 3), (0, 1), ValueError, r"broadcast_dimensions .* got \(0, 1\)"),
        ((2,), (2, 3), (2,), ValueError, r"broadcast_dimensions .* \[0, 2\), got \(2,"),
        ((2,), (2, 3), (-1,), ValueError, r"broadcast_dimensions .* got \(-1,\)"),
        ((2, 2), (2, 2), (1, 1), ValueError, r"broadcast_dimensions .* got \(1, 1\)"),
        (
            (2,),
            (2, 3),
            (1,),
            TypeError,
            r"out_dim_size must be 2 in dimension 1 .* \(2",
        ),
        ((3,), (1,), (0,), TypeError, r"out_dim_size must be 3 .* got \(1,\)"),
        ((3,), (-3,), (0,), ValueError, r"out_dim_size .* negative .* got \(-3,\)"),
        ((3,), 3, (0,), TypeError, r"out_dim_size .* integers, got int 3"),
        ((3,), (3,), (0.0,), TypeError, r"broadcast_dimensions\[0\] .* got float 0.0"),
    ],
)
def test_broadcast_in_dim_refuses(mode, shape, sizes, dims, error, match):
    call = mode(lambda x: xo.broadcast_in_dim(x, sizes, dims))
    with pytest.raises(error, match=f"^broadcast_in_dim: {match}"):
        call(np.zeros(shape))


@pytest.mark.parametrize(
    ("sizes", "error", "match"),
    [
        ((2, -1), ValueError, r"broadcast_sizes .* negative sizes, got \(2, -1\)"),
        (2, TypeError, r"broadcast_sizes must be a sequence of integers, got int 2"),
        ("22", TypeError, r"broadcast_sizes must be a sequence of integers, got str"),
        (None, TypeError, r"broadcast_sizes must be a sequence .* got NoneType None"),
        ((True,), TypeError, r"broadcast_sizes\[0\] must be an integer, got bool True"),
        ((2.5,), TypeError, r"broadcast_sizes\[0\] must be an integer, got float 2.5"),
    ],
)
def test_broadcast_refuses(mode, sizes, error, match):
    with pytest.raises(error, match=f"^broadcast: {match}"):
        mode(lambda x: xo.broadcast(x, sizes))(np.zeros(3))


# Reshape


@given(data=st.data(), dtype=st.sampled_from(DTYPES))
def test_reshape_keeps_row_major_order(data, dtype):
    shapes = [(12,), (3, 4), (2, 1, 6), (2, 3, 2, 1)]
    before, after = (data.draw(st.sampled_from(shapes)) for _ in range(2))
    x = jnp.asarray(counted(before), dtype)
    want = np.asarray(x).ravel()
    y = xo.reshape(x, after)
    equal(y, np.array([want[i] for i in range(12)]).reshape(after))
    equal(xo.reshape(y, before), np.asarray(x))


@pytest.mark.parametrize(
    "shape",
    [
        "s32[2,3]",
        "s32[2,3]{0,1}",
        jax.ShapeDtypeStruct((2, 3), np.int32),
        xo.Shape.parse("s32[2,3]"),
    ],
    ids=str,
)
def test_reshape_explicit(mode, shape):
    x = np.arange(6, dtype=np.int32)
    want = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
    equal(mode(lambda v: xo.reshape(shape, v))(x), want)
    equal(mode(lambda v: xo.reshape(shape=shape, operand=v))(x), want)
    equal(mode(lambda v: xo.reshape(operand=v, shape=shape))(x), want)


def test_reshape_of_scalars_and_nothing():
    equal(xo.reshape(np.int32(5), ()), np.array(5, np.int32))
    equal(xo.reshape(np.int32(5), (1, 1)), np.array([[5]], np.int32))
    equal(xo.reshape(np.ones((1, 1), np.int32), []), np.array(1, np.int32))
    equal(xo.reshape(np.ones((0, 3), np.int32), (2, 0)), np.ones((2, 0), np.int32))
    equal(xo.reshape("s32[]", np.ones(1, np.int32)), np.array(1, np.int32))


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (
            (np.zeros(6), (2, 2)),
            ValueError,
            r"dimensions .* 6 elements .* got \(2, 2\)",
        ),
        (
            (np.zeros(6), (-1, 6)),
            ValueError,
            r"dimensions .* negative .* got \(-1, 6\)",
        ),
        (
            (np.zeros(6), (2, -3)),
            ValueError,
            r"dimensions .* negative .* got \(2, -3\)",
        ),
        ((np.zeros(6), 6), TypeError, r"dimensions .* sequence of integers, got int 6"),
        (
            ("f32[2,2]", np.zeros(6, "f4")),
            ValueError,
            r"shape .* 6 elements .* \(2, 2\)",
        ),
        (("s32[6]", np.zeros(6, "f4")), TypeError, r"shape .* float32 .* got s32\[6\]"),
        (("s32[", np.zeros(6, "f4")), ValueError, r"shape: .* position 4"),
        (("(f32[6])", np.zeros(6, "f4")), ValueError, r"shape .* got \(f32\[6\]"),
        (("f32[<=6]", np.zeros(6, "f4")), ValueError, r"shape .* static .* f32\[<=6\]"),
        ((np.zeros(6),), TypeError, r"missing .*'dimensions'"),
        (("f32[6]",), TypeError, r"missing .*'operand'"),
        (([1, 2], (2,)), TypeError, r"operand .* got a list of length 2"),
    ],
)
def test_reshape_refuses(arguments, error, match):
    with pytest.raises(error, match=rf"^reshape(: |\(\) ){match}"):
        xo.reshape(*arguments)


def test_reshape_names_itself_for_wrong_arguments():
    """Not one of the functions that stand for its two forms."""
    with pytest.raises(TypeError, match=r"^reshape(: |\(\) )"):
        xo.reshape(np.zeros(6, "f4"), (6,), shape="f32[6]")
    with pytest.raises(TypeError, match=r"^reshape(: |\(\) )"):
        xo.reshape()
    with pytest.raises(TypeError, match=r"^reshape(: |\(\) ).*'sizes'"):
        xo.reshape(np.zeros(6, "f4"), sizes=(6,))


# Transpose


@given(shape=shapes, data=st.data())
def test_transpose_moves_dimensions(shape, data):
    permutation = tuple(data.draw(st.permutations(range(len(shape)))))
    x = counted(shape)
    got = xo.transpose(x, permutation)
    assert got.shape == tuple(shape[p] for p in permutation)
    for at in positions(got.shape):
        source = [0] * len(shape)
        for i, p in enumerate(permutation):
            source[p] = at[i]
        assert got[at] == x[tuple(source)]
    inverse = [permutation.index(d) for d in range(len(shape))]
    equal(xo.transpose(got, inverse), x)


@pytest.mark.parametrize("permutation", [(0,), (0, 0), (0, 2), (-1, 0), (0, 1, 2), ()])
def test_transpose_refuses(mode, permutation):
    match = r"^transpose: permutation must be a permutation of \(0, 1\) .* got \("
    with pytest.raises(ValueError, match=match):
        mode(lambda x: xo.transpose(x, permutation))(np.zeros((2, 3)))


# ConcatInDim


@given(
    shape=nonscalar_shapes,
    sizes=st.lists(st.integers(0, 2), min_size=1, max_size=3),
    data=st.data(),
)
def test_concat_in_dim_joins_in_order(shape, sizes, data):
    d = data.draw(st.integers(0, len(shape) - 1))
    parts = [
        counted((*shape[:d], n, *shape[d + 1 :])) + 50 * i for i, n in enumerate(sizes)
    ]
    got = xo.concat_in_dim(parts, d)
    assert got.shape[d] == sum(sizes)
    assert got.dtype == np.int32
    start = 0
    for part in parts:
        taken = np.take(np.asarray(got), range(start, start + part.shape[d]), axis=d)
        np.testing.assert_array_equal(taken, part)
        start += part.shape[d]


def test_concat_in_dim_takes_mixed_operands(mode):
    parts = (jnp.array([1, 2]), np.array([3], np.int32))
    got = mode(lambda *xs: xo.concat_in_dim(xs, 0))(*parts)
    equal(got, np.array([1, 2, 3], np.int32))
    equal(xo.concat_in_dim(list(parts), np.int64(0)), np.array([1, 2, 3], np.int32))
    equal(xo.concat_in_dim(parts[:1], 0), np.array([1, 2], np.int32))


F4, I4 = np.float32, np.int32


@pytest.mark.parametrize(
    ("operands", "dimension", "error", "match"),
    [
        ([], 0, ValueError, r"operands must hold at least one array"),
        (np.zeros((2, 2)), 0, TypeError, r"operands must be a sequence .*\[2, 2\]"),
        ([np.zeros((), F4)], 0, TypeError, r"operands must have rank 1 or more"),
        ([np.zeros(2, F4)], 1, ValueError, r"dimension must be in \[0, 1\) .* got 1"),
        ([np.zeros(2, F4)], -1, ValueError, r"dimension must be in \[0, 1\) .* got -1"),
        ([np.zeros(2, F4)], 0.0, TypeError, r"dimension must be an integer, got float"),
        (
            [np.zeros(2, F4), np.zeros(2, I4)],
            0,
            TypeError,
            r"operands .* float32 and, in operands\[1\], int32",
        ),
        (
            [np.zeros((2, 1), F4), np.zeros((3, 2), F4)],
            1,
            TypeError,
            r"operands .* dimension 1, got \(2, 1\) and, in operands\[1\], \(3, 2\)",
        ),
        (
            [np.zeros((2, 1), F4), np.zeros(2, F4)],
            0,
            TypeError,
            r"operands .* got \(2, 1\) and, in operands\[1\], \(2,\)",
        ),
        (
            [np.zeros(2, F4), [1.0]],
            0,
            TypeError,
            r"operands\[1\] .* a list of length 1",
        ),
    ],
)
def test_concat_in_dim_refuses(operands, dimension, error, match):
    with pytest.raises(error, match=f"^concat_in_dim: {match}"):
        xo.concat_in_dim(operands, dimension)


# Pad, Slice


@st.composite
def paddings(draw):
    shape = draw(shapes)
    config = []
    for n in shape:
        interior = draw(st.integers(0, 2))
        spread = n + max(n - 1, 0) * interior
        low = draw(st.integers(-spread, 2))
        # Together they never remove more than there is.
        high = draw(st.integers(max(-2, -spread - low), 2))
        config.append((low, high, interior))
    return shape, config


@given(paddings())
def test_pad_is_the_documents(case):
    shape, config = case
    x = counted(shape)
    equal(xo.pad(x, np.int32(-7), config), padded(x, -7, config))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        # By hand: 1 0 0 2 0 0 3, of which the edges cut one and two.
        ((-1, -2, 2), [0, 0, 2, 0]),
        ((1, 1, 1), [0, 1, 0, 2, 0, 3, 0]),
        ((-3, 0, 0), []),
        ((2, -5, 0), []),
        ((4, -5, 1), [0, 0, 0, 0]),
    ],
)
def test_pad_by_hand(mode, config, expected):
    got = mode(lambda x: xo.pad(x, 0, [config]))(np.array([1, 2, 3], np.int32))
    equal(got, np.array(expected, np.int32))


@given(shape=shapes, data=st.data())
def test_slice_undoes_pad(shape, data):
    config = [
        (data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2)), k)
        for k in data.draw(
            st.lists(st.integers(0, 2), min_size=len(shape), max_size=len(shape))
        )
    ]
    x = counted(shape)
    starts = [low for low, _, _ in config]
    limits = [
        low + n + max(n - 1, 0) * k
        for n, (low, _, k) in zip(shape, config, strict=True)
    ]
    strides = [k + 1 for _, _, k in config]
    equal(xo.slice(xo.pad(x, np.int32(0), config), starts, limits, strides), x)


@given(shape=shapes, data=st.data())
def test_slice_is_numpys(shape, data):
    starts = [data.draw(st.integers(0, n)) for n in shape]
    limits = [data.draw(st.integers(s, n)) for s, n in zip(starts, shape, strict=True)]
    strides = [data.draw(st.integers(1, 4)) for _ in shape]
    x = counted(shape)
    want = x[tuple(map(slice, starts, limits, strides))]
    equal(xo.slice(x, starts, limits, strides), want)


def test_slice_of_the_document(mode):
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0], np.float32)
    equal(mode(lambda v: xo.slice(v, (2,), (4,)))(x), np.array([2, 3], np.float32))
    y = np.arange(12, dtype=np.float32).reshape(4, 3)
    want = np.array([[7, 8], [10, 11]], np.float32)
    equal(mode(lambda v: xo.slice(v, (2, 1), (4, 3)))(y), want)


@pytest.mark.parametrize(
    ("starts", "limits", "strides", "error", "match"),
    [
        ((0,), (2, 3), None, ValueError, r"start_indices .* one entry .* got \(0,\)"),
        ((0, 0), (2,), None, ValueError, r"limit_indices .* one entry .* got \(2,\)"),
        ((0, 0), (2, 3), (1,), ValueError, r"strides .* one entry .* got \(1,\)"),
        (
            (0, 0),
            (2, 4),
            None,
            ValueError,
            r"start_indices and limit_indices .* 0 and 4",
        ),
        ((-1, 0), (2, 3), None, ValueError, r"start_indices .* got -1 and 2"),
        ((0, 2), (2, 1), None, ValueError, r"start_indices .* dimension 1 .* 2 and 1"),
        (
            (0, 0),
            (2, 3),
            (1, 0),
            ValueError,
            r"strides must be in \[1, 2\*\*63\), got \(1, 0\)",
        ),
        ((0, 0), (2, 3), (1, -1), ValueError, r"strides must .* got \(1, -1\)"),
        (0, (2, 3), None, TypeError, r"start_indices .* sequence .* got int 0"),
        ((0, 0.0), (2, 3), None, TypeError, r"start_indices\[1\] .* got float 0.0"),
    ],
)
def test_slice_refuses(mode, starts, limits, strides, error, match):
    call = mode(lambda x: xo.slice(x, starts, limits, strides))
    with pytest.raises(error, match=f"^slice: {match}"):
        call(np.zeros((2, 3)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_pad_of_each_type(mode, dtype):
    x, value = jnp.asarray(counted((3,)), dtype), jnp.asarray(1, dtype)
    got = mode(lambda v, w: xo.pad(v, w, [(1, 0, 1)]))(x, value)
    want = [np.asarray(v) for v in (value, x[0], value, x[1], value, x[2])]
    equal(got, np.stack(want))


def test_pad_fills_with_python_scalars():
    equal(xo.pad(np.ones(1, F4), 0, [(1, 0, 0)]), np.array([0, 1], F4))
    equal(xo.pad(np.ones(1, F4), -math.inf, [(0, 1, 0)]), np.array([1, -np.inf], F4))
    nan = xo.pad(np.ones(1, F4), math.nan, [(0, 1, 0)])
    np.testing.assert_array_equal(nan, np.array([1, np.nan], F4))


@pytest.mark.parametrize(
    "config",
    [
        [(1, 2, 3)],
        ([1, 2, 3],),
        np.array([[1, 2, 3]]),
        "1_2_3",
        xo.PaddingConfig([(1, 2, 3)]),
        [{"edge_padding_low": 1, "edge_padding_high": 2, "interior_padding": 3}],
        {"dimensions": [(1, 2, 3)]},
    ],
    ids=str,
)
def test_pad_takes_every_spelling_of_the_configuration(config):
    got = xo.pad(np.array([1, 2], np.int32), 0, config)
    assert got.tolist() == [0, 1, 0, 0, 0, 2, 0, 0]


@pytest.mark.parametrize(
    ("value", "config", "error", "match"),
    [
        (F4(0), [(0, 0, 0)] * 2, ValueError, r"padding_config .* operand \(3,\), got"),
        (F4(0), [], ValueError, r"padding_config .* operand \(3,\), got \(\)"),
        (F4(0), [(0, 0, -1)], ValueError, r"padding_config: .*interior_padding.* -1"),
        (F4(0), [(-2, -2, 0)], ValueError, r"padding_config .* got \(-2, -2, 0\)"),
        (F4(0), [(0, 0)], ValueError, r"padding_config: .*\(0, 0\)"),
        (I4(0), [(0, 0, 0)], TypeError, r"operands .* operand float32.* int32"),
        (np.zeros(1, F4), [(0, 0, 0)], TypeError, r"padding_value .* got float32\[1\]"),
        (1j, [(0, 0, 0)], TypeError, r".*padding_value complex"),
        (None, [(0, 0, 0)], TypeError, r"padding_value .* got NoneType None"),
    ],
)
def test_pad_refuses(value, config, error, match):
    with pytest.raises(error, match=f"^pad: {match}"):
        xo.pad(np.zeros(3, F4), value, config)


# Iota


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32", "complex64"])
@given(shape=nonscalar_shapes, data=st.data())
def test_iota_counts_along_a_dimension(dtype, shape, data):
    d = data.draw(st.integers(0, len(shape) - 1))
    got = xo.iota(jax.ShapeDtypeStruct(shape, dtype), d)
    want = np.empty(shape, dtype)
    for at in positions(shape):
        want[at] = at[d]
    equal(got, want)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        # Integers wrap around; small floating-point types round to even.
        ("s8[200]", np.arange(200).astype(np.int8)),
        ("u8[300]", np.arange(300).astype(np.uint8)),
        ("bf16[300]", np.arange(300).astype(ml_dtypes.bfloat16)),
        ("f16[2100]", np.arange(2100).astype(np.float16)),
        (
            "s4[20]",
            np.array([*range(8), *range(-8, 4)], ml_dtypes.int4),
        ),
        ("f32[0]", np.empty(0, np.float32)),
    ],
)
def test_iota_of_small_types(mode, shape, expected):
    equal(np.asarray(mode(lambda: xo.iota(shape, 0))()), expected)


@pytest.mark.parametrize(
    ("shape", "dimension", "error", "match"),
    [
        ("f32[2,3]", 2, ValueError, r"iota_dimension must be in \[0, 2\) .* got 2"),
        ("f32[2,3]", -1, ValueError, r"iota_dimension must be in \[0, 2\) .* got -1"),
        ("f32[]", 0, ValueError, r"iota_dimension must be in \[0, 0\) .* got 0"),
        ("pred[2]", 0, TypeError, r"shape must have a numeric .* got pred\[2\]"),
        ("f32[<=2]", 0, ValueError, r"shape .* static .* got f32\[<=2\]"),
        ("(f32[2])", 0, ValueError, r"shape must be the shape of an array"),
        ("token[]", 0, ValueError, r"shape must be the shape of an array"),
        ((2, 3), 0, TypeError, r"shape: .* got 2"),
        ("f32[2]", "0", TypeError, r"iota_dimension must be an integer, got str '0'"),
    ],
)
def test_iota_refuses(mode, shape, dimension, error, match):
    with pytest.raises(error, match=f"^iota: {match}"):
        mode(lambda: xo.iota(shape, dimension))()


# All of them


CALLS = {
    "broadcast": lambda x: xo.broadcast(x, (2,)),
    "broadcast_in_dim": lambda x: xo.broadcast_in_dim(x, (2, 2, 3), (1, 2)),
    "reshape": lambda x: xo.reshape(x, (3, 2)),
    "transpose": lambda x: xo.transpose(x, (1, 0)),
    "concat_in_dim": lambda x: xo.concat_in_dim((x, x), 1),
    "pad": lambda x: xo.pad(x, 0, [(1, 1, 0), (-1, 0, 2)]),
    "slice": lambda x: xo.slice(x, (0, 1), (2, 3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_vmap_is_a_loop(name):
    x = counted((4, 2, 3))
    want = np.stack([CALLS[name](row) for row in x])
    equal(jax.vmap(CALLS[name])(x), want)
    moved = np.moveaxis(x, 0, 2)
    equal(jax.vmap(CALLS[name], in_axes=2, out_axes=1)(moved), np.moveaxis(want, 0, 1))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", CALLS)
def test_gradients(name, rng):
    check_grads(CALLS[name], (rng.normal(size=(2, 3)),), order=2)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("operand", [None, [1.0], {}, np.array(["x"])], ids=str)
def test_what_is_no_array_is_refused(name, operand):
    with pytest.raises(TypeError, match=rf"^{name}: operands?(\[0\])? must (be|have)"):
        CALLS[name](operand)


def test_gradient_of_pad_with_respect_to_the_value():
    gradient = jax.grad(lambda v: xo.pad(jnp.ones(3), v, [(2, -1, 1)]).sum())(0.5)
    # Two at the low edge and two inside; the cut element is not a padding.
    assert gradient == 4


# Sizes that are known when the program runs


@pytest.mark.parametrize(
    ("call", "of_numpy"),
    [
        (
            lambda x: xo.pad(x, 9.0, [(1, 0, 0), (0, 2, 0)]),
            lambda x: np.pad(x, [(1, 0), (0, 2)], constant_values=9),
        ),
        (
            lambda x: xo.pad_in_dim(x, 9.0, 1, 0, 2),
            lambda x: np.pad(x, [(0, 0), (0, 2)], constant_values=9),
        ),
        (lambda x: xo.broadcast(x, (2,)), lambda x: np.stack([x, x])),
        (
            lambda x: xo.reduce_window([x], [0.0], xo.add, [1, 2], [1, 1], "VALID"),
            lambda x: x[:, 1:] + x[:, :-1],
        ),
        (lambda x: xo.top_k(x, 1)[0], lambda x: x.max(axis=1, keepdims=True)),
        (lambda x: xo.collapse(x, (0, 1)), np.ravel),
    ],
)
def test_sizes_may_be_symbols_of_an_exported_program(call, of_numpy):
    struct = jax.ShapeDtypeStruct(export.symbolic_shape("a, b"), np.float32)
    exported = export.export(jax.jit(call))(struct)
    for shape in ((2, 3), (4, 2)):
        x = counted(shape, np.float32)
        equal(exported.call(x), of_numpy(x))
