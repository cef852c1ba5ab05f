"""What operations with a computation cost beside jax.lax and numpy."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import report
import timing
from jax import lax

import xlaops as xo

ROWS, COLUMNS = 512, 1024

_INTO_ROWS = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "index_vector_dim": 1,
}


def _sum_and_product(a: Any, b: Any) -> Any:
    return a + b + 0.001 * a * b


def _larger(a: Any, b: Any) -> Any:
    return a > b


def _numpy_windows(x: np.ndarray) -> np.ndarray:
    return x.reshape(ROWS // 2, 2, COLUMNS // 2, 2).max((1, 3))


def _numpy_fold(x: np.ndarray) -> np.ndarray:
    result = np.zeros(ROWS, np.float32)
    for column in x.T:
        result = _sum_and_product(result, column)
    return result


def _numpy_scatter(x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
    result = x.copy()
    np.add.at(result, i[:, 0], u)
    return result


# By name: ours, the form of jax.lax or why there is none, and numpy's.
Function = Callable[..., Any]
CASES: dict[str, tuple[Function, Function | None, Function]] = {
    "reduce add": (
        lambda x, i, u: xo.reduce([x], [0.0], xo.add, (1,)),
        lambda x, i, u: lax.reduce(x, np.float32(0), lax.add, (1,)),
        lambda x, i, u: x.sum(1),
    ),
    "reduce lambda": (
        lambda x, i, u: xo.reduce([x], [0.0], _sum_and_product, (1,)),
        lambda x, i, u: lax.reduce(x, np.float32(0), _sum_and_product, (1,)),
        lambda x, i, u: _numpy_fold(x),
    ),
    "reduce_window max": (
        lambda x, i, u: xo.reduce_window(
            [x], [-np.inf], xo.max, (2, 2), (2, 2), "VALID"
        ),
        lambda x, i, u: lax.reduce_window(
            x, np.float32(-np.inf), lax.max, (2, 2), (2, 2), "VALID"
        ),
        lambda x, i, u: _numpy_windows(x),
    ),
    "sort": (
        lambda x, i, u: xo.sort([x], xo.lt, 1),
        lambda x, i, u: lax.sort(x, dimension=1, is_stable=False),
        lambda x, i, u: np.sort(x, 1),
    ),
    "sort descending": (
        lambda x, i, u: xo.sort([x], _larger, 1),
        None,  # jax.lax takes no comparator
        lambda x, i, u: -np.sort(-x, 1),
    ),
    "scatter add": (
        lambda x, i, u: xo.scatter([x], i, [u], xo.add, _INTO_ROWS),
        lambda x, i, u: lax.scatter_add(
            x, i, u, lax.ScatterDimensionNumbers((1,), (0,), (0,)), mode="drop"
        ),
        _numpy_scatter,
    ),
    "map": (
        lambda x, i, u: xo.map([x, x], _sum_and_product, (0, 1)),
        lambda x, i, u: _sum_and_product(x, x),
        lambda x, i, u: _sum_and_product(x, x),
    ),
}


def main(arguments: Sequence[str]) -> int:
    options = report.parser("regions", __doc__).parse_args(arguments)
    names = [name for name in CASES if (options.only or "") in name]
    rounds = options.repeat or 20
    result = report.Report("regions")
    rows = [_timed(name, rounds) for name in report.progress("programs", names)]
    result.tables.append(
        report.Table(
            f"Jitted, float32[{ROWS},{COLUMNS}], milliseconds",
            rows,
            [
                "",
                "ours/lax about 1: the same program. numpy/ours above 1: faster than "
                "numpy.",
            ],
        )
    )
    result.tables.append(_fresh_computations(rounds))
    report.publish(result, options.json)
    return 0


def _timed(name: str, rounds: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    i = rng.integers(0, ROWS, (64, 1)).astype(np.int32)
    u = rng.normal(size=(64, COLUMNS)).astype(np.float32)
    on_device = tuple(map(jax.device_put, (x, i, u)))
    ours, of_lax, of_numpy = CASES[name]
    calls: dict[str, Callable[[], Any]] = {
        "ours": functools.partial(_waiting(ours), *on_device)
    }
    if of_lax is not None:
        calls["lax"] = functools.partial(_waiting(of_lax), *on_device)
    calls["numpy"] = functools.partial(of_numpy, x, i, u)
    times = timing.interleaved(list(calls.values()), rounds=rounds)
    best = {n: 1e3 * t.best for n, t in zip(calls, times, strict=True)}
    return {
        "case": name,
        **{n: best.get(n) for n in ("ours", "lax", "numpy")},
        "ours/lax": best["ours"] / best["lax"] if "lax" in best else None,
        "numpy/ours": best["numpy"] / best["ours"],
    }


def _waiting(function: Function) -> Function:
    jitted = jax.jit(function)
    return lambda *operands: jax.block_until_ready(jitted(*operands))


def _fresh_computations(rounds: int) -> report.Table:
    """Eager calls with a lambda that is written anew at each of them."""
    x = jax.numpy.ones((8, 8))
    calls: dict[str, Callable[[], Any]] = {
        "reduce": lambda: xo.reduce([x], [0.0], lambda a, b: a + 2 * b, (1,)),
        "sort": lambda: xo.sort([x], lambda a, b: a > b, 1),
        "map": lambda: xo.map([x], lambda a: 2 * a + 1, (0, 1)),
    }
    times = timing.interleaved(list(calls.values()), rounds=rounds)
    rows = [
        {"operation": name, "milliseconds a call": 1e3 * t.best}
        for name, t in zip(calls, times, strict=True)
    ]
    return report.Table("Eager, with a new lambda at every call", rows)
