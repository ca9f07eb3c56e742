"""A terminal's batch as input rows of the engine, without a detour over Arrow for ticks."""

from __future__ import annotations

import numpy as np

from cep.engine.encode import InputRows
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME, Ints
from cep.engine.layout import row_cells
from cep.engine.native import Run
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
from mt5bridge.records import Records, utc_msc
from mt5bridge.spool import Group, Kind
from mt5bridge.validate import QualityArray


class TickFeed:
    """Encodes ticks of one symbol: O(columns) NumPy calls a batch."""

    def __init__(self, run: Run, stream: Stream) -> None:
        self.run = run
        self.id = run.rules.ids.of(stream.name)
        self.widths = run.encoder.widths
        self.key = run.encoder.key
        self.cells = list(zip(stream.schema.names, row_cells(stream.schema), strict=True))

    def rows(self, symbol: str, ticks: Records, times: Ints, order: Ints) -> InputRows:
        """Input rows; `times` are ms UTC, `order` the ingest numbers."""
        n = len(ticks)
        code = self.run.strings.code(symbol)
        ints = np.zeros((n, self.widths[0]), np.int64)
        floats = np.zeros((n, self.widths[1]))
        ints[:, OUT_ORDER], ints[:, OUT_STREAM], ints[:, OUT_TIME] = order, self.id, times
        ints[:, OUT_KEY] = NULL
        for name, cell in self.cells:
            if name == "symbol":
                ints[:, cell.column] = code
            else:
                target = floats if cell.is_float else ints
                target[:, cell.column] = ticks[TICK_ATTRIBUTES[name]]
        if self.key == "symbol":
            ints[:, OUT_KEY] = code
        return InputRows(ints, floats)


class MarketFeed:
    """Encodes batches of ticks and deals by the source streams a plan has."""

    def __init__(self, run: Run) -> None:
        self.run = run
        plan = run.rules.plan
        ticks = source(plan, TICK_STREAM)
        self._ticks = TickFeed(run, ticks) if ticks else None
        self._deals = source(plan, DEAL_STREAM)

    def rows(self, group: Group) -> InputRows | None:
        """A stored group as the rules see it; None when it holds nothing for them."""
        if group.kind is Kind.TICKS:
            return self.ticks(
                group.stream[1], group.records, group.quality, group.utc_offset_ms, group.ingest
            )
        if group.kind is Kind.DEALS:
            return self.deals(group.records, group.utc_offset_ms, group.ingest)
        return None

    def ticks(
        self, symbol: str, records: Records, quality: QualityArray, offset_ms: int, ingest: int
    ) -> InputRows | None:
        """Input rows of the ticks that rules see; None when there are none."""
        if self._ticks is None:
            return None
        order = np.arange(ingest, ingest + len(records))
        times = utc_msc(records, offset_ms)
        shown = shown_ticks(quality)
        if not shown.all():
            records, times, order = records[shown], times[shown], order[shown]
        return self._ticks.rows(symbol, records, times, order) if len(records) else None

    def deals(self, records: Records, offset_ms: int, ingest: int) -> InputRows | None:
        """Input rows of the deals that rules see; None when there are none."""
        if self._deals is None:
            return None
        shown = shown_deals(lambda name: records[name])
        order = np.arange(ingest, ingest + len(records))[shown]
        kept = records[shown]
        if not len(kept):
            return None
        columns = deal_columns(
            self._deals, lambda name: kept[name], lambda name: fixed_texts(kept[name].tolist())
        )
        return self.run.encoder.encode(DEAL_STREAM, columns, utc_msc(kept, offset_ms), order)
