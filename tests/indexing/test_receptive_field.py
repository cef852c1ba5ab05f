"""What elements see, against what changes them when the function runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from xlaops.indexing import analyze, receptive_field


def struct(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


def convolution(x, size, stride=1, dilation=1, padding="SAME"):
    kernel = jnp.ones((x.shape[1], x.shape[1], size))
    return lax.conv_general_dilated(
        x, kernel, (stride,), padding, rhs_dilation=(dilation,)
    )


def network(x):
    x = jnp.tanh(convolution(x, 5, stride=2))
    x = jnp.tanh(convolution(x, 3, dilation=2))
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2), (1, 1, 2), "VALID")


def attention(x):
    scores = jax.nn.softmax(x @ x.T, -1)
    return (scores @ x).reshape(2, -1)


def observed(f, shape, index):
    """The elements of an argument that change an element of the result."""
    rng = np.random.default_rng(0)
    changed = np.zeros(shape, bool)
    run = jax.jit(jax.vmap(lambda x: f(x)[index]))
    for _ in range(4):
        x = rng.standard_normal(shape).astype(np.float32)
        many = np.repeat(x[None], x.size + 1, axis=0)
        flat = many.reshape(x.size + 1, -1)
        flat[np.arange(x.size), np.arange(x.size)] += 3
        y = np.asarray(run(jnp.asarray(many)))
        changed |= (y[:-1] != y[-1]).reshape(shape)
    return changed


@pytest.mark.parametrize(
    ("f", "shape", "indices"),
    [
        (network, (1, 2, 24), [(0, 0, 0), (0, 1, 3), (0, 0, 5)]),
        (attention, (4, 3), [(0, 0), (1, 5)]),
        (lambda x: x.reshape(6, 4).T[1:, ::2], (3, 8), [(0, 0), (2, 2)]),
        (lambda x: jnp.cumsum(x, 1), (2, 5), [(1, 0), (0, 3)]),
        (lambda x: x[:, 1] * 0 + 1, (2, 5), [(1,)]),
    ],
    ids=["network", "attention", "reshape", "cumulative", "little"],
)
def test_positions(f, shape, indices):
    for index in indices:
        field = receptive_field(f, struct(*shape), index=index)
        seen = np.zeros(shape, bool)
        seen[tuple(field.positions.T)] = True
        changed = observed(f, shape, index)
        assert not (changed & ~seen).any()
        if f is network or f is attention:
            np.testing.assert_array_equal(seen, changed)
        assert field.count == seen.sum()
        assert field.exact


def test_the_general_rule():
    field = receptive_field(network, struct(1, 2, 128))
    window = field.windows[2]
    # By hand: 5 taps, then 2 more steps of 2 outputs of stride 2 to each side, then 2.
    assert window.size == 5 + 2 * 2 * 2 + 2
    assert window.stride(2) == 4
    assert window.stride(0) == 0
    low, high = field.box[2]
    assert (low, high) == (4 * 16 - 5, 4 * 16 - 5 + window.size - 1)
    assert field.box[:2] == ((0, 0), (0, 1))
    assert field.size == (1, 2, window.size)


def test_dilation_leaves_gaps():
    def f(x):
        return convolution(x, 3, dilation=4)

    field = receptive_field(f, struct(1, 1, 32), index=(0, 0, -16))
    assert field.positions[:, 2].tolist() == [12, 16, 20]
    assert field.steps == (1, 1, 4)
    assert field.coverage == pytest.approx(3 / 9)
    assert "axis 2: 12 to 20 of 32 in steps of 4; in general d2 - 4 to d2 + 4" in str(
        field
    )


def test_no_rule_where_the_index_is_not_linear():
    field = receptive_field(lambda x: jnp.repeat(x, 2), struct(4), index=(3,))
    assert field.positions.tolist() == [[1]]
    assert field.windows == (None,)


def test_nothing_is_seen():
    field = receptive_field(lambda x: jnp.zeros(3), struct(4))
    assert field.count == 0
    assert field.box == ((0, -1),)
    assert field.coverage == 1
    scalar = receptive_field(lambda x: x * 2, struct())
    assert scalar.positions.shape == (1, 0)


def test_only_derivatives():
    def f(x):
        return jnp.where(x > 0, x[::-1], 1.0)

    assert receptive_field(f, struct(4), index=(0,)).positions.tolist() == [[0], [3]]
    field = receptive_field(f, struct(4), index=(0,), derivative=True)
    assert field.positions.tolist() == [[3]]


def test_results_and_arguments_are_chosen():
    def f(x, y):
        return {"a": x[1:], "b": y[::-1]}

    analysis = analyze(f, struct(4), struct(5))
    field = receptive_field(analysis, index=(0,), output="result['b']", input=1)
    assert field.positions.tolist() == [[4]]
    assert receptive_field(analysis, output=1, input=0).count == 0


def test_all_of_nothing_is_seen():
    for shape in ((), (3,), (0, 2)):
        field = receptive_field(lambda x, y: x, struct(4), struct(*shape), input=1)
        assert field.count == 0
        assert field.coverage == 1.0


def test_what_is_more_than_needed_says_why():
    field = receptive_field(lambda x: jnp.linalg.svd(x)[1], struct(3, 3))
    assert field.count == 9
    assert not field.exact
    assert "more than needed: " in str(field)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: receptive_field(3), TypeError, "must be a function or an Analysis"),
        (
            lambda: receptive_field(jnp.sin, struct(3), index=(0, 0)),
            TypeError,
            r"index must have 1 entries, got \(0, 0\)",
        ),
        (
            lambda: receptive_field(jnp.sin, struct(3), index=(3,)),
            ValueError,
            r"index must lie in the shape \(3,\), got \(3,\)",
        ),
        (
            lambda: receptive_field(jnp.sin, struct(3), index=(1.5,)),
            TypeError,
            r"index must be a sequence of integers, got \(1.5,\)",
        ),
        (
            lambda: receptive_field(jnp.sin, struct(3), index=1),
            TypeError,
            "index must be a sequence of integers, got 1",
        ),
        (
            lambda: receptive_field(jnp.sin, struct(0)),
            ValueError,
            "the result must have elements",
        ),
        (
            lambda: receptive_field(analyze(jnp.sin, struct(3)), struct(3)),
            TypeError,
            "an analysis must come without arguments, got 1",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def image_network(weights, x):
    """A residual network with strides, as its users have them, without a head."""

    def conv(x, w, stride=1):
        numbers = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=numbers
        )

    x = conv(x, weights["stem"], 2)
    window = (1, 3, 3, 1)
    x = lax.reduce_window(x, -jnp.inf, lax.max, window, (1, 2, 2, 1), "SAME")
    for block, stride in zip(weights["blocks"], (1, 2, 1, 2), strict=True):
        y = jax.nn.relu(conv(x, block["first"], stride))
        y = conv(y, block["second"])
        x = jax.nn.relu(y + (conv(x, block["skip"], stride) if stride > 1 else x))
    return x


def test_a_residual_network():
    """Its maps have far more points than may be looked at; its fields are known."""
    channels = [(8, 8), (8, 12), (12, 12), (12, 16)]
    weights = {
        "stem": struct(7, 7, 3, 8),
        "blocks": [
            {
                "first": struct(3, 3, a, b),
                "second": struct(3, 3, b, b),
                "skip": struct(1, 1, a, b),
            }
            for a, b in channels
        ],
    }
    analysis = analyze(image_network, weights, struct(1, 224, 224, 3))
    field = receptive_field(analysis, input="args[1]", index=(0, 7, 7, 3))
    # Kernel by kernel from the end: two windows of 3 at steps of 16, 8, 8 and 4, the
    # pooling, and the stem.
    size = 1 + 2 * (16 + 8) + 4 * 8 + 2 * (8 + 4) + 4 * 4 + 2 * 2 + 6
    assert field.windows[1].size == field.windows[2].size == size
    assert field.windows[1].stride(1) == 16
    (_, rows, columns, _) = field.box
    assert rows == columns
    low = field.windows[1].lower.terms[0][1] * 7 + field.windows[1].lower.constant
    assert rows == (max(low, 0), min(low + size - 1, 223))
    assert field.count == (rows[1] - rows[0] + 1) ** 2 * 3
    assert field.exact
    corner = receptive_field(analysis, input="args[1]", index=(0, 0, 0, 0))
    assert corner.box[1] == (0, field.windows[1].upper.constant)
    assert receptive_field(analysis, input="args[0]['stem']").count == 7 * 7 * 3 * 8


def test_what_is_read_at_the_same_unknown_index_is_read_once():
    """Each operation alone could read elsewhere; the formula knows better."""

    def swapped(x, i):
        part = lax.dynamic_slice(x, (i,), (2,))
        return lax.dynamic_slice(
            lax.dynamic_update_slice(jnp.zeros(9), part, (i,)), (i,), (2,)
        )

    analysis = analyze(swapped, struct(9), jax.ShapeDtypeStruct((), np.int32))
    field = receptive_field(analysis, index=(1,))
    expected = sorted({m for one in analysis.output_to_input(0, 0)
                       for d, m in one.relation().tolist() if d == 1})  # fmt: skip
    assert field.positions.ravel().tolist() == expected
