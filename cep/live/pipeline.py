"""From a terminal's batch to stored records and the rules' output, in one thread.

Every record gets its place in the one total order here. The spool takes it before the rules see
it, but nobody waits for the disk: acknowledgements follow the commit, signals do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cep.engine.native import Run
from cep.engine.rows import Rows
from cep.live.feed import MarketFeed
from mt5bridge.server import Batch, Gap
from mt5bridge.spool import Group, Kind, Spool, gap


@dataclass(frozen=True, slots=True)
class Caused:
    """Output rows, and the group of records that caused them."""

    rows: Rows
    group: Group

    def sequence(self, ingest: int) -> int:
        """The source's sequence number of the record with this ingest number."""
        return self.group.sequence + ingest - self.group.ingest


class Pipeline:
    """Stores batches and feeds the rules; `on_rows` gets what they cause, batch by batch."""

    def __init__(self, spool: Spool, run: Run, on_rows: Callable[[Caused], None]) -> None:
        self.spool = spool
        self.run = run
        self.on_rows = on_rows
        self.feed = MarketFeed(run)
        self.ticks = 0
        self.deals = 0

    def on_batch(self, batch: Batch) -> bool:
        """Store a batch and run the rules on it; False when the spool is full and took nothing."""
        kind = Kind.DEALS if batch.stream[0] == "deals" else Kind.TICKS
        group = Group(
            ingest=self.spool.next_ingest,
            kind=kind,
            source=batch.identity,
            stream=batch.stream,
            sequence=batch.first,
            records=batch.records,
            utc_offset_ms=batch.utc_offset_ms,
            quality=batch.quality,
        )
        if not self.spool.append(group):
            return False
        if kind is Kind.TICKS:
            self.ticks += len(batch.records)
        else:
            self.deals += len(batch.records)
        self.process(group)
        return True

    def on_gap(self, lost: Gap) -> None:
        """Store an interval that the terminal declared lost."""
        key = (lost.identity, lost.stream)
        note = f"{lost.reason.name.lower()}: {lost.text}"
        self.spool.append(gap(self.spool.next_ingest, key, lost.first, lost.last, note))

    def process(self, group: Group) -> None:
        """Run the rules on a stored group."""
        rows = self.feed.rows(group)
        if rows is None:
            return
        found = self.run.feed(rows)
        if len(found):
            self.on_rows(Caused(found, group))

    def catch_up(self, groups: Iterator[Group]) -> int:
        """Run the rules on records stored before; how many they were."""
        records = 0
        for group in groups:
            self.process(group)
            records += group.width
        return records
