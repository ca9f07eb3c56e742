"""The HTML page of a sweep: maps of two parameters each, and the best."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from cep.backtest.asked import Asked
from cep.backtest.assumptions import assumptions
from cep.backtest.ticks import Floats
from cep.lang.parameters import Parameter, Value
from cep.report import Heat, Report, Table, Verdict, render
from cep.report.tables import time_text
from cep.sweep.found import Found
from cep.sweep.tried import MEASURES, SMALL_IS_GOOD, Tried, measure_text

HEATS_MAX = 6
VALUES_MAX = 60
"""Of an axis of a map: of more, such as draws of any number, no map is drawn."""
BEST_ROWS = 50
ENOUGH = 0.95


def page(found: Found, by: str, asked: Asked, known: Sequence[Parameter]) -> str:
    """The page's HTML."""
    first, last = asked.selection.interval_msc
    best = found.best(by, BEST_ROWS)
    digits = asked.market.terms.money_digits
    return render(
        Report(
            f"Sweep of {asked.title}",
            f"{time_text(first)} to {time_text(last)} UTC, {len(found.run):,} variants, by {by}",
            verdict=_verdict(found, by),
            summary=_summary(best[0], known, digits) if best else (),
            heats=tuple(heats(found.run, by, known, digits)),
            tables=(
                _table(best, by, known, digits),
                Table("Assumptions", ("",), [(text,) for text in _told(asked)]),
            ),
        )
    )


def heats(
    run: Sequence[Tried], by: str, known: Sequence[Parameter], digits: int | None = None
) -> list[Heat]:
    """A map for each pair of parameters that have several values: the mean over all others.

    Money has so many `digits`.
    """
    names = (
        [name for name in run[0].values if len({one.values[name] for one in run}) > 1]
        if run
        else []
    )
    wide = {name: sorted({one.values[name] for one in run}, key=_order) for name in names}
    names = [name for name in names if len(wide[name]) <= VALUES_MAX]
    shown = {one.name: one for one in known}
    pairs: list[tuple[str, str | None]] = [(names[0], None)] if len(names) == 1 else []
    pairs += [(across, up) for up, across in combinations(names, 2)][:HEATS_MAX]
    return [
        _heat(
            run, by, (shown[across], wide[across]),
            (None, [None]) if up is None else (shown[up], wide[up]), digits,
        )
        for across, up in pairs
    ]  # fmt: skip


def _heat(
    run: Sequence[Tried],
    by: str,
    across_columns: tuple[Parameter, Sequence[Value]],
    up_rows: tuple[Parameter | None, Sequence[Value | None]],
    digits: int | None,
) -> Heat:
    (across, columns), (up, rows) = across_columns, up_rows
    cells: dict[tuple[int, int], list[float]] = {}
    for one in run:
        row = 0 if up is None else rows.index(one.values[up.name])
        value = one.measures[by]
        if value is not None:
            cells.setdefault((row, columns.index(one.values[across.name])), []).append(value)
    means = np.full((len(rows), len(columns)), np.nan)
    for place, values in cells.items():
        means[place] = np.mean(values)
    others = sum(len({one.values[name] for one in run}) > 1 for name in run[0].values)
    title = by if others <= 1 + (up is not None) else f"{by}, mean over all other parameters"
    found, best = shares(means, by), None
    if cells:
        best = min(cells, key=lambda place: means[place] if by in SMALL_IS_GOOD else -means[place])
    return Heat(
        title, across.name, "" if up is None else up.name,
        [across.shown(value) for value in columns],
        [by if up is None or value is None else up.shown(value) for value in rows],
        [[measure_text(by, value, digits) for value in row] for row in means.tolist()],
        [[None if np.isnan(value) else value for value in row] for row in found.tolist()],
        best,
    )  # fmt: skip


def shares(means: Floats, by: str) -> Floats:
    """How good a cell is among all: from -1 to 1 where some are below 0, else from 0 to 1."""
    if np.isnan(means).all():
        return means
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    span = high - low or 1.0
    if by in SMALL_IS_GOOD:
        return (high - means) / span
    return means / max(-low, high) if low < 0.0 else (means - low) / span


def _verdict(found: Found, by: str) -> Verdict:
    luck = found.luck(by)
    if luck is None:
        return Verdict(
            False, "Too few trades to tell skill from the luck of the best of many tries."
        )
    told = (
        f"Deflated Sharpe ratio of the best of {len(found.run):,} tries: {luck:.3f}. It is the "
        "probability that the best has more than the luck of so many tries."
    )
    return Verdict(luck >= ENOUGH, told)


def _summary(
    best: Tried, known: Sequence[Parameter], digits: int | None
) -> tuple[tuple[str, str], ...]:
    shown = {one.name: one.shown for one in known}
    values = [(name, shown[name](value)) for name, value in best.values.items()]
    names = ("net", "trades", "win_rate", "profit_factor", "sharpe", "drawdown")
    measures = [
        (f"best: {name.replace('_', ' ')}", measure_text(name, best.measures[name], digits))
        for name in names
    ]
    return (*values, *measures)


def _table(best: Sequence[Tried], by: str, known: Sequence[Parameter], digits: int | None) -> Table:
    shown = {one.name: one.shown for one in known}
    names = list(best[0].values) if best else []
    rows = [
        (
            *(shown[name](one.values[name]) for name in names),
            *(measure_text(name, one.measures[name], digits) for name in MEASURES),
        )
        for one in best
    ]
    return Table(
        f"The best by {by}", (*names, *(name.replace("_", " ") for name in MEASURES)), rows
    )


def _told(asked: Asked) -> list[str]:
    return [
        "Each variant is a backtest of its own; the best of many is biased: some of it is luck.",
        *assumptions({}, asked.valid_seconds, {}, asked.market)[:-1],
    ]


def _order(value: Value) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")
