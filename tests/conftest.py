"""What all tests share. XLA's flags are set before JAX is imported."""

import os
import re
import shutil
import tempfile
import zlib

if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    ).strip()
# Most of the time of the tests goes into compiling small programs. It is much less
# where LLVM optimizes nothing, and works on a program in one piece. What XLA itself
# does to it, as to fold constants, stays as it is.
if "xla_backend_optimization_level" not in os.environ["XLA_FLAGS"]:
    os.environ["XLA_FLAGS"] += " --xla_backend_optimization_level=0"
if "xla_cpu_parallel_codegen_split_count" not in os.environ["XLA_FLAGS"]:
    os.environ["XLA_FLAGS"] += " --xla_cpu_parallel_codegen_split_count=1"

import hypothesis
import jax
import numpy as np
import pytest

# A silent promotion of ranks in a test would hide a missing one in an operation.
jax.config.update("jax_numpy_rank_promotion", "raise")

hypothesis.settings.register_profile(
    "ci", max_examples=25, deadline=None, derandomize=True
)
hypothesis.settings.register_profile("dev", max_examples=15, deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_configure(config):
    """All workers share what is compiled: they inherit the name of its folder."""
    if "XLAOPS_TEST_CACHE" not in os.environ:
        folder = os.environ["XLAOPS_TEST_CACHE"] = tempfile.mkdtemp()

        def remove():
            os.environ.pop("XLAOPS_TEST_CACHE", None)
            shutil.rmtree(folder, ignore_errors=True)

        config.add_cleanup(remove)


# With xla_cpu_use_fusion_emitters=false the compiler of jaxlib 0.10 takes half of the
# time. Users' programs are compiled without, and that way gets padded windows wrong.
_WRONG_CODE = re.compile(
    r"\[(reduce_window|ReduceWindowWithGeneralPadding|types in computations)\]$"
)


def pytest_collection_modifyitems(items):
    """Leaves out what the faster compiler is known to get wrong, where it is chosen."""
    if "xla_cpu_use_fusion_emitters=false" in os.environ["XLA_FLAGS"]:
        for item in items:
            if _WRONG_CODE.search(item.name):
                item.add_marker(pytest.mark.skip(reason="wrong code by this flag"))


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
