"""What surrounds a daemon that serves: status, metrics, alerts, its supervisor, new settings.

Belongs to the server's thread, which calls `look` between two turns; none of it waits for anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from loguru import logger

from cep.live.alerts import Alerts, begin_alerts
from cep.live.config import Config, ConfigError, limits_of
from cep.live.credentials import CredentialWatch
from cep.live.log import Log
from cep.live.memory import Memory
from cep.live.outgoing import Outgoing
from cep.live.rule_files import RuleFiles
from cep.live.settings_reload import differing, is_reloaded, taken_over, with_loaded
from cep.live.status_file import StatusFile
from cep.live.supervisor import Supervisor
from mt5bridge.clock import Now
from mt5bridge.server import Server, Sink
from mt5bridge.troubles import Troubles

Reread = Callable[[], Config]
"""Reads the settings file once more. ConfigError."""
LOG = "the log"
"""The name of the trouble when entries of the log cannot be written."""


class Operations:
    """From `begin` to the end of its stack."""

    def __init__(
        self, config: Config, sink: Sink, troubles: Troubles, reread: Reread | None, log: Log | None
    ) -> None:
        self.config = config
        self._sink, self._troubles = sink, troubles
        self._reread, self._log = reread, log
        self._log_failures: dict[str, str] = {}
        self._alerts: Alerts | None = None
        self._is_asked = False
        self._supervisor = Supervisor()
        self._memory = Memory(config.server.memory_max_mib, sink, troubles)

    @contextmanager
    def alerting(self) -> Iterator[None]:
        """Around all that a daemon does: what goes wrong at its start, or ends it, is told, too."""
        self._alerts = begin_alerts(self.config.alerts, self._sink)
        try:
            yield
        finally:
            self._end_alerts()

    def begin(self, stack: ExitStack, server: Server, rules: RuleFiles, outgoing: Outgoing) -> None:
        """Terminals are served from now on."""
        self._server, self._rules, self._outgoing = server, rules, outgoing
        self._credentials = CredentialWatch(self.config, server)
        self._status = StatusFile(self.config, server, self._troubles, rules, outgoing)
        stack.callback(self._status.end)
        if self.config.metrics.bind is not None:
            self._listen(stack)

    def serve(self, stack: ExitStack) -> None:
        """Terminals can connect."""
        stack.callback(self._supervisor.stopping)
        self._supervisor.ready()

    def look(self, now: Now) -> None:
        """To be called often."""
        if self._is_asked:
            self._is_asked = False
            self._reload()
        self._look_at_log()
        self._memory.look(now)
        self._status.look(now)
        self._supervisor.look(now)
        self._credentials.look(now)

    def _look_at_log(self) -> None:
        """What it cannot write is told by the status, where nobody can read it in the log."""
        if self._log is None or not self._log.lost:
            return
        self._sink.counters["log_lost"] = self._log.lost
        before, self._log_failures = self._log_failures, dict(self._log.failures)
        if self._log_failures == before:
            return
        if self._log_failures:
            told = ", ".join(f"{name}: {why}" for name, why in self._log_failures.items())
            self._troubles.note(LOG, f"entries are lost: {told}")
        else:
            self._troubles.clear(LOG)

    def reload(self) -> None:
        """Read settings and rules once more, soon; may be called from a handler of a signal."""
        self._is_asked = True

    def _listen(self, stack: ExitStack) -> None:
        from cep.live.endpoint import Endpoint

        endpoint = Endpoint(self.config.metrics, lambda: self._status.newest, self._troubles)
        endpoint.start()
        stack.callback(endpoint.close)
        logger.info("/metrics and /health at http://{}:{}", *endpoint.server_address[:2])

    def _end_alerts(self) -> None:
        if self._alerts is not None:
            self._alerts.close()

    def _reload(self) -> None:
        logger.info("asked to reload")
        self._rules.reload()
        if self._reread is None:
            return
        try:
            new = self._reread()
            loaded = {one.name for one in self._rules.status()}
            self.config = with_loaded(self.config, new, loaded)
            names = differing(self.config, new)
            self._take_over(new, names)
        except (ConfigError, OSError) as problem:
            logger.error("{}; the settings stay as they are", problem)
            return
        waiting = [name for name in names if not is_reloaded(name)]
        taken = [name for name in names if is_reloaded(name)]
        logger.info("settings taken over: {}", ", ".join(taken) or "none has changed")
        if waiting:
            logger.warning("settings that wait for a restart: {}", ", ".join(waiting))

    def _take_over(self, new: Config, names: list[str]) -> None:
        config = taken_over(self.config, new)
        if any(name.startswith("[alerts]") for name in names):
            alerts = begin_alerts(config.alerts, self._sink)  # ConfigError: nothing has changed
            self._end_alerts()
            self._alerts = alerts
        if self._log is not None and any(name.startswith(("log_level", "[log]")) for name in names):
            self._log.begin(config)
        self._outgoing.desk.change_limits(limits_of(config))
        self._memory.change(config.server.memory_max_mib)
        self.config = config
