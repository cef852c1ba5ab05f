"""The network: convolutions, batch normalisation and max pooling, as pure functions.

Images are NHWC, kernels HWIO. Parameters are a pytree that the gradient is taken of;
the running moments of batch normalisation are a second one, which `apply` returns anew.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jax import Array

import xlaops as xo

_EPSILON = 1e-5
_FEATURES = 3  # the dimension of images that holds them
_CONVOLUTION = ("NHWC", "HWIO", "NHWC")


class Block(NamedTuple):
    """Parameters of a convolution and the batch normalisation behind it."""

    kernel: Array
    scale: Array
    offset: Array


class Parameters(NamedTuple):
    """All that is trained: the blocks, and the last layer's matrix and bias."""

    blocks: tuple[Block, ...]
    weights: Array
    bias: Array


class Moments(NamedTuple):
    """Running mean and variance of each feature of a block."""

    mean: Array
    variance: Array


Statistics = tuple[Moments, ...]


def init(
    key: Array,
    channels: Sequence[int] = (16, 32, 64),
    image_shape: tuple[int, int, int] = (8, 8, 1),
    classes: int = 10,
) -> tuple[Parameters, Statistics]:
    """Random parameters, and running moments to begin with.

    Args:
      key: a key of `jax.random`.
      channels: features of each block. All blocks but the first halve the image.
      image_shape: height, width and features of the images.
      classes: number of classes.

    Returns:
      Parameters and statistics, float32.

    Example:
      >>> import jax
      >>> from xlaops.demo import model
      >>> parameters, statistics = model.init(jax.random.key(0), channels=(16, 32))
      >>> [block.kernel.shape for block in parameters.blocks]
      [(3, 3, 1, 16), (3, 3, 16, 32)]
      >>> parameters.weights.shape
      (512, 10)
    """
    height, width, features = image_shape
    *keys, last = jax.random.split(key, len(channels) + 1)
    blocks, statistics = [], []
    for i, (block_key, channel) in enumerate(zip(keys, channels, strict=True)):
        zeros, ones = (_filled(value, channel) for value in (0.0, 1.0))
        kernel = _normal(block_key, (3, 3, features, channel), 9 * features)
        blocks.append(Block(kernel, scale=ones, offset=zeros))
        statistics.append(Moments(mean=zeros, variance=ones))
        features = channel
        if i > 0:
            height, width = height // 2, width // 2
    inputs = height * width * features
    weights = _normal(last, (inputs, classes), inputs)
    bias = _filled(0.0, classes)
    return Parameters(tuple(blocks), weights, bias), tuple(statistics)


def _filled(value: float, size: int) -> Array:
    # Not of the type of a Python number, which has 64 bits with jax_enable_x64.
    return xo.broadcast(np.float32(value), (size,))


def _normal(key: Array, shape: tuple[int, ...], inputs: int) -> Array:
    """Weights that keep the variance of ``inputs`` summands through a relu."""
    return xo.mul(jax.random.normal(key, shape, "float32"), math.sqrt(2 / inputs))


def apply(
    parameters: Parameters,
    statistics: Statistics,
    images: Array,
    *,
    training: bool = False,
    axis_name: str | None = None,
    momentum: float = 0.9,
) -> tuple[Array, Statistics]:
    """Logits of images, and the running moments after them.

    Args:
      parameters: as `init` makes them.
      statistics: likewise.
      images: [n, height, width, features].
      training: normalise with the moments of this batch, and move the running ones
        towards them; otherwise normalise with the running ones and return them as
        they are.
      axis_name: in training, the mesh axis of `jax.shard_map` over which the batch is
        spread: its moments are then those of the batch on all devices.
      momentum: what remains of the running moments after a batch.

    Returns:
      ``(logits, statistics)``; logits are [n, classes].

    Example:
      >>> import jax, jax.numpy as jnp
      >>> from xlaops.demo import model
      >>> parameters, statistics = model.init(jax.random.key(0), channels=(8,))
      >>> images = jnp.ones((5, 8, 8, 1))
      >>> logits, _ = jax.jit(model.apply)(parameters, statistics, images)
      >>> logits.shape
      (5, 10)
    """
    x = images
    updated = []
    for i, (block, moments) in enumerate(
        zip(parameters.blocks, statistics, strict=True)
    ):
        x = xo.conv_with_general_dimensions(
            x, block.kernel, (1, 1), "SAME", _CONVOLUTION
        )
        x, moments = _normalise(x, block, moments, training, axis_name, momentum)
        updated.append(moments)
        x = xo.max(x, 0.0)
        if i > 0:
            window = (1, 2, 2, 1)
            x = xo.reduce_window([x], [-math.inf], xo.max, window, window, "VALID")
    x = xo.reshape(x, (x.shape[0], math.prod(x.shape[1:])))
    products = xo.dot_general(x, parameters.weights, (((1,), (0,)), ((), ())))
    return xo.add(products, parameters.bias, (1,)), tuple(updated)


def _normalise(
    x: Array,
    block: Block,
    running: Moments,
    training: bool,
    axis_name: str | None,
    momentum: float,
) -> tuple[Array, Moments]:
    if not training:
        return _with_moments(x, block, running), running
    if axis_name is None:
        y, *moments = xo.batch_norm_training(
            x, block.scale, block.offset, _EPSILON, _FEATURES
        )
        batch = Moments(*moments)
    else:
        # BatchNormTraining sees one device's share of the batch only.
        batch = _moments_of_all(x, axis_name)
        y = _with_moments(x, block, batch)
    kept = jax.tree.map(lambda old: xo.mul(old, momentum), running)
    added = jax.tree.map(lambda new: xo.mul(new, 1 - momentum), batch)
    return y, jax.tree.map(xo.add, kept, added)


def _with_moments(x: Array, block: Block, moments: Moments) -> Array:
    return xo.batch_norm_inference(
        x,
        block.scale,
        block.offset,
        moments.mean,
        moments.variance,
        _EPSILON,
        _FEATURES,
    )


def _moments_of_all(x: Array, axis_name: str) -> Moments:
    """Moments of each feature over all devices, whose shares are equally large."""
    others = (0, 1, 2)
    devices = jax.sharding.get_abstract_mesh().shape[axis_name]
    count = float(devices * (x.size // x.shape[_FEATURES]))

    def mean_of_all(values: Array) -> Array:
        share = xo.reduce([values], [0.0], xo.add, others)
        return xo.div(xo.all_reduce(share, xo.add, axis_name=axis_name), count)

    mean = mean_of_all(x)
    centred = xo.sub(x, mean, (_FEATURES,))
    return Moments(mean, mean_of_all(xo.mul(centred, centred)))


def cross_entropy(logits: Array, labels: Array) -> Array:
    """The negative logarithm of the probability that each image's label is given.

    Args:
      logits: [n, classes].
      labels: [n] of integers.

    Returns:
      [n] of the element type of ``logits``.

    Example:
      >>> import jax.numpy as jnp
      >>> from xlaops.demo import model
      >>> model.cross_entropy(jnp.zeros((1, 4)), jnp.array([2]))
      Array([1.3862944], dtype=float32)
    """
    # The largest logit is taken off first: exp of the others cannot overflow then.
    largest = xo.reduce([logits], [-math.inf], xo.max, (1,))
    shifted = xo.sub(logits, largest, (0,))
    total = xo.reduce([xo.exp(shifted)], [0.0], xo.add, (1,))
    chosen = xo.mul(shifted, _one_hot(labels, logits))
    return xo.sub(xo.log(total), xo.reduce([chosen], [0.0], xo.add, (1,)))


def _one_hot(labels: Array, like: Array) -> Array:
    labels = xo.convert_element_type(labels, "s32")
    classes = xo.iota(jax.ShapeDtypeStruct(like.shape, labels.dtype), 1)
    return xo.convert_element_type(xo.eq(labels, classes, (0,)), like.dtype)


def predict(logits: Array) -> Array:
    """The class of the largest logit, the first of equal ones.

    Args:
      logits: [n, classes].

    Returns:
      int32[n]. Where a logit is NaN, the number of classes, which is none of them.

    Example:
      >>> import jax.numpy as jnp
      >>> from xlaops.demo import model
      >>> model.predict(jnp.array([[0.0, 3.0, 3.0], [5.0, 1.0, 2.0]]))
      Array([1, 0], dtype=int32)
    """
    classes = logits.shape[1]
    largest = xo.eq(logits, xo.reduce([logits], [-math.inf], xo.max, (1,)), (0,))
    indices = xo.iota(jax.ShapeDtypeStruct(logits.shape, "int32"), 1)
    return xo.reduce([xo.select(largest, indices, classes)], [classes], xo.min, (1,))
