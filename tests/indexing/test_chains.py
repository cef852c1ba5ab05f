"""Chains of reshapes, transposes and reversals cancel with their inverses."""

import functools

import pytest
from indexing import chains

from xlaops.indexing import composition


def _composed(maps, prove):
    return functools.reduce(
        lambda f, g: composition.compose(f, g, prove=prove), maps[1:], maps[0]
    )


def _identities(kinds, seed, prove):
    return sum(_composed(c, prove).is_identity for c in chains.chains(kinds, seed))


@pytest.mark.parametrize("seed", [7, 11])
def test_all_chains_of_reshapes_cancel_by_rules(seed):
    assert _identities(("reshape",), seed, prove=False) == 400


@pytest.mark.parametrize("seed", [7, 11])
def test_nearly_all_chains_cancel_by_rules(seed):
    assert _identities(chains.ALL, seed, prove=False) >= 380


@pytest.mark.parametrize("seed", [7, 11])
def test_all_chains_cancel_with_proofs(seed):
    assert _identities(chains.ALL, seed, prove=True) == 400


def test_half_a_chain_does_not_cancel():
    # Or the tests above would say nothing.
    halves = [c[: len(c) // 2] for c in chains.chains(("reshape",), 7, 100)]
    assert sum(_composed(c, prove=True).is_identity for c in halves) < 50


def test_large_arrays_cancel_too():
    # A proof may not compute all of the 2**40 elements.
    shape, other = (2**20, 2**10, 2**10), (2**15, 2**15, 2**10)
    there, back = chains.reshape(shape, other), chains.reshape(other, shape)
    flip, flop = chains.reverse(other, [1]), chains.reverse(other, [1])
    assert _composed([back, flip, flop, there], prove=True).is_identity
