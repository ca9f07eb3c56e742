"""Signals on their way to one terminal, kept until it reports a final result."""

from __future__ import annotations

from mt5bridge.wire import Signal, SignalResult


class SignalQueue:
    """Signals without a final result; they are sent again on every new connection.

    Only the terminal judges whether a signal has expired: it alone knows whether it traded.
    """

    def __init__(self) -> None:
        self._open: dict[int, Signal] = {}
        self._waiting: dict[int, Signal] = {}  # to be sent on this connection

    def __len__(self) -> int:
        return len(self._open)

    def add(self, signal: Signal) -> None:
        """Queue a signal; one with a known id is the same signal."""
        if signal.id not in self._open:
            self._open[signal.id] = self._waiting[signal.id] = signal

    def reconnected(self) -> None:
        """A new connection: ask again what became of everything."""
        self._waiting = dict(self._open)

    def due(self) -> list[Signal]:
        """The signals to send now; each is returned once per connection."""
        signals = list(self._waiting.values())
        self._waiting.clear()
        return signals

    def unsent(self, signal: Signal) -> None:
        """The socket did not take this signal; try again."""
        self._waiting[signal.id] = signal

    def settle(self, result: SignalResult) -> None:
        """A final result ends the waiting for it."""
        if result.status.final:
            self._open.pop(result.id, None)
            self._waiting.pop(result.id, None)
