"""rng_bit_generator against the generators of Salmon et al. in Python integers."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P
from ops.bit_generators import LOW, bits32, words

from xlaops.ops.rng_bit_generator import rng_bit_generator

STATE = np.array([10, 20, 30, 40, 50, 60], np.uint32)
ALGORITHMS = [("RNG_THREE_FRY", 4), ("RNG_PHILOX", 4), ("RNG_PHILOX", 6)]
ALGORITHMS += [("RNG_DEFAULT", 4), ("RNG_DEFAULT", 6)]


def draw(algorithm, state, dtype, sizes=(8,)):
    return rng_bit_generator(algorithm, state, jax.ShapeDtypeStruct(sizes, dtype))


@pytest.mark.parametrize(("algorithm", "count"), ALGORITHMS)
def test_bits_of_the_algorithms(algorithm, count, mode):
    rng = np.random.default_rng(count)
    f = mode(lambda state, a=algorithm: draw(a, state, np.uint32, (16,)))
    states = rng.integers(0, 2**32, (3, count), dtype=np.uint32)
    # Counters that overflow into the next half and word.
    states[1, 2:4] = LOW
    if algorithm == "RNG_DEFAULT":
        algorithm = "RNG_PHILOX"  # what the CPU and GPU backends prefer
    for state in states:
        new_state, data = f(jnp.asarray(state))
        np.testing.assert_array_equal(
            data, np.array(bits32(algorithm, state, 16), np.uint32)
        )
        # Four or eight blocks later.
        key, *counter = words(state)
        blocks = 8 if algorithm == "RNG_THREE_FRY" else 4
        number = sum(w << 64 * i for i, w in enumerate(counter)) + blocks
        expected = [key, *((number >> 64 * i) % 2**64 for i in range(len(counter)))]
        assert words(new_state) == expected
        assert new_state.dtype == np.uint32


@pytest.mark.parametrize(("algorithm", "count"), ALGORITHMS)
def test_words_are_pairs_of_halves(algorithm, count, x64):
    state = STATE[:count]
    for dtype in (np.uint32, np.uint64):
        expected_state, expected = draw(algorithm, state, dtype)
        new_state, data = draw(algorithm, state.view(np.uint64), dtype)
        assert new_state.dtype == np.uint64
        np.testing.assert_array_equal(new_state, np.array(words(expected_state)))
        np.testing.assert_array_equal(data, expected)


def test_states_chain(mode):
    # The second half of one draw is what the new state gives: nothing repeats.
    f = mode(lambda s, n=8: draw("RNG_PHILOX", s, np.uint32, (n,)))
    state, first = f(STATE)
    _, second = f(state)
    _, both = draw("RNG_PHILOX", STATE, np.uint32, (16,))
    np.testing.assert_array_equal(np.concatenate([first, second]), both)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float16", "float32"])
def test_other_types_have_the_bits_of_unsigned_ones(dtype, mode):
    unsigned = np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")
    _, expected = draw("RNG_THREE_FRY", STATE[:4], unsigned, (4, 16))
    _, data = mode(lambda s: draw("RNG_THREE_FRY", s, dtype, (4, 16)))(STATE[:4])
    assert data.dtype == np.dtype(dtype)
    assert data.shape == (4, 16)
    np.testing.assert_array_equal(np.asarray(data).view(unsigned), expected)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_64_bits(dtype, x64):
    _, expected = draw("RNG_THREE_FRY", STATE[:4], np.uint64, (2, 500))
    _, data = draw("RNG_THREE_FRY", STATE[:4], dtype, (2, 500))
    assert data.dtype == np.dtype(dtype)
    got = np.asarray(data).view(np.uint64)
    np.testing.assert_array_equal(got, expected)
    check_uniform(got.view(np.uint8))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "uint8"])
def test_narrow_types_are_uniform(dtype):
    _, data = draw("RNG_PHILOX", STATE, jnp.dtype(dtype), (4000,))
    assert data.dtype == jnp.dtype(dtype)
    check_uniform(np.asarray(data).view(np.uint8))


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2"])
def test_less_than_a_byte(dtype):
    _, data = draw("RNG_PHILOX", STATE, jnp.dtype(dtype), (4000,))
    assert data.dtype == jnp.dtype(dtype)
    limits = ml_dtypes.iinfo(dtype)
    values, counts = np.unique(np.asarray(data).astype(int), return_counts=True)
    np.testing.assert_array_equal(values, np.arange(limits.min, limits.max + 1))
    expected = 4000 / len(values)
    assert (abs(counts - expected) < 5 * np.sqrt(expected)).all()


def check_uniform(octets):
    """Each bit is set in half of the bytes, up to five deviations."""
    ones = np.unpackbits(octets.reshape(-1, 1), axis=1)
    assert (abs(ones.mean(0) - 0.5) < 2.5 / np.sqrt(len(ones))).all()


def test_pred(mode):
    state, data = mode(lambda s: draw("RNG_PHILOX", s, np.bool_, (4000,)))(STATE)
    assert data.dtype == np.bool_
    assert abs(np.mean(data) - 0.5) < 2.5 / np.sqrt(4000)
    assert (np.asarray(state) != STATE).any()


def test_scalars_and_empty_arrays(mode):
    for algorithm, count in ALGORITHMS:
        f = mode(lambda s, a=algorithm: draw(a, s, np.uint32, ()))
        assert f(STATE[:count])[1].shape == ()
        f = mode(lambda s, a=algorithm: draw(a, s, np.float32, (2, 0)))
        state, data = f(STATE[:count])
        assert data.shape == (2, 0)
        np.testing.assert_array_equal(state, STATE[:count])


def test_ways_to_write_the_arguments():
    expected = draw("RNG_PHILOX", STATE, np.uint32)[1]
    for algorithm in ("philox", "rng_philox", 2, lax.RandomAlgorithm.RNG_PHILOX):
        _, data = rng_bit_generator(algorithm, STATE, "u32[8]")
        np.testing.assert_array_equal(data, expected)


@pytest.mark.parametrize(("algorithm", "count"), ALGORITHMS[:3])
@pytest.mark.parametrize("axis", [0, 1])
def test_vmap_draws_from_each_state(algorithm, count, axis):
    states = np.random.default_rng(1).integers(0, 2**32, (3, count), dtype=np.uint32)
    f = jax.vmap(lambda s: draw(algorithm, s, np.float32, (2, 3)), axis, axis)
    for call in (f, jax.jit(f)):
        new_states, data = map(np.asarray, call(np.moveaxis(states, 0, axis)))
        for b in range(3):
            new_state, expected = draw(algorithm, states[b], np.float32, (2, 3))
            np.testing.assert_array_equal(np.take(new_states, b, axis), new_state)
            np.testing.assert_array_equal(np.take(data, b, axis), expected)


def test_nested_vmap_and_vmap_without_states():
    def f(state):
        return draw("RNG_PHILOX", state, np.uint8, (5,))[1]

    states = np.arange(24, dtype=np.uint32).reshape(2, 2, 6)
    got = jax.vmap(jax.vmap(f))(states)
    for i in np.ndindex(2, 2):
        np.testing.assert_array_equal(got[i], f(states[i]))
    got = jax.vmap(lambda x: f(STATE).astype(int) + x)(jnp.arange(3))
    for b in range(3):
        np.testing.assert_array_equal(got[b], np.asarray(f(STATE)).astype(int) + b)
    assert jax.vmap(f)(states[0, :0]).shape == (0, 5)


def test_derivatives_are_zero(mode):
    def f(x):
        data = draw("RNG_PHILOX", STATE, np.float16, (4,))[1]
        return (x * data.astype(np.float32)).sum()

    _, data = draw("RNG_PHILOX", STATE, np.float16, (4,))
    expected = np.asarray(data).astype(np.float32).sum()
    np.testing.assert_allclose(mode(jax.grad(f))(2.0), expected, rtol=1e-6)
    tangent = np.zeros(6, jax.dtypes.float0)
    _, moved = jax.jvp(
        lambda s: draw("RNG_PHILOX", s, np.float32, (4,))[1],
        (jnp.asarray(STATE),),
        (tangent,),
    )
    np.testing.assert_array_equal(moved, np.zeros(4))


@pytest.mark.parametrize("check_vma", [True, False])
def test_inside_shard_map(mesh8, check_vma):
    states = np.random.default_rng(2).integers(0, 2**32, (8, 6), dtype=np.uint32)

    def f(states, scale):
        new_state, data = draw("RNG_PHILOX", states[0], np.uint16, (4,))
        return new_state[None], scale * data.astype(np.float32)[None]

    sharded = jax.jit(
        jax.shard_map(
            f,
            mesh=mesh8,
            in_specs=(P("i"), P()),
            out_specs=P("i"),
            check_vma=check_vma,
        )
    )
    new_states, data = sharded(states, 2.0)
    for b in range(8):
        new_state, expected = draw("RNG_PHILOX", states[b], np.uint16, (4,))
        np.testing.assert_array_equal(new_states[b], new_state)
        np.testing.assert_array_equal(data[b], 2.0 * np.asarray(expected))
    gradient = jax.grad(lambda x: sharded(states, x)[1].sum())(2.0)
    np.testing.assert_allclose(gradient, np.sum(data) / 2, rtol=1e-5)


def test_types_inside_shard_map(mesh8):
    # Data of different states differ between devices, and the type says so.
    def f(state):
        _, data = draw("RNG_PHILOX", state[0], np.uint32, (4,))
        return data

    sharded = jax.shard_map(f, mesh=mesh8, in_specs=P("i"), out_specs=P())
    with pytest.raises(ValueError, match="out_specs"):
        jax.jit(sharded)(np.zeros((8, 6), np.uint32))
    same = jax.shard_map(
        lambda s: draw("RNG_PHILOX", s, np.uint32, (4,)),
        mesh=mesh8,
        in_specs=P(),
        out_specs=P(),
    )
    np.testing.assert_array_equal(
        jax.jit(same)(STATE)[1], draw("RNG_PHILOX", STATE, np.uint32, (4,))[1]
    )


@pytest.mark.parametrize("platform", ["tpu", "cuda", "rocm"])
@pytest.mark.parametrize("dtype", ["uint32", "float32", "int8"])
def test_lowering_for_other_platforms(platform, dtype):
    traced = jax.jit(lambda s: draw("RNG_DEFAULT", s, dtype)).trace(STATE)
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    (line,) = (line for line in text.splitlines() if "rng_bit_generator" in line)
    bits = 8 * np.dtype(dtype).itemsize
    assert f"tensor<8xui{bits}>" in line
    assert "algorithm = DEFAULT" in line


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: draw("RNG_THREE_FRY", STATE, np.uint32),
            r"initial_state must be u64\[2\] or u32\[4\] for RNG_THREE_FRY, got "
            r"uint32\[6\]",
        ),
        (
            lambda: draw("RNG_PHILOX", STATE[:3], np.uint32),
            r"initial_state must be .*u64\[3\] or u32\[6\] .*got uint32\[3\]",
        ),
        (
            lambda: draw("RNG_PHILOX", STATE.astype(np.int32), np.uint32),
            r"initial_state must be .*got int32\[6\]",
        ),
        (
            lambda: draw("RNG_PHILOX", STATE.view(np.uint64), np.uint32),
            r"initial_state must be .*x64 is off, got uint64\[3\]",
        ),
        (
            lambda: draw("RNG_PHILOX", list(STATE), np.uint32),
            r"initial_state must be a jax.Array.*list",
        ),
        (
            lambda: rng_bit_generator("RNG_PHILOX", STATE, "u64[2]"),
            r"shape must have .*at most 32 bits where x64 is off, got u64\[2\]",
        ),
        (
            lambda: rng_bit_generator("RNG_PHILOX", STATE, "c64[2]"),
            r"shape must have .*got complex64",
        ),
        (
            lambda: rng_bit_generator("RNG_PHILOX", STATE, "f4e2m1fn[2]"),
            r"shape must have .*got float4_e2m1fn",
        ),
    ],
)
def test_refused_types(call, message):
    with pytest.raises(TypeError, match=f"rng_bit_generator: {message}"):
        call()


def test_unknown_algorithm():
    with pytest.raises(ValueError, match=r"rng_bit_generator: algorithm: .*'mersenne'"):
        draw("mersenne", STATE, np.uint32)
