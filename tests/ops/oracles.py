"""What the operations compute, in numpy, scipy, mpmath and loops: nothing of JAX.

An oracle takes numpy arrays and gives a numpy array of the exact element type and
shape. Floating-point numbers are computed as float64 and rounded once; integers as
Python's, and wrapped at the end.
"""

import itertools
import math

import ml_dtypes
import mpmath
import numpy as np
import scipy.special
import scipy.stats

# Element types


def kind(dtype):
    """One of b, i, u, f and c; ml_dtypes' own types have none in numpy."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biufc" and dtype.name != "bfloat16":
        return dtype.kind
    if dtype.name.startswith("int"):
        return "i"
    return "u" if dtype.name.startswith("uint") else "f"


def bits(dtype):
    return ml_dtypes.iinfo(dtype).bits


def wide(x):
    """The numbers in the widest type of their kind; integers as Python's."""
    x = np.asarray(x)
    match kind(x.dtype):
        case "f":
            return x.astype(np.float64)
        case "c":
            return x.astype(np.complex128)
        case "i":
            return x.astype(np.int64).astype(object)
        case "u":
            return x.astype(np.uint64).astype(object)
    return x


def wrapped(values, dtype):
    """Python integers modulo two to the number of bits."""
    modulus = 1 << bits(dtype)
    signed = kind(dtype) == "i"

    def one(value):
        value = int(value) % modulus
        return value - modulus if signed and value >= modulus // 2 else value

    flat = [one(v) for v in np.asarray(values, object).ravel()]
    store = np.int64 if signed else np.uint64
    return np.array(flat, store).reshape(np.shape(values)).astype(dtype)


def _elementwise(f, *arrays):
    """``f`` of Python integers at every element."""
    arrays = np.broadcast_arrays(*arrays)
    flat = [f(*values) for values in zip(*(a.ravel() for a in arrays), strict=True)]
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(arrays[0].shape)


def by_kind(*, real=None, complex=None, integer=None, boolean=None):
    """An oracle of which the result has the operands' element type."""

    def oracle(*operands):
        dtype = operands[0].dtype
        values = [wide(x) for x in operands]
        match kind(dtype):
            case "b":
                return np.asarray(boolean(*values), bool)
            case "f":
                return np.asarray(real(*values)).astype(dtype)
            case "c":
                return np.asarray((complex or real)(*values)).astype(dtype)
        return wrapped(_elementwise(integer, *values), dtype)

    return oracle


# Broadcasting


def placed(x, shape, dimensions):
    """``x`` with dimension i at ``dimensions[i]``, repeated in the rest."""
    result = np.empty(shape, x.dtype)
    for index in np.ndindex(*shape):
        source = tuple(
            0 if size == 1 else index[d]
            for size, d in zip(x.shape, dimensions, strict=True)
        )
        result[index] = x[source]
    return result


def broadcast(operand, broadcast_sizes):
    rank = len(broadcast_sizes)
    return placed(
        operand,
        (*broadcast_sizes, *operand.shape),
        tuple(range(rank, rank + operand.ndim)),
    )


def broadcast_in_dim(operand, out_dim_size, broadcast_dimensions):
    return placed(operand, tuple(out_dim_size), broadcast_dimensions)


def binary(oracle):
    """The oracle of equal shapes, with the document's broadcasting before it."""

    def broadcasting(lhs, rhs, broadcast_dimensions=()):
        dims = tuple(broadcast_dimensions)
        rank = max(lhs.ndim, rhs.ndim)

        def expanded(x):
            if x.ndim == rank:
                return x
            if not x.ndim:
                return x.reshape((1,) * rank)
            shape = [1] * rank
            for size, d in zip(x.shape, dims, strict=True):
                shape[d] = size
            return x.reshape(shape)

        lhs, rhs = expanded(lhs), expanded(rhs)
        shape = tuple(
            m if n == 1 else n for m, n in zip(lhs.shape, rhs.shape, strict=True)
        )
        same = tuple(range(rank))
        return oracle(placed(lhs, shape, same), placed(rhs, shape, same))

    return broadcasting


# Arithmetic


def _truncated(x, y):
    if y == 0:
        return -1
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _remainder(x, y):
    return x if y == 0 else x - _truncated(x, y) * y


def _integer_power(x, y):
    if y >= 0:
        return pow(x, y, 1 << 64)
    return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)


def _lexicographic(larger):
    def choose(x, y):
        first = (x.real > y.real) | ((x.real == y.real) & (x.imag > y.imag))
        return np.where(first == larger, x, y)

    return choose


def _signed_zero(larger):
    """Maximum or minimum in which NaN wins, and -0 is below +0."""

    def choose(x, y):
        result = (np.maximum if larger else np.minimum)(x, y)
        both = (x == 0) & (y == 0)
        negative = (
            (np.signbit(x) & np.signbit(y))
            if larger
            else (np.signbit(x) | np.signbit(y))
        )
        return np.where(both, np.where(negative, -0.0, 0.0), result)

    return choose


def _complex_direction(z):
    size = np.abs(z)
    return np.where(size == 0, 0, z / np.where(size == 0, 1, size))


add = binary(
    by_kind(real=np.add, integer=lambda x, y: x + y, boolean=lambda x, y: x | y)
)
sub = binary(by_kind(real=np.subtract, integer=lambda x, y: x - y))
mul = binary(
    by_kind(real=np.multiply, integer=lambda x, y: x * y, boolean=lambda x, y: x & y)
)
div = binary(by_kind(real=np.divide, integer=_truncated))
rem = binary(by_kind(real=np.fmod, integer=_remainder))
maximum = binary(
    by_kind(
        real=_signed_zero(True),
        complex=_lexicographic(True),
        integer=lambda x, y: x if x > y else y,
        boolean=np.logical_or,
    )
)
minimum = binary(
    by_kind(
        real=_signed_zero(False),
        complex=_lexicographic(False),
        integer=lambda x, y: x if x < y else y,
        boolean=np.logical_and,
    )
)
power = binary(by_kind(real=np.power, integer=_integer_power))
atan2 = binary(by_kind(real=np.arctan2))
and_ = binary(by_kind(integer=lambda x, y: x & y, boolean=lambda x, y: x & y))
or_ = binary(by_kind(integer=lambda x, y: x | y, boolean=lambda x, y: x | y))
xor = binary(by_kind(integer=lambda x, y: x ^ y, boolean=lambda x, y: x ^ y))
not_ = by_kind(integer=lambda x: ~x, boolean=lambda x: ~x)
neg = by_kind(real=np.negative, integer=lambda x: -x)
sign = by_kind(
    real=lambda x: np.where(x == 0, x, np.sign(x)),
    complex=_complex_direction,
    integer=lambda x: (x > 0) - (x < 0),
)


def abs_(operand):
    if kind(operand.dtype) == "c":
        parts = {"complex64": np.float32, "complex128": np.float64}
        return np.abs(wide(operand)).astype(parts[operand.dtype.name])
    return by_kind(real=np.abs, integer=lambda x: x if x >= 0 else -x)(operand)


# Rounding

ceil = by_kind(real=np.ceil)
floor = by_kind(real=np.floor)
round_even = by_kind(real=np.rint)
round_away = by_kind(
    real=lambda x: np.copysign(
        np.where(np.abs(x) % 1 == 0.5, np.ceil(np.abs(x)), np.rint(np.abs(x))), x
    )
)


# Functions of one operand


def _mpmath(f):
    """A function of mpmath at every element, with 40 digits."""

    def oracle(operand):
        with mpmath.workdps(40):
            values = [complex(f(mpmath.mpc(z))) for z in wide(operand).ravel()]
        return np.array(values).reshape(operand.shape)

    return oracle


cbrt = by_kind(real=np.cbrt, complex=_mpmath(lambda z: mpmath.exp(mpmath.log(z) / 3)))
cos = by_kind(real=np.cos, complex=_mpmath(mpmath.cos))
exp = by_kind(real=np.exp, complex=_mpmath(mpmath.exp))
expm1 = by_kind(real=np.expm1, complex=_mpmath(lambda z: mpmath.exp(z) - 1))
log = by_kind(real=np.log, complex=_mpmath(mpmath.log))
log1p = by_kind(real=np.log1p, complex=_mpmath(lambda z: mpmath.log(1 + z)))
logistic = by_kind(
    real=scipy.special.expit, complex=_mpmath(lambda z: 1 / (1 + mpmath.exp(-z)))
)
rsqrt = by_kind(
    real=lambda x: 1 / np.sqrt(x), complex=_mpmath(lambda z: 1 / mpmath.sqrt(z))
)
sin = by_kind(real=np.sin, complex=_mpmath(mpmath.sin))
sqrt = by_kind(real=np.sqrt, complex=_mpmath(mpmath.sqrt))
tan = by_kind(real=np.tan, complex=_mpmath(mpmath.tan))
tanh = by_kind(real=np.tanh, complex=_mpmath(mpmath.tanh))


# Comparison

_PYTHON = {
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
    "GE": lambda x, y: x >= y,
    "GT": lambda x, y: x > y,
    "LE": lambda x, y: x <= y,
    "LT": lambda x, y: x < y,
}


def comparison(direction):
    def compared(lhs, rhs):
        return np.asarray(_PYTHON[direction](wide(lhs), wide(rhs)), bool)

    return binary(compared)


def order_key(x):
    """Integers that are ordered as XLA's total order orders the numbers ``x``."""
    if kind(x.dtype) != "f":
        return wide(x)
    width = 8 * x.dtype.itemsize
    pattern = x.view(f"u{x.dtype.itemsize}").astype(object)
    magnitude = pattern % (1 << (width - 1))
    return np.where(pattern >= (1 << (width - 1)), -magnitude - 1, magnitude)


def total_order(direction):
    def compared(lhs, rhs):
        return np.asarray(_PYTHON[direction](order_key(lhs), order_key(rhs)), bool)

    return binary(compared)


def compare(lhs, rhs, broadcast_dimensions, direction, type):
    make = total_order if type == "TOTALORDER" else comparison
    return make(direction)(lhs, rhs, broadcast_dimensions)


def is_finite(operand):
    return np.isfinite(wide(operand))


# Choice


def select(pred, on_true, on_false):
    return np.where(pred, on_true, on_false)


def clamp(min, operand, max):
    def one(low, x, high):
        if low != low or x != x or high != high:
            return math.nan
        x = low if x < low else x
        return high if x > high else x

    arrays = np.broadcast_arrays(*(wide(a) for a in (min, operand, max)))
    result = _elementwise(one, *arrays)
    if kind(operand.dtype) in "iu":
        return wrapped(result, operand.dtype)
    return result.astype(np.float64).astype(operand.dtype)


def convert(operand, new_element_type):
    target = np.dtype(
        {
            "pred": bool,
            "s4": ml_dtypes.int4,
            "s8": np.int8,
            "u32": np.uint32,
            "s64": np.int64,
            "f8e4m3fn": ml_dtypes.float8_e4m3fn,
            "bf16": ml_dtypes.bfloat16,
            "f16": np.float16,
            "f32": np.float32,
            "f64": np.float64,
            "c64": np.complex64,
        }[new_element_type]
    )
    values, source, into = wide(operand), kind(operand.dtype), kind(target)
    if into == "b":
        return np.asarray(values != 0, bool)
    if source == "b":
        return values.astype(target)
    if source == "c" and into != "c":
        values, source = values.real, "f"
    if into in "iu":
        if source == "f":
            limits = ml_dtypes.iinfo(target)

            def saturated(v):
                if math.isnan(v):
                    return 0
                if math.isinf(v):
                    return limits.max if v > 0 else limits.min
                return sorted((int(limits.min), math.trunc(v), int(limits.max)))[1]

            values = _elementwise(saturated, values)
        return wrapped(values, target)
    if source in "iu":
        # numpy's, because a Python integer above 2**53 must be rounded only once.
        return operand.astype(target)
    return values.astype(target)


# Shapes


def iota(shape, iota_dimension):
    name, _, dims = shape.removesuffix("]").partition("[")
    sizes = tuple(int(n) for n in dims.split(","))
    types = {"s32": np.int32, "u8": np.uint8, "f32": np.float32, "c64": np.complex64}
    types |= {"bf16": ml_dtypes.bfloat16, "s64": np.int64, "f16": np.float16}
    types |= {"s4": ml_dtypes.int4, "f8e4m3fn": ml_dtypes.float8_e4m3fn}
    return np.indices(sizes)[iota_dimension].astype(types[name])


def reshape(operand, dimensions):
    result = np.empty(math.prod(dimensions), operand.dtype)
    for i, index in enumerate(np.ndindex(*operand.shape)):
        result[i] = operand[index]
    return result.reshape(dimensions)


def reshape_explicit(shape, operand):
    dims = shape.partition("[")[2].removesuffix("]").split(",")
    return reshape(operand, tuple(int(n) for n in dims))


def transpose(operand, permutation):
    sizes = tuple(operand.shape[p] for p in permutation)
    result = np.empty(sizes, operand.dtype)
    for index in np.ndindex(*sizes):
        source = [0] * len(permutation)
        for i, p in enumerate(permutation):
            source[p] = index[i]
        result[index] = operand[tuple(source)]
    return result


def concat_in_dim(*operands, dimension):
    return np.concatenate(operands, axis=dimension)


def pad(operand, padding_value, padding_config):
    sizes, positions = [], []
    for n, (low, high, interior) in zip(operand.shape, padding_config, strict=True):
        sizes.append(low + high + n + (n - 1 if n else 0) * interior)
        positions.append([low + i * (1 + interior) for i in range(n)])
    result = np.full(sizes, padding_value, operand.dtype)
    for index in np.ndindex(*operand.shape):
        at = tuple(p[i] for p, i in zip(positions, index, strict=True))
        if all(0 <= i < n for i, n in zip(at, sizes, strict=True)):
            result[at] = operand[index]
    return result


def slice_(operand, start_indices, limit_indices, strides=None):
    strides = strides or (1,) * operand.ndim
    chosen = [
        range(*bounds)
        for bounds in zip(start_indices, limit_indices, strides, strict=True)
    ]
    result = [operand[index] for index in itertools.product(*chosen)]
    return np.array(result, operand.dtype).reshape([len(c) for c in chosen])


# Products


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


# Control flow


def conditional(predicate, true_operand, false_operand, *, on_true, on_false):
    return on_true(true_operand) if predicate else on_false(false_operand)


def branches(branch_index, *operands, computations):
    index = int(branch_index)
    index = index if 0 <= index < len(computations) else len(computations) - 1
    return computations[index](operands[index])


def while_(value, *, condition, body):
    while condition(value):
        value = body(value)
    return value


# Random numbers: properties, in the place of values. By chance the bounds fail less
# than once in a million runs.


def check_uniform(sample, a, b):
    """Range, and the whole distribution (of more than a thousand numbers)."""
    values = np.asarray(sample).ravel()
    low, high = wide(a)[()], wide(b)[()]
    values = wide(values)
    assert all(low <= v < high for v in values)
    if kind(sample.dtype) == "f":
        width = float(high - low)
        step = float(ml_dtypes.finfo(sample.dtype).eps) * width
        result = scipy.stats.kstest((values - low) / width, scipy.stats.uniform.cdf)
        # Types of few bits have steps in their distribution.
        assert result.statistic < 3 / math.sqrt(len(values)) + step
    else:
        # Spread out to a continuous distribution by where in its step each one falls.
        width = int(high) - int(low)
        jitter = (np.arange(len(values)) * 0.618033988749895) % 1
        unit = np.array([(int(v) - int(low)) for v in values], float) + jitter
        result = scipy.stats.kstest(unit / width, scipy.stats.uniform.cdf)
        assert result.statistic < 3 / math.sqrt(len(values))


def check_normal(sample, mu, sigma):
    values = wide(np.asarray(sample).ravel())
    mu, sigma = float(wide(mu)[()]), float(wide(sigma)[()])
    step = float(ml_dtypes.finfo(sample.dtype).eps)
    unit = (values - mu) / sigma
    assert np.all(np.isfinite(values))
    result = scipy.stats.kstest(unit, scipy.stats.norm.cdf)
    assert result.statistic < 3 / math.sqrt(len(values)) + 4 * step * abs(mu / sigma)
    assert abs(unit.mean()) < 6 / math.sqrt(len(values)) + 2 * step
    assert abs(unit.std() - 1) < 6 / math.sqrt(len(values)) + 2 * step
