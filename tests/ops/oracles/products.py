"""Sums of products: dots, convolutions, and dots of ragged operands."""

import itertools
import math

import numpy as np

from .element_types import kind, wrapped


def _sum_of_products(pairs, dtype):
    """What a backend adds up: wrapped integers, or rounded once."""
    match kind(dtype):
        case "b":
            return any(bool(x) and bool(y) for x, y in pairs)
        case "i" | "u":
            return wrapped(sum(int(x) * int(y) for x, y in pairs), dtype)[()]
        case "c":
            return dtype.type(sum(complex(x) * complex(y) for x, y in pairs))
    return np.float64(math.fsum(float(x) * float(y) for x, y in pairs)).astype(dtype)


def dot_general(
    lhs,
    rhs,
    dimension_numbers,
    precision_config=None,
    preferred_element_type=None,
):
    (lc, rc), (lb, rb) = dimension_numbers
    dtype = np.dtype(preferred_element_type or lhs.dtype)
    lfree = [d for d in range(lhs.ndim) if d not in (*lc, *lb)]
    rfree = [d for d in range(rhs.ndim) if d not in (*rc, *rb)]
    sizes = [lhs.shape[d] for d in (*lb, *lfree)] + [rhs.shape[d] for d in rfree]
    result = np.empty(sizes, dtype)
    for index in np.ndindex(*sizes):
        batch, left, right = np.split(
            np.array(index, int), [len(lb), len(lb) + len(lfree)]
        )
        pairs = []
        for inner in np.ndindex(*(lhs.shape[d] for d in lc)):
            at_l, at_r = [0] * lhs.ndim, [0] * rhs.ndim
            for dims_l, dims_r, values in ((lb, rb, batch), (lc, rc, inner)):
                for dl, dr, v in zip(dims_l, dims_r, values, strict=True):
                    at_l[dl], at_r[dr] = int(v), int(v)
            for d, v in zip(lfree, left, strict=True):
                at_l[d] = int(v)
            for d, v in zip(rfree, right, strict=True):
                at_r[d] = int(v)
            pairs.append((lhs[tuple(at_l)], rhs[tuple(at_r)]))
        result[index] = _sum_of_products(pairs, dtype)
    return result


def dot(lhs, rhs, precision_config=None, preferred_element_type=None):
    numbers = (((0 if lhs.ndim == 1 else 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, numbers, None, preferred_element_type)


def convolution(
    lhs,
    rhs,
    window_strides,
    padding,
    lhs_dilation=None,
    rhs_dilation=None,
    dimension_numbers="b f 0 1, o i 0 1 -> b f 0 1",
    feature_group_count=1,
    batch_group_count=1,
    precision_config=None,
    preferred_element_type=None,
    window_reversal=None,
):
    """A convolution element by element; padding as pairs, SAME or VALID.

    ``dimension_numbers`` is XLA's text; blanks and a comma are ignored.
    """
    text = dimension_numbers.replace(" ", "").replace(",", "_").replace("->", "_")
    spec_l, spec_r, spec_o = text.split("_")
    n = lhs.ndim - 2
    space = "0123"[:n]
    lhs = lhs.transpose([spec_l.index(c) for c in "bf" + space])
    rhs = rhs.transpose([spec_r.index(c) for c in "oi" + space])
    lhs_dilation, rhs_dilation = lhs_dilation or (1,) * n, rhs_dilation or (1,) * n
    window = [(k - 1) * d + 1 for k, d in zip(rhs.shape[2:], rhs_dilation, strict=True)]
    base = [(k - 1) * d + 1 for k, d in zip(lhs.shape[2:], lhs_dilation, strict=True)]
    if isinstance(padding, str):
        pairs = []
        for size, w, stride in zip(base, window, window_strides, strict=True):
            out = -(-size // stride)
            total = sorted((0, (out - 1) * stride + w - size))[1]
            total = total if padding == "SAME" else 0
            pairs.append((total // 2, total - total // 2))
        padding = pairs
    out_space = [
        (size + low + high - w) // stride + 1
        for size, (low, high), w, stride in zip(
            base, padding, window, window_strides, strict=True
        )
    ]
    batch, outputs = lhs.shape[0] // batch_group_count, rhs.shape[0]
    dtype = np.dtype(preferred_element_type or lhs.dtype)
    result = np.empty((batch, outputs, *out_space), dtype)
    features = rhs.shape[1]
    for index in np.ndindex(*result.shape):
        b, o, *at = index
        group = o // (outputs // feature_group_count)
        batch_group = o // (outputs // batch_group_count)
        pairs = []
        for f, *inside in np.ndindex(features, *rhs.shape[2:]):
            source, ok = [], True
            for i in range(n):
                k = inside[i]
                if window_reversal and window_reversal[i]:
                    k = rhs.shape[2 + i] - 1 - k
                # The position in the dilated and padded base.
                p = at[i] * window_strides[i] + k * rhs_dilation[i] - padding[i][0]
                ok &= p % lhs_dilation[i] == 0 and 0 <= p < base[i]
                source.append(p // lhs_dilation[i])
            if ok:
                x = lhs[(batch_group * batch + b, group * features + f, *source)]
                pairs.append((x, rhs[(o, f, *inside)]))
        result[index] = _sum_of_products(pairs, dtype)
    return result.transpose([("bf" + space).index(c) for c in spec_o])


def ragged_dot(
    lhs,
    rhs,
    group_sizes,
    dimension_numbers,
    precision_config=None,
    preferred_element_type=None,
):
    """Ordinary products of the parts of ``lhs``; one list of sizes for all of them."""
    numbers, (ragged,), group = dimension_numbers
    (lc, rc), (lb, rb) = numbers

    def product(x, y, numbers):
        return dot_general(x, y, numbers, None, preferred_element_type)

    bounds = np.cumsum([0, *group_sizes.tolist()])
    groups = list(itertools.pairwise(np.minimum(bounds, lhs.shape[ragged]).tolist()))
    if ragged in lb:
        return product(lhs, rhs, numbers)
    if ragged in lc:
        other = rc[lc.index(ragged)]
        return np.stack(
            [
                product(
                    lhs.take(range(first, last), ragged),
                    rhs.take(range(first, last), other),
                    numbers,
                )
                for first, last in groups
            ]
        )
    # Without its group dimension rhs has lower numbers for those behind it.
    lower = tuple(tuple(d - (d > group[0]) for d in dims) for dims in (rc, rb))
    numbers = ((lc, lower[0]), (lb, lower[1]))
    at = len(lb) + [d for d in range(lhs.ndim) if d not in (*lc, *lb)].index(ragged)
    slices = [rhs.take(g, group[0]) for g in range(len(groups))]
    result = np.zeros_like(product(lhs, slices[0], numbers))
    for (first, last), y in zip(groups, slices, strict=True):
        rows = (*[slice(None)] * at, slice(first, last))
        result[rows] = product(lhs.take(range(first, last), ragged), y, numbers)
    return result
