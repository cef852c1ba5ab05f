"""Training and testing, data-parallel over any number of devices."""

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np
from jax import Array
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import xlaops as xo

from . import model, optimizer
from .data import Digits, evaluation_batches, training_batches

AXIS = "replica"
BATCH_SIZE = 128
EPOCHS = 20
CHANNELS = (16, 32, 64)
_LEARNING_RATE = 8e-3
_WEIGHT_DECAY = 1e-2

Report: TypeAlias = Callable[[int, int, str], Any]
# Of `jax.Device`, which type checkers do not take for a type.
Devices: TypeAlias = Sequence[Any]


class State(NamedTuple):
    """All that one step hands to the next."""

    parameters: model.Parameters
    statistics: model.Statistics
    adam: optimizer.AdamState


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """What came of training.

    Attributes:
      state: parameters, running moments and the optimizer's state at the end.
      train_loss: mean loss of the last epoch, on distorted images.
      test_loss: mean loss of the test images.
      predictions: int32[m], the digit that each test image was taken for.
      correct: how many of them are right.
      images: how many images the training took in, counted once an epoch.
      compile_seconds: time to trace and compile the two programs.
      train_seconds: time of all training steps, the making of batches included.
    """

    state: State
    train_loss: float
    test_loss: float
    predictions: np.ndarray
    correct: int
    images: int
    compile_seconds: float
    train_seconds: float

    @property
    def accuracy(self) -> float:
        """Share of the test images that were recognised."""
        return self.correct / len(self.predictions)

    @property
    def images_per_second(self) -> float:
        """Training images per second, compilation left out."""
        return self.images / self.train_seconds


def loss(
    parameters: model.Parameters,
    statistics: model.Statistics,
    images: Array,
    labels: Array,
    axis_name: str | None = None,
) -> tuple[Array, model.Statistics]:
    """Mean cross-entropy of a batch, and the running moments after it.

    Args:
      parameters: of the model.
      statistics: its running moments.
      images: [n, height, width, features], this device's share of the batch.
      labels: [n] of integers.
      axis_name: the mesh axis that the batch is spread over, if it is.

    Returns:
      ``(loss, statistics)``; the loss is a scalar, and that of the whole batch.

    Example:
      >>> import jax
      >>> from xlaops.demo import data, model, training
      >>> digits = data.load()
      >>> parameters, statistics = model.init(jax.random.key(0), channels=(8,))
      >>> batch = digits.train_images[:64], digits.train_labels[:64]
      >>> gradient = jax.jit(jax.grad(training.loss, has_aux=True))
      >>> gradient(parameters, statistics, *batch)[0].bias.shape
      (10,)
    """
    logits, statistics = model.apply(
        parameters, statistics, images, training=True, axis_name=axis_name
    )
    mean = xo.div(
        xo.reduce([model.cross_entropy(logits, labels)], [0.0], xo.add, (0,)),
        float(labels.shape[0]),
    )
    if axis_name is not None:
        devices = jax.sharding.get_abstract_mesh().shape[axis_name]
        mean = xo.div(xo.all_reduce(mean, xo.add, axis_name=axis_name), float(devices))
    return mean, statistics


def step(
    state: State,
    images: Array,
    labels: Array,
    *,
    total_steps: int,
    axis_name: str | None = None,
) -> tuple[State, Array]:
    """One step of training: the state after it, and the loss before it.

    Args:
      state: as `init` makes it.
      images: [n, height, width, features], this device's share of the batch.
      labels: [n] of integers.
      total_steps: after how many steps the learning rate is zero.
      axis_name: the mesh axis that the batch is spread over, if it is.

    Returns:
      ``(state, loss)``.
    """
    # The loss is that of the whole batch, and the parameters are the same on every
    # device: that makes jax.grad, inside shard_map, sum their gradients over devices.
    (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(
        state.parameters, state.statistics, images, labels, axis_name
    )
    rate = optimizer.cosine_decay(state.adam.steps, total_steps, _LEARNING_RATE)
    parameters, adam = optimizer.update(
        state.parameters, gradients, state.adam, rate, _WEIGHT_DECAY
    )
    return State(parameters, statistics, adam), value


def init(seed: int = 0, channels: Sequence[int] = CHANNELS) -> State:
    """The state before the first step.

    Args:
      seed: of the random parameters.
      channels: features of each block of the model.

    Returns:
      The state.
    """
    parameters, statistics = model.init(jax.random.key(seed), channels)
    return State(parameters, statistics, optimizer.init(parameters))


def mesh_of(devices: Devices) -> Mesh:
    """The devices in a row, along the axis that batches are spread over."""
    return jax.make_mesh(
        (len(devices),), (AXIS,), axis_types=(AxisType.Auto,), devices=tuple(devices)
    )


def parallel_step(mesh: Mesh, total_steps: int) -> jax.stages.Wrapped:
    """The jitted `step` whose batches are spread over the devices of a mesh.

    Args:
      mesh: as `mesh_of` makes it.
      total_steps: after how many steps the learning rate is zero.

    Returns:
      A function of the state, images and labels. The size of the batch is a multiple of
      the number of devices.

    Example:
      >>> import jax
      >>> from xlaops.demo import data, training
      >>> digits = data.load()
      >>> step = training.parallel_step(training.mesh_of(jax.devices()), 10)
      >>> batch = digits.train_images[:64], digits.train_labels[:64]
      >>> state, loss = step(training.init(channels=(8,)), *batch)
      >>> loss.shape
      ()
    """
    return jax.jit(
        jax.shard_map(
            functools.partial(step, total_steps=total_steps, axis_name=AXIS),
            mesh=mesh,
            in_specs=(P(), P(AXIS), P(AXIS)),
            out_specs=P(),
            check_vma=True,
        )
    )


def evaluate(
    state: State,
    images: Array,
    labels: Array,
    weights: Array,
    *,
    axis_name: str | None = None,
) -> tuple[Array, Array, Array]:
    """Sum of losses, number of right predictions, and the predictions for a batch.

    Args:
      state: as `init` makes it.
      images: [n, height, width, features], this device's share of the batch.
      labels: [n] of integers.
      weights: [n], what each image counts in the sums; 0 for blanks.
      axis_name: the mesh axis that the batch is spread over, if it is.

    Returns:
      ``(losses, right, predictions)``: two scalars for the whole batch, and int32[n].
    """
    logits, _ = model.apply(state.parameters, state.statistics, images)
    predictions = model.predict(logits)
    hits = xo.convert_element_type(xo.eq(predictions, labels), weights.dtype)
    losses, right = (
        xo.reduce([xo.mul(values, weights)], [0.0], xo.add, (0,))
        for values in (model.cross_entropy(logits, labels), hits)
    )
    if axis_name is not None:
        losses = xo.all_reduce(losses, xo.add, axis_name=axis_name)
        right = xo.all_reduce(right, xo.add, axis_name=axis_name)
    return losses, right, predictions


def parallel_evaluate(mesh: Mesh) -> jax.stages.Wrapped:
    """The jitted `evaluate` whose batches are spread over the devices of a mesh.

    Args:
      mesh: as `mesh_of` makes it.

    Returns:
      A function of the state, images, labels and weights. The size of the batch is a
      multiple of the number of devices.
    """
    return jax.jit(
        jax.shard_map(
            functools.partial(evaluate, axis_name=AXIS),
            mesh=mesh,
            in_specs=(P(), P(AXIS), P(AXIS), P(AXIS)),
            out_specs=(P(), P(), P(AXIS)),
            check_vma=True,
        )
    )


def fitting_batch_size(images: int, devices: int, batch_size: int | None) -> int:
    """The batch size, if it can be used.

    Args:
      images: number of training images.
      devices: number of devices.
      batch_size: what is wanted; None is about 128.

    Returns:
      The number of images in a step.

    Raises:
      ValueError: if it does not divide among the devices or there are not so many
        images.

    Example:
      >>> from xlaops.demo import training
      >>> training.fitting_batch_size(1437, 3, None)
      126
    """
    if batch_size is None:
        batch_size = max(BATCH_SIZE // devices, 1) * devices
    if not 1 <= batch_size <= images:
        raise ValueError(
            f"fit: batch_size must be between 1 and the number of images {images}, "
            f"got {batch_size}"
        )
    if batch_size % devices:
        raise ValueError(
            f"fit: batch_size must be a multiple of the number of devices {devices}, "
            f"got {batch_size}"
        )
    return batch_size


def fit(
    digits: Digits,
    devices: Devices | None = None,
    *,
    epochs: int = EPOCHS,
    batch_size: int | None = None,
    seed: int = 0,
    channels: Sequence[int] = CHANNELS,
    report: Report | None = None,
) -> Result:
    """Trains the model and tests it.

    Args:
      digits: images and labels.
      devices: what to compute on; all devices of the default backend unless given.
      epochs: how often the training goes through the images.
      batch_size: images in a step, a multiple of the number of devices; about 128
        unless given.
      seed: of the initial parameters, of the order of images and of distortions.
      channels: features of each block of the model.
      report: is called before the first and after every step, with the number of steps
        taken, the number of all steps and a few words.

    Returns:
      What came of it.

    Raises:
      ValueError: if there are no epochs, or the batch size does not fit.

    Example:
      >>> from xlaops.demo import data, training
      >>> result = training.fit(data.load(), epochs=1, channels=(8,))
      >>> result.predictions.shape
      (360,)
    """
    devices = jax.devices() if devices is None else list(devices)
    total = len(digits.train_images)
    batch_size = fitting_batch_size(total, len(devices), batch_size)
    if epochs < 1:
        raise ValueError(f"fit: epochs must be at least 1, got {epochs}")
    steps = epochs * (total // batch_size)
    report = report or (lambda *_: None)
    report(0, steps, "compiling")

    mesh = mesh_of(devices)
    whole, spread = NamedSharding(mesh, P()), NamedSharding(mesh, P(AXIS))
    with jax.default_device(devices[0]):
        state = jax.device_put(init(seed, channels), whole)

    tests = [
        jax.device_put(batch, spread)
        for batch in evaluation_batches(
            digits.test_images, digits.test_labels, batch_size
        )
    ]
    example = jax.device_put(
        (digits.train_images[:batch_size], digits.train_labels[:batch_size]), spread
    )
    started = time.perf_counter()
    train_step = parallel_step(mesh, steps).lower(state, *example).compile()
    evaluation = parallel_evaluate(mesh).lower(state, *tests[0]).compile()
    compiled = time.perf_counter()

    rng = np.random.default_rng(seed)
    done = 0
    losses: list[float] = []
    for epoch in range(1, epochs + 1):
        losses = []
        for batch in training_batches(
            digits.train_images, digits.train_labels, batch_size, rng
        ):
            state, value = train_step(state, *jax.device_put(batch, spread))
            # Waiting for each step keeps the virtual devices of a CPU from starving
            # one another: their collectives wait in threads of one small pool.
            losses.append(float(value))
            done += 1
            report(done, steps, f"epoch {epoch}/{epochs}, loss {np.mean(losses):.4f}")
    trained = time.perf_counter()

    sums, hits, predictions = zip(
        *(jax.device_get(evaluation(state, *batch)) for batch in tests), strict=True
    )
    count = len(digits.test_images)
    return Result(
        state=state,
        train_loss=float(np.mean(losses)),
        test_loss=float(np.sum(sums)) / count,
        predictions=np.concatenate(predictions)[:count],
        correct=round(float(np.sum(hits))),
        images=done * batch_size,
        compile_seconds=compiled - started,
        train_seconds=trained - compiled,
    )
