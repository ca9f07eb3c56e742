"""The rules of a daemon with their queries on a database, which follows the spool.

Ticks are stored and acknowledged whether the database is there or not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event

from loguru import logger

from cep.live.checkpoints import SNAPSHOT, Restored
from cep.live.config import MAIN, Config, ConfigError
from cep.live.follower import PAUSES_S, Follower, Waiting
from cep.live.on_database import DatabaseRules, Done, batches
from cep.live.pipeline import Caused, OnRows, Pipeline, newest_time_msc
from cep.live.rules import LiveRules
from mt5bridge.clock import Now
from mt5bridge.spool import Durable, Group, RecordKind
from mt5bridge.troubles import Effect

MARKET = RecordKind.TICKS, RecordKind.DEALS


class FollowedPipeline(Pipeline):
    """The rules get what is stored behind the disk."""

    def __init__(self, rules: DatabaseRules, on_rows: OnRows, to: Waiting) -> None:
        super().__init__(rules.run, on_rows)
        self._follower = to

    def _process(self, groups: Sequence[Group], on_rows: OnRows) -> None:
        for group in groups:
            self.heard += group.kind in MARKET
            self._follower.add(group)


class RulesOnDatabase(LiveRules):
    """A changed rule file waits for a restart."""

    on_database: DatabaseRules
    follower: Follower

    def __init__(self, config: Config, name: str = MAIN) -> None:
        if config.rules.warm_up_days:
            raise ConfigError(
                "[rules] warm_up_days: queries on a database begin with the spool; leave it out"
            )
        super().__init__(config, name)
        self._done: deque[Done] = deque()
        self._is_left = False  # a follower in a database that hangs
        self.acted = 0
        """The last record whose results were acted on."""

    def catch_up(self, stack: ExitStack) -> None:
        """Bring the database, our engine and the journal to the end of the spool."""
        found = self._found(stack)
        folder = self.spool.directory
        self.open_journal(stack, found)
        waiting = Waiting(folder, self.stored)
        self.pipeline = FollowedPipeline(self.on_database, self.on_rows, waiting)
        self.act_for(self.plan)
        self.market_msc = 0
        for done in self._stored(folder):
            times = [newest_time_msc(group) for group in done.groups if group.kind in MARKET]
            self.market_msc = max([self.market_msc, *times])
            self._act_on(done, self.act_on_stored)
            self.pipeline.newest = done.ingest
            self.save()
        self.acted, self.pipeline.newest = self.on_database.position, self.stored
        self.follower = Follower(self.on_database, waiting, folder, self._told, self.troubles)
        logger.info("{} stored records", self.stored)
        self.pipeline.run.warm_up()

    def go_on(self, until: int) -> None:
        self.follower.waiting.leave_to_disk(until)
        self.pipeline.newest = until

    def _found(self, stack: ExitStack) -> Restored:
        """Where our engine goes on."""
        config, spool = self.config, self.spool
        rules = self.on_database = DatabaseRules(
            config.database, self.plan, self.outputs, config.state.folder,
            spool.recovered.spool, jit=config.rules.numba,
            snapshot_records=config.state.snapshot_records, pause=pause,
        )  # fmt: skip
        stack.callback(self._close)
        self.compiled = rules.compiled
        found = None
        if self.is_the_same(self.log.newest):
            self.log.cut(self.stored)
            found = self.checkpoints.load(self.compiled, self.stored)
        if found is not None:
            rules.go_on(found.run, found.ingest, spool.directory)
            return found
        rules.empty()
        begun = self.begun()
        rules.begin(begun.run, begun.ingest)
        return begun

    def _close(self) -> None:
        """Let go of the database, unless it holds the follower."""
        if not self._is_left:
            self.on_database.close()

    def _stored(self, folder: Path) -> Iterator[Done]:
        """What the records lead to that were stored before."""
        rules = self.on_database
        yield from rules.catch_up(folder)
        for groups in batches(self.behind(rules.position, self.stored), rules.batch_records):
            yield rules.take(groups)

    def begin(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.follower.commit(self.spool.durable_ingest)
        self.follower.start()

    def end(self) -> None:
        self.follower.stop()
        self._is_left = self.follower.is_alive

    def look(self, now: Now) -> None:
        """Act on what the database has led to since."""
        while self._done:
            self._act_on(self._done[0], self.on_rows)
            self._done.popleft()

    def reload(self) -> None:
        logger.warning("with queries on a database rules are read at the start only")

    def on_durable(self, durable: Durable) -> None:
        self.follower.commit(durable.ingest)

    def on_taken(self) -> None:
        self.pipeline.flush()

    def send_held(self) -> None:
        """Nothing waits: what the database has seen is on disk."""

    def _told(self, done: Done) -> None:
        """Called in the follower's thread."""
        self._done.append(done)
        self._wake()

    def _act_on(self, done: Done, act: Callable[[Caused], None]) -> None:
        for told, group in done.told():
            act(Caused(told, [group]))
        self.acted = done.ingest
        if done.state is not None:
            size, events = self.journal.size_bytes, self.events.state()
            self.checkpoints.hold(done.ingest, size, done.state, events)

    def on_rows(self, caused: Caused) -> None:
        """Everything that comes here is on disk."""
        self.effects.act(caused, self.outgoing.signal)

    def snapshot(self) -> None:
        """At the end, if all that was found was acted on; else a restart finds it again."""
        self.sink.counters["database_late"] = self.on_database.late
        self.sink.counters["database_passed_over"] = self.on_database.passed_over
        if not self._done and not self._is_left:
            rules = self.on_database
            with self.troubles.attempt(SNAPSHOT, Effect.GOES_ON):
                state = rules.snapshot()
                if state is not None:
                    size, events = self.journal.size_bytes, self.events.state()
                    self.checkpoints.hold(rules.position, size, state, events)


def pause(attempt: int) -> None:
    """Between attempts of one batch."""
    Event().wait(PAUSES_S[attempt - 1])
