"""Branches, loops, calls and barriers."""

import operator

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import (
    EVERY,
    FEW,
    anything,
    anything_of,
    by_name,
    smooth_of,
    uniform,
    uniform_of,
)


def _on_true(x):
    return x * x


def _on_false(x):
    return x + x + x


_COMPUTATIONS = (_on_true, _on_false, lambda x: -x)


def _conditional_arguments(predicate):
    def arguments(rng, dtype="float32"):
        return np.asarray(predicate), *(uniform(rng, dtype, (3,)) for _ in range(2))

    return arguments


def _branch_arguments(index):
    def arguments(rng, dtype="float32"):
        return np.int32(index), *(uniform(rng, dtype, (3,)) for _ in range(3))

    return arguments


def _falls_short(x):
    return (x * x).sum() < 50.0


def _doubled(x):
    return x + x


def _discounted(x, carry):
    """An output that depends on both, and a carry in which the order counts."""
    return x * carry, carry + carry - x


def _scan(label, part, shape, statics):
    dim = statics["scan_dimension"]
    kept = tuple(n for d, n in enumerate(shape) if d != dim)

    def arguments(rng, dtype="float32"):
        return uniform(rng, dtype, shape, -2, 2), uniform(rng, dtype, kept, -2, 2)

    def oracle(x, carry, scan_dimension, scan_dimension_size=None, is_reverse=False):
        return oracles.scan(
            x,
            carry,
            step=_discounted,
            scan_dimension=scan_dimension,
            is_reverse=is_reverse,
        )[part]

    return Case(
        title="Scan",
        label=label,
        arguments=arguments,
        arrange=lambda x, carry: {
            "inputs": [x],
            "inits": [carry],
            "computation": _discounted,
        },
        statics=statics,
        oracle=oracle,
        dtypes=("float32", "int32", "float64", "complex64"),
        gradient="yes",
        part=operator.itemgetter(part),
        looser=8.0,  # the carry takes the rounding errors of the steps before
        error=Error(
            lambda: xo.scan([jnp.ones(3)], [0], lambda x, c: (x, x), 0),
            TypeError,
            "computation",
            "float32[]",
        ),
    )


def _call(label, arguments, arrange, computation, oracle, smooth):
    return Case(
        title="Call",
        label=label,
        arguments=arguments,
        arrange=lambda *operands: {
            "computation": computation,
            "operands": arrange(*operands),
        },
        oracle=oracle,
        dtypes=("float32", "int32", "uint8", "bfloat16", "float64", "complex64"),
        gradient="yes",
        smooth=smooth,
        error=Error(lambda: xo.call(3, [1.0]), TypeError, "computation", "int 3"),
    )


def _composite(label, arguments, computation, oracle, smooth):
    return Case(
        title="CompositeCall",
        label=label,
        arguments=arguments,
        arrange=lambda *operands: {
            "computation": computation,
            "operands": list(operands),
        },
        statics={"name": "my.f", "attributes": "{n = 1}", "version": 1},
        oracle=lambda *operands, **_: oracle(*operands),
        dtypes=("float32", "int32", "bfloat16", "float64", "complex64"),
        gradient="yes",
        smooth=smooth,
        error=Error(
            lambda: xo.composite_call(_multiply, [1.0, 2.0], "my.f", "n"),
            ValueError,
            "attributes",
            "'n'",
        ),
    )


def _multiply(x, y):
    return x * y


CONTROL = (
    _scan("outputs", 0, (2, 4), {"scan_dimension": 1}),
    _scan("carry", 1, (4, 2), {"scan_dimension": 0}),
    _scan(
        "reverse",
        0,
        (4, 2),
        {"scan_dimension": 0, "scan_dimension_size": 4, "is_reverse": True},
    ),
    _call(
        "",
        uniform_of(-3, 3, (2, 3), (2, 3)),
        lambda x, y: [x, y],
        _multiply,
        oracles.mul,
        smooth_of((2, 3), (2, 3)),
    ),
    _call(
        "of a tuple",
        uniform_of(-3, 3, (2, 3), (2, 3)),
        lambda x, y: ((x, y),),
        lambda pair: _multiply(*pair),
        oracles.mul,
        smooth_of((2, 3), (2, 3)),
    ),
    _composite(
        "",
        uniform_of(-3, 3, (2, 3), (2, 3)),
        _multiply,
        oracles.mul,
        smooth_of((2, 3), (2, 3)),
    ),
    Case(
        title="OptimizationBarrier",
        label="",
        arguments=anything_of((2, 3)),
        arrange=by_name("operand"),
        oracle=lambda operand: operand,
        dtypes=EVERY,
        exact=True,
        gradient="yes",
        smooth=smooth_of((2, 3)),
        error=Error(lambda: xo.optimization_barrier("x"), TypeError, "operand", "'x'"),
    ),
    Case(
        title="OptimizationBarrier",
        label="tuple",
        arguments=lambda rng, dtype: (
            anything(rng, dtype, (2, 3)),
            anything(rng, dtype, (4,)),
        ),
        arrange=lambda x, y: {"operand": (x, {"y": y})},
        oracle=lambda x, y: y,
        dtypes=FEW,
        exact=True,
        gradient="yes",
        smooth=smooth_of((2, 3), (4,)),
        part=lambda result: result[1]["y"],
        error=Error(
            lambda: xo.optimization_barrier((jnp.ones(2), None, "x")),
            TypeError,
            "operand",
            "'x'",
        ),
    ),
    *(
        Case(
            title="Conditional (predicate)",
            label=f"{predicate}",
            arguments=_conditional_arguments(predicate),
            arrange=lambda pred, x, y: {
                "predicate": pred,
                "true_operand": x,
                "true_computation": _on_true,
                "false_operand": y,
                "false_computation": _on_false,
            },
            oracle=lambda pred, x, y: oracles.conditional(
                pred, x, y, on_true=_on_true, on_false=_on_false
            ),
            dtypes=("float32", "int32", "float64", "complex64", "uint8"),
            gradient="yes",
            differentiable=(1, 2),
            error=Error(
                lambda: xo.conditional(
                    jnp.int32(1), jnp.ones(2), _on_true, jnp.ones(2), _on_false
                ),
                TypeError,
                "predicate",
                "int32[]",
            ),
        )
        for predicate in (True, False)
    ),
    *(
        Case(
            title="Conditional (branch_index)",
            label=f"branch {index}",
            arguments=_branch_arguments(index),
            arrange=lambda i, *xs: {
                "branch_index": i,
                "branch_computations": _COMPUTATIONS,
                "branch_operands": xs,
            },
            oracle=lambda i, *xs: oracles.branches(i, *xs, computations=_COMPUTATIONS),
            dtypes=("float32", "int32", "float64"),
            gradient="yes",
            differentiable=(1, 2, 3),
            error=Error(
                lambda: xo.conditional(0, [_on_true], [jnp.ones(2), jnp.ones(2)]),
                ValueError,
                "branch_operands",
                "got 2",
            ),
        )
        for index in (0, 1, 2, 3, -1)
    ),
    Case(
        title="While",
        label="",
        arguments=lambda rng, dtype="float32": (uniform(rng, dtype, (3,), 1, 3),),
        arrange=lambda x: {"condition": _falls_short, "body": _doubled, "init": x},
        oracle=lambda x: oracles.while_(
            x, condition=lambda v: float((v * v).sum()) < 50, body=_doubled
        ),
        dtypes=("float32", "float64"),
        gradient="forward",
        error=Error(
            lambda: xo.while_(lambda v: v, _doubled, jnp.float32(1)),
            TypeError,
            "condition",
            "float32[]",
        ),
    ),
)
