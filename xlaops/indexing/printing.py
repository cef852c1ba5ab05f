"""The text of maps, as XLA writes them and as its document does."""

from __future__ import annotations

from . import expression as ex
from .expression import Atom
from .expression_text import expression_text
from .kinds import PREFIXES
from .map_data import EMPTY, UNKNOWN, MapData


def variable_names(data: MapData) -> dict[Atom, str]:
    """A name for each variable: its own, or its letter and number; each name once."""
    names: dict[Atom, str] = {}
    used: set[str] = set()
    groups = (data.dims, data.ranges, data.runtimes)
    for kind, group in zip(PREFIXES, groups, strict=True):
        for i, variable in enumerate(group):
            default = f"{PREFIXES[kind]}{i}"
            name = variable.name or default
            # After a composition two variables may bear the same name.
            if name in used:
                name = default
            while name in used:
                name += "_"
            used.add(name)
            names[ex.variable(kind, i).terms[0][0]] = name
    return names


def map_parts(data: MapData) -> tuple[str, list[str]]:
    """The text of a map's signature with its results, and of the domain's entries."""
    names = variable_names(data)
    all_names = list(names.values())
    first, second = len(data.dims), len(data.dims) + len(data.ranges)
    head = f"({', '.join(all_names[:first])})"
    if data.ranges:
        head += f"[{', '.join(all_names[first:second])}]"
    if data.runtimes:
        head += f"{{{', '.join(all_names[second:])}}}"
    results = ", ".join([expression_text(e, names) for e in data.results])
    domain = [
        f"{name} in {variable.bounds}"
        for name, variable in zip(all_names, data.variables, strict=True)
    ]
    domain += sorted(f"{expression_text(e, names)} in {i}" for e, i in data.constraints)
    return f"{head} -> ({results})", domain


def one_line(data: MapData) -> str:
    """XLA's text of a map, which its own tools read."""
    if data.status == EMPTY:
        return "KNOWN EMPTY"
    if data.status == UNKNOWN:
        return "UNDEFINED"
    head, domain = map_parts(data)
    return ", domain: ".join([head, ", ".join(domain)]) if domain else head


def document_form(data: MapData) -> str:
    """The text of a map as the document prints it, one entry of the domain a line."""
    if data.status in (EMPTY, UNKNOWN):
        return one_line(data)
    head, domain = map_parts(data)
    if not domain:
        return head
    return f"{head},\ndomain:\n" + ",\n".join(domain)
