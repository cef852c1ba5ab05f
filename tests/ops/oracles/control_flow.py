"""Branches and loops."""

import numpy as np


def conditional(predicate, true_operand, false_operand, *, on_true, on_false):
    return on_true(true_operand) if predicate else on_false(false_operand)


def branches(branch_index, *operands, computations):
    index = int(branch_index)
    index = index if 0 <= index < len(computations) else len(computations) - 1
    return computations[index](operands[index])


def while_(value, *, condition, body):
    while condition(value):
        value = body(value)
    return value


def scan(xs, carry, *, step, scan_dimension, is_reverse=False):
    """The outputs and the carry of ``step(x, carry)`` along one dimension."""
    count = xs.shape[scan_dimension]
    outputs = [None] * count
    for i in reversed(range(count)) if is_reverse else range(count):
        outputs[i], carry = step(xs.take(i, scan_dimension), carry)
    return np.stack(outputs, scan_dimension), carry
