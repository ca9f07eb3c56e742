"""Signals and orders on their way to one terminal, kept until it reports a final result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from mt5bridge.wire import ASKED_MAX, Ask, Asked, Order, Signal, SignalResult, SignalStatus

Request: TypeAlias = Signal | Order


class RequestQueue:
    """Requests without a final result; they are sent again on every new connection.

    Only the terminal judges whether a request has expired: it alone knows whether it traded. Those
    that are not to be executed any more are asked about instead. What is meant for an account waits
    for it (empty: for any): a program on another one never saw it, and would say so.
    """

    def __init__(self) -> None:
        self._open: dict[int, Request] = {}
        self._asked: dict[int, None] = {}
        self._to_send: dict[int, Request] = {}  # on this connection
        self._to_ask: dict[int, None] = {}
        self._accounts: dict[int, str] = {}

    def __iter__(self) -> Iterator[Request]:
        """Those that are sent (again) on a connection."""
        return iter(list(self._open.values()))

    def __contains__(self, number: int) -> bool:
        """Whether a request with this id waits."""
        return number in self._open or number in self._asked

    def is_asked(self, number: int) -> bool:
        """Whether it is only asked what became of a request."""
        return number in self._asked

    def __len__(self) -> int:
        return len(self._open) + len(self._asked)

    def add(self, request: Request, account: str = "") -> None:
        """Queue a request; one with a known id is the same request."""
        if request.id not in self._open:
            self._accounts.setdefault(request.id, account)
            self._open[request.id] = self._to_send[request.id] = request

    def ask(self, ids: Iterable[int], account: str = "") -> None:
        """Ask what became of these, and never send them again."""
        for number in ids:
            self._accounts.setdefault(number, account)
            self._open.pop(number, None)
            self._to_send.pop(number, None)
            self._asked[number] = self._to_ask[number] = None

    def reconnected(self) -> None:
        """A new connection: ask again what became of everything."""
        self._to_send = dict(self._open)
        self._to_ask = dict(self._asked)

    def due(self, account: str = "") -> list[Request | Ask]:
        """What to send now to a program on this account; each is returned once per connection."""
        ids = [number for number in self._to_ask if self._concerns(number, account)]
        asks = [
            Ask(tuple(map(Asked, ids[at : at + ASKED_MAX]))) for at in range(0, len(ids), ASKED_MAX)
        ]
        requests = [one for one in self._to_send.values() if self._concerns(one.id, account)]
        for number in ids:
            del self._to_ask[number]
        for one in requests:
            del self._to_send[one.id]
        return [*asks, *requests]

    def unsent(self, frame: Request | Ask) -> None:
        """The socket did not take this frame; try again."""
        if isinstance(frame, Ask):
            self._to_ask.update(dict.fromkeys(asked.id for asked in frame.ids))
        elif frame.id in self._open:
            self._to_send[frame.id] = self._open[frame.id]  # not as it was written for the wire

    def settle(self, result: SignalResult, account: str = "") -> None:
        """A final result ends the waiting for it; `unknown` is one where it was asked for."""
        is_unknown = result.status is SignalStatus.UNKNOWN
        if is_unknown and not self._concerns(result.id, account):
            return
        if result.status.final:
            self._open.pop(result.id, None)
            self._to_send.pop(result.id, None)
        if result.status.final or is_unknown:
            self._asked.pop(result.id, None)
            self._to_ask.pop(result.id, None)
        if result.id not in self:
            self._accounts.pop(result.id, None)

    def _concerns(self, number: int, account: str) -> bool:
        return self._accounts.get(number, "") in ("", account) or not account
