"""Operations of the handlers in native/op.cc, some of which count their calls."""

import functools

import jax.numpy as jnp
import numpy as np
from ffi.libraries import target

import xlaops.ffi

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


@functools.cache
def make_sine(**options):
    options = {"vmap": "broadcast_all", "sharding": "... -> ...", **options}

    @xlaops.ffi.op(
        target("scaled_sine"),
        operands={"x": "f32[...]"},
        attributes={"factor": "f32"},
        **options,
    )
    def scaled_sine(x, *, factor=1.0):
        """The sine, times a factor."""
        return jnp.sin(x) * factor

    return scaled_sine


@functools.cache
def make_total(**options):
    return xlaops.ffi.op(
        target("total"), ref=_total, operands={"x": "f32[n]"}, **options
    )


def _total(x):
    return x.sum()


@functools.cache
def make_sort_rows(sharding="b _, _ -> b _"):
    return xlaops.ffi.op(
        target("sort_rows"),
        ref=_sort_rows,
        operands={"x": "f32[b,n]", "w": "f32[n]"},
        sharding=sharding,
    )


def _sort_rows(x, w):
    return jnp.sort(x, -1) + w[None]


def sorted_rows(x, w):
    return np.sort(x, -1) + w
