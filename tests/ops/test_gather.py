"""Gather against a loop over the formula of StableHLO's specification."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads
from ops.oracles import gather as gather_oracle

from xlaops.ops.gather import gather


def numbers(**fields):
    empty = ("offset_dims", "collapsed_slice_dims", "start_index_map")
    return dict.fromkeys(empty, ()) | fields


# (operand, start_indices, dimension numbers, slice sizes): few, so that few programs
# are compiled.
FORMS = {
    "rows": (
        (4, 5),
        (3, 1),
        numbers(
            offset_dims=(1,),
            collapsed_slice_dims=(0,),
            start_index_map=(0,),
            index_vector_dim=1,
        ),
        (1, 5),
    ),
    "implicit vector": (
        (4, 5),
        (2, 3),
        numbers(
            offset_dims=(1,),
            collapsed_slice_dims=(0,),
            start_index_map=(0,),
            index_vector_dim=2,
        ),
        (1, 2),
    ),
    "vector first": (
        (4, 5),
        (2, 3),
        numbers(offset_dims=(0, 2), start_index_map=(1, 0), index_vector_dim=0),
        (2, 3),
    ),
    "vector in the middle": (
        (4, 5, 2),
        (3, 2, 2),
        numbers(
            offset_dims=(1,),
            collapsed_slice_dims=(0, 2),
            start_index_map=(2, 0),
            index_vector_dim=1,
        ),
        (1, 4, 1),
    ),
    "one slice": (
        (4, 5),
        (2,),
        numbers(offset_dims=(0, 1), start_index_map=(0, 1), index_vector_dim=0),
        (2, 2),
    ),
    "scalar index": (
        (5,),
        (),
        numbers(offset_dims=(0,), start_index_map=(0,), index_vector_dim=0),
        (2,),
    ),
    "batching": (
        (3, 4, 2),
        (2, 3, 1),
        numbers(
            offset_dims=(2,),
            collapsed_slice_dims=(1,),
            start_index_map=(1,),
            index_vector_dim=2,
            operand_batching_dims=(0,),
            start_indices_batching_dims=(1,),
        ),
        (1, 1, 2),
    ),
    "batching behind the vector": (
        (3, 4, 2),
        (1, 2, 3),
        numbers(
            offset_dims=(),
            start_index_map=(1,),
            collapsed_slice_dims=(1,),
            index_vector_dim=0,
            operand_batching_dims=(0, 2),
            start_indices_batching_dims=(2, 1),
        ),
        (1, 1, 1),
    ),
    "no index": (
        (4, 5),
        (3, 0),
        numbers(offset_dims=(0, 1), index_vector_dim=1),
        (2, 3),
    ),
}


def gradient_oracle(operand, indices, numbers, sizes, cotangent):
    gradient = np.zeros(operand.shape, cotangent.dtype)

    def seen(out, source):
        gradient[source] += cotangent[out]

    gather_oracle(operand, indices, numbers, sizes, seen=seen)
    return gradient


def operand_of(shape):
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def test_gather_nd_of_the_document():
    # Rows of a [16,11] array at a [4,5,1] array of indices.
    x = operand_of((16, 11))
    indices = np.random.default_rng(0).integers(0, 16, (4, 5, 1))
    got = gather(
        x,
        indices,
        numbers(
            offset_dims=(2,),
            collapsed_slice_dims=(0,),
            start_index_map=(0,),
            index_vector_dim=2,
        ),
        (1, 11),
    )
    np.testing.assert_array_equal(got, x[indices[..., 0]])


def test_batch_of_dynamic_slices_of_the_document():
    # Slices [8,6] of a [16,11] array at the positions of a [5,2] array.
    x = operand_of((16, 11))
    indices = np.array([[0, 0], [8, 5], [3, 2], [20, -3], [7, 11]])
    got = gather(
        x,
        indices,
        numbers(offset_dims=(1, 2), start_index_map=(0, 1), index_vector_dim=1),
        (8, 6),
    )
    for part, (i, j) in zip(got, indices, strict=True):
        i, j = min(max(i, 0), 8), min(max(j, 0), 5)
        np.testing.assert_array_equal(part, x[i : i + 8, j : j + 6])


@functools.cache
def jitted(form):
    *_, dimension_numbers, sizes = FORMS[form]
    call = functools.partial(
        gather, dimension_numbers=dimension_numbers, slice_sizes=sizes
    )

    def pullback(x, i, cotangent):
        return jax.vjp(lambda x: call(x, i), x)[1](cotangent)[0]

    return jax.jit(call), jax.jit(pullback)


@given(st.sampled_from(sorted(FORMS)), st.integers(0, 2**32))
def test_random_indices_and_gradients(form, seed):
    shape, indices_shape, dimension_numbers, sizes = FORMS[form]
    rng = np.random.default_rng(seed)
    x = operand_of(shape)
    indices = rng.integers(-2, 7, indices_shape).astype(np.int32)
    call, pullback = jitted(form)
    expected = gather_oracle(x, indices, dimension_numbers, sizes)
    got = call(x, indices)
    np.testing.assert_array_equal(got, expected)
    cotangent = rng.integers(-9, 9, expected.shape).astype(np.float32)
    np.testing.assert_array_equal(
        pullback(x, indices, cotangent),
        gradient_oracle(x, indices, dimension_numbers, sizes, cotangent),
    )


@pytest.mark.parametrize("form", FORMS)
def test_every_form_eagerly(form):
    shape, indices_shape, dimension_numbers, sizes = FORMS[form]
    x = operand_of(shape)
    indices = np.arange(np.prod(indices_shape, dtype=int)).reshape(indices_shape) - 2
    got = gather(x, indices, dimension_numbers, sizes)
    expected = gather_oracle(x, indices, dimension_numbers, sizes)
    np.testing.assert_array_equal(got, expected)


EXTREMES = {
    "int4": (-8, 7),
    "int8": (-128, -1, 127),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), -1, 299, 2**31 - 1),
    "uint4": (15,),
    "uint8": (0, 128, 255),
    "uint16": (2**15, 2**16 - 1),
    "uint32": (2**31 - 1, 2**31, 2**32 - 1),
}
PAIRS = numbers(offset_dims=(1,), start_index_map=(0,), index_vector_dim=1)


@pytest.mark.parametrize("when", ["eager", "jit", "const"])
@pytest.mark.parametrize("dtype", EXTREMES)
def test_indices_of_every_type_are_clamped(dtype, when):
    x = operand_of((300,))
    indices = np.array(EXTREMES[dtype]).astype(dtype)

    def call(indices):
        return gather(x, indices, PAIRS, (2,))

    if when == "const":
        got = jax.jit(lambda: call(indices))()
    else:
        got = (jax.jit(call) if when == "jit" else call)(jnp.asarray(indices))
    np.testing.assert_array_equal(got, gather_oracle(x, indices, PAIRS, (2,)))


@pytest.mark.parametrize("with_x64", [False, True])
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_64_bit_indices_do_not_wrap(dtype, with_x64):
    x = operand_of((300,))
    values = [2, 2**31, 2**32, 2**33 + 5, 2**63 - 1]
    values += [-1, -(2**32) + 7] if dtype == "int64" else [2**63, 2**64 - 1]
    indices = np.array(values, dtype)
    expected = gather_oracle(x, indices, PAIRS, (2,))
    with jax.enable_x64(with_x64):
        eager = gather(x, indices, PAIRS, (2,))
        constant = jax.jit(lambda: gather(x, indices, PAIRS, (2,)))()
    np.testing.assert_array_equal(eager, expected)
    np.testing.assert_array_equal(constant, expected)


def test_python_int_as_index():
    one = numbers(collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=0)
    for index in (-1, 3, 2**40):
        got = gather(operand_of((5,)), index, one, (1,))
        assert got == min(max(index, 0), 4)


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "uint8", "bool", "complex64"])
def test_operands_of_every_type(dtype, mode):
    shape, _, dimension_numbers, sizes = FORMS["rows"]
    x = operand_of(shape).astype(dtype)
    indices = np.array([[9], [1], [-1]])
    got = mode(lambda x: gather(x, indices, dimension_numbers, sizes))(jnp.asarray(x))
    assert got.dtype == x.dtype
    expected = gather_oracle(x, indices, dimension_numbers, sizes)
    np.testing.assert_array_equal(got, expected)


def test_prng_keys():
    keys = jax.random.split(jax.random.key(0), 5)
    one = numbers(collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1)
    got = gather(keys, jnp.array([7, 2]), one, (1,))
    expected = jax.random.key_data(keys)[jnp.array([4, 2])]
    np.testing.assert_array_equal(jax.random.key_data(got), expected)


def test_empty(mode):
    rows = FORMS["rows"][2]
    f = mode(lambda x, i: gather(x, i, rows, (1, 0)))
    assert f(jnp.zeros((4, 5)), jnp.zeros((3, 1), int)).shape == (3, 0)
    f = mode(lambda x, i: gather(x, i, rows, (1, 5)))
    assert f(jnp.zeros((4, 5)), jnp.zeros((0, 1), int)).shape == (0, 5)


@pytest.mark.parametrize("form", ["vector in the middle", "batching behind the vector"])
@pytest.mark.parametrize("axes", [(0, None), (None, 1), (1, 0), (-1, -1)])
def test_vmap(form, axes, rng):
    shape, indices_shape, dimension_numbers, sizes = FORMS[form]
    xs = rng.normal(size=(3, *shape)).astype(np.float32)
    batch = rng.integers(-2, 7, (3, *indices_shape)).astype(np.int32)

    def place(values, axis):
        return values[1] if axis is None else np.moveaxis(values, 0, axis)

    def f(x, i):
        return gather(x, i, dimension_numbers, sizes)

    x, i = place(xs, axes[0]), place(batch, axes[1])
    got = jax.jit(jax.vmap(f, in_axes=axes))(x, i)

    def total(x):
        return (jax.vmap(f, in_axes=axes)(x, i) ** 2).sum()

    gradients = np.zeros_like(xs)
    for b in range(3):
        x_b, i_b = (
            v[1 if a is None else b] for v, a in zip((xs, batch), axes, strict=True)
        )
        expected = gather_oracle(x_b, i_b, dimension_numbers, sizes)
        np.testing.assert_array_equal(got[b], expected)
        where = 1 if axes[0] is None else b
        gradients[where] += gradient_oracle(
            x_b, i_b, dimension_numbers, sizes, 2 * expected
        )
    gradient = jax.jit(jax.grad(total))(x)
    np.testing.assert_allclose(gradient, place(gradients, axes[0]), rtol=1e-5)


def test_derivatives(x64, rng):
    shape, _, dimension_numbers, sizes = FORMS["vector first"]
    x = rng.normal(size=shape)
    # Rows of operand indices (1, -3), (2, 1), (7, 0), in order.
    indices = np.array([[-3, 1, 0], [1, 2, 7]])

    @jax.jit
    def f(x):
        results = (
            gather(x, indices, dimension_numbers, sizes, promise)
            for promise in (False, True)
        )
        return [y**3 for y in results]

    check_grads(f, (x,), 2)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_sorted_indices(dtype, mode):
    shape, _, dimension_numbers, sizes = FORMS["vector first"]
    x = operand_of(shape).astype(dtype)
    # In order as they are, out of order once they are clamped.
    indices = np.array([[4, 1, 9], [-5, -1, 2]], np.int32)
    got = mode(lambda x: gather(x, indices, dimension_numbers, sizes, True))(x)
    expected = gather_oracle(x, indices, dimension_numbers, sizes)
    np.testing.assert_array_equal(got, expected)
    batched = jax.vmap(lambda x: gather(x, indices, dimension_numbers, sizes, True))
    np.testing.assert_array_equal(batched(x[None])[0], expected)


def test_gradient_does_not_promise_order_of_clamped_indices():
    shape, _, dimension_numbers, sizes = FORMS["vector first"]
    x, indices = operand_of(shape), jnp.array([[4, 1, 9], [-5, -1, 2]])

    def f(x, promise):
        return gather(x, indices, dimension_numbers, sizes, promise).sum()

    text = jax.jit(jax.value_and_grad(f), static_argnums=1).lower(x, True).as_text()
    (scatter,) = (line for line in text.splitlines() if "stablehlo.scatter" in line)
    assert "indices_are_sorted = true" not in scatter
    (line,) = (line for line in text.splitlines() if "stablehlo.gather" in line)
    assert "indices_are_sorted = true" in line


@pytest.mark.parametrize("check_vma", [True, False])
def test_inside_shard_map(mesh8, check_vma):
    shape, _, dimension_numbers, sizes = FORMS["vector first"]
    x = operand_of(shape)
    indices = np.random.default_rng(0).integers(-2, 7, (8, 2, 3))

    for promise in (False, True):

        def f(x, i, promise=promise):
            return gather(x, i[0], dimension_numbers, sizes, promise)[None]

        sharded = jax.shard_map(
            f,
            mesh=mesh8,
            in_specs=(P(), P("i")),
            out_specs=P("i"),
            check_vma=check_vma,
        )
        got = jax.jit(sharded)(x, indices)
        gradient = jax.grad(lambda x, g=sharded: jax.jit(g)(x, indices).sum())(x)
        expected = np.zeros_like(x)
        for b in range(8):
            value = gather_oracle(x, indices[b], dimension_numbers, sizes)
            np.testing.assert_array_equal(got[b], value)
            expected += gradient_oracle(
                x, indices[b], dimension_numbers, sizes, np.ones_like(value)
            )
        np.testing.assert_array_equal(gradient, expected)


@pytest.mark.parametrize("platform", ["tpu", "cuda", "rocm"])
@pytest.mark.parametrize("form", ["rows", "batching behind the vector"])
def test_lowering_for_other_platforms(platform, form):
    shape, indices_shape, dimension_numbers, sizes = FORMS[form]

    def f(x, i):
        return gather(x, i, dimension_numbers, sizes)

    arguments = jnp.zeros(shape), jnp.zeros(indices_shape, jnp.uint32)
    traced = jax.jit(jax.grad(lambda x, i: f(x, i).sum())).trace(*arguments)
    assert "stablehlo.scatter" in traced.lower(lowering_platforms=(platform,)).as_text()
    lowered = jax.jit(f).trace(*arguments).lower(lowering_platforms=(platform,))
    assert "stablehlo.gather" in lowered.as_text()


def test_lowers_to_what_lax_lowers_to():
    shape, indices_shape, dimension_numbers, sizes = FORMS["rows"]
    lax_numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))

    def text(call):
        def f(x, i):
            return call(x, i)

        arguments = jnp.zeros(shape), jnp.zeros(indices_shape, int)
        return jax.jit(f).lower(*arguments).as_text()

    assert text(lambda x, i: gather(x, i, dimension_numbers, sizes)) == text(
        lambda x, i: lax.gather(x, i, lax_numbers, sizes, mode="clip")
    )


def call_with(operand=(4, 5), indices=(3, 1), sizes=(1, 5), **fields):
    dimension_numbers = FORMS["rows"][2] | fields
    return gather(
        np.zeros(operand, np.float32), np.zeros(indices, int), dimension_numbers, sizes
    )


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"index_vector_dim": 3}, ValueError, r"index_vector_dim must be in \[0, 2\]"),
        ({"index_vector_dim": 0}, ValueError, r"start_index_map must .* the 3 parts"),
        ({"offset_dims": (2,)}, ValueError, r"offset_dims must .*got \(2,\)"),
        ({"offset_dims": ()}, ValueError, r"offset_dims must have one .*got \(\)"),
        (
            {"collapsed_slice_dims": (2,)},
            ValueError,
            r"collapsed_slice_dims must .*got \(2,\)",
        ),
        ({"start_index_map": (2,)}, ValueError, r"start_index_map must .*got \(2,\)"),
        ({"start_index_map": (1, 1)}, ValueError, r"start_index_map.*\(1, 1\)"),
        (
            {"operand_batching_dims": (2,), "start_indices_batching_dims": (0,)},
            ValueError,
            r"operand_batching_dims must .*got \(2,\)",
        ),
        (
            {"operand_batching_dims": (1,), "start_indices_batching_dims": (2,)},
            ValueError,
            r"start_indices_batching_dims must .*got \(2,\)",
        ),
        (
            {"operand_batching_dims": (1,), "start_indices_batching_dims": (1,)},
            ValueError,
            r"start_indices_batching_dims.*index_vector_dim",
        ),
        (
            {
                "offset_dims": (),
                "operand_batching_dims": (1,),
                "start_indices_batching_dims": (0,),
            },
            TypeError,
            r"operand_batching_dims and .*got 5 .* and 3 in dimension 0",
        ),
        ({"sizes": (1,)}, ValueError, r"slice_sizes must have one .*got \(1,\)"),
        ({"sizes": (1, 6)}, ValueError, r"slice_sizes .*got 6 in dimension 1"),
        ({"sizes": (1, -1)}, ValueError, r"slice_sizes .*negative.*\(1, -1\)"),
        ({"sizes": (2, 5)}, ValueError, r"slice_sizes must be 1 .*got 2 in dimen"),
        (
            {
                "operand": (4, 3),
                "offset_dims": (),
                "sizes": (1, 2),
                "operand_batching_dims": (1,),
                "start_indices_batching_dims": (0,),
            },
            ValueError,
            r"slice_sizes must be at most 1 .*got 2 in dimension 1",
        ),
        ({"start_index_map": (0.5,)}, TypeError, r"start_index_map"),
    ],
)
def test_errors_of_numbers_and_sizes(changes, error, message):
    with pytest.raises(error, match=rf"gather: (\w+: )*.*{message}"):
        call_with(**changes)


def test_errors_of_operands():
    rows, x = FORMS["rows"][2], np.zeros((4, 5), np.float32)
    with pytest.raises(
        TypeError, match=r"gather: start_indices must .*float32\[3, 1\]"
    ):
        gather(x, np.zeros((3, 1), np.float32), rows, (1, 5))
    with pytest.raises(TypeError, match=r"gather: operand must be .*list"):
        gather([1, 2], np.zeros((3, 1), int), rows, (1, 5))
    with pytest.raises(TypeError, match=r"gather: dimension_numbers: .*instance"):
        gather(x, np.zeros((3, 1), int), 7, (1, 5))
    with pytest.raises(TypeError, match="gather: indices_are_sorted must be a bool"):
        gather(x, np.zeros((3, 1), int), rows, (1, 5), "yes")
