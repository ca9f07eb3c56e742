"""Messages of many parts over real TCP: memory stays bounded, and others notice nothing."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import zmq

from mt5bridge.server import Server, Sink, ticks_of
from mt5bridge.server.inflow import port_of
from mt5bridge.simulator import simulated_terminal
from mt5bridge.wire import Error, ErrorCode, Welcome, decode, encode
from tests.bridge.live import SETTINGS, Daemon, run, wait_until, walks
from tests.credentials import CREDENTIAL
from tests.mql5.zmtp import GREETING_BYTES, MORE, command, frame, greeting, prop
from tests.wire.samples import FRAMES

DEADLINE_S = 300.0
USER, PASSWORD = CREDENTIAL.user, CREDENTIAL.password
MEBIBYTE = 1 << 20
PARTS = {"large": frame(bytes(MEBIBYTE), MORE), "empty": frame(b"", MORE) * 100_000}

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="only Linux says what a connection has received"
)


@contextlib.contextmanager
def peer(server: Server) -> Iterator[socket.socket]:
    """A connection on which messages may follow, from a peer that is no libzmq."""
    place = ("127.0.0.1", port_of(server.address))
    with socket.create_connection(place, DEADLINE_S) as found:
        hello = bytes([len(USER)]) + USER.encode() + bytes([len(PASSWORD)]) + PASSWORD.encode()
        metadata = prop("Socket-Type", b"DEALER") + prop("Identity", b"")
        greet = greeting("PLAIN").replace(b"\1" + bytes(31), bytes(32))
        steps = [greet, command("HELLO", hello), command("INITIATE", metadata)]
        for step, answer in zip(steps, (b"PLAIN", b"WELCOME", b"READY"), strict=True):
            found.sendall(step)
            until(found, answer)
        yield found


def until(connection: socket.socket, answer: bytes) -> None:
    """Wait for the end of a part of the handshake."""
    got = b""
    while answer not in got or (answer == b"PLAIN" and len(got) < GREETING_BYTES):
        more = connection.recv(4_096)
        assert more, got
        got += more


def flood(server: Server, part: bytes, bytes_max: int) -> int:
    """Send one message without end; the bytes that went out until the connection was cut."""
    sent = 0
    with peer(server) as attacker, contextlib.suppress(ConnectionError):
        while sent < bytes_max:
            attacker.sendall(part)
            sent += len(part)
    return sent


def memory_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096


@needs_proc
@pytest.mark.parametrize("part", list(PARTS))
def test_a_message_without_end_is_cut_off(part: str) -> None:
    """11.3: before it takes the memory; who is connected beside it loses nothing."""
    ticks = walks("A", 2_000)
    with Daemon(SETTINGS) as daemon:
        before = memory_bytes()
        for _ in range(2):
            limit = 4_096 * MEBIBYTE if part == "large" else 512 * MEBIBYTE
            assert flood(daemon.server, PARTS[part], limit) < limit
        assert memory_bytes() - before < 1_024 * MEBIBYTE
        wait_until(lambda: daemon.server.counters().get("connections_cut", 0) >= 2)
        assert "no whole message" in daemon.server.sink.complaints[-1]
        run(simulated_terminal(ticks, identity="good"), daemon)
    assert daemon.records("good", ticks_of("A")).tobytes() == ticks["A"].tobytes()


def test_parts_behind_the_first_are_let_go() -> None:
    """3.2, 3.3: refused with an ERROR that is heard; and too many end the connection."""
    hello = encode(FRAMES["hello"][1])
    with Daemon(SETTINGS) as daemon, peer(daemon.server) as connection:
        connection.sendall(frame(hello, MORE) + frame(b"") + frame(hello))
        answers = [decode(body) for body in bodies(connection, 2)]
        assert isinstance(answers[0], Error) and answers[0].code is ErrorCode.BAD_FRAME
        assert "multipart" in answers[0].text
        assert isinstance(answers[1], Welcome)
        connection.sendall(frame(b"", MORE) * 10_000 + frame(b""))
        if Path("/proc/self/statm").exists():
            with contextlib.suppress(ConnectionError):
                while connection.recv(4_096):
                    pass
        assert daemon.server.counters()["bad_frames_multipart"] >= 1


def bodies(connection: socket.socket, count: int) -> Iterator[bytes]:
    """The next frames of the daemon."""
    with connection.makefile("rb") as stream:
        for _ in range(count):
            flags, first = struct.unpack("BB", stream.read(2))
            size = first
            if flags & 2:
                (size,) = struct.unpack(">Q", bytes([first]) + stream.read(7))
            yield stream.read(size)


def test_frames_that_wait_are_counted_to_their_connection() -> None:
    """Whatever comes and goes: what was handed over is never held against anybody."""
    with Server(SETTINGS, Sink()) as server:
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        stop = threading.Event()
        thread = threading.Thread(target=server.run, args=(stop,))
        thread.start()
        for number in range(20):
            with context.socket(zmq.DEALER) as dealer:
                dealer.plain_username, dealer.plain_password = USER.encode(), PASSWORD.encode()
                dealer.linger = 0
                dealer.connect(server.address)
                dealer.send(encode(replace(FRAMES["hello"][1], identity=str(number))))
                assert isinstance(decode(dealer.recv()), Welcome)
        stop.set()
        server.wake()
        thread.join()
        context.term()
        inflow = server.network.doors[b"p"].inflow
        assert len(inflow._by_route) == len(inflow._by_file) <= 20
        assert list(inflow._cut_worst()) == []
