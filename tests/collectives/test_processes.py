"""Replicas in several processes, and replicas that never arrive."""

import os
import pathlib
import socket
import subprocess
import sys
import textwrap

import pytest

PROGRAM = pathlib.Path(__file__).with_name("two_processes.py")
CASES = 20


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**others: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    return {**kept, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)} | (
        others
    )


@pytest.mark.multiprocess
def test_two_processes():
    port = str(free_port())
    processes = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), str(k), port],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for k in range(2)
    ]
    try:
        outputs = [process.communicate(timeout=110)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, output in zip(processes, outputs, strict=True):
        assert process.returncode == 0, output[-3000:]
        assert output.count("right: ") == CASES, output[-3000:]


def ends(code: str, flags: str = "") -> str:
    """What a child says that has to end by itself, and not well."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment(XLA_FLAGS=flags),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode != 0, done.stdout
    return done.stderr


def test_a_replica_that_never_arrives():
    """A collective that half of the replicas reach."""
    said = ends(
        """
        import jax
        import jax.numpy as jnp
        import xlaops as xo
        from jax.sharding import PartitionSpec as P

        auto = jax.sharding.AxisType.Auto
        mesh = jax.make_mesh((2,), ("i",), axis_types=(auto,))

        def f(x):
            def some(x):
                return xo.all_reduce(x, jnp.hypot)

            return jax.lax.cond(xo.replica_id() == 0, some, lambda x: x, x)

        g = jax.shard_map(
            f, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False
        )
        jax.block_until_ready(jax.jit(g)(jnp.ones(2)))
        """,
        "--xla_force_host_platform_device_count=2 "
        "--xla_cpu_collective_call_warn_stuck_timeout_seconds=1 "
        "--xla_cpu_collective_call_terminate_timeout_seconds=2",
    )
    assert "rendezvous" in said.lower()


@pytest.mark.slow
@pytest.mark.multiprocess
def test_a_process_that_never_arrives():
    said = ends(
        f"""
        import jax

        jax.distributed.initialize(
            "127.0.0.1:{free_port()}",
            num_processes=2,
            process_id=0,
            initialization_timeout=2,
        )
        """
    )
    assert "DEADLINE_EXCEEDED" in said
