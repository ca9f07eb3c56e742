"""The value some rows earlier."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from cep.plan.expressions import Aggregate, Constant
from cep.plan.functions.base import Aggregator, constant
from cep.plan.functions.native import CELLS, NULL, Cells, Floats, Ints
from cep.plan.functions.parameters import first
from cep.plan.functions.running import Following
from cep.plan.signatures import VALUES, Parameter, Signature
from cep.plan.types import Type

COMPILED_MAX = 256
"""More rows would make the state wide."""


class Lag(Following):
    """The value `n` rows earlier, null before; nulls are values here."""

    def __init__(self, n: int) -> None:
        self._recent: deque[Any] = deque(maxlen=n + 1)

    @property
    def value(self) -> Any:
        full = len(self._recent) == self._recent.maxlen
        return self._recent[0] if full else None

    def add(self, value: Any) -> None:
        self._recent.append(value)

    def clear(self) -> None:
        self._recent.clear()

    def state(self) -> Any:
        return list(self._recent)

    def restore(self, state: Any) -> None:
        self._recent.extend(state)


def lag_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: int, n: int) -> None:
    """Cells: how many rows have come, the value n rows earlier, the last n values in turn."""
    count = i[row, ci]
    place = ci + 2 + count % n
    i[row, ci + 1] = i[row, place] if count >= n else NULL
    i[row, place] = value
    i[row, ci] = count + 1


def lag_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> int:
    return i[row, ci + 1] if i[row, ci] > n else NULL


def lag_enter_float(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, n: int) -> None:
    count = i[row, ci]
    place = cf + 1 + count % n
    f[row, cf] = f[row, place] if count >= n else math.nan
    f[row, place] = value
    i[row, ci] = count + 1


def lag_value_float(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    return f[row, cf] if i[row, ci] > n else math.nan


def _cells(aggregate: Aggregate) -> Cells | str:
    n = constant(aggregate)
    if n > COMPILED_MAX:
        return f"`lag` of more than {COMPILED_MAX} rows is not compiled"
    if aggregate.type.is_real:
        enter, value = f"lag_enter_float({CELLS}, {{0}}, {{n}})", f"lag_value_float({CELLS}, {{n}})"
        return Cells(1, n + 1, enter, value)
    enter, value = f"lag_enter({CELLS}, {{0}}, {{n}})", f"lag_value({CELLS}, {{n}})"
    return Cells(n + 2, 0, enter, value, as_float=False)


BACK = Parameter("n", (Type.INT,), "constant", Constant(1, Type.INT), least=1)

LAG = Aggregator(
    Signature("lag", (Parameter("x", VALUES), BACK), "the value n rows earlier, or null", first),
    lambda aggregate: Lag(constant(aggregate)),
    "lag(x)",
    _cells,
    (lag_enter, lag_value, lag_enter_float, lag_value_float),
    nulls="values",
    remembers="arrivals",
)
