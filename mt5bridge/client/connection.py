"""A DEALER socket that notices when its connection comes and goes."""

from __future__ import annotations

from enum import Enum
from types import TracebackType
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from mt5bridge.client.proving import Proved, Proving
from mt5bridge.credential import CHALLENGE, Credential
from mt5bridge.curve import CurveIdentity
from mt5bridge.waker import Waker
from mt5bridge.wire import FRAME_BYTES_MAX, Proof, encode

_EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
_BACKOFF_MS = (50, 2_000)  # first and longest wait between attempts
_FRAMES_QUEUED_MAX = 64


class Change(Enum):
    """What happened to the connection."""

    UP = "up"
    DOWN = "down"
    DENIED = "denied"  # wrong user or password
    FOREIGN = "foreign"  # who listens there does not know the password


def introduce(socket: zmq.Socket[Any], credential: Credential) -> None:
    """Let a socket that is not connected yet say who it is."""
    socket.plain_username = credential.user.encode()
    socket.plain_password = credential.password.encode()


def introduce_curve(socket: zmq.Socket[Any], identity: CurveIdentity) -> None:
    """The same by CURVE: it will talk to no other daemon than the one of `identity`."""
    socket.curve_serverkey = identity.daemon.encode()
    socket.curve_publickey = identity.keys.raw
    socket.curve_secretkey = identity.keys.secret.encode()


class Connection:
    """Connects anew with a fresh socket each time, so that nothing old is sent by libzmq.

    A daemon lets nobody in without a credential: `mt5bridge.credential.read_credential` reads the
    one in its state folder. The password is not sent: both sides prove that they know it, and the
    connection is `UP` then. With the keys of `mt5bridge.curve.read_identity` it is encrypted.
    """

    def __init__(self, address: str, credential: Credential | CurveIdentity) -> None:
        self._address = address
        self._credential = credential
        self._is_up = False
        self._proving: Proving | None = None  # until both sides have
        self._happened: list[Change] = []
        self._now_ms = 0
        self._context: zmq.Context[Any] = zmq.Context()
        self._socket: zmq.Socket[bytes] | None = None
        self._monitor: zmq.Socket[bytes] | None = None
        self._waker = Waker()
        self._backoff_ms = _BACKOFF_MS[0]
        self._due_ms = 0

    def attempt(self, now_ms: int) -> None:
        """Begin to connect if no attempt is under way and the time for one has come."""
        self._now_ms = now_ms
        if self._socket is None and now_ms >= self._due_ms:
            self._open()
        elif self._proving is not None and self._proving.is_overdue(now_ms):
            self._happened.append(Change.DOWN)
            self._proving = None

    def poll(self, timeout_ms: int) -> None:
        """Wait until something arrives or happens, or `wake` is called."""
        poller = zmq.Poller()
        poller.register(self._waker.fileno(), zmq.POLLIN)
        for socket in (self._socket, self._monitor):
            if socket is not None:
                poller.register(socket, zmq.POLLIN)
        poller.poll(timeout_ms)
        self._waker.reset()

    def wake(self) -> None:
        """End a waiting `poll`; may be called from any thread."""
        self._waker.wake()

    def changes(self) -> list[Change]:
        """What happened to the connection since the last call."""
        while self._monitor is not None and self._monitor.poll(0):
            event = recv_monitor_message(self._monitor)["event"]
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._stands()
            else:
                self._happened.append(_CHANGES[zmq.Event(event)])
        found, self._happened = self._happened, []
        if Change.UP in found:
            self._backoff_ms = _BACKOFF_MS[0]
        return found

    def receive(self) -> list[bytes]:
        """The messages that have arrived."""
        messages: list[bytes] = []
        while self._socket is not None:
            try:
                message = self._socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                break
            if self._proving is None:
                messages.append(message)
            else:
                self._hear(self._proving, message)
        return messages

    def _stands(self) -> None:
        """The connection stands: ask who is there, if CURVE has not."""
        if isinstance(self._credential, CurveIdentity):
            self._is_up = True
            self._happened.append(Change.UP)
            return
        self._proving = Proving(self._credential, self._now_ms)
        self._put(encode(self._proving.challenge))

    def _hear(self, proving: Proving, message: bytes) -> None:
        """What comes before both sides have proved that they know the password is no frame yet."""
        answer = proving.hear(message)
        if isinstance(answer, Proof):
            self._put(encode(answer))
        else:
            self._is_up = answer is Proved.YES
            self._happened.append(_OUTCOMES[answer])
            self._proving = proving if answer is not Proved.YES else None

    def writable(self) -> bool:
        """Whether `send` would succeed."""
        return self._is_up and self._socket is not None and bool(self._socket.poll(0, zmq.POLLOUT))

    def send(self, data: bytes) -> bool:
        """Send one frame; False when there is no room, or nobody who has proved who it is."""
        return self._is_up and self._put(data)

    def _put(self, data: bytes) -> bool:
        if self._socket is None:
            return False
        try:
            self._socket.send(data, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def drop(self, now_ms: int, linger_ms: int = 0) -> None:
        """Close the connection; the next attempt comes after a growing pause."""
        if self._socket is not None:
            self._socket.disable_monitor()
            self._socket.close(linger_ms)
        if self._monitor is not None:
            self._monitor.close(0)
        self._socket = self._monitor = self._proving = None
        self._is_up = False
        self._happened.clear()
        self._due_ms = now_ms + self._backoff_ms
        self._backoff_ms = min(2 * self._backoff_ms, _BACKOFF_MS[1])

    def close(self, linger_ms: int = 0) -> None:
        """Close for good; wait `linger_ms` for what is still to be sent."""
        self.drop(0, linger_ms)
        self._context.term()
        self._waker.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        socket: zmq.Socket[bytes] = self._context.socket(zmq.DEALER)
        socket.linger = 0
        socket.immediate = True
        socket.sndhwm = socket.rcvhwm = _FRAMES_QUEUED_MAX
        socket.maxmsgsize = FRAME_BYTES_MAX
        socket.reconnect_ivl = -1
        if isinstance(self._credential, CurveIdentity):
            introduce_curve(socket, self._credential)
        else:
            socket.plain_username = self._credential.user.encode()
            socket.plain_password = CHALLENGE.encode()
        self._monitor = socket.get_monitor_socket(_EVENTS | zmq.EVENT_CLOSED)
        self._socket = socket
        socket.connect(self._address)


_OUTCOMES = {Proved.YES: Change.UP, Proved.NO: Change.FOREIGN, Proved.DENIED: Change.DENIED}
_CHANGES = {
    zmq.EVENT_DISCONNECTED: Change.DOWN,
    zmq.EVENT_CLOSED: Change.DOWN,
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: Change.DENIED,
}
