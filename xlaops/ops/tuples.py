"""Tuples, which JAX passes as Python's: for code that is ported."""

from collections.abc import Sequence
from typing import Any

from ..core import checks


def tuple(elements: Sequence[Any]) -> Any:
    """The elements as a tuple.

    JAX passes tuples as Python tuples (and any pytree): this is for ported code.

    Args:
      elements: arrays or tuples of them.

    Returns:
      A Python tuple.

    Raises:
      TypeError: if ``elements`` is no sequence.

    Example:
      >>> import xlaops as xo
      >>> len(xo.tuple([1.0, 2]))
      2

    Source: *Tuple* in XLA's Operation semantics; ``stablehlo.tuple``.
    """
    if not isinstance(elements, Sequence) or isinstance(elements, str):
        raise TypeError(
            f"tuple: elements must be a sequence, got {checks.describe(elements)}"
        )
    return (*elements,)


def get_tuple_element(tuple_data: Sequence[Any], index: int) -> Any:
    """One element of a tuple.

    Args:
      tuple_data: a Python tuple or list.
      index: which one, in ``[0, N)``.

    Returns:
      The element.

    Raises:
      TypeError: if ``tuple_data`` is no tuple or ``index`` no integer.
      ValueError: if ``index`` is out of range.

    Example:
      >>> import xlaops as xo
      >>> xo.get_tuple_element((1.0, 2), 1)
      2

    Source: *GetTupleElement* in XLA's Operation semantics;
    ``stablehlo.get_tuple_element``.
    """
    if not isinstance(tuple_data, Sequence) or isinstance(tuple_data, str):
        raise TypeError(
            f"get_tuple_element: tuple_data must be a tuple, "
            f"got {checks.describe(tuple_data)}"
        )
    index = checks.integer("get_tuple_element", "index", index)
    if not 0 <= index < len(tuple_data):
        raise ValueError(
            f"get_tuple_element: index must be in [0, {len(tuple_data)}), got {index}"
        )
    return tuple_data[index]
