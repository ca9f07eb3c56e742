"""Archived records as the rules' input rows, streamed in the one order.

The order of records is (ingest, ticks before deals, symbol). `order` carries the first two in one
number, `2 * ingest` and 1 more for a deal; the third decides where two symbols share a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from cep.archive.archive import ALWAYS
from cep.archive.merge import BATCH_ROWS, merged
from cep.archive.parts import int64, within
from cep.backtest.selection import Selection
from cep.engine.encode import InputRows
from cep.engine.kernels.state import Ints
from cep.engine.native import Run
from cep.market import (
    DEAL_ATTRIBUTES,
    DEAL_STREAM,
    TICK_ATTRIBUTES,
    TICK_STREAM,
    deal_columns,
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
SHOWN_BY = {TICK_STREAM: ("quality",), DEAL_STREAM: ("kind", "revision")}


def order_of(ingest: Ints, stream: str) -> Ints:
    """The place in the total order of records of a source stream."""
    return 2 * ingest + (stream == DEAL_STREAM)


def ingest_of(order: Ints) -> Ints:
    return order >> 1


def shown_tables(selection: Selection, name: str, fields: set[str]) -> Iterator[pa.Table]:
    """Records of a source stream that rules see, with the archive's columns `fields`."""
    part = selection.stream(name)
    columns = list(dict.fromkeys((*ALWAYS, *SHOWN_BY[name], *sorted(fields))))
    # all symbols have a batch in memory at once
    batch_rows = max(1 << 10, min(BATCH_ROWS, HEAD_ROWS // max(1, len(part.symbols))))
    for table in merged(Path(part.directory), part.files, columns, batch_rows):
        kept = within(table, part.from_msc, part.to_msc)
        if name == TICK_STREAM:
            shown = shown_ticks(kept["quality"].to_numpy())
        else:
            shown = shown_deals(table_field(kept))
        if not shown.all():
            kept = kept.filter(pa.array(shown))
        if kept.num_rows:
            yield kept


def read(selection: Selection, plan: Plan) -> Iterator[dict[str, pa.Table]]:
    """Tables by source stream, cut so that all records of a step precede those of the next."""
    rest: dict[str, Iterator[pa.Table]] = {}
    for stream in plan.sources:
        fields = {FIELDS[stream.name][n] for n in stream.schema.names if n != "symbol"}
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


def encoded(selection: Selection, run: Run) -> Iterator[InputRows]:
    """The records as input rows of a run, in order; their order numbers are `order_of` ingest."""
    plan = run.rules.plan
    for step in read(selection, plan):
        yield InputRows.merge(
            [
                _rows(run, stream, step[stream.name])
                for stream in plan.sources
                if stream.name in step
            ]
        )


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
