"""Convolutions, against loops over the formula of XLA's document."""

import itertools
import math

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given
from jax.test_util import check_grads

import xlaops as xo

F4, I1, I4 = np.float32, np.int8, np.int32


# The oracle


def spread(x, axis, factor):
    """With factor - 1 zeros between neighbours."""
    n = x.shape[axis]
    shape = list(x.shape)
    shape[axis] = n + max(n - 1, 0) * (factor - 1)
    result = np.zeros(shape, x.dtype)
    result[(slice(None),) * axis + (slice(None, None, factor),)] = x
    return result


def edged(x, axis, low, high):
    """With zeros at the edges; negative numbers cut."""
    pads = [(0, 0)] * x.ndim
    pads[axis] = (max(low, 0), max(high, 0))
    x = np.pad(x, pads)
    cut = slice(max(-low, 0), x.shape[axis] - max(-high, 0))
    return x[(slice(None),) * axis + (cut,)]


def same(sizes, windows, strides):
    """The padding SAME: ceil(size / stride) positions, the larger half at the end."""
    pads = []
    for n, w, s in zip(sizes, windows, strides, strict=True):
        total = max((math.ceil(n / s) - 1) * s + w - n, 0)
        pads.append((total // 2, total - total // 2))
    return pads


def convolution(
    x,
    kernel,
    strides,
    padding,
    lhs_dilation=None,
    rhs_dilation=None,
    feature_groups=1,
    batch_groups=1,
    reversal=None,
    dtype=None,
):
    """Batch, features, space; output features, input features, space."""
    n = x.ndim - 2
    x, kernel = x.astype(dtype or x.dtype), kernel.astype(dtype or kernel.dtype)
    for d in range(n):
        if reversal and reversal[d]:
            kernel = np.flip(kernel, d + 2)
        kernel = spread(kernel, d + 2, (rhs_dilation or [1] * n)[d])
        x = spread(x, d + 2, (lhs_dilation or [1] * n)[d])
        x = edged(x, d + 2, *padding[d])
    window = kernel.shape[2:]
    sizes = [
        max((m - w) // s + 1, 0)
        for m, w, s in zip(x.shape[2:], window, strides, strict=True)
    ]
    batch, outputs = x.shape[0] // batch_groups, kernel.shape[0]
    result = np.zeros((batch, outputs, *sizes), x.dtype)
    for b, o, *at in itertools.product(*map(range, result.shape)):
        features = range(kernel.shape[1])
        # Output features are split evenly over the groups of either kind.
        group = o // (outputs // (feature_groups * batch_groups))
        row = b + batch * group if batch_groups > 1 else b
        first = group * len(features) if feature_groups > 1 else 0
        for f in features:
            for k in itertools.product(*map(range, window)):
                source = tuple(
                    i * s + j for i, s, j in zip(at, strides, k, strict=True)
                )
                result[(b, o, *at)] += x[(row, first + f, *source)] * kernel[(o, f, *k)]
    return result


def integers(rng, shape, dtype=I4):
    return rng.integers(-5, 5, shape).astype(dtype)


def arrays(x_shape, kernel_shape, seed=0):
    rng = np.random.default_rng(seed)
    return integers(rng, x_shape).astype(F4), integers(rng, kernel_shape).astype(F4)


def equal(got, want):
    np.testing.assert_array_equal(got, want)
    assert got.shape == want.shape


def test_oracle_by_hand():
    x = np.array([[[1, 2, 3]]])
    kernel = np.array([[[1, 10]]])
    assert convolution(x, kernel, [1], [(0, 0)]).tolist() == [[[21, 32]]]
    assert convolution(x, kernel, [2], [(1, 0)]).tolist() == [[[10, 32]]]
    assert convolution(x, kernel, [1], [(-1, 1)]).tolist() == [[[32, 3]]]
    assert convolution(x, kernel, [1], [(0, 0)], [2]).tolist() == [[[1, 20, 2, 30]]]
    assert convolution(x, kernel, [1], [(0, 0)], None, [2]).tolist() == [[[31]]]
    got = convolution(x, kernel, [1], [(0, 0)], reversal=[True])
    assert got.tolist() == [[[12, 23]]]


# Every option, over fixed shapes


@st.composite
def windows(draw, n):
    """Strides, padding and dilations that keep the result small, from few values."""
    each = [
        (
            draw(st.sampled_from([1, 2])),
            draw(st.sampled_from([(0, 0), (2, 1), (-1, 2), (1, -2)])),
            draw(st.sampled_from([1, 2])),
            draw(st.sampled_from([1, 2])),
            draw(st.booleans()),
        )
        for _ in range(n)
    ]
    return [list(option) for option in zip(*each, strict=True)]


# Batch, features, space; output features, input features, window; groups.
SHAPES_1D = [
    ((2, 3, 5), (4, 3, 2), 1, 1),
    ((1, 4, 6), (4, 2, 3), 2, 1),
    ((4, 2, 5), (4, 2, 3), 1, 2),
    ((2, 3, 5), (3, 1, 2), 3, 1),
    ((3, 1, 5), (3, 1, 2), 1, 3),
]


@given(shapes=st.sampled_from(SHAPES_1D), window=windows(1), seed=st.integers(0, 9))
def test_one_dimension(shapes, window, seed):
    check_dilated(*shapes, window, seed, "bf0_oi0->bf0")


# XLA of jaxlib 0.10 gets this one wrong on CPUs.
@example(window=[[1, 2], [(0, 0), (-1, 2)], [1, 1], [1, 1], [False] * 2], seed=0)
@given(window=windows(2), seed=st.integers(0, 9))
def test_two_dimensions(window, seed):
    check_dilated((2, 2, 4, 3), (2, 2, 2, 3), 1, 1, window, seed, "bf01_oi01->bf01")


def check_dilated(
    x_shape, kernel_shape, feature_groups, batch_groups, window, seed, text
):
    strides, padding, lhs_dilation, rhs_dilation, reversal = window
    x, kernel = arrays(x_shape, kernel_shape, seed)
    want = convolution(
        x,
        kernel,
        strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        feature_groups,
        batch_groups,
        reversal,
    )
    got = xo.conv_general_dilated(
        x,
        kernel,
        strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        text,
        feature_groups,
        batch_groups,
        window_reversal=reversal,
    )
    equal(got, want)


def test_without_spatial_dimensions(mode):
    x, kernel = arrays((2, 3), (4, 3))
    got = mode(lambda a, b: xo.conv(a, b, (), "VALID"))(x, kernel)
    equal(got, np.einsum("bf,of->bo", x, kernel))
    got = mode(lambda a, b: xo.conv_general(a, b, (), (), "bf_oi->bf"))(x, kernel)
    equal(got, np.einsum("bf,of->bo", x, kernel))


def test_three_dimensions(mode):
    x, kernel = arrays((1, 1, 3, 2, 3), (1, 1, 2, 2, 2))
    padding = [(1, 0), (0, 0), (0, 1)]
    want = convolution(x, kernel, (1, 1, 2), padding)
    equal(
        mode(lambda a, b: xo.conv_with_general_padding(a, b, (1, 1, 2), padding))(
            x, kernel
        ),
        want,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID", "same", xo.Padding.SAME])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_named_padding(padding, stride):
    x, kernel = arrays((2, 2, 5, 6), (3, 2, 2, 3))
    strides = (stride, 1)
    pads = [(0, 0)] * 2
    if padding != "VALID":
        pads = same((5, 6), (2, 3), strides)
    want = convolution(x, kernel, strides, pads)
    equal(xo.conv(x, kernel, strides, padding), want)
    text = "bf01_oi01->bf01"
    equal(xo.conv_with_general_dimensions(x, kernel, strides, padding, text), want)


def test_the_five_forms_agree():
    x, kernel = arrays((2, 2, 5), (4, 2, 3))
    want = convolution(x, kernel, [2], [(1, 1)])
    text = "bf0_oi0->bf0"
    equal(xo.conv(x, kernel, [2], "SAME"), want)
    equal(xo.conv_with_general_padding(x, kernel, [2], [(1, 1)]), want)
    equal(xo.conv_with_general_dimensions(x, kernel, [2], "SAME", text), want)
    equal(xo.conv_general(x, kernel, [2], [(1, 1)], text), want)
    equal(xo.conv_general_dilated(x, kernel, [2], [(1, 1)], [1], [1], text), want)


def test_groups_in_the_five_forms():
    x, kernel = arrays((2, 4, 5), (4, 2, 3))
    text, pads = "bf0_oi0->bf0", [(0, 0)]
    want = convolution(x, kernel, [1], pads, feature_groups=2)
    equal(xo.conv(x, kernel, [1], "VALID", 2), want)
    equal(xo.conv_with_general_padding(x, kernel, [1], pads, 2), want)
    equal(xo.conv_with_general_dimensions(x, kernel, [1], "VALID", text, 2), want)
    equal(xo.conv_general(x, kernel, [1], pads, text, 2), want)
    x, kernel = arrays((4, 2, 5), (4, 2, 3))
    want = convolution(x, kernel, [1], pads, batch_groups=2)
    equal(xo.conv(x, kernel, [1], "VALID", 1, 2), want)
    equal(xo.conv_with_general_padding(x, kernel, [1], pads, 1, 2), want)
    equal(xo.conv_with_general_dimensions(x, kernel, [1], "VALID", text, 1, 2), want)
    equal(xo.conv_general(x, kernel, [1], pads, text, 1, 2), want)


# Dimension orders


ORDERS = [
    ("bf01", "oi01", "bf01"),
    ("b01f", "01io", "b01f"),
    ("01bf", "i0o1", "f1b0"),
    ("b10f", "01oi", "0b1f"),
]


def spellings(lhs, rhs, out):
    """The same numbers in every way to write them."""
    specs = {"input": (lhs, "bf"), "kernel": (rhs, "io"), "output": (out, "bf")}
    words = {"b": "batch", "f": "feature", "i": "input_feature", "o": "output_feature"}
    fields = {}
    for array, (labels, named) in specs.items():
        for letter in named:
            fields[f"{array}_{words[letter]}_dimension"] = labels.index(letter)
        fields[f"{array}_spatial_dimensions"] = [labels.index(d) for d in "01"]
    image, window = (
        str.maketrans(dict(zip(old, new, strict=True)))
        for old, new in (("bf01", "NCHW"), ("oi01", "OIHW"))
    )
    return [
        xo.ConvolutionDimensionNumbers(**fields),
        fields,
        (lhs.translate(image), rhs.translate(window), out.translate(image)),
        f"{lhs}_{rhs}->{out}",
        jax.lax.ConvDimensionNumbers(
            tuple(lhs.index(c) for c in "bf01"),
            tuple(rhs.index(c) for c in "oi01"),
            tuple(out.index(c) for c in "bf01"),
        ),
    ]


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_dimension_numbers_in_every_spelling(order):
    lhs, rhs, out = order
    x, kernel = arrays((2, 2, 4, 3), (3, 2, 2, 1))
    want = convolution(x, kernel, (1, 2), [(1, 0), (0, 1)])
    x = x.transpose(["bf01".index(c) for c in lhs])
    kernel = kernel.transpose(["oi01".index(c) for c in rhs])
    want = want.transpose(["bf01".index(c) for c in out])
    for numbers in spellings(lhs, rhs, out):
        equal(xo.conv_general(x, kernel, (1, 2), [(1, 0), (0, 1)], numbers), want)


def test_letters_are_paired_by_name_in_the_kernels_order():
    x, kernel = arrays((1, 1, 4, 3), (1, 1, 3, 2))
    # The window's first number is for W, which the kernel has first.
    got = xo.conv_general(x, kernel, (1, 2), [(1, 0), (0, 1)], ("NCHW", "OIWH", "NCHW"))
    turned = kernel.transpose(0, 1, 3, 2)
    equal(got, convolution(x, turned, (2, 1), [(0, 1), (1, 0)]))


def test_reversal_follows_the_kernels_dimensions():
    x, kernel = arrays((1, 1, 4, 3), (1, 1, 2, 3))
    for reversal in itertools.product([False, True], repeat=2):
        want = convolution(x, kernel, (1, 1), [(0, 0)] * 2, reversal=reversal)
        got = xo.conv_general_dilated(
            x,
            kernel.transpose(3, 0, 2, 1),
            (1, 1),
            [(0, 0)] * 2,
            (1, 1),
            (1, 1),
            "bf01_1o0i->bf01",
            window_reversal=list(reversal),
        )
        equal(got, want)


# Nothing to compute


@pytest.mark.parametrize(
    ("x_shape", "kernel_shape", "padding"),
    [
        ((0, 2, 4), (3, 2, 2), (0, 0)),
        ((1, 2, 0), (3, 2, 2), (0, 0)),
        ((1, 2, 0), (3, 2, 2), (1, 1)),
        ((1, 2, 1), (3, 2, 2), (0, 0)),
        ((1, 2, 4), (0, 2, 2), (0, 0)),
        ((1, 0, 4), (3, 0, 2), (0, 0)),
        ((1, 2, 4), (3, 2, 2), (-2, -2)),
        ((1, 2, 4), (3, 2, 2), (-1, -2)),
    ],
)
def test_empty_arrays(mode, x_shape, kernel_shape, padding):
    x, kernel = arrays(x_shape, kernel_shape)
    got = mode(lambda a, b: xo.conv_with_general_padding(a, b, (1,), [padding]))(
        x, kernel
    )
    equal(got, convolution(x, kernel, (1,), [padding]))


# Element types


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "complex64", "bfloat16"])
def test_element_types(mode, dtype):
    x, kernel = arrays((1, 2, 4), (2, 2, 2))
    want = convolution(x, kernel, (1,), [(0, 0)])
    a, b = jnp.asarray(x, dtype), jnp.asarray(kernel, dtype)
    got = mode(lambda v, w: xo.conv(v, w, (1,), "VALID"))(a, b)
    assert got.dtype == dtype
    # Small integers, which every one of the types holds.
    np.testing.assert_array_equal(np.asarray(got).astype(np.complex64), want)


def test_int8_wraps_unless_a_type_is_preferred(mode):
    x, kernel = np.full((1, 1, 4), 100, I1), np.full((1, 1, 2), 100, I1)
    got = mode(lambda a, b: xo.conv(a, b, (1,), "VALID"))(x, kernel)
    assert got.dtype == I1
    assert got.tolist() == [[[int(np.int64(20000).astype(I1))] * 3]]
    for preferred in ("s32", np.int32):
        got = mode(
            lambda a, b, t=preferred: xo.conv(
                a, b, (1,), "VALID", preferred_element_type=t
            )
        )(x, kernel)
        assert got.dtype == I4
        assert got.tolist() == [[[20000] * 3]]


@pytest.mark.parametrize(
    ("config", "words"),
    [(None, None), ("HIGHEST", "HIGHEST, HIGHEST"), (("HIGH", "DEFAULT"), "HIGH, DEF")],
)
def test_precision_reaches_the_program(config, words):
    x, kernel = arrays((1, 1, 4), (1, 1, 2))
    call = jax.jit(lambda a, b: xo.conv(a, b, (1,), "VALID", precision_config=config))
    text = call.lower(x, kernel).as_text()
    if words is None:
        assert "HIGH" not in text
    else:
        assert words in text.replace("#stablehlo<precision ", "").replace(">", "")


# Errors


X, KERNEL = np.ones((2, 4, 5), F4), np.ones((4, 4, 2), F4)
DILATED = {
    "lhs": X,
    "rhs": KERNEL,
    "window_strides": (1,),
    "padding": [(0, 0)],
    "lhs_dilation": (1,),
    "rhs_dilation": (1,),
    "dimension_numbers": "bf0_oi0->bf0",
}


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (
            {"lhs": np.ones((2, 5), F4)},
            TypeError,
            r"lhs and rhs must have the same rank",
        ),
        (
            {"lhs": np.ones(2, F4), "rhs": np.ones(2, F4)},
            TypeError,
            r"lhs and rhs .* rank, 2 or more, got float32\[2\] and float32\[2\]",
        ),
        ({"rhs": KERNEL.astype(I4)}, TypeError, r".* lhs float32.* rhs int32"),
        (
            {"lhs": X > 0, "rhs": KERNEL > 0},
            TypeError,
            r"lhs must be an array of .* got bool\[2, 4, 5\]",
        ),
        ({"window_strides": (1, 1)}, ValueError, r"window_strides .* got \(1, 1\)"),
        (
            {"window_strides": (0,)},
            ValueError,
            r"window_strides .* at least 1, got \(0,",
        ),
        ({"window_strides": 1}, TypeError, r"window_strides .* got int 1"),
        ({"lhs_dilation": (0,)}, ValueError, r"lhs_dilation .* got \(0,\)"),
        ({"lhs_dilation": ()}, ValueError, r"lhs_dilation .* got \(\)"),
        ({"rhs_dilation": (-1,)}, ValueError, r"rhs_dilation .* got \(-1,\)"),
        ({"rhs_dilation": (1, 1)}, ValueError, r"rhs_dilation .* got \(1, 1\)"),
        (
            {"padding": [(0, 0)] * 2},
            ValueError,
            r"padding .* got \(\(0, 0\), \(0, 0\)\)",
        ),
        ({"padding": [(0, 0, 0)]}, ValueError, r"padding: .*\(0, 0, 0\)"),
        ({"padding": [(0.5, 0)]}, TypeError, r"padding: .*0.5"),
        ({"padding": [(-3, -3)]}, ValueError, r"padding .*\(-3, -3\)"),
        ({"padding": None}, TypeError, r"padding: .*None"),
        (
            {"dimension_numbers": "bf01_oi01->bf01"},
            ValueError,
            r"dimension_numbers must have 1 spatial .* got .*bf01_oi01->bf01",
        ),
        ({"dimension_numbers": "bf0"}, ValueError, r"dimension_numbers: .*'bf0'"),
        ({"dimension_numbers": None}, TypeError, r"dimension_numbers: .*None"),
        ({"feature_group_count": 0}, ValueError, r"feature_group_count .* 1, got 0"),
        ({"batch_group_count": -1}, ValueError, r"batch_group_count .* 1, got -1"),
        ({"feature_group_count": 1.0}, TypeError, r"feature_group_count .* float 1.0"),
        (
            {"feature_group_count": 2, "batch_group_count": 2},
            ValueError,
            r"feature_group_count or batch_group_count must be 1, got 2 and 2",
        ),
        (
            {"feature_group_count": 2},
            TypeError,
            r".*features of lhs .* feature_group_count times .* 4 in lhs .* 2 .* 4",
        ),
        (
            {"rhs": np.ones((4, 3, 2), F4)},
            TypeError,
            r".* got 4 in lhs .* 1 .* 3 in rhs",
        ),
        (
            {"rhs": np.ones((3, 2, 2), F4), "feature_group_count": 2},
            ValueError,
            r".*output features of rhs .* divisible .* 2, got 3 in rhs \(3, 2, 2\)",
        ),
        (
            {"rhs": np.ones((3, 4, 2), F4), "batch_group_count": 2},
            ValueError,
            r".*output features of rhs .* divisible .* 2, got 3 in rhs \(3, 4, 2\)",
        ),
        (
            {"lhs": np.ones((3, 4, 5), F4), "batch_group_count": 2},
            ValueError,
            r".*batch of lhs .* divisible by batch_group_count, got 3 .* and 2",
        ),
        (
            {"window_reversal": (True, False)},
            ValueError,
            r"window_reversal .*True, Fa",
        ),
        ({"window_reversal": (1,)}, TypeError, r"window_reversal .* sequence of bools"),
        ({"precision_config": "LOW"}, ValueError, r"precision_config: .*'LOW'"),
        (
            {"preferred_element_type": "f33"},
            (TypeError, ValueError),
            r"preferred.*'f33'",
        ),
        ({"preferred_element_type": "c64"}, TypeError, r"preferred.* got complex64"),
        # A window holds one element at least.
        ({"rhs": np.ones((4, 4, 0), F4)}, ValueError, r".*rhs.*\(4, 4, 0\)"),
        (
            {"preferred_element_type": "s32"},
            TypeError,
            r"preferred_element_type .* int32",
        ),
        ({"preferred_element_type": "bf16"}, TypeError, r"preferred_element_type .*bf"),
    ],
)
def test_refuses(mode, change, error, match):
    arguments = {**DILATED, **change}
    operands = arguments.pop("lhs"), arguments.pop("rhs")
    with pytest.raises(error, match=f"^conv_general_dilated: {match}"):
        mode(lambda a, b: xo.conv_general_dilated(a, b, **arguments))(*operands)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("conv", ((0,), "SAME")),
        ("conv_with_general_padding", ((0,), [(0, 0)])),
        ("conv_with_general_dimensions", ((0,), "SAME", "bf0_oi0->bf0")),
        ("conv_general", ((0,), [(0, 0)], "bf0_oi0->bf0")),
    ],
)
def test_each_form_has_its_name_in_messages(name, arguments):
    with pytest.raises(ValueError, match=rf"^{name}: window_strides .* got \(0,\)"):
        getattr(xo, name)(X, KERNEL, *arguments)
    (_, *rest) = arguments
    with pytest.raises(
        TypeError, match=rf"^{name}: operands .* lhs float32.* rhs int32"
    ):
        getattr(xo, name)(X, KERNEL.astype(I4), (1,), *rest)


def test_conv_takes_no_numbers_as_padding():
    with pytest.raises((TypeError, ValueError), match=r"^conv: padding: .*got "):
        xo.conv(X, KERNEL, (1,), [(0, 0)])
    with pytest.raises((TypeError, ValueError), match=r"^conv: padding: .*'FULL'"):
        xo.conv(X, KERNEL, (1,), "FULL")


# Transformations


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    ("x_shape", "kernel_shape", "window", "groups"),
    [
        ((1, 1, 4), (1, 1, 2), ([1], [(0, 0)], [1], [1], [False]), (1, 1)),
        ((1, 2, 5), (2, 1, 2), ([2], [(2, -1)], [2], [2], [True]), (2, 1)),
        ((2, 1, 4), (2, 1, 2), ([1], [(-1, 1)], [1], [2], [True]), (1, 2)),
    ],
)
def test_gradients(rng, x_shape, kernel_shape, window, groups):
    *options, reversal = window
    check_grads(
        lambda x, kernel: xo.conv_general_dilated(
            x, kernel, *options, "bf0_oi0->bf0", *groups, window_reversal=reversal
        ),
        (rng.normal(size=x_shape), rng.normal(size=kernel_shape)),
        order=2,
    )


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (1, 2)])
def test_vmap_is_a_loop(axes, groups):
    x, kernel = arrays((3, 2, 4, 5), (3, 4, 4 // groups[0], 2))
    x, kernel = (
        v if axis == 0 else v[0] for v, axis in zip((x, kernel), axes, strict=True)
    )
    call = jax.vmap(lambda a, b: xo.conv(a, b, (1,), "VALID", *groups), axes)
    rows = [
        convolution(
            x[i] if axes[0] == 0 else x,
            kernel[i] if axes[1] == 0 else kernel,
            (1,),
            [(0, 0)],
            feature_groups=groups[0],
            batch_groups=groups[1],
        )
        for i in range(3)
    ]
    equal(call(x, kernel), np.stack(rows))
