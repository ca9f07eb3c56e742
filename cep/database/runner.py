"""Runs a plan on a database, batch by batch: a batch is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa

from cep.database.batches import Arrivals, Found, Ints, checked
from cep.database.changes import changed, remove, unchanged
from cep.database.dialects import Dialect
from cep.database.drivers import Driver, values_of
from cep.database.errors import DatabaseError, ForgottenError
from cep.database.explain import program_text
from cep.database.late_program import LateProgram
from cep.database.lateness import newest_in
from cep.database.program import Born, build, prepared
from cep.database.progress import Progress, born, identity
from cep.database.purging import Horizon
from cep.database.steps import BatchNumber, Program, Statement, Step, batch_number
from cep.database.store import Store
from cep.database.transactions import Transactions
from cep.plan.nodes import Plan

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """`prefix` tells the tables of several runs in one database apart.

    `is_durable`: what was committed survives a power failure. `batch_events`: the most events of
    one transaction (by default as many as suit the database). `may_restart`: progress is kept with
    each batch, which means nothing where all is in memory. `owner`: what kind of run it is; the
    tables of another kind are not touched. `may_replace`: the first plan may empty the windows that
    an earlier run has left. `place` names the database, for messages. `takes_late`: events may say
    that their own times are older than those of others before them.
    """

    prefix: str = "mt5cep_"
    is_durable: bool = False
    batch_events: int | None = None
    may_restart: bool = True
    owner: str = "processor"
    may_replace: bool = False
    place: str = "this database"
    takes_late: bool = False


class Runner:
    """A plan at work on a database. Not thread-safe. The connection is its own from here on.

    `pause` is called between attempts at a batch with their number (1, 2, ..).
    """

    def __init__(
        self,
        driver: Driver,
        options: Options | None = None,
        pause: Callable[[int], None] = lambda attempt: None,
    ) -> None:
        self._options = options or Options()
        self._driver = driver
        self._transactions = Transactions(driver, pause)
        self._progress = Progress()
        try:
            self._store = Store(self._options.prefix, driver.dialect, self._options.is_durable)
            driver.claim(self._options.prefix)
            self._progress = self._committed(self._begun)
        except BaseException:
            driver.close()
            raise
        self._stored = self._progress.seq
        self._program: Program | None = None
        self._of_late: LateProgram | None = None
        self._horizon = Horizon()

    @property
    def progress(self) -> Progress:
        """How far it has come, with what is committed."""
        return self._progress

    @property
    def program(self) -> Program:
        """What runs: while there are late events, what asks for their own times."""
        assert self._program is not None, "no plan is set"
        late = self._of_late
        return self._program if late is None or not late.is_needed else late.program

    @property
    def dialect(self) -> Dialect:
        """What kind of database it is."""
        return self._driver.dialect

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Run this plan from now on; DatabaseError for what cannot be run, and nothing changed.

        After a restart with the same plan the windows are as they were.
        """
        wanted = prepared(plan, takes_late=self._options.takes_late)
        now = identity(wanted.plan, str(self._options.is_durable))
        begun = born(wanted.plan, now, self._progress)
        make_program = partial(
            build, wanted, outputs, self._driver.dialect, prefix=self._options.prefix,
            born=_by_slot(begun), is_durable=self._options.is_durable,
        )  # fmt: skip
        program = make_program()
        if program.refused:
            reasons = "; ".join(f"{name}: {why}" for name, why in program.refused.items())
            raise DatabaseError(f"the database does not run {reasons}")
        if self._program is None and not self._options.may_replace:
            self._refuse_to_empty(now.queries, unchanged(program, self._progress, now))

        def make() -> Progress:
            made = changed(self._driver, program, self._progress, now, begun)
            self._store.save_plan(self._driver, made)
            if program.late is not None:
                self._of_late = LateProgram(self._driver, program, make_program)
            return made

        self._of_late = None
        self._progress = self._committed(make)
        self._program = program
        self._horizon = Horizon()  # streams may have begun anew, and others be gone

    def _refuse_to_empty(self, queries: Mapping[str, str], kept: Collection[str]) -> None:
        """DatabaseError when the windows of an earlier run would not outlive this plan."""
        before = self._progress
        gone = {name for name, rows in before.last.items() if rows and name not in kept}
        if before.seq:
            gone |= {
                name for name, was in before.identity.queries.items() if queries.get(name) != was
            }
        if gone:
            raise DatabaseError(
                f"{self._place()} hold the windows of other queries, which this run would empty: "
                f"{', '.join(sorted(gone))}; give it a `prefix` of its own, or `replace=True` to "
                "give up what is there (where it is the same program: create all queries and "
                "output processors before the first event)"
            )

    def _place(self) -> str:
        return f"the tables `{self._options.prefix}..` in {self._options.place}"

    def push(self, arrivals: Sequence[Arrivals]) -> Iterator[list[Found]]:
        """Takes events (places 0, 1, .. over all streams); gives the results batch by batch.

        EventError, and nothing taken, for a value of a wrong type or a late event. DatabaseError:
        the batches given so far are kept; the rest can be pushed again.
        """
        whole = self._checked(arrivals)
        times = _times(arrivals, self._progress.now_msc)
        size = self._options.batch_events or self._driver.dialect.batch_events
        return self._batches(whole, times, size)

    def push_whole(self, arrivals: Sequence[Arrivals]) -> list[Found]:
        """As `push`, in one transaction, however many they are."""
        whole = self._checked(arrivals)
        times = _times(arrivals, self._progress.now_msc)
        return self._batch(whole, 0, times) if len(times) else []

    def again(self) -> list[Found]:
        """The results of the last batch once more: a restart may have come before their delivery.

        The batch's events are those numbered from `progress.done + 1` to `progress.seq`.
        """
        last = self._progress
        numbers = _numbers(last)
        times = self._times(last, numbers)
        return self._fetched(numbers, self._stepped(last), times, last.done + 1)

    def clear(self, source: str = "", seq: int = 0) -> None:
        """Take away all tables; the next plan begins anew, with event `seq` + 1 of a source."""
        empty = Progress(seq=seq, done=seq, owner=self._options.owner, source=source)

        def drop() -> Progress:
            remove(self._driver, self._progress)
            self._store.save_plan(self._driver, empty)
            return empty

        self._progress = self._committed(drop)
        self._program = None
        self._horizon = Horizon()

    def explain(self) -> str:
        """The steps and how each is done."""
        return "\n".join(program_text(self.program))

    def close(self) -> None:
        """End the connection."""
        self._driver.close()

    def _batches(self, whole: list[Arrivals], times: Ints, size: int) -> Iterator[list[Found]]:
        for start in range(0, len(times), size):
            stop = min(start + size, len(times))
            parts = whole
            if stop - start < len(times):
                parts = [one.between(start, stop) for one in whole]
            yield self._batch([p for p in parts if len(p.places)], start, times[start:stop])

    def _batch(self, parts: list[Arrivals], start: int, times: Ints) -> list[Found]:
        before = self._progress
        after = before.of_batch(before.seq + len(times), int(times[0]), int(times[-1]))

        def run() -> tuple[Progress, list[Found]]:
            return self._run(parts, after, before.seq + 1 - start, times)

        kept = self._in_transaction(run, after)
        if kept is None:
            made = self._known()
        else:
            made, found = kept
        self._progress = made
        self._horizon.remember(self.program.kept, made, parts)
        return self.again() if kept is None else found

    def _run(
        self, parts: list[Arrivals], after: Progress, offset: int, times: Ints
    ) -> tuple[Progress, list[Found]]:
        """One batch inside its transaction."""
        if self._of_late is not None:
            self._of_late.take(parts, offset)
        purged = self._purged(after)
        numbers = _numbers(after)
        last = dict(after.base)
        for part in parts:
            kept = self.program.kept.get(part.stream)
            if kept is not None:
                first = last[part.stream] + 1
                last[part.stream] += len(part.places)
                rows = np.arange(first, last[part.stream] + 1)
                data: list[Any] = [rows, part.places + offset, part.times, *part.columns]
                self._driver.load(kept.table.name, kept.table.c.keys(), data, kept.types)
                self._fill(part.stream, numbers)
        grown = {name for name in last if last[name] > after.base[name]}
        run = list(self._written(numbers, last, grown))
        made = after.with_rows(last, purged)
        found = self._fetched(numbers, run, times, after.done + 1)
        if self._options.may_restart:
            self._store.save(self._driver, made)
        return made, found

    def _written(
        self, numbers: Mapping[BatchNumber, int], last: dict[str, int], grown: set[str]
    ) -> Iterator[Step]:
        """Runs the steps whose inputs have new rows; those that have made any, or may have."""
        for step in self.program.steps:
            if grown.isdisjoint(step.reads):
                continue
            if step.writes is not None and step.insert is not None:
                made = self._driver.execute(step.insert.text, step.insert.bound(numbers))
                if made == 0:
                    continue
                last[step.writes] += made
                grown.add(step.writes)
                self._fill(step.writes, numbers)
            yield step

    def _fill(self, stream: str, numbers: Mapping[BatchNumber, int]) -> None:
        for fill in self.program.kept[stream].fills:
            self._driver.execute(fill.statement.text, fill.statement.bound(numbers))

    def _stepped(self, last: Progress) -> list[Step]:
        """The steps that may have made rows in the last batch."""
        grown = {name for name in last.last if last.last[name] > last.base.get(name, 0)}
        return [
            step
            for step in self.program.steps
            if not grown.isdisjoint([step.writes] if step.writes else step.reads)
        ]

    def _fetched(
        self, numbers: Mapping[BatchNumber, int], steps: Iterable[Step], times: Ints, first: int
    ) -> list[Found]:
        found = []
        for step in steps:
            if step.fetch is not None:
                asked = step.fetch.statement
                columns = self._driver.fetch(asked.text, asked.bound(numbers))
                found.append(Found(step.fetch, columns, times, first))
        return found

    def _times(self, last: Progress, numbers: Mapping[BatchNumber, int]) -> Ints:
        """The times of the last batch's events, as far as a query reads them."""
        times = np.full(last.seq - last.done, last.now_msc, np.int64)
        for name in self.program.sources:
            table = self.program.kept[name].table
            new = sa.select(table.c.seq, table.c.ts).where(table.c.pos > batch_number("base", name))
            asked = Statement.of(self.dialect, new)
            seqs, found = self._driver.fetch(asked.text, asked.bound(numbers))
            times[np.array(values_of(seqs), np.int64) - last.done - 1] = values_of(found)
        return times

    def _purged(self, after: Progress) -> Mapping[str, int]:
        """Takes away what no query needs, if it is worth a statement; up to where, by stream."""
        if not self._horizon.is_time(after):
            return after.purged
        purged = dict(after.purged)
        for name, row in self._horizon.due(self.program.kept, after):
            numbers = _numbers(after)
            numbers |= {
                BatchNumber("gone", name): purged.get(name, 0),
                BatchNumber("purged", name): row,
            }
            for one in self.program.kept[name].purges:
                self._driver.execute(one.text, one.bound(numbers))
            purged[name] = row
        if self._of_late is not None and purged != after.purged:
            self._of_late.forget()
        return purged

    def _checked(self, arrivals: Sequence[Arrivals]) -> list[Arrivals]:
        """The events as tables take them, in the order of time."""
        schemas = self.program.sources
        whole = [checked(one, schemas[one.stream]) for one in arrivals if one.stream in schemas]
        stored = ""
        if self._progress.seq == self._stored:
            stored = (
                f": an earlier run has stored its progress in {self._place()}, {self._stored} "
                "events; push what came after them (`taken` counts them), or use another `prefix`"
            )
        newest_in(arrivals, self._progress.now_msc, stored)
        return whole

    def _begun(self) -> Progress:
        """What is there, at the start."""
        known = self._known()
        self._store.settle(self._driver)
        return known

    def _known(self) -> Progress:
        """What is there."""
        return self._store.load(self._driver).of_owner(self._options.owner, self._options.prefix)

    def _committed(self, work: Callable[[], Progress]) -> Progress:
        """A change of plan, committed. It can be made twice, so it is made again when in doubt."""
        made = self._in_transaction(work)
        assert made is not None, "only a batch can have been committed before"
        return made

    def _in_transaction(self, work: Callable[[], T], after: Progress | None = None) -> T | None:
        """The work, committed; it leads to the progress `after`, if to another at all.

        None: a batch that was committed in an earlier call, which did not hear of it.
        """

        def is_kept() -> bool:
            known = self._known()
            if after is not None and known.seq == after.seq and known.done == after.done:
                return True
            self._need_memory(known)
            return False

        return self._transactions.run(work, is_kept)

    def _need_memory(self, known: Progress) -> None:
        """ForgottenError when a database has forgotten what it was told."""
        before = self._progress.seq
        if known.seq > before:
            self._progress = known
            raise DatabaseError(
                f"the last batch is there already: push what comes after event {known.seq}"
            )
        if known.seq != before:
            self._progress, self._program = known, None
            self._horizon = Horizon()
            raise ForgottenError(before, known.seq)


def _times(arrivals: Sequence[Arrivals], newest_msc: int) -> Ints:
    """The time of each event, in ms; a place that no event takes has the time before it."""
    count = max((int(one.places[-1]) + 1 for one in arrivals if len(one.places)), default=0)
    times = np.full(count, newest_msc, np.int64)
    for one in arrivals:
        times[one.places] = one.times
    filled: Ints = np.maximum.accumulate(times)
    return filled


def _by_slot(begun: Mapping[str, int]) -> Born:
    """`query slot` as two."""
    return {
        (key.rpartition(" ")[0], int(key.rpartition(" ")[2])): rows for key, rows in begun.items()
    }


def _numbers(progress: Progress) -> dict[BatchNumber, int]:
    numbers = {BatchNumber("base", name): rows for name, rows in progress.base.items()}
    return numbers | {
        BatchNumber("first"): progress.first_msc,
        BatchNumber("now"): progress.now_msc,
    }
