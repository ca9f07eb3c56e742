"""The thread behind a subscription: it keeps the connection, and puts what comes into a mailbox."""

from __future__ import annotations

from contextlib import suppress
from threading import Event as Flag

from loguru import logger

from mt5bridge import clock as clocks
from mt5bridge.client.client import Client, ClientState
from mt5bridge.client.connection import Change, Connection
from mt5bridge.client.mailbox import Mailbox
from mt5bridge.clock import Clock
from mt5bridge.wire import Bye, Error, ErrorCode, Event, Subscribed, WireError, decode, encode

_POLL_MS = 50
_GOODBYE_MS = 200
_PATIENCE_MS = 15_000
"""With an identity that is in use, perhaps by the dead connection of a program that was killed."""
QUEUED_MAX = 1_000
"""Events that wait for the program. With more the connection is given up until half of them are
taken: the daemon keeps what comes meanwhile, and neither side's memory grows."""

Item = Event | Subscribed


class SubscriptionError(RuntimeError):
    """The daemon will not have this subscriber; the text says why."""


class Listener:
    """Belongs to its thread, but for `stop` and `taken`."""

    def __init__(
        self,
        client: Client,
        connection: Connection,
        mailbox: Mailbox[Item],
        clock: Clock = clocks.now,
        queued_max: int = QUEUED_MAX,
    ) -> None:
        self.drops = 0  # connections lost or given up
        self._client = client
        self._connection = connection
        self._mailbox = mailbox
        self._clock = clock
        self._queued_max = queued_max
        self._is_full = False
        self._refused_ms: int | None = None  # since when the identity is said to be in use
        self._told = client.subscribed
        self.heard = Flag()
        """The daemon has said what there is, or it has ended."""
        self._stop = Flag()

    def stop(self) -> None:
        """End `run` soon."""
        self._stop.set()
        self._wake()

    def taken(self) -> None:
        """The program has taken something: there may be room again."""
        if self._is_full and len(self._mailbox) <= self._queued_max // 2:
            self._wake()

    def run(self) -> None:
        """Listen until `stop` is called or the daemon refuses."""
        failure: Exception | None = None
        try:
            while not self._stop.is_set():
                self.step()
            self._connection.send(encode(Bye("the program ends")))
        except Exception as problem:  # noqa: BLE001 -- raised where the program takes the next one
            failure = problem
        self._connection.close(_GOODBYE_MS)
        self._mailbox.close(failure)
        self.heard.set()

    def step(self) -> None:
        """Receive, hand on, send; wait a little."""
        if self._is_full and len(self._mailbox) > self._queued_max // 2:
            self._connection.poll(_POLL_MS)
            return
        self._is_full = False
        self._connection.attempt(self._clock().ms)
        self._receive()
        self._hand_on()
        self._check()
        for frame in self._client.outgoing(self._clock()):
            self._connection.send(encode(frame))
        self._connection.poll(_POLL_MS)

    def _wake(self) -> None:
        with suppress(OSError):  # it has ended by itself
            self._connection.wake()

    def _receive(self) -> None:
        for message in self._connection.receive():
            try:
                frame = decode(message)
            except WireError as error:
                logger.warning("the daemon sent what is no frame: {}", error)
                continue
            self._client.receive(frame, self._clock())
            self._hand_on()
        for change in self._connection.changes():
            self._changed(change)

    def _hand_on(self) -> None:
        """What the client has taken, in order."""
        if self._client.subscribed is not self._told and self._client.subscribed is not None:
            self._told = self._client.subscribed
            self._mailbox.put(self._told)
            self.heard.set()
        for event in self._client.events:
            self._mailbox.put(event)
        self._client.events.clear()

    def _changed(self, change: Change) -> None:
        if change is Change.DENIED:
            raise SubscriptionError("wrong user, password or key: not a credential of this daemon")
        if change is Change.FOREIGN:
            raise SubscriptionError(
                "who listens there does not know the password, so it is not the daemon. Which "
                "program has the port?"
            )
        if change is Change.UP:
            self._client.connected(self._clock())
        else:
            self._drop()

    def _check(self) -> None:
        client, now = self._client, self._clock()
        if client.state is ClientState.LIVE:
            self._refused_ms = None
        if client.state is ClientState.REFUSED and client.refusal is not None:
            self._refused(client.refusal, now.ms)
            self._drop()
        elif client.silent(now):
            self._drop()
        elif len(self._mailbox) > self._queued_max:
            self._is_full = True
            self._drop()

    def _refused(self, refusal: Error, now_ms: int) -> None:
        self._refused_ms = now_ms if self._refused_ms is None else self._refused_ms
        is_patient = now_ms - self._refused_ms < _PATIENCE_MS
        if not (is_patient and refusal.code is ErrorCode.IDENTITY_IN_USE):
            raise SubscriptionError(refusal.text)

    def _drop(self) -> None:
        if self._client.state is not ClientState.OFFLINE:
            self.drops += 1
        self._client.disconnected()
        self._connection.drop(self._clock().ms)
