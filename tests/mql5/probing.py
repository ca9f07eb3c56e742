"""The probe EA on an emulated terminal, and the libzmq ROUTER it talks to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zmq
from zmq.auth.thread import ThreadAuthenticator

from mt5bridge.credential import Credential
from mt5bridge.emulator.script import Script, statement
from mt5bridge.emulator.stats import Stats
from mt5bridge.emulator.terminal import EmulatedTerminal
from tests.credentials import CREDENTIAL
from tests.mql5.running import PROGRAMS
from tests.waiting import LONG_MS, LONG_S


@contextmanager
def probe(
    folder: Path,
    port: int,
    *statements: str,
    credential: Credential | None = CREDENTIAL,
    **inputs: object,
) -> Iterator[EmulatedTerminal]:
    """The probe connecting to `port`; the terminal is stopped in order at the end."""
    script = Script.of(
        "seed 5",
        "symbol EURUSD",
        "sockets allowed=127.0.0.1",
        "clock mode=real",
        *statements,
        statement("attach", "LinkProbe", "on", "EURUSD", Port=port, **inputs),
    )
    with EmulatedTerminal(PROGRAMS, script, folder, credential=credential) as terminal:
        yield terminal


def pass_time(terminal: EmulatedTerminal) -> None:
    """Ten minutes, and what the probe does about them."""
    calls = _steps(terminal.pass_time(LONG_S))
    terminal.wait(lambda stats: _steps(stats) >= calls + 2, LONG_S)


def _steps(stats: Stats) -> int:
    return stats.program("LinkProbe").handler("OnTimer").calls


@contextmanager
def libzmq_router(**options: int) -> Iterator[zmq.Socket[bytes]]:
    """A bound ROUTER with these socket options."""
    with letting_in(CREDENTIAL) as router:
        prepare(router, options)
        yield router


@contextmanager
def letting_in(credential: Credential) -> Iterator[zmq.Socket[bytes]]:
    """A ROUTER, not bound yet, that lets one user in."""
    with zmq.Context() as context:
        guard = ThreadAuthenticator(context)
        guard.start()
        try:
            guard.configure_plain(domain="*", passwords={credential.user: credential.password})
            with context.socket(zmq.ROUTER) as router:
                router.plain_server = True
                yield router
        finally:
            guard.stop()


def port_of(router: zmq.Socket[bytes]) -> int:
    """The port it is bound to."""
    return int(router.getsockopt_string(zmq.LAST_ENDPOINT).rpartition(":")[2])


def greet(router: zmq.Socket[bytes]) -> bytes:
    """The identity of the next peer that says something; the probe says `hi` when it is up."""
    peer, text = router.recv_multipart()
    assert text == b"hi"
    return peer


def echoed(router: zmq.Socket[bytes], peer: bytes, *parts: bytes) -> list[bytes]:
    """What comes back for a message."""
    router.send_multipart([peer, *parts])
    sender, *back = router.recv_multipart()
    assert sender == peer
    return back


def wait_for_echo(router: zmq.Socket[bytes], text: bytes) -> None:
    """Ask each peer that comes until one sends the text back."""
    body = b""
    while body != text:
        peer, body = router.recv_multipart()
        if body == b"hi":
            router.send_multipart([peer, text])


def prepare(router: zmq.Socket[bytes], options: dict[str, int] | None = None) -> None:
    """Bind it, with a deadline for all it does."""
    router.linger = 0
    router.rcvtimeo = router.sndtimeo = LONG_MS
    for name, value in (options or {}).items():
        router.setsockopt(getattr(zmq, name), value)
    router.bind("tcp://127.0.0.1:*")
