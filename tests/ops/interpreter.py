"""The operations that take a computation, element by element in plain numpy.

Computations are called with numpy scalars, in the order in which XLA's CPU backend and
StableHLO's reference interpreter take the elements.
"""

import itertools

import numpy as np


def _flat(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _as_types(values, types):
    with np.errstate(all="ignore"):
        return tuple(
            np.asarray(v).astype(t)[()] for v, t in zip(values, types, strict=True)
        )


def _called(computation, values, types):
    with np.errstate(all="ignore"):
        return _as_types(_flat(computation(*values)), types)


def reduce(operands, inits, computation, dimensions):
    types = [x.dtype for x in operands]
    shape = operands[0].shape
    kept = [d for d in range(len(shape)) if d not in dimensions]
    outer = [range(shape[d]) for d in kept]
    inner = [range(shape[d]) for d in sorted(dimensions)]
    results = [np.empty([shape[d] for d in kept], t) for t in types]
    for place in itertools.product(*outer):
        running = _as_types(inits, types)
        for within in itertools.product(*inner):
            index = [0] * len(shape)
            for d, i in zip(
                (*kept, *sorted(dimensions)), (*place, *within), strict=True
            ):
                index[d] = i
            seen = [x[tuple(index)] for x in operands]
            running = _called(computation, (*running, *seen), types)
        for result, value in zip(results, running, strict=True):
            result[place] = value
    return results


def sort(operands, comparator, dimension):
    """A stable insertion sort."""
    moved = [np.moveaxis(x, dimension, -1) for x in operands]
    results = [x.copy() for x in moved]
    for place in np.ndindex(moved[0].shape[:-1]):
        ordered = []
        for k in range(moved[0].shape[-1]):
            item = tuple(x[place][k] for x in moved)
            at = len(ordered)
            while at and comparator(
                *itertools.chain(*zip(item, ordered[at - 1], strict=True))
            ):
                at -= 1
            ordered.insert(at, item)
        for k, item in enumerate(ordered):
            for result, value in zip(results, item, strict=True):
                result[(*place, k)] = value
    return [np.moveaxis(x, -1, dimension) for x in results]


def map_(operands, computation, dtype):
    result = np.empty(operands[0].shape, dtype)
    for place in np.ndindex(result.shape):
        (result[place],) = _called(computation, [x[place] for x in operands], [dtype])
    return result


def padded(x, init, padding, base_dilations):
    """The array with the initial value at its edges and between its elements."""
    sizes = [
        (n - 1) * b + 1 if n else 0
        for n, b in zip(x.shape, base_dilations, strict=True)
    ]
    wide = np.full(sizes, init, x.dtype)
    wide[tuple(slice(None, None, b) for b in base_dilations)] = x
    for d, (low, high) in enumerate(padding):
        before, behind = list(wide.shape), list(wide.shape)
        before[d], behind[d] = max(low, 0), max(high, 0)
        parts = (np.full(before, init, x.dtype), wide, np.full(behind, init, x.dtype))
        wide = np.concatenate(parts, d)
        start, stop = max(-low, 0), wide.shape[d] - max(-high, 0)
        wide = np.take(wide, range(start, max(start, stop)), d)
    return wide


def positions(shape, sizes, strides, dilations):
    return [
        max(0, (n - ((w - 1) * k + 1)) // s + 1)
        for n, w, s, k in zip(shape, sizes, strides, dilations, strict=True)
    ]


def reduce_window(
    operands, inits, computation, sizes, strides, padding, base=None, dilations=None
):
    rank = operands[0].ndim
    base, dilations = base or [1] * rank, dilations or [1] * rank
    types = [x.dtype for x in operands]
    inits = _as_types(inits, types)
    wide = [
        padded(x, init, padding, base) for x, init in zip(operands, inits, strict=True)
    ]
    results = [
        np.empty(positions(wide[0].shape, sizes, strides, dilations), t) for t in types
    ]
    for place in np.ndindex(results[0].shape):
        running = inits
        for within in np.ndindex(*sizes):
            index = tuple(
                p * s + k * w
                for p, s, k, w in zip(place, strides, dilations, within, strict=True)
            )
            seen = [x[index] for x in wide]
            running = _called(computation, (*running, *seen), types)
        for result, value in zip(results, running, strict=True):
            result[place] = value
    return results


def same_padding(shape, sizes, strides):
    """What makes as many positions as there are elements by stride, rounded up."""
    pairs = []
    for n, w, s in zip(shape, sizes, strides, strict=True):
        total = 0
        while (n + total - w) // s + 1 < (n + s - 1) // s or n + total < w:
            total += 1
        pairs.append((total // 2, total - total // 2))
    return pairs


def select_and_scatter(operand, select, sizes, strides, padding, source, init, scatter):
    result = np.full(operand.shape, init, operand.dtype)
    for place in np.ndindex(source.shape):
        chosen = None
        for within in np.ndindex(*sizes):
            index = tuple(
                p * s + w - low
                for p, s, w, (low, _) in zip(
                    place, strides, within, padding, strict=True
                )
            )
            if any(not 0 <= i < n for i, n in zip(index, operand.shape, strict=True)):
                continue
            if chosen is None or not select(operand[chosen], operand[index]):
                chosen = index
        if chosen is not None:
            (result[chosen],) = _called(
                scatter, (result[chosen], source[place]), [operand.dtype]
            )
    return result


def scatter(operands, indices, updates, computation, numbers):
    """The formula of StableHLO's specification; windows partly outside are dropped."""
    results = [x.copy() for x in operands]
    types = [x.dtype for x in operands]
    shape, vector = operands[0].shape, numbers["index_vector_dim"]
    inner = list(numbers["update_window_dims"])
    outer = [d for d in range(updates[0].ndim) if d not in inner]
    of_inputs = list(numbers.get("input_batching_dims", ()))
    of_indices = list(numbers.get("scatter_indices_batching_dims", ()))
    dropped = [*numbers["inserted_window_dims"], *of_inputs]
    sizes = [1] * len(shape)
    kept = [d for d in range(len(shape)) if d not in dropped]
    for d, i in zip(kept, inner, strict=True):
        sizes[d] = updates[0].shape[i]
    for place in np.ndindex(*(updates[0].shape[d] for d in outer)):
        at = list(place)
        start = [0] * len(shape)
        if vector < indices.ndim:
            at.insert(vector, slice(None))
            parts = indices[tuple(at)]
        else:
            parts = [indices[tuple(at)]]
        for d, part in zip(numbers["scatter_dims_to_operand_dims"], parts, strict=True):
            start[d] = int(part)
        for d, i in zip(of_inputs, of_indices, strict=True):
            start[d] = at[i]
        if any(
            s < 0 or s + n > limit
            for s, n, limit in zip(start, sizes, shape, strict=True)
        ):
            continue
        for within in np.ndindex(*(updates[0].shape[d] for d in inner)):
            index = [0] * updates[0].ndim
            for d, i in zip((*outer, *inner), (*place, *within), strict=True):
                index[d] = i
            target = list(start)
            for d, i in zip(kept, within, strict=True):
                target[d] += i
            old = [x[tuple(target)] for x in results]
            new = _called(
                computation, (*old, *(u[tuple(index)] for u in updates)), types
            )
            for result, value in zip(results, new, strict=True):
                result[tuple(target)] = value
    return results
