"""Counts the connections that libzmq hangs up on before anybody is asked."""

from __future__ import annotations

import contextlib
import socket

import zmq
from zmq.utils.monitor import recv_monitor_message

from mt5bridge.server.files import connections_end
from mt5bridge.server.inflow import Inflow, break_off, port_of
from mt5bridge.server.refusals import Refusals

_EVENTS_A_LOOK = 256
_BROKEN_OFF = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
_DENIED = zmq.EVENT_HANDSHAKE_FAILED_AUTH
_OTHER_PROTOCOL = zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
_MECHANISM = zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
_EVENTS = (
    zmq.EVENT_ACCEPTED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_SUCCEEDED
    | _BROKEN_OFF
    | _DENIED
    | _OTHER_PROTOCOL
)
NO_CREDENTIAL = (
    "a connection without user and password. Is it an Expert Advisor of an older version? Run "
    "`mt5cep terminal install`, compile in MetaEditor (F7), and attach it again"
)
NO_ZMTP = (
    "a connection that does not speak ZMTP 3, as a web page's; nothing of what it sent was read. "
    "If it is a program of yours, it needs libzmq 4 or later"
)

TOO_MANY = (
    "more connections than connections_max, {}; one never let in was ended, terminals stay. "
    "End what connects so often, or raise it"
)
NO_FILES = (
    "a connection more than this process may have files open; it was ended, those there are stay. "
    "End what connects so often, or raise `ulimit -n` and start again"
)
BAD_HANDSHAKE = (
    "a connection whose handshake is not the one wanted, or fails; nothing else it sent was read"
)


class Handshakes:
    """Follows a ROUTER's connections until they stand; belongs to the server's thread.

    libzmq says of which connection only when one begins and ends. It hangs up on what is no ZMTP 3
    without another word: an end of a connection that nothing else explains. Of several that shake
    hands at once one may be mistaken for another; this only counts and tells.
    """

    def __init__(
        self,
        router: zmq.Socket[bytes],
        refusals: Refusals,
        inflow: Inflow,
        connections_max: int,
        endpoint: str,
    ) -> None:
        router.monitor(endpoint, _EVENTS)
        self._router = router
        self._end_file = connections_end()
        self.socket: zmq.Socket[bytes] = router.context.socket(zmq.PAIR)
        self.socket.rcvhwm = 0  # else libzmq's own thread would wait when it is full
        self.socket.linger = 0
        self.socket.connect(endpoint)
        self._refusals = refusals
        self._inflow = inflow
        self._most = connections_max
        self._open: dict[int, None] = {}  # files of all connections, the oldest first
        self._begun: set[int] = set()  # connections of which it is not known what became of them
        self._decided = 0  # so many of them stand, or have been denied
        self._has_failed = False  # the next end is explained

    def look(self, now_ms: int) -> None:
        """Take what has happened."""
        for _ in range(_EVENTS_A_LOOK):
            try:
                found = recv_monitor_message(self.socket, zmq.NOBLOCK)
            except zmq.Again:
                return
            self._take(found["event"], found["value"], now_ms)

    def _take(self, event: int, value: int, now_ms: int) -> None:
        if event == zmq.EVENT_ACCEPTED:
            self._begun.add(value)
            self._accept(value, now_ms)
        elif event == zmq.EVENT_DISCONNECTED:
            self._open.pop(value, None)
            self._end(value, now_ms)
        elif event in (zmq.EVENT_HANDSHAKE_SUCCEEDED, _DENIED):
            self._decided += 1
        else:
            self._has_failed = True
            if event == _OTHER_PROTOCOL:
                text = NO_CREDENTIAL if value == _MECHANISM else BAD_HANDSHAKE
                self._refusals.refuse("handshakes_refused", text, now_ms)
        if self._decided >= len(self._begun):
            self._begun.clear()
            self._decided = 0

    def _accept(self, file: int, now_ms: int) -> None:
        """A connection begins. Of too many one goes that was never let in: a flood of those that
        ask for nothing keeps no terminal out.
        """
        self._inflow.accepted(file)
        self._open.pop(file, None)
        self._open[file] = None
        if file >= self._end_file:
            self._turn_away(file, NO_FILES, now_ms)
        elif len(self._open) > self._most:
            silent = (one for one in self._open if self._inflow.is_silent(one))
            self._turn_away(next(silent, file), TOO_MANY.format(self._most), now_ms)

    def _turn_away(self, file: int, text: str, now_ms: int) -> None:
        """End a connection."""
        self._open.pop(file, None)
        port = port_of(self._router.get_string(zmq.LAST_ENDPOINT).rstrip("\0"))
        with contextlib.suppress(OSError):  # it is gone, and what has its number is no connection
            connection = socket.socket(fileno=file)  # no copy: there may be no file left for one
            try:
                if connection.getsockname()[1] == port:
                    self._refusals.refuse("connections_refused", text, now_ms)
                    break_off(connection)
            finally:
                connection.detach()

    def _end(self, connection: int, now_ms: int) -> None:
        was_explained, self._has_failed = self._has_failed, False
        if connection not in self._begun:
            return
        self._begun.discard(connection)
        if not was_explained:
            self._refusals.refuse("handshakes_refused", NO_ZMTP, now_ms)
