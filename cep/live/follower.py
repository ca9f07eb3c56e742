"""A database that follows the spool in a thread of its own: nobody waits for it.

It gets what is on disk, so that it never knows more than a crash leaves. When it is away, records
stay in the spool, and it takes them from there when it is back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Lock

from loguru import logger

from cep.database.errors import DatabaseError, ForgottenError
from cep.live.on_database import DatabaseRules, Done, batches
from mt5bridge.spool import Group, SpoolError
from mt5bridge.spool import read as read_spool
from mt5bridge.troubles import Effect, Troubles, is_full, told

QUEUE_RECORDS = 200_000
"""So many wait in memory; what is more is read from the spool again."""
PAUSES_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Between attempts at a batch; then the last one again and again."""
IDLE_S = 0.5
STOP_WAIT_S = 10.0
DATABASE = "database"


class Waiting:
    """Groups that the database has not taken yet, with those on disk told from the rest."""

    def __init__(self, directory: Path, durable: int) -> None:
        self._directory = directory
        self._durable = durable
        self._queue: deque[Group] = deque()
        self._records = 0
        self._from = durable + 1  # the queue has all groups from this record on
        self._mutex = Lock()

    def add(self, group: Group) -> None:
        """A group that has just been appended to the spool."""
        with self._mutex:
            if self._records + group.width > QUEUE_RECORDS:
                self._queue.clear()
                self._records = 0
                self._from = group.last_ingest + 1
                return
            self._queue.append(group)
            self._records += group.width

    def leave_to_disk(self, ingest: int) -> None:
        """What is stored up to this record nobody adds: it is read from disk."""
        self._from = max(self._from, ingest + 1)

    def commit(self, ingest: int) -> None:
        """All records up to this one are on disk."""
        self._durable = ingest

    def after(self, position: int) -> Iterator[Group]:
        """Groups on disk that hold records after a position, oldest first."""
        durable = self._durable
        with self._mutex:
            while self._queue and self._queue[0].last_ingest <= position:
                self._records -= self._queue.popleft().width
            from_memory = [one for one in self._queue if one.last_ingest <= durable]
            start = self._from
        if position + 1 < start:
            for group in read_spool(self._directory, position + 1):
                if group.ingest >= start or group.last_ingest > durable:
                    break
                yield group
        yield from from_memory


class Follower:
    """The thread. `told` is called in it with what each batch has led to.

    A database that is away is one of `troubles`, with which everything else goes on.
    """

    def __init__(
        self,
        rules: DatabaseRules,
        waiting: Waiting,
        directory: Path,
        told: Callable[[Done], None],
        troubles: Troubles | None = None,
    ) -> None:
        self.waiting = waiting
        self._rules = rules
        self._directory = directory
        self._told = told
        self._stop = Event()
        self._arrived = Event()
        self._troubles = troubles or Troubles()
        self._worker = self._troubles.worker("database thread", self._work)

    def start(self) -> None:
        self._worker.start()

    def stop(self) -> None:
        """Finish the batch at hand, and no other; of a database that hangs, leave it."""
        self._stop.set()
        self._arrived.set()
        self._worker.join(STOP_WAIT_S)
        if self.is_alive:
            logger.error("the database does not answer; the next start goes on with what it has")

    @property
    def is_alive(self) -> bool:
        """Whether the thread is at work, so that nobody else may touch the rules."""
        return self._worker.is_alive

    def commit(self, ingest: int) -> None:
        """All records up to this one are on disk."""
        self.waiting.commit(ingest)
        self._arrived.set()

    def _work(self) -> None:
        while not self._stop.is_set():
            self._arrived.clear()
            if not self._follow():
                self._arrived.wait(IDLE_S)

    def _follow(self) -> bool:
        """Take what there is; whether there was anything."""
        found = False
        groups = self.waiting.after(self._rules.position)
        try:
            for batch in batches(groups, self._rules.batch_records):
                found = True
                self._name_missing(batch[0])
                done = self._taken(batch)
                if done is None:
                    break
                self._told(done)
        except SpoolError as problem:  # a segment went while it was read
            logger.warning("{}", problem)
        except OSError as problem:  # nothing of what could not be read is taken: once more, later
            if not is_full(problem):
                raise
            self._complain(told(problem))
            return False
        return found

    def _name_missing(self, group: Group) -> None:
        """Say which records the spool has given up before the database could take them."""
        first = self._rules.position + 1
        if group.ingest > first:
            logger.error(
                "records {} to {} have left the spool before the database was back; they are in "
                "the archive, and missing in the windows of the database",
                first,
                group.ingest - 1,
            )

    def _taken(self, groups: list[Group]) -> Done | None:
        """What groups lead to, however long the database is away; None at the end."""
        attempt = 0
        while not self._stop.is_set():
            try:
                done = self._rules.take(groups)
            except ForgottenError as problem:
                logger.warning("{}", problem)
                self._remember()
            except DatabaseError as problem:
                self._complain(problem)
            else:
                self._troubles.clear(DATABASE)
                return done
            self._stop.wait(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
            attempt += 1
        return None

    def _remember(self) -> None:
        try:
            self._rules.remember(self._directory)
        except DatabaseError as problem:
            self._complain(problem)

    def _complain(self, problem: object) -> None:
        text = f"it takes nothing from record {self._rules.position + 1} on: {problem}"
        self._troubles.report(DATABASE, text, Effect.GOES_ON)
