"""Expressions and aggregators by number: kernels written out from the lists of functions."""

from __future__ import annotations

from cep.engine.generated import load_module
from cep.engine.machine.dispatch import module_source
from cep.engine.machine.jit import inline
from cep.engine.machine.kernels.words import EVALUATION, Floats, Ints

_module = load_module(module_source())
evaluate = _module.evaluate
accumulate = _module.accumulate
accumulated = _module.accumulated


@inline
def is_true(i: Ints, f: Floats, p: Ints, code: int, row: int) -> bool:
    """Whether a condition is true on a row; there may be none (`code` 0)."""
    if code == 0:
        return True
    evaluate(i, f, p, code, row, EVALUATION)
    return i[0, EVALUATION] == 1


@inline
def leave_value(i: Ints, f: Floats, p: Ints, code: int, row: int, target: int) -> None:
    """Leave the value of an expression on a row in a word of the stack of values.

    Most are words of the row: `Builder.value` has them as negative codes, which need no step.
    """
    if code < 0:
        i[0, target] = i[0, row - code]
    else:
        evaluate(i, f, p, code, row, target)


@inline
def store(i: Ints, f: Floats, p: Ints, code: int, row: int, target: int) -> None:
    """Write the value of an expression on a row to a word."""
    evaluate(i, f, p, code, row, EVALUATION)
    i[0, target] = i[0, EVALUATION]
