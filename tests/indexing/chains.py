"""Random chains of reshapes, transposes and reversals, undone again."""

import random

from xlaops.indexing.primitives import building

SIZES = [24, 36, 48, 60, 72, 96, 120, 144, 180, 240]
ALL = ("reshape", "reverse", "transpose")


def _factors(n, rng):
    factors = []
    while n > 1:
        factors.append(rng.choice([d for d in range(2, n + 1) if n % d == 0]))
        n //= factors[-1]
    return tuple(factors)


def reshape(operand, result):
    """The map from the result of a reshape to its operand."""
    return building.reshaped(tuple(result), tuple(operand))


def reverse(shape, axes):
    return building.mirrored(tuple(shape), tuple(axes))


def transpose(shape, permutation):
    result = tuple([shape[p] for p in permutation])
    return building.transposed(result, tuple(permutation))


def chains(kinds, seed, count=400):
    """The maps of each chain, from its end to its beginning."""
    rng = random.Random(seed)
    for _ in range(count):
        n = rng.choice(SIZES)
        shape = _factors(n, rng)
        there, back = [], []
        for _ in range(rng.randint(1, 4)):
            kind = rng.choice(kinds)
            if kind == "reshape":
                new = _factors(n, rng)
                there.append(reshape(shape, new))
                back.append(reshape(new, shape))
                shape = new
            elif kind == "reverse":
                axes = [i for i in range(len(shape)) if rng.random() < 0.5]
                there.append(reverse(shape, axes))
                back.append(reverse(shape, axes))
            else:
                p = list(range(len(shape)))
                rng.shuffle(p)
                new = tuple(shape[i] for i in p)
                there.append(transpose(shape, p))
                back.append(transpose(new, [p.index(i) for i in range(len(p))]))
                shape = new
        # From the last result to the first operand: what was undone last comes first.
        yield [*back, *reversed(there)]
