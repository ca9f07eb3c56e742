"""The demo's report: charts, events, queues, signals and fills on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.demo.lived import Lived, relive
from cep.engine.queues import Queued
from cep.plan.nodes import Plan
from cep.report import (
    Marker,
    MarkerKind,
    QueueEntry,
    QueueView,
    Report,
    Role,
    Series,
    SymbolChart,
    Table,
    Time,
    Verdict,
    render,
)
from cep.report.rows import EngineRows, Row, complex_table, signal_table, symbol_markers

PAUSE_MS = 60_000
"""A first tick so long before the second one is no part of the market that is shown."""
QUEUE_ROWS = 60
"""How many of an engine's newest events the schematic shows."""


def write_page(
    folder: Path, live: Sequence[Row], durations: Mapping[str, float], verdict: Verdict
) -> Path:
    """Write `report.html` of the `live` rows into the demo's folder; its path."""
    lived = relive(folder / "rules.cep", folder / "spool")
    report = Report(
        title="mt5cep demo",
        subtitle="The same ticks lived over ZeroMQ and backtested on Spark, by the same rules",
        verdict=verdict,
        summary=summary(durations, lived, live),
        charts=charts(lived, live),
        tables=(
            signal_table(row for row in live if row["stream"] in names(lived.plan, "signals")),
            fill_table(lived),
            complex_table(row for row in live if "arrangement" in row),
        ),
        engines=tuple(queue_view(lived, live, engine.name) for engine in lived.plan.engines),
    )
    path = folder / "report.html"
    path.write_text(render(report), encoding="utf-8")
    return path


def names(plan: Plan, what: str) -> set[str]:
    """Names of a plan's events, complexes or signals."""
    return {operator.name for operator in getattr(plan, what)}


def summary(
    durations: Mapping[str, float], lived: Lived, live: Sequence[Row]
) -> tuple[tuple[str, str], ...]:
    """The run in numbers."""
    counts = Counter(row["stream"] for row in live)
    pairs = [
        ("Ticks", f"{lived.ticks:,}"),
        ("Fills", f"{len(lived.fills):,}"),
        ("Simple events", f"{sum(counts[name] for name in names(lived.plan, 'events')):,}"),
        ("Complex events", f"{sum(counts[name] for name in names(lived.plan, 'complexes')):,}"),
        ("Signals", f"{sum(counts[name] for name in names(lived.plan, 'signals')):,}"),
    ]
    pairs += [(f"Time {name}", f"{seconds:.1f} s") for name, seconds in durations.items()]
    return tuple(pairs)


def engine_rows(plan: Plan, live: Sequence[Row]) -> list[EngineRows]:
    """The live rows by engine."""
    engines = []
    for engine in plan.engines:
        events = {event.name for event in plan.events if event.engine == engine.name}
        complexes = {found.name for found in plan.complexes if found.engine == engine.name}
        engines.append(
            EngineRows(
                engine.name,
                [row for row in live if row["stream"] in events],
                [row for row in live if row["stream"] in complexes],
            )
        )
    return engines


def charts(lived: Lived, live: Sequence[Row]) -> tuple[SymbolChart, ...]:
    """One chart a symbol: price, bands, and everything that happened on it."""
    signals = [row for row in live if row["stream"] in names(lived.plan, "signals")]
    engines = engine_rows(lived.plan, live)
    found = []
    for symbol, band in lived.bands.items():
        band = band.since(begin_msc(band.time_msc))
        upper, lower = band.ma + 2 * band.sd, band.ma - 2 * band.sd
        lines = (
            Series("mid", Role.PRICE, band.time_msc, band.mid),
            Series("upper band", Role.UPPER, band.time_msc, upper),
            Series("5-minute average", Role.MIDDLE, band.time_msc, band.ma),
            Series("lower band", Role.LOWER, band.time_msc, lower),
        )
        markers = (*symbol_markers(symbol, engines, signals), *fill_markers(lived, symbol))
        begin = int(band.time_msc[0]) if len(band.time_msc) else 0
        shown = (marker for marker in markers if marker.time_msc >= begin)
        ordered = tuple(sorted(shown, key=lambda marker: marker.time_msc))
        found.append(SymbolChart(symbol, lines, ordered, digits(band.mid)))
    return tuple(found)


def begin_msc(times_msc: NDArray[np.int64]) -> int:
    """Where the market begins: programs connect by a first tick that comes long before."""
    is_alone = len(times_msc) > 1 and times_msc[1] - times_msc[0] >= PAUSE_MS
    return int(times_msc[int(is_alone)]) if len(times_msc) else 0


def digits(prices: np.ndarray[Any, np.dtype[np.float64]]) -> int:
    """Decimals worth showing for prices of this size."""
    return 5 if prices.size and prices[0] < 20 else 2


def fill_markers(lived: Lived, symbol: str) -> list[Marker]:
    return [
        Marker(
            MarkerKind.FILL,
            deal["time_msc"],
            "Fill",
            price=deal["price"],
            side=deal["side"],
            detail=f"{deal['lots']:g} lots, {deal['comment']}",
        )
        for deal in lived.fills
        if deal["symbol"] == symbol
    ]


def fill_table(lived: Lived) -> Table:
    """Every fill the terminal reported."""
    columns = ("Time (UTC)", "Symbol", "Side", "Lots", "Price", "Magic", "Comment")
    cells = [
        (
            Time(deal["time_msc"], deal["symbol"]),
            deal["symbol"],
            deal["side"],
            deal["lots"],
            deal["price"],
            deal["magic"],
            deal["comment"],
        )
        for deal in lived.fills
    ]
    return Table("Fills", columns, cells)


def queue_view(lived: Lived, live: Sequence[Row], engine: str) -> QueueView:
    """The newest events of an engine with what they were bound to; those that left are marked."""
    queued = {entry.seq: entry for entry in lived.queues[engine]}
    bound: dict[int, list[str]] = {}
    for row in live:
        if row["stream"] in {c.name for c in lived.plan.complexes if c.engine == engine}:
            for seq in row["events"]:
                bound.setdefault(seq, []).append(f"{row['stream']} ({row['number']})")
    events = {event.name for event in lived.plan.events if event.engine == engine}
    entries = {
        row["seq"]: QueueEntry(
            row["number"], row["stream"], row["time_msc"], tuple(bound.get(row["seq"], ())),
            row["key"] or "", gone="" if row["seq"] in queued else why_gone(lived, engine, row),
        )
        for row in live
        if row["stream"] in events
    }  # fmt: skip
    entries |= {
        seq: as_entry(entry, tuple(bound.get(seq, ())))
        for seq, entry in queued.items()
        if seq not in entries
    }
    newest = sorted(entries)[-QUEUE_ROWS:]
    return QueueView(engine, tuple(entries[seq] for seq in newest))


def why_gone(lived: Lived, engine: str, row: Row) -> str:
    """An event younger than the queue's span did not leave by age: an opposite drove it out."""
    latest_msc = int(lived.bands[row["key"]].time_msc[-1]) if row["key"] in lived.bands else 0
    aged = latest_msc - row["time_msc"] > lived.plan.engine(engine).span_ms
    return "expired" if aged else "evicted"


def as_entry(queued: Queued, binds: tuple[str, ...]) -> QueueEntry:
    return QueueEntry(queued.number, queued.event, queued.time_msc, binds, queued.key or "")
