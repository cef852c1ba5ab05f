"""One binary for every supported jaxlib: built by one Python, run by another.

The other one is named by the environment variable XLAOPS_TEST_OTHER_PYTHON, and has
another jax. It needs xlaops as well, unless this is a checkout.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import pytest

import xlaops

RUN = """
    import json, sys
    import jax, numpy as np
    import xlaops.ffi

    library = xlaops.ffi.load_library(sys.argv[1], name="kit", handlers=["of_xla"])

    def call(symbol, result, *operands, stages=None, **attributes):
        target = library.target(symbol, **(stages or {}))
        function = jax.ffi.ffi_call(target, result)
        try:
            run = jax.jit(lambda *operands: function(*operands, **attributes))
            return np.asarray(run(*operands)).astype(np.float32).tolist()
        except jax.errors.JaxRuntimeError as error:
            return str(error).splitlines()[0]

    def like(shape, dtype=np.float32):
        return jax.ShapeDtypeStruct(shape, dtype)

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    state = dict(instantiate="counter_start", state="counter")
    results = [
        call("copy_matrix", like((3, 4)), x),
        call("copy_matrix", like((3, 5)), x),
        call("square", like((), np.int32), x),
        call("alternatives", like((1,)), x),
        call("keys_and_values", like((3, 4)), x, x[:2]),
        call("to_float", like((3, 4)), x.astype("bfloat16")),
        call("from_float", like((3, 4), "float8_e4m3fn"), x),
        call("from_packed", like((3, 4)), x.astype("int4")),
        call("conjugate", like((3, 4)), x),
        call("throws", like((), np.int32), what=np.int32(0)),
        call("throws_inside", like((), np.int32)),
        call("visits", like((100,), np.int32), grain=np.int64(1)),
        call("counter_next", like((), np.int32), stages=state, first=np.int64(5)),
        call("of_xla", like((3, 4)), x),
    ]
    print(json.dumps([jax.__version__, library.api_version, results]))
"""


def run(python, path, **environment):
    done = subprocess.run(
        [python, "-c", textwrap.dedent(RUN), str(path)],
        env={**os.environ, "JAX_PLATFORMS": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_same_binary_at_both_ends(kit):
    other = os.environ.get("XLAOPS_TEST_OTHER_PYTHON")
    if not other:
        pytest.skip("XLAOPS_TEST_OTHER_PYTHON names no other Python")
    root = Path(xlaops.__file__).parent.parent
    checkout = {"PYTHONPATH": str(root)} if (root / "pyproject.toml").exists() else {}
    here_version, here_api, here = run(sys.executable, kit.path, **checkout)
    there_version, there_api, there = run(other, kit.path, **checkout)
    assert here_version == jax.__version__
    assert there_version != here_version
    assert tuple(here_api) == tuple(there_api) == (0, 3)
    assert there == here
    # And they are not all one error.
    assert here[0] == there[0] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert here[12] == 5
