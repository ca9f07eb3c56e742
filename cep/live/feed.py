"""Stored groups fed to the engine, without a detour over Arrow for ticks."""

from __future__ import annotations

import numpy as np

from cep.engine.encode import InputRows
from cep.engine.kernels.state import OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME, Ints
from cep.engine.layout import Cell, row_cells
from cep.engine.native import Run
from cep.engine.rows import Rows
from cep.market import (
    DEAL_STREAM,
    TICK_ATTRIBUTES,
    TICK_STREAM,
    deal_columns,
    fixed_texts,
    shown_deals,
    shown_ticks,
    source,
)
from cep.plan.nodes import Stream
from cep.plan.types import Type
from mt5bridge.records import Records, utc_msc
from mt5bridge.spool import Group, Kind

FEW = 64
"""Batches of up to so many ticks share one set of arrays."""


class TickFeed:
    """Feeds ticks of one symbol at a time: O(columns) NumPy calls a batch."""

    def __init__(self, run: Run, stream: Stream) -> None:
        self.run = run
        self.id = run.rules.ids.of(stream.name)
        self.widths = run.encoder.widths
        self.is_keyed = run.encoder.key == "symbol"
        self.columns: list[tuple[str, Cell, Type]] = []
        self.symbol_cell: Cell | None = None
        for attribute, cell in zip(stream.schema.attributes, row_cells(stream.schema), strict=True):
            if attribute.name == "symbol":
                self.symbol_cell = cell
            else:
                self.columns.append((TICK_ATTRIBUTES[attribute.name], cell, attribute.type))
        self._few = self._arrays(FEW)

    def _arrays(self, n: int) -> InputRows:
        return InputRows(np.zeros((n, self.widths[0]), np.int64), np.zeros((n, self.widths[1])))

    def feed(self, symbol: str, ticks: Records, times: Ints, order: Ints) -> Rows:
        """What ticks lead to; `times` are ms UTC, `order` the ingest numbers."""
        n = len(ticks)
        rows = self._arrays(n) if n > FEW else InputRows(self._few.ints[:n], self._few.floats[:n])
        ints, floats = rows.ints, rows.floats
        ints[:, OUT_ORDER], ints[:, OUT_STREAM], ints[:, OUT_TIME] = order, self.id, times
        ints[:, OUT_KEY] = self.run.key_row(symbol) if self.is_keyed else 0
        if self.symbol_cell is not None:
            ints[:, self.symbol_cell.column] = self.run.strings.code(symbol)
        for name, cell, type_ in self.columns:
            values = ticks[name]
            if type_ is Type.FLOAT:
                values = values.astype(np.float32)
            (floats if cell.is_float else ints)[:, cell.column] = values
        if not np.isfinite(floats).all():
            floats[~np.isfinite(floats)] = np.nan
        return self.run.feed_assigned(rows)


class MarketFeed:
    """Feeds batches of ticks and deals to the source streams a plan has, and tells the time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        plan = run.rules.plan
        ticks = source(plan, TICK_STREAM)
        self._ticks = TickFeed(run, ticks) if ticks else None
        self._deals = source(plan, DEAL_STREAM)

    def feed(self, group: Group) -> Rows | None:
        """What a stored group leads to; None when it holds nothing for the rules."""
        if group.kind is Kind.TICKS:
            return self._feed_ticks(group)
        if group.kind is Kind.DEALS:
            return self._feed_deals(group)
        if group.kind is Kind.CLOCK:
            return self._tell_time(group)
        return None

    def _tell_time(self, group: Group) -> Rows:
        (time_msc,) = group.utc_msc.tolist()
        return self.run.tell_time(time_msc, group.ingest)

    def _feed_ticks(self, group: Group) -> Rows | None:
        if self._ticks is None:
            return None
        records = group.records
        order = np.arange(group.ingest, group.ingest + len(records))
        times = group.utc_msc
        if group.quality.any():
            shown = shown_ticks(group.quality)
            records, times, order = records[shown], times[shown], order[shown]
            if not len(records):
                return None
        return self._ticks.feed(group.stream[1], records, times, order)

    def _feed_deals(self, group: Group) -> Rows | None:
        if self._deals is None:
            return None
        shown = shown_deals(lambda name: group.records[name])
        kept = group.records[shown]
        if not len(kept):
            return None
        order = np.arange(group.ingest, group.ingest + len(shown))[shown]
        columns = deal_columns(
            self._deals, lambda name: kept[name], lambda name: fixed_texts(kept[name].tolist())
        )
        times = utc_msc(kept, group.utc_offset_ms)
        return self.run.feed(self.run.encoder.encode(DEAL_STREAM, columns, times, order))
