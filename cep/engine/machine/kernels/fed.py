"""Indicators of the user: Python has the instances, the memory their numbers and what they gave."""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.evaluate import evaluate
from cep.engine.machine.kernels.words import EVALUATION, FED, FED_TAKES, Floats, Ints

INSTANCE, GIVEN = 0, 1
"""The state: the number of the instance (0: there is none; negative: it begins anew with the next
row), then what it gave last."""


@inner
def fed(i: Ints, f: Floats, p: Ints, code: int, row: int, state: int, comes: bool) -> None:
    """Show a row that comes to an indicator; one that leaves changes nothing. Where the indicator
    begins Python is called for either, to write down that nothing has been given.
    """
    if comes or i[0, state + INSTANCE] <= 0:
        i[0, FED] = state
        i[0, FED_TAKES] = int(comes)
        evaluate(i, f, p, code, row, EVALUATION)


@inline
def begins_anew(i: Ints, state: int) -> None:
    """An indicator forgets all, with the next row."""
    i[0, state + INSTANCE] = -abs(i[0, state + INSTANCE])
