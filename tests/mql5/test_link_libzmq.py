"""The MQL5 link against libzmq's ROUTER, on real TCP."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from mt5bridge.credential import Credential, CredentialError, read_credential, write_credential
from tests.credentials import CREDENTIAL
from tests.mql5.probing import (
    echoed,
    greet,
    letting_in,
    libzmq_router,
    port_of,
    prepare,
    probe,
)
from tests.waiting import LONG_MS, LONG_S, wait_until

pytestmark = pytest.mark.usefixtures("scripts")
_FRAME_BYTES_MAX = 2**20 + 16


def test_messages_of_all_sizes_come_and_go(tmp_path: Path) -> None:
    """1.1: short and long frames, empty ones, and the largest, more than the send queue holds."""
    random = Random(3)
    with libzmq_router() as router, probe(tmp_path, port_of(router)):
        peer = greet(router)
        for size in (0, 1, 255, 256, 16_383, 16_384, 65_535, 65_536, *[_FRAME_BYTES_MAX] * 6):
            body = random.randbytes(size)
            assert echoed(router, peer, body) == [body]


def test_a_message_of_several_parts_is_told_apart(tmp_path: Path) -> None:
    """3.2: refused as multipart; what follows is received."""
    with libzmq_router() as router, probe(tmp_path, port_of(router)) as terminal:
        peer = greet(router)
        router.send_multipart([peer, b"one", b"two", b"three"])
        assert echoed(router, peer, b"after") == [b"after"]
        terminal.wait_journal("multipart 1", LONG_S)


def test_short_sends_and_dummy_readability(tmp_path: Path) -> None:
    """A terminal that sends a part only and says that it can read when it cannot."""
    faults = "sockets allowed=127.0.0.1 short=0.7 dummy=0.5"
    random = Random(4)
    with libzmq_router() as router, probe(tmp_path, port_of(router), faults) as terminal:
        peer = greet(router)
        for size in (0, 700, 100_000, 300_000):
            body = random.randbytes(size)
            assert echoed(router, peer, body) == [body]
        stats = terminal.wait(lambda stats: stats.faults["dummy"] > 5, LONG_S)
        assert stats.faults["short"] > 5


def test_heartbeats_both_ways(tmp_path: Path) -> None:
    """PING is answered, so libzmq keeps the link, and PONG is measured, so the probe does."""
    options = {"HEARTBEAT_IVL": 30, "HEARTBEAT_TIMEOUT": LONG_MS, "HEARTBEAT_TTL": LONG_MS}
    with (
        libzmq_router(**options) as router,
        probe(tmp_path, port_of(router), PingMs=20) as terminal,
    ):
        peer = greet(router)
        terminal.wait(
            lambda stats: stats.program("LinkProbe").handler("OnTimer").calls > 150, LONG_S
        )
        assert echoed(router, peer, b"still there") == [b"still there"]
        journal = terminal.stop().journal
    assert not [line for line in journal if "down" in line]


def test_silent_libzmq_is_pinged(tmp_path: Path) -> None:
    """Without heartbeats of its own libzmq still answers ours: the round trip is known."""
    with libzmq_router() as router, probe(tmp_path, port_of(router), PingMs=20) as terminal:
        greet(router)
        terminal.wait(
            lambda stats: stats.program("LinkProbe").handler("OnTimer").calls > 50, LONG_S
        )
        (told,) = [line for line in terminal.stop().journal if "round trip" in line]
    assert "round trip -1" not in told


def test_user_and_password_of_the_inputs(tmp_path: Path) -> None:
    """12.2: they come before the file."""
    with letting_in(Credential("terminal", "Geheimnis €")) as router:
        prepare(router)
        inputs = {"User": "terminal", "Password": "Geheimnis €"}
        with probe(tmp_path, port_of(router), **inputs):
            assert echoed(router, greet(router), b"let in") == [b"let in"]


def test_the_credential_of_the_file(tmp_path: Path) -> None:
    """As Python writes it, and also in a file that Notepad has saved."""
    with letting_in(Credential("terminal", "Geheimnis mit €")) as router:
        prepare(router)
        credential = Credential("terminal", "Geheimnis mit €")
        with probe(tmp_path, port_of(router), credential=credential) as terminal:
            assert echoed(router, greet(router), b"let in") == [b"let in"]
            terminal.stop()
        file = terminal.file("Mt5Bridge/credential.txt")
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
        with probe(tmp_path, port_of(router), credential=None):
            assert echoed(router, greet(router), b"again") == [b"again"]


def test_a_credential_that_comes_later_is_taken(tmp_path: Path) -> None:
    """First there is none, then a wrong one, then a damaged one: each is told, none is final."""
    with libzmq_router() as router, probe(tmp_path, port_of(router), credential=None) as terminal:
        told = terminal.wait_journal("down: no credential: run `mt5cep terminal", LONG_S)
        assert "(Files\\Mt5Bridge\\credential.txt)" in told
        file = terminal.file("Mt5Bridge/credential.txt")
        write_credential(file, Credential(CREDENTIAL.user, "wrong"))
        terminal.wait_journal("down: the daemon refuses the credential: run", LONG_S)
        file.write_bytes(b"mt5bridge credential 1\nuser tester\npassword a-secr")
        terminal.wait_journal("down: the credential is damaged: run", LONG_S)
        assert not [line for line in terminal.journal if line.endswith("up 1")]
        write_credential(file, CREDENTIAL)
        assert echoed(router, greet(router), b"let in") == [b"let in"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\n\n\n",
        b"mt5bridge credential 2\nuser tester\npassword a-secret-of-the-tests\n",
        b"mt5bridge credential 1\nuser \npassword a-secret-of-the-tests\n",
        b"mt5bridge credential 1\nuser tester\npassword \n",
        b"mt5bridge credential 1\nuser tester\npassword a-secret-of-the-tests\n\n",
        b"mt5bridge credential 1\nuser tester\npassword " + b"x" * 1_024 + b"\n",
    ],
)
def test_a_damaged_credential_is_told(tmp_path: Path, content: bytes) -> None:
    """What Python would not read either."""
    file = tmp_path / "MQL5" / "Files" / "Mt5Bridge" / "credential.txt"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(CredentialError, match="damaged"):
        read_credential(file)
    with probe(tmp_path, 9, credential=None) as terminal:
        terminal.wait_journal("down: the credential is damaged", LONG_S)


def test_comes_back_to_a_router_that_was_restarted(tmp_path: Path) -> None:
    with libzmq_router() as router:
        port = port_of(router)
        with probe(tmp_path, port) as terminal:
            greet(router)
            router.close()
            terminal.wait_journal("down:", LONG_S)
            terminal.wait_journal("nobody accepts connections", LONG_S)
            with letting_in(CREDENTIAL) as second:
                second.linger, second.rcvtimeo = 0, LONG_MS
                second.bind(f"tcp://127.0.0.1:{port}")
                assert echoed(second, greet(second), b"again") == [b"again"]


def test_an_address_that_is_not_allowed(tmp_path: Path) -> None:
    """The terminal's list of addresses: the user is told what to do."""
    faults = "sockets allowed=example.org"
    with probe(tmp_path, 5_655, faults) as terminal:
        told = terminal.wait_journal("the address is not allowed", LONG_S)
        assert "add it in Tools, Options, Expert Advisors" in told


SLOW = "sockets allowed=127.0.0.1,0.0.0.0 slow_connect=1 slow_ms=350"


def test_a_long_way_gets_the_time_it_takes(tmp_path: Path) -> None:
    """100 ms at first, then twice as long, as long as they are used up."""
    with (
        libzmq_router() as router,
        probe(tmp_path, port_of(router), SLOW, Host="0.0.0.0") as terminal,
    ):
        assert echoed(router, greet(router), b"far") == [b"far"]
        assert sum("down: nobody accepts" in line for line in terminal.journal) == 2


def test_this_machine_gets_no_more(tmp_path: Path) -> None:
    """A port nobody listens on takes seconds there on Windows."""
    with libzmq_router() as router, probe(tmp_path, port_of(router), SLOW) as terminal:
        wait_until(lambda: sum("down: nobody accepts" in line for line in terminal.journal) >= 4)
        assert not [line for line in terminal.journal if line.endswith("up 1")]


def test_a_socket_that_takes_no_timeouts_is_used(tmp_path: Path) -> None:
    with (
        libzmq_router() as router,
        probe(tmp_path, port_of(router), "sockets untimed=1") as terminal,
    ):
        assert echoed(router, greet(router), b"well") == [b"well"]
        assert any("the socket takes no timeouts (error 5273)" in line for line in terminal.journal)
