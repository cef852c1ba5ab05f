"""Reductions between replicas that are no sums: log-sum-exp, and a checksum.

* The loss of a classifier whose classes are spread over devices needs the logarithm of
  a sum of exponentials over all of them. Combined with ``logaddexp`` it neither
  overflows nor needs a second exchange for the largest score.
* Replicas that are to be the same are compared by a checksum of their bits: if the
  ``xor`` within one differs from that of another, a device computes wrongly, or a seed
  differs.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 \
        python examples/collectives/replica_reductions.py
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import xlaops as xo


def cross_entropy(scores, labels):
    """The loss of examples of which this device has the scores of some classes.

    Args:
      scores: [examples, classes of this device].
      labels: [examples], classes counted over all devices.

    Returns:
      [examples], the same on every device.
    """
    own = scores.shape[1]
    total = xo.all_reduce(jax.nn.logsumexp(scores, 1), jnp.logaddexp)
    place = labels - own * xo.replica_id().astype(labels.dtype)
    is_here = (place >= 0) & (place < own)
    index = jnp.clip(place, 0, own - 1)[:, None]
    score = jnp.where(is_here, jnp.take_along_axis(scores, index, 1)[:, 0], 0)
    return total - xo.all_reduce(score, xo.add)


def checksum(tree):
    """The exclusive or of the bits of all 32-bit words of a pytree of arrays."""
    words = [
        xo.bitcast_convert_type(x, "u32").reshape(-1) for x in jax.tree.leaves(tree)
    ]
    return xo.reduce([jnp.concatenate(words)], [np.uint32(0)], xo.xor, [0])


def agree(tree):
    """Whether all replicas hold the same bits, and the exclusive or of them all."""
    own = checksum(tree)
    same = xo.all_reduce(own, xo.max) == xo.all_reduce(own, xo.min)
    return same, xo.all_reduce(own, xo.xor)


def on_devices(function, in_specs, out_specs):
    """The function on every device, along an axis of all of them."""
    mesh = jax.make_mesh((jax.device_count(),), ("i",), axis_types=(AxisType.Auto,))
    return jax.jit(
        jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs)
    )


def main():
    devices, examples, classes = jax.device_count(), 4, 10
    rng = np.random.default_rng(0)
    scores = 100 * rng.normal(size=(examples, devices * classes)).astype(np.float32)
    labels = rng.integers(0, devices * classes, examples)
    loss = on_devices(cross_entropy, (P(None, "i"), P()), P())
    expected = -jax.nn.log_softmax(scores)[np.arange(examples), labels]
    print("loss, classes spread over devices:", loss(scores, labels))
    print("loss, on one device:              ", expected)

    check = on_devices(agree, P("i"), (P(), P()))
    copies = np.stack([rng.normal(size=1000).astype(np.float32)] * devices)
    print("replicas agree:", check(copies)[0])
    copies[-1, 17] *= 1 + 2**-23  # one bit of one number of one replica
    print("after one bit has changed:", check(copies)[0])


if __name__ == "__main__":
    main()
