"""Functions of jax.numpy, jax.scipy, jax.nn and jax.lax, made of all operations."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
import pytest
from jax import lax

from xlaops.indexing import analyze

from .observed import Arg, changes, related

V = Arg((4,))
X = Arg((3, 4))
SQUARE = Arg((3, 3))
INDEX = Arg((4,), "int32", 0, 3)


def _all(*functions):
    return lambda *xs: [f(*xs) for f in functions]


def _tangent(f):
    return lambda x, t: jax.jvp(f, (x,), (t,))[1]


# What relates each element to itself alone, and all of what else there is.
EXACT = {
    "numpy": (
        _all(
            *(jnp.cbrt, jnp.deg2rad, jnp.exp2, jnp.log2, jnp.rint, jnp.sinc, jnp.trunc),
            *(jnp.square, jnp.reciprocal, jnp.arcsinh, jnp.nan_to_num),
        ),
        V,
    ),
    "numpy of two": (
        _all(
            *(jnp.arctan2, jnp.fmod, jnp.hypot, jnp.logaddexp, jnp.logaddexp2),
            *(jnp.maximum, jnp.mod, jnp.fmin, jnp.copysign),
        ),
        V,
        V,
    ),
    "integers": (
        _all(jnp.floor_divide, jnp.left_shift, jnp.power),
        Arg((4,), "int32", 1, 12),
        Arg((4,), "int32", 1, 12),
    ),
    "numbers in parts": (_all(jnp.frexp, jnp.modf), V),
    "activations": (
        _all(
            *(jax.nn.celu, jax.nn.elu, jax.nn.gelu, jax.nn.hard_swish, jax.nn.mish),
            *(jax.nn.relu6, jax.nn.selu, jax.nn.silu, jax.nn.softplus, jax.nn.glu),
        ),
        V,
    ),
    "derivatives": (
        _all(
            *(_tangent(f) for f in (jnp.tanh, jnp.log2, jnp.arcsin, jnp.cbrt)),
            *(_tangent(f) for f in (jax.nn.sigmoid, lax.erf_inv, jnp.expm1)),
        ),
        V,
        V,
    ),
    "softmax": (_all(jax.nn.softmax, jax.nn.log_softmax, jax.nn.logsumexp), X),
    "moved": (
        _all(
            *(jnp.ravel, jnp.fliplr, jnp.rot90, lambda x: jnp.roll(x, 3)),
            *(lambda x: jnp.repeat(x, 2, 1), lambda x: jnp.tile(x, 2)),
            *(lambda x: jnp.pad(x, 1, mode="edge"), lambda x: jnp.pad(x, 2, "reflect")),
            *(jnp.diagonal, lambda x: jnp.delete(x, 1, 1), jnp.atleast_3d),
            lambda x: jnp.vander(x[0], 2)[:, 0],
        ),
        X,
    ),
    "differences": (_all(jnp.diff, jnp.ediff1d, jnp.cumsum, jnp.cumprod), V),
    "products": (_all(jnp.kron, jnp.outer), Arg((2,)), Arg((3,))),
    "products of matrices": (
        _all(lambda a, b: jnp.einsum("ij,jk->ki", a, b), jnp.matmul, jnp.dot),
        X,
        Arg((4, 2)),
    ),
    "convolution": (
        _all(jnp.convolve, lambda a, b: jsp.signal.convolve(a, b, "same")),
        Arg((5,)),
        Arg((2,)),
    ),
    "windows": (
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 2), "SAME"),
        X,
    ),
    "one_hot": (lambda i: jax.nn.one_hot(i, 4), INDEX),
}

# What may say more than is so.
SOUND = {
    "special": (
        _all(
            *(jsp.special.digamma, jsp.special.gammaln, jsp.special.i0e),
            *(jsp.special.i1e, jsp.special.log_ndtr, jsp.special.entr),
        ),
        V,
    ),
    "special of two": (
        _all(
            *(jsp.special.gammainc, jsp.special.gammaincc, jsp.special.zeta),
            *(jsp.special.xlogy, jsp.special.xlog1py, jsp.special.kl_div),
            lambda a, x: jsp.special.betainc(a, 2.0, x),
        ),
        V,
        V,
    ),
    "divisors": (
        _all(jnp.gcd, jnp.lcm),
        Arg((4,), "int32", 1, 12),
        Arg((4,), "int32", 1, 12),
    ),
    "insert": (lambda x: jnp.insert(x, 1, 0.0, 1), X),
    "exponential integral": (jsp.special.exp1, Arg((2, 2))),
    "hypergeometric": (lambda x: jsp.special.hyp1f1(1.0, 2.0, x), Arg((2,))),
    "searchsorted": (lambda a, v: jnp.searchsorted(jnp.sort(a), v), V, Arg((3,))),
    "interp": (lambda x, y: jnp.interp(x, jnp.arange(4.0), y), V, V),
    "histogram": (lambda x: jnp.histogram(x, 3, (-2.0, 2.0))[0], V),
    "order": (_all(jnp.argsort, jnp.median, lambda x: jnp.partition(x, 2)), V),
    "quantile": (lambda x: jnp.quantile(x, 0.3, axis=1), X),
    "bincount": (lambda i: jnp.bincount(i, length=4), INDEX),
    "choose": (
        lambda i, x: jnp.take_along_axis(x, i[None], 0),
        Arg((4,), "int32", 0, 2),
        X,
    ),
    "polynomials": (_all(jnp.polyval, jnp.polymul), Arg((3,)), Arg((2,))),
    "inverse": (_all(jnp.linalg.inv, jnp.linalg.det, jnp.linalg.slogdet), SQUARE),
    "norms": (_all(jnp.linalg.norm, lambda x: jnp.linalg.norm(x, 2)), SQUARE),
    "matrix functions": (_all(jsp.linalg.expm, jnp.linalg.pinv), SQUARE),
    "schur": (
        _all(
            lambda x: lax.linalg.schur(x + x.T)[0],
            lambda x: lax.linalg.hessenberg(x)[0],
            lambda x: lax.linalg.tridiagonal(x + x.T)[1],
        ),
        SQUARE,
    ),
    "fourier": (_all(jnp.fft.fft, jnp.fft.rfft, jnp.fft.fftshift), V),
    "attention": (
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
        *[Arg((1, 3, 1, 2))] * 3,
    ),
    "image": (lambda x: jax.image.resize(x, (5, 3), "linear"), X),
    "map_coordinates": (
        lambda x, i: jsp.ndimage.map_coordinates(x, [i], 1, mode="nearest"),
        V,
        Arg((3,)),
    ),
    "random": (lambda x: jax.random.normal(jax.random.key(0), (4,)) * x, V),
    "linear call": (
        lambda x: jax.custom_derivatives.linear_call(
            lambda r, x: x[::-1], lambda r, x: x[::-1], (), x
        ),
        V,
    ),
    "associative scan": (lambda x: lax.associative_scan(jnp.multiply, x), V),
    "triangular": (lambda x: jnp.triu(x, 1) + jnp.tril(x, -2), Arg((4, 4))),
}


@pytest.mark.parametrize("name", [*EXACT, *SOUND])
def test_function(name):
    f, *args = (EXACT | SOUND)[name]
    analysis = analyze(f, *[a.struct for a in args])
    truth = changes(f, args, 32)
    for k, made in enumerate(analysis.outputs):
        for i, a in enumerate(args):
            maps = analysis.output_to_input(k, i)
            matrix = related(maps, made.shape, a.shape)
            missed = np.argwhere(truth[k][i] & ~matrix)[:5]
            assert not len(missed), (k, i, missed, list(map(str, maps)))
            if name in EXACT:
                extra = np.argwhere(matrix & ~truth[k][i])[:5]
                assert not len(extra), (k, i, extra, list(map(str, maps)))
            back = related(analysis.input_to_output(i, k), a.shape, made.shape)
            np.testing.assert_array_equal(back.T, matrix)
    assert not analysis.undefined
