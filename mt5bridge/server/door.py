"""A bound ROUTER socket, and what watches over its connections; belongs to the server's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import zmq

from mt5bridge.server.handshakes import Handshakes
from mt5bridge.server.inflow import PART_OVERHEAD_BYTES, Inflow, port_of
from mt5bridge.server.proofs import UNPROVEN
from mt5bridge.server.refusals import Refusals
from mt5bridge.server.settings import BindError, Settings
from mt5bridge.wire import FRAME_BYTES_MAX

HANDSHAKE_MS = 10_000
"""From connecting to being let in, after which libzmq hangs up: who says nothing, too little or a
wrong password holds an open file until then. A terminal takes milliseconds, a busy machine more."""
PARTS_MAX = 16  # a message of more is no mistake


class Door:
    """Binds on creation. `mark`, one byte, begins its routes, so that no two doors have the same.

    `guard` is called with the socket before it is bound.
    """

    def __init__(
        self,
        context: zmq.Context[Any],
        address: str,
        mark: bytes,
        settings: Settings,
        refusals: Refusals,
        guard: Callable[[zmq.Socket[bytes]], None],
    ) -> None:
        self.mark = mark
        self.socket = _router(context, settings)
        guard(self.socket)
        self.inflow = Inflow(0, settings.message_mib_max << 20)
        most, name = settings.connections_max, f"inproc://handshakes-{mark.hex()}"
        self.handshakes = Handshakes(self.socket, refusals, self.inflow, most, name)
        _bind(self.socket, address)
        self.inflow.port = port_of(self.address)

    @property
    def address(self) -> str:
        """The bound address, with the port that was chosen for `tcp://127.0.0.1:*`."""
        return self.socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0")

    def take(self, knows: Callable[[bytes], bool]) -> tuple[bytes, list[bytes], str, int]:
        """One message: route, parts, of who is not known who it was let in as, and how many parts.

        zmq.Again when none waits. Of the parts behind its first, which none may have, nothing is
        kept; too many of them end the connection.
        """
        take, inflow = self.socket.recv, self.inflow
        route, user = self.mark + take(zmq.NOBLOCK), ""
        if inflow.knows(route) and knows(route):
            parts = [take()]
        else:
            first = take(copy=False)
            parts, user = [first.bytes], _user_of(first)
            if not inflow.knows(route):
                inflow.begin(route, _file_of(first), is_let_in=not user.startswith(UNPROVEN))
        size, more = len(parts[0]) + PART_OVERHEAD_BYTES, 0
        while self.socket.getsockopt(zmq.RCVMORE):
            size += len(take(copy=False)) + PART_OVERHEAD_BYTES
            more += 1
        inflow.took(route, size)
        if more > PARTS_MAX:
            inflow.cut(route)
        return route, [*parts, b""] if more else parts, user, more + 1

    def send(self, route: bytes, data: bytes) -> None:
        """zmq.Again without room; zmq.ZMQError EHOSTUNREACH when the connection is gone."""
        send = self.socket.send  # of several parts, it looks at each before it sends the first
        send(route[1:], zmq.NOBLOCK | zmq.SNDMORE)
        send(data, zmq.NOBLOCK)


def _user_of(frame: zmq.Frame) -> str:
    """Who the authenticator has let in on the connection that a frame has come from."""
    return str(frame.get("User-Id"))


def _file_of(frame: zmq.Frame) -> int:
    """The file of the connection that a frame has come from; -1 where there is none."""
    try:
        return int(frame.get(zmq.SRCFD))
    except (zmq.ZMQError, TypeError, ValueError):
        return -1


def _bind(socket: zmq.Socket[bytes], address: str) -> None:
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        raise BindError(
            f"cannot listen on {address}: {error}. Is another daemon running? Else use another port"
        ) from None


def _router(context: zmq.Context[Any], settings: Settings) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
    socket.linger = 0
    # No handover: a terminal is known by its HELLO, and every connection has its own route.
    socket.router_mandatory = True  # sending to a connection that is gone is told, not swallowed
    socket.rcvhwm = socket.sndhwm = settings.frames_queued_max
    # Somewhat larger frames still get an answer; beyond, libzmq drops the connection.
    socket.maxmsgsize = 4 * FRAME_BYTES_MAX
    socket.handshake_ivl = HANDSHAKE_MS
    # No ZMTP heartbeats: libzmq aborts (`!_io_error`) when one is due on a connection that was lost
    # while its input was stopped by the high-water mark. Sessions have heartbeats of their own.
    socket.tcp_keepalive = 1
    return socket
