"""Programs whose integers wrap around, whose draws differ, and that write elsewhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import xlaops as xo
from xlaops.indexing import analyze, sparsity

from .observed import Arg, changes, related

X = Arg((10,))
PAIR = Arg((2,))
SCALAR = Arg()
ARRAYS = X.struct, PAIR.struct


def _sliced(x, start, size=2):
    # JAX's function counts negative offsets from the end, the operation does not.
    return lax.dynamic_slice_p.bind(x, start, slice_sizes=(size,))


def _updated(x, update, start):
    return lax.dynamic_update_slice_p.bind(x, update, start)


def _limited(i, low, high):
    return lax.clamp(np.int32(low), i, np.int32(high))


def _written_if(p, x):
    ref = jax.new_ref(jnp.float32(0))
    lax.cond(p > 0, lambda: ref.set(x), lambda: None)
    return ref[...]


def _counted(x):
    def body(count, _):
        return count + np.int8(1), _sliced(x, count, 1)[0]

    return lax.scan(body, np.int8(120), None, length=12)[1]


def _index(low, high, dtype="int32"):
    return Arg((), dtype, low, high)


COVERED = {
    "clamped below what is above": (
        lambda x, i, j: _sliced(x, lax.clamp(np.int32(5), i, _limited(j, 0, 7))),
        X,
        _index(-9, 9),
        _index(-9, 9),
    ),
    "made narrow": (
        lambda x, i: _sliced(x, _limited(i, 200, 300).astype(jnp.int8)),
        X,
        _index(190, 310),
    ),
    "made unsigned": (
        lambda x, u, i: _sliced(_updated(x, u, i), i.astype(jnp.uint32)),
        Arg((3,)),
        PAIR,
        _index(-3, 3),
    ),
    "the largest of nothing": (
        lambda x, i: _sliced(
            x, jnp.full((0,), _limited(i, 3, 5)).max(initial=np.iinfo(np.int32).min)
        ),
        X,
        _index(-9, 9),
    ),
    "a count that wraps around": (_counted, X),
    "written by a branch": (_written_if, SCALAR, SCALAR),
}


@pytest.mark.parametrize("name", COVERED)
def test_no_element_is_missing(name):
    f, *args = COVERED[name]
    analysis = analyze(f, *[a.struct for a in args])
    (truth,) = changes(f, args)
    (made,) = analysis.outputs
    for i, a in enumerate(args):
        there = related(analysis.output_to_input(0, i), made.shape, a.shape)
        back = related(analysis.input_to_output(i, 0), a.shape, made.shape)
        assert not (truth[i] & ~there).any()
        assert not (truth[i] & ~back.T).any()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: lax.rng_uniform(np.int32(0), np.int32(9), ()),
        lambda: xo.rng_uniform(np.int32(0), np.int32(9), "s32[]"),
    ],
    ids=["lax", "xlaops"],
)
def test_two_draws_are_two_numbers(draw):
    analysis = analyze(lambda x, u: _sliced(_updated(x, u, draw()), draw()), *ARRAYS)
    maps = analysis.output_to_input(0, 1)
    assert related(maps, (2,), (2,)).all()


@pytest.mark.parametrize(("low", "high"), [(2, 3), (2, 4), (0, 8)])
def test_what_every_offset_overwrites_is_not_kept(low, high):
    """An update of 5 at offsets from 2 to 3 leaves nothing of the elements 3 to 6."""

    def f(x, u, i):
        return _updated(x, u, _limited(i, low, high))

    most = min(high, 5)
    args = X, Arg((5,)), _index(-9, 9)
    analysis = analyze(f, *[a.struct for a in args])
    kept = related(analysis.output_to_input(0, 0), (10,), (10,))
    moved = related(analysis.output_to_input(0, 2), (10,), ())
    element = np.arange(10)
    outside = (element < most) | (element > low + 4)
    np.testing.assert_array_equal(kept, np.diag(outside))
    inside = (element >= low) & (element < most + 5)
    np.testing.assert_array_equal(moved[:, 0], inside)


def _exchanged(a, b, rounds):
    return lax.scan(lambda c, _: ((c[1], c[0]), None), (a, b), None, length=rounds)[0]


@pytest.mark.parametrize("rounds", [9, 10])
def test_what_loops_carry_in_turns_is_not_called_exact(rounds):
    """After an odd number of exchanges the first one is the second."""
    args = PAIR, PAIR
    analysis = analyze(lambda a, b: _exchanged(a, b, rounds), *[a.struct for a in args])
    truth = changes(lambda a, b: _exchanged(a, b, rounds), args, draws=2)
    for output in range(2):
        for i in range(2):
            maps = analysis.output_to_input(output, i)
            found = related(maps, (2,), (2,))
            assert not (truth[output][i] & ~found).any()
            is_equal = bool((truth[output][i] == found).all())
            assert is_equal or not all(one.exact for one in maps)


def test_what_a_loop_never_changes_is_exact():
    def f(a, b):
        return lax.scan(lambda c, _: ((c[0], jnp.roll(c[1], 1)), None), (a, b), None, 9)

    (one,) = analyze(f, X.struct, X.struct).output_to_input(0, 0)
    assert one.exact


@pytest.mark.parametrize("name", ["int4", "uint4", "int8", "bool"])
def test_integers_of_any_width_have_no_derivative(name):
    dtype = jnp.dtype(name)
    assert sparsity(lambda x: x.astype(dtype).astype(x.dtype), X.struct).nnz == 0

    def bfloat(x):
        return x.astype(jnp.bfloat16).astype(x.dtype)

    assert sparsity(bfloat, X.struct).nnz == 10


def test_a_convolution_without_features_has_maps_in_both_directions():
    def f(x, w):
        return lax.conv_general_dilated(x, w, (1,), "SAME", feature_group_count=2)

    x, w = (jax.ShapeDtypeStruct(s, np.float32) for s in ((1, 2, 5), (0, 1, 3)))
    analysis = analyze(f, x, w)
    for i, shape in enumerate(((1, 2, 5), (0, 1, 3))):
        assert not related(analysis.input_to_output(i), shape, (1, 0, 5)).any()


@pytest.mark.parametrize("fold", [lax.psum, lax.pmax])
def test_a_fold_over_a_batch_and_over_devices_at_once(fold):
    """Within jax.vmap an axis may be one of the mesh and one of the batch."""
    inner = jax.vmap(lambda x: fold(x, ("i", "batch")), axis_name="batch")
    f = jax.shard_map(
        inner,
        mesh=jax.sharding.AbstractMesh((2,), ("i",), (jax.sharding.AxisType.Auto,)),
        in_specs=jax.P(None, "i"),
        out_specs=jax.P(),
        check_vma=False,
    )
    x = jax.ShapeDtypeStruct((3, 4), np.float32)
    maps = analyze(f, x).output_to_input()
    same = np.arange(2)[:, None] == np.arange(4) % 2
    expected = np.broadcast_to(same[None, :, None], (3, 2, 3, 4)).reshape(6, 12)
    np.testing.assert_array_equal(related(maps, (3, 2), (3, 4)), expected)


def test_an_array_of_another_program_is_an_error():
    one, two = (analyze(lambda x: x * 2, X.struct) for _ in range(2))
    with pytest.raises(ValueError, match="must be an array of this program"):
        one.output_to_input(two.outputs[0])
