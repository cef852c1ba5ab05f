"""Whole programs: what analysis says against what changes when they run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from xlaops.indexing.analysis import analyze

from .observed import Arg, changes, related
from .program_steps import shaped

_MAX = 24


def _random_step(rng, shape):
    """A function of an array of that shape, or None."""
    rank = len(shape)
    axis = int(rng.integers(rank)) if rank else 0
    n = shape[axis] if rank else 1
    kind = rng.choice(
        [
            *("reshape", "transpose", "rev", "slice", "pad", "sum", "cumsum", "concat"),
            *("add flipped", "broadcast", "take", "scatter", "mask", "window", "dot"),
            *("scan", "cond", "dynamic", "sort", "roll", "softmax", "add row"),
        ]
    )
    if kind == "reshape":
        new = shaped(rng, int(np.prod(shape)))
        return lambda x: x.reshape(new)
    if not rank:
        return (lambda x: x[None] * jnp.ones((3,))) if kind == "broadcast" else None
    if kind == "transpose":
        order = tuple(int(i) for i in rng.permutation(rank))
        return lambda x: x.transpose(order)
    if kind == "rev":
        return lambda x: lax.rev(x, (axis,))
    if kind == "slice" and n > 1:
        start, step = int(rng.integers(n - 1)), int(rng.integers(1, 3))
        return lambda x: lax.slice_in_dim(x, start, n, step, axis)
    if kind == "pad":
        low, high = (int(k) for k in rng.integers(-1, 3, 2))
        inner = int(rng.integers(2))
        if n + low + high < 1 or n < 3:
            return None
        config = [(low, high, inner) if i == axis else (0, 0, 0) for i in range(rank)]
        return lambda x: lax.pad(x, jnp.float32(1), config)
    if kind == "sum":
        return lambda x: x.sum(axis)
    if kind == "cumsum":
        reverse = bool(rng.integers(2))
        return lambda x: lax.cumsum(x, axis, reverse)
    if kind == "concat":
        return lambda x: jnp.concatenate([x, lax.rev(x, (axis,))], axis)
    if kind == "add flipped":
        return lambda x: x + jnp.flip(x)
    if kind == "add row":
        return lambda x: x + lax.slice_in_dim(x, 0, 1, axis=axis)
    if kind == "broadcast" and rank < 3:
        return lambda x: jnp.broadcast_to(jnp.expand_dims(x, axis), _with(shape, axis))
    if kind == "take":
        index = rng.integers(0, n, int(rng.integers(1, 4)))
        return lambda x: jnp.take(x, jnp.array(index), axis, mode="clip")
    if kind == "scatter":
        index = jnp.array(rng.integers(0, n, 2))
        return lambda x: jnp.moveaxis(
            jnp.moveaxis(x, axis, 0)
            .at[index]
            .add(jnp.moveaxis(x, axis, 0)[jnp.array([0, n - 1])]),
            0,
            axis,
        )
    if kind == "mask" and rank > 1:
        keep = np.subtract.outer(np.arange(shape[-2]), np.arange(shape[-1]))
        keep = np.broadcast_to(keep >= int(rng.integers(-1, 2)), shape)
        return lambda x: jnp.where(keep, x, 0)
    if kind == "window":
        window = [2 if i == axis else 1 for i in range(rank)]
        strides = [int(rng.integers(1, 3)) if i == axis else 1 for i in range(rank)]
        return lambda x: lax.reduce_window(x, 0.0, lax.add, window, strides, "SAME")
    if kind == "dot":
        weights = jnp.ones((n, 3)) * 0.5
        return lambda x: jnp.tensordot(x, weights, ((axis,), (0,)))
    if kind == "scan":
        return lambda x: lax.scan(
            lambda c, a: (c + a, c * 2 + a), jnp.zeros(shape[1:]), x
        )[1]
    if kind == "cond" and rank > 1 and shape[0] == shape[1]:
        return lambda x: lax.cond(
            x.sum() > 0, lambda a: a, lambda a: jnp.swapaxes(a, 0, 1), x
        )
    if kind == "dynamic" and n > 1:
        return lambda x: lax.dynamic_slice_in_dim(
            x, (abs(x.sum()) * 7).astype(np.int32) % n, n - 1, axis
        )
    if kind == "sort":
        return lambda x: lax.sort(x, dimension=axis)
    if kind == "roll":
        return lambda x: jnp.roll(x, 1, axis)
    if kind == "softmax":
        return lambda x: jax.nn.softmax(x, axis)
    return None


def _with(shape, axis):
    return (*shape[:axis], 2, *shape[axis:])


def _stirred(x):
    """Every element changed in its own way, so that nothing cancels by chance."""
    factors = 1 + 0.37 * jnp.arange(x.size, dtype=x.dtype).reshape(x.shape) % 1.9
    return jnp.sin(x * factors) + x


def _random_program(seed):
    rng = np.random.default_rng(seed)
    shape = shaped(rng, int(rng.choice([6, 8, 12])))
    start, steps = shape, []
    while len(steps) < int(rng.integers(2, 6)):
        step = _random_step(rng, shape)
        if step is None:
            continue
        made = jax.eval_shape(step, jax.ShapeDtypeStruct(shape, np.float32))
        if 0 < made.size <= _MAX:
            steps.append(step)
            shape = made.shape

    def program(x):
        for step in steps:
            x = _stirred(step(x))
        return x

    return program, Arg(start)


@pytest.mark.parametrize("seed", range(24))
def test_random_program(seed):
    program, arg = _random_program(seed)
    analysis = analyze(program, arg.struct)
    ((truth,),) = changes(program, [arg], draws=32, seed=seed)
    maps = analysis.output_to_input()
    made = analysis.outputs[0].shape
    matrix = related(maps, made, arg.shape)
    texts = [*map(str, maps), *[r for m in maps for r in m.reasons]]
    assert not (truth & ~matrix).any(), texts
    back = related(analysis.input_to_output(), arg.shape, made)
    np.testing.assert_array_equal(back.T, matrix)
    if all(m.exact for m in maps):
        # Never a superset of what could be: at most what draws may have missed.
        extra = matrix & ~truth
        assert extra.sum() <= 0.02 * matrix.size, (np.argwhere(extra)[:5], texts)


def _layer(p, x):
    def normalised(x):
        x = x - x.mean(-1, keepdims=True)
        return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)

    batch, length, width = x.shape
    parts = jnp.split(normalised(x) @ p["qkv"], 3, -1)
    q, k, v = (
        y.reshape(batch, length, 2, width // 2).transpose(0, 2, 1, 3) for y in parts
    )
    scores = q @ k.transpose(0, 1, 3, 2)
    scores = jnp.where(jnp.tri(length, dtype=bool)[None, None], scores, -1e9)
    mixed = (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3)
    x = x + mixed.reshape(x.shape) @ p["out"]
    return x + jax.nn.gelu(normalised(x) @ p["up"]) @ p["down"]


def test_gradient_of_a_transformer_layer():
    """All maps are exact, none is unknown, and depth does not add to them."""
    shapes = {"qkv": (8, 24), "out": (8, 8), "up": (8, 32), "down": (32, 8)}
    p = {k: jax.ShapeDtypeStruct(s, np.float32) for k, s in shapes.items()}
    x = jax.ShapeDtypeStruct((2, 5, 8), np.float32)

    def loss(layers, x):
        for q in layers:
            x = _layer(q, x)
        return (x**2).mean()

    most = []
    for depth in (1, 3):
        analysis = analyze(jax.grad(loss), [p] * depth, x)
        maps = [analysis.output_to_input(0, i) for i in range(len(analysis.inputs))]
        assert not analysis.undefined
        assert not analysis.widened
        assert all(m.exact for group in maps for m in group)
        assert all(maps)
        most.append(max(map(len, maps)))
    assert max(most) <= 6


def test_a_step_of_the_demonstration():
    from xlaops.demo import training

    state = jax.eval_shape(lambda: training.init(channels=(4, 8)))
    images = jax.ShapeDtypeStruct((8, 8, 8, 1), np.float32)
    labels = jax.ShapeDtypeStruct((8,), np.int32)
    analysis = analyze(
        lambda s, x, y: training.step(s, x, y, total_steps=9), state, images, labels
    )
    for name in analysis.output_names[:4]:
        assert analysis.output_to_input(name, len(analysis.inputs) - 2)
    assert not analysis.undefined
    assert not analysis.widened
