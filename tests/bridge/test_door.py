"""Nobody gets in but with ZMTP 3, PLAIN, and a user's password; libzmq reads no frame of others."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import zmq

from mt5bridge.client import introduce
from mt5bridge.credential import Credential
from mt5bridge.server import Server, Settings, Sink, door, files, handshakes
from mt5bridge.server.authentication import Authenticator
from mt5bridge.server.files import RESERVE
from mt5bridge.server.refusals import EVERY_MS, Refusals
from mt5bridge.simulator import RefusedError, simulated_hello, simulated_terminal
from mt5bridge.wire import encode
from tests.bridge import forged
from tests.bridge.live import Daemon, run, wait_until, walks
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.mql5 import zmtp
from tests.waiting import LONG_MS, LONG_S

SETTINGS = Settings(bind="tcp://127.0.0.1:*", passwords={**PASSWORDS, "other": "word"})
_SIGNATURE = b"\xff" + bytes(8) + b"\x7f"
_HELLO = zmtp.frame(encode(simulated_hello(forged.THIEF, 1)))
_METADATA = zmtp.prop("Socket-Type", b"DEALER") + zmtp.prop("Identity", b"")


def plain(user: bytes, password: bytes) -> bytes:
    """PLAIN's HELLO."""
    return zmtp.command("HELLO", bytes([len(user)]) + user + bytes([len(password)]) + password)


# Name: what is said, and the counter that tells of it.
KNOCKS: dict[str, tuple[bytes, str]] = {
    "zmtp_1": (forged.frames_1_0(b"", *forged.introduction()), "handshakes_refused"),
    "zmtp_1_named": (forged.frames_1_0(b"me", *forged.introduction()), "handshakes_refused"),
    "zmtp_1_long": (_SIGNATURE + b"\0" + zmtp.frame(b"") + _HELLO, "handshakes_refused"),
    "zmtp_2": (_SIGNATURE + b"\1\5" + zmtp.frame(b"") + _HELLO, "handshakes_refused"),
    "http": (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "handshakes_refused"),
    "web_page": (forged.request(5655), "handshakes_refused"),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(506), "handshakes_refused"),
    "null": (
        zmtp.greeting("NULL") + zmtp.command("READY", _METADATA) + _HELLO,
        "handshakes_refused",
    ),
    "curve": (zmtp.greeting("CURVE") + zmtp.command("HELLO", bytes(194)), "handshakes_refused"),
    "no_hello": (zmtp.greeting() + _HELLO, "handshakes_refused"),
    "initiate": (zmtp.greeting() + zmtp.command("INITIATE", _METADATA), "handshakes_refused"),
    "wrong_password": (zmtp.greeting() + plain(b"other", b"Word") + _HELLO, "credentials_refused"),
    "half_password": (zmtp.greeting() + plain(b"other", b"wor") + _HELLO, "credentials_refused"),
    "empty_password": (zmtp.greeting() + plain(b"other", b"") + _HELLO, "credentials_refused"),
    "others_password": (
        zmtp.greeting() + plain(b"other", CREDENTIAL.password.encode()) + _HELLO,
        "credentials_refused",
    ),
    "unknown_user": (zmtp.greeting() + plain(b"nobody", b"word") + _HELLO, "credentials_refused"),
    "empty_user": (zmtp.greeting() + plain(b"", b"") + _HELLO, "credentials_refused"),
    "no_text": (zmtp.greeting() + plain(b"\xff\0", b"\xfe\0") + _HELLO, "credentials_refused"),
}


@contextmanager
def knocking(daemon: Daemon, data: bytes) -> Iterator[socket.socket]:
    """Says this to the daemon, and stays."""
    port = int(daemon.server.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as link:
        with suppress(ConnectionError):  # who is hung up on at once
            link.sendall(data)
        yield link


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon(SETTINGS) as found:
        yield found


@pytest.mark.parametrize("name", KNOCKS)
def test_others_are_refused_and_nothing_of_them_is_read(daemon: Daemon, name: str) -> None:
    """1.1, 12.1: the same bytes without their handshake would introduce a trader."""
    data, counter = KNOCKS[name]
    before = daemon.server.counters()
    with knocking(daemon, data):
        wait_until(lambda: daemon.server.counters().get(counter, 0) > before.get(counter, 0))
        run(simulated_terminal(walks("A", 10), identity=f"beside {name}"), daemon)
    after = daemon.server.counters()
    assert forged.THIEF not in daemon.server.terminals.sessions
    assert not [text for text in after if text.startswith(("bad_frames", "strangers"))]
    assert after["connections"] == before.get("connections", 0) + 1, "that is the one beside it"


def test_the_right_password_lets_in(daemon: Daemon) -> None:
    run(simulated_terminal(walks("A", 10), identity="a"), daemon, Credential("other", "word"))
    for wrong in (Credential("other", "sword"), Credential("another", "word")):
        with pytest.raises(RefusedError, match="not this daemon's credential"):
            run(simulated_terminal(walks("A", 10), identity="b"), daemon, wrong)
    assert "b" not in daemon.server.terminals.sessions


def test_the_forged_introduction_is_one() -> None:
    """Let in, the knocks above would be a session: what keeps them out is the handshake alone."""
    with Daemon(SETTINGS) as open_daemon:
        good = zmtp.greeting() + plain(b"other", b"word")
        with knocking(open_daemon, good) as link:
            said = b""
            while b"WELCOME" not in said:
                said += link.recv(1_000)
            link.sendall(zmtp.command("INITIATE", _METADATA) + _HELLO)
            wait_until(lambda: forged.THIEF in open_daemon.server.terminals.connected())
        assert open_daemon.server.counters()["connections"] == 1


def test_who_is_refused_is_told_with_the_remedy_and_not_the_password(daemon: Daemon) -> None:
    told = " ".join(daemon.server.status().complaints)
    for text in (
        "credentials_refused: ", "from 127.0.0.1", "run `mt5cep terminal install`",
        "handshakes_refused: ", "does not speak ZMTP 3",
    ):  # fmt: skip
        assert text in told
    assert CREDENTIAL.password not in told and "Word" not in told


def test_a_server_that_does_not_run_lets_nobody_in() -> None:
    """The server's own thread answers libzmq: there is no other that could die unnoticed."""
    with Server(SETTINGS, Sink()) as server, zmq.Context() as context:
        peer = context.socket(zmq.DEALER)
        peer.linger = 0
        introduce(peer, CREDENTIAL)
        monitor = peer.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        peer.connect(server.address)
        peer.send(encode(simulated_hello("early", 1)))
        while not server.network.authenticator.socket.poll(60_000):  # asked, and not answered
            pytest.fail("libzmq has not asked")
        assert not monitor.poll(0) and not server.terminals.sessions
        wait_until(lambda: server.poll_once(20) >= 0 and "early" in server.terminals.sessions)
        peer.disable_monitor()
        monitor.close(0)
        peer.close()


def test_without_its_answer_libzmq_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Authenticator, "answer", lambda *_: None)
    with Daemon(SETTINGS) as silent, zmq.Context() as context:
        peer = context.socket(zmq.DEALER)
        peer.linger = 0
        introduce(peer, CREDENTIAL)
        peer.connect(silent.server.address)
        peer.send(encode(simulated_hello("early", 1)))
        with knocking(silent, forged.request(5655)):
            wait_until(lambda: silent.server.counters().get("handshakes_refused", 0) > 0)
        assert not silent.server.terminals.sessions
        peer.close()


def test_refusals_are_counted_one_by_one_and_told_once_in_a_while() -> None:
    sink = Sink()
    refusals = Refusals(sink)
    for ms in range(100):
        refusals.refuse("doors", "a knock", ms)
    refusals.refuse("windows", "another", 50)
    assert list(sink.complaints) == ["doors: a knock", "windows: another"]
    refusals.refuse("doors", "a late knock", EVERY_MS)
    assert list(sink.complaints)[2:] == ["doors: a late knock"]
    assert sink.counters == {"doors": 101, "windows": 1}


@pytest.mark.parametrize("name", ["silent", "a_byte", "greeting", "wrong_password"])
def test_who_does_not_finish_the_handshake_is_hung_up_on(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert door.HANDSHAKE_MS <= 10_000, "as the documents say"
    monkeypatch.setattr(door, "HANDSHAKE_MS", 100)
    said = {
        "silent": b"",
        "a_byte": _SIGNATURE[:1],
        "greeting": zmtp.greeting(),
        "wrong_password": zmtp.greeting() + plain(b"other", b"Word"),
    }
    with Daemon(SETTINGS) as short:
        with knocking(short, said[name]) as link:
            link.settimeout(LONG_S)
            while link.recv(1_000):
                pass
        assert not short.server.terminals.sessions


def test_connections_leave_files_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are there stay; when the others have gone, new ones come in again."""
    monkeypatch.setattr(handshakes, "connections_end", lambda: _free_file() + 40)
    monkeypatch.setattr(door, "HANDSHAKE_MS", LONG_MS)
    with Daemon(SETTINGS) as full, ExitStack() as stack:
        first = stack.enter_context(knocking(full, zmtp.greeting() + plain(b"other", b"word")))
        said = b""
        while b"WELCOME" not in said:
            said += first.recv(1_000) or pytest.fail("hung up on")
        for _ in range(40):  # two files each: this end's is one of the same process
            stack.enter_context(knocking(full, b""))
        wait_until(lambda: full.server.counters().get("connections_refused", 0) >= 5)
        first.sendall(zmtp.command("INITIATE", _METADATA) + _HELLO)
        wait_until(lambda: forged.THIEF in full.server.terminals.connected())
        assert "`ulimit -n`" in " ".join(full.server.status().complaints)
        stack.close()
        wait_until(lambda: _free_file() + 20 < full.server.network.doors[b"p"].handshakes._end_file)
        run(simulated_terminal(walks("A", 10)), full)


def _free_file() -> int:
    """The number that the next file gets."""
    with Path(os.devnull).open() as file:
        return file.fileno()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_the_limit_of_files_is_raised_and_a_part_of_it_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = [1_024, 1 << 20]
    monkeypatch.setattr(files.resource, "getrlimit", lambda _what: tuple(limits))
    monkeypatch.setattr(
        files.resource, "setrlimit", lambda _what, pair: limits.__setitem__(slice(None), pair)
    )
    assert files.connections_end() == 1_024 - RESERVE
    files.raise_limit()
    assert limits == [files.FILES_WANTED, 1 << 20]
    limits[:] = [100, 200]
    files.raise_limit()
    assert limits == [200, 200] and files.connections_end() == 100
    limits[:] = [files.FILES_WANTED + 1, files.resource.RLIM_INFINITY]
    files.raise_limit()
    assert limits[0] == files.FILES_WANTED + 1, "never lowered"


def test_who_breaks_off_is_not_told_of() -> None:
    """A look at whether the port is open, and a connection that ends well, are no knocks."""
    with Daemon(SETTINGS) as quiet:
        for data in (b"", _SIGNATURE[:5]):
            with knocking(quiet, data):
                pass
        run(simulated_terminal(walks("A", 10)), quiet)
        with knocking(quiet, KNOCKS["null"][0]):
            wait_until(lambda: quiet.server.counters().get("handshakes_refused", 0) == 1)
        assert "credentials_refused" not in quiet.server.counters()
        assert len(quiet.server.sink.complaints) == 1
