"""Collectives in two halves: one that starts and one that waits.

XLA splits collectives into such halves by itself, to compute in between. In a JAX
program the first half gives the result in a wrapper, and the second one takes it out.
"""

from typing import Any

import jax

from ..core import checks


@jax.tree_util.register_pytree_node_class
class Future:
    """The result of a collective that was started; a pytree of its arrays.

    Args:
      operation: the operation that started it.
      value: the result.
    """

    def __init__(self, operation: str, value: Any) -> None:
        self.operation = operation
        self.value = value

    def __repr__(self) -> str:
        return f"Future({self.operation}, {self.value!r})"

    def tree_flatten(self) -> tuple[tuple[Any], str]:
        """The result, and what started it."""
        return (self.value,), self.operation

    @classmethod
    def tree_unflatten(cls, operation: str, children: tuple[Any]) -> "Future":
        """The future of those parts."""
        return cls(operation, *children)


def taken(operation: str, parameter: str, start: str, future: Any) -> Any:
    """The result in a future that an operation of that name has started."""
    if isinstance(future, Future) and future.operation == start:
        return future.value
    is_other = isinstance(future, Future)
    came = f"one of {future.operation}" if is_other else checks.describe(future)
    raise TypeError(f"{operation}: {parameter} must be a result of {start}, got {came}")
