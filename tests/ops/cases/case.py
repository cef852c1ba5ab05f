"""One way to call an operation, with its oracle, and a call that is refused."""

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import xlaops as xo
from xlaops import catalog


@dataclasses.dataclass(frozen=True)
class Error:
    """A call that is refused.

    Attributes:
      call: makes the call.
      exception: what it raises.
      parameter: what the message must name next to the operation.
      value: how the message writes what came.
    """

    call: Callable[[], Any]
    exception: type[Exception]
    parameter: str
    value: str


@dataclasses.dataclass(frozen=True)
class Case:
    """One way to call an operation.

    Attributes:
      title: the catalog's record that it belongs to.
      label: tells apart several cases of one record.
      arguments: operands from a numpy generator and an element type.
      arrange: the operands as named arguments.
      statics: the static arguments, by name.
      oracle: called with the operands and static arguments, as numpy arrays; of a
        random operation, called with the sample and the operands, and asserts.
      dtypes: the element types that the case takes.
      exact: whether the result must be the oracle's to the last bit.
      gradient: "yes", "zero", or "not differentiable" (the result is not continuous).
      smooth: operands for derivatives: float64 (or complex128), away from kinks.
      differentiable: the operands with derivatives; None is all of them.
      in_axes: the operands that `jax.vmap` may map; None is all of them.
      error: a call that is refused.
      random: whether the result differs from run to run.
      part: which array of the result is compared, where it has several.
      looser: factor of the tolerance, with its reason beside it.
    """

    title: str
    label: str
    arguments: Callable[..., tuple[Any, ...]]
    arrange: Callable[..., Mapping[str, Any]]
    oracle: Callable[..., Any]
    dtypes: tuple[str, ...]
    gradient: str
    error: Error
    statics: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    exact: bool = False
    smooth: Callable[..., tuple[Any, ...]] | None = None
    differentiable: tuple[int, ...] | None = None
    in_axes: tuple[int, ...] | None = None
    random: bool = False
    part: Callable[[Any], Any] = lambda result: result
    looser: float = 1.0

    @property
    def record(self) -> catalog.Record:
        return BY_TITLE[self.title]

    @property
    def function(self) -> Callable[..., Any]:
        return operator.attrgetter(self.record.function)(xo)

    @property
    def name(self) -> str:
        return f"{self.record.function}-{self.label}" if self.label else self.title

    def named(self, *operands: Any) -> dict[str, Any]:
        """The arguments of a call, by name."""
        return {**self.arrange(*operands), **self.statics}

    def call(self, *operands: Any) -> Any:
        """The result, with all arguments by position in the document's order."""
        named = self.named(*operands)
        order = self.record.parameters
        given = [p for p in order if p in named]
        assert given == list(order[: len(given)]), self.name
        assert len(given) == len(named), self.name
        return self.part(self.function(*(named[p] for p in given)))

    def call_by_keyword(self, *operands: Any) -> Any:
        named = self.named(*operands)
        if self.record.function == "constant":
            # The header's forms of it have other names for the one parameter.
            (value,) = named.values()
            named = {"literal": value}
        return self.part(self.function(**named))

    def expected(self, *operands: Any) -> Any:
        """The oracle's result for numpy operands."""
        with np.errstate(all="ignore"):
            return self.oracle(*operands, **self.statics)

    def smooth_operands(self, rng: np.random.Generator, dtype: str = "float64") -> Any:
        return (self.smooth or self.arguments)(rng, dtype)

    def derivative_operands(self) -> tuple[int, ...]:
        if self.differentiable is not None:
            return self.differentiable
        return tuple(range(len(self.smooth_operands(np.random.default_rng(0)))))

    def mapped_operands(self) -> tuple[int, ...]:
        if self.in_axes is not None:
            return self.in_axes
        rng = np.random.default_rng(0)
        return tuple(range(len(self.arguments(rng, self.dtypes[0]))))


BY_TITLE = {record.title: record for record in catalog.RECORDS}
