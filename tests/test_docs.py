"""The documentation as it lies in the source tree, without building it."""

import ast
import importlib
import importlib.util
import json
import operator
import pathlib
import re

import pytest

import xlaops
from xlaops import catalog

ROOT = pathlib.Path(__file__).parents[1]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="docs/ is not here")

# By these names the pages know the package.
MODULES = {
    "xo": "xlaops",
    "xlaops": "xlaops",
    "xb": "xlaops.builder",
    "ops": "xlaops.builder",
    "catalog": "xlaops.catalog",
    "data": "xlaops.demo.data",
    "model": "xlaops.demo.model",
    "training": "xlaops.demo.training",
}


@pytest.fixture(scope="module")
def reference():
    """The module that writes the reference."""
    spec = importlib.util.spec_from_file_location(
        "reference_text", DOCS / "_ext" / "reference_text.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages():
    """Names of all pages and notebooks, without their endings."""
    found = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    return {
        path.relative_to(DOCS).with_suffix("").as_posix(): path
        for path in found
        if not {"_build", ".ipynb_checkpoints"} & set(path.relative_to(DOCS).parts)
    }


def cells(path):
    """The executed code of a page or notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return [
            "".join(cell["source"])
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        ]
    blocks = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", text, re.DOTALL | re.M)
    return [re.sub(r"\A(?::[^\n]*\n)+", "", block) for block in blocks]


def parsed(cell):
    """The syntax tree of a cell; IPython's magics stand for nothing."""
    return ast.parse(re.sub(r"^(\s*)%.*$", r"\1pass", cell, flags=re.M))


EXECUTED = {name: path for name, path in pages().items() if cells(path)}


# The reference


def test_every_exported_name_has_an_entry(reference):
    entries = reference.documented()
    assert set(xlaops.__all__) - entries == set()
    for module in ("catalog", "effects", "ffi", "indexing", "types"):
        exported = reference.exported(importlib.import_module(f"xlaops.{module}"))
        assert exported
        assert {f"{module}.{name}" for name in exported} <= entries


def test_what_builds_programs_has_an_entry(reference):
    """Of the builder's names those that the catalog does not know as operations."""
    page = (DOCS / "reference/builder.md").read_text("utf-8")
    page += reference.family_page("builder")
    for name in set(dir(xlaops.builder)) - set(xlaops.builder.facade.records()):
        kind = (
            "class" if isinstance(getattr(xlaops.builder, name), type) else "function"
        )
        assert f".. auto{kind}:: xlaops.builder.{name}\n" in page


def test_every_function_is_on_the_page_of_its_family(reference):
    existing = {r.function for r in catalog.RECORDS} - {""}
    for record in catalog.RECORDS:
        page = reference.family_page(record.family)
        assert f"`{record.signature}`" in page
        entry = f".. autofunction:: xlaops.{record.function}\n"
        assert page.count(entry) == (record.function in existing), record.title


def test_every_row_has_its_line_and_its_status(reference):
    for family in reference.families():
        table = [
            line.split(" | ")
            for line in reference.family_page(family).splitlines()
            if line.startswith("| ")
        ][1:]
        records = [r for r in catalog.RECORDS if r.family == family]
        assert [line[-1].removesuffix(" |") for line in table] == [
            r.status for r in records
        ]
        assert {len(line) for line in table} == {5}


def test_what_is_not_implemented_has_its_note(reference):
    for record in catalog.RECORDS:
        if record.status != "implemented":
            line = next(
                line
                for line in reference.family_page(record.family).splitlines()
                if line.startswith(f"- `{record.signature}`")
            )
            assert len(line) > len(record.signature) + 10


def test_every_family_has_a_page(reference):
    for family in reference.families():
        text = pages()[f"reference/{family}"].read_text(encoding="utf-8")
        assert f"```{{xlaops-family}} {family}\n```" in text
        assert text.startswith("# ")


def test_a_family_that_does_not_exist_is_an_error(reference):
    with pytest.raises(ValueError, match="'lists'"):
        reference.family_page("lists")


def test_signatures_keep_the_names_of_aliases(reference):
    assert str(reference.source_signature(xlaops.pad)) == (
        "(operand: 'ArrayLike', padding_value: 'ArrayLike', "
        "padding_config: 'PaddingConfigLike') -> 'Array'"
    )
    assert str(reference.source_signature(xlaops.concat_in_dim)) == (
        "(operands: 'Sequence[ArrayLike]', dimension: 'int') -> 'Array'"
    )


def test_returns_are_taken_as_they_are(reference):
    lines = [
        "Sum.",
        "",
        "Returns:",
        "  An array: of",
        "  x.",
        "",
        "Raises:",
        "  E: if.",
    ]
    assert reference.with_plain_returns(lines) == [
        "Sum.",
        "",
        ":returns: An array: of",
        "    x.",
        "",
        "Raises:",
        "  E: if.",
    ]


def test_aliases_in_signatures_are_described(reference):
    described = set(
        re.findall(r"py:type:: (\w+)", (DOCS / "reference/index.md").read_text("utf-8"))
    )
    used = set()
    for record in catalog.RECORDS:
        if record.function:
            function = operator.attrgetter(record.function)(xlaops)
            signature = str(reference.source_signature(function))
            used |= set(re.findall(r"\b\w+Like\b|\bDims\b", signature))
    assert used - {"ArrayLike"} <= described


# The pages


def test_every_page_is_in_a_toctree():
    listed = {"index"}
    for name, path in pages().items():
        text = path.read_text(encoding="utf-8")
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            entries = [e for e in tree.split() if not e.startswith(":")]
            folder = pathlib.PurePosixPath(name).parent
            listed |= {(folder / entry).as_posix() for entry in entries}
    assert set(pages()) <= listed


@pytest.mark.parametrize(
    "page", ["getting_started", "differences", "porting", "notebooks/train"]
)
def test_pages_that_the_readme_links_to(page):
    path = pages()[page]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert path.relative_to(ROOT).as_posix() in readme


def test_links_between_pages_lead_somewhere():
    for path in pages().values():
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+\.(?:md|ipynb))", text):
            assert (path.parent / target).is_file(), (path.name, target)


def test_python_is_executed_and_not_only_shown():
    for path in pages().values():
        assert "```python" not in path.read_text(encoding="utf-8"), path.name
    for path in EXECUTED.values():
        if path.suffix == ".md":
            head = path.read_text(encoding="utf-8").partition("\n---\n")[0]
            assert "file_format: mystnb" in head, path.name


@pytest.mark.parametrize("page", EXECUTED)
def test_code_names_what_exists(page):
    for cell in cells(EXECUTED[page]):
        for node in ast.walk(parsed(cell)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                module = MODULES.get(node.value.id)
                if module:
                    assert hasattr(importlib.import_module(module), node.attr), cell


# The notebook


def test_notebook_is_valid_and_holds_no_outputs():
    path = DOCS / "notebooks" / "train.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert notebook["nbformat_minor"] >= 5
    assert "accelerator" in notebook["metadata"]
    assert notebook["cells"][0]["source"][0].startswith("# ")
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    for cell in notebook["cells"]:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


def test_notebook_starts_on_a_cpu():
    first = cells(DOCS / "notebooks" / "train.ipynb")[0]
    assert first.strip() == 'platform = "cpu"  # @param ["cpu", "gpu", "tpu"]'
