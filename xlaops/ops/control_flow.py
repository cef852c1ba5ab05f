"""Loops and branches.

They take Python callables, so they bypass the fast eager path: a callable that holds a
tracer must never become part of the key of a compiled program.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import jax
from jax import lax
from jax.typing import ArrayLike

from ..core import checks

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
R = TypeVar("R")


def while_(condition: Callable[[T], ArrayLike], body: Callable[[T], T], init: T) -> T:
    """The value that repeated application of ``body`` reaches.

    ``body`` is applied to ``init``, then to its own result, for as long as
    ``condition`` of the value is true; not once, if it is false at the start.

    Forward derivatives work; reverse ones do not, as the number of iterations is known
    only when the program runs: JAX raises a ValueError that says so.

    Args:
      condition: called with one argument of the type of ``init``; returns a PRED
        scalar.
      body: called with one argument of the type of ``init``; returns the same type.
      init: an array or any pytree of arrays (the document's tuples). A list in it is
        taken as a tuple, and so are lists that ``body`` returns.

    Returns:
      A value of the type of ``init``.

    Raises:
      TypeError: if ``condition`` or ``body`` is not callable or returns another type.

    Example:
      >>> import xlaops as xo
      >>> count, power = xo.while_(
      ...     lambda state: state[0] < 10,
      ...     lambda state: (state[0] + 1, state[1] * 2),
      ...     (0, 1),
      ... )
      >>> print(power)
      1024

    Source: *While* in XLA's Operation semantics; ``stablehlo.while``.
    """
    _callable("while_", "condition", condition)
    _callable("while_", "body", body)

    init = _tuples(init)

    def checked_condition(value: T) -> ArrayLike:
        result = condition(value)
        leaves = jax.tree.leaves(result)
        if [_type(x) for x in leaves] != ["bool[]"] or leaves[0] is not result:
            raise TypeError(
                f"while_: condition must return a PRED scalar, got {_types(result)}"
            )
        return result

    def checked_body(value: T) -> T:
        result = _tuples(body(value))
        if not _same_type(result, value):
            raise TypeError(
                f"while_: body must return the type of init, {_types(value)}, "
                f"got {_types(result)}"
            )
        return result

    return lax.while_loop(checked_condition, checked_body, init)


@overload
def conditional(
    predicate: ArrayLike,
    true_operand: A,
    true_computation: Callable[[A], R],
    false_operand: B,
    false_computation: Callable[[B], R],
) -> R: ...


@overload
def conditional(
    branch_index: ArrayLike,
    branch_computations: Sequence[Callable[[Any], R]],
    branch_operands: Sequence[Any],
) -> R: ...


def conditional(*args, **kwargs):  # noqa: D417
    """The result of one of several computations, chosen when the program runs.

    There are two forms: ``conditional(predicate, true_operand, true_computation,
    false_operand, false_computation)`` and ``conditional(branch_index,
    branch_computations, branch_operands)``.

    Only the chosen computation runs, but under `jax.vmap` over the predicate or index
    all of them do and the results are selected. Derivatives are those of the chosen
    computation.

    Args:
      predicate: PRED scalar.
      true_operand: argument of ``true_computation``: an array or a pytree of arrays.
      true_computation: called with ``true_operand`` alone.
      false_operand: argument of ``false_computation``; of any type.
      false_computation: called with ``false_operand`` alone; returns what
        ``true_computation`` does.
      branch_index: S32 scalar. Below 0 or above N - 1 it chooses the LAST computation
        (`jax.lax.switch` clamps it: a negative one chooses the first).
      branch_computations: N callables of one argument that return the same type.
      branch_operands: N arguments, one for each.

    Returns:
      What the chosen computation returns, lists in it as tuples.

    Raises:
      TypeError: if ``predicate`` or ``branch_index`` is not such a scalar, or if
        computations are not callable or return different types.
      ValueError: if there are no branches, or not as many operands.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.float32(2.0)
      >>> print(xo.conditional(x > 1, x, lambda v: v * 10, x, lambda v: v))
      20.0
      >>> branches = [lambda v: v + 1, lambda v: v * 10, lambda v: v - 5]
      >>> print(xo.conditional(-1, branches, [x, x, x]))
      -3.0

    Source: *Conditional* in XLA's Operation semantics; ``stablehlo.case``.
    """
    indexed = "branch_index" in kwargs or len(args) + len(kwargs) == 3
    form = _by_index if indexed else _by_predicate
    try:
        bound = inspect.signature(form).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"conditional: {error}") from None
    return form(*bound.args)


def _by_predicate(
    predicate: ArrayLike,
    true_operand: A,
    true_computation: Callable[[A], R],
    false_operand: B,
    false_computation: Callable[[B], R],
) -> R:
    chosen = checks.operand("conditional", "predicate", predicate, "b")
    _scalar("predicate", chosen)
    names = ("true_computation", "false_computation")
    on_true, on_false = _branches(names, (true_computation, false_computation))
    return lax.cond(chosen, on_true, on_false, (true_operand, false_operand))


def _by_index(
    branch_index: ArrayLike,
    branch_computations: Sequence[Callable[[Any], R]],
    branch_operands: Sequence[Any],
) -> R:
    index = checks.operand("conditional", "branch_index", branch_index, "iu")
    _scalar("branch_index", index)
    if index.dtype != "int32" and not jax.typeof(index).weak_type:
        raise TypeError(
            f"conditional: branch_index must be an S32 scalar, got "
            f"{checks.describe(index)}"
        )
    count = len(branch_computations)
    if not count:
        raise ValueError("conditional: branch_computations must not be empty")
    if len(branch_operands) != count:
        raise ValueError(
            f"conditional: branch_operands must have one entry for each of the {count} "
            f"branch_computations, got {len(branch_operands)}"
        )
    names = tuple(f"branch_computations[{i}]" for i in range(count))
    branches = _branches(names, branch_computations)
    # As an unsigned number a negative index is large: both ends are out of range at the
    # same side, and jax.lax.switch never has to clamp.
    last = lax.min(
        lax.convert_element_type(index, "uint32"),
        lax.full_like(index, count - 1, dtype="uint32"),
    )
    return lax.switch(
        lax.convert_element_type(last, "int32"), branches, tuple(branch_operands)
    )


def _branches(
    names: Sequence[str], computations: Sequence[Callable[[Any], R]]
) -> list[Callable[[Sequence[Any]], R]]:
    """Functions of all operands that pass on their own and compare their types."""
    first: list[Any] = []

    def branch(i: int) -> Callable[[Sequence[Any]], R]:
        computation = computations[i]
        _callable("conditional", names[i], computation)

        def run(operands: Sequence[Any]) -> R:
            result = _tuples(computation(operands[i]))
            if not first:
                first.append((names[i], jax.eval_shape(lambda: result)))
            other, wanted = first[0]
            if not _same_type(result, wanted):
                raise TypeError(
                    f"conditional: {names[i]} must return the type that {other} does, "
                    f"{_types(wanted)}, got {_types(result)}"
                )
            return result

        return run

    return [branch(i) for i in range(len(computations))]


def _callable(operation: str, parameter: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(
            f"{operation}: {parameter} must be callable, got {checks.describe(value)}"
        )


def _scalar(parameter: str, value: Any) -> None:
    if value.ndim:
        raise TypeError(
            f"conditional: {parameter} must be a scalar, got {checks.describe(value)}"
        )


def _tuples(tree: Any) -> Any:
    """The tree with tuples in the place of lists: the document has only tuples."""
    return jax.tree.map(
        lambda x: tuple(map(_tuples, x)) if isinstance(x, list) else x,
        tree,
        is_leaf=lambda x: isinstance(x, list),
    )


def _type(value: Any) -> str:
    aval = jax.typeof(value)
    return f"{aval.dtype}{list(aval.shape)}"


def _types(tree: Any) -> Any:
    """The tree with the type of each array in its place, for messages."""
    return jax.tree.map(_type, tree)


def _same_type(a: Any, b: Any) -> bool:
    """Whether two trees have equal structure and types, but for weak ones."""
    return jax.tree.structure(a) == jax.tree.structure(b) and all(
        _type(x) == _type(y)
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    )
