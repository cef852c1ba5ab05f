"""The generators of Salmon et al., Philox and ThreeFry, in Python integers."""

import numpy as np

LOW = 0xFFFFFFFF


def philox(counter, key):
    """One block of Philox 4x32 with 10 rounds."""
    a, b, c, d = counter
    left, right = key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b = (second >> 32) ^ b ^ left, second & LOW
        c, d = (first >> 32) ^ d ^ right, first & LOW
        left, right = (left + 0x9E3779B9) & LOW, (right + 0xBB67AE85) & LOW
    return [a, b, c, d]


def three_fry(counter, key):
    """One block of ThreeFry 2x32 with 20 rounds."""
    keys = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    x, y = (counter[0] + keys[0]) & LOW, (counter[1] + keys[1]) & LOW
    for i in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
            x = (x + y) & LOW
            y = ((y << turn) | (y >> (32 - turn))) & LOW
            y ^= x
        x = (x + keys[(i + 1) % 3]) & LOW
        y = (y + keys[(i + 2) % 3] + i + 1) & LOW
    return [x, y]


def words(state):
    """The state as Python integers of 64 bits."""
    return [int(w) for w in np.asarray(state).view(np.uint64)]


def halves(*words):
    return [half for word in words for half in (word & LOW, word >> 32)]


def bits32(algorithm, state, count):
    """So many 32-bit words, a multiple of four, as XLA's expansion lays them out."""
    key, *counter = words(state)
    result = []
    if algorithm == "RNG_THREE_FRY":
        for i in range(count // 2):
            result += three_fry(halves((counter[0] + i) % 2**64), halves(key))
        return result
    if len(counter) == 1:
        # Two words: the key counts too, above the other one.
        counter = [counter[0], key]
    number = counter[0] + (counter[1] << 64)
    for i in range(count // 4):
        now = (number + i) % 2**128
        result += philox(halves(now % 2**64, now >> 64), halves(key))
    return result


def rng_bit_generator(initial_state, algorithm, shape):
    """The new state and u32 data, of a multiple of four elements."""
    sizes = [int(n) for n in shape.partition("[")[2].removesuffix("]").split(",")]
    data = bits32(algorithm, initial_state, int(np.prod(sizes)))
    key, *counter = words(initial_state)
    blocks = len(data) // (2 if algorithm == "RNG_THREE_FRY" else 4)
    number = sum(w << 64 * i for i, w in enumerate(counter)) + blocks
    moved = [key, *((number >> 64 * i) % 2**64 for i in range(len(counter)))]
    state = np.array(moved, np.uint64).view(initial_state.dtype)
    return state, np.array(data, np.uint32).reshape(sizes)
