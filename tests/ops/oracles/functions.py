"""Rounding, and functions of one operand."""

import mpmath
import numpy as np
import scipy.special
import scipy.stats

from .element_types import by_kind, wide

ceil = by_kind(real=np.ceil)
floor = by_kind(real=np.floor)
round_even = by_kind(real=np.rint)
round_away = by_kind(
    real=lambda x: np.copysign(
        np.where(np.abs(x) % 1 == 0.5, np.ceil(np.abs(x)), np.rint(np.abs(x))), x
    )
)


def _mpmath(f):
    """A function of mpmath at every element, with 40 digits."""

    def oracle(operand):
        with mpmath.workdps(40):
            values = [complex(f(mpmath.mpc(z))) for z in wide(operand).ravel()]
        return np.array(values).reshape(operand.shape)

    return oracle


cbrt = by_kind(real=np.cbrt, complex=_mpmath(lambda z: mpmath.exp(mpmath.log(z) / 3)))
cos = by_kind(real=np.cos, complex=_mpmath(mpmath.cos))
exp = by_kind(real=np.exp, complex=_mpmath(mpmath.exp))
expm1 = by_kind(real=np.expm1, complex=_mpmath(lambda z: mpmath.exp(z) - 1))
log = by_kind(real=np.log, complex=_mpmath(mpmath.log))
log1p = by_kind(real=np.log1p, complex=_mpmath(lambda z: mpmath.log(1 + z)))
logistic = by_kind(
    real=scipy.special.expit, complex=_mpmath(lambda z: 1 / (1 + mpmath.exp(-z)))
)
rsqrt = by_kind(
    real=lambda x: 1 / np.sqrt(x), complex=_mpmath(lambda z: 1 / mpmath.sqrt(z))
)
sin = by_kind(real=np.sin, complex=_mpmath(mpmath.sin))
cosh = by_kind(real=np.cosh, complex=_mpmath(mpmath.cosh))
erf = by_kind(real=scipy.special.erf)
sqrt = by_kind(real=np.sqrt, complex=_mpmath(mpmath.sqrt))
tan = by_kind(real=np.tan, complex=_mpmath(mpmath.tan))
tanh = by_kind(real=np.tanh, complex=_mpmath(mpmath.tanh))
