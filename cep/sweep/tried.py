"""What a variant came to, as one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.backtest.daily import daily, returns
from cep.backtest.metrics import ALL, by_signal
from cep.backtest.page import amount
from cep.backtest.selection import Selection
from cep.backtest.simulate import Outcome
from cep.backtest.work import Work
from cep.lang.parameters import Value
from cep.sweep.errors import SweepError

MEASURES = (
    "net", "trades", "wins", "win_rate", "profit", "costs", "points", "expectancy_points",
    "profit_factor", "sharpe", "drawdown", "equity_drawdown", "daily_sharpe", "exposure",
)  # fmt: skip
"""What a row says behind its parameters, as the results of a backtest say it of all trades."""
MONEY = frozenset(("net", "profit", "costs", "drawdown", "equity_drawdown"))
"""Those that are amounts of the account's money, where it has any."""
SMALL_IS_GOOD = frozenset(("drawdown", "equity_drawdown", "exposure"))


def measure_text(name: str, value: float | None, digits: int | None) -> str:
    """A measure for people; money has so many digits, as `backtest` shows it, `-` is for none."""
    if value is None or np.isnan(value):
        return "-"
    return amount(value, digits) if name in MONEY else f"{value:.6g}"


def check_measure(by: object) -> None:
    """SweepError for what is no measure of a variant."""
    if not isinstance(by, str) or by not in MEASURES:
        raise SweepError(f"by: {by!r} is no measure", f"there are {', '.join(MEASURES)}")


@dataclass(frozen=True, slots=True)
class Tried:
    """A variant: its number from 0 on, its values, its measures, and the points of its trades."""

    number: int
    values: Mapping[str, Value]
    measures: Mapping[str, float | None]
    trade_points: NDArray[np.float64] = field(compare=False)
    error: str = ""
    """Why it could not be run; then it has no measures."""

    def row(self) -> dict[str, Any]:
        """All of it by column, as files have it."""
        measures = {name: self.measures.get(name) for name in MEASURES}
        return {"variant": self.number, **self.values, **measures, "error": self.error or None}


def columns_of(parameters: Iterable[str]) -> list[str]:
    """Those of a row, where these are tried."""
    return ["variant", *parameters, *MEASURES, "error"]


def alone(number: int, values: Mapping[str, Value], work: Work) -> Tried:
    """The row of a variant that runs by itself: its rules see fills, or all would differ."""
    work.take(work.in_this_process(), [])
    return filled(number, values, work.asked.selection, work.finish(is_tried=False).outcome)


def failed(number: int, values: Mapping[str, Value], problem: Exception) -> Tried:
    """The row of a variant whose rules are none, such as a time longer than the queue."""
    return Tried(number, values, {}, np.zeros(0), getattr(problem, "message", str(problem)))


def ranked(found: Sequence[Tried], by: str) -> list[Tried]:
    """The best first; those without such a measure last, and of equals the first tried first.

    SweepError for what is no measure.
    """
    check_measure(by)

    def place(one: Tried) -> tuple[bool, float, int]:
        value = one.measures.get(by)
        if value is None:
            return True, 0.0, one.number
        return False, value if by in SMALL_IS_GOOD else -value, one.number

    return sorted(found, key=place)


def filled(
    number: int, values: Mapping[str, Value], selection: Selection, outcome: Outcome
) -> Tried:
    """The row of a variant, from what came of its orders."""
    whole = by_signal(outcome.trades, selection.span_ms)[ALL]
    days = daily(returns(outcome.equity, *selection.interval_msc).shares)
    found = {name: getattr(whole, name) for name in MEASURES if hasattr(whole, name)}
    found |= {"equity_drawdown": outcome.equity.drawdown, "daily_sharpe": days.sharpe}
    points = np.array([trade.points for trade in outcome.trades], np.float64)
    return Tried(number, values, found, points)
