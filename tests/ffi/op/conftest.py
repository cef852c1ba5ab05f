import jax
import numpy as np
import pytest
from ffi.libraries import calls


@pytest.fixture
def counted():
    """How often handlers have been called since the last time."""
    before = [calls()]

    def count():
        now = calls()
        try:
            return now - before[0]
        finally:
            before[0] = now

    return count


@pytest.fixture
def matrix(rng):
    return rng.normal(size=(8, 5)).astype(np.float32), np.arange(5, dtype=np.float32)


@pytest.fixture(scope="module")
def mesh4():
    return jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
