"""Elements combined over each position of a moving window, and the way back.

The operations take computations, so they bypass the fast eager path of others.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from jax import Array
from jax.typing import ArrayLike

from ..core import bounded, bounded_folding, checks, folding, selecting, windowing
from ..core.computation import Role, traced
from ..core.typing import Dims, PaddingLike, WindowPadding
from ..types import Padding, window_padding


@overload
def reduce_window(
    operands: ArrayLike | Sequence[ArrayLike],
    init_values: ArrayLike | Sequence[ArrayLike],
    computation: Callable[..., Any],
    window_dimensions: Dims,
    window_strides: Dims,
    padding: PaddingLike | WindowPadding,
    *,
    base_dilations: Dims | None = None,
    window_dilations: Dims | None = None,
) -> Any: ...


@overload
def reduce_window(
    operands: ArrayLike | Sequence[ArrayLike],
    init_values: ArrayLike | Sequence[ArrayLike],
    computation: Callable[..., Any],
    window_dimensions: Dims,
    window_strides: Dims,
    base_dilations: Dims | None,
    window_dilations: Dims | None,
    padding: PaddingLike | WindowPadding,
) -> Any: ...


def reduce_window(*args, **kwargs):  # noqa: D417
    """Elements combined over each position of a moving window.

    There are two forms: ``reduce_window(operands, init_values, computation,
    window_dimensions, window_strides, padding)``, and one with ``base_dilations`` and
    ``window_dilations`` before ``padding``. By keyword, dilations may be left out.

    Padding consists of elements that are the initial values: where these are not the
    identity of ``computation``, each of them counts. In which order elements are
    combined is the compiler's choice. Derivatives with respect to operands and initial
    values work for any computation that has them.

    Args:
      operands: N arrays of one shape; an array by itself is one.
      init_values: N scalars of the operands' element types, or one by itself.
      computation: called with 2N scalars, N running values and N elements; returns the
        N new running values, as a tuple (one scalar alone if N is 1). It may use no
        traced value that is not among its arguments.
      window_dimensions: the window's size in each dimension.
      window_strides: how far it moves in each dimension.
      base_dilations: the distance of neighbouring elements in each dimension, with
        padding between them; 1 if None.
      window_dilations: the distance of the window's elements; 1 if None.
      padding: ``"SAME"`` (as many positions as the operands' size divided by the
        stride, rounded up; of an odd padding the larger half is at the end),
        ``"VALID"`` (none), or for each dimension a pair ``(low, high)``, of which a
        negative number removes elements.

    Returns:
      A tuple of N arrays with an element for each position of the window; one array
      alone if N is 1.

    Raises:
      TypeError: if shapes or element types differ, or if ``computation`` is not
        callable, returns other types or holds what XLA cannot run inside of an
        operation.
      ValueError: if sizes, strides or dilations are not one positive number for each
        dimension, or ``padding`` is none of its forms.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([1.0, 4.0, 2.0, 3.0])
      >>> xo.reduce_window([x], [-jnp.inf], xo.max, [2], [2], "VALID")
      Array([4., 3.], dtype=float32)
      >>> product = lambda a, b: a * b
      >>> xo.reduce_window([x], [1.0], product, [3], [1], padding=[(1, 1)])
      Array([ 4.,  8., 24.,  6.], dtype=float32)

    Source: *ReduceWindow* in XLA's Operation semantics; ``stablehlo.reduce_window``.
    """
    # The sixth one in position is base_dilations if padding comes by keyword.
    is_last = len(args) > 6 or (len(args) == 6 and "padding" in kwargs)
    form = _padding_last if is_last else _padding_first
    try:
        bound = _signature(form).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"reduce_window: {error}") from None
    return form(*bound.args, **bound.kwargs)


def reduce_window_with_general_padding(
    operands: ArrayLike | Sequence[ArrayLike],
    init_values: ArrayLike | Sequence[ArrayLike],
    computation: Callable[..., Any],
    window_dimensions: Dims,
    window_strides: Dims,
    base_dilations: Dims | None,
    window_dilations: Dims | None,
    padding: WindowPadding,
) -> Any:
    """Elements combined over each position of a window, with explicit padding.

    See `reduce_window`.

    Args:
      operands: N arrays of one shape; an array by itself is one.
      init_values: N scalars of the operands' element types, or one by itself.
      computation: called with N running values and N elements.
      window_dimensions: the window's size in each dimension.
      window_strides: how far it moves in each dimension.
      base_dilations: the distance of neighbouring elements; 1 if None.
      window_dilations: the distance of the window's elements; 1 if None.
      padding: for each dimension a pair ``(low, high)``, of which a negative number
        removes elements.

    Returns:
      A tuple of N arrays with an element for each position of the window; one array
      alone if N is 1.

    Raises:
      TypeError: if shapes or element types differ, or ``computation`` does not fit.
      ValueError: if the window does not fit the operands, or ``padding`` is not pairs.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([[1, 2], [3, 4], [5, 6]])
      >>> xo.reduce_window_with_general_padding(
      ...     [x], [0], xo.add, (2, 1), (4, 1), (2, 1), (3, 1), [(2, 1), (0, 0)]
      ... )
      Array([[0, 0],
             [3, 4]], dtype=int32)

    Source: ``ReduceWindowWithGeneralPadding`` of ``xla_builder.h``, a form of
    *ReduceWindow* in XLA's Operation semantics; ``stablehlo.reduce_window``.
    """
    name = "reduce_window_with_general_padding"
    _check_pairs(name, padding)
    return _reduce_windows(
        name,
        operands,
        init_values,
        computation,
        window_dimensions,
        window_strides,
        base_dilations,
        window_dilations,
        padding,
    )


def select_and_scatter(
    operand: ArrayLike,
    select: Callable[..., Any],
    window_dimensions: Dims,
    window_strides: Dims,
    padding: PaddingLike | WindowPadding,
    source: ArrayLike,
    init_value: ArrayLike,
    scatter: Callable[..., Any],
) -> Array:
    """Elements of one array put where a window selects one of another array.

    Each position of the window selects one element of ``operand``; padding is never
    selected. The result begins as ``init_value`` everywhere, and at the selected places
    the position's element of ``source`` is combined with what is there. So the gradient
    of a maximum over windows is computed, for instance.

    The derivative with respect to ``operand`` is zero.

    Args:
      operand: array to select from.
      select: called with the element selected so far and another one; returns a PRED
        scalar, whether the first one stays selected.
      window_dimensions: the window's size in each dimension.
      window_strides: how far it moves in each dimension.
      padding: ``"SAME"``, ``"VALID"``, or a pair ``(low, high)`` for each dimension.
      source: array of ``operand``'s element type with an element for each position.
      init_value: scalar of that element type.
      scatter: called with the value at a place and an element of ``source``; returns
        the new value. In which order several elements reach one place is the compiler's
        choice.

    Returns:
      An array of the shape of ``operand``.

    Raises:
      TypeError: if element types differ, ``source`` has another shape, or ``select`` or
        ``scatter`` is not callable, returns another type or holds what XLA cannot run
        inside of an operation.
      ValueError: if the window does not fit the operand.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.array([3.0, 1.0, 2.0, 5.0])
      >>> xo.select_and_scatter(
      ...     x, xo.ge, [2], [2], "VALID", jnp.array([10.0, 20.0]), 0.0, xo.add
      ... )
      Array([10.,  0.,  0., 20.], dtype=float32)

    Source: *SelectAndScatter* in XLA's Operation semantics;
    ``stablehlo.select_and_scatter``.
    """
    return _select_and_scatter(
        "select_and_scatter",
        operand,
        select,
        window_dimensions,
        window_strides,
        padding,
        source,
        init_value,
        scatter,
    )


def select_and_scatter_with_general_padding(
    operand: ArrayLike,
    select: Callable[..., Any],
    window_dimensions: Dims,
    window_strides: Dims,
    padding: WindowPadding,
    source: ArrayLike,
    init_value: ArrayLike,
    scatter: Callable[..., Any],
) -> Array:
    """Elements put where a window with explicit padding selects one.

    See `select_and_scatter`.

    Args:
      operand: array to select from.
      select: called with the element selected so far and another one.
      window_dimensions: the window's size in each dimension.
      window_strides: how far it moves in each dimension.
      padding: for each dimension a pair ``(low, high)``.
      source: array with an element for each position.
      init_value: scalar that the result begins with.
      scatter: called with the value at a place and an element of ``source``.

    Returns:
      An array of the shape of ``operand``.

    Raises:
      TypeError: if types or shapes differ, or a computation does not fit.
      ValueError: if the window does not fit the operand, or ``padding`` is not pairs.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.select_and_scatter_with_general_padding(
      ...     jnp.array([-3.0, -1.0, -2.0]), xo.ge, [2], [2], [(1, 0)],
      ...     jnp.array([5.0, 7.0]), 0.0, xo.add,
      ... )
      Array([5., 7., 0.], dtype=float32)

    Source: ``SelectAndScatterWithGeneralPadding`` of ``xla_builder.h``, a form of
    *SelectAndScatter* in XLA's Operation semantics; ``stablehlo.select_and_scatter``.
    """
    name = "select_and_scatter_with_general_padding"
    _check_pairs(name, padding)
    return _select_and_scatter(
        name,
        operand,
        select,
        window_dimensions,
        window_strides,
        padding,
        source,
        init_value,
        scatter,
    )


# To read a signature takes as long as a tenth of an eager call.
_signature = functools.cache(inspect.signature)


def _padding_first(
    operands: Any,
    init_values: Any,
    computation: Any,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilations: Any = None,
    window_dilations: Any = None,
) -> Any:
    return _padding_last(
        operands,
        init_values,
        computation,
        window_dimensions,
        window_strides,
        base_dilations,
        window_dilations,
        padding,
    )


def _reduce_windows(
    operation: str,
    operands: Any,
    init_values: Any,
    computation: Any,
    window_dimensions: Any,
    window_strides: Any,
    base_dilations: Any,
    window_dilations: Any,
    padding: Any,
) -> Any:
    names = ("operands", "init_values")
    operands, sizes = bounded.split(operation, names[0], checks.one_or_more(operands))
    xs, inits = folding.operands_and_inits(operation, names, operands, init_values)
    window = windowing.window(
        operation,
        xs[0].shape,
        window_dimensions,
        window_strides,
        base_dilations,
        window_dilations,
        padding,
    )
    reducer = folding.reducer(operation, "computation", computation, xs)
    if sizes is None:
        results = windowing.reduce_window(xs, inits, reducer, window)
    else:
        is_same = window_padding(padding) is Padding.SAME
        results = bounded_folding.reduce_window(
            xs, sizes, inits, reducer, window, is_same
        )
    return results[0] if len(results) == 1 else results


_padding_last = functools.partial(_reduce_windows, "reduce_window")


def _select_and_scatter(
    operation: str,
    operand: Any,
    select: Any,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    source: Any,
    init_value: Any,
    scatter: Any,
) -> Array:
    x, updates, init = checks.same_element_type(
        operation, operand=operand, source=source, init_value=init_value
    )
    checks.element_kind(operation, "operand", x, "biufc")
    if init.ndim:
        raise TypeError(
            f"{operation}: init_value must be a scalar, got {checks.describe(init)}"
        )
    window = windowing.window(
        operation, x.shape, window_dimensions, window_strides, None, None, padding
    )
    for n, (low, high) in zip(x.shape, window.padding, strict=True):
        if n + min(0, low) + min(0, high) < 0:
            raise ValueError(
                f"{operation}: padding must not remove more than there is, got "
                f"({low}, {high}) for {n} of {x.shape}"
            )
    positions = window.positions(x.shape)
    if updates.shape != positions:
        raise TypeError(
            f"{operation}: source must have one element for each position of the "
            f"window, shape {positions}, got {checks.describe(updates)}"
        )
    pair = [x.dtype] * 2
    role = Role(operation, "select", "the selected element, another one")
    selector = traced(role, select, pair, [np.dtype(bool)])
    role = Role(operation, "scatter", "the value at a place, an element of source")
    combine = traced(role, scatter, pair, [x.dtype])
    return selecting.select_and_scatter(x, updates, init, selector, combine, window)


def _check_pairs(operation: str, padding: Any) -> None:
    if isinstance(padding, str):
        raise TypeError(
            f"{operation}: padding must be a (low, high) pair for each dimension, got "
            f"{padding!r}"
        )
