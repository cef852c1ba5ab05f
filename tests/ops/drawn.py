"""Random computations over 32-bit integers, which numpy and JAX do exactly alike.

A computation is drawn as a tree, so that a failure prints it, and called with numpy or
JAX scalars.
"""

from hypothesis import strategies as st

_CONSTANTS = st.integers(-3, 3)


def _chosen(condition, x, y):
    """One of two numbers, by arithmetic that numpy and JAX write alike."""
    return condition * x + (condition ^ True) * y


_OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": lambda a, b: _chosen(a > b, a, b),
    "min": lambda a, b: _chosen(a < b, a, b),
    "xor": lambda a, b: a ^ b,
}


def evaluate(tree, arguments):
    match tree:
        case ("argument", i):
            return arguments[i]
        case ("constant", k):
            return arguments[0] * 0 + k
        case (name, left, right):
            return _OPERATIONS[name](
                evaluate(left, arguments), evaluate(right, arguments)
            )


def expressions(count):
    """Trees of a few operations on ``count`` arguments."""
    leaves = st.one_of(
        st.tuples(st.just("argument"), st.integers(0, count - 1)),
        st.tuples(st.just("constant"), _CONSTANTS),
    )
    return st.recursive(
        leaves,
        lambda inner: st.tuples(st.sampled_from(sorted(_OPERATIONS)), inner, inner),
        max_leaves=6,
    )


class Drawn:
    """A computation that prints what it does."""

    def __init__(self, function, *described):
        self.function, self.described = function, described

    def __call__(self, *arguments):
        return self.function(*arguments)

    def __repr__(self):
        return f"Drawn{self.described}"


def functions(count):
    """Any computation of ``count`` numbers that returns one."""
    return expressions(count).map(
        lambda tree: Drawn(lambda *arguments: evaluate(tree, arguments), tree)
    )


_ASSOCIATIVE = {
    "sum": lambda k: lambda a, b: a + b + k,
    "product": lambda k: lambda a, b: a * b * k,
    "shifted product": lambda k: lambda a, b: (a + k) * (b + k) - k,
    "largest": lambda k: lambda a, b: _chosen(a > b, a, b),
    "smallest": lambda k: lambda a, b: _chosen(a < b, a, b),
    "xor": lambda k: lambda a, b: a ^ b,
    "first": lambda k: lambda a, b: a + b * 0,
    "last": lambda k: lambda a, b: a * 0 + b,
}
_OF_PAIRS = {
    # The composition of two lines.
    "affine": lambda a, b, c, d: (a * c, b * c + d),
    "last largest": lambda v, i, w, j: (_chosen(w >= v, w, v), _chosen(w >= v, j, i)),
}


@st.composite
def associative(draw, count):
    """An associative computation of ``count`` running values and as many elements."""
    if count == 2 and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(_OF_PAIRS)))
        return Drawn(_OF_PAIRS[name], name)
    parts = [
        (draw(st.sampled_from(sorted(_ASSOCIATIVE))), draw(_CONSTANTS))
        for _ in range(count)
    ]
    each = [_ASSOCIATIVE[name](k) for name, k in parts]

    def combine(*arguments):
        results = tuple(
            f(a, b)
            for f, a, b in zip(each, arguments[:count], arguments[count:], strict=True)
        )
        return results if count > 1 else results[0]

    return Drawn(combine, parts)


@st.composite
def orders(draw, count):
    """A comparator that is a strict weak order of ``count`` operands."""
    keys = [draw(expressions(1)) for _ in range(draw(st.integers(1, count)))]
    downward = [draw(st.booleans()) for _ in keys]

    def before(*arguments):
        pairs = zip(arguments[::2], arguments[1::2], strict=True)
        result = None
        compared = list(zip(keys, downward, pairs, strict=False))
        for key, is_downward, (a, b) in reversed(compared):
            x, y = evaluate(key, [a]), evaluate(key, [b])
            comes_first = x > y if is_downward else x < y
            result = comes_first if result is None else comes_first | (x == y) & result
        return result

    return Drawn(before, keys, downward)


@st.composite
def updates(draw):
    """A computation of an element and an update whose order among updates is free."""
    tree = draw(expressions(1))
    name = draw(st.sampled_from(["add", "sub", "mul", "max", "min", "xor"]))
    return Drawn(
        lambda old, new: _OPERATIONS[name](old, evaluate(tree, [new])), name, tree
    )
