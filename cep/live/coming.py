"""A rule file on its way into a daemon that serves: it warms up on the spool, beside the server.

What comes meanwhile is stored as ever, and kept for it: it is the first that it acts on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from cep.live.rules import LeftError, LiveRules
from mt5bridge.spool import Group, RecordKind, Spool
from mt5bridge.worker import Worker

KEPT_RECORDS = 65_536
"""So many are kept in memory; rules that are farther behind read on from the spool."""
LEAVE_S = 10.0
"""How long the daemon's end waits for rules that are in the middle of something."""


class Kept:
    """Keeps the newest that is shown, for rules that are not so far yet."""

    def __init__(self, records_max: int = KEPT_RECORDS) -> None:
        self.groups: deque[Group] = deque()
        self.heard = 0
        self.left_out = 0
        """The last record that is not kept any more."""
        self._records = 0
        self._records_max = records_max

    def show(self, group: Group) -> None:
        self.heard += 1
        self._keep(group)

    def flush(self) -> None:
        """Nobody is there yet."""

    def take(self, groups: Sequence[Group]) -> None:
        for group in groups:
            self._keep(group)

    def _keep(self, group: Group) -> None:
        self.groups.append(group)
        self._records += group.width
        while self._records > self._records_max:
            gone = self.groups.popleft()
            self._records -= gone.width
            self.left_out = gone.last_ingest


class Coming:
    """Belongs to the server's thread, but for what `_warm_up` does in one of its own.

    `made` gives the rules, with what is kept for them beside the spool. Those that are there when
    the daemon starts (`is_first`) act on what they find again; others on nothing that was stored
    before they came.
    """

    def __init__(
        self, spool: Spool, made: Callable[[], LiveRules], *, is_first: bool = False
    ) -> None:
        self.kept = Kept()
        """To be shown all that is stored from now on."""
        self.stack = ExitStack()
        self.rules: LiveRules | None = None
        self.is_first = is_first
        self._spool = spool
        self._made = made
        self._before = spool.next_ingest
        self._worker: Worker | None = None
        self._let_go: Callable[[], None] = lambda: None
        self._is_left = False

    @property
    def is_due(self) -> bool:
        """Whether it can begin: what came before it is on the disk, where it is read."""
        return self._worker is None and self._spool.durable_ingest >= self._before - 1

    @property
    def is_at_work(self) -> bool:
        return self._worker is not None and self._worker.is_alive

    @property
    def is_done(self) -> bool:
        """Whether it has come to the end of what was stored when it began, or has failed."""
        return self._worker is not None and not self._worker.is_alive

    @property
    def is_near(self) -> bool:
        """Whether all that it has not seen is kept."""
        return self.rules is not None and self.kept.left_out <= self.rules.pipeline.newest

    @property
    def failure(self) -> BaseException | None:
        return self._worker.failure if self._worker is not None else None

    @property
    def part(self) -> float:
        """How much of what it warms up on it has come past, 0 to 1."""
        rules = self.rules
        pipeline, warm_up = getattr(rules, "pipeline", None), rules.warm_up if rules else None
        done = (pipeline.newest if pipeline else 0) + (warm_up.records if warm_up else 0)
        there = self._spool.next_ingest - 1 + (warm_up.records_max if warm_up else 0)
        return min(1.0, done / max(1, there))

    def begin(self, let_go: Callable[[], None] = lambda: None) -> None:
        """Begin, behind `let_go`; or go on over what was stored since it began the last time."""
        self._let_go = let_go
        self._worker = Worker("warm up rules", self._warm_up).start()

    def wait(self) -> None:
        """Until it is done."""
        if self._worker is not None and self.is_at_work:
            self._worker.join()

    def leave(self) -> None:
        """The daemon ends: what it has written so far a start makes whole."""
        self._is_left = True
        if self.rules is not None:
            self.rules.is_left = True
        if self._worker is not None and self.is_at_work:
            self._worker.join(LEAVE_S)
        if not self.is_at_work:
            self.stack.close()

    def _warm_up(self) -> None:
        self._let_go()
        if self._is_left:
            return
        try:
            if self.rules is None:
                rules = self._made()
                rules.stored, rules.acts_again = self._before - 1, self.is_first
                self.rules, rules.is_left = rules, self._is_left
                rules.recover(self.stack)
            else:
                self.rules.go_on(self._spool.durable_ingest)
        except LeftError:
            pass

    def finish(self, on_failure: Callable[[Exception], None] | None) -> LiveRules:
        """What has come meanwhile, in the server's thread: from here on it is like the others."""
        rules = self.rules
        assert rules is not None and self.is_done and self.is_near
        pipeline = rules.pipeline
        pipeline.on_failure = on_failure
        rules.send_late()
        for group in self.kept.groups:
            if group.ingest <= pipeline.newest:
                continue
            if group.kind is RecordKind.CLOCK:  # never shown together with records
                pipeline.flush()
                pipeline.take([group])
            else:
                pipeline.show(group)
        pipeline.flush()
        return rules
