"""Rules whose queries run on a database: stored records in, output rows out, exactly once.

The database has its own memory of how far it has come; our engine has snapshots, and what the
database made since the last one is in the outbox. So both come to the same record after a restart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from loguru import logger

from cep.database.batches import Ints
from cep.database.drivers import connect
from cep.database.errors import DatabaseError, EventError
from cep.database.runner import Options, Runner
from cep.engine.divided import Divided
from cep.engine.native import Compiled, Run
from cep.engine.rows import Row
from cep.engine.snapshot import SnapshotError, take
from cep.fragments.exchange import Fragments, merged
from cep.fragments.rows import DerivedRow, Line, StreamRows
from cep.fragments.split import split
from cep.live.config import OnDatabase
from cep.live.feed import tell_time
from cep.live.market import Market
from cep.live.outbox import Outbox
from cep.plan.nodes import Plan
from mt5bridge.spool import Group, RecordKind
from mt5bridge.spool import read as read_spool
from mt5bridge.troubles import is_full

SNAPSHOT_RECORDS = 10_000
"""From one snapshot of our engine to the next, at most: a restart reads what came since."""


@dataclass(frozen=True, slots=True)
class Told:
    """Output rows with the records that caused them, as `Effects` takes them."""

    orders: Ints
    lines: list[Row]

    def dicts(self) -> list[Row]:
        """The rows."""
        return self.lines


@dataclass(frozen=True, slots=True)
class Done:
    """What stored groups have led to, up to a record; perhaps with our engine's state after it."""

    groups: Sequence[Group]
    lines: Sequence[Line]
    ingest: int
    state: bytes | None = None

    def told(self) -> Iterator[tuple[Told, Group]]:
        """The rows that each group has caused."""
        orders = np.array([place[0] for place, _ in self.lines], np.int64)
        rows = [row for _, row in self.lines]
        for group in self.groups:
            start, stop = np.searchsorted(orders, (group.ingest, group.last_ingest + 1))
            if start < stop:
                yield Told(orders[start:stop], rows[start:stop]), group


class DatabaseRules:
    """A plan at work on a database, and on our engine behind it. Belongs to one thread at a time.

    `begin` or `go_on` comes first, then `catch_up`. `position` is the last record that was taken.
    """

    def __init__(
        self,
        settings: OnDatabase,
        plan: Plan,
        outputs: Iterable[str] | None,
        folder: Path,
        spool: str,
        *,
        jit: bool,
        snapshot_records: int,
        pause: Callable[[int], None],
    ) -> None:
        assert settings.url is not None
        driver = connect(settings.url, settings.durable)
        self.batch_records = driver.dialect.batch_records
        options = Options(settings.prefix, settings.durable, owner="daemon", takes_late=True)
        self._runner = Runner(driver, options, pause)
        self.plans: Divided = split(plan, driver.dialect, lived=True)
        self._plan = plan
        self._wanted = plan.derived if outputs is None else frozenset(outputs)
        wanted = self._wanted & self.plans.rest.made
        self.compiled = Compiled(
            self.plans.rest, outputs=wanted, jit=jit, waits=False, machine="always"
        )
        self._outbox = Outbox(folder, spool, settings.durable)
        self._spool = spool
        self._market = Market(plan)
        self._every = min(snapshot_records, SNAPSHOT_RECORDS)
        self._snapshot_at = 0
        self.position = 0
        self.passed_over = 0
        self._made: list[DerivedRow] = []  # of what is being taken
        self._owed: list[tuple[int, list[DerivedRow]]] = []  # to the outbox

    @property
    def run(self) -> Run:
        """Our engine's half."""
        return self._fragments.run

    @property
    def late(self) -> int:
        """How many records were older than one before them."""
        return self._fragments.late

    def empty(self) -> None:
        """Forget everything, before `begin`."""
        self._outbox.clear()
        self._runner.clear()

    def begin(self, run: Run, ingest: int) -> None:
        """All anew, after this record."""
        self._runner.clear(self._spool, ingest)
        self._start(run, ingest)
        self._begin_file()

    def go_on(self, run: Run, ingest: int, directory: Path) -> None:
        """From a snapshot of our engine, after this record."""
        if self._runner.progress.source != self._spool:
            self._runner.clear(self._spool, _first(directory) - 1)
        self._start(run, ingest)
        taken, before = self._fragments.taken, self._runner.progress.done
        known = self._outbox.read(taken)
        last = max(known[-1].last if known else 0, ingest)
        if last < before:
            logger.warning("what the database made after record {} is lost: once more", last)
            self._outbox.read(ingest)
            self._runner.clear(self._spool, _first(directory) - 1)
            self._change()
        self._begin_file()
        if before <= last < taken:
            self._outbox.add(taken, self._fragments.again(self._parts(directory, before, taken)))
        self._refill(directory)

    def catch_up(self, directory: Path) -> Iterator[Done]:
        """What the stored records after the snapshot lead to, as far as the database has them."""
        made: deque[DerivedRow] = deque()
        for batch in self._outbox.read(self._fragments.taken):
            made += [one for one in batch.made if one[1] > self.position]
        for group in read_spool(directory, self.position + 1):
            if group.ingest > self._fragments.taken:
                return
            some: list[DerivedRow] = []
            while made and made[0][1] <= group.last_ingest:
                some.append(made.popleft())
            last = min(group.last_ingest, self._fragments.taken)
            yield self._behind([group], self._rows([group], last), some, last)

    def take(self, groups: Sequence[Group]) -> Done:
        """What the next stored groups lead to: ticks and deals, or one clock record.

        DatabaseError: try again with the same. A record with a value that the database cannot work
        with is passed over by it, and named; `passed_over` counts such records.
        """
        last = groups[-1].last_ingest
        rows = self._rows(groups, last)
        self._pay()
        self._front(_after(rows, self._fragments.taken))
        made, self._made = self._made, []
        return self._behind(groups, rows, made, last)

    def remember(self, directory: Path) -> None:
        """Give a database that has forgotten what it was told all of it again, as far as known."""
        if self._runner.progress.source != self._spool:
            self._runner.clear(self._spool, _first(directory) - 1)
        self._change()
        self._made.clear()
        self._owed.clear()
        self._refill(directory)

    def snapshot(self) -> bytes | None:
        """The state of our engine; what the database makes from here on is kept apart.

        None, and it is logged, when an indicator of the user's holds what cannot be saved.
        """
        self._begin_file()
        self._snapshot_at = self.position + self._every
        try:
            return take(self.run)
        except SnapshotError as problem:
            logger.error("no snapshot: {}", problem)
            return None

    def close(self) -> None:
        """Let go of the database."""
        self._outbox.close()
        self._runner.close()

    def _start(self, run: Run, ingest: int) -> None:
        self._change()
        self._fragments = Fragments(
            self._plan, self.plans, self._runner, run, self._wanted, first=1
        )
        self.position = ingest
        self._snapshot_at = ingest + self._every

    def _begin_file(self) -> None:
        """Have a file for what is made next: behind all that was, for that may be ahead of us."""
        self._outbox.begin(max(self.position, self._fragments.taken))

    def _change(self) -> None:
        front = self.plans.front
        self._runner.change(front, self.plans.passed | (self._wanted & front.made))

    def _front(self, rows: Sequence[StreamRows], *, is_new: bool = True) -> None:
        """The database takes rows: at once, or in halves down to what it cannot take."""
        if not rows:
            return
        try:
            made = self._fragments.front(rows, whole=True)
        except (DatabaseError, EventError) as problem:
            if not problem.is_of_values:
                raise
            self._front_in_halves(rows, problem, is_new)
            return
        if is_new:
            self._made += made
            self._owed.append((self._fragments.taken, made))
            self._pay()

    def _pay(self) -> None:
        """Write down what the database has made; DatabaseError while there is no room for it."""
        while self._owed:
            try:
                self._outbox.add(*self._owed[0])
            except OSError as problem:
                if not is_full(problem):
                    raise
                raise DatabaseError(f"what it has made cannot be kept: {problem}") from problem
            self._owed.pop(0)

    def _front_in_halves(
        self, rows: Sequence[StreamRows], problem: Exception, is_new: bool
    ) -> None:
        orders = np.sort(np.concatenate([part.orders for part in rows]))
        if len(orders) == 1:
            self.passed_over += is_new
            logger.error("the database passes over record {}: {}", orders[0], problem)
            return
        middle = int(orders[len(orders) // 2 - 1])
        self._front(_after(rows, -1, middle), is_new=is_new)
        self._front(_after(rows, middle), is_new=is_new)

    def _refill(self, directory: Path) -> None:
        """Have the database take what our engine has; nobody is told of it again."""
        if self._fragments.taken >= self.position:
            return
        for groups in batches(read_spool(directory, self._fragments.taken + 1), self.batch_records):
            if groups[0].ingest > self.position:
                return
            before = self._fragments.taken
            rows = _after(self._market.parts(groups), before, self.position)
            if rows:
                logger.info("the database takes records from {} on again", before + 1)
                self._front(rows, is_new=False)

    def _parts(self, directory: Path, after: int, last: int) -> list[StreamRows]:
        """Stored rows after a record, up to another."""
        groups = []
        for group in read_spool(directory, after + 1):
            if group.ingest > last:
                break
            groups.append(group)
        return _after(self._market.parts(groups), after, last)

    def _rows(self, groups: Sequence[Group], last: int) -> list[StreamRows]:
        """The rows of groups that have not been taken."""
        return _after(self._market.parts(groups), self.position, last)

    def _behind(
        self,
        groups: Sequence[Group],
        rows: Sequence[StreamRows],
        made: Sequence[DerivedRow],
        last: int,
    ) -> Done:
        """Our engine's half of the work."""
        if groups[0].kind is RecordKind.CLOCK:
            told = tell_time(self.run, groups[0])
            lines = [line for rows in told for line in self._fragments.numbered(rows)]
        else:
            for source, symbol in self._market.publishers(groups):
                self.run.watermarks.published(source, symbol)
            lines = merged(self._fragments.lines(made), self._fragments.behind(rows, made))
        self.position = last
        return Done(groups, lines, last, self._state())

    def _state(self) -> bytes | None:
        """The state of our engine, when it is time for it and there is room."""
        if self.position < self._snapshot_at:
            return None
        try:
            return self.snapshot()
        except OSError as problem:
            if not is_full(problem):
                raise
            logger.error("no snapshot: {}", problem)
            return None


def _after(rows: Sequence[StreamRows], order: int, last: int | None = None) -> list[StreamRows]:
    """The rows behind a place, up to another."""
    found = (part.between(order, last) for part in rows)
    return [part for part in found if len(part.orders)]


def batches(groups: Iterable[Group], records: int) -> Iterator[list[Group]]:
    """So many records together, in whole groups; a clock record is a batch of its own."""
    waiting: list[Group] = []
    count = 0
    for group in groups:
        if waiting and (count >= records or group.kind is RecordKind.CLOCK):
            yield waiting
            waiting, count = [], 0
        if group.kind is RecordKind.CLOCK:
            yield [group]
        elif group.kind is not RecordKind.GAP:
            waiting.append(group)
            count += group.width
    if waiting:
        yield waiting


def _first(directory: Path) -> int:
    """The first record that is stored."""
    group = next(read_spool(directory), None)
    return 1 if group is None else group.ingest
