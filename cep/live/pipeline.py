"""From stored records to the output of rules, in one thread."""

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
from mt5bridge.spool import Group, RecordKind

RECORDS_AT_ONCE = 8_192
"""So many records that wait are shown to the rules without waiting for more."""

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


class Pipeline:
    """Feeds the rules what is stored; `on_rows` gets what they cause.

    `heard` counts the calls with ticks or deals in which there was something for the rules. With
    `on_failure` rules that raise are stopped, and nothing else is.
    """

    def __init__(self, run: Run, on_rows: OnRows) -> None:
        self.run = run
        self.on_rows = on_rows
        self.feed = MarketFeed(run)
        self.heard = 0
        self.newest = 0
        """The last record that `catch_up` has come to, or that it began behind."""
        self.on_failure: Callable[[Exception], None] | None = None
        self.is_stopped = False
        """Its rules are shown nothing any more."""
        self._waiting: list[Group] = []
        self._records_waiting = 0

    def go_on(self, run: Run) -> None:
        """Run other rules from the next record on."""
        self.flush()
        self.run = run
        self.feed = MarketFeed(run)

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
