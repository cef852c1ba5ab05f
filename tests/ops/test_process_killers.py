"""Calls that end or hang the process when XLA gets them as they are.

Each family runs in a process of its own, eagerly and with all operands constant, where
XLA folds them. A call gives a result or raises; it never ends the process.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import faulthandler
import numpy as np, ml_dtypes, jax
import jax.numpy as jnp
import xlaops as xo

faulthandler.dump_traceback_later(240, exit=True)  # hangs

def attempt(name, call):
    for run in (call, lambda: jax.jit(call)()):
        print(name, flush=True)  # the last one is the one that ended the process
        try:
            jax.block_until_ready(run())
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            pass
        except jax.errors.JaxRuntimeError as error:
            assert "Out of memory" in str(error), error

def scattering(*numbers):
    return xo.ScatterDimensionNumbers(*numbers)

f4, i4 = np.float32, np.int32
calls = {}
"""

FAMILIES = {
    "division": """
for t in ("int8", "int16", "int32", "uint8", "uint32", "int4", "uint4"):
    for xs in ([1, 0], [-1, 7] if t[0] == "i" else [1, 7]):
        x, zero = np.array(xs, t), np.zeros(2, t)
        calls[f"div {t} {xs}"] = lambda x=x, y=zero: xo.div(x, y)
        calls[f"rem {t} {xs}"] = lambda x=x, y=zero: xo.rem(x, y)
for t in ("int8", "int32"):
    low = np.array([np.iinfo(t).min], t)
    calls[f"div {t} lowest"] = lambda x=low: xo.div(x, np.array([-1], x.dtype))
    calls[f"rem {t} lowest"] = lambda x=low: xo.rem(x, np.array([-1], x.dtype))
    calls[f"pow {t}"] = lambda x=low: xo.pow(x, np.array([-1], x.dtype))
""",
    "random numbers": """
for t in ("bool", "int8", "uint8", "int16", "int4", "float8_e4m3fn", "float8_e5m2",
          "complex64", "float16", "bfloat16"):
    shape = xo.Shape(t, (4,)) if t != "bool" else "pred[4]"
    calls[f"uniform {t}"] = lambda s=shape, t=t: xo.rng_uniform(
        jnp.zeros((), t), jnp.ones((), t), s)
    calls[f"normal {t}"] = lambda s=shape, t=t: xo.rng_normal(
        jnp.zeros((), t), jnp.ones((), t), s)
calls["uniform empty"] = lambda: xo.rng_uniform(0.0, 1.0, "f32[0,3]")
for algorithm in ("RNG_DEFAULT", "RNG_THREE_FRY", "RNG_PHILOX"):
    for size in (0, 2, 3, 4):
        for t in ("u8", "u4", "f32", "c64"):
            calls[f"bits {algorithm} {size} {t}"] = (
                lambda a=algorithm, n=size, t=t: xo.rng_bit_generator(
                    a, np.arange(n, dtype=np.uint32), f"{t}[3]"))
""",
    "convolution": """
x, k = np.ones((1, 1, 1, 1), f4), np.ones((1, 1, 1, 1), f4)
for pads in (((-1, 0), (0, 0)), ((-1, -1), (-1, -1)), ((0, -1), (3, -5))):
    calls[f"conv {pads}"] = lambda p=pads: xo.conv_with_general_padding(
        x, k, (1, 1), p)
    calls[f"conv larger {pads}"] = lambda p=pads: xo.conv_with_general_padding(
        np.ones((1, 1, 4, 4), f4), np.ones((1, 1, 2, 2), f4), (1, 1), p)
calls["no batch"] = lambda: xo.conv(x[:0], k, (1, 1), "SAME")
calls["no features"] = lambda: xo.conv(x[:, :0], k[:, :0], (1, 1), "SAME")
calls["no window"] = lambda: xo.conv(x, k[..., :0], (1, 1), "VALID")
for t in ("int4", "int8", "float8_e4m3fn", "bfloat16", "bool"):
    calls[f"conv {t}"] = lambda t=t: xo.conv(
        x.astype(t), k.astype(t), (1, 1), "SAME")
""",
    "narrow types": """
for t in ("int2", "uint2", "int4", "uint4", "float8_e4m3b11fnuz", "float4_e2m1fn",
          "float8_e8m0fnu", "bool"):
    x = np.ones((2, 3), getattr(ml_dtypes, t, None) or t)
    calls[f"concat {t}"] = lambda x=x: xo.concat_in_dim([x, x], 0)
    calls[f"pad {t}"] = lambda x=x: xo.pad(x, x[0, 0], ((1, -1, 0), (0, 0, 1)))
    calls[f"dot {t}"] = lambda x=x: xo.dot(x, x.T)
    calls[f"clz {t}"] = lambda x=x: xo.clz(x)
    calls[f"population_count {t}"] = lambda x=x: xo.population_count(x)
    calls[f"top_k {t}"] = lambda x=x: xo.top_k(x, 1)
    calls[f"rev {t}"] = lambda x=x: xo.rev(x, (0,))
    calls[f"gather {t}"] = lambda x=x: xo.gather(
        x, np.array([[0]], i4), ((1,), (0,), (0,), 1), (1, 3))
    calls[f"bitcast {t}"] = lambda x=x: xo.bitcast_convert_type(x, "u8")
    calls[f"convert {t}"] = lambda x=x: xo.convert_element_type(x, "f32")
    calls[f"dynamic_slice {t}"] = lambda x=x: xo.dynamic_slice(x, [1, -1], (1, 2))
    calls[f"shift {t}"] = lambda x=x: xo.shift_left(x, x)
    calls[f"abs {t}"] = lambda x=x: xo.abs(x)
    calls[f"clamp {t}"] = lambda x=x: xo.clamp(x, x, x)
    calls[f"compare {t}"] = lambda x=x: xo.lt_total_order(x, x)
""",
    "empty arrays": """
e = np.zeros((0, 3), f4)
calls["dot"] = lambda: xo.dot(e, e.T)
calls["dot of nothing"] = lambda: xo.dot(e.T, e)
calls["concat"] = lambda: xo.concat_in_dim([e, e], 0)
calls["top_k"] = lambda: xo.top_k(e, 0)
calls["top_k of nothing"] = lambda: xo.top_k(e.T, 0)
calls["top_k too many"] = lambda: xo.top_k(e.T, 1)
calls["gather"] = lambda: xo.gather(
    e, np.zeros((2, 1), i4), ((1,), (0,), (0,), 1), (1, 3))
calls["gather none"] = lambda: xo.gather(
    np.ones((2, 3), f4), np.zeros((0, 1), i4), ((1,), (0,), (0,), 1), (1, 3))
calls["gather no size"] = lambda: xo.gather(
    np.ones((2, 3), f4), np.zeros((2, 1), i4), ((1,), (0,), (0,), 1), (0, 3))
calls["dynamic_slice"] = lambda: xo.dynamic_slice(e, [0, 0], (0, 3))
calls["dynamic_slice of nothing"] = lambda: xo.dynamic_slice(e, [5, 5], (1, 3))
calls["dynamic_update_slice"] = lambda: xo.dynamic_update_slice(e, e, [3, 0])
for shape in ((0, 0), (2, 0, 0), (0, 2, 2)):
    z = np.zeros(shape, f4)
    calls[f"cholesky {shape}"] = lambda z=z: xo.cholesky(z, True)
    calls[f"triangular_solve {shape}"] = lambda z=z: xo.triangular_solve(
        z, z, True, True, False, "NO_TRANSPOSE")
for kind, t in (("FFT", "complex64"), ("RFFT", "float32"), ("IRFFT", "complex64")):
    for shape, lengths in (((0, 4), (4,)), ((4, 0), (0,)), ((3,), (0,)), ((3,), (1,))):
        calls[f"fft {kind} {shape} {lengths}"] = (
            lambda k=kind, s=shape, t=t, n=lengths: xo.fft(np.ones(s, t), k, n))
calls["iota"] = lambda: xo.iota("f32[0]", 0)
calls["rev"] = lambda: xo.rev(e, (0,))
calls["collapse"] = lambda: xo.collapse(e, (0, 1))
calls["ragged_dot"] = lambda: xo.ragged_dot(
    e, np.ones((1, 3, 2), f4), np.zeros(1, i4),
    (xo.DotDimensionNumbers((1,), (1,)), (0,), (0,)))
calls["ragged_dot no groups"] = lambda: xo.ragged_dot(
    np.ones((2, 3), f4), np.ones((0, 3, 2), f4), np.zeros(0, i4),
    (xo.DotDimensionNumbers((1,), (1,)), (0,), (0,)))
""",
    "numbers far outside": """
x = np.arange(6, dtype=f4).reshape(2, 3)
for t in ("int8", "uint8", "int32", "uint32", "int64", "uint64"):
    info = np.iinfo(t)
    for i in (info.min, info.max):
        index = np.array([[i]], t)
        calls[f"gather {t} {i}"] = lambda n=index: xo.gather(
            x, n, ((1,), (0,), (0,), 1), (1, 3))
        calls[f"dynamic_slice {t} {i}"] = lambda n=index: xo.dynamic_slice(
            x, [n[0, 0], n[0, 0]], (1, 2))
        calls[f"dynamic_update_slice {t} {i}"] = (
            lambda n=index: xo.dynamic_update_slice(x, x[:1, :2], [n[0, 0], n[0, 0]]))
        calls[f"conditional {t} {i}"] = lambda n=index: xo.conditional(
            n[0, 0].astype(i4), [lambda v: v, lambda v: -v], [1.0, 2.0])
for bits in (0, 1, 8, 9, 2**31):
    for mantissa in (-1, 0, 23, 52, 2**31):
        calls[f"reduce_precision {bits} {mantissa}"] = (
            lambda b=bits, m=mantissa: xo.reduce_precision(x, b, m))
calls["pad"] = lambda: xo.pad(x, f4(0), ((-2, -2, 0), (0, 0, 0)))
calls["pad interior"] = lambda: xo.pad(x, f4(0), ((0, 0, -1), (0, 0, 0)))
calls["slice"] = lambda: xo.slice(x, (1, 2), (1, 9), (1, 1))
calls["slice stride"] = lambda: xo.slice(x, (0, 0), (2, 3), (2**40, 1))
calls["iota"] = lambda: xo.iota("s8[300]", 0)
calls["shape"] = lambda: xo.reshape(x, (-6, -1))
""",
    "more bytes than XLA counts": """
x, image = np.ones((2, 3), f4), np.ones((1, 1, 4, 4), f4)
kernel = np.ones((1, 1, 2, 2), f4)
for n in (2**31, 2**40, 2**62):
    square = f"f32[{n},{n}]"
    calls[f"broadcast {n}"] = lambda n=n: xo.broadcast(x, (n, n))
    calls[f"broadcast_in_dim {n}"] = (
        lambda n=n: xo.broadcast_in_dim(x[0, 0], (n, n), ()))
    calls[f"iota {n}"] = lambda s=square: xo.iota(s, 0)
    calls[f"rng_uniform {n}"] = lambda s=square: xo.rng_uniform(0.0, 1.0, s)
    calls[f"rng_normal {n}"] = lambda s=square: xo.rng_normal(0.0, 1.0, s)
    calls[f"rng_bit_generator {n}"] = lambda s=square: xo.rng_bit_generator(
        "RNG_DEFAULT", np.zeros(4, np.uint32), s)
    calls[f"pad {n}"] = lambda n=n: xo.pad(x, f4(0), ((n, 0, 0), (n, 0, 0)))
    calls[f"pad and crop {n}"] = lambda n=n: xo.pad(
        x, f4(0), ((0, 0, 0), (n, 4 - n, 0)))
    calls[f"pad interior {n}"] = lambda n=n: xo.pad(x, f4(0), ((0, 0, n), (0, 0, n)))
    calls[f"conv padding {n}"] = lambda n=n: xo.conv_with_general_padding(
        image, kernel, (1, 1), ((n, 0), (n, 0)))
    calls[f"pad_in_dim {n}"] = lambda n=n: xo.pad_in_dim(x, f4(0), 1, n * n, 0)
    # XLA multiplies the sizes beside a zero as well.
    none = f"f32[{n},{n},0]"
    calls[f"broadcast none {n}"] = lambda n=n: xo.broadcast(x, (n, n, 0))
    calls[f"iota none {n}"] = lambda s=none: xo.iota(s, 0)
    calls[f"rng_uniform none {n}"] = lambda s=none: xo.rng_uniform(0.0, 1.0, s)
    calls[f"reshape none {n}"] = lambda n=n: xo.reshape(x[:0], (0, n, n))
    calls[f"infer none {n}"] = lambda n=n: xo.reshape_with_inferred_dimension(
        x[:0], (n, n, 0), -1)
    calls[f"pad none {n}"] = lambda n=n: xo.pad(
        x[:0, :, None], f4(0), ((0, 0, 0), (n, 0, 0), (n, 0, 0)))
    calls[f"window none {n}"] = lambda n=n: xo.reduce_window(
        [x[:0]], [f4(0)], xo.add, (1, 1), (1, 1), ((n, -n), (n, 0)))
    calls[f"slice {n}"] = lambda n=n: xo.slice(x, (0, 0), (2, 3), (1, 2 * n))
    calls[f"slice_in_dim {n}"] = lambda n=n: xo.slice_in_dim(x, 0, 2, 2 * n, 0)
    for padding in (((0, 0), (0, 0)), ((n, n), (0, 0)), "SAME", "VALID"):
        for lhs, rhs in ((n, 1), (1, n)):
            if padding == "VALID" and lhs == 1 or n > 2**31 or lhs > 1:
                calls[f"conv dilation {n} {padding} {lhs}"] = (
                    lambda p=padding, l=lhs, r=rhs: xo.conv_general_dilated(
                        image, kernel, (1, 1), p, (l, l), (r, r),
                        ("NCHW", "OIHW", "NCHW")))
""",
    "divisions in computations": """
from jax import lax

x, y = np.array([7, 0, 3], i4), np.array([1, 0], i4)
elements = scattering((), (0,), (0,), 1)
COMPUTATIONS = {
    "of operands": lambda op: op,
    "by a constant": lambda op: lambda a, b: op(a, jnp.int32(0)),
    "by what is folded": lambda op: lambda a, b: op(a, lax.sub(i4(2), i4(2))),
    "of one": lambda op: lambda a, b: op(a, lax.sub(b, b)),
}
for op in (lax.div, lax.rem):
    for which, of in COMPUTATIONS.items():
        f, n = of(op), f"{op.__name__} {which}"
        calls["reduce " + n] = lambda f=f: xo.reduce([x], [i4(5)], f, [0])
        calls["reduce_window " + n] = lambda f=f: xo.reduce_window(
            [x], [i4(5)], f, [2], [1], "SAME")
        calls["scatter " + n] = lambda f=f: xo.scatter(
            [x], y[:, None], [y], f, elements)
        calls["select_and_scatter " + n] = lambda f=f: xo.select_and_scatter(
            x, xo.ge, [2], [1], "VALID", y, i4(5), f)
        calls["sort " + n] = lambda f=f: xo.sort([x], lambda a, b: f(a, b) < 1)
        calls["map " + n] = lambda f=f: xo.map([x, x], f, [0])
""",
    "windows beyond what XLA counts": """
x, zero = np.ones((2, 3), f4), f4(0)
xo.effects.configure(timeout=0.05)
ALL = (xo.add, jnp.logaddexp)
for n in (2**31, 2**40, 2**62):
    for f in ALL:
        for sizes, strides, padding, dilations in (
            ((1, 1), (1, 1), ((n, 0), (n, 0)), {}),
            ((n, n), (1, 1), "SAME", {}),
            ((n, n), (1, 1), "VALID", {}),
            ((1, 2), (n, n), "VALID", {}),
            ((2, 2), (1, 1), "SAME", {"window_dilations": (n, n)}),
            ((2, 2), (1, 1), "VALID", {"base_dilations": (n, n)}),
            ((1, 1), (1, 1), ((n, -n), (0, 0)), {}),
        ):
            calls[f"window {n} {f} {sizes} {strides} {padding} {dilations}"] = (
                lambda f=f, a=(sizes, strides, padding), d=dilations:
                    xo.reduce_window([x], [zero], f, *a, **d))
    for sizes, padding in (
        ((1, 1), ((n, 0), (n, 0))), ((n, n), "SAME"), ((1, 1), ((n, -n), (0, 0))),
    ):
        calls[f"select_and_scatter {n} {sizes} {padding}"] = (
            lambda s=sizes, p=padding: xo.select_and_scatter(
                x, xo.ge, s, (1, 1), p, x, zero, xo.add))
    part = lambda: xo.set_dimension_size(x, 1, 0)
    calls[f"pad {n}"] = lambda n=n: xo.pad(part(), zero, ((n, 0, 0), (n, 0, 0)))
    calls[f"dynamic window {n}"] = lambda n=n: xo.reduce_window(
        [part()], [zero], xo.add, (n, 1), (1, 1), "SAME")
    calls[f"infeed {n}"] = lambda n=n: xo.infeed(f"f32[{n},{n}]")
""",
    "types in computations": """
elements = scattering((), (0,), (0,), 1)
numbers = np.arange(5, dtype=f4)
largest = lambda a, b: jnp.where(a > b, a, b)
two = lambda a, b, v, w: (jnp.where(w > b, v, a), jnp.where(w > b, w, b))
for t in ("int2", "uint4", "float8_e4m3b11fnuz", "float4_e2m1fn", "float8_e8m0fnu",
          "bool", "float16"):
    x = np.ones(5, getattr(ml_dtypes, t, None) or t)
    at = np.array([[0], [3], [0]], i4)
    for n, f in (("add", xo.add), ("max", xo.max), ("largest", largest)):
        calls[f"reduce {n} {t}"] = lambda x=x, f=f: xo.reduce([x], [x[0]], f, [0])
        calls[f"reduce_window {n} {t}"] = lambda x=x, f=f: xo.reduce_window(
            [x], [x[0]], f, [2], [1], "SAME")
        calls[f"scatter {n} {t}"] = lambda x=x, f=f: xo.scatter(
            [x], at, [x[:3]], f, elements)
        calls[f"select_and_scatter {n} {t}"] = lambda x=x, f=f: xo.select_and_scatter(
            x, lambda a, b: a == b, [2], [1], "VALID", x[:4], x[0], f)
    calls[f"reduce two {t}"] = lambda x=x: xo.reduce(
        [x, numbers], [x[0], f4(0)], two, [0])
    calls[f"reduce_window two {t}"] = lambda x=x: xo.reduce_window(
        [x, numbers], [x[0], f4(0)], two, [2], [1], "SAME")
    calls[f"scatter two {t}"] = lambda x=x: xo.scatter(
        [x, numbers], at, [x[:3], numbers[:3]], two, elements)
    calls[f"sort two {t}"] = lambda x=x: xo.sort(
        [numbers, x], lambda a, b, *_: a > b)
    part = lambda x=x: xo.set_dimension_size(jnp.asarray(x), 2, 0)
    calls[f"dynamic {t}"] = lambda p=part, x=x: (
        xo.reduce([p()], [x[0]], largest, [0]), xo.sort([p()], lambda a, b: a < b),
        xo.concat_in_dim([p(), p()], 0))
    calls[f"batch_norm_training {t}"] = lambda x=x: xo.batch_norm_training(
        x[:, None], x[:1], x[:1], 0.1, 1)
""",
    "computations of nothing": """
rows = scattering((1,), (0,), (0,), 1)
e, x, two = np.zeros((0, 3), f4), np.ones((2, 3), f4), f4(2)
for n, f in (("add", xo.add), ("lambda", lambda a, b: a * b + a)):
    for z in (e, x[:, :0]):
        for dims in ((), (0,), (0, 1)):
            calls[f"reduce {n} {z.shape} {dims}"] = (
                lambda z=z, f=f, d=dims: xo.reduce([z], [two], f, d))
        for pads in ("SAME", ((1, 1), (1, 1)), ((3, -1), (0, 0)), ((-1, 3), (-1, 3))):
            window = (2, 1), (1, 1), pads
            calls[f"reduce_window {n} {z.shape} {pads}"] = (
                lambda z=z, f=f, w=window: xo.reduce_window([z], [two], f, *w))
            calls[f"select_and_scatter {n} {z.shape} {pads}"] = (
                lambda z=z, f=f, w=window: xo.select_and_scatter(
                    z, xo.ge, *w, xo.reduce_window([z], [two], f, *w), two, f))
        calls[f"batch_norm {z.shape}"] = lambda z=z: jax.grad(
            lambda z: xo.batch_norm_training(z, z.sum(0), z.sum(0), 0.1, 1)[0].sum()
        )(jnp.asarray(z))
        calls[f"sort {z.shape}"] = lambda z=z: xo.sort([z], xo.lt, 0)
    calls[f"no indices {n}"] = lambda f=f: xo.scatter(
        [x], np.zeros((0, 1), i4), [e], f, rows)
    calls[f"into nothing {n}"] = lambda f=f: xo.scatter(
        [e], np.zeros((2, 1), i4), [x], f, rows)
    calls[f"into a scalar {n}"] = lambda f=f: xo.scatter(
        [f4(1)], np.zeros((4, 0), i4), [np.ones(4, f4)], f,
        scattering((), (), (), 1))
""",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_process_goes_on(family):
    run = "\nfor name, call in calls.items(): attempt(name, call)\nprint('survived')\n"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + FAMILIES[family] + run],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        check=False,
    )
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, (last, done.stderr[-2000:])
    assert last == ["survived"]
