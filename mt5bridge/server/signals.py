"""Signals on their way to one terminal, kept until it reports a final result."""

from __future__ import annotations

from dataclasses import dataclass, field

from mt5bridge.wire import Signal, SignalResult, SignalStatus


@dataclass(slots=True)
class _Entry:
    signal: Signal
    waiting: bool = True  # to be sent on this connection
    sent: bool = False  # was sent on some connection


@dataclass(slots=True)
class SignalQueue:
    """Signals without a final result; what was sent is asked again after every reconnect."""

    entries: dict[int, _Entry] = field(default_factory=dict)
    waiting: bool = False

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, signal: Signal) -> None:
        """Queue a signal; one with a known id is the same signal."""
        if signal.id not in self.entries:
            self.entries[signal.id] = _Entry(signal)
            self.waiting = True

    def reconnected(self) -> None:
        """A new connection: ask again what became of everything."""
        for entry in self.entries.values():
            entry.waiting = True
        self.waiting = bool(self.entries)

    def due(self) -> list[Signal]:
        """The signals to send now; each is returned once per connection."""
        if not self.waiting:
            return []
        entries = [entry for entry in self.entries.values() if entry.waiting]
        for entry in entries:
            entry.waiting, entry.sent = False, True
        self.waiting = False
        return [entry.signal for entry in entries]

    def unsent(self, signal_id: int) -> None:
        """The socket did not take this signal; try again."""
        if entry := self.entries.get(signal_id):
            entry.waiting = self.waiting = True

    def settle(self, result: SignalResult) -> None:
        """A final result ends the waiting for it."""
        if result.status.final:
            self.entries.pop(result.id, None)

    def expire(self, utc_msc: int) -> list[SignalResult]:
        """Results for signals that were never sent and are no longer valid."""
        gone = [
            entry.signal
            for entry in self.entries.values()
            if not entry.sent and entry.signal.valid_until_msc < utc_msc
        ]
        results = [_expired(signal, utc_msc) for signal in gone]
        for result in results:
            self.settle(result)
        return results


def _expired(signal: Signal, utc_msc: int) -> SignalResult:
    return SignalResult(
        id=signal.id,
        deal=0,
        order=0,
        time_msc=utc_msc,
        lots=0.0,
        price=0.0,
        retcode=0,
        status=SignalStatus.EXPIRED,
        text="no terminal took it in time",
    )
