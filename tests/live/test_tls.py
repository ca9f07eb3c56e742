"""The recipe for TLS in docs/operate.md: its commands, its files, and what they keep out."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from mt5bridge.client import Connection
from mt5bridge.client.connection import Change
from mt5bridge.clock import monotonic_ms
from mt5bridge.simulator import simulated_terminal
from mt5bridge.wire import Side, SignalStatus
from tests.bridge.live import Daemon, walks
from tests.credentials import CREDENTIAL
from tests.docs.pages import ROOT, blocks
from tests.live.service import play
from tests.live.tunnels import HAS_STUNNEL, End, by_python, by_stunnel, overheard
from tests.mql5.reinit import inputs
from tests.mql5.trading import signal, trading
from tests.waiting import LONG_S, deadline

Way = Callable[[End], AbstractContextManager[None]]
NEEDS = pytest.mark.skipif(not HAS_STUNNEL, reason="stunnel is not installed")
WAYS = [pytest.param(by_python, id="python"), pytest.param(by_stunnel, id="stunnel", marks=NEEDS)]


def commands() -> str:
    """The page's commands that make the certificates."""
    found = [one for one in blocks(ROOT / "docs/operate.md") if "tls-certificates" in one.info]
    assert len(found) == 1
    return found[0].text


def made(folder: Path) -> Path:
    """Certificates as the page makes them."""
    folder.mkdir()
    done = subprocess.run(
        ["sh", "-e", "-c", commands()], cwd=folder, capture_output=True, timeout=LONG_S
    )
    assert done.returncode == 0, done.stderr.decode()
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("tls") / "ours")


def plain(daemon: Daemon) -> str:
    return daemon.server.address.removeprefix("tcp://")


@pytest.mark.parametrize("way", WAYS)
def test_the_trader_in_mql5_trades_through_it(way: Way, keys: Path, tmp_path: Path) -> None:
    """Only its input Port is another: it connects to the near end on its own machine."""
    heard = bytearray()
    with trading(tmp_path) as floor:
        front = End("daemon", keys, f"127.0.0.1:{floor.port}")
        with way(front), overheard(front.address, heard) as between:
            near = End("terminal", keys, between)
            with way(near):
                floor.reinit(inputs(Port=near.address.rpartition(":")[2]))
                answer = floor.ask(request := signal(Side.BUY, 0.1))
                assert answer.status is SignalStatus.EXECUTED
                assert len(floor.deals(request.id)) == 1
    assert len(heard) > 1_000
    for secret in (b"MT5B", CREDENTIAL.user.encode(), b"PLAIN", b"EURUSD"):
        assert secret not in heard


@pytest.mark.parametrize("way", WAYS)
def test_a_terminal_comes_through_and_nobody_hears_it(way: Way, keys: Path) -> None:
    heard, ticks = bytearray(), walks("E", 300)
    with Daemon() as daemon:
        front = End("daemon", keys, plain(daemon))
        with way(front), overheard(front.address, heard) as between:
            near = End("terminal", keys, between)
            with way(near):
                play(simulated_terminal(ticks, identity="A"), f"tcp://{near.address}")
        assert len(daemon.records("A", ("ticks", "E"))) == 300
    assert len(heard) > 300 * 60
    for secret in (b"MT5B", CREDENTIAL.user.encode(), b"PLAIN", b"Simulated"):
        assert secret not in heard


def is_let_through(address: str) -> bool:
    """Whether a client of the daemon gets an answer there."""
    limit = deadline()
    with Connection(f"tcp://{address}", CREDENTIAL) as connection:
        while not limit():
            connection.attempt(monotonic_ms())
            connection.poll(50)
            connection.receive()
            changes = connection.changes()
            if changes:
                return Change.UP in changes
    raise AssertionError("the deadline has passed")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_others", [True, False], ids=["another CA", "a terminal's"])
def test_a_rogue_in_the_daemons_place_gets_nothing(
    way: Way, is_others: bool, keys: Path, tmp_path: Path
) -> None:
    """Its certificate is of another authority, or that of another terminal."""
    folder = made(tmp_path / "other") if is_others else keys
    name = "daemon" if is_others else "desk"
    with Daemon() as daemon:
        certificate = {"cert": f"{name}.pem", "key": f"{name}.key"}
        front = End(
            "daemon", folder, plain(daemon), verifyChain="no", requireCert="", **certificate
        )
        near = End("terminal", keys, front.address)
        with way(front), way(near):
            assert not is_let_through(near.address)
        assert not daemon.server.counters()


@pytest.mark.parametrize("way", WAYS)
def test_who_has_no_certificate_reaches_nothing(way: Way, keys: Path, tmp_path: Path) -> None:
    stranger = made(tmp_path / "stranger")
    with Daemon() as daemon:
        front = End("daemon", keys, plain(daemon))
        with way(front):
            for certificate in (None, stranger / "desk.pem"):
                assert greeting(front.address, keys / "ca.pem", certificate) == b""
            assert greeting(front.address, keys / "ca.pem", keys / "desk.pem")


def greeting(address: str, authority: Path, certificate: Path | None) -> bytes:
    """What comes of the daemon, by a client that has this certificate."""
    context = ssl.create_default_context(cafile=authority)
    if certificate is not None:
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    host, _, port = address.rpartition(":")
    with (
        suppress(OSError),
        socket.create_connection((host, int(port)), LONG_S) as raw,
        context.wrap_socket(raw, server_hostname="trade.example") as line,
    ):
        line.sendall(b"\xff" + bytes(8) + b"\x7f\x03")
        return line.recv(10)
    return b""
