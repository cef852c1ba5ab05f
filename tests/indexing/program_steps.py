"""Programs of several inputs and of many kinds of operations, by number.

A program takes an array of floats, a vector of four floats and an index, and each of
its steps is drawn from all that can be done with the array that the last one made.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .observed import Arg

MOST = 24
MODES = ("clip", "fill", "promise_in_bounds")
ARGS = (Arg((4,)), Arg((), "int32", -2, 9))


def shaped(rng, n):
    """A shape of n elements, of up to three dimensions."""
    shape = []
    while n > 1 and len(shape) < 2:
        factors = [k for k in range(2, n + 1) if n % k == 0]
        shape.append(int(rng.choice(factors)))
        n //= shape[-1]
    return (*shape, n) if n > 1 or not shape else tuple(shape)


def _int(rng, low, high):
    return int(rng.integers(low, high))


def _along(function):
    """What is done with an array whose axis is the first one."""

    def draw(rng, shape):
        axis = _int(rng, 0, len(shape))
        inner = function(rng, (shape[axis], *shape[:axis], *shape[axis + 1 :]))
        if inner is None:
            return None
        return lambda x, y, i: inner(jnp.moveaxis(x, axis, 0), y, i)

    return draw


def _gathered(rng, shape):
    index = rng.integers(0, shape[0], 3)
    mode = str(rng.choice(MODES[:2]))
    if mode != MODES[2]:
        index = index + rng.integers(-1, 3, 3)
    if rng.integers(2):
        index = np.abs(index)
    return lambda x, y, i: x.at[jnp.array(index)].get(mode=mode, fill_value=0)


def _gathered_at(rng, shape):
    mode, step = str(rng.choice(MODES[:2])), _int(rng, 1, 3)
    return lambda x, y, i: x.at[(i * step + jnp.arange(3))].get(mode=mode)


def _gathered_by_arithmetic(rng, shape):
    a, b = _int(rng, 1, 4), _int(rng, 0, 4)
    n = shape[0]
    return lambda x, y, i: x[(jnp.arange(n) * a + b) % n]


def _scattered(rng, shape):
    index = jnp.array(rng.integers(-2, shape[0] + 2, 2))
    kind = str(rng.choice(["set", "add", "multiply", "min", "max"]))
    mode = str(rng.choice(["clip", "drop"]))
    return lambda x, y, i: getattr(x.at[index], kind)(x[::-1][:1] * 0.7, mode=mode)


def _scattered_at(rng, shape):
    kind = str(rng.choice(["set", "add", "max"]))
    return lambda x, y, i: getattr(x.at[i], kind)(y[0] * 1.7, mode="drop")


def _scattered_vectors(rng, shape):
    if len(shape) < 2:
        return None
    rows = jnp.array(rng.integers(0, shape[0], 3))
    columns = jnp.array(rng.integers(0, shape[1], 3))
    value = jnp.array(rng.standard_normal(3), jnp.float32)
    kind = str(rng.choice(["set", "add"]))
    return lambda x, y, i: getattr(x.at[rows, columns], kind)(
        value.reshape(3, *[1] * (len(shape) - 2)) * y[1]
    )


def _border(rng, shape):
    which = (0, -1, slice(1, -1), slice(None, None, 2))[_int(rng, 0, 4)]
    return lambda x, y, i: x.at[which].set(y[2] + x[:1].sum())


def _window(rng, shape):
    rank = len(shape)
    sizes = [_int(rng, 1, min(n, 3) + 1) for n in shape]
    strides = [_int(rng, 1, 3) for _ in shape]
    dilation = [_int(rng, 1, 3) for _ in shape]
    pad = [(_int(rng, 0, 2), _int(rng, 0, 2)) for _ in shape]
    start, op = ((-np.inf, lax.max), (0.0, lax.add))[_int(rng, 0, 2)]
    return lambda x, y, i: lax.reduce_window(
        x, start, op, sizes, strides, pad, (1,) * rank, dilation
    )


def _convolution(rng, shape):
    n = int(np.prod(shape))
    if n % 2:
        return None
    groups = _int(rng, 1, 3)
    weights = jnp.array(
        rng.standard_normal((2, 2 // groups, _int(rng, 1, 4))), jnp.float32
    )
    numbers = {
        "window_strides": (_int(rng, 1, 3),),
        "padding": [(_int(rng, 0, 3), _int(rng, -1, 2))],
        "lhs_dilation": (_int(rng, 1, 3),),
        "rhs_dilation": (_int(rng, 1, 3),),
        "feature_group_count": groups,
    }
    return lambda x, y, i: lax.conv_general_dilated(
        x.reshape(1, 2, n // 2), weights, **numbers
    )[0]


def _scan(rng, shape):
    reverse, kind = bool(rng.integers(2)), _int(rng, 0, 3)

    def body(c, a):
        mixed = (c + a, jnp.roll(c, 1) + a, a * 1.5 + c[::-1])[kind]
        return mixed, (mixed * 2, c)[kind % 2]

    def run(x, y, i):
        rows = x.reshape(x.shape[0], -1)
        last, made = lax.scan(body, rows[0] * 0.3, rows, reverse=reverse)
        return made if kind else jnp.concatenate([made, last[None]])

    return run


def _fori(rng, shape):
    rounds, shift = _int(rng, 1, 9), _int(rng, 0, 3)
    return lambda x, y, i: lax.fori_loop(
        0, rounds, lambda k, c: c + 0.5 * jnp.roll(c, shift, 0) + y[k % 4], x
    )


def _while(rng, shape):
    return lambda x, y, i: lax.while_loop(
        lambda c: c[0] < i, lambda c: (c[0] + 1, jnp.roll(c[1], 1, 0) * 1.1), (0, x)
    )[1]


def _switch(rng, shape):
    return lambda x, y, i: lax.switch(
        i, [lambda x: x, lambda x: x[::-1], lambda x: x * y[3]], x
    )


def _sorted(rng, shape):
    def run(x, y, i):
        keys = jnp.sin(x * 3)
        return lax.sort((keys, x), dimension=0, num_keys=1)[1]

    return run


def _masked(rng, shape):
    if len(shape) < 2:
        return None
    k = _int(rng, -1, 3)

    def run(x, y, i):
        a = lax.broadcasted_iota(jnp.int32, x.shape, 0)
        b = lax.broadcasted_iota(jnp.int32, x.shape, 1)
        mask = (a >= b + k, a == k, a + b < 3, (a * 2 + b) % 3 == 1)[k % 4]
        return jnp.where(mask, x, y[0])

    return run


def _solved(rng, shape):
    n = shape[0]
    if n > 4:
        return None
    return lambda x, y, i: jnp.linalg.solve(
        4 * jnp.eye(n) + jnp.outer(y, y)[:n, :n], x.reshape(n, -1)
    )


def _updated(rng, shape):
    if shape[0] < 2:
        return None
    kind = _int(rng, 0, 4)
    return lambda x, y, i: lax.dynamic_update_slice_in_dim(
        x, x[:2] * 0.3, (i, 0, i // 2, 7)[kind], 0
    )


def _sliced(rng, shape):
    n, kind = shape[0], _int(rng, 0, 4)
    size = _int(rng, 1, n + 1)

    def run(x, y, i):
        start = (i, n - i, (i * 2) % n, jnp.minimum(i, 1))[kind]
        return lax.dynamic_slice_in_dim(x, start, size, 0)

    return run


def _batched(rng, shape):
    return lambda x, y, i: jax.vmap(lambda r: r[i % r.shape[0]] * r)(x)


def _rows(function):
    """What needs a matrix."""
    return lambda rng, shape: function(rng, shape) if len(shape) > 1 else None


STEPS = {
    "gather": _along(_gathered),
    "gather at an index": _along(_gathered_at),
    "gather by arithmetic": _along(_gathered_by_arithmetic),
    "scatter": _along(_scattered),
    "scatter at an index": _along(_scattered_at),
    "scatter of vectors": _scattered_vectors,
    "border": _along(_border),
    "window": _window,
    "convolution": _convolution,
    "scan": _along(_scan),
    "fori": _along(_fori),
    "while": _along(_while),
    "switch": _along(_switch),
    "sort by keys": _along(_sorted),
    "mask": _masked,
    "solve": _along(_solved),
    "dynamic update": _along(_updated),
    "dynamic slice": _along(_sliced),
    "batched index": _rows(_batched),
    "top k": lambda rng, shape: lambda x, y, i: lax.top_k(x, min(2, shape[-1]))[0],
    "fft": lambda rng, shape: lambda x, y, i: abs(jnp.fft.rfft(x + 0.1)),
    "cummax": _along(lambda rng, shape: lambda x, y, i: lax.cummax(x, 0)),
    "cumlogsumexp": _along(lambda rng, shape: lambda x, y, i: lax.cumlogsumexp(x, 0)),
    "associative": _along(
        lambda rng, shape: lambda x, y, i: lax.associative_scan(jnp.add, x)
    ),
    "argmax": _along(lambda rng, shape: lambda x, y, i: x[jnp.argmax(y) % len(x)] + x),
    "einsum": _along(
        lambda rng, shape: lambda x, y, i: jnp.einsum("a...,b->...ab", x, y[:2])
    ),
    "reshape": lambda rng, shape: (
        lambda new: lambda x, y, i: x.reshape(new)
    )(shaped(rng, int(np.prod(shape)))),
    "reduce": _along(lambda rng, shape: lambda x, y, i: x.max(0) + y[0]),
    "flip": _along(lambda rng, shape: lambda x, y, i: x + x[::-1]),
    "transpose": lambda rng, shape: lambda x, y, i: x.T,
    "pad": _along(
        lambda rng, shape: (
            lambda mode: lambda x, y, i: jnp.pad(
                x, [(1, 1), *[(0, 0)] * (x.ndim - 1)], mode=mode
            )
        )(str(rng.choice(["wrap", "edge", "reflect", "constant"])))
    ),
}  # fmt: skip


def _stirred(x):
    """Every element changed in its own way, so that nothing cancels by chance."""
    factors = 1 + 0.37 * jnp.arange(x.size, dtype=x.dtype).reshape(x.shape) % 1.9
    return jnp.sin(x * factors) + x


def drawn(seed, kinds=tuple(STEPS)):
    """A program, its arguments, and the names of its steps."""
    rng = np.random.default_rng(seed)
    shape = shaped(rng, int(rng.choice([4, 6, 8, 12])))
    start, steps, names = shape, [], []
    others = [a.struct for a in ARGS]
    count = _int(rng, 2, 7)
    for _ in range(100):
        if len(steps) == count:
            break
        name = str(rng.choice(kinds))
        step = STEPS[name](rng, shape) if shape else None
        if step is None:
            continue
        try:
            made = jax.eval_shape(
                step, jax.ShapeDtypeStruct(shape, np.float32), *others
            )
        except (TypeError, ValueError, IndexError):
            continue
        if 0 < made.size <= MOST and made.ndim < 4:
            steps.append(step)
            names.append(name)
            shape = made.shape

    def program(x, y, i):
        for step in steps:
            x = _stirred(step(x, y, i))
        return x

    return program, (Arg(start), *ARGS), names
