"""How a foreign call is divided among devices: ``"b _, b _ -> b _"``.

A name is a dimension along which the handler's work is independent, so that it may run
on parts of it; ``_`` is one that a device must have whole. XLA does not look into a
custom call: without such a rule it would gather all operands onto every device.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

# By dimension the name of what is split there; None where the dimension stays whole.
Factors = tuple[str | None, ...]
Axes = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class _Part:
    """The dimensions of one operand or result."""

    has_rest: bool
    dims: Factors


@dataclasses.dataclass(frozen=True)
class Rule:
    """A parsed rule."""

    text: str
    operands: tuple[_Part, ...]
    results: tuple[_Part, ...]

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """The rule that a text stands for.

        Raises:
            ValueError: The text is none, or splits an operand where not every result
                is split.
        """
        sides = text.split("->")
        if len(sides) != 2:
            raise ValueError(
                f"op: sharding must be a rule such as 'b _ -> b _', got {text!r}"
            )
        operands, results = (tuple(map(_part, side.split(","))) for side in sides)
        if not sides[0].strip():
            operands = ()
        for part in (*operands, *results):
            for name in part.dims:
                if name is not None and not name.isidentifier():
                    raise ValueError(
                        f"op: sharding must name dimensions or have '_' for them, "
                        f"got {name!r} in {text!r}"
                    )
            names = [name for name in part.dims if name is not None]
            if len(set(names)) != len(names):
                raise ValueError(
                    f"op: sharding must name a dimension of an array once, got {text!r}"
                )
        wanted = {
            *(name for part in operands for name in part.dims if name is not None),
            *("..." for part in operands if part.has_rest),
        }
        for part in results:
            missing = wanted - {*part.dims, "..." if part.has_rest else None}
            if missing:
                raise ValueError(
                    f"op: sharding must split every result along what an operand is "
                    f"split, got {text!r} without {', '.join(sorted(missing))} in a "
                    f"result"
                )
        return cls(text, operands, results)

    def factors(
        self, operation: str, operand_ranks: Sequence[int], result_ranks: Sequence[int]
    ) -> tuple[list[Factors], list[Factors]]:
        """For each operand and result what its dimensions are split into.

        Raises:
            TypeError: The rule is for another number of arrays, or of dimensions.
        """
        rest: list[int] = []
        sides = []
        for what, parts, ranks in (
            ("operands", self.operands, operand_ranks),
            ("results", self.results, result_ranks),
        ):
            if len(parts) != len(ranks):
                raise TypeError(
                    f"{operation}: sharding must be a rule for {len(ranks)} {what}, "
                    f"got {self.text!r}"
                )
            for part, rank in zip(parts, ranks, strict=True):
                more = rank - len(part.dims)
                if more < 0 or (more and not part.has_rest):
                    raise TypeError(
                        f"{operation}: sharding must have the dimensions of the "
                        f"{what}, of ranks {list(ranks)}, got {self.text!r}"
                    )
                if part.has_rest:
                    rest.append(more)
            sides.append((parts, ranks))
        if len(set(rest)) > 1:
            raise TypeError(
                f"{operation}: sharding must have one number of dimensions for each "
                f"'...', got {self.text!r} for {sorted(set(rest))}"
            )
        # No name in a rule can be one of these.
        in_front = tuple(f"... {i}" for i in range(rest[0] if rest else 0))
        operands, results = (
            [(*(in_front if part.has_rest else ()), *part.dims) for part in parts]
            for parts, _ in sides
        )
        return operands, results


def _part(text: str) -> _Part:
    names = text.split()
    has_rest = bool(names) and names[0] == "..."
    return _Part(has_rest, tuple(None if n == "_" else n for n in names[has_rest:]))


def axes_of(
    factors: Sequence[Factors], specs: Sequence[Sequence[Any]]
) -> dict[str, Axes]:
    """The mesh axes over which each factor is split, as far as the operands are.

    Where operands differ, the first one decides.
    """
    found: dict[str, Axes] = {}
    taken: set[str] = set()
    for names, spec in zip(factors, specs, strict=True):
        for name, part in zip(names, spec, strict=False):
            axes = part if isinstance(part, tuple) else () if part is None else (part,)
            if name is None or name in found or not axes or taken & set(axes):
                continue
            if not all(isinstance(axis, str) for axis in axes):
                continue
            found[name] = axes
            taken |= set(axes)
    return found


def spec_of(factors: Factors, axes: dict[str, Axes]) -> tuple[Axes | None, ...]:
    """How an array with these dimensions is split."""
    return tuple(axes.get(name) if name is not None else None for name in factors)


def sdy_rule(operands: Sequence[Factors], results: Sequence[Factors]) -> dict[str, Any]:
    """The rule as `jax.experimental.custom_partitioning` takes it."""
    names: dict[str, str] = {}
    whole: list[str] = []

    def text(factors: Factors) -> str:
        words = []
        for name in factors:
            if name is None:
                whole.append(f"w{len(whole)}")
                words.append(whole[-1])
            else:
                words.append(names.setdefault(name, f"f{len(names)}"))
        return " ".join(words)

    sides = (", ".join(map(text, side)) for side in (operands, results))
    return {
        "sharding_rule": " -> ".join(sides),
        "need_replication_factors": tuple(whole),
    }
