"""Parts of complex numbers."""

import numpy as np

from .broadcasting import binary
from .element_types import kind


def _of_parts(x, y):
    dtype = {"float32": np.complex64, "float64": np.complex128}[x.dtype.name]
    result = np.empty(x.shape, dtype)
    result.real, result.imag = x, y
    return result


complex_ = binary(_of_parts)


def real(operand):
    return operand.real if kind(operand.dtype) == "c" else operand


def imag(operand):
    if kind(operand.dtype) == "c":
        return operand.imag
    return np.zeros(operand.shape, operand.dtype)


def conj(operand):
    return _of_parts(real(operand), -imag(operand))
