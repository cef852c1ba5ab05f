"""Times that can be compared on a machine that is busy with other things."""

import dataclasses
import gc
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds of one call, over the rounds of a measurement."""

    best: float
    median: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Timing":
        return cls(min(seconds), statistics.median(seconds))


def interleaved(
    calls: Sequence[Callable[[], Any]],
    *,
    rounds: int,
    batch_seconds: float = 0.0003,
    largest_batch: int = 200,
    limit_seconds: float = 3.0,
) -> list[Timing]:
    """Times of calls that are measured in turn, so that noise hits all of them alike.

    Each round runs a batch of every call, beginning with another one each time. A batch
    ends before the results are waited for: what is timed is the call, and as the number
    of calls in a batch is bounded, so is the queue of what is still running.

    Args:
      calls: functions without arguments; what they return may still be computed.
      rounds: number of batches of each.
      batch_seconds: about how long a batch is to take; a short one has the better
        chance to run undisturbed.
      largest_batch: calls in a batch at most.
      limit_seconds: about how long all of it may take: slow calls get fewer rounds.

    Returns:
      One timing for each call.
    """
    once = [_roughly(call) for call in calls]
    sizes = [max(1, min(largest_batch, int(batch_seconds / s))) for s in once]
    a_round = sum(size * s for size, s in zip(sizes, once, strict=True))
    rounds = max(3, min(rounds, int(limit_seconds / a_round)))
    seconds: list[list[float]] = [[] for _ in calls]
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for i in range(turn, turn + len(calls)):
                which = i % len(calls)
                seconds[which].append(_batch(calls[which], sizes[which]))
    finally:
        if was_enabled:
            gc.enable()
    return [Timing.of(values) for values in seconds]


def _roughly(call: Callable[[], Any]) -> float:
    """Seconds of a call, after those that compile."""
    for _ in range(3):
        jax.block_until_ready(call())
    return min(_batch(call, 1) for _ in range(3))


def _batch(call: Callable[[], Any], size: int) -> float:
    """Seconds for each of ``size`` calls."""
    result = None
    start = time.perf_counter()
    for _ in itertools.repeat(None, size):
        result = call()
    stop = time.perf_counter()
    jax.block_until_ready(result)
    return (stop - start) / size


def in_children(
    programs: dict[str, str], *, rounds: int
) -> dict[str, list[list[float]]]:
    """What fresh Python processes print, run in turn.

    Args:
      programs: code by name; each prints one line of numbers.
      rounds: how often each is run.

    Returns:
      By name, the numbers of each round.
    """
    results: dict[str, list[list[float]]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as cache:
        # Bytecode as an installed package has it, wherever this one is run from and
        # whether or not Python may write beside it: the first round compiles it.
        env = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(rounds + 1):
            names = list(programs)
            for name in names[::-1] if turn % 2 else names:
                done = subprocess.run(
                    [sys.executable, "-c", programs[name]],
                    env=env,
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                )
                if turn:
                    results[name].append([float(x) for x in done.stdout.split()])
    return results
