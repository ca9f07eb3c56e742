"""Stored groups fed to the engine, without a detour over Arrow for ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, nan

import numpy as np

from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME, Ints
from cep.engine.layout import Cell, attribute_cells
from cep.engine.native import Run
from cep.engine.rows import Rows
from cep.live.gathered import Columns, Gathered, gathered
from cep.market import (
    DEAL_STREAM,
    TICK_ATTRIBUTES,
    TICK_STREAM,
    deal_columns,
    fixed_texts,
    says,
    shown_deals,
    source,
)
from cep.plan.nodes import Stream
from cep.plan.types import Type
from mt5bridge.records import TICK, utc_msc
from mt5bridge.spool import Group, RecordKind, told

FEW = 16
"""So many ticks are written cell by cell, each of which costs far less than a call of NumPy."""
_PLACES = {name: place for place, name in enumerate(TICK.names or ())}


class TickFeed:
    """Feeds ticks of any symbols together: O(columns) NumPy calls."""

    def __init__(self, run: Run, stream: Stream) -> None:
        self.run = run
        self.id = run.rules.ids.of(stream.name)
        self.widths = run.encoder.widths
        self.is_keyed = run.encoder.keys.get(TICK_STREAM) == "symbol"
        self.columns: list[tuple[str, Cell, Type]] = []
        self.symbol_cell: Cell | None = None
        for attribute, cell in attribute_cells(stream.schema):
            if attribute.name == "symbol":
                self.symbol_cell = cell
            else:
                self.columns.append((TICK_ATTRIBUTES[attribute.name], cell, attribute.type))
        self._cells = [
            (_PLACES[name], cell.column, cell.is_float) for name, cell, _ in self.columns
        ]
        self.is_plain = all(
            type_ is not Type.FLOAT and (cell.is_float or TICK[name].kind != "f")
            for name, cell, type_ in self.columns
        )
        """Whether numbers go into their cells as they are."""
        self._known: dict[str, tuple[int, int]] = {}  # by symbol: row of its key, code of its name

    def knows(self, symbol: str) -> bool:
        """Whether a symbol has been fed here before."""
        return symbol in self._known

    def feed(self, ticks: Gathered) -> Rows | None:
        """What groups of ticks lead to; None when the rules are shown none of them.

        Only the first symbol may be a new one: keys get their rows in the order in which they
        come, also those that the rules make in between.
        """
        for source_, symbol in ticks.published:
            self.run.watermarks.published(source_, symbol)
        if not ticks.count:
            return None
        codes = [self._codes(symbol) for symbol in ticks.symbols]
        if ticks.is_whole and self.is_plain and ticks.count <= FEW:
            return self._feed_few(ticks, codes)
        return self._feed_many(ticks.columns, np.array(codes))

    def _feed_few(self, ticks: Gathered, codes: Sequence[tuple[int, int]]) -> Rows:
        """A few ticks, all of which are shown."""
        n, (wide, wide_floats) = ticks.count, self.widths
        ints, floats = np.zeros((n, wide), np.int64), np.zeros((n, wide_floats))
        # single cells are written far faster through a memoryview than through an array
        whole: memoryview[int] = ints.data.cast("B").cast("q")
        real: memoryview[float] = floats.data.cast("B").cast("d")
        symbol, at, at_real = self.symbol_cell, 0, 0
        for ingest, time_msc, place, tick in ticks.rows:
            key_row, code = codes[place]
            whole[at + OUT_ORDER], whole[at + OUT_STREAM] = ingest, self.id
            whole[at + OUT_TIME], whole[at + OUT_KEY] = time_msc, key_row
            if symbol is not None:
                whole[at + symbol.column] = code
            for field, column, is_float in self._cells:
                value = tick[field]
                if not is_float:
                    whole[at + column] = value
                else:
                    real[at_real + column] = value if isfinite(value) else nan
            at, at_real = at + wide, at_real + wide_floats
        return self.run.feed_assigned(InputRows(ints, floats))

    def _codes(self, symbol: str) -> tuple[int, int]:
        """The row of its key and the code of its name; both are given on first sight."""
        known = self._known.get(symbol)
        if known is None:
            row = self.run.key_row(symbol) if self.is_keyed else 0
            code = self.run.strings.code(symbol) if self.symbol_cell is not None else 0
            known = self._known[symbol] = row, code
        return known

    def _feed_many(self, ticks: Columns, codes: Ints) -> Rows:
        """Ticks by columns; `codes`: key row and name of each symbol."""
        n = len(ticks.order)
        ints, floats = np.zeros((n, self.widths[0]), np.int64), np.zeros((n, self.widths[1]))
        ints[:, OUT_ORDER], ints[:, OUT_STREAM] = ticks.order, self.id
        ints[:, OUT_TIME], ints[:, OUT_KEY] = ticks.times, codes[ticks.places, 0]
        if self.symbol_cell is not None:
            ints[:, self.symbol_cell.column] = codes[ticks.places, 1]
        for name, cell, type_ in self.columns:
            values = ticks.ticks[name]
            if type_ is Type.FLOAT:
                values = values.astype(np.float32)
            (floats if cell.is_float else ints)[:, cell.column] = values
        if not np.isfinite(floats).all():
            floats[~np.isfinite(floats)] = np.nan
        return self.run.feed_assigned(InputRows(ints, floats))


def tell_time(run: Run, group: Group) -> Iterator[Rows]:
    """What a clock record leads to."""
    (time_msc,) = group.utc_msc.tolist()
    for found in run.watermarks.tell(*says(group.source, told(group)), time_msc):
        yield run.tell(found, group.ingest)


class MarketFeed:
    """Feeds groups of ticks and deals to the source streams a plan has, and tells the time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        plan = run.rules.plan
        ticks = source(plan, TICK_STREAM)
        self._ticks = TickFeed(run, ticks) if ticks else None
        self._deals = source(plan, DEAL_STREAM)

    def feed(self, groups: Sequence[Group]) -> Iterator[tuple[Rows, Sequence[Group]]]:
        """What stored groups, which are in order, lead to, and which of them led there.

        What holds nothing for the rules is left out.
        """
        for together in self._together(groups):
            for rows in self._feed(together):
                yield rows, together

    def _together(self, groups: Sequence[Group]) -> Iterator[Sequence[Group]]:
        """Neighbours that one call of the rules can take: ticks of symbols that are known, but for
        the first one's.
        """
        if self._takes(groups):
            yield groups
            return
        waiting: list[Group] = []
        for group in groups:
            if waiting and not self._joins(group, waiting[-1]):
                yield waiting
                waiting = []
            waiting.append(group)
        if waiting:
            yield waiting

    def _takes(self, groups: Sequence[Group]) -> bool:
        """Whether one call takes all of them."""
        if self._ticks is None or not groups:
            return False
        found = gathered(tuple(groups))
        return found is not None and all(map(self._ticks.knows, found.symbols[1:]))

    def _joins(self, group: Group, previous: Group) -> bool:
        is_ticks = group.kind is RecordKind.TICKS and previous.kind is RecordKind.TICKS
        return is_ticks and self._ticks is not None and self._ticks.knows(group.stream[1])

    def _feed(self, groups: Sequence[Group]) -> Iterator[Rows]:
        kind = groups[0].kind
        if kind is RecordKind.CLOCK:
            yield from tell_time(self.run, groups[0])
            return
        rows = None
        if kind is RecordKind.TICKS and self._ticks is not None:
            ticks = gathered(tuple(groups))
            assert ticks is not None, "no others stand together"
            rows = self._ticks.feed(ticks)
        elif kind is RecordKind.DEALS:
            rows = self._feed_deals(groups[0])
        if rows is not None:
            yield rows

    def _feed_deals(self, group: Group) -> Rows | None:
        if self._deals is None:
            return None
        shown = shown_deals(lambda name: group.records[name], group.quality)
        kept = group.records[shown]
        if not len(kept):
            return None
        order = np.arange(group.ingest, group.ingest + len(shown))[shown]
        columns = deal_columns(
            self._deals, lambda name: kept[name], lambda name: fixed_texts(kept[name].tolist())
        )
        times = utc_msc(kept, group.utc_offset_ms)
        return self.run.feed(self.run.encoder.encode(DEAL_STREAM, columns, times, order))
