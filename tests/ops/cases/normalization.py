"""Batch normalisation."""

import operator

import numpy as np
from ops import oracles

import xlaops as xo

from .case import Case, Error
from .operands import FLOATS, by_name, uniform

_PARAMETERS = {
    "BatchNormTraining": "operand scale offset",
    "BatchNormInference": "operand scale offset mean variance",
    "BatchNormGrad": "operand scale batch_mean batch_var grad_output",
}


def _arguments(title, shape, index):
    def arguments(rng, dtype="float64"):
        vector = (shape[index],)
        made = {
            "operand": uniform(rng, dtype, shape),
            "scale": uniform(rng, dtype, vector, 0.5, 1.5),
            "offset": uniform(rng, dtype, vector),
            "mean": uniform(rng, dtype, vector, -1, 1),
            "variance": uniform(rng, dtype, vector, 1, 2),
            "grad_output": uniform(rng, dtype, shape),
        }
        made |= {"batch_mean": made["mean"], "batch_var": made["variance"]}
        return tuple(made[name] for name in _PARAMETERS[title].split())

    return arguments


def _batch_norm(title, label, oracle, index, part=None):
    name = xo.catalog.by_name(title)[0].function
    part = operator.itemgetter(part) if part is not None else lambda result: result
    vector = np.ones(3, np.float32)
    count = len(_PARAMETERS[title].split())

    def refused():
        operands = [vector] * count
        return getattr(xo, name)(*operands, 0.5, -1)

    return Case(
        title=title,
        label=label,
        arguments=_arguments(title, (4, 3, 2), index),
        arrange=by_name(*_PARAMETERS[title].split()),
        statics={"epsilon": 0.125, "feature_index": index},
        oracle=lambda *a, **k: part(oracle(*a, **k)),
        dtypes=FLOATS,
        gradient="yes",
        smooth=_arguments(title, (3, 2), 1),
        part=part,
        # Sums of products, of which the terms may cancel.
        looser=20,
        error=Error(refused, ValueError, "feature_index", "-1"),
    )


NORMALIZATION = (
    _batch_norm("BatchNormGrad", "operand", oracles.batch_norm_grad, 1, 0),
    _batch_norm("BatchNormGrad", "scale", oracles.batch_norm_grad, 1, 1),
    _batch_norm("BatchNormInference", "", oracles.batch_norm_inference, 1),
    _batch_norm("BatchNormTraining", "output", oracles.batch_norm_training, 1, 0),
    _batch_norm("BatchNormTraining", "variance", oracles.batch_norm_training, 1, 2),
)
