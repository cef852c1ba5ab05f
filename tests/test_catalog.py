"""The catalog against XLA's document, the installed JAX, and this package."""

import collections
import csv
import functools
import importlib
import inspect
import operator
import pathlib
import subprocess
import sys
import typing
from collections.abc import Callable

import jax
import pytest
from jax.extend.mlir import ir  # noqa: TID251
from jax.extend.mlir.dialects import chlo, func, stablehlo  # noqa: TID251

import xlaops
from xlaops import catalog
from xlaops.catalog import record as record_module

FAMILIES = {
    "elementwise",
    "comparison",
    "conversion",
    "broadcast",
    "shape",
    "slicing",
    "gather_scatter",
    "reduction",
    "window",
    "convolution",
    "dot",
    "linalg",
    "fft",
    "random",
    "sorting",
    "normalization",
    "control_flow",
    "composition",
    "dynamic_shape",
    "tuples",
    "effects",
    "collectives",
    "ffi",
    "builder",
}
# Rows of the document, and rows of the header that it does not have. A row can name
# several functions, each of which has a line of the file.
DOCUMENT_ROWS, HEADER_ROWS = 178, 25


def _title(record: catalog.Record) -> str:
    return record.title


def _with_status(status: catalog.Status) -> list[catalog.Record]:
    return [record for record in catalog.RECORDS if record.status == status]


def _document() -> list[dict[str, str]]:
    path = pathlib.Path(__file__).parent / "data" / "document_rows.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _function(name: str) -> object:
    """The function below `xlaops`, or None."""
    module = name.rpartition(".")[0]
    try:
        if module:
            importlib.import_module(f"xlaops.{module}")
        return operator.attrgetter(name)(xlaops)
    except (AttributeError, ImportError):
        return None


def _parameters(function: Callable[..., object]) -> tuple[str, ...]:
    """The parameters without the builder, which the document leaves out."""
    return tuple(p for p in inspect.signature(function).parameters if p != "builder")


@functools.cache
def _mlir() -> ir.Context:
    """A context that knows the dialects the catalog speaks of."""
    context = ir.Context()
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    mhlo = importlib.import_module("jaxlib.mlir.dialects.mhlo")
    mhlo.register_mhlo_dialect(context)
    return context


# The document


def test_file_has_every_row():
    numbers = {line["source"]: set() for line in _document()}
    for line in _document():
        numbers[line["source"]].add(int(line["row"]))
    assert numbers == {
        "document": set(range(1, DOCUMENT_ROWS + 1)),
        "header": set(range(DOCUMENT_ROWS + 1, DOCUMENT_ROWS + HEADER_ROWS + 1)),
    }


def test_rows_and_records_are_the_same():
    rows = collections.Counter(
        (line["name"], line["variant"], line["source"]) for line in _document()
    )
    records = collections.Counter(
        (record.name, record.variant, record.source) for record in catalog.RECORDS
    )
    assert records == rows
    assert max(records.values()) == 1


def test_parameters_are_the_documents():
    documents = {
        (line["name"], line["variant"]): tuple(line["parameters"].split())
        for line in _document()
    }
    records = {
        (record.name, record.variant): record.parameters for record in catalog.RECORDS
    }
    assert records == documents


def test_document_rows_have_a_heading():
    missing = [
        record.title
        for record in catalog.RECORDS
        if record.source == "document" and not record.section
    ]
    assert not missing


def test_order_within_a_family_is_the_documents():
    position = {
        (line["name"], line["variant"]): int(line["row"]) for line in _document()
    }
    for family in FAMILIES:
        rows = [
            position[record.name, record.variant]
            for record in catalog.RECORDS
            if record.family == family and record.source == "document"
        ]
        assert rows == sorted(rows), family


# The records


def test_families_are_known():
    assert {record.family for record in catalog.RECORDS} == FAMILIES


def test_records_are_well_formed():
    for record in catalog.RECORDS:
        assert record.status in typing.get_args(catalog.Status), record
        assert record.source in typing.get_args(catalog.Source), record
        assert len(set(record.parameters)) == len(record.parameters), record
        assert all(name.isidentifier() for name in record.parameters), record
        assert record.note.endswith("."), record
        assert record.function or record.status == "hlo-only", record


def test_functions_have_the_snake_case_name():
    """All but the forms that are one function with another, and the builder's."""
    others = {
        record.name
        for record in catalog.RECORDS
        if record.function not in ("", catalog.snake_case(record.name))
    }
    assert {
        name
        for name in others
        if "Constant" not in name and not name.endswith("WithDeviceList")
    } == {"AddDependency", "Parameter"}


def test_lax_names_exist():
    missing = set()
    for name in {name for record in catalog.RECORDS for name in record.lax}:
        try:
            operator.attrgetter(name)(jax.lax)
        except AttributeError:
            missing.add(name)
    assert missing == set()


def test_stablehlo_names_exist():
    names = {name for record in catalog.RECORDS for name in record.stablehlo}
    known = {name for name in names if _mlir().is_registered_operation(name)}
    # Of another dialect, which a context loads on its own.
    assert names - known == {func.CallOp.OPERATION_NAME}


def test_registration_tells_names_apart():
    """The test above can fail: unknown operations are not taken for registered."""
    assert not _mlir().is_registered_operation("stablehlo.addition")


# The package


WITH_FUNCTION = [record for record in catalog.RECORDS if record.function]


def test_every_row_has_a_function_or_is_the_headers():
    """Of what only the compiler makes, the document's names have a function too."""
    without = {r.title for r in catalog.RECORDS if not r.function}
    header = {r.title for r in catalog.RECORDS if r.source == "header"}
    assert without <= header
    assert without <= {r.title for r in _with_status("hlo-only")}


@pytest.mark.parametrize("record", WITH_FUNCTION, ids=_title)
def test_function_exists(record):
    function = _function(record.function)
    assert inspect.isfunction(function), record.function
    assert inspect.getdoc(function)


@pytest.mark.parametrize("record", WITH_FUNCTION, ids=_title)
def test_function_has_the_documents_parameters(record):
    function = _function(record.function)
    assert callable(function)
    # A function with several forms declares each of them as an overload.
    forms = typing.get_overloads(function) or [function]
    count = len(record.parameters)
    leading = [_parameters(form)[:count] for form in forms]
    if record.parameters not in leading:
        # A form of the header that is one function with another, whose names for the
        # same parameters it takes; the note says so.
        assert record.source == "header"
        assert record.function != catalog.snake_case(record.name)
        assert count in {len(names) for names in leading}
        assert all(name in record.note for name in record.parameters)


def test_a_function_has_one_status():
    for name, records in catalog.functions().items():
        assert len({record.status for record in records}) == 1, name


def test_public_operations_have_a_record():
    """Every function that `xlaops` exports comes from the document or the header."""
    exported = {
        name
        for name in getattr(xlaops, "__all__", dir(xlaops))
        if not name.startswith("_") and inspect.isfunction(getattr(xlaops, name))
    }
    assert "add" in exported
    assert exported - set(catalog.functions()) == set()


def test_catalog_imports_nothing():
    """Neither jax nor anything else of the package, whose own import aside."""
    code = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("alone", {catalog.__file__!r})
module = importlib.util.module_from_spec(spec)
sys.modules["alone"] = module
spec.loader.exec_module(module)
assert len(module.RECORDS) == {len(catalog.RECORDS)}
print(sorted({{"jax", "numpy", "xlaops"}} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


# Looking things up


def test_find_looks_at_every_field():
    def titles(word):
        return [record.title for record in catalog.find(word)]

    assert "ConcatInDim" in titles("Concatenate")  # a heading
    assert "Pow" in titles("stablehlo.power")
    assert "Cholesky" in titles("LINALG.")  # a lax name, in other case
    assert titles("concat_in") == ["ConcatInDim"]  # a function
    assert titles("no such operation") == []
    assert len(titles("")) == len(catalog.RECORDS)


def test_by_name_is_exact():
    assert [record.variant for record in catalog.by_name("Conditional")] == [
        "predicate",
        "branch_index",
    ]
    assert catalog.by_name("conditional") == []


def test_functions_leaves_out_what_has_none():
    functions = catalog.functions()
    assert "" not in functions
    assert [record.name for record in functions["constant"]][:2] == [
        "Constant",
        "ConstantLiteral",
    ]


def test_records_cannot_be_changed():
    record = catalog.RECORDS[0]
    with pytest.raises(AttributeError):
        record.name = "Other"
    assert record_module.Record is catalog.Record


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Add", "add"),
        ("ConcatInDim", "concat_in_dim"),
        ("Log1p", "log1p"),
        ("Atan2", "atan2"),
        ("RoundNearestAfz", "round_nearest_afz"),
        ("TopK", "top_k"),
        ("PartitionID", "partition_id"),
        ("And", "and_"),
        ("Or", "or_"),
        ("Not", "not_"),
        ("While", "while_"),
    ],
)
def test_snake_case(name, expected):
    assert catalog.snake_case(name) == expected
