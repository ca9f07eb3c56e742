"""A server in a thread, and simulated terminals on real TCP."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

import numpy as np

from mt5bridge.client import Connection
from mt5bridge.credential import Credential
from mt5bridge.position import START, Position
from mt5bridge.records import Records
from mt5bridge.server import Batch, Gap, Outcome, Server, Settings, Sink, StreamKey
from mt5bridge.simulator import (
    Runner,
    Terminal,
    Walk,
    random_walk,
)
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.waiting import LONG_MS, LONG_S, deadline
from tests.waiting import wait_until as wait_until

SETTINGS = Settings(
    bind="tcp://127.0.0.1:*",
    heartbeat_ms=100,
    timeout_ms=LONG_MS,
    resend_after_ms=50,
    passwords=PASSWORDS,
)


class Daemon:
    """Acknowledges what it takes at once; `stored` outlives restarts, like a disk."""

    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.settings = settings
        self.stored: dict[tuple[str, StreamKey], list[Batch]] = defaultdict(list)
        self.positions: dict[tuple[str, StreamKey], Position] = {}
        self.gaps: list[Gap] = []
        self.outcomes: list[Outcome] = []
        self.on_batch: Callable[[Batch], None] = lambda _batch: None
        self.on_start: Callable[[Server], None] = lambda _server: None

    def __enter__(self) -> Daemon:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        sink = Sink(on_batch=self._take, on_gap=self._take_gap, on_outcome=self.outcomes.append)
        with ExitStack() as stack:
            self.server = Server(self.settings, sink, self.positions)
            stack.callback(self.server.close)
            self.on_start(self.server)
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self.server.run, args=(self._stop,))
            self._thread.start()
            stack.pop_all()

    def stop(self) -> None:
        self._stop.set()
        self.server.wake()
        self._thread.join(LONG_S)
        assert not self._thread.is_alive()
        self.server.close()

    def records(self, identity: str, stream: StreamKey) -> Records:
        """All records of a stream; fails if a sequence is missing, repeated or out of order."""
        batches = self.stored[identity, stream]
        expected = 1
        for batch in batches:
            assert batch.first == expected
            expected = batch.last + 1
        return np.concatenate([batch.records for batch in batches])

    def _take(self, batch: Batch) -> bool:
        key = (batch.identity, batch.stream)
        self.stored[key].append(batch)
        self.positions[key] = self.positions.get(key, START).advanced(batch.last, batch.records)
        self.server.acknowledge(*key, batch.last)
        self.on_batch(batch)
        return True

    def _take_gap(self, gap: Gap) -> bool:
        self.gaps.append(gap)
        return True


def walks(names: str, count: int) -> dict[str, Records]:
    """Ticks for each letter's symbol."""
    return {name: random_walk(Walk(ticks=count, seed=number)) for number, name in enumerate(names)}


@contextmanager
def running(runner: Runner) -> Iterator[None]:
    """The runner in a thread of its own, until the block ends."""
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(stop, lambda: False))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        runner.connection.wake()
        thread.join(LONG_S)


def run(terminal: Terminal, daemon: Daemon, credential: Credential = CREDENTIAL) -> Runner:
    """Run a terminal until all its ticks are acknowledged."""
    with Connection(daemon.server.address, credential) as connection:
        runner = Runner(terminal, connection)
        limit = deadline()
        runner.run(threading.Event(), lambda: terminal.finished or limit())
    assert terminal.finished
    return runner
