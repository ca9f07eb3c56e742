"""Writes `status.json`, about once a second."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from cep.live.config import Config
from cep.live.limits import reached
from cep.live.memory import memory_bytes
from cep.live.outgoing import Outgoing
from cep.live.paper import Paper
from cep.live.rule_files import RuleFiles
from cep.live.state_folder import was_left
from mt5bridge import clock
from mt5bridge.clock import Now
from mt5bridge.server import Server
from mt5bridge.server.status import STALE_MS, AccountStatus, Status, running_status, write_status
from mt5bridge.troubles import Effect, Troubles

EVERY_MS = 1_000
SHARE = 100
"""At most one part in so many of the time goes into it, however many symbols there are."""


def status_path(config: Config) -> Path:
    """Where a daemon tells how it stands."""
    return config.state.folder / "status.json"


def running(config: Config) -> Status | None:
    """The status of the daemon that runs now; None when none does."""
    status = running_status(status_path(config), clock.now_msc())
    return None if was_left(config.state.folder) else status


def pause_ms(took_ms: int) -> int:
    """From one writing to the next; never so long that the daemon is taken for dead."""
    return min(max(EVERY_MS, SHARE * took_ms), STALE_MS // 3)


def paper_status(paper: Paper | None) -> AccountStatus | None:
    """How the paper account stands, where there is one."""
    if paper is None:
        return None
    state = paper.funds().account
    return AccountStatus(**{name: getattr(state, name) for name in AccountStatus.__struct_fields__})


class StatusFile:
    """Belongs to the server's thread."""

    def __init__(
        self,
        config: Config,
        server: Server,
        troubles: Troubles,
        rules: RuleFiles | None = None,
        outgoing: Outgoing | None = None,
    ) -> None:
        self._outgoing = outgoing
        self._config = config
        self._server = server
        self._troubles = troubles
        self._rules = rules
        self._path = status_path(config)
        self._next_ms = 0
        self.newest: Status | None = None
        """As it was written last; may be looked at from any thread."""

    def look(self, now: Now) -> None:
        """To be called often."""
        if now.ms < self._next_ms:
            return
        self._write()
        self._next_ms = now.ms + pause_ms(clock.monotonic_ms() - now.ms)

    def status(self) -> Status:
        """How the daemon stands now."""
        sink, rules, outgoing = self._server.sink, self._rules, self._outgoing
        return msgspec.structs.replace(
            self._server.status(),
            limits=list(reached(sink.counters, sink.reasons)),
            memory_bytes=memory_bytes(),
            sends_signals=self._config.signals.send,
            sends_orders=self._config.orders.send,
            dry_run=self._config.risk.dry_run,
            dropped=rules.dropped.by_name() if rules else {},
            rules=rules.status() if rules else [],
            troubles=list(self._troubles),
            paper=paper_status(outgoing.paper if outgoing else None),
            positions=outgoing.positions() if outgoing else [],
            awaited_deals=outgoing.desk.holdings.awaited_count if outgoing else 0,
            unremembered=len(outgoing.desk.book.unremembered) if outgoing else 0,
        )

    def end(self) -> None:
        """The daemon ends: nothing stands any more, but the reason if it is a failure."""
        if self._troubles.end is not None:
            self._write()
        else:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        try:
            self.newest = self.status()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_status(self._path, self.newest)
        except OSError as problem:  # nothing that is acknowledged depends on it
            self._troubles.report(self._path, problem, Effect.GOES_ON)
        else:
            self._troubles.clear(self._path)
