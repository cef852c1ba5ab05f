"""What only XLA's compiler makes: an error that says what to call instead."""

import importlib
import inspect
import operator
import re
import typing

import jax
import jax.numpy as jnp
import pytest

import xlaops as xo
from xlaops import catalog

RECORDS = [r for r in catalog.RECORDS if r.status == "hlo-only" and r.function]
NAMES = {
    "async_done",
    "async_start",
    "async_update",
    "bitcast",
    "copy",
    "copy_done",
    "copy_start",
    "domain",
    "fusion",
    "rng_get_and_update_state",
}


def _name(record):
    return record.function


def _message(record, *operands):
    function = getattr(xo, record.function)
    with pytest.raises(NotImplementedError) as caught:
        function(*(*operands, *record.parameters)[: len(record.parameters)])
    return str(caught.value)


def test_these_have_a_function():
    """Rows of the header alone have none: nobody meets them in a compiled program."""
    assert {r.function for r in RECORDS} == NAMES
    assert {r.source for r in RECORDS} == {"document"}


@pytest.mark.parametrize("record", RECORDS, ids=_name)
def test_message_names_the_operation_and_who_makes_it(record):
    message = _message(record)
    assert message.startswith(f"{record.function}: only XLA's ")
    assert message.endswith(".")


@pytest.mark.parametrize("record", RECORDS, ids=_name)
def test_message_names_a_replacement_that_exists(record):
    message = _message(record)
    replacements = re.findall(r"\b(xlaops|jax)\.([a-z_.]*[a-z_])", message)
    assert replacements or "Call the computation itself" in message
    for package, name in replacements:
        assert callable(operator.attrgetter(name)(importlib.import_module(package)))


@pytest.mark.parametrize("record", RECORDS, ids=_name)
def test_the_same_by_keyword_and_while_tracing(record):
    function, names = getattr(xo, record.function), record.parameters
    with pytest.raises(NotImplementedError) as by_keyword:
        function(**{name: jnp.ones(2) for name in names})
    with pytest.raises(NotImplementedError) as traced:
        jax.jit(lambda x: function(*[x] * len(names)))(jnp.ones(2))
    assert str(by_keyword.value) == str(traced.value) == _message(record)


@pytest.mark.parametrize("record", RECORDS, ids=_name)
def test_other_parameters_than_the_documents_are_refused(record):
    with pytest.raises(TypeError):
        getattr(xo, record.function)(*record.parameters, "one more")
    signature = inspect.signature(getattr(xo, record.function))
    assert signature.return_annotation is typing.NoReturn
