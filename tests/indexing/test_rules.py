"""The rule of each primitive, against what changes when the primitive runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import xlaops as xo
from xlaops.indexing.analysis import analyze

from .observed import Arg, changes, related

F = Arg
X = F((3, 4))


def _index(*shape, low=-2, high=6):
    return Arg(shape, "int32", low, high)


def check(f, *args, exact=True, derivative=False, draws=64):
    analysis = analyze(f, *[a.struct for a in args], derivative=derivative)
    truth = changes(f, args, draws)
    assert not analysis.undefined
    assert not analysis.widened
    for k, made in enumerate(analysis.outputs):
        for i, a in enumerate(args):
            maps = analysis.output_to_input(k, i)
            matrix = related(maps, made.shape, a.shape)
            assert not (truth[k][i] & ~matrix).any(), (k, i, list(map(str, maps)))
            if exact:
                extra = np.argwhere(matrix & ~truth[k][i])[:5]
                assert not len(extra), (k, i, extra, list(map(str, maps)))
            back = analysis.input_to_output(i, k)
            turned = related(back, a.shape, made.shape)
            np.testing.assert_array_equal(turned.T, matrix)
            assert not exact or all(m.exact for m in maps), maps[0].reasons


EXACT = {
    "add": (lambda x, y: x + y, X, X),
    "add scalar": (lambda x: x + 2.0, X),
    "add broadcast": (lambda x, y: x + y, X, F((1, 4))),
    "atan2": (lambda x, y: lax.atan2(x, y), X, X),
    "clamp scalar": (lambda a, x, b: lax.clamp(a, x, b), F(), X, F()),
    "select scalar": (lambda p, x, y: lax.select(p, x, y), F((), "bool"), X, X),
    "select": (lambda p, x, y: lax.select(p, x, y), F((3, 4), "bool"), X, X),
    "select_n": (
        lambda p, x, y, z: lax.select_n(p, x, y, z),
        _index(4, low=0, high=2),
        F((4,)),
        F((4,)),
        F((4,)),
    ),
    "broadcast_in_dim": (
        lambda x: lax.broadcast_in_dim(x, (5, 3, 2), (1, 2)),
        F((3, 1)),
    ),
    "reshape": (lambda x: x.reshape(2, 6), X),
    "reshape groups": (lambda x: x.reshape(3, 2, 5, 2, 2), F((6, 10, 2))),
    "reshape ordered": (lambda x: lax.reshape(x, (6, 2), (1, 0)), X),
    "squeeze": (lambda x: x.squeeze(1), F((3, 1, 2))),
    "expand_dims": (lambda x: x[:, None], X),
    "transpose": (lambda x: x.transpose(2, 0, 1), F((2, 3, 4))),
    "rev": (lambda x: lax.rev(x, (1,)), X),
    "slice": (lambda x: lax.slice(x, (1, 0), (3, 4), (1, 3)), X),
    "split": (lambda x: jnp.split(x, [1, 3], 1), X),
    "stack": (lambda x, y: jnp.stack([x, y, x], 1), X, X),
    "tile": (lambda x: jnp.tile(x, (2, 3)), F((2, 2))),
    "concatenate": (lambda x, y: jnp.concatenate([x, y, x], 1), X, F((3, 2))),
    "pad": (lambda x, v: lax.pad(x, v, ((1, 2, 1), (0, -1, 0))), X, F()),
    "pad negative": (lambda x, v: lax.pad(x, v, ((-1, 1, 2),)), F((5,)), F()),
    "pad nothing": (lambda x, v: lax.pad(x, v, ((0, 0, 0),)), F((5,)), F()),
    "iota": (lambda x: x + lax.iota(np.float32, 4), F((4,))),
    "bitcast narrow": (lambda x: lax.bitcast_convert_type(x, np.uint8), F((3,))),
    "bitcast wide": (
        lambda x: lax.bitcast_convert_type(x, np.uint16),
        F((3, 2), "uint8", 0, 255),
    ),
    "reduce_sum": (lambda x: x.sum((0, 2)), F((2, 3, 4))),
    "reduce_max": (lambda x: x.max(1), X),
    "reduce_and": (lambda x: x.all(1), F((3, 3), "bool")),
    "argmax": (lambda x: lax.argmax(x, 1, np.int32), X),
    "reduce": (lambda x, v: lax.reduce(x, v, lambda a, b: a * b + 1, (1,)), X, F()),
    "reduce variadic": (
        lambda x, y, v, w: lax.reduce(
            (x, y), (v, w), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)
        ),
        X,
        X,
        F(),
        F(),
    ),
    "reduce variadic mixed": (
        lambda x, y, v, w: lax.reduce(
            (x, y), (v, w), lambda a, b: (a[0] + b[0], a[1] * b[1] + a[0] * b[0]), (0,)
        ),
        X,
        X,
        F(),
        F(),
    ),
    "cumsum": (lambda x: lax.cumsum(x, 1), X),
    "cumprod reverse": (lambda x: lax.cumprod(x, 0, reverse=True), X),
    "cummax": (lambda x: lax.cummax(x, 1), X),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 0), X),
    "sort": (lambda x: lax.sort(x, dimension=1), X),
    "sort keys": (
        lambda x, y, z: lax.sort((x, y, z), num_keys=2),
        _index(4, low=0, high=2),
        F((4,)),
        F((4,)),
    ),
    "top_k": (lambda x: lax.top_k(x, 2), X),
    "reduce_window": (
        lambda x: lax.reduce_window(
            x, 0.0, lax.add, (2, 3), (1, 2), ((1, 0), (2, 1)), (1, 2), (2, 1)
        ),
        F((3, 3)),
    ),
    "reduce_window max": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 1), "SAME"),
        X,
    ),
    "reduce_window general": (
        lambda x, v: lax.reduce_window(
            x, v, lambda a, b: a * b + 1, (2,), (1,), "SAME"
        ),
        F((4,)),
        F(),
    ),
    "max pool gradient": (
        lambda x, g: jax.vjp(
            lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (3,), (2,), "SAME"), x
        )[1](g),
        F((7,)),
        F((4,)),
    ),
    "max pool derivative": (
        lambda x, g: jax.jvp(
            lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (3,), (2,), "SAME"),
            (x,),
            (g,),
        )[1],
        F((7,)),
        F((7,)),
    ),
    "dot": (lambda x, y: x @ y, X, F((4, 2))),
    "dot_general": (
        lambda x, y: lax.dot_general(x, y, (((1, 3), (3, 0)), ((2,), (1,)))),
        F((2, 3, 2, 2)),
        F((2, 2, 3, 3)),
    ),
    "conv": (
        lambda x, k: lax.conv_general_dilated(
            x, k, (2, 1), ((1, 1), (0, 2)), (1, 2), (2, 1)
        ),
        F((1, 2, 4, 3)),
        F((2, 2, 2, 2)),
    ),
    "conv feature groups": (
        lambda x, k: lax.conv_general_dilated(
            x, k, (1,), "SAME", feature_group_count=2
        ),
        F((1, 4, 3)),
        F((4, 2, 2)),
    ),
    "conv batch groups": (
        lambda x, k: lax.conv_general_dilated(x, k, (1,), "VALID", batch_group_count=2),
        F((4, 2, 3)),
        F((4, 2, 2)),
    ),
    "conv channels last": (
        lambda x, k: lax.conv_general_dilated(
            x, k, (1,), ((1, 0),), dimension_numbers=("NWC", "WIO", "NWC")
        ),
        F((2, 4, 2)),
        F((2, 2, 3)),
    ),
    "dynamic_slice": (
        lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)),
        X,
        _index(low=0, high=2),
        _index(low=0, high=3),
    ),
    "dynamic_slice known": (lambda x: lax.dynamic_slice(x, (9, -2), (2, 3)), X),
    "dynamic_update_slice": (
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)),
        X,
        F((2, 2)),
        _index(),
    ),
    "dynamic_update_slice most": (
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i,)),
        F((5,)),
        F((4,)),
        _index(),
    ),
    "dynamic_update_slice known": (
        lambda x, u: lax.dynamic_update_slice(x, u, (1, 9)),
        X,
        F((2, 2)),
    ),
    "index": (lambda x, i: x[i], X, _index()),
    "gather rows": (lambda x, i: x[i], X, _index(2, 2)),
    "gather points": (
        lambda x, i, j: x[i, j],
        X,
        _index(3, low=-3, high=2),
        _index(3, low=-4, high=3),
        300,
    ),
    "gather columns": (lambda x, i: jnp.take(x, i, 1, mode="fill"), X, _index(2)),
    "gather clipped": (lambda x, i: jnp.take(x, i, 1, mode="clip"), X, _index(2)),
    "gather along": (
        lambda x, i: jnp.take_along_axis(x, i, 1),
        X,
        _index(3, 2, low=0, high=3),
    ),
    "gather known": (lambda x: x[jnp.array([2, 0, 2, 1])], X),
    "gather known fill": (
        lambda x: x.at[jnp.array([2, 7, -1, 0])].get(mode="fill", fill_value=0),
        X,
    ),
    "gather known one": (
        lambda x: x.at[jnp.array([0, 7, 0])].get(mode="fill", fill_value=0),
        F((1, 3)),
    ),
    "gather iota": (lambda x: x[jnp.arange(3)[::-1]], X),
    "gather beyond": (lambda x: jnp.take(x, jnp.arange(6), 0, mode="clip"), X),
    "gather slices": (
        lambda x, i: lax.gather(
            x, i, lax.GatherDimensionNumbers((0, 2), (), (1, 0)), (2, 3), mode="clip"
        ),
        X,
        _index(3, 2),
    ),
    "scatter add": (lambda x, i, u: x.at[i].add(u), X, _index(2), F((2, 4))),
    "scatter known": (lambda x, u: x.at[jnp.array([2, 0, 2])].add(u), X, F((3, 4))),
    "scatter points": (
        lambda x, u: x.at[jnp.array([2, 0, 5]), jnp.array([1, 1, 0])].mul(u),
        X,
        F((3,)),
    ),
    "scatter set": (lambda x, i, u: x.at[i].set(u), X, _index(2), F((2, 4))),
    "scatter clip": (
        lambda x, i, u: x.at[i].add(u, mode="clip"),
        X,
        _index(2),
        F((2, 4)),
    ),
    "scatter window": (
        lambda x, i, u: lax.scatter_add(
            x, i, u, lax.ScatterDimensionNumbers((1, 2), (), (1, 0)), mode="clip"
        ),
        X,
        _index(2, 2),
        F((2, 2, 3)),
    ),
    "gather batched": (lambda x, i: jax.vmap(lambda a, k: a[k])(x, i), X, _index(3, 2)),
    "scatter batched": (
        lambda x, i, u: jax.vmap(lambda a, k, b: a.at[k].add(b))(x, i, u),
        X,
        _index(3, 2),
        F((3, 2)),
    ),
    "fft": (lambda x: jnp.fft.fft(x), F((2, 4), "complex64")),
    "triangular_solve": (
        lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
        F((3, 3)),
        F((3, 2)),
    ),
    "triangular_solve right": (
        lambda a, b: lax.linalg.triangular_solve(a, b, lower=True, unit_diagonal=True),
        F((3, 3)),
        F((2, 3)),
    ),
    "triangular_solve transposed": (
        lambda a, b: lax.linalg.triangular_solve(
            a, b, left_side=True, lower=False, transpose_a=True
        ),
        F((3, 3)),
        F((3, 2)),
    ),
    "cholesky": (
        lambda x: lax.linalg.cholesky(x * 0.1 + 9 * jnp.eye(3), symmetrize_input=False),
        F((3, 3)),
    ),
    "jit": (lambda x: jax.jit(lambda y: y[::-1] * 2)(x), X),
    "custom_jvp": (lambda x: jax.nn.relu(x).T, X),
    "checkpoint": (lambda x: jax.checkpoint(lambda y: jnp.sin(y).T)(x), X),
    "optimization_barrier": (lambda x, y: lax.optimization_barrier((x, y)), X, X),
    "cond": (
        lambda p, x, y: lax.cond(p, lambda a, b: a, lambda a, b: b.T, x, y),
        F((), "bool"),
        F((3, 3)),
        F((3, 3)),
    ),
    "cond known": (
        lambda x, y: lax.cond(True, lambda a, b: a, lambda a, b: b, x, y),
        X,
        X,
    ),
    "switch": (
        lambda i, x: lax.switch(
            i, [lambda a: a, lambda a: a[::-1], lambda a: a.sum() + 0 * a], x
        ),
        _index(),
        F((3,)),
    ),
    "scan cumsum": (
        lambda x: lax.scan(lambda c, a: (c + a, c * 2), jnp.zeros(4), x),
        X,
    ),
    "scan reverse": (
        lambda c, x: lax.scan(lambda c, a: (c + a, c + a), c, x, reverse=True),
        F((4,)),
        X,
    ),
    "scan map": (lambda x: lax.map(lambda a: a[::-1], x), X),
    "map of indices": (
        lambda x: lax.map(lambda i: x[i] * x[i + 1], jnp.arange(3)),
        F((5,)),
    ),
    "map of a table": (
        lambda x: lax.map(lambda i: x[i], jnp.array([[3, 0], [1, 4], [0, 9]])),
        F((5,)),
    ),
    "map of strange indices": (
        lambda x: lax.map(
            lambda i: lax.dynamic_slice(x, (i,), (2,)), jnp.array([-7, 2, 9, 1])
        ),
        F((5,)),
    ),
    "reverse scan of indices": (
        lambda x: lax.scan(
            lambda c, i: (c, x[i] + c), 0.0, jnp.arange(4), reverse=True
        )[1],
        F((4,)),
    ),
    "scan consts": (
        lambda c, x, w: lax.scan(lambda c, a: (c * w, a + w), c, x),
        F((4,)),
        X,
        F((4,)),
    ),
    "scan two": (
        lambda c, b, x: lax.scan(lambda c, a: ((c[1], c[0] + a), c[0]), (c, b), x),
        F(),
        F(),
        F((5,)),
    ),
    "scan delay": (
        lambda c, x: lax.scan(lambda c, a: ((a, c[0], c[1]), c[2]), (c, c, c), x),
        F(),
        F((7,)),
    ),
    "scan dot": (
        lambda c, w: lax.scan(lambda c, _: (w @ c, c), c, length=3),
        F((3,)),
        F((3, 3)),
    ),
    "fori set": (
        lambda x: lax.fori_loop(
            0, 3, lambda i, a: a.at[i].set(x[i] * 2), jnp.zeros((3, 4))
        ),
        X,
    ),
    "mask tril": (lambda x: jnp.tril(x), F((4, 4))),
    "mask band": (
        lambda x: jnp.where(
            abs(jnp.arange(4)[:, None] - jnp.arange(4)[None]) < 2, x, 0
        ),
        F((4, 4)),
    ),
    "mask outside": (
        lambda x: jnp.where(
            abs(jnp.arange(4)[:, None] - jnp.arange(4)[None]) < 2, 0, x
        ),
        F((4, 4)),
    ),
    "mask prefix": (lambda x, y: jnp.where(jnp.arange(4) < 3, x, y), F((4,)), F((4,))),
    "own sort": (
        lambda x, y: xo.sort([x, y], lambda a, b, c, d: a < b, dimension=1),
        X,
        X,
    ),
    "own reduce": (
        lambda x, v: xo.reduce([x], [v], lambda a, b: a * b + 1, [1]),
        X,
        F(),
    ),
    "own reduce_window": (
        lambda x: xo.reduce_window(
            [x], [1.0], lambda a, b: a * b + 1, [2], [1], "same"
        ),
        F((5,)),
    ),
    "own batch_norm": (
        lambda x, a, b: xo.batch_norm_training(x, a, b, 0.1, 1),
        X,
        F((4,)),
        F((4,)),
    ),
    "random bits": (
        lambda k: jax.random.bits(jax.random.wrap_key_data(k), (3,)),
        Arg((2,), "uint32", 0, 2**31),
    ),
    "random split": (
        lambda k: jax.random.key_data(jax.random.split(jax.random.wrap_key_data(k))),
        Arg((2,), "uint32", 0, 2**31),
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    f, *args = EXACT[name]
    draws = args.pop() if isinstance(args[-1], int) else 64
    check(f, *args, draws=draws)


SYMMETRIC = F((3, 3))
GROUPS = Arg((2,), "int32", 0, 2)

# Where maps may say more than is so, because values decide or nothing better is known.
SOUND = {
    # The index is read, although a slice of all elements can begin nowhere else.
    "dynamic_slice whole": (
        lambda x, i: lax.dynamic_slice(x, (i, 1), (3, 3)),
        X,
        _index(),
    ),
    "unstack": (lambda x: jnp.unstack(x, axis=1), X),
    "approx_top_k": (lambda x: lax.approx_max_k(x, 2)[0], F((3, 8))),
    "ragged_dot": (lambda x, y, n: lax.ragged_dot(x, y, n), X, F((2, 4, 2)), GROUPS),
    "select_and_scatter": (
        lambda x, s: xo.select_and_scatter(
            x, lambda a, b: a >= b, [2], [2], "valid", s, 0.0, lambda a, b: a + b
        ),
        F((6,)),
        F((3,)),
    ),
    "own scatter": (
        lambda x, u: xo.scatter(
            [x],
            jnp.array([[2], [0]]),
            [u],
            lambda a, b: a + b,
            xo.types.ScatterDimensionNumbers(
                update_window_dims=[],
                inserted_window_dims=[0],
                scatter_dims_to_operand_dims=[0],
                index_vector_dim=1,
            ),
        ),
        F((4,)),
        F((2,)),
    ),
    "own ragged": (
        lambda x, y, n: xo.ragged_dot(
            x,
            y,
            n,
            xo.types.RaggedDotDimensionNumbers(
                xo.types.DotDimensionNumbers([1], [1]), [0], [0]
            ),
        ),
        X,
        F((2, 4, 2)),
        GROUPS,
    ),
    "batch_norm gradient": (
        lambda x, a, m, v, g: xo.batch_norm_grad(x, a, m, v, g, 0.1, 1),
        X,
        F((4,)),
        F((4,)),
        F((4,)),
        X,
    ),
    "qr": (lambda x: jnp.linalg.qr(x), F((3, 2))),
    "lu": (lambda x: lax.linalg.lu(x), SYMMETRIC),
    "svd": (lambda x: jnp.linalg.svd(x, compute_uv=False), F((2, 3, 2))),
    "eigvalsh": (lambda x: jnp.linalg.eigvalsh(x), F((2, 3, 3))),
    "solve": (lambda x, y: jnp.linalg.solve(x, y), SYMMETRIC, F((3,))),
    "tridiagonal_solve": (
        lambda a, b, c, y: lax.linalg.tridiagonal_solve(a, b + 9, c, y),
        F((3,)),
        F((3,)),
        F((3,)),
        F((3, 2)),
    ),
    "irfft": (lambda x: jnp.fft.irfft(x, n=4), F((2, 3), "complex64")),
    "rfft": (lambda x: jnp.fft.rfft2(x), F((2, 3, 4))),
    "while": (
        lambda x: lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.roll(c[1], 1) + c[1]), (0, x)
        )[1],
        F((5,)),
    ),
    "while of a batch": (
        lambda x: jax.vmap(
            lambda v: lax.while_loop(
                lambda c: c[0] < 2 + v[0], lambda c: (c[0] + 1, c[1] * 2 + v), (0.0, v)
            )[1]
        )(x),
        F((3, 2), low=-2, high=2),
    ),
    "while of rows that meet": (
        lambda x: jax.vmap(
            lambda v: lax.while_loop(
                lambda c: c[0] < 3 + v,
                lambda c: (
                    c[0] + 1,
                    c[1] + lax.ppermute(c[1], "v", [(0, 1), (1, 2), (2, 0)]),
                ),
                (0.0, v),
            )[1],
            axis_name="v",
        )(x),
        F((3,)),
    ),
    "stencil loop": (
        lambda x: lax.fori_loop(0, 9, lambda i, c: c + 0.1 * jnp.roll(c, 1), x),
        F((7,)),
    ),
    "scan of gathers": (
        lambda x, i: lax.scan(lambda c, k: (c + x[k], c * x[k]), 0.0, i)[1],
        F((5,)),
        _index(3, low=0, high=4),
    ),
    "fori scatter": (
        lambda x: lax.fori_loop(
            1, 5, lambda i, a: a.at[i].set(a[i - 1] + x[i]), jnp.zeros(5) + x[0]
        ),
        F((5,)),
    ),
    "interpolation": (
        lambda x: jnp.interp(jnp.linspace(0.0, 1.0, 5), jnp.linspace(0.0, 1.0, 4), x),
        F((4,)),
    ),
    "median": (lambda x: jnp.median(x, axis=1), X),
    "random normal": (
        lambda k: jax.random.normal(jax.random.wrap_key_data(k), (3,)),
        Arg((2,), "uint32", 0, 2**31),
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound(name):
    f, *args = SOUND[name]
    check(f, *args, exact=False, draws=24)
