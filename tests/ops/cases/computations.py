"""Operations that take a computation: reductions, windows, scatters, sorts, maps."""

import operator

import jax.numpy as jnp
import numpy as np
from ops import interpreter

import xlaops as xo

from .case import BY_TITLE, Case, Error
from .operands import apart, by_name, uniform, uniform_of


def _combine(a, b):
    """Associative and commutative, and of more than one operation."""
    return a * b + a + b


def _subtract(a, b):
    return a - b


def _further_from_half(a, b):
    return (a - 0.5) * (a - 0.5) >= (b - 0.5) * (b - 0.5)


_REDUCED = ("float32", "int32", "uint8", "float64", "complex64")


def _and_scalar(shape, low=0.2, high=1.2):
    return lambda rng, dtype="float64": (
        uniform(rng, dtype, shape, low, high),
        uniform(rng, dtype, (), low, high),
    )


def _reduce(label, computation, dims, shape=(3, 4, 2)):
    return Case(
        title="Reduce",
        label=label,
        arguments=_and_scalar(shape),
        arrange=lambda x, init: {"operands": [x], "init_values": [init]},
        statics={"computation": computation, "dimensions_to_reduce": dims},
        oracle=lambda x, init, computation, dimensions_to_reduce: interpreter.reduce(
            [x], [init], computation, dimensions_to_reduce
        )[0],
        dtypes=_REDUCED,
        gradient="yes",
        smooth=_and_scalar((3, 2, 2)),
        looser=30,
        error=Error(
            lambda: xo.reduce([jnp.ones(3)], [0.0], xo.add, [1]),
            ValueError,
            "dimensions_to_reduce",
            "(1,)",
        ),
    )


def _window(title, label, computation, window, further, shape=(4, 5)):
    names = ("window_dimensions", "window_strides")
    given = dict(zip(names, window, strict=True)) | further

    def oracle(
        x, init, computation, window_dimensions, window_strides, padding, **rest
    ):
        if padding == "SAME":
            padding = interpreter.same_padding(
                x.shape, window_dimensions, window_strides
            )
        (result,) = interpreter.reduce_window(
            [x],
            [init],
            computation,
            window_dimensions,
            window_strides,
            padding,
            rest.get("base_dilations"),
            rest.get("window_dilations"),
        )
        return result

    function = getattr(xo, BY_TITLE[title].function)
    return Case(
        title=title,
        label=label,
        arguments=_and_scalar(shape),
        arrange=lambda x, init: {"operands": [x], "init_values": [init]},
        statics={"computation": computation, **given},
        oracle=oracle,
        dtypes=_REDUCED,
        gradient="yes",
        smooth=_and_scalar((3, 3)),
        looser=10,
        error=Error(
            lambda: function(
                [jnp.ones(3)], [0.0], xo.add, [0], [1], None, None, [(0, 0)]
            ),
            ValueError,
            "window_dimensions",
            "(0,)",
        ),
    )


def _selected(title, padding):
    function = getattr(xo, BY_TITLE[title].function)

    def oracle(x, source, init, *, select, window_dimensions, window_strides, **rest):
        explicit = rest["padding"]
        if explicit == "SAME":
            explicit = interpreter.same_padding(
                x.shape, window_dimensions, window_strides
            )
        return interpreter.select_and_scatter(
            x,
            select,
            window_dimensions,
            window_strides,
            explicit,
            source,
            init,
            rest["scatter"],
        )

    return Case(
        title=title,
        label="",
        arguments=lambda rng, dtype="float64": (
            apart(rng, (4, 5), dtype),
            uniform(rng, dtype, (2, 5)),
            uniform(rng, dtype, ()),
        ),
        arrange=by_name("operand", "source", "init_value"),
        statics={
            "select": _further_from_half,
            "window_dimensions": (2, 3),
            "window_strides": (2, 1),
            "padding": padding,
            "scatter": _subtract,
        },
        oracle=oracle,
        dtypes=("float32", "float64"),
        gradient="yes",
        differentiable=(1, 2),
        looser=10,
        error=Error(
            lambda: function(
                jnp.ones(4), xo.ge, [2], [2], [(0, 0)], jnp.ones(3), 0.0, xo.add
            ),
            TypeError,
            "source",
            "float32[3]",
        ),
    )


_WINDOWS_OF_ROWS = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0, 1),
    "index_vector_dim": 0,
}


def _scatter(label, computation, indices, further):
    def arguments(rng, dtype="float64"):
        places = np.array(indices, np.int32)
        return (
            uniform(rng, dtype, (4, 5)),
            places,
            uniform(rng, dtype, (places.shape[1], 2)),
        )

    return Case(
        title="Scatter",
        label=label,
        arguments=arguments,
        arrange=lambda x, i, u: {
            "operands": [x],
            "scatter_indices": i,
            "updates": [u],
        },
        statics={
            "update_computation": computation,
            "dimension_numbers": _WINDOWS_OF_ROWS,
            **further,
        },
        oracle=lambda x, i, u, update_computation, dimension_numbers, **further: (
            interpreter.scatter([x], i, [u], update_computation, dimension_numbers)[0]
        ),
        dtypes=_REDUCED,
        gradient="yes",
        differentiable=(0, 2),
        looser=10,
        error=Error(
            lambda: xo.scatter(
                [jnp.ones(3)], jnp.ones(2), [jnp.ones(2)], xo.add, _WINDOWS_OF_ROWS
            ),
            TypeError,
            "scatter_indices",
            "float32[2]",
        ),
    )


def _sort(part):
    return Case(
        title="Sort",
        label=f"operand {part}",
        arguments=lambda rng, dtype="float64": (
            apart(rng, (3, 4), dtype),
            uniform(rng, dtype, (3, 4)),
        ),
        arrange=lambda x, y: {"operands": [x, y]},
        statics={"comparator": lambda a, b, _, __: a > b, "dimension": 0},
        oracle=lambda x, y, comparator, dimension: interpreter.sort(
            [x, y], comparator, dimension
        )[part],
        dtypes=("float32", "int32", "int8", "bfloat16", "float64"),
        exact=True,
        gradient="yes",
        part=operator.itemgetter(part),
        error=Error(
            lambda: xo.sort([jnp.ones(3)], lambda a, b: a - b),
            TypeError,
            "comparator",
            "float32[]",
        ),
    )


WITH_COMPUTATIONS = (
    _reduce("", _combine, (2, 0)),
    _reduce("add", lambda a, b: a + b, (1,)),
    _reduce("none", _subtract, ()),
    Case(
        title="ReduceAll",
        label="",
        arguments=_and_scalar((3, 4)),
        arrange=by_name("operand", "init_value"),
        statics={"computation": _combine},
        oracle=lambda x, init, computation: interpreter.reduce(
            [x], [init], computation, (0, 1)
        )[0],
        dtypes=_REDUCED,
        gradient="yes",
        looser=30,
        error=Error(
            lambda: xo.reduce_all(jnp.ones(3), jnp.ones(3), xo.add),
            TypeError,
            "init_value",
            "float32[3]",
        ),
    ),
    _window(
        "ReduceWindow",
        "",
        _combine,
        ((2, 2), (1, 2)),
        {
            "base_dilations": (1, 2),
            "window_dilations": (2, 1),
            "padding": [(1, 0), (2, -1)],
        },
    ),
    _window(
        "ReduceWindow",
        "add",
        lambda a, b: a + b,
        ((2, 3), (1, 2)),
        {"base_dilations": (1, 1), "window_dilations": (1, 1), "padding": "SAME"},
    ),
    _window(
        "ReduceWindowWithGeneralPadding",
        "",
        _combine,
        ((2, 3), (2, 1)),
        {
            "base_dilations": (2, 1),
            "window_dilations": (1, 1),
            "padding": [(0, 1), (1, 1)],
        },
    ),
    _selected("SelectAndScatter", "SAME"),
    _selected("SelectAndScatterWithGeneralPadding", [(0, 0), (2, 0)]),
    _scatter("", _combine, [[2, 0, 2, 4, -1], [1, 3, 1, 0, 0]], {}),
    _scatter("sub", _subtract, [[2, 0, 2], [1, 4, 2]], {}),
    _scatter(
        "unique",
        _combine,
        [[0, 0, 2], [1, 3, 2]],
        {"indices_are_sorted": True, "unique_indices": True},
    ),
    _sort(0),
    _sort(1),
    Case(
        title="Map",
        label="",
        arguments=uniform_of(-3, 3, (2, 3), (2, 3)),
        arrange=lambda x, y: {"operands": [x, y]},
        statics={"computation": _combine, "dimensions": (0, 1)},
        oracle=lambda x, y, computation, dimensions: interpreter.map_(
            [x, y], computation, x.dtype
        ),
        dtypes=_REDUCED,
        gradient="yes",
        looser=10,
        error=Error(
            lambda: xo.map([jnp.ones((2, 3))], lambda a: a, [1, 0]),
            ValueError,
            "dimensions",
            "(1, 0)",
        ),
    ),
)
