"""What a daemon tells of itself, as Prometheus asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from cep.live.health import faults
from mt5bridge.clock import now_msc
from mt5bridge.server.status import PositionStatus, Status, TerminalStatus

PREFIX = "mt5cep"


class Figures:
    """A collector of prometheus-client. `newest` gives the status; None before there is one."""

    def __init__(self, newest: Callable[[], Status | None]) -> None:
        self._newest = newest

    def collect(self) -> Iterator[Metric]:
        status = self._newest()
        if status is None:
            return
        counters = CounterMetricFamily(f"{PREFIX}_events", "Counters, by name.", labels=["counter"])
        for name, count in status.counters.items():
            counters.add_metric([name], count)
        yield counters
        dropped = CounterMetricFamily(
            f"{PREFIX}_dropped", "What rules and limits have dropped.", labels=["name", "reason"]
        )
        for name, reasons in status.dropped.items():
            for reason, count in reasons.items():
                dropped.add_metric([name, reason], count)
        yield dropped
        limits = CounterMetricFamily(
            f"{PREFIX}_limit_reached", "How often a limit was reached.", labels=["setting"]
        )
        for limit in status.limits:
            limits.add_metric([limit.setting], limit.times)
        yield limits
        for name, text, value in _plain(status):
            yield GaugeMetricFamily(f"{PREFIX}_{name}", text, value=value)
        troubles = GaugeMetricFamily(
            f"{PREFIX}_trouble", "1 for each that lasts.", labels=["name", "effect"]
        )
        for trouble in status.troubles:
            troubles.add_metric([trouble.name, trouble.effect], 1)
        yield troubles
        yield from _positions(status)
        yield from _terminals(status)


def _plain(status: Status) -> Iterator[tuple[str, str, float]]:
    yield "healthy", "1 when nothing has to wait for what fails.", not faults(status, now_msc())
    yield "halted", "1 while the kill switch is on.", status.halted
    yield "memory_bytes", "Memory of the process.", status.memory_bytes
    yield "start_time_seconds", "When it began, since 1970.", status.since_msc / 1_000
    taken_s = status.written_msc / 1_000
    yield "status_time_seconds", "When these figures were taken, since 1970.", taken_s


def _positions(status: Status) -> Iterator[Metric]:
    for name, text, value in _OF_POSITIONS:
        family = GaugeMetricFamily(
            f"{PREFIX}_position_{name}", text, labels=["account", "symbol", "strategy", "position"]
        )
        for one in status.positions:
            place = [one.account, one.symbol, one.strategy, str(one.position)]
            family.add_metric(place, value(one))
        yield family


def _terminals(status: Status) -> Iterator[Metric]:
    for name, (text, value) in _OF_TERMINALS.items():
        family = GaugeMetricFamily(f"{PREFIX}_terminal_{name}", text, labels=["terminal"])
        for terminal in status.terminals:
            found = value(terminal)
            if found is not None:
                family.add_metric([terminal.identity], found)
        yield family


def _equity(terminal: TerminalStatus) -> float | None:
    return terminal.account_state.equity if terminal.account_state else None


_OF_POSITIONS: tuple[tuple[str, str, Callable[[PositionStatus], float]], ...] = (
    ("lots", "Held; negative: sold.", lambda one: one.held),
    ("difference_lots", "What other hands have closed.", lambda one: one.held - one.meant),
)
_OF_TERMINALS: dict[str, tuple[str, Callable[[TerminalStatus], float | None]]] = {
    "connected": ("1 while it is connected.", lambda one: one.connected),
    "complete_time_seconds": (
        "Up to when its ticks are complete, since 1970.",
        lambda one: one.complete_msc / 1_000,
    ),
    "round_trip_seconds": ("As it measured it.", lambda one: one.round_trip_us / 1e6),
    "unanswered": ("Signals and orders without a result.", lambda one: one.unanswered),
    "records_durable": ("Records on disk.", lambda one: sum(s.durable for s in one.streams)),
    "equity": ("Of its account, in its currency.", _equity),
}
