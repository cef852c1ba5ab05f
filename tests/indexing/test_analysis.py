"""Analyses of programs: names, what they are asked, and that their sets stay small."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from xlaops.indexing import analyze

from .observed import related


def _struct(*shape, dtype=np.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def test_analysis_names_values_and_reports_unknown_primitives():
    def f(tree):
        y = checkpoint_name(tree["w"][::-1], "middle")
        return {"out": jax.pure_callback(np.sin, y, y), "sum": y + tree["b"]}

    analysis = analyze(f, {"w": _struct(4), "b": _struct(4)})
    assert analysis.input_names == ("args[0]['b']", "args[0]['w']")
    (one,) = analysis.output_to_input("result['out']", "args[0]['w']")
    assert one.is_undefined
    assert not one.exact
    assert analysis.undefined == {"pure_callback": 1}
    (middle,) = analysis.output_to_input("result['sum']", "middle")
    assert middle.is_identity
    (reverse,) = analysis.output_to_input("middle", 1)
    assert str(reverse) == "(d0) -> (-d0 + 3), domain: d0 in [0, 3]"
    assert not analysis.output_to_input("middle", 0)
    assert "no rule: pure_callback (1 times)" in str(analysis)


def test_analysis_checks_what_it_is_asked():
    analysis = analyze(lambda x: x, _struct(3))
    with pytest.raises(ValueError, match="output must be one of 1, got 1"):
        analysis.output_to_input(1)
    with pytest.raises(ValueError, match="name must be that of an array"):
        analysis.output_to_input(0, "y")
    with pytest.raises(TypeError, match="input must be a number"):
        analysis.output_to_input(0, 1.5)
    with pytest.raises(TypeError, match="f must be callable"):
        analyze(3)


def test_sets_of_maps_stay_bounded():
    """Every step doubles the shifts: they are widened, soundly, and that is said."""

    def f(x):
        for k in range(7):
            x = x + jnp.roll(x, 2**k, 0)
        return x

    analysis = analyze(f, _struct(300))
    maps = analysis.output_to_input()
    assert analysis.widened > 0
    assert len(maps) <= 64
    assert any("too many maps" in r for m in maps for r in m.reasons)
    matrix = related(maps, (300,), (300,))
    index = np.arange(300)
    for shift in range(128):
        assert matrix[index, (index - shift) % 300].all()


def test_many_residual_blocks_are_linear():
    def f(x):
        for _ in range(60):
            x = x + jnp.tanh(x @ jnp.ones((8, 8)))
        return x

    analysis = analyze(f, _struct(5, 8))
    texts = [str(m) for m in analysis.output_to_input()]
    assert len(texts) == 2
    assert not analysis.widened


def test_windows_of_windows_keep_one_variable_a_dimension():
    def f(x):
        for _ in range(6):
            x = lax.conv_general_dilated(x, jnp.ones((1, 1, 3)), (1,), "SAME")
        return x

    (one,) = analyze(f, _struct(1, 1, 40)).output_to_input()
    assert len(one.ranges) == 1
    assert one.ranges[0].bounds.count == 13
    matrix = related((one,), (1, 1, 40), (1, 1, 40))
    index = np.arange(40)
    np.testing.assert_array_equal(matrix, abs(index[:, None] - index) <= 6)


def test_references_and_callbacks_are_not_followed_and_say_so():
    def f(x, y):
        held = jax.new_ref(jnp.zeros(3))
        held[...] = x * 2
        return held[...] + y

    analysis = analyze(f, _struct(3), _struct(3))
    for i in range(2):
        (one,) = analysis.output_to_input(0, i)
        assert one.is_undefined or one.is_identity
    assert analysis.output_to_input(0, 0)[0].is_undefined
    assert analysis.undefined


def test_reasons_do_not_leak_from_equal_maps():
    """Maps that are equal but for their reasons are composed one by one."""

    def loose(x):
        return lax.linalg.eigh(x, symmetrize_input=False)[1] * 2

    def exact(x):
        return jnp.full((3, 3), 1.0) * x.sum() * 2

    (one,) = analyze(loose, _struct(3, 3)).output_to_input()
    assert one.reasons
    (one,) = analyze(exact, _struct(3, 3)).output_to_input()
    assert one.exact


def test_a_part_of_a_larger_array_is_not_mistaken_for_a_whole_one():
    # Results are remembered. The map into a concatenation equals the identity that an
    # operation on elements has, and yet restricts what comes after it.
    x = jax.ShapeDtypeStruct((3, 7), np.float32)
    analyze(jnp.sin, x).output_to_input()
    joined = analyze(
        lambda x: jnp.pad(jnp.concatenate([x, x[:2] * 2]), ((1, 0), (0, 0))), x
    )
    assert [str(m) for m in joined.input_to_output()] == [
        "(d0, d1) -> (d0 + 1, d1), domain: d0 in [0, 2], d1 in [0, 6]",
        "(d0, d1) -> (d0 + 4, d1), domain: d0 in [0, 1], d1 in [0, 6]",
    ]


def test_collectives_over_the_axis_of_a_batch():
    """They fold an axis of their operands, and need no devices."""

    def row(x, y):
        total, other = jax.lax.psum((x, y), "batch")
        return x - total, other * jax.lax.pmax(y, "batch")

    args = (
        jax.ShapeDtypeStruct((4, 3), np.float32),
        jax.ShapeDtypeStruct((4,), np.float32),
    )
    analysis = analyze(jax.vmap(row, axis_name="batch"), *args)
    assert [str(one) for one in analysis.output_to_input(0, 0)] == [
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 2]",
        "(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 3]",
    ]
    assert [str(one) for one in analysis.output_to_input(1, 1)] == [
        "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]"
    ]
    assert not analysis.output_to_input(0, 1)
    assert not analysis.undefined
