"""Loops and branches, against the same in Python."""

import collections
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import xlaops as xo

F4, I4 = np.float32, np.int32
Point = collections.namedtuple("Point", ["x", "y"])


# While


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def collatz_loop(n):
    def body(state):
        value, steps = state
        half = xo.eq(xo.rem(value, 2), 0)
        following = xo.select(half, xo.div(value, 2), xo.add(xo.mul(value, 3), 1))
        return following, xo.add(steps, 1)

    return xo.while_(lambda state: xo.ne(state[0], 1), body, (n, 0))[1]


@pytest.mark.parametrize("n", [1, 6, 27])
def test_while(mode, n):
    assert int(mode(collatz_loop)(jnp.int32(n))) == collatz(n)


def test_while_is_not_entered_if_the_condition_is_false(mode):
    got = mode(lambda x: xo.while_(lambda v: xo.lt(v, 0), lambda v: v * 0, x))(I4(5))
    assert int(got) == 5


def test_while_by_keyword():
    got = xo.while_(init=1, body=lambda v: v * 2, condition=lambda v: v < 100)
    assert int(got) == 128
    assert got.dtype == I4


@pytest.mark.parametrize(
    "init",
    [
        {"i": 0, "x": (1.0, 2.0)},
        Point(0, jnp.ones(2)),
        (0, None, ()),
        (0, {"a": (np.float32(1),)}),
    ],
    ids=["dict", "namedtuple", "none", "nested"],
)
def test_while_of_any_pytree(mode, init):
    def loop(value):
        return xo.while_(
            lambda v: jax.tree.leaves(v)[0] < 3, lambda v: jax.tree.map(up, v), value
        )

    def up(x):
        return x + 1

    got = mode(loop)(init)
    assert jax.tree.structure(got) == jax.tree.structure(init)
    want = jax.tree.map(lambda x: np.asarray(x) + 3, init)
    jax.tree.map(np.testing.assert_array_equal, got, want)


def test_lists_are_tuples():
    seen = []

    def body(value):
        seen.append(value)
        i, (x, y) = value
        return [i + 1, [y, x]]

    got = xo.while_(lambda v: v[0] < 3, body, [0, [1.0, 2.0]])
    assert type(got) is tuple
    assert type(got[1]) is tuple
    assert jax.tree.map(float, got) == (3.0, (2.0, 1.0))
    assert all(type(v) is tuple and type(v[1]) is tuple for v in seen)
    nested = xo.while_(
        lambda v: v["n"][0] < 2, lambda v: {"n": [v["n"][0] + 1]}, {"n": [0]}
    )
    assert jax.tree.map(int, nested) == {"n": (2,)}


def test_while_closes_over_traced_values():
    @jax.jit
    def power(x, limit):
        return xo.while_(lambda v: v < limit, lambda v: v * x, x)

    assert float(power(3.0, 50.0)) == 81.0
    got = jax.vmap(power, (0, None))(jnp.array([2.0, 3.0]), 50.0)
    assert got.tolist() == [64.0, 81.0]


def test_while_under_vmap_runs_each_element_its_own_number_of_times():
    ns = [1, 2, 6, 7, 27]
    got = jax.vmap(collatz_loop)(jnp.array(ns))
    assert got.tolist() == [collatz(n) for n in ns]


@pytest.mark.usefixtures("x64")
def test_forward_derivatives_of_while():
    def tenth_power(x):
        return xo.while_(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[
            1
        ]

    value, slope = jax.jvp(tenth_power, (1.5,), (1.0,))
    np.testing.assert_allclose(value, 1.5**10)
    np.testing.assert_allclose(slope, 10 * 1.5**9)
    check_grads(tenth_power, (1.5,), order=2, modes=["fwd"])


def test_reverse_derivatives_of_while_are_refused_by_jax():
    with pytest.raises(ValueError, match=r"[Rr]everse-mode differentiation"):
        jax.grad(lambda x: xo.while_(lambda v: v < 9.0, lambda v: v * x, x))(2.0)


def test_nested_loops(mode):
    def row(state):
        i, total = state
        _, total = xo.while_(
            lambda s: s[0] < i, lambda s: (s[0] + 1, s[1] + s[0]), (0, total)
        )
        return i + 1, total

    got = mode(lambda n: xo.while_(lambda s: s[0] < n, row, (0, 0))[1])(5)
    assert int(got) == sum(sum(range(i)) for i in range(5))


@pytest.mark.parametrize(
    ("condition", "body", "init", "match"),
    [
        (None, lambda v: v, 0, r"condition must be callable, got NoneType None"),
        (lambda v: v < 1, 3, 0, r"body must be callable, got int 3"),
        (
            lambda v: v,
            lambda v: v,
            0,
            r"condition must return a PRED scalar, .*int32\[\]",
        ),
        (
            lambda v: v < jnp.ones(2),
            lambda v: v,
            0.0,
            r"condition must return a PRED scalar, got bool\[2\]",
        ),
        (
            lambda v: (v < 1,),
            lambda v: v,
            0,
            r"condition must return a PRED scalar, got \('bool\[\]',\)",
        ),
        (
            lambda v: None,
            lambda v: v,
            0,
            r"condition must return a PRED scalar, .* None",
        ),
        (
            lambda v: v < 1,
            lambda v: v + 0.5,
            0,
            r"body must return the type of init, int32\[\], got float32\[\]",
        ),
        (
            lambda v: v < 1,
            lambda v: (v, v),
            0,
            r"body must return the type of init, int32\[\], got \('int32\[\]', 'int32",
        ),
        (
            lambda v: v[0] < 1,
            lambda v: (v[0], jnp.ones(3)),
            (0, jnp.ones(2)),
            r"body must return .*float32\[2\].* got .*float32\[3\]",
        ),
        (lambda v: v < 1, lambda v: None, 0, r"body must return .* got None"),
    ],
)
def test_while_refuses(mode, condition, body, init, match):
    with pytest.raises(TypeError, match=f"^while_: {match}"):
        mode(lambda: xo.while_(condition, body, init))()


@pytest.mark.parametrize("init", ["x", object(), (0, "x"), np.array(["x"])])
def test_while_refuses_what_is_no_array(init):
    with pytest.raises(TypeError, match=r"^while_: init.* must .*got "):
        xo.while_(lambda v: True, lambda v: v, init)


def test_while_takes_numpy_and_python_bools_of_a_condition():
    seen = []

    def condition(value):
        seen.append(value)
        return False

    assert int(xo.while_(condition, lambda v: v + 1, 3)) == 3
    assert len(seen) == 1


# Conditional


def test_conditional_by_predicate(mode):
    def call(predicate, x, y):
        return xo.conditional(predicate, x, lambda v: v * 2, y, lambda v: v + 1)

    assert float(mode(call)(True, 3.0, 4.0)) == 6.0
    assert float(mode(call)(jnp.array(False), 3.0, 4.0)) == 5.0
    assert float(mode(call)(np.bool_(True), 3.0, 4.0)) == 6.0


def test_conditional_by_keyword(mode):
    def by_predicate(predicate, x):
        return xo.conditional(
            false_operand=x,
            false_computation=lambda v: v - 1,
            predicate=predicate,
            true_operand=x,
            true_computation=lambda v: v + 1,
        )

    def by_index(index, x):
        return xo.conditional(
            branch_operands=(x, x),
            branch_index=index,
            branch_computations=[lambda v: v - 1, lambda v: v + 1],
        )

    assert [float(mode(by_predicate)(p, 3.0)) for p in (True, False)] == [4.0, 2.0]
    assert [float(mode(by_index)(i, 3.0)) for i in (0, 1)] == [2.0, 4.0]
    mixed = xo.conditional(
        True, 3.0, lambda v: v + 1, false_operand=3.0, false_computation=lambda v: v
    )
    assert float(mixed) == 4.0
    assert (
        float(xo.conditional(1, [lambda v: v] * 2, branch_operands=[3.0, 5.0])) == 5.0
    )


MIN, MAX = np.iinfo(I4).min, np.iinfo(I4).max


@pytest.mark.parametrize("index", [0, 1, 2, 3, 100, -1, -2, MIN, MAX])
@pytest.mark.parametrize("kind", [int, np.int32, jnp.int32])
def test_an_index_out_of_range_chooses_the_last(mode, index, kind):
    branches = [lambda v, i=i: v + 10 * i for i in range(3)]
    got = mode(lambda i, x: xo.conditional(i, branches, [x, x + 1, x + 2]))(
        kind(index), 1.0
    )
    chosen = index if 0 <= index < 3 else 2
    assert float(got) == 1.0 + chosen + 10 * chosen


@pytest.mark.parametrize("count", [1, 2])
def test_few_branches(mode, count):
    call = mode(
        lambda i: xo.conditional(
            i, [lambda v, k=k: v + k for k in range(count)], [0] * count
        )
    )
    assert [int(call(I4(i))) for i in (-1, 0, 1)] == [count - 1, 0, count - 1]


def test_operands_of_different_types():
    def call(predicate):
        return xo.conditional(
            predicate,
            (jnp.ones(3), 2),
            lambda pair: pair[0].sum() * pair[1],
            {"a": jnp.float32(5)},
            lambda d: d["a"],
        )

    assert float(call(True)) == 6.0
    assert float(jax.jit(call)(False)) == 5.0


def test_lists_in_results_are_tuples():
    got = xo.conditional(True, 1.0, lambda v: [v, (v,)], 2.0, lambda v: (v, [v]))
    assert got == (1.0, (1.0,))
    assert type(got) is tuple
    assert type(got[1]) is tuple


def test_closures_over_traced_values():
    @jax.jit
    def call(predicate, x, y):
        return xo.conditional(predicate, x, lambda v: v * y, x, lambda v: v + y)

    assert float(call(True, 3.0, 4.0)) == 12.0
    assert float(jax.grad(call, 2)(True, 3.0, 4.0)) == 3.0
    got = jax.vmap(call, (0, None, 0))(
        jnp.array([True, False]), 3.0, jnp.array([5.0, 7.0])
    )
    assert got.tolist() == [15.0, 10.0]


@pytest.mark.parametrize(
    "batched", [(0, 0, 0), (0, None, None), (None, 0, 0), (None, 0, None)]
)
def test_conditional_under_vmap(batched):
    predicates, xs, ys = (
        np.array([True, False, True]),
        np.arange(3.0),
        np.arange(3.0) + 9,
    )
    xs, ys = xs.astype(F4), ys.astype(F4)
    operands = [
        v if b == 0 else v[1]
        for v, b in zip((predicates, xs, ys), batched, strict=True)
    ]
    got = jax.vmap(
        lambda p, x, y: xo.conditional(p, x, lambda v: v * 2, y, lambda v: -v), batched
    )(*operands)
    rows = [np.broadcast_to(v, 3) for v in operands]
    want = [x * 2 if p else -y for p, x, y in zip(*rows, strict=True)]
    assert got.tolist() == want


def test_conditional_by_index_under_vmap():
    branches = [lambda v: v + 1, lambda v: v * 10, lambda v: v - 5]
    got = jax.vmap(lambda i: xo.conditional(i, branches, [2.0] * 3))(
        jnp.array([-1, 0, 1, 2, 3])
    )
    assert got.tolist() == [-3.0, 3.0, 20.0, -3.0, -3.0]


@pytest.mark.usefixtures("x64")
def test_gradients_are_those_of_the_chosen_branch():
    branches = [lambda v: 2 * v, lambda v: v**3, lambda v: v * v]

    def call(index, x, y, z):
        return xo.conditional(index, branches, [x, y, z])

    slopes = jax.jit(jax.grad(call, (1, 2, 3)))
    curves = jax.jit(jax.jacfwd(jax.grad(call, 2), 2))
    for index in (-1, 0, 1, 2):
        got = slopes(np.int32(index), 0.3, 0.7, 1.1)
        want = [2.0, 3 * 0.7**2, 2 * 1.1]
        chosen = index if index >= 0 else 2
        expected = [want[i] if i == chosen else 0.0 for i in range(3)]
        np.testing.assert_allclose(got, expected)
        curve = curves(np.int32(index), 0.3, 0.7, 1.1)
        np.testing.assert_allclose(curve, 6 * 0.7 if index == 1 else 0.0)


def test_gradient_under_vmap_of_the_predicate():
    def call(p, x):
        return xo.conditional(p, x, lambda v: v * v, x, lambda v: 3.0 * v)

    got = jax.vmap(jax.grad(call, 1))(jnp.array([True, False]), jnp.array([5.0, 5.0]))
    assert got.tolist() == [10.0, 3.0]


def test_nesting(mode):
    def classify(x):
        return xo.conditional(
            x < 0,
            x,
            lambda v: xo.conditional(v < -5, v, lambda _: -2, v, lambda _: -1),
            x,
            lambda v: xo.while_(lambda s: s < v, lambda s: s * 2, 1),
        )

    assert [int(mode(classify)(x)) for x in (-9, -1, 1, 9)] == [-2, -1, 1, 16]


def test_only_the_chosen_branch_runs():
    ran = []

    def noisy(name):
        def branch(v):
            jax.debug.callback(lambda: ran.append(name))
            return v

        return branch

    jax.block_until_ready(xo.conditional(True, 1.0, noisy("t"), 1.0, noisy("f")))
    jax.effects_barrier()
    assert ran == ["t"]


def ident(v):
    return v


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((1, 0, ident, 0, ident), TypeError, r"predicate .* pred .* got int32\[\]"),
        ((0.0, 0, ident, 0, ident), TypeError, r"predicate .* pred .* got float32"),
        ((None, 0, ident, 0, ident), TypeError, r"predicate .* got NoneType None"),
        (
            (np.array([True]), 0, ident, 0, ident),
            TypeError,
            r"predicate must be a scalar, got bool\[1\]",
        ),
        ((True, 0, 1, 0, ident), TypeError, r"true_computation .* callable, got int 1"),
        ((True, 0, ident, 0, None), TypeError, r"false_computation .* got NoneType"),
        (
            (True, 0, ident, 0.0, ident),
            TypeError,
            r"false_computation .* true_computation does, int32\[\], got float32\[\]",
        ),
        (
            (True, 0, lambda v: (v, v), 0, ident),
            TypeError,
            r"false_computation .*, \('int32\[\]', 'int32\[\]'\), got int32\[\]",
        ),
        (
            (0, [ident, ident], [jnp.ones(2), jnp.ones(3)]),
            TypeError,
            r"branch_computations\[1\] .*\[0\] does, float32\[2\], got float32\[3\]",
        ),
        ((0, [ident, 5], [0, 0]), TypeError, r"branch_computations\[1\] .* got int 5"),
        ((0, [], []), ValueError, r"branch_computations must not be empty"),
        ((0, [ident], [0, 0]), ValueError, r"branch_operands .* of the 1 .*got 2"),
        ((0, [ident, ident], [0]), ValueError, r"branch_operands .* of the 2 .*got 1"),
        ((np.int8(0), [ident], [0]), TypeError, r"branch_index .*S32.* got int8\[\]"),
        ((jnp.uint32(0), [ident], [0]), TypeError, r"branch_index .*S32.* got uint32"),
        ((0.0, [ident], [0]), TypeError, r"branch_index .* got float32\[\]"),
        ((True, [ident], [0]), TypeError, r"branch_index .* got bool\[\]"),
        ((I4([0]), [ident], [0]), TypeError, r"branch_index .*scalar, got int32\[1\]"),
        (
            (2**40, [ident], [0]),
            (TypeError, OverflowError),
            r"branch_index.*1099511627776",
        ),
        ((0, ident, [0]), TypeError, r"branch_computations must be a sequence"),
        ((0, [ident], 0), TypeError, r"branch_operands must be a sequence"),
        ((True, "x", ident, 0, ident), TypeError, r"true_operand .*got .*'?x'?"),
        ((True, 0, ident), TypeError, r".*"),
        ((True, 0, ident, 0), TypeError, r"missing a required argument: 'false_comp"),
        ((), TypeError, r"missing a required argument"),
        ((True, 0, ident, 0, ident, 0), TypeError, r"too many positional arguments"),
    ],
)
def test_conditional_refuses(mode, arguments, error, match):
    with pytest.raises(error, match=f"^conditional: {match}"):
        mode(lambda: xo.conditional(*arguments))()


def test_conditional_refuses_unknown_keywords():
    for rest in ({"pred": True}, {"index": 0}):
        with pytest.raises(TypeError, match=r"^conditional: "):
            xo.conditional(true_operand=0, **rest)
    with pytest.raises(TypeError, match=r"^conditional: .*'on_true'"):
        xo.conditional(True, 0, ident, 0, ident, on_true=ident)


@pytest.mark.usefixtures("x64")
def test_python_ints_are_an_index_in_either_mode():
    branches = [lambda v: v, lambda v: v * 10]
    assert float(xo.conditional(0, branches, [2.0, 2.0])) == 2.0
    assert float(xo.conditional(-1, branches, [2.0, 2.0])) == 20.0
    # Not wrapped to 0 by a conversion to 32 bits.
    assert float(xo.conditional(2**32, branches, [2.0, 2.0])) == 20.0
    with pytest.raises(TypeError, match=r"^conditional: branch_index .* got int64\[\]"):
        xo.conditional(np.int64(0), branches, [2.0, 2.0])


def test_the_program_has_one_case():
    branches = [lambda v: v, lambda v: v * 10, jnp.sin]
    text = jax.jit(lambda i: xo.conditional(i, branches, [2.0] * 3)).lower(1).as_text()
    assert len(re.findall(r"stablehlo\.case", text)) == 1


def test_signatures_have_both_forms():
    """For editors: two overloads, and a docstring that names every parameter."""
    for name in ("predicate", "true_operand", "true_computation", "false_operand"):
        assert f"{name}: " in xo.conditional.__doc__
    for name in ("branch_index", "branch_computations", "branch_operands"):
        assert f"{name}: " in xo.conditional.__doc__


# Scan


def _keep(*arrays):
    return arrays


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"inputs": np.ones((2, 3), F4)}, TypeError, r"inputs .* got float32\[2, 3\]"),
        ({"inputs": None}, TypeError, "inputs must be a sequence of arrays"),
        ({"inits": np.ones(2, F4)}, TypeError, r"inits .* got float32\[2\]"),
        ({"inits": 0.0}, TypeError, "inits must be a sequence of arrays"),
        ({"is_reverse": "no"}, TypeError, "is_reverse must be a bool"),
        ({"is_associative": 1}, TypeError, "is_associative must be a bool"),
        (
            {"inputs": [], "scan_dimension_size": -1},
            ValueError,
            "scan_dimension_size must not be negative, got -1",
        ),
    ],
)
def test_scan_refuses(change, error, match):
    arguments = {"inputs": [np.ones(3, F4)], "inits": [F4(0)], "computation": _keep}
    with pytest.raises(error, match=f"^scan: {match}"):
        xo.scan(**{**arguments, "scan_dimension": 0, **change})


def test_scan_of_nothing():
    count = lambda c: (c, c + 1)  # noqa: E731
    outputs, total = xo.scan([], [5], count, 0, scan_dimension_size=0)
    assert outputs.shape == (0,)
    assert total == 5
