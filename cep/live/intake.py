"""From a terminal's batch to stored records, and to all that are shown them, in one thread.

Every record gets its place in the one total order here. The spool takes it before any rules see
it, but nobody waits for the disk: acknowledgements follow the commit, signals do not. Rules may
come and go, or there may be none: what comes is stored all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cep.live.pipeline import newest_time_msc
from mt5bridge.records import fixed_text
from mt5bridge.server import Batch, Gap
from mt5bridge.spool import Group, RecordKind, Spool, gap, read

MARKET = RecordKind.TICKS, RecordKind.DEALS

NOTE_BYTES = 256
"""What is kept of a terminal's words about a loss; the archive's manifest has all of them."""


class Shown(Protocol):
    """Who is shown what is stored. `heard` counts the calls with ticks or deals in which there was
    something for it.
    """

    heard: int

    def show(self, group: Group) -> None:
        """One group, which may wait for `flush`."""

    def flush(self) -> None:
        """All that waits."""

    def take(self, groups: Sequence[Group]) -> None:
        """These at once, behind a `flush`."""


class Intake:
    """Stores what comes, and shows it.

    A batch is stored at once and worked on by `flush`, together with those before it: a call of
    rules costs the same for one row as for dozens.
    """

    def __init__(self, spool: Spool, shown: Sequence[Shown] = ()) -> None:
        self.spool = spool
        self.shown = shown

    @property
    def heard(self) -> int:
        """Changes when there was something for any that are shown it."""
        return sum(one.heard for one in self.shown)

    def newest_msc(self, behind: int) -> int:
        """The newest time of the ticks and deals stored behind a record, UTC ms; 0: of none."""
        groups = read(self.spool.directory, behind + 1)
        return max((newest_time_msc(one) for one in groups if one.kind in MARKET), default=0)

    def on_batch(self, batch: Batch) -> bool:
        """Store a batch for `flush`; False when the spool is full and took nothing."""
        group = Group(
            ingest=self.spool.next_ingest,
            kind=RecordKind.DEALS if batch.stream[0] == "deals" else RecordKind.TICKS,
            source=batch.identity,
            stream=batch.stream,
            sequence=batch.first,
            records=batch.records,
            utc_offset_ms=batch.utc_offset_ms,
            quality=batch.quality,
        )
        if not self.spool.append(group):
            return False
        for one in self.shown:
            one.show(group)
        return True

    def on_clock(self, group: Group) -> bool:
        """Store a clock record and let rules see time pass; False when the spool is full."""
        self.flush()
        if not self.spool.append(group):
            return False
        for one in self.shown:
            one.take([group])
        return True

    def on_gap(self, lost: Gap) -> bool:
        """Store an interval that the terminal declared lost; False when the spool is full."""
        key = (lost.identity, lost.stream)
        note = fixed_text(f"{lost.reason.name.lower()}: {lost.text}", NOTE_BYTES).decode()
        return self.spool.append(gap(self.spool.next_ingest, key, lost.first, lost.last, note))

    def flush(self) -> None:
        """Run all rules on what is stored and was not shown to them."""
        for one in self.shown:
            one.flush()
