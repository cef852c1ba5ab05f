"""Sums of products: dots, of ragged operands too."""

import jax.numpy as jnp
import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import FEW, by_name, uniform_of

# An int8 or float8 sum of more products would round or wrap at every step.
PRODUCT_TYPES = (
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)


def product(
    title, label, shapes, statics, oracle, error, dtypes=PRODUCT_TYPES, gradient="yes"
):
    return Case(
        title=title,
        label=label,
        arguments=uniform_of(-2, 2, *shapes),
        arrange=by_name("lhs", "rhs"),
        statics=statics,
        oracle=oracle,
        dtypes=dtypes,
        gradient=gradient,
        looser=4.0,  # sums of up to 36 products of up to 4
        error=error,
    )


_DOT_ERROR = Error(
    lambda: xo.dot(jnp.ones((2, 3)), jnp.ones((2, 3))), TypeError, "lhs", "(2, 3)"
)
_SUM = {"precision_config": "HIGHEST", "preferred_element_type": None}
_NUMBERS = (((2, 0), (1, 3)), ((1,), (0,)))

DOTS = (
    product(
        "Dot",
        "",
        ((3, 4), (4, 2)),
        {},
        oracles.dot,
        _DOT_ERROR,
        (*PRODUCT_TYPES, "bool", "int4", "uint4", "float8_e4m3fn", "float8_e5m2"),
    ),
    product("Dot", "vectors", ((4,), (4,)), {}, oracles.dot, _DOT_ERROR, FEW),
    product(
        "Dot", "matrix and vector", ((3, 4), (4,)), {}, oracles.dot, _DOT_ERROR, FEW
    ),
    product("Dot", "rank 3", ((2, 4, 3), (4, 2, 2)), {}, oracles.dot, _DOT_ERROR, FEW),
    product(
        "Dot",
        "preferred",
        ((3, 4), (4, 2)),
        {"precision_config": None, "preferred_element_type": np.float32},
        oracles.dot,
        Error(
            lambda: xo.dot(jnp.ones(2), jnp.ones(2, "bfloat16")),
            TypeError,
            "lhs",
            "bfloat16[2]",
        ),
        ("bfloat16", "float16", "float8_e5m2"),
    ),
    product(
        "Dot",
        "preferred s32",
        ((3, 4), (4, 2)),
        {"precision_config": None, "preferred_element_type": np.int32},
        oracles.dot,
        _DOT_ERROR,
        ("int8",),
        "not differentiable",
    ),
    product(
        "DotGeneral",
        "",
        ((3, 2, 4), (2, 4, 2, 3)),
        {"dimension_numbers": _NUMBERS, **_SUM},
        oracles.dot_general,
        Error(
            lambda: xo.dot_general(
                jnp.ones((2, 3)), jnp.ones((3, 2)), (((1,), (2,)), ((), ()))
            ),
            ValueError,
            "rhs_contracting_dimensions",
            "(2,)",
        ),
    ),
    product(
        "DotGeneral",
        "outer",
        ((3,), (2,)),
        {"dimension_numbers": (((), ()), ((), ()))},
        oracles.dot_general,
        Error(
            lambda: xo.dot_general(
                jnp.ones((2, 3)), jnp.ones((2, 3)), (((0,), (1,)), ((), ()))
            ),
            TypeError,
            "contracting",
            "(2, 3)",
        ),
        FEW,
    ),
)


def _ragged_dot(label, shapes, numbers, sizes, dtypes=FEW, tail=None):
    """A product whose first two operands have derivatives."""
    make = uniform_of(-2, 2, *shapes)
    return Case(
        title="RaggedDot",
        label=label,
        arguments=lambda rng, dtype: (
            *make(rng, dtype),
            rng.permutation(np.array(sizes, np.int32)),
        ),
        arrange=by_name("lhs", "rhs", "group_sizes"),
        statics={"dimension_numbers": numbers, **(tail or {})},
        oracle=oracles.ragged_dot,
        dtypes=dtypes,
        gradient="yes",
        smooth=lambda rng, dtype="float64": (
            *make(rng, dtype),
            np.array(sizes, np.int32),
        ),
        differentiable=(0, 1),
        looser=4.0,  # sums of products of up to 4, as above
        error=Error(
            lambda: xo.ragged_dot(
                jnp.ones((4, 2)), jnp.ones((3, 5, 2)), jnp.ones(3, jnp.int32), _GROUPED
            ),
            TypeError,
            "contracting",
            "5",
        ),
    )


_GROUPED = ((((1,), (1,)), ((), ())), (0,), (0,))

RAGGED = (
    _ragged_dot("", ((5, 3), (3, 3, 2)), _GROUPED, (2, 0, 1), PRODUCT_TYPES),
    # Group sizes that add up to more than there is.
    _ragged_dot(
        "batches",
        ((2, 5, 3), (3, 2, 3, 2)),
        ((((2,), (2,)), ((0,), (1,))), (1,), (0,)),
        (1, 3, 4),
        tail=_SUM,
    ),
    _ragged_dot(
        "contracting",
        ((5, 2), (5, 3)),
        ((((0,), (0,)), ((), ())), (0,), ()),
        (2, 1, 1),
    ),
    _ragged_dot(
        "batch",
        ((3, 2, 4), (3, 4, 2)),
        ((((2,), (1,)), ((0,), (0,))), (0,), ()),
        (1, 1, 1),
        ("float32", "int32"),
    ),
)


def _scaled_dot(label, statics, dtypes, arguments, equation, smooth=None):
    def oracle(*operands, **_):
        product = oracles.scaled_einsum(*operands, equation)
        return product.astype(operands[0].dtype)

    return Case(
        title="ScaledDot",
        label=label,
        arguments=arguments,
        arrange=by_name("lhs", "lhs_scale", "rhs", "rhs_scale"),
        statics=statics,
        oracle=oracle,
        dtypes=dtypes,
        gradient="yes",
        smooth=smooth,
        looser=4,  # a sum of products, of which the terms may cancel
        error=Error(
            lambda: xo.scaled_dot(
                jnp.ones((2, 4)), jnp.ones((2, 3)), jnp.ones((4, 2)), 1.0, _MATRICES
            ),
            TypeError,
            "lhs_scale",
            "float32[2, 3]",
        ),
    )


_MATRICES = (((1,), (0,)), ((), ()))
SCALED = (
    _scaled_dot(
        "",
        {"dimension_numbers": _MATRICES, "precision_config": "HIGHEST"},
        ("float32", "float64"),
        uniform_of(0.5, 2, (3, 8), (3, 2), (8, 2), (4, 2)),
        "mk,kn->mn",
        uniform_of(0.5, 2, (2, 4), (2, 2), (4, 2), (2, 2)),
    ),
    _scaled_dot(
        "batch",
        {
            "dimension_numbers": (((2,), (1,)), ((0,), (0,))),
            "precision_config": "HIGHEST",
        },
        ("float32",),
        uniform_of(0.5, 2, (2, 3, 4), (2, 3, 1), (2, 4, 2), (2, 2, 2)),
        "bmk,bkn->bmn",
        uniform_of(0.5, 2, (2, 1, 4), (2, 1, 1), (2, 4, 2), (2, 2, 2)),
    ),
)
