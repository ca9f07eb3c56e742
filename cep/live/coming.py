"""A rule file on its way into a daemon that runs: it warms up on the spool, beside the server.

Nothing is sent for what it finds there. What comes meanwhile is kept for it, and is the first that
it acts on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from cep.live.rules import LiveRules
from mt5bridge.spool import Group, Spool
from mt5bridge.worker import Worker


class Kept:
    """Keeps what is shown, for rules that are not so far yet."""

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.heard = 0

    def show(self, group: Group) -> None:
        self.heard += 1
        self.groups.append(group)

    def flush(self) -> None:
        """Nobody is there yet."""

    def take(self, groups: Sequence[Group]) -> None:
        self.groups.extend(groups)


class Coming:
    """Belongs to the server's thread, but for what `_warm_up` does in one of its own.

    `made` reads the rules and gives them what is kept for them beside the spool.
    """

    def __init__(self, spool: Spool, made: Callable[[], LiveRules]) -> None:
        self.kept = Kept()
        """To be shown all that is stored from now on."""
        self.stack = ExitStack()
        self.rules: LiveRules | None = None
        self._spool = spool
        self._made = made
        self._before = spool.next_ingest
        self._worker: Worker | None = None

    @property
    def is_due(self) -> bool:
        """Whether it can begin: what came before it is on the disk, where it is read."""
        return self._worker is None and self._spool.durable_ingest >= self._before - 1

    def begin(self) -> None:
        self._worker = Worker("warm up rules", self._warm_up).start()

    @property
    def is_done(self) -> bool:
        """Whether it is at the end of what was stored, or has failed."""
        return self._worker is not None and not self._worker.is_alive

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
        return done / max(1, there)

    def leave(self) -> None:
        """The daemon ends: what it has written so far a start makes whole."""
        if self._worker is None or self.is_done:
            self.stack.close()

    def _warm_up(self) -> None:
        self.rules = self._made()
        self.rules.acts_again = False
        self.rules.recover(self.stack)

    def catch_up(self, on_failure: Callable[[Exception], None]) -> LiveRules:
        """What has come meanwhile, in the server's thread: from here on it is like the others."""
        rules = self.rules
        assert rules is not None and self.is_done
        rules.pipeline.on_failure = on_failure
        for group in self.kept.groups:
            if group.ingest > rules.pipeline.newest:
                rules.pipeline.show(group)
        rules.pipeline.flush()
        return rules
