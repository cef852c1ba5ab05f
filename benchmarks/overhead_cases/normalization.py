"""Batch normalisation, for which jax.lax has no functions."""

from typing import Any

import xlaops as xo

from .case import Case

_NO_JNP = "jax.numpy has no function for it"


def _none(*operands: Any) -> Any:
    raise TypeError("jax.lax has no function for it")


NORMALIZATION = (
    Case(
        "batch_norm_training",
        "BatchNormTraining",
        ("f32[8,8]", "f32[8]", "f32[8]"),
        lambda x, a, b: xo.batch_norm_training(x, a, b, 0.001, 1),
        _none,
        _NO_JNP,
    ),
    Case(
        "batch_norm_inference",
        "BatchNormInference",
        ("f32[8,8]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"),
        lambda x, a, b, m, v: xo.batch_norm_inference(x, a, b, m, v, 0.001, 1),
        _none,
        _NO_JNP,
    ),
    Case(
        "batch_norm_grad",
        "BatchNormGrad",
        ("f32[8,8]", "f32[8]", "f32[8]", "f32[8]", "f32[8,8]"),
        lambda x, a, m, v, g: xo.batch_norm_grad(x, a, m, v, g, 0.001, 1),
        _none,
        _NO_JNP,
    ),
)
