"""Both sides prove that they know the password, and it is never said: no rogue gets a thing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.client import ClientState, Connection
from mt5bridge.client.connection import Change
from mt5bridge.client.proving import PATIENCE_MS, Proved, Proving
from mt5bridge.clock import Now
from mt5bridge.credential import CHALLENGE, Credential, CredentialError
from mt5bridge.proof import Prover, is_same, new_challenge, proof_of
from mt5bridge.server import Settings, Sink
from mt5bridge.server import proofs as proofs_module
from mt5bridge.server.proofs import PROVE_MS, UNPROVEN
from mt5bridge.server.terminals import Terminals
from mt5bridge.simulator import RefusedError, Runner, simulated_hello, simulated_terminal
from mt5bridge.wire import (
    Challenge,
    Error,
    ErrorCode,
    Frame,
    Proof,
    Symbols,
    Welcome,
    encode,
)
from tests.bridge.live import SETTINGS, Daemon, run, wait_until, walks
from tests.bridge.rogue import Rogue, pretending, reflecting, welcoming
from tests.bridge.test_door import knocking, plain
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.mql5 import zmtp
from tests.waiting import LONG_MS, deadline
from tests.wire.samples import FRAMES

NOW = Now(1_000, 5_000)
USER = UNPROVEN + CREDENTIAL.user
HELLO = simulated_hello("demo", 1)
ZEROS = Challenge("0" * 32)


class Door:
    """A server's terminals, and connections that were let in to prove what they know."""

    def __init__(self) -> None:
        self.settings = Settings(passwords={**PASSWORDS, "other": "word"})
        self.sink = Sink()
        self.terminals = Terminals(self.settings, self.sink, {})
        self.proven: list[bytes] = []
        self.terminals.proofs.on_proven = self.proven.append

    def say(self, data: bytes | Frame, route: bytes = b"1", user: str = USER) -> list[Frame]:
        raw = data if isinstance(data, bytes) else encode(data)
        found = self.terminals.receive(route, [raw], NOW, user)
        assert all(to == route for to, _ in found)
        return [frame for _, frame in found]

    def nonce(self, route: bytes = b"1", user: str = USER) -> Challenge:
        (found,) = self.say(ZEROS, route, user)
        assert isinstance(found, Challenge)
        return found

    def prove(self, route: bytes = b"1") -> None:
        """Does what an honest terminal does."""
        nonces = ZEROS, self.nonce(route)
        (told,) = self.say(proof_of(Prover.TERMINAL, CREDENTIAL, *nonces), route)
        assert told == proof_of(Prover.DAEMON, CREDENTIAL, *nonces)


def refused(frames: list[Frame]) -> None:
    (error,) = frames
    assert isinstance(error, Error) and error.code is ErrorCode.NOT_ALLOWED


def test_who_proves_it_is_heard_as_that_user() -> None:
    """12.8"""
    door = Door()
    door.prove()
    assert door.proven == [b"1"]
    assert isinstance(door.say(HELLO)[0], Welcome)
    assert door.say(Symbols(())) == [] and door.terminals.connected() == ("demo",)


@pytest.mark.parametrize("name", FRAMES)
def test_nothing_else_is_heard_before_the_proof(name: str) -> None:
    """12.8: one refusal, then silence, whatever comes, a right proof too."""
    if name in ("challenge", "proof"):
        frames: list[bytes] = [encode(FRAMES["proof"][1])]
    else:
        frames = [encode(FRAMES[name][1])]
    for before in (False, True):
        door = Door()
        nonce = door.nonce() if before else ZEROS
        refused(door.say(frames[0]))
        assert door.say(proof_of(Prover.TERMINAL, CREDENTIAL, ZEROS, nonce)) == []
        assert door.say(HELLO) == door.say(ZEROS) == []
        assert not door.terminals.sessions and not door.proven
        assert door.sink.counters == {"credentials_refused": 1}, "no frame of it was taken"


@pytest.mark.parametrize(
    "data", [b"", b"x", bytes(4_096), encode(ZEROS) + b"\0", encode(ZEROS)[:-1]]
)
def test_what_is_no_frame_is_no_proof(data: bytes) -> None:
    door = Door()
    refused(door.say(data))
    assert door.say(ZEROS) == []


def wrong_proofs(nonce: Challenge) -> dict[str, Proof]:
    """What somebody might try who does not know the password, or knows another one's."""
    short = Credential(CREDENTIAL.user, CREDENTIAL.password[:-1])
    others = Credential("other", "word")
    return {
        "reflected": proof_of(Prover.DAEMON, CREDENTIAL, ZEROS, nonce),
        "of an older nonce": proof_of(Prover.TERMINAL, CREDENTIAL, ZEROS, new_challenge()),
        "nonces in the other order": proof_of(Prover.TERMINAL, CREDENTIAL, nonce, ZEROS),
        "a part of the password": proof_of(Prover.TERMINAL, short, ZEROS, nonce),
        "another user's": proof_of(Prover.TERMINAL, others, ZEROS, nonce),
        "made up": Proof("0" * 64),
    }


@pytest.mark.parametrize("name", wrong_proofs(ZEROS))
def test_a_wrong_proof_is_refused_and_answered_with_none(name: str) -> None:
    """12.8: else whoever asks would have something to guess passwords with."""
    door = Door()
    refused(door.say(wrong_proofs(door.nonce())[name]))
    assert door.say(HELLO) == [] and not door.proven
    (complaint,) = door.sink.complaints
    assert "a wrong proof of the password of 'tester'" in complaint
    assert CREDENTIAL.password not in complaint


def test_a_proof_is_for_its_connection_alone() -> None:
    door = Door()
    first = proof_of(Prover.TERMINAL, CREDENTIAL, ZEROS, door.nonce(b"1"))
    door.nonce(b"2")
    refused(door.say(first, b"2"))
    assert isinstance(door.say(first, b"1")[0], Proof)
    assert door.say(HELLO, b"2") == []


def test_a_changed_password_voids_what_was_proved_with_it() -> None:
    door = Door()
    door.prove(b"1")
    door.prove(b"2")
    door.say(HELLO, b"1")
    other = replace(door.settings, passwords={CREDENTIAL.user: "a new one"})
    ((route, error),) = door.terminals.change_credentials(other)
    assert route == b"1" and isinstance(error, Error)
    refused(door.say(HELLO, b"1"))
    refused(door.say(HELLO, b"2"))
    removed = replace(door.settings, passwords={"other": "word"})
    nonce = door.nonce(b"3")
    door.terminals.change_credentials(removed)
    refused(door.say(proof_of(Prover.TERMINAL, CREDENTIAL, ZEROS, nonce), b"3"))


def test_who_does_not_prove_it_in_time_is_named_and_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    door = Door()
    door.nonce(b"1")
    door.prove(b"2")
    proofs = door.terminals.proofs
    assert proofs.overdue(Now(NOW.ms + PROVE_MS, 0)) == []
    assert proofs.overdue(Now(NOW.ms + PROVE_MS + 1, 0)) == [b"1"]
    assert proofs.overdue(Now(NOW.ms + PROVE_MS + 1, 0)) == []
    monkeypatch.setattr(proofs_module, "_ROUTES_MAX", 3)
    for number in range(10):
        door.nonce(b"n%d" % number)
    assert len(proofs._open) == 3


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_both_sides_agree_only_on_the_same_password(one: str, other: str) -> None:
    """Honest sides come to an end whatever the password; with two of them nobody proves a thing."""
    try:
        mine, theirs = Credential("u", one), Credential("u", other)
    except CredentialError:
        return
    proving, daemons = Proving(mine, 0), new_challenge()
    answer = proving.hear(encode(daemons))
    assert isinstance(answer, Proof)
    nonces = proving.challenge, daemons
    assert is_same(answer, proof_of(Prover.TERMINAL, theirs, *nonces)) is (one == other)
    told = proof_of(Prover.DAEMON, theirs, *nonces)
    assert proving.hear(encode(told)) is (Proved.YES if one == other else Proved.NO)


@pytest.mark.parametrize("name", FRAMES)
def test_a_client_believes_nothing_before_the_daemons_proof(name: str) -> None:
    """12.8: and nothing after something wrong."""
    frame = FRAMES[name][1]
    for before in (False, True):
        proving, daemons = Proving(CREDENTIAL, 0), new_challenge()
        if before:
            proving.hear(encode(daemons))
        if isinstance(frame, Challenge) and not before:
            continue
        expected = Proved.DENIED if isinstance(frame, Error) else Proved.NO
        assert proving.hear(encode(frame)) is expected
        right = proof_of(Prover.DAEMON, CREDENTIAL, proving.challenge, daemons)
        assert proving.hear(encode(right)) is Proved.NO
    assert Proving(CREDENTIAL, 0).hear(b"x") is Proved.NO
    assert not proving.is_overdue(PATIENCE_MS) and proving.is_overdue(PATIENCE_MS + 1)


def test_no_nonce_comes_twice() -> None:
    assert len({new_challenge().nonce for _ in range(1_000)}) == 1_000


def test_what_stands_for_the_password_is_none() -> None:
    with pytest.raises(CredentialError, match="everybody knows"):
        Credential("u", CHALLENGE)
    with pytest.raises(ValueError, match="everybody knows"):
        Settings(passwords={"u": CHALLENGE}).check()


@pytest.mark.parametrize("answer", [welcoming, pretending, reflecting])
def test_a_rogue_server_gets_neither_password_nor_execution(
    answer: Callable[[bytes], list[bytes]],
) -> None:
    """12.8: of the terminal it hears no more than a nonce and a proof for its own."""
    rogue, found = Rogue(answer), simulated_terminal(walks("EURUSD", 5))
    with (
        rogue.listening() as address,
        Connection(address, CREDENTIAL) as connection,
        pytest.raises(RefusedError, match="does not know the password"),
    ):
        Runner(found, connection).run(threading.Event(), deadline())
    rogue.check()
    assert found.client.state is ClientState.OFFLINE


def test_a_client_gives_up_who_never_answers() -> None:
    rogue, ms = Rogue(lambda _data: []), [0]
    with rogue.listening() as address, Connection(address, CREDENTIAL) as connection:
        found: list[Change] = []

        def has_ended() -> bool:
            connection.attempt(ms[0])
            found.extend(connection.changes())
            if rogue.heard:
                ms[0] += PATIENCE_MS
            return bool(found)

        wait_until(has_ended)
    assert found == [Change.DOWN]


def test_a_wrong_password_is_told_from_a_rogue() -> None:
    wrong = Credential(CREDENTIAL.user, "a-secret-of-others")
    with Daemon() as daemon:
        with pytest.raises(RefusedError, match="not this daemon's credential"):
            run(simulated_terminal(walks("A", 5)), daemon, wrong)
        assert daemon.server.counters()["credentials_refused"] >= 1
        run(simulated_terminal(walks("A", 5)), daemon)


def test_passwords_that_are_said_are_let_in_by_a_setting() -> None:
    """12.8: `allow_plain`; who proves it comes in either way."""
    good = zmtp.greeting() + plain(CREDENTIAL.user.encode(), CREDENTIAL.password.encode())
    for is_allowed in (True, False):
        with Daemon(replace(SETTINGS, allow_plain=is_allowed)) as daemon:
            with knocking(daemon, good) as link:
                if is_allowed:
                    said = b""
                    while b"WELCOME" not in said:
                        said += link.recv(1_000) or pytest.fail("hung up on")
                else:
                    wait_until(lambda: "credentials_refused" in daemon.server.counters())
                    (complaint,) = daemon.server.sink.complaints
                    assert "a password in the clear" in complaint
                    assert CREDENTIAL.password not in complaint
            run(simulated_terminal(walks("A", 5)), daemon)


def test_who_stays_unproven_is_ended_and_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says a user's name and no more is the first to make room, and goes after a while."""
    settings = replace(SETTINGS, connections_max=3)
    with Daemon(settings) as daemon, zmq.Context() as context, ExitStack() as stack:
        open_ = daemon.server.terminals.proofs._open
        for _ in range(4):
            stack.enter_context(asking(context, daemon.server.address))
        wait_until(lambda: len(open_) >= 3)
        run(simulated_terminal(walks("A", 5)), daemon)
        monkeypatch.setattr(proofs_module, "PROVE_MS", 0)
        with asking(context, daemon.server.address) as monitor:
            assert monitor.poll(LONG_MS)
        wait_until(lambda: not open_)


@contextmanager
def asking(context: zmq.Context[zmq.Socket[bytes]], address: str) -> Iterator[zmq.Socket[bytes]]:
    """A connection that asks for a proof and gives none; what tells of its end."""
    with context.socket(zmq.DEALER) as peer:
        peer.linger, peer.reconnect_ivl = 0, -1
        peer.plain_username, peer.plain_password = CREDENTIAL.user.encode(), CHALLENGE.encode()
        monitor = peer.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        peer.connect(address)
        peer.send(encode(ZEROS))
        yield monitor
        peer.disable_monitor()
        monitor.close(0)
