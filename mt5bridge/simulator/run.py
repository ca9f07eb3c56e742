"""The simulated terminal on a real socket."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Event
from typing import Protocol

from loguru import logger

from mt5bridge import clock as clocks
from mt5bridge.client import ClientState, Connection
from mt5bridge.client.connection import Change
from mt5bridge.clock import Clock
from mt5bridge.simulator.terminal import Terminal
from mt5bridge.wire import Bye, Error, ErrorCode, Frame, WireError, decode, encode

_POLL_MS = 2
_GOODBYE_MS = 200
_PATIENCE_MS = 15_000  # with an identity that is in use, perhaps by a dead connection


class RefusedError(RuntimeError):
    """The daemon will not talk to this terminal; says why."""


class NotLetInError(RefusedError):
    """Its credential is not one of this daemon."""


class Observer(Protocol):
    """Watches what passes the socket."""

    def sent(self, data: bytes) -> None:
        """These bytes were handed to the socket."""

    def received(self, frame: Frame) -> None:
        """This frame has arrived."""


class Runner:
    """One thread's loop around a terminal and its connection."""

    def __init__(
        self,
        terminal: Terminal,
        connection: Connection,
        clock: Clock = clocks.now,
        observer: Observer | None = None,
        patience_ms: int = _PATIENCE_MS,
    ) -> None:
        self.terminal = terminal
        self.connection = connection
        self.drops = 0  # connections lost or given up
        self._clock = clock
        self._observer = observer
        self._patience_ms = patience_ms
        self.refusal = ""
        """What the daemon has said last against this terminal, with which it is tried again."""
        self._refused_ms: int | None = None  # since when the identity is said to be in use
        self._backlog: deque[bytes] = deque()

    def run(self, stop: Event, done: Callable[[], bool], linger_ms: int = 0) -> None:
        """Loop until `stop` is set or `done()` has held for `linger_ms`, then say goodbye.

        Raises RefusedError when the daemon will not have this terminal.
        """
        undone_ms = self._clock().ms
        while not stop.is_set():
            if not done():
                undone_ms = self._clock().ms
            elif self._clock().ms - undone_ms >= linger_ms:
                break
            self.step()
        self.connection.send(encode(Bye("the simulation ends")))
        self.connection.drop(self._clock().ms, _GOODBYE_MS)

    def step(self) -> None:
        """Receive, let time pass, send; wait a little when there is nothing to send."""
        self.connection.attempt(self._clock().ms)
        self._receive()
        self._check()
        if not self._send():
            self.connection.poll(_POLL_MS)

    def _receive(self) -> None:
        for message in self.connection.receive():
            try:
                frame = decode(message)
            except WireError as error:
                logger.warning("the daemon sent what is no frame: {}", error)
                continue
            if self._observer:
                self._observer.received(frame)
            self.terminal.receive(frame, self._clock())
        for change in self.connection.changes():
            self._changed(change)

    def _changed(self, change: Change) -> None:
        if change is Change.DENIED:
            raise NotLetInError("user or password is wrong: it is not this daemon's credential")
        if change is Change.FOREIGN:
            raise RefusedError(
                "who listens there does not know the password, so it is not the daemon; it was "
                "told neither the password nor anything else. Which program has the port?"
            )
        if change is Change.UP:
            self.terminal.connected(self._clock())
        else:
            self._drop()

    def _check(self) -> None:
        client = self.terminal.client
        now_ms = self._clock().ms
        if client.state is ClientState.LIVE:
            self._refused_ms, self.refusal = None, ""
        if client.state is ClientState.REFUSED and client.refusal is not None:
            self._refused(client.refusal, now_ms)
            self._drop()
        elif client.silent(self._clock()):
            self._drop()

    def _refused(self, refusal: Error, now_ms: int) -> None:
        self._refused_ms = now_ms if self._refused_ms is None else self._refused_ms
        patient = now_ms - self._refused_ms < self._patience_ms
        if not (patient and refusal.code is ErrorCode.IDENTITY_IN_USE):
            raise RefusedError(refusal.text)
        self.refusal = refusal.text

    def _send(self) -> int:
        disconnect = False
        if not self._backlog:
            sending = self.terminal.step(self._clock())
            self._backlog.extend(sending.messages)
            disconnect = sending.disconnect
        count = 0
        while self._backlog and self.connection.send(self._backlog[0]):
            data = self._backlog.popleft()
            count += 1
            if self._observer:
                self._observer.sent(data)
        if disconnect:
            self._drop()
        return count

    def _drop(self) -> None:
        if self.terminal.client.state is not ClientState.OFFLINE:
            self.drops += 1
        self.terminal.client.disconnected()
        self.connection.drop(self._clock().ms)
        self._backlog.clear()
