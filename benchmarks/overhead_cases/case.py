"""One call in three spellings, its operands, and the program that it is lowered to."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import xlaops as xo

_DTYPES = {
    "pred": "bool",
    "s8": "int8",
    "s32": "int32",
    "u32": "uint32",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "c64": "complex64",
}


@dataclasses.dataclass(frozen=True)
class Case:
    """One call on the same operands, in up to three spellings.

    Attributes:
      name: unique; begins with the name of the function.
      record: title of the catalog's record that it is a call of.
      operands: types such as ``"f32[8,8]"``, or ``"f32[]=2"`` with the value of all
        elements; they may be nested in lists and tuples.
      ours: the call of this package, as a function of the operands.
      lax: the hand-written form. For what jax.lax has no function for, the call that
        one would try: it raises, and `EXCEPTIONS` says why.
      jnp: the nearest call of jax.numpy, or the reason why there is none.
      emits: operations that its program holds; None for all that the record names.
    """

    name: str
    record: str
    operands: tuple[Any, ...]
    ours: Callable[..., Any]
    lax: Callable[..., Any]
    jnp: Callable[..., Any] | str
    emits: tuple[str, ...] | None = None

    @property
    def function(self) -> str:
        """The name of the function below `xlaops`."""
        return self.name.partition(" ")[0]

    def arrays(self) -> tuple[Any, ...]:
        """The operands as concrete jax arrays; the same at every call."""
        return jax.tree.map(_filled, self.operands)


def lowered(function: Callable[..., Any], operands: tuple[Any, ...]) -> str:
    """The StableHLO text of a call, in a module whose name says nothing of it."""

    def program(*args: Any) -> Any:
        return function(*args)

    return jax.jit(program).lower(*operands).as_text()


def lowered_by_lax(case: Case, operands: tuple[Any, ...]) -> str | None:
    """The text of the hand-written form; None where jax.lax cannot say it."""
    try:
        return lowered(case.lax, operands)
    except (AttributeError, TypeError, AssertionError):
        return None  # it asserts that a state has two words


def _filled(spec: str) -> jax.Array:
    """A small array without zeros, infinities or repeated values next to each other."""
    typed, _, value = spec.partition("=")
    name, _, dims = typed.removesuffix("]").partition("[")
    shape = tuple(int(size) for size in dims.split(",") if size)
    dtype = jnp.dtype(_DTYPES[name])
    if value:
        return jnp.full(shape, float(value), dtype)
    steps = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 + 1
    if name == "pred":
        return jnp.asarray(steps % 2 == 0)
    if name == "c64":
        return jnp.asarray(steps / 8 + 0.5j, dtype)
    return jnp.asarray(steps / 8 if "f" in name else steps, dtype)


def unary(
    function: str,
    title: str,
    of_lax: Callable[..., Any],
    of_jnp: Callable[..., Any] | str,
    element_type: str = "f32",
) -> Case:
    ours = getattr(xo, function)
    return Case(function, title, (f"{element_type}[8,8]",), ours, of_lax, of_jnp)


def binary(
    function: str,
    title: str,
    of_lax: Callable[..., Any],
    of_jnp: Callable[..., Any] | str,
    element_type: str = "f32",
) -> tuple[Case, Case]:
    """A binary function of equal shapes, and of different ranks."""
    ours = getattr(xo, function)
    return (
        Case(
            function,
            title,
            (f"{element_type}[8,8]", f"{element_type}[8,8]"),
            ours,
            of_lax,
            of_jnp,
        ),
        Case(
            f"{function} broadcast_dimensions",
            f"{title} (broadcast_dimensions)",
            (f"{element_type}[8,8]", f"{element_type}[8]"),
            lambda x, y: ours(x, y, (1,)),
            lambda x, y: of_lax(x, lax.broadcast_in_dim(y, (8, 8), (1,))),
            of_jnp,  # the last dimension is the one that it adds to by itself
        ),
    )
