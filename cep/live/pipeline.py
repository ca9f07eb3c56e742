"""From a terminal's batch to stored records and the rules' output, in one thread.

Every record gets its place in the one total order here. The spool takes it before the rules see
it, but nobody waits for the disk: acknowledgements follow the commit, signals do not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from cep.engine.kernels.state import Ints
from cep.engine.native import Run
from cep.engine.rows import Row, Rows
from cep.live.feed import MarketFeed
from cep.live.quarantine import RecordError
from mt5bridge.records import fixed_text
from mt5bridge.server import Batch, Gap
from mt5bridge.spool import Group, RecordKind, Spool, gap

RECORDS_AT_ONCE = 8_192
"""So many records that wait are shown to the rules without waiting for more."""

NOTE_BYTES = 256
"""What is kept of a terminal's words about a loss; the archive's manifest has all of them."""

_first_ingest = attrgetter("ingest")


class Output(Protocol):
    """Output rows in order, each with the ingest number of the record that caused it."""

    @property
    def orders(self) -> Ints: ...

    def dicts(self) -> list[Row]: ...


@dataclass(frozen=True, slots=True)
class Caused:
    """Output rows, and the groups of records, in order, that caused them."""

    rows: Output
    groups: Sequence[Group]

    @property
    def by_clock(self) -> bool:
        """Whether time that passed caused them, which is never shown together with records."""
        return self.groups[0].kind is RecordKind.CLOCK

    def cause(self, ingest: int) -> Group:
        """The group that holds the record with this ingest number. O(log groups)."""
        return self.groups[bisect_right(self.groups, ingest, key=_first_ingest) - 1]


OnRows = Callable[[Caused], None]


def newest_time_msc(group: Group) -> int:
    """The newest time of a group's records, UTC ms; 0 where none can be."""
    return int(group.near_msc.max(initial=0))


class Ahead:
    """Groups in order, which can be taken up to a record."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._groups = iter(groups)
        self._next = next(self._groups, None)

    def __iter__(self) -> Iterator[Group]:
        while self._next is not None:
            found, self._next = self._next, next(self._groups, None)
            yield found

    def until(self, ingest: int) -> Iterator[Group]:
        """The groups that begin with this record or an earlier one."""
        while self._next is not None and self._next.ingest <= ingest:
            found, self._next = self._next, next(self._groups, None)
            yield found


class Shown(Protocol):
    """Who is shown what is stored."""

    def show(self, group: Group) -> None:
        """One group, which may wait for `flush`."""

    def flush(self) -> None:
        """All that waits."""

    def take(self, groups: Sequence[Group]) -> None:
        """These at once, behind a `flush`."""


class Kept:
    """Keeps what is shown, for rules that are not so far yet."""

    def __init__(self) -> None:
        self.groups: list[Group] = []

    def show(self, group: Group) -> None:
        self.groups.append(group)

    def flush(self) -> None:
        """Nobody is there yet."""

    def take(self, groups: Sequence[Group]) -> None:
        self.groups.extend(groups)


class Pipeline:
    """Stores batches and feeds the rules; `on_rows` gets what they cause.

    A batch is stored at once and shown to the rules by `flush`, together with those before it: a
    call of the rules costs the same for one row as for dozens. `heard` counts the calls with ticks
    or deals in which there was something for the rules. What one pipeline stores, the rules of the
    `others` are shown too. With `on_failure` rules that raise are stopped, and nothing else is.
    """

    def __init__(self, spool: Spool, run: Run, on_rows: OnRows) -> None:
        self.spool = spool
        self.run = run
        self.on_rows = on_rows
        self.feed = MarketFeed(run)
        self.heard = 0
        self.others: Sequence[Shown] = ()
        self.newest = 0
        """The last record that `catch_up` has come to."""
        self.on_failure: Callable[[Exception], None] | None = None
        self.is_stopped = False
        """Its rules are shown nothing any more; what is to be stored, is."""
        self._waiting: list[Group] = []
        self._records_waiting = 0

    def go_on(self, run: Run) -> None:
        """Run other rules from the next record on."""
        self.flush()
        self.run = run
        self.feed = MarketFeed(run)

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
        self.show(group)
        for other in self.others:
            other.show(group)
        return True

    def show(self, group: Group) -> None:
        """Keep a stored group for `flush`."""
        self._waiting.append(group)
        self._records_waiting += group.width
        if self._records_waiting >= RECORDS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Run the rules on all that is stored and was not shown to them."""
        if self._waiting:
            groups, self._waiting, self._records_waiting = self._waiting, [], 0
            self.take(groups)

    def on_clock(self, group: Group) -> bool:
        """Store a clock record and let the rules see time pass; False when the spool is full."""
        everybody: list[Shown] = [self, *self.others]
        for one in everybody:
            one.flush()
        if not self.spool.append(group):
            return False
        for one in everybody:
            one.take([group])
        return True

    def take(self, groups: Sequence[Group]) -> None:
        """Run the rules on stored groups; rules that raise are stopped where others go on."""
        if self.is_stopped:
            return
        try:
            self._process(groups, self.on_rows)
        except MemoryError:
            raise
        except Exception as problem:
            if self.on_failure is None:
                raise
            self.is_stopped = True
            self.on_failure(problem)

    def on_gap(self, lost: Gap) -> bool:
        """Store an interval that the terminal declared lost; False when the spool is full."""
        key = (lost.identity, lost.stream)
        note = fixed_text(f"{lost.reason.name.lower()}: {lost.text}", NOTE_BYTES).decode()
        return self.spool.append(gap(self.spool.next_ingest, key, lost.first, lost.last, note))

    def catch_up(self, groups: Iterable[Group], on_rows: OnRows) -> tuple[int, int]:
        """Run the rules on records stored before; how many they were, and their newest time.

        RecordError at a group that the rules cannot bear; their state is of no use then.
        """
        records = newest_msc = 0
        for group in groups:
            try:
                found = list(self.feed.feed([group]))
            except MemoryError:
                raise
            except Exception as problem:
                raise RecordError(group, problem) from problem
            self._act(found, on_rows)
            self.newest = group.last_ingest
            records += group.width
            if group.kind in (RecordKind.TICKS, RecordKind.DEALS):
                newest_msc = max(newest_msc, newest_time_msc(group))
        return records, newest_msc

    def _process(self, groups: Sequence[Group], on_rows: OnRows) -> None:
        """Run the rules on stored groups, which are in order."""
        self._act(self.feed.feed(groups), on_rows)

    def _act(self, found: Iterable[tuple[Rows, Sequence[Group]]], on_rows: OnRows) -> None:
        for rows, causes in found:
            caused = Caused(rows, causes)
            self.heard += not caused.by_clock
            if rows:
                on_rows(caused)
