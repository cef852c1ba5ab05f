"""A Sphinx extension that makes the reference of the catalog and the docstrings.

In a page the fenced directives ``{xlaops-family} NAME``, ``{xlaops-module} NAME`` and
``{xlaops-overview}`` stand for what `reference_text` makes of them. They are replaced
when the page is read; nothing that is generated is written into the source tree.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any

import reference_text
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

# Aliases in signatures by overloads, which keep their names this way; the others do as
# they are read from the source. reference/index.md describes them.
ALIASES = ("ArrayLike", "Dims", "ShapeLike")
_JAX_ALIASES = {"ArrayLike": "jax.typing", "Array": "jax.Array"}

_WRITERS: dict[str, Callable[..., str]] = {
    "xlaops-family": reference_text.family_page,
    "xlaops-module": reference_text.module_page,
    "xlaops-overview": reference_text.overview,
}
_MARK = re.compile(r"^```\{(xlaops-\w+)\}[ ]*(\S*)\n```$", re.MULTILINE)


def expand(app: Sphinx, page: str, source: list[str]) -> None:
    """Puts the generated text into a page."""

    def written(mark: re.Match[str]) -> str:
        try:
            return _WRITERS[mark[1]](*mark[2].split())
        except (ImportError, KeyError, TypeError, ValueError) as error:
            raise ExtensionError(f"{page}: {mark[0]}: {error!r}") from error

    source[0] = _MARK.sub(written, source[0])


def show_source_signature(app: Sphinx, function: Any, is_bound_method: bool) -> None:
    """Gives a function the signature of its source, where aliases have their names."""
    if inspect.isfunction(function) and function.__module__.startswith("xlaops."):
        signature = reference_text.source_signature(function)
        if signature is not None:
            function.__signature__ = signature  # type: ignore[attr-defined]
            function.__annotations__ = {}


def keep_returns_whole(
    app: Sphinx, kind: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Keeps Napoleon from taking the text before a colon in Returns for a type."""
    lines[:] = reference_text.with_plain_returns(lines)


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Finds what a docstring calls by another name, and the pages of JAX."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py":
        return None
    target = _JAX_ALIASES.get(target, target)
    if target.split(".")[0] == "jax" and target != "jax":
        return nodes.reference(
            "",
            "",
            content,
            internal=False,
            refuri=reference_text.jax_page(target),
            reftitle=f"{target}, in JAX's documentation",
        )
    if target.startswith("xlaops."):
        # The types are exported by the package too, and described once.
        name = f"xlaops.types.{target.removeprefix('xlaops.')}"
        domain = env.get_domain("py")
        if any(entry[0] == name for entry in domain.get_objects()):
            return domain.resolve_xref(
                env, node["refdoc"], app.builder, "obj", name, node, content
            )
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", expand)
    app.connect("autodoc-before-process-signature", show_source_signature)
    # Before Napoleon, whose priority is 500.
    app.connect("autodoc-process-docstring", keep_returns_whole, priority=400)
    app.connect("missing-reference", resolve)
    app.config.autodoc_type_aliases = {name: name for name in ALIASES}
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
