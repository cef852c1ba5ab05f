"""Which elements of a function's results change with which elements of its arguments.

This runs the function: it draws arguments, draws one element again, and looks at what
differs. It knows nothing of maps, and nothing of what the function is made of. What
changes is a dependence for certain; what never changes in all draws is taken for none.
"""

import dataclasses

import jax
import numpy as np

DRAWS = 64
MOST_ROWS = 1024


@dataclasses.dataclass(frozen=True)
class Arg:
    """An argument: its shape and element type, and between what integers lie."""

    shape: tuple = ()
    dtype: str = "float32"
    low: int = -3
    high: int = 3

    @property
    def struct(self):
        return jax.ShapeDtypeStruct(self.shape, np.dtype(self.dtype))

    @property
    def size(self):
        return int(np.prod(self.shape))

    def draw(self, rng, count):
        shape = (count, *self.shape)
        dtype = np.dtype(self.dtype)
        if dtype.kind == "b":
            return rng.random(shape) < 0.5
        if dtype.kind in "iu":
            return rng.integers(self.low, self.high + 1, shape).astype(dtype)
        values = rng.standard_normal(shape) * 2
        if dtype.kind == "c":
            values = values + 1j * rng.standard_normal(shape)
        return values.astype(dtype)


def changes(f, args, draws=DRAWS, seed=0):
    """For each result and each argument a matrix of bools: what changes with what."""
    rng = np.random.default_rng(seed)
    # Every draw once as it is, and once for every element, which is drawn again.
    sizes = [a.size for a in args]
    count = 1 + sum(sizes)
    many = [np.repeat(a.draw(rng, draws), count, axis=0) for a in args]
    first = 1
    for i, a in enumerate(args):
        flat = many[i].reshape(draws, count, a.size)
        element = np.arange(a.size)
        fresh = a.draw(rng, draws).reshape(draws, a.size)
        flat[:, first + element, element] = fresh
        many[i] = flat.reshape(draws * count, *a.shape)
        first += a.size
    # XLA:CPU computes large batches of some convolutions wrong.
    block = draws
    while block * count > MOST_ROWS and block % 2 == 0:
        block //= 2
    run = jax.jit(jax.vmap(lambda *xs: jax.tree.leaves(f(*xs))))
    parts = [
        [x[k * count : (k + block) * count] for x in many]
        for k in range(0, draws, block)
    ]
    try:
        made = [run(*part) for part in parts]
    except NotImplementedError:  # what cannot be batched runs once for each draw
        run = jax.jit(
            lambda *many: jax.lax.map(lambda xs: jax.tree.leaves(f(*xs)), many)
        )
        made = [run(*part) for part in parts]
    results = [np.concatenate(ys) for ys in zip(*made, strict=True)]
    found = []
    for y in results:
        y = y.reshape(draws, count, -1)
        changed = _differ(y[:, :1], y[:, 1:]).any(axis=0).T
        found.append(np.split(changed, np.cumsum(sizes)[:-1], axis=1))
    return found


def _differ(old, new):
    """Whether values differ by more than the order of a sum can make a difference."""
    if old.dtype.kind not in "fc":
        return old != new
    with np.errstate(all="ignore"):
        # Terms that cancel leave the errors of numbers of the usual size.
        usual = np.median(abs(old[np.isfinite(old)])) if np.isfinite(old).any() else 0
        close = abs(old - new) <= 1e-5 * (abs(old) + abs(new)) + 1e-6 * usual
    return ~(close | (old == new) | ((old != old) & (new != new)))


def related(maps, from_shape, to_shape):
    """The relation of some maps as a matrix of bools."""
    matrix = np.zeros((int(np.prod(from_shape)), int(np.prod(to_shape))), bool)
    for one in maps:
        if one.is_undefined:
            matrix[:] = True
        else:
            matrix[one.flat_relation(from_shape, to_shape)] = True
    return matrix
