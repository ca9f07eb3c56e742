"""Connections by CURVE: encrypted, each side known by its key, under the same grants."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import zmq

from mt5bridge.client import Connection
from mt5bridge.client.connection import Change, introduce_curve
from mt5bridge.credential import CredentialError
from mt5bridge.curve import (
    FILE,
    CurveIdentity,
    Keys,
    daemon_keys,
    is_identity,
    is_key,
    new_keys,
    read_identity,
    write_identity,
)
from mt5bridge.grant import Grant
from mt5bridge.server import Server, Sink
from mt5bridge.server.settings import BindError
from mt5bridge.simulator import RefusedError, Runner, Terminal, simulated_hello, simulated_terminal
from mt5bridge.wire import encode
from tests.bridge.forged import THIEF
from tests.bridge.live import SETTINGS, Daemon, run, wait_until, walks
from tests.bridge.test_door import KNOCKS
from tests.waiting import deadline

DAEMON, DESK, OTHER = new_keys(), new_keys(), new_keys()
SETTINGS_CURVE = replace(
    SETTINGS,
    curve_bind="tcp://127.0.0.1:*",
    curve_secret=DAEMON.secret,
    curve_keys={"desk": DESK.public},
    grants={"desk": Grant(identity="A")},
)


def identity(keys: Keys = DESK, daemon: Keys = DAEMON) -> CurveIdentity:
    return CurveIdentity(user="desk", daemon=daemon.public, keys=keys)


def play(found: Terminal, daemon: Daemon, keys: Keys = DESK) -> None:
    with Connection(daemon.server.curve_address, identity(keys)) as connection:
        limit = deadline()
        Runner(found, connection).run(threading.Event(), lambda: found.finished or limit())
    assert found.finished


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon(SETTINGS_CURVE) as found:
        yield found


def test_who_has_the_key_is_its_user(daemon: Daemon) -> None:
    """12.9: grants hold as for passwords, and both doors lead to the same terminals."""
    play(simulated_terminal(walks("E", 50), identity="A"), daemon)
    with pytest.raises(RefusedError, match="for identity A"):
        play(simulated_terminal(walks("E", 5), identity="B"), daemon)
    run(simulated_terminal(walks("E", 20), identity="C"), daemon)
    assert {name for name, _ in daemon.stored} == {"A", "C"}


def test_an_unknown_key_is_refused_and_named(daemon: Daemon) -> None:
    with pytest.raises(RefusedError, match="user or password"):
        play(simulated_terminal(walks("E", 5), identity="A"), daemon, OTHER)
    told = " ".join(daemon.server.status().complaints)
    assert "an unknown CURVE key from 127.0.0.1" in told and OTHER.public not in told


def test_a_client_talks_to_no_other_daemon(daemon: Daemon) -> None:
    """A rogue with another key, though it lets everybody in, hears not even the hello."""
    with Connection(daemon.server.curve_address, identity(daemon=OTHER)) as connection:
        found: list[Change] = []

        def has_ended() -> bool:
            connection.attempt(0)
            connection.send(encode(simulated_hello("A", 1)))
            found.extend(connection.changes())
            return bool(found)

        wait_until(has_ended)
    assert found[0] is Change.DOWN
    assert "A" not in daemon.server.terminals.connected()


@pytest.mark.parametrize("name", ["null", "zmtp_1", "http", "tls", "wrong_password"])
def test_others_are_refused_at_this_door_too(daemon: Daemon, name: str) -> None:
    port = int(daemon.server.curve_address.rpartition(":")[2])
    before = daemon.server.counters().get("handshakes_refused", 0)
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(KNOCKS[name][0])
        wait_until(lambda: daemon.server.counters().get("handshakes_refused", 0) > before)
    assert THIEF not in daemon.server.terminals.sessions


def test_a_new_key_sends_away_who_came_with_the_old_one() -> None:
    with Daemon(SETTINGS_CURVE) as daemon, zmq.Context() as context:
        with context.socket(zmq.DEALER) as peer:
            peer.linger = 0
            introduce_curve(peer, identity())
            peer.connect(daemon.server.curve_address)
            peer.send(encode(simulated_hello("A", 1)))
            wait_until(lambda: "A" in daemon.server.terminals.connected())
            changed = replace(daemon.server.settings, curve_keys={"desk": OTHER.public})
            daemon.server._command(lambda _: daemon.server.change_credentials(changed))
            wait_until(lambda: "A" not in daemon.server.terminals.connected())
        play(simulated_terminal(walks("E", 5), identity="A", instance=2), daemon, OTHER)
        assert daemon.server.counters()["refused_not_allowed"] == 1


def test_routes_of_two_doors_are_never_one() -> None:
    """A peer may choose its route's name: the door's mark is in front of it."""
    with Daemon(SETTINGS_CURVE) as daemon, zmq.Context() as context:
        name = b"\1same"
        plain, curve = context.socket(zmq.DEALER), context.socket(zmq.DEALER)
        plain.plain_username, plain.plain_password = b"tester", b"a-secret-of-the-tests"
        introduce_curve(curve, identity())
        for peer, where, who in (
            (plain, daemon.server.address, "C"), (curve, daemon.server.curve_address, "A"),
        ):  # fmt: skip
            peer.linger, peer.routing_id = 0, name
            peer.connect(where)
            peer.send(encode(simulated_hello(who, 1)))
        wait_until(lambda: set(daemon.server.terminals.connected()) == {"A", "C"})
        assert set(daemon.server.terminals._by_route) == {b"p" + name, b"c" + name}
        plain.close()
        curve.close()


def test_without_an_address_there_is_no_such_door() -> None:
    with Server(SETTINGS, Sink()) as server:
        assert server.curve_address == ""
    with pytest.raises(BindError, match="is no address with a port"):
        replace(SETTINGS_CURVE, curve_bind="tcp://127.0.0.1:0").check()


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has modes of files")
def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        daemon_keys(tmp_path / "state")
        write_identity(tmp_path / "desk.json", identity())
    finally:
        os.umask(before)
    for path, read in (
        (tmp_path / "state" / FILE, lambda: daemon_keys(tmp_path / "state")),
        (tmp_path / "desk.json", lambda: read_identity(tmp_path / "desk.json")),
    ):
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o640)
        with pytest.raises(CredentialError, match=f"run `chmod 600 {path}`"):
            read()


def test_files_are_read_as_written_and_damage_is_named(tmp_path: Path) -> None:
    path, keys = tmp_path / "desk.json", daemon_keys(tmp_path)
    assert daemon_keys(tmp_path) == keys and keys.secret not in repr(keys)
    write_identity(path, identity())
    assert read_identity(path) == identity() and is_identity(path)
    assert DESK.secret not in repr(identity())
    good = path.read_text(encoding="utf-8")
    for text in ("", "{", good.replace(DESK.secret, OTHER.secret), good.replace(DESK.public, "x")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CredentialError, match=r"desk\.json: damaged .*credential curve"):
            read_identity(path)
    with pytest.raises(CredentialError, match="no such file"):
        read_identity(tmp_path / "none")
    assert not is_identity(tmp_path / "none")


def test_what_is_a_key() -> None:
    assert is_key(DESK.public)
    for text in ("", "x", "€" * 40, " " * 40, DESK.public + "x"):
        assert not is_key(text)
