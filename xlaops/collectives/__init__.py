"""Operations between replicas, over any groups of them, anywhere JAX maps.

They work inside of `jax.shard_map`, `jax.pmap` and `jax.vmap` with an axis name. The
replicas are the positions along the mapped axes, or along those that ``axis_name``
names. The operations are in `xlaops` by name too, but for `send` and `recv`: those of
`xlaops` are between programs.
"""

from .broadcasting import collective_broadcast as collective_broadcast
from .channels import recv as recv
from .channels import send as send
from .exchanging import all_to_all as all_to_all
from .exchanging import all_to_all_tuple as all_to_all_tuple
from .futures import Future as Future
from .gathering import all_gather as all_gather
from .gathering import all_gather_done as all_gather_done
from .gathering import all_gather_start as all_gather_start
from .gathering import all_gather_tuple as all_gather_tuple
from .identity import partition_id as partition_id
from .identity import replica_id as replica_id
from .permuting import collective_permute as collective_permute
from .permuting import collective_permute_done as collective_permute_done
from .permuting import collective_permute_start as collective_permute_start
from .permuting import multi_collective_permute as multi_collective_permute
from .ragged import ragged_all_to_all as ragged_all_to_all
from .reduction import all_reduce as all_reduce
from .reduction import all_reduce_done as all_reduce_done
from .reduction import all_reduce_start as all_reduce_start
from .reduction import all_reduce_tuple as all_reduce_tuple
from .reduction import cross_replica_sum as cross_replica_sum
from .reduction import reduce_scatter as reduce_scatter

__all__ = [
    "Future",
    "all_gather",
    "all_gather_done",
    "all_gather_start",
    "all_gather_tuple",
    "all_reduce",
    "all_reduce_done",
    "all_reduce_start",
    "all_reduce_tuple",
    "all_to_all",
    "all_to_all_tuple",
    "collective_broadcast",
    "collective_permute",
    "collective_permute_done",
    "collective_permute_start",
    "cross_replica_sum",
    "multi_collective_permute",
    "partition_id",
    "ragged_all_to_all",
    "recv",
    "reduce_scatter",
    "replica_id",
    "send",
]
