"""The cases that element-wise operations of one and of two operands have."""

import dataclasses

import jax.numpy as jnp
import numpy as np

import xlaops as xo

from .case import BY_TITLE, Case, Error
from .operands import FEW, INEXACT, anything, apart, by_name, dtype_of, uniform

_TWO_THREE = (2, 3)


def accurate(
    title, oracle, low=-3.0, high=3.0, *, dtypes=INEXACT, interval=None, looser=1.0
):
    """A function with a result accuracy: the plain form, and that with it."""
    name = BY_TITLE[title].function
    function = getattr(xo, name)

    def arguments(rng, dtype):
        return (uniform(rng, dtype, (3, 4), low, high),)

    def smooth(rng, dtype="float64"):
        return (uniform(rng, dtype, (2, 3), *(interval or (low, high))),)

    shared = {
        "arguments": arguments,
        "arrange": by_name("operand"),
        "gradient": "yes",
        "smooth": smooth,
        "looser": looser,
    }
    return (
        Case(
            title=title,
            label="",
            oracle=oracle,
            dtypes=dtypes,
            error=Error(
                lambda: function(jnp.arange(3)), TypeError, "operand", "int32[3]"
            ),
            **shared,
        ),
        Case(
            title=f"{title} (result_accuracy)",
            label="",
            oracle=lambda operand, result_accuracy: oracle(operand),
            statics={"result_accuracy": "HIGHEST"},
            dtypes=("float32",),
            error=Error(
                lambda: function(jnp.ones(3), {"atol": -1.5}),
                ValueError,
                "result_accuracy",
                "-1.5",
            ),
            **shared,
        ),
    )


def unary(title, oracle, dtypes, *, gradient="yes", exact=True, looser=1.0):
    function = getattr(xo, BY_TITLE[title].function)
    refused = np.ones(3, bool) if "bool" not in dtypes else np.ones(3, np.float32)
    if gradient == "yes":

        def smooth(rng, dtype="float64"):
            if dtype.startswith("c"):
                return (uniform(rng, dtype, (2, 3), 0.5, 2.0),)
            return (apart(rng, (2, 3), dtype),)

    else:
        smooth = None

    return Case(
        title=title,
        label="",
        arguments=lambda rng, dtype: (anything(rng, dtype, (3, 4)),),
        arrange=by_name("operand"),
        oracle=oracle,
        dtypes=dtypes,
        exact=exact,
        gradient=gradient,
        smooth=smooth,
        looser=looser,
        error=Error(
            lambda: function(refused),
            TypeError,
            "operand",
            f"{refused.dtype}[3]",
        ),
    )


def part_of_complex(title, oracle, dtypes):
    """A part of a complex number, of real numbers as well."""
    plain = unary(title, oracle, dtypes)
    return plain, dataclasses.replace(plain, label="complex", dtypes=("complex64",))


def binary(
    title,
    oracle,
    dtypes,
    *,
    gradient="yes",
    exact=True,
    arguments=None,
    smooth=None,
    looser=1.0,
    few=None,
):
    """The plain form, and that with broadcast_dimensions."""
    function = getattr(xo, BY_TITLE[title].function)
    few = few or tuple(t for t in FEW if t in dtypes) or dtypes[:3]
    arguments = arguments or anything
    shared = {
        "arrange": by_name("lhs", "rhs"),
        "exact": exact,
        "gradient": gradient,
        "looser": looser,
    }

    def both(make, *shapes):
        if make is None:
            return None

        def operands(rng, dtype="float64"):
            if make is apart:
                parts = apart(rng, (3 * int(np.prod(shapes[0])),), dtype)
                sizes = [int(np.prod(s)) for s in shapes]
                return tuple(
                    parts[: sizes[0]].reshape(shapes[0])
                    if i == 0
                    else parts[sizes[0] : sizes[0] + sizes[1]].reshape(shapes[1])
                    for i in range(2)
                )
            return tuple(make(rng, dtype, shape) for shape in shapes)

        return operands

    zeros = [np.zeros(s, dtype_of(dtypes[0])) for s in ((2, 3), (3,))]
    plain = Case(
        title=title,
        label="",
        arguments=both(arguments, (3, 4), (3, 4)),
        oracle=oracle,
        dtypes=dtypes,
        smooth=both(smooth, _TWO_THREE, _TWO_THREE),
        error=Error(
            lambda: function(*zeros), TypeError, "broadcast_dimensions", "(3,)"
        ),
        **shared,
    )
    degenerate = dataclasses.replace(
        plain,
        label="degenerate",
        dtypes=few[:1],
        arguments=both(arguments, (3, 1), (1, 4)),
        smooth=both(smooth, (3, 1), (1, 2)),
        error=Error(
            lambda: function(zeros[1], zeros[1][:2]), TypeError, "lhs and rhs", "(2,)"
        ),
    )
    scalar = dataclasses.replace(
        plain,
        label="scalar",
        dtypes=few[:1],
        arguments=both(arguments, (3, 4), ()),
        smooth=both(smooth, _TWO_THREE, ()),
        error=Error(
            lambda: function(zeros[1], [1]), TypeError, "rhs", "list of length 1"
        ),
    )
    dims = Case(
        title=f"{title} (broadcast_dimensions)",
        label="",
        arguments=both(arguments, (4,), (3, 4)),
        oracle=oracle,
        statics={"broadcast_dimensions": (1,)},
        dtypes=few,
        smooth=both(smooth, (3,), _TWO_THREE),
        error=Error(
            lambda: function(*zeros, (2,)), ValueError, "broadcast_dimensions", "(2,)"
        ),
        **shared,
    )
    # Size 1 of each is stretched, after the ranks are made equal.
    both_ways = dataclasses.replace(
        dims,
        label="both ways",
        statics={"broadcast_dimensions": (0, 2)},
        dtypes=few[:1],
        arguments=both(arguments, (2, 1, 4), (1, 4)),
        smooth=both(smooth, (2, 1, 2), (1, 2)),
        error=Error(
            lambda: function(np.zeros((2, 3, 4), zeros[0].dtype), zeros[0], (1, 0)),
            ValueError,
            "broadcast_dimensions",
            "(1, 0)",
        ),
    )
    return plain, degenerate, scalar, dims, both_ways


def header_binary(title, *args, **options):
    """The same, where one record has the form with broadcast_dimensions too."""
    return tuple(
        dataclasses.replace(
            case,
            title=title,
            label=case.label or ("" if case.title == title else "broadcast_dimensions"),
        )
        for case in binary(title, *args, **options)
    )
