"""Indexing analysis: chains, a transformer's gradient, sets of maps, Jacobian patterns.

Where asdex can be imported, it finds the same patterns, and is timed as well.
"""

import functools
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import report
from jax import lax

from xlaops.indexing import IndexingMap, sparsity
from xlaops.indexing.analysis import analyze
from xlaops.indexing.composition import compose
from xlaops.indexing.flow import Flow
from xlaops.indexing.graph import Graph
from xlaops.indexing.primitives import building

PARTS = ("chains", "layer", "residual", "convolutions", "patterns")

# What the project holds itself to.
LEAST_IDENTITIES = 0.95
MOST_MICROSECONDS = 100.0
MOST_SECONDS = 1.0
MOST_GROWTH = 1.5
LEAST_RATIO = 20.0


def main(arguments: Sequence[str]) -> int:
    parser = report.parser("indexing", "Times of indexing analysis, and what it finds.")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="only these"
    )
    parser.add_argument(
        "--depths",
        nargs="+",
        type=int,
        default=[1, 6, 12, 24],
        metavar="N",
        help="numbers of layers of the transformer",
    )
    options = parser.parse_args(arguments)
    result = report.Report("indexing")
    rounds = options.repeat or 3
    measurements = {
        "chains": _chains,
        "layer": functools.partial(_layers, depths=options.depths),
        "residual": _residual,
        "convolutions": _convolutions,
        "patterns": functools.partial(_patterns, only=options.only or ""),
    }
    for part in report.progress("indexing", options.parts):
        measurements[part](result, rounds)
    report.publish(result, options.json)
    return 0


def _timed(function: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The seconds of the quickest call, and its result."""
    best, result = math.inf, None
    for _ in range(rounds):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


# Chains of reshapes, transposes and reversals, composed with their inverses


def _factors(n: int, chance: random.Random) -> tuple[int, ...]:
    """A random shape of n elements."""
    sizes = []
    while n > 1:
        sizes.append(chance.choice([k for k in range(2, n + 1) if n % k == 0]))
        n //= sizes[-1]
    return tuple(sizes)


def _chain(chance: random.Random, kinds: Sequence[str]) -> list[IndexingMap]:
    """Steps there and back, of which the composition is the identity."""
    n = chance.choice([24, 36, 48, 60, 72, 96, 120, 144, 180, 240])
    shape = _factors(n, chance)
    there: list[IndexingMap] = []
    back: list[IndexingMap] = []
    for _ in range(chance.randint(1, 4)):
        kind = chance.choice(kinds)
        if kind == "reshape":
            new = _factors(n, chance)
            there.append(building.reshaped(shape, new))
            back.insert(0, building.reshaped(new, shape))
            shape = new
        elif kind == "reverse":
            axes = tuple([i for i in range(len(shape)) if chance.random() < 0.5])
            there.append(building.mirrored(shape, axes))
            back.insert(0, there[-1])
        else:
            order = list(range(len(shape)))
            chance.shuffle(order)
            new = tuple([shape[i] for i in order])
            turned = tuple([order.index(i) for i in range(len(order))])
            there.append(building.transposed(shape, turned))
            back.insert(0, building.transposed(new, tuple(order)))
            shape = new
    return [*there, *back]


def _chains(result: report.Report, rounds: int) -> None:
    rows = []
    every = ("reshape", "transpose", "reverse")
    for name, kinds in (("reshape", every[:1]), ("all three", every)):
        chance = random.Random(0)
        chains = [_chain(chance, kinds) for _ in range(400)]
        for prove in (False, True):
            start = time.perf_counter()
            found = [
                functools.reduce(lambda a, b: compose(a, b, prove=prove), chain)
                for chain in chains
            ]
            seconds = time.perf_counter() - start
            share = sum(one.is_identity for one in found) / len(found)
            rows.append(
                {
                    "chains of": name,
                    "proofs": "yes" if prove else "no",
                    "identities %": 100 * share,
                    "ms a chain": 1e3 * seconds / len(found),
                    "steps a chain": sum(map(len, chains)) / len(chains),
                }
            )
    result.tables.append(
        report.Table(
            "400 random chains, composed with their inverses",
            rows,
            [
                f"Wanted: all of the reshapes, {100 * LEAST_IDENTITIES:.0f} % of the "
                "others, all with proofs."
            ],
        )
    )


# The gradient of a transformer


def _transformer(depth: int) -> tuple[Callable[..., Any], list[Any]]:
    """A loss of a small transformer, and its arguments."""
    width, heads, hidden, length, batch = 64, 4, 256, 32, 2

    def norm(x: Any, scale: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred**2).mean(-1, keepdims=True)
        return centred * lax.rsqrt(variance + 1e-5) * scale

    def layer(x: Any, p: Any) -> Any:
        y = norm(x, p["n1"])

        def split(w: Any) -> Any:
            return (y @ w).reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)

        q, k, v = split(p["q"]), split(p["k"]), split(p["v"])
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(width // heads)
        mask = jnp.tril(jnp.ones((length, length), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
        y = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
        x = x + y.transpose(0, 2, 1, 3).reshape(batch, length, width) @ p["o"]
        y = norm(x, p["n2"])
        return x + jax.nn.gelu(y @ p["a"]) @ p["b"]

    def loss(parameters: Any, x: Any) -> Any:
        for p in parameters:
            x = layer(x, p)
        return (x**2).sum()

    def struct(*shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    one = {
        **dict.fromkeys("qkvo", struct(width, width)),
        **dict.fromkeys(("n1", "n2"), struct(width)),
        "a": struct(width, hidden),
        "b": struct(hidden, width),
    }
    return loss, [[one] * depth, struct(batch, length, width)]


def _layers(result: report.Report, rounds: int, depths: Sequence[int]) -> None:
    rows = []
    for depth in depths:
        loss, arguments = _transformer(depth)
        closed = jax.make_jaxpr(jax.grad(loss, argnums=(0, 1)))(*arguments)
        graph_seconds, _ = _timed(lambda closed=closed: Graph(closed), rounds)

        def steps(closed: Any = closed) -> tuple[float, int]:
            flow = Flow(Graph(closed))
            start = time.perf_counter()
            for node in flow.graph.nodes:
                for i in range(len(node.outputs)):
                    flow.step(node, i)
            return time.perf_counter() - start, len(flow.graph.nodes)

        step_seconds, count = min(steps() for _ in range(rounds))

        def composed(closed: Any = closed) -> tuple[float, Flow, int]:
            flow = Flow(Graph(closed))
            start = time.perf_counter()
            # The first of the outputs that is farthest from the loss.
            found = flow.back(flow.graph.outputs[-1])
            seconds = time.perf_counter() - start
            return seconds, flow, max(len(maps) for maps in found.values())

        seconds, flow, most = min(
            (composed() for _ in range(rounds)), key=lambda one: one[0]
        )
        rows.append(
            {
                "layers": depth,
                "equations": count,
                "graph s": graph_seconds,
                "one-step us/equation": 1e6 * step_seconds / count,
                "composed s": seconds,
                "composed ms/layer": 1e3 * seconds / depth,
                "most maps": most,
                "undefined": sum(flow.unknown.values()),
                "widened": flow.widened,
            }
        )
    result.tables.append(
        report.Table(
            "Gradient of a transformer: one output to everything before it",
            rows,
            [
                f"Wanted: at most {MOST_MICROSECONDS:.0f} us an equation, "
                f"{MOST_SECONDS:.0f} s for one layer, the same for each layer, nothing "
                "undefined or widened."
            ],
        )
    )
    if len(rows) > 1:
        growth = rows[-1]["composed ms/layer"] / rows[0]["composed ms/layer"]
        result.summary["growth of the time of a layer with depth"] = growth


# Sets of maps


def _residual(result: report.Report, rounds: int) -> None:
    rows = []
    for count in (5, 10, 20, 40, 80):

        def blocks(x: Any, count: int = count) -> Any:
            for _ in range(count):
                x = x + jnp.tanh(x @ jnp.ones((64, 64)))
            return x

        x = jax.ShapeDtypeStruct((32, 64), jnp.float32)
        seconds, analysis = _timed(
            lambda blocks=blocks, x=x: _with_maps(analyze(blocks, x)), rounds
        )
        rows.append(
            {
                "blocks": count,
                "seconds": seconds,
                "ms/block": 1e3 * seconds / count,
                "maps": len(analysis.output_to_input()),
                "widened": analysis.widened,
            }
        )
    note = "Paths double with each block; neither time nor maps may."
    result.tables.append(report.Table("Residual blocks", rows, [note]))


def _with_maps(analysis: Any) -> Any:
    analysis.output_to_input()
    return analysis


def _convolutions(result: report.Report, rounds: int) -> None:
    rows = []
    for count in (1, 5, 20):

        def stack(x: Any, count: int = count) -> Any:
            for _ in range(count):
                x = lax.conv(x, jnp.ones((8, 8, 3, 3)), (1, 1), "VALID")
            return x

        x = jax.ShapeDtypeStruct((1, 8, 64, 64), jnp.float32)
        seconds, analysis = _timed(
            lambda stack=stack, x=x: _with_maps(analyze(stack, x)), rounds
        )
        (one,) = analysis.output_to_input()
        rows.append(
            {
                "convolutions": count,
                "seconds": seconds,
                "range variables": " ".join(str(v.bounds.count) for v in one.ranges),
                "map": str(one).partition(", domain")[0],
            }
        )
    note = "Wanted: one range variable for each dimension that is summed over."
    result.tables.append(report.Table("Stack of 3 x 3 convolutions", rows, [note]))


# Patterns of Jacobians


def _heat(u: Any) -> Any:
    p = jnp.pad(u, 1)
    return u + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u


def _cases() -> Iterator[tuple[str, Callable[..., Any], tuple[int, ...]]]:
    chance = np.random.default_rng(0)
    for n in (10**3, 10**4, 10**5, 10**6):
        name = f"stencil 10^{round(math.log10(n))}"
        yield name, lambda x: x[2:] - 2 * x[1:-1] + x[:-2], (n,)
    yield "heat 256 x 256", _heat, (256, 256)
    kernel = chance.standard_normal((3, 3, 8, 8)).astype(np.float32)
    numbers = ("NHWC", "HWIO", "NHWC")
    yield (
        "convolution 32 x 32 x 8",
        lambda x: lax.conv_general_dilated(
            x[None], kernel, (1, 1), "SAME", dimension_numbers=numbers
        )[0],
        (32, 32, 8),
    )
    blocks = chance.standard_normal((1000, 8, 8)).astype(np.float32)
    yield (
        "1000 blocks of 8 x 8",
        lambda x: jnp.einsum("bij,bj->bi", blocks, x.reshape(1000, 8)).reshape(-1),
        (8000,),
    )
    index = chance.integers(0, 5000, 5000)
    yield "gather 5000", lambda x: x[index] ** 2, (5000,)
    far = chance.integers(0, 10**5, 10**5)
    yield "scatter 10^5", lambda x: jnp.zeros(10**5).at[far].add(x), (10**5,)
    yield (
        "scan 300",
        lambda x: lax.scan(lambda c, a: (c * a, c + a), jnp.float32(0), x)[1],
        (300,),
    )
    yield "softmax 50 x 40", lambda x: jax.nn.softmax(x, -1), (50, 40)
    yield "cumsum of transpose", lambda x: jnp.cumsum(x.T, 0), (20, 30)


def _patterns(result: report.Report, rounds: int, only: str) -> None:
    try:
        import asdex  # pyright: ignore[reportMissingImports]
    except Exception:
        # Not installed, or not for this version of JAX: it raises then what it likes.
        asdex = None
    rows = []
    for name, f, shape in _cases():
        if only not in name:
            continue
        x = jax.ShapeDtypeStruct(shape, jnp.float32)

        def ours(f: Any = f, x: Any = x) -> Any:
            # A new function each time: JAX keeps what it traced.
            pattern = sparsity(lambda x: f(x), x)
            pattern.coo()
            return pattern

        seconds, pattern = _timed(ours, rounds)
        row = {
            "function": name,
            "elements": pattern.nnz,
            "exact": "yes" if pattern.exact else "no",
            "seconds": seconds,
            "colors": None,
            "coloring s": None,
            "asdex elements": None,
            "asdex s": None,
            "ratio": None,
            "beside asdex": None,
        }
        if math.prod(shape) <= 10**5:
            start = time.perf_counter()
            row["colors"] = pattern.coloring().count
            row["coloring s"] = time.perf_counter() - start
        if asdex is not None and math.prod(shape) <= 10**5:
            start = time.perf_counter()
            other = asdex.jacobian_sparsity(f, np.zeros(shape, np.float32))
            row["asdex s"] = time.perf_counter() - start
            row["asdex elements"] = int(other.nnz)
            row["ratio"] = row["asdex s"] / seconds
            row["beside asdex"] = _relation(pattern, other)
        rows.append(row)
    ratios = [
        row["ratio"]
        for row in rows
        if row["ratio"] is not None and row["function"].startswith("stencil 10^5")
    ]
    notes = [
        "Seconds: tracing, maps and all positions; asdex is run once. Wanted: patterns "
        f"as those of asdex or tighter, and {LEAST_RATIO:.0f} times faster for the "
        "stencil of 10^5."
    ]
    if asdex is None:
        notes.append("asdex cannot be imported here and is left out.")
    result.tables.append(report.Table("Patterns of Jacobians", rows, notes))
    if ratios:
        result.summary["times faster than asdex, stencil of 10^5"] = ratios[0]


def _relation(pattern: Any, other: Any) -> str:
    """How our pattern lies to that of asdex."""
    width = pattern.shape[1]
    rows, columns = pattern.coo()
    ours = rows * width + columns
    theirs = np.asarray(other.rows, np.int64) * width + np.asarray(other.cols)
    if len(np.setdiff1d(ours, theirs)):
        return "larger"
    return "equal" if len(ours) == len(np.unique(theirs)) else "tighter"
