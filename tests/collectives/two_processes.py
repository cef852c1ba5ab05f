"""One of two processes: ``python two_processes.py PROCESS PORT``.

Each has two of four devices, and prints a line for every case that is right.
"""

import os
import sys

process, port = int(sys.argv[1]), sys.argv[2]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import xlaops as xo  # noqa: E402

COUNT = 4
ODD = [[3, 0], [1, 2]]


def compose(a, b):
    """Associative, not commutative, and no reduction of XLA."""
    return jnp.where(b == 0, a, b)


def ragged(x):
    ones, places = np.ones(COUNT, np.int32), np.arange(COUNT, dtype=np.int32)
    # Row k to replica k, at the row of the sender's id.
    mine = jnp.full(COUNT, xo.replica_id().astype(jnp.int32))
    return xo.ragged_all_to_all(x, places, ones, -x, mine, ones)


def grouped(function):
    """An oracle of the stacked arrays, from a function of those of a group."""

    def oracle(x):
        result = np.empty_like(x)
        for group in ODD:
            result[group] = function(x[group])
        return result

    return oracle


def last_nonzero(x):
    result = x[0]
    for row in x[1:]:
        result = np.where(row == 0, result, row)
    return result


CASES = {
    "sum": (lambda x: xo.all_reduce(x, xo.add), lambda x: 0 * x + x.sum(0)),
    "sum in groups": (
        lambda x: xo.all_reduce(x, xo.add, ODD),
        grouped(lambda x: x.sum(0)),
    ),
    "max in groups": (
        lambda x: xo.all_reduce(x, xo.max, ODD),
        grouped(lambda x: x.max(0)),
    ),
    "any computation": (
        lambda x: xo.all_reduce(x, compose, ODD),
        grouped(last_nonzero),
    ),
    "product, scattered": (
        lambda x: xo.reduce_scatter(x, xo.mul, 0),
        lambda x: np.prod(x, 0).reshape(COUNT, 1, -1),
    ),
    "gather": (
        lambda x: xo.all_gather(x[:1], 0),
        lambda x: np.stack([x[:, 0]] * COUNT),
    ),
    "exchange in groups": (
        lambda x: xo.all_to_all(x, 0, 0, replica_groups=ODD),
        grouped(
            lambda x: np.stack(
                [np.concatenate([x[0, k : k + 2], x[1, k : k + 2]]) for k in (0, 2)]
            )
        ),
    ),
    "permutation": (
        lambda x: xo.collective_permute(x, [(0, 2), (3, 1)]),
        lambda x: np.stack([0 * x[0], x[3], x[0], 0 * x[0]]),
    ),
    "broadcast": (
        lambda x: xo.collective_broadcast(x, [[2, 1, 0]]),
        lambda x: np.stack([x[2], x[2], x[2], 0 * x[2]]),
    ),
    "ragged exchange": (ragged, lambda x: x.transpose(1, 0, 2)),
}


def main():
    jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=process)
    assert jax.device_count() == COUNT
    mesh = jax.make_mesh((COUNT,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding = NamedSharding(mesh, P("i"))
    x = np.random.default_rng(0).integers(-2, 3, (COUNT, COUNT, 3)).astype(np.float32)
    placed = jax.make_array_from_callback(x.shape, sharding, lambda at: x[at])

    def every(x):
        return {name: case(x[0])[None] for name, (case, _) in CASES.items()}

    for check_vma in (True, False):
        mapped = jax.shard_map(
            every, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=check_vma
        )
        results = jax.jit(mapped)(placed)
        for name, (_, oracle) in CASES.items():
            expected = oracle(x)
            for shard in results[name].addressable_shards:
                np.testing.assert_array_equal(
                    shard.data, expected[shard.index], err_msg=name
                )
            print(f"right: {name}, {check_vma}", flush=True)
    jax.distributed.shutdown()


main()
