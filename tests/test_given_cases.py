"""Cases of XLA's "Operation semantics" document, with the values that are right by it.

``data/given_cases.json`` holds inputs by the document's parameter names, and what must
come of them: values from numpy, mpmath, plain loops or reasoning by hand; an error; or
properties, for random numbers. Many are edge cases that made people report a bug. Each
runs eagerly, jitted, and some with their inputs as constants of a jitted program.
"""

import contextlib
import functools
import json
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import xlaops
from xlaops import catalog, types

PATH = pathlib.Path(__file__).parent / "data" / "given_cases.json"
CASES = {c["name"]: c for c in json.loads(PATH.read_text(encoding="utf-8"))["cases"]}
# Where XLA does not do what the document says, and its results are kept: those of every
# backend. `docs/limits.md` has the reason.
KEPT = {"scatter_partly_outside_window": [0.0, 3.0, 4.0, 0.0, 0.0]}
for name, values in KEPT.items():
    assert "contested" in CASES[name]["tags"]
    CASES[name]["expected"]["data"] = values
RUNS = [
    (name, m) for name, c in CASES.items() for m in c.get("modes", ["eager", "jit"])
]

# The fields by which a mapping is known to be dimension numbers of a class.
DIMENSION_NUMBERS = {
    "lhs_contracting_dimensions": types.DotDimensionNumbers,
    "offset_dims": types.GatherDimensionNumbers,
    "update_window_dims": types.ScatterDimensionNumbers,
    "input_batch_dimension": types.ConvolutionDimensionNumbers,
}


def _lt_total_order(a, b):
    def key(x):
        bits = np.dtype(f"int{8 * x.dtype.itemsize}")
        i = lax.bitcast_convert_type(x, bits)
        return jnp.where(i < 0, i ^ jnp.array(np.iinfo(bits).max, bits), i)

    return lax.lt(key(a), key(b))


COMPUTATIONS = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "max": lax.max,
    "min": lax.min,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
    "eq": lax.eq,
    "ne": lax.ne,
    "lt_total_order": _lt_total_order,
}


# What the file says


def _numbers(data):
    if isinstance(data, list):
        return [_numbers(x) for x in data]
    return float(data) if isinstance(data, str) else data


def _dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def _array(spec):
    dtype, data = _dtype(spec["dtype"]), _numbers(spec["data"])
    if dtype.kind != "c":
        return np.array(data, dtype).reshape(spec["shape"])
    pairs = np.array(data, np.float64).reshape((*spec["shape"], 2))
    result = np.empty(spec["shape"], dtype)
    result.real, result.imag = pairs[..., 0], pairs[..., 1]
    return result


def _arrays(spec):
    return [_arrays(s) for s in spec] if isinstance(spec, list) else _array(spec)


def _computation(text, **names):
    if text in COMPUTATIONS:
        return COMPUTATIONS[text]
    # The file is a part of these tests.
    return eval(text, {"jnp": jnp, "lax": lax, "jax": jax, "np": np, **names})


def _parameter(value):
    if isinstance(value, list):
        return [_parameter(v) for v in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"computation": text}:
            return _computation(text)
        case {"element_type": name}:
            return _dtype(name)
        case {"shape_of": shape}:
            return jax.ShapeDtypeStruct(tuple(shape["dims"]), _dtype(shape["dtype"]))
        case {"array": spec}:
            return _array(spec)
    for field, numbers in DIMENSION_NUMBERS.items():
        if field in value:
            return numbers(**value)
    return value


# The calls


def _function(op):
    """The function of the catalog."""
    records = catalog.by_name(op)
    assert records, f"{op} is not in the catalog"
    function = getattr(xlaops, records[0].function, None)
    assert function is not None, f"{op} has no function {records[0].function}"
    return function


def _call(op, **arguments):
    return _function(op)(**arguments)


def _program(case):
    """A function of the inputs, by name."""
    parameters = {k: _parameter(v) for k, v in case["params"].items()}
    if "program" in case:
        program = _computation(case["program"], call=_call, params=parameters)
        return lambda inputs: program(**inputs)
    return lambda inputs: _call(case["op"], **inputs, **parameters)


def _transformed(function, case):
    match case.get("transform"):
        case None:
            return function
        case {"kind": "vmap", "in_axes": axes, "out_axes": out_axes}:
            return lambda inputs: jax.vmap(
                function, ({name: axes.get(name) for name in inputs},), out_axes
            )(inputs)
        case {"kind": "vjp", "wrt": wrt, "cotangent": cotangent} as transform:

            def gradients(inputs):
                def output(chosen):
                    result = function({**inputs, **chosen})
                    index = transform.get("output")
                    return result if index is None else result[index]

                _, pull = jax.vjp(output, {name: inputs[name] for name in wrt})
                (result,) = pull(jnp.asarray(_array(cotangent)))
                return [x for name in wrt for x in jax.tree.leaves(result[name])]

            return gradients
    raise ValueError(f"unknown transform {case['transform']}")


def _evaluated(case, mode, inputs):
    function = _transformed(_program(case), case)
    inputs = jax.tree.map(jnp.asarray, inputs)
    match mode:
        case "eager":
            result = function(inputs)
        case "jit":
            result = jax.jit(function)(inputs)
        case "const":
            result = jax.jit(lambda: function(inputs))()
        case _:
            raise ValueError(f"unknown mode {mode}")
    return jax.tree.map(np.asarray, result)


# The comparisons


def _check_values(got, want, spec, tolerance, *, nan_sign):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    mask = np.broadcast_to(np.asarray(spec.get("mask", True)), want.shape)
    if not jnp.issubdtype(want.dtype, jnp.inexact):
        np.testing.assert_array_equal(got[mask], want[mask])
        return
    exact = tolerance["kind"] == "exact"
    if want.dtype.kind == "c" and not exact:
        # On the modulus: a tiny part is not held to its own size.
        np.testing.assert_allclose(
            got[mask], want[mask], tolerance["rtol"], tolerance["atol"]
        )
        return
    if want.dtype.kind == "c":
        got, want = (np.stack([x.real, x.imag], -1) for x in (got, want))
    got, want = (x[mask].astype(np.float64) for x in (got, want))
    rtol, atol = (0, 0) if exact else (tolerance["rtol"], tolerance["atol"])
    np.testing.assert_allclose(got, want, rtol, atol)
    signed = np.zeros(want.shape, bool)
    if exact or tolerance.get("check_zero_sign"):
        signed |= (got == 0) & (want == 0)
    if nan_sign:
        signed |= np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[signed]), np.signbit(want[signed]))


def _check_expected(got, case):
    specs = case["expected"]
    if case.get("transform", {}).get("kind") == "vjp" and not isinstance(specs, list):
        specs = [specs]
    if isinstance(specs, list):
        assert isinstance(got, (tuple, list))
    else:
        assert isinstance(got, np.ndarray)
        specs, got = [specs], [got]
    for spec, value in zip(specs, got, strict=True):
        _check_values(
            value,
            _array(spec),
            spec,
            case["tolerance"],
            nan_sign=case.get("compare_nan_sign", False),
        )


def _check_property(got, wanted, inputs):
    if "tuple" in wanted:
        for value, each in zip(got, wanted["tuple"], strict=True):
            _check_property(value, each, inputs)
        return
    assert got.dtype == _dtype(wanted["dtype"])
    assert list(got.shape) == wanted["shape"]
    wide = got.astype(np.float64)
    for key, holds in {
        "min": lambda v: (wide >= v).all(),
        "max": lambda v: (wide <= v).all(),
        "below": lambda v: (wide < v).all(),
        "mean": lambda v: v[0] <= wide.mean() <= v[1],
        "std": lambda v: v[0] <= wide.std() <= v[1],
        "distinct_at_least": lambda v: len(np.unique(got)) >= v,
        "differs_from": lambda v: not np.array_equal(got, inputs[v]),
    }.items():
        assert key not in wanted or holds(wanted[key]), (key, wanted[key])


def _check_error(case, run):
    expected = case["expected_error"]
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which, the file says
        run()
    names = {c.__name__ for c in type(caught.value).__mro__}
    assert names & set(expected["kind"]), caught.value
    message = str(caught.value).lower()
    for alternatives in expected["mentions"]:
        if isinstance(alternatives, str):
            alternatives = [alternatives]
        assert any(a.lower() in message for a in alternatives), (alternatives, message)


def _run(name, mode):
    case = CASES[name]
    inputs = {k: _arrays(v) for k, v in case["inputs"].items()}
    run = functools.partial(_evaluated, case, mode, inputs)
    with jax.enable_x64(True) if case.get("x64") else contextlib.nullcontext():
        if "expected_error" in case:
            _check_error(case, run)
        elif "expected_property" in case:
            wanted = case["expected_property"]
            got = run()
            _check_property(got, wanted, inputs)
            if wanted.get("deterministic"):
                jax.tree.map(np.testing.assert_array_equal, run(), got)
        else:
            _check_expected(run(), case)


@pytest.mark.parametrize(("name", "mode"), RUNS, ids=map("-".join, RUNS))
def test_given_case(name, mode):
    case = CASES[name]
    _function(case["op"])
    if "may-abort" not in case.get("tags", []):
        _run(name, mode)
        return
    child = subprocess.run(
        [sys.executable, __file__, name, mode],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert child.returncode == 0, child.stderr


def test_names_are_unique():
    text = PATH.read_text(encoding="utf-8")
    assert len(CASES) == len(json.loads(text)["cases"])


def test_comparison_can_fail():
    def differ(got, want, **rest):
        want, rest = np.array(want, np.float32), {"nan_sign": False, **rest}
        with pytest.raises(AssertionError):
            _check_values(
                np.array(got, np.float32), want, {}, {"kind": "exact"}, **rest
            )

    differ([0.0], [-0.0])
    differ([1.0], [np.nextafter(np.float32(1), np.float32(2))])
    differ([np.nan], [1.0])
    differ([[1.0]], [1.0])
    differ([np.nan], [-np.nan], nan_sign=True)
    assert np.signbit(_array({"dtype": "float32", "shape": [], "data": "-NaN"}))


if __name__ == "__main__":
    _run(*sys.argv[1:])
