"""Aggregates with cells of their own: how many, and the source that enters, leaves, reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cep.engine.layout import is_float
from cep.plan.expressions import Aggregate, Constant

LAG_MAX = 256
"""A `lag` of more rows would make the state wide; it is interpreted."""
CELLS = "{i}, {f}, {row}, {ci}, {cf}"


@dataclass(frozen=True, slots=True)
class Indicator:
    """`enter`, `leave` and `result` are source with {i}, {f}, {row}, {ci}, {cf}, {n}, {0}, {1} ..

    `ints` and `floats` are the numbers of cells. Arguments are kept in the window where `leave` is
    not empty. `as_float`: arguments count as floats.
    """

    ints: int
    floats: int
    enter: str
    result: str
    leave: str = ""
    as_float: bool = True


def _follows(name: str, floats: int, arguments: str = "{0}") -> Indicator:
    enter = f"{name}_enter({CELLS}, {arguments}, {{n}})"
    return Indicator(1, floats, enter, f"{name}_value({CELLS}, {{n}})")


def _truth(name: str) -> Indicator:
    enter = "truth_enter({i}, {row}, {ci}, {0}, %d)"
    return Indicator(2, 0, enter % 1, f"{name}({{i}}, {{row}}, {{ci}})", enter % -1, False)


def _lag(aggregate: Aggregate) -> Indicator:
    n = constant(aggregate)
    if is_float(aggregate.type):
        return Indicator(
            1, n + 1, f"lag_enter_float({CELLS}, {{0}}, {{n}})", f"lag_value_float({CELLS}, {{n}})"
        )
    enter, result = f"lag_enter({CELLS}, {{0}}, {{n}})", f"lag_value({CELLS}, {{n}})"
    return Indicator(n + 2, 0, enter, result, as_float=False)


def _record(sign: int) -> Callable[[Aggregate], Indicator]:
    def make(aggregate: Aggregate) -> Indicator:
        if is_float(aggregate.type):
            enter = f"record_enter({CELLS}, {{0}}, {sign})"
            return Indicator(1, 1, enter, f"record_value({CELLS})")
        cells = "{i}, {row}, {ci}"
        enter, result = f"record_enter_int({cells}, {{0}}, {sign})", f"record_value_int({cells})"
        return Indicator(2, 0, enter, result, as_float=False)

    return make


_VWAP = f"vwap_enter({CELLS}, {{0}}, {{1}}, %d)"
_INDICATORS: dict[str, Indicator | Callable[[Aggregate], Indicator]] = {
    "ema": _follows("ema", 1),
    "rsi": _follows("rsi", 3),
    "atr": _follows("atr", 4, "{0}, {1}, {2}"),
    "vwap": Indicator(1, 4, _VWAP % 1, f"vwap_value({CELLS})", _VWAP % -1),
    "and": _truth("all_true"),
    "or": _truth("one_true"),
    "lag": _lag,
    "minForever": _record(-1),
    "maxForever": _record(1),
}
INDICATORS = frozenset(_INDICATORS)
"""The aggregators that have cells of their own."""
PERIODS = frozenset({"ema", "rsi", "atr", "lag"})
"""Those whose last argument is a number of rows."""

LASTING = frozenset({"minForever", "maxForever"})
"""Those that no new batch starts again."""


def indicator(aggregate: Aggregate) -> Indicator | None:
    """What an aggregate keeps and does; None when it is a sum, a count or an extreme."""
    found = _INDICATORS.get(aggregate.function)
    return found if found is None or isinstance(found, Indicator) else found(aggregate)


def constant(aggregate: Aggregate) -> int:
    """The number of rows an indicator looks back; 0 where it has none."""
    if aggregate.function not in PERIODS:
        return 0
    last = aggregate.arguments[-1]
    assert isinstance(last, Constant) and isinstance(last.value, int)
    return last.value
