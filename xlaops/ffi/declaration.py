"""The arguments of `op`, as far as they stand on their own."""

import inspect
from collections.abc import Collection, Mapping
from typing import Any

from .. import types
from ..core import checks
from . import buffers, calls, registry


def targets_of(handler: Any) -> dict[str, str]:
    """By platform the name of the target."""
    if isinstance(handler, str):
        known = {t.platform: t.name for t in registry.targets() if t.name == handler}
        handler = known or {"cpu": handler}
    elif not isinstance(handler, Mapping):
        raise TypeError(
            f"op: handler must be the name of a target, as Library.target returns it, "
            f"or a mapping from platforms to names, got {checks.describe(handler)}"
        )
    found = {}
    for platform, target in handler.items():
        if not isinstance(target, str) or not target:
            raise TypeError(
                f"op: handler must have names of targets for platforms, "
                f"got {checks.describe(target)} for {platform!r}"
            )
        key = str(platform).lower()
        if key not in (*calls.PLATFORMS, "gpu"):
            raise ValueError(
                f"op: handler must be for {', '.join(calls.PLATFORMS)} or gpu, "
                f"got {platform!r}"
            )
        for name in ("cuda", "rocm") if key == "gpu" else (key,):
            found[name] = target
    return found


def name_of(ref: Any, targets: Mapping[str, str]) -> str:
    """What messages call an operation that was given no name."""
    name = getattr(ref, "__name__", "<lambda>")
    if name != "<lambda>":
        return name
    # A target of Library.target is library.symbol.hash.
    target = next(iter(targets.values()), "op")
    return target.split(".")[1] if target.count(".") >= 2 else target


def parameters_of(
    ref: Any,
    operands: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    defaults: Mapping[str, Any],
) -> list[inspect.Parameter]:
    """The parameters of the function: those of the reference, or made up."""
    if ref is None:
        found = [
            inspect.Parameter(
                key.lstrip("*"),
                inspect.Parameter.VAR_POSITIONAL
                if key.startswith("*")
                else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            )
            for key in operands
        ]
        found += [
            inspect.Parameter(
                key,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(key, inspect.Parameter.empty),
            )
            for key in schema or ()
        ]
        if schema is None:
            found.append(inspect.Parameter("attributes", inspect.Parameter.VAR_KEYWORD))
        return found
    found, behind = [], False
    takes_any = False
    for p in inspect.signature(ref).parameters.values():
        if p.kind is inspect.Parameter.VAR_KEYWORD:
            takes_any = True
            continue
        if schema is not None and p.name in schema:
            behind = True
            if p.default is inspect.Parameter.empty and p.name in defaults:
                p = p.replace(default=defaults[p.name])
            found.append(p.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        if p.kind is inspect.Parameter.KEYWORD_ONLY:
            if schema is None:
                continue
            raise TypeError(
                f"op: attributes must have the type of {p.name}, which is a "
                f"keyword of ref"
            )
        if behind:
            raise TypeError(
                f"op: ref must have its operands before its attributes, "
                f"got {p.name} behind one"
            )
        found.append(p)
    names = {p.name for p in found}
    for key in schema or ():
        if key not in names:
            if not takes_any:
                raise TypeError(f"op: ref must take the attribute {key}")
            found.append(
                inspect.Parameter(
                    key,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=defaults.get(key, inspect.Parameter.empty),
                )
            )
    if schema is None:
        found.append(inspect.Parameter("attributes", inspect.Parameter.VAR_KEYWORD))
    # Attributes are given by name, though the reference may take them by position.
    found.sort(key=lambda p: p.kind)
    return found


def is_operand(parameter: inspect.Parameter) -> bool:
    """Whether a parameter of the function is no attribute."""
    return parameter.kind not in (
        inspect.Parameter.KEYWORD_ONLY,
        inspect.Parameter.VAR_KEYWORD,
    )


def checked_aliases(aliases: Any, names: Collection[str]) -> dict[str | int, int]:
    """The results by the operands whose memory they take.

    Raises:
        TypeError: It is no mapping from names or numbers to numbers.
        ValueError: A name is that of no operand, or a number is impossible.
    """
    if aliases is None:
        return {}
    if not isinstance(aliases, Mapping):
        raise TypeError(
            f"op: aliases must be a mapping from operands to numbers of results, "
            f"got {checks.describe(aliases)}"
        )
    found: dict[str | int, int] = {}
    for key, value in aliases.items():
        if isinstance(key, str) and key not in names:
            raise ValueError(
                f"op: aliases must name an operand ({', '.join(names)}), got {key!r}"
            )
        if not isinstance(key, str) and checks.integer("op", "aliases", key) < 0:
            raise ValueError(
                f"op: aliases must not have negative numbers of operands, got {key}"
            )
        number = checks.integer("op", f"aliases[{key!r}]", value)
        if number < 0:
            raise ValueError(f"op: aliases[{key!r}] must not be negative, got {number}")
        found[key if isinstance(key, str) else int(key)] = number
    if len(set(found.values())) != len(found):
        raise ValueError("op: aliases must have an operand for each result, at most")
    return found


def parsed_operand(key: str, spec: Any) -> Any:
    """The type, or tree of types, of an operand."""
    where = f"op: operands[{key!r}]"
    if isinstance(spec, str) and spec.lstrip().startswith("("):
        spec = types.Shape.parse(spec)
    if isinstance(spec, types.Shape):
        if spec.is_tuple:
            return tuple(parsed_operand(key, part) for part in spec.tuple_shapes)
        spec = str(spec.without_layout())
    if isinstance(spec, (tuple, list)):
        parts = [parsed_operand(key, part) for part in spec]
        return type(spec)(*parts) if hasattr(spec, "_fields") else type(spec)(parts)
    if isinstance(spec, Mapping):
        return {name: parsed_operand(key, part) for name, part in spec.items()}
    return buffers.parse(spec, where)
