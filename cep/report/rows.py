"""Lines, markers and tables from output rows: `{"stream": .., "time_msc": .., ...attributes}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cep.report.model import Cell, Marker, MarkerKind, Role, Series, Table, Time

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EngineRows:
    """What one engine put out: the rows of its simple and of its complex events."""

    engine: str
    events: Sequence[Row]
    complexes: Sequence[Row]


def line(rows: Iterable[Row], attribute: str, role: Role) -> Series:
    """An attribute of rows in time order as a line; null interrupts it."""
    points = [(row["time_msc"], row[attribute]) for row in rows]
    values = [np.nan if value is None else value for _, value in points]
    times = np.array([time for time, _ in points], dtype=np.int64)
    return Series(attribute, role, times, np.array(values, dtype=np.float64))


def symbol_markers(
    symbol: str, engines: Iterable[EngineRows], signals: Iterable[Row]
) -> tuple[Marker, ...]:
    """Everything that happened on a symbol, or on no particular one, in time order."""
    found = signal_markers(row for row in signals if row["symbol"] in (symbol, None))
    for run in engines:
        found += event_markers((row for row in run.events if concerns(row, symbol)), run.engine)
        found += complex_markers(
            (row for row in run.complexes if concerns(row, symbol)), run.engine
        )
    return tuple(sorted(found, key=lambda marker: marker.time_msc))


def concerns(row: Row, symbol: str) -> bool:
    return row["key"] in (symbol, None)


def event_markers(rows: Iterable[Row], engine: str) -> list[Marker]:
    """Simple events of one engine."""
    return [
        Marker(
            MarkerKind.EVENT,
            row["time_msc"],
            row["stream"],
            detail=f"number {row['number']}",
            id=f"{engine}/{row['seq']}",
        )
        for row in rows
    ]


def complex_markers(rows: Iterable[Row], engine: str) -> list[Marker]:
    """Complex events of one engine, connected to the simple events they were bound from."""
    return [
        Marker(
            MarkerKind.COMPLEX,
            row["time_msc"],
            row["stream"],
            detail=f"({numbers(row['arrangement'])})",
            parts=tuple(f"{engine}/{seq}" for seq in row["events"]),
        )
        for row in rows
    ]


def signal_markers(rows: Iterable[Row]) -> list[Marker]:
    return [
        Marker(
            MarkerKind.SIGNAL,
            row["time_msc"],
            row["stream"],
            side=row["side"],
            detail=lots_text(row["lots"]),
        )
        for row in rows
    ]


def complex_table(rows: Iterable[Row]) -> Table:
    """The complex events in output order; a key leads to its chart."""
    cells: list[tuple[Cell, ...]] = [
        (
            Time(row["time_msc"], row["key"] or ""),
            row["stream"],
            row["key"],
            row["number"],
            numbers(row["arrangement"]),
            numbers(row["events"]),
            Time(row["first_msc"]),
        )
        for row in rows
    ]
    columns = (
        "Time (UTC)",
        "Complex event",
        "Key",
        "Number",
        "Arrangement",
        "Events",
        "First event",
    )
    return Table("Complex events", columns, cells)


def signal_table(rows: Iterable[Row]) -> Table:
    """The signals in output order; the time leads to the symbol's chart."""
    names = ("side", "symbol", "lots", "stop_points", "target_points", "valid_ms", "complex")
    cells: list[tuple[Cell, ...]] = [
        (Time(row["time_msc"], row["symbol"] or ""), row["stream"], *(row[name] for name in names))
        for row in rows
    ]
    columns = (
        "Time (UTC)", "Signal", "Side", "Symbol", "Lots", "Stop (points)", "Target (points)",
        "Valid (ms)", "Complex event",
    )  # fmt: skip
    return Table("Signals", columns, cells)


def numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


def lots_text(lots: float | None) -> str:
    return "" if lots is None else f"{lots:g} lots"
