"""A daemon that is measured, in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import zmq

from cep.demo.processes import free_port
from mt5bridge.client.connection import introduce, introduce_curve
from mt5bridge.credential import FILE, write_credential
from mt5bridge.credential_store import FOLDER, CredentialStore
from mt5bridge.curve import CurveIdentity, daemon_keys, new_keys
from mt5bridge.grant import Grant
from mt5bridge.server.status import Status, read_status
from tests.credentials import CREDENTIAL

RULES = Path(__file__).parent / "w1_rules.cep"
USER = "measured"
SETTINGS = """log_level = "ERROR"
[rules]
file = "{rules}"
streams = ["Turn"]
[server]
bind = "tcp://127.0.0.1:{port}"
curve_bind = "{curve}"
[signals]
send = true
valid_seconds = 1_000_000_000  # the market is of 2023
[spool]
max_mib = 32768
"""
MORE_RULES = """[rules.r{number}]
file = "{rules}"
magic = {magic}
streams = ["Turn"]
send = false
"""


@dataclass(frozen=True)
class Running:
    """Where it listens, and its process; terminals come by CURVE where there is an `identity`."""

    folder: Path
    address: str
    process: psutil.Process
    identity: CurveIdentity | None

    def introduce(self, socket: zmq.Socket[Any]) -> None:
        """Connect a socket."""
        if self.identity is None:
            introduce(socket, CREDENTIAL)
        else:
            introduce_curve(socket, self.identity)
        socket.connect(self.address)

    def status(self) -> Status | None:
        """What it tells of itself; None before it has."""
        return read_status(self.folder / "state" / "status.json")

    @property
    def is_warm(self) -> bool:
        """Whether all of its rules run, by what it tells of itself now and then."""
        status = self.status()
        return (
            status is not None
            and status.pid == self.process.pid
            and all(one.runs for one in status.rules)
        )


@contextmanager
def process(*arguments: str) -> Iterator[psutil.Process]:
    """A module of this project as a program."""
    with psutil.Popen([sys.executable, "-m", *arguments]) as child:
        try:
            yield child
        finally:
            child.terminate()
            child.wait(120)


@contextmanager
def daemon(folder: Path, *, files: int = 1, curve: bool = False) -> Iterator[Running]:
    """With so many rule files, all of W1's rules; the first of them answers."""
    folder.mkdir(exist_ok=True)
    state, ports = folder / "state", (free_port(), free_port())
    plain, encrypted = (f"tcp://127.0.0.1:{port}" for port in ports)
    lines = [SETTINGS.format(rules=RULES, port=ports[0], curve=encrypted if curve else "")]
    lines += [MORE_RULES.format(number=n, rules=RULES, magic=1_000 + n) for n in range(1, files)]
    settings = folder / "daemon.toml"
    settings.write_text("".join(lines))
    write_credential(state / FILE, CREDENTIAL)
    identity = _known(state) if curve else None
    with process("cep", "daemon", "--config", str(settings)) as child:
        yield Running(folder, encrypted if curve else plain, child, identity)


def _known(state: Path) -> CurveIdentity:
    """Keys that this daemon lets in."""
    keys = new_keys()
    store = CredentialStore(state / FOLDER)
    store.add(USER, Grant())
    store.set_curve_key(USER, keys.public)
    return CurveIdentity(user=USER, daemon=daemon_keys(state).public, keys=keys)
