"""Signals and orders on their way to one terminal, kept until it reports a final result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from mt5bridge.wire import ASKED_MAX, Ask, Asked, Order, Signal, SignalResult, SignalStatus

Request: TypeAlias = Signal | Order


class RequestQueue:
    """Requests without a final result; they are sent again on every new connection.

    Only the terminal judges whether a request has expired: it alone knows whether it traded. Those
    that are not to be executed any more are asked about instead.
    """

    def __init__(self) -> None:
        self._open: dict[int, Request] = {}
        self._asked: dict[int, None] = {}
        self._to_send: dict[int, Request] = {}  # on this connection
        self._to_ask: dict[int, None] = {}

    def __iter__(self) -> Iterator[Request]:
        """Those that are sent (again) on a connection."""
        return iter(list(self._open.values()))

    def __contains__(self, number: int) -> bool:
        """Whether a request with this id waits."""
        return number in self._open or number in self._asked

    def __len__(self) -> int:
        return len(self._open) + len(self._asked)

    def add(self, request: Request) -> None:
        """Queue a request; one with a known id is the same request."""
        if request.id not in self._open:
            self._open[request.id] = self._to_send[request.id] = request

    def ask(self, ids: Iterable[int]) -> None:
        """Ask what became of these, and never send them again."""
        for number in ids:
            self._open.pop(number, None)
            self._to_send.pop(number, None)
            self._asked[number] = self._to_ask[number] = None

    def reconnected(self) -> None:
        """A new connection: ask again what became of everything."""
        self._to_send = dict(self._open)
        self._to_ask = dict(self._asked)

    def due(self) -> list[Request | Ask]:
        """What to send now; each is returned once per connection."""
        ids = list(self._to_ask)
        asks = [
            Ask(tuple(map(Asked, ids[at : at + ASKED_MAX]))) for at in range(0, len(ids), ASKED_MAX)
        ]
        due = [*asks, *self._to_send.values()]
        self._to_ask.clear()
        self._to_send.clear()
        return due

    def unsent(self, frame: Request | Ask) -> None:
        """The socket did not take this frame; try again."""
        if isinstance(frame, Ask):
            self._to_ask.update(dict.fromkeys(asked.id for asked in frame.ids))
        elif frame.id in self._open:
            self._to_send[frame.id] = self._open[frame.id]  # not as it was written for the wire

    def settle(self, result: SignalResult) -> None:
        """A final result ends the waiting for it; `unknown` is one where it was asked for."""
        if result.status.final:
            self._open.pop(result.id, None)
            self._to_send.pop(result.id, None)
        if result.status.final or result.status is SignalStatus.UNKNOWN:
            self._asked.pop(result.id, None)
            self._to_ask.pop(result.id, None)
