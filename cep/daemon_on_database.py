"""The live service with the queries of its rules on a database, which follows the spool."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event

import msgspec
from loguru import logger

from cep.daemon import Daemon
from cep.engine.native import Compiled, Seed
from cep.live.checkpoints import SNAPSHOT, Restored
from cep.live.config import Config
from cep.live.follower import PAUSES_S, Follower, Waiting
from cep.live.journal import Journal
from cep.live.on_database import DatabaseRules, Done, batches
from cep.live.pipeline import Caused, OnRows, Pipeline, newest_time_msc
from cep.plan.nodes import Plan
from mt5bridge.spool import Durable, Group, RecordKind, Spool
from mt5bridge.spool import read as read_spool
from mt5bridge.troubles import Effect


class FollowedPipeline(Pipeline):
    """Stores batches; the rules get them behind the disk."""

    def __init__(self, spool: Spool, rules: DatabaseRules, on_rows: OnRows, to: Waiting) -> None:
        super().__init__(spool, rules.run, on_rows)
        self._follower = to

    def _process(self, groups: Sequence[Group], on_rows: OnRows) -> None:
        for group in groups:
            self.heard += group.kind in (RecordKind.TICKS, RecordKind.DEALS)
            self._follower.add(group)


class DatabaseDaemon(Daemon):
    """As `Daemon`; ticks are stored and acknowledged whether the database is there or not."""

    def __init__(self, config: Config) -> None:
        rules = msgspec.structs.replace(config.rules, watch_ms=0)
        super().__init__(msgspec.structs.replace(config, rules=rules))
        self._done: deque[Done] = deque()
        self._is_left = False  # a follower in a database that hangs
        self.acted = 0
        """The last record whose results were acted on."""

    def _compiled(self, plan: Plan, seed: Seed) -> Compiled:
        """Nothing yet: what our engine runs is known when the database is."""
        return Compiled(replace(plan, operators=()), jit=False, seed=seed)

    def _restored(self) -> Restored | None:
        return None

    def _catch_up(self, stack: ExitStack, restored: Restored | None) -> None:
        """Bring the database, our engine and the journal to the end of the spool."""
        found, is_restored = self._found(stack)
        state, folder = self.config.state, self.spool.directory
        self.journal = Journal(state.journal, found.journal_bytes, self.outgoing.journal.write)
        stack.callback(self._close_journal)
        self.effects = self._effects()
        waiting = Waiting(folder, self.spool.durable_ingest)
        self.pipeline = FollowedPipeline(self.spool, self.on_database, self._on_rows, waiting)
        self._act_for(self.plan)
        self._snapshot_at = sys.maxsize
        act = self.effects.act_again if is_restored else self.effects.note
        self.market_msc = 0
        for done in self._stored(folder):
            times = [
                newest_time_msc(g)
                for g in done.groups
                if g.kind in (RecordKind.TICKS, RecordKind.DEALS)
            ]
            self.market_msc = max([self.market_msc, *times])
            self._act_on(done, act)
            self._save_snapshots()
        self.acted = self.on_database.position
        self.follower = Follower(self.on_database, waiting, folder, self._told, self.troubles)
        logger.info("{} stored records", self.spool.durable_ingest)

    def _found(self, stack: ExitStack) -> tuple[Restored, bool]:
        """Where our engine goes on, and whether that is from a snapshot."""
        config, spool = self.config, self.spool
        rules = self.on_database = DatabaseRules(
            config.database, self.plan, self._outputs(self.plan), config.state.folder,
            spool.recovered.spool, jit=config.rules.numba,
            snapshot_records=config.state.snapshot_records, pause=pause,
        )  # fmt: skip
        stack.callback(self._close)
        self.rules = rules.compiled
        found = None
        if self._is_the_same(self.log.newest):
            self.log.cut(spool.durable_ingest)
            found = self.checkpoints.load(self.rules, spool.durable_ingest)
        if found is not None:
            rules.go_on(found.run, found.ingest, spool.directory)
            return found, True
        rules.empty()
        begun = self._begin()
        rules.begin(begun.run, begun.ingest)
        return begun, False

    def _close(self) -> None:
        """Let go of the database, unless it holds the follower."""
        if not self._is_left:
            self.on_database.close()

    def _stored(self, folder: Path) -> Iterator[Done]:
        """What the records lead to that were stored before."""
        rules = self.on_database
        yield from rules.catch_up(folder)
        for groups in batches(read_spool(folder, rules.position + 1), rules.batch_records):
            yield rules.take(groups)

    def _serve(self, stop: Event, ready: Event | None) -> None:
        self.follower.start()
        try:
            super()._serve(stop, ready)
        finally:
            self.follower.stop()
            self._is_left = self.follower.is_alive

    def _on_durable(self, durable: Durable) -> None:
        super()._on_durable(durable)
        self.follower.commit(durable.ingest)

    def _told(self, done: Done) -> None:
        """Called in the follower's thread."""
        self._done.append(done)
        if self.server is not None:
            self.server.wake()

    def _each_turn(self) -> None:
        """Act on what the database has led to since."""
        while self._done:
            self._act_on(self._done[0], self._on_rows)
            self._done.popleft()

    def _act_on(self, done: Done, act: Callable[[Caused], None]) -> None:
        for told, group in done.told():
            act(Caused(told, [group]))
        self.acted = done.ingest
        if done.state is not None:
            self.checkpoints.hold(done.ingest, self.journal.size_bytes, done.state)

    def _on_rows(self, caused: Caused) -> None:
        """Everything that comes here is on disk."""
        self.effects.act(caused, self._send)

    def _snapshot(self) -> None:
        """At the end, if all that was found was acted on; else a restart finds it again."""
        self.sink.counters["database_late"] = self.on_database.late
        self.sink.counters["database_passed_over"] = self.on_database.passed_over
        if not self._done and not self._is_left:
            rules = self.on_database
            with self.troubles.attempt(SNAPSHOT, Effect.GOES_ON):
                state = rules.snapshot()
                if state is not None:
                    self.checkpoints.hold(rules.position, self.journal.size_bytes, state)


def pause(attempt: int) -> None:
    """Between attempts of one batch."""
    Event().wait(PAUSES_S[attempt - 1])
