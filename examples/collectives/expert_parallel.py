"""A layer of experts, one on each device, to which tokens are sent.

Each token goes to the expert that a router chooses for it, wherever that is, and its
result comes back. How many tokens go where is known only when the program runs: that
is what a ragged exchange is for. Nothing is dropped, and gradients flow through both
exchanges.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 \
        python examples/collectives/expert_parallel.py
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh
from jax.sharding import PartitionSpec as P

import xlaops as xo


def route(tokens, router):
    """The expert of each token, and the weight of its answer."""
    scores = jax.nn.softmax(tokens @ router)
    return jnp.argmax(scores, 1), scores.max(1)


def before(counts, axis):
    """How many there are before each entry."""
    return jnp.cumsum(counts, axis) - counts


def layer(tokens, router, expert):
    """What the experts say to the tokens of this device.

    Args:
      tokens: [tokens, features], those of this device.
      router: [features, experts], the same on every device.
      expert: [features, features], the weights of this device's expert.
    """
    chosen, weight = route(tokens, router)
    experts = router.shape[1]

    # Tokens of one expert lie together, so that they are a slice.
    order = jnp.argsort(chosen)
    counts = jnp.bincount(chosen, length=experts)
    table = xo.all_gather(counts[None], 0)  # [device, expert]: how many tokens go where
    here = xo.replica_id()
    arriving = table[:, here]

    room = jnp.zeros((experts * len(tokens), tokens.shape[1]), tokens.dtype)
    arrived = xo.ragged_all_to_all(
        tokens[order],
        before(counts, 0),
        counts,
        room,
        before(table, 0)[here],  # behind the tokens of the devices before this one
        arriving,
    )
    answers = jnp.tanh(arrived @ expert)
    returned = xo.ragged_all_to_all(
        answers,
        before(arriving, 0),
        arriving,
        jnp.zeros_like(tokens),
        before(table, 1)[:, here],  # where the other device cut the slice out
        counts,
    )
    return weight[:, None] * returned[jnp.argsort(order)]


def parallel(mesh: Mesh):
    """The layer, over all devices of a mesh with one axis."""
    (axis,) = mesh.axis_names
    return jax.jit(
        jax.shard_map(
            layer,
            mesh=mesh,
            in_specs=(P(axis), P(), P(axis)),
            out_specs=P(axis),
        )
    )


def by_hand(tokens, router, experts):
    """The same on one device: every token is shown to every expert."""
    chosen, weight = route(tokens, router)
    answers = jnp.tanh(jnp.einsum("tf,efg->teg", tokens, experts))
    return weight[:, None] * answers[jnp.arange(len(tokens)), chosen]


def main():
    devices, tokens, features = jax.device_count(), 64, 16
    rng = np.random.default_rng(0)
    x = rng.normal(size=(devices * tokens, features)).astype(np.float32)
    router = rng.normal(size=(features, devices)).astype(np.float32)
    experts = rng.normal(size=(devices, features, features)).astype(np.float32) / 4
    mesh = jax.make_mesh((devices,), ("expert",), axis_types=(AxisType.Auto,))
    # The expert's own weights, without the dimension that counts experts.
    spread = experts.reshape(-1, features)

    f = parallel(mesh)
    difference = np.abs(f(x, router, spread) - by_hand(x, router, experts)).max()
    counts = np.bincount(np.asarray(route(x, router)[0]), minlength=devices)
    print(f"{devices} experts, {len(x)} tokens, which go to them as {counts}")
    print(f"largest difference from one device: {difference:.1e}")

    gradient = jax.grad(lambda w: (f(x, router, w) ** 2).sum())(spread)
    expected = jax.grad(lambda w: (by_hand(x, router, w) ** 2).sum())(experts)
    difference = np.abs(gradient.reshape(expected.shape) - expected).max()
    print(f"largest difference of the experts' gradients: {difference:.1e}")


if __name__ == "__main__":
    main()
