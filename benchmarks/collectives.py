"""What operations between replicas cost beside jax.lax, on 8 virtual devices."""

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

# Before JAX makes its devices.
if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    ).strip()

import jax
import jax.numpy as jnp
import numpy as np
import report
import timing
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import xlaops as xo

DEVICES = 8
SIZES = {"1k": 1 << 10, "1M": 1 << 20}
PAIRS = [[0, 3], [1, 2], [4, 7], [6, 5]]

# What the project holds itself to.
MOST_OVER_LAX = 1.25  # the same program, measured twice
MOST_OVER_SUM = 2.0  # a computation as cheap as an addition, at 1M elements a device

Function = Callable[[Any], Any]


def cheap(a: Any, b: Any) -> Any:
    """As cheap as an addition, and no reduction that XLA has."""
    return a + b + 0 * a


def gathered_and_folded(computation: Callable[..., Any], x: Any) -> Any:
    """What one writes without a collective for a computation."""
    rows = lax.all_gather(x, "i")
    while len(rows) > 1:
        rows = computation(rows[0::2], rows[1::2])
    return rows[0]


# By name: ours, and what it is measured against.
AGAINST_LAX: dict[str, tuple[Function, Function]] = {
    "all_reduce add": (
        lambda x: xo.all_reduce(x, xo.add),
        lambda x: lax.psum(x, "i"),
    ),
    "all_reduce max": (
        lambda x: xo.all_reduce(x, xo.max),
        lambda x: lax.pmax(x, "i"),
    ),
    "all_reduce add, groups": (
        lambda x: xo.all_reduce(x, xo.add, PAIRS),
        lambda x: lax.psum(x, "i", axis_index_groups=PAIRS),
    ),
    "reduce_scatter add": (
        lambda x: xo.reduce_scatter(x, xo.add, 0),
        lambda x: lax.psum_scatter(x, "i", tiled=True),
    ),
    "all_gather": (
        lambda x: xo.all_gather(x, 0),
        lambda x: lax.all_gather(x, "i", tiled=True),
    ),
    "all_to_all": (
        lambda x: xo.all_to_all(x, 0, 0),
        lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
    ),
    "collective_permute": (
        lambda x: xo.collective_permute(x, [(k, (k + 1) % 8) for k in range(8)]),
        lambda x: lax.ppermute(x, "i", [(k, (k + 1) % 8) for k in range(8)]),
    ),
}
COMPUTATIONS: dict[str, Callable[..., Any]] = {
    "a + b + 0 a": cheap,
    "logaddexp": jnp.logaddexp,
}


def main(arguments: Sequence[str]) -> int:
    options = report.parser("collectives", __doc__).parse_args(arguments)
    if jax.device_count() < DEVICES:
        raise SystemExit(f"collectives needs {DEVICES} devices")
    rounds, only = options.repeat or 20, options.only or ""
    result = report.Report("collectives")
    cases = [(name, size) for name in AGAINST_LAX if only in name for size in SIZES]
    rows = [_against_lax(*case, rounds) for case in report.progress("lax", cases)]
    result.tables.append(
        report.Table(
            "Beside jax.lax, float32 of that many elements a device, milliseconds",
            rows,
            ["", "ours/lax about 1: the same program."],
        )
    )
    cases = [(name, size) for name in COMPUTATIONS if only in name for size in SIZES]
    folds = [_computation(*case, rounds) for case in report.progress("folds", cases)]
    result.tables.append(
        report.Table(
            "all_reduce with a computation that XLA does not have, milliseconds",
            folds,
            [
                "",
                "sum: jax.lax.psum of the same arrays. gathered: all_gather, fold.",
                "MB: temporary memory of a device.",
            ],
        )
    )
    result.summary = _summary(rows, folds)
    report.publish(result, options.json)
    return 0


def _against_lax(name: str, size: str, rounds: int) -> dict[str, Any]:
    ours, of_lax = AGAINST_LAX[name]
    times, _ = _timed({"ours": ours, "lax": of_lax}, size, rounds)
    row = {"case": name, "elements": size, **times}
    return {**row, "ours/lax": times["ours"] / times["lax"]}


def _computation(name: str, size: str, rounds: int) -> dict[str, Any]:
    computation = COMPUTATIONS[name]
    calls = {
        "ours": lambda x: xo.all_reduce(x, computation),
        "sum": lambda x: lax.psum(x, "i"),
    }
    times, memory = _timed(calls, size, rounds)
    # Not in turn with the others: it gives so much memory back to the system that the
    # next call, whichever it is, has to fetch its own anew.
    calls = {"gathered": functools.partial(gathered_and_folded, computation)}
    for found, more in zip((times, memory), _timed(calls, size, rounds), strict=True):
        found.update(more)
    return {
        "computation": name,
        "elements": size,
        **times,
        "ours/sum": times["ours"] / times["sum"],
        "gathered/ours": times["gathered"] / times["ours"],
        "MB ours": memory["ours"],
        "MB gathered": memory["gathered"],
    }


def _timed(
    calls: dict[str, Function], size: str, rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds of a call, and the temporary memory of a device in MB."""
    mesh = jax.make_mesh(
        (DEVICES,),
        ("i",),
        axis_types=(AxisType.Auto,),
        devices=jax.devices()[:DEVICES],
    )
    rng = np.random.default_rng(0)
    x = jax.device_put(
        rng.normal(size=DEVICES * SIZES[size]).astype(np.float32),
        NamedSharding(mesh, P("i")),
    )
    compiled = {
        name: jax.jit(
            jax.shard_map(
                call, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False
            )
        )
        .lower(x)
        .compile()
        for name, call in calls.items()
    }
    # One at a time: collectives of several programs wait for the same threads.
    waiting = [lambda f=f: jax.block_until_ready(f(x)) for f in compiled.values()]
    times = timing.interleaved(waiting, rounds=rounds, limit_seconds=10)
    best = {n: 1e3 * t.best for n, t in zip(compiled, times, strict=True)}
    memory = {
        name: f.memory_analysis().temp_size_in_bytes / 1e6
        for name, f in compiled.items()
    }
    return best, memory


def _summary(rows: list[dict[str, Any]], folds: list[dict[str, Any]]) -> dict[str, Any]:
    large = [row for row in folds if row["elements"] == "1M"]
    over = [row["ours/sum"] for row in large if row["computation"] == "a + b + 0 a"]
    over_lax = [row["ours/lax"] for row in rows]
    result: dict[str, Any] = {}
    if over_lax:
        slow = sum(ratio > MOST_OVER_LAX for ratio in over_lax)
        result[f"cases over {MOST_OVER_LAX} of jax.lax"] = slow
    if over:
        result["computation as cheap as an addition, over the sum"] = over[0]
        result["at most"] = MOST_OVER_SUM
    return result
