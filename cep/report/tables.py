"""Tables as HTML, readable without the page's script."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from html import escape

from cep.report.model import Cell, QueueEntry, QueueView, Table, Time

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ROWS_MAX = 500
"""Rows of one table; of more, the latest are shown and the page says so."""
TEXT_LENGTH = 60
"""What is longer is a sentence, which breaks into lines."""


def time_text(msc: int) -> str:
    """`2024-03-01 09:30:00.250`, UTC."""
    return (EPOCH + timedelta(milliseconds=msc)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def table_html(table: Table) -> str:
    """One table, newest row first when it is cut."""
    shown = list(table.rows)[-ROWS_MAX:]
    rows = "\n".join(f"<tr>{''.join(map(cell_html, row))}</tr>" for row in shown)
    return section(table.title, note(len(shown), len(table.rows)), grid(table.columns, rows))


def queue_html(queue: QueueView) -> str:
    """An engine's queue in the columns of the schematic, newest event first."""
    shown = queue.entries[-ROWS_MAX:][::-1]
    binds = max([1, *(len(entry.binds) for entry in shown)])
    with_key = any(entry.key for entry in shown)
    columns = ["Number", "Event", *(["Key"] if with_key else []), "Time (UTC)"]
    columns += [f"Bind {i + 1}" for i in range(binds)] + ["State"]
    rows = "\n".join(entry_html(entry, binds, with_key) for entry in shown)
    title = f"Event queue: {queue.engine}"
    return section(title, note(len(shown), len(queue.entries)), grid(columns, rows))


def entry_html(entry: QueueEntry, binds: int, with_key: bool) -> str:
    names = (*entry.binds, *[""] * (binds - len(entry.binds)))
    key: tuple[Cell, ...] = (entry.key,) if with_key else ()
    cells = (entry.number, entry.event, *key, Time(entry.time_msc), *names)
    state = cell_html(entry.gone or "queued").replace("<td", '<td class="state"', 1)
    row = "".join(map(cell_html, cells)) + state
    return f'<tr class="gone">{row}</tr>' if entry.gone else f"<tr>{row}</tr>"


def cell_html(cell: Cell) -> str:
    match cell:
        case None:
            return "<td></td>"
        case Time(msc, symbol) if symbol:
            goto = f'data-symbol="{escape(symbol)}" data-time="{msc}"'
            return f'<td><button type="button" class="goto" {goto}>{time_text(msc)}</button></td>'
        case Time(msc):
            return f'<td class="time">{time_text(msc)}</td>'
        case int() | float():
            return f'<td class="number">{cell:,}</td>' if abs(cell) >= 10_000 else number(cell)
        case _ if len(cell) > TEXT_LENGTH:
            return f'<td class="text">{escape(cell)}</td>'
        case _:
            return f"<td>{escape(cell)}</td>"


def number(value: float) -> str:
    return f'<td class="number">{value:.10g}</td>'


def note(shown: int, total: int) -> str:
    return f"{total:,}" if shown == total else f"the latest {shown:,} of {total:,}"


def grid(columns: Iterable[str], rows: str) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"


def section(title: str, note_: str, table: str) -> str:
    heading = f'<summary><h2>{escape(title)}</h2> <span class="note">{note_}</span></summary>'
    scroll = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">{table}</div>'
    )
    return f'<details class="card" open>{heading}\n{scroll}</details>'
