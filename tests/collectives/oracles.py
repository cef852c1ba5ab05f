"""Operations between replicas in numpy: of groups and stacked arrays, to such."""

import numpy as np


def per_replica(groups, x, result):
    """Stacks ``result(members, position)`` of every replica; zeros for the others."""
    rows = {
        replica: result(np.stack([x[i] for i in group]), position)
        for group in groups
        for position, replica in enumerate(group)
    }
    zeros = np.zeros_like(next(iter(rows.values())))
    return np.stack([rows.get(replica, zeros) for replica in range(len(x))])


def gathered(dimension):
    def oracle(groups, x):
        return per_replica(
            groups, x, lambda members, _: np.concatenate(list(members), dimension)
        )

    return oracle


def exchanged(split, concat):
    def oracle(groups, x):
        def result(members, position):
            size = members.shape[split + 1] // len(members)
            block = np.arange(position * size, (position + 1) * size)
            parts = np.take(members, block, axis=split + 1)
            return np.concatenate(list(parts), concat)

        return per_replica(groups, x, result)

    return oracle


def from_first(groups, x):
    return per_replica(groups, x, lambda members, _: members[0])


def from_last(groups, x):
    return per_replica(groups, x, lambda members, _: members[-1])


def from_one_before(groups, x):
    """Each group as a chain, not a ring: the first one gets zeros."""
    padded = per_replica(
        groups, x, lambda members, k: members[k - 1] if k else 0 * x[0]
    )
    return padded.astype(x.dtype)
