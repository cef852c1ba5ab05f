"""Accuracies that jax.lax cannot ask for: those of cosh and erf."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax.test_util import check_grads

import xlaops as xo

ACCURACIES = (
    "highest",
    xo.ResultAccuracy(tolerance=xo.Tolerance(rtol=1e-6)),
    {"atol": 0.0, "rtol": 0.0, "ulps": 3},
    jax.lax.AccuracyMode.HIGHEST,
)
X = np.array([0.0, -0.0, 1e-4, 0.5, -1.0, 10.0, -80.0, 88.7, 89.0, -89.4, 90.0])


def _exact(function, x):
    return np.array([float(function(mpmath.mpf(float(v)))) for v in x])


@pytest.mark.parametrize("accuracy", ACCURACIES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_cosh(accuracy, dtype, mode):
    with jax.enable_x64(dtype == "float64"), np.errstate(over="ignore"):
        x = jnp.asarray(X, dtype)
        got = mode(lambda x: xo.cosh(x, accuracy))(x)
        assert got.dtype == x.dtype
        expected = _exact(mpmath.cosh, np.asarray(x, np.float64)).astype(x.dtype)
    eps = float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(
        np.asarray(got, np.float64), np.asarray(expected, np.float64), rtol=8 * eps
    )


def test_cosh_is_finite_where_its_exponential_is_not():
    y = xo.cosh(np.float32([89.0, -89.4]), "highest")
    np.testing.assert_allclose(y, np.cosh([89.0, -89.4]), rtol=2e-5)
    assert np.exp(np.float64(89.0)) > np.finfo(np.float32).max


def test_request_reaches_the_exponentials():
    text = jax.jit(lambda x: xo.cosh(x, "highest")).lower(np.float32(1)).as_text()
    assert text.count("HIGHEST") == 2
    plain = jax.jit(lambda x: xo.cosh(x)).lower(np.float32(1)).as_text()
    assert "HIGHEST" not in plain


def test_derivatives_of_cosh(x64):
    x = np.array([-3.0, 0.0, 0.1, 2.0])
    check_grads(lambda x: xo.cosh(x, "highest"), (x,), order=3)
    slope = jax.grad(lambda x: xo.cosh(x, "highest"))
    np.testing.assert_allclose(slope(710.0), np.sinh(710.0), rtol=1e-12)


def test_cosh_of_complex_numbers(mode):
    z = np.array([1 + 2j, -0.5j], np.complex64)
    got = mode(lambda z: xo.cosh(z, "highest"))(z)
    np.testing.assert_allclose(got, np.cosh(z), rtol=1e-5)


@pytest.mark.parametrize("accuracy", ACCURACIES, ids=str)
def test_erf(accuracy, mode, rng):
    x = rng.normal(0, 2, 50).astype(np.float32)
    got = mode(lambda x: xo.erf(x, accuracy))(x)
    np.testing.assert_allclose(got, _exact(mpmath.erf, x), rtol=1e-6, atol=1e-7)
    check_grads(lambda x: xo.erf(x, accuracy), (x,), order=1, rtol=2e-2)


def test_derivatives_of_erf(x64):
    x = np.array([-2.0, -0.3, 0.0, 0.7])
    check_grads(lambda x: xo.erf(x, "highest"), (x,), order=3)


@pytest.mark.parametrize("name", ["cosh", "erf"])
def test_vmap_and_every_backend(name, rng):
    x = rng.normal(size=(3, 4)).astype(np.float32)
    f = getattr(xo, name)
    np.testing.assert_allclose(
        jax.vmap(lambda x: f(x, "highest"))(x), f(x, "highest"), rtol=1e-6
    )
    traced = jax.jit(lambda x: f(x, "highest")).trace(x)
    for platform in ("cpu", "cuda", "rocm", "tpu"):
        assert traced.lower(lowering_platforms=(platform,)).as_text()


@pytest.mark.parametrize("name", ["cosh", "erf"])
@pytest.mark.parametrize(
    ("accuracy", "exception"),
    [
        ("best", ValueError),
        ({"rtol": -1.0}, ValueError),
        (3, TypeError),
    ],
)
def test_errors(name, accuracy, exception):
    with pytest.raises(exception, match=f"{name}: result_accuracy"):
        getattr(xo, name)(np.float32(1), accuracy)
