"""Computations called, and values tied together.

They take callables or pytrees, so they bypass the fast eager path of other operations.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import jax
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, compat, composites

T = TypeVar("T")

# What StableHLO takes for the name of a composite.
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*(\.[a-zA-Z0-9_$]+)+")


def call(computation: Callable[..., T], operands: Sequence[Any]) -> T:
    """The result of a computation, which stays a function of its own in the program.

    Args:
      computation: called with one argument for each operand.
      operands: N arrays or pytrees of arrays; N may be 0.

    Returns:
      What ``computation`` returns.

    Raises:
      TypeError: if ``computation`` is not callable or ``operands`` no sequence.

    Example:
      >>> import xlaops as xo
      >>> print(xo.call(lambda x, y: x * y, [3.0, 4.0]))
      12.0

    Source: *Call* in XLA's Operation semantics; ``func.call``.
    """
    if not callable(computation):
        raise TypeError(
            f"call: computation must be callable, got {checks.describe(computation)}"
        )
    if not isinstance(operands, (tuple, list)):
        raise TypeError(
            f"call: operands must be a sequence, got {checks.describe(operands)}"
        )
    return jax.jit(computation)(*operands)


def composite_call(
    computation: Callable[..., T],
    operands: Sequence[ArrayLike],
    name: str,
    attributes: str | Mapping[str, Any] | None = None,
    version: int = 0,
) -> T:
    """The result of a computation that a backend may know by its name.

    The lowered program holds ``stablehlo.composite`` with the name, the attributes and
    the version, and the computation as its decomposition, which is what runs where the
    name is unknown. The computation takes the operands alone; what the attributes say
    must already be in it.

    Derivatives are those of the computation; beside them the composite stays, for the
    result itself. `jax.vmap` dissolves it: what name and attributes say of operands of
    these shapes need not hold for others.

    Args:
      computation: called with one argument for each operand; gives an array or a pytree
        of arrays. It has no side effects, and takes no traced value from around it:
        that would be an operand which the composite does not name.
      operands: N arrays; N may be 0.
      name: the composite's name, such as ``"my.gelu"``.
      attributes: what a backend should know beyond the operands: the text of a
        dictionary of MLIR (``"{axis = 1 : i64}"``) or a mapping, of which ints and
        floats have 64 bits, and numpy's numbers and arrays their own types; None is
        the empty one.
      version: the composite's version, not negative.

    Returns:
      What ``computation`` returns.

    Raises:
      TypeError: if an argument is of another kind, if an operand is no array, if
        ``computation`` closes over traced values, has side effects, communicates
        between devices or returns no array.
      ValueError: if ``attributes`` is text of something else, ``name`` has no namespace
        or holds anything but ASCII letters, digits, ``_`` and ``$``, or ``version`` is
        negative or does not fit into 32 bits.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> import xlaops as xo
      >>> def gelu(x):
      ...     return xo.composite_call(
      ...         lambda x: jax.nn.gelu(x, approximate=False), [x], "my.gelu", "{n = 1}"
      ...     )
      >>> print(gelu(jnp.array([0.0, 1.0])))
      [0.        0.8413447]
      >>> "stablehlo.composite" in jax.jit(gelu).lower(1.0).as_text()
      True

    Source: *CompositeCall* in XLA's Operation semantics; ``stablehlo.composite``.
    """
    if not callable(computation):
        raise TypeError(
            f"composite_call: computation must be callable, got "
            f"{checks.describe(computation)}"
        )
    if not isinstance(operands, (tuple, list)):
        raise TypeError(
            f"composite_call: operands must be a sequence, got "
            f"{checks.describe(operands)}"
        )
    arrays = [
        checks.array("composite_call", f"operands[{i}]", x)
        for i, x in enumerate(operands)
    ]
    if not isinstance(name, str):
        raise TypeError(f"composite_call: name must be a text, got {name!r}")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"composite_call: name must be a text of ASCII letters, digits and "
            f"underscores with a namespace before a dot, such as 'my.gelu', got "
            f"{name!r}"
        )
    number = checks.integer("composite_call", "version", version)
    if not 0 <= number < 2**31:
        raise ValueError(
            f"composite_call: version must be in [0, 2**31), got {version}"
        )
    text = _attributes(attributes)

    def strongly_typed(*operands: Any) -> Any:
        return jax.tree.map(_result, computation(*operands))

    traced, shapes = jax.make_jaxpr(strongly_typed, return_shape=True)(*arrays)
    leaves, tree = jax.tree.flatten(shapes)
    if not leaves:
        raise TypeError(
            "composite_call: computation must return at least one array, got none"
        )
    for value in traced.consts:
        if isinstance(value, compat.Tracer):
            raise TypeError(
                f"composite_call: computation must not close over traced values, got "
                f"{checks.describe(value)}. (Tip: make it one of the operands.)"
            )
    if traced.effects:
        raise TypeError(
            f"composite_call: computation must have no side effects and name no mesh "
            f"axes, got {', '.join(map(str, traced.effects))}"
        )
    results = composites.composite(
        traced, arrays, name=name, attributes=text, version=number
    )
    return jax.tree.unflatten(tree, results)


def _result(value: Any) -> Array:
    y = checks.array("composite_call", "computation's results", value)
    return lax.convert_element_type(y, y.dtype)  # which is weak no longer


def _attributes(value: str | Mapping[str, Any] | None) -> str:
    if isinstance(value, str):
        try:
            return compat.parsed_dictionary(value)
        except ValueError as error:
            raise ValueError(
                f"composite_call: attributes must be the text of a dictionary, got "
                f"{value!r}: {error}"
            ) from None
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(
            f"composite_call: attributes must be a mapping, a text or None, got "
            f"{checks.describe(value)}"
        )
    try:
        return composites.attributes_of(value or {})
    except (TypeError, OverflowError) as error:
        raise type(error)(f"composite_call: attributes {error}") from None


def optimization_barrier(operand: T) -> T:
    """The operand, through which the compiler moves nothing.

    Everything that ``operand`` depends on is computed before anything that depends on
    the result.

    Args:
      operand: array or pytree of arrays (the document's tuples).

    Returns:
      ``operand``.

    Raises:
      TypeError: if a leaf of ``operand`` is no array.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> xo.optimization_barrier(jnp.arange(3))
      Array([0, 1, 2], dtype=int32)

    Source: *OptimizationBarrier* in XLA's Operation semantics;
    ``stablehlo.optimization_barrier``.
    """
    leaves, tree = jax.tree.flatten(operand)
    checked = [checks.array("optimization_barrier", "operand", x) for x in leaves]
    return lax.optimization_barrier(jax.tree.unflatten(tree, checked))
