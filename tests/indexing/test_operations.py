"""Every operation of the catalog, both directions, against what changes as it runs."""

import jax
import numpy as np
import pytest

import xlaops as xo
from xlaops import catalog, ffi
from xlaops.indexing import analyze

from .observed import Arg, changes, related
from .operations import NOT_ARRAYS, PROGRAMS, UNDEFINED


def test_every_operation_is_here():
    shown = {name for program in PROGRAMS.values() for name in program.functions}
    wanted = {
        name
        for name, records in catalog.functions().items()
        if any(record.status == "implemented" for record in records)
    }
    assert shown | set(UNDEFINED) | set(NOT_ARRAYS) == wanted
    assert not shown & (set(UNDEFINED) | set(NOT_ARRAYS))


@pytest.mark.parametrize("name", PROGRAMS)
def test_operation(name):
    program = PROGRAMS[name]
    analysis = analyze(program.f, *[a.struct for a in program.args])
    truth = changes(program.f, program.args, program.draws)
    for k, made in enumerate(analysis.outputs):
        for i, a in enumerate(program.args):
            maps = analysis.output_to_input(k, i)
            matrix = related(maps, made.shape, a.shape)
            missed = np.argwhere(truth[k][i] & ~matrix)[:5]
            assert not len(missed), (k, i, missed, list(map(str, maps)))
            if program.exact:
                assert all(m.exact for m in maps), maps[0].reasons
                extra = np.argwhere(matrix & ~truth[k][i])[:5]
                assert not len(extra), (k, i, extra, list(map(str, maps)))
            back = related(analysis.input_to_output(i, k), a.shape, made.shape)
            np.testing.assert_array_equal(back.T, matrix)
    assert not analysis.undefined
    assert not analysis.widened


@pytest.mark.parametrize("name", ["custom_call", "send", "recv", "outfeed"])
def test_what_is_done_elsewhere_is_undefined(name):
    """What comes back may be made of all that was given away, and it is said so."""
    types = "f32[3]"
    calls = {
        "custom_call": lambda x: xo.custom_call("somewhere", [x], types),
        "recv": lambda x: xo.recv(types, 1) + x,
        "send": lambda x: (xo.send(x, 1), xo.recv(types, 2))[1],
        "outfeed": lambda x: (xo.outfeed(x), xo.infeed(types))[1],
    }
    analysis = analyze(calls[name], jax.ShapeDtypeStruct((3,), np.float32))
    maps = analysis.output_to_input()
    if name == "recv":
        # A result that nothing was given for depends on nothing.
        assert all(m.is_identity for m in maps)
    else:
        assert [m.is_undefined for m in maps] == [True]
        assert analysis.undefined


def test_foreign_functions_are_followed_through_their_reference():
    double = ffi.op(
        "indexing_double",
        ref=lambda x, y: (x[::-1] + y, x.sum()),
    )
    x = jax.ShapeDtypeStruct((5,), np.float32)
    analysis = analyze(double, x, x)
    assert [str(m) for m in analysis.output_to_input(0, 0)] == [
        "(d0) -> (-d0 + 4), domain: d0 in [0, 4]"
    ]
    assert analysis.output_to_input(0, 1)[0].is_identity
    assert not analysis.output_to_input(1, 1)
    assert not analysis.undefined


@pytest.mark.parametrize("sizes", [(3, 8), (4, 4), (5, 2)])
def test_periodic_add(sizes):
    period, size = sizes
    args = [Arg((2, period)), Arg((2, size))]
    analysis = analyze(ffi.periodic_add, *[a.struct for a in args])
    (truth,) = changes(ffi.periodic_add, args, 4)
    for i, a in enumerate(args):
        matrix = related(analysis.output_to_input(0, i), (2, size), a.shape)
        np.testing.assert_array_equal(matrix, truth[i])


def test_what_a_loop_prints_changes_nothing():
    def f(x):
        def body(i, y):
            jax.debug.print("{}", i)
            return y[::-1]

        return jax.lax.fori_loop(0, 3, body, x)

    (one,) = analyze(f, jax.ShapeDtypeStruct((4,), np.float32)).output_to_input()
    assert str(one) == "(d0) -> (-d0 + 3), domain: d0 in [0, 3]"
