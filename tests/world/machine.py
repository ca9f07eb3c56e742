"""The machine that a world's daemon runs on: its clocks, its threads, its chance.

The daemon's own code runs; only what it asks of the machine is another one: `mt5bridge/clock.py`
reads the world's time, a `Worker` is run by the world in turns, and what is drawn at random comes
from the seed.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from cep import daemon
from cep.live import coming, complex_events, rules
from cep.live.garbage import Garbage
from cep.live.journal import Journal
from cep.live.rules import LiveRules
from mt5bridge import clock, proof
from mt5bridge.clock import Now
from mt5bridge.orders import OrderJournal, Syncer, inbox
from mt5bridge.spool import CommitThread, Group, identity
from mt5bridge.worker import Worker
from tests.durability.recording import Killed
from tests.world.compiled import compiled_rules
from tests.world.divided import DividedTurn

KEPT_RECORDS = 65_536, 65_536, 12, 3
"""So many are kept for rules that warm up."""
EPOCH_MSC = 1_700_000_000_000
"""Of the world's first moment, a Tuesday evening in November 2023, UTC."""


@dataclass
class Clocks:
    """The world's time, and how far the daemon's wall clock is from it."""

    ms: int = 10_000
    wrong_ms: int = 0

    @property
    def utc_msc(self) -> int:
        """The true time."""
        return EPOCH_MSC + self.ms

    def time_ns(self) -> int:
        """As the daemon's wall clock has it."""
        return 1_000_000 * (self.utc_msc + self.wrong_ms)

    def monotonic_ns(self) -> int:
        return 1_000_000 * self.ms


@dataclass
class Threads:
    """The daemon's threads. Each makes a turn when the world says so; none runs by itself.

    Those of the disks may be interrupted in it, where they sync: then others make turns, but of
    these threads none that could wait for what the interrupted one holds. Rules that warm up may
    be interrupted before each group that they read.
    """

    turn: DividedTurn
    warming: DividedTurn
    is_dead: Callable[[], bool]
    """Whether the process has ended."""
    jobs: list[Worker] = field(default_factory=list)
    commits: CommitThread | None = None
    syncer: Syncer | None = None
    failures: list[BaseException] = field(default_factory=list)
    """What has ended threads before their time."""

    def begin(self) -> None:
        """Another process."""
        self.finish()
        self.jobs.clear()
        self.failures.clear()
        self.commits = self.syncer = None

    def start(self, worker: Worker) -> Worker:
        """What `Worker.start` does here."""
        owner = getattr(worker._work, "__self__", None)
        if isinstance(owner, CommitThread):
            self.commits = owner
        elif isinstance(owner, Syncer):
            self.syncer = owner
        else:
            self.jobs.append(worker)
        return worker

    def commit(self) -> None:
        """A turn of the thread that writes the spool."""
        commits = self.commits
        if self.turn.is_under_way:
            self.turn.go_on()
        elif commits is not None:
            self.turn.begin(lambda: self._turn(commits._worker, commits.commit))

    def sync(self) -> None:
        """A turn of the thread that writes the order journal."""
        syncer = self.syncer
        if self.turn.is_under_way:
            self.turn.go_on()
        elif syncer is not None and syncer._journal.added.is_set():
            self.turn.begin(lambda: self._turn(syncer._worker, syncer.sync))
        if syncer is not None:
            syncer.turns += 1

    def work(self) -> None:
        """A thread that ends by itself, to the next interruption or to its end."""
        self.turn.finish()
        if self.warming.is_under_way:
            self.warming.go_on()
            return
        if ending := self._ending():
            self.warming.begin(partial(self._whole, ending[0]))

    def _whole(self, worker: Worker) -> None:
        try:
            worker._run()
        finally:
            self.jobs.remove(worker)

    def group(self) -> None:
        """Rules that warm up are about to read a group."""
        if self.is_dead():
            raise Killed
        self.warming.pause()

    def finish(self) -> None:
        """What was interrupted ends."""
        self.warming.finish()
        self.turn.finish()

    @property
    def has_work(self) -> bool:
        """Whether a thread is at work that ends by itself."""
        return any(self._ending())

    def _ending(self) -> list[Worker]:
        return [worker for worker in self.jobs if worker._thread.name not in _ENDLESS]

    def join(self, worker: Worker) -> None:
        """What `Worker.join` does here: its last turn, for it was told to end."""
        self.turn.finish()
        if worker in self.jobs:
            self._end(worker)
        elif worker.failure is None:
            worker._run()
            self._note(worker)

    def _end(self, worker: Worker) -> None:
        """What one of the jobs has left to do."""
        if worker._thread.name in _ENDLESS:
            self.jobs.remove(worker)
            return
        self.warming.finish()
        if worker in self.jobs:
            self._whole(worker)
        self._note(worker)

    def _turn(self, worker: Worker, act: Callable[[], object]) -> None:
        """A thread that has failed makes no more turns."""
        if worker.failure is not None:
            return
        try:
            act()
        except Exception as problem:  # noqa: BLE001 -- as in Worker
            worker.failure = problem
            self._note(worker)
            worker._on_failure(problem)

    def _note(self, worker: Worker) -> None:
        if worker.failure is not None:
            self.failures.append(worker.failure)


_ENDLESS = ("feed thread", "archive thread")
_LOCKED = ((OrderJournal, "sync"), (Journal, "write"), (Journal, "sync"), (Journal, "close"))
"""What waits for a lock that a thread may hold while it syncs."""


def _locked(act: Callable[..., Any], turn: DividedTurn) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        turn.finish()
        return act(*arguments)

    return call


def _reads_groups(threads: Threads) -> Callable[[LiveRules, Iterable[Group]], Iterator[Group]]:
    going = LiveRules.going

    def interrupted(rules: LiveRules, groups: Iterable[Group]) -> Iterator[Group]:
        for group in going(rules, groups):
            threads.group()
            yield group

    return interrupted


class _Secrets:
    """The module `secrets`, from a seed."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def token_hex(self, count: int) -> str:
        return self._chance.randbytes(count).hex()

    def randbits(self, count: int) -> int:
        return self._chance.getrandbits(count)


class _LeftToPython(Garbage):
    """The process goes on after a daemon, so that its garbage is none of the daemon's business."""

    def between_turns(self) -> AbstractContextManager[None]:
        return nullcontext()

    def look(self, now: Now, received: int) -> None:
        pass

    def look_at_all(self) -> None:
        pass


@contextmanager
def installed(clocks: Clocks, threads: Threads, chance: random.Random) -> Iterator[None]:
    """This is the machine that everything runs on, until the end; a MiB of its spool is a KiB."""
    secrets = _Secrets(chance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "time", clocks)
        patch.setattr(daemon, "MEBIBYTE", 1_024)
        patch.setattr(daemon, "Garbage", _LeftToPython)
        patch.setattr(rules, "compile_rules", compiled_rules)
        patch.setattr(LiveRules, "going", _reads_groups(threads))
        patch.setattr(coming, "Kept", partial(coming.Kept, chance.choice(KEPT_RECORDS)))
        patch.setattr(Worker, "start", lambda worker: threads.start(worker))
        patch.setattr(Worker, "join", lambda worker, _timeout_s=None: threads.join(worker))
        patch.setattr(Worker, "is_alive", property(lambda worker: worker in threads.jobs))
        names = SimpleNamespace(uuid4=lambda: uuid.UUID(int=chance.getrandbits(128), version=4))
        patch.setattr(identity, "uuid", names)
        for owner, name in _LOCKED:
            patch.setattr(owner, name, _locked(getattr(owner, name), threads.turn))
        for module in (complex_events, inbox, proof):
            patch.setattr(module, "secrets", secrets)
        yield
