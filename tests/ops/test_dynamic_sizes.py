"""Arrays of dynamic size against numpy on the elements that count.

What does not count is NaN, or a number so large that its influence would show.
"""

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import xlaops as xo

SIZES = (0, 1, 2, 3, 5, 6)
GARBAGE = {"f": np.nan, "i": 2**30, "b": True}


def _bounded(valid, bounds, garbage=None):
    """A BoundedArray of numpy elements, dynamic wherever a bound is given."""
    shape = [n if b is None else b for n, b in zip(valid.shape, bounds, strict=True)]
    if garbage is None:
        garbage = GARBAGE[valid.dtype.kind]
    data = np.full(shape, garbage, valid.dtype)
    data[tuple(slice(n) for n in valid.shape)] = valid
    result = jnp.asarray(data)
    for d, bound in enumerate(bounds):
        if bound is not None:
            result = xo.set_dimension_size(result, valid.shape[d], d)
    return result


def _floats(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape).astype(np.float32)


def _ints(*shape, seed=0):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(np.int32)


def _check(result, expected, rtol=1e-5):
    valid = result.valid() if isinstance(result, xo.BoundedArray) else result
    assert np.shape(valid) == np.shape(expected)
    assert valid.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(valid, expected, rtol=rtol, atol=1e-6)


# The class


def test_text_has_the_bound():
    x = xo.set_dimension_size(jnp.zeros((3, 8)), 5, 1)
    assert str(x.bounded_shape) == "f32[3,<=8]"
    assert repr(xo.set_dimension_size(jnp.arange(3), 2, 0)) == (
        "BoundedArray(s32[<=3], sizes=(2,), [0 1])"
    )
    assert (x.shape, x.ndim, x.dtype) == ((3, 8), 2, np.float32)
    assert xo.Shape.parse("f32[3,<=8]") == x.bounded_shape


def test_traced_text_does_not_fail():
    texts = []

    @jax.jit
    def f(x):
        texts.append(repr(x))
        return x

    f(xo.set_dimension_size(jnp.zeros(8), 5, 0))
    assert texts[0].startswith("BoundedArray(f32[<=8], sizes=")


def test_is_a_pytree_with_static_dimensions_in_its_structure():
    x = xo.set_dimension_size(jnp.zeros((3, 8)), 5, 1)
    leaves, structure = jax.tree.flatten(x)
    assert [leaf.shape for leaf in leaves] == [(3, 8), ()]
    again = jax.tree.unflatten(structure, leaves)
    assert isinstance(again, xo.BoundedArray)
    assert again.sizes[0] is None
    assert structure != jax.tree.structure(xo.set_dimension_size(x, 2, 0))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((jnp.zeros(3), ()), "one entry of sizes for each dimension"),
        ((3.0, (None,)), "hold an array and a tuple"),
        ((jnp.zeros(3), (jnp.float32(2),)), "sizes that are s32 scalars"),
        ((jnp.zeros(3), (jnp.arange(2),)), "sizes that are s32 scalars"),
    ],
)
def test_parts_that_do_not_fit(parts, message):
    with pytest.raises(
        TypeError, match=rf"neg: operand must (have|hold).*{message[4:]}"
    ):
        xo.neg(xo.BoundedArray(*parts))


# Sizes set, read and removed


def test_document_example():
    x = jnp.arange(1.0, 11.0)
    five = xo.set_dimension_size(x, 5, 0)
    assert xo.reduce([five], [0.0], xo.add, [0]) == 15
    assert xo.reduce([five], [1.0], xo.mul, [0]) == 120
    assert xo.get_dimension_size(five, 0) == 5


def test_sizes_are_data_of_one_program():
    traces = []

    @jax.jit
    def total(x, n):
        traces.append(None)
        x = xo.set_dimension_size(x, n, 0)
        return xo.reduce([x], [0.0], xo.add, [0]), xo.get_dimension_size(x, 0)

    for n in range(11):
        result, size = total(jnp.arange(10.0), n)
        assert (result, size) == (sum(range(n)), n)
    assert len(traces) == 1


@pytest.mark.parametrize(("val", "size"), [(-3, 0), (11, 10), (2**31 - 1, 10)])
def test_traced_size_out_of_range_is_clamped(val, size):
    x = jax.jit(lambda n: xo.set_dimension_size(jnp.arange(10), n, 0))(val)
    assert xo.get_dimension_size(x, 0) == size
    np.testing.assert_array_equal(x.valid(), np.arange(size))


def test_static_size_is_a_constant():
    size = xo.get_dimension_size(np.zeros((3, 0, 5)), 2)
    assert (size, size.dtype, size.shape) == (5, np.int32, ())


def test_new_size_replaces_the_old_one():
    x = xo.set_dimension_size(xo.set_dimension_size(jnp.arange(9), 3, 0), 7, 0)
    assert xo.get_dimension_size(x, 0) == 7


def test_removed_dimension_has_all_elements():
    x = xo.set_dimension_size(jnp.arange(6).reshape(2, 3), 2, 1)
    x = xo.set_dimension_size(x, 1, 0)
    y = xo.remove_dynamic_dimension(x, 1)
    np.testing.assert_array_equal(y.valid(), [[0, 1, 2]])
    z = xo.remove_dynamic_dimension(y, 0)
    np.testing.assert_array_equal(z, np.arange(6).reshape(2, 3))
    assert isinstance(z, jax.Array)
    assert xo.remove_dynamic_dimension(z, 0) is z


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: xo.set_dimension_size(x, 11, 0),
            ValueError,
            "set_dimension_size: val must be from 0 to the bound 10, got 11",
        ),
        (lambda x: xo.set_dimension_size(x, -1, 0), ValueError, "val must be from 0"),
        (lambda x: xo.set_dimension_size(x, 1.0, 0), TypeError, "val must be an s32"),
        (
            lambda x: xo.set_dimension_size(x, jnp.arange(1), 0),
            TypeError,
            r"val must be an s32 scalar, got int32\[1\]",
        ),
        (
            lambda x: xo.set_dimension_size(x, jnp.uint32(1), 0),
            TypeError,
            "val must be an s32 scalar, got uint32",
        ),
        (
            lambda x: xo.set_dimension_size(x, 1, 1),
            ValueError,
            r"set_dimension_size: dimension must be in \[0, 1\)",
        ),
        (lambda x: xo.get_dimension_size(x, -1), ValueError, "get_dimension_size: dim"),
        (
            lambda x: xo.remove_dynamic_dimension(x, 2),
            ValueError,
            "remove_dynamic_dimension: dimension",
        ),
        (lambda x: xo.get_dimension_size([1], 0), TypeError, "operand must be a jax"),
        (
            lambda x: xo.dynamic_reshape(x, [5, 3], (5, 3), (True, False)),
            ValueError,
            r"new_size_bounds must have the 10 elements of operand \(10,\)",
        ),
        (
            lambda x: xo.dynamic_reshape(x, [5], (5, 2), (True, False)),
            ValueError,
            "one entry for each new dimension, got 1, 2 and 2",
        ),
        (
            lambda x: xo.dynamic_reshape(x, [6, 2], (5, 2), (True, False)),
            ValueError,
            r"dim_sizes\[0\] must be from 0 to the bound 5, got 6",
        ),
        (
            lambda x: xo.dynamic_reshape(x, 10, (10,), (True,)),
            TypeError,
            "dim_sizes must be a sequence",
        ),
        (
            lambda x: xo.dynamic_reshape(x, [10], (10,), ("no",)),
            TypeError,
            r"dims_are_dynamic\[0\] must be",
        ),
    ],
)
def test_arguments_that_do_not_fit(call, error, message):
    with pytest.raises(error, match=message):
        call(jnp.zeros(10))


# Reshape


def test_dynamic_reshape_without_dynamic_dimension_is_reshape():
    y = xo.dynamic_reshape(jnp.arange(6.0), [2, 3], (2, 3), (False, False))
    assert isinstance(y, jax.Array)
    np.testing.assert_array_equal(y, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("old", "old_bounds", "new", "new_bounds"),
    [
        ((6,), (12,), (2, 3), (3, 4)),
        ((2, 3), (3, 4), (6,), (12,)),
        ((2, 3), (3, 4), (3, 2), (4, 3)),
        ((2, 3), (None, 6), (3, 2), (6, None)),
        ((2, 3), (4, None), (6,), (12,)),
        ((2, 1, 3), (2, 3, 4), (1, 6), (2, 12)),
        ((0, 3), (2, 4), (2, 0), (4, 2)),
        ((2, 0), (2, 4), (0,), (8,)),
        ((4,), (4,), (2, 2), (None, 2)),
    ],
)
def test_dynamic_reshape_keeps_the_order(old, old_bounds, new, new_bounds):
    valid = 1 + np.arange(math.prod(old), dtype=np.float32).reshape(old)
    x = _bounded(valid, old_bounds)
    bounds = [n if b is None else b for n, b in zip(new, new_bounds, strict=True)]
    flags = [b is not None for b in new_bounds]

    def reshaped(x, sizes):
        return xo.dynamic_reshape(x, sizes, bounds, flags)

    for f in (reshaped, jax.jit(reshaped)):
        _check(f(x, [np.int32(n) for n in new]), valid.reshape(new))


def test_dynamic_reshape_to_static_packs_the_elements():
    x = _bounded(_floats(2, 3), (4, 5))
    y = xo.dynamic_reshape(x, [20], (20,), (False,))
    np.testing.assert_array_equal(y[:6], _floats(2, 3).reshape(6))


# Element by element

UNARY = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "floor": np.floor,
    "is_finite": np.isfinite,
    "log": np.log,
    "log1p": np.log1p,
    "neg": np.negative,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "round_nearest_even": np.rint,
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}
BINARY = {
    "add": np.add,
    "atan2": np.arctan2,
    "div": np.divide,
    "eq": np.equal,
    "ge": np.greater_equal,
    "lt": np.less,
    "max": np.maximum,
    "mul": np.multiply,
    "pow": np.power,
    "rem": np.fmod,
    "sub": np.subtract,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    valid = _floats(3, 4)
    _check(getattr(xo, name)(_bounded(valid, (5, None))), UNARY[name](valid))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    x, y = _floats(3, 4), _floats(3, 4, seed=1)
    f, oracle = getattr(xo, name), BINARY[name]
    both = _bounded(x, (5, 4)), _bounded(y, (5, None))
    _check(f(*both), oracle(x, y))
    _check(jax.jit(f)(*both), oracle(x, y))
    _check(f(both[0], 2.0), oracle(x, np.float32(2)))
    _check(f(2.0, both[0]), oracle(np.float32(2), x))
    plain = _floats(5, 4, seed=2)
    _check(f(both[0], plain), oracle(x, plain[:3]))


def test_integers_and_predicates():
    x, y = _ints(4), _ints(4, seed=1)
    a, b = _bounded(x, (6,)), _bounded(y, (6,))
    _check(xo.and_(a, b), x & y)
    _check(xo.shift_left(a, 2), x << 2)
    _check(xo.population_count(a), np.bitwise_count(x.view(np.uint32)).astype(np.int32))
    _check(xo.not_(_bounded(x > 0, (6,))), ~(x > 0))
    _check(xo.convert_element_type(a, "f32"), x.astype(np.float32))


def test_complex_numbers():
    x, y = _floats(3), _floats(3, seed=1)
    z = xo.complex(_bounded(x, (5,)), _bounded(y, (5,)))
    _check(xo.imag(xo.mul(z, z)), 2 * x * y)
    _check(xo.conj(z), x - 1j * y)


def test_select_and_clamp():
    x, y, p = _floats(3), _floats(3, seed=1), np.array([True, False, True])
    a, b, c = (_bounded(v, (4,)) for v in (x, y, p))
    _check(xo.select(c, a, b), np.where(p, x, y))
    _check(xo.select(True, a, b), x)
    _check(xo.clamp(0.75, a, b), np.minimum(np.maximum(x, np.float32(0.75)), y))


def test_compare_takes_a_direction():
    x, y = _floats(3), _floats(3, seed=1)
    _check(xo.compare(_bounded(x, (4,)), _bounded(y, (4,)), direction="LT"), x < y)


@pytest.mark.parametrize(("m", "n"), list(itertools.product(SIZES, SIZES)))
def test_different_sizes(m, n):
    """As in XLA: the smaller one, but one element is stretched."""
    x, y = _floats(m), _floats(n, seed=1)
    k = min(m, n)
    expected = x + y if 1 in (m, n) else x[:k] + y[:k]
    for f in (xo.add, jax.jit(xo.add)):
        _check(f(_bounded(x, (6,)), _bounded(y, (6,))), expected)


def test_broadcasting():
    x, row, column = _floats(2, 3), _floats(3, seed=1), _floats(2, 1, seed=2)
    a = _bounded(x, (4, 5))
    _check(xo.mul(a, _bounded(row, (5,)), (1,)), x * row)
    _check(xo.mul(_bounded(row, (5,)), a, (1,)), row * x)
    _check(xo.mul(a, _bounded(column, (4, None))), x * column)
    _check(
        xo.mul(_bounded(column, (4, None)), np.ones((1, 5), np.float32)),
        column * np.ones((1, 5), np.float32),
    )
    _check(
        xo.mul(_bounded(column[:1], (1, None)), np.ones((4, 1), np.float32)),
        column[:1] * np.ones((4, 1), np.float32),
    )
    empty = xo.set_dimension_size(jnp.ones((1, 1)), 0, 0)
    assert xo.mul(empty, np.ones((4, 1), np.float32)).valid().shape == (0, 1)


def test_bounds_that_do_not_fit_are_refused_as_shapes_are():
    with pytest.raises(TypeError, match="add: lhs and rhs must have sizes that are"):
        xo.add(_bounded(_floats(2), (4,)), _bounded(_floats(2), (5,)))
    with pytest.raises(TypeError, match="add: broadcast_dimensions must be given"):
        xo.add(_bounded(_floats(2), (4,)), np.ones((4, 4), np.float32))
    with pytest.raises(TypeError, match="add: operands must have the same element"):
        xo.add(_bounded(_floats(2), (4,)), _bounded(_ints(2), (4,)))


# Reductions

REDUCERS = {
    "sum": (lambda a, b: a + b, 0, np.sum),
    "product": (lambda a, b: a * b, 1, np.prod),
    "largest": (xo.max, -np.inf, functools.partial(np.max, initial=-np.inf)),
    # no operation alone, so nothing that is known to change nothing
    "composed": (lambda a, b: (a * 2 + b * 2) / 2, 0, np.sum),
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", REDUCERS)
def test_reduce(name, n):
    computation, init, oracle = REDUCERS[name]
    valid = _floats(n, 3)
    x = _bounded(valid, (6, 4))

    def reduced(x, dims):
        return xo.reduce([x], [init], computation, dims)

    for dims in ((0,), (1,), (0, 1), ()):
        expected = oracle(valid, axis=dims) if dims else valid
        for f in (reduced, jax.jit(reduced, static_argnums=1)):
            result = f(x, dims)
            _check(result, np.asarray(expected, np.float32))
            assert isinstance(result, xo.BoundedArray) == (len(dims) < 2)


@pytest.mark.parametrize("n", SIZES)
def test_initial_value_enters_once(n):
    x = _bounded(_floats(n), (6,))
    for computation in (xo.add, lambda a, b: (a * 2 + b * 2) / 2):
        _check(xo.reduce_all(x, 10.0, computation), np.float32(10 + _floats(n).sum()))


def test_reduce_of_several_operands():
    values, places = _ints(5), np.arange(5, dtype=np.int32)

    def largest(v, i, w, j):
        return jnp.maximum(v, w), jnp.where(w > v, j, i)

    value, place = xo.reduce(
        [_bounded(values, (9,)), np.arange(9, dtype=np.int32)],
        [-100, -1],
        largest,
        [0],
    )
    assert (value, place) == (values.max(), places[values.argmax()])


# Windows


def _windows(x, init, oracle, size, stride, base, dilation, pads):
    """Reductions over windows of a vector, by hand."""
    spread = np.full(max(len(x) - 1, 0) * base + min(len(x), 1), init, x.dtype)
    spread[::base] = x
    low, high = pads
    padded = np.concatenate(
        [
            np.full(max(low, 0), init, x.dtype),
            spread[max(-low, 0) :],
            np.full(max(high, 0), init, x.dtype),
        ]
    )
    padded = padded[: len(padded) + min(high, 0)]
    reach = (size - 1) * dilation + 1
    starts = range(0, len(padded) - reach + 1, stride)
    return np.array(
        [oracle([init, *padded[s : s + reach : dilation]]) for s in starts], x.dtype
    )


@pytest.mark.parametrize("n", [0, 1, 3, 6, 8])
@pytest.mark.parametrize(
    ("size", "stride", "base", "dilation", "padding"),
    [
        (2, 1, 1, 1, "VALID"),
        (3, 2, 1, 1, "VALID"),
        (3, 2, 1, 1, "SAME"),
        (4, 3, 1, 1, "SAME"),
        (2, 2, 3, 2, "SAME"),
        (3, 1, 1, 2, [(2, 3)]),
        (2, 3, 2, 1, [(1, 2)]),
        (2, 1, 1, 1, [(1, -1)]),
    ],
)
def test_reduce_window(n, size, stride, base, dilation, padding):
    x = _floats(n)
    pads = padding[0] if isinstance(padding, list) else (0, 0)
    if padding == "SAME":
        count = max(n - 1, 0) * base + min(n, 1)
        reach = (size - 1) * dilation + 1
        total = max((math.ceil(count / stride) - 1) * stride + reach - count, 0)
        pads = (total // 2, total - total // 2)
    if n + min(pads[1], 0) < 0:
        pytest.skip("removes more than there is")
    for computation, init, oracle in (
        (xo.add, 0.0, np.sum),
        (xo.max, -np.inf, np.max),
        (lambda a, b: (a * 2 + b * 2) / 2, 0.0, np.sum),
    ):
        expected = _windows(x, init, oracle, size, stride, base, dilation, pads)
        if padding == "SAME" and n == 0:
            expected = expected[:0]

        @jax.jit
        def reduced(x, computation=computation, init=init):
            return xo.reduce_window(
                [x],
                [init],
                computation,
                [size],
                [stride],
                base_dilations=[base],
                window_dilations=[dilation],
                padding=padding,
            )

        _check(reduced(_bounded(x, (8,))), expected)


def test_reduce_window_of_matrices():
    x = _floats(3, 4)
    y = xo.reduce_window([_bounded(x, (5, 6))], [0.0], xo.add, (2, 2), (1, 2), "VALID")
    expected = [[x[i : i + 2, j : j + 2].sum() for j in (0, 2)] for i in (0, 1)]
    _check(y, np.array(expected, np.float32))
    general = xo.reduce_window_with_general_padding(
        [_bounded(x, (5, None))],
        [0.0],
        xo.add,
        (2, 1),
        (1, 1),
        None,
        None,
        [(0, 0), (0, 0)],
    )
    _check(general, x[:-1] + x[1:])


# Contractions


@pytest.mark.parametrize(("m", "k", "n"), [(2, 3, 4), (0, 3, 2), (2, 0, 3), (5, 6, 7)])
def test_dot(m, k, n):
    x, y = _floats(m, k), _floats(k, n, seed=1)
    _check(xo.dot(_bounded(x, (5, 6)), _bounded(y, (6, 7))), x @ y)
    _check(xo.dot(_bounded(x, (5, None)), y), x @ y)
    plain = np.full((6, n), 7, np.float32)
    plain[:k] = y
    _check(xo.dot(_bounded(x, (5, 6)), plain), x @ y)
    _check(xo.dot(_bounded(x, (5, 6)), _bounded(y[:, 0], (6,))), x @ y[:, 0])


def test_dot_general_of_batches():
    x, y = _floats(2, 3, 4), _floats(4, 2, 5, seed=1)
    numbers = (((2,), (0,)), ((0,), (1,)))
    z = xo.dot_general(_bounded(x, (3, 4, 6)), _bounded(y, (6, 3, None)), numbers)
    _check(z, np.einsum("bmk,kbn->bmn", x, y))
    assert str(z.bounded_shape) == "f32[<=3,<=4,5]"


def test_dot_refuses_what_it_refuses_of_arrays():
    with pytest.raises(ValueError, match="dot_general: lhs_contracting_dimensions"):
        xo.dot_general(_bounded(_floats(2), (3,)), np.ones(3), (((1,), (0,)), ((), ())))


# Concatenation, padding, slices


@pytest.mark.parametrize("sizes", list(itertools.product((0, 1, 3), repeat=3)))
def test_concat_in_dim(sizes):
    parts = [_floats(2, n, seed=n) for n in sizes]

    def joined(*parts):
        return xo.concat_in_dim(parts, 1)

    a, b, c = parts
    args = _bounded(a, (None, 4)), _bounded(b, (None, 3)), c
    for f in (joined, jax.jit(joined)):
        y = f(*args)
        _check(y, np.concatenate(parts, 1))
        assert y.shape == (2, 7 + sizes[2])


def test_concat_along_a_static_dimension():
    x, y = _floats(2, 3), _floats(1, 3, seed=1)
    z = xo.concat_in_dim([_bounded(x, (None, 5)), _bounded(y, (None, 5))], 0)
    _check(z, np.concatenate([x, y]))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("config", [(0, 0, 0), (2, 1, 0), (1, 3, 2), (0, -2, 0)])
def test_pad(n, config):
    x = _floats(n)
    low, high, interior = config
    spread = np.full(max(n - 1, 0) * (interior + 1) + min(n, 1), 9, np.float32)
    spread[:: interior + 1] = x
    expected = np.concatenate([np.full(low, 9), spread, np.full(max(high, 0), 9)])
    expected = expected[: max(len(expected) + min(high, 0), 0)].astype(np.float32)
    _check(xo.pad(_bounded(x, (6,)), 9.0, [config]), expected)
    if not interior:
        _check(xo.pad_in_dim(_bounded(x, (6,)), 9.0, 0, low, high), expected)


def test_pad_removes_the_first():
    x = _floats(4)
    _check(
        xo.pad(_bounded(x, (6,)), 9.0, [(-1, 1, 0)]), np.append(x[1:], np.float32(9))
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    "part", [(0, 6, 1), (1, 5, 1), (1, 6, 2), (3, 3, 1), (0, 4, 3)]
)
def test_slice(n, part):
    x = _floats(2, n)
    start, limit, stride = part
    a = _bounded(x, (None, 6))
    expected = x[:, start:limit:stride]
    _check(xo.slice(a, (0, start), (2, limit), (1, stride)), expected)
    _check(xo.slice_in_dim(a, start, limit, stride, 1), expected)


# Sorting


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("order", ["lt", "gt"])
def test_sort(n, order):
    keys, values = _ints(n), _floats(n, seed=1)

    def ordered(k, v):
        return xo.sort(
            [k, v], lambda a, b, _, __: getattr(xo, order)(a, b), is_stable=True
        )

    expected = np.argsort(keys if order == "lt" else -keys, kind="stable")
    for f in (ordered, jax.jit(ordered)):
        # Values of which more would count than of keys.
        k, v = f(
            _bounded(keys, (6,), garbage=-100),
            np.resize(values, 6) if n else np.zeros(6, np.float32),
        )
        _check(k, keys[expected])
        _check(v, values[expected])


def test_sort_of_rows_and_of_columns():
    x = _floats(3, 4)
    a = _bounded(x, (5, 6))
    _check(xo.sort([a], xo.lt, 0), np.sort(x, 0))
    _check(xo.sort([a], xo.lt), np.sort(x, 1))


# Everything else


REFUSED = {
    "transpose": lambda x: xo.transpose(x, (1, 0)),
    "reshape": lambda x: xo.reshape(x, (12,)),
    "broadcast": lambda x: xo.broadcast(x, (2,)),
    "rev": lambda x: xo.rev(x, (0,)),
    "collapse": lambda x: xo.collapse(x, (0, 1)),
    "cholesky": lambda x: xo.cholesky(x, True),
    "fft": lambda x: xo.fft(x, "RFFT", (4,)),
    "map": lambda x: xo.map([x], xo.neg, (0, 1)),
    "bitcast_convert_type": lambda x: xo.bitcast_convert_type(x, "s32"),
    "top_k": lambda x: xo.top_k(x, 1),
    "dynamic_slice": lambda x: xo.dynamic_slice(x, [0, 0], (1, 1)),
    "select_and_scatter": lambda x: xo.select_and_scatter(
        x, xo.ge, (1, 1), (1, 1), "VALID", x, 0.0, xo.add
    ),
    "conv": lambda x: xo.conv(x, np.ones((1, 1)), (), "VALID"),
    "gather": lambda x: xo.gather(
        x,
        np.zeros(2, np.int32),
        xo.GatherDimensionNumbers((0, 1), (), (0, 1), 0),
        (1, 1),
    ),
    "scan": lambda x: xo.scan([x], [], lambda row: row, 0),
    "rng_uniform": lambda x: xo.rng_uniform(x, 1.0, "f32[3]"),
    "ragged_dot": lambda x: xo.ragged_dot(
        x,
        np.ones((1, 4, 2), np.float32),
        np.array([3]),
        ((((1,), (1,)), ((), ())), (0,), (0,)),
    ),
    "triangular_solve": lambda x: xo.triangular_solve(
        x, x, True, True, False, "NO_TRANSPOSE"
    ),
    "batch_norm_training": lambda x: xo.batch_norm_training(
        x, np.ones(4, np.float32), np.ones(4, np.float32), 1e-3, 1
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_operations_refuse(name):
    x = _bounded(_floats(2, 4), (3, None))
    message = rf"^{name}: \w+(\[0\])? must be.*f32\[<=3,4\].*remove_dynamic"
    for call in (REFUSED[name], jax.jit(REFUSED[name])):
        with pytest.raises(TypeError, match=message):
            call(x)


# Transformations


def _statistics(x, n, w):
    """Of the first n rows: something of every kind of operation."""
    x = xo.set_dimension_size(x, n, 0)
    y = xo.log(xo.mul(xo.div(1.0, x), w))
    y = xo.concat_in_dim([y, xo.pow(x, w)], 0)
    y = xo.sort([y], xo.lt, 0)
    y = xo.pad(y, 0.5, [(1, 1, 0), (0, 0, 0)])
    y = xo.dot(y, jnp.ones((3, 2)))
    y = xo.reduce_window([y], [0.0], xo.add, (2, 1), (1, 1), "SAME")
    return xo.reduce_all(y, 0.0, lambda a, b: (a * 2 + b * 2) / 2)


def _statistics_of_numpy(x, w):
    y = np.concatenate([np.log(w / x), x**w])
    y = np.sort(y, 0)
    y = np.pad(y, [(1, 1), (0, 0)], constant_values=0.5)
    y = np.repeat(y.sum(1, keepdims=True), 2, 1)
    y = y + np.pad(y[1:], [(0, 1), (0, 0)])
    return y.sum()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_values_and_derivatives_do_not_see_what_does_not_count(n):
    x = np.full((5, 3), np.nan, np.float32)
    x[:n] = _floats(n, 3)
    w, size = np.float32(1.3), np.int32(n)
    valid, wide = x[:n].astype(np.float64), float(w)
    expected = _statistics_of_numpy(valid, wide)
    np.testing.assert_allclose(_statistics(x, size, w), expected, rtol=1e-5)

    dx, dw = jax.jit(jax.grad(_statistics, (0, 2)))(x, size, w)
    step = 1e-6
    slope = _statistics_of_numpy(valid, wide + step) - _statistics_of_numpy(
        valid, wide - step
    )
    np.testing.assert_allclose(dw, slope / (2 * step), rtol=1e-4, atol=1e-5)
    for i, j in np.ndindex(n, 3):
        moved = np.zeros_like(valid)
        moved[i, j] = step
        slope = _statistics_of_numpy(valid + moved, wide) - _statistics_of_numpy(
            valid - moved, wide
        )
        np.testing.assert_allclose(dx[i, j], slope / (2 * step), rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(dx[n:], 0)


def test_vmap_of_sizes():
    x, sizes = _floats(4, 5, 3), np.array([0, 1, 3, 5], np.int32)
    w = np.float32(1.3)
    results = jax.vmap(_statistics, (0, 0, None))(x, sizes, w)
    for result, rows, n in zip(results, x, sizes, strict=True):
        np.testing.assert_allclose(result, _statistics_of_numpy(rows[:n], w), rtol=1e-4)


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map(mesh8, check_vma):
    x = _floats(8, 5, 3)
    sizes, w = np.arange(8, dtype=np.int32) % 6, np.float32(1.3)
    spec = jax.sharding.PartitionSpec("i")

    def each(x, n, w):
        return _statistics(x[0], n[0], w[0])[None]

    results = jax.jit(
        jax.shard_map(
            each, mesh=mesh8, in_specs=spec, out_specs=spec, check_vma=check_vma
        )
    )(x, sizes, np.full(8, w))
    for result, rows, n in zip(results, x, sizes, strict=True):
        np.testing.assert_allclose(result, _statistics_of_numpy(rows[:n], w), rtol=1e-4)


def test_vmap_takes_and_returns_bounded_arrays():
    x, sizes = _floats(3, 5), np.array([0, 2, 5], np.int32)
    many = jax.vmap(lambda v, n: xo.set_dimension_size(v, n, 0))(x, sizes)
    assert isinstance(many, xo.BoundedArray)
    assert str(many.bounded_shape) == "f32[3,<=5]"
    assert repr(many).startswith("BoundedArray(f32[3,<=5], sizes=(")
    with pytest.raises(TypeError, match=r"BoundedArray\.valid: sizes must have one"):
        many.valid()
    with pytest.raises(TypeError, match="neg: operand must have one entry of sizes"):
        xo.neg(many)
    doubled = jax.vmap(lambda v: xo.add(v, v))(many)
    sums = jax.vmap(lambda v: xo.reduce_all(v, 0.0, xo.add))(doubled)
    expected = [2 * row[:n].sum() for row, n in zip(x, sizes, strict=True)]
    np.testing.assert_allclose(sums, expected, rtol=1e-6)


def test_takes_what_was_fetched_from_the_device():
    x = jax.device_get(xo.set_dimension_size(jnp.arange(4), 2, 0))
    assert isinstance(x.data, np.ndarray)
    np.testing.assert_array_equal(xo.neg(x).valid(), [0, -1])
    assert xo.reduce_all(x, 5, xo.add) == 6


def test_plain_operand_has_no_derivative_where_nothing_counts():
    """Also where the function has an infinite one."""
    x, y = _bounded(_floats(2), (4,)), np.array([1.0, 2.0, 0.0, 0.0], np.float32)
    slope = jax.grad(lambda y: xo.reduce_all(xo.div(x, y), 0.0, xo.add))(y)
    np.testing.assert_allclose(slope, [*(-_floats(2) / y[:2] ** 2), 0, 0], rtol=1e-6)


def test_loops_carry_bounded_arrays():
    x = xo.set_dimension_size(jnp.arange(8.0), 3, 0)

    def longer(x, step):
        n = xo.get_dimension_size(x, 0) + step
        x = xo.set_dimension_size(xo.remove_dynamic_dimension(x, 0), n, 0)
        return x, xo.reduce_all(x, 0.0, xo.add)

    last, sums = jax.lax.scan(longer, x, jnp.array([1, 0, 2], jnp.int32))
    np.testing.assert_array_equal(sums, [6, 6, 15])
    np.testing.assert_array_equal(last.valid(), np.arange(6))
    grown = xo.while_(
        lambda x: xo.lt(xo.get_dimension_size(x, 0), 7), lambda x: longer(x, 1)[0], x
    )
    np.testing.assert_array_equal(grown.valid(), np.arange(7))


def test_derivative_with_respect_to_a_bounded_array():
    x = _bounded(_floats(3), (5,))

    def squares(x):
        return xo.reduce_all(xo.mul(x, x), 0.0, xo.add)

    slope = jax.grad(squares, allow_int=True)(x)
    np.testing.assert_allclose(slope.data, [*(2 * _floats(3)), 0, 0], rtol=1e-6)
    value, tangent = jax.jvp(
        lambda data: squares(xo.set_dimension_size(data, 3, 0)), (x.data,), (x.data,)
    )
    np.testing.assert_allclose(tangent, 2 * value, rtol=1e-6)


def test_second_derivative():
    x = np.array([1.0, 2.0, np.nan], np.float32)

    def cubes(x):
        v = xo.set_dimension_size(x, 2, 0)
        return xo.reduce_all(xo.mul(v, xo.mul(v, v)), 0.0, xo.add)

    np.testing.assert_allclose(jax.hessian(cubes)(x), np.diag([6.0, 12.0, 0.0]))


def test_builder():
    from xlaops import builder as b

    program = b.XlaBuilder("total")
    x = b.Parameter(program, 0, "f32[10]", "x")
    n = b.Parameter(program, 1, "s32[]", "n")
    part = b.SetDimensionSize(x, n, 0)
    assert str(part.shape) == "f32[<=10]"
    with pytest.raises(TypeError, match="reshape: operand must be an array of static"):
        b.Reshape(part, (5, 2))
    size = b.GetDimensionSize(part, 0)
    total = b.ReduceAll(b.Add(part, part), 0.0, xo.add)
    call = program.Build(b.Tuple([total, size]))
    total, size = jax.jit(call)(jnp.arange(10.0), 4)
    assert (total, size) == (12, 4)


def test_builder_has_parameters_of_dynamic_size():
    from xlaops import builder as b

    program = b.XlaBuilder("doubled")
    x = b.Parameter(program, 0, "f32[2,<=4]", "x")
    call = program.Build(b.Add(x, x))
    assert str(call.program_shape) == "(x: f32[2,<=4]) -> f32[2,<=4]"
    valid = _floats(2, 3)
    _check(jax.jit(call)(_bounded(valid, (None, 4))), 2 * valid)
    with pytest.raises(TypeError, match=r"x must be f32\[2,<=4\], got float32\[2, 4\]"):
        call(_floats(2, 4))
