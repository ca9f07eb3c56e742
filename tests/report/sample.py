"""A small report with one of everything."""

from __future__ import annotations

import numpy as np

from cep.report import (
    Dot,
    Histogram,
    Marker,
    MarkerKind,
    QueueCourse,
    QueueEntry,
    QueueView,
    Report,
    Role,
    Scatter,
    Series,
    Stay,
    SymbolChart,
    Table,
    Time,
    Verdict,
)

START_MSC = 1_709_280_000_000
TICKS = 3600


def series(name: str, role: Role, level: float) -> Series:
    times = START_MSC + 1000 * np.arange(TICKS, dtype=np.int64)
    wave = level + 0.01 * np.sin(np.arange(TICKS) / 200)
    wave[: 20 if role is not Role.PRICE else 0] = np.nan
    return Series(name, role, times, wave)


def markers() -> tuple[Marker, ...]:
    at = START_MSC + 600_000
    return (
        Marker(MarkerKind.EVENT, at, "AboveUpper", detail="number 10", id="Main/1"),
        Marker(MarkerKind.EVENT, at + 60_000, "BelowMa", detail="number 11", id="Main/2"),
        Marker(MarkerKind.COMPLEX, at + 60_000, "Reversal", parts=("Main/1", "Main/2")),
        Marker(MarkerKind.SIGNAL, at + 60_000, "Fade", side="sell", detail="0.1 lots"),
        Marker(MarkerKind.FILL, at + 60_250, "Fill", price=1.1, side="sell"),
    )


def chart(symbol: str) -> SymbolChart:
    lines = (
        series("mid", Role.PRICE, 1.1),
        series("upper", Role.UPPER, 1.12),
        series("average", Role.MIDDLE, 1.1),
        series("lower", Role.LOWER, 1.08),
    )
    at = START_MSC + 600_000
    above, below = ((("Reversal", at + 60_000),) for _ in range(2))
    stays = (
        Stay(10, "AboveUpper", symbol, at, at, at + 1_800_001, above),
        Stay(11, "BelowMa", symbol, at + 60_000, at + 60_000, at + 1_860_001, below),
    )
    queues = (QueueCourse("Main", 1_800_000, stays, START_MSC),)
    return SymbolChart(symbol, lines, markers(), queues=queues)


def scatter() -> Scatter:
    dots = tuple(Dot(-float(n), 10.0 - n, f"trade {n}") for n in range(20))
    return Scatter("Worst while open and result", "MAE, points", "result", dots)


def queue() -> QueueView:
    entries = (
        QueueEntry(10, "AboveUpper", START_MSC, ("Reversal", "Broad"), "EURUSD", gone="expired"),
        QueueEntry(11, "BelowMa", START_MSC + 1, ("Reversal",), "EURUSD"),
        QueueEntry(12, "LegFilled", START_MSC + 2, (), "EURUSD"),
    )
    return QueueView("Tactical", entries)


def report() -> Report:
    signals = Table("Signals", ("Time", "Name"), [(Time(START_MSC + 660_000, "^GSPC"), "Fade")])
    return Report(
        "Two symbols",
        "sample",
        Verdict(True, "live and backtest agree: 1 signal, 0 differences"),
        (("Ticks", "7,200"),),
        (chart("EURUSD"), chart("^GSPC")),
        (signals,),
        (queue(),),
        (Histogram("Results", "points", [-3.0, 1.0, 2.0, 2.5]),),
        (scatter(),),
    )
