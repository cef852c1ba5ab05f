"""Tokens as data, so that they pass through every transformation."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from . import checks, primitive

ELEMENT_TYPE = "uint8"


@jax.tree_util.register_pytree_node_class
class Token:
    """A value without content, which orders side effects by depending on it.

    It is a pytree of one scalar: loops carry it, branches return it and it crosses the
    boundaries of `jax.jit` and `jax.shard_map`, which JAX's own tokens do not.
    Operations make tokens (`create_token`, `after_all`, ...); programs pass them on.

    Attributes:
      value: the scalar.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Token()"

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """The scalar, and nothing static."""
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, _: None, leaves: Sequence[Any]) -> "Token":
        """The token of a scalar, or of whatever JAX puts in its place."""
        return cls(leaves[0])


def new() -> Token:
    """A token that depends on nothing."""
    # On every device its own: what it will depend on differs by device.
    value = jnp.zeros((), ELEMENT_TYPE)
    return Token(primitive.varying_over(primitive.manual_axes(), value)[0])


def joined(tokens: Sequence[Token]) -> Token:
    """A token that depends on all of the given ones."""
    axes = frozenset().union(*(primitive.varying_axes(t.value) for t in tokens))
    values = primitive.varying_over(axes, *(t.value for t in tokens))
    return Token(lax.optimization_barrier(values)[0])


def checked(operation: str, parameter: str, value: Any) -> Token:
    """``value``, if it is a token."""
    if not isinstance(value, Token):
        raise TypeError(
            f"{operation}: {parameter} must be a token (of create_token, after_all or "
            f"an operation that returns one), got {checks.describe(value)}"
        )
    scalar = value.value
    if not isinstance(scalar, Array) or scalar.shape or scalar.dtype != ELEMENT_TYPE:
        raise TypeError(
            f"{operation}: {parameter} must be a single token, got a Token of "
            f"{checks.describe(scalar)}"
        )
    return value
