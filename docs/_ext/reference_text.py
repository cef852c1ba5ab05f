"""The text of the operation reference, as MyST Markdown.

It is made of `xlaops.catalog` and of what the package exports, and knows nothing of
Sphinx.
"""

import ast
import enum
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType

import xlaops
from xlaops import catalog

XLA = "https://openxla.org/xla/operation_semantics"
STABLEHLO = "https://openxla.org/stablehlo/spec"
JAX = "https://docs.jax.dev/en/latest"

# Public names of JAX that have no page of their own, but one of a module.
_JAX_MODULES = ("jax.export", "jax.ffi", "jax.numpy", "jax.random", "jax.typing")


def families() -> list[str]:
    """The families of the catalog, in its order."""
    return list(dict.fromkeys(record.family for record in catalog.RECORDS))


def functions_of(family: str, status: catalog.Status = "implemented") -> list[str]:
    """Names of the functions of a family and status, in the catalog's order.

    Those of ``"hlo-only"`` exist as well: they raise an error.
    """
    return list(
        dict.fromkeys(
            record.function
            for record in catalog.RECORDS
            if record.family == family and record.status == status and record.function
        )
    )


def overview() -> str:
    """The table of all families."""
    lines = ["| page | signatures | implemented |", "|---|---:|---:|"]
    for family in families():
        rows = [r for r in catalog.RECORDS if r.family == family]
        done = sum(r.status == "implemented" for r in rows)
        lines.append(f"| [](./{family}.md) | {len(rows)} | {done or '-'} |")
    return "\n".join(lines)


def family_page(family: str) -> str:
    """What stands below the title and the introduction of a family's page.

    A table of all its signatures, one entry for each implemented function, the notes on
    what is not implemented, and entries of the functions that only say so.
    """
    rows = [r for r in catalog.RECORDS if r.family == family]
    if not rows:
        raise ValueError(f"no operation has the family {family!r}")
    parts = ["\n".join(_table(rows))]
    functions = functions_of(family)
    if functions:
        parts.append("## Functions")
        parts += [_entry(name) for name in functions]
    items = [r for r in rows if r.status == "hlo-only"]
    if items:
        parts += ["## In HLO only", "\n".join(map(_item, items))]
    parts += [_entry(name) for name in functions_of(family, "hlo-only")]
    return "\n\n".join(parts) + "\n"


def module_page(name: str) -> str:
    """Entries of all that a sub-package exports, by the module that defines it."""
    module = importlib.import_module(name)
    parts = []
    groups: dict[str, list[str]] = {}
    for member in exported(module):
        groups.setdefault(getattr(module, member).__module__, []).append(member)
    for source in sorted(groups):
        if len(groups) > 1:
            title = source.rpartition(".")[2].replace("_", " ").capitalize()
            about = inspect.getdoc(importlib.import_module(source)) or ""
            parts += [f"## {title}", about.partition("\n")[0].replace("`", "``")]
        parts += [_member(name, member) for member in groups[source]]
    return "\n\n".join(parts) + "\n"


def exported(module: ModuleType) -> list[str]:
    """Public functions and classes of a module."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name in vars(module) if not name.startswith("_")]
    return [
        name
        for name in names
        if inspect.isfunction(getattr(module, name))
        or inspect.isclass(getattr(module, name))
    ]


def jax_page(name: str) -> str:
    """The address of the page that describes a public name of JAX."""
    for module in _JAX_MODULES:
        if name == module or (
            name.startswith(f"{module}.") and module not in ("jax.numpy", "jax.random")
        ):
            return f"{JAX}/{module}.html"
    return f"{JAX}/_autosummary/{name}.html"


def source_signature(function: Callable[..., object]) -> inspect.Signature | None:
    """The signature of a function as it is written, with its aliases, as text."""
    original = inspect.unwrap(function)
    try:
        source = textwrap.dedent(inspect.getsource(original))
    except (OSError, TypeError):
        return None
    definition = ast.parse(source).body[0]
    if not isinstance(definition, ast.FunctionDef):
        return None
    every = definition.args
    annotations = {
        argument.arg: ast.unparse(argument.annotation)
        for argument in ast.walk(every)
        if isinstance(argument, ast.arg) and argument.annotation
    }
    signature = inspect.signature(original)
    parameters = [
        p.replace(annotation=annotations.get(p.name, inspect.Parameter.empty))
        for p in signature.parameters.values()
    ]
    returns = inspect.Signature.empty
    if definition.returns:
        returns = ast.unparse(definition.returns)
    return signature.replace(parameters=parameters, return_annotation=returns)


def with_plain_returns(lines: Sequence[str]) -> list[str]:
    """A Google-style docstring whose Returns section is a field of reStructuredText."""
    result: list[str] = []
    inside = False
    for line in lines:
        if line == "Returns:":
            inside = True
            result.append(":returns:")
        elif inside and line.startswith(" "):
            is_first = result[-1] == ":returns:"
            text = line.strip()
            result[-1:] = (
                [f":returns: {text}"] if is_first else [result[-1], f"    {text}"]
            )
        else:
            inside = False
            result.append(line)
    return result


def _table(rows: Iterable[catalog.Record]) -> Iterator[str]:
    yield "| xlaops | XlaBuilder | StableHLO | jax.lax | status |"
    yield "|---|---|---|---|---|"
    for r in rows:
        name = f"`{r.function}`" if r.function else "-"
        if r.function:
            name = f"{{py:obj}}`{r.function} <xlaops.{r.function}>`"
        cells = (name, _signature(r), _stablehlo(r) or "-", _lax(r) or "-", r.status)
        yield f"| {' | '.join(cells)} |"


def _signature(r: catalog.Record) -> str:
    # A space behind the parenthesis lets a browser break long ones in a cell.
    text = f"`{r.signature}`"
    if not r.section:
        return text
    anchor = re.sub(r"[^a-z0-9-]+", "_", r.section.lower()).strip("_")
    return f"[{text}]({XLA}#{anchor})"


def _stablehlo(r: catalog.Record) -> str:
    links = []
    for operation in r.stablehlo:
        dialect, _, name = operation.partition(".")
        links.append(
            f"[`{name}`]({STABLEHLO}#{name})"
            if dialect == "stablehlo"
            else f"`{operation}`"
        )
    return ", ".join(links)


def _lax(r: catalog.Record) -> str:
    return ", ".join(
        f"`{name}`"
        if name.endswith("_p")
        else f"[`{name}`]({jax_page(f'jax.lax.{name}')})"
        for name in r.lax
    )


def _entry(function: str) -> str:
    """The entry of a function: its docstring, then the catalog's notes."""
    # What these variants add is the same for all, and told at the top of the page.
    notes = [
        (r.signature, r.note)
        for r in catalog.functions()[function]
        if r.note
        and r.status == "implemented"
        and r.variant not in ("broadcast_dimensions", "result_accuracy")
    ]
    lines = ["```{eval-rst}", f".. autofunction:: xlaops.{function}", ""]
    if len(notes) == 1 and len(catalog.functions()[function]) == 1:
        lines.append(f"   Beside *jax.lax*: {_rst(notes[0][1])}")
    elif notes:
        lines += ["   Beside *jax.lax*:", ""]
        lines += [f"   - ``{signature}``: {_rst(note)}" for signature, note in notes]
    return "\n".join([*lines, "```"])


def _member(module: str, name: str) -> str:
    value = getattr(importlib.import_module(module), name)
    lines = ["```{eval-rst}"]
    if inspect.isfunction(value):
        lines.append(f".. autofunction:: {module}.{name}")
    elif issubclass(value, enum.Enum):
        members = ", ".join(f"``{member}``" for member in value.__members__)
        lines += [f".. autoclass:: {module}.{name}", "", f"   Members: {members}."]
    else:
        lines += [f".. autoclass:: {module}.{name}", "   :members:"]
        # What it has from classes in between counts as its own.
        bases = [c for c in value.__mro__[1:] if c.__module__.startswith("xlaops.")]
        if len(bases) > 1:
            lines.append(f"   :inherited-members: {bases[-1].__name__}")
    return "\n".join([*lines, "```"])


def _item(r: catalog.Record) -> str:
    where = " (`xla_builder.h` only)" if r.source == "header" else ""
    return f"- `{r.signature}`{where}: {_markdown(r.note)}"


# Names in the catalog's notes, which are plain text: with a joint or an equals sign.
_CODE = re.compile(
    r"\b(?:jax|lax|numpy|xla)(?:\.\w+)+|\b\w+_\w*|\b\w+=|\((?:\w+, )+\w+\)"
)


def _rst(text: str) -> str:
    # Escaped spaces end a literal where a letter or a bracket touches it.
    escaped = text.replace("\\", r"\\").replace("*", r"\*").replace("|", r"\|")
    return _CODE.sub(r"\ ``\g<0>``\ ", escaped)


def _markdown(text: str) -> str:
    escaped = text.replace("<", r"\<").replace("*", r"\*").replace("[", r"\[")
    return _CODE.sub(r"`\g<0>`", escaped)


def documented() -> set[str]:
    """Dotted names below ``xlaops`` that have an entry in the reference."""
    names = {
        name
        for family in families()
        for status in ("implemented", "hlo-only")
        for name in functions_of(family, status)
    }
    for module in ("types", "ffi", "effects", "indexing", "catalog"):
        members = exported(importlib.import_module(f"xlaops.{module}"))
        names |= {f"{module}.{member}" for member in members}
    names.add("BoundedArray")  # on the page of dynamic shapes
    # What the package exports at its top as well.
    return names | {name for name in xlaops.__all__ if f"types.{name}" in names}
