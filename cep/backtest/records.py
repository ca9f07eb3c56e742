"""Archived records as the rules' input rows, streamed in the one order.

The order of records is (ingest, ticks before deals before the clock, symbol). `order` carries the
ingest number and what is a tick in one number, `2 * ingest` and 1 more for other records; the rest
decides where records share a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cep.archive.archive import ALWAYS
from cep.archive.merge import BATCH_ROWS, merged
from cep.archive.parts import int64, within
from cep.archive.schema import CLOCK
from cep.archive.store import store_at
from cep.backtest.held_ticks import Held
from cep.backtest.selection import Selection
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ORDER, Ints
from cep.engine.native import Run
from cep.market import (
    DEAL_ATTRIBUTES,
    DEAL_STREAM,
    TICK_ATTRIBUTES,
    TICK_STREAM,
    deal_columns,
    says,
    shown_deals,
    shown_ticks,
    table_field,
    table_text,
    tick_columns,
)
from cep.plan.nodes import Plan, Stream

FIELDS = {
    TICK_STREAM: TICK_ATTRIBUTES,
    DEAL_STREAM: {**DEAL_ATTRIBUTES, "comment": "comment", "side": "type", "entry": "entry"},
}
HEAD_ROWS = 1 << 19
PRICES = {"bid", "ask"}
"""What fills need of a tick."""
SHOWN_BY = {TICK_STREAM: ("quality",), DEAL_STREAM: ("kind", "revision", "quality")}


Sent = tuple[int, str, str]
"""The place of a tick in the total order, its source and its symbol."""


class Moment(NamedTuple):
    """A record of the clock: its place in the total order, and the time in ms UTC.

    `source` is who speaks, `is_away` what it says: see `Watermarks.tell`.
    """

    order: int
    time_msc: int
    source: str | None
    is_away: bool

    @property
    def told(self) -> tuple[str | None, bool, int]:
        """What `Watermarks.tell` takes."""
        return self.source, self.is_away, self.time_msc


def order_of(ingest: Ints, stream: str) -> Ints:
    """The place in the total order of records of a source stream, or of the clock."""
    return 2 * ingest + (stream != TICK_STREAM)


def ingest_of(order: Ints) -> Ints:
    return order >> 1


def shown_tables(selection: Selection, name: str, fields: set[str]) -> Iterator[pa.Table]:
    """Records of a source stream that rules see, with the archive's columns `fields`."""
    part = selection.stream(name)
    columns = list(dict.fromkeys((*ALWAYS, *SHOWN_BY[name], *sorted(fields))))
    # all symbols have a batch in memory at once
    batch_rows = max(1 << 10, min(BATCH_ROWS, HEAD_ROWS // max(1, len(part.symbols))))
    files = part.read_of(part.files)
    for table in merged(store_at(part.place), files, columns, batch_rows):
        kept = _wanted(table, part)
        if name == TICK_STREAM:
            shown = shown_ticks(kept["quality"].to_numpy(), selection.hidden)
        else:
            shown = shown_deals(table_field(kept), kept["quality"].to_numpy())
        if not shown.all():
            kept = kept.filter(pa.array(shown))
        if kept.num_rows:
            yield kept


def clock_tables(selection: Selection) -> Iterator[pa.Table]:
    """Records of the clock."""
    columns = (*ALWAYS, "source", "quality")
    files = selection.read_of(selection.clock)
    for table in merged(store_at(selection.place), files, columns):
        kept = _wanted(table, selection)
        if kept.num_rows:
            yield kept


def _wanted(table: pa.Table, selection: Selection) -> pa.Table:
    """The rows in the range of time, and not behind the last number."""
    if selection.last_ingest is not None:
        last = np.searchsorted(int64(table, "ingest"), selection.last_ingest, side="right")
        table = table.slice(0, int(last))
    return within(table, selection.from_msc, selection.to_msc)


def read(
    selection: Selection,
    plan: Plan,
    *,
    with_clock: bool = False,
    with_source: bool = False,
    held: Held | None = None,
) -> Iterator[dict[str, pa.Table]]:
    """Tables by source stream, cut so that all records of a step precede those of the next.

    `with_clock` adds the records of the clock under `CLOCK`; `with_source` who sent each tick.
    `held` gets the ticks.
    """
    rest: dict[str, Iterator[pa.Table]] = {CLOCK: clock_tables(selection)} if with_clock else {}
    for stream in plan.sources:
        fields = {FIELDS[stream.name][n] for n in stream.schema.names if n != "symbol"}
        if with_source and stream.name == TICK_STREAM:
            fields.add("source")
        if held is not None and stream.name == TICK_STREAM:
            rest[stream.name] = held.passing(shown_tables(selection, stream.name, fields | PRICES))
        else:
            rest[stream.name] = shown_tables(selection, stream.name, fields)
    heads = {name: next(tables, None) for name, tables in rest.items()}
    while open_ := {name: table for name, table in heads.items() if table is not None}:
        bound = min(int(table["ingest"][-1].as_py()) for table in open_.values())
        step: dict[str, pa.Table] = {}
        for name, table in open_.items():
            count = int(np.searchsorted(int64(table, "ingest"), bound, side="right"))
            if count:
                step[name] = table.slice(0, count)
            heads[name] = table.slice(count) if count < table.num_rows else next(rest[name], None)
        yield step


def encoded(
    selection: Selection, run: Run, sent: Callable[[list[Sent]], None] | None = None
) -> Iterator[InputRows]:
    """The records as input rows of a run, in order; their order numbers are `order_of` ingest.

    `sent` is told who has sent a symbol in a batch, before the batch comes.
    """
    for step in read(selection, run.rules.plan, with_source=sent is not None):
        if sent is not None:
            sent(_published(step))
        yield _merged(run, step)


def lived(selection: Selection, run: Run, held: Held | None = None) -> Iterator[InputRows | Moment]:
    """As `encoded`, with the records of the clock between them; `held` gets the ticks.

    The watermarks of the run learn who has published what before each of them.
    """
    is_told = bool(selection.clock)  # else nobody asks who has published anything
    for step in read(selection, run.rules.plan, with_clock=is_told, with_source=is_told, held=held):
        clock = step.pop(CLOCK, None)
        rows = _merged(run, step) if step else None
        published = _published(step) if is_told else []
        for moment in [] if clock is None else _moments(clock):
            while published and published[0][0] < moment.order:
                run.watermarks.published(*published.pop(0)[1:])
            if rows is not None:
                before, rows = _cut(rows, moment.order)
                if len(before):
                    yield before
            yield moment
        for _, *pair in published:
            run.watermarks.published(*pair)
        if rows is not None and len(rows):
            yield rows


def clock_records(selection: Selection) -> Iterator[Moment]:
    """The records of the clock, in order."""
    for table in clock_tables(selection):
        yield from _moments(table)


def _moments(clock: pa.Table) -> Iterator[Moment]:
    orders, times = order_of(int64(clock, "ingest"), CLOCK), int64(clock, "time_msc")
    sources, told = table_text(clock, "source").to_pylist(), clock["quality"].to_pylist()
    for order, time_msc, source, mark in zip(
        orders.tolist(), times.tolist(), sources, told, strict=True
    ):
        yield Moment(order, time_msc, *says(source, mark))


def _cut(rows: InputRows, order: int) -> tuple[InputRows, InputRows]:
    """Rows up to a place in the total order, and the rest."""
    at = int(np.searchsorted(rows.ints[:, OUT_ORDER], order, side="right"))
    return rows.part(0, at), rows.part(at, len(rows))


def _published(step: dict[str, pa.Table]) -> list[Sent]:
    """Who sends ticks of what there, in order of the first of each."""
    if (ticks := step.get(TICK_STREAM)) is None:
        return []
    sources, symbols = table_text(ticks, "source"), table_text(ticks, "symbol")
    width = len(symbols.dictionary)
    codes = sources.indices.to_numpy().astype(np.int64) * width + symbols.indices.to_numpy()
    pairs, places = np.unique(codes, return_index=True)
    orders = order_of(int64(ticks, "ingest")[places], TICK_STREAM).tolist()
    names = [
        (sources.dictionary[pair // width].as_py(), symbols.dictionary[pair % width].as_py())
        for pair in pairs.tolist()
    ]
    return sorted((order, *name) for order, name in zip(orders, names, strict=True))


def _merged(run: Run, step: dict[str, pa.Table]) -> InputRows:
    sources = run.rules.plan.sources
    return InputRows.merge([_rows(run, s, step[s.name]) for s in sources if s.name in step])


def _rows(run: Run, stream: Stream, table: pa.Table) -> InputRows:
    field, texts = table_field(table), partial(table_text, table)
    if stream.name == TICK_STREAM:
        columns = tick_columns(stream, field, texts("symbol"))
    else:
        columns = deal_columns(stream, field, texts)
    order = order_of(int64(table, "ingest"), stream.name)
    return run.encoder.encode(stream.name, columns, int64(table, "time_msc"), order)


def keys_in_order(selection: Selection, plan: Plan) -> list[str]:
    """Symbols in the order in which their first records reach the rules."""
    keyed = [s for s in plan.sources if s.schema.position("symbol") >= 0]
    first: dict[str, tuple[int, str]] = {}
    for symbol, part in selection.by_symbol().items():
        tables = {s.name: next(shown_tables(part, s.name, set()), None) for s in keyed}
        orders = [int(order_of(int64(t, "ingest"), name)[0]) for name, t in tables.items() if t]
        if orders:
            first[symbol] = (min(orders), symbol)
    return sorted(first, key=lambda symbol: first[symbol])
