"""Properties of random numbers, in the place of values.

By chance the bounds fail less than once in a million runs.
"""

import math

import ml_dtypes
import numpy as np
import scipy.special
import scipy.stats

from .element_types import kind, wide


def check_uniform(sample, a, b):
    """Range, and the whole distribution (of more than a thousand numbers)."""
    values = np.asarray(sample).ravel()
    low, high = wide(a)[()], wide(b)[()]
    values = wide(values)
    assert all(low <= v < high for v in values)
    if kind(sample.dtype) == "f":
        width = float(high - low)
        step = float(ml_dtypes.finfo(sample.dtype).eps) * width
        result = scipy.stats.kstest((values - low) / width, scipy.stats.uniform.cdf)
        # Types of few bits have steps in their distribution.
        assert result.statistic < 3 / math.sqrt(len(values)) + step
    else:
        # Spread out to a continuous distribution by where in its step each one falls.
        width = int(high) - int(low)
        jitter = (np.arange(len(values)) * 0.618033988749895) % 1
        unit = np.array([(int(v) - int(low)) for v in values], float) + jitter
        result = scipy.stats.kstest(unit / width, scipy.stats.uniform.cdf)
        assert result.statistic < 3 / math.sqrt(len(values))


def check_normal(sample, mu, sigma):
    values = wide(np.asarray(sample).ravel())
    mu, sigma = float(wide(mu)[()]), float(wide(sigma)[()])
    step = float(ml_dtypes.finfo(sample.dtype).eps)
    unit = (values - mu) / sigma
    assert np.all(np.isfinite(values))
    result = scipy.stats.kstest(unit, scipy.stats.norm.cdf)
    assert result.statistic < 3 / math.sqrt(len(values)) + 4 * step * abs(mu / sigma)
    assert abs(unit.mean()) < 6 / math.sqrt(len(values)) + 2 * step
    assert abs(unit.std() - 1) < 6 / math.sqrt(len(values)) + 2 * step
