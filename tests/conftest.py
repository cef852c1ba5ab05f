"""What all tests share. XLA's flags are set before JAX is imported."""

import os
import zlib

if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    ).strip()
# Most of the time of the tests goes into compiling small programs. It is a quarter less
# where LLVM works less on the code of a program, and in one piece. What XLA itself does
# to a program, as to fold constants, stays as it is.
if "xla_backend_optimization_level" not in os.environ["XLA_FLAGS"]:
    os.environ["XLA_FLAGS"] += " --xla_backend_optimization_level=1"
if "xla_cpu_parallel_codegen_split_count" not in os.environ["XLA_FLAGS"]:
    os.environ["XLA_FLAGS"] += " --xla_cpu_parallel_codegen_split_count=1"

import hypothesis
import jax
import numpy as np
import pytest

# A silent promotion of ranks in a test would hide a missing one in an operation.
jax.config.update("jax_numpy_rank_promotion", "raise")

hypothesis.settings.register_profile(
    "ci", max_examples=50, deadline=None, derandomize=True
)
hypothesis.settings.register_profile("dev", max_examples=15, deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture
def rng(request):
    """A numpy generator of which the seed is the test's name."""
    # Not hash(), which differs from process to process.
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(params=["eager", "jit"])
def mode(request):
    """Calls an operation as it is, and jitted: ``mode(f)(x)``."""
    return {"eager": lambda f: f, "jit": jax.jit}[request.param]


@pytest.fixture
def x64():
    """64-bit types for one test."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def mesh8():
    """A mesh of 8 devices named ``i``; shardings are left to the compiler."""
    if len(jax.devices()) < 8:
        pytest.skip("needs 8 devices")
    return jax.make_mesh((8,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
