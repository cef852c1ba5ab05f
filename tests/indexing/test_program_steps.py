"""Drawn programs of many kinds of operations: maps against what changes."""

import numpy as np
import pytest

from xlaops.indexing import analyze

from .observed import changes, related
from .program_steps import STEPS, drawn

SEEDS = [
    *range(10),
    *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 80)],
]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_changes_is_related(seed):
    program, args, names = drawn(seed)
    analysis = analyze(program, *[arg.struct for arg in args])
    (truth,) = changes(program, args, draws=8, seed=seed)
    shape = analysis.outputs[0].shape
    row = seed % int(np.prod(shape))
    seen = analysis.seen(0, np.unravel_index(row, shape) if shape else ())
    for k, arg in enumerate(args):
        maps = analysis.output_to_input(0, k)
        matrix = related(maps, shape, arg.shape)
        assert not (truth[k] & ~matrix).any(), (names, [str(one) for one in maps])
        back = related(analysis.input_to_output(k), arg.shape, shape)
        # Turned maps may relate more where an index is only known at run time.
        assert not (truth[k] & ~back.T).any(), names
        found = seen.get(analysis.inputs[k])
        codes = set() if found is None else set(found.elements.codes().tolist())
        assert codes >= set(np.flatnonzero(truth[k][row]).tolist()), names
        if found is not None and found.is_known:
            assert codes <= set(np.flatnonzero(matrix[row]).tolist()), names


def test_every_kind_of_operation_is_drawn():
    names = {name for seed in range(60) for name in drawn(seed)[2]}
    assert names == set(STEPS)
